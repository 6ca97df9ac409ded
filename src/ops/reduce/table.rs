//! The table of reductions to one result, over all elements and over axes; for tensors and expressions, typed and at run time.

/// `name { [name_axis trait] admits result (parameters), reducer, "what it does", "PyTorch's name",
/// "an operand" ("arguments") = "the result over all" axis "one axis" = "the elements over it",
/// #[op(…)] fn [parameter before] dims [parameter between] keepdim [dtype] "arguments of the example at run time" }`
///
/// - The trait is the bound on the elements of tensors that have the method at all; the rule of admission, `admits`, says for which dtypes
///   it is defined.
/// - The result is `same`, `real` (the dtype of absolute values), `sum` (`i64` for bools and integers), or a dtype.
/// - The last column is the run-time method: how PyTorch calls it (see `castiron_macros::operations`), and its parameters; with `dtype`,
///   the operand is converted to that dtype first. Rows without this column have such a method in `any::reduce::reductions`.
macro_rules! reduction_table {
    ($use:ident) => {
        $crate::ops::table::joined! { ($use) {} sums_rows variance_rows extreme_rows norms_rows }
    };
}
pub(crate) use reduction_table;
