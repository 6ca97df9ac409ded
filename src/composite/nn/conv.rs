//! Convolutions over one, two and three axes, and their transposes.
//!
//! Source: `torch.nn.functional.conv2d` and so on; `aten/src/ATen/native/Convolution.cpp`.

use super::pool::Kernel;
use super::{Laid, laid};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, invalid, listed, room};
use crate::layout::memory_format::MemoryFormat;
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::InexactFor;
use crate::ops::kernel::{Applying, Copying};
use crate::ops::segment::Segment;
use crate::ops::window::{Convolution, Window};
use crate::shape::{Conv, Convolved, Dim, EachAxis, Known, Moves, Product, Shape, Transposed, numel};
use crate::storage::View;
use crate::tensor::{Activation, Optional, SameDevice, SameDtype, Tensor, checked_numel_of};
use castiron_macros::composites;

/// The operands of a convolution.
pub(crate) struct Operands<'a, B, E> {
    pub(crate) op: &'static str,
    pub(crate) x: View<'a, B, E>,
    pub(crate) weight: View<'a, B, E>,
    pub(crate) bias: Option<View<'a, B, E>>,
}

/// Whether there is a batch axis; checks the rank.
fn batched<B>(op: &'static str, x: &[usize], axes: usize, from: B) -> Result<(bool, B)> {
    match x.len().checked_sub(axes) {
        Some(1) => Ok((false, from)),
        Some(2) => Ok((true, from)),
        _ => invalid(op, format!("expected {} axes, or {} with a batch, got shape {x:?}", axes + 1, axes + 2)),
    }
}

/// Sizes and strides with axes of size 1 inserted before those of the window, so that there are three of these.
pub(crate) fn five_axes(sizes: &[usize], strides: &[usize], is_batched: bool) -> [[usize; 5]; 2] {
    let (mut of, mut steps) = ([1; 5], [0; 5]);
    let (lead, skip) = if is_batched { (2, 0) } else { (1, 1) };
    let behind = sizes.len() - lead;
    for at in 0..lead {
        (of[skip + at], steps[skip + at]) = (sizes[at], strides[at]);
    }
    for at in 0..behind {
        (of[5 - behind + at], steps[5 - behind + at]) = (sizes[lead + at], strides[lead + at]);
    }
    [of, steps]
}

/// One to three windows extended to three, and `groups`.
fn convolution(windows: &[Window], groups: usize) -> Convolution {
    let mut three = [Window::POINT; 3];
    three[3 - windows.len()..].copy_from_slice(windows);
    Convolution { windows: three, groups }
}

/// The axes of a copied operand as segments, and the sizes of the copy.
type Copied = Option<([Vec<Segment>; 5], [usize; 5])>;

/// Reduces strides, dilations and padding to those that matter for the sizes. If windows read few positions of an axis, it is copied with
/// the windows [side by side](Window::side_by_side).
#[inline]
fn side_by_side(
    convolution: &mut Convolution,
    x_sizes: &[usize; 5],
    out_sizes: &[usize; 5],
    has_data: bool,
) -> Result<Copied> {
    let mut laid: Copied = None;
    if out_sizes.contains(&0) {
        return Ok(None);
    }
    for (at, window) in convolution.windows.iter_mut().enumerate() {
        let (len, places) = (x_sizes[at + 2], out_sizes[at + 2]);
        *window = window.reduced(len, places);
        if let Some(copy) = window.axis_side_by_side(len, places, has_data)? {
            let (axes, sizes) = laid.get_or_insert_with(|| (x_sizes.map(|size| vec![Segment::whole(size)]), *x_sizes));
            (axes[at + 2], sizes[at + 2], *window) = (copy.parts, copy.len, copy.window);
        }
    }
    if let Some((_, sizes)) = &laid
        && numel(sizes).is_none()
    {
        return Err(Error::TooLarge { op: "convolution", sizes: sizes[..].into() });
    }
    Ok(laid)
}

