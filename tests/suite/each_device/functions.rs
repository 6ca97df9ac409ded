//! Functions of several tensors and reductions in code that is generic over devices: `lerp`, `index_put`, `searchsorted`, norms, reductions
//! with two results. (Their values are compared with PyTorch's in `blend.rs` and `sums.rs`.)

use super::{Gives, On, is_host};
use castiron::shape::HasAxis;
use castiron::{
    Complex, Cpu, Device, Dim, Dtype, Dyn, Float, Numeric, Scalar, Shape, Tensor, axis, bf16, dim, shape, tensor,
};

/// Generic code needs no bounds beyond the set of dtypes and the shape.
pub fn code_that_blends<D: Device>() {
    fn ease<E: Float, S: Shape, D: Device>(
        x: &Tensor<E, S, D>,
        y: &Tensor<E, S, D>,
        weight: impl Scalar,
    ) -> Tensor<E, S, D> {
        x.lerp(y, weight).lerp(y, x)
    }
    fn parts<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<i32, S, D> {
        x.frexp().1
    }
    fn limited<E: Float, S: Shape, D: Device>(x: &mut Tensor<E, S, D>, bound: Tensor<E, (), D>) {
        let unknown = x.isnan();
        x.clamp_(-2, 2).masked_fill_(unknown, bound);
    }
    fn doubled<E: Dtype, N: Dim, D: Device>(x: &Tensor<E, (dim!(1), N), D>) -> Tensor<E, (dim!(1), N), D> {
        x.index_put([&tensor![0_i64; i64].on::<D>()], x.clone(), true)
    }
    let mut x = tensor![1.0, 4.0, f32::NAN].on::<D>();
    parts(&x).gives([1, 3, 0]);
    ease(&x, &x, 0.5).narrow(axis![0], 0, 2).gives([1.0, 4.0]);
    limited(&mut x, Tensor::scalar(0.5));
    x.gives([1.0, 2.0, 0.5]);
    doubled(&tensor![[1, 2]].on::<D>()).gives([2, 4]);
}

/// A scalar stands between the elements of any dtype.
pub fn searching_for_scalars<D: Device>() {
    let x = tensor![1, 2, 3].on::<D>();
    let found = |right| [0.5, 2.0, 2.5, 9.0, f64::NAN].map(|value| x.searchsorted_scalar(value, right).item());
    assert_eq!((found(false), found(true)), ([0, 1, 2, 3, 3], [0, 2, 2, 3, 3]));
    assert_eq!(tensor![1, 255; u8].on::<D>().searchsorted_scalar(300, false).item(), 2);
    assert_eq!(tensor![1, 255; u8].on::<D>().searchsorted_scalar(-1, true).item(), 0);
}

/// Generic code needs no bounds beyond the set of dtypes and the shape.
pub fn code_that_sums<D: Device>() {
    fn scaled_norm<E: Float, S: Shape, D: Device>(
        x: &Tensor<E, S, D>,
        weight: &Tensor<E, (<S as HasAxis<-1>>::Dim,), D>,
    ) -> Tensor<E, S, D> {
        x.layer_norm(Some(weight), None, 1e-5)
            .rms_norm(Some(weight), None)
            .normalize(axis![-1], 2.0, 1e-12)
            .cumprod(axis![-1])
    }
    fn dense<E: Numeric, B: Dim, K: Dim, N: Dim, D: Device>(
        x: &Tensor<E, (B, K), D>,
        weight: &Tensor<E, (N, K), D>,
        bias: &Tensor<E, (N,), D>,
    ) -> Tensor<E, (B, N), D> {
        bias.addmm(x, &weight.t(), 1, 1) + x.linear(weight, Some(bias))
    }
    let x = tensor![[3.0, 3.0], [-1.0, 1.0]].on::<D>();
    scaled_norm(&x, &tensor![1.0, 1.0].on::<D>()).select(axis![0], 0).gives([0.0, 0.0]);
    dense(&tensor![[1, 2]].on::<D>(), &tensor![[3, 4]].on::<D>(), &tensor![5].on::<D>()).gives([32]);
}

