//! Derivatives of elementwise kernels: what a kernel says about its own, and loops that multiply a gradient by the derivative of a
//! formula, which dual numbers read (`ops::dual`).
//!
//! A formula that dual numbers read badly, where PyTorch chooses otherwise or where numbers overflow on the way, states its derivative
//! itself: `Unary::derivative` and its like.

#![cfg_attr(not(feature = "grad"), allow(dead_code))]

use super::dual::Dual;
use super::kernel::{Map2, Map3, VectorWidth};
use crate::dtype::{Binary, Complex, DType, Element, MachineFloat, Several, ToReal, Tuned, Unary};
use crate::ops::record::kernel::{Kernel, Value};
use core::marker::PhantomData;
#[cfg(feature = "grad")]
use {
    crate::ops::record::derivative::Derivative,
    crate::ops::record::graph::{Function as Recording, Unreadable},
    std::collections::HashMap,
    std::sync::{Arc, Mutex, PoisonError},
};

/// The values that a kernel is given besides its operands: up to three.
pub type Constants = [Complex<f64>; 3];

/// The derivative of an elementwise kernel.
#[derive(Clone, Copy)]
pub enum Slope {
    /// There is none, or castiron does not have it: refused where it would be recorded.
    Missing,
    /// Zero wherever it exists.
    Flat,
    /// The elements are an operand's, perhaps converted: this operand's.
    Moves(usize),
    /// The first operand chooses between the two others.
    Chooses,
    /// The elements are those of one operand where the other, a condition, is this.
    Masked {
        /// The operand.
        operand: usize,
        /// Where the condition is this.
        when: bool,
    },
    /// That of a formula, which is computed in this dtype.
    Formula(&'static Formula, DType),
    /// The operands are parts of a complex number.
    Parts,
    /// The operands are magnitude and angle of a complex number.
    Polar,
}

#[cfg(feature = "any")]
impl Slope {
    /// That of a formula, if it has one.
    pub(crate) const fn by(formula: Option<&'static Formula>, computes: DType) -> Self {
        match formula {
            Some(formula) => Slope::Formula(formula, computes),
            None => Slope::Missing,
        }
    }
}

/// A differentiable formula with its loops.
pub struct Formula {
    /// By which operands there is a derivative, as a mask.
    pub(crate) by: u32,
    /// Which operands the derivative by each operand reads, as masks; bit 3 is the result.
    pub(crate) reads: [u32; 3],
    /// The loops of the host over `f32`, `f64` and `Complex<f64>`, if it is defined for these. Without one over `f32`, that over `f64` is used.
    #[cfg(feature = "grad")]
    pub(crate) host: [Option<crate::grad::pull::SlopeLoop<crate::Cpu>>; 3],
    /// Records the gradient by an operand, of real or of complex numbers.
    #[cfg(feature = "grad")]
    record: fn(usize, bool) -> core::result::Result<Recording, Unreadable>,
    /// Number of operands.
    #[cfg(feature = "grad")]
    pub(crate) operands: usize,
    /// The formula of two operands where one operand is a value here, and the place of the other one.
    #[cfg(feature = "grad")]
    pub(crate) beside: Option<(&'static Formula, usize)>,
    /// Sums and products have no loops of their own.
    #[cfg(feature = "grad")]
    pub(crate) simple: Simple,
}

/// Formulas of two operands whose derivatives need no loop of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Simple {
    /// It is another formula.
    No,
    /// `a + b`
    Sum,
    /// `a - b`
    Difference,
    /// `a * b`
    Product,
    /// The derivative is 0 everywhere, as that of rounding.
    Flat,
}

/// A formula of up to three operands and constants that has a derivative.
pub trait Derivable: 'static {
    /// Number of operands.
    const OPERANDS: usize;
    /// By which operands there is a derivative, as a mask.
    const BY: u32 = (1 << Self::OPERANDS) - 1;
    /// Which operands the derivative by each operand reads, as masks; bit 3 is the result.
    const READS: [u32; 3] = [(1 << Self::OPERANDS) - 1; 3];
    /// Whether it needs no loops of its own.
    const SIMPLE: Simple = Simple::No;
    /// Whether a loop over the derivative waits for arithmetic rather than for memory.
    const IS_LONG: bool = false;
    /// The derivative by one operand.
    fn derivative<T: MachineFloat>(by: usize, x: [T; 3], y: T, given: [T; 3]) -> T;
    /// Whether there is a fast path of the derivative of a formula of one operand.
    const HAS_FAST_PATH: bool = false;
    /// Whether an operand takes it.
    #[inline(always)]
    fn takes_fast_path<T: MachineFloat>(_x: T) -> bool {
        true
    }
    /// The derivative by the fast path.
    #[inline(always)]
    fn fast_derivative<T: MachineFloat>(x: T) -> T {
        x
    }
    /// The formula for complex numbers; a real result has no imaginary part.
    fn complex<T: MachineFloat>(x: [Complex<T>; 3], given: [Complex<T>; 3]) -> Complex<T>;
    /// The gradient of complex numbers: `g` times the derivative, in PyTorch's convention (the conjugate of the Wirtinger derivative).
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(
        by: usize,
        x: [Complex<T>; 3],
        _y: Complex<T>,
        given: [Complex<T>; 3],
        g: Complex<T>,
    ) -> Complex<T> {
        let ([re, im], given) = (directions(), given.map(constant));
        let mut at = [x.map(constant); 2];
        (at[0][by], at[1][by]) = (moving(x[by], re), moving(x[by], im));
        Complex::new(along(g, Self::complex(at[0], given)), along(g, Self::complex(at[1], given)))
    }
}

