//! Gradients, and gradients of gradients, of code that is generic over its device: every device gives what the host does.

use super::drawn_formulas::drawn_formulas_have_gradients;
use super::formulas::a_formula_of_each_row_has_its_gradient;
use super::formulas::{Blend, Tangle, misjudged, option, option_of_operations, soft, steep, swish};
use super::reducers::reducers_have_gradients;
use super::sets::formulas_of_several_sets_have_gradients;
use super::{Gives, On, has_data, is_host};
use castiron::grad::Grad;
use castiron::{Cpu, Device, Dim, Module, Shape, Tensor, axis, bf16, dim, fused, shape, tensor};

/// A network with a normalisation, two activations and a softmax.
#[derive(Module)]
pub struct Net<D: Device = Cpu> {
    weight: Tensor<f64, shape![3, 4], D>,
    bias: Tensor<f64, shape![3], D>,
    out: Tensor<f64, shape![2, 3], D>,
}
impl<D: Device> Net<D> {
    fn of(step: usize) -> Self {
        let number = |at: usize| ((at * 37 + step * 11 + 17) % 61) as f64 / 30.5 - 1.0;
        Net {
            weight: Tensor::<f64, shape![3, 4]>::from_vec((0..12).map(number).collect()).on(),
            bias: Tensor::<f64, shape![3]>::from_vec((12..15).map(number).collect()).on(),
            out: Tensor::<f64, shape![2, 3]>::from_vec((15..21).map(number).collect()).on(),
        }
    }
    fn moved(&self, along: &Self, by: f64) -> Self {
        Net {
            weight: &self.weight + &along.weight * by,
            bias: &self.bias + &along.bias * by,
            out: &self.out + &along.out * by,
        }
    }
    fn forward<N: Dim>(&self, x: &Tensor<f64, (N, dim!(4)), D>) -> Tensor<f64, (N, dim!(2)), D> {
        let hidden = x.linear(&self.weight, Some(&self.bias)).gelu();
        let normed = &hidden / (hidden.square().mean_axis(axis![1]).unsqueeze(axis![1]) + 0.1).sqrt();
        normed.linear(&self.out, None).log_softmax(axis![1])
    }
    fn loss(&self, x: &Tensor<f64, shape![5, 4], D>) -> Tensor<f64, (), D> {
        self.forward(x).sigmoid().square().sum()
    }
}
fn data<D: Device>() -> Tensor<f64, shape![5, 4], D> {
    Tensor::<f64, shape![5, 4]>::from_vec((0..20).map(|at| (at as f64 * 0.7).sin()).collect()).on()
}

#[track_caller]
fn near<S: Shape, D: Device>(found: &Tensor<f64, S, D>, expected: &Tensor<f64, S>, by: f64) {
    if has_data::<D>() {
        let (found, expected) = (found.elements(), expected.to_vec());
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= by * (1.0 + b.abs());
        assert!(found.iter().zip(&expected).all(is_near), "{found:?}, not {expected:?}");
    }
}

pub fn second_derivatives_of_a_network_are_those_of_the_host<D: Device>() {
    let products = |net: &Net, along: &Net| net.hvp(along, (&data(),), |net, (x,)| net.loss(x));
    let (net, along) = (Net::<Cpu>::of(0), Net::<Cpu>::of(1));
    let (value, grads, product) = products(&net, &along);
    if is_host::<D>() {
        // On the host: differences of gradients.
        let at = |by: f64| net.moved(&along, by).value_and_grad((&data(),), |net, (x,)| net.loss(x)).1;
        let (after, before) = (at(1e-5), at(-1e-5));
        near(&product.weight, &((&after.weight - &before.weight) / 2e-5), 1e-7);
        near(&product.bias, &((&after.bias - &before.bias) / 2e-5), 1e-7);
        near(&product.out, &((&after.out - &before.out) / 2e-5), 1e-7);
    }
    let there = Net::<D>::of(0).hvp(&Net::of(1), (&data(),), |net, (x,)| net.loss(x));
    near(&there.0, &value, 1e-12);
    near(&there.1.weight, &grads.weight, 1e-11);
    near(&there.2.weight, &product.weight, 1e-11);
    near(&there.2.bias, &product.bias, 1e-11);
    near(&there.2.out, &product.out, 1e-11);
}

