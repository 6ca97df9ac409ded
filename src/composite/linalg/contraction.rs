//! Products that sum over chosen axes, and Kronecker products: `inner`, `tensordot`, `kron`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element, Promotable};
use crate::error::{Error, Result, invalid, listed};
use crate::layout::dims::Dims;
use crate::layout::{memory_format, strides};
use crate::ops;
use crate::ops::admit::{NumericFor, SameDtypeFor};
use crate::ops::kernel::Combining;
use crate::shape::{Axes, Beside, Dimensional, Inner, Kronecker, PairedWith, Shape};
use crate::tensor::{SameDevice, Tensor, checked_numel};
use castiron_macros::composites;

/// A Kronecker product as an outer product: each axis of the result is an axis of the left factor followed by one of the right; axes of
/// size 1 are left out.
pub(crate) struct KroneckerAxes {
    /// The sizes of both factors in the outer product.
    pub(crate) factors: [Vec<usize>; 2],
    pub(crate) result: Vec<usize>,
}

pub(crate) fn kronecker_axes(op: &'static str, left: &[usize], right: &[usize]) -> Result<KroneckerAxes> {
    let rank = left.len().max(right.len());
    let size = |of: &[usize], at: usize| (at + of.len()).checked_sub(rank).map_or(1, |at| of[at]);
    let (mut factors, mut result) = ([vec![], vec![]], vec![]);
    for at in 0..rank {
        let (a, b) = (size(left, at), size(right, at));
        result.push(a.checked_mul(b).ok_or_else(|| Error::TooLarge { op, sizes: [a, b][..].into() })?);
        for (own, other) in [(a, 1), (1, b)].into_iter().filter(|&pair| pair != (1, 1)) {
            factors[0].push(own);
            factors[1].push(other);
        }
    }
    if factors[0].len() > 8 {
        let reason = "more than eight axes of the two tensors are larger than 1".to_owned();
        return Err(Error::InvalidArgument { op, reason });
    }
    Ok(KroneckerAxes { factors, result })
}

