//! Functions of lanes.

use super::moves::reversed;
use super::reduce::{formulas, three};
use super::ways::unlike;
use super::{Cotangents, Gradients, OP, arrived, elements, gradient, result, widened};
use crate::composite::{Erased, Owned, expect_within};
use crate::cpu::norm_back;
use crate::device::{Backend, Device};
use crate::dtype::{Complex, DType, Dtype, MachineFloat, Parameters, Tuned, Unary, math};
use crate::error::{Result, invalid};
use crate::grad::rule::Rule;
use crate::grad::tape::{Kept, Layout, Operand};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::arguments::{Indexing, Sought};
use crate::ops::kernel::Combining;
use crate::ops::losses::Losing;
use crate::ops::reduce::Sum;
use crate::ops::scan::{RunningLogSumExp, RunningProduct, RunningSum};
use crate::ops::segment::Segment;
use crate::ops::slope::LaneSlope;
use crate::storage::{View, ViewMut};
use crate::tensor::checked_numel;

#[inline(always)]
fn exp<T: MachineFloat>(x: T) -> T {
    T::elementary::<math::Exp>(x)
}
formulas! {
    /// Softmax: `y * (g - sum)`.
    OfSoftmax: |y, g, sum, _p| y * (g - sum);
    /// Log-softmax: `g - exp(y) * sum`.
    OfLogSoftmax: |y, g, sum, _p| g - exp(y) * sum;
    /// `sum / x`, 0 for `x` 0, conjugated.
    OverConjugate: |sum, x, _z, _p| if x == T::zero() { T::zero() } else { sum / x },
        |sum, x, _z, _p| if x == Complex::default() { x } else { sum / x.conj() };
    /// `log(g)` of what is above zero, minus `y`.
    LogAbove: |g, y, _z, _p| if g > T::zero() { T::elementary::<math::Log>(g) - y } else { T::neg_infinity() };
    /// `log(-g)` of what is below zero, minus `y`.
    LogBelow: |g, y, _z, _p| if g < T::zero() { T::elementary::<math::Log>(-g) - y } else { T::neg_infinity() };
    /// `exp(x + above) - exp(x + below)`
    FromLogs: |x, above, below, _p| exp(x + above) - exp(x + below);
    /// 1 for zeros.
    Zero: |x, _y, _z, _p| if x == T::zero() { T::one() } else { T::zero() },
        |x, _y, _z, _p| if x == Complex::default() { Complex::new(T::one(), T::zero()) } else { Complex::default() };
    /// The element, but 1 for the first zero of a lane.
    WithoutFirstZero: |x, zeros, _z, _p| if x == T::zero() && zeros == T::one() { T::one() } else { x },
        |x, zeros, _z, _p| if x == Complex::default() && zeros == Complex::new(T::one(), T::zero()) { zeros } else { x };
    /// The gradient of a running product at the first zero of a lane, before it, and after it.
    AroundZero: |x, zeros, at, _p| if zeros == T::one() && x == T::zero() { at } else { T::zero() },
        |x, zeros, at, _p| if zeros == Complex::new(T::one(), T::zero()) && x == Complex::default() { at } else { Complex::default() };
    /// What counts before the first zero.
    BeforeZero: |sum, zeros, _z, _p| if zeros == T::zero() { sum } else { T::zero() },
        |sum, zeros, _z, _p| if zeros == Complex::default() { sum } else { Complex::default() };
    /// `log(conj(g)) - y`
    LogConjugateLess: |g, y, _z, _p| T::elementary::<math::Log>(g) - y, |g, y, _z, _p| <ops::log as Unary>::complex(g.conj()) - y;
    /// `conj(exp(a + b))`
    ConjugateExpOfSum: |a, b, _z, _p| exp(a + b), |a, b, _z, _p| <ops::exp as Unary>::complex(a + b).conj();
    /// The element, but 1 where the other operand is.
    OneWhere: |x, at, _z, _p| if at == T::one() { at } else { x },
        |x, at, _z, _p| if at.re == T::one() { at } else { x };
    /// `g * conj(y)` where the third operand is 1.
    WithConjugateWhere: |g, y, at, _p| if at == T::one() { g * y } else { T::zero() },
        |g, y, at, _p| if at.re == T::one() { g * y.conj() } else { Complex::default() };
    /// `g * conj(y)`
    WithConjugate: |g, y, _z, _p| g * y, |g, y, _z, _p| g * y.conj();
}