pub fn results_move_along_a_direction<D: Device>() {
    let (net, along) = (Net::<Cpu>::of(0), Net::<Cpu>::of(1));
    let moved = (net.moved(&along, 1e-6).forward(&data()) - net.moved(&along, -1e-6).forward(&data())) / 2e-6;
    let (value, product) = Net::<D>::of(0).jvp(&Net::of(1), (&data(),), |net, (x,)| net.forward(x));
    near(&value, &net.forward(&data()), 1e-12);
    near(&product, &moved, 1e-8);
}

pub fn jacobians_and_hessians_have_the_axes_of_both<D: Device>() {
    let (x, by) = (
        tensor![0.3, 1.2, -0.4].to::<f64>().on::<D>(),
        tensor![[1.0, 2.0, 0.5], [3.0, 4.0, 0.25]].to::<f64>().on::<D>(),
    );
    let jacobian: Tensor<f64, shape![2, 3], D> = x.jacobian((&by,), |x, (by,)| by.matmul(x.exp()));
    let each = by.here().to_vec();
    let exps: Vec<f64> = x.here().exp().to_vec().repeat(2);
    jacobian.all_are(|element| each.iter().zip(&exps).any(|(by, exp)| (by * exp - element).abs() < 1e-12));
    let hessian: Tensor<f64, shape![3, 3], D> = x.hessian((), |x, ()| x.prod() * x.sum());
    // x y z (x + y + z)
    let [a, b, c] = [0.3_f32, 1.2, -0.4].map(f64::from);
    let sum = a + b + c;
    let (ab, ac, bc) = (c * (sum + a + b), b * (sum + a + c), a * (sum + b + c));
    near(&hessian, &tensor![[2.0 * b * c, ab, ac], [ab, 2.0 * a * c, bc], [ac, bc, 2.0 * a * b]].to::<f64>(), 1e-6);
    // A constant: zeros. No elements: none.
    let zeros: Tensor<f64, shape![2, 3], D> = x.jacobian((&by,), |_, (by,)| by.sum_axis(axis![1]));
    zeros.gives([0.0; 6]);
    let none = x.jacobian((), |x, ()| x.narrow(axis![0], 0, 0).exp());
    assert_eq!(none.shape(), [0, 3]);
    let of_none = Tensor::<f64, shape![0], D>::zeros().hessian((), |x, ()| x.exp().sum());
    assert_eq!(of_none.shape(), [0, 0]);
}

pub fn each_sample_has_its_own_gradient<D: Device>() {
    let (net, data) = (Net::<D>::of(0), data::<D>());
    let (losses, grads) =
        net.per_sample_grads((&data,), |net, (x,)| net.forward(x).sigmoid().square().sum_axis(axis![1]));
    assert_eq!((losses.shape(), grads.len()), ([5], 5));
    let (loss, all) = net.value_and_grad((&data,), |net, (x,)| net.loss(x));
    near(&loss, &losses.here().sum(), 1e-12);
    let sum = grads.iter().skip(1).fold(grads[0].weight.here(), |sum, one| sum + one.weight.here());
    near(&all.weight, &sum, 1e-12);
}

pub fn derivatives_of_any_order<D: Device>() {
    let x = tensor![0.7].to::<f64>().on::<D>();
    let (_, fourth) = x.value_and_grad((), |x, ()| {
        let (_, third) = x.value_and_grad((), |x, ()| {
            let (_, second) = x.value_and_grad((), |x, ()| {
                let (_, first) = x.value_and_grad((), |x, ()| (x.sin() * x.exp()).sum());
                first.sum()
            });
            second.sum()
        });
        third.sum()
    });
    // That of sin(x) exp(x) is -4 times itself.
    let at = f64::from(0.7_f32);
    near(&fourth, &tensor![-4.0 * at.sin() * at.exp()].to::<f64>(), 1e-6);
}

