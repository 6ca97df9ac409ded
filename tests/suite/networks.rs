//! Convolutions, pooling and attention compared with their definitions.

use castiron::nn::{Added, All, Causal, Conv, Half, Pool, Same, Where};
use castiron::{ChannelsLast, Cpu, Device, Error, Float, Generator, Meta, Tensor, axis, bf16, dim, ops, shape, tensor};
use proptest::prelude::*;

type Images = shape![_, _, _, _];

fn random<S: castiron::Shape>(sizes: S::Sizes, seed: u64) -> Tensor<f64, S> {
    Tensor::randn_sized(sizes, &mut Generator::seeded(seed))
}

/// Each sum by itself.
fn convolved(
    x: &Tensor<f64, Images>,
    w: &Tensor<f64, Images>,
    stride: usize,
    padding: usize,
    groups: usize,
) -> Tensor<f64, Images> {
    let ([n, _, h, width], [o, channels, kh, kw]) = (x.shape(), w.shape());
    let places = |size: usize, kernel: usize| (size + 2 * padding - kernel) / stride + 1;
    Tensor::from_fn_sized([n, o, places(h, kh), places(width, kw)], |[n, o, y, x_at]: [usize; 4]| {
        let group = o / (w.shape()[0] / groups);
        let mut sum = 0.0;
        for c in 0..channels {
            for (ky, kx) in (0..kh).flat_map(|ky| (0..kw).map(move |kx| (ky, kx))) {
                let (iy, ix) = (y * stride + ky, x_at * stride + kx);
                if (padding..padding + h).contains(&iy) && (padding..padding + width).contains(&ix) {
                    sum += x[(n, group * channels + c, iy - padding, ix - padding)] * w[(o, c, ky, kx)];
                }
            }
        }
        sum
    })
}

