//! Dropout, bags of embeddings, rotary embedding, and operations that exist by name only.

use castiron::nn::Pool;
use castiron::{BagMode, Generator, RotaryLayout, Tensor, axis, dim, shape, tensor};

#[test]
fn dropout_keeps_the_mean_and_zeroes_a_share() {
    let x: Tensor<f32, shape![_]> = Tensor::ones_sized([100_000]);
    let y = x.dropout(0.25, true, &mut Generator::seeded(1));
    let zeros = y.eq(0.0).to::<f32>().mean().item();
    assert!((zeros - 0.25).abs() < 0.01 && (y.mean().item() - 1.0).abs() < 0.02);
    assert_eq!(x.dropout(0.25, false, &mut Generator::seeded(1)).to_vec(), x.to_vec());
    assert!(x.dropout(1.0, true, &mut Generator::seeded(1)).eq(0.0).all().item());
    assert!(x.try_dropout(1.5, true, &mut Generator::seeded(1)).is_err());
}

#[test]
fn alpha_dropout_keeps_mean_and_variance() {
    let x: Tensor<f64, shape![_]> = Tensor::randn_sized([200_000], &mut Generator::seeded(3));
    let y = x.alpha_dropout(0.3, true, &mut Generator::seeded(4));
    assert!(y.mean().item().abs() < 0.02 && (y.var(1).item() - 1.0).abs() < 0.02);
}

#[test]
fn whole_channels_are_left_out() {
    let x: Tensor<f32, shape![4, 8, 5]> = Tensor::ones();
    let y = x.dropout1d(0.5, true, &mut Generator::seeded(0)).to_vec();
    assert!(y.chunks(5).all(|channel| channel == [0.0; 5] || channel == [2.0; 5]));
    assert!(y.contains(&0.0) && y.contains(&2.0));
    // Without a batch channels are the first axis.
    let y = Tensor::<f32, shape![40, 5]>::ones().dropout1d(0.5, true, &mut Generator::seeded(0)).to_vec();
    assert!(y.chunks(5).all(|channel| channel == [0.0; 5] || channel == [2.0; 5]));
    let y = Tensor::<f32, shape![40, 1, 2, 2]>::ones().dropout3d(0.5, true, &mut Generator::seeded(0)).to_vec();
    assert!(y.chunks(4).all(|channel| channel == [0.0; 4] || channel == [2.0; 4]) && y.contains(&2.0));
    let y = Tensor::<f32, shape![40, 5]>::ones().dropout2d(0.5, true, &mut Generator::seeded(0)).to_vec();
    assert!(y.chunks(5).any(|row| row.contains(&0.0) && row.contains(&2.0)));
}

/// As PyTorch's, results lie as those of elementwise operations do.
#[test]
fn dropout_keeps_the_layout() {
    let g = &mut Generator::seeded(5);
    let transposed = Tensor::<f32, shape![4, 6]>::ones().t();
    assert_eq!(transposed.dropout(0.5, true, g).stride(), [1, 6]);
    assert_eq!(transposed.alpha_dropout(0.5, true, g).stride(), [1, 6]);
    assert_eq!(transposed.dropout(1.0, true, g).stride(), [1, 6]);
    let last = Tensor::<f32, shape![2, 3, 4, 5]>::ones().to_memory_format(castiron::ChannelsLast);
    assert_eq!(last.dropout2d(0.5, true, g).stride(), [60, 1, 15, 3]);
    assert_eq!(last.feature_alpha_dropout(0.5, true, g).stride(), [60, 1, 15, 3]);
    let permuted = Tensor::<f32, shape![3, 4, 6]>::ones().permute(axis![2, 0, 1]);
    let dropped = permuted.dropout1d(0.5, true, g);
    assert_eq!(dropped.stride(), [1, 24, 6]);
    assert!(dropped.iter().collect::<Vec<_>>().chunks(4).all(|channel| channel.iter().all(|x| x == &channel[0])));
    let gaps = Tensor::<f32, shape![4, 12]>::ones().slice(castiron::s![.., ::2]);
    let repeated = Tensor::<f32, shape![1, 6]>::ones().expand::<shape![4, 6]>();
    assert_eq!((gaps.dropout(0.5, true, g).stride(), repeated.dropout(0.5, true, g).stride()), ([6, 1], [6, 1]));
    #[cfg(feature = "any")]
    {
        let last = castiron::AnyTensor::from(last);
        assert_eq!(last.dropout(0.5, true, g).unwrap().stride(), [60, 1, 15, 3]);
    }
}

