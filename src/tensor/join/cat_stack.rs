//! Joining tensors: `cat` along an existing axis, `stack` along a new one.
//!
//! Tuples join tensors of different types, and the compiler knows the shape of the result; slices and vectors join any number of one type.
//! Dtypes promote; shell dtypes join with themselves only.

use super::pieces::{Folded, FoldedSame, Piece, SamePlace};
use crate::composite::Erased;
use crate::composite::join::end_to_end::{self, piece};
use crate::device::Device;
use crate::dtype::{CastTo, Element};
use crate::error::{Result, collected};
use crate::sealed::Sealed;
use crate::shape::{AxisArg, D2, D3, D4, D5, D6, D7, D8, Dyn, HasAxis, InsertAxis, Shape};
use crate::tensor::Tensor;
use crate::tensor::base::assign::Inside;
use castiron_macros::fallible;

/// Tensors that [`cat`] joins along axis `I`: a tuple of up to eight, or a slice, array or vector of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tensors that can be joined along axis {I}",
    label = "expected a tuple such as `(&a, &b)`, or a slice or vector of tensors of one type"
)]
pub trait Joined<const I: isize>: Sealed {
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
pub trait Stacked<const I: isize>: Sealed {
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
    tensors.stack()
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
                let pieces = [piece($first.elements(Inside))?, $(piece(<$first::Device as SamePlace<$rest::Device>>::here($rest))?),+];
                end_to_end::cat("cat", &pieces, <Whole as HasAxis<I>>::INDEX)?.typed("cat")
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
                let pieces = [piece($first.elements(Inside))?, $(piece(<$first::Device as SamePlace<$rest::Device>>::here($rest))?),+];
                end_to_end::stack("stack", &pieces, <Each as InsertAxis<I>>::INDEX)?.typed("stack")
            }
        }
    )*};
}

tuples! {
    [A B] D2; [A B C] D3; [A B C F] D4; [A B C F G] D5; [A B C F G H] D6; [A B C F G H J] D7; [A B C F G H J K] D8;
}

/// The elements of tensors of one type.
fn all<P: Piece>(pieces: &[P]) -> Result<Vec<Erased<'_, P::Elem, P::Device>>> {
    collected(pieces.iter().map(|piece| Ok(Erased::of(piece.elements(Inside)))))
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
                end_to_end::cat("cat", &all(&self[..])?, <P::Shape as HasAxis<I>>::INDEX)?.typed("cat")
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
                end_to_end::stack("stack", &all(&self[..])?, <P::Shape as InsertAxis<I>>::INDEX)?.typed("stack")
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
