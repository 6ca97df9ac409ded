//! `AnyViewMut`: a mutable borrow of elements of an `AnyTensor`.
//!
//! Its views are those of `AnyTensor`, its in-place operations those of the tables (`view::edits`); this file has the borrowing.

use crate::any::base::operand::AnyOperand;
use crate::any::call::Value;
use crate::any::view::views::axis;
use crate::any::{AnyTensor, Dims, Elements, shared};
use crate::device::{Backend, Device, Dynamic};
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::positions::{Kept, meet};
use crate::layout::{bounds, strides};
use crate::shape::Shape;
use crate::tensor::TensorViewMut;
use core::fmt;
use core::marker::PhantomData;

/// A mutable view of elements of an [`AnyTensor`]: writes are visible in the tensor. It is the counterpart of [`TensorViewMut`].
///
/// It is made by [`AnyTensor::view_mut`], [`select_mut`](AnyTensor::select_mut), [`slice_mut`](AnyTensor::slice_mut) and so on, and has all
/// in-place operations (`add_`, `exp_`, [`copy_from`](Self::copy_from), …) and the same views again. While it exists nothing else reads or
/// writes the tensor; other tensors that shared storage with it keep their elements.
///
/// ```
/// use castiron::{AnyTensor, tensor};
/// let mut x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
/// let before = x.clone();
/// x.select_mut(1, 2)?.add_(10)?; // `x[:, 2] += 10`
/// x.slice_mut(1, None, Some(2), 1)?.select_mut(0, 0)?.fill_(0)?;
/// assert_eq!(x.to_string(), "tensor([[ 0,  0, 13],\n        [ 4,  5, 16]])");
/// assert_eq!(before.to_string(), "tensor([[1, 2, 3],\n        [4, 5, 6]])"); // `x` became its own first
/// # Ok::<(), castiron::Error>(())
/// ```
///
/// Repeated elements cannot be written one by one: [`expand_mut`](Self::expand_mut) and [`unfold_mut`](Self::unfold_mut) are errors where
/// two positions would be one element, and an expanded tensor is copied, with an element for each position, before it is borrowed.
///
/// ```
/// # use castiron::{AnyTensor, tensor};
/// let mut x = AnyTensor::from(tensor![1, 2, 3, 4]);
/// assert_eq!(x.expand_mut(&[2, 4]).unwrap_err().to_string(), "expand_mut: sizes [2, 4] and strides [0, 1] may lead to an element \
///     twice, so that it can't be written: make a tensor of its own first, with `copy`");
/// x.unfold_mut(0, 2, 2)?.select_mut(1, 0)?.neg_()?; // windows side by side
/// assert_eq!(x.to_string(), "tensor([-1,  2, -3,  4])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub struct AnyViewMut<'a> {
    /// Over memory borrowed for `'a`; no other reference may read or write the elements that this view reaches. No two positions alias.
    ///
    /// Its buffer gives handles, which operations of `any` take and drop; neither it nor a tensor that shares its storage leaves the crate,
    /// where it could outlive the memory.
    pub(crate) tensor: AnyTensor,
    memory: PhantomData<&'a mut [u8]>,
}

impl AnyTensor {
    /// A mutable view of all elements. Makes storage unique first.
    ///
    /// # Errors
    /// If storage is shared and memory for a copy runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 4.0]);
    /// x.view_mut()?.sqrt_()?.mul_(10)?;
    /// assert_eq!(x.to_string(), "tensor([10., 20.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> Result<AnyViewMut<'_>> {
        // From here on no two positions alias, and the storage is not shared.
        self.make_unique()?;
        let Elements::Plain(buffer) = &mut self.elements else { unreachable!("a conjugate bit has been resolved") };
        // SAFETY: the storage is borrowed with the tensor: while the view exists nothing reads, writes, shares or drops it, and the handles
        // of the view's buffer do not leave the crate.
        let elements = Elements::Plain(unsafe { Dynamic::lend(&Dynamic::window(buffer)) });
        Ok(AnyViewMut { tensor: AnyTensor { elements, ..*self }, memory: PhantomData })
    }

    pub(in crate::any) fn borrowed_mut(&mut self) -> Result<AnyViewMut<'_>> {
        self.view_mut()
    }
}

