//! Lazy expressions give what the same operations on tensors give, bit by bit: elements, dtype, shape and layout.

use crate::odd::{Cube, cubes, pairs};
use castiron::{
    Device, Dtype, Dyn, Element, Error, Float, Meta, Shape, Tensor, axis, bf16, dims, f16, fused, lazy, shape, tensor,
    where_,
};
use proptest::prelude::*;

/// Elements, sizes and strides; NaN equals NaN.
#[track_caller]
fn same<E: Element, S: Shape>(lazily: &Tensor<E, S>, eagerly: &Tensor<E, S>) {
    assert_eq!((lazily.shape(), lazily.stride()), (eagerly.shape(), eagerly.stride()));
    assert_eq!(format!("{:?}", lazily.to_vec()), format!("{:?}", eagerly.to_vec()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 400 }))]

    #[test]
    fn chains_of_floats((x, y) in pairs::<f32, f32>()) {
        let eager = x.try_mul(&y).and_then(|xy| xy.try_add(&y)).map(|z| z.exp() - 1.5);
        let lazily = ((x.lazy() * &y + &y).exp() - 1.5).try_eval();
        match (lazily, eager) {
            (Ok(lazily), Ok(eager)) => same(&lazily, &eager),
            (lazily, eager) => prop_assert_eq!(lazily.is_err(), eager.is_err()),
        }
    }

    #[test]
    fn mixed_dtypes((x, y) in pairs::<u8, bf16>()) {
        let Ok(product) = x.try_mul(&y) else { return Ok(()) };
        same(&(x.lazy() * &y).eval(), &product);
        same(&(&x * y.lazy()).eval(), &product);
        same(&(3_i64 - (x.lazy() + 1) * &y).eval(), &(3 - (&x + 1) * &y));
        same(&(x.lazy() / 2).eval(), &(&x / 2));
        same(&x.lazy().to::<f64>().sqrt().eval(), &x.to::<f64>().sqrt());
    }

    #[test]
    fn comparisons_and_choices((x, y) in pairs::<i64, f32>()) {
        let Ok(mask) = x.try_lt(&y) else { return Ok(()) };
        same(&x.lazy().lt(&y).eval(), &mask);
        same(&lazy::where_(x.lazy().lt(&y), &x, 0.5).eval(), &where_(&mask, &x, 0.5));
        same(&lazy::where_(x.lazy().lt(&y), x.lazy() + &y, &y).eval(), &where_(&mask, &x + &y, &y));
        same(&fused!(if x < y { x } else { y }), &where_(&mask, &x, &y));
    }

    /// What has a loop of its own is computed for pieces of elements at once.
    #[test]
    fn what_is_computed_for_pieces_at_once((x, y) in pairs::<f16, f16>(), angles in cubes::<f64>()) {
        same(&(angles.lazy().sin() + 1.0).eval(), &(angles.sin() + 1.0));
        same(&(angles.lazy() * 1e9).cos().tan().eval(), &(&angles * 1e9).cos().tan());
        same(&x.lazy().to::<f32>().sin().to::<f16>().eval(), &x.to::<f32>().sin().to::<f16>());
        let Ok(product) = x.try_mul(&y) else { return Ok(()) };
        same(&(x.lazy() * &y).eval(), &product);
        same(&((x.lazy() * &y).exp() - &x).eval(), &(product.exp() - &x));
        same(&(x.lazy().lt(&y)).eval(), &x.lt(&y));
        same(&lazy::where_(x.lazy().lt(&y), x.lazy() * &y, 0.5).eval(), &where_(&x.lt(&y), &product, 0.5));
        same(&(x.lazy() * &y).ne(0.0).all_axis(axis![1]), &product.ne(0.0).all_axis(axis![1]));
        let (mut lazily, mut eagerly) = (product.clone(), product);
        lazily += x.lazy() * 2.0;
        eagerly += &x * 2.0;
        same(&lazily, &eagerly);
    }

    /// Sums of numbers that need no rounding; where they do, the order of adding depends on the layout.
    #[test]
    fn reductions_of_floats(x in cubes::<f32>()) {
        let expression = || (x.lazy() * 2.0).square() - 3.0;
        let elements = (&x * 2.0).square() - 3.0;
        same(&expression().sum(), &elements.sum());
        same(&expression().sum_axis(axis![0]), &elements.sum_axis(axis![0]));
        same(&expression().sum_axis(axis![-1].keepdim()), &elements.sum_axis(axis![-1].keepdim()));
        same(&expression().mean_axis(axis![0, 2]), &elements.mean_axis(axis![0, 2]));
        let close = |a: Tensor<f32, (Dyn, Dyn)>, b: Tensor<f32, (Dyn, Dyn)>| {
            assert!(a.isclose(&b, 1e-5, 1e-6, true).all().item(), "{a} {b}");
        };
        close(expression().var_axis(axis![1], 1), elements.var_axis(axis![1], 1));
        close(expression().logsumexp(axis![2]), elements.logsumexp(axis![2]));
        if x.numel() > 0 {
            same(&expression().max(), &elements.max());
            same(&expression().argmin(), &elements.argmin());
            let (lazily, eagerly) = (expression().max_axis(axis![1]), elements.max_axis(axis![1]));
            same(&lazily.0, &eagerly.0);
            same(&lazily.1, &eagerly.1);
        }
    }

    #[test]
    fn reductions_of_two((x, y) in pairs::<i64, i64>()) {
        let Ok(elements) = x.try_sub(&y) else { return Ok(()) };
        let expression = || x.lazy() - &y;
        same(&expression().square().sum(), &elements.square().sum());
        same(&expression().prod_axis(axis![0]), &elements.prod_axis(axis![0]));
        same(&expression().ne(0).any_axis(axis![1, 2]), &elements.ne(0).any_axis(axis![1, 2]));
        same(&expression().eq(0).all(), &elements.eq(0).all());
    }

    #[test]
    fn written_into_tensors((x, y) in pairs::<f64, i32>()) {
        let (mut lazily, mut eagerly) = (x.clone(), x.clone());
        if eagerly.try_mul_(&y + 1).is_ok() {
            lazily *= y.lazy() + 1;
            same(&lazily, &eagerly);
            lazily.assign(y.lazy() * 2);
            eagerly.assign(&y * 2);
            same(&lazily, &eagerly);
        } else {
            prop_assert!((y.lazy() + 1).try_eval().is_ok());
            prop_assert!(lazily.try_assign(y.lazy() + 1).is_err());
            same(&lazily, &x);
        }
    }
}