/// Both results of one reduction are those of two, whatever the layout. `var_mean` of everything adds up in double precision, as
/// PyTorch's does, and `var` does not.
pub fn two_results_of_one_reduction<D: Device>() {
    // Bit for bit on the host, whose loops are the same.
    let same = |a: Tensor<f32, (Dyn,), D>, b: Tensor<f32, (Dyn,), D>| match is_host::<D>() {
        true => assert_eq!(a.elements(), b.elements()),
        false => assert!(a.here().allclose_with(&b.here(), 1e-6, 0.0)),
    };
    let numbers: Vec<f32> = (0..60 * 70).map(|i| ((i * 7919) % 1009) as f32 - 500.0).collect();
    let x = Tensor::<f32, (Dyn, Dyn)>::from_vec_sized(numbers, [60, 70]).on::<D>();
    let layouts = [x.clone(), x.t(), x.narrow(axis![1], 3, 21)];
    for x in layouts.into_iter().take(if is_host::<D>() { 3 } else { 1 }) {
        let (values, indices) = x.max_axis(axis![1]);
        assert_eq!(values.elements(), x.amax_axis(axis![1]).elements());
        assert_eq!(indices.elements(), x.argmax_axis(axis![1]).elements());
        let (values, indices) = x.min_axis(axis![0]);
        assert_eq!(values.elements(), x.amin_axis(axis![0]).elements());
        assert_eq!(indices.elements(), x.argmin_axis(axis![0]).elements());
        let (min, max) = x.aminmax_axis(axis![0]);
        assert_eq!(
            (min.elements(), max.elements()),
            (x.amin_axis(axis![0]).elements(), x.amax_axis(axis![0]).elements())
        );
        same(x.var_mean_axis(axis![0], 1).0, x.var_axis(axis![0], 1));
        same(x.std_mean_axis(axis![1], 0).0, x.std_axis(axis![1], 0));
        let means = x.mean_axis(axis![1]).elements();
        assert!(x.var_mean_axis(axis![1], 1).1.elements().iter().zip(means).all(|(a, b)| (a - b).abs() < 1e-3));
    }
    let (var, mean) = tensor![3e38_f32, 3e38].on::<D>().var_mean(1);
    assert_eq!((var.item(), mean.item()), (0.0, 3e38));
    let (var, mean) = x.narrow(axis![1], 0, 0).var_mean(1);
    assert!(var.item().is_nan() && mean.item().is_nan());
    let error = x.narrow(axis![1], 0, 0).try_max_axis(axis![1]).err().unwrap().to_string();
    assert!(error.starts_with("max:"), "{error}");
}

pub fn packed_layers<D: Device>() {
    use castiron::nn::{Conv, Same};
    let list = |len: i32| (0..len).map(|at| (at * 7 % 11 - 5) as f32).collect::<Vec<_>>();
    let x = Tensor::<f32, shape![2, 3, 5, 6]>::from_vec(list(180)).on::<D>();
    let w = Tensor::<f32, shape![4, 3, 3, 3]>::from_vec(list(108)).on::<D>();
    let b = Tensor::<f32, shape![4]>::from_vec(list(4)).on::<D>();
    let conv = Conv::new().padding::<Same>();
    let packed = w.pack_conv2d(Some(&b), conv);
    assert_eq!(packed.forward(&x).elements(), x.conv2d(&w, Some(&b), conv).elements());
    let relu = castiron::ops::relu {};
    assert_eq!(packed.forward_with(&x, relu).elements(), x.conv2d_with(&w, Some(&b), conv, relu).elements());
    let (w, x) =
        (w.flatten_axes(axis![1], axis![3]), x.flatten_axes(axis![2], axis![3]).with_shape::<shape![2, 3, 30]>());
    let (w, packed) = (w.narrow(axis![1], 0, 27), w.pack_linear(Some(&b)));
    let x = x.narrow(axis![2], 3, 27);
    assert_eq!(packed.forward(&x).elements(), x.linear(&w, Some(&b)).elements());
    assert_eq!(packed.forward_with(&x, relu).elements(), x.linear_with(&w, Some(&b), relu).elements());
}

