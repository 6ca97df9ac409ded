//! Tensors in `serde`: dtype, shape, and data. In human-readable formats (JSON) the data are numbers, in others bytes. Input is untrusted
//! and checked.

use crate::device::Device;
use crate::dtype::shell;
use crate::dtype::{DType, Element, ScalarValue, bf16, f16};
use crate::io::{StoredTensor, bytes};
use crate::shape::{Shape, SizeArray, numel};
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, TensorView, fits, shape_text};
use core::fmt;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const FIELDS: &[&str] = &["dtype", "shape", "data"];

/// Writes a tensor.
fn write<Z: Serializer>(tensor: &dyn StoredTensor, serializer: Z) -> Result<Z::Ok, Z::Error> {
    let (dtype, sizes) = (tensor.dtype(), tensor.sizes());
    if serializer.is_human_readable() {
        let scalars = tensor.scalars().map_err(Z::Error::custom)?;
        return fields(serializer, dtype, sizes, &Numbers(dtype, &scalars));
    }
    let (mut serializer, mut written) = (Some(serializer), None);
    let read = tensor.with_bytes(&mut |bytes| {
        let bytes = bytes::to_little_endian(bytes, dtype);
        written = serializer.take().map(|serializer| fields(serializer, dtype, sizes, &Bytes(&bytes)));
        Ok(())
    });
    read.map_err(Z::Error::custom)?;
    written.unwrap_or_else(|| Err(Z::Error::custom("the tensor has no elements")))
}

fn fields<Z: Serializer>(
    serializer: Z,
    dtype: DType,
    sizes: &[usize],
    data: &impl Serialize,
) -> Result<Z::Ok, Z::Error> {
    let mut fields = serializer.serialize_struct("Tensor", FIELDS.len())?;
    fields.serialize_field(FIELDS[0], &dtype)?;
    fields.serialize_field(FIELDS[1], sizes)?;
    fields.serialize_field(FIELDS[2], data)?;
    fields.end()
}

struct Bytes<'a>(&'a [u8]);
impl Serialize for Bytes<'_> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.serialize_bytes(self.0)
    }
}

struct Numbers<'a>(DType, &'a [ScalarValue]);
impl Serialize for Numbers<'_> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut list = serializer.serialize_seq(Some(self.1.len()))?;
        for &scalar in self.1 {
            match scalar {
                ScalarValue::Bool(value) => list.serialize_element(&value)?,
                // (No dtype's integers exceed these two types.)
                ScalarValue::Int(value) => match i64::try_from(value) {
                    Ok(value) => list.serialize_element(&value)?,
                    Err(_) => list.serialize_element(&(value as u64))?,
                },
                // A packed pair of values is not a number; its code is written.
                ScalarValue::Float(code) if self.0 == DType::F4E2M1FNX2 => list.serialize_element(&(code as u8))?,
                ScalarValue::Float(value) => list.serialize_element(&Real(value))?,
                ScalarValue::Complex(value) => list.serialize_element(&[Real(value.re), Real(value.im)])?,
            }
        }
        list.end()
    }
}

/// A number; as text if formats like JSON cannot represent it.
struct Real(f64);
impl Serialize for Real {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        match self.0 {
            value if value.is_finite() => serializer.serialize_f64(value),
            value => serializer.collect_str(&value),
        }
    }
}

/// The parsed parts of a tensor; the elements are little-endian bytes.
struct Read {
    dtype: DType,
    sizes: Vec<usize>,
    data: Vec<u8>,
}

impl Read {
    /// The elements, if their number matches the sizes.
    fn elements<E: Element>(&self) -> Result<HostBuffer, String> {
        let Read { dtype, sizes, data } = self;
        let expected = numel(sizes).and_then(|numel| numel.checked_mul(dtype.itemsize()));
        if expected != Some(data.len()) {
            let found = data.len() / dtype.itemsize();
            return Err(format!("shape {sizes:?} of {dtype} takes other than the {found} elements that are there"));
        }
        let read = bytes::read::<E>(data.len() / dtype.itemsize(), false, &mut &data[..], &mut |_| ());
        read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}

impl<'de> Deserialize<'de> for Read {
    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        let is_human_readable = deserializer.is_human_readable();
        deserializer.deserialize_struct("Tensor", FIELDS, Fields { is_human_readable })
    }
}

