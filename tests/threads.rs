//! Results do not depend on the number of threads: each operation is run in pools of 1, 2, 3 and 7 threads on tensors large enough to be
//! divided, and compared bit for bit. Nor do results depend on the strides of a long line.

use castiron::{Dtype, Dyn, Element, Shape, Tensor, axis, bf16, fused, where_};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt::Write as _;
use std::sync::LazyLock;

type Vector<E> = Tensor<E, (Dyn,)>;
type Matrix<E> = Tensor<E, (Dyn, Dyn)>;

static POOLS: LazyLock<Vec<ThreadPool>> =
    LazyLock::new(|| [1, 2, 3, 7].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap()).into());

/// Sizes of matrices: square, many columns, many rows (also one more than a number that divides well), long rows, odd ones.
const SIZES: &[[usize; 2]] = if cfg!(debug_assertions) {
    &[[128, 256], [3, 7001], [7001, 3], [31, 1501], [1, 32_771]]
} else {
    &[[2048, 1024], [3, 700_001], [700_001, 3], [8191, 257], [1021, 3001], [1, 2_000_003]]
};

trait Exact: Element {
    fn bits(self) -> u64;
}
macro_rules! exact {
    ($($ty:ty: |$x:ident| $bits:expr;)*) => {$(
        impl Exact for $ty {
            fn bits(self) -> u64 {
                let $x = self;
                $bits
            }
        }
    )*};
}
exact! {
    bool: |x| x.into();
    i64: |x| x as u64;
    f32: |x| x.to_bits().into();
    f64: |x| x.to_bits();
    bf16: |x| x.to_bits().into();
}

/// A number that tells results apart: of the sizes and the bits of all elements.
trait Digest {
    fn digest(&self) -> u64;
}
impl<E: Exact, S: Shape> Digest for Tensor<E, S> {
    fn digest(&self) -> u64 {
        let mix = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        let sizes = self.shape();
        let sizes = sizes.as_ref().iter().fold(0, |hash, &size| mix(hash, size as u64));
        self.to_vec().into_iter().fold(sizes, |hash, element| mix(hash, element.bits()))
    }
}
impl<A: Digest, B: Digest> Digest for (A, B) {
    fn digest(&self) -> u64 {
        self.0.digest().wrapping_mul(3) ^ self.1.digest()
    }
}

/// Elements whose sums need rounding, of each sign.
trait Noise: Exact + Dtype {
    fn noise(at: usize) -> Self;
}
fn hashed(at: usize) -> u64 {
    let x = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
}
fn fraction(at: usize) -> f64 {
    hashed(at) as f64 / (1_u64 << 53) as f64 * 4.0 - 2.0
}
impl Noise for f64 {
    fn noise(at: usize) -> f64 {
        fraction(at)
    }
}
impl Noise for f32 {
    fn noise(at: usize) -> f32 {
        fraction(at) as f32
    }
}
impl Noise for bf16 {
    fn noise(at: usize) -> bf16 {
        bf16::from_f64(fraction(at))
    }
}
impl Noise for i64 {
    fn noise(at: usize) -> i64 {
        (hashed(at) % 2001) as i64 - 1000
    }
}

