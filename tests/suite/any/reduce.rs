//! Reductions, scans, order and statistics of `AnyTensor`: axes, shapes, dtypes and refusals known at run time.

use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, Complex, DType, Interpolation, ScalarValue, Tensor, shape, tensor};

fn matrix() -> AnyTensor {
    AnyTensor::from(tensor![[3.0, 1.0, 2.0], [6.0, 4.0, 5.0]])
}

#[test]
fn axes_are_counted_from_either_end_and_kept_on_demand() {
    let x = matrix();
    assert_eq!(x.sum(Some(&[-1]), false, None).unwrap().to_string(), "tensor([ 6., 15.])");
    assert_eq!(x.amax(Some(&[0]), true).unwrap().to_string(), "tensor([[6., 4., 5.]])");
    assert_eq!(x.t().unwrap().mean(Some(&[1, 0]), true, None).unwrap().to_string(), "tensor([[3.5000]])");
    assert_eq!(x.argmin(None, false).unwrap().to_string(), "tensor(1)");
    assert!(x.sum(Some(&[2]), false, None).is_err());
    assert!(x.sum(Some(&[1, -1]), false, None).is_err());
}

#[test]
fn zero_dim_and_empty_tensors() {
    let one = AnyTensor::full(&[], 2.0, DType::F32).unwrap();
    assert_eq!(one.cumsum(-1, None).unwrap().to_string(), "tensor(2.)");
    assert_eq!(one.sort(0, true).unwrap().1.to_string(), "tensor(0)");
    assert_eq!(one.sum(Some(&[0]), true, None).unwrap().shape(), [0_usize; 0]);
    let none = AnyTensor::zeros(&[3, 0], DType::I32).unwrap();
    assert_eq!(none.sum(Some(&[1]), false, None).unwrap().to_string(), "tensor([0, 0, 0])");
    assert_eq!(none.amax(Some(&[0]), false).unwrap().shape(), [0]);
    assert!(none.amax(Some(&[1]), false).is_err());
    assert!(none.max_axis(1, false).is_err());
    assert_eq!(none.cumprod(1, None).unwrap().shape(), [3, 0]);
    assert_eq!(none.unique().unwrap().0.shape(), [0]);
}

#[test]
fn results_have_shapes_without_data() {
    let x = AnyTensor::zeros_on(&[4, 2, 3], DType::BF16, "meta").unwrap();
    let shape = |x: AnyTensor| (x.shape().to_vec(), x.dtype(), x.device_name());
    assert_eq!(shape(x.prod(Some(&[0, 2]), false, None).unwrap()), (vec![2], DType::BF16, "meta"));
    assert_eq!(shape(x.topk(2, -1, true).unwrap().1), (vec![4, 2, 2], DType::I64, "meta"));
    assert_eq!(shape(x.median_axis(0, true, false).unwrap().0), (vec![1, 2, 3], DType::BF16, "meta"));
    assert_eq!(shape(x.softmax(1, Some(DType::F64)).unwrap()), (vec![4, 2, 3], DType::F64, "meta"));
    assert_eq!(shape(x.layer_norm(&[2, 3], None, None, 1e-5).unwrap()), (vec![4, 2, 3], DType::BF16, "meta"));
    assert_eq!(shape(x.trapezoid(1.0, 0).unwrap()), (vec![2, 3], DType::BF16, "meta"));
    assert_eq!(shape(x.isin(3).unwrap()), (vec![4, 2, 3], DType::Bool, "meta"));
    assert!(x.unique().is_err() && x.equal(&x).is_err());
}

#[test]
fn dtypes_that_pytorch_refuses() {
    let ints = AnyTensor::from(tensor![3, 1, 2]);
    let bools = AnyTensor::from(tensor![true, false]);
    assert!(ints.mean(None, false, None).is_err());
    assert_eq!(ints.mean(None, false, Some(DType::F64)).unwrap().dtype(), DType::F64);
    assert!(ints.vector_norm(2.0, None, false).is_err() && ints.softmax(0, None).is_err());
    assert!(bools.argmax(None, false).is_err() && bools.topk(1, 0, true).is_err() && bools.cov(1, None, None).is_err());
    assert_eq!(bools.max_axis(0, false).unwrap().0.to_string(), "tensor(True)");
    assert_eq!(bools.cumsum(0, None).unwrap().dtype(), DType::I64);
    assert!(bools.cumsum(0, Some(DType::Bool)).is_err());
    let shell = ints.to(DType::U16).unwrap();
    assert!(shell.sum(None, false, None).unwrap_err().to_string().contains("promotion is not defined"));
}

