//! Gradients of what the host computes, beside central differences; complex numbers by both parts.

use castiron::grad::{Grad, Taped};
use castiron::nn::{Area, Bicubic, Bilinear, Conv, GridPadding, Linear, Nearest, Patches, Pool, Trilinear};
use castiron::reduction::{Mean, Sum, Unreduced};
use castiron::{
    BagMode, ChannelsLast, Complex, Cpu, Element, Generator, Interpolation, KnownShape, Module, RotaryLayout, Shape,
    Tensor, axis, bf16, dim, shape, tensor,
};
#[cfg(feature = "linalg")]
use castiron::{Complete, Reduced, Uplo};

type Loss = Tensor<f64, (), Taped<Cpu>>;

/// Numbers between -1 and 1 that no operation treats specially.
fn numbers(seed: usize, count: usize) -> Vec<f64> {
    (0..count).map(|at| ((at * 37 + seed * 11 + 5) as f64 * 0.618).sin()).collect()
}

/// Dtypes whose elements can be changed a little.
trait Varied: Element {
    const PARTS: usize;
    fn made(parts: [f64; 2]) -> Self;
    fn part(self, at: usize) -> f64;
}
impl Varied for f64 {
    const PARTS: usize = 1;
    fn made([re, _]: [f64; 2]) -> f64 {
        re
    }
    fn part(self, _: usize) -> f64 {
        self
    }
}
impl Varied for Complex<f64> {
    const PARTS: usize = 2;
    fn made([re, im]: [f64; 2]) -> Self {
        Complex::new(re, im)
    }
    fn part(self, at: usize) -> f64 {
        if at == 0 { self.re } else { self.im }
    }
}

/// A sum of elements, each with a weight of its own.
trait Weighed {
    fn weighed(&self) -> Loss;
}
impl<S: Shape> Weighed for Tensor<f64, S, Taped<Cpu>> {
    fn weighed(&self) -> Loss {
        let list = self.flatten();
        let weights = (list.full_like(1.0).cumsum(axis![0]) * 0.7 + 0.3).sin();
        (list * weights).sum()
    }
}
impl<S: Shape> Weighed for Tensor<Complex<f64>, S, Taped<Cpu>> {
    fn weighed(&self) -> Loss {
        self.real().contiguous().weighed() + self.imag().contiguous().weighed() * 0.6
    }
}

/// Compares the gradient of a function of a tensor with central differences.
fn check<E: Varied + castiron::grad::Learned, S: KnownShape>(
    name: &str,
    x: impl Fn(usize) -> [f64; 2],
    function: impl Fn(&Tensor<E, S, Taped<Cpu>>) -> Loss,
) {
    const STEP: f64 = 1e-5;
    let sizes = S::SIZES;
    let count: usize = sizes.as_ref().iter().product();
    let parts: Vec<[f64; 2]> = (0..count).map(x).collect();
    let run = |parts: &[[f64; 2]]| {
        let x = Tensor::<E, S>::from_vec(parts.iter().map(|&parts| E::made(parts)).collect());
        x.value_and_grad((), |x, ()| function(x))
    };
    let (_, grads) = run(&parts);
    for (at, found) in grads.to_vec().into_iter().enumerate() {
        for part in 0..E::PARTS {
            let moved = |by: f64| {
                let mut parts = parts.clone();
                parts[at][part] += by;
                run(&parts).0.item()
            };
            let (expected, found) = ((moved(STEP) - moved(-STEP)) / (2.0 * STEP), found.part(part));
            let is_close = (expected - found).abs() <= 1e-6 * (1.0 + expected.abs());
            assert!(
                is_close,
                "{name} of {}: part {part} of element {at} has gradient {found}, not {expected}",
                E::DTYPE
            );
        }
    }
}

/// Elements of matrices of `n` columns that are far from singular.
fn matrix(n: usize) -> impl Fn(usize) -> [f64; 2] {
    let list = numbers(3, 200);
    move |at| {
        let diagonal = if (at % (n * n)).is_multiple_of(n + 1) { 2.0 + 0.3 * (at % n) as f64 } else { 0.0 };
        [list[at] + diagonal, list[at + 100]]
    }
}

/// Checks functions of real and complex tensors: `name: shape, elements, |x| result;`.
macro_rules! both {
    ($($name:ident: $shape:ty, $elements:expr, |$x:ident| $result:expr;)*) => {$(
        check::<f64, $shape>(stringify!($name), $elements, |$x| $result.weighed());
        check::<Complex<f64>, $shape>(stringify!($name), $elements, |$x| $result.weighed());
    )*};
}

#[cfg(feature = "linalg")]
#[test]
fn of_inverses_and_determinants() {
    both! {
        inv: shape![2, 3, 3], matrix(3), |x| x.inv();
        inv_of_transposed: shape![3, 3], matrix(3), |x| x.t().inv();
        inv_ex: shape![3, 3], matrix(3), |x| x.inv_ex().0;
        det: shape![2, 3, 3], matrix(3), |x| x.det();
        matrix_exp: shape![2, 2, 2], matrix(2), |x| x.matrix_exp();
        pinv: shape![2, 3], matrix(3), |x| x.pinv(None, false);
        pinv_tall: shape![3, 2], matrix(2), |x| x.pinv(None, false);
        tensorinv: shape![2, 1, 2], matrix(2), |x| x.tensorinv::<1>();
    }
}

#[test]
fn of_arithmetic_of_complex_numbers() {
    let any = |at: usize| [0.4 + numbers(1, 64)[at], numbers(2, 64)[at] - 0.7];
    both! {
        div: shape![3, 2], any, |x| x / (x * x + 3.0);
        pow: shape![3, 2], any, |x| (x * x + 3.0).pow(x * 0.5);
        pow_of_number: shape![3, 2], any, |x| (x * x + 3.0).pow(1.7);
        logaddexp: shape![3, 2], any, |x| x.logaddexp(&(x * 0.3 - 0.1));
        vecdot: shape![3, 2], any, |x| x.vecdot(&(x * x + 1.0), axis![-1]);
        lerp: shape![3, 2], any, |x| x.lerp(&(x * x), &(x * 0.3));
        tanhshrink: shape![3, 2], any, |x| x.tanhshrink();
        silu: shape![3, 2], any, |x| x.silu();
    }
}

/// The Hermitian part of matrices, with a positive spectrum.
#[cfg(feature = "linalg")]
macro_rules! hermitian {
    ($x:expr) => {{
        let x = $x;
        let half = x * 0.5;
        &half + half.mT().conj()
    }};
}

