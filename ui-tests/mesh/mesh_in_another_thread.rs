//! One thread of a rank talks to the others: two would send in an order that nobody knows.
//!
//! Instead: the thread computes, and hands over what is to be sent.
//!
//! names: cannot be shared between threads safely
//! says: cannot be shared between threads safely
//! rustc: E0277

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        let mesh = &*mesh;
        std::thread::scope(|scope| scope.spawn(|| Result::Ok(x.sum().all_reduce(mesh)?.item())).join().unwrap())
        // instead: let sum = std::thread::scope(|scope| scope.spawn(|| x.sum()).join().unwrap());
        // instead: Result::Ok(sum.all_reduce(mesh)?.item())
    });
    assert_eq!(done, [Ok(10.0), Ok(10.0)]);
}
