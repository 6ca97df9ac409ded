//! Types that modules consist of: tensors, and collections of modules; and moving them to another device.

use super::{Listing, Module, Place};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::Shape;
use crate::tensor::Tensor;
use core::marker::PhantomData;
use std::collections::{BTreeMap, HashMap};

/// A module that can be on any device: a tensor, a struct with `#[derive(Module)]` and a parameter `D: Device`, or a collection of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be moved to another device: its type does not say on which device it is",
    label = "expected a struct such as `struct Model<D: Device = Cpu> {{ … }}`, whose tensors are on `D`",
    note = "`#[derive(Module)]` writes `to_device` for structs that have one type parameter that is a `Device`"
)]
pub trait ToDevice {
    /// The same type on the device `X`.
    type On<X: Device>;

    /// Moves the tensors (`torch.nn.Module.to(device)`). On the same device, storage is shared.
    ///
    /// # Errors
    /// If the device is not available, or memory runs out.
    fn to_device<X: Device>(&self) -> Result<Self::On<X>>;
}

/// The moved field has the field's type.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Field}` is on one device, while the struct that it is a field of is generic over its device",
    label = "this type does not name the device of the struct",
    note = "write the struct's parameter behind the shape: `Tensor<f32, shape![…], D>`"
)]
pub trait FieldOf<Field> {
    fn field(self) -> Field;
}
impl<T> FieldOf<T> for T {
    fn field(self) -> T {
        self
    }
}

/// Moves a field; called by `#[derive(Module)]`.
///
/// # Errors
/// As for [`ToDevice::to_device`].
#[doc(hidden)]
pub fn moved<M: ToDevice<On<X>: FieldOf<T>>, X: Device, T>(field: &M) -> Result<T> {
    Ok(field.to_device::<X>()?.field())
}

impl<E: Element, S: Shape, D: Device> Module for Tensor<E, S, D> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        place.tensor(initial)
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        listing.tensor(self);
    }
}
impl<E: Element, S: Shape, D: Device> ToDevice for Tensor<E, S, D> {
    type On<X: Device> = Tensor<E, S, X>;
    fn to_device<X: Device>(&self) -> Result<Tensor<E, S, X>> {
        Tensor::to_device(self)
    }
}

#[cfg(feature = "any")]
impl Module for crate::AnyTensor {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        place.any_tensor(initial)
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        listing.tensor(self);
    }
}

/// If missing, `None` or the initial value.
impl<M: Module> Module for Option<M> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        let initial = initial.flatten();
        if place.is_there() || initial.is_some() { M::read(place, initial).map(Some) } else { Some(None) }
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        if let Some(module) = self {
            module.list(listing);
        }
    }
}
impl<M: ToDevice> ToDevice for Option<M> {
    type On<X: Device> = Option<M::On<X>>;
    fn to_device<X: Device>(&self) -> Result<Self::On<X>> {
        self.as_ref().map(M::to_device).transpose()
    }
}

impl<M: Module> Module for Box<M> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        M::read(place, initial.map(|module| *module)).map(Box::new)
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        M::list(self, listing);
    }
}
impl<M: ToDevice> ToDevice for Box<M> {
    type On<X: Device> = Box<M::On<X>>;
    fn to_device<X: Device>(&self) -> Result<Self::On<X>> {
        M::to_device(self).map(Box::new)
    }
}

/// As many elements as are numbered from 0 on, or as there were initially.
impl<M: Module> Module for Vec<M> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        let mut before = initial.unwrap_or_default().into_iter();
        let (mut modules, mut all_are_there) = (Vec::new(), true);
        for at in 0_usize.. {
            let (place, initial) = (place.field(&at.to_string()), before.next());
            if initial.is_none() && !place.is_there() {
                break;
            }
            // All elements are read before a failure is returned, to collect all differences.
            match M::read(&place, initial) {
                Some(module) => modules.push(module),
                None => all_are_there = false,
            }
        }
        all_are_there.then_some(modules)
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        for (at, module) in self.iter().enumerate() {
            listing.field(&at.to_string(), module);
        }
    }
}
impl<M: ToDevice> ToDevice for Vec<M> {
    type On<X: Device> = Vec<M::On<X>>;
    fn to_device<X: Device>(&self) -> Result<Self::On<X>> {
        self.iter().map(M::to_device).collect()
    }
}

impl<M: Module, const N: usize> Module for [M; N] {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        let mut before = initial.into_iter().flatten();
        let read: [Option<M>; N] = core::array::from_fn(|at| M::read(&place.field(&at.to_string()), before.next()));
        let modules: Option<Vec<M>> = read.into_iter().collect();
        modules?.try_into().ok()
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        for (at, module) in self.iter().enumerate() {
            listing.field(&at.to_string(), module);
        }
    }
}
impl<M: ToDevice, const N: usize> ToDevice for [M; N] {
    type On<X: Device> = [M::On<X>; N];
    fn to_device<X: Device>(&self) -> Result<Self::On<X>> {
        let moved: Vec<M::On<X>> = self.iter().map(M::to_device).collect::<Result<_>>()?;
        Ok(moved.try_into().unwrap_or_else(|_| unreachable!("there are as many as before")))
    }
}

/// Writes `Module` and `ToDevice` for a map type. Reading returns an entry per name in the checkpoint, in addition to the initial entries.
/// Entries are listed in the order of their keys.
macro_rules! maps {
    ($($map:ident)*) => {$(
        impl<M: Module> Module for $map<String, M> {
            fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
                let mut before = initial.unwrap_or_default();
                let mut keys = place.parts();
                keys.extend(before.keys().filter(|key| keys.binary_search(key).is_err()).cloned().collect::<Vec<_>>());
                // All entries are read before a failure is returned, to collect all differences.
                let read: Vec<_> = keys
                    .into_iter()
                    .map(|key| {
                        let module = M::read(&place.field(&key), before.remove(&key));
                        Some((key, module?))
                    })
                    .collect();
                read.into_iter().collect()
            }
            fn list<'a>(&'a self, listing: &mut Listing<'a>) {
                let mut entries: Vec<_> = self.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                for (key, module) in entries {
                    listing.field(key, module);
                }
            }
        }
        impl<M: ToDevice> ToDevice for $map<String, M> {
            type On<X: Device> = $map<String, M::On<X>>;
            fn to_device<X: Device>(&self) -> Result<Self::On<X>> {
                self.iter().map(|(key, module)| Ok((key.clone(), module.to_device()?))).collect()
            }
        }
    )*};
}
maps!(BTreeMap HashMap);

/// Nothing is stored.
impl<T> Module for PhantomData<T> {
    fn read(_: &Place<'_>, _: Option<Self>) -> Option<Self> {
        Some(PhantomData)
    }
    fn list<'a>(&'a self, _: &mut Listing<'a>) {}
}
