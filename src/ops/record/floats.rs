//! The methods that formulas call on floats, recorded.

use super::graph::{Family, Id, Machine};
use super::number::{OfDuals, PartOfDuals, Recorded, duals, ids_of, recorded, row_name};
use super::paths::{ask, decide, part, row};
use crate::dtype::math::{Elementary, ElementaryOfTwo};
use crate::dtype::numbers::{MachineElement, MachineInexact, MachineReal, by_category};
use crate::dtype::special::{Function, FunctionOfTwo, Reading};
use crate::dtype::{Analytic, Complex, DType, MachineFloat, Truth};
use core::num::FpCategory;
use core::ops::Neg;
use num_traits::{Float, FloatConst, One};

/// The step that chooses between two numbers by a bool.
pub(super) const SELECT: &str = "select";

/// One of two numbers, by a bool that does not branch.
pub(super) fn selected<R: Machine>(truth: Recorded<bool>, yes: Recorded<R>, no: Recorded<R>) -> Recorded<R> {
    match truth.known() {
        Some(true) => yes,
        Some(false) => no,
        None if yes.id == no.id => yes,
        None => Recorded::step(Family::Basic, SELECT, [truth.id, yes.id, no.id], |v| v[if v[0] != 0 { 1 } else { 2 }]),
    }
}

impl Truth for Recorded<bool> {
    fn and(self, other: Self) -> Self {
        recorded!(Operator "&", bool: self, other => |a, b| a & b)
    }
    fn or(self, other: Self) -> Self {
        recorded!(Operator "|", bool: self, other => |a, b| a | b)
    }
    fn not(self) -> Self {
        recorded!(Operator "!", bool: self => |a| !a)
    }
}

macro_rules! constants {
    ($ty:ident: $($name:ident)*) => {$(
        fn $name() -> Self {
            Self::constant(core::$ty::consts::$name)
        }
    )*};
}
/// `floor => Basic "floor"`: the method is recorded as this step, computed by the machine's method.
macro_rules! methods {
    ($ty:ident: $($method:ident => $family:ident $name:literal;)*) => {$(
        fn $method(self) -> Self {
            recorded!($family $name, $ty: self => |x| <$ty as Float>::$method(x); |v| Float::$method(v[0]))
        }
    )*};
}
macro_rules! methods_of_two {
    ($ty:ident: $($method:ident => $family:ident $name:literal;)*) => {$(
        fn $method(self, other: Self) -> Self {
            recorded!($family $name, $ty: self, other => |x, y| <$ty as Float>::$method(x, y); |v| Float::$method(v[0], v[1]))
        }
    )*};
}
macro_rules! questions {
    ($ty:ident: $($method:ident => $name:literal;)*) => {$(
        fn $method(self) -> bool {
            decide(recorded!(Basic $name, $ty: self => |x| <$ty as Float>::$method(x), -> bool).id)
        }
    )*};
}
macro_rules! values {
    ($ty:ident: $($method:ident => $value:expr;)*) => {$(
        fn $method() -> Self {
            Self::constant($value)
        }
    )*};
}

