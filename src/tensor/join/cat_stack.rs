//! FromParts tensors: `cat` end to end along an axis, `stack` along a new one.
//!
//! Tuples join tensors of different types, and the compiler knows the result; slices and vectors join any number of one
//! type. Dtypes promote; shell dtypes join their own kind.
//! Uses `base::assign`, `ops::kernel`, `device`, `layout`; used by `join::meshgrid`, `join::hstack`.

use crate::device::{Backend, Device};
use crate::dtype::{CastTo, Dtype, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU};
use crate::error::{Error, Result, Sizes};
use crate::layout::{MemoryFormat, memory_format, strides};
use crate::ops::kernel::Casting;
use crate::shape::{
    AxisArg, Concat, D2, D3, D4, D5, D6, D7, D8, Dyn, HasAxis, InsertAxis, Shape, SizeArray, StackedOn,
};
use crate::storage::View;
use crate::tensor::base::assign::Inside;
use crate::tensor::{Tensor, TensorView, TensorViewMut, checked_numel, expect_fit};
use castiron_macros::fallible;

/// Elements of dtype `Self` and of dtype `Rhs` can stand in one tensor: all computing dtypes (which promote), and each
/// shell with itself.
#[diagnostic::on_unimplemented(
    message = "tensors of dtypes `{Self}` and `{Rhs}` can't be joined: promotion is not defined for shell dtypes",
    label = "a shell dtype joins its own kind only",
    note = "cast first, for example `.to::<f32>()`"
)]
pub trait JoinDtype<Rhs>: Element {
    /// The dtype of the joined tensor.
    type Output: Element;
}
impl<A: Dtype, B: Dtype> JoinDtype<B> for A {
    type Output = A::With<B>;
}
macro_rules! shells {
    ($($shell:ty),*) => {$(
        impl JoinDtype<$shell> for $shell {
            type Output = $shell;
        }
    )*};
}
shells!(u16, u32, u64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FNX2);

/// A tensor or a reference to one, of any dtype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strided tensor",
    label = "expected a tensor or a reference to one",
    note = "make a sparse one strided with `.to_dense()`, memory a tensor with `TensorView::from_slice`, a number one with `tensor![…]`"
)]
pub trait Piece {
    /// Its dtype.
    type Elem: Element;
    /// Its shape.
    type Shape: Shape;
    /// Its device.
    type Device: Device;
    #[doc(hidden)]
    fn elements(&self, _: Inside) -> View<'_, <Self::Device as Backend>::Storage, Self::Elem>;
    #[doc(hidden)]
    fn tensor(&self) -> Tensor<Self::Elem, Self::Shape, Self::Device>;
}
impl<E: Element, S: Shape, D: Device> Piece for Tensor<E, S, D> {
    type Elem = E;
    type Shape = S;
    type Device = D;
    fn elements(&self, _: Inside) -> View<'_, D::Storage, E> {
        Tensor::elements(self)
    }
    fn tensor(&self) -> Self {
        self.clone()
    }
}
/// For a view it writes `impl Piece`.
macro_rules! views {
    ($($view:ident),*) => {$(
        impl<E: Element, S: Shape, D: Device> Piece for $view<'_, E, S, D> {
            type Elem = E;
            type Shape = S;
            type Device = D;
            fn elements(&self, _: Inside) -> View<'_, D::Storage, E> {
                Tensor::elements(self)
            }
            fn tensor(&self) -> Tensor<E, S, D> {
                Tensor::clone(self)
            }
        }
    )*};
}
views!(TensorView, TensorViewMut);
impl<P: Piece> Piece for &P {
    type Elem = P::Elem;
    type Shape = P::Shape;
    type Device = P::Device;
    fn elements(&self, _: Inside) -> View<'_, <P::Device as Backend>::Storage, P::Elem> {
        (**self).elements(Inside)
    }
    fn tensor(&self) -> Tensor<P::Elem, P::Shape, P::Device> {
        (**self).tensor()
    }
}

