//! Inner loops compiled in this crate, once for each operation of the tables and each dtype.
//!
//! Programs link those they name and compile none of them again; what is not listed here (mixed dtypes, unusual dtypes, kernels
//! that are not operations of a table) is compiled where it is used. Reads the tables of operations; used by the elementwise loops.

use super::convert;
use super::inner::{self, Inner};
use crate::dtype::{DType, Element, f16};
use crate::ops::kernel::{Entry, Map1, Map2, Operands};

/// The inner loop of a kernel of one operand.
pub(super) const fn one<K: Map1<A, O>, A: Element, O: Element>() -> Inner<2> {
    if let Some(Entry { row, dtype, operands: Operands::Converted }) = K::ENTRY {
        const F16: usize = DType::F16 as usize;
        const F32: usize = DType::F32 as usize;
        return match (dtype, row) {
            (DType::F16, F32) => convert::widening::<f16>,
            (DType::F32, F16) => convert::narrowing::<f16>,
            _ => inner::one::<K, A, O>,
        };
    }
    #[cfg(not(debug_assertions))]
    if let Some(entry) = K::ENTRY
        && let Some(inner) = tables::one(entry)
    {
        return inner;
    }
    inner::one::<K, A, O>
}

/// The inner loop of a kernel of two operands.
pub(super) const fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Inner<3> {
    #[cfg(not(debug_assertions))]
    if let Some(entry) = K::ENTRY
        && let Some(inner) = tables::two(entry)
    {
        return inner;
    }
    inner::two::<K, A, B, O>
}

/// Builds with debug assertions want to be built soon: they compile everything where it is used.
#[cfg(not(debug_assertions))]
mod tables {
    use super::inner::{self, Inner};
    use crate::cpu::convert::by_floats;
    use crate::dtype::{Complex, DType, bf16, f16};
    use crate::ops::kernel::{Applying, Combining, CombiningScalar, Entry, Operands};
    use crate::ops::table::{binary_table, unary_table};
    use crate::ops::{self, BinaryOp, UnaryOp};

    /// One place for every dtype.
    type Row<const N: usize> = [Option<Inner<N>>; DType::ALL.len()];

    pub(super) const fn one(entry: Entry) -> Option<Inner<2>> {
        match entry.operands {
            Operands::One => UNARY[entry.row][entry.dtype as usize],
            Operands::Scalar => SCALAR[entry.row][entry.dtype as usize],
            Operands::Two | Operands::Converted => None,
        }
    }

    pub(super) const fn two(entry: Entry) -> Option<Inner<3>> {
        match entry.operands {
            Operands::Two => BINARY[entry.row][entry.dtype as usize],
            _ => None,
        }
    }