/// The sizes and strides of a convolution: of the result, and with five axes.
struct Planned {
    sizes: Vec<usize>,
    strides: Vec<usize>,
    x: [[usize; 5]; 2],
    weight: [[usize; 5]; 2],
    out: [[usize; 5]; 2],
}
impl Planned {
    /// (Of sizes alone, so that it is compiled once for all dtypes; `inline`, so that only programs that use it compile it.)
    #[inline]
    fn of(
        op: &'static str,
        [x, weight]: [[&[usize]; 2]; 2],
        bias: Option<&[usize]>,
        windows: &[Window],
        groups: usize,
        width: usize,
    ) -> Result<Self> {
        let axes = windows.len();
        let ([x_sizes, x_strides], [w_sizes, w_strides]) = (x, weight);
        let (is_batched, ()) = batched(op, x_sizes, axes, ())?;
        if w_sizes.len() != axes + 2 {
            return invalid(op, format!("a weight of {} axes is wanted, got shape {w_sizes:?}", axes + 2));
        }
        let lead = usize::from(is_batched);
        let (channels, outputs) = (x_sizes[lead], w_sizes[0]);
        if groups == 0 || outputs % groups != 0 {
            return invalid(op, format!("{outputs} output channels can't be divided into {groups} groups"));
        }
        if w_sizes[1].checked_mul(groups) != Some(channels) {
            let reason = format!(
                "the input has {channels} channels, the weight takes {} in each group, of which there are {groups}",
                w_sizes[1]
            );
            return invalid(op, reason);
        }
        if w_sizes.contains(&0) && w_sizes[1] != 0 {
            return invalid(op, format!("a weight of shape {w_sizes:?} has no elements"));
        }
        if let Some(bias) = bias
            && bias != [outputs]
        {
            return Err(Error::Shape { op, expected: format!("[{outputs}]"), found: bias.into() });
        }
        let mut sizes = x_sizes.to_owned();
        sizes[lead] = outputs;
        for (at, window) in windows.iter().enumerate() {
            sizes[lead + 1 + at] = window.expect_places(op, x_sizes[lead + 1 + at])?;
        }
        checked_numel_of(op, &sizes, width)?;
        // The result is channels-last if one of the operands is.
        let suggested = |[sizes, strides]: [&[usize]; 2]| MemoryFormat::suggested(sizes, strides);
        let format = [suggested(x), suggested(weight)].into_iter().find(|&format| format != MemoryFormat::CONTIGUOUS);
        let row_major = strides::row_major(&sizes);
        let strides = match format {
            Some(format) if is_batched => format.copied(op, &sizes, &row_major)?,
            _ => row_major,
        };
        let mut out = five_axes(&sizes, &strides, is_batched);
        // An axis of size 1 that was added gets the stride that makes the result dense.
        let len = sizes.iter().product();
        let [out_sizes, out_strides] = &mut out;
        for (stride, &size) in out_strides.iter_mut().zip(&*out_sizes) {
            *stride = if size == 1 { len } else { *stride };
        }
        let (x, weight) = (five_axes(x_sizes, x_strides, is_batched), five_axes(w_sizes, w_strides, true));
        Ok(Planned { sizes, strides, x, weight, out })
    }
}

