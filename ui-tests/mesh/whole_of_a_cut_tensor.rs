//! No rank has the whole of a tensor that is cut.
//!
//! Instead: gather it, or take the rank's block.
//!
//! names: no rank has the whole tensor
//! says: .all_gather(axis![…], &mesh)

use castiron::{axis, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Data }
dims! { Rows }

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let x: Dist<i64, (At<Rows, Data>,)> = Dist::from_fn(mesh, [4], |[row]| row as i64)?;
        let all = x.whole().to_vec();
        // instead: let all = x.all_gather(axis![0], mesh)?.whole().to_vec();
        Result::Ok(all)
    });
    assert_eq!(done[0], Ok(vec![0, 1, 2, 3]));
}
