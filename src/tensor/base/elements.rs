//! Access to single elements on the host: indexing by tuple, iteration, `to_vec`; and `item`, on every device.

use crate::device::{Cpu, Device};
use crate::dtype::{Complex, Element, bf16, f16};
use crate::error::{Error, Result, unwrap};
use crate::layout::positions::expect_index;
use crate::sealed::Sealed;
use crate::shape::{OneElement, Shape, SizeArray};
use crate::tensor::base::layout::{Layout, Strided};
use crate::tensor::{Tensor, TensorViewMut};
use castiron_macros::fallible;
use core::ops::{AddAssign, Index, IndexMut};

/// The position of one element: a `usize` per axis, as a tuple, or as an array.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{S}` can't be indexed by `{Self}`",
    label = "expected one `usize` for each axis, such as `x[(0, 1)]`"
)]
pub trait Position<S: Shape>: Sealed {
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

/// A device whose memory is the program's own, so that elements can be accessed directly: [`Cpu`].
#[diagnostic::on_unimplemented(
    message = "the elements of a tensor on `{Self}` can't be read from here",
    label = "they are not in the host's memory",
    note = "copy them to the host first: `.to_device::<Cpu>()?` (`Meta` tensors have no elements)",
    note = "`item()` reads the element of a tensor of one on every device, so code generic over devices can have it"
)]
pub trait OnHost: Device {
    #[doc(hidden)]
    fn host<E: Element, S: Shape>(tensor: &Tensor<E, S, Self>) -> &Tensor<E, S>;
    #[doc(hidden)]
    fn host_mut<E: Element, S: Shape>(tensor: &mut Tensor<E, S, Self>) -> &mut Tensor<E, S>;
}
#[diagnostic::do_not_recommend]
impl OnHost for Cpu {
    #[inline(always)]
    fn host<E: Element, S: Shape>(tensor: &Tensor<E, S>) -> &Tensor<E, S> {
        tensor
    }
    #[inline(always)]
    fn host_mut<E: Element, S: Shape>(tensor: &mut Tensor<E, S>) -> &mut Tensor<E, S> {
        tensor
    }
}

/// Types that can index (`x[…]`) a tensor of shape `S` on device `D` in layout `L`.
///
/// The conditions of `x[…]` are bounds on the position: rustc looks the operator up before it knows the position, finds it, and then
/// reports the failed condition instead of saying that a tensor can't be indexed.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{S}` can't be indexed by `{Self}`",
    label = "expected one `usize` for each axis, such as `x[(0, 1)]`",
    note = "a part of a tensor is a view: `x.select(axis![0], 2)`, `x.slice(s![2, 1..3])`; it is written by `x.select_mut(axis![0], 2).assign(&row)`",
    note = "elements are picked by a mask and by indices: `x.masked_select(&mask)`, `x.index_select(axis![0], &indices)`"
)]
pub trait PositionIn<S: Shape, D: Device, L: Layout> {
    fn element<E: Element>(self, tensor: &Tensor<E, S, D, L>) -> Result<&E>;
    fn element_mut<E: Element>(self, tensor: &mut Tensor<E, S, D, L>) -> Result<&mut E>;
}
impl<P: Position<S>, S: Shape, D: OnHost, L: Indexed> PositionIn<S, D, L> for P {
    #[inline]
    fn element<E: Element>(self, tensor: &Tensor<E, S, D, L>) -> Result<&E> {
        D::host(L::strided(tensor)).at(self.indices())
    }
    #[inline]
    fn element_mut<E: Element>(self, tensor: &mut Tensor<E, S, D, L>) -> Result<&mut E> {
        D::host_mut(L::strided_mut(tensor)).at_mut(self.indices())
    }
}

