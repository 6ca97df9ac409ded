//! Products that sum over chosen axes, and Kronecker's: `inner`, `tensordot`, `kron`, `multi_dot`.
//! Uses `linalg::matmul`, `ops::admit`, `ops::kernel`, `device`; used by `any`.

use crate::device::{Backend, Device};
use crate::dtype::{Dtype, Element, Promotable};
use crate::error::{Error, Result};
use crate::layout::{memory_format, strides};
use crate::ops;
use crate::ops::admit::{NumericFor, SameDtypeFor};
use crate::ops::kernel::{Combining, Copying};
use crate::shape::{Axes, Beside, Dim, Dimensional, Dyn, Inner, Kronecker, MayEqual, PairedWith, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::{SameDevice, Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// A tensor seen as a matrix: the axes that stay as its rows, those summed over as its columns.
struct Matrix<D: Backend> {
    storage: D::Storage,
    offset: usize,
    sizes: [usize; 2],
    strides: [usize; 2],
}

/// Axes that run on into one another, as one.
fn merged(sizes: &[usize], strides: &[usize]) -> Option<(usize, usize)> {
    let axes = sizes.iter().copied().zip(strides.iter().copied()).filter(|&(size, _)| size != 1);
    axes.map(Some)
        .reduce(|outer, inner| match (outer, inner) {
            (Some((outer, stride)), Some((size, step))) if stride == size * step => Some((outer * size, step)),
            _ => None,
        })
        .unwrap_or(Some((1, 1)))
}

fn matrix<E: Element, D: Device>(x: View<'_, D::Storage, E>, kept: &[usize], summed: &[usize]) -> Result<Matrix<D>> {
    let of = |axes: &[usize]| -> (Vec<usize>, Vec<usize>) {
        axes.iter().map(|&axis| (x.sizes[axis], x.strides[axis])).unzip()
    };
    let ((rows, row_strides), (columns, column_strides)) = (of(kept), of(summed));
    let (row_count, column_count) = (rows.iter().product(), columns.iter().product());
    let sizes = [row_count, column_count];
    let empty = sizes.contains(&0);
    if let (Some((_, down)), Some((_, across)), false) =
        (merged(&rows, &row_strides), merged(&columns, &column_strides), empty)
    {
        let (storage, offset) = D::share(x);
        return Ok(Matrix { storage, offset, sizes, strides: [down, across] });
    }
    let (ordered, from) = ([rows, columns].concat(), [row_strides, column_strides].concat());
    let to = strides::row_major(&ordered);
    let storage = D::map1::<E, E>(Copying, x.restrided(&ordered, &from), &to)?;
    Ok(Matrix { storage, offset: 0, sizes, strides: [column_count, 1] })
}

/// The sizes and strides of both with their summed axes in pairs of one size each: an axis of size 1 is repeated beside one of another.
/// And the axes of both that are not summed over.
pub(crate) struct Paired {
    pub(crate) sizes: [Vec<usize>; 2],
    pub(crate) strides: [Vec<usize>; 2],
    pub(crate) kept: [Vec<usize>; 2],
}

/// Factors, of these sizes and strides, with their pairs of axes; where sizes differ it is an error, unless one is 1 and `spreads` is set.
pub(crate) fn paired(of: [(&[usize], &[usize]); 2], summed: [&[usize]; 2], spreads: bool) -> Result<Paired> {
    let (mut sizes, mut strides) = (of.map(|of| of.0.to_vec()), of.map(|of| of.1.to_vec()));
    for (&a, &b) in summed[0].iter().zip(summed[1]) {
        let (columns, rows) = (sizes[0][a], sizes[1][b]);
        match (columns, rows) {
            _ if columns == rows => {}
            (1, _) if spreads => (sizes[0][a], strides[0][a]) = (rows, 0),
            (_, 1) if spreads => (sizes[1][b], strides[1][b]) = (columns, 0),
            _ => return Err(Error::MatMul { lhs: of[0].0.into(), rhs: of[1].0.into(), columns, rows }),
        }
    }
    let kept = [0, 1].map(|at| (0..sizes[at].len()).filter(|axis| !summed[at].contains(axis)).collect());
    Ok(Paired { sizes, strides, kept })
}

/// Sums the products over pairs of axes; the result has the other axes of the left, then those of the right.
fn contract<E: Dtype, D: Device>(
    factors: [View<'_, D::Storage, E>; 2],
    summed: [&[usize]; 2],
    spreads: bool,
) -> Result<D::Storage> {
    let Paired { sizes, strides, kept } = paired(factors.map(|of| (of.sizes, of.strides)), summed, spreads)?;
    let factor = |at: usize| matrix::<E, D>(factors[at].restrided(&sizes[at], &strides[at]), &kept[at], summed[at]);
    let (a, b) = (factor(0)?, factor(1)?);
    let [k, n] = [b.sizes[1], b.sizes[0]];
    D::matmul::<E>(
        View::new(&a.storage, a.offset, &a.sizes, &a.strides),
        View::new(&b.storage, b.offset, &[k, n], &[b.strides[1], b.strides[0]]),
        None,
    )
}

/// A Kronecker product as an outer one: each axis of the result is one of the left factor beside one of the right, of which those of
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

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The sums of products over the last axes of both: `(…, K)` and `(…, K)` give the leading axes of the one and then those of the
    /// other. A zero-dim tensor multiplies all of the other.
    ///
    /// Both hold one dtype, which is the result's; `bool` is refused.
    ///
    /// PyTorch: `torch.inner`.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let product: Tensor<i64, shape![2, 3]> = tensor![[1, 2], [3, 4]].inner(&tensor![[1, 0], [0, 1], [1, 1]]);
    /// assert_eq!(product.to_vec(), [1, 2, 3, 3, 4, 7]);
    /// ```
    #[fallible]
    pub fn inner<F: Dtype, R, T: Shape, X: Device>(&self, other: &Tensor<F, R, X>) -> Result<Tensor<E, T, D>>
    where
        E: NumericFor<ops::reduce::inner> + SameDtypeFor<F, ops::reduce::inner>,
        S: Inner<R, ops::reduce::inner, Output = T>,
        R: Shape + SameDevice<D, X>,
    {
        let (op, other) = ("inner", R::here(other));
        if S::RANK > 0 && R::RANK > 0 {
            return self.contracted(op, other, [&[S::RANK - 1], &[R::RANK - 1]], [false; 2], false);
        }
        let (x, y) = (self.elements(), other.elements().known_as::<E>());
        let (sizes, none) = ([x.sizes, y.sizes].concat(), vec![0; x.sizes.len() + y.sizes.len()]);
        let of =
            |view: View<'_, D::Storage, E>| if view.sizes.is_empty() { none.clone() } else { view.strides.to_vec() };
        let (of_x, of_y) = (of(x), of(y));
        let (x, y) = (x.restrided(&sizes, &of_x), y.restrided(&sizes, &of_y));
        let to = memory_format::elementwise(&sizes, &[(&sizes[..], &of_x, false), (&sizes, &of_y, false)]);
        let storage = D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), x, y, &to)?;
        Ok(Tensor::from_parts(storage, 0, T::Sizes::copied(&sizes), T::Sizes::copied(&to)))
    }

    /// The sums of products over pairs of axes: each of `axes` with the one of `other_axes` in the same place. The result has the
    /// remaining axes of `self`, then those of `other`. An axis of size 1 goes with one of any size.
    ///
    /// Both hold one dtype, which is the result's; `bool` is refused.
    ///
    /// PyTorch: `torch.tensordot`, with `dims` as two lists.
    ///
    /// # Panics
    /// If sizes of a pair of axes that are known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, shape, Tensor};
    /// let (a, b) = (Tensor::<f32, shape![2, 3, 4]>::ones(), Tensor::<f32, shape![4, 3, 5]>::ones());
    /// let product: Tensor<f32, shape![2, 5]> = a.tensordot(&b, axis![1, 2], axis![1, 0]);
    /// assert_eq!(product[(1, 4)], 12.0);
    /// ```
    #[fallible]
    pub fn tensordot<F: Dtype, R, T: Shape, A: Axes<S>, B: Axes<R>, X: Device>(
        &self,
        other: &Tensor<F, R, X>,
        axes: A,
        other_axes: B,
    ) -> Result<Tensor<E, T, D>>
    where
        E: NumericFor<ops::reduce::tensordot> + SameDtypeFor<F, ops::reduce::tensordot>,
        A::Sizes: PairedWith<B::Sizes>,
        A::Reduced: Beside<B::Reduced, Output = T>,
        S: Dimensional,
        R: Dimensional + SameDevice<D, X>,
    {
        let other = R::here(other);
        let (ours, theirs) = (A::LIST, B::LIST);
        self.contracted("tensordot", other, [ours, theirs], [A::KEEPS, B::KEEPS], true)
    }

    fn contracted<F: Dtype, R: Shape, T: Shape>(
        &self,
        op: &'static str,
        other: &Tensor<F, R, D>,
        axes: [&[usize]; 2],
        keeps: [bool; 2],
        spreads: bool,
    ) -> Result<Tensor<E, T, D>>
    where
        E: Dtype,
    {
        let (ours, theirs) = (self.shape(), other.shape());
        let mut sizes = Vec::with_capacity(T::RANK);
        for ((from, axes), keeps) in [ours.as_ref(), theirs.as_ref()].into_iter().zip(axes).zip(keeps) {
            for (axis, &size) in from.iter().enumerate() {
                match axes.contains(&axis) {
                    false => sizes.push(size),
                    true if keeps => sizes.push(1),
                    true => {}
                }
            }
        }
        expect_fit::<T>(op, &sizes)?;
        checked_numel::<E>(op, &sizes)?;
        let storage = contract::<E, D>([self.elements(), other.elements().known_as()], axes, spreads)?;
        Ok(Tensor::dense(storage, T::Sizes::copied(&sizes)))
    }

    /// The Kronecker product: every element of `self` times the whole of `other`, side by side. From the last axis on, sizes
    /// multiply; what only the longer shape has stays. Dtypes promote.
    ///
    /// PyTorch: `torch.kron`.
    ///
    /// # Panics
    /// If memory runs out, or there are more than eight axes larger than 1 in the two together.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let product: Tensor<i64, shape![2, 4]> = tensor![1, 10].kron(&tensor![[1, 2], [3, 4]]);
    /// assert_eq!(product.to_vec(), [1, 2, 10, 20, 3, 4, 30, 40]);
    /// ```
    #[fallible]
    pub fn kron<F: Dtype, P: Dtype, R, T: Shape, X: Device>(&self, other: &Tensor<F, R, X>) -> Result<Tensor<P, T, D>>
    where
        E: Dtype + Promotable<With<F> = P>,
        S: Kronecker<R, Output = T>,
        R: Shape + SameDevice<D, X>,
    {
        let (left, right) = (self.elements(), R::here(other).elements());
        let KroneckerAxes { factors, result } = kronecker_axes("kron", left.sizes, right.sizes)?;
        let sizes = T::Sizes::copied(&result);
        checked_numel::<P>("kron", &result)?;
        let outer: Vec<usize> = factors[0].iter().zip(&factors[1]).map(|(own, other)| own * other).collect();
        let spread = |sizes: &[usize], strides: &[usize], of: &[usize]| -> Vec<usize> {
            let mut steps = sizes.iter().zip(strides).filter(|&(&size, _)| size != 1).map(|(_, &stride)| stride);
            of.iter().map(|&size| if size == 1 { 0 } else { steps.next().unwrap_or(0) }).collect()
        };
        let (of_left, of_right) =
            (spread(left.sizes, left.strides, &factors[0]), spread(right.sizes, right.strides, &factors[1]));
        // An elementwise product of factors whose axes stand apart, seen as the result where its strides can be.
        let mut to = memory_format::elementwise(
            &outer,
            &[(&outer[..], &of_left, E::DTYPE != P::DTYPE), (&outer, &of_right, F::DTYPE != P::DTYPE)],
        );
        let mut strides = T::Sizes::filled(1);
        if !strides::write_reshaped(&outer, &to, &result, strides.as_mut()) {
            (to, strides) = (strides::row_major(&outer), strides::contiguous(&sizes));
        }
        let (left, right) = (left.restrided(&outer, &of_left), right.restrided(&outer, &of_right));
        let storage = D::map2::<E, F, P>(Combining::<ops::mul, P>::new(), left, right, &to)?;
        Ok(Tensor::from_parts(storage, 0, sizes, strides))
    }
}

