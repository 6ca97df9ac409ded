//! All forms of an elementwise operation of [`AnyTensor`] agree: the method, in place, into an output, by name.

use castiron::any::{AnyOperand, Args, Value, call, call_in_place, call_into};
use castiron::{AnyTensor, DType, Result, ScalarValue};

/// The name for calls: the first of PyTorch's that has no arguments.
fn called(name: &'static str, torch: &'static str) -> &'static str {
    let mut names =
        torch.split("`, `").filter(|name| !name.contains('(')).filter_map(|name| name.strip_prefix("torch."));
    names.next().unwrap_or(name)
}

/// An operation of one operand: its name, the name for calls, and its forms.
struct One {
    name: &'static str,
    called: &'static str,
    plain: fn(&AnyTensor) -> Result<AnyTensor>,
    in_place: fn(&mut AnyTensor) -> Result<()>,
    into: fn(&AnyTensor, &mut AnyTensor) -> Result<()>,
}

/// An operation of two operands.
struct Two {
    name: &'static str,
    called: &'static str,
    plain: fn(&AnyTensor, AnyOperand) -> Result<AnyTensor>,
    in_place: fn(&mut AnyTensor, AnyOperand) -> Result<()>,
    into: fn(&AnyTensor, AnyOperand, &mut AnyTensor) -> Result<()>,
}

