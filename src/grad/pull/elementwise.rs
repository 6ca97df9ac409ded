//! Elementwise formulas: gradients times derivatives, by loops that are compiled with the formulas' own (`ops::slope`).

use super::reduce::{ByParts, TimesConjugate, scaled};
use super::ways::unlike;
use super::{Cotangents, Gradients, OP, arrived, gradient, in_class, no_gradient, view_of, widened};
use crate::composite::{Erased, Owned, expect_within};
use crate::device::{Backend, Device};
use crate::dtype::{Castable as _, Complex, DType, Dtype, bf16, f16};
use crate::error::{Result, invalid};
use crate::grad::rule::Rule;
use crate::grad::tape::{Kept, Layout, Operand};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::kernel::{Applying, Casting, ChoosingLeft, ChoosingRight, Combining, Copying, Map2, Map3};
use crate::ops::losses::Losing;
use crate::ops::reduce::Sum;
use crate::ops::slope::{Constants, Derivable, Deriving, Formula, Simple, Sloping};
use crate::storage::View;

/// The operands of a slope, all of one dtype, broadcast to the sizes of the result.
#[doc(hidden)]
pub struct SlopeCall<'a, D: Backend> {
    /// By which operand.
    pub(super) by: usize,
    /// `f32`, `f64` or `Complex<f64>`.
    pub(super) dtype: DType,
    pub(super) given: Constants,
    /// The operands that are read; the result in the first place where that alone is read.
    pub(super) x: [Option<Part<'a, D>>; 3],
    pub(super) g: Part<'a, D>,
    pub(super) sizes: &'a [usize],
    /// The strides of the gradient that is made.
    pub(super) strides: &'a [usize],
}
/// Elements of some dtype.
pub(super) struct Part<'a, D: Backend> {
    pub(super) storage: &'a D::Storage,
    pub(super) offset: usize,
    pub(super) strides: &'a [usize],
}
impl<D: Backend> Clone for Part<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<D: Backend> Copy for Part<'_, D> {}
impl<'a, D: Backend> SlopeCall<'a, D> {
    /// The same on another device, given its operands there.
    pub(super) fn on<'b, F: Backend>(&self, to: impl Fn(Part<'a, D>) -> Result<Part<'b, F>>) -> Result<SlopeCall<'b, F>>
    where
        'a: 'b,
    {
        let SlopeCall { by, dtype, given, x, g, sizes, strides } = self;
        let [a, b, c] = x.map(|x| x.map(&to).transpose());
        let (x, g) = ([a?, b?, c?], to(*g)?);
        Ok(SlopeCall { by: *by, dtype: *dtype, given: *given, x, g, sizes, strides })
    }
}
impl<'a, D: Backend> Part<'a, D> {
    /// The same elements of a storage of another device.
    pub(super) fn of_storage<'b, F: Backend>(self, storage: &'b F::Storage) -> Part<'b, F>
    where
        'a: 'b,
    {
        Part { storage, offset: self.offset, strides: self.strides }
    }
}
impl<D: Backend> Part<'_, D> {
    pub(super) fn view<'a, E>(&'a self, sizes: &'a [usize]) -> View<'a, D::Storage, E> {
        View::new(self.storage, self.offset, sizes, self.strides)
    }
}

/// The loops of a formula on a device.
#[doc(hidden)]
pub type SlopeLoop<D> = for<'a> fn(SlopeCall<'a, D>) -> Result<<D as Backend>::Storage>;

