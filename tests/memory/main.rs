//! The memory under tensors and views: on its own, under Miri or under a sanitizer, each test would notice unsafe code that breaks its
//! promises. The tests are small, so that Miri can run them all:
//!
//! ```sh
//! # (rayon's queues break the rules of Stacked Borrows, and follow pointers that they keep as numbers.)
//! MIRIFLAGS="-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks" cargo +nightly miri test --features any --test memory
//! ```

mod elements;
#[path = "../suite/any/model/mod.rs"]
#[allow(dead_code, reason = "of the naive models one is run here")]
mod model;
mod parts;
mod run_time;
mod sharing;
mod work;
