//! Transforms of axes: each step makes its axis the last one in memory, and the result is a view of that.
//! Source: `aten/src/ATen/native/SpectralOps.cpp`.

use super::signal::sealed::Wave as _;
use super::signal::{Direction, Norm, Spectral};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Axis, Erased, Owned};
use crate::device::{Device, on_host};
use crate::dtype::{Complex, Element};
#[cfg(feature = "grad")]
use crate::dtype::{Compute, Dtype};
use crate::error::{Error, Result, filled, invalid, listed};
use crate::layout::dims::Dims;
use crate::ops::kernel::Casting;
use crate::tensor::checked_numel;
use core::marker::PhantomData;

/// The result of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Complex numbers from complex ones.
    Complex,
    /// The first half of the frequencies of real numbers.
    Real,
}

/// The parameters of a transform.
#[derive(Clone, Copy)]
pub(crate) struct Transform {
    pub(crate) op: &'static str,
    pub(crate) direction: Direction,
    pub(crate) norm: Norm,
}

/// Truncates lanes or pads them with zeros to another length.
struct Fit {
    have: usize,
    need: usize,
    count: usize,
}
impl Fit {
    fn fitted<E: Copy + Default>(&self, lanes: Vec<E>) -> Result<Vec<E>> {
        if self.have == self.need {
            return Ok(lanes);
        }
        let mut to = filled(E::default(), self.need * self.count)?;
        if self.have > 0 {
            for (to, from) in to.chunks_exact_mut(self.need).zip(lanes.chunks_exact(self.have)) {
                to[..self.have].copy_from_slice(from);
            }
        }
        Ok(to)
    }
}

impl Transform {
    /// The transform that takes gradients back, with the same factor.
    #[cfg(feature = "grad")]
    fn reversed(self) -> Self {
        Transform { direction: self.direction.reversed(), norm: self.norm.reversed(), ..self }
    }

    fn expect_axes(&self, axes: &[(usize, usize)]) -> Result<()> {
        for (at, (axis, _)) in axes.iter().enumerate() {
            if axes[..at].iter().any(|(other, _)| other == axis) {
                return invalid(self.op, "FFT dims must be unique".to_owned());
            }
        }
        match axes.iter().find(|(_, n)| *n == 0) {
            Some(_) => invalid(self.op, "Invalid number of data points (0) specified".to_owned()),
            None => Ok(()),
        }
    }

    fn without_axes<T>(&self) -> Result<T> {
        invalid(self.op, format!("{} must transform at least one axis", self.op.trim_start_matches("fft.")))
    }
}

impl<E: Spectral, D: Device> Erased<'_, E, D> {
    /// An axis, and the length of its signal: `n` if given, else what `samples` makes of the size of the axis.
    pub(super) fn axis_and_length(
        &self,
        op: &'static str,
        Axis(at): Axis,
        n: Option<usize>,
        samples: impl Fn(usize) -> usize,
    ) -> Result<(usize, usize)> {
        match self.sizes().get(at) {
            Some(&size) => Ok((at, n.unwrap_or_else(|| samples(size)))),
            None => invalid(op, "Dimension specified as -1 but tensor has no dimensions".to_owned()),
        }
    }

    /// Computes lanes of `gives` elements from lanes of an axis, truncated or zero-padded to `need` elements.
    fn along<O: Element>(
        &self,
        op: &'static str,
        (axis, n): (usize, usize),
        [need, gives]: [usize; 2],
        make: impl FnOnce(Vec<E>, Fit) -> Result<Vec<O>>,
    ) -> Result<Owned<O, D>> {
        if n == 0 {
            return invalid(op, format!("Invalid number of data points ({n}) specified"));
        }
        let x = self.view();
        let have = x.sizes[axis].min(need);
        // The axis comes last.
        let last = |list: &[usize], number: usize| {
            let mut list = Dims::known(list);
            list[axis] = number;
            list[axis..].rotate_left(1);
            list
        };
        let (sizes, steps) = (last(x.sizes, have), last(x.strides, x.strides[axis]));
        let count = sizes[..sizes.len() - 1].iter().fold(1_usize, |count, &size| count.saturating_mul(size));
        let mut result = last(x.sizes, gives);
        let too_large = || Error::TooLarge { op, sizes: result[..].into() };
        count.checked_mul(need.max(gives)).filter(|&len| len <= isize::MAX as usize / 16).ok_or_else(too_large)?;
        checked_numel::<Complex<f64>>(op, &result)?;
        let lanes = x.restrided(&sizes, &steps);
        let storage = on_host::<D, _, Vec<O>>(op, lanes, |lanes| make(lanes, Fit { have, need, count }))?;
        let mut strides = result.row_major();
        result[axis..].rotate_right(1);
        strides[axis..].rotate_right(1);
        Ok(Erased::fresh(storage, result, strides))
    }

    /// Transforms one axis to complex numbers.
    pub(super) fn to_complex(&self, of: Transform, step: Step, along: (usize, usize)) -> Result<Owned<E::Cx, D>> {
        let transform = ToComplex::<E> { of, step, along, dtype: PhantomData };
        Ok(D::primitive(&transform, (Erased::of(self.view()),))?.0)
    }

    /// Transforms one axis, the first half of the frequencies, to real numbers.
    pub(super) fn to_real(&self, of: Transform, along: (usize, usize)) -> Result<Owned<E::Re, D>> {
        let transform = ToReal::<E> { of, along, dtype: PhantomData };
        Ok(D::primitive(&transform, (Erased::of(self.view()),))?.0)
    }

    /// Transforms several axes, each with the length of its signal, to complex numbers; the last one by the step.
    pub(crate) fn all_to_complex(&self, of: Transform, step: Step, axes: &[(usize, usize)]) -> Result<Owned<E::Cx, D>> {
        of.expect_axes(axes)?;
        let Some((&last, others)) = axes.split_last() else {
            if step == Step::Real {
                return of.without_axes();
            }
            // Without axes: converted to complex numbers.
            return self.map1_dense::<E::Cx>(of.op, Casting);
        };
        let mut result = self.to_complex(of, step, last)?;
        for &axis in others.iter().rev() {
            result = result.to_complex(of, Step::Complex, axis)?;
        }
        Ok(result)
    }

    /// [`all_to_complex`](Self::all_to_complex) to real numbers, from half of the frequencies along the last axis.
    pub(crate) fn all_to_real(&self, of: Transform, axes: &[(usize, usize)]) -> Result<Owned<E::Re, D>> {
        of.expect_axes(axes)?;
        let Some((&last, others)) = axes.split_last() else { return of.without_axes() };
        let Some((&first, rest)) = others.split_first() else { return self.to_real(of, last) };
        let mut result = self.to_complex(of, Step::Complex, first)?;
        for &axis in rest {
            result = result.to_complex(of, Step::Complex, axis)?;
        }
        result.to_real(of, last)
    }
}

