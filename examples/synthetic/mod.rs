//! Weights from a formula, for models without a weight file: the same numbers in any language, so that results can be compared.
//!
//! The number at position `i` of a tensor called `name` is `hash(fnv(name) + i)`, scaled to the range from -1 to 1:
//!
//! - `fnv(name)`: 32-bit FNV-1a of the name's bytes;
//! - `hash(x)`: `x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >> 16` in 32 bits that wrap;
//! - scaled: `(hash >> 8) / 2^23 - 1`, which single precision holds exactly.
//!
//! A matrix, or the window of a convolution, is multiplied by `sqrt(3 / fan_in)`, so that activations keep their size. Vectors called
//! `….weight` are `1 + 0.1 x`, running variances `1 + 0.5 x`, all others `0.1 x`.

/// 32-bit FNV-1a.
fn fnv(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The number at a position, from -1 to 1.
fn number(seed: u32, at: usize) -> f32 {
    // (Positions fit 32 bits.)
    let mut x = seed.wrapping_add(at as u32);
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^= x >> 16;
    (x >> 8) as f32 / 8_388_608.0 - 1.0
}

/// The elements of a tensor of this name and these sizes.
pub fn elements(name: &str, sizes: &[usize]) -> Vec<f32> {
    let (seed, count) = (fnv(name), sizes.iter().product());
    let scaled: Box<dyn Fn(f32) -> f32> = match sizes {
        [_, inner @ ..] if !inner.is_empty() => {
            let factor = (3.0 / inner.iter().product::<usize>() as f64).sqrt() as f32;
            Box::new(move |x| x * factor)
        }
        _ if name.ends_with(".weight") => Box::new(|x| 1.0 + 0.1 * x),
        _ if name.ends_with(".running_var") => Box::new(|x| 1.0 + 0.5 * x),
        _ => Box::new(|x| 0.1 * x),
    };
    (0..count).map(|at| scaled(number(seed, at))).collect()
}
