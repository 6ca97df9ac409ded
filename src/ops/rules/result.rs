//! The rules of results: from the dtype that operands promote to, what an operation computes in, of which dtype its result is, and
//! into which outputs that is written.
//!
//! Each step from a dtype to another stands once as a type beside its value, each rule once as a row of steps. Uses `dtype`; read by
//! `ops` and `tensor` (types, documentation), `any` (values) and `cpu` (which loops there are), through the macros and `Rule`.

use crate::dtype::{Category, DType, default_dtype};

/// Writes steps: how a dtype follows from another, as a type and as a value.
macro_rules! steps {
    ($d:tt $p:ident $($step:ident [$($ty:tt)*] |$dtype:ident| $value:expr;)*) => {
        /// The dtype that a step leads to: `step!(inexact, E)` is `<E as Promotable>::Inexact`.
        macro_rules! step {
            $(($step, $d $p:ty) => { $($ty)* };)*
        }
        pub(crate) use step;

        /// A step from a dtype to another.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        pub(crate) enum Step { $($step),* }

        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        impl Step {
            /// The dtype that it leads to. (For types the default float is `f32`.)
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
    // the dtype itself
    own [$P] |dtype| dtype;
    // floats and complex stay, the rest becomes the default float
    inexact [<$P as crate::dtype::Promotable>::Inexact] |dtype| if dtype.category() <= Category::Integral { default_dtype() } else { dtype };
    // the widest float, or complex
    double [<$P as crate::dtype::Promotable>::With<core::primitive::f64>] |dtype| if dtype.is_complex() { DType::C128 } else { DType::F64 };
    // complex becomes real
    real [<$P as crate::dtype::Promotable>::RealDtype] |dtype| dtype.to_real();
    // bools become `i64`
    integer [<$P as crate::dtype::Promotable>::Over<core::primitive::i64>] |dtype| if dtype == DType::Bool { DType::I64 } else { dtype };
    boolean [core::primitive::bool] |_dtype| DType::Bool;
}

/// Writes the rules: the table below is its only call.
macro_rules! results {
    ($d:tt $($(#[$doc:meta])* $rule:ident: $computes:ident $gives:ident, $words:literal,
        one $one:ident $out_of_one:ident, two $two:ident $out_of_two:ident, tuned $tuned:ident $out_of_tuned:ident,
        loops $loops:ident $halves:ident;)*) => {
        /// How the dtype of the result follows: the column of the tables.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        pub(crate) enum Rule { $($(#[$doc])* $rule),* }

        #[cfg_attr(not(feature = "any"), allow(dead_code))]
        impl Rule {
            /// From what operands promote to to what is computed in.
            pub(crate) const fn computes(self) -> Step {
                match self { $(Rule::$rule => Step::$computes),* }
            }

            /// From what is computed in to the dtype of the result.
            pub(crate) const fn gives(self) -> Step {
                match self { $(Rule::$rule => Step::$gives),* }
            }

            /// What the result of an operation of one operand, of two, or of one and parameters, may be written into.
            pub(crate) const fn outputs(self) -> [Outputs; 3] {
                match self { $(Rule::$rule => [Outputs::$out_of_one, Outputs::$out_of_two, Outputs::$out_of_tuned]),* }
            }
        }

        /// What an operation computes in whose operands promote to a dtype: `computes!(inexact, P)`.
        macro_rules! computes {
            $(($rule, $d P:ty) => { crate::ops::rules::result::step!($computes, $d P) };)*
        }
        pub(crate) use computes;

        /// The dtype of its result: `output!(inexact, P)`.
        macro_rules! output {
            $(($rule, $d P:ty) => { crate::ops::rules::result::step!($gives, crate::ops::rules::result::step!($computes, $d P)) };)*
        }
        pub(crate) use output;

        /// `result_in_words!(inexact)` is what the rule says of the result dtype, for documentation.
        macro_rules! result_in_words {
            $(($rule) => { $words };)*
        }
        pub(crate) use result_in_words;

        /// What an operation of one operand does with its formula, of two, of one and parameters, and what the result may be written
        /// into: `form_of_result!(one mask, then { … })` is `then! { … predicate mask }`.
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

// Of a rule: the step to what is computed in, the step from there to the result, and words, `E` being what operands promote to.
//
// Then how operations of one operand, of two, and of one and parameters apply their formulas (the arms of the macros in `unary`,
// `binary` and `tuned`; `none` where no operation does), each with what its result may be written into (`Outputs`).
//
// Then which loops are compiled for operations of the tables: over `all` that an operation admits, or over those that are `inexact`
// already, and of halves: `direct` ones, ones by way of `f32` where an element takes long (`long`), where the rule of admission says
// that it does, else in registers (`either`), or `no` ones.
results! {
    $
    /// The dtype computed in.
    same: own own, "`E`",
        one own exactly, two binary castable, tuned own exactly, loops all either;
    /// `same`, of operations with parameters that cast to their output.
    castable: own own, "`E`",
        one none castable, two none castable, tuned own castable, loops all either;
    /// `same`, of operations of two operands that do not cast to their output.
    exact: own own, "`E`",
        one none castable, two binary exactly, tuned none castable, loops all either;
    /// `same`, the formula stepping through the numbers of the dtype.
    neighbour: own own, "`E`",
        one none castable, two neighbour castable, tuned none castable, loops all direct;
    /// Floats and complex stay, the rest becomes the default float.
    inexact: inexact own, "`E` if floating or complex, else `f32`",
        one inexact castable, two binary castable, tuned own castable, loops inexact long;
    /// `inexact`, of formulas so brief that halves are converted in registers.
    brief: inexact own, "`E` if floating or complex, else `f32`",
        one none castable, two binary castable, tuned none castable, loops inexact either;
    /// `inexact`, each step of the formula rounded to the dtype.
    stepwise: inexact own, "`E` if floating or complex, else `f32`",
        one none castable, two none castable, tuned stepwise castable, loops inexact long;
    /// `inexact`, the operand divided by what the formula gives in the operand's dtype.
    divided: inexact own, "`E` if floating or complex, else `f32`",
        one divided castable, two none castable, tuned none castable, loops inexact direct;
    /// `inexact`, what the formula gives being subtracted from the operand.
    subtracted: inexact own, "`E` if floating or complex, else `f32`",
        one subtracted castable, two none castable, tuned none castable, loops inexact direct;
    /// `inexact`, by the operands' own dtypes.
    scaled: inexact own, "`E` if floating or complex, else `f32`",
        one none castable, two scaled castable, tuned none castable, loops inexact direct;
    /// A bool.
    boolean: own boolean, "`bool`",
        one predicate castable, two compare castable, tuned none castable, loops all direct;
    /// A bool, which is not cast.
    mask: own boolean, "`bool`",
        one predicate mask, two none castable, tuned none castable, loops all direct;
    /// The dtype of the components of complex numbers; others stay.
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

/// What a result may be written into.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "any"), allow(dead_code))]
pub(crate) enum Outputs {
    /// Any dtype that it can be cast to.
    castable,
    /// Its own dtype only, which in place it is always.
    exactly,
    /// Bools only, in place too.
    mask,
    /// Its own dtype only, or for complex operands any float and theirs; not in place of complex operands.
    absolute,
}

#[cfg_attr(not(feature = "any"), allow(dead_code))]
impl Rule {
    /// Whether bools and integers become the default float first.
    pub(crate) const fn lifts(self) -> bool {
        matches!(self.computes(), Step::inexact)
    }

    /// Whether the result is written into outputs of its own dtype only, of operations of one operand, of two, or (3) of one and
    /// parameters.
    pub(crate) const fn is_exact(self, operands: usize) -> bool {
        matches!(self.outputs()[operands - 1], Outputs::exactly | Outputs::mask)
    }
}
