//! The parts of result shapes, defined for every shape so that methods of matrices and of images exist on every tensor. Whether a tensor is
//! a matrix is a separate condition of the method, so that the compiler says why it is not, instead of that there is no method.

use super::Shape;
use super::dim::{Dim, Dyn, Known};
use super::resample::{Images, Lines, Volumes};
use super::tuple::each_rank;
use super::window::EachAxis;
#[cfg(doc)]
use super::{Interpolated, Matrices, Scaled, Upsampled};
use crate::sealed::Sealed;

/// The parts of a matrix shape, from which results are written. Implemented for every shape, so that matrix methods exist on every tensor
/// and [`Matrices`] says why one is not a matrix; meaningless for shapes that are not.
pub trait MatrixParts: Sealed {
    /// The axes before the last two.
    type Lead: Shape;
    /// The second to last axis.
    type Rows: Dim;
    /// The last axis.
    type Columns: Dim;
    /// The same batch of other matrices.
    type With<M: Dim, N: Dim>: Shape;
    /// The same batch of vectors.
    type WithVectors<N: Dim>: Shape;
}

/// Rows and columns of the last two axes.
macro_rules! matrices {
    (1 $dims:tt $positive:tt $negative:tt) => {};
    ($rank:literal $dims:tt $positive:tt $negative:tt) => {
        matrices!(@matrix [] $dims);
    };
    (@matrix [$($batch:ident)*] [$rows:ident $columns:ident]) => {
        #[diagnostic::do_not_recommend]
        impl<$($batch: Dim,)* $rows: Dim, $columns: Dim> MatrixParts for ($($batch,)* $rows, $columns,) {
            type Lead = ($($batch,)*);
            type Rows = $rows;
            type Columns = $columns;
            type With<New1: Dim, New2: Dim> = ($($batch,)* New1, New2,);
            type WithVectors<New: Dim> = ($($batch,)* New,);
        }
    };
    (@matrix [$($batch:ident)*] [$next:ident $($rest:ident)+]) => {
        matrices!(@matrix [$($batch)* $next] [$($rest)+]);
    };
}
each_rank!(matrices);
macro_rules! no_matrices {
    ($($shape:ty, [$($dim:ident)?];)*) => {$(
        impl<$($dim: Dim)?> MatrixParts for $shape {
            type Lead = ();
            type Rows = Dyn;
            type Columns = Dyn;
            type With<M: Dim, N: Dim> = (M, N);
            type WithVectors<N: Dim> = (N,);
        }
    )*};
}
no_matrices! { (), []; (A,), [A]; }

/// The parts of the result shapes of resampling. Implemented for every shape, so that the methods exist on every tensor and
/// [`Interpolated`], [`Upsampled`] and [`Scaled`] say why one cannot be resampled; meaningless for such shapes.
pub trait ResampleParts: Sealed {
    /// [`Lines`], [`Images`] or [`Volumes`].
    type What;
    /// The first axis.
    type LeadingAxis: Dim;
    /// The second axis.
    type ChannelAxis: Dim;
    /// These sizes after a batch axis and a channel axis.
    type Behind<N: Dim, C: Dim>: Shape;
    /// The axes after the channels multiplied by `K`.
    type Times<K: EachAxis<First: Known, Second: Known, Third: Known>>: Shape;
    /// Any sizes after the channels.
    type AnySizes: Shape;
}

/// `what: [axes] batch channels, [axes after the channels with their factors], [run-time sizes]; the shape with other leading axes`
macro_rules! parts {
    ($($what:ident: [$($axis:ident)*] $batch:ty, $channels:ty, $times:ty, $any:ty, $behind:ty;)*) => {$(
        impl<$($axis: Dim),*> ResampleParts for ($($axis,)*) {
            type What = $what;
            type LeadingAxis = $batch;
            type ChannelAxis = $channels;
            type Behind<N: Dim, C: Dim> = $behind;
            type Times<Factor: EachAxis<First: Known, Second: Known, Third: Known>> = $times;
            type AnySizes = $any;
        }
    )*};
}
parts! {
    Images: [] Dyn, Dyn, (), (), (N, C);
    Images: [P] Dyn, Dyn, Self, Self, (N, C, P);
    Images: [P Q] P, Q, Self, Self, (N, C, P, Q);
    Lines: [P Q L] P, Q, (P, Q, L::Times<Factor::First>), (P, Q, Dyn), (N, C, P, Q, L);
    Images: [P Q H W] P, Q, (P, Q, H::Times<Factor::First>, W::Times<Factor::Second>), (P, Q, Dyn, Dyn), (N, C, P, Q, H, W);
    Volumes: [P Q B H W] P, Q, (P, Q, B::Times<Factor::First>, H::Times<Factor::Second>, W::Times<Factor::Third>),
        (P, Q, Dyn, Dyn, Dyn), (N, C, P, Q, B, H, W);
    Images: [P Q A B H W] P, Q, Self, Self, (N, C, P, Q, A, B, H, W);
    Images: [P Q A B H W X] P, Q, Self, Self, Self;
    Images: [P Q A B H W X Y] P, Q, Self, Self, Self;
}
