//! The table of elementwise operations. Each row: the operation and the names of its methods, the dtypes it
//! admits, how its result dtype follows, and its documentation. Read by `ops` (the markers), by `tensor` (the
//! methods) and by the tests.
//!
//! Admission (`admit.rs`): `any`, `numeric`, `ordered`, `real`, `bits`, `float`, `inexact`; for two operands
//! also `real_pair`, `numeric_pair`, `integer_pair` and `bounded`, which look at both.
//! Result: `same` (the dtype computed in), `inexact` (floats and complex stay, the rest becomes `f32`), `boolean`,
//! `real_part` (complex becomes real), `integer` (`bool` becomes `i64`).

/// `name [try inplace into try_into] admits result, "what it does", "PyTorch's name", "example" = "its elements";`
macro_rules! unary_table {
    ($use:ident) => {
        $use! {
            abs [try_abs abs_ abs_into try_abs_into] numeric real_part,
                "The absolute value; the modulus of complex numbers.", "torch.abs",
                "tensor![-1.5, 2.0].abs()" = "[1.5, 2.0]";
            neg [try_neg neg_ neg_into try_neg_into] numeric same,
                "The negative. Integers wrap.", "torch.neg",
                "tensor![1, -2].neg()" = "[-1, 2]";
            sign [try_sign sign_ sign_into try_sign_into] ordered same,
                "-1, 0 or 1 by the sign; 0 for NaN.", "torch.sign",
                "tensor![-2.5, 0.0, 7.0].sign()" = "[-1.0, 0.0, 1.0]";
            square [try_square square_ square_into try_square_into] any integer,
                "The square. Integers wrap; bools become `i64`.", "torch.square",
                "tensor![-3, 4].square()" = "[9, 16]";
            exp [try_exp exp_ exp_into try_exp_into] any inexact,
                "e raised to each element.", "torch.exp",
                "tensor![0.0, 1.0].exp()" = "[1.0, std::f32::consts::E]";
            log [try_log log_ log_into try_log_into] any inexact,
                "The natural logarithm; NaN below zero.", "torch.log",
                "tensor![1.0, 0.0].log()" = "[0.0, f32::NEG_INFINITY]";
            sqrt [try_sqrt sqrt_ sqrt_into try_sqrt_into] any inexact,
                "The square root; NaN below zero.", "torch.sqrt",
                "tensor![4, 9].sqrt()" = "[2.0, 3.0]";
            rsqrt [try_rsqrt rsqrt_ rsqrt_into try_rsqrt_into] any inexact,
                "One over the square root.", "torch.rsqrt",
                "tensor![4.0, 0.25].rsqrt()" = "[0.5, 2.0]";
            reciprocal [try_reciprocal reciprocal_ reciprocal_into try_reciprocal_into] any inexact,
                "One over each element.", "torch.reciprocal",
                "tensor![4, -2].reciprocal()" = "[0.25, -0.5]";
            sin [try_sin sin_ sin_into try_sin_into] any inexact,
                "The sine, of radians.", "torch.sin",
                "tensor![0.0].sin()" = "[0.0]";
            cos [try_cos cos_ cos_into try_cos_into] any inexact,
                "The cosine, of radians.", "torch.cos",
                "tensor![0.0].cos()" = "[1.0]";
            tan [try_tan tan_ tan_into try_tan_into] any inexact,
                "The tangent, of radians.", "torch.tan",
                "tensor![0.0].tan()" = "[0.0]";
            tanh [try_tanh tanh_ tanh_into try_tanh_into] any inexact,
                "The hyperbolic tangent.", "torch.tanh",
                "tensor![0.0, 100.0].tanh()" = "[0.0, 1.0]";
            sigmoid [try_sigmoid sigmoid_ sigmoid_into try_sigmoid_into] any inexact,
                "The logistic function `1 / (1 + exp(-x))`.", "torch.sigmoid",
                "tensor![0.0, 100.0].sigmoid()" = "[0.5, 1.0]";
            erf [try_erf erf_ erf_into try_erf_into] ordered inexact,
                "The error function.", "torch.erf",
                "tensor![0.0, 10.0].erf()" = "[0.0, 1.0]";
            relu [try_relu relu_ relu_into try_relu_into] real same,
                "Each element where it is positive, else 0. NaN stays NaN.", "torch.relu",
                "tensor![-1.0, 2.0].relu()" = "[0.0, 2.0]";
            gelu [try_gelu gelu_ gelu_into try_gelu_into] float same,
                "The Gaussian error linear unit, `x * (1 + erf(x / sqrt(2))) / 2`.", "torch.nn.functional.gelu",
                "tensor![0.0, 10.0].gelu()" = "[0.0, 10.0]";
            gelu_tanh [try_gelu_tanh gelu_tanh_ gelu_tanh_into try_gelu_tanh_into] float same,
                "The Gaussian error linear unit by its tanh approximation.", "torch.nn.functional.gelu(approximate='tanh')",
                "tensor![0.0, 10.0].gelu_tanh()" = "[0.0, 10.0]";
            silu [try_silu silu_ silu_into try_silu_into] inexact same,
                "The sigmoid linear unit, `x * sigmoid(x)`.", "torch.nn.functional.silu",
                "tensor![0.0, 100.0].silu()" = "[0.0, 100.0]";
            floor [try_floor floor_ floor_into try_floor_into] real same,
                "Rounds down. Integers stay.", "torch.floor",
                "tensor![-1.5, 1.5].floor()" = "[-2.0, 1.0]";
            ceil [try_ceil ceil_ ceil_into try_ceil_into] real same,
                "Rounds up. Integers stay.", "torch.ceil",
                "tensor![-1.5, 1.5].ceil()" = "[-1.0, 2.0]";
            round [try_round round_ round_into try_round_into] real same,
                "Rounds to the nearest integer, halves to even. Integers stay.", "torch.round",
                "tensor![0.5, 1.5, 2.5].round()" = "[0.0, 2.0, 2.0]";
            trunc [try_trunc trunc_ trunc_into try_trunc_into] real same,
                "Rounds towards zero. Integers stay.", "torch.trunc",
                "tensor![-1.5, 1.5].trunc()" = "[-1.0, 1.0]";
            conj [try_conj conj_ conj_into try_conj_into] any same,
                "The complex conjugate; real elements stay.", "torch.conj",
                "tensor![1.0 + 2.0j].conj()" = "[castiron::Complex::new(1.0, -2.0)]";
            angle [try_angle angle_ angle_into try_angle_into] any angle,
                "The angle of complex numbers in radians; of real ones 0, pi below zero, and NaN of NaN.", "torch.angle",
                "tensor![1.0, -1.0].angle()" = "[0.0, std::f32::consts::PI]";
            logical_not [try_logical_not logical_not_ logical_not_into try_logical_not_into] any boolean,
                "Whether each element is zero.", "torch.logical_not",
                "tensor![0, 2].logical_not()" = "[true, false]";
            bitwise_not [try_bitwise_not bitwise_not_ bitwise_not_into try_bitwise_not_into] bits same,
                "Every bit inverted; bools negated.", "torch.bitwise_not",
                "tensor![0, 5].bitwise_not()" = "[-1, -6]";
            isnan [try_isnan isnan_ isnan_into try_isnan_into] any boolean,
                "Whether each element is NaN, in either part of a complex number.", "torch.isnan",
                "tensor![1.0, f32::NAN].isnan()" = "[false, true]";
            isinf [try_isinf isinf_ isinf_into try_isinf_into] any boolean,
                "Whether each element is infinite, in either part of a complex number.", "torch.isinf",
                "tensor![1.0, f32::INFINITY].isinf()" = "[false, true]";
            isfinite [try_isfinite isfinite_ isfinite_into try_isfinite_into] any boolean,
                "Whether each element is neither infinite nor NaN, in both parts of a complex number.", "torch.isfinite",
                "tensor![1.0, f32::NAN].isfinite()" = "[true, false]";
        }
    };
}