/// A layout that stores every element.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the elements of a sparse tensor can't be indexed",
    label = "the tensor is sparse",
    note = "take them from the strided tensor, `.to_dense()`; `indices()` and `values()` are what a sparse tensor keeps"
)]
pub trait Indexed: Layout {
    fn strided<E: Element, S: Shape, D: Device>(tensor: &Tensor<E, S, D, Self>) -> &Tensor<E, S, D>;
    fn strided_mut<E: Element, S: Shape, D: Device>(tensor: &mut Tensor<E, S, D, Self>) -> &mut Tensor<E, S, D>;
}
#[diagnostic::do_not_recommend]
impl Indexed for Strided {
    #[inline(always)]
    fn strided<E: Element, S: Shape, D: Device>(tensor: &Tensor<E, S, D>) -> &Tensor<E, S, D> {
        tensor
    }
    #[inline(always)]
    fn strided_mut<E: Element, S: Shape, D: Device>(tensor: &mut Tensor<E, S, D>) -> &mut Tensor<E, S, D> {
        tensor
    }
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// The offset of an element in the storage.
    fn locate(&self, indices: S::Sizes) -> Result<usize> {
        let mut at = self.storage_offset();
        for (axis, &index) in indices.as_ref().iter().enumerate() {
            expect_index("index", index, axis, self.shape().as_ref()[axis])?;
            at += index * self.stride().as_ref()[axis];
        }
        Ok(at)
    }

    /// One element.
    fn at(&self, indices: S::Sizes) -> Result<&E> {
        let at = self.locate(indices)?;
        // SAFETY: every element that sizes and strides reach is a valid `E` inside the storage, and stays so while
        // `self` is borrowed: writing goes through `&mut`.
        Ok(unsafe { &*self.storage().start::<E>().add(at) })
    }

    /// One element for writing. Makes storage unique first.
    fn at_mut(&mut self, indices: S::Sizes) -> Result<&mut E> {
        self.locate(indices)?;
        let view = self.elements_mut()?;
        let at = view.offset + indices.as_ref().iter().zip(view.strides).map(|(i, s)| i * s).sum::<usize>();
        let Some(start) = view.buffer.start_mut::<E>() else {
            unreachable!("`elements_mut` has made the storage unique")
        };
        // SAFETY: as in `at`; the storage is unique and `self` borrowed exclusively.
        Ok(unsafe { &mut *start.add(at) })
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// One element, `None` if an index is out of range.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.get((1, 0)), Some(&3));
    /// assert_eq!(x.get((2, 0)), None);
    /// ```
    pub fn get(&self, position: impl Position<S>) -> Option<&E>
    where
        D: OnHost,
    {
        D::host(self).at(position.indices()).ok()
    }

    /// One element for writing, `None` if an index is out of range. Makes storage unique first.
    ///
    /// # Panics
    /// If storage is shared and memory for a copy runs out.
    #[track_caller]
    pub fn get_mut(&mut self, position: impl Position<S>) -> Option<&mut E>
    where
        D: OnHost,
    {
        match D::host_mut(self).at_mut(position.indices()) {
            Ok(element) => Some(element),
            Err(Error::IndexOutOfRange { .. }) => None,
            Err(error) => unwrap(Err(error)),
        }
    }

    /// The elements in row-major order (`torch.Tensor.flatten().tolist()`).
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.t().to_vec(), [1, 3, 2, 4]);
    /// ```
    #[doc(alias = "tolist")]
    #[doc(alias = "numpy")]
    pub fn to_vec(&self) -> Vec<E>
    where
        D: OnHost,
    {
        match self.as_slice() {
            Some(elements) => elements.to_vec(),
            None => self.iter().copied().collect(),
        }
    }

    /// The elements as a slice, if they are contiguous in row-major order.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.as_slice(), Some(&[1, 2, 3, 4][..]));
    /// assert_eq!(x.t().as_slice(), None);
    /// ```
    pub fn as_slice(&self) -> Option<&[E]>
    where
        D: OnHost,
    {
        let host = D::host(self);
        if !host.is_contiguous() {
            return None;
        }
        if self.is_empty() {
            // An empty view may have any offset.
            return Some(&[]);
        }
        // SAFETY: a contiguous tensor's elements are adjacent from its offset on, each a valid `E`; they do not change while `self` is
        // borrowed.
        Some(unsafe {
            core::slice::from_raw_parts(host.storage().start::<E>().wrapping_add(host.storage_offset()), host.numel())
        })
    }

