//! Distances and angles between rows, and losses of them: `pairwise_distance`, `cosine_similarity`, `pdist`, `triplet_margin_loss`,
//! `cosine_embedding_loss`, `margin_ranking_loss`. No memory is allocated for differences and products.

use super::reduction::expect_target;
use crate::composite::normalization::large::{ByPower, Powers, is_seen, may_have_overflowed};
use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{DType, Dtype, Element, Tuned};
use crate::error::{Error, Result, invalid};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::kernel::Copying;
use crate::ops::losses::{
    CosineEmbedding, Difference, LargePower, Lengths, LengthsFrom, Losing, LossReduction, MarginRanking, Product,
    Quotient, Smaller, TripletMargin,
};
use crate::ops::reduce::{self, VectorNorm};
use crate::shape::{AxisArg, Broadcast, Dyn, HasAxis, HasRank, Shape, TargetOf};
use crate::storage::{View, ViewMut};
use crate::tensor::{Reduction, SameDevice, SameDtype, Tensor, checked_numel};
use castiron_macros::{composites, fallible};

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The `p`-norms of `self - other + eps` along the last axis, which is removed; the two broadcast. In PyTorch `p` is 2 and `eps` 1e-6
    /// if not given.
    ///
    /// # Errors
    /// If shapes do not broadcast.
    #[op(nn.functional.pairwise_distance, dtypes = float)]
    #[any(by_hand)]
    #[typed(<F: Dtype, R, U: Shape, X: Device>(&self, other: &Tensor<F, R, X>, p: f64, eps: f64) -> Tensor<E, <U as HasAxis<-1>>::Removed, D>
        where
            E: FloatFor<ops::losses::pairwise_distance> + SameDtypeFor<F, ops::losses::pairwise_distance>,
            S: Broadcast<R, Output = U>,
            R: Shape + SameDevice<D, X>)]
    #[example(let x = tensor![[3.0, 4.0], [0.0, 1.0]]; let y = tensor![0.0, 0.0]; x.pairwise_distance(&y, 2.0, 0.0), x.pairwise_distance(&y, 2.0, 0.0, false), tensor![5.0, 1.0])]
    pub(crate) fn pairwise_distance(&self, other: &Erased<'_, E, D>, p: f64, eps: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.norms_of_differences("pairwise_distance", other, p, eps)
    }

    /// The `p`-norms of `self - other + eps` over the last axis; row-major.
    fn norms_of_differences(&self, op: &'static str, other: &Erased<'_, E, D>, p: f64, eps: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let (norm, sizes) = (VectorNorm::new(p), self.broadcast(op, other)?);
        if sizes.last() == Some(&0) && !reduce::Reducer::<E>::has_identity(norm) {
            return Err(Error::EmptyReduction { op, sizes: (&*sizes).into() });
        }
        let difference = Losing::<Difference>::new([eps, 0.0]);
        Ok(self.reduce_pairs::<E, E, _>(op, norm, difference, other, last_axis(&sizes))?.retyped())
    }

    /// The cosines of the angles between vectors along an axis, which is removed; the two broadcast. Norms are at least `eps`. Computed in
    /// `f64`. In PyTorch the axis is 1 and `eps` 1e-8 if not given.
    ///
    /// # Errors
    /// If shapes do not broadcast.
    #[op(nn.functional.cosine_similarity(x1, x2, dim = 1, eps = 1e-8), dtypes = float, aliases("cosine_similarity"))]
    #[any([self, other] = self.with_directions("cosine_similarity", other)?)]
    #[typed(<const I: isize, F: Dtype, R, U, X: Device>(&self, other: &Tensor<F, R, X>, axis: impl AxisArg<I>, eps: f64) -> Tensor<E, <U as HasAxis<I>>::Removed, D>
        where
            E: FloatFor<ops::losses::cosine_similarity> + SameDtypeFor<F, ops::losses::cosine_similarity>,
            S: Broadcast<R, Output = U>,
            U: Shape + HasAxis<I>,
            R: Shape + SameDevice<D, X>;
        dim = Axis({ let _ = axis; <U as HasAxis<I>>::INDEX }))]
    #[example(let x = tensor![[1.0, 0.0], [2.0, 2.0]]; let y = tensor![[0.0, 3.0], [1.0, 1.0]]; x.cosine_similarity(&y, axis![1], 1e-8), x.cosine_similarity(&y, 1, 1e-8), tensor![0.0, 1.0])]
    pub(crate) fn cosine_similarity(&self, other: &Erased<'_, E, D>, dim: Axis, eps: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "cosine_similarity";
        let mask = if self.broadcast(op, other)?.is_empty() { 0 } else { 1 << dim.0 };
        self.cosines::<LengthsFrom>(op, other, mask, eps)?.narrowed(op)
    }

    /// The cosines of angles over the axes of `mask`, divided by norms according to `F`; row-major.
    fn cosines<F: Tuned>(
        &self,
        op: &'static str,
        other: &Erased<'_, E, D>,
        mask: u32,
        eps: f64,
    ) -> Result<Owned<f64, D>>
    where
        E: Dtype,
    {
        let sizes = self.broadcast(op, other)?;
        checked_numel::<E>(op, &sizes)?;
        let (x, y) = (self.expand(op, &sizes)?, other.expand(op, &sizes)?);
        let product = |x: &Erased<'_, E, D>, y: &Erased<'_, E, D>| {
            x.reduce_pairs::<E, f64, _>(op, reduce::Sum, Losing::<Product>::new([0.0; 2]), y, mask)
        };
        let plain = if is_seen::<E, D>(x.view()) && is_seen::<E, D>(y.view()) {
            Some([product(&x, &y)?, product(&x, &x)?, product(&y, &y)?])
        } else {
            None
        };
        let mut fits = false;
        if let Some([_, of_x, of_y]) = &plain {
            let fits_f64 = |squares: &Owned<f64, D>| may_have_overflowed::<f64, D>(squares.view()).map(|over| !over);
            fits = fits_f64(of_x)? && fits_f64(of_y)?;
        }
        let [both, of_x, of_y] = match plain {
            Some(found) if fits => found,
            // Doubles have no wider dtype for their squares: they are scaled down first.
            _ if const { matches!(E::DTYPE, DType::F64) } => {
                let smaller = |x: &Erased<'_, E, D>| {
                    let powers = Powers::by::<LargePower, E, D>(x.view(), mask)?;
                    let to = strides::row_major(&sizes);
                    let storage = D::map2::<E, f64, f64>(ByPower, x.view(), powers.over(&sizes), &to)?;
                    Ok::<_, Error>(Owned::<f64, D>::dense(storage, sizes))
                };
                let (x, y) = (smaller(&x)?, smaller(&y)?);
                let product = |x: &Owned<f64, D>, y| x.reduce_pairs::<f64, f64, _>(op, reduce::Sum, ByPower, y, mask);
                [product(&x, &y)?, product(&x, &x)?, product(&y, &y)?]
            }
            // Squares of smaller floats fit doubles.
            _ => {
                let product = |x: &Erased<'_, E, D>, y: &Erased<'_, E, D>| {
                    x.reduce_pairs::<E, f64, _>(op, reduce::Sum, ByPower, y, mask)
                };
                [product(&x, &y)?, product(&x, &x)?, product(&y, &y)?]
            }
        };
        let lengths = of_x.map2_dense::<f64, f64>(op, Losing::<F>::new([eps, 0.0]), &of_y)?;
        both.map2_dense::<f64, f64>(op, Losing::<Quotient>::new([0.0; 2]), &lengths)
    }

    /// The margin ranking loss of two scores: `max(0, margin - target * (self - other))`; the target is 1 if `self` should be larger, -1 if
    /// smaller. In PyTorch `margin` is 0 if not given.
    ///
    /// All three have one shape, which the losses have, and one dtype; those of an `AnyTensor` have the same rank, broadcast and promote.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.margin_ranking_loss(input1, input2, target, margin = 0.0, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = real, over = float)]
    #[any(
        if !self.are_alike([other, target]) { return self.margin_ranking_of_dtypes(other, target, margin, reduction); },
        [self, other, target] = self.of_one_shape("margin_ranking_loss", [other, target])?
    )]
    #[typed(<T, U, R: Reduction<S>, F: Element, G: Element, X: Device, Y: Device>(&self, other: &Tensor<F, T, X>, target: &Tensor<G, U, Y>, margin: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::margin_ranking_loss>,
            T: Shape + TargetOf<S>,
            U: Shape + TargetOf<S>,
            T: SameDevice<D, X> + SameDtype<E, F, ops::losses::margin_ranking_loss>,
            U: SameDevice<D, Y> + SameDtype<E, G, ops::losses::margin_ranking_loss>)]
    #[example(let x = tensor![1.0, 2.0]; let y = tensor![3.0, 1.0]; let order = tensor![1.0, 1.0]; x.margin_ranking_loss(&y, &order, 0.5, Unreduced), x.margin_ranking_loss(&y, &order, 0.5, LossReduction::None), tensor![2.5, 0.0])]
    pub(crate) fn margin_ranking_loss(
        &self,
        other: &Erased<'_, E, D>,
        target: &Erased<'_, E, D>,
        margin: f64,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "margin_ranking_loss";
        let differences = self.map2_dense::<E, f64>(op, Losing::<Difference>::new([0.0; 2]), other)?;
        differences.dense_losses(op, Losing::<MarginRanking>::new([margin, 0.0]), target, reduction)
    }

    /// The loss of pairs of vectors along the last axis: `1 - cos` where the target is 1, `max(0, cos - margin)` where it is -1. In PyTorch
    /// `margin` is 0 if not given.
    ///
    /// Both have one shape; the target and the losses lack the last axis. All have one dtype.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.cosine_embedding_loss, dtypes = float)]
    #[any(by_hand)]
    #[typed(<T, U, R, F: Element, G: Element, X: Device, Y: Device>(&self, other: &Tensor<F, T, X>, target: &Tensor<G, U, Y>, margin: f64, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::cosine_embedding_loss>,
            T: Shape + TargetOf<S>,
            U: Shape + TargetOf<<S as HasAxis<-1>>::Removed>,
            R: Reduction<<S as HasAxis<-1>>::Removed>,
            T: SameDevice<D, X> + SameDtype<E, F, ops::losses::cosine_embedding_loss>,
            U: SameDevice<D, Y> + SameDtype<E, G, ops::losses::cosine_embedding_loss>)]
    #[example(let x = tensor![[1.0, 0.0], [0.0, 2.0]]; let y = tensor![[0.0, 1.0], [0.0, 1.0]]; let target = tensor![1.0, -1.0]; x.cosine_embedding_loss(&y, &target, 0.5, Unreduced), x.cosine_embedding_loss(&y, &target, 0.5, LossReduction::None), tensor![1.0, 0.5])]
    pub(crate) fn cosine_embedding_loss(
        &self,
        other: &Erased<'_, E, D>,
        target: &Erased<'_, E, D>,
        margin: f64,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "cosine_embedding_loss";
        expect_target(op, self.rows(), target.sizes())?;
        let cosines = self.cosines::<Lengths>(op, other, last_axis(self.sizes()), 1e-12)?;
        cosines.dense_losses(op, Losing::<CosineEmbedding>::new([margin, 0.0]), target, reduction)
    }

    /// The triplet margin loss of anchors, `self`, positive and negative vectors along the last axis: `max(0, d(self, positive) - d(self,
    /// negative) + margin)`. With `swap` the distance of positive and negative vectors is used if it is smaller than that of anchors and
    /// negative ones. Distances are [`pairwise_distance`](Self::pairwise_distance). In PyTorch `margin` is 1, `p` 2, `eps` 1e-6 and `swap`
    /// false if not given.
    ///
    /// All three have one shape and one dtype; those of an `AnyTensor` have the same rank, broadcast and promote. The losses lack the last
    /// axis.
    ///
    /// # Errors
    /// If shapes do not match.
    #[op(nn.functional.triplet_margin_loss(anchor, positive, negative, margin = 1.0, p = 2.0, eps = 1e-6, swap = false, size_average = _, reduce = _, reduction = LossReduction::Mean), dtypes = numeric, over = float)]
    #[any(
        if !self.are_alike([positive, negative]) {
            let distance = |a: &crate::any::AnyTensor, b: &crate::any::AnyTensor| a.pairwise_distance(b, p, eps, false);
            return self.by_distance("triplet_margin_loss", [positive, negative], distance, margin, swap, reduction);
        },
        [self, positive, negative] = self.of_one_shape("triplet_margin_loss", [positive, negative])?
    )]
    #[typed(<T, U, R, F: Element, G: Element, X: Device, Y: Device>(&self, near: &Tensor<F, T, X>, far: &Tensor<G, U, Y>, margin: f64, p: f64, eps: f64, swap: bool, reduction: R) -> Tensor<E, R::Shape, D>
        where
            E: FloatFor<ops::losses::triplet_margin_loss>,
            T: Shape + TargetOf<S>,
            U: Shape + TargetOf<S>,
            R: Reduction<<S as HasAxis<-1>>::Removed>,
            T: SameDevice<D, X> + SameDtype<E, F, ops::losses::triplet_margin_loss>,
            U: SameDevice<D, Y> + SameDtype<E, G, ops::losses::triplet_margin_loss>)]
    #[example(let anchor = tensor![[0.0, 0.0]]; let near = tensor![[3.0, 4.0]]; let far = tensor![[0.0, 2.0]]; anchor.triplet_margin_loss(&near, &far, 1.0, 2.0, 0.0, false, Mean), anchor.triplet_margin_loss(&near, &far, 1.0, 2.0, 0.0, false, LossReduction::Mean), Tensor::scalar(4.0))]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn triplet_margin_loss(
        &self,
        positive: &Erased<'_, E, D>,
        negative: &Erased<'_, E, D>,
        margin: f64,
        p: f64,
        eps: f64,
        swap: bool,
        reduction: LossReduction,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "triplet_margin_loss";
        let to_near = self.norms_of_differences(op, positive, p, eps)?;
        let mut to_far = self.norms_of_differences(op, negative, p, eps)?;
        if swap {
            to_far = to_far.smaller(op, &positive.norms_of_differences(op, negative, p, eps)?)?;
        }
        to_near.dense_losses(op, Losing::<TripletMargin>::new([margin, 0.0]), &to_far, reduction)
    }

    /// The smaller of two distances.
    fn smaller(&self, op: &'static str, other: &Erased<'_, E, D>) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.map2_dense::<E, E>(op, Losing::<Smaller>::new([0.0; 2]), other)
    }

    /// The `p`-norms of the differences of all pairs of rows of a matrix: of row 0 and 1, 0 and 2, …, 1 and 2, …. For `(N, M)` there are `N
    /// * (N - 1) / 2`. In PyTorch `p` is 2 if not given.
    ///
    /// # Errors
    /// If the tensor is not a matrix or `p` is negative.
    #[op(nn.functional.pdist(input, p = 2.0), dtypes = float, aliases("pdist"))]
    #[typed((&self, p: f64) -> Tensor<E, (Dyn,), D>
        where
            S: HasRank<2, ops::losses::pdist>,
            E: FloatFor<ops::losses::pdist>)]
    #[example(let x = tensor![[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]; x.pdist(1.0).with_shape::<shape![3]>(), x.pdist(1.0), tensor![7.0, 1.0, 6.0])]
    pub(crate) fn pdist(&self, p: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "pdist";
        // (Each row is compared with all others: contiguous rows are read in vectors.)
        let x = self.contiguous()?;
        let (&[n, m], &[down, across]) = (x.sizes(), x.strides()) else {
            return invalid(op, format!("a matrix is wanted, got a tensor with {} axes", self.rank()));
        };
        if p.is_nan() || p < 0.0 {
            return invalid(op, format!("`p` must not be negative, got {p}"));
        }
        let count = n.checked_mul(n.saturating_sub(1)).ok_or(Error::TooLarge { op, sizes: [n, n][..].into() })? / 2;
        checked_numel::<E>(op, &[count])?;
        let x = x.view();
        let mut storage = D::zeroed::<E>(Some(x.buffer), count)?;
        if m == 0 || !D::has_data(x.buffer) {
            return Ok(Erased::list(storage, count));
        }
        let (mut at, norm) = (0, VectorNorm::of_difference(p));
        for row in 0..n.saturating_sub(1) {
            let (sizes, one, others) = ([n - row - 1, m], [0, across], [down, across]);
            let first = View::<_, E>::new(x.buffer, x.offset + row * down, &sizes, &one);
            let second = View::<_, E>::new(x.buffer, x.offset + (row + 1) * down, &sizes, &others);
            let norms = D::reduce_pairs::<E, E, E>(norm, Losing::<Difference>::new([0.0; 2]), first, second, 0b10)?;
            let out = ViewMut::<_, E>::new(&mut storage, at, &sizes[..1], &[1]);
            D::map1_into::<E, E>(Copying, View::new(&norms, 0, &sizes[..1], &[1]), out)?;
            at += sizes[0];
        }
        Ok(Erased::list(storage, count))
    }

    /// The sizes without the last axis.
    pub(super) fn rows(&self) -> &[usize] {
        &self.sizes()[..self.rank().saturating_sub(1)]
    }
}

