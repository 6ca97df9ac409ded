//! What a kernel is launched with: values as bytes, each in its own place, in the order of the kernel's parameters.
//!
//! Uses elements; filled while a kernel is described, given to a launch by a device.

use crate::dtype::Element;
use core::ffi::c_void;

/// The most bytes of parameters that every CUDA device takes.
pub const MOST_BYTES: usize = 4096;

/// Arguments, each aligned to eight bytes, which is enough for all that kernels take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    words: Vec<u64>,
    /// Where each begins, in words, and its bytes.
    places: Vec<(usize, usize)>,
}
impl Arguments {
    /// All their bytes, as they are laid out for a launch.
    pub fn size(&self) -> usize {
        8 * self.words.len()
    }
    /// One more, of these bytes.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.places.push((self.words.len(), bytes.len()));
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.words.push(u64::from_ne_bytes(word));
        }
    }
    /// One more, an element.
    pub(super) fn push<E: Element>(&mut self, value: E) {
        let from: *const E = &value;
        // SAFETY: elements are numbers, bytes of numbers and pairs of numbers of one size: all their bytes are initialised.
        self.push_bytes(unsafe { core::slice::from_raw_parts(from.cast::<u8>(), size_of::<E>()) });
    }
    /// One more, an address or a number of elements.
    pub(super) fn push_word(&mut self, word: u64) {
        self.push_bytes(&word.to_ne_bytes());
    }
    /// Those of another behind them.
    pub(super) fn append(&mut self, other: &Arguments) {
        let from = self.words.len();
        self.words.extend_from_slice(&other.words);
        self.places.extend(other.places.iter().map(|&(at, len)| (from + at, len)));
    }
    /// All of them, each from a word of eight bytes on.
    #[cfg(feature = "cuda")]
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().copied()
    }
    /// The bytes of each.
    pub fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|&(at, len)| {
            let words = &self.words[at..at + len.div_ceil(8)];
            // SAFETY: the bytes of initialised words, no more of them than there are.
            unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<u8>(), len) }
        })
    }
    /// Where each is, as `cuLaunchKernel` takes it; valid as long as the arguments are where they are.
    pub fn pointers(&self) -> Vec<*mut c_void> {
        self.places.iter().map(|&(at, _)| self.words[at..].as_ptr().cast_mut().cast()).collect()
    }
}