#[cfg(feature = "linalg")]
#[test]
fn of_factors() {
    both! {
        cholesky: shape![2, 3, 3], matrix(3), |x| hermitian!(x).cholesky(false);
        cholesky_upper: shape![3, 3], matrix(3), |x| hermitian!(x).cholesky(true);
        cholesky_inverse: shape![3, 3], matrix(3), |x| x.tril(0).cholesky_inverse(false);
        cholesky_inverse_upper: shape![3, 3], matrix(3), |x| x.triu(0).cholesky_inverse(true);
        cholesky_solve: shape![3, 3], matrix(3), |x| (x * 0.3).cholesky_solve(&x.tril(0), false);
        cholesky_solve_upper: shape![3, 3], matrix(3), |x| (x * 0.3).cholesky_solve(&x.triu(0), true);
        lu_q: shape![2, 3, 3], matrix(3), |x| x.lu().1;
        lu_u: shape![2, 3, 3], matrix(3), |x| x.lu().2;
        lu_wide: shape![2, 3], matrix(3), |x| x.lu().2;
        lu_wide_lower: shape![2, 3], matrix(3), |x| x.lu().1;
        lu_tall: shape![3, 2], matrix(2), |x| x.lu().1;
        lu_tall_upper: shape![3, 2], matrix(2), |x| x.lu().2;
        lu_factor: shape![3, 3], matrix(3), |x| x.lu_factor().0;
        lu_factor_tall: shape![4, 3], matrix(3), |x| x.lu_factor().0;
        lu_solve: shape![3, 3], matrix(3), |x| { let (lu, pivots) = x.lu_factor(); lu.lu_solve(&pivots, &(x * x), false) };
        lu_solve_adjoint: shape![3, 3], matrix(3), |x| { let (lu, pivots) = x.lu_factor(); lu.lu_solve(&pivots, &(x * x), true) };
        qr_q: shape![2, 3, 3], matrix(3), |x| x.qr(Reduced).0;
        qr_r: shape![2, 3, 3], matrix(3), |x| x.qr(Reduced).1;
        qr_tall: shape![4, 3], matrix(3), |x| x.qr(Reduced).0;
        qr_wide: shape![2, 3], matrix(3), |x| x.qr(Complete).0;
        qr_wide_r: shape![2, 3], matrix(3), |x| { let (q, r) = x.qr(Reduced); q.matmul(&r.sin()) };
        householder: shape![4, 2], matrix(2), |x| x.householder_product(&x.select(axis![0], 1).contiguous());
        ormqr: shape![3, 3], matrix(3), |x| x.ormqr(&x.select(axis![0], 1).contiguous(), &(x * 0.3), false);
        ormqr_adjoint: shape![3, 3], matrix(3), |x| x.ormqr(&x.select(axis![0], 1).contiguous(), &(x * 0.3), true);
        rormqr: shape![3, 3], matrix(3), |x| x.rormqr(&x.select(axis![0], 1).contiguous(), &(x * 0.3), true);
    }
}

#[cfg(feature = "linalg")]
#[test]
fn of_solutions() {
    both! {
        solve: shape![2, 3, 3], matrix(3), |x| x.solve(&(x * x));
        solve_vector: shape![3, 3], matrix(3), |x| x.solve(&x.select(axis![0], 1));
        solve_broadcast: shape![2, 3, 3], matrix(3), |x| x.solve(&(x * x).select(axis![0], 0));
        solve_transposed: shape![3, 3], matrix(3), |x| x.t().solve(&(x * x));
        rsolve: shape![2, 3, 3], matrix(3), |x| x.rsolve(&(x * x));
        triangular: shape![2, 3, 3], matrix(3), |x| x.solve_triangular(&(x * x), true, false);
        triangular_unit: shape![3, 3], matrix(3), |x| x.solve_triangular(&(x * x), false, true);
        rtriangular: shape![3, 3], matrix(3), |x| x.rsolve_triangular(&(x * x), false, false);
        lstsq: shape![3, 2], matrix(2), |x| x.lstsq(&(x * x), None).0;
        lstsq_wide: shape![2, 3], matrix(3), |x| x.lstsq(&(x * x), None).0;
        lstsq_vector: shape![3, 2], matrix(2), |x| x.lstsq(&(x * x).select(axis![1], 1), None).0;
    }
}

#[cfg(feature = "linalg")]
#[test]
fn of_spectra() {
    both! {
        svdvals: shape![2, 2, 3], matrix(3), |x| x.svdvals();
        svd_product: shape![3, 2], matrix(2), |x| { let (u, s, vh) = x.svd(Reduced); (u * s.sin().unsqueeze(axis![0])).matmul(&vh) };
        svd_vectors: shape![3, 2], matrix(2), |x| x.svd(Reduced).0.abs();
        svd_vectors_wide: shape![2, 3], matrix(3), |x| x.svd(Reduced).2.abs();
        eigvalsh: shape![2, 3, 3], matrix(3), |x| hermitian!(x).eigvalsh(Uplo::Lower);
        eigh: shape![3, 3], matrix(3), |x| hermitian!(x).eigh(Uplo::Upper).1.abs();
        eigvals: shape![3, 3], matrix(3), |x| x.eigvals();
        eig: shape![3, 3], matrix(3), |x| x.eig().1.abs();
        slogdet: shape![2, 3, 3], matrix(3), |x| x.slogdet().1;
        cond: shape![3, 3], matrix(3), |x| x.cond(2.0);
        cond_least: shape![2, 3], matrix(3), |x| x.cond(-2.0);
        cond_of_sums: shape![3, 3], matrix(3), |x| x.cond(1.0);
        cond_of_rows: shape![3, 3], matrix(3), |x| x.cond(f64::NEG_INFINITY);
        spectral: shape![2, 3, 3], matrix(3), |x| x.spectral_norm();
        nuclear: shape![3, 3], matrix(3), |x| x.nuclear_norm();
        pinv_hermitian: shape![3, 3], matrix(3), |x| hermitian!(x).pinv(None, true);
    }
    check::<Complex<f64>, shape![3, 3]>("slogdet_sign", matrix(3), |x| x.slogdet().0.weighed());
    // A singular matrix has cofactors.
    check::<f64, shape![2, 2]>("det_singular", |at| [[1.0, 2.0, 2.0, 4.0][at], 0.0], |x| x.det().weighed());
    let x = Tensor::<f64, shape![0, 3, 3]>::zeros();
    let (_, grads) = x.value_and_grad((), |x, ()| x.inv().sum() + x.det().sum() + x.qr(Reduced).0.sum());
    assert_eq!(grads.shape(), [0, 3, 3]);
}

#[cfg(feature = "fft")]
#[test]
fn of_transforms() {
    use castiron::fft::{Beyond, Frames, Norm};
    let any = |at: usize| [numbers(1, 64)[at], numbers(2, 64)[at]];
    both! {
        fft: shape![2, 5], any, |x| x.fft(axis![1], Norm::Backward);
        fft_ortho: shape![5, 2], any, |x| x.t().fft(axis![1], Norm::Ortho);
        ifft: shape![4, 2], any, |x| x.ifft(axis![0], Norm::Backward);
        fftn: shape![2, 3], any, |x| x.fftn(axis![0, 1], Norm::Forward);
        irfft_even: shape![2, 4], any, |x| x.irfft::<dim!(6), _>(axis![1], Norm::Backward);
        irfft_odd: shape![2, 4], any, |x| x.irfft::<dim!(7), _>(axis![1], Norm::Ortho);
        irfft_longer: shape![2, 3], any, |x| x.irfft::<dim!(9), _>(axis![1], Norm::Forward);
        irfft_shorter: shape![2, 5], any, |x| x.irfft::<dim!(4), _>(axis![1], Norm::Forward);
        hfft: shape![4], any, |x| x.hfft::<dim!(5), _>(axis![0], Norm::Backward);
        fftshift: shape![5], any, |x| x.fftshift(axis![0]);
    }
    check::<f64, shape![2, 5]>("rfft", any, |x| x.rfft(axis![1], Norm::Backward).weighed());
    check::<f64, shape![2, 6]>("rfft_even", any, |x| x.rfft(axis![1], Norm::Ortho).weighed());
    check::<f64, shape![2, 4]>("ihfft", any, |x| x.ihfft(axis![1], Norm::Backward).weighed());
    let window = tensor![0.5_f64, 1.0, 0.7, 0.2].to_device::<Taped<Cpu>>().unwrap();
    for beyond in [Beyond::Mirror, Beyond::Zeros, Beyond::Edge, Beyond::Wrap] {
        let frames = Frames { hop: 2, beyond, ..Frames::new(4) };
        check::<f64, shape![2, 9]>("stft", any, |x| x.stft::<shape![_, _, _], _>(Some(&window), &frames).weighed());
        let frames = Frames { onesided: false, normalized: true, ..frames };
        check::<Complex<f64>, shape![9]>("stft", any, |x| x.stft::<shape![_, _], _>(Some(&window), &frames).weighed());
    }
    for length in [None, Some(7)] {
        let frames = Frames { hop: 2, normalized: true, ..Frames::new(4) };
        check::<Complex<f64>, shape![2, 3, 4]>("istft", any, |x| {
            x.istft::<shape![_, _], _>(Some(&window), &frames, length).weighed()
        });
        let frames = Frames { onesided: false, ..frames };
        check::<Complex<f64>, shape![4, 4]>("istft", any, |x| {
            x.istft::<shape![_], _>(Some(&window), &frames, length).weighed()
        });
    }
}

