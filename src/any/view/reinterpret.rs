//! Views of the same bytes as another dtype.
//!
//! Source: PyTorch, "Tensor Views"; `tests/oracle/views.json`.

use crate::any::AnyTensor;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Error, Result};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The bytes as another dtype (`torch.Tensor.view(dtype)`): a wider one joins several elements of the last axis, a narrower one splits
    /// each into several.
    ///
    /// # Errors
    /// If the last axis, the strides or the offset are no multiple of the wider elements, or bytes read as bools are not 0 and 1.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, tensor};
    /// let x = AnyTensor::from(tensor![1.0, -2.0]);
    /// assert_eq!(x.view_dtype(DType::I32)?.to_string(), "tensor([ 1065353216, -1073741824], dtype=torch.int32)");
    /// assert_eq!(x.view_dtype(DType::U8)?.shape(), [8]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn view_dtype(&self, dtype: DType) -> Result<AnyTensor> {
        if dtype != self.dtype {
            self.expect_no_bit("view")?;
        }
        let op = "view";
        // As in PyTorch, bits have no gradient.
        let view = self
            .off_tape()
            .bits_viewed_by(op, dtype, self.rank(), |own, view| own.bits(op, [self.dtype, dtype], view))?;
        if dtype == DType::Bool && self.dtype != dtype {
            crate::tensor::expect_bools::<Dynamic>(op, view.buffer()?, view.first(), &view.sizes, &view.strides)?;
        }
        Ok(view)
    }

    /// Complex elements as pairs of real ones along a new last axis (`torch.view_as_real`).
    ///
    /// # Errors
    /// If the elements are real.
    ///
    /// ```
    /// use castiron::{AnyTensor, Complex, tensor};
    /// let x = AnyTensor::from(tensor![Complex::new(1.0_f32, 2.0)]);
    /// assert_eq!(x.view_as_real()?.to_string(), "tensor([[1., 2.]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(view_as_real(input), dtypes = complex)]
    #[view_mut]
    pub fn view_as_real(&self) -> Result<AnyTensor> {
        let op = "view_as_real";
        self.expect_complex(op)?;
        self.expect_no_bit(op)?;
        self.bits_viewed_by(op, self.dtype.to_real(), self.rank() + 1, |own, view| Ok(own.pairs(view)))
    }

    fn expect_complex(&self, op: &'static str) -> Result<()> {
        if self.dtype.is_complex() {
            return Ok(());
        }
        Err(Error::NotAdmitted { op, dtype: self.dtype, reason: "it is defined for complex".to_owned() })
    }

    /// Pairs of real elements along the last axis as complex ones (`torch.view_as_complex`).
    ///
    /// # Errors
    /// If the last axis is not two adjacent elements, or other strides or the offset are odd.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1.0, 2.0]]);
    /// assert_eq!(x.view_as_complex()?.to_string(), "tensor([1.+2.j])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(view_as_complex(input), dtypes = "float16, float32 and float64")]
    #[view_mut]
    pub fn view_as_complex(&self) -> Result<AnyTensor> {
        let op = "view_as_complex";
        let dtype = match self.dtype {
            DType::F16 => DType::C32,
            DType::F32 => DType::C64,
            DType::F64 => DType::C128,
            dtype => {
                let reason = "it is defined for float16, float32 and float64".to_owned();
                return Err(Error::NotAdmitted { op, dtype, reason });
            }
        };
        self.expect_no_bit(op)?;
        self.bits_viewed_by(op, dtype, self.rank().saturating_sub(1), |own, view| own.paired(op, view))
    }

    /// The real part: a view of complex tensors, the tensor itself for real ones (`torch.real`).
    ///
    /// # Errors
    /// None at present.
    ///
    /// ```
    /// use castiron::{AnyTensor, Complex, tensor};
    /// let x = AnyTensor::from(tensor![Complex::new(1.0_f32, 2.0)]);
    /// assert_eq!(x.real()?.to_string(), "tensor([1.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(real(input), dtypes = any)]
    #[view_mut]
    pub fn real(&self) -> Result<AnyTensor> {
        if self.dtype.is_complex() { self.part(0) } else { Ok(self.clone()) }
    }

    /// The imaginary part of a complex tensor, as a view (`torch.imag`).
    ///
    /// # Errors
    /// If the elements are real.
    ///
    /// ```
    /// use castiron::{AnyTensor, Complex, tensor};
    /// let x = AnyTensor::from(tensor![Complex::new(1.0_f32, 2.0)]);
    /// assert_eq!(x.imag()?.to_string(), "tensor([2.])");
    /// assert!(x.real()?.imag().is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(imag(input), dtypes = complex)]
    #[view_mut]
    pub fn imag(&self) -> Result<AnyTensor> {
        self.expect_complex("imag")?;
        self.part(1)
    }
}
