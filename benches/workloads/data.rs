//! The numbers of the workloads: the same in every run and for every library.

use castiron::{Element, KnownShape, Tensor};

pub const M1: usize = 1 << 20;
pub const M16: usize = 1 << 24;

fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

/// The tensor is allocated by the library, as the peers' are by theirs.
fn from_bits<E: Element, S: KnownShape>(seed: u64, f: impl Fn(u64) -> E) -> Tensor<E, S> {
    let mut bits = random(seed);
    Tensor::from_fn(|_| bits.next().map_or_else(E::default, &f))
}

/// Numbers from 0.1 to 1.1, each passed through a function.
pub fn drawn<E: Element, S: KnownShape>(seed: u64, f: impl Fn(f32) -> E) -> Tensor<E, S> {
    let unit = |bits: u64| 0.1 + (bits >> 40) as f32 / 16_777_216.0;
    from_bits(seed, |bits| f(unit(bits)))
}

/// Numbers from 0.1 to 1.1.
pub fn floats<S: KnownShape>(seed: u64) -> Tensor<f32, S> {
    drawn(seed, |x| x)
}

/// Integers from 0 up to, but not including, a bound.
pub fn integers<S: KnownShape>(seed: u64, bound: u64) -> Tensor<i64, S> {
    from_bits(seed, |bits| ((bits >> 33) % bound) as i64)
}
