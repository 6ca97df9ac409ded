//! Two table loops in one pass: `then(x, first(a, b))`, on blocks that stay in the cache.

use super::inner::Inner;
use super::non_temporal::Staging;
use super::simd::{self, Loop};
use crate::dtype::{Compute, DType, Dtype, bf16, f16};
use crate::ops;

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

/// A product or quotient of two operands that is added to a third.
#[derive(Clone, Copy)]
pub(crate) enum Term {
    Product,
    Quotient,
}

/// `f * x + g * (h * a * b)`, or with a quotient, in one loop: in the dtype that `E` computes in, rounded once.
struct AddsTerm<E: Dtype, const DIVIDES: bool> {
    /// Those of [`Chained::factors`], which are 1 where there is none.
    factors: [E::Compute; 3],
    places: [*mut E; 4],
    len: usize,
}
impl<E: Dtype, const DIVIDES: bool> Loop for AddsTerm<E, DIVIDES> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let AddsTerm { factors: [of_x, of_a, of_term], places: [out, x, a, b], len } = self;
        for at in 0..len {
            // SAFETY: the maker of this loop promises `len` elements at each place.
            unsafe {
                let [x, a, b] = [x, a, b].map(|place| place.add(at).read().to_compute());
                let a = of_a.binary::<ops::mul>(a);
                let term = if DIVIDES { a.binary::<ops::div>(b) } else { a.binary::<ops::mul>(b) };
                let sum = of_x.binary::<ops::mul>(x).binary::<ops::add>(of_term.binary::<ops::mul>(term));
                out.add(at).write(E::from_compute(sum));
            }
        }
    }
}

/// [`of_three`] in one loop, for chains whose operands and result are of `E`, whose first loop multiplies, or divides if `DIVIDES`, and
/// whose second one adds.
///
/// # Safety
/// See [`Inner`]; the result does not overlap the operands.
unsafe fn adds_a_term<E: Dtype, const DIVIDES: bool>(kernel: *const (), places: [*mut u8; 4], len: usize) {
    // SAFETY: the caller's promise; factors have the computing dtype.
    let factors = unsafe { (*kernel.cast::<Chained>()).factors.map(|factor| factor.cast::<E::Compute>().as_ref()) };
    let one = E::from_i32(1).to_compute();
    let factors = factors.map(|factor| factor.copied().unwrap_or(one));
    simd::dispatch(AddsTerm::<E, DIVIDES> { factors, places: places.map(|place| place.cast()), len });
}

/// The loop that [adds a term](adds_a_term) in a dtype, where there is one.
pub(crate) fn adding_a_term(dtype: DType, term: Term) -> Option<Inner<4>> {
    Some(match (dtype, term) {
        (DType::F16, Term::Product) => adds_a_term::<f16, false>,
        (DType::F16, Term::Quotient) => adds_a_term::<f16, true>,
        (DType::BF16, Term::Product) => adds_a_term::<bf16, false>,
        (DType::BF16, Term::Quotient) => adds_a_term::<bf16, true>,
        (DType::F32, Term::Product) => adds_a_term::<f32, false>,
        (DType::F32, Term::Quotient) => adds_a_term::<f32, true>,
        (DType::F64, Term::Product) => adds_a_term::<f64, false>,
        (DType::F64, Term::Quotient) => adds_a_term::<f64, true>,
        (DType::I32, Term::Product) => adds_a_term::<i32, false>,
        (DType::I64, Term::Product) => adds_a_term::<i64, false>,
        _ => return None,
    })
}
