//! A sum of which each rank has a part is put together before it is used.
//!
//! Instead: `all_reduce` it over the axis along which it is pending.
//!
//! names: every rank holds only its own part
//! says: .all_reduce(&mesh)

use castiron::{dim, dims};
use castiron_mesh::{At, Dist, Mesh, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Batch }

fn step(
    weight: &mut Dist<f32, (dim!(4), dim!(2))>,
    images: &Dist<f32, (At<Batch, Data>, dim!(4))>,
    errors: &Dist<f32, (At<Batch, Data>, dim!(2))>,
    mesh: &Mesh<Ranks>,
) -> Result<()> {
    let gradient = images.t().matmul(errors);
    // instead: let gradient = images.t().matmul(errors).all_reduce(mesh)?;
    *weight -= &gradient * 0.1;
    Ok(())
}

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let mut weight = Dist::zeros(mesh, [4, 2])?;
        step(&mut weight, &Dist::zeros(mesh, [6, 4])?, &Dist::zeros(mesh, [6, 2])?, mesh)
    });
    assert_eq!(done, [Ok(()), Ok(())]);
}
