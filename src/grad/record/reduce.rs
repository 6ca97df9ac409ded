//! Reductions, and functions of lanes and rows.

use super::{On, Recorded, has_gradients, kept_result, missing, operand};
use crate::device::call::*;
use crate::device::{Backend, Device};
use crate::dtype::{Castable, DType, Element};
use crate::error::{Result, invalid};
use crate::grad::pull::ways::{self, Pull, of_reduction, of_scan, way};
use crate::grad::rule::Rule;
use crate::grad::tape::{Layout, Operand, Tape, Tracked};
use crate::grad::taped::{Taped, inside};
use crate::layout::dims::Dims;
use crate::layout::strides::row_major;
use crate::ops::kernel::{LaneKernel, LaneSlope, Map2, RowKernel, RowSlope};
use crate::ops::reduce::{ReduceSlope, Reducer, TwoResults};
use crate::storage::View;

impl<E: Castable> Recorded for Seek<'static, (), E> {
    fn record<D: Device>(call: Seek<'_, On<D>, E>, _: Tape) -> Result<bool> {
        D::has(inside(call.a), call.what)
    }
}

/// The sizes without the axes of a mask.
pub(crate) fn left(sizes: &[usize], mask: u32) -> Dims {
    crate::composite::left_over(sizes, mask, false)
}

