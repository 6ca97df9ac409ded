//! The conjugate and the negative bit: `conj` and `adjoint` of complex tensors are views, as in PyTorch.
//!
//! A `BitStorage` is a storage whose elements are read as conjugated, or as negated (the imaginary part of a conjugate). Reading elements
//! goes through `AnyTensor::buffer`, which computes them once for all views, and only those that the views can reach.

use crate::any::elementwise::op_table::unary;
use crate::any::{AnyTensor, Elements, preserved, shared};
use crate::device::{Backend, Dynamic, DynamicBuffer};
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::layout::bounds;
use castiron_macros::operations;
use std::sync::{Arc, OnceLock};

/// How the elements of a storage are read.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ViewBit {
    Conjugate,
    Negative,
}

/// A storage whose elements are read as conjugated or negated.
pub(crate) struct BitStorage {
    bit: ViewBit,
    dtype: DType,
    /// The elements that views of the tensor may reach: the first, and how many.
    reach: [usize; 2],
    /// The elements as stored, without the bit.
    pub(crate) base: DynamicBuffer,
    /// The elements with the bit applied, once they have been asked for.
    resolved: OnceLock<DynamicBuffer>,
}

impl BitStorage {
    /// The storage with the bit applied.
    pub(crate) fn resolved(&self) -> Result<&DynamicBuffer> {
        if let Some(resolved) = self.resolved.get() {
            return Ok(resolved);
        }
        // What is computed here once is seen whether recording is on or off.
        let _guard = crate::any::grad::scoped_recording();
        let [first, len] = self.reach;
        let seen = |buffer| AnyTensor { offset: first, ..AnyTensor::fresh(buffer, self.dtype, &[len], &[1]) };
        let row = match self.bit {
            ViewBit::Conjugate => unary::conj_physical,
            ViewBit::Negative => unary::neg,
        };
        // Elements out of reach stay zero, and zero pages of a large allocation cost no memory.
        let bytes = Dynamic::room::<u8>(&self.base).unwrap_or(0);
        let mut computed = seen(Dynamic::zeroed::<u8>(Some(&self.base), bytes)?);
        seen(shared(&self.base)).apply_into(row, &mut computed)?;
        let computed = shared(computed.buffer()?);
        Ok(self.resolved.get_or_init(|| computed))
    }
}

#[operations]
impl AnyTensor {
    fn bit(&self) -> Option<ViewBit> {
        match &self.elements {
            Elements::WithBit(storage) => Some(storage.bit),
            Elements::Plain(_) => None,
        }
    }

    /// The same view of another storage, keeping the bit.
    #[cfg(feature = "grad")]
    pub(crate) fn over_plain(&self, buffer: &DynamicBuffer) -> AnyTensor {
        let over = self.over_buffer(buffer);
        match self.bit() {
            Some(bit) => over.with_bit(bit),
            None => over,
        }
    }

    /// The same view of the storage without the bit.
    fn without_bit(&self) -> AnyTensor {
        match &self.elements {
            Elements::WithBit(storage) => self.over_buffer(&storage.base),
            Elements::Plain(_) => self.clone(),
        }
    }

    fn with_bit(&self, bit: ViewBit) -> AnyTensor {
        if !self.has_data() {
            return self.clone();
        }
        let reach = [self.first(), bounds::span(&self.sizes, &self.strides).unwrap_or(0)];
        let storage =
            BitStorage { bit, dtype: self.dtype, reach, base: shared(self.storage()), resolved: OnceLock::new() };
        AnyTensor { elements: Elements::WithBit(Arc::new(storage)), ..self.clone() }
    }

    /// The same view of another buffer.
    fn over_buffer(&self, buffer: &DynamicBuffer) -> AnyTensor {
        AnyTensor { elements: Elements::Plain(shared(buffer)), ..self.clone() }
    }

    /// A view made of all of the storage, keeping the bit.
    pub(crate) fn viewed_keeping_bit(&self, view: impl FnOnce(&AnyTensor) -> Result<AnyTensor>) -> Result<AnyTensor> {
        let seen = view(&self.without_bit())?;
        Ok(match self.bit() {
            Some(bit) => seen.with_bit(bit),
            None => seen,
        })
    }

