//! Formulas of one's own applied to tensors: to new ones, in place, and into existing ones.

use super::formula::OperandsBeside;
use crate::device::Device;
use crate::dtype::{CanCast, Dtype};
use crate::error::{Error, Result};
use crate::ops::formula::{ForEachResult, Formula, Named, OfTensors, ResultOf, Results, SingleFormula};
use crate::shape::{Shape, WrittenTo};
use crate::tensor::elementwise::view_in_place::in_place;
use crate::{Element, Tensor, TensorViewMut};
use castiron_macros::fallible;
use core::marker::PhantomData;

/// The formula of a name.
type Of<F> = <F as Named>::Formula;
/// How many operands it has.
type Operands<F> = <Of<F> as Formula>::Operands;
/// What it gives of tensors: one, or a tuple.
type Given<F, T> = <<Of<F> as Formula>::Results as Results>::Of<T>;

/// Applies the formula of each result.
struct Applying<'a, F, E: Element, S: Shape, D: Device, R>(&'a Tensor<E, S, D>, R, PhantomData<F>);
impl<F, E: Element, S: Shape, D: Device, R: Clone> Clone for Applying<'_, F, E, S, D, R> {
    fn clone(&self) -> Self {
        Applying(self.0, self.1.clone(), PhantomData)
    }
}
impl<F: Formula, E: Dtype, S: Shape, D: Device, R: OperandsBeside<F::Operands, E, S, D>> ForEachResult
    for Applying<'_, F, E, S, D, R>
{
    type Output = Tensor<R::Elem, R::Shape, D>;
    const AT_ONCE: bool = D::EVALUATES_EACH;
    fn all<const N: usize>(self) -> Result<[Self::Output; N]> {
        self.1.at_once::<F, _, N>(self.0.lazy().parts?)
    }
    fn run<const AT: usize>(self) -> Result<Self::Output> {
        self.1.of_tensor::<ResultOf<F, AT>>(self.0)
    }
}

impl<E: Dtype, S: Shape, D: Device> OfTensors for Tensor<E, S, D> {}

impl<E: Dtype, S: Shape, D: Device> Tensor<E, S, D> {
    /// A [formula](macro@crate::formula) of one's own, applied to each element. The operands after the tensor are `()`, one tensor or
    /// scalar, or several as a tuple; all broadcast, and promote to the dtype of the result. A formula that gives several numbers gives a
    /// tuple of tensors: the CPU computes all of them in one pass; on GPUs and tapes each is an operation of its own.
    ///
    /// It runs on every device, and has a gradient with the feature `grad`. In place it is [`apply_`](Self::apply_).
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast, a scalar does not fit, or memory runs out.
    ///
    /// ```
    /// # use castiron::{formula, tensor};
    /// #[formula]
    /// fn swish<F: Float>(x: F, beta: F) -> F {
    ///     x / (1.0 + (-(beta * x)).exp())
    /// }
    /// let x = tensor![-1.0, 0.0, 2.0];
    /// assert_eq!(x.apply(swish, 1), x.silu());
    /// ```
    #[fallible]
    pub fn apply<F: Named, R: OperandsBeside<Operands<F>, E, S, D>>(
        &self,
        _formula: F,
        operands: R,
    ) -> Result<Given<F, Tensor<R::Elem, R::Shape, D>>> {
        <Of<F> as Formula>::Results::each(Applying(self, operands, PhantomData::<Of<F>>))
    }

    /// [`apply`](Self::apply) in place: the result has the shape of the tensor and is converted to its dtype, which its category must
    /// allow. Formulas of more than two operands, and those with a loop, are computed into memory of their own first.
    ///
    /// # Panics
    /// As [`apply`](Self::apply); nothing is written then.
    ///
    /// ```
    /// # use castiron::{formula, tensor};
    /// # #[formula]
    /// # fn decayed<F: Float>(x: F, by: F) -> F {
    /// #     x * (-by).exp()
    /// # }
    /// let mut x = tensor![1.0, 2.0];
    /// x.apply_(decayed, 0).apply_(decayed, &tensor![0.0, 0.5]);
    /// assert_eq!(x.to_vec(), [1.0, 1.213_061_3]);
    /// ```
    #[fallible]
    pub fn apply_<F: Named<Formula: SingleFormula>, R>(&mut self, _formula: F, operands: R) -> Result<&mut Self>
    where
        R: OperandsBeside<Operands<F>, E, S, D, Elem: CanCast<E>, Shape: WrittenTo<S>>,
    {
        operands.in_place::<Of<F>>(self)?;
        Ok(self)
    }

    /// [`apply`](Self::apply), written into an existing tensor of the result's shape and converted to its dtype (`out=`).
    ///
    /// # Panics
    /// As [`apply`](Self::apply), and if the sizes of `out` differ from those of the result; nothing is written then.
    ///
    /// ```
    /// # use castiron::{formula, tensor};
    /// # #[formula]
    /// # fn midpoint<F: Float>(x: F, y: F) -> F {
    /// #     0.5 * (x + y)
    /// # }
    /// let mut out = tensor![0.0, 0.0];
    /// tensor![1.0, 2.0].apply_into(midpoint, &tensor![3.0, 4.0], &mut out);
    /// assert_eq!(out.to_vec(), [2.0, 3.0]);
    /// ```
    #[fallible]
    pub fn apply_into<F: Named<Formula: SingleFormula>, R, P, T>(
        &self,
        _formula: F,
        operands: R,
        out: &mut Tensor<P, T, D>,
    ) -> Result<()>
    where
        R: OperandsBeside<Operands<F>, E, S, D, Elem: CanCast<P>, Shape: WrittenTo<T>>,
        P: Dtype,
        T: Shape,
    {
        let result = self.lazy().applied::<Of<F>, _, R>(operands);
        let (_, extent) = result.parts.as_ref().map_err(Clone::clone)?;
        let (sizes, output) = (extent.sizes.as_ref(), out.shape());
        if sizes != output.as_ref() {
            return Err(Error::Output { op: Of::<F>::NAME, result: sizes.into(), output: output.as_ref().into() });
        }
        result.written_into(out, Of::<F>::NAME)
    }
}

in_place! {
    apply_ try_apply_ [F: Named<Formula: SingleFormula>, R: OperandsBeside<Operands<F>, E, S, D, Elem: CanCast<E>, Shape: WrittenTo<S>>]
        (formula: F, operands: R) [E: Dtype]
}
