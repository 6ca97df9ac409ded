//! `pad`: padding before and after axes, filled with a constant or with elements of the tensor.
//!
//! Source: `torch.nn.functional.pad`; `aten/src/ATen/native/PadNd.cpp`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Castable, Element, Scalar};
use crate::error::{Result, invalid, listed};
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::ops::segment::Segment;
use crate::sealed::Sealed;
use crate::shape::{D1, Dim, Dimensional, HasAxis, HoldsAtLeast, KnownShape, Pad, Sum};
use crate::tensor::{Tensor, fill_value};
use castiron_macros::composites;

mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a way to pad",
        label = "this trait is castiron's alone",
        note = "pad by `Constant(value)`, `Reflect`, `Replicate` or `Circular`"
    )]
    pub trait PadMode {
        /// The mode as a value.
        const MODE: super::Mode;
    }
    impl<V> PadMode for super::Constant<V> {
        const MODE: super::Mode = super::Mode::Constant;
    }
    impl PadMode for super::Reflect {
        const MODE: super::Mode = super::Mode::Reflect;
    }
    impl PadMode for super::Replicate {
        const MODE: super::Mode = super::Mode::Replicate;
    }
    impl PadMode for super::Circular {
        const MODE: super::Mode = super::Mode::Circular;
    }
}

/// The mode of padding: [`Constant`], [`Reflect`], [`Replicate`] or [`Circular`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how to pad a tensor of dtype `{E}`",
    label = "expected `Constant(value)`, `Reflect`, `Replicate` or `Circular`",
    note = "tensors of bools and of shell dtypes are padded by `Constant` or `Circular` alone"
)]
pub trait PadMode<E: Element>: sealed::PadMode + Copy {
    /// The value of positions without a source.
    #[doc(hidden)]
    fn value(self) -> Result<E> {
        Ok(E::default())
    }
}

/// A mode of padding that allows `Amounts` on the axes of a tensor of shape `S`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reach so far: a tensor of shape `{S}` is padded by `{Amounts}`",
    label = "by `Reflect` each amount is smaller than its axis, by `Circular` none is larger",
    note = "amounts are written from the last axis on; `Constant(value)` and `Replicate` reach as far as you like; in generic code the bound is `M: Reaches<S, shape![…]>`"
)]
pub trait Reaches<S, Amounts>: Sealed {}
impl<V> Sealed for Constant<V> {}
impl Sealed for Replicate {}
impl Sealed for Reflect {}
impl Sealed for Circular {}
impl<S, Amounts, V> Reaches<S, Amounts> for Constant<V> {}
impl<S, Amounts> Reaches<S, Amounts> for Replicate {}
/// `-1 B1 A1, -2 B2 A2` writes the bounds for the last two axes.
macro_rules! reaches {
    ($([$($axis:literal $before:ident $after:ident),+];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S: $(HasAxis<$axis, Dim: HoldsAtLeast<Sum<$before, D1>> + HoldsAtLeast<Sum<$after, D1>>> +)+, $($before: Dim, $after: Dim),+>
            Reaches<S, ($($before, $after),+)> for Reflect {}
        #[diagnostic::do_not_recommend]
        impl<S: $(HasAxis<$axis, Dim: HoldsAtLeast<$before> + HoldsAtLeast<$after>> +)+, $($before: Dim, $after: Dim),+>
            Reaches<S, ($($before, $after),+)> for Circular {}
    )*};
}
reaches! {
    [-1 B1 A1];
    [-1 B1 A1, -2 B2 A2];
    [-1 B1 A1, -2 B2 A2, -3 B3 A3];
    [-1 B1 A1, -2 B2 A2, -3 B3 A3, -4 B4 A4];
}

/// Padding with one value, converted to the dtype: `Constant(0)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Constant<V>(pub V);
/// Padding with the elements mirrored at the first and the last, which are not repeated: 2 1 | 0 1 2 | 1 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reflect;
/// Padding with the first and the last element: 0 0 | 0 1 2 | 2 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replicate;
/// Padding with the elements of the other end: 1 2 | 0 1 2 | 0 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circular;

impl<E: Castable, V: Scalar> PadMode<E> for Constant<V> {
    fn value(self) -> Result<E> {
        fill_value("pad", self.0.value())
    }
}
#[diagnostic::do_not_recommend]
impl<E: NumericFor<ops::reduce::pad>> PadMode<E> for Reflect {}
#[diagnostic::do_not_recommend]
impl<E: NumericFor<ops::reduce::pad>> PadMode<E> for Replicate {}
impl<E: Element> PadMode<E> for Circular {}

/// The mode of padding as a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Constant,
    Reflect,
    Replicate,
    Circular,
}

impl Mode {
    /// The segments of a padded axis; a negative amount removes positions. `None` if the axis is too short for the mode.
    fn segments(self, size: usize, before: isize, after: isize) -> Option<Vec<Segment>> {
        let part = |start, len| Segment::Forward { start, len };
        let [front, middle, back] = match self {
            Mode::Constant => {
                let (start, len) = kept(size, before, after)?;
                let fill = |amount| Segment::Fill { len: more(amount) };
                return Some(vec![fill(before), part(start, len), fill(after)]);
            }
            Mode::Circular => {
                let (start, len) = kept(size, before, after)?;
                let (before, after) = (more(before), more(after));
                let fits = before.max(after) <= len;
                return fits.then(|| vec![part(start + len - before, before), part(start, len), part(start, after)]);
            }
            // Mirrored at the first and the last position.
            Mode::Reflect if more(before).max(more(after)) >= size => return None,
            Mode::Reflect | Mode::Replicate => around(size, before, after)?,
        };
        let inside = part(at(middle.start).min(size), middle.len());
        if self == Mode::Replicate {
            let edge = |start, times| Segment::Each { start, len: 1, times };
            return Some(vec![edge(0, front.len()), inside, edge(size - 1, back.len())]);
        }
        let mirrored = |start, len| Segment::Backward { start: at(start), len };
        let beyond = 2 * (size as isize - 1) - back.start;
        Some(vec![mirrored(-front.start, front.len()), inside, mirrored(beyond, back.len())])
    }
}