/// Runs the loop of a formula for an operand.
pub(crate) fn slope_loop<F: Derivable, E: Dtype, D: Device>(call: SlopeCall<'_, D>) -> Result<D::Storage>
where
    Sloping<F, 0>: Map2<E, E, E> + Map3<E, E, E, E>,
    Sloping<F, 1>: Map3<E, E, E, E>,
    Deriving<F, 0>: Map3<E, E, E, E>,
    Deriving<F, 1>: Map3<E, E, E, E>,
    Deriving<F, 2>: Map3<E, E, E, E>,
{
    by_operand::<F, E, D>(call)
}
impl Formula {
    /// Runs its loop on the host.
    pub(super) fn on_host(&self, call: SlopeCall<'_, crate::Cpu>) -> Result<<crate::Cpu as Backend>::Storage> {
        let dtype = call.dtype;
        let at = match dtype {
            DType::F32 => 0,
            DType::F64 => 1,
            _ => 2,
        };
        match self.host[at] {
            Some(run) => run(call),
            None => no_gradient(dtype),
        }
    }
}
fn by_operand<F: Derivable, E: Dtype, D: Device>(call: SlopeCall<'_, D>) -> Result<D::Storage>
where
    Sloping<F, 0>: Map2<E, E, E> + Map3<E, E, E, E>,
    Sloping<F, 1>: Map3<E, E, E, E>,
    Deriving<F, 0>: Map3<E, E, E, E>,
    Deriving<F, 1>: Map3<E, E, E, E>,
    Deriving<F, 2>: Map3<E, E, E, E>,
{
    if const { F::OPERANDS == 3 } {
        let [a, b, c] = operands(&call)?;
        let (a, b, c) = (a.view::<E>(call.sizes), b.view(call.sizes), c.view(call.sizes));
        let (given, to, g) = (call.given, call.strides, call.g.view(call.sizes));
        let view = |of| View::<_, E>::new(of, 0, call.sizes, to);
        let slope = match call.by {
            0 => D::map3::<E, E, E, E>(Deriving::<F, 0>::new(given), a, b, c, to)?,
            1 => D::map3::<E, E, E, E>(Deriving::<F, 1>::new(given), a, b, c, to)?,
            _ => D::map3::<E, E, E, E>(Deriving::<F, 2>::new(given), a, b, c, to)?,
        };
        if const { !E::DTYPE.is_complex() } {
            return D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), view(&slope), g, to);
        }
        let imaginary = match call.by {
            0 => D::map3::<E, E, E, E>(Deriving::<F, 0>::by_imaginary(given), a, b, c, to)?,
            1 => D::map3::<E, E, E, E>(Deriving::<F, 1>::by_imaginary(given), a, b, c, to)?,
            _ => D::map3::<E, E, E, E>(Deriving::<F, 2>::by_imaginary(given), a, b, c, to)?,
        };
        return D::map3::<E, E, E, E>(Losing::<ByParts>::new([0.0; 2]), view(&slope), view(&imaginary), g, to);
    }
    let g = call.g.view::<E>(call.sizes);
    if const { F::OPERANDS == 1 } {
        let [Some(x), ..] = &call.x else { return not_kept() };
        return D::map2::<E, E, E>(Sloping::<F, 0>::new(call.given), x.view(call.sizes), g, call.strides);
    }
    if const { F::OPERANDS == 2 } {
        let [a, b, _] = &call.x;
        // What is not read may be anything of the right size.
        let (Some(a), Some(b)) = (a.as_ref().or(b.as_ref()), b.as_ref().or(a.as_ref())) else {
            return not_kept();
        };
        let (a, b) = (a.view::<E>(call.sizes), b.view(call.sizes));
        return match call.by {
            0 => D::map3::<E, E, E, E>(Sloping::<F, 0>::new(call.given), a, b, g, call.strides),
            _ => D::map3::<E, E, E, E>(Sloping::<F, 1>::new(call.given), a, b, g, call.strides),
        };
    }
    no_gradient(E::DTYPE)
}
fn operands<'a, 'b, D: Backend>(call: &'b SlopeCall<'a, D>) -> Result<[&'b Part<'a, D>; 3]> {
    // What is not read may be anything of the right size.
    let Some(any) = call.x.iter().flatten().next() else { return not_kept() };
    Ok(call.x.each_ref().map(|x| x.as_ref().unwrap_or(any)))
}
#[cold]
pub(super) fn not_kept<T>() -> Result<T> {
    invalid(OP, "an operand was not kept".to_owned())
}