impl<A: Element, R: Reducer<A>> Recorded for Reduce<'static, (), A, R> {
    fn record<D: Device>(call: Reduce<'_, On<D>, A, R>, tape: Tape) -> Result<On<D>> {
        let Reduce { reducer, mask, a, .. } = call;
        let result = D::reduce(reducer, inside(a), mask)?;
        let layout = Layout::dense::<R::Out>(&left(a.sizes, mask));
        let pull = of_reduction::<A, R, D>();
        let slope = (R::SLOPE, reducer.numbers(), core::any::type_name::<R>());
        reduced::<D>(slope, pull, tape, &|keeps| operand::<A, D>(&a, keeps), mask, result, layout)
    }
}
/// Records a reduction.
pub(crate) fn reduced<D: Device>(
    (slope, numbers, name): (ReduceSlope, [f64; 2], &'static str),
    pull: Pull<D::Storage>,
    tape: Tape,
    x: &dyn Fn(bool) -> Result<Operand<D::Storage>>,
    mask: u32,
    result: D::Storage,
    layout: Layout,
) -> Result<On<D>> {
    if !has_gradients(layout.dtype) {
        return Ok(Tracked::constant(result));
    }
    let (keeps, keeps_result) = match slope {
        ReduceSlope::Missing => return missing(name),
        ReduceSlope::Flat => return Ok(Tracked::constant(result)),
        ReduceSlope::Sum | ReduceSlope::Mean => (false, false),
        ReduceSlope::NanSum | ReduceSlope::NanMean => (true, false),
        _ => (true, true),
    };
    let kept = keeps_result.then(|| kept_result::<D>(&result));
    let x = x(keeps)?;
    let rule = Rule::Reduce { slope, numbers, x, mask, results: [kept, None], layout: layout.packed() };
    tape.push(name, result, layout, rule, pull)
}
impl<A: Element, R: TwoResults<A>> Recorded for ReduceBoth<'static, (), A, R> {
    fn record<D: Device>(call: ReduceBoth<'_, On<D>, A, R>, tape: Tape) -> Result<[On<D>; 2]> {
        let ReduceBoth { reducer, mask, a, .. } = call;
        let results = D::reduce_both(reducer, inside(a), mask)?;
        let slope = (R::SLOPE, reducer.numbers(), core::any::type_name::<R>());
        let pull = of_reduction::<A, R, D>();
        let sizes = left(a.sizes, mask);
        let layouts = [Layout::dense::<R::Out>(&sizes), Layout::dense::<R::Second>(&sizes)];
        reduced_both::<D>(slope, pull, tape, operand::<A, D>(&a, true)?, mask, results, layouts)
    }
}
/// Records a reduction with two results.
pub(crate) fn reduced_both<D: Device>(
    (slope, numbers, name): (ReduceSlope, [f64; 2], &'static str),
    pull: Pull<D::Storage>,
    tape: Tape,
    x: Operand<D::Storage>,
    mask: u32,
    [first, second]: [D::Storage; 2],
    layouts: [Layout; 2],
) -> Result<[On<D>; 2]> {
    if let ReduceSlope::Missing = slope {
        return missing(name);
    }
    let kept = [kept_result::<D>(&first), kept_result::<D>(&second)];
    let has = layouts.map(|layout| has_gradients(layout.dtype));
    let layout = layouts[if has[0] { 0 } else { 1 }];
    let rule = Rule::Reduce { slope, numbers, x, mask, results: kept.map(Some), layout: layout.packed() };
    both(tape, name, [(first, layouts[0]), (second, layouts[1])], has, (rule, pull))
}
/// Two results; `has` says which of them have gradients.
fn both<B>(
    tape: Tape,
    op: &'static str,
    results: [(B, Layout); 2],
    has: [bool; 2],
    (rule, pull): (Rule<B>, Pull<B>),
) -> Result<[Tracked<B>; 2]> {
    let [first, second] = results;
    Ok(match has {
        [true, true] => {
            let given = tape.push_both(op, [Some(first), Some(second)], rule, pull)?;
            let [Some(first), Some(second)] = given else { return invalid(op, "has two results".to_owned()) };
            [first, second]
        }
        [true, false] => [tape.push(op, first.0, first.1, rule, pull)?, Tracked::constant(second.0)],
        [false, true] => {
            let [_, given] = tape.push_both(op, [None, Some(second)], rule, pull)?;
            let Some(given) = given else { return invalid(op, "has two results".to_owned()) };
            [Tracked::constant(first.0), given]
        }
        [false, false] => [Tracked::constant(first.0), Tracked::constant(second.0)],
    })
}
impl<A: Element, C: Element, E: Element, K: Map2<A, C, E>, R: Reducer<E>> Recorded
    for ReducePairs<'static, (), A, C, E, K, R>
{
    fn record<D: Device>(call: ReducePairs<'_, On<D>, A, C, E, K, R>, _: Tape) -> Result<On<D>> {
        let ReducePairs { reducer, kernel, mask, a, b, .. } = call;
        let strides = row_major(a.sizes);
        let pairs = Taped::<D>::map2::<A, C, E>(kernel, a, b, &strides)?;
        Taped::<D>::reduce::<E, R>(reducer, View::new(&pairs, 0, a.sizes, &strides), mask)
    }
}

impl<A: Element, O: Element, K: LaneKernel<A, O>> Recorded for Lanes<'static, (), A, O, K> {
    fn record<D: Device>(call: Lanes<'_, On<D>, A, O, K>, tape: Tape) -> Result<On<D>> {
        let Lanes { kernel, axis, a, .. } = call;
        let result = D::lanes::<A, O>(kernel, inside(a), axis)?;
        if !has_gradients(O::DTYPE) {
            return Ok(Tracked::constant(result));
        }
        let (slope, name) = (K::SLOPE, core::any::type_name::<K>());
        let layout = Layout::dense::<O>(a.sizes);
        let (keeps, keeps_result) = match slope {
            LaneSlope::Missing | LaneSlope::Extreme => return missing(name),
            LaneSlope::Softmax | LaneSlope::LogSoftmax => (false, true),
            LaneSlope::Sum => (false, false),
            LaneSlope::Product | LaneSlope::LogSumExp => (true, true),
        };
        let kept = keeps_result.then(|| kept_result::<D>(&result));
        let rule = Rule::Lanes { slope, x: operand::<A, D>(&a, keeps)?, axis, result: kept, layout: layout.packed() };
        tape.push(name, result, layout, rule, of_scan::<A, O, K, D>())
    }
}
impl<A: Element, O: Element, P: Element, K: LaneKernel<A, (O, P)>> Recorded for LanesBoth<'static, (), A, O, P, K> {
    fn record<D: Device>(call: LanesBoth<'_, On<D>, A, O, P, K>, tape: Tape) -> Result<[On<D>; 2]> {
        let LanesBoth { kernel, axis, a, .. } = call;
        let [first, second] = D::lanes_both::<A, O, P>(kernel, inside(a), axis)?;
        let (slope, name) = (K::SLOPE, core::any::type_name::<K>());
        if !matches!(slope, LaneSlope::Extreme) || P::DTYPE != DType::I64 {
            return missing(name);
        }
        let layouts = [Layout::dense::<O>(a.sizes), Layout::dense::<P>(a.sizes)];
        let kept = kept_result::<D>(&second);
        let rule = Rule::Lanes {
            slope,
            x: operand::<A, D>(&a, false)?,
            axis,
            result: Some(kept),
            layout: layouts[0].packed(),
        };
        both(
            tape,
            name,
            [(first, layouts[0]), (second, layouts[1])],
            [has_gradients(O::DTYPE), false],
            (rule, way::<ways::OfExtremes, O, D>(O::DTYPE)),
        )
    }
}
impl<A: Element, O: Element, K: RowKernel<A, O>> Recorded for Rows<'static, (), A, O, K> {
    fn record<D: Device>(call: Rows<'_, On<D>, A, O, K>, tape: Tape) -> Result<On<D>> {
        let Rows { kernel, a, shared, .. } = call;
        let result = D::rows::<A, O>(kernel, inside(a), shared.map(|row| row.map(inside)))?;
        let (slope, name) = (kernel.slope(), core::any::type_name::<K>());
        if let RowSlope::Missing = slope {
            return missing(name);
        }
        let layout = Layout::dense::<O>(a.sizes);
        let x = operand::<A, D>(&a, true)?;
        let [first, second] = shared;
        let shared = [first, second].map(|row| row.map(|row| operand::<A, D>(&row, true)).transpose());
        let [first, second] = shared;
        let shared = Box::new([first?, second?]);
        let rule = Rule::Rows { slope, x, shared, layout: layout.packed() };
        tape.push(name, result, layout, rule, way::<ways::OfRows, O, D>(O::DTYPE))
    }
}
/// Normalisation by groups is done by other calls.
impl<A: Element, O: Element, K: RowKernel<A, O>> Recorded for Groups<'static, (), A, O, K> {
    fn record<D: Device>(_: Groups<'_, On<D>, A, O, K>, _: Tape) -> Result<Option<On<D>>> {
        Ok(None)
    }
}
