//! Times operations on a GPU that are bound by memory, by arithmetic or by the host: `cargo bench --features cuda --bench gpu -- --device
//! cuda:0`.
//!
//! | | |
//! |---|---|
//! | `--device cpu` or `cuda:0` | the device, `cuda:0` by default |
//! | `--small` | sizes 1,024 times smaller, to check that everything runs |
//! | another word | only workloads whose names contain it |
//!
//! Prints a JSON object per line: the name, milliseconds, and GB/s or TFLOP/s of the least that must be moved or computed (each operand
//! read once and the result written once). `benches/gpu/peer.py` prints the same lines for PyTorch, `benches/gpu/table.py` compares both
//! with each other and with a plain copy.

use castiron::Generator;
use castiron::device::synchronize;
use castiron::{Cpu, Cuda, Device, Dyn, Element, Tensor, axis, bf16, cat, dim, f16, fused, s, shape, where_};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// What the time is compared with.
#[derive(Clone, Copy)]
enum Work {
    Bytes(usize),
    Flops(usize),
    Calls,
}
use Work::{Bytes, Calls, Flops};

struct Bench {
    filter: Option<String>,
    on_gpu: bool,
    small: bool,
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|word| name.contains(word.as_str()))
    }

    fn wait(&self) {
        if self.on_gpu {
            synchronize("cuda:0").unwrap();
        }
    }

    /// Times a call: the median of five batches. Each batch has enough calls to take 30 ms, and is waited for at its end.
    fn time<T>(&self, name: &str, work: Work, mut call: impl FnMut() -> T) {
        if !self.wants(name) {
            return;
        }
        let mut batch = |calls: usize| {
            let start = Instant::now();
            for _ in 0..calls {
                black_box(call());
            }
            self.wait();
            start.elapsed().as_secs_f64() / calls as f64
        };
        let measured = catch_unwind(AssertUnwindSafe(|| {
            batch(1);
            let once = batch(1);
            // Calls as long as this are not repeated.
            if once > 0.5 || self.small {
                return vec![once; 5];
            }
            let calls = ((0.03 / once) as usize).clamp(1, 10_000);
            (0..5).map(|_| batch(calls)).collect()
        }));
        let Ok(mut times) = measured else {
            return println!(r#"{{"side": "castiron", "name": "{name}", "error": "it failed"}}"#);
        };
        times.sort_by(f64::total_cmp);
        let (ms, per_second) = (times[2] * 1e3, |amount: usize, unit: f64| amount as f64 / times[2] / unit);
        let (gbs, tflops) = match work {
            Bytes(bytes) => (per_second(bytes, 1e9), 0.0),
            Flops(flops) => (0.0, per_second(flops, 1e12)),
            Calls => (0.0, 0.0),
        };
        println!(r#"{{"side": "castiron", "name": "{name}", "ms": {ms:.6}, "gbs": {gbs:.1}, "tflops": {tflops:.3}}}"#);
    }
}

type Line<E, D> = Tensor<E, (Dyn,), D>;
type Matrix<E, D> = Tensor<E, (Dyn, Dyn), D>;
type Stack<E, D> = Tensor<E, (Dyn, Dyn, Dyn), D>;

/// `len` normally distributed numbers: a few million are drawn, repeated, and shifted a little each time.
fn normal<D: Device>(len: usize) -> Line<f32, D> {
    let mut generator = Generator::seeded(7);
    let drawn = len.min(1 << 22);
    let some = Tensor::<f32, (Dyn,), Cpu>::randn_sized([drawn], &mut generator).to_device::<D>().unwrap();
    let table: Matrix<f32, D> = some.reshape_sized::<(Dyn, Dyn)>([1, drawn]);
    let steps = Tensor::<f32, (Dyn,), Cpu>::randn_sized([len / drawn], &mut generator);
    let steps: Matrix<f32, D> = steps.to_device::<D>().unwrap().reshape_sized::<(Dyn, Dyn)>([len / drawn, 1]);
    (&table + &steps).reshape_sized::<(Dyn,)>([len])
}

fn run<D: Device>(bench: &Bench) {
    let scale = if bench.small { 1024 } else { 1 };
    let n = (1 << 28) / scale;
    let (a, b, c) = (normal::<D>(n), normal::<D>(n), normal::<D>(n));
    elementwise(bench, &a, &b, &c);
    drop(c);
    layouts(bench, &a, &b);
    drop(b);
    reductions(bench, &a);
    rows(bench, &a);
    scans(bench, &a);
    indexing(bench, &a);
    order(bench, &a);
    drop(a);
    products::<D>(bench);
    calls::<D>(bench);
}

fn elementwise<D: Device>(bench: &Bench, a: &Line<f32, D>, b: &Line<f32, D>, c: &Line<f32, D>) {
    let n = a.numel();
    let mut out = a.clone() * 2.0;
    bench.time("copy_f32", Bytes(8 * n), || out.assign(a));
    bench.time("add_f32", Bytes(12 * n), || a + b);
    bench.time("add_in_place_f32", Bytes(12 * n), || out += b);
    drop(out);
    bench.time("fused_mul_add_exp_f32", Bytes(16 * n), || fused!((a * b + c).exp()));
    bench.time("fused_exp_scale_f32", Bytes(12 * n), || fused!((a * 2.0 + b).exp()));
    bench.time("gelu_f32", Bytes(8 * n), || a.gelu());
    bench.time("erf_f32", Bytes(8 * n), || a.erf());
    bench.time("sin_f32", Bytes(8 * n), || a.sin());
    bench.time("pow_f32", Bytes(12 * n), || a.pow(b));
    bench.time("lt_f32", Bytes(9 * n), || a.lt(b));
    bench.time("where_f32", Bytes(13 * n), {
        let mask = if bench.wants("where_f32") { a.lt(b) } else { Tensor::full_sized([0], false) };
        move || where_(&mask, a, b)
    });
    bench.time("cast_f32_bf16", Bytes(6 * n), || a.to::<bf16>());
    let (half, other) = (a.to::<bf16>(), b.to::<bf16>());
    bench.time("add_bf16", Bytes(6 * n), || &half + &other);
    bench.time("gelu_bf16", Bytes(4 * n), || half.gelu());
    let int = (a * 1000.0).to::<i32>();
    bench.time("add_i32", Bytes(8 * n), || &int + &int);
    bench.time("div_i32", Bytes(8 * n), || int.floor_divide(7));
}

fn layouts<D: Device>(bench: &Bench, a: &Line<f32, D>, b: &Line<f32, D>) {
    let n = a.numel();
    let side = n.isqrt();
    bench.time("strided_add_f32", Bytes(6 * n), || &a.slice(s![..;2]) + &b.slice(s![..;2]));
    let x: Matrix<f32, D> = a.reshape_sized([side, side]);
    let y: Matrix<f32, D> = b.reshape_sized([side, side]);
    bench.time("transpose_f32", Bytes(8 * n), || x.t().contiguous());
    bench.time("add_transposed_f32", Bytes(12 * n), || &x + y.t());
    let row: Matrix<f32, D> = a.slice(s![..side as isize]).reshape_sized([1, side]);
    let column: Matrix<f32, D> = a.slice(s![..side as isize]).reshape_sized([side, 1]);
    bench.time("add_row_f32", Bytes(8 * n), || &x + &row);
    bench.time("add_column_f32", Bytes(8 * n), || &x + &column);
    let half = x.to::<bf16>();
    bench.time("transpose_bf16", Bytes(4 * n), || half.t().contiguous());
    let pieces = [x.clone(), y];
    bench.time("cat_rows_f32", Bytes(16 * n), || cat(&pieces, axis![0]));
    bench.time("flip_f32", Bytes(8 * n), || x.flip(axis![1]));
}

fn reductions<D: Device>(bench: &Bench, a: &Line<f32, D>) {
    let n = a.numel();
    let rows: Matrix<f32, D> = a.reshape_sized([n / 4096, 4096]);
    let short: Matrix<f32, D> = a.reshape_sized([n / 64, 64]);
    let wide: Matrix<f32, D> = a.reshape_sized([64, n / 64]);
    bench.time("sum_all_f32", Bytes(4 * n), || a.sum());
    bench.time("sum_rows_4096_f32", Bytes(4 * n), || rows.sum_axis(axis!(1)));
    bench.time("sum_rows_64_f32", Bytes(4 * n), || short.sum_axis(axis!(1)));
    bench.time("sum_rows_4M_f32", Bytes(4 * n), || wide.sum_axis(axis!(1)));
    bench.time("sum_columns_4096_f32", Bytes(4 * n), || rows.sum_axis(axis!(0)));
    bench.time("sum_columns_64_f32", Bytes(4 * n), || short.sum_axis(axis!(0)));
    bench.time("sum_columns_4M_f32", Bytes(4 * n), || wide.sum_axis(axis!(0)));
    bench.time("mean_all_f32", Bytes(4 * n), || a.mean());
    bench.time("max_all_f32", Bytes(4 * n), || a.max());
    bench.time("argmax_all_f32", Bytes(4 * n), || a.argmax());
    bench.time("argmax_rows_f32", Bytes(4 * n), || rows.argmax_axis(axis!(1)));
    bench.time("max_rows_f32", Bytes(4 * n), || rows.max_axis(axis!(1)));
    bench.time("var_all_f32", Bytes(4 * n), || a.var(1));
    bench.time("var_rows_f32", Bytes(4 * n), || rows.var_axis(axis!(1), 1));
    bench.time("norm_all_f32", Bytes(4 * n), || a.vector_norm(2.0));
    bench.time("logsumexp_rows_f32", Bytes(4 * n), || rows.logsumexp(axis!(1)));
    bench.time("fused_dot_f32", Bytes(4 * n), || fused!((a * a).sum()));
    let half = a.to::<bf16>();
    let half_rows: Matrix<bf16, D> = half.reshape_sized([n / 4096, 4096]);
    bench.time("sum_all_bf16", Bytes(2 * n), || half.sum());
    bench.time("sum_rows_bf16", Bytes(2 * n), || half_rows.sum_axis(axis!(1)));
}

fn rows<D: Device>(bench: &Bench, a: &Line<f32, D>) {
    let n = a.numel();
    let of = |len: usize| -> Matrix<f32, D> { a.reshape_sized([n / len, len]) };
    bench.time("softmax_1024_f32", Bytes(8 * n), || of(1024).softmax(axis!(1)));
    bench.time("softmax_4096_f32", Bytes(8 * n), || of(4096).softmax(axis!(1)));
    bench.time("softmax_32768_f32", Bytes(8 * n), || of(32768).softmax(axis!(1)));
    bench.time("softmax_columns_f32", Bytes(8 * n), || of(4096).softmax(axis!(0)));
    bench.time("log_softmax_4096_f32", Bytes(8 * n), || of(4096).log_softmax(axis!(1)));
    let weight: Line<f32, D> = Tensor::ones_sized([4096]);
    bench.time("layer_norm_4096_f32", Bytes(8 * n), || of(4096).layer_norm(Some(&weight), Some(&weight), 1e-5));
    bench.time("rms_norm_4096_f32", Bytes(8 * n), || of(4096).rms_norm(Some(&weight), Some(1e-5)));
    let half: Matrix<bf16, D> = of(4096).to::<bf16>();
    bench.time("softmax_4096_bf16", Bytes(4 * n), || half.softmax(axis!(1)));
}

fn scans<D: Device>(bench: &Bench, a: &Line<f32, D>) {
    let n = a.numel();
    let rows: Matrix<f32, D> = a.reshape_sized([n / 4096, 4096]);
    bench.time("cumsum_all_f32", Bytes(8 * n), || a.cumsum(axis!(0)));
    bench.time("cumsum_rows_f32", Bytes(8 * n), || rows.cumsum(axis!(1)));
    bench.time("cumsum_columns_f32", Bytes(8 * n), || rows.cumsum(axis!(0)));
}

/// Positions below `below`, in scrambled order.
fn positions<D: Device>(len: usize, below: usize) -> Line<i64, D> {
    let mut state = 1_u64;
    let next = move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below as u64) as i64
    };
    Line::<i64, Cpu>::from_vec_sized((0..len).map(next).collect(), [len]).to_device::<D>().unwrap()
}

