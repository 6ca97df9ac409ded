//! Splits a formula with a fast path into two: the fast path, and the test for it.

use super::{Binary, Compare, MachineFloat, MachineInt, Predicate, Unary};
use num_complex::Complex;

/// As a formula, the fast path of `F`; as a predicate, whether a number takes it.
pub struct FastPath<F>(core::marker::PhantomData<fn() -> F>);
impl<F: Unary> Unary for FastPath<F> {
    #[inline(always)]
    fn boolean(x: bool) -> bool {
        F::boolean(x)
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T) -> T {
        F::integer(x)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        F::fast_path(x)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
        F::complex(z)
    }
}
impl<F: Unary> Predicate for FastPath<F> {
    #[inline(always)]
    fn boolean(_: bool) -> bool {
        true
    }
    #[inline(always)]
    fn integer<T: MachineInt>(_: T) -> bool {
        true
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> bool {
        F::takes_fast_path(x)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(_: Complex<T>) -> bool {
        true
    }
}

/// Writes the same for a binary formula; `$name` is the marker, followed by the functions of floats.
macro_rules! fast_paths_of_two {
    ($($(#[$doc:meta])* $name:ident: $fast_path:ident $takes_fast_path:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name<F>(core::marker::PhantomData<fn() -> F>);
        impl<F: Binary> Binary for $name<F> {
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                F::boolean(a, b)
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> T {
                F::integer(a, b)
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> T {
                F::$fast_path(a, b)
            }
            #[inline(always)]
            fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
                F::complex(a, b)
            }
        }
        impl<F: Binary> Compare for $name<F> {
            #[inline(always)]
            fn boolean(_: bool, _: bool) -> bool {
                true
            }
            #[inline(always)]
            fn integer<T: MachineInt>(_: T, _: T) -> bool {
                true
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> bool {
                F::$takes_fast_path(a, b)
            }
            #[inline(always)]
            fn complex<T: MachineFloat>(_: Complex<T>, _: Complex<T>) -> bool {
                true
            }
        }
    )*};
}
fast_paths_of_two! {
    /// As a formula the fast path of `F`; as a comparison, whether two numbers take it.
    FastPathOfTwo: fast_path takes_fast_path;
    /// The same where the second number is a scalar.
    FastPathByScalar: fast_path_by_scalar takes_fast_path_by_scalar;
}
