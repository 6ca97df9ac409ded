//! With the feature `precompiled`: the loops of reductions, scans, softmax, normalisations and conversions, compiled here for the dtypes
//! that support them. Without it, a program compiles the loops it uses.
//!
//! They are optimised even in programs built in debug mode.

/// `or_precompiled!(functions, find(name, dtype))`: the precompiled loops of a kernel if there are any, else its own. (`if const`, so that
/// the program compiles nothing where there are.)
macro_rules! or_precompiled {
    ($own:expr, $find:ident($name:expr, $dtype:expr)) => {{
        #[cfg(feature = "precompiled")]
        if const { $crate::cpu::precompiled::lists::$find($name, $dtype).is_some() } {
            let Some(compiled) = (const { $crate::cpu::precompiled::lists::$find($name, $dtype) }) else {
                unreachable!()
            };
            let own = core::ptr::from_ref($own);
            // SAFETY: it checks that the type is the same, so the result is the same kernel with other functions.
            return unsafe { &*compiled(own.cast(), core::any::TypeId::of::<Self>()) };
        }
        $own
    }};
}
pub(super) use or_precompiled;

#[cfg(feature = "precompiled")]
pub(super) mod lists {
    use crate::cpu::inner::{self, Inner};
    use crate::cpu::lanes::{LaneLoops, OneOutput, TwoOutputs};
    use crate::cpu::reduce::{FirstOnly, ReduceLoops, WithSecond};
    use crate::cpu::rows::{KernelLoops, RowLoops};
    use crate::dtype::{DType, Promotable};
    use crate::ops::kernel::{Casting, Precompiled};
    use crate::ops::reduce::{
        AnyAll, ArgExtreme, CountNonzero, Extreme, LogSumExp, Mean, MinMax, NanMean, NanSum, Prod, RootMeanSquare,
        Standardizing, Sum, Variance, VectorNorm,
    };
    use crate::ops::scan::{RunningExtreme, RunningLogSumExp, RunningProduct, RunningSum, Softmax};
    use core::any::TypeId;

    /// Converts a kernel with loops compiled in the calling program (its type is checked against this id) to the same kernel with the loops
    /// of this crate.
    pub(in crate::cpu) type Compiled<L> = fn(*const u8, TypeId) -> *const L;

    /// One arm per dtype of a set, with its type as `$E`.
    macro_rules! of_set {
        (any, $dtype:ident, $E:ident => $run:tt) => {
            of_set!($dtype, $E => $run; Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 $crate::dtype::f16, BF16 $crate::dtype::bf16,
                F32 f32, F64 f64, C64 $crate::Complex<f32>, C128 $crate::Complex<f64>)
        };
        (ordered, $dtype:ident, $E:ident => $run:tt) => {
            of_set!($dtype, $E => $run; Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 $crate::dtype::f16, BF16 $crate::dtype::bf16,
                F32 f32, F64 f64)
        };
        (real, $dtype:ident, $E:ident => $run:tt) => {
            of_set!($dtype, $E => $run; U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 $crate::dtype::f16, BF16 $crate::dtype::bf16,
                F32 f32, F64 f64)
        };
        (inexact, $dtype:ident, $E:ident => $run:tt) => {
            of_set!($dtype, $E => $run; F16 $crate::dtype::f16, BF16 $crate::dtype::bf16, F32 f32, F64 f64, C64 $crate::Complex<f32>,
                C128 $crate::Complex<f64>)
        };
        (float, $dtype:ident, $E:ident => $run:tt) => {
            of_set!($dtype, $E => $run; F16 $crate::dtype::f16, BF16 $crate::dtype::bf16, F32 f32, F64 f64)
        };
        ($dtype:ident, $E:ident => $run:tt; $($variant:ident $ty:ty),*) => {
            match $dtype {
                $(DType::$variant => {
                    type $E = $ty;
                    $run
                })*
                _ => None,
            }
        };
    }

