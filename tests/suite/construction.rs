//! Making tensors: literals, ranges, vectors, iterators, random numbers.

use crate::common::{Answer, Tally, Token, json};
use castiron::{Complex, Dtype, Error, F8E4M3FN, Generator, Meta, Real, Scalar, Tensor, bf16, f16, shape, tensor};

/// A number as the table writes it.
fn with_number<O>(text: &str, float: impl Fn(f64) -> O, integer: impl Fn(i64) -> O) -> O {
    if text.contains('.') { float(text.parse().unwrap()) } else { integer(text.parse().unwrap()) }
}

fn arange<E: Token + Real>(args: [&str; 3]) -> castiron::Result<Answer> {
    fn run<E: Token + Real>(start: impl Scalar, end: impl Scalar, step: impl Scalar) -> castiron::Result<Answer> {
        Tensor::<E, shape![_]>::try_arange(start, end, step).map(|x| Answer::new(x.to_vec()))
    }
    let [start, end, step] = args;
    with_number(
        start,
        |start| run::<E>(start, end.parse::<f64>().unwrap(), step.parse::<f64>().unwrap()),
        |start| run::<E>(start, end.parse::<i64>().unwrap(), step.parse::<i64>().unwrap()),
    )
}
fn linspace<E: Token + Real>([start, end, count]: [&str; 3]) -> castiron::Result<Answer> {
    let (start, end): (f64, f64) = (start.parse().unwrap(), end.parse().unwrap());
    Tensor::<E, shape![_]>::try_linspace_sized([count.parse().unwrap()], start, end).map(|x| Answer::new(x.to_vec()))
}

#[test]
fn ranges_hold_pytorchs_numbers() {
    let table = json("ranges.json");
    let mut tally = Tally::default();
    for row in table["rows"].as_array().unwrap() {
        let [op, dtype, tokens] = [0, 1, 3].map(|i| row[i].as_str().unwrap());
        let args = [0, 1, 2].map(|i| row[2][i].as_str().unwrap());
        macro_rules! every_dtype {
            ($($code:literal $E:ty),*) => {
                match dtype {
                    $($code => if op == "arange" { arange::<$E>(args) } else { linspace::<$E>(args) },)*
                    other => panic!("{other}"),
                }
            };
        }
        let answer = every_dtype!("f32" f32, "f64" f64, "f16" f16, "bf16" bf16, "i64" i64, "i32" i32, "u8" u8, "i8" i8);
        let what = format!("{op} {dtype} {args:?}");
        match answer {
            Ok(answer) if tokens != "err" => tally.row(&what, &answer, dtype, tokens, &row[4], 0.0),
            Err(_) if tokens == "err" => tally.agree += 1,
            Ok(_) => tally.disagree.push(format!("{what}: PyTorch refuses")),
            Err(error) => tally.disagree.push(format!("{what}: {error}, PyTorch {tokens}")),
        }
    }
    tally.finish("ranges");
}

#[test]
fn literals_infer_shape_and_pytorchs_dtype() {
    let integers: Tensor<i64, shape![2, 3]> = tensor![[1, 2, 3], [4, 5, -6]];
    assert_eq!(integers.to_vec(), [1, 2, 3, 4, 5, -6]);
    let floats: Tensor<f32, shape![2]> = tensor![1, 2.5];
    assert_eq!(floats.to_vec(), [1.0, 2.5]);
    let bools: Tensor<bool, shape![2]> = tensor![true, false];
    assert_eq!(bools.to_vec(), [true, false]);
    let mixed: Tensor<i64, shape![2]> = tensor![true, 7];
    assert_eq!(mixed.to_vec(), [1, 7]);
    let complex: Tensor<Complex<f32>, shape![2]> = tensor![1.0 + 2.0j, 3];
    assert_eq!(complex.to_vec(), [Complex::new(1.0, 2.0), Complex::new(3.0, 0.0)]);
    let zero_dim: Tensor<i64, ()> = 5.into();
    assert_eq!(zero_dim.item(), 5);
    let empty: Tensor<f32, shape![0]> = tensor![];
    assert!(empty.is_empty());
    let rows_of_nothing: Tensor<f32, shape![2, 0]> = tensor![[], []];
    assert_eq!(rows_of_nothing.shape(), [2, 0]);
    let eight_axes = tensor![[[[[[[[1]]]]]]]];
    assert_eq!(eight_axes.shape(), [1; 8]);
}

