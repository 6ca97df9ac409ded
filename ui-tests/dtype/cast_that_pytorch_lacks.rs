//! The packed float4 is not cast.
//!
//! Instead: unpack it first.
//!
//! names: F4E2M1FNX2
//! names: f32
//! says: unpack | view_dtype

use castiron::{F4E2M1FNX2, Tensor, shape};

fn main() {
    let x: Tensor<F4E2M1FNX2, shape![3]> = Tensor::zeros();
    let _ = x.to::<f32>();
    // instead: let _ = x.view_dtype::<u8>();
}