#[test]
fn quantiles_of_several_shares_come_first() {
    let x = matrix();
    let q = AnyTensor::from(tensor![0.0, 0.5]);
    let found = x.quantile(&q, Some(1), false, Interpolation::Linear, false).unwrap();
    assert_eq!(found.to_string(), "tensor([[1., 4.],\n        [2., 5.]])");
    assert_eq!(x.quantile(0.5, None, true, Interpolation::Lower, false).unwrap().to_string(), "tensor([[3.]])");
    assert!(x.quantile(1.5, None, false, Interpolation::Linear, false).is_err());
}

#[test]
fn slices_without_repetition() {
    let x = AnyTensor::from(tensor![[1, 1, 2, 2, 1], [0, 0, 5, 5, 0]]);
    let (values, inverse, counts) = x.unique_consecutive_axis(1).unwrap();
    assert_eq!(values.to_string(), "tensor([[1, 2, 1],\n        [0, 5, 0]])");
    assert_eq!(
        (inverse.to_string(), counts.to_string()),
        ("tensor([0, 0, 1, 1, 2])".into(), "tensor([2, 2, 1])".into())
    );
    assert_eq!(x.unique_axis(1).unwrap().0.to_string(), "tensor([[1, 2],\n        [0, 5]])");
}

#[test]
fn by_name_as_pytorch_takes_arguments() {
    let x = matrix();
    let text = |name: &str, args: Args| match call(name, &args) {
        Ok(Value::Array(tensor)) => tensor.to_string(),
        Ok(Value::List(values)) => format!("{} results", values.len()),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(text("max", Args::new().arg(&x)), "tensor(6.)");
    assert_eq!(text("max", Args::new().arg(&x).arg(1_i64)), "2 results");
    assert_eq!(text("torch.max", Args::new().arg(&x).arg(&x)), x.to_string());
    assert_eq!(text("std", Args::new().arg(&x).arg(false)), "tensor(1.7078)");
    assert_eq!(text("norm", Args::new().arg(&x).named("p", "fro").named("dim", 1_i64)), "tensor([3.7417, 8.7750])");
    assert_eq!(text("linalg.norm", Args::new().arg(&x).arg(1_i64)), "tensor(9.)");
    assert_eq!(text("trapezoid", Args::new().arg(&x).named("dx", 2.0)), "tensor([ 7., 19.])");
    assert_eq!(text("median", Args::new().arg(&x).named("keepdim", true)), "tensor(3.)");
    if cfg!(not(feature = "linalg")) {
        assert!(text("linalg.norm", Args::new().arg(&x).arg("nuc")).contains("singular values"));
    }
}

/// Lines around the lengths at which they are taken by other vectors, the extremes at either end and inside.
#[test]
fn whole_numbers_are_reduced_exactly_at_every_length() {
    for dtype in [DType::U8, DType::I8, DType::I16, DType::I32, DType::I64] {
        for len in [1_usize, 15, 16, 17, 63, 64, 65, 100, 255, 256, 257, 511, 1000, 1025, 5000] {
            for extreme in [0, len / 2, len - 1] {
                let numbers: Vec<i64> =
                    (0..len).map(|at| if at == extreme { 120 } else { 3 + (at * 7 % 90) as i64 }).collect();
                let x = AnyTensor::from(Tensor::<i64, shape![_]>::from_vec_sized(numbers.clone(), [len]))
                    .to(dtype)
                    .unwrap();
                let number = |x: AnyTensor| x.item().unwrap();
                let int = |x: i64| ScalarValue::Int(x.into());
                let sum: i64 = numbers.iter().sum();
                assert_eq!(number(x.sum(None, false, None).unwrap()), int(sum), "{dtype} {len}");
                assert_eq!(number(x.nansum(None, false, None).unwrap()), int(sum));
                assert_eq!(number(x.amax(None, false).unwrap()), int(120));
                let least = numbers.iter().min().copied().unwrap_or(0);
                assert_eq!(number(x.amin(None, false).unwrap()), int(least));
                let (low, high) = x.aminmax(None, false).unwrap();
                assert_eq!([number(low), number(high)], [int(least), int(120)]);
                assert_eq!(number(x.argmax(None, false).unwrap()), int(extreme as i64));
            }
        }
    }
}

/// Lanes shorter than what is computed at once, as long, and longer by a few.
#[test]
fn softmax_of_lanes_of_every_length() {
    for len in (1..70).chain([1023, 1024, 1025, 1039, 1040, 1041, 2050]) {
        let numbers: Vec<f64> = (0..2 * len).map(|at| (at * 37 % 101) as f64 / 10.0 - 5.0).collect();
        let x = AnyTensor::from(Tensor::<f64, shape![_, _]>::from_vec_sized(numbers.clone(), [2, len]));
        for dtype in [DType::F32, DType::F64, DType::BF16] {
            let x = x.to(dtype).unwrap();
            let all = |x: AnyTensor| -> Vec<f64> {
                let bytes = x.to(DType::F64).unwrap().to_bytes().unwrap();
                bytes.chunks_exact(8).map(|one| f64::from_le_bytes(one.try_into().unwrap())).collect()
            };
            let exact: Vec<f64> = all(x.clone())
                .chunks(len)
                .flat_map(|row| {
                    let sum: f64 = row.iter().map(|x| x.exp()).sum();
                    row.iter().map(move |x| x - sum.ln()).collect::<Vec<_>>()
                })
                .collect();
            let close = if dtype == DType::BF16 { 0.05 } else { 1e-5 };
            for (at, (log, exact)) in all(x.log_softmax(-1, None).unwrap()).iter().zip(&exact).enumerate() {
                assert!((log - exact).abs() <= close * (1.0 + exact.abs()), "{dtype} {len} {at}: {log} {exact}");
            }
            for (share, exact) in all(x.softmax(-1, None).unwrap()).iter().zip(&exact) {
                assert!((share - exact.exp()).abs() <= close * exact.exp() + 1e-9, "{dtype} {len}: {share}");
            }
        }
    }
}

/// Sums of pairs of numbers, in as many lanes as a line has.
#[test]
fn complex_sums_at_every_length() {
    for len in (1..140).chain([255, 256, 257, 1000, 1024, 1100]) {
        let parts: Vec<f32> = (0..2 * len).map(|at| (at % 17) as f32).collect();
        let x = AnyTensor::from(Tensor::<f32, shape![_, 2]>::from_vec_sized(parts.clone(), [len, 2]));
        for dtype in [DType::F32, DType::F64] {
            let z = x.to(dtype).unwrap().view_as_complex().unwrap();
            let sum = z.sum(None, false, None).unwrap();
            let part = |at: usize| f64::from(parts.iter().skip(at).step_by(2).sum::<f32>());
            let expected = ScalarValue::Complex(Complex::new(part(0), part(1)));
            assert_eq!(sum.item().unwrap(), expected, "{dtype} {len}");
        }
    }
}

/// Few elements for each result, of many, and the same one result at a time.
#[test]
fn the_logarithm_of_few_exponentials() {
    let special = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.0, -0.0, 1000.0, -1000.0];
    let numbers: Vec<f32> =
        (0..3000).map(|at| if at % 5 == 0 { special[at / 5 % 7] } else { (at * 31 % 97) as f32 / 9.0 }).collect();
    let x = AnyTensor::from(Tensor::<f32, shape![_, 3]>::from_vec_sized(numbers, [1000, 3]));
    let mut infinite = x.clone();
    infinite.fill_(f32::NEG_INFINITY).unwrap();
    for x in [x.clone(), infinite, x.to(DType::F64).unwrap()] {
        for (x, dim) in [(x.clone(), 1), (x.t().unwrap(), 0)] {
            let all = x.logsumexp(Some(&[dim]), true).unwrap();
            assert_eq!((all.dtype(), all.rank()), (x.dtype(), 2));
            assert_eq!(x.logsumexp(Some(&[dim]), false).unwrap().shape(), [1000]);
            let all = all.reshape(&[-1]).unwrap();
            for at in 0..1000 {
                let one = x.select(1 - dim, at).unwrap().logsumexp(None, false).unwrap();
                assert!(all.select(0, at).unwrap().allclose(&one, 1e-5, 1e-6, true).unwrap(), "{at} {all} {one}");
            }
        }
    }
}