/// Gradients by dual numbers, of any order, as those of the rows.
pub fn formulas_have_gradients<D: Device>() {
    let x = tensor![-2.0, 0.5, 4.0; f64].on::<D>();
    let y = tensor![1.0, -1.0, 2.0; f64].on::<D>();
    let near = |a: Vec<f64>, b: Vec<f64>| {
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs())), "{a:?}, not {b:?}");
    };
    let (_, own) = x.value_and_grad((), |x, ()| x.apply(swish, 1).square().sum());
    let (_, row) = x.value_and_grad((), |x, ()| x.silu().square().sum());
    near(own.elements(), row.elements());
    let own = x.hessian((), |x, ()| x.apply(swish, 1).square().sum());
    let row = x.hessian((), |x, ()| x.silu().square().sum());
    near(own.elements(), row.elements());
    // By three operands, beside the same of operations.
    let all = (x.clone(), y.clone(), Tensor::<f64, ()>::full(0.25).on::<D>());
    let (_, own) = all.value_and_grad((), |(x, y, by), ()| x.blend(y, by).square().sum());
    let (_, of_rows) = all.value_and_grad((), |(x, y, by), ()| {
        let below = x.lt(y);
        castiron::where_(&below, x + by * (y - x), (x * y).abs().sqrt()).square().sum()
    });
    near(own.0.elements(), of_rows.0.elements());
    near(own.1.elements(), of_rows.1.elements());
    near(own.2.elements(), of_rows.2.elements());
    // In an expression, and of half precision.
    let (_, own) = x.value_and_grad((&y,), |x, (y,)| fused!(x.apply(swish, y) * 2 + x).sum());
    let (_, of_rows) = x.value_and_grad((&y,), |x, (y,)| (x * (y * x).sigmoid() * 2 + x).sum());
    near(own.elements(), of_rows.elements());
    let halves = x.to::<bf16>();
    let (_, own) = halves.value_and_grad((), |x, ()| x.apply(swish, 1).sum());
    let (_, row) = halves.value_and_grad((), |x, ()| x.silu().sum());
    assert_eq!(own.elements(), row.elements());
    // Five operands: by two of them, where one is broadcast, and a second derivative.
    let price = tensor![[90.0, 100.0, 110.0], [80.0, 95.0, 130.0]; f64].on::<D>();
    let both = (price.clone(), tensor![100.0, 99.0, 95.0; f64].on::<D>());
    let market = [0.5, 0.03, 0.2];
    let (_, own) = both.value_and_grad((), |(price, strike), ()| {
        price.apply(option, (strike, market[0], market[1], market[2])).square().sum()
    });
    let (_, row) = both.value_and_grad((), |(price, strike), ()| {
        let strike = strike.expand_as(price);
        option_of_operations(price, &strike.contiguous(), market).square().sum()
    });
    near(own.0.elements(), row.0.elements());
    near(own.1.elements(), row.1.elements());
    let own = price.hessian((&both.1,), |price, (strike,)| price.apply(option, (strike, 0.5, 0.03, 0.2)).sum());
    let row = price.hessian((&both.1,), |price, (strike,)| {
        option_of_operations(price, &strike.expand_as(price).contiguous(), market).sum()
    });
    near(own.elements(), row.elements());
    // Where the derivative is stated: `log(1 + exp(x))` overflows, and its derivative does not; that of the second operand is read.
    let far = tensor![-1000.0, 0.0, 3.0, 1000.0; f64].on::<D>();
    let (_, own) = far.value_and_grad((), |x, ()| x.apply(soft, 1.0).sum());
    assert_eq!(own.elements(), far.sigmoid().elements());
    // Also where another formula calls it.
    let (_, own) = far.value_and_grad((), |x, ()| x.apply(steep, ()).sum());
    assert_eq!(own.elements(), (far.sigmoid() * 2).elements());
    let (_, by_scale) = y.value_and_grad((&x,), |y, (x,)| x.apply(soft, y).sum());
    let (_, of_rows) = y.value_and_grad((&x,), |y, (x,)| ((x * y).exp() + 1.0).log().sum());
    near(by_scale.elements(), of_rows.elements());
    let own = x.hessian((), |x, ()| x.apply(soft, 1.0).sum());
    let row = x.hessian((), |x, ()| x.softplus(1.0, 20.0).sum());
    near(own.elements(), row.elements());
    if is_host::<D>() && cfg!(debug_assertions) {
        let gradient = || x.value_and_grad((), |x, ()| x.apply(misjudged, ()).sum());
        let wrong = std::panic::catch_unwind(std::panic::AssertUnwindSafe(gradient));
        let said = *wrong.err().unwrap().downcast::<String>().unwrap();
        assert!(
            said.starts_with("the derivative that `misjudged` states by its operand 0 is -5.0 at [-2.0]"),
            "{said}"
        );
    }
    let (_, own) = halves.value_and_grad((), |x, ()| x.tangle(x, 2, 1).sum());
    assert_eq!(own.elements(), (&halves * 2).elements());
}

each_device! {
    also_without_data: second_derivatives_of_a_network_are_those_of_the_host, results_move_along_a_direction, derivatives_of_any_order;
    with_data: jacobians_and_hessians_have_the_axes_of_both, each_sample_has_its_own_gradient, formulas_have_gradients,
        reducers_have_gradients, formulas_of_several_sets_have_gradients, drawn_formulas_have_gradients, a_formula_of_each_row_has_its_gradient;
}