/// Checks the operands of a convolution and calls `run` with the operands extended to five axes, and the result's sizes and strides.
pub(crate) fn convolve<E: Dtype, D: Device>(
    Operands { op, x, weight, bias }: Operands<'_, D::Storage, E>,
    windows: &[Window],
    groups: usize,
    run: impl FnOnce(
        &Convolution,
        [View<'_, D::Storage, E>; 2],
        Option<View<'_, D::Storage, E>>,
        [&[usize]; 2],
    ) -> Result<D::Storage>,
) -> Result<Laid<D::Storage>> {
    let layouts = [[x.sizes, x.strides], [weight.sizes, weight.strides]];
    let bias_sizes = bias.as_ref().map(|bias| bias.sizes);
    let planned = Planned::of(op, layouts, bias_sizes, windows, groups, size_of::<E>())?;
    let x = x.restrided(&planned.x[0], &planned.x[1]);
    let weight = weight.restrided(&planned.weight[0], &planned.weight[1]);
    let mut convolution = convolution(windows, groups);
    let laid = side_by_side(&mut convolution, &planned.x[0], &planned.out[0], D::has_data(x.buffer))?;
    let picked = match &laid {
        Some((axes, sizes)) => Some((D::pick::<E>(x, axes, E::default())?, sizes, strides::row_major(sizes))),
        None => None,
    };
    let x = match &picked {
        Some((storage, sizes, strides)) => View::new(storage, 0, *sizes, strides),
        None => x,
    };
    let storage = run(&convolution, [x, weight], bias, [&planned.out[0], &planned.out[1]])?;
    Ok((storage, planned.sizes, planned.strides))
}

/// Calls `run` with a convolution, or with the product of matrices that it is: where there is one window per image, which covers the whole
/// image, and the numbers of an image and of the weight are in the same order in memory, these are the channels of images of one position.
/// (Not for packed weights, whose order is that of the window.)
fn as_product<E, B>(
    &Convolution { windows, groups }: &Convolution,
    [x, weight]: [View<'_, B, E>; 2],
    [sizes, strides]: [&[usize]; 2],
    run: impl FnOnce(&Convolution, [View<'_, B, E>; 2], [&[usize]; 2]) -> Result<B>,
) -> Result<B> {
    let covers = |axis: usize| {
        let window = windows[axis];
        (window.kernel, window.before, window.after, window.dilation) == (x.sizes[axis + 2], 0, 0, 1)
    };
    let is_whole = groups == 1 && sizes[2..] == [1; 3] && (0..3).all(covers) && !x.sizes.contains(&0);
    match is_whole.then(|| numbers_of_images(x.sizes, [x.strides, weight.strides])).flatten() {
        Some((count, [x_step, w_step])) => {
            let of = |first: usize, second: usize| [first, second, 1, 1, 1];
            let (x_sizes, x_strides) = (of(sizes[0], count), of(x.strides[0], x_step));
            let (w_sizes, w_strides) = (of(sizes[1], count), of(weight.strides[0], w_step));
            let convolution = Convolution { windows: [Window::POINT; 3], groups };
            let operands = [x.restrided(&x_sizes, &x_strides), weight.restrided(&w_sizes, &w_strides)];
            run(&convolution, operands, [&of(sizes[0], sizes[1]), &of(sizes[1], 1)])
        }
        None => run(&Convolution { windows, groups }, [x, weight], [sizes, strides]),
    }
}

/// How many numbers an image has, and the strides between them of the operand and the weight; `None` if these are not the same order.
#[inline]
fn numbers_of_images(sizes: &[usize], strides: [&[usize]; 2]) -> Option<(usize, [usize; 2])> {
    let mut axes = [1, 2, 3, 4];
    axes.sort_by_key(|&axis| (core::cmp::Reverse(strides[0][axis]), axis));
    let (mut count, mut steps) = (1_usize, None);
    for axis in axes.into_iter().rev().filter(|&axis| sizes[axis] != 1) {
        let own = strides.map(|strides| strides[axis]);
        let first: [usize; 2] = *steps.get_or_insert(own);
        if own.map(Some) != first.map(|step| step.checked_mul(count)) {
            return None;
        }
        count = count.checked_mul(sizes[axis])?;
    }
    Some((count, steps.unwrap_or([1; 2])))
}

/// [`convolve`] by the device's own loop.
pub(crate) fn plain<E: Dtype, D: Device>(
    operands: Operands<'_, D::Storage, E>,
    windows: &[Window],
    groups: usize,
) -> Result<Laid<D::Storage>> {
    convolve::<E, D>(operands, windows, groups, |convolution, operands, bias, result| {
        as_product(convolution, operands, result, |convolution, [x, weight], [sizes, strides]| {
            D::convolve::<E>(convolution, x, weight, bias, sizes, strides)
        })
    })
}

/// The segments of an axis whose positions are spread at a distance of `stride`, with zeros between, before and after them: positions `low`
/// to `high`.
fn spread(size: usize, stride: usize, low: i128, high: i128) -> Vec<Segment> {
    let mut list: Vec<Segment> = vec![];
    let (stride, last) = (stride as i128, (size as i128 - 1) * stride as i128);
    let mut at = low;
    while at < high {
        let next = match list.last_mut() {
            _ if at < 0 => Segment::Fill { len: (high.min(0) - at) as usize },
            _ if at > last => Segment::Fill { len: (high - at) as usize },
            _ if at % stride != 0 => Segment::Fill { len: (high.min(at + stride - at % stride) - at) as usize },
            // Consecutive positions are one segment.
            Some(Segment::Forward { len, .. }) => {
                *len += 1;
                at += 1;
                continue;
            }
            _ => Segment::Forward { start: (at / stride) as usize, len: 1 },
        };
        at += next.positions().unwrap_or(1) as i128;
        list.push(next);
    }
    list
}

/// The index of the element at a position, where elements are spread at a distance of `stride`; `None` for a zero.
fn spread_at(size: usize, stride: usize, at: i128) -> Option<usize> {
    let at = usize::try_from(at).ok()?;
    (at % stride == 0 && at / stride < size).then_some(at / stride)
}

/// The operand of a transposed convolution with zeros between its positions: the segments of its axes, its sizes, and the windows over it.
struct SpreadAxes {
    list: Vec<Vec<Segment>>,
    sizes: Vec<usize>,
    windows: Vec<Window>,
}
impl SpreadAxes {
    /// (Of sizes alone, so that it is compiled once for all dtypes, as is the weight's; `inline`, so that only programs that use it compile it.)
    #[inline]
    fn of(
        op: &'static str,
        (x_sizes, lead): (&[usize], usize),
        windows: &[Window],
        output_padding: &[usize],
        (has_data, width): (bool, usize),
    ) -> Result<Self> {
        let too_large = || Error::TooLarge { op, sizes: x_sizes.into() };
        let mut list = listed(x_sizes.iter().map(|&size| vec![Segment::whole(size)]))?;
        let mut sizes = x_sizes.to_owned();
        let mut moved = windows.to_owned();
        for (at, (window, &extra)) in windows.iter().zip(output_padding).enumerate() {
            if window.stride == 0 || window.dilation == 0 || extra >= window.stride.max(window.dilation) {
                let reason = format!(
                    "stride {}, dilation {} and output padding {extra}: the last must be smaller than one of the others, which are from 1 up",
                    window.stride, window.dilation
                );
                return invalid(op, reason);
            }
            let (axis, reach) = (lead + 1 + at, window.span().ok_or_else(too_large)? as i128 - 1);
            let low = window.before as i128 - reach;
            let end =
                (x_sizes[axis] as i128 - 1) * window.stride as i128 + 1 + reach - window.after as i128 + extra as i128;
            let places = end - low - reach;
            if places < 1 || x_sizes[axis] == 0 {
                return invalid(op, format!("axis {axis} of size {} is left with {places} places", x_sizes[axis]));
            }
            let places = usize::try_from(places).map_err(|_| too_large())?;
            moved[at] = Window { stride: 1, before: 0, after: 0, ..*window };
            // Windows may read few positions of a spread axis.
            let position = |at: usize| spread_at(x_sizes[axis], window.stride, low + at as i128);
            if let Some(copy) = moved[at].side_by_side(places, has_data, position)? {
                (list[axis], sizes[axis], moved[at]) = (copy.parts, copy.len, copy.window);
                checked_numel_of(op, &sizes, width)?;
                continue;
            }
            sizes[axis] = usize::try_from(end - low).map_err(|_| too_large())?;
            checked_numel_of(op, &sizes, width)?;
            if has_data {
                room::<u8>(sizes[axis].saturating_mul(width))?;
                list[axis] = spread(x_sizes[axis], window.stride, low, end);
            }
        }
        Ok(SpreadAxes { list, sizes, windows: moved })
    }
}

/// The weight of a transposed convolution as that of the convolution: the segments of its axes, which are turned round, and the copy's sizes
/// and strides with (groups, C, O) transposed to (groups, O, C), and its sizes then.
struct TurnedWeight {
    list: Vec<Vec<Segment>>,
    from: Vec<usize>,
    steps: Vec<usize>,
    sizes: Vec<usize>,
}
impl TurnedWeight {
    #[inline]
    fn of(sizes: &[usize], groups: usize, too_large: &dyn Fn() -> Error) -> Result<Self> {
        let mut list = listed(sizes.iter().map(|&size| vec![Segment::whole(size)]))?;
        for (list, &size) in list.iter_mut().zip(sizes).skip(2) {
            *list = vec![Segment::Backward { start: size.saturating_sub(1), len: size }];
        }
        let own = strides::row_major(sizes);
        let (per_group, outputs) = (sizes[0] / groups, sizes[1]);
        let mut from = vec![groups, outputs, per_group];
        from.extend(&sizes[2..]);
        let mut steps = vec![per_group * own[0], own[1], own[0]];
        steps.extend(&own[2..]);
        let mut of = vec![groups.checked_mul(outputs).ok_or_else(too_large)?, per_group];
        of.extend(&sizes[2..]);
        Ok(TurnedWeight { list, from, steps, sizes: of })
    }
}

/// The transposed convolution: the gradient of a convolution with respect to its input. It is computed as a convolution of the operand with
/// zeros between its positions, by the flipped kernel.
pub(crate) fn transposed<E: Dtype, D: Device>(
    Operands { op, x, weight, bias }: Operands<'_, D::Storage, E>,
    windows: &[Window],
    output_padding: &[usize],
    groups: usize,
) -> Result<Laid<D::Storage>> {
    let lead = expect_transposed(op, [x.sizes, weight.sizes], windows.len(), groups)?;
    let has_data = (D::has_data(x.buffer), size_of::<E>());
    let spread = SpreadAxes::of(op, (x.sizes, lead), windows, output_padding, has_data)?;
    let turned = TurnedWeight::of(weight.sizes, groups, &|| Error::TooLarge { op, sizes: x.sizes.into() })?;
    let storage = D::pick::<E>(x, &spread.list, E::default())?;
    let own = strides::row_major(&spread.sizes);
    let x = View::<_, E>::new(&storage, 0, &spread.sizes, &own);
    let storage = D::pick::<E>(weight, &turned.list, E::default())?;
    let view = View::new(&storage, 0, &turned.from, &turned.steps);
    let exchanged = D::map1::<E, E>(Copying, view, &strides::row_major(&turned.from))?;
    let own = strides::row_major(&turned.sizes);
    let weight = View::<_, E>::new(&exchanged, 0, &turned.sizes, &own);
    plain::<E, D>(Operands { op, x, weight, bias }, &spread.windows, groups)
}

/// Checks operand and weight of a transposed convolution; the axis of channels.
#[inline]
fn expect_transposed(
    op: &'static str,
    [x_sizes, weight_sizes]: [&[usize]; 2],
    axes: usize,
    groups: usize,
) -> Result<usize> {
    let (is_batched, ()) = batched(op, x_sizes, axes, ())?;
    if weight_sizes.len() != axes + 2 {
        return invalid(op, format!("a weight of {} axes is wanted, got shape {weight_sizes:?}", axes + 2));
    }
    let lead = usize::from(is_batched);
    let channels = x_sizes[lead];
    if weight_sizes[0] != channels {
        return invalid(op, format!("the input has {channels} channels, the weight takes {}", weight_sizes[0]));
    }
    if groups == 0 || channels % groups != 0 {
        return invalid(op, format!("{channels} channels can't be divided into {groups} groups"));
    }
    Ok(lead)
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The convolution over the last axes, RANK of them, as PyTorch defines it: the window of the weight is moved over the positions and
    /// products are summed over its own and over channels.
    ///
    /// `(N, C, …)` or `(C, …)` with a weight of `(O, C / groups, …)` gives `(N, O, …)` or `(O, …)`; of a `Tensor` the sizes behind are known
    /// to the compiler where the operands' are. All have one dtype, which is the result's. The result is channels-last if the input or the
    /// weight is, which is the fastest layout.
    ///
    /// On the host, 3 x 3 kernels of stride 1 or 2 are computed by Winograd's algorithm if there are many channels and positions, as are
    /// kernels of seven columns and stride 2 with at most four input channels and many output channels: there are fewer multiplications,
    /// and the error is of the order of that of the direct sum. An image's result does not depend on threads, nor on the others of its
    /// batch, unless these have results that are not finite: then all are computed directly, which rounds differently.
    ///
    /// # Errors
    /// If the channels do not match the weight, the groups do not divide them, or the window does not fit.
    #[each(
        RANK = 1 2 3,
        DIMS = (K: Dim) (KH: Dim, KW: Dim) (KD: Dim, KH: Dim, KW: Dim),
        KERNEL = (K) (KH, KW) (KD, KH, KW),
        OPERAND = [[1.0, 2.0, 3.0, 4.0]] [[[1.0, 2.0, 3.0, 4.0]]] [[[[1.0, 2.0, 3.0, 4.0]]]],
        WEIGHT = [[[1.0, 10.0]]] [[[[1.0, 10.0]]]] [[[[[1.0, 10.0]]]]],
        RESULT = [[1021.0, 1032.0, 1043.0]] [[[1021.0, 1032.0, 1043.0]]] [[[[1021.0, 1032.0, 1043.0]]]]
    )]
    #[op(nn.functional.convRANKd, dtypes = numeric, typed = inexact)]
    #[any(
        let () = self.expect_convolved("convRANKd", RANK, [Some(weight), bias], options, false)?,
        windows(options: &crate::any::ConvOptions) = &options.windows("convRANKd", &weight.shape()[2..])?,
        groups = options.count("convRANKd")?
    )]
    #[typed(<O: Dim, CG, DIMS, M: EachAxis, P: EachAxis, L: EachAxis, G: Known, F: Element, X: Device, T: Shape>(&self, weight: &Tensor<F, (O, CG, KERNEL), X>, bias: impl Optional<E, (O,), D>, conv: Conv<M, P, L, G>) -> Tensor<E, T, D>
        where
            E: InexactFor<ops::reduce::convolution>,
            S: Convolved<(O, CG, KERNEL), Conv<M, P, L, G>, Output = T>,
            (M, P, L): Moves,
            CG: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::convolution>;
        windows = &{ let _ = conv; <(M, P, L)>::windows(&weight.shape().as_ref()[2..]) }, groups = G::VALUE)]
    #[example(let x = tensor!OPERAND; let weight = tensor!WEIGHT; let bias = tensor![1000.0]; x.convRANKd(&weight, Some(&bias), Conv::new()), x.convRANKd(&weight, Some(&bias), &ConvOptions::new()), tensor!RESULT)]
    pub(crate) fn convRANKd(
        &self,
        weight: &Erased<'_, E, D>,
        bias: Option<&Erased<'_, E, D>>,
        windows: &[Window],
        groups: usize,
    ) -> Result<Owned<E, D>> {
        plain::<E, D>(self.beside("convRANKd", weight, bias), windows, groups).map(laid)
    }

    /// [`convRANKd`](Self::convRANKd), and a function of its elements while they are in the cache: one of the [operations of one
    /// operand](crate::ops) that give the dtype they take, such as `relu`. The elements are those of the two steps one after the other.
    ///
    /// # Errors
    /// As there.
    #[each(
        RANK = 1 2 3,
        DIMS = (K: Dim) (KH: Dim, KW: Dim) (KD: Dim, KH: Dim, KW: Dim),
        KERNEL = (K) (KH, KW) (KD, KH, KW),
        OPERAND = [[1.0, -2.0, 3.0]] [[[1.0, -2.0, 3.0]]] [[[[1.0, -2.0, 3.0]]]],
        WEIGHT = [[[2.0]]] [[[[2.0]]]] [[[[[2.0]]]]],
        RESULT = [[2.0, 0.0, 6.0]] [[[2.0, 0.0, 6.0]]] [[[[2.0, 0.0, 6.0]]]]
    )]
    #[op(nn.functional.convRANKd, dtypes = inexact)]
    #[any(by_hand)]
    #[typed(<O: Dim, CG, DIMS, M: EachAxis, P: EachAxis, L: EachAxis, G: Known, A: Activation<E>, F: Element, X: Device, T: Shape>(&self, weight: &Tensor<F, (O, CG, KERNEL), X>, bias: impl Optional<E, (O,), D>, conv: Conv<M, P, L, G>, activation: A) -> Tensor<E, T, D>
        where
            E: InexactFor<ops::reduce::convolution>,
            S: Convolved<(O, CG, KERNEL), Conv<M, P, L, G>, Output = T>,
            (M, P, L): Moves,
            CG: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::convolution>;
        windows = &{ let _ = conv; <(M, P, L)>::windows(&weight.shape().as_ref()[2..]) }, groups = G::VALUE)]
    #[example(let x = tensor!OPERAND; let weight = tensor!WEIGHT; x.convRANKd_with(&weight, None, Conv::new(), castiron::ops::relu {}), x, tensor!RESULT)]
    pub(crate) fn convRANKd_with<A: Activation<E>>(
        &self,
        weight: &Erased<'_, E, D>,
        bias: Option<&Erased<'_, E, D>>,
        windows: &[Window],
        groups: usize,
        activation: A,
    ) -> Result<Owned<E, D>> {
        let _ = activation;
        let operands = self.beside("convRANKd", weight, bias);
        convolve::<E, D>(operands, windows, groups, |convolution, operands, bias, result| {
            as_product(convolution, operands, result, |convolution, [x, weight], [sizes, strides]| {
                D::convolve_then::<E>(Applying::<A>::new(), convolution, x, weight, bias, sizes, strides)
            })
        })
        .map(laid)
    }

    /// The transposed convolution over the last axes, RANK of them: the gradient of [`convRANKd`](Self::convRANKd) with respect to its
    /// input, which makes axes larger where that makes them smaller.
    ///
    /// `(N, C, …)` or `(C, …)` with a weight of `(C, O / groups, …)` gives `(N, O, …)` or `(O, …)`; of a `Tensor` the sizes behind are known
    /// to the compiler where the operands' are. All have one dtype, which is the result's.
    ///
    /// # Errors
    /// If the channels do not match the weight, the groups do not divide them, or the padding leaves no elements.
    #[each(
        RANK = 1 2 3,
        DIMS = (K: Dim) (KH: Dim, KW: Dim) (KD: Dim, KH: Dim, KW: Dim),
        KERNEL = (K) (KH, KW) (KD, KH, KW),
        OPERAND = [[1.0, 2.0]] [[[1.0, 2.0]]] [[[[1.0, 2.0]]]],
        WEIGHT = [[[1.0, 10.0, 100.0]]] [[[[1.0, 10.0, 100.0]]]] [[[[[1.0, 10.0, 100.0]]]]],
        RESULT = [[1.0, 12.0, 120.0, 200.0]] [[[1.0, 12.0, 120.0, 200.0]]] [[[[1.0, 12.0, 120.0, 200.0]]]]
    )]
    #[op(nn.functional.conv_transposeRANKd, dtypes = numeric, typed = inexact)]
    #[any(
        let () = self.expect_convolved("conv_transposeRANKd", RANK, [Some(weight), bias], options, true)?,
        windows(options: &crate::any::ConvOptions) = &options.windows("conv_transposeRANKd", &weight.shape()[2..])?,
        extra = &options.extra("conv_transposeRANKd", RANK)?,
        groups = options.count("conv_transposeRANKd")?
    )]
    #[typed(<CW, O: Dim, DIMS, M: EachAxis, P: EachAxis, L: EachAxis, G: Known, A: EachAxis + Kernel, F: Element, X: Device, T: Shape>(&self, weight: &Tensor<F, (CW, O, KERNEL), X>, bias: impl Optional<E, (Product<G, O>,), D>, conv: Conv<M, P, L, G, A>) -> Tensor<E, T, D>
        where
            E: InexactFor<ops::reduce::convolution>,
            S: Transposed<(CW, O, KERNEL), Conv<M, P, L, G, A>, Output = T>,
            (M, P, L): Moves,
            CW: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::convolution>;
        windows = &{ let _ = conv; <(M, P, L)>::windows(&weight.shape().as_ref()[2..]) }, extra = &A::sizes(RANK), groups = G::VALUE)]
    #[example(let x = tensor!OPERAND; let weight = tensor!WEIGHT; x.conv_transposeRANKd(&weight, None, Conv::new()), x.conv_transposeRANKd(&weight, None, &ConvOptions::new()), tensor!RESULT)]
    pub(crate) fn conv_transposeRANKd(
        &self,
        weight: &Erased<'_, E, D>,
        bias: Option<&Erased<'_, E, D>>,
        windows: &[Window],
        extra: &[usize],
        groups: usize,
    ) -> Result<Owned<E, D>> {
        transposed::<E, D>(self.beside("conv_transposeRANKd", weight, bias), windows, extra, groups).map(laid)
    }

    fn beside<'a>(
        &'a self,
        op: &'static str,
        weight: &'a Erased<'_, E, D>,
        bias: Option<&'a Erased<'_, E, D>>,
    ) -> Operands<'a, D::Storage, E> {
        Operands { op, x: self.view(), weight: weight.view(), bias: bias.map(Erased::view) }
    }
}
