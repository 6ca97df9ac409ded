//! The tensors for specifications, each made once.

use crate::layouts::{Order, Spec, Values};
use castiron::any::{Args, call};
use castiron::{AnyTensor, DType, Result};
use std::collections::HashMap;

/// The tensors made since the last `clear`.
#[derive(Default)]
pub struct Tensors(HashMap<Spec, AnyTensor>);

impl Tensors {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn get(&mut self, spec: &Spec) -> AnyTensor {
        let made = || made(spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        self.0.entry(spec.clone()).or_insert_with(made).clone()
    }
}

/// 24 bits that look random, the same on PyTorch's side.
fn hashed(at: usize) -> u32 {
    let mut bits = (at as u32).wrapping_mul(0x9E37_79B1);
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(0x85EB_CA77);
    bits ^= bits >> 13;
    bits >> 8
}

fn bytes<const N: usize>(numbers: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    numbers.flatten().collect()
}

fn made(spec: &Spec) -> Result<AnyTensor> {
    let mut sizes = spec.sizes.clone();
    let rank = sizes.len();
    match spec.order {
        Order::Transposed if rank > 1 => sizes.swap(rank - 2, rank - 1),
        Order::Steps => sizes[rank - 1] *= 2,
        _ => {}
    }
    let numel: usize = sizes.iter().product();
    let unit = |at| f64::from(hashed(at)) / f64::from(1 << 24);
    let floats = |from: usize| {
        let number = |at| match spec.values {
            Values::Wide => unit(at) * 60.0 - 30.0,
            Values::Ascending => at as f64 / numel as f64,
            _ => 0.05 + unit(at) * 0.9,
        };
        AnyTensor::from_bytes(
            &bytes((from..from + numel).map(|at| (number(at) as f32).to_ne_bytes())),
            DType::F32,
            &sizes,
        )
    };
    let integers = |number: &dyn Fn(usize) -> i64| {
        AnyTensor::from_bytes(&bytes((0..numel).map(|at| number(at).to_ne_bytes())), DType::I64, &sizes)
    };
    let x = match (spec.values, spec.dtype) {
        (Values::Below(bound), _) => integers(&|at| (hashed(at) as usize % bound.max(1)) as i64)?,
        (_, DType::Bool) => integers(&|at| i64::from(hashed(at) & 1))?,
        (Values::Ascending, dtype) if !dtype.is_floating_point() => integers(&|at| at as i64)?,
        (_, dtype) if dtype.is_complex() => {
            call("complex", &Args::new().arg(floats(0)?).arg(floats(numel)?))?.tensor()?
        }
        (_, dtype) if dtype.is_floating_point() => floats(0)?,
        _ => integers(&|at| i64::from(1 + hashed(at) % 100))?,
    };
    let x = x.to(spec.dtype)?;
    match spec.order {
        Order::Transposed if rank > 1 => x.transpose(-2, -1),
        Order::Steps => x.slice(-1, None, None, 2),
        Order::ChannelsLast => x.contiguous_in(castiron::MemoryFormat::CHANNELS_LAST),
        _ => Ok(x),
    }
}
