#[path = "suite/common/mod.rs"]
mod common;
#[path = "suite/decomposed.rs"]
mod decomposed;
