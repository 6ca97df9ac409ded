//! Formulas of one's own by name.

use crate::Tensor;
use crate::any::base::by_width::common_sizes;
use crate::any::base::operand::same_device;
use crate::any::call::{Bound, Forms, InPlace, NamedOp, Output, Run, Value};
use crate::any::{AnyOperand, AnyTensor};
use crate::composite::{Erased, IntoAny, Owned};
use crate::device::{DeviceType, Dynamic};
use crate::dtype::{DType, Dtype, ResultOperand, default_dtype, result_type_of};
use crate::error::{Error, Result, invalid};
use crate::ops::formula::{ForEachResult, Formula, Gives, Kinds, Named, NumberSet, ResultOf, Results};
use crate::ops::kinds::SetVisitor;
use crate::tensor::lazy::formula::{each_of_five, each_of_four, each_of_one, each_of_six, each_of_three, each_of_two};
use core::any::TypeId;
use core::marker::PhantomData;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// The formulas that were registered, by name.
static REGISTERED: RwLock<BTreeMap<&'static str, (TypeId, &'static NamedOp)>> = RwLock::new(BTreeMap::new());

/// Those that were registered.
pub(crate) fn registered() -> Vec<NamedOp> {
    let all = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    all.values().map(|(_, op)| **op).collect()
}
/// The one of this name.
pub(crate) fn registered_as(name: &str) -> Option<&'static NamedOp> {
    let all = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    all.get(name).map(|(_, op)| *op)
}

/// Makes a [formula](macro@crate::formula) an operation of [`AnyTensor`]s by name, for [`call`](crate::any::call),
/// [`call_in_place`](crate::any::call_in_place) and [`call_into`](crate::any::call_into). Its arguments are those of the function, by their
/// names or in their order: tensors and scalars that promote to a dtype that the formula is of. It runs on the device of its tensors, is listed by
/// [`ops`](crate::any::ops), and has the gradient that the formula has.
///
/// The name stays registered as long as the program runs. Registering it again with the same formula does nothing.
///
/// # Errors
/// If the name has no `::` (those without are castiron's own), or stands for another formula already.
///
/// ```
/// use castiron::any::{Args, call, register};
/// use castiron::{AnyTensor, formula, tensor};
///
/// #[formula]
/// fn swish<F: Float>(x: F, beta: F) -> F {
///     x / (1.0 + (-(beta * x)).exp())
/// }
/// register("mine::swish", swish)?;
/// let x = AnyTensor::from(tensor![0.0, 2.0]);
/// let y = call("mine::swish", &Args::new().arg(&x).named("beta", 1.0))?.tensor()?;
/// assert_eq!(y.to_string(), x.silu()?.to_string());
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn register<F: Named>(name: &str, _formula: F) -> Result<()> {
    let id = TypeId::of::<F::Formula>();
    if !name.split("::").all(|part| !part.is_empty()) || !name.contains("::") {
        return invalid(
            "register",
            format!("the name `{name}` has no `::`, as in `mine::{name}`: names without are castiron's own"),
        );
    }
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    match all.get(name) {
        Some((known, _)) if *known == id => Ok(()),
        Some(_) => invalid("register", format!("`{name}` stands for another formula")),
        None => {
            let name: &'static str = Box::leak(name.into());
            let is_single = <F::Formula as Formula>::Results::COUNT == 1;
            let in_place = if is_single { InPlace::Elements } else { InPlace::Absent };
            let op = NamedOp {
                name,
                arguments: F::Formula::ARGUMENTS,
                dtypes: <F::Formula as Formula>::Set::WORDS,
                run: Run::Bound(run::<F::Formula>),
                forms: Forms::NEW.in_place(in_place).output(Output::Castable),
            };
            all.insert(name, (id, Box::leak(Box::new(op))));
            Ok(())
        }
    }
}

