//! Random numbers made on the device: in range, with the right moments, the same for the same seed and different for another.

use crate::on_gpu;
use castiron::cuda_test_hooks::{Arguments, address, run};
use castiron::{Cpu, Cuda, Float, Generator, Tensor, bf16, f16, shape};

type Line<E> = Tensor<E, shape![_], Cuda<0>>;

/// Elements of the host as `f64`.
fn numbers<E: Float>(x: &Line<E>) -> Vec<f64> {
    x.to_device::<Cpu>().unwrap().to::<f64>().to_vec()
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn moments<E: Float>(seed: u64) {
    let generator = &mut Generator::seeded(seed);
    let unit = numbers(&Line::<E>::rand_sized([5003], generator));
    assert!(unit.iter().all(|x| (0.0..1.0).contains(x)));
    assert!((mean(&unit) - 0.5).abs() < 0.02, "{}", mean(&unit));
    let wide = numbers(&Line::<E>::uniform_sized([5003], -3.0, 5.0, generator));
    assert!(wide.iter().all(|x| (-3.0..=5.0).contains(x)) && (mean(&wide) - 1.0).abs() < 0.16);
    let normal = numbers(&Line::<E>::normal_sized([5003], 2.0, 3.0, generator));
    let squares: Vec<f64> = normal.iter().map(|x| (x - 2.0) * (x - 2.0)).collect();
    let fourth: Vec<f64> = squares.iter().map(|x| x * x).collect();
    assert!((mean(&normal) - 2.0).abs() < 0.15, "{}", mean(&normal));
    assert!((mean(&squares) - 9.0).abs() < 0.7, "{}", mean(&squares));
    assert!((mean(&fourth) / 243.0 - 1.0).abs() < 0.25, "{}", mean(&fourth));
    // Neighbours have nothing to do with each other.
    let together: Vec<f64> = unit.windows(2).map(|x| (x[0] - 0.5) * (x[1] - 0.5)).collect();
    assert!(mean(&together).abs() < 0.005, "{}", mean(&together));
}

#[test]
fn drawn_numbers_have_the_moments_of_their_distributions() {
    on_gpu!("random::drawn_numbers_have_the_moments_of_their_distributions", {
        moments::<f32>(1);
        moments::<f64>(2);
        moments::<f16>(3);
        moments::<bf16>(4);
        // Standard ones are made without the mean and the deviation, and are the same numbers.
        let standard = numbers(&Line::<f32>::randn_sized([999], &mut Generator::seeded(5)));
        let moved = numbers(&Line::<f32>::normal_sized([999], 64.0, 2.0, &mut Generator::seeded(5)));
        assert!(standard.iter().zip(moved).all(|(x, y)| (64.0 + 2.0 * x - y).abs() < 1e-5));
    });
}

#[test]
fn streams_follow_from_the_seed() {
    on_gpu!("random::streams_follow_from_the_seed", {
        let (a, b, other) = (&mut Generator::seeded(7), &mut Generator::seeded(7), &mut Generator::seeded(8));
        let draw = |generator: &mut Generator| numbers(&Line::<f32>::rand_sized([1000], generator));
        let (first, second) = (draw(a), draw(a));
        assert!(first != second && first != draw(other));
        assert!(first == draw(b) && second == draw(b));
        // A longer tensor begins with the same elements.
        let longer = numbers(&Line::<f32>::rand_sized([1001], &mut Generator::seeded(7)));
        assert!(longer[..1000] == first[..]);
        assert_eq!(Line::<f32>::rand_sized([0], a).numel(), 0);
    });
}

/// The numbers that Random123 gives for a counter and a key of zeros (`kat_vectors`).
#[test]
fn philox_gives_the_known_answer() {
    on_gpu!("random::philox_gives_the_known_answer", {
        let library = include_str!("../../src/ops/record/cuda/prelude.h");
        let philox = include_str!("../../src/device/cuda/present/random.cuh").split("// ---\n").next().unwrap();
        let kernel = "CI_KERNEL void k(ci_i64 *x) { CI_EACH(i, 4) x[i] = ci_philox(0, 0).of[i]; }\n";
        let x: Tensor<i64, shape![4], Cuda<0>> = Tensor::zeros();
        let mut arguments = Arguments::new();
        arguments.push(address(&x));
        // SAFETY: the kernel's parameter, of four elements.
        unsafe { run(0, ("k", &[library, philox, kernel].concat()), Ok(4), &arguments).unwrap() };
        assert_eq!(x.cpu().unwrap().to_vec(), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    });
}

#[test]
fn integers_and_permutations() {
    on_gpu!("random::integers_and_permutations", {
        let generator = &mut Generator::seeded(5);
        let dice = Line::<i64>::randint_sized([6001], 1, 7, generator).to_device::<Cpu>().unwrap().to_vec();
        for face in 1..7 {
            let times = dice.iter().filter(|&&x| x == face).count();
            assert!((850..1150).contains(&times), "{face} {times}");
        }
        let wide =
            Line::<i64>::randint_sized([1000], i64::MIN, i64::MAX, generator).to_device::<Cpu>().unwrap().to_vec();
        let positive = wide.iter().filter(|&&x| x > 0).count();
        assert!((400..600).contains(&positive), "{positive}");
        let small = Line::<i16>::randint_sized([100], -3, -2, generator).to_device::<Cpu>().unwrap().to_vec();
        assert!(small.iter().all(|&x| x == -3));
        let order = Line::<i64>::randperm(3000, generator).to_device::<Cpu>().unwrap().to_vec();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted == (0..3000).collect::<Vec<i64>>() && order != sorted);
    });
}

#[test]
fn probabilities_decide() {
    on_gpu!("random::probabilities_decide", {
        let generator = &mut Generator::seeded(6);
        let p = Tensor::<f32, shape![2, 3000], Cpu>::full(0.25).to_device::<Cuda<0>>().unwrap();
        let drawn = p.t().bernoulli(generator).to_device::<Cpu>().unwrap().to_vec();
        let ones = drawn.iter().filter(|&&x| x == 1.0).count();
        assert!(drawn.iter().all(|&x| x == 0.0 || x == 1.0) && (1350..1650).contains(&ones), "{ones}");
        let sure = Tensor::<f64, shape![100], Cuda<0>>::ones().bernoulli(generator);
        assert!(sure.to_device::<Cpu>().unwrap().to_vec().iter().all(|&x| x == 1.0));
        let wrong = Tensor::<f32, shape![3], Cuda<0>>::full(1.5).try_bernoulli(generator);
        assert!(wrong.unwrap_err().to_string().contains("1.5 is not a probability"));
    });
}
