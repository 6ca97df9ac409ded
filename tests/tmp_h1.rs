#[cfg(feature = "safetensors")]
#[path = "suite/checkpoints.rs"]
mod checkpoints;
