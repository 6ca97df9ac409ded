//! Compares elementwise kernels with the host's: every kernel type, over its dtypes, in every form.
//!
//! `cargo test --lib ops::record -- --ignored` runs all dtypes; without it, only a few run.

use super::kernel::{Kernel, Operand};
use super::plan::{Form, Layout};
use super::suite::{Lie, Suite};
use super::{cuda, describe};
use crate::dtype::scalar::{Dimensioned, ZeroDim};
use crate::dtype::{
    Castable, Complex, Dtype, Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, bf16, f16,
};
use crate::ops::choosing::{AddingScaled, Equal, Filling, Folding, IsTrue};
use crate::ops::close::{Closeness, ClosenessTo};
use crate::ops::kernel::*;
use crate::ops::pointwise::{Differing, Exponent, FromParts, FromPolar, Lerping, LerpingBy, Mantissa};
use crate::ops::{self, BinaryOp, TunedOp, UnaryOp};

/// `each!(name: f32, f64; body with T)` for each of the dtypes.
macro_rules! each {
    ($suite:ident: $($ty:ty),* => $function:ident) => { $($function::<$ty>(&mut $suite);)* };
}

/// Kernels that admit every dtype.
fn of_any<E: Dtype>(suite: &mut Suite) {
    let two: E = Castable::from_f64(2.0);
    let (wide, third): (E::Compute, E::Compute) = (Castable::from_f64(3.0), Castable::from_f64(0.3));
    suite.one::<_, E, E>("copy", Copying).only(&[Lie::Dense, Lie::Strided]);
    suite.one::<_, E, E>("fill", FillWith(two));
    suite.one::<_, E, bool>("is_true", IsTrue);
    suite.one::<_, bool, E>("choose_both", ChoosingBoth(two, E::default()));
    suite.two::<_, E, E, bool>("equal", Equal);
    suite.two::<_, E, bool, E>("filling", Filling(two));
    suite.two::<_, bool, E, E>("choose_right", ChoosingRight(two));
    suite.two::<_, bool, E, E>("choose_left", ChoosingLeft(two));
    suite.two::<_, bool, i32, E>("choose_left_i32", ChoosingLeft(two));
    suite.three::<_, bool, E, E, E>("choose", Choosing);
    suite.three::<_, bool, E, f32, Complex<f64>>("choose_mixed", Choosing);
    suite.one::<_, E, E::Inexact>("exp", Applying::<ops::exp>::new());
    suite.one::<_, E, f64>("isnan_f64", Applying::<ops::isnan>::new());
    suite.two::<_, E, E, E>("add", Combining::<ops::add, E>::new());
    suite.two::<_, E, f32, Complex<f64>>("add_f32", Combining::<ops::add, E::With<f32>>::new());
    suite.two::<_, u8, E, Complex<f32>>("div_u8", Combining::<ops::div, E::With<u8>>::new());
    suite.two::<_, E, E, bool>("eq", Combining::<ops::eq, E>::new());
    suite
        .two::<_, E, f64, E::Inexact>("mul_exact", CombiningKinds::<ops::mul, E::Inexact, Dimensioned, ZeroDim>::new());
    suite.two::<_, E, E, E>("mul_kinds", CombiningKinds::<ops::mul, E, Dimensioned, Dimensioned>::new());
    suite.one::<_, E, E>("mul_scalar", CombiningScalar::<ops::mul, E>(wide));
    suite.one::<_, E, E::Inexact>("div_scalar", CombiningScalar::<ops::div, E>(Castable::from_f64(0.3)));
    suite.one::<_, E, E::Inexact>("div_right", CombiningRight::<ops::div, E>(Castable::from_f64(0.3)));
    suite.one::<_, E, E::Inexact>("div_left", CombiningLeft::<ops::div, E>(Castable::from_f64(0.3)));
    suite.one::<_, E, E::Inexact>("dividing_scalar", DividingScalar::<E::Inexact>(Castable::from_f64(3.0)));
    suite.one::<_, E, bool>("ne_scalar", CombiningScalar::<ops::ne, E>(wide));
    suite.two::<_, E, E, E>("differing", Differing);
    suite.two::<_, E, E, E>("folding", Folding::<ops::reduce::Accumulating>::new());
    suite.two::<_, E, E, E>("adding_scaled", AddingScaled(two));
    suite.two::<_, E, E, bool>("isclose", Closeness { rtol: 0.1, atol: 0.01, equal_nan: true });
    suite.two::<_, E, E, bool>("isclose_exact", Closeness { rtol: 0.0, atol: 0.0, equal_nan: false });
    let closeness = Closeness { rtol: 0.5, atol: 0.2, equal_nan: false };
    suite.one::<_, E, bool>("isclose_left", ClosenessTo { closeness, value: two, value_is_left: true });
    suite.one::<_, E, bool>("isclose_right", ClosenessTo { closeness, value: two, value_is_left: false });
    let _ = third;
}
/// One operation per rule of results, on its admitted dtypes.
fn of_one<Op: UnaryOp<E>, E: Dtype>(suite: &mut Suite) {
    suite.one::<_, E, Op::Output>(Op::NAME, Applying::<Op>::new());
}
fn of_parameters<Op: TunedOp<E>, E: Dtype>(suite: &mut Suite, given: [f64; 3]) {
    let parameters = given.map(Castable::from_f64);
    suite.one::<_, E, Op::Output>(Op::NAME, Tuning::<Op, E>(parameters));
    suite.one::<_, E, Complex<f64>>(Op::NAME, Tuning::<Op, E>(parameters));
}
macro_rules! operations {
    ($suite:ident: $($op:ident: $($ty:ty),*;)*) => { $($(of_one::<ops::$op, $ty>(&mut $suite);)*)* };
    ($suite:ident tuned: $($op:ident $given:expr => $($ty:ty),*;)*) => { $($(of_parameters::<ops::$op, $ty>(&mut $suite, $given);)*)* };
    ($suite:ident two: $($op:ident: $($ty:ty),*;)*) => { $($(of_two::<ops::$op, $ty>(&mut $suite);)*)* };
}
/// A binary operation on a dtype that it computes in; integer division by zero is refused beforehand.
fn of_two<Op: BinaryOp, E: Dtype>(suite: &mut Suite) {
    let value: ComputeOf<Op, E> = Castable::from_f64(3.0);
    suite.two::<_, E, E, Op::Output<E>>(Op::NAME, Combining::<Op, E>::new()).without_zeros(Op::DIVIDES);
    suite.one::<_, E, Op::Output<E>>("by_scalar", CombiningScalar::<Op, E>(value));
    suite.one::<_, E, Op::Output<E>>("from_left", CombiningLeft::<Op, E>(value)).without_zeros(Op::DIVIDES);
}
fn of_floats<E: crate::dtype::Float>(suite: &mut Suite) {
    suite.one::<_, E, E>("mantissa", Mantissa);
    suite.one::<_, E, i32>("exponent", Exponent);
    suite.three::<_, E, E, E, E>("lerp", Lerping);
    suite.two::<_, E, E, E>("lerp_by", LerpingBy::<E::Compute>(Castable::from_f64(0.3)));
    suite.two::<_, E, i64, E>("ldexp", Combining::<ops::ldexp, E>::new());
    suite.two::<_, E, E, E>("ldexp_own", Combining::<ops::ldexp, E>::new());
    suite.one::<_, E, E>("ldexp_scalar", CombiningScalar::<ops::ldexp, E>(Castable::from_f64(2.5)));
    suite.two::<_, i32, E, E>("ldexp_of_i32", Combining::<ops::ldexp, E>::new());
}
fn of_parts<E: crate::dtype::Float>(suite: &mut Suite) {
    suite.two::<_, E, E, E::Complex>("complex", FromParts);
    suite.two::<_, E, E, E::Complex>("polar", FromPolar);
}
fn casts<A: Castable>(suite: &mut Suite) {
    macro_rules! to {
        ($($ty:ty),*) => { $(suite.one::<_, A, $ty>("cast", Casting).only(&[Lie::Dense, Lie::Odd]);)* };
    }
    to!(bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>, u16, u32, u64);
}

