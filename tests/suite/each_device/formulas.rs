//! Formulas of one's own on every device: in loops and kernels, in expressions, and of every floating-point dtype. (Gradients: `tapes.rs`.)

use super::{Gives, On, has_data};
use castiron::{Device, Dyn, Float, Shape, Tensor, axis, bf16, f16, formula, fused, shape, tensor};

#[formula]
pub fn swish<F: Float>(x: F, beta: F) -> F {
    x / (1.0 + (-(beta * x)).exp())
}
/// Linear above a limit: another formula is called.
#[formula(method)]
fn gentle<F: Float>(x: F, limit: F) -> F {
    select(x.gt(limit), x, swish(x, 1))
}
#[formula(method)]
pub fn blend<F: Float>(x: F, other: F, by: F) -> F {
    let is_below = x.lt(other) & !by.le(0);
    select(is_below, x + by * (other - x), (x * other).abs().sqrt())
}
/// A loop over coefficients, with a condition that is the same for all elements.
#[formula]
fn polynomial<F: Float>(x: F) -> F {
    const COEFFICIENTS: [f64; 3] = [1.0, -0.5, 0.25];
    let mut sum = F::from(0.0);
    for (at, coefficient) in COEFFICIENTS.into_iter().enumerate() {
        sum = sum * x + coefficient;
        if at == 1 {
            sum -= 2;
        }
    }
    sum
}
/// Choices in a loop: more paths than could be recorded one by one.
#[formula]
fn escape<F: Float>(at: F, height: F) -> F {
    let (mut re, mut im, mut count) = (0.0 * at, 0.0 * height, 0.0 * at);
    for _ in 0..40 {
        let stays = (re * re + im * im).lt(4.0);
        let (next_re, next_im) = (re * re - im * im + at, 2.0 * re * im + height);
        (re, im) = (select(stays, next_re, re), select(stays, next_im, im));
        count += select(stays, 1.0, 0.0);
    }
    count
}
#[formula]
fn rows<F: Float>(x: F) -> F {
    x.tanh() + x.erf() * x.sigmoid() - x.sinh().maximum(0.25).log1p() % 0.75
}

#[formula]
fn normal<F: Float>(x: F) -> F {
    0.5 * (1.0 + (x / core::f64::consts::SQRT_2).erf())
}
/// The price of a call option (Black and Scholes): five operands.
#[formula]
pub fn option<F: Float>(price: F, strike: F, years: F, rate: F, volatility: F) -> F {
    let deviation = volatility * years.sqrt();
    let above = ((price / strike).log() + (rate + 0.5 * volatility * volatility) * years) / deviation;
    price * normal(above) - strike * (-rate * years).exp() * normal(above - deviation)
}
/// The same of operations.
pub fn option_of_operations<E: Float, S: Shape, D: Device>(
    price: &Tensor<E, S, D>,
    strike: &Tensor<E, S, D>,
    [years, rate, volatility]: [f64; 3],
) -> Tensor<E, S, D> {
    let normal = |x: &Tensor<E, S, D>| ((x * core::f64::consts::FRAC_1_SQRT_2).erf() + 1.0) * 0.5;
    let deviation = volatility * years.sqrt();
    let above = ((price / strike).log() + (rate + 0.5 * volatility * volatility) * years) * (1.0 / deviation);
    price * normal(&above) - strike * (-rate * years).exp() * normal(&(&above - deviation))
}
#[formula]
fn soft_by_x<F: Float>(x: F, scale: F) -> F {
    scale * (x * scale).sigmoid()
}
#[formula(derivative = (soft_by_x, _))]
pub fn soft<F: Float>(x: F, scale: F) -> F {
    (1.0 + (x * scale).exp()).log()
}
#[formula]
pub fn steep<F: Float>(x: F) -> F {
    2 * soft(x, 1)
}
#[formula]
fn not_its_derivative<F: Float>(x: F) -> F {
    2.5 * x
}
/// What it states is wrong.
#[formula(derivative = not_its_derivative)]
pub fn misjudged<F: Float>(x: F) -> F {
    x * x
}
#[formula(method)]
pub fn tangle<F: Float>(a: F, b: F, c: F, d: F) -> F {
    a * b + select(c.lt(d), c * d, c / d)
}
#[formula(method)]
pub fn knot<F: Float>(a: F, b: F, c: F, d: F, e: F, f: F) -> F {
    tangle(a, b, c, d) - e.sin() * f
}

