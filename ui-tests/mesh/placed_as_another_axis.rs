//! Redistributing changes where axes are cut, and not which axes there are.
//!
//! Instead: `transpose` changes their order.
//!
//! names: can't be placed as
//! says: an axis keeps its size or its name

use castiron::dims;
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows, Columns }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<f32, (At<Rows, Data>, Columns)> = Dist::zeros(mesh, [4, 6])?;
        let turned: Dist<f32, (At<Columns, Data>, Rows)> = x.redistribute(mesh)?;
        // instead: let turned: Dist<f32, (At<Columns, Data>, Rows)> = x.t().redistribute(mesh)?;
        Result::Ok(turned.block().shape())
    });
    assert_eq!(done[0], Ok([3, 4]));
}
