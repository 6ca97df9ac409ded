// Fourier transforms along axes that a tensor has, and of as many samples.

use castiron::fft::{Frames, Norm};
use castiron::{Complex, KnownShape, Tensor, axis, dim, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn z<S: KnownShape>() -> Tensor<Complex<f64>, S> {
    Tensor::ones()
}

calls! {
    x::<shape![4]>().fft(axis![1], Norm::Backward);
    // instead: x::<shape![4]>().fft(axis![0], Norm::Backward);
    x::<shape![4]>().fftn(axis![1], Norm::Backward);
    // instead: x::<shape![4]>().fftn(axis![0], Norm::Backward);
    x::<shape![4]>().ifftn(axis![1], Norm::Backward);
    // instead: x::<shape![4]>().ifftn(axis![0], Norm::Backward);
    x::<shape![4]>().rfft(axis![1], Norm::Backward);
    // instead: x::<shape![4]>().rfft(axis![0], Norm::Backward);
    x::<shape![0]>().rfft(axis![0], Norm::Backward);
    // instead: x::<shape![1]>().rfft(axis![0], Norm::Backward);
    z::<shape![4]>().irfft::<dim!(0), _>(axis![0], Norm::Backward);
    // instead: z::<shape![4]>().irfft::<dim!(6), _>(axis![0], Norm::Backward);
    x::<shape![4]>().fftshift(axis![1]);
    // instead: x::<shape![4]>().fftshift(axis![0]);
    x::<shape![4]>().ifftshift(axis![1]);
    // instead: x::<shape![4]>().ifftshift(axis![0]);
    x::<shape![4]>().rfftn::<shape![_, _], _>(axis![0], Norm::Backward);
    // instead: x::<shape![4]>().rfftn::<shape![_], _>(axis![0], Norm::Backward);
    z::<shape![3]>().irfftn::<shape![_, _], _>(axis![0], 4, Norm::Backward);
    // instead: z::<shape![3]>().irfftn::<shape![_], _>(axis![0], 4, Norm::Backward);
    x::<shape![16]>().stft::<shape![_], dim!(8)>(None, &Frames::new(8));
    // instead: x::<shape![16]>().stft::<shape![_, _], dim!(8)>(None, &Frames::new(8));
    z::<shape![5, 5]>().istft::<shape![_, _], dim!(8)>(None, &Frames::new(8), None);
    // instead: z::<shape![5, 5]>().istft::<shape![_], dim!(8)>(None, &Frames::new(8), None);
}
