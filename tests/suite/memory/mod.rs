//! The memory under tensors and views: each test would notice, by itself, under Miri or under a sanitizer, if unsafe code broke what
//! it promises. They are small, so that Miri runs them all:
//!
//! ```sh
//! cargo +nightly miri test --features any --test suite memory::
//! ```

mod elements;
mod parts;
#[cfg(feature = "any")]
mod run_time;
mod sharing;
mod work;
