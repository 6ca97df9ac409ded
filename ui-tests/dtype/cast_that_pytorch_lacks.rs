//! The packed float4 is not cast.
//!
//! Instead: unpack it first.

use castiron::{F4E2M1FNX2, Tensor, shape};

fn main() {
    let x: Tensor<F4E2M1FNX2, shape![3]> = Tensor::zeros();
    let _ = x.to::<f32>();
}
