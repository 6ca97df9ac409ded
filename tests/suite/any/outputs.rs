//! Results written into existing memory: in-place operations, existing output tensors, and `x[…] = value`.

use castiron::any::{Args, Value, call, call_in_place, call_into};
use castiron::{AnyTensor, DType, Error, Generator, ScalarValue, ScatterReduce, tensor};
use proptest::prelude::*;

fn ints(values: &[i64], sizes: &[usize]) -> AnyTensor {
    let scalars: Vec<ScalarValue> = values.iter().map(|&value| ScalarValue::Int(value.into())).collect();
    AnyTensor::from_scalars(&scalars, sizes, DType::I64).unwrap()
}

fn floats(sizes: &[usize], seed: u64) -> AnyTensor {
    AnyTensor::uniform(sizes, -2.0, 2.0, DType::F32, &mut Generator::seeded(seed)).unwrap()
}

/// An operation out of place, and the same in place of a tensor and of a part of one.
type Both = (
    &'static str,
    fn(&AnyTensor) -> castiron::Result<AnyTensor>,
    fn(&mut AnyTensor) -> castiron::Result<()>,
    fn(&mut castiron::AnyViewMut<'_>) -> castiron::Result<()>,
);

macro_rules! both {
    ($($name:ident $in_place:ident ($($arg:expr),*);)*) => {
        vec![$((
            stringify!($name),
            |x| x.$name($($arg),*),
            |x| x.$in_place($($arg),*).map(|_| ()),
            |x| x.$in_place($($arg),*).map(|_| ()),
        )),*]
    };
}

/// Indices along both axes of a matrix of three rows and three columns.
fn along() -> AnyTensor {
    ints(&[0, 2, 1, 1, 0, 0], &[2, 3])
}
fn rows() -> AnyTensor {
    ints(&[2, 0], &[2])
}
fn square() -> AnyTensor {
    floats(&[3, 3], 7)
}

fn operations() -> Vec<Both> {
    both! {
        masked_fill masked_fill_(&square().gt(0).unwrap(), 9);
        masked_scatter masked_scatter_(&square().gt(0).unwrap(), &square());
        index_fill index_fill_(1, &rows(), -1.5);
        index_copy index_copy_(0, &rows(), &floats(&[2, 3], 3));
        index_add index_add_(0, &rows(), &floats(&[2, 3], 3), 2.0);
        index_reduce index_reduce_(0, &rows(), &floats(&[2, 3], 3), ScatterReduce::Amax, true);
        index_put index_put_(&[Some(&rows()), Some(&rows())], &floats(&[2], 4), true);
        put put_(&ints(&[8, 1], &[2]), &floats(&[2], 4), false);
        scatter scatter_(0, &along(), 3);
        scatter_add scatter_add_(0, &along(), &square());
        scatter_reduce scatter_reduce_(1, &along(), &square(), ScatterReduce::Prod, false);
        clamp clamp_(Some(0.into()), Some(1.into()));
        lerp lerp_(&square(), 0.25);
        addcmul addcmul_(&square(), &square(), 2);
        addcdiv addcdiv_(&square(), &square(), 2);
        addmm addmm_(&square(), &square(), 1, 2);
        addr addr_(&floats(&[3], 1), &floats(&[3], 2), 1, 1);
        cumsum cumsum_(0, None);
        cumprod cumprod_(1, None);
        tril tril_(0);
        triu triu_(1);
        renorm renorm_(2.0, 0, 1.0);
    }
}

#[test]
fn in_place_is_the_operation_written_over_its_operand() {
    for (name, out_of_place, in_place, in_part) in operations() {
        let x = floats(&[3, 3], 1);
        let (want, keeps) = (out_of_place(&x).unwrap(), x.clone());
        let mut own = x.copy().unwrap();
        in_place(&mut own).unwrap();
        assert_eq!(own.to_bytes(), want.to_bytes(), "{name}");
        let mut shared = x.clone();
        in_place(&mut shared).unwrap();
        assert_eq!(shared.to_bytes(), want.to_bytes(), "{name} of a shared tensor");
        assert_eq!(x.to_bytes(), keeps.to_bytes(), "{name} changed another tensor");
        // A part with gaps, turned: the rest of the base is as it was.
        let mut whole = AnyTensor::full(&[5, 7], 100.0, DType::F32).unwrap();
        let mut part = whole.slice_mut(0, Some(1), Some(4), 1).unwrap();
        let mut part = part.slice_mut(1, Some(0), Some(6), 2).unwrap();
        let mut part = part.t_mut().unwrap();
        part.copy_from(&x).unwrap();
        in_part(&mut part).unwrap();
        assert_eq!(part.to_bytes(), want.to_bytes(), "{name} of a part");
        let outside = whole.eq(100.0).unwrap().count_nonzero(None).unwrap().item().unwrap();
        assert!(outside.real_part() >= 26.0, "{name} wrote outside of its part");
    }
}

#[test]
fn by_name_in_place_is_as_the_method() {
    let mask = square().gt(0).unwrap();
    let calls: Vec<(&str, Vec<Value>, Vec<(&str, Value)>)> = vec![
        ("masked_fill_", vec![mask.into(), 9_i64.into()], vec![]),
        ("add_", vec![square().into()], vec![]),
        ("add", vec![square().into()], vec![("alpha", 3_i64.into())]),
        ("exp_", vec![], vec![]),
        ("mul_", vec![], vec![("other", square().into())]),
        ("nn.functional.relu_", vec![], vec![]),
        ("div_", vec![square().into()], vec![("rounding_mode", "floor".into())]),
        ("index_fill_", vec![0_i64.into(), rows().into(), 1.5.into()], vec![]),
        ("cumsum_", vec![0_i64.into()], vec![]),
        ("clamp_", vec![], vec![("max", 0.5.into())]),
        ("lerp_", vec![square().into(), 0.5.into()], vec![]),
        ("fill_", vec![2_i64.into()], vec![]),
        ("nn.functional.elu_", vec![], vec![]),
    ];
    for (name, positional, named) in calls {
        let with = |args: Args| {
            let args = positional.iter().cloned().fold(args, Args::arg);
            named.iter().fold(args, |args, (name, value)| args.named(name, value.clone()))
        };
        let x = floats(&[3, 3], 1);
        let want = call(name.trim_end_matches('_'), &with(Args::new().arg(&x))).unwrap().tensor().unwrap();
        let mut got = x.clone();
        call_in_place(name, &mut got, &with(Args::new())).unwrap();
        assert_eq!(got.to_bytes(), want.to_bytes(), "{name}");
    }
    let mut x = floats(&[1, 3], 1);
    call_in_place("zero_", &mut x, &Args::new()).unwrap();
    assert_eq!(x.to_string(), "tensor([[0., 0., 0.]])");
    call_in_place("copy_", &mut x, &Args::new().arg(ints(&[1, 2, 3], &[3]))).unwrap();
    assert_eq!(x.to_string(), "tensor([[1., 2., 3.]])");
    call_in_place("squeeze_", &mut x, &Args::new()).unwrap();
    call_in_place("unsqueeze_", &mut x, &Args::new().arg(1_i64)).unwrap();
    assert_eq!(x.shape(), [3, 1]);
}

#[test]
fn what_does_not_fit_in_place_leaves_the_tensor_as_it_was() {
    let refused: [(&str, Args); 7] = [
        ("exp_", Args::new()),                                                    // float32 into int64
        ("add_", Args::new().arg(1.5)),                                           // the same
        ("add_", Args::new().arg(AnyTensor::ones(&[2, 3], DType::I64).unwrap())), // another shape
        ("masked_fill_", Args::new().arg(rows()).arg(1_i64)),                     // no mask
        ("sort", Args::new()),                                                    // not in place
        ("sum_", Args::new()),                                                    // not in place
        ("nothing_", Args::new()),                                                // no operation
    ];
    for (name, args) in refused {
        let mut x = ints(&[1, 2, 3], &[3]);
        assert!(call_in_place(name, &mut x, &args).is_err(), "{name}");
        assert_eq!(x.to_string(), "tensor([1, 2, 3])", "{name}");
    }
}

#[test]
fn outputs_take_the_dtypes_that_pytorch_lets_them_have() {
    use DType::{Bool, C64, F16, F32, F64, I32, I64, U8};
    let x = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]]);
    let of = |name: &'static str, args: Args, dtypes: &[DType], refused: &[DType]| {
        let result = call(name, &args).unwrap().tensor().unwrap();
        for &dtype in dtypes {
            let mut out = AnyTensor::zeros(result.shape(), dtype).unwrap();
            call_into(name, &args, &mut [&mut out]).unwrap_or_else(|error| panic!("{name} into {dtype}: {error}"));
            assert_eq!(out.to_bytes(), result.to(dtype).unwrap().to_bytes(), "{name} into {dtype}");
        }
        for &dtype in refused {
            let mut out = AnyTensor::zeros(result.shape(), dtype).unwrap();
            let error = call_into(name, &args, &mut [&mut out]).unwrap_err();
            assert!(
                matches!(error, Error::NotCastable { .. } | Error::NotAdmitted { .. }),
                "{name} into {dtype}: {error}"
            );
            assert_eq!(out.to_bytes(), AnyTensor::zeros(result.shape(), dtype).unwrap().to_bytes());
        }
        let mut longer = AnyTensor::zeros(&[9], result.dtype()).unwrap();
        assert!(call_into(name, &args, &mut [&mut longer]).is_err(), "{name} into another shape");
        assert!(call_into(name, &args, &mut []).is_err(), "{name} into nothing");
    };
    let one = || Args::new().arg(&x);
    of("add", one().arg(&x), &[F16, F32, F64, C64], &[I64, Bool]);
    of("mul", one().named("other", &x), &[F16, F32, F64, C64], &[I64, Bool]);
    of("pow", Args::new().arg(2_i64).arg(&x), &[F16, F32, F64], &[I64]);
    of("exp", one(), &[F16, F32, F64, C64], &[I64, Bool]);
    of("sum", one().named("dim", 0_i64), &[F32, F64, I32, I64], &[]);
    of("cumsum", one().arg(0_i64), &[F32, F64, I64], &[]);
    of("sum", one().named("dtype", F64), &[F32, F64], &[I64]);
    of("mean", one().named("dim", 0_i64), &[F32, F64], &[I64]);
    of("amax", one().named("dim", 0_i64), &[F32], &[F64, I64]);
    of("argmax", one().named("dim", 0_i64), &[I64], &[I32, F32]);
    of("any", one().named("dim", 0_i64), &[Bool, U8], &[I64, F32]);
    of("matmul", one().arg(&x), &[F32], &[F64, I64]);
    of("cat", Args::new().arg(vec![x.clone(), x.clone()]), &[F32, F64, F16], &[I64, Bool]);
    of("std", one().named("dim", 0_i64), &[F32, F64], &[C64, I64]);
    of("gather", one().arg(0_i64).arg(AnyTensor::zeros(&[2, 2], I64).unwrap()), &[F32], &[F64]);
    let (mut values, mut places) = (AnyTensor::zeros(&[2, 2], F32).unwrap(), AnyTensor::zeros(&[2, 2], I64).unwrap());
    call_into("sort", &one().named("descending", true), &mut [&mut values, &mut places]).unwrap();
    assert_eq!(values.to_string(), "tensor([[2., 1.],\n        [4., 3.]])");
    assert_eq!(places.to_string(), "tensor([[1, 0],\n        [1, 0]])");
}

