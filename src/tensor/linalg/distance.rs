//! Distances and the cross product: `dist`, `cdist`, `cross`.
//! Uses `elementwise::apply`, `reduce::reductions`, `scan::cumulative`, `ops::admit`.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::{FloatFor, InexactFor, NumericFor, SameDtypeFor};
use crate::ops::kernel::{Combining, Copying};
use crate::ops::pointwise::Differing;
use crate::ops::reduce::VectorNorm;
use crate::shape::{AxisArg, Broadcast, HasAxis, MatMul, OfThree, Shape, SizeArray, Transpose, broadcast_sizes};
use crate::storage::{View, ViewMut};
use crate::tensor::elementwise::apply::{broadcast, map2};
use crate::tensor::linalg::euclidean;
use crate::tensor::reduce::reductions::reduce;
use crate::tensor::{SameDevice, Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// How many differences `cdist` computes before it takes their norms.
const DIFFERENCES: usize = 1 << 17;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The `p`-norm of the difference: [`vector_norm`](Self::vector_norm) of `self - other`, which broadcast.
    ///
    /// Both hold one dtype, floating-point or complex; the result is real and zero-dim.
    ///
    /// PyTorch: `torch.dist`, where `p` is 2 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1.0, 2.0].dist(&tensor![4.0, 6.0], 2.0).item(), 5.0);
    /// ```
    #[fallible]
    pub fn dist<F: Dtype, R, O: Dtype, X: Device>(&self, other: &Tensor<F, R, X>, p: f64) -> Result<Tensor<O, (), D>>
    where
        E: InexactFor<ops::reduce::dist> + SameDtypeFor<F, ops::reduce::dist> + Dtype<RealDtype = O>,
        S: Broadcast<R>,
        R: Shape + SameDevice<D, X>,
    {
        let other = R::here(other);
        let sizes = broadcast::<<S as Broadcast<R>>::Output, E>("dist", self.shape().as_ref(), other.shape().as_ref())?;
        let difference: Tensor<E, <S as Broadcast<R>>::Output, D> =
            map2(Differing, self.elements(), other.elements().known_as::<E>(), sizes, [E::DTYPE; 2])?;
        reduce::<ops::reduce::dist, _, E, _, (), D>(VectorNorm::new(p), &difference, u32::MAX, false)
    }

    /// The `p`-norms of the differences between every row of one matrix and every row of another: `(…, M, K)` and `(…, N, K)` give
    /// `(…, M, N)`, leading axes broadcast.
    ///
    /// Both hold one floating dtype. Every difference is computed as such, but Euclidean distances (`p` of 2) of more than 25 rows are
    /// computed by a matrix product, as PyTorch does: faster, and less exact where rows are close to each other (equal ones may
    /// have a small distance).
    ///
    /// PyTorch: `torch.cdist`, where `p` is 2 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not match, `p` is negative or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let distances: Tensor<f32, shape![1, 2]> = tensor![[0.0, 0.0]].cdist(&tensor![[3.0, 4.0], [0.0, 1.0]], 2.0);
    /// assert_eq!(distances.to_vec(), [5.0, 1.0]);
    /// ```
    #[fallible]
    pub fn cdist<F: Dtype, R, T: Shape, X: Device>(&self, other: &Tensor<F, R, X>, p: f64) -> Result<Tensor<E, T, D>>
    where
        E: FloatFor<ops::reduce::cdist> + SameDtypeFor<F, ops::reduce::cdist>,
        S: HasAxis<-2> + MatMul<<R as Transpose<-2, -1>>::Output, Output = T>,
        R: Shape + Transpose<-2, -1>,
        R: SameDevice<D, X>,
    {
        let other = R::here(other);
        if p.is_nan() || p < 0.0 {
            let reason = format!("`p` must not be negative, got {p}");
            return Err(Error::InvalidArgument { op: "cdist", reason });
        }
        let (a, b) = (self.elements(), other.elements().known_as::<E>());
        // A zero-dim tensor counts as one axis, which is too few.
        let (Some((a_lead, &[m, k])), Some((b_lead, &[n, k2]))) =
            (a.sizes.split_last_chunk::<2>(), b.sizes.split_last_chunk::<2>())
        else {
            let reason = "both tensors must be matrices, or batches of them".to_owned();
            return Err(Error::InvalidArgument { op: "cdist", reason });
        };
        if k != k2 {
            return Err(Error::MatMul { lhs: a.sizes.into(), rhs: b.sizes.into(), columns: k, rows: k2 });
        }
        let mut batch = vec![1; a_lead.len().max(b_lead.len())];
        if !broadcast_sizes(a_lead, b_lead, &mut batch) {
            return Err(Error::Broadcast { op: "cdist", lhs: a.sizes.into(), rhs: b.sizes.into() });
        }
        let sizes = [&batch[..], &[m, n]].concat();
        expect_fit::<T>("cdist", &sizes)?;
        checked_numel::<E>("cdist", &sizes)?;
        let result_sizes = T::Sizes::copied(&sizes);
        let has_terms = k > 0 && D::has_data(a.buffer) && !sizes.contains(&0);
        if has_terms && p == 2.0 && m.max(n) > euclidean::FEW {
            return Ok(Tensor::dense(euclidean::distances::<E, D>(a, b, &batch)?, result_sizes));
        }
        let mut storage = D::zeroed::<E>(Some(a.buffer), sizes.iter().product())?;
        if !has_terms {
            return Ok(Tensor::dense(storage, result_sizes));
        }
        let spread = |lead: &[usize], own: &[usize]| strides::broadcast_list(lead, &own[..lead.len()], &batch);
        let (batch_a, batch_b) = (spread(a_lead, a.strides), spread(b_lead, b.strides));
        let (steps_a, steps_b) = (&a.strides[a_lead.len()..], &b.strides[b_lead.len()..]);
        let (from_a, from_b) = ([steps_a[0], 0, steps_a[1]], [0, steps_b[0], steps_b[1]]);
        // So many rows at a time that their differences stay in the cache.
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
        Ok(Tensor::dense(storage, result_sizes))
    }

    /// The cross products of vectors of three along an axis; the other axes broadcast.
    ///
    /// Both hold one dtype, which is the result's; `bool` is refused.
    ///
    /// PyTorch: `torch.linalg.cross`.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast, the axis is not of size 3 or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![1, 0, 0].cross(&tensor![0, 1, 0], axis![-1]).to_vec(), [0, 0, 1]);
    /// ```
    #[fallible]
    pub fn cross<const I: isize, F: Dtype, R, T, X: Device>(
        &self,
        other: &Tensor<F, R, X>,
        axis: impl AxisArg<I>,
    ) -> Result<Tensor<E, T, D>>
    where
        E: NumericFor<ops::reduce::cross> + SameDtypeFor<F, ops::reduce::cross>,
        S: Broadcast<R, Output = T>,
        T: Shape + HasAxis<I>,
        <T as HasAxis<I>>::Dim: OfThree,
        R: Shape + SameDevice<D, X>,
    {
        let other = R::here(other);
        let axis = <T as HasAxis<I>>::INDEX;
        let (a, b) = (self.elements(), other.elements().known_as::<E>());
        let sizes = broadcast::<T, E>("cross", a.sizes, b.sizes)?;
        // PyTorch does not broadcast along the axis itself.
        let behind = T::RANK - axis;
        let own = |sizes: &[usize]| sizes.len().checked_sub(behind).map_or(1, |at| sizes[at]);
        if T::RANK == 0 || own(a.sizes) != 3 || own(b.sizes) != 3 {
            let reason =
                format!("axis {axis} must have size 3 in both tensors, got shapes {:?} and {:?}", a.sizes, b.sizes);
            return Err(Error::InvalidArgument { op: "cross", reason });
        }
        let [from_a, from_b] = [&a, &b].map(|of| strides::broadcast(of.sizes, of.strides, &sizes));
        let (mut one, to) = (sizes, strides::contiguous(&sizes));
        one.as_mut()[axis] = 1;
        let between = strides::contiguous(&one);
        let component = |of: View<'_, D::Storage, E>, strides: &T::Sizes, at: usize| {
            (of.offset + at % 3 * strides.as_ref()[axis], *strides)
        };
        let product = |at_a: usize, at_b: usize| {
            let ((left, left_strides), (right, right_strides)) =
                (component(a, &from_a, at_a), component(b, &from_b, at_b));
            D::map2::<E, E, E>(
                Combining::<ops::mul, E>::new(),
                View::new(a.buffer, left, one.as_ref(), left_strides.as_ref()),
                View::new(b.buffer, right, one.as_ref(), right_strides.as_ref()),
                between.as_ref(),
            )
        };
        let mut storage = D::zeroed::<E>(Some(a.buffer), sizes.as_ref().iter().product())?;
        if sizes.as_ref().contains(&0) {
            return Ok(Tensor::dense(storage, sizes));
        }
        for at in 0..3 {
            let (left, right) = (product(at + 1, at + 2)?, product(at + 2, at + 1)?);
            let whole = |of| View::<_, E>::new(of, 0, one.as_ref(), between.as_ref());
            let out = ViewMut::<_, E>::new(&mut storage, at * to.as_ref()[axis], one.as_ref(), to.as_ref());
            D::map2_into::<E, E, E>(Combining::<ops::sub, E>::new(), whole(&left), whole(&right), out)?;
        }
        Ok(Tensor::dense(storage, sizes))
    }
}
