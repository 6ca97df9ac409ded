//! Orthogonal polynomials, by name: `special.chebyshev_polynomial_t` and others. Computed on the host, in `f64`, by their recurrences.
//!
//! Source: `aten/src/ATen/native/Math.h`.

use crate::any::AnyTensor;
use crate::any::base::by_width::spread_together;
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::base::operand::{broadcast_to, promoted, same_device};
use crate::any::{AnyOperand, checked_numel};
use crate::device::{Dynamic, DynamicBuffer, on_host};
use crate::dtype::{Castable, Category, DType, Element};
use crate::error::{Result, invalid, listed};
use crate::layout::strides;
use castiron_macros::operations;

/// The value of degree `n` from those of degree 0 and 1 and the step `next(k, value, before)`.
fn recurrence(n: f64, [zero, one]: [f64; 2], next: impl Fn(f64, f64, f64) -> f64) -> f64 {
    if n < 0.0 || n.is_nan() {
        return 0.0;
    }
    let n = n.trunc();
    if n == 0.0 {
        return zero;
    }
    let (mut before, mut value, mut k) = (zero, one, 1.0);
    while k < n && !value.is_nan() {
        (before, value) = (value, next(k, value, before));
        k += 1.0;
    }
    value
}

/// A polynomial of the first kind, `cos(n * acos(x))`, and others with the same recurrence.
fn chebyshev(x: f64, n: f64, one: f64) -> f64 {
    recurrence(n, [1.0, one], |_, value, before| 2.0 * x * value - before)
}

/// The highest degree: an element takes a step per degree, at most some milliseconds.
const HIGHEST: f64 = (1 << 20) as f64;

impl AnyTensor {
    fn polynomial(&self, op: &'static str, n: &AnyOperand, of: fn(f64, f64) -> f64) -> Result<AnyTensor> {
        let kinds = [(AnyOperand::from(self).kind(), self.dtype), (n.kind(), n.dtype())];
        let n = match n {
            AnyOperand::Array(n) => n.clone(),
            AnyOperand::Number(n) => self.scalar_on_device(op, *n, DType::F64)?,
        };
        let promoted = promoted(op, kinds)?;
        let dtype = if promoted.category() <= Category::Integral { crate::dtype::default_dtype() } else { promoted };
        if dtype.is_shell() || dtype.category() != Category::Floating || matches!(dtype, DType::F16 | DType::BF16) {
            return Err(refused(op, dtype));
        }
        same_device(op, self, &n)?;
        let sizes = broadcast_to(op, &self.sizes, &n.sizes)?;
        checked_numel(op, &sizes, DType::F64)?;
        let [x, n] = spread_together([&self.to(DType::F64)?, &n.to(DType::F64)?], &sizes)?;
        fn run<E: Castable + Element>(
            op: &'static str,
            [x, n]: [&AnyTensor; 2],
            of: fn(f64, f64) -> f64,
        ) -> Result<DynamicBuffer> {
            let operands = (x.elements_as::<f64>()?, n.elements_as::<f64>()?);
            on_host::<Dynamic, _, Vec<E>>(op, operands, |(x, n): (Vec<f64>, Vec<f64>)| {
                if let Some(n) = n.iter().find(|&&n| n > HIGHEST) {
                    return invalid(op, format!("a degree of {n}: expected one of at most {HIGHEST}"));
                }
                listed(x.into_iter().zip(n).map(|(x, n)| E::from_f64(of(x, n))))
            })
        }
        let buffer = dispatch_dtype!(op, dtype, E: [f32, f64] => run::<E>(op, [&x, &n], of))?;
        Ok(AnyTensor::fresh(buffer, dtype, &sizes, &strides::row_major(&sizes)))
    }
}