#[inline(always)]
fn constant<T: MachineFloat>(z: Complex<T>) -> Complex<Dual<T>> {
    Complex::new(Dual::constant(z.re), Dual::constant(z.im))
}

/// A complex number that moves in a direction.
#[inline(always)]
pub(crate) fn moving<T: MachineFloat>(z: Complex<T>, [re, im]: [T; 2]) -> Complex<Dual<T>> {
    Complex::new(Dual::new(z.re, re), Dual::new(z.im, im))
}
/// The real part of `conj(g)` times a derivative. (Complex gradients are written without closures, which would be compiled for the baseline
/// alone.)
#[inline(always)]
pub(crate) fn along<T: MachineFloat>(g: Complex<T>, moved: Complex<Dual<T>>) -> T {
    g.re * moved.re.tangent + g.im * moved.im.tangent
}
/// The directions of the real and of the imaginary axis.
#[inline(always)]
pub(crate) fn directions<T: MachineFloat>() -> [[T; 2]; 2] {
    [[T::one(), T::zero()], [T::zero(), T::one()]]
}

/// The tangent of a real formula.
#[inline(always)]
pub(crate) fn tangent<T: MachineFloat>(x: T, formula: impl Fn(Dual<T>) -> Dual<T>) -> T {
    formula(Dual::new(x, T::one())).tangent
}

