//! Memory formats of tensors: queries, and copies in a format.

use crate::device::Device;
use crate::dtype::{CastTo, Element};
use crate::error::Result;
use crate::layout::MemoryFormat;
use crate::layout::memory_format::{FixedOrder, FormatFor, copied_in};
use crate::ops::kernel::{Casting, Copying};
use crate::shape::Shape;
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;
use core::any::TypeId;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Whether elements are contiguous in a memory format (`torch.Tensor.is_contiguous(memory_format=…)`). With axes of size 1 a tensor may
    /// be in several formats at once. A format for another number of axes does not compile.
    ///
    /// ```
    /// use castiron::{shape, ChannelsLast, Contiguous, Tensor};
    /// let x: Tensor<f32, shape![2, 3, 4, 5]> = Tensor::ones();
    /// assert!(x.is_contiguous_in(Contiguous) && !x.is_contiguous_in(ChannelsLast));
    /// assert!(x.to_memory_format(ChannelsLast).is_contiguous_in(ChannelsLast));
    /// ```
    pub fn is_contiguous_in<M: FormatFor<S>>(&self, _format: M) -> bool {
        M::FORMAT.is_order_of(self.shape().as_ref(), self.stride().as_ref())
    }

    /// The tensor itself if it is contiguous in this memory format, else a copy that is
    /// (`torch.Tensor.contiguous(memory_format=…)`). A format for another number of axes, or `Preserve`, does not compile.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{shape, ChannelsLast, Tensor};
    /// let x: Tensor<f32, shape![2, 3, 4, 5]> = Tensor::ones();
    /// assert_eq!(x.contiguous_in(ChannelsLast).stride(), [60, 1, 15, 3]);
    /// // Of one channel both orders are the same: nothing is copied.
    /// let gray: Tensor<f32, shape![2, 1, 4, 5]> = Tensor::ones();
    /// assert!(gray.contiguous_in(ChannelsLast).shares_storage(&gray));
    /// ```
    #[fallible]
    pub fn contiguous_in<M: FormatFor<S> + FixedOrder>(&self, format: M) -> Result<Self> {
        if self.is_contiguous_in(format) { Ok(self.clone()) } else { self.try_clone_in(format) }
    }

    /// A copy in a memory format (`torch.clone(memory_format=…)`); with [`Preserve`](crate::Preserve) PyTorch's `clone()`.
    /// ([`clone`](Clone::clone) copies nothing: the tensors share their storage until one of them is written to.)
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, shape, tensor, ChannelsLast, Preserve, Tensor};
    /// let x: Tensor<f32, shape![2, 3, 1, 1]> = Tensor::ones();
    /// assert_eq!(x.clone_in(ChannelsLast).stride(), [3, 1, 3, 3]);
    /// // Where there are gaps, they are closed.
    /// let first_two = tensor![[1, 2, 3], [4, 5, 6]].narrow(axis![1], 0, 2);
    /// assert_eq!((first_two.stride(), first_two.clone_in(Preserve).stride()), ([3, 1], [2, 1]));
    /// ```
    #[fallible]
    pub fn clone_in<M: FormatFor<S>>(&self, format: M) -> Result<Self> {
        checked_numel::<E>("clone", self.shape().as_ref())?;
        let strides = copied_in::<S, M>("clone", &self.shape(), &self.stride())?;
        let storage = D::map1(Copying, self.elements(), strides.as_ref())?;
        Ok(Self::from_parts(storage, 0, self.shape(), strides))
    }

    /// The tensor itself if its strides [suggest](Self::suggest_memory_format) this memory format, else a copy in it
    /// (`torch.Tensor.to(memory_format=…)`). A format for another number of axes does not compile.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{shape, ChannelsLast, Contiguous, Tensor};
    /// let x: Tensor<f32, shape![2, 3, 4, 5]> = Tensor::ones();
    /// let images = x.to_memory_format(ChannelsLast);
    /// assert_eq!((images.stride(), (images + 1.0).stride()), ([60, 1, 15, 3], [60, 1, 15, 3]));
    /// ```
    #[fallible]
    pub fn to_memory_format<M: FormatFor<S>>(&self, format: M) -> Result<Self> {
        let is_kept = M::FORMAT.is_kept_by_to(self.shape().as_ref(), self.stride().as_ref());
        if is_kept { Ok(self.clone()) } else { self.try_clone_in(format) }
    }

    /// Converts the elements as [`to`](Self::to) does, into a memory format (`torch.Tensor.to(dtype, memory_format=…)`). For the same dtype
    /// it is [`to_memory_format`](Self::to_memory_format).
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{shape, ChannelsLast, Tensor};
    /// let bytes: Tensor<u8, shape![2, 3, 4, 5]> = Tensor::ones();
    /// assert_eq!(bytes.to_in::<f32>(ChannelsLast).stride(), [60, 1, 15, 3]);
    /// ```
    #[fallible]
    pub fn to_in<F: Element>(&self, format: impl FormatFor<S>) -> Result<Tensor<F, S, D>>
    where
        E: CastTo<F>,
    {
        fn convert<M: FormatFor<S>, E: CastTo<F>, F: Element, S: Shape, D: Device>(
            x: &Tensor<E, S, D>,
            format: M,
        ) -> Result<Tensor<F, S, D>> {
            if TypeId::of::<E>() == TypeId::of::<F>() {
                return x.try_to_memory_format(format)?.try_to();
            }
            checked_numel::<F>("to", x.shape().as_ref())?;
            let strides = copied_in::<S, M>("to", &x.shape(), &x.stride())?;
            let storage = D::map1::<E, F>(Casting, x.elements(), strides.as_ref())?;
            Ok(Tensor::from_parts(storage, 0, x.shape(), strides))
        }
        convert(self, format)
    }

    /// The memory format that the strides suggest (PyTorch's `suggest_memory_format`): see [`MemoryFormat::suggested`].
    ///
    /// ```
    /// use castiron::{shape, ChannelsLast, MemoryFormat, Tensor};
    /// let x: Tensor<f32, shape![2, 3, 4, 5]> = Tensor::ones();
    /// assert_eq!(x.suggest_memory_format(), MemoryFormat::CONTIGUOUS);
    /// assert_eq!(x.to_memory_format(ChannelsLast).suggest_memory_format(), MemoryFormat::CHANNELS_LAST);
    /// ```
    pub fn suggest_memory_format(&self) -> MemoryFormat {
        MemoryFormat::suggested(self.shape().as_ref(), self.stride().as_ref())
    }
}
