#[path = "suite/common/mod.rs"]
mod common;
#[path = "suite/decomposed.rs"]
mod decomposed;
#[path = "suite/factored.rs"]
mod factored;
#[path = "suite/transformed.rs"]
mod transformed;
