//! `histogramdd`; its number of axes is the length of the array of bins.

use crate::composite::statistics::histogram::{Bins, Counting};
use crate::device::Device;
use crate::dim;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops;
use crate::ops::choosing::WideFloatFor;
use crate::sealed::Sealed;
use crate::shape::{Dim, Dyn, HasRank, SameSizeFor, Shape};
use crate::tensor::{Optional, Tensor};
use castiron_macros::fallible;

/// Numbers of bins along axes: an array of one to eight.
#[diagnostic::on_unimplemented(
    message = "`histogramdd` does not count in `{Self}`",
    label = "not an array of one to eight numbers of bins",
    note = "`[4, 3]` are four bins along the first axis and three along the second"
)]
pub trait BinCounts: Sealed + AsRef<[usize]> {
    /// The number of coordinates of a sample.
    type Count: Dim;
    /// The shape of the counts.
    type Shape: Shape;
    /// An array with one item for each axis.
    type Each<T>;
    #[doc(hidden)]
    fn each<T>(of: impl FnMut(usize) -> T) -> Self::Each<T>;
}
macro_rules! bin_counts {
    ($($n:literal ($($dim:ident)+);)*) => {$(
        impl BinCounts for [usize; $n] {
            type Count = dim!($n);
            type Shape = ($($dim,)+);
            type Each<T> = [T; $n];
            fn each<T>(of: impl FnMut(usize) -> T) -> [T; $n] {
                core::array::from_fn(of)
            }
        }
    )*};
}
bin_counts! {
    1 (Dyn); 2 (Dyn Dyn); 3 (Dyn Dyn Dyn); 4 (Dyn Dyn Dyn Dyn); 5 (Dyn Dyn Dyn Dyn Dyn); 6 (Dyn Dyn Dyn Dyn Dyn Dyn);
    7 (Dyn Dyn Dyn Dyn Dyn Dyn Dyn); 8 (Dyn Dyn Dyn Dyn Dyn Dyn Dyn Dyn);
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The number of rows, each a point, in each cell of a grid with bins of equal width, and the edges along each axis; a row has a
    /// coordinate for each axis. `range` gives the lowest and the highest edge of each axis; the rest is as in
    /// [`histogram`](Tensor::histogram).
    ///
    /// Dtypes: `f32` and `f64`, which is that of the results. Computed on the host.
    ///
    /// PyTorch: `torch.histogramdd`, with numbers of bins.
    ///
    /// # Panics
    /// If there are no bins, a range is not finite or is reversed, sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let points = tensor![[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]];
    /// let (counts, [_, edges]) = points.histogramdd([2, 2], None, None, false);
    /// let _: &Tensor<f32, shape![_, _]> = &counts;
    /// assert_eq!(counts.to_vec(), [0.0, 1.0, 1.0, 1.0]);
    /// assert_eq!(edges.to_vec(), [0.0, 1.0, 2.0]);
    /// ```
    #[fallible]
    #[allow(clippy::type_complexity)]
    pub fn histogramdd<B: BinCounts>(
        &self,
        bins: B,
        range: Option<&[f64]>,
        weights: impl Optional<E, (S::Rows,), D>,
        density: bool,
    ) -> Result<(Tensor<E, B::Shape, D>, B::Each<Tensor<E, (Dyn,), D>>)>
    where
        S: HasRank<2, ops::reduce::histogramdd>,
        E: WideFloatFor<ops::reduce::histogramdd>,
        S::Columns: SameSizeFor<B::Count, ops::reduce::histogramdd>,
    {
        let (op, axes) = ("histogramdd", self.shape().as_ref()[1]);
        let weights = weights.given().map(Tensor::erased);
        let how = Counting { bins: Bins::Counts(bins.as_ref()), range, weights: weights.as_ref(), density };
        let (counts, edges) = self.erased().in_bins(op, axes, &how)?;
        let edges = edges.into_iter().map(|edges| edges.typed(op)).collect::<Result<Vec<_>>>()?;
        let mut edges = edges.into_iter();
        // There is a list of edges for each item of the array: the number of axes was checked.
        Ok((counts.typed(op)?, B::each(|_| edges.next().expect("a list of edges for each axis"))))
    }
}
