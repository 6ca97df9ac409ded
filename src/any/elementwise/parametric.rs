//! Operations of one operand and parameters, from their table: `elu`, `elu_`, `elu_into`, ….

use crate::any::base::convert::widened;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::{default_float, same_device};
use crate::any::elementwise::apply::{check_output, check_shape};
use crate::any::elementwise::binary::combine_over;
use crate::any::elementwise::op_table::{binary, unary};
use crate::any::{AnyTensor, preserved};
use crate::device::{AnyDevice, Backend, Dynamic};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Castable as _, Category, DType, Dtype, Scalar};
use crate::error::{Result, invalid};
use crate::ops::kernel::Tuning;
use crate::ops::rules::admit::set_of_one;
use crate::ops::rules::result::{Rule, form_of_result};
use crate::ops::table::tuned_table;
use crate::ops::{Op, TunedOp, beside_lgammas};
use crate::tensor::{Given as _, parameters};
use castiron_macros::operations;

/// The parameters of an operation; `None` for a default.
pub(crate) type Given = [Option<ScalarValue>; 3];

fn run<O: TunedOp<E>, E: Dtype>(x: &AnyTensor, given: Given) -> Result<AnyTensor> {
    let parameters = O::prepare(given)?;
    if O::ADDS_LGAMMAS && x.device() == AnyDevice::CPU && x.has_data() {
        let p = parameters[0].cast::<f64>();
        if p <= MOST_TERMS {
            return sum_of_lgammas(x, p);
        }
    }
    let kernel = Tuning::<O, E>(parameters);
    let strides = preserved(&x.sizes, &x.strides);
    let dtype = <O::Output as crate::Element>::DTYPE;
    let buffer = Dynamic::map1::<E, O::Output>(kernel, x.elements_as()?, &strides)?;
    Ok(AnyTensor::fresh(buffer, dtype, &x.sizes, &strides))
}

/// A sum of more terms is computed element by element.
const MOST_TERMS: f64 = 64.0;

/// `mvlgamma` term by term, since loops of `lgamma` are vectorised and those of a sum for each element are not. Each term and their sum are
/// rounded to the dtype.
fn sum_of_lgammas(x: &AnyTensor, p: f64) -> Result<AnyTensor> {
    let wide = widened(x.dtype);
    let term = |k: f64| x.add(k)?.run_unary(unary::lgamma)?.to(wide);
    let mut sum = term((1.0 - p) * 0.5)?;
    for at in 1..p as usize {
        sum = combine_over(binary::add, sum, &term((1.0 - p + at as f64) * 0.5)?.into())?;
    }
    let beside = if wide == DType::F64 { beside_lgammas(p) } else { f64::from(beside_lgammas(p as f32)) };
    let result = combine_over(binary::add, sum.to(x.dtype)?.to(wide)?, &beside.into())?.to(x.dtype)?;
    let strides = preserved(&x.sizes, &x.strides);
    if *result.strides == *strides { Ok(result) } else { result.copied(&strides) }
}

/// Integers and bools converted to floats, for operations with a floating result.
fn lifted(x: &AnyTensor) -> Result<AnyTensor> {
    if x.dtype.category() <= Category::Integral { x.to(default_float()) } else { Ok(x.clone()) }
}

macro_rules! tuned_rows {
    ($($op:ident { $methods:tt $admits:ident $result:ident ($($parameter:tt)*), $doc:literal, $torch:literal $($rest:tt)* })*) => {
        const ROWS: &[&Row] = &[$(rows::$op),*];
        /// Rows by name, for methods and calls.
        #[allow(non_upper_case_globals)]
        pub(crate) mod rows {
            use super::*;
            $(pub(in crate::any) const $op: &Row = &Row {
                name: stringify!($op),
                torch: $torch,
                casts_output: !Rule::$result.is_exact(3),
                run: |x, given| set_of_one!($admits, tuned_rows { @$result $op x given }),
            };)*
        }
    };
    // Dispatch over the set, or, for rules that convert integers to floats, over floating and complex dtypes.
    (@$result:ident $op:ident $x:ident $given:ident $set:ident $inexact:ident) => {
        if const { Rule::$result.lifts() } {
            let x = lifted($x)?;
            dispatch_dtype!(<crate::ops::$op as Op>::NAME, x.dtype, E: $inexact => run::<crate::ops::$op, E>(&x, $given))
        } else {
            dispatch_dtype!(<crate::ops::$op as Op>::NAME, $x.dtype, E: $set => run::<crate::ops::$op, E>($x, $given))
        }
    };
}
tuned_table!(tuned_rows);

/// Whether an output may have another dtype than the result of the operation with this PyTorch name; `None` if there is no such row.
pub(crate) fn casts_output(name: &str) -> Option<bool> {
    let row = ROWS.iter().find(|row| row.torch.split("`, `").any(|torch| torch.strip_prefix("torch.") == Some(name)));
    row.map(|row| row.casts_output)
}

/// A row of the table of operations with parameters.
pub(crate) struct Row {
    name: &'static str,
    /// PyTorch's names, as the documentation gives them.
    torch: &'static str,
    casts_output: bool,
    run: fn(&AnyTensor, Given) -> Result<AnyTensor>,
}