/// The way back through an elementwise formula, computed in the dtype `E`.
pub(super) fn formula<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    formula_from::<E, D>(rule, given, gradients, in_class::<E, D>)
}
/// The same of a result of another kind than what it was computed in: the real size of a complex number, or a wider number.
pub(super) fn formula_across<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    formula_from::<E, D>(rule, given, gradients, of_other_class::<E, D>)
}
fn formula_from<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
    convert: fn(D::Storage, &Layout) -> Result<D::Storage>,
) -> Result<()> {
    let Rule::Formula { formula: Some(formula), given: constants, x, y, .. } = rule else { return unlike() };
    if let Simple::Flat = formula.simple {
        return given.of[0].take().map_or(Ok(()), |g| flat::<D>(x, &g, gradients));
    }
    let own = rule.layout();
    let (sizes, strides) = (&own.sizes, &own.strides);
    // A view is read as any other operand.
    let reads_views = own.dtype == E::DTYPE;
    let seen = given.take_view(|seen| reads_views && seen.is_of(sizes, strides));
    let [first, ..] = given.whole()?;
    let Some(storage) = first.take() else { return Ok(()) };
    let is_wide = match own.dtype {
        DType::F16 | DType::BF16 => const { matches!(E::DTYPE, DType::F32) },
        DType::C64 => const { matches!(E::DTYPE, DType::C128) },
        _ => false,
    };
    if is_wide {
        let step = widened::Step { formula, given: constants.open(), x, y: y.as_ref(), layout: &own };
        if widened::slopes::<D>(&step, &storage, gradients)? {
            return Ok(());
        }
    }
    let (offset, steps) = seen.map_or((0, own.strides), |seen| (seen.offset, seen.strides));
    let g = Arrived { storage: convert(storage, &own)?, offset, strides: steps };
    let (formula, constants, y) = (*formula, constants.open(), y.as_ref());
    if formula.simple != Simple::No
        && formula.beside.is_none()
        && let [a, b] = &**x
    {
        return simple::<E, D>(formula.simple, [a, b], g, sizes, gradients);
    }
    // Elements of this dtype are read where they are.
    let is_read = |x: &Operand<D::Storage>| x.kept.is_none() || x.dtype() == E::DTYPE;
    if formula.beside.is_none() && own.dtype == E::DTYPE && x.iter().all(is_read) {
        let (mut layouts, mut operands) = ([Dims::known(&[]); 3], [None; 3]);
        layouts.iter_mut().zip(&**x).for_each(|(layout, x)| *layout = x.strides());
        for ((to, x), strides) in operands.iter_mut().zip(&**x).zip(&layouts) {
            *to = x.kept.as_ref().map(|of| Part::kept::<E>(of, sizes, strides));
        }
        let y = y.map(|y| Part::kept::<E>(y, sizes, strides));
        let g = g.part::<E, D>(sizes);
        return slopes::<E, D>(formula, constants, x, (operands, y, g), [sizes, strides], gradients);
    }
    let g = g.erased::<E, D>(sizes);
    if let Some((both, place)) = formula.beside {
        let [to, ..] = &**x else { return not_kept() };
        return beside_value::<E, D>(both, place, constants[0], to, &g, [sizes, strides], gradients);
    }
    let y: Option<Erased<'_, E, D>> = match y {
        Some(y) if own.dtype != E::DTYPE => {
            // (A result is from the start of its storage on.)
            let (storage, _) = D::share(View::<_, u8>::new(&y.storage, 0, &[], &[]));
            Some(Erased::fresh(convert(storage, &own)?, *sizes, *strides))
        }
        y => y.map(|y| Erased::borrowed(&y.storage, y.offset, *sizes, *strides)),
    };
    let mut converted: [Option<Erased<'_, E, D>>; 3] = [None, None, None];
    for (to, x) in converted.iter_mut().zip(&**x) {
        if x.kept.is_some() {
            *to = Some(super::elements::<E, D>(x)?);
        }
    }
    let operands = converted.each_ref().map(|x| x.as_ref().map(Part::of));
    let parts = (operands, y.as_ref().map(Part::of), Part::of(&g));
    slopes::<E, D>(formula, constants, x, parts, [sizes, strides], gradients)
}
/// Zeros, as in PyTorch also where the gradient of the result is infinite or NaN.
fn flat<D: Device>(x: &[Operand<D::Storage>], g: &D::Storage, gradients: &mut Gradients<D::Storage>) -> Result<()> {
    for node in x.iter().filter_map(|x| x.node.as_ref()) {
        let (bytes, of) = (node.extent().bytes, gradients.of(node)?);
        if of.is_none() && bytes != 0 {
            *of = Some(D::zeroed::<u8>(Some(g), bytes)?);
        }
    }
    Ok(())
}
/// A gradient where it arrived, of a known dtype and known sizes.
struct Arrived<B> {
    storage: B,
    offset: usize,
    strides: Dims,
}
impl<B> Arrived<B> {
    fn part<E: Dtype, D: Device + Backend<Storage = B>>(&self, sizes: &Dims) -> Part<'_, D> {
        expect_within::<E, D>(&self.storage, self.offset, sizes, &self.strides);
        Part { storage: &self.storage, offset: self.offset, strides: &self.strides }
    }
    fn erased<E: Dtype, D: Device + Backend<Storage = B>>(&self, sizes: &Dims) -> Erased<'_, E, D> {
        Erased::borrowed(&self.storage, self.offset, *sizes, self.strides)
    }
}
fn of_other_class<E: Dtype, D: Device>(g: D::Storage, layout: &Layout) -> Result<D::Storage> {
    fn of<A: Dtype, E: Dtype, D: Device>(g: &D::Storage, Layout { sizes, strides, .. }: &Layout) -> Result<D::Storage> {
        D::map1::<A, E>(Casting, View::new(g, 0, sizes, strides), strides)
    }
    let g = &g;
    match layout.dtype {
        DType::F16 => of::<f16, E, D>(g, layout),
        DType::BF16 => of::<bf16, E, D>(g, layout),
        DType::F32 => of::<f32, E, D>(g, layout),
        DType::F64 => of::<f64, E, D>(g, layout),
        DType::C32 => of::<Complex<f16>, E, D>(g, layout),
        DType::C64 => of::<Complex<f32>, E, D>(g, layout),
        DType::C128 => of::<Complex<f64>, E, D>(g, layout),
        dtype => no_gradient(dtype),
    }
}

