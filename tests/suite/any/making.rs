//! Tensors made at run time: from lists of scalars, and at random.

use castiron::any::{Args, Value, call};
use castiron::{AnyTensor, DType, Generator, ScalarValue, Tensor, shape};

fn tensor(data: Value) -> castiron::Result<AnyTensor> {
    call("tensor", &Args::new().arg(data))?.tensor()
}
fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::List(items.into_iter().collect())
}

#[test]
fn nested_lists_become_tensors_of_the_widest_category() {
    let rows = list([list([1_i64.into(), true.into()]), list([3_i64.into(), 4_i64.into()])]);
    assert_eq!(tensor(rows).unwrap().to_string(), "tensor([[1, 1],\n        [3, 4]])");
    assert_eq!(tensor(list([1_i64.into(), 2.5.into()])).unwrap().to_string(), "tensor([1.0000, 2.5000])");
    assert_eq!(tensor(list([])).unwrap().shape(), [0]);
    assert_eq!(tensor(list([list([]), list([])])).unwrap().shape(), [2, 0]);
    assert_eq!(tensor(true.into()).unwrap().dtype(), DType::Bool);
    let ragged = [
        list([list([1_i64.into()]), list([])]),
        list([1_i64.into(), list([1_i64.into()])]),
        list([list([1_i64.into()]), 1_i64.into()]),
        list([list([]), 1_i64.into()]),
        list([list([]), list([list([])])]),
    ];
    for data in ragged {
        assert!(tensor(data.clone()).is_err(), "{data:?}");
    }
    assert!(tensor(ScalarValue::Int(1 << 63).into()).is_err());
    assert!(tensor(list(["text".into()])).is_err());
}

#[test]
fn scalars_become_elements_or_are_refused() {
    let scalars = [ScalarValue::Int(200), ScalarValue::Bool(true), ScalarValue::Float(3.0)];
    for dtype in [DType::U8, DType::I16, DType::F16, DType::C64, DType::U64, DType::F8E5M2] {
        let x = AnyTensor::from_scalars(&scalars, &[3, 1], dtype).unwrap();
        assert_eq!((x.dtype(), x.shape()), (dtype, &[3, 1][..]));
        assert_eq!(x.to_scalars().unwrap()[1].real_part(), 1.0);
    }
    assert!(AnyTensor::from_scalars(&scalars, &[3], DType::I8).is_err());
    assert!(AnyTensor::from_scalars(&scalars, &[2], DType::U8).is_err());
    assert!(AnyTensor::from_scalars(&[], &[usize::MAX, 2], DType::U8).is_err());
    assert!(AnyTensor::from_scalars(&scalars, &[3], DType::F4E2M1FNX2).is_err());
}

#[test]
fn a_dtype_without_zero_is_not_filled_with_it() {
    // The float zero is below the least number of float8_e8m0fnu; the integer is not looked at.
    let zeros = |value| AnyTensor::from_scalars(&[value], &[1], DType::F8E8M0FNU);
    assert!(zeros(ScalarValue::Float(0.0)).is_err());
    assert!(zeros(ScalarValue::Int(0)).is_ok());
    assert!(zeros(ScalarValue::Float(0.5)).is_ok());
    assert!(zeros(ScalarValue::Complex(castiron::Complex::new(1.0, 0.0))).is_err());
}

#[test]
fn random_tensors_are_those_of_the_typed_world() {
    let any = AnyTensor::rand(&[3, 5], DType::F32, &mut Generator::seeded(4)).unwrap();
    assert_eq!(
        any.to_bytes(),
        AnyTensor::from(Tensor::<f32, shape![3, 5]>::rand(&mut Generator::seeded(4))).to_bytes()
    );
    let any = AnyTensor::randint(&[7], -3, 9, DType::I16, &mut Generator::seeded(4)).unwrap();
    let typed = Tensor::<i16, shape![7]>::randint(-3, 9, &mut Generator::seeded(4));
    assert_eq!(any.to_bytes(), AnyTensor::from(typed).to_bytes());
    let any = AnyTensor::randperm(20, &mut Generator::seeded(4)).unwrap();
    assert_eq!(
        any.to_bytes(),
        AnyTensor::from(Tensor::<i64, shape![20]>::randperm(20, &mut Generator::seeded(4))).to_bytes()
    );
}

