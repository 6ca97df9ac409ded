//! Scratch memory for elements and partial results whose types are not known: blocks of bytes, aligned for any of them. Uses nothing;
//! used by reductions and lanes.

use crate::error::Result;
use core::mem::MaybeUninit;

/// Bytes aligned for every element and partial result.
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

    /// Room for so many bytes; those that were there are kept.
    pub(in crate::cpu) fn reserve(&mut self, bytes: usize) -> *mut u8 {
        let blocks = bytes.div_ceil(size_of::<Block16>());
        if blocks > self.0.len() {
            self.0.resize(blocks.next_power_of_two(), Block16::UNINIT);
        }
        self.0.as_mut_ptr().cast()
    }

    /// So many zeros; an error if memory runs out.
    pub(in crate::cpu) fn try_zeroed(bytes: usize) -> Result<Self> {
        let zero = Block16([MaybeUninit::new(0); 16]);
        crate::error::filled(zero, bytes.div_ceil(size_of::<Block16>())).map(ByteBuffer)
    }

    /// Room for so many bytes; an error if memory runs out.
    pub(in crate::cpu) fn try_new(bytes: usize) -> Result<Self> {
        crate::error::filled(Block16::UNINIT, bytes.div_ceil(size_of::<Block16>())).map(ByteBuffer)
    }
}
