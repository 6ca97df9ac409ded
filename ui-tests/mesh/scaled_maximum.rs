//! A largest element that is pending is no sum: it is put together before it is scaled, since a factor may be negative.
//!
//! Instead: reduce first.
//!
//! names: is not a sum
//! says: .all_reduce(&mesh)

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::from_fn(mesh, [10], |[row]| row as f32)?;
        let half = (x.amax() / 2.0).all_reduce(mesh)?;
        // instead: let half = x.amax().all_reduce(mesh)? / 2.0;
        Result::Ok(half.item())
    });
    assert_eq!(done, [Ok(4.5_f32), Ok(4.5)]);
}