macro_rules! ones {
    ($($op:ident { [$try:ident $inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident, $doc:literal, $torch:literal $($rest:tt)* })*) => {
        fn ones() -> Vec<One> {
            vec![$(One {
            name: stringify!($op),
            called: called(stringify!($op), $torch),
            plain: AnyTensor::$op,
            in_place: |x| x.$inplace().map(|_| ()),
            into: AnyTensor::$into,
        }),*]
        }
    };
}
macro_rules! named_ones {
    ($($rows:tt)*) => { castiron_macros::named! { [try_x x_ x_into try_x_into] ones $($rows)* } };
}
castiron::__unary_rows!(named_ones);

macro_rules! twos {
    ($($op:ident { [$try:ident $inplace:ident $try_inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal $($rest:tt)* })*) => {
        fn twos() -> Vec<Two> {
            vec![$(Two {
            name: stringify!($op),
            called: called(stringify!($op), $torch),
            plain: |x, other| x.$op(other),
            in_place: |x, other| x.$inplace(other).map(|_| ()),
            into: |x, other, out| x.$into(other, out),
        }),*]
        }
    };
}
macro_rules! named_twos {
    ($($rows:tt)*) => { castiron_macros::named! { [try_x x_ try_x_ x_into try_x_into] twos $($rows)* } };
}
castiron::__binary_rows!(named_twos);

/// Special values of functions, more than fit a vector register, in another order for each `turn`.
fn operand(dtype: DType, turn: usize) -> AnyTensor {
    const NUMBERS: [f64; 19] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        3.0,
        255.0,
        -128.0,
        65504.0,
        1e30,
        -1e-40,
        1e-310,
        7.0,
        100.0,
        2e9,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let len = 2 * NUMBERS.len() - 1;
    if dtype.is_shell() {
        let bytes: Vec<u8> = (0..len * dtype.itemsize()).map(|at| (at * 7 + turn * 3) as u8).collect();
        return AnyTensor::from_bytes(&bytes, dtype, &[len]).unwrap();
    }
    let numbers = |turn: usize| {
        let all = (0..len).map(|at| ScalarValue::Float(NUMBERS[(at * (turn + 1) + turn) % NUMBERS.len()]));
        AnyTensor::from_scalars(&all.collect::<Vec<_>>(), &[len], DType::F64).unwrap()
    };
    let real = numbers(turn);
    let all = if dtype.is_complex() { real.complex(&numbers(turn + 1)).unwrap() } else { real };
    all.to(dtype).unwrap()
}

fn assert_same(label: &str, got: &AnyTensor, want: &AnyTensor) {
    let want = want.to(got.dtype()).unwrap();
    assert_eq!((got.dtype(), got.shape()), (want.dtype(), want.shape()), "{label}");
    assert_eq!(got.to_bytes().unwrap(), want.to_bytes().unwrap(), "{label}: {got} is not {want}");
}

/// Checks that the in-place form and the form with outputs agree with the plain form, or are refused.
fn expect_forms(
    label: &str,
    x: &AnyTensor,
    plain: &Result<AnyTensor>,
    in_place: impl Fn(&mut AnyTensor) -> Result<()>,
    into: impl Fn(&mut AnyTensor) -> Result<()>,
) {
    let mut own = x.copy().unwrap();
    let written = in_place(&mut own);
    match (plain, written) {
        (Ok(want), Ok(())) => assert_same(&format!("{label} in place"), &own, want),
        (Ok(want), Err(error)) => {
            assert_same(&format!("{label} in place, refused"), &own, x);
            assert!(want.dtype() != x.dtype() || want.shape() != x.shape(), "{label} in place: {error}");
        }
        (Err(error), written) => assert!(written.is_err(), "{label} is computed in place, although {error}"),
    }
    let Ok(want) = plain else {
        for dtype in [x.dtype(), DType::F32, DType::Bool] {
            let mut out = AnyTensor::from_bytes(&vec![1; x.numel() * dtype.itemsize()], dtype, x.shape()).unwrap();
            assert!(into(&mut out).is_err(), "{label} is computed into an output of {dtype}, although it is refused");
        }
        return;
    };
    for dtype in [want.dtype(), DType::F64] {
        let mut out = AnyTensor::from_bytes(&vec![1; want.numel() * dtype.itemsize()], dtype, want.shape()).unwrap();
        match into(&mut out) {
            Ok(()) => assert_same(&format!("{label} into {dtype}"), &out, want),
            Err(error) => assert_ne!(dtype, want.dtype(), "{label} into its own dtype: {error}"),
        }
    }
}

fn expect_by_name(label: &str, plain: &Result<AnyTensor>, called: &str, args: &Args) {
    match (plain, call(called, args)) {
        (Ok(want), Ok(got)) => assert_same(&format!("{label} by name"), &got.tensor().unwrap(), want),
        (Err(_), Err(_)) => {}
        (plain, by_name) => panic!("{label}: the method gives {plain:?}, by name it is {by_name:?}"),
    }
}

#[test]
fn forms_of_one_operand_compute_the_same() {
    for One { name, called, plain, in_place, into } in ones() {
        for &dtype in DType::ALL {
            let (label, x) = (format!("{name} of {dtype}"), operand(dtype, 0));
            let want = plain(&x);
            expect_forms(&label, &x, &want, in_place, |out| into(&x, out));
            let args = Args::new().arg(&x);
            expect_by_name(&label, &want, called, &args);
            let by_name = |x: &mut AnyTensor| call_in_place(called, x, &Args::new());
            expect_forms(&format!("{label} by name"), &x, &want, by_name, |out| call_into(called, &args, &mut [out]));
        }
    }
}

#[test]
fn forms_of_two_operands_compute_the_same() {
    let scalars = [ScalarValue::Int(2), ScalarValue::Float(0.5), ScalarValue::Bool(true)];
    for Two { name, called, plain, in_place, into } in twos() {
        for &dtype in DType::ALL {
            let x = operand(dtype, 0);
            let beside = [dtype, DType::Bool, DType::I64, DType::U16, DType::F16, DType::F32, DType::C64];
            let tensors = beside.iter().flat_map(|&beside| {
                let other = operand(beside, 1);
                // Integers are not divided by zero.
                let divides = !beside.is_floating_point() && !beside.is_complex();
                let other = if divides { other.bitwise_or(1_u8).unwrap_or(other) } else { other };
                let zero_dim = other.select(0, 2).unwrap();
                [(format!("{beside}"), other), (format!("zero-dim {beside}"), zero_dim)]
            });
            let tensors = tensors.map(|(what, other)| (what, AnyOperand::from(&other), Value::from(&other)));
            let scalars = scalars.iter().map(|&value| (format!("{value:?}"), value.into(), value.into()));
            for (what, other, value) in tensors.chain(scalars) {
                let label = format!("{name} of {dtype} and {what}");
                let want = plain(&x, other.clone());
                expect_forms(&label, &x, &want, |x| in_place(x, other.clone()), |out| into(&x, other.clone(), out));
                let (alone, args) = (Args::new().arg(value.clone()), Args::new().arg(&x).arg(value));
                expect_by_name(&label, &want, called, &args);
                let by_name = |x: &mut AnyTensor| call_in_place(called, x, &alone);
                let label = format!("{label} by name");
                expect_forms(&label, &x, &want, by_name, |out| call_into(called, &args, &mut [out]));
            }
        }
    }
}
