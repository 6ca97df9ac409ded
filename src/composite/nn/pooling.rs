//! Pooling over untyped views: the elements of each window are reduced to one number.
//!
//! Source: `aten/src/ATen/native/Pool.h`.

use crate::composite::nn::{Laid, expect_room};
#[cfg(feature = "grad")]
use crate::composite::normalization::back::{computed, rounded};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, On, Perhaps, Primitive, read};
#[cfg(feature = "grad")]
use crate::composite::{Erased, Owned};
#[cfg(feature = "grad")]
use crate::cpu::norm_back::Real;
#[cfg(feature = "grad")]
use crate::cpu::pool_back::{self, Planes};
use crate::device::Device;
#[cfg(feature = "grad")]
use crate::dtype::DType;
use crate::dtype::{Compute, Dtype, Element};
use crate::error::{Result, collected, filled, invalid, listed};
#[cfg(feature = "grad")]
use crate::layout::dims::Dims;
use crate::layout::memory_format::MemoryFormat;
use crate::layout::strides;
use crate::ops;
#[cfg(feature = "grad")]
use crate::ops::arguments::Indexing;
use crate::ops::kernel::{Combining, Copying};
use crate::ops::reduce::{ArgExtreme, Extreme, Mean, Reducer, Sum};
use crate::ops::segment::Segment;
use crate::ops::window::{Inside, Window};
use crate::shape::numel;
use crate::storage::View;
#[cfg(feature = "grad")]
use crate::storage::ViewMut;
use crate::tensor::checked_numel_of;

/// Channels that are worth being moved to the last axis.
const CHANNELS: usize = 16;

/// The options of pooling.
#[derive(Clone, Copy)]
pub(crate) struct Pooling<'a> {
    pub(crate) op: &'static str,
    /// The windows of the last axes.
    pub(crate) windows: &'a [Window],
    /// Whether the last window may extend beyond the padding: output sizes are rounded up.
    pub(crate) rounds_up: bool,
}

/// The elements of all windows: leading axes and window positions in the memory order of the result, then the positions in a window.
struct Seen<S> {
    /// The padded operand; `None` if no padding is needed.
    storage: Option<S>,
    sizes: Vec<usize>,
    strides: Vec<usize>,
    /// The number of axes that are positions in a window.
    positions: usize,
    /// The result's sizes, and its strides.
    result: [Vec<usize>; 2],
}

/// What is copied and seen to have the elements of all windows.
struct Seeing {
    /// The operand's sizes and strides in the memory order of the result, and the segments of its axes; `None` if it is not padded.
    padding: Option<([Vec<usize>; 2], Vec<Vec<Segment>>)>,
    sizes: Vec<usize>,
    strides: Vec<usize>,
    result: [Vec<usize>; 2],
}