/// So many numbers that rows of them are counted apart, with a few left over, and fewer.
#[test]
fn many_numbers_are_counted_as_few_are() {
    for len in [0_usize, 1, 100, (1 << 16) - 1, 1 << 16, (1 << 16) + 13, 70_001] {
        let numbers: Vec<i64> = (0..2 * len).map(|at| (at * at % 97) as i64).collect();
        let x = AnyTensor::from(Tensor::<i64, shape![_]>::from_vec_sized(numbers.clone(), [2 * len]));
        for step in [1, 2] {
            for dtype in [DType::I64, DType::U8] {
                let x = x.to(dtype).unwrap().slice(0, None, Some(step * len as i64), step).unwrap();
                let mut expected = vec![0_i64; 100];
                numbers.iter().step_by(step as usize).take(len).for_each(|&number| expected[number as usize] += 1);
                let counts = x.bincount(None, 100).unwrap();
                let expected = AnyTensor::from(Tensor::<i64, shape![_]>::from_vec_sized(expected, [100]));
                assert!(counts.equal(&expected).unwrap(), "{len} {step} {dtype}");
            }
        }
    }
}

/// Of equal elements the first in row-major order, however they lie in memory; a NaN before all.
#[test]
fn the_first_of_equal_elements_of_a_transposed_tensor() {
    let numbers: Vec<f32> = (0..40 * 70).map(|at| (at * 7 % 50) as f32).collect();
    let mut x = AnyTensor::from(Tensor::<f32, shape![_, _]>::from_vec_sized(numbers, [40, 70]));
    for _ in 0..2 {
        let turned = x.t().unwrap();
        let row_major = turned.contiguous().unwrap();
        assert_eq!(turned.argmax(None, false).unwrap().item(), row_major.argmax(None, false).unwrap().item());
        assert_eq!(turned.argmin(None, false).unwrap().item(), row_major.argmin(None, false).unwrap().item());
        let mut place = x.narrow(0, 31, 1).unwrap();
        place = place.narrow(1, 44, 1).unwrap();
        assert_eq!(place.numel(), 1);
        x = x.masked_fill(&x.eq(&place).unwrap(), f32::NAN).unwrap();
    }
}

