//! Runs a computation on each matrix of a batch, divided among threads, with places for its results.

use super::field::Field;
use crate::cpu::threads;
use crate::error::{Result, filled, room};

/// Number of result elements per matrix: of the matrix's dtype, real, complex, and integers.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lens {
    pub(crate) own: [usize; 3],
    pub(crate) real: [usize; 2],
    pub(crate) complex: [usize; 2],
    pub(crate) ints: usize,
}

/// The result places of one matrix; matrices are column-major.
pub(crate) struct Slots<'a, E: Field> {
    pub(crate) own: [&'a mut [E]; 3],
    pub(crate) real: [&'a mut [E::Re]; 2],
    pub(crate) complex: [&'a mut [E::Cx]; 2],
    pub(crate) ints: &'a mut [i32],
}

/// The results of a batch.
pub(crate) struct Done<E: Field> {
    pub(crate) own: [Vec<E>; 3],
    pub(crate) real: [Vec<E::Re>; 2],
    pub(crate) complex: [Vec<E::Cx>; 2],
    pub(crate) ints: Vec<i32>,
    /// LAPACK's `info`: 0 for success.
    pub(crate) info: Vec<i32>,
}

impl<E: Field> Done<E> {
    /// No elements.
    pub(crate) fn none() -> Self {
        Done {
            own: [const { Vec::new() }; 3],
            real: [const { Vec::new() }; 2],
            complex: [const { Vec::new() }; 2],
            ints: Vec::new(),
            info: Vec::new(),
        }
    }
}

/// Splits off the first `len` elements.
fn taken<'a, T>(left: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (first, rest) = core::mem::take(left).split_at_mut(len);
    *left = rest;
    first
}

/// The matrices from `first` on, for one thread.
struct Piece<'a, E: Field> {
    first: usize,
    slots: Slots<'a, E>,
    info: &'a mut [i32],
}

/// Calls `work` with the index of each matrix and the places of its results; it returns `info`, or an error if memory runs out.
/// `nanoseconds` is the estimated time per matrix.
pub(crate) fn each<E: Field>(
    count: usize,
    nanoseconds: usize,
    lens: Lens,
    work: &(dyn Fn(usize, Slots<'_, E>) -> Result<i32> + Sync),
) -> Result<Done<E>> {
    let mut done = Done::<E>::none();
    for (list, len) in done.own.iter_mut().zip(lens.own) {
        *list = filled(E::zero_impl(), len.saturating_mul(count))?;
    }
    for (list, len) in done.real.iter_mut().zip(lens.real) {
        *list = filled(<E::Re as faer::traits::ComplexField>::zero_impl(), len.saturating_mul(count))?;
    }
    for (list, len) in done.complex.iter_mut().zip(lens.complex) {
        *list = filled(<E::Cx as faer::traits::ComplexField>::zero_impl(), len.saturating_mul(count))?;
    }
    done.ints = filled(0, lens.ints.saturating_mul(count))?;
    done.info = filled(0, count)?;

    // Empty results are not computed: the other sides may be huge.
    let Lens { own, real, complex, ints } = lens;
    if own == [0; 3] && real == [0; 2] && complex == [0; 2] && ints == 0 {
        return Ok(done);
    }
    let number = threads::pieces(nanoseconds.saturating_mul(count)).min(count).max(1);
    let (mut own, mut real, mut complex) = (
        done.own.each_mut().map(|list| &mut list[..]),
        done.real.each_mut().map(|list| &mut list[..]),
        done.complex.each_mut().map(|list| &mut list[..]),
    );
    let (mut ints, mut info) = (&mut done.ints[..], &mut done.info[..]);
    let mut pieces = room(number)?;
    for at in 0..number {
        let (first, end) = (count * at / number, count * (at + 1) / number);
        let of = end - first;
        let mut number = lens.own.iter();
        let own = own.each_mut().map(|left| taken(left, of * number.next().copied().unwrap_or(0)));
        let mut number = lens.real.iter();
        let real = real.each_mut().map(|left| taken(left, of * number.next().copied().unwrap_or(0)));
        let mut number = lens.complex.iter();
        let complex = complex.each_mut().map(|left| taken(left, of * number.next().copied().unwrap_or(0)));
        let slots = Slots { own, real, complex, ints: taken(&mut ints, of * lens.ints) };
        pieces.push(Piece { first, slots, info: taken(&mut info, of) });
    }
    threads::try_for_each_part(pieces, &|piece: Piece<'_, E>| {
        let Slots { mut own, mut real, mut complex, mut ints } = piece.slots;
        for (at, info) in piece.info.iter_mut().enumerate() {
            let mut number = lens.own.iter();
            let own = own.each_mut().map(|left| taken(left, number.next().copied().unwrap_or(0)));
            let mut number = lens.real.iter();
            let real = real.each_mut().map(|left| taken(left, number.next().copied().unwrap_or(0)));
            let mut number = lens.complex.iter();
            let complex = complex.each_mut().map(|left| taken(left, number.next().copied().unwrap_or(0)));
            *info = work(piece.first + at, Slots { own, real, complex, ints: taken(&mut ints, lens.ints) })?;
        }
        Ok(())
    })?;
    Ok(done)
}