/// Two pieces on one device.
#[diagnostic::on_unimplemented(
    message = "tensors on different devices can't be joined: `{Self}` and `{Other}`",
    label = "these tensors are on different devices",
    note = "move one of them with `.to_device::<{Self}>()`"
)]
pub trait SamePlace<Other>: Device {
    #[doc(hidden)]
    fn here<'a, O: Piece<Device = Other>>(other: &'a O) -> View<'a, Self::Storage, O::Elem>
    where
        Other: Device;
}
impl<D: Device> SamePlace<D> for D {
    fn here<'a, O: Piece<Device = D>>(other: &'a O) -> View<'a, D::Storage, O::Elem> {
        other.elements(Inside)
    }
}

/// The sizes of the joined tensor.
fn joined_sizes<T: Shape>(op: &'static str, pieces: &[&[usize]], axis: usize) -> Result<T::Sizes> {
    let Some(&first) = pieces.first() else {
        return Err(Error::InvalidArgument { op, reason: "there are no tensors to join".to_owned() });
    };
    let mut sizes = T::Sizes::copied(first);
    let mut total = 0_usize;
    for &piece in pieces {
        let fits = piece.iter().zip(first).enumerate().all(|(at, (size, first))| at == axis || size == first);
        if !fits {
            return Err(Error::Join { op, first: first.into(), other: piece.into(), axis });
        }
        total = total.checked_add(piece[axis]).ok_or_else(|| Error::TooLarge { op, sizes: [usize::MAX][..].into() })?;
    }
    sizes.as_mut()[axis] = total;
    expect_fit::<T>(op, sizes.as_ref())?;
    Ok(sizes)
}

/// One piece of a joined tensor, of its dtype.
struct JoinInput<B> {
    storage: B,
    offset: usize,
    sizes: Vec<usize>,
    strides: Vec<usize>,
}

impl<B> JoinInput<B> {
    fn elements<O>(&self) -> View<'_, B, O> {
        View::new(&self.storage, self.offset, &self.sizes, &self.strides)
    }
}

/// What is joined: the pieces, the memory formats they suggest, and the sizes of the whole.
struct JoinPlan<O: Element, T: Shape, D: Device> {
    op: &'static str,
    /// Whether the axis is a new one.
    stacks: bool,
    inputs: Vec<JoinInput<D::Storage>>,
    suggested: Vec<MemoryFormat>,
    sizes: T::Sizes,
    axis: usize,
    elements: core::marker::PhantomData<O>,
}
impl<O: Element, T: Shape, D: Device> JoinPlan<O, T, D> {
    fn new(op: &'static str, stacks: bool, sizes: T::Sizes, axis: usize) -> Result<Self> {
        checked_numel::<O>(op, sizes.as_ref())?;
        let (inputs, suggested) = (Vec::new(), Vec::new());
        Ok(JoinPlan { op, stacks, inputs, suggested, sizes, axis, elements: core::marker::PhantomData })
    }

    /// Whether pieces are stacked along a new axis that is not the last.
    fn divides_an_axis(&self) -> bool {
        self.stacks && self.axis + 1 < T::RANK
    }

    /// One more piece; of another dtype it is converted.
    fn push<E: CastTo<O>>(&mut self, piece: View<'_, D::Storage, E>) -> Result<()> {
        let (sizes, strides) = (piece.sizes.to_vec(), piece.strides.to_vec());
        self.suggested.push(if self.divides_an_axis() {
            let own = |of: &[usize]| [&of[..self.axis], &of[self.axis + 1..]].concat();
            MemoryFormat::suggested(&own(&sizes), &own(&strides))
        } else {
            MemoryFormat::suggested(&sizes, &strides)
        });
        self.inputs.push(if E::DTYPE == O::DTYPE {
            let (storage, offset) = D::share(piece);
            JoinInput { storage, offset, sizes, strides }
        } else {
            let strides = MemoryFormat::PRESERVE.copied(self.op, &sizes, &strides)?;
            JoinInput { storage: D::map1::<E, O>(Casting, piece, &strides)?, offset: 0, sizes, strides }
        });
        Ok(())
    }

