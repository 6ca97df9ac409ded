//! A tensor of one rank does not go with one of all: whether the others have the same is not known.
//!
//! Instead: say that it is the same on all ranks.
//!
//! names: is not defined for `Dist<f32
//! says: Dist::same(&mesh, x)?

use castiron::{dim, dims, tensor};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>, dim!(2))> = Dist::full(mesh, [4, 2], 1.0)?;
        let scaled = x * tensor![1.0, 2.0];
        // instead: let scaled = x * Dist::same(mesh, tensor![1.0_f32, 2.0])?;
        Result::Ok(scaled.block().to_vec())
    });
    assert_eq!(done[1], Ok(vec![1.0, 2.0, 1.0, 2.0]));
}
