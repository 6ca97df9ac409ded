//! Reductions to an extreme element and to its position. NaN propagates: it is more extreme than any number.
//!
//! Uses the lanes of partial results; used by `tensor` and `any`.

use super::{Reducer, TwoResults, interleave};
use crate::dtype::{Binary, Castable, Compute, DType, Dtype, MachineFloat, MachineInt, Unary};
use core::hint::select_unpredictable;
use core::marker::PhantomData;

type Over<T> = PhantomData<fn() -> T>;

/// As a unary formula the identity of `max` (or `min`); as a binary one the more extreme of two, the first of equals,
/// NaN if either is.
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
    /// A NaN that was found stays: no comparison with it is true. Two selects, because one select between two numbers
    /// compiles to a masked store, which takes ten times as long.
    #[inline(always)]
    fn real<T: MachineFloat>(champion: T, challenger: T) -> T {
        let wins = if MAX { challenger > champion } else { challenger < champion };
        let better = select_unpredictable(wins, challenger, champion);
        select_unpredictable(challenger.is_nan(), T::nan(), better)
    }
}

#[inline(always)]
fn is_nan<C: Compute>(x: C) -> bool {
    x.predicate::<crate::ops::isnan>()
}

/// The extreme element: the largest with `MAX`, else the smallest; a NaN if there is one.
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
impl<E: Dtype, const MAX: bool> Extreme<E, MAX> {
    #[inline(always)]
    fn beats(challenger: E::Compute, champion: E::Compute) -> bool {
        if MAX {
            challenger.compare::<crate::ops::gt>(champion)
        } else {
            challenger.compare::<crate::ops::lt>(champion)
        }
    }
}
impl<E: Dtype, const MAX: bool> Reducer<E> for Extreme<E, MAX> {
    type Partial = E::Compute;
    type Out = E;
    const HAS_IDENTITY: bool = false;
    const COUNTS_REPEATS: bool = false;
    const WIDENS_F16: bool = matches!(E::DTYPE, DType::F16);
    #[inline(always)]
    fn start(self) -> E::Compute {
        E::Compute::default().unary::<ExtremeOfTwo<MAX>>()
    }
    #[inline(always)]
    fn accumulate(self, partial: E::Compute, element: E, _: usize) -> E::Compute {
        partial.binary::<ExtremeOfTwo<MAX>>(element.to_compute())
    }
    #[inline(always)]
    fn accumulate_wide(self, partial: Self::Partial, element: f32) -> Self::Partial {
        partial.binary::<ExtremeOfTwo<MAX>>(element.cast())
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn blocks<const M: usize>(self, lines: [&[E]; M]) -> [Self::Partial; M] {
        interleave(self, lines)
    }
    #[inline(always)]
    fn merge(self, one: E::Compute, other: E::Compute) -> E::Compute {
        one.binary::<ExtremeOfTwo<MAX>>(other)
    }
    #[inline(always)]
    fn finish(self, partial: E::Compute, _: usize) -> E {
        E::from_compute(partial)
    }
}

/// The position of the extreme element; of equal ones the first.
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
    /// The element and its position, `usize::MAX` at the start.
    type Partial = (E::Compute, usize);
    type Out = i64;
    const HAS_IDENTITY: bool = false;
    const HAS_POSITIONS: bool = true;
    const PREFERS_BLOCKS: bool = true;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        (Extreme::<E, MAX>::new().start(), usize::MAX)
    }
    #[inline(always)]
    fn accumulate(self, partial: Self::Partial, element: E, index: usize) -> Self::Partial {
        Reducer::<E>::merge(self, partial, (element.to_compute(), index))
    }
    /// The extreme first, then its position.
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
    #[inline(always)]
    fn merge(self, (champion, at): Self::Partial, (challenger, index): Self::Partial) -> Self::Partial {
        let same = (challenger == champion) | (is_nan(challenger) & is_nan(champion));
        let beats = Extreme::<E, MAX>::beats(challenger, champion) | (is_nan(challenger) & !is_nan(champion));
        let wins = beats | (same & (index < at));
        (select_unpredictable(wins, challenger, champion), select_unpredictable(wins, index, at))
    }
    #[inline(always)]
    fn finish(self, (_, at): Self::Partial, _: usize) -> i64 {
        at as i64
    }
}

/// The extreme element itself.
impl<E: Dtype, const MAX: bool> TwoResults<E> for ArgExtreme<E, MAX> {
    type Second = E;
    fn second(self, (champion, _): Self::Partial, _: usize) -> E {
        E::from_compute(champion)
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
    type Partial = [E::Compute; 2];
    type Out = E;
    const HAS_IDENTITY: bool = false;
    const COUNTS_REPEATS: bool = false;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        [self.min.start(), self.max.start()]
    }
    #[inline(always)]
    fn accumulate(self, [min, max]: Self::Partial, element: E, index: usize) -> Self::Partial {
        [self.min.accumulate(min, element, index), self.max.accumulate(max, element, index)]
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        [self.min.merge(one[0], other[0]), self.max.merge(one[1], other[1])]
    }
    /// Two passes, the second over elements that are in the cache.
    #[inline(always)]
    fn block(self, elements: &[E], index: usize) -> Self::Partial {
        [self.min.block(elements, index), self.max.block(elements, index)]
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> Self::Partial {
        [self.min.block_small(elements, index), self.max.block_small(elements, index)]
    }
    #[inline(always)]
    fn finish(self, [min, _]: Self::Partial, _: usize) -> E {
        E::from_compute(min)
    }
}
impl<E: Dtype> TwoResults<E> for MinMax<E> {
    type Second = E;
    fn second(self, [_, max]: Self::Partial, _: usize) -> E {
        E::from_compute(max)
    }
}

/// The position of the first of the elements searched for, of which there is one. Searched in vectorised blocks.
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
