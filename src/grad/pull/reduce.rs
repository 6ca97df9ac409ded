//! Reductions.

use super::{Gradients, OP, by_dtype, class, elements, kept};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Complex, DType, Dtype, MachineFloat, Parameters, Tuned, math};
use crate::error::{Result, invalid};
use crate::grad::tape::{Kept, Layout, Operand};
use crate::layout::dims::Dims;
use crate::layout::strides;
use crate::ops;
use crate::ops::arguments::{Indexing, Sought};
use crate::ops::kernel::Combining;
use crate::ops::losses::Losing;
use crate::ops::reduce::{Mean, ReduceSlope, Sum};
use crate::storage::{View, ViewMut};

/// Formulas of a number, two others and a constant, over real and complex numbers.
macro_rules! formulas {
    ($($(#[$doc:meta])* $name:ident: |$x:ident, $y:ident, $z:ident, $given:ident| $real:expr $(, |$a:ident, $b:ident, $c:ident, $p:ident| $complex:expr)?;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name;
        impl Tuned for $name {
            const IS_MEMORY_BOUND: bool = true;
            #[inline(always)]
            fn real<T: MachineFloat>($x: T, [$y, $z, $given]: Parameters<T>) -> T {
                let _ = ($y, $z, $given);
                $real
            }
            $(
                #[inline(always)]
                fn complex<T: MachineFloat>($a: Complex<T>, [$b, $c, $p]: Parameters<Complex<T>>) -> Complex<T> {
                    let _ = ($b, $c, $p);
                    $complex
                }
            )?
        }
    )*};
}
pub(super) use formulas;

#[inline(always)]
fn exp<T: MachineFloat>(x: T) -> T {
    T::elementary::<math::Exp>(x)
}
#[inline(always)]
fn sign<T: MachineFloat>(x: T) -> T {
    if x > T::zero() {
        T::one()
    } else if x < T::zero() {
        -T::one()
    } else {
        x
    }
}
#[inline(always)]
fn direction<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let size = z.re.hypot(z.im);
    if size == T::zero() { z } else { z / size }
}
#[inline(always)]
fn power<T: MachineFloat>(x: T, p: T) -> T {
    T::elementary_of_two::<math::Pow>(x, p)
}

