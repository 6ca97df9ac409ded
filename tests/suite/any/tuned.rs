//! Operations of one operand and parameters: every form of `AnyTensor` gives what the typed method gives, or refuses if there is none.

use castiron::any::{Args, call, call_in_place, call_into};
use castiron::{AnyTensor, AnyViewMut, Cpu, DType, Error, ScalarValue, bf16, f16, shape};

/// Numbers that functions treat apart, in a dtype.
fn operand(dtype: DType) -> AnyTensor {
    let numbers = [0.0, -0.0, 1.0, 0.25, -2.5, 3.0, 7.0, 100.0, 0.999, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let len = 3 * numbers.len();
    if matches!(dtype.itemsize(), 1) && dtype.is_floating_point() {
        return AnyTensor::from_bytes(&vec![0x38; len], dtype, &[len]).unwrap();
    }
    let scalars: Vec<ScalarValue> = (0..len).map(|at| ScalarValue::Float(numbers[at % numbers.len()])).collect();
    let real = AnyTensor::from_scalars(&scalars, &[len], DType::F64).unwrap();
    let all = if dtype.is_complex() { real.complex(&real.flip(&[0]).unwrap()).unwrap() } else { real };
    all.to(dtype).unwrap()
}

/// What is tested of one operation.
struct Forms {
    name: &'static str,
    plain: fn(&AnyTensor) -> castiron::Result<AnyTensor>,
    in_place: fn(&mut AnyTensor) -> castiron::Result<()>,
    in_part: fn(&mut AnyViewMut<'_>) -> castiron::Result<()>,
    into: fn(&AnyTensor, &mut AnyTensor) -> castiron::Result<()>,
    /// What the typed method gives, `None` where the dtype has none.
    typed: fn(&AnyTensor) -> Option<AnyTensor>,
    /// Whether an output may have another dtype than the result.
    casts: bool,
    /// PyTorch's name, and the arguments after the operand.
    by_name: (&'static str, fn(Args) -> Args),
    /// Whether PyTorch has a form in place, which the call by name has then.
    named_in_place: bool,
}

macro_rules! forms {
    ($($name:ident $in_place:ident $into:ident ($($arg:expr),*) [$($ty:ty)*] $casts:literal $called:literal ($args:expr) $named_in_place:literal;)*) => {
        vec![$(Forms {
            name: stringify!($name),
            plain: |x| x.$name($($arg),*),
            in_place: |x| x.$in_place($($arg),*).map(|_| ()),
            in_part: |x| x.$in_place($($arg),*).map(|_| ()),
            into: |x, out| x.$into($($arg,)* out),
            typed: |x| forms!(@typed x $name ($($arg),*) [$($ty)*]),
            casts: $casts,
            by_name: ($called, $args),
            named_in_place: $named_in_place,
        }),*]
    };
    (@typed $x:ident $name:ident $arguments:tt [$($ty:ty)*]) => {{
        $(if let Ok(typed) = $x.typed::<$ty, shape![_], Cpu>() {
            return Some(AnyTensor::from(typed.$name $arguments));
        })*
        None
    }};
}

fn operations() -> Vec<Forms> {
    forms! {
        elu elu_ elu_into (1.5) [f16 bf16 f32 f64] false "nn.functional.elu" (|args| args.arg(1.5)) true;
        celu celu_ celu_into (0.5) [f16 bf16 f32 f64] false "nn.functional.celu" (|args| args.named("alpha", 0.5)) true;
        softplus softplus_ softplus_into (2, 10.0) [f16 bf16 f32 f64] false "nn.functional.softplus" (|args| args.arg(2_i64).arg(10.0)) false;
        softshrink softshrink_ softshrink_into (0.5) [f16 bf16 f32 f64] false "nn.functional.softshrink" (|args| args) false;
        hardshrink hardshrink_ hardshrink_into (0.5) [f16 bf16 f32 f64] false "nn.functional.hardshrink" (|args| args) false;
        hardtanh hardtanh_ hardtanh_into (0, 2) [u8 i8 i16 i32 i64 f16 bf16 f32 f64] false "nn.functional.hardtanh" (|args| args.arg(0_i64).arg(2_i64)) true;
        leaky_relu leaky_relu_ leaky_relu_into (0.125) [f16 bf16 f32 f64] false "nn.functional.leaky_relu" (|args| args.arg(0.125)) true;
        threshold threshold_ threshold_into (2, 9) [u8 i8 i16 i32 i64 f16 bf16 f32 f64] true "nn.functional.threshold" (|args| args.arg(2_i64).arg(9_i64)) true;
        logit logit_ logit_into (Some(0.125)) [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64] true "logit" (|args| args.arg(0.125)) true;
        nan_to_num nan_to_num_ nan_to_num_into (0.5, None, Some(-3.0)) [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 C32 C64 C128] false "nan_to_num" (|args| args.arg(0.5).named("neginf", -3.0)) true;
        round_decimals round_decimals_ round_decimals_into (1) [f16 bf16 f32 f64] false "round" (|args| args.named("decimals", 1_i64)) true;
        polygamma polygamma_ polygamma_into (2) [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64] true "polygamma" (|args| args) true;
        mvlgamma mvlgamma_ mvlgamma_into (2) [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64] true "mvlgamma" (|args| args.arg(2_i64)) true;
    }
}

type C32 = castiron::Complex<f16>;
type C64 = castiron::Complex<f32>;
type C128 = castiron::Complex<f64>;

#[track_caller]
fn assert_same(got: &AnyTensor, want: &AnyTensor, label: &str) {
    let want = want.to(got.dtype()).unwrap();
    assert_eq!((got.dtype(), got.shape()), (want.dtype(), want.shape()), "{label}");
    assert_eq!(got.to_bytes().unwrap(), want.to_bytes().unwrap(), "{label}: {got} is not {want}");
}

/// A tensor that nothing gives.
fn marked(dtype: DType, sizes: &[usize]) -> AnyTensor {
    let len: usize = sizes.iter().product();
    AnyTensor::from_bytes(&vec![1; len * dtype.itemsize()], dtype, sizes).unwrap()
}

#[test]
fn operations_with_parameters_are_the_typed_methods_in_every_form() {
    for forms in operations() {
        let Forms { name, plain, in_place, in_part, into, typed, casts, by_name: (called, args), named_in_place } =
            forms;
        for &dtype in DType::ALL {
            let (label, x) = (format!("{name} of {dtype}"), operand(dtype));
            // `polygamma(n, input)` is the one whose operand comes second.
            let first = if called == "polygamma" { Args::new().arg(2_i64).arg(&x) } else { Args::new().arg(&x) };
            let whole = args(first);
            let by_name = call(called, &whole).map(|result| result.tensor().unwrap());
            // PyTorch computes these of wide unsigned integers, too, which the typed world does not compute with.
            let lifts = matches!(name, "logit" | "polygamma" | "mvlgamma");
            let wide = matches!(dtype, DType::U16 | DType::U32 | DType::U64);
            let want = if lifts && wide { typed(&x.to(DType::F32).unwrap()) } else { typed(&x) };
            let Some(want) = want else {
                let refused = |error: Option<Error>| {
                    let refused = matches!(error, Some(Error::NotAdmitted { .. } | Error::NotCastable { .. }));
                    assert!(refused, "{label} has no typed method, but gives {error:?}");
                };
                refused(plain(&x).err());
                refused(by_name.err());
                refused(into(&x, &mut x.copy().unwrap()).err());
                let mut own = x.copy().unwrap();
                refused(in_place(&mut own).err());
                refused(in_part(&mut own.view_mut().unwrap()).err());
                assert_same(&own, &x, &format!("{label}, refused"));
                continue;
            };
            assert_same(&plain(&x).unwrap(), &want, &label);
            assert_same(&by_name.unwrap(), &want, &format!("{label} by name"));
            let strided = x.reshape(&[-1, 4]).unwrap().t().unwrap();
            assert_same(
                &plain(&strided).unwrap(),
                &want.reshape(&[-1, 4]).unwrap().t().unwrap(),
                &format!("{label} turned"),
            );
            // In place: of a tensor that shares its storage, of a part, and by name.
            let castable = want.dtype().can_cast(dtype);
            let (mut own, keeps) = (x.clone(), x.copy().unwrap());
            assert_eq!(in_place(&mut own).is_ok(), castable, "{label} in place");
            assert_same(&own, if castable { &want } else { &x }, &format!("{label} in place"));
            assert_same(&x, &keeps, &format!("{label} in place of another handle"));
            let mut pairs = AnyTensor::zeros(&[x.numel(), 2], dtype).unwrap();
            let mut part = pairs.select_mut(1, 1).unwrap();
            part.copy_from(&x).unwrap();
            assert_eq!(in_part(&mut part).is_ok(), castable, "{label} of a part");
            assert_same(&part.to_tensor().unwrap(), if castable { &want } else { &x }, &format!("{label} of a part"));
            let beside = pairs.select(1, 0).unwrap().to_bytes().unwrap();
            assert!(beside.iter().all(|&byte| byte == 0), "{label} wrote beside its part");
            if called != "polygamma" {
                let mut own = x.clone();
                let done = call_in_place(called, &mut own, &args(Args::new()));
                assert_eq!(done.is_ok(), castable && named_in_place, "{label} by name in place: {done:?}");
            }
            // Into outputs of any dtype, by method and by name alike.
            for &to in DType::ALL {
                let label = format!("{label} into {to}");
                let fits = if casts { want.dtype().can_cast(to) } else { want.dtype() == to };
                let fits = fits && to != DType::F4E2M1FNX2;
                let (mut out, mut named) = (marked(to, x.shape()), marked(to, x.shape()));
                let results = [into(&x, &mut out), call_into(called, &whole, &mut [&mut named])];
                for (result, out) in results.iter().zip([&out, &named]) {
                    assert_eq!(result.is_ok(), fits, "{label}: {result:?}");
                    assert_same(out, &if fits { want.to(to).unwrap() } else { marked(to, x.shape()) }, &label);
                }
            }
            assert!(matches!(into(&x, &mut marked(want.dtype(), &[2])), Err(Error::Output { .. })), "{label}");
        }
    }
}

#[test]
fn parameters_that_do_not_fit_are_refused_in_every_form() {
    let x = operand(DType::F32);
    let mut own = x.copy().unwrap();
    assert!(
        x.softshrink(-1.0).is_err()
            && own.softshrink_(-1.0).is_err()
            && x.softshrink_into(-1.0, &mut x.copy().unwrap()).is_err()
    );
    assert!(x.celu(0).is_err() && own.celu_(0).is_err());
    assert!(x.polygamma(-1).is_err() && own.polygamma_(-1).is_err());
    assert!(x.mvlgamma(0).is_err() && own.mvlgamma_(1 << 30).is_err());
    assert!(x.elu(castiron::Complex::new(1.0, 1.0)).is_err());
    assert!(operand(DType::U8).hardtanh(-1, 1).is_err());
    assert_same(&own, &x, "nothing is written");
    // Outputs of other dtypes, by the other names.
    let (unit, mut wide) =
        (AnyTensor::full(&[2], 3.5, DType::F32).unwrap(), AnyTensor::zeros(&[2], DType::F64).unwrap());
    call_into("special.multigammaln", &Args::new().arg(&unit).arg(2_i64), &mut [&mut wide]).unwrap();
    call_into("special.logit", &Args::new().arg(&unit).arg(0.25), &mut [&mut wide]).unwrap();
    assert_same(&wide, &unit.logit(Some(0.25)).unwrap(), "special.logit");
    // Empty, zero-dim and meta tensors.
    assert_eq!(AnyTensor::zeros(&[0, 3], DType::F16).unwrap().elu(1).unwrap().shape(), [0, 3]);
    assert_eq!(
        AnyTensor::full(&[], -2.0, DType::F64).unwrap().leaky_relu(0.5).unwrap().item(),
        Ok(ScalarValue::Float(-1.0))
    );
    let meta = AnyTensor::zeros(&[2, 1 << 10], DType::I32).unwrap().to_device("meta").unwrap();
    assert_eq!((meta.logit(None).unwrap().dtype(), meta.logit(None).unwrap().device_name()), (DType::F32, "meta"));
}
