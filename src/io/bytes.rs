//! Elements as bytes in the order that files have. Uses dtypes and storage; used by the formats.

use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::storage::HostBuffer;
use std::borrow::Cow;
use std::io::Read;

/// So many bytes are read or written between two calls of a function that counts them.
pub(super) const PIECE: usize = 8 << 20;

/// Turns round the bytes of each number.
pub(super) fn swap(bytes: &mut [u8], dtype: DType) {
    // (A complex number is two.)
    bytes.chunks_exact_mut(dtype.to_real().itemsize()).for_each(<[u8]>::reverse);
}

/// Elements in the machine's order of bytes as little-endian ones.
pub(super) fn to_little_endian(bytes: &[u8], dtype: DType) -> Cow<'_, [u8]> {
    let mut bytes = Cow::Borrowed(bytes);
    if cfg!(target_endian = "big") {
        swap(bytes.to_mut(), dtype);
    }
    bytes
}

/// So many elements from a reader, whose numbers are big-endian or little-endian; `count` is told of bytes as they come.
pub(super) fn read<E: Element>(
    len: usize,
    big_endian: bool,
    from: &mut dyn Read,
    count: &mut dyn FnMut(usize),
) -> Result<std::io::Result<HostBuffer>> {
    let mut result = Ok(());
    let outcome = &mut result;
    let fill = |out: *mut E| {
        let (start, bytes) = (out.cast::<u8>(), len * size_of::<E>());
        let mut at = 0;
        while at < bytes {
            let piece = PIECE.min(bytes - at);
            // SAFETY: `bytes` bytes belong to the new buffer, of which nobody else knows; they are zeroed before they are seen.
            let piece = unsafe {
                start.add(at).write_bytes(0, piece);
                core::slice::from_raw_parts_mut(start.add(at), piece)
            };
            if outcome.is_ok() {
                *outcome = from.read_exact(piece);
            }
            if big_endian != cfg!(target_endian = "big") {
                swap(piece, E::DTYPE);
            }
            if E::DTYPE == DType::Bool && piece.iter().any(|&byte| byte > 1) {
                piece.fill(0);
                let reason = "a bool is a byte of 0 or 1, and there are others";
                if outcome.is_ok() {
                    *outcome = Err(std::io::Error::new(std::io::ErrorKind::InvalidData, reason));
                }
            }
            at += piece.len();
            count(piece.len());
        }
        Ok(())
    };
    // SAFETY: all bytes are written, those of bools with 0 or 1 alone.
    let buffer = unsafe { HostBuffer::filled_by::<E>(len, fill) }?;
    Ok(result.map(|()| buffer))
}