/// Runs a formula on what a call is given.
fn run<F: Formula>(bound: &Bound<'_>) -> Result<Value> {
    let mut operands: Vec<AnyOperand> = Vec::new();
    for (name, is_mask) in F::ARGUMENTS.iter().zip(<F::Kinds as Kinds>::MASKS) {
        let operand: AnyOperand = bound.read(name)?;
        let dtype = operand.operand_type().dtype;
        if is_mask && dtype != DType::Bool {
            return invalid(
                F::NAME,
                format!("`{name}` is a mask: a tensor of bools, not of {dtype}; compare first, `x.ne(0)`"),
            );
        }
        operands.push(operand);
    }
    let kinds = operands.iter().map(ResultOperand::operand_type);
    let dtype = result_type_of(kinds)?.unwrap_or_else(default_dtype);
    <F::Set as NumberSet>::visit(F::NAME, dtype, Giving::<F>(operands, PhantomData))
}
/// What a formula gives of operands that promote to a dtype of its set.
struct Giving<F>(Vec<AnyOperand>, PhantomData<F>);
impl<F: Formula> SetVisitor for Giving<F> {
    type Output = Value;
    fn visit<P: Dtype>(self) -> Result<Value> {
        given::<F, P>(self.0)
    }
}
fn given<F: Formula, P: Dtype>(operands: Vec<AnyOperand>) -> Result<Value> {
    // The tensor that says on which device: one with axes, else one that is not on the host.
    let tensors = || {
        operands.iter().filter_map(|operand| match operand {
            AnyOperand::Array(tensor) => Some(tensor),
            AnyOperand::Number(_) => None,
        })
    };
    let is_elsewhere = |tensor: &&AnyTensor| tensor.device().kind() != DeviceType::CPU;
    let leading = tensors().find(|tensor| tensor.rank() > 0).or_else(|| tensors().find(is_elsewhere));
    let leading = leading.or_else(|| tensors().next()).cloned();
    let mut moved = Vec::new();
    for operand in operands {
        let tensor = match operand {
            AnyOperand::Array(tensor) => tensor,
            AnyOperand::Number(value) => match value.to_dtype::<P>() {
                Some(value) => AnyTensor::from(Tensor::<P, ()>::full(value)),
                None => return Err(Error::ScalarOutOfRange { op: F::NAME, value, dtype: P::DTYPE }),
            },
        };
        let tensor = match &leading {
            Some(leading) if leading.device() != tensor.device() => {
                same_device(F::NAME, leading, &tensor)?;
                tensor.to_device(leading.device())?
            }
            _ => tensor,
        };
        moved.push(tensor.to(P::DTYPE)?);
    }
    let sizes = common_sizes(F::NAME, &moved)?;
    for tensor in &mut moved {
        *tensor = tensor.expanded_to(&sizes)?;
    }
    let all = F::Results::each(Applying::<F, P>(&moved, PhantomData))?;
    let mut list: Vec<Value> = F::Results::list(all).into_iter().map(Value::Array).collect();
    Ok(if list.len() == 1 { list.swap_remove(0) } else { Value::List(list.into()) })
}

/// Applies the formula of each result to operands of one size, dtype and device.
struct Applying<'a, F, P>(&'a [AnyTensor], PhantomData<(F, P)>);
impl<F, P> Clone for Applying<'_, F, P> {
    fn clone(&self) -> Self {
        Applying(self.0, PhantomData)
    }
}
impl<F: Formula, P: Dtype> ForEachResult for Applying<'_, F, P> {
    type Output = AnyTensor;
    fn run<const AT: usize>(self) -> Result<AnyTensor> {
        fn of<P: Dtype>(x: &AnyTensor) -> Result<Erased<'_, P, Dynamic>> {
            x.as_erased::<P>()
        }
        type Part<F, const AT: usize> = ResultOf<F, AT>;
        type O<F, P> = <<<F as Formula>::Kinds as Kinds>::Gives as Gives>::Elem<P>;
        let result: Owned<O<F, P>, Dynamic> = match self.0 {
            [x] => each_of_one::<Part<F, AT>, P, O<F, P>, _>(of(x)?)?,
            [x, y] => each_of_two::<Part<F, AT>, P, O<F, P>, _, P, P>(of(x)?, of(y)?)?,
            [x, y, z] => each_of_three::<Part<F, AT>, P, O<F, P>, _, P, P, P>(of(x)?, of(y)?, of(z)?)?,
            [x, y, z, a] => each_of_four::<Part<F, AT>, P, O<F, P>, _, P, P, P, P>(of(x)?, of(y)?, of(z)?, of(a)?)?,
            [x, y, z, a, b] => {
                each_of_five::<Part<F, AT>, P, O<F, P>, _, P, P, P, P, P>(of(x)?, of(y)?, of(z)?, of(a)?, of(b)?)?
            }
            [x, y, z, a, b, c] => each_of_six::<Part<F, AT>, P, O<F, P>, _, P, P, P, P, P, P>(
                of(x)?,
                of(y)?,
                of(z)?,
                of(a)?,
                of(b)?,
                of(c)?,
            )?,
            _ => return invalid(F::NAME, "a formula has one operand to six".to_owned()),
        };
        Ok(result.into_any())
    }
}

/// (Nothing is: the message says what to write.)
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a formula is applied to an `AnyTensor` by its name",
    label = "the dtype is known while running only",
    note = "register the formula once, `any::register(\"mine::swish\", swish)?`, and call it, `any::call(\"mine::swish\", &Args::new().arg(&x))?`; or apply it to a typed tensor, `x.typed::<f32, shape![_], Cpu>()?`"
)]
pub trait AppliedByName {
    fn refused(self) -> AnyTensor;
}
impl AnyTensor {
    #[doc(hidden)]
    pub fn apply<F: AppliedByName>(&self, formula: F, _operands: impl Sized) -> AnyTensor {
        formula.refused()
    }
}