    /// Calls `$then!` with the dtypes, of those that an operation admits, for which it is compiled here. Where `f16` (`small`)
    /// or both halves (`halves`) have no loop of their own they are converted to `f32`, piece by piece: operations that take long, and
    /// whatever works on `f16`, for which conversion there are instructions.
    macro_rules! dtypes {
        // Results that integers do not have: those are converted first where they are used.
        ($then:ident $before:tt any inexact) => { dtypes! { $then $before [halves floats complex] } };
        ($then:ident $before:tt ordered inexact) => { dtypes! { $then $before [halves floats] } };
        // Steps rounded to the dtype, and results of another one.
        ($then:ident $before:tt any boolean) => { dtypes! { $then $before [bool integers direct floats complex] } };
        ($then:ident $before:tt numeric divided) => { dtypes! { $then $before [direct floats complex] } };
        ($then:ident $before:tt numeric subtracted) => { dtypes! { $then $before [direct floats complex] } };
        ($then:ident $before:tt ordered boolean) => { dtypes! { $then $before [bool integers direct floats] } };
        ($then:ident $before:tt ordered mask) => { dtypes! { $then $before [bool integers direct floats] } };
        ($then:ident $before:tt any double) => { dtypes! { $then $before [floats] } };
        ($then:ident $before:tt any $result:ident) => { dtypes! { $then $before [bool integers small floats complex] } };
        ($then:ident $before:tt numeric $result:ident) => { dtypes! { $then $before [integers small floats complex] } };
        ($then:ident $before:tt numeric_pair $result:ident) => { dtypes! { $then $before [integers halves floats complex] } };
        ($then:ident $before:tt scaling $result:ident) => { dtypes! { $then $before [floats] } };
        ($then:ident $before:tt ordered $result:ident) => { dtypes! { $then $before [bool integers small floats] } };
        ($then:ident $before:tt bounded $result:ident) => { dtypes! { $then $before [bool integers small floats] } };
        ($then:ident $before:tt alike $result:ident) => { dtypes! { $then $before [integers small floats] } };
        ($then:ident $before:tt real $result:ident) => { dtypes! { $then $before [integers small floats] } };
        ($then:ident $before:tt real_pair $result:ident) => { dtypes! { $then $before [integers halves floats] } };
        ($then:ident $before:tt bits $result:ident) => { dtypes! { $then $before [bool integers] } };
        ($then:ident $before:tt integer_pair $result:ident) => { dtypes! { $then $before [integers] } };
        ($then:ident $before:tt float $result:ident) => { dtypes! { $then $before [halves floats] } };
        ($then:ident $before:tt float_pair neighbour) => { dtypes! { $then $before [floats] } };
        ($then:ident $before:tt float_pair $result:ident) => { dtypes! { $then $before [halves floats] } };
        ($then:ident $before:tt inexact $result:ident) => { dtypes! { $then $before [halves floats complex] } };
        ($then:ident $before:tt inexact_pair $result:ident) => { dtypes! { $then $before [halves floats complex] } };
        ($then:ident $before:tt none) => { dtypes! { $then $before [] } };
        ($then:ident $before:tt [bool $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* Bool bool: bool, }
        };
        ($then:ident $before:tt [integers $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* U8 u8: u8, I8 i8: i8, I16 i16: i16, I32 i32: i32, I64 i64: i64, }
        };
        ($then:ident $before:tt [direct $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* F16 f16: f16, BF16 bf16: bf16, }
        };
        ($then:ident $before:tt [small $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* F16 f16 by f32: f16, BF16 bf16: bf16, }
        };
        ($then:ident $before:tt [halves $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* F16 f16 by f32: f16, BF16 bf16 by f32: bf16, }
        };
        ($then:ident $before:tt [floats $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* F32 f32: f32, F64 f64: f64, }
        };
        ($then:ident $before:tt [complex $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* C64 c64: Complex<f32>, C128 c128: Complex<f64>, }
        };
        ($then:ident $before:tt [] $($cells:tt)*) => { $then! { $before $($cells)* } };
    }

    /// The functions of one row and the row itself: `|E| loop of the kernel over dtype E`.
    macro_rules! row {
        (($op:ident, $operands:literal, |$e:ident| $inner:tt) $($variant:ident $name:ident $(by $float:ident)?: $dtype:ty,)*) => {
            pub(super) mod $op {
                use super::*;
                $(
                    unsafe fn $name(kernel: *const (), places: [*mut u8; $operands], len: usize) {
                        type $e = $dtype;
                        // SAFETY: the caller's promise.
                        unsafe { row!(@call $inner $e $($float)?)(kernel, places, len) }
                    }
                )*
                pub(in super::super) const ROW: Row<$operands> = {
                    // Some operations have none here.
                    #[allow(unused_mut)]
                    let mut row: Row<$operands> = [None; DType::ALL.len()];
                    $(row[DType::$variant as usize] = Some($name);)*
                    row
                };
            }
        };
        (@call $inner:tt $e:ident) => { $inner };
        (@call $inner:tt $e:ident $float:ident) => {
            |kernel, places, len| by_floats::<$e, _>($float, kernel, places, len)
        };
    }

    macro_rules! unary {
        ($($op:ident [$($method:ident)*] $admits:ident $result:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {
            mod of_one {
                use super::*;
                $(dtypes! { row ($op, 2, |E| (inner::one::<Applying<ops::$op>, E, <ops::$op as UnaryOp<E>>::Output>)) $admits $result })*
            }
            const UNARY: &[Row<2>] = &[$(of_one::$op::ROW),*];
        };
    }
    unary_table!(unary);

    macro_rules! binary {
        ($($op:ident [$($method:ident)*] $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {
            mod of_two {
                use super::*;
                $(dtypes! { row ($op, 3, |E| (inner::two::<Combining<ops::$op, E>, E, E, <ops::$op as BinaryOp>::Output<E>>)) $admits $result })*
            }
            mod by_scalar {
                use super::*;
                $(binary! { @scalar $operands ($op, 2, |E| (inner::one::<CombiningScalar<ops::$op, E>, E, <ops::$op as BinaryOp>::Output<E>>)) $admits $result })*
            }
            const BINARY: &[Row<3>] = &[$(of_two::$op::ROW),*];
            const SCALAR: &[Row<2>] = &[$(by_scalar::$op::ROW),*];
        };
        (@scalar any $row:tt $admits:ident $result:ident) => { dtypes! { row $row $admits $result } };
        (@scalar tensors $row:tt $admits:ident $result:ident) => { dtypes! { row $row none } };
    }
    binary_table!(binary);
}