impl Pooling<'_> {
    /// The sizes of the result, whose elements have this width: the operand has one or two axes in front of those of the windows.
    #[inline]
    fn sizes(&self, x: &[usize], width: usize) -> Result<Vec<usize>> {
        let (op, axes) = (self.op, self.windows.len());
        let lead = x.len().checked_sub(axes).filter(|lead| matches!(lead, 1 | 2));
        let Some(lead) = lead else {
            return invalid(op, format!("expected {} axes, or {} with a batch, got shape {x:?}", axes + 1, axes + 2));
        };
        if x[lead - 1..].contains(&0) {
            return invalid(op, format!("a tensor of shape {x:?} has nothing to pool: only the batch may be empty"));
        }
        let mut sizes = x.to_owned();
        for (at, window) in self.windows.iter().enumerate() {
            if window.before > window.span().unwrap_or(0) / 2 {
                let reason = format!("padding {} is more than half of a window of {}", window.before, window.kernel);
                return invalid(op, reason);
            }
            let size = &mut sizes[lead + at];
            let rounded_down = window.expect_places(op, *size);
            // With sizes rounded up, a window may be larger than the axis.
            *size = match window.places_rounded_up(*size) {
                Some(places) if self.rounds_up && places > 0 => places,
                _ => rounded_down?,
            };
        }
        checked_numel_of(op, &sizes, width)?;
        Ok(sizes)
    }

    /// The axes in the memory order of the result: channels-last stays channels-last.
    #[inline]
    fn order(&self, sizes: &[usize], strides: &[usize]) -> Result<Vec<usize>> {
        let rank = sizes.len();
        let last =
            rank == self.windows.len() + 2 && MemoryFormat::suggested(sizes, strides) != MemoryFormat::CONTIGUOUS;
        if last { listed([0].into_iter().chain(2..rank).chain([1])) } else { listed(0..rank) }
    }

    /// The elements of all windows, with `fill` in the padding.
    fn seen<E: Element, D: Device>(&self, x: View<'_, D::Storage, E>, fill: E) -> Result<Seen<D::Storage>> {
        let sizes = self.sizes(x.sizes, size_of::<E>())?;
        let order = self.order(x.sizes, x.strides)?;
        let plan = self.planned([x.sizes, x.strides], sizes, &order, D::has_data(x.buffer), size_of::<E>())?;
        let storage = match &plan.padding {
            Some(([of, steps], list)) => Some(D::pick::<E>(x.restrided(of, steps), list, fill)?),
            None => None,
        };
        let Seeing { sizes, strides, result, .. } = plan;
        Ok(Seen { storage, sizes, strides, positions: self.windows.len(), result })
    }

    /// What [`seen`](Self::seen) does. (Of sizes alone, so that it is compiled once for all dtypes; `inline`, so that only programs that use it compile it.)
    #[inline]
    fn planned(
        &self,
        [x_sizes, x_strides]: [&[usize]; 2],
        sizes: Vec<usize>,
        order: &[usize],
        has_data: bool,
        width: usize,
    ) -> Result<Seeing> {
        let op = self.op;
        let lead = x_sizes.len() - self.windows.len();
        let window = |axis: usize| axis.checked_sub(lead).map(|at| self.windows[at]);
        let (mut own, mut steps) = (x_sizes.to_owned(), x_strides.to_owned());
        let mut list: Vec<Vec<Segment>> = vec![];
        let mut is_padded = false;
        let mut moved = self.windows.to_owned();
        for &axis in order {
            let size = x_sizes[axis];
            let mut parts = vec![Segment::whole(size)];
            if let Some(window) = window(axis) {
                let copy = window.with_padding(op, size, sizes[axis], has_data)?;
                is_padded |= copy.parts != parts;
                (parts, own[axis], moved[axis - lead]) = (copy.parts, copy.len, copy.window);
            }
            list.push(parts);
        }
        checked_numel_of(op, &own, width)?;
        let of = |from: &[usize]| listed(order.iter().map(|&axis| from[axis]));
        let mut padding = None;
        if is_padded {
            let padded = strides::row_major(&of(&own)?);
            order.iter().zip(padded).for_each(|(&axis, stride)| steps[axis] = stride);
            padding = Some(([of(x_sizes)?, of(x_strides)?], list));
        }
        let stride = |axis: usize| steps[axis] * window(axis).map_or(1, |_| moved[axis - lead].stride);
        let mut seen_sizes = of(&sizes)?;
        let mut seen_strides = listed(order.iter().map(|&axis| stride(axis)))?;
        for (at, window) in moved.iter().enumerate() {
            seen_sizes.push(window.kernel);
            seen_strides.push(window.dilation * steps[lead + at]);
        }
        let result_strides = strides_in(order, &sizes)?;
        Ok(Seeing { padding, sizes: seen_sizes, strides: seen_strides, result: [sizes, result_strides] })
    }

    fn reduced<E: Element, D: Device, R: Reducer<E>>(
        &self,
        reducer: R,
        x: View<'_, D::Storage, E>,
        fill: E,
    ) -> Result<Laid<D::Storage>> {
        if let Some(pooled) = self.pooled::<E, D, R>(reducer, x)? {
            return Ok(pooled);
        }
        let seen = self.seen::<E, D>(x, fill)?;
        let storage = D::reduce::<E, R>(reducer, seen.view(x), seen.mask())?;
        let [sizes, strides] = seen.result;
        Ok((storage, sizes, strides))
    }

    /// The pooled result by the device's own loop, if it has one and channels are last.
    fn pooled<E: Element, D: Device, R: Reducer<E>>(
        &self,
        reducer: R,
        x: View<'_, D::Storage, E>,
    ) -> Result<Option<Laid<D::Storage>>> {
        let order = self.order(x.sizes, x.strides)?;
        if order.last() != Some(&1) {
            return Ok(None);
        }
        let sizes = self.sizes(x.sizes, size_of::<E>())?;
        // (N, D, H, W, C): axes that the operand lacks have size 1.
        let lacking = 3 - self.windows.len();
        let five = |of: &[usize], missing: usize| {
            let mut list = [missing; 5];
            list[0] = of[0];
            list[1 + lacking..].iter_mut().zip(&order[1..]).for_each(|(to, &axis)| *to = of[axis]);
            list
        };
        let mut windows = [Window::POINT; 3];
        windows[lacking..].copy_from_slice(self.windows);
        let places = five(&sizes, 1);
        let places = core::array::from_fn(|axis| places[axis + 1]);
        let pooled = D::pool::<E, R>(reducer, &windows, x.restrided(&five(x.sizes, 1), &five(x.strides, 0)), places)?;
        let strides = strides_in(&order, &sizes)?;
        Ok(pooled.map(|storage| (storage, sizes, strides)))
    }

    /// The largest element of each window.
    pub(crate) fn largest<E: Dtype, D: Device>(&self, x: View<'_, D::Storage, E>) -> Result<Laid<D::Storage>> {
        #[cfg(feature = "grad")]
        if D::is_tracked(x.buffer) && D::is_on_host(Some(x.buffer)) {
            let Pooling { op, windows, rounds_up } = *self;
            let windows = listed(windows.iter().copied())?;
            let step = Largest::<E> { op, windows, rounds_up, dtype: core::marker::PhantomData };
            let (y,) = D::primitive(&step, (Erased::of(x),))?;
            let (storage, _, sizes, strides) = y.into_parts();
            return Ok((storage, listed(sizes.iter().copied())?, listed(strides.iter().copied())?));
        }
        #[cfg(feature = "grad")]
        if D::is_tracked(x.buffer) {
            // Of several largest elements one has the gradient, as in PyTorch.
            let seen = self.seen::<E, D>(x, lowest::<E>())?;
            let [_, values] = D::reduce_both::<E, _>(ArgExtreme::<E, true>::new(), seen.view(x), seen.mask())?;
            let [sizes, strides] = seen.result;
            return Ok((values, sizes, strides));
        }
        self.largest_of::<E, D>(x)
    }

    /// The same, as no tape sees it.
    fn largest_of<E: Dtype, D: Device>(&self, x: View<'_, D::Storage, E>) -> Result<Laid<D::Storage>> {
        let extreme = Extreme::<E, true>::new();
        let lead = x.sizes.len().saturating_sub(self.windows.len());
        if lead == 2 && x.sizes[1] >= CHANNELS && D::is_on_host(Some(x.buffer)) && D::has_data(x.buffer) {
            // Many channels at once are so much faster that moving them there and back pays.
            let order: Vec<usize> = listed([0].into_iter().chain(2..x.sizes.len()).chain([1]))?;
            let last = strides_in(&order, x.sizes)?;
            if self.order(x.sizes, x.strides)?.last() != Some(&1) {
                let moved = D::map1::<E, E>(Copying, x, &last)?;
                if let Some((pooled, sizes, own)) =
                    self.pooled::<E, D, _>(extreme, View::new(&moved, 0, x.sizes, &last))?
                {
                    let strides = strides::row_major(&sizes);
                    let pooled = D::map1::<E, E>(Copying, View::new(&pooled, 0, &sizes, &own), &strides)?;
                    return Ok((pooled, sizes, strides));
                }
            }
        }
        self.reduced::<E, D, _>(extreme, x, lowest::<E>())
    }

    /// The largest element of each window, and its index among the operand's positions: row-major over the axes of the windows.
    pub(crate) fn largest_with_index<E: Dtype, D: Device>(
        &self,
        x: View<'_, D::Storage, E>,
    ) -> Result<[Laid<D::Storage>; 2]> {
        let seen = self.seen::<E, D>(x, lowest::<E>())?;
        let [places, values] = D::reduce_both::<E, _>(ArgExtreme::<E, true>::new(), seen.view(x), seen.mask())?;
        let [sizes, strides] = &seen.result;
        let axes = self.windows.len();
        let lead = x.sizes.len() - axes;
        let order: Vec<usize> = {
            let mut order = listed(0..sizes.len())?;
            order.sort_by_key(|&axis| core::cmp::Reverse((strides[axis], sizes[axis])));
            order
        };
        let laid_sizes = listed(order.iter().map(|&axis| sizes[axis]))?;
        let own = strides::row_major(&laid_sizes);
        let index = if D::has_data(&places) {
            let mut list = D::download::<i64>(View::new(&places, 0, &laid_sizes, &own))?;
            let is_nan = |x: &E| x.to_compute() != x.to_compute();
            let largest = if const { E::DTYPE.is_floating_point() } {
                D::download::<E>(View::new(&values, 0, &laid_sizes, &own))?
            } else {
                vec![]
            };
            let elements = if largest.iter().any(is_nan) { D::download::<E>(x)? } else { vec![] };
            let steps = strides::row_major(x.sizes);
            for (at, index) in list.iter_mut().enumerate() {
                let coordinate = |axis: usize| at / strides[axis].max(1) % sizes[axis];
                let seen = |axis: usize| self.windows[axis].inside(coordinate(lead + axis), x.sizes[lead + axis]);
                if largest.get(at).is_some_and(is_nan) {
                    // Of several NaN PyTorch returns the index of the last one.
                    let plane: usize = (0..lead).map(|axis| coordinate(axis) * steps[axis]).sum();
                    let counts = listed((0..axes).map(seen))?;
                    let place = |number: usize| {
                        let (mut rest, mut flat) = (number, 0);
                        for axis in (0..axes).rev() {
                            let Inside { first, count, .. } = counts[axis];
                            flat += (first + rest % count * self.windows[axis].dilation) * steps[lead + axis];
                            rest /= count;
                        }
                        flat
                    };
                    let all = counts.iter().map(|inside| inside.count).product::<usize>();
                    let last = (0..all).rev().map(place).find(|&flat| is_nan(&elements[plane + flat]));
                    *index = last.unwrap_or(0) as i64;
                    continue;
                }
                let (mut within, mut flat, mut step) = (*index as usize, 0, 1);
                for axis in (0..axes).rev() {
                    let (window, size) = (self.windows[axis], x.sizes[lead + axis]);
                    // If all elements are the lowest number, the first one may be padding.
                    let position = (within % window.kernel).max(seen(axis).skipped);
                    within /= window.kernel;
                    let at = coordinate(lead + axis) * window.stride + position * window.dilation;
                    flat += (at - window.before).min(size - 1) * step;
                    step *= size;
                }
                *index = flat as i64;
            }
            D::build::<i64>(Some(&places), || Ok(list))?
        } else {
            places
        };
        Ok([(values, sizes.clone(), strides.clone()), (index, sizes.clone(), strides.clone())])
    }

    /// The mean of each window: over all its elements, or without padding, or the sum divided by a given number.
    pub(crate) fn mean<E: Dtype, D: Device>(
        &self,
        x: View<'_, D::Storage, E>,
        counts_padding: bool,
        divisor: Option<i64>,
    ) -> Result<Laid<D::Storage>> {
        let sizes = self.sizes(x.sizes, size_of::<E>())?;
        expect_room::<E, D>(x.buffer, &sizes)?;
        let lead = x.sizes.len() - self.windows.len();
        // The number of elements along each axis that count for a window.
        let counts = collected(self.windows.iter().enumerate().map(|(at, window)| {
            let (size, padded) = (x.sizes[lead + at], window.before + x.sizes[lead + at] + window.after);
            let count = |place: usize| {
                let (start, end) = (place * window.stride, (place * window.stride + window.kernel).min(padded));
                let inside = end.min(window.before + size).saturating_sub(start.max(window.before));
                if counts_padding { end - start } else { inside }
            };
            if D::has_data(x.buffer) { listed((0..sizes[lead + at]).map(count)) } else { Ok(vec![]) }
        }))?;
        let is_whole =
            self.windows.iter().zip(&counts).all(|(window, list)| list.iter().all(|&count| count == window.kernel));
        if const { E::DTYPE.is_floating_point() } && divisor.is_none() && is_whole {
            return self.reduced::<E, D, _>(Mean, x, E::default());
        }
        let (sum, sizes, own) = self.summed::<E, D>(x)?;
        // The divisors, as a tensor over the window positions.
        let places = &sizes[lead..];
        let steps = strides::row_major(places);
        let divisors = D::build::<E>(Some(x.buffer), || {
            let count = numel(places).unwrap_or(0);
            listed((0..count).map(|at| {
                let of = |(axis, list): (usize, &Vec<usize>)| list[at / steps[axis] % places[axis]];
                let count = counts.iter().enumerate().map(of).product::<usize>() as i64;
                E::from_i64(divisor.unwrap_or(count))
            }))
        })?;
        let mut spread = filled(0, lead)?;
        spread.extend(steps.iter().zip(places).map(|(&step, &size)| if size == 1 { 0 } else { step }));
        let left = View::<_, E>::new(&sum, 0, &sizes, &own);
        let right = View::<_, E>::new(&divisors, 0, &sizes, &spread);
        let storage = if const { E::DTYPE.is_floating_point() } {
            D::map2::<E, E, E>(Combining::<ops::div, E>::new(), left, right, &own)?
        } else {
            D::map2::<E, E, E>(Combining::<ops::trunc_divide, E>::new(), left, right, &own)?
        };
        Ok((storage, sizes, own))
    }

    /// The sum of each window, in the dtype of the operand.
    pub(crate) fn summed<E: Dtype, D: Device>(&self, x: View<'_, D::Storage, E>) -> Result<Laid<D::Storage>> {
        // The sums of all pooled dtypes have the same dtype.
        self.reduced::<E, D, _>(Sum, x, E::default())
    }
}

