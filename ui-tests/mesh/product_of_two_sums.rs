//! Two sums that are pending are not multiplied: the product of two sums is not the sum of the products of their parts.
//!
//! Instead: put one of them together.
//!
//! names: can't be multiplied
//! says: one of the two must be reduced first

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let squared = (x.sum() * x.sum()).all_reduce(mesh)?;
        // instead: let squared = (x.sum().all_reduce(mesh)? * x.sum()).all_reduce(mesh)?;
        Result::Ok(squared.item())
    });
    assert_eq!(done, [Ok(100.0), Ok(100.0)]);
}
