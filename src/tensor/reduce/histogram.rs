//! Histograms: how many samples, or what weight of them, fall into each bin: `histogram`, `histogramdd`.
//!
//! As PyTorch counts them (`aten/src/ATen/native/Histogram.cpp`, `native/cpu/HistogramKernel.cpp`): the last bin holds its upper edge, and
//! sums are rounded to the dtype as they grow. Computed on the host. Uses `device`, `create`; used by `any`.

use crate::device::{Backend, Device};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, filled, invalid, listed};
use crate::ops;
use crate::ops::choosing::WideFloatFor;
use crate::shape::{Dim, Dyn, HasRank, SameSizeFor, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::create::ranges::Spaced;
use crate::tensor::{Optional, SameDevice, SameDtype, Tensor, checked_numel};
use castiron_macros::{dim, fallible};

/// The bins along each axis.
pub(crate) enum Bins<'a, S, E> {
    /// So many equal ones.
    Counts(&'a [usize]),
    /// Between these edges, each a list.
    Edges(&'a [View<'a, S, E>]),
}

/// How samples are counted.
pub(crate) struct Counting<'a, S, E> {
    pub(crate) bins: Bins<'a, S, E>,
    /// The lowest and the highest edge along each axis; those of the samples if there is none.
    pub(crate) range: Option<&'a [f64]>,
    /// What each sample counts for.
    pub(crate) weights: Option<View<'a, S, E>>,
    /// Whether the sums are divided by their sum and by the volumes of the bins.
    pub(crate) density: bool,
}

/// What was counted, row-major, and the edges that bounded it.
pub(crate) struct Histogram<S> {
    pub(crate) counts: S,
    pub(crate) sizes: Vec<usize>,
    pub(crate) edges: Vec<S>,
}

/// A number as the dtype has it.
fn rounded<E: Dtype>(x: f64) -> f64 {
    E::from_f64(x).cast::<f64>()
}

/// The histogram of samples, each of which is so many consecutive elements.
pub(crate) fn histogram<E: Dtype, D: Backend>(
    op: &'static str,
    samples: View<'_, D::Storage, E>,
    axes: usize,
    how: &Counting<'_, D::Storage, E>,
) -> Result<Histogram<D::Storage>> {
    let numel = |view: View<'_, D::Storage, E>| view.sizes.iter().product::<usize>();
    let count = numel(samples).checked_div(axes).unwrap_or(0);
    let sizes: Vec<usize> = match how.bins {
        Bins::Counts(counts) => counts.to_vec(),
        Bins::Edges(edges) => {
            if edges.iter().any(|edges| numel(*edges) == 0) {
                return invalid(op, "a list of edges is empty".to_owned());
            }
            edges.iter().map(|edges| numel(*edges) - 1).collect()
        }
    };
    if sizes.len() != axes {
        return invalid(
            op,
            format!("samples of {axes} numbers are counted in {axes} lists of bins, got {}", sizes.len()),
        );
    }
    if sizes.len() > 8 {
        return invalid(op, format!("more than eight axes of bins, {}, can't be counted", sizes.len()));
    }
    if let Some(axis) = sizes.iter().position(|&size| size == 0) {
        return invalid(op, format!("there must be at least one bin, got none for dimension {axis}"));
    }
    if let Some(range) = how.range
        && range.len() != 2 * axes
    {
        return invalid(op, format!("the range of {axes} axes has {} ends, got {}", 2 * axes, range.len()));
    }
    if let Some(weights) = how.weights
        && numel(weights) != count
    {
        return Err(Error::Shape { op, expected: format!("[{count}]"), found: weights.sizes.into() });
    }
    let bins = checked_numel::<E>(op, &sizes)?;
    for &size in &sizes {
        checked_numel::<E>(op, &[size.saturating_add(1)])?;
    }
    let beside = Some(samples.buffer);
    if !D::has_data(samples.buffer) {
        let edges = sizes.iter().map(|size| D::zeroed::<E>(beside, size + 1)).collect::<Result<_>>()?;
        return Ok(Histogram { counts: D::zeroed::<E>(beside, bins)?, sizes, edges });
    }
    let elements = D::download(samples)?;
    let weights = how.weights.map(D::download).transpose()?;
    let edges: Vec<Vec<E>> = match how.bins {
        Bins::Edges(edges) => edges.iter().map(|edges| D::download(*edges)).collect::<Result<_>>()?,
        Bins::Counts(counts) => {
            let ends = |axis: usize| match how.range {
                Some(range) => [range[2 * axis], range[2 * axis + 1]],
                None => ends(elements.iter().skip(axis).step_by(axes)),
            };
            let evenly = |(axis, &bins): (usize, &usize)| evenly::<E>(op, axis, ends(axis), bins);
            counts.iter().enumerate().map(evenly).collect::<Result<_>>()?
        }
    };
    let mut sums = filled(0.0_f64, bins)?;
    for (at, sample) in elements.chunks_exact(axes.max(1)).enumerate().take(count) {
        if let Some(place) = place(sample, &edges) {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[at].cast::<f64>());
            sums[place] = rounded::<E>(sums[place] + weight);
        }
    }
    if how.density {
        let total = rounded::<E>(sums.iter().sum());
        sums.iter_mut().for_each(|sum| *sum = rounded::<E>(*sum / total));
        let mut inner = bins;
        for edges in &edges {
            inner /= edges.len() - 1;
            for (at, sum) in sums.iter_mut().enumerate() {
                let bin = at / inner % (edges.len() - 1);
                let width = rounded::<E>(edges[bin + 1].cast::<f64>() - edges[bin].cast::<f64>());
                *sum = rounded::<E>(*sum / width);
            }
        }
    }
    let counts = D::build(beside, || listed(sums.into_iter().map(E::from_f64)))?;
    let edges = edges.into_iter().map(|edges| D::build(beside, || Ok(edges))).collect::<Result<_>>()?;
    Ok(Histogram { counts, sizes, edges })
}

