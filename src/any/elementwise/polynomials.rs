//! Orthogonal polynomials, by name: `special.chebyshev_polynomial_t` and others. Computed on the host, in `f64`, by their recurrences.
//!
//! Source: `aten/src/ATen/native/Math.h`.

use crate::any::AnyTensor;
use crate::any::base::by_width::on_one_device;
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::base::operand::{broadcast_to, promoted, same_device};
use crate::any::{AnyOperand, checked_numel};
use crate::cpu::polynomials::{Family, evaluate};
use crate::device::{Dynamic, DynamicBuffer, on_host};
use crate::dtype::{Castable, Category, DType};
use crate::error::{Result, invalid};
use crate::layout::strides;
use castiron_macros::operations;

/// A `q` that changes nothing, in each step.
const NONE: [f64; 2] = [-0.0, -0.0];

/// Polynomials of the first kind, `cos(n * acos(x))`, and others with the same recurrence.
const fn chebyshev(is_shifted: bool, first: [f64; 2]) -> Family {
    Family { is_shifted, first, p: [2.0, 0.0], q: NONE, c: [1.0, 0.0], d: [1.0, 0.0] }
}

/// The highest degree: an element takes a step per degree, at most some milliseconds.
const HIGHEST: f64 = (1 << 20) as f64;

impl AnyTensor {
    fn polynomial(&self, op: &'static str, n: &AnyOperand, family: Family) -> Result<AnyTensor> {
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
        let [mut x, mut n] = on_one_device([&self.to(dtype)?, &n.to(DType::F64)?])?;
        x = x.expanded_to(&sizes)?.contiguous()?;
        // (One degree for all stays one.)
        if n.numel() != 1 {
            n = n.expanded_to(&sizes)?.contiguous()?;
        }
        fn run<E: Castable>(op: &'static str, [x, n]: [&AnyTensor; 2], family: Family) -> Result<DynamicBuffer> {
            let operands = (x.elements_as::<E>()?, n.elements_as::<f64>()?);
            on_host::<Dynamic, _, Vec<E>>(op, operands, |(mut x, n): (Vec<E>, Vec<f64>)| {
                if let Some(n) = n.iter().find(|&&n| n > HIGHEST) {
                    return invalid(op, format!("a degree of {n}: expected one of at most {HIGHEST}"));
                }
                evaluate(family, &mut x, &n);
                Ok(x)
            })
        }
        let buffer = dispatch_dtype!(op, dtype, E: [f32, f64] => run::<E>(op, [&x, &n], family))?;
        Ok(AnyTensor::fresh(buffer, dtype, &sizes, &strides::row_major(&sizes)))
    }
}

macro_rules! polynomials {
    ($($name:ident $family:expr, $doc:literal, #[op $called:tt])*) => {
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
                self.polynomial(stringify!($name), &n.into(), const { $family })
            }
        )*}
    };
}
polynomials! {
    chebyshev_polynomial_t chebyshev(false, [1.0, -0.0]), "Chebyshev polynomials of the first kind (`torch.special.chebyshev_polynomial_t`).",
        #[op(special.chebyshev_polynomial_t(input, n), dtypes = ordered)]
    chebyshev_polynomial_u chebyshev(false, [2.0, -0.0]), "Chebyshev polynomials of the second kind (`torch.special.chebyshev_polynomial_u`).",
        #[op(special.chebyshev_polynomial_u(input, n), dtypes = ordered)]
    chebyshev_polynomial_v chebyshev(false, [2.0, -1.0]), "Chebyshev polynomials of the third kind (`torch.special.chebyshev_polynomial_v`).",
        #[op(special.chebyshev_polynomial_v(input, n), dtypes = ordered)]
    chebyshev_polynomial_w chebyshev(false, [2.0, 1.0]), "Chebyshev polynomials of the fourth kind (`torch.special.chebyshev_polynomial_w`).",
        #[op(special.chebyshev_polynomial_w(input, n), dtypes = ordered)]
    shifted_chebyshev_polynomial_t chebyshev(true, [1.0, -0.0]),
        "Chebyshev polynomials of the first kind on 0 to 1 (`torch.special.shifted_chebyshev_polynomial_t`).",
        #[op(special.shifted_chebyshev_polynomial_t(input, n), dtypes = ordered)]
    shifted_chebyshev_polynomial_u chebyshev(true, [2.0, -0.0]),
        "Chebyshev polynomials of the second kind on 0 to 1 (`torch.special.shifted_chebyshev_polynomial_u`).",
        #[op(special.shifted_chebyshev_polynomial_u(input, n), dtypes = ordered)]
    shifted_chebyshev_polynomial_v chebyshev(true, [2.0, -1.0]),
        "Chebyshev polynomials of the third kind on 0 to 1 (`torch.special.shifted_chebyshev_polynomial_v`).",
        #[op(special.shifted_chebyshev_polynomial_v(input, n), dtypes = ordered)]
    shifted_chebyshev_polynomial_w chebyshev(true, [2.0, 1.0]),
        "Chebyshev polynomials of the fourth kind on 0 to 1 (`torch.special.shifted_chebyshev_polynomial_w`).",
        #[op(special.shifted_chebyshev_polynomial_w(input, n), dtypes = ordered)]
    hermite_polynomial_h Family { c: [0.0, 2.0], ..chebyshev(false, [2.0, -0.0]) },
        "Hermite polynomials of physics (`torch.special.hermite_polynomial_h`).",
        #[op(special.hermite_polynomial_h(input, n), dtypes = ordered)]
    hermite_polynomial_he Family { p: [1.0, 0.0], c: [0.0, 1.0], ..chebyshev(false, [1.0, -0.0]) },
        "Hermite polynomials of probability (`torch.special.hermite_polynomial_he`).",
        #[op(special.hermite_polynomial_he(input, n), dtypes = ordered)]
    laguerre_polynomial_l Family { is_shifted: false, first: [-1.0, 1.0], p: [-1.0, 0.0], q: [1.0, 2.0], c: [0.0, 1.0], d: [1.0, 1.0] },
        "Laguerre polynomials (`torch.special.laguerre_polynomial_l`).",
        #[op(special.laguerre_polynomial_l(input, n), dtypes = ordered)]
    legendre_polynomial_p Family { is_shifted: false, first: [1.0, -0.0], p: [1.0, 2.0], q: NONE, c: [0.0, 1.0], d: [1.0, 1.0] },
        "Legendre polynomials (`torch.special.legendre_polynomial_p`).",
        #[op(special.legendre_polynomial_p(input, n), dtypes = ordered)]
}
