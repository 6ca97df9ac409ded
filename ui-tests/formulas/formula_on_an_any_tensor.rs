//! The dtype of an `AnyTensor` is known while running only: a formula is called by its name.
//!
//! Instead: register it, or make the tensor typed.
//!
//! names: a formula is applied to an `AnyTensor` by its name
//! says: any::register

use castiron::any::{Args, call, register};
use castiron::{AnyTensor, Result, formula, tensor};

#[formula]
fn twice<F: Float>(x: F) -> F {
    x * 2
}

fn main() -> Result<()> {
    register("mine::twice", twice)?;
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let _ = x.apply(twice, ());
    // instead: let _ = call("mine::twice", &Args::new().arg(&x))?;
    let _ = call("mine::twice", &Args::new().arg(&x))?;
    Ok(())
}
