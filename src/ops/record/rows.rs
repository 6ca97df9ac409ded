//! The rows of the tables of operations, each with a function that records its formula for a dtype.
//!
//! Reads the tables; a device asks a row for its text, tests ask all of them.

use super::graph::{Function, Machine, Unreadable};
use super::number::{Operand, Recorded};
use super::paths::record;
use crate::dtype::scalar::KindRank;
use crate::dtype::{Binary, Category, Compare, DType, Parameters, Predicate, Several, ToReal, Tuned, Unary, bf16, f16};
#[cfg(test)]
use crate::ops::dual::read as dual;
use crate::ops::pointwise::{LerpFormula, PreluFormula};
use crate::ops::reduce::norms::Squared;
use crate::ops::reduce::rows::TimesPower;
use crate::ops::reduce::{Accumulating, ExtremeOfTwo};
use crate::ops::rules::admit::Admits;
use crate::ops::rules::result::Rule;
use crate::ops::table::{binary_table, tuned_table, unary_table};
use crate::ops::{self, Among, Stepwise};
use num_complex::Complex;

/// The formula of a row.
pub(crate) struct Row {
    /// The name of the operation.
    pub(crate) name: &'static str,
    /// Whether it is the form with a scalar on the right.
    pub(crate) by_scalar: bool,
    /// Its rules of admission and of the result.
    admits: Admits,
    pub(super) result: Rule,
    read: fn(&str, DType) -> Result<Function, Unreadable>,
    /// The formula itself; arguments and results are bits.
    #[cfg(test)]
    pub(super) run: fn(&[u64], DType) -> Vec<u64>,
    /// The same on dual numbers.
    #[cfg(test)]
    pub(crate) dual: fn(&dual::Numbers) -> Option<dual::Numbers>,
}

/// The dtypes that compute.
pub(crate) const COMPUTING: [DType; 13] = [
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C32,
    DType::C64,
    DType::C128,
];

/// The dtype whose machine numbers are the compute type of a dtype.
pub(crate) fn computes_in(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::C32 => DType::C64,
        dtype => dtype,
    }
}

/// Short suffixes for function names.
pub(crate) fn suffix(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "u8",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C32 => "c32",
        DType::C64 => "c64",
        DType::C128 => "c128",
        _ => "shell",
    }
}

impl Row {
    /// The dtypes that its formula is recorded for.
    pub(crate) fn dtypes(&self) -> Vec<DType> {
        let is = |dtype: DType| {
            let inexact = dtype.category() >= Category::Floating;
            let admitted = match self.admits {
                // Other dtypes use other operations.
                Admits::scaling => dtype.is_floating_point(),
                admits => admits.one(dtype) || admits.two([dtype; 2], KindRank::Dimensioned),
            };
            let computed = match self.result {
                // The formula is applied to the operand, before the division.
                Rule::divided => true,
                Rule::integer => dtype != DType::Bool,
                rule => rule.computes().of(dtype) == dtype,
            };
            admitted && computed && (!self.by_scalar || inexact)
        };
        COMPUTING.into_iter().filter(|&dtype| is(dtype)).collect()
    }
    /// Number of operands and parameters of its formula.
    #[cfg(test)]
    pub(crate) fn operands(&self) -> usize {
        let dtype = self.dtypes()[0];
        let width = 1 + usize::from(dtype.is_complex());
        self.record(dtype).map_or(0, |function| function.arguments.len() / width)
    }
    /// Records its formula for a dtype.
    pub(crate) fn record(&self, dtype: DType) -> Result<Function, Unreadable> {
        (self.read)(&self.function(dtype), dtype)
    }
    /// The name of the recorded function.
    pub(crate) fn function(&self, dtype: DType) -> String {
        let form = if self.by_scalar { "_by_scalar" } else { "" };
        // Two rules depend on the dtype that they round to.
        let named = if matches!(self.result, Rule::neighbour | Rule::stepwise) { dtype } else { computes_in(dtype) };
        format!("ci_f_{}{form}_{}", self.name, suffix(named))
    }
}