fn indexing<D: Device>(bench: &Bench, a: &Line<f32, D>) {
    let n = a.numel();
    let table: Matrix<bf16, D> = a.to::<bf16>().reshape_sized([n / 1024, 1024]);
    let list = positions::<D>(n / 1024, n / 1024);
    bench.time("index_select_rows_bf16", Bytes(4 * n), || table.index_select(axis!(0), &list));
    let m = n / 16;
    let few: Line<f32, D> = a.slice(s![..m as isize]).contiguous();
    let index = positions::<D>(m, m);
    bench.time("gather_f32", Bytes(16 * m), || few.gather(axis!(0), &index));
    bench.time("scatter_add_f32", Bytes(20 * m), || few.scatter_add(axis!(0), &index, &few));
    let mask = few.gt(0.0);
    bench.time("masked_select_f32", Bytes(7 * m), || few.masked_select(&mask));
    bench.time("nonzero", Bytes(5 * m), || mask.nonzero());
}

fn order<D: Device>(bench: &Bench, a: &Line<f32, D>) {
    let n = a.numel();
    let some: Line<f32, D> = a.slice(s![..(n / 4) as isize]).contiguous();
    bench.time("sort_64M_f32", Bytes(4 * n), || some.sort(axis!(0), false));
    let rows: Matrix<f32, D> = some.reshape_sized([n / 4 / 1024, 1024]);
    bench.time("sort_rows_1024_f32", Bytes(4 * n), || rows.sort(axis!(1), false));
    bench.time("topk_64M_f32", Bytes(n), || some.topk::<dim!(64), _>(axis!(0), true));
    let wide: Matrix<f32, D> = some.reshape_sized([n / 4 / 16384, 16384]);
    bench.time("topk_rows_16384_f32", Bytes(n), || wide.topk::<dim!(64), _>(axis!(1), true));
    bench.time("median_rows_1024_f32", Bytes(n), || rows.median_axis(axis!(1)));
}

