//! Convolutions of floating-point numbers, computed directly, without a matrix of patches (im2col). The result is computed in blocks of
//! rows and columns; a block's input is first copied, padded and channels last, unless it has that layout already.
//!
//! Every sum is taken in the same order, whatever the blocks and threads: by chunks of channels, then positions, then channels. Windows of
//! 3 x 3 with many channels have an algorithm with fewer products, `winograd`; so do windows of seven columns with stride two and few
//! channels, `stem`.

mod depthwise;
#[cfg(feature = "grad")]
pub(crate) mod depthwise_back;
mod panel;
mod patch;
mod plan;
mod product;
mod stem;
mod strips;
pub(super) mod tile;
#[cfg(feature = "grad")]
pub(crate) mod weight_back;
mod weights;
mod winograd;

pub(super) use self::panel::{Panel, Rows};
pub(super) use self::patch::{scale, widen};
use self::plan::{PLANES, Plan, Source};
pub(crate) use self::product::multiply_packed;
pub(super) use self::product::{FewRows, are_lines};
use self::tile::Kernels;
use self::weights::{Packer, Weights, strips};
use super::elementwise::{result_len, source};
use super::epilogue::Then;
use crate::dtype::{DType, Dtype};
use crate::error::Result;
use crate::ops::window::Convolution;
use crate::storage::{HostBuffer, Scratch, View};
use core::any::TypeId;

/// Whether there are kernels for a dtype: asked by `if const`, so that other dtypes compile nothing of this.
pub(crate) const fn has<E: Dtype>() -> bool {
    matches!(E::DTYPE, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

/// The kernels over `f32`.
pub(super) fn single_kernels() -> tile::Kernels<f32> {
    tile::kernels::<f32>()[0]
}

fn five(of: &[usize]) -> [usize; 5] {
    core::array::from_fn(|at| of[at])
}

/// The weight of a convolution, `(O, C / groups, D, H, W)`.
#[derive(Clone, Copy)]
pub(crate) enum Weight<'a, E> {
    Tensor(View<'a, HostBuffer, E>),
    /// A weight of these sizes, packed by [`pack`].
    Packed {
        buffer: &'a HostBuffer,
        sizes: &'a [usize],
    },
}
impl<'a, E> Weight<'a, E> {
    fn sizes(&self) -> &'a [usize] {
        match self {
            Weight::Tensor(view) => view.sizes,
            Weight::Packed { sizes, .. } => sizes,
        }
    }
}

/// Whether each channel is its own group: then a single strip holds all channels.
fn is_depthwise(weight: &[usize], groups: usize) -> bool {
    groups > 1 && weight[1] == 1 && weight[0] == groups
}

/// Packs a weight `(O, C / groups, D, H, W)` for a convolution with `groups` groups; the dtype [has](has) kernels.
pub(crate) fn pack<E: Dtype>(weight: View<'_, HostBuffer, E>, groups: usize) -> Result<HostBuffer> {
    pack_by(tile::kernels::<E::Compute>()[0], weight, groups)
}

fn pack_by<E: Dtype>(
    kernels: Kernels<E::Compute>,
    weight: View<'_, HostBuffer, E>,
    groups: usize,
) -> Result<HostBuffer> {
    Ok(packer_of(kernels, weight, groups)?.pack_all(usize::MAX)?.into_buffer())
}

fn packer_of<'a, E: Dtype>(
    kernels: Kernels<E::Compute>,
    weight: View<'a, HostBuffer, E>,
    groups: usize,
) -> Result<Packer<'a, E>> {
    let weights = Weights { first: source(&weight), sizes: weight.sizes, strides: weight.strides };
    if is_depthwise(weights.sizes, groups) {
        return Packer::new(weights, 1, groups);
    }
    Packer::new(weights, groups, kernels.strip)
}

/// The convolution of `(N, C, D, H, W)` with weights `(O, C / groups, D, H, W)`, as a new result with these sizes and strides; `then` is
/// applied to its elements. The windows fit, the groups divide both channel counts, and the dtype [has](has) kernels.
pub(crate) fn convolve<E: Dtype>(
    convolution: &Convolution,
    x: View<'_, HostBuffer, E>,
    weight: Weight<'_, E>,
    bias: Option<View<'_, HostBuffer, E>>,
    result: [&[usize]; 2],
    then: Option<Then<'_, E>>,
) -> Result<HostBuffer> {
    convolve_by(tile::kernels::<E::Compute>()[0], convolution, x, weight, bias, result, then)
}