fn close<S: castiron::Shape>(a: &Tensor<f64, S>, b: &Tensor<f64, S>, tolerance: f64) -> bool {
    a.shape().as_ref() == b.shape().as_ref()
        && a.to_vec().iter().zip(b.to_vec()).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_convolution_is_the_sum_over_its_window(
        (n, per_group, outputs, groups) in (1_usize..3, 1_usize..4, 1_usize..4, 1_usize..4),
        (h, w, kh, kw) in (1_usize..9, 1_usize..20, 1_usize..4, 1_usize..4),
        (doubled, padded, last, seed) in (any::<bool>(), any::<bool>(), any::<bool>(), any::<u64>()),
    ) {
        let padding = usize::from(padded);
        prop_assume!(h + 2 * padding >= kh && w + 2 * padding >= kw);
        let x: Tensor<f64, Images> = random([n, per_group * groups, h, w], seed);
        let weight: Tensor<f64, Images> = random([outputs * groups, per_group, kh, kw], seed ^ 1);
        let expected = convolved(&x, &weight, if doubled { 2 } else { 1 }, padding, groups);
        let x = if last { x.to_memory_format(ChannelsLast) } else { x };
        macro_rules! run {
            ($($groups:literal)*) => {
                match (groups, doubled, padded) {
                    $(
                        ($groups, false, false) => x.conv2d(&weight, None, Conv::new().groups::<dim!($groups)>()),
                        ($groups, true, false) => x.conv2d(&weight, None, Conv::new().groups::<dim!($groups)>().stride::<dim!(2)>()),
                        ($groups, false, true) => x.conv2d(&weight, None, Conv::new().groups::<dim!($groups)>().padding::<dim!(1)>()),
                        ($groups, true, true) => {
                            x.conv2d(&weight, None, Conv::new().groups::<dim!($groups)>().stride::<dim!(2)>().padding::<dim!(1)>())
                        }
                    )*
                    _ => unreachable!("groups are few"),
                }
            };
        }
        let y: Tensor<f64, Images> = run!(1 2 3);
        prop_assert!(close(&y, &expected, 1e-12));
        // (An image of one number has the same strides in both formats, which PyTorch takes for the default one.)
        let last = last && x.shape()[1..] != [1, 1, 1];
        prop_assert_eq!(y.is_contiguous_in(ChannelsLast), last || y.shape()[1] == 1 || y.shape()[2..] == [1, 1]);
    }

    /// `sum(conv(x) * y) == sum(x * conv_transpose(y))`.
    #[test]
    fn a_transposed_convolution_is_the_adjoint_of_the_convolution(
        (c, o, h, w, k) in (1_usize..4, 1_usize..4, 3_usize..9, 3_usize..9, 1_usize..4),
        seed in any::<u64>(),
    ) {
        // (An odd size has a position that no window of stride 2 and kernel 1 reaches: `output_padding` is 0 then.)
        let h = if (h + 2 - k) % 2 == 0 { h } else { h + 1 };
        let w = if (w + 2 - k) % 2 == 0 { w } else { w + 1 };
        let weight: Tensor<f64, Images> = random([o, c, k, k], seed);
        let x: Tensor<f64, Images> = random([2, c, h, w], seed ^ 1);
        let conv = Conv::new().stride::<dim!(2)>().padding::<dim!(1)>();
        let there = x.conv2d(&weight, None, conv);
        let y: Tensor<f64, Images> = random(there.shape(), seed ^ 2);
        let back = y.conv_transpose2d(&weight, None, conv);
        prop_assert_eq!(back.shape(), x.shape());
        let (left, right) = ((there * &y).sum().item(), (x * back).sum().item());
        prop_assert!((left - right).abs() < 1e-9 * (1.0 + left.abs()));
    }

    #[test]
    fn pooling_reduces_what_each_window_sees(
        (n, c, h, w) in (0_usize..3, 1_usize..4, 2_usize..9, 2_usize..12),
        (last, seed) in (any::<bool>(), any::<u64>()),
    ) {
        let x: Tensor<f64, Images> = random([n, c, h, w], seed);
        let x = if last { x.to_memory_format(ChannelsLast) } else { x };
        let pool = Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<dim!(1)>();
        let seen = |[n, c, y, x_at]: [usize; 4]| -> Vec<(f64, usize)> {
            let inside = |at: usize, k: usize, size: usize| (2 * at + k).checked_sub(1).filter(|&at| at < size);
            let pairs = (0..3).flat_map(|ky| (0..3).map(move |kx| (ky, kx)));
            pairs.filter_map(|(ky, kx)| Some((inside(y, ky, h)?, inside(x_at, kx, w)?))).map(|(y, at)| (x[(n, c, y, at)], y * w + at)).collect()
        };
        let sizes = [n, c, (h - 1) / 2 + 1, (w - 1) / 2 + 1];
        let (largest, index) = x.max_pool2d_with_indices(pool);
        let max = |at: [usize; 4]| seen(at).into_iter().reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap();
        prop_assert_eq!(largest.to_vec(), Tensor::<f64, Images>::from_fn_sized(sizes, |at| max(at).0).to_vec());
        prop_assert_eq!(index.to_vec(), Tensor::<i64, Images>::from_fn_sized(sizes, |at| max(at).1 as i64).to_vec());
        prop_assert_eq!(x.max_pool2d(pool).to_vec(), largest.to_vec());
        let mean = x.avg_pool2d(pool);
        let expected = Tensor::<f64, Images>::from_fn_sized(sizes, |at| seen(at).iter().map(|pair| pair.0).sum::<f64>() / 9.0);
        // (At the lower end the padding may be cut off by the stride: the window is whole all the same.)
        prop_assert!(close(&mean, &expected, 1e-12));
    }

    #[test]
    fn adaptive_pooling_divides_axes_into_parts(h in 1_usize..9, w in 1_usize..9, seed in any::<u64>()) {
        let x: Tensor<f64, shape![_, _, _]> = random([2, h, w], seed);
        let part = |at: usize, size: usize, of: usize| at * size / of..((at + 1) * size).div_ceil(of);
        let seen = |[c, y, x_at]: [usize; 3]| -> Vec<f64> {
            part(y, h, 3).flat_map(|y| part(x_at, w, 4).map(move |at| (y, at))).map(|(y, at)| x[(c, y, at)]).collect()
        };
        let mean: Tensor<f64, shape![_, 3, 4]> = x.adaptive_avg_pool2d::<shape![3, 4]>();
        let expected = Tensor::<f64, shape![_, 3, 4]>::from_fn_sized([2, 3, 4], |at| {
            let seen = seen(at);
            seen.iter().sum::<f64>() / seen.len() as f64
        });
        prop_assert!(close(&mean, &expected, 1e-12));
        let largest = Tensor::<f64, shape![_, 3, 4]>::from_fn_sized([2, 3, 4], |at| seen(at).into_iter().reduce(f64::max).unwrap());
        prop_assert_eq!(x.adaptive_max_pool2d::<shape![3, 4]>().to_vec(), largest.to_vec());
    }

    /// In tiles and blocks, as from a matrix of all scores.
    #[test]
    fn attention_is_the_mean_of_values_weighted_by_softmax(
        (heads, queries, keys, features) in (1_usize..4, 1_usize..14, 1_usize..20, 1_usize..9),
        seed in any::<u64>(),
    ) {
        let of = |count: usize, width: usize, seed: u64| random::<Images>([2, heads, count, width], seed);
        let (q, k, v) = (of(queries, features, seed), of(keys, features, seed ^ 1), of(keys, 5, seed ^ 2));
        let scores = q.matmul(&k.transpose(axis![-1], axis![-2])) / (features as f64).sqrt();
        let found: Tensor<f64, Images> = q.scaled_dot_product_attention(&k, &v, All, None);
        prop_assert!(close(&found, &scores.softmax(axis![-1]).matmul(&v), 1e-12));
        let seen = Tensor::<bool, shape![_, _]>::from_fn_sized([queries, keys], |[query, key]| key <= query);
        let lowest = Tensor::<f64, ()>::full(f64::NEG_INFINITY);
        let masked = castiron::where_(&seen, &scores, &lowest);
        let expected = masked.softmax(axis![-1]).matmul(&v);
        prop_assert!(close(&q.scaled_dot_product_attention(&k, &v, Causal, None), &expected, 1e-12));
        prop_assert!(close(&q.scaled_dot_product_attention(&k, &v, Where(&seen), None), &expected, 1e-12));
        let bias: Tensor<f64, shape![_, _]> = random([queries, keys], seed ^ 3);
        let expected = (&scores + &bias).softmax(axis![-1]).matmul(&v);
        prop_assert!(close(&q.scaled_dot_product_attention(&k, &v, Added(&bias), None), &expected, 1e-12));
    }
}

