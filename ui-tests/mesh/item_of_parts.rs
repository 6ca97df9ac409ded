//! A number of which each rank has a part is no number yet.
//!
//! Instead: reduce it, then read it.
//!
//! names: every rank holds only its own part
//! says: .all_reduce(&mesh)

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 3.0)?;
        let mean = x.mean().item();
        // instead: let mean = x.mean().all_reduce(mesh)?.item();
        Result::Ok(mean)
    });
    assert_eq!(done, [Ok(3.0), Ok(3.0)]);
}
