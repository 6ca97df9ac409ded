//! What one rank has of a tensor, without types of shapes: the moves between placements are written here once, over sizes that are values.

use crate::engine::{Line, Reduce, Wire, add, blank, room};
use crate::error::{Error, Result};
use crate::mesh::{Mesh, block};
use crate::place::MeshAxes;
use core::ops::Range;
use std::borrow::Cow;

/// What is beyond the first and the last element of a cut axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edge {
    /// Nothing: the blocks at the ends have neighbours on one side only.
    None,
    /// Zeros.
    Zeros,
    /// The other end.
    Periodic,
}

/// A move of elements between ranks.
#[derive(Clone, Copy, Debug)]
// (Some are only ways back.)
#[cfg_attr(not(feature = "grad"), allow(dead_code))]
pub(crate) enum Step {
    /// What the ranks along an axis of the mesh have parts of, for all of them.
    Reduce { along: usize, op: Reduce },
    /// The same, a block of an axis for each.
    Scatter { axis: usize, along: usize, op: Reduce },
    /// The whole of an axis for all.
    Gather { axis: usize },
    /// A block of an axis that all have; nothing is sent.
    Split { axis: usize, along: usize },
    /// The whole of an axis, zero but for the rank's own block; nothing is sent.
    Pad { axis: usize },
    /// The whole of one axis, a block of another.
    Exchange { gathered: usize, cut: usize },
    /// A block with elements of its neighbours.
    Halo { axis: usize, width: [usize; 2], edge: Edge },
    /// Elements of neighbours, added to theirs.
    FoldHalo { axis: usize, width: [usize; 2], edge: Edge },
}

impl Step {
    /// What goes back where a gradient comes back: all moves are linear, and this is the transpose. `cuts` are those before the step.
    #[cfg(feature = "grad")]
    pub fn transposed(self, cuts: &[Option<usize>]) -> Option<Step> {
        Some(match self {
            Step::Reduce { op: Reduce::Sum, .. } => self,
            Step::Scatter { axis, op: Reduce::Sum, .. } => Step::Gather { axis },
            Step::Gather { axis } => Step::Scatter { axis, along: cuts[axis]?, op: Reduce::Sum },
            Step::Split { axis, .. } => Step::Pad { axis },
            Step::Pad { axis } => Step::Split { axis, along: cuts[axis]? },
            Step::Exchange { gathered, cut } => Step::Exchange { gathered: cut, cut: gathered },
            Step::Halo { axis, width, edge } => Step::FoldHalo { axis, width, edge },
            Step::FoldHalo { axis, width, edge } => Step::Halo { axis, width, edge },
            // The largest of parts has none here.
            Step::Reduce { .. } | Step::Scatter { .. } => return None,
        })
    }
}

/// The moves from one placement to another: what is cut anew is cut first, since nothing is sent for it; a cut that moves from one axis to
/// another does so by one exchange; the rest is gathered.
pub(crate) fn plan(from: &[Option<usize>], to: &[Option<usize>], mesh_axes: usize) -> Vec<Step> {
    let position = |cuts: &[Option<usize>], along: usize| cuts.iter().position(|&cut| cut == Some(along));
    let (mut cuts, mut steps) = (from.to_vec(), Vec::new());
    loop {
        let (before, mut stuck) = (steps.len(), None);
        for along in 0..mesh_axes {
            match (position(&cuts, along), position(to, along)) {
                (None, Some(axis)) if cuts[axis].is_none() => {
                    cuts[axis] = Some(along);
                    steps.push(Step::Split { axis, along });
                }
                (Some(gathered), Some(cut)) if gathered != cut && cuts[cut].is_none() => {
                    (cuts[gathered], cuts[cut]) = (None, Some(along));
                    steps.push(Step::Exchange { gathered, cut });
                }
                (Some(axis), target) if target != Some(axis) => stuck = Some(axis),
                _ => {}
            }
        }
        match stuck {
            _ if steps.len() > before => {}
            Some(axis) => {
                cuts[axis] = None;
                steps.push(Step::Gather { axis });
            }
            None => return steps,
        }
    }
}

/// How the elements that a rank has lie in the whole.
#[derive(Clone, Debug)]
pub(crate) struct Where {
    /// The sizes of all ranks together.
    pub whole: Vec<usize>,
    /// The axis of the mesh along which each axis is cut.
    pub cuts: Vec<Option<usize>>,
    /// Axes along which the block has elements of its neighbours, too, and how many.
    pub halos: Vec<(usize, usize)>,
}

