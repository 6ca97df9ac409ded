//! How long an all-reduce takes beside the same MPI called from C. Printed, and not asserted.

use super::checks::Grid;
use super::processes::{Mpi, ended, installed};
use crate::Mesh;
use crate::engine::Reduce::Sum;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Of ranks that the test below starts.
pub(super) fn measured(mesh: &Mesh<Grid>) {
    let all = mesh.all();
    for bytes in [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20, 64 << 20] {
        let mut x = vec![1.0_f32; bytes / 4];
        let times = if bytes < 100_000 {
            2000
        } else if bytes < 10_000_000 {
            60
        } else {
            12
        };
        let mut best = f64::MAX;
        for _ in 0..times {
            mesh.barrier().unwrap();
            let start = Instant::now();
            mesh.reduce_in_place(all, "all_reduce", &mut x, Sum).unwrap();
            best = best.min(start.elapsed().as_secs_f64());
        }
        if all.rank == 0 {
            println!("\nsays {bytes} {best:.9}");
        }
    }
}

/// The same begun, while the rank leaves its core to others for twice as long as that takes, as one does whose GPU computes: how long it has to wait then.
pub(super) fn overlapped(mesh: &Mesh<Grid>) {
    let all = mesh.all();
    for bytes in [256 << 10, 2 << 20, 16 << 20, 64 << 20] {
        let (mut alone, mut waited) = (f64::MAX, f64::MAX);
        let mut x = vec![1.0_f32; bytes / 4];
        for _ in 0..12 {
            mesh.barrier().unwrap();
            let start = Instant::now();
            x = mesh.begin_reduce(all, "all_reduce", x, Sum).unwrap().wait(mesh).unwrap();
            alone = alone.min(start.elapsed().as_secs_f64());
            mesh.barrier().unwrap();
            let begun = mesh.begin_reduce(all, "all_reduce", x, Sum).unwrap();
            std::thread::sleep(Duration::from_secs_f64(2.0 * alone));
            let start = Instant::now();
            x = begun.wait(mesh).unwrap();
            waited = waited.min(start.elapsed().as_secs_f64());
        }
        if all.rank == 0 {
            let [alone, waited] = [alone, waited].map(|seconds| seconds * 1e3);
            println!("\noverlap of {bytes:>10} bytes: {alone:>8.2} ms at once, {waited:>8.2} ms to wait");
        }
    }
}

/// The C program, compiled for a library of MPI.
fn compiled(mpi: &Mpi) -> Option<Command> {
    let program = std::env::temp_dir().join(format!("castiron-mesh-all-reduce-{}", std::process::id()));
    let mut compile = Command::new("cc");
    compile.arg("-O2").arg("-o").arg(&program).arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/all_reduce.c"));
    match &mpi.library {
        Some(library) => compile
            .args((!library.ends_with("libmpi.so.40")).then_some("-DMPICH"))
            .arg(library)
            .arg(format!("-Wl,-rpath,{}", library.parent()?.display())),
        None => compile.arg("-l:libmpi.so.40"),
    };
    let mut command = mpi.launcher.command(2);
    command.arg(program);
    compile.status().ok()?.success().then_some(command)
}

fn read(text: &str, into: &mut BTreeMap<usize, f64>) {
    for line in text.lines().filter_map(|line| line.strip_prefix("says ")) {
        let (bytes, seconds) = line.split_once(' ').unwrap();
        let (bytes, seconds) = (bytes.parse().unwrap(), seconds.parse::<f64>().unwrap());
        into.entry(bytes).and_modify(|best: &mut f64| *best = best.min(seconds)).or_insert(seconds);
    }
}

#[test]
#[ignore = "a measurement, of an optimised build"]
fn all_reduce_beside_c() {
    for mpi in installed() {
        // (The C program knows no standard ABI.)
        if mpi.library.as_ref().is_some_and(|library| library.ends_with("libmpi_abi.so.1")) {
            continue;
        }
        let Some(mut c) = compiled(&mpi) else { continue };
        let (mut own, mut other) = (BTreeMap::new(), BTreeMap::new());
        for _ in 0..4 {
            read(&mpi.run(2, "measure", &[]).text, &mut own);
            read(&ended(&mut c).text, &mut other);
        }
        println!(
            "{}, 2 ranks:\n{:>10} {:>12} {:>12} {:>6}",
            mpi.launcher.path.display(),
            "bytes",
            "µs",
            "from C",
            "ratio"
        );
        for (bytes, seconds) in own {
            let c = other.get(&bytes).copied().unwrap_or(f64::NAN);
            println!("{bytes:>10} {:>12.2} {:>12.2} {:>6.2}", seconds * 1e6, c * 1e6, seconds / c);
        }
        let overlap = mpi.run(2, "overlap", &[]).text;
        overlap.lines().filter(|line| line.starts_with("overlap")).for_each(|line| println!("{line}"));
    }
}