/// Several tensors of a million elements, in pieces by several threads.
#[test]
fn large_expressions() {
    let x = Tensor::<f32, shape![_]>::from_fn_sized([1_000_003], |[i]| (i % 1013) as f32 * 0.01);
    let y = Tensor::<f32, shape![_, _]>::from_fn_sized([1013, 991], |[i, j]| (i * 3 + j) as f32);
    same(&((x.lazy() + 1.0).log() * &x).eval(), &((&x + 1.0).log() * &x));
    same(&(x.lazy() * &x).sum(), &(&x * &x).sum());
    same(
        &(y.lazy() - y.narrow(axis![0], 5, 1)).sum_axis(axis![0]),
        &(&y - y.narrow(axis![0], 5, 1)).sum_axis(axis![0]),
    );
    same(&((x.lazy() * 1e3).sin() - &x).eval(), &((&x * 1e3).sin() - &x));
    same(&x.lazy().sin().max(), &x.sin().max());
    let (halves, others) = (x.to::<f16>(), (&x * 0.5).to::<f16>());
    same(&(halves.lazy() * &others + 0.5).exp().eval(), &(&halves * &others + 0.5).exp());
    same(&(halves.lazy() * &others).amin(), &(&halves * &others).amin());
    let square = y.narrow(axis![0], 0, 991);
    same(&(square.lazy().sin() + square.t()).eval(), &(square.sin() + square.t()));
    same(&(square.lazy() + square.t()).eval(), &(&square + square.t()));
    same(&(square.lazy() * square.t()).mean_axis(axis![1]), &(&square * square.t()).mean_axis(axis![1]));
}

