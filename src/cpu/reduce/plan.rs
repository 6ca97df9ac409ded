//! Plans a reduction: the order of the axes, which adjacent results are computed together, and how their elements are divided into blocks.
//! Depends on sizes and strides only, and so does the summation order.

use super::functions::Facts;
use crate::cpu::fused_plan::HasStrides;
use crate::ops::expression::AXES;
use core::cmp::Reverse;

/// Elements per block.
pub(super) const BLOCK: usize = 1024;
/// Results gathered together, and (inversely) elements of each.
const GATHERED: usize = 128;
/// Rows per block of columns.
const ROWS: usize = 128;
/// Approximate number of contiguous elements read together.
const PATCH: usize = 32_768;
/// Maximum columns reduced together, and maximum bytes of their partial results; columns of computed expressions.
const COLUMNS: usize = 512;
const COMPUTED_COLUMNS: usize = 2048;
const COLUMN_BYTES: usize = 8192;
/// Maximum columns for which rows are folded, and approximately how many columns folding makes.
const NARROW: usize = 128;
const WIDE: usize = 512;
/// Minimum columns that are reduced by rows where blocks are cheaper.
const MANY: usize = 32;
/// Minimum columns reduced together, even if partial results are large.
const MIN_COLUMNS: usize = 16;
/// Maximum blocks of a single result processed together, if contiguous and read in place;
const BLOCKS: usize = 64;
/// if computed or gathered into a buffer, which stays small;
const BUFFERED_BLOCKS: usize = 4;
/// and if short.
pub(super) const SHORT: usize = 16;
/// Minimum elements per thread.
const CHUNK: usize = 1 << 16;

/// A block of a result's elements.
pub(super) struct Block {
    /// The position of its first element among the result's elements, and its length.
    pub position: usize,
    pub len: usize,
    /// Number of equally long blocks processed together, and the axis along which they follow each other; `None` if they are contiguous.
    pub alike: usize,
    pub across: Option<usize>,
}

/// The axes: first those kept, then those reduced. Each group is outermost first, without axes of size 1, merged where possible.
#[derive(Clone, Debug)]
pub(super) struct ReducePlan {
    sizes: [usize; AXES],
    kept: usize,
    rank: usize,
    /// The strides of the result, which is row-major.
    out: [usize; AXES],
    /// Number of results, and of elements per result.
    pub results: usize,
    pub count: usize,
    /// Whether columns are reduced together row by row, rather than each result's line separately.
    pub by_columns: bool,
    /// Results computed together: adjacent along the last kept axis.
    pub width: usize,
    /// Number of rows folded into one, each with its own `width` partial results.
    pub folds: usize,
    /// Elements (or folded rows) in a block, along the last reduced axis.
    depth: usize,
    /// Maximum number of consecutive blocks processed together.
    blocks_at_once: usize,
}

impl ReducePlan {
    /// A contiguous reduction to a single result.
    pub(super) fn line(len: usize) -> Self {
        let mut sizes = [1; AXES];
        sizes[0] = len;
        ReducePlan {
            sizes,
            kept: 0,
            rank: 1,
            out: [0; AXES],
            results: 1,
            count: len,
            by_columns: false,
            width: 1,
            folds: 1,
            depth: BLOCK,
            blocks_at_once: BLOCKS,
        }
    }

