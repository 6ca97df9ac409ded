//! The tables of operations at run time: a value for each row.
//!
//! The columns are explained in `ops::rules`.

use crate::device::erased;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::Result;
use crate::ops::rules::admit::Admits;
use crate::ops::rules::result::Rule;
use crate::ops::rules::special::Specials;
use crate::ops::slope::Formula;
use crate::ops::table::{binary_table, unary_table};
use crate::ops::{self, BinaryOp};

/// A row of the table of operations of one operand.
#[derive(Clone, Copy)]
pub(crate) struct UnaryRow {
    pub(crate) name: &'static str,
    /// PyTorch's names, as in the documentation.
    pub(crate) torch: &'static str,
    pub(crate) admits: Admits,
    pub(crate) rule: Rule,
    pub(crate) specials: Specials,
    /// The formula, if it has a derivative.
    pub(crate) formula: Option<&'static Formula>,
    /// The loops, one for each computing dtype.
    pub(crate) loops: &'static erased::Row<2>,
}

/// A scalar operand: the bytes of its kernel.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct ScalarKernel([u8; 16]);

impl UnaryRow {
    /// The name for calls by name.
    pub(crate) fn called(&self) -> &'static str {
        torch_names(self.torch).next().unwrap_or(self.name)
    }
}

impl BinaryRow {
    /// The loop for a repeated single element, if it computes the same as that over two tensors.
    pub(crate) fn beside_element(&self, computes: DType) -> Option<erased::BesideElement> {
        let Specials { raises_to_scalar, commutes, .. } = self.specials;
        let compiled = self.scalar_loops[computes as usize].filter(|_| !raises_to_scalar)?;
        erased::BesideElement::new(compiled.inner, computes, commutes)
    }

    /// The name for calls by name.
    pub(crate) fn called(&self) -> &'static str {
        torch_names(self.torch).next().unwrap_or(self.name)
    }
}

/// PyTorch's names of a row, without `torch.`: the first is the name for calls, the others are aliases. Entries with arguments
/// (`torch.div(rounding_mode='trunc')`) are left out.
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

/// Which operands are allowed besides tensors of dtypes that compute: the column of the table.
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
    /// Whether integer divisors are checked for zero.
    pub(crate) divides: bool,
    /// Whether a scalar on the right keeps the precision of the computing dtype.
    pub(crate) right_is_exact: bool,
    /// Whether a scalar out of the range of a floating dtype is refused.
    checks_floats: bool,
    /// The formula of two operands, of the left one beside a value and of the right one, if it has derivatives.
    pub(crate) formulas: Option<[&'static Formula; 3]>,
    /// The loops over two tensors, and over a tensor and a scalar on the right: one for each computing dtype.
    pub(crate) loops: &'static erased::Row<3>,
    pub(crate) scalar_loops: &'static erased::Row<2>,
}

impl BinaryRow {
    /// A scalar operand, for a tensor of dtype `own`, in the dtype `common` that is computed in.
    pub(crate) fn scalar(&self, value: ScalarValue, own: DType, common: DType, exact: bool) -> Result<ScalarKernel> {
        crate::any::base::dispatch::dispatch_dtype!(self.name, common, P: Dtype => {
            crate::tensor::fitted_scalar::<P, P>(self.name, self.checks_floats, value, own, exact).map(ScalarKernel::of)
        })
    }
}

macro_rules! unary_rows {
    ($($op:ident { $methods:tt $admits:ident $result:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal $(, $special:ident)* })*) => {
        /// Operations of one operand: a static each, so that a program links only the loops that it uses.
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
            formula: ops::$op::FORMULA,
            loops: &erased::unary::$op,
            };)*
        }
        /// All rows.
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
        /// Operations of two operands, each a static.
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
            formulas: crate::ops::slope::DerivedOfAll::<<ops::$op as BinaryOp>::Derived, { Admits::$admits.takes_complex() }>::THREE,
            loops: &erased::binary::$op,
            scalar_loops: &erased::scalar::$op,
            };)*
        }
        /// All rows.
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
