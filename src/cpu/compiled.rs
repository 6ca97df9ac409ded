//! Selects the inner loop of a kernel, and holds the loops of the operation tables: one per row and dtype.
//!
//! A loop is compiled in the program that uses its operation. With the feature `precompiled` the tables' loops are compiled here once, for
//! all programs. Half-precision rows and rows with a scalar operand have loops of their own, so they are in the tables of every optimised
//! build.

use super::convert::{self, Held};
use super::inner::{self, Inner};
use crate::dtype::{DType, Element, bf16, f16};
use crate::ops::kernel::{Arity, Entry, Map1, Map2, TakesMap1, TakesMap2};
use core::marker::PhantomData;

/// The inner loop of a kernel of one operand.
pub(super) const fn one<K: Map1<A, O>, A: Element, O: Element>() -> Inner<2> {
    if let Some(Entry { row, dtype, operands: Arity::Converted }) = K::ENTRY {
        const F16: usize = DType::F16 as usize;
        const BF16: usize = DType::BF16 as usize;
        const F32: usize = DType::F32 as usize;
        #[cfg(feature = "precompiled")]
        if let Some(inner) = super::precompiled::lists::conversion(dtype, O::DTYPE) {
            return inner;
        }
        return match (dtype, row) {
            (DType::F16, F32) => convert::widening::<f16>,
            (DType::F32, F16) => convert::narrowing::<f16>,
            (DType::F32, BF16) => convert::narrowing::<bf16>,
            _ => inner::one::<K, A, O>,
        };
    }
    #[cfg(any(not(debug_assertions), feature = "precompiled"))]
    if let Some(entry) = K::ENTRY
        && let Some(inner) = tables::one(entry)
    {
        return inner;
    }
    inner::one::<K, A, O>
}

/// The loop of a binary kernel with one operand constant over the run (tensor and scalar, the scalar being the kernel), and whether the
/// scalar may be the first operand.
#[derive(Clone, Copy)]
pub(crate) struct BesideElement {
    pub(super) inner: Inner<2>,
    pub(super) commutes: bool,
}
#[cfg(feature = "any")]
impl BesideElement {
    /// For a dtype that is computed in without conversion, using the loop of an operation that has no separate scalar formula.
    pub(crate) fn new(inner: Inner<2>, dtype: DType, commutes: bool) -> Option<Self> {
        is_computed_in(dtype).then_some(BesideElement { inner, commutes })
    }
}

/// Whether the dtype is its own compute type.
#[cfg(any(not(debug_assertions), feature = "precompiled"))]
const fn is_computed_in(dtype: DType) -> bool {
    use DType::*;
    matches!(dtype, F32 | F64 | C64 | C128 | I8 | I16 | I32 | I64 | U8)
}

/// [`BesideElement`] of a kernel that is a row of the table.
pub(super) const fn beside_element<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Option<BesideElement> {
    #[cfg(any(not(debug_assertions), feature = "precompiled"))]
    if let Some(entry) = K::ENTRY
        && is_computed_in(entry.dtype)
    {
        return tables::beside_element(entry);
    }
    None
}

/// The inner loop of a kernel of two operands.
pub(super) const fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Inner<3> {
    #[cfg(any(not(debug_assertions), feature = "precompiled"))]
    if let Some(entry) = K::ENTRY
        && let Some(inner) = tables::two(entry)
    {
        return inner;
    }
    inner::two::<K, A, B, O>
}

/// The inner loop of a kernel of one operand; where it widens 16-bit floats, that of the kernel over `f32`, with conversions in chunks.
#[inline(always)]
pub(super) fn one_or_widened<K: Map1<A, O>, A: Element, O: Element>() -> Inner<2> {
    if const { K::WIDENS && (A::DTYPE.is_half() || O::DTYPE.is_half()) } {
        K::widened::<InChunks<(A, O)>>()
    } else {
        const { one::<K, A, O>() }
    }
}

