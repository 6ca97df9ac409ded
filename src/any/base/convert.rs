//! Conversions between dtypes as loops. There is one for each pair of machine numbers that conversions start from and arrive at
//! (`dtype::cast`); other conversions take two steps through these, or the loop of a dtype with the same bits.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::{AnyTensor, Value};
use crate::device::erased::{self, Cast};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, Complex, DType, bf16, f16};
use crate::error::{Error, Result};
use crate::layout::MemoryFormat;
use castiron_macros::operations;

/// The accumulate type: `f32` for halves, other dtypes as they are.
pub(crate) fn widened(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::C32 => DType::C64,
        dtype => dtype,
    }
}

/// Whether elements of a dtype are converted by way of `f32`, in both directions.
fn is_small(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16) || dtype.is_float8()
}

/// Whether the NaN of a dtype converts to an integer of its own, so that it may not pass through `f32`.
fn has_own_nan(dtype: DType) -> bool {
    dtype.is_float8() && dtype != DType::F8E5M2
}

/// The intermediate dtype of a conversion in two steps, each of which is that of `dtype::cast`; `None` if it takes one.
fn by_way(from: DType, to: DType) -> Option<DType> {
    use DType::*;
    let is_integral = |dtype: DType| dtype.category() == Category::Integral;
    match (from, to) {
        (I8 | I16 | U16, _) => Some(I32),
        (U32, _) => Some(I64),
        (C32, _) | (_, C32) => Some(C64),
        (_, to) if has_own_nan(from) && is_integral(to) => None,
        // One step, since these conversions are frequent.
        (F16 | BF16, F64) => None,
        (from, to) if is_small(from) || is_small(to) => Some(F32),
        (C64, to) if !to.is_complex() && to != Bool => Some(F32),
        (C128, to) if !to.is_complex() && to != Bool => Some(F64),
        _ => None,
    }
    .filter(|&way| way != from && way != to)
}

/// Dtypes whose conversion is the same bit for bit, and has a loop: integers of one width differ only in how their bits are read.
fn alike(from: DType, to: DType) -> [DType; 2] {
    use DType::*;
    let from_integers = matches!(from, Bool | U8 | I8 | I16 | I32 | I64 | U16 | U32 | U64);
    let from = match from {
        Bool if to != U8 => U8,
        U64 if to.category() <= Category::Integral => I64,
        _ => from,
    };
    let to = match to {
        I8 => U8,
        U16 => I16,
        U32 if from_integers => I32,
        U64 if from_integers => I64,
        _ => to,
    };
    [from, to]
}

