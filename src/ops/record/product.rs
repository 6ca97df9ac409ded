//! Recorded matrix products: the term of two elements and the epilogue of a sum, over which a device's product kernel is written once.

use super::arguments::Arguments;
use super::kernel::{Kernel, Operand, Value};
use super::rows::computes_in;
use crate::dtype::{DType, Dtype, Element};
use crate::ops::kernel::Map1;
use crate::ops::reduce::Accumulating;

/// The factors of a product and of its input. `None` means 1.
pub(crate) struct Factors<E: Dtype> {
    /// Whether an input is added.
    pub(crate) adds: bool,
    pub(crate) alpha: Option<E::Compute>,
    pub(crate) beta: Option<E::Compute>,
}

/// A product being described.
pub(crate) struct Product {
    /// The term of two elements, added to a sum.
    pub(super) term: (Kernel, Value),
    /// The sum of two partial sums.
    pub(super) merge: (Kernel, Value),
    /// An element of the result, of a sum and, where one is added, an element of the input.
    pub(super) finish: (Kernel, Value),
}

/// The term of two elements, added to a sum of this dtype.
fn term(mut kernel: Kernel, [a, b]: [DType; 2], sum: DType) -> (Kernel, Value) {
    let [total, a, b] = [sum, a, b].map(|dtype| kernel.load(dtype, Operand::default()));
    let [a, b] = [a, b].map(|x| kernel.cast(x, sum));
    let both = kernel.row("mul", sum, &[a, b]);
    let result = kernel.binary::<Accumulating>(total, both);
    (kernel, result)
}

/// The sum of two partial sums of this dtype.
fn merge(mut kernel: Kernel, sum: DType) -> (Kernel, Value) {
    let [a, b] = [sum; 2].map(|dtype| kernel.load(dtype, Operand::default()));
    let result = kernel.binary::<Accumulating>(a, b);
    (kernel, result)
}

impl Product {
    /// A product of elements `E`: scaled, plus the input, then `then` of each.
    pub(crate) fn new<E: Dtype, K: Map1<E, E>>(new: fn() -> Kernel, factors: &Factors<E>, then: &K) -> Product {
        let sum = computes_in(E::DTYPE);
        let mut kernel = new();
        let mut result = kernel.load(sum, Operand::default());
        let input = factors.adds.then(|| kernel.load(E::DTYPE, Operand::default()));
        if let Some(alpha) = factors.alpha {
            let alpha = kernel.parameter(alpha);
            result = kernel.row("mul", sum, &[result, alpha]);
        }
        if let Some(input) = input {
            let mut input = kernel.widen(input);
            if let Some(beta) = factors.beta {
                let beta = kernel.parameter(beta);
                input = kernel.row("mul", sum, &[input, beta]);
            }
            result = kernel.binary::<Accumulating>(input, result);
        }
        let rounded = kernel.cast(result, E::DTYPE);
        let result = then.text(&mut kernel, rounded);
        Product { term: term(new(), [E::DTYPE; 2], sum), merge: merge(new(), sum), finish: (kernel, result) }
    }
    /// A product of `A` and `i8`, in `i32`.
    pub(crate) fn of_bytes<A: Element>(new: fn() -> Kernel) -> Product {
        let mut kernel = new();
        let result = kernel.load(DType::I32, Operand::default());
        let (term, merge) = (term(new(), [A::DTYPE, DType::I8], DType::I32), merge(new(), DType::I32));
        Product { term, merge, finish: (kernel, result) }
    }
    /// The values.
    pub(crate) fn values(&self) -> &Arguments {
        &self.finish.0.values
    }
}
