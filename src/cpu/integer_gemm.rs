//! Integer matrix products, which wrap on overflow. Byte products are computed as 16-bit integers, whose low bits are the result.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::dots::x86::amx;
#[cfg(target_arch = "x86_64")]
use super::dots::x86::{avx2, avx512};
use super::dots::{Dot, PackedProduct, ResultBlock, plain};
use super::elementwise::{result_len, source};
use super::gemm::Product;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{DType, Dtype, MachineInt};
use crate::error::Result;
use crate::storage::{HostBuffer, View};
use num_traits::AsPrimitive;

/// Calls a function with the machine's best implementation of a dot product.
macro_rules! with_best {
    ($name:ident => $call:ident<$($types:ident),*>($($argument:expr),*)) => {{
        #[cfg(target_arch = "x86_64")]
        if avx512::$name::is_there() {
            return $call::<avx512::$name, $($types),*>($($argument),*);
        } else if avx2::$name::is_there() {
            return $call::<avx2::$name, $($types),*>($($argument),*);
        }
        $call::<plain::$name, $($types),*>($($argument),*)
    }};
}

/// Stores the sums of a tile (rows of a strip) into the result.
struct Store<'a, N, T> {
    sums: &'a [N],
    /// Columns per strip.
    strip: usize,
    sizes: [usize; 2],
    out: *mut T,
    out_step: usize,
    alpha: T,
    /// Whether the sums are added to the result's current values.
    adds: bool,
}
impl<N: AsPrimitive<T>, T: MachineInt> Loop for Store<'_, N, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Store { sums, strip, sizes: [rows, columns], out, out_step, alpha, adds } = self;
        for (row, sums) in sums.chunks_exact(strip).enumerate().take(rows) {
            for (column, sum) in sums.iter().enumerate().take(columns) {
                // SAFETY: its maker gives places of the result that nobody else writes, and that are initialised if they are added to.
                unsafe {
                    let out = out.add(row * out_step + column);
                    let value = alpha.wrapping_mul(&sum.as_());
                    out.write(if adds { out.read().wrapping_add(&value) } else { value });
                }
            }
        }
    }
}

/// A product of integers `T` using the given dot product.
pub(super) fn run<D: Dot, T: MachineInt>(product: Product<T>) -> Result<()>
where
    D::Left: From<T>,
    D::Right: From<T>,
    D::Sum: AsPrimitive<T>,
{
    let Product { sizes, out, out_step, left, left_steps, right, right_steps, alpha, adds, threads } = product;
    let operands = PackedProduct::<D, T, T> { sizes, left, left_steps, right, right_steps, flip: num_traits::zero() };
    let out = Shared(out);
    operands.multiply(threads, &|sums, _, ResultBlock { corner: [top, left], sizes }| {
        let out = &out;
        let out = out.0.wrapping_add(top * out_step + left);
        simd::dispatch(Store { sums, strip: D::STRIP, sizes, out, out_step, alpha, adds });
    })
}

#[cfg_attr(not(feature = "precompiled"), inline)]
fn bytes(product: Product<i8>) -> Result<()> {
    with_best!(Shorts => run<i8>(product))
}
#[cfg_attr(not(feature = "precompiled"), inline)]
fn shorts(product: Product<i16>) -> Result<()> {
    with_best!(Shorts => run<i16>(product))
}
#[cfg_attr(not(feature = "precompiled"), inline)]
fn words(product: Product<i32>) -> Result<()> {
    with_best!(Words => run<i32>(product))
}
#[cfg_attr(not(feature = "precompiled"), inline)]
fn longs(product: Product<i64>) -> Result<()> {
    with_best!(Longs => run<i64>(product))
}

/// Reinterprets the operands as signed integers of the same size: products and sums have the same bits.
pub(super) fn multiply<T: MachineInt>(product: Product<T>) -> Result<()> {
    /// # Safety
    /// `T` and `U` are integers of the same size.
    unsafe fn cast<T: Copy, U>(product: Product<T>) -> Product<U> {
        let Product { sizes, out, out_step, left, left_steps, right, right_steps, alpha, adds, threads } = product;
        // SAFETY: the caller's promise: any bits are a valid integer.
        let alpha = unsafe { core::mem::transmute_copy(&alpha) };
        let (out, left, right) = (out.cast(), left.cast(), right.cast());
        Product { sizes, out, out_step, left, left_steps, right, right_steps, alpha, adds, threads }
    }
    // SAFETY: as above.
    unsafe {
        if const { size_of::<T>() == 1 } {
            bytes(cast(product))
        } else if const { size_of::<T>() == 2 } {
            shorts(cast(product))
        } else if const { size_of::<T>() == 4 } {
            words(cast(product))
        } else {
            longs(cast(product))
        }
    }
}

