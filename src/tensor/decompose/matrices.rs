//! Between tensors and matrices in host memory: operands taken apart, batches broadcast, results put together.
//! Uses `device`, `cpu::factor`; used by the operations of this folder.

use crate::cpu::factor::batch::{Done, Lens, Slots, each};
use crate::cpu::factor::field::Field;
use crate::device::{Backend, Device};
use crate::dtype::Element;
use crate::error::{Error, Result, filled, invalid, room};
use crate::layout::strides;
use crate::shape::{Shape, SizeArray, broadcast_sizes, numel};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel, expect_fit};

/// A result: matrices stand column by column, as PyTorch's do.
pub(crate) struct Part<D: Backend> {
    pub(crate) storage: D::Storage,
    pub(crate) sizes: Vec<usize>,
    pub(crate) strides: Vec<usize>,
}

impl<D: Device> Part<D> {
    /// The tensor of a shape that the types found.
    pub(crate) fn typed<E: Element, S: Shape>(self, op: &'static str) -> Result<Tensor<E, S, D>> {
        if self.sizes.len() != S::RANK {
            return invalid(op, format!("the result has {} axes, its type {}", self.sizes.len(), S::RANK));
        }
        expect_fit::<S>(op, &self.sizes)?;
        Ok(Tensor::from_parts(self.storage, 0, S::Sizes::copied(&self.sizes), S::Sizes::copied(&self.strides)))
    }
}

/// Results of one batch, which are made beside a storage.
pub(crate) struct Results<'a, D: Backend> {
    pub(crate) op: &'static str,
    pub(crate) beside: &'a D::Storage,
    pub(crate) batch: &'a [usize],
}

impl<D: Backend> Results<'_, D> {
    fn part<T: Element>(&self, elements: Vec<T>, sizes: Vec<usize>, strides: Vec<usize>) -> Result<Part<D>> {
        checked_numel::<T>(self.op, &sizes)?;
        let storage = D::build(Some(self.beside), || Ok(elements))?;
        Ok(Part { storage, sizes, strides })
    }

    /// Matrices.
    pub(crate) fn matrices<T: Element>(&self, elements: Vec<T>, [m, n]: [usize; 2]) -> Result<Part<D>> {
        let mut strides = strides::row_major(&[self.batch, &[n, m]].concat());
        let rank = strides.len();
        strides.swap(rank - 2, rank - 1);
        self.part(elements, [self.batch, &[m, n]].concat(), strides)
    }

    /// Vectors.
    pub(crate) fn vectors<T: Element>(&self, elements: Vec<T>, len: usize) -> Result<Part<D>> {
        let sizes = [self.batch, &[len]].concat();
        let strides = strides::row_major(&sizes);
        self.part(elements, sizes, strides)
    }

    /// Numbers.
    pub(crate) fn numbers<T: Element>(&self, elements: Vec<T>) -> Result<Part<D>> {
        self.part(elements, self.batch.to_owned(), strides::row_major(self.batch))
    }

    /// A tensor of no elements.
    pub(crate) fn nothing<T: Element>(&self) -> Result<Part<D>> {
        self.part(Vec::<T>::new(), vec![0], vec![1])
    }

    /// The error that a first `info` other than 0 stands for.
    pub(crate) fn check(&self, info: &[i32], text: impl Fn(i32) -> String) -> Result<()> {
        match info.iter().position(|&info| info != 0) {
            None => Ok(()),
            Some(at) if self.batch.is_empty() => invalid(self.op, text(info[at])),
            Some(at) => invalid(self.op, format!("(Batch element {at}): {}", text(info[at]))),
        }
    }
}

/// The matrices, or vectors, of an operand, in the order of the batch that it is broadcast to.
pub(crate) struct Operand<E> {
    elements: Vec<E>,
    len: usize,
    /// Which matrix each of the batch is, where that is not its own number.
    places: Option<Vec<usize>>,
}

impl<E> Operand<E> {
    pub(crate) fn at(&self, number: usize) -> &[E] {
        let place = self.places.as_ref().map_or(number, |places| places[number]);
        &self.elements[place * self.len..(place + 1) * self.len]
    }
}

/// The numbers of an operand's own matrices where it is broadcast.
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

/// The elements of an operand, broadcast to a batch; of matrices (`axes` 2) column by column.
pub(crate) fn operand<E: Element, D: Backend>(
    x: View<'_, D::Storage, E>,
    batch: &[usize],
    axes: usize,
) -> Result<Operand<E>> {
    let lead = x.sizes.len() - axes;
    let len = x.sizes[lead..].iter().fold(1, |len, &size| area(len, size));
    if !D::has_data(x.buffer) {
        return Ok(Operand { elements: Vec::new(), len, places: None });
    }
    let (mut sizes, mut steps) = (x.sizes.to_owned(), x.strides.to_owned());
    if axes == 2 {
        sizes.swap(lead, lead + 1);
        steps.swap(lead, lead + 1);
    }
    let elements = D::download(x.restrided(&sizes, &steps))?;
    let own = &x.sizes[..lead];
    let places = if own == batch { None } else { Some(places(own, batch)?) };
    Ok(Operand { elements, len, places })
}

/// [`each`] matrix of a batch, where there are data.
pub(crate) fn run<E: Field, D: Backend>(
    results: &Results<'_, D>,
    nanoseconds: usize,
    lens: Lens,
    work: &(dyn Fn(usize, Slots<'_, E>) -> Result<i32> + Sync),
) -> Result<Done<E>> {
    if !D::has_data(results.beside) {
        return Ok(Done::none());
    }
    let count = numel(results.batch).ok_or_else(|| Error::TooLarge { op: results.op, sizes: results.batch.into() })?;
    each(count, nanoseconds, lens, work)
}

/// The number of elements of a matrix. What does not fit `usize` is more than memory has room for, too.
pub(crate) fn area(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns)
}

/// Roughly how long so many multiplications take.
pub(crate) fn cost(sizes: [usize; 3]) -> usize {
    sizes.iter().fold(1_usize, |product, &size| product.saturating_mul(size)) / 2 + 200
}

/// Leading axes, rows and columns.
pub(crate) fn parts_of<'a>(op: &'static str, sizes: &'a [usize]) -> Result<(&'a [usize], [usize; 2])> {
    match sizes.split_last_chunk::<2>() {
        Some((lead, &matrix)) => Ok((lead, matrix)),
        None => invalid(op, "the input tensor A must have at least 2 dimensions".to_owned()),
    }
}

/// The same of square matrices.
pub(crate) fn square<'a>(op: &'static str, sizes: &'a [usize]) -> Result<(&'a [usize], usize)> {
    let (lead, [m, n]) = parts_of(op, sizes)?;
    if m != n {
        return invalid(op, format!("A must be batches of square matrices, but they are {m} by {n} matrices"));
    }
    Ok((lead, n))
}

/// What two batches broadcast to.
pub(crate) fn common(op: &'static str, a: &[usize], b: &[usize]) -> Result<Vec<usize>> {
    let mut batch = filled(1, a.len().max(b.len()))?;
    if broadcast_sizes(a, b, &mut batch) {
        Ok(batch)
    } else {
        Err(Error::Broadcast { op, lhs: a.into(), rhs: b.into() })
    }
}
