//! As many frequencies are those of two numbers of samples: which one is said.
//!
//! Instead: `irfft::<dim!(64), _>`.
//!
//! names: type annotations needed
//! says: irfft::<dim!(64), _>
//! rustc: E0283

use castiron::{Complex, Tensor, axis, fft::Norm, shape};

fn main() {
    let frequencies = Tensor::<Complex<f32>, shape![33]>::ones();
    let _ = frequencies.irfft(axis![0], Norm::Backward);
    // instead: let _ = frequencies.irfft::<castiron::dim!(64), _>(axis![0], Norm::Backward);
}
