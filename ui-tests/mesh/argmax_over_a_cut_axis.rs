//! Where the largest element along an axis is, is known to who has the whole axis.
//!
//! Instead: gather the axis.
//!
//! names: `argmax` needs all elements along the axis
//! says: .all_gather(axis![…], &mesh)

use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Rows, Classes }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let logits: Dist<f32, (Rows, At<Classes, Model>)> = Dist::from_fn(mesh, [2, 10], |[_, class]| class as f32)?;
        let guesses = logits.argmax_axis(axis![1]);
        // instead: let guesses = logits.all_gather(axis![1], mesh)?.argmax_axis(axis![1]);
        Result::Ok(guesses.into_whole().to_vec())
    });
    assert_eq!(done[1], Ok(vec![9, 9]));
}
