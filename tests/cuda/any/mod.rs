//! `AnyTensor` on a GPU: by name and by method, as on the host.

mod methods;
pub mod rows;
mod sparse;
