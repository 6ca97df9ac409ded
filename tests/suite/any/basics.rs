//! `AnyTensor` gives the same results as `Tensor`.

use castiron::any::AnyOperand;
use castiron::{AnyTensor, Complex, DType, Error, bf16, f16, shape, tensor};

#[test]
fn dtypes_promote_by_kind() {
    let bytes = AnyTensor::from(tensor![[0, 51], [102, 255]; u8]);
    let scaled = (&bytes / 255.0).unwrap();
    assert_eq!(scaled.to_string(), "tensor([[0.0000, 0.2000],\n        [0.4000, 1.0000]])");
    assert_eq!((&bytes + 1).unwrap().dtype(), DType::U8);
    let zero_dim = AnyTensor::from(castiron::Tensor::<f64, shape![]>::scalar(2.5));
    assert_eq!((&bytes * &zero_dim).unwrap().dtype(), DType::F64);
    assert_eq!((1 - &bytes).unwrap().to_string(), "tensor([[  1, 206],\n        [155,   2]], dtype=torch.uint8)");
    let halves = AnyTensor::from(tensor![1.0, 2.0; f16]);
    let others = AnyTensor::from(tensor![1.0, 2.0; bf16]);
    assert_eq!((&halves + &others).unwrap().dtype(), DType::F32);
    let _ = (f16::ONE, bf16::ONE);
}

#[test]
fn what_does_not_compile_there_is_an_error_here() {
    let counts = AnyTensor::from(tensor![1, 2, 3]);
    let mut sum = counts.clone();
    let error = sum.add_(0.5).unwrap_err();
    assert_eq!(error.to_string(), "add: result type float32 can't be cast to the desired output type int64");
    let mask = AnyTensor::from(tensor![true, false, true]);
    assert!(matches!((&mask - &mask).unwrap_err(), Error::NotAdmitted { op: "sub", dtype: DType::Bool, .. }));
    assert!(matches!((&counts + &AnyTensor::from(tensor![1, 2])).unwrap_err(), Error::Broadcast { .. }));
    assert!(matches!((&counts % 0).unwrap_err(), Error::DivisionByZero { .. }));
    let none = AnyTensor::zeros(&[0, 3], DType::I64).unwrap();
    let zero = AnyTensor::from(castiron::Tensor::<i64, shape![]>::scalar(0));
    for divisor in [AnyOperand::from(0), zero.into(), (&counts % 2).unwrap().into()] {
        for result in [none.floor_divide(divisor.clone()), none.remainder(divisor.clone()), none.fmod(divisor)] {
            assert_eq!(result.unwrap().shape(), [0, 3]);
        }
    }
}

#[test]
fn strided_and_converted_operands_run_as_one_by_one() {
    let x = tensor![[1, 2, 3], [4, 5, 6]];
    let y = tensor![[1.5, -2.0], [0.25, 4.0], [8.0, 0.0]];
    let sum = (&AnyTensor::from(x.t()) + &AnyTensor::from(&y)).unwrap();
    assert_eq!(sum.typed::<f32, shape![3, 2], castiron::Cpu>().unwrap().to_vec(), (x.t() + &y).to_vec());
    let mut z = AnyTensor::from(&y);
    z.mul_(AnyTensor::from(x.t())).unwrap();
    assert_eq!(z.typed::<f32, shape![3, 2], castiron::Cpu>().unwrap().to_vec(), (x.t() * &y).to_vec());
    let complex = AnyTensor::from(&y).to(DType::C32).unwrap();
    let squares = (&complex * &complex).unwrap();
    assert_eq!(squares.dtype(), DType::C32);
    let wide = squares.to(DType::C64).unwrap().typed::<Complex<f32>, shape![3, 2], castiron::Cpu>().unwrap();
    assert_eq!(wide.real().to_vec(), (&y * &y).to_vec());
}

#[test]
fn only_zeros_and_ones_are_seen_as_bools() {
    let bytes = AnyTensor::from(tensor![0, 1, 1; u8]);
    assert_eq!(bytes.view_dtype(DType::Bool).unwrap().to_string(), "tensor([False,  True,  True])");
    let bytes = AnyTensor::from(tensor![0, 1, 2; u8]);
    assert!(bytes.view_dtype(DType::Bool).is_err());
    // Those that a view reaches are looked at, and others when a view of it reaches them.
    let bools = bytes.narrow(0, 0, 2).unwrap().view_dtype(DType::Bool).unwrap();
    assert_eq!(bools.to_string(), "tensor([False,  True])");
    assert!(bools.as_strided(&[3], &[1], None).is_err() && bools.as_strided(&[1], &[1], Some(1)).is_ok());
    assert!(AnyTensor::from_bytes(&[2], DType::Bool, &[1]).is_err());
}

#[test]
fn empty_views_may_begin_anywhere() {
    let x = AnyTensor::from(tensor![1.0, 2.0]);
    let nothing = x.as_strided(&[0], &[1], Some(100)).unwrap();
    assert_eq!(nothing.storage_offset(), 100);
    assert!(nothing.to_bytes().unwrap().is_empty());
    assert_eq!(nothing.sum(None, false, None).unwrap().to_string(), "tensor(0.)");
    assert_eq!((&nothing + &nothing).unwrap().shape(), [0]);
    assert!(x.as_strided(&[1], &[1], Some(100)).is_err());
}

#[test]
fn without_elements_there_is_nothing_to_write() {
    let nothing = AnyTensor::from(castiron::Tensor::<f32, shape![3], castiron::Meta>::zeros());
    let mut x = AnyTensor::from(tensor![1.0, 2.0, 3.0]);
    assert!(matches!(x.add_(&nothing), Err(Error::NoData { .. } | Error::DevicesDiffer { .. })));
    assert!(matches!(x.copy_from(&nothing), Err(Error::NoData { .. })));
    assert_eq!(x.to_string(), "tensor([1., 2., 3.])");
    // What has none is written without effect.
    let mut meta = nothing.clone();
    assert!(meta.add_(&nothing).is_ok() && meta.copy_from(&x).is_ok());
}

#[test]
fn sizes_beside_a_zero_may_be_large_but_not_without_bounds() {
    let wide = [0, 1 << 40, 1 << 10];
    let x = AnyTensor::zeros(&wide, DType::F64).unwrap();
    assert_eq!((&x + &x).unwrap().shape(), wide);
    assert_eq!(
        x.sum(Some(&[0]), false, None)
            .err()
            .map(|error| matches!(error, Error::TooLarge { .. } | Error::OutOfMemory { .. })),
        Some(true)
    );
    for sizes in [vec![0, usize::MAX], vec![usize::MAX, 0, 2], vec![1 << 40, 1 << 40, 0]] {
        assert!(matches!(AnyTensor::zeros(&sizes, DType::U8), Err(Error::TooLarge { .. })), "{sizes:?}");
        assert!(matches!(AnyTensor::zeros_on(&sizes, DType::U8, "meta"), Err(Error::TooLarge { .. })), "{sizes:?}");
    }
}
