//! Elementwise operations: dtypes, kinds and shapes are checked at run time, then the loop of the table runs.

use crate::any::base::by_width::recorded;
use crate::any::base::convert::cast;
use crate::any::base::operand::{AnyOperand, broadcast_to, result_strides, same_device};
use crate::any::elementwise::binary::combine;
use crate::any::elementwise::op_table::{ScalarKernel, UnaryRow};
use crate::any::{AnyTensor, Dims, Elements, checked_numel, grad, preserved};
use crate::device::erased::{self, BesideElement, Cast, Compiled, ErasedView, Loop, Operand};
use crate::device::{AnyDevice, DynamicBuffer};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result};
use crate::layout::memory_format::OperandLayout;
use crate::layout::strides;
use crate::ops::rules::admit::Admits;
use crate::ops::rules::result::{Outputs, Rule};
use crate::ops::rules::special::Specials;
use crate::ops::slope::Formula;

/// The dtypes of an elementwise computation.
pub(super) struct Dtypes {
    /// The dtype that operands are converted to.
    pub(super) computes: DType,
    /// The dtype that the loop writes.
    pub(super) gives: DType,
    /// The dtype of the result.
    pub(super) result: DType,
    /// The dtype that operands promote to, for comparing their layouts.
    pub(super) common: DType,
}

/// The dtypes that follow from the promoted dtype by a rule.
pub(super) fn dtypes(rule: Rule, promoted: DType) -> Dtypes {
    let common = rule.computes().of(promoted);
    let result = rule.gives().of(common);
    // `complex32` has no loops of its own: it computes as `complex64`.
    let computes = if common == DType::C32 { DType::C64 } else { common };
    Dtypes { computes, gives: rule.gives().of(computes), result, common }
}

pub(super) fn no_loop(op: &'static str, dtype: DType, admits: Admits) -> Error {
    if dtype.is_shell() {
        return crate::any::base::dispatch::refused(op, dtype);
    }
    Error::NotAdmitted { op, dtype, reason: format!("it is defined for {}", admits.words()) }
}

pub(super) fn pair_refused(op: &'static str, dtypes: [DType; 2], admits: Admits) -> Error {
    match dtypes.into_iter().find(|dtype| dtype.is_shell()) {
        Some(shell) => crate::any::base::dispatch::refused(op, shell),
        None => {
            let reason = format!("beside {}; it is defined for {}", dtypes[1], admits.words());
            Error::NotAdmitted { op, dtype: dtypes[0], reason }
        }
    }
}

