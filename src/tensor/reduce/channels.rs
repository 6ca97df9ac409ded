//! Normalisation of channels in training: `batch_norm_training`.

use crate::composite::Erased;
use crate::composite::normalization::channels::{as_wide, mixed_statistics};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::sealed::Sealed;
use crate::shape::{Dim, HasVariance, OneForEach, Shape};
use crate::storage::View;
use crate::tensor::loss::per_channel::PerChannel;
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;

/// Running means and variances that training updates: `(&mut mean, &mut variance)`, or `()` for none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no running statistics of `{C}` channels, of dtype `{E}` on `{D}`",
    label = "expected `(&mut mean, &mut variance)`, tensors with one axis, or `()` for none"
)]
pub trait RunningStatistics<E: Element, C, D: Device>: Sealed {
    /// Updates the running statistics by new ones, each of `count` elements.
    #[doc(hidden)]
    fn update(self, op: &'static str, new: [View<'_, D::Storage, f64>; 2], momentum: f64, count: usize) -> Result<()>
    where
        E: Dtype;
}
impl<E: Element, C, D: Device> RunningStatistics<E, C, D> for () {
    fn update(self, _: &'static str, _: [View<'_, D::Storage, f64>; 2], _: f64, _: usize) -> Result<()> {
        Ok(())
    }
}
impl<E, C, K, V, X, Y, D> RunningStatistics<E, C, D> for (&mut Tensor<E, (K,), X>, &mut Tensor<E, (V,), Y>)
where
    E: Element,
    K: Dim + OneForEach<C> + SameDevice<D, X>,
    V: Dim + OneForEach<C> + SameDevice<D, Y>,
    X: Device,
    Y: Device,
    D: Device,
{
    fn update(self, op: &'static str, new: [View<'_, D::Storage, f64>; 2], momentum: f64, count: usize) -> Result<()>
    where
        E: Dtype,
    {
        let (mean, variance) = (K::here_mut(self.0), V::here_mut(self.1));
        // Both are computed before either is written.
        let [of_mean, of_variance] = new.map(Erased::of);
        let own = [&mean.erased(), &variance.erased()];
        let [new_mean, new_variance] = mixed_statistics::<E, D>(op, own, [&of_mean, &of_variance], momentum, count)?;
        (*mean, *variance) = (new_mean.typed(op)?, new_variance.typed(op)?);
        Ok(())
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// [`batch_norm`](Self::batch_norm) by the mean and the variance of each channel of the input. Running ones become `(1 - momentum) *
    /// running + momentum * new`, with the unbiased variance.
    ///
    /// Shape: that of `self`, `(N, C, …)`. Dtypes: floating-point. The running statistics are `(&mut mean, &mut variance)`, or `()`.
    ///
    /// PyTorch: `torch.nn.functional.batch_norm` with `training=True`, where `momentum` is 0.1 and `eps` 1e-5 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not match, or channels have a single element, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[1.0], [3.0]];
    /// let (mut mean, mut variance) = (tensor![0.0], tensor![1.0]);
    /// let y = x.batch_norm_training((&mut mean, &mut variance), (), (), 0.5, 0.0);
    /// assert_eq!((y.to_vec(), mean.to_vec(), variance.to_vec()), (vec![-1.0, 1.0], vec![1.0], vec![1.5]));
    /// ```
    #[fallible]
    pub fn batch_norm_training<N, W, B>(&self, running: N, weight: W, bias: B, momentum: f64, eps: f64) -> Result<Self>
    where
        E: FloatFor<ops::losses::batch_norm>,
        S: HasVariance,
        N: RunningStatistics<E, S::Channels, D>,
        W: PerChannel<E, S::Channels, D>,
        B: PerChannel<E, S::Channels, D>,
    {
        let op = "batch_norm";
        let weight = weight.given().map(as_wide::<E, D>).transpose()?;
        let bias = bias.given().map(as_wide::<E, D>).transpose()?;
        let (result, new, count) = self.erased().batch_norm_by_itself([weight.as_ref(), bias.as_ref()], eps)?;
        running.update(op, new.each_ref().map(Erased::view), momentum, count)?;
        result.typed(op)
    }
}
