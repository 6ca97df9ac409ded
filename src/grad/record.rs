//! What is recorded of each kind of call.
//!
//! A call whose operands depend on a parameter is run by the device inside, and a step is put on the tape; or it is done by other calls,
//! which are recorded. Calls that nothing here differentiates are refused by name.

use super::pull::Convolving;
use super::rule::{Given as GivenConstants, Rule};
use super::tape::{Extent, Kept, Layout, Node, Operand, Packed, Step, Tape, Tracked};
use super::taped::{Taped, inside};
use crate::device::call::*;
use crate::device::{Backend, Device};
use crate::dtype::{Castable, DType, Dtype, Element};
use crate::error::{Result, collected, invalid};
use crate::layout::dims::Dims;
use crate::layout::strides::{is_contiguous, is_dense, row_major};
use crate::ops::kernel::{Copying, LaneKernel, LaneSlope, Map1, Map2, Map3, Merging, RowKernel, RowSlope, Slope};
use crate::ops::reduce::{ReduceSlope, Reducer, TwoResults};
use crate::ops::slope::{Constants, Derived, OfBinary};
use crate::storage::{View, ViewMut};

type On<D> = Tracked<<D as Backend>::Storage>;

/// How a tape records a kind of call. At least one of its operands depends on a parameter.
pub trait Recorded: Kind {
    /// Runs the call and records it.
    fn record<D: Device>(call: Self::Of<'_, On<D>>, tape: Tape) -> Result<Given<Self, On<D>>>;
}

/// Whether elements of this dtype have gradients.
pub(crate) fn has_gradients(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C32 | DType::C64 | DType::C128)
}

/// The error of an operation without derivative.
#[cold]
fn missing<T>(op: &str) -> Result<T> {
    let word = op.split('<').next().unwrap_or(op).rsplit("::").next().unwrap_or(op);
    let reason = format!(
        "`{word}` has no derivative here: compute it of `.detach()`ed tensors, or write one with `grad::custom`"
    );
    invalid("value_and_grad", reason)
}

/// An operand as the tape keeps it, with a handle to its elements if the way back reads them.
pub(super) fn operand<E: Element, D: Device>(view: &View<'_, On<D>, E>, keeps: bool) -> Result<Operand<D::Storage>> {
    operand_as::<E, D>(view, E::DTYPE, keeps)
}
/// The same where the type may only stand for the width of elements of this dtype.
fn operand_as<E: Element, D: Device>(
    view: &View<'_, On<D>, E>,
    dtype: DType,
    keeps: bool,
) -> Result<Operand<D::Storage>> {
    let mut operand = Operand::EMPTY;
    fill_operand::<E, D>(view, dtype, keeps, &mut operand)?;
    Ok(operand)
}
/// The same, written into a record.
fn fill_operand<E: Element, D: Device>(
    view: &View<'_, On<D>, E>,
    dtype: DType,
    keeps: bool,
    to: &mut Operand<D::Storage>,
) -> Result<()> {
    to.layout.put(dtype, view.sizes, view.strides);
    to.offset = view.offset;
    if has_gradients(dtype) {
        to.node = view.buffer.node();
    }
    if keeps {
        to.kept = Some(kept::<E, D>(view)?);
    }
    Ok(())
}
/// A handle to elements. Those of a window are copied: it is written again, and the memory is borrowed.
pub(super) fn kept<E: Element, D: Device>(view: &View<'_, On<D>, E>) -> Result<Kept<D::Storage>> {
    let (storage, offset) = D::share_own(inside(*view))?;
    Ok(Kept { storage, offset })
}
/// A handle to a new result, which nobody else has yet.
fn kept_result<D: Device>(storage: &D::Storage) -> Kept<D::Storage> {
    let (storage, offset) = D::share(View::<_, u8>::new(storage, 0, &[], &[]));
    Kept { storage, offset }
}

/// The dtype of elements that are only moved: where the code is compiled for widths, that of a value on the tape.
fn moved<'a, E: Element, B: 'a>(storages: impl IntoIterator<Item = &'a Tracked<B>>) -> DType {
    if has_gradients(E::DTYPE) {
        return E::DTYPE;
    }
    let node = storages.into_iter().find_map(Tracked::node);
    node.and_then(|node| seen_in(node.extent().dtype, size_of::<E>())).unwrap_or(E::DTYPE)
}
/// The dtype of this width that elements of a storage are seen as: its own, that of the parts of its complex numbers, or that of complex
/// numbers whose parts they are.
fn seen_in(of: DType, width: usize) -> Option<DType> {
    match of.itemsize() {
        own if own == width => Some(of),
        own if own == 2 * width && of.is_complex() => Some(of.to_real()),
        own if 2 * own == width && !of.is_complex() => of.to_complex(),
        _ => None,
    }
}

