//! Untyped scratch memory, aligned for elements and partial results of every type.

use crate::error::Result;
use crate::storage::ScratchList;
use core::mem::MaybeUninit;

/// Sixteen bytes, aligned for every element and partial result.
#[derive(Clone, Copy)]
#[repr(align(16))]
pub(in crate::cpu) struct Block16(#[allow(dead_code)] [MaybeUninit<u8>; 16]);

impl Block16 {
    pub(in crate::cpu) const UNINIT: Block16 = Block16([MaybeUninit::uninit(); 16]);
}

/// A growing block of bytes.
pub(in crate::cpu) struct ByteBuffer(Vec<Block16>);

impl ByteBuffer {
    pub(in crate::cpu) const fn new() -> Self {
        ByteBuffer(Vec::new())
    }

    /// Grows the buffer to at least `bytes` bytes, keeping its contents, and returns its start.
    pub(in crate::cpu) fn reserve(&mut self, bytes: usize) -> *mut u8 {
        let blocks = bytes.div_ceil(size_of::<Block16>());
        if blocks > self.0.len() {
            self.0.resize(blocks.next_power_of_two(), Block16::UNINIT);
        }
        self.0.as_mut_ptr().cast()
    }
}

/// Zeroed 16-byte blocks that cover `bytes` bytes; an error if memory runs out.
pub(in crate::cpu) fn zeroed(bytes: usize) -> Result<ScratchList<Block16>> {
    ScratchList::try_filled(Block16([MaybeUninit::new(0); 16]), bytes.div_ceil(size_of::<Block16>()))
}

/// The same, uninitialised.
pub(in crate::cpu) fn uninitialised(bytes: usize) -> Result<ScratchList<Block16>> {
    ScratchList::try_filled(Block16::UNINIT, bytes.div_ceil(size_of::<Block16>()))
}