impl<'a, D: Device> Part<'a, D> {
    pub(super) fn of<E: Dtype>(x: &'a Erased<'_, E, D>) -> Self {
        let view = x.view();
        Part { storage: view.buffer, offset: view.offset, strides: view.strides }
    }
    /// What a step keeps, of dtype `E`.
    fn kept<E: Dtype>(of: &'a Kept<D::Storage>, sizes: &Dims, strides: &'a Dims) -> Self {
        expect_within::<E, D>(&of.storage, of.offset, sizes, strides);
        Part { storage: &of.storage, offset: of.offset, strides }
    }
}

/// What a derivative reads: operands, the result, and the gradient of that.
type Read<'a, D> = ([Option<Part<'a, D>>; 3], Option<Part<'a, D>>, Part<'a, D>);

/// The gradient of each operand.
fn slopes<E: Dtype, D: Device>(
    formula: &'static Formula,
    given: Constants,
    x: &[Operand<D::Storage>],
    (operands, y, g): Read<'_, D>,
    [sizes, strides]: [&Dims; 2],
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    for (by, to) in x.iter().enumerate().filter(|(_, to)| to.node.is_some()) {
        let mut parts = if formula.reads[by] == 8 { [y, None, None] } else { operands };
        if parts.iter().all(Option::is_none) {
            // It reads no operand.
            parts[0] = Some(g);
        }
        let call = SlopeCall { by, dtype: E::DTYPE, given, x: parts, g, sizes, strides };
        let storage = D::slope(formula, call)?;
        gradients.add_new::<E, D>(to, storage, sizes, strides)?;
    }
    Ok(())
}

