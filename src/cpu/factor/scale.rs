//! Matrices scaled to a largest element between 1 and 2, for iterations with absolute thresholds: `faer`'s treat elements below the square
//! root of the smallest normal number as zero, and multiply squares.

use super::{copied, field::Field};
use crate::error::Result;
use num_traits::Float;

/// A matrix times a power of two. Results that scale with the matrix are multiplied by `2^exponent` again; vectors of norm 1 are not.
pub(crate) struct Scaled<E> {
    pub(crate) elements: Vec<E>,
    pub(crate) exponent: i32,
}

impl<E: Field> Scaled<E> {
    /// From elements that are all finite.
    pub(crate) fn of(elements: &[E]) -> Result<Self> {
        let part = |x: &E| Float::max(Float::abs(x.real_part()), Float::abs(x.imaginary_part()));
        let largest = elements.iter().fold(E::real(0.0), |most, x| Float::max(most, part(x)));
        let (mantissa, exponent, _) = Float::integer_decode(largest);
        let exponent =
            if mantissa == 0 || !largest.is_finite() { 0 } else { i32::from(exponent) + mantissa.ilog2() as i32 };
        let mut elements = copied(elements)?;
        scale(&mut elements, -exponent);
        Ok(Scaled { elements, exponent })
    }
}

/// Multiplies by `2^exponent`, in several steps where the factor is not a normal number.
pub(crate) fn scale<E: Field>(elements: &mut [E], exponent: i32) {
    let least = Float::integer_decode(<E::Re as Float>::min_positive_value());
    let most = -(i32::from(least.1) + least.0.ilog2() as i32);
    let mut left = exponent;
    while left != 0 {
        let step = left.clamp(-most, most);
        let power = E::real(2f64.powi(step));
        elements.iter_mut().for_each(|x| *x = x.times_real(power));
        left -= step;
    }
}