    /// The elements as a mutable slice. Makes storage unique and row-major first.
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
    pub fn as_mut_slice(&mut self) -> &mut [E]
    where
        D: OnHost,
    {
        let host = D::host_mut(self);
        if !host.is_contiguous() {
            *host = host.contiguous();
        }
        let numel = host.numel();
        if numel == 0 {
            return &mut [];
        }
        let view = unwrap(host.elements_mut());
        // `elements_mut` has just made the storage unique.
        let Some(start) = view.buffer.start_mut::<E>() else { return &mut [] };
        // SAFETY: as in `as_slice`; making a contiguous tensor unique leaves it contiguous, and `self` is borrowed
        // exclusively.
        unsafe { core::slice::from_raw_parts_mut(start.wrapping_add(view.offset), numel) }
    }

    /// Iterates over the elements in row-major order.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.iter().max(), Some(&4));
    /// ```
    pub fn iter(&self) -> Iter<'_, E, S>
    where
        D: OnHost,
    {
        let tensor = D::host(self);
        Iter { tensor, index: S::Sizes::filled(0), at: tensor.storage_offset(), left: tensor.numel() }
    }

    /// Iterates over the elements with their indices, in row-major order; [`map_indexed`](Self::map_indexed) is the faster form.
    ///
    /// NumPy: `numpy.ndenumerate`.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 9], [4, 2]];
    /// let most = x.indexed_iter().max_by_key(|(_, v)| **v);
    /// assert_eq!(most, Some(([0, 1], &9)));
    /// ```
    pub fn indexed_iter(&self) -> impl ExactSizeIterator<Item = (S::Sizes, &E)>
    where
        D: OnHost,
    {
        IndexedIter(self.iter())
    }

    /// Iterates over the elements in row-major order for writing: those of [`as_mut_slice`](Self::as_mut_slice), which makes storage unique
    /// and row-major first. A part of a tensor is a view: `x.select_mut(axis![0], 1).assign(…)`.
    ///
    /// # Panics
    /// If memory for a copy runs out.
    ///
    /// ```
    /// let mut x = castiron::tensor![[1, 2], [3, 4]];
    /// for element in x.iter_mut().filter(|element| **element > 2) {
    ///     *element = 0;
    /// }
    /// assert_eq!(x.to_vec(), [1, 2, 0, 0]);
    /// ```
    #[track_caller]
    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, E>
    where
        D: OnHost,
    {
        self.as_mut_slice().iter_mut()
    }

    /// The only element of a tensor (`torch.Tensor.item`). It works on every device, so that code generic over devices can read its loss;
    /// from other devices it is copied to the host.
    ///
    /// # Panics
    /// If sizes known at run time are not all 1, or on [`Meta`](crate::Meta), whose tensors have no elements (as in PyTorch).
    ///
    /// ```
    /// use castiron::{Device, Float, Shape, Tensor, tensor};
    /// assert_eq!(tensor![1, 2, 3].sum().item(), 6);
    /// fn total<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> E { x.sum().item() }
    /// assert_eq!(total(&tensor![0.5, 1.5]), 2.0);
    /// ```
    #[fallible]
    pub fn item(&self) -> Result<E>
    where
        S: OneElement,
    {
        if self.numel() != 1 {
            return Err(Error::InvalidArgument {
                op: "item",
                reason: format!("a tensor of shape {:?} does not have exactly one element", self.shape()),
            });
        }
        D::peek(self.elements())
    }
}

impl<E: Element, S: Shape, D: Device, L: Layout, P: PositionIn<S, D, L>> Index<P> for Tensor<E, S, D, L> {
    type Output = E;
    /// # Panics
    /// If an index is out of range; [`get`](Tensor::get) returns `None`.
    #[track_caller]
    fn index(&self, position: P) -> &E {
        unwrap(position.element(self))
    }
}

