//! Frames of a signal have an axis more: frequencies, and then frames.
//!
//! Instead: `shape![9, _]`.
//!
//! names: `stft`
//! names: (D6<D4>,)
//! says: (…, frequencies, frames)

use castiron::fft::{Frames, Window};
use castiron::{Complex, Tensor, shape};

fn main() {
    let signal = Tensor::<f32, shape![64]>::ones();
    let window = Tensor::<f32, shape![16]>::window(&Window::Hann, false);
    let _: Tensor<Complex<f32>, shape![_]> = signal.stft(Some(&window), &Frames::new(16));
    // instead: let _: Tensor<Complex<f32>, shape![9, _]> = signal.stft(Some(&window), &Frames::new(16));
}
