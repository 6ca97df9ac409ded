//! Float matrix products, in blocks that stay in the caches, by the kernels of `tile`; complex numbers are pairs of floats.
//!
//! The terms of a sum are divided into blocks, each summed from zero and then added to the result, in order: sums depend on the number of
//! terms only. The result is divided among threads in both directions, and each part into panels of columns that, with a block's terms, fit
//! the L2 cache. A panel's columns are packed in strips, either beforehand or by the kernel while it multiplies the first rows. Then each
//! tile of rows, which fits the L1 cache, is multiplied with all strips. Rows are read in place, unless their terms are not contiguous or
//! the rows map to the same sets of that cache: then the tile is packed, too.
//!
//! Threads share no packed data: packing columns takes as long as a few rows, which is less than waiting for each other would.

mod pack;
#[cfg(test)]
mod tests;

use super::conv::tile::{self, Finish, Kernels, TileArgs};
use super::gemm::Product;
use super::threads::{self, Shared};
use crate::dtype::MachineFloat;
use crate::error::Result;
use crate::storage::Scratch;
use core::ops::Range;

/// Maximum numbers in a block of terms: most of a tile's rows of a block stay in the L1 cache. (Smaller in debug builds, so that tests have
/// several blocks and panels.)
const TERMS: usize = if cfg!(debug_assertions) { 1 << 5 } else { 384 };
/// Maximum bytes per term in the strips that are packed together: with all terms of a block they fit the L2 cache.
const MOST: usize = if cfg!(debug_assertions) { 3 << 7 } else { 16 << 7 };
/// Maximum bytes of a right matrix that fits the L1 cache together with a tile's rows.
const NEAR: usize = 16 << 10;
/// Maximum bytes of a right matrix that the kernel packs itself: from the L2 cache, where a miss costs little. Larger ones are packed row
/// by row across all strips of a panel, in memory order.
const NEARBY: usize = if cfg!(debug_assertions) { 32 << 10 } else { 512 << 10 };
/// Distance in bytes of lines that map to the same L1 cache set, and bytes per line.
const SETS: usize = 4 << 10;
const LINE: usize = 64;
/// Scratch memory above this size is allocated in huge pages, whose lines do not compete for the same sets of the L2 cache.
const LARGE: usize = 256 << 10;
/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// Where a right operand is that does not lie as a matrix: the number at row `i` and strip `j` is `rows[i] + strips[j]` numbers behind the
/// first one, and the numbers of a strip in a row follow each other. (The patches of a convolution, which need not be written out.)
#[derive(Clone, Copy)]
pub(super) struct Gathered<'a> {
    pub(super) rows: &'a [usize],
    pub(super) strips: &'a [usize],
}

/// A blocked product of matrices whose elements have `PARTS` numbers: 1, or 2 for complex. Strides are in numbers, sizes in elements.
struct Blocked<'a, T: 'static, const PARTS: usize> {
    product: Product<T>,
    /// Where the right operand is, if it has no strides.
    gathered: Option<Gathered<'a>>,
    kernels: Kernels<T>,
    /// Terms per block.
    terms: usize,
    /// Whether rows on the left are packed.
    packs_left: bool,
    /// Whether columns on the right are read in place, except for those of a partial last strip.
    reads_right: bool,
    /// Whether the kernel packs the columns while it multiplies.
    packs_on_the_way: bool,
}

/// Part `at` of `of` equal parts of a range.
fn share(range: &Range<usize>, at: usize, of: usize) -> Range<usize> {
    let edge = |at: usize| range.start + (range.len() as u128 * at as u128 / of as u128) as usize;
    edge(at)..edge(at + 1)
}

