//! The header of a safetensors file: a length, and JSON with the dtype, sizes and offsets of each tensor. Untrusted.

use crate::dtype::DType;
use crate::dtype::table::dtype_table;
use safetensors::Dtype as Stored;
use safetensors::tensor::TensorInfo as Described;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of the length prefix.
pub(super) const LENGTH: usize = 8;
/// Maximum header length, as in the format's own library.
const MOST: u64 = 100_000_000;
/// The entry that is not a tensor.
pub(super) const METADATA: &str = "__metadata__";

/// A tensor's entry in the header; offsets count from the end of the header.
pub(super) struct Row {
    pub(super) dtype: Result<DType, &'static str>,
    pub(super) sizes: Vec<usize>,
    pub(super) start: usize,
    pub(super) bytes: usize,
}

pub(super) struct Header {
    pub(super) rows: BTreeMap<String, Row>,
    pub(super) metadata: BTreeMap<String, String>,
}

/// From the table of dtypes: the format's dtype; `None` for complex32 and complex128, which the format lacks.
macro_rules! stored {
    ($($variant:ident: $ty:ty, $name:literal $aliases:tt, $category:ident, $signed:literal, $real:ty, $tier:ident, $doc:literal,
       $dlpack:tt, $stored:tt;)*) => {
        pub(super) fn stored(of: DType) -> Option<Stored> {
            match of {
                $(DType::$variant => stored!(@$stored),)*
            }
        }
    };
    (@_) => { None };
    (@$stored:ident) => { Some(Stored::$stored) };
}
dtype_table!(stored);

/// The dtype, or the name of one that castiron lacks.
fn dtype(of: Stored) -> Result<DType, &'static str> {
    let known = DType::ALL.iter().find(|&&dtype| stored(dtype) == Some(of));
    known.copied().ok_or(match of {
        Stored::F6_E2M3 => "F6_E2M3",
        Stored::F6_E3M2 => "F6_E3M2",
        _ => "another dtype",
    })
}

/// The header length from its prefix, or what is wrong with it for a file of `file` bytes.
pub(super) fn length(of: [u8; LENGTH], file: u64) -> Result<usize, String> {
    let length = u64::from_le_bytes(of);
    if length > MOST {
        return Err(format!("the header is said to have {length} bytes, more than {MOST}: it is no safetensors file"));
    }
    if length > file.saturating_sub(LENGTH as u64) {
        return Err(format!(
            "the header is said to have {length} bytes, the file has {file}: it is cut off, or no safetensors file"
        ));
    }
    usize::try_from(length).map_err(|_| format!("a header of {length} bytes is more than memory can address"))
}

/// The entries in file order, including duplicate names.
struct Rows {
    rows: Vec<(String, Described)>,
    metadata: BTreeMap<String, String>,
}
impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Rows;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("tensors by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rows, A::Error> {
                let mut rows = Rows { rows: Vec::new(), metadata: BTreeMap::new() };
                while let Some(name) = map.next_key::<String>()? {
                    if name == METADATA {
                        let wrong = |error| A::Error::custom(format!("{METADATA}: {error}"));
                        rows.metadata = map.next_value::<Option<_>>().map_err(wrong)?.unwrap_or_default();
                    } else {
                        let row = map.next_value::<Described>();
                        let row = row.map_err(|error| A::Error::custom(format!("tensor `{name}`: {error}")))?;
                        rows.rows.push((name, row));
                    }
                }
                Ok(rows)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Reads a header that is followed by `data` bytes.
pub(super) fn read(json: &[u8], data: u64) -> Result<Header, String> {
    let Rows { mut rows, metadata } = serde_json::from_slice(json).map_err(|error| {
        match json.iter().rev().take_while(|&&byte| byte == 0).count() {
            0 => format!("the header is not what the format asks for: {error}"),
            zeros => format!("the header ends with {zeros} NUL bytes: the format fills it up with spaces"),
        }
    })?;
    // Tensors follow each other without gaps; empty ones may be anywhere in between.
    rows.sort_by(|a, b| a.1.data_offsets.cmp(&b.1.data_offsets).then_with(|| a.0.cmp(&b.0)));
    let (mut end, mut seen) = (0, BTreeSet::new());
    let mut checked = BTreeMap::new();
    for (name, row) in rows {
        if !seen.insert(name.clone()) {
            return Err(format!("tensor `{name}` is there twice"));
        }
        let row = checked_row(&name, row, end, data)?;
        end = row.start + row.bytes;
        checked.insert(name, row);
    }
    if end as u64 != data {
        return Err(format!(
            "the tensors take {end} bytes, the file has {data} behind its header: it is cut off, or too long"
        ));
    }
    Ok(Header { rows: checked, metadata })
}

/// Checks a tensor's entry, which must begin where the previous one ends.
fn checked_row(name: &str, row: Described, expected: usize, data: u64) -> Result<Row, String> {
    let (start, end) = row.data_offsets;
    let wrong = |what: String| Err(format!("tensor `{name}`: {what}"));
    if start > end || end as u64 > data {
        return wrong(format!("it is said to lie in bytes {start} to {end}, the file has {data} behind its header"));
    }
    if start != expected {
        let what = if start < expected { "overlaps the one before it" } else { "leaves a gap" };
        return wrong(format!("it begins at byte {start} instead of {expected}, which {what}"));
    }
    let dtype = dtype(row.dtype);
    let mut sizes = row.shape;
    let numel = sizes.iter().try_fold(1_usize, |numel, &size| numel.checked_mul(size));
    let bits = numel.and_then(|numel| numel.checked_mul(row.dtype.bitsize()));
    if bits != (end - start).checked_mul(8) || bits.is_none() {
        return wrong(format!(
            "{sizes:?} of {} does not take the {} bytes that are said to be there",
            row.dtype,
            end - start
        ));
    }
    if dtype == Ok(DType::F4E2M1FNX2) {
        // The format counts single numbers, two per element.
        match sizes.last_mut() {
            Some(last) if last.is_multiple_of(2) => *last /= 2,
            _ => return wrong(format!("{sizes:?} of F4, two of which are in a byte, has no even last size")),
        }
    }
    Ok(Row { dtype, sizes, start, bytes: end - start })
}
