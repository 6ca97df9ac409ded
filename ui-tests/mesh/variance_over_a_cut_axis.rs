//! A variance is no sum of the blocks' variances: `var_axis` needs all elements along its axes on each rank.
//!
//! Instead: `var_over`, which two small collectives compute.
//!
//! names: `var` needs all elements along its axes
//! says: `var_over` know axes that are cut

use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows, Columns }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>, Columns)> = Dist::from_fn(mesh, [4, 1], |[row, _]| row as f32)?;
        let variance = x.var_axis(axis![0], 0);
        // instead: let variance = x.var_over(axis![0], 0, mesh)?;
        Result::Ok(variance.block().to_vec())
    });
    assert_eq!(done, [Ok(vec![1.25]), Ok(vec![1.25])]);
}
