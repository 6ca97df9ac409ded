//! Reductions to an extreme element and to its position. NaN propagates: it is more extreme than any number.

use super::steps::{Given, by_steps, is_nan, nothing};
use super::{Index, Reducer, Steps, StepsOfTwo, TwoResults, interleave, lanes};
use crate::dtype::{Binary, Castable, Compute, DType, Dtype, MachineFloat, MachineInt, Unary};
use crate::ops::kernel::Precompiled;
use crate::ops::record::reduce::{Record, RecordedReducer, Reduction};
use core::hint::select_unpredictable;
use core::marker::PhantomData;

/// The rows of extremes in the table of reductions.
macro_rules! extreme_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            amax { amax_axis ordered same (), Extreme::<E, true>::new(),
                "The largest element; NaN if there is one. Of nothing: an error.", "torch.amax",
                "tensor![[3, 1], [2, 5]]" = "5" axis "0" = "[3, 5]",
                #[op(amax(input, dim = None, keepdim = false), dtypes = ordered)]
                fn [] dims [] keepdim [] "Some(&[0]), false" }
            amin { amin_axis ordered same (), Extreme::<E, false>::new(),
                "The smallest element; NaN if there is one. Of nothing: an error.", "torch.amin",
                "tensor![[3, 1], [2, 5]]" = "1" axis "0" = "[2, 1]",
                #[op(amin(input, dim = None, keepdim = false), dtypes = ordered)]
                fn [] dims [] keepdim [] "Some(&[0]), false" }
        } $($files)* }
    };
}
pub(crate) use extreme_rows;

type Over<T> = PhantomData<fn() -> T>;

/// From this many integers on, the compiler's own vectorisation is used.
const LONG: usize = 256;
#[inline(always)]
const fn is_integer<E: Dtype>() -> bool {
    matches!(E::DTYPE, DType::U8 | DType::I8 | DType::I16 | DType::I32 | DType::I64)
}

/// As a unary formula the identity of `max` (or `min`); as a binary one the more extreme of two: the first of equals, NaN if either is.
#[derive(Clone, Copy)]
pub(crate) struct ExtremeOfTwo<const MAX: bool>;
impl<const MAX: bool> Unary for ExtremeOfTwo<MAX> {
    #[inline(always)]
    fn boolean(_: bool) -> bool {
        !MAX
    }
    #[inline(always)]
    fn integer<T: MachineInt>(_: T) -> T {
        if MAX { T::min_value() } else { T::max_value() }
    }
    #[inline(always)]
    fn real<T: MachineFloat>(_: T) -> T {
        if MAX { T::neg_infinity() } else { T::infinity() }
    }
}
impl<const MAX: bool> Binary for ExtremeOfTwo<MAX> {
    #[inline(always)]
    fn boolean(champion: bool, challenger: bool) -> bool {
        if MAX { champion | challenger } else { champion & challenger }
    }
    #[inline(always)]
    fn integer<T: MachineInt>(champion: T, challenger: T) -> T {
        if MAX { champion.max(challenger) } else { champion.min(challenger) }
    }
    /// A NaN stays: comparisons with it are false. Two selects, because a single select between two numbers compiles to a masked store,
    /// which is ten times slower.
    #[inline(always)]
    fn real<T: MachineFloat>(champion: T, challenger: T) -> T {
        let wins = if MAX { challenger > champion } else { challenger < champion };
        let better = select_unpredictable(wins, challenger, champion);
        select_unpredictable(challenger.is_nan(), T::nan(), better)
    }
}

impl<const MAX: bool> Steps for ExtremeOfTwo<MAX> {
    type Partial<C: Compute, I: Index> = C;
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> C {
        C::default().unary::<Self>()
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: C, element: C, _: I, _: Given<C>) -> C {
        partial.binary::<Self>(element)
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: C, other: C) -> C {
        one.binary::<Self>(other)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: C, _: C, _: Given<C>) -> C {
        partial
    }
}