#[test]
fn literals_take_a_dtype_and_expressions() {
    let halves: Tensor<f16, shape![2]> = tensor![0.5, 1; f16];
    assert_eq!(halves.to_vec(), [f16::from_f32(0.5), f16::ONE]);
    assert_eq!(tensor![[0, 255]; u8].to_vec(), [0_u8, 255]);
    assert_eq!(tensor![1.5; bf16].to_vec(), [bf16::from_f32(1.5)]);
    let (a, b) = (2.0_f64, 3.0_f64);
    let expressions: Tensor<f64, shape![3]> = tensor![a, b, a * b];
    assert_eq!(expressions.to_vec(), [2.0, 3.0, 6.0]);
}

fn filled<E: Dtype, S: castiron::KnownShape>() {
    let (one, zero) = (Tensor::<E, S>::ones(), Tensor::<E, S>::zeros());
    assert!(one.iter().all(|&x| x == E::from_bool(true)) && zero.iter().all(|&x| x == E::from_bool(false)));
    assert_eq!(one.numel(), S::NUMEL);
    assert!(Tensor::<E, S>::full(1) == one && one.zeros_like() == zero && zero.ones_like() == one);
    assert!(Tensor::<E, S>::empty().shape() == S::SIZES);
    let plan = Tensor::<E, S, Meta>::ones();
    assert_eq!((plan.shape(), plan.stride()), (one.shape(), one.stride()));
}

#[test]
fn every_dtype_and_rank_can_be_filled() {
    macro_rules! dtypes {
        ($($E:ty),*) => {$(
            filled::<$E, ()>();
            filled::<$E, shape![0]>();
            filled::<$E, shape![3]>();
            filled::<$E, shape![2, 0, 3]>();
            filled::<$E, shape![2, 1, 2, 1, 2, 1, 2, 3]>();
        )*};
    }
    dtypes!(bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>);
}

#[test]
fn shell_dtypes_are_created_and_stored() {
    let x = Tensor::<F8E4M3FN, shape![2, 2]>::full(1.1);
    assert_eq!(x.to::<f32>().to_vec(), [1.125; 4]);
    assert_eq!(Tensor::<u64, shape![2]>::full(u64::MAX).to_vec(), [u64::MAX; 2]);
    assert_eq!(Tensor::<u16, shape![2]>::zeros().to_vec(), [0; 2]);
    let reshaped: Tensor<F8E4M3FN, shape![4]> = x.reshape();
    assert_eq!(reshaped.t().shape(), [4]);
}

#[test]
fn fills_out_of_range_are_refused() {
    for (refused, text) in [
        (Tensor::<u8, shape![2]>::try_full(256).err(), "full: the scalar 256 does not fit uint8"),
        (Tensor::<i8, shape![2]>::try_full(-129).err(), "full: the scalar -129 does not fit int8"),
        (Tensor::<f16, shape![2]>::try_full(65_520.0).err(), "full: the scalar 65520 does not fit float16"),
    ] {
        assert_eq!(refused.unwrap().to_string(), text);
    }
    assert_eq!(Tensor::<u8, shape![1]>::full(true).to_vec(), [1]);
    assert!(Tensor::<f16, shape![1]>::full(f64::INFINITY).to_vec()[0].is_infinite());
    assert!(Tensor::<i32, shape![1]>::try_full(f64::NAN).is_err());
}