/// Rows of finite numbers whose squares are beyond their dtype are normalised as rows that are smaller by a power of two.
pub fn large_rows_are_normalised_as_small_ones_are<D: Device>() {
    macro_rules! check {
        ($E:ident: $k:literal, $tolerance:literal) => {{
            type Images<D> = Tensor<$E, shape![2, 4, 20], D>;
            let images = |power: f64| {
                let images = Images::<Cpu>::from_fn(|[n, c, i]: [usize; 3]| {
                    // One channel is of ordinary numbers in both.
                    let x = ((n * 13 + c * 7 + i * 5) % 17) as f64 - 6.0;
                    Tensor::<f64, ()>::scalar(if c == 3 { x } else { x * power }).to::<$E>().item()
                });
                images.on::<D>()
            };
            let (large, small) = (images(2f64.powi($k)), images(1.0));
            let (weight, bias) = (tensor![1.5, 2.0, 0.5, 1.0].to::<$E>(), tensor![0.0, 1.0, -1.0, 3.0].to::<$E>());
            let (weight, bias) = (weight.on::<D>(), bias.on::<D>());
            let row = Tensor::<$E, shape![20]>::ones().on::<D>();
            let results = |x: &Images<D>| {
                [
                    ("layer_norm", x.layer_norm(Some(&row), None, 0.0)),
                    ("layer_norm of both", x.layer_norm(Some(&row), Some(&row), 0.0)),
                    ("rms_norm", x.rms_norm::<shape![20]>(None, Some(0.0))),
                    ("instance_norm", x.instance_norm(&weight, &bias, 0.0)),
                    ("group_norm", x.group_norm::<castiron::dim!(4), _, _>(&weight, (), 0.0)),
                    ("batch_norm", x.batch_norm_training((), &weight, &bias, 0.1, 0.0)),
                    ("normalize", x.normalize(axis![2], 2.0, 1e-12)),
                ]
            };
            for ((name, got), (_, wanted)) in results(&large).into_iter().zip(results(&small)) {
                let (got, wanted) = (got.here().to::<f64>(), wanted.here().to::<f64>());
                assert!(got.allclose_with(&wanted, $tolerance, $tolerance), "{name} of {}", stringify!($E));
            }
            let cosines = |x: &Images<D>| x.cosine_similarity(&x.flip(axis![2]), axis![2], 0.0).here().to::<f64>();
            assert!(cosines(&large).allclose_with(&cosines(&small), $tolerance, $tolerance), "{}", stringify!($E));
        }};
    }
    check!(f32: 100, 1e-6);
    // The largest is 10 * 2^124.
    check!(f32: 124, 1e-6);
    check!(bf16: 100, 1e-2);
    check!(f64: 1000, 1e-14);
    // Two running statistics: means of large numbers are numbers.
    let (mut mean, mut variance) = (tensor![0.0].on::<D>(), tensor![1.0].on::<D>());
    let y = tensor![[3e38], [2e38]].on::<D>().batch_norm_training((&mut mean, &mut variance), (), (), 1.0, 0.0);
    assert!(y.here().allclose_with(&tensor![[1.0], [-1.0]], 1e-6, 0.0) && (mean.item() - 2.5e38).abs() < 1e32);
    // A complex row, and one of another norm.
    let z =
        tensor![Complex::new(3e30, 0.0), Complex::new(0.0, -4e30_f32)].on::<D>().normalize(axis![0], 2.0, 1e-12).here();
    assert!(z.allclose_with(&tensor![Complex::new(0.6, 0.0), Complex::new(0.0, -0.8_f32)], 1e-6, 0.0));
    let y = tensor![[3e38_f32, 3e38], [1.0, 3.0]].on::<D>().normalize(axis![1], 1.0, 1e-12).here();
    assert!(y.allclose_with(&tensor![[0.5, 0.5], [0.25, 0.75]], 1e-6, 0.0));
    // Non-finite elements stay so, and do not change the row next to them.
    let x = tensor![[f32::INFINITY, 1.0], [1e30, -1e30], [f32::NAN, 1.0], [1.0, -1.0]].on::<D>();
    let y = x.layer_norm::<shape![2]>(None, None, 0.0).elements();
    assert!(y[0].is_nan() && y[4].is_nan() && y[5].is_nan());
    assert_eq!([&y[2..4], &y[6..]].concat(), [1.0, -1.0, 1.0, -1.0]);
    // Long rows, of which a block of a GPU holds 32,768 elements; one row has ordinary numbers.
    for len in [4000, 40_000] {
        let rows = |power: f32| {
            let number = |at: usize| (at % 7) as f32 * if at < len { power } else { 1.0 };
            Tensor::<f32, shape![2, _]>::from_vec_sized((0..2 * len).map(number).collect(), [2, len]).on::<D>()
        };
        let normed = |x: &Tensor<f32, shape![2, _], D>| x.layer_norm::<shape![_]>(None, None, 0.0).here();
        assert!(normed(&rows(2f32.powi(100))).allclose_with(&normed(&rows(1.0)), 1e-6, 1e-6), "{len}");
    }
}

