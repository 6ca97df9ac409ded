//! Tensors of any dtype, shape and device as trait objects that are written: what optimisers see of a module.

use super::elsewhere;
use crate::composite::Erased;
use crate::cpu::stepping::Total;
use crate::device::{Backend, Cpu, Device};
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::io::StoredTensor;
use crate::layout::dims::Dims;
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::ops::update::Program;
use crate::shape::{Shape, SizeArray};
use crate::tensor::Tensor;
use core::any::Any;

/// A tensor that optimisers write.
#[doc(hidden)]
pub trait LearnedTensor: StoredTensor {
    /// For downcasting to the concrete tensor.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Becomes a new tensor of the same sizes and layout whose elements are all this number. (The elements before are not read.)
    fn refill(&mut self, value: f64) -> Result<()>;
    /// Becomes a tensor of the same sizes whose elements are all one zero.
    fn clear(&mut self) -> Result<()>;
    /// Becomes another handle to a tensor of the same type; returns whether it has that type.
    fn share(&mut self, other: &dyn Any) -> bool;
    /// The elements for writing: not shared with other tensors, and dense; with these strides, if they are given.
    fn lend_mut(&mut self, strides: Option<&[usize]>) -> Result<LentMut>;
    /// Becomes the result of a program on itself, a gradient (itself, if there is none) and states, which become its other results.
    fn run(
        &mut self,
        gradient: Option<&dyn StoredTensor>,
        states: &mut [&mut dyn LearnedTensor],
        program: &Program,
    ) -> Result<()>;
}

/// Where the elements of a tensor are.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At<P> {
    Host(P),
    Elsewhere,
    /// The tensor has no elements.
    Nowhere,
}

/// Elements for writing.
#[doc(hidden)]
pub struct LentMut {
    pub(crate) at: At<*mut u8>,
    pub(crate) strides: Dims,
}

/// Elements for reading, and what keeps them there if they are a copy.
#[doc(hidden)]
pub struct Lent {
    pub(crate) at: At<*const u8>,
    #[allow(dead_code, reason = "it is kept, not read")]
    pub(crate) kept: Option<Box<dyn Any>>,
}

/// Whether two lists of strides reach the same places.
pub(crate) fn are_alike(sizes: &[usize], one: &[usize], other: &[usize]) -> bool {
    sizes.contains(&0)
        || (one.len() == other.len()
            && sizes.iter().zip(one).zip(other).all(|((&size, one), other)| size == 1 || one == other))
}

/// The error for a tensor that is not of the type of the parameter beside it.
#[cold]
pub(crate) fn misfit() -> Error {
    let reason = "the parameters, the gradients and the state have tensors of different types".to_owned();
    Error::InvalidArgument { op: "step", reason }
}

