//! Operations on shell dtypes (`u16`, `u32`, `u64`, floats of 8 and 4 bits) besides storing, moving and casting: elementwise equality of
//! tensors of one shell dtype, and the smallest and largest element if they are ordered.
//!
//! They are functions: methods for each shell dtype would stand beside those of the computing dtypes wherever the compiler does not know
//! the dtype yet, as in `(&x % 2).eq(0)`. (`x.eq(&y)` of shell dtypes is Rust's `==`: whether all elements are equal.)
//!
//! ```
//! use castiron::{shells, tensor};
//! let ids = tensor![3, 1, 2; u16];
//! assert_eq!(shells::eq(&ids, &tensor![3, 2, 2; u16]).to_vec(), [true, false, true]);
//! assert_eq!(shells::amax(&ids).item(), 3);
//! ```

use crate::device::Device;
use crate::dtype::Element;
use crate::dtype::shell::*;
use crate::dtype::table::types_of;
use crate::error::{Result, unwrap};
use crate::ops::admit::SameDtypeFor;
use crate::ops::kernel::Map2;
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Reducer;
use crate::ops::{self, Op};
use crate::shape::{Axes, Broadcast, Shape};
use crate::storage::View;
use crate::tensor::elementwise::apply::{broadcast, map2};
use crate::tensor::reduce::reductions::reduce;
use crate::tensor::{SameDevice, Tensor};

/// Equality, or with `NOT` inequality.
#[derive(Clone, Copy)]
struct Equal<const NOT: bool>;
impl<E: Element, const NOT: bool> Map2<E, E, bool> for Equal<NOT> {
    #[inline(always)]
    fn call(self, a: E, b: E) -> bool {
        (a == b) != NOT
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let same = kernel.equal(a, b);
        if NOT { kernel.not(same) } else { same }
    }
}

fn compare<const NOT: bool, O: Op, E: SameDtypeFor<F, O>, F: Element, S: Shape + Broadcast<T>, T: Shape, D: Device>(
    a: &Tensor<E, S, D>,
    b: &Tensor<F, T, D>,
) -> Result<Tensor<bool, <S as Broadcast<T>>::Output, D>> {
    let sizes = broadcast::<<S as Broadcast<T>>::Output, bool>(O::NAME, a.shape().as_ref(), b.shape().as_ref())?;
    let b = b.elements();
    // `SameDtypeFor` is implemented for one dtype only: the elements of `b` are `E`.
    let b = View::<_, E>::new(b.buffer, b.offset, b.sizes, b.strides);
    map2(Equal::<NOT>, a.elements(), b, sizes, [E::DTYPE; 2])
}

/// The minimum or, with `MAX`, the maximum. NaN wins over any number.
#[derive(Clone, Copy)]
struct Extreme<const MAX: bool>;
// No kernel source: shell dtypes do not compute on any device.
impl<E: Element + PartialOrd, const MAX: bool> Reducer<E> for Extreme<MAX> {
    type Partial = Option<E>;
    type Out = E;
    const HAS_IDENTITY: bool = false;
    const COUNTS_REPEATS: bool = false;
    fn start(self) -> Option<E> {
        None
    }
    fn accumulate(self, partial: Option<E>, element: E, _: usize) -> Option<E> {
        <Self as Reducer<E>>::merge(self, partial, Some(element))
    }
    fn merge(self, earlier: Option<E>, later: Option<E>) -> Option<E> {
        let (Some(a), Some(b)) = (earlier, later) else { return earlier.or(later) };
        // Only NaN differs from itself.
        #[allow(clippy::eq_op)]
        let (a_is_nan, b_is_nan) = (a != a, b != b);
        let beats = if MAX { b > a } else { b < a };
        Some(if beats || (b_is_nan && !a_is_nan) { b } else { a })
    }
    fn finish(self, partial: Option<E>, _: usize) -> E {
        partial.unwrap_or_default()
    }
}

/// A dtype that does not compute: `u16`, `u32`, `u64`, and the floats of 8 and 4 bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shell dtype",
    label = "a shell dtype is u16, u32, u64, or a float of 8 or 4 bits",
    note = "computing dtypes have methods of these names: `x.eq(&y)`, `x.amax()`"
)]
pub trait Shell: Element {}
macro_rules! shells {
    ($($shell:ty),*) => {$(impl Shell for $shell {})*};
}
types_of!(shells shells);

