//! The operations of one operand and parameters.

/// `name { [try inplace try_inplace into try_into] admits result (parameters), "what it does", "PyTorch's name",
/// "an operand" "arguments" = "the elements that they give" }` where a parameter is a scalar, or an `Option<f64>` whose `None` means what the operation says.
/// Behind it stands how PyTorch calls it, with its defaults: see `castiron_macros::operations`.
macro_rules! tuned_table {
    ($use:ident) => {
        $use! {
            elu { [try_elu elu_ try_elu_ elu_into try_elu_into] float same (alpha: impl Scalar),
                "The exponential linear unit: `x if x > 0 else alpha * (exp(x) - 1)`. PyTorch's default: `alpha` 1.", "torch.nn.functional.elu",
                "tensor![-1000.0, 2.0]" "1" = "[-1.0, 2.0]",
                #[op(nn.functional.elu(input, alpha = 1.0, inplace = _), dtypes = float, in_place)] }
            celu { [try_celu celu_ try_celu_ celu_into try_celu_into] float same (alpha: impl Scalar),
                "The continuously differentiable exponential linear unit: `x if x > 0 else alpha * (exp(x / alpha) - 1)`. PyTorch's default: `alpha` 1. An `alpha` of 0 is an error.", "torch.nn.functional.celu",
                "tensor![-1000.0, 2.0]" "1" = "[-1.0, 2.0]",
                #[op(nn.functional.celu(input, alpha = 1.0, inplace = _), dtypes = float, in_place)] }
            softplus { [try_softplus softplus_ try_softplus_ softplus_into try_softplus_into] float same (beta: impl Scalar, threshold: impl Scalar),
                "`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above the threshold. PyTorch's defaults: `beta` 1, `threshold` 20.", "torch.nn.functional.softplus",
                "tensor![-1000.0, 30.0]" "1, 20" = "[0.0, 30.0]",
                #[op(nn.functional.softplus(input, beta = 1.0, threshold = 20.0), dtypes = float)] }
            softshrink { [try_softshrink softshrink_ try_softshrink_ softshrink_into try_softshrink_into] float same (lambda: impl Scalar),
                "Each element moved towards zero by `lambda`, and 0 within it. PyTorch's default: `lambda` 0.5. A negative `lambda` is an error.", "torch.nn.functional.softshrink",
                "tensor![-1.0, 0.25, 2.0]" "0.5" = "[-0.5, 0.0, 1.5]",
                #[op(nn.functional.softshrink(input, lambd = 0.5), dtypes = float)] }
            hardshrink { [try_hardshrink hardshrink_ try_hardshrink_ hardshrink_into try_hardshrink_into] float same (lambda: impl Scalar),
                "Each element, and 0 from `-lambda` to `lambda`. PyTorch's default: `lambda` 0.5.", "torch.nn.functional.hardshrink",
                "tensor![-1.0, 0.25, 2.0]" "0.5" = "[-1.0, 0.0, 2.0]",
                #[op(nn.functional.hardshrink(input, lambd = 0.5), dtypes = float)] }
            hardtanh { [try_hardtanh hardtanh_ try_hardtanh_ hardtanh_into try_hardtanh_into] real same (min: impl Scalar, max: impl Scalar),
                "Each element, but at least `min` and at most `max`; NaN stays NaN. PyTorch's defaults: -1 and 1. A negative bound of `u8` is an error.", "torch.nn.functional.hardtanh",
                "tensor![-3, 0, 3]" "-1, 1" = "[-1, 0, 1]",
                #[op(nn.functional.hardtanh(input, min_val = -1.0, max_val = 1.0, inplace = _), dtypes = real, in_place)] }
            leaky_relu { [try_leaky_relu leaky_relu_ try_leaky_relu_ leaky_relu_into try_leaky_relu_into] float same (negative_slope: impl Scalar),
                "Each element where it is positive, else `negative_slope` times it. PyTorch's default: 0.01.", "torch.nn.functional.leaky_relu",
                "tensor![-2.0, 2.0]" "0.5" = "[-1.0, 2.0]",
                #[op(nn.functional.leaky_relu(input, negative_slope = 0.01, inplace = _), dtypes = float, in_place)] }
            threshold { [try_threshold threshold_ try_threshold_ threshold_into try_threshold_into] real castable (threshold: impl Scalar, value: impl Scalar),
                "Each element where it is above the threshold, else `value`. NaN stays NaN.", "torch.nn.functional.threshold",
                "tensor![1, 5]" "3, -1" = "[-1, 5]",
                #[op(nn.functional.threshold(input, threshold, value, inplace = _), dtypes = real, in_place)] }
            logit { [try_logit logit_ try_logit_ logit_into try_logit_into] ordered stepwise (eps: Option<f64>),
                "`log(x / (1 - x))`, `x` kept between `eps` and `1 - eps` if that is given. PyTorch's default: `None`.", "torch.logit`, `torch.special.logit",
                "tensor![0.5, 1.0]" "None" = "[0.0, f32::INFINITY]",
                #[op(logit(input, eps = None), dtypes = ordered, in_place, aliases("special.logit"))] }
            nan_to_num { [try_nan_to_num nan_to_num_ try_nan_to_num_ nan_to_num_into try_nan_to_num_into] any same (nan: f64, posinf: Option<f64>, neginf: Option<f64>),
                "Each element, with NaN and the infinities replaced; `None` stands for the largest and the smallest number of the dtype. PyTorch's defaults: `nan` 0, `None`, `None`.", "torch.nan_to_num",
                "tensor![f32::NAN, f32::INFINITY, 2.0]" "0.0, Some(9.0), None" = "[0.0, 9.0, 2.0]",
                #[op(nan_to_num(input, nan = 0.0, posinf = None, neginf = None), dtypes = any, in_place)] }
            round_decimals { [try_round_decimals round_decimals_ try_round_decimals_ round_decimals_into try_round_decimals_into] float same (decimals: i64),
                "Rounds to so many digits after the point, or, if negative, to so many zeros before it.", "torch.round(decimals=…)",
                "tensor![2.125, 17.0]" "-1" = "[0.0, 20.0]" }
            polygamma { [try_polygamma polygamma_ try_polygamma_ polygamma_into try_polygamma_into] ordered stepwise (n: i64),
                "The `n`-th derivative of [`digamma`](crate::Tensor::digamma). A negative `n` is an error.", "torch.polygamma`, `torch.special.polygamma",
                "tensor![0.0]" "1" = "[f32::INFINITY]",
                #[op(polygamma(n, input = self), dtypes = ordered, in_place, aliases("special.polygamma"))] }
            mvlgamma { [try_mvlgamma mvlgamma_ try_mvlgamma_ mvlgamma_into try_mvlgamma_into] ordered stepwise (p: i64),
                "The logarithm of the multivariate gamma function of dimension `p`. A `p` below 1 or above 2^24 is an error.", "torch.mvlgamma`, `torch.special.multigammaln",
                "tensor![1.0]" "1" = "[0.0]",
                #[op(mvlgamma(input, p), dtypes = ordered, in_place, aliases("special.multigammaln"))] }
        }
    };
}

pub(crate) use tuned_table;
