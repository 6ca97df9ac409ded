//! Convolutions on devices without a kernel for them: matrix products with the patches of the windows (im2col).

use super::Backend;
use super::call::Convolve;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::layout::strides::row_major;
use crate::ops::arguments::Added;
use crate::ops::kernel::{Copying, Map1};
use crate::ops::segment::Segment;
use crate::ops::window::Convolution;
use crate::shape::numel;
use crate::storage::View;

/// Maximum patch elements materialised at a time.
const MOST: usize = if cfg!(debug_assertions) { 1 << 12 } else { 1 << 26 };
/// Maximum rank that every device can copy.
const AXES: usize = 8;

/// The bias, as the input of a product with `channels` along one axis.
fn added<'a, D: Backend, E: Dtype>(
    bias: Option<View<'a, D::Storage, E>>,
    sizes: &'a [usize],
    strides: &'a [usize],
) -> Option<Added<'a, D::Storage, E>> {
    let one = E::from_i32(1).to_compute();
    bias.map(|bias| Added { input: Some(bias.restrided(sizes, strides)), beta: one, alpha: one })
}

/// Whether these are row-major strides, ignoring axes of size 1.
pub(super) fn is_row_major(sizes: &[usize], strides: &[usize]) -> bool {
    row_major(sizes).iter().zip(strides).zip(sizes).all(|((own, given), &size)| size == 1 || own == given)
}

/// An unpacked weight: a row-major copy.
pub(crate) fn copied<D: Backend, E: Dtype>(weight: View<'_, D::Storage, E>) -> Result<D::Storage> {
    D::map1::<E, E>(Copying, weight, &row_major(weight.sizes))
}

/// A convolution by products; a packed weight is such a copy.
pub(crate) fn run<D: Backend, E: Dtype, K: Map1<E, E>>(call: Convolve<'_, D::Storage, E, K>) -> Result<D::Storage> {
    let Convolve { kernel, is_packed, convolution, sizes, strides, x, weight, bias, .. } = call;
    let own = row_major(weight.sizes);
    let weight = if is_packed { View::new(weight.buffer, 0, weight.sizes, &own) } else { weight };
    let result = composed::<D, E>(convolution, x, weight, bias, sizes, strides)?;
    match kernel {
        None => Ok(result),
        Some(kernel) => D::map1(kernel, View::<_, E>::new(&result, 0, sizes, strides), strides),
    }
}

/// A product with the transpose of such a weight, `(n, k)`.
pub(crate) fn product_with_copy<D: Backend, E: Dtype, K: Map1<E, E>>(
    kernel: Option<K>,
    x: View<'_, D::Storage, E>,
    weight: View<'_, D::Storage, E>,
    bias: Option<View<'_, D::Storage, E>>,
) -> Result<D::Storage> {
    let (m, n, k) = (x.sizes[0], weight.sizes[0], weight.sizes[1]);
    let (sizes, strides) = ([k, n], [1, k]);
    let weight = View::new(weight.buffer, 0, &sizes, &strides);
    let (of, steps) = ([m, n], [0, bias.map_or(0, |bias| bias.strides[0])]);
    let added = added::<D, E>(bias, &of, &steps);
    match kernel {
        Some(kernel) => D::matmul_then(kernel, x, weight, added),
        None => D::matmul(x, weight, added),
    }
}

/// Windows of one position: the weights times the channels, per image.
pub(super) fn pointwise<D: Backend, E: Dtype>(
    x: View<'_, D::Storage, E>,
    weight: View<'_, D::Storage, E>,
    bias: Option<View<'_, D::Storage, E>>,
    sizes: &[usize],
) -> Result<D::Storage> {
    let (images, channels, outputs) = (x.sizes[0], x.sizes[1], sizes[1]);
    let places = x.sizes[2..].iter().product::<usize>();
    if places == 1 {
        // One product of all images with the transposed weight.
        let (x_sizes, x_strides) = ([images, channels], [x.strides[0], x.strides[1]]);
        let (w_sizes, w_strides) = ([channels, outputs], [weight.strides[1], weight.strides[0]]);
        let (of, steps) = ([images, outputs], [0, bias.map_or(0, |bias| bias.strides[0])]);
        let added = added::<D, E>(bias, &of, &steps);
        return D::matmul::<E>(x.restrided(&x_sizes, &x_strides), weight.restrided(&w_sizes, &w_strides), added);
    }
    let copied;
    let x = if is_row_major(&x.sizes[1..], &x.strides[1..]) {
        x
    } else {
        copied = (D::map1::<E, E>(Copying, x, &row_major(x.sizes))?, row_major(x.sizes));
        View::new(&copied.0, 0, x.sizes, &copied.1)
    };
    let (x_sizes, x_strides) = ([images, channels, places], [x.strides[0], places, 1]);
    let (w_sizes, w_strides) = ([images, outputs, channels], [0, weight.strides[0], weight.strides[1]]);
    let (of, steps) = ([images, outputs, places], [0, bias.map_or(0, |bias| bias.strides[0]), 0]);
    let added = added::<D, E>(bias, &of, &steps);
    D::matmul::<E>(weight.restrided(&w_sizes, &w_strides), x.restrided(&x_sizes, &x_strides), added)
}

