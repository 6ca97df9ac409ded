//! Reductions: each rank reduces its block, and what is left over axes that are cut is pending, in the type.

use super::Dist;
use crate::along;
use crate::place::{
    All, AllWhole, Any, Debt, IsLinear, IsSettled, IsWhole, Max, Min, PlaceOf, Product, Reduction, ReductionKind,
    Settled, Sum,
};
use castiron::shape::{Axes, SizeArray};
use castiron::{Axis, DType, Device, Dtype, Element, HasAxis, Inexact, Ordered, Real, Shape, Tensor};

/// The sizes that a reduction over these axes leaves.
pub(super) fn left<T: Shape>(sizes: &[usize], mask: u32, keeps: bool) -> T::Sizes {
    let is_reduced = |axis: usize| mask >> axis & 1 == 1;
    let axes = (0..sizes.len()).filter(|&axis| keeps || !is_reduced(axis));
    let left: Vec<usize> = axes.map(|axis| if is_reduced(axis) { 1 } else { sizes[axis] }).collect();
    T::Sizes::copied(&left)
}

/// The number of elements that each result is made of.
fn reduced(sizes: &[usize], mask: u32) -> usize {
    sizes.iter().enumerate().filter(|&(axis, _)| mask >> axis & 1 == 1).map(|(_, size)| size).product()
}

const EVERYTHING: u32 = u32::MAX;

/// For `sum sum_axis: Sum, IsLinear, <O> [Dtype<Sum = O>] O` it writes both forms.
macro_rules! reductions {
    ($($name:ident $axis:ident: $kind:ident, $owed:ident, $(<$o:ident>)? [$($bound:tt)+] $out:ty, $doc:literal;)*) => {$(
        impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
            #[doc = concat!($doc, " ([`Tensor::", stringify!($name), "`](castiron::Tensor::", stringify!($name), ")). Pending over each axis of the mesh along which the tensor is cut.")]
            ///
            /// # Panics
            /// If memory runs out, or there are no elements and the operation has no identity.
            #[track_caller]
            pub fn $name$(<$o: Dtype>)?(&self) -> Dist<$out, (), S::After<$kind, U>, D>
            where
                E: Dtype + $($bound)+,
                U: $owed,
            {
                Dist::new(self.filled::<$kind>(EVERYTHING).$name(), [])
            }

            #[doc = concat!($doc, " over axes ([`Tensor::", stringify!($axis), "`](castiron::Tensor::", stringify!($axis), ")). Pending over each axis of the mesh along which one of them is cut.")]
            ///
            /// # Panics
            /// If memory runs out, or there are no elements and the operation has no identity.
            #[track_caller]
            pub fn $axis<A: Axes<S> $(, $o: Dtype)?>(&self, axes: A) -> Dist<$out, A::Reduced, A::After<$kind, U>, D>
            where
                E: Dtype + $($bound)+,
                U: $owed,
            {
                let sizes = left::<A::Reduced>(self.sizes.as_ref(), A::MASK, A::KEEPS);
                Dist::new(self.filled::<$kind>(A::MASK).$axis(axes), sizes)
            }
        }
    )*};
}
reductions! {
    sum sum_axis: Sum, IsLinear, <O> [Dtype<Sum = O>] O, "The sum";
    prod prod_axis: Product, IsSettled, <O> [Dtype<Sum = O>] O, "The product";
    any any_axis: Any, IsSettled, [Dtype] bool, "Whether any element is non-zero";
    all all_axis: All, IsSettled, [Dtype] bool, "Whether all elements are non-zero";
    amax amax_axis: Max, IsSettled, [Ordered] E, "The largest element, NaN if there is one";
    amin amin_axis: Min, IsSettled, [Ordered] E, "The smallest element, NaN if there is one";
}

impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
    /// The mean ([`Tensor::mean`](castiron::Tensor::mean)): each rank's part of it is pending over each axis of the mesh along which the
    /// tensor is cut.
    ///
    /// # Panics
    /// If memory runs out.
    #[track_caller]
    pub fn mean(&self) -> Dist<E, (), S::After<Sum, U>, D>
    where
        E: Inexact,
        U: IsLinear,
    {
        let share = self.share(EVERYTHING);
        Dist::new(if share == 1.0 { self.local.mean() } else { weighted(&self.local.mean(), share) }, [])
    }

    /// The mean over axes ([`Tensor::mean_axis`](castiron::Tensor::mean_axis)): each rank's part of it is pending over each axis of the mesh
    /// along which one of them is cut.
    ///
    /// # Panics
    /// If memory runs out.
    #[track_caller]
    pub fn mean_axis<A: Axes<S>>(&self, axes: A) -> Dist<E, A::Reduced, A::After<Sum, U>, D>
    where
        E: Inexact,
        U: IsLinear,
    {
        let sizes = left::<A::Reduced>(self.sizes.as_ref(), A::MASK, A::KEEPS);
        let (share, mean) = (self.share(A::MASK), self.local.mean_axis(axes));
        Dist::new(if share == 1.0 { mean } else { weighted(&mean, share) }, sizes)
    }

    /// A mean over this rank's block, which code of castiron has computed, as this rank's part of the mean over all blocks: weighted by how
    /// many elements the block has.
    ///
    /// So a model of plain tensors learns from data that is cut over ranks: `x.mean_of_blocks(net.loss(x.block()))`.
    ///
    /// ```
    /// use castiron::dims;
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let means = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<f32, (At<Rows, Data>,)>::from_fn(mesh, [3], |[row]| row as f32).unwrap();
    ///     x.mean_of_blocks(x.block().square().mean()).all_reduce(mesh).unwrap().item()
    /// });
    /// assert!(means.iter().all(|mean| (mean - 5.0 / 3.0).abs() < 1e-6));
    /// ```
    #[track_caller]
    pub fn mean_of_blocks<F: Inexact>(&self, mean: Tensor<F, (), D>) -> Dist<F, (), S::After<Sum, Settled>, D>
    where
        U: IsSettled,
    {
        let share = self.share(EVERYTHING);
        Dist::new(if share == 1.0 { mean } else { weighted(&mean, share) }, [])
    }

    /// What code of castiron has computed of this rank's block as a part of a sum over all blocks: histograms, counts, products of a matrix with
    /// itself, whatever of the whole is the sum of what it is of the blocks.
    ///
    /// ```
    /// use castiron::{dims, shape};
    /// use castiron_mesh::{At, Dist, mesh, simulate};
    /// mesh! { Ranks: Data }
    /// dims! { Rows }
    /// let counts = simulate::<Ranks, _>(2, &[0], |mesh| {
    ///     let x = Dist::<i64, (At<Rows, Data>,)>::from_fn(mesh, [10], |[row]| row as i64 % 3).unwrap();
    ///     let counts = x.sum_of_blocks(x.block().bincount(3));
    ///     counts.all_reduce(mesh).unwrap().into_whole().to_vec()
    /// });
    /// assert_eq!(counts[0], [4, 3, 3]);
    /// ```
    pub fn sum_of_blocks<F: Dtype, T: AllWhole>(&self, part: Tensor<F, T, D>) -> Dist<F, T, S::After<Sum, Settled>, D>
    where
        U: IsSettled,
    {
        let sizes = part.shape();
        Dist::new(part, sizes)
    }

    /// How much of what is reduced this rank has.
    fn share(&self, mask: u32) -> f64 {
        let (own, whole) = (reduced(self.local.shape().as_ref(), mask), reduced(self.sizes.as_ref(), mask));
        if own == whole { 1.0 } else { own as f64 / whole as f64 }
    }

    /// This rank's block; where it has none of the elements that are reduced, and others have some, one that changes no result.
    #[track_caller]
    pub(super) fn filled<Op: Reduction>(&self, mask: u32) -> Tensor<E, S, D>
    where
        E: Dtype,
    {
        let mut sizes = self.local.shape();
        if reduced(sizes.as_ref(), mask) > 0 || reduced(self.sizes.as_ref(), mask) == 0 {
            return self.local.clone();
        }
        let Some(neutral) = neutral::<E, Op>() else { return self.local.clone() };
        for (axis, size) in sizes.as_mut().iter_mut().enumerate().filter(|&(axis, _)| mask >> axis & 1 == 1) {
            *size = if self.sizes.as_ref()[axis] == 0 { 0 } else { 1.max(*size) };
        }
        let local = Tensor::<E, S>::try_from_fn_sized(sizes, |_| neutral).and_then(|local| local.to_device());
        local.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Where the largest element along an axis is ([`Tensor::argmax_axis`](castiron::Tensor::argmax_axis)). Each rank must have the whole
    /// axis.
    ///
    /// # Panics
    /// If the axis is empty.
    #[track_caller]
    pub fn argmax_axis<const I: isize>(&self, axis: Axis<I>) -> Dist<i64, <S as HasAxis<I>>::Removed, U, D>
    where
        E: Real,
        U: IsSettled,
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::argmax>,
    {
        let sizes = left::<<S as HasAxis<I>>::Removed>(self.sizes.as_ref(), 1 << <S as HasAxis<I>>::INDEX, false);
        Dist::new(self.local.argmax_axis(axis), sizes)
    }

    /// Where the smallest element along an axis is ([`Tensor::argmin_axis`](castiron::Tensor::argmin_axis)). Each rank must have the whole
    /// axis.
    ///
    /// # Panics
    /// If the axis is empty.
    #[track_caller]
    pub fn argmin_axis<const I: isize>(&self, axis: Axis<I>) -> Dist<i64, <S as HasAxis<I>>::Removed, U, D>
    where
        E: Real,
        U: IsSettled,
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::argmin>,
    {
        let sizes = left::<<S as HasAxis<I>>::Removed>(self.sizes.as_ref(), 1 << <S as HasAxis<I>>::INDEX, false);
        Dist::new(self.local.argmin_axis(axis), sizes)
    }
}

/// A mean of some of the elements as a part of the mean of all.
fn weighted<E: Inexact, S: Shape, D: Device>(mean: &Tensor<E, S, D>, share: f64) -> Tensor<E, S, D> {
    if share == 0.0 { mean.zeros_like() } else { mean * share }
}

/// The element that the largest (or smallest) of others is never changed by.
fn neutral<E: Dtype, Op: Reduction>() -> Option<E> {
    let (of_floats, of_integers): (f64, fn(i64, i64) -> i64) = match Op::KIND {
        ReductionKind::Max => (f64::NEG_INFINITY, |least, _| least),
        ReductionKind::Min => (f64::INFINITY, |_, most| most),
        _ => return None,
    };
    let (least, most) = match E::DTYPE {
        DType::Bool => (0, 1),
        DType::U8 => (0, i64::from(u8::MAX)),
        DType::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        DType::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        DType::I64 => (i64::MIN, i64::MAX),
        _ => return Some(E::from_f64(of_floats)),
    };
    Some(E::from_i64(of_integers(least, most)))
}
