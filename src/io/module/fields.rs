//! Types that modules consist of: tensors, and collections of modules; and moving them to another device.

#[cfg(feature = "grad")]
use super::ListingMut;
use super::walk::{Outer, Walk};
use super::{Listing, Module, Place};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{Shape, SizeArray};
use crate::tensor::Tensor;
use core::fmt::Display;
use core::marker::PhantomData;
use std::collections::{BTreeMap, HashMap};

/// A module that can be on any device: a tensor, a struct with `#[derive(Module)]` and a parameter `D: Device`, or a collection of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be moved to another device, or onto a tape: its type does not say on which device it is",
    label = "expected a struct such as `struct Model<D: Device = Cpu> {{ … }}`, whose tensors are on `D`",
    note = "`#[derive(Module)]` writes `to_device` for structs that have one type parameter that is a `Device`"
)]
pub trait ToDevice {
    /// The device that its tensors are on.
    type Device: Device;
    /// The same type on the device `X`.
    type On<X: Device>;
    /// The dtype of a tensor; modules hold several.
    #[doc(hidden)]
    type Holds;

    /// The same with another tensor in place of each, of its dtype and shape. (Written by the derive.)
    #[doc(hidden)]
    fn mapped<X: Device>(&self, map: &mut impl MapTensors<Self::Device, X>) -> Result<Self::On<X>>;

    /// Moves the tensors (`torch.nn.Module.to(device)`). On the same device, storage is shared.
    ///
    /// # Errors
    /// If the device is not available, or memory runs out.
    fn to_device<X: Device>(&self) -> Result<Self::On<X>> {
        self.mapped(&mut Moving)
    }
}

/// What is done with each tensor of a module, in the order of its fields.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this field is on `{D}`, while the struct is generic over its device",
    label = "this type does not name the device of the struct",
    note = "write the struct's parameter behind the shape: `Tensor<f32, shape![…], D>`"
)]
pub trait MapTensors<D: Device, X: Device> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, X>>;
    /// Where it is in the module, for those who ask for names, ties and frozen fields.
    fn walk(&mut self) -> Option<&mut Walk> {
        None
    }
}
/// Moves tensors to another device.
struct Moving;
impl<D: Device, X: Device> MapTensors<D, X> for Moving {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, X>> {
        x.to_device()
    }
}
/// What a module holds: tensors of several dtypes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Mixed;

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

/// Maps the tensors of a field; called by `#[derive(Module)]`.
///
/// # Errors
/// As for [`ToDevice::to_device`].
#[doc(hidden)]
pub fn moved<M: ToDevice<On<X>: FieldOf<T>>, X: Device, T>(
    field: &M,
    name: &str,
    is_frozen: bool,
    map: &mut impl MapTensors<M::Device, X>,
) -> Result<T> {
    let outer = map.walk().map(|walk| walk.enter(name));
    Ok(entered(field, outer, is_frozen, map)?.field())
}
/// Maps the tensors of a part of a module that was entered.
fn entered<M: ToDevice, X: Device>(
    part: &M,
    outer: Option<Outer>,
    is_frozen: bool,
    map: &mut impl MapTensors<M::Device, X>,
) -> Result<M::On<X>> {
    if is_frozen && let Some(walk) = map.walk() {
        walk.freeze();
    }
    let mapped = part.mapped(map)?;
    if let (Some(walk), Some(outer)) = (map.walk(), outer) {
        walk.leave(outer);
    }
    Ok(mapped)
}
fn element<M: ToDevice, X: Device>(
    element: &M,
    name: impl Display,
    map: &mut impl MapTensors<M::Device, X>,
) -> Result<M::On<X>> {
    let outer = map.walk().map(|walk| walk.enter_element(name));
    entered(element, outer, false, map)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// One zero at all positions, on the device of another tensor.
    pub(crate) fn one_zero(beside: Option<&Self>, sizes: S::Sizes) -> Result<Self> {
        let zero = D::zeroed::<E>(beside.map(|x| x.elements().buffer), 1)?;
        Ok(Tensor::from_parts(zero, 0, sizes, S::Sizes::filled(0)))
    }
}

impl<E: Element, S: Shape, D: Device> Module for Tensor<E, S, D> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        place.tensor(initial)
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        listing.tensor(self);
    }
    #[cfg(feature = "grad")]
    fn list_mut<'a>(&'a mut self, listing: &mut ListingMut<'a>) {
        listing.tensor(self);
    }
    #[cfg(feature = "grad")]
    fn sharing(&self) -> Option<Self> {
        Some(self.clone())
    }
}
impl<E: Element, S: Shape, D: Device> ToDevice for Tensor<E, S, D> {
    type Device = D;
    type On<X: Device> = Tensor<E, S, X>;
    type Holds = E;
    fn mapped<X: Device>(&self, map: &mut impl MapTensors<D, X>) -> Result<Tensor<E, S, X>> {
        map.tensor(self)
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
    #[cfg(feature = "grad")]
    fn list_mut<'a>(&'a mut self, listing: &mut ListingMut<'a>) {
        listing.tensor(self);
    }
    #[cfg(feature = "grad")]
    fn sharing(&self) -> Option<Self> {
        Some(self.clone())
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
    #[cfg(feature = "grad")]
    fn list_mut<'a>(&'a mut self, listing: &mut ListingMut<'a>) {
        if let Some(module) = self {
            module.list_mut(listing);
        }
    }
    #[cfg(feature = "grad")]
    fn sharing(&self) -> Option<Self> {
        match self {
            Some(module) => module.sharing().map(Some),
            None => Some(None),
        }
    }
}
impl<M: ToDevice> ToDevice for Option<M> {
    type Device = M::Device;
    type On<X: Device> = Option<M::On<X>>;
    type Holds = M::Holds;
    fn mapped<X: Device>(&self, map: &mut impl MapTensors<M::Device, X>) -> Result<Self::On<X>> {
        self.as_ref().map(|module| module.mapped(map)).transpose()
    }
}