#[test]
fn compiled_kernels_give_the_bits_of_the_host() {
    let mut suite = Suite::default();
    each!(suite: i32, bf16 => of_any);
    operations! { suite:
        abs: Complex<f16>;
        softsign: i64, f16;
        tanhshrink: f16;
        angle: Complex<f32>;
        square: bool;
    }
    operations! { suite tuned:
        elu [0.7, 0.0, 0.0] => f16;
        logit [0.01, 0.0, 0.0] => bf16;
        nan_to_num [1.0, 2.0, -3.0] => Complex<f32>;
    }
    operations! { suite two:
        floor_divide: i32, f16;
        nextafter: bf16;
        pow: f32, Complex<f32>;
    }
    each!(suite: f16 => of_floats);
    each!(suite: f32 => of_parts);
    suite.run_all();
}

#[test]
#[ignore = "takes a C++ compiler, and minutes"]
fn all_compiled_kernels_give_the_bits_of_the_host() {
    let mut suite = Suite::default();
    each!(suite: bool, u8, i8, i16, i64, f16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64> => of_any);
    suite.run_all();
    let mut suite = Suite::default();
    each!(suite: bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>, u16, u32, u64 => casts);
    suite.run_all();
    let mut suite = Suite::default();
    operations! { suite:
        neg: u8, i16, i64, f16, bf16, f64, Complex<f16>;
        square: bool, i8, i32, f16, bf16, f32, Complex<f32>;
        sqrt: bool, u8, i32, f16, bf16, f64, Complex<f16>;
        reciprocal: i64, f16, bf16, f32, Complex<f16>;
        softsign: u8, i8, i64, f16, bf16, f64, Complex<f16>;
        tanhshrink: f32, f16, bf16, Complex<f16>;
        floor: i32, f16, bf16, f32;
        isnan: i8, f16, bf16, Complex<f16>;
        sign: bool, i16, f16, f64;
        abs: u8, f16, f64, Complex<f16>, Complex<f64>;
        angle: bool, f16, Complex<f16>, Complex<f32>;
        digamma: f16, f32;
        bitwise_not: bool, u8, i64;
    }
    operations! { suite tuned:
        elu [0.7, 0.0, 0.0] => f16, bf16, f32, f64;
        softplus [1.5, 4.0, 0.0] => f16, bf16, f64;
        hardtanh [-1.0, 2.0, 0.0] => i16, f16, f32;
        threshold [1.0, 20.0, 0.0] => u8, i64, bf16;
        logit [0.01, 0.0, 0.0] => i32, f16, bf16, f32;
        polygamma [2.0, 0.0, 0.0] => f16, f64;
        nan_to_num [1.0, 2.0, -3.0] => bool, i32, bf16, Complex<f16>, Complex<f64>;
    }
    operations! { suite two:
        sub: u8, i64, f16, Complex<f16>;
        rsub: i32, bf16;
        pow: u8, i64, f16, f32, Complex<f32>;
        floor_divide: u8, i8, i64, f16, f64;
        remainder: u8, i16, i64, bf16, f32;
        fmod: i32, f16, f64;
        float_power: u8, f16, Complex<f16>;
        maximum: bool, i8, f16, f64;
        bitwise_and: bool, u8, i64;
        bitwise_left_shift: u8, i64;
        gcd: u8, i64;
        nextafter: f16, bf16, f32, f64;
        atan2: i32, f16, f64;
        xlogy: u8, bf16, f32;
        lt: u8, i64, f16, f32;
        logical_xor: bool, f16, Complex<f16>;
        heaviside: i16, f16;
    }
    each!(suite: f16, bf16, f32, f64 => of_floats);
    each!(suite: f16, f32, f64 => of_parts);
    suite.run_all();
}