/// A call of a compiled loop: its kernel and operands. `N` is the number of operands and the output.
pub(super) struct LoopCall<const N: usize, const OPERANDS: usize> {
    pub(super) op: &'static str,
    pub(super) compiled: Compiled<N>,
    pub(super) kernel: *const (),
    pub(super) sources: [AnyTensor; OPERANDS],
    pub(super) dtypes: Dtypes,
    /// Its formula, if it has a derivative, and the value that it is given besides its operands.
    pub(super) slope: (Option<&'static Formula>, Option<ScalarValue>),
    pub(super) is_long: bool,
    /// The loop for an operand that is one element repeated along a run.
    pub(super) beside_element: Option<BesideElement>,
}

impl<const N: usize, const OPERANDS: usize> LoopCall<N, OPERANDS> {
    /// Broadcasts the operands to `sizes` and calls `run` with the loop and the conversion to the dtype that is written. `own` is the
    /// operand that is overwritten.
    fn run<T>(
        &self,
        sizes: &[usize],
        dtype: DType,
        own: Option<usize>,
        run: impl FnOnce(Loop<N>, &[Operand<'_>; OPERANDS], Option<Cast>) -> Result<T>,
    ) -> Result<T> {
        const { assert!(N == OPERANDS + 1) }
        // A result computed in a wider dtype is rounded to the result dtype first, then converted to the output's.
        let cast = by_way_of(self.dtypes.gives, self.dtypes.result, dtype)?;
        let mut spread = [Dims::known(sizes); OPERANDS];
        for (strides, source) in spread.iter_mut().zip(&self.sources) {
            strides::write_broadcast(&source.sizes, &source.strides, sizes, strides);
        }
        let mut operands = [Operand { view: None, cast: None }; OPERANDS];
        for (at, (operand, source)) in operands.iter_mut().zip(&self.sources).enumerate() {
            operand.cast = through(source.dtype, &self.dtypes)?;
            if own != Some(at) {
                operand.view = Some(ErasedView { sizes, strides: &spread[at], ..source.erased()? });
            }
        }
        let Self { compiled, kernel, is_long, beside_element, .. } = *self;
        run(Loop { compiled, kernel, is_compute_bound: is_long, beside_element }, &operands, cast)
    }

    /// The result as a new tensor.
    fn fresh(&self, sizes: &[usize], strides: &[usize]) -> Result<AnyTensor> {
        if self.sources.iter().any(AnyTensor::is_recorded) {
            return self.on_tape(sizes, strides);
        }
        let result = (self.dtypes.result, sizes);
        recorded(self.op, &self.sources.each_ref(), result, || self.made(sizes, strides))
    }

    /// The result as a new tensor, recorded.
    fn on_tape(&self, sizes: &[usize], strides: &[usize]) -> Result<AnyTensor> {
        let Self { op, compiled, kernel, slope, is_long, beside_element, ref dtypes, ref sources } = *self;
        let off = sources.each_ref().map(AnyTensor::off_tape);
        let plain = LoopCall {
            sources: off,
            dtypes: Dtypes { ..*dtypes },
            op,
            compiled,
            kernel,
            slope,
            is_long,
            beside_element,
        };
        grad::elementwise(op, slope, dtypes.common, sources, plain.made(sizes, strides)?)
    }

    fn made(&self, sizes: &[usize], strides: &[usize]) -> Result<AnyTensor> {
        let Dtypes { computes, gives, common, result: dtype } = self.dtypes;
        let len = checked_numel(self.op, sizes, dtype)?;
        let is_plain = |x: &AnyTensor| x.dtype == computes && x.sizes.iter().eq(sizes) && x.strides.iter().eq(strides);
        if computes == common
            && gives == dtype
            && self.sources.iter().all(is_plain)
            && strides::are_row_major(sizes, strides)
            && let Some(buffer) = few(self.compiled, self.kernel, self.sources.each_ref(), (dtype, len))?
        {
            return Ok(AnyTensor::fresh(buffer, dtype, sizes, strides));
        }
        // SAFETY: the constructor of the job matched kernel, loop and operands; the strides of a fresh result leave no gaps.
        let buffer = self.run(sizes, dtype, None, |call, operands, cast| unsafe {
            erased::run(call, operands, (dtype.itemsize(), cast), sizes, strides)
        })?;
        Ok(AnyTensor::fresh(buffer, dtype, sizes, strides))
    }

    /// Writes the result into a tensor, which is also the first operand if `own`.
    fn write_to(&mut self, out: &mut AnyTensor, own: bool) -> Result<()> {
        let (op, sizes) = (self.op, out.sizes);
        if !out.has_data() {
            return Ok(());
        }
        if !self.sources.iter().all(AnyTensor::has_data) {
            return Err(Error::NoData { op });
        }
        if out.is_recorded() || self.sources.iter().any(AnyTensor::is_recorded) {
            let result = self.fresh(&sizes, &preserved(&sizes, &out.strides))?.to(out.dtype)?;
            // Operands go first, so that the output need not be copied.
            self.sources.iter_mut().for_each(|source| *source = source.planned());
            return out.copy_from(&result).map(|_| ());
        }
        if own {
            // Drop this handle, so that `make_unique` need not copy.
            self.sources[0].elements = Elements::Plain(DynamicBuffer::NO_DATA);
        }
        out.make_unique()?;
        let written = (out.dtype, &*sizes);
        recorded(op, &self.sources.each_ref(), written, || {
            // SAFETY: the constructor of the job matched kernel, loop and operands.
            self.run(&sizes, out.dtype, own.then_some(0), |call, operands, cast| unsafe {
                erased::run_into(call, operands, cast, out.erased_mut(op)?)
            })
        })
    }
}

/// The result of a loop over few elements that are row-major, of one shape and of the dtype that the loop takes; `None` if there are more,
/// or they are not on the host.
pub(super) fn few<const N: usize, const OPERANDS: usize>(
    compiled: Compiled<N>,
    kernel: *const (),
    sources: [&AnyTensor; OPERANDS],
    (dtype, len): (DType, usize),
) -> Result<Option<DynamicBuffer>> {
    const { assert!(N == OPERANDS + 1) }
    let mut views = [sources[0].erased()?; OPERANDS];
    for (view, source) in views.iter_mut().zip(sources).skip(1) {
        *view = source.erased()?;
    }
    // SAFETY: the caller has matched loop, kernel and operands; all elements that tensors reach are valid.
    unsafe { erased::run_few(compiled, kernel, &views, (dtype.itemsize(), len)) }
}

/// The conversion of an operand to the computing dtype: if that is wider, the operand is first rounded to the common dtype.
pub(super) fn through(from: DType, dtypes: &Dtypes) -> Result<Option<Cast>> {
    let Dtypes { computes, common, .. } = *dtypes;
    if common == DType::C32 {
        return by_way_of(from, common, computes);
    }
    cast(from, computes)
}

/// A conversion in two steps, either of which may be `None`.
pub(super) fn by_way_of(from: DType, via: DType, to: DType) -> Result<Option<Cast>> {
    Ok(match (cast(from, via)?, cast(via, to)?) {
        (Some(first), Some(then)) => Some(first.then(then)),
        (first, then) => first.or(then),
    })
}

/// Checks that a result can be written to an output of this dtype.
pub(crate) fn check_output(op: &'static str, is_exact: bool, result: DType, output: DType) -> Result<()> {
    let allowed = if is_exact { result == output } else { result.can_cast(output) };
    if allowed { Ok(()) } else { Err(Error::NotCastable { op, result, output }) }
}

/// Checks that a result can be written to an output of this shape.
pub(crate) fn check_shape(op: &'static str, result: &[usize], output: &[usize]) -> Result<()> {
    if result == output { Ok(()) } else { Err(Error::Output { op, result: result.into(), output: output.into() }) }
}

/// Below this size reading the elements is cheaper than proving that the answer is constant.
const FEW: usize = 256;

/// The result of a predicate that is the same for all elements of this dtype, found without reading them.
fn constant(x: &AnyTensor, row: &UnaryRow) -> Option<bool> {
    let Specials { holds_of_reals, holds_of_integers, fails_of_integers, .. } = row.specials;
    let is_integral = x.dtype.category() <= Category::Integral;
    let holds = holds_of_reals && !x.dtype.is_complex() || holds_of_integers && is_integral;
    let is_known = (holds || fails_of_integers && is_integral) && !x.dtype.is_shell();
    (is_known && x.numel() > FEW && x.has_data() && x.device() == AnyDevice::CPU).then_some(holds)
}

/// How a row of the unary table is evaluated for an operand. All forms use it, so that they agree.
pub(super) fn unary_evaluation(x: &AnyTensor, row: &UnaryRow) -> Result<Evaluation> {
    let op = row.name;
    if !row.admits.one(x.dtype) {
        return Err(no_loop(op, x.dtype, row.admits));
    }
    if row.specials.keeps_reals && !x.dtype.is_complex() {
        return Ok(Evaluation::Computed(x.clone()));
    }
    if let Some(holds) = constant(x, row) {
        let one = AnyTensor::scalar_of(op, ScalarValue::Bool(holds), DType::Bool)?;
        let strides = crate::any::preserved(&x.sizes, &x.strides);
        return one.expanded_to(&x.sizes)?.copied(&strides).map(Evaluation::Computed);
    }
    if row.rule == Rule::divided && x.dtype.category() == Category::Integral {
        // Integers: `x / (1 + |x|)` with wrapping integer arithmetic in the divisor, as in PyTorch.
        let [one, abs] = [AnyOperand::from(1_i64), x.run_unary(crate::any::elementwise::op_table::unary::abs)?.into()];
        let divisor = combine(crate::any::elementwise::op_table::binary::add, &abs, &one)?;
        return combine(crate::any::elementwise::op_table::binary::div, &x.into(), &divisor.into())
            .map(Evaluation::Computed);
    }
    let dtypes = dtypes(row.rule, x.dtype);
    let compiled = row.loops[dtypes.computes as usize].ok_or_else(|| no_loop(op, x.dtype, row.admits))?;
    Ok(Evaluation::One(LoopCall {
        op,
        compiled,
        kernel: core::ptr::null(),
        sources: [x.clone()],
        dtypes,
        slope: (row.formula, None),
        is_long: row.rule.lifts(),
        beside_element: None,
    }))
}

/// The layout of a scalar: an operand without axes.
pub(crate) const SCALAR: OperandLayout<'static> = (&[], &[], false);

/// The strides of a new result of one tensor, and possibly a scalar.
fn result_strides_of_one<const N: usize>(job: &LoopCall<N, 1>, beside_scalar: bool) -> Dims {
    let source = &job.sources[0];
    if strides::are_row_major(&source.sizes, &source.strides) {
        return source.strides;
    }
    let own = source.layout(job.dtypes.common);
    if beside_scalar { result_strides(&source.sizes, &[own, SCALAR]) } else { result_strides(&source.sizes, &[own]) }
}

impl AnyTensor {
    /// A row of the unary table, as a new tensor.
    pub(crate) fn run_unary(&self, row: &UnaryRow) -> Result<AnyTensor> {
        if row.specials.marks_conjugates && !self.dtype.is_shell() && !(self.is_recorded() && self.dtype.is_complex()) {
            return Ok(self.conjugate_view());
        }
        unary_evaluation(self, row)?.fresh()
    }

    /// A row of the unary table, in place.
    pub(crate) fn apply_in_place(&mut self, row: &UnaryRow) -> Result<&mut Self> {
        let mut plan = unary_evaluation(self, row)?;
        let (result, output) = (plan.result(), self.dtype);
        // PyTorch has no in-place `abs` of complex elements, although the result could be cast.
        let [outputs, ..] = row.rule.outputs();
        if outputs == Outputs::absolute && output.is_complex() {
            return Err(Error::NotCastable { op: row.name, result, output });
        }
        check_output(row.name, outputs == Outputs::mask, result, output)?;
        plan.write_to(self, true)?;
        Ok(self)
    }

    /// A row of the unary table, into an existing tensor.
    pub(crate) fn apply_into(&self, row: &UnaryRow, out: &mut AnyTensor) -> Result<()> {
        let mut plan = unary_evaluation(self, row)?;
        let [outputs, ..] = row.rule.outputs();
        let abs_of_complex = outputs == Outputs::absolute && self.dtype.is_complex();
        let fits = abs_of_complex && (out.dtype == self.dtype || out.dtype.category() == Category::Floating);
        if !fits {
            check_output(row.name, outputs != Outputs::castable, plan.result(), out.dtype)?;
        }
        if row.specials.refuses_shell_outputs && out.dtype.is_shell() {
            return Err(crate::any::base::dispatch::refused(row.name, out.dtype));
        }
        same_device(row.name, self, out)?;
        check_shape(row.name, &self.sizes, &out.sizes)?;
        plan.write_to(out, false)
    }
}

/// How an operation computes its result: chosen once for all forms (new tensor, in place, into an output).
pub(super) enum Evaluation {
    /// By a loop over one operand.
    One(LoopCall<2, 1>),
    /// By a loop over a tensor and a scalar.
    Scalar(LoopCall<2, 1>, ScalarKernel),
    /// By a loop over two tensors.
    Two(LoopCall<3, 2>),
    /// Already computed by other operations.
    Computed(AnyTensor),
}

impl Evaluation {
    /// The dtype of the result.
    pub(super) fn result(&self) -> DType {
        match self {
            Evaluation::One(job) | Evaluation::Scalar(job, _) => job.dtypes.result,
            Evaluation::Two(job) => job.dtypes.result,
            Evaluation::Computed(result) => result.dtype,
        }
    }

    /// The sizes of the result.
    pub(super) fn sizes(&self) -> Result<Dims> {
        match self {
            Evaluation::One(job) | Evaluation::Scalar(job, _) => Ok(job.sources[0].sizes),
            Evaluation::Two(job) => broadcast_to(job.op, &job.sources[0].sizes, &job.sources[1].sizes),
            Evaluation::Computed(result) => Ok(result.sizes),
        }
    }

    /// The result as a new tensor.
    pub(super) fn fresh(mut self) -> Result<AnyTensor> {
        let sizes = self.sizes()?;
        match &mut self {
            Evaluation::One(job) => job.fresh(&sizes, &result_strides_of_one(job, false)),
            Evaluation::Scalar(job, kernel) => {
                job.kernel = kernel.start();
                job.fresh(&sizes, &result_strides_of_one(job, true))
            }
            Evaluation::Two(job) => {
                let [a, b] = &job.sources;
                let alike = *a.sizes == *sizes && *b.sizes == *sizes;
                let strides = if alike && a.strides == b.strides && strides::are_row_major(&sizes, &a.strides) {
                    a.strides
                } else {
                    let common = job.dtypes.common;
                    result_strides(&sizes, &[a.layout(common), b.layout(common)])
                };
                job.fresh(&sizes, &strides)
            }
            Evaluation::Computed(_) => {
                let Evaluation::Computed(result) = self else { unreachable!("it is one") };
                Ok(result)
            }
        }
    }

    /// Writes the result into a tensor, which is also the first operand if `own`.
    pub(super) fn write_to(&mut self, out: &mut AnyTensor, own: bool) -> Result<()> {
        match self {
            Evaluation::One(job) => job.write_to(out, own),
            Evaluation::Scalar(job, kernel) => {
                job.kernel = kernel.start();
                job.write_to(out, own)
            }
            Evaluation::Two(job) => job.write_to(out, own),
            Evaluation::Computed(result) => out.copy_from(result).map(|_| ()),
        }
    }
}