/// An elementwise call, as it is recorded: its derivative, its constants and its name.
pub(crate) type Sloped = (Slope, Constants, &'static str);
/// Where elements are: their dtype, sizes and strides.
pub(crate) type Lying<'a> = (DType, &'a [usize], &'a [usize]);

/// Fills in an operand as the tape keeps it, with its elements or without.
pub(crate) type Fill<'a, B> = dyn Fn(usize, bool, &mut Operand<B>) -> Result<()> + 'a;

/// Records an elementwise call. The bits of `tracked` say which of its operands depend on a parameter and have gradients.
#[inline(never)]
pub(crate) fn elementwise<D: Device>(
    sloped: &Sloped,
    tape: Tape,
    result: D::Storage,
    lying: Lying<'_>,
    fill: &Fill<'_, D::Storage>,
    (count, tracked): (usize, u32),
) -> Result<On<D>> {
    match elementwise_node::<D>(sloped, tape, Some(&result), lying, fill, (count, tracked), 0)? {
        Some(node) => Ok(Tracked::of(result, node)),
        None => Ok(Tracked::constant(result)),
    }
}
/// Records an elementwise call of two operands that writes its result in place of the first, which nobody reads, and whose node, with this
/// number, the step is given afterwards.
#[inline(never)]
fn elementwise_in_place<D: Device>(
    sloped: &Sloped,
    tape: Tape,
    lying: Lying<'_>,
    fill: &Fill<'_, D::Storage>,
    tracked: u32,
    first: u64,
) -> Result<Node<D::Storage>> {
    match elementwise_node::<D>(sloped, tape, None, lying, fill, (2, tracked), first)? {
        Some(node) => Ok(node),
        None => missing(sloped.2),
    }
}
/// The step of an elementwise call; `None` if its result is a constant. `given` is the number of an operand that it is given afterwards.
/// (Inlined, as what puts a rule on a tape is: they are large.)
#[inline(always)]
fn elementwise_node<D: Device>(
    sloped: &Sloped,
    tape: Tape,
    result: Option<&D::Storage>,
    lying: Lying<'_>,
    fill: &Fill<'_, D::Storage>,
    (count, tracked): (usize, u32),
    given: u64,
) -> Result<Option<Node<D::Storage>>> {
    let &(slope, ref constants, name) = sloped;
    let (dtype, sizes, strides) = lying;
    if !has_gradients(dtype) {
        return Ok(None);
    }
    let extent = Extent::of(dtype, sizes);
    let Slope::Formula(formula, computes) = slope else {
        return match other_rule::<D>(sloped, Packed::of(dtype, sizes, strides), fill)? {
            Some(rule) => tape.push_node(name, extent, rule).map(Some),
            None => Ok(None),
        };
    };
    let mut reads = 0;
    for at in (0..count).filter(|at| tracked >> at & 1 == 1) {
        if formula.by >> at & 1 == 0 {
            return missing(name);
        }
        reads |= formula.reads[at];
    }
    let y = result.filter(|_| reads >> 3 & 1 == 1).map(kept_result::<D>);
    let filled = tape.push_filled(name, extent, Step::blank_formula(count), |rule| {
        let Rule::Formula { formula: of, computes: by, given: own, x, y: kept, layout } = rule else {
            return Ok(given);
        };
        (*of, *by, *own, *kept) = (Some(formula), computes, GivenConstants::of(constants), y);
        layout.put(dtype, sizes, strides);
        let mut number = given;
        for (at, x) in x.iter_mut().enumerate() {
            fill(at, reads >> at & 1 == 1, x)?;
            number = number.max(x.number());
        }
        Ok(number)
    });
    filled.map(Some)
}
/// The rule of an elementwise call that is no formula.
#[inline(never)]
fn other_rule<D: Device>(
    &(slope, _, name): &Sloped,
    layout: Packed,
    fill: &Fill<'_, D::Storage>,
) -> Result<Option<Rule<D::Storage>>> {
    let make = |at, keeps| {
        let mut operand = Operand::EMPTY;
        fill(at, keeps, &mut operand).map(|()| operand)
    };
    let tracked = |at| Ok(Some(make(at, false)?).filter(|x| x.node.is_some()));
    Ok(Some(match slope {
        Slope::Missing | Slope::Formula(..) => return missing(name),
        Slope::Flat => return Ok(None),
        Slope::Moves(at) => Rule::Moves { x: make(at, false)?, layout },
        Slope::Chooses => {
            Rule::Chooses { condition: make(0, true)?, choices: Box::new([tracked(1)?, tracked(2)?]), layout }
        }
        Slope::Masked { operand, when } => {
            let x = tracked(operand)?;
            let choices = Box::new(if when { [x, None] } else { [None, x] });
            Rule::Chooses { condition: make(1 - operand, true)?, choices, layout }
        }
        Slope::Parts => Rule::Parts { x: [tracked(0)?, tracked(1)?], layout },
        Slope::Polar => Rule::Polar { x: [Some(make(0, true)?), Some(make(1, true)?)], layout },
    }))
}
/// Whether these are the strides of elements one after the other.
#[inline]
fn is_line<const N: usize>(strides: [&[usize]; N]) -> bool {
    strides.iter().all(|&strides| *strides == [1])
}
/// Bits that say which operands depend on a parameter and have gradients.
fn tracked_among<const N: usize>(operands: [(DType, bool); N]) -> u32 {
    let bits = operands.into_iter().enumerate().map(|(at, (dtype, is))| u32::from(is && has_gradients(dtype)) << at);
    bits.fold(0, |all, bit| all | bit)
}

impl<A: Element, O: Element, K: Map1<A, O>> Recorded for Unary<'static, (), A, O, K> {
    fn record<D: Device>(call: Unary<'_, On<D>, A, O, K>, tape: Tape) -> Result<On<D>> {
        let Unary { kernel, strides, a, .. } = call;
        let result = match is_line([a.strides, strides]) {
            true => D::map1_line::<A, O>(kernel, inside(a), a.sizes[0])?,
            false => D::map1::<A, O>(kernel, inside(a), strides)?,
        };
        let slope = (K::SLOPE, kernel.constants(), core::any::type_name::<K>());
        let (mut dtype, mut to) = (A::DTYPE, O::DTYPE);
        if K::MOVES {
            dtype = moved::<A, _>([a.buffer]);
            to = dtype;
        }
        let fill = |_, keeps, to: &mut _| fill_operand::<A, D>(&a, dtype, keeps, to);
        let tracked = tracked_among([(dtype, a.buffer.is_tracked())]);
        elementwise::<D>(&slope, tape, result, (to, a.sizes, strides), &fill, (1, tracked))
    }
}
impl<A: Element, C: Element, O: Element, K: Map2<A, C, O>> Recorded for Binary<'static, (), A, C, O, K> {
    fn record<D: Device>(call: Binary<'_, On<D>, A, C, O, K>, tape: Tape) -> Result<On<D>> {
        let Binary { kernel, strides, a, b, .. } = call;
        let result = match is_line([a.strides, b.strides, strides]) {
            true => D::map2_line::<A, C, O>(kernel, inside(a), inside(b), a.sizes[0])?,
            false => D::map2::<A, C, O>(kernel, inside(a), inside(b), strides)?,
        };
        let slope = (K::SLOPE, kernel.constants(), core::any::type_name::<K>());
        let (mut dtypes, mut to) = ([A::DTYPE, C::DTYPE], O::DTYPE);
        if let Slope::Masked { operand, .. } = K::SLOPE {
            let of = if operand == 0 { a.buffer } else { b.buffer };
            if dtypes[operand] == O::DTYPE {
                to = moved::<O, _>([of]);
                dtypes[operand] = to;
            }
        }
        let fill = |at, keeps, to: &mut _| match at {
            0 => fill_operand::<A, D>(&a, dtypes[0], keeps, to),
            _ => fill_operand::<C, D>(&b, dtypes[1], keeps, to),
        };
        let tracked = tracked_among([(dtypes[0], a.buffer.is_tracked()), (dtypes[1], b.buffer.is_tracked())]);
        elementwise::<D>(&slope, tape, result, (to, a.sizes, strides), &fill, (2, tracked))
    }
}
impl<A: Element, C: Element, F: Element, O: Element, K: Map3<A, C, F, O>> Recorded
    for Ternary<'static, (), A, C, F, O, K>
{
    fn record<D: Device>(call: Ternary<'_, On<D>, A, C, F, O, K>, tape: Tape) -> Result<On<D>> {
        let Ternary { kernel, strides, a, b, c, .. } = call;
        let result = D::map3::<A, C, F, O>(kernel, inside(a), inside(b), inside(c), strides)?;
        let slope = (K::SLOPE, kernel.constants(), core::any::type_name::<K>());
        let (mut dtypes, mut to) = ([C::DTYPE, F::DTYPE], O::DTYPE);
        if matches!(K::SLOPE, Slope::Chooses) && dtypes == [O::DTYPE; 2] {
            to = moved::<O, _>([b.buffer, c.buffer]);
            dtypes = [to; 2];
        }
        let fill = |at, keeps, to: &mut _| match at {
            0 => fill_operand::<A, D>(&a, A::DTYPE, keeps, to),
            1 => fill_operand::<C, D>(&b, dtypes[0], keeps, to),
            _ => fill_operand::<F, D>(&c, dtypes[1], keeps, to),
        };
        let tracked = tracked_among([
            (A::DTYPE, a.buffer.is_tracked()),
            (dtypes[0], b.buffer.is_tracked()),
            (dtypes[1], c.buffer.is_tracked()),
        ]);
        elementwise::<D>(&slope, tape, result, (to, a.sizes, strides), &fill, (3, tracked))
    }
}

