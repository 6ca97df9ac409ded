//! Operations that look at each example, line or matrix by itself, where it is whole: convolutions, pooling, normalisations, transforms.
//! Batches may be cut, and whatever else the operation does not look along.

use super::{Dist, of_blocks};
use crate::along;
use crate::block::{Edge, Step};
use crate::error::Result;
use crate::mesh::Mesh;
use crate::place::{
    ExamplesWhole, IsSettled, IsWhole, MeshAxes, NoneCut, OnMesh, PlaceOf, Settled, Sum, WellPlaced, Whole,
};
use castiron::nn::{Conv, Pool, Resamples, Same};
use castiron::ops::admit::{FloatFor, InexactFor, OrderedFor, RealFor};
use castiron::ops::choosing::{self, IndexFor, WideFloatFor};
use castiron::reduction::Unreduced;
use castiron::shape::{
    Axes, AxisList, ConvertTo, Convolved, D1, EachAxis, Halved, HasChannels, HasRank, HasSpatialAxes, InFeatures,
    InGroups, InsertAxis, Interpolated, LabelsOf, Matrices, Moves, OneAxis, OneForEach, Pooled, Resized, Scores,
    ShufflePixels, UnshufflePixels,
};
use castiron::{
    Axis, Device, Dim, Dimensional, Dtype, Dyn, Element, Float, HasAxis, Interpolation, Known, KnownShape, Numeric,
    PerChannel, Shape, Tensor, ops,
};

/// For `glu [const I: isize, H: Dim](axis: Axis<I>) -> E, <S as HasAxis<I>>::Replace<H> where { … }, "…";` it writes the method `glu`, which
/// computes each block as `Tensor::glu` does.
macro_rules! of_each_block {
    ($($name:ident $(::<$($given:ty),+>)? [$($generics:tt)*] ($($arg:ident: $ty:ty),*) -> $out:ty, $shape:ty where { $($bounds:tt)* }, $doc:literal;)*) => {
        impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {$(
            #[doc = concat!($doc, " ([`Tensor::", stringify!($name), "`](castiron::Tensor::", stringify!($name), ")): each rank computes its block.")]
            ///
            /// # Panics
            /// As there, or if memory runs out.
            #[track_caller]
            pub fn $name<$($generics)*>(&self $(, $arg: $ty)*) -> Dist<$out, $shape, Settled, D>
            where
                $($bounds)*
            {
                of_blocks(stringify!($name), self.local.$name$(::<$($given),+>)?($($arg),*), self.lengths())
            }
        )*}
    };
}

// Along axes that are named.
of_each_block! {
    glu [const I: isize, H: Dim](axis: Axis<I>) -> E, <S as HasAxis<I>>::Replace<H>
        where { E: Float, S: HasAxis<I>, <S as HasAxis<I>>::Dim: Halved<Half = H>, PlaceOf<S, I>: IsWhole<along::glu> },
        "The first half of an axis, which each rank has whole, times the sigmoid of the second";
    diff [const I: isize](axis: Axis<I>, n: usize) -> E, <S as HasAxis<I>>::Replace<Dyn>
        where { E: Dtype, S: HasAxis<I>, PlaceOf<S, I>: IsWhole<along::diff> },
        "The `n`-th differences along an axis that each rank has whole";
    flip [A: AxisList<S>](axes: A) -> E, S
        where { A::After<Sum, Settled>: NoneCut<along::flip> },
        "The elements in reverse order along axes that each rank has whole";
    roll_axis [A: AxisList<S>](axes: A, shifts: A::Shifts) -> E, S
        where { A::After<Sum, Settled>: NoneCut<along::roll> },
        "The elements moved along axes that each rank has whole, those at the end to the start";
    normalize [A: Axes<S>](axes: A, p: f64, eps: f64) -> E, S
        where { E: InexactFor<ops::reduce::normalize>, A::After<Sum, Settled>: NoneCut<along::normalize> },
        "Divides by the `p`-norm over axes that each rank has whole";
}

