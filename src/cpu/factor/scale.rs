//! Matrices scaled to a largest part between 1 and 2, for iterations whose thresholds are absolute: `faer`'s treat elements below the square
//! root of the least normal number as zero, and multiply squares.
//! Uses numbers; used by the factorisations that depend on the norm of a matrix alone (singular values, eigenvalues).

use super::{copied, field::Field};
use crate::error::Result;
use num_traits::Float;

/// A matrix times a power of two. What has to be multiplied by `2^exponent` again is what grows with the matrix; vectors of norm 1 do not.
pub(crate) struct Scaled<E> {
    pub(crate) elements: Vec<E>,
    pub(crate) exponent: i32,
}

impl<E: Field> Scaled<E> {
    /// Elements that are all finite.
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

/// Multiplies by `2^exponent`, in as many steps as normal numbers are needed.
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
