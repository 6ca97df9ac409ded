//! Sizes as arguments of methods: those of `shape()`, or numbers of which one may be -1.

use std::borrow::Cow;

/// Sizes for [`reshape`](crate::AnyTensor::reshape), [`expand`](crate::AnyTensor::expand) and the like: those of a tensor, `x.shape()`, or
/// a list such as `&[2, -1]`. A negative size where none is allowed is an error at run time.
///
/// | of | is taken as |
/// |---|---|
/// | `i64` | `&[2, -1]`, `&[i64]`, `&Vec<i64>` |
/// | `usize` | `x.shape()` of an `AnyTensor` or a [`Tensor`](crate::Tensor), `[x.numel(), 1]`, `&[usize]`, `Vec<usize>` |
///
/// ```
/// use castiron::{AnyTensor, tensor};
/// let (x, y) = (AnyTensor::from(tensor![1, 2, 3, 4]), AnyTensor::from(tensor![[1, 2], [3, 4]]));
/// assert_eq!(x.reshape(y.shape())?.shape(), [2, 2]);
/// assert_eq!(x.reshape(&[-1, 1])?.shape(), [4, 1]);
/// assert_eq!(x.reshape([y.numel(), 1])?.shape(), [4, 1]);
/// assert!(x.reshape(&[-2, 2]).is_err());
/// # Ok::<(), castiron::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no sizes",
    label = "expected `x.shape()`, a list such as `&[2, -1]`, or a slice of `i64` or `usize`",
    note = "of `usize` give a slice, `&sizes[..]`, or the list itself, `[rows, columns]`, without `&`"
)]
pub trait IntoSizes: sealed::Sizes {}

pub(crate) mod sealed {
    use super::Cow;

    /// Types that are taken as sizes.
    pub trait Sizes {
        /// The sizes as `i64`. A larger one becomes `i64::MAX`, which no tensor has either.
        fn signed(&self) -> Cow<'_, [i64]>;
    }
}

fn with_signs(sizes: &[usize]) -> Cow<'_, [i64]> {
    sizes.iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX)).collect()
}

fn borrowed(sizes: &[i64]) -> Cow<'_, [i64]> {
    Cow::Borrowed(sizes)
}

// One type of number for each type of list, so that rustc can infer the type of the numbers in `&[2, -1]` and `&[]`.
/// For `&[usize] = with_signs` it writes `impl IntoSizes for &[usize]`, whose signed sizes are `with_signs(self)`.
macro_rules! sizes {
    ($([$($generics:tt)*] $ty:ty = $signed:expr;)*) => {$(
        impl<$($generics)*> sealed::Sizes for $ty {
            fn signed(&self) -> Cow<'_, [i64]> {
                $signed(&self[..])
            }
        }
        impl<$($generics)*> IntoSizes for $ty {}
    )*};
}
sizes! {
    [] &[i64] = borrowed;
    [] &Vec<i64> = borrowed;
    [const N: usize] &[i64; N] = borrowed;
    [] &[usize] = with_signs;
    [] Vec<usize> = with_signs;
    [const N: usize] [usize; N] = with_signs;
}
