//! The rules of results: from the dtype that operands promote to, the dtype computed in, the result dtype, and the outputs that the result
//! may be written to.
//!
//! Each step from one dtype to another is written once as a type and a value, each rule once as a row of steps.

use crate::dtype::{Category, DType, default_dtype};

/// Writes steps: how a dtype follows from another, as a type and as a value.
macro_rules! steps {
    ($d:tt $p:ident $($step:ident [$($ty:tt)*] |$dtype:ident| $value:expr;)*) => {
        /// The dtype that a step leads to: `step!(inexact, E)` is `<E as Promotable>::Inexact`.
        macro_rules! step {
            $(($step, $d $p:ty) => { $($ty)* };)*
        }
        pub(crate) use step;

        /// A step from one dtype to another.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        pub(crate) enum Step { $($step),* }

        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        impl Step {
            /// The dtype after the step. (In types, the default float is `f32`.)
            pub(crate) fn of(self, dtype: DType) -> DType {
                match self {
                    $(Step::$step => { let $dtype = dtype; $value })*
                }
            }
        }
    };
}
steps! {
    $ P
    // The dtype itself.
    own [$P] |dtype| dtype;
    // Floats and complex dtypes stay, others become the default float.
    inexact [<$P as crate::dtype::Promotable>::Inexact] |dtype| if dtype.category() <= Category::Integral { default_dtype() } else { dtype };
    // The widest float, or complex.
    double [<$P as crate::dtype::Promotable>::With<core::primitive::f64>] |dtype| if dtype.is_complex() { DType::C128 } else { DType::F64 };
    // Complex becomes real.
    real [<$P as crate::dtype::Promotable>::RealDtype] |dtype| dtype.to_real();
    // Bool becomes `i64`.
    integer [<$P as crate::dtype::Promotable>::Over<core::primitive::i64>] |dtype| if dtype == DType::Bool { DType::I64 } else { dtype };
    boolean [core::primitive::bool] |_dtype| DType::Bool;
}

