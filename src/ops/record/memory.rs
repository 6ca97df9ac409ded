//! Test data in memory for kernels.

use super::arguments::Arguments;
use super::kernel::Operand;
use super::tests::Dice;
use crate::dtype::{Castable, Complex, DType, Element, bf16, f16};

/// The values of a case's operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Any,
    /// No zeros, for integer divisors.
    NoZeros,
    /// Numbers of up to three digits.
    Ordinary,
}

/// Elements, the first aligned to 16 bytes.
#[derive(Clone)]
pub(super) struct Buffer {
    words: Vec<u128>,
    size: usize,
    /// The first element that is used.
    first: usize,
}
impl Buffer {
    pub(super) fn of(dtype: DType, len: usize, first: usize, given: Given, dice: &mut Dice) -> Buffer {
        let size = dtype.itemsize();
        let mut buffer = Buffer { words: vec![0; ((len + first) * size).div_ceil(16) + 1], size, first };
        for i in 0..len {
            let bytes = element(dtype, given, dice);
            // SAFETY: there are as many elements.
            unsafe { buffer.at(i).cast_mut().copy_from(bytes.as_ptr(), size) };
        }
        buffer
    }
    pub(super) fn at(&mut self, i: usize) -> *const u8 {
        self.words.as_mut_ptr().cast::<u8>().wrapping_add((self.first + i) * self.size)
    }
    pub(super) fn operand(&mut self, strides: &[usize]) -> Operand {
        let mut operand = Operand { address: self.at(0).addr() as u64, strides: [0; 8] };
        operand.strides[..strides.len()].copy_from_slice(strides);
        operand
    }
    pub(super) fn bytes(&mut self, i: usize) -> &[u8] {
        let at = self.at(i);
        // SAFETY: there are as many elements.
        unsafe { core::slice::from_raw_parts(at, self.size) }
    }
}

/// A random element: an ordinary or an edge value.
fn element(dtype: DType, what: Given, dice: &mut Dice) -> Vec<u8> {
    const EDGES: [f64; 15] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        -3.0,
        127.0,
        300.0,
        -40000.0,
        70000.0,
        1e-7,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut number = || match dice.roll() % 4 {
        0 if what != Given::Ordinary => EDGES[dice.roll() as usize % EDGES.len()],
        _ => ((dice.roll() % 2_000_001) as f64 / 1e6 - 1.0) * [1.0, 3.0, 20.0, 500.0][dice.roll() as usize % 4],
    };
    macro_rules! element {
        ($($variant:ident: $ty:ty $(, $im:ident)?;)*) => {
            match dtype {
                $(DType::$variant => {
                    let mut given = || number().cast::<$ty>();
                    let mut value = given();
                    $(value.$im = given().$im + value.re * given().re;)?
                    if what == Given::NoZeros && value == <$ty>::default() {
                        value = <$ty as Castable>::from_i32(3);
                    }
                    bytes(value)
                })*
                // Any byte is a valid 8-bit element.
                _ => vec![dice.roll() as u8; dtype.itemsize()],
            }
        };
    }
    element! {
        Bool: bool; U8: u8; I8: i8; I16: i16; I32: i32; I64: i64; U16: u16; U32: u32; U64: u64; F16: f16; BF16: bf16; F32: f32; F64: f64;
        C32: Complex<f16>, im; C64: Complex<f32>, im; C128: Complex<f64>, im;
    }
}
fn bytes<E: Element>(value: E) -> Vec<u8> {
    let mut one = Arguments::default();
    one.push(value);
    one.bytes().next().unwrap().to_vec()
}

/// Whether elements have the same bits, or NaN in the same parts.
pub(super) fn same(dtype: DType, a: &[u8], b: &[u8]) -> bool {
    let real = dtype.to_real();
    let is_nan = |part: &[u8]| match real {
        DType::F16 => f16::from_ne_bytes(part.try_into().unwrap()).is_nan(),
        DType::BF16 => bf16::from_ne_bytes(part.try_into().unwrap()).is_nan(),
        DType::F32 => f32::from_ne_bytes(part.try_into().unwrap()).is_nan(),
        DType::F64 => f64::from_ne_bytes(part.try_into().unwrap()).is_nan(),
        _ => false,
    };
    let size = real.itemsize();
    a.chunks(size).zip(b.chunks(size)).all(|(a, b)| a == b || is_nan(a) && is_nan(b))
}
