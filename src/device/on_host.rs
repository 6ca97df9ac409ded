//! Operations that the host computes wherever their operands are: elements are downloaded, and the result is uploaded beside the first.
//!
//! Nothing above this room downloads elements to compute with them otherwise, so that what leaves a device is seen here.

use super::Device;
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::storage::View;

/// What the host is given: a view, or several.
pub(crate) trait HostInputs<'a, D: Device> {
    /// Their elements, each in row-major order.
    type Lists;
    fn downloaded(self) -> Result<Self::Lists>;
    /// The first storage, if there is one.
    fn place(&self) -> Option<&'a D::Storage>;
    /// Whether a tape records what is computed of one.
    fn is_tracked(&self) -> bool;
    /// Sees dtype, sizes and strides of each.
    #[cfg(feature = "profile")]
    fn recorded(&self, about: &mut crate::profile::About);
}
impl<'a, D: Device, E: Element> HostInputs<'a, D> for View<'a, D::Storage, E> {
    type Lists = Vec<E>;
    fn downloaded(self) -> Result<Vec<E>> {
        D::download(self)
    }
    fn place(&self) -> Option<&'a D::Storage> {
        Some(self.buffer)
    }
    fn is_tracked(&self) -> bool {
        D::is_tracked(self.buffer)
    }
    #[cfg(feature = "profile")]
    fn recorded(&self, about: &mut crate::profile::About) {
        about.operand(E::DTYPE, self.sizes, self.strides, false);
    }
}
impl<'a, D: Device, I: HostInputs<'a, D>> HostInputs<'a, D> for Option<I> {
    type Lists = Option<I::Lists>;
    fn downloaded(self) -> Result<Self::Lists> {
        self.map(I::downloaded).transpose()
    }
    fn place(&self) -> Option<&'a D::Storage> {
        self.as_ref().and_then(I::place)
    }
    fn is_tracked(&self) -> bool {
        self.as_ref().is_some_and(I::is_tracked)
    }
    #[cfg(feature = "profile")]
    fn recorded(&self, about: &mut crate::profile::About) {
        self.iter().for_each(|one| one.recorded(about));
    }
}
impl<'a, D: Device, I: HostInputs<'a, D>, J: HostInputs<'a, D>> HostInputs<'a, D> for (I, J) {
    type Lists = (I::Lists, J::Lists);
    fn downloaded(self) -> Result<Self::Lists> {
        Ok((self.0.downloaded()?, self.1.downloaded()?))
    }
    fn place(&self) -> Option<&'a D::Storage> {
        self.0.place().or_else(|| self.1.place())
    }
    fn is_tracked(&self) -> bool {
        self.0.is_tracked() || self.1.is_tracked()
    }
    #[cfg(feature = "profile")]
    fn recorded(&self, about: &mut crate::profile::About) {
        self.0.recorded(about);
        self.1.recorded(about);
    }
}

/// Operands whose gradients are 0, as those of random numbers by their probabilities.
pub(crate) struct Flat<I>(pub(crate) I);
impl<'a, D: Device, I: HostInputs<'a, D>> HostInputs<'a, D> for Flat<I> {
    type Lists = I::Lists;
    fn downloaded(self) -> Result<Self::Lists> {
        self.0.downloaded()
    }
    fn place(&self) -> Option<&'a D::Storage> {
        self.0.place()
    }
    fn is_tracked(&self) -> bool {
        false
    }
    #[cfg(feature = "profile")]
    fn recorded(&self, about: &mut crate::profile::About) {
        self.0.recorded(about);
    }
}

/// What the host computes: a list, or several.
pub(crate) trait HostOutputs<D: Device> {
    type Storages;
    /// Whether one has a dtype of gradients.
    const HAS_GRADIENTS: bool;
    fn uploaded(self, place: Option<&D::Storage>) -> Result<Self::Storages>;
    /// Storages of nothing, where there are no data.
    fn without_data(place: Option<&D::Storage>) -> Result<Self::Storages>;
    #[cfg(feature = "profile")]
    fn written(given: &Self::Storages) -> u64;
}
impl<D: Device, O: Element> HostOutputs<D> for Vec<O> {
    type Storages = D::Storage;
    const HAS_GRADIENTS: bool = O::DTYPE.is_floating_point() || O::DTYPE.is_complex();
    fn uploaded(self, place: Option<&D::Storage>) -> Result<D::Storage> {
        D::build(place, || Ok(self))
    }
    fn without_data(place: Option<&D::Storage>) -> Result<D::Storage> {
        D::zeroed::<O>(place, 0)
    }
    #[cfg(feature = "profile")]
    fn written(given: &D::Storage) -> u64 {
        D::room::<u8>(given).unwrap_or(0) as u64
    }
}
impl<D: Device, O: HostOutputs<D>, P: HostOutputs<D>> HostOutputs<D> for (O, P) {
    type Storages = (O::Storages, P::Storages);
    const HAS_GRADIENTS: bool = O::HAS_GRADIENTS || P::HAS_GRADIENTS;
    fn uploaded(self, place: Option<&D::Storage>) -> Result<Self::Storages> {
        Ok((self.0.uploaded(place)?, self.1.uploaded(place)?))
    }
    fn without_data(place: Option<&D::Storage>) -> Result<Self::Storages> {
        Ok((O::without_data(place)?, P::without_data(place)?))
    }
    #[cfg(feature = "profile")]
    fn written(given: &Self::Storages) -> u64 {
        O::written(&given.0).saturating_add(P::written(&given.1))
    }
}

/// Refuses operands that a tape records: there is no derivative of what is computed of them.
pub(crate) fn expect_constant(op: &'static str, is_tracked: bool) -> Result<()> {
    if is_tracked { no_derivative(op) } else { Ok(()) }
}
#[cold]
fn no_derivative<T>(op: &'static str) -> Result<T> {
    invalid(op, "it has no derivative here: compute it of `.detach()`ed tensors".to_owned())
}

/// The storages of what the host computes from the operands' elements, on the device of the first operand. Profiles record it under `op`. Where
/// there are no data nothing is computed.
///
/// # Errors
/// If a tape records an operand, and the result has gradients: what has a derivative is a
/// [`Primitive`](crate::composite::primitive::Primitive), whose operands no tape records.
pub(crate) fn on_host<'a, D: Device, I: HostInputs<'a, D>, O: HostOutputs<D>>(
    op: &'static str,
    operands: I,
    compute: impl FnOnce(I::Lists) -> Result<O>,
) -> Result<O::Storages> {
    if O::HAS_GRADIENTS {
        expect_constant(op, operands.is_tracked())?;
    }
    let place = operands.place();
    if !place.is_none_or(D::has_data) {
        return O::without_data(place);
    }
    #[cfg(feature = "profile")]
    let about = {
        let mut about = crate::profile::About::default();
        if crate::profile::is_on() {
            operands.recorded(&mut about);
        }
        || (D::clock(place), D::called(place), about)
    };
    let run = || compute(operands.downloaded()?)?.uploaded(place);
    #[cfg(feature = "profile")]
    return crate::profile::span(op, about, run, |given| given.as_ref().map_or(0, O::written));
    #[cfg(not(feature = "profile"))]
    run()
}