/// The last axis, as a bit mask; a zero-dim tensor has none.
pub(super) fn last_axis(sizes: &[usize]) -> u32 {
    sizes.len().checked_sub(1).map_or(0, |axis| 1 << axis)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// [`triplet_margin_loss`](Self::triplet_margin_loss) with any distance function of two tensors, which may have any shape.
    ///
    /// PyTorch: `torch.nn.functional.triplet_margin_with_distance_loss`, where `margin` is 1 and `swap` false if not given.
    ///
    /// # Panics
    /// If sizes known at run time differ, the distance function panics or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, reduction::Mean, shape, tensor, Tensor};
    /// let (anchor, near, far) = (tensor![[0.0, 0.0]], tensor![[3.0, 4.0]], tensor![[0.0, 2.0]]);
    /// let city_block = |x: &Tensor<f32, shape![1, 2]>, y: &Tensor<f32, shape![1, 2]>| (x - y).abs().sum_axis(axis![1]);
    /// assert_eq!(anchor.triplet_margin_with_distance_loss(&near, &far, city_block, 1.0, false, Mean).item(), 6.0);
    /// ```
    #[fallible]
    pub fn triplet_margin_with_distance_loss<T: Shape, R: Reduction<T>>(
        &self,
        near: &Tensor<E, S, D>,
        far: &Tensor<E, S, D>,
        distance: impl Fn(&Tensor<E, S, D>, &Tensor<E, S, D>) -> Tensor<E, T, D>,
        margin: f64,
        swap: bool,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::triplet_margin_loss>,
    {
        let (_, op) = (reduction, "triplet_margin_with_distance_loss");
        let to_near = distance(self, near);
        let to_far = distance(self, far);
        expect_target(op, to_near.shape().as_ref(), to_far.shape().as_ref())?;
        let (to_near, mut to_far) = (to_near.erased(), to_far.erased().share());
        if swap {
            let between = distance(near, far);
            expect_target(op, to_near.sizes(), between.shape().as_ref())?;
            to_far = to_far.smaller(op, &between.erased())?;
        }
        let kernel = Losing::<TripletMargin>::new([margin, 0.0]);
        to_near.dense_losses::<_, E, E>(op, kernel, &to_far, R::KIND)?.typed(op)
    }
}
