//! What all ranks have is added after a pending sum is put together: before, each rank would add it once.
//!
//! Instead: reduce, then add.
//!
//! names: can't be added
//! says: x.all_reduce(&mesh)? + y

use castiron::{dim, dims};
use castiron_mesh::{At, Dist, Result, mesh, simulate};
mesh! { Ranks: Model }
dims! { Wide }
type Rows = dim!(3);
type Out = dim!(2);

fn main() {
    let done = simulate::<Ranks, _>(2, &[0], |mesh| {
        let hidden: Dist<f32, (Rows, At<Wide, Model>)> = Dist::full(mesh, [3, 8], 1.0)?;
        let down: Dist<f32, (At<Wide, Model>, Out)> = Dist::full(mesh, [8, 2], 0.5)?;
        let bias: Dist<f32, (Out,)> = Dist::full(mesh, [2], 1.0)?;
        let y = (hidden.matmul(&down) + &bias).all_reduce(mesh)?;
        // instead: let y = hidden.matmul(&down).all_reduce(mesh)? + &bias;
        Result::Ok(y.whole()[(0, 0)])
    });
    assert_eq!(done, [Ok(5.0), Ok(5.0)]);
}
