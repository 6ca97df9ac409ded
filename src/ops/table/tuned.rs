//! The table of unary operations with parameters.

/// `name { admits result (parameters), "what it does", "PyTorch's name", "an operand" "arguments" = "the resulting elements" }`; in front,
/// a reader gets the method names, as in `binary_table`. A parameter is a scalar, or an `Option<f64>` whose `None` has a meaning of the
/// operation's own. After it comes how PyTorch calls it, with its defaults: see `castiron_macros::operations`.
macro_rules! tuned_table {
    ($use:ident) => {
        castiron_macros::named! { [try_x x_ try_x_ x_into try_x_into] $use
            elu { float same (alpha: impl Scalar),
                "The exponential linear unit: `x if x > 0 else alpha * (exp(x) - 1)`. PyTorch's default: `alpha` 1.", "torch.nn.functional.elu",
                "tensor![-1000.0, 2.0]" "1" = "[-1.0, 2.0]",
                #[op(nn.functional.elu(input, alpha = 1.0, inplace = _), dtypes = float, in_place)] }
            celu { float same (alpha: impl Scalar),
                "The continuously differentiable exponential linear unit: `x if x > 0 else alpha * (exp(x / alpha) - 1)`. PyTorch's default: `alpha` 1. An `alpha` of 0 is an error.", "torch.nn.functional.celu",
                "tensor![-1000.0, 2.0]" "1" = "[-1.0, 2.0]",
                #[op(nn.functional.celu(input, alpha = 1.0, inplace = _), dtypes = float, in_place)] }
            softplus { float same (beta: impl Scalar, threshold: impl Scalar),
                "`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above the threshold. PyTorch's defaults: `beta` 1, `threshold` 20.", "torch.nn.functional.softplus",
                "tensor![-1000.0, 30.0]" "1, 20" = "[0.0, 30.0]",
                #[op(nn.functional.softplus(input, beta = 1.0, threshold = 20.0), dtypes = float)] }
            softshrink { float same (lambda: impl Scalar),
                "Each element moved towards zero by `lambda`, and 0 within it. PyTorch's default: `lambda` 0.5. A negative `lambda` is an error.", "torch.nn.functional.softshrink",
                "tensor![-1.0, 0.25, 2.0]" "0.5" = "[-0.5, 0.0, 1.5]",
                #[op(nn.functional.softshrink(input, lambd = 0.5), dtypes = float)] }
            hardshrink { float same (lambda: impl Scalar),
                "Each element, and 0 from `-lambda` to `lambda`. PyTorch's default: `lambda` 0.5.", "torch.nn.functional.hardshrink",
                "tensor![-1.0, 0.25, 2.0]" "0.5" = "[-1.0, 0.0, 2.0]",
                #[op(nn.functional.hardshrink(input, lambd = 0.5), dtypes = float)] }
            hardtanh { real same (min: impl Scalar, max: impl Scalar),
                "Each element, but at least `min` and at most `max`; NaN stays NaN. PyTorch's defaults: -1 and 1. A negative bound of `u8` is an error.", "torch.nn.functional.hardtanh",
                "tensor![-3, 0, 3]" "-1, 1" = "[-1, 0, 1]",
                #[op(nn.functional.hardtanh(input, min_val = -1.0, max_val = 1.0, inplace = _), dtypes = real, in_place)] }
            leaky_relu { float same (negative_slope: impl Scalar),
                "Each element where it is positive, else `negative_slope` times it. PyTorch's default: 0.01.", "torch.nn.functional.leaky_relu",
                "tensor![-2.0, 2.0]" "0.5" = "[-1.0, 2.0]",
                #[op(nn.functional.leaky_relu(input, negative_slope = 0.01, inplace = _), dtypes = float, in_place)] }
            threshold { real castable (threshold: impl Scalar, value: impl Scalar),
                "Each element where it is above the threshold, else `value`. NaN stays NaN.", "torch.nn.functional.threshold",
                "tensor![1, 5]" "3, -1" = "[-1, 5]",
                #[op(nn.functional.threshold(input, threshold, value, inplace = _), dtypes = real, in_place)] }
            logit { ordered stepwise (eps: Option<f64>),
                "`log(x / (1 - x))`, `x` kept between `eps` and `1 - eps` if that is given. PyTorch's default: `None`.", "torch.logit`, `torch.special.logit",
                "tensor![0.5, 1.0]" "None" = "[0.0, f32::INFINITY]",
                #[op(logit(input, eps = None), dtypes = ordered, in_place, aliases("special.logit"))] }
            nan_to_num { any same (nan: f64, posinf: Option<f64>, neginf: Option<f64>),
                "Each element, with NaN and the infinities replaced; `None` stands for the largest and the smallest number of the dtype. PyTorch's defaults: `nan` 0, `None`, `None`.", "torch.nan_to_num",
                "tensor![f32::NAN, f32::INFINITY, 2.0]" "0.0, Some(9.0), None" = "[0.0, 9.0, 2.0]",
                #[op(nan_to_num(input, nan = 0.0, posinf = None, neginf = None), dtypes = any, in_place)] }
            round_decimals { float same (decimals: i64),
                "Rounds to so many digits after the point, or, if negative, to so many zeros before it.", "torch.round(decimals=…)",
                "tensor![2.125, 17.0]" "-1" = "[0.0, 20.0]" }
            polygamma { ordered stepwise (n: i64),
                "The `n`-th derivative of [`digamma`](crate::Tensor::digamma). A negative `n` is an error.", "torch.polygamma`, `torch.special.polygamma",
                "tensor![0.0]" "1" = "[f32::INFINITY]",
                #[op(polygamma(n, input = self), dtypes = ordered, in_place, aliases("special.polygamma"))] }
            mvlgamma { ordered stepwise (p: i64),
                "The logarithm of the multivariate gamma function of dimension `p`. A `p` below 1 or above 2^24 is an error.", "torch.mvlgamma`, `torch.special.multigammaln",
                "tensor![1.0]" "1" = "[0.0]",
                #[op(mvlgamma(input, p), dtypes = ordered, in_place, aliases("special.multigammaln"))] }
        }
    };
}

pub(crate) use tuned_table;
