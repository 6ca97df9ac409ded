//! Operations of one operand and parameters, written from their table.

use super::dispatch::among;
use super::operand::default_float;
use super::{AnyTensor, Buffer, preserved};
use crate::cpu::elementwise;
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, Dtype};
use crate::error::{Error, Result};
use crate::ops::kernel::Tuning;
use crate::ops::table::tuned_table;
use crate::ops::{Op, TunedOp};
use crate::storage::View;

/// The parameters of an operation; those left open are `None`.
pub(super) type Given = [Option<ScalarValue>; 3];

fn run<O: TunedOp<E>, E: Dtype>(x: &AnyTensor, given: Given) -> Result<AnyTensor> {
    let kernel = Tuning::<O, E>(O::prepare(given)?);
    let strides = preserved(&x.sizes, &x.strides);
    let dtype = <O::Output as crate::Element>::DTYPE;
    let buffer = if x.is_meta() {
        Buffer::Meta
    } else {
        let view = View::<_, E>::new(x.host(O::NAME)?, x.first(), &x.sizes, &x.strides);
        Buffer::Cpu(elementwise::map1::<E, O::Output, _>(kernel, view, &strides)?)
    };
    Ok(AnyTensor::fresh(buffer, dtype, &x.sizes, &strides))
}

/// Integers and bools of operations whose result is floating, as such.
fn lifted(x: &AnyTensor) -> Result<AnyTensor> {
    if x.dtype.category() <= Category::Integral { x.to(default_float()) } else { Ok(x.clone()) }
}

macro_rules! tuned_rows {
    ($($op:ident [$($method:ident)*] $admits:ident $result:ident ($($name:ident: $ty:ty),*), $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {
        /// Runs a row of the table of operations with parameters.
        pub(super) fn tuned(op: &'static str, x: &AnyTensor, given: Given) -> Result<AnyTensor> {
            match op {
                $(stringify!($op) => tuned_rows!(@$admits $result $op x given),)*
                _ => Err(Error::InvalidArgument { op, reason: "there is no such operation".to_owned() }),
            }
        }
    };
    (@ordered stepwise $op:ident $x:ident $given:ident) => {{
        let x = lifted($x)?;
        among!(<crate::ops::$op as Op>::NAME, x.dtype, E: Float => run::<crate::ops::$op, E>(&x, $given))
    }};
    (@any $result:ident $op:ident $x:ident $given:ident) => {
        among!(<crate::ops::$op as Op>::NAME, $x.dtype, E: Dtype => run::<crate::ops::$op, E>($x, $given))
    };
    (@ordered $result:ident $op:ident $x:ident $given:ident) => {
        among!(<crate::ops::$op as Op>::NAME, $x.dtype, E: Ordered => run::<crate::ops::$op, E>($x, $given))
    };
    (@real $result:ident $op:ident $x:ident $given:ident) => {
        among!(<crate::ops::$op as Op>::NAME, $x.dtype, E: Real => run::<crate::ops::$op, E>($x, $given))
    };
    (@float $result:ident $op:ident $x:ident $given:ident) => {
        among!(<crate::ops::$op as Op>::NAME, $x.dtype, E: Float => run::<crate::ops::$op, E>($x, $given))
    };
}
tuned_table!(tuned_rows);
