//! `u`: formulas and reducers of one's own, beside the same built in, and, with the feature `ndarray`, closures of its `Zip`.

use super::ceilings::Pass;
use super::data::{M1, floats};
use super::harness::{Bench, Work};
use castiron::{Tensor, axis, bf16, formula, fused, reducer, shape};

type Line = Tensor<f32, shape![1048576]>;
type Matrix = Tensor<f32, shape![1024, 1024]>;
type Plane = Tensor<f32, shape![512, 512]>;

#[formula]
fn gelu<F: Float>(x: F) -> F {
    0.5 * x * (1.0 + (x * core::f64::consts::FRAC_1_SQRT_2).erf())
}
#[formula]
fn silu<F: Float>(x: F) -> F {
    x / (1.0 + (-x).exp())
}
#[formula]
fn mish<F: Float>(x: F) -> F {
    x * x.exp().log1p().tanh()
}
#[formula]
fn sine<F: Float>(x: F) -> F {
    x.sin()
}
#[formula]
fn normal<F: Float>(x: F) -> F {
    0.5 * (1.0 + (x * core::f64::consts::FRAC_1_SQRT_2).erf())
}
/// The price of a call option (Black and Scholes).
#[formula]
fn option<F: Float>(price: F, strike: F, years: F) -> F {
    let deviation = 0.2 * years.sqrt();
    let above = ((price / strike).log() + 0.05 * years) / deviation;
    price * normal(above) - strike * (-0.03 * years).exp() * normal(above - deviation)
}
/// The price, and its slopes along the price of the stock and the volatility.
#[formula]
fn option_and_slopes<F: Float>(price: F, strike: F, years: F) -> (F, F, F) {
    let deviation = 0.2 * years.sqrt();
    let above = ((price / strike).log() + 0.05 * years) / deviation;
    let share = normal(above);
    let value = price * share - strike * (-0.03 * years).exp() * normal(above - deviation);
    (value, share, price * years.sqrt() * (-0.5 * above * above).exp() * 0.398_942_280_401_432_7)
}
#[formula]
fn slope<F: Float>(price: F, strike: F, years: F) -> F {
    let (_, slope, _) = option_and_slopes(price, strike, years);
    slope
}
#[formula]
fn vega<F: Float>(price: F, strike: F, years: F) -> F {
    let (_, _, vega) = option_and_slopes(price, strike, years);
    vega
}
/// How many steps stay within a distance of 2.
#[formula]
fn escape<F: Float>(at: F, height: F) -> F {
    let (mut re, mut im, mut count) = (0.0 * at, 0.0 * at, 0.0 * at);
    for _ in 0..50 {
        let stays = (re * re + im * im).lt(4.0);
        let (next_re, next_im) = (re * re - im * im + at, 2.0 * re * im + height);
        (re, im) = (select(stays, next_re, re), select(stays, next_im, im));
        count += select(stays, 1.0, 0.0);
    }
    count
}
struct Total;
#[reducer]
impl Total {
    fn start<F: Float>() -> F {
        0.0
    }
    fn step<F: Float>(sum: F, x: F) -> F {
        sum + x
    }
    fn merge<F: Float>(one: F, other: F) -> F {
        one + other
    }
    fn finish<F: Float>(sum: F) -> F {
        sum
    }
}
/// The sample variance, by Welford's steps.
struct Spread;
#[reducer]
impl Spread {
    fn start<F: Float>() -> [F; 3] {
        [0.0; 3]
    }
    fn step<F: Float>([count, mean, squares]: [F; 3], x: F) -> [F; 3] {
        let more = count + 1;
        let off = x - mean;
        let new = mean + off / more;
        [more, new, squares + off * (x - new)]
    }
    fn merge<F: Float>(one: [F; 3], other: [F; 3]) -> [F; 3] {
        let count = one[0] + other[0];
        let share = select(count.gt(0), other[0] / count, 0);
        let off = other[1] - one[1];
        [count, one[1] + off * share, one[2] + other[2] + off * off * one[0] * share]
    }
    fn finish<F: Float>([count, _, squares]: [F; 3]) -> F {
        squares / (count - 1)
    }
}
/// `sum(w * x)`
struct Weighted;
#[reducer]
impl Weighted {
    fn start<F: Float>() -> F {
        0.0
    }
    fn step<F: Float>(sum: F, x: F, w: F) -> F {
        sum + w * x
    }
    fn merge<F: Float>(one: F, other: F) -> F {
        one + other
    }
    fn finish<F: Float>(sum: F) -> F {
        sum
    }
}

