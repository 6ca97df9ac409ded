//! The same tests for tensors whose dtype is known at run time, and random programs of typed views.

use castiron::any::{Value, cat, where_};
use castiron::{AnyTensor, Complex, Cpu, DType, Dyn, ScalarValue, TensorView, axis, shape, tensor};

fn numbers(x: &AnyTensor) -> Vec<i64> {
    x.to_scalars()
        .unwrap()
        .into_iter()
        .map(|value| match value {
            ScalarValue::Int(value) => value as i64,
            ScalarValue::Bool(value) => i64::from(value),
            ScalarValue::Float(value) => value as i64,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn counting() -> AnyTensor {
    AnyTensor::from(tensor![[0, 1, 2], [3, 4, 5]])
}

/// Programs as in `any::robustness`, fewer where they take long.
#[test]
fn typed_views_show_what_the_model_does() {
    let (mut state, cases) = (0x2545_f491_4f6c_dd1d_u64, if cfg!(miri) { 6 } else { 60 });
    for _ in 0..cases {
        let mut byte = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        let data: Vec<u8> = (0..400).map(|_| byte()).collect();
        crate::model::typed::run(&data);
    }
}

#[test]
fn typed_parts_are_written_and_read_by_two_threads() {
    let mut x = counting();
    let before = x.clone();
    let mut rows: Vec<_> = x.iter_axis_mut(0).unwrap().collect();
    let (first, second) = rows.split_at_mut(1);
    let mut one = first[0].typed_mut::<i64, shape![_], Cpu>().unwrap();
    let other: TensorView<i64, shape![_]> = second[0].typed_mut::<i64, shape![_], Cpu>().unwrap().into_view();
    let held = other.as_slice().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            one += 10;
            one[2] = 7;
        });
        assert_eq!((other.sum().item(), other.narrow(axis![0], 1, 2).to_vec()), (12, vec![4, 5]));
    });
    assert_eq!(held, [3, 4, 5]);
    drop(other);
    second[0].mul_(2).unwrap();
    assert_eq!((numbers(&x), numbers(&before)), (vec![10, 11, 7, 6, 8, 10], (0..6).collect()));
}

#[test]
fn typed_views_of_shared_tensors_are_their_own_first() {
    let mut x = counting();
    let (clone, typed) = (x.clone(), x.typed::<i64, shape![_, _], Cpu>().unwrap());
    x.typed_mut::<i64, shape![_, _], Cpu>().unwrap().fill(9);
    assert_eq!((numbers(&x), numbers(&clone), typed.to_vec()), (vec![9; 6], (0..6).collect(), (0..6).collect()));
    let copy = x.select_mut(0, 1).unwrap().typed_mut::<i64, shape![_], Cpu>().unwrap().to_tensor();
    x.fill_(1).unwrap();
    assert_eq!(copy.to_vec(), [9; 3]);
    let mut wide = AnyTensor::from(tensor![1, 2]).expand(&[2, 2]).unwrap();
    wide.typed_mut::<i64, (Dyn, Dyn), Cpu>().unwrap()[(0, 0)] = 5;
    assert_eq!(numbers(&wide), [5, 2, 1, 2]);
    assert!(x.typed_mut::<f32, shape![_, _], Cpu>().is_err() && x.typed_mut::<i64, shape![_], Cpu>().is_err());
}

#[test]
fn what_a_mutable_view_makes_outlives_it() {
    let mut x = counting();
    let (row, both) = {
        let mut view = x.view_mut().unwrap();
        let row = view.select_mut(0, 1).unwrap().to_tensor().unwrap();
        view.add_(1).unwrap();
        (row, view.to_tensor().unwrap())
    };
    x.fill_(7).unwrap();
    drop(x);
    assert_eq!((numbers(&row), numbers(&both)), (vec![3, 4, 5], (1..7).collect()));
}

