//! Machine numbers by the sets of dtypes: what the formulas of programs ask of bools, integers, floats and complex numbers, and of the
//! numbers that stand in for these where a formula is recorded or differentiated.

use super::{Binary, MachineFloat, ToReal, Truth, Unary};
use crate::ops::formula::{Formula, MOST, Number, Results};
use crate::ops::lanes::{LANES, Lanes};
use core::fmt::Debug;
use num_complex::Complex;

/// A machine number of any kind: the dtypes that compute.
pub trait MachineElement: Copy + Default + Debug + Send + Sync + 'static {
    /// The outcome of a comparison, as a value that does not branch: `bool`, or a recorded one.
    type Truth: Truth;
    /// One, or true.
    fn unit() -> Self;
    /// `self == other`
    fn same(self, other: Self) -> Self::Truth;
    /// `yes` where this is true, else `no`. Both are computed.
    fn select(truth: Self::Truth, yes: Self, no: Self) -> Self;
    /// A formula of this number; of several side by side, each for itself.
    fn by_unary<F: Unary>(self) -> Self;
    /// A formula of this number and another.
    fn by_binary<F: Binary>(self, other: Self) -> Self;
    /// A formula of a program that another one calls. It is of these numbers.
    fn called<F: Formula>(x: [Number<Self>; MOST]) -> <F::Results as Results>::Of<Number<Self>>;
    /// The same of floating-point numbers side by side; `N` is the number of its results.
    #[inline(always)]
    fn called_side_by_side<F: Formula, const N: usize>(_x: [[Self; LANES]; MOST]) -> [[Self; LANES]; N] {
        super::refused()
    }
    /// Whether it is not zero.
    #[inline(always)]
    fn is_true(self) -> Self::Truth {
        self.same(Self::default()).not()
    }
    /// One where this is true, else zero.
    #[inline(always)]
    fn of_truth(truth: Self::Truth) -> Self {
        Self::select(truth, Self::unit(), Self::default())
    }
}

/// Writes how numbers of a category take formulas: `by_category! { integer of_integers }`.
macro_rules! by_category {
    ($formula:ident $of:ident) => {
        #[inline(always)]
        fn by_unary<F: $crate::dtype::Unary>(self) -> Self {
            F::$formula(self)
        }
        #[inline(always)]
        fn by_binary<F: $crate::dtype::Binary>(self, other: Self) -> Self {
            F::$formula(self, other)
        }
        $crate::dtype::numbers::by_category! { @called $of }
    };
    (@called $of:ident) => {
        #[inline(always)]
        fn called<F: $crate::ops::formula::Formula>(
            x: [$crate::ops::formula::Number<Self>; $crate::ops::formula::MOST],
        ) -> <F::Results as $crate::ops::formula::Results>::Of<$crate::ops::formula::Number<Self>> {
            F::$of(x)
        }
    };
}
pub(crate) use by_category;

/// Bools and integers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stands for numbers without bits",
    label = "needs bools or integers",
    note = "the formula of integers is written `fn name<I: Integer>(…)`, that of bools and integers `fn name<B: Bits>(…)`"
)]
pub trait MachineBits: MachineElement {}

/// Integers, floats and complex numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stands for bools, too, which are no numbers",
    label = "needs numbers",
    note = "the formula of integers is written `fn name<I: Integer>(…)`; `Real` are integers and floats, `Numeric` all numbers"
)]
pub trait MachineNumber: MachineElement {
    /// A constant. Integers wrap.
    fn whole(value: i64) -> Self;
    /// A formula whose result is real.
    fn by_real<F: ToReal>(self) -> Self;
}

/// Integers and floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stands for numbers without an order",
    label = "needs integers or floating-point numbers",
    note = "complex numbers are compared by their parts, `z.real()` and `z.imag()`, or by `z.abs().real()`, in a formula `fn name<C: ComplexFloat>(…)`"
)]
pub trait MachineReal: MachineNumber {
    /// `self < other`
    fn less(self, other: Self) -> Self::Truth;
}

/// Floats and complex numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stands for integers, too, which this is not defined for",
    label = "needs floating-point or complex numbers",
    note = "write the formula of these, `fn name<F: Float>(…)`, and convert before it is applied: `x.to::<f32>()`"
)]
pub trait MachineInexact: MachineNumber {
    /// A constant.
    fn lit(value: f64) -> Self;
}

/// Complex numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` stands for numbers that are not complex",
    label = "needs complex numbers",
    note = "their formula is written `fn name<C: ComplexFloat>(…)`"
)]
pub trait MachineComplex: MachineInexact {
    /// A constant.
    fn parts(re: f64, im: f64) -> Self;
    /// The real part.
    fn real_part(self) -> Self;
    /// The imaginary part.
    fn imaginary_part(self) -> Self;
    /// Compared by the real part.
    fn real_less(self, other: Self) -> Self::Truth;
}