/// Generic code has no clause for it.
fn layer<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    x.apply(swish, 0.5).gentle(y).blend(x, 0.25)
}
fn part<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    fused!(swish(x, y) * 2 + x.apply(blend, (y, 0.5)) - y.gentle(1))
}
/// Functions of the host are called before.
fn half(of: f64) -> f64 {
    of / 2.0
}
fn digits(places: usize, text: String) -> f64 {
    (places * text.len()) as f64 / 4.0
}
fn first<S: Shape, D: Device>(of: &Tensor<f64, S, D>, position: usize) -> f64 {
    of.elements()[position]
}

fn numbers<D: Device>() -> Tensor<f32, shape![2, 3], D> {
    tensor![[-1.5, 0.0, 3.0], [0.25, f32::NAN, f32::INFINITY]].on()
}

pub fn a_formula_gives_the_bits_of_the_row_that_it_repeats<D: Device>() {
    let x = numbers::<D>();
    let same = |a: Vec<f32>, b: Vec<f32>| assert_eq!(format!("{a:?}"), format!("{b:?}"));
    same(x.apply(swish, 1.0).elements(), x.silu().elements());
    let finite = x.select(axis![0], 0);
    same(finite.apply(polynomial, ()).elements(), (((&finite - 0.5 - 2.0) * &finite) + 0.25).elements());
    let by_rows = x.tanh() + x.erf() * x.sigmoid() - x.sinh().clamp_min(0.25).log1p() % 0.75;
    same(x.apply(rows, ()).elements(), by_rows.elements());
    assert_eq!(x.to::<bf16>().apply(swish, 1).elements()[..4], x.to::<bf16>().silu().elements()[..4]);
    assert_eq!(x.to::<f16>().apply(swish, 1).elements()[..4], x.to::<f16>().silu().elements()[..4]);
}

pub fn formulas_choose_and_call_each_other<D: Device>() {
    let (x, y) = (tensor![-2.0, 0.5, 4.0].on::<D>(), tensor![1.0, 1.0, 1.0].on::<D>());
    let [low, mid] = [-2.0, 0.5].map(|x: f32| tensor![x].silu().item());
    x.gentle(&y).gives([low, mid, 4.0]);
    x.blend(&y, 0.5).gives([-0.5_f32, 0.75, 2.0]);
    x.blend(0.5, 0.0).gives([1.0_f32, 0.5, 2.0_f32.sqrt()]);
    let plane = tensor![-2.5, -1.0, 0.25, 0.5].on::<D>();
    plane.apply(escape, 0).gives([1.0_f32, 40.0, 40.0, 5.0]);
    // A loop runs over elements side by side, here whole vectors and a rest, and gives what it gives one by one.
    let line = Tensor::<f64, shape![2, 75]>::from_fn(|[row, at]| (at as f64 - 50.0) / 20.0 - row as f64).on::<D>();
    let counts = line.t().apply(escape, 0.1);
    if has_data::<D>() {
        let alone = |x: f64| tensor![x].on::<D>().apply(escape, 0.1).elements()[0];
        assert_eq!(counts.elements(), line.t().elements().into_iter().map(alone).collect::<Vec<_>>());
        let halves = line.to::<bf16>();
        assert_eq!(halves.apply(escape, 0.5).elements(), halves.to::<f32>().apply(escape, 0.5).to::<bf16>().elements());
    }
}

pub fn operands_broadcast_and_promote<D: Device>() {
    let (x, y) = (numbers::<D>(), tensor![[1.0], [2.0]; f64].on::<D>());
    let both: Tensor<f64, shape![2, 3], D> = x.apply(swish, &y);
    assert_eq!(both.shape(), [2, 3]);
    // A zero-dim tensor and a scalar count by their category alone.
    let zero_dim = Tensor::<f64, ()>::full(1.0).on::<D>();
    let same: Tensor<f32, shape![2, 3], D> = x.apply(swish, &zero_dim);
    assert_eq!(same.shape(), [2, 3]);
    let whole = tensor![1, 2, 3].on::<D>();
    let mixed: Tensor<f32, shape![2, 3], D> = x.apply(blend, (&whole, 0.5));
    assert_eq!(mixed.stride(), [3, 1]);
    // Strided, empty, of rank 0, and sizes that do not broadcast.
    assert_eq!(x.t().apply(swish, 1).stride(), x.t().silu().stride());
    if has_data::<D>() {
        assert_eq!(format!("{:?}", x.t().apply(swish, 1).elements()), format!("{:?}", x.t().silu().elements()));
        assert_eq!(format!("{:?}", same.elements()), format!("{:?}", x.apply(swish, 1).elements()));
    }
    let empty = Tensor::<f32, (Dyn,)>::zeros_sized([0]).on::<D>();
    assert_eq!(empty.apply(swish, 1).numel(), 0);
    Tensor::<f32, ()>::full(0.0).on::<D>().apply(polynomial, ()).gives([0.25]);
    let other = Tensor::<f32, (Dyn,)>::zeros_sized([2]).on::<D>();
    assert!(Tensor::<f32, (Dyn,)>::zeros_sized([3]).on::<D>().try_apply(swish, &other).is_err());
}

