//! What all ranks take part in is not called by one alone: the others would not come, and it would wait for them.
//!
//! Instead: all ranks compute, one prints.
//!
//! names: cannot borrow `*mesh` as mutable
//! says: mutable borrow occurs here
//! rustc: E0502

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [10], 1.0)?;
        mesh.alone_on(0, || println!("{:?}", x.sum().all_reduce(mesh)));
        // instead: let sum = x.sum().all_reduce(mesh)?.item();
        // instead: mesh.alone_on(0, || println!("{sum}"));
        Result::Ok(())
    });
    assert_eq!(done[0], Ok(()));
}
