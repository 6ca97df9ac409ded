//! `softmax` needs all elements along its axis on each rank.
//!
//! Instead: gather the axis, or cut another one in its place.
//!
//! names: `softmax` needs all elements along the axis
//! says: .all_gather(axis![…], &mesh)

use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Rows, Classes }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let logits: Dist<f32, (Rows, At<Classes, Model>)> = Dist::zeros(mesh, [3, 10])?;
        let likely = logits.softmax(axis![1]);
        // instead: let likely = logits.all_to_all(axis![1], axis![0], mesh)?.softmax(axis![1]);
        Result::Ok(likely.block().numel())
    });
    assert_eq!(done, [Ok(10), Ok(20)]);
}
