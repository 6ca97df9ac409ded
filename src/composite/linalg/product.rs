//! Matrix products of tensors of any rank: vectors count as matrices, batches are broadcast.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Compute, Dtype};
use crate::error::{Error, Result, filled, listed};
use crate::layout::dims::Dims;
use crate::layout::strides;
use crate::ops;
use crate::ops::arguments::Added;
use crate::ops::kernel::Combining;
use crate::ops::reduce::Sum;
use crate::shape::{broadcast_sizes, broadcasts_to};
use crate::storage::View;
use crate::tensor::checked_numel;

impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The product of tensors with at least one axis each.
    pub(crate) fn product(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let (storage, sizes) =
            product::<E, D>(self.view(), other.view(), None, &|sizes| Dims::new("matmul", sizes).map(drop))?;
        Ok(Erased::dense(storage, Dims::new("matmul", &sizes)?))
    }
}

/// The tensor that a product is added to, in its own shape.
pub(crate) struct Summand<'a, B, E: Dtype> {
    pub(crate) op: &'static str,
    pub(crate) input: View<'a, B, E>,
    pub(crate) beta: E::Compute,
    pub(crate) alpha: E::Compute,
}
impl<B, E: Dtype> Summand<'_, B, E> {
    /// The strides of the input expanded to the sizes of the product.
    pub(crate) fn strides(&self, sizes: &[usize]) -> Result<Vec<usize>> {
        let own = self.input.sizes;
        if !broadcasts_to(own, sizes) {
            return Err(Error::Broadcast { op: self.op, lhs: own.into(), rhs: sizes.into() });
        }
        Ok(strides::broadcast_list(own, self.input.strides, sizes))
    }

    /// The summand for a device, with its input viewed with these sizes and strides; a `beta` of 0 leaves it out.
    pub(crate) fn expanded<'b>(&'b self, sizes: &'b [usize], strides: &'b [usize]) -> Added<'b, B, E> {
        let input = (self.beta != E::Compute::default()).then(|| self.input.restrided(sizes, strides));
        Added { input, beta: self.beta, alpha: self.alpha }
    }
}

/// The product of two complex vectors. PyTorch multiplies matrix products by 1, which makes NaN of numbers with an infinite part, but not
/// those of vectors.
fn unspoiled<E: Dtype, D: Device>(
    product: D::Storage,
    [left, right]: [View<'_, D::Storage, E>; 2],
) -> Result<D::Storage> {
    let found: E = D::peek(View::new(&product, 0, &[], &[]))?;
    if !found.to_compute().predicate::<ops::isnan>() {
        return Ok(product);
    }
    let products = D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), left, right, &[1])?;
    D::reduce::<E, _>(Sum, View::new(&products, 0, left.sizes, &[1]), 0b1)
}