#[test]
fn a_query_that_sees_no_key_gives_zeros() {
    let (q, v) = (Tensor::<f32, shape![2, 3]>::ones(), Tensor::<f32, shape![4, 2]>::ones());
    let seen = Tensor::<bool, shape![2, 4]>::from_fn(|[query, _]| query == 1);
    let y = q.scaled_dot_product_attention(&Tensor::<f32, shape![4, 3]>::ones(), &v, Where(&seen), None);
    assert_eq!(y.to_vec(), [0.0, 0.0, 1.0, 1.0]);
}

#[test]
fn heads_of_queries_share_those_of_keys() {
    let (q, k) = (random::<shape![1, 6, 3, 4]>([1, 6, 3, 4], 1), random::<shape![1, 2, 5, 4]>([1, 2, 5, 4], 2));
    let v = random::<shape![1, 2, 5, 2]>([1, 2, 5, 2], 3);
    let found = q.scaled_dot_product_attention(&k, &v, All, None);
    for head in 0..6 {
        let one = q.clone().select(axis![1], head).scaled_dot_product_attention(
            &k.clone().select(axis![1], head / 3),
            &v.clone().select(axis![1], head / 3),
            All,
            None,
        );
        assert_eq!(found.clone().select(axis![1], head).to_vec(), one.to_vec());
    }
}