/// The same for two operands.
#[inline(always)]
pub(super) fn two_or_widened<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Inner<3> {
    if const { K::WIDENS && (A::DTYPE.is_half() || B::DTYPE.is_half() || O::DTYPE.is_half()) } {
        K::widened::<InChunks<(A, B, O)>>()
    } else {
        const { two::<K, A, B, O>() }
    }
}

/// Makes the loop of a widened kernel one over these dtypes.
struct InChunks<T>(PhantomData<T>);
impl<A: Element, O: Element> TakesMap1 for InChunks<(A, O)> {
    type Out = Inner<2>;
    fn take<K: Map1<X, Z>, X: Element, Z: Element>() -> Inner<2> {
        one_in_chunks::<K, (A, X), (O, Z)>
    }
}
impl<A: Element, B: Element, O: Element> TakesMap2 for InChunks<(A, B, O)> {
    type Out = Inner<3>;
    fn take<K: Map2<X, Y, Z>, X: Element, Y: Element, Z: Element>() -> Inner<3> {
        two_in_chunks::<K, (A, X), (B, Y), (O, Z)>
    }
}

/// The dtype of an operand and that of the widened kernel's.
trait Widened {
    type Wide: Element;
    const HELD: Held;
}
impl<A: Element, X: Element> Widened for (A, X) {
    type Wide = X;
    const HELD: Held = Held::of(A::DTYPE, X::DTYPE);
}

/// # Safety
/// See [`Inner`]; places are of the dtypes that are not widened.
unsafe fn one_in_chunks<K: Map1<A::Wide, O::Wide>, A: Widened, O: Widened>(
    kernel: *const (),
    places: [*mut u8; 2],
    len: usize,
) {
    let inner = const { one::<K, A::Wide, O::Wide>() };
    // SAFETY: the caller's promise.
    unsafe { convert::in_chunks(const { &[O::HELD, A::HELD] }, inner, kernel, places, len) }
}

/// # Safety
/// As for [`one_in_chunks`].
unsafe fn two_in_chunks<K: Map2<A::Wide, B::Wide, O::Wide>, A: Widened, B: Widened, O: Widened>(
    kernel: *const (),
    places: [*mut u8; 3],
    len: usize,
) {
    let inner = const { two::<K, A::Wide, B::Wide, O::Wide>() };
    // SAFETY: the caller's promise.
    unsafe { convert::in_chunks(const { &[O::HELD, A::HELD, B::HELD] }, inner, kernel, places, len) }
}

/// The tables. (`AnyTensor` learns dtypes at run time only and needs all loops, so `any` implies `precompiled`. Debug builds without that
/// feature have no tables.)
#[cfg(any(not(debug_assertions), feature = "precompiled"))]
pub(crate) mod tables {
    use super::inner::{self, Inner};
    use crate::cpu::convert::by_floats;
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    use crate::cpu::f16_inner;
    use crate::dtype::Element;
    use crate::dtype::{Complex, DType, bf16, f16};
    use crate::ops::kernel::{Applying, Combining, CombiningScalar};
    use crate::ops::kernel::{Arity, Entry};
    use crate::ops::record::erased::ErasedKernel;
    use crate::ops::rules::admit::loops_of;
    use crate::ops::rules::picture::with_bools;
    use crate::ops::rules::result::loops_of_result;
    use crate::ops::rules::special::Specials;
    use crate::ops::table::{binary_table, unary_table};
    use crate::ops::{self, BinaryOp, UnaryOp};

    /// A loop, and its GPU source text.
    #[derive(Clone, Copy)]
    pub(crate) struct Compiled<const N: usize> {
        pub(crate) inner: Inner<N>,
        // (`AnyTensor` on a GPU reads it.)
        #[allow(dead_code)]
        pub(crate) text: ErasedKernel<N>,
    }

