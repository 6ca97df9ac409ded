//! Memory for elements and partial results whose types are not known: blocks of bytes, aligned for any of them. Uses nothing; used
//! by the rest of this folder.

use crate::error::Result;
use core::mem::MaybeUninit;

/// Bytes aligned for every element and partial result.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(super) struct Scratch(#[allow(dead_code)] [MaybeUninit<u8>; 16]);

impl Scratch {
    pub(super) const UNINIT: Scratch = Scratch([MaybeUninit::uninit(); 16]);
}

/// A growing block of bytes.
pub(super) struct Bytes(Vec<Scratch>);

impl Bytes {
    pub(super) const fn new() -> Self {
        Bytes(Vec::new())
    }

    /// Room for so many bytes; those that were there are kept.
    pub(super) fn room(&mut self, bytes: usize) -> *mut u8 {
        let blocks = bytes.div_ceil(size_of::<Scratch>());
        if blocks > self.0.len() {
            self.0.resize(blocks.next_power_of_two(), Scratch::UNINIT);
        }
        self.0.as_mut_ptr().cast()
    }

    /// Room for so many bytes; an error if memory runs out.
    pub(super) fn try_new(bytes: usize) -> Result<Self> {
        crate::error::filled(Scratch::UNINIT, bytes.div_ceil(size_of::<Scratch>())).map(Bytes)
    }
}
