//! Parameters on a tape, and the gradients that come back to them.

use super::pull::ways::of_dtype;
use super::pull::{Gradients, Graph, Seen, back};
use super::record::has_gradients;
use super::tape::{Extent, Layout, Node, Operand, Tape, Tracked};
use super::taped::Taped;
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::error::{Result, invalid};
use crate::io::{MapTensors, ToDevice, Walk};
use crate::layout::bounds;
use crate::layout::dims::Dims;
use crate::shape::{Shape, SizeArray};
use crate::storage::View;
use crate::tensor::Tensor;

/// What is known of leaves by their numbers, the largest first: in this order their gradients arrive.
struct Numbered<T>(Vec<(u64, T)>);
impl<T> Numbered<T> {
    fn new() -> Self {
        Numbered(Vec::new())
    }
    fn place(&self, number: u64) -> core::result::Result<usize, usize> {
        self.0.binary_search_by(|(at, _)| number.cmp(at))
    }
    fn get(&self, number: u64) -> Option<&T> {
        self.place(number).ok().map(|at| &self.0[at].1)
    }
    fn insert(&mut self, number: u64, of: T) {
        match self.place(number) {
            Ok(at) => self.0[at].1 = of,
            Err(at) => self.0.insert(at, (number, of)),
        }
    }
    fn remove(&mut self, number: u64) -> Option<T> {
        self.place(number).ok().map(|at| self.0.remove(at).1)
    }
}

/// Puts tensors on a tape: as parameters, and those of frozen fields as constants.
pub(super) struct Lifting<D: Device> {
    tape: Tape,
    walk: Walk,
    leaves: Vec<Leaf<D::Storage>>,
    /// The leaves that a declared tie may be of.
    named: Vec<Named<D::Storage>>,
}
/// A parameter's node, if it has a gradient.
struct Leaf<B> {
    node: Option<Node<B>>,
    /// The elements of the tensor that it is tied to, whose gradient it shows.
    tied_to: Option<Elements>,
}
/// A leaf where a module has tied tensors.
struct Named<B> {
    name: String,
    leaf: usize,
    elements: Elements,
    add: Joining<B>,
}
/// Adds a tied parameter's gradient to that of a node, which may have none yet.
type Joining<B> = fn(&Node<B>, Option<B>, Elements, (&B, Elements)) -> Result<Option<B>>;
/// What a gradient is of.
#[derive(Clone, Copy)]
struct Elements {
    dtype: DType,
    offset: usize,
    sizes: Dims,
    strides: Dims,
}

impl<B> Clone for Named<B> {
    fn clone(&self) -> Self {
        Named { name: self.name.clone(), leaf: self.leaf, elements: self.elements, add: self.add }
    }
}
fn joined<E: Element, D: Device>(
    to: &Node<D::Storage>,
    so_far: Option<D::Storage>,
    Elements { offset, sizes, strides, .. }: Elements,
    (part, own): (&D::Storage, Elements),
) -> Result<Option<D::Storage>> {
    let mut sum = Gradients::<D::Storage>::new();
    *sum.of(to)? = so_far;
    let place = Operand::new(Some(to.clone()), offset, (E::DTYPE, &sizes, &strides), of_dtype::<E, D>(E::DTYPE), None);
    let (part, _) = D::share(View::<_, E>::new(part, 0, &own.sizes, &own.strides));
    sum.add_storage::<E, D>(&place, part, 0, Layout::of::<E>(&own.sizes, &own.strides))?;
    Ok(sum.of(to)?.take())
}

impl<B> Clone for Leaf<B> {
    fn clone(&self) -> Self {
        Leaf { node: self.node.clone(), tied_to: self.tied_to }
    }
}

impl<D: Device> Lifting<D> {
    pub(super) fn new() -> Self {
        Lifting { tape: Tape::new(), walk: Walk::default(), leaves: Vec::new(), named: Vec::new() }
    }
    /// Nothing more is recorded.
    pub(super) fn finish(&self) {
        self.tape.finish();
    }

    /// The gradient of each parameter. Tied parameters have the sum of theirs; with `apart`, each has its own part.
    pub(super) fn gradients<P: ToDevice<Device = D>>(
        &mut self,
        parameters: &P,
        apart: bool,
        graph: Graph,
        seed: impl FnOnce(&mut Gradients<D::Storage>) -> Result<()>,
    ) -> Result<P::On<D>> {
        let (mut found, mut views) = (Numbered::new(), Numbered::new());
        back::<D>(seed, graph, |step, given| {
            if step.is_leaf() {
                // (Those of tied parameters are added up.)
                let seen = given.take_view(|seen| seen.is_repeated() && self.named.is_empty());
                if let Some(seen) = seen {
                    views.insert(step.number, seen);
                }
                given.whole()?;
                if let Some(gradient) = given.of[0].take() {
                    found.insert(step.number, gradient);
                }
            }
            Ok(())
        })?;
        // (They are needed again where the graph is kept.)
        let mut leaves = if graph == Graph::Freed { core::mem::take(&mut self.leaves) } else { self.leaves.clone() };
        if !apart && !self.named.is_empty() {
            self.join_tied(&mut leaves, &mut found)?;
        }
        parameters.mapped(&mut Collecting { gradients: &found, views: &views, leaves: leaves.into_iter() })
    }