pub fn formulas_are_parts_of_expressions<D: Device>() {
    let (x, y) = (tensor![-2.0, 0.5, 4.0; f64].on::<D>(), tensor![1.0, -1.0, 2.0; f64].on::<D>());
    let apart = x.apply(swish, &y) * 2 + x.blend(&y, 0.5) - y.gentle(1);
    assert_eq!(part(&x, &y).elements(), apart.elements());
    let (halves, others) = (x.to::<bf16>(), y.to::<bf16>());
    let apart = halves.apply(swish, &others) * 2 + halves.blend(&others, 0.5) - others.gentle(1);
    assert_eq!(part(&halves, &others).elements(), apart.elements());
    // A reduction at the end.
    assert_eq!(fused!(x.apply(swish, y).sum()).elements(), x.apply(swish, &y).sum().elements());
    assert_eq!(layer(&x, &y).shape(), [3]);
    // Called like functions, also with expressions.
    let (column, doubled) = (tensor![[1.0], [-1.0]; f64].on::<D>(), &x * 2);
    let apart = doubled.apply(swish, 0.5) - column.blend(&x.sin(), &y) + column.apply(polynomial, ());
    let called: Tensor<f64, shape![2, 3], D> = fused! {
        let all = polynomial(column);
        swish(x * 2, 0.5) - self::blend(column, x.sin(), y) + all
    };
    assert_eq!(called.elements(), apart.elements());
    let (number, scaled) = (3.0, &x * 1.5 + 0.5 + -2.0);
    let offset = |at: f64| at - 1.0;
    assert_eq!(fused!(x * half(number) + half(1.0) + self::first(&x, 0)).elements(), scaled.elements());
    let (places, text) = (2, "abc".to_owned());
    assert_eq!(
        fused!(x * digits(places, text) + half(1.0) + { digits(places - 1, String::new()) - 2.0 }).elements(),
        scaled.elements()
    );
    assert_eq!(text, "abc");
    assert_eq!(fused!(x * half(number + 0.0) + offset(1.5) + offset(-1.0)).elements(), scaled.elements());
}

/// Four to six operands: tensors of several dtypes and shapes, expressions and scalars.
pub fn formulas_of_many_operands<D: Device>() {
    let (x, y) = (tensor![1.0, 2.0, 4.0].on::<D>(), tensor![[3.0], [0.5]; f64].on::<D>());
    let four: Tensor<f64, shape![2, 3], D> = x.tangle(2, &y, 1.5);
    four.gives([4.0, 6.0, 10.0, 2.75, 4.75, 8.75]);
    let same: Tensor<f64, shape![2, 3], D> = fused!(tangle(x, 2, y, 1.5));
    same.gives([4.0, 6.0, 10.0, 2.75, 4.75, 8.75]);
    let whole = tensor![0, 1, 2].on::<D>();
    let six: Tensor<f32, shape![3], D> = x.knot(&x, &x, &x, &whole, 0.5);
    let parts = &x * &x + 1.0 - whole.to::<f32>().sin() * 0.5;
    if has_data::<D>() {
        assert_eq!(six.elements(), parts.elements());
        assert_eq!(x.to::<bf16>().knot(2, 2, 2, 0, 0).elements(), (x.to::<bf16>() * 2 + 1).elements());
    }
    assert_eq!(x.t().tangle(&x, 1, 1).stride(), [1]);
    let table = Tensor::<f32, shape![2, 3]>::ones().on::<D>();
    assert_eq!(table.t().tangle(table.t(), table.t(), 1).stride(), [1, 3]);
    let (price, strike) = (tensor![90.0, 100.0, 110.0; f64].on::<D>(), tensor![100.0, 100.0, 95.0; f64].on::<D>());
    let prices = price.apply(option, (&strike, 0.5, 0.03, 0.2));
    let own = option_of_operations(&price, &strike, [0.5, 0.03, 0.2]);
    if has_data::<D>() {
        assert!((prices - own).abs().elements().iter().all(|error| *error < 1e-12));
    }
    let unequal = Tensor::<f32, (Dyn,)>::zeros_sized([2]).on::<D>();
    let of = Tensor::<f32, (Dyn,)>::zeros_sized([3]).on::<D>();
    assert!(of.try_apply(tangle, (&of, &unequal, 1)).is_err());
    assert!(of.try_apply(tangle, (1, 1, &unequal)).is_err());
}

