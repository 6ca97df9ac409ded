//! Reading and writing single elements: indexing by tuple, iteration, `to_vec`, `item`. Host tensors only.

use super::Tensor;
use crate::device::{Backend, Cpu};
use crate::dtype::Element;
use crate::error::{Error, Result, unwrap};
use crate::shape::{OneElement, Shape, SizeArray};
use core::ops::{Index, IndexMut};

/// The position of one element: a `usize` per axis, as a tuple, or as an array.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{S}` can't be indexed by `{Self}`",
    label = "expected one `usize` for each axis, such as `x[(0, 1)]`"
)]
pub trait Position<S: Shape> {
    /// One index for each axis.
    fn indices(self) -> S::Sizes;
}

impl Position<()> for () {
    fn indices(self) -> [usize; 0] {
        []
    }
}
impl<A> Position<(A,)> for usize
where
    (A,): Shape<Sizes = [usize; 1]>,
{
    fn indices(self) -> [usize; 1] {
        [self]
    }
}
impl<S: Shape<Sizes = [usize; N]>, const N: usize> Position<S> for [usize; N] {
    fn indices(self) -> [usize; N] {
        self
    }
}

/// For rank 2 it writes `impl Position<(A, B)> for (usize, usize)`.
macro_rules! positions {
    ($([$($dim:ident $index:ident)+] $rank:literal;)*) => {$(
        impl<$($dim),+> Position<($($dim,)+)> for ($(positions!(@usize $dim),)+)
        where
            ($($dim,)+): Shape<Sizes = [usize; $rank]>,
        {
            fn indices(self) -> [usize; $rank] {
                let ($($index,)+) = self;
                [$($index),+]
            }
        }
    )*};
    (@usize $dim:ident) => { usize };
}
positions! {
    [A a] 1;
    [A a B b] 2;
    [A a B b C c] 3;
    [A a B b C c D d] 4;
    [A a B b C c D d E e] 5;
    [A a B b C c D d E e F f] 6;
    [A a B b C c D d E e F f G g] 7;
    [A a B b C c D d E e F f G g H h] 8;
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// Where in the storage an element is.
    fn locate(&self, indices: S::Sizes) -> Result<usize> {
        let mut at = self.storage_offset();
        for (axis, &index) in indices.as_ref().iter().enumerate() {
            let size = self.shape().as_ref()[axis];
            if index >= size {
                return Err(Error::IndexOutOfRange { op: "index", index, axis, size });
            }
            at += index * self.stride().as_ref()[axis];
        }
        Ok(at)
    }

    /// One element, `None` if an index is out of range.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.get((1, 0)), Some(&3));
    /// assert_eq!(x.get((2, 0)), None);
    /// ```
    pub fn get(&self, position: impl Position<S>) -> Option<&E> {
        let at = self.locate(position.indices()).ok()?;
        // SAFETY: every element that sizes and strides reach is a valid `E` inside the storage, and stays so while
        // `self` is borrowed: writing goes through `&mut`.
        Some(unsafe { &*self.storage().start::<E>().add(at) })
    }

    /// One element to write to, `None` if an index is out of range. Makes storage unique first.
    ///
    /// # Panics
    /// If storage is shared and memory for a copy runs out.
    #[track_caller]
    pub fn get_mut(&mut self, position: impl Position<S>) -> Option<&mut E> {
        let indices = position.indices();
        self.locate(indices).ok()?;
        let view = unwrap(self.elements_mut());
        let at = view.offset + indices.as_ref().iter().zip(view.strides).map(|(i, s)| i * s).sum::<usize>();
        // `elements_mut` has just made the storage unique.
        let start = view.buffer.start_mut::<E>()?;
        // SAFETY: as in `get`; the storage is unique and `self` borrowed exclusively.
        Some(unsafe { &mut *start.add(at) })
    }

    /// The elements in row-major order (`torch.Tensor.flatten().tolist()`).
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.t().to_vec(), [1, 3, 2, 4]);
    /// ```
    pub fn to_vec(&self) -> Vec<E> {
        self.iter().copied().collect()
    }

    /// The elements as a slice, if they lie in row-major order without gaps.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.as_slice(), Some(&[1, 2, 3, 4][..]));
    /// assert_eq!(x.t().as_slice(), None);
    /// ```
    pub fn as_slice(&self) -> Option<&[E]> {
        if !self.is_contiguous() {
            return None;
        }
        if self.is_empty() {
            // Its offset may be any number.
            return Some(&[]);
        }
        // SAFETY: a contiguous tensor's elements lie side by side from its offset, each a valid `E`; they do not change
        // while `self` is borrowed.
        Some(unsafe {
            core::slice::from_raw_parts(self.storage().start::<E>().wrapping_add(self.storage_offset()), self.numel())
        })
    }

    /// The elements as a slice to write to. Makes storage unique and row-major first.
    ///
    /// # Panics
    /// If memory for a copy runs out.
    ///
    /// ```
    /// let mut x = castiron::tensor![3, 1, 2];
    /// let before = x.clone();
    /// x.as_mut_slice().sort();
    /// assert_eq!((x.to_vec(), before.to_vec()), (vec![1, 2, 3], vec![3, 1, 2]));
    /// ```
    #[track_caller]
    pub fn as_mut_slice(&mut self) -> &mut [E] {
        if !self.is_contiguous() {
            *self = self.contiguous();
        }
        let numel = self.numel();
        if numel == 0 {
            return &mut [];
        }
        let view = unwrap(self.elements_mut());
        // `elements_mut` has just made the storage unique.
        let Some(start) = view.buffer.start_mut::<E>() else { return &mut [] };
        // SAFETY: as in `as_slice`; making a contiguous tensor unique leaves it contiguous, and `self` is borrowed
        // exclusively.
        unsafe { core::slice::from_raw_parts_mut(start.wrapping_add(view.offset), numel) }
    }

    /// Goes through the elements in row-major order.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.iter().max(), Some(&4));
    /// ```
    pub fn iter(&self) -> Iter<'_, E, S> {
        Iter { tensor: self, index: S::Sizes::filled(0), at: self.storage_offset(), left: self.numel() }
    }

    /// The element of a tensor that has one (`torch.Tensor.item`).
    ///
    /// # Panics
    /// If sizes known at run time are not all 1; [`try_item`](Self::try_item) returns the error.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![1, 2, 3].sum().item(), 6);
    /// ```
    #[track_caller]
    pub fn item(&self) -> E
    where
        S: OneElement,
    {
        unwrap(self.try_item())
    }

    /// [`item`](Self::item), returning the error.
    pub fn try_item(&self) -> Result<E>
    where
        S: OneElement,
    {
        if self.numel() != 1 {
            return Err(Error::InvalidArgument {
                op: "item",
                reason: format!("a tensor of shape {:?} does not have exactly one element", self.shape()),
            });
        }
        Cpu::peek(self.elements())
    }
}