/// Two kernels of one type with different values: their texts are equal, their arguments are not.
fn alike<K: Map1<A, O>, A: Element, O: Element>(one: K, other: K) {
    let [one, other] =
        [one, other].map(|kernel| describe::map1::<K, A, O>(Kernel::written(), &kernel, Operand::default()));
    let form = Form { layout: Layout::Packs, in_place: false };
    assert_eq!((one.key(), cuda::source(&one, "k", form)), (other.key(), cuda::source(&other, "k", form)));
    assert_ne!(one.kernel.values, other.kernel.values);
}

#[test]
fn values_are_no_part_of_the_text() {
    alike::<_, f32, f32>(FillWith(1.0), FillWith(2.0));
    alike::<_, f16, f32>(CombiningScalar::<ops::pow, f16>(2.0), CombiningScalar::<ops::pow, f16>(0.5));
    alike::<_, i32, i64>(CombiningLeft::<ops::sub, i64>(0), CombiningLeft::<ops::sub, i64>(-1));
    alike::<_, bf16, bf16>(DividingScalar::<bf16>(0.0), DividingScalar::<bf16>(1.0));
    alike::<_, f64, f64>(Tuning::<ops::elu, f64>([1.0; 3]), Tuning::<ops::elu, f64>([0.0; 3]));
    alike::<_, bool, u8>(ChoosingBoth(1_u8, 2), ChoosingBoth(0_u8, 0));
    let to = |rtol, equal_nan, value_is_left| {
        let closeness = Closeness { rtol, atol: 0.0, equal_nan };
        ClosenessTo { closeness, value: 1.0_f32, value_is_left }
    };
    alike::<_, f32, bool>(to(0.0, false, false), to(0.5, true, true));
}

