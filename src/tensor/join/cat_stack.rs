//! Joining tensors: `cat` along an existing axis, `stack` along a new one.
//!
//! Tuples join tensors of different types, and the compiler knows the shape of the result; slices and vectors join any number of one type.
//! Dtypes promote; shell dtypes join with themselves only.

use super::pieces::{Folded, FoldedSame, Piece, SamePlace};
use super::plan::{JoinPlan, joined_sizes, with_new_axis};
use crate::device::Device;
use crate::dtype::{CastTo, Element};
use crate::error::{Error, Result, Sizes};
use crate::shape::{AxisArg, D2, D3, D4, D5, D6, D7, D8, Dyn, HasAxis, InsertAxis, Shape};
use crate::tensor::Tensor;
use crate::tensor::base::assign::Inside;
use castiron_macros::fallible;

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

/// Concatenates tensors along an axis (`torch.cat`). All other sizes are the same; dtypes promote. For a tuple the type has the sum of
/// sizes; for a slice it is known at run time.
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
#[doc(alias = "concat")]
#[doc(alias = "concatenate")]
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

/// Stacks tensors of one shape along a new axis (`torch.stack`). Dtypes promote. For a tuple the type has the size of the new axis; for a
/// slice it is known at run time.
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
        // Internally pieces already have the new axis; the error shows the sizes that the caller gave.
        Error::Join { op, first, other, axis } => {
            let own = |sizes: Sizes| [&sizes.as_slice()[..axis], &sizes.as_slice()[axis + 1..]].concat()[..].into();
            Error::Join { op, first: own(first), other: own(other), axis }
        }
        error => error,
    })
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