/// A transform of an axis to complex numbers.
#[derive(Clone)]
struct ToComplex<E> {
    of: Transform,
    step: Step,
    along: (usize, usize),
    dtype: PhantomData<fn() -> E>,
}
impl<E: Spectral> Primitive for ToComplex<E> {
    type Operands = (E,);
    type Results = (E::Cx,);
    fn op(&self) -> &'static str {
        self.of.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E::Cx,), D>> {
        let ToComplex { of, step, along, .. } = *self;
        let n = along.1;
        let (forward, scale) = (of.direction == Direction::Forward, of.norm.scale(of.direction, n));
        let transformed = match step {
            Step::Complex => x.along(of.op, along, [n, n], |lanes, fit| {
                let mut lanes = fit.fitted(listed(lanes.into_iter().map(E::wave))?)?;
                E::Re::complex(&mut lanes, n, forward, scale)?;
                listed(lanes.into_iter().map(E::spectrum))
            }),
            Step::Real => x.along(of.op, along, [n, n / 2 + 1], |lanes, fit| {
                let mut lanes = fit.fitted(listed(lanes.into_iter().map(|x| x.wave().re))?)?;
                let lanes = E::Re::real(&mut lanes, n, !forward, scale)?;
                listed(lanes.into_iter().map(E::spectrum))
            }),
        };
        Ok((transformed?,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0];
    /// The transform in the other direction, with zeros for the frequencies that were not computed.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let ToComplex { of, step, along, .. } = *self;
        let (Some(g),) = &back.g else { return Ok((None,)) };
        let lanes = g.to_complex(of.reversed(), Step::Complex, along)?.fitted(along.0, back.sizes[0][along.0])?;
        // Of real signals imaginary parts are not read.
        let lanes = if step == Step::Real { lanes.cast::<E::Re>()?.cast::<E::Cx>()? } else { lanes };
        Ok((Some(lanes.cast::<E>()?),))
    }
}

/// A transform of an axis, the first half of the frequencies, to real numbers.
#[derive(Clone)]
struct ToReal<E> {
    of: Transform,
    along: (usize, usize),
    dtype: PhantomData<fn() -> E>,
}
impl<E: Spectral> Primitive for ToReal<E> {
    type Operands = (E,);
    type Results = (E::Re,);
    fn op(&self) -> &'static str {
        self.of.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E::Re,), D>> {
        let ToReal { of, along, .. } = *self;
        let n = along.1;
        let real = x.along(of.op, along, [n / 2 + 1, n], |lanes, fit| {
            let mut lanes = fit.fitted(listed(lanes.into_iter().map(E::wave))?)?;
            let forward = of.direction == Direction::Forward;
            E::Re::back_to_real(&mut lanes, n, forward, of.norm.scale(of.direction, n))
        })?;
        Ok((real,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0];
    /// The transform in the other direction. Frequencies that stand for their mirror images, too, count twice.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let ToReal { of, along, .. } = *self;
        let (Some(g),) = &back.g else { return Ok((None,)) };
        let (axis, n) = along;
        let lanes = g.cast::<E::Cx>()?.to_complex(of.reversed(), Step::Real, along)?;
        let count = n / 2 + 1;
        let factors = D::build::<E::Cx>(Some(lanes.storage()), || {
            let number = |at: usize| if (1..=n - count).contains(&at) { 2.0 } else { 1.0 };
            listed((0..count).map(|at| E::Cx::from_compute(Compute::number(number(at)))))
        })?;
        let mut sizes = Dims::known(lanes.sizes());
        sizes.fill(1);
        sizes[axis] = count;
        let lanes = lanes.times(&Erased::dense(factors, sizes))?;
        Ok((Some(lanes.fitted(axis, back.sizes[0][axis])?.cast::<E>()?),))
    }
}
