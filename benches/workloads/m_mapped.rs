//! `m`: files of 1 to 64 GB mapped into memory, up to more than the machine has. They are sparse files, which take no room on disk and read
//! as zeros, page by page like any file. It takes minutes, so it runs only if the letter is named, and needs the feature `mmap`.

use super::harness::{Bench, Work};
use castiron::{Result, Tensor, axis, shape};
use std::fs::File;
use std::path::{Path, PathBuf};

type Rows = Tensor<f32, shape![_, 1024]>;

/// A file that is deleted when this is dropped.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            eprintln!("{} stays: {error}", self.0.display());
        }
    }
}

fn file(bytes: u64) -> std::io::Result<Temporary> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mapped-{}", std::process::id()));
    File::create(&path)?.set_len(bytes)?;
    Ok(Temporary(path))
}

fn open(file: &Temporary, gigabytes: usize) -> Result<Rows> {
    // SAFETY: only this program knows the file, and nothing changes it.
    unsafe { Tensor::from_file(&file.0, [gigabytes << 18, 1024]) }
}

pub fn run(bench: &mut Bench) {
    for gigabytes in [1, 4, 16, 64] {
        let name = |what: &str| format!("m.{what}_{gigabytes}GB");
        let file = match file((gigabytes as u64) << 30) {
            Ok(file) => file,
            Err(error) => {
                eprintln!("{gigabytes} GB: {error}");
                return;
            }
        };
        let sum = |part: fn(&Rows) -> f32| open(&file, gigabytes).map(|x| part(&x));
        bench.run(&name("open"), Work::Calls, || open(&file, gigabytes));
        bench.run(&name("last_row"), Work::Calls, || sum(|x| x.select(axis![0], x.size(axis![0]) - 1).sum().item()));
        bench.run(&name("sum"), Work::Calls, || sum(|x| x.sum().item()));
    }
}
