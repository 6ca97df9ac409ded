//! Conjugates that are marked and not computed: `conj` and `adjoint` of complex tensors are views, as in PyTorch.
//!
//! A marked buffer is a storage whose elements count as their conjugates, or as negated (which is what the imaginary part of a conjugate
//! is). Whoever reads elements asks for the buffer they are in (`AnyTensor::host`), and gets a storage of the same layout with the
//! elements computed that the marked tensor reaches: once, whichever views of it ask.

use crate::any::base::by_width::invalid;
use crate::any::elementwise::op_table::unary;
use crate::any::{AnyTensor, Buffer, preserved, shared};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::bounds;
use crate::storage::HostBuffer;
use std::sync::{Arc, OnceLock};

/// What the elements of a storage count as.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mark {
    Conjugated,
    Negated,
}

/// A storage whose elements count as something else.
pub(crate) struct Marked {
    mark: Mark,
    dtype: DType,
    /// The places that views of the marked tensor may reach: the first, and how many.
    reach: [usize; 2],
    /// What is there.
    pub(crate) base: HostBuffer,
    /// What it counts as, once somebody has asked.
    resolved: OnceLock<HostBuffer>,
}

impl Marked {
    /// The storage with the elements that these count as.
    pub(crate) fn resolved(&self) -> Result<&HostBuffer> {
        if let Some(resolved) = self.resolved.get() {
            return Ok(resolved);
        }
        let [first, len] = self.reach;
        let seen =
            |buffer| AnyTensor { offset: first, ..AnyTensor::fresh(Buffer::Cpu(buffer), self.dtype, &[len], &[1]) };
        let row = match self.mark {
            Mark::Conjugated => unary::conj_physical,
            Mark::Negated => unary::neg,
        };
        // What is not reached stays zero, of which a large allocation has no pages.
        let mut computed = seen(HostBuffer::zeroed::<u8>(self.base.len::<u8>())?);
        seen(shared(&self.base)).apply_into(row, &mut computed)?;
        let computed = shared(computed.host(row.name)?);
        Ok(self.resolved.get_or_init(|| computed))
    }
}

impl AnyTensor {
    fn mark(&self) -> Option<Mark> {
        match &self.buffer {
            Buffer::Marked(marked) => Some(marked.mark),
            _ => None,
        }
    }

    /// The same places of the storage that is there, without a mark.
    fn unmarked(&self) -> AnyTensor {
        match &self.buffer {
            Buffer::Marked(marked) => AnyTensor { buffer: Buffer::Cpu(shared(&marked.base)), ..self.clone() },
            _ => self.clone(),
        }
    }

    fn marked(&self, mark: Mark) -> AnyTensor {
        let Some(base) = self.storage() else { return self.clone() };
        let reach = [self.first(), bounds::span(&self.sizes, &self.strides).unwrap_or(0)];
        let marked = Marked { mark, dtype: self.dtype, reach, base: shared(base), resolved: OnceLock::new() };
        AnyTensor { buffer: Buffer::Marked(Arc::new(marked)), ..self.clone() }
    }

    /// A view made of all of the storage, with the same mark.
    pub(crate) fn remarked(&self, view: impl FnOnce(&AnyTensor) -> Result<AnyTensor>) -> Result<AnyTensor> {
        let seen = view(&self.unmarked())?;
        Ok(match self.mark() {
            Some(mark) => seen.marked(mark),
            None => seen,
        })
    }

    /// The conjugates as a view: complex elements are marked, not computed.
    pub(crate) fn conjugates(&self) -> AnyTensor {
        match self.mark() {
            _ if !self.dtype.is_complex() => self.clone(),
            Some(Mark::Conjugated) => self.unmarked(),
            _ => self.marked(Mark::Conjugated),
        }
    }

    /// Whether the tensor is a view whose elements count as the conjugates of those in its storage (`torch.Tensor.is_conj`).
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
        self.mark() == Some(Mark::Conjugated)
    }

    /// Whether the tensor is a view whose elements count as negated, which the imaginary part of a conjugate is
    /// (`torch.Tensor.is_neg`).
    pub fn is_neg(&self) -> bool {
        self.mark() == Some(Mark::Negated)
    }

    /// A tensor with the conjugates computed, if they are not; else the tensor itself (`torch.resolve_conj`).
    ///
    /// # Errors
    /// If memory runs out.
    pub fn resolve_conj(&self) -> Result<AnyTensor> {
        if self.is_conj() { self.copied(&preserved(&self.sizes, &self.strides)) } else { Ok(self.clone()) }
    }

    /// A tensor with the negated elements computed, if they are not; else the tensor itself (`torch.resolve_neg`).
    ///
    /// # Errors
    /// If memory runs out.
    pub fn resolve_neg(&self) -> Result<AnyTensor> {
        if self.is_neg() { self.copied(&preserved(&self.sizes, &self.strides)) } else { Ok(self.clone()) }
    }

    /// The same elements in a storage that has them computed.
    pub(crate) fn resolved(&self) -> Result<AnyTensor> {
        match &self.buffer {
            Buffer::Marked(marked) => Ok(AnyTensor { buffer: Buffer::Cpu(shared(marked.resolved()?)), ..self.clone() }),
            _ => Ok(self.clone()),
        }
    }

    /// That the bytes are those of the elements, as where they are seen as something else.
    pub(crate) fn expect_unmarked(&self, op: &'static str) -> Result<()> {
        match self.mark() {
            None => Ok(()),
            Some(Mark::Conjugated) => {
                invalid(op, "the bytes are not those of the conjugates: compute them with `resolve_conj`".to_owned())
            }
            Some(Mark::Negated) => {
                invalid(op, "the bytes are not those of the elements: compute them with `resolve_neg`".to_owned())
            }
        }
    }

    /// One of the parts of complex elements, as a view.
    pub(crate) fn part(&self, at: usize) -> Result<AnyTensor> {
        let (whole, real) = (self.unmarked(), self.dtype.to_real());
        let part = whole.bits_viewed_by("real", real, self.rank(), |own, view| Ok(own.part(2, at, view)))?;
        Ok(if self.is_conj() && at == 1 { part.marked(Mark::Negated) } else { part })
    }
}