#[test]
fn bags_have_pytorchs_values() {
    let table = tensor![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]];
    let indices = tensor![1, 2, 0, 2];
    let bag = |mode, weights, padding| table.embedding_bag(&indices, &[0, 3], false, mode, weights, padding).to_vec();
    assert_eq!(bag(BagMode::Mean, None, None), [2.0, 3.0, 4.0, 5.0]);
    assert_eq!(bag(BagMode::Max, None, Some(2)), [2.0, 3.0, 0.0, 0.0]);
    assert_eq!(bag(BagMode::Sum, Some(&tensor![1.0, 2.0, 3.0, 0.5]), None), [10.0, 16.0, 2.0, 2.5]);
    let last = table.embedding_bag(&indices, &[0, 1, 4], true, BagMode::Sum, None, None);
    assert_eq!((last.shape(), last.to_vec()), ([2, 2], vec![2.0, 3.0, 8.0, 11.0]));
    assert!(table.try_embedding_bag(&tensor![3], &[0], false, BagMode::Sum, None, None).is_err());
    assert!(table.try_embedding_bag(&indices, &[0, 5], false, BagMode::Sum, None, None).is_err());
}

#[test]
fn both_layouts_of_rope_turn_the_same_pairs() {
    let x: Tensor<f32, shape![2, 5, 6]> = Tensor::from_vec((0..60).map(|x| (x as f32).cos()).collect());
    let neighbours = x.rope(3, 10000.0, RotaryLayout::Interleaved);
    // (x0, x1), (x2, x3), (x4, x5) as halves: x0, x2, x4, x1, x3, x5.
    let order = tensor![0, 2, 4, 1, 3, 5];
    let halves = x.index_select(axis![2], &order).rope(3, 10000.0, RotaryLayout::Halves);
    assert!(neighbours.index_select(axis![2], &order).allclose(&halves));
    // Lengths stay, and the first position is not turned.
    assert!(neighbours.norm_axis(axis![2], 2.0).allclose(&x.norm_axis(axis![2], 2.0)));
    let still = x.rope(0, 10000.0, RotaryLayout::Halves);
    assert_eq!(still.select(axis![1], 0).to_vec(), x.select(axis![1], 0).to_vec());
}

#[cfg(feature = "any")]
mod by_name {
    use castiron::any::{Args, Value, call, call_in_place};
    use castiron::{AnyTensor, DType, Tensor, shape, tensor};

    fn of(name: &str, args: Args) -> String {
        call(name, &args).unwrap().tensor().unwrap().to_string()
    }

    #[test]
    fn a_seed_decides_what_is_drawn() {
        let x = AnyTensor::ones(&[50, 2], DType::F32).unwrap();
        for name in
            ["nn.functional.dropout", "rand_like", "randn_like", "cauchy", "log_normal", "nn.functional.dropout1d"]
        {
            let args = |seed: i64| Args::new().arg(&x).named("generator", seed);
            assert_eq!(of(name, args(1)), of(name, args(1)), "{name}");
            assert_ne!(of(name, args(1)), of(name, args(2)), "{name}");
        }
        // PyTorch trains where it is not told, except by these two.
        for name in ["nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout"] {
            let x = AnyTensor::ones(&[5, 10], DType::F32).unwrap();
            assert_eq!(of(name, Args::new().arg(&x)), x.to_string(), "{name}");
            assert_ne!(of(name, Args::new().arg(&x).named("training", true)), x.to_string(), "{name}");
        }
        let trials =
            call("geometric", &Args::new().arg(&x).arg(0.5).named("generator", 1_i64)).unwrap().tensor().unwrap();
        assert_eq!(trials.lt(1).unwrap().any(None, false).unwrap().to_string(), "tensor(False)");
    }

