//! Matrix products by dot-product instructions, which multiply groups of terms and accumulate. Both operands are packed into panels, so
//! that a tile's operands are contiguous and its sums stay in registers. Terms are accumulated in order, whatever the blocking and the
//! threads.

pub(super) mod pack;
pub(super) mod plain;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

use self::pack::{Pack, PackTerm};
use super::simd;
use super::threads::{self, Shared};
use crate::error::{Result, filled};
use crate::storage::Scratch;
use core::marker::PhantomData;
use num_traits::{PrimInt, Zero};

/// Rows of a tile, whose sums are held in registers.
pub(super) const ROWS: usize = 6;
/// Columns of a block, which is one thread's task.
const WIDTH: usize = 1024;
/// Bytes of a packed panel of the right operand.
const PANEL: usize = 1 << 24;

/// A dot-product instruction (or a short sequence) that accumulates products of groups of terms into a tile.
///
/// # Safety
/// Its functions are only called if the machine has the instruction.
pub(super) trait Dot: 'static {
    /// A few terms of a row or of a column, packed into an integer.
    type Group: PrimInt + Send + Sync + 'static;
    /// A term of a row.
    type Left: PackTerm<Self::Group>;
    /// A term of a column.
    type Right: PackTerm<Self::Group>;
    /// The accumulation type.
    type Sum: Copy + Default + Send + Sync + 'static;

    /// Rows of a tile.
    const ROWS: usize = ROWS;
    /// Sums in a vector.
    const LANES: usize;
    /// Vectors in a row of a tile: as many as fit the registers for all rows.
    const VECTORS: usize;
    /// Columns of a tile: the width of a strip.
    const STRIP: usize = Self::LANES * Self::VECTORS;
    /// Consecutive groups of a row packed before those of the next row, padded with zeros.
    const RUN: usize = 1;

    /// Groups of terms per block, whose strip stays in L1 or L2.
    const DEPTH: usize = 256;
    /// Rows per block; they are packed together.
    const HEIGHT: usize = 120;

    /// Called before a thread's tiles.
    unsafe fn begin() {}
    /// Called after them.
    unsafe fn end() {}
    /// Accumulates products into the sums of a tile.
    ///
    /// # Safety
    /// There are `depth` times [`ROWS`](Self::ROWS) groups on the left, and `depth` times `vectors` vectors of groups on the right. Called
    /// between [`begin`](Self::begin) and [`end`](Self::end), on the same thread.
    unsafe fn tile(vectors: usize, tile: TileArgs<Self::Group, Self::Sum>);
}

/// A [`Dot`] with vector registers.
///
/// # Safety
/// As there.
pub(super) trait VectorDot: Dot {
    /// A vector of sums.
    type Sums: Copy;
    /// A group broadcast to every lane.
    type Spread: Copy;
    /// A vector of groups.
    type Groups: Copy;

    /// Zeros.
    unsafe fn zero() -> Self::Sums;
    /// # Safety
    /// There is a vector of sums at `from`.
    unsafe fn load(from: *const Self::Sum) -> Self::Sums;
    /// # Safety
    /// There is room for a vector of sums.
    unsafe fn store(sums: Self::Sums, to: *mut Self::Sum);
    /// Broadcasts a group to every lane.
    unsafe fn spread(group: Self::Group) -> Self::Spread;
    /// # Safety
    /// There is a vector of groups at `from`.
    unsafe fn groups(from: *const Self::Group) -> Self::Groups;
    /// Accumulates the dot products of the groups, lane by lane.
    unsafe fn dot(sums: Self::Sums, left: Self::Spread, right: Self::Groups) -> Self::Sums;
}

/// The packed operands of a tile, and its sums: rows of a strip.
pub(super) struct TileArgs<G, N> {
    depth: usize,
    left: *const G,
    right: *const G,
    sums: *mut N,
    /// Whether the sums are added to, rather than started from zero.
    adds: bool,
}

