//! An output is cast to as in-place results are.
//!
//! Instead: an output of `f32`.
//!
//! names: f32
//! names: u8
//! says: let x | out-of-place | new tensor

use castiron::{Tensor, shape, tensor};

fn main() {
    let mut out = Tensor::<u8, shape![2]>::zeros();
    // instead: let mut out = Tensor::<f32, shape![2]>::zeros();
    tensor![1, 4; u8].sqrt_into(&mut out);
}