/// A constant inside of a differentiated function.
fn constant<E: Element, S: Shape>(x: Tensor<E, S>) -> Tensor<E, S, Taped<Cpu>> {
    x.to_device().unwrap()
}
/// Numbers in no order.
fn any(at: usize) -> [f64; 2] {
    [numbers(1, 128)[at], numbers(2, 128)[at]]
}

/// Checks functions of real tensors.
macro_rules! real {
    ($($name:ident: $shape:ty, $elements:expr, |$x:ident| $result:expr;)*) => {$(
        check::<f64, $shape>(stringify!($name), $elements, |$x| $result.weighed());
    )*};
}

/// Checks the gradients of gradients of the sums of their squares.
macro_rules! second {
    ($($name:ident: $shape:ty, $elements:expr, |$x:ident| $result:expr;)*) => {$(
        check::<f64, $shape>(stringify!($name), $elements, |x| {
            let (_, grads) = x.value_and_grad((), |$x, ()| {
                let y = $result;
                (&y * &y * &y).sum()
            });
            grads.weighed()
        });
    )*};
}

#[test]
fn of_resampling() {
    type Wide = shape![1, 2, 3, 4];
    real! {
        nearest: Wide, any, |x| x.interpolate::<shape![5, 3]>(Nearest::new());
        area: Wide, any, |x| x.interpolate::<shape![2, 3]>(Area::new());
        linear: shape![2, 2, 4], any, |x| x.interpolate::<shape![7]>(Linear::new());
        linear_corners: shape![2, 2, 4], any, |x| x.interpolate::<shape![3]>(Linear::new().align_corners(true));
        bilinear: Wide, any, |x| x.interpolate::<shape![5, 2]>(Bilinear::new());
        bilinear_of_transposed: Wide, any, |x| x.transpose(axis![2], axis![3]).interpolate::<shape![5, 2]>(Bilinear::new());
        antialias: Wide, any, |x| x.interpolate::<shape![2, 3]>(Bilinear::new().antialias(true));
        bicubic: Wide, any, |x| x.interpolate::<shape![5, 2]>(Bicubic::new());
        bicubic_antialias: Wide, any, |x| x.interpolate::<shape![2, 6]>(Bicubic::new().antialias(true));
        trilinear: shape![1, 1, 2, 3, 2], any, |x| x.interpolate::<shape![3, 2, 4]>(Trilinear::new());
        affine_grid: shape![2, 2, 3], any, |x| x.affine_grid::<shape![2, 3]>(false);
    }
    let grid = constant(Tensor::<f64, shape![1, 2, 3, 2]>::from_vec(numbers(7, 12).iter().map(|x| x * 1.3).collect()));
    let volume =
        constant(Tensor::<f64, shape![1, 2, 2, 1, 3]>::from_vec(numbers(8, 12).iter().map(|x| x * 1.3).collect()));
    let picture = constant(Tensor::<f64, shape![1, 2, 4, 5]>::from_vec(numbers(9, 40)));
    let depth = constant(Tensor::<f64, shape![1, 2, 3, 2, 3]>::from_vec(numbers(9, 36)));
    for padding in [GridPadding::Zeros, GridPadding::Border, GridPadding::Reflection] {
        for corners in [false, true] {
            real! {
                bilinear: shape![1, 2, 4, 5], any, |x| x.grid_sample(&grid, Bilinear::new(), padding, corners);
                bicubic: shape![1, 2, 4, 5], any, |x| x.grid_sample(&grid, Bicubic::new(), padding, corners);
                nearest: shape![1, 2, 4, 5], any, |x| x.grid_sample(&grid, Nearest::new(), padding, corners);
                volumes: shape![1, 2, 3, 2, 3], any, |x| x.grid_sample(&volume, Bilinear::new(), padding, corners);
                of_grid: shape![1, 2, 3, 2], any, |g| picture.grid_sample(&(g * 1.3), Bilinear::new(), padding, corners);
                of_grid_bicubic: shape![1, 2, 3, 2], any, |g| picture.grid_sample(&(g * 1.3), Bicubic::new(), padding, corners);
                of_grid_volumes: shape![1, 2, 2, 1, 3], any, |g| depth.grid_sample(&(g * 1.3), Bilinear::new(), padding, corners);
            }
        }
    }
}

#[test]
fn of_windows() {
    both! {
        im2col: shape![1, 2, 3, 4], any, |x| x.im2col(Patches::<dim!(2)>::new());
        col2im: shape![8, 6], any, |x| x.col2im::<shape![3, 4], _>(Patches::<dim!(2)>::new());
    }
    type Image = shape![1, 2, 5, 4];
    let index = constant(tensor![[[3, 1], [2, 0]]]);
    real! {
        avg_pool: Image, any, |x| x.avg_pool2d(Pool::<dim!(2)>::new());
        avg_pool_of_transposed: Image, any, |x| x.transpose(axis![2], axis![3]).avg_pool2d(Pool::<dim!(2)>::new());
        max_pool: Image, any, |x| x.max_pool2d(Pool::<dim!(2)>::new());
        max_pool_overlapping: Image, any, |x| x.max_pool2d(Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<dim!(1)>());
        max_pool_with_channels_last: Image, any, |x| x.to_memory_format(ChannelsLast).max_pool2d(Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<dim!(1)>());
        max_pool_of_many_channels: shape![1, 17, 2, 3], any, |x| x.max_pool2d(Pool::<dim!(2)>::new().stride::<dim!(1)>());
        max_pool_of_transposed: Image, any, |x| x.transpose(axis![2], axis![3]).max_pool2d(Pool::<dim!(2)>::new());
        max_pool_of_rows_of_channels: shape![2, 5, 3], any, |x| x.transpose(axis![1], axis![2]).max_pool1d(Pool::<dim!(2)>::new());
        max_pool_of_transposed_with_channels_last: shape![2, 3, 4, 5], any, |x| x.to_memory_format(ChannelsLast).transpose(axis![2], axis![3]).max_pool2d(Pool::<dim!(2)>::new());
        max_pool_of_channels_before_images: shape![2, 3, 4, 4], any, |x| x.transpose(axis![0], axis![1]).max_pool2d(Pool::<dim!(2)>::new());
        max_pool_of_a_slice: shape![2, 3, 5, 4], any, |x| x.narrow(axis![3], 0, 3).narrow(axis![1], 1, 2).max_pool2d(Pool::<dim!(2)>::new());
        max_pool_of_volumes: shape![1, 2, 3, 4, 4], any, |x| x.max_pool3d(Pool::<dim!(2)>::new().stride::<dim!(1)>().dilation::<dim!(2)>());
        max_pool_with_indices: Image, any, |x| x.max_pool2d_with_indices(Pool::<dim!(2)>::new()).0;
        lp_pool: Image, |at| [any(at)[0].abs() + 0.1, 0.0], |x| x.lp_pool2d(3.0, Pool::<dim!(2)>::new());
        adaptive_avg: Image, any, |x| x.adaptive_avg_pool2d::<shape![3, 2]>();
        adaptive_max: Image, any, |x| x.adaptive_max_pool2d::<shape![3, 3]>();
        fractional: shape![1, 2, 5, 5], any, |x| x.fractional_max_pool2d::<shape![3, 3], _>(Pool::<dim!(2)>::new(), &mut Generator::seeded(3));
        unpool: shape![1, 2, 2], any, |x| x.max_unpool1d(&index, Pool::<dim!(2)>::new());
    }
    second! {
        max_pool: Image, any, |x| x.max_pool2d(Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<dim!(1)>());
    }
    // Of several largest elements one has the gradient.
    let x = Tensor::<f64, shape![1, 1, 2, 2]>::zeros();
    let (_, grads) = x.value_and_grad((), |x, ()| x.max_pool2d(Pool::<dim!(2)>::new()).sum());
    assert_eq!(grads.to_vec(), [1.0, 0.0, 0.0, 0.0]);
    // The element with the gradient is the one whose index is returned, also of NaN and infinities.
    let special = |at: usize| [f64::NAN, 1.0, f64::NEG_INFINITY, -0.0, 0.0, 1.0, f64::INFINITY][at * at % 11 % 7];
    let x = Tensor::<f64, shape![2, 2, 6, 5]>::from_vec((0..120).map(special).collect());
    let pool = Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<dim!(1)>();
    let mut expected = vec![0.0; 120];
    for (at, index) in x.max_pool2d_with_indices(pool).1.to_vec().into_iter().enumerate() {
        expected[at / 9 * 30 + index as usize] += (0.7 * (at + 1) as f64 + 0.3).sin();
    }
    for x in [x.clone(), x.to_memory_format(ChannelsLast)] {
        let (_, grads) = x.value_and_grad((), |x, ()| x.max_pool2d(pool).weighed());
        for (at, (found, expected)) in grads.to_vec().into_iter().zip(&expected).enumerate() {
            assert!((found - expected).abs() < 1e-12, "element {at} has gradient {found}, not {expected}");
        }
    }
}