/// A dense matrix, one whose columns lie side by side, one of every second element, and one of a repeated row.
fn layouts<E: Noise>([rows, columns]: [usize; 2]) -> [(&'static str, Matrix<E>); 4] {
    let noise = |len: usize| (0..len).map(E::noise).collect::<Vec<E>>();
    let pairs = Tensor::<E, (Dyn, Dyn, Dyn)>::from_vec_sized(noise(rows * columns * 2), [rows, columns, 2]);
    let row = Matrix::from_vec_sized(noise(columns), [1, columns]);
    [
        ("dense", Matrix::from_vec_sized(noise(rows * columns), [rows, columns])),
        ("transposed", Matrix::from_vec_sized(noise(rows * columns), [columns, rows]).permute(axis![1, 0])),
        ("strided", pairs.select(axis![2], 1)),
        ("repeated", row.expand_sized([rows, columns])),
    ]
}

/// Runs a check on all sizes and layouts.
fn everywhere<E: Noise>(check: impl Fn(&mut dyn FnMut(&str, &(dyn Fn() -> u64 + Sync)), &Matrix<E>)) {
    let mut report = String::new();
    for &sizes in SIZES {
        for (layout, x) in layouts::<E>(sizes) {
            let mut compare = |what: &str, run: &(dyn Fn() -> u64 + Sync)| {
                let digests: Vec<u64> = POOLS.iter().map(|pool| pool.install(run)).collect();
                if digests.iter().any(|&digest| digest != digests[0]) {
                    writeln!(report, "{what} of {layout} {sizes:?}").unwrap();
                }
            };
            check(&mut compare, &x);
        }
    }
    assert!(report.is_empty(), "results depend on the number of threads:\n{report}");
}

/// For `(|x| x.sum(), x.prod())` it writes a check that compares both results.
macro_rules! law {
    ((|$x:ident| $($value:expr),+ $(,)?)) => {
        |compare, $x| {
            $(compare(stringify!($value), &|| $value.digest());)+
        }
    };
}
macro_rules! laws {
    ($($name:ident of $($ty:ident)*: $law:tt)*) => {$(
        mod $name {
            use super::*;
            $(
                #[test]
                fn $ty() {
                    everywhere::<$ty>(law!($law));
                }
            )*
        }
    )*};
}
laws! {
    sums of f32 f64 bf16 i64: (|x|
        x.sum(), x.sum_axis(axis![0]), x.sum_axis(axis![1]),
        x.prod(), x.prod_axis(axis![0]), x.prod_axis(axis![1]))
    means of f32 f64 bf16: (|x|
        x.mean(), x.mean_axis(axis![0]), x.mean_axis(axis![1]),
        x.var(1), x.var_axis(axis![0], 1), x.var_axis(axis![1], 0),
        x.logsumexp(axis![0, 1]), x.logsumexp(axis![0]), x.logsumexp(axis![1]))
    choices of f32 f64 bf16 i64: (|x|
        x.amax(), x.amax_axis(axis![0]), x.amin_axis(axis![1]),
        x.argmax(), x.argmax_axis(axis![0]), x.argmin_axis(axis![1]))
    lanes of f32 f64 bf16: (|x|
        x.softmax(axis![0]), x.softmax(axis![1]), x.log_softmax(axis![1]),
        x.cumsum(axis![0]), x.cumsum(axis![1]))
    elements of f32 f64 bf16: (|x|
        x.exp(), x.sin(), x.tanh(), x + x, x * 0.3, x.pow(1.5), where_(x.lt(0.5), x, 0.5), x.lt(0.25), x.t().contiguous().t() - x)
    integers of i64: (|x|
        x + x, x * 3, x - 1, x.lt(5), x.to::<f32>() / 3, where_(x.lt(0), 0, x), x.cumsum(axis![0]), x.cumsum(axis![1]))
    expressions of f32 f64 bf16: (|x|
        fused!((x * x + 0.5).sqrt() - x), fused!((x * x).sum()), fused!((x * x + x).sum_axis(axis![0])),
        fused!(x.exp().mean_axis(axis![1])), fused!(if x < 0.5 { x } else { x * 0.3 }))
    order of f32 bf16 i64: (|x|
        x.sort(axis![0], false), x.sort(axis![1], true))
    scattering of f32 f64 bf16 i64: (|x|
        scattered(x, 0), scattered(x, 1), scattered(&x.t(), 1))
    products of f32 f64 bf16 i64: (|x|
        x.narrow(axis![0], 0, x.shape()[0].min(300)).matmul(x.t().narrow(axis![1], 0, x.shape()[0].min(129))))
}

/// Reductions of a long line do not depend on its strides: blocks of contiguous elements and gathered ones are taken in different
/// numbers at once.
macro_rules! long_lines {
    ($($ty:ident)*) => {$(
        #[test]
        fn $ty() {
            for len in [65_535, 65_536, 65_537, 130 * 1024 + 5] {
                let pairs = Matrix::<$ty>::from_vec_sized((0..2 * len).map(<$ty>::noise).collect(), [len, 2]);
                let gathered: Vector<$ty> = pairs.select(axis![1], 1);
                let contiguous = gathered.contiguous();
                for pool in POOLS.iter() {
                    let [gathered, contiguous] = [&gathered, &contiguous].map(|x| {
                        pool.install(|| [x.sum().digest(), x.prod().digest(), x.amax().digest(), x.argmax().digest()])
                    });
                    assert_eq!(gathered, contiguous, "{len} elements");
                }
            }
        }
    )*};
}
mod long_lines {
    use super::*;
    long_lines! { f32 f64 bf16 i64 }

    #[test]
    fn every_element_is_added() {
        for len in [65_535, 65_536, 65_537, 130 * 1024 + 5] {
            let elements: Vec<i64> = (0..len).map(i64::noise).collect();
            let sum: i64 = elements.iter().sum();
            let x = Vector::from_vec_sized(elements, [len]);
            for pool in POOLS.iter() {
                assert_eq!(pool.install(|| x.sum().item()), sum, "{len} elements");
            }
        }
    }
}

/// The rows added up in five, `index_add`ed or `scatter_add`ed.
fn scattered<E: Noise>(x: &Matrix<E>, way: usize) -> Matrix<E> {
    let [rows, columns] = x.shape();
    let index: Vec<i64> = (0..rows).map(|at| (hashed(at) % 5) as i64).collect();
    let out = Matrix::<E>::full_sized([5, columns], E::noise(7));
    if way == 0 {
        return out.index_add(axis![0], Vector::from_vec_sized(index, [rows]), x, 1);
    }
    let index = Matrix::from_vec_sized(index, [rows, 1]).expand_sized::<(Dyn, Dyn)>([rows, columns]);
    out.scatter_add(axis![0], index, x)
}

/// Results that are written past the caches, by threads whose parts begin in the middle of runs.
#[test]
fn joined_tensors_hold_the_elements_of_each() {
    fn check<E: Exact + Dtype>(rows: usize, columns: [usize; 3], number: impl Fn(usize) -> E) {
        let part = |first: usize, sizes: [usize; 2]| {
            let elements = (0..sizes[0] * sizes[1]).map(|at| number(first + at)).collect();
            Matrix::<E>::try_from_vec_sized(elements, sizes).unwrap()
        };
        let beside = columns.map(|columns| part(columns, [rows, columns]));
        let below = columns.map(|columns| part(columns, [columns, rows]));
        for pool in &*POOLS {
            let [wide, tall] = pool.install(|| [castiron::cat(&beside, axis![1]), castiron::cat(&below, axis![0])]);
            let want = (0..rows).flat_map(|row| beside.iter().flat_map(move |x| x.select(axis![0], row).to_vec()));
            assert!(wide.to_vec().into_iter().map(E::bits).eq(want.map(E::bits)));
            assert!(tall.to_vec().into_iter().map(E::bits).eq(below.iter().flat_map(|x| x.to_vec()).map(E::bits)));
        }
    }
    let rows = if cfg!(debug_assertions) { 37 } else { 4001 };
    check(rows, [1001, 333, 71], |at| at as f32);
    check(rows, [301, 129, 128], |at| at % 3 == 0);
    check(rows, [511, 17, 16], |at| at as i64);
}

/// Sums of the results of large operations: elementwise, reductions, rows, expressions, order, products of every kind.
fn sums_of_large_operations() -> Vec<f64> {
    let [(_, x), ..] = layouts::<f32>([300, 1200]);
    let (rows, z) = (x.narrow(axis![0], 0, 200), x.to::<castiron::Complex<f32>>());
    let sparse = x.narrow(axis![1], 0, 64).to_sparse();
    vec![
        x.sum().to(),
        x.exp().sum().to(),
        x.softmax(axis![1]).sum().to(),
        fused!((x * x).sum()).to(),
        x.sort(axis![1], false).0.sum().to(),
        rows.matmul(x.t()).sum().to(),
        x.matmul(x.t().select(axis![1], 0)).sum().to(),
        x.to::<bf16>().matmul(x.t().to::<bf16>()).sum().to(),
        x.to::<i64>().matmul(x.t().to::<i64>()).sum().to(),
        z.matmul(z.t()).real().sum().to(),
        sparse.matmul(x.t().narrow(axis![0], 0, 64)).sum().to(),
    ]
    .into_iter()
    .map(|sum: Tensor<f64, ()>| sum.item())
    .collect()
}

/// All threads of the global pool are busy for ever. Work is shared in the caller's pool, if there is one; else the caller does
/// it alone and waits for nobody.
#[test]
fn busy_threads_of_a_pool_hold_nobody_up() {
    let started = std::sync::Barrier::new(rayon::current_num_threads() + 1);
    let started: &'static std::sync::Barrier = Box::leak(Box::new(started));
    rayon::spawn_broadcast(move |_| {
        started.wait();
        loop {
            std::thread::park();
        }
    });
    started.wait();
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let runs: [(&str, Box<dyn Fn(Box<dyn FnOnce() + Send>)>); 2] = [
        ("in another pool", Box::new(move |run| pool.spawn(run))),
        ("outside of pools", Box::new(|run| drop(std::thread::spawn(run)))),
    ];
    for (place, run) in runs {
        let (sender, receiver) = std::sync::mpsc::channel();
        run(Box::new(move || {
            // An error would mean that the test has given up.
            let _ = sender.send(sums_of_large_operations());
        }));
        let sums = receiver.recv_timeout(std::time::Duration::from_secs(60));
        let sums = sums.unwrap_or_else(|_| panic!("work {place} waits for threads that are busy"));
        assert!(sums.iter().all(|sum| sum.is_finite()));
    }
}

/// Steps of optimisers and norms of gradients divide the elements of all tensors among threads.
#[cfg(feature = "grad")]
#[test]
fn steps_and_norms() {
    use castiron::Module;
    use castiron::optim::Adam;
    everywhere::<f32>(|compare, x| {
        compare("a step", &|| {
            let mut tensors = vec![x.clone(), x.narrow(axis![0], 0, 1), x * 0.5];
            let gradients = vec![x * 0.25, x.narrow(axis![0], 0, 1) - 0.5, x.clone()];
            let mut adam = Adam::new(&tensors).rate(0.1);
            adam.step(&mut tensors, &gradients);
            let norm = tensors.total_norm();
            tensors.iter().fold(norm.to_bits(), |all, one| all.wrapping_mul(3) ^ one.digest())
        });
    });
}
