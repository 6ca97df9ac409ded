//! What one rank has of a tensor, without types of shapes: the moves between placements are written here once, over sizes that are values.

use crate::engine::{Reduce, Wire};
use crate::error::{Error, Result};
use crate::mesh::{Mesh, block};
use crate::place::MeshAxes;
use core::ops::Range;

/// What is beyond the first and the last element of a cut axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Nothing: the blocks at the ends have neighbours on one side only.
    None,
    /// Zeros.
    Zeros,
    /// The other end.
    Periodic,
}

/// The elements that a rank has, row by row, and how they lie in the whole.
pub(crate) struct Block<E> {
    pub elements: Vec<E>,
    /// Of all ranks together.
    pub whole: Vec<usize>,
    /// The axis of the mesh along which each axis is cut.
    pub cuts: Vec<Option<usize>>,
}

impl<E: Wire> Block<E> {
    /// The part of each axis that this rank has.
    pub fn ranges<X: MeshAxes>(&self, mesh: &Mesh<X>) -> Vec<Range<usize>> {
        ranges(mesh, &self.whole, &self.cuts)
    }
    pub fn sizes<X: MeshAxes>(&self, mesh: &Mesh<X>) -> Vec<usize> {
        self.ranges(mesh).iter().map(Range::len).collect()
    }