/// Checks the gradients of a convolution by its operand and by its weight, with the channels first and last, and the gradient of a gradient.
macro_rules! convolution {
    ($name:literal: $x:ty, $weight:ty, $conv:expr) => {{
        let (at, conv) = (|at| [numbers(1, 300)[at], 0.0], $conv);
        let (x, weight) =
            (constant(Tensor::<f64, $x>::from_vec(numbers(3, <$x>::SIZES.iter().product()))), numbers(4, 300));
        let weight = constant(Tensor::<f64, $weight>::from_vec(weight[..<$weight>::SIZES.iter().product()].to_vec()));
        let (last, weight_last) = (x.to_memory_format(ChannelsLast), weight.to_memory_format(ChannelsLast));
        check::<f64, $x>($name, at, |x| x.conv2d(&weight, None, conv).weighed());
        check::<f64, $x>($name, at, |x| x.to_memory_format(ChannelsLast).conv2d(&weight_last, None, conv).weighed());
        check::<f64, $weight>($name, at, |w| x.conv2d(w, None, conv).weighed());
        check::<f64, $weight>($name, at, |w| last.conv2d(w, None, conv).weighed());
        check::<f64, $weight>($name, at, |w| {
            let (_, of_x) = x.value_and_grad((w,), |x, (w,)| x.conv2d(w, None, conv).square().sum());
            let (_, of_weight) = w.value_and_grad((&x,), |w, (x,)| x.conv2d(w, None, conv).square().sum());
            of_x.weighed() + of_weight.weighed()
        });
    }};
}

#[test]
fn of_convolutions() {
    let same = Conv::new().padding::<dim!(1)>();
    convolution!("plain": shape![2, 2, 4, 3], shape![3, 2, 3, 2], Conv::new());
    convolution!("padded": shape![2, 2, 4, 3], shape![3, 2, 3, 3], same);
    convolution!("point": shape![2, 2, 3, 3], shape![3, 2, 1, 1], Conv::new());
    convolution!("padded more than the window reaches": shape![1, 2, 3, 3], shape![2, 2, 2, 2], Conv::new().padding::<dim!(3)>());
    convolution!("halving": shape![2, 2, 6, 5], shape![3, 2, 3, 3], same.stride::<dim!(2)>());
    convolution!("halving by points": shape![2, 2, 5, 4], shape![3, 2, 1, 1], Conv::new().stride::<dim!(2)>());
    convolution!("stride and dilation": shape![1, 2, 9, 8], shape![2, 2, 2, 3], Conv::new().stride::<dim!(3)>().dilation::<dim!(2)>());
    convolution!("even stride and dilation": shape![1, 2, 9, 9], shape![2, 2, 3, 2], Conv::new().stride::<dim!(4)>().dilation::<dim!(2)>().padding::<dim!(1)>());
    convolution!("groups": shape![2, 4, 4, 3], shape![6, 2, 3, 2], Conv::new().groups::<dim!(2)>());
    convolution!("each channel": shape![2, 3, 4, 3], shape![3, 1, 3, 3], same.groups::<dim!(3)>());
    convolution!("several of each channel": shape![2, 3, 4, 3], shape![6, 1, 2, 2], Conv::new().groups::<dim!(3)>().stride::<dim!(2)>());
    convolution!("few places": shape![1, 2, 3, 3], shape![12, 2, 2, 2], same.stride::<dim!(2)>());
    convolution!("few places in groups": shape![1, 4, 2, 2], shape![16, 2, 2, 2], Conv::new().groups::<dim!(2)>());
    convolution!("a stride far beyond": shape![1, 2, 3, 3], shape![2, 2, 2, 2], Conv::new().stride::<dim!(4611686018427387905)>());
    convolution!("a stride far beyond few places": shape![1, 1, 3, 3], shape![8, 1, 2, 2], Conv::new().stride::<dim!(4611686018427387905)>());
    convolution!("a stride far beyond each channel": shape![1, 2, 3, 3], shape![2, 1, 2, 2], Conv::new().groups::<dim!(2)>().stride::<dim!(4611686018427387905)>());
    convolution!("dilation of a point": shape![1, 2, 3, 3], shape![2, 2, 1, 1], Conv::new().dilation::<dim!(4611686018427387905)>());
    let transposed = constant(Tensor::<f64, shape![3, 2, 3, 2]>::from_vec(numbers(5, 36)));
    check::<f64, shape![2, 2, 3, 4]>("transposed", any, |x| {
        x.transpose(axis![2], axis![3]).conv2d(&transposed.transpose(axis![2], axis![3]), None, same).weighed()
    });
    check::<f64, shape![3, 2, 2, 3]>("transposed", any, |w| {
        transposed.transpose(axis![0], axis![2]).conv2d(&w.transpose(axis![2], axis![3]), None, same).weighed()
    });
    // Padding that no memory has room for: refused, or not read at all.
    let x = Tensor::<f64, shape![1, 1, 3, 3]>::from_vec(numbers(1, 9));
    let weight = Tensor::<f64, shape![1, 1, 2, 2]>::from_vec(numbers(2, 4));
    let vast = Conv::new().padding::<dim!(1152921504606846976)>().dilation::<dim!(2305843009213693952)>();
    let _ = x.try_value_and_grad((&weight,), |x, (w,)| Ok(x.try_conv2d(w, None, vast)?.sum()));
    let _ = weight.try_value_and_grad((&x,), |w, (x,)| Ok(x.try_conv2d(w, None, vast)?.sum()));
    let complex = |at: usize| Complex::new(any(at)[0], any(at)[1]);
    let z = constant(Tensor::<Complex<f64>, shape![1, 2, 4]>::from_vec((0..8).map(complex).collect()));
    let weight = constant(Tensor::<Complex<f64>, shape![3, 2, 2]>::from_vec((9..21).map(complex).collect()));
    check::<Complex<f64>, shape![1, 2, 4]>("complex", any, |z| z.conv1d(&weight, None, Conv::new()).weighed());
    check::<Complex<f64>, shape![3, 2, 2]>("complex", any, |w| z.conv1d(w, None, Conv::new()).weighed());
    let x = constant(Tensor::<f64, shape![2, 2, 3]>::from_vec(numbers(1, 12)));
    let weight = constant(Tensor::<f64, shape![3, 2, 2]>::from_vec(numbers(2, 12)));
    check::<f64, shape![3]>("bias", any, |bias| x.conv1d(&weight, Some(bias), Conv::new()).weighed());
}