formulas! {
    /// The gradient where the element is a number.
    WhereNumber: |x, g, _z, _p| if x.is_nan() { T::zero() } else { g }, |x, g, _z, _p| if x.re.is_nan() || x.im.is_nan() { Complex::default() } else { g };
    /// 1 for numbers, 0 for NaN.
    IsNumber: |x, _y, _z, _p| if x.is_nan() { T::zero() } else { T::one() },
        |x, _y, _z, _p| if x.re.is_nan() || x.im.is_nan() { Complex::default() } else { Complex::new(T::one(), T::zero()) };
    /// The gradient divided by a count.
    PerCount: |g, count, _z, _p| g / count, |g, count, _z, _p| g / count.re;
    /// `exp(x - y) * g`, 0 where all summands are.
    Share: |x, y, g, _p| if y == T::neg_infinity() { T::zero() } else { exp(x - y) * g },
        |x, y, g, _p| { let d = x - y; Complex::from_polar(exp(d.re), -d.im) * g };
    /// The factor of an element in a product: its inverse, or whether it is the only zero.
    ProductFactor: |x, zeros, _z, _p| {
        if x == T::zero() {
            if zeros == T::one() { T::one() } else { T::zero() }
        } else if zeros == T::zero() { x.recip() } else { T::zero() }
    }, |x, zeros, _z, _p| {
        let one = Complex::new(T::one(), T::zero());
        if x == Complex::default() {
            if zeros == one { one } else { Complex::default() }
        } else if zeros == Complex::default() { one / x } else { Complex::default() }
    };
    /// 1 for zeros.
    IsZero: |x, _y, _z, _p| if x == T::zero() { T::one() } else { T::zero() },
        |x, _y, _z, _p| if x == Complex::default() { Complex::new(T::one(), T::zero()) } else { Complex::default() };
    /// The element, 1 for zeros.
    OneForZero: |x, _y, _z, _p| if x == T::zero() { T::one() } else { x },
        |x, _y, _z, _p| if x == Complex::default() { Complex::new(T::one(), T::zero()) } else { x };
    /// `g * conj(x)`
    TimesConjugate: |g, x, _z, _p| g * x, |g, x, _z, _p| g * x.conj();
    /// 1 where an element is the extreme.
    IsExtreme: |x, y, _z, _p| if x == y || (x.is_nan() && y.is_nan()) { T::one() } else { T::zero() };
    /// 1 where an element's magnitude is the norm.
    IsLongest: |x, y, _z, _p| if x.abs() == y || (x.is_nan() && y.is_nan()) { T::one() } else { T::zero() },
        |x, y, _z, _p| if x.re.hypot(x.im) == y.re { Complex::new(T::one(), T::zero()) } else { Complex::default() };
    /// `sign(x) * share * g`
    Signed: |x, share, g, _p| sign(x) * share * g, |x, share, g, _p| direction(x) * share.re * g.re;
    /// The gradient of a deviation from the mean: `(x - mean) * g`.
    Deviation: |x, mean, g, _p| (x - mean) * g, |x, mean, g, _p| (x - mean) * g.re;
    /// `g / (2 y)`, 0 where `y` is.
    HalfInverse: |g, y, _z, _p| if y == T::zero() { T::zero() } else { g / (y + y) },
        |g, y, _z, _p| if y.re == T::zero() { Complex::default() } else { g / (y.re + y.re) };
    /// The gradient of a norm of order `p` by an element.
    OfNorm: |x, y, g, p| {
        if x == T::zero() || y == T::zero() {
            T::zero()
        } else if p == T::one() {
            sign(x) * g
        } else if p == T::lit(2.0) {
            x / y * g
        } else {
            sign(x) * power(x.abs() / y, p - T::one()) * g
        }
    }, |x, y, g, p| {
        let (y, g, p) = (y.re, g.re, p.re);
        let size = x.re.hypot(x.im);
        if size == T::zero() || y == T::zero() {
            Complex::default()
        } else if p == T::one() {
            direction(x) * g
        } else if p == T::lit(2.0) {
            x * (g / y)
        } else {
            direction(x) * (power(size / y, p - T::one()) * g)
        }
    };
}

/// A tensor times a number.
pub(super) fn scaled<E: Dtype, D: Device>(x: &Erased<'_, E, D>, factor: f64) -> Result<Owned<E, D>> {
    x.map2::<E, E>(OP, Losing::<ScaledBy>::new([factor, 0.0]), x)
}
/// `x * p`, the second operand not being read.
struct ScaledBy;
impl Tuned for ScaledBy {
    const IS_MEMORY_BOUND: bool = true;
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [_, p, _]: Parameters<T>) -> T {
        x * p
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(x: Complex<T>, [_, p, _]: Parameters<Complex<T>>) -> Complex<T> {
        x * p
    }
}

/// A reduced tensor with the axes of the mask put back, of stride 0.
fn spread<'a, E: Dtype, D: Device>(x: &'a Erased<'_, E, D>, sizes: &'a [usize], mask: u32) -> Result<Erased<'a, E, D>> {
    x.viewed(OP, sizes.len(), |own, view| {
        view.sizes.copy_from_slice(sizes);
        let mut from = own.strides.iter();
        for (axis, stride) in view.strides.iter_mut().enumerate() {
            *stride = if mask >> axis & 1 == 1 { 0 } else { from.next().copied().unwrap_or(0) };
        }
        Ok(own.offset)
    })
}