impl<'a, T: MachineFloat, const PARTS: usize> Blocked<'a, T, PARTS> {
    fn new(product: Product<T>, gathered: Option<Gathered<'a>>, kernels: Kernels<T>) -> Self {
        let Product { sizes: [m, k, _], left_steps, right_steps, .. } = product;
        let most = TERMS / PARTS;
        let terms = k.div_ceil(k.div_ceil(most).max(1)).next_multiple_of(8).min(most);
        let tile = kernels.pixels[0];
        let shares_sets = left_steps[0].wrapping_mul(size_of::<T>()).is_multiple_of(SETS);
        let is_plain = PARTS == 1 && right_steps[1] == 1 && gathered.is_none();
        // Columns are used once per tile, and read in place if they all fit the L1 cache.
        let bytes = k.saturating_mul(right_steps[0]).saturating_mul(size_of::<T>());
        let packs_right = m >= tile && bytes > NEAR;
        Blocked {
            product,
            gathered,
            kernels,
            terms,
            packs_left: left_steps[1] != PARTS || shares_sets,
            reads_right: is_plain && !packs_right,
            packs_on_the_way: is_plain && packs_right && bytes <= NEARBY,
        }
    }

    /// The terms of a block.
    fn terms_of(&self, block: usize) -> Range<usize> {
        let first = block * self.terms;
        first..self.product.sizes[1].min(first + self.terms)
    }

    fn strips(&self) -> usize {
        self.product.sizes[2].div_ceil(self.kernels.strip / PARTS)
    }

    fn blocks(&self) -> usize {
        self.product.sizes[1].div_ceil(self.terms)
    }

    /// The first number of a strip in a block of terms, and its row stride.
    fn right(&self, block: usize, strip: usize) -> (*const T, usize) {
        let Product { sizes: [_, _, n], right, right_steps, .. } = self.product;
        let wide = self.kernels.strip / PARTS;
        let (first, low) = (block * self.terms, strip * wide);
        (right.wrapping_add(first * right_steps[0] + low * right_steps[1]), PARTS * wide.min(n - low))
    }

    /// Stride between packed strips, chosen so that the numbers of a term are in different cache sets.
    fn strip_len(&self) -> usize {
        self.terms * PARTS * self.kernels.strip + LINE / size_of::<T>()
    }

    /// Stride between packed rows: an odd number of cache lines, so that the numbers of a term are in different L1 sets.
    fn row_len(&self) -> usize {
        ((self.terms * PARTS * size_of::<T>()).div_ceil(LINE) | 1) * LINE / size_of::<T>()
    }

    /// Maximum number of strips that are packed together.
    fn most(&self) -> usize {
        (MOST / (self.kernels.strip * size_of::<T>())).max(1)
    }

    /// Packs strips of a block of terms.
    ///
    /// # Safety
    /// No other thread uses the memory, which has room for them.
    unsafe fn pack(&self, strips: Range<usize>, block: usize, to: *mut T) {
        let steps = self.product.right_steps;
        let (terms, wide, len) = (self.terms_of(block).len(), self.kernels.strip, self.strip_len());
        if let Some(Gathered { rows, strips: places }) = self.gathered {
            // SAFETY: the rows and strips are inside the operand; the caller promises the room.
            return unsafe {
                pack::gathered(self.product.right, &rows[self.terms_of(block)], &places[strips], to, [wide, len])
            };
        }
        let is_whole = |&strip: &usize| self.right(block, strip).1 == wide;
        let whole = if PARTS == 1 && steps[1] == 1 { strips.clone().filter(is_whole).count() } else { 0 };
        // SAFETY: the terms and columns are inside the operand; the caller promises the room.
        unsafe {
            if whole > 0 {
                pack::whole(self.right(block, strips.start).0, steps[0], to, [terms, whole], [wide, len]);
            }
            for at in whole..strips.len() {
                let (from, columns) = self.right(block, strips.start + at);
                pack::strip::<T, PARTS>(from, steps, to.wrapping_add(at * len), [terms, columns], wide);
            }
        }
    }

