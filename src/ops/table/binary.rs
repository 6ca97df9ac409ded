//! The table of binary operations.

/// `name { admits result operands, "what it does", "PyTorch's name", "an operand" "the other" = "the resulting elements", special }`; in
/// front, a reader gets the method names: `[try_name name_ try_name_ name_into try_name_into]`. `operands` is `any` (tensors and scalars),
/// `scalars` (PyTorch's function also takes a scalar first), `tensors` (PyTorch takes no scalar there) or `shells` (`any`, and two tensors
/// of one shell dtype).
macro_rules! binary_table {
    ($use:ident) => {
        $crate::ops::table::binary_table! { @ ([try_x x_ try_x_ x_into try_x_into] $use) }
    };
    (@ $reader:tt) => {
        $crate::ops::table::joined! { $reader {} arithmetic_rows logic_rows functions_rows }
    };
}
pub(crate) use binary_table;
binary_table!(@ (exported __binary_rows));
