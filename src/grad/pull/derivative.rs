//! Derivatives that are run as they were recorded (`ops::record::derivative`): on devices without loops of them, and on tapes, where they
//! are steps that have derivatives themselves.

use super::elementwise::{Part, SlopeCall, not_kept};
use super::{Gradients, OP, no_gradient, ways};
use crate::composite::{Erased, Owned};
use crate::cpu::recorded::{Argument, Numbers, evaluate};
use crate::device::{Backend, Cpu, Device};
use crate::dtype::{Complex, DType, Dtype};
use crate::error::Result;
use crate::grad::primitive::WayBack;
use crate::grad::rule::Rule;
use crate::grad::tape::{Kept, Layout, Node, Operand, RESULTS, Tape, Tracked};
use crate::grad::taped::{Taped, two_tapes};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::kernel::{Casting, Copying};
use crate::ops::record::derivative::{Derivative, GIVEN};
use crate::ops::slope::{Constants, Formula};
use crate::storage::View;
use std::sync::Arc;

/// The operands of a recorded derivative, all of one dtype, broadcast to the sizes of its result, which is row-major.
#[doc(hidden)]
pub struct DerivativeCall<'a, D: Backend> {
    /// `f32`, `f64` or `Complex<f64>`.
    pub(crate) dtype: DType,
    pub(crate) given: Constants,
    /// Those that are read.
    pub(super) x: Vec<Option<Part<'a, D>>>,
    pub(crate) sizes: &'a [usize],
}

impl<'a, D: Backend> SlopeCall<'a, D> {
    /// The derivative as it is recorded, and its operands: those of the formula, its result, and the gradient.
    pub(super) fn recorded(&self, formula: &'static Formula) -> Result<(Arc<Derivative>, DerivativeCall<'a, D>)> {
        let derivative = formula.derivative(self.by, self.dtype.is_complex())?;
        let reads_result = formula.reads[self.by] == 8;
        let mut x: Vec<_> = self.x[..formula.operands].iter().map(|x| x.filter(|_| !reads_result)).collect();
        x.push(self.x[0].filter(|_| reads_result));
        x.push(Some(self.g));
        Ok((derivative, DerivativeCall { dtype: self.dtype, given: self.given, x, sizes: self.sizes }))
    }
}
impl<'a, D: Backend> DerivativeCall<'a, D> {
    /// The same on another device, given its operands there.
    pub(super) fn on<'b, F: Backend>(
        &self,
        to: impl Fn(Part<'a, D>) -> Result<Part<'b, F>>,
    ) -> Result<DerivativeCall<'b, F>>
    where
        'a: 'b,
    {
        let DerivativeCall { dtype, given, x, sizes } = self;
        let x = x.iter().map(|x| x.map(&to).transpose()).collect::<Result<_>>()?;
        Ok(DerivativeCall { dtype: *dtype, given: *given, x, sizes })
    }
    /// An operand, if it was kept. (Those that were not have no influence, whatever steps the formula has of them.)
    pub(crate) fn operand<E>(&self, at: usize) -> Option<View<'_, D::Storage, E>> {
        Some(self.x.get(at)?.as_ref()?.view(self.sizes))
    }
    /// Any of its storages.
    pub(crate) fn place(&self) -> Result<&'a D::Storage> {
        self.x.iter().flatten().next().map_or_else(not_kept, |part| Ok(part.storage))
    }
}

