//! `pad`: padding before and after axes, filled with a constant or with elements of the tensor.
//!
//! Source: `torch.nn.functional.pad`; `aten/src/ATen/native/PadNd.cpp`.

use crate::device::Device;
use crate::dtype::{Castable, Element, Scalar};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::ops::segment::Segment;
use crate::shape::{D1, Dim, Dimensional, HasAxis, HoldsAtLeast, KnownShape, Pad, Shape, Sum};
use crate::tensor::Tensor;
use crate::tensor::create::constructors::fill_value;
use crate::tensor::rearrange::pick::pick;
use castiron_macros::fallible;

/// Sealed traits: the segments of a mode are read without further checks.
mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a way to pad",
        label = "this trait is castiron's alone",
        note = "pad by `Constant(value)`, `Reflect`, `Replicate` or `Circular`"
    )]
    pub trait PadMode {}
    impl<V> PadMode for super::Constant<V> {}
    impl PadMode for super::Reflect {}
    impl PadMode for super::Replicate {}
    impl PadMode for super::Circular {}
}

/// The mode of padding: [`Constant`], [`Reflect`], [`Replicate`] or [`Circular`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how to pad a tensor of dtype `{E}`",
    label = "expected `Constant(value)`, `Reflect`, `Replicate` or `Circular`",
    note = "tensors of bools and of shell dtypes are padded by `Constant` or `Circular` alone"
)]
pub trait PadMode<E: Element>: sealed::PadMode + Copy {
    /// The segments of a padded axis; a negative amount removes positions. `None` if the axis is too short for the mode.
    #[doc(hidden)]
    fn stretches(self, size: usize, before: isize, after: isize) -> Option<Vec<Segment>>;
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
pub trait Reaches<S, Amounts> {}
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

impl<E: Castable, V: Scalar> PadMode<E> for Constant<V> {
    fn stretches(self, size: usize, before: isize, after: isize) -> Option<Vec<Segment>> {
        let (start, len) = kept(size, before, after)?;
        let fill = |amount| Segment::Fill { len: more(amount) };
        Some(vec![fill(before), Segment::Forward { start, len }, fill(after)])
    }
    fn value(self) -> Result<E> {
        fill_value("pad", self.0.value())
    }
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

#[diagnostic::do_not_recommend]
impl<E: NumericFor<ops::reduce::pad>> PadMode<E> for Reflect {
    fn stretches(self, size: usize, before: isize, after: isize) -> Option<Vec<Segment>> {
        // Mirrored at the first and the last position.
        if more(before).max(more(after)) >= size {
            return None;
        }
        let [front, middle, back] = around(size, before, after)?;
        let beyond = 2 * (size as isize - 1) - back.start;
        Some(vec![
            Segment::Backward { start: at(-front.start), len: front.len() },
            Segment::Forward { start: at(middle.start).min(size), len: middle.len() },
            Segment::Backward { start: at(beyond), len: back.len() },
        ])
    }
}
#[diagnostic::do_not_recommend]
impl<E: NumericFor<ops::reduce::pad>> PadMode<E> for Replicate {
    fn stretches(self, size: usize, before: isize, after: isize) -> Option<Vec<Segment>> {
        let [front, middle, back] = around(size, before, after)?;
        let edge = |start, times| Segment::Each { start, len: 1, times };
        let middle = Segment::Forward { start: at(middle.start).min(size), len: middle.len() };
        Some(vec![edge(0, front.len()), middle, edge(size - 1, back.len())])
    }
}
impl<E: Element> PadMode<E> for Circular {
    fn stretches(self, size: usize, before: isize, after: isize) -> Option<Vec<Segment>> {
        let (start, len) = kept(size, before, after)?;
        let (before, after) = (more(before), more(after));
        if before.max(after) > len {
            return None;
        }
        let part = |start, len| Segment::Forward { start, len };
        Some(vec![part(start + len - before, before), part(start, len), part(start, after)])
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Pads the last axes (`torch.nn.functional.pad`). `Amounts` are a shape: the numbers of positions before and after the last axis, then
    /// the one before it, up to four axes. The mode gives the values: [`Constant(value)`](crate::pad::Constant),
    /// [`Reflect`](crate::pad::Reflect), [`Replicate`](crate::pad::Replicate) or [`Circular`](crate::pad::Circular).
    ///
    /// It is an error if an axis is too short for the mode: with `Reflect` all amounts must be smaller than its size, with `Circular` none
    /// may be larger.
    ///
    /// # Panics
    /// If an axis is too short for the mode, there are too many elements, or memory runs out.
    ///
    /// ```
    /// use castiron::pad::{Circular, Constant, Reflect, Replicate};
    /// use castiron::{shape, tensor, Tensor};
    /// let x = tensor![1, 2, 3];
    /// let y: Tensor<i64, shape![6]> = x.pad::<shape![1, 2], _>(Constant(0));
    /// assert_eq!(y.to_vec(), [0, 1, 2, 3, 0, 0]);
    /// assert_eq!(x.pad::<shape![2, 1], _>(Reflect).to_vec(), [3, 2, 1, 2, 3, 2]);
    /// assert_eq!(x.pad::<shape![2, 1], _>(Replicate).to_vec(), [1, 1, 1, 2, 3, 3]);
    /// assert_eq!(x.pad::<shape![2, 1], _>(Circular).to_vec(), [2, 3, 1, 2, 3, 1]);
    /// ```
    #[fallible]
    pub fn pad<Amounts: KnownShape, M: PadMode<E> + Reaches<S, Amounts>>(
        &self,
        mode: M,
    ) -> Result<Tensor<E, <S as Pad<Amounts>>::Output, D>>
    where
        S: Dimensional + Pad<Amounts>,
    {
        let amounts: Vec<isize> =
            Amounts::SIZES.as_ref().iter().map(|&amount| isize::try_from(amount).unwrap_or(isize::MAX)).collect();
        self.padded(&amounts, mode)
    }

    /// [`pad`](Self::pad) with an array of amounts known at run time. A negative amount removes positions.
    ///
    /// # Panics
    /// If an axis is too short for the mode or a negative amount, there are too many elements, or memory runs out.
    ///
    /// ```
    /// use castiron::pad::Constant;
    /// use castiron::{shape, tensor, Tensor};
    /// let x = tensor![[1, 2, 3]];
    /// let y: Tensor<i64, shape![1, _]> = x.pad_sized([1, -1], Constant(0));
    /// assert_eq!(y.to_vec(), [0, 1, 2]);
    /// ```
    #[fallible]
    pub fn pad_sized<const N: usize, M: PadMode<E>>(
        &self,
        amounts: [isize; N],
        mode: M,
    ) -> Result<Tensor<E, <S as Pad<[isize; N]>>::Output, D>>
    where
        S: Dimensional + Pad<[isize; N]>,
    {
        self.padded(&amounts, mode)
    }

    fn padded<T: Shape, M: PadMode<E>>(&self, amounts: &[isize], mode: M) -> Result<Tensor<E, T, D>> {
        let mut axes = self.whole_axes();
        for (from_last, pair) in amounts.chunks_exact(2).enumerate() {
            let axis = S::RANK - 1 - from_last;
            let size = self.shape().as_ref()[axis];
            axes[axis] = mode.stretches(size, pair[0], pair[1]).ok_or_else(|| Error::InvalidArgument {
                op: "pad",
                reason: format!(
                    "axis {axis} of size {size} can't be padded by {} before and {} after",
                    pair[0], pair[1]
                ),
            })?;
        }
        pick("pad", self.elements(), &axes, mode.value()?)
    }
}
