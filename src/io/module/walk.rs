//! `Walk`: where one is in a module whose tensors are visited in order.

use super::Ties;
use core::fmt::Display;

/// The name of the field that is visited, whether it is frozen, and the ties that were declared on the way.
#[doc(hidden)]
#[derive(Default)]
pub struct Walk {
    name: String,
    is_frozen: bool,
    ties: Ties,
}

/// What [`Walk::leave`] goes back to.
#[doc(hidden)]
pub struct Outer {
    name: usize,
    is_frozen: bool,
}

impl Walk {
    /// Enters a field.
    pub fn enter(&mut self, part: &str) -> Outer {
        let outer = Outer { name: self.name.len(), is_frozen: self.is_frozen };
        if !part.is_empty() {
            if outer.name > 0 {
                self.name.push('.');
            }
            self.name.push_str(part);
        }
        outer
    }

    /// Enters an element of a collection.
    pub(super) fn enter_element(&mut self, part: impl Display) -> Outer {
        self.enter(&part.to_string())
    }

    /// The field that was entered is frozen, with all that is in it.
    pub fn freeze(&mut self) {
        self.is_frozen = true;
    }

    /// Leaves a field.
    pub fn leave(&mut self, outer: Outer) {
        self.name.truncate(outer.name);
        self.is_frozen = outer.is_frozen;
    }

    /// Ties the tensors under `own` to those under `target`. Called before the fields are visited.
    pub fn tie(&mut self, own: &str, target: &str) {
        let [own, target] = [own, target].map(|part| super::place::joined(&self.name, part));
        self.ties.add(own, target);
    }

    /// The name as in a checkpoint: `layers.0.weight`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the tensors here are frozen.
    pub(crate) fn is_frozen(&self) -> bool {
        self.is_frozen
    }

    /// The ties so far.
    pub(crate) fn ties(&self) -> &Ties {
        &self.ties
    }
}
