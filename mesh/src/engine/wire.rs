//! Elements that travel between ranks, and their memory as bytes.

use castiron::{DType, Element, bf16, f16};
use core::any::Any;

/// A dtype whose elements travel between ranks: every dtype of castiron.
///
/// What ranks reduce, they reduce as PyTorch does on one: sums and products of `f16` and `bf16` in `f32`, rounded once; integers wrap; the
/// largest and the smallest of numbers is NaN if one of them is.
pub(crate) trait Wire: Element {}
// Castiron's elements are a closed set: without padding, and each pattern of bits is a value; of `bool` two are (`settle`).
impl<E: Element> Wire for E {}

/// The bytes of elements.
pub(crate) fn bytes<E: Wire>(elements: &[E]) -> &[u8] {
    // SAFETY: `Element` is sealed, its types have no padding.
    unsafe { core::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// Runs what may write the bytes of elements.
pub(crate) fn write<E: Wire, T>(elements: &mut [E], run: impl FnOnce(&mut [u8]) -> T) -> T {
    /// Settles also when `run` panics.
    struct Settled<'a, E: Wire>(&'a mut [E]);
    impl<E: Wire> Drop for Settled<'_, E> {
        fn drop(&mut self) {
            settle(self.0);
        }
    }
    let settled = Settled(elements);
    // SAFETY: `Element` is sealed, its types have no padding, and `settle` makes every pattern a value before the elements are seen again.
    run(unsafe { core::slice::from_raw_parts_mut(settled.0.as_mut_ptr().cast(), size_of_val(&*settled.0)) })
}

/// A number of 16 bits, each pattern of which is one.
pub(crate) trait Half: Wire {}
impl Half for f16 {}
impl Half for bf16 {}

/// The numbers whose bytes these are: [`bytes`] gave them.
pub(crate) fn halves<E: Half>(bytes: &[u8]) -> &[E] {
    // SAFETY: each pattern of bits is a number.
    let (before, halves, after) = unsafe { bytes.align_to::<E>() };
    assert!(before.is_empty() && after.is_empty(), "the bytes of numbers of 16 bits");
    halves
}
/// The same to be written.
pub(crate) fn halves_mut<E: Half>(bytes: &mut [u8]) -> &mut [E] {
    // SAFETY: each pattern of bits is a number, and bytes may have any value.
    let (before, halves, after) = unsafe { bytes.align_to_mut::<E>() };
    assert!(before.is_empty() && after.is_empty(), "the bytes of numbers of 16 bits");
    halves
}

/// Makes values of what another rank has sent, whatever it was: a byte that is not 0 is true.
fn settle<E: Wire>(elements: &mut [E]) {
    if E::DTYPE == DType::Bool {
        // SAFETY: a `bool` is a byte.
        let bytes: &mut [u8] =
            unsafe { core::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) };
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
}

/// Memory that what was begun reads and writes, whatever its elements are. It stays where it is when its owner moves.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub(crate) trait Memory {
    fn bytes(&self) -> &[u8];
    /// Where it begins. What writes there calls `settle` when it is done.
    fn start(&mut self) -> *mut u8;
    fn settle(&mut self);
    fn write(&mut self, run: &mut dyn FnMut(&mut [u8]));
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<E: Wire> Memory for Vec<E> {
    fn bytes(&self) -> &[u8] {
        bytes(self)
    }
    fn start(&mut self) -> *mut u8 {
        self.as_mut_ptr().cast()
    }
    fn settle(&mut self) {
        settle(self);
    }
    fn write(&mut self, run: &mut dyn FnMut(&mut [u8])) {
        write(self, run);
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_arrives_for_a_bool_is_one() {
        let mut flags = [false, true, true];
        super::write(&mut flags, |bytes| bytes.copy_from_slice(&[255, 0, 2]));
        assert_eq!(flags.map(u8::from), [1, 0, 1]);
        let mut flags = vec![false; 2];
        super::Memory::write(&mut flags, &mut |bytes| bytes.fill(7));
        assert_eq!(flags, [true, true]);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            super::write(&mut flags, |bytes| {
                bytes.fill(9);
                panic!()
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(super::bytes(&flags), [1, 1]);
    }
}