    /// The conjugates as a view: complex elements get the conjugate bit, nothing is computed.
    pub(crate) fn conjugate_view(&self) -> AnyTensor {
        match self.bit() {
            _ if !self.dtype.is_complex() => self.clone(),
            Some(ViewBit::Conjugate) => self.without_bit(),
            _ => self.with_bit(ViewBit::Conjugate),
        }
    }

    /// Whether the tensor is a view whose elements are the conjugates of those in its storage (`torch.Tensor.is_conj`).
    ///
    /// ```
    /// use castiron::{AnyTensor, Complex, tensor};
    /// let x = AnyTensor::from(tensor![Complex::new(1.0_f32, 2.0)]);
    /// let conjugate = x.conj()?;
    /// assert!(conjugate.is_conj() && conjugate.shares_storage(&x) && !conjugate.conj()?.is_conj());
    /// assert_eq!(conjugate.to_string(), "tensor([1.-2.j])");
    /// assert!(!conjugate.resolve_conj()?.is_conj());
    /// assert!(conjugate.imag()?.is_neg());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn is_conj(&self) -> bool {
        self.bit() == Some(ViewBit::Conjugate)
    }

    /// Whether the tensor is a view whose elements are read as negated, which the imaginary part of a conjugate is
    /// (`torch.Tensor.is_neg`).
    ///
    /// ```
    /// use castiron::{AnyTensor, Complex, tensor};
    /// let x = AnyTensor::from(tensor![Complex::new(1.0_f32, 2.0)]);
    /// assert!(x.conj()?.imag()?.is_neg() && !x.imag()?.is_neg());
    /// assert_eq!(x.conj()?.imag()?.to_string(), "tensor([-2.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn is_neg(&self) -> bool {
        self.bit() == Some(ViewBit::Negative)
    }

    /// A tensor with the conjugates computed, if they are not; else the tensor itself (`torch.resolve_conj`).
    ///
    /// # Errors
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, Complex, tensor};
    /// let x = AnyTensor::from(tensor![Complex::new(1.0_f32, 2.0)]).conj()?;
    /// assert!(x.view_as_real().is_err()); // the bytes are not those of the conjugates
    /// assert_eq!(x.resolve_conj()?.view_as_real()?.to_string(), "tensor([[ 1., -2.]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(resolve_conj(input))]
    pub fn resolve_conj(&self) -> Result<AnyTensor> {
        if self.is_conj() { self.copied(&preserved(&self.sizes, &self.strides)) } else { Ok(self.clone()) }
    }

    /// A tensor with the negated elements computed, if they are not; else the tensor itself (`torch.resolve_neg`).
    ///
    /// # Errors
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, Complex, tensor};
    /// let x = AnyTensor::from(tensor![Complex::new(1.0_f32, 2.0)]).conj()?.imag()?;
    /// assert!(x.is_neg() && !x.resolve_neg()?.is_neg());
    /// assert_eq!(x.resolve_neg()?.to_string(), "tensor([-2.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(resolve_neg(input))]
    pub fn resolve_neg(&self) -> Result<AnyTensor> {
        if self.is_neg() { self.copied(&preserved(&self.sizes, &self.strides)) } else { Ok(self.clone()) }
    }

    /// The same elements in a storage without a bit.
    pub(crate) fn resolved(&self) -> Result<AnyTensor> {
        match &self.elements {
            Elements::WithBit(storage) => Ok(self.over_buffer(storage.resolved()?)),
            Elements::Plain(_) => Ok(self.clone()),
        }
    }

    /// Checks that there is no conjugate or negative bit, before the bytes are reinterpreted.
    pub(crate) fn expect_no_bit(&self, op: &'static str) -> Result<()> {
        match self.bit() {
            None => Ok(()),
            Some(ViewBit::Conjugate) => {
                invalid(op, "the bytes are not those of the conjugates: compute them with `resolve_conj`".to_owned())
            }
            Some(ViewBit::Negative) => {
                invalid(op, "the bytes are not those of the elements: compute them with `resolve_neg`".to_owned())
            }
        }
    }

    /// The real part (0) or the imaginary part (1) of complex elements, as a view.
    pub(crate) fn part(&self, at: usize) -> Result<AnyTensor> {
        let (whole, real) = (self.without_bit(), self.dtype.to_real());
        let part = whole.bits_viewed_by("real", real, self.rank(), |own, view| Ok(own.part(2, at, view)))?;
        Ok(if self.is_conj() && at == 1 { part.with_bit(ViewBit::Negative) } else { part })
    }
}
