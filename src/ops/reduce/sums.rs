//! Sums, products, means, `any` and `all`.

use super::steps::{Given, by_steps, is_truth, nothing};
use super::{Accumulating, Index, Reducer, Steps, interleave, lanes};
use crate::dtype::{Castable, Compute, DType, Dtype, Promotable};
use crate::ops::kernel::Precompiled;
use crate::ops::record::reduce::{Record, RecordedReducer, Reduction};

/// The rows of sums, products, means, `any` and `all` in the table of reductions.
macro_rules! sums_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            sum { sum_axis any sum (), Sum,
                "The sum. Bools and integers are summed in `i64`, which wraps; `f16` and `bf16` are summed in `f32` and rounded once. \
                Floats are added pairwise, in an order that shape and strides alone decide: neither the number of threads nor the machine's \
                vector instructions change a bit of it. The sum of nothing is 0.", "torch.sum",
                "tensor![[1, 2], [3, 4]]" = "10" axis "0" = "[4, 6]",
                #[op(sum(input, dim = None, keepdim = false, dtype = None), dtypes = any, output = Computes)]
                fn [] dims [] keepdim [dtype] "Some(&[0]), false, None" }
            prod { prod_axis any sum (), Prod,
                "The product. Bools and integers are multiplied in `i64`, which wraps. The product of nothing is 1.", "torch.prod",
                "tensor![[1, 2], [3, 4]]" = "24" axis "1" = "[2, 12]",
                #[op(prod(input, dim = None, keepdim = false, dtype = None), dtypes = any, output = Computes)]
                fn [] dims [] keepdim [dtype] "Some(&[1]), false, None" }
            mean { mean_axis inexact same (), Mean,
                "The mean, of floating and complex dtypes. The mean of nothing is NaN.", "torch.mean",
                "tensor![[1.0, 2.0], [3.0, 4.0]]" = "2.5" axis "-1" = "[1.5, 3.5]",
                #[op(mean(input, dim = None, keepdim = false, dtype = None), dtypes = inexact, output = ComputesInexact)]
                fn [] dims [] keepdim [dtype] "Some(&[-1]), false, None" }
            any { any_axis any bool (), AnyAll::ANY,
                "Whether any element is non-zero. Of nothing: no.", "torch.any",
                "tensor![[0, 2], [0, 0]]" = "true" axis "1" = "[true, false]",
                #[op(any(input, dim = None, keepdim = false), dtypes = any, output = Truth)]
                fn [] dims [] keepdim [] "Some(&[1]), false" }
            all { all_axis any bool (), AnyAll::ALL,
                "Whether every element is non-zero. Of nothing: yes.", "torch.all",
                "tensor![[1, 2], [0, 1]]" = "false" axis "1" = "[true, false]",
                #[op(all(input, dim = None, keepdim = false), dtypes = any, output = Truth)]
                fn [] dims [] keepdim [] "Some(&[1]), false" }
        } $($files)* }
    };
}
pub(crate) use sums_rows;

/// The type in which sums of `E` accumulate.
type SumNumber<E> = <<E as Promotable>::Sum as Dtype>::Compute;

/// The sum, in the dtype `E::Sum`.
#[derive(Clone, Copy)]
pub struct Sum;
impl Steps for Sum {
    type Partial<C: Compute, I: Index> = C;
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> C {
        C::default()
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: C, element: C, _: I, _: Given<C>) -> C {
        partial.binary::<Accumulating>(element)
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: C, other: C) -> C {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: C, _: C, _: Given<C>) -> C {
        partial
    }
}
impl<E: Dtype> Reducer<E> for Sum {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::Sum;
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::Sum);
    type Partial = SumNumber<E>;
    type Out = E::Sum;
    const WIDENS_F16: bool = matches!(E::DTYPE, DType::F16);
    by_steps! { self: self, SumNumber<E>, usize, nothing::<SumNumber<E>>();
        |x| x.cast::<E::Sum>().to_compute(); |sum| Dtype::from_compute(sum)
    }
    #[inline(always)]
    fn accumulate_wide(self, partial: Self::Partial, element: f32) -> Self::Partial {
        Steps::accumulate(self, partial, element.cast(), 0_usize, nothing::<Self::Partial>())
    }
    #[inline(always)]
    fn block(self, elements: &[E], index: usize) -> Self::Partial {
        if const { E::DTYPE.is_floating_point() || E::DTYPE.is_complex() } {
            lanes::block(self, elements, index)
        } else {
            lanes::exact_or_block(self, elements, index)
        }
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn four_lines(self, lines: [&[E]; 4]) -> [Self::Partial; 4] {
        interleave(self, lines)
    }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("sum").computes::<E::Sum>().gives::<E::Sum>().read(self)
    }
}