    #[test]
    fn numbers_are_drawn_over_elements_in_place() {
        let drawn = |name: &str, dtype: DType, args: Args| -> castiron::Result<Vec<f64>> {
            let mut x = AnyTensor::full(&[4000], 7.0, DType::F32)?.to(dtype)?;
            call_in_place(name, &mut x, &args.named("generator", 5_i64))?;
            assert_eq!((x.dtype(), x.shape()), (dtype, &[4000][..]));
            Ok(x.to_scalars()?.into_iter().map(castiron::ScalarValue::real_part).collect())
        };
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let near = |name: &str, dtype, args, expected: f64, within: f64| {
            let found = mean(&drawn(name, dtype, args).unwrap());
            assert!((found - expected).abs() < within, "{name} {dtype}: the mean is {found}");
        };
        near("exponential_", DType::F32, Args::new().arg(4.0), 0.25, 0.02);
        near("uniform_", DType::BF16, Args::new().arg(2.0).arg(4.0), 3.0, 0.05);
        near("normal_", DType::F64, Args::new().arg(3.0).arg(0.5), 3.0, 0.05);
        near("log_normal_", DType::F32, Args::new().arg(0.0).arg(0.25), 1.03, 0.03);
        near("geometric_", DType::I32, Args::new().arg(0.5), 2.0, 0.1);
        near("bernoulli_", DType::U8, Args::new(), 0.5, 0.05);
        near("bernoulli_", DType::Bool, Args::new().arg(0.25), 0.25, 0.05);
        near("bernoulli_", DType::I64, Args::new().arg(AnyTensor::from(tensor![1.0])), 1.0, 1e-9);
        near("random_", DType::I64, Args::new().arg(10_i64), 4.5, 0.2);
        near("random_", DType::F32, Args::new().arg(-3_i64).arg(4_i64), 0.0, 0.2);
        near("random_", DType::Bool, Args::new(), 0.5, 0.05);
        assert!(drawn("cauchy_", DType::F64, Args::new()).unwrap().iter().any(|&x| x < -5.0));
        // Up to the largest that the dtype has.
        let bytes = drawn("random_", DType::I8, Args::new()).unwrap();
        assert!(bytes.iter().all(|&x| (0.0..=127.0).contains(&x)) && bytes.contains(&127.0));
        let halves = drawn("random_", DType::F16, Args::new()).unwrap();
        assert!(halves.iter().all(|&x| (0.0..=2048.0).contains(&x) && x.fract() == 0.0));
        for (name, dtype, args) in [
            ("exponential_", DType::I64, Args::new()),
            ("exponential_", DType::F32, Args::new().arg(0.0)),
            ("uniform_", DType::I32, Args::new()),
            ("normal_", DType::U8, Args::new()),
            ("random_", DType::C64, Args::new()),
            ("random_", DType::U8, Args::new().arg(3_i64).arg(3_i64)),
            ("random_", DType::U8, Args::new().arg(257_i64)),
            ("bernoulli_", DType::C64, Args::new()),
            ("geometric_", DType::Bool, Args::new().arg(0.5)),
            ("bernoulli_", DType::F32, Args::new().arg(1.5)),
        ] {
            assert!(drawn(name, dtype, args).is_err(), "{name} of {dtype}");
        }
    }

    #[test]
    fn counts_are_drawn_by_rates_and_probabilities() {
        let x = |value: f64| AnyTensor::full(&[4000], value, DType::F32).unwrap();
        let mean =
            |x: AnyTensor| x.to(DType::F64).unwrap().mean(None, false, None).unwrap().item().unwrap().real_part();
        let mut generator = castiron::Generator::seeded(3);
        for rate in [0.0, 0.5, 4.0, 300.0] {
            let found = mean(x(rate).poisson(&mut generator).unwrap());
            assert!((found - rate).abs() < 0.05 * rate.sqrt() + 1e-9, "{found} of {rate}");
        }
        assert!(x(-1.0).poisson(&mut generator).is_err() && x(f64::NAN).poisson(&mut generator).is_err());
        assert!(x(1.0).to(DType::I64).unwrap().poisson(&mut generator).is_err());
        let half = AnyTensor::from(tensor![0.5]);
        let found = mean(x(10.0).binomial(&half, &mut generator).unwrap());
        assert!((found - 5.0).abs() < 0.1);
        assert!(x(1.5).binomial(&half, &mut generator).is_err() && x(1.0).binomial(&x(1.5), &mut generator).is_err());
        assert_eq!(
            AnyTensor::ones(&[2, 3], DType::F32)
                .unwrap()
                .to_device("meta")
                .unwrap()
                .poisson(&mut generator)
                .unwrap()
                .shape(),
            [2, 3]
        );
        let soft = call("nn.functional.gumbel_softmax", &Args::new().arg(x(1.0)).named("hard", true)).unwrap();
        assert_eq!(mean(soft.tensor().unwrap().sum(None, false, None).unwrap()), 1.0);
        let order = call("randperm", &Args::new().arg(9_i64)).unwrap().tensor().unwrap();
        assert_eq!(order.sort(0, false).unwrap().0.to_string(), "tensor([0, 1, 2, 3, 4, 5, 6, 7, 8])");
    }

