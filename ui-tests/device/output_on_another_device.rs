//! An output is on the device of the result.
//!
//! Instead: make it there.
//!
//! names: Cpu
//! names: Meta
//! says: to_device | zeros_like
//! rustc: E0308

use castiron::{Meta, Tensor, shape, tensor};

fn main() {
    let x = tensor![1.0, 2.0];
    let mut out = Tensor::<f32, shape![2], Meta>::zeros();
    // instead: let mut out = Tensor::<f32, shape![2]>::zeros();
    x.add_into(&x, &mut out);
}
