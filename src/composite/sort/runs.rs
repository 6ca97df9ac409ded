//! Runs of equal elements, from which distinct elements are made.

use crate::device::Device;
use crate::error::Result;
use crate::ops::arguments::Indexing;
use crate::ops::kernel::Map1;
use crate::ops::pointwise::Differing;
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::scan::RunningSum;
use crate::storage::{View, ViewMut};
use crate::tensor::true_positions;

/// Runs of equal elements: which elements start one, the run of each element, the length of each run, and the number of runs, if requested.
pub(super) struct Runs<B> {
    pub(super) starts: B,
    pub(super) inverse: B,
    pub(super) counts: B,
    pub(super) count: usize,
}

/// The runs of elements, by whether each except the last equals the next; `places` has their original positions, if they were sorted;
/// `wanted` says whether the run of each element and the lengths are requested.
pub(super) fn runs<D: Device>(
    equal: View<'_, D::Storage, bool>,
    places: Option<View<'_, D::Storage, i64>>,
    wanted: [bool; 2],
) -> Result<Runs<D::Storage>> {
    let (beside, more) = (Some(equal.buffer), equal.sizes);
    let len = [more[0] + 1];
    // The first element is not marked as a start at first, so that the runs are numbered from 0.
    let mut starts = D::zeroed::<bool>(beside, len[0])?;
    D::map1_into::<bool, bool>(IsFalse, equal, ViewMut::new(&mut starts, 1, more, &[1]))?;
    let mut inverse = if wanted[0] {
        D::lanes::<bool, i64>(RunningSum, View::new(&starts, 0, &len, &[1]), 0)?
    } else {
        D::zeroed::<i64>(beside, 0)?
    };
    if let Some(places) = places.filter(|_| wanted[0]) {
        let mut scattered = D::zeroed::<i64>(beside, len[0])?;
        let indexing = Indexing { op: "unique", axis: 0, wraps: false };
        let numbers = View::<_, i64>::new(&inverse, 0, &len, &[1]);
        D::scatter(indexing, places, numbers, ViewMut::new(&mut scattered, 0, &len, &[1]))?;
        inverse = scattered;
    }
    D::update1::<bool>(Always(true), ViewMut::new(&mut starts, 0, &[1], &[1]))?;
    if !wanted[1] {
        return Ok(Runs { starts, inverse, counts: D::zeroed::<i64>(beside, 0)?, count: 0 });
    }
    let (first, count) = true_positions::<D>(View::new(&starts, 0, &len, &[1]))?;
    // A run ends where the next one starts, the last at the end.
    let end = D::fill(beside, len[0] as i64, 1)?;
    let (all, rest) = ([count], [count - 1]);
    let next = View::<_, i64>::new(&first, 1, &rest, &[1]);
    let ends = D::join(&[next, View::new(&end, 0, &[1], &[1])], 0, &all, &[1])?;
    let (ends, first) = (View::<_, i64>::new(&ends, 0, &all, &[1]), View::<_, i64>::new(&first, 0, &all, &[1]));
    let counts = D::map2::<i64, i64, i64>(Differing, ends, first, &[1])?;
    Ok(Runs { starts, inverse, counts, count })
}

/// Whether a bool is false.
#[derive(Clone, Copy)]
struct IsFalse;
impl Map1<bool, bool> for IsFalse {
    #[inline(always)]
    fn call(self, a: bool) -> bool {
        !a
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        kernel.not(a)
    }
}

/// A constant, whatever the input.
#[derive(Clone, Copy)]
struct Always(bool);
impl Map1<bool, bool> for Always {
    #[inline(always)]
    fn call(self, _: bool) -> bool {
        self.0
    }
    fn text(&self, kernel: &mut Kernel, _: Value) -> Value {
        kernel.parameter(self.0)
    }
}

/// The kernels of this file, for the test of their text.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, bool, bool>("is_false", IsFalse);
    suite.one::<_, bool, bool>("always", Always(true));
}