/// The same for two results: `-> (E, T), (i64, T)` are their dtypes and shapes.
macro_rules! pairs_of_each_block {
    ($($name:ident [$($generics:tt)*] ($($arg:ident: $ty:ty),*) -> ($first:ty, $shape:ty), ($second:ty, $other:ty) where { $($bounds:tt)* }, $doc:literal;)*) => {
        impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {$(
            #[doc = concat!($doc, " ([`Tensor::", stringify!($name), "`](castiron::Tensor::", stringify!($name), ")): each rank computes its block.")]
            ///
            /// # Panics
            /// As there, or if memory runs out.
            #[track_caller]
            pub fn $name<$($generics)*>(&self $(, $arg: $ty)*) -> (Dist<$first, $shape, Settled, D>, Dist<$second, $other, Settled, D>)
            where
                $($bounds)*
            {
                let (first, second) = self.local.$name($($arg),*);
                let name = stringify!($name);
                (of_blocks(name, first, self.lengths()), of_blocks(name, second, self.lengths()))
            }
        )*}
    };
}
pairs_of_each_block! {
    frexp [] () -> (E, S), (i32, S) where { E: FloatFor<ops::pointwise::frexp> },
        "Mantissas and exponents";
    topk_sized [const I: isize](axis: Axis<I>, k: usize, largest: bool) -> (E, <S as HasAxis<I>>::Replace<Dyn>), (i64, <S as HasAxis<I>>::Replace<Dyn>)
        where { E: RealFor<choosing::topk>, S: HasAxis<I>, PlaceOf<S, I>: IsWhole<along::topk> },
        "The `k` largest elements (or smallest) along an axis that each rank has whole, and where they are";
    kthvalue [A: OneAxis<S, Reduced = T>, T: Shape](axis: A, k: usize) -> (E, T), (i64, T)
        where { E: RealFor<choosing::kthvalue>, A::After<Sum, Settled>: NoneCut<along::kthvalue> },
        "The `k`-th smallest element along an axis that each rank has whole, and where it is";
    mode [A: OneAxis<S, Reduced = T>, T: Shape](axis: A) -> (E, T), (i64, T)
        where { E: OrderedFor<choosing::mode>, A::After<Sum, Settled>: NoneCut<along::mode> },
        "The most frequent element along an axis that each rank has whole, and where it is";
    median_axis [A: OneAxis<S, Reduced = T>, T: Shape](axis: A) -> (E, T), (i64, T)
        where { E: RealFor<choosing::median>, A::After<Sum, Settled>: NoneCut<along::median> },
        "The median along an axis that each rank has whole, and where it is; over one that is cut it is `median_over`";
    nanmedian_axis [A: OneAxis<S, Reduced = T>, T: Shape](axis: A) -> (E, T), (i64, T)
        where { E: RealFor<choosing::nanmedian>, A::After<Sum, Settled>: NoneCut<along::median> },
        "The median of what is not NaN along an axis that each rank has whole, and where it is";
}
of_each_block! {
    quantile_axis [A: OneAxis<S, Reduced = T>, T: Shape](axis: A, q: f64, interpolation: Interpolation) -> E, T
        where { E: WideFloatFor<choosing::quantile>, A::After<Sum, Settled>: NoneCut<along::quantile> },
        "A quantile along an axis that each rank has whole; over one that is cut it is `quantile_over`";
    one_hot_sized [](classes: usize) -> i64, <S as InsertAxis<-1>>::Inserted<Dyn>
        where { E: IndexFor<choosing::one_hot>, S: InsertAxis<-1> },
        "A new last axis with 1 at each index, 0 elsewhere";
}

// Over matrices.
of_each_block! {
    tril [](diagonal: isize) -> E, S
        where { S: Matrices + HasAxis<-1> + HasAxis<-2>, PlaceOf<S, -1>: IsWhole<along::tril>, PlaceOf<S, -2>: IsWhole<along::tril> },
        "The lower triangles of matrices that each rank has whole, zeros above";
    triu [](diagonal: isize) -> E, S
        where { S: Matrices + HasAxis<-1> + HasAxis<-2>, PlaceOf<S, -1>: IsWhole<along::triu>, PlaceOf<S, -2>: IsWhole<along::triu> },
        "The upper triangles of matrices that each rank has whole, zeros below";
}