/// So many columns of a matrix, which matrices of `Rows` rows follow.
#[diagnostic::on_unimplemented(
    message = "multi_dot: inner sizes differ: matrices of `{Rows}` rows and `{Self}` columns don't follow one another",
    label = "the matrices of one list have one shape, so they are square, or have sizes known at run time",
    note = "matrices of several shapes go in one list as `shape![_, _]`: `a.with_shape::<shape![_, _]>()`; two are multiplied by `matmul`"
)]
pub trait FollowedBy<Rows> {}
#[diagnostic::do_not_recommend]
impl<N: MayEqual<M>, M> FollowedBy<M> for N {}

/// The product of several matrices, multiplied in the order that takes the fewest multiplications.
///
/// All hold one dtype, which is the result's; `bool` is refused.
///
/// PyTorch: `torch.linalg.multi_dot`, of matrices.
///
/// # Panics
/// If there are none, neighbours do not match or memory runs out.
///
/// ```
/// use castiron::{multi_dot, shape, Tensor};
/// let wide = Tensor::<f32, shape![_, _]>::ones_sized([2, 100]);
/// let tall = Tensor::<f32, shape![_, _]>::ones_sized([100, 2]);
/// assert_eq!(multi_dot(&[&wide, &tall, &wide, &tall]).to_vec(), [20000.0; 4]);
/// ```
#[fallible(free)]
pub fn multi_dot<E, M: Dim, N, D: Device>(matrices: &[&Tensor<E, (M, N), D>]) -> Result<Tensor<E, (Dyn, Dyn), D>>
where
    E: NumericFor<ops::reduce::multi_dot>,
    N: Dim + FollowedBy<M>,
{
    let count = matrices.len();
    if count == 0 {
        let reason = "there are no matrices to multiply".to_owned();
        return Err(Error::InvalidArgument { op: "multi_dot", reason });
    }
    // `cost[i][j]` is what matrices `i` to `j` take at least, `cut[i][j]` the first of the right factor.
    let size = |at: usize| if at == 0 { matrices[0].shape()[0] } else { matrices[at - 1].shape()[1] };
    let (mut cost, mut cut) = (vec![vec![0_f64; count]; count], vec![vec![0; count]; count]);
    for len in 1..count {
        for first in 0..count - len {
            let last = first + len;
            cost[first][last] = f64::INFINITY;
            for middle in first + 1..=last {
                let product = size(first) as f64 * size(middle) as f64 * size(last + 1) as f64;
                let total = cost[first][middle - 1] + cost[middle][last] + product;
                if total < cost[first][last] {
                    (cost[first][last], cut[first][last]) = (total, middle);
                }
            }
        }
    }
    fn product<E: Dtype, M: Dim, N: Dim, D: Device>(
        matrices: &[&Tensor<E, (M, N), D>],
        cut: &[Vec<usize>],
        first: usize,
        last: usize,
    ) -> Result<Tensor<E, (Dyn, Dyn), D>> {
        if first == last {
            return Ok(matrices[first].clone().retyped());
        }
        let middle = cut[first][last];
        let (left, right) = (product(matrices, cut, first, middle - 1)?, product(matrices, cut, middle, last)?);
        crate::tensor::linalg::matmul::multiply(left.elements(), right.elements(), None)
    }
    product(matrices, &cut, 0, count - 1)
}