pub(super) fn pull<D: Device>(
    slope: ReduceSlope,
    x: &Operand<D::Storage>,
    mask: u32,
    results: &[Option<Kept<D::Storage>>; 2],
    given: [Option<D::Storage>; 2],
    layout: Layout,
    gradients: &mut Gradients<D>,
) -> Result<()> {
    by_dtype!(x.dtype(), E => of::<E, D>(slope, x, mask, results, given, layout, gradients))
}

fn of<E: Dtype, D: Device>(
    slope: ReduceSlope,
    x: &Operand<D::Storage>,
    mask: u32,
    results: &[Option<Kept<D::Storage>>; 2],
    given: [Option<D::Storage>; 2],
    layout: Layout,
    gradients: &mut Gradients<D>,
) -> Result<()> {
    let sizes = x.sizes();
    let count: usize = (0..sizes.len()).filter(|&axis| mask >> axis & 1 == 1).map(|axis| sizes[axis]).product();
    if sizes.contains(&0) {
        return Ok(());
    }
    let dense = layout.sizes.row_major();
    // Gradients and results in the dtype of the way back; those of norms of complex numbers are real.
    let [first, second] = &given;
    let of_result = |g: &Option<D::Storage>, dtype: DType| -> Result<Option<Owned<E, D>>> {
        let Some(g) = g else { return Ok(None) };
        if class(dtype) == E::DTYPE {
            return Ok(Some(Erased::of(View::new(g, 0, &layout.sizes, &dense)).share()));
        }
        let real = Erased::<E::RealDtype, D>::of(View::new(g, 0, &layout.sizes, &dense));
        real.map1_dense::<E>(OP, crate::ops::kernel::Casting).map(Some)
    };
    let result = |at: usize, dtype: DType| match &results[at] {
        Some(of) => kept::<E, D>(of, dtype, &layout.sizes, &dense).map(|of| of.share()),
        None => invalid(OP, "a result was not kept".to_owned()),
    };
    match slope {
        ReduceSlope::Sum => {
            let Some(g) = of_result(first, layout.dtype)? else { return Ok(()) };
            gradients.add::<E>(x, spread(&g, &sizes, mask)?)
        }
        ReduceSlope::Mean => {
            let Some(g) = of_result(first, layout.dtype)? else { return Ok(()) };
            let g = scaled(&g, 1.0 / count as f64)?;
            gradients.add::<E>(x, spread(&g, &sizes, mask)?)
        }
        ReduceSlope::NanSum | ReduceSlope::NanMean => {
            let Some(mut g) = of_result(first, layout.dtype)? else { return Ok(()) };
            let elements = elements::<E, D>(x)?;
            if let ReduceSlope::NanMean = slope {
                let counts = elements.map2::<E, E>(OP, Losing::<IsNumber>::new([0.0; 2]), &elements)?;
                let counts = counts.reduce(Sum, mask, false)?.retyped::<E>();
                g = g.map2::<E, E>(OP, Losing::<PerCount>::new([0.0; 2]), &counts)?;
            }
            let g = spread(&g, &sizes, mask)?;
            gradients.add::<E>(x, elements.map2::<E, E>(OP, Losing::<WhereNumber>::new([0.0; 2]), &g)?)
        }
        ReduceSlope::Prod => {
            let Some(g) = of_result(first, layout.dtype)? else { return Ok(()) };
            let elements = elements::<E, D>(x)?;
            if D::is_tracked(elements.storage()) && D::has::<E>(elements.view(), Sought::Zero)? {
                super::expect_no_zeros::<D>("prod", elements.storage())?;
            }
            let zeros = elements.map2::<E, E>(OP, Losing::<IsZero>::new([0.0; 2]), &elements)?;
            let zeros = zeros.reduce(Sum, mask, false)?.retyped::<E>();
            let others = elements.map2::<E, E>(OP, Losing::<OneForZero>::new([0.0; 2]), &elements)?;
            let others = others.reduce(ops::reduce::Prod, mask, false)?.retyped::<E>();
            let factors =
                elements.map2::<E, E>(OP, Losing::<ProductFactor>::new([0.0; 2]), &spread(&zeros, &sizes, mask)?)?;
            let times = Combining::<ops::mul, E>::new();
            let products = factors.map2::<E, E>(OP, times, &spread(&others, &sizes, mask)?)?;
            let g = spread(&g, &sizes, mask)?;
            gradients.add::<E>(x, g.map2::<E, E>(OP, Losing::<TimesConjugate>::new([0.0; 2]), &products)?)
        }
        ReduceSlope::LogSumExp => {
            let Some(g) = of_result(first, layout.dtype)? else { return Ok(()) };
            let y = result(0, layout.dtype)?;
            let elements = elements::<E, D>(x)?;
            let (y, g) = (spread(&y, &sizes, mask)?, spread(&g, &sizes, mask)?);
            gradients.add::<E>(x, three::<Share, E, D>(&elements, &y, &g, 0.0)?)
        }
        ReduceSlope::Extreme => {
            let Some(g) = of_result(first, layout.dtype)? else { return Ok(()) };
            extreme::<E, D>(x, mask, &result(0, layout.dtype)?, &g, gradients)
        }
        ReduceSlope::MinMax => {
            for (at, g) in given.iter().enumerate() {
                let Some(g) = of_result(g, layout.dtype)? else { continue };
                extreme::<E, D>(x, mask, &result(at, layout.dtype)?, &g, gradients)?;
            }
            Ok(())
        }
        ReduceSlope::ArgExtreme => {
            let Some(g) = of_result(second, layout.dtype)? else { return Ok(()) };
            let Some(positions) = &results[0] else { return invalid(OP, "a result was not kept".to_owned()) };
            at_positions::<E, D>(x, mask, positions, &g, gradients)
        }
        ReduceSlope::Variance { correction, is_root } => {
            let elements = elements::<E, D>(x)?;
            let mean = elements.reduce(Mean, mask, false)?.retyped::<E>();
            if let Some(mut g) = of_result(first, x.dtype().to_real())? {
                if is_root {
                    let y = result(0, x.dtype().to_real())?;
                    g = g.map2::<E, E>(OP, Losing::<HalfInverse>::new([0.0; 2]), &y)?;
                }
                let freedom = (count as f64 - correction).max(0.0);
                let g = scaled(&g, 2.0 / freedom)?;
                let (mean, g) = (spread(&mean, &sizes, mask)?, spread(&g, &sizes, mask)?);
                gradients.add::<E>(x, three::<Deviation, E, D>(&elements, &mean, &g, 0.0)?)?;
            }
            if let Some(g) = of_result(second, x.dtype())? {
                let g = scaled(&g, 1.0 / count as f64)?;
                gradients.add::<E>(x, spread(&g, &sizes, mask)?)?;
            }
            Ok(())
        }
        ReduceSlope::Norm { ord } => {
            let Some(g) = of_result(first, layout.dtype)? else { return Ok(()) };
            if ord == 0.0 {
                return Ok(());
            }
            let y = result(0, layout.dtype)?;
            let elements = elements::<E, D>(x)?;
            let (y, g) = (spread(&y, &sizes, mask)?, spread(&g, &sizes, mask)?);
            if ord.is_finite() {
                return gradients.add::<E>(x, three::<OfNorm, E, D>(&elements, &y, &g, ord)?);
            }
            let longest = elements.map2::<E, E>(OP, Losing::<IsLongest>::new([0.0; 2]), &y)?;
            let counts = longest.reduce(Sum, mask, false)?.retyped::<E>();
            let shares =
                longest.map2::<E, E>(OP, Losing::<PerCount>::new([0.0; 2]), &spread(&counts, &sizes, mask)?)?;
            gradients.add::<E>(x, three::<Signed, E, D>(&elements, &shares, &g, 0.0)?)
        }
        ReduceSlope::Missing | ReduceSlope::Flat => Ok(()),
    }
}

