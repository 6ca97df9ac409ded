//! Only linear functions are applied to the parts of a sum: the `relu` of a sum is not the sum of the `relu`s of its parts.
//!
//! Instead: reduce first.
//!
//! names: every rank holds only its own part
//! says: .all_reduce(&mesh)

use castiron::{dim, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Wide }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (dim!(3), At<Wide, Model>)> = Dist::full(mesh, [3, 8], -1.0)?;
        let w: Dist<f32, (At<Wide, Model>, dim!(2))> = Dist::full(mesh, [8, 2], 0.5)?;
        let y = x.matmul(&w).relu();
        // instead: let y = x.matmul(&w).all_reduce(mesh)?.relu();
        Result::Ok(y.shape())
    });
    assert_eq!(done[0], Ok([3, 2]));
}
