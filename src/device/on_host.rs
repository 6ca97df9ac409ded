//! Operations that the host computes wherever their operands are: elements are downloaded, and the result is uploaded beside the first.
//!
//! Nothing above this room downloads elements to compute with them otherwise, so that what leaves a device is seen here.

use super::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::storage::View;

/// What the host is given: a view, or several.
pub(crate) trait HostInputs<'a, D: Device> {
    /// Their elements, each in row-major order.
    type Lists;
    fn downloaded(self) -> Result<Self::Lists>;
    /// The first storage, if there is one.
    fn place(&self) -> Option<&'a D::Storage>;
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
    #[cfg(feature = "profile")]
    fn recorded(&self, about: &mut crate::profile::About) {
        self.0.recorded(about);
        self.1.recorded(about);
    }
}

/// What the host computes: a list, or several.
pub(crate) trait HostOutputs<D: Device> {
    type Storages;
    fn uploaded(self, place: Option<&D::Storage>) -> Result<Self::Storages>;
    /// Storages of nothing, where there are no data.
    fn without_data(place: Option<&D::Storage>) -> Result<Self::Storages>;
    #[cfg(feature = "profile")]
    fn written(given: &Self::Storages) -> u64;
}
impl<D: Device, O: Element> HostOutputs<D> for Vec<O> {
    type Storages = D::Storage;
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

/// The storages of what the host computes from the operands' elements, on the device of the first operand. Profiles record it under `op`. Where
/// there are no data nothing is computed.
pub(crate) fn on_host<'a, D: Device, I: HostInputs<'a, D>, O: HostOutputs<D>>(
    op: &'static str,
    operands: I,
    compute: impl FnOnce(I::Lists) -> Result<O>,
) -> Result<O::Storages> {
    let _ = op;
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