#[test]
fn an_index_is_written_as_it_is_read() {
    let mut x = ints(&(0..12).collect::<Vec<_>>(), &[3, 4]);
    x.set(&[1_i64.into()], -1).unwrap();
    x.set(&[Value::Rest, Value::Slice(Some(0), None, Some(2))], 7.9).unwrap(); // converted, as PyTorch does
    assert_eq!(x.to_string(), "tensor([[ 7,  1,  7,  3],\n        [ 7, -1,  7, -1],\n        [ 7,  9,  7, 11]])");
    x.set(&[vec![0_i64, 2].into(), vec![1_i64, 3].into()], ints(&[50, 60], &[2])).unwrap();
    let mask = x.eq(7).unwrap();
    x.set(&[(&mask).into()], AnyTensor::from(tensor![2.5; f64]).reshape(&[1]).unwrap()).unwrap();
    assert_eq!(x.to_string(), "tensor([[ 2, 50,  2,  3],\n        [ 2, -1,  2, -1],\n        [ 2,  9,  2, 60]])");
    x.set(&[2_i64.into()], ints(&[4, 3, 2, 1], &[1, 1, 4])).unwrap();
    assert_eq!(x.index(&[2_i64.into()]).unwrap().to_string(), "tensor([4, 3, 2, 1])");
    x.set(&[vec![0_i64].into()], ints(&[9, 8, 7, 6], &[1, 1, 1, 4])).unwrap();
    assert_eq!(x.index(&[0_i64.into()]).unwrap().to_string(), "tensor([9, 8, 7, 6])");
    let before = x.to_bytes();
    // A mask together with indices counts as an index: dtypes must be the same.
    let columns = AnyTensor::from(tensor![true, false, false, true]);
    let mixed = [vec![0_i64, 1].into(), Value::from(&columns)];
    assert!(x.set(&mixed, AnyTensor::from(tensor![1.5])).is_err());
    for (index, value) in [
        (vec![Value::from(3_i64)], AnyTensor::from(tensor![1])),
        (vec![vec![0_i64, 3].into()], AnyTensor::from(tensor![1])),
        (vec![vec![0_i64].into()], AnyTensor::from(tensor![1.5])),
        (vec![0_i64.into()], ints(&[1, 2], &[2])),
        (vec![0_i64.into(), 0_i64.into(), 0_i64.into()], ints(&[1], &[1])),
    ] {
        assert!(x.set(&index, &value).is_err());
    }
    assert!(x.set(&[0_i64.into()], 1_u64 << 63).is_err());
    assert_eq!(x.to_bytes(), before);
}

