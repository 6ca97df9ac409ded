// Axes summed over, scanned and normalised, weights and statistics beside a tensor.

use castiron::{Generator, Interpolation, KnownShape, Tensor, axis, dim, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::ones()
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}

calls! {
    x::<shape![2, 3]>().sum_axis(axis![2]);
    // instead: x::<shape![2, 3]>().sum_axis(axis![1]);
    x::<shape![2, 3]>().mean_axis(axis![0, 2]);
    // instead: x::<shape![2, 3]>().mean_axis(axis![0, 1]);
    x::<shape![2, 3]>().amax_axis(axis![-3]);
    // instead: x::<shape![2, 3]>().amax_axis(axis![-2]);
    castiron::shells::amin_axis(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), axis![2]);
    // instead: castiron::shells::amin_axis(&x::<shape![2, 3]>().to::<castiron::F8E5M2>(), axis![1]);
    x::<shape![2, 3]>().max_axis(axis![2]);
    // instead: x::<shape![2, 3]>().max_axis(axis![1]);
    x::<shape![2, 3]>().argmax_axis(axis![2]);
    // instead: x::<shape![2, 3]>().argmax_axis(axis![1]);
    x::<shape![2, 3]>().logsumexp(axis![2]);
    // instead: x::<shape![2, 3]>().logsumexp(axis![1]);
    x::<shape![2, 3]>().var_mean_axis(axis![2], 1);
    // instead: x::<shape![2, 3]>().var_mean_axis(axis![1], 1);
    x::<shape![2, 3]>().median_axis(axis![2]);
    // instead: x::<shape![2, 3]>().median_axis(axis![1]);
    x::<shape![2, 3]>().nanmedian_axis(axis![2]);
    // instead: x::<shape![2, 3]>().nanmedian_axis(axis![1]);
    x::<shape![2, 3]>().quantile_axis(axis![2], 0.5, Interpolation::Linear);
    // instead: x::<shape![2, 3]>().quantile_axis(axis![1], 0.5, Interpolation::Linear);
    x::<shape![2, 3]>().quantiles(&x::<shape![2, 2]>(), Interpolation::Linear);
    // instead: x::<shape![2, 3]>().quantiles(&x::<shape![2]>(), Interpolation::Linear);
    x::<shape![2, 3]>().cumsum(axis![2]);
    // instead: x::<shape![2, 3]>().cumsum(axis![1]);
    x::<shape![2, 3]>().cummax(axis![2]);
    // instead: x::<shape![2, 3]>().cummax(axis![1]);
    x::<shape![2, 3]>().softmax(axis![2]);
    // instead: x::<shape![2, 3]>().softmax(axis![1]);
    x::<shape![2, 3]>().diff(axis![2], 1);
    // instead: x::<shape![2, 3]>().diff(axis![1], 1);
    x::<shape![2, 3]>().trapezoid(axis![2], 1.0);
    // instead: x::<shape![2, 3]>().trapezoid(axis![1], 1.0);
    x::<shape![2, 3]>().trapezoid_over(&x::<shape![2]>(), axis![1]);
    // instead: x::<shape![2, 3]>().trapezoid_over(&x::<shape![3]>(), axis![1]);
    x::<shape![2, 3]>().cumulative_trapezoid_over(&x::<shape![2]>(), axis![1]);
    // instead: x::<shape![2, 3]>().cumulative_trapezoid_over(&x::<shape![3]>(), axis![1]);
    i::<shape![2, 3]>().bincount(0);
    // instead: i::<shape![3]>().bincount(0);
    i::<shape![3]>().bincount_weighted(&x::<shape![2]>(), 0);
    // instead: i::<shape![3]>().bincount_weighted(&x::<shape![3]>(), 0);
    x::<shape![3]>().histogram(2, None, Some(&x::<shape![2]>()), false);
    // instead: x::<shape![3]>().histogram(2, None, Some(&x::<shape![3]>()), false);
    x::<shape![3]>().histogram_between(&x::<shape![2]>().cumsum(axis![0]), Some(&x::<shape![2]>()), false);
    // instead: x::<shape![3]>().histogram_between(&x::<shape![2]>().cumsum(axis![0]), Some(&x::<shape![3]>()), false);
    x::<shape![3, 2]>().histogramdd([2, 2, 2], None, None, false);
    // instead: x::<shape![3, 2]>().histogramdd([2, 2], None, None, false);
    x::<shape![3, 2]>().histogramdd([2, 2], None, Some(&x::<shape![2]>()), false);
    // instead: x::<shape![3, 2]>().histogramdd([2, 2], None, Some(&x::<shape![3]>()), false);
    x::<shape![3]>().cov(1);
    // instead: x::<shape![3, 2]>().cov(1);
    x::<shape![3]>().corrcoef();
    // instead: x::<shape![3, 2]>().corrcoef();
    x::<shape![2, 3]>().glu(axis![1]);
    // instead: x::<shape![2, 4]>().glu(axis![1]);
    x::<shape![2, 3]>().renorm(axis![2], 2.0, 1.0);
    // instead: x::<shape![2, 3]>().renorm(axis![1], 2.0, 1.0);
    x::<shape![2, 3]>().normalize(axis![2], 2.0, 1e-12);
    // instead: x::<shape![2, 3]>().normalize(axis![1], 2.0, 1e-12);
    x::<shape![2, 3]>().layer_norm::<shape![2]>(None, None, 1e-5);
    // instead: x::<shape![2, 3]>().layer_norm::<shape![3]>(None, None, 1e-5);
    x::<shape![2, 3]>().layer_norm(Some(&x::<shape![2]>()), None, 1e-5);
    // instead: x::<shape![2, 3]>().layer_norm(Some(&x::<shape![3]>()), None, 1e-5);
    x::<shape![2, 3]>().layer_norm(Some(&x::<shape![3]>()), Some(&x::<shape![2]>()), 1e-5);
    // instead: x::<shape![2, 3]>().layer_norm(Some(&x::<shape![3]>()), Some(&x::<shape![3]>()), 1e-5);
    x::<shape![2, 3]>().rms_norm(Some(&x::<shape![2]>()), None);
    // instead: x::<shape![2, 3]>().rms_norm(Some(&x::<shape![3]>()), None);
    x::<shape![2, 3, 4]>().group_norm::<dim!(2), _, _>((), (), 1e-5);
    // instead: x::<shape![2, 4, 4]>().group_norm::<dim!(2), _, _>((), (), 1e-5);
    x::<shape![2, 4, 4]>().group_norm::<dim!(2), _, _>(&x::<shape![2]>(), (), 1e-5);
    // instead: x::<shape![2, 4, 4]>().group_norm::<dim!(2), _, _>(&x::<shape![4]>(), (), 1e-5);
    x::<shape![2, 3]>().instance_norm((), (), 1e-5);
    // instead: x::<shape![2, 3, 2]>().instance_norm((), (), 1e-5);
    x::<shape![2, 3, 1, 1]>().instance_norm((), (), 1e-5);
    // instead: x::<shape![2, 3, 2, 1]>().instance_norm((), (), 1e-5);
    x::<shape![2, 3, 2]>().instance_norm((), &x::<shape![2]>(), 1e-5);
    // instead: x::<shape![2, 3, 2]>().instance_norm((), &x::<shape![3]>(), 1e-5);
    x::<shape![2, 3]>().batch_norm(&x::<shape![2]>(), &x::<shape![3]>(), (), (), 1e-5);
    // instead: x::<shape![2, 3]>().batch_norm(&x::<shape![3]>(), &x::<shape![3]>(), (), (), 1e-5);
    x::<shape![2, 3]>().batch_norm(&x::<shape![3]>(), &x::<shape![3]>(), &x::<shape![2]>(), (), 1e-5);
    // instead: x::<shape![2, 3]>().batch_norm(&x::<shape![3]>(), &x::<shape![3]>(), &x::<shape![3]>(), (), 1e-5);
    x::<shape![1, 3]>().batch_norm_training((), (), (), 0.1, 1e-5);
    // instead: x::<shape![2, 3]>().batch_norm_training((), (), (), 0.1, 1e-5);
    x::<shape![1, 3, 1]>().batch_norm_training((), (), (), 0.1, 1e-5);
    // instead: x::<shape![1, 3, 2]>().batch_norm_training((), (), (), 0.1, 1e-5);
    x::<shape![2, 3]>().batch_norm_training((&mut x::<shape![2]>(), &mut x::<shape![3]>()), (), (), 0.1, 1e-5);
    // instead: x::<shape![2, 3]>().batch_norm_training((&mut x::<shape![3]>(), &mut x::<shape![3]>()), (), (), 0.1, 1e-5);
    x::<shape![3]>().local_response_norm(2, 1e-4, 0.75, 1.0);
    // instead: x::<shape![2, 3]>().local_response_norm(2, 1e-4, 0.75, 1.0);
    x::<shape![1, 2, 3]>().multinomial(1, true, &mut Generator::seeded(1));
    // instead: x::<shape![2, 3]>().multinomial(1, true, &mut Generator::seeded(1));
}
