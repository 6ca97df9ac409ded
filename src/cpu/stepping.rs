//! Updates of parameters by gradients (`ops/update.rs`) on the host: one pass over a parameter, its gradient and its state, for many
//! tensors at once.

use super::convert::{narrow, widen};
use super::simd::{Loop, dispatch};
use super::threads::{self, Shared};
use crate::dtype::{DType, Dtype, bf16, f16};
use crate::ops::kernel::VectorWidth;
use crate::ops::update::{MOST_STATES, Number, Numbers, Plain, Program, Update};
use core::ops::Range;

/// Where the elements of the parameter, the gradient and the states begin. Those that an update does not have are null.
pub(crate) type Places = [*mut u8; 2 + MOST_STATES];

/// An update as loops for the floating-point dtypes, and as instructions.
#[derive(Clone, Copy)]
pub(crate) struct Stepper {
    /// For `f32`, in which half precision is computed as well, and `f64`.
    loops: [unsafe fn(&Numbers, usize, Places); 2],
    /// The instructions with these numbers.
    pub(crate) program: fn(&Numbers) -> Program,
    /// How many states there are.
    pub(crate) states: usize,
}

impl Stepper {
    /// The loops of an update.
    pub(crate) const fn of<U: Update<K>, const K: usize>() -> Self {
        const { assert!(K <= MOST_STATES) }
        Stepper { loops: [step::<U, f32, K>, step::<U, f64, K>], program: Program::of::<U, K>, states: K }
    }

    /// Updates elements of a dtype, which is given by its [index](index_of).
    ///
    /// # Safety
    /// There are `len` elements at the places of the parameter, the gradient and the states; nobody else reads or writes those of the
    /// parameter and the states.
    unsafe fn run(&self, dtype: usize, numbers: &Numbers, len: usize, places: Places) {
        // SAFETY: the caller's promise.
        unsafe {
            match dtype {
                0 => self.run_halves::<f16>(numbers, len, places),
                1 => self.run_halves::<bf16>(numbers, len, places),
                2 => self.loops[0](numbers, len, places),
                _ => self.loops[1](numbers, len, places),
            }
        }
    }

    /// Half precision is updated aside, as `f32`, and rounded.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn run_halves<H: Dtype<Compute = f32>>(&self, numbers: &Numbers, len: usize, places: Places) {
        let mut aside = [[0.0_f32; ASIDE]; 2 + MOST_STATES];
        for start in (0..len).step_by(ASIDE) {
            let len = ASIDE.min(len - start);
            let here = places.map(|place| place.wrapping_add(start * size_of::<H>()));
            let mut floats: Places = [core::ptr::null_mut(); _];
            // SAFETY: there are `len` elements from `start` on, and room for them aside. (The gradient is not written.)
            unsafe {
                for at in 0..2 + self.states {
                    widen::<H>(here[at].cast(), aside[at].as_mut_ptr(), len);
                    floats[at] = aside[at].as_mut_ptr().cast();
                }
                self.loops[0](numbers, len, floats);
                for at in (0..2 + self.states).filter(|&at| at != 1) {
                    narrow::<H>(aside[at].as_ptr(), here[at].cast(), len);
                }
            }
        }
    }
}

/// The loop of a dtype; `None` if parameters of it are not updated. Complex elements are two of their parts.
fn index_of(dtype: DType) -> Option<(usize, usize)> {
    match dtype {
        DType::F16 => Some((0, 1)),
        DType::BF16 => Some((1, 1)),
        DType::F32 => Some((2, 1)),
        DType::F64 => Some((3, 1)),
        DType::C32 => Some((0, 2)),
        DType::C64 => Some((2, 2)),
        DType::C128 => Some((3, 2)),
        _ => None,
    }
}

/// Whether parameters of a dtype are updated: floating-point and complex numbers.
pub(crate) fn is_learned(dtype: DType) -> bool {
    index_of(dtype).is_some()
}