#[test]
fn halves_are_computed_in_single_precision_and_rounded_once() {
    let x = random::<shape![1, 8, 6, 7]>([1, 8, 6, 7], 1).to::<bf16>();
    let w = random::<shape![5, 8, 3, 3]>([5, 8, 3, 3], 2).to::<bf16>();
    let wide = x.to::<f32>().conv2d(&w.to::<f32>(), None, Conv::new().padding::<Same>()).to::<bf16>();
    assert_eq!(x.conv2d(&w, None, Conv::new().padding::<Same>()).to_vec(), wide.to_vec());
}

#[test]
fn an_activation_is_applied_to_the_elements_of_the_convolution() {
    for last in [false, true] {
        let x = random::<Images>([2, 3, 9, 11], 1);
        let x = if last { x.to_memory_format(ChannelsLast) } else { x };
        let (w, b) = (random::<Images>([40, 3, 3, 2], 2), random::<shape![_]>([40], 3));
        let conv = Conv::new().padding::<dim!(1)>();
        let plain = x.conv2d(&w, Some(&b), conv);
        assert_eq!(x.conv2d_with(&w, Some(&b), conv, ops::relu {}).to_vec(), plain.relu().to_vec());
        // Without a bias, and as a product of matrices.
        let w = random::<Images>([4, 3, 1, 1], 2);
        assert_eq!(
            x.conv2d_with(&w, None, Conv::new(), ops::tanh {}).to_vec(),
            x.conv2d(&w, None, Conv::new()).tanh().to_vec()
        );
    }
}

/// Generic code needs no bounds but `Device` and `Dim`.
fn halved<E: Float, N: castiron::Dim, H: castiron::Dim, W: castiron::Dim, D: Device>(
    x: &Tensor<E, (N, dim!(3), H, W), D>,
    weight: &Tensor<E, shape![8, 3, 3, 3], D>,
) -> Tensor<E, (N, dim!(8), H::CeilDiv<dim!(2)>, W::CeilDiv<dim!(2)>), D> {
    let same = x.conv2d(
        &Tensor::<E, shape![3, 1, 3, 3], D>::ones_like_device(x),
        None,
        Conv::new().padding::<Same>().groups::<dim!(3)>(),
    );
    same.conv2d(weight, None, Conv::new().stride::<dim!(2)>().padding::<Half>())
}

trait OnesLike<E: Float, S: castiron::KnownShape, D: Device> {
    fn ones_like_device<T: castiron::Shape>(x: &Tensor<E, T, D>) -> Tensor<E, S, D>;
}
impl<E: Float, S: castiron::KnownShape, D: Device> OnesLike<E, S, D> for Tensor<E, S, D> {
    fn ones_like_device<T: castiron::Shape>(_: &Tensor<E, T, D>) -> Tensor<E, S, D> {
        Tensor::ones()
    }
}

#[test]
fn sizes_are_in_the_types_of_generic_code() {
    let y: Tensor<f32, shape![1, 8, 5, 4]> = halved(&Tensor::<f32, shape![1, 3, 9, 8], Cpu>::ones(), &Tensor::ones());
    assert_eq!(y[(0, 0, 2, 2)], 243.0);
    let y: Tensor<f64, shape![_, 8, 112, 112], Meta> =
        halved(&Tensor::<f64, shape![_, 3, 224, 224], Meta>::ones_sized([7, 3, 224, 224]), &Tensor::ones());
    assert_eq!(y.shape(), [7, 8, 112, 112]);
}

