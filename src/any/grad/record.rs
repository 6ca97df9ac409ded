//! What is recorded of loops that are no calls to a device.

use super::tape;
use crate::any::reduce::reductions::over_axes;
use crate::any::{AnyTensor, Dims, Elements, shared};
use crate::device::erased::Reducing;
use crate::device::{AnyDevice, Backend, Dynamic, DynamicBuffer};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::dtype::width::of_width;
use crate::error::Result;
use crate::grad::Tracked;
use crate::grad::any::{Gradients, Kept, Layout, Operand, RESULTS, Rule, has_gradients, ways};
use crate::grad::primitive::WayBack;
use crate::layout::strides;
use crate::ops::slope::{Formula, Slope};
use crate::storage::View;

/// An operand as the tape keeps it, broadcast to these sizes.
pub(super) fn operand(x: &AnyTensor, sizes: &[usize], keeps: bool) -> Result<Operand<DynamicBuffer>> {
    let mut spread = Dims::known(sizes);
    strides::write_broadcast(&x.sizes, &x.strides, sizes, &mut spread);
    let kept = if keeps {
        // A window's elements are copied: they are written again, and the memory is borrowed.
        let (storage, offset) = of_width!(x.dtype.itemsize(), W => {
            Dynamic::share_own::<W>(View::new(x.buffer()?.plain(), x.first(), &x.sizes, &x.strides))
        })?;
        Some(Kept { storage, offset })
    } else {
        None
    };
    let of = ways::of_dtype::<u8, Dynamic>(x.dtype);
    Ok(Operand::new(x.node(), x.first(), (x.dtype, sizes, &spread), of, kept))
}

/// The tensor in a storage that is on the tape now.
fn taped(result: &AnyTensor, storage: Tracked<DynamicBuffer>) -> AnyTensor {
    AnyTensor { elements: Elements::Plain(DynamicBuffer::tracked(storage)), ..*result }
}
fn layout(of: &AnyTensor) -> Layout {
    Layout { dtype: of.dtype, sizes: of.sizes, strides: of.strides }
}
/// The buffer of a fresh result.
fn own(result: &AnyTensor) -> Result<DynamicBuffer> {
    Ok(shared(result.buffer()?))
}

/// Records a loop of the tables.
pub(in crate::any) fn elementwise(
    op: &'static str,
    (formula, given): (Option<&'static Formula>, Option<ScalarValue>),
    computes: DType,
    sources: &[AnyTensor],
    result: AnyTensor,
) -> Result<AnyTensor> {
    if !has_gradients(result.dtype) {
        return Ok(result);
    }
    let slope = Slope::by(formula, computes);
    let mut constants = crate::ops::slope::Constants::default();
    if let Some(value) = given {
        constants[0] = match value {
            ScalarValue::Complex(value) => value,
            value => value.real_part().into(),
        };
    }
    let fill = |at: usize, keeps, to: &mut _| {
        *to = operand(&sources[at], &result.sizes, keeps)?;
        Ok(())
    };
    let tracked = sources.iter().enumerate().fold(0, |all, (at, x)| all | u32::from(x.has_node()) << at);
    let storage = crate::grad::any::elementwise::<Dynamic>(
        &(slope, constants, op, ways::formula_of(computes, result.dtype)),
        tape(),
        own(&result)?,
        (result.dtype, &result.sizes, &result.strides),
        &fill,
        (sources.len(), tracked),
    )?;
    Ok(taped(&result, storage))
}

/// Converts to another dtype, and records it.
pub(in crate::any) fn converted(x: &AnyTensor, dtype: DType) -> Result<AnyTensor> {
    let result = x.off_tape().to(dtype)?;
    if !has_gradients(dtype) || !has_gradients(x.dtype) {
        return Ok(result);
    }
    let rule = Rule::Moves { x: operand(x, &x.sizes, false)?, layout: layout(&result).packed() };
    let storage = tape().push("to", own(&result)?, layout(&result), rule, ways::move_of(dtype))?;
    Ok(taped(&result, storage))
}

/// A copy on another device, whose gradient goes back to the device of its operand.
struct Moved {
    x: Operand<DynamicBuffer>,
    layout: Layout,
    from: AnyDevice,
}
impl WayBack<DynamicBuffer> for Moved {
    fn op(&self) -> &'static str {
        "to_device"
    }
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn each_operand(&mut self, see: &mut dyn FnMut(&mut Operand<DynamicBuffer>)) {
        see(&mut self.x);
    }
    fn keeps_results(&self) -> bool {
        false
    }
    fn pull(&self, given: [Option<DynamicBuffer>; RESULTS], gradients: &mut Gradients<DynamicBuffer>) -> Result<()> {
        let [Some(g), ..] = given else { return Ok(()) };
        let Layout { dtype, sizes, strides } = self.layout;
        let g = AnyTensor::fresh(g, dtype, &sizes, &strides).to_device(self.from)?;
        let layout = Layout { dtype, sizes: g.sizes, strides: g.strides };
        gradients.add_storage::<u8, Dynamic>(&self.x, shared(g.buffer()?), g.first(), layout)
    }
}
/// Copies to another device, and records it.
pub(in crate::any) fn to_device(x: &AnyTensor, device: AnyDevice) -> Result<AnyTensor> {
    let result = x.off_tape().to_device(device)?;
    let way_back = Moved { x: operand(x, &x.sizes, false)?, layout: layout(&result), from: x.device() };
    let rule = Rule::Primitive(Box::new(way_back));
    let storage = tape().push("to_device", own(&result)?, layout(&result), rule, ways::of_primitive::<Dynamic>)?;
    Ok(taped(&result, storage))
}

/// Reduces the axes of a mask, and records it.
pub(in crate::any) fn reduced<const N: usize>(
    op: &'static str,
    functions: &dyn Reducing,
    x: &AnyTensor,
    (mask, sizes): (u32, Dims),
) -> Result<[AnyTensor; N]> {
    let results = over_axes::<N>(op, functions, &x.off_tape(), (mask, sizes))?;
    let facts = functions.facts();
    let slope = (facts.slope, facts.numbers, op);
    let pull = ways::reduction_of(facts.slope, x.dtype);
    let left = crate::grad::any::left(&x.sizes, mask);
    let layout = |of: &AnyTensor| Layout { dtype: of.dtype, sizes: left, strides: left.row_major() };
    let make = |keeps| operand(x, &x.sizes, keeps);
    let mut given = [const { None }; N];
    if let [first, second] = &results[..] {
        let storages = [own(first)?, own(second)?];
        let layouts = [layout(first), layout(second)];
        let both =
            crate::grad::any::reduced_both::<Dynamic>(slope, pull, tape(), make(true)?, mask, storages, layouts)?;
        given.iter_mut().zip(both).for_each(|(to, storage)| *to = Some(storage));
    } else {
        for (to, result) in given.iter_mut().zip(&results) {
            *to = Some(crate::grad::any::reduced::<Dynamic>(
                slope,
                pull,
                tape(),
                &make,
                mask,
                own(result)?,
                layout(result),
            )?);
        }
    }
    let mut given = given.into_iter();
    Ok(results.map(|result| match given.next().flatten() {
        Some(storage) => taped(&result, storage),
        None => result,
    }))
}