/// Results larger than the caches are written another way.
#[test]
fn results_larger_than_the_caches() {
    let x = Tensor::<f32, shape![_]>::from_fn_sized([(8 << 20) + 5], |[i]| i as f32);
    let halves = &x * 0.5;
    assert!(halves.iter().enumerate().all(|(i, half)| *half == i as f32 * 0.5));
    same(&(x.lazy() * 0.5).eval(), &halves);
    let wide = x.narrow(axis![0], 3, 8 << 20).to::<f64>();
    assert!(wide.iter().enumerate().all(|(i, x)| *x == (i + 3) as f64));
}

#[test]
fn rank_zero_and_empty() {
    let number = tensor![3.0].sum();
    assert_eq!((number.lazy() * 2 + &number).eval().item(), 9.0_f32);
    assert_eq!((number.lazy() * 2).sum().item(), 6.0_f32);
    let nothing = Tensor::<f32, shape![0, 3]>::zeros();
    assert_eq!((nothing.lazy() + 1.0).eval().shape(), [0, 3]);
    assert_eq!((nothing.lazy() + 1.0).sum().item(), 0.0_f32);
    assert_eq!((nothing.lazy() + 1.0).sum_axis(axis![0]).to_vec(), [0.0_f32; 3]);
    assert!((nothing.lazy() + 1.0_f32).mean().item().is_nan());
    assert!(matches!((nothing.lazy() + 1.0).try_argmax(), Err(Error::EmptyReduction { .. })));
}

/// A zero-dim operand does not widen, and keeps its precision, as for tensors.
#[test]
fn zero_dim_operands_promote_by_category() {
    let (halves, third) = (tensor![1.0, 2.0, 3.0; bf16], tensor![1.0; f64].sum() / 3.0);
    let product: Tensor<bf16, shape![3]> = (halves.lazy() * &third).eval();
    same(&product, &(&halves * &third));
    same(&(halves.lazy() / &third).eval(), &(&halves / &third));
}

#[test]
fn errors_come_out_of_what_consumes_the_expression() {
    let (x, y) = (Tensor::<f32, shape![_]>::zeros_sized([3]), Tensor::<f32, shape![_]>::zeros_sized([4]));
    let sum = (x.lazy() + &y).exp() * 2.0;
    assert!(matches!(sum.clone().try_eval(), Err(Error::Broadcast { op: "add", .. })));
    assert!(matches!(sum.try_sum(), Err(Error::Broadcast { op: "add", .. })));
    let counts = tensor![6, 7];
    assert!(matches!((counts.lazy() % &tensor![2, 0]).try_eval(), Err(Error::DivisionByZero { .. })));
    assert!(matches!((7_i64 % tensor![2, 0].lazy()).try_eval(), Err(Error::DivisionByZero { .. })));
    assert!(matches!((counts.lazy() % 0).try_eval(), Err(Error::DivisionByZero { .. })));
    let mut remainders = counts.clone();
    assert!(remainders.try_remainder_(&tensor![4, 0]).is_err());
    assert!(std::panic::catch_unwind(move || remainders %= tensor![4, 0].lazy()).is_err());
    assert!(matches!((tensor![1; u8].lazy() + 300).try_eval(), Err(Error::ScalarOutOfRange { .. })));
    assert!(matches!(counts.lazy().pow(-1).try_eval(), Err(Error::NegativePower { .. })));
}

#[test]
fn devices_without_data_compute_shapes() {
    dims! { Batch }
    let x = Tensor::<f32, shape![Batch, 3], Meta>::zeros_sized([2, 3]);
    let y: Tensor<f32, shape![Batch, 3], Meta> = (x.lazy() * &tensor![2.0].sum() + 1.0).eval();
    assert_eq!(y.shape(), [2, 3]);
    assert_eq!((x.lazy() - &y).sum_axis(axis![1]).shape(), [2]);
    assert!(
        (tensor![1, 2].to_device::<Meta>().unwrap().lazy() % &tensor![0, 0].to_device::<Meta>().unwrap())
            .try_eval()
            .is_ok()
    );
}

/// What a user writes over any dtype, shape and device.
mod generic {
    use super::*;