/// Writes the rules; the table below is its only call.
macro_rules! results {
    ($d:tt $($(#[$doc:meta])* $rule:ident: $computes:ident $gives:ident, $words:literal,
        one $one:ident $out_of_one:ident, two $two:ident $out_of_two:ident, tuned $tuned:ident $out_of_tuned:ident,
        loops $loops:ident $halves:ident;)*) => {
        /// How the result dtype follows: a column of the tables.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        pub(crate) enum Rule { $($(#[$doc])* $rule),* }

        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        impl Rule {
            /// The step from the promoted dtype to the dtype computed in.
            pub(crate) const fn computes(self) -> Step {
                match self { $(Rule::$rule => Step::$computes),* }
            }

            /// The step from the dtype computed in to the result dtype.
            pub(crate) const fn gives(self) -> Step {
                match self { $(Rule::$rule => Step::$gives),* }
            }

            /// The outputs that results may be written to: of unary operations, binary ones, and unary ones with parameters.
            pub(crate) const fn outputs(self) -> [Outputs; 3] {
                match self { $(Rule::$rule => [Outputs::$out_of_one, Outputs::$out_of_two, Outputs::$out_of_tuned]),* }
            }
        }

        /// The dtype computed in, for operands that promote to `P`: `computes!(inexact, P)`.
        macro_rules! computes {
            $(($rule, $d P:ty) => { crate::ops::rules::result::step!($computes, $d P) };)*
        }
        pub(crate) use computes;

        /// The result dtype: `output!(inexact, P)`.
        macro_rules! output {
            $(($rule, $d P:ty) => { crate::ops::rules::result::step!($gives, crate::ops::rules::result::step!($computes, $d P)) };)*
        }
        pub(crate) use output;

        /// `result_in_words!(inexact)` describes the result dtype, for documentation.
        macro_rules! result_in_words {
            $(($rule) => { $words };)*
        }
        pub(crate) use result_in_words;

        /// How unary operations, binary ones, and unary ones with parameters apply their formula, and the outputs that results may be
        /// written to:
        /// `form_of_result!(one mask, then { … })` is `then! { … predicate mask }`.
        macro_rules! form_of_result {
            $(
                (one $rule, $d then:ident { $d($d args:tt)* }) => { $d then! { $d($d args)* $one $out_of_one } };
                (two $rule, $d then:ident { $d($d args:tt)* }) => { $d then! { $d($d args)* $two $out_of_two } };
                (tuned $rule, $d then:ident { $d($d args:tt)* }) => { $d then! { $d($d args)* $tuned $out_of_tuned } };
            )*
        }
        pub(crate) use form_of_result;

        /// Which loops are compiled: `loops_of_result!(inexact, then { … })` is `then! { … inexact long }`.
        #[cfg(any(not(debug_assertions), feature = "precompiled"))]
        macro_rules! loops_of_result {
            $(($rule, $d then:ident { $d($d args:tt)* }) => { $d then! { $d($d args)* $loops $halves } };)*
        }
        #[cfg(any(not(debug_assertions), feature = "precompiled"))]
        pub(crate) use loops_of_result;

        /// Calls `$then!` with the names of the rules, for tests.
        #[cfg(test)]
        macro_rules! all_results {
            ($d then:ident) => { $d then! { $($rule)* } };
        }
        #[cfg(test)]
        pub(super) use all_results;
    };
}

// A rule: the step to the dtype computed in, the step from there to the result, and words, where `E` is the promoted dtype.
//
// Then how unary operations, binary ones, and unary ones with parameters apply their formulas (the arms of the macros in `unary`, `binary`
// and `tuned`; `none` where no operation does), each with the outputs that its result may be written to (`Outputs`).
//
// Then the loops compiled for operations of the tables: over `all` admitted dtypes, or over those that are already `inexact`; and for half
// precision: `direct` ones, ones through `f32` if an element takes long (`long`) by the rule of admission, else in registers (`either`), or
// `no` loops.
results! {
    $
    /// The dtype computed in.
    same: own own, "`E`",
        one own exactly, two binary castable, tuned own exactly, loops all either;
    /// `same`, for operations with parameters that cast to their output.
    castable: own own, "`E`",
        one none castable, two none castable, tuned own castable, loops all either;
    /// `same`, for binary operations that do not cast to their output.
    exact: own own, "`E`",
        one none castable, two binary exactly, tuned none castable, loops all either;
    /// `same`, for formulas that step through the numbers of the dtype.
    neighbour: own own, "`E`",
        one none castable, two neighbour castable, tuned none castable, loops all direct;
    /// Floats and complex dtypes stay, others become the default float.
    inexact: inexact own, "`E` if floating or complex, else `f32`",
        one inexact castable, two binary castable, tuned own castable, loops inexact long;
    /// `inexact`, for cheap formulas for which half precision is converted in registers.
    brief: inexact own, "`E` if floating or complex, else `f32`",
        one none castable, two binary castable, tuned none castable, loops inexact either;
    /// `inexact`, with each step of the formula rounded to the dtype.
    stepwise: inexact own, "`E` if floating or complex, else `f32`",
        one none castable, two none castable, tuned stepwise castable, loops inexact long;
    /// `inexact`, the operand divided by the formula's result in the operand's dtype.
    divided: inexact own, "`E` if floating or complex, else `f32`",
        one divided castable, two none castable, tuned none castable, loops inexact direct;
    /// `inexact`, the operand minus the formula's result.
    subtracted: inexact own, "`E` if floating or complex, else `f32`",
        one subtracted castable, two none castable, tuned none castable, loops inexact direct;
    /// `inexact`, depending on the operands' own dtypes.
    scaled: inexact own, "`E` if floating or complex, else `f32`",
        one none castable, two scaled castable, tuned none castable, loops inexact direct;
    /// A bool.
    boolean: own boolean, "`bool`",
        one predicate castable, two compare castable, tuned none castable, loops all direct;
    /// A bool that is not cast to the output.
    mask: own boolean, "`bool`",
        one predicate mask, two none castable, tuned none castable, loops all direct;
    /// The dtype of the components of complex numbers; other dtypes stay.
    real_part: own real, "`E`; for complex dtypes that of the components",
        one real absolute, two none castable, tuned none castable, loops all either;
    /// `bool` becomes `i64`.
    integer: own integer, "`E`; `i64` for `bool`",
        one converted castable, two none castable, tuned none castable, loops all either;
    /// The real part of `inexact`.
    angle: inexact real, "`E` if floating; for complex dtypes that of the components; else `f32`",
        one real castable, two none castable, tuned none castable, loops all either;
    /// `f64`, or `Complex<f64>`.
    double: double own, "`f64`; `Complex<f64>` for complex dtypes",
        one none castable, two binary exactly, tuned none castable, loops inexact no;
}

/// The outputs that a result may be written to.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "any"), allow(dead_code))]
pub(crate) enum Outputs {
    /// Any dtype that it can be cast to.
    castable,
    /// Its own dtype only; in place it always is.
    exactly,
    /// Bools only, also in place.
    mask,
    /// Its own dtype only, or for complex operands any float and the operand's dtype; not in place of complex operands.
    absolute,
}

#[cfg_attr(not(feature = "any"), allow(dead_code))]
impl Rule {
    /// Whether bools and integers become the default float first.
    pub(crate) const fn lifts(self) -> bool {
        matches!(self.computes(), Step::inexact)
    }

    /// Whether the result is written only to outputs of its own dtype, for unary operations (1), binary ones (2), or unary ones with
    /// parameters (3).
    pub(crate) const fn is_exact(self, operands: usize) -> bool {
        matches!(self.outputs()[operands - 1], Outputs::exactly | Outputs::mask)
    }
}