    /// One entry for each dtype.
    pub(crate) type Row<const N: usize> = [Option<Compiled<N>>; DType::ALL.len()];

    const fn inner_of<const N: usize>(entry: Option<Compiled<N>>) -> Option<Inner<N>> {
        match entry {
            Some(compiled) => Some(compiled.inner),
            None => None,
        }
    }

    pub(super) const fn one(entry: Entry) -> Option<Inner<2>> {
        match entry.operands {
            Arity::One => inner_of(UNARY[entry.row][entry.dtype as usize]),
            Arity::Scalar => inner_of(SCALAR[entry.row][entry.dtype as usize]),
            Arity::Two | Arity::Converted => None,
        }
    }

    /// The row's loop for a scalar operand, if the row gives the same results with it and computes in the dtype itself.
    pub(super) const fn beside_element(entry: Entry) -> Option<super::BesideElement> {
        let (Arity::Two, Some(inner)) = (entry.operands, inner_of(SCALAR[entry.row][entry.dtype as usize])) else {
            return None;
        };
        let (specials, computes) = BESIDE_ELEMENT[entry.row];
        if specials.raises_to_scalar || computes[entry.dtype as usize] as usize != entry.dtype as usize {
            return None;
        }
        Some(super::BesideElement { inner, commutes: specials.commutes })
    }

    /// The compute dtype of an operation for each dtype, where the row asks for it.
    const fn computes<Op: BinaryOp>() -> [DType; DType::ALL.len()] {
        let mut all = [DType::Bool; DType::ALL.len()];
        macro_rules! of {
            ($($ty:ty),*) => {$(
                all[<$ty as Element>::DTYPE as usize] = <Op::Computes<$ty> as Element>::DTYPE;
            )*};
        }
        type F32 = core::primitive::f32;
        of!(F32, core::primitive::f64, Complex<F32>, Complex<core::primitive::f64>);
        of!(core::primitive::i8, core::primitive::i16, core::primitive::i32, core::primitive::i64, core::primitive::u8);
        all
    }

    pub(super) const fn two(entry: Entry) -> Option<Inner<3>> {
        match entry.operands {
            Arity::Two => inner_of(BINARY[entry.row][entry.dtype as usize]),
            _ => None,
        }
    }

    /// Calls `$then!` with the admitted dtypes that get a compiled loop. Half-precision dtypes of expensive
    /// operations (`halves`) have none: they are converted to `f32` in chunks. So is `f16` of cheap operations
    /// (`small`) where the machine cannot convert it in registers.
    macro_rules! dtypes {
        ($then:ident $before:tt none) => { dtypes! { $then $before [] } };
        ($then:ident $before:tt $admits:ident $result:ident) => {
            loops_of_result! { $result, dtypes { @result $admits $then $before } }
        };
        (@result $admits:ident $then:ident $before:tt $loops:ident $halves:ident) => {
            loops_of! { $admits, dtypes { @sets $then $before [] $loops $halves } }
        };
        // A category has a loop if any of its cells has one.
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
            dtypes! { @complex $then $before [$($sets)* small whole] $complex }
        };
        (@floats $then:ident $before:tt [$($sets:ident)*] $halves:ident $cells:tt $complex:tt $cost:ident) => {
            dtypes! { @complex $then $before [$($sets)* halves whole] $complex }
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
        // The half-precision dtypes call the loop of `f32`.
        ($then:ident $before:tt [whole $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* F32 f32 called f32: f32, F64 f64: f64, }
        };
        ($then:ident $before:tt [complex $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* C64 c64: Complex<f32>, C128 c128: Complex<f64>, }
        };
        ($then:ident $before:tt [] $($cells:tt)*) => { $then! { $before $($cells)* } };
    }

    #[cfg(feature = "precompiled")]
    macro_rules! if_precompiled {
        ($($code:tt)*) => { $($code)* };
    }
    #[cfg(not(feature = "precompiled"))]
    macro_rules! if_precompiled {
        ($($code:tt)*) => {};
    }

