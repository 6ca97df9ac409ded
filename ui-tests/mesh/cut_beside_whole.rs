//! A cut axis does not go with a whole one of the same name: a rank has fewer elements of it.
//!
//! Instead: cut the other, too; nothing is sent for that.
//!
//! names: shapes do not broadcast
//! says: these two are not the same

use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>,)> = Dist::full(mesh, [4], 1.0)?;
        let y: Dist<f32, (Rows,)> = Dist::full(mesh, [4], 2.0)?;
        let sum = x + y;
        // instead: let sum = x + y.split(axis![0], mesh)?;
        Result::Ok(sum.block().to_vec())
    });
    assert_eq!(done[0], Ok(vec![3.0, 3.0]));
}