impl Where {
    /// After a step.
    #[cfg(feature = "grad")]
    pub fn follow(&mut self, step: Step) {
        match step {
            Step::Reduce { .. } => {}
            Step::Scatter { axis, along, .. } | Step::Split { axis, along } => self.cuts[axis] = Some(along),
            Step::Gather { axis } | Step::Pad { axis } => self.cuts[axis] = None,
            Step::Exchange { gathered, cut } => (self.cuts[cut], self.cuts[gathered]) = (self.cuts[gathered], None),
            // (How many a rank at an end has is known when they are there.)
            Step::Halo { axis, edge: Edge::None, .. } => self.halos.push((axis, 0)),
            Step::Halo { axis, width, .. } => self.halos.push((axis, width[0] + width[1])),
            Step::FoldHalo { axis, .. } => self.halos.retain(|halo| halo.0 != axis),
        }
    }

    /// The sizes of what this rank has.
    pub fn sizes<X: MeshAxes>(&self, mesh: &Mesh<X>) -> Vec<usize> {
        let mut sizes: Vec<usize> = ranges(mesh, &self.whole, &self.cuts).iter().map(Range::len).collect();
        self.halos.iter().for_each(|&(axis, added)| sizes[axis] += added);
        sizes
    }
}

/// The elements that a rank has, row by row.
pub(crate) struct Block<'a, E: Clone> {
    pub elements: Cow<'a, [E]>,
    pub at: Where,
}