/// The conversions of an 8-bit float, both ways, and its comparison.
fn eight_bits<A: Castable>(suite: &mut Suite) {
    macro_rules! casts {
        ($($ty:ty),*) => {$(
            suite.one::<_, A, $ty>("cast", Casting).only(&[Lie::Dense]);
            suite.one::<_, $ty, A>("cast", Casting).only(&[Lie::Odd]);
        )*};
    }
    casts!(bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f16>, Complex<f32>, Complex<f64>, u16, u32, u64);
    casts!(F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU);
    suite.two::<_, A, A, bool>("equal", Equal).only(&[Lie::Dense]);
    suite.one::<_, A, A>("copy", Copying);
    suite.one::<_, f32, A>("fill", FillWith(Castable::from_f32(1.5))).only(&[Lie::Strided]);
}

#[test]
fn floats_of_eight_bits_give_the_bits_of_the_host() {
    let mut suite = Suite::default();
    each!(suite: F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU => eight_bits);
    suite.two::<_, F4E2M1FNX2, F4E2M1FNX2, bool>("equal", Equal);
    suite.one::<_, F4E2M1FNX2, F4E2M1FNX2>("cast", Casting);
    suite.run_all();
}

/// Kernels without text, and why.
#[test]
fn kernels_without_text_are_these() {
    /// A conversion that `Casting` does not admit.
    #[derive(Clone, Copy)]
    struct Unpacking;
    impl Map1<F4E2M1FNX2, f32> for Unpacking {
        fn call(self, _: F4E2M1FNX2) -> f32 {
            0.0
        }
        fn text(&self, kernel: &mut Kernel, a: super::kernel::Value) -> super::kernel::Value {
            kernel.cast(a, f32::DTYPE)
        }
    }
    let mut suite = Suite::default();
    suite.one::<_, F4E2M1FNX2, f32>("unpacked", Unpacking);
    assert_eq!(
        suite.run(),
        [
            "unpacked_0_float4_e2m1fn_x2_float32: float4_e2m1fn_x2 is not converted to float32: float4 holds two numbers in a byte"
        ]
    );
}