    /// Multiplies rows with the columns of strips, over one block of terms.
    ///
    /// # Safety
    /// No other thread accesses these places of the result or the scratch memory, which has room for the strips and for a tile of rows.
    unsafe fn panel(&self, rows: Range<usize>, strips: Range<usize>, block: usize, strips_to: *mut T, rows_to: *mut T) {
        let Product { out, out_step, left, left_steps, right_steps, alpha, adds, .. } = self.product;
        let (wide, tile) = (self.kernels.strip, self.kernels.pixels[0]);
        let terms = self.terms_of(block);
        let len = terms.len() * PARTS;
        let packs_on_the_way = self.packs_on_the_way && rows.len() >= tile;
        // (For half a strip, the kernel reads only what exists.)
        let is_read = |columns: usize| self.reads_right && (columns == wide || 2 * columns == wide);
        let place = |strip: usize| {
            let at = if self.reads_right { 0 } else { strip - strips.start };
            strips_to.wrapping_add(at * self.strip_len())
        };
        // The kernel neither reads in place nor packs a partial last strip.
        let (last, all) = (strips.end - 1, !packs_on_the_way && !self.reads_right);
        let columns = self.right(block, last).1;
        if all || (columns < wide && !is_read(columns)) {
            let first = if all { strips.start } else { last };
            // SAFETY: there is room for the strips.
            unsafe { self.pack(first..strips.end, block, place(first)) }
        }
        let mut tiles = vec![];
        if packs_on_the_way {
            tiles.push(tile);
        }
        tiles.extend(self.kernels.tiles_of(rows.len() - tiles.len() * tile));
        let zeros = [T::default(); tile::LONGEST];
        let finish = match (adds || block > 0, alpha == T::one()) {
            (true, _) => Finish::Add(alpha),
            (false, true) => Finish::Store,
            (false, false) => Finish::Scale(alpha),
        };
        let mut row = rows.start;
        for (at, &count) in tiles.iter().enumerate() {
            let packs = packs_on_the_way && at == 0;
            let from = left.wrapping_add(row * left_steps[0] + terms.start * left_steps[1]);
            let (x, step) = if self.packs_left {
                // SAFETY: the rows and terms are those of the operand; there is room for a tile.
                unsafe { pack::rows::<T, PARTS>(from, left_steps, rows_to, [count, terms.len()], self.row_len()) }
                (rows_to.cast_const(), self.row_len())
            } else {
                (from, left_steps[0])
            };
            // Prefetches the next tile's rows (or, for each term, the next tile's numbers) while this tile is multiplied.
            let next = from.wrapping_add(count.wrapping_mul(left_steps[0]));
            for strip in strips.clone() {
                let (from, columns) = self.right(block, strip);
                let (reads, packs) = (is_read(columns), packs && columns == wide);
                let (weights, weights_step) =
                    if reads || packs { (from, right_steps[0]) } else { (place(strip).cast_const(), wide) };
                let at = strip - strips.start;
                let (ahead, ahead_step) = if left_steps[1] == PARTS {
                    // (With few strips, each prefetches several rows, adjacent ones if there are no more.)
                    let rows = count.div_ceil(strips.len());
                    (next.wrapping_add((at * rows % count).wrapping_mul(left_steps[0])), rows * size_of::<T>())
                } else {
                    // (The kernel prefetches once per four terms.)
                    let place = (at % 4).wrapping_mul(left_steps[1]);
                    let place = place.wrapping_add((at / 4 % 2 * (count - 1)).wrapping_mul(left_steps[0]));
                    (next.wrapping_add(place), left_steps[1].wrapping_mul(size_of::<T>()) / PARTS)
                };
                let args = TileArgs {
                    x,
                    step,
                    runs: &[0],
                    len,
                    weights,
                    weights_step,
                    start: zeros.as_ptr(),
                    start_step: 0,
                    out: out.wrapping_add(row * out_step + strip * wide),
                    out_step,
                    columns,
                    finish,
                    ahead,
                    ahead_step,
                };
                // SAFETY: the strip has all terms of the block; rows, terms and columns are inside the operands that the kernel reads and
                // the result, whose places belong to this call; places that are added to are initialised.
                unsafe {
                    if packs {
                        self.kernels.run_packing(&args, place(strip));
                    } else if !reads && 2 * columns > wide {
                        self.kernels.run_packed(count, &args);
                    } else {
                        self.kernels.run(count, &args);
                    }
                }
            }
            row += count;
        }
    }

