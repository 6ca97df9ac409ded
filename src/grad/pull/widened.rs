//! Ways back through elementwise formulas, and rows of softmax, of dtypes that go back in a wider one, on the host: one pass over the
//! elements. Half precision is computed in `f32`, `Complex<f32>` in `Complex<f64>`.

use super::elementwise::{Part, SlopeCall, factor_beside};
use super::reduce::{TimesConjugate, by_factor};
use super::ways::{Asked, Elements};
use super::{Cotangents, Gradients, OP};
use crate::composite::expect_within;
use crate::cpu::norm_back;
use crate::cpu::widened::{Lists, MOST, by_blocks};
use crate::device::{Backend, Cpu, Device};
use crate::dtype::{Castable as _, Complex, DType, Dtype, bf16};
use crate::error::Result;
use crate::grad::rule::Rule;
use crate::grad::tape::{Kept, Layout, Operand};
use crate::layout::strides::{is_contiguous, is_dense};
use crate::ops::kernel::{Map1, VectorWidth};
use crate::ops::losses::Losing;
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::slope::{Constants, Formula, LaneSlope, Simple};
use crate::storage::{HostBuffer, View};

/// A formula, and what its derivatives read.
pub(super) struct Step<'a, B> {
    pub(super) formula: &'static Formula,
    pub(super) given: Constants,
    pub(super) x: &'a [Operand<B>],
    pub(super) y: Option<&'a Kept<B>>,
    /// Of the result.
    pub(super) layout: &'a Layout,
}

/// Adds the gradients of the operands. `false` where nothing was done: off the host, and beside operands of another dtype, or that lie in
/// memory otherwise than the result.
pub(super) fn slopes<D: Device>(
    &Step { formula, given, x, y, layout }: &Step<'_, D::Storage>,
    g: &D::Storage,
    gradients: &mut Gradients<D::Storage>,
) -> Result<bool> {
    let &Layout { dtype, sizes, strides } = layout;
    let is_alike = |x: &Operand<D::Storage>| x.dtype() == dtype && x.sizes() == sizes && x.layout.has_strides(&strides);
    let is_used = |x: &&Operand<D::Storage>| x.kept.is_some() || x.node.is_some();
    let (Some(gradient), true) = (D::host_buffer(g), is_dense(&sizes, &strides)) else { return Ok(false) };
    if !x.iter().filter(is_used).all(is_alike) {
        return Ok(false);
    }
    let mut lists = [None; MOST];
    for (to, of) in lists.iter_mut().zip(x.iter().map(|x| x.kept.as_ref()).chain([y])) {
        let Some(of) = of else { continue };
        let Some(buffer) = D::host_buffer(&of.storage) else { return Ok(false) };
        if dtype.is_half() {
            // (Both dtypes have 16 bits.)
            expect_within::<bf16, D>(&of.storage, of.offset, &sizes, &strides);
        } else {
            expect_within::<Complex<f32>, D>(&of.storage, of.offset, &sizes, &strides);
        }
        *to = Some((buffer, of.offset));
    }
    let result = y.and_then(|_| lists[x.len()]);
    let len = sizes.iter().product();
    for (by, to) in x.iter().enumerate().filter(|(_, to)| to.node.is_some()) {
        let operands = if formula.reads[by] == 8 { [result, None, None] } else { [lists[0], lists[1], lists[2]] };
        let run = if dtype.is_half() { slope::<f32> } else { slope::<Complex<f64>> };
        let found = run(formula, given, by, operands, (gradient, dtype, len))?;
        let made = match found.map(D::of_host_buffer) {
            Some(None) => return Ok(false),
            Some(made) => made,
            None => None,
        };
        let storage = made.as_ref().unwrap_or(g);
        let elements = Elements { dtype, storage, offset: 0, sizes, strides };
        (to.of)(Asked::Add(gradients, to, elements))?;
    }
    Ok(true)
}

