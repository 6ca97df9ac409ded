//! Inner loops compiled in this crate, once for each operation of the tables and each dtype.
//!
//! Programs link those they name and compile none of them again; what is not listed here (mixed dtypes, unusual dtypes, kernels
//! that are not operations of a table) is compiled where it is used. Reads the tables of operations; used by the elementwise loops.

use super::inner::{self, Inner};
use crate::dtype::Element;
use crate::ops::kernel::{Map1, Map2};

/// The inner loop of a kernel of one operand.
pub(super) const fn one<K: Map1<A, O>, A: Element, O: Element>() -> Inner<2> {
    #[cfg(not(debug_assertions))]
    if let Some(known) = K::KNOWN
        && let Some(inner) = tables::one(known)
    {
        return inner;
    }
    inner::one::<K, A, O>
}

/// The inner loop of a kernel of two operands.
pub(super) const fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Inner<3> {
    #[cfg(not(debug_assertions))]
    if let Some(known) = K::KNOWN
        && let Some(inner) = tables::two(known)
    {
        return inner;
    }
    inner::two::<K, A, B, O>
}

/// Builds with debug assertions want to be built soon: they compile everything where it is used.
#[cfg(not(debug_assertions))]
mod tables {
    use super::inner::{self, Inner};
    use crate::cpu::simd::{self, Loop};
    use crate::dtype::{Complex, DType, Dtype, bf16, f16};
    use crate::ops::kernel::{Applying, Combining, CombiningScalar, Known, Operands};
    use crate::ops::table::{binary_table, unary_table};
    use crate::ops::{self, BinaryOp, UnaryOp};
    use core::mem::MaybeUninit;

    /// One place for every dtype.
    type Row<const N: usize> = [Option<Inner<N>>; DType::ALL.len()];

    pub(super) const fn one(known: Known) -> Option<Inner<2>> {
        match known.operands {
            Operands::One => UNARY[known.row][known.dtype as usize],
            Operands::Scalar => SCALAR[known.row][known.dtype as usize],
            Operands::Two => None,
        }
    }

    pub(super) const fn two(known: Known) -> Option<Inner<3>> {
        match known.operands {
            Operands::Two => BINARY[known.row][known.dtype as usize],
            _ => None,
        }
    }

    /// Calls `$then!` with the dtypes, of those that an operation admits, for which it is compiled here. Operations that take
    /// long have no loops for `halves` of their own.
    macro_rules! dtypes {
        // Results that integers do not have: those are converted first where they are used.
        ($then:ident $before:tt any inexact) => { dtypes! { $then $before [halves floats complex] } };
        ($then:ident $before:tt ordered inexact) => { dtypes! { $then $before [halves floats] } };
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
        ($then:ident $before:tt [small $($sets:ident)*] $($cells:tt)*) => {
            dtypes! { $then $before [$($sets)*] $($cells)* F16 f16: f16, BF16 bf16: bf16, }
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

    /// Elements converted at once on their way to and from a loop over `f32`.
    const PIECE: usize = 256;

    /// Elements of a dtype that computes in `f32`, as such.
    struct Widening<H>(*const H, *mut f32, usize);
    impl<H: Dtype<Compute = f32>> Loop for Widening<H> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let Widening(from, to, len) = self;
            for i in 0..len {
                // SAFETY: whoever made it promises that there are as many elements and places.
                unsafe { to.add(i).write(from.add(i).read().to_compute()) }
            }
        }
    }

    /// The way back.
    struct Narrowing<H>(*const f32, *mut H, usize);
    impl<H: Dtype<Compute = f32>> Loop for Narrowing<H> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            let Narrowing(from, to, len) = self;
            for i in 0..len {
                // SAFETY: as above.
                unsafe { to.add(i).write(H::from_compute(from.add(i).read())) }
            }
        }
    }

    /// The loop of a kernel over `f32`, for operands and a result of a dtype that computes in it.
    ///
    /// # Safety
    /// See [`Inner`], the places being those of `H`s.
    unsafe fn by_floats<H: Dtype<Compute = f32>, const N: usize>(
        inner: Inner<N>,
        kernel: *const (),
        places: [*mut u8; N],
        len: usize,
    ) {
        let mut rooms = [[const { MaybeUninit::<f32>::uninit() }; PIECE]; N];
        let rooms = rooms.each_mut().map(|room| room.as_mut_ptr().cast::<f32>());
        let places = places.map(|place| place.cast::<H>());
        for low in (0..len).step_by(PIECE) {
            let count = PIECE.min(len - low);
            // SAFETY: the caller's promise for these elements; the rooms hold as many.
            unsafe {
                for (place, room) in places.iter().zip(rooms).skip(1) {
                    simd::dispatch(Widening(place.add(low), room, count));
                }
                inner(kernel, rooms.map(|room| room.cast()), count);
                simd::dispatch(Narrowing(rooms[0], places[0].add(low), count));
            }
        }
    }
}