/// A formula of three tensors of the same sizes and a constant.
pub(super) fn three<F: Tuned, E: Dtype, D: Device>(
    x: &Erased<'_, E, D>,
    y: &Erased<'_, E, D>,
    z: &Erased<'_, E, D>,
    given: f64,
) -> Result<Owned<E, D>> {
    three_by(x, &|to| D::map3::<E, E, E, E>(Losing::<F>::new([given, 0.0]), x.view(), y.view(), z.view(), to))
}
/// The result of a loop with the strides of an operand.
fn three_by<E: Dtype, D: Device>(
    x: &Erased<'_, E, D>,
    run: &dyn Fn(&[usize]) -> Result<D::Storage>,
) -> Result<Owned<E, D>> {
    let mut to = x.dims();
    strides::write_preserved(x.sizes(), x.strides(), &mut to);
    if !strides::is_dense(x.sizes(), &to) {
        to = x.dims().row_major();
    }
    Ok(Erased::fresh(run(&to)?, x.dims(), to))
}

/// The gradient is shared evenly by the elements that are the extreme.
fn extreme<E: Dtype, D: Device>(
    x: &Operand<D::Storage>,
    mask: u32,
    y: &Owned<E, D>,
    g: &Owned<E, D>,
    gradients: &mut Gradients<D>,
) -> Result<()> {
    let elements = elements::<E, D>(x)?;
    let sizes = x.sizes();
    let is = elements.map2::<E, E>(OP, Losing::<IsExtreme>::new([0.0; 2]), &spread(y, &sizes, mask)?)?;
    let counts = is.reduce(Sum, mask, false)?.retyped::<E>();
    let g = g.map2::<E, E>(OP, Losing::<PerCount>::new([0.0; 2]), &counts)?;
    gradients.add::<E>(x, is.map2::<E, E>(OP, Combining::<ops::mul, E>::new(), &spread(&g, &sizes, mask)?)?)
}