/// The extreme element: the largest if `MAX`, else the smallest; NaN if there is one.
#[derive(Clone, Copy)]
pub struct Extreme<E, const MAX: bool> {
    over: Over<E>,
}
impl<E, const MAX: bool> Extreme<E, MAX> {
    /// The reduction.
    pub const fn new() -> Self {
        Extreme { over: PhantomData }
    }
}
impl<E, const MAX: bool> Default for Extreme<E, MAX> {
    fn default() -> Self {
        Self::new()
    }
}
impl<E: Dtype, const MAX: bool> Reducer<E> for Extreme<E, MAX> {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::Extreme;
    const PRECOMPILED: Option<Precompiled> = Some(if MAX { Precompiled::Max } else { Precompiled::Min });
    type Partial = E::Compute;
    type Out = E;
    const HAS_IDENTITY: bool = false;
    const COUNTS_REPEATS: bool = false;
    const WIDENS_F16: bool = matches!(E::DTYPE, DType::F16);
    by_steps! { self: ExtremeOfTwo::<MAX>, E::Compute, usize, nothing::<E::Compute>();
        |x| x.to_compute(); |extreme| E::from_compute(extreme)
    }
    #[inline(always)]
    fn accumulate_wide(self, partial: Self::Partial, element: f32) -> Self::Partial {
        Steps::accumulate(ExtremeOfTwo::<MAX>, partial, element.cast(), 0_usize, nothing::<E::Compute>())
    }
    #[inline(always)]
    fn block(self, elements: &[E], index: usize) -> Self::Partial {
        if const { is_integer::<E>() } && elements.len() >= LONG {
            lanes::exact_or_block(self, elements, index)
        } else {
            lanes::block(self, elements, index)
        }
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn four_lines(self, lines: [&[E]; 4]) -> [Self::Partial; 4] {
        if const { is_integer::<E>() } && lines.iter().all(|line| line.len() >= LONG) {
            let mut extremes = [self.start(); 4];
            for (line, extreme) in extremes.iter_mut().enumerate() {
                *extreme = self.block(lines[line], 0);
            }
            return extremes;
        }
        interleave(self, lines)
    }
    fn text(self) -> Record<RecordedReducer> {
        let name = if MAX { "amax" } else { "amin" };
        Reduction::of::<E>(name).gives::<E>().read(ExtremeOfTwo::<MAX>)
    }
}

/// The steps for the extreme element and its position.
#[derive(Clone, Copy)]
pub(crate) struct Positioned<const MAX: bool>;
impl<const MAX: bool> Steps for Positioned<MAX> {
    /// The element and its position; initially the last position.
    type Partial<C: Compute, I: Index> = (C, I);
    type Out<C: Compute, I: Index> = I;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> (C, I) {
        (C::default().unary::<ExtremeOfTwo<MAX>>(), I::last())
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: (C, I), element: C, index: I, _: Given<C>) -> (C, I) {
        self.merge(partial, (element, index))
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, (champion, at): (C, I), (challenger, index): (C, I)) -> (C, I) {
        let same = (challenger == champion) | (is_nan(challenger) & is_nan(champion));
        let more = if MAX {
            challenger.compare::<crate::ops::gt>(champion)
        } else {
            challenger.compare::<crate::ops::lt>(champion)
        };
        let beats = more | (is_nan(challenger) & !is_nan(champion));
        let wins = beats | (same & (index < at));
        (select_unpredictable(wins, challenger, champion), select_unpredictable(wins, index, at))
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, (_, at): (C, I), _: C, _: Given<C>) -> I {
        at
    }
}
impl<const MAX: bool> StepsOfTwo for Positioned<MAX> {
    type Second<C: Compute, I: Index> = C;
    #[inline(always)]
    fn second<C: Compute, I: Index>(self, (champion, _): (C, I)) -> C {
        champion
    }
}

/// The position of the extreme element; the first of equals.
#[derive(Clone, Copy)]
pub struct ArgExtreme<E, const MAX: bool> {
    over: Over<E>,
}
impl<E, const MAX: bool> ArgExtreme<E, MAX> {
    /// The reduction.
    pub const fn new() -> Self {
        ArgExtreme { over: PhantomData }
    }
}
impl<E, const MAX: bool> Default for ArgExtreme<E, MAX> {
    fn default() -> Self {
        Self::new()
    }
}
impl<E: Dtype, const MAX: bool> Reducer<E> for ArgExtreme<E, MAX> {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::ArgExtreme;
    const PRECOMPILED: Option<Precompiled> = Some(if MAX { Precompiled::ArgMax } else { Precompiled::ArgMin });
    type Partial = (E::Compute, usize);
    type Out = i64;
    const HAS_IDENTITY: bool = false;
    const HAS_POSITIONS: bool = true;
    const PREFERS_BLOCKS: bool = true;
    fn cost(self) -> usize {
        2
    }
    by_steps! { self: Positioned::<MAX>, E::Compute, usize, nothing::<E::Compute>(); |x| x.to_compute(); |at| at as i64 }
    fn text(self) -> Record<RecordedReducer> {
        let name = if MAX { "argmax" } else { "argmin" };
        Reduction::of::<E>(name).gives::<i64>().and::<E>().read_two(Positioned::<MAX>)
    }
    /// Finds the extreme first, then its position.
    #[inline(always)]
    fn block(self, elements: &[E], index: usize) -> Self::Partial {
        let champion = Extreme::<E, MAX>::new().block(elements, index);
        let at = if is_nan(champion) {
            find(elements, |x| is_nan(x.to_compute()))
        } else {
            find(elements, |x| x.to_compute() == champion)
        };
        (champion, index + at)
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> Self::Partial {
        let champion = Extreme::<E, MAX>::new().block_small(elements, index);
        let is_champion = |x: &E| {
            let x = x.to_compute();
            x == champion || (is_nan(x) && is_nan(champion))
        };
        (champion, index + elements.iter().position(is_champion).unwrap_or(0))
    }
}

/// The extreme element itself.
impl<E: Dtype, const MAX: bool> TwoResults<E> for ArgExtreme<E, MAX> {
    type Second = E;
    fn second(self, partial: Self::Partial, _: usize) -> E {
        E::from_compute(StepsOfTwo::second::<E::Compute, usize>(Positioned::<MAX>, partial))
    }
}

/// The steps for both extremes.
#[derive(Clone, Copy)]
pub(crate) struct Both;
impl Steps for Both {
    type Partial<C: Compute, I: Index> = [C; 2];
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> [C; 2] {
        [C::default().unary::<ExtremeOfTwo<false>>(), C::default().unary::<ExtremeOfTwo<true>>()]
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: [C; 2], element: C, _: I, _: Given<C>) -> [C; 2] {
        Steps::merge::<C, I>(self, partial, [element; 2])
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: [C; 2], other: [C; 2]) -> [C; 2] {
        [one[0].binary::<ExtremeOfTwo<false>>(other[0]), one[1].binary::<ExtremeOfTwo<true>>(other[1])]
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, [min, _]: [C; 2], _: C, _: Given<C>) -> C {
        min
    }
}
impl StepsOfTwo for Both {
    type Second<C: Compute, I: Index> = C;
    #[inline(always)]
    fn second<C: Compute, I: Index>(self, [_, max]: [C; 2]) -> C {
        max
    }
}

/// The smallest element and the largest.
#[derive(Clone, Copy)]
pub struct MinMax<E> {
    min: Extreme<E, false>,
    max: Extreme<E, true>,
}
impl<E> MinMax<E> {
    /// The reduction.
    pub const fn new() -> Self {
        MinMax { min: Extreme::new(), max: Extreme::new() }
    }
}
impl<E> Default for MinMax<E> {
    fn default() -> Self {
        Self::new()
    }
}
impl<E: Dtype> Reducer<E> for MinMax<E> {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::MinMax;
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::MinMax);
    type Partial = [E::Compute; 2];
    type Out = E;
    const HAS_IDENTITY: bool = false;
    const COUNTS_REPEATS: bool = false;
    by_steps! { self: Both, E::Compute, usize, nothing::<E::Compute>(); |x| x.to_compute(); |min| E::from_compute(min) }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("aminmax").gives::<E>().and::<E>().read_two(Both)
    }
    /// Two passes, the second over cached elements.
    #[inline(always)]
    fn block(self, elements: &[E], index: usize) -> Self::Partial {
        [self.min.block(elements, index), self.max.block(elements, index)]
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> Self::Partial {
        [self.min.block_small(elements, index), self.max.block_small(elements, index)]
    }
}
impl<E: Dtype> TwoResults<E> for MinMax<E> {
    type Second = E;
    fn second(self, partial: Self::Partial, _: usize) -> E {
        E::from_compute(StepsOfTwo::second::<E::Compute, usize>(Both, partial))
    }
}

/// The position of the first element that matches; there is at least one. Searches in vectorised blocks.
#[inline(always)]
fn find<E: Copy>(elements: &[E], is: impl Fn(E) -> bool) -> usize {
    const AT_ONCE: usize = 32;
    let mut before = 0;
    for chunk in elements.as_chunks::<AT_ONCE>().0 {
        let mut any = false;
        for &x in chunk {
            any |= is(x);
        }
        if any {
            break;
        }
        before += AT_ONCE;
    }
    let rest = &elements[before..];
    let mut found = 0;
    for at in (0..rest.len().min(AT_ONCE)).rev() {
        found = select_unpredictable(is(rest[at]), at, found);
    }
    before + found
}
