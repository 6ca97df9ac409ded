//! Between tensors and matrices in host memory: operands are split into matrices, batches broadcast, results joined.

use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::{Done, Lens, Slots, each};
use crate::cpu::factor::field::Field;
use crate::device::{Device, expect_constant};
use crate::dtype::Element;
use crate::error::{Error, Result, filled, invalid, room};
use crate::layout::dims::Dims;
use crate::layout::strides;
use crate::shape::{broadcast_sizes, numel};
use crate::tensor::checked_numel;

/// The matrices of a batch, whose results are allocated on the device of a storage. They are column-major, as PyTorch's.
pub(super) struct Batch<'a, D: Device> {
    pub(super) op: &'static str,
    beside: &'a D::Storage,
    lead: &'a [usize],
}

impl<'a, D: Device> Batch<'a, D> {
    /// For results on the device of a tensor.
    pub(super) fn beside<E: Element>(op: &'static str, x: &'a Erased<'_, E, D>, lead: &'a [usize]) -> Self {
        Batch { op, beside: x.storage(), lead }
    }

    /// Runs work for each matrix, unless the device has no data.
    pub(super) fn run<E: Field>(
        &self,
        nanoseconds: usize,
        lens: Lens,
        work: impl Fn(usize, Slots<'_, E>) -> Result<i32> + Sync,
    ) -> Result<Done<E>> {
        if !D::has_data(self.beside) {
            return Ok(Done::none());
        }
        let count = numel(self.lead).ok_or_else(|| Error::TooLarge { op: self.op, sizes: self.lead.into() })?;
        each(count, nanoseconds, lens, &work)
    }

    /// Runs work that fills one matrix each; returns the elements, and `info`.
    pub(super) fn each<E: Field>(
        &self,
        nanoseconds: usize,
        [m, n]: [usize; 2],
        work: impl Fn(usize, &mut [E]) -> Result<i32> + Sync,
    ) -> Result<(Vec<E>, Vec<i32>)> {
        let lens = Lens { own: [area(m, n), 0, 0], ..Lens::default() };
        let done = self.run::<E>(nanoseconds, lens, |at, slots| {
            let [to, ..] = slots.own;
            work(at, to)
        })?;
        let [elements, ..] = done.own;
        Ok((elements, done.info))
    }

    fn result<T: Element>(&self, elements: Vec<T>, sizes: &[usize], is_matrix: bool) -> Result<Owned<T, D>> {
        let sizes = Dims::new(self.op, sizes)?;
        checked_numel::<T>(self.op, &sizes)?;
        let (mut strides, rank) = (sizes, sizes.len());
        if is_matrix {
            strides.swap(rank - 2, rank - 1);
        }
        strides = strides.row_major();
        if is_matrix {
            strides.swap(rank - 2, rank - 1);
        }
        Ok(Erased::fresh(D::build(Some(self.beside), || Ok(elements))?, sizes, strides))
    }

    pub(super) fn matrices<T: Element>(&self, elements: Vec<T>, [m, n]: [usize; 2]) -> Result<Owned<T, D>> {
        self.result(elements, &[self.lead, &[m, n]].concat(), true)
    }
    pub(super) fn vectors<T: Element>(&self, elements: Vec<T>, len: usize) -> Result<Owned<T, D>> {
        self.result(elements, &[self.lead, &[len]].concat(), false)
    }
    pub(super) fn numbers<T: Element>(&self, elements: Vec<T>) -> Result<Owned<T, D>> {
        self.result(elements, self.lead, false)
    }
    /// An empty tensor.
    pub(super) fn nothing<T: Element>(&self) -> Result<Owned<T, D>> {
        self.result(Vec::new(), &[0], false)
    }

    /// The error for the first `info` other than 0.
    pub(super) fn check(&self, info: &[i32], text: impl Fn(i32) -> String) -> Result<()> {
        match info.iter().position(|&info| info != 0) {
            None => Ok(()),
            Some(at) if self.lead.is_empty() => invalid(self.op, text(info[at])),
            Some(at) => invalid(self.op, format!("(Batch element {at}): {}", text(info[at]))),
        }
    }
}

/// The matrices, or vectors, of an operand, in the order of the batch to which it is broadcast.
pub(super) struct Operand<E> {
    elements: Vec<E>,
    len: usize,
    /// The number of the operand's own matrix for each of the batch, if the operand is broadcast.
    places: Option<Vec<usize>>,
}

impl<E> Operand<E> {
    pub(super) fn at(&self, number: usize) -> &[E] {
        let place = self.places.as_ref().map_or(number, |places| places[number]);
        &self.elements[place * self.len..(place + 1) * self.len]
    }
}

/// The numbers of the own matrices of a broadcast operand.
fn places(own: &[usize], batch: &[usize]) -> Result<Vec<usize>> {
    let steps = strides::broadcast_list(own, &strides::row_major(own), batch);
    let mut places = room(numel(batch).unwrap_or(usize::MAX))?;
    if batch.contains(&0) {
        return Ok(places);
    }
    places.push(0);
    for (&size, &step) in batch.iter().zip(&steps) {
        let outer = core::mem::take(&mut places);
        places = room(outer.len().saturating_mul(size))?;
        places.extend(outer.iter().flat_map(|&place| (0..size).map(move |at| place + at * step)));
    }
    Ok(places)
}

impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Leading axes, rows and columns.
    pub(super) fn split_matrices(&self, op: &'static str) -> Result<(&[usize], [usize; 2])> {
        match self.sizes().split_last_chunk::<2>() {
            Some((lead, &matrix)) => Ok((lead, matrix)),
            None => invalid(op, "the input tensor A must have at least 2 dimensions".to_owned()),
        }
    }

