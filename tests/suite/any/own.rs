//! Formulas of one's own by name.

use castiron::any::{Args, call, call_in_place, call_into, ops, register};
use castiron::{AnyTensor, DType, f16, formula, tensor};

#[formula]
fn swish<F: Float>(x: F, beta: F) -> F {
    x / (1.0 + (-(beta * x)).exp())
}
#[formula]
fn mixed<F: Float>(x: F, y: F, by: F) -> F {
    x + by * (y - x)
}
#[formula]
fn tangle<F: Float>(a: F, b: F, c: F, d: F) -> F {
    a * b + select(c.lt(d), c * d, c / d)
}
#[formula]
fn polar<F: Float>(x: F, y: F) -> (F, F) {
    (x.hypot(y), y.atan2(x))
}

#[test]
fn a_registered_formula_is_an_operation() {
    register("own::swish", swish).unwrap();
    register("own::swish", swish).unwrap();
    let refused = |name: &str| register(name, mixed).unwrap_err().to_string();
    assert_eq!(refused("own::swish"), "register: `own::swish` stands for another formula");
    assert!(refused("mixed").contains("as in `mine::mixed`") && refused("own::").contains("`::`"));
    let op = ops().find(|op| op.name == "own::swish").unwrap();
    assert_eq!((op.arguments, op.dtypes), (&["x", "beta"][..], "float"));
    assert!(call("own::none", &Args::new()).unwrap_err().to_string().contains("no operation `own::none`"));

    // Typed and by name: the same bits, for every dtype, with what promotes and broadcasts.
    let (x, beta) = (tensor![[-1.0, 0.5, 3.0], [f32::NAN, 2.0, 0.0]], tensor![[1.0], [0.25]; f64]);
    let of =
        |x: &AnyTensor, beta: &AnyTensor| call("own::swish", &Args::new().arg(x).arg(beta)).unwrap().tensor().unwrap();
    let same = |a: AnyTensor, b: AnyTensor| assert_eq!(format!("{a:?}"), format!("{b:?}"));
    let (any, any_beta) = (AnyTensor::from(&x), AnyTensor::from(&beta));
    same(of(&any, &any_beta), x.apply(swish, &beta).into());
    same(
        of(&any.t().unwrap(), &any_beta.reshape(&[2]).unwrap()),
        x.t().apply(swish, beta.t().select(castiron::axis![0], 0)).into(),
    );
    same(
        of(&AnyTensor::from(x.to::<f16>()), &AnyTensor::from(tensor![1, 2, 3])),
        x.to::<f16>().apply(swish, &tensor![1, 2, 3]).into(),
    );
    let named = call("own::swish", &Args::new().named("beta", 2).named("x", &any)).unwrap().tensor().unwrap();
    same(named, x.apply(swish, 2).into());
    let whole = AnyTensor::from(tensor![1, 2]);
    let error = call("own::swish", &Args::new().arg(&whole).arg(1)).unwrap_err().to_string();
    assert!(error.starts_with("swish is not defined for dtype int64") && error.contains("float32"), "{error}");
    let error = call("own::swish", &Args::new().arg(&any)).unwrap_err().to_string();
    assert_eq!(error, "own::swish: argument `beta` is missing");
    assert!(call("own::swish", &Args::new().arg(&any).arg(AnyTensor::zeros(&[2], DType::F32).unwrap())).is_err());

    let mut place = any.clone();
    call_in_place("own::swish_", &mut place, &Args::new().arg(1)).unwrap();
    same(place, x.silu().into());
    let mut out = AnyTensor::zeros(&[2, 3], DType::F64).unwrap();
    call_into("own::swish", &Args::new().arg(&any).arg(1), &mut [&mut out]).unwrap();
    same(out, x.silu().to::<f64>().into());

    // Of three operands and four, of several results, on `meta`.
    register("own::mixed", mixed).unwrap();
    register("own::tangle", tangle).unwrap();
    register("own::polar", polar).unwrap();
    let three = call("own::mixed", &Args::new().arg(&any).arg(&any_beta).arg(0.5)).unwrap().tensor().unwrap();
    same(three, x.apply(mixed, (&beta, 0.5)).into());
    let four = call("own::tangle", &Args::new().arg(&any).arg(&any_beta).arg(&any).arg(2)).unwrap().tensor().unwrap();
    same(four, x.apply(tangle, (&beta, &x, 2)).into());
    let castiron::any::Value::List(list) = call("own::polar", &Args::new().arg(&any).arg(&any_beta)).unwrap() else {
        panic!("two results")
    };
    let [radius, angle] =
        <[_; 2]>::try_from(list.into_iter().collect::<Vec<_>>()).unwrap().map(|part| part.tensor().unwrap());
    let both = x.apply(polar, &beta);
    same(radius, both.0.into());
    same(angle, both.1.into());
    let meta = |x: &AnyTensor| x.to_device("meta".parse::<castiron::AnyDevice>().unwrap()).unwrap();
    for name in ["own::mixed", "own::tangle"] {
        let mut args = Args::new().arg(meta(&any)).arg(meta(&any_beta)).arg(0.5);
        if name == "own::tangle" {
            args = args.arg(1);
        }
        let planned = call(name, &args).unwrap().tensor().unwrap();
        assert_eq!((planned.dtype(), planned.shape()), (DType::F64, &[2, 3][..]), "{name}");
    }
}