    /// Multiplies rows with the columns of some strips.
    ///
    /// # Safety
    /// No other thread accesses these places of the result.
    unsafe fn part(&self, rows: Range<usize>, strips: Range<usize>) -> Result<()> {
        let most = self.most().min(strips.len());
        let rows_len = if self.packs_left { self.kernels.pixels[0] * self.row_len() } else { 0 };
        let len = rows_len + self.strip_len() * if self.reads_right { 1 } else { most };
        let least = if len * size_of::<T>() > LARGE { HUGE_PAGE / size_of::<T>() } else { 0 };
        let room = Scratch::<T>::try_new([len.max(least)])?;
        let packed = room.start().wrapping_add(rows_len);
        let panels = strips.len().div_ceil(most);
        for at in 0..panels {
            for block in 0..self.blocks() {
                // SAFETY: the caller's promise; there is room for `most` strips of a block of terms, and for a tile of rows.
                unsafe { self.panel(rows.clone(), share(&strips, at, panels), block, packed, room.start()) }
            }
        }
        Ok(())
    }

    /// Number of groups of rows and of strips that the result is divided into.
    fn grid(&self) -> [usize; 2] {
        let (threads, [m, _, _]) = (self.product.threads.max(1), self.product.sizes);
        let strips = self.strips();
        let panels = strips.div_ceil(self.most());
        if panels >= threads {
            return [1, panels.next_multiple_of(threads).min(strips)];
        }
        let tiles = m.div_ceil(self.kernels.pixels[0]);
        let grids = (panels..=threads.min(strips)).map(|wide| [threads.div_ceil(wide).min(tiles), wide]);
        // Each part packs its rows, which costs part of a strip's time, and its strips, which cost the time of a few rows.
        let cost = |&[high, wide]: &[usize; 2]| (4 * tiles.div_ceil(high) + 8) * (4 * strips.div_ceil(wide) + 1);
        grids.min_by_key(cost).unwrap_or([1, 1])
    }

    fn run(&self) -> Result<()> {
        let grid = self.grid();
        let [high, wide] = grid;
        if grid == [1, 1] {
            // SAFETY: the whole result belongs to this call.
            return unsafe { self.part(0..self.product.sizes[0], 0..self.strips()) };
        }
        let shared = Shared(self);
        threads::try_for_each(high * wide, &|at| {
            let all = { &shared }.0;
            let rows = share(&(0..all.product.sizes[0]), at / wide, high);
            // SAFETY: the parts' rows and columns are disjoint.
            unsafe { all.part(rows, share(&(0..all.strips()), at % wide, wide)) }
        })
    }
}

/// A product of matrices whose elements have `PARTS` numbers: 1, or 2 for complex. The factor `alpha` is real. Strides are in numbers.
pub(super) fn multiply<T: MachineFloat, const PARTS: usize>(product: Product<T>) -> Result<()> {
    multiply_by::<T, PARTS>(product, tile::kernels::<T>()[0])
}

/// The product by these kernels.
fn multiply_by<T: MachineFloat, const PARTS: usize>(product: Product<T>, kernels: Kernels<T>) -> Result<()> {
    let Product { sizes: [m, k, n], out, out_step, adds, .. } = product;
    if k == 0 {
        for row in 0..if adds { 0 } else { m } {
            // SAFETY: the rows of the result are held exclusively.
            (0..n * PARTS).for_each(|column| unsafe { out.add(row * out_step + column).write(T::zero()) });
        }
        return Ok(());
    }
    if m == 0 || n == 0 {
        return Ok(());
    }
    Blocked::<T, PARTS>::new(product, None, kernels).run()
}

/// Number of columns in a strip.
#[cfg(feature = "grad")]
pub(super) fn strip<T: MachineFloat>() -> usize {
    tile::kernels::<T>()[0].strip
}

/// A product with at least one term by a right operand that is gathered, of whole strips.
#[cfg(feature = "grad")]
pub(super) fn multiply_gathered<T: MachineFloat>(product: Product<T>, gathered: Gathered<'_>) -> Result<()> {
    let ([m, k, n], kernels) = (product.sizes, tile::kernels::<T>()[0]);
    let columns = gathered.strips.len() * kernels.strip;
    assert!(k > 0 && gathered.rows.len() == k && columns == n, "a right operand of other sizes");
    if m == 0 {
        return Ok(());
    }
    Blocked::<T, 1>::new(product, Some(gathered), kernels).run()
}
