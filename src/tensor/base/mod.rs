//! The basics of tensors: attributes, layouts, operands, conversion, assignment, access to single elements, printing.

// Documentation lists methods in this order.
pub(crate) mod attributes;

pub(crate) mod elements;

pub(crate) mod convert;

pub(crate) mod assign;
pub(crate) mod display;
pub(crate) mod layout;
pub(crate) mod memory_format;
pub(crate) mod operand;
pub(crate) mod same_device;
