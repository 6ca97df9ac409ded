//! `histogram` and `histogramdd`.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::same_device;
use crate::any::call::Bound;
use crate::any::{AnyTensor, IntoAny, Value};
use crate::composite::statistics::histogram::{Bins, Counting};
use crate::error::{Error, Result, filled, invalid};
use castiron_macros::operations;

/// The bins of each axis of a histogram of an [`AnyTensor`] (`bins` of `torch.histogramdd`).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum HistogramBins<'a> {
    /// The number of bins along each axis, all of equal width.
    Counts(&'a [usize]),
    /// The edges of the bins along each axis.
    Edges(&'a [AnyTensor]),
}

#[operations]
impl AnyTensor {
    /// The number of elements in each bin, or the sum of their weights, and the edges of the bins (`torch.histogram`): one number of bins,
    /// or one list of edges. Without a `range` bins of equal width reach from the smallest element to the largest. With `density` the
    /// integral is 1. Computed on the host.
    ///
    /// # Errors
    /// If the dtype is neither `float32` nor `float64`, dtypes differ, there are no bins, the range is not finite or is reversed, or the
    /// number of weights is not that of elements.
    ///
    /// ```
    /// use castiron::any::HistogramBins::{Counts, Edges};
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1.0, 2.0, 1.0]);
    /// let [counts, edges] = x.histogram(Counts(&[2]), None, None, false)?;
    /// assert_eq!((counts.to_string(), edges.to_string()), ("tensor([2., 1.])".to_owned(), "tensor([1.0000, 1.5000, 2.0000])".to_owned()));
    /// let edges = AnyTensor::from(tensor![0.0, 1.0, 4.0]);
    /// assert_eq!(x.histogram(Edges(&[edges]), None, None, false)?[0].to_string(), "tensor([0., 3.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn histogram(
        &self,
        bins: HistogramBins<'_>,
        range: Option<[f64; 2]>,
        weights: Option<&AnyTensor>,
        density: bool,
    ) -> Result<[AnyTensor; 2]> {
        let range = range.as_ref().map(|range| &range[..]);
        let (counts, mut edges) = self.counted("histogram", 1, bins, range, weights, density)?;
        match edges.pop() {
            Some(edges) => Ok([counts, edges]),
            None => invalid("histogram", "a list of edges is wanted".to_owned()),
        }
    }

    /// The number of points in each cell of a grid, and the edges along each of its axes (`torch.histogramdd`). The last axis of the tensor
    /// has the coordinates of a point. `range` has the lowest and the highest edge of each axis. Computed on the host.
    ///
    /// # Errors
    /// As [`histogram`](Self::histogram), and if there are fewer than two axes, or weights do not have the shape without the last axis.
    pub fn histogramdd(
        &self,
        bins: HistogramBins<'_>,
        range: Option<&[f64]>,
        weights: Option<&AnyTensor>,
        density: bool,
    ) -> Result<(AnyTensor, Vec<AnyTensor>)> {
        let op = "histogramdd";
        if self.rank() < 2 {
            return invalid(op, format!("at least two axes are wanted, got {}", self.rank()));
        }
        let (points, axes) = self.sizes.split_at(self.rank() - 1);
        if let Some(weights) = weights
            && weights.shape() != points
        {
            return Err(Error::Shape { op, expected: format!("{points:?}"), found: weights.shape().into() });
        }
        self.counted(op, axes[0], bins, range, weights, density)
    }

    fn counted(
        &self,
        op: &'static str,
        axes: usize,
        bins: HistogramBins<'_>,
        range: Option<&[f64]>,
        weights: Option<&AnyTensor>,
        density: bool,
    ) -> Result<(AnyTensor, Vec<AnyTensor>)> {
        let given = match bins {
            HistogramBins::Edges(edges) => edges,
            HistogramBins::Counts(_) => &[],
        };
        for other in given.iter().chain(weights) {
            same_device(op, self, other)?;
            if other.dtype != self.dtype {
                return invalid(
                    op,
                    format!("samples of {} are counted with edges and weights of {}", self.dtype, other.dtype),
                );
            }
        }
        if let Some(edges) = given.iter().find(|edges| edges.rank() != 1) {
            return invalid(op, format!("edges are lists, got a tensor with {} axes", edges.rank()));
        }
        dispatch_dtype!(op, self.dtype, E: [f32, f64] => {
            let lists = given.iter().map(AnyTensor::as_erased::<E>).collect::<Result<Vec<_>>>()?;
            let bins = match bins {
                HistogramBins::Edges(_) => Bins::Edges(&lists),
                HistogramBins::Counts(counts) => Bins::Counts(counts),
            };
            let weights = weights.map(AnyTensor::as_erased::<E>).transpose()?;
            let how = Counting { bins, range, weights: weights.as_ref(), density };
            self.as_erased::<E>()?.in_bins(op, axes, &how).map(IntoAny::into_any)
        })
    }

    #[op(histogram(input, bins, range, weight, density), dtypes = "float32 and float64")]
    fn histogram_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let range = match args.read::<Option<Vec<f64>>>("range")? {
            Some(range) => match range[..] {
                [low, high] => Some([low, high]),
                _ => return args.refused(format!("the range of 1 axes has 2 ends, got {}", range.len())),
            },
            None => None,
        };
        let (weights, density) = (args.read("weight")?, args.read_or("density", || false)?);
        let [counts, edges] = match args.get("bins") {
            Some(Value::Array(_)) if range.is_some() => {
                return args.refused("bins between edges have no other range".to_owned());
            }
            Some(Value::Array(edges)) => {
                x.histogram(HistogramBins::Edges(core::slice::from_ref(edges)), None, weights, density)?
            }
            _ => x.histogram(HistogramBins::Counts(&[args.read("bins")?]), range, weights, density)?,
        };
        Ok((counts, edges).into())
    }

    /// The bins are one number for all axes, a number for each, or edges for each.
    #[op(histogramdd(input, bins, range, weight, density), dtypes = "float32 and float64")]
    fn histogramdd_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let range: Option<Vec<f64>> = args.read("range")?;
        let (weights, density) = (args.read("weight")?, args.read_or("density", || false)?);
        let (counts, edges) = match args.value("bins")? {
            Value::List(list) if matches!(list.first(), Some(Value::Array(_))) => {
                let edges: Vec<AnyTensor> = args.read("bins")?;
                x.histogramdd(HistogramBins::Edges(&edges), range.as_deref(), weights, density)?
            }
            Value::List(_) => {
                let bins: Vec<usize> = args.read("bins")?;
                x.histogramdd(HistogramBins::Counts(&bins), range.as_deref(), weights, density)?
            }
            _ => {
                let bins = filled(args.read("bins")?, x.sizes.last().copied().unwrap_or(0))?;
                x.histogramdd(HistogramBins::Counts(&bins), range.as_deref(), weights, density)?
            }
        };
        Ok((counts, edges).into())
    }
}