impl<E: Element, S: Shape, P: Position<S>> Index<P> for Tensor<E, S> {
    type Output = E;
    /// # Panics
    /// If an index is out of range; [`get`](Tensor::get) returns `None`.
    #[track_caller]
    fn index(&self, position: P) -> &E {
        let at = unwrap(self.locate(position.indices()));
        // SAFETY: as in `get`.
        unsafe { &*self.storage().start::<E>().add(at) }
    }
}

impl<E: Element, S: Shape, P: Position<S>> IndexMut<P> for Tensor<E, S> {
    /// Makes storage unique first.
    ///
    /// # Panics
    /// If an index is out of range; [`get_mut`](Tensor::get_mut) returns `None`.
    #[track_caller]
    fn index_mut(&mut self, position: P) -> &mut E {
        let indices = position.indices();
        unwrap(self.locate(indices));
        match self.get_mut(Given(indices)) {
            Some(element) => element,
            None => unreachable!("the indices are in range"),
        }
    }
}

/// Indices that are there already.
struct Given<S: Shape>(S::Sizes);
impl<S: Shape> Position<S> for Given<S> {
    fn indices(self) -> S::Sizes {
        self.0
    }
}

/// Goes through a tensor's elements in row-major order.
#[derive(Clone)]
pub struct Iter<'a, E: Element, S: Shape> {
    tensor: &'a Tensor<E, S>,
    index: S::Sizes,
    at: usize,
    left: usize,
}

impl<'a, E: Element, S: Shape> Iterator for Iter<'a, E, S> {
    type Item = &'a E;

    fn next(&mut self) -> Option<&'a E> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: `at` is the place of the element with index `index`, which is in range: `left` counts them down.
        let element = unsafe { &*self.tensor.storage().start::<E>().add(self.at) };
        let (sizes, strides) = (self.tensor.shape(), self.tensor.stride());
        for axis in (0..S::RANK).rev() {
            let index = &mut self.index.as_mut()[axis];
            let (size, stride) = (sizes.as_ref()[axis], strides.as_ref()[axis]);
            *index += 1;
            if *index < size {
                self.at += stride;
                break;
            }
            *index = 0;
            self.at -= stride * (size - 1);
        }
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}
impl<E: Element, S: Shape> ExactSizeIterator for Iter<'_, E, S> {}
impl<E: Element, S: Shape> core::iter::FusedIterator for Iter<'_, E, S> {}
