//! Operations of two operands: the way to compute a result is chosen once for all forms (new tensor, in place, into an output).

use super::apply::{Dtypes, Evaluation, LoopCall, check_output, check_shape, dtypes, few, pair_refused};
use crate::any::base::by_width::recorded;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::{AnyOperand, broadcast_to, promoted, same_device};
use crate::any::elementwise::op_table::BinaryRow;
use crate::any::{AnyTensor, Dims, checked_numel};
use crate::device::erased::{self, Compiled, Loop, Operand};
use crate::device::{Backend, Dynamic};
use crate::dtype::scalar::{KindRank, ScalarValue};
use crate::dtype::{Category, DType};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::arguments::Sought;
use crate::ops::rules::admit::Admits;
use crate::ops::rules::result::Rule;
use crate::tensor::{refuses_zeros, shells};

/// A zero-dim tensor of the dtype; an error if the scalar does not fit.
fn filled(op: &'static str, value: ScalarValue, dtype: DType) -> Result<AnyTensor> {
    crate::any::base::dispatch::dispatch_dtype!(op, dtype, E: Dtype => {
        let element: E = value.to_dtype().ok_or(Error::ScalarOutOfRange { op, value, dtype })?;
        Ok(AnyTensor::from(crate::Tensor::<E, ()>::scalar(element)))
    })
}

/// Checks integer divisors for zeros.
fn check_divisors(row: &BinaryRow, divided: &AnyTensor, divisors: &AnyTensor, dtype: DType) -> Result<()> {
    let op = row.name;
    if !refuses_zeros(row.divides, dtype, &divided.sizes) {
        return Ok(());
    }
    let divisors = divisors.to(dtype)?;
    let found = crate::any::base::dispatch::dispatch_dtype!(op, dtype, E: Bits => {
        Dynamic::has::<E>(divisors.elements_as()?, Sought::Zero)
    })?;
    if found { Err(Error::DivisionByZero { op, dtype }) } else { Ok(()) }
}

/// How a row of the binary table is evaluated for two operands. All forms use it, so that they agree.
fn binary_evaluation(row: &BinaryRow, a: &AnyOperand, b: &AnyOperand, in_place: bool) -> Result<Evaluation> {
    let op = row.name;
    if let (AnyOperand::Array(a), AnyOperand::Array(b)) = (a, b)
        && a.dtype == b.dtype
        && a.dtype.is_shell()
        && row.operands.shells
    {
        return shells_compared(row, a, b).map(Evaluation::Computed);
    }
    if let Some(result) = scaled(row, a, b) {
        return result.map(Evaluation::Computed);
    }
    if let (Admits::bounded, AnyOperand::Number(ScalarValue::Complex(bound))) = (row.admits, b)
        && bound.im == 0.0
        && a.dtype().is_floating_point()
        && !in_place
    {
        // As in PyTorch, a complex bound without imaginary part counts as real.
        return binary_evaluation(row, a, &ScalarValue::Float(bound.re).into(), in_place);
    }
    let own = [a.dtype(), b.dtype()];
    if let (Rule::scaled, Category::Floating, Category::Integral) = (row.rule, own[0].category(), own[1].category())
        && let (AnyOperand::Array(numbers), AnyOperand::Array(exponents)) = (a, b)
        && !own.iter().any(|dtype| dtype.is_shell())
    {
        let exponents = exponents.to(DType::I32)?;
        if numbers.has_data() && exponents.has_data() {
            return scaled_by_integers(row, numbers, &exponents).map(Evaluation::Computed);
        }
    }
    if let (AnyOperand::Number(_), AnyOperand::Number(_)) = (a, b) {
        return binary_evaluation(row, &filled(op, scalar_of(a), own[0])?.into(), b, in_place);
    }
    if !row.operands.scalars
        && let Some(AnyOperand::Number(_)) = [a, b].into_iter().find(|of| of.kind() == KindRank::Scalar)
    {
        let reason = "PyTorch takes no scalar here: make a tensor of it".to_owned();
        return Err(Error::InvalidArgument { op, reason });
    }
    if !row.admits.two(own, b.kind()) {
        return Err(pair_refused(op, own, row.admits));
    }
    let promoted = promoted(op, [(a.kind(), own[0]), (b.kind(), own[1])])?;
    let mut dtypes = dtypes(row.rule, promoted);
    let exact = row.right_is_exact && a.kind() == KindRank::Dimensioned && !promoted.is_complex();
    match (a, b) {
        (AnyOperand::Array(tensor), AnyOperand::Number(value)) => {
            if row.specials.raises_to_scalar {
                crate::tensor::check_exponent(row.specials, promoted, *value)?;
                AnyTensor::scalar_of(op, *value, dtypes.common)?;
            }
            let scalar = row.scalar(*value, own[0], dtypes.common, exact)?;
            if refuses_zeros(row.divides, promoted, &tensor.sizes) && value.real_part() == 0.0 {
                return Err(Error::DivisionByZero { op, dtype: promoted });
            }
            let compiled =
                row.scalar_loops[dtypes.computes as usize].ok_or_else(|| pair_refused(op, own, row.admits))?;
            let sources = [tensor.clone()];
            let (kernel, is_long, beside_element) = (core::ptr::null(), row.rule.lifts(), None);
            let slope = (row.formulas.map(|formulas| formulas[1]), Some(*value));
            let job = LoopCall { op, compiled, kernel, sources, dtypes, slope, is_long, beside_element };
            Ok(Evaluation::Scalar(job, scalar))
        }
        (AnyOperand::Number(value), AnyOperand::Array(_)) => {
            if row.specials.commutes {
                return binary_evaluation(row, b, a, in_place);
            }
            // A scalar that does not fit is refused on either side.
            row.scalar(*value, own[1], dtypes.common, false)?;
            let left = filled(op, *value, dtypes.common)?;
            tensors(row, &left, b, own, promoted, dtypes)
        }
        (AnyOperand::Array(left), AnyOperand::Array(_)) => {
            let halves = matches!(dtypes.computes, DType::F16 | DType::BF16);
            if exact && b.kind() == KindRank::ZeroDim && halves {
                // The zero-dim operand keeps its precision; the result is rounded once.
                (dtypes.computes, dtypes.gives) = (DType::F32, row.rule.gives().of(DType::F32));
            }
            tensors(row, left, b, own, promoted, dtypes)
        }
        (AnyOperand::Number(_), AnyOperand::Number(_)) => unreachable!("one has become a tensor"),
    }
}