/// The register kernel: for each group of terms, loads the strip once and broadcasts each row's group.
///
/// # Safety
/// There are `depth` times [`ROWS`] groups on the left, and `depth` times `N` vectors of them on the right. The
/// machine has the instruction.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
unsafe fn tile<D: VectorDot + ?Sized, const N: usize>(tile: TileArgs<D::Group, D::Sum>) {
    let TileArgs { depth, left, right, sums, adds } = tile;
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = [[D::zero(); N]; ROWS];
        if adds {
            for r in 0..ROWS {
                for v in 0..N {
                    rows[r][v] = D::load(sums.add(r * D::STRIP + v * D::LANES));
                }
            }
        }
        for p in 0..depth {
            let strip = right.add(p * N * D::LANES);
            let mut groups = [D::groups(strip); N];
            for v in 1..N {
                groups[v] = D::groups(strip.add(v * D::LANES));
            }
            for r in 0..ROWS {
                let group = D::spread(left.add(p * ROWS + r).read());
                for v in 0..N {
                    rows[r][v] = D::dot(rows[r][v], group, groups[v]);
                }
            }
        }
        for r in 0..ROWS {
            for v in 0..N {
                D::store(rows[r][v], sums.add(r * D::STRIP + v * D::LANES));
            }
        }
    }
}

/// [`tile`] for a strip of `vectors` vectors.
///
/// # Safety
/// See there; `vectors` does not exceed a strip.
#[inline(always)]
unsafe fn tile_of<D: VectorDot + ?Sized>(vectors: usize, of: TileArgs<D::Group, D::Sum>) {
    // SAFETY: the caller's promise.
    unsafe {
        match vectors {
            1 => tile::<D, 1>(of),
            2 if D::VECTORS >= 2 => tile::<D, 2>(of),
            3 if D::VECTORS >= 3 => tile::<D, 3>(of),
            4 if D::VECTORS >= 4 => tile::<D, 4>(of),
            _ => unreachable!("a strip has at most four vectors"),
        }
    }
}

/// The operands of a product: sizes, pointers and steps.
pub(super) struct PackedProduct<D: Dot, L, R> {
    pub(super) sizes: [usize; 3],
    pub(super) left: *const L,
    pub(super) left_steps: [usize; 2],
    pub(super) right: *const R,
    pub(super) right_steps: [usize; 2],
    /// Bits to invert in the left operand's groups, which makes signed bytes unsigned.
    pub(super) flip: D::Group,
}

/// A tile's place in the result, and the number of its rows and columns inside.
pub(super) struct ResultBlock {
    pub(super) corner: [usize; 2],
    pub(super) sizes: [usize; 2],
}

/// Stores a tile's sums (rows of a strip) into the result, after subtracting the second argument, if any, from each column.
type Write<'a, N> = &'a (dyn Fn(&[N], Option<&[N]>, ResultBlock) + Sync);

/// A packed panel: strips of columns, the last one only as many vectors wide as needed.
struct Panel<'a, G, N> {
    first: usize,
    columns: usize,
    groups: *const G,
    /// The excess of each column's sums due to the inverted bits.
    excess: &'a [N],
}

/// A thread's packed rows, and the sums of its block.
struct PackBuffers<G, N> {
    left: Scratch<G>,
    sums: Scratch<N>,
}

/// The width in vectors of the strip that starts at a column.
fn vectors<D: Dot>(columns: usize, first: usize) -> usize {
    (columns - first).div_ceil(D::LANES).min(D::VECTORS)
}