#[test]
fn what_does_not_fit_while_running_is_an_error_that_says_why() {
    let x = Tensor::<f32, Images>::ones_sized([1, 4, 5, 5]);
    let text = |result: castiron::Result<Tensor<f32, Images>>| result.unwrap_err().to_string();
    let weight = |sizes| Tensor::<f32, Images>::ones_sized(sizes);
    assert_eq!(
        text(x.try_conv2d(&weight([2, 3, 3, 3]), None, Conv::new())),
        "conv2d: the input has 4 channels, the weight takes 3 in each group, of which there are 1"
    );
    assert_eq!(
        text(x.try_conv2d(&weight([3, 2, 3, 3]), None, Conv::new().groups::<dim!(2)>())),
        "conv2d: 3 output channels can't be divided into 2 groups"
    );
    assert_eq!(
        text(x.try_conv2d(&weight([2, 4, 6, 3]), None, Conv::new())),
        "conv2d: a window of 6 (dilation 1) does not fit an axis of 5 padded by 0 and 0"
    );
    let none = Tensor::<f32, Images>::ones_sized([2, 0, 5, 5]).try_max_pool2d(Pool::<dim!(2)>::new());
    assert_eq!(
        text(none),
        "max_pool2d: a tensor of shape [2, 0, 5, 5] has nothing to pool: only the batch may be empty"
    );
    let huge = Tensor::<f32, Images, Meta>::ones_sized([1 << 30, 4, 1 << 10, 1 << 10]);
    let weights = Tensor::<f32, Images, Meta>::ones_sized([1 << 30, 4, 1, 1]);
    assert!(matches!(huge.try_conv2d(&weights, None, Conv::new()), Err(Error::TooLarge { .. })));
}

#[test]
fn empty_batches_give_empty_results() {
    let x = Tensor::<f32, shape![0, 3, 5, 5]>::ones();
    let y: Tensor<f32, shape![0, 2, 3, 3]> = x.conv2d(&Tensor::<f32, shape![2, 3, 3, 3]>::ones(), None, Conv::new());
    assert!(y.to_vec().is_empty());
    let y: Tensor<f32, shape![0, 3, 2, 2]> = x.adaptive_avg_pool2d::<shape![2, 2]>();
    assert!(y.to_vec().is_empty());
}

#[test]
fn nan_is_the_largest_of_a_window() {
    let x = tensor![[1.0, f32::NAN, 3.0, 4.0]];
    let y = x.max_pool1d(Pool::<dim!(2)>::new());
    assert!(y[(0, 0)].is_nan() && y[(0, 1)] == 4.0);
}

/// A packed weight gives what the weight gives, in every dtype that is convolved, in both layouts.
#[test]
fn a_packed_convolution_is_the_convolution() {
    fn holds<E>(cast: impl Fn(&Tensor<f64, Images>) -> Tensor<E, Images>)
    where
        E: castiron::Dtype + PartialEq + core::fmt::Debug,
        E: castiron::ops::admit::InexactFor<ops::reduce::convolution>,
    {
        let conv = Conv::new().stride::<dim!(2)>().padding::<dim!(1)>();
        for last in [false, true] {
            let x = cast(&random([2, 20, 9, 7], 1));
            let x = if last { x.to_memory_format(ChannelsLast) } else { x };
            // All channels, in four groups, and each by itself.
            let (w, b) = (cast(&random([6, 20, 3, 3], 2)), cast(&random([1, 1, 1, 6], 3)).flatten().with_shape());
            let packed = w.pack_conv2d(Some(&b), conv);
            assert_eq!(packed.forward(&x).to_vec(), x.conv2d(&w, Some(&b), conv).to_vec());
            let (w, conv) = (cast(&random([8, 5, 3, 3], 2)), conv.groups::<dim!(4)>());
            assert_eq!(w.pack_conv2d(None, conv).forward(&x).to_vec(), x.conv2d(&w, None, conv).to_vec());
            let (w, conv) = (cast(&random([20, 1, 3, 1], 2)), conv.groups::<dim!(20)>());
            assert_eq!(w.pack_conv2d(None, conv).forward(&x).to_vec(), x.conv2d(&w, None, conv).to_vec());
        }
    }
    holds(|x| x.to::<f64>());
    holds(|x| x.to::<f32>());
    holds(|x| x.to::<bf16>());
    holds(|x| x.to::<castiron::Complex<f32>>());
}

