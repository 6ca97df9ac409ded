//! Runs `model/foreign.rs` with any bytes as its program.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/suite/any/model/mod.rs"]
mod model;

libfuzzer_sys::fuzz_target!(|data: &[u8]| model::foreign::run(data));
