//! Filters on pictures, written as in a library: over any float dtype, any number of channels, any size, on any device, and without a
//! where-clause. If a filter keeps a size, its type says so.

use castiron::pad::{Reflect, Replicate};
use castiron::{Device, Dim, Float, Result, Shape, Tensor, axis, dim, fused, shape};

/// Channels by rows by columns.
pub type Picture<E, C, H, W, D> = Tensor<E, (C, H, W), D>;
/// A number for each channel, which broadcasts over rows and columns.
pub type PerChannel<E, C, D> = Tensor<E, (C, dim!(1), dim!(1)), D>;

/// Bytes as numbers from 0 to 1.
pub fn from_bytes<E: Float, C: Dim, H: Dim, W: Dim, D: Device>(
    bytes: &Picture<u8, C, H, W, D>,
) -> Picture<E, C, H, W, D> {
    fused!(bytes.to::<E>() / 255.0)
}

/// Numbers from 0 to 1 as bytes; numbers outside are clamped.
pub fn to_bytes<E: Float, C: Dim, H: Dim, W: Dim, D: Device>(
    picture: &Picture<E, C, H, W, D>,
) -> Picture<u8, C, H, W, D> {
    fused!((picture.clamp(0.0, 1.0) * 255.0).round().to::<u8>())
}

/// The mean and the standard deviation of each channel.
pub fn statistics<E: Float, C: Dim, H: Dim, W: Dim, D: Device>(
    picture: &Picture<E, C, H, W, D>,
) -> (PerChannel<E, C, D>, PerChannel<E, C, D>) {
    let over = axis![1, 2].keepdim();
    (picture.mean_axis(over), picture.std_axis(over, 0))
}

/// Every channel scaled to mean 0 and standard deviation 1. (A constant channel becomes 0.)
pub fn normalize<E: Float, C: Dim, H: Dim, W: Dim, D: Device>(
    picture: &Picture<E, C, H, W, D>,
) -> Picture<E, C, H, W, D> {
    let (mean, deviation) = statistics(picture);
    fused!((picture - mean) / deviation.clamp_min(1e-3))
}

/// One channel, as bright as red, green and blue appear together (ITU-R BT.601).
pub fn grey<E: Float, H: Dim, W: Dim, D: Device>(
    picture: &Picture<E, dim!(3), H, W, D>,
) -> Picture<E, dim!(1), H, W, D> {
    // Three views, a number known from the type.
    let [red, green, blue] = picture.unbind_array(axis![0]);
    fused!(red * 0.299 + green * 0.587 + blue * 0.114).unsqueeze(axis![0])
}

/// Multiplies every pixel's channels by a matrix: gives `To` channels, each a weighted sum of `C`.
pub fn mix<E: Float, C: Dim, To: Dim, H: Dim, W: Dim, D: Device>(
    picture: &Picture<E, C, H, W, D>,
    matrix: &Tensor<E, (To, C), D>,
) -> Picture<E, To, H, W, D> {
    let pixels = picture.permute(axis![1, 2, 0]);
    pixels.matmul(matrix.t()).permute(axis![2, 0, 1])
}

/// Rounds numbers from 0 to 1 to `levels` values.
pub fn posterize<E: Float, C: Dim, H: Dim, W: Dim, D: Device>(
    picture: &Picture<E, C, H, W, D>,
    levels: u8,
) -> Picture<E, C, H, W, D> {
    let last = f64::from(levels.max(2) - 1);
    fused!((picture * last).round() / last)
}

/// Gaussian blur by `sigma` pixels, first along rows, then along columns. The picture is mirrored at its edges.
pub fn blur<E: Float, C: Dim, H: Dim, W: Dim, D: Device>(
    picture: &Picture<E, C, H, W, D>,
    sigma: f64,
) -> Result<Picture<E, C, H, W, D>> {
    let [_, height, width] = picture.shape();
    let (down, right) = (bell(sigma, height)?, bell(sigma, width)?);
    let [above, before] = [&down, &right].map(|weights| (weights.len() / 2) as isize);
    let padded = picture.try_pad_sized([before, before, above, above], Reflect)?;
    let rows = weighted_sum(&right, |at| padded.try_narrow(axis![2], at, width))?;
    weighted_sum(&down, |at| rows.try_narrow(axis![1], at, height))?.try_with_shape()
}

