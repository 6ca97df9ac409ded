//! Modules of numbers: options, counters, the state of a generator. A checkpoint holds them as zero-dim tensors.

use super::{Listing, Module, Place};
use crate::dtype::Element;
use crate::io::StoredTensor;
use crate::tensor::{Generator, Tensor};

/// A number or truth value that a checkpoint holds as a zero-dim tensor.
pub(crate) trait StoredNumber: StoredTensor + Element {
    /// Reads it at a place.
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        let initial: Option<Tensor<Self, ()>> = initial.map(Tensor::scalar);
        place.tensor(initial)?.try_item().ok()
    }
}
impl<E: StoredTensor + Element> StoredNumber for E {}

/// Lists a number under a name.
pub(crate) fn list_number<'a>(listing: &mut Listing<'a>, name: &str, number: &'a dyn StoredTensor) {
    let outer = listing.enter(name);
    listing.tensor(number);
    listing.leave(outer);
}

/// Writes `Module` for a struct of numbers.
#[cfg(feature = "grad")]
macro_rules! numbers_module {
    ($name:ident { $($field:ident)* }) => {
        impl crate::Module for $name {
            fn read(place: &crate::io::Place<'_>, initial: Option<Self>) -> Option<Self> {
                use crate::io::StoredNumber;
                $(let $field = StoredNumber::read(&place.field(stringify!($field)), initial.as_ref().map(|it| it.$field));)*
                Some($name { $($field: $field?,)* })
            }
            fn list<'a>(&'a self, listing: &mut crate::io::Listing<'a>) {
                $(crate::io::list_number(listing, stringify!($field), &self.$field);)*
            }
        }
    };
}
#[cfg(feature = "grad")]
pub(crate) use numbers_module;

impl Module for Generator {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        let initial = initial.as_ref().map(|generator| generator.state().map(|number| *number));
        let [seed, drawn] = [("seed", 0), ("drawn", 1)]
            .map(|(name, at)| StoredNumber::read(&place.field(name), initial.map(|state| state[at])));
        Some(Generator::of_state([seed?, drawn?]))
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        for (name, number) in ["seed", "drawn"].into_iter().zip(self.state()) {
            list_number(listing, name, number);
        }
    }
}
