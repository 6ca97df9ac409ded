//! Elementwise calls, and those that write their results into a storage.

use super::{Lying, On, Recorded, fill_operand, has_gradients, kept_result, missing, moved, operand_as};
use crate::device::call::{Binary, BinaryInto, Ternary, Unary, UnaryInto, Update, UpdateBy};
use crate::device::{Backend, Device};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::grad::pull::ways::{HasSlope, OfPatch, Pull, exact_way, of_dtype, of_elementwise};
use crate::grad::rule::{Given as GivenConstants, Rule};
use crate::grad::tape::{Extent, Layout, Node, Operand, Packed, Step, Tape, Tracked};
use crate::grad::taped::{Taped, inside};
use crate::layout::strides::{is_contiguous, is_dense, row_major};
use crate::ops::kernel::{Copying, Map1, Map2, Map3, Slope};
use crate::ops::slope::Constants;
use crate::storage::{View, ViewMut};
use core::marker::PhantomData;

/// An elementwise call, as it is recorded: its derivative, its constants, its name and the way back.
pub(crate) type Sloped<B> = (Slope, Constants, &'static str, Pull<B>);
/// Kernels of one, two and three operands with a result `O`.
struct One<A, O, K>(PhantomData<(A, O, K)>);
struct Two<A, C, O, K>(PhantomData<(A, C, O, K)>);
struct Three<A, C, F, O, K>(PhantomData<(A, C, F, O, K)>);
impl<A: Element, O: Element, K: Map1<A, O>> HasSlope for One<A, O, K> {
    const SLOPE: Slope = K::SLOPE;
    const TO: DType = O::DTYPE;
}
impl<A: Element, C: Element, O: Element, K: Map2<A, C, O>> HasSlope for Two<A, C, O, K> {
    const SLOPE: Slope = K::SLOPE;
    const TO: DType = O::DTYPE;
}
impl<A: Element, C: Element, F: Element, O: Element, K: Map3<A, C, F, O>> HasSlope for Three<A, C, F, O, K> {
    const SLOPE: Slope = K::SLOPE;
    const TO: DType = O::DTYPE;
}
/// An elementwise call with a result of a dtype.
fn sloped<K: HasSlope, D: Device>(constants: Constants, name: &'static str, dtype: DType) -> Sloped<D::Storage> {
    (K::SLOPE, constants, name, of_elementwise::<K, D>(dtype))
}
/// Fills in an operand as the tape keeps it, with its elements or without.
pub(crate) type Fill<'a, B> = dyn Fn(usize, bool, &mut Operand<B>) -> Result<()> + 'a;

/// Records an elementwise call. The bits of `tracked` say which of its operands depend on a parameter and have gradients.
#[inline(never)]
pub(crate) fn elementwise<D: Device>(
    sloped: &Sloped<D::Storage>,
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
    sloped: &Sloped<D::Storage>,
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
    sloped: &Sloped<D::Storage>,
    tape: Tape,
    result: Option<&D::Storage>,
    lying: Lying<'_>,
    fill: &Fill<'_, D::Storage>,
    (count, tracked): (usize, u32),
    given: u64,
) -> Result<Option<Node<D::Storage>>> {
    let &(slope, ref constants, name, pull) = sloped;
    let (dtype, sizes, strides) = lying;
    if !has_gradients(dtype) {
        return Ok(None);
    }
    let extent = Extent::of(dtype, sizes);
    let Slope::Formula(formula, computes) = slope else {
        return match other_rule::<D>(sloped, Packed::of(dtype, sizes, strides), fill)? {
            Some(rule) => tape.push_node(name, extent, rule, pull).map(Some),
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
    let filled = tape.push_filled(name, extent, Step::blank_formula(count), pull, |rule| {
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
    &(slope, _, name, ..): &Sloped<D::Storage>,
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
        let (mut dtype, mut to) = (A::DTYPE, O::DTYPE);
        if K::MOVES {
            dtype = moved::<A, _>([a.buffer]);
            to = dtype;
        }
        let slope = sloped::<One<A, O, K>, D>(kernel.constants(), core::any::type_name::<K>(), to);
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
        let (mut dtypes, mut to) = ([A::DTYPE, C::DTYPE], O::DTYPE);
        if let Slope::Masked { operand, .. } = K::SLOPE {
            let of = if operand == 0 { a.buffer } else { b.buffer };
            if dtypes[operand] == O::DTYPE {
                to = moved::<O, _>([of]);
                dtypes[operand] = to;
            }
        }
        let slope = sloped::<Two<A, C, O, K>, D>(kernel.constants(), core::any::type_name::<K>(), to);
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
        let (mut dtypes, mut to) = ([C::DTYPE, F::DTYPE], O::DTYPE);
        if matches!(K::SLOPE, Slope::Chooses) && dtypes == [O::DTYPE; 2] {
            to = moved::<O, _>([b.buffer, c.buffer]);
            dtypes = [to; 2];
        }
        let slope = sloped::<Three<A, C, F, O, K>, D>(kernel.constants(), core::any::type_name::<K>(), to);
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
pub(super) fn written<E: Element, D: Device>(
    out: ViewMut<'_, On<D>, E>,
    new: On<D>,
    strides: &[usize],
    tape: Tape,
) -> Result<()> {
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
    let place = Operand::new(old, offset, (dtype, sizes, places), of_dtype::<E, D>(dtype), None);
    let new = operand_as::<E, D>(&View::new(&new, 0, sizes, strides), dtype, false)?;
    let layout = Layout { dtype, ..Layout::dense::<E>(&[room]) };
    let rule = Rule::Patch { place, new, layout: layout.packed() };
    buffer.move_to(tape.push_node("assign", layout.extent(), rule, exact_way::<OfPatch, E, D>(dtype))?);
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
        let new = Taped::<D>::map1::<O, O>(kernel, old(&out), &strides)?;
        written::<O, D>(out, new, &strides, tape)
    }
}
impl<C: Element, O: Element, K: Map2<O, C, O>> Recorded for UpdateBy<'static, (), C, O, K> {
    fn record<D: Device>(call: UpdateBy<'_, On<D>, C, O, K>, tape: Tape) -> Result<()> {
        let UpdateBy { kernel, out, b, .. } = call;
        // In place, if nobody reads the old elements, nor the way back.
        let may_write = const {
            match K::SLOPE {
                Slope::Formula(formula, _) => {
                    let [a, b, c] = formula.reads;
                    (a | b | c) & 0b1001 == 0 && has_gradients(O::DTYPE)
                }
                _ => false,
            }
        };
        // (Lines are the most frequent case.)
        let is_alike = match is_line([out.strides, b.strides]) {
            true => out.sizes[0] == b.sizes[0],
            false => b.sizes == out.sizes && b.strides == out.strides && is_contiguous(out.sizes, out.strides),
        };
        if may_write
            && (is_alike || is_dense(out.sizes, out.strides))
            && fills::<O, D>(out.buffer, out.offset, out.sizes)
            && D::is_unique(&mut out.buffer.inner)
        {
            let ViewMut { buffer, offset, sizes, strides, .. } = out;
            let fill = |at, keeps, to: &mut Operand<D::Storage>| match at {
                0 => {
                    to.layout.put(O::DTYPE, sizes, strides);
                    (to.offset, to.of) = (offset, of_dtype::<O, D>(O::DTYPE));
                    Ok(())
                }
                _ => fill_operand::<C, D>(&b, C::DTYPE, keeps, to),
            };
            let slope = sloped::<Two<O, C, O, K>, D>(kernel.constants(), core::any::type_name::<K>(), O::DTYPE);
            let number = buffer.with_node(|node| node.map(|node| node.step.number));
            let tracked = tracked_among([(O::DTYPE, number.is_some()), (C::DTYPE, b.buffer.is_tracked())]);
            let lying = (O::DTYPE, sizes, strides);
            let node = elementwise_in_place::<D>(&slope, tape, lying, &fill, tracked, number.unwrap_or(0))?;
            let old = ViewMut::new(&mut buffer.inner, offset, sizes, strides);
            match is_alike {
                true => D::update2_line::<C, O>(kernel, inside(b), old, sizes.iter().product())?,
                false => D::update2::<C, O>(kernel, inside(b), old)?,
            }
            buffer.move_on(node, 0);
            return Ok(());
        }
        let strides = kept_strides(out.sizes, out.strides);
        let new = Taped::<D>::map2::<O, C, O>(kernel, old(&out), b, &strides)?;
        written::<O, D>(out, new, &strides, tape)
    }
}
/// The elements that will be written.
pub(super) fn old<'a, B, E>(out: &'a ViewMut<'_, B, E>) -> View<'a, B, E> {
    View::new(&*out.buffer, out.offset, out.sizes, out.strides)
}
/// The strides of a new result: those of the output, if it has no gaps.
fn kept_strides(sizes: &[usize], strides: &[usize]) -> Vec<usize> {
    if is_dense(sizes, strides) { strides.to_vec() } else { row_major(sizes) }
}