/// The weights of a Gaussian at the positions up to three sigma away, but no further than padding can mirror an axis of this size.
fn bell(sigma: f64, size: usize) -> Result<Vec<f64>> {
    let radius = ((3.0 * sigma).ceil() as i64).min(size.saturating_sub(1) as i64);
    let at = Tensor::<f64, shape![_]>::try_arange(-radius, radius + 1, 1)?;
    let heights = fused!((at.square() / (-2.0 * sigma * sigma)).exp());
    Ok(fused!(heights / { heights.sum() }).to_vec())
}

/// The weighted sum of views of one size.
fn weighted_sum<E: Float, S: Shape, D: Device>(
    weights: &[f64],
    view: impl Fn(usize) -> Result<Tensor<E, S, D>>,
) -> Result<Tensor<E, S, D>> {
    let mut sum = view(0)?.try_zeros_like()?;
    for (at, &weight) in weights.iter().enumerate() {
        let shifted = view(at)?;
        fused!(sum += shifted * weight);
    }
    Ok(sum)
}

/// The steepness of the picture at each pixel: the length of the gradient by Sobel's 3 by 3 differences. Edges are repeated outwards.
pub fn edges<E: Float, C: Dim, H: Dim, W: Dim, D: Device>(
    picture: &Picture<E, C, H, W, D>,
) -> Result<Picture<E, C, H, W, D>> {
    let [_, height, width] = picture.shape();
    let padded = picture.try_pad_sized([1, 1, 1, 1], Replicate)?;
    // Every pixel's neighbours in one direction are a view of the padded picture.
    let [[nw, n, ne], [w, _, e], [sw, s, se]] = core::array::from_fn(|down| {
        core::array::from_fn(|right| padded.narrow(axis![1], down, height).narrow(axis![2], right, width))
    });
    fused! {
        let across = (ne + e * 2 + se) - (nw + w * 2 + sw);
        let down = (sw + s * 2 + se) - (nw + n * 2 + ne);
        (across.square() + down.square()).sqrt() / 4
    }
    .try_with_shape()
}

/// Resizes a picture by bilinear interpolation; with `antialias`, a picture made smaller is averaged over the pixels that each new pixel
/// covers.
pub fn resize<E: Float, C: Dim, H: Dim, W: Dim, ToH: Dim, ToW: Dim, D: Device>(
    picture: &Picture<E, C, H, W, D>,
    [height, width]: [usize; 2],
    antialias: bool,
) -> Result<Picture<E, C, ToH, ToW, D>> {
    let [channels, from_height, from_width] = picture.shape();
    let mut shorter = Picture::<E, C, ToH, W, D>::try_zeros_sized([channels, height, from_width])?;
    for (at, weight) in neighbours::<E, ToH, D>(from_height, height, antialias)? {
        let (rows, weight) = (picture.try_index_select(axis![1], &at)?, weight.unsqueeze(axis![1]));
        fused!(shorter += rows * weight);
    }
    let mut resized = Picture::try_zeros_sized([channels, height, width])?;
    for (at, weight) in neighbours::<E, ToW, D>(from_width, width, antialias)? {
        let columns = shorter.try_index_select(axis![2], &at)?;
        fused!(resized += columns * weight);
    }
    Ok(resized)
}

/// For each of `to` positions spread over `from`, the positions it is computed from and their weights: first one neighbour of every
/// position, then the next. The weights form a tent around the place that a position maps to.
fn neighbours<E: Float, To: Dim, D: Device>(
    from: usize,
    to: usize,
    antialias: bool,
) -> Result<Vec<(Tensor<i64, (To,), D>, Tensor<E, (To,), D>)>> {
    let (scale, last) = (from as f64 / to as f64, from as f64 - 1.0);
    let reach = if antialias { scale.max(1.0) } else { 1.0 };
    let targets = Tensor::<f64, (To,), D>::try_arange(0, to as i64, 1)?;
    let centres = fused!((targets + 0.5) * scale - 0.5);
    let places = (1..=(2.0 * reach).ceil() as i64).map(|step| fused!((centres - reach).floor() + step));
    let tents = places.map(|at| {
        let weight = fused!(if (at >= 0) & (at <= last) { (1.0 - (at - centres).abs() / reach).relu() } else { 0.0 });
        (fused!(at.clamp(0.0, last).to::<i64>()), weight)
    });
    let tents: Vec<_> = tents.collect();
    let mut total = centres.try_zeros_like()?;
    for (_, weight) in &tents {
        total += weight;
    }
    Ok(tents.into_iter().map(|(at, weight)| (at, fused!((weight / total).to::<E>()))).collect())
}