    /// Plans a reduction, and permutes the strides of the leaves accordingly; `computes` for expressions that compute elements.
    pub(super) fn new(x: &mut dyn HasStrides, sizes: &[usize], mask: u32, facts: Facts, computes: bool) -> Self {
        let reduced = |axis: usize| mask >> axis & 1 == 1;
        let mut weights = [0_usize; AXES];
        x.show(&mut |strides| {
            weights.iter_mut().zip(strides).for_each(|(weight, stride)| *weight = weight.saturating_add(*stride))
        });
        let mut results = [0; AXES];
        let mut stride = 1;
        for axis in (0..sizes.len()).rev().filter(|&axis| !reduced(axis)) {
            results[axis] = stride;
            stride *= sizes[axis];
        }
        // Memory order; broadcast axes outermost.
        let mut order = [0; AXES];
        let mut rank = 0;
        let mut kept = 0;
        for part in [false, true] {
            let from = rank;
            for (axis, _) in sizes.iter().enumerate().filter(|&(axis, &size)| size != 1 && reduced(axis) == part) {
                order[rank] = axis;
                rank += 1;
            }
            if !part {
                kept = rank;
            }
            if !(part && facts.has_positions) {
                order[from..rank].sort_by_key(|&axis| Reverse(weights[axis].wrapping_sub(1)));
            }
        }
        let order = &order[..rank];
        let mut plan = Self::line(1);
        (plan.kept, plan.rank) = (kept, rank);
        let permuted = |old: &[usize; AXES]| {
            let mut new = [0; AXES];
            order.iter().enumerate().for_each(|(to, &from)| new[to] = old[from]);
            new
        };
        order.iter().enumerate().for_each(|(to, &from)| plan.sizes[to] = sizes[from]);
        plan.out = permuted(&results);
        x.show(&mut |strides| *strides = permuted(strides));
        plan.merge(x);
        if computes || !plan.is_contiguous(x) {
            plan.blocks_at_once = BUFFERED_BLOCKS;
        }
        let product = |sizes: &[usize]| sizes.iter().fold(1_usize, |product, &size| product.saturating_mul(size));
        plan.results = product(&plan.sizes[..plan.kept]);
        plan.count = product(&plan.sizes[plan.kept..plan.rank]);
        if plan.results > 0 && plan.count > 0 {
            plan.choose(x, facts, computes);
        }
        plan
    }

    /// Merges adjacent axes that all leaves (and the result) traverse as one.
    fn merge(&mut self, x: &mut dyn HasStrides) {
        let old = self.clone();
        let (mut rank, mut first) = (0, 0);
        self.sizes = [1; AXES];
        for axis in 0..old.rank {
            if axis == old.kept {
                (self.kept, first) = (rank, rank);
            }
            let size = old.sizes[axis];
            let mut runs_on = rank > first;
            if runs_on {
                let mut check = |strides: &[usize; AXES]| {
                    runs_on &= Some(strides[rank - 1]) == strides[axis].checked_mul(size);
                };
                check(&self.out);
                x.show(&mut |strides| check(strides));
            }
            if !runs_on {
                rank += 1;
            }
            self.sizes[rank - 1] *= size;
            self.out[rank - 1] = self.out[axis];
            x.show(&mut |strides| strides[rank - 1] = strides[axis]);
        }
        if old.kept == old.rank {
            self.kept = rank;
        }
        self.rank = rank;
        self.out[rank..].fill(0);
        x.show(&mut |strides| strides[rank..].fill(0));
    }

    /// Whether the elements of each line are contiguous in every leaf.
    fn is_contiguous(&self, x: &mut dyn HasStrides) -> bool {
        let [_, along] = self.axes();
        let mut contiguous = true;
        x.show(&mut |strides| contiguous &= strides[along] == 1);
        contiguous
    }

    /// Chooses between lines and columns: columns if elements of adjacent results are closer in memory than those of the same result.
    fn choose(&mut self, x: &mut dyn HasStrides, facts: Facts, computes: bool) {
        let (kept, len) = (self.kept, self.len());
        if kept == 0 {
            return;
        }
        let neighbours = self.sizes[kept - 1];
        let mut closer = 0_isize;
        x.show(&mut |strides| {
            let inner = if self.rank > kept { strides[self.rank - 1] } else { 1 };
            let across = strides[kept - 1];
            // What is broadcast along one of the axes is in the cache either way.
            let weight = if across == 0 || inner == 0 { 1 } else { 2 };
            closer += if across != 0 && (across < inner || inner == 0) { weight } else { -weight };
        });
        if len < 2 || closer <= 0 {
            self.width = if len > BLOCK { 1 } else { (PATCH / len).clamp(1, neighbours) };
        } else if facts.by_blocks && facts.has_blocks_of_rows && neighbours >= MANY {
            self.by_columns = true;
            self.width = (COLUMN_BYTES / facts.partial.max(1)).clamp(MIN_COLUMNS, COLUMNS).min(neighbours);
            self.depth = (PATCH / self.width).max(ROWS);
        } else if facts.by_blocks {
            self.width = GATHERED.min(neighbours);
            self.depth = (GATHERED * GATHERED / self.width).min(BLOCK);
        } else {
            (self.by_columns, self.depth) = (true, ROWS);
            let most = if computes { COMPUTED_COLUMNS } else { COLUMNS };
            self.width = (COLUMN_BYTES / facts.partial.max(1)).clamp(MIN_COLUMNS, most).min(neighbours);
            if neighbours <= NARROW && !facts.has_positions {
                self.width = neighbours;
                self.folds = (WIDE / neighbours).min(len / 4).max(1);
            }
        }
    }

