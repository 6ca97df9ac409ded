//! The reductions of `scatter_reduce`.

use crate::device::Device;
use crate::dtype::{Category, DType, Dtype};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::arguments::Indexing;
use crate::ops::choosing::Folding;
use crate::ops::kernel::Casting;
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Accumulating;
use crate::shape::Shape;
use crate::storage::View;
use crate::tensor::Tensor;
use crate::tensor::index::accumulate::{is_rounded, widened};
use crate::tensor::index::scatter::{with_value, write_over, write_with};

/// The reduction of the elements for one position in [`scatter_reduce`](Tensor::scatter_reduce).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScatterReduce {
    /// Their sum.
    Sum,
    /// Their product.
    Prod,
    /// Their mean; for integers rounded down.
    Mean,
    /// The maximum; NaN if there is one.
    Amax,
    /// The minimum; NaN if there is one.
    Amin,
}

/// The identity element of a reduction.
fn identity<E: Dtype>(reduce: ScatterReduce) -> E {
    let extreme = |largest: bool| match (E::DTYPE.int_range(), E::DTYPE) {
        (_, DType::Bool) => E::from_bool(largest),
        // Within `i64`, as the bounds of every computing integer are.
        (Some((min, max)), _) => E::from_i64(if largest { max as i64 } else { min as i64 }),
        (None, _) => E::from_f64(if largest { f64::INFINITY } else { f64::NEG_INFINITY }),
    };
    match reduce {
        ScatterReduce::Sum | ScatterReduce::Mean => E::default(),
        ScatterReduce::Prod => E::from_bool(true),
        ScatterReduce::Amax => extreme(false),
        ScatterReduce::Amin => extreme(true),
    }
}

/// Reduces elements into the positions of indices; complex ones have no maximum or minimum.
pub(crate) fn reduce_into<E: Dtype, S: Shape, D: Device>(
    out: &mut Tensor<E, S, D>,
    indexing: Indexing,
    index: View<'_, D::Storage, i64>,
    from: View<'_, D::Storage, E>,
    reduce: ScatterReduce,
    include_self: bool,
) -> Result<()> {
    if reduce == ScatterReduce::Mean && E::DTYPE == DType::Bool {
        let reason = "the mean of bools is not a bool; cast first, for example `.to::<f32>()`".to_owned();
        return Err(Error::InvalidArgument { op: indexing.op, reason });
    }
    if const { is_rounded::<E>() } {
        // Sums and counts are computed in the wider dtype, and the result is rounded once.
        let mut wide: Tensor<E::Compute, S, D> = out.try_to()?;
        let (from, steps) = widened::<E, D>(from.restrided(index.sizes, from.strides))?;
        let from = View::<_, E::Compute>::new(&from, 0, index.sizes, &steps);
        reduce_into::<E::Compute, S, D>(&mut wide, indexing, index, from, reduce, include_self)?;
        return D::map1_into::<E::Compute, E>(Casting, wide.elements(), out.elements_mut()?);
    }
    // Work on a copy: `out` must stay unchanged if anything fails.
    let mut result = out.clone();
    if !include_self {
        with_value::<E, D>(index.buffer, identity::<E>(reduce), index.sizes, |from| {
            write_over(&mut result, indexing, index, from)
        })?;
    }
    match reduce {
        ScatterReduce::Sum | ScatterReduce::Mean => {
            write_with(Folding::<Accumulating>::new(), &mut result, indexing, index, from)?
        }
        ScatterReduce::Prod => write_with(Folding::<ops::mul>::new(), &mut result, indexing, index, from)?,
        ScatterReduce::Amax => write_with(Folding::<ops::maximum>::new(), &mut result, indexing, index, from)?,
        ScatterReduce::Amin => write_with(Folding::<ops::minimum>::new(), &mut result, indexing, index, from)?,
    }
    if reduce == ScatterReduce::Mean {
        // As in PyTorch, integers are counted in the dtype itself.
        let mut counts = if include_self { out.try_full_like(true)? } else { out.try_zeros_like()? };
        let one = E::from_bool(true);
        with_value::<E, D>(index.buffer, one, index.sizes, |from| {
            write_with(Folding::<Accumulating>::new(), &mut counts, indexing, index, from)
        })?;
        D::update1(AtLeastOne, counts.elements_mut()?)?;
        if E::DTYPE.category() >= Category::Floating {
            D::update2(Folding::<ops::div>::new(), counts.elements(), result.elements_mut()?)?;
        } else {
            D::update2(Folding::<ops::floor_divide>::new(), counts.elements(), result.elements_mut()?)?;
        }
    }
    out.replace(result)
}

/// `max(x, 1)` for counts.
#[derive(Clone, Copy)]
struct AtLeastOne;
impl<E: Dtype> ops::kernel::Map1<E, E> for AtLeastOne {
    const SLOPE: ops::kernel::Slope = ops::kernel::Slope::Flat;
    #[inline(always)]
    fn call(self, count: E) -> E {
        if count == E::default() { E::from_bool(true) } else { count }
    }
    fn text(&self, kernel: &mut Kernel, count: Value) -> Value {
        let (zero, one) = (kernel.constant(0.0, E::DTYPE), kernel.constant(1.0, E::DTYPE));
        let is_zero = kernel.equal(count, zero);
        kernel.choose(is_zero, one, count)
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, i64, i64>("at_least_one", AtLeastOne);
    suite.one::<_, crate::dtype::f16, crate::dtype::f16>("at_least_one", AtLeastOne);
}