/// `name [try inplace try_inplace into try_into] admits result operands, "what it does", "PyTorch's name",
/// "example" = "its elements";` where `operands` is `any` (tensors and scalars) or `tensors` (PyTorch takes no
/// scalar there).
macro_rules! binary_table {
    ($use:ident) => {
        $use! {
            add [try_add add_ try_add_ add_into try_add_into] any same any,
                "The sum. Integers wrap; on bools it is `or`.", "torch.add",
                "tensor![1, 2].add(tensor![0.5, 0.5])" = "[1.5, 2.5]";
            sub [try_sub sub_ try_sub_ sub_into try_sub_into] numeric same any,
                "The difference. Integers wrap.", "torch.sub",
                "tensor![1, 2].sub(5)" = "[-4_i64, -3]";
            mul [try_mul mul_ try_mul_ mul_into try_mul_into] any same any,
                "The product. Integers wrap; on bools it is `and`.", "torch.mul",
                "tensor![1, 2].mul(0.5)" = "[0.5_f32, 1.0]";
            div [try_div div_ try_div_ div_into try_div_into] any inexact any,
                "True division: integers and bools give `f32`.", "torch.div",
                "tensor![1, 3].div(2)" = "[0.5_f32, 1.5]";
            floor_divide [try_floor_divide floor_divide_ try_floor_divide_ floor_divide_into try_floor_divide_into] real_pair same any,
                "The quotient rounded down. Integer division by zero is an error.", "torch.floor_divide",
                "tensor![-7, 7].floor_divide(2)" = "[-4_i64, 3]";
            trunc_divide [try_trunc_divide trunc_divide_ try_trunc_divide_ trunc_divide_into try_trunc_divide_into] real_pair same any,
                "The quotient rounded towards zero. Integer division by zero is an error.", "torch.div(rounding_mode='trunc')",
                "tensor![-7, 7].trunc_divide(2)" = "[-3_i64, 3]";
            remainder [try_remainder remainder_ try_remainder_ remainder_into try_remainder_into] real_pair same any,
                "What `floor_divide` leaves over: it has the sign of the divisor. By an integer zero it is an error.", "torch.remainder",
                "tensor![-7, 7].remainder(2)" = "[1_i64, 1]";
            fmod [try_fmod fmod_ try_fmod_ fmod_into try_fmod_into] real_pair same any,
                "What `trunc_divide` leaves over: it has the sign of the dividend. By an integer zero it is an error.", "torch.fmod",
                "tensor![-7, 7].fmod(2)" = "[-1_i64, 1]";
            pow [try_pow pow_ try_pow_ pow_into try_pow_into] numeric_pair same any,
                "Each element raised to a power. Integers wrap, and to a negative power round towards zero; a negative integer scalar exponent of integers is an error.", "torch.pow",
                "tensor![2, 3].pow(2)" = "[4_i64, 9]";
            maximum [try_maximum maximum_ try_maximum_ maximum_into try_maximum_into] ordered same tensors,
                "The larger of two elements; NaN if either is.", "torch.maximum",
                "tensor![1, 5].maximum(tensor![3, 2])" = "[3, 5]";
            minimum [try_minimum minimum_ try_minimum_ minimum_into try_minimum_into] ordered same tensors,
                "The smaller of two elements; NaN if either is.", "torch.minimum",
                "tensor![1, 5].minimum(tensor![3, 2])" = "[1, 2]";
            clamp_min [try_clamp_min clamp_min_ try_clamp_min_ clamp_min_into try_clamp_min_into] bounded same any,
                "Each element, but at least the other operand; NaN if either is.", "torch.clamp(min=…)",
                "tensor![1, 5].clamp_min(3)" = "[3_i64, 5]";
            clamp_max [try_clamp_max clamp_max_ try_clamp_max_ clamp_max_into try_clamp_max_into] bounded same any,
                "Each element, but at most the other operand; NaN if either is.", "torch.clamp(max=…)",
                "tensor![1, 5].clamp_max(3)" = "[1_i64, 3]";
            bitwise_and [try_bitwise_and bitwise_and_ try_bitwise_and_ bitwise_and_into try_bitwise_and_into] bits same any,
                "Bit by bit `and`.", "torch.bitwise_and",
                "tensor![6, 5].bitwise_and(3)" = "[2_i64, 1]";
            bitwise_or [try_bitwise_or bitwise_or_ try_bitwise_or_ bitwise_or_into try_bitwise_or_into] bits same any,
                "Bit by bit `or`.", "torch.bitwise_or",
                "tensor![6, 5].bitwise_or(1)" = "[7_i64, 5]";
            bitwise_xor [try_bitwise_xor bitwise_xor_ try_bitwise_xor_ bitwise_xor_into try_bitwise_xor_into] bits same any,
                "Bit by bit exclusive `or`.", "torch.bitwise_xor",
                "tensor![6, 5].bitwise_xor(3)" = "[5_i64, 6]";
            bitwise_left_shift [try_bitwise_left_shift bitwise_left_shift_ try_bitwise_left_shift_ bitwise_left_shift_into try_bitwise_left_shift_into] integer_pair same any,
                "Shifted to the left; an amount below 0 or beyond the width shifts everything out.", "torch.bitwise_left_shift",
                "tensor![1, 3].bitwise_left_shift(2)" = "[4_i64, 12]";
            bitwise_right_shift [try_bitwise_right_shift bitwise_right_shift_ try_bitwise_right_shift_ bitwise_right_shift_into try_bitwise_right_shift_into] integer_pair same any,
                "Shifted to the right, keeping the sign; an amount below 0 or beyond the width shifts everything out.", "torch.bitwise_right_shift",
                "tensor![-8, 8].bitwise_right_shift(1)" = "[-4_i64, 4]";
            eq [try_eq eq_ try_eq_ eq_into try_eq_into] any boolean any,
                "Whether elements are equal. (`==` compares whole tensors.)", "torch.eq",
                "tensor![1, 2].eq(1.0)" = "[true, false]";
            ne [try_ne ne_ try_ne_ ne_into try_ne_into] any boolean any,
                "Whether elements differ. (`!=` compares whole tensors.)", "torch.ne",
                "tensor![1, 2].ne(1)" = "[false, true]";
            lt [try_lt lt_ try_lt_ lt_into try_lt_into] ordered boolean any,
                "Whether each element is less.", "torch.lt",
                "tensor![1, 2].lt(2)" = "[true, false]";
            le [try_le le_ try_le_ le_into try_le_into] ordered boolean any,
                "Whether each element is less or equal.", "torch.le",
                "tensor![1, 3].le(2)" = "[true, false]";
            gt [try_gt gt_ try_gt_ gt_into try_gt_into] ordered boolean any,
                "Whether each element is greater.", "torch.gt",
                "tensor![1, 3].gt(2)" = "[false, true]";
            ge [try_ge ge_ try_ge_ ge_into try_ge_into] ordered boolean any,
                "Whether each element is greater or equal.", "torch.ge",
                "tensor![1, 2].ge(2)" = "[false, true]";
            logical_and [try_logical_and logical_and_ try_logical_and_ logical_and_into try_logical_and_into] any boolean tensors,
                "Whether both elements are non-zero.", "torch.logical_and",
                "tensor![0, 2].logical_and(tensor![1, 1])" = "[false, true]";
            logical_or [try_logical_or logical_or_ try_logical_or_ logical_or_into try_logical_or_into] any boolean tensors,
                "Whether either element is non-zero.", "torch.logical_or",
                "tensor![0, 2].logical_or(tensor![0, 0])" = "[false, true]";
            logical_xor [try_logical_xor logical_xor_ try_logical_xor_ logical_xor_into try_logical_xor_into] any boolean tensors,
                "Whether exactly one element is non-zero.", "torch.logical_xor",
                "tensor![0, 2].logical_xor(tensor![1, 1])" = "[true, false]";
        }
    };
}

pub(crate) use {binary_table, unary_table};
