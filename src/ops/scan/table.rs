//! The table of operations along one axis that keep its size: typed and at run time.

/// `name { admits result, kernel, "what it does", "PyTorch's name", "an operand" axis "an axis" = "the result",
/// #[op(…)] #[in_place] fn dim [dtype] "arguments of the example at run time" [empty] }`
///
/// - The result is `same`, or `sum` (`i64` for bools and integers).
/// - The last column is the run-time method: how PyTorch calls it (see `castiron_macros::operations`), and its parameters; with `dtype`,
///   the operand is converted to that dtype first. `empty`: PyTorch admits any dtype if there are no elements.
macro_rules! scan_table {
    ($use:ident) => {
        $use! {
            cumsum { any sum, RunningSum,
                "Running sums along an axis. Bools and integers are summed in `i64`, which wraps.", "torch.cumsum",
                "tensor![[1, 2, 3], [4, 5, 6]]" axis "1" = "[[1, 3, 6], [4, 9, 15]]",
                #[op(cumsum(input, dim, dtype = None), dtypes = any, output = Computes)] #[in_place] fn dim [dtype] "1, None" [] }
            cumprod { any sum, RunningProduct,
                "Running products along an axis. Bools and integers are multiplied in `i64`, which wraps.", "torch.cumprod",
                "tensor![[1, 2, 3], [4, 5, 6]]" axis "1" = "[[1, 2, 6], [4, 20, 120]]",
                #[op(cumprod(input, dim, dtype = None), dtypes = any, output = Computes)] #[in_place] fn dim [dtype] "1, None" [] }
            logcumsumexp { inexact same, RunningLogSumExp,
                "The logarithm of the running sums of exponentials along an axis, for floats and complex numbers. Computed without overflow.",
                "torch.logcumsumexp", "tensor![1000.0, 0.0, 2000.0]" axis "0" = "[1000.0, 1000.0, 2000.0]",
                #[op(logcumsumexp(input, dim), dtypes = inexact)] fn dim [] "0" [] }
            softmax { float same, Softmax::<false>,
                "`exp(x) / sum(exp(x))` along an axis, for floats. Computed without overflow.", "torch.softmax",
                "tensor![[0.0, 0.0], [1000.0, 0.0]]" axis "-1" = "[[0.5, 0.5], [1.0, 0.0]]",
                #[op(softmax(input, dim, dtype = None), dtypes = float, aliases("special.softmax", "nn.functional.softmax"))]
                fn dim [dtype] "-1, None" [empty] }
            log_softmax { float same, Softmax::<true>,
                "The logarithm of [`softmax`](Self::softmax) along an axis, for floats.", "torch.log_softmax",
                "tensor![[1000.0, 0.0]]" axis "-1" = "[[0.0, -1000.0]]",
                #[op(log_softmax(input, dim, dtype = None), dtypes = float, aliases("nn.functional.log_softmax", "special.log_softmax"))]
                fn dim [dtype] "-1, None" [empty] }
        }
    };
}
pub(crate) use scan_table;
