//! Distances and angles between rows, and losses of them: `pairwise_distance`, `cosine_similarity`, `pdist`, `triplet_margin_loss`,
//! `cosine_embedding_loss`, `margin_ranking_loss`. Differences and products have no memory of their own.
//! Uses `loss::reduction`, `loss::pairs`, `ops::losses`.

use super::pairs::expect_target;
use super::reduction::{Reduction, of_pairs, result};
use crate::device::Device;
use crate::dtype::{DType, Dtype, Element, Tuned};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::kernel::Copying;
use crate::ops::losses::{
    CosineEmbedding, Difference, LargePower, Lengths, LengthsFrom, Losing, LossReduction, MarginRanking, Product,
    Quotient, Smaller, TripletMargin,
};
use crate::ops::reduce::{self, VectorNorm};
use crate::shape::{AxisArg, Broadcast, Dyn, HasAxis, HasRank, Shape, SizeArray, TargetOf};
use crate::storage::{View, ViewMut};
use crate::tensor::elementwise::apply::broadcast;
use crate::tensor::reduce::large::{ByPower, Powers, is_seen, may_have_overflowed};
use crate::tensor::{SameDevice, SameDtype, Tensor, checked_numel};
use castiron_macros::fallible;

/// The last axis, as a set of axes; a zero-dim tensor has none.
fn last_axis(sizes: &[usize]) -> u32 {
    sizes.len().checked_sub(1).map_or(0, |axis| 1 << axis)
}

