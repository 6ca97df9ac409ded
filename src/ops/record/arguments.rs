//! The arguments of a kernel launch: values as bytes, each in its own place, in the order of the kernel's parameters.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

/// Maximum bytes of parameters that every CUDA device supports.
pub const MOST_BYTES: usize = 4096;
/// Initial capacity in words: enough for nearly all launches.
const ROOM: usize = 48;

/// Arguments, each aligned to eight bytes, which suffices for every kernel parameter.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// Padding bytes are uninitialised.
    words: Vec<MaybeUninit<u64>>,
    /// The start of each argument in words, and its bytes.
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
    /// From addresses, or numbers of elements.
    fn from(words: [u64; N]) -> Self {
        let mut arguments = Arguments::new();
        words.into_iter().for_each(|word| arguments.push(word));
        arguments
    }
}

impl Arguments {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }
    /// The total bytes as laid out for a launch.
    pub fn size(&self) -> usize {
        8 * self.words.len()
    }
    /// Number of arguments.
    pub fn len(&self) -> usize {
        self.places.len()
    }
    /// Whether there are no arguments.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
    /// Adds an argument with the layout of the kernel's parameter: a number, an address, or a struct of these.
    pub fn push<T: Copy + 'static>(&mut self, value: T) {
        const { assert!(align_of::<T>() <= 8) }
        // SAFETY: the value has that many bytes.
        unsafe { self.push_raw((&raw const value).cast(), size_of::<T>()) }
    }
    /// Adds an argument with these bytes.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the slice has that many bytes.
        unsafe { self.push_raw(bytes.as_ptr(), bytes.len()) }
    }
    /// # Safety
    /// `from` has `bytes` bytes. They need not be initialised.
    unsafe fn push_raw(&mut self, from: *const u8, bytes: usize) {
        let start = self.words.len();
        self.words.resize(start + bytes.div_ceil(8), MaybeUninit::uninit());
        // SAFETY: there is room for `bytes` bytes from that word on, and `from` has them.
        unsafe { ptr::copy_nonoverlapping(from, self.words[start..].as_mut_ptr().cast(), bytes) }
        self.places.push((start as u32, bytes as u32));
    }
    /// Appends the arguments of another.
    pub fn append(&mut self, other: &Arguments) {
        let from = self.words.len() as u32;
        self.words.extend_from_slice(&other.words);
        self.places.extend(other.places.iter().map(|&(at, len)| (from + at, len)));
    }
    /// Adds a struct of all arguments of another, with fields aligned to eight bytes.
    pub(crate) fn push_struct(&mut self, fields: &Arguments) {
        let start = self.words.len();
        self.words.extend_from_slice(&fields.words);
        self.places.push((start as u32, fields.size() as u32));
    }
    /// The bytes of each argument; they must not contain padding.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|&(at, len)| {
            // SAFETY: these bytes are inside the words; tests push elements and bytes, all of which are initialised.
            unsafe { core::slice::from_raw_parts(self.words[at as usize..].as_ptr().cast::<u8>(), len as usize) }
        })
    }
    /// Pointers to the arguments for `cuLaunchKernel`; valid until the arguments are moved or added to.
    pub fn pointers(&self) -> Vec<*mut c_void> {
        self.places.iter().map(|&(at, _)| self.words[at as usize..].as_ptr().cast_mut().cast()).collect()
    }
}