/// The gradient of a formula of several operands by one of them. The operands have the sizes of the result and its dtype; half precision
/// is computed in `f32`.
pub(crate) fn several_derivative<F: ops::formula::SingleFormula, P: Dtype, D: Device>(
    by: usize,
    x: &[&Erased<'_, P, D>],
    g: &Erased<'_, P, D>,
) -> Result<Owned<P, D>> {
    fn of<E: Dtype, D: Device>(
        derivative: &Arc<Derivative>,
        x: &[&Erased<'_, E, D>],
        g: &Erased<'_, E, D>,
    ) -> Result<Owned<E, D>> {
        // (The result is not read.)
        let parts = x.iter().map(|x| Some(Part::of(*x))).chain([None, Some(Part::of(g))]).collect();
        let call = DerivativeCall { dtype: E::DTYPE, given: Constants::default(), x: parts, sizes: g.sizes() };
        Ok(Erased::dense(D::derivative(derivative, call)?, Dims::known(g.sizes())))
    }
    if const { P::DTYPE.is_complex() } {
        let reason =
            "a formula of four operands or more has no gradient of complex numbers: make it of formulas of up to three";
        return crate::error::invalid(F::NAME, reason.to_owned());
    }
    let derivative = ops::slope::several_derivative::<ops::formula::By<F>>(x.len(), by)?;
    if const { !P::DTYPE.is_half() } {
        return of::<P, D>(&derivative, x, g);
    }
    let wide: Vec<_> = crate::error::collected(x.iter().map(|x| x.map1::<f32>(OP, Casting)))?;
    let wide: Vec<_> = wide.iter().collect();
    let given = of::<f32, D>(&derivative, &wide, &g.map1::<f32>(OP, Casting)?)?;
    given.map1::<P>(OP, Casting)
}

/// On the host: over elements that are gathered, step by step.
pub(super) fn on_host(derivative: &Derivative, call: &DerivativeCall<'_, Cpu>) -> Result<<Cpu as Backend>::Storage> {
    match call.dtype {
        DType::F32 => of(derivative, call, Numbers { part: |&x: &f32, _| x.into(), make: |x, _| x as f32 }),
        DType::F64 => of(derivative, call, Numbers { part: |&x: &f64, _| x, make: |x, _| x }),
        DType::C128 => {
            let part = |z: &Complex<f64>, part| if part == 0 { z.re } else { z.im };
            of(derivative, call, Numbers { part, make: Complex::new })
        }
        dtype => no_gradient(dtype),
    }
}
fn of<E: Dtype>(
    derivative: &Derivative,
    call: &DerivativeCall<'_, Cpu>,
    numbers: Numbers<E>,
) -> Result<<Cpu as Backend>::Storage> {
    let (len, dense) = (call.sizes.iter().product(), Dims::known(call.sizes).row_major());
    let mut gathered = Vec::with_capacity(derivative.operands);
    for at in 0..derivative.operands {
        let operand = call.operand::<E>(at).filter(|_| derivative.reads >> at & 1 == 1);
        let elements = operand.map(|view| {
            let storage = Cpu::map1::<E, E>(Copying, view, &dense)?;
            Cpu::download(View::<_, E>::new(&storage, 0, &[len], &[1]))
        });
        gathered.push(elements.transpose()?);
    }
    let width = if derivative.is_complex { 2 } else { 1 };
    let mut arguments = Vec::with_capacity(width * (derivative.operands + GIVEN));
    for elements in &gathered {
        for part in 0..width {
            arguments.push(elements.as_ref().map_or(Argument::Number(0.0), |of| Argument::Part(of, part)));
        }
    }
    for given in call.given {
        arguments.extend([given.re, given.im][..width].iter().map(|&number| Argument::Number(number)));
    }
    let result = evaluate(&derivative.function, &arguments, len, numbers)?;
    Cpu::build::<E>(None, || Ok(result))
}

/// Where a step on a tape has its derivative from.
#[derive(Clone)]
enum Source {
    /// The gradient of a formula by an operand, which a device may have a loop of.
    Formula(&'static Formula, usize),
    Derivative(Arc<Derivative>),
}
/// A gradient that was computed on a tape.
struct Back<D: Device> {
    source: Source,
    dtype: DType,
    given: Constants,
    operands: Vec<Option<Operand<D::Storage>>>,
    layout: Layout,
}
impl<D: Device> WayBack<D::Storage> for Back<D> {
    fn op(&self) -> &'static str {
        OP
    }
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn each_operand(&mut self, see: &mut dyn FnMut(&mut Operand<D::Storage>)) {
        self.operands.iter_mut().flatten().for_each(see);
    }
    fn keeps_results(&self) -> bool {
        false
    }
    fn pull(&self, back: [Option<D::Storage>; RESULTS], gradients: &mut Gradients<D::Storage>) -> Result<()> {
        let [Some(g), ..] = back else { return Ok(()) };
        let Layout { sizes, strides, .. } = self.layout;
        let derivative = match &self.source {
            Source::Formula(formula, by) => formula.derivative(*by, self.dtype.is_complex())?,
            Source::Derivative(derivative) => derivative.clone(),
        };
        let strides_of: Vec<Option<Dims>> =
            self.operands.iter().map(|operand| operand.as_ref().map(Operand::strides)).collect();
        for (at, to) in self.operands.iter().enumerate() {
            let Some(to) = to.as_ref().filter(|to| to.node.is_some()) else { continue };
            let mut x = Vec::with_capacity(self.operands.len() + 1);
            for (operand, strides) in self.operands.iter().zip(&strides_of) {
                let found = operand.as_ref().zip(strides.as_ref()).and_then(|(operand, strides)| {
                    let Kept { storage, offset, .. } = operand.kept.as_ref()?;
                    Some(Part { storage, offset: *offset, strides })
                });
                x.push(found);
            }
            x.push(Some(Part { storage: &g, offset: 0, strides: &strides }));
            let call = DerivativeCall { dtype: self.dtype, given: self.given, x, sizes: &sizes };
            let storage = D::derivative(&derivative.by(at)?, call)?;
            let dense = sizes.row_major();
            match self.dtype {
                DType::F32 => gradients.add::<f32, D>(to, Erased::fresh(storage, sizes, dense))?,
                DType::F64 => gradients.add::<f64, D>(to, Erased::fresh(storage, sizes, dense))?,
                _ => gradients.add::<Complex<f64>, D>(to, Erased::fresh(storage, sizes, dense))?,
            }
        }
        Ok(())
    }
}

/// Puts a gradient on the tape of its operands, if one of them is on a tape.
fn recorded<D: Device>(
    source: Source,
    call: &DerivativeCall<'_, Taped<D>>,
    result: D::Storage,
    strides: &[usize],
) -> Result<Tracked<D::Storage>> {
    let mut tape: Option<Tape> = None;
    let mut operands = Vec::with_capacity(call.x.len());
    for part in &call.x {
        let Some(part) = part else {
            operands.push(None);
            continue;
        };
        let node: Option<Node<D::Storage>> = part.storage.node();
        if let Some(node) = &node {
            match &tape {
                None => tape = Some(node.tape()),
                Some(tape) if *tape == node.tape() => {}
                Some(_) => return two_tapes(OP),
            }
        }
        let (storage, offset) = part.shared_inside(call)?;
        let layout = (call.dtype, call.sizes, part.strides);
        // (Its gradients and its elements have its own dtype.)
        let kept = Some(Kept { storage, offset });
        operands.push(Some(Operand::new(node, part.offset, layout, ways::of_no_type, kept)));
    }
    let Some(tape) = tape else { return Ok(Tracked::constant(result)) };
    let layout = Layout { dtype: call.dtype, sizes: Dims::known(call.sizes), strides: Dims::known(strides) };
    let step = tape.begin(OP)?;
    let back = Back::<D> { source, dtype: call.dtype, given: call.given, operands, layout };
    step.fill([Some(layout.extent()), None, None, None], Rule::Primitive(Box::new(back)), ways::of_primitive::<D>);
    Ok(Tracked::of(result, Node { step, result: 0 }))
}
impl<D: Device> Part<'_, Taped<D>> {
    /// A handle to the elements off the tape.
    fn shared_inside(&self, call: &DerivativeCall<'_, Taped<D>>) -> Result<(D::Storage, usize)> {
        fn own<E: Dtype, D: Device>(view: View<'_, D::Storage, E>) -> Result<(D::Storage, usize)> {
            D::share_own(view)
        }
        let storage = &self.storage.inner;
        match call.dtype {
            DType::F32 => own::<f32, D>(View::new(storage, self.offset, call.sizes, self.strides)),
            DType::F64 => own::<f64, D>(View::new(storage, self.offset, call.sizes, self.strides)),
            DType::C128 => own::<Complex<f64>, D>(View::new(storage, self.offset, call.sizes, self.strides)),
            dtype => no_gradient(dtype),
        }
    }
}

/// [`PullsBack::slope`] on a tape.
pub(in crate::grad) fn slope<D: Device>(
    formula: &'static Formula,
    call: SlopeCall<'_, Taped<D>>,
) -> Result<Tracked<D::Storage>> {
    let result = D::slope(formula, call.on::<D>(|part| Ok(part.of_storage(&part.storage.inner)))?)?;
    let (_, operands) = call.recorded(formula)?;
    recorded::<D>(Source::Formula(formula, call.by), &operands, result, call.strides)
}
/// [`PullsBack::derivative`] on a tape.
pub(in crate::grad) fn derivative<D: Device>(
    derivative: &Arc<Derivative>,
    call: DerivativeCall<'_, Taped<D>>,
) -> Result<Tracked<D::Storage>> {
    let result = D::derivative(derivative, call.on::<D>(|part| Ok(part.of_storage(&part.storage.inner)))?)?;
    let dense = Dims::known(call.sizes).row_major();
    recorded::<D>(Source::Derivative(derivative.clone()), &call, result, &dense)
}

/// Devices that are known at run time.
#[cfg(feature = "any")]
mod at_run_time {
    use super::{DerivativeCall, derivative, slope};
    use crate::device::{Backend, Cpu, Cuda, Dynamic, DynamicBuffer};
    use crate::device::{Seen, seen};
    use crate::dtype::DType;
    use crate::error::Result;
    use crate::grad::Taped;
    use crate::grad::pull::by_dtype;
    use crate::grad::pull::elementwise::{Part, SlopeCall, not_kept};
    use crate::grad::pull::{Derivative, PullsBack};
    use crate::ops::slope::Formula;
    use crate::storage::View;
    use std::sync::Arc;

    fn host<'a>(part: Part<'a, Dynamic>) -> Result<Part<'a, Cpu>> {
        match part.storage.plain() {
            DynamicBuffer::Cpu(storage) => Ok(part.of_storage(storage)),
            _ => not_kept(),
        }
    }
    /// The elements of operands that are one element on the host, copied to the GPU of the others.
    type Ones<'a> = Vec<(&'a DynamicBuffer, <Cuda<0> as Backend>::Storage)>;
    fn ones<'a>(
        dtype: DType,
        place: &<Cuda<0> as Backend>::Storage,
        parts: impl Iterator<Item = Part<'a, Dynamic>>,
    ) -> Result<Ones<'a>> {
        let mut ones = Vec::new();
        for part in parts {
            if let DynamicBuffer::Cpu(storage) = part.storage.plain() {
                let one = by_dtype!(dtype, E => {
                    let element = Cpu::peek(View::<_, E>::new(storage, part.offset, &[], &[]))?;
                    Cuda::<0>::fill::<E>(Some(place), element, 1)
                })?;
                ones.push((part.storage, one));
            }
        }
        Ok(ones)
    }
    fn gpu<'b>(part: Part<'b, Dynamic>, ones: &'b Ones<'_>) -> Result<Part<'b, Cuda<0>>> {
        match part.storage.plain() {
            DynamicBuffer::Cuda(storage) => Ok(part.of_storage(storage)),
            _ => {
                let one = ones.iter().find(|(of, _)| core::ptr::eq(*of, part.storage));
                let Some((_, storage)) = one else { return not_kept() };
                // (Its strides are 0 along all axes that are longer than 1.)
                Ok(Part { storage, offset: 0, strides: part.strides })
            }
        }
    }
    /// The storages of operands as a tape sees them, if one of them is recorded.
    type Tracks<'a> = Vec<(&'a DynamicBuffer, Seen<'a>)>;
    fn tracked<'a>(parts: impl Iterator<Item = Part<'a, Dynamic>> + Clone) -> Option<Tracks<'a>> {
        let is_recorded = parts.clone().any(|part| part.storage.is_recorded());
        is_recorded.then(|| parts.map(|part| (part.storage, seen(part.storage))).collect())
    }
    fn taped<'b>(part: Part<'b, Dynamic>, all: &'b Tracks<'_>) -> Result<Part<'b, Taped<Dynamic>>> {
        let found = all.iter().find(|(of, _)| core::ptr::eq(*of, part.storage));
        found.map_or_else(not_kept, |(_, seen)| Ok(part.of_storage(seen.tracked())))
    }

    pub(in crate::grad::pull) fn slope_at_run_time(
        formula: &'static Formula,
        call: &SlopeCall<'_, Dynamic>,
    ) -> Result<DynamicBuffer> {
        let parts = call.x.iter().flatten().copied().chain([call.g]);
        if let Some(all) = tracked(parts.clone()) {
            return slope::<Dynamic>(formula, call.on(|part| taped(part, &all))?).map(DynamicBuffer::tracked);
        }
        match call.g.storage.plain() {
            DynamicBuffer::Cpu(_) => Cpu::slope(formula, call.on(host)?).map(DynamicBuffer::Cpu),
            DynamicBuffer::Cuda(place) => {
                let ones = ones(call.dtype, place, parts)?;
                Cuda::<0>::slope(formula, call.on(|part| gpu(part, &ones))?).map(DynamicBuffer::Cuda)
            }
            _ => Ok(DynamicBuffer::Meta),
        }
    }
    pub(in crate::grad::pull) fn at_run_time(
        of: &Arc<Derivative>,
        call: &DerivativeCall<'_, Dynamic>,
    ) -> Result<DynamicBuffer> {
        let parts = call.x.iter().flatten().copied();
        if let Some(all) = tracked(parts.clone()) {
            return derivative::<Dynamic>(of, call.on(|part| taped(part, &all))?).map(DynamicBuffer::tracked);
        }
        let on_gpu = parts.clone().find_map(|part| match part.storage.plain() {
            DynamicBuffer::Cuda(place) => Some(place),
            _ => None,
        });
        if let Some(place) = on_gpu {
            let ones = ones(call.dtype, place, parts)?;
            return Cuda::<0>::derivative(of, call.on(|part| gpu(part, &ones))?).map(DynamicBuffer::Cuda);
        }
        match call.place()?.plain() {
            DynamicBuffer::Cpu(_) => Cpu::derivative(of, call.on(host)?).map(DynamicBuffer::Cpu),
            _ => Ok(DynamicBuffer::Meta),
        }
    }
}
#[cfg(feature = "any")]
pub(super) use at_run_time::{at_run_time, slope_at_run_time};