impl Row {
    /// The result as a new tensor.
    pub(crate) fn of(&self, x: &AnyTensor, given: Given) -> Result<AnyTensor> {
        (self.run)(x, given)
    }

    /// The result written into an output.
    fn write(&self, x: &AnyTensor, given: Given, out: &mut AnyTensor) -> Result<()> {
        let (op, result) = (self.name, self.of(x, given)?);
        check_output(op, !self.casts_output, result.dtype, out.dtype)?;
        same_device(op, x, out)?;
        check_shape(op, &result.sizes, &out.sizes)?;
        out.copy_from(&result).map(|_| ())
    }
}

/// For `elu […] float same (alpha: impl Scalar)` it writes `elu(alpha)`, `elu_(alpha)` and `elu_into(alpha, out)`, which all run the row
/// above, as does the call by name.
macro_rules! tuned_methods {
    ($($op:ident { [$try:ident $inplace:ident $try_inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident ($($name:ident: $ty:ty),*), $doc:literal, $torch:literal, $operand:literal $arguments:literal = $elements:literal $(, #[$($call:tt)*])? })*) => {
        /// Operations of one operand and parameters.
        #[operations]
        impl AnyTensor {$(
            #[doc = $doc]
            ///
            #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), "). PyTorch: `", $torch, "`.")]
            ///
            /// # Errors
            /// If the operation does not admit the dtype, a parameter does not fit, or memory runs out.
            ///
            /// ```
            /// # use castiron::{AnyTensor, tensor};
            #[doc = concat!("let x = AnyTensor::from(", $operand, ");")]
            #[doc = concat!("assert_eq!(x.", stringify!($op), "(", $arguments, ")?.to_string(), tensor!", $elements, ".to_string());")]
            /// # Ok::<(), castiron::Error>(())
            /// ```
            $(#[$($call)*])?
            pub fn $op(&self, $($name: $ty),*) -> Result<AnyTensor> {
                rows::$op.of(self, parameters!($($name)*))
            }

            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") in place. The result must be castable to the dtype.")]
            ///
            /// # Errors
            /// As there, and if the result can't be cast to the dtype. Nothing is written then.
            ///
            /// ```
            /// # use castiron::{AnyTensor, tensor};
            #[doc = concat!("let mut x = AnyTensor::from(", $operand, ");")]
            #[doc = concat!("x.", stringify!($inplace), "(", $arguments, ")?;")]
            #[doc = concat!("assert_eq!(x.to_string(), tensor!", $elements, ".to_string());")]
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn $inplace(&mut self, $($name: $ty),*) -> Result<&mut Self> {
                let result = self.$op($($name),*)?;
                self.overwrite(stringify!($op), &result)
            }

            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") into an existing tensor of the same shape, ", form_of_result!(tuned $result, tuned_methods { @outputs }), " (`out=`).")]
            ///
            /// # Errors
            /// As there, and if the output has another shape, or the result can't be cast to its dtype. Nothing is written then.
            ///
            /// ```
            /// # use castiron::{AnyTensor, tensor};
            #[doc = concat!("let x = AnyTensor::from(", $operand, ");")]
            /// let mut out = AnyTensor::zeros(x.shape(), x.dtype())?;
            #[doc = concat!("x.", stringify!($into), "(", $arguments, ", &mut out)?;")]
            #[doc = concat!("assert_eq!(out.to_string(), tensor!", $elements, ".to_string());")]
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn $into(&self, $($name: $ty,)* out: &mut AnyTensor) -> Result<()> {
                rows::$op.write(self, parameters!($($name)*), out)
            }
        )*}
    };
    (@outputs $form:ident exactly) => { "which holds the same dtype" };
    (@outputs $form:ident castable) => { "of a dtype that the result can be cast to" };
}
tuned_table!(tuned_methods);

/// Further arguments of PyTorch's functions with these names: `inplace` of a layer (here the in-place call does that).
macro_rules! activations {
    ($($called:ident = $name:ident $admits:ident [$($column:ident)?];)*) => {
        /// Activations by name.
        #[operations(ACTIVATIONS)]
        impl AnyTensor {
            $(
                #[op(nn.functional.$name(input, inplace = _), dtypes = $admits $(, $column)?)]
                fn $called(&self) -> Result<AnyTensor> {
                    self.run_unary(unary::$name)
                }
            )*

            #[op(nn.functional.gelu(input, approximate = "none"), dtypes = float)]
            fn gelu_by_name(&self, approximate: &str) -> Result<AnyTensor> {
                match approximate {
                    "none" => self.run_unary(unary::gelu),
                    "tanh" => self.run_unary(unary::gelu_tanh),
                    other => invalid("gelu", format!("`approximate` is `none` or `tanh`, got {other:?}")),
                }
            }

            #[op(round(input, decimals = None), dtypes = real, in_place)]
            fn round_by_name(&self, decimals: Option<i64>) -> Result<AnyTensor> {
                match decimals {
                    None => self.run_unary(unary::round),
                    Some(decimals) => self.round_decimals(decimals),
                }
            }
        }
    };
}
activations! {
    relu_by_name = relu real [in_place];
    relu6_by_name = relu6 real [];
    selu_by_name = selu float [in_place];
    silu_by_name = silu inexact [];
    mish_by_name = mish float [];
    hardsigmoid_by_name = hardsigmoid float [];
    hardswish_by_name = hardswish float [];
}