/// The convolution of `(N, C, D, H, W)` with weights `(O, C / groups, D, H, W)`.
pub(crate) fn composed<D: Backend, E: Dtype>(
    convolution: &Convolution,
    x: View<'_, D::Storage, E>,
    weight: View<'_, D::Storage, E>,
    bias: Option<View<'_, D::Storage, E>>,
    sizes: &[usize],
    strides: &[usize],
) -> Result<D::Storage> {
    if convolution.is_pointwise() && is_row_major(sizes, strides) {
        return pointwise::<D, E>(x, weight, bias, sizes);
    }
    let groups = convolution.groups;
    let places: usize = sizes[2..].iter().product();
    let depth: usize = weight.sizes[1..].iter().product();
    let too_large = || Error::TooLarge { op: "convolution", sizes: sizes.into() };
    let patches = numel(&[groups, sizes[0], places, depth]).ok_or_else(too_large)?;
    if patches > MOST && sizes[0] > 1 {
        // Splits the batch in halves.
        let half = sizes[0] / 2;
        let part = |low: usize, count: usize| {
            let (mut own, mut result) = (x.sizes.to_vec(), sizes.to_vec());
            (own[0], result[0]) = (count, count);
            let images = View::new(x.buffer, x.offset + low * x.strides[0], &own, x.strides);
            composed::<D, E>(convolution, images, weight, bias, &result, &row_major(&result)).map(|part| (part, result))
        };
        let parts = [part(0, half)?, part(half, sizes[0] - half)?];
        let steps = [row_major(&parts[0].1), row_major(&parts[1].1)];
        let pieces = [0, 1].map(|at| View::<_, E>::new(&parts[at].0, 0, &parts[at].1, &steps[at]));
        return D::join::<E>(&pieces, 0, sizes, strides);
    }
    let padded = padded::<D, E>(convolution, x)?;
    let (x, x_sizes, x_strides) = match &padded {
        Some((storage, sizes)) => (View::new(storage, 0, x.sizes, x.strides), sizes.clone(), row_major(sizes)),
        None => (x, x.sizes.to_vec(), x.strides.to_vec()),
    };
    let axes = patch_axes(convolution, sizes, &x_sizes, &x_strides);
    let per_group = sizes[1] / groups;
    let rows = sizes[0] * places;
    let (w, one) = (weight.strides, [1, weight.sizes[1], weight.sizes[2], weight.sizes[3], weight.sizes[4]]);
    // The weights as matrices: their axes can only be merged if they are row-major.
    let made;
    let weight = if is_row_major(&one[1..], &w[1..]) {
        weight
    } else {
        made = (D::map1::<E, E>(Copying, weight, &row_major(weight.sizes))?, row_major(weight.sizes));
        View::new(&made.0, 0, weight.sizes, &made.1)
    };
    let product = |first: usize, count: usize| -> Result<D::Storage> {
        let offset = x.offset + first * axes[0].1;
        let [of, steps] = patch_view(&axes, count);
        let patches = D::map1::<E, E>(Copying, View::new(x.buffer, offset, &of, &steps), &row_major(&of))?;
        let (left, left_strides) = ([count, rows, depth], [rows * depth, depth, 1]);
        let (right, right_strides) = ([count, depth, per_group], [per_group * weight.strides[0], 1, weight.strides[0]]);
        let step = bias.map_or(0, |bias| bias.strides[0]);
        let (of, steps) = ([count, rows, per_group], [per_group * step, 0, step]);
        let bias =
            bias.map(|bias| View::new(bias.buffer, bias.offset + first * per_group * step, bias.sizes, bias.strides));
        D::matmul::<E>(
            View::new(&patches, 0, &left, &left_strides),
            View::new(weight.buffer, weight.offset + first * right_strides[0], &right, &right_strides),
            added::<D, E>(bias, &of, &steps),
        )
    };
    let of = [groups, rows, per_group];
    let products = if patch_view(&axes, groups)[0].len() <= AXES {
        product(0, groups)?
    } else {
        let parts = (0..groups).map(|group| product(group, 1)).collect::<Result<Vec<_>>>()?;
        let (one, steps) = ([1, rows, per_group], row_major(&of));
        let pieces: Vec<_> = parts.iter().map(|part| View::<_, E>::new(part, 0, &one, &steps)).collect();
        D::join::<E>(&pieces, 0, &of, &steps)?
    };
    match result_axes(groups, sizes, strides) {
        Some([sizes, from, to]) => D::map1::<E, E>(Copying, View::new(&products, 0, &sizes, &from), &to),
        None => Ok(products),
    }
}

