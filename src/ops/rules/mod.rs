//! The rules that rows of the tables name: which dtypes an operation admits (`admit.rs`, drawn by `picture.rs`), of which dtype its
//! result is (`result.rs`), what that may be written into (`outputs.rs`), and what else
//! is special about a row (`special.rs`).
//!
//! Each rule is written once, for types and for values. Uses `dtype`; read by everything that reads the tables (`ops::table`).

pub mod admit;
pub mod outputs;
pub(crate) mod picture;
pub(crate) mod result;
pub(crate) mod special;
#[cfg(test)]
mod tests;