    /// Narrows units so that there are enough for all threads.
    pub(super) fn spread(&mut self, pieces: usize) {
        if self.folds == 1 && self.kept > 0 && self.units() < pieces {
            let each = self.sizes[self.kept - 1].div_ceil(pieces).next_multiple_of(64);
            self.width = self.width.min(each);
        }
    }

    /// The size of the last reduced axis.
    fn len(&self) -> usize {
        if self.rank > self.kept { self.sizes[self.rank - 1] } else { 1 }
    }
    fn in_a_line(&self) -> usize {
        if self.kept > 0 { self.sizes[self.kept - 1].div_ceil(self.width) } else { 1 }
    }
    /// Number of units that the results are divided into.
    pub(super) fn units(&self) -> usize {
        self.sizes[..self.kept.saturating_sub(1)].iter().product::<usize>() * self.in_a_line()
    }
    /// The index of a unit's first result, and its number of results.
    pub(super) fn unit(&self, unit: usize) -> ([usize; AXES], usize) {
        let mut index = [0; AXES];
        let Some(last) = self.kept.checked_sub(1) else { return (index, 1) };
        let (mut line, left) = (unit / self.in_a_line(), unit % self.in_a_line() * self.width);
        index[last] = left;
        for axis in (0..last).rev() {
            index[axis] = line % self.sizes[axis];
            line /= self.sizes[axis];
        }
        (index, self.width.min(self.sizes[last] - left))
    }
    /// A unit's destination: its first result, and the stride between results.
    pub(super) fn places(&self, index: &[usize; AXES]) -> (usize, usize) {
        let first = index[..self.kept].iter().zip(self.out).map(|(index, stride)| index * stride).sum();
        (first, if self.kept > 0 { self.out[self.kept - 1] } else { 0 })
    }

    fn in_a_row(&self) -> usize {
        self.len().div_ceil(self.depth * self.folds)
    }
    /// Number of blocks that each result's elements are divided into.
    pub(super) fn blocks(&self) -> usize {
        self.sizes[self.kept..self.rank.max(self.kept + 1) - 1].iter().product::<usize>() * self.in_a_row()
    }
    /// Blocks per thread task: a power of two, so that they form a subtree.
    pub(super) fn chunk(&self) -> usize {
        (CHUNK / (self.depth * self.folds * self.width)).next_power_of_two()
    }
    /// Writes the start of a block into the index.
    pub(super) fn block(&self, block: usize, index: &mut [usize; AXES]) -> Block {
        let (len, depth) = (self.len(), self.depth * self.folds);
        let (mut row, low) = (block / self.in_a_row(), block % self.in_a_row() * depth);
        let position = row * len + low;
        if self.rank > self.kept {
            index[self.rank - 1] = low;
            for axis in (self.kept..self.rank - 1).rev() {
                index[axis] = row % self.sizes[axis];
                row /= self.sizes[axis];
            }
        }
        let mut found = Block { position, len: depth.min(len - low), alike: 1, across: None };
        if len > depth {
            found.alike = ((len - low) / depth).max(1);
        } else if self.rank > self.kept + 1 {
            let across = self.rank - 2;
            (found.alike, found.across) = (self.sizes[across] - index[across], Some(across));
        }
        let most = if found.across.is_some() { (PATCH / found.len).clamp(1, SHORT) } else { self.blocks_at_once };
        found.alike = found.alike.min(most);
        found
    }
    /// The axes of adjacent results and of elements in a block. (A missing axis is replaced by the last one, of size 1.)
    pub(super) fn axes(&self) -> [usize; 2] {
        [self.kept.checked_sub(1), (self.rank > self.kept).then(|| self.rank - 1)].map(|axis| axis.unwrap_or(AXES - 1))
    }
}
