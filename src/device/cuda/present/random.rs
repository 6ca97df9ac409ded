//! Random numbers generated on a GPU: `random.cuh`. Each call has its own stream, given by a seed; elements depend on it and on their
//! positions only, so every GPU generates the same. (Logarithms and sines are CUDA's.)

use super::axes::merged;
use super::elementwise::{count, start};
use super::index::{is_outside, outside};
use super::reduce::{BLOCK, uninitialised};
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice, recording};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::ops::arguments::Distribution;
use crate::ops::record::cuda::{c_type, with_prelude};
use crate::storage::View;

const OP: &str = "random";
/// Why a graph has none.
const NOT_AGAIN: &str = "it would draw the same numbers each time: pass them to the closure";
const TEXT: &str = include_str!("random.cuh");
/// The section of the kernel for distributions, and of that for probabilities.
const DRAW: usize = 4;
const CHANCES: usize = 5;

/// The struct `ci_drawn`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Drawn {
    count: u64,
    seed: u64,
    choices: u64,
    first: i64,
    low: f64,
    range: f64,
}

/// The struct `ci_chances`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Chances {
    count: u64,
    seed: u64,
    rank: u64,
    sizes: [u64; 8],
    strides: [u64; 8],
}

/// The key of the kernels.
struct Draw<E>(core::marker::PhantomData<E>);

/// Bits of the significand, and elements generated at a time.
fn measures<E: Element>(is_integer: bool) -> (u32, usize) {
    let digits = match E::DTYPE {
        DType::F16 => 11,
        DType::BF16 => 8,
        DType::F32 => 24,
        _ => 53,
    };
    (digits, if is_integer || digits > 32 { 2 } else { 4 })
}

fn source<E: Element>(sections: &[usize], is_integer: bool) -> Source {
    let (digits, gives) = measures::<E>(is_integer);
    let all: Vec<&str> = TEXT.split("// ---\n").collect();
    let own: String = sections.iter().filter_map(|&at| all.get(at).copied()).collect();
    let text = with_prelude(&format!(
        "#define CI_THREADS {THREADS}\n#define CI_DIGITS {digits}\n#define CI_EACH_GIVES {gives}\n{BLOCK}typedef {} T;\n{own}",
        c_type(E::DTYPE)
    ));
    Source { name: "draw".to_owned(), text }
}

/// `len` elements of a distribution.
pub(crate) fn draw<E: Element>(
    device: &'static CudaDevice,
    distribution: Distribution,
    seed: u64,
    len: usize,
) -> Result<CudaBuffer> {
    recording::expect_off(OP, NOT_AGAIN)?;
    let mut drawn = Drawn { count: len as u64, seed, choices: 0, first: 0, low: 0.0, range: 0.0 };
    let section = match distribution {
        Distribution::Uniform { low, high } => {
            (drawn.low, drawn.range) = (low, high - low);
            1
        }
        Distribution::Normal { mean, std } => {
            (drawn.low, drawn.range) = (mean, std);
            2
        }
        Distribution::Integers { low, high } => {
            (drawn.first, drawn.choices) = (low, high.wrapping_sub(low) as u64);
            3
        }
    };
    let is_integer = section == 3;
    // SAFETY: the kernel writes every element.
    let [result] = unsafe { uninitialised(device, len, [size_of::<E>()])? };
    let source = || Ok(source::<E>(&[0, section, DRAW], is_integer));
    let kernel = device.kernel(KernelKey::of::<Draw<E>>(section as u64), &source)?;
    let mut arguments = Arguments::new();
    arguments.push(result.address());
    arguments.push(drawn);
    // SAFETY: these are the parameters; the result has `len` elements.
    unsafe { kernel.launch(OP, Grid::over(len.div_ceil(measures::<E>(is_integer).1)), &arguments)? };
    Ok(result)
}

/// One or zero for each probability of a view, row-major; `None` if an element is not a probability.
pub(super) fn bernoulli<E: Element>(
    device: &'static CudaDevice,
    p: &View<'_, CudaBuffer, E>,
    seed: u64,
) -> Result<Option<CudaBuffer>> {
    recording::expect_off(OP, NOT_AGAIN)?;
    let len = count(OP, p.sizes)?;
    // SAFETY: the kernel writes every element.
    let [result] = unsafe { uninitialised(device, len, [size_of::<E>()])? };
    let outside = outside(device)?;
    let (sizes, [strides], rank) = merged(p.sizes, [p.strides], None);
    let source = || Ok(source::<E>(&[0, CHANCES], false));
    let kernel = device.kernel(KernelKey::of::<Draw<E>>(CHANCES as u64), &source)?;
    let mut arguments = Arguments::new();
    arguments.push(start::<E>(p.buffer, p.offset));
    arguments.push(result.address());
    arguments.push(outside.address());
    arguments.push(Chances { count: len as u64, seed, rank, sizes, strides });
    // SAFETY: these are the parameters; what a view reaches is valid, and the result has as many elements.
    unsafe { kernel.launch(OP, Grid::over(len), &arguments)? };
    Ok(if is_outside(&outside)? { None } else { Some(result) })
}
