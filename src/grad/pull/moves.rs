//! What only moves elements: gradients go back to where the elements came from.

use super::reduce::{formulas, three};
use super::ways::unlike;
use super::{Cotangents, Gradients, OP, arrived, exact, gradient, kept, no_gradient, result};
use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, MachineFloat, Parameters, Tuned};
use crate::error::{Result, invalid};
use crate::grad::rule::Rule;
use crate::grad::tape::{Extent, Layout, Operand};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::arguments::Indexing;
use crate::ops::kernel::{Choosing, Combining, CombiningScalar, Copying, FillWith};
use crate::ops::losses::Losing;
use crate::ops::reduce::Sum;
use crate::ops::scan::RunningSum;
use crate::ops::segment::Segment;
use crate::storage::{View, ViewMut};

/// Elements that are an operand's, perhaps converted: they go back in their own dtype.
pub(super) fn moved<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Moves { x, .. } = rule else { return unlike() };
    let Layout { sizes, strides, .. } = rule.layout();
    let [first, ..] = given.whole()?;
    match first.take() {
        Some(g) => gradients.add::<E, D>(x, Erased::fresh(g, sizes, strides)),
        None => Ok(()),
    }
}

/// A band of matrices.
pub(super) fn band<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Band { x, low, high, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let band = D::band::<E>(gradient::<E, D>(g, layout).view(), *low, *high)?;
    gradients.add::<E, D>(x, Erased::dense(band, layout.sizes))
}

/// Elements of an axis that was assembled from segments, axis by axis.
pub(super) fn pick<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Pick { x, axes, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let mut left: Owned<E, D> = gradient::<E, D>(g, layout).share();
    for (axis, segments) in axes.iter().enumerate() {
        if segments[..] != [Segment::whole(x.sizes()[axis])] {
            left = unpicked(&left, axis, segments, x.sizes()[axis])?;
        }
    }
    gradients.add::<E, D>(x, left)
}
fn unpicked<E: Dtype, D: Device>(
    g: &Owned<E, D>,
    axis: usize,
    segments: &[Segment],
    size: usize,
) -> Result<Owned<E, D>> {
    let mut sizes = g.dims();
    sizes[axis] = size;
    let strides = sizes.row_major();
    let mut sum = D::zeroed::<E>(Some(g.storage()), sizes.iter().product())?;
    let mut at = 0;
    for &segment in segments {
        let positions = segment.positions().unwrap_or(0);
        if positions > 0 && !matches!(segment, Segment::Fill { .. }) {
            let part = g.narrow(OP, Axis(axis), at, positions)?;
            let (first, part): (usize, Owned<E, D>) = match segment {
                Segment::Forward { start, .. } => (start, part.share()),
                Segment::Backward { start, len } => (start + 1 - len, reversed(&part, axis)?),
                Segment::Each { start, len, times } => {
                    let mut split = Dims::of_rank(OP, sizes.len() + 1);
                    let folded = match &mut split {
                        Ok(split) => {
                            split[..axis].copy_from_slice(&part.sizes()[..axis]);
                            (split[axis], split[axis + 1]) = (len, times);
                            split[axis + 2..].copy_from_slice(&part.sizes()[axis + 1..]);
                            part.reshape(OP, split)?.reduce(Sum, 1 << (axis + 1), false)?.retyped()
                        }
                        // The most axes that there may be: those in front have size 1.
                        Err(_) => folded(&part, axis, [len, times])?,
                    };
                    (start, folded)
                }
                Segment::Fill { .. } => continue,
            };
            let mut own = sizes;
            own[axis] = part.sizes()[axis];
            let out = ViewMut::<_, E>::new(&mut sum, first * strides[axis], &own, &strides);
            D::update2::<E, E>(Combining::<ops::add, E>::new(), part.view(), out)?;
        }
        at += positions;
    }
    Ok(Erased::dense(sum, sizes))
}
/// The sum of each run of positions along an axis.
fn folded<E: Dtype, D: Device>(part: &Erased<'_, E, D>, axis: usize, [len, times]: [usize; 2]) -> Result<Owned<E, D>> {
    let before = part.sizes()[..axis].iter().product();
    let after = part.sizes()[axis + 1..].iter().product();
    let sums = part.reshape(OP, &[before, len, times, after])?.reduce(Sum, 1 << 2, false)?;
    let mut sizes = part.dims();
    sizes[axis] = len;
    Ok(sums.reshape(OP, &sizes)?.share().retyped())
}
/// The elements in the other order along an axis.
pub(super) fn reversed<E: Dtype, D: Device>(x: &Erased<'_, E, D>, axis: usize) -> Result<Owned<E, D>> {
    let mut axes: Vec<Vec<Segment>> = x.sizes().iter().map(|&size| vec![Segment::whole(size)]).collect();
    let len = x.sizes()[axis];
    axes[axis] = if len == 0 { vec![] } else { vec![Segment::Backward { start: len - 1, len }] };
    Ok(Erased::dense(D::pick::<E>(x.view(), &axes, E::default())?, x.dims()))
}

