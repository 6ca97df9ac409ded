//! Channels rearranged to pixels and back: `pixel_shuffle`, `pixel_unshuffle`; and `channel_shuffle`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::layout::dims::Dims;
use crate::ops::kernel::Copying;
use crate::shape::{HasChannels, InGroups, Known, Shape, ShufflePixels, UnshufflePixels};
use crate::tensor::Tensor;
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Every `factor * factor` channels are rearranged to a square of pixels: `(…, C * factor * factor, H, W)` gives `(…, C, H * factor,
    /// W * factor)`. For a `Tensor` the factor is a type, and there may be up to two axes before the channels.
    ///
    /// # Errors
    /// If there are fewer than three axes, or the channels are not divisible by the square.
    #[op(nn.functional.pixel_shuffle(input, upscale_factor), aliases("pixel_shuffle"))]
    #[any(by_width)]
    #[typed(<R: Known, T: Shape>(&self) -> Tensor<E, T, D>
        where
            S: ShufflePixels<R, Output = T>;
        factor = R::VALUE)]
    #[example(let x = tensor![[[1]], [[2]], [[3]], [[4]]]; x.pixel_shuffle::<dim!(2), _>(), x.pixel_shuffle(2), tensor![[[1, 2], [3, 4]]])]
    pub(crate) fn pixel_shuffle(&self, factor: usize) -> Result<Owned<E, D>> {
        let op = "pixel_shuffle";
        let (batch, [channels, height, width]) = self.images(op)?;
        let square = factor.checked_mul(factor).filter(|&square| square > 0 && channels.is_multiple_of(square));
        let Some(square) = square else {
            return invalid(op, format!("{channels} channels are not divisible by the square of {factor}"));
        };
        let own = channels / square;
        let split = self.reshape(op, &[batch, own, factor, factor, height, width])?;
        let times = |size: usize| {
            size.checked_mul(factor).ok_or_else(|| Error::TooLarge { op, sizes: [size, factor][..].into() })
        };
        split.reordered(op, &[0, 1, 4, 2, 5, 3], self.with_images([own, times(height)?, times(width)?]))
    }

    /// Every square of `factor * factor` pixels is rearranged to channels: `(…, C, H * factor, W * factor)` gives `(…, C * factor *
    /// factor, H, W)`. For a `Tensor` the factor is a type, and there may be up to two axes before the channels.
    ///
    /// # Errors
    /// If there are fewer than three axes, or height or width are not divisible by the factor.
    #[op(nn.functional.pixel_unshuffle(input, downscale_factor), aliases("pixel_unshuffle"))]
    #[any(by_width)]
    #[typed(<R: Known, T: Shape>(&self) -> Tensor<E, T, D>
        where
            S: UnshufflePixels<R, Output = T>;
        factor = R::VALUE)]
    #[example(let x = tensor![[[1, 2], [3, 4]]]; x.pixel_unshuffle::<dim!(2), _>(), x.pixel_unshuffle(2), tensor![[[1]], [[2]], [[3]], [[4]]])]
    pub(crate) fn pixel_unshuffle(&self, factor: usize) -> Result<Owned<E, D>> {
        let op = "pixel_unshuffle";
        let (batch, [channels, height, width]) = self.images(op)?;
        if factor == 0 || !height.is_multiple_of(factor) || !width.is_multiple_of(factor) {
            return invalid(op, format!("{height} x {width} pixels are not divisible by {factor}"));
        }
        let (rows, columns) = (height / factor, width / factor);
        let split = self.reshape(op, &[batch, channels, rows, factor, columns, factor])?;
        let deep = factor.checked_mul(factor).and_then(|square| square.checked_mul(channels));
        let deep = deep.ok_or_else(|| Error::TooLarge { op, sizes: [channels, factor, factor][..].into() })?;
        split.reordered(op, &[0, 1, 3, 5, 2, 4], self.with_images([deep, rows, columns]))
    }

    /// Channels, axis 1, interleaved between groups: the first of each group, then the second of each, …. For a `Tensor` the number of
    /// groups is a type.
    ///
    /// Shape: that of `self`, `(N, C, …)`.
    ///
    /// # Errors
    /// If there are fewer than three axes (of an `AnyTensor`), or the channels are not divisible by the groups.
    #[op(nn.functional.channel_shuffle(input, groups), aliases("channel_shuffle"))]
    #[any(by_width, let () = self.expect_rank("channel_shuffle", 3)?)]
    #[typed(<G: Known>(&self) -> Self
        where
            S: HasChannels,
            S::Channels: InGroups<G>;
        groups = G::VALUE)]
    #[example(let x = tensor![[[1], [2], [3], [4]]]; x.channel_shuffle::<dim!(2)>(), x.channel_shuffle(2), tensor![[[1], [3], [2], [4]]])]
    pub(crate) fn channel_shuffle(&self, groups: usize) -> Result<Owned<E, D>> {
        let op = "channel_shuffle";
        self.expect_axes(op, 2)?;
        let (examples, channels) = (self.sizes()[0], self.sizes()[1]);
        if groups == 0 || !channels.is_multiple_of(groups) {
            return invalid(op, format!("{channels} channels are not divisible by {groups} groups"));
        }
        let rest = self.sizes()[2..].iter().product();
        let split = self.reshape(op, &[examples, groups, channels / groups, rest])?;
        split.reordered(op, &[0, 2, 1, 3], self.dims())
    }

    /// The number of images, and their channels, height and width.
    fn images(&self, op: &'static str) -> Result<(usize, [usize; 3])> {
        self.expect_axes(op, 3)?;
        let (lead, last) = self.sizes().split_at(self.rank() - 3);
        Ok((lead.iter().product(), [last[0], last[1], last[2]]))
    }

    /// The sizes with other images.
    fn with_images(&self, images: [usize; 3]) -> Dims {
        let mut sizes = self.dims();
        sizes.iter_mut().rev().zip(images.into_iter().rev()).for_each(|(size, of)| *size = of);
        sizes
    }

    /// A row-major copy with the axes in another order, as these sizes.
    fn reordered(&self, op: &'static str, order: &[usize], sizes: Dims) -> Result<Owned<E, D>> {
        let (storage, ..) = self.permute(op, order)?.map1_dense(op, Copying)?.into_parts();
        Ok(Erased::dense(storage, sizes))
    }
}