#[test]
fn of_normalisation() {
    let (weight, bias) = (constant(tensor![0.5_f64, -1.0, 2.0, 0.3]), constant(tensor![0.1_f64, 0.2, 0.3, 0.4]));
    real! {
        group_norm: shape![2, 4, 3], any, |x| x.group_norm::<dim!(2), _, _>(&weight, &bias, 1e-3);
        group_norm_shared: shape![4], any, |x| constant(Tensor::<f64, shape![2, 4, 3]>::from_vec(numbers(4, 24))).group_norm::<dim!(2), _, _>(x, x, 1e-3);
        instance_norm: shape![2, 4, 3], any, |x| x.instance_norm(&weight, (), 1e-3);
        local_response_norm: shape![2, 4, 3], any, |x| x.local_response_norm(3, 0.5, 0.75, 1.0);
        batch_norm: shape![2, 4, 3], any, |x| x.batch_norm(&weight, &bias.square(), &bias, &weight, 1e-3);
        batch_norm_shared: shape![4], any, |x| constant(Tensor::<f64, shape![2, 4]>::from_vec(numbers(4, 8))).batch_norm(x, &(x * x + 1.0), x, x, 1e-3);
        batch_norm_training: shape![2, 4, 3], any, |x| x.batch_norm_training((), &weight, &bias, 0.1, 1e-3);
        batch_norm_training_shared: shape![4], any, |x| constant(Tensor::<f64, shape![3, 4]>::from_vec(numbers(4, 12))).batch_norm_training((), x, x, 0.1, 1e-3);
        batch_norm_training_last: shape![2, 4, 3, 2], any, |x| x.to_memory_format(ChannelsLast).batch_norm_training((), &weight, &bias, 0.1, 1e-3);
        batch_norm_training_of_channels_before_images: shape![4, 2, 3], any, |x| x.transpose(axis![0], axis![1]).batch_norm_training((), &weight, &bias, 0.1, 1e-3);
        batch_norm_training_of_transposed: shape![2, 4, 2, 3], any, |x| x.transpose(axis![2], axis![3]).batch_norm_training((), &weight, &bias, 0.1, 1e-3);
        batch_norm_training_of_a_slice: shape![2, 4, 5], any, |x| x.narrow(axis![2], 1, 3).batch_norm_training((), &weight, &bias, 0.1, 1e-3);
        batch_norm_training_of_lists: shape![3, 4], any, |x| x.batch_norm_training((), &weight, &bias, 0.1, 1e-3);
        group_norm_of_transposed: shape![4, 2, 3], any, |x| x.transpose(axis![0], axis![1]).group_norm::<dim!(2), _, _>(&weight, &bias, 1e-3);
        group_norm_of_lists: shape![2, 4], any, |x| x.group_norm::<dim!(2), _, _>(&weight, &bias, 1e-3);
        layer_norm_of_transposed: shape![4, 5], any, |x| x.t().layer_norm(Some(&weight), Some(&bias), 1e-3);
        rms_norm_of_transposed: shape![4, 5], any, |x| x.t().rms_norm(Some(&weight), Some(1e-3));
        softmax_of_transposed: shape![4, 5], any, |x| x.t().softmax(axis![1]);
        log_softmax_of_transposed: shape![4, 5], any, |x| x.t().log_softmax(axis![1]);
        layer_norm_shared: shape![4], any, |x| constant(Tensor::<f64, shape![5, 4]>::from_vec(numbers(4, 20))).layer_norm(Some(x), Some(x), 1e-3);
        layer_norm: shape![5, 4], any, |x| x.layer_norm(Some(&weight), Some(&bias), 1e-3);
        rms_norm: shape![5, 4], any, |x| x.rms_norm(Some(&weight), Some(1e-3));
        softmax: shape![3, 5], any, |x| x.softmax(axis![1]);
        softmax_of_columns: shape![3, 5], any, |x| x.softmax(axis![0]);
        log_softmax: shape![3, 5], any, |x| x.log_softmax(axis![1]);
        rope: shape![3, 4], any, |x| x.rope(1, 100.0, RotaryLayout::Interleaved);
        rope_halves: shape![3, 4], any, |x| x.rope(1, 100.0, RotaryLayout::Halves);
        normalize: shape![3, 4], any, |x| x.normalize(axis![1], 3.0, 1e-9);
        renorm: shape![3, 4], any, |x| x.renorm(axis![0], 2.0, 1.1);
    }
    second! {
        group_norm: shape![2, 4, 3], any, |x| {
            let shared = x.sum_axis(axis![0, 2]);
            x.group_norm::<dim!(2), _, _>(&shared, &shared, 1e-3)
        };
        batch_norm_training: shape![2, 4, 3], any, |x| {
            let shared = x.sum_axis(axis![0, 2]);
            x.batch_norm_training((), &shared, &shared, 0.1, 1e-3)
        };
        layer_norm: shape![3, 4], any, |x| {
            let shared = x.sum_axis(axis![0]);
            x.layer_norm(Some(&shared), Some(&shared), 1e-3)
        };
        softmax: shape![3, 5], any, |x| x.softmax(axis![1]);
        log_softmax: shape![3, 5], any, |x| x.log_softmax(axis![1]);
    }
}

#[test]
fn in_half_precision_are_added_in_f32() {
    // Sums of ones in `bf16` stop at 256.
    let (x, four) = (Tensor::<bf16, shape![1024, 4]>::randn(&mut Generator::seeded(1)), [1024.0_f32; 4]);
    let (one, none) = (Tensor::<bf16, shape![4]>::ones(), Tensor::<bf16, shape![4]>::zeros());
    let (_, of_bias) =
        none.value_and_grad((&x, &one), |bias, (x, w)| x.layer_norm(Some(w), Some(bias), 1e-5).to::<f32>().sum());
    assert_eq!(of_bias.to::<f32>().to_vec(), four);
    let (_, of_bias) =
        none.value_and_grad((&x, &one), |bias, (x, w)| x.batch_norm_training((), w, bias, 0.1, 1e-5).to::<f32>().sum());
    assert_eq!(of_bias.to::<f32>().to_vec(), four);
    let many = Tensor::<bf16, shape![4, 4, 256]>::randn(&mut Generator::seeded(2));
    let (_, of_bias) = none
        .value_and_grad((&many, &one), |bias, (x, w)| x.group_norm::<dim!(2), _, _>(w, bias, 1e-5).to::<f32>().sum());
    assert_eq!(of_bias.to::<f32>().to_vec(), four);
    let (ones, weight) = (Tensor::<bf16, shape![2, 4, 16, 32]>::ones(), Tensor::<bf16, shape![4, 1, 1, 1]>::ones());
    let (_, of_weight) =
        weight.value_and_grad((&ones,), |w, (x,)| x.conv2d(w, None, Conv::new().groups::<dim!(4)>()).to::<f32>().sum());
    assert_eq!(of_weight.to::<f32>().to_vec(), four);
    let weight = Tensor::<bf16, shape![1, 4, 1, 1]>::ones();
    let (_, of_weight) = weight.value_and_grad((&ones,), |w, (x,)| x.conv2d(w, None, Conv::new()).to::<f32>().sum());
    assert_eq!(of_weight.to::<f32>().to_vec(), four);
    let one = Tensor::<bf16, shape![4, 1]>::ones();
    let (_, of_factor) = one
        .value_and_grad((), |one, ()| one.full_like(1.0).expand::<shape![4, 1024]>().t().matmul(one).to::<f32>().sum());
    assert_eq!(of_factor.to::<f32>().to_vec(), four);
}