impl MachineElement for bool {
    type Truth = bool;
    fn unit() -> bool {
        true
    }
    #[inline(always)]
    fn same(self, other: bool) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(truth: bool, yes: bool, no: bool) -> bool {
        if truth { yes } else { no }
    }
    by_category! { boolean of_bools }
}
impl MachineBits for bool {}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl MachineElement for $ty {
            type Truth = bool;
            #[inline(always)]
            fn unit() -> $ty {
                1
            }
            #[inline(always)]
            fn same(self, other: $ty) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(truth: bool, yes: $ty, no: $ty) -> $ty {
                if truth { yes } else { no }
            }
            by_category! { integer of_integers }
        }
        impl MachineBits for $ty {}
        impl MachineNumber for $ty {
            #[inline(always)]
            fn whole(value: i64) -> $ty {
                value as $ty
            }
            #[inline(always)]
            fn by_real<F: ToReal>(self) -> $ty {
                F::integer(self)
            }
        }
        impl MachineReal for $ty {
            #[inline(always)]
            fn less(self, other: $ty) -> bool {
                self < other
            }
        }
    )*};
}
integers! { u8 i8 i16 i32 i64 }

macro_rules! floats {
    ($($ty:ty)*) => {$(
        impl MachineElement for $ty {
            type Truth = bool;
            #[inline(always)]
            fn unit() -> $ty {
                1.0
            }
            #[inline(always)]
            fn same(self, other: $ty) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(truth: bool, yes: $ty, no: $ty) -> $ty {
                if truth { yes } else { no }
            }
            by_category! { real called }
            #[inline(always)]
            fn called_side_by_side<F: Formula, const N: usize>(x: [[Self; LANES]; MOST]) -> [[Self; LANES]; N] {
                let mut all = [Number(Lanes::default()); MOST];
                for at in 0..MOST {
                    all[at] = Number(Lanes(x[at]));
                }
                let (all, mut out) = (F::Results::array::<_, N>(F::of(all)), [[0.0; LANES]; N]);
                for at in 0..N {
                    out[at] = all[at].0.0;
                }
                out
            }
        }
        impl MachineReal for $ty {
            #[inline(always)]
            fn less(self, other: $ty) -> bool {
                self < other
            }
        }
        impl MachineInexact for $ty {
            #[inline(always)]
            fn lit(value: f64) -> $ty {
                value as $ty
            }
        }
    )*};
}
floats! { f32 f64 }

/// Whole numbers and real results, of all that stands for floats.
impl<T: MachineFloat> MachineNumber for T {
    #[inline(always)]
    fn whole(value: i64) -> T {
        T::lit(value as f64)
    }
    #[inline(always)]
    fn by_real<F: ToReal>(self) -> T {
        F::real(self)
    }
}

#[inline(always)]
fn beside_zeros<T: MachineFloat, const N: usize>(z: [Complex<T>; N]) -> [Complex<T>; 4] {
    let mut all = [Complex::default(); 4];
    all[..N].copy_from_slice(&z);
    all
}
impl<T: MachineFloat> MachineElement for Complex<T> {
    type Truth = T::Truth;
    #[inline(always)]
    fn unit() -> Self {
        Complex::new(T::one(), T::zero())
    }
    #[inline(always)]
    fn same(self, other: Self) -> T::Truth {
        self.re.same(other.re).and(self.im.same(other.im))
    }
    #[inline(always)]
    fn select(truth: T::Truth, yes: Self, no: Self) -> Self {
        Complex::new(T::select(truth, yes.re, no.re), T::select(truth, yes.im, no.im))
    }
    #[inline(always)]
    fn by_unary<F: Unary>(self) -> Self {
        T::row_of_complex::<F>("", beside_zeros([self]), |[z, ..]| F::complex(z))
    }
    #[inline(always)]
    fn by_binary<F: Binary>(self, other: Self) -> Self {
        T::row_of_complex::<F>("", beside_zeros([self, other]), |[a, b, ..]| F::complex(a, b))
    }
    by_category! { @called of_complex }
}
impl<T: MachineFloat> MachineNumber for Complex<T> {
    #[inline(always)]
    fn whole(value: i64) -> Self {
        Complex::new(T::whole(value), T::zero())
    }
    #[inline(always)]
    fn by_real<F: ToReal>(self) -> Self {
        T::row_of_complex::<F>("", beside_zeros([self]), |[z, ..]| Complex::new(F::complex(z), T::zero()))
    }
}
impl<T: MachineFloat> MachineInexact for Complex<T> {
    #[inline(always)]
    fn lit(value: f64) -> Self {
        Complex::new(T::lit(value), T::zero())
    }
}
impl<T: MachineFloat> MachineComplex for Complex<T> {
    #[inline(always)]
    fn parts(re: f64, im: f64) -> Self {
        Complex::new(T::lit(re), T::lit(im))
    }
    #[inline(always)]
    fn real_part(self) -> Self {
        Complex::new(self.re, T::zero())
    }
    #[inline(always)]
    fn imaginary_part(self) -> Self {
        Complex::new(self.im, T::zero())
    }
    #[inline(always)]
    fn real_less(self, other: Self) -> T::Truth {
        self.re.less(other.re)
    }
}
