//! Derivatives of elementwise formulas, as they were recorded.

use super::elementwise::{fresh, operand_of};
use crate::cuda::CudaBuffer;
use crate::device::Cuda;
use crate::dtype::{Complex, Dtype};
use crate::error::Result;
use crate::grad::pull::{DerivativeCall, by_dtype};
use crate::layout::dims::Dims;
use crate::ops::record::derivative::Derivative;
use crate::ops::record::describe::Described;
use crate::ops::record::kernel::{Kernel, Value};
use core::any::TypeId;

/// A derivative of operands on a GPU, row-major.
pub(crate) fn derivative<const N: usize>(
    derivative: &Derivative,
    call: &DerivativeCall<'_, Cuda<N>>,
) -> Result<CudaBuffer> {
    by_dtype!(call.dtype, E => of::<E, N>(derivative, call))
}

fn of<E: Dtype, const N: usize>(derivative: &Derivative, call: &DerivativeCall<'_, Cuda<N>>) -> Result<CudaBuffer> {
    struct Recorded<E>(core::marker::PhantomData<E>);
    let device = call.place()?.device();
    let mut operands = Vec::with_capacity(derivative.operands);
    for at in 0..derivative.operands {
        let operand = call.operand::<E>(at).filter(|_| derivative.reads >> at & 1 == 1);
        operands.push(operand.map(|view| operand_of(&view)));
    }
    let describe = |mut to: Kernel| {
        let loaded: Vec<Option<Value>> =
            operands.iter().map(|operand| operand.map(|operand| to.load(E::DTYPE, operand))).collect();
        let numbers = call.given.map(|given: Complex<f64>| to.parameter(crate::dtype::Castable::cast::<E>(given)));
        // What is not read may be anything.
        let values: Vec<Value> = loaded.into_iter().map(|value| value.unwrap_or(numbers[0])).chain(numbers).collect();
        let value = to.call_recorded("ci_derivative".to_owned(), &values, |_| {
            Ok(if E::DTYPE.itemsize() == 4 { derivative.function.narrowed() } else { derivative.function.clone() })
        });
        Described::erased(to, value, TypeId::of::<Recorded<E>>(), derivative.number)
    };
    let dense = Dims::known(call.sizes).row_major();
    // SAFETY: the operands are views of these sizes on this device, or are not read.
    unsafe { fresh(E::DTYPE, "backward", device, (call.sizes, &dense), &describe) }
}
