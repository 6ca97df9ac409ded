#![allow(missing_docs)]
macro_rules! each_device {
    ($($t:tt)*) => {};
}
#[path = "suite/any/mod.rs"]
mod any;
#[path = "suite/common/mod.rs"]
mod common;
#[path = "suite/decomposed.rs"]
mod decomposed;
#[path = "suite/factored.rs"]
mod factored;
#[path = "suite/transformed.rs"]
mod transformed;