/// Whether elements of these sizes, dense from an offset on, are the whole of a storage, and no other storage stands for them.
fn fills<E: Element, D: Device>(buffer: &On<D>, offset: usize, sizes: &[usize]) -> bool {
    offset == 0
        && D::holds::<E>(&buffer.inner, sizes.iter().product())
        && !D::is_fixed(&buffer.inner)
        && !buffer.is_window()
}

/// Writes new elements into a part of a storage or the whole of it.
fn written<E: Element, D: Device>(out: ViewMut<'_, On<D>, E>, new: On<D>, strides: &[usize], tape: Tape) -> Result<()> {
    let ViewMut { buffer, offset, sizes, strides: places, .. } = out;
    if places == strides && fills::<E, D>(buffer, offset, sizes) {
        *buffer = new;
        return Ok(());
    }
    // An earlier step may keep the old elements.
    if let (Some(len), false) = (D::room::<E>(&buffer.inner), D::is_unique(&mut buffer.inner) || buffer.is_window()) {
        buffer.inner = D::map1::<E, E>(Copying, View::<_, E>::new(&buffer.inner, 0, &[len], &[1]), &[1])?;
    }
    let view = View::<_, E>::new(&new.inner, 0, sizes, strides);
    D::map1_into::<E, E>(Copying, view, ViewMut::new(&mut buffer.inner, offset, sizes, places))?;
    let dtype = moved::<E, _>([&*buffer, &new]);
    if !has_gradients(dtype) {
        return Ok(());
    }
    let old = buffer.node();
    if old.is_none() && !new.is_tracked() {
        return Ok(());
    }
    let room =
        D::room::<E>(&buffer.inner).unwrap_or_else(|| crate::layout::bounds::span(sizes, places).unwrap_or(0) + offset);
    let place = Operand::new(old, offset, Packed::of(dtype, sizes, places), None);
    let new = operand_as::<E, D>(&View::new(&new, 0, sizes, strides), dtype, false)?;
    let layout = Layout { dtype, ..Layout::dense::<E>(&[room]) };
    buffer.move_to(tape.push_node("assign", layout.extent(), Rule::Patch { place, new, layout: layout.packed() })?);
    Ok(())
}

