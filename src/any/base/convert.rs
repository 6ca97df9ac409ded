//! Conversions between dtypes as loops. A dtype is widened to the machine number that conversions start from (`dtype::cast`), and that
//! converted: the usual dtypes have loops that do both, the others take two steps.
//! Uses `device::erased`, `layout`, `base::dispatch`; used by `elementwise::apply`.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::{AnyTensor, Value};
use crate::device::erased::{self, Cast};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Complex, DType, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, bf16, f16};
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;
use castiron_macros::operations;

/// What a dtype is widened to, where conversions from it take two steps.
fn widened(from: DType, to: DType) -> Option<DType> {
    match from {
        DType::I8 | DType::I16 | DType::U16 => Some(DType::I32),
        DType::U32 => Some(DType::I64),
        DType::C32 => Some(DType::C64),
        // Their NaN converts to an integer of its own, so it may not pass through `f32`.
        DType::F8E4M3FN | DType::F8E5M2FNUZ | DType::F8E8M0FNU | DType::F8E4M3FNUZ
            if to.category() == crate::Category::Integral =>
        {
            None
        }
        DType::F8E4M3FN | DType::F8E4M3FNUZ | DType::F8E5M2 | DType::F8E5M2FNUZ | DType::F8E8M0FNU => Some(DType::F32),
        _ => None,
    }
    .filter(|&widened| widened != to)
}

/// How one dtype becomes another; none where they are one.
pub(crate) fn cast(from: DType, to: DType) -> Result<Option<Cast>> {
    if from == to {
        return Ok(None);
    }
    if from == DType::F4E2M1FNX2 || to == DType::F4E2M1FNX2 {
        let dtype = DType::F4E2M1FNX2;
        let reason = "it holds two packed values in a byte and converts only to itself".to_owned();
        return Err(Error::NotAdmitted { op: "to", dtype, reason });
    }
    if let Some(widened) = widened(from, to) {
        return Ok(match (cast(from, widened)?, cast(widened, to)?) {
            (Some(first), Some(then)) => Some(first.then(then).between(from, to)),
            (first, then) => first.or(then),
        });
    }
    macro_rules! loops {
        ($A:tt => $O:tt) => {
            dispatch_dtype!("to", from, A: $A => dispatch_dtype!("to", to, O: $O => Ok(Some(Cast::one(const { erased::cast::<A, O>() }, from, to)))))
        };
    }
    match from {
        DType::I8 | DType::I16 | DType::U16 => loops!([i8, i16, u16] => [i32]),
        DType::U32 => loops!([u32] => [i64]),
        DType::C32 => loops!([Complex<f16>] => [Complex<f32>]),
        _ if from.is_shell() && from.category() == crate::Category::Floating => {
            if to == DType::F32 {
                loops!([F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU] => [f32])
            } else {
                loops!([F8E4M3FN, F8E4M3FNUZ, F8E5M2FNUZ, F8E8M0FNU] => [u8, i8, i16, i32, i64, u16, u32, u64])
            }
        }
        _ => loops!([bool, u8, i32, i64, u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>] => Castable),
    }
}

#[operations]
impl AnyTensor {
    /// [`to`](Self::to) in a memory format (`torch.Tensor.to(dtype, memory_format=…)`).
    ///
    /// # Errors
    /// As there, and if the format is for another number of axes.
    pub fn to_in(&self, dtype: DType, format: MemoryFormat) -> Result<AnyTensor> {
        if self.dtype != dtype {
            let strides = format.copied("to", &self.sizes, &self.strides)?;
            let converted = self.to(dtype)?;
            return if *converted.strides == *strides { Ok(converted) } else { converted.copied(&strides) };
        }
        if format.is_kept_by_to(&self.sizes, &self.strides) { Ok(self.clone()) } else { self.copy_in(format) }
    }

    /// Converts the elements (`torch.Tensor.to(dtype)`). To the same dtype it shares storage.
    ///
    /// # Errors
    /// If there is no such conversion (`float4_e2m1fn_x2` converts only to itself), or memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, tensor};
    /// let x = AnyTensor::from(tensor![1.9, -1.9]);
    /// assert_eq!(x.to(DType::I32)?.to_string(), "tensor([ 1, -1], dtype=torch.int32)");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "astype")]
    #[doc(alias = "cast")]
    pub fn to(&self, dtype: DType) -> Result<AnyTensor> {
        let Some(cast) = cast(self.dtype, dtype)? else { return Ok(self.clone()) };
        let strides = crate::any::preserved(&self.sizes, &self.strides);
        crate::any::checked_numel("to", &self.sizes, dtype)?;
        // SAFETY: the conversion is that of the two dtypes; what keeps a layout leaves no gaps.
        let buffer = unsafe { self.erased()?.converted(cast, dtype.itemsize(), &strides)? };
        Ok(AnyTensor::fresh(buffer, dtype, &self.sizes, &strides))
    }

    #[op(type_as(input, other))]
    fn type_as(&self, other: &AnyTensor) -> Result<AnyTensor> {
        self.to(other.dtype)
    }

    /// `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`, each with `non_blocking` and `copy` behind.
    #[op(to(input, *rest, dtype, device, copy, non_blocking, memory_format))]
    fn to_by_name(args: &Bound<'_>) -> Result<Value> {
        let input = args.tensor("input")?;
        let (mut dtype, mut device) = (args.read::<Option<DType>>("dtype")?, args.read::<Option<&str>>("device")?);
        let mut flags = Vec::new();
        for value in args.rest() {
            match value {
                Value::Type(of) => dtype = Some(*of),
                Value::Str(name) => device = Some(name),
                Value::Array(other) => (dtype, device) = (Some(other.dtype), Some(other.device_name())),
                Value::Number(ScalarValue::Bool(flag)) => flags.push(*flag),
                Value::Absent => {}
                other => return Err(args.wrong("other", "a dtype, a device or a tensor", other)),
            }
        }
        let copy = args.read_or("copy", || flags.get(1).copied().unwrap_or(false))?;
        let format = args.read_or("memory_format", || MemoryFormat::PRESERVE)?;
        let converted = input.to_in(dtype.unwrap_or(input.dtype), format)?;
        let moved = match device {
            None => converted,
            Some(name) if name == converted.device_name() => converted,
            Some(name) => converted.to_device(name)?,
        };
        Ok(if copy && moved.shares_storage(input) { moved.copy()? } else { moved }.into())
    }

    #[op(item(input), needs_elements)]
    fn item_by_name(&self) -> Result<ScalarValue> {
        self.item()
    }
}

/// For `byte = U8` it writes `byte(memory_format)`, the conversion of this name.
macro_rules! conversions {
    ($($name:ident = $dtype:ident;)*) => {
        /// PyTorch's names of conversions.
        #[operations(CONVERSIONS)]
        impl AnyTensor {$(
            #[op($name(input, memory_format = MemoryFormat::PRESERVE))]
            fn $name(&self, format: MemoryFormat) -> Result<AnyTensor> {
                self.to_in(DType::$dtype, format)
            }
        )*}
    };
}
conversions! {
    bool = Bool;
    byte = U8;
    char = I8;
    short = I16;
    int = I32;
    long = I64;
    half = F16;
    bfloat16 = BF16;
    float = F32;
    double = F64;
    chalf = C32;
    cfloat = C64;
    cdouble = C128;
}
