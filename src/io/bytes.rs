//! Elements as bytes in a file's byte order.

use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::storage::HostBuffer;
use std::borrow::Cow;
use std::io::Read;

/// Bytes read or written between two calls of the progress function.
pub(super) const PIECE: usize = 8 << 20;

/// Reverses the bytes of each number.
pub(super) fn swap(bytes: &mut [u8], dtype: DType) {
    // (A complex number is two numbers.)
    bytes.chunks_exact_mut(dtype.to_real().itemsize()).for_each(<[u8]>::reverse);
}

/// Elements in native byte order, converted to little-endian.
pub(super) fn to_little_endian(bytes: &[u8], dtype: DType) -> Cow<'_, [u8]> {
    let mut bytes = Cow::Borrowed(bytes);
    if cfg!(target_endian = "big") {
        swap(bytes.to_mut(), dtype);
    }
    bytes
}

/// Reads `len` elements from a reader of big-endian or little-endian numbers; `count` is called with the bytes of each piece.
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
            // SAFETY: `bytes` bytes belong to the new buffer, which nobody else knows; they are zeroed before they are read.
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
    // SAFETY: all bytes are written, those of bools only with 0 or 1.
    let buffer = unsafe { HostBuffer::filled_by::<E>(len, fill) }?;
    Ok(result.map(|()| buffer))
}