/// The gradient by an operand, computed in the dtype `E`; `None` if it is that of the result.
fn slope<E: Dtype>(
    formula: &'static Formula,
    given: Constants,
    by: usize,
    operands: [Option<(&HostBuffer, usize)>; 3],
    (g, dtype, len): (&HostBuffer, DType, usize),
) -> Result<Option<HostBuffer>> {
    const STEPS: &[usize] = &[1];
    let run = |operands: [Option<(&HostBuffer, usize)>; 3], run: &(dyn Fn(Block<'_>) -> Result<HostBuffer> + Sync)| {
        let [a, b, c] = operands;
        let of = Lists { dtype, lists: [a, b, c, Some((g, 0))], len, unit: 1 };
        by_blocks(OP, of, &|[a, b, c, g], len| match g {
            Some(g) => run(Block { x: [a, b, c], g, len }),
            None => super::elementwise::not_kept(),
        })
        .map(Some)
    };
    let scaled = |factor: f64| match factor {
        1.0 => Ok(None),
        -1.0 => negated(g, dtype, len).map(Some),
        _ => run([None; 3], &|Block { g, len, .. }| {
            let g = View::<_, E>::new(g, 0, core::slice::from_ref(&len), STEPS);
            by_factor::<E, Cpu>(g, factor)
        }),
    };
    let (formula, place, value) = match formula.beside {
        Some((both, place)) => {
            if let Some(factor) = factor_beside(both, place, given[0]) {
                return scaled(factor);
            }
            (both, place, Some(Cpu::fill::<E>(None, given[0].cast(), 1)?))
        }
        None => (formula, by, None),
    };
    match (formula.simple, place) {
        (Simple::Sum, _) | (Simple::Difference, 0) => return scaled(1.0),
        (Simple::Difference, _) => return scaled(-1.0),
        (Simple::Product, _) => {
            return run([operands[1 - place], None, None], &|Block { x, g, len }| {
                let Some(x) = x[0] else { return super::elementwise::not_kept() };
                let [x, g] = [x, g].map(|of| View::<_, E>::new(of, 0, core::slice::from_ref(&len), STEPS));
                Cpu::map2::<E, E, E>(Losing::<TimesConjugate>::new([0.0; 2]), g, x, STEPS)
            });
        }
        (Simple::No | Simple::Flat, _) => {}
    }
    run(operands, &|Block { x, g, len }| {
        let part = |storage| Part { storage, offset: 0, strides: STEPS };
        let mut x = x.map(|x| x.map(part));
        if let Some(value) = &value {
            x[place] = x[0];
            x[1 - place] = Some(Part { storage: value, offset: 0, strides: &[0] });
        } else if x.iter().all(Option::is_none) {
            // It reads no operand.
            x[0] = Some(part(g));
        }
        let sizes = core::slice::from_ref(&len);
        let given = if value.is_some() { Constants::default() } else { given };
        formula.on_host(SlopeCall { by: place, dtype: E::DTYPE, given, x, g: part(g), sizes, strides: STEPS })
    })
}

/// The negative of `len` elements, in their own dtype.
fn negated(g: &HostBuffer, dtype: DType, len: usize) -> Result<HostBuffer> {
    if dtype.is_half() {
        Cpu::map1::<u16, u16>(FlippingSign, View::new(g, 0, &[len], &[1]), &[1])
    } else {
        // (A complex number is its two parts.)
        Cpu::map1::<u32, u32>(FlippingSign, View::new(g, 0, &[2 * len], &[1]), &[1])
    }
}
/// The bits of a floating-point number with the other sign.
#[derive(Clone, Copy)]
struct FlippingSign;
macro_rules! flipping {
    ($($bits:ty)*) => {$(
        impl Map1<$bits, $bits> for FlippingSign {
            const VECTORS: VectorWidth = VectorWidth::Narrow;
            #[inline(always)]
            fn call(self, bits: $bits) -> $bits {
                bits ^ 1 << (<$bits>::BITS - 1)
            }
            fn text(&self, _: &mut Kernel, _: Value) -> Value {
                unreachable!("it is run on the host alone")
            }
        }
    )*};
}
flipping! { u16 u32 }

/// The gradient of a softmax of rows, or of its logarithm, in half precision; `false` as above.
pub(super) fn softmax<D: Device>(
    rule: &Rule<D::Storage>,
    given: &mut Cotangents<D::Storage>,
    gradients: &mut Gradients<D::Storage>,
) -> Result<bool> {
    let Rule::Lanes { slope, x, axis, result: Some(y), .. } = rule else { return Ok(false) };
    let Layout { dtype, sizes, strides } = rule.layout();
    let is_last = dtype.is_half() && axis + 1 == sizes.len() && is_contiguous(&sizes, &strides) && !sizes.contains(&0);
    if !is_last || x.dtype() != dtype || !x.layout.has_strides(&strides) {
        return Ok(false);
    }
    let [Some(g), ..] = given.whole()? else { return Ok(false) };
    let (Some(of_g), Some(of_y)) = (D::host_buffer(g), D::host_buffer(&y.storage)) else { return Ok(false) };
    expect_within::<bf16, D>(&y.storage, y.offset, &sizes, &strides);
    let (len, row) = (sizes.iter().product(), sizes[*axis]);
    let of_logarithm = matches!(slope, LaneSlope::LogSoftmax);
    let of = Lists { dtype, lists: [Some((of_y, y.offset)), None, None, Some((of_g, 0))], len, unit: row };
    let found = by_blocks(OP, of, &|[y, _, _, g], len| match (y, g) {
        (Some(y), Some(g)) => {
            // SAFETY: the buffers hold `len` elements of `f32`, which are initialised.
            let lists = [y, g].map(|of| unsafe { core::slice::from_raw_parts(of.start::<f32>(), len) });
            norm_back::softmax::<f32>(lists, row, of_logarithm)
        }
        _ => super::elementwise::not_kept(),
    })?;
    let Some(storage) = D::of_host_buffer(found) else { return Ok(false) };
    let elements = Elements { dtype, storage: &storage, offset: 0, sizes, strides };
    (x.of)(Asked::Add(gradients, x, elements))?;
    Ok(true)
}

/// A block of a wide dtype.
struct Block<'a> {
    x: [Option<&'a HostBuffer>; 3],
    g: &'a HostBuffer,
    len: usize,
}