fn square<E: Element, D: Device>(side: usize, of: impl Fn(Line<f32, D>) -> Line<E, D>) -> Matrix<E, D> {
    of(normal::<D>(side * side)).reshape_sized([side, side])
}

fn products<D: Device>(bench: &Bench) {
    let side = |full: usize| if bench.small { full / 32 } else { full };
    let flops = |m: usize| Flops(2 * m * m * m);
    if bench.wants("matmul_bf16") || bench.wants("linear") {
        let m = side(8192);
        let x = square::<bf16, D>(m, |x| x.to());
        bench.time("matmul_bf16_8192", flops(m), || -> Matrix<bf16, D> { x.matmul(&x) });
        bench.time("matmul_bf16_8192_transposed", flops(m), || -> Matrix<bf16, D> { x.t().matmul(&x) });
        let bias: Line<bf16, D> = Tensor::ones_sized([m]);
        bench.time("linear_bf16_8192", flops(m), || x.linear(&x, Some(&bias)));
    }
    if bench.wants("matmul_f16") {
        let m = side(8192);
        let x = square::<f16, D>(m, |x| x.to());
        bench.time("matmul_f16_8192", flops(m), || -> Matrix<f16, D> { x.matmul(&x) });
    }
    if bench.wants("matmul_f32") {
        let m = side(4096);
        let x = square::<f32, D>(m, |x| x);
        bench.time("matmul_f32_4096", flops(m), || -> Matrix<f32, D> { x.matmul(&x) });
    }
    if bench.wants("matmul_f64") {
        let m = side(4096);
        let x = square::<f64, D>(m, |x| x.to());
        bench.time("matmul_f64_4096", flops(m), || -> Matrix<f64, D> { x.matmul(&x) });
    }
    if bench.wants("matmul_i32") {
        let m = side(2048);
        let x = square::<i32, D>(m, |x| (x * 100.0).to());
        bench.time("matmul_i32_2048", flops(m), || -> Matrix<i32, D> { x.matmul(&x) });
    }
    if bench.wants("bmm") {
        let m = side(1024);
        let x: Stack<bf16, D> = normal::<D>(64 * m * m).to::<bf16>().reshape_sized([64, m, m]);
        bench.time("bmm_bf16_64x1024", Flops(64 * 2 * m * m * m), || -> Stack<bf16, D> { x.matmul(&x) });
    }
}