/// The start and size of an axis after negative amounts have removed positions.
fn kept(size: usize, before: isize, after: isize) -> Option<(usize, usize)> {
    let less = |amount: isize| amount.min(0).unsigned_abs();
    let len = size.checked_sub(less(before))?.checked_sub(less(after))?;
    Some((less(before), len))
}

/// The number of positions that are added.
fn more(amount: isize) -> usize {
    amount.max(0).unsigned_abs()
}

/// The positions of a padded axis, counted from the first of the axis itself: before, inside and after it. The axis is not empty.
fn around(size: usize, before: isize, after: isize) -> Option<[core::ops::Range<isize>; 3]> {
    let (size, low) = (isize::try_from(size).ok()?, before.checked_neg()?);
    let high = size.checked_add(after)?;
    let between = |from: isize, to: isize| from.max(low)..to.min(high).max(from.max(low));
    (size > 0 && low < high).then(|| [between(low, 0), between(0, size), between(size, high)])
}

/// A position that is not negative.
fn at(position: isize) -> usize {
    position.max(0).unsigned_abs()
}

/// The numbers in a shape type.
fn amounts_of<Amounts: KnownShape>() -> Result<Vec<isize>> {
    listed(Amounts::SIZES.as_ref().iter().map(|&amount| isize::try_from(amount).unwrap_or(isize::MAX)))
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Pads the last axes. `Amounts` are a shape: the numbers of positions before and after the last axis, then the one before it, up to
    /// four axes. The mode gives the values: [`Constant(value)`](crate::pad::Constant), [`Reflect`](crate::pad::Reflect),
    /// [`Replicate`](crate::pad::Replicate) or [`Circular`](crate::pad::Circular).
    ///
    /// # Errors
    /// If an axis is too short for the mode: with `Reflect` all amounts must be smaller than its size, with `Circular` none may be larger.
    #[op(nn.functional.pad)]
    #[any(by_hand)]
    #[typed(<Amounts: KnownShape, M: PadMode<E> + Reaches<S, Amounts>>(&self, mode: M) -> Tensor<E, <S as Pad<Amounts>>::Output, D>
        where
            S: Dimensional + Pad<Amounts>;
        amounts = &amounts_of::<Amounts>()?, mode = M::MODE, fill = mode.value()?)]
    #[example(let x = tensor![1, 2, 3]; x.pad::<shape![1, 2], _>(Constant(0)), x.pad(&[1, 2], "constant", None), tensor![0, 1, 2, 3, 0, 0])]
    #[example(let x = tensor![1, 2, 3]; x.pad::<shape![2, 1], _>(Reflect), x, tensor![3, 2, 1, 2, 3, 2])]
    #[example(let x = tensor![1, 2, 3]; x.pad::<shape![2, 1], _>(Replicate), x, tensor![1, 1, 1, 2, 3, 3])]
    #[example(let x = tensor![1, 2, 3]; x.pad::<shape![2, 1], _>(Circular), x, tensor![2, 3, 1, 2, 3, 1])]
    pub(crate) fn pad(&self, amounts: &[isize], mode: Mode, fill: E) -> Result<Owned<E, D>> {
        let (op, mut axes) = ("pad", self.whole_axes()?);
        for (pair, at) in amounts.chunks_exact(2).zip((0..self.rank()).rev()) {
            let (size, before, after) = (self.sizes()[at], pair[0], pair[1]);
            let Some(segments) = mode.segments(size, before, after) else {
                let reason = format!("axis {at} of size {size} can't be padded by {before} before and {after} after");
                return invalid(op, reason);
            };
            axes[at] = segments;
        }
        if mode == Mode::Constant { self.assembled_in_format(op, &axes, fill) } else { self.assembled(op, &axes, fill) }
    }

    /// [`pad`](Self::pad) with an array of amounts known at run time. A negative amount removes positions.
    ///
    /// # Errors
    /// If an axis is too short for the mode or a negative amount.
    #[op(nn.functional.pad)]
    #[any(by_hand)]
    #[typed(<const N: usize, M: PadMode<E>>(&self, amounts: [isize; N], mode: M) -> Tensor<E, <S as Pad<[isize; N]>>::Output, D>
        where
            S: Dimensional + Pad<[isize; N]>;
        amounts = &amounts, mode = M::MODE, fill = mode.value()?)]
    #[example(let x = tensor![[1, 2, 3]]; x.pad_sized([1, -1], Constant(0)).with_shape::<shape![1, 3]>(), x.pad(&[1, -1], "constant", None), tensor![[0, 1, 2]])]
    pub(crate) fn pad_sized(&self, amounts: &[isize], mode: Mode, fill: E) -> Result<Owned<E, D>> {
        self.pad(amounts, mode, fill)
    }
}
