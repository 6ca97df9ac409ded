//! Adaptive pooling: axes are divided into windows of nearly equal size, and each window is reduced to one number.
//!
//! Source: `torch.nn.functional.adaptive_max_pool2d`, `adaptive_avg_pool2d` and their kin; `aten/src/ATen/native/AdaptivePooling.h`.

use super::laid;
use crate::composite::nn::pooling::Pooling;
use crate::composite::nn::{Laid, expect_room};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, filled, invalid, listed, room};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::kernel::Combining;
use crate::ops::segment::Segment;
use crate::ops::window::Window;
use crate::shape::{KnownShape, Resized, numel};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::composites;

/// The start and end of window `at` of `places` in an adaptive pooling over one axis.
fn part(at: usize, places: usize, size: usize) -> [usize; 2] {
    [at * size / places, ((at + 1) * size).div_ceil(places)]
}

/// The operand with its windows along the last axes copied one after the other and padded to the longest, and the windows over this copy.
struct Parts<S> {
    /// `None` if all windows have one size: then it is the operand itself.
    storage: Option<S>,
    sizes: Vec<usize>,
    strides: Vec<usize>,
    windows: Vec<Window>,
}

impl<S> Parts<S> {
    fn view<'a, E: Element>(&'a self, x: View<'a, S, E>) -> View<'a, S, E> {
        self.storage.as_ref().map_or(x, |storage| View::new(storage, 0, &self.sizes, &self.strides))
    }
}

/// The padding of windows that are shorter than others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filler {
    /// By zeros.
    Zeros,
    /// By their last element.
    Last,
}

fn parts<E: Element, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    places: &[usize],
    filler: Filler,
) -> Result<Parts<D::Storage>> {
    let axes = places.len();
    let lead = x.sizes.len().checked_sub(axes).filter(|lead| matches!(lead, 1 | 2));
    let Some(lead) = lead else {
        return invalid(
            op,
            format!("expected {} axes, or {} with a batch, got shape {:?}", axes + 1, axes + 2, x.sizes),
        );
    };
    if x.sizes[lead - 1..].contains(&0) {
        return invalid(
            op,
            format!("a tensor of shape {:?} has nothing to pool: only the batch may be empty", x.sizes),
        );
    }
    expect_room::<E, D>(x.buffer, &[&x.sizes[..lead], places].concat())?;
    let mut list = listed(x.sizes.iter().map(|&size| vec![Segment::whole(size)]))?;
    let (mut sizes, mut windows) = (x.sizes.to_owned(), vec![]);
    let mut is_whole = true;
    for (axis, &count) in places.iter().enumerate() {
        let size = x.sizes[lead + axis];
        let too_large = || Error::TooLarge { op, sizes: x.sizes.into() };
        count.checked_add(1).and_then(|count| count.checked_mul(size)).ok_or_else(too_large)?;
        let longest = if size % count.max(1) == 0 { size / count.max(1) } else { size / count + 2 };
        let bounds = |at: usize| part(at, count, size);
        let kernel = if D::has_data(x.buffer) {
            (0..count).map(|at| bounds(at)[1] - bounds(at)[0]).max().unwrap_or(1)
        } else {
            longest
        };
        windows.push(Window { kernel, stride: kernel.max(1), dilation: 1, before: 0, after: 0 });
        sizes[lead + axis] = count.checked_mul(kernel).ok_or_else(too_large)?;
        if sizes[lead + axis] != size || count * kernel != size {
            is_whole = false;
        }
        if D::has_data(x.buffer) && count * kernel != size {
            let mut segments = room(count.saturating_mul(2))?;
            for at in 0..count {
                let [start, end] = bounds(at);
                let less = kernel - (end - start);
                let rest = match filler {
                    Filler::Zeros => Segment::Fill { len: less },
                    Filler::Last => Segment::Each { start: end - 1, len: usize::from(less > 0), times: less.max(1) },
                };
                segments.extend([Segment::Forward { start, len: end - start }, rest]);
            }
            list[lead + axis] = segments;
        }
    }
    checked_numel::<E>(op, &sizes)?;
    let storage = if is_whole { None } else { Some(D::pick::<E>(x, &list, E::default())?) };
    let strides = strides::row_major(&sizes);
    Ok(Parts { storage, sizes, strides, windows })
}

/// Adaptive max pooling over the last axes; `places` are their output sizes.
pub(crate) fn adaptive_largest<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    places: &[usize],
) -> Result<Laid<D::Storage>> {
    if places.contains(&0) {
        return empty::<E, D>(op, x, places);
    }
    let parts = parts::<E, D>(op, x, places, Filler::Last)?;
    Pooling { op, windows: &parts.windows, rounds_up: false }.largest::<E, D>(parts.view(x))
}

/// [`adaptive_largest`], and the index of each element among the operand's positions.
#[cfg(feature = "any")]
pub(crate) fn adaptive_largest_with_index<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    places: &[usize],
) -> Result<[Laid<D::Storage>; 2]> {
    if places.contains(&0) {
        let of = || empty::<E, D>(op, x, places);
        return Ok([of()?, of()?]);
    }
    let parts = parts::<E, D>(op, x, places, Filler::Last)?;
    let windows = &parts.windows;
    let pooling = Pooling { op, windows, rounds_up: false };
    let [values, (index, of, steps)] = pooling.largest_with_index::<E, D>(parts.view(x))?;
    if !D::has_data(&index) {
        return Ok([values, (index, of, steps)]);
    }
    // From positions in the padded windows to the operand's.
    let lead = x.sizes.len() - places.len();
    let mut list = D::download::<i64>(View::new(&index, 0, &of, &steps))?;
    for index in &mut list {
        let (mut rest, mut flat, mut step) = (*index as usize, 0, 1);
        for axis in (0..places.len()).rev() {
            let (count, size, kernel) = (places[axis], x.sizes[lead + axis], windows[axis].kernel);
            let at = rest % (count * kernel);
            rest /= count * kernel;
            let [start, end] = part(at / kernel, count, size);
            flat += (start + at % kernel).min(end - 1) * step;
            step *= size;
        }
        *index = flat as i64;
    }
    let row_major = strides::row_major(&of);
    let index = D::build::<i64>(Some(&index), || Ok(list))?;
    Ok([values, (index, of, row_major)])
}

