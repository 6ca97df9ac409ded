//! Lazy expressions give what the same operations on tensors give, bit by bit: elements, dtype, shape and layout.

use super::odd::{Cube, cubes, pairs};
use super::{Gives, On, law};
use castiron::{
    Device, Dtype, Dyn, Element, Error, Float, Shape, Tensor, axis, bf16, f16, fused, lazy, shape, tensor, where_,
};

const CASES: u32 = if cfg!(debug_assertions) { 60 } else { 400 };

/// Elements, sizes and strides; NaN equals NaN.
#[track_caller]
fn same<E: Element, S: Shape, D: Device>(lazily: &Tensor<E, S, D>, eagerly: &Tensor<E, S, D>) {
    assert_eq!((lazily.shape(), lazily.stride()), (eagerly.shape(), eagerly.stride()));
    assert_eq!(format!("{:?}", lazily.elements()), format!("{:?}", eagerly.elements()));
}

pub fn chains_of_floats<D: Device>() {
    law::<D, _>(CASES, pairs::<D, f32, f32>(), |(x, y)| {
        let eager = x.try_mul(&y).and_then(|xy| xy.try_add(&y)).map(|z| z.exp() - 1.5);
        let lazily = ((x.lazy() * &y + &y).exp() - 1.5).try_eval();
        match (lazily, eager) {
            (Ok(lazily), Ok(eager)) => same(&lazily, &eager),
            (lazily, eager) => assert_eq!(lazily.is_err(), eager.is_err()),
        }
    });
}

pub fn mixed_dtypes<D: Device>() {
    law::<D, _>(CASES, pairs::<D, u8, bf16>(), |(x, y)| {
        let Ok(product) = x.try_mul(&y) else { return };
        same(&(x.lazy() * &y).eval(), &product);
        same(&(&x * y.lazy()).eval(), &product);
        same(&(3_i64 - (x.lazy() + 1) * &y).eval(), &(3 - (&x + 1) * &y));
        same(&(x.lazy() / 2).eval(), &(&x / 2));
        same(&x.lazy().to::<f64>().sqrt().eval(), &x.to::<f64>().sqrt());
    });
}

pub fn comparisons_and_choices<D: Device>() {
    law::<D, _>(CASES, pairs::<D, i64, f32>(), |(x, y)| {
        let Ok(mask) = x.try_lt(&y) else { return };
        same(&x.lazy().lt(&y).eval(), &mask);
        same(&lazy::where_(x.lazy().lt(&y), &x, 0.5).eval(), &where_(&mask, &x, 0.5));
        same(&lazy::where_(x.lazy().lt(&y), x.lazy() + &y, &y).eval(), &where_(&mask, &x + &y, &y));
        same(&fused!(if x < y { x } else { y }), &where_(&mask, &x, &y));
    });
}

/// What has a loop of its own is computed for pieces of elements at once.
pub fn what_is_computed_for_pieces_at_once<D: Device>() {
    law::<D, _>(CASES, (pairs::<D, f16, f16>(), cubes::<D, f64>()), |((x, y), angles)| {
        same(&(angles.lazy().sin() + 1.0).eval(), &(angles.sin() + 1.0));
        same(&(angles.lazy() * 1e9).cos().tan().eval(), &(&angles * 1e9).cos().tan());
        same(&x.lazy().to::<f32>().sin().to::<f16>().eval(), &x.to::<f32>().sin().to::<f16>());
        let Ok(product) = x.try_mul(&y) else { return };
        same(&(x.lazy() * &y).eval(), &product);
        same(&((x.lazy() * &y).exp() - &x).eval(), &(product.exp() - &x));
        same(&(x.lazy().lt(&y)).eval(), &x.lt(&y));
        same(&lazy::where_(x.lazy().lt(&y), x.lazy() * &y, 0.5).eval(), &where_(&x.lt(&y), &product, 0.5));
        same(&(x.lazy() * &y).ne(0.0).all_axis(axis![1]), &product.ne(0.0).all_axis(axis![1]));
        let (mut lazily, mut eagerly) = (product.clone(), product);
        lazily += x.lazy() * 2.0;
        eagerly += &x * 2.0;
        same(&lazily, &eagerly);
    });
}