/// A tensor to update: `len` elements of a dtype, dense and in the same order at all places.
pub(crate) struct Stepped {
    pub(crate) dtype: DType,
    pub(crate) len: usize,
    pub(crate) places: Places,
    /// Which update and which numbers.
    pub(crate) group: usize,
}

/// Elements that are read before the first of them is written, so that loops vectorise whatever the places. (Few enough for registers.)
const BLOCK: usize = 32;

/// Elements of half precision that are converted at once.
const ASIDE: usize = 512;

struct Stepping<'a, U, E, const K: usize> {
    numbers: &'a Numbers,
    len: usize,
    places: Places,
    what: core::marker::PhantomData<(U, E)>,
}

impl<U: Update<K>, E: Dtype<Compute: num_traits::Float>, const K: usize> Stepping<'_, U, E, K> {
    /// Updates a block.
    ///
    /// # Safety
    /// There are `len` elements at each place, and nobody else accesses those of the parameter and the states.
    #[inline(always)]
    unsafe fn block(&self, places: Places) {
        let [parameter, gradient, ..] = places.map(|place| place.cast::<[E; BLOCK]>());
        let state = |at: usize| places[2 + at].cast::<[E; BLOCK]>();
        // SAFETY: the caller's promise. (Places are aligned to elements, as arrays of them are.)
        unsafe {
            let (mut parameters, gradients) = (parameter.read(), gradient.read());
            let mut states: [[E; BLOCK]; K] = core::array::from_fn(|at| state(at).read());
            for at in 0..BLOCK {
                let of = core::array::from_fn(|state: usize| Plain(states[state][at].to_compute()));
                let (parameter, gradient) = (parameters[at].to_compute(), gradients[at].to_compute());
                let (parameter, new) = U::update(Plain(parameter), Plain(gradient), of, self.numbers);
                parameters[at] = E::from_compute(parameter.0);
                for state in 0..K {
                    states[state][at] = E::from_compute(new[state].0);
                }
            }
            parameter.write(parameters);
            for (at, block) in states.into_iter().enumerate() {
                state(at).write(block);
            }
        }
    }
}

impl<U: Update<K>, E: Dtype<Compute: num_traits::Float>, const K: usize> Loop for Stepping<'_, U, E, K> {
    type Output = ();
    /// Memory-bound, or bound by divisions and roots, which wider vectors do not speed up.
    const WIDEST: VectorWidth = VectorWidth::Narrow;

    #[inline(always)]
    fn run(self) {
        let mut aside = [[E::default(); BLOCK]; 2 + MOST_STATES];
        let mut start = 0;
        while start < self.len {
            let len = BLOCK.min(self.len - start);
            let here = self.places.map(|place| place.wrapping_add(start * size_of::<E>()));
            // The last elements, if they are no whole block, are updated in a block aside.
            let mut places = here;
            if len < BLOCK {
                for at in 0..2 + K {
                    places[at] = aside[at].as_mut_ptr().cast();
                    // SAFETY: there are `len` elements from `start` on, and room for them aside.
                    unsafe { core::ptr::copy_nonoverlapping(here[at].cast::<E>(), places[at].cast::<E>(), len) }
                }
            }
            // SAFETY: there is a block at all places, which nobody else accesses.
            unsafe { self.block(places) }
            if len < BLOCK {
                for at in (0..2 + K).filter(|&at| at != 1) {
                    // SAFETY: as above. (The gradient is not written.)
                    unsafe { core::ptr::copy_nonoverlapping(places[at].cast::<E>(), here[at].cast::<E>(), len) }
                }
            }
            start += len;
        }
    }
}

/// # Safety
/// There are `len` elements at the places of the parameter, the gradient and `K` states; nobody else reads or writes those of the parameter
/// and the states.
unsafe fn step<U: Update<K>, E: Dtype<Compute: num_traits::Float>, const K: usize>(
    numbers: &Numbers,
    len: usize,
    places: Places,
) {
    dispatch(Stepping::<U, E, K> { numbers, len, places, what: core::marker::PhantomData });
}