/// The gradients of the operands of a sum, a difference or a product.
fn simple<E: Dtype, D: Device>(
    simple: Simple,
    [a, b]: [&Operand<D::Storage>; 2],
    g: Arrived<D::Storage>,
    sizes: &Dims,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let strides = &g.strides;
    if let Simple::Product = simple {
        let is_row_major = crate::layout::strides::is_contiguous(sizes, strides);
        let is_alike = |x: &Operand<D::Storage>| x.dtype() == E::DTYPE && x.layout.has_strides(strides);
        if is_row_major && is_alike(a) && is_alike(b) {
            expect_within::<E, D>(&g.storage, g.offset, sizes, strides);
            let g = View::<_, E>::new(&g.storage, g.offset, sizes, strides);
            for (to, other) in [(a, b), (b, a)].into_iter().filter(|(to, _)| to.node.is_some()) {
                let Some(other) = view_of::<E, D>(other, sizes, strides) else { return not_kept() };
                let product = D::map2::<E, E, E>(Losing::<TimesConjugate>::new([0.0; 2]), g, other, strides)?;
                gradients.add_new::<E, D>(to, product, sizes, strides)?;
            }
            return Ok(());
        }
        let g = g.erased::<E, D>(sizes);
        for (to, other) in [(a, b), (b, a)] {
            if to.node.is_some() {
                let (other, times) = (super::elements::<E, D>(other)?, Losing::<TimesConjugate>::new([0.0; 2]));
                let repeated = to.repeated(sizes);
                if repeated == 0 {
                    gradients.add::<E, D>(to, g.map2::<E, E>(OP, times, &other)?)?;
                    continue;
                }
                // Without memory for the products.
                let sum = g.reduce_pairs::<E, E, _>(OP, Sum, times, &other, repeated)?.retyped::<E>();
                let mut one = *sizes;
                (0..one.len()).filter(|axis| repeated >> axis & 1 == 1).for_each(|axis| one[axis] = 1);
                gradients.add::<E, D>(&to.resized(one, to.strides()), sum.reshape(OP, &one)?)?;
            }
        }
        return Ok(());
    }
    let is_read = g.offset == 0 && D::holds::<E>(&g.storage, sizes.iter().product());
    if is_read {
        expect_within::<E, D>(&g.storage, 0, sizes, strides);
    }
    if b.node.is_some()
        && is_read
        && let Simple::Sum = simple
    {
        gradients.add_view::<E, D>(b, View::new(&g.storage, 0, sizes, strides))?;
    } else if b.node.is_some() {
        let g = g.erased::<E, D>(sizes);
        match simple {
            Simple::Difference => gradients.add::<E, D>(b, scaled(&g, -1.0)?)?,
            _ => gradients.add::<E, D>(b, g)?,
        }
    }
    if a.node.is_some() {
        // The last one may have the storage itself.
        if is_read {
            return gradients.add_new::<E, D>(a, g.storage, sizes, strides);
        }
        let g =
            if g.offset == 0 { Erased::fresh(g.storage, *sizes, *strides) } else { g.erased::<E, D>(sizes).share() };
        gradients.add::<E, D>(a, g)?;
    }
    Ok(())
}

/// The factor of the gradient of an operand beside a value, if the derivative is a number.
pub(super) fn factor_beside(both: &Formula, place: usize, value: Complex<f64>) -> Option<f64> {
    match both.simple {
        Simple::Sum => Some(1.0),
        Simple::Difference => Some(if place == 0 { 1.0 } else { -1.0 }),
        Simple::Product if value.im == 0.0 => Some(value.re),
        _ => None,
    }
}