fn scalar_of(operand: &AnyOperand) -> ScalarValue {
    match operand {
        AnyOperand::Number(value) => *value,
        AnyOperand::Array(_) => unreachable!("it is a scalar"),
    }
}

fn tensors(
    row: &BinaryRow,
    left: &AnyTensor,
    right: &AnyOperand,
    own: [DType; 2],
    promoted: DType,
    dtypes: Dtypes,
) -> Result<Evaluation> {
    let op = row.name;
    let AnyOperand::Array(right) = right else { unreachable!("it is a tensor") };
    same_device(op, left, right)?;
    check_divisors(row, left, right, promoted)?;
    let compiled = row.loops[dtypes.computes as usize].ok_or_else(|| pair_refused(op, own, row.admits))?;
    let sources = [left.clone(), right.clone()];
    Ok(Evaluation::Two(LoopCall {
        op,
        compiled,
        kernel: core::ptr::null(),
        sources,
        slope: (row.formulas.map(|formulas| formulas[0]), None),
        is_long: row.rule.lifts(),
        beside_element: row.beside_element(dtypes.computes),
        dtypes,
    }))
}

/// `ldexp` of operands of two dtypes, which PyTorch computes as `a * 2.0 ** b`.
fn scaled(row: &BinaryRow, a: &AnyOperand, b: &AnyOperand) -> Option<Result<AnyTensor>> {
    let [first, second] = [a.dtype(), b.dtype()];
    let floats = [first, second].iter().all(|dtype| dtype.is_floating_point() && !dtype.is_shell());
    let complex = first.is_complex() || second.is_complex();
    let scalars = a.kind() == KindRank::Scalar || b.kind() == KindRank::Scalar;
    // If there are fewer powers than results, they are computed before they are broadcast.
    let is_spread = |a: &AnyTensor, b: &AnyTensor| {
        b.numel() < a.numel() && (floats || first == second && first.category() == Category::Integral)
    };
    let few = matches!((a, b), (AnyOperand::Array(a), AnyOperand::Array(b)) if is_spread(a, b));
    let is_recorded = [a, b].iter().any(|x| matches!(x, AnyOperand::Array(x) if x.is_recorded()));
    if row.rule != Rule::scaled
        || scalars && !is_recorded
        || !(complex || few || is_recorded || floats && first != second)
        || first.is_shell()
        || second.is_shell()
    {
        return None;
    }
    Some((|| {
        let dtype = dtypes(row.rule, promoted(row.name, [(a.kind(), first), (b.kind(), second)])?).result;
        let exponents = match b {
            AnyOperand::Array(exponents) if first == second && first.category() == Category::Integral => {
                exponents.to(dtype)?.into()
            }
            AnyOperand::Array(exponents) if complex && second.category() <= Category::Integral => {
                exponents.to(dtype.to_real())?.into()
            }
            AnyOperand::Array(exponents) if complex && matches!(second, DType::F16 | DType::BF16) => {
                exponents.to(DType::F32)?.into()
            }
            exponents => exponents.clone(),
        };
        let power = match exponents {
            // Beside a tensor a number has no dtype of its own, in which its power could overflow.
            AnyOperand::Number(ScalarValue::Int(exponent)) => return times_power(a, exponent as f64)?.to(dtype),
            AnyOperand::Number(ScalarValue::Float(exponent)) => return times_power(a, exponent)?.to(dtype),
            exponents => exponents,
        };
        let power = combine(crate::any::elementwise::op_table::binary::pow, &AnyOperand::from(2.0), &power)?;
        combine(crate::any::elementwise::op_table::binary::mul, a, &power.into())?.to(dtype)
    })())
}