impl<S> Seen<S> {
    fn view<'a, E: Element>(&'a self, x: View<'a, S, E>) -> View<'a, S, E> {
        match &self.storage {
            Some(storage) => View::new(storage, 0, &self.sizes, &self.strides),
            None => View::new(x.buffer, x.offset, &self.sizes, &self.strides),
        }
    }

    /// The axes of the positions in a window, as a bit mask.
    fn mask(&self) -> u32 {
        let rank = self.sizes.len();
        ((1 << self.positions) - 1) << (rank - self.positions)
    }
}

/// The strides of a tensor with its axes in this memory order.
fn strides_in(order: &[usize], sizes: &[usize]) -> Result<Vec<usize>> {
    let laid = listed(order.iter().map(|&axis| sizes[axis]))?;
    let mut strides = filled(0, sizes.len())?;
    order.iter().zip(strides::row_major(&laid)).for_each(|(&axis, stride)| strides[axis] = stride);
    Ok(strides)
}

/// The lowest element of a dtype.
fn lowest<E: Dtype>() -> E {
    E::from_compute(E::Compute::default().unary::<ops::reduce::ExtremeOfTwo<true>>())
}

/// The largest element of each window, on the host.
#[cfg(feature = "grad")]
#[derive(Clone)]
struct Largest<E> {
    op: &'static str,
    windows: Vec<Window>,
    rounds_up: bool,
    dtype: core::marker::PhantomData<fn() -> E>,
}
#[cfg(feature = "grad")]
impl<E> Largest<E> {
    fn pooling(&self) -> Pooling<'_> {
        Pooling { op: self.op, windows: &self.windows, rounds_up: self.rounds_up }
    }
}
#[cfg(feature = "grad")]
impl<E: Dtype> Primitive for Largest<E> {
    type Operands = (E,);
    type Results = (E,);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E,), D>> {
        let (storage, sizes, strides) = self.pooling().largest_of::<E, D>(x.view())?;
        Ok((Erased::fresh(storage, Dims::known(&sizes), Dims::known(&strides)),))
    }

    const READS: [u32; 2] = [1, 1];
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let op = self.op;
        let Some(g) = &back.g.0 else { return Ok((None,)) };
        let (x, y) = (computed(op, read(&back.x.0)?)?, computed(op, read(&back.y.0)?)?);
        let g = computed(op, g)?;
        if g.is_empty() {
            return Ok((None,));
        }
        let found = if const { matches!(<E::Compute as Element>::DTYPE, DType::F32) } {
            self.on_host::<f32, D>([&x.known_as(), &y.known_as(), &g.known_as()])?.map(Erased::retyped)
        } else if const { matches!(<E::Compute as Element>::DTYPE, DType::F64) } {
            self.on_host::<f64, D>([&x.known_as(), &y.known_as(), &g.known_as()])?.map(Erased::retyped)
        } else {
            None
        };
        if let Some(found) = found {
            return Ok((Some(rounded(op, found)?),));
        }
        // By the index of each largest element.
        let [_, (index, sizes, strides)] = self.pooling().largest_with_index::<E::Compute, D>(x.view())?;
        let index = Owned::<i64, D>::fresh(index, Dims::known(&sizes), Dims::known(&strides));
        let lead: usize = sizes[..sizes.len() - self.windows.len()].iter().product();
        let each = g.numel() / lead;
        let (index, g) = (index.reshape(op, &[lead, each])?, g.reshape(op, &[lead, each])?);
        let plane = [lead, x.numel() / lead];
        let mut d = D::zeroed::<E::Compute>(Some(g.storage()), x.numel())?;
        let adding = Combining::<ops::add, E::Compute>::new();
        let steps = [plane[1], 1];
        let out = ViewMut::new(&mut d, 0, &plane, &steps);
        D::scatter_with(Indexing { op, axis: 1, wraps: false }, adding, index.view(), g.view(), out)?;
        Ok((Some(rounded(op, Erased::dense(d, x.dims()))?),))
    }
}
#[cfg(feature = "grad")]
impl<E: Dtype> Largest<E> {
    /// The gradient in one pass, if all of it is memory of the host.
    fn on_host<T: Real + Dtype, D: Device>(&self, [x, y, g]: [&Erased<'_, T, D>; 3]) -> Result<Option<Owned<T, D>>> {
        let (axes, rank) = (self.windows.len(), x.rank());
        let lead = rank - axes;
        let is_last = lead == 2 && y.sizes()[1] > 1 && y.strides()[1] == 1;
        // Both row-major, or both with the channels last.
        let order = listed([0].into_iter().chain(2..rank).chain([1]))?;
        let laid = |of: &Erased<'_, T, D>| -> Result<Dims> {
            Ok(if is_last { Dims::known(&strides_in(&order, of.sizes())?) } else { of.dims().row_major() })
        };
        let (strides, expected) = (laid(x)?, laid(y)?);
        if (0..rank).any(|axis| y.sizes()[axis] > 1 && y.strides()[axis] != expected[axis]) {
            return Ok(None);
        }
        let copied;
        let x = if *strides == *x.strides() {
            x
        } else {
            copied = Owned::<T, D>::fresh(D::map1::<T, T>(Copying, x.view(), &strides)?, x.dims(), strides);
            &copied
        };
        let (Some(elements), Some(largest), Some(gradients)) = (x.on_host(), y.on_host(), g.on_host()) else {
            return Ok(None);
        };
        let mut windows = [Window::POINT; 3];
        windows[3 - axes..].copy_from_slice(&self.windows);
        let three = |of: &[usize]| {
            let mut three = [1; 3];
            three[3 - axes..].copy_from_slice(&of[lead..]);
            three
        };
        let lanes = if is_last { x.sizes()[1] } else { 1 };
        let (sizes, places) = (three(x.sizes()), three(y.sizes()));
        let d = pool_back::largest(Planes { x: elements, y: largest, g: gradients, windows, sizes, places, lanes })?;
        Erased::of_host(d, x.dims(), strides).map(Some)
    }
}