impl<A: Element, O: Element, K: Map1<A, O>> Recorded for UnaryInto<'static, (), A, O, K> {
    fn record<D: Device>(call: UnaryInto<'_, On<D>, A, O, K>, tape: Tape) -> Result<()> {
        let UnaryInto { kernel, out, a, .. } = call;
        let strides = kept_strides(out.sizes, out.strides);
        let new = Taped::<D>::map1::<A, O>(kernel, a, &strides)?;
        written::<O, D>(out, new, &strides, tape)
    }
}
impl<A: Element, C: Element, O: Element, K: Map2<A, C, O>> Recorded for BinaryInto<'static, (), A, C, O, K> {
    fn record<D: Device>(call: BinaryInto<'_, On<D>, A, C, O, K>, tape: Tape) -> Result<()> {
        let BinaryInto { kernel, out, a, b, .. } = call;
        let strides = kept_strides(out.sizes, out.strides);
        let new = Taped::<D>::map2::<A, C, O>(kernel, a, b, &strides)?;
        written::<O, D>(out, new, &strides, tape)
    }
}
impl<O: Element, K: Map1<O, O>> Recorded for Update<'static, (), O, K> {
    fn record<D: Device>(call: Update<'_, On<D>, O, K>, tape: Tape) -> Result<()> {
        let Update { kernel, out, .. } = call;
        let strides = kept_strides(out.sizes, out.strides);
        let new = Taped::<D>::map1::<O, O>(kernel, reading(&out), &strides)?;
        written::<O, D>(out, new, &strides, tape)
    }
}
impl<C: Element, O: Element, K: Map2<O, C, O>> Recorded for UpdateBy<'static, (), C, O, K> {
    fn record<D: Device>(call: UpdateBy<'_, On<D>, C, O, K>, tape: Tape) -> Result<()> {
        let UpdateBy { kernel, out, b, .. } = call;
        // In place, if nobody reads the old elements, nor the way back.
        let reads = match K::SLOPE {
            Slope::Formula(formula, _) => formula.reads.iter().any(|reads| reads & 0b1001 != 0),
            _ => true,
        };
        if !reads
            && has_gradients(O::DTYPE)
            && is_dense(out.sizes, out.strides)
            && fills::<O, D>(out.buffer, out.offset, out.sizes)
            && D::is_unique(&mut out.buffer.inner)
        {
            let ViewMut { buffer, offset, sizes, strides, .. } = out;
            let fill = |at, keeps, to: &mut Operand<D::Storage>| match at {
                0 => {
                    to.layout.put(O::DTYPE, sizes, strides);
                    to.offset = offset;
                    Ok(())
                }
                _ => fill_operand::<C, D>(&b, C::DTYPE, keeps, to),
            };
            let slope = (K::SLOPE, kernel.constants(), core::any::type_name::<K>());
            let number = buffer.with_node(|node| node.map(|node| node.step.number));
            let tracked = tracked_among([(O::DTYPE, number.is_some()), (C::DTYPE, b.buffer.is_tracked())]);
            let lying = (O::DTYPE, sizes, strides);
            let node = elementwise_in_place::<D>(&slope, tape, lying, &fill, tracked, number.unwrap_or(0))?;
            let is_alike = b.sizes == sizes && b.strides == strides && is_contiguous(sizes, strides);
            let old = ViewMut::new(&mut buffer.inner, offset, sizes, strides);
            match is_alike {
                true => D::update2_line::<C, O>(kernel, inside(b), old, sizes.iter().product())?,
                false => D::update2::<C, O>(kernel, inside(b), old)?,
            }
            buffer.move_on(node, 0);
            return Ok(());
        }
        let strides = kept_strides(out.sizes, out.strides);
        let new = Taped::<D>::map2::<O, C, O>(kernel, reading(&out), b, &strides)?;
        written::<O, D>(out, new, &strides, tape)
    }
}
/// The elements that will be written.
fn reading<'a, B, E>(out: &'a ViewMut<'_, B, E>) -> View<'a, B, E> {
    View::new(&*out.buffer, out.offset, out.sizes, out.strides)
}
/// The strides of a new result: those of the output, if it has no gaps.
fn kept_strides(sizes: &[usize], strides: &[usize]) -> Vec<usize> {
    if is_dense(sizes, strides) { strides.to_vec() } else { row_major(sizes) }
}

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
        let slope = (reducer.slope(), core::any::type_name::<R>());
        let layout = Layout::dense::<R::Out>(&left(a.sizes, mask));
        reduced::<D>(slope, tape, &|keeps| operand::<A, D>(&a, keeps), mask, result, layout)
    }
}
/// Records a reduction.
pub(crate) fn reduced<D: Device>(
    (slope, name): (ReduceSlope, &'static str),
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
    tape.push(name, result, layout, Rule::Reduce { slope, x, mask, results: [kept, None], layout: layout.packed() })
}
impl<A: Element, R: TwoResults<A>> Recorded for ReduceBoth<'static, (), A, R> {
    fn record<D: Device>(call: ReduceBoth<'_, On<D>, A, R>, tape: Tape) -> Result<[On<D>; 2]> {
        let ReduceBoth { reducer, mask, a, .. } = call;
        let results = D::reduce_both(reducer, inside(a), mask)?;
        let slope = (reducer.slope(), core::any::type_name::<R>());
        let sizes = left(a.sizes, mask);
        let layouts = [Layout::dense::<R::Out>(&sizes), Layout::dense::<R::Second>(&sizes)];
        reduced_both::<D>(slope, tape, operand::<A, D>(&a, true)?, mask, results, layouts)
    }
}
/// Records a reduction with two results.
pub(crate) fn reduced_both<D: Device>(
    (slope, name): (ReduceSlope, &'static str),
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
    let rule = Rule::Reduce { slope, x, mask, results: kept.map(Some), layout: layout.packed() };
    both(tape, name, [(first, layouts[0]), (second, layouts[1])], has, rule)
}
/// Two results; `has` says which of them have gradients.
fn both<B>(
    tape: Tape,
    op: &'static str,
    results: [(B, Layout); 2],
    has: [bool; 2],
    rule: Rule<B>,
) -> Result<[Tracked<B>; 2]> {
    let [first, second] = results;
    Ok(match has {
        [true, true] => {
            let given = tape.push_both(op, [Some(first), Some(second)], rule)?;
            let [Some(first), Some(second)] = given else { return invalid(op, "has two results".to_owned()) };
            [first, second]
        }
        [true, false] => [tape.push(op, first.0, first.1, rule)?, Tracked::constant(second.0)],
        [false, true] => {
            let [_, given] = tape.push_both(op, [None, Some(second)], rule)?;
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
        let (slope, name) = (kernel.slope(), core::any::type_name::<K>());
        let layout = Layout::dense::<O>(a.sizes);
        let (keeps, keeps_result) = match slope {
            LaneSlope::Missing | LaneSlope::Extreme => return missing(name),
            LaneSlope::Softmax | LaneSlope::LogSoftmax => (false, true),
            LaneSlope::Sum => (false, false),
            LaneSlope::Product | LaneSlope::LogSumExp => (true, true),
        };
        let kept = keeps_result.then(|| kept_result::<D>(&result));
        let rule = Rule::Lanes { slope, x: operand::<A, D>(&a, keeps)?, axis, result: kept, layout: layout.packed() };
        tape.push(name, result, layout, rule)
    }
}
impl<A: Element, O: Element, P: Element, K: LaneKernel<A, (O, P)>> Recorded for LanesBoth<'static, (), A, O, P, K> {
    fn record<D: Device>(call: LanesBoth<'_, On<D>, A, O, P, K>, tape: Tape) -> Result<[On<D>; 2]> {
        let LanesBoth { kernel, axis, a, .. } = call;
        let [first, second] = D::lanes_both::<A, O, P>(kernel, inside(a), axis)?;
        let (slope, name) = (kernel.slope(), core::any::type_name::<K>());
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
        both(tape, name, [(first, layouts[0]), (second, layouts[1])], [has_gradients(O::DTYPE), false], rule)
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
        tape.push(name, result, layout, Rule::Rows { slope, x, shared, layout: layout.packed() })
    }
}
/// Normalisation by groups is done by other calls.
impl<A: Element, O: Element, K: RowKernel<A, O>> Recorded for Groups<'static, (), A, O, K> {
    fn record<D: Device>(_: Groups<'_, On<D>, A, O, K>, _: Tape) -> Result<Option<On<D>>> {
        Ok(None)
    }
}

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
        tape.push("pick", result, layout, Rule::Pick { x, axes: axes.to_vec(), layout: layout.packed() })
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
        tape.push("cat", result, layout, Rule::Join { pieces, axis, layout: layout.packed() })
    }
}
impl<E: Element> Recorded for Band<'static, (), E> {
    fn record<D: Device>(call: Band<'_, On<D>, E>, tape: Tape) -> Result<On<D>> {
        let Band { low, high, a, .. } = call;
        let result = D::band(inside(a), low, high)?;
        let dtype = moved::<E, _>([a.buffer]);
        let layout = Layout { dtype, ..Layout::dense::<E>(a.sizes) };
        let x = operand_as::<E, D>(&a, dtype, false)?;
        tape.push("band", result, layout, Rule::Band { x, low, high, layout: layout.packed() })
    }
}
impl<E: Element> Recorded for Gather<'static, (), E> {
    fn record<D: Device>(call: Gather<'_, On<D>, E>, tape: Tape) -> Result<On<D>> {
        let Gather { indexing, a, index, .. } = call;
        let result = D::gather(indexing, inside(a), inside(index))?;
        let dtype = moved::<E, _>([a.buffer]);
        let layout = Layout { dtype, ..Layout::dense::<E>(index.sizes) };
        let (x, index) = (operand_as::<E, D>(&a, dtype, false)?, Box::new(operand::<i64, D>(&index, true)?));
        tape.push(indexing.op, result, layout, Rule::Gather { x, index, indexing, layout: layout.packed() })
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
    let old = reading(&out);
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
    let new =
        if has_gradients(dtype) { tape.push(indexing.op, result, layout, rule)? } else { Tracked::constant(result) };
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
    let old = reading(&out);
    let mut result = D::map1::<E, E>(Copying, inside(old), &strides)?;
    run(ViewMut::new(&mut result, 0, out.sizes, &strides))?;
    let new = if has_gradients(E::DTYPE) {
        let layout = Layout::of::<E>(out.sizes, &strides);
        let y = kept_result::<D>(&result);
        let (old, new) = (Box::new(operand::<E, D>(&old, true)?), operand::<E, D>(&b, true)?);
        let index = Box::new(operand::<i64, D>(&index, true)?);
        tape.push(
            indexing.op,
            result,
            layout,
            Rule::Merge { old, new, index, indexing, is_product, y, layout: layout.packed() },
        )?
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
        Ok((tape.push("masked_select", result, layout, rule)?, count))
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
            Packed::of(DType::I64, &sizes, &sizes.row_major()),
            Some(kept_result::<D>(&positions)),
        ));
        let indexing = crate::ops::arguments::Indexing { op: "sort", axis, wraps: false };
        let x = operand::<E, D>(&a, false)?;
        let values = tape.push("sort", values, layout, Rule::Gather { x, index, indexing, layout: layout.packed() })?;
        Ok([values, Tracked::constant(positions)])
    }
}
impl<E: Element> Recorded for Search<'static, (), E> {
    fn record<D: Device>(call: Search<'_, On<D>, E>, _: Tape) -> Result<On<D>> {
        D::search(inside(call.sorted), inside(call.values), call.right).map(Tracked::constant)
    }
}

