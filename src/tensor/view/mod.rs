//! Views, which share storage and copy nothing, and `TensorView`/`TensorViewMut`, which borrow it.

// Documentation lists methods in this order.
pub(crate) mod views;

pub(crate) mod reshape;

pub(crate) mod slice;

pub(crate) mod axis_iter;
pub(crate) mod diagonal;
pub(crate) mod disjoint_parts;
pub(crate) mod reinterpret;
pub(crate) mod split;
pub(crate) mod tensor_view;
pub(crate) mod tensor_view_mut;
pub(crate) mod view_table;
