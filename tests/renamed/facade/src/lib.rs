//! A crate that re-exports castiron: its users have no dependency of that name.

/// Under a path of its own.
pub mod tensors {
    pub use castiron;
}