/// Sums over pairs of axes as a matrix product.
struct Contraction {
    /// The sizes that the operands are expanded to, and their axes in order: those that are kept, then the summed ones.
    sizes: [Vec<usize>; 2],
    orders: [Vec<usize>; 2],
    /// The rows of the two matrices, and the terms of a sum.
    matrices: [usize; 3],
    result: Dims,
}
impl Contraction {
    /// (Of sizes alone, so that it is compiled once for all dtypes; `inline`, so that only programs that use it compile it.)
    #[inline]
    fn of(
        op: &'static str,
        [lhs, rhs]: [&[usize]; 2],
        [left, right]: [&[usize]; 2],
        keeps: [bool; 2],
        spreads: bool,
    ) -> Result<Self> {
        let mut sizes = [lhs.to_owned(), rhs.to_owned()];
        for (&a, &b) in left.iter().zip(right) {
            let (columns, rows) = (sizes[0][a], sizes[1][b]);
            match (columns, rows) {
                _ if columns == rows => {}
                (1, _) if spreads => sizes[0][a] = rows,
                (_, 1) if spreads => sizes[1][b] = columns,
                _ => return Err(Error::MatMul { lhs: lhs.into(), rhs: rhs.into(), columns, rows }),
            }
        }
        let left_over = |of: &[usize], summed: &[usize]| listed((0..of.len()).filter(|at| !summed.contains(at)));
        let (rows, columns) = (left_over(&sizes[0], left)?, left_over(&sizes[1], right)?);
        let count = |of: &[usize], axes: &[usize]| axes.iter().fold(1_usize, |count, &at| count.saturating_mul(of[at]));
        let matrices = [count(&sizes[0], &rows), count(&sizes[1], &columns), count(&sizes[0], left)];
        let mut result = vec![];
        for (of, summed, keeps) in [(lhs, left, keeps[0]), (rhs, right, keeps[1])] {
            for (at, &size) in of.iter().enumerate() {
                match summed.contains(&at) {
                    false => result.push(size),
                    true if keeps => result.push(1),
                    true => {}
                }
            }
        }
        let orders = [[&rows[..], left].concat(), [&columns[..], right].concat()];
        Ok(Contraction { sizes, orders, matrices, result: Dims::new(op, &result)? })
    }
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The sums of products over the last axes: `(…, K)` and `(…, K)` give the leading axes of `self`, then those of `other`. A zero-dim
    /// tensor multiplies all elements of the other.
    ///
    /// # Errors
    /// If the last sizes differ.
    #[op(inner, dtypes = numeric)]
    #[any(by_hand)]
    #[typed(<F: Dtype, R, T: Shape, X: Device>(&self, other: &Tensor<F, R, X>) -> Tensor<E, T, D>
        where
            E: NumericFor<ops::reduce::inner> + SameDtypeFor<F, ops::reduce::inner>,
            S: Inner<R, ops::reduce::inner, Output = T>,
            R: Shape + SameDevice<D, X>)]
    #[example(let x = tensor![[1, 2], [3, 4]]; let y = tensor![[1, 0], [0, 1], [1, 1]]; x.inner(&y), x.inner(&y), tensor![[1, 2, 3], [3, 4, 7]])]
    pub(crate) fn inner(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        match (self.rank(), other.rank()) {
            (1.., 1..) => self.contracted("inner", other, [&[self.rank() - 1], &[other.rank() - 1]], [false; 2], false),
            _ => self.map2("inner", Combining::<ops::mul, E>::new(), other),
        }
    }

    /// The sums of products over pairs of axes: each of `axes` with the one of `other_axes` at the same position. The result has the
    /// remaining axes of `self`, then those of `other`. An axis of size 1 pairs with one of any size. Both have one dtype.
    ///
    /// # Errors
    /// If the sizes of a pair of axes differ, or the lists of axes differ in length.
    #[op(tensordot, dtypes = numeric)]
    #[any(axes: &[i64] = &self.axes_from_end("tensordot", axes)?, other_axes: &[i64] = &other.axes_from_end("tensordot", other_axes)?, keeps = [false; 2])]
    #[typed(<F: Dtype, R, T: Shape, A: Axes<S>, B: Axes<R>, X: Device>(&self, other: &Tensor<F, R, X>, axes: A, other_axes: B) -> Tensor<E, T, D>
        where
            E: NumericFor<ops::reduce::tensordot> + SameDtypeFor<F, ops::reduce::tensordot>,
            A::Sizes: PairedWith<B::Sizes>,
            A::Reduced: Beside<B::Reduced, Output = T>,
            S: Dimensional,
            R: Dimensional + SameDevice<D, X>;
        axes = A::LIST, other_axes = B::LIST, keeps = [A::KEEPS, B::KEEPS])]
    #[example(let x = tensor![[1, 2], [3, 4]]; let y = tensor![[1, 0], [0, 1], [1, 1]]; x.tensordot(&y, axis![1], axis![1]), x.tensordot(&y, &[1], &[1]), tensor![[1, 2, 3], [3, 4, 7]])]
    pub(crate) fn tensordot(
        &self,
        other: &Erased<'_, E, D>,
        axes: &[usize],
        other_axes: &[usize],
        keeps: [bool; 2],
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "tensordot";
        if axes.len() != other_axes.len() {
            return invalid(op, format!("{} axes of the one go with {} of the other", axes.len(), other_axes.len()));
        }
        if !axes.is_empty() && (self.rank() == 0 || other.rank() == 0) {
            return invalid(op, "a zero-dim tensor has no axis to sum over".to_owned());
        }
        self.contracted(op, other, [axes, other_axes], keeps, true)
    }

    /// The sums over pairs of axes, as a matrix product. Different sizes are an error, unless one is 1 and `spreads` is set; summed axes
    /// are kept with size 1 if `keeps`.
    fn contracted(
        &self,
        op: &'static str,
        other: &Erased<'_, E, D>,
        [left, right]: [&[usize]; 2],
        keeps: [bool; 2],
        spreads: bool,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let Contraction { sizes, orders, matrices: [m, n, terms], result } =
            Contraction::of(op, [self.sizes(), other.sizes()], [left, right], keeps, spreads)?;
        checked_numel::<E>(op, &result)?;
        let (a, b) = (self.expand(op, &sizes[0])?, other.expand(op, &sizes[1])?);
        let (a, b) = (a.permute(op, &orders[0])?, b.permute(op, &orders[1])?);
        let (a, b) = (a.reshape(op, &[m, terms])?, b.reshape(op, &[n, terms])?);
        let storage = D::matmul(a.view(), b.permute(op, &[1, 0])?.view(), None)?;
        Ok(Erased::dense(storage, result))
    }

    /// The Kronecker product: every element of `self` times the whole of `other`, as blocks. Sizes multiply, aligned at the last axis;
    /// further axes of the longer shape are kept. Dtypes promote.
    ///
    /// # Errors
    /// If there are more than eight axes larger than 1 in the two together.
    #[op(kron, dtypes = any)]
    #[any(by_hand)]
    #[typed(<F: Dtype, P: Dtype, R, T: Shape, X: Device>(&self, other: &Tensor<F, R, X>) -> Tensor<P, T, D>
        where
            E: Dtype + Promotable<With<F> = P>,
            S: Kronecker<R, Output = T>,
            R: Shape + SameDevice<D, X>)]
    #[example(let x = tensor![1, 10]; let y = tensor![[1, 2], [3, 4]]; x.kron(&y), x.kron(&y), tensor![[1, 2, 10, 20], [3, 4, 30, 40]])]
    pub(crate) fn kron<F: Dtype, P: Dtype>(&self, other: &Erased<'_, F, D>) -> Result<Owned<P, D>>
    where
        E: Dtype + Promotable<With<F> = P>,
    {
        let op = "kron";
        let KroneckerAxes { factors, result } = kronecker_axes(op, self.sizes(), other.sizes())?;
        let (result, mut strides) = (Dims::new(op, &result)?, Dims::of_rank(op, result.len())?);
        checked_numel::<P>(op, &result)?;
        let (left, right) = (self.reshape(op, &factors[0])?, other.reshape(op, &factors[1])?);
        let mut outer = Dims::new(op, &factors[0])?;
        outer.iter_mut().zip(&factors[1]).for_each(|(own, other)| *own *= other);
        let (left, right) = (left.expand(op, &outer)?, right.expand(op, &outer)?);
        // An elementwise product of factors with interleaved axes, viewed as the result if strides allow it.
        let layouts =
            [(&outer[..], left.strides(), E::DTYPE != P::DTYPE), (&outer[..], right.strides(), F::DTYPE != P::DTYPE)];
        let mut to = memory_format::elementwise_of(&outer, layouts);
        if !strides::write_reshaped(&outer, &to, &result, &mut strides) {
            (to, strides) = (outer.row_major(), result.row_major());
        }
        let storage = D::map2::<E, F, P>(Combining::<ops::mul, P>::new(), left.view(), right.view(), &to)?;
        Ok(Erased::fresh(storage, result, strides))
    }
}