/// A packed weight gives what `linear` gives, in every dtype, of operands of any strides and sizes.
#[test]
fn a_packed_linear_layer_is_the_linear_layer() {
    type Matrix<E> = Tensor<E, shape![_, _]>;
    fn holds<E>(cast: impl Fn(&Matrix<f64>) -> Matrix<E>, tolerance: f64)
    where
        E: castiron::Dtype + castiron::ops::admit::NumericFor<ops::reduce::linear>,
    {
        let matrix = |sizes, seed| cast(&(random::<shape![_, _]>(sizes, seed) * 8.0).round());
        let close = |a: &Matrix<E>, b: &Matrix<E>| {
            assert_eq!(a.shape(), b.shape());
            for (a, b) in a.to::<f64>().to_vec().into_iter().zip(b.to::<f64>().to_vec()) {
                assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} {b}");
            }
        };
        for [m, n, k] in
            [[1, 1, 1], [5, 17, 9], [70, 40, 33], [500, 33, 300], [3, 7, 1], [0, 4, 4], [4, 0, 4], [4, 5, 0]]
        {
            let (w, b) = (matrix([n, k], 1), matrix([1, n], 2).select(axis![0], 0));
            let layer = w.pack_linear(Some(&b));
            let x = matrix([m, k], 3);
            close(&layer.forward(&x), &x.linear(&w, Some(&b)));
            // Operands that are transposed, have gaps, or repeat a row; a weight that is transposed; no bias.
            let transposed = matrix([k, m], 4);
            close(&layer.forward(&transposed.t()), &transposed.t().linear(&w, Some(&b)));
            let wide = matrix([m, k + 3], 5);
            let gaps = wide.narrow(axis![1], 2, k);
            close(&layer.forward(&gaps), &gaps.linear(&w, Some(&b)));
            let row: Matrix<E> = matrix([1, k], 6).expand_sized([m, k]);
            close(&layer.forward(&row), &row.linear(&w, Some(&b)));
            let w = matrix([k, n], 7);
            close(&w.t().pack_linear(None).forward(&x), &x.linear(&w.t(), None));
        }
    }
    holds(|x| x.to::<f64>(), 0.0);
    holds(|x| x.to::<f32>(), 0.0);
    holds(|x| x.to::<bf16>(), 0.008);
    holds(|x| x.to::<castiron::f16>(), 0.001);
    holds(|x| x.to::<i64>(), 0.0);
    holds(|x| x.to::<u8>(), 0.0);
    // Complex numbers, whose parts are whole.
    let complex = |sizes, seed| {
        let parts = [seed, seed + 1].map(|seed| (random::<shape![_, _]>(sizes, seed) * 8.0).round());
        parts[0].to::<castiron::Complex<f32>>()
            * parts[1].to::<castiron::Complex<f32>>().rsub(castiron::Complex::new(0.0, 1.0))
    };
    let (x, w) = (complex([9, 40], 1), complex([17, 40], 3));
    assert_eq!(w.pack_linear(None).forward(&x).to_vec(), x.linear(&w, None).to_vec());
}

