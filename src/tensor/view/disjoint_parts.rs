//! Disjoint mutable views of a tensor, which may be written at the same time: `split_mut`, `split_at_mut`, `iter_axis_mut`,
//! `multi_slice_mut`.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, unwrap};
use crate::layout::positions::meet;
use crate::shape::slicing::{Items, Slice};
use crate::shape::{AxisArg, CutEqually, Dimensional, Dyn, HasAxis, Shape, Unbind};
use crate::tensor::base::assign::Inside;
use crate::tensor::view::slice::kept_of;
use crate::tensor::view::view_table::parts_table;
use crate::tensor::{Tensor, TensorViewMut};
use castiron_macros::fallible;

/// A part of a mutable view along an axis.
type PartMut<'a, E, S, D, const I: isize> = TensorViewMut<'a, E, <S as HasAxis<I>>::Replace<Dyn>, D>;

impl<'a, E: Element, S: Shape, D: Device> TensorViewMut<'a, E, S, D> {
    fn split_at<const I: isize>(self, axis: impl AxisArg<I>, at: usize) -> Result<[PartMut<'a, E, S, D, I>; 2]>
    where
        S: Dimensional + HasAxis<I>,
    {
        let rest = self.tensor.size(axis).saturating_sub(at);
        // SAFETY: the two reach different positions; this view is consumed.
        unsafe {
            let first = self.tensor.lend(|x| x.try_narrow(axis, 0, at))?;
            let second = self.tensor.lend(|x| x.try_narrow(axis, at, rest))?;
            Ok([TensorViewMut::of(first), TensorViewMut::of(second)])
        }
    }
}

/// Writes the methods that borrow several parts at once, for a mutable view and for a tensor.
macro_rules! apart {
    ($($of:ty),*) => {$(
        /// Several mutable views at once.
        impl<E: Element, S: Shape, D: Device> $of {
            /// Mutable views of the positions before `at` along an axis, and of the others.
            ///
            /// # Panics
            /// If `at` exceeds the axis.
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            /// let mut x = tensor![[1, 2, 3], [4, 5, 6]];
            /// let [mut left, right] = x.split_at_mut(axis![1], 1);
            /// left += right.sum_axis(axis![1].keepdim());
            /// assert_eq!(x.to_vec(), [6, 2, 3, 15, 5, 6]);
            /// ```
            #[fallible]
            pub fn split_at_mut<const I: isize>(&mut self, axis: impl AxisArg<I>, at: usize) -> Result<[PartMut<'_, E, S, D, I>; 2]>
            where
                S: Dimensional + HasAxis<I>,
            {
                self.try_view_mut()?.split_at(axis, at)
            }

            /// An iterator of mutable views, one for each position along an axis, which is removed.
            ///
            /// # Panics
            /// If storage is shared and memory for a copy runs out.
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            /// let mut x = tensor![[1, 2], [3, 4]];
            /// for (at, mut row) in x.iter_axis_mut(axis![0]).enumerate() {
            ///     row *= at;
            /// }
            /// assert_eq!(x.to_vec(), [0, 0, 3, 4]);
            /// ```
            #[track_caller]
            pub fn iter_axis_mut<const I: isize>(
                &mut self,
                axis: impl AxisArg<I>,
            ) -> impl ExactSizeIterator<Item = TensorViewMut<'_, E, <S as HasAxis<I>>::Removed, D>>
            where
                S: Dimensional + HasAxis<I>,
            {
                unwrap(self.try_unbind_mut(axis)).into_iter()
            }

            /// Several mutable slices at once, each as [`slice_mut`](Self::slice_mut) gives it: a tuple of up to six, or an array.
            ///
            /// # Panics
            /// If two of them have an element in common.
            ///
            /// ```
            /// # use castiron::{s, tensor};
            /// let mut x = tensor![0, 1, 2, 3, 4, 5];
            /// let (mut even, odd) = x.multi_slice_mut((s![::2], s![1..;2]));
            /// even += &odd;
            /// assert_eq!(x.to_vec(), [1, 1, 5, 3, 9, 5]);
            /// assert!(x.try_multi_slice_mut((s![..3], s![2..])).is_err());
            /// ```
            #[fallible]
            pub fn multi_slice_mut<M: MultiSlice<E, S, D>>(&mut self, slices: M) -> Result<M::Views<'_>> {
                slices.slice(self.try_view_mut()?, Inside)
            }
        }
    )*};
}
apart!(Tensor<E, S, D>, TensorViewMut<'_, E, S, D>);

/// For `split_mut` it writes `split_mut`.
macro_rules! parts {
    (@ { vec [$($name:ident)+] [$($generics:tt)*] $arguments:tt -> $shape:ty where $bounds:tt |$x:ident| $body:expr }) => {
        parts!(@@ [$($name)+] [$($generics)*] $arguments [Vec<TensorViewMut<'_, E, $shape, D>>] $bounds |$x| $body,
            // SAFETY: the parts were lent by `self`.
            |parts| parts.into_iter().map(|part| unsafe { TensorViewMut::of(part) }).collect());
    };
    (@ { array [$($name:ident)+] [$($generics:tt)*] $arguments:tt -> $shape:ty where $bounds:tt |$x:ident| $body:expr }) => {
        parts!(@@ [$($name)+] [$($generics)*] $arguments [[TensorViewMut<'_, E, $shape, D>; N]] $bounds |$x| $body,
            // SAFETY: the parts were lent by `self`.
            |parts| parts.map(|part| unsafe { TensorViewMut::of(part) }));
    };
    (@@ [$name:ident $mut:ident] [$($generics:tt)*] ($($arg:ident: $ty:ty),*) [$out:ty] [$($bounds:tt)*]
        |$x:ident| $body:expr, |$parts:ident| $wrap:expr) => {
        #[doc = concat!("As [`Tensor::", stringify!($name), "`](crate::Tensor::", stringify!($name), "), to be written where the elements are.")]
        ///
        /// # Panics
        /// As there.
        #[fallible]
        pub fn $mut<$($generics)*>(&mut self $(, $arg: $ty)*) -> Result<$out>
        where
            $($bounds)*
        {
            // SAFETY: the parts reach different positions, and `self` is borrowed as long as they exist.
            let $parts = self.try_view_mut().and_then(|view| unsafe { view.tensor.lend(|$x| $body) })?;
            Ok($wrap)
        }
    };
    ($($row:tt)*) => {
        /// Mutable views of parts.
        impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {
            $(parts!(@ $row);)*
        }
        /// Mutable views of parts.
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(parts!(@ $row);)*
        }
    };
}
parts_table!(parts);

/// Slices that are borrowed at once: a tuple of indices by [`s!`](crate::s!), or an array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of slices",
    label = "expected a tuple or an array of `s![…]`"
)]
pub trait MultiSlice<E: Element, S: Shape, D: Device> {
    /// The views, as a tuple or an array.
    type Views<'a>;
    #[doc(hidden)]
    fn slice<'a>(self, view: TensorViewMut<'a, E, S, D>, _: Inside) -> Result<Self::Views<'a>>;
}

/// Checks that no two slices have an element in common.
fn expect_apart(slices: &[&dyn Items], sizes: &[usize]) -> Result<()> {
    let kept = slices.iter().map(|&items| kept_of(items, sizes)).collect::<Result<Vec<_>>>()?;
    for (at, one) in kept.iter().enumerate() {
        if let Some(other) = kept[..at].iter().position(|other| meet(one, other)) {
            let reason = format!("slices {other} and {at} of a tensor of shape {sizes:?} have an element in common");
            return Err(Error::InvalidArgument { op: "multi_slice_mut", reason });
        }
    }
    Ok(())
}

/// For two slices it writes `impl MultiSlice<E, S, D> for (I, J) { type Views<'a> = (TensorViewMut<'a, …>, TensorViewMut<'a, …>); … }`.
macro_rules! multi_slice {
    ($([$($items:ident $at:tt)+];)*) => {$(
        impl<E: Element, S: Shape, D: Device, $($items: Items),+> MultiSlice<E, S, D> for ($($items,)+)
        where
            $(S: Slice<$items>),+
        {
            type Views<'a> = ($(TensorViewMut<'a, E, <S as Slice<$items>>::Output, D>,)+);
            fn slice<'a>(self, view: TensorViewMut<'a, E, S, D>, _: Inside) -> Result<Self::Views<'a>> {
                expect_apart(&[$(&self.$at as &dyn Items),+], view.tensor.shape().as_ref())?;
                // SAFETY: the slices have no element in common, and `view` is consumed.
                unsafe { Ok(($(TensorViewMut::of(view.tensor.lend(|x| x.try_slice(self.$at))?),)+)) }
            }
        }
    )*};
}
multi_slice! {
    [I 0]; [I 0 J 1]; [I 0 J 1 K 2]; [I 0 J 1 K 2 L 3]; [I 0 J 1 K 2 L 3 M 4]; [I 0 J 1 K 2 L 3 M 4 N 5];
}
impl<E: Element, S: Shape + Slice<I>, D: Device, I: Items, const N: usize> MultiSlice<E, S, D> for [I; N] {
    type Views<'a> = [TensorViewMut<'a, E, <S as Slice<I>>::Output, D>; N];
    fn slice<'a>(self, view: TensorViewMut<'a, E, S, D>, _: Inside) -> Result<Self::Views<'a>> {
        expect_apart(&self.each_ref().map(|items| items as &dyn Items), view.tensor.shape().as_ref())?;
        let views = self.map(|items| {
            let slice = |x: &Tensor<E, S, D>| x.try_slice(items);
            // SAFETY: the slices have no element in common, and `view` is consumed.
            unsafe { view.tensor.lend(slice).map(|slice| TensorViewMut::of(slice)) }
        });
        let views = views.into_iter().collect::<Result<Vec<_>>>()?;
        Ok(views.try_into().unwrap_or_else(|_| unreachable!("there are as many as there were slices")))
    }
}