impl<E: Element, S: Shape, D: Device, L: Layout, P: PositionIn<S, D, L>> IndexMut<P> for Tensor<E, S, D, L> {
    /// Makes storage unique first.
    ///
    /// # Panics
    /// If an index is out of range; [`get_mut`](Tensor::get_mut) returns `None`.
    #[track_caller]
    fn index_mut(&mut self, position: P) -> &mut E {
        unwrap(position.element_mut(self))
    }
}

/// What nothing fulfils, for its message: a tensor is not added to a Rust number by `+=`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a tensor and can't be added to a number with `+=`",
    label = "read its element first: `total += loss.item()`"
)]
pub trait AddedToANumber {
    #[doc(hidden)]
    fn refused(&self);
}

/// For `f64` and `i64` only: with a second float, rustc would not take one of them for the `0.0` in `let mut total = 0.0`.
macro_rules! refused_sums {
    ($($number:ty),*) => {$(
        impl<E: Element, S: Shape, D: Device> AddAssign<Tensor<E, S, D>> for $number
        where
            Tensor<E, S, D>: AddedToANumber,
        {
            fn add_assign(&mut self, tensor: Tensor<E, S, D>) {
                tensor.refused();
            }
        }
    )*};
}
refused_sums!(f64, i64);

/// For a dtype it writes `From<Tensor<E, ()>>`, which rustc suggests when a number is expected and a zero-dim tensor is given.
macro_rules! numbers {
    ($($dtype:ty),*) => {$(
        #[cfg_attr(doc, doc(hidden))]
        impl From<Tensor<$dtype, ()>> for $dtype {
            /// The element, as [`item`](Tensor::item) gives it.
            fn from(tensor: Tensor<$dtype, ()>) -> $dtype {
                tensor.item()
            }
        }
    )*};
}
numbers!(bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>);

/// Iterator over a tensor's elements in row-major order.
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
        // SAFETY: `at` is the offset of the element with index `index`, which is in range: `left` counts the remaining ones.
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

/// [`Iter`] with the index of each element.
struct IndexedIter<'a, E: Element, S: Shape>(Iter<'a, E, S>);

impl<'a, E: Element, S: Shape> Iterator for IndexedIter<'a, E, S> {
    type Item = (S::Sizes, &'a E);
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.0.index;
        self.0.next().map(|element| (index, element))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}
impl<E: Element, S: Shape> ExactSizeIterator for IndexedIter<'_, E, S> {}

impl<E: Element, S: Shape> TensorViewMut<'_, E, S> {
    /// Iterates over the elements in row-major order, for writing where they are.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let mut x = tensor![[1, 2], [3, 4]];
    /// x.select_mut(axis![1], 0).iter_mut().for_each(|v| *v = -*v);
    /// assert_eq!(x.to_vec(), [-1, 2, -3, 4]);
    /// ```
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = &mut E> {
        // A mutable view is written in place, whatever its strides.
        IterMut { start: unwrap(self.start_mut()), places: self.iter() }
    }

    /// Where the storage starts, for writing.
    fn start_mut(&mut self) -> Result<*mut E> {
        let view = self.target().elements_mut()?;
        Ok(view.buffer.start_mut().unwrap_or_else(|| unreachable!("a mutable view is of storage that may be written")))
    }
}

/// The elements of a mutable view, at the places of [`Iter`].
struct IterMut<'a, E: Element, S: Shape> {
    start: *mut E,
    places: Iter<'a, E, S>,
}

impl<'a, E: Element, S: Shape> Iterator for IterMut<'a, E, S> {
    type Item = &'a mut E;
    fn next(&mut self) -> Option<&'a mut E> {
        let at = self.places.at;
        self.places.next()?;
        // SAFETY: the view is borrowed exclusively for as long as the items, no two positions of it are one element, and each is given once.
        Some(unsafe { &mut *self.start.add(at) })
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}
impl<E: Element, S: Shape> ExactSizeIterator for IterMut<'_, E, S> {}
