//! Runs `hostile.rs` with any bytes as its file.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/suite/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::npy(data));
