//! Transforms of axes: each step makes its axis the last one in memory, and the result is a view of that.
//! Source: `aten/src/ATen/native/SpectralOps.cpp`.

use super::signal::{Direction, Norm, Spectral};
use crate::composite::{Axis, Erased, Owned};
use crate::cpu::fourier;
use crate::device::{Device, on_host};
use crate::dtype::{Complex, Element};
use crate::error::{Error, Result, filled, invalid, listed};
use crate::layout::dims::Dims;
use crate::tensor::checked_numel;

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
        let n = along.1;
        let (forward, scale) = (of.direction == Direction::Forward, of.norm.scale(of.direction, n));
        match step {
            Step::Complex => self.along(of.op, along, [n, n], |lanes, fit| {
                let mut lanes = fit.fitted(listed(lanes.into_iter().map(E::wave))?)?;
                fourier::complex::<E::Re>(&mut lanes, n, forward, scale)?;
                listed(lanes.into_iter().map(E::spectrum))
            }),
            Step::Real => self.along(of.op, along, [n, n / 2 + 1], |lanes, fit| {
                let mut lanes = fit.fitted(listed(lanes.into_iter().map(|x| x.wave().re))?)?;
                let lanes = fourier::real::<E::Re>(&mut lanes, n, !forward, scale)?;
                listed(lanes.into_iter().map(E::spectrum))
            }),
        }
    }

    /// Transforms one axis, the first half of the frequencies, to real numbers.
    pub(super) fn to_real(&self, of: Transform, along: (usize, usize)) -> Result<Owned<E::Re, D>> {
        let n = along.1;
        self.along(of.op, along, [n / 2 + 1, n], |lanes, fit| {
            let mut lanes = fit.fitted(listed(lanes.into_iter().map(E::wave))?)?;
            let forward = of.direction == Direction::Forward;
            fourier::back_to_real::<E::Re>(&mut lanes, n, forward, of.norm.scale(of.direction, n))
        })
    }

    /// Transforms several axes, each with the length of its signal, to complex numbers; the last one by the step.
    pub(crate) fn all_to_complex(&self, of: Transform, step: Step, axes: &[(usize, usize)]) -> Result<Owned<E::Cx, D>> {
        of.expect_axes(axes)?;
        let Some((&last, others)) = axes.split_last() else {
            if step == Step::Real {
                return of.without_axes();
            }
            // Without axes: converted to complex numbers.
            checked_numel::<E::Cx>(of.op, self.sizes())?;
            let storage = on_host::<D, _, Vec<E::Cx>>(of.op, self.view(), |elements: Vec<E>| {
                listed(elements.into_iter().map(|x| E::spectrum(x.wave())))
            })?;
            return Ok(Erased::dense(storage, self.dims()));
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
