//! Fourier transforms are of integers, and floats and complex numbers of 32 bits or more.
//!
//! Instead: cast first.
//!
//! names: Fourier transforms
//! names: f16
//! says: .to::<f32>()

use castiron::fft::Norm;
use castiron::{Tensor, axis, f16, shape};

fn main() {
    let x: Tensor<f16, shape![8]> = Tensor::zeros();
    let _ = x.fft(axis![0], Norm::Backward);
    // instead: let _ = x.to::<f32>().fft(axis![0], Norm::Backward);
}