impl<E: Dtype, K: Map1<E, E>> Recorded for Product<'static, (), E, K> {
    fn record<D: Device>(call: Product<'_, On<D>, E, K>, tape: Tape) -> Result<On<D>> {
        let Product { kernel, a, b, added, .. } = call;
        let rank = a.sizes.len();
        let mut sizes = Dims::known(a.sizes);
        sizes[rank - 1] = b.sizes[rank - 1];
        let strides = sizes.row_major();
        let result = D::matmul::<E>(inside(a), inside(b), None)?;
        let mut result = if a.buffer.is_tracked() || b.buffer.is_tracked() {
            Tracked::of(result, product::<E, D>(&a, &b, (E::DTYPE, &sizes, &strides), tape)?)
        } else {
            Tracked::constant(result)
        };
        if let Some(crate::ops::arguments::Added { input, beta, alpha }) = added {
            // `beta * input + alpha * product`, by rows.
            let product = View::<_, E>::new(&result, 0, &sizes, &strides);
            let scaled = Taped::<D>::map1::<E, E>(scaling::<E>(alpha), product, &strides)?;
            result = match input {
                None => scaled,
                Some(input) => {
                    let more = Taped::<D>::map1::<E, E>(scaling::<E>(beta), input, &strides)?;
                    let [one, other] = [&scaled, &more].map(|of| View::<_, E>::new(of, 0, &sizes, &strides));
                    Taped::<D>::map2::<E, E, E>(
                        crate::ops::kernel::Combining::<crate::ops::add, E>::new(),
                        one,
                        other,
                        &strides,
                    )?
                }
            };
        }
        match kernel {
            None => Ok(result),
            Some(kernel) => Taped::<D>::map1::<E, E>(kernel, View::new(&result, 0, &sizes, &strides), &strides),
        }
    }
}
/// The step of a product. The way back reads each factor for the gradient of the other.
#[inline(never)]
fn product<E: Element, D: Device>(
    a: &View<'_, On<D>, E>,
    b: &View<'_, On<D>, E>,
    (dtype, sizes, strides): Lying<'_>,
    tape: Tape,
) -> Result<Node<D::Storage>> {
    tape.push_filled("matmul", Extent::of(dtype, sizes), Step::blank_product(), |rule| {
        let Rule::Product { x: [left, right], layout } = rule else { return Ok(0) };
        layout.put(dtype, sizes, strides);
        fill_operand::<E, D>(a, dtype, b.buffer.is_tracked(), left)?;
        fill_operand::<E, D>(b, dtype, a.buffer.is_tracked(), right)?;
        Ok(left.number().max(right.number()))
    })
}
fn scaling<E: Dtype>(factor: E::Compute) -> Scaled<E::Compute> {
    Scaled(factor)
}
/// `factor * x`
#[derive(Clone, Copy)]
struct Scaled<C>(C);
impl<E: Dtype> Map1<E, E> for Scaled<E::Compute> {
    const SLOPE: Slope = Derived::<OfBinary<crate::ops::mul>, E>::BESIDE_RIGHT;
    fn constants(self) -> crate::ops::slope::Constants {
        [self.0.cast(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, x: E) -> E {
        use crate::dtype::Compute as _;
        E::from_compute(x.to_compute().binary::<crate::ops::mul>(self.0))
    }
    fn text(
        &self,
        kernel: &mut crate::ops::record::kernel::Kernel,
        x: crate::ops::record::kernel::Value,
    ) -> crate::ops::record::kernel::Value {
        let factor = kernel.parameter(self.0);
        let x = kernel.widen(x);
        kernel.rounded("mul", E::DTYPE, &[x, factor])
    }
}
/// A packed weight on a tape is a copy (see `Pack`).
impl<E: Dtype, K: Map1<E, E>> Recorded for ProductByPacked<'static, (), E, K> {
    fn record<D: Device>(call: ProductByPacked<'_, On<D>, E, K>, _: Tape) -> Result<On<D>> {
        crate::device::product_with_copy::<Taped<D>, E, K>(call.kernel, call.x, call.weight, call.bias)
    }
}
impl<E: Dtype> Recorded for ProductOfBytes<'static, (), E> {
    fn record<D: Device>(call: ProductOfBytes<'_, On<D>, E>, _: Tape) -> Result<On<D>> {
        D::int_mm(inside(call.a), inside(call.b)).map(Tracked::constant)
    }
}
impl<E: Dtype, K: Map1<E, E>> Recorded for Convolve<'static, (), E, K> {
    fn record<D: Device>(call: Convolve<'_, On<D>, E, K>, tape: Tape) -> Result<On<D>> {
        let Convolve { kernel, is_packed, convolution, sizes, strides, x, weight, bias, .. } = call;
        // (A packed weight on a tape is a copy: see `Pack`.)
        let own = row_major(weight.sizes);
        let weight = if is_packed { View::new(weight.buffer, 0, weight.sizes, &own) } else { weight };
        let result = D::convolve::<E>(convolution, inside(x), inside(weight), bias.map(inside), sizes, strides)?;
        let result = if has_gradients(E::DTYPE) {
            let layout = Layout::of::<E>(sizes, strides);
            let mut operands = vec![
                operand::<E, D>(&x, weight.buffer.is_tracked())?,
                operand::<E, D>(&weight, x.buffer.is_tracked())?,
            ];
            if let Some(bias) = &bias {
                operands.push(operand::<E, D>(bias, false)?);
            }
            let way_back = Convolving::<D> { convolution: *convolution, operands, layout };
            tape.push("convolution", result, layout, Rule::Primitive(Box::new(way_back)))?
        } else {
            Tracked::constant(result)
        };
        match kernel {
            None => Ok(result),
            Some(kernel) => Taped::<D>::map1::<E, E>(kernel, View::new(&result, 0, sizes, strides), strides),
        }
    }
}
/// On a tape a packed weight is a row-major copy.
impl<E: Dtype> Recorded for Pack<'static, (), E> {
    fn record<D: Device>(call: Pack<'_, On<D>, E>, _: Tape) -> Result<On<D>> {
        crate::device::weight_copied::<Taped<D>, E>(call.weight)
    }
}
/// Pooling is done by other calls.
impl<A: Element, R: Reducer<A>> Recorded for Pool<'static, (), A, R> {
    fn record<D: Device>(_: Pool<'_, On<D>, A, R>, _: Tape) -> Result<Option<On<D>>> {
        Ok(None)
    }
}
impl<E: Dtype> Recorded for Attend<'static, (), E> {
    fn record<D: Device>(call: Attend<'_, On<D>, E>, _: Tape) -> Result<On<D>> {
        let [_, result] = crate::device::attention_composed::<Taped<D>, E>(&call.attention)?;
        Ok(result)
    }
}
