//! The tables of operations, read while running: a value for each row.
//!
//! What the columns mean, for types and for values, stands in `ops::rules`.

use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, Dtype};
use crate::error::Result;
use crate::ops::kernel::ComputeOf;
use crate::ops::rules::admit::Admits;
use crate::ops::rules::result::Rule;
use crate::ops::rules::special::Specials;
use crate::ops::table::{binary_table, unary_table};
use crate::ops::{self, BinaryOp, Op};

/// A row of the table of operations of one operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unary {
    pub(super) row: usize,
    pub(super) name: &'static str,
    /// PyTorch's name, as the documentation gives it.
    pub(super) torch: &'static str,
    pub(super) admits: Admits,
    pub(super) rule: Rule,
    pub(super) specials: Specials,
}

/// A scalar as an operation computes with it: the bytes of its kernel.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct ScalarKernel([u8; 16]);

impl Unary {
    /// The name it is called by.
    pub(super) fn called(&self) -> &'static str {
        torch_names(self.torch).next().unwrap_or(self.name)
    }
}

impl Binary {
    /// The name it is called by.
    pub(super) fn called(&self) -> &'static str {
        torch_names(self.torch).next().unwrap_or(self.name)
    }
}

/// PyTorch's names of a row, which stand in it as the documentation gives them, without `torch.`: by the first it is called, the others
/// are aliases. Those that say more than a name (`torch.div(rounding_mode='trunc')`) are none.
pub(super) fn torch_names(torch: &'static str) -> impl Iterator<Item = &'static str> {
    torch.split("`, `").filter(|name| !name.contains('(')).filter_map(|name| name.strip_prefix("torch."))
}

impl ScalarKernel {
    pub(super) fn of<T: Copy>(value: T) -> Self {
        const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 16) }
        let mut bytes = [0; 16];
        // SAFETY: the value is no larger than the room, and plain.
        unsafe { core::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), bytes.as_mut_ptr(), size_of::<T>()) }
        ScalarKernel(bytes)
    }
    pub(super) fn start(&self) -> *const () {
        self.0.as_ptr().cast()
    }
}

/// What may be an operand, beside tensors of dtypes that compute: the column of the table.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    /// A scalar as the second operand.
    pub(super) scalars: bool,
    /// A scalar as the first operand of PyTorch's function.
    pub(super) begin_with_scalars: bool,
    /// Two tensors of one shell dtype.
    pub(super) shells: bool,
}

/// A row of the table of operations of two operands.
#[derive(Clone, Copy)]
pub(super) struct Binary {
    pub(super) row: usize,
    pub(super) name: &'static str,
    pub(super) torch: &'static str,
    pub(super) admits: Admits,
    pub(super) rule: Rule,
    pub(super) operands: Operands,
    pub(super) specials: Specials,
    /// Whether integer division by zero is looked for.
    pub(super) divides: bool,
    /// Whether a scalar on the right keeps the precision that is computed in.
    pub(super) right_is_exact: bool,
    /// The kernel of a scalar beside a tensor of the first dtype, which promote to the second.
    pub(super) scalar: fn(ScalarValue, DType, DType, bool) -> Result<ScalarKernel>,
}

fn prepared<O: BinaryOp, P: Dtype>(value: ScalarValue, own: DType, exact: bool) -> Result<ScalarKernel> {
    let value: ComputeOf<O, P> = crate::tensor::scalar_operand::<O, P>(value, own, exact)?;
    Ok(ScalarKernel::of(value))
}

macro_rules! unary_rows {
    ($($op:ident { $methods:tt $admits:ident $result:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal $(, $special:ident)* })*) => {
        #[allow(non_camel_case_types)]
        enum UnaryRow { $($op,)* }
        /// The operations of one operand.
        pub(super) const UNARY: &[Unary] = &[$(Unary {
            row: UnaryRow::$op as usize,
            name: stringify!($op),
            torch: $torch,
            admits: Admits::$admits,
            rule: Rule::$result,
            #[allow(clippy::needless_update)]
            specials: Specials { $($special: true,)* ..Specials::NONE },
        },)*];
        /// Rows by name, for methods.
        #[allow(non_upper_case_globals, dead_code)]
        pub(super) mod unary {
            use super::*;
            $(pub(in crate::any) const $op: &Unary = &UNARY[UnaryRow::$op as usize];)*
        }
    };
}
unary_table!(unary_rows);

macro_rules! binary_rows {
    ($($op:ident { $methods:tt $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal $($rest:tt)* })*) => {
        #[allow(non_camel_case_types)]
        enum BinaryRow { $($op,)* }
        /// The operations of two operands.
        pub(super) const BINARY: &[Binary] = &[$(Binary {
            row: BinaryRow::$op as usize,
            name: stringify!($op),
            torch: $torch,
            admits: Admits::$admits,
            rule: Rule::$result,
            operands: binary_rows!(@operands $operands),
            specials: <ops::$op as BinaryOp>::SPECIALS,
            divides: <ops::$op as BinaryOp>::DIVIDES,
            right_is_exact: <ops::$op as BinaryOp>::RIGHT_SCALAR_IS_EXACT,
            scalar: |value, own, promoted, exact| super::dispatch::among!(<ops::$op as Op>::NAME, promoted, P: Dtype => {
                prepared::<ops::$op, P>(value, own, exact)
            }),
        },)*];
        /// Rows by name, for methods.
        #[allow(non_upper_case_globals, dead_code)]
        pub(super) mod binary {
            use super::*;
            $(pub(in crate::any) const $op: &Binary = &BINARY[BinaryRow::$op as usize];)*
        }
    };
    (@operands any) => { Operands { scalars: true, begin_with_scalars: false, shells: false } };
    (@operands shells) => { Operands { scalars: true, begin_with_scalars: false, shells: true } };
    (@operands scalars) => { Operands { scalars: true, begin_with_scalars: true, shells: false } };
    (@operands tensors) => { Operands { scalars: false, begin_with_scalars: false, shells: false } };
}
binary_table!(binary_rows);
