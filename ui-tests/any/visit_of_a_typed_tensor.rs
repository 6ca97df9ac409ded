//! A dtype that the compiler knows is not visited.
//!
//! Instead: call the code, or visit an `AnyTensor`.
//!
//! names: visit!
//! names: AnyTensor
//! says: AnyTensor

use castiron::{Result, tensor, visit};

fn main() -> Result<()> {
    let x = tensor![1.0, 2.0];
    visit!(x, E: Float => println!("{}", size_of::<E>()))
    // instead: visit!(castiron::AnyTensor::from(x), E: Float => println!("{}", size_of::<E>()))
}