/// `a * 2^exponent`
fn times_power(a: &AnyOperand, exponent: f64) -> Result<AnyTensor> {
    combine(crate::any::elementwise::op_table::binary::mul, a, &AnyOperand::from(exponent.exp2()))
}

/// `ldexp` of floats by integers changes only the exponent, so that zeros and infinities stay as they are.
fn scaled_by_integers(row: &BinaryRow, numbers: &AnyTensor, exponents: &AnyTensor) -> Result<AnyTensor> {
    let op = row.name;
    same_device(op, numbers, exponents)?;
    let strides = combined_strides(row, &numbers.into(), &exponents.into())?;
    let sizes = broadcast_to(op, &numbers.sizes, &exponents.sizes)?;
    let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    let (numbers, exponents) = (numbers.expand(&sizes)?, exponents.expand(&sizes)?);
    let scaled = dispatch_dtype!(op, numbers.dtype, E: Float => {
        Ok(AnyTensor::from(numbers.typed_rank1::<E, Dynamic>()?.try_ldexp(&exponents.typed_rank1::<i32, Dynamic>()?)?))
    })?;
    let scaled = scaled.reshape(&sizes)?;
    if *scaled.strides == *strides { Ok(scaled) } else { scaled.copied(&strides) }
}

/// A comparison of two tensors of one shell dtype, by comparing their equality with `true`.
fn shells_compared(row: &BinaryRow, a: &AnyTensor, b: &AnyTensor) -> Result<AnyTensor> {
    let op = row.name;
    same_device(op, a, b)?;
    let sizes = broadcast_to(op, &a.sizes, &b.sizes)?;
    let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    let (a, b) = (a.expand(&sizes)?, b.expand(&sizes)?);
    let equal = dispatch_dtype!(op, a.dtype, E: Shell => {
        Ok(AnyTensor::from(shells::try_eq(&a.typed_rank1::<E, Dynamic>()?, &b.typed_rank1::<E, Dynamic>()?)?))
    })?;
    combine(row, &equal.into(), &true.into())?.reshape(&sizes)
}

/// The strides of the result of two operands of these layouts.
pub(crate) fn combined_strides(row: &BinaryRow, a: &AnyOperand, b: &AnyOperand) -> Result<Dims> {
    let planned = |operand: &AnyOperand| match operand {
        AnyOperand::Array(tensor) => tensor.planned().into(),
        scalar => scalar.clone(),
    };
    Ok(combine(row, &planned(a), &planned(b))?.strides)
}

/// A row of the binary table, as a new tensor.
pub(crate) fn combine(row: &BinaryRow, a: &AnyOperand, b: &AnyOperand) -> Result<AnyTensor> {
    match a {
        AnyOperand::Array(a) => combine_tensor(row, a, b),
        AnyOperand::Number(_) => binary_evaluation(row, a, b, false)?.fresh(),
    }
}

/// [`combine`] with a tensor on the left.
pub(crate) fn combine_tensor(row: &BinaryRow, a: &AnyTensor, b: &AnyOperand) -> Result<AnyTensor> {
    if let AnyOperand::Array(b) = b
        && let Some(dtypes) = alike(row, a, b)
    {
        return combine_alike(row, a, b, dtypes);
    }
    binary_evaluation(row, &a.into(), b, false)?.fresh()
}