/// A function of lanes on the way back.
struct Scan<'a, B> {
    slope: LaneSlope,
    x: &'a Operand<B>,
    axis: usize,
    kept: Option<&'a Kept<B>>,
    own: Layout,
    g: B,
    layout: Layout,
}
impl<'a, B> Scan<'a, B> {
    /// `None` where there is nothing to do.
    fn of<E: Dtype, D: Device + Backend<Storage = B>>(
        rule: &'a Rule<B>,
        mut given: Cotangents<B>,
    ) -> Result<Option<Self>> {
        let &Rule::Lanes { slope, ref x, axis, ref result, .. } = rule else { return unlike() };
        let own = rule.layout();
        let arrived = arrived::<E, D>(&own, &mut given)?.filter(|(_, layout)| !layout.sizes.contains(&0));
        Ok(arrived.map(|(g, layout)| Scan { slope, x, axis, kept: result.as_ref(), own, g, layout }))
    }
    fn gradient<E: Dtype, D: Device + Backend<Storage = B>>(&self) -> Erased<'_, E, D> {
        gradient(&self.g, &self.layout)
    }
    fn result<E: Dtype, D: Device + Backend<Storage = B>>(&self) -> Result<Erased<'a, E, D>> {
        match self.kept {
            Some(of) => result(of, self.own.dtype, [&self.layout.sizes, &self.layout.strides]),
            None => invalid(OP, "a result was not kept".to_owned()),
        }
    }
}
/// `name: |of, gradients| run`: ways back through functions of lanes, run where a gradient came back and there are elements.
macro_rules! scans {
    ($($(#[$doc:meta])* $name:ident: |$of:ident, $gradients:ident| $run:block)*) => {$(
        $(#[$doc])*
        pub(super) fn $name<E: Dtype, D: Device>(
            rule: &Rule<D::Storage>,
            given: Cotangents<D::Storage>,
            $gradients: &mut Gradients<D::Storage>,
        ) -> Result<()> {
            let Some($of) = Scan::of::<E, D>(rule, given)? else { return Ok(()) };
            $run
        }
    )*};
}
/// Softmax or its logarithm.
pub(super) fn softmax<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    if const { matches!(E::DTYPE, DType::F32) } && widened::softmax::<D>(rule, &mut given, gradients)? {
        return Ok(());
    }
    wide_softmax::<E, D>(rule, given, gradients)
}
scans! {
    wide_softmax: |of, gradients| {
        let (x, axis, g) = (of.x, of.axis, of.gradient::<E, D>());
        let y = of.result::<E, D>()?;
        let of_logarithm = matches!(of.slope, LaneSlope::LogSoftmax);
        if let Some(found) = at_once([&y, &g], axis, of_logarithm)? {
            return gradients.add::<E, D>(x, found);
        }
        let mask = 1 << axis;
        if of_logarithm {
            let sum = g.reduce(Sum, mask, true)?.retyped::<E>();
            return gradients
                .add::<E, D>(x, three::<OfLogSoftmax, E, D>(&y, &g, &sum.expand(OP, g.sizes())?, 0.0)?);
        }
        let times = Combining::<ops::mul, E>::new();
        let sum = g.reduce_pairs::<E, E, _>(OP, Sum, times, &y, mask)?.retyped::<E>();
        let sum = over_axis(&sum, axis, &g)?;
        gradients.add::<E, D>(x, three::<OfSoftmax, E, D>(&y, &g, &sum.expand(OP, g.sizes())?, 0.0)?)
    }
    sums: |of, gradients| {
        gradients.add::<E, D>(of.x, sums_from_behind(&of.gradient::<E, D>(), of.axis)?)
    }
    products: |of, gradients| {
        let (x, axis, g) = (of.x, of.axis, of.gradient::<E, D>());
        let y = of.result::<E, D>()?;
        // Operands of bytes are summed in wider numbers, which have no gradient.
        let elements = elements::<E, D>(x)?;
        let is_divisible = D::has_data(elements.storage()) && !D::has::<E>(elements.view(), Sought::Zero)?;
        if !is_divisible && D::is_tracked(elements.storage()) {
            return gradients.add::<E, D>(x, of_each_product(&elements, &g, axis)?);
        }
        let none = Losing::<WithConjugate>::new([0.0; 2]);
        let sums = sums_from_behind(&g.map2::<E, E>(OP, none, &y)?, axis)?;
        let quotients = sums.map2::<E, E>(OP, Losing::<OverConjugate>::new([0.0; 2]), &elements)?;
        if is_divisible {
            return gradients.add::<E, D>(x, quotients);
        }
        let is_zero = elements.map2::<E, E>(OP, Losing::<Zero>::new([0.0; 2]), &elements)?;
        let zeros = lane::<E, D>(&is_zero, D::lanes::<E, E::Sum>(RunningSum, is_zero.view(), axis)?);
        let others = elements.map2::<E, E>(OP, Losing::<WithoutFirstZero>::new([0.0; 2]), &zeros)?;
        let products = lane::<E, D>(&others, D::lanes::<E, E::Sum>(RunningProduct, others.view(), axis)?);
        let at = sums_from_behind(&g.map2::<E, E>(OP, none, &products)?, axis)?;
        let at = three::<AroundZero, E, D>(&elements, &zeros, &at, 0.0)?;
        let before = quotients.map2::<E, E>(OP, Losing::<BeforeZero>::new([0.0; 2]), &zeros)?;
        gradients.add::<E, D>(x, before.map2::<E, E>(OP, Combining::<ops::add, E>::new(), &at)?)
    }
    logsumexps: |of, gradients| {
        let (x, axis, g) = (of.x, of.axis, of.gradient::<E, D>());
        let (y, elements) = (of.result::<E, D>()?, elements::<E, D>(x)?);
        if const { E::DTYPE.is_complex() } {
            // `g * conj(exp(x - y))`, summed from behind, as logarithms.
            let terms = g.map2::<E, E>(OP, Losing::<LogConjugateLess>::new([0.0; 2]), &y)?;
            let turned = reversed(&terms, axis)?;
            let sums = D::lanes::<E, E>(RunningLogSumExp, turned.view(), axis)?;
            let sums = reversed(&Erased::<E, D>::dense(sums, turned.dims()), axis)?;
            let found = sums.map2::<E, E>(OP, Losing::<ConjugateExpOfSum>::new([0.0; 2]), &elements)?;
            return gradients.add::<E, D>(x, found);
        }
        let sums = |terms: &Owned<E, D>| -> Result<Owned<E, D>> {
            let turned = reversed(terms, axis)?;
            let sums = D::lanes::<E, E>(RunningLogSumExp, turned.view(), axis)?;
            reversed(&Erased::dense(sums, turned.dims()), axis)
        };
        let above = sums(&g.map2::<E, E>(OP, Losing::<LogAbove>::new([0.0; 2]), &y)?)?;
        let below = sums(&g.map2::<E, E>(OP, Losing::<LogBelow>::new([0.0; 2]), &y)?)?;
        gradients.add::<E, D>(x, three::<FromLogs, E, D>(&elements, &above, &below, 0.0)?)
    }
    extremes: |of, gradients| {
        let (x, g) = (of.x, of.gradient::<E, D>());
        let Some(positions) = of.kept else { return invalid(OP, "a result was not kept".to_owned()) };
        let Layout { sizes: own, strides: steps, .. } = &of.layout;
        expect_within::<i64, D>(&positions.storage, positions.offset, own, steps);
        let index = View::<_, i64>::new(&positions.storage, positions.offset, own, steps);
        let (sizes, strides) = (x.sizes(), x.sizes().row_major());
        let mut sum = D::zeroed::<E>(Some(g.storage()), sizes.iter().product())?;
        let out = ViewMut::<_, E>::new(&mut sum, 0, &sizes, &strides);
        let indexing = Indexing { op: OP, axis: of.axis, wraps: false };
        D::scatter_with::<E>(indexing, Combining::<ops::add, E>::new(), index, g.view(), out)?;
        gradients.add::<E, D>(x, Erased::dense(sum, sizes))
    }
}

/// The gradient of a softmax or its logarithm in one pass, if lanes are rows in memory of the host.
fn at_once<E: Dtype, D: Device>(
    [y, g]: [&Erased<'_, E, D>; 2],
    axis: usize,
    of_logarithm: bool,
) -> Result<Option<Owned<E, D>>> {
    let is_row_major = |of: &Erased<'_, E, D>| of.strides() == &*of.dims().row_major();
    if axis + 1 != y.rank() || !is_row_major(y) || !is_row_major(g) {
        return Ok(None);
    }
    let len = y.sizes()[axis];
    macro_rules! of {
        ($T:ty) => {
            match (y.known_as::<$T>().on_host(), g.known_as::<$T>().on_host()) {
                (Some(y), Some(g)) => Some(norm_back::softmax::<$T>([y, g], len, of_logarithm)?),
                _ => None,
            }
        };
    }
    let found = if const { matches!(E::DTYPE, DType::F32) } {
        of!(f32)
    } else if const { matches!(E::DTYPE, DType::F64) } {
        of!(f64)
    } else {
        None
    };
    found.map(|found| Erased::of_host(found, y.dims(), y.dims().row_major())).transpose()
}

/// A reduced tensor with an axis of size 1 where it was reduced.
fn over_axis<'a, E: Dtype, D: Device>(
    x: &'a Erased<'_, E, D>,
    axis: usize,
    like: &Erased<'_, E, D>,
) -> Result<Erased<'a, E, D>> {
    let mut sizes = like.dims();
    sizes[axis] = 1;
    x.reshape(OP, &sizes)
}
/// The result of a function of lanes, whose dtype is that of sums, which for floats is their own.
fn lane<E: Dtype, D: Device>(like: &Erased<'_, E, D>, storage: D::Storage) -> Owned<E, D> {
    Erased::<E::Sum, D>::dense(storage, like.dims()).retyped()
}
/// The sum of each element and those behind it.
fn sums_from_behind<E: Dtype, D: Device>(x: &Erased<'_, E, D>, axis: usize) -> Result<Owned<E, D>> {
    let turned = reversed(x, axis)?;
    let sums = lane::<E, D>(&turned, D::lanes::<E, E::Sum>(RunningSum, turned.view(), axis)?);
    reversed(&sums, axis)
}