/// Sums of numbers that need no rounding; where they do, the order of adding depends on the layout.
pub fn reductions_of_floats<D: Device>() {
    law::<D, _>(CASES, cubes::<D, f32>(), |x| {
        let expression = || (x.lazy() * 2.0).square() - 3.0;
        let elements = (&x * 2.0).square() - 3.0;
        same(&expression().sum(), &elements.sum());
        same(&expression().sum_axis(axis![0]), &elements.sum_axis(axis![0]));
        same(&expression().sum_axis(axis![-1].keepdim()), &elements.sum_axis(axis![-1].keepdim()));
        same(&expression().mean_axis(axis![0, 2]), &elements.mean_axis(axis![0, 2]));
        let close = |a: Tensor<f32, (Dyn, Dyn), D>, b: Tensor<f32, (Dyn, Dyn), D>| {
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
    });
}

pub fn reductions_of_two<D: Device>() {
    law::<D, _>(CASES, pairs::<D, i64, i64>(), |(x, y)| {
        let Ok(elements) = x.try_sub(&y) else { return };
        let expression = || x.lazy() - &y;
        same(&expression().square().sum(), &elements.square().sum());
        same(&expression().prod_axis(axis![0]), &elements.prod_axis(axis![0]));
        same(&expression().ne(0).any_axis(axis![1, 2]), &elements.ne(0).any_axis(axis![1, 2]));
        same(&expression().eq(0).all(), &elements.eq(0).all());
    });
}

pub fn written_into_tensors<D: Device>() {
    law::<D, _>(CASES, pairs::<D, f64, i32>(), |(x, y)| {
        let (mut lazily, mut eagerly) = (x.clone(), x.clone());
        if eagerly.try_mul_(&y + 1).is_ok() {
            lazily *= y.lazy() + 1;
            same(&lazily, &eagerly);
            lazily.assign(y.lazy() * 2);
            eagerly.assign(&y * 2);
            same(&lazily, &eagerly);
        } else {
            assert!((y.lazy() + 1).try_eval().is_ok());
            assert!(lazily.try_assign(y.lazy() + 1).is_err());
            same(&lazily, &x);
        }
    });
}

pub fn rank_zero_and_empty<D: Device>() {
    let number = tensor![3.0].on::<D>().sum();
    assert_eq!((number.lazy() * 2 + &number).eval().item(), 9.0_f32);
    assert_eq!((number.lazy() * 2).sum().item(), 6.0_f32);
    let nothing = Tensor::<f32, shape![0, 3], D>::zeros();
    assert_eq!((nothing.lazy() + 1.0).eval().shape(), [0, 3]);
    assert_eq!((nothing.lazy() + 1.0).sum().item(), 0.0_f32);
    assert_eq!((nothing.lazy() + 1.0).sum_axis(axis![0]).elements(), [0.0_f32; 3]);
    assert!((nothing.lazy() + 1.0_f32).mean().item().is_nan());
    assert!(matches!((nothing.lazy() + 1.0).try_argmax(), Err(Error::EmptyReduction { .. })));
}

/// A zero-dim operand does not widen, and keeps its precision, as for tensors.
pub fn zero_dim_operands_promote_by_category<D: Device>() {
    let (halves, third) = (tensor![1.0, 2.0, 3.0; bf16].on::<D>(), tensor![1.0; f64].on::<D>().sum() / 3.0);
    let product: Tensor<bf16, shape![3], D> = (halves.lazy() * &third).eval();
    same(&product, &(&halves * &third));
    same(&(halves.lazy() / &third).eval(), &(&halves / &third));
}

// What a user writes over any dtype, shape and device.

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

pub fn functions_of_expressions_need_no_bounds_of_their_own<D: Device>() {
    let (x, y) = (tensor![1.0, 2.0].on::<D>(), tensor![3.0, 5.0].on::<D>());
    axpy(2.0, &x, &y).gives([5.0, 9.0]);
    axpy(3, &tensor![[1], [2]].on::<D>(), &tensor![[1], [1]].on::<D>()).gives([4, 7]);
    distance(&x, &y).gives([6.5_f32.sqrt()]);
    same(&swish(&x, 1.5), &(&x * (&x * 1.5).sigmoid()));
    let mut weights = x.clone();
    descend(&mut weights, &y, 0.5);
    weights.gives([-0.5, -0.5]);
    x.gives([1.0, 2.0]);
}

/// The macro's own syntax.
pub fn fused_expressions_read_like_formulas<D: Device>() {
    struct Layer<D: Device> {
        weight: Tensor<f32, shape![2, 2], D>,
        bias: Tensor<f32, shape![2], D>,
    }
    let layer = Layer { weight: tensor![[1.0, 2.0], [3.0, 4.0]].on::<D>(), bias: tensor![0.5, -0.5].on::<D>() };
    let (steps, all) = (3_i64, [tensor![1.0, 1.0].on::<D>(), tensor![2.0, 2.0].on::<D>()]);
    assert_eq!(fused!(layer.weight * 2 + layer.bias).elements(), [2.5, 3.5, 6.5, 7.5]);
    assert_eq!(fused!(-layer.bias * (all[1] - all[0]) / 2.0).elements(), [-0.25, 0.25]);
    assert_eq!(fused!(all[0] * steps).elements(), [3.0, 3.0]);
    assert_eq!(fused!({ layer.weight.t() } + layer.bias).elements(), [1.5, 2.5, 2.5, 3.5]);
    assert_eq!(fused!((layer.weight > 1) & (layer.weight <= 3.0)).elements(), [false, true, true, false]);
    assert_eq!(fused!(!(layer.weight == 4)).elements(), [true, true, true, false]);
    assert_eq!(fused!(layer.weight.clamp(1.5, 3.0).sum_axis(axis![1])).elements(), [3.5, 6.0]);
    assert_eq!(fused!(layer.weight.to::<i64>() << 1).elements(), [2, 4, 6, 8]);
    assert_eq!(fused!(1.0 / (1.0 + (-layer.bias).exp())).elements(), layer.bias.sigmoid().elements());
    assert_eq!(
        fused!(if layer.weight > 3 {
            1
        } else if layer.weight > 1 {
            layer.weight
        } else {
            0
        })
        .elements(),
        [0.0, 2.0, 3.0, 1.0]
    );
    assert_eq!(fused!(where_(layer.weight > 2, layer.weight, layer.bias)).elements(), [0.5, -0.5, 3.0, 4.0]);
    assert_eq!(fused!({ tensor![1, 2].on::<D>() } * { tensor![3, 4].on::<D>() } + steps).elements(), [6, 11]);
    let mut out = Tensor::<f64, shape![2], D>::zeros();
    fused! {
        let half = layer.bias / 2;
        out = half * half;
        out += half
    }
    assert_eq!(out.elements(), [0.0625 + 0.25, 0.0625 - 0.25]);
    // References, numbers with methods, views that are written through, and what a macro passes on.
    macro_rules! sum {
        ($a:expr, $b:expr) => {
            fused!($a + $b)
        };
    }
    let bias = &layer.bias;
    assert_eq!(fused!(*bias * 2 + &all[0] * 4.0.sqrt() - -bias).elements(), [3.5, 0.5]);
    assert_eq!(sum!(layer.bias * 2, 1).elements(), [2.0, 0.0]);
    let mut grid = Tensor::<f32, shape![2, 2], D>::zeros();
    fused!(grid.select_mut(axis![0], 1) = bias * 2);
    assert_eq!(grid.elements(), [0.0, 0.0, 1.0, -1.0]);
    let rows: Cube<f32, D> = Cube::zeros_sized([2, 2, 2]);
    assert_eq!(fused!(rows + layer.weight).sum().item(), 20.0);
    let _: Tensor<f32, (Dyn, Dyn, Dyn), D> = fused!(rows);
}

each_device! {
    also_without_data: ;
    with_data:
        chains_of_floats, mixed_dtypes, comparisons_and_choices, what_is_computed_for_pieces_at_once, reductions_of_floats, reductions_of_two, written_into_tensors,
        rank_zero_and_empty, zero_dim_operands_promote_by_category, functions_of_expressions_need_no_bounds_of_their_own,
        fused_expressions_read_like_formulas;
}
