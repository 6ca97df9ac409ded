//! Two operations in one pass: `then(x, first(a, b))`, computed in the accumulate type and rounded once at the end.

use super::apply::by_way_of;
use super::op_table::{BinaryRow, ScalarKernel, binary};
use crate::any::base::by_width::{common_sizes, recorded};
use crate::any::base::convert::cast;
use crate::any::base::convert::widened;
use crate::any::base::operand::result_strides;
use crate::any::{AnyTensor, Dims, checked_numel};
use crate::device::AnyDevice;
use crate::device::erased::{self, Chained, ErasedView, Operand, Term};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::Result;
use crate::layout::strides;

/// An operation and a second one of its result.
pub(crate) struct Chain<'a> {
    pub(crate) op: &'static str,
    /// The dtype of the result.
    pub(crate) dtype: DType,
    /// The dtype that operands are rounded to first: that of the result, or the one it is computed in.
    pub(crate) common: DType,
    /// The first operation and its operands.
    pub(crate) first: (&'static BinaryRow, [&'a AnyTensor; 2]),
    /// The second operation, of `x` and the result of the first; if `by_parts`, of real and imaginary parts separately.
    pub(crate) then: &'static BinaryRow,
    pub(crate) x: &'a AnyTensor,
    pub(crate) by_parts: bool,
    /// Factors of `x`, of the first operand and of the first result, in the dtype of the result.
    pub(crate) factors: [Option<ScalarValue>; 3],
}

impl Chain<'_> {
    /// The result; `None` if it can't be computed in one pass: operands are not on the host, or there are no loops.
    pub(crate) fn run(self) -> Result<Option<AnyTensor>> {
        let Chain { op, dtype, common, first: (first, rest), then, x, by_parts, factors } = self;
        let computes = widened(dtype);
        let first_loop = first.loops[computes as usize];
        let (parts, numbers) = if by_parts && computes.is_complex() { (computes.to_real(), 2) } else { (computes, 1) };
        let (Some(first_loop), Some(then_loop)) = (first_loop, then.loops[parts as usize]) else { return Ok(None) };
        let is_here = |of: &&AnyTensor| of.device() == AnyDevice::CPU && of.has_data() && !of.dtype.is_shell();
        // `complex32` needs conversions of its own.
        if dtype == DType::C32 || !is_here(&x) || !rest.iter().all(is_here) {
            return Ok(None);
        }
        let kernels = factors.map(|factor| factor.map(|value| binary::mul.scalar(value, computes, computes, false)));
        let mut kept: [Option<ScalarKernel>; 3] = [None; 3];
        for (kept, kernel) in kept.iter_mut().zip(kernels) {
            *kept = kernel.transpose()?;
        }
        let times = binary::mul.scalar_loops[computes as usize].map(|compiled| compiled.inner);
        if times.is_none() && factors.iter().any(Option::is_some) {
            return Ok(None);
        }
        let chained = Chained {
            first: first_loop.inner,
            then: then_loop.inner,
            numbers,
            width: computes.itemsize(),
            times,
            factors: kept.each_ref().map(|kernel| kernel.as_ref().map_or(core::ptr::null(), ScalarKernel::start)),
        };
        let operands = [x, rest[0], rest[1]];
        if operands.iter().any(|of| of.is_recorded()) {
            return Ok(None);
        }
        let sizes = Dims::new(op, &common_sizes(op, operands.iter().copied())?)?;
        checked_numel(op, &sizes, dtype)?;
        let strides = result_strides(
            &sizes,
            &operands.iter().map(|of| of.layout(if common == dtype { dtype } else { of.dtype })).collect::<Vec<_>>(),
        );
        let mut spread = [Dims::known(&sizes); 3];
        for (strides, of) in spread.iter_mut().zip(&operands) {
            strides::write_broadcast(&of.sizes, &of.strides, &sizes, strides);
        }
        // Where all have the dtype of the result, one loop may do both operations.
        let is_alike = |of: &&AnyTensor| of.dtype == dtype;
        let term = [(binary::mul, Term::Product), (binary::div, Term::Quotient)];
        let term = term.into_iter().find(|&(row, _)| core::ptr::eq(first, row)).map(|(_, term)| term);
        let inner = match term {
            Some(term) if core::ptr::eq(then, binary::add) && operands.iter().all(is_alike) => {
                erased::adding_a_term(dtype, term)
            }
            _ => None,
        };
        let mut places = [Operand { view: None, cast: None }; 3];
        for ((place, of), strides) in places.iter_mut().zip(&operands).zip(&spread) {
            place.cast = if inner.is_some() { None } else { by_way_of(of.dtype, common, computes)? };
            place.view = Some(ErasedView { sizes: &sizes, strides, ..of.erased()? });
        }
        let rounded = if inner.is_some() { None } else { cast(computes, dtype)? };
        let (inner, result) = (inner.unwrap_or(erased::of_three), (dtype.itemsize(), rounded));
        // SAFETY: the loops are those of the computing dtype; operands and factors are converted to it, and results from it, unless the loop
        // is one of `bf16`, as all of these are. The strides of a fresh result leave no gaps.
        let run = || unsafe { erased::run_chained((inner, &chained), &places, result, &sizes, &strides) };
        let buffer = recorded(op, &operands, (dtype, &sizes), run)?;
        Ok(buffer.map(|buffer| AnyTensor::fresh(buffer, dtype, &sizes, &strides)))
    }
}

/// A factor that has to be multiplied by; `None` for a real 1.
pub(crate) fn factor(value: ScalarValue, dtype: DType) -> Option<ScalarValue> {
    (dtype.is_complex() || value.real_part() != 1.0 || matches!(value, ScalarValue::Complex(_))).then_some(value)
}
