//! What derivatives are written in: the arithmetic of tensors, with the device's own operations.

// Factorisations and Fourier transforms use most of it.
#![cfg_attr(not(all(feature = "linalg", feature = "fft")), allow(dead_code))]

use super::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{Compute as _, Dtype, Element};
use crate::error::{Result, listed};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::kernel::{Applying, Casting, Combining, CombiningScalar, Copying};
use crate::ops::reduce::Sum;
use crate::ops::segment::Segment;
use crate::storage::ViewMut;

/// The name of errors on the way back.
pub(crate) const OP: &str = "backward";

/// Elementwise; operands broadcast.
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    pub(crate) fn times(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        self.map2::<E, E>(OP, Combining::<ops::mul, E>::new(), other)
    }
    pub(crate) fn over(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        self.map2::<E, E>(OP, Combining::<ops::div, E>::new(), other)
    }
    pub(crate) fn plus(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        self.map2::<E, E>(OP, Combining::<ops::add, E>::new(), other)
    }
    pub(crate) fn minus(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        self.map2::<E, E>(OP, Combining::<ops::sub, E>::new(), other)
    }
    pub(crate) fn scaled_by(&self, factor: f64) -> Result<Owned<E, D>> {
        self.map1::<E>(OP, CombiningScalar::<ops::mul, E>(E::Compute::number(factor)))
    }
    pub(crate) fn negated(&self) -> Result<Owned<E, D>> {
        self.scaled_by(-1.0)
    }
    pub(crate) fn conjugated(&self) -> Result<Erased<'_, E, D>> {
        if const { E::DTYPE.is_complex() } {
            return self.map1::<E>(OP, Applying::<ops::conj>::new());
        }
        Ok(Erased::of(self.view()))
    }
    /// Converted to another dtype of gradients: the real part of complex numbers if it is real.
    pub(crate) fn cast<O: Dtype>(&self) -> Result<Owned<O, D>> {
        self.map1::<O>(OP, Casting)
    }
}