macro_rules! polynomials {
    ($($name:ident |$x:ident, $n:ident| $value:expr, $doc:literal, #[op $called:tt])*) => {
        #[operations]
        impl AnyTensor {$(
            #[doc = $doc]
            ///
            /// Of degree `n`; 0 where that is negative. Integers give the default float. Computed on the host.
            ///
            /// # Errors
            /// If shapes do not broadcast, a degree is above 2^20, or the dtypes promote to something else than `float32` and `float64`.
            #[op $called]
            pub fn $name(&self, n: impl Into<AnyOperand>) -> Result<AnyTensor> {
                self.polynomial(stringify!($name), &n.into(), |$x, $n| $value)
            }
        )*}
    };
}
polynomials! {
    chebyshev_polynomial_t |x, n| chebyshev(x, n, x), "Chebyshev polynomials of the first kind (`torch.special.chebyshev_polynomial_t`).",
        #[op(special.chebyshev_polynomial_t(input, n), dtypes = ordered)]
    chebyshev_polynomial_u |x, n| chebyshev(x, n, 2.0 * x), "Chebyshev polynomials of the second kind (`torch.special.chebyshev_polynomial_u`).",
        #[op(special.chebyshev_polynomial_u(input, n), dtypes = ordered)]
    chebyshev_polynomial_v |x, n| chebyshev(x, n, 2.0 * x - 1.0), "Chebyshev polynomials of the third kind (`torch.special.chebyshev_polynomial_v`).",
        #[op(special.chebyshev_polynomial_v(input, n), dtypes = ordered)]
    chebyshev_polynomial_w |x, n| chebyshev(x, n, 2.0 * x + 1.0), "Chebyshev polynomials of the fourth kind (`torch.special.chebyshev_polynomial_w`).",
        #[op(special.chebyshev_polynomial_w(input, n), dtypes = ordered)]
    shifted_chebyshev_polynomial_t |x, n| chebyshev(2.0 * x - 1.0, n, 2.0 * x - 1.0),
        "Chebyshev polynomials of the first kind on 0 to 1 (`torch.special.shifted_chebyshev_polynomial_t`).",
        #[op(special.shifted_chebyshev_polynomial_t(input, n), dtypes = ordered)]
    shifted_chebyshev_polynomial_u |x, n| chebyshev(2.0 * x - 1.0, n, 2.0 * (2.0 * x - 1.0)),
        "Chebyshev polynomials of the second kind on 0 to 1 (`torch.special.shifted_chebyshev_polynomial_u`).",
        #[op(special.shifted_chebyshev_polynomial_u(input, n), dtypes = ordered)]
    shifted_chebyshev_polynomial_v |x, n| chebyshev(2.0 * x - 1.0, n, 2.0 * (2.0 * x - 1.0) - 1.0),
        "Chebyshev polynomials of the third kind on 0 to 1 (`torch.special.shifted_chebyshev_polynomial_v`).",
        #[op(special.shifted_chebyshev_polynomial_v(input, n), dtypes = ordered)]
    shifted_chebyshev_polynomial_w |x, n| chebyshev(2.0 * x - 1.0, n, 2.0 * (2.0 * x - 1.0) + 1.0),
        "Chebyshev polynomials of the fourth kind on 0 to 1 (`torch.special.shifted_chebyshev_polynomial_w`).",
        #[op(special.shifted_chebyshev_polynomial_w(input, n), dtypes = ordered)]
    hermite_polynomial_h |x, n| recurrence(n, [1.0, 2.0 * x], |k, value, before| 2.0 * x * value - 2.0 * k * before),
        "Hermite polynomials of physics (`torch.special.hermite_polynomial_h`).",
        #[op(special.hermite_polynomial_h(input, n), dtypes = ordered)]
    hermite_polynomial_he |x, n| recurrence(n, [1.0, x], |k, value, before| x * value - k * before),
        "Hermite polynomials of probability (`torch.special.hermite_polynomial_he`).",
        #[op(special.hermite_polynomial_he(input, n), dtypes = ordered)]
    laguerre_polynomial_l |x, n| recurrence(n, [1.0, 1.0 - x], |k, value, before| ((2.0 * k + 1.0 - x) * value - k * before) / (k + 1.0)),
        "Laguerre polynomials (`torch.special.laguerre_polynomial_l`).",
        #[op(special.laguerre_polynomial_l(input, n), dtypes = ordered)]
    legendre_polynomial_p |x, n| recurrence(n, [1.0, x], |k, value, before| ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0)),
        "Legendre polynomials (`torch.special.legendre_polynomial_p`).",
        #[op(special.legendre_polynomial_p(input, n), dtypes = ordered)]
}