    fn finish(self) -> Result<Tensor<O, T, D>> {
        let views: Vec<View<'_, D::Storage, O>> = self.inputs.iter().map(JoinInput::elements).collect();
        let (sizes, row_major) = (self.sizes.as_ref(), strides::contiguous(&self.sizes));
        let strides = match memory_format::joined(&self.suggested) {
            MemoryFormat::CONTIGUOUS => row_major,
            _ if self.divides_an_axis() => T::Sizes::copied(&memory_format::stacked(sizes, self.axis, &self.suggested)),
            format => T::Sizes::copied(&format.copied(self.op, sizes, row_major.as_ref())?),
        };
        if strides == row_major {
            let storage = D::join(&views, self.axis, sizes, strides.as_ref())?;
            return Ok(Tensor::from_parts(storage, 0, self.sizes, strides));
        }
        // With its axes sorted by stride the result is row-major.
        let mut order: Vec<usize> = (0..T::RANK).collect();
        order.sort_by_key(|&axis| core::cmp::Reverse(strides.as_ref()[axis]));
        let reordered = |of: &[usize]| -> Vec<usize> { order.iter().map(|&axis| of[axis]).collect() };
        let layouts: Vec<_> = views.iter().map(|view| (reordered(view.sizes), reordered(view.strides))).collect();
        let views: Vec<_> =
            views.into_iter().zip(&layouts).map(|(view, (sizes, strides))| view.restrided(sizes, strides)).collect();
        let axis = order.iter().position(|&axis| axis == self.axis).unwrap_or(0);
        let storage = D::join(&views, axis, &reordered(sizes), &reordered(strides.as_ref()))?;
        Ok(Tensor::from_parts(storage, 0, self.sizes, strides))
    }
}

/// Tensors that [`cat`] joins along axis `I`: a tuple of up to eight, or a slice, array or vector of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tensors that can be joined along axis {I}",
    label = "expected a tuple such as `(&a, &b)`, or a slice or vector of tensors of one type"
)]
pub trait Joined<const I: isize> {
    /// The dtype of the joined tensor.
    type Elem: Element;
    /// Its shape.
    type Shape: Shape;
    /// Its device.
    type Device: Device;
    #[doc(hidden)]
    fn join(self) -> Result<Tensor<Self::Elem, Self::Shape, Self::Device>>;
}

/// Joins tensors end to end along an axis (`torch.cat`). All other sizes are the same; dtypes promote. A tuple's sizes add
/// up in the type; a slice's are known at run time.
///
/// # Panics
/// If sizes known at run time differ or memory runs out.
///
/// ```
/// use castiron::{axis, cat, shape, tensor, Tensor};
/// let a = tensor![[1, 2], [3, 4]];
/// let b = tensor![[0.5, 0.5]];
/// let joined: Tensor<f32, shape![3, 2]> = cat((&a, &b), axis![0]);
/// assert_eq!(joined.to_vec(), [1.0, 2.0, 3.0, 4.0, 0.5, 0.5]);
/// let many: Tensor<i64, shape![_, 2]> = cat(vec![a.clone(); 5], axis![0]);
/// assert_eq!(many.shape(), [10, 2]);
/// ```
#[fallible(free)]
pub fn cat<const I: isize, L, E: Element, S: Shape, D: Device>(
    tensors: L,
    axis: impl AxisArg<I>,
) -> Result<Tensor<E, S, D>>
where
    L: Joined<I, Elem = E, Shape = S, Device = D>,
{
    tensors.join()
}

/// Tensors that [`stack`] joins along a new axis `I`: a tuple of up to eight, or a slice, array or vector of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tensors that can be stacked along a new axis {I}",
    label = "expected a tuple such as `(&a, &b)`, or a slice or vector of tensors of one type"
)]
pub trait Stacked<const I: isize> {
    /// The dtype of the stacked tensor.
    type Elem: Element;
    /// Its shape.
    type Shape: Shape;
    /// Its device.
    type Device: Device;
    #[doc(hidden)]
    fn stack(self) -> Result<Tensor<Self::Elem, Self::Shape, Self::Device>>;
}

