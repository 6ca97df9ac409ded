//! `repeat_interleave` by counts on a GPU: the ends of the repeats of each position are cumulative sums, in which each position of the
//! result is searched.

use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::ops::reduce::Extreme;
use crate::ops::scan::RunningSum;
use crate::storage::View;
use crate::tensor::{checked_numel, selected};

const OP: &str = "repeat_interleave";

impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Each position of an axis repeated by a list of at least one count.
    pub(super) fn interleaved_by(&self, counts: &Erased<'_, i64, D>, Axis(axis): Axis) -> Result<Owned<E, D>> {
        let counts = counts.view();
        let (beside, list) = (Some(counts.buffer), counts.sizes);
        let [len] = *list else { return invalid(OP, "the counts are a list".to_owned()) };
        let ends = D::lanes::<i64, i64>(RunningSum, counts.restrided(list, counts.strides), 0)?;
        let ends = View::<_, i64>::new(&ends, 0, list, &[1]);
        // No count is negative; nor is any sum, unless it overflowed.
        let least = |of: View<'_, D::Storage, i64>| D::reduce::<i64, _>(Extreme::<i64, false>::new(), of, 1);
        let (count, end) = (least(counts.restrided(list, counts.strides))?, least(ends.restrided(list, &[1]))?);
        let total = View::<_, i64>::new(ends.buffer, len - 1, &[1], &[1]);
        let [count, end] = [&count, &end].map(|of| View::<_, i64>::new(of, 0, &[1], &[1]));
        let known = D::join(&[count, end, total], 0, &[3], &[1])?;
        let known = D::download(View::<_, i64>::new(&known, 0, &[3], &[1]))?;
        let (Some(&count), Some(&end), Some(&total)) = (known.first(), known.get(1), known.get(2)) else {
            return Err(Error::NoData { op: OP });
        };
        if count < 0 {
            let first = D::download(counts)?.into_iter().find(|&count| count < 0).unwrap_or(count);
            return invalid(OP, format!("the count {first} is negative"));
        }
        let mut sizes = self.dims();
        match usize::try_from(total) {
            Ok(total) if end >= 0 => sizes[axis] = total,
            _ => return Err(Error::TooLarge { op: OP, sizes: (&*sizes).into() }),
        }
        checked_numel::<E>(OP, &sizes)?;
        let places = D::iota(beside, sizes[axis])?;
        let length = [sizes[axis]];
        let index = D::search(ends, View::<_, i64>::new(&places, 0, &length, &[1]), true)?;
        Ok(Erased::dense(selected::<E, D>(OP, self.view(), axis, &index, &sizes)?, sizes))
    }
}
