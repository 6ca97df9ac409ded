//! A transform gives one sample or more.
//!
//! Instead: `irfft::<dim!(64), _>`.
//!
//! names: `D0` samples
//! says: irfft::<dim!(64), _>

use castiron::{Complex, Tensor, axis, dim, fft::Norm, shape};

fn main() {
    let frequencies = Tensor::<Complex<f32>, shape![33]>::ones();
    let _ = frequencies.irfft::<dim!(0), _>(axis![0], Norm::Backward);
    // instead: let _ = frequencies.irfft::<dim!(64), _>(axis![0], Norm::Backward);
}
