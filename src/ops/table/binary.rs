//! The operations of two operands.

/// `name { [try inplace try_inplace into try_into] admits result operands, "what it does", "PyTorch's name",
/// "example" = "its elements", special }` where `operands` is `any` (tensors and scalars), `scalars` (PyTorch's function takes a scalar
/// first, too), `tensors` (PyTorch takes no scalar there) or `shells` (`any`, and two tensors of one shell dtype).
macro_rules! binary_table {
    ($use:ident) => {
        $use! {
            add { [try_add add_ try_add_ add_into try_add_into] any same any,
                "The sum. Integers wrap; on bools it is `or`.", "torch.add",
                "tensor![1, 2].add(tensor![0.5, 0.5])" = "[1.5, 2.5]", commutes }
            sub { [try_sub sub_ try_sub_ sub_into try_sub_into] numeric same any,
                "The difference. Integers wrap.", "torch.sub`, `torch.subtract",
                "tensor![1, 2].sub(5)" = "[-4_i64, -3]" }
            mul { [try_mul mul_ try_mul_ mul_into try_mul_into] any same scalars,
                "The product. Integers wrap; on bools it is `and`.", "torch.mul`, `torch.multiply",
                "tensor![1, 2].mul(0.5)" = "[0.5_f32, 1.0]", commutes }
            div { [try_div div_ try_div_ div_into try_div_into] any inexact any,
                "True division: integers and bools give `f32`.", "torch.div",
                "tensor![1, 3].div(2)" = "[0.5_f32, 1.5]" }
            floor_divide { [try_floor_divide floor_divide_ try_floor_divide_ floor_divide_into try_floor_divide_into] real_pair same scalars,
                "The quotient rounded down. Integer division by zero is an error.", "torch.floor_divide",
                "tensor![-7, 7].floor_divide(2)" = "[-4_i64, 3]" }
            trunc_divide { [try_trunc_divide trunc_divide_ try_trunc_divide_ trunc_divide_into try_trunc_divide_into] real_pair same scalars,
                "The quotient rounded towards zero. Integer division by zero is an error.", "torch.div(rounding_mode='trunc')",
                "tensor![-7, 7].trunc_divide(2)" = "[-3_i64, 3]" }
            remainder { [try_remainder remainder_ try_remainder_ remainder_into try_remainder_into] real_pair same scalars,
                "What `floor_divide` leaves over: it has the sign of the divisor. By an integer zero it is an error.", "torch.remainder",
                "tensor![-7, 7].remainder(2)" = "[1_i64, 1]" }
            fmod { [try_fmod fmod_ try_fmod_ fmod_into try_fmod_into] real_pair same any,
                "What `trunc_divide` leaves over: it has the sign of the dividend. By an integer zero it is an error.", "torch.fmod",
                "tensor![-7, 7].fmod(2)" = "[-1_i64, 1]" }
            pow { [try_pow pow_ try_pow_ pow_into try_pow_into] power same scalars,
                "Each element raised to a power. Integers wrap, and to a negative power round towards zero; a negative integer scalar exponent of integers is an error.", "torch.pow",
                "tensor![2, 3].pow(2)" = "[4_i64, 9]", raises_to_scalar }
            maximum { [try_maximum maximum_ try_maximum_ maximum_into try_maximum_into] ordered same tensors,
                "The larger of two elements; NaN if either is.", "torch.maximum",
                "tensor![1, 5].maximum(tensor![3, 2])" = "[3, 5]" }
            minimum { [try_minimum minimum_ try_minimum_ minimum_into try_minimum_into] ordered same tensors,
                "The smaller of two elements; NaN if either is.", "torch.minimum",
                "tensor![1, 5].minimum(tensor![3, 2])" = "[1, 2]" }
            clamp_min { [try_clamp_min clamp_min_ try_clamp_min_ clamp_min_into try_clamp_min_into] bounded same any,
                "Each element, but at least the other operand; NaN if either is.", "torch.clamp(min=…)",
                "tensor![1, 5].clamp_min(3)" = "[3_i64, 5]" }
            clamp_max { [try_clamp_max clamp_max_ try_clamp_max_ clamp_max_into try_clamp_max_into] bounded same any,
                "Each element, but at most the other operand; NaN if either is.", "torch.clamp(max=…)",
                "tensor![1, 5].clamp_max(3)" = "[1_i64, 3]" }
            bitwise_and { [try_bitwise_and bitwise_and_ try_bitwise_and_ bitwise_and_into try_bitwise_and_into] bits same scalars,
                "Bit by bit `and`.", "torch.bitwise_and",
                "tensor![6, 5].bitwise_and(3)" = "[2_i64, 1]", commutes }
            bitwise_or { [try_bitwise_or bitwise_or_ try_bitwise_or_ bitwise_or_into try_bitwise_or_into] bits same scalars,
                "Bit by bit `or`.", "torch.bitwise_or",
                "tensor![6, 5].bitwise_or(1)" = "[7_i64, 5]", commutes }
            bitwise_xor { [try_bitwise_xor bitwise_xor_ try_bitwise_xor_ bitwise_xor_into try_bitwise_xor_into] bits same scalars,
                "Bit by bit exclusive `or`.", "torch.bitwise_xor",
                "tensor![6, 5].bitwise_xor(3)" = "[5_i64, 6]", commutes }
            bitwise_left_shift { [try_bitwise_left_shift bitwise_left_shift_ try_bitwise_left_shift_ bitwise_left_shift_into try_bitwise_left_shift_into] integer_pair same scalars,
                "Shifted to the left; an amount below 0 or beyond the width shifts everything out.", "torch.bitwise_left_shift",
                "tensor![1, 3].bitwise_left_shift(2)" = "[4_i64, 12]" }
            bitwise_right_shift { [try_bitwise_right_shift bitwise_right_shift_ try_bitwise_right_shift_ bitwise_right_shift_into try_bitwise_right_shift_into] integer_pair same scalars,
                "Shifted to the right, keeping the sign; an amount below 0 or beyond the width shifts everything out.", "torch.bitwise_right_shift",
                "tensor![-8, 8].bitwise_right_shift(1)" = "[-4_i64, 4]" }
            eq { [try_eq eq_ try_eq_ eq_into try_eq_into] any boolean shells,
                "Whether elements are equal. (`==` compares whole tensors.)", "torch.eq",
                "tensor![1, 2].eq(1.0)" = "[true, false]" }
            ne { [try_ne ne_ try_ne_ ne_into try_ne_into] any boolean shells,
                "Whether elements differ. (`!=` compares whole tensors.)", "torch.ne`, `torch.not_equal",
                "tensor![1, 2].ne(1)" = "[false, true]" }
            lt { [try_lt lt_ try_lt_ lt_into try_lt_into] ordered boolean any,
                "Whether each element is less.", "torch.lt`, `torch.less",
                "tensor![1, 2].lt(2)" = "[true, false]" }
            le { [try_le le_ try_le_ le_into try_le_into] ordered boolean any,
                "Whether each element is less or equal.", "torch.le`, `torch.less_equal",
                "tensor![1, 3].le(2)" = "[true, false]" }
            gt { [try_gt gt_ try_gt_ gt_into try_gt_into] ordered boolean any,
                "Whether each element is greater.", "torch.gt`, `torch.greater",
                "tensor![1, 3].gt(2)" = "[false, true]" }
            ge { [try_ge ge_ try_ge_ ge_into try_ge_into] ordered boolean any,
                "Whether each element is greater or equal.", "torch.ge`, `torch.greater_equal",
                "tensor![1, 2].ge(2)" = "[false, true]" }
            logical_and { [try_logical_and logical_and_ try_logical_and_ logical_and_into try_logical_and_into] any boolean tensors,
                "Whether both elements are non-zero.", "torch.logical_and",
                "tensor![0, 2].logical_and(tensor![1, 1])" = "[false, true]" }
            logical_or { [try_logical_or logical_or_ try_logical_or_ logical_or_into try_logical_or_into] any boolean tensors,
                "Whether either element is non-zero.", "torch.logical_or",
                "tensor![0, 2].logical_or(tensor![0, 0])" = "[false, true]" }
            logical_xor { [try_logical_xor logical_xor_ try_logical_xor_ logical_xor_into try_logical_xor_into] any boolean tensors,
                "Whether exactly one element is non-zero.", "torch.logical_xor",
                "tensor![0, 2].logical_xor(tensor![1, 1])" = "[true, false]" }
            rsub { [try_rsub rsub_ try_rsub_ rsub_into try_rsub_into] numeric same any,
                "The difference the other way round, `other - self`. Integers wrap.", "torch.rsub",
                "tensor![1, 2].rsub(5)" = "[4_i64, 3]" }
            true_divide { [try_true_divide true_divide_ try_true_divide_ true_divide_into try_true_divide_into] any inexact scalars,
                "The same function as [`div`](crate::Tensor::div).", "torch.true_divide",
                "tensor![1, 3].true_divide(2)" = "[0.5_f32, 1.5]" }
            float_power { [try_float_power float_power_ try_float_power_ float_power_into try_float_power_into] any double scalars,
                "Each element raised to a power, in `f64` or `Complex<f64>`.", "torch.float_power",
                "tensor![2, 3].float_power(-1)" = "[0.5, 1.0 / 3.0]" }
            fmax { [try_fmax fmax_ try_fmax_ fmax_into try_fmax_into] ordered same tensors,
                "The larger of two elements; of a number and NaN the number.", "torch.fmax",
                "tensor![1.0, f32::NAN].fmax(tensor![3.0, 2.0])" = "[3.0, 2.0]" }
            fmin { [try_fmin fmin_ try_fmin_ fmin_into try_fmin_into] ordered same tensors,
                "The smaller of two elements; of a number and NaN the number.", "torch.fmin",
                "tensor![1.0, f32::NAN].fmin(tensor![3.0, 2.0])" = "[1.0, 2.0]" }
            gcd { [try_gcd gcd_ try_gcd_ gcd_into try_gcd_into] integer_pair same tensors,
                "The greatest common divisor, which is not negative.", "torch.gcd",
                "tensor![12, 0].gcd(tensor![-18, 5])" = "[6, 5]" }
            lcm { [try_lcm lcm_ try_lcm_ lcm_into try_lcm_into] integer_pair same tensors,
                "The least common multiple, which is not negative; it wraps.", "torch.lcm",
                "tensor![4, 0].lcm(tensor![6, 5])" = "[12, 0]" }
            atan2 { [try_atan2 atan2_ try_atan2_ atan2_into try_atan2_into] ordered inexact tensors,
                "The angle of the point `(other, self)` in radians.", "torch.atan2`, `torch.arctan2",
                "tensor![1.0, 0.0].atan2(tensor![0.0, 1.0])" = "[std::f32::consts::FRAC_PI_2, 0.0]" }
            hypot { [try_hypot hypot_ try_hypot_ hypot_into try_hypot_into] float_pair same tensors,
                "The length of the hypotenuse, `sqrt(a * a + b * b)` without overflow.", "torch.hypot",
                "tensor![3.0].hypot(tensor![4.0])" = "[5.0]" }
            copysign { [try_copysign copysign_ try_copysign_ copysign_into try_copysign_into] ordered inexact any,
                "The magnitude of `self` with the sign of the other operand.", "torch.copysign",
                "tensor![1.0, 2.0].copysign(-0.0)" = "[-1.0_f32, -2.0]" }
            nextafter { [try_nextafter nextafter_ try_nextafter_ nextafter_into try_nextafter_into] float_pair neighbour tensors,
                "The next number of the dtype towards the other operand.", "torch.nextafter",
                "tensor![1.0].nextafter(tensor![2.0])" = "[1.0 + f32::EPSILON]" }
            heaviside { [try_heaviside heaviside_ try_heaviside_ heaviside_into try_heaviside_into] alike exact tensors,
                "0 below zero, 1 above, the other operand at zero; 0 for NaN.", "torch.heaviside",
                "tensor![-2.0, 0.0, 3.0].heaviside(tensor![0.5])" = "[0.0, 0.5, 1.0]" }
            ldexp { [try_ldexp ldexp_ try_ldexp_ ldexp_into try_ldexp_into] scaling scaled tensors,
                "`self` times 2 to the power of the other operand.", "torch.ldexp",
                "tensor![1.5, 3.0].ldexp(tensor![2, -1])" = "[6.0, 1.5]" }
            logaddexp { [try_logaddexp logaddexp_ try_logaddexp_ logaddexp_into try_logaddexp_into] inexact_pair same tensors,
                "`log(exp(a) + exp(b))` without overflow.", "torch.logaddexp",
                "tensor![1000.0].logaddexp(tensor![-1000.0])" = "[1000.0]" }
            logaddexp2 { [try_logaddexp2 logaddexp2_ try_logaddexp2_ logaddexp2_into try_logaddexp2_into] float_pair same tensors,
                "`log2(2^a + 2^b)` without overflow.", "torch.logaddexp2",
                "tensor![1000.0].logaddexp2(tensor![1000.0])" = "[1001.0]" }
            xlogy { [try_xlogy xlogy_ try_xlogy_ xlogy_into try_xlogy_into] ordered inexact scalars,
                "`self * log(other)`; 0 where `self` is 0, unless the other is NaN.", "torch.xlogy`, `torch.special.xlogy",
                "tensor![0.0, 2.0].xlogy(tensor![0.0, 1.0])" = "[0.0, 0.0]" }
            xlog1py { [try_xlog1py xlog1py_ try_xlog1py_ xlog1py_into try_xlog1py_into] ordered inexact scalars,
                "`self * log(1 + other)`; 0 where `self` is 0, unless the other is NaN.", "torch.special.xlog1py",
                "tensor![0.0, 2.0].xlog1py(tensor![-1.0, 0.0])" = "[0.0, 0.0]" }
            zeta { [try_zeta zeta_ try_zeta_ zeta_into try_zeta_into] ordered inexact scalars,
                "The Hurwitz zeta function: the sum of `(k + other)^-self` over all `k` from 0.", "torch.special.zeta",
                "tensor![1.0].zeta(1)" = "[f32::INFINITY]" }
        }
    };
}

pub(crate) use binary_table;