type Matrix<D> = Tensor<f32, shape![3, 4], D>;
#[derive(Module, Clone)]
struct Two<D: castiron::Device = Cpu> {
    one: Matrix<D>,
    other: Matrix<D>,
}

/// Gradients that are the same along axes, lie in a larger one or in another order are read, added up and given back as views.
#[test]
fn seen_as_views_are_those_of_the_elements() {
    let cube = constant(Tensor::<f64, shape![3, 2, 4]>::from_vec(numbers(4, 24)));
    real! {
        sum_of_rows: shape![3, 4], any, |x| x.sum_axis(axis![1]).square();
        sum_of_columns: shape![3, 4], any, |x| x.tanh().sum_axis(axis![0]).square();
        sum_of_differences: shape![3, 4], any, |x| (&(&cube * x.unsqueeze(axis![1])) - x.unsqueeze(axis![1])).sum_axis(axis![1]);
        sums_along_all_axes: shape![3, 4], any, |x| x.sum_axis(axis![0]).sum() + x.sum_axis(axis![1]).square().sum() + x.mean();
        sum_of_another_shape: shape![3, 4], any, |x| x.tanh().reshape::<shape![2, 3, 2]>().sum_axis(axis![1]).square();
        joined: shape![3, 4], any, |x| castiron::cat((x, x.square(), x), axis![1]).sin();
        joined_once: shape![3, 4], any, |x| castiron::cat((x.tanh(), x.square()), axis![1]).sin();
        transposed: shape![3, 3], any, |x| x.t().contiguous() * (x + x.t()).sin();
    }
    // The elements of such a gradient are in memory once, and are not written where others see them.
    let x = Tensor::<f32, shape![3, 4]>::from_fn(|[i, j]| (4 * i + j) as f32);
    let ones = tensor![1.0_f32, 2.0, 3.0];
    let (_, back) = x.vjp((), |x, ()| x.sum_axis(axis![1]));
    let mut rows = back.pull(&ones);
    assert_eq!(rows.stride(), [1, 0]);
    rows *= 2.0;
    rows += &x;
    assert_eq!(rows.to_vec(), [2.0, 3.0, 4.0, 5.0, 8.0, 9.0, 10.0, 11.0, 14.0, 15.0, 16.0, 17.0]);
    let (_, mut all) = Two { one: x.clone(), other: x }.value_and_grad((), |x, ()| (&x.one + &x.other).sum());
    assert_eq!((all.one.to_vec(), all.other.to_vec()), (vec![1.0; 12], vec![1.0; 12]));
    assert_eq!((all.clip_norm(1.0), ones.to_vec()), (24.0_f64.sqrt(), vec![1.0, 2.0, 3.0]));
    assert!(all.one.iter().chain(all.other.iter()).all(|x| (x - 1.0 / 24.0_f32.sqrt()).abs() < 1e-5));
}

/// Many channels side by side are computed in vectors, in which each is what it is among few.
#[test]
fn of_many_channels_are_those_of_few() {
    type Many = shape![2, 75, 40, 9];
    type Few = shape![2, 3, 40, 9];
    let generator = &mut Generator::seeded(1);
    let (x, factors) = (Tensor::<f32, Many>::randn(generator), Tensor::<f32, Many>::randn(generator));
    let window = Tensor::<f32, shape![75, 1, 3, 3]>::randn(generator);
    let (weight, bias) = (Tensor::<f32, shape![75]>::randn(generator), Tensor::<f32, shape![75]>::randn(generator));
    let same = Conv::new().padding::<dim!(1)>();
    let (_, of_window) = window
        .value_and_grad((&x.to_memory_format(ChannelsLast), &factors), |window, (x, factors)| {
            (x.conv2d(window, None, same.groups::<dim!(75)>()) * factors).sum()
        });
    let (loss, y, [of_x, of_weight, of_bias]) = {
        let parameters = (x.to_memory_format(ChannelsLast), weight.clone(), bias.clone());
        let (loss, y, (x, weight, bias)) =
            parameters.value_and_grad_with((&factors,), |(x, weight, bias), (factors,)| {
                let y = x.batch_norm_training((), weight, bias, 0.1, 1e-5);
                ((&y * factors).sum(), y)
            });
        (loss, y, [x.to_vec(), weight.to_vec(), bias.to_vec()])
    };
    assert!(loss.item().is_finite());
    let is_close = |found: &[f32], expected: &[f32]| {
        let pairs = found.iter().zip(expected);
        found.len() == expected.len() && pairs.into_iter().all(|(a, b)| (a - b).abs() <= 2e-4 * (1.0 + b.abs()))
    };
    for first in [0, 30, 62, 63, 72] {
        let images = |of: &Tensor<f32, Many>| {
            Tensor::<f32, Few>::from_fn(|[n, c, h, w]| of[(n, first + c, h, w)]).to_memory_format(ChannelsLast)
        };
        let list = |of: &Tensor<f32, shape![75]>| Tensor::<f32, shape![3]>::from_fn(|[c]| of[first + c]);
        let windows = |of: &Tensor<f32, shape![75, 1, 3, 3]>| {
            Tensor::<f32, shape![3, 1, 3, 3]>::from_fn(|[c, _, h, w]| of[(first + c, 0, h, w)])
        };
        let (_, few) = windows(&window).value_and_grad((&images(&x), &images(&factors)), |window, (x, factors)| {
            (x.conv2d(window, None, same.groups::<dim!(3)>()) * factors).sum()
        });
        assert!(is_close(&few.to_vec(), &windows(&of_window).to_vec()), "windows from {first} on");
        let few = (images(&x), list(&weight), list(&bias));
        let (_, few_y, few) = few.value_and_grad_with((&images(&factors),), |(x, weight, bias), (factors,)| {
            let y = x.batch_norm_training((), weight, bias, 0.1, 1e-5);
            ((&y * factors).sum(), y)
        });
        let all = Tensor::<f32, Many>::from_vec(of_x.clone());
        assert!(is_close(&few_y.to_vec(), &images(&y).to_vec()), "results from {first} on");
        assert!(is_close(&few.0.to_vec(), &images(&all).to_vec()), "elements from {first} on");
        assert!(is_close(&few.1.to_vec(), &of_weight[first..first + 3]), "weights from {first} on");
        assert!(is_close(&few.2.to_vec(), &of_bias[first..first + 3]), "biases from {first} on");
    }
}

#[test]
fn of_no_elements_are_empty() {
    let x = Tensor::<f32, shape![0, 4, 3, 3]>::zeros();
    let (weight, list) = (Tensor::<f32, shape![2, 4, 2, 2]>::ones(), Tensor::<f32, shape![4]>::ones());
    let (_, grads) = (x.clone(), weight, list).value_and_grad((), |(x, weight, list), ()| {
        let shapes = x.conv2d(weight, None, Conv::new()).sum() + x.max_pool2d(Pool::<dim!(2)>::new()).sum();
        let norms = x.group_norm::<dim!(2), _, _>(list, list, 1e-5).sum()
            + x.transpose(axis![1], axis![3]).layer_norm(Some(list), Some(list), 1e-5).sum();
        shapes + norms + x.softmax(axis![3]).sum() + x.log_softmax(axis![3]).sum()
    });
    assert_eq!((grads.0.numel(), grads.1.to_vec(), grads.2.to_vec()), (0, vec![0.0; 32], vec![0.0; 4]));
}

