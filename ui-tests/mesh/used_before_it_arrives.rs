//! A sum that is under way is waited for before it is used.
//!
//! Instead: `wait`.
//!
//! names: no method named `item` found for struct `Arriving
//! says: method not found
//! rustc: E0599

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let sum = x.sum().begin_all_reduce(mesh)?;
        let more = x.exp().sum().all_reduce(mesh)?;
        Result::Ok(sum.item() + more.item())
        // instead: Result::Ok(sum.wait(mesh)?.item() + more.item())
    });
    assert!(done[0].as_ref().is_ok_and(|sum| *sum > 37.0));
}
