//! Hooks of run-time tensors.

use crate::any::{AnyTensor, shared};
use crate::device::DynamicBuffer;
use crate::device::erased::{ErasedView, ErasedViewMut};
use crate::error::{Error, Result, invalid};
use crate::grad::any::{Extent, HookPlace};
use crate::layout::bounds;
use core::fmt;
use std::sync::Arc;

const OP: &str = "register_hook";

/// A hook that was [registered](AnyTensor::register_hook) (`torch.utils.hooks.RemovableHandle`). It stays when this is dropped.
pub struct HookHandle(HookPlace<DynamicBuffer>);
impl HookHandle {
    /// The hook is not called any more.
    pub fn remove(self) {
        self.0.remove();
    }
}
impl fmt::Debug for HookHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookHandle").finish_non_exhaustive()
    }
}

impl AnyTensor {
    /// Has a function see the gradient of this tensor whenever one is complete, on each way back, before it goes on to what the tensor was
    /// computed from (`torch.Tensor.register_hook`). It may return another in its place, of the same dtype, shape and device. Hooks are
    /// called in the order in which they were registered; what they compute is not recorded. An error or a panic of theirs ends the way
    /// back: no leaf has got a gradient of it then.
    ///
    /// The gradient of a view is what comes to the elements that it shows, by the view or otherwise. A function that holds the tensor
    /// itself keeps both alive until it is [removed](HookHandle::remove).
    ///
    /// # Errors
    /// If the tensor does not require a gradient.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// let y = x.square()?;
    /// let handle = y.register_hook(|gradient| Ok(Some((gradient * 0.5)?)))?;
    /// y.sum(None, false, None)?.backward_retaining(None)?;
    /// assert_eq!(x.take_grad().unwrap().to_string(), "tensor([1., 2.])");
    /// handle.remove();
    /// y.sum(None, false, None)?.backward()?;
    /// assert_eq!(x.grad().unwrap().to_string(), "tensor([2., 4.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn register_hook(
        &self,
        hook: impl Fn(&AnyTensor) -> Result<Option<AnyTensor>> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        let Some(node) = self.node() else {
            return invalid(OP, "a hook sees gradients, and this tensor does not require grad".to_owned());
        };
        // (Its place alone: the elements are not kept.)
        let (place, extent) = (self.planned(), node.extent());
        let hook = move |gradient: &DynamicBuffer| {
            let Some(seen) = place.gradient_in(shared(gradient), extent) else { return Ok(None) };
            match hook(&seen)? {
                Some(other) => seen.replaced_by(&other, extent).map(Some),
                None => Ok(None),
            }
        };
        let hooks = node.step.hooks.get_or_init(Default::default);
        Ok(HookHandle(hooks.register(node.result, Arc::new(hook))))
    }

    /// The storage of a gradient, with other elements in place of these.
    fn replaced_by(self, other: &AnyTensor, extent: Extent) -> Result<DynamicBuffer> {
        if other.dtype != self.dtype || other.device() != self.device() {
            let about = |x: &AnyTensor| format!("{} on {}", x.dtype, x.device());
            return invalid(
                OP,
                format!("the hook was given a gradient of {}, and returned {}", about(&self), about(other)),
            );
        }
        if *other.sizes != *self.sizes {
            let (result, output) = ((&*other.sizes).into(), (&*self.sizes).into());
            return Err(Error::Output { op: OP, result, output });
        }
        if !bounds::has_places(&self.sizes, &self.strides) {
            let reason =
                "the hook is of an expanded view, whose elements share a gradient: register it on what was expanded";
            return invalid(OP, reason.to_owned());
        }
        let width = self.dtype.itemsize();
        let bytes = [extent.bytes];
        let all = |buffer| ErasedView { buffer, offset: 0, width: 1, sizes: &bytes, strides: &[1] };
        let mut whole = all(self.storage()).copied(&[1])?;
        let other = other.off_tape();
        let (offset, sizes, strides) = (self.first(), &*self.sizes, &*self.strides);
        let out = ErasedViewMut { buffer: &mut whole, offset, width, sizes, strides };
        other.erased()?.copy_into(out)?;
        Ok(whole)
    }
}
