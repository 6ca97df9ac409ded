//! A window holds the dtype of the signal.
//!
//! Instead: `Some(&window.to::<f32>())`.
//!
//! names: window of `f64`
//! names: signal of `f32`
//! says: .to::<f32>()

use castiron::fft::{Frames, Window};
use castiron::{Complex, Tensor, shape};

fn main() {
    let signal = Tensor::<f32, shape![64]>::ones();
    let window = Tensor::<f64, shape![16]>::window(&Window::Hann, false);
    let _: Tensor<Complex<f32>, shape![9, _]> = signal.stft(Some(&window), &Frames::new(16));
    // instead: let _: Tensor<Complex<f32>, shape![9, _]> = signal.stft(Some(&window.to::<f32>()), &Frames::new(16));
}