/// The product, in the dtype `E::Sum`.
#[derive(Clone, Copy)]
pub struct Prod;
impl Steps for Prod {
    type Partial<C: Compute, I: Index> = C;
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> C {
        C::number(1.0)
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: C, element: C, _: I, _: Given<C>) -> C {
        partial.binary::<crate::ops::mul>(element)
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: C, other: C) -> C {
        one.binary::<crate::ops::mul>(other)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: C, _: C, _: Given<C>) -> C {
        partial
    }
}
impl<E: Dtype> Reducer<E> for Prod {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::Prod;
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::Prod);
    type Partial = SumNumber<E>;
    type Out = E::Sum;
    by_steps! { self: self, SumNumber<E>, usize, nothing::<SumNumber<E>>();
        |x| x.cast::<E::Sum>().to_compute(); |product| Dtype::from_compute(product)
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn four_lines(self, lines: [&[E]; 4]) -> [Self::Partial; 4] {
        interleave(self, lines)
    }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("prod").computes::<E::Sum>().gives::<E::Sum>().read(self)
    }
}

/// The mean; NaN for an empty reduction.
#[derive(Clone, Copy)]
pub struct Mean;
impl Steps for Mean {
    type Partial<C: Compute, I: Index> = C;
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> C {
        C::default()
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: C, element: C, _: I, _: Given<C>) -> C {
        partial.binary::<Accumulating>(element)
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: C, other: C) -> C {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: C, count: C, _: Given<C>) -> C {
        partial.binary::<crate::ops::div>(count)
    }
}
impl<E: Dtype> Reducer<E> for Mean {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::Mean;
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::Mean);
    type Partial = E::Compute;
    type Out = E;
    const WIDENS_F16: bool = matches!(E::DTYPE, DType::F16);
    by_steps! { self: self, E::Compute, usize, nothing::<E::Compute>(); |x| x.to_compute(); |mean| E::from_compute(mean) }
    #[inline(always)]
    fn accumulate_wide(self, partial: Self::Partial, element: f32) -> Self::Partial {
        Steps::accumulate(self, partial, element.cast(), 0_usize, nothing::<Self::Partial>())
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn four_lines(self, lines: [&[E]; 4]) -> [Self::Partial; 4] {
        interleave(self, lines)
    }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("mean").gives::<E>().read(self)
    }
}

/// Elements between two early-exit checks.
const AT_ONCE: usize = 64;

/// Whether any element, or every element, is non-zero.
#[derive(Clone, Copy)]
pub struct AnyAll {
    /// The truth value that decides the result.
    decides: bool,
}
impl AnyAll {
    /// Whether any element is non-zero.
    pub const ANY: Self = AnyAll { decides: true };
    /// Whether every element is non-zero.
    pub const ALL: Self = AnyAll { decides: false };
}
impl Steps for AnyAll {
    type Partial<C: Compute, I: Index> = bool;
    type Out<C: Compute, I: Index> = bool;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> bool {
        false
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: bool, element: C, _: I, _: Given<C>) -> bool {
        partial | (is_truth(element) == self.decides)
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: bool, other: bool) -> bool {
        one | other
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: bool, _: C, _: Given<C>) -> bool {
        partial == self.decides
    }
}
impl<E: Dtype> Reducer<E> for AnyAll {
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::AnyAll);
    /// Whether a deciding element has been found.
    type Partial = bool;
    type Out = bool;
    const COUNTS_REPEATS: bool = false;
    by_steps! { self: self, E::Compute, usize, nothing::<E::Compute>(); |x| x.to_compute(); |answer| answer }
    /// A few elements at a time, until one decides.
    #[inline(always)]
    fn block(self, elements: &[E], _: usize) -> bool {
        let (groups, rest) = elements.as_chunks::<AT_ONCE>();
        let decides = |some: &[E]| {
            let mut found = false;
            for x in some {
                found |= is_truth(x.to_compute()) == self.decides;
            }
            found
        };
        for group in groups {
            if decides(group) {
                return true;
            }
        }
        decides(rest)
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> bool {
        Reducer::<E>::block(self, elements, index)
    }
    fn text(self) -> Record<RecordedReducer> {
        let name = if self.decides { "any" } else { "all" };
        Reduction::of::<E>(name).gives::<bool>().read(self)
    }
    fn form(self) -> u32 {
        self.decides.into()
    }
}
