//! Programs made of bytes (`tests/suite/any/model`, also used for fuzzing) on a GPU, compared with their naive models: some random ones,
//! always the same, and those that found mistakes. `CASTIRON_PROGRAMS=500` runs that many.

use crate::on_gpu;
use castiron::AnyDevice;
use std::path::Path;

#[allow(dead_code)]
#[path = "../suite/any/model/mod.rs"]
mod model;

/// The bytes of a program.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..400).map(|_| next()).collect()
}

fn run(name: &str, programs: u64, program: impl Fn(AnyDevice, &[u8])) {
    let device = AnyDevice::new("cuda:0").unwrap();
    let programs = std::env::var("CASTIRON_PROGRAMS").map_or(programs, |text| text.parse().unwrap());
    for seed in 1..=programs {
        let made = bytes(seed);
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| program(device, &made)));
        assert!(ran.is_ok(), "program {seed} of {name}: {made:?}");
    }
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/any/model/found").join(name);
    for file in std::fs::read_dir(found).into_iter().flatten() {
        program(device, &std::fs::read(file.unwrap().path()).unwrap());
    }
}

#[test]
fn views() {
    on_gpu!("programs::views", { run("views", 30, model::views::run_on) });
}

#[test]
fn edits() {
    on_gpu!("programs::edits", { run("edits", 4, model::edits::run_on) });
}

#[test]
fn calls() {
    on_gpu!("programs::calls", { run("calls", 8, model::calls::run_on) });
}