struct Fields {
    is_human_readable: bool,
}
impl<'de> Visitor<'de> for Fields {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tensor: `dtype`, `shape` and `data`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Read, A::Error> {
        let lacks = || A::Error::custom("a tensor has `dtype`, `shape` and `data`");
        let dtype = seq.next_element::<DType>()?.ok_or_else(lacks)?;
        let sizes = seq.next_element::<Vec<usize>>()?.ok_or_else(lacks)?;
        let data = seq.next_element_seed(Data { dtype: Some(dtype), is_human_readable: self.is_human_readable })?;
        Ok(Read { dtype, sizes, data: data.ok_or_else(lacks)? })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read, A::Error> {
        let (mut dtype, mut sizes, mut data) = (None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "dtype" => dtype = Some(map.next_value::<DType>()?),
                "shape" => sizes = Some(map.next_value::<Vec<usize>>()?),
                "data" => data = Some(map.next_value_seed(Data { dtype, is_human_readable: self.is_human_readable })?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match (dtype, sizes, data) {
            (Some(dtype), Some(sizes), Some(data)) => Ok(Read { dtype, sizes, data }),
            _ => Err(A::Error::custom("a tensor has `dtype`, `shape` and `data`")),
        }
    }
}

/// Deserialises the data; for numbers, the dtype must be known.
struct Data {
    dtype: Option<DType>,
    is_human_readable: bool,
}
impl<'de> DeserializeSeed<'de> for Data {
    type Value = Vec<u8>;
    fn deserialize<Z: Deserializer<'de>>(self, deserializer: Z) -> Result<Vec<u8>, Z::Error> {
        if self.is_human_readable {
            deserializer.deserialize_seq(self)
        } else {
            deserializer.deserialize_byte_buf(self)
        }
    }
}
impl<'de> Visitor<'de> for Data {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_human_readable { "a list of numbers" } else { "the bytes of elements" })
    }

    fn visit_bytes<X: serde::de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, X> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<X: serde::de::Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, X> {
        Ok(bytes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        if !self.is_human_readable {
            while let Some(byte) = seq.next_element::<u8>()? {
                bytes.push(byte);
            }
            return Ok(bytes);
        }
        let dtype = self.dtype.ok_or_else(|| A::Error::custom("`dtype` has to stand before `data`"))?;
        // (The size hint is not trusted: the vector grows with the actual data.)
        while let Some(number) = seq.next_element::<Number>()? {
            let fits = number.push(dtype, &mut bytes);
            fits.ok_or_else(|| A::Error::custom(format!("element {number:?} is none of {dtype}")))?;
        }
        Ok(bytes)
    }
}

/// A number of a human-readable format.
#[derive(Clone, Copy, Debug)]
enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex(f64, f64),
}

impl Number {
    fn real(self) -> Option<f64> {
        match self {
            Number::Int(value) => Some(value as f64),
            Number::Float(value) => Some(value),
            Number::Bool(_) | Number::Complex(..) => None,
        }
    }

