//! Runs `windows.rs` with any bytes as the sizes and options of a window.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/suite/any/windows.rs"]
mod windows;

libfuzzer_sys::fuzz_target!(|data: &[u8]| windows::any_windows(data));
