//! `AnyTensor`: joining, moving, choosing and multiplying, of all dtypes, shapes and layouts.

use castiron::any::{self, Args, Value, call};
use castiron::{AnyTensor, DType, Error, ScatterReduce, tensor};

fn int(x: AnyTensor) -> Vec<i64> {
    let scalars = x.to(DType::I64).unwrap().to_scalars().unwrap();
    scalars.into_iter().map(|value| value.to_dtype().unwrap()).collect()
}

#[test]
fn products_read_as_they_are_written() {
    let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    let w = AnyTensor::from(tensor![[1, 0], [1, 1]]);
    let y = (&x + 1).unwrap().matmul(&w).unwrap();
    assert_eq!(int(y), [5, 3, 9, 5]);
    assert_eq!(int(x.addmm(&x, &w, -1, 2).unwrap()), [5, 2, 11, 4]);
    // PyTorch cuts off what the factors of integers have behind the point.
    assert_eq!(int(x.addmm(&x, &w, 1.5, 2.6).unwrap()), [7, 6, 17, 12]);
    assert!(x.matmul(&AnyTensor::from(tensor![1.0, 2.0])).is_err());
    assert!(x.gt(0).unwrap().matmul(&w.gt(0).unwrap()).is_err());
    assert!(matches!(x.matmul(&AnyTensor::from(tensor![1, 2, 3])).unwrap_err(), Error::MatMul { .. }));
}

