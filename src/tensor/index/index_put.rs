//! `index_put`: values written at positions given by one index tensor for each axis.

use crate::device::{Device, Receives};
use crate::dtype::DType;
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
#[cfg(feature = "any")]
use crate::layout::positions::index_from_end;
use crate::layout::strides;
use crate::ops::admit::SameDtypeFor;
use crate::ops::arguments::{Indexing, Sought};
use crate::ops::choosing::{self, Folding};
use crate::ops::kernel::{Copying, Map1, Map2};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Accumulating;
use crate::shape::{PlacesIn, Shape, SplitAt, WrittenAt, broadcasts_to};
use crate::storage::{View, ViewMut};
use crate::tensor::base::operand::TensorOperand;
use crate::tensor::index::accumulate::combine_at;
use crate::tensor::index::gather::elements;
use crate::tensor::index::masked::{first, laid_out};
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;

/// An index counted from the start, if it is negative.
#[derive(Clone, Copy)]
struct FromStart {
    size: i64,
}
impl Map1<i64, i64> for FromStart {
    #[inline(always)]
    fn call(self, index: i64) -> i64 {
        if index < 0 { index + self.size } else { index }
    }
    fn text(&self, kernel: &mut Kernel, index: Value) -> Value {
        let size = kernel.parameter(self.size);
        let zero = kernel.constant(0.0, DType::I64);
        let is_negative = kernel.infix(index, "<", zero, DType::Bool);
        let counted = kernel.prelude("add", &[index, size], DType::I64);
        kernel.choose(is_negative, counted, index)
    }
}

/// The linear index including one more axis, of this size.
#[derive(Clone, Copy)]
struct Further {
    size: i64,
}
impl Map2<i64, i64, i64> for Further {
    #[inline(always)]
    fn call(self, place: i64, index: i64) -> i64 {
        place * self.size + FromStart { size: self.size }.call(index)
    }
    fn text(&self, kernel: &mut Kernel, place: Value, index: Value) -> Value {
        let size = kernel.parameter(self.size);
        let index = FromStart { size: self.size }.text(kernel, index);
        let before = kernel.prelude("mul", &[place, size], DType::I64);
        kernel.prelude("add", &[before, index], DType::I64)
    }
}

/// The linear index, over the indexed axes, of each position in index tensors of one shape; row-major.
fn linear<'a, D: Device>(
    op: &'static str,
    indices: impl Iterator<Item = View<'a, D::Storage, i64>> + Clone,
    sizes: &[usize],
) -> Result<Option<D::Storage>> {
    for (axis, (index, &size)) in indices.clone().zip(sizes).enumerate() {
        if D::has(index, Sought::Outside(size))? {
            let index = first::<i64, D>(index, Sought::Outside(size))?;
            return Err(Error::IndexValue { op, index, axis, size });
        }
    }
    let mut places: Option<D::Storage> = None;
    for (index, &size) in indices.zip(sizes) {
        // Positions are below the number of elements.
        let (size, strides) = (size as i64, strides::row_major(index.sizes));
        places = Some(match places {
            None => D::map1::<i64, i64>(FromStart { size }, index, &strides)?,
            Some(places) => {
                let places = View::<_, i64>::new(&places, 0, index.sizes, &strides);
                D::map2::<i64, i64, i64>(Further { size }, places, index, &strides)?
            }
        });
    }
    Ok(places)
}