impl<'a> AnyViewMut<'a> {
    /// The same elements, borrowed for the lifetime of the result.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1, 2]);
    /// let mut view = x.view_mut()?;
    /// view.view_mut().add_(1)?;
    /// view.mul_(10)?;
    /// assert_eq!(x.to_string(), "tensor([20, 30])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> AnyViewMut<'_> {
        // The result borrows this view.
        AnyViewMut { tensor: self.tensor.clone(), memory: PhantomData }
    }

    pub(in crate::any) fn borrowed_mut(&mut self) -> Result<AnyViewMut<'_>> {
        Ok(self.view_mut())
    }

    /// Consumes this view and makes one of a part of its elements.
    pub(in crate::any) fn viewed_mut(
        self,
        op: &'static str,
        view: impl FnOnce(&AnyTensor) -> Result<AnyTensor>,
    ) -> Result<AnyViewMut<'a>> {
        let tensor = view(&self.tensor)?;
        if tensor.has_data() && !tensor.shares_storage(&self.tensor) {
            return invalid(op, "what is chosen so is a copy, not a view: edits would not be seen".to_owned());
        }
        if !bounds::has_places(&tensor.sizes, &tensor.strides) {
            let reason = format!(
                "sizes {:?} and strides {:?} may lead to an element twice, so that it can't be written: make a tensor of its own first, with `copy`",
                &*tensor.sizes, &*tensor.strides
            );
            return invalid(op, reason);
        }
        // The view made by the caller's function reaches no more than this one, which is consumed.
        Ok(AnyViewMut { tensor, memory: PhantomData })
    }

    /// Consumes this view and makes several disjoint ones.
    pub(in crate::any) fn apart(
        self,
        parts: impl FnOnce(&AnyTensor) -> Result<Vec<AnyTensor>>,
    ) -> Result<Vec<AnyViewMut<'a>>> {
        let part = |tensor| AnyViewMut { tensor, memory: PhantomData };
        Ok(parts(&self.tensor)?.into_iter().map(part).collect())
    }

    /// Consumes this view and makes one for each index; indices with a common element are refused.
    fn several(self, indices: &[&[Value]]) -> Result<Vec<AnyViewMut<'a>>> {
        let op = "multi_index_mut";
        // A row-major meta tensor of the same sizes: its strides identify the axes of each view.
        let strides = strides::row_major(&self.tensor.sizes);
        let plain = AnyTensor { offset: 0, strides: Dims::known(&strides), ..self.tensor.planned() };
        let mut views = Vec::with_capacity(indices.len());
        let mut all: Vec<Vec<Kept>> = Vec::with_capacity(indices.len());
        for (at, index) in indices.iter().enumerate() {
            // The check below refuses views with a common element; this view is consumed.
            let whole = AnyViewMut { tensor: self.tensor.clone(), memory: PhantomData };
            views.push(whole.viewed_mut(op, |x| x.index(index))?);
            let kept = kept_of(&plain, &plain.index(index)?);
            if let Some(other) = all.iter().position(|other| meet(other, &kept)) {
                let sizes = self.shape();
                let reason =
                    format!("indices {other} and {at} of a tensor of shape {sizes:?} have an element in common");
                return invalid(op, reason);
            }
            all.push(kept);
        }
        Ok(views)
    }

    /// Writes values at an index.
    fn set_at(self, index: &[Value], value: &AnyOperand) -> Result<()> {
        let op = "set";
        let (view, indices) = self.tensor.met(op, index)?;
        let dtype = self.tensor.dtype;
        let value = match value {
            AnyOperand::Array(value) => value.clone(),
            AnyOperand::Number(value) => AnyTensor::scalar_of(op, *value, dtype)?,
        };
        // Leading axes of size 1 are dropped: a value may have more axes than the part that is written.
        let extra = value.sizes.iter().take_while(|&&size| size == 1).count();
        let value = value.reshaped(&crate::any::base::by_width::signed(&value.sizes[extra..]))?;
        if indices.is_empty() {
            let mut place = self.viewed_mut(op, |_| Ok(view))?;
            return place.tensor.copy_from(&value).map(|_| ());
        }
        // With masks a zero-dim value is converted; with index tensors dtypes must be equal.
        let value =
            if value.rank() == 0 && crate::any::index::advanced::are_masks(index) { value.to(dtype)? } else { value };
        let mut place = self.viewed_mut(op, |_| Ok(view))?;
        let written = place.tensor.put_at(op, &indices, &value, false)?;
        place.tensor.copy_from(&written).map(|_| ())
    }

    fn split_at(self, dim: i64, at: usize) -> Result<[AnyViewMut<'a>; 2]> {
        let op = "split_at_mut";
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to split".to_owned());
        }
        let axis = axis(op, dim, self.rank())?;
        let Some(rest) = self.tensor.sizes[axis].checked_sub(at) else {
            return invalid(op, format!("position {at} is beyond axis {axis} of size {}", self.tensor.sizes[axis]));
        };
        let part = |start: usize, len| -> Result<AnyViewMut<'a>> {
            Ok(AnyViewMut { tensor: self.tensor.narrow(axis as i64, start as i64, len)?, memory: PhantomData })
        };
        // The two halves are disjoint; this view is consumed.
        Ok([part(0, at)?, part(at, rest)?])
    }

    /// A new tensor with a copy of the elements (`torch.clone`).
    ///
    /// # Errors
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// let column = x.select_mut(1, 0)?.to_tensor()?;
    /// x.fill_(0)?;
    /// assert_eq!(column.to_string(), "tensor([1, 3])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn to_tensor(&self) -> Result<AnyTensor> {
        self.tensor.copy()
    }
}

