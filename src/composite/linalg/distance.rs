//! Distances and the cross product: `dist`, `cdist`, `cross`.

use super::euclidean;
use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, filled, invalid};
use crate::layout::dims::Dims;
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::{FloatFor, InexactFor, NumericFor, SameDtypeFor};
use crate::ops::kernel::{Combining, Copying};
use crate::ops::pointwise::Differing;
use crate::ops::reduce::VectorNorm;
use crate::shape::{AxisArg, Broadcast, HasAxis, MatMul, OfThree, SameSizeFor, Shape, Transpose, broadcast_sizes};
use crate::storage::{View, ViewMut};
use crate::tensor::{SameDevice, Tensor, checked_numel};
use castiron_macros::composites;

/// The number of differences that `cdist` computes at once.
const DIFFERENCES: usize = 1 << 17;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The `p`-norm of the difference, a zero-dim tensor of real numbers; the two broadcast.
    ///
    /// # Errors
    /// If shapes do not broadcast.
    #[op(dist, dtypes = inexact)]
    #[any(by_hand)]
    #[typed(<F: Dtype, R, O: Dtype, X: Device>(&self, other: &Tensor<F, R, X>, p: f64) -> Tensor<O, (), D>
        where
            E: InexactFor<ops::reduce::dist> + SameDtypeFor<F, ops::reduce::dist> + Dtype<RealDtype = O>,
            S: Broadcast<R>,
            R: Shape + SameDevice<D, X>)]
    #[example(let x = tensor![1.0, 2.0]; let y = tensor![4.0, 6.0]; x.dist(&y, 2.0), x.dist(&y, 2.0), Tensor::scalar(5.0))]
    pub(crate) fn dist(&self, other: &Erased<'_, E, D>, p: f64) -> Result<Owned<E::RealDtype, D>>
    where
        E: Dtype,
    {
        let difference = self.map2::<E, E>("dist", Differing, other)?;
        difference.reduce(VectorNorm::new(p), u32::MAX, false)
    }

    /// The `p`-norms of the differences between every row of one matrix and every row of another: `(…, M, K)` and `(…, N, K)` give
    /// `(…, M, N)`, leading axes broadcast.
    ///
    /// Every difference is computed as such, except that Euclidean distances (`p` of 2) of more than 25 rows are computed by a matrix
    /// product, as in PyTorch: faster, and less exact where rows are close to each other (equal ones may have a small distance).
    ///
    /// # Errors
    /// If shapes do not match or `p` is negative.
    #[op(cdist(x1, x2, p = 2.0, compute_mode = _), dtypes = float)]
    #[typed(<F: Dtype, R, T: Shape, X: Device>(&self, other: &Tensor<F, R, X>, p: f64) -> Tensor<E, T, D>
        where
            E: FloatFor<ops::reduce::cdist> + SameDtypeFor<F, ops::reduce::cdist>,
            <S as HasAxis<-1>>::Dim: SameSizeFor<<R as HasAxis<-1>>::Dim, ops::reduce::cdist>,
            S: HasAxis<-2> + HasAxis<-1> + MatMul<<R as Transpose<-2, -1>>::Output, Output = T>,
            R: Shape + HasAxis<-1> + Transpose<-2, -1> + SameDevice<D, X>)]
    #[example(let x = tensor![[0.0, 0.0]]; let y = tensor![[3.0, 4.0], [0.0, 1.0]]; x.cdist(&y, 2.0), x.cdist(&y, 2.0), tensor![[5.0, 1.0]])]
    pub(crate) fn cdist(&self, other: &Erased<'_, E, D>, p: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        if p.is_nan() || p < 0.0 {
            return invalid("cdist", format!("`p` must not be negative, got {p}"));
        }
        let (a, b) = (self.view(), other.view());
        // A zero-dim tensor counts as one axis, which is too few.
        let (Some((a_lead, &[m, k])), Some((b_lead, &[n, k2]))) =
            (a.sizes.split_last_chunk::<2>(), b.sizes.split_last_chunk::<2>())
        else {
            return invalid("cdist", "both tensors must be matrices, or batches of them".to_owned());
        };
        if k != k2 {
            let reason =
                format!("the rows of the two have {k} and {k2} elements: distances are between vectors of one length");
            return invalid("cdist", reason);
        }
        let mut batch = filled(1, a_lead.len().max(b_lead.len()))?;
        if !broadcast_sizes(a_lead, b_lead, &mut batch) {
            return Err(Error::Broadcast { op: "cdist", lhs: a.sizes.into(), rhs: b.sizes.into() });
        }
        let sizes = Dims::new("cdist", &[&batch[..], &[m, n]].concat())?;
        checked_numel::<E>("cdist", &sizes)?;
        let has_terms = k > 0 && D::has_data(a.buffer) && !sizes.contains(&0);
        if has_terms && p == 2.0 && m.max(n) > euclidean::FEW {
            return Ok(Erased::dense(euclidean::distances::<E, D>(a, b, &batch)?, sizes));
        }
        let mut storage = D::zeroed::<E>(Some(a.buffer), sizes.iter().product())?;
        if !has_terms {
            return Ok(Erased::dense(storage, sizes));
        }
        let spread = |lead: &[usize], own: &[usize]| strides::broadcast_list(lead, &own[..lead.len()], &batch);
        let (batch_a, batch_b) = (spread(a_lead, a.strides), spread(b_lead, b.strides));
        let (steps_a, steps_b) = (&a.strides[a_lead.len()..], &b.strides[b_lead.len()..]);
        let (from_a, from_b) = ([steps_a[0], 0, steps_a[1]], [0, steps_b[0], steps_b[1]]);
        // The number of rows at a time, so that their differences stay in the cache.
        let rows = (DIFFERENCES / (n * k).max(1)).clamp(1, m);
        let matrices: usize = batch.iter().product();
        for matrix in 0..matrices {
            let (mut at, mut offset_a, mut offset_b) = (matrix, a.offset, b.offset);
            for axis in (0..batch.len()).rev() {
                let index = at % batch[axis];
                at /= batch[axis];
                offset_a += index * batch_a[axis];
                offset_b += index * batch_b[axis];
            }
            for row in (0..m).step_by(rows) {
                let count = rows.min(m - row);
                let wide = [count, n, k];
                let left = View::<_, E>::new(a.buffer, offset_a + row * from_a[0], &wide, &from_a);
                let right = View::<_, E>::new(b.buffer, offset_b, &wide, &from_b);
                let differences = D::map2::<E, E, E>(Differing, left, right, &[n * k, k, 1])?;
                let (pairs, across) = ([count * n, k], [k, 1]);
                let differences = View::<_, E>::new(&differences, 0, &pairs, &across);
                let norms = D::reduce::<E, _>(VectorNorm::of_difference(p), differences, 0b10)?;
                let norms = View::<_, E>::new(&norms, 0, &pairs[..1], &across[1..]);
                let out = ViewMut::<_, E>::new(&mut storage, (matrix * m + row) * n, &pairs[..1], &across[1..]);
                D::map1_into::<E, E>(Copying, norms, out)?;
            }
        }
        Ok(Erased::dense(storage, sizes))
    }

    /// The cross products of vectors of three along an axis; the other axes broadcast.
    ///
    /// # Errors
    /// If shapes do not broadcast or the axis is not of size 3.
    #[op(linalg.cross, dtypes = numeric)]
    #[any(by_hand)]
    #[typed(<const I: isize, F: Dtype, R, T, X: Device>(&self, other: &Tensor<F, R, X>, axis: impl AxisArg<I>) -> Tensor<E, T, D>
        where
            E: NumericFor<ops::reduce::cross> + SameDtypeFor<F, ops::reduce::cross>,
            S: Broadcast<R, Output = T>,
            T: Shape + HasAxis<I>,
            <T as HasAxis<I>>::Dim: OfThree,
            R: Shape + SameDevice<D, X>;
        dim = Axis({ let _ = axis; <T as HasAxis<I>>::INDEX }))]
    #[example(let x = tensor![1, 0, 0]; let y = tensor![0, 1, 0]; x.cross(&y, axis![-1]), x.cross(&y, -1), tensor![0, 0, 1])]
    pub(crate) fn cross(&self, other: &Erased<'_, E, D>, dim: Axis) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "cross";
        let sizes = self.broadcast(op, other)?;
        checked_numel::<E>(op, &sizes)?;
        // PyTorch does not broadcast along the axis itself.
        let behind = sizes.len() - dim.0.min(sizes.len());
        let own = |of: &[usize]| of.len().checked_sub(behind).map_or(1, |at| of.get(at).copied().unwrap_or(1));
        if own(self.sizes()) != 3 || own(other.sizes()) != 3 {
            let (a, b) = (self.sizes(), other.sizes());
            return invalid(op, format!("axis {} must have size 3 in both tensors, got shapes {a:?} and {b:?}", dim.0));
        }
        let (a, b) = (self.expand(op, &sizes)?, other.expand(op, &sizes)?);
        let (to, mut one) = (sizes.row_major(), sizes);
        one[dim.0] = 1;
        let between = one.row_major();
        let component = |of: View<'_, D::Storage, E>, at: usize| of.offset + at % 3 * of.strides[dim.0];
        let product = |of_a: usize, of_b: usize| {
            let (x, y) = (a.view(), b.view());
            let x = View::new(x.buffer, component(x, of_a), &one, x.strides);
            let y = View::new(y.buffer, component(y, of_b), &one, y.strides);
            D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), x, y, &between)
        };
        let mut storage = D::zeroed::<E>(Some(self.storage()), sizes.iter().product())?;
        for at in (0..3).filter(|_| !sizes.contains(&0)) {
            let (left, right) = (product(at + 1, at + 2)?, product(at + 2, at + 1)?);
            let out = ViewMut::<_, E>::new(&mut storage, at * to[dim.0], &one, &to);
            let [left, right] = [&left, &right].map(|of| View::new(of, 0, &one, &between));
            D::map2_into::<E, E, E>(Combining::<ops::sub, E>::new(), left, right, out)?;
        }
        Ok(Erased::dense(storage, sizes))
    }
}
