//! Operations along an axis that is cut, by one or two small collectives: their names end in `_over`, and they take the mesh.

use super::collective::owned;
use super::{Dist, expect_no_tape, tensor_of};
use crate::engine::Reduce;
use crate::error::Result;
use crate::mesh::{Mesh, block};
use crate::place::{At, Debt, IsSettled, Max, MeshAxes, MeshAxis, Settled};
use castiron::shape::{Broadcast, SizeArray};
use castiron::{Axis, Device, Dim, Dtype, Element, Float, HasAxis, Ordered, Real, Shape, Tensor, axis, shape};

/// The shape with size 1 for axis `I`.
type Kept<S, const I: isize> = <S as HasAxis<I>>::Kept;

impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
    /// The largest elements along a cut axis, of all ranks; no gradient comes back through them.
    #[track_caller]
    fn largest<M: MeshAxis, const I: isize>(&self, mesh: &Mesh<M::Mesh>) -> Result<Tensor<E, Kept<S, I>, D>>
    where
        E: Ordered,
        S: HasAxis<I>,
    {
        largest_of::<E, S, D, M, I>(&self.filled::<Max>(1 << <S as HasAxis<I>>::INDEX), mesh)
    }

    /// `exp(x) / sum(exp(x))` along an axis that is cut, by two small collectives ([`Tensor::softmax`](castiron::Tensor::softmax)). Computed
    /// without overflow.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    ///
    /// ```
    /// use castiron::{axis, dims, tensor};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Model }
    /// dims! { Rows, Classes }
    /// let likely = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let logits = Dist::<f32, (Rows, At<Classes, Model>)>::distribute(mesh, &tensor![[0.0, 1000.0, 0.0, 1000.0]]).unwrap();
    ///     logits.softmax_over(axis![1], mesh).unwrap().full_tensor(mesh).unwrap().to_vec()
    /// });
    /// assert_eq!(likely[0], [0.0, 0.5, 0.0, 0.5]);
    /// ```
    #[track_caller]
    pub fn softmax_over<M: MeshAxis, const I: isize, N: Dim>(
        &self,
        axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, S, Settled, D>>
    where
        E: Float,
        S: HasAxis<I, Dim = At<N, M>> + Broadcast<Kept<S, I>, Output = S>,
        U: IsSettled,
    {
        let (_, powers, sums) = self.powers::<M, I>(axis, mesh)?;
        Ok(Dist::new(powers / sums, self.sizes))
    }

    /// The logarithm of [`softmax_over`](Self::softmax_over), by two small collectives
    /// ([`Tensor::log_softmax`](castiron::Tensor::log_softmax)).
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn log_softmax_over<M: MeshAxis, const I: isize, N: Dim>(
        &self,
        axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, S, Settled, D>>
    where
        E: Float,
        S: HasAxis<I, Dim = At<N, M>> + Broadcast<Kept<S, I>, Output = S>,
        U: IsSettled,
    {
        let (shifted, _, sums) = self.powers::<M, I>(axis, mesh)?;
        Ok(Dist::new(shifted - sums.log(), self.sizes))
    }

    /// The elements less the largest along the axis, so that no power overflows; their powers, and the sums of these.
    #[track_caller]
    fn powers<M: MeshAxis, const I: isize>(
        &self,
        axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<(Tensor<E, S, D>, Tensor<E, S, D>, Tensor<E, Kept<S, I>, D>)>
    where
        E: Float,
        S: HasAxis<I> + Broadcast<Kept<S, I>, Output = S>,
    {
        let shifted = &self.local - self.largest::<M, I>(mesh)?;
        let powers = shifted.exp();
        let sums = self.summed::<M, I, E>(powers.sum_axis(axis.keepdim()), mesh)?;
        Ok((shifted, powers, sums))
    }

    /// The variance along an axis that is cut, by two small collectives ([`Tensor::var_axis`](castiron::Tensor::var_axis)): the mean first, then
    /// the squares of what differs from it. `correction` is 1 for samples, 0 for all there are.
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, or the ranks do different things.
    #[track_caller]
    pub fn var_over<M: MeshAxis, const I: isize, N: Dim>(
        &self,
        axis: Axis<I>,
        correction: usize,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<E, Kept<S, I>, Settled, D>>
    where
        E: Float,
        S: HasAxis<I, Dim = At<N, M>> + Broadcast<Kept<S, I>, Output = S>,
        U: IsSettled,
    {
        let size = self.sizes.as_ref()[<S as HasAxis<I>>::INDEX];
        let means = self.summed::<M, I, E>(self.local.sum_axis(axis.keepdim()), mesh)? / size as f64;
        let squares = (&self.local - means).square().sum_axis(axis.keepdim());
        let sums = self.summed::<M, I, E>(squares, mesh)?;
        let mut sizes = self.sizes.as_ref().to_vec();
        sizes[<S as HasAxis<I>>::INDEX] = 1;
        Ok(Dist::new(sums / (size.saturating_sub(correction)) as f64, SizeArray::copied(&sizes)))
    }

    /// Where the largest element along an axis that is cut is, by two small collectives ([`Tensor::argmax_axis`](castiron::Tensor::argmax_axis)).
    /// Of equals the first counts; NaN is larger than any number.
    ///
    /// # Errors
    /// If the axis is empty, MPI reports an error, memory runs out, the ranks do different things, or the tensor is of a tape: places have no
    /// derivative.
    ///
    /// ```
    /// use castiron::{axis, dims, tensor};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Model }
    /// dims! { Rows, Classes }
    /// let guesses = simulate::<Ranks, _>(3, &[0], |mesh| {
    ///     let logits = Dist::<f32, (Rows, At<Classes, Model>)>::distribute(mesh, &tensor![[0.0, 7.0, 5.0, 7.0]]).unwrap();
    ///     logits.argmax_over(axis![1], mesh).unwrap().into_whole().to_vec()
    /// });
    /// assert_eq!(guesses, [[1], [1], [1]]);
    /// ```
    #[track_caller]
    pub fn argmax_over<M: MeshAxis, const I: isize, N: Dim>(
        &self,
        axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<i64, <S as HasAxis<I>>::Removed, Settled, D>>
    where
        E: Real + Ordered,
        S: HasAxis<I, Dim = At<N, M>>,
        U: IsSettled,
    {
        expect_no_tape::<D>("argmax_over", "a place has no derivative: `.detach()` takes the tensor off the tape")?;
        let (line, at) = (mesh.line::<M>(), <S as HasAxis<I>>::INDEX);
        let size = self.sizes.as_ref()[at];
        let start = block(size, line.rank, line.size).start as i64;
        let mut sizes = self.sizes.as_ref().to_vec();
        sizes.remove(at);
        let local: Vec<usize> =
            self.local.shape().as_ref().iter().enumerate().filter(|&(i, _)| i != at).map(|(_, &n)| n).collect();
        let lines: usize = local.iter().product();
        // (A rank without elements of the axis has none to offer.)
        let has_some = self.local.shape().as_ref()[at] > 0;
        let (values, places) = if has_some {
            let places = self.local.argmax_axis(axis).cpu()?.to_vec();
            (self.local.amax_axis(axis).cpu()?.to_vec(), places.iter().map(|place| place + start).collect())
        } else {
            (Vec::new(), Vec::new())
        };
        let counts: Vec<usize> =
            (0..line.size).map(|rank| if block(size, rank, line.size).is_empty() { 0 } else { lines }).collect();
        let values = mesh.gather(line, &values, &counts)?;
        let places: Vec<i64> = mesh.gather(line, &places, &counts)?;
        let offers = counts.iter().filter(|&&count| count > 0).count();
        let winners = if lines == 0 || offers == 0 {
            if lines > 0 {
                return Err(castiron::Error::__empty_reduction("argmax", self.sizes.as_ref()).into());
            }
            Vec::new()
        } else {
            let offered = Tensor::<E, shape![_, _]>::try_from_vec_sized(values, [offers, lines])?;
            offered.argmax_axis(axis![0]).to_vec()
        };
        let found: Vec<i64> = winners.iter().enumerate().map(|(at, &by)| places[by as usize * lines + at]).collect();
        Ok(Dist::new(tensor_of(found, &local)?, SizeArray::copied(&sizes)))
    }

    /// Sums up to and including each element along an axis that is cut, by one small collective ([`Tensor::cumsum`](castiron::Tensor::cumsum)).
    ///
    /// # Errors
    /// If MPI reports one, memory runs out, the ranks do different things, or a gradient is to go back: through `all_gather` and `cumsum` it
    /// does.
    ///
    /// ```
    /// use castiron::{axis, dims};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let sums = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>,)>::from_fn(mesh, [5], |[row]| row as i64).unwrap();
    ///     x.cumsum_over(axis![0], mesh).unwrap().full_tensor(mesh).unwrap().to_vec()
    /// });
    /// assert_eq!(sums[0], [0, 1, 3, 6, 10]);
    /// ```
    #[track_caller]
    pub fn cumsum_over<M: MeshAxis, const I: isize, N: Dim, O: Dtype<Sum = O>>(
        &self,
        axis: Axis<I>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Dist<O, S, Settled, D>>
    where
        E: Dtype<Sum = O>,
        S: HasAxis<I, Dim = At<N, M>> + Broadcast<Kept<S, I>, Output = S>,
        U: IsSettled,
    {
        expect_no_tape::<D>("cumsum_over", "`all_gather` and `cumsum` have a way back")?;
        let line = mesh.line::<M>();
        let totals: Tensor<O, Kept<S, I>, D> = self.local.sum_axis(axis.keepdim());
        let own = totals.cpu()?.to_vec();
        let all = mesh.gather(line, &own, &vec![own.len(); line.size])?;
        let before = Tensor::<O, shape![_, _]>::try_from_vec_sized(all, [line.size, own.len()])?;
        let before = before.narrow(axis![0], 0, line.rank).sum_axis(axis![0]).to_vec();
        let before: Tensor<O, Kept<S, I>, D> = tensor_of(before, totals.shape().as_ref())?;
        Ok(Dist::new(self.local.cumsum(axis) + before, self.sizes))
    }

    /// The all-reduce of each rank's part of the sums along `M`.
    #[track_caller]
    fn summed<M: MeshAxis, const I: isize, F: Element>(
        &self,
        parts: Tensor<F, Kept<S, I>, D>,
        mesh: &Mesh<M::Mesh>,
    ) -> Result<Tensor<F, Kept<S, I>, D>>
    where
        S: HasAxis<I>,
    {
        let mut sizes = self.sizes.as_ref().to_vec();
        sizes[<S as HasAxis<I>>::INDEX] = 1;
        let parts: Dist<F, Kept<S, I>, Settled, D> = Dist::new(parts, SizeArray::copied(&sizes));
        let whole: Dist<F, Kept<S, I>, Settled, D> = parts.reduced(&[(M::INDEX, Reduce::Sum)], mesh)?;
        Ok(whole.local)
    }
}

/// For `[0, 2, 3] H W` it writes `batch_norm_over` of pictures.
macro_rules! batch_norms {
    ($([$($at:literal),+] $($axis:ident)*;)*) => {$(
        impl<E: Float, N: Dim, C: Dim, $($axis: Dim,)* U: IsSettled, D: Device> Dist<E, (N, C, $($axis),*), U, D> {
            /// Standardises each channel by its mean and its variance over all axes but the second, of which any may be cut, by two small
            /// collectives, then scales and shifts it: what [`Tensor::batch_norm_training`](castiron::Tensor::batch_norm_training) does of the
            /// whole batch. Returns the means and the variances (of all there are, `correction=0`), too.
            ///
            /// PyTorch: `torch.nn.SyncBatchNorm`.
            ///
            /// # Errors
            /// If MPI reports one, memory runs out, or the ranks do different things.
            #[track_caller]
            pub fn batch_norm_over<X: MeshAxes>(
                &self,
                weight: Option<&Dist<E, (C,), Settled, D>>,
                bias: Option<&Dist<E, (C,), Settled, D>>,
                eps: f64,
                mesh: &Mesh<X>,
            ) -> Result<(Dist<E, (N, C, $($axis),*), Settled, D>, Dist<E, (C,), Settled, D>, Dist<E, (C,), Settled, D>)> {
                let x: Dist<E, (N, C, $($axis),*), Settled, D> = Dist::new(self.local.clone(), self.sizes);
                let mean = x.mean_axis(axis![$($at),+].keepdim()).settled(mesh)?;
                let centered = &self.local - mean.block();
                let squares: Dist<E, (N, C, $($axis),*), Settled, D> = Dist::new(centered.square(), self.sizes);
                let variance = squares.mean_axis(axis![$($at),+].keepdim()).settled(mesh)?;
                let mut local = centered * (variance.block() + eps).rsqrt();
                if let Some(weight) = weight {
                    local *= &weight.local$(.unsqueeze(batch_norms!(@last $axis)))*;
                }
                if let Some(bias) = bias {
                    local += &bias.local$(.unsqueeze(batch_norms!(@last $axis)))*;
                }
                let [mean, variance] = [mean.local, variance.local]
                    .map(|moments| Dist::new(moments.select(axis![0], 0)$(.select(batch_norms!(@last $axis), 0))*, [self.sizes[1]]));
                Ok((Dist::new(local, self.sizes), mean, variance))
            }
        }
    )*};
    (@last $axis:ident) => { axis![-1] };
}
batch_norms! {
    [0];
    [0, 2] L;
    [0, 2, 3] H W;
    [0, 2, 3, 4] L H W;
}

/// The largest elements along an axis, of all ranks.
#[track_caller]
fn largest_of<E: Ordered, S: Shape + HasAxis<I>, D: Device, M: MeshAxis, const I: isize>(
    x: &Tensor<E, S, D>,
    mesh: &Mesh<M::Mesh>,
) -> Result<Tensor<E, Kept<S, I>, D>> {
    #[cfg(feature = "grad")]
    if const { D::RECORDS } {
        return crate::grad::constant(x, |inside| largest_of::<E, S, D::Inside, M, I>(inside, mesh));
    }
    let mut host = owned(x.amax_axis(Axis::<I>.keepdim()))?;
    mesh.reduce_in_place(mesh.line::<M>(), "all_reduce", host.as_mut_slice(), Reduce::Max)?;
    Ok(host.to_device::<D>()?)
}
