//! Channels rearranged to pixels and back: `pixel_shuffle`, `pixel_unshuffle`; and `channel_shuffle`.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::shape::{HasChannels, InGroups, Known, Shape, ShufflePixels, SizeArray, UnshufflePixels};
use crate::storage::View;
use crate::tensor::{Tensor, expect_fit};
use castiron_macros::fallible;

/// A row-major copy of a view with these sizes and strides.
fn copied<E: Element, D: Device>(x: View<'_, D::Storage, E>, sizes: &[usize], steps: &[usize]) -> Result<D::Storage> {
    D::map1::<E, E>(Copying, x.restrided(sizes, steps), &strides::row_major(sizes))
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Every `R * R` channels are rearranged to a square of pixels: `(…, C * R * R, H, W)` gives `(…, C, H * R, W * R)`.
    ///
    /// Dtypes: all. There may be up to two axes before the channels.
    ///
    /// PyTorch: `torch.nn.functional.pixel_shuffle`.
    ///
    /// # Panics
    /// If sizes known at run time are not divisible or memory runs out.
    ///
    /// ```
    /// use castiron::{dim, shape, tensor, Tensor};
    /// let y: Tensor<i64, shape![1, 2, 2]> = tensor![[[1]], [[2]], [[3]], [[4]]].pixel_shuffle::<dim!(2), _>();
    /// assert_eq!(y.to_vec(), [1, 2, 3, 4]);
    /// ```
    #[fallible]
    pub fn pixel_shuffle<R: Known, T: Shape>(&self) -> Result<Tensor<E, T, D>>
    where
        S: ShufflePixels<R, Output = T>,
    {
        let (op, r, x) = ("pixel_shuffle", R::VALUE, self.elements());
        let (Some((lead, &[c, h, w])), Some((steps, &[sc, sh, sw]))) =
            (x.sizes.split_last_chunk::<3>(), x.strides.split_last_chunk::<3>())
        else {
            return invalid(op, "images have three axes or more".to_owned());
        };
        if r == 0 || !c.is_multiple_of(r * r) {
            return invalid(op, format!("{c} channels do not make squares of {r} rows and columns"));
        }
        let own = c / (r * r);
        let sizes = [lead, &[own, h, r, w, r]].concat();
        let steps = [steps, &[sc * r * r, sh, sc * r, sw, sc]].concat();
        let result = [lead, &[own, h * r, w * r]].concat();
        expect_fit::<T>(op, &result)?;
        Ok(Tensor::dense(copied::<E, D>(x, &sizes, &steps)?, SizeArray::copied(&result)))
    }

    /// Every square of `R * R` pixels is rearranged to channels: `(…, C, H * R, W * R)` gives `(…, C * R * R, H, W)`.
    ///
    /// Dtypes: all. There may be up to two axes before the channels.
    ///
    /// PyTorch: `torch.nn.functional.pixel_unshuffle`.
    ///
    /// # Panics
    /// If sizes known at run time are not divisible or memory runs out.
    ///
    /// ```
    /// use castiron::{dim, shape, tensor, Tensor};
    /// let y: Tensor<i64, shape![4, 1, 1]> = tensor![[[1, 2], [3, 4]]].pixel_unshuffle::<dim!(2), _>();
    /// assert_eq!(y.to_vec(), [1, 2, 3, 4]);
    /// ```
    #[fallible]
    pub fn pixel_unshuffle<R: Known, T: Shape>(&self) -> Result<Tensor<E, T, D>>
    where
        S: UnshufflePixels<R, Output = T>,
    {
        let (op, r, x) = ("pixel_unshuffle", R::VALUE, self.elements());
        let (Some((lead, &[c, h, w])), Some((steps, &[sc, sh, sw]))) =
            (x.sizes.split_last_chunk::<3>(), x.strides.split_last_chunk::<3>())
        else {
            return invalid(op, "images have three axes or more".to_owned());
        };
        if r == 0 || !h.is_multiple_of(r) || !w.is_multiple_of(r) {
            return invalid(op, format!("{h} rows and {w} columns do not divide by {r}"));
        }
        let sizes = [lead, &[c, r, r, h / r, w / r]].concat();
        let steps = [steps, &[sc, sh, sw, sh * r, sw * r]].concat();
        let result = [lead, &[c * r * r, h / r, w / r]].concat();
        expect_fit::<T>(op, &result)?;
        Ok(Tensor::dense(copied::<E, D>(x, &sizes, &steps)?, SizeArray::copied(&result)))
    }

    /// Channels interleaved between groups: the first of each of the `G` groups, then the second of each, ….
    ///
    /// Shape: that of `self`, `(N, C, …)` with at most seven axes. Dtypes: all.
    ///
    /// PyTorch: `torch.nn.functional.channel_shuffle`.
    ///
    /// # Panics
    /// If sizes known at run time are not divisible or memory runs out.
    ///
    /// ```
    /// use castiron::{dim, tensor};
    /// assert_eq!(tensor![[1, 2, 3, 4]].channel_shuffle::<dim!(2)>().to_vec(), [1, 3, 2, 4]);
    /// ```
    #[fallible]
    pub fn channel_shuffle<G: Known>(&self) -> Result<Self>
    where
        S: HasChannels,
        S::Channels: InGroups<G>,
    {
        let (op, groups, x) = ("channel_shuffle", G::VALUE, self.elements());
        let c = x.sizes[1];
        if groups == 0 || !c.is_multiple_of(groups) {
            return invalid(op, format!("{groups} groups do not divide {c} channels"));
        }
        if S::RANK > 7 {
            return invalid(op, "at most seven axes are taken apart".to_owned());
        }
        let own = c / groups;
        let sizes = [&x.sizes[..1], &[own, groups], &x.sizes[2..]].concat();
        let steps = [&x.strides[..1], &[x.strides[1], x.strides[1] * own], &x.strides[2..]].concat();
        Ok(Tensor::dense(copied::<E, D>(x, &sizes, &steps)?, self.shape()))
    }
}
