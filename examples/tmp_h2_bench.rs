//! temporary
use castiron::fft::Norm;
use castiron::*;
use std::time::Instant;
fn time(name: &str, mut f: impl FnMut()) {
    f();
    let mut best = f64::MAX;
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 1.0 {
        let t = Instant::now();
        f();
        best = best.min(t.elapsed().as_secs_f64());
    }
    println!("{name} {:.3} ms", best * 1e3);
}
fn main() {
    let g = &mut Generator::seeded(1);
    macro_rules! all {
        ($t:ty) => {{
            let a: Tensor<$t, shape![256, 256]> = Tensor::randn(g);
            let b: Tensor<$t, shape![256, 256]> = Tensor::randn(g);
            let s = a.matmul(&a.t()) + Tensor::<$t, shape![256, 256]>::eye();
            let n = stringify!($t);
            time(&format!("solve {n}"), || {
                std::hint::black_box(a.solve(&b));
            });
            time(&format!("svd {n}"), || {
                std::hint::black_box(a.svd(Reduced));
            });
            time(&format!("eigh {n}"), || {
                std::hint::black_box(s.eigh(Uplo::Lower));
            });
            time(&format!("cholesky {n}"), || {
                std::hint::black_box(s.cholesky(false));
            });
            time(&format!("qr {n}"), || {
                std::hint::black_box(a.qr(Reduced));
            });
            time(&format!("inv {n}"), || {
                std::hint::black_box(a.inv());
            });
            time(&format!("eig {n}"), || {
                std::hint::black_box(a.eig());
            });
        }};
    }
    all!(f32);
    all!(f64);
    let small: Tensor<f32, shape![_, 4, 4]> = Tensor::randn_sized([10000, 4, 4], g);
    time("inv 10000x4x4 f32", || {
        std::hint::black_box(small.inv());
    });
    let x: Tensor<Complex<f32>, shape![_]> = Tensor::randn_sized([1 << 20], g);
    time("fft 2^20 c64", || {
        std::hint::black_box(x.fft(axis![0], Norm::Backward));
    });
    let x: Tensor<f32, shape![64, 4096]> = Tensor::randn(g);
    time("rfft 64x4096 f32", || {
        std::hint::black_box(x.rfft(axis![1], Norm::Backward));
    });
}