/// Updates all tensors; each group is an update and its numbers. Threads divide the elements of all tensors together.
///
/// # Safety
/// The places of each tensor are as its dtype and length say and those of its group's update are all there; the places of parameters and
/// states are accessed by nobody else, and by one tensor of the list only.
pub(crate) unsafe fn run(tensors: &[Stepped], groups: &[(Stepper, Numbers)]) {
    // SAFETY: the caller's promise.
    let run = || unsafe { run_divided(tensors, groups) };
    #[cfg(feature = "profile")]
    {
        let about = || {
            let mut about = crate::profile::About::default();
            for tensor in tensors {
                let arrays = 1 + groups[tensor.group].0.states;
                (0..arrays + 1).for_each(|_| about.operand(tensor.dtype, &[tensor.len], &[1], false));
                (0..arrays).for_each(|_| about.operand(tensor.dtype, &[tensor.len], &[1], true));
            }
            (crate::profile::Clock::HOST, "cpu".to_owned(), about)
        };
        crate::profile::span("step", about, run, |()| 0)
    }
    #[cfg(not(feature = "profile"))]
    run();
}

/// [`run`], which records it.
///
/// # Safety
/// As there.
unsafe fn run_divided(tensors: &[Stepped], groups: &[(Stepper, Numbers)]) {
    let bytes = |tensor: &Stepped| {
        let arrays = 3 + 2 * groups[tensor.group].0.states;
        tensor.len.saturating_mul(arrays * tensor.dtype.itemsize())
    };
    let elements = tensors.iter().fold(0_usize, |sum, tensor| sum.saturating_add(tensor.len));
    // A thread moves about 16 bytes in a nanosecond.
    let nanoseconds = tensors.iter().fold(0_usize, |sum, tensor| sum.saturating_add(bytes(tensor))) / 16;
    let pieces = threads::pieces(nanoseconds);
    // (Whole cache lines, unless a tensor begins within one.)
    let each = elements.div_ceil(pieces).next_multiple_of(BLOCK);
    let shared = Shared(tensors);
    threads::for_each(pieces, &|piece| {
        let tensors = shared;
        // SAFETY: the caller's promise; the pieces' elements are different ones.
        unsafe { run_part(tensors.0, groups, (piece * each).min(elements)..((piece + 1) * each).min(elements)) }
    });
}

/// Updates a range of the elements of all tensors, one after the other.
///
/// # Safety
/// As for [`run`], for the elements of the range.
unsafe fn run_part(tensors: &[Stepped], groups: &[(Stepper, Numbers)], range: Range<usize>) {
    let mut first = 0;
    for tensor in tensors {
        let own = first..first + tensor.len;
        first = own.end;
        let (start, end) = (range.start.max(own.start), range.end.min(own.end));
        let Some((at, parts)) = index_of(tensor.dtype).filter(|_| start < end) else { continue };
        let offset = (start - own.start) * tensor.dtype.itemsize();
        let places = tensor.places.map(|place| place.wrapping_add(offset));
        let (stepper, numbers) = &groups[tensor.group];
        // SAFETY: the elements from `start` to `end` are within the tensor; the caller's promise. A complex number is its two parts.
        unsafe { stepper.run(at, numbers, (end - start) * parts, places) }
    }
}

/// What is summed up over the elements of one or two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// The products of two lists' elements.
    Dot,
    /// The magnitudes.
    Magnitudes,
    /// The largest magnitude; NaN if an element is.
    Largest,
}

/// Elements that are summed up by themselves; the sums of the blocks are added in order, so that results do not depend on threads.
const SUMMED: usize = 1 << 15;
/// Sums side by side.
const SIDE: usize = 16;