fn of_one<A: Operand, O: Operand>(name: &str, formula: fn(A) -> O) -> Result<Function, Unreadable> {
    record(name, A::KINDS, O::KINDS, &|| formula(A::arguments(0)).ids())
}
/// A formula outside the tables.
pub(crate) fn of_float<R: Machine>(
    name: &str,
    formula: fn(Recorded<R>) -> Recorded<R>,
) -> Result<Function, Unreadable> {
    of_one(name, formula)
}
fn of_two<A: Operand, O: Operand>(name: &str, formula: fn(A, A) -> O) -> Result<Function, Unreadable> {
    let width = A::KINDS.len();
    record(name, &A::KINDS.repeat(2), O::KINDS, &|| formula(A::arguments(0), A::arguments(width)).ids())
}
fn with_parameters<A: Operand, O: Operand>(
    name: &str,
    formula: fn(A, Parameters<A>) -> O,
) -> Result<Function, Unreadable> {
    let width = A::KINDS.len();
    record(name, &A::KINDS.repeat(4), O::KINDS, &|| {
        let x = A::arguments(0);
        formula(x, core::array::from_fn(|at| A::arguments((1 + at) * width))).ids()
    })
}

/// `formula!(dtype, Recorded, of_one(name), Unary<F> -> same, else …)` passes the formula of `F` for the dtype, over numbers of type
/// `Recorded<…>`, to `of_one`.
macro_rules! formula {
    ($dtype:ident, $number:ident, $how:ident($given:ident), $trait:ident<$f:ty> -> $out:ident, $real:ident $complex:ident, else $other:expr) => {
        match $dtype {
            DType::Bool => $how::<bool, formula!(@$out bool, bool)>($given, <$f as $trait>::boolean),
            DType::U8 => formula!(@scalar $how $given $trait $f, $out, $number u8, integer),
            DType::I8 => formula!(@scalar $how $given $trait $f, $out, $number i8, integer),
            DType::I16 => formula!(@scalar $how $given $trait $f, $out, $number i16, integer),
            DType::I32 => formula!(@scalar $how $given $trait $f, $out, $number i32, integer),
            DType::I64 => formula!(@scalar $how $given $trait $f, $out, $number i64, integer),
            DType::F16 | DType::BF16 | DType::F32 => formula!(@scalar $how $given $trait $f, $out, $number f32, $real),
            DType::F64 => formula!(@scalar $how $given $trait $f, $out, $number f64, $real),
            DType::C32 | DType::C64 => formula!(@complex $how $given $trait $f, $out, $number f32, $complex),
            DType::C128 => formula!(@complex $how $given $trait $f, $out, $number f64, $complex),
            _ => $other,
        }
    };
    (@scalar $how:ident $given:ident $trait:ident $f:ty, $out:ident, $number:ident $ty:ident, $formula:ident) => {
        $how::<$number<$ty>, formula!(@$out $number<$ty>, $number<$ty>)>($given, <$f as $trait>::$formula)
    };
    (@complex $how:ident $given:ident $trait:ident $f:ty, $out:ident, $number:ident $ty:ident, $formula:ident) => {
        $how::<Complex<$number<$ty>>, formula!(@$out Complex<$number<$ty>>, $number<$ty>)>($given, <$f as $trait>::$formula)
    };
    (@same $own:ty, $part:ty) => { $own };
    (@part $own:ty, $part:ty) => { $part };
    (@truth $own:ty, $part:ty) => { bool };
}

