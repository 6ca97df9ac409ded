//! Histograms: the number of samples in each bin, or the sum of their weights: `histogram`, and the loops of `histogramdd`.
//!
//! As PyTorch counts them (`aten/src/ATen/native/Histogram.cpp`, `native/cpu/HistogramKernel.cpp`): the last bin includes its upper edge,
//! and every addition is rounded to the dtype. Computed on the host.

use crate::composite::{Erased, Owned};
use crate::device::{Device, expect_constant};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, collected, filled, invalid, listed};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::choosing::WideFloatFor;
use crate::shape::{Dim, Dyn};
use crate::tensor::{Optional, SameDevice, SameDtype, Spaced, Tensor, checked_numel};
use castiron_macros::composites;

/// The bins along each axis.
pub(crate) enum Bins<'a, E, D: Device> {
    /// The number of bins of equal width along each axis.
    Counts(&'a [usize]),
    /// The edges along each axis, each a list.
    Edges(&'a [Erased<'a, E, D>]),
}

/// The options of a histogram.
pub(crate) struct Counting<'a, E, D: Device> {
    pub(crate) bins: Bins<'a, E, D>,
    /// The lowest and the highest edge along each axis; by default those of the samples.
    pub(crate) range: Option<&'a [f64]>,
    /// The weight of each sample.
    pub(crate) weights: Option<&'a Erased<'a, E, D>>,
    /// Whether the sums are divided by their sum and by the volumes of the bins.
    pub(crate) density: bool,
}

/// A number rounded to the dtype.
fn rounded<E: Dtype>(x: f64) -> f64 {
    E::from_f64(x).cast::<f64>()
}

/// The smallest and the largest number, NaN if one is; 0 and 1 without numbers.
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

/// The edges of bins of equal width, as by `linspace`.
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

