//! The table of operations along one axis that keep its size: typed and at run time.

/// `name { admits result, kernel, "what it does", "PyTorch's name", "an operand" axis "an axis" = "the result",
/// #[op(…)] #[in_place] fn dim [dtype] "arguments of the example at run time" [empty] }`
///
/// - The result is `same`, or `sum` (`i64` for bools and integers).
/// - The last column is the run-time method: how PyTorch calls it (see `castiron_macros::operations`), and its parameters; with `dtype`,
///   the operand is converted to that dtype first. `empty`: PyTorch admits any dtype if there are no elements.
macro_rules! scan_table {
    ($use:ident) => {
        $crate::ops::table::joined! { ($use) {} running_rows softmax_lane_rows }
    };
}
pub(crate) use scan_table;
