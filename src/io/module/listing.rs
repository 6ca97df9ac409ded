//! `Listing`: the tensors of a module by name.

use super::place::joined;
use super::{Module, Ties};
use crate::error::Result;
use crate::io::{StoredTensor, failed};
use std::path::Path;

/// A named tensor of a module.
#[derive(Clone)]
pub struct Parameter<'a> {
    /// The name as in a checkpoint: `layers.0.weight`.
    pub name: String,
    /// The tensor.
    pub tensor: &'a dyn StoredTensor,
}

/// `layers.0.weight: float32 [2, 3]`
impl core::fmt::Display for Parameter<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {} {:?}", self.name, self.tensor.dtype(), self.tensor.sizes())
    }
}
impl core::fmt::Debug for Parameter<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, f)
    }
}

/// Collects the tensors of a module with their names.
#[derive(Default)]
pub struct Listing<'a> {
    name: String,
    ties: Ties,
    parameters: Vec<Parameter<'a>>,
}

impl<'a> Listing<'a> {
    /// Lists a field.
    pub fn field(&mut self, name: &str, field: &'a impl Module) {
        let outer = self.enter(name);
        field.list(self);
        self.leave(outer);
    }

    /// Enters a field, and returns the argument of [`leave`](Self::leave).
    #[doc(hidden)]
    pub fn enter(&mut self, name: &str) -> String {
        let whole = joined(&self.name, name);
        core::mem::replace(&mut self.name, whole)
    }

    /// Leaves a field.
    #[doc(hidden)]
    pub fn leave(&mut self, outer: String) {
        self.name = outer;
    }

    /// Lists a tensor at this place.
    pub fn tensor(&mut self, tensor: &'a dyn StoredTensor) {
        self.parameters.push(Parameter { name: self.name.clone(), tensor });
    }

    /// Ties the tensors under `own` to those under `target`: they are listed once.
    pub fn tie(&mut self, own: &str, target: &str) {
        let (own, target) = (joined(&self.name, own), joined(&self.name, target));
        self.ties.add(own, target);
    }

    /// The tensors to store, and the tied ones with the index of the tensor that they are tied to.
    fn split(self) -> (Vec<Parameter<'a>>, Vec<(Parameter<'a>, usize)>) {
        self.ties.split(self.parameters, |parameter| &parameter.name)
    }

    /// The tensors, tied ones once.
    pub(crate) fn tensors(self) -> Vec<Parameter<'a>> {
        self.split().0
    }

    /// The tensors of a module.
    pub(crate) fn of(module: &'a impl Module) -> Self {
        let mut listing = Listing::default();
        module.list(&mut listing);
        listing
    }
}

pub(super) fn named(module: &impl Module) -> Vec<Parameter<'_>> {
    Listing::of(module).tensors()
}

/// The tensors to save, after checking that tied tensors are equal.
pub(super) fn stored<'a>(module: &'a impl Module, path: &Path) -> Result<Vec<Parameter<'a>>> {
    let (stored, tied) = Listing::of(module).split();
    for (own, target) in tied {
        let target = &stored[target];
        let mut is_equal = (own.tensor.dtype(), own.tensor.sizes()) == (target.tensor.dtype(), target.tensor.sizes());
        if is_equal {
            own.tensor.with_bytes(&mut |own| {
                target.tensor.with_bytes(&mut |target| {
                    is_equal = own == target;
                    Ok(())
                })
            })?;
        }
        if !is_equal {
            let reason =
                format!("tensor `{}` is tied to `{}`, and the elements of the two differ", own.name, target.name);
            return Err(failed("save", path, reason));
        }
    }
    Ok(stored)
}