/// Joins tensors of one shape along a new axis (`torch.stack`). Dtypes promote. The new axis has the tuple's length in the
/// type; a slice's is known at run time.
///
/// # Panics
/// If sizes known at run time differ or memory runs out.
///
/// ```
/// use castiron::{axis, shape, stack, tensor, Tensor};
/// let (x, y) = (tensor![1, 2, 3], tensor![4, 5, 6]);
/// let points: Tensor<i64, shape![3, 2]> = stack((&x, &y), axis![-1]);
/// assert_eq!(points.to_vec(), [1, 4, 2, 5, 3, 6]);
/// ```
#[fallible(free)]
pub fn stack<const I: isize, L, E: Element, S: Shape, D: Device>(
    tensors: L,
    axis: impl AxisArg<I>,
) -> Result<Tensor<E, S, D>>
where
    L: Stacked<I, Elem = E, Shape = S, Device = D>,
{
    tensors.stack().map_err(|error| match error {
        // Inside, pieces have the new axis already; the error shows the sizes that the caller gave.
        Error::Join { op, first, other, axis } => {
            let own = |sizes: Sizes| [&sizes.as_slice()[..axis], &sizes.as_slice()[axis + 1..]].concat()[..].into();
            Error::Join { op, first: own(first), other: own(other), axis }
        }
        error => error,
    })
}

/// A piece seen with the new axis, of size 1, in place.
fn with_new_axis(sizes: &[usize], strides: &[usize], axis: usize) -> (Vec<usize>, Vec<usize>) {
    ([&sizes[..axis], &[1], &sizes[axis..]].concat(), [&strides[..axis], &[1], &strides[axis..]].concat())
}

/// For three pieces it writes `impl Joined<I> for (A, B, C)` and `impl Stacked<I> for (A, B, C)`.
macro_rules! tuples {
    ($([$first:ident $($rest:ident)+] $count:ident;)*) => {$(
        #[allow(non_snake_case)]
        impl<const I: isize, $first: Piece, $($rest: Piece,)+ Elem, Whole> Joined<I> for ($first, $($rest,)+)
        where
            $first::Device: $(SamePlace<$rest::Device> +)+ Device,
            ($first, $($rest,)+): Folded<I, Elem = Elem, Concatenated = Whole>,
            Whole: Shape + HasAxis<I>,
            Elem: Element,
            $first::Elem: CastTo<Elem>,
            $($rest::Elem: CastTo<Elem>,)+
        {
            type Elem = Elem;
            type Shape = Whole;
            type Device = $first::Device;
            fn join(self) -> Result<Tensor<Elem, Whole, $first::Device>> {
                let ($first, $($rest,)+) = &self;
                let axis = <Whole as HasAxis<I>>::INDEX;
                let ($first, $($rest,)+) = ($first.elements(Inside), $(<$first::Device as SamePlace<$rest::Device>>::here($rest),)+);
                let sizes = joined_sizes::<Whole>("cat", &[$first.sizes, $($rest.sizes),+], axis)?;
                let mut join = JoinPlan::<Elem, Whole, $first::Device>::new("cat", false, sizes, axis)?;
                join.push($first)?;
                $(join.push($rest)?;)+
                join.finish()
            }
        }

        #[allow(non_snake_case)]
        impl<const I: isize, $first: Piece, $($rest: Piece,)+ Elem, Each> Stacked<I> for ($first, $($rest,)+)
        where
            $first::Device: $(SamePlace<$rest::Device> +)+ Device,
            ($first, $($rest,)+): FoldedSame<Elem = Elem, Merged = Each>,
            Each: Shape + InsertAxis<I>,
            Elem: Element,
            $first::Elem: CastTo<Elem>,
            $($rest::Elem: CastTo<Elem>,)+
        {
            type Elem = Elem;
            type Shape = <Each as InsertAxis<I>>::Inserted<$count>;
            type Device = $first::Device;
            fn stack(self) -> Result<Tensor<Elem, Self::Shape, $first::Device>> {
                let ($first, $($rest,)+) = &self;
                let axis = <Each as InsertAxis<I>>::INDEX;
                let ($first, $($rest,)+) = ($first.elements(Inside), $(<$first::Device as SamePlace<$rest::Device>>::here($rest),)+);
                let shapes = [with_new_axis($first.sizes, $first.strides, axis), $(with_new_axis($rest.sizes, $rest.strides, axis)),+];
                let sizes: Vec<&[usize]> = shapes.iter().map(|(sizes, _)| &sizes[..]).collect();
                let sizes = joined_sizes::<Self::Shape>("stack", &sizes, axis)?;
                let mut join = JoinPlan::<Elem, Self::Shape, $first::Device>::new("stack", true, sizes, axis)?;
                let mut pieces = shapes.iter();
                tuples!(@put join pieces $first $($rest)+);
                join.finish()
            }
        }
    )*};
    (@put $join:ident $pieces:ident $($piece:ident)+) => {$(
        if let Some((sizes, strides)) = $pieces.next() {
            $join.push($piece.restrided(sizes, strides))?;
        }
    )+};
}