/// The `p`-norms of `x - y + eps` over the last axis, of views of the same sizes; row-major.
pub(crate) fn norms_of_differences<E: Dtype, D: Device>(
    op: &'static str,
    [x, y]: [View<'_, D::Storage, E>; 2],
    p: f64,
    eps: f64,
) -> Result<D::Storage> {
    let norm = VectorNorm::new(p);
    if x.sizes.last() == Some(&0) && !reduce::Reducer::<E>::has_identity(norm) {
        return Err(Error::EmptyReduction { op, sizes: x.sizes.into() });
    }
    D::reduce_pairs::<E, E, E>(norm, Losing::<Difference>::new([eps, 0.0]), x, y, last_axis(x.sizes))
}

/// The cosines of angles over the axes of `mask`, in `f64`, divided by lengths as `F` has them.
fn cosines<F: Tuned, E: Dtype, D: Device>(
    [x, y]: [View<'_, D::Storage, E>; 2],
    mask: u32,
    eps: f64,
    kept: &[usize],
) -> Result<D::Storage> {
    let to = strides::row_major(kept);
    let product = |x, y| D::reduce_pairs::<E, E, f64>(reduce::Sum, Losing::<Product>::new([0.0; 2]), x, y, mask);
    let plain = if is_seen::<E, D>(x) && is_seen::<E, D>(y) {
        Some([product(x, y)?, product(x, x)?, product(y, y)?])
    } else {
        None
    };
    let mut fits = false;
    if let Some([_, of_x, of_y]) = &plain {
        let fits_f64 = |squares| may_have_overflowed::<f64, D>(View::new(squares, 0, kept, &to)).map(|over| !over);
        fits = fits_f64(of_x)? && fits_f64(of_y)?;
    }
    let [both, of_x, of_y] = match plain {
        Some(found) if fits => found,
        // Of doubles there are no larger ones: they are made smaller first.
        _ if const { matches!(E::DTYPE, DType::F64) } => {
            let to = strides::row_major(x.sizes);
            let smaller = |x: View<'_, D::Storage, E>| {
                D::map2::<E, f64, f64>(ByPower, x, Powers::by::<LargePower, E, D>(x, mask)?.over(x.sizes), &to)
            };
            let (smaller_x, smaller_y) = (smaller(x)?, smaller(y)?);
            let [x, y] = [&smaller_x, &smaller_y].map(|made| View::<_, f64>::new(made, 0, x.sizes, &to));
            let product = |x, y| D::reduce_pairs::<f64, f64, f64>(reduce::Sum, ByPower, x, y, mask);
            [product(x, y)?, product(x, x)?, product(y, y)?]
        }
        // Squares of smaller floats are no larger than doubles.
        _ => {
            let product = |x, y| D::reduce_pairs::<E, E, f64>(reduce::Sum, ByPower, x, y, mask);
            [product(x, y)?, product(x, x)?, product(y, y)?]
        }
    };
    let of = |storage| View::<_, f64>::new(storage, 0, kept, &to);
    let lengths = D::map2::<f64, f64, f64>(Losing::<F>::new([eps, 0.0]), of(&of_x), of(&of_y), &to)?;
    D::map2::<f64, f64, f64>(Losing::<Quotient>::new([0.0; 2]), of(&both), of(&lengths), &to)
}

/// The cosines of angles along an axis, of views of the same sizes, and their sizes; row-major. A length counts as `eps` at least.
pub(crate) fn cosines_along<E: Dtype, D: Device>(
    both: [View<'_, D::Storage, E>; 2],
    at: usize,
    eps: f64,
) -> Result<(D::Storage, Vec<usize>)> {
    let (mut kept, mut mask) = (both[0].sizes.to_owned(), 0);
    if !kept.is_empty() {
        (_, mask) = (kept.remove(at), 1 << at);
    }
    let cosines = cosines::<LengthsFrom, E, D>(both, mask, eps, &kept)?;
    Ok((super::reduction::narrowed_all::<E, D>(cosines, &kept)?, kept))
}

/// `margin_ranking_loss` of views of the same sizes.
pub(crate) fn margin_ranking<E: Dtype, D: Device>(
    [x, y]: [View<'_, D::Storage, E>; 2],
    target: View<'_, D::Storage, E>,
    margin: f64,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let to = strides::row_major(x.sizes);
    let differences = D::map2::<E, E, f64>(Losing::<Difference>::new([0.0; 2]), x, y, &to)?;
    let differences = View::<_, f64>::new(&differences, 0, x.sizes, &to);
    of_pairs::<_, f64, E, E, D>(Losing::<MarginRanking>::new([margin, 0.0]), differences, target, reduction, &to)
}

/// `cosine_embedding_loss` of rows of the same sizes.
pub(crate) fn cosine_embedding<E: Dtype, D: Device>(
    both: [View<'_, D::Storage, E>; 2],
    target: View<'_, D::Storage, E>,
    margin: f64,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let cosines = cosines::<Lengths, E, D>(both, last_axis(both[0].sizes), 1e-12, target.sizes)?;
    let to = strides::row_major(target.sizes);
    let cosines = View::<_, f64>::new(&cosines, 0, target.sizes, &to);
    of_pairs::<_, f64, E, E, D>(Losing::<CosineEmbedding>::new([margin, 0.0]), cosines, target, reduction, &to)
}

/// The smaller of two distances, row-major.
fn smaller<E: Dtype, D: Device>(a: &D::Storage, b: &D::Storage, sizes: &[usize]) -> Result<D::Storage> {
    let to = strides::row_major(sizes);
    let of = |storage| View::<_, E>::new(storage, 0, sizes, &to);
    D::map2::<E, E, E>(Losing::<Smaller>::new([0.0; 2]), of(a), of(b), &to)
}

/// `triplet_margin_loss` of views of the same sizes.
pub(crate) fn triplet_margin<E: Dtype, D: Device>(
    op: &'static str,
    [x, near, far]: [View<'_, D::Storage, E>; 3],
    [margin, p, eps]: [f64; 3],
    swap: bool,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let kept = &x.sizes[..x.sizes.len().saturating_sub(1)];
    let to_near = norms_of_differences::<E, D>(op, [x, near], p, eps)?;
    let mut to_far = norms_of_differences::<E, D>(op, [x, far], p, eps)?;
    if swap {
        to_far = smaller::<E, D>(&to_far, &norms_of_differences::<E, D>(op, [near, far], p, eps)?, kept)?;
    }
    triplets::<E, D>([&to_near, &to_far], kept, margin, reduction)
}

/// What becomes of how far distances are from being apart by a margin; both row-major.
fn triplets<E: Dtype, D: Device>(
    [near, far]: [&D::Storage; 2],
    sizes: &[usize],
    margin: f64,
    reduction: LossReduction,
) -> Result<D::Storage> {
    let to = strides::row_major(sizes);
    let of = |storage| View::<_, E>::new(storage, 0, sizes, &to);
    of_pairs::<_, E, E, E, D>(Losing::<TripletMargin>::new([margin, 0.0]), of(near), of(far), reduction, &to)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The `p`-norms of `self - other + eps` along the last axis; the two broadcast.
    ///
    /// The last axis is left out. Dtypes: floating-point, one for both.
    ///
    /// PyTorch: `torch.nn.functional.pairwise_distance`, where `p` is 2 and `eps` 1e-6 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let distances: Tensor<f32, shape![2]> = tensor![[3.0, 4.0], [0.0, 1.0]].pairwise_distance(&tensor![0.0, 0.0], 2.0, 0.0);
    /// assert_eq!(distances.to_vec(), [5.0, 1.0]);
    /// ```
    #[fallible]
    pub fn pairwise_distance<F: Dtype, R, U: Shape, X: Device>(
        &self,
        other: &Tensor<F, R, X>,
        p: f64,
        eps: f64,
    ) -> Result<Tensor<E, <U as HasAxis<-1>>::Removed, D>>
    where
        E: FloatFor<ops::losses::pairwise_distance> + SameDtypeFor<F, ops::losses::pairwise_distance>,
        S: Broadcast<R, Output = U>,
        R: Shape + SameDevice<D, X>,
    {
        let other = R::here(other);
        let (op, x, y) = ("pairwise_distance", self.elements(), other.elements().known_as::<E>());
        let sizes = broadcast::<U, E>(op, x.sizes, y.sizes)?;
        let sizes = sizes.as_ref();
        let (from_x, from_y) =
            (strides::broadcast_list(x.sizes, x.strides, sizes), strides::broadcast_list(y.sizes, y.strides, sizes));
        let storage =
            norms_of_differences::<E, D>(op, [x.restrided(sizes, &from_x), y.restrided(sizes, &from_y)], p, eps)?;
        Ok(Tensor::dense(storage, SizeArray::copied(&sizes[..sizes.len().saturating_sub(1)])))
    }

    /// The cosines of the angles between vectors along an axis; the two broadcast. A length counts as `eps` at least.
    ///
    /// The axis is left out. Dtypes: floating-point, one for both; computed in `f64`.
    ///
    /// PyTorch: `torch.nn.functional.cosine_similarity`, where the axis is 1 and `eps` 1e-8 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let cosines = tensor![[1.0, 0.0], [2.0, 2.0]].cosine_similarity(&tensor![[0.0, 3.0], [1.0, 1.0]], axis![1], 1e-8);
    /// assert_eq!(cosines.to_vec(), [0.0, 1.0]);
    /// ```
    #[fallible]
    pub fn cosine_similarity<const I: isize, F: Dtype, R, U, X: Device>(
        &self,
        other: &Tensor<F, R, X>,
        axis: impl AxisArg<I>,
        eps: f64,
    ) -> Result<Tensor<E, <U as HasAxis<I>>::Removed, D>>
    where
        E: FloatFor<ops::losses::cosine_similarity> + SameDtypeFor<F, ops::losses::cosine_similarity>,
        S: Broadcast<R, Output = U>,
        U: Shape + HasAxis<I>,
        R: Shape + SameDevice<D, X>,
    {
        let other = R::here(other);
        let _ = axis;
        let (x, y) = (self.elements(), other.elements().known_as::<E>());
        let sizes = broadcast::<U, E>("cosine_similarity", x.sizes, y.sizes)?;
        let sizes = sizes.as_ref();
        let (from_x, from_y) =
            (strides::broadcast_list(x.sizes, x.strides, sizes), strides::broadcast_list(y.sizes, y.strides, sizes));
        let both = [x.restrided(sizes, &from_x), y.restrided(sizes, &from_y)];
        let (storage, kept) = cosines_along::<E, D>(both, <U as HasAxis<I>>::INDEX, eps)?;
        Ok(Tensor::dense(storage, SizeArray::copied(&kept)))
    }

    /// How far two scores are from the order that the target says: `self` is to be larger by `margin` where it is 1, smaller where it
    /// is -1.
    ///
    /// All three have one shape, which the losses have. Dtypes: floating-point, one for all.
    ///
    /// PyTorch: `torch.nn.functional.margin_ranking_loss`, where `margin` is 0 if not given.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Unreduced, tensor};
    /// let (x, y, order) = (tensor![1.0, 2.0], tensor![3.0, 1.0], tensor![1.0, 1.0]);
    /// assert_eq!(x.margin_ranking_loss(&y, &order, 0.5, Unreduced).to_vec(), [2.5, 0.0]);
    /// ```
    #[fallible]
    pub fn margin_ranking_loss<T, U, R: Reduction<S>, F: Element, G: Element, X: Device, Y: Device>(
        &self,
        other: &Tensor<F, T, X>,
        target: &Tensor<G, U, Y>,
        margin: f64,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::margin_ranking_loss>,
        T: Shape + TargetOf<S>,
        U: Shape + TargetOf<S>,
        T: SameDevice<D, X> + SameDtype<E, F, ops::losses::margin_ranking_loss>,
        U: SameDevice<D, Y> + SameDtype<E, G, ops::losses::margin_ranking_loss>,
    {
        let (other, target) = (T::alike(T::here(other)), U::alike(U::here(target)));
        let (_, op) = (reduction, "margin_ranking_loss");
        let (x, y, target) = (self.elements(), other.elements(), target.elements());
        expect_target(op, x.sizes, y.sizes)?;
        expect_target(op, x.sizes, target.sizes)?;
        Ok(result(margin_ranking::<E, D>([x, y], target, margin, R::KIND)?, x.sizes, R::KIND))
    }

    /// The loss of pairs of vectors along the last axis: how far their cosine is below 1 where the target is 1, how far it is above
    /// `margin` where that is -1.
    ///
    /// Both have one shape; the target, and the losses, lack the last axis. Dtypes: floating-point, one for all.
    ///
    /// PyTorch: `torch.nn.functional.cosine_embedding_loss`, where `margin` is 0 if not given.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Unreduced, tensor};
    /// let (x, y) = (tensor![[1.0, 0.0], [0.0, 2.0]], tensor![[0.0, 1.0], [0.0, 1.0]]);
    /// assert_eq!(x.cosine_embedding_loss(&y, &tensor![1.0, -1.0], 0.5, Unreduced).to_vec(), [1.0, 0.5]);
    /// ```
    #[fallible]
    pub fn cosine_embedding_loss<T, U, R, F: Element, G: Element, X: Device, Y: Device>(
        &self,
        other: &Tensor<F, T, X>,
        target: &Tensor<G, U, Y>,
        margin: f64,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::cosine_embedding_loss>,
        T: Shape + TargetOf<S>,
        U: Shape + TargetOf<<S as HasAxis<-1>>::Removed>,
        R: Reduction<<S as HasAxis<-1>>::Removed>,
        T: SameDevice<D, X> + SameDtype<E, F, ops::losses::cosine_embedding_loss>,
        U: SameDevice<D, Y> + SameDtype<E, G, ops::losses::cosine_embedding_loss>,
    {
        let (other, target) = (T::alike(T::here(other)), U::alike(U::here(target)));
        let (_, op) = (reduction, "cosine_embedding_loss");
        let (x, y, target) = (self.elements(), other.elements(), target.elements());
        expect_target(op, x.sizes, y.sizes)?;
        expect_target(op, &x.sizes[..x.sizes.len().saturating_sub(1)], target.sizes)?;
        Ok(result(cosine_embedding::<E, D>([x, y], target, margin, R::KIND)?, target.sizes, R::KIND))
    }

    /// The loss of anchors, `self`, beside vectors that are to be near and others that are to be far, along the last axis: how much
    /// farther the near ones are than the far ones less `margin`. With `swap` the far ones' distance from the near ones counts where it
    /// is smaller. Distances are [`pairwise_distance`](Self::pairwise_distance).
    ///
    /// All three have one shape; the losses lack the last axis. Dtypes: floating-point, one for all.
    ///
    /// PyTorch: `torch.nn.functional.triplet_margin_loss`, where `margin` is 1, `p` 2, `eps` 1e-6 and `swap` false if not given.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{reduction::Mean, tensor};
    /// let (anchor, near, far) = (tensor![[0.0, 0.0]], tensor![[3.0, 4.0]], tensor![[0.0, 2.0]]);
    /// assert_eq!(anchor.triplet_margin_loss(&near, &far, 1.0, 2.0, 0.0, false, Mean).item(), 4.0);
    /// ```
    #[fallible]
    #[allow(clippy::too_many_arguments)]
    pub fn triplet_margin_loss<T, U, R, F: Element, G: Element, X: Device, Y: Device>(
        &self,
        near: &Tensor<F, T, X>,
        far: &Tensor<G, U, Y>,
        margin: f64,
        p: f64,
        eps: f64,
        swap: bool,
        reduction: R,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: FloatFor<ops::losses::triplet_margin_loss>,
        T: Shape + TargetOf<S>,
        U: Shape + TargetOf<S>,
        R: Reduction<<S as HasAxis<-1>>::Removed>,
        T: SameDevice<D, X> + SameDtype<E, F, ops::losses::triplet_margin_loss>,
        U: SameDevice<D, Y> + SameDtype<E, G, ops::losses::triplet_margin_loss>,
    {
        let (near, far) = (T::alike(T::here(near)), U::alike(U::here(far)));
        let (_, op) = (reduction, "triplet_margin_loss");
        let (x, near, far) = (self.elements(), near.elements(), far.elements());
        expect_target(op, x.sizes, near.sizes)?;
        expect_target(op, x.sizes, far.sizes)?;
        let kept = &x.sizes[..x.sizes.len().saturating_sub(1)];
        let storage = triplet_margin::<E, D>(op, [x, near, far], [margin, p, eps], swap, R::KIND)?;
        Ok(result(storage, kept, R::KIND))
    }

    /// [`triplet_margin_loss`](Self::triplet_margin_loss) by any distance of two tensors, which may have any shape.
    ///
    /// PyTorch: `torch.nn.functional.triplet_margin_with_distance_loss`, where `margin` is 1 and `swap` false if not given.
    ///
    /// # Panics
    /// If sizes known at run time differ, the distance panics or memory runs out.
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
        let to_near = distance(self, near).try_contiguous()?;
        let mut to_far = distance(self, far).try_contiguous()?;
        let sizes = to_near.shape();
        expect_target(op, sizes.as_ref(), to_far.shape().as_ref())?;
        if swap {
            let between = distance(near, far).try_contiguous()?;
            expect_target(op, sizes.as_ref(), between.shape().as_ref())?;
            let kernel = Losing::<Smaller>::new([0.0; 2]);
            let to = strides::contiguous(&sizes);
            let storage = D::map2::<E, E, E>(kernel, to_far.elements(), between.elements(), to.as_ref())?;
            to_far = Tensor::dense(storage, sizes);
        }
        let kernel = Losing::<TripletMargin>::new([margin, 0.0]);
        let to = strides::contiguous(&sizes);
        let (near, far) = (to_near.elements(), to_far.elements());
        Ok(result(of_pairs::<_, E, E, E, D>(kernel, near, far, R::KIND, to.as_ref())?, sizes.as_ref(), R::KIND))
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The `p`-norms of the differences of every two rows: of row 0 and 1, 0 and 2, …, 1 and 2, ….
    ///
    /// Of `(N, M)` there are `N * (N - 1) / 2`. Dtypes: floating-point.
    ///
    /// PyTorch: `torch.nn.functional.pdist`, where `p` is 2 if not given.
    ///
    /// # Panics
    /// If `p` is negative or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]].pdist(1.0).to_vec(), [7.0, 1.0, 6.0]);
    /// ```
    #[fallible]
    pub fn pdist(&self, p: f64) -> Result<Tensor<E, (Dyn,), D>>
    where
        S: HasRank<2, ops::losses::pdist>,
        E: FloatFor<ops::losses::pdist>,
    {
        let op = "pdist";
        if p.is_nan() || p < 0.0 {
            return crate::error::invalid(op, format!("`p` must not be negative, got {p}"));
        }
        let [n, m] = strides::of_matrix(self.shape().as_ref());
        let [down, across] = strides::of_matrix(self.stride().as_ref());
        let count = n.checked_mul(n.saturating_sub(1)).ok_or(Error::TooLarge { op, sizes: [n, n][..].into() })? / 2;
        checked_numel::<E>(op, &[count])?;
        let x = self.elements();
        let mut storage = D::zeroed::<E>(Some(x.buffer), count)?;
        if m == 0 || !D::has_data(x.buffer) {
            return Ok(Tensor::dense(storage, [count]));
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
        Ok(Tensor::dense(storage, [count]))
    }
}
