//! `index_put`: values written at positions given by one index tensor for each axis.
//! Uses `base::operand`, `index::gather`, `index::masked`, `ops::choosing`; used by `any`.

use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::positions::index_from_end;
use crate::ops::admit::SameDtypeFor;
use crate::ops::arguments::Indexing;
use crate::ops::choosing::{self, Folding};
use crate::ops::kernel::Copying;
use crate::ops::reduce::Accumulating;
use crate::shape::{Shape, broadcasts_to};
use crate::storage::{View, ViewMut};
use crate::tensor::Tensor;
use crate::tensor::base::operand::TensorOperand;
use crate::tensor::index::gather::elements;
use crate::tensor::index::masked::laid_out;
use castiron_macros::fallible;

/// The linear index, over the indexed axes, of each position that the index tensors give together.
pub(crate) fn places(
    op: &'static str,
    indices: impl Iterator<Item = Result<Vec<i64>>>,
    sizes: &[usize],
) -> Result<Vec<i64>> {
    let mut places = Vec::new();
    for (axis, (index, &size)) in indices.zip(sizes).enumerate() {
        let index = index?;
        places.resize(index.len(), 0);
        for (place, index) in places.iter_mut().zip(index) {
            // Below the number of elements.
            *place = *place * size as i64 + index_from_end(op, index, axis, size)? as i64;
        }
    }
    Ok(places)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Writes values where indices meet: `result[i[k], j[k]] = values[k]` for `indices` `[&i, &j]`. They lead along the first
    /// axes, one tensor for each; where fewer are given, whole slices are written. With `accumulate` the values are added to what
    /// is there and to one another, else the last one stays.
    ///
    /// Shape: that of `self`. The indices have one shape; the values broadcast to it, followed by the axes that are left. Dtypes:
    /// all computing dtypes, the values having that of `self`; the indices are `i64`, negative ones count from the end.
    ///
    /// PyTorch: `torch.index_put`.
    ///
    /// # Panics
    /// If an index is out of range, there are more indices than axes or the values do not broadcast.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[0, 0, 0], [0, 0, 0]];
    /// let (i, j) = (tensor![0, 1, 1], tensor![2, -1, 2]);
    /// assert_eq!(x.index_put([&i, &j], tensor![5, 6, 7], true).to_vec(), [0, 0, 5, 0, 0, 13]);
    /// assert_eq!(x.index_put([&tensor![1]], tensor![8], false).to_vec(), [0, 0, 0, 8, 8, 8]);
    /// ```
    #[fallible]
    pub fn index_put<const N: usize, T: Shape, R: TensorOperand>(
        &self,
        indices: [&Tensor<i64, T, D>; N],
        values: R,
        accumulate: bool,
    ) -> Result<Self>
    where
        E: Dtype + SameDtypeFor<R::Elem, choosing::index_put>,
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
    pub fn index_put_<const N: usize, T: Shape, R: TensorOperand>(
        &mut self,
        indices: [&Tensor<i64, T, D>; N],
        values: R,
        accumulate: bool,
    ) -> Result<&mut Self>
    where
        E: Dtype + SameDtypeFor<R::Elem, choosing::index_put>,
        D: Receives<R::Place, Dimensioned>,
    {
        let (op, own) = ("index_put", self.shape());
        let Some((first, rest)) = own.as_ref().split_at_checked(N).filter(|_| N > 0) else {
            let reason = format!("a tensor with {} axes takes from 1 to as many indices, got {N}", S::RANK);
            return Err(Error::InvalidArgument { op, reason });
        };
        let values = elements::<R, D>(&values)?.known_as();
        let shapes = indices.map(|index| index.shape());
        let Some(shape) = shapes.first() else { unreachable!("there is an index") };
        if let Some(other) = shapes.iter().find(|other| other.as_ref() != shape.as_ref()) {
            let reason = format!("indices have one shape, got {:?} and {:?}", shape.as_ref(), other.as_ref());
            return Err(Error::InvalidArgument { op, reason });
        }
        // The sizes of what is written.
        let target = [shape.as_ref(), rest].concat();
        if !broadcasts_to(values.sizes, &target) {
            return Err(Error::Broadcast { op, lhs: values.sizes.into(), rhs: target[..].into() });
        }
        let downloaded = indices.iter().map(|index| D::download(index.elements()));
        let places = if D::has_data(values.buffer) { places(op, downloaded, first)? } else { Vec::new() };
        let values = laid_out::<E, D>(values, &target, Copying)?;
        let (count, inner): (usize, usize) = (shape.as_ref().iter().product(), rest.iter().product());
        let outer = first.iter().product();
        let index = D::build(Some(&values), || Ok(places))?;
        // Row-major tensors are written in place, others through a row-major copy.
        let mut copy = if self.is_contiguous() { None } else { Some(self.try_contiguous()?) };
        let out = copy.as_mut().unwrap_or(self).elements_mut()?;
        let (sizes, indexing) = ([count, inner], Indexing { op, axis: 0, wraps: false });
        let index = View::<_, i64>::new(&index, 0, &sizes, &[1, 0]);
        let (own, strides) = ([outer, inner], [inner.max(1), 1]);
        let values = View::<_, E>::new(&values, 0, &sizes, &strides);
        let out = ViewMut::<_, E>::new(out.buffer, out.offset, &own, &strides);
        if accumulate {
            D::scatter_with::<E>(indexing, Folding::<Accumulating>::new(), index, values, out)?;
        } else {
            D::scatter::<E>(indexing, index, values, out)?;
        }
        if let Some(copy) = copy {
            D::map1_into::<E, E>(Copying, copy.elements(), self.elements_mut()?)?;
        }
        Ok(self)
    }
}