/// The dtype and shape of tensors joined one after another.
pub trait Folded<const I: isize> {
    type Elem: Element;
    type Concatenated: Shape;
}
/// The dtype and shape of tensors that must all have one shape.
pub trait FoldedSame {
    type Elem: Element;
    type Merged: Shape;
}

macro_rules! folds {
    ($([$first:ident $second:ident $($rest:ident)*];)*) => {$(
        impl<const I: isize, $first: Piece, $second: Piece, $($rest: Piece,)*> Folded<I> for ($first, $second, $($rest,)*)
        where
            Fold<$first::Elem, $first::Shape>: ConcatFold<I, ($second, $($rest,)*)>,
        {
            type Elem = <Fold<$first::Elem, $first::Shape> as ConcatFold<I, ($second, $($rest,)*)>>::Elem;
            type Concatenated = <Fold<$first::Elem, $first::Shape> as ConcatFold<I, ($second, $($rest,)*)>>::Shape;
        }
        impl<$first: Piece, $second: Piece, $($rest: Piece,)*> FoldedSame for ($first, $second, $($rest,)*)
        where
            Fold<$first::Elem, $first::Shape>: MergeFold<($second, $($rest,)*)>,
        {
            type Elem = <Fold<$first::Elem, $first::Shape> as MergeFold<($second, $($rest,)*)>>::Elem;
            type Merged = <Fold<$first::Elem, $first::Shape> as MergeFold<($second, $($rest,)*)>>::Shape;
        }
        impl<const I: isize, E: Element, S: Shape, Both, Met, $second: Piece, $($rest: Piece,)*> ConcatFold<I, ($second, $($rest,)*)> for Fold<E, S>
        where
            E: JoinDtype<$second::Elem, Output = Both>,
            S: Concat<I, $second::Shape, Output = Met>,
            Fold<Both, Met>: ConcatFold<I, ($($rest,)*)>,
        {
            type Elem = <Fold<Both, Met> as ConcatFold<I, ($($rest,)*)>>::Elem;
            type Shape = <Fold<Both, Met> as ConcatFold<I, ($($rest,)*)>>::Shape;
        }
        impl<E: Element, S: Shape, Both, Met, $second: Piece, $($rest: Piece,)*> MergeFold<($second, $($rest,)*)> for Fold<E, S>
        where
            E: JoinDtype<$second::Elem, Output = Both>,
            S: StackedOn<$second::Shape, Output = Met>,
            Fold<Both, Met>: MergeFold<($($rest,)*)>,
        {
            type Elem = <Fold<Both, Met> as MergeFold<($($rest,)*)>>::Elem;
            type Shape = <Fold<Both, Met> as MergeFold<($($rest,)*)>>::Shape;
        }
    )*};
}
/// The dtype and shape of the tensors met so far.
pub struct Fold<E, S>(core::marker::PhantomData<(E, S)>);
/// A fold continued by more tensors, end to end.
pub trait ConcatFold<const I: isize, Rest> {
    type Elem: Element;
    type Shape: Shape;
}
impl<const I: isize, E: Element, S: Shape> ConcatFold<I, ()> for Fold<E, S> {
    type Elem = E;
    type Shape = S;
}
/// A fold continued by more tensors of the same shape.
pub trait MergeFold<Rest> {
    type Elem: Element;
    type Shape: Shape;
}
impl<E: Element, S: Shape> MergeFold<()> for Fold<E, S> {
    type Elem = E;
    type Shape = S;
}
folds! {
    [A B]; [A B C]; [A B C F]; [A B C F G]; [A B C F G H]; [A B C F G H J]; [A B C F G H J K];
}
tuples! {
    [A B] D2; [A B C] D3; [A B C F] D4; [A B C F G] D5; [A B C F G H] D6; [A B C F G H J] D7; [A B C F G H J K] D8;
}