    /// `find -> Loops: Name of set: E => Type<E>; …`: a function that finds the loops for a name and a dtype.
    macro_rules! compiled {
        ($find:ident -> $Loops:ident: $($name:ident of $set:ident: $E:ident => $functions:ty;)*) => {
            pub(in crate::cpu) const fn $find(name: Option<Precompiled>, dtype: DType) -> Option<Compiled<dyn $Loops>> {
                match name {
                    $(Some(Precompiled::$name) => of_set!($set, dtype, $E => {
                        // (Not inline: otherwise it and everything it names would be compiled in the program.)
                        #[inline(never)]
                        fn compiled(kernel: *const u8, of: TypeId) -> *const dyn $Loops {
                            assert!(of == TypeId::of::<$functions>(), "the loops of another kernel");
                            kernel.cast::<$functions>()
                        }
                        Some(compiled as Compiled<dyn $Loops>)
                    }),)*
                    _ => None,
                }
            }
        };
    }
    compiled! { one_result -> ReduceLoops:
        Sum of any: E => FirstOnly<E, Sum>;
        Prod of any: E => FirstOnly<E, Prod>;
        Mean of inexact: E => FirstOnly<E, Mean>;
        AnyAll of any: E => FirstOnly<E, AnyAll>;
        NanSum of float: E => FirstOnly<E, NanSum>;
        NanMean of float: E => FirstOnly<E, NanMean>;
        CountNonzero of any: E => FirstOnly<E, CountNonzero>;
        VectorNorm of inexact: E => FirstOnly<E, VectorNorm>;
        Variance of inexact: E => FirstOnly<E, Variance>;
        LogSumExp of inexact: E => FirstOnly<E, LogSumExp>;
        Max of real: E => FirstOnly<E, Extreme<E, true>>;
        Min of real: E => FirstOnly<E, Extreme<E, false>>;
        ArgMax of real: E => FirstOnly<E, ArgExtreme<E, true>>;
        ArgMin of real: E => FirstOnly<E, ArgExtreme<E, false>>;
    }
    compiled! { two_results -> ReduceLoops:
        Variance of inexact: E => WithSecond<E, Variance>;
        ArgMax of real: E => WithSecond<E, ArgExtreme<E, true>>;
        ArgMin of real: E => WithSecond<E, ArgExtreme<E, false>>;
        MinMax of real: E => WithSecond<E, MinMax<E>>;
    }
    compiled! { lane -> LaneLoops:
        RunningSum of any: E => OneOutput<RunningSum, E, <E as Promotable>::Sum>;
        RunningProduct of any: E => OneOutput<RunningProduct, E, <E as Promotable>::Sum>;
        RunningLogSumExp of inexact: E => OneOutput<RunningLogSumExp, E, E>;
        Softmax of float: E => OneOutput<Softmax<false>, E, E>;
        LogSoftmax of float: E => OneOutput<Softmax<true>, E, E>;
    }
    compiled! { lane_both -> LaneLoops:
        RunningMax of ordered: E => TwoOutputs<RunningExtreme<true>, E, E, i64>;
        RunningMin of ordered: E => TwoOutputs<RunningExtreme<false>, E, E, i64>;
    }
    compiled! { row -> RowLoops:
        Standardizing of float: E => KernelLoops<Standardizing, E, E>;
        RootMeanSquare of inexact: E => KernelLoops<RootMeanSquare, E, E>;
    }

    /// The loops from one dtype to each of these.
    macro_rules! conversions_from {
        ($to:ident, $from:ty, [$($variant:ident $ty:ty),*]) => {
            match $to {
                $(DType::$variant => {
                    unsafe fn convert(kernel: *const (), places: [*mut u8; 2], len: usize) {
                        // SAFETY: the caller's promise.
                        unsafe { inner::one::<Casting, $from, $ty>(kernel, places, len) }
                    }
                    Some(convert as Inner<2>)
                })*
                _ => None,
            }
        };
    }
    /// The conversions among these dtypes, as a function that finds the loop for a pair.
    macro_rules! conversions {
        ($($variant:ident $ty:ty),*) => { conversions! { @all [$($variant $ty),*] $($variant $ty),* } };
        (@all $all:tt $($variant:ident $ty:ty),*) => {
            pub(in crate::cpu) const fn conversion(from: DType, to: DType) -> Option<Inner<2>> {
                match from {
                    $(DType::$variant => conversions_from!(to, $ty, $all),)*
                    _ => None,
                }
            }
        };
    }
    conversions! { Bool bool, U8 u8, I32 i32, I64 i64, F32 f32, F64 f64 }
}
