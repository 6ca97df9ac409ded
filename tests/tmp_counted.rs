#[path = "suite/common/mod.rs"]
mod common;
#[path = "suite/counted.rs"]
mod counted;