impl<E: Wire> Block<'_, E> {
    fn ranges<X: MeshAxes>(&self, mesh: &Mesh<X>) -> Vec<Range<usize>> {
        ranges(mesh, &self.at.whole, &self.at.cuts)
    }
    fn sizes<X: MeshAxes>(&self, mesh: &Mesh<X>) -> Vec<usize> {
        self.at.sizes(mesh)
    }

    /// What the step makes of the block.
    #[track_caller]
    pub fn step<X: MeshAxes>(mut self, step: Step, mesh: &Mesh<X>) -> Result<Self> {
        match step {
            Step::Reduce { along, op } => {
                mesh.reduce_in_place(mesh.line_at(along), "all_reduce", self.elements.to_mut(), op)?;
                Ok(self)
            }
            Step::Scatter { axis, along, op } => self.reduce_scatter(axis, along, op, mesh),
            Step::Gather { axis } => self.gather(axis, mesh),
            Step::Split { axis, along } => self.split(axis, along, mesh),
            Step::Pad { axis } => self.pad(axis, mesh),
            Step::Exchange { gathered, cut } => self.exchange(gathered, cut, mesh),
            Step::Halo { axis, width, edge } => self.with_halo(axis, width, edge, mesh),
            Step::FoldHalo { axis, width, edge } => self.fold_halo(axis, width, edge, mesh),
        }
    }

    /// Every rank has the whole axis.
    #[track_caller]
    fn gather<X: MeshAxes>(mut self, axis: usize, mesh: &Mesh<X>) -> Result<Self> {
        let Some(line) = self.at.cuts[axis].map(|at| mesh.line_at(at)) else { return Ok(self) };
        let mut sizes = self.sizes(mesh);
        let of_rank = |rank: usize| block(self.at.whole[axis], rank, line.size);
        let each = across(&sizes, axis);
        let counts: Vec<usize> = (0..line.size).map(|rank| of_rank(rank).len() * each).collect();
        let all = mesh.gather(line, &self.elements, &counts)?;
        if sizes[..axis].iter().all(|&size| size == 1) {
            self.elements = all.into();
        } else {
            let mut whole = sizes.clone();
            whole[axis] = self.at.whole[axis];
            let mut elements = blank(whole.iter().product())?;
            let (mut rest, mut at) = (&all[..], vec![0; sizes.len()]);
            for (rank, &count) in counts.iter().enumerate() {
                let range = of_rank(rank);
                (sizes[axis], at[axis]) = (range.len(), range.start);
                let (from, others) = rest.split_at(count);
                copy_box(&sizes, from, &sizes, &vec![0; sizes.len()], &mut elements, &whole, &at);
                rest = others;
            }
            self.elements = elements.into();
        }
        self.at.cuts[axis] = None;
        Ok(self)
    }

    /// Keeps this rank's part of an axis that it has whole.
    fn split<X: MeshAxes>(mut self, axis: usize, along: usize, mesh: &Mesh<X>) -> Result<Self> {
        let sizes = self.sizes(mesh);
        self.at.cuts[axis] = Some(along);
        let ranges = self.ranges(mesh);
        let mut start = vec![0; sizes.len()];
        start[axis] = ranges[axis].start;
        let own: Vec<usize> = ranges.iter().map(Range::len).collect();
        self.elements = taken(&self.elements, &sizes, &start, &own)?.into();
        Ok(self)
    }

    /// The whole axis, zero but for this rank's block.
    fn pad<X: MeshAxes>(mut self, axis: usize, mesh: &Mesh<X>) -> Result<Self> {
        let (ranges, own) = (self.ranges(mesh), self.sizes(mesh));
        self.at.cuts[axis] = None;
        let mut start = vec![0; own.len()];
        start[axis] = ranges[axis].start;
        let whole = self.sizes(mesh);
        let mut elements = blank(whole.iter().product())?;
        copy_box(&own, &self.elements, &own, &vec![0; own.len()], &mut elements, &whole, &start);
        self.elements = elements.into();
        Ok(self)
    }

    /// An axis is put together, and another, which was whole, is cut in its place.
    #[track_caller]
    fn exchange<X: MeshAxes>(mut self, gathered: usize, cut: usize, mesh: &Mesh<X>) -> Result<Self> {
        let along = self.at.cuts[gathered].expect("an axis that is cut");
        let line = mesh.line_at(along);
        let sizes = self.sizes(mesh);
        let (mut packed, mut out) = (room(self.elements.len())?, Vec::new());
        for rank in 0..line.size {
            let (mut start, mut own) = (vec![0; sizes.len()], sizes.clone());
            let range = block(self.at.whole[cut], rank, line.size);
            (start[cut], own[cut]) = (range.start, range.len());
            packed.extend(taken(&self.elements, &sizes, &start, &own)?);
            out.push(own.iter().product());
        }
        (self.at.cuts[gathered], self.at.cuts[cut]) = (None, Some(along));
        let whole = self.sizes(mesh);
        let from = |rank: usize| {
            let (mut start, mut own) = (vec![0; sizes.len()], whole.clone());
            let range = block(self.at.whole[gathered], rank, line.size);
            (start[gathered], own[gathered]) = (range.start, range.len());
            (start, own)
        };
        let inn: Vec<usize> = (0..line.size).map(|rank| from(rank).1.iter().product()).collect();
        let received = mesh.exchange(line, &packed, &out, &inn)?;
        let mut elements = blank(whole.iter().product())?;
        let mut rest = &received[..];
        for (rank, &count) in inn.iter().enumerate() {
            let (start, own) = from(rank);
            let (part, others) = rest.split_at(count);
            copy_box(&own, part, &own, &vec![0; own.len()], &mut elements, &whole, &start);
            rest = others;
        }
        self.elements = elements.into();
        Ok(self)
    }

    /// Puts together what ranks have parts of; each keeps a block of an axis.
    #[track_caller]
    fn reduce_scatter<X: MeshAxes>(mut self, axis: usize, along: usize, op: Reduce, mesh: &Mesh<X>) -> Result<Self> {
        let line = mesh.line_at(along);
        let sizes = self.sizes(mesh);
        let each = across(&sizes, axis);
        let counts: Vec<usize> =
            (0..line.size).map(|rank| block(self.at.whole[axis], rank, line.size).len() * each).collect();
        if !sizes[..axis].iter().all(|&size| size == 1) {
            let mut packed = room(self.elements.len())?;
            for rank in 0..line.size {
                let (mut start, mut own) = (vec![0; sizes.len()], sizes.clone());
                let range = block(self.at.whole[axis], rank, line.size);
                (start[axis], own[axis]) = (range.start, range.len());
                packed.extend(taken(&self.elements, &sizes, &start, &own)?);
            }
            self.elements = packed.into();
        }
        self.elements = mesh.scatter_reduced(line, &self.elements, &counts, op)?.into();
        self.at.cuts[axis] = Some(along);
        Ok(self)
    }

    /// The block with `before` and `after` elements of its neighbours along a cut axis.
    #[track_caller]
    fn with_halo<X: MeshAxes>(mut self, axis: usize, width: [usize; 2], edge: Edge, mesh: &Mesh<X>) -> Result<Self> {
        let [before, after] = width;
        let along = self.at.cuts[axis].expect("an axis that is cut");
        let line = mesh.line_at(along);
        let smallest = self.at.whole[axis] / line.size;
        if smallest < before.max(after) {
            return Err(Error::Arguments(format!(
                "with_halo: a block of {smallest} of the axis' {} elements has no {} for a neighbour: use fewer ranks or a smaller halo",
                self.at.whole[axis],
                before.max(after),
            )));
        }
        let sizes = self.sizes(mesh);
        let rows = |start: usize, len: usize| slab(&self.elements, &sizes, axis, start, len);
        let each = across(&sizes, axis);
        let [from_before, from_after] = sent(line, width, edge);
        let [lower, upper] = mesh.neighbours(
            line,
            &rows(0, after)?,
            &rows(sizes[axis] - before, before)?,
            from_before * each,
            from_after * each,
            edge == Edge::Periodic,
        )?;
        let filled = |len: usize, wanted: usize, elements: Vec<E>| match edge {
            Edge::Zeros if len < wanted => Ok((wanted, blank(wanted * each)?)),
            _ => Result::Ok((len, elements)),
        };
        let (before, lower) = filled(from_before, before, lower)?;
        let (after, upper) = filled(from_after, after, upper)?;
        let mut wide = sizes.clone();
        wide[axis] += before + after;
        let mut elements = blank(wide.iter().product())?;
        let mut start = vec![0; sizes.len()];
        for (part, len) in [(&lower[..], before), (&self.elements, sizes[axis]), (&upper, after)] {
            let mut own = sizes.clone();
            own[axis] = len;
            copy_box(&own, part, &own, &vec![0; own.len()], &mut elements, &wide, &start);
            start[axis] += len;
        }
        self.elements = elements.into();
        self.at.halos.push((axis, before + after));
        Ok(self)
    }

    /// The transpose: what neighbours' elements have is added to theirs.
    #[track_caller]
    fn fold_halo<X: MeshAxes>(mut self, axis: usize, width: [usize; 2], edge: Edge, mesh: &Mesh<X>) -> Result<Self> {
        let [before, after] = width;
        let line = mesh.line_at(self.at.cuts[axis].expect("an axis that is cut"));
        self.at.halos.retain(|halo| halo.0 != axis);
        let own = self.sizes(mesh);
        let each = across(&own, axis);
        let mut wide = own.clone();
        wide[axis] = self.elements.len() / each.max(1);
        let [from_before, from_after] = sent(line, width, edge);
        let lower = if edge == Edge::Zeros { before } else { from_before };
        let received = mesh.neighbours(
            line,
            &slab(&self.elements, &wide, axis, lower - from_before, from_before)?,
            &slab(&self.elements, &wide, axis, lower + own[axis], from_after)?,
            sent(line, [after, 0], edge)[0] * each,
            sent(line, [0, before], edge)[1] * each,
            edge == Edge::Periodic,
        )?;
        let mut elements = slab(&self.elements, &wide, axis, lower, own[axis])?;
        for (part, start) in [(&received[0], 0), (&received[1], own[axis] - before)] {
            let len = part.len() / each.max(1);
            if len == 0 {
                continue;
            }
            let mut sums = slab(&elements, &own, axis, start, len)?;
            add(&mut sums, part)?;
            let (mut at, mut lens) = (vec![0; own.len()], own.clone());
            (at[axis], lens[axis]) = (start, len);
            copy_box(&lens, &sums, &lens, &vec![0; lens.len()], &mut elements, &own, &at);
        }
        self.elements = elements.into();
        Ok(self)
    }
}