/// The bin of a sample; `None` for samples out of the edges, and NaN.
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

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The number of elements in each of `bins` bins of equal width, and the edges of the bins. Each bin includes its lower edge, the last
    /// also its upper edge; elements out of the edges and NaN are ignored. Without a `range` the edges reach from the smallest element to
    /// the largest. With `weights` each element counts by its weight; with `density` the counts are divided by their sum and the widths of
    /// the bins, so that the integral is 1.
    ///
    /// Both results have the dtype of `self`. Computed on the host.
    ///
    /// # Errors
    /// If there are no bins, the range is not finite or is reversed, or the number of weights is not that of elements.
    #[op(histogram, dtypes = "float32 and float64", over = [f32, f64])]
    #[any(by_hand)]
    #[typed((&self, bins: usize, range: Option<[f64; 2]>, weights: impl Optional<E, S, D>, density: bool) -> (Tensor<E, (Dyn,), D>, Tensor<E, (Dyn,), D>)
        where
            E: WideFloatFor<ops::reduce::histogram>)]
    #[example(let x = tensor![1.0, 2.0, 1.0]; x.histogram(4, Some([0.0, 2.0]), None, false).0.with_shape::<shape![4]>(), x.histogram(4, None, None, false), tensor![0.0, 0.0, 2.0, 1.0])]
    #[example(let x = tensor![1.0, 2.0, 1.0]; x.histogram(4, Some([0.0, 2.0]), None, false).1.with_shape::<shape![5]>(), x.histogram(4, None, None, false), tensor![0.0, 0.5, 1.0, 1.5, 2.0])]
    pub(crate) fn histogram(
        &self,
        bins: usize,
        range: Option<[f64; 2]>,
        weights: Option<&Erased<'_, E, D>>,
        density: bool,
    ) -> Result<(Owned<E, D>, Owned<E, D>)>
    where
        E: Dtype,
    {
        let range = range.as_ref().map(|range| &range[..]);
        let how = Counting { bins: Bins::Counts(&[bins]), range, weights, density };
        let (counts, mut edges) = self.in_bins("histogram", 1, &how)?;
        Ok((counts, edges.remove(0)))
    }

    /// [`histogram`](Self::histogram) with bins between given edges, which must ascend: the number of elements between each two.
    ///
    /// The edges have the same dtype. Computed on the host.
    ///
    /// # Errors
    /// If there are fewer than two edges or the number of weights is not that of elements.
    #[op(histogram, dtypes = "float32 and float64", over = [f32, f64])]
    #[any(by_hand)]
    #[typed(<N, F: Element, X: Device>(&self, edges: &Tensor<F, (N,), X>, weights: impl Optional<E, S, D>, density: bool) -> Tensor<E, (Dyn,), D>
        where
            E: WideFloatFor<ops::reduce::histogram>,
            N: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::histogram>;
        edges = &Erased::of(N::alike(N::here(edges)).elements()))]
    #[example(let x = tensor![1.0, 2.0, 1.0, 9.0]; let edges = tensor![0.0, 1.0, 4.0]; x.histogram_between(&edges, None, false).with_shape::<shape![2]>(), x.histogram(4, None, None, false), tensor![0.0, 3.0])]
    pub(crate) fn histogram_between(
        &self,
        edges: &Erased<'_, E, D>,
        weights: Option<&Erased<'_, E, D>>,
        density: bool,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let how = Counting { bins: Bins::Edges(&[Erased::of(edges.view())]), range: None, weights, density };
        Ok(self.in_bins("histogram", 1, &how)?.0)
    }

    /// The histogram of samples of several consecutive elements, one for each axis, and the edges used.
    pub(crate) fn in_bins(
        &self,
        op: &'static str,
        axes: usize,
        how: &Counting<'_, E, D>,
    ) -> Result<(Owned<E, D>, Vec<Owned<E, D>>)>
    where
        E: Dtype,
    {
        let count = self.numel().checked_div(axes).unwrap_or(0);
        let sizes: Vec<usize> = match how.bins {
            Bins::Counts(counts) => counts.to_owned(),
            Bins::Edges(edges) => {
                if edges.iter().any(|edges| edges.numel() == 0) {
                    return invalid(op, "a list of edges is empty".to_owned());
                }
                listed(edges.iter().map(|edges| edges.numel() - 1))?
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
            && weights.numel() != count
        {
            return Err(Error::Shape { op, expected: format!("[{count}]"), found: weights.sizes().into() });
        }
        let bins = checked_numel::<E>(op, &sizes)?;
        for &size in &sizes {
            checked_numel::<E>(op, &[size.saturating_add(1)])?;
        }
        let (beside, grid) = (Some(self.storage()), Dims::new(op, &sizes)?);
        if !D::has_data(self.storage()) {
            let edge = |&size: &usize| Ok(Erased::list(D::zeroed::<E>(beside, size + 1)?, size + 1));
            let edges = collected(sizes.iter().map(edge))?;
            return Ok((Erased::dense(D::zeroed::<E>(beside, bins)?, grid), edges));
        }
        // Counts change by steps, and edges with the ends of the range.
        let is_tracked = |x: &Erased<'_, E, D>| D::is_tracked(x.storage());
        expect_constant(op, is_tracked(self) || how.weights.is_some_and(is_tracked))?;
        if let Bins::Edges(edges) = how.bins {
            expect_constant(op, edges.iter().any(is_tracked))?;
        }
        let elements = D::download(self.view())?;
        let weights = how.weights.map(|weights| D::download(weights.view())).transpose()?;
        let edges: Vec<Vec<E>> = match how.bins {
            Bins::Edges(edges) => collected(edges.iter().map(|edges| D::download(edges.view())))?,
            Bins::Counts(counts) => {
                let ends = |axis: usize| match how.range {
                    Some(range) => [range[2 * axis], range[2 * axis + 1]],
                    None => ends(elements.iter().skip(axis).step_by(axes)),
                };
                let evenly = |(axis, &bins): (usize, &usize)| evenly::<E>(op, axis, ends(axis), bins);
                collected(counts.iter().enumerate().map(evenly))?
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
        let list = |edges: Vec<E>| {
            let len = edges.len();
            Ok(Erased::list(D::build(beside, || Ok(edges))?, len))
        };
        Ok((Erased::dense(counts, grid), collected(edges.into_iter().map(list))?))
    }
}
