//! The tables of operations, read while running: which dtypes a row admits, and the dtype of its result.
//!
//! The columns of the tables are turned into values here; what they mean for types stands in `ops::admit` and in the macros that
//! write the operations.

use crate::dtype::scalar::{KindRank, ScalarValue};
use crate::dtype::{Category, DType, Dtype};
use crate::error::Result;
use crate::ops::kernel::ComputeOf;
use crate::ops::table::{binary_table, unary_table};
use crate::ops::{self, BinaryOp, Op};

/// Which dtypes an operation admits: the column of the tables.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admits {
    any,
    numeric,
    ordered,
    real,
    bits,
    float,
    inexact,
    real_pair,
    numeric_pair,
    integer_pair,
    float_pair,
    inexact_pair,
    bounded,
    scaling,
    alike,
}

impl Admits {
    /// Whether the dtype is admitted, for a single operand.
    pub(super) fn one(self, dtype: DType) -> bool {
        let category = dtype.category();
        !dtype.is_shell()
            && match self {
                Admits::any => true,
                Admits::numeric => category != Category::Boolean,
                Admits::ordered => category != Category::Complex,
                Admits::real => matches!(category, Category::Integral | Category::Floating),
                Admits::bits => category <= Category::Integral,
                Admits::float => category == Category::Floating,
                Admits::inexact => category >= Category::Floating,
                _ => false,
            }
    }

    /// Whether the pair is admitted, the second operand being of this kind.
    pub(super) fn two(self, [a, b]: [DType; 2], kind: KindRank) -> bool {
        let [first, second] = [a, b].map(DType::category);
        let both = |test: fn(Category) -> bool| test(first) && test(second);
        let either = |test: fn(Category) -> bool| test(first) || test(second);
        let ordered = both(|category| category != Category::Complex);
        !a.is_shell()
            && !b.is_shell()
            && match self {
                Admits::any | Admits::numeric | Admits::ordered | Admits::real | Admits::bits => {
                    self.one(a) && self.one(b)
                }
                Admits::float | Admits::inexact => self.one(a) && self.one(b),
                Admits::real_pair => ordered && either(|category| category != Category::Boolean),
                Admits::numeric_pair => either(|category| category != Category::Boolean),
                Admits::integer_pair => {
                    both(|category| category <= Category::Integral) && either(|category| category == Category::Integral)
                }
                Admits::float_pair => ordered && either(|category| category == Category::Floating),
                Admits::inexact_pair => either(|category| category >= Category::Floating),
                Admits::bounded => {
                    ordered && (kind != KindRank::Scalar || either(|category| category != Category::Boolean))
                }
                Admits::scaling => {
                    first != Category::Floating || matches!(second, Category::Integral | Category::Floating)
                }
                Admits::alike => ordered && a == b,
            }
    }

    /// What it says, for an error.
    pub(super) fn words(self) -> &'static str {
        match self {
            Admits::any => "all computing dtypes",
            Admits::numeric => "all computing dtypes but bool",
            Admits::ordered => "bool, integers and floats",
            Admits::real => "integers and floats",
            Admits::bits => "bool and integers",
            Admits::float => "floats",
            Admits::inexact => "floats and complex",
            Admits::real_pair => "integers and floats; one operand may be bool",
            Admits::numeric_pair => "numbers; one operand may be bool",
            Admits::integer_pair => "integers; one operand may be bool",
            Admits::float_pair => "floats; one operand may be an integer or bool",
            Admits::inexact_pair => "floats and complex; one operand may be an integer or bool",
            Admits::bounded => "numbers with an order; bools are not bounded by a bool scalar",
            Admits::scaling => "anything but a float with a bool or complex exponent",
            Admits::alike => "two operands of one dtype that has an order",
        }
    }
}

/// How the dtype of the result follows: the column of the tables.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    same,
    exact,
    neighbour,
    inexact,
    divided,
    subtracted,
    scaled,
    boolean,
    mask,
    real_part,
    integer,
    angle,
    double,
}

impl Rule {
    /// Whether bools and integers become the default float first.
    pub(super) fn lifts(self) -> bool {
        use Rule::*;
        matches!(self, inexact | divided | subtracted | scaled | angle)
    }

    /// Whether the result is written into outputs of its own dtype only.
    pub(super) fn is_exact(self, operands: usize) -> bool {
        match self {
            Rule::mask | Rule::exact | Rule::double => true,
            Rule::same => operands == 1,
            _ => false,
        }
    }

    /// The dtype of the result, from what is computed in.
    pub(super) fn result(self, dtype: DType) -> DType {
        match self {
            Rule::boolean | Rule::mask => DType::Bool,
            Rule::real_part | Rule::angle => dtype.to_real(),
            Rule::integer if dtype == DType::Bool => DType::I64,
            Rule::double => {
                if dtype.is_complex() {
                    DType::C128
                } else {
                    DType::F64
                }
            }
            _ => dtype,
        }
    }
}

/// A row of the table of operations of one operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unary {
    pub(super) row: usize,
    pub(super) name: &'static str,
    /// PyTorch's name, as the documentation gives it.
    pub(super) torch: &'static str,
    pub(super) admits: Admits,
    pub(super) rule: Rule,
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

/// A row of the table of operations of two operands.
#[derive(Clone, Copy)]
pub(super) struct Binary {
    pub(super) row: usize,
    pub(super) name: &'static str,
    pub(super) torch: &'static str,
    pub(super) admits: Admits,
    pub(super) rule: Rule,
    /// Whether a scalar may be the other operand.
    pub(super) takes_scalars: bool,
    /// Whether PyTorch's function takes a scalar as the first operand, too.
    pub(super) begins_with_scalars: bool,
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
    ($($op:ident [$($method:ident)*] $admits:ident $result:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {
        #[allow(non_camel_case_types)]
        enum UnaryRow { $($op,)* }
        /// The operations of one operand.
        pub(super) const UNARY: &[Unary] = &[$(Unary {
            row: UnaryRow::$op as usize,
            name: stringify!($op),
            torch: $torch,
            admits: Admits::$admits,
            rule: Rule::$result,
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
    ($($op:ident [$($method:ident)*] $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {
        #[allow(non_camel_case_types)]
        enum BinaryRow { $($op,)* }
        /// The operations of two operands.
        pub(super) const BINARY: &[Binary] = &[$(Binary {
            row: BinaryRow::$op as usize,
            name: stringify!($op),
            torch: $torch,
            admits: Admits::$admits,
            rule: Rule::$result,
            takes_scalars: binary_rows!(@takes $operands),
            begins_with_scalars: matches!(stringify!($operands).as_bytes(), b"scalars"),
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
    (@takes any) => { true };
    (@takes scalars) => { true };
    (@takes tensors) => { false };
}
binary_table!(binary_rows);