pub(super) fn join<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Join { pieces, axis, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let g = gradient::<E, D>(g, layout);
    let mut at = 0;
    for piece in pieces {
        let len = piece.sizes()[*axis];
        gradients.add::<E, D>(piece, g.narrow(OP, Axis(*axis), at, len)?)?;
        at += len;
    }
    Ok(())
}

/// Adds the elements of `g` at indices along an axis of zeros.
pub(super) fn gather<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Gather { x, index, indexing, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let g = gradient::<E, D>(g, layout);
    let (index, indexing) = (exact::<i64, D>(index)?, *indexing);
    let at = indexing.axis;
    let Layout { sizes, strides, .. } = x.layout.open();
    // All positions of the axes before meet the same elements: they are more indices.
    let is_shared = at > 0 && (0..at).all(|axis| sizes[axis] == 1 || strides[axis] == 0);
    let (mut of, mut left) = (g.dims(), 0);
    if is_shared {
        left = at;
        of = Dims::known(&g.sizes()[at..]);
        of[0] = g.sizes()[..=at].iter().product();
    }
    let (index, g) = (index.reshape(OP, &of)?, g.reshape(OP, &of)?);
    let indexing = Indexing { axis: at - left, ..indexing };
    let to = x.resized(Dims::known(&sizes[left..]), Dims::known(&strides[left..]));
    let (sizes, strides) = (to.sizes(), to.sizes().row_major());
    let mut sum = D::zeroed::<E>(Some(g.storage()), sizes.iter().product())?;
    let out = ViewMut::<_, E>::new(&mut sum, 0, &sizes, &strides);
    D::scatter_with::<E>(indexing, Combining::<ops::add, E>::new(), index.view(), g.view(), out)?;
    gradients.add::<E, D>(&to, Erased::dense(sum, sizes))
}

/// Elements that were selected by a mask.
pub(super) fn compress<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Compress { x, mask, .. } = rule else { return unlike() };
    let Some((g, layout)) = &arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let g = gradient::<E, D>(g, layout);
    if g.is_empty() {
        return Ok(());
    }
    let mask = exact::<bool, D>(mask)?.expand(OP, &x.sizes())?.share();
    let count = [mask.numel()];
    let flat = mask.reshape(OP, &count)?;
    // Each element's place among those selected.
    let counted = D::lanes::<bool, i64>(RunningSum, flat.view(), 0)?;
    let counted = Erased::<i64, D>::list(counted, count[0]);
    let before = counted.map1::<i64>(OP, CombiningScalar::<ops::sub, i64>(1))?;
    let place = before.map1::<i64>(OP, CombiningScalar::<ops::clamp_min, i64>(0))?;
    let indexing = Indexing { op: OP, axis: 0, wraps: false };
    let spread = D::gather::<E>(indexing, g.view(), place.view())?;
    let none = D::zeroed::<E>(Some(g.storage()), 1)?;
    let chosen = D::map3::<bool, E, E, E>(
        Choosing,
        flat.view(),
        View::new(&spread, 0, &count, &[1]),
        View::new(&none, 0, &count, &[0]),
        &[1],
    )?;
    let chosen = Erased::<E, D>::list(chosen, count[0]);
    gradients.add::<E, D>(x, chosen.reshape(OP, &x.sizes())?)
}