/// `OfUnary: F: Unary, 1 |by, x, y, given, g| derivative, complex, gradient;` writes a marker and its `Derivable`: the derivative of real
/// numbers, the formula of complex ones, and their gradient where it is stated.
macro_rules! derivables {
    ($($(#[$doc:meta])* $name:ident: $trait:ident, $operands:literal, reads $reads:expr $(, simple $simple:expr)? $(, long $long:expr)? $(, fast $fast:ident)?, |$by:ident, $x:ident, $y:ident, $given:ident, $g:ident| $derivative:expr, $complex:expr $(, $own:expr)?;)*) => {$(
        $(#[$doc])*
        pub struct $name<F>(PhantomData<fn() -> F>);
        impl<F: $trait> Derivable for $name<F> {
            const OPERANDS: usize = $operands;
            const READS: [u32; 3] = $reads;
            $(const SIMPLE: Simple = $simple;)?
            $(const IS_LONG: bool = $long;)?
            $(
                const HAS_FAST_PATH: bool = F::$fast;
                #[inline(always)]
                fn takes_fast_path<T: MachineFloat>(x: T) -> bool {
                    F::takes_fast_path(x)
                }
                #[inline(always)]
                fn fast_derivative<T: MachineFloat>(x: T) -> T {
                    if const { F::IS_ALWAYS_FAST } { F::derivative(x, x) } else { tangent(x, |x| F::fast_path(x)) }
                }
            )?
            #[inline(always)]
            fn derivative<T: MachineFloat>($by: usize, $x: [T; 3], $y: T, $given: [T; 3]) -> T {
                let _ = ($by, $y, &$given);
                $derivative
            }
            #[inline(always)]
            fn complex<T: MachineFloat>($x: [Complex<T>; 3], $given: [Complex<T>; 3]) -> Complex<T> {
                let _ = &$given;
                $complex
            }
            $(
                #[inline(always)]
                fn complex_gradient<T: MachineFloat>(
                    $by: usize, $x: [Complex<T>; 3], $y: Complex<T>, $given: [Complex<T>; 3], $g: Complex<T>,
                ) -> Complex<T> {
                    let _ = ($by, $y, &$given);
                    $own
                }
            )?
        }
    )*};
}
derivables! {
    /// A row of one operand.
    OfUnary: Unary, 1, reads F::DERIVATIVE_READS, simple F::SIMPLE, long F::DERIVATIVE_IS_LONG, fast DERIVATIVE_HAS_FAST_PATH, |by, x, y, given, g| F::derivative(x[0], y), F::complex(x[0]), F::complex_gradient(x[0], y, g);
    /// An operand divided by a formula of it.
    OfDivided: Unary, 1, reads [1; 3], |by, x, y, given, g| tangent(x[0], |x| x / F::real(x)), x[0] / F::complex(x[0]), {
        let y = F::complex(x[0]);
        let quotient = g / y.conj();
        quotient - F::complex_gradient(x[0], y, quotient * (x[0] / y).conj())
    };
    /// An operand less a formula of it.
    OfSubtracted: Unary, 1, reads [1; 3], |by, x, y, given, g| tangent(x[0], |x| x - F::real(x)), x[0] - F::complex(x[0]), g - F::complex_gradient(x[0], F::complex(x[0]), g);
    /// A row with real results.
    OfReal: ToReal, 1, reads [1; 3], |by, x, y, given, g| F::derivative(x[0]), Complex::new(F::complex(x[0]), T::zero()), F::complex_gradient(x[0], y, g);
    /// A row of two operands.
    OfBinary: Binary, 2, reads F::DERIVATIVE_READS, simple F::SIMPLE, |by, x, y, given, g| F::derivative(by, x[0], x[1]), F::complex(x[0], x[1]), F::complex_gradient(by, x[0], x[1], g);
    /// A row with parameters.
    OfTuned: Tuned, 1, reads [1; 3], |by, x, y, given, g| F::derivative(0, x[0], given), F::complex(x[0], given);
    /// A formula with parameters whose first parameter is an operand.
    OfPair: Tuned, 2, reads [3; 3], |by, x, y, given, g| F::derivative(by, x[0], [x[1], given[0], given[1]]), F::complex(x[0], [x[1], given[0], given[1]]);
    /// The same with two operands among the parameters.
    OfThree: Tuned, 3, reads F::DERIVATIVE_READS, |by, x, y, given, g| F::derivative(by, x[0], [x[1], x[2], given[0]]), F::complex(x[0], [x[1], x[2], given[0]]);
}

/// The derivative of a formula with parameters: by its operand (0), or by one of the parameters (from 1 on).
#[inline(always)]
pub(crate) fn tuned_derivative<F: Tuned, T: MachineFloat>(by: usize, x: T, p: [T; 3]) -> T {
    let mut at = [x, p[0], p[1], p[2]].map(Dual::constant);
    at[by].tangent = T::one();
    F::real(at[0], [at[1], at[2], at[3]]).tangent
}

/// The derivative of a formula of several operands by one of them.
#[inline(always)]
pub(crate) fn several_tangent<F: Several, T: MachineFloat>(by: usize, x: [T; 6]) -> T {
    let mut at = x.map(Dual::constant);
    at[by].tangent = T::one();
    F::real(at).tangent
}

/// `g` times the derivative of a complex formula of two operands by one of them.
#[inline(always)]
pub(crate) fn complex_binary_gradient<F: Binary, T: MachineFloat>(
    by: usize,
    [a, b]: [Complex<T>; 2],
    g: Complex<T>,
) -> Complex<T> {
    let [re, im] = directions();
    if by == 0 {
        let b = constant(b);
        Complex::new(along(g, F::complex(moving(a, re), b)), along(g, F::complex(moving(a, im), b)))
    } else {
        let a = constant(a);
        Complex::new(along(g, F::complex(a, moving(b, re))), along(g, F::complex(a, moving(b, im))))
    }
}

/// The derivative of a formula of two operands by one of them.
#[inline(always)]
pub(crate) fn binary_derivative<F: Binary, T: MachineFloat>(by: usize, a: T, b: T) -> T {
    let mut at = [a, b].map(Dual::constant);
    at[by].tangent = T::one();
    F::real(at[0], at[1]).tangent
}

/// The kernel that multiplies a gradient by the derivative of `F` by operand `BY`. Its operands are those of the formula (or the result)
/// and the gradient.
pub(crate) struct Sloping<F, const BY: usize> {
    given: Constants,
    formula: PhantomData<fn() -> F>,
}
impl<F, const BY: usize> Clone for Sloping<F, BY> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F, const BY: usize> Copy for Sloping<F, BY> {}
impl<F, const BY: usize> Sloping<F, BY> {
    pub(crate) fn new(given: Constants) -> Self {
        Sloping { given, formula: PhantomData }
    }
}
/// These kernels are loops of the host; other devices run derivatives as they are recorded (`ops::record::derivative`).
fn untold() -> ! {
    unreachable!("kernels of gradients are not run on GPUs")
}

/// Writes the kernels over real or complex numbers.
macro_rules! slopings {
    ($($ty:ty: $number:ident, $gradient:ident, $vectors:ident $(, $fast:ident)?;)*) => {$(
        impl<F: Derivable, const BY: usize> Map2<$ty, $ty, $ty> for Sloping<F, BY> {
            $(
                const HAS_FAST_PATH: bool = F::$fast;
                #[inline(always)]
                fn takes_fast_path(self, x: $ty, _: $ty) -> bool {
                    F::takes_fast_path(x)
                }
                #[inline(always)]
                fn fast_path(self, x: $ty, g: $ty) -> $ty {
                    g * F::fast_derivative(x)
                }
            )?
            const VECTORS: VectorWidth = if F::IS_LONG { VectorWidth::Wide } else { VectorWidth::$vectors };
            #[inline(always)]
            fn call(self, x: $ty, g: $ty) -> $ty {
                let y_only = F::READS[BY] == 8;
                $gradient::<F, BY, _>(if y_only { [Default::default(); 3] } else { [x, Default::default(), Default::default()] }, x, self.given.map($number), g)
            }
            fn text(&self, _: &mut Kernel, _: Value, _: Value) -> Value {
                untold()
            }
        }
        impl<F: Derivable, const BY: usize> Map3<$ty, $ty, $ty, $ty> for Sloping<F, BY> {
            const VECTORS: VectorWidth = VectorWidth::$vectors;
            #[inline(always)]
            fn call(self, a: $ty, b: $ty, g: $ty) -> $ty {
                $gradient::<F, BY, _>([a, b, Default::default()], Default::default(), self.given.map($number), g)
            }
            fn text(&self, _: &mut Kernel, _: Value, _: Value, _: Value) -> Value {
                untold()
            }
        }
    )*};
}
slopings! {
    f32: narrow, real_gradient, Narrow, HAS_FAST_PATH;
    f64: double, real_gradient, Narrow, HAS_FAST_PATH;
    Complex<f64>: double_complex, complex_gradient, Narrow;
}
#[inline(always)]
fn narrow(z: Complex<f64>) -> f32 {
    z.re as f32
}
#[inline(always)]
fn double(z: Complex<f64>) -> f64 {
    z.re
}
#[inline(always)]
fn double_complex(z: Complex<f64>) -> Complex<f64> {
    z
}
#[inline(always)]
fn real_gradient<F: Derivable, const BY: usize, T: MachineFloat>(x: [T; 3], y: T, given: [T; 3], g: T) -> T {
    g * F::derivative(BY, x, y, given)
}
#[inline(always)]
fn complex_gradient<F: Derivable, const BY: usize, T: MachineFloat>(
    x: [Complex<T>; 3],
    y: Complex<T>,
    given: [Complex<T>; 3],
    g: Complex<T>,
) -> Complex<T> {
    F::complex_gradient(BY, x, y, given, g)
}

/// The derivative by operand `BY` of a formula of three operands, without a gradient; of complex numbers by one of their parts.
pub(crate) struct Deriving<F, const BY: usize> {
    given: Constants,
    by_imaginary: bool,
    formula: PhantomData<fn() -> F>,
}
impl<F, const BY: usize> Clone for Deriving<F, BY> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F, const BY: usize> Copy for Deriving<F, BY> {}
impl<F, const BY: usize> Deriving<F, BY> {
    pub(crate) fn new(given: Constants) -> Self {
        Deriving { given, by_imaginary: false, formula: PhantomData }
    }
    /// By the imaginary part.
    pub(crate) fn by_imaginary(given: Constants) -> Self {
        Deriving { by_imaginary: true, ..Self::new(given) }
    }
}
macro_rules! derivings {
    ($($ty:ty: $number:ident;)*) => {$(
        impl<F: Derivable, const BY: usize> Map3<$ty, $ty, $ty, $ty> for Deriving<F, BY> {
            const VECTORS: VectorWidth = VectorWidth::Narrow;
            #[inline(always)]
            fn call(self, a: $ty, b: $ty, c: $ty) -> $ty {
                F::derivative(BY, [a, b, c], Default::default(), self.given.map($number))
            }
            fn text(&self, _: &mut Kernel, _: Value, _: Value, _: Value) -> Value {
                untold()
            }
        }
    )*};
}
derivings! { f32: narrow; f64: double; }
macro_rules! complex_derivings {
    ($($ty:ty: $number:ident;)*) => {$(
        impl<F: Derivable, const BY: usize> Map3<Complex<$ty>, Complex<$ty>, Complex<$ty>, Complex<$ty>> for Deriving<F, BY> {
            const VECTORS: VectorWidth = VectorWidth::Narrow;
            #[inline(always)]
            fn call(self, a: Complex<$ty>, b: Complex<$ty>, c: Complex<$ty>) -> Complex<$ty> {
                let mut at = [a, b, c].map(constant);
                let moving = if self.by_imaginary { &mut at[BY].im } else { &mut at[BY].re };
                moving.tangent = 1.0;
                let moved = F::complex(at, self.given.map(|given| constant($number(given))));
                Complex::new(moved.re.tangent, moved.im.tangent)
            }
            fn text(&self, _: &mut Kernel, _: Value, _: Value, _: Value) -> Value {
                untold()
            }
        }
    )*};
}
complex_derivings! { f64: double_complex; }

/// A row of two operands without a derivative.
pub struct Underived;
impl Derivable for Underived {
    const OPERANDS: usize = 2;
    const BY: u32 = 0;
    fn derivative<T: MachineFloat>(_: usize, _: [T; 3], y: T, _: [T; 3]) -> T {
        y
    }
    fn complex<T: MachineFloat>(x: [Complex<T>; 3], _: [Complex<T>; 3]) -> Complex<T> {
        x[0]
    }
}

/// The derivative of the formula `F`, computed in the dtype `E`. Its loop is compiled in the program that uses it, as the formula's own is.
pub(crate) struct Derived<F, E>(PhantomData<fn() -> (F, E)>);
impl<F: Derivable, E: Element> Derived<F, E> {
    const FORMULA: Formula = Formula::of::<F>(Some(E::DTYPE), true);
    const WITH_RIGHT: Formula = Formula::with_value(&Self::FORMULA, 0);
    const WITH_LEFT: Formula = Formula::with_value(&Self::FORMULA, 1);
    /// That of a kernel that applies it.
    pub(crate) const SLOPE: Slope = Slope::Formula(&Self::FORMULA, E::DTYPE);
    /// That of a kernel whose right operand is a value.
    pub(crate) const BESIDE_RIGHT: Slope = Slope::Formula(&Self::WITH_RIGHT, E::DTYPE);
    /// That of a kernel whose left operand is a value.
    pub(crate) const BESIDE_LEFT: Slope = Slope::Formula(&Self::WITH_LEFT, E::DTYPE);
}

/// The same for all dtypes, for rows that are found at run time.
#[cfg(feature = "any")]
pub(crate) struct DerivedOfAll<F, const COMPLEX: bool>(PhantomData<fn() -> F>);
#[cfg(feature = "any")]
impl<F: Derivable, const COMPLEX: bool> DerivedOfAll<F, COMPLEX> {
    const FORMULA: Formula = Formula::of::<F>(None, COMPLEX);
    const WITH_RIGHT: Formula = Formula::with_value(&Self::FORMULA, 0);
    const WITH_LEFT: Formula = Formula::with_value(&Self::FORMULA, 1);
    /// That of one operand.
    pub(crate) const ONE: Option<&'static Formula> = Some(&Self::FORMULA);
    /// Those of two operands, of the left one beside a value and of the right one.
    pub(crate) const THREE: Option<[&'static Formula; 3]> = Some([&Self::FORMULA, &Self::WITH_RIGHT, &Self::WITH_LEFT]);
}

impl Formula {
    /// A formula with its loop for a dtype, or with those for all.
    const fn of<F: Derivable>(dtype: Option<DType>, complex: bool) -> Self {
        #[cfg(feature = "grad")]
        let host = {
            use crate::grad::pull::{SlopeLoop, slope_loop};
            type Loop = Option<SlopeLoop<crate::Cpu>>;
            let has_loops = F::BY != 0 && matches!(F::SIMPLE, Simple::No);
            let [single, double, complex] = match dtype {
                None => [true, true, complex],
                Some(DType::F16 | DType::BF16 | DType::F32) => [true, false, false],
                Some(DType::F64) => [false, true, false],
                Some(DType::C32 | DType::C64 | DType::C128) => [false, false, complex],
                Some(_) => [false; 3],
            };
            let single: Loop = if has_loops && single { Some(slope_loop::<F, f32, crate::Cpu>) } else { None };
            let double: Loop = if has_loops && double { Some(slope_loop::<F, f64, crate::Cpu>) } else { None };
            let complex: Loop =
                if has_loops && complex { Some(slope_loop::<F, Complex<f64>, crate::Cpu>) } else { None };
            [single, double, complex]
        };
        #[cfg(not(feature = "grad"))]
        let _ = (dtype, complex);
        Formula {
            by: F::BY,
            reads: F::READS,
            #[cfg(feature = "grad")]
            host,
            #[cfg(feature = "grad")]
            record: crate::ops::record::derivative::first::<F>,
            #[cfg(feature = "grad")]
            operands: F::OPERANDS,
            #[cfg(feature = "grad")]
            beside: None,
            #[cfg(feature = "grad")]
            simple: F::SIMPLE,
        }
    }

    /// The formula of two operands where one is a value and the other, at this place, is not.
    const fn with_value(both: &'static Formula, place: usize) -> Self {
        Formula {
            by: both.by >> place & 1,
            // It reads its operand if the derivative reads that.
            reads: [both.reads[place] >> place & 1, 0, 0],
            #[cfg(feature = "grad")]
            host: [None; 3],
            #[cfg(feature = "grad")]
            record: both.record,
            #[cfg(feature = "grad")]
            operands: both.operands,
            #[cfg(feature = "grad")]
            beside: Some((both, place)),
            #[cfg(feature = "grad")]
            simple: both.simple,
        }
    }
}

#[cfg(feature = "grad")]
impl Formula {
    /// Its gradient by an operand, as it is recorded: a function of its operands, of its result and of the gradient of that.
    pub(crate) fn derivative(&'static self, by: usize, is_complex: bool) -> crate::Result<Arc<Derivative>> {
        recorded_once((self.record as usize, self.operands, by, is_complex), || (self.record)(by, is_complex))
    }
}
/// The same of a formula of several real operands.
#[cfg(feature = "grad")]
pub(crate) fn several_derivative<F: Several>(operands: usize, by: usize) -> crate::Result<Arc<Derivative>> {
    let record = crate::ops::record::derivative::first_of_several::<F>;
    recorded_once((record as fn(usize, usize) -> _ as usize, operands, by, false), || record(operands, by))
}
/// A derivative by the function that records it, the number of operands, the one of them, and whether it is complex.
#[cfg(feature = "grad")]
fn recorded_once(
    key: (usize, usize, usize, bool),
    record: impl FnOnce() -> core::result::Result<Recording, Unreadable>,
) -> crate::Result<Arc<Derivative>> {
    type Known = HashMap<(usize, usize, usize, bool), Arc<Derivative>>;
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    // (Functions that are the same code have the same derivative.)
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(derivative) = known().as_ref().and_then(|known| known.get(&key)) {
        return Ok(derivative.clone());
    }
    let derivative = Derivative::new(record(), key.1 + 2, key.3)?;
    Ok(known().get_or_insert_default().entry(key).or_insert(derivative).clone())
}

/// The derivative of a reduction, by its name.
#[derive(Clone, Copy, Debug)]
pub enum ReduceSlope {
    /// There is none: refused.
    Missing,
    /// Zero.
    Flat,
    /// The sum.
    Sum,
    /// The mean.
    Mean,
    /// The sum of what is no NaN.
    NanSum,
    /// The mean of what is no NaN.
    NanMean,
    /// The product.
    Prod,
    /// The logarithm of the sum of exponentials.
    LogSumExp,
    /// The largest or smallest, shared evenly by equals.
    Extreme,
    /// The largest or smallest and its position, to which the gradient goes.
    ArgExtreme,
    /// The smallest and the largest, shared evenly by equals.
    MinMax,
    /// The variance, or the standard deviation; the second result is the mean. The numbers are the correction, and 1 for the deviation.
    Variance,
    /// The norm of an order, which is the first number.
    Norm,
}

/// The derivative of a function of lanes.
#[derive(Clone, Copy, Debug)]
pub enum LaneSlope {
    /// There is none: refused.
    Missing,
    /// Softmax.
    Softmax,
    /// Log-softmax.
    LogSoftmax,
    /// Running sums.
    Sum,
    /// Running products.
    Product,
    /// Running logarithms of sums of exponentials.
    LogSumExp,
    /// Running extremes and their positions.
    Extreme,
}

/// The derivative of a function of rows, with the number that is added to the variance or the mean of squares.
#[derive(Clone, Copy, Debug)]
pub enum RowSlope {
    /// There is none: refused.
    Missing,
    /// Layer normalisation.
    Standardizing(f64),
    /// Root mean square normalisation.
    RootMeanSquare(f64),
}

/// What a kernel does that writes several elements at one place.
#[derive(Clone, Copy)]
pub enum Merging {
    /// Something that has no derivative here: refused.
    Missing,
    /// `a + b`
    Add,
    /// `a + alpha * b`, `alpha` being the kernel's value.
    AddScaled,
    /// `a * b`
    Multiply,
    /// The larger or the smaller.
    Extreme,
}
