//! The gradients that have come back so far, and how others are added to them.

use super::ways::{Asked, Elements, by_exact_type};
use super::{Cotangents, OP, cast, no_gradient, seen};
use crate::composite::Erased;
use crate::device::{Backend, Device};
use crate::dtype::{Complex, DType, Dtype, Element};
use crate::error::{Result, invalid};
use crate::grad::tape::{Extent, Layout, Node, Operand, Step};
use crate::layout::bounds;
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::arguments::Indexing;
use crate::ops::kernel::{Combining, Copying};
use crate::ops::reduce::Sum;
use crate::storage::{Counted, View, ViewMut};

/// The gradients that have come back so far, of steps that they have not gone through.
#[doc(hidden)]
pub struct Gradients<B> {
    /// In the order in which they were recorded: the last one is the next to go through. Most gradients come to one of the last.
    steps: Vec<Arriving<B>>,
    /// Those of parameters, the last one first: layers are gone through from the last to the first.
    leaves: Vec<Arriving<B>>,
}
/// A step, and the gradients of its results.
pub(super) struct Arriving<B> {
    pub(super) step: Counted<Step<B>>,
    pub(super) given: Cotangents<B>,
}

impl<B: 'static> Gradients<B> {
    pub(in crate::grad) fn new() -> Self {
        Gradients { steps: Vec::new(), leaves: Vec::new() }
    }

    /// The gradient of a node.
    pub(crate) fn of(&mut self, node: &Node<B>) -> Result<&mut Option<B>> {
        Ok(&mut self.given(node).whole()?[node.result])
    }
    /// The gradients of the results of a node's step.
    fn given(&mut self, node: &Node<B>) -> &mut Cotangents<B> {
        let step = &node.step;
        let (all, place) = if step.is_leaf() {
            let place = self.leaves.binary_search_by(|at| step.number.cmp(&at.step.number));
            (&mut self.leaves, place)
        } else {
            let place = self.steps.binary_search_by(|at| at.step.number.cmp(&step.number));
            (&mut self.steps, place)
        };
        let at = place.unwrap_or_else(|at| {
            all.insert(at, Arriving { step: step.clone(), given: Cotangents::NONE });
            at
        });
        &mut all[at].given
    }

    /// Takes the step that was recorded last, and parameters after all steps: no more gradients come to it.
    pub(super) fn pop(&mut self) -> Option<Arriving<B>> {
        self.steps.pop().or_else(|| self.leaves.pop())
    }

    /// Adds to the gradient of an operand. `g` has the operand's sizes.
    pub(crate) fn add<E: Dtype, D: Device + Backend<Storage = B>>(
        &mut self,
        to: &Operand<B>,
        g: Erased<'_, E, D>,
    ) -> Result<()> {
        if to.node.is_none() {
            return Ok(());
        }
        match self.whole_of::<E>(to, g.sizes(), g.strides()) {
            Some(of @ None) => {
                *of = Some(g.into_whole_or_shared()?);
                return Ok(());
            }
            Some(Some(sum)) => return accumulate::<E, D>(sum, g.view()),
            None => {}
        }
        let mask = to.repeated(g.sizes());
        if mask == 0 && to.dtype() == E::DTYPE {
            return self.add_to(to, g);
        }
        // Sums are compiled for the dtypes that steps go back in.
        if const { E::DTYPE.is_half() } {
            return self.add_summed::<f32, D>(to, mask, cast(g)?);
        }
        if const { E::DTYPE.is_complex() && E::DTYPE as u8 != DType::C128 as u8 } {
            return self.add_summed::<Complex<f64>, D>(to, mask, cast(g)?);
        }
        self.add_summed(to, mask, g)
    }
    /// The same of elements in the operand's dtype, which others may read, too.
    pub(super) fn add_alike<E: Dtype, D: Device + Backend<Storage = B>>(
        &mut self,
        to: &Operand<B>,
        g: Erased<'_, E, D>,
    ) -> Result<()> {
        match self.whole_of::<E>(to, g.sizes(), g.strides()) {
            Some(of @ None) => {
                *of = Some(g.into_whole_or_shared()?);
                Ok(())
            }
            Some(Some(sum)) => accumulate::<E, D>(sum, g.view()),
            None => self.add_to(to, g),
        }
    }
    /// The same of a storage's elements.
    pub(crate) fn add_storage<E: Element, D: Device + Backend<Storage = B>>(
        &mut self,
        to: &Operand<B>,
        storage: B,
        offset: usize,
        Layout { dtype, sizes, strides }: Layout,
    ) -> Result<()> {
        by_exact_type!(const E::DTYPE, D, dtype, T => {
            let own = Erased::<T, D>::of(View::new(&storage, offset, &sizes, &strides)).share();
            drop(storage);
            self.add::<T, D>(to, own)
        }, no_gradient(dtype))
    }

    /// Where the gradient of an operand's node is, if row-major elements of these sizes lie as the operand's, which are all of the node.
    fn whole_of<E: Dtype>(&mut self, to: &Operand<B>, sizes: &[usize], strides: &[usize]) -> Option<&mut Option<B>> {
        let node = to.node.as_ref()?;
        let Extent { first, bytes, .. } = node.extent();
        let is_whole = to.dtype() == E::DTYPE
            && to.offset * size_of::<E>() == first
            && sizes.iter().product::<usize>() * size_of::<E>() == bytes
            && bytes != 0
            && to.layout.has_strides(strides)
            && crate::layout::strides::is_contiguous(sizes, strides);
        let given = if is_whole { self.given(node) } else { return None };
        if given.is_view() { None } else { Some(&mut given.of[node.result]) }
    }

    /// Adds the elements of a new storage, which holds nothing else. (A tensor that is moved takes as long as a small loop.)
    pub(super) fn add_new<E: Dtype, D: Device + Backend<Storage = B>>(
        &mut self,
        to: &Operand<B>,
        g: B,
        sizes: &Dims,
        strides: &Dims,
    ) -> Result<()> {
        match self.whole_of::<E>(to, sizes, strides) {
            Some(of @ None) => {
                *of = Some(g);
                Ok(())
            }
            Some(Some(sum)) => accumulate::<E, D>(sum, View::new(&g, 0, sizes, strides)),
            None => self.add::<E, D>(to, Erased::fresh(g, *sizes, *strides)),
        }
    }
    /// Adds elements that others read, too.
    pub(super) fn add_view<E: Dtype, D: Device + Backend<Storage = B>>(
        &mut self,
        to: &Operand<B>,
        g: View<'_, B, E>,
    ) -> Result<()> {
        match self.whole_of::<E>(to, g.sizes, g.strides) {
            Some(Some(sum)) => accumulate::<E, D>(sum, g),
            _ => self.add::<E, D>(to, Erased::of(g)),
        }
    }

    /// Sums the axes of a mask, along which an operand has one position, and adds in the operand's dtype.
    fn add_summed<E: Dtype, D: Device + Backend<Storage = B>>(
        &mut self,
        to: &Operand<B>,
        mask: u32,
        g: Erased<'_, E, D>,
    ) -> Result<()> {
        let g = if mask != 0 { g.reduce(Sum, mask, true)?.retyped::<E>() } else { g };
        if to.dtype() == E::DTYPE {
            return self.add_to(to, g);
        }
        let View { buffer, offset, .. } = g.view();
        let strides = Dims::known(g.strides());
        let elements = Elements { dtype: E::DTYPE, storage: buffer, offset, sizes: g.dims(), strides };
        (to.of)(Asked::Add(self, to, elements)).map(drop)
    }

    /// Adds in the operand's dtype, where no element of the operand is at several positions by a stride of 0.
    pub(super) fn add_to<E: Dtype, D: Device + Backend<Storage = B>>(
        &mut self,
        to: &Operand<B>,
        g: Erased<'_, E, D>,
    ) -> Result<()> {
        let Some(node) = &to.node else { return Ok(()) };
        let (offset, strides) = (to.offset, &to.strides());
        let sizes = g.dims();
        let Extent { first, bytes, .. } = node.extent();
        let count = g.numel();
        if count == 0 {
            return Ok(());
        }
        let len = bytes / size_of::<E>();
        let span = bounds::span(&sizes, strides).unwrap_or(usize::MAX);
        let Some(offset) =
            offset.checked_sub(first / size_of::<E>()).filter(|offset| offset.saturating_add(span) <= len)
        else {
            return outside();
        };
        if !bounds::has_places(&sizes, strides) {
            return self.add_windows(node, [offset, len], &sizes, strides, g);
        }
        let fills = offset == 0 && count == len;
        let given = self.given(node);
        if fills && let Some(seen) = given.take_view(|seen| node.result == 0 && seen.is_of(&sizes, strides)) {
            let sum = given.of[0]
                .take()
                .map(|first| D::map2::<E, E, E>(Combining::<ops::add, E>::new(), seen.view(&first), g.view(), strides));
            given.of[0] = sum.transpose()?;
            return Ok(());
        }
        let of = &mut given.whole()?[node.result];
        match of {
            None if fills => {
                let same = (0..sizes.len()).all(|axis| sizes[axis] == 1 || g.strides()[axis] == strides[axis]);
                if !same && node.result == 0 && seen::pays_off(&g) {
                    given.put_view::<E, D>(g, *strides);
                    return Ok(());
                }
                let whole = if same { g.into_whole() } else { Err(g) };
                *of = Some(match whole {
                    Ok(own) => own,
                    Err(g) => D::map1::<E, E>(Copying, g.view(), strides)?,
                });
                Ok(())
            }
            None => {
                let mut zeros = D::zeroed::<E>(Some(g.storage()), len)?;
                D::map1_into::<E, E>(Copying, g.view(), ViewMut::new(&mut zeros, offset, &sizes, strides))?;
                *of = Some(zeros);
                Ok(())
            }
            Some(sum) => {
                unshare::<E, D>(sum, len)?;
                let out = ViewMut::<_, E>::new(sum, offset, &sizes, strides);
                D::update2::<E, E>(Combining::<ops::add, E>::new(), g.view(), out)
            }
        }
    }

    /// Adds where several positions share an element: windows that overlap.
    fn add_windows<E: Dtype, D: Device + Backend<Storage = B>>(
        &mut self,
        node: &Node<B>,
        [offset, len]: [usize; 2],
        sizes: &Dims,
        strides: &Dims,
        g: Erased<'_, E, D>,
    ) -> Result<()> {
        let count = g.numel();
        let of = self.of(node)?;
        let places = D::iota(Some(g.storage()), len)?;
        let index = D::map1::<i64, i64>(Copying, View::new(&places, offset, sizes, strides), &sizes.row_major())?;
        let flat = g.reshape(OP, &[count])?;
        let sum = match of.take() {
            Some(sum) => sum,
            None => D::zeroed::<E>(Some(g.storage()), len)?,
        };
        let sum = of.insert(sum);
        unshare::<E, D>(sum, len)?;
        let all = [len];
        let indexing = Indexing { op: OP, axis: 0, wraps: false };
        let kernel = Combining::<ops::add, E>::new();
        let flat_sizes = [count];
        let index = View::<_, i64>::new(&index, 0, &flat_sizes, &[1]);
        D::scatter_with::<E>(indexing, kernel, index, flat.view(), ViewMut::new(sum, 0, &all, &[1]))
    }
}

/// Adds row-major elements to those of a gradient, which are as many: in place, if nobody else has it.
fn accumulate<E: Dtype, D: Device>(sum: &mut D::Storage, g: View<'_, D::Storage, E>) -> Result<()> {
    let add = Combining::<ops::add, E>::new();
    if D::is_unique(sum) {
        return D::update2::<E, E>(add, g, ViewMut::new(sum, 0, g.sizes, g.strides));
    }
    *sum = D::map2::<E, E, E>(add, View::new(&*sum, 0, g.sizes, g.strides), g, g.strides)?;
    Ok(())
}

/// A view (`as_strided`) that reaches other elements of the storage than those that were put on the tape.
#[cold]
fn outside<T>() -> Result<T> {
    invalid(OP, "a view reaches elements outside of the tensor that the gradient is taken of".to_owned())
}

/// Copies a gradient of `len` elements if somebody else has a handle to it, before it is written.
pub(in crate::grad) fn unshare<E: Dtype, D: Device>(gradient: &mut D::Storage, len: usize) -> Result<()> {
    if !D::is_unique(gradient) {
        *gradient = D::map1::<E, E>(Copying, View::new(&*gradient, 0, &[len], &[1]), &[1])?;
    }
    Ok(())
}