pub fn run(bench: &mut Bench) {
    let [x, strike, years]: [Line; 3] = [1, 2, 3].map(floats);
    let halves = x.to::<bf16>();
    let rows: Matrix = floats(4);
    let weights: Matrix = floats(5);
    let at = Plane::from_fn(|[_, column]| column as f32 / 200.0 - 2.0);
    let height = Plane::from_fn(|[row, _]| row as f32 / 250.0 - 1.0);
    let (one, half) = (Work::Bytes(Pass::Copy, 8 * M1), Work::Bytes(Pass::Copy, 4 * M1));
    let (three, read) = (Work::Bytes(Pass::Add, 16 * M1), Work::Bytes(Pass::Read, 4 * M1));
    let steps = Work::Flops32(512 * 512 * 50 * 10);
    bench.run("u.gelu_1M", one, || x.apply(gelu, ()));
    bench.run("u.silu_1M", one, || x.apply(silu, ()));
    bench.run("u.silu_bf16_1M", half, || halves.apply(silu, ()));
    bench.run("u.mish_1M", one, || x.apply(mish, ()));
    bench.run("u.sin_1M", one, || x.apply(sine, ()));
    bench.run("u.option_1M", three, || x.apply(option, (&strike, &years)));
    let five = Work::Bytes(Pass::Add, 24 * M1);
    bench.run("u.option_and_slopes_1M", five, || x.apply(option_and_slopes, (&strike, &years)));
    bench.run("u.mandelbrot_512", steps, || at.apply(escape, &height));
    bench.run("u.sum_rows", read, || rows.reduce_axis_by(Total, (), axis![1]));
    bench.run("u.sum_columns", read, || rows.reduce_axis_by(Total, (), axis![0]));
    bench.run("u.var_rows", read, || rows.reduce_axis_by(Spread, (), axis![1]));
    bench.run("u.var_columns", read, || rows.reduce_axis_by(Spread, (), axis![0]));
    bench.run("u.weighted_rows", Work::Bytes(Pass::Read, 8 * M1), || rows.reduce_axis_by(Weighted, &weights, axis![1]));
    bench.run("u.cumsum_rows", one, || rows.scan_by(Total, (), axis![1]));
    // The same built in, or of operations in one pass.
    bench.run_as("built-in", "u.gelu_1M", one, || x.gelu());
    bench.run_as("built-in", "u.silu_1M", one, || x.silu());
    bench.run_as("built-in", "u.silu_bf16_1M", half, || halves.silu());
    bench.run_as("built-in", "u.mish_1M", one, || x.mish());
    bench.run_as("built-in", "u.sin_1M", one, || x.sin());
    bench.run_as("built-in", "u.option_1M", three, || {
        let deviation = fused!(years.sqrt() * 0.2);
        let above = fused!(((x / strike).log() + years * 0.05) / deviation);
        let scale = std::f32::consts::FRAC_1_SQRT_2;
        fused! {
            let first = ((above * scale).erf() + 1.0) * 0.5;
            let second = (((above - deviation) * scale).erf() + 1.0) * 0.5;
            x * first - strike * (years * -0.03).exp() * second
        }
    });
    // (One result after another.)
    bench.run_as("built-in", "u.option_and_slopes_1M", five, || {
        let operands = (&strike, &years);
        (x.apply(option, operands), x.apply(slope, operands), x.apply(vega, operands))
    });
    bench.run_as("built-in", "u.sum_rows", read, || rows.sum_axis(axis![1]));
    bench.run_as("built-in", "u.sum_columns", read, || rows.sum_axis(axis![0]));
    bench.run_as("built-in", "u.var_rows", read, || rows.var_axis(axis![1], 1));
    bench.run_as("built-in", "u.var_columns", read, || rows.var_axis(axis![0], 1));
    bench.run_as("built-in", "u.weighted_rows", Work::Bytes(Pass::Read, 8 * M1), || {
        fused!((rows * weights).sum_axis(axis![1]))
    });
    bench.run_as("built-in", "u.cumsum_rows", one, || rows.cumsum(axis![1]));
    #[cfg(feature = "ndarray")]
    beside_ndarray(bench, [&x, &strike, &years], [&at, &height]);
}

#[cfg(feature = "ndarray")]
fn beside_ndarray(bench: &mut Bench, [x, strike, years]: [&Line; 3], [at, height]: [&Plane; 2]) {
    use ndarray::{Array1, Array2, Zip};
    let line = |x: &Line| Array1::from_vec(x.to_vec());
    let plane = |x: &Plane| Array2::from_shape_vec((512, 512), x.to_vec()).unwrap();
    let (x, strike, years, at, height) = (line(x), line(strike), line(years), plane(at), plane(height));
    let one = Work::Bytes(Pass::Copy, 8 * M1);
    // `std` has no `erf`.
    let erf = |x: f32| libm::erff(x);
    let normal = |x: f32| 0.5 * (1.0 + erf(x / std::f32::consts::SQRT_2));
    let mut run = |name: &str, work: Work, workload: &mut dyn FnMut()| bench.run_as("ndarray", name, work, workload);
    run("u.gelu_1M", one, &mut || drop(x.mapv(|x| x * normal(x))));
    run("u.silu_1M", one, &mut || drop(x.mapv(|x| x / (1.0 + (-x).exp()))));
    run("u.mish_1M", one, &mut || drop(x.mapv(|x| x * x.exp().ln_1p().tanh())));
    run("u.sin_1M", one, &mut || drop(x.mapv(f32::sin)));
    run("u.option_1M", Work::Bytes(Pass::Add, 16 * M1), &mut || {
        drop(Zip::from(&x).and(&strike).and(&years).map_collect(|&price, &strike, &years| {
            let deviation = 0.2 * years.sqrt();
            let above = ((price / strike).ln() + 0.05 * years) / deviation;
            price * normal(above) - strike * (-0.03 * years).exp() * normal(above - deviation)
        }));
    });
    run("u.mandelbrot_512", Work::Flops32(512 * 512 * 50 * 10), &mut || {
        drop(Zip::from(&at).and(&height).map_collect(|&at, &height| {
            let (mut re, mut im, mut count) = (0.0, 0.0, 0.0_f32);
            for _ in 0..50 {
                if re * re + im * im >= 4.0 {
                    break;
                }
                (re, im) = (re * re - im * im + at, 2.0 * re * im + height);
                count += 1.0;
            }
            count
        }));
    });
}
