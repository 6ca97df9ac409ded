//! Conversion: to another dtype, device, or shape type.

#[cfg(feature = "grad")]
use crate::device::expect_constant;
use crate::device::{Cpu, Cuda, Device};
use crate::dtype::{CastTo, Element};
use crate::error::Result;
use crate::layout::strides;
use crate::ops::kernel::Casting;
use crate::shape::{ConvertTo, Shape};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;
use core::any::TypeId;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Converts the elements (`torch.Tensor.to(dtype)`): integers wrap, floats round to nearest even, `bool` is true for nonzero elements,
    /// complex to real drops the imaginary part. To the same dtype it shares storage.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1.9, -1.9].to::<i32>().to_vec(), [1, -1]);
    /// assert_eq!(tensor![300].to::<u8>().to_vec(), [44]);
    /// ```
    #[doc(alias = "astype")]
    #[doc(alias = "cast")]
    #[fallible]
    pub fn to<F: Element>(&self) -> Result<Tensor<F, S, D>>
    where
        E: CastTo<F>,
    {
        if TypeId::of::<E>() == TypeId::of::<F>() {
            let (storage, offset) = D::share(self.elements());
            return Ok(Tensor::from_parts(storage, offset, self.shape(), self.stride()));
        }
        checked_numel::<F>("to", self.shape().as_ref())?;
        let strides = strides::preserved(&self.shape(), &self.stride());
        let storage = D::map1::<E, F>(Casting, self.elements(), strides.as_ref())?;
        Ok(Tensor::from_parts(storage, 0, self.shape(), strides))
    }

    /// The same elements as a constant: where gradients are recorded, none comes back through them, of whatever order
    /// (`jax.lax.stop_gradient`; in PyTorch `detach`). Elsewhere it is a clone, so that code generic over devices may call it. Nothing is
    /// copied.
    ///
    /// ```
    /// use castiron::{Device, Float, Shape, Tensor, tensor};
    /// /// Rounds; gradients come back as if it did not.
    /// fn rounded<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    ///     x + (x.round() - x).stop()
    /// }
    /// assert_eq!(rounded(&tensor![0.6, 1.2]).to_vec(), [1.0, 1.0]);
    /// # #[cfg(feature = "grad")] {
    /// use castiron::grad::Grad;
    /// let (_, gradient) = tensor![0.6, 1.2].value_and_grad((), |x, ()| (rounded(x) * 3.0).sum());
    /// assert_eq!(gradient.to_vec(), [3.0, 3.0]);
    /// # }
    /// ```
    #[doc(alias = "stop_gradient")]
    #[must_use]
    pub fn stop(&self) -> Self {
        let (storage, offset) = D::share(self.elements());
        Tensor::from_parts(D::untracked(storage), offset, self.shape(), self.stride())
    }

    /// Moves the elements to another device (`torch.Tensor.to(device)`). On the same device it shares storage; a tensor moved to
    /// [`Meta`](crate::Meta) has no elements.
    ///
    /// # Errors
    /// If the device is not there, memory runs out, or a meta tensor, which has no elements, is moved to another device.
    ///
    /// ```
    /// use castiron::{tensor, Cpu, Cuda, Meta};
    /// let x = tensor![1.0, 2.0];
    /// let plan = x.to_device::<Meta>()?;
    /// assert_eq!(plan.shape(), [2]);
    /// assert!(plan.to_device::<Cpu>().is_err());
    /// assert!(x.to_device::<Cuda<63>>().is_err()); // with fewer GPUs, or without CUDA
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "cuda")]
    #[doc(alias = "cpu")]
    pub fn to_device<X: Device>(&self) -> Result<Tensor<E, S, X>> {
        if let Some(same) = (self as &dyn core::any::Any).downcast_ref::<Tensor<E, S, X>>() {
            return Ok(same.clone());
        }
        #[cfg(feature = "grad")]
        if const { X::RECORDS } {
            expect_constant("to_device", D::is_tracked(self.storage()))?;
        }
        // The layout is kept, so elements are converted in memory order.
        let strides = strides::preserved(&self.shape(), &self.stride());
        let order = strides::from_outermost(strides.as_ref());
        let own = self.elements();
        let (sizes, from) = (strides::reordered(own.sizes, &order), strides::reordered(own.strides, &order));
        let elements = own.restrided(&sizes, &from);
        if let Some(copy) = crate::device::transfer::<E, D, X>(&elements) {
            return Ok(Tensor::from_parts(copy?, 0, self.shape(), strides));
        }
        let storage = X::build(None, || D::download(elements))?;
        Ok(Tensor::from_parts(storage, 0, self.shape(), strides))
    }

    /// [`to_device::<Cpu>()`](Self::to_device) (`torch.Tensor.cpu`).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use castiron::{Meta, tensor};
    /// let x = tensor![1.0, 2.0];
    /// assert_eq!(x.cpu()?, x);
    /// assert!(x.to_device::<Meta>()?.cpu().is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn cpu(&self) -> Result<Tensor<E, S, Cpu>> {
        self.to_device()
    }

    /// [`to_device::<Cuda<0>>()`](Self::to_device), the first GPU (`torch.Tensor.cuda`).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use castiron::tensor;
    /// match tensor![1.0, 2.0].cuda() {
    ///     Ok(x) => assert_eq!(x.sum().item(), 3.0),
    ///     Err(error) => assert!(error.to_string().starts_with("cuda:0 is not available")), // without CUDA
    /// }
    /// ```
    pub fn cuda(&self) -> Result<Tensor<E, S, Cuda<0>>> {
        self.to_device()
    }

    /// The same tensor as another shape type of the same rank: sizes become known at compile time, known at run time only, or named. Sizes
    /// that the new type knows are compared at run time; two different known sizes do not compile.
    ///
    /// # Panics
    /// If a size is not that of the new type.
    ///
    /// ```
    /// use castiron::{dims, shape, Tensor};
    /// dims! { Batch }
    /// let x: Tensor<f32, shape![_, _]> = Tensor::zeros_sized([8, 384]);
    /// let x: Tensor<f32, shape![Batch, 384]> = x.with_shape();
    /// let error = x.try_with_shape::<shape![16, _]>().unwrap_err();
    /// assert_eq!(error.to_string(), "with_shape: expected a tensor of shape [16, _], got one of shape [8, 384]");
    /// ```
    #[fallible]
    pub fn with_shape<T: Shape>(&self) -> Result<Tensor<E, T, D>>
    where
        S: ConvertTo<T>,
    {
        expect_fit::<T>("with_shape", self.shape().as_ref())?;
        Ok(self.clone().retyped())
    }
}
