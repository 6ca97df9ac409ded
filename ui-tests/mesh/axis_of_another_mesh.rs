//! A tensor is cut along axes of the mesh that it is made on.
//!
//! Instead: a mesh with as many axes as the program needs.
//!
//! names: along an axis of another mesh
//! says: a program has one mesh

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
// instead: mesh! { Ranks: Data, Model }
mesh! { Others: Model }
// instead:
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
    // instead: let done = simulate::<Ranks, _>(2, &[1, 0], |mesh| {
        let x: Dist<f32, (At<Rows, Model>,)> = Dist::zeros(mesh, [4])?;
        Result::Ok(x.block().shape())
    });
    assert_eq!(done[0], Ok([2]));
}
