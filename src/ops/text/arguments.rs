//! What a kernel is launched with: values as bytes, each in its own place, in the order of the kernel's parameters.
//!
//! Uses nothing; filled while a kernel is described, and by devices, which launch kernels with them.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

/// The most bytes of parameters that every CUDA device takes.
pub const MOST_BYTES: usize = 4096;
/// Words for which there is room before more is allocated: those of nearly all launches.
const ROOM: usize = 48;

/// Arguments, each aligned to eight bytes, which is enough for all that kernels take.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// Bytes that values do not have (padding, and behind the last) are not initialised.
    words: Vec<MaybeUninit<u64>>,
    /// Where each begins, in words, and its bytes.
    places: Vec<(u32, u32)>,
}

impl Default for Arguments {
    fn default() -> Self {
        Arguments { words: Vec::with_capacity(ROOM), places: Vec::with_capacity(ROOM / 2) }
    }
}

#[cfg(test)]
impl PartialEq for Arguments {
    fn eq(&self, other: &Self) -> bool {
        self.bytes().eq(other.bytes())
    }
}

impl<const N: usize> From<[u64; N]> for Arguments {
    /// Addresses, or numbers of elements.
    fn from(words: [u64; N]) -> Self {
        let mut arguments = Arguments::new();
        words.into_iter().for_each(|word| arguments.push(word));
        arguments
    }
}

impl Arguments {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }
    /// All their bytes, as they are laid out for a launch.
    pub fn size(&self) -> usize {
        8 * self.words.len()
    }
    /// How many there are.
    #[cfg(feature = "cuda")]
    pub fn len(&self) -> usize {
        self.places.len()
    }
    /// Whether there are none.
    #[cfg(feature = "cuda")]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
    /// One more, laid out as the kernel's parameter is: a number, an address, or a struct of these.
    pub fn push<T: Copy + 'static>(&mut self, value: T) {
        const { assert!(align_of::<T>() <= 8) }
        // SAFETY: the value has so many bytes.
        unsafe { self.push_raw((&raw const value).cast(), size_of::<T>()) }
    }
    /// One more, of these bytes.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        // SAFETY: so many bytes are there.
        unsafe { self.push_raw(bytes.as_ptr(), bytes.len()) }
    }
    /// # Safety
    /// `from` has so many bytes. They need not be initialised.
    unsafe fn push_raw(&mut self, from: *const u8, bytes: usize) {
        let start = self.words.len();
        self.words.resize(start + bytes.div_ceil(8), MaybeUninit::uninit());
        // SAFETY: there is room for so many bytes from the word on, and `from` has them.
        unsafe { ptr::copy_nonoverlapping(from, self.words[start..].as_mut_ptr().cast(), bytes) }
        self.places.push((start as u32, bytes as u32));
    }
    /// Those of another behind them.
    pub fn append(&mut self, other: &Arguments) {
        let from = self.words.len() as u32;
        self.words.extend_from_slice(&other.words);
        self.places.extend(other.places.iter().map(|&(at, len)| (from + at, len)));
    }
    /// One more: a struct of all those of another, whose fields are aligned to eight bytes.
    #[cfg(feature = "cuda")]
    pub(crate) fn push_struct(&mut self, fields: &Arguments) {
        let start = self.words.len();
        self.words.extend_from_slice(&fields.words);
        self.places.push((start as u32, fields.size() as u32));
    }
    /// The bytes of each; none of them may be padding.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|&(at, len)| {
            // SAFETY: these bytes are inside the words; tests push elements and bytes, all of which are initialised.
            unsafe { core::slice::from_raw_parts(self.words[at as usize..].as_ptr().cast::<u8>(), len as usize) }
        })
    }
    /// Where each is, as `cuLaunchKernel` takes it; valid as long as the arguments are where they are and none is added.
    pub fn pointers(&self) -> Vec<*mut c_void> {
        self.places.iter().map(|&(at, _)| self.words[at as usize..].as_ptr().cast_mut().cast()).collect()
    }
}