/// The product of the elements before each along an axis, or of those behind each, in reverse order.
pub(super) fn products_beside<E: Dtype, D: Device>(
    x: &Erased<'_, E, D>,
    axis: usize,
    is_reversed: bool,
) -> Result<Owned<E, D>> {
    let mut axes: Vec<Vec<Segment>> = x.sizes().iter().map(|&size| vec![Segment::whole(size)]).collect();
    let len = x.sizes()[axis].saturating_sub(1);
    let others = if is_reversed { Segment::Backward { start: len, len } } else { Segment::Forward { start: 0, len } };
    axes[axis] = vec![Segment::Fill { len: 1 }, others];
    let shifted = Owned::<E, D>::dense(D::pick::<E>(x.view(), &axes, E::from_i32(1))?, x.dims());
    Ok(lane(&shifted, D::lanes::<E, E::Sum>(RunningProduct, shifted.view(), axis)?))
}

/// The gradient of running products without a division, so that it has a derivative where elements are 0: each running product is computed
/// once for each element, without that element. It takes as many numbers as an axis has for each element.
fn of_each_product<E: Dtype, D: Device>(
    x: &Erased<'_, E, D>,
    g: &Erased<'_, E, D>,
    axis: usize,
) -> Result<Owned<E, D>> {
    let sizes = x.dims();
    let len = sizes[axis];
    let (before, behind) = (sizes[..axis].iter().product(), sizes[axis + 1..].iter().product());
    let each = [before, len, len, behind];
    let square = Dims::known(&[len, len]);
    let ones = D::fill(Some(x.storage()), E::from_i32(1), checked_numel::<E>(OP, &square)?)?;
    let ones = Owned::<E, D>::dense(ones, square);
    let masked = |high| Ok(Owned::<E, D>::dense(D::band::<E>(ones.view(), 0, high)?, square));
    let (itself, later) = (masked(0)?, masked(isize::MAX)?);
    let [itself, later] = [itself.reshape(OP, &[1, len, len, 1])?, later.reshape(OP, &[1, len, len, 1])?];
    let x = x.reshape(OP, &[before, 1, len, behind])?;
    let g = g.reshape(OP, &[before, 1, len, behind])?;
    let others =
        x.expand(OP, &each)?.map2_dense::<E, E>(OP, Losing::<OneWhere>::new([0.0; 2]), &itself.expand(OP, &each)?)?;
    let products = lane::<E, D>(&others, D::lanes::<E, E::Sum>(RunningProduct, others.view(), 2)?);
    let terms = three::<WithConjugateWhere, E, D>(&g.expand(OP, &each)?, &products, &later.expand(OP, &each)?, 0.0)?;
    let sums = terms.reduce(Sum, 1 << 2, false)?.retyped::<E>();
    Ok(sums.reshape(OP, &sizes)?.share())
}
