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
    /// Each of `p`, `q` and `c` as `[a, b]`: `a + b * k`. (A `q` of `[-0.0, -0.0]` changes no sign of a zero.)
    pub(crate) p: [f64; 2],
    pub(crate) q: [f64; 2],
    pub(crate) c: [f64; 2],
    /// Whether `d` is `k + 1`, else 1.
    pub(crate) divides: bool,
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

impl Family {
    /// The values of as many degrees, which are integers from 0 up.
    #[inline(always)]
    fn values(&self, x: [f64; TOGETHER], degrees: &[f64; TOGETHER]) -> [f64; TOGETHER] {
        let t = if self.is_shifted { x.map(|x| 2.0 * x - 1.0) } else { x };
        let (mut before, mut value) = ([1.0; TOGETHER], t.map(|t| self.first[0] * t + self.first[1]));
        for (value, &degree) in value.iter_mut().zip(degrees) {
            *value = if degree == 0.0 { 1.0 } else { *value };
        }
        let most = degrees.iter().fold(0.0, |most: f64, &degree| if degree > most { degree } else { most });
        let mut k = 1.0;
        while k < most {
            let [p, q, c] = [self.p, self.q, self.c].map(|[a, b]| a + b * k);
            let mut next = [0.0; TOGETHER];
            for i in 0..TOGETHER {
                next[i] = (p * t[i] + q) * value[i] - c * before[i];
            }
            if self.divides {
                next = next.map(|next| next / (k + 1.0));
            }
            for i in 0..TOGETHER {
                // (What has its degree stays.)
                (before[i], value[i]) = if k < degrees[i] { (value[i], next[i]) } else { (before[i], value[i]) };
            }
            k += 1.0;
        }
        value
    }
}

impl<E: Castable> Loop for Values<'_, E> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) {
        let Values { family, x, degrees } = self;
        let mut given = [degrees.first().copied().unwrap_or_default(); TOGETHER];
        for (at, x) in x.chunks_mut(TOGETHER).enumerate() {
            if degrees.len() > 1 {
                given[..x.len()].copy_from_slice(&degrees[at * TOGETHER..][..x.len()]);
            }
            let mut elements = [0.0; TOGETHER];
            elements.iter_mut().zip(&*x).for_each(|(element, x)| *element = x.cast());
            let values = family.values(elements, &given.map(|degree| if degree > 0.0 { degree.trunc() } else { 0.0 }));
            for ((x, value), degree) in x.iter_mut().zip(values).zip(given) {
                *x = E::from_f64(if degree >= 0.0 { value } else { 0.0 });
            }
        }
    }
}

/// Replaces each element by the value of the polynomial of its degree, or of the only one that there is: 0 where the degree is negative or
/// NaN. Computed in `f64`.
pub(crate) fn evaluate<E: Castable>(family: Family, x: &mut [E], degrees: &[f64]) {
    simd::dispatch(Values { family, x, degrees });
}