/// The smallest and the largest number, NaN if one is; 0 and 1 of none.
fn ends<'a, E: Dtype>(numbers: impl Iterator<Item = &'a E>) -> [f64; 2] {
    let wider = |[low, high]: [f64; 2], x: f64| if x.is_nan() { [x, x] } else { [low.min(x), high.max(x)] };
    numbers
        .map(|x| x.cast::<f64>())
        .fold(None, |ends: Option<[f64; 2]>, x| match ends {
            Some([low, _]) if f64::is_nan(low) => ends,
            Some(ends) => Some(wider(ends, x)),
            None => Some([x, x]),
        })
        .unwrap_or([0.0, 1.0])
}

/// The edges of equal bins, which are `linspace`'s numbers.
fn evenly<E: Dtype>(op: &'static str, axis: usize, [mut low, mut high]: [f64; 2], bins: usize) -> Result<Vec<E>> {
    if !(low.is_finite() && high.is_finite()) {
        return invalid(op, format!("the range [{low}, {high}] of dimension {axis} is not finite"));
    }
    if low > high {
        return invalid(op, format!("the range from {low} to {high} of dimension {axis} is reversed"));
    }
    if low == high {
        (low, high) = (low - 0.5, high + 0.5);
    }
    let edges = Spaced::new(rounded::<E>(low), rounded::<E>(high), bins + 1, rounded::<E>);
    listed((0..=bins).map(|at| E::from_f64(edges.at(at as i64, rounded::<E>))))
}

/// The bin of a sample; none beyond the edges, nor of NaN.
fn place<E: Dtype>(sample: &[E], edges: &[Vec<E>]) -> Option<usize> {
    let mut place = 0;
    for (x, edges) in sample.iter().zip(edges) {
        let (x, bins) = (x.cast::<f64>(), edges.len() - 1);
        let edge = |at: usize| edges[at].cast::<f64>();
        if !(x >= edge(0) && x <= edge(bins)) {
            return None;
        }
        let above = edges.partition_point(|edge| edge.cast::<f64>() <= x);
        place = place * bins + above.saturating_sub(1).min(bins - 1);
    }
    Some(place)
}

