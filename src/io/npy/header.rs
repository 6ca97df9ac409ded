//! The header of an `.npy` file: a Python dictionary with dtype, order and sizes.
//!
//! Parsed by hand: the existing crates bring a parser of Python literals with arbitrary-precision numbers and a stack allocator, for three
//! entries of fixed form.

use crate::dtype::DType;
use std::io::Read;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Maximum header length: NumPy's own take some hundred bytes; those of structured dtypes, which are rejected, may be longer.
const MOST: usize = 1 << 20;
/// The data start at a multiple of this, as in NumPy's files.
const ALIGNMENT: usize = 64;

/// The contents of a header.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) dtype: DType,
    pub(super) big_endian: bool,
    /// Whether elements are in column-major (Fortran) order.
    pub(super) fortran_order: bool,
    pub(super) sizes: Vec<usize>,
    /// The header's length in bytes, including magic and length.
    pub(super) len: usize,
}

impl Header {
    /// The number of elements, and their bytes.
    pub(super) fn count(&self) -> Result<(usize, usize), String> {
        let (sizes, dtype) = (&self.sizes, self.dtype);
        let numel = crate::shape::numel(sizes);
        let bytes =
            numel.and_then(|numel| numel.checked_mul(dtype.itemsize())).filter(|&bytes| isize::try_from(bytes).is_ok());
        let too_large = || format!("{sizes:?} of {dtype} has more elements than memory can address");
        Ok((numel.ok_or_else(too_large)?, bytes.ok_or_else(too_large)?))
    }

    /// The strides in this order.
    pub(super) fn strides(&self) -> Vec<usize> {
        if !self.fortran_order {
            return crate::layout::strides::row_major(&self.sizes);
        }
        let reversed: Vec<usize> = self.sizes.iter().rev().copied().collect();
        crate::layout::strides::row_major(&reversed).into_iter().rev().collect()
    }
}

/// Reads the header at the start of a reader.
pub(super) fn read(from: &mut dyn Read) -> Result<Header, String> {
    let mut take = |bytes: &mut [u8]| from.read_exact(bytes).map_err(|error| format!("the header is cut off: {error}"));
    let mut start = [0; 8];
    take(&mut start)?;
    let [magic @ .., major, minor] = start;
    if magic != *MAGIC {
        return Err("it is no npy file: it does not begin with `\\x93NUMPY`".to_owned());
    }
    let mut length = [0; 4];
    let width = match (major, minor) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        _ => return Err(format!("version {major}.{minor} of the npy format is unknown")),
    };
    take(&mut length[..width])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST {
        return Err(format!("the header is said to have {length} bytes, more than {MOST}"));
    }
    let mut text = vec![0; length];
    take(&mut text)?;
    // UTF-8 from version 3 on, Latin-1 before, where bytes are code points.
    let text = match major {
        3 => String::from_utf8(text).map_err(|_| "the header is no text".to_owned())?,
        _ => text.into_iter().map(char::from).collect(),
    };
    let mut header = Literal { text: &text, at: 0 }.header()?;
    header.len = start.len() + width + length;
    Ok(header)
}

