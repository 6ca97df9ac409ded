//! An axis of the mesh cuts one axis of a tensor: if it cut two, each rank would have a block on the diagonal, and nobody the others.
//!
//! Instead: gather one of the two, or cut it along another axis of the mesh.
//!
//! names: one axis of the mesh would cut two axes
//! says: gather one of the two first

use castiron::{axis, dim, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows, Others }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>, dim!(4))> = Dist::full(mesh, [6, 4], 1.0)?;
        let y: Dist<f32, (dim!(4), At<Others, Data>)> = Dist::full(mesh, [4, 6], 1.0)?;
        let all = x.matmul(&y);
        // instead: let all = x.matmul(&y.all_gather(axis![1], mesh)?);
        Result::Ok(all.block().shape())
    });
    assert_eq!(done[0], Ok([3, 6]));
}
