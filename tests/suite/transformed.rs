//! Typed Fourier transforms: laws, shapes in the type, overlapping frames.

use castiron::fft::{Frames, Norm, Window};
use castiron::{Complex, Dyn, Generator, Meta, Tensor, axis, dim, shape, tensor};
use proptest::prelude::*;

type Rows<E> = Tensor<E, (Dyn, Dyn)>;

fn random(seed: u64, sizes: [usize; 2]) -> Rows<f64> {
    Tensor::randn_sized(sizes, &mut Generator::seeded(seed))
}

fn norm(at: u8) -> Norm {
    [Norm::Backward, Norm::Forward, Norm::Ortho][usize::from(at) % 3]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn an_inverse_transform_gives_the_signal_back(seed in 0..1000_u64, m in 1..7_usize, n in 1..40_usize, how in 0..3_u8) {
        let (x, norm) = (random(seed, [m, n]), norm(how));
        let back = x.rfft(axis![1], norm).irfft_sized(axis![1], n, norm);
        prop_assert!(back.allclose_with(&x, 1e-9, 1e-9));
        let back = x.fft(axis![0], norm).ifft(axis![0], norm);
        prop_assert!(back.real().allclose_with(&x, 1e-9, 1e-9));
        let back = x.ihfft(axis![1], norm).hfft_sized(axis![1], n, norm);
        prop_assert!(back.allclose_with(&x, 1e-9, 1e-9));
        let all: Rows<Complex<f64>> = x.fftn(axis![0, 1], norm);
        prop_assert!(all.allclose_with(&x.fft(axis![1], norm).fft(axis![0], norm), 1e-9, 1e-9));
        prop_assert!(all.ifftn(axis![0, 1], norm).real().allclose_with(&x, 1e-9, 1e-9));
    }

    #[test]
    fn energy_is_kept(seed in 0..1000_u64, n in 1..60_usize) {
        // Parseval.
        let x = random(seed, [1, n]);
        let energy = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let spectrum = x.fft(axis![1], Norm::Ortho).abs();
        prop_assert!((energy(&x.to_vec()) - energy(&spectrum.to_vec())).abs() < 1e-9 * (1.0 + energy(&x.to_vec())));
    }

    #[test]
    fn frames_add_up_to_the_signal(seed in 0..1000_u64, n in 40..90_usize, size in 0..3_usize) {
        let (x, n_fft) = (random(seed, [2, n]), [8, 12, 15][size]);
        let window: Tensor<f64, shape![_]> = Tensor::window_sized(n_fft, &Window::Hamming, false);
        let frames = Frames::new(n_fft);
        let y: Tensor<Complex<f64>, shape![_, _, _]> = x.stft(Some(&window), &frames);
        let z: Rows<f64> = y.istft(Some(&window), &frames, Some(n));
        // What lies behind the last frame is not known.
        let kept = (n - n / 8).min(y.shape()[2] * frames.hop - frames.hop);
        prop_assert!(z.narrow(axis![1], 0, kept).allclose_with(&x.narrow(axis![1], 0, kept), 1e-9, 1e-9));
    }
}

#[test]
fn the_type_knows_how_many_frequencies_there_are() {
    let x = Tensor::<f32, shape![2, 9]>::ones();
    let y: Tensor<Complex<f32>, shape![2, 5]> = x.rfft(axis![-1], Norm::Backward);
    let _: Tensor<f32, shape![2, 9]> = y.irfft::<dim!(9), _>(axis![-1], Norm::Backward);
    let _: Tensor<Complex<f32>, shape![4, 9]> = x.fft_n::<dim!(4), _>(axis![0], Norm::Backward);
    let _: Tensor<Complex<f64>, shape![3]> = Tensor::<f64, shape![3]>::ones().fft(axis![0], Norm::Backward);
    assert_eq!(tensor![1, 2, 3].fft(axis![0], Norm::Backward).to_vec()[0], Complex::new(6.0_f32, 0.0));
}

#[test]
fn without_data_transforms_have_shapes() {
    let x: Tensor<f32, shape![2, 9], Meta> = Tensor::zeros();
    assert_eq!(x.rfft(axis![1], Norm::Ortho).shape(), [2, 5]);
    let y: Tensor<Complex<f32>, shape![_, _], Meta> =
        Tensor::<f32, shape![40], Meta>::ones().stft::<_, Dyn>(None, &Frames::new(8));
    assert_eq!(y.shape(), [5, 21]);
}

#[test]
fn lengths_and_dtypes_that_are_refused() {
    let x = Tensor::<f32, shape![_]>::zeros_sized([0]);
    assert!(x.try_fft(axis![0], Norm::Backward).is_err());
    assert!(tensor![1.0].try_fft_sized(axis![0], 0, Norm::Backward).is_err());
    assert!(Tensor::<f32, shape![_]>::try_window_sized(4, &Window::Gaussian { std: -1.0 }, true).is_err());
    let (y, far) = (Tensor::<Complex<f32>, shape![5, 3]>::zeros(), Frames { hop: usize::MAX, ..Frames::new(8) });
    let back: castiron::Result<Tensor<f32, shape![_]>> = y.try_istft::<_, Dyn>(None, &far, None);
    assert!(back.is_err());
}
