//! What a function reads besides its parameters.

use super::front::lifted_constant;
use super::taped::Taped;
use crate::device::Device;
use crate::error::Result;
use crate::io::ToDevice;

/// What a differentiated function reads besides its parameters: references to tensors and modules, tuples of them, and `()`. They are put on
/// the tape without a copy and have no gradient.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be put on the tape of device `{D}`",
    label = "expected references to tensors or modules on `{D}`, a tuple of them, or `()`",
    note = "write `(&x, &y)`; numbers and settings need not be passed: the closure captures them"
)]
pub trait Constants<D: Device> {
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
impl<D: Device, M: ToDevice<Device = D, On<Taped<D>>: 'static>> Constants<D> for &M {
    type Lifted = M::On<Taped<D>>;
    type Given<'a> = &'a M::On<Taped<D>>;
    fn lift(self) -> Result<Self::Lifted> {
        lifted_constant(self)
    }
    fn given(lifted: &Self::Lifted) -> &Self::Lifted {
        lifted
    }
}
/// Tuples.
macro_rules! tuples {
    ($(($($name:ident)*);)*) => {$(
        impl<Dev: Device, $($name: Constants<Dev>),*> Constants<Dev> for ($($name,)*) {
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
