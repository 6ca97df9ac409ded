//! Gradients of `AnyTensor`: tensors that require them, the way back, and what is recorded of loops that are no calls to a device.
//!
//! A tensor that requires a gradient has its storage on a tape (`DynamicBuffer::Taped`). Calls to the device are recorded there; loops of the
//! tables, conversions and reductions, which are run here, by the functions at the end of this file.

mod back;
mod hooks;
mod record;

pub use back::{GradOptions, grad};
pub use hooks::HookHandle;
pub(in crate::any) use record::{converted, elementwise, reduced, to_device};

use crate::any::{AnyTensor, Elements, shared};
use crate::device::{Backend, Device, Dynamic, DynamicBuffer, is_enabled, leaf_written, set_enabled};
use crate::error::{Result, invalid};
use crate::grad::any::{Extent, Node, Past, Tape, has_gradients, locked};
use crate::layout::bounds;
use castiron_macros::operations;
use core::marker::PhantomData;
use std::sync::OnceLock;

/// While it exists nothing is recorded on this thread (`torch.no_grad`): see [`scoped_no_grad`].
#[derive(Debug)]
#[must_use = "recording begins again when this is dropped"]
pub struct NoGrad {
    before: bool,
    /// It belongs to a thread.
    thread: PhantomData<*const ()>,
}
impl Drop for NoGrad {
    fn drop(&mut self) {
        set_enabled(self.before);
    }
}

/// Nothing is recorded on this thread until the result is dropped, and tensors that require gradients can be written (`torch.no_grad`).
///
/// ```
/// use castiron::{any, AnyTensor, tensor};
/// let mut w = AnyTensor::from(tensor![1.0, 2.0]);
/// w.requires_grad_(true)?;
/// (&w * &w)?.sum(None, false, None)?.backward()?;
/// let gradient = w.take_grad().unwrap();
/// {
///     let _guard = any::scoped_no_grad();
///     w.sub_(&(gradient * 0.5)?)?;
/// }
/// assert_eq!(w.to_string(), "tensor([0., 0.])");
/// assert!(w.requires_grad());
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn scoped_no_grad() -> NoGrad {
    NoGrad { before: set_enabled(false), thread: PhantomData }
}

/// Recording is on while it exists.
pub(in crate::any) fn scoped_recording() -> NoGrad {
    NoGrad { before: set_enabled(true), thread: PhantomData }
}

/// The tape of all run-time tensors.
pub(in crate::any) fn tape() -> Tape {
    static TAPE: OnceLock<Tape> = OnceLock::new();
    *TAPE.get_or_init(Tape::new)
}

#[operations]
impl AnyTensor {
    /// Whether what is computed from it is recorded now.
    #[inline]
    pub(in crate::any) fn is_recorded(&self) -> bool {
        self.storage().is_recorded()
    }

    /// Its value on the tape, if elements of its dtype have gradients.
    pub(in crate::any) fn node(&self) -> Option<Node<DynamicBuffer>> {
        match self.buffer() {
            Ok(DynamicBuffer::Taped(tracked)) if has_gradients(self.dtype) => tracked.node(),
            _ => None,
        }
    }

    /// Whether it has a [`node`](Self::node).
    pub(in crate::any) fn has_node(&self) -> bool {
        matches!(self.buffer(), Ok(DynamicBuffer::Taped(tracked)) if has_gradients(self.dtype) && tracked.is_tracked())
    }

    /// The same elements off the tape.
    pub(in crate::any) fn off_tape(&self) -> AnyTensor {
        match self.storage() {
            DynamicBuffer::Taped(tracked) => self.over_plain(&tracked.inner),
            _ => self.clone(),
        }
    }

    /// Whether a tensor that is written now keeps its value on the tape, since nothing is recorded; its storage is its own then.
    pub(in crate::any) fn keeps_its_value(&mut self) -> Result<bool> {
        let Elements::Plain(DynamicBuffer::Taped(tracked)) = &mut self.elements else { return Ok(false) };
        if !tracked.is_tracked() {
            return Ok(false);
        }
        if is_enabled() {
            return if tracked.is_leaf() { Err(leaf_written("in-place operation")) } else { Ok(false) };
        }
        if !bounds::has_places(&self.sizes, &self.strides) {
            return Ok(false);
        }
        if !Dynamic::is_unique(&mut tracked.inner) && !Dynamic::is_fixed(&tracked.inner) {
            let bytes = [Dynamic::room::<u8>(&tracked.inner).unwrap_or(0)];
            let all = crate::device::erased::ErasedView {
                buffer: &tracked.inner,
                offset: 0,
                width: 1,
                sizes: &bytes,
                strides: &[1],
            };
            // (With a value of its own: windows of what it was copied from are not its windows.)
            **tracked = tracked.beside(all.copied(&[1])?);
        }
        Ok(true)
    }

    /// Checks that a typed tensor does not lose what the tape knows.
    pub(in crate::any) fn expect_off_tape<D: Device>(&self, op: &'static str) -> Result<()> {
        let is_dynamic = core::any::TypeId::of::<D::Storage>() == core::any::TypeId::of::<DynamicBuffer>();
        if is_dynamic || !self.is_recorded() {
            return Ok(());
        }
        invalid(op, "the tensor requires grad, which the typed one would not: take `.detach()` first".to_owned())
    }

