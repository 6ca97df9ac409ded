//! Operations by PyTorch's names and argument names, for scripts, conformance tests and documentation.

mod arguments;
mod by_name;
pub(crate) mod outputs;
mod row;
mod value;

pub use self::arguments::Args;
pub(crate) use self::arguments::{Argument, Bound, Item};
pub(crate) use self::by_name::operation;
pub use self::by_name::{alias, call, ops};
pub use self::row::NamedOp;
pub(crate) use self::row::{Forms, InPlace, Output, Run};
pub(crate) use self::value::expect_shallow;
pub use self::value::{Value, ValueList};
