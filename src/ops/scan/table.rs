//! The table of operations along one axis that keep it: typed and at run time.

/// `name { admits result, kernel, "what it does", "PyTorch's name", "an operand" axis "an axis" = "the elements along it",
/// #[op(…)] #[in_place] fn dim [dtype] empty(what a tensor without elements may be, too) }`
///
/// - The result is `same` or `sum` (`i64` for bools and integers), or `both`: elements as they are, and where they stand.
/// - The last column is the method at run time: how PyTorch calls it (see `castiron_macros::operations`), and whether the operand is
///   converted first where a dtype is given. PyTorch admits more dtypes where there are no elements.
macro_rules! scan_table {
    ($use:ident) => {
        $use! {
            cumsum { any sum, RunningSum,
                "Running sums along an axis. Bools and integers are summed in `i64`, which wraps.", "torch.cumsum",
                "tensor![[1, 2, 3], [4, 5, 6]]" axis "1" = "[1, 3, 6, 4, 9, 15]",
                #[op(cumsum(input, dim, dtype = None), dtypes = any, output = Computes)] #[in_place] fn dim [dtype] empty(complex) }
            cumprod { any sum, RunningProduct,
                "Running products along an axis. Bools and integers are multiplied in `i64`, which wraps.", "torch.cumprod",
                "tensor![[1, 2, 3], [4, 5, 6]]" axis "1" = "[1, 2, 6, 4, 20, 120]",
                #[op(cumprod(input, dim, dtype = None), dtypes = any, output = Computes)] #[in_place] fn dim [dtype] empty(complex) }
        }
    };
}