// Over examples, of which the first axis has one after another.
of_each_block! {
    local_response_norm [](size: usize, alpha: f64, beta: f64, k: f64) -> E, S
        where { E: Float, S: HasChannels + ExamplesWhole },
        "Divides by what neighbouring channels have";
    pixel_shuffle::<R, T> [R: Known, T: Shape]() -> E, T
        where { S: ShufflePixels<R, Output = T> + ExamplesWhole },
        "Channels turned into pixels";
    pixel_unshuffle::<R, T> [R: Known, T: Shape]() -> E, T
        where { S: UnshufflePixels<R, Output = T> + ExamplesWhole },
        "Pixels turned into channels";
    channel_shuffle::<G> [G: Known]() -> E, S
        where { S: HasChannels + ExamplesWhole, S::Channels: InGroups<G> },
        "The channels of groups dealt out in turn";
    interpolate::<R> [R: KnownShape](mode: impl Resamples<E, S::What>) -> E, R::Behind<S::LeadingAxis, S::ChannelAxis>
        where { E: Dtype, S: Interpolated<R> + ExamplesWhole },
        "Lines, images or volumes in another size";
}

/// A weight or bias of each channel: a tensor over ranks, or `()` for none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no weight of channels of a tensor over ranks",
    label = "expected `&weight`, a `Dist`, or `()` for none",
    note = "of a tensor that is the same on all ranks `Dist::same(&mesh, x)?` makes one"
)]
pub trait DistPerChannel<E: Element, C, D: Device>: Copy {
    /// What castiron computes with.
    type Local: PerChannel<E, C, D>;
    #[doc(hidden)]
    fn local(self) -> Self::Local;
}
impl<E: Element, C, D: Device> DistPerChannel<E, C, D> for () {
    type Local = ();
    fn local(self) {}
}
impl<'a, E: Element, C, K: Dim + OneForEach<C>, D: Device> DistPerChannel<E, C, D> for &'a Dist<E, (K,), Settled, D> {
    type Local = &'a Tensor<E, (K,), D>;
    fn local(self) -> &'a Tensor<E, (K,), D> {
        &self.local
    }
}

impl<E: Float, S: HasChannels, U: IsSettled, D: Device> Dist<E, S, U, D> {
    /// Standardises each channel of each example, then scales and shifts it ([`Tensor::instance_norm`](castiron::Tensor::instance_norm)).
    /// Batches may be cut.
    #[track_caller]
    pub fn instance_norm<W, B>(&self, weight: W, bias: B, eps: f64) -> Dist<E, S, Settled, D>
    where
        S: HasSpatialAxes + ExamplesWhole,
        W: DistPerChannel<E, S::Channels, D>,
        B: DistPerChannel<E, S::Channels, D>,
    {
        Dist::new(self.local.instance_norm(weight.local(), bias.local(), eps), self.sizes)
    }

    /// Standardises each of `G` groups of channels of each example, then scales and shifts channels
    /// ([`Tensor::group_norm`](castiron::Tensor::group_norm)). Batches may be cut.
    #[track_caller]
    pub fn group_norm<G: Known, W, B>(&self, weight: W, bias: B, eps: f64) -> Dist<E, S, Settled, D>
    where
        S: ExamplesWhole,
        S::Channels: InGroups<G>,
        W: DistPerChannel<E, S::Channels, D>,
        B: DistPerChannel<E, S::Channels, D>,
    {
        Dist::new(self.local.group_norm::<G, _, _>(weight.local(), bias.local(), eps), self.sizes)
    }

    /// Standardises channels by a mean and a variance that are known, then scales and shifts them
    /// ([`Tensor::batch_norm`](castiron::Tensor::batch_norm)). Any axis may be cut, channels as the other operands are.
    ///
    /// # Panics
    /// If sizes known at run time differ.
    #[track_caller]
    pub fn batch_norm<M, V, W, B>(
        &self,
        mean: &Dist<E, (M,), Settled, D>,
        variance: &Dist<E, (V,), Settled, D>,
        weight: W,
        bias: B,
        eps: f64,
    ) -> Dist<E, S, Settled, D>
    where
        M: Dim + OneForEach<S::Channels>,
        V: Dim + OneForEach<S::Channels>,
        W: DistPerChannel<E, S::Channels, D>,
        B: DistPerChannel<E, S::Channels, D>,
    {
        let local = self.local.batch_norm(&mean.local, &variance.local, weight.local(), bias.local(), eps);
        Dist::new(local, self.sizes)
    }
}

impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {
    /// `x @ weight.T + bias` over the last axis, which each rank has whole ([`Tensor::linear`](castiron::Tensor::linear)). What leads may be
    /// cut, and the features of the result, as the first axis of the weight and the bias are.
    ///
    /// Where the inner axis is cut the product is a sum that is pending, and the bias is added after it:
    /// `x.matmul(&weight.t()).all_reduce(&mesh)? + &bias`.
    ///
    /// # Panics
    /// If sizes known at run time do not match.
    #[track_caller]
    pub fn linear<N: Dim, K: Dim>(
        &self,
        weight: &Dist<E, (N, K), Settled, D>,
        bias: Option<&Dist<E, (N,), Settled, D>>,
    ) -> Dist<E, <S as HasAxis<-1>>::Replace<N>, Settled, D>
    where
        E: Numeric,
        S: Dimensional + HasAxis<-1>,
        <S as HasAxis<-1>>::Dim: InFeatures<K>,
        PlaceOf<S, -1>: IsWhole<along::linear>,
        <S as HasAxis<-1>>::Replace<N>: WellPlaced<Settled>,
    {
        let local = self.local.linear(&weight.local, bias.map(Dist::block));
        of_blocks("linear", local, self.lengths().chain(weight.lengths()))
    }

    /// The rows of this table, which each rank has whole, that an index names ([`Tensor::embedding`](castiron::Tensor::embedding)). The index
    /// may be cut, and the columns of the table.
    ///
    /// # Panics
    /// If an index is out of range.
    #[track_caller]
    pub fn embedding<T>(
        &self,
        index: &Dist<i64, T, Settled, D>,
    ) -> Dist<E, <T as InsertAxis<-1>>::Inserted<S::Columns>, Settled, D>
    where
        S: HasRank<2, choosing::embedding> + HasAxis<0>,
        T: Shape + InsertAxis<-1>,
        PlaceOf<S, 0>: IsWhole<along::embedding>,
        <T as InsertAxis<-1>>::Inserted<S::Columns>: WellPlaced<Settled>,
    {
        of_blocks("embedding", self.local.embedding(&index.local), self.lengths().chain(index.lengths()))
    }
}

impl<E: Float, S: Scores + ExamplesWhole, U: IsSettled, D: Device> Dist<E, S, U, D> {
    /// The cross entropy of each label beside the scores of classes, which are the second axis
    /// ([`Tensor::cross_entropy`](castiron::Tensor::cross_entropy) with `Unreduced`). The batch may be cut: `.mean()` of the losses is
    /// pending, and where labels are ignored their sum is divided by the number of the others.
    ///
    /// # Panics
    /// If a label is out of range, or sizes known at run time differ.
    #[track_caller]
    pub fn cross_entropy<T, W>(
        &self,
        labels: &Dist<i64, T, Settled, D>,
        weight: W,
        ignore_index: i64,
        label_smoothing: f64,
    ) -> Dist<E, S::Labels, Settled, D>
    where
        S: HasAxis<1>,
        T: Shape + LabelsOf<S>,
        W: DistPerChannel<E, S::Classes, D>,
    {
        let local = self.local.cross_entropy(&labels.local, weight.local(), ignore_index, label_smoothing, Unreduced);
        of_blocks("cross_entropy", local, self.lengths())
    }
}