/// What a formula calls decides how it is computed, too.
pub fn callers_run_side_by_side_as_what_they_call<D: Device>() {
    use castiron::formula::Formula;
    fn is_side_by_side<F: Formula>(_: fn() -> F) -> bool {
        F::SIDE_BY_SIDE
    }
    // (`sin` has a path for most numbers, `polynomial` a loop.)
    assert!(is_side_by_side(waves) && is_side_by_side(of_waves) && is_side_by_side(of_a_loop));
    assert!(!is_side_by_side(doubled) && !is_side_by_side(of_doubled));
    let x = Tensor::<f32, shape![75]>::from_fn(|[at]| at as f32 * 0.3 - 9.0).on::<D>();
    assert_eq!(x.apply(of_waves, ()).shape(), [75]);
    if has_data::<D>() {
        assert_eq!(x.apply(of_waves, ()).elements(), (x.apply(waves, ()) * 2).elements());
    }
}
#[formula]
fn waves<F: Float>(x: F) -> F {
    x.sin()
}
#[formula]
fn of_waves<F: Float>(x: F) -> F {
    self::waves(x) * 2
}
#[formula]
fn of_a_loop<F: Float>(x: F) -> F {
    of_doubled(x) + polynomial(x)
}
#[formula]
fn doubled<F: Float>(x: F) -> F {
    2 * x
}
#[formula]
fn of_doubled<F: Float>(x: F) -> F {
    doubled(x) + 1
}

/// A formula for each function that numbers have.
macro_rules! of_each_row {
    ($($name:ident)*; $($two:ident)*) => {
        mod of_row {
            use castiron::formula;
            $(#[formula]
            pub fn $name<F: Float>(x: F) -> F {
                x.$name()
            })*
            $(#[formula]
            pub fn $two<F: Float>(x: F, y: F) -> F {
                x.$two(y)
            })*
        }
        pub fn a_formula_of_each_row_gives_its_bits<D: Device>() {
            // (In `f64`: the host reads some functions of `f32` from tables, which changes the last digit.)
            let line = Tensor::<f64, shape![70]>::from_fn(|[at]| at as f64 * 0.37 - 9.0);
            let odd = tensor![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e-30, 3e8; f64];
            let same = |name: &str, a: Vec<f64>, b: Vec<f64>| assert_eq!(format!("{a:?}"), format!("{b:?}"), "{name}");
            let other = Tensor::<f64, shape![70]>::from_fn(|[at]| (at as f64).sin() * 2.0);
            let (line, odd, other) = (line.on::<D>(), odd.on::<D>(), other.on::<D>());
            $(
                same(stringify!($name), line.apply(of_row::$name, ()).elements(), line.$name().elements());
                same(stringify!($name), odd.apply(of_row::$name, ()).elements(), odd.$name().elements());
            )*
            $(same(stringify!($two), line.apply(of_row::$two, &other).elements(), line.$two(&other).elements());)*
        }
        #[cfg(feature = "grad")]
        pub fn a_formula_of_each_row_has_its_gradient<D: Device>() {
            use castiron::grad::Grad;
            let x = Tensor::<f64, shape![40]>::from_fn(|[at]| at as f64 * 0.19 - 3.7).on::<D>();
            let y = Tensor::<f64, shape![40]>::from_fn(|[at]| (at as f64 * 0.7).cos() * 2.0).on::<D>();
            let near = |name: &str, a: Tensor<f64, shape![40], D>, b: Tensor<f64, shape![40], D>| {
                for (a, b) in a.elements().into_iter().zip(b.elements()) {
                    let agree = a == b || (a - b).abs() <= 1e-9 * (1.0 + b.abs()) || (a.is_nan() && b.is_nan());
                    assert!(agree, "{name}: {a}, not {b}");
                }
            };
            $(
                let own = x.value_and_grad((), |x, ()| x.apply(of_row::$name, ()).sum()).1;
                near(stringify!($name), own, x.value_and_grad((), |x, ()| x.$name().sum()).1);
            )*
            $(
                let own = x.value_and_grad((&y,), |x, (y,)| x.apply(of_row::$two, y).sum()).1;
                near(stringify!($two), own, x.value_and_grad((&y,), |x, (y,)| x.$two(y).sum()).1);
            )*
        }
    };
}
of_each_row! {
    exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinc
    sigmoid erf erfc erfinv lgamma digamma i0
    floor ceil trunc round frac sign relu silu mish gelu softsign logsigmoid;
    maximum minimum pow atan2 hypot copysign fmod xlogy
}

each_device! {
    also_without_data: callers_run_side_by_side_as_what_they_call, formulas_choose_and_call_each_other, operands_broadcast_and_promote, formulas_of_many_operands;
    with_data: a_formula_gives_the_bits_of_the_row_that_it_repeats, formulas_are_parts_of_expressions, a_formula_of_each_row_gives_its_bits;
}
