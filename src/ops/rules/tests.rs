//! Every rule as a bound agrees with its run-time form, for every dtype, pair of dtypes and kind, in admission and in result dtypes.

use super::admit::{Admits, bound_of_one, bounds_of_two, rules_of_one, rules_of_pairs};
use super::result::{Rule, all_results, computes, output};
use crate::dtype::scalar::{Dimensioned, Kind, KindRank, ScalarKind, ZeroDim};
use crate::dtype::{DType, Element};
use core::marker::PhantomData;

/// A question to the type system. Where the bounds hold, the inherent constant shadows the trait's.
struct Ask<Question>(PhantomData<Question>);
trait Refused {
    const ADMITTED: bool = false;
}
impl<Question> Refused for Ask<Question> {}

/// Stands for any operation.
#[allow(dead_code)]
struct Op;

/// The dtypes that compute, and one integer and one float shell dtype.
macro_rules! dtypes {
    ($then:ident $($args:tt)*) => {
        crate::__dtypes!([bool, u8, i8, i16, i32, i64, crate::f16, crate::bf16, f32, f64, crate::Complex<crate::f16>,
            crate::Complex<f32>, crate::Complex<f64>, u16, crate::F8E4M3FN] {$then} $($args)*)
    };
}

macro_rules! one {
    ($($rule:ident)*) => {
        /// Questions about single operands.
        #[allow(non_camel_case_types)]
        mod of_one {
            use super::*;
            $(
                struct $rule;
                bound_of_one!($rule, Op, one { @answer $rule });
            )*
            pub(super) const ANSWERS: &[(Admits, &[(DType, bool)])] = &[$((Admits::$rule, dtypes!(one @ask $rule))),*];
        }
    };
    (@answer $rule:ident [$($bound:tt)*]) => {
        impl<E: $($bound)*> Ask<($rule, E)> {
            const ADMITTED: bool = true;
        }
    };
    (@ask $rule:ident $($ty:ty),*) => { &[$((<$ty as Element>::DTYPE, Ask::<($rule, $ty)>::ADMITTED)),*] };
}
rules_of_one!(one);

#[test]
fn bounds_of_one_operand_are_what_is_said_while_running() {
    for (rule, answers) in of_one::ANSWERS {
        for &(dtype, admitted) in *answers {
            assert_eq!(rule.one(dtype), admitted, "{rule:?} of {dtype}: while running, and as a bound");
        }
    }
}

type Answers = &'static [&'static [([DType; 2], [bool; 3])]];

macro_rules! two {
    ($($rule:ident)*) => {
        /// Questions about pairs.
        #[allow(non_camel_case_types)]
        mod of_two {
            use super::*;
            $(
                struct $rule;
                bounds_of_two!($rule, Op, two { @answer $rule });
            )*
            pub(super) const ANSWERS: &[(Admits, Answers)] = &[$((Admits::$rule, dtypes!(two @ask $rule))),*];
        }
    };
    (@answer $rule:ident [$($left:tt)*] [$($right:tt)*]) => {
        impl<A: $($left)*, B: $($right)*, K> Ask<($rule, A, B, K)> {
            const ADMITTED: bool = true;
        }
    };
    (@answer $rule:ident [bools by scalars]) => {
        impl Ask<($rule, bool, bool, ScalarKind)> {
            const ADMITTED: bool = true;
        }
    };
    (@ask $rule:ident $($ty:ty),*) => { &[$(dtypes!(two @beside $rule $ty;)),*] };
    (@beside $rule:ident $a:ty; $($b:ty),*) => {
        &[$((
            [<$a as Element>::DTYPE, <$b as Element>::DTYPE],
            [Ask::<($rule, $a, $b, ScalarKind)>::ADMITTED, Ask::<($rule, $a, $b, ZeroDim)>::ADMITTED,
                Ask::<($rule, $a, $b, Dimensioned)>::ADMITTED],
        )),*]
    };
}
rules_of_pairs!(two);

#[test]
fn bounds_of_two_operands_are_what_is_said_while_running() {
    let kinds = [ScalarKind::RANK, ZeroDim::RANK, Dimensioned::RANK];
    assert_eq!(kinds, [KindRank::Scalar, KindRank::ZeroDim, KindRank::Dimensioned]);
    for (rule, answers) in of_two::ANSWERS {
        for &(dtypes, admitted) in answers.iter().copied().flatten() {
            let said = kinds.map(|kind| rule.two(dtypes, kind));
            assert_eq!(said, admitted, "{rule:?} of {dtypes:?}: while running, and as a bound, for each kind");
        }
    }
}

macro_rules! results {
    ($($rule:ident)*) => {
        const RESULTS: &[(Rule, &[[DType; 3]])] = &[$((Rule::$rule, crate::__dtypes!(Dtype {results} @of $rule))),*];
    };
    (@of $rule:ident $($ty:ty),*) => {
        &[$([<$ty as Element>::DTYPE, <computes!($rule, $ty) as Element>::DTYPE, <output!($rule, $ty) as Element>::DTYPE]),*]
    };
}
all_results!(results);

#[test]
fn result_dtypes_are_those_of_the_types() {
    for (rule, results) in RESULTS {
        for &[dtype, computes, result] in *results {
            let computed = rule.computes().of(dtype);
            assert_eq!([computed, rule.gives().of(computed)], [computes, result], "{rule:?} of {dtype}");
        }
    }
}