/// The conversion from one dtype to another; `None` if they are equal.
pub(crate) fn cast(from: DType, to: DType) -> Result<Option<Cast>> {
    if from == to {
        return Ok(None);
    }
    if from == DType::F4E2M1FNX2 || to == DType::F4E2M1FNX2 {
        let dtype = DType::F4E2M1FNX2;
        let reason = "it holds two packed values in a byte and converts only to itself".to_owned();
        return Err(Error::NotAdmitted { op: "to", dtype, reason });
    }
    if let Some(way) = by_way(from, to) {
        return Ok(match (cast(from, way)?, cast(way, to)?) {
            (Some(first), Some(then)) => Some(first.then(then).between(from, to)),
            (first, then) => first.or(then),
        });
    }
    let [source, target] = alike(from, to);
    macro_rules! loops {
        ($A:tt => $O:tt) => {
            dispatch_dtype!("to", source, A: $A => dispatch_dtype!("to", target, O: $O => Ok(Some(Cast::one(const { erased::cast::<A, O>() }, from, to)))))
        };
    }
    match source {
        DType::Bool => loops!([bool] => [u8]),
        DType::I8 | DType::I16 | DType::U16 => loops!([i8, i16, u16] => [i32]),
        DType::U32 => loops!([u32] => [i64]),
        DType::U8 | DType::I32 | DType::I64 => {
            loops!([u8, i32, i64] => [bool, u8, i16, i32, i64, f32, f64, Complex<f32>, Complex<f64>])
        }
        DType::U64 => loops!([u64] => [f32, f64, Complex<f32>, Complex<f64>]),
        DType::F32 if is_small(target) => {
            loops!([f32] => Small)
        }
        DType::F32 | DType::F64 => {
            loops!([f32, f64] => [bool, u8, i16, i32, i64, u32, u64, f32, f64, Complex<f32>, Complex<f64>])
        }
        DType::C32 => loops!([Complex<f16>] => [Complex<f32>]),
        DType::C64 => loops!([Complex<f32>] => [bool, f32, Complex<f16>, Complex<f64>]),
        DType::C128 => loops!([Complex<f64>] => [bool, f64, Complex<f32>]),
        DType::F16 | DType::BF16 => loops!([f16, bf16] => [f32, f64]),
        _ if target == DType::F32 => {
            loops!(Float8 => [f32])
        }
        _ => loops!(Float8 => [u8, i16, i32, i64, u32, u64]),
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
        if self.is_recorded() {
            return crate::any::grad::converted(self, dtype);
        }
        let strides = crate::any::preserved(&self.sizes, &self.strides);
        crate::any::checked_numel("to", &self.sizes, dtype)?;
        // SAFETY: the conversion is that of the two dtypes; strides that keep a layout leave no gaps.
        let buffer = unsafe { self.erased()?.converted(cast, dtype.itemsize(), &strides)? };
        Ok(AnyTensor::fresh(buffer, dtype, &self.sizes, &strides))
    }

    #[op(type_as(input, other))]
    fn type_as(&self, other: &AnyTensor) -> Result<AnyTensor> {
        self.to(other.dtype)
    }

    /// `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`, each followed by `non_blocking` and `copy`.
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

/// For `byte = U8` it writes `byte(memory_format)`.
macro_rules! conversions {
    ($($name:ident = $dtype:ident;)*) => {
        /// PyTorch's conversions by name.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Castable;
    use crate::{Dyn, Tensor};

    /// Numbers around the limits of all dtypes, as elements of `E`.
    fn elements<E: Castable>() -> Vec<E> {
        let limits = [0.0, 0.5, 1.0, 1.5, 127.0, 128.0, 255.0, 256.0, 300.7, 32767.0, 65504.0, 65535.0, 65536.0];
        let beyond = [2_147_483_647.0, 2_147_483_648.0, 4_294_967_296.0, 9_007_199_254_740_993.0, 1e18, 9.3e18, 1.9e19];
        let others = [6e-8, 1e-40, 1.000_4, 3.4e38, 1e300, f64::INFINITY, f64::NAN];
        let all = limits.iter().chain(&beyond).chain(&others).flat_map(|&x| [x, -x]);
        let floats = all.flat_map(|x| [E::from_f64(x), E::from_c128(Complex::new(x, 2.0))]);
        floats
            .chain([E::from_i64(i64::MAX), E::from_i64(-16_777_217), E::from_u64(u64::MAX), E::from_bool(true)])
            .collect()
    }

    fn bytes<E: crate::Element>(elements: Vec<E>) -> Vec<u8> {
        AnyTensor::from(Tensor::<E, (Dyn,)>::from(elements)).erased().unwrap().bytes("to").unwrap()
    }

    fn check<A: Castable, O: Castable>() -> Result<()> {
        let from = elements::<A>();
        let expected: Vec<O> = from.iter().map(|element| element.cast::<O>()).collect();
        let found = AnyTensor::from(Tensor::<A, (Dyn,)>::from(from)).to(O::DTYPE)?;
        assert_eq!(found.dtype, O::DTYPE);
        assert_eq!(found.erased()?.bytes("to")?, bytes(expected), "{} to {}", A::DTYPE, O::DTYPE);
        Ok(())
    }

    /// Conversions in two steps, and by loops of other dtypes, agree bit for bit with conversions of single elements.
    #[test]
    fn conversions_by_way_of_others_are_those_of_elements() {
        for from in DType::ALL.iter().copied().filter(|&dtype| dtype != DType::F4E2M1FNX2) {
            for to in DType::ALL.iter().copied().filter(|&dtype| dtype != DType::F4E2M1FNX2) {
                dispatch_dtype!("to", from, A: Castable => dispatch_dtype!("to", to, O: Castable => check::<A, O>()))
                    .unwrap();
            }
        }
    }
}