/// For `1: conv1d try_conv1d conv1d_over max_pool1d avg_pool1d adaptive_max_pool1d adaptive_avg_pool1d FloatFor (L0 K0 2 Dyn) [-1];` it writes convolutions and pooling of lines.
macro_rules! windows {
    ($($rank:literal: $conv:ident $try:ident $over:ident $max:ident $avg:ident $to_max:ident $to_avg:ident $admits:ident ($($axis:ident $kernel:ident $at:literal $dyn:ident),+) [$($last:literal)+];)*) => {$(
        impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {
            #[doc = concat!("The convolution over the last axes, which each rank has whole ([`Tensor::", stringify!($conv), "`](castiron::Tensor::", stringify!($conv), ")).")]
            /// The batch may be cut, and the channels of the result, as the first axis of the weight and the bias are.
            ///
            /// PyTorch: the convolutions of `DTensor`s.
            ///
            /// # Panics
            /// If sizes known at run time do not match, or memory runs out.
            #[track_caller]
            pub fn $conv<O: Dim, CG: Dim<Placement = Whole>, $($kernel: Dim<Placement = Whole>,)+ M: EachAxis, P: EachAxis, L: EachAxis, G: Known, T>(
                &self,
                weight: &Dist<E, (O, CG, $($kernel),+), Settled, D>,
                bias: Option<&Dist<E, (O,), Settled, D>>,
                conv: Conv<M, P, L, G>,
            ) -> Dist<E, T, Settled, D>
            where
                E: InexactFor<ops::reduce::convolution>,
                S: Convolved<(O, CG, $($kernel),+), Conv<M, P, L, G>, Output = T> $(+ HasAxis<$last>)+,
                T: Shape + WellPlaced<Settled>,
                (M, P, L): Moves,
                $(PlaceOf<S, $last>: IsWhole<along::$conv>,)+
            {
                let local = self.local.$conv(&weight.local, bias.map(Dist::block), conv);
                of_blocks(stringify!($conv), local, self.lengths().chain(weight.lengths()))
            }

            #[doc = concat!("The largest element of each window ([`Tensor::", stringify!($max), "`](castiron::Tensor::", stringify!($max), ")): each rank has the axes whole along which windows move; batches and channels may be cut.")]
            ///
            /// # Panics
            /// If a window does not fit, or memory runs out.
            #[track_caller]
            pub fn $max<K, M: EachAxis, P: EachAxis, L: EachAxis, T: Shape>(&self, pool: Pool<K, M, P, L>) -> Dist<E, T, Settled, D>
            where
                E: $admits<ops::reduce::pooling>,
                K: EachAxis<First: Known, Second: Known, Third: Known>,
                S: Pooled<Pool<K, M, P, L>, $rank, Output = T> $(+ HasAxis<$last>)+,
                (M, P, L): Moves,
                $(PlaceOf<S, $last>: IsWhole<along::$max>,)+
            {
                of_blocks(stringify!($max), self.local.$max(pool), self.lengths())
            }

            #[doc = concat!("The mean of each window ([`Tensor::", stringify!($avg), "`](castiron::Tensor::", stringify!($avg), ")): each rank has the axes whole along which windows move; batches and channels may be cut.")]
            ///
            /// # Panics
            /// If a window does not fit, or memory runs out.
            #[track_caller]
            pub fn $avg<K, M: EachAxis, P: EachAxis, T: Shape>(&self, pool: Pool<K, M, P>) -> Dist<E, T, Settled, D>
            where
                E: FloatFor<ops::reduce::pooling>,
                K: EachAxis<First: Known, Second: Known, Third: Known>,
                S: Pooled<Pool<K, M, P>, $rank, Output = T> $(+ HasAxis<$last>)+,
                (M, P, D1): Moves,
                $(PlaceOf<S, $last>: IsWhole<along::$avg>,)+
            {
                of_blocks(stringify!($avg), self.local.$avg(pool), self.lengths())
            }

            #[doc = concat!("The largest elements of as many parts of the last axes as `R` says ([`Tensor::", stringify!($to_max), "`](castiron::Tensor::", stringify!($to_max), ")): each rank has these axes whole; batches and channels may be cut.")]
            ///
            /// # Panics
            /// If an axis is empty, or memory runs out.
            #[track_caller]
            pub fn $to_max<R: KnownShape>(&self) -> Dist<E, <S as Resized<R>>::Output, Settled, D>
            where
                E: FloatFor<ops::reduce::pooling>,
                S: Resized<R> $(+ HasAxis<$last>)+,
                $(PlaceOf<S, $last>: IsWhole<along::$max>,)+
            {
                of_blocks(stringify!($to_max), self.local.$to_max::<R>(), self.lengths())
            }

            #[doc = concat!("The means of as many parts of the last axes as `R` says ([`Tensor::", stringify!($to_avg), "`](castiron::Tensor::", stringify!($to_avg), ")): each rank has these axes whole; batches and channels may be cut.")]
            ///
            /// # Panics
            /// If an axis is empty, or memory runs out.
            #[track_caller]
            pub fn $to_avg<R: KnownShape>(&self) -> Dist<E, <S as Resized<R>>::Output, Settled, D>
            where
                E: FloatFor<ops::reduce::pooling>,
                S: Resized<R> $(+ HasAxis<$last>)+,
                $(PlaceOf<S, $last>: IsWhole<along::$avg>,)+
            {
                of_blocks(stringify!($to_avg), self.local.$to_avg::<R>(), self.lengths())
            }
        }

        impl<E: Element, N: Dim, C: Dim, $($axis: Dim,)+ U: IsSettled, D: Device> Dist<E, (N, C, $($axis),+), U, D> {
            #[doc = concat!("[`", stringify!($conv), "`](Self::", stringify!($conv), ") whose axes behind the channels may be cut, too: along each that is, ranks send their neighbours as many elements as a window")]
            /// reaches beyond a block. Of stride 1, padded so that axes keep their sizes.
            ///
            /// # Errors
            /// If a block is smaller than what a window reaches beyond it, MPI reports an error, memory runs out, or the ranks do different things.
            ///
            /// # Panics
            /// If sizes known at run time do not match.
            #[track_caller]
            pub fn $over<O: Dim, CG: Dim<Placement = Whole>, $($kernel: Dim<Placement = Whole>,)+ L: EachAxis, G: Known, X: MeshAxes>(
                &self,
                weight: &Dist<E, (O, CG, $($kernel),+), Settled, D>,
                bias: Option<&Dist<E, (O,), Settled, D>>,
                conv: Conv<D1, Same, L, G>,
                mesh: &Mesh<X>,
            ) -> Result<Dist<E, (N, O, $($axis),+), Settled, D>>
            where
                E: InexactFor<ops::reduce::convolution>,
                (N, C, $($axis),+): OnMesh<X>,
                (N, C, $($dyn),+): Convolved<(O, CG, $($kernel),+), Conv<D1, Same, L, G>, Output = (N, O, $($dyn),+)>,
                (N, O, $($dyn),+): ConvertTo<(N, O, $($axis),+)>,
                (N, O, $($axis),+): WellPlaced<Settled>,
                (D1, Same, L): Moves,
            {
                let (own, cuts) = (self.local.shape(), Self::cuts());
                let windows = <(D1, Same, L)>::windows(&weight.sizes.as_ref()[2..]);
                let halo = |axis: usize| [windows[axis - 2].before, windows[axis - 2].after];
                let steps = (2..own.as_ref().len()).filter(|&axis| cuts[axis].is_some());
                let steps = steps.map(|axis| Step::Halo { axis, width: halo(axis), edge: Edge::Zeros }).collect();
                let wide: Tensor<E, (N, C, $($dyn),+), D> = super::moved(&self.local, self.place(), steps, mesh)?;
                let wide = wide.$try(&weight.local, bias.map(Dist::block), conv)?;
                // The windows that start in the halo are the neighbours'.
                $(let wide = if cuts[$at].is_some() { wide.try_narrow(Axis::<$at>, halo($at)[0], own.as_ref()[$at])? } else { wide };)+
                let local = wide.try_with_shape::<(N, O, $($axis),+)>()?;
                Ok(of_blocks(stringify!($over), local, self.lengths().chain(weight.lengths())))
            }
        }
    )*};
}
windows! {
    1: conv1d try_conv1d conv1d_over max_pool1d avg_pool1d adaptive_max_pool1d adaptive_avg_pool1d FloatFor (L0 K0 2 Dyn) [-1];
    2: conv2d try_conv2d conv2d_over max_pool2d avg_pool2d adaptive_max_pool2d adaptive_avg_pool2d RealFor (L0 K0 2 Dyn, L1 K1 3 Dyn) [-1 -2];
    3: conv3d try_conv3d conv3d_over max_pool3d avg_pool3d adaptive_max_pool3d adaptive_avg_pool3d RealFor (L0 K0 2 Dyn, L1 K1 3 Dyn, L2 K2 4 Dyn) [-1 -2 -3];
}
