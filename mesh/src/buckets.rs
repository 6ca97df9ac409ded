//! Buckets: elements of several tensors that are put together by one call for each dtype, reduction and axes of the mesh.

use crate::engine::{Reduce, Wire};
use crate::error::Result;
use crate::mesh::Mesh;
use crate::place::MeshAxes;
use castiron::{Element, Shape, Tensor};
use core::any::Any;
use core::panic::Location;

/// Bytes from which a tensor is put together by a call of its own: copying it into a bucket would cost more than the call.
const OWN_CALL: usize = 1 << 20;

/// How tensors are put together.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Over {
    pub reduce: Reduce,
    /// Axes of the mesh, a bit for each.
    pub axes: u32,
}

/// What the ranks along these axes of the mesh have parts of, for all of them.
pub(crate) fn put_together<E: Wire, X: MeshAxes>(
    mesh: &Mesh<X>,
    what: &'static str,
    over: Over,
    elements: &mut [E],
    at: &'static Location<'static>,
) -> Result<()> {
    let axes = X::NAMES.len();
    if over.axes == (1 << axes) - 1 {
        return mesh.reduce_at(mesh.all(), what, elements, over.reduce, at);
    }
    for axis in (0..axes).filter(|axis| over.axes >> axis & 1 == 1) {
        mesh.reduce_at(mesh.line_at(axis), what, elements, over.reduce, at)?;
    }
    Ok(())
}

/// Tensors are [`put`](Self::put), all of them, then [`reduce`](Self::reduce)d, then [`take`](Self::take)n in the order in which they were put.
pub(crate) struct Buckets<'a, X: MeshAxes> {
    mesh: &'a Mesh<X>,
    what: &'static str,
    at: &'static Location<'static>,
    list: Vec<Bucket<X>>,
}

struct Bucket<X: MeshAxes> {
    over: Over,
    /// A `Vec` of the dtype.
    elements: Box<dyn Any>,
    /// How many have been taken out.
    taken: usize,
    reduce: fn(&mut Buckets<'_, X>, usize) -> Result<()>,
}

impl<'a, X: MeshAxes> Buckets<'a, X> {
    /// `what` and `at` are the operation and the line of the program, for messages.
    pub fn new(mesh: &'a Mesh<X>, what: &'static str, at: &'static Location<'static>) -> Self {
        Buckets { mesh, what, at, list: Vec::new() }
    }

    /// Puts a tensor of the host into its bucket, or puts it together at once if it is large.
    pub fn put<E: Element, S: Shape>(&mut self, over: Over, mut host: Tensor<E, S>) -> Result<Tensor<E, S>> {
        if is_large(&host) {
            put_together(self.mesh, self.what, over, host.as_mut_slice(), self.at)?;
        } else {
            let place = self.place::<E>(over);
            self.elements::<E>(place).extend(host.iter());
        }
        Ok(host)
    }

    /// The call for each bucket.
    pub fn reduce(&mut self) -> Result<()> {
        (0..self.list.len()).try_for_each(|place| (self.list[place].reduce)(self, place))
    }

    /// A tensor that was put, put together.
    pub fn take<E: Element, S: Shape>(&mut self, over: Over, host: Tensor<E, S>) -> Result<Tensor<E, S>> {
        if is_large(&host) {
            return Ok(host);
        }
        let place = self.place::<E>(over);
        let from = self.list[place].taken..self.list[place].taken + host.numel();
        self.list[place].taken = from.end;
        Ok(Tensor::try_from_vec_sized(self.elements::<E>(place)[from].to_vec(), host.shape())?)
    }

    /// The position of the bucket for a dtype and a reduction.
    fn place<E: Element>(&mut self, over: Over) -> usize {
        let found = self.list.iter().position(|bucket| bucket.over == over && bucket.elements.is::<Vec<E>>());
        found.unwrap_or_else(|| {
            let reduce = |buckets: &mut Buckets<'_, X>, place: usize| {
                let (mesh, what, at, over) = (buckets.mesh, buckets.what, buckets.at, buckets.list[place].over);
                put_together(mesh, what, over, buckets.elements::<E>(place), at)
            };
            self.list.push(Bucket { over, elements: Box::new(Vec::<E>::new()), taken: 0, reduce });
            self.list.len() - 1
        })
    }

    fn elements<E: Element>(&mut self, place: usize) -> &mut Vec<E> {
        self.list[place].elements.downcast_mut().expect("the bucket of this dtype")
    }
}

fn is_large<E: Element, S: Shape>(host: &Tensor<E, S>) -> bool {
    size_of::<E>() * host.numel() >= OWN_CALL
}