/// Matrices, the last two axes.
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// Transposed, as a view.
    pub(crate) fn turned(&self) -> Result<Erased<'_, E, D>> {
        let rank = self.rank();
        self.viewed(OP, rank, |own, view| {
            view.sizes.copy_from_slice(own.sizes);
            view.strides.copy_from_slice(own.strides);
            view.sizes.swap(rank - 2, rank - 1);
            view.strides.swap(rank - 2, rank - 1);
            Ok(own.offset)
        })
    }
    /// Transposed and conjugated.
    pub(crate) fn adjoint(&self) -> Result<Owned<E, D>> {
        Ok(self.turned()?.conjugated()?.share())
    }
    /// `self^H other`
    pub(crate) fn adjoint_times(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        self.adjoint()?.product(other)
    }
    /// `self other^H`
    pub(crate) fn times_adjoint(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        self.product(&other.adjoint()?)
    }
    /// `self + self^H`, with half of that on the diagonal if `halves`.
    pub(crate) fn with_adjoint(&self, halves: bool) -> Result<Owned<E, D>> {
        let sum = self.plus(&self.adjoint()?)?;
        if halves { sum.minus(&sum.main_diagonals()?.scaled_by(0.5)?.as_diagonals()?) } else { Ok(sum) }
    }
    /// Their diagonals, as a view.
    pub(crate) fn main_diagonals(&self) -> Result<Erased<'_, E, D>> {
        let rank = self.rank() - 1;
        self.viewed(OP, rank, |own, view| {
            view.sizes.copy_from_slice(&own.sizes[..rank]);
            view.strides.copy_from_slice(&own.strides[..rank]);
            view.sizes[rank - 1] = own.sizes[rank - 1].min(own.sizes[rank]);
            view.strides[rank - 1] = own.strides[rank - 1] + own.strides[rank];
            Ok(own.offset)
        })
    }
    /// Square matrices with these vectors as diagonals.
    pub(crate) fn as_diagonals(&self) -> Result<Owned<E, D>> {
        let rank = self.rank();
        let mut sizes = Dims::of_rank(OP, rank + 1)?;
        sizes[..rank].copy_from_slice(self.sizes());
        let n = sizes[rank - 1];
        sizes[rank] = n;
        let mut storage = D::zeroed::<E>(Some(self.storage()), sizes.iter().product())?;
        let mut strides = sizes.row_major();
        strides[rank - 1] = n + 1;
        D::map1_into::<E, E>(Copying, self.view(), ViewMut::new(&mut storage, 0, self.sizes(), &strides[..rank]))?;
        Ok(Erased::dense(storage, sizes))
    }
    /// The vectors, the last axis, as columns, `(…, n, 1)`.
    pub(crate) fn as_columns(&self) -> Result<Erased<'_, E, D>> {
        self.with_axis(self.rank())
    }
    /// The vectors as rows, `(…, 1, n)`.
    pub(crate) fn as_rows_of_one(&self) -> Result<Erased<'_, E, D>> {
        self.with_axis(self.rank() - 1)
    }
    /// The view with an axis of size 1.
    pub(crate) fn with_axis(&self, at: usize) -> Result<Erased<'_, E, D>> {
        self.viewed(OP, self.rank() + 1, |own, view| {
            for axis in 0..view.sizes.len() {
                (view.sizes[axis], view.strides[axis]) = match axis.cmp(&at) {
                    core::cmp::Ordering::Less => (own.sizes[axis], own.strides[axis]),
                    core::cmp::Ordering::Equal => (1, 1),
                    core::cmp::Ordering::Greater => (own.sizes[axis - 1], own.strides[axis - 1]),
                };
            }
            Ok(own.offset)
        })
    }
    /// The view without an axis of size 1.
    pub(crate) fn without_axis(&self, at: usize) -> Result<Erased<'_, E, D>> {
        self.viewed(OP, self.rank() - 1, |own, view| {
            for axis in 0..view.sizes.len() {
                let from = if axis < at { axis } else { axis + 1 };
                (view.sizes[axis], view.strides[axis]) = (own.sizes[from], own.strides[from]);
            }
            Ok(own.offset)
        })
    }
    /// Identity matrices, one of them.
    pub(crate) fn identity_beside(&self, n: usize) -> Result<Owned<E, D>> {
        let one = E::from_compute(E::Compute::number(1.0));
        Erased::<E, D>::list(D::fill::<E>(Some(self.storage()), one, n)?, n).as_diagonals()
    }
}

/// Sizes.
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The sum over the axes along which a tensor of these sizes was broadcast.
    pub(crate) fn summed_to(&self, sizes: &[usize]) -> Result<Owned<E, D>> {
        let more = self.rank() - sizes.len();
        let is_summed = |axis: usize| axis < more || (sizes[axis - more] == 1 && self.sizes()[axis] != 1);
        let mask = (0..self.rank()).filter(|&axis| is_summed(axis)).fold(0, |mask, axis| mask | 1_u32 << axis);
        if mask == 0 {
            return Ok(self.share());
        }
        let sum = self.reduce(Sum, mask, true)?.retyped::<E>();
        let (storage, ..) = sum.into_parts();
        Ok(Erased::dense(storage, Dims::known(sizes)))
    }
}
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The first positions of an axis, or the axis followed by zeros.
    pub(crate) fn fitted(&self, axis: usize, size: usize) -> Result<Owned<E, D>> {
        let own = self.sizes()[axis];
        if size <= own {
            return Ok(self.narrow(OP, Axis(axis), 0, size)?.share());
        }
        let mut axes = listed(self.sizes().iter().map(|&size| vec![Segment::whole(size)]))?;
        axes[axis].push(Segment::Fill { len: size - own });
        let mut sizes = self.dims();
        sizes[axis] = size;
        Ok(Erased::dense(D::pick::<E>(self.view(), &axes, E::default())?, sizes))
    }
    /// Two tensors end to end along an axis.
    pub(crate) fn followed_by(&self, other: &Erased<'_, E, D>, axis: usize) -> Result<Owned<E, D>> {
        let mut sizes = self.dims();
        sizes[axis] += other.sizes()[axis];
        let pieces = [self.view(), other.view()];
        Ok(Erased::dense(D::join::<E>(&pieces, axis, &sizes, &sizes.row_major())?, sizes))
    }
}