#[test]
fn a_packed_linear_layer_is_applied_to_the_last_axis() {
    let w = tensor![[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]];
    let layer = w.pack_linear(Some(&tensor![0.5, 0.0, -1.0]));
    assert_eq!(layer.forward(&tensor![1.0, 1.0]).to_vec(), [3.5, -1.0, 10.0]);
    let x = Tensor::<f32, shape![2, 3, 4, 2]>::from_fn(|[a, b, c, d]: [usize; 4]| (a + 2 * b + 3 * c + 5 * d) as f32);
    let x = x.transpose(axis![0], axis![2]);
    let y: Tensor<f32, shape![4, 3, 2, 3]> = layer.forward(&x);
    assert_eq!(y.to_vec(), x.linear(&w, Some(&tensor![0.5, 0.0, -1.0])).to_vec());
    assert_eq!(layer.forward_with(&x, ops::relu {}).to_vec(), y.relu().to_vec());
    assert_eq!(format!("{layer:?}"), "PackedLinear { weight: [3, 2], bias: true }");
    // NaN and infinities come through.
    let y = layer.forward(&tensor![[f32::NAN, 0.0], [f32::INFINITY, 0.0]]);
    assert!(y.select(axis![0], 0).to_vec().iter().all(|x| x.is_nan()));
    assert_eq!(y[(1, 0)], f32::INFINITY);
}

#[test]
fn a_weight_that_does_not_fit_is_not_packed() {
    let w = random::<shape![_, _]>([3, 2], 1);
    let error = w.try_pack_linear(Some(&random::<shape![_]>([2], 2))).unwrap_err();
    assert_eq!(error.to_string(), "pack_linear: expected a tensor of shape [3], got one of shape [2]");
    let x = random::<shape![_, _]>([4, 3], 2);
    let error = w.pack_linear(None).try_forward(&x).unwrap_err();
    assert_eq!(error.to_string(), x.try_linear(&w, None).unwrap_err().to_string());

    let (w, b) = (random::<Images>([6, 2, 3, 3], 1), random::<shape![_]>([5], 2));
    let error = w.try_pack_conv2d(Some(&b), Conv::new()).unwrap_err();
    assert_eq!(error.to_string(), "pack_conv2d: expected a tensor of shape [6], got one of shape [5]");
    let error = w.try_pack_conv2d(None, Conv::new().groups::<dim!(4)>()).unwrap_err();
    assert_eq!(error.to_string(), "pack_conv2d: 6 output channels can't be divided into 4 groups");
    let packed = w.pack_conv2d(None, Conv::new());
    let error = packed.try_forward(&random::<Images>([1, 3, 5, 5], 1)).unwrap_err();
    assert!(error.to_string().contains("the input has 3 channels, the weight takes 2"), "{error}");
}

/// A window that covers the whole picture, in the orders of memory that operands may have; their numbers are small integers, so that sums
/// are exact.
#[test]
fn windows_that_cover_the_picture() {
    let counting = |sizes: [usize; 4]| -> Tensor<f32, Images> {
        Tensor::from_fn_sized(sizes, |index: [usize; 4]| (index.iter().fold(3, |sum, at| sum * 5 + at) % 7) as f32)
    };
    let turned = |of: &Tensor<f32, Images>| {
        let turned = of.transpose(axis![2], axis![3]).contiguous();
        turned.transpose(axis![2], axis![3])
    };
    let orders = |of: Tensor<f32, Images>| [of.clone().to_memory_format(ChannelsLast), turned(&of), of];
    for images in [1, 3] {
        let (x, w) = (counting([images, 4, 2, 5]), counting([6, 4, 2, 5]));
        let b = tensor![1.0, 2.0, 3.0, 4.0, 5.0, 6.0].with_shape::<shape![_]>();
        let rows = |of: &Tensor<f32, Images>| of.reshape_sized::<shape![_, 40]>([of.shape()[0], 40]);
        let expected = rows(&x).linear(&rows(&w), Some(&b));
        let (packed, conv) = (w.pack_conv2d(Some(&b), Conv::new()), Conv::new());
        for x in orders(x) {
            assert_eq!(packed.forward(&x).to_vec(), expected.to_vec());
            for w in orders(w.clone()) {
                assert_eq!(x.conv2d(&w, Some(&b), conv).to_vec(), expected.to_vec());
                assert_eq!(x.conv2d_with(&w, Some(&b), conv, ops::neg {}).to_vec(), expected.neg().to_vec());
            }
        }
    }
}
