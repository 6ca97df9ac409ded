//! `Listing`: the tensors of a module by name.

use super::Module;
use super::walk::{Outer, Walk};
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
    /// Whether it is in a field with `#[module(frozen)]`, so that optimisers leave it as it is.
    pub is_frozen: bool,
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
    walk: Walk,
    parameters: Vec<Parameter<'a>>,
}

impl<'a> Listing<'a> {
    /// Lists a field.
    pub fn field(&mut self, name: &str, field: &'a impl Module) {
        let outer = self.walk.enter(name);
        field.list(self);
        self.walk.leave(outer);
    }

    /// Lists those tensors of a field that are not frozen: the state of an optimiser.
    #[cfg(feature = "grad")]
    pub(crate) fn field_unfrozen(&mut self, name: &str, field: &'a impl Module) {
        let before = self.parameters.len();
        self.field(name, field);
        let state = self.parameters.split_off(before);
        self.parameters.extend(state.into_iter().filter(|parameter| !parameter.is_frozen));
    }

    /// Enters a field, and returns the argument of [`leave`](Self::leave).
    #[doc(hidden)]
    pub fn enter(&mut self, name: &str) -> Outer {
        self.walk.enter(name)
    }

    /// The field that was entered is frozen.
    #[doc(hidden)]
    pub fn freeze(&mut self) {
        self.walk.freeze();
    }

    /// Leaves a field.
    #[doc(hidden)]
    pub fn leave(&mut self, outer: Outer) {
        self.walk.leave(outer);
    }

    /// Lists a tensor at this place.
    pub fn tensor(&mut self, tensor: &'a dyn StoredTensor) {
        let (name, is_frozen) = (self.walk.name().to_owned(), self.walk.is_frozen());
        self.parameters.push(Parameter { name, tensor, is_frozen });
    }

    /// Ties the tensors under `own` to those under `target`: they are listed once.
    pub fn tie(&mut self, own: &str, target: &str) {
        self.walk.tie(own, target);
    }

    /// The tensors to store, and the tied ones with the index of the tensor that they are tied to.
    fn split(self) -> (Vec<Parameter<'a>>, Vec<(Parameter<'a>, usize)>) {
        self.walk.ties().split(self.parameters, |parameter| &parameter.name)
    }

    /// The tensors, tied ones once.
    pub(crate) fn tensors(self) -> Vec<Parameter<'a>> {
        self.split().0
    }

    /// The tensors that optimisers see: tied ones once, frozen ones not at all.
    #[cfg(feature = "grad")]
    pub(crate) fn unfrozen(self) -> Vec<Parameter<'a>> {
        let mut tensors = self.tensors();
        tensors.retain(|parameter| !parameter.is_frozen);
        tensors
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
