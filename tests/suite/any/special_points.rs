//! Gradients, and gradients of gradients, where formulas have branches of their own: complex numbers on an axis, zeros, and numbers whose
//! exponential overflows.

use castiron::any::{self, Args, GradOptions, Value, call};
use castiron::{AnyTensor, Complex, Cpu, Result, Tensor, shape, tensor};

type Numbers = Vec<Complex<f64>>;

fn list(z: &[Complex<f64>]) -> AnyTensor {
    Tensor::<Complex<f64>, shape![_]>::from_vec_sized(z.to_vec(), [z.len()]).into()
}
fn numbers(x: &AnyTensor) -> Numbers {
    x.to(castiron::DType::C128).and_then(|x| x.detach().typed::<Complex<f64>, shape![_], Cpu>()).unwrap().to_vec()
}
fn inner(a: &[Complex<f64>], b: &[Complex<f64>]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.re * b.re + a.im * b.im).sum()
}
fn run(name: &str, x: &AnyTensor, more: &[Value]) -> Result<AnyTensor> {
    let args = more.iter().cloned().fold(Args::new().arg(x), Args::arg);
    let result = call(name, &args)?.tensor()?;
    result.reshape(&[result.numel() as i64])
}

/// The gradient of the results, weighed by `seed`, and, if asked for, that of this gradient weighed by `again`.
fn gradients(name: &str, z: &[Complex<f64>], more: &[Value], again: Option<&[Complex<f64>]>) -> Result<[Numbers; 2]> {
    let mut x = list(z);
    x.requires_grad_(true)?;
    let y = run(name, &x, more)?;
    let seed = list(&seed(y.numel())).to(y.dtype())?;
    let options = GradOptions { seeds: Some(&[&seed]), create_graph: again.is_some(), ..GradOptions::default() };
    let first = any::grad(&[&y], &[&x], &options)?.remove(0).unwrap();
    let mut second = Numbers::new();
    if let Some(again) = again {
        let options = GradOptions { seeds: Some(&[&list(again)]), ..GradOptions::default() };
        second = numbers(any::grad(&[&first], &[&x], &options)?[0].as_ref().unwrap());
    }
    Ok([numbers(&first), second])
}
fn seed(count: usize) -> Numbers {
    (0..count).map(|at| Complex::new(0.3 + 0.2 * at as f64, 0.7 - 0.4 * at as f64)).collect()
}

/// Compares the gradient with central differences, and the gradient of the gradient with differences of that.
fn check(name: &str, z: &[Complex<f64>], more: &[Value]) {
    let again: Numbers = seed(z.len()).iter().map(|z| z * Complex::new(0.8, -1.1)).collect();
    let [first, second] = gradients(name, z, more, Some(&again)).unwrap_or_else(|why| panic!("{name}: {why}"));
    let step = 1e-5;
    for at in 0..z.len() {
        for (part, direction) in [Complex::new(step, 0.0), Complex::new(0.0, step)].into_iter().enumerate() {
            let moved = |by: Complex<f64>| {
                let mut z = z.to_vec();
                z[at] += by;
                let y = numbers(&run(name, &list(&z), more).unwrap());
                let first = gradients(name, &z, more, None).unwrap();
                [inner(&seed(y.len()), &y), inner(&again, &first[0])]
            };
            let ([up, up_again], [down, down_again]) = (moved(direction), moved(-direction));
            let of = |z: Complex<f64>| if part == 0 { z.re } else { z.im };
            let cases = [("first", up - down, of(first[at])), ("second", up_again - down_again, of(second[at]))];
            for (order, difference, found) in cases {
                let expected = difference / (2.0 * step);
                let is_close = (expected - found).abs() <= 2e-6 * (1.0 + expected.abs());
                assert!(is_close, "{name}{more:?}, {order} by part {part} of {}: {found}, not {expected}", z[at]);
            }
        }
    }
}

#[test]
fn complex_functions_have_their_slope_beside_the_axes() {
    let axes = |sizes: &[f64]| -> Numbers {
        sizes.iter().flat_map(|&size| [Complex::new(size, 0.0), Complex::new(0.0, size)]).collect()
    };
    let near = axes(&[0.3, -0.6]);
    for name in ["exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "asinh", "acos", "atan"] {
        check(name, &near, &[]);
    }
    for name in ["atanh", "log1p", "sigmoid", "sinc", "square"] {
        check(name, &near[..3], &[]);
    }
    // Branch cuts go along the negative axis, and for `acosh` up to 1.
    let right = [Complex::new(1.7, 0.0), Complex::new(0.4, 0.9), Complex::new(-0.4, 0.9)];
    for name in ["sqrt", "rsqrt", "acosh", "reciprocal", "log", "log2", "log10"] {
        check(name, &right, &[]);
    }
    check("pow", &right, &[2.5.into()]);
    check("pow", &right, &[3.0.into()]);
}