/// Adaptive average pooling over the last axes; `places` are their output sizes.
pub(crate) fn adaptive_mean<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    places: &[usize],
) -> Result<Laid<D::Storage>> {
    if places.contains(&0) {
        return empty::<E, D>(op, x, places);
    }
    let lead = x.sizes.len() - places.len().min(x.sizes.len());
    let parts = parts::<E, D>(op, x, places, Filler::Zeros)?;
    let (view, pooling) = (parts.view(x), Pooling { op, windows: &parts.windows, rounds_up: false });
    let is_whole = places.iter().zip(&x.sizes[lead..]).all(|(&count, &size)| size % count == 0);
    if is_whole {
        return pooling.mean::<E, D>(view, true, None);
    }
    let (sum, of, steps) = pooling.summed::<E, D>(view)?;
    let grid = strides::row_major(places);
    let divisors = D::build::<E>(Some(x.buffer), || {
        listed((0..numel(places).unwrap_or(0)).map(|at| {
            let len = |axis: usize| {
                let [start, end] = part(at / grid[axis] % places[axis], places[axis], x.sizes[lead + axis]);
                end - start
            };
            E::from_i64((0..places.len()).map(len).product::<usize>() as i64)
        }))
    })?;
    let mut spread = filled(0, lead)?;
    spread.extend(grid.iter().zip(places).map(|(&step, &size)| if size == 1 { 0 } else { step }));
    let (left, right) = (View::<_, E>::new(&sum, 0, &of, &steps), View::<_, E>::new(&divisors, 0, &of, &spread));
    let storage = D::map2::<E, E, E>(Combining::<ops::div, E>::new(), left, right, &steps)?;
    Ok((storage, of, steps))
}

fn empty<E: Element, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    places: &[usize],
) -> Result<Laid<D::Storage>> {
    let lead = x.sizes.len().checked_sub(places.len()).filter(|lead| matches!(lead, 1 | 2));
    let Some(lead) = lead else { return invalid(op, format!("a tensor of shape {:?} can't be pooled", x.sizes)) };
    let sizes = [&x.sizes[..lead], places].concat();
    let own = strides::row_major(&sizes);
    Ok((D::zeroed::<E>(Some(x.buffer), 0)?, sizes, own))
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The largest element of each part of the last axes, RANK of them, each divided into parts of nearly equal size; for a
    /// `Tensor` the shape `R` says how many.
    ///
    /// # Errors
    /// If an axis other than the batch is empty.
    #[each(
        RANK = 1 2 3,
        OPERAND = [[1.0, 5.0, 2.0]] [[[1.0, 5.0, 2.0]]] [[[[1.0, 5.0, 2.0]]]],
        PARTS = [2] [1, 2] [1, 1, 2],
        RESULT = [[5.0, 5.0]] [[[5.0, 5.0]]] [[[[5.0, 5.0]]]]
    )]
    #[op(nn.functional.adaptive_max_poolRANKd, dtypes = float)]
    #[any(places(places: [usize; RANK]) = &places)]
    #[typed(<R: KnownShape>(&self) -> Tensor<E, <S as Resized<R>>::Output, D>
        where
            E: FloatFor<ops::reduce::pooling>,
            S: Resized<R>;
        places = R::SIZES.as_ref())]
    #[example(let x = tensor!OPERAND; x.adaptive_max_poolRANKd::<shape!PARTS>(), x.adaptive_max_poolRANKd(PARTS), tensor!RESULT)]
    pub(crate) fn adaptive_max_poolRANKd(&self, places: &[usize]) -> Result<Owned<E, D>> {
        adaptive_largest::<E, D>("adaptive_max_poolRANKd", self.view(), places).map(laid)
    }

    /// The mean of each part of the last axes, RANK of them, each divided into parts of nearly equal size; for a `Tensor` the
    /// shape `R` says how many.
    ///
    /// # Errors
    /// If an axis other than the batch is empty.
    #[each(
        RANK = 1 2 3,
        OPERAND = [[1.0, 5.0, 2.0]] [[[1.0, 5.0, 2.0]]] [[[[1.0, 5.0, 2.0]]]],
        PARTS = [2] [1, 2] [1, 1, 2],
        RESULT = [[3.0, 3.5]] [[[3.0, 3.5]]] [[[[3.0, 3.5]]]]
    )]
    #[op(nn.functional.adaptive_avg_poolRANKd, dtypes = float)]
    #[any(places(places: [usize; RANK]) = &places)]
    #[typed(<R: KnownShape>(&self) -> Tensor<E, <S as Resized<R>>::Output, D>
        where
            E: FloatFor<ops::reduce::pooling>,
            S: Resized<R>;
        places = R::SIZES.as_ref())]
    #[example(let x = tensor!OPERAND; x.adaptive_avg_poolRANKd::<shape!PARTS>(), x.adaptive_avg_poolRANKd(PARTS), tensor!RESULT)]
    pub(crate) fn adaptive_avg_poolRANKd(&self, places: &[usize]) -> Result<Owned<E, D>> {
        adaptive_mean::<E, D>("adaptive_avg_poolRANKd", self.view(), places).map(laid)
    }
}