/// The gradient goes to the element at a position along the reduced axes.
fn at_positions<E: Dtype, D: Device>(
    x: &Operand<D::Storage>,
    mask: u32,
    positions: &Kept<D::Storage>,
    g: &Owned<E, D>,
    gradients: &mut Gradients<D>,
) -> Result<()> {
    let sizes = x.sizes();
    let axes: Vec<usize> = (0..sizes.len()).filter(|&axis| mask >> axis & 1 == 1).collect();
    let numel: usize = sizes.iter().product();
    // Neighbouring axes count as one.
    let (Some(&axis), Some(&last)) = (axes.first(), axes.last()) else {
        return gradients.add::<E>(x, g.reshape(OP, &sizes)?.share());
    };
    if last - axis + 1 != axes.len() {
        return invalid(OP, "positions along axes that lie apart have no gradient here".to_owned());
    }
    let mut shape = Dims::known(&sizes[..sizes.len() - (last - axis)]);
    shape[axis] = sizes[axis..=last].iter().product();
    shape[axis + 1..].copy_from_slice(&sizes[last + 1..]);
    let mut kept_sizes = shape;
    kept_sizes[axis] = 1;
    let dense = kept_sizes.row_major();
    let index = kept::<i64, D>(positions, DType::I64, &kept_sizes, &dense)?;
    let g = g.reshape(OP, &kept_sizes)?;
    let strides = shape.row_major();
    let mut sum = D::zeroed::<E>(Some(g.storage()), numel)?;
    let out = ViewMut::<_, E>::new(&mut sum, 0, &shape, &strides);
    D::scatter_with::<E>(
        Indexing { op: OP, axis, wraps: false },
        Combining::<ops::add, E>::new(),
        index.view(),
        g.view(),
        out,
    )?;
    let sum = Erased::<E, D>::dense(sum, shape);
    gradients.add::<E>(x, sum.reshape(OP, &sizes)?)
}
