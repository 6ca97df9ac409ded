//! Calls to devices as data: the operands of an operation and what else it is given.
//!
//! A call is a struct over the kind of storage that its operands are in, so that one that was made for the run-time device can be handed to
//! the device where its operands are ([`Kind::rehoused`]), and one implementation of `Backend::run` may stand around another.
//! How a device runs each kind is [`RunOn`] for its storage, in the device's own file.

use super::NoData;
use crate::cuda::CudaBuffer;
#[cfg(feature = "profile")]
use crate::dtype::DType;
use crate::dtype::{Castable, Dtype, Element};
use crate::error::{Error, Result, room};
use crate::ops::arguments::{Added, Attention, Indexing, Mask, Order, Sought};
use crate::ops::kernel::{LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::ops::window::{Convolution, Window};
use crate::storage::{HostBuffer, View, ViewMut};
use core::marker::PhantomData;
use std::borrow::Cow;

/// From storages of one kind to those of another, which may be made for the call and held here.
pub trait Rehouse<B, C> {
    fn shared<'a: 'b, 'b>(&'b self, storage: &'a B) -> Rehoused<&'b C>;
    #[allow(clippy::mut_from_ref, reason = "the storage is borrowed mutably")]
    fn exclusive<'a: 'b, 'b>(&'b self, storage: &'a mut B) -> Rehoused<&'b mut C>;
}

/// An operand, or all of a call, in storages of another kind. (An error is made of the reason where it is returned: each operand of each
/// call has code for it, and an [`Error`] has to be dropped.)
pub type Rehoused<T> = core::result::Result<T, Elsewhere>;

/// Why an operand has no storage of another kind.
#[derive(Clone, Copy)]
pub enum Elsewhere {
    /// It is on this device.
    On(&'static str),
    /// There is no memory for the list of this many bytes that it would be.
    NoRoom(usize),
    /// The call can't be recorded.
    #[cfg(all(feature = "any", feature = "grad"))]
    NotRecorded,
    /// It is a parameter, which the call would write.
    #[cfg(all(feature = "any", feature = "grad"))]
    Parameter,
}

/// The value, or what a function returns. (`?` also converts the reason, in each call.)
macro_rules! found {
    ($found:expr) => {
        match $found {
            Ok(found) => found,
            Err(elsewhere) => return Err(elsewhere),
        }
    };
}

/// What a call reads or writes: a view, or several.
pub trait Operands<'a, B: 'a>: Sized {
    /// The same in storages of another kind.
    type In<'b, C: 'b>: Operands<'b, C>
    where
        'a: 'b,
        B: 'b;
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<Self::In<'b, C>>
    where
        'a: 'b;
    /// The first storage, if there is one.
    fn place(&self) -> Option<&B>;
    /// Each storage.
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B));
    /// Dtype, sizes and strides of each, and whether it is written.
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool));
}
impl<'a, B: 'a, E: Element> Operands<'a, B> for View<'a, B, E> {
    type In<'b, C: 'b>
        = View<'b, C, E>
    where
        'a: 'b,
        B: 'b;
    #[inline]
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<View<'b, C, E>>
    where
        'a: 'b,
    {
        Ok(View::new(found!(to.shared(self.buffer)), self.offset, self.sizes, self.strides))
    }
    #[inline]
    fn place(&self) -> Option<&B> {
        Some(self.buffer)
    }
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B)) {
        see(self.buffer);
    }
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
        see(E::DTYPE, self.sizes, self.strides, false);
    }
}
impl<'a, B: 'a, E: Element> Operands<'a, B> for ViewMut<'a, B, E> {
    type In<'b, C: 'b>
        = ViewMut<'b, C, E>
    where
        'a: 'b,
        B: 'b;
    #[inline]
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<ViewMut<'b, C, E>>
    where
        'a: 'b,
    {
        Ok(ViewMut::new(found!(to.exclusive(self.buffer)), self.offset, self.sizes, self.strides))
    }
    #[inline]
    fn place(&self) -> Option<&B> {
        Some(self.buffer)
    }
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B)) {
        see(self.buffer);
    }
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
        see(E::DTYPE, self.sizes, self.strides, true);
    }
}
impl<'a, B: 'a, T: Operands<'a, B>> Operands<'a, B> for Option<T> {
    type In<'b, C: 'b>
        = Option<T::In<'b, C>>
    where
        'a: 'b,
        B: 'b;
    #[inline]
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<Self::In<'b, C>>
    where
        'a: 'b,
    {
        Ok(match self {
            Some(one) => Some(found!(one.rehoused(to))),
            None => None,
        })
    }
    #[inline]
    fn place(&self) -> Option<&B> {
        self.as_ref().and_then(Operands::place)
    }
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B)) {
        self.iter().for_each(|one| one.storages(see));
    }
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
        self.iter().for_each(|one| one.each(see));
    }
}
impl<'a, B: 'a, T: Operands<'a, B>> Operands<'a, B> for [T; 2] {
    type In<'b, C: 'b>
        = [T::In<'b, C>; 2]
    where
        'a: 'b,
        B: 'b;
    #[inline]
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<Self::In<'b, C>>
    where
        'a: 'b,
    {
        let [first, second] = self;
        Ok([found!(first.rehoused(to)), found!(second.rehoused(to))])
    }
    #[inline]
    fn place(&self) -> Option<&B> {
        self.iter().find_map(Operands::place)
    }
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B)) {
        self.iter().for_each(|one| one.storages(see));
    }
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
        self.iter().for_each(|one| one.each(see));
    }
}
impl<'a, B: 'a, E: Element> Operands<'a, B> for Cow<'a, [View<'a, B, E>]> {
    type In<'b, C: 'b>
        = Cow<'b, [View<'b, C, E>]>
    where
        'a: 'b,
        B: 'b;
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<Self::In<'b, C>>
    where
        'a: 'b,
    {
        let Ok(mut all) = room(self.len()) else { return Err(Elsewhere::NoRoom(size_of_val(&*self))) };
        for view in self.iter() {
            all.push(found!(view.rehoused(to)));
        }
        Ok(Cow::Owned(all))
    }
    fn place(&self) -> Option<&B> {
        self.iter().find_map(Operands::place)
    }
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B)) {
        self.iter().for_each(|one| one.storages(see));
    }
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
        self.iter().for_each(|one| one.each(see));
    }
}
impl<'a, B: 'a, E: Dtype> Operands<'a, B> for Added<'a, B, E> {
    type In<'b, C: 'b>
        = Added<'b, C, E>
    where
        'a: 'b,
        B: 'b;
    #[inline]
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<Added<'b, C, E>>
    where
        'a: 'b,
    {
        let Added { input, beta, alpha } = self;
        Ok(Added { input: found!(input.rehoused(to)), beta, alpha })
    }
    #[inline]
    fn place(&self) -> Option<&B> {
        self.input.place()
    }
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B)) {
        self.input.storages(see);
    }
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
        self.input.each(see);
    }
}
impl<'a, B: 'a, E: Dtype> Operands<'a, B> for Mask<'a, B, E> {
    type In<'b, C: 'b>
        = Mask<'b, C, E>
    where
        'a: 'b,
        B: 'b;
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<Mask<'b, C, E>>
    where
        'a: 'b,
    {
        Ok(match self {
            Mask::Seen(mask) => Mask::Seen(found!(mask.rehoused(to))),
            Mask::Added(mask) => Mask::Added(found!(mask.rehoused(to))),
        })
    }
    fn place(&self) -> Option<&B> {
        match self {
            Mask::Seen(mask) => mask.place(),
            Mask::Added(mask) => mask.place(),
        }
    }
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B)) {
        match self {
            Mask::Seen(mask) => mask.storages(see),
            Mask::Added(mask) => mask.storages(see),
        }
    }
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
        match self {
            Mask::Seen(mask) => mask.each(see),
            Mask::Added(mask) => mask.each(see),
        }
    }
}
impl<'a, B: 'a, E: Dtype> Operands<'a, B> for Attention<'a, B, E> {
    type In<'b, C: 'b>
        = Attention<'b, C, E>
    where
        'a: 'b,
        B: 'b;
    fn rehoused<'b, C: 'b>(self, to: &'b impl Rehouse<B, C>) -> Rehoused<Attention<'b, C, E>>
    where
        'a: 'b,
    {
        let Attention { query, key, value, mask, is_causal, scale } = self;
        let (query, key, value) = (found!(query.rehoused(to)), found!(key.rehoused(to)), found!(value.rehoused(to)));
        Ok(Attention { query, key, value, mask: found!(mask.rehoused(to)), is_causal, scale })
    }
    fn place(&self) -> Option<&B> {
        self.query.place()
    }
    #[cfg(feature = "grad")]
    fn storages(&self, see: &mut dyn FnMut(&B)) {
        [&self.query, &self.key, &self.value].into_iter().for_each(|one| one.storages(see));
        self.mask.storages(see);
    }
    #[cfg(feature = "profile")]
    fn each(&self, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
        [&self.query, &self.key, &self.value].into_iter().for_each(|one| one.each(see));
        self.mask.each(see);
    }
}

/// What a call gives, in storages of one kind.
pub trait Outcome {
    type In<B>;
    fn rehoused<B, C>(given: Self::In<B>, to: impl Fn(B) -> C) -> Self::In<C>;
    /// Whether what is written is read before.
    const UPDATES: bool = false;
    /// The same where there are no data.
    fn without_data() -> Result<Self::In<NoData>>;
    /// Each storage.
    #[cfg(feature = "profile")]
    fn each<B>(given: &Self::In<B>, see: &mut dyn FnMut(&B));
}
macro_rules! outcomes {
    ($($(#[$doc:meta])* $name:ident = |$B:ident| $ty:ty, |$given:ident, $to:ident| $moved:expr, $none:expr, |$of:ident, $see:ident| $each:expr;)*) => {$(
        $(#[$doc])*
        pub enum $name {}
        impl Outcome for $name {
            type In<$B> = $ty;
            #[inline]
            fn rehoused<B, C>($given: Self::In<B>, $to: impl Fn(B) -> C) -> Self::In<C> {
                $moved
            }
            #[inline]
            fn without_data() -> Result<Self::In<NoData>> {
                $none
            }
            #[cfg(feature = "profile")]
            fn each<B>($of: &Self::In<B>, $see: &mut dyn FnMut(&B)) {
                $each
            }
        }
    )*};
}
outcomes! {
    /// Nothing: it writes.
    Nothing = |B| (), |given, _to| given, Ok(()), |_of, _see| ();
    /// A storage.
    One = |B| B, |given, to| to(given), Ok(NoData), |of, see| see(of);
    /// Two storages.
    Two = |B| [B; 2], |given, to| given.map(to), Ok([NoData; 2]), |of, see| of.iter().for_each(see);
    /// A storage; `None` where the device has no loop for it.
    Maybe = |B| Option<B>, |given, to| given.map(to), Ok(None), |of, see| of.iter().for_each(see);
    /// A storage and how many elements it has, which depends on elements.
    Counted = |B| (B, usize), |given, to| (to(given.0), given.1), Err(Error::NoData { op: "masked_select" }), |of, see| see(&of.0);
    /// The same; `None` where the device has no loop for it.
    MaybeCounted = |B| Option<(B, usize)>, |given, to| given.map(|(storage, count)| (to(storage), count)), Ok(None), |of, see| of.iter().for_each(|of| see(&of.0));
    /// An answer, `false` without data.
    Answer = |B| bool, |given, _to| given, Ok(false), |_of, _see| ();
}

/// Nothing: it writes over what it reads.
pub enum Updated {}
impl Outcome for Updated {
    type In<B> = ();
    const UPDATES: bool = true;
    #[inline]
    fn rehoused<B, C>(_: (), _: impl Fn(B) -> C) {}
    #[inline]
    fn without_data() -> Result<()> {
        Ok(())
    }
    #[cfg(feature = "profile")]
    fn each<B>(_: &(), _: &mut dyn FnMut(&B)) {}
}

/// What a call of this kind gives.
pub type Given<C, B> = <<C as Kind>::Out as Outcome>::In<B>;

/// A kind of call: a struct of operands and arguments, generic over the storage of the operands.
pub trait Kind {
    /// The call, with operands in storages `B`.
    type Of<'a, B: 'a>;
    type Out: Outcome;
    /// What profiles call it.
    const NAME: &'static str;
    /// Whether profiles call it by its kernel instead.
    const IS_NAMED_BY_KERNEL: bool;
    fn rehoused<'a, 'b, B: 'a, To: 'b>(
        call: Self::Of<'a, B>,
        to: &'b impl Rehouse<B, To>,
    ) -> Rehoused<Self::Of<'b, To>>
    where
        'a: 'b;
    /// The storage of the first operand.
    fn place<'b, B>(call: &'b Self::Of<'_, B>) -> Option<&'b B>;
    /// The storage of each operand.
    #[cfg(feature = "grad")]
    fn storages<B>(call: &Self::Of<'_, B>, see: &mut dyn FnMut(&B));
    /// Dtype, sizes and strides of each operand, and whether it is written.
    #[cfg(feature = "profile")]
    fn each<B>(call: &Self::Of<'_, B>, see: &mut dyn FnMut(DType, &[usize], &[usize], bool));
}

/// How a device with storages `B` runs a kind of call.
pub trait RunOn<B>: Kind {
    fn run(call: Self::Of<'_, B>) -> Result<Given<Self, B>>;
}

/// A kind of call that every device runs. (A device with another storage adds its bound here.)
#[cfg(not(feature = "grad"))]
pub trait Call: RunOn<HostBuffer> + RunOn<CudaBuffer> {}
#[cfg(not(feature = "grad"))]
impl<C: RunOn<HostBuffer> + RunOn<CudaBuffer>> Call for C {}
/// The same, and tapes record it.
#[cfg(feature = "grad")]
pub trait Call: RunOn<HostBuffer> + RunOn<CudaBuffer> + crate::grad::Recorded {}
#[cfg(feature = "grad")]
impl<C: RunOn<HostBuffer> + RunOn<CudaBuffer> + crate::grad::Recorded> Call for C {}

/// For a call it writes the struct, with a function that makes one, and its kind.
macro_rules! calls {
    (@ kernel) => { true };
    (@ first $call:ident $first:ident $($others:ident)*) => { $call.$first.place() };
    ($(
        $(#[$doc:meta])*
        $name:ident $text:literal $(by $kernel:ident)? [$($g:ident: $bound:path),*] ($($given:ident: $given_ty:ty),*) ($($operand:ident: $operand_ty:ty),+) -> $out:ident;
    )*) => {$(
        $(#[$doc])*
        pub struct $name<'a, B, $($g: $bound),*> {
            $(pub(crate) $given: $given_ty,)*
            $(pub(crate) $operand: $operand_ty,)+
            types: PhantomData<&'a ($(fn() -> $g,)*)>,
        }
        impl<'a, B, $($g: $bound),*> $name<'a, B, $($g),*> {
            #[inline]
            #[allow(clippy::too_many_arguments)]
            pub(crate) fn new($($given: $given_ty,)* $($operand: $operand_ty,)+) -> Self {
                $name { $($given,)* $($operand,)+ types: PhantomData }
            }
        }
        impl<$($g: $bound),*> Kind for $name<'static, (), $($g),*> {
            type Of<'a, B: 'a> = $name<'a, B, $($g),*>;
            type Out = $out;
            const NAME: &'static str = $text;
            const IS_NAMED_BY_KERNEL: bool = false $(|| calls!(@ $kernel))?;
            #[inline]
            fn rehoused<'a, 'b, B: 'a, To: 'b>(
                call: Self::Of<'a, B>,
                to: &'b impl Rehouse<B, To>,
            ) -> Rehoused<Self::Of<'b, To>>
            where
                'a: 'b,
            {
                let $name { $($given,)* $($operand,)+ .. } = call;
                Ok($name { $($given,)* $($operand: found!($operand.rehoused(to)),)+ types: PhantomData })
            }
            #[inline]
            fn place<'b, B>(call: &'b Self::Of<'_, B>) -> Option<&'b B> {
                calls!(@ first call $($operand)+)
            }
            #[cfg(feature = "grad")]
            fn storages<B>(call: &Self::Of<'_, B>, see: &mut dyn FnMut(&B)) {
                $(call.$operand.storages(see);)+
            }
            #[cfg(feature = "profile")]
            fn each<B>(call: &Self::Of<'_, B>, see: &mut dyn FnMut(DType, &[usize], &[usize], bool)) {
                $(call.$operand.each(see);)+
            }
        }
    )*};
}
calls! {
    /// `kernel(a)`, with these strides of the result. Operands arrive broadcast to the sizes of the result, here and below.
    Unary "map" by kernel [A: Element, O: Element, K: Map1<A, O>] (kernel: K, strides: &'a [usize]) (a: View<'a, B, A>) -> One;
    /// `kernel(a, b)`
    Binary "map" by kernel [A: Element, C: Element, O: Element, K: Map2<A, C, O>] (kernel: K, strides: &'a [usize]) (a: View<'a, B, A>, b: View<'a, B, C>) -> One;
    /// `kernel(a, b, c)`
    Ternary "map" by kernel [A: Element, C: Element, F: Element, O: Element, K: Map3<A, C, F, O>] (kernel: K, strides: &'a [usize]) (a: View<'a, B, A>, b: View<'a, B, C>, c: View<'a, B, F>) -> One;
    /// `out = kernel(a)`
    UnaryInto "map" by kernel [A: Element, O: Element, K: Map1<A, O>] (kernel: K) (out: ViewMut<'a, B, O>, a: View<'a, B, A>) -> Nothing;
    /// `out = kernel(a, b)`
    BinaryInto "map" by kernel [A: Element, C: Element, O: Element, K: Map2<A, C, O>] (kernel: K) (out: ViewMut<'a, B, O>, a: View<'a, B, A>, b: View<'a, B, C>) -> Nothing;
    /// `out = kernel(out)`
    Update "update" by kernel [O: Element, K: Map1<O, O>] (kernel: K) (out: ViewMut<'a, B, O>) -> Updated;
    /// `out = kernel(out, b)`
    UpdateBy "update" by kernel [C: Element, O: Element, K: Map2<O, C, O>] (kernel: K) (out: ViewMut<'a, B, O>, b: View<'a, B, C>) -> Updated;
    /// Whether any element is what is looked for.
    Seek "any" [E: Castable] (what: Sought) (a: View<'a, B, E>) -> Answer;

    /// Reduces over the axes of `mask`; the result is row-major over the others.
    Reduce "reduce" by kernel [A: Element, R: Reducer<A>] (reducer: R, mask: u32) (a: View<'a, B, A>) -> One;
    /// A reduction with two results.
    ReduceBoth "reduce" by kernel [A: Element, R: TwoResults<A>] (reducer: R, mask: u32) (a: View<'a, B, A>) -> Two;
    /// Reduces `kernel(a, b)` without memory for these elements; both operands have the same sizes.
    ReducePairs "reduce" by kernel [A: Element, C: Element, E: Element, K: Map2<A, C, E>, R: Reducer<E>] (reducer: R, kernel: K, mask: u32) (a: View<'a, B, A>, b: View<'a, B, C>) -> One;
    /// Runs a kernel on every lane along an axis; the result is row-major.
    Lanes "lanes" by kernel [A: Element, O: Element, K: LaneKernel<A, O>] (kernel: K, axis: usize) (a: View<'a, B, A>) -> One;
    /// A kernel of lanes with two results.
    LanesBoth "lanes" by kernel [A: Element, O: Element, P: Element, K: LaneKernel<A, (O, P)>] (kernel: K, axis: usize) (a: View<'a, B, A>) -> Two;
    /// Runs a kernel on every row (the last axis, contiguous), with shared rows of the same length; the result is row-major.
    Rows "rows" by kernel [A: Element, O: Element, K: RowKernel<A, O>] (kernel: K) (a: View<'a, B, A>, shared: [Option<View<'a, B, A>>; 2]) -> One;
    /// Runs a kernel on groups of channels: on each `(channels, places)` of `(N, groups, channels, places)`, row-major, as one row. The
    /// shared lists have an element for each channel of all groups. The result is row-major.
    Groups "rows" by kernel [A: Element, O: Element, K: RowKernel<A, O>] (kernel: K) (a: View<'a, B, A>, shared: [Option<View<'a, B, A>>; 2]) -> Maybe;

    /// Assembles each axis from segments of the operand's; `fill` is the value of fill segments. The result is row-major.
    Pick "pick" [E: Element] (axes: &'a [Vec<Segment>], fill: E) (a: View<'a, B, E>) -> One;
    /// Concatenates pieces along an axis, which they fill; their other sizes are those of the result. There is a piece.
    Join "join" [E: Element] (axis: usize, sizes: &'a [usize], strides: &'a [usize]) (pieces: Cow<'a, [View<'a, B, E>]>) -> One;
    /// Contiguous matrices, zeroed except where `low <= column - row <= high`.
    Band "band" [E: Element] (low: isize, high: isize) (a: View<'a, B, E>) -> One;
    /// The elements of `a` at the positions of the result, with the index in place of the position along the axis. The result is
    /// row-major and has the sizes of `index`, which are no larger than those of `a` along the other axes. (A device without data does
    /// not check indices.)
    Gather "gather" [E: Element] (indexing: Indexing) (a: View<'a, B, E>, index: View<'a, B, i64>) -> One;
    /// Writes elements of `b` at the indices; of several at one place the last one stays. The sizes of `index` are no larger than those
    /// of `b`, nor than those of `out` along the other axes. Nothing is written if an index is out of range.
    Scatter "scatter" [E: Element] (indexing: Indexing) (out: ViewMut<'a, B, E>, index: View<'a, B, i64>, b: View<'a, B, E>) -> Nothing;
    /// [`Scatter`] that writes `kernel(out, b)`, in the order of the indices along the axis.
    ScatterWith "scatter" [E: Element, K: Map2<E, E, E>] (indexing: Indexing, kernel: K) (out: ViewMut<'a, B, E>, index: View<'a, B, i64>, b: View<'a, B, E>) -> Nothing;
    /// The elements of `a` selected by the mask, in row-major order, and how many there are.
    Compress "compress" [E: Element] () (a: View<'a, B, E>, mask: View<'a, B, bool>) -> Counted;
    /// The indices of the elements of a mask that are true, a row for each, in row-major order, and how many rows there are. There is an
    /// axis.
    IndexRows "compress" [] () (mask: View<'a, B, bool>) -> MaybeCounted;
    /// The values that an order selects along an axis, and their `i64` positions; row-major. `E` has an order; the order admits the axis,
    /// or the result is empty.
    Sort "sort" [E: Element] (order: Order, axis: usize) (a: View<'a, B, E>) -> Two;
    /// The positions at which the values would be inserted into the sorted lanes along the last axis, as `i64`; row-major. `E` has an
    /// order; leading sizes are the same.
    Search "search" [E: Element] (right: bool) (sorted: View<'a, B, E>, values: View<'a, B, E>) -> One;

    /// The product of `(…, m, k)` and `(…, k, n)` with equal leading sizes (strides may be 0), what is added to it, and a kernel applied to
    /// each element of the result, which is row-major.
    Product "matmul" [E: Dtype, K: Map1<E, E>] (kernel: Option<K>) (a: View<'a, B, E>, b: View<'a, B, E>, added: Option<Added<'a, B, E>>) -> One;
    /// The product of `(m, k)` and the transpose of a weight `(n, k)`, with a bias `(n)` and a kernel. The weight was [packed](Pack) as that
    /// of a convolution, `(n, k, 1, 1, 1)`: of the view its buffer and sizes count.
    ProductByPacked "matmul" [E: Dtype, K: Map1<E, E>] (kernel: Option<K>) (x: View<'a, B, E>, weight: View<'a, B, E>, bias: Option<View<'a, B, E>>) -> One;
    /// The product of `(m, k)`, `u8` or `i8`, and `(k, n)`, in `i32`; row-major.
    ProductOfBytes "matmul" [E: Dtype] () (a: View<'a, B, E>, b: View<'a, B, i8>) -> One;
    /// The convolution of `(N, C, D, H, W)` with weights `(O, C / groups, D, H, W)` and a bias `(O)`, of the sizes given, which are those
    /// that the windows lead to. The groups divide both numbers of channels. A kernel is applied to each element of the result.
    /// The weight may be [packed](Pack): then its buffer and sizes count.
    Convolve "convolve" [E: Dtype, K: Map1<E, E>] (kernel: Option<K>, is_packed: bool, convolution: &'a Convolution, sizes: &'a [usize], strides: &'a [usize]) (x: View<'a, B, E>, weight: View<'a, B, E>, bias: Option<View<'a, B, E>>) -> One;
    /// A weight as [`Convolve`] reads packed ones, of a convolution with this number of groups.
    Pack "pack" [E: Dtype] (groups: usize) (weight: View<'a, B, E>) -> One;
    /// What windows see of `(N, D, H, W, C)`, reduced to one element each; positions beyond an axis count for nothing. The result is
    /// row-major, with the numbers of windows instead of `D`, `H` and `W`.
    Pool "pool" [A: Element, R: Reducer<A>] (reducer: R, windows: &'a [Window; 3], places: [usize; 3]) (x: View<'a, B, A>) -> Maybe;
    /// Scaled dot-product attention: `(…, L, V)`, row-major. `E` is a float. What a query does not see never reaches its result.
    Attend "attention" [E: Dtype] () (attention: Attention<'a, B, E>) -> One;
}

/// No kernel: what `None` is an option of.
#[derive(Clone, Copy)]
pub enum NoKernel {}
impl<E: Element> Map1<E, E> for NoKernel {
    fn call(self, _: E) -> E {
        match self {}
    }
    fn text(
        &self,
        _: &mut crate::ops::record::kernel::Kernel,
        _: crate::ops::record::kernel::Value,
    ) -> crate::ops::record::kernel::Value {
        match *self {}
    }
}

/// For each kind of call, how storages of a device run it:
/// `runs! { HostBuffer: Unary<A: Element, …> |call| …; }`
macro_rules! runs {
    ($storage:ty: $($name:ident [$($g:ident: $bound:path),*] |$call:ident| $run:expr;)*) => {$(
        impl<$($g: $bound),*> $crate::device::call::RunOn<$storage> for $crate::device::call::$name<'static, (), $($g),*> {
            #[inline]
            fn run($call: $crate::device::call::$name<'_, $storage, $($g),*>) -> $crate::error::Result<$crate::device::call::Given<Self, $storage>> {
                $run
            }
        }
    )*};
}
pub(in crate::device) use runs;