/// What a query does not see never reaches its result, be it NaN or infinite, in a key or in a value; what it sees does.
pub fn what_is_not_seen_does_not_reach_the_result<D: Device>() {
    use castiron::nn::{Added, Causal, Where};
    type Heads<D> = Tensor<f32, shape![2, 3, 4], D>;
    fn check<E: Float, D: Device>(error: f64) {
        const HIDDEN: usize = 1;
        let heads =
            |step: usize| Heads::<Cpu>::from_fn(|[h, n, i]: [usize; 3]| ((h * 5 + n * 3 + i * step) % 7) as f32 - 3.0);
        let sees =
            |way: usize, query: usize, key: usize| if way == 0 { key <= query } else { key != HIDDEN || query == 2 };
        let seen = Tensor::<bool, shape![3, 3]>::from_fn(|[query, key]: [usize; 2]| sees(1, query, key)).on::<D>();
        // One mask for each head, whose queries are their columns.
        let added = Tensor::<f32, shape![2, 3, 3]>::from_fn(
            |[_, key, query]: [usize; 3]| {
                if sees(1, query, key) { 0.25 } else { f32::NEG_INFINITY }
            },
        );
        let added = added.to::<E>().on::<D>().transpose(axis![1], axis![2]);
        let result = |way: usize, wrong: f32, in_key: bool, in_value: bool| {
            let place = |x: Heads<Cpu>, is_wrong: bool| {
                let wrong = if is_wrong { wrong } else { 1.0 };
                Heads::<Cpu>::from_fn(|[h, n, i]: [usize; 3]| if [n, i] == [HIDDEN, 2] { wrong } else { x[(h, n, i)] })
                    .to::<E>()
                    .on::<D>()
            };
            let (q, k, v) = (heads(1).to::<E>().on::<D>(), place(heads(2), in_key), place(heads(3), in_value));
            let y = match way {
                0 => q.scaled_dot_product_attention(&k, &v, Causal, None),
                1 => q.scaled_dot_product_attention(&k, &v, Where(&seen), None),
                _ => q.scaled_dot_product_attention(&k, &v, Added(&added), None),
            };
            y.here().to::<f64>().to_vec()
        };
        for way in 0..3 {
            let right = result(way, 1.0, false, false);
            for wrong in [f32::NAN, f32::INFINITY] {
                for [in_key, in_value] in [[true, false], [false, true], [true, true]] {
                    let found = result(way, wrong, in_key, in_value);
                    for (at, (found, right)) in found.iter().zip(&right).enumerate() {
                        let (query, feature) = (at / 4 % 3, at % 4);
                        if !sees(way, query, HIDDEN) {
                            assert!((found - right).abs() <= error, "{way} {wrong} {query}: {found}, not {right}");
                        } else if in_value && feature == 2 {
                            let is_wrong =
                                if in_key || wrong.is_nan() { !found.is_finite() } else { *found == f64::INFINITY };
                            assert!(is_wrong, "{way} {wrong} {query}: {found}");
                        }
                    }
                }
            }
        }
        // A query that sees no key at all.
        let none = Tensor::<bool, shape![3, 3], D>::zeros();
        let nan = Heads::<D>::full(f32::NAN).to::<E>();
        let y = nan.scaled_dot_product_attention(&nan, &nan, Where(&none), None).here().to::<f64>().to_vec();
        assert!(y.iter().all(|&x| x == 0.0));
    }
    check::<f32, D>(1e-5);
    check::<bf16, D>(0.05);
}

each_device! {
    also_without_data: code_that_blends, code_that_sums;
    with_data: searching_for_scalars, two_results_of_one_reduction, packed_layers, large_rows_are_normalised_as_small_ones_are,
        what_is_not_seen_does_not_reach_the_result;
}
