//! `pad`, `pixel_shuffle`, `pixel_unshuffle`, `channel_shuffle`.

use crate::any::AnyTensor;
use crate::any::base::by_width::{invalid, signed};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result};
use crate::tensor::{Circular, Constant, PadMode, Reflect, Replicate};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Padding before and after axes (`torch.nn.functional.pad`): two amounts for each axis, from the last axis on; negative ones cut off.
    /// `mode` is `"constant"`, filling with the value or zeros, or `"reflect"`, `"replicate"` or `"circular"`, which take elements of the
    /// tensor, along one to three axes after at least one other.
    ///
    /// # Errors
    /// If there are too many amounts, an axis is too small for them, the mode does not go with the dtype or the number of axes, or
    /// the value does not fit.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3]]);
    /// assert_eq!(x.pad(&[1, 2], "reflect", None)?.to_string(), "tensor([[2, 1, 2, 3, 2, 1]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(nn.functional.pad(input, pad, mode = "constant", value = None), dtypes = "all dtypes; reflect and replicate: all computing dtypes but bool")]
    pub fn pad(&self, amounts: &[i64], mode: &str, value: Option<ScalarValue>) -> Result<AnyTensor> {
        let op = "pad";
        let count = amounts.len() / 2;
        if !amounts.len().is_multiple_of(2) || count > self.rank() {
            let reason = format!("{amounts:?} are no pairs of amounts for a tensor with {} axes", self.rank());
            return invalid(op, reason);
        }
        let constant = mode == "constant";
        if !constant {
            if value.is_some_and(|value| value.real_part() != 0.0) {
                return invalid(op, format!("the mode {mode:?} takes no value"));
            }
            if !(1..=3).contains(&count) || !(count + 1..=count + 2).contains(&self.rank()) {
                let reason = format!(
                    "the mode {mode:?} pads the last one, two or three axes of tensors with one or two more, got {amounts:?} \
                     for a tensor with {} axes",
                    self.rank()
                );
                return invalid(op, reason);
            }
            if mode != "circular" && (self.dtype.is_shell() || self.dtype.category() == Category::Boolean) {
                let reason = format!("the mode {mode:?} does not admit it");
                return Err(Error::NotAdmitted { op, dtype: self.dtype, reason });
            }
            let batched = usize::from(self.rank() == count + 2);
            if mode != "circular" && self.sizes[batched..].contains(&0) {
                return invalid(op, format!("{mode:?} takes elements, of which shape {:?} has none", self.shape()));
            }
        }
        let fill = match value {
            Some(value) if constant => Some(self.fill_of(op, value)?),
            // PyTorch's default is the float zero, which this dtype cannot represent.
            None if constant && self.dtype == DType::F8E8M0FNU => Some(self.fill_of(op, ScalarValue::Float(0.0))?),
            _ => None,
        };
        let mut stretches = self.whole_axes();
        for (pair, at) in amounts.chunks_exact(2).zip((0..self.rank()).rev()) {
            let (size, before, after) = (self.sizes[at], pair[0] as isize, pair[1] as isize);
            let list = match mode {
                "constant" => PadMode::<f32>::stretches(Constant(0), size, before, after),
                "reflect" => PadMode::<f32>::stretches(Reflect, size, before, after),
                "replicate" => PadMode::<f32>::stretches(Replicate, size, before, after),
                "circular" => PadMode::<f32>::stretches(Circular, size, before, after),
                other => return invalid(op, format!("there is no mode {other:?}")),
            };
            stretches[at] = list.ok_or_else(|| Error::InvalidArgument {
                op,
                reason: format!("axis {at} of size {size} can't be padded by {before} before and {after} after"),
            })?;
        }
        if constant {
            return self.concat_in_format(op, &stretches, fill.as_ref());
        }
        self.concat_stretches(op, &stretches, None)
    }

    #[op(constant_pad_nd(input, pad, value = None))]
    fn constant_pad_by_name(&self, amounts: &[i64], value: Option<ScalarValue>) -> Result<AnyTensor> {
        self.pad(amounts, "constant", value)
    }

    /// A scalar of the dtype, on the host.
    fn fill_of(&self, op: &'static str, value: ScalarValue) -> Result<AnyTensor> {
        AnyTensor::scalar_of(op, value, self.dtype)
    }

    /// Channels rearranged to squares of `factor * factor` pixels (`torch.nn.functional.pixel_shuffle`).
    ///
    /// # Errors
    /// If there are fewer than three axes, or the channels are not divisible by the square.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[[1]], [[2]], [[3]], [[4]]]);
    /// assert_eq!(x.pixel_shuffle(2)?.to_string(), "tensor([[[1, 2],\n         [3, 4]]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(nn.functional.pixel_shuffle(input, upscale_factor), aliases("pixel_shuffle"))]
    pub fn pixel_shuffle(&self, factor: usize) -> Result<AnyTensor> {
        let op = "pixel_shuffle";
        let (leading, [channels, height, width]) = self.last_three(op)?;
        let square = factor.checked_mul(factor).filter(|&square| square > 0 && channels.is_multiple_of(square));
        let Some(square) = square else {
            return invalid(op, format!("{channels} channels are not divisible by the square of {factor}"));
        };
        let batch: usize = leading.iter().product();
        let (of, f) = (channels / square, factor as i64);
        let split = self.reshaped(&[batch as i64, of as i64, f, f, height as i64, width as i64])?;
        let times = |size: usize| {
            size.checked_mul(factor).ok_or_else(|| Error::TooLarge { op, sizes: [size, factor][..].into() })
        };
        let sizes = [leading, &[of, times(height)?, times(width)?]].concat();
        split.permute(&[0, 1, 4, 2, 5, 3])?.copied_to(&sizes)
    }

    /// Squares of `factor * factor` pixels rearranged to channels (`torch.nn.functional.pixel_unshuffle`).
    ///
    /// # Errors
    /// If there are fewer than three axes, or height or width are not divisible by the factor.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[[1, 2], [3, 4]]]);
    /// assert_eq!(x.pixel_unshuffle(2)?.reshape(&[4])?.to_string(), "tensor([1, 2, 3, 4])");
    /// assert_eq!(x.pixel_unshuffle(2)?.shape(), [4, 1, 1]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(nn.functional.pixel_unshuffle(input, downscale_factor), aliases("pixel_unshuffle"))]
    pub fn pixel_unshuffle(&self, factor: usize) -> Result<AnyTensor> {
        let op = "pixel_unshuffle";
        let (leading, [channels, height, width]) = self.last_three(op)?;
        if factor == 0 || height % factor != 0 || width % factor != 0 {
            return invalid(op, format!("{height} x {width} pixels are not divisible by {factor}"));
        }
        let batch: usize = leading.iter().product();
        let (rows, columns, f) = (height / factor, width / factor, factor as i64);
        let split = self.reshaped(&[batch as i64, channels as i64, rows as i64, f, columns as i64, f])?;
        let square = factor.checked_mul(factor).and_then(|square| square.checked_mul(channels));
        let deep = square.ok_or_else(|| Error::TooLarge { op, sizes: [channels, factor, factor][..].into() })?;
        let sizes = [leading, &[deep, rows, columns]].concat();
        split.permute(&[0, 1, 3, 5, 2, 4])?.copied_to(&sizes)
    }

    fn last_three(&self, op: &'static str) -> Result<(&[usize], [usize; 3])> {
        self.expect_rank(op, 3)?;
        let (leading, last) = self.sizes.split_at(self.rank() - 3);
        Ok((leading, [last[0], last[1], last[2]]))
    }

    /// A row-major copy reshaped to other sizes.
    fn copied_to(&self, sizes: &[usize]) -> Result<AnyTensor> {
        self.copied(&crate::layout::strides::row_major(&self.sizes))?.reshaped(&signed(sizes))
    }

    /// Channels, axis 1, interleaved between groups (`torch.nn.functional.channel_shuffle`).
    ///
    /// # Errors
    /// If there are fewer than three axes, or the channels are not divisible by the groups.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[[1], [2], [3], [4]]]);
    /// assert_eq!(x.channel_shuffle(2)?.reshape(&[4])?.to_string(), "tensor([1, 3, 2, 4])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(nn.functional.channel_shuffle(input, groups), aliases("channel_shuffle"))]
    pub fn channel_shuffle(&self, groups: usize) -> Result<AnyTensor> {
        let op = "channel_shuffle";
        self.expect_rank(op, 3)?;
        let channels = self.sizes[1];
        if groups == 0 || !channels.is_multiple_of(groups) {
            return invalid(op, format!("{channels} channels are not divisible by {groups} groups"));
        }
        let rest: usize = self.sizes[2..].iter().product();
        let split = [self.sizes[0], groups, channels / groups, rest];
        self.reshaped(&signed(&split))?.transpose(1, 2)?.copied_to(&self.sizes)
    }
}