    #[test]
    fn polynomials_have_the_values_of_their_formulas() {
        let x = AnyTensor::from(tensor![0.5_f64, -2.0]);
        for (name, degree, expected) in [
            ("chebyshev_polynomial_t", 3_i64, [-1.0, -26.0]),
            ("chebyshev_polynomial_u", 2, [0.0, 15.0]),
            ("chebyshev_polynomial_v", 1, [0.0, -5.0]),
            ("chebyshev_polynomial_w", 1, [2.0, -3.0]),
            ("shifted_chebyshev_polynomial_t", 2, [-1.0, 49.0]),
            ("hermite_polynomial_h", 3, [-5.0, -40.0]),
            ("hermite_polynomial_he", 3, [-1.375, -2.0]),
            ("laguerre_polynomial_l", 2, [0.125, 7.0]),
            ("legendre_polynomial_p", 2, [-0.125, 5.5]),
            ("legendre_polynomial_p", -1, [0.0, 0.0]),
        ] {
            let found = of(&format!("special.{name}"), Args::new().arg(&x).arg(degree));
            assert_eq!(found, AnyTensor::from(tensor![expected[0], expected[1]; f64]).to_string(), "{name}");
        }
        // A degree that is a number does not decide the dtype.
        for degree in [3_i64.into(), castiron::any::Value::from(3.0)] {
            let args = Args::new().arg(AnyTensor::from(tensor![2, 3; u8])).arg(degree);
            let found = call("special.legendre_polynomial_p", &args).unwrap().tensor().unwrap();
            assert_eq!(found.dtype(), DType::F32);
        }
    }

    /// Degrees of their own, in blocks whose elements take different numbers of steps.
    #[test]
    fn polynomials_of_many_degrees_are_those_of_one_at_a_time() {
        let x: Vec<f64> = (0..77).map(|at| f64::from(at) / 19.0 - 2.0).collect();
        let n: Vec<f64> = (0..77).map(|at| [-1.0, 0.0, 1.0, 2.7, 9.0, f64::NAN, 33.0, -0.5][at % 8]).collect();
        let of = |name: &str, x: &[f64], n: &[f64], dtype: DType| {
            let [x, n] = [x, n]
                .map(|list| AnyTensor::from(Tensor::<f64, shape![_]>::from_vec_sized(list.to_vec(), [list.len()])));
            let args = Args::new().arg(x.to(dtype).unwrap()).arg(n.to(dtype).unwrap());
            call(name, &args).unwrap().tensor().unwrap()
        };
        for family in [
            "chebyshev_polynomial_w",
            "shifted_chebyshev_polynomial_u",
            "hermite_polynomial_he",
            "laguerre_polynomial_l",
        ] {
            for dtype in [DType::F32, DType::F64] {
                let name = format!("special.{family}");
                let all = of(&name, &x, &n, dtype);
                for at in 0..77 {
                    let one = of(&name, &x[at..=at], &n[at..=at], dtype).to_bytes().unwrap();
                    assert_eq!(all.narrow(0, at as i64, 1).unwrap().to_bytes().unwrap(), one, "{name} {dtype} {at}");
                }
            }
        }
        // The degree 33 by the recurrence.
        let (mut before, mut value, x) = (1.0, 1.0 - x[6], x[6]);
        for k in 1..33 {
            let k = f64::from(k);
            (before, value) = (value, ((2.0 * k + 1.0 - x) * value - k * before) / (k + 1.0));
        }
        assert_eq!(of("special.laguerre_polynomial_l", &[x], &[33.0], DType::F64).item().unwrap().real_part(), value);
    }

