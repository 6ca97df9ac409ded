//! Elementary functions of f32 and f64 that compilers turn into vector instructions: straight-line arithmetic without
//! branches, tables, calls or fused multiply-adds, hence the same bits on every machine. At most 2 ulp off everywhere.
//!
//! Uses nothing of the crate; the formulas of the operations use it.
//!
//! Every function is generic over [`Real`], that is f32 and f64. `sin`, `cos` and `tan` alone may call a library: they do
//! beyond [`TRIG_LIMIT`], and loops should ask once for a block and then use the `_small` forms.

#[macro_use]
mod poly;
mod arc;
mod erf;
mod exp;
mod gate;
mod hyper;
mod log;
mod pow;
mod real;
#[cfg(test)]
mod tests;
mod trig;

pub(crate) use arc::{acos, asin, atan, atan2};
pub(crate) use erf::{erf, erfc, gelu};
pub(crate) use exp::{exp, exp2, expm1};
pub(crate) use gate::{gelu_tanh, mish, sigmoid, silu, softplus};
pub(crate) use hyper::{acosh, asinh, atanh, cosh, sinh, tanh};
pub(crate) use log::{log, log1p, log2, log10};
pub(crate) use pow::{cbrt, pow, rsqrt};
pub(crate) use real::Real;
pub(crate) use trig::{TRIG_LIMIT, cos, cos_small, sin, sin_small, tan, tan_small};