macro_rules! floats {
    ($($ty:ident)*) => {$(
        impl Neg for Recorded<$ty> {
            type Output = Self;
            fn neg(self) -> Self {
                recorded!(Operator "-", $ty: self => |x| -x; |v| -v[0])
            }
        }
        impl Float for Recorded<$ty> {
            values! { $ty:
                nan => $ty::NAN;
                infinity => $ty::INFINITY;
                neg_infinity => $ty::NEG_INFINITY;
                neg_zero => -0.0;
                min_value => $ty::MIN;
                min_positive_value => $ty::MIN_POSITIVE;
                epsilon => $ty::EPSILON;
                max_value => $ty::MAX;
            }
            questions! { $ty:
                is_nan => "is_nan";
                is_infinite => "is_infinite";
                is_finite => "is_finite";
                is_sign_negative => "is_sign_negative";
            }
            fn is_sign_positive(self) -> bool {
                !self.is_sign_negative()
            }
            fn is_normal(self) -> bool {
                self.classify() == FpCategory::Normal
            }
            fn classify(self) -> FpCategory {
                self.value("classify").map_or(FpCategory::Nan, $ty::classify)
            }
            fn integer_decode(self) -> (u64, i16, i8) {
                self.value("integer_decode").map_or((0, 0, 0), Float::integer_decode)
            }
            methods! { $ty:
                floor => Basic "floor";
                ceil => Basic "ceil";
                round => Basic "round";
                trunc => Basic "trunc";
                abs => Basic "abs";
                sqrt => Basic "sqrt";
                exp => Platform "exp";
                exp2 => Platform "exp2";
                exp_m1 => Platform "expm1";
                ln => Platform "log";
                log2 => Platform "log2";
                log10 => Platform "log10";
                ln_1p => Platform "log1p";
                cbrt => Platform "cbrt";
                sin => Platform "sin";
                cos => Platform "cos";
                tan => Platform "tan";
                asin => Platform "asin";
                acos => Platform "acos";
                atan => Platform "atan";
                sinh => Platform "sinh";
                cosh => Platform "cosh";
                tanh => Platform "tanh";
                asinh => Platform "asinh";
                acosh => Platform "acosh";
                atanh => Platform "atanh";
            }
            methods_of_two! { $ty:
                max => Basic "max";
                min => Basic "min";
                copysign => Basic "copysign";
                powf => Platform "pow";
                hypot => Platform "hypot";
                atan2 => Platform "atan2";
            }
            fn fract(self) -> Self {
                self - self.trunc()
            }
            fn signum(self) -> Self {
                if self.is_nan() { Self::nan() } else { Self::one().copysign(self) }
            }
            fn mul_add(self, a: Self, b: Self) -> Self {
                Recorded::differentiable(
                    Family::Basic,
                    "fma",
                    [self.id, a.id, b.id],
                    |v| {
                        let [x, a, b] = [0, 1, 2].map(|at| <$ty>::of_bits(v[at]));
                        x.mul_add(a, b).bits()
                    },
                    duals!($ty |v| v[0].mul_add(v[1], v[2])),
                )
            }
            fn recip(self) -> Self {
                Self::one() / self
            }
            fn log(self, base: Self) -> Self {
                self.ln() / base.ln()
            }
            fn sin_cos(self) -> (Self, Self) {
                (self.sin(), self.cos())
            }
            fn powi(self, _: i32) -> Self {
                ask("powi");
                self
            }
            fn abs_sub(self, _: Self) -> Self {
                ask("abs_sub");
                self
            }
        }
        impl FloatConst for Recorded<$ty> {
            constants! { $ty: E FRAC_1_PI FRAC_1_SQRT_2 FRAC_2_PI FRAC_2_SQRT_PI FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6 FRAC_PI_8
                LN_10 LN_2 LOG10_E LOG2_E PI SQRT_2 }
        }
        impl MachineElement for Recorded<$ty> {
            type Truth = Recorded<bool>;
            by_category! { real called }
            fn unit() -> Self {
                Self::constant(1.0)
            }
            fn same(self, other: Self) -> Recorded<bool> {
                recorded!(Operator "==", $ty: self, other => |a, b| a == b, -> bool)
            }
            fn select(truth: Recorded<bool>, yes: Self, no: Self) -> Self {
                selected(truth, yes, no)
            }
        }
        impl MachineReal for Recorded<$ty> {
            fn less(self, other: Self) -> Recorded<bool> {
                recorded!(Operator "<", $ty: self, other => |a, b| a < b, -> bool)
            }
        }
        impl MachineInexact for Recorded<$ty> {
            fn lit(value: f64) -> Self {
                Self::constant(value as $ty)
            }
        }
        impl MachineFloat for Recorded<$ty> {
            fn row_of_complex<F>(
                which: &'static str,
                z: [Complex<Self>; 4],
                run: impl Fn([Complex<Self>; 4]) -> Complex<Self>,
            ) -> Complex<Self> {
                let parts: Vec<Id> = z.iter().flat_map(|z| [z.re.id, z.im.id]).collect();
                let name = row_name::<F>(which, concat!("complex_", stringify!($ty)));
                let results = row(&name, <$ty>::KIND, &parts, 2, &|ids: &[Id]| {
                    let mut inside = z;
                    for (z, ids) in inside.iter_mut().zip(ids.chunks(2)) {
                        *z = Complex::new(Self::at(ids[0]), Self::at(ids[1]));
                    }
                    let Complex { re, im } = run(inside);
                    vec![re.id, im.id]
                });
                Complex::new(Self::at(results[0]), Self::at(results[1]))
            }
            fn elementary<F: Elementary>(x: Self) -> Self {
                recorded!(Elementary F::NAME, $ty: x => |x| F::of(x); |v| MachineFloat::elementary::<F>(v[0]))
            }
            fn elementary_of_two<F: ElementaryOfTwo>(a: Self, b: Self) -> Self {
                recorded!(Elementary F::NAME, $ty: a, b => |a, b| F::of(a, b); |v| MachineFloat::elementary_of_two::<F>(v[0], v[1]))
            }
            fn special<F: Function>(x: Self) -> Self {
                floats!(@special $ty x)
            }
            fn special_of_two<F: FunctionOfTwo>(a: Self, b: Self) -> Self {
                recorded!(Special F::NAME, $ty: a, b => |a, b| <$ty as MachineFloat>::special_of_two::<F>(a, b);
                    |v| MachineFloat::special_of_two::<F>(v[0], v[1]))
            }
            fn round_ties_even(self) -> Self {
                recorded!(Basic "round_ties_even", $ty: self => |x| x.round_ties_even(); |v| v[0].round_ties_even())
            }
            fn next_towards(self, other: Self) -> Self {
                recorded!(Basic "next_towards", $ty: self, other => MachineFloat::next_towards)
            }
            fn scaled_by(self, exponent: Self) -> Self {
                recorded!(Basic "scaled_by", $ty: self, exponent => MachineFloat::scaled_by; |v| v[0].scaled_by(v[1]))
            }
            fn binade(self) -> Self {
                recorded!(Basic "binade", $ty: self => MachineFloat::binade; |v| v[0].binade())
            }
            fn rounded_to(self, dtype: DType) -> Self {
                match dtype {
                    DType::F16 => recorded!(Basic "rounded_to_f16", $ty: self => |x| x.rounded_to(DType::F16)),
                    DType::BF16 => recorded!(Basic "rounded_to_bf16", $ty: self => |x| x.rounded_to(DType::BF16)),
                    _ => self,
                }
            }
            fn sum_of_lgammas(self, first: Self, dtype: DType) -> Self {
                match dtype {
                    DType::F16 => recorded!(Special "sum_of_lgammas_f16", $ty: self, first => |x, k| x.sum_of_lgammas(k, DType::F16)),
                    DType::BF16 => recorded!(Special "sum_of_lgammas_bf16", $ty: self, first => |x, k| x.sum_of_lgammas(k, DType::BF16)),
                    _ => recorded!(Special "sum_of_lgammas", $ty: self, first => |x, k| x.sum_of_lgammas(k, DType::F64)),
                }
            }
            fn sum_of_digammas(self, first: Self) -> Self {
                recorded!(Special "sum_of_digammas", $ty: self, first => |x, k| x.sum_of_digammas(k))
            }
            fn is_known_zero(self) -> bool {
                self.known() == Some(0.0)
            }
            fn analytic<F: Analytic>(z: Complex<Self>) -> Complex<Self> {
                let dual = duals!(part $ty |v| {
                    let Complex { re, im } = MachineFloat::analytic::<F>(Complex::new(v[0], v[1]));
                    vec![re, im]
                });
                let [re, im] = Self::part(F::NAME, [z.re, z.im], dual, |[re, im]| {
                    let Complex { re, im } = F::value(Complex { re, im });
                    [re, im]
                });
                Complex { re, im }
            }
            fn outline<const N: usize, const M: usize, F: Fn([Self; N]) -> [Self; M]>(
                name: &'static str,
                arguments: [Self; N],
                run: F,
            ) -> [Self; M] {
                const { assert!(size_of::<F>() == 0 && (M == 1 || M == 2)) }
                Self::part(name, arguments, None, run)
            }
        }
        impl Recorded<$ty> {
            /// A function of its own, and what it is on dual numbers if its derivative is stated.
            fn part<const N: usize, const M: usize>(
                name: &'static str,
                arguments: [Self; N],
                dual: Option<PartOfDuals>,
                run: impl Fn([Self; N]) -> [Self; M],
            ) -> [Self; M] {
                let name = format!("{name}_{}", stringify!($ty));
                // (Loops, not `map` and `from_fn`, whose closures would be compiled for each formula.)
                let results = part(&name, <$ty>::KIND, &ids_of(&arguments), M, dual, &|ids: &[Id]| {
                    let mut inside = arguments;
                    for (argument, &id) in inside.iter_mut().zip(ids) {
                        argument.id = id;
                    }
                    ids_of(&run(inside))
                });
                let mut read = [Self::at(results[0]); M];
                for (result, id) in read.iter_mut().zip(results) {
                    result.id = id;
                }
                read
            }
        }
    )*};
    // Most of them are formulas themselves, and become functions of their own.
    (@special f64 $x:ident) => {
        match F::READING {
            Reading::Call => recorded!(Special F::NAME, f64: $x => |x| F::double(x); |v| MachineFloat::special::<F>(v[0])),
            Reading::Formula | Reading::WideFormula => {
                let dual = duals!(part f64 |v| vec![MachineFloat::special::<F>(v[0])]);
                let [value] = Self::part(F::NAME, [$x], dual, |[x]| [F::formula(x)]);
                value
            }
        }
    };
    (@special f32 $x:ident) => {
        match F::READING {
            Reading::Call => recorded!(Special F::NAME, f32: $x => |x| F::single(x)),
            Reading::Formula => {
                let [value] = Self::outline(F::NAME, [$x], |[x]| [F::formula(x)]);
                value
            }
            Reading::WideFormula => {
                let wide = recorded!(Basic "to_f64", f32: $x => f64::from, -> f64);
                let value = Recorded::<f64>::special::<F>(wide);
                recorded!(Basic "to_f32", f64: value => |x| x as f32, -> f32)
            }
        }
    };
}
floats! { f32 f64 }
