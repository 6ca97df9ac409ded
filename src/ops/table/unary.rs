//! The table of unary operations.

/// `name { admits result, "what it does", "PyTorch's name", "an operand" = "the resulting elements", special }`; in front, a reader gets
/// the method names: `[try_name name_ name_into try_name_into]`.
macro_rules! unary_table {
    ($use:ident) => {
        $crate::ops::table::unary_table! { @ ([try_x x_ x_into try_x_into] $use) }
    };
    (@ $reader:tt) => {
        $crate::ops::table::joined! { $reader {} elementary_rows rounding_rows activation_rows questions_rows special_rows }
    };
}
pub(crate) use unary_table;
unary_table!(@ (exported __unary_rows));