#[test]
fn of_choices_and_distances() {
    real! {
        kthvalue: shape![3, 4], any, |x| x.kthvalue(axis![1], 2).0;
        mode: shape![3, 4], any, |x| x.mode(axis![1]).0;
        median: shape![3, 5], any, |x| x.median_axis(axis![1]).0;
        median_of_all: shape![3, 5], any, |x| x.median();
        quantile: shape![3, 5], any, |x| x.quantile_axis(axis![1], 0.3, Interpolation::Linear);
        quantiles_by_q: shape![3], any, |x| constant(tensor![0.5, 3.0, -1.0, 2.0; f64]).quantiles(x.sigmoid(), Interpolation::Linear);
        unique: shape![3, 2], any, |x| x.unique().0;
        quantile_midpoint: shape![3, 5], any, |x| x.quantile_axis(axis![0], 0.6, Interpolation::Midpoint);
        repeat: shape![3, 2], any, |x| x.repeat_interleave_by(axis![0], &constant(tensor![2, 0, 3]));
        cdist: shape![3, 2], any, |x| x.cdist(&(x * 0.5 + 1.0), 2.0);
        cdist_one: shape![3, 2], any, |x| x.cdist(&(x * 0.5 + 1.0), 1.0);
        cdist_of_order: shape![3, 2], any, |x| x.cdist(&(x * 0.5 + 1.0), 2.5);
        cdist_largest: shape![3, 2], any, |x| x.cdist(&(x * 0.5 + 1.0), f64::INFINITY);
        pdist: shape![4, 2], any, |x| x.pdist(2.0);
    }
}

#[test]
fn of_losses_on_the_host() {
    let labels = constant(tensor![[1, 2, 1], [2, 2, 0]]);
    let (ends, lengths) = ([5, 4], [3, 2]);
    let (class, classes) = (constant(tensor![2, 0]), constant(tensor![[0, 2, -1, 1], [3, -1, 0, 0]]));
    let weight = constant(tensor![0.5_f64, 1.0, 2.0, 0.7]);
    real! {
        ctc: shape![5, 2, 3], any, |x| x.log_softmax(axis![2]).ctc_loss(&labels, &ends, &lengths, 0, false, Unreduced);
        ctc_mean: shape![5, 2, 3], any, |x| x.log_softmax(axis![2]).ctc_loss(&labels, &ends, &lengths, 0, true, Mean);
        multi_margin: shape![2, 4], any, |x| x.multi_margin_loss(&class, 1.0, 0.8, (), Unreduced);
        multi_margin_squared: shape![2, 4], any, |x| x.multi_margin_loss(&class, 2.0, 0.8, &weight, Mean);
        multilabel_margin: shape![2, 4], any, |x| x.multilabel_margin_loss(&classes, Sum);
    }
    let indices = constant(tensor![1, 2, 0, 2, 1, 1]);
    for mode in [BagMode::Sum, BagMode::Mean, BagMode::Max] {
        real! {
            bags: shape![3, 2], any, |x| x.embedding_bag(&indices, &[0, 3, 3], false, mode, None, None);
            bags_padded: shape![3, 2], any, |x| x.embedding_bag(&indices, &[0, 3, 5], false, mode, None, Some(1));
        }
    }
    real! {
        bags_weighted: shape![6, 2], any, |x| {
            let weights = x.select(axis![1], 0).contiguous();
            x.embedding_bag(&constant(tensor![1, 2, 0, 2, 5, 1]), &[0, 4], false, BagMode::Sum, Some(&weights), None)
        };
    }
}

#[test]
fn what_has_none_is_refused_by_name() {
    let x = Tensor::<f64, shape![2, 2]>::from_vec(vec![2.0, 0.5, 0.3, 1.0]);
    macro_rules! refused {
        ($($name:literal |$x:ident| $result:expr;)*) => {$(
            let error = x.try_value_and_grad((), |$x, ()| Ok($result?.weighed())).unwrap_err().to_string();
            assert!(error.starts_with($name) && error.contains("no derivative"), "{error}");
        )*};
    }
    refused! {
        "histogram" |x| x.try_histogram(3, None, None, false).map(|counts| counts.0);
        "histc" |x| x.try_histc(3, 0.0, 1.0);
    }
    #[cfg(feature = "linalg")]
    refused! {
        "geqrf" |x| x.try_geqrf().map(|factors| factors.0);
        "linalg.ldl_factor" |x| x.try_ldl_factor(false).map(|factors| factors.0);
    }
    // Draws are constants.
    let (_, grads) =
        x.value_and_grad((), |x, ()| (x * x.sigmoid().bernoulli(&mut Generator::seeded(1)) * 0.0 + x).sum());
    assert_eq!(grads.to_vec(), [1.0; 4]);
}

#[test]
fn views_and_what_surrounds_them() {
    use castiron::grad;
    // A loss that is one element of a parameter.
    let x = tensor![1.0_f32, 2.0, 3.0];
    let (loss, gradient) = x.value_and_grad((), |x, ()| x.select(axis![0], 1));
    assert_eq!((loss.item(), gradient.to_vec()), (2.0, vec![0.0, 1.0, 0.0]));
    // A parameter that is a part of a storage: a view may reach the rest, which has no gradient.
    let whole = tensor![0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0];
    let part: Tensor<f32, shape![2]> = whole.as_strided([1], Some(2));
    for offset in [0, 1, 3] {
        let given = part.try_value_and_grad((), |part, ()| Ok(part.as_strided::<shape![2]>([1], Some(offset)).sum()));
        assert!(given.unwrap_err().to_string().contains("outside of the tensor"), "{offset}");
    }
    let (_, gradient) = part.value_and_grad((), |part, ()| part.as_strided::<shape![1]>([1], Some(3)).sum());
    assert_eq!(gradient.to_vec(), [0.0, 1.0]);
    // A function that is computed again sees what it is given, and nothing else of the tape.
    let captured = std::panic::catch_unwind(|| {
        x.value_and_grad((), |x, ()| {
            let outer = x.clone();
            grad::checkpoint(&x.stop(), &x.stop(), move |(a, _)| a * &outer).sum()
        })
    });
    assert!(captured.unwrap_err().downcast_ref::<String>().unwrap().contains("captures a tensor of the tape"));
    // What changes a module as a whole is not recorded, and says so.
    let scaled = x.try_value_and_grad((), |x, ()| {
        let mut y = x.clone();
        castiron::Module::try_scale(&mut y, 2.0)?;
        Ok(y.sum())
    });
    assert!(scaled.unwrap_err().to_string().contains("not recorded"));
}

#[cfg(feature = "linalg")]
#[test]
fn condition_numbers_of_singular_matrices_are_infinite_on_tapes_too() {
    let x = tensor![[1.0_f64, 1.0], [1.0, 1.0]];
    assert_eq!(x.cond(1.0).item(), f64::INFINITY);
    let (value, _) = x.value_and_grad((), |x, ()| x.cond(1.0));
    assert_eq!(value.item(), f64::INFINITY);
}