/// A product as matrices on both sides: sizes and strides of both operands with the batch of the result, and the sizes of the result.
struct Batches {
    /// Sizes and strides of the left and of the right operand.
    operands: [(Vec<usize>, Vec<usize>); 2],
    /// The sizes of the result, without the axes of size 1 of vectors.
    sizes: Vec<usize>,
    batch_rank: usize,
    left_is_vector: bool,
    right_is_vector: bool,
}
impl Batches {
    /// From sizes and strides of operands with at least one axis each.
    fn of(left: [&[usize]; 2], right: [&[usize]; 2]) -> Result<Self> {
        // A vector is a matrix of one row on the left, of one column on the right.
        let (left_is_vector, right_is_vector) = (left[0].len() == 1, right[0].len() == 1);
        let with_axis = |of: &[usize], longer: bool, at: usize, value: usize| {
            let mut of = of.to_owned();
            if longer {
                of.insert(at, value);
            }
            of
        };
        let (a_sizes, a_strides) = (with_axis(left[0], left_is_vector, 0, 1), with_axis(left[1], left_is_vector, 0, 0));
        let (b_sizes, b_strides) =
            (with_axis(right[0], right_is_vector, 1, 1), with_axis(right[1], right_is_vector, 1, 0));
        let (a_batch, a_matrix) = a_sizes.split_at(a_sizes.len() - 2);
        let (b_batch, b_matrix) = b_sizes.split_at(b_sizes.len() - 2);
        let (&[m, columns], &[rows, n]) = (a_matrix, b_matrix) else { unreachable!("split two from the end") };
        if columns != rows {
            return Err(Error::MatMul { lhs: left[0].into(), rhs: right[0].into(), columns, rows });
        }
        let mut batch = filled(1, a_batch.len().max(b_batch.len()))?;
        if !broadcast_sizes(a_batch, b_batch, &mut batch) {
            return Err(Error::Broadcast { op: "matmul", lhs: left[0].into(), rhs: right[0].into() });
        }
        let mut sizes = batch.clone();
        sizes.extend((!left_is_vector).then_some(m));
        sizes.extend((!right_is_vector).then_some(n));
        let broadcast = |batch_sizes: &[usize], own_strides: &[usize], matrix: [usize; 2]| {
            let (own_batch, own_matrix) = own_strides.split_at(batch_sizes.len());
            let mut to = strides::broadcast_list(batch_sizes, own_batch, &batch);
            to.extend_from_slice(own_matrix);
            ([&batch[..], &matrix].concat(), to)
        };
        let operands = [broadcast(a_batch, &a_strides, [m, columns]), broadcast(b_batch, &b_strides, [rows, n])];
        Ok(Batches { operands, sizes, batch_rank: batch.len(), left_is_vector, right_is_vector })
    }

    /// Sizes (`value` 1) or strides (`value` 0) of the result with the axes of size 1 of vectors inserted.
    fn whole(&self, mut of: Vec<usize>, value: usize) -> Vec<usize> {
        if self.left_is_vector {
            of.insert(self.batch_rank, value);
        }
        if self.right_is_vector {
            of.push(value);
        }
        of
    }
}

/// The product of two views with at least one axis each, and its sizes; checks that they match.
pub(crate) fn product<E: Dtype, D: Device>(
    left: View<'_, D::Storage, E>,
    right: View<'_, D::Storage, E>,
    summand: Option<Summand<'_, D::Storage, E>>,
    fits: &dyn Fn(&[usize]) -> Result<()>,
) -> Result<(D::Storage, Vec<usize>)> {
    if let (&[m, columns], &[rows, n]) = (left.sizes, right.sizes)
        && columns == rows
    {
        let sizes = [m, n];
        fits(&sizes)?;
        checked_numel::<E>("matmul", &sizes)?;
        let strides = summand.as_ref().map(|summand| summand.strides(&sizes)).transpose()?;
        let added = summand.as_ref().zip(strides.as_ref());
        let added = added.map(|(summand, strides)| summand.expanded(&sizes, strides));
        return Ok((D::matmul(left, right, added)?, listed(sizes)?));
    }
    let batches = Batches::of([left.sizes, left.strides], [right.sizes, right.strides])?;
    fits(&batches.sizes)?;
    checked_numel::<E>("matmul", &batches.sizes)?;
    let vectors = (batches.left_is_vector && batches.right_is_vector).then_some([left, right]);
    let [a, b] = &batches.operands;
    let (left, right) = (left.restrided(&a.0, &a.1), right.restrided(&b.0, &b.1));
    let storage = match summand {
        None => {
            let storage = D::matmul(left, right, None)?;
            match vectors {
                Some(vectors) if const { E::DTYPE.is_complex() } => match D::has_data(&storage) {
                    true => unspoiled::<E, D>(storage, vectors)?,
                    false => storage,
                },
                _ => storage,
            }
        }
        Some(summand) => {
            let (sizes, strides) = (batches.sizes.clone(), summand.strides(&batches.sizes)?);
            let (sizes, strides) = (batches.whole(sizes, 1), batches.whole(strides, 0));
            D::matmul(left, right, Some(summand.expanded(&sizes, &strides)))?
        }
    };
    Ok((storage, batches.sizes))
}
