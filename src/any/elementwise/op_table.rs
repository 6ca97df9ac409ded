//! The tables of operations, read while running: a value for each row.
//!
//! What the columns mean, for types and for values, stands in `ops::rules`.

use crate::device::erased;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::Result;
use crate::ops::rules::admit::Admits;
use crate::ops::rules::result::Rule;
use crate::ops::rules::special::Specials;
use crate::ops::table::{binary_table, unary_table};
use crate::ops::{self, BinaryOp};

/// A row of the table of operations of one operand.
#[derive(Clone, Copy)]
pub(crate) struct UnaryRow {
    pub(crate) name: &'static str,
    /// PyTorch's name, as the documentation gives it.
    pub(crate) torch: &'static str,
    pub(crate) admits: Admits,
    pub(crate) rule: Rule,
    pub(crate) specials: Specials,
    /// The loops, one for each dtype that is computed in.
    pub(crate) loops: &'static erased::Row<2>,
}

/// A scalar as an operation computes with it: the bytes of its kernel.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct ScalarKernel([u8; 16]);

impl UnaryRow {
    /// The name it is called by.
    pub(crate) fn called(&self) -> &'static str {
        torch_names(self.torch).next().unwrap_or(self.name)
    }
}

impl BinaryRow {
    /// The loop beside an operand that is one element, if it computes the same as that over two tensors.
    pub(crate) fn beside_element(&self, computes: DType) -> Option<erased::BesideElement> {
        let Specials { raises_to_scalar, commutes, .. } = self.specials;
        let compiled = self.scalar_loops[computes as usize].filter(|_| !raises_to_scalar)?;
        erased::BesideElement::new(compiled.inner, computes, commutes)
    }

    /// The name it is called by.
    pub(crate) fn called(&self) -> &'static str {
        torch_names(self.torch).next().unwrap_or(self.name)
    }
}

/// PyTorch's names of a row, which stand in it as the documentation gives them, without `torch.`: by the first it is called, the others
/// are aliases. Those that say more than a name (`torch.div(rounding_mode='trunc')`) are none.
pub(crate) fn torch_names(torch: &'static str) -> impl Iterator<Item = &'static str> {
    torch.split("`, `").filter(|name| !name.contains('(')).filter_map(|name| name.strip_prefix("torch."))
}

impl ScalarKernel {
    pub(crate) fn of<T: Copy>(value: T) -> Self {
        const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 16) }
        let mut bytes = [0; 16];
        // SAFETY: the value fits into the array and is plain data.
        unsafe { core::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), bytes.as_mut_ptr(), size_of::<T>()) }
        ScalarKernel(bytes)
    }
    pub(crate) fn start(&self) -> *const () {
        self.0.as_ptr().cast()
    }
}

/// What may be an operand, beside tensors of dtypes that compute: the column of the table.
#[derive(Clone, Copy)]
pub(crate) struct Operands {
    /// A scalar as the second operand.
    pub(crate) scalars: bool,
    /// A scalar as the first operand of PyTorch's function.
    pub(crate) begin_with_scalars: bool,
    /// Two tensors of one shell dtype.
    pub(crate) shells: bool,
}

/// A row of the table of operations of two operands.
#[derive(Clone, Copy)]
pub(crate) struct BinaryRow {
    pub(crate) name: &'static str,
    pub(crate) torch: &'static str,
    pub(crate) admits: Admits,
    pub(crate) rule: Rule,
    pub(crate) operands: Operands,
    pub(crate) specials: Specials,
    /// Whether integer division by zero is looked for.
    pub(crate) divides: bool,
    /// Whether a scalar on the right keeps the precision that is computed in.
    pub(crate) right_is_exact: bool,
    /// Whether a scalar out of the range of a floating dtype is refused.
    checks_floats: bool,
    /// The loops over two tensors, and over a tensor beside a scalar on the right: one for each dtype that is computed in.
    pub(crate) loops: &'static erased::Row<3>,
    pub(crate) scalar_loops: &'static erased::Row<2>,
}

impl BinaryRow {
    /// A scalar beside a tensor of dtype `own`, as the operation computes with it in the dtype `common`.
    pub(crate) fn scalar(&self, value: ScalarValue, own: DType, common: DType, exact: bool) -> Result<ScalarKernel> {
        crate::any::base::dispatch::dispatch_dtype!(self.name, common, P: Dtype => {
            crate::tensor::fitted_scalar::<P, P>(self.name, self.checks_floats, value, own, exact).map(ScalarKernel::of)
        })
    }
}

macro_rules! unary_rows {
    ($($op:ident { $methods:tt $admits:ident $result:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal $(, $special:ident)* })*) => {
        /// The operations of one operand: a static each, so that a program links the loops of those that it names.
        #[allow(non_upper_case_globals)]
        mod unary_rows {
            use super::*;
            $(pub(crate) static $op: UnaryRow = UnaryRow {
            name: stringify!($op),
            torch: $torch,
            admits: Admits::$admits,
            rule: Rule::$result,
            #[allow(clippy::needless_update)]
            specials: Specials { $($special: true,)* ..Specials::NONE },
            loops: &erased::unary::$op,
            };)*
        }
        /// All of them.
        pub(crate) const UNARY: &[&UnaryRow] = &[$(&unary_rows::$op,)*];
        /// Rows by name, for methods.
        #[allow(non_upper_case_globals, dead_code)]
        pub(crate) mod unary {
            use super::*;
            $(pub(in crate::any) const $op: &UnaryRow = &unary_rows::$op;)*
        }
    };
}
unary_table!(unary_rows);

macro_rules! binary_rows {
    ($($op:ident { $methods:tt $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal $($rest:tt)* })*) => {
        /// The operations of two operands, as those of one.
        #[allow(non_upper_case_globals)]
        mod binary_rows {
            use super::*;
            $(pub(crate) static $op: BinaryRow = BinaryRow {
            name: stringify!($op),
            torch: $torch,
            admits: Admits::$admits,
            rule: Rule::$result,
            operands: binary_rows!(@operands $operands),
            specials: <ops::$op as BinaryOp>::SPECIALS,
            divides: <ops::$op as BinaryOp>::DIVIDES,
            right_is_exact: <ops::$op as BinaryOp>::RIGHT_SCALAR_IS_EXACT,
            checks_floats: <ops::$op as BinaryOp>::CHECKS_FLOAT_SCALARS,
            loops: &erased::binary::$op,
            scalar_loops: &erased::scalar::$op,
            };)*
        }
        /// All of them.
        pub(crate) const BINARY: &[&BinaryRow] = &[$(&binary_rows::$op,)*];
        /// Rows by name, for methods.
        #[allow(non_upper_case_globals, dead_code)]
        pub(crate) mod binary {
            use super::*;
            $(pub(in crate::any) const $op: &BinaryRow = &binary_rows::$op;)*
        }
    };
    (@operands any) => { Operands { scalars: true, begin_with_scalars: false, shells: false } };
    (@operands shells) => { Operands { scalars: true, begin_with_scalars: false, shells: true } };
    (@operands scalars) => { Operands { scalars: true, begin_with_scalars: true, shells: false } };
    (@operands tensors) => { Operands { scalars: false, begin_with_scalars: false, shells: false } };
}
binary_table!(binary_rows);