/// The dtypes if two operands are row-major, of one shape and of the dtype that the loop takes. This fast path matters for small tensors.
fn alike(row: &BinaryRow, a: &AnyTensor, b: &AnyTensor) -> Option<Dtypes> {
    if a.dtype != b.dtype || a.dtype.is_shell() || row.divides || row.rule == Rule::scaled {
        return None;
    }
    let is_plain = a.sizes == b.sizes && a.strides == b.strides && strides::are_row_major(&a.sizes, &a.strides);
    if !is_plain
        || a.rank() == 0
        || a.is_recorded()
        || b.is_recorded()
        || !row.admits.two([a.dtype; 2], KindRank::Dimensioned)
    {
        return None;
    }
    let dtypes = dtypes(row.rule, a.dtype);
    (dtypes.computes == a.dtype && dtypes.gives == dtypes.result).then_some(dtypes)
}

fn combine_alike(row: &BinaryRow, a: &AnyTensor, b: &AnyTensor, dtypes: Dtypes) -> Result<AnyTensor> {
    let op = row.name;
    same_device(op, a, b)?;
    let compiled =
        row.loops[dtypes.computes as usize].ok_or_else(|| pair_refused(op, [a.dtype, b.dtype], row.admits))?;
    let len = checked_numel(op, &a.sizes, dtypes.result)?;
    recorded(op, &[a, b], (dtypes.result, &a.sizes), || combined_alike(row, [a, b], compiled, dtypes, len))
}

fn combined_alike(
    row: &BinaryRow,
    [a, b]: [&AnyTensor; 2],
    compiled: Compiled<3>,
    dtypes: Dtypes,
    len: usize,
) -> Result<AnyTensor> {
    if let Some(buffer) = few(compiled, core::ptr::null(), [a, b], (dtypes.result, len))? {
        return Ok(AnyTensor::fresh(buffer, dtypes.result, &a.sizes, &a.strides));
    }
    let call = Loop { compiled, kernel: core::ptr::null(), is_compute_bound: row.rule.lifts(), beside_element: None };
    let operands = [Some(a.erased()?), Some(b.erased()?)].map(|view| Operand { view, cast: None });
    // SAFETY: the loop is the row's of the operands' dtype, which gives the result's; row-major strides leave no gaps.
    let buffer = unsafe { erased::run(call, &operands, (dtypes.result.itemsize(), None), &a.sizes, &a.strides)? };
    Ok(AnyTensor::fresh(buffer, dtypes.result, &a.sizes, &a.strides))
}

/// [`combine`] of a tensor that is not needed any more: it is overwritten if the result has its shape and dtype and is contiguous.
pub(crate) fn combine_over(row: &BinaryRow, mut a: AnyTensor, b: &AnyOperand) -> Result<AnyTensor> {
    let mut plan = binary_evaluation(row, &AnyOperand::from(&a), b, false)?;
    let sizes = plan.sizes()?;
    let alike = match b {
        AnyOperand::Array(b) => b.is_contiguous() && !b.shares_storage(&a),
        AnyOperand::Number(_) => true,
    };
    if !(alike && a.has_data() && a.is_contiguous() && *sizes == *a.sizes && plan.result() == a.dtype) {
        return plan.fresh();
    }
    plan.write_to(&mut a, true)?;
    Ok(a)
}

impl AnyTensor {
    /// A row of the binary table in place.
    pub(crate) fn combine_in_place(&mut self, row: &BinaryRow, other: &AnyOperand) -> Result<&mut Self> {
        let mut plan = binary_evaluation(row, &AnyOperand::from(&*self), other, true)?;
        check_output(row.name, row.rule.is_exact(2), plan.result(), self.dtype)?;
        check_shape(row.name, &plan.sizes()?, &self.sizes)?;
        plan.write_to(self, true)?;
        Ok(self)
    }

    /// A row of the binary table into an existing tensor.
    pub(crate) fn combine_into(&self, row: &BinaryRow, other: &AnyOperand, out: &mut AnyTensor) -> Result<()> {
        let mut plan = binary_evaluation(row, &AnyOperand::from(self), other, false)?;
        check_output(row.name, row.rule.is_exact(2), plan.result(), out.dtype)?;
        same_device(row.name, self, out)?;
        check_shape(row.name, &plan.sizes()?, &out.sizes)?;
        plan.write_to(out, false)
    }
}