#[formula]
fn parity<I: Integer>(x: I, y: I) -> I {
    (x ^ y) & 1
}
#[formula]
fn inside<R: Real>(x: R, low: R, high: R) -> Mask {
    x.ge(low) & x.lt(high)
}
#[formula]
fn kept<N: Numeric>(x: N, keep: Mask) -> N {
    select(keep, x, 0)
}

#[test]
fn registered_formulas_of_other_sets() {
    register("own::parity", parity).unwrap();
    register("own::inside", inside).unwrap();
    register("own::kept", kept).unwrap();
    let run = |name: &str, args: Args| call(name, &args).and_then(|value| value.tensor());
    let (x, y) = (tensor![[1, 2], [3, 4]; i32], tensor![7, 1; i32]);
    let any = AnyTensor::from(&x);
    let same = |a: AnyTensor, b: AnyTensor| assert_eq!(format!("{a:?}"), format!("{b:?}"));
    same(run("own::parity", Args::new().arg(&any).arg(AnyTensor::from(&y))).unwrap(), x.apply(parity, &y).into());
    same(run("own::parity", Args::new().arg(&any).arg(5)).unwrap(), x.apply(parity, 5).into());
    let error = run("own::parity", Args::new().arg(&any).arg(0.5)).unwrap_err().to_string();
    assert!(error.starts_with("parity is not defined for dtype float32") && error.contains("int64"), "{error}");
    same(run("own::inside", Args::new().arg(&any).arg(2).arg(3.5)).unwrap(), x.apply(inside, (2, 3.5)).into());
    let keep = AnyTensor::from(tensor![true, false]);
    same(run("own::kept", Args::new().arg(&any).named("keep", &keep)).unwrap(), (&x * tensor![1, 0; i32]).into());
    let error = run("own::kept", Args::new().arg(&any).arg(AnyTensor::from(&y))).unwrap_err().to_string();
    assert_eq!(error, "kept: `keep` is a mask: a tensor of bools, not of int32; compare first, `x.ne(0)`");
    assert_eq!(ops().find(|op| op.name == "own::kept").unwrap().dtypes, "numeric");
}

#[cfg(feature = "grad")]
#[test]
fn a_registered_formula_has_a_gradient() {
    register("own::soft", swish).unwrap();
    register("own::knot", tangle).unwrap();
    let gradient = |run: &dyn Fn(&AnyTensor) -> AnyTensor| {
        let mut x = AnyTensor::from(tensor![-1.0, 0.5, 3.0; f64]);
        x.requires_grad_(true).unwrap();
        run(&x).sum(None, false, None).unwrap().backward().unwrap();
        x.grad().unwrap().to_string()
    };
    let named = |name: &str, args: Args| call(name, &args).unwrap().tensor().unwrap();
    assert_eq!(gradient(&|x| named("own::soft", Args::new().arg(x).arg(1))), gradient(&|x| x.silu().unwrap()));
    assert_eq!(
        gradient(&|x| named("own::knot", Args::new().arg(x).arg(x).arg(x).arg(10))),
        gradient(&|x| x.mul(x).unwrap().add(x.mul(10).unwrap()).unwrap())
    );
}