    /// Adds the gradients of tied parameters to those of the parameters that they are tied to.
    fn join_tied(&mut self, leaves: &mut [Leaf<D::Storage>], found: &mut Numbered<D::Storage>) -> Result<()> {
        let (targets, tied) = self.walk.ties().split(self.named.clone(), |named| &named.name);
        for (own, target) in tied {
            let target = &targets[target];
            let is_alike = (own.elements.dtype, own.elements.sizes) == (target.elements.dtype, target.elements.sizes);
            if !is_alike {
                let reason = format!(
                    "tensor `{}` is tied to `{}`, which has another dtype or other sizes",
                    own.name, target.name
                );
                return invalid("value_and_grad", reason);
            }
            let to = leaves[target.leaf].node.clone();
            if let Some(part) = leaves[own.leaf].node.as_ref().and_then(|node| found.remove(node.step.number))
                && let Some(to) = &to
            {
                let sum = (target.add)(to, found.remove(to.step.number), target.elements, (&part, own.elements))?;
                if let Some(sum) = sum {
                    found.insert(to.step.number, sum);
                }
            }
            leaves[own.leaf] = Leaf { node: to, tied_to: Some(target.elements) };
        }
        Ok(())
    }
}
/// Also where a function of the user's failed.
impl<D: Device> Drop for Lifting<D> {
    fn drop(&mut self) {
        self.finish();
    }
}
impl<D: Device> MapTensors<D, Taped<D>> for Lifting<D> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, Taped<D>>> {
        let (storage, offset) = D::share(x.elements());
        let (sizes, strides) = (x.shape(), x.stride());
        let (dims, steps) = (sizes.as_ref(), strides.as_ref());
        if !self.walk.ties().is_empty() {
            let elements = Elements { dtype: E::DTYPE, offset, sizes: Dims::known(dims), strides: Dims::known(steps) };
            let name = self.walk.name().to_owned();
            self.named.push(Named { name, leaf: self.leaves.len(), elements, add: joined::<E, D> });
        }
        let lifted = if has_gradients(E::DTYPE) && !self.walk.is_frozen() {
            let span = bounds::span(dims, steps).unwrap_or(0);
            let extent = Extent { dtype: E::DTYPE, first: offset * size_of::<E>(), bytes: span * size_of::<E>() };
            self.tape.leaf(storage, extent)
        } else {
            Tracked::constant(storage)
        };
        self.leaves.push(Leaf { node: lifted.node(), tied_to: None });
        Ok(Tensor::from_parts(lifted, offset, sizes, strides))
    }
    fn walk(&mut self) -> Option<&mut Walk> {
        Some(&mut self.walk)
    }
}

/// Makes a gradient of each parameter.
struct Collecting<'a, D: Device> {
    gradients: &'a Numbered<D::Storage>,
    /// Of those that are the same along axes.
    views: &'a Numbered<Box<Seen<D::Storage>>>,
    leaves: std::vec::IntoIter<Leaf<D::Storage>>,
}
impl<D: Device> MapTensors<D, D> for Collecting<'_, D> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, D>> {
        if let Some(Leaf { node: Some(leaf), tied_to }) = self.leaves.next()
            && let Some(gradient) = self.gradients.get(leaf.step.number)
        {
            let sizes = x.shape();
            let strides = tied_to.map_or_else(|| x.stride(), |elements| S::Sizes::copied(&elements.strides));
            // (`mapped` is a function of the user's type, which may have changed between two calls.)
            let extent = leaf.extent();
            let span = bounds::span(sizes.as_ref(), strides.as_ref()).unwrap_or(0);
            if (extent.dtype, extent.bytes) != (E::DTYPE, span * size_of::<E>()) {
                return invalid("value_and_grad", "the parameters have other tensors than before".to_owned());
            }
            let shared = |gradient: &D::Storage, offset, strides: S::Sizes| {
                let (storage, offset) = D::share(View::<_, E>::new(gradient, offset, sizes.as_ref(), strides.as_ref()));
                Ok(Tensor::from_parts(storage, offset, sizes, strides))
            };
            return match self.views.get(leaf.step.number) {
                None => shared(gradient, 0, strides),
                Some(seen) if seen.is_of(sizes.as_ref(), strides.as_ref()) => {
                    shared(gradient, seen.offset, S::Sizes::copied(&seen.strides))
                }
                Some(seen) => shared(&seen.written_out(gradient)?, 0, strides),
            };
        }
        // Nothing came back.
        Tensor::one_zero(Some(x), x.shape())
    }
}