/// Where the elements of two tensors of one shell dtype are equal (`torch.eq`); shapes broadcast.
///
/// # Panics
/// If sizes known at run time do not broadcast.
#[track_caller]
pub fn eq<E: Shell + SameDtypeFor<F, ops::eq>, F: Element, S: Shape + Broadcast<T>, T, D: Device, X: Device>(
    x: &Tensor<E, S, D>,
    y: &Tensor<F, T, X>,
) -> Tensor<bool, <S as Broadcast<T>>::Output, D>
where
    T: Shape + SameDevice<D, X>,
{
    unwrap(try_eq(x, y))
}
/// [`eq`], or an error.
///
/// # Errors
/// If sizes known at run time do not broadcast.
pub fn try_eq<E: Shell + SameDtypeFor<F, ops::eq>, F: Element, S: Shape + Broadcast<T>, T, D: Device, X: Device>(
    x: &Tensor<E, S, D>,
    y: &Tensor<F, T, X>,
) -> Result<Tensor<bool, <S as Broadcast<T>>::Output, D>>
where
    T: Shape + SameDevice<D, X>,
{
    compare::<false, ops::eq, _, _, _, _, _>(x, T::here(y))
}

/// Where the elements of two tensors of one shell dtype are different (`torch.ne`); shapes broadcast.
///
/// # Panics
/// If sizes known at run time do not broadcast.
#[track_caller]
pub fn ne<E: Shell + SameDtypeFor<F, ops::ne>, F: Element, S: Shape + Broadcast<T>, T, D: Device, X: Device>(
    x: &Tensor<E, S, D>,
    y: &Tensor<F, T, X>,
) -> Tensor<bool, <S as Broadcast<T>>::Output, D>
where
    T: Shape + SameDevice<D, X>,
{
    unwrap(try_ne(x, y))
}
/// [`ne`], or an error.
///
/// # Errors
/// If sizes known at run time do not broadcast.
pub fn try_ne<E: Shell + SameDtypeFor<F, ops::ne>, F: Element, S: Shape + Broadcast<T>, T, D: Device, X: Device>(
    x: &Tensor<E, S, D>,
    y: &Tensor<F, T, X>,
) -> Result<Tensor<bool, <S as Broadcast<T>>::Output, D>>
where
    T: Shape + SameDevice<D, X>,
{
    compare::<true, ops::ne, _, _, _, _, _>(x, T::here(y))
}

/// The largest element of a tensor of a shell dtype, as a zero-dim tensor; NaN if there is one (`torch.amax`).
///
/// # Panics
/// If there are no elements.
#[track_caller]
pub fn amax<E: Shell + PartialOrd, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, (), D> {
    unwrap(try_amax(x))
}
/// [`amax`], or an error.
///
/// # Errors
/// If there are no elements.
pub fn try_amax<E: Shell + PartialOrd, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Result<Tensor<E, (), D>> {
    reduce::<ops::reduce::amax, _, _, S, (), D>(Extreme::<true>, x, u32::MAX, false)
}

/// The largest elements over axes; NaN if there is one (`torch.amax`).
///
/// # Panics
/// If there are no elements.
#[track_caller]
pub fn amax_axis<E: Shell + PartialOrd, S: Shape, D: Device, A: Axes<S>>(
    x: &Tensor<E, S, D>,
    axes: A,
) -> Tensor<E, A::Reduced, D> {
    unwrap(try_amax_axis(x, axes))
}
/// [`amax_axis`], or an error.
///
/// # Errors
/// If there are no elements.
pub fn try_amax_axis<E: Shell + PartialOrd, S: Shape, D: Device, A: Axes<S>>(
    x: &Tensor<E, S, D>,
    _axes: A,
) -> Result<Tensor<E, A::Reduced, D>> {
    reduce::<ops::reduce::amax, _, _, S, A::Reduced, D>(Extreme::<true>, x, A::MASK, A::KEEPS)
}

/// The smallest element of a tensor of a shell dtype, as a zero-dim tensor; NaN if there is one (`torch.amin`).
///
/// # Panics
/// If there are no elements.
#[track_caller]
pub fn amin<E: Shell + PartialOrd, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, (), D> {
    unwrap(try_amin(x))
}
/// [`amin`], or an error.
///
/// # Errors
/// If there are no elements.
pub fn try_amin<E: Shell + PartialOrd, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Result<Tensor<E, (), D>> {
    reduce::<ops::reduce::amin, _, _, S, (), D>(Extreme::<false>, x, u32::MAX, false)
}

/// The smallest elements over axes; NaN if there is one (`torch.amin`).
///
/// # Panics
/// If there are no elements.
#[track_caller]
pub fn amin_axis<E: Shell + PartialOrd, S: Shape, D: Device, A: Axes<S>>(
    x: &Tensor<E, S, D>,
    axes: A,
) -> Tensor<E, A::Reduced, D> {
    unwrap(try_amin_axis(x, axes))
}
/// [`amin_axis`], or an error.
///
/// # Errors
/// If there are no elements.
pub fn try_amin_axis<E: Shell + PartialOrd, S: Shape, D: Device, A: Axes<S>>(
    x: &Tensor<E, S, D>,
    _axes: A,
) -> Result<Tensor<E, A::Reduced, D>> {
    reduce::<ops::reduce::amin, _, _, S, A::Reduced, D>(Extreme::<false>, x, A::MASK, A::KEEPS)
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.two::<_, u16, u16, bool>("equal", Equal::<false>);
    suite.two::<_, u64, u64, bool>("equal", Equal::<true>);
}
