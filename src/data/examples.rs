//! `Examples`: what is cut into batches.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::sealed::Sealed;
use crate::shape::{Dim, Dimensional, HasAxis, Shape, SizeArray};
use crate::tensor::{Tensor, fits, shape_text};
use core::ops::Range;

/// Examples along the first axis of a tensor, or of several: tensors or references to them (which share storage), and tuples of
/// [`Examples`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be cut into batches",
    label = "expected a tensor with at least one axis, a reference to one, or a tuple of them: `Batches::new((&x, &y), 32)`"
)]
pub trait Examples: Sealed {
    /// What is kept: the tensors themselves, which share storage with those that were given.
    type Kept: Examples<Kept = Self::Kept> + Clone + Send + 'static;
    /// A batch, whose first axis is `N`.
    type Batch<N: Dim>: Send + 'static;

    /// What is kept of them.
    #[doc(hidden)]
    fn kept(self) -> Self::Kept;
    /// How many there are; an error if the tensors of a tuple do not agree.
    #[doc(hidden)]
    fn count(&self) -> Result<usize>;
    /// Some examples that follow each other: views.
    #[doc(hidden)]
    fn range<N: Dim>(&self, range: Range<usize>) -> Result<Self::Batch<N>>;
    /// The examples at these positions: copies.
    #[doc(hidden)]
    fn at<N: Dim>(&self, positions: &[i64]) -> Result<Self::Batch<N>>;
}

impl<E: Element, S: Shape + Dimensional + HasAxis<0>, D: Device> Examples for Tensor<E, S, D> {
    type Kept = Self;
    type Batch<N: Dim> = Tensor<E, <S as HasAxis<0>>::Replace<N>, D>;

    fn kept(self) -> Self {
        self
    }
    fn count(&self) -> Result<usize> {
        Ok(self.shape().as_ref()[0])
    }
    fn range<N: Dim>(&self, range: Range<usize>) -> Result<Self::Batch<N>> {
        let sizes = sizes_of::<S, N>(&self.shape(), range.len())?;
        let strides = SizeArray::copied(self.stride().as_ref());
        Ok(self.restrided(range.start * self.stride().as_ref()[0], sizes, strides))
    }
    fn at<N: Dim>(&self, positions: &[i64]) -> Result<Self::Batch<N>> {
        sizes_of::<S, N>(&self.shape(), positions.len())?;
        let list = crate::error::listed(positions.iter().copied())?;
        let index = Tensor::<i64, (N,)>::try_from_vec_sized(list, [positions.len()])?.to_device::<D>()?;
        self.try_index_select(crate::axis![0], &index)
    }
}

/// The sizes of a batch with this number of examples, if its type has them.
fn sizes_of<S: Shape + HasAxis<0>, N: Dim>(
    whole: &S::Sizes,
    len: usize,
) -> Result<<<S as HasAxis<0>>::Replace<N> as Shape>::Sizes> {
    let mut sizes = <<S as HasAxis<0>>::Replace<N> as Shape>::Sizes::copied(whole.as_ref());
    sizes.as_mut()[0] = len;
    if fits::<<S as HasAxis<0>>::Replace<N>>(sizes.as_ref()) {
        return Ok(sizes);
    }
    let expected = shape_text::<<S as HasAxis<0>>::Replace<N>>();
    Err(Error::Shape { op: "Batches", expected, found: sizes.as_ref().into() })
}

impl<E: Element, S: Shape + Dimensional + HasAxis<0>, D: Device> Examples for &Tensor<E, S, D> {
    type Kept = Tensor<E, S, D>;
    type Batch<N: Dim> = <Tensor<E, S, D> as Examples>::Batch<N>;

    fn kept(self) -> Tensor<E, S, D> {
        self.clone()
    }
    fn count(&self) -> Result<usize> {
        Tensor::count(self)
    }
    fn range<N: Dim>(&self, range: Range<usize>) -> Result<Self::Batch<N>> {
        Tensor::range(self, range)
    }
    fn at<N: Dim>(&self, positions: &[i64]) -> Result<Self::Batch<N>> {
        Tensor::at(self, positions)
    }
}

/// `Examples` for tuples.
macro_rules! tuples {
    ($($first:ident $($other:ident)*;)*) => {$(
        impl<$first: Examples, $($other: Examples),*> Examples for ($first, $($other,)*) {
            type Kept = ($first::Kept, $($other::Kept,)*);
            type Batch<N: Dim> = ($first::Batch<N>, $($other::Batch<N>,)*);

            #[allow(non_snake_case)]
            fn kept(self) -> Self::Kept {
                let ($first, $($other,)*) = self;
                ($first.kept(), $($other.kept(),)*)
            }
            #[allow(non_snake_case)]
            fn count(&self) -> Result<usize> {
                let ($first, $($other,)*) = self;
                let count = $first.count()?;
                let others: &[usize] = &[$($other.count()?),*];
                match others.iter().find(|other| **other != count) {
                    None => Ok(count),
                    Some(other) => invalid("Batches", format!("the first tensor has {count} examples, another has {other}")),
                }
            }
            #[allow(non_snake_case)]
            fn range<N: Dim>(&self, range: Range<usize>) -> Result<Self::Batch<N>> {
                let ($first, $($other,)*) = self;
                Ok(($first.range(range.clone())?, $($other.range(range.clone())?,)*))
            }
            #[allow(non_snake_case)]
            fn at<N: Dim>(&self, positions: &[i64]) -> Result<Self::Batch<N>> {
                let ($first, $($other,)*) = self;
                Ok(($first.at(positions)?, $($other.at(positions)?,)*))
            }
        }
    )*};
}
tuples! {
    A;
    A B;
    A B C;
    A B C F;
    A B C F G;
    A B C F G H;
}