/// A byte product with a signed right matrix: sizes, pointers and strides of the operands, and the row-major `i32` result.
pub(super) struct ByteProduct<L> {
    pub(super) sizes: [usize; 3],
    pub(super) left: *const L,
    pub(super) left_steps: [usize; 2],
    pub(super) right: *const i8,
    pub(super) right_steps: [usize; 2],
    pub(super) out: *mut i32,
    pub(super) threads: usize,
}

/// A byte product by AMX tiles, which have instructions for signed and for unsigned left operands.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) fn by_tiles<L: Copy>(bytes: ByteProduct<L>, signed: bool) -> Result<()> {
    let ByteProduct { sizes, left, left_steps, right, right_steps, out, threads } = bytes;
    if signed {
        let bytes = ByteProduct { sizes, left: left.cast(), left_steps, right, right_steps, out, threads };
        widening::<amx::SignedBytes, i8>(bytes, 0)
    } else {
        let bytes = ByteProduct { sizes, left: left.cast(), left_steps, right, right_steps, out, threads };
        widening::<amx::Bytes, u8>(bytes, 0)
    }
}

/// A byte product using the given dot product; `flip` is the mask of bits to invert in each left group.
fn widening<D: Dot<Group = u32, Sum = i32>, L: Copy>(bytes: ByteProduct<L>, flip: u32) -> Result<()>
where
    D::Left: From<L>,
    D::Right: From<i8>,
{
    let ByteProduct { sizes, left, left_steps, right, right_steps, out, threads } = bytes;
    let (out, n) = (Shared(out), sizes[2]);
    let operands = PackedProduct::<D, L, i8> { sizes, left, left_steps, right, right_steps, flip };
    operands.multiply(threads, &|sums, excess, ResultBlock { corner: [top, left], sizes: [rows, columns] }| {
        let out = &out;
        for (row, sums) in sums.chunks_exact(D::STRIP).enumerate().take(rows) {
            // SAFETY: the part is inside the result, and nobody else writes it.
            unsafe {
                let out = out.0.add((top + row) * n + left);
                match excess {
                    None => out.copy_from_nonoverlapping(sums.as_ptr(), columns),
                    Some(excess) => {
                        let sums = sums.iter().zip(excess).map(|(sum, excess)| sum.wrapping_sub(*excess));
                        sums.enumerate().for_each(|(column, sum)| out.add(column).write(sum));
                    }
                }
            }
        }
    })
}

/// A byte product with an instruction that needs an unsigned left operand: 128 is added to a signed one, and subtracted from the sums.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) fn of_unsigned<D: Dot<Group = u32, Left = u8, Right = i8, Sum = i32>>(
    bytes: ByteProduct<u8>,
    signed: bool,
) -> Result<()> {
    widening::<D, u8>(bytes, if signed { 0x8080_8080 } else { 0 })
}

fn multiply_bytes<L: Copy>(bytes: ByteProduct<L>, signed: bool) -> Result<()>
where
    i16: From<L>,
{
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    if if signed { amx::SignedBytes::is_there() } else { amx::Bytes::is_there() } {
        return by_tiles(bytes, signed);
    }
    #[cfg(target_arch = "x86_64")]
    if avx512::Bytes::is_there() {
        let ByteProduct { sizes, left, left_steps, right, right_steps, out, threads } = bytes;
        let bytes = ByteProduct { sizes, left: left.cast(), left_steps, right, right_steps, out, threads };
        return of_unsigned::<avx512::Bytes>(bytes, signed);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = signed;
    with_best!(Shorts => widening<L>(bytes, 0))
}

/// The product of `u8` or `i8` bytes with `i8` bytes, accumulated in `i32`; row-major.
pub(crate) fn int_mm<E: Dtype>(a: View<'_, HostBuffer, E>, b: View<'_, HostBuffer, i8>) -> Result<HostBuffer> {
    let (&[m, k], &[_, n]) = (a.sizes, b.sizes) else { unreachable!("operands are matrices") };
    let results = result_len(&[m, n])?;
    if results == 0 || k == 0 {
        return HostBuffer::zeroed::<i32>(results);
    }
    let steps = |strides: &[usize]| [strides[0], strides[1]];
    let threads = threads::pieces(m.saturating_mul(n).saturating_mul(k) / 32);
    let bytes = |out| ByteProduct {
        sizes: [m, k, n],
        left: source(&a).cast::<i8>(),
        left_steps: steps(a.strides),
        right: source(&b),
        right_steps: steps(b.strides),
        out,
        threads,
    };
    // SAFETY: all of the result is written.
    unsafe {
        HostBuffer::filled_by(results, |out| {
            if const { matches!(E::DTYPE, DType::U8) } {
                let ByteProduct { sizes, left, left_steps, right, right_steps, out, threads } = bytes(out);
                multiply_bytes::<u8>(
                    ByteProduct { sizes, left: left.cast(), left_steps, right, right_steps, out, threads },
                    false,
                )
            } else {
                multiply_bytes::<i8>(bytes(out), true)
            }
        })
    }
}