struct Totalling<E, const TOTAL: u8> {
    len: usize,
    places: [*const E; 2],
}
impl<E: Dtype<Compute: num_traits::Float>, const TOTAL: u8> Loop for Totalling<E, TOTAL> {
    type Output = f64;
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) -> f64 {
        let total = const { Total::ALL[TOTAL as usize] };
        let mut sums = [0.0_f64; SIDE];
        let mut add = |blocks: [[E; SIDE]; 2]| {
            for lane in 0..SIDE {
                let [left, right] = [0, 1].map(|side: usize| blocks[side][lane].to_compute());
                // (Every `f32` is an `f64`.)
                let [left, right] = [left, right].map(|x| num_traits::ToPrimitive::to_f64(&x).unwrap_or(f64::NAN));
                sums[lane] = match total {
                    Total::Dot => sums[lane] + left * right,
                    Total::Magnitudes => sums[lane] + left.abs(),
                    Total::Largest => Plain(sums[lane]).larger(Plain(left.abs())).0,
                };
            }
        };
        let whole = self.len - self.len % SIDE;
        for at in (0..whole).step_by(SIDE) {
            // SAFETY: there are `len` elements at both places.
            add(self.places.map(|place| unsafe { place.add(at).cast::<[E; SIDE]>().read() }));
        }
        let mut rest = [[E::default(); SIDE]; 2];
        for (place, rest) in self.places.into_iter().zip(&mut rest) {
            // SAFETY: as above.
            unsafe { core::ptr::copy_nonoverlapping(place.add(whole), rest.as_mut_ptr(), self.len - whole) }
        }
        add(rest);
        sums.into_iter().fold(0.0, |all, one| total.joined(all, one))
    }
}

impl Total {
    const ALL: [Total; 3] = [Total::Dot, Total::Magnitudes, Total::Largest];

    /// The total of two parts.
    pub(crate) fn joined(self, one: f64, other: f64) -> f64 {
        match self {
            Total::Dot | Total::Magnitudes => one + other,
            Total::Largest => Plain(one).larger(Plain(other)).0,
        }
    }
}

/// The total over `len` elements of a dtype, in `f64`, at one place or two.
///
/// # Safety
/// There are `len` elements of the dtype at both places.
#[cfg_attr(not(feature = "precompiled"), inline)]
pub(crate) unsafe fn total(total: Total, dtype: DType, len: usize, places: [*const u8; 2]) -> f64 {
    let Some((at, parts)) = index_of(dtype) else { return 0.0 };
    let (len, bytes) = (len.saturating_mul(parts), dtype.itemsize() / parts);
    let blocks = len.div_ceil(SUMMED);
    let block = |block: usize| {
        let start = block * SUMMED;
        let (len, places) = (SUMMED.min(len - start), places.map(|place| place.wrapping_add(start * bytes)));
        macro_rules! of {
            ($ty:ty) => {{
                let places = places.map(|place| place.cast::<$ty>());
                match total {
                    Total::Dot => dispatch(Totalling::<$ty, 0> { len, places }),
                    Total::Magnitudes => dispatch(Totalling::<$ty, 1> { len, places }),
                    Total::Largest => dispatch(Totalling::<$ty, 2> { len, places }),
                }
            }};
        }
        match at {
            0 => of!(f16),
            1 => of!(bf16),
            2 => of!(f32),
            _ => of!(f64),
        }
    };
    if blocks <= 1 {
        return (0..blocks).map(block).fold(0.0, |all, one| total.joined(all, one));
    }
    let Ok(mut sums) = crate::error::filled(0.0_f64, blocks) else {
        return (0..blocks).map(block).fold(0.0, |all, one| total.joined(all, one));
    };
    let target = Shared(sums.as_mut_ptr());
    let block = Shared(&block);
    let pieces = threads::pieces(len.saturating_mul(bytes) / 16).min(blocks);
    threads::for_each(pieces, &|piece| {
        let (target, block) = (target, block);
        for at in (piece..blocks).step_by(pieces) {
            // SAFETY: each block has a place of its own.
            unsafe { target.0.add(at).write((block.0)(at)) }
        }
    });
    sums.into_iter().fold(0.0, |all, one| total.joined(all, one))
}
