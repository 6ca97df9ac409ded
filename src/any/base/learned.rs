//! `AnyTensor` as a tensor that optimisers write.

use crate::any::grad::scoped_no_grad;
use crate::any::{AnyTensor, Elements};
use crate::composite::{Erased, IntoAny};
use crate::cpu::stepping::Total;
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::{Complex, DType, Element, bf16, f16};
use crate::error::{Result, invalid};
use crate::io::StoredTensor;
use crate::layout::strides;
use crate::ops::update::Program;
use crate::optim::driver::add_number;
use crate::optim::elsewhere;
use crate::optim::learned::{At, LearnedTensor, Lent, LentMut, are_alike, misfit};
use core::any::Any;

/// Runs code for the dtype of elements that are learned; other dtypes give the last expression.
macro_rules! by_dtype {
    ($dtype:expr, $E:ident => $body:expr, $else:expr) => {
        by_dtype!(@ $dtype, $E => $body, $else; F16 f16, BF16 bf16, F32 f32, F64 f64, C32 Complex<f16>, C64 Complex<f32>, C128 Complex<f64>)
    };
    (@ $dtype:expr, $E:ident => $body:expr, $else:expr; $($name:ident $ty:ty),*) => {
        match $dtype {
            $(DType::$name => {
                type $E = $ty;
                $body
            })*
            _ => $else,
        }
    };
}

impl AnyTensor {
    /// See [`StoredTensor::lend`].
    pub(crate) fn lent(&self, wanted: Option<&[usize]>) -> Result<Lent> {
        let bytes = |tensor: &AnyTensor| {
            Ok::<_, crate::Error>(match tensor.buffer()?.plain() {
                DynamicBuffer::Cpu(buffer) => {
                    At::Host(buffer.start::<u8>().wrapping_add(tensor.first() * tensor.dtype.itemsize()))
                }
                DynamicBuffer::Cuda(_) => At::Elsewhere,
                _ => At::Nowhere,
            })
        };
        let at = bytes(self)?;
        match wanted {
            Some(wanted) if matches!(at, At::Host(_)) && !are_alike(&self.sizes, &self.strides, wanted) => {
                let copy = self.copied(wanted)?;
                Ok(Lent { at: bytes(&copy)?, kept: Some(Box::new(copy)) })
            }
            _ => Ok(Lent { at, kept: None }),
        }
    }

    /// A total of this and another, where the elements are elsewhere.
    pub(crate) fn total_by_device(&self, total: Total, other: &dyn StoredTensor) -> Result<f64> {
        let Some(other) = other.as_any().downcast_ref::<AnyTensor>() else { return Err(misfit()) };
        by_dtype!(self.dtype, E => {
            elsewhere::total::<E, Dynamic>(total, &self.as_erased()?, &other.as_erased()?)
        }, Ok(0.0))
    }
}

impl LearnedTensor for AnyTensor {
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn refill(&mut self, value: f64) -> Result<()> {
        *self = self.zeros_like_device(&self.sizes, self.dtype)?;
        if value != 0.0 {
            add_number(self, value)?;
        }
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        *self = self.zeros_like_device(&[], self.dtype)?.expand(&*self.sizes)?;
        Ok(())
    }

    fn share(&mut self, other: &dyn Any) -> bool {
        let other = other.downcast_ref::<AnyTensor>();
        if let Some(other) = other {
            *self = other.clone();
        }
        other.is_some()
    }

    fn lend_mut(&mut self, wanted: Option<&[usize]>) -> Result<LentMut> {
        // A parameter stays the leaf of the tape that it is.
        let _guard = scoped_no_grad();
        if let Some(wanted) = wanted.filter(|wanted| !are_alike(&self.sizes, &self.strides, wanted))
            && matches!(self.storage().plain(), DynamicBuffer::Cpu(_))
        {
            *self = self.copied(wanted)?;
        }
        if matches!(self.storage().plain(), DynamicBuffer::Cpu(_)) {
            self.make_unique()?;
        }
        let (first, width) = (self.first(), self.dtype.itemsize());
        let is_dense = strides::is_dense(&self.sizes, &self.strides);
        let at = match &mut self.elements {
            Elements::Plain(buffer) => match buffer.plain_mut() {
                DynamicBuffer::Cpu(buffer) => match buffer.start_mut::<u8>().filter(|_| is_dense) {
                    Some(start) => At::Host(start.wrapping_add(first * width)),
                    None => return invalid("step", "a parameter is a view of memory of others".to_owned()),
                },
                DynamicBuffer::Meta => At::Nowhere,
                _ => At::Elsewhere,
            },
            Elements::WithBit(_) => At::Elsewhere,
        };
        Ok(LentMut { at, strides: self.strides })
    }

    fn run(
        &mut self,
        gradient: Option<&dyn StoredTensor>,
        states: &mut [&mut dyn LearnedTensor],
        program: &Program,
    ) -> Result<()> {
        fn results<E: Element>(given: &[&AnyTensor], program: &Program) -> Result<Vec<AnyTensor>> {
            let given = given.iter().map(|x| x.as_erased()).collect::<Result<Vec<Erased<'_, E, Dynamic>>>>()?;
            Ok(elsewhere::run(&given, program)?.into_iter().map(IntoAny::into_any).collect())
        }
        let gradient = match gradient {
            Some(gradient) => gradient.as_any().downcast_ref::<AnyTensor>().ok_or_else(misfit)?,
            None => self,
        };
        let _guard = scoped_no_grad();
        let mut given = vec![self, gradient];
        for state in &*states {
            let state: &dyn StoredTensor = &**state;
            given.push(state.as_any().downcast_ref::<AnyTensor>().ok_or_else(misfit)?);
        }
        let results = by_dtype!(self.dtype, E => results::<E>(&given, program)?, Vec::new());
        let mut results = results.into_iter();
        if let Some(parameter) = results.next() {
            if self.keeps_its_value()? {
                self.copy_from(&parameter)?;
            } else {
                *self = parameter;
            }
        }
        for (state, result) in states.iter_mut().zip(results) {
            state.share(&result);
        }
        Ok(())
    }
}