    /// Every rank has the whole axis.
    #[track_caller]
    pub fn gather<X: MeshAxes>(mut self, axis: usize, mesh: &Mesh<X>) -> Result<Self> {
        let Some(line) = self.cuts[axis].map(|at| mesh.line_at(at)) else { return Ok(self) };
        let mut sizes = self.sizes(mesh);
        let of_rank = |rank: usize| block(self.whole[axis], rank, line.size);
        let each: usize = sizes.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &size)| size).product();
        let counts: Vec<usize> = (0..line.size).map(|rank| of_rank(rank).len() * each).collect();
        let all = mesh.gather(line, &self.elements, &counts)?;
        if sizes[..axis].iter().all(|&size| size == 1) {
            self.elements = all;
        } else {
            let mut whole = sizes.clone();
            whole[axis] = self.whole[axis];
            let mut elements = vec![E::default(); whole.iter().product()];
            let (mut rest, mut at) = (&all[..], vec![0; sizes.len()]);
            for rank in 0..line.size {
                let range = of_rank(rank);
                (sizes[axis], at[axis]) = (range.len(), range.start);
                let (from, others) = rest.split_at(counts[rank]);
                copy_box(&sizes, from, &sizes, &vec![0; sizes.len()], &mut elements, &whole, &at);
                rest = others;
            }
            self.elements = elements;
        }
        self.cuts[axis] = None;
        Ok(self)
    }

    /// Keeps this rank's part of an axis that it has whole.
    pub fn split<X: MeshAxes>(mut self, axis: usize, along: usize, mesh: &Mesh<X>) -> Self {
        let sizes = self.sizes(mesh);
        self.cuts[axis] = Some(along);
        let ranges = self.ranges(mesh);
        let mut start = vec![0; sizes.len()];
        start[axis] = ranges[axis].start;
        let own: Vec<usize> = ranges.iter().map(Range::len).collect();
        self.elements = taken(&self.elements, &sizes, &start, &own);
        self
    }

    /// An axis is put together, and another, which was whole, is cut in its place.
    #[track_caller]
    pub fn exchange<X: MeshAxes>(mut self, gathered: usize, cut: usize, mesh: &Mesh<X>) -> Result<Self> {
        let along = self.cuts[gathered].expect("an axis that is cut");
        let line = mesh.line_at(along);
        let sizes = self.sizes(mesh);
        let (mut packed, mut out) = (Vec::with_capacity(self.elements.len()), Vec::new());
        for rank in 0..line.size {
            let (mut start, mut own) = (vec![0; sizes.len()], sizes.clone());
            let range = block(self.whole[cut], rank, line.size);
            (start[cut], own[cut]) = (range.start, range.len());
            packed.extend(taken(&self.elements, &sizes, &start, &own));
            out.push(own.iter().product());
        }
        (self.cuts[gathered], self.cuts[cut]) = (None, Some(along));
        let whole = self.sizes(mesh);
        let from = |rank: usize| {
            let (mut start, mut own) = (vec![0; sizes.len()], whole.clone());
            let range = block(self.whole[gathered], rank, line.size);
            (start[gathered], own[gathered]) = (range.start, range.len());
            (start, own)
        };
        let inn: Vec<usize> = (0..line.size).map(|rank| from(rank).1.iter().product()).collect();
        let received = mesh.exchange(line, &packed, &out, &inn)?;
        let mut elements = vec![E::default(); whole.iter().product()];
        let mut rest = &received[..];
        for rank in 0..line.size {
            let (start, own) = from(rank);
            let (part, others) = rest.split_at(inn[rank]);
            copy_box(&own, part, &own, &vec![0; own.len()], &mut elements, &whole, &start);
            rest = others;
        }
        self.elements = elements;
        Ok(self)
    }

    /// Puts together what ranks have parts of; each keeps a block of an axis.
    #[track_caller]
    pub fn reduce_scatter<X: MeshAxes>(
        mut self,
        axis: usize,
        along: usize,
        op: Reduce,
        mesh: &Mesh<X>,
    ) -> Result<Self> {
        let line = mesh.line_at(along);
        let sizes = self.sizes(mesh);
        let each: usize = sizes.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &size)| size).product();
        let counts: Vec<usize> =
            (0..line.size).map(|rank| block(self.whole[axis], rank, line.size).len() * each).collect();
        if !sizes[..axis].iter().all(|&size| size == 1) {
            let mut packed = Vec::with_capacity(self.elements.len());
            for rank in 0..line.size {
                let (mut start, mut own) = (vec![0; sizes.len()], sizes.clone());
                let range = block(self.whole[axis], rank, line.size);
                (start[axis], own[axis]) = (range.start, range.len());
                packed.extend(taken(&self.elements, &sizes, &start, &own));
            }
            self.elements = packed;
        }
        self.elements = mesh.scatter_reduced(line, &self.elements, &counts, op)?;
        self.cuts[axis] = Some(along);
        Ok(self)
    }

    /// From any placement to any other: what is cut anew is cut first, since nothing is sent for it; axes that change places do so by one
    /// exchange; the rest is gathered.
    #[track_caller]
    pub fn redistribute<X: MeshAxes>(mut self, to: &[Option<usize>], mesh: &Mesh<X>) -> Result<Self> {
        let position = |cuts: &[Option<usize>], along: usize| cuts.iter().position(|&cut| cut == Some(along));
        loop {
            let mut stuck = None;
            let mut moved = false;
            for along in 0..X::NAMES.len() {
                let (from, target) = (position(&self.cuts, along), position(to, along));
                match (from, target) {
                    (None, Some(axis)) if self.cuts[axis].is_none() => {
                        (self, moved) = (self.split(axis, along, mesh), true)
                    }
                    (Some(axis), Some(other)) if axis != other && self.cuts[other].is_none() => {
                        (self, moved) = (self.exchange(axis, other, mesh)?, true);
                    }
                    (Some(axis), target) if target != Some(axis) => stuck = Some(axis),
                    _ => {}
                }
            }
            match stuck {
                _ if moved => {}
                Some(axis) => self = self.gather(axis, mesh)?,
                None => return Ok(self),
            }
        }
    }

    /// The block with `before` and `after` elements of its neighbours along a cut axis, and how many of each there are.
    #[track_caller]
    pub fn with_halo<X: MeshAxes>(
        self,
        axis: usize,
        [before, after]: [usize; 2],
        edge: Edge,
        mesh: &Mesh<X>,
    ) -> Result<(Self, [usize; 2])> {
        let along = self.cuts[axis].expect("an axis that is cut");
        let line = mesh.line_at(along);
        let smallest = self.whole[axis] / line.size;
        if smallest < before.max(after) {
            return Err(Error::Arguments(format!(
                "with_halo: a block of {smallest} of the axis' {} elements has no {} for a neighbour: use fewer ranks or a smaller halo",
                self.whole[axis],
                before.max(after),
            )));
        }
        let sizes = self.sizes(mesh);
        let rows = |start: usize, len: usize| {
            let (mut at, mut own) = (vec![0; sizes.len()], sizes.clone());
            (at[axis], own[axis]) = (start, len);
            taken(&self.elements, &sizes, &at, &own)
        };
        let each: usize = sizes.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &size)| size).product();
        let (is_first, is_last, periodic) = (line.rank == 0, line.rank + 1 == line.size, edge == Edge::Periodic);
        let from_before = if is_first && !periodic { 0 } else { before };
        let from_after = if is_last && !periodic { 0 } else { after };
        let received = mesh.neighbours(
            line,
            &rows(0, after),
            &rows(sizes[axis] - before, before),
            from_before * each,
            from_after * each,
            periodic,
        )?;
        let filled = |len: usize, wanted: usize, elements: Vec<E>| match edge {
            Edge::Zeros if len < wanted => (wanted, vec![E::default(); wanted * each]),
            _ => (len, elements),
        };
        let [lower, upper] = received;
        let (before, lower) = filled(from_before, before, lower);
        let (after, upper) = filled(from_after, after, upper);
        let mut wide = sizes.clone();
        wide[axis] += before + after;
        let mut elements = vec![E::default(); wide.iter().product()];
        let mut start = vec![0; sizes.len()];
        for (part, len) in [(&lower, before), (&self.elements, sizes[axis]), (&upper, after)] {
            let mut own = sizes.clone();
            own[axis] = len;
            copy_box(&own, part, &own, &vec![0; own.len()], &mut elements, &wide, &start);
            start[axis] += len;
        }
        Ok((Block { elements, ..self }, [before, after]))
    }
}

