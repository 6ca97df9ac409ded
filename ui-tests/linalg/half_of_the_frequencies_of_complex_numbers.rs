//! The first half of the frequencies says all of a real signal only.
//!
//! Instead: `fft`.
//!
//! names: Complex<f32>
//! names: real
//! says: fft

use castiron::{Complex, Tensor, axis, fft::Norm, shape};

fn main() {
    let x = Tensor::<Complex<f32>, shape![8]>::ones();
    let _ = x.rfft(axis![0], Norm::Backward);
    // instead: let _ = x.fft(axis![0], Norm::Backward);
}