fn convolve_by<E: Dtype>(
    kernels: Kernels<E::Compute>,
    &Convolution { windows, groups }: &Convolution,
    x: View<'_, HostBuffer, E>,
    weight: Weight<'_, E>,
    bias: Option<View<'_, HostBuffer, E>>,
    [sizes, out_strides]: [&[usize]; 2],
    then: Option<Then<'_, E>>,
) -> Result<HostBuffer> {
    let len = result_len(sizes)?;
    if len == 0 {
        return HostBuffer::zeroed::<E>(0);
    }
    let (x_sizes, x_strides) = (five(x.sizes), five(x.strides));
    let same = TypeId::of::<E>() == TypeId::of::<E::Compute>();
    let unpadded = windows.iter().all(|window| window.before == 0 && window.after == 0);
    let per_group = [x_sizes[1] / groups, sizes[1] / groups];
    let is_depthwise = is_depthwise(weight.sizes(), groups);
    let strip = if is_depthwise { groups } else { kernels.strip };
    let count = if is_depthwise { 1 } else { groups * strips(per_group[1], strip) };
    let start = Scratch::<E::Compute>::try_filled(E::Compute::default(), [count, strip])?;
    if let Some(bias) = bias {
        let first = source(&bias);
        for channel in 0..sizes[1] {
            let at = if is_depthwise {
                channel
            } else {
                let (group, within) = (channel / per_group[1], channel % per_group[1]);
                group * strips(per_group[1], strip) * strip + within
            };
            // SAFETY: the bias has an element per output channel, and the strips have room for them.
            unsafe { start.start().add(at).write(first.add(channel * bias.strides[0]).read().to_compute()) }
        }
    }
    let packer = match weight {
        Weight::Tensor(view) => Some(packer_of(kernels, view, groups)?),
        Weight::Packed { .. } => None,
    };
    let is_planar = x_strides[4] == 1 && x_strides[1] != 1 && x_sizes[1] <= PLANES && !is_depthwise;
    let is_direct = same && unpadded && (x_strides[1] == 1 || is_planar || per_group[0] == 1 && !is_depthwise);
    let mut plan = Plan {
        windows,
        groups,
        x: source(&x),
        x_sizes,
        x_strides,
        out: core::ptr::null_mut(),
        out_sizes: five(sizes),
        out_strides: five(out_strides),
        kernels,
        copy: if is_direct { None } else { Some(|plan, number, place, to| plan.copied(number, place, to)) },
        is_planar,
        writes_result: same && (out_strides[1] == 1 || sizes[1] == 1),
        adds: false,
        depthwise: if is_depthwise { Some(depthwise::block) } else { None },
        block: [1, 1],
        weights: match (&packer, weight) {
            (Some(packer), _) => Source::Unpacked(packer),
            (_, Weight::Packed { buffer, .. }) => Source::Packed(buffer.start::<E::Compute>()),
            _ => unreachable!("a tensor is packed"),
        },
        depth: weight.sizes()[1..].iter().product(),
        bias: start.start(),
        bias_step: strip,
        then,
        threads: usize::MAX,
        stem: None,
    };
    plan.flatten();
    plan.choose_block();
    // An algorithm with fewer products.
    let fewer: Option<fn(&Plan<'_, E>, usize) -> Result<Option<HostBuffer>>> = match &plan {
        plan if winograd::pays(plan) => Some(winograd::convolve),
        plan if stem::pays(plan) => Some(stem::convolve),
        _ => None,
    };
    // (Kept alive until the blocks are computed.)
    let mut packed = None;
    if let Some(packer) = &packer
        && (is_depthwise || fewer.is_some() || plan.blocks() > 1)
    {
        plan.weights = Source::Packed(packed.insert(packer.pack_all(usize::MAX)?).start().cast_const());
    }
    if let Some(convolve) = fewer
        && let Some(result) = convolve(&plan, len)?
    {
        return Ok(result);
    }
    // SAFETY: the blocks cover the result, which is dense, and the strips all of its channels; each is computed by one thread.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            plan.out = out;
            plan.run(count)
        })
    }
}

#[cfg(test)]
mod tests;