/// For each trait of formulas, a function that passes the formula for a dtype, over numbers `$number`, to one of these three.
macro_rules! readers {
    ($number:ident, [$one:ident $two:ident $parameters:ident], ($given:ident: $ty:ty) -> $result:ty, else $other:expr) => {
        readers! { @each $number, ($given: $ty) -> $result, else $other;
            unary: $one Unary -> same, real complex;
            predicate: $one Predicate -> truth, real complex;
            to_real: $one ToReal -> part, real complex;
            binary: $two Binary -> same, real complex;
            binary_by_scalar: $two Binary -> same, real_by_scalar complex_by_scalar;
            compare: $two Compare -> truth, real complex;
            tuned: $parameters Tuned -> same, real complex;
        }
        readers! { @rounding ($given: $ty) -> $result, else $other;
            neighbour: binary Among Binary;
            stepwise: tuned Stepwise Tuned;
        }
    };
    (@each $number:ident, ($given:ident: $ty:ty) -> $result:ty, else $other:expr;
        $($name:ident: $how:ident $trait:ident -> $out:ident, $real:ident $complex:ident;)*) => {$(
        pub(crate) fn $name<F: $trait>($given: $ty, dtype: DType) -> $result {
            formula!(dtype, $number, $how($given), $trait<F> -> $out, $real $complex, else $other)
        }
    )*};
    // The formula depends on the dtype that it rounds to.
    (@rounding ($given:ident: $ty:ty) -> $result:ty, else $other:expr; $($name:ident: $how:ident $among:ident $trait:ident;)*) => {$(
        pub(crate) fn $name<Op>($given: $ty, dtype: DType) -> $result
        where
            $among<Op, f16>: $trait,
            $among<Op, bf16>: $trait,
            $among<Op, f32>: $trait,
            $among<Op, f64>: $trait,
        {
            match dtype {
                DType::F16 => $how::<$among<Op, f16>>($given, dtype),
                DType::BF16 => $how::<$among<Op, bf16>>($given, dtype),
                DType::F32 => $how::<$among<Op, f32>>($given, dtype),
                DType::F64 => $how::<$among<Op, f64>>($given, dtype),
                _ => $other,
            }
        }
    )*};
}
fn of_several<A: Operand, O: Operand>(name: &str, formula: fn([A; 6]) -> O) -> Result<Function, Unreadable> {
    let width = A::KINDS.len();
    record(name, &A::KINDS.repeat(6), O::KINDS, &|| formula(core::array::from_fn(|at| A::arguments(at * width))).ids())
}
/// Records a formula of several numbers.
pub(crate) fn several<F: Several>(name: &str, dtype: DType) -> Result<Function, Unreadable> {
    formula!(dtype, Recorded, of_several(name), Several<F> -> same, real complex, else Err(Unreadable::NotAdmitted))
}
readers! { Recorded, [of_one of_two with_parameters], (name: &str) -> Result<Function, Unreadable>, else Err(Unreadable::NotAdmitted) }

macro_rules! rows {
    // The tables, without documentation.
    ($($op:ident { $methods:tt $admits:ident $result:ident $operands:ident, $($rest:tt)* })*) => {
        &[$(rows!(@binary $op $admits $result),)* $(rows!(@by_scalar $op $admits $result),)*]
    };
    ($($op:ident { $methods:tt $admits:ident $result:ident, $($rest:tt)* })*) => {
        &[$(rows!(@unary $op $admits $result)),*]
    };
    ($($op:ident { $methods:tt $admits:ident $result:ident ($($parameters:tt)*), $($rest:tt)* })*) => {
        &[$(rows!(@tuned $op $admits $result)),*]
    };
    (@unary $op:ident $admits:ident boolean) => { rows!(@row $op $admits boolean predicate) };
    (@unary $op:ident $admits:ident mask) => { rows!(@row $op $admits mask predicate) };
    (@unary $op:ident $admits:ident real_part) => { rows!(@row $op $admits real_part to_real) };
    (@unary $op:ident $admits:ident angle) => { rows!(@row $op $admits angle to_real) };
    (@unary $op:ident $admits:ident $result:ident) => { rows!(@row $op $admits $result unary) };
    (@binary $op:ident $admits:ident boolean) => { rows!(@row $op $admits boolean compare) };
    (@binary $op:ident $admits:ident neighbour) => { rows!(@row $op $admits neighbour neighbour) };
    (@binary $op:ident $admits:ident $result:ident) => { rows!(@row $op $admits $result binary) };
    (@by_scalar $op:ident $admits:ident boolean) => { None };
    (@by_scalar $op:ident $admits:ident neighbour) => { None };
    (@by_scalar $op:ident $admits:ident $result:ident) => {
        Some(Row {
            name: stringify!($op),
            by_scalar: true,
            admits: Admits::$admits,
            result: Rule::$result,
            read: binary_by_scalar::<ops::$op>,
            #[cfg(test)]
            run: run::binary_by_scalar::<ops::$op>,
            #[cfg(test)]
            dual: dual::binary_by_scalar::<ops::$op>,
        })
    };
    (@tuned $op:ident $admits:ident stepwise) => { rows!(@row $op $admits stepwise stepwise) };
    (@tuned $op:ident $admits:ident $result:ident) => { rows!(@row $op $admits $result tuned) };
    (@row $op:ident $admits:ident $result:ident $read:ident) => {
        Some(Row {
            name: stringify!($op),
            by_scalar: false,
            admits: Admits::$admits,
            result: Rule::$result,
            read: $read::<ops::$op>,
            #[cfg(test)]
            run: run::$read::<ops::$op>,
            #[cfg(test)]
            dual: dual::$read::<ops::$op>,
        })
    };
}
static UNARY: &[Option<Row>] = unary_table!(rows);
static BINARY: &[Option<Row>] = binary_table!(rows);
static TUNED: &[Option<Row>] = tuned_table!(rows);

