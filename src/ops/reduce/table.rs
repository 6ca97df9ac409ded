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
        $use! {
            sum { [sum_axis Element] any sum (), Sum,
                "The sum. Bools and integers are summed in `i64`, which wraps; `f16` and `bf16` are summed in `f32` and rounded once. \
                Floats are added pairwise, in an order that shape and strides alone decide: neither the number of threads nor the machine's \
                vector instructions change a bit of it. The sum of nothing is 0.", "torch.sum",
                "tensor![[1, 2], [3, 4]]" = "10" axis "0" = "[4, 6]",
                #[op(sum(input, dim = None, keepdim = false, dtype = None), dtypes = any, output = Computes)]
                fn [] dims [] keepdim [dtype] "Some(&[0]), false, None" }
            prod { [prod_axis Element] any sum (), Prod,
                "The product. Bools and integers are multiplied in `i64`, which wraps. The product of nothing is 1.", "torch.prod",
                "tensor![[1, 2], [3, 4]]" = "24" axis "1" = "[2, 12]",
                #[op(prod(input, dim = None, keepdim = false, dtype = None), dtypes = any, output = Computes)]
                fn [] dims [] keepdim [dtype] "Some(&[1]), false, None" }
            mean { [mean_axis Element] inexact same (), Mean,
                "The mean, of floating and complex dtypes. The mean of nothing is NaN.", "torch.mean",
                "tensor![[1.0, 2.0], [3.0, 4.0]]" = "2.5" axis "-1" = "[1.5, 3.5]",
                #[op(mean(input, dim = None, keepdim = false, dtype = None), dtypes = inexact, output = ComputesInexact)]
                fn [] dims [] keepdim [dtype] "Some(&[-1]), false, None" }
            var { [var_axis Element] inexact real (correction: usize), Variance::var(correction as f64),
                "The variance, of floating and complex dtypes; real. `correction` is the number of degrees of freedom the mean has \
                used up: 1 (PyTorch's default) for a sample, 0 for a population. NaN where no freedom is left.", "torch.var",
                "tensor![[1.0, 3.0], [2.0, 2.0]]" ("0") = "0.5" axis "1" = "[1.0, 0.0]",
                #[doc(alias = "variance")]
                fn [] dims [correction: f64] keepdim [] "Some(&[1]), 0.0, false" }
            std { [std_axis Element] inexact real (correction: usize), Variance::std(correction as f64),
                "The standard deviation, of floating and complex dtypes; real: the root of the variance.", "torch.std",
                "tensor![[1.0, 5.0], [3.0, 3.0]]" ("0") = "2f32.sqrt()" axis "1" = "[2.0, 0.0]",
                #[doc(alias = "standard deviation")]
                fn [] dims [correction: f64] keepdim [] "Some(&[1]), 0.0, false" }
            amax { [amax_axis Dtype] ordered same (), Extreme::<E, true>::new(),
                "The largest element; NaN if there is one. Of nothing: an error.", "torch.amax",
                "tensor![[3, 1], [2, 5]]" = "5" axis "0" = "[3, 5]",
                #[op(amax(input, dim = None, keepdim = false), dtypes = ordered)]
                fn [] dims [] keepdim [] "Some(&[0]), false" }
            amin { [amin_axis Dtype] ordered same (), Extreme::<E, false>::new(),
                "The smallest element; NaN if there is one. Of nothing: an error.", "torch.amin",
                "tensor![[3, 1], [2, 5]]" = "1" axis "0" = "[2, 1]",
                #[op(amin(input, dim = None, keepdim = false), dtypes = ordered)]
                fn [] dims [] keepdim [] "Some(&[0]), false" }
            any { [any_axis Element] any bool (), AnyAll::ANY,
                "Whether any element is non-zero. Of nothing: no.", "torch.any",
                "tensor![[0, 2], [0, 0]]" = "true" axis "1" = "[true, false]",
                #[op(any(input, dim = None, keepdim = false), dtypes = any, output = Truth)]
                fn [] dims [] keepdim [] "Some(&[1]), false" }
            all { [all_axis Element] any bool (), AnyAll::ALL,
                "Whether every element is non-zero. Of nothing: yes.", "torch.all",
                "tensor![[1, 2], [0, 1]]" = "false" axis "1" = "[true, false]",
                #[op(all(input, dim = None, keepdim = false), dtypes = any, output = Truth)]
                fn [] dims [] keepdim [] "Some(&[1]), false" }
            nansum { [nansum_axis Element] ordered sum (), NanSum,
                "The sum of the elements that are numbers: NaN counts as 0. Bools and integers are summed in `i64`, which wraps.", "torch.nansum",
                "tensor![[1.0, f32::NAN], [2.0, 3.0]]" = "6.0" axis "0" = "[3.0, 3.0]", }
            nanmean { [nanmean_axis Element] float same (), NanMean,
                "The mean of the elements that are numbers, of floating dtypes: NaN does not count. NaN where there are none.", "torch.nanmean",
                "tensor![[1.0, f32::NAN], [2.0, 3.0]]" = "2.0" axis "0" = "[1.5, 3.0]", }
            count_nonzero { [count_nonzero_axis Element] any i64 (), CountNonzero,
                "How many elements are not zero, in `i64`.", "torch.count_nonzero",
                "tensor![[0, 2], [5, 1]]" = "3" axis "0" = "[1, 2]", }
            vector_norm { [vector_norm_axis Element] inexact real (ord: f64), VectorNorm::new(ord),
                "The `ord`-norm, of floating and complex dtypes; real: `sum(abs(x) ** ord) ** (1 / ord)`, the largest absolute value for \
                infinity, the smallest for minus infinity, the number of elements other than zero for 0. Of nothing it is 0; where `ord` \
                is negative or infinite: an error.", "torch.linalg.vector_norm",
                "tensor![[3.0, -4.0], [0.0, 12.0]]" ("2.0") = "13.0" axis "1" = "[5.0, 12.0]",
                #[doc(alias = "norm")]
                fn [ord: f64] dims [] keepdim [] "2.0, Some(&[1]), false" }
            norm { [norm_axis Element] inexact real (p: f64), VectorNorm::new(p),
                "[`vector_norm`](Tensor::vector_norm) under PyTorch's older name.", "torch.norm",
                "tensor![[3.0, -4.0], [6.0, 8.0]]" ("1.0") = "21.0" axis "1" = "[7.0, 14.0]", }
        }
    };
}
pub(crate) use reduction_table;
