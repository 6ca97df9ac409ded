//! Values of orthogonal polynomials by their recurrences: one loop for all families, which are given as numbers.

use super::simd::{self, Loop};
use crate::dtype::Castable;
use crate::ops::kernel::VectorWidth;

/// A family of polynomials of `t`. The one of degree 0 is 1, that of degree 1 is `first[0] * t + first[1]`, and that of degree `k + 1` is
/// `((p * t + q) * value - c * before) / d` of those of degrees `k` and `k - 1`.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    /// Whether `t` is `2 x - 1`, else `x`.
    pub(crate) is_shifted: bool,
    pub(crate) first: [f64; 2],
    /// Each of `p`, `q`, `c` and `d` as `[a, b]`: `a + b * k`. (A `q` of `[-0.0, -0.0]` changes no sign of a zero.)
    pub(crate) p: [f64; 2],
    pub(crate) q: [f64; 2],
    pub(crate) c: [f64; 2],
    pub(crate) d: [f64; 2],
}

/// Elements computed together.
const TOGETHER: usize = 32;

struct Values<'a, E> {
    family: Family,
    /// The arguments, which the values replace.
    x: &'a mut [E],
    /// A degree for each, or one for all.
    degrees: &'a [f64],
}

/// Degrees of a block.
struct Degrees {
    given: [f64; TOGETHER],
    /// As integers from 0 up, and the highest.
    whole: [f64; TOGETHER],
    most: f64,
}

impl Degrees {
    #[inline(always)]
    fn of(mut given: [f64; TOGETHER]) -> Self {
        let (mut whole, mut most) = ([0.0; TOGETHER], 0.0);
        for i in 0..TOGETHER {
            // (A degree between -1 and 0 is 0.)
            given[i] = given[i].trunc();
            whole[i] = if given[i] > 0.0 { given[i] } else { 0.0 };
            most = if whole[i] > most { whole[i] } else { most };
        }
        Degrees { given, whole, most }
    }
}

impl Family {
    /// The values, written into a block. (Loops over places: closures over whole arrays are not vectorised.)
    #[inline(always)]
    fn write(&self, values: &mut [f64; TOGETHER], x: &[f64; TOGETHER], degrees: &Degrees) {
        let (mut t, mut before) = ([0.0; TOGETHER], [1.0; TOGETHER]);
        for i in 0..TOGETHER {
            t[i] = if self.is_shifted { 2.0 * x[i] - 1.0 } else { x[i] };
            let one = self.first[0] * t[i] + self.first[1];
            values[i] = if degrees.whole[i] == 0.0 { 1.0 } else { one };
        }
        let mut k = 1.0;
        while k < degrees.most {
            let at = |[a, b]: [f64; 2]| a + b * k;
            let (p, q, c, d) = (at(self.p), at(self.q), at(self.c), at(self.d));
            for i in 0..TOGETHER {
                let next = ((p * t[i] + q) * values[i] - c * before[i]) / d;
                // (What has its degree stays.)
                let goes_on = k < degrees.whole[i];
                before[i] = if goes_on { values[i] } else { before[i] };
                values[i] = if goes_on { next } else { values[i] };
            }
            k += 1.0;
        }
    }
}

impl<E: Castable> Loop for Values<'_, E> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) {
        let Values { family, x, degrees: all } = self;
        let mut degrees = Degrees::of([all.first().copied().unwrap_or_default(); TOGETHER]);
        for (at, x) in x.chunks_mut(TOGETHER).enumerate() {
            if all.len() > 1 {
                let mut given = [0.0; TOGETHER];
                given[..x.len()].copy_from_slice(&all[at * TOGETHER..][..x.len()]);
                degrees = Degrees::of(given);
            }
            let (mut elements, mut values) = ([0.0; TOGETHER], [0.0; TOGETHER]);
            for (element, x) in elements.iter_mut().zip(&*x) {
                *element = x.cast();
            }
            family.write(&mut values, &elements, &degrees);
            for (i, x) in x.iter_mut().enumerate() {
                *x = E::from_f64(if degrees.given[i] >= 0.0 { values[i] } else { 0.0 });
            }
        }
    }
}

/// Replaces each element by the value of the polynomial of its degree, or of the only one that there is: 0 where the degree is negative or
/// NaN. Computed in `f64`.
pub(crate) fn evaluate<E: Castable>(family: Family, x: &mut [E], degrees: &[f64]) {
    simd::dispatch(Values { family, x, degrees });
}