/// `kernels! { lerp inexact: tuned LerpFormula; }`: formulas that are used in kernels without a row in a table.
macro_rules! kernels {
    ($($name:ident $admits:ident: $how:ident $formula:ty;)*) => {
        &[$(Some(Row {
            name: stringify!($name),
            by_scalar: false,
            admits: Admits::$admits,
            result: Rule::same,
            read: $how::<$formula>,
            #[cfg(test)]
            run: run::$how::<$formula>,
            #[cfg(test)]
            dual: dual::$how::<$formula>,
        })),*]
    };
}
static KERNELS: &[Option<Row>] = kernels! {
    lerp inexact: tuned LerpFormula;
    prelu float: binary PreluFormula;
    sum any: binary Accumulating;
    largest ordered: binary ExtremeOfTwo<true>;
    smallest ordered: binary ExtremeOfTwo<false>;
    largest_start ordered: unary ExtremeOfTwo<true>;
    smallest_start ordered: unary ExtremeOfTwo<false>;
    squared_magnitude inexact: to_real Squared;
    times_power inexact: binary TimesPower;
};

/// All rows: unary, binary (followed by those with a scalar), with parameters; then the formulas outside the tables.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    [UNARY, BINARY, TUNED, KERNELS].into_iter().flatten().flatten()
}

/// The formulas themselves.
#[cfg(test)]
pub(super) mod run {
    use super::*;

    /// Arguments and results of formulas as bits.
    pub(in super::super) trait Value: Sized {
        fn of(bits: &[u64]) -> Self;
        fn into_bits(self) -> Vec<u64>;
        const WIDTH: usize = 1;
    }
    impl<R: Machine> Value for R {
        fn of(bits: &[u64]) -> R {
            R::of_bits(bits[0])
        }
        fn into_bits(self) -> Vec<u64> {
            vec![self.bits()]
        }
    }
    impl<R: Machine> Value for Complex<R> {
        fn of(bits: &[u64]) -> Self {
            Complex { re: R::of_bits(bits[0]), im: R::of_bits(bits[1]) }
        }
        fn into_bits(self) -> Vec<u64> {
            vec![self.re.bits(), self.im.bits()]
        }
        const WIDTH: usize = 2;
    }
    fn of_one<A: Value, O: Value>(bits: &[u64], formula: fn(A) -> O) -> Vec<u64> {
        formula(A::of(bits)).into_bits()
    }
    fn of_two<A: Value, O: Value>(bits: &[u64], formula: fn(A, A) -> O) -> Vec<u64> {
        formula(A::of(bits), A::of(&bits[A::WIDTH..])).into_bits()
    }
    fn with_parameters<A: Value, O: Value>(bits: &[u64], formula: fn(A, Parameters<A>) -> O) -> Vec<u64> {
        let parameters = core::array::from_fn(|at| A::of(&bits[(1 + at) * A::WIDTH..]));
        formula(A::of(bits), parameters).into_bits()
    }
    type Plain<R> = R;
    readers! { Plain, [of_one of_two with_parameters], (bits: &[u64]) -> Vec<u64>, else unreachable!() }
}
