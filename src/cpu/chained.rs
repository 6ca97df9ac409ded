//! Two table loops in one pass: `then(x, first(a, b))`, on blocks that stay in the cache.

use super::inner::Inner;
use super::non_temporal::Staging;
use super::simd::{self, Loop};
use crate::dtype::{Dtype, bf16};

/// Two loops whose operands and results all have the same element size.
pub(crate) struct Chained {
    pub(crate) first: Inner<3>,
    /// Takes `x` and the result of `first`.
    pub(crate) then: Inner<3>,
    /// Numbers per element as `then` counts them: 2 where it splits complex numbers into real and imaginary part, else 1.
    pub(crate) numbers: usize,
    /// The bytes of an element.
    pub(crate) width: usize,
    /// The multiplication loop, and the factors of `x`, `a` and the first result; null for no factor. The loop is `Some` if any factor is
    /// set.
    pub(crate) times: Option<Inner<2>>,
    pub(crate) factors: [*const (); 3],
}

impl Chained {
    /// Runs both loops, block by block.
    ///
    /// # Safety
    /// As for [`Inner`]: loops and factors have the element type of all places, each of which holds `len` elements.
    unsafe fn run(&self, [out, x, a, b]: [*mut u8; 4], len: usize) {
        let (mut term, mut scaled) = (Staging::new(), Staging::new());
        let (term, scaled) = (term.start::<u8>(), scaled.start::<u8>());
        let (none, most) = (core::ptr::null(), Staging::BYTES / self.width);
        // SAFETY: the caller's promise; a buffer holds as many elements as a block has.
        unsafe {
            let times = |factor: *const (), from: *mut u8, to: *mut u8, count: usize| match self.times {
                Some(times) if !factor.is_null() => {
                    times(factor, [to, from], count);
                    to
                }
                _ => from,
            };
            let mut at = 0;
            while at < len {
                let count = most.min(len - at);
                let [out, x, a, b] = [out, x, a, b].map(|place| place.add(at * self.width));
                let a = times(self.factors[1], a, scaled, count);
                (self.first)(none, [term, a, b], count);
                times(self.factors[2], term, term, count);
                let x = times(self.factors[0], x, scaled, count);
                (self.then)(none, [out, x, term], count * self.numbers);
                at += count;
            }
        }
    }
}

/// As an inner loop of `x`, `a` and `b` whose kernel pointer is the [`Chained`].
///
/// # Safety
/// See [`Inner`]; the result does not overlap the operands.
pub(crate) unsafe fn of_three(kernel: *const (), places: [*mut u8; 4], len: usize) {
    // SAFETY: the caller's promise.
    unsafe { (*kernel.cast::<Chained>()).run(places, len) }
}

/// The same of `bf16`, computed in `f32` and rounded once: `x + factor * a * b`, or `x + factor * a / b`.
struct AddsTerm<const DIVIDES: bool> {
    factor: f32,
    places: [*mut bf16; 4],
    len: usize,
}
impl<const DIVIDES: bool> Loop for AddsTerm<DIVIDES> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let AddsTerm { factor, places: [out, x, a, b], len } = self;
        for at in 0..len {
            // SAFETY: the maker of this loop promises `len` elements at each place.
            unsafe {
                let [x, a, b] = [x, a, b].map(|place| place.add(at).read().to_compute());
                let term = if DIVIDES { factor * a / b } else { factor * a * b };
                out.add(at).write(bf16::from_compute(x + term));
            }
        }
    }
}

/// [`of_three`] in one loop, where all places are of `bf16`, the second loop adds, the first one multiplies, or divides if `DIVIDES`, and no
/// factor but that of `a` is set. The factors are `f32`.
///
/// # Safety
/// See [`Inner`]; the result does not overlap the operands.
pub(crate) unsafe fn of_three_halves<const DIVIDES: bool>(kernel: *const (), places: [*mut u8; 4], len: usize) {
    // SAFETY: the caller's promise.
    let factor = unsafe { (*kernel.cast::<Chained>()).factors[1].cast::<f32>().as_ref() };
    let places = places.map(|place| place.cast());
    simd::dispatch(AddsTerm::<DIVIDES> { factor: factor.map_or(1.0, |factor| *factor), places, len });
}