/// A part of a storage that was written: the gradient of the part goes to the new elements, that of the rest to the old ones.
pub(super) fn patch<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Patch { place, new, .. } = rule else { return unlike() };
    let [first, ..] = given.whole()?;
    let Some(mut g) = first.take() else { return Ok(()) };
    let Layout { sizes, strides, .. } = place.layout.open();
    let of = View::<_, E>::new(&g, place.offset, &sizes, &strides);
    gradients.add::<E, D>(new, Erased::<E, D>::of(of).map1::<E>(OP, Copying)?)?;
    let Some(node) = &place.node else { return Ok(()) };
    let room = D::room::<E>(&g).unwrap_or(0);
    super::unshare::<E, D>(&mut g, room)?;
    let out = ViewMut::<_, E>::new(&mut g, place.offset, &sizes, &strides);
    D::update1::<E>(FillWith(E::default()), out)?;
    let Some(len) = D::room::<E>(&g) else { return Ok(()) };
    // The old node's gradient may stand for a part of the storage.
    let Extent { first, bytes, .. } = node.extent();
    let (first, count) = (first / size_of::<E>(), bytes / size_of::<E>());
    if len < first + count {
        return invalid(OP, "a storage was written that is larger than what its gradient stands for".to_owned());
    }
    let whole = Operand::new(Some(node.clone()), first, (E::DTYPE, &[count], &[1]), place.of, None);
    if count == len {
        return gradients.add::<E, D>(&whole, Erased::list(g, len));
    }
    gradients.add::<E, D>(&whole, Erased::of(View::new(&g, first, &[count], &[1])))
}

/// Elements that were written at indices.
pub(super) fn scatter<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    let Rule::Scatter { old, new, index, indexing, factor, .. } = rule else { return unlike() };
    let Some((g, layout)) = arrived::<E, D>(&rule.layout(), &mut given)? else { return Ok(()) };
    let (indexing, factor) = (*indexing, *factor);
    let places = exact::<i64, D>(index)?;
    let g = Erased::<E, D>::fresh(g, layout.sizes, layout.strides);
    if new.node.is_some() {
        let taken = D::gather::<E>(indexing, g.view(), places.view())?;
        let taken = Erased::<E, D>::dense(taken, index.sizes());
        let part = new.resized(index.sizes(), new.strides());
        let taken = match factor {
            Some(factor) if factor != 1.0 => super::reduce::scaled(&taken, factor)?,
            _ => taken,
        };
        gradients.add::<E, D>(&part, taken)?;
    }
    if old.node.is_none() {
        return Ok(());
    }
    if factor.is_some() {
        return gradients.add::<E, D>(old, g);
    }
    let mut left = D::map1::<E, E>(Copying, g.view(), &layout.sizes.row_major())?;
    let none = D::zeroed::<E>(Some(g.storage()), 1)?;
    let zeros = [0; crate::layout::dims::MOST];
    let sizes = index.sizes();
    let none = View::<_, E>::new(&none, 0, &sizes, &zeros[..sizes.len()]);
    let strides = layout.sizes.row_major();
    D::scatter::<E>(indexing, places.view(), none, ViewMut::new(&mut left, 0, &layout.sizes, &strides))?;
    gradients.add::<E, D>(old, Erased::dense(left, layout.sizes))
}

formulas! {
    /// 1 for equals, else 0.
    Equal: |a, b, _z, _p| if a == b { T::one() } else { T::zero() };
    /// The element, but 1 for 0.
    NotZero: |x, _y, _z, _p| if x == T::zero() { T::one() } else { x };
    /// 1 for 0, else 0.
    IsZero: |x, _y, _z, _p| if x == T::zero() { T::one() } else { T::zero() };
    /// The element, but 1 where it is the only zero of a product.
    WithoutOnlyZero: |x, zeros, _z, _p| if x == T::zero() && zeros == T::one() { T::one() } else { x };
    /// The gradient at the only zero of a product.
    AtOnlyZero: |x, zeros, at, _p| if x == T::zero() && zeros == T::one() { at } else { T::zero() };
    /// The gradient times the product over the element, where it is not the only zero.
    Elsewhere: |x, zeros, at, _p| {
        if x != T::zero() {
            at / x
        } else if zeros == T::one() {
            T::zero()
        } else {
            at
        }
    };
}