/// The gradient of an operand beside a value.
fn beside_value<E: Dtype, D: Device>(
    both: &'static Formula,
    place: usize,
    value: Complex<f64>,
    to: &Operand<D::Storage>,
    g: &Erased<'_, E, D>,
    [sizes, strides]: [&Dims; 2],
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    if let Some(factor) = factor_beside(both, place, value) {
        return if factor == 1.0 {
            gradients.add::<E, D>(to, Erased::of(g.view()))
        } else {
            gradients.add::<E, D>(to, scaled(g, factor)?)
        };
    }
    let value = D::fill::<E>(Some(g.storage()), value.cast(), 1)?;
    let zeros = [0; crate::layout::dims::MOST];
    let value = Erased::<E, D>::of(View::new(&value, 0, sizes, &zeros[..sizes.len()]));
    if let Simple::Product = both.simple {
        return gradients.add::<E, D>(to, g.map2::<E, E>(OP, Losing::<TimesConjugate>::new([0.0; 2]), &value)?);
    }
    let x = if to.kept.is_some() { Some(super::elements::<E, D>(to)?) } else { None };
    let mut parts = [None, None, None];
    parts[place] = x.as_ref().map(Part::of);
    parts[1 - place] = Some(Part::of(&value));
    let call =
        SlopeCall { by: place, dtype: E::DTYPE, given: Constants::default(), x: parts, g: Part::of(g), sizes, strides };
    let storage = D::slope(both, call)?;
    gradients.add::<E, D>(to, Erased::fresh(storage, *sizes, *strides))
}

/// The gradient goes to the operand that was chosen.
pub(super) fn chooses<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Chooses { condition, choices, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let (condition, g) = (super::exact::<bool, D>(condition)?, gradient::<E, D>(g, layout));
    for (at, choice) in choices.iter().enumerate() {
        let Some(to) = choice else { continue };
        let none = E::default();
        let storage = if at == 0 {
            D::map2::<bool, E, E>(ChoosingRight(none), condition.view(), g.view(), &layout.strides)?
        } else {
            D::map2::<bool, E, E>(ChoosingLeft(none), condition.view(), g.view(), &layout.strides)?
        };
        gradients.add::<E, D>(to, Erased::fresh(storage, layout.sizes, layout.strides))?;
    }
    Ok(())
}

/// The parts of the gradient are those of the parts.
pub(super) fn parts<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Parts { x, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let g = gradient::<E, D>(g, layout);
    let both = g.parts(OP)?;
    for (at, to) in x.iter().enumerate() {
        let Some(to) = to else { continue };
        let part = both.part_at(at);
        gradients.add::<E::RealDtype, D>(to, part.map1::<E::RealDtype>(OP, Copying)?)?;
    }
    Ok(())
}

/// `y = r (cos a + i sin a)`: the gradient of `r` is `g.re cos a + g.im sin a`, that of the angle `r (g.im cos a - g.re sin a)`.
pub(super) fn polar<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Polar { x, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let (Some(radius), Some(angle)) = (&x[0], &x[1]) else { return not_kept() };
    let g = gradient::<E, D>(g, layout);
    let g = g.parts(OP)?;
    let [g_re, g_im] = [g.part_at(0), g.part_at(1)];
    let times = Combining::<ops::mul, E::RealDtype>::new();
    let at = super::elements::<E::RealDtype, D>(angle)?;
    let cos = at.map1::<E::RealDtype>(OP, Applying::<ops::cos>::new())?;
    let sin = at.map1::<E::RealDtype>(OP, Applying::<ops::sin>::new())?;
    let product = |a: &Erased<'_, E::RealDtype, D>, b: &Owned<E::RealDtype, D>| {
        a.map2::<E::RealDtype, E::RealDtype>(OP, times, b)
    };
    if radius.node.is_some() {
        let (re, im) = (product(&g_re, &cos)?, product(&g_im, &sin)?);
        let sum = re.map2::<E::RealDtype, E::RealDtype>(OP, Combining::<ops::add, E::RealDtype>::new(), &im)?;
        gradients.add::<E::RealDtype, D>(radius, sum)?;
    }
    if angle.node.is_some() {
        let (im, re) = (product(&g_im, &cos)?, product(&g_re, &sin)?);
        let turned = im.map2::<E::RealDtype, E::RealDtype>(OP, Combining::<ops::sub, E::RealDtype>::new(), &re)?;
        let radius = super::elements::<E::RealDtype, D>(radius)?;
        gradients.add::<E::RealDtype, D>(angle, product(&radius, &turned)?)?;
    }
    Ok(())
}