    fn axpy<E: Dtype, S: Shape, D: Device>(a: E, x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        (x.lazy() * a + y).eval()
    }
    fn distance<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E, (), D> {
        fused!((x - y).square().mean().sqrt())
    }
    fn swish<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, beta: f64) -> Tensor<E, S, D> {
        fused! {
            let gate = (x * beta).sigmoid();
            x * gate
        }
    }
    fn descend<E: Float, S: Shape, D: Device>(weights: &mut Tensor<E, S, D>, gradient: &Tensor<E, S, D>, rate: f64) {
        fused!(*weights -= gradient * rate)
    }

    #[test]
    fn need_no_bounds_of_their_own() {
        let (x, y) = (tensor![1.0, 2.0], tensor![3.0, 5.0]);
        assert_eq!(axpy(2.0, &x, &y).to_vec(), [5.0, 9.0]);
        assert_eq!(axpy(3, &tensor![[1], [2]], &tensor![[1], [1]]).to_vec(), [4, 7]);
        assert_eq!(distance(&x, &y).item(), 6.5_f32.sqrt());
        same(&swish(&x, 1.5), &(&x * (&x * 1.5).sigmoid()));
        let mut weights = x.clone();
        descend(&mut weights, &y, 0.5);
        assert_eq!((weights.to_vec(), x.to_vec()), (vec![-0.5, -0.5], vec![1.0, 2.0]));
    }
}

/// The macro's own syntax.
#[test]
fn fused_expressions_read_like_formulas() {
    struct Layer {
        weight: Tensor<f32, shape![2, 2]>,
        bias: Tensor<f32, shape![2]>,
    }
    let layer = Layer { weight: tensor![[1.0, 2.0], [3.0, 4.0]], bias: tensor![0.5, -0.5] };
    let (steps, all) = (3_i64, [tensor![1.0, 1.0], tensor![2.0, 2.0]]);
    assert_eq!(fused!(layer.weight * 2 + layer.bias).to_vec(), [2.5, 3.5, 6.5, 7.5]);
    assert_eq!(fused!(-layer.bias * (all[1] - all[0]) / 2.0).to_vec(), [-0.25, 0.25]);
    assert_eq!(fused!(all[0] * steps).to_vec(), [3.0, 3.0]);
    assert_eq!(fused!({ layer.weight.t() } + layer.bias).to_vec(), [1.5, 2.5, 2.5, 3.5]);
    assert_eq!(fused!((layer.weight > 1) & (layer.weight <= 3.0)).to_vec(), [false, true, true, false]);
    assert_eq!(fused!(!(layer.weight == 4)).to_vec(), [true, true, true, false]);
    assert_eq!(fused!(layer.weight.clamp(1.5, 3.0).sum_axis(axis![1])).to_vec(), [3.5, 6.0]);
    assert_eq!(fused!(layer.weight.to::<i64>() << 1).to_vec(), [2, 4, 6, 8]);
    assert_eq!(fused!(1.0 / (1.0 + (-layer.bias).exp())).to_vec(), layer.bias.sigmoid().to_vec());
    assert_eq!(
        fused!(if layer.weight > 3 {
            1
        } else if layer.weight > 1 {
            layer.weight
        } else {
            0
        })
        .to_vec(),
        [0.0, 2.0, 3.0, 1.0]
    );
    assert_eq!(fused!(where_(layer.weight > 2, layer.weight, layer.bias)).to_vec(), [0.5, -0.5, 3.0, 4.0]);
    assert_eq!(fused!(tensor![1, 2] * tensor![3, 4] + steps).to_vec(), [6, 11]);
    let mut out = Tensor::<f64, shape![2]>::zeros();
    fused! {
        let half = layer.bias / 2;
        out = half * half;
        out += half
    }
    assert_eq!(out.to_vec(), [0.0625 + 0.25, 0.0625 - 0.25]);
    let rows: Cube<f32> = Cube::zeros_sized([2, 2, 2]);
    assert_eq!(fused!(rows + layer.weight).sum().item(), 20.0);
    let _: Tensor<f32, (Dyn, Dyn, Dyn)> = fused!(rows);
}
