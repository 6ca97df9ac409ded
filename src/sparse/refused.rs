//! Methods of strided tensors that sparse tensors do not have, and the other way round: they exist to say so.
//!
//! Each has a condition that nothing fulfils, so that the compiler answers `sparse.softmax(axis![-1])` by the condition's message
//! and not as an unknown method. Uses tensors of both layouts; nothing uses it.

use super::SparseCoo;
use crate::device::Device;
use crate::dtype::Element;
use crate::shape::Shape;
use crate::tensor::{Strided, Tensor};

/// For `softmax (axis) "a sparse tensor has no `softmax`";` it writes
/// ```text
/// mod softmax {
///     #[diagnostic::on_unimplemented(message = "a sparse tensor has no `softmax`", …)]
///     pub trait Method { fn refused(&self) -> Self; }
/// }
/// impl Tensor<E, S, D, SparseCoo<N>> {
///     pub fn softmax(&self, axis: impl Sized) -> Self where Self: softmax::Method { … }
/// }
/// ```
/// (The sentence is written out: an attribute takes no `concat!`.)
macro_rules! refused {
    ($layout:ty, [$($generics:tt)*], $methods:ident, $label:literal, $note:literal; $($name:ident $([$($of:ident),+])? ($($arg:ident),*) $message:literal;)*) => {
        /// For each method the condition that is never fulfilled.
        mod $methods {$(
            pub mod $name {
                #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
                pub trait Method {
                    fn refused(&self) -> Self;
                }
            }
        )*}
        #[doc(hidden)]
        impl<E: Element, S: Shape, D: Device, $($generics)*> Tensor<E, S, D, $layout> {$(
            #[doc(hidden)]
            pub fn $name$(<$($of),+>)?(&self $(, _: refused!(@argument $arg))*) -> Self
            where
                Self: $methods::$name::Method,
            {
                <Self as $methods::$name::Method>::refused(self)
            }
        )*}
    };
    (@argument $arg:ident) => { impl Sized };
}
refused! { SparseCoo<N>, [const N: usize], of_strided, "the tensor is sparse",
    "`.to_dense()` makes it strided; to act on the values alone, take `.coalesce()` and its `.values()`";
    view [T] () "a sparse tensor has no `view`";
    reshape [T] () "a sparse tensor has no `reshape`";
    reshape_sized [T] (sizes) "a sparse tensor has no `reshape_sized`";
    expand [T] () "a sparse tensor has no `expand`";
    view_dtype [T] () "a sparse tensor has no `view_dtype`";
    flatten () "a sparse tensor has no `flatten`";
    squeeze () "a sparse tensor has no `squeeze`";
    squeeze_axis (axis) "a sparse tensor has no `squeeze_axis`";
    stride () "a sparse tensor has no `stride`";
    storage_offset () "a sparse tensor has no `storage_offset`";
    is_contiguous () "a sparse tensor has no `is_contiguous`";
    contiguous () "a sparse tensor has no `contiguous`";
    to_vec () "a sparse tensor has no `to_vec`";
    iter () "a sparse tensor has no `iter`";
    as_slice () "a sparse tensor has no `as_slice`";
    get (position) "a sparse tensor has no `get`";
    softmax (axis) "a sparse tensor has no `softmax`";
    log_softmax (axis) "a sparse tensor has no `log_softmax`";
    cumsum (axis) "a sparse tensor has no `cumsum`";
    cumprod (axis) "a sparse tensor has no `cumprod`";
    logsumexp (axes) "a sparse tensor has no `logsumexp`";
    mean_axis (axes) "a sparse tensor has no `mean_axis`";
    prod () "a sparse tensor has no `prod`";
    prod_axis (axes) "a sparse tensor has no `prod_axis`";
    all () "a sparse tensor has no `all`";
    all_axis (axes) "a sparse tensor has no `all_axis`";
    any_axis (axes) "a sparse tensor has no `any_axis`";
    max () "a sparse tensor has no `max`";
    min () "a sparse tensor has no `min`";
    max_axis (axis) "a sparse tensor has no `max_axis`";
    min_axis (axis) "a sparse tensor has no `min_axis`";
    amax () "a sparse tensor has no `amax`";
    amin () "a sparse tensor has no `amin`";
    amax_axis (axes) "a sparse tensor has no `amax_axis`";
    amin_axis (axes) "a sparse tensor has no `amin_axis`";
    argmax () "a sparse tensor has no `argmax`";
    argmin () "a sparse tensor has no `argmin`";
    argmax_axis (axis) "a sparse tensor has no `argmax_axis`";
    argmin_axis (axis) "a sparse tensor has no `argmin_axis`";
    std (correction) "a sparse tensor has no `std`";
    var (correction) "a sparse tensor has no `var`";
    std_axis (axes, correction) "a sparse tensor has no `std_axis`";
    var_axis (axes, correction) "a sparse tensor has no `var_axis`";
    sort (axis, descending) "a sparse tensor has no `sort`";
    argsort (axis, descending) "a sparse tensor has no `argsort`";
    gather (axis, index) "a sparse tensor has no `gather`";
    masked_select (mask) "a sparse tensor has no `masked_select`";
    masked_fill (mask, value) "a sparse tensor has no `masked_fill`";
    slice (items) "a sparse tensor has no `slice`";
    select_mut (axis, index) "a sparse tensor has no `select_mut`";
    narrow_mut (axis, start, len) "a sparse tensor has no `narrow_mut`";
    slice_mut (items) "a sparse tensor has no `slice_mut`";
    view_mut () "a sparse tensor has no `view_mut`";
    fill (value) "a sparse tensor has no `fill`";
    flip (axes) "a sparse tensor has no `flip`";
    roll (shift) "a sparse tensor has no `roll`";
    split (axis, size) "a sparse tensor has no `split`";
    chunk (axis, chunks) "a sparse tensor has no `chunk`";
    unbind (axis) "a sparse tensor has no `unbind`";
    clamp (min, max) "a sparse tensor has no `clamp`";
    clamp_min (min) "a sparse tensor has no `clamp_min`";
    clamp_max (max) "a sparse tensor has no `clamp_max`";
    maximum (other) "a sparse tensor has no `maximum`";
    minimum (other) "a sparse tensor has no `minimum`";
    eq (other) "a sparse tensor has no `eq`";
    ne (other) "a sparse tensor has no `ne`";
    lt (other) "a sparse tensor has no `lt`";
    le (other) "a sparse tensor has no `le`";
    gt (other) "a sparse tensor has no `gt`";
    ge (other) "a sparse tensor has no `ge`";
    linear (weight, bias) "a sparse tensor has no `linear`";
    layer_norm (weight, bias, eps) "a sparse tensor has no `layer_norm`";
    lazy () "a sparse tensor has no `lazy`";
}
refused! { Strided, [], of_sparse, "the tensor is strided",
    "`.to_sparse()` makes a sparse tensor of it; its own elements are read by `iter()`, `to_vec()` and `x[(0, 1)]`";
    coalesce () "a strided tensor has no `coalesce`: it keeps every element, zeros included";
    is_coalesced () "a strided tensor has no `is_coalesced`: it keeps every element, zeros included";
    indices () "a strided tensor has no `indices`: it keeps every element, zeros included";
    values () "a strided tensor has no `values`: it keeps every element, zeros included";
    nnz () "a strided tensor has no `nnz`: it keeps every element, zeros included";
    raw_indices () "a strided tensor has no `raw_indices`: it keeps every element, zeros included";
    raw_values () "a strided tensor has no `raw_values`: it keeps every element, zeros included";
    sparse_dim () "a strided tensor has no `sparse_dim`: it keeps every element, zeros included";
    dense_dim () "a strided tensor has no `dense_dim`: it keeps every element, zeros included";
}