/// Numbers of bins along axes, as many as `histogramdd` counts in: an array of one to eight.
#[diagnostic::on_unimplemented(
    message = "`histogramdd` does not count in `{Self}`",
    label = "not an array of one to eight numbers of bins",
    note = "`[4, 3]` are four bins along the first axis and three along the second"
)]
pub trait BinCounts: AsRef<[usize]> {
    /// The size of a sample.
    type Count: Dim;
    /// The shape of what is counted.
    type Shape: Shape;
    /// For each axis one.
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
    /// How many elements fall into each of `bins` equal bins, and the edges of the bins. Each bin holds its lower edge, the last its upper
    /// edge, too; elements beyond the edges do not count, nor does NaN. Without a `range` the edges reach from the smallest element to
    /// the largest. With `weights` each element counts as much as its weight; with `density` the counts are divided by their sum and
    /// the widths of the bins, so that the integral is 1.
    ///
    /// Dtypes: `f32` and `f64`, which is that of both results. Computed on the host.
    ///
    /// PyTorch: `torch.histogram`, with a number of bins.
    ///
    /// # Panics
    /// If there are no bins, the range is not finite or is reversed, weights are not as many, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (counts, edges) = tensor![1.0, 2.0, 1.0].histogram(4, Some([0.0, 2.0]), None, false);
    /// assert_eq!(counts.to_vec(), [0.0, 0.0, 2.0, 1.0]);
    /// assert_eq!(edges.to_vec(), [0.0, 0.5, 1.0, 1.5, 2.0]);
    /// ```
    #[fallible]
    #[allow(clippy::type_complexity)]
    pub fn histogram(
        &self,
        bins: usize,
        range: Option<[f64; 2]>,
        weights: impl Optional<E, S, D>,
        density: bool,
    ) -> Result<(Tensor<E, (Dyn,), D>, Tensor<E, (Dyn,), D>)>
    where
        E: WideFloatFor<ops::reduce::histogram>,
    {
        let range = range.as_ref().map(|range| &range[..]);
        let weights = weights.given().map(|weights| weights.elements());
        let counts = [bins];
        let how = Counting { bins: Bins::Counts(&counts), range, weights, density };
        let mut found = histogram::<E, D>("histogram", self.elements(), 1, &how)?;
        let edges = Tensor::dense(found.edges.remove(0), [bins + 1]);
        Ok((Tensor::dense(found.counts, [bins]), edges))
    }

    /// [`histogram`](Self::histogram) with bins between given edges, which must rise: how many elements fall between each two.
    ///
    /// Dtypes: `f32` and `f64`, the edges' being the same. Computed on the host.
    ///
    /// PyTorch: `torch.histogram`, with a tensor of edges.
    ///
    /// # Panics
    /// If there are fewer than two edges, weights are not as many as elements, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let counts = tensor![1.0, 2.0, 1.0, 9.0].histogram_between(&tensor![0.0, 1.0, 4.0], None, false);
    /// assert_eq!(counts.to_vec(), [0.0, 3.0]);
    /// ```
    #[fallible]
    pub fn histogram_between<N, F: Element, X: Device>(
        &self,
        edges: &Tensor<F, (N,), X>,
        weights: impl Optional<E, S, D>,
        density: bool,
    ) -> Result<Tensor<E, (Dyn,), D>>
    where
        E: WideFloatFor<ops::reduce::histogram>,
        N: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::histogram>,
    {
        let edges = N::alike(N::here(edges));
        let weights = weights.given().map(|weights| weights.elements());
        let lists = [edges.elements()];
        let how = Counting { bins: Bins::Edges(&lists), range: None, weights, density };
        let found = histogram::<E, D>("histogram", self.elements(), 1, &how)?;
        Ok(Tensor::dense(found.counts, [found.sizes[0]]))
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// How many rows, each a point, fall into each cell of a grid of equal bins along as many axes as a row has numbers, and the edges along
    /// each axis. `range` gives the lowest and the highest edge of each axis; the rest is as in [`histogram`](Tensor::histogram).
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
        let (bins, axes) = (bins.as_ref(), self.shape().as_ref()[1]);
        let weights = weights.given().map(|weights| weights.elements());
        let how = Counting { bins: Bins::Counts(bins), range, weights, density };
        let found = histogram::<E, D>("histogramdd", self.elements(), axes, &how)?;
        let counts = Tensor::dense(found.counts, <B::Shape as Shape>::Sizes::copied(&found.sizes));
        let (mut edges, mut sizes) = (found.edges.into_iter(), found.sizes.into_iter());
        let each = B::each(|_| {
            // As many as the array has, of which the axes were found to be.
            let (storage, size) = edges.next().zip(sizes.next()).expect("a list of edges for each axis");
            Tensor::dense(storage, [size + 1])
        });
        Ok((counts, each))
    }
}