/// Sizes and strides of the patches: groups, images, places, channels, positions.
fn patch_axes(
    convolution: &Convolution,
    sizes: &[usize],
    x_sizes: &[usize],
    x_strides: &[usize],
) -> Vec<(usize, usize)> {
    let Convolution { groups, windows } = convolution;
    let channels = x_sizes[1] / groups;
    let mut axes = vec![(*groups, channels * x_strides[1]), (sizes[0], x_strides[0])];
    axes.extend((0..3).map(|axis| (sizes[axis + 2], windows[axis].stride * x_strides[axis + 2])));
    axes.push((channels, x_strides[1]));
    axes.extend((0..3).map(|axis| (windows[axis].kernel, windows[axis].dilation * x_strides[axis + 2])));
    axes
}

/// Sizes and strides of the patches of `groups` groups, without axes of size 1.
fn patch_view(axes: &[(usize, usize)], groups: usize) -> [Vec<usize>; 2] {
    let axes = [(groups, axes[0].1)].into_iter().chain(axes[1..].iter().copied()).filter(|&(size, _)| size != 1);
    let (sizes, strides) = axes.unzip();
    [sizes, strides]
}

/// Sizes, and strides of the products (groups, images, places, channels of a group) and of the result; `None` if both are equal.
fn result_axes(groups: usize, sizes: &[usize], strides: &[usize]) -> Option<[Vec<usize>; 3]> {
    let (places, per_group) = (sizes[2..].iter().product::<usize>(), sizes[1] / groups);
    let rows = sizes[0] * places;
    let mut axes = vec![(sizes[0], places * per_group, strides[0]), (groups, rows * per_group, per_group * strides[1])];
    axes.push((per_group, 1, strides[1]));
    let steps = row_major(&sizes[2..]);
    axes.extend((0..3).map(|axis| (sizes[axis + 2], steps[axis] * per_group, strides[axis + 2])));
    axes.retain(|&(size, ..)| size != 1);
    if axes.iter().all(|&(_, from, to)| from == to) {
        return None;
    }
    let of = |part: fn(&(usize, usize, usize)) -> usize| axes.iter().map(part).collect();
    Some([of(|axis| axis.0), of(|axis| axis.1), of(|axis| axis.2)])
}

/// The operand padded with zeros, row-major; `None` if there is no padding.
fn padded<D: Backend, E: Dtype>(
    convolution: &Convolution,
    x: View<'_, D::Storage, E>,
) -> Result<Option<(D::Storage, Vec<usize>)>> {
    if convolution.windows.iter().all(|window| window.before == 0 && window.after == 0) {
        return Ok(None);
    }
    let mut axes: Vec<Vec<Segment>> = x.sizes.iter().map(|&size| vec![Segment::whole(size)]).collect();
    for (axis, window) in convolution.windows.iter().enumerate() {
        let whole = Segment::whole(x.sizes[axis + 2]);
        axes[axis + 2] = vec![Segment::Fill { len: window.before }, whole, Segment::Fill { len: window.after }];
    }
    let windows = convolution.windows;
    let mut sizes = x.sizes.to_vec();
    for (axis, window) in windows.iter().enumerate() {
        let too_large = || Error::TooLarge { op: "convolution", sizes: x.sizes.into() };
        sizes[axis + 2] = window.padded(x.sizes[axis + 2]).ok_or_else(too_large)?;
    }
    let bytes = numel(&sizes).and_then(|numel| numel.checked_mul(size_of::<E>()));
    if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(Error::TooLarge { op: "convolution", sizes: sizes[..].into() });
    }
    let storage = D::pick::<E>(x, &axes, E::default())?;
    Ok(Some((storage, sizes)))
}
