//! Inner loops compiled in this crate, once for each operation of the tables and each dtype.
//!
//! Programs link those they name and compile none of them again; what is not listed here (mixed dtypes, unusual dtypes, kernels
//! that are not operations of a table) is compiled where it is used. Reads the tables of operations; used by the elementwise loops.

use super::convert;
use super::inner::{self, Inner};
use crate::dtype::{DType, Element, f16};
use crate::ops::kernel::{Arity, Entry, Map1, Map2};

/// The inner loop of a kernel of one operand.
pub(super) const fn one<K: Map1<A, O>, A: Element, O: Element>() -> Inner<2> {
    if let Some(Entry { row, dtype, operands: Arity::Converted }) = K::ENTRY {
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

/// Builds with debug assertions want to be built soon: they compile everything where it is used. (What chooses its dtypes while
/// running needs the tables in every build.)
#[cfg(any(not(debug_assertions), feature = "any"))]
pub(crate) mod tables {
    use super::inner::{self, Inner};
    use crate::cpu::convert::by_floats;
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    use crate::cpu::f16_inner;
    use crate::dtype::{Complex, DType, bf16, f16};
    use crate::ops::kernel::{Applying, Combining, CombiningScalar};
    #[cfg(not(debug_assertions))]
    use crate::ops::kernel::{Arity, Entry};
    use crate::ops::rules::admit::loops_of;
    use crate::ops::rules::picture::with_bools;
    use crate::ops::rules::result::loops_of_result;
    use crate::ops::table::{binary_table, unary_table};
    use crate::ops::{self, BinaryOp, UnaryOp};

    /// One place for every dtype.
    pub(crate) type Row<const N: usize> = [Option<Inner<N>>; DType::ALL.len()];

    #[cfg(not(debug_assertions))]
    pub(super) const fn one(entry: Entry) -> Option<Inner<2>> {
        match entry.operands {
            Arity::One => UNARY[entry.row][entry.dtype as usize],
            Arity::Scalar => SCALAR[entry.row][entry.dtype as usize],
            Arity::Two | Arity::Converted => None,
        }
    }

    #[cfg(not(debug_assertions))]
    pub(super) const fn two(entry: Entry) -> Option<Inner<3>> {
        match entry.operands {
            Arity::Two => BINARY[entry.row][entry.dtype as usize],
            _ => None,
        }
    }

    /// Calls `$then!` with the dtypes, of those that an operation admits, for which it is compiled here. Halves of operations that
    /// take long (`halves`) have no loop of their own: they are converted to `f32`, piece by piece. So is `f16` elsewhere (`small`)
    /// where a machine can't convert it in its registers.
    macro_rules! dtypes {
        ($then:ident $before:tt none) => { dtypes! { $then $before [] } };
        ($then:ident $before:tt $admits:ident $result:ident) => {
            loops_of_result! { $result, dtypes { @result $admits $then $before } }
        };
        (@result $admits:ident $then:ident $before:tt $loops:ident $halves:ident) => {
            loops_of! { $admits, dtypes { @sets $then $before [] $loops $halves } }
        };
        // Of each category there is a loop if one of its cells says so.
        (@sets $then:ident $before:tt $sets:tt $loops:ident $halves:ident (. $($cells:tt)*) $integers:tt $floats:tt $complex:tt $cost:ident) => {
            dtypes! { @sets $then $before $sets $loops $halves ($($cells)*) $integers $floats $complex $cost }
        };
        (@sets $then:ident $before:tt [] all $halves:ident (x $($cells:tt)*) $integers:tt $floats:tt $complex:tt $cost:ident) => {
            dtypes! { @integers $then $before [bool] all $halves $integers $floats $complex $cost }
        };
        (@sets $then:ident $before:tt [] $loops:ident $halves:ident $cells:tt $integers:tt $floats:tt $complex:tt $cost:ident) => {
            dtypes! { @integers $then $before [] $loops $halves $integers $floats $complex $cost }
        };
        (@integers $then:ident $before:tt $sets:tt $loops:ident $halves:ident (. $($cells:tt)*) $floats:tt $complex:tt $cost:ident) => {
            dtypes! { @integers $then $before $sets $loops $halves ($($cells)*) $floats $complex $cost }
        };
        (@integers $then:ident $before:tt [$($sets:ident)*] all $halves:ident (x $($cells:tt)*) $floats:tt $complex:tt $cost:ident) => {
            dtypes! { @floats $then $before [$($sets)* integers] $halves $floats $complex $cost }
        };
        (@integers $then:ident $before:tt $sets:tt $loops:ident $halves:ident $cells:tt $floats:tt $complex:tt $cost:ident) => {
            dtypes! { @floats $then $before $sets $halves $floats $complex $cost }
        };
        (@floats $then:ident $before:tt $sets:tt $halves:ident (. $($cells:tt)*) $complex:tt $cost:ident) => {
            dtypes! { @floats $then $before $sets $halves ($($cells)*) $complex $cost }
        };
        (@floats $then:ident $before:tt $sets:tt $halves:ident () $complex:tt $cost:ident) => {
            dtypes! { @complex $then $before $sets $complex }
        };
        (@floats $then:ident $before:tt [$($sets:ident)*] no $cells:tt $complex:tt $cost:ident) => {
            dtypes! { @complex $then $before [$($sets)* floats] $complex }
        };
        (@floats $then:ident $before:tt [$($sets:ident)*] direct $cells:tt $complex:tt $cost:ident) => {
            dtypes! { @complex $then $before [$($sets)* direct floats] $complex }
        };
        (@floats $then:ident $before:tt [$($sets:ident)*] either $cells:tt $complex:tt quick) => {
            dtypes! { @complex $then $before [$($sets)* small floats] $complex }
        };
        (@floats $then:ident $before:tt [$($sets:ident)*] $halves:ident $cells:tt $complex:tt $cost:ident) => {
            dtypes! { @complex $then $before [$($sets)* halves floats] $complex }
        };
        (@complex $then:ident $before:tt $sets:tt (. $($cells:tt)*)) => {
            dtypes! { @complex $then $before $sets ($($cells)*) }
        };
        (@complex $then:ident $before:tt $sets:tt ()) => { dtypes! { $then $before $sets } };
        (@complex $then:ident $before:tt [$($sets:ident)*] $cells:tt) => { dtypes! { $then $before [$($sets)* complex] } };
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
            dtypes! { $then $before [$($sets)*] $($cells)* F16 f16 short f32: f16, BF16 bf16: bf16, }
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
        (($op:ident, $operands:literal, |$e:ident| $inner:tt $halves:tt) $($variant:ident $name:ident $(by $float:ident)? $(short $short:ident)?: $dtype:ty,)*) => {
            pub(super) mod $op {
                use super::*;
                $(
                    unsafe fn $name(kernel: *const (), places: [*mut u8; $operands], len: usize) {
                        type $e = $dtype;
                        // SAFETY: the caller's promise.
                        unsafe { row!(@call $inner $halves $e $(by $float)? $(short $short)?)(kernel, places, len) }
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
        (@call $inner:tt $halves:tt $e:ident) => { $inner };
        (@call $inner:tt $halves:tt $e:ident by $float:ident) => {
            |kernel, places, len| by_floats::<$e, _>($float, kernel, places, len)
        };
        (@call $inner:tt $halves:tt $e:ident short $float:ident) => {
            |kernel, places, len| {
                #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
                if $halves(kernel, places, len) {
                    return;
                }
                by_floats::<$e, _>($float, kernel, places, len)
            }
        };
    }

    macro_rules! unary {
        ($($op:ident { $methods:tt $admits:ident $result:ident $($rest:tt)* })*) => {
            mod of_one {
                use super::*;
                $(dtypes! { row ($op, 2, |E| (inner::one::<Applying<ops::$op>, E, <ops::$op as UnaryOp<E>>::Output>) (f16_inner::one::<Applying<ops::$op>>)) $admits $result })*
            }
            #[cfg(not(debug_assertions))]
            const UNARY: &[Row<2>] = &[$(of_one::$op::ROW),*];
            /// The loops of a row of the unary table, by dtype.
            #[cfg(feature = "any")]
            #[allow(non_upper_case_globals)]
            pub(crate) mod unary {
                use super::*;
                $(pub(crate) static $op: Row<2> = of_one::$op::ROW;)*
            }
        };
    }
    unary_table!(unary);

    macro_rules! binary {
        ($($op:ident { $methods:tt $admits:ident $result:ident $operands:ident $($rest:tt)* })*) => {
            mod of_two {
                use super::*;
                $(dtypes! { row ($op, 3, |E| (inner::two::<Combining<ops::$op, E>, E, E, <ops::$op as BinaryOp>::Output<E>>) (f16_inner::two::<Combining<ops::$op, core::primitive::f32>>)) $admits $result })*
            }
            mod by_scalar {
                use super::*;
                $(binary! { @scalar $operands ($op, 2, |E| (inner::one::<CombiningScalar<ops::$op, E>, E, <ops::$op as BinaryOp>::Output<E>>) (f16_inner::one::<CombiningScalar<ops::$op, core::primitive::f32>>)) $admits $result })*
            }
            #[cfg(not(debug_assertions))]
            const BINARY: &[Row<3>] = &[$(of_two::$op::ROW),*];
            #[cfg(not(debug_assertions))]
            const SCALAR: &[Row<2>] = &[$(by_scalar::$op::ROW),*];
            /// The loops of a row of the binary table, by dtype.
            #[cfg(feature = "any")]
            #[allow(non_upper_case_globals)]
            pub(crate) mod binary {
                use super::*;
                $(pub(crate) static $op: Row<3> = of_two::$op::ROW;)*
            }
            /// The same whose right operand is a scalar: the kernel is the scalar, as the dtype computes with it.
            #[cfg(feature = "any")]
            #[allow(non_upper_case_globals)]
            pub(crate) mod scalar {
                use super::*;
                $(pub(crate) static $op: Row<2> = by_scalar::$op::ROW;)*
            }
        };
        (@scalar any $row:tt $admits:ident $result:ident) => { dtypes! { row $row $admits $result } };
        (@scalar shells $row:tt $admits:ident $result:ident) => { dtypes! { row $row $admits $result } };
        (@scalar scalars $row:tt $admits:ident $result:ident) => { dtypes! { row $row $admits $result } };
        (@scalar tensors $row:tt $admits:ident $result:ident) => { dtypes! { row $row none } };
    }
    binary_table!(binary);
}
