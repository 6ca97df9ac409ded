//! Calls that move elements: by positions, by indices, by order.

use super::elementwise::{old, written};
use super::{On, Recorded, has_gradients, kept_result, missing, moved, operand, operand_as};
use crate::device::Device;
use crate::device::call::*;
use crate::dtype::{DType, Element};
use crate::error::{Result, collected};
use crate::grad::pull::ways::{
    OfBand, OfCompress, OfGather, OfJoin, OfMerge, OfPick, OfScatter, exact_way, of_no_type, way,
};
use crate::grad::rule::Rule;
use crate::grad::tape::{Layout, Operand, Tape, Tracked};
use crate::grad::taped::inside;
use crate::layout::dims::Dims;
use crate::layout::strides::row_major;
use crate::ops::kernel::{Copying, Map2, Merging};
use crate::storage::{View, ViewMut};

impl<E: Element> Recorded for Pick<'static, (), E> {
    fn record<D: Device>(call: Pick<'_, On<D>, E>, tape: Tape) -> Result<On<D>> {
        let Pick { axes, fill, a, .. } = call;
        let result = D::pick(inside(a), axes, fill)?;
        let positions = |axis: &Vec<crate::ops::segment::Segment>| {
            axis.iter().map(|segment| segment.positions().unwrap_or(0)).sum::<usize>()
        };
        let mut sizes = Dims::of_rank("pick", axes.len())?;
        for (size, axis) in sizes.iter_mut().zip(axes) {
            *size = positions(axis);
        }
        let dtype = moved::<E, _>([a.buffer]);
        let layout = Layout { dtype, ..Layout::dense::<E>(&sizes) };
        let x = operand_as::<E, D>(&a, dtype, false)?;
        let rule = Rule::Pick { x, axes: axes.to_vec(), layout: layout.packed() };
        tape.push("pick", result, layout, rule, way::<OfPick, E, D>(dtype))
    }
}
impl<E: Element> Recorded for Join<'static, (), E> {
    fn record<D: Device>(call: Join<'_, On<D>, E>, tape: Tape) -> Result<On<D>> {
        let Join { axis, sizes, strides, pieces, .. } = call;
        let inner: Vec<_> = collected(pieces.iter().map(|piece| Ok(inside(*piece))))?;
        let result = D::join::<E>(&inner, axis, sizes, strides)?;
        let dtype = moved::<E, _>(pieces.iter().map(|piece| piece.buffer));
        let layout = Layout { dtype, ..Layout::of::<E>(sizes, strides) };
        let pieces = collected(pieces.iter().map(|piece| operand_as::<E, D>(piece, dtype, false)))?;
        let rule = Rule::Join { pieces, axis, layout: layout.packed() };
        tape.push("cat", result, layout, rule, exact_way::<OfJoin, E, D>(dtype))
    }
}
impl<E: Element> Recorded for Band<'static, (), E> {
    fn record<D: Device>(call: Band<'_, On<D>, E>, tape: Tape) -> Result<On<D>> {
        let Band { low, high, a, .. } = call;
        let result = D::band(inside(a), low, high)?;
        let dtype = moved::<E, _>([a.buffer]);
        let layout = Layout { dtype, ..Layout::dense::<E>(a.sizes) };
        let x = operand_as::<E, D>(&a, dtype, false)?;
        let rule = Rule::Band { x, low, high, layout: layout.packed() };
        tape.push("band", result, layout, rule, exact_way::<OfBand, E, D>(dtype))
    }
}
impl<E: Element> Recorded for Gather<'static, (), E> {
    fn record<D: Device>(call: Gather<'_, On<D>, E>, tape: Tape) -> Result<On<D>> {
        let Gather { indexing, a, index, .. } = call;
        let result = D::gather(indexing, inside(a), inside(index))?;
        let dtype = moved::<E, _>([a.buffer]);
        let layout = Layout { dtype, ..Layout::dense::<E>(index.sizes) };
        let (x, index) = (operand_as::<E, D>(&a, dtype, false)?, Box::new(operand::<i64, D>(&index, true)?));
        let rule = Rule::Gather { x, index, indexing, layout: layout.packed() };
        tape.push(indexing.op, result, layout, rule, way::<OfGather, E, D>(dtype))
    }
}
impl<E: Element> Recorded for Scatter<'static, (), E> {
    fn record<D: Device>(call: Scatter<'_, On<D>, E>, tape: Tape) -> Result<()> {
        let Scatter { indexing, out, index, b, .. } = call;
        scattered::<E, D>(indexing, out, index, b, None, tape, |to| D::scatter(indexing, inside(index), inside(b), to))
    }
}
impl<E: Element, K: Map2<E, E, E>> Recorded for ScatterWith<'static, (), E, K> {
    fn record<D: Device>(call: ScatterWith<'_, On<D>, E, K>, tape: Tape) -> Result<()> {
        let ScatterWith { indexing, kernel, out, index, b, .. } = call;
        let factor = match K::MERGING {
            Merging::Add => 1.0,
            Merging::AddScaled => kernel.constants()[0].re,
            Merging::Multiply | Merging::Extreme => {
                let is_product = matches!(K::MERGING, Merging::Multiply);
                return merged::<E, D>(indexing, out, index, b, is_product, tape, |to| {
                    D::scatter_with::<E>(indexing, kernel, inside(index), inside(b), to)
                });
            }
            _ => return missing(indexing.op),
        };
        scattered::<E, D>(indexing, out, index, b, Some(factor), tape, |to| {
            D::scatter_with::<E>(indexing, kernel, inside(index), inside(b), to)
        })
    }
}
/// Scatters into a copy of the old elements, and writes it in place of them.
fn scattered<'a, E: Element, D: Device>(
    indexing: crate::ops::arguments::Indexing,
    out: ViewMut<'_, On<D>, E>,
    index: View<'a, On<D>, i64>,
    b: View<'a, On<D>, E>,
    factor: Option<f64>,
    tape: Tape,
    run: impl FnOnce(ViewMut<'_, D::Storage, E>) -> Result<()>,
) -> Result<()> {
    let strides = row_major(out.sizes);
    let old = old(&out);
    let mut result = D::map1::<E, E>(Copying, inside(old), &strides)?;
    run(ViewMut::new(&mut result, 0, out.sizes, &strides))?;
    let dtype = moved::<E, _>([&*out.buffer, b.buffer]);
    let layout = Layout { dtype, ..Layout::of::<E>(out.sizes, &strides) };
    let rule = Rule::Scatter {
        old: Box::new(operand_as::<E, D>(&old, dtype, false)?),
        new: operand_as::<E, D>(&b, dtype, false)?,
        index: Box::new(operand::<i64, D>(&index, true)?),
        indexing,
        factor,
        layout: layout.packed(),
    };
    let new = if has_gradients(dtype) {
        tape.push(indexing.op, result, layout, rule, way::<OfScatter, E, D>(dtype))?
    } else {
        Tracked::constant(result)
    };
    written::<E, D>(out, new, &strides, tape)
}
/// Merges elements at indices into a copy of the old elements, and writes it in place of them.
fn merged<'a, E: Element, D: Device>(
    indexing: crate::ops::arguments::Indexing,
    out: ViewMut<'_, On<D>, E>,
    index: View<'a, On<D>, i64>,
    b: View<'a, On<D>, E>,
    is_product: bool,
    tape: Tape,
    run: impl FnOnce(ViewMut<'_, D::Storage, E>) -> Result<()>,
) -> Result<()> {
    let strides = row_major(out.sizes);
    let old = old(&out);
    let mut result = D::map1::<E, E>(Copying, inside(old), &strides)?;
    run(ViewMut::new(&mut result, 0, out.sizes, &strides))?;
    let new = if has_gradients(E::DTYPE) {
        let layout = Layout::of::<E>(out.sizes, &strides);
        let y = kept_result::<D>(&result);
        let (old, new) = (Box::new(operand::<E, D>(&old, true)?), operand::<E, D>(&b, true)?);
        let index = Box::new(operand::<i64, D>(&index, true)?);
        let rule = Rule::Merge { old, new, index, indexing, is_product, y, layout: layout.packed() };
        tape.push(indexing.op, result, layout, rule, way::<OfMerge, E, D>(E::DTYPE))?
    } else {
        Tracked::constant(result)
    };
    written::<E, D>(out, new, &strides, tape)
}
impl<E: Element> Recorded for Compress<'static, (), E> {
    fn record<D: Device>(call: Compress<'_, On<D>, E>, tape: Tape) -> Result<(On<D>, usize)> {
        let Compress { a, mask, .. } = call;
        let (result, count) = D::compress(inside(a), inside(mask))?;
        let dtype = moved::<E, _>([a.buffer]);
        let layout = Layout { dtype, ..Layout::dense::<E>(&[count]) };
        let x = operand_as::<E, D>(&a, dtype, false)?;
        let rule = Rule::Compress { x, mask: operand::<bool, D>(&mask, true)?, layout: layout.packed() };
        Ok((tape.push("masked_select", result, layout, rule, way::<OfCompress, E, D>(dtype))?, count))
    }
}
impl Recorded for IndexRows<'static, ()> {
    fn record<D: Device>(call: IndexRows<'_, On<D>>, _: Tape) -> Result<Option<(On<D>, usize)>> {
        let given = D::index_rows(inside(call.mask))?;
        Ok(given.map(|(storage, count)| (Tracked::constant(storage), count)))
    }
}
impl<E: Element> Recorded for Sort<'static, (), E> {
    fn record<D: Device>(call: Sort<'_, On<D>, E>, tape: Tape) -> Result<[On<D>; 2]> {
        let Sort { order, axis, a, .. } = call;
        let [values, positions] = D::order(order, inside(a), axis)?;
        let mut sizes = Dims::known(a.sizes);
        sizes[axis] = order.len(a.sizes[axis]);
        let layout = Layout::dense::<E>(&sizes);
        let index = Box::new(Operand::new(
            None,
            0,
            (DType::I64, &sizes, &sizes.row_major()),
            of_no_type,
            Some(kept_result::<D>(&positions)),
        ));
        let indexing = crate::ops::arguments::Indexing { op: "sort", axis, wraps: false };
        let x = operand::<E, D>(&a, false)?;
        let rule = Rule::Gather { x, index, indexing, layout: layout.packed() };
        let values = tape.push("sort", values, layout, rule, way::<OfGather, E, D>(E::DTYPE))?;
        Ok([values, Tracked::constant(positions)])
    }
}
impl<E: Element> Recorded for Search<'static, (), E> {
    fn record<D: Device>(call: Search<'_, On<D>, E>, _: Tape) -> Result<On<D>> {
        D::search(inside(call.sorted), inside(call.values), call.right).map(Tracked::constant)
    }
}
