//! The inner axes of a product are cut alike: a row of which a rank has a part does not go with a whole column.
//!
//! Instead: cut the other operand, too; nothing is sent for that.
//!
//! names: inner dimensions differ
//! says: these two sizes must be the same

use castiron::{axis, dim, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Wide }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (dim!(3), At<Wide, Model>)> = Dist::full(mesh, [3, 8], 1.0)?;
        let w: Dist<f32, (Wide, dim!(2))> = Dist::full(mesh, [8, 2], 0.5)?;
        let y = x.matmul(&w).all_reduce(mesh)?;
        // instead: let y = x.matmul(&w.split(axis![0], mesh)?).all_reduce(mesh)?;
        Result::Ok(y.whole()[(2, 1)])
    });
    assert_eq!(done, [Ok(4.0), Ok(4.0)]);
}
