//! How a reduction goes about its axes: in which order, which neighbouring results are taken together, and how their elements
//! are divided into blocks. Sizes and strides alone decide what is added to what; none of it depends on dtypes.

use super::loops::Facts;
use crate::ops::expression::{AXES, Expression};
use core::cmp::Reverse;

/// Elements in a block.
pub(super) const BLOCK: usize = 1024;
/// Results whose elements are brought side by side together, and how many of each: more where there are fewer results.
const GATHERED: usize = 128;
/// Rows in a block of columns.
const ROWS: usize = 128;
/// Elements that are taken together, roughly, where they lie side by side.
const PATCH: usize = 32_768;
/// Columns reduced together: how many at most, and what their partial results take. Those that are computed come in one piece.
const COLUMNS: usize = 512;
const COMPUTED_COLUMNS: usize = 2048;
const COLUMN_BYTES: usize = 8192;
/// Columns so few that rows are put side by side, and how many columns that makes, roughly.
const NARROW: usize = 128;
const WIDE: usize = 512;
/// Columns reduced together at least, however large partial results are.
const FEW: usize = 16;
/// Blocks of a single result that are taken at once: those that lie in a row, and short ones.
const BLOCKS: usize = 4;
pub(super) const SHORT: usize = 16;
/// Elements that a thread takes at least.
const CHUNK: usize = 1 << 16;

/// Something with elements along axes.
pub(super) trait HasStrides {
    /// Shows each leaf's strides.
    fn show(&mut self, see: &mut dyn FnMut(&mut [usize; AXES]));
}
impl<X: Expression> HasStrides for X {
    fn show(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
        self.strides(see);
    }
}

/// A block of the elements of a result.
pub(super) struct Block {
    /// The position of its first element among those of the result, and how many there are.
    pub position: usize,
    pub len: usize,
    /// How many blocks of this length are taken at once, and along which axis they follow one another: if none, they lie in the
    /// same row.
    pub alike: usize,
    pub across: Option<usize>,
}

/// The axes, those that are kept first, then those reduced over. Each of both is outermost first, without axes of size 1, and
/// merged where elements (and results) run on.
#[derive(Clone, Debug)]
pub(super) struct ReducePlan {
    sizes: [usize; AXES],
    kept: usize,
    rank: usize,
    /// The strides of the result, which is row-major.
    out: [usize; AXES],
    /// How many results and how many elements there are of each.
    pub results: usize,
    pub count: usize,
    /// Whether rows are met that hold an element of each of several results, and not a block of each result.
    pub by_columns: bool,
    /// How many results are taken together: neighbours along the last axis that is kept.
    pub width: usize,
    /// How many rows are met as one: each has `width` partial results of its own.
    pub folds: usize,
    /// Elements (or folded rows) in a block, along the last axis that is reduced over.
    depth: usize,
}

impl ReducePlan {
    /// All elements, side by side, to one.
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
        }
    }

    /// Puts the axes of the leaves, whose elements may be computed on the way, in the order of the plan.
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
        // In the order of memory; repeated elements are outermost.
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
        let product = |sizes: &[usize]| sizes.iter().fold(1_usize, |product, &size| product.saturating_mul(size));
        plan.results = product(&plan.sizes[..plan.kept]);
        plan.count = product(&plan.sizes[plan.kept..plan.rank]);
        if plan.results > 0 && plan.count > 0 {
            plan.choose(x, facts, computes);
        }
        plan
    }

    /// Joins axes that run on into one another in all leaves (and in the result).
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

    /// Whether elements of neighbouring results are closer than those of one, and what follows.
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
            closer += if across != 0 && (across < inner || inner == 0) { 1 } else { -1 };
        });
        if len < 2 || closer <= 0 {
            self.width = if len > BLOCK { 1 } else { (PATCH / len).clamp(1, neighbours) };
        } else if facts.by_blocks {
            self.width = GATHERED.min(neighbours);
            self.depth = (GATHERED * GATHERED / self.width).min(BLOCK);
        } else {
            (self.by_columns, self.depth) = (true, ROWS);
            let most = if computes { COMPUTED_COLUMNS } else { COLUMNS };
            self.width = (COLUMN_BYTES / facts.partial.max(1)).clamp(FEW, most).min(neighbours);
            if neighbours <= NARROW && !facts.has_positions {
                self.width = neighbours;
                self.folds = (WIDE / neighbours).min(len / 4).max(1);
            }
        }
    }

    /// Takes fewer results together, so that there are more units.
    pub(super) fn spread(&mut self, pieces: usize) {
        if self.folds == 1 && self.kept > 0 && self.units() < pieces {
            let each = self.sizes[self.kept - 1].div_ceil(pieces).next_multiple_of(64);
            self.width = self.width.min(each);
        }
    }

    /// The size of the last axis that is reduced over.
    fn len(&self) -> usize {
        if self.rank > self.kept { self.sizes[self.rank - 1] } else { 1 }
    }
    fn in_a_line(&self) -> usize {
        if self.kept > 0 { self.sizes[self.kept - 1].div_ceil(self.width) } else { 1 }
    }
    /// Into how many units results are divided.
    pub(super) fn units(&self) -> usize {
        self.sizes[..self.kept.saturating_sub(1)].iter().product::<usize>() * self.in_a_line()
    }
    /// The first result of a unit, as its index, and how many there are.
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
    /// Where the results of a unit go: the place of the first, and the step from each to the next.
    pub(super) fn places(&self, index: &[usize; AXES]) -> (usize, usize) {
        let first = index[..self.kept].iter().zip(self.out).map(|(index, stride)| index * stride).sum();
        (first, if self.kept > 0 { self.out[self.kept - 1] } else { 0 })
    }

    fn in_a_row(&self) -> usize {
        self.len().div_ceil(self.depth * self.folds)
    }
    /// Into how many blocks the elements of a result are divided.
    pub(super) fn blocks(&self) -> usize {
        self.sizes[self.kept..self.rank.max(self.kept + 1) - 1].iter().product::<usize>() * self.in_a_row()
    }
    /// How many blocks a thread takes at once: a power of two, so that their tree is a part of the whole one.
    pub(super) fn chunk(&self) -> usize {
        (CHUNK / (self.depth * self.folds * self.width)).next_power_of_two()
    }
    /// Puts the start of a block into the index.
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
        let most = if found.across.is_some() { (PATCH / found.len).clamp(1, SHORT) } else { BLOCKS };
        found.alike = found.alike.min(most);
        found
    }
    /// The axes of neighbouring results and of elements in a block. (One that is not there is the last, with one position.)
    pub(super) fn axes(&self) -> [usize; 2] {
        [self.kept.checked_sub(1), (self.rank > self.kept).then(|| self.rank - 1)].map(|axis| axis.unwrap_or(AXES - 1))
    }
}
