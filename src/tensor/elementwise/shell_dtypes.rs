//! Operations on shell dtypes besides storing, moving and casting: elementwise equality of tensors of one shell dtype, and the smallest and
//! largest element if they are ordered.

use crate::device::Device;
use crate::dtype::{Element, F4E2M1FNX2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU};
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
use castiron_macros::fallible;

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

/// For `u16` it writes `eq`, `ne`, `amax` and the others of `Tensor<u16, …>`.
macro_rules! shells {
    ($($shell:ty),*) => {$(
        /// Equality of shell elements.
        impl<S: Shape, D: Device> Tensor<$shell, S, D> {
            /// Whether elements are equal (`torch.eq`), with a tensor of the same shell dtype; shapes broadcast.
            ///
            /// # Panics
            /// If sizes known at run time do not broadcast.
            #[fallible]
            pub fn eq<F: Element, T, X: Device>(&self, rhs: &Tensor<F, T, X>) -> Result<Tensor<bool, <S as Broadcast<T>>::Output, D>>
            where
                $shell: SameDtypeFor<F, ops::eq>,
                S: Broadcast<T>,
                T: Shape + SameDevice<D, X>,
            {
                compare::<false, ops::eq, _, _, _, _, _>(self, T::here(rhs))
            }

            /// Whether elements differ (`torch.ne`), with a tensor of the same shell dtype; shapes broadcast.
            ///
            /// # Panics
            /// If sizes known at run time do not broadcast.
            #[fallible]
            pub fn ne<F: Element, T, X: Device>(&self, rhs: &Tensor<F, T, X>) -> Result<Tensor<bool, <S as Broadcast<T>>::Output, D>>
            where
                $shell: SameDtypeFor<F, ops::ne>,
                S: Broadcast<T>,
                T: Shape + SameDevice<D, X>,
            {
                compare::<true, ops::ne, _, _, _, _, _>(self, T::here(rhs))
            }
        }
    )*};
}
shells!(u16, u32, u64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FNX2);

macro_rules! ordered_shells {
    ($($shell:ty),*) => {$(
        /// The minimum and maximum of a shell tensor.
        impl<S: Shape, D: Device> Tensor<$shell, S, D> {
            /// The largest element, as a zero-dim tensor; NaN if there is one.
            ///
            /// # Panics
            /// If there are no elements.
            #[track_caller]
            pub fn amax(&self) -> Tensor<$shell, (), D> {
                unwrap(reduce::<ops::reduce::amax, _, _, S, (), D>(Extreme::<true>, self, u32::MAX, false))
            }

            /// The largest elements over axes; NaN if there is one.
            ///
            /// # Panics
            /// If there are no elements.
            #[track_caller]
            pub fn amax_axis<A: Axes<S>>(&self, _axes: A) -> Tensor<$shell, A::Reduced, D> {
                unwrap(reduce::<ops::reduce::amax, _, _, S, A::Reduced, D>(Extreme::<true>, self, A::MASK, A::KEEPS))
            }

            /// The smallest element, as a zero-dim tensor; NaN if there is one.
            ///
            /// # Panics
            /// If there are no elements.
            #[track_caller]
            pub fn amin(&self) -> Tensor<$shell, (), D> {
                unwrap(reduce::<ops::reduce::amin, _, _, S, (), D>(Extreme::<false>, self, u32::MAX, false))
            }

            /// The smallest elements over axes; NaN if there is one.
            ///
            /// # Panics
            /// If there are no elements.
            #[track_caller]
            pub fn amin_axis<A: Axes<S>>(&self, _axes: A) -> Tensor<$shell, A::Reduced, D> {
                unwrap(reduce::<ops::reduce::amin, _, _, S, A::Reduced, D>(Extreme::<false>, self, A::MASK, A::KEEPS))
            }
        }
    )*};
}
ordered_shells!(u16, u32, u64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU);

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.two::<_, u16, u16, bool>("equal", Equal::<false>);
    suite.two::<_, u64, u64, bool>("equal", Equal::<true>);
}
