//! Reductions, running results, order and statistics of `AnyTensor`: axes, shapes, dtypes and refusals known while running.

use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, DType, Interpolation, tensor};

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
    assert!(text("linalg.norm", Args::new().arg(&x).arg("nuc")).contains("singular values"));
}