impl<D: Dot, L: Copy, R: Copy> PackedProduct<D, L, R>
where
    D::Left: From<L>,
    D::Right: From<R>,
{
    /// Terms per group.
    const TERMS: usize = size_of::<D::Group>() / size_of::<D::Left>();

    fn groups(&self) -> usize {
        self.sizes[1].div_ceil(Self::TERMS).next_multiple_of(D::RUN)
    }

    /// Packs the strip that starts at a column of a panel, and computes its excess if bits are inverted.
    fn pack_right(&self, panel: (usize, usize), first: usize, (to, excess): (*mut D::Group, *mut D::Sum)) {
        let (left, columns) = panel;
        let (vectors, lines, groups) = (vectors::<D>(columns, first), D::STRIP.min(columns - first), self.groups());
        simd::dispatch(Pack {
            from: self.right.wrapping_add((left + first) * self.right_steps[1]),
            steps: [self.right_steps[1], self.right_steps[0]],
            lines,
            terms: self.sizes[1],
            groups,
            width: vectors * D::LANES,
            to,
            flip: D::Group::zero(),
            factor: PhantomData::<D::Right>,
        });
        if self.flip.is_zero() {
            return;
        }
        let flips = Scratch::filled(self.flip, [D::ROWS, groups.min(D::DEPTH)]);
        let sums = Scratch::filled(D::Sum::default(), [D::ROWS, D::STRIP]);
        // SAFETY: the caller has detected the instruction.
        unsafe { D::begin() }
        for low in (0..groups).step_by(D::DEPTH) {
            let (depth, right) = (D::DEPTH.min(groups - low), to.wrapping_add(low * vectors * D::LANES));
            let tile = TileArgs { depth, left: flips.start(), right, sums: sums.start(), adds: low > 0 };
            // SAFETY: the strip is packed; there are as many groups on the left. The caller has detected the instruction.
            unsafe { D::tile(vectors, tile) }
        }
        // SAFETY: as above.
        unsafe { D::end() }
        // SAFETY: there is room for the sums of these columns.
        unsafe { excess.copy_from_nonoverlapping(sums.start(), lines) }
    }

    /// Computes the whole product. The machine has the instruction.
    pub(super) fn multiply(&self, threads: usize, write: Write<'_, D::Sum>) -> Result<()> {
        let (n, groups, threads) = (self.sizes[2], self.groups(), threads.max(1));
        let widest = (PANEL / size_of::<D::Group>() / groups / D::STRIP).max(1) * D::STRIP;
        // Uninitialised: everything that is read is packed first.
        let packed = Scratch::<D::Group>::try_new([groups, widest.min(n.next_multiple_of(D::LANES))])?;
        let mut excess = filled(D::Sum::default(), if self.flip.is_zero() { 0 } else { widest.min(n) })?;
        for first in (0..n).step_by(widest) {
            let columns = widest.min(n - first);
            let strips = columns.div_ceil(D::STRIP);
            let pieces = threads.min(strips);
            let shared = Shared((self, packed.start(), excess.as_mut_ptr()));
            threads::for_each(pieces, &|piece| {
                let shared = &shared;
                let (operands, to, excess) = shared.0;
                for strip in piece * strips / pieces..(piece + 1) * strips / pieces {
                    // Strips are contiguous, and the buffers have room for all of them.
                    let at = strip * D::STRIP;
                    let to = (to.wrapping_add(at * groups), excess.wrapping_add(at));
                    operands.pack_right((first, columns), at, to);
                }
            });
            self.multiply_panel(Panel { first, columns, groups: packed.start(), excess: &excess }, threads, write);
        }
        Ok(())
    }

    fn multiply_panel(&self, panel: Panel<'_, D::Group, D::Sum>, threads: usize, write: Write<'_, D::Sum>) {
        let m = self.sizes[0];
        let (wide, deep) = (WIDTH.min(panel.columns), self.groups().min(D::DEPTH));
        let across = panel.columns.div_ceil(WIDTH);
        // Enough blocks for all threads.
        let high = if threads == 1 { D::HEIGHT } else { m.div_ceil((2 * threads).div_ceil(across)).min(D::HEIGHT) };
        let high = high.min(m).next_multiple_of(D::ROWS);
        let blocks = m.div_ceil(high) * across;
        let pieces = threads.min(blocks);
        let kept = if self.groups() > D::DEPTH { wide.div_ceil(D::STRIP) * (high / D::ROWS) } else { 1 };
        let shared = Shared((self, panel, write));
        threads::for_each(pieces, &|piece| {
            let shared = &shared;
            let (operands, panel, write) = &shared.0;
            let sums = Scratch::filled(D::Sum::default(), [kept, D::ROWS, D::STRIP]);
            let buffer = PackBuffers { left: Scratch::new([high, deep]), sums };
            // SAFETY: the caller has detected the instruction.
            unsafe { D::begin() }
            for at in piece * blocks / pieces..(piece + 1) * blocks / pieces {
                let (top, left) = (at / across * high, at % across * WIDTH);
                let part =
                    ResultBlock { corner: [top, left], sizes: [high.min(m - top), WIDTH.min(panel.columns - left)] };
                operands.block(panel, part, &buffer, write);
            }
            // SAFETY: as above.
            unsafe { D::end() }
        });
    }

    /// Packs a block of rows, a range of groups.
    fn pack_left(&self, [top, rows]: [usize; 2], [first, depth]: [usize; 2], to: *mut D::Group) {
        let (first, end) = (first * Self::TERMS, self.sizes[1].min((first + depth) * Self::TERMS));
        for at in (0..rows).step_by(D::ROWS) {
            let pack = Pack {
                from: self.left.wrapping_add((top + at) * self.left_steps[0] + first * self.left_steps[1]),
                steps: self.left_steps,
                lines: D::ROWS.min(rows - at),
                terms: end - first,
                groups: depth,
                width: D::ROWS,
                to: to.wrapping_add(at * depth),
                flip: self.flip,
                factor: PhantomData::<D::Left>,
            };
            if D::RUN == 1 { simd::dispatch(pack) } else { simd::dispatch(pack.in_runs(D::RUN)) }
        }
    }

    /// Computes a block of the result; its columns are counted from the panel's first.
    fn block(
        &self,
        panel: &Panel<'_, D::Group, D::Sum>,
        part: ResultBlock,
        buffer: &PackBuffers<D::Group, D::Sum>,
        write: Write<'_, D::Sum>,
    ) {
        let ResultBlock { corner: [top, left], sizes: [rows, columns] } = part;
        let (groups, strips) = (self.groups(), columns.div_ceil(D::STRIP));
        for low in (0..groups).step_by(D::DEPTH) {
            let depth = D::DEPTH.min(groups - low);
            self.pack_left([top, rows], [low, depth], buffer.left.start());
            for strip in 0..strips {
                let at = left + strip * D::STRIP;
                let vectors = vectors::<D>(panel.columns, at);
                let right = panel.groups.wrapping_add(at * groups + low * vectors * D::LANES);
                for row in (0..rows).step_by(D::ROWS) {
                    let kept = if groups > D::DEPTH { row / D::ROWS * strips + strip } else { 0 };
                    let sums = buffer.sums.start().wrapping_add(kept * D::ROWS * D::STRIP);
                    let (left, adds) = (buffer.left.start().wrapping_add(row * depth), low > 0);
                    // SAFETY: the operands are packed: `depth` groups for each row and for each lane of the strip. The buffer holds
                    // initialised sums that nobody else accesses. The caller has detected the instruction.
                    let sums = unsafe {
                        D::tile(vectors, TileArgs { depth, left, right, sums, adds });
                        core::slice::from_raw_parts(sums, D::ROWS * D::STRIP)
                    };
                    if low + depth == groups {
                        let sizes = [D::ROWS.min(rows - row), D::STRIP.min(columns - strip * D::STRIP)];
                        let excess = panel.excess.get(at..at + sizes[1]);
                        write(sums, excess, ResultBlock { corner: [top + row, panel.first + at], sizes });
                    }
                }
            }
        }
    }
}
