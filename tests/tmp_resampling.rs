#[path = "suite/common/mod.rs"]
mod common;
#[path = "suite/resampling.rs"]
mod resampling;
