//! Reductions.

use super::lanes::products_beside;
use super::moves::reversed;
use super::ways::unlike;
use super::{Cotangents, Gradients, OP, class, elements, in_class, result};
use crate::composite::{Erased, Owned, expect_within};
use crate::device::{Backend, Device};
use crate::dtype::{Complex, DType, Dtype, MachineFloat, Parameters, Tuned, math};
use crate::error::{Result, invalid};
use crate::grad::rule::Rule;
use crate::grad::tape::{Kept, Layout, Operand};
use crate::layout::dims::Dims;
use crate::layout::strides;
use crate::ops;
use crate::ops::arguments::{Indexing, Sought};
use crate::ops::kernel::Combining;
use crate::ops::losses::Losing;
use crate::ops::reduce::{Mean, ReduceSlope, Reducer, Sum, VectorNorm};
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
    /// The gradient of a complex number, of the derivatives by its parts and the gradient of the result.
    ByParts: |re, _im, g, _p| re * g, |re, im, g, _p| Complex::new(g.re * re.re + g.im * re.im, g.re * im.re + g.im * im.im);
    /// 1 where an element is the extreme.
    IsExtreme: |x, y, _z, _p| if x == y || (x.is_nan() && y.is_nan()) { T::one() } else { T::zero() };
    /// 1 where an element's magnitude is the norm.
    IsLongest: |x, y, _z, _p| if x.abs() == y || (x.is_nan() && y.is_nan()) { T::one() } else { T::zero() },
        |x, y, _z, _p| {
            let size = T::elementary_of_two::<math::Hypot>(x.re, x.im);
            if size == y.re { Complex::new(T::one(), T::zero()) } else { Complex::default() }
        };
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
/// The same of a view, with its strides.
pub(super) fn by_factor<E: Dtype, D: Device>(x: View<'_, D::Storage, E>, factor: f64) -> Result<D::Storage> {
    D::map2::<E, E, E>(Losing::<ScaledBy>::new([factor, 0.0]), x, x, x.strides)
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
fn spread<'a, E: Dtype, D: Device>(x: &'a Erased<'_, E, D>, sizes: Dims, mask: u32) -> Result<Erased<'a, E, D>> {
    x.viewed(OP, sizes.len(), |own, view| {
        view.sizes.copy_from_slice(&sizes);
        let mut from = own.strides.iter();
        for (axis, stride) in view.strides.iter_mut().enumerate() {
            *stride = if mask >> axis & 1 == 1 { 0 } else { from.next().copied().unwrap_or(0) };
        }
        Ok(own.offset)
    })
}

/// A reduction on the way back.
struct Reduction<'a, B> {
    slope: ReduceSlope,
    numbers: [f64; 2],
    x: &'a Operand<B>,
    sizes: Dims,
    mask: u32,
    /// Number of elements that a result is reduced of.
    count: f64,
    results: &'a [Option<Kept<B>>; 2],
    layout: Layout,
    given: [Option<B>; 2],
}
impl<'a, B: 'static> Reduction<'a, B> {
    /// `None` where there is nothing to do.
    fn of(rule: &'a Rule<B>, mut given: Cotangents<B>) -> Result<Option<Self>> {
        let &Rule::Reduce { slope, numbers, ref x, mask, ref results, .. } = rule else { return unlike() };
        let [first, second, ..] = given.whole()?;
        let given = [first.take(), second.take()];
        let sizes = x.sizes();
        if sizes.contains(&0) || given.iter().all(Option::is_none) {
            return Ok(None);
        }
        let count: usize = (0..sizes.len()).filter(|&axis| mask >> axis & 1 == 1).map(|axis| sizes[axis]).product();
        let layout = rule.layout();
        Ok(Some(Reduction { slope, numbers, x, sizes, mask, count: count as f64, results, layout, given }))
    }
    /// The gradient of a result of this dtype, in the dtype of the way back; those of norms of complex numbers are real.
    fn gradient<E: Dtype, D: Device + Backend<Storage = B>>(
        &mut self,
        at: usize,
        dtype: DType,
    ) -> Result<Option<Owned<E, D>>> {
        let Some(g) = self.given[at].take() else { return Ok(None) };
        let sizes = self.layout.sizes;
        let layout = Layout { dtype, sizes, strides: sizes.row_major() };
        if class(dtype) == E::DTYPE {
            return Ok(Some(Erased::fresh(in_class::<E, D>(g, &layout)?, sizes, layout.strides)));
        }
        let real = Owned::<E::RealDtype, D>::fresh(in_class::<E::RealDtype, D>(g, &layout)?, sizes, layout.strides);
        real.map1_dense::<E>(OP, crate::ops::kernel::Casting).map(Some)
    }
    /// That of the first result.
    fn first<E: Dtype, D: Device + Backend<Storage = B>>(&mut self) -> Result<Option<Owned<E, D>>> {
        self.gradient(0, self.layout.dtype)
    }
    /// A result of this dtype.
    fn result<E: Dtype, D: Device + Backend<Storage = B>>(&self, at: usize, dtype: DType) -> Result<Erased<'a, E, D>> {
        let sizes = &self.layout.sizes;
        let Some(of) = &self.results[at] else { return invalid(OP, "a result was not kept".to_owned()) };
        if class(dtype) == E::DTYPE {
            return result::<E, D>(of, dtype, [sizes, &sizes.row_major()]);
        }
        let real = result::<E::RealDtype, D>(of, dtype, [sizes, &sizes.row_major()])?;
        real.map1_dense::<E>(OP, crate::ops::kernel::Casting)
    }
    /// A reduced tensor with the reduced axes put back.
    fn spread<'b, E: Dtype, D: Device + Backend<Storage = B>>(
        &self,
        x: &'b Erased<'_, E, D>,
    ) -> Result<Erased<'b, E, D>> {
        spread(x, self.sizes, self.mask)
    }
    /// For each element the product of the others that its result is reduced of, without a division: it has a derivative where elements
    /// are 0.
    fn products_of_others<E: Dtype, D: Device + Backend<Storage = B>>(
        &self,
        x: &Erased<'_, E, D>,
    ) -> Result<Owned<E, D>> {
        let is_reduced = |axis: &usize| self.mask >> axis & 1 == 1;
        let (reduced, left): (Vec<usize>, Vec<usize>) = (0..x.rank()).partition(is_reduced);
        let order = [left, reduced].concat();
        let lanes = x.permute(OP, &order)?;
        let len: usize = (0..x.rank()).filter(is_reduced).map(|axis| x.sizes()[axis]).product();
        let flat = lanes.reshape(OP, &[x.numel() / len, len])?;
        let before = products_beside(&flat, 1, false)?;
        let behind = reversed(&products_beside(&flat, 1, true)?, 1)?;
        let others = before.map2::<E, E>(OP, Combining::<ops::mul, E>::new(), &behind)?;
        let mut back = vec![0; order.len()];
        for (to, &from) in order.iter().enumerate() {
            back[from] = to;
        }
        Ok(others.reshape(OP, lanes.sizes())?.permute(OP, &back)?.share())
    }
    fn reduced<E: Dtype, D: Device + Backend<Storage = B>>(
        &self,
        x: &Erased<'_, E, D>,
        reducer: impl Reducer<E>,
    ) -> Result<Owned<E, D>> {
        Ok(x.reduce(reducer, self.mask, false)?.retyped::<E>())
    }
}
/// `name: |of, gradients| run`: ways back through reductions, run where a gradient came back and there are elements.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident: |$of:ident, $gradients:ident| $run:block)*) => {$(
        $(#[$doc])*
        pub(super) fn $name<E: Dtype, D: Device>(
            rule: &Rule<D::Storage>,
            given: Cotangents<D::Storage>,
            $gradients: &mut Gradients<D::Storage>,
        ) -> Result<()> {
            let Some(mut $of) = Reduction::of(rule, given)? else { return Ok(()) };
            $run
        }
    )*};
}
reductions! {
    sum: |of, gradients| {
        let Some(mut g) = of.first::<E, D>()? else { return Ok(()) };
        if let ReduceSlope::Mean = of.slope {
            g = scaled(&g, 1.0 / of.count)?;
        }
        gradients.add::<E, D>(of.x, of.spread(&g)?)
    }
    nan_sum: |of, gradients| {
        let Some(mut g) = of.first::<E, D>()? else { return Ok(()) };
        let elements = elements::<E, D>(of.x)?;
        if let ReduceSlope::NanMean = of.slope {
            let counts = elements.map2::<E, E>(OP, Losing::<IsNumber>::new([0.0; 2]), &elements)?;
            let counts = of.reduced(&counts, Sum)?;
            g = g.map2::<E, E>(OP, Losing::<PerCount>::new([0.0; 2]), &counts)?;
        }
        let g = of.spread(&g)?;
        gradients.add::<E, D>(of.x, elements.map2::<E, E>(OP, Losing::<WhereNumber>::new([0.0; 2]), &g)?)
    }
    prod: |of, gradients| {
        let Some(g) = of.first::<E, D>()? else { return Ok(()) };
        let elements = elements::<E, D>(of.x)?;
        if D::is_tracked(elements.storage()) && D::has::<E>(elements.view(), Sought::Zero)? {
            let others = of.products_of_others(&elements)?;
            let g = of.spread(&g)?;
            let g = g.map2::<E, E>(OP, Losing::<TimesConjugate>::new([0.0; 2]), &others)?;
            return gradients.add::<E, D>(of.x, g);
        }
        let zeros = elements.map2::<E, E>(OP, Losing::<IsZero>::new([0.0; 2]), &elements)?;
        let zeros = of.reduced(&zeros, Sum)?;
        let others = elements.map2::<E, E>(OP, Losing::<OneForZero>::new([0.0; 2]), &elements)?;
        let others = of.reduced(&others, ops::reduce::Prod)?;
        let factors = elements.map2::<E, E>(OP, Losing::<ProductFactor>::new([0.0; 2]), &of.spread(&zeros)?)?;
        let times = Combining::<ops::mul, E>::new();
        let products = factors.map2::<E, E>(OP, times, &of.spread(&others)?)?;
        let g = of.spread(&g)?;
        gradients.add::<E, D>(of.x, g.map2::<E, E>(OP, Losing::<TimesConjugate>::new([0.0; 2]), &products)?)
    }
    logsumexp: |of, gradients| {
        let Some(g) = of.first::<E, D>()? else { return Ok(()) };
        let y = of.result::<E, D>(0, of.layout.dtype)?;
        let elements = elements::<E, D>(of.x)?;
        let (y, g) = (of.spread(&y)?, of.spread(&g)?);
        gradients.add::<E, D>(of.x, three::<Share, E, D>(&elements, &y, &g, 0.0)?)
    }
    /// The gradient is shared evenly by the elements that are the extreme.
    extremes: |of, gradients| {
        for at in 0..2 {
            let Some(g) = of.gradient::<E, D>(at, of.layout.dtype)? else { continue };
            let y = of.result::<E, D>(at, of.layout.dtype)?;
            let elements = elements::<E, D>(of.x)?;
            let is = elements.map2::<E, E>(OP, Losing::<IsExtreme>::new([0.0; 2]), &of.spread(&y)?)?;
            let counts = of.reduced(&is, Sum)?;
            let g = g.map2::<E, E>(OP, Losing::<PerCount>::new([0.0; 2]), &counts)?;
            let shares = is.map2::<E, E>(OP, Combining::<ops::mul, E>::new(), &of.spread(&g)?)?;
            gradients.add::<E, D>(of.x, shares)?;
        }
        Ok(())
    }
    arg_extreme: |of, gradients| {
        let Some(g) = of.gradient::<E, D>(1, of.layout.dtype)? else { return Ok(()) };
        let Some(positions) = &of.results[0] else { return invalid(OP, "a result was not kept".to_owned()) };
        at_positions::<E, D>(of.x, of.mask, positions, &g, gradients)
    }
    variance: |of, gradients| {
        let (x, [correction, is_root]) = (of.x, of.numbers);
        let elements = elements::<E, D>(x)?;
        if let Some(mut g) = of.gradient::<E, D>(0, x.dtype().to_real())? {
            let mean = of.reduced(&elements, Mean)?;
            if is_root != 0.0 {
                let y = of.result::<E, D>(0, x.dtype().to_real())?;
                g = g.map2::<E, E>(OP, Losing::<HalfInverse>::new([0.0; 2]), &y)?;
            }
            let g = scaled(&g, 2.0 / (of.count - correction).max(0.0))?;
            let (mean, g) = (of.spread(&mean)?, of.spread(&g)?);
            gradients.add::<E, D>(x, three::<Deviation, E, D>(&elements, &mean, &g, 0.0)?)?;
        }
        // A mean beside a variance has the operand's dtype.
        if let Some(g) = of.gradient::<E, D>(1, x.dtype())? {
            let g = scaled(&g, 1.0 / of.count)?;
            gradients.add::<E, D>(x, of.spread(&g)?)?;
        }
        Ok(())
    }
    norm: |of, gradients| {
        let [ord, _] = of.numbers;
        let Some(g) = of.first::<E, D>()?.filter(|_| ord != 0.0) else { return Ok(()) };
        let y = of.result::<E, D>(0, of.layout.dtype)?;
        let elements = elements::<E, D>(of.x)?;
        let (y, g) = (of.spread(&y)?, of.spread(&g)?);
        if ord.is_finite() {
            return gradients.add::<E, D>(of.x, three::<OfNorm, E, D>(&elements, &y, &g, ord)?);
        }
        // (In the precision of the elements here, which may be higher than that of the result.)
        let y = elements.reduce(VectorNorm::new(ord), of.mask, false)?.retyped::<E::RealDtype>();
        let y = y.map1_dense::<E>(OP, crate::ops::kernel::Casting)?;
        let longest = elements.map2::<E, E>(OP, Losing::<IsLongest>::new([0.0; 2]), &of.spread(&y)?)?;
        let counts = of.reduced(&longest, Sum)?;
        let shares = longest.map2::<E, E>(OP, Losing::<PerCount>::new([0.0; 2]), &of.spread(&counts)?)?;
        gradients.add::<E, D>(of.x, three::<Signed, E, D>(&elements, &shares, &g, 0.0)?)
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

/// The gradient goes to the element at a position along the reduced axes.
fn at_positions<E: Dtype, D: Device>(
    x: &Operand<D::Storage>,
    mask: u32,
    positions: &Kept<D::Storage>,
    g: &Owned<E, D>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let sizes = x.sizes();
    let axes: Vec<usize> = (0..sizes.len()).filter(|&axis| mask >> axis & 1 == 1).collect();
    let numel: usize = sizes.iter().product();
    // Neighbouring axes count as one.
    let (Some(&axis), Some(&last)) = (axes.first(), axes.last()) else {
        return gradients.add::<E, D>(x, g.reshape(OP, &sizes)?.share());
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
    let index = View::<_, i64>::new(&positions.storage, positions.offset, &kept_sizes, &dense);
    expect_within::<i64, D>(&positions.storage, positions.offset, &kept_sizes, &dense);
    let g = g.reshape(OP, &kept_sizes)?;
    let strides = shape.row_major();
    let mut sum = D::zeroed::<E>(Some(g.storage()), numel)?;
    let out = ViewMut::<_, E>::new(&mut sum, 0, &shape, &strides);
    D::scatter_with::<E>(
        Indexing { op: OP, axis, wraps: false },
        Combining::<ops::add, E>::new(),
        index,
        g.view(),
        out,
    )?;
    let sum = Erased::<E, D>::dense(sum, shape);
    gradients.add::<E, D>(x, sum.reshape(OP, &sizes)?)
}
