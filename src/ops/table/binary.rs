//! The table of binary operations.

/// `name { admits result operands, "what it does", "PyTorch's name", "an operand" "the other" = "the resulting elements", special }`; in
/// front, a reader gets the method names: `[try_name name_ try_name_ name_into try_name_into]`. `operands` is `any` (tensors and scalars),
/// `scalars` (PyTorch's function also takes a scalar first), `tensors` (PyTorch takes no scalar there) or `shells` (`any`, and two tensors
/// of one shell dtype).
macro_rules! binary_table {
    ($use:ident) => {
        castiron_macros::named! { [try_x x_ try_x_ x_into try_x_into] $use
            add { any same any,
                "The sum. Integers wrap; on bools it is `or`.", "torch.add",
                "tensor![1.0, 2.0]" "tensor![0.5, 0.5]" = "[1.5, 2.5]", commutes, is_brief }
            sub { numeric same any,
                "The difference. Integers wrap.", "torch.sub`, `torch.subtract",
                "tensor![1, 2]" "5" = "[-4_i64, -3]", is_brief }
            mul { any same scalars,
                "The product. Integers wrap; on bools it is `and`.", "torch.mul`, `torch.multiply",
                "tensor![1.0, 2.0]" "0.5" = "[0.5_f32, 1.0]", commutes, is_brief }
            div { any brief any,
                "True division: integers and bools give `f32`.", "torch.div",
                "tensor![1.0, 3.0]" "2" = "[0.5_f32, 1.5]", is_brief }
            floor_divide { real_pair same scalars,
                "The quotient rounded down. Integer division by zero is an error.", "torch.floor_divide",
                "tensor![-7, 7]" "2" = "[-4_i64, 3]" }
            trunc_divide { real_pair same scalars,
                "The quotient rounded towards zero. Integer division by zero is an error.", "torch.div(rounding_mode='trunc')",
                "tensor![-7, 7]" "2" = "[-3_i64, 3]" }
            remainder { real_pair same scalars,
                "What `floor_divide` leaves over: it has the sign of the divisor. By an integer zero it is an error.", "torch.remainder",
                "tensor![-7, 7]" "2" = "[1_i64, 1]" }
            fmod { real_pair same any,
                "What `trunc_divide` leaves over: it has the sign of the dividend. By an integer zero it is an error.", "torch.fmod",
                "tensor![-7, 7]" "2" = "[-1_i64, 1]" }
            pow { power same scalars,
                "Each element raised to a power. Integers wrap, and to a negative power round towards zero; a negative integer scalar exponent of integers is an error.", "torch.pow",
                "tensor![2, 3]" "2" = "[4_i64, 9]", raises_to_scalar }
            maximum { ordered same tensors,
                "The larger of two elements; NaN if either is.", "torch.maximum",
                "tensor![1, 5]" "tensor![3, 2]" = "[3, 5]", is_brief }
            minimum { ordered same tensors,
                "The smaller of two elements; NaN if either is.", "torch.minimum",
                "tensor![1, 5]" "tensor![3, 2]" = "[1, 2]", is_brief }
            clamp_min { bounded same any,
                "Each element, but at least the other operand; NaN if either is.", "torch.clamp(min=…)",
                "tensor![1, 5]" "3" = "[3_i64, 5]" }
            clamp_max { bounded same any,
                "Each element, but at most the other operand; NaN if either is.", "torch.clamp(max=…)",
                "tensor![1, 5]" "3" = "[1_i64, 3]" }
            bitwise_and { bits same scalars,
                "Bit by bit `and`.", "torch.bitwise_and",
                "tensor![6, 5]" "3" = "[2_i64, 1]", commutes, is_brief }
            bitwise_or { bits same scalars,
                "Bit by bit `or`.", "torch.bitwise_or",
                "tensor![6, 5]" "1" = "[7_i64, 5]", commutes, is_brief }
            bitwise_xor { bits same scalars,
                "Bit by bit exclusive `or`.", "torch.bitwise_xor",
                "tensor![6, 5]" "3" = "[5_i64, 6]", commutes, is_brief }
            bitwise_left_shift { integer_pair same scalars,
                "Shifted to the left; an amount below 0 or beyond the width shifts everything out.", "torch.bitwise_left_shift",
                "tensor![1, 3]" "2" = "[4_i64, 12]" }
            bitwise_right_shift { integer_pair same scalars,
                "Shifted to the right, keeping the sign; an amount below 0 or beyond the width shifts everything out.", "torch.bitwise_right_shift",
                "tensor![-8, 8]" "1" = "[-4_i64, 4]" }
            eq { any boolean shells,
                "Whether elements are equal. (`==` compares whole tensors.)", "torch.eq",
                "tensor![1, 2]" "1.0" = "[true, false]", is_brief }
            ne { any boolean shells,
                "Whether elements differ. (`!=` compares whole tensors.)", "torch.ne`, `torch.not_equal",
                "tensor![1, 2]" "1" = "[false, true]", is_brief }
            lt { ordered boolean any,
                "Whether each element is less.", "torch.lt`, `torch.less",
                "tensor![1, 2]" "2" = "[true, false]", is_brief }
            le { ordered boolean any,
                "Whether each element is less or equal.", "torch.le`, `torch.less_equal",
                "tensor![1, 3]" "2" = "[true, false]", is_brief }
            gt { ordered boolean any,
                "Whether each element is greater.", "torch.gt`, `torch.greater",
                "tensor![1, 3]" "2" = "[false, true]", is_brief }
            ge { ordered boolean any,
                "Whether each element is greater or equal.", "torch.ge`, `torch.greater_equal",
                "tensor![1, 2]" "2" = "[false, true]", is_brief }
            logical_and { any boolean tensors,
                "Whether both elements are non-zero.", "torch.logical_and",
                "tensor![0, 2]" "tensor![1, 1]" = "[false, true]" }
            logical_or { any boolean tensors,
                "Whether either element is non-zero.", "torch.logical_or",
                "tensor![0, 2]" "tensor![0, 0]" = "[false, true]" }
            logical_xor { any boolean tensors,
                "Whether exactly one element is non-zero.", "torch.logical_xor",
                "tensor![0, 2]" "tensor![1, 1]" = "[true, false]" }
            rsub { numeric same any,
                "The difference the other way round, `other - self`. Integers wrap.", "torch.rsub",
                "tensor![1, 2]" "5" = "[4_i64, 3]" }
            true_divide { any brief scalars,
                "The same function as [`div`](crate::Tensor::div).", "torch.true_divide",
                "tensor![1.0, 3.0]" "2" = "[0.5_f32, 1.5]" }
            float_power { any double scalars,
                "Each element raised to a power, in `f64` or `Complex<f64>`.", "torch.float_power",
                "tensor![2.0, 3.0; f64]" "-1" = "[0.5_f64, 1.0 / 3.0]" }
            fmax { ordered same tensors,
                "The larger of two elements; of a number and NaN the number.", "torch.fmax",
                "tensor![1.0, f32::NAN]" "tensor![3.0, 2.0]" = "[3.0, 2.0]" }
            fmin { ordered same tensors,
                "The smaller of two elements; of a number and NaN the number.", "torch.fmin",
                "tensor![1.0, f32::NAN]" "tensor![3.0, 2.0]" = "[1.0, 2.0]" }
            gcd { integer_pair same tensors,
                "The greatest common divisor, which is not negative.", "torch.gcd",
                "tensor![12, 0]" "tensor![-18, 5]" = "[6, 5]" }
            lcm { integer_pair same tensors,
                "The least common multiple, which is not negative; it wraps.", "torch.lcm",
                "tensor![4, 0]" "tensor![6, 5]" = "[12, 0]" }
            atan2 { ordered inexact tensors,
                "The angle of the point `(other, self)` in radians.", "torch.atan2`, `torch.arctan2",
                "tensor![1.0, 0.0]" "tensor![0.0, 1.0]" = "[std::f32::consts::FRAC_PI_2, 0.0]" }
            hypot { float_pair same tensors,
                "The length of the hypotenuse, `sqrt(a * a + b * b)` without overflow.", "torch.hypot",
                "tensor![3.0]" "tensor![4.0]" = "[5.0]" }
            copysign { ordered brief any,
                "The magnitude of `self` with the sign of the other operand.", "torch.copysign",
                "tensor![1.0, 2.0]" "-0.0" = "[-1.0_f32, -2.0]" }
            nextafter { float_pair neighbour tensors,
                "The next number of the dtype towards the other operand.", "torch.nextafter",
                "tensor![1.0]" "tensor![2.0]" = "[1.0 + f32::EPSILON]" }
            heaviside { alike exact tensors,
                "0 below zero, 1 above, the other operand at zero; 0 for NaN.", "torch.heaviside",
                "tensor![-2.0, 0.0, 3.0]" "tensor![0.5]" = "[0.0, 0.5, 1.0]" }
            ldexp { scaling scaled tensors,
                "`self` times 2 to the power of the other operand.", "torch.ldexp",
                "tensor![1.5, 3.0]" "tensor![2, -1]" = "[6.0, 1.5]" }
            logaddexp { inexact_pair same tensors,
                "`log(exp(a) + exp(b))` without overflow.", "torch.logaddexp",
                "tensor![1000.0]" "tensor![-1000.0]" = "[1000.0]" }
            logaddexp2 { float_pair same tensors,
                "`log2(2^a + 2^b)` without overflow.", "torch.logaddexp2",
                "tensor![1000.0]" "tensor![1000.0]" = "[1001.0]" }
            xlogy { ordered inexact scalars,
                "`self * log(other)`; 0 where `self` is 0, unless the other is NaN.", "torch.xlogy`, `torch.special.xlogy",
                "tensor![0.0, 2.0]" "tensor![0.0, 1.0]" = "[0.0, 0.0]" }
            xlog1py { ordered inexact scalars,
                "`self * log(1 + other)`; 0 where `self` is 0, unless the other is NaN.", "torch.special.xlog1py",
                "tensor![0.0, 2.0]" "tensor![-1.0, 0.0]" = "[0.0, 0.0]" }
            zeta { ordered inexact scalars,
                "The Hurwitz zeta function: the sum of `(k + other)^-self` over all `k` from 0.", "torch.special.zeta",
                "tensor![1.0]" "1" = "[f32::INFINITY]" }
            igamma { float_pair same tensors,
                "The regularised lower incomplete gamma function: the share of the integral of `t^(self-1) exp(-t)` below the other operand. NaN if either is negative.", "torch.igamma`, `torch.special.gammainc",
                "tensor![1.0, 1.0]" "tensor![0.0, f32::INFINITY]" = "[0.0, 1.0]" }
            igammac { float_pair same tensors,
                "The regularised upper incomplete gamma function: the share of the integral of `t^(self-1) exp(-t)` above the other operand. NaN if either is negative.", "torch.igammac`, `torch.special.gammaincc",
                "tensor![1.0, 1.0]" "tensor![0.0, f32::INFINITY]" = "[1.0, 0.0]" }
        }
    };
}

pub(crate) use binary_table;
