//! `visit!` has one type whatever the dtype is, and a typed tensor has its dtype in its type.
//!
//! Instead: `.into()` makes an `AnyTensor`.
//!
//! names: incompatible types
//! says: Tensor<f16
//! rustc: E0308

use castiron::{AnyTensor, Cpu, Result, shape, tensor, visit};

fn root(x: &AnyTensor) -> Result<AnyTensor> {
    let root = visit!(x, E: Float => x.typed::<E, shape![_], Cpu>()?.sqrt())?;
    // instead: let root: AnyTensor = visit!(x, E: Float => x.typed::<E, shape![_], Cpu>()?.sqrt().into())?;
    Ok(root.into())
    // instead: Ok(root)
}

fn main() -> Result<()> {
    root(&AnyTensor::from(tensor![4.0])).map(drop)
}