    #[test]
    fn positions_repeated_by_counts_have_the_dtype_of_counts() {
        for (dtype, name) in [(DType::I32, ", dtype=torch.int32"), (DType::I64, "")] {
            let counts = AnyTensor::from(tensor![2, 0, 1]).to(dtype).unwrap();
            assert_eq!(of("repeat_interleave", Args::new().arg(&counts)), format!("tensor([0, 0, 2]{name})"));
        }
    }

    #[test]
    fn copies_of_views_share_nothing() {
        let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
        let y = call("t_copy", &Args::new().arg(&x)).unwrap().tensor().unwrap();
        assert!(!y.shares_storage(&x));
        assert_eq!(y.to_string(), x.t().unwrap().to_string());
        let rows = call("unbind_copy", &Args::new().arg(&x)).unwrap();
        assert!(matches!(rows, Value::List(rows) if rows.len() == 2));
        assert_eq!(of("resize_", Args::new().arg(&x).arg(vec![3_i64])), "tensor([1, 2, 3])");
        assert_eq!(
            of("expand_copy", Args::new().arg(&x).arg(vec![1_i64, 2, 2])),
            "tensor([[[1, 2],\n         [3, 4]]])"
        );
    }

    #[test]
    fn samples_of_windows_are_of_the_dtype_and_the_shape_of_the_operand() {
        let (x, op) = (AnyTensor::ones(&[2, 3, 9, 9], DType::F64).unwrap(), "nn.functional.fractional_max_pool2d");
        let pooled = |sizes: &[usize], dtype| {
            let samples = AnyTensor::zeros(sizes, dtype).unwrap();
            let args = Args::new().arg(&x).arg(2).named("output_size", 4).named("_random_samples", &samples);
            call(op, &args)
        };
        assert!(pooled(&[2, 3, 2], DType::F64).is_ok());
        for (sizes, dtype) in [([2, 3, 2], DType::F32), ([2, 3, 2], DType::U8), ([2, 3, 3], DType::F64)] {
            assert!(pooled(&sizes, dtype).is_err(), "{sizes:?} {dtype}");
        }
    }
}

#[test]
fn windows_at_random_cover_both_ends_and_are_found_by_their_index() {
    let x = Tensor::<f32, shape![2, 3, 9, 12]>::randn(&mut Generator::seeded(5));
    let pool = Pool::<dim!(2)>::new();
    let (values, index) = x.fractional_max_pool2d_with_indices::<shape![4, 5], _>(pool, &mut Generator::seeded(7));
    let _: &Tensor<f32, shape![2, 3, 4, 5]> = &values;
    assert!(x.fractional_max_pool2d::<shape![4, 5], _>(pool, &mut Generator::seeded(7)) == values);
    assert!(
        x.flatten_axes(axis![2], axis![3])
            .gather(axis![2], &index.flatten_axes(axis![2], axis![3]))
            .with_shape::<shape![2, 3, _]>()
            == values.flatten_axes(axis![2], axis![3]).with_shape::<shape![2, 3, _]>()
    );
    // The last window ends with the axis, the first begins with it.
    let steps = Tensor::<f64, shape![1, 9, 12]>::from_fn(|[_, i, j]: [usize; 3]| (i * 12 + j) as f64);
    let y = steps.fractional_max_pool2d::<shape![4, 5], _>(pool, &mut Generator::seeded(1));
    assert_eq!((y[(0, 0, 0)], y[(0, 3, 4)]), (13.0, 107.0));
    let unknown = steps.with_shape::<shape![1, _, 12]>();
    assert!(unknown.try_fractional_max_pool2d::<shape![9, 5], _>(pool, &mut Generator::seeded(1)).is_err());
    let meta = Tensor::<f32, shape![0, 3, 9, 12], castiron::Meta>::ones();
    assert_eq!(meta.fractional_max_pool2d::<shape![4, 5], _>(pool, &mut Generator::seeded(1)).shape(), [0, 3, 4, 5]);
}