/// The part of each axis that this rank has.
pub(crate) fn ranges<X: MeshAxes>(mesh: &Mesh<X>, whole: &[usize], cuts: &[Option<usize>]) -> Vec<Range<usize>> {
    let part = |(&size, cut): (&usize, &Option<usize>)| match cut.map(|along| mesh.line_at(along)) {
        Some(line) => block(size, line.rank, line.size),
        None => 0..size,
    };
    whole.iter().zip(cuts).map(part).collect()
}

/// A box of these lengths out of a dense array.
fn taken<E: Copy + Default>(from: &[E], sizes: &[usize], start: &[usize], lens: &[usize]) -> Vec<E> {
    let mut to = vec![E::default(); lens.iter().product()];
    copy_box(lens, from, sizes, start, &mut to, lens, &vec![0; lens.len()]);
    to
}

/// Copies a box of these lengths from a place in one dense array to a place in another.
fn copy_box<E: Copy>(
    lens: &[usize],
    from: &[E],
    from_sizes: &[usize],
    from_start: &[usize],
    to: &mut [E],
    to_sizes: &[usize],
    to_start: &[usize],
) {
    if lens.contains(&0) {
        return;
    }
    // Axes that the box has whole on both sides are one run with the axis before them.
    let mut inner = lens.len();
    let mut run = 1;
    while inner > 0 && lens[inner - 1] == from_sizes[inner - 1] && lens[inner - 1] == to_sizes[inner - 1] {
        inner -= 1;
        run *= lens[inner];
    }
    let place = |sizes: &[usize], at: &[usize]| sizes.iter().zip(at).fold(0, |place, (size, at)| place * size + at);
    let (mut from_at, mut to_at) = (from_start.to_vec(), to_start.to_vec());
    if inner > 0 {
        run *= lens[inner - 1];
    }
    let rows: usize = lens[..inner.saturating_sub(1)].iter().product();
    for row in 0..rows {
        let mut rest = row;
        for axis in (0..inner.saturating_sub(1)).rev() {
            (from_at[axis], to_at[axis]) = (from_start[axis] + rest % lens[axis], to_start[axis] + rest % lens[axis]);
            rest /= lens[axis];
        }
        let (from_place, to_place) = (place(from_sizes, &from_at), place(to_sizes, &to_at));
        to[to_place..to_place + run].copy_from_slice(&from[from_place..from_place + run]);
    }
}