/// Joins any number of tensors of one type.
fn join_all<const I: isize, P: Piece<Shape: HasAxis<I>>>(
    pieces: &[P],
) -> Result<Tensor<P::Elem, <P::Shape as HasAxis<I>>::Replace<Dyn>, P::Device>>
where
    P::Elem: CastTo<P::Elem>,
{
    let axis = <P::Shape as HasAxis<I>>::INDEX;
    let views: Vec<_> = pieces.iter().map(|piece| piece.elements(Inside)).collect();
    let sizes: Vec<&[usize]> = views.iter().map(|view| view.sizes).collect();
    if <P::Shape as Shape>::RANK == 0 {
        return Err(Error::InvalidArgument {
            op: "cat",
            reason: "zero-dim tensors have no axis to be joined along: use `stack`".to_owned(),
        });
    }
    let sizes = joined_sizes::<<P::Shape as HasAxis<I>>::Replace<Dyn>>("cat", &sizes, axis)?;
    let mut join = JoinPlan::new("cat", false, sizes, axis)?;
    for view in views {
        join.push(view)?;
    }
    join.finish()
}

/// Stacks any number of tensors of one type.
fn stack_all<const I: isize, P: Piece<Shape: InsertAxis<I>>>(
    pieces: &[P],
) -> Result<Tensor<P::Elem, <P::Shape as InsertAxis<I>>::Inserted<Dyn>, P::Device>>
where
    P::Elem: CastTo<P::Elem>,
{
    let axis = <P::Shape as InsertAxis<I>>::INDEX;
    let views: Vec<_> = pieces.iter().map(|piece| piece.elements(Inside)).collect();
    let shapes: Vec<_> = views.iter().map(|view| with_new_axis(view.sizes, view.strides, axis)).collect();
    let sizes: Vec<&[usize]> = shapes.iter().map(|(sizes, _)| &sizes[..]).collect();
    let sizes = joined_sizes::<<P::Shape as InsertAxis<I>>::Inserted<Dyn>>("stack", &sizes, axis)?;
    let mut join = JoinPlan::new("stack", true, sizes, axis)?;
    for (view, (sizes, strides)) in views.into_iter().zip(&shapes) {
        join.push(view.restrided(sizes, strides))?;
    }
    join.finish()
}

/// Writes both traits for a list type.
macro_rules! lists {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<const I: isize, P: Piece<Shape: HasAxis<I>>, $($generics)*> Joined<I> for $list
        where
            P::Elem: CastTo<P::Elem>,
        {
            type Elem = P::Elem;
            type Shape = <P::Shape as HasAxis<I>>::Replace<Dyn>;
            type Device = P::Device;
            fn join(self) -> Result<Tensor<Self::Elem, Self::Shape, Self::Device>> {
                join_all::<I, P>(&self[..])
            }
        }
        impl<const I: isize, P: Piece<Shape: InsertAxis<I>>, $($generics)*> Stacked<I> for $list
        where
            P::Elem: CastTo<P::Elem>,
        {
            type Elem = P::Elem;
            type Shape = <P::Shape as InsertAxis<I>>::Inserted<Dyn>;
            type Device = P::Device;
            fn stack(self) -> Result<Tensor<Self::Elem, Self::Shape, Self::Device>> {
                stack_all::<I, P>(&self[..])
            }
        }
    )*};
}
lists! {
    [] &[P];
    [] &Vec<P>;
    [] Vec<P>;
    [const N: usize] [P; N];
    [const N: usize] &[P; N];
}
