//! The tables' notation for dtypes and elements.

pub use crate::codes::{code, dtype};
use castiron::device::default_device;
use castiron::{AnyTensor, DType};

/// The bytes of elements: bools as 0 and 1, integers as decimals, floats as their bits in hexadecimal, complex as two of them.
pub fn bytes(dtype: DType, tokens: &str) -> Result<Vec<u8>, String> {
    let width = dtype.to_real().itemsize();
    let hex = dtype.is_floating_point() || dtype.is_complex();
    let mut bytes = Vec::new();
    // The parts of complex elements are separate, or joined.
    let parts = tokens.split_ascii_whitespace().flat_map(|token| {
        let together = dtype.is_complex() && token.len() == 4 * width;
        let (a, b) = token.split_at(if together { 2 * width } else { token.len() });
        [a, b].into_iter().filter(|part| !part.is_empty())
    });
    for token in parts {
        let bits = if hex {
            u64::from_str_radix(token, 16).map_err(|error| format!("{token}: {error}"))?
        } else {
            let value: i128 = token.parse().map_err(|error| format!("{token}: {error}"))?;
            value as u64
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..width]);
    }
    Ok(bytes)
}

/// Moves a tensor to the device where tensors are made.
pub fn placed(x: AnyTensor) -> Result<AnyTensor, String> {
    x.to_device(default_device()).map_err(|error| error.to_string())
}

pub fn tensor(dtype: DType, sizes: &[usize], tokens: &str) -> Result<AnyTensor, String> {
    placed(AnyTensor::from_bytes(&bytes(dtype, tokens)?, dtype, sizes).map_err(|error| error.to_string())?)
}

/// The elements as real numbers, the two parts of complex ones one after the other.
pub fn numbers(x: &AnyTensor) -> Result<Vec<f64>, String> {
    use castiron::ScalarValue::*;
    let scalars = x.to_scalars().map_err(|error| error.to_string())?;
    Ok(scalars
        .into_iter()
        .flat_map(|value| match value {
            Bool(value) => vec![f64::from(u8::from(value))],
            Int(value) => vec![value as f64],
            Float(value) => vec![value],
            Complex(value) => vec![value.re, value.im],
            other => unreachable!("{other:?}"),
        })
        .collect())
}

/// Whether elements have the same bits; all NaN count as the same.
pub fn same(got: &AnyTensor, expected: &AnyTensor) -> Result<(), String> {
    let (a, b) = (got.to_bytes(), expected.to_bytes());
    let (a, b) = (a.map_err(|error| error.to_string())?, b.map_err(|error| error.to_string())?);
    if a == b {
        return Ok(());
    }
    let (x, y) = (numbers(got)?, numbers(expected)?);
    for (at, (x, y)) in x.iter().zip(&y).enumerate() {
        let bits = got.dtype().to_real().itemsize();
        let same = a[at * bits..(at + 1) * bits] == b[at * bits..(at + 1) * bits] || x.is_nan() && y.is_nan();
        if !same {
            return Err(format!("element {at} is {x:?}, expected {y:?}"));
        }
    }
    Ok(())
}

/// Whether elements are close: `|got - want| <= atol + rtol * |want|`.
pub fn close(got: &AnyTensor, expected: &AnyTensor, rtol: f64, atol: f64) -> Result<(), String> {
    let (x, y) = (numbers(got)?, numbers(expected)?);
    let parts = if got.dtype().is_complex() { 2 } else { 1 };
    for at in (0..x.len()).step_by(parts) {
        let (x, y) = (&x[at..at + parts], &y[at..at + parts]);
        let same = x.iter().zip(y).all(|(x, y)| x == y || x.is_nan() && y.is_nan());
        // A complex number counts as NaN if either part is NaN.
        let both_nan = x.iter().any(|x| x.is_nan()) && y.iter().any(|y| y.is_nan());
        let distance = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        let size = y.iter().map(|y| y * y).sum::<f64>().sqrt();
        if !(same || both_nan || distance <= atol + rtol * size) {
            return Err(format!("element {} is {x:?}, expected {y:?} (within {rtol} and {atol})", at / parts));
        }
    }
    Ok(())
}