    /// Appends the element's bytes, little-endian; `None` if the number is not valid for the dtype.
    fn push(self, dtype: DType, bytes: &mut Vec<u8>) -> Option<()> {
        if let Some((least, most)) = dtype.int_range() {
            let Number::Int(value) = self else { return None };
            (least <= value && value <= most).then(|| bytes.extend(&value.to_le_bytes()[..dtype.itemsize()]))?;
            return Some(());
        }
        match (dtype, self) {
            (DType::Bool, Number::Bool(value)) => bytes.push(value.into()),
            (DType::Bool, _) => return None,
            (DType::F4E2M1FNX2, Number::Int(code)) => bytes.push(u8::try_from(code).ok()?),
            (DType::F4E2M1FNX2, _) => return None,
            (DType::F16, _) => bytes.extend(f16::from_f64(self.real()?).to_le_bytes()),
            (DType::BF16, _) => bytes.extend(bf16::from_f64(self.real()?).to_le_bytes()),
            (DType::F32, _) => bytes.extend((self.real()? as f32).to_le_bytes()),
            (DType::F64, _) => bytes.extend(self.real()?.to_le_bytes()),
            _ if dtype.is_float8() => bytes.push(shell::float8(dtype, self.real()? as f32)?),
            (_, Number::Complex(re, im)) if dtype.is_complex() => {
                Number::Float(re).push(dtype.to_real(), bytes)?;
                Number::Float(im).push(dtype.to_real(), bytes)?;
            }
            _ => return None,
        }
        Some(())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        struct OfAnyKind;
        impl<'de> Visitor<'de> for OfAnyKind {
            type Value = Number;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a truth value, \"NaN\", \"inf\", \"-inf\", or the two parts of a complex number")
            }
            fn visit_bool<X: serde::de::Error>(self, value: bool) -> Result<Number, X> {
                Ok(Number::Bool(value))
            }
            fn visit_i64<X: serde::de::Error>(self, value: i64) -> Result<Number, X> {
                Ok(Number::Int(value.into()))
            }
            fn visit_u64<X: serde::de::Error>(self, value: u64) -> Result<Number, X> {
                Ok(Number::Int(value.into()))
            }
            fn visit_f64<X: serde::de::Error>(self, value: f64) -> Result<Number, X> {
                Ok(Number::Float(value))
            }
            fn visit_str<X: serde::de::Error>(self, text: &str) -> Result<Number, X> {
                match text {
                    "NaN" => Ok(Number::Float(f64::NAN)),
                    "inf" => Ok(Number::Float(f64::INFINITY)),
                    "-inf" => Ok(Number::Float(f64::NEG_INFINITY)),
                    other => Err(X::custom(format!("`{other}` is no number"))),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Number, A::Error> {
                let mut part = || {
                    let part = seq.next_element::<Number>()?.and_then(Number::real);
                    part.ok_or_else(|| A::Error::custom("a complex number has two parts"))
                };
                let (re, im) = (part()?, part()?);
                match seq.next_element::<IgnoredAny>()? {
                    None => Ok(Number::Complex(re, im)),
                    Some(_) => Err(A::Error::custom("a complex number has two parts")),
                }
            }
        }
        deserializer.deserialize_any(OfAnyKind)
    }
}

/// `{"dtype": "float32", "shape": [2], "data": [1.0, 2.0]}`; in binary formats the data are little-endian bytes.
impl<E: Element, S: Shape, D: Device> Serialize for Tensor<E, S, D> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        write(self, serializer)
    }
}

/// Like the tensor.
impl<E: Element, S: Shape, D: Device> Serialize for TensorView<'_, E, S, D> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        write(&**self, serializer)
    }
}

/// Dtype and sizes must match the type.
impl<'de, E: Element, S: Shape, D: Device> Deserialize<'de> for Tensor<E, S, D> {
    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        let read = Read::deserialize(deserializer)?;
        let Read { dtype, sizes, .. } = &read;
        if *dtype != E::DTYPE || sizes.len() != S::RANK || !fits::<S>(sizes) {
            let (expected, shape) = (E::DTYPE, shape_text::<S>());
            return Err(Z::Error::custom(format!("expected a tensor of {expected} {shape}, found {dtype} {sizes:?}")));
        }
        let host = Tensor::<E, S>::dense(read.elements::<E>().map_err(Z::Error::custom)?, S::Sizes::copied(sizes));
        host.to_device().map_err(Z::Error::custom)
    }
}

#[cfg(feature = "any")]
impl Serialize for crate::AnyTensor {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        write(self, serializer)
    }
}

#[cfg(feature = "any")]
impl<'de> Deserialize<'de> for crate::AnyTensor {
    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        let read = Read::deserialize(deserializer)?;
        let buffer: crate::Result<_> =
            crate::any::dispatch_dtype!("deserialize", read.dtype, E: Element => Ok(read.elements::<E>()));
        let buffer = buffer.map_err(Z::Error::custom)?.map_err(Z::Error::custom)?;
        crate::AnyTensor::row_major_from("deserialize", buffer, 0, read.dtype, &read.sizes).map_err(Z::Error::custom)
    }
}