    /// The functions of one row and the row itself: which loops are compiled (all, or only those that differ from [`inner`]'s), `|E| loop
    /// of the kernel over dtype E`, the half-precision loop, and its text.
    macro_rules! row {
        (($op:ident, $operands:literal, $which:tt, |$e:ident| $inner:tt $halves:tt $text:tt) $($variant:ident $name:ident $(by $float:ident)? $(short $short:ident)? $(called $called:ident)?: $dtype:ty,)*) => {
            pub(super) mod $op {
                #[allow(unused_imports, reason = "not every row uses all of them")]
                use super::*;
                $(row! { @if $which $(by $float)? $(short $short)? $(called $called)?; {
                    // Unused in this crate without `precompiled`.
                    #[cfg_attr(not(feature = "precompiled"), inline)]
                    unsafe fn $name(kernel: *const (), places: [*mut u8; $operands], len: usize) {
                        type $e = $dtype;
                        // SAFETY: the caller's promise.
                        unsafe { row!(@call $inner $halves $e $(by $float)? $(short $short)?)(kernel, places, len) }
                    }
                } })*
                pub(in super::super) const ROW: Row<$operands> = {
                    // Some operations have no loops here.
                    #[allow(unused_mut)]
                    let mut row: Row<$operands> = [None; DType::ALL.len()];
                    $(row! { @if $which $(by $float)? $(short $short)? $(called $called)?; { {
                        row[DType::$variant as usize] = Some(Compiled {
                            inner: $name,
                            text: {
                                type $e = $dtype;
                                $text()
                            },
                        });
                    } } })*
                    row
                };
            }
        };
        (@if few; $code:tt) => { if_precompiled! $code };
        (@if $which:tt $($form:ident $float:ident)?; { $($code:tt)* }) => { $($code)* };
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
                $(dtypes! { row ($op, 2, few, |E| (inner::one::<Applying<ops::$op>, E, <ops::$op as UnaryOp<E>>::Output>) (f16_inner::one::<Applying<ops::$op>>) (ErasedKernel::one::<Applying<ops::$op>, E, <ops::$op as UnaryOp<E>>::Output>)) $admits $result })*
            }
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
                $(dtypes! { row ($op, 3, few, |E| (inner::two::<Combining<ops::$op, E>, E, E, <ops::$op as BinaryOp>::Output<E>>) (f16_inner::two::<Combining<ops::$op, core::primitive::f32>>) (ErasedKernel::two::<Combining<ops::$op, E>, E, E, <ops::$op as BinaryOp>::Output<E>>)) $admits $result })*
            }
            mod by_scalar {
                use super::*;
                $(binary! { @scalar $operands ($op, 2, all, |E| (inner::one::<CombiningScalar<ops::$op, E>, E, <ops::$op as BinaryOp>::Output<E>>) (f16_inner::one::<CombiningScalar<ops::$op, core::primitive::f32>>) (ErasedKernel::one::<CombiningScalar<ops::$op, E>, E, <ops::$op as BinaryOp>::Output<E>>)) $admits $result })*
            }
                    const BINARY: &[Row<3>] = &[$(of_two::$op::ROW),*];
                    const SCALAR: &[Row<2>] = &[$(by_scalar::$op::ROW),*];
                    const BESIDE_ELEMENT: &[(Specials, [DType; DType::ALL.len()])] =
                &[$((<ops::$op as BinaryOp>::SPECIALS, computes::<ops::$op>())),*];
            /// The loops of a row of the binary table, by dtype.
            #[cfg(feature = "any")]
            #[allow(non_upper_case_globals)]
            pub(crate) mod binary {
                use super::*;
                $(pub(crate) static $op: Row<3> = of_two::$op::ROW;)*
            }
            /// The loops of binary operations with a scalar right operand: the kernel is the scalar, in the compute type.
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