/// (Those are no analytic functions.)
#[test]
fn sizes_of_complex_numbers_have_second_derivatives() {
    let z = [Complex::new(0.3, -0.9), Complex::new(-1.2, 0.4), Complex::new(0.7, 0.0)];
    for name in ["abs", "angle", "sgn"] {
        check(name, &z, &[]);
    }
    check("logsumexp", &z, &[0_i64.into()]);
    for order in [1.0, 2.0, 3.0, 0.8, f64::INFINITY] {
        check("linalg.vector_norm", &z, &[order.into()]);
    }
}

fn real(name: &str, x: &[f64], orders: usize) -> Result<Vec<f64>> {
    let mut leaf: AnyTensor = Tensor::<f64, shape![_]>::from_vec_sized(x.to_vec(), [x.len()]).into();
    leaf.requires_grad_(true)?;
    let options = GradOptions { create_graph: true, ..GradOptions::default() };
    let mut y = call(name, &Args::new().arg(&leaf))?.tensor()?;
    for _ in 0..orders {
        y = any::grad(&[&y.sum(None, false, None)?], &[&leaf], &options)?.remove(0).unwrap();
    }
    Ok(y.detach().typed::<f64, shape![_], Cpu>()?.to_vec())
}

#[test]
fn no_derivative_of_large_numbers_overflows() -> Result<()> {
    let named = ["silu", "mish", "logsigmoid", "softplus", "gelu"].map(|name| format!("nn.functional.{name}"));
    for name in named.iter().map(String::as_str).chain(["sigmoid", "tanh"]) {
        for orders in [1, 2] {
            let found = real(name, &[-1000.0, 1000.0], orders)?;
            assert!(found.iter().all(|slope| slope.is_finite()), "{name}, order {orders}: {found:?}");
        }
    }
    let infinite = real("i0", &[-1000.0, 1000.0], 1)?;
    assert_eq!(infinite, [f64::NEG_INFINITY, f64::INFINITY]);
    Ok(())
}

/// PyTorch's choices.
#[test]
fn slopes_at_zero_are_those_of_pytorch() -> Result<()> {
    let by = |name: &str, a: f64, b: f64| -> Result<[f64; 2]> {
        let mut leaves = [AnyTensor::from(tensor![a]), AnyTensor::from(tensor![b])];
        for leaf in &mut leaves {
            leaf.requires_grad_(true)?;
        }
        let y = call(name, &Args::new().arg(&leaves[0]).arg(&leaves[1]))?.tensor()?;
        let found = any::grad(&[&y], &[&leaves[0], &leaves[1]], &GradOptions::default())?;
        let number = |at: usize| found[at].as_ref().unwrap().item().map(castiron::ScalarValue::real_part);
        Ok([number(0)?, number(1)?])
    };
    assert_eq!(by("xlogy", 0.0, 2.0)?, [2.0_f64.ln(), 0.0]);
    assert_eq!(by("xlogy", 0.0, 0.0)?[0], 0.0);
    assert_eq!(by("special.xlog1py", 0.0, 1.0)?, [2.0_f64.ln(), 0.0]);
    assert_eq!(by("atan2", 0.0, 0.0)?, [0.0, 0.0]);
    assert_eq!(by("float_power", 0.0, 0.0)?[0], 0.0);
    // The remainder of -0.25 is that of the quotient 249: 0.001 is a little more than a thousandth.
    assert_eq!(by("remainder", -0.25, -0.001)?, [1.0, -249.0]);
    assert_eq!(real("special.i0e", &[0.0], 1)?, [0.0]);
    let logit = real("logit", &[-0.5, 0.25, 1.5], 1)?;
    assert!(logit[0].is_nan() && logit[2].is_nan() && (logit[1] - 16.0 / 3.0).abs() < 1e-12, "{logit:?}");
    Ok(())
}

/// A sum of nothing that was taken goes back, as in PyTorch, where all labels of a batch may be left out.
#[test]
fn what_is_taken_of_no_elements_requires_a_gradient() -> Result<()> {
    let mut x = AnyTensor::from(tensor![1.0, 2.0, 3.0]);
    x.requires_grad_(true)?;
    let none = AnyTensor::zeros(&[0], castiron::DType::I64)?;
    let taken = [x.index_select(0, &none)?, x.gather(0, &none)?, x.take(&none)?, x.index(&[(&none).into()])?];
    for y in taken {
        assert!(y.requires_grad());
        y.sum(None, false, None)?.backward()?;
    }
    Ok(())
}