    /// [`split_matrices`](Self::split_matrices) of square matrices.
    pub(super) fn split_squares(&self, op: &'static str) -> Result<(&[usize], usize)> {
        match self.split_matrices(op)? {
            (lead, [m, n]) if m == n => Ok((lead, n)),
            (_, [m, n]) => {
                invalid(op, format!("A must be batches of square matrices, but they are {m} by {n} matrices"))
            }
        }
    }

    /// A batch for results of these matrices, their elements, and their sizes.
    pub(super) fn as_matrices(&self, op: &'static str) -> Result<(Batch<'_, D>, Operand<E>, [usize; 2])> {
        let (lead, matrix) = self.split_matrices(op)?;
        Ok((Batch::beside(op, self, lead), self.matrices_of(op, lead)?, matrix))
    }

    /// [`as_matrices`](Self::as_matrices) of square matrices.
    pub(super) fn as_squares(&self, op: &'static str) -> Result<(Batch<'_, D>, Operand<E>, usize)> {
        self.split_squares(op)?;
        self.as_matrices(op).map(|(batch, a, [n, _])| (batch, a, n))
    }

    /// The elements of matrices broadcast to a batch, column-major.
    ///
    /// # Errors
    /// If a tape records them: what has a derivative is a [`Primitive`](crate::composite::primitive::Primitive), or composed.
    pub(super) fn matrices_of(&self, op: &'static str, batch: &[usize]) -> Result<Operand<E>> {
        expect_constant(op, D::is_tracked(self.storage()))?;
        self.constant_matrices_of(batch)
    }

    /// [`matrices_of`](Self::matrices_of), for results that have no gradient.
    pub(super) fn constant_matrices_of(&self, batch: &[usize]) -> Result<Operand<E>> {
        self.operand(batch, 2)
    }

    /// [`matrices_of`](Self::matrices_of) for vectors.
    pub(super) fn vectors_of(&self, op: &'static str, batch: &[usize]) -> Result<Operand<E>> {
        expect_constant(op, D::is_tracked(self.storage()))?;
        self.operand(batch, 1)
    }

    fn operand(&self, batch: &[usize], axes: usize) -> Result<Operand<E>> {
        let x = self.view();
        let lead = self.rank() - axes;
        let len = x.sizes[lead..].iter().fold(1, |len, &size| area(len, size));
        if !D::has_data(x.buffer) {
            return Ok(Operand { elements: Vec::new(), len, places: None });
        }
        let (mut sizes, mut steps) = (Dims::known(x.sizes), Dims::known(x.strides));
        if axes == 2 {
            sizes.swap(lead, lead + 1);
            steps.swap(lead, lead + 1);
        }
        let elements = D::download(x.restrided(&sizes, &steps))?;
        let own = &x.sizes[..lead];
        let places = if own == batch { None } else { Some(places(own, batch)?) };
        Ok(Operand { elements, len, places })
    }
}

/// The number of elements of a matrix. It saturates; memory cannot hold such a matrix either.
pub(super) fn area(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns)
}

/// A rough estimate of the work for matrices of these sizes.
pub(super) fn cost(sizes: [usize; 3]) -> usize {
    sizes.iter().fold(1_usize, |product, &size| product.saturating_mul(size)) / 2 + 200
}

/// The batch that two batches broadcast to.
pub(super) fn common(op: &'static str, a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    let mut batch = filled(1, a.len().max(b.len()))?;
    if broadcast_sizes(a, b, &mut batch) {
        Ok(batch)
    } else {
        Err(Error::Broadcast { op, lhs: a.into(), rhs: b.into() })
    }
}