/// Rows whose squares are beyond their dtype, by every method that divides by what squares add up to.
#[test]
fn large_rows_are_normalised() {
    let of = |x: castiron::Result<AnyTensor>| -> Vec<f64> {
        let x = x.unwrap().to(DType::F64).unwrap();
        x.reshape(&[x.numel() as i64]).unwrap().typed::<f64, castiron::shape![_], castiron::Cpu>().unwrap().to_vec()
    };
    let row = [3.0, -1.0, 4.0, 2.0, 0.0, -5.0, 9.0, 1.0];
    for (dtype, large) in [(DType::F32, 2f64.powi(110)), (DType::BF16, 2f64.powi(110)), (DType::F64, 2f64.powi(900))] {
        let make = |power: f64| {
            let elements: Vec<f64> = row.iter().map(|x| x * power).collect();
            AnyTensor::from(castiron::Tensor::<f64, castiron::shape![8]>::from_vec(elements))
                .reshape(&[2, 2, 2])
                .and_then(|x| x.to(dtype))
                .unwrap()
        };
        let results = |x: &AnyTensor| {
            [
                of(x.layer_norm(&[2, 2], None, None, 0.0)),
                of(x.rms_norm(&[2, 2], None, Some(0.0))),
                of(x.group_norm(2, None, None, 0.0)),
                // (Its variances are `f64` at most.)
                if dtype == DType::F64 { vec![] } else { of(x.batch_norm_training(None, None, None, 0.1, 0.0)) },
                of(x.normalize(2.0, &[1], 1e-12)),
                of(x.cosine_similarity(&x.flip(&[1]).unwrap(), 1, 1e-8)),
            ]
        };
        for (at, (large, small)) in results(&make(large)).iter().zip(results(&make(1.0))).enumerate() {
            let near =
                large.iter().zip(&small).all(|(a, b)| (a - b).abs() <= if dtype == DType::F32 { 1e-6 } else { 0.01 });
            assert!(near, "{at} of {dtype}: {large:?}, not {small:?}");
        }
    }
}