proptest! {
    #[test]
    fn what_was_set_is_found_there_and_nowhere_else(
        picks in prop::collection::btree_set((0..4_i64, 0..5_i64), 0..6),
        slice in (0..4_i64, 0..5_i64, 1..3_i64),
    ) {
        let base = ints(&(100..120).collect::<Vec<_>>(), &[4, 5]);
        // By indices, all of them different.
        let (rows, columns): (Vec<i64>, Vec<i64>) = picks.iter().copied().unzip();
        let values: Vec<i64> = (0..picks.len() as i64).collect();
        let mut x = base.clone();
        let index = [Value::from(&ints(&rows, &[rows.len()])), Value::from(&ints(&columns, &[columns.len()]))];
        x.set(&index, ints(&values, &[values.len()])).unwrap();
        let mut want: Vec<i64> = (100..120).collect();
        for ((row, column), value) in picks.iter().zip(&values) {
            want[(row * 5 + column) as usize] = *value;
        }
        prop_assert_eq!(x.to_bytes(), ints(&want, &[4, 5]).to_bytes());
        // By a slice of both axes.
        let (start, end, step) = slice;
        let index = [Value::Slice(Some(start), None, Some(step)), Value::Slice(None, Some(end), Some(step))];
        let mut x = base.clone();
        x.set(&index, 0).unwrap();
        prop_assert!(x.index(&index).unwrap().to_scalars().unwrap().iter().all(|x| *x == ScalarValue::Int(0)));
        let written = base.index(&index).unwrap().numel() as f64;
        let zeros = x.eq(0).unwrap().count_nonzero(None).unwrap().item().unwrap().real_part();
        prop_assert_eq!(zeros, written);
    }
}