#[test]
fn updates_in_place_leave_what_the_way_back_reads() {
    // The gradient of `exp` reads its result, which is added to afterwards; that of a product reads what it is multiplied into.
    let x = tensor![0.5_f64, -1.0, 2.0];
    let (loss, grads) = x.value_and_grad((), |x, ()| {
        let mut y = x.exp();
        y += x;
        y *= x;
        let mut z = &y + x;
        z += &y;
        z.sum()
    });
    let (mut expected, mut sum) = (Vec::new(), 0.0);
    for x in x.to_vec() {
        expected.push(2.0 * ((f64::exp(x) + 1.0) * x + f64::exp(x) + x) + 1.0);
        sum += 2.0 * (f64::exp(x) + x) * x + x;
    }
    assert!((loss.item() - sum).abs() < 1e-12);
    assert!(grads.to_vec().iter().zip(&expected).all(|(own, right)| (own - right).abs() < 1e-12), "{grads:?}");
}

#[test]
fn of_cross_entropy_with_its_options() {
    let (labels, weight) = (constant(tensor![[2, 0], [1, 1]]), constant(tensor![0.5_f64, 2.0, 1.25]));
    let list = numbers(4, 12);
    let x = |at: usize| [list[at], 0.0];
    check::<f64, shape![2, 3, 2]>("mean", x, |x| x.cross_entropy(&labels, (), 0, 0.0, Mean));
    check::<f64, shape![2, 3, 2]>("sum", x, |x| x.cross_entropy(&labels, (), -100, 0.2, Sum));
    check::<f64, shape![2, 3, 2]>("weighted", x, |x| x.cross_entropy(&labels, &weight, 0, 0.2, Mean));
    check::<f64, shape![2, 3, 2]>("each", x, |x| x.cross_entropy(&labels, &weight, 1, 0.0, Unreduced).weighed());
    check::<f64, shape![2, 3, 2]>("nll", x, |x| x.nll_loss(&labels, &weight, 0, Mean));
    // Weights that depend on the parameters, too.
    check::<f64, shape![2, 3, 2]>("by itself", x, |x| {
        let weight: Tensor<f64, shape![3], Taped<Cpu>> = x.sum_axis(axis![2]).sum_axis(axis![0]) * 0.1 + 2.0;
        x.cross_entropy(&labels, &weight, 0, 0.2, Mean)
    });
}

/// Few losses of `f32` on the host take a way of their own, `f64` takes that of every device.
#[test]
fn of_cross_entropy_of_few_labels_are_those_of_many() {
    type Scores<E> = Tensor<E, shape![4, 3]>;
    let x: Scores<f64> = Tensor::from_vec(numbers(9, 12));
    let (narrow, weights) = (x.to::<f32>(), Tensor::<f64, shape![4]>::from_vec(numbers(2, 4)));
    let near = |narrow: &[f32], wide: &[f64]| {
        assert!(narrow.iter().zip(wide).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6), "{narrow:?}, not {wide:?}");
    };
    // All of them count, one is ignored, all are.
    for (labels, ignored) in [([2, 0, 1, 1], -100), ([2, 0, 1, 1], 0), ([-7; 4], -7)] {
        let labels = Tensor::<i64, shape![4]>::from_vec(labels.to_vec());
        macro_rules! both {
            (|$x:ident, $labels:ident, $weights:ident| $loss:expr) => {
                let (few, d_few) =
                    narrow.value_and_grad((&labels, &weights.to::<f32>()), |$x, ($labels, $weights)| $loss);
                let (many, d_many) = x.value_and_grad((&labels, &weights), |$x, ($labels, $weights)| $loss);
                assert_eq!(few.item().is_nan(), many.item().is_nan());
                if !few.item().is_nan() {
                    near(&[few.item()], &[many.item()]);
                    near(&d_few.to_vec(), &d_many.to_vec());
                }
            };
        }
        both!(|x, labels, _weights| x.cross_entropy(labels, (), ignored, 0.0, Mean));
        both!(|x, labels, _weights| x.cross_entropy(labels, (), ignored, 0.0, Sum));
        both!(|x, labels, weights| (x.cross_entropy(labels, (), ignored, 0.0, Unreduced) * weights).sum());
        both!(|x, labels, _weights| x.log_softmax(axis![1]).nll_loss(labels, (), ignored, Mean));
    }
    // Without rows, and without classes.
    macro_rules! of_none {
        ($classes:literal) => {
            let none = Tensor::<i64, shape![0]>::zeros();
            let (loss, d) = Tensor::<f32, shape![0, $classes]>::zeros()
                .value_and_grad((&none,), |x, (labels,)| x.cross_entropy(labels, (), -100, 0.0, Sum));
            assert!(loss.item() == 0.0 && d.to_vec().is_empty());
        };
    }
    of_none!(3);
    of_none!(0);
    for label in [3, -1] {
        let labels = Tensor::<i64, shape![4]>::from_vec(vec![0, label, 1, 2]);
        let [few, many] = [
            narrow.try_cross_entropy(&labels, (), -100, 0.0, Sum).map(|_| ()),
            x.try_cross_entropy(&labels, (), -100, 0.0, Sum).map(|_| ()),
        ];
        assert!(few.is_err() && format!("{few:?}") == format!("{many:?}"), "{few:?}, {many:?}");
    }
}

#[test]
fn errors_of_functions_come_back_from_higher_derivatives() {
    let (x, v) = (tensor![1.0_f64, 2.0], tensor![1.0_f64, 0.5]);
    let wrong = || castiron::Error::InvalidArgument { op: "mine", reason: "no".to_owned() };
    let is_mine = |error: castiron::Error| assert!(error.to_string().starts_with("mine"), "{error}");
    is_mine(x.try_hvp(&v, (), |x, ()| if x.numel() == 2 { Err(wrong()) } else { Ok(x.sum()) }).unwrap_err());
    is_mine(x.try_jvp(&v, (), |x, ()| if x.numel() == 2 { Err(wrong()) } else { Ok(x.exp()) }).unwrap_err());
    is_mine(x.try_per_sample_grads((), |x, ()| if x.numel() == 2 { Err(wrong()) } else { Ok(x.exp()) }).unwrap_err());
    is_mine(x.try_jacobian((), |x, ()| if x.numel() == 2 { Err(wrong()) } else { Ok(x.exp()) }).unwrap_err());
    is_mine(x.try_hessian((), |x, ()| if x.numel() == 2 { Err(wrong()) } else { Ok(x.sum()) }).unwrap_err());
    assert_eq!(x.try_jvp(&v, (), |x, ()| Ok(x * x)).unwrap().1.to_vec(), [2.0, 2.0]);
}

#[test]
fn a_derivative_of_ones_own_goes_back_once() {
    let double =
        |x: &Tensor<f64, shape![2], Taped<Cpu>>| castiron::grad::custom((x,), |(x,)| (x * 2.0, |g| (g * 2.0,)));
    let x = tensor![1.0_f64, 2.0];
    let error = x.try_jacobian((), |x, ()| Ok(double(x))).unwrap_err();
    assert!(error.to_string().contains("taken before"), "{error}");
    let one = x.jacobian((), |x, ()| double(x).sum());
    assert_eq!(one.to_vec(), [2.0, 2.0]);
}

/// A gradient that is not there is refused, not taken for one of real numbers.
#[test]
fn formulas_of_four_complex_numbers_have_no_gradient() {
    #[castiron::formula]
    #[rustfmt::skip]
    fn product<C: ComplexFloat>(a: C, b: C, c: C, d: C) -> C { a * b * c * d }
    let refused =
        tensor![1.0 + 2.0j].try_value_and_grad((), |z, ()| Ok(z.apply(product, (z, z, z)).abs().sum())).unwrap_err();
    assert!(refused.to_string().contains("formulas of up to three"));
}
