//! A sum is put together once: a second reduction would add what all ranks have.
//!
//! Instead: leave the second out.
//!
//! names: nothing is pending
//! says: there is no such reduction to do

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let sum = x.sum().all_reduce(mesh)?;
        let sum = sum.all_reduce::<Data, _, _>(mesh)?;
        // instead:
        Result::Ok(sum.item())
    });
    assert_eq!(done, [Ok(10.0), Ok(10.0)]);
}