/// The header for row-major elements; `None` if NumPy lacks the dtype.
pub(super) fn write(dtype: DType, sizes: &[usize]) -> Option<Vec<u8>> {
    let descr = match dtype {
        DType::Bool => "|b1",
        DType::U8 => "|u1",
        DType::I8 => "|i1",
        DType::U16 => "<u2",
        DType::I16 => "<i2",
        DType::U32 => "<u4",
        DType::I32 => "<i4",
        DType::U64 => "<u8",
        DType::I64 => "<i8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
        _ => return None,
    };
    let sizes: String = sizes.iter().map(|size| format!("{size}, ")).collect();
    // `(2, 3)`, `(2,)`, `()`.
    let sizes = match sizes.trim_end() {
        one if one.matches(',').count() == 1 => one.to_owned(),
        several => several.trim_end_matches(',').to_owned(),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    let front = MAGIC.len() + 4;
    let padded = (front + text.len() + 1).next_multiple_of(ALIGNMENT) - front;
    text += &" ".repeat(padded - 1 - text.len());
    text.push('\n');
    // (Eight sizes of twenty digits fit 65,535 bytes.)
    let mut header = [&MAGIC[..], &[1, 0], &(text.len() as u16).to_le_bytes()].concat();
    header.extend(text.as_bytes());
    Some(header)
}

/// A Python literal, parsed from left to right.
struct Literal<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Literal<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    /// Skips `expected` if it comes next.
    fn is_next(&mut self, expected: &str) -> bool {
        let is = self.rest().starts_with(expected);
        self.at += if is { expected.len() } else { 0 };
        is
    }

    fn expect(&mut self, expected: &str) -> Result<(), String> {
        if self.is_next(expected) { Ok(()) } else { Err(self.wrong(&format!("`{expected}` is expected"))) }
    }

    fn wrong(&mut self, what: &str) -> String {
        let rest: String = self.rest().chars().take(20).collect();
        format!("the header is not as NumPy writes it: {what} before `{rest}`")
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let rest = self.rest();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
        let found = quote.and_then(|quote| Some(&rest[1..1 + rest[1..].find(quote)?]));
        let found = found.ok_or_else(|| self.wrong("a string is expected"))?;
        self.at += found.len() + 2;
        Ok(found)
    }

    fn sizes(&mut self) -> Result<Vec<usize>, String> {
        self.expect("(")?;
        let mut sizes = Vec::new();
        while !self.is_next(")") {
            let rest = self.rest();
            let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
            let size = rest[..digits].parse().map_err(|_| self.wrong("a size is expected"))?;
            self.at += digits;
            sizes.push(size);
            // (Python 2's suffix of long integers.)
            self.is_next("L");
            if !self.is_next(",") {
                if sizes.len() == 1 {
                    return Err(self.wrong("`,` is expected: a tuple of one size is written `(4,)`"));
                }
                self.expect(")")?;
                break;
            }
        }
        Ok(sizes)
    }

    fn header(&mut self) -> Result<Header, String> {
        let (mut dtype, mut order, mut sizes) = (None, None, None);
        self.expect("{")?;
        while !self.is_next("}") {
            let key = self.string()?;
            self.expect(":")?;
            match key {
                "descr" if self.rest().starts_with(['[', '(', '{']) => {
                    return Err(
                        "its elements are structures, which no dtype is: save each field of the array by itself"
                            .to_owned(),
                    );
                }
                "descr" => dtype = Some(dtype_of(self.string()?)?),
                "fortran_order" if self.is_next("True") => order = Some(true),
                "fortran_order" => {
                    self.expect("False")?;
                    order = Some(false);
                }
                "shape" => sizes = Some(self.sizes()?),
                other => return Err(format!("the header has an entry `{other}`, which is none of the format's")),
            }
            if !self.is_next(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest().is_empty() {
            return Err(self.wrong("the end is expected"));
        }
        match (dtype, order, sizes) {
            (Some((dtype, big_endian)), Some(fortran_order), Some(sizes)) => {
                Ok(Header { dtype, big_endian, fortran_order, sizes, len: 0 })
            }
            _ => Err("the header lacks `descr`, `fortran_order` or `shape`".to_owned()),
        }
    }
}

/// The dtypes that NumPy supports.
const NAMED: [DType; 14] = [
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::U16,
    DType::I16,
    DType::U32,
    DType::I32,
    DType::U64,
    DType::I64,
    DType::F16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

/// The dtype of NumPy's type string, and whether it is big-endian.
fn dtype_of(descr: &str) -> Result<(DType, bool), String> {
    // NumPy's dtype names are PyTorch's, without a byte order prefix.
    if let Some(dtype) = NAMED.into_iter().find(|dtype| dtype.name() == descr) {
        return Ok((dtype, cfg!(target_endian = "big")));
    }
    let (order, name) = match descr.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|" | "="), name)) => (order, name),
        _ => ("=", descr),
    };
    let dtype = match name {
        "b1" | "?" => DType::Bool,
        "u1" | "B" => DType::U8,
        "i1" | "b" => DType::I8,
        "u2" | "H" => DType::U16,
        "i2" | "h" => DType::I16,
        "u4" | "I" => DType::U32,
        "i4" | "i" => DType::I32,
        "u8" | "Q" => DType::U64,
        "i8" | "q" => DType::I64,
        "f2" | "e" => DType::F16,
        "f4" | "f" => DType::F32,
        "f8" | "d" => DType::F64,
        "c8" | "F" => DType::C64,
        "c16" | "D" => DType::C128,
        "l" | "L" | "int" | "uint" | "long" | "ulong" | "p" | "P" | "intp" | "uintp" => {
            return Err(format!(
                "its elements are `{descr}`, integers as wide as a machine's, which it does not name: save `array.astype(np.int64)`"
            ));
        }
        _ => {
            let reason = match name.chars().next() {
                Some('V') => {
                    "bytes of no dtype (a bfloat16 or float8 array is saved so): save `array.view(np.uint16)` or `np.uint8`"
                }
                Some('O') => "Python objects",
                Some('U' | 'S' | 'a') => "strings",
                Some('M' | 'm') => "dates: save `array.view(np.int64)`",
                _ => "of no dtype that castiron has",
            };
            return Err(format!("its elements are `{descr}`, {reason}"));
        }
    };
    Ok((dtype, if order == "=" { cfg!(target_endian = "big") } else { order == ">" }))
}