/// The elements of a tensor of the host, with these strides.
fn lend<E: Element, S: Shape>(host: &Tensor<E, S>, wanted: Option<&[usize]>) -> Result<Lent> {
    let view = host.elements();
    let at = |tensor: &Tensor<E, S>| {
        let view = tensor.elements();
        At::Host(view.buffer.start::<E>().wrapping_add(view.offset).cast::<u8>())
    };
    match wanted {
        Some(wanted) if !are_alike(view.sizes, view.strides, wanted) => {
            let storage = Cpu::map1::<E, E>(Copying, view, wanted)?;
            let copy = Tensor::<E, S>::from_parts(storage, 0, host.shape(), S::Sizes::copied(wanted));
            Ok(Lent { at: at(&copy), kept: Some(Box::new(copy)) })
        }
        _ => Ok(Lent { at: at(host), kept: None }),
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The elements for reading, with these strides: see [`StoredTensor::lend`].
    pub(crate) fn lent(&self, strides: Option<&[usize]>) -> Result<Lent> {
        match self.as_any().downcast_ref::<Tensor<E, S>>() {
            Some(host) => lend(host, strides),
            None => Ok(Lent { at: elsewhere_of::<D, _>()?, kept: None }),
        }
    }

    /// A total of this and another of the same type, where the elements are elsewhere.
    pub(crate) fn total_by_device(&self, total: Total, other: &dyn StoredTensor) -> Result<f64> {
        let Some(other) = other.as_any().downcast_ref::<Self>() else { return Err(misfit()) };
        if const { D::IS_ELSEWHERE } { elsewhere::total(total, &self.erased(), &other.erased()) } else { Ok(0.0) }
    }
}

/// Where the elements of a device other than the host are.
fn elsewhere_of<D: Device, P>() -> Result<At<P>> {
    if D::RECORDS {
        let reason = "what changes a module as a whole is not recorded: compute with its tensors inside of a function whose gradient is \
            taken, and clip or scale the gradient that comes out";
        return invalid("step", reason.to_owned());
    }
    Ok(if D::IS_ELSEWHERE { At::Elsewhere } else { At::Nowhere })
}

impl<E: Element, S: Shape, D: Device> LearnedTensor for Tensor<E, S, D> {
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn refill(&mut self, value: f64) -> Result<()> {
        let zeros = self.try_zeros_like()?;
        *self = zeros;
        if value != 0.0 {
            super::driver::add_number(self, value)?;
        }
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        *self = Tensor::one_zero(Some(self), self.shape())?;
        Ok(())
    }

    fn share(&mut self, other: &dyn Any) -> bool {
        let other = other.downcast_ref::<Self>();
        if let Some(other) = other {
            *self = other.clone();
        }
        other.is_some()
    }

    fn lend_mut(&mut self, wanted: Option<&[usize]>) -> Result<LentMut> {
        let Some(host) = self.as_any_mut().downcast_mut::<Tensor<E, S>>() else {
            return Ok(LentMut { at: elsewhere_of::<D, _>()?, strides: Dims::known(self.stride().as_ref()) });
        };
        if let Some(wanted) = wanted.filter(|wanted| !are_alike(host.shape().as_ref(), host.stride().as_ref(), wanted))
        {
            let storage = Cpu::map1::<E, E>(Copying, host.elements(), wanted)?;
            *host = Tensor::from_parts(storage, 0, host.shape(), S::Sizes::copied(wanted));
        }
        let view = host.elements_mut()?;
        let strides = Dims::known(view.strides);
        let start = view.buffer.start_mut::<E>().filter(|_| strides::is_dense(view.sizes, view.strides));
        match start {
            Some(start) => Ok(LentMut { at: At::Host(start.wrapping_add(view.offset).cast()), strides }),
            None => invalid("step", "a parameter is a view of memory of others".to_owned()),
        }
    }

    fn run(
        &mut self,
        gradient: Option<&dyn StoredTensor>,
        states: &mut [&mut dyn LearnedTensor],
        program: &Program,
    ) -> Result<()> {
        // (Where there is no other place for elements, none of this is compiled.)
        if const { D::IS_ELSEWHERE } {
            let mut given: Vec<Erased<'_, E, D>> = Vec::with_capacity(2 + states.len());
            given.push(self.erased());
            let gradient = match gradient {
                Some(gradient) => gradient.as_any().downcast_ref::<Self>().ok_or_else(misfit)?,
                None => self,
            };
            given.push(gradient.erased());
            for state in &*states {
                let state: &dyn StoredTensor = &**state;
                given.push(state.as_any().downcast_ref::<Self>().ok_or_else(misfit)?.erased());
            }
            let mut results = Vec::with_capacity(given.len());
            for result in elsewhere::run(&given, program)? {
                results.push(result.typed::<S>("step")?);
            }
            drop(given);
            let mut results = results.into_iter();
            if let Some(parameter) = results.next() {
                *self = parameter;
            }
            for (state, result) in states.iter_mut().zip(results) {
                state.share(&result);
            }
        }
        Ok(())
    }
}