/// How many elements along an axis come from the rank before and the one after.
fn sent(line: Line, [before, after]: [usize; 2], edge: Edge) -> [usize; 2] {
    let (is_first, is_last, periodic) = (line.rank == 0, line.rank + 1 == line.size, edge == Edge::Periodic);
    [if is_first && !periodic { 0 } else { before }, if is_last && !periodic { 0 } else { after }]
}

/// The number of elements for each place along an axis.
pub(crate) fn across(sizes: &[usize], axis: usize) -> usize {
    sizes.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &size)| size).product()
}

/// A part of an axis.
pub(crate) fn slab<E: Wire>(from: &[E], sizes: &[usize], axis: usize, start: usize, len: usize) -> Result<Vec<E>> {
    let (mut at, mut own) = (vec![0; sizes.len()], sizes.to_vec());
    (at[axis], own[axis]) = (start, len);
    taken(from, sizes, &at, &own)
}

/// The part of each axis that this rank has.
pub(crate) fn ranges<X: MeshAxes>(mesh: &Mesh<X>, whole: &[usize], cuts: &[Option<usize>]) -> Vec<Range<usize>> {
    mesh.shared().ranges(whole, cuts)
}

/// A box of these lengths out of a dense array.
pub(crate) fn taken<E: Wire>(from: &[E], sizes: &[usize], start: &[usize], lens: &[usize]) -> Result<Vec<E>> {
    let mut to = blank(lens.iter().product())?;
    copy_box(lens, from, sizes, start, &mut to, lens, &vec![0; lens.len()]);
    Ok(to)
}

/// Copies a box of these lengths from a place in one dense array to a place in another.
pub(crate) fn copy_box<E: Copy>(
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
