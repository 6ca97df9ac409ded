//! Temporary.
#[path = "suite/common/mod.rs"]
mod common;
#[path = "suite/counted.rs"]
mod counted;
#[path = "suite/drawn.rs"]
mod drawn;