/// Elements that were merged at indices.
pub(super) fn merge<E: Dtype, D: Device>(
    rule: &Rule<D::Storage>,
    mut given: Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<()> {
    if const { E::DTYPE.is_complex() } {
        return no_gradient(E::DTYPE);
    }
    let Rule::Merge { old, new, index, indexing, is_product, y, .. } = rule else { return unlike() };
    let own = &rule.layout();
    let Some((g, layout)) = &arrived::<E, D>(own, &mut given)? else { return Ok(()) };
    let (indexing, is_product) = (*indexing, *is_product);
    let places = exact::<i64, D>(index)?;
    let (sizes, strides) = (layout.sizes, layout.sizes.row_major());
    let g = gradient::<E, D>(g, layout);
    let y = result::<E, D>(y, own.dtype, [&own.sizes, &own.strides])?;
    let (Some(of_old), Some(of_new)) = (&old.kept, &new.kept) else {
        return invalid(OP, "an operand was not kept".to_owned());
    };
    // Of a source that is larger than the index tensor its first elements are read.
    let part = new.resized(index.sizes(), new.strides());
    let was = kept::<E, D>(of_old, old, [&old.sizes(), &old.strides()])?;
    let from = kept::<E, D>(of_new, new, [&index.sizes(), &new.strides()])?;
    let taken = |x: &Erased<'_, E, D>| -> Result<Owned<E, D>> {
        Ok(Erased::dense(D::gather::<E>(indexing, x.view(), places.view())?, index.sizes()))
    };
    let summed = |to: &Erased<'_, E, D>, x: &Erased<'_, E, D>| -> Result<Owned<E, D>> {
        let mut sum = D::map1::<E, E>(Copying, to.view(), &strides)?;
        let out = ViewMut::<_, E>::new(&mut sum, 0, &sizes, &strides);
        D::scatter_with::<E>(indexing, Combining::<ops::add, E>::new(), places.view(), x.view(), out)?;
        Ok(Erased::dense(sum, sizes))
    };
    let times = Combining::<ops::mul, E>::new();
    let over = Combining::<ops::div, E>::new();
    if !is_product {
        let is_new = from.map2::<E, E>(OP, Losing::<Equal>::new([0.0; 2]), &taken(&y)?)?;
        let is_old = was.map2::<E, E>(OP, Losing::<Equal>::new([0.0; 2]), &y)?;
        let share = g.map2::<E, E>(OP, over, &summed(&is_old, &is_new)?)?;
        gradients.add::<E, D>(old, is_old.map2::<E, E>(OP, times, &share)?)?;
        return gradients.add::<E, D>(&part, is_new.map2::<E, E>(OP, times, &taken(&share)?)?);
    }
    let multiplied = |to: &Erased<'_, E, D>, x: &Erased<'_, E, D>| -> Result<Owned<E, D>> {
        let mut product = D::map1::<E, E>(Copying, to.view(), &strides)?;
        let out = ViewMut::<_, E>::new(&mut product, 0, &sizes, &strides);
        D::scatter_with::<E>(indexing, times, places.view(), x.view(), out)?;
        Ok(Erased::dense(product, sizes))
    };
    if old.node.is_some() {
        let other = was.map2::<E, E>(OP, Losing::<NotZero>::new([0.0; 2]), &was)?;
        let rest = multiplied(&other, &from)?.map2::<E, E>(OP, over, &other)?;
        gradients.add::<E, D>(old, g.map2::<E, E>(OP, times, &rest)?)?;
    }
    if new.node.is_some() {
        let is_zero = from.map2::<E, E>(OP, Losing::<IsZero>::new([0.0; 2]), &from)?;
        let none = Erased::<E, D>::dense(D::zeroed::<E>(Some(g.storage()), sizes.iter().product())?, sizes);
        let zeros = taken(&summed(&none, &is_zero)?)?;
        let rest = multiplied(&was, &from.map2::<E, E>(OP, Losing::<WithoutOnlyZero>::new([0.0; 2]), &zeros)?)?;
        let at = three::<AtOnlyZero, E, D>(&from, &zeros, &taken(&g.map2::<E, E>(OP, times, &rest)?)?, 0.0)?;
        let elsewhere = three::<Elsewhere, E, D>(&from, &zeros, &taken(&g.map2::<E, E>(OP, times, &y)?)?, 0.0)?;
        gradients.add::<E, D>(&part, at.map2::<E, E>(OP, Combining::<ops::add, E>::new(), &elsewhere)?)?;
    }
    Ok(())
}
