//! What a function reads besides its parameters.

use super::tape::Tracked;
use super::taped::Taped;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::io::{MapTensors, ToDevice};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// What a differentiated function reads besides its parameters: references to tensors and modules, tuples of them, and `()`. They are put on
/// the tape without a copy and have no gradient.
///
/// `T` is the device that they are put on: the tape of `D`, or the tape of that for gradients of gradients.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be put on the tape of device `{D}`",
    label = "expected references to tensors or modules on `{D}`, a tuple of them, or `()`",
    note = "write `(&x, &y)`; numbers and settings need not be passed: the closure captures them"
)]
pub trait Constants<D: Device, T: Device = Taped<D>> {
    /// The same on the tape.
    #[doc(hidden)]
    type Lifted: 'static;
    /// What the function is given.
    type Given<'a>;
    #[doc(hidden)]
    fn lift(self) -> Result<Self::Lifted>;
    #[doc(hidden)]
    fn given(lifted: &Self::Lifted) -> Self::Given<'_>;
}
impl<D: Device, T: OnTopOf<D>, M: ToDevice<Device = D, On<T>: 'static>> Constants<D, T> for &M {
    type Lifted = M::On<T>;
    type Given<'a> = &'a M::On<T>;
    fn lift(self) -> Result<Self::Lifted> {
        self.mapped(&mut Constant)
    }
    fn given(lifted: &Self::Lifted) -> &Self::Lifted {
        lifted
    }
}
/// A tape of a device, or a tape of that.
#[doc(hidden)]
pub trait OnTopOf<D: Device>: Device {
    /// A storage of the device as a constant.
    fn constant(storage: D::Storage) -> Self::Storage;
}
impl<D: Device> OnTopOf<D> for Taped<D> {
    fn constant(storage: D::Storage) -> Self::Storage {
        Tracked::constant(storage)
    }
}
impl<D: Device> OnTopOf<D> for Taped<Taped<D>> {
    fn constant(storage: D::Storage) -> Self::Storage {
        Tracked::constant(Tracked::constant(storage))
    }
}
/// Puts tensors on a tape as constants.
pub(super) struct Constant;
impl<D: Device, T: OnTopOf<D>> MapTensors<D, T> for Constant {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, T>> {
        let (storage, offset) = D::share(x.elements());
        Ok(Tensor::from_parts(T::constant(storage), offset, x.shape(), x.stride()))
    }
}

/// Tuples.
macro_rules! tuples {
    ($(($($name:ident)*);)*) => {$(
        impl<Dev: Device, Tape: OnTopOf<Dev>, $($name: Constants<Dev, Tape>),*> Constants<Dev, Tape> for ($($name,)*) {
            type Lifted = ($($name::Lifted,)*);
            type Given<'a> = ($($name::Given<'a>,)*);
            #[allow(non_snake_case)]
            fn lift(self) -> Result<Self::Lifted> {
                let ($($name,)*) = self;
                Ok(($($name.lift()?,)*))
            }
            #[allow(non_snake_case, clippy::unused_unit)]
            fn given(lifted: &Self::Lifted) -> Self::Given<'_> {
                let ($($name,)*) = lifted;
                ($($name::given($name),)*)
            }
        }
    )*};
}
tuples! {
    ();
    (A);
    (A B);
    (A B C);
    (A B C D);
    (A B C D E);
    (A B C D E F);
}