#[test]
fn vectors_slices_arrays_and_iterators_become_tensors() {
    let from_vec = Tensor::<i32, shape![2, 2]>::from_vec(vec![1, 2, 3, 4]);
    assert!(from_vec == tensor![[1, 2], [3, 4]; i32]);
    assert_eq!(Tensor::<i32, shape![_, 2]>::from_vec_sized(vec![1, 2, 3, 4], [2, 2]).shape(), [2, 2]);
    let known: Tensor<i32, shape![2, 2]> = [[1, 2], [3, 4]].into();
    let dynamic: Tensor<i32, shape![_, _]> = [[1, 2], [3, 4]].into();
    assert!(known == dynamic);
    let deep: Tensor<u8, shape![1, 2, 1, 3]> = [[[[1, 2, 3]], [[4, 5, 6]]]].into();
    assert_eq!(deep.to_vec(), [1, 2, 3, 4, 5, 6]);
    let collected: Tensor<f64, shape![_]> = (0..4).map(|i| f64::from(i) / 2.0).collect();
    assert_eq!(collected.to_vec(), [0.0, 0.5, 1.0, 1.5]);
    let slice: &[bool] = &[true, false];
    assert_eq!(Tensor::from(slice).shape(), [2]);
    let nothing: Tensor<f32, shape![_]> = core::iter::empty().collect();
    assert_eq!(nothing.shape(), [0]);
    let counted = Tensor::<i64, shape![2, 3]>::from_fn(|[i, j]| (i * 3 + j) as i64);
    assert_eq!(counted.to_vec(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn taking_over_a_vector_copies_nothing() {
    let elements = vec![1.0_f32; 1000];
    let start = elements.as_ptr();
    let x = Tensor::<f32, shape![10, 100]>::from_vec(elements);
    assert_eq!(x.as_slice().unwrap().as_ptr(), start);
}

#[test]
fn a_vector_of_the_wrong_length_is_refused() {
    let error = Tensor::<i32, shape![2, 3]>::try_from_vec(vec![1; 5]).unwrap_err();
    assert_eq!(error.to_string(), "from_vec: shape [2, 3] takes 6 elements, got 5");
    let error = Tensor::<i32, shape![_, 3]>::try_from_vec_sized(vec![1; 8], [2, 4]).unwrap_err();
    assert_eq!(error.to_string(), "from_vec: expected a tensor of shape [_, 3], got one of shape [2, 4]");
}

#[test]
fn sizes_beyond_memory_are_an_error() {
    let huge = usize::MAX / 2;
    for sizes in [[huge, 3], [3, huge], [usize::MAX, usize::MAX], [1 << 32, 1 << 32], [1, usize::MAX], [0, usize::MAX]]
    {
        let made = Tensor::<f32, shape![_, _]>::try_zeros_sized(sizes);
        match made {
            Ok(tensor) => assert_eq!((sizes[0], tensor.numel()), (0, 0)),
            Err(error) => assert!(matches!(error, Error::TooLarge { op: "zeros", .. }), "{error}"),
        }
    }
    // Addressable, but more than there is.
    let error = Tensor::<u8, shape![_]>::try_full_sized([isize::MAX as usize], 1).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { bytes, .. } if bytes == isize::MAX as usize), "{error}");
    let error = Tensor::<i64, shape![_]>::try_arange(0, i64::MAX, 1).unwrap_err();
    assert!(matches!(error, Error::TooLarge { op: "arange", .. } | Error::OutOfMemory { .. }), "{error}");
}

#[test]
fn ranges_that_lead_nowhere_are_refused() {
    type Line = Tensor<f32, shape![_]>;
    for (refused, text) in [
        (Line::try_arange(0, 5, 0), "arange: the step must not be zero"),
        (Line::try_arange(0, 5, -1), "arange: a step of -1 leads away from 5"),
        (Line::try_arange(0.0, f64::INFINITY, 1), "arange: the argument inf is not finite"),
        (Line::try_arange(0.0, 1.0, f64::NAN), "arange: the argument NaN is not finite"),
        (
            Line::try_linspace_sized([3], Complex::new(0.0_f32, 1.0), 1),
            "linspace: the argument 0+1i is complex: complex numbers have no order",
        ),
    ] {
        assert_eq!(refused.unwrap_err().to_string(), text);
    }
    let error = Tensor::<i64, shape![4]>::try_arange(0, 5, 1).unwrap_err();
    assert_eq!(error.to_string(), "arange: expected a tensor of shape [4], got one of shape [5]");
    assert!(Tensor::<u8, shape![_]>::try_arange(0, 300, 1).is_err());
}

#[test]
fn triangles_and_identities() {
    assert_eq!(Tensor::<f32, shape![2, 3]>::eye().to_vec(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(Tensor::<u8, shape![3, 2]>::tri().to_vec(), [1, 0, 1, 1, 1, 1]);
    assert_eq!(Tensor::<i64, shape![_, _]>::eye_sized([0, 4]).shape(), [0, 4]);
}

#[test]
fn one_seed_gives_one_tensor() {
    fn same<E: castiron::Float>() {
        type Square<E> = Tensor<E, shape![7, 9]>;
        let draw = |seed| {
            let generator = &mut Generator::seeded(seed);
            (Square::<E>::rand(generator), Square::<E>::randn(generator), Square::<E>::uniform(-3.0, -1.0, generator))
        };
        assert!(draw(5) == draw(5) && draw(5) != draw(6));
        let (unit, _, uniform) = draw(7);
        assert!(unit.ge(0).all().item() && unit.lt(1).all().item());
        assert!(uniform.ge(-3).all().item() && uniform.le(-1).all().item());
    }
    same::<f16>();
    same::<bf16>();
    same::<f32>();
    same::<f64>();
    let permutation = Tensor::<i64, shape![_]>::randperm(100, &mut Generator::seeded(3));
    assert!(permutation == Tensor::<i64, shape![_]>::randperm(100, &mut Generator::seeded(3)));
    assert_eq!(permutation.sum().item(), 4950);
}

/// What the seed 42 gives is part of the interface: a change would break published results.
#[test]
fn seeds_are_stable_between_versions() {
    let generator = &mut Generator::seeded(42);
    let uniform = Tensor::<f64, shape![2]>::rand(generator).to_vec();
    let normal = Tensor::<f64, shape![2]>::randn(generator).to_vec();
    let integers = Tensor::<i64, shape![4]>::randint(0, 1000, generator).to_vec();
    let order = Tensor::<i64, shape![_]>::randperm(5, generator).to_vec();
    assert_eq!(uniform, [0.5735915809081741, 0.13330663250439445]);
    assert_eq!(normal, [-0.6658323480384006, -0.6380148457651927]);
    assert_eq!((integers, order), (vec![117, 355, 185, 860], vec![4, 3, 0, 2, 1]));
}

#[test]
fn random_numbers_have_the_moments_they_should() {
    let generator = &mut Generator::seeded(0);
    let uniform = Tensor::<f64, shape![100_000]>::rand(generator);
    assert!((uniform.mean().item() - 0.5).abs() < 0.005 && (uniform.var(0).item() - 1.0 / 12.0).abs() < 0.002);
    let normal = Tensor::<f32, shape![100_000]>::normal(3.0, 2.0, generator);
    assert!((normal.mean().item() - 3.0).abs() < 0.03 && (normal.std(0).item() - 2.0).abs() < 0.03);
    let dice = Tensor::<u8, shape![60_000]>::randint(1, 7, generator);
    for face in 1..7 {
        let count = dice.eq(face).sum().item();
        assert!((9_500..10_500).contains(&count), "{face}: {count}");
    }
}

#[test]
fn random_arguments_that_make_no_sense_are_refused() {
    let generator = &mut Generator::seeded(0);
    assert!(Tensor::<f32, shape![2]>::try_uniform(1.0, 0.0, generator).is_err());
    assert!(Tensor::<f32, shape![2]>::try_uniform(0.0, f64::INFINITY, generator).is_err());
    assert!(Tensor::<f32, shape![2]>::try_normal(0.0, -1.0, generator).is_err());
    assert!(Tensor::<f32, shape![2]>::try_normal(0.0, f64::NAN, generator).is_err());
    assert!(Tensor::<u8, shape![2]>::try_randint(0, 300, generator).is_err());
    assert!(Tensor::<i64, shape![2]>::try_randint(3, 3, generator).is_err());
}

#[test]
fn literals_that_end_in_a_point_are_floats() {
    let x: Tensor<f32, shape![2, 2]> = tensor![[1., -2.], [0., 3.5]];
    assert_eq!(x.to_vec(), [1.0, -2.0, 0.0, 3.5]);
    assert_eq!(tensor![1., 2; f64].to_vec(), [1.0_f64, 2.0]);
    assert_eq!(tensor![7.; u8].to_vec(), [7_u8]);
}