fn calls<D: Device>(bench: &Bench) {
    let x: Tensor<f32, shape![1024], D> = Tensor::ones();
    let y: Tensor<f32, shape![1024], D> = Tensor::ones();
    bench.time("call_add_1k", Calls, || &x + &y);
    bench.time("call_fused_1k", Calls, || fused!((&x * 2.0 + &y).exp()));
    bench.time("call_sum_1k", Calls, || x.sum());
    bench.time("call_softmax_1k", Calls, || x.softmax(axis!(0)));
    bench.time("call_zeros_1k", Calls, || Tensor::<f32, shape![1024], D>::zeros());
    let len = if bench.small { 1 << 18 } else { 1 << 28 };
    let host: Line<f32, Cpu> = Tensor::ones_sized([len]);
    bench.time("upload_1GiB", Bytes(4 * len), || host.to_device::<D>().unwrap());
    let there = host.to_device::<D>().unwrap();
    bench.time("download_1GiB", Bytes(4 * len), || there.to_device::<Cpu>().unwrap());
    if bench.wants("rand") {
        let mut generator = Generator::seeded(1);
        bench.time("rand_f32", Bytes(len), || Line::<f32, D>::rand_sized([len / 4], &mut generator));
        bench.time("randn_f32", Bytes(len), || Line::<f32, D>::randn_sized([len / 4], &mut generator));
    }
}

fn main() {
    let (mut device, mut bench) = ("cuda:0".to_owned(), Bench { filter: None, on_gpu: true, small: false });
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--device" => device = arguments.next().unwrap_or(device),
            "--small" => bench.small = true,
            // Flags that cargo passes.
            flag if flag.starts_with("--") => {}
            word => bench.filter = Some(word.to_owned()),
        }
    }
    match device.as_str() {
        "cpu" => {
            bench.on_gpu = false;
            run::<Cpu>(&bench);
        }
        "cuda:0" => {
            if let Err(error) = synchronize("cuda:0") {
                return println!("NOTICE: nothing was measured: {error}");
            }
            run::<Cuda<0>>(&bench);
        }
        other => println!("`--device {other}`: this program knows `cpu` and `cuda:0`"),
    }
}