    /// Has the tensor require a gradient, or not (`torch.Tensor.requires_grad_`): what is computed from it is recorded, so that
    /// [`backward`](Self::backward) gives its gradient. Clones made later share the gradient.
    ///
    /// # Errors
    /// If the dtype is neither floating nor complex, or `false` is said of a tensor that was computed from others.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// (&x * 3)?.sum(None, false, None)?.backward()?;
    /// assert_eq!(x.grad().unwrap().to_string(), "tensor([3., 3.])");
    /// assert!(AnyTensor::from(tensor![1, 2]).requires_grad_(true).is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn requires_grad_(&mut self, requires: bool) -> Result<&mut Self> {
        let op = "requires_grad_";
        if requires && !has_gradients(self.dtype) {
            let reason = format!(
                "only tensors of floating point and complex dtype can require gradients, this is {}",
                self.dtype
            );
            return invalid(op, reason);
        }
        match (self.node(), requires) {
            (Some(_), true) | (None, false) => {}
            (Some(node), false) if node.is_leaf() => *self = self.off_tape(),
            (Some(_), false) => {
                let reason = "only of leaf tensors can it be changed: use a tensor that is `.detach()`ed";
                return invalid(op, reason.to_owned());
            }
            (None, true) => {
                let own = if bounds::has_places(&self.sizes, &self.strides) { self.resolved()? } else { self.copy()? };
                let width = self.dtype.itemsize();
                let span = bounds::span(&own.sizes, &own.strides).unwrap_or(0);
                let extent = Extent { dtype: self.dtype, first: own.first() * width, bytes: span * width };
                let inner = shared(own.buffer()?.plain());
                let leaf = DynamicBuffer::tracked(tape().leaf(inner, extent));
                *self = AnyTensor { elements: Elements::Plain(leaf), ..own };
            }
        }
        Ok(self)
    }

    /// Whether what is computed from the tensor is recorded (`torch.Tensor.requires_grad`).
    ///
    /// ```
    /// use castiron::{any, AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// assert!(x.exp()?.requires_grad() && !x.gt(1)?.requires_grad() && !x.detach().requires_grad());
    /// let _guard = any::scoped_no_grad();
    /// assert!(!x.exp()?.requires_grad());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn requires_grad(&self) -> bool {
        self.node().is_some()
    }

    /// The kind of the step that this tensor was computed by, for the table of derivatives.
    #[doc(hidden)]
    pub fn kind_of_step(&self) -> Option<&'static str> {
        let node = self.node()?;
        match &*locked(&node.step.past) {
            Past::Rule(rule, _) => Some(rule.kind()),
            Past::Leaf(_) | Past::Freed => None,
        }
    }

    /// Whether the tensor was not computed from tensors that require gradients (`torch.Tensor.is_leaf`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// assert!(x.is_leaf() && !x.exp()?.is_leaf() && x.detach().exp()?.is_leaf());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn is_leaf(&self) -> bool {
        self.node().is_none_or(|node| node.is_leaf())
    }

    /// The same elements, which require no gradient (`torch.Tensor.detach`). Nothing is copied.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![3.0]);
    /// x.requires_grad_(true)?;
    /// (&x * &x.detach())?.sum(None, false, None)?.backward()?;
    /// assert_eq!(x.grad().unwrap().to_string(), "tensor([3.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn detach(&self) -> AnyTensor {
        self.off_tape()
    }

    /// The gradient that [`backward`](Self::backward) has added up (`torch.Tensor.grad`); `None` before that, and of tensors that are no
    /// leaves. That of a view of a leaf is the part that the view shows.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// assert!(x.grad().is_none());
    /// x.square()?.sum(None, false, None)?.backward()?;
    /// x.square()?.sum(None, false, None)?.backward()?; // gradients add up
    /// assert_eq!(x.grad().unwrap().to_string(), "tensor([4., 8.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn grad(&self) -> Option<AnyTensor> {
        let node = self.node()?;
        match &*locked(&node.step.past) {
            Past::Leaf(Some(gradient)) => self.gradient_in(shared(gradient), node.extent()),
            _ => None,
        }
    }

    /// [`grad`](Self::grad), which the tensor has no more then.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// x.sum(None, false, None)?.backward()?;
    /// assert_eq!(x.take_grad().unwrap().to_string(), "tensor([1., 1.])");
    /// assert!(x.grad().is_none());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn take_grad(&self) -> Option<AnyTensor> {
        let node = self.node()?;
        let taken = match &mut *locked(&node.step.past) {
            Past::Leaf(gradient) => gradient.take(),
            _ => None,
        };
        self.gradient_in(taken?, node.extent())
    }

    /// Forgets [`grad`](Self::grad) (`torch.optim.Optimizer.zero_grad`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// x.sum(None, false, None)?.backward()?;
    /// x.zero_grad();
    /// assert!(x.grad().is_none());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn zero_grad(&self) {
        self.take_grad();
    }

    /// The gradient of this tensor's elements, in that of its storage; `None` for a view that reaches elements without one.
    fn gradient_in(&self, gradient: DynamicBuffer, extent: Extent) -> Option<AnyTensor> {
        let width = self.dtype.itemsize();
        let offset = self.first().checked_sub(extent.first / width)?;
        let end = offset.checked_add(bounds::span(&self.sizes, &self.strides)?)?;
        (end <= extent.bytes / width)
            .then(|| AnyTensor::from_erased(gradient, self.dtype, offset, self.sizes, self.strides))
    }
}
