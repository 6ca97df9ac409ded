// Two operands of one operation on each element, and outputs.

use castiron::{KnownShape, Tensor, axis, fused, shape, where_};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn b<S: KnownShape>() -> Tensor<bool, S> {
    Tensor::zeros()
}

calls! {
    &x::<shape![2, 3]>() + &x::<shape![2, 4]>();
    // instead: &x::<shape![2, 3]>() + &x::<shape![2, 1]>();
    &x::<shape![2, 3]>() - x::<shape![2]>();
    // instead: &x::<shape![2, 3]>() - x::<shape![3]>();
    x::<shape![2, 3]>() * x::<shape![3, 2]>();
    // instead: x::<shape![2, 3]>() * x::<shape![2, 3]>();
    fused!(&x::<shape![2, 3]>() / &x::<shape![2, 4]>());
    // instead: fused!(&x::<shape![2, 3]>() / &x::<shape![1, 3]>());
    x::<shape![2, 3]>().maximum(&x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().maximum(&x::<shape![3]>());
    x::<shape![2, 3]>().pow(&x::<shape![4, 3]>());
    // instead: x::<shape![2, 3]>().pow(&x::<shape![2, 3]>());
    x::<shape![2, 3]>().lt(&x::<shape![4]>());
    // instead: x::<shape![2, 3]>().lt(&x::<shape![3]>());
    x::<shape![2, 3]>().add_(&x::<shape![2, 4]>()).numel();
    // instead: x::<shape![2, 3]>().add_(&x::<shape![2, 3]>()).numel();
    x::<shape![3]>().add_(&x::<shape![2, 3]>()).numel();
    // instead: x::<shape![2, 3]>().add_(&x::<shape![3]>()).numel();
    x::<shape![2, 3]>().add_into(&x::<shape![3]>(), &mut x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().add_into(&x::<shape![3]>(), &mut x::<shape![2, 3]>());
    x::<shape![2, 3]>().exp_into(&mut x::<shape![3, 2]>());
    // instead: x::<shape![2, 3]>().exp_into(&mut x::<shape![2, 3]>());
    x::<shape![2, 3]>().leaky_relu_into(0.1, &mut x::<shape![3, 2]>());
    // instead: x::<shape![2, 3]>().leaky_relu_into(0.1, &mut x::<shape![2, 3]>());
    x::<shape![2, 3]>().complex(&x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().complex(&x::<shape![2, 3]>());
    x::<shape![2, 3]>().polar(&x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().polar(&x::<shape![2, 3]>());
    x::<shape![2, 3]>().isclose(&x::<shape![2, 4]>(), 0.0, 0.0, false);
    // instead: x::<shape![2, 3]>().isclose(&x::<shape![2, 3]>(), 0.0, 0.0, false);
    x::<shape![2, 3]>().allclose(&x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().allclose(&x::<shape![2, 3]>());
    x::<shape![2, 3]>().allclose_with(&x::<shape![2, 4]>(), 0.0, 0.0);
    // instead: x::<shape![2, 3]>().allclose_with(&x::<shape![2, 3]>(), 0.0, 0.0);
    x::<shape![2, 3]>().lerp(&x::<shape![2, 4]>(), 0.5);
    // instead: x::<shape![2, 3]>().lerp(&x::<shape![2, 3]>(), 0.5);
    x::<shape![2, 3]>().lerp(&x::<shape![2, 3]>(), &x::<shape![4]>());
    // instead: x::<shape![2, 3]>().lerp(&x::<shape![2, 3]>(), &x::<shape![3]>());
    x::<shape![3]>().lerp_(&x::<shape![2, 3]>(), 0.5).numel();
    // instead: x::<shape![3]>().lerp_(&x::<shape![3]>(), 0.5).numel();
    x::<shape![2, 3]>().prelu(&x::<shape![2]>());
    // instead: x::<shape![2, 3]>().prelu(&x::<shape![3]>());
    x::<shape![2, 3]>().prelu(&x::<shape![1, 3]>());
    // instead: x::<shape![2, 3]>().prelu(&x::<shape![1]>());
    where_(&b::<shape![2, 3]>(), &x::<shape![2, 4]>(), 0.0);
    // instead: where_(&b::<shape![2, 3]>(), &x::<shape![2, 3]>(), 0.0);
    where_(&b::<shape![2, 3]>(), 0.0, &x::<shape![4]>());
    // instead: where_(&b::<shape![2, 3]>(), 0.0, &x::<shape![3]>());
    x::<shape![2, 3]>().copy_from(&x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().copy_from(&x::<shape![3]>());
    x::<shape![2, 3]>().view_mut().copy_from(&x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().view_mut().copy_from(&x::<shape![3]>());
    x::<shape![2, 3]>().assign(&x::<shape![2, 4]>());
    // instead: x::<shape![2, 3]>().assign(&x::<shape![3]>());
    castiron::shells::eq(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), &x::<shape![2, 4]>().to::<castiron::F8E5M2>());
    // instead: castiron::shells::eq(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), &x::<shape![2, 3]>().to::<castiron::F8E5M2>());
    castiron::shells::ne(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), &x::<shape![2, 4]>().to::<castiron::F8E5M2>());
    // instead: castiron::shells::ne(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), &x::<shape![2, 3]>().to::<castiron::F8E5M2>());
    x::<shape![2, 3]>().view_mut().clamp_(0.0, 1.0).mul_(&x::<shape![4]>()).numel();
    // instead: x::<shape![2, 3]>().view_mut().clamp_(0.0, 1.0).mul_(&x::<shape![3]>()).numel();
    x::<shape![2, 3]>().item();
    // instead: x::<shape![1, 1]>().item();
    x::<shape![2, 3]>().with_shape::<shape![2, 4]>();
    // instead: x::<shape![2, 3]>().with_shape::<shape![2, _]>();
    x::<shape![2, 3]>().size(axis![2]);
    // instead: x::<shape![2, 3]>().size(axis![1]);
}