/// The linear indices, computed on the host.
#[cfg(feature = "any")]
pub(crate) fn places(
    op: &'static str,
    indices: impl Iterator<Item = Result<Vec<i64>>>,
    sizes: &[usize],
) -> Result<Vec<i64>> {
    let mut places = Vec::new();
    for (axis, (index, &size)) in indices.zip(sizes).enumerate() {
        let index = index?;
        if axis == 0 {
            places = crate::error::filled(0, index.len())?;
        }
        for (place, index) in places.iter_mut().zip(index) {
            // Below the number of elements.
            *place = *place * size as i64 + index_from_end(op, index, axis, size)? as i64;
        }
    }
    Ok(places)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Writes values where indices meet: `result[i[k], j[k]] = values[k]` for `indices` `[&i, &j]`. There is one index tensor for each of
    /// the first axes; if there are fewer than axes, whole slices are written. With `accumulate` values are added to the elements, also
    /// several at one position; otherwise the last one stays.
    ///
    /// Shape: that of `self`. The indices have one shape; the values broadcast to it, followed by the remaining axes. Dtypes: all computing
    /// dtypes, the values having that of `self`; the indices are `i64`, negative ones count from the end.
    ///
    /// PyTorch: `torch.index_put`.
    ///
    /// # Panics
    /// If an index is out of range, or sizes known at run time do not match.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[0, 0, 0], [0, 0, 0]];
    /// let (i, j) = (tensor![0, 1, 1], tensor![2, -1, 2]);
    /// assert_eq!(x.index_put([&i, &j], tensor![5, 6, 7], true).to_vec(), [0, 0, 5, 0, 0, 13]);
    /// assert_eq!(x.index_put([&tensor![1]], tensor![8], false).to_vec(), [0, 0, 0, 8, 8, 8]);
    /// ```
    #[fallible]
    pub fn index_put<const N: usize, T, R: TensorOperand, X: Device>(
        &self,
        indices: [&Tensor<i64, T, X>; N],
        values: R,
        accumulate: bool,
    ) -> Result<Self>
    where
        E: Dtype + SameDtypeFor<R::Elem, choosing::index_put>,
        S: SplitAt<N>,
        T: PlacesIn<S, N> + SameDevice<D, X>,
        R::Shape: WrittenAt<<T as PlacesIn<S, N>>::Places>,
        D: Receives<R::Place, Dimensioned>,
    {
        let mut out = self.try_contiguous()?;
        out.try_index_put_(indices, values, accumulate)?;
        Ok(out)
    }

    /// [`index_put`](Self::index_put) in place.
    ///
    /// # Panics
    /// As there; nothing is written then.
    #[fallible]
    pub fn index_put_<const N: usize, T, R: TensorOperand, X: Device>(
        &mut self,
        indices: [&Tensor<i64, T, X>; N],
        values: R,
        accumulate: bool,
    ) -> Result<&mut Self>
    where
        E: Dtype + SameDtypeFor<R::Elem, choosing::index_put>,
        S: SplitAt<N>,
        T: PlacesIn<S, N> + SameDevice<D, X>,
        R::Shape: WrittenAt<<T as PlacesIn<S, N>>::Places>,
        D: Receives<R::Place, Dimensioned>,
    {
        let (op, own, indices) = ("index_put", self.shape(), indices.map(|index| T::here(index)));
        let (indexed, rest) = own.as_ref().split_at(N);
        let values = elements::<R, D>(&values)?.known_as();
        let shapes = indices.map(|index| index.shape());
        let Some(shape) = shapes.first() else { unreachable!("there is an index") };
        if let Some(other) = shapes.iter().find(|other| other.as_ref() != shape.as_ref()) {
            let reason = format!("indices have one shape, got {:?} and {:?}", shape.as_ref(), other.as_ref());
            return Err(Error::InvalidArgument { op, reason });
        }
        // The sizes of the elements that are written.
        let target = [shape.as_ref(), rest].concat();
        if !broadcasts_to(values.sizes, &target) {
            return Err(Error::Broadcast { op, lhs: values.sizes.into(), rhs: target[..].into() });
        }
        let Some(index) = linear::<D>(op, indices.iter().map(|index| index.elements()), indexed)? else {
            unreachable!("there is an index")
        };
        let values = laid_out::<E, D>(values, &target, Copying)?;
        let (count, inner): (usize, usize) = (shape.as_ref().iter().product(), rest.iter().product());
        let outer = indexed.iter().product();
        // Row-major tensors are written in place, others through a row-major copy.
        let mut copy = if self.is_contiguous() { None } else { Some(self.try_contiguous()?) };
        let out = copy.as_mut().unwrap_or(self).elements_mut()?;
        let (sizes, indexing) = ([count, inner], Indexing { op, axis: 0, wraps: false });
        let index = View::<_, i64>::new(&index, 0, &sizes, &[1, 0]);
        let (own, strides) = ([outer, inner], [inner.max(1), 1]);
        let values = View::<_, E>::new(&values, 0, &sizes, &strides);
        let out = ViewMut::<_, E>::new(out.buffer, out.offset, &own, &strides);
        if accumulate {
            combine_at::<E, D>(indexing, Folding::<Accumulating>::new(), index, values, out)?;
        } else {
            D::scatter::<E>(indexing, index, values, out)?;
        }
        if let Some(copy) = copy {
            D::map1_into::<E, E>(Copying, copy.elements(), self.elements_mut()?)?;
        }
        Ok(self)
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, i64, i64>("from_start", FromStart { size: 7 }).ordinary();
    suite.two::<_, i64, i64, i64>("further", Further { size: 7 }).ordinary();
}