#[test]
fn views_of_storage_reach_their_elements_and_no_others() {
    let bytes: Vec<u8> = (1..=12).collect();
    let x = AnyTensor::from_bytes(&bytes, DType::U8, &[3, 4]).unwrap();
    let part = x.narrow(1, 1, 2).unwrap().transpose(0, 1).unwrap();
    assert_eq!(part.to_bytes().unwrap(), [2, 6, 10, 3, 7, 11]);
    assert_eq!(numbers(&part.to(DType::F64).unwrap()), [2, 6, 10, 3, 7, 11]);
    assert_eq!(numbers(&cat(&[part.clone(), part.clone()], 1).unwrap())[6..], [3, 7, 11, 3, 7, 11]);
    let mut own = part.clone();
    own.copy_from(&part.add(1).unwrap()).unwrap();
    assert_eq!(own.to_bytes().unwrap(), [3, 7, 11, 4, 8, 12]);
    assert_eq!(x.to_bytes().unwrap(), bytes);
    own.set(&[Value::from(1_i64)], 0).unwrap();
    assert_eq!(own.to_bytes().unwrap(), [3, 7, 11, 0, 0, 0]);
    assert_eq!(numbers(&x.slice(0, Some(2), None, 1).unwrap().view_dtype(DType::I32).unwrap()).len(), 1);
    let nothing = AnyTensor::from_bytes(&[], DType::I64, &[0, 3]).unwrap();
    assert_eq!((nothing.to_bytes().unwrap(), numbers(&nothing.add(1).unwrap())), (vec![], vec![]));
    assert!(AnyTensor::from_bytes(&bytes, DType::U8, &[3, 5]).is_err());
    assert!(AnyTensor::from_bytes(&bytes, DType::I64, &[2]).is_err());
}

#[test]
fn bytes_that_are_no_bools_are_refused() {
    assert!(AnyTensor::from_bytes(&[0, 1, 2], DType::Bool, &[3]).is_err());
    let x = AnyTensor::from(tensor![0, 1, 2; u8]);
    assert!(x.view_dtype(DType::Bool).is_err() && x.narrow(0, 1, 2).unwrap().view_dtype(DType::Bool).is_err());
    // Nor are they reached from neighbouring bools.
    if let Ok(part) = x.narrow(0, 0, 2).unwrap().view_dtype(DType::Bool) {
        assert!(part.as_strided(&[3], &[1], Some(0)).is_err());
    }
    let x = AnyTensor::from(tensor![0, 1, 1; u8]).view_dtype(DType::Bool).unwrap();
    assert_eq!(numbers(&where_(&x, 7, 8).unwrap()), [8, 7, 7]);
}

#[test]
fn operations_write_their_own_elements() {
    let mut x = AnyTensor::from(tensor![[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]);
    let kept = x.clone();
    x.mul_(x.transpose(0, 1).unwrap().reshape(&[2, 3]).unwrap()).unwrap();
    x.select_mut(1, 2).unwrap().add_(x_of(2)).unwrap();
    assert_eq!(numbers(&kept), [0, 1, 2, 3, 4, 5]);
    let scaled = AnyTensor::from(tensor![1.0 + 1.0j, 2.0; Complex<f64>]).mul(Complex { re: 0.0, im: 2.0 }).unwrap();
    assert_eq!(scaled.imag().and_then(|x| x.to_bytes()).unwrap(), [2.0_f64, 4.0].map(f64::to_ne_bytes).concat());
    assert_eq!(numbers(&AnyTensor::from(tensor![1, 2, 3]).add(true).unwrap()), [2, 3, 4]);
    let mut out = AnyTensor::zeros(&[3], DType::I64).unwrap();
    out.view_mut().unwrap().copy_from(&AnyTensor::from(tensor![1.5, 2.5, -3.5])).unwrap();
    assert_eq!(numbers(&out), [1, 2, -3]);
}

fn x_of(value: i64) -> AnyTensor {
    AnyTensor::from(castiron::Tensor::<i64, ()>::from_vec(vec![value]))
}
