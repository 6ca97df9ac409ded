//! Functions of a wide dtype over elements of a narrow one, block by block: converted, computed and rounded while they are in the cache.

use super::convert::{narrow, widen};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{Complex, DType, bf16, f16};
use crate::error::{Result, invalid};
use crate::storage::HostBuffer;
use num_traits::AsPrimitive;

/// Elements of a block: those of four operands fit into a second-level cache.
const BLOCK: usize = if cfg!(debug_assertions) { 64 } else { 4096 };
/// Operands of a function.
pub(crate) const MOST: usize = 4;

/// Lists of `len` elements of `f16`, `bf16` or `Complex<f32>`.
pub(crate) struct Lists<'a> {
    pub(crate) dtype: DType,
    /// Each begins at an element of a buffer.
    pub(crate) lists: [Option<(&'a HostBuffer, usize)>; MOST],
    pub(crate) len: usize,
    /// A block has a multiple of it: 1, or the length of rows that are computed whole.
    pub(crate) unit: usize,
}

/// A conversion of `len` elements.
type Converts = unsafe fn(*const u8, *mut u8, usize);
/// The sizes of an element and of a wide one, in bytes, and the conversions between them.
struct Pair {
    sizes: [usize; 2],
    widens: Converts,
    rounds: Converts,
}
fn pair(dtype: DType) -> Option<Pair> {
    let (sizes, widens, rounds): (_, Converts, Converts) = match dtype {
        DType::F16 => (
            [2, 4],
            // SAFETY: who calls it promises `len` elements of `f16`, and of `f32`.
            |from, to, len| unsafe { widen::<f16>(from.cast(), to.cast(), len) },
            // SAFETY: as above.
            |from, to, len| unsafe { narrow::<f16>(from.cast(), to.cast(), len) },
        ),
        DType::BF16 => (
            [2, 4],
            // SAFETY: as above, of `bf16`.
            |from, to, len| unsafe { widen::<bf16>(from.cast(), to.cast(), len) },
            // SAFETY: as above.
            |from, to, len| unsafe { narrow::<bf16>(from.cast(), to.cast(), len) },
        ),
        DType::C64 => (
            [size_of::<Complex<f32>>(), size_of::<Complex<f64>>()],
            // (A complex number is its two parts.)
            |from, to, len| simd::dispatch(Converting::<f32, f64>(from.cast(), to.cast(), 2 * len)),
            |from, to, len| simd::dispatch(Converting::<f64, f32>(from.cast(), to.cast(), 2 * len)),
        ),
        _ => return None,
    };
    Some(Pair { sizes, widens, rounds })
}
/// As many conversions as numbers are at both places.
struct Converting<A, B>(*const A, *mut B, usize);
impl<A: AsPrimitive<B>, B: Copy + 'static> Loop for Converting<A, B> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for at in 0..self.2 {
            // SAFETY: the maker of this loop promises as many elements.
            unsafe { self.1.add(at).write(self.0.add(at).read().as_()) }
        }
    }
}

/// The results of a function of `f32`, or of `Complex<f64>`, rounded: it is given the operands of a block, and their number, and makes as
/// many results.
pub(crate) fn by_blocks(
    op: &'static str,
    of: Lists<'_>,
    run: &(dyn Fn([Option<&HostBuffer>; MOST], usize) -> Result<HostBuffer> + Sync),
) -> Result<HostBuffer> {
    let Lists { dtype, lists, len, unit } = of;
    let Some(Pair { sizes: [narrow, wide], widens, rounds }) = pair(dtype) else {
        return invalid(op, format!("{dtype} is not computed in a wider dtype"));
    };
    let within = |&(buffer, at): &(&HostBuffer, usize)| {
        at.checked_add(len).is_some_and(|end| end <= buffer.len::<u8>() / narrow)
    };
    if !lists.iter().flatten().all(within) {
        return invalid(op, "an operand is shorter than the result".to_owned());
    }
    // SAFETY: all elements are written below, if there is no error, before the buffer is returned.
    let (out, to) = unsafe { HostBuffer::uninitialised(len, narrow)? };
    let to = Shared(to);
    let whole = unit.max(1) * (BLOCK / unit.max(1)).max(1);
    let blocks = len.div_ceil(whole);
    // About a nanosecond for each element.
    let pieces = threads::pieces(len).min(blocks);
    threads::try_for_each(pieces, &|piece| {
        let to = &to;
        let mut operands = [const { None::<HostBuffer> }; MOST];
        for block in blocks * piece / pieces..blocks * (piece + 1) / pieces {
            let first = block * whole;
            let count = whole.min(len - first);
            for (operand, list) in operands.iter_mut().zip(&lists) {
                let Some((list, at)) = list else { continue };
                let from = list.start::<u8>().wrapping_add((at + first) * narrow);
                // That of the block before is written again, unless it was kept.
                if let Some(to) = operand.as_mut().and_then(HostBuffer::start_mut::<u8>) {
                    // SAFETY: `count` elements of the list were found within its buffer, and blocks before have no fewer elements.
                    unsafe { widens(from, to, count) }
                    continue;
                }
                // SAFETY: as above; all elements of the new buffer are written.
                *operand = Some(unsafe {
                    let (buffer, to) = HostBuffer::uninitialised(count, wide)?;
                    widens(from, to, count);
                    buffer
                });
            }
            let results = run(operands.each_ref().map(Option::as_ref), count)?;
            if results.len::<u8>() / wide < count {
                return invalid(op, "a block has fewer results than elements".to_owned());
            }
            // SAFETY: there are `count` results, and as many places from `first` on, which no other block writes.
            unsafe { rounds(results.start(), to.0.add(first * narrow), count) }
        }
        Ok(())
    })?;
    Ok(out)
}