/// The positions that a view by indices, slices and new axes keeps of each axis of a tensor without gaps.
fn kept_of(plain: &AnyTensor, view: &AnyTensor) -> Vec<Kept> {
    let first = |axis: usize| view.offset / plain.strides[axis].max(1) % plain.sizes[axis].max(1);
    let one = |axis| Kept { first: first(axis), len: usize::from(view.numel() != 0), step: 1, is_one: false };
    let mut all: Vec<Kept> = (0..plain.rank()).map(one).collect();
    for (&len, &stride) in view.sizes.iter().zip(view.strides.iter()).filter(|(len, _)| **len > 1) {
        // Strides are descending and each axis spans less than the next larger stride.
        if let Some(axis) = plain.strides.iter().position(|&unit| unit <= stride) {
            (all[axis].len, all[axis].step) = (len.min(all[axis].len * len), stride / plain.strides[axis].max(1));
        }
    }
    all
}

/// Writes methods that a tensor and a mutable view have in common.
macro_rules! of_both {
    ($($of:ty),*) => {$(
        /// Mutable views of parts; `select_mut` and the like are written at `select` and the like.
        impl $of {
            /// Mutable views of the positions before `at` along an axis, and of the others.
            ///
            /// # Errors
            /// If the axis is out of range or shorter, or storage is shared and memory for a copy runs out.
            ///
            /// ```
            /// use castiron::{AnyTensor, tensor};
            /// let mut x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
            /// let [mut left, right] = x.split_at_mut(1, 1)?;
            /// left.add_(right.to_tensor()?.sum(Some(&[1]), true, None)?)?;
            /// assert_eq!(x.to_string(), "tensor([[ 6,  2,  3],\n        [15,  5,  6]])");
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn split_at_mut(&mut self, dim: i64, at: usize) -> Result<[AnyViewMut<'_>; 2]> {
                self.borrowed_mut()?.split_at(dim, at)
            }

            /// `x[index] = value` (`torch.Tensor.__setitem__`): writes a broadcast tensor or a scalar at an index like that of
            /// [`AnyTensor::index`](crate::AnyTensor::index). Values written to a view or, a single one, by a mask are converted from any
            /// dtype; several values written by index tensors must have the tensor's dtype.
            ///
            /// # Errors
            /// If an index is out of range, the value does not broadcast or has another dtype, a scalar does not fit, or memory
            /// runs out. Nothing is written then.
            ///
            /// ```
            /// use castiron::any::Value;
            /// use castiron::{AnyTensor, tensor};
            /// let mut x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
            /// x.set(&[Value::from(0_i64)], 7)?; // x[0] = 7
            /// let large = x.gt(5)?;
            /// x.set(&[(&large).into()], -1)?; // x[x > 5] = -1
            /// assert_eq!(x.to_string(), "tensor([[-1, -1, -1],\n        [ 4,  5, -1]])");
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn set(&mut self, index: &[Value], value: impl Into<AnyOperand>) -> Result<()> {
                self.borrowed_mut()?.set_at(index, &value.into())
            }

            /// Several mutable views at once, each as [`index_mut`](Self::index_mut) gives it.
            ///
            /// # Errors
            /// If two of them have an element in common, or an index would copy elements; else as [`index_mut`](Self::index_mut).
            ///
            /// ```
            /// use castiron::any::Value;
            /// use castiron::{AnyTensor, tensor};
            /// let mut x = AnyTensor::from(tensor![0, 1, 2, 3, 4, 5]);
            /// let (even, odd) = ([Value::Slice(None, None, Some(2))], [Value::Slice(Some(1), None, Some(2))]);
            /// let mut views = x.multi_index_mut(&[&even, &odd])?;
            /// let last = views[1].to_tensor()?;
            /// views[0].add_(&last)?;
            /// views[1].neg_()?;
            /// assert_eq!(x.to_string(), "tensor([ 1, -1,  5, -3,  9, -5])");
            /// assert!(x.multi_index_mut(&[&even, &[Value::from(4_i64)]]).is_err());
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn multi_index_mut(&mut self, indices: &[&[Value]]) -> Result<Vec<AnyViewMut<'_>>> {
                self.borrowed_mut()?.several(indices)
            }

            /// An iterator of mutable views, one for each position along an axis, which is removed.
            ///
            /// # Errors
            /// If the axis is out of range, or storage is shared and memory for a copy runs out.
            ///
            /// ```
            /// use castiron::{AnyTensor, tensor};
            /// let mut x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
            /// for (at, mut row) in x.iter_axis_mut(0)?.enumerate() {
            ///     row.mul_(at)?;
            /// }
            /// assert_eq!(x.to_string(), "tensor([[0, 0],\n        [3, 4]])");
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn iter_axis_mut(&mut self, dim: i64) -> Result<impl ExactSizeIterator<Item = AnyViewMut<'_>>> {
                Ok(self.unbind_mut(dim)?.into_iter())
            }

            /// The elements as a typed mutable view, if dtype, shape and device match the type; the error names everything that differs. So
            /// typed code can write into a tensor whose dtype is known at run time.
            ///
            /// # Errors
            /// If they are not, or storage is shared and memory for a copy runs out.
            ///
            /// ```
            /// use castiron::{AnyTensor, Cpu, Float, TensorViewMut, shape, tensor, visit};
            /// fn halve<E: Float>(mut x: TensorViewMut<'_, E, shape![_]>) {
            ///     x.div_(2);
            /// }
            /// let mut x = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]; f64]);
            /// visit!(x, E: Float => halve(x.select_mut(1, 0)?.typed_mut::<E, shape![_], Cpu>()?))?;
            /// assert_eq!(x.to_string(), "tensor([[0.5000, 2.0000],\n        [1.5000, 4.0000]], dtype=torch.float64)");
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn typed_mut<E: Element, S: Shape, D: Device>(&mut self) -> Result<TensorViewMut<'_, E, S, D>> {
                // SAFETY: the memory is borrowed for the result alone, whose buffer gives no handles: `self` is borrowed as long as it
                // exists, and the view that it is made of is consumed. No two positions alias.
                unsafe {
                    let view = self.borrowed_mut()?;
                    Ok(TensorViewMut::of(view.tensor.typed_over("typed_mut", |buffer| Dynamic::window(&mut shared(buffer)))?))
                }
            }
        }
    )*};
}
of_both!(AnyTensor, AnyViewMut<'_>);

/// Prints as the tensor does.
impl fmt::Display for AnyViewMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.tensor, f)
    }
}
impl fmt::Debug for AnyViewMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.tensor, f)
    }
}