impl<M: Module> Module for Box<M> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        M::read(place, initial.map(|module| *module)).map(Box::new)
    }
    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        M::list(self, listing);
    }
    #[cfg(feature = "grad")]
    fn list_mut<'a>(&'a mut self, listing: &mut ListingMut<'a>) {
        M::list_mut(self, listing);
    }
    #[cfg(feature = "grad")]
    fn sharing(&self) -> Option<Self> {
        M::sharing(self).map(Box::new)
    }
}
impl<M: ToDevice> ToDevice for Box<M> {
    type Device = M::Device;
    type On<X: Device> = Box<M::On<X>>;
    type Holds = M::Holds;
    fn mapped<X: Device>(&self, map: &mut impl MapTensors<M::Device, X>) -> Result<Self::On<X>> {
        M::mapped(self, map).map(Box::new)
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
    #[cfg(feature = "grad")]
    fn list_mut<'a>(&'a mut self, listing: &mut ListingMut<'a>) {
        for (at, module) in self.iter_mut().enumerate() {
            listing.field(&at.to_string(), module);
        }
    }
    #[cfg(feature = "grad")]
    fn sharing(&self) -> Option<Self> {
        self.iter().map(M::sharing).collect()
    }
}
impl<M: ToDevice> ToDevice for Vec<M> {
    type Device = M::Device;
    type On<X: Device> = Vec<M::On<X>>;
    type Holds = M::Holds;
    fn mapped<X: Device>(&self, map: &mut impl MapTensors<M::Device, X>) -> Result<Self::On<X>> {
        self.iter().enumerate().map(|(at, module)| element(module, at, map)).collect()
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
    #[cfg(feature = "grad")]
    fn list_mut<'a>(&'a mut self, listing: &mut ListingMut<'a>) {
        for (at, module) in self.iter_mut().enumerate() {
            listing.field(&at.to_string(), module);
        }
    }
    #[cfg(feature = "grad")]
    fn sharing(&self) -> Option<Self> {
        self.iter().map(M::sharing).collect::<Option<Vec<M>>>()?.try_into().ok()
    }
}
impl<M: ToDevice, const N: usize> ToDevice for [M; N] {
    type Device = M::Device;
    type On<X: Device> = [M::On<X>; N];
    type Holds = M::Holds;
    fn mapped<X: Device>(&self, map: &mut impl MapTensors<M::Device, X>) -> Result<Self::On<X>> {
        let each = self.iter().enumerate().map(|(at, module)| element(module, at, map));
        let moved: Vec<M::On<X>> = each.collect::<Result<_>>()?;
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
            #[cfg(feature = "grad")]
            fn list_mut<'a>(&'a mut self, listing: &mut ListingMut<'a>) {
                let mut entries: Vec<_> = self.iter_mut().collect();
                entries.sort_by(|a, b| a.0.cmp(b.0));
                for (key, module) in entries {
                    listing.field(key, module);
                }
            }
            #[cfg(feature = "grad")]
            fn sharing(&self) -> Option<Self> {
                self.iter().map(|(key, module)| Some((key.clone(), module.sharing()?))).collect()
            }
        }
        impl<M: ToDevice> ToDevice for $map<String, M> {
            type Device = M::Device;
            type On<X: Device> = $map<String, M::On<X>>;
            type Holds = M::Holds;
            fn mapped<X: Device>(&self, map: &mut impl MapTensors<M::Device, X>) -> Result<Self::On<X>> {
                let mut entries: Vec<_> = self.iter().collect();
                entries.sort_by_key(|(key, _)| *key);
                entries.into_iter().map(|(key, module)| Ok((key.clone(), element(module, key, map)?))).collect()
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
    #[cfg(feature = "grad")]
    fn list_mut<'a>(&'a mut self, _: &mut ListingMut<'a>) {}
    #[cfg(feature = "grad")]
    fn sharing(&self) -> Option<Self> {
        Some(PhantomData)
    }
}

/// Tuples of modules on one device. (Their elements have names, so that names in one are not those in another.)
macro_rules! tuples {
    ($($first:ident $($name:ident)*;)*) => {$(
        impl<$first: ToDevice, $($name: ToDevice<Device = $first::Device>),*> ToDevice for ($first, $($name,)*) {
            type Device = $first::Device;
            type On<X: Device> = ($first::On<X>, $($name::On<X>,)*);
            type Holds = Mixed;
            #[allow(non_snake_case)]
            fn mapped<X: Device>(&self, map: &mut impl MapTensors<$first::Device, X>) -> Result<Self::On<X>> {
                let ($first, $($name,)*) = self;
                Ok((element($first, stringify!($first), map)?, $(element($name, stringify!($name), map)?,)*))
            }
        }
    )*};
}
tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; }
