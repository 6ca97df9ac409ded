#[path = "suite/losses.rs"]
mod losses;
#[path = "suite/einsum.rs"]
mod einsum;