#[test]
fn random_elements_lie_where_they_should() {
    let mut generator = Generator::seeded(1);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64, DType::C32, DType::C64, DType::C128] {
        let x = AnyTensor::rand(&[500], dtype, &mut generator).unwrap();
        let parts = if dtype.is_complex() { x.view_as_real().unwrap() } else { x };
        assert!(parts.to_scalars().unwrap().iter().all(|x| (0.0..1.0).contains(&x.real_part())), "{dtype}");
        let x = AnyTensor::randn(&[4000], dtype, &mut generator).unwrap();
        let square = x.abs().unwrap().to(DType::F64).unwrap().square().unwrap().mean(None, false, None).unwrap();
        assert!((square.item().unwrap().real_part() - 1.0).abs() < 0.15, "the variance of {dtype}: {square}");
    }
    let coins = AnyTensor::randint(&[1000], 0, 2, DType::Bool, &mut generator).unwrap();
    assert_eq!(coins.dtype(), DType::Bool);
    let heads = AnyTensor::full(&[1000], 0.25, DType::F64).unwrap().bernoulli(&mut generator).unwrap();
    assert!((200.0..300.0).contains(&heads.sum(None, false, None).unwrap().item().unwrap().real_part()));
    let weights = AnyTensor::from(castiron::tensor![[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]);
    let drawn = weights.multinomial(4, true, &mut generator).unwrap();
    assert_eq!((drawn.shape(), drawn.dtype()), (&[2, 4][..], DType::I64));
    assert_eq!(drawn.select(0, 0).unwrap().to_string(), "tensor([1, 1, 1, 1])");
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let generator = &mut Generator::seeded(0);
    assert!(AnyTensor::rand(&[2], DType::I64, generator).is_err());
    assert!(AnyTensor::randn(&[2], DType::U16, generator).is_err());
    assert!(AnyTensor::rand(&[usize::MAX, 2], DType::F32, generator).is_err());
    assert!(AnyTensor::rand(&[1; 9], DType::F32, generator).is_err());
    assert!(AnyTensor::uniform(&[2], 1.0, 0.0, DType::F32, generator).is_err());
    assert!(AnyTensor::normal(&[2], 0.0, -1.0, DType::F32, generator).is_err());
    assert!(AnyTensor::randint(&[2], 0, 300, DType::U8, generator).is_err());
    assert!(AnyTensor::randint(&[2], 5, 5, DType::I64, generator).is_err());
    assert!(AnyTensor::randint(&[2], 0, 3, DType::Bool, generator).is_err());
    assert!(AnyTensor::randint(&[2], 0, 3, DType::C64, generator).is_err());
    assert!(AnyTensor::full(&[2], 2.0, DType::F32).unwrap().bernoulli(generator).is_err());
    assert!(AnyTensor::ones(&[], DType::F32).unwrap().multinomial(1, true, generator).is_err());
    assert_eq!(AnyTensor::rand(&[0, 3], DType::C64, generator).unwrap().shape(), [0, 3]);
    let _guard = castiron::device::scoped_default_device("meta").unwrap();
    assert_eq!(AnyTensor::rand(&[2], DType::F32, generator).unwrap().device_name(), "meta");
}

#[test]
fn powers_are_made_as_both_functions_of_pytorch_make_them() {
    let x = Value::from(AnyTensor::from(castiron::tensor![1, 2, 3]));
    let rows = call("vander", &Args::new().arg(x.clone())).unwrap().tensor().unwrap();
    assert_eq!(rows.to_string(), "tensor([[1, 1, 1],\n        [4, 2, 1],\n        [9, 3, 1]])");
    let rising = Args::new().arg(x.clone()).named("increasing", true).named("N", 4_i64);
    let linalg = call("linalg.vander", &Args::new().arg(x).named("N", 4_i64)).unwrap().tensor().unwrap();
    assert_eq!(call("vander", &rising).unwrap().tensor().unwrap().to_bytes(), linalg.to_bytes());
    let truths = call("vander", &Args::new().arg(AnyTensor::ones(&[2], DType::Bool).unwrap())).unwrap();
    assert_eq!(truths.tensor().unwrap().dtype(), DType::I64);
}

#[test]
fn positions_to_split_at_are_int64() {
    let x = Value::from(AnyTensor::zeros(&[6], DType::F32).unwrap());
    let split = |at: AnyTensor| call("tensor_split", &Args::new().arg(x.clone()).arg(at));
    let Value::List(parts) = split(AnyTensor::from(castiron::tensor![1, 4])).unwrap() else { panic!("no list") };
    assert_eq!(parts.len(), 3);
    for dtype in [DType::I32, DType::F32, DType::Bool] {
        assert!(split(AnyTensor::ones(&[2], dtype).unwrap()).is_err());
    }
}

/// As a parser may build them of hostile text: they are refused, cloned, shown and dropped, on a stack of the usual size.
#[test]
fn lists_of_any_depth_are_values() {
    let deep = |depth: usize| (0..depth).fold(Value::from(1_i64), |inner, _| list([inner]));
    let worst = deep(200_000);
    let says = |error: Option<castiron::Error>| {
        let error = error.unwrap().to_string();
        assert!(error.ends_with("lists are nested more than 64 deep"), "{error}");
    };
    let mut x = AnyTensor::zeros(&[2], DType::F32).unwrap();
    says(tensor(worst.clone()).err());
    says(call("add", &Args::new().arg(&x).named("other", worst.clone())).err());
    says(x.index(std::slice::from_ref(&worst)).err());
    says(x.set(std::slice::from_ref(&worst), 1).err());
    says(castiron::any::call_in_place("add_", &mut x, &Args::new().arg(worst.clone())).err());
    says(castiron::any::call_into("sum", &Args::new().arg(worst.clone()), &mut [&mut x]).err());
    assert_eq!(format!("{worst:?} {:?}", deep(1)), "List([…]) List([Number(Int(1))])");
    assert!(!tensor(deep(60)).unwrap_err().to_string().contains("deep"), "there are more axes than tensors have");
    let wide = list((0..300).map(|_| deep(3)));
    assert_eq!(tensor(wide.clone()).unwrap().shape(), [300, 1, 1, 1]);
}
