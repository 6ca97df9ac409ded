//! Programs made of bytes, compared with a naive model: used by fuzzing and by a property test.
//!
//! Each function takes any bytes, reads a program from them, and panics if castiron panics or the two disagree. Programs of `views`,
//! `edits` and `calls` run on any device (`run_on`): their tensors are made on the thread's default device.

pub mod calls;
pub mod edits;
#[cfg(all(feature = "ndarray", feature = "dlpack"))]
pub mod foreign;
pub mod names;
pub mod typed;
pub mod views;

use arbitrary::{Result, Unstructured};
use castiron::device::{default_device, scoped_default_device};
use castiron::{AnyDevice, AnyTensor};

/// Bytes from which a program is read.
pub type Source<'a> = Unstructured<'a>;

/// What castiron gives.
pub type Outcome<T> = core::result::Result<T, castiron::Error>;

/// The device that `CASTIRON_FUZZ_DEVICE` names, such as `cuda:0`; the host, if it names none.
pub fn asked() -> AnyDevice {
    static ASKED: std::sync::OnceLock<AnyDevice> = std::sync::OnceLock::new();
    *ASKED.get_or_init(|| {
        let name = std::env::var("CASTIRON_FUZZ_DEVICE");
        name.map_or(AnyDevice::CPU, |name| AnyDevice::new(&*name).unwrap_or_else(|error| panic!("{error}")))
    })
}

/// Runs a program with a device as that where tensors are made.
fn on(device: AnyDevice, data: &[u8], program: impl FnOnce(&mut Source) -> Result<()>) {
    let _there = scoped_default_device(device).unwrap();
    let _ = program(&mut Source::new(data));
}

/// A tensor of these bytes, on the device where tensors are made.
fn made(bytes: &[u8], dtype: castiron::DType, sizes: &[usize]) -> AnyTensor {
    AnyTensor::from_bytes(bytes, dtype, sizes).and_then(|x| x.to_device(default_device())).unwrap()
}

/// Sizes of at most `most` axes, each smaller than `end`.
pub fn sizes(source: &mut Source, most: usize, end: usize) -> Result<Vec<usize>> {
    let rank = source.int_in_range(0..=most)?;
    (0..rank).map(|_| source.int_in_range(0..=end - 1)).collect()
}

/// A small number, at times one that nothing has room for.
pub fn number(source: &mut Source) -> Result<i64> {
    Ok(match source.int_in_range(0..=40_u8)? {
        0 => i64::MIN,
        1 => i64::MAX,
        2 => 1 << 62,
        3 => -(1 << 40),
        small => i64::from(small % 14) - 5,
    })
}

/// So many numbers at most.
pub fn numbers(source: &mut Source, most: usize) -> Result<Vec<i64>> {
    let len = source.int_in_range(0..=most)?;
    (0..len).map(|_| number(source)).collect()
}

/// The positions of all elements of these sizes, in row-major order.
pub fn positions(sizes: &[usize]) -> Vec<Vec<usize>> {
    if sizes.contains(&0) {
        return vec![];
    }
    let mut all = vec![vec![]];
    for &size in sizes {
        all = all
            .into_iter()
            .flat_map(|position: Vec<usize>| {
                (0..size).map(move |at| position.iter().copied().chain([at]).collect::<Vec<usize>>())
            })
            .collect();
    }
    all
}

/// An axis counted from the first; a tensor without axes counts as one with one.
pub fn axis(named: i64, rank: usize) -> Option<usize> {
    let count = rank.max(1) as i128;
    let at = if named < 0 { i128::from(named) + count } else { i128::from(named) };
    (0..count).contains(&at).then_some(at as usize)
}

/// Axes, each once.
pub fn axes(named: &[i64], rank: usize) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for &name in named {
        let at = axis(name, rank)?;
        if found.contains(&at) {
            return None;
        }
        found.push(at);
    }
    Some(found)
}
