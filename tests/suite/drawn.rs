//! What is left out at random, bags of embeddings, vectors turned by positions, and operations that are there by name alone.

use castiron::{BagMode, Generator, RotaryLayout, Tensor, axis, shape, tensor};

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
    use castiron::any::{Args, Value, call};
    use castiron::{AnyTensor, DType, tensor};

    fn of(name: &str, args: Args) -> String {
        call(name, &args).unwrap().tensor().unwrap().to_string()
    }

    #[test]
    fn a_seed_decides_what_is_drawn() {
        let x = AnyTensor::ones(&[50], DType::F32).unwrap();
        for name in
            ["nn.functional.dropout", "rand_like", "randn_like", "cauchy", "log_normal", "nn.functional.alpha_dropout"]
        {
            let args = |seed: i64| Args::new().arg(&x).named("generator", seed);
            assert_eq!(of(name, args(1)), of(name, args(1)), "{name}");
            assert_ne!(of(name, args(1)), of(name, args(2)), "{name}");
        }
        let trials =
            call("geometric", &Args::new().arg(&x).arg(0.5).named("generator", 1_i64)).unwrap().tensor().unwrap();
        assert_eq!(trials.lt(1).unwrap().any(None, false).unwrap().to_string(), "tensor(False)");
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
}