#[test]
fn shell_dtypes_are_moved_and_chosen() {
    let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]; u8]);
    for dtype in [DType::U16, DType::U64, DType::F8E4M3FN, DType::F4E2M1FNX2, DType::C32, DType::C128] {
        let x = if dtype == DType::F4E2M1FNX2 { x.view_dtype(dtype).unwrap() } else { x.to(dtype).unwrap() };
        let back = |y: AnyTensor| int(if dtype == DType::F4E2M1FNX2 { y.view_dtype(DType::U8).unwrap() } else { y });
        let rows = AnyTensor::from(tensor![1, 0]);
        assert_eq!(back(x.flip(&[1]).unwrap()), [3, 2, 1, 6, 5, 4]);
        assert_eq!(back(x.t().unwrap().index_select(1, &rows).unwrap()), [4, 1, 5, 2, 6, 3]);
        assert_eq!(back(any::cat(&[x.clone(), x.flipud().unwrap()], 0).unwrap())[6..], [4, 5, 6, 1, 2, 3]);
        assert_eq!(back(x.index(&[Value::Rest, vec![2_i64, 0].into()]).unwrap()), [3, 1, 6, 4]);
        let mask = AnyTensor::from(tensor![true, false, true]);
        assert_eq!(back(x.masked_select(&mask).unwrap()), [1, 3, 4, 6]);
        assert_eq!(back(any::where_(&mask, &x, x.flip(&[1]).unwrap()).unwrap()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(back(x.repeat(&[1, 2]).unwrap())[..6], [1, 2, 3, 1, 2, 3]);
        assert_eq!(back(x.tril(0).unwrap()), [1, 0, 0, 4, 5, 0]);
    }
}

#[test]
fn tensors_without_data_have_shapes() {
    let x = AnyTensor::zeros_on(&[2, 3], DType::F32, "meta").unwrap();
    let index = AnyTensor::zeros_on(&[4], DType::I64, "meta").unwrap();
    let shape = |x: castiron::Result<AnyTensor>| {
        let x = x.unwrap();
        assert_eq!(x.device_name(), "meta");
        x.shape().to_vec()
    };
    let weights = AnyTensor::zeros_on(&[5, 3], DType::F32, "meta").unwrap();
    assert_eq!(shape(x.matmul(&weights.t().unwrap())), [2, 5]);
    assert_eq!(shape(x.linear(&weights, None)), [2, 5]);
    assert_eq!(shape(any::cat(&[x.clone(), weights.clone()], 0)), [7, 3]);
    assert_eq!(shape(any::stack(&[x.clone(), x.clone()], -1)), [2, 3, 2]);
    assert_eq!(shape(x.index_select(1, &index)), [2, 4]);
    assert_eq!(shape(x.index(&[Value::Absent, Value::Array(index.clone())])), [1, 4, 3]);
    assert_eq!(shape(x.flip(&[0])), [2, 3]);
    assert_eq!(shape(x.pad(&[1, 2], "reflect", None)), [2, 6]);
    assert_eq!(shape(x.repeat_interleave(2, None)), [12]);
    assert_eq!(shape(x.diag_embed(1, -2, -1)), [2, 4, 4]);
    assert_eq!(shape(x.tril(0)), [2, 3]);
    assert_eq!(shape(any::where_(&AnyTensor::zeros_on(&[3], DType::Bool, "meta").unwrap(), &x, 1)), [2, 3]);
    let (one, long) = (
        AnyTensor::zeros_on(&[1, 3], DType::F32, "meta").unwrap(),
        AnyTensor::zeros_on(&[1], DType::I64, "meta").unwrap(),
    );
    assert_eq!(shape(x.index_add(0, &long, &one, 1)), [2, 3]);
    assert_eq!(shape(x.index_copy(0, &long, &one)), [2, 3]);
    let positions = AnyTensor::zeros_on(&[2, 1], DType::I64, "meta").unwrap();
    assert_eq!(shape(x.scatter_reduce(1, &positions, &x, ScatterReduce::Mean, true)), [2, 3]);
    assert_eq!(shape(x.lerp(&x, 0.5)), [2, 3]);
    assert_eq!(shape(x.complex(&x)), [2, 3]);
    assert_eq!(shape(x.kron(&x)), [4, 9]);
    assert_eq!(shape(index.one_hot(Some(3))), [4, 3]);
    assert!(matches!(index.one_hot(None), Err(Error::NoData { .. })));
    assert!(x.masked_select(&AnyTensor::zeros_on(&[3], DType::Bool, "meta").unwrap()).is_err());
    let here = AnyTensor::zeros(&[2, 3], DType::F32).unwrap();
    assert!(matches!(any::cat(&[x.clone(), here.clone()], 0), Err(Error::DevicesDiffer { .. })));
    assert!(matches!(x.matmul(&here.t().unwrap()), Err(Error::DevicesDiffer { .. })));
}

#[test]
fn indices_are_checked() {
    let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    let beyond = AnyTensor::from(tensor![3]);
    assert!(matches!(x.index_select(1, &beyond).unwrap_err(), Error::IndexValue { index: 3, axis: 1, size: 3, .. }));
    assert!(matches!(
        x.index(&[Value::Rest, (&beyond).into()]).unwrap_err(),
        Error::IndexValue { index: 3, axis: 1, size: 3, .. }
    ));
    assert!(x.take(&AnyTensor::from(tensor![-7])).is_err());
    assert!(x.index_select(0, &AnyTensor::from(tensor![0; i16])).is_err());
    assert!(x.index(&[(&AnyTensor::from(tensor![true, false, true])).into()]).is_err());
    assert!(x.masked_fill(&x, 0).is_err());
    let bytes = x.to(DType::U8).unwrap();
    assert!(matches!(bytes.masked_fill(&x.gt(0).unwrap(), 300), Err(Error::ScalarOutOfRange { .. })));
    assert!(matches!(any::where_(&x.gt(0).unwrap(), &bytes, 300), Err(Error::ScalarOutOfRange { .. })));
    let complex = x.to(DType::C64).unwrap();
    let index = AnyTensor::from(tensor![[0, 1, 1]]);
    assert!(complex.scatter_reduce(0, &index, &complex, ScatterReduce::Amax, true).is_err());
    assert!(x.scatter(0, &AnyTensor::from(tensor![[2, 0, 0]]), &x).is_err());
}

#[test]
fn a_tensor_that_is_written_stays_as_it_was() {
    let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    let rows = AnyTensor::from(tensor![0]);
    let y = x.index_copy(0, &rows, &AnyTensor::from(tensor![[7, 8]])).unwrap();
    let z = x.t().unwrap().select_scatter(&AnyTensor::from(tensor![7, 8]), 0, 0).unwrap();
    let w = x.index_put(&[Some(&rows), Some(&rows)], &AnyTensor::from(tensor![9]), true).unwrap();
    assert_eq!((int(y), int(z), int(w)), (vec![7, 8, 3, 4], vec![7, 8, 2, 4], vec![10, 2, 3, 4]));
    assert_eq!(int(x), [1, 2, 3, 4]);
}

#[test]
fn conversions_and_formats_by_name() {
    let x = AnyTensor::zeros(&[2, 3, 4, 5], DType::F32).unwrap();
    let args = Args::new().arg(&x).arg("cpu").arg(DType::F64).named("memory_format", "torch.channels_last");
    let y = call("to", &args).unwrap().tensor().unwrap();
    assert_eq!((y.dtype(), y.stride()), (DType::F64, &[60, 1, 15, 3][..]));
    assert!(call("to", &Args::new().arg(&x)).unwrap().tensor().unwrap().shares_storage(&x));
    let copy = call("to", &Args::new().arg(&x).named("copy", true)).unwrap().tensor().unwrap();
    assert!(!copy.shares_storage(&x));
    let meta = call("to", &Args::new().arg(&x).named("device", "meta")).unwrap().tensor().unwrap();
    assert_eq!(meta.device_name(), "meta");
    assert!(matches!(call("to", &Args::new().arg(&meta).arg("cpu")), Err(Error::NoData { .. })));
}
