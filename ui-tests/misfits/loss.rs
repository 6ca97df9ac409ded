// Losses: targets, labels and weights beside predictions.

use castiron::reduction::{Mean, Unreduced};
use castiron::{KnownShape, Tensor, axis, shape};

fn x<S: KnownShape>() -> Tensor<f64, S> {
    Tensor::full(0.5)
}
fn i<S: KnownShape>() -> Tensor<i64, S> {
    Tensor::zeros()
}

calls! {
    x::<shape![2, 3]>().mse_loss(&x::<shape![2]>(), Mean);
    // instead: x::<shape![2, 3]>().mse_loss(&x::<shape![2, 3]>(), Mean);
    x::<shape![2, 3]>().l1_loss(&x::<shape![2, 1]>(), Unreduced);
    // instead: x::<shape![2, 1]>().l1_loss(&x::<shape![2, 1]>(), Unreduced);
    x::<shape![2, 3]>().smooth_l1_loss(&x::<shape![2]>(), 1.0, Mean);
    // instead: x::<shape![2, 3]>().smooth_l1_loss(&x::<shape![2, 3]>(), 1.0, Mean);
    x::<shape![2, 3]>().huber_loss(&x::<shape![3, 2]>(), 1.0, Mean);
    // instead: x::<shape![2, 3]>().huber_loss(&x::<shape![2, 3]>(), 1.0, Mean);
    x::<shape![2, 3]>().soft_margin_loss(&x::<shape![2, 4]>(), Mean);
    // instead: x::<shape![2, 3]>().soft_margin_loss(&x::<shape![2, 3]>(), Mean);
    x::<shape![2, 3]>().hinge_embedding_loss(&x::<shape![1, 3]>(), 1.0, Mean);
    // instead: x::<shape![2, 3]>().hinge_embedding_loss(&x::<shape![2, 3]>(), 1.0, Mean);
    x::<shape![2, 3]>().kl_div(&x::<shape![2]>(), false, Mean);
    // instead: x::<shape![2, 3]>().kl_div(&x::<shape![2, 3]>(), false, Mean);
    x::<shape![2, 3]>().poisson_nll_loss(&x::<shape![2]>(), true, false, 1e-8, Mean);
    // instead: x::<shape![2, 3]>().poisson_nll_loss(&x::<shape![2, 3]>(), true, false, 1e-8, Mean);
    x::<shape![2, 3]>().gaussian_nll_loss(&x::<shape![2, 3]>(), &x::<shape![4]>(), false, 1e-6, Mean);
    // instead: x::<shape![2, 3]>().gaussian_nll_loss(&x::<shape![2, 3]>(), &x::<shape![3]>(), false, 1e-6, Mean);
    x::<shape![2, 3]>().gaussian_nll_loss(&x::<shape![3]>(), &x::<shape![3]>(), false, 1e-6, Mean);
    // instead: x::<shape![2, 3]>().gaussian_nll_loss(&x::<shape![2, 3]>(), &x::<shape![1]>(), false, 1e-6, Mean);
    x::<shape![2, 3]>().binary_cross_entropy(&x::<shape![3]>(), (), Mean);
    // instead: x::<shape![2, 3]>().binary_cross_entropy(&x::<shape![2, 3]>(), (), Mean);
    x::<shape![2, 3]>().binary_cross_entropy(&x::<shape![2, 3]>(), &x::<shape![4]>(), Mean);
    // instead: x::<shape![2, 3]>().binary_cross_entropy(&x::<shape![2, 3]>(), &x::<shape![3]>(), Mean);
    x::<shape![2, 3]>().binary_cross_entropy_with_logits(&x::<shape![3]>(), (), (), Mean);
    // instead: x::<shape![2, 3]>().binary_cross_entropy_with_logits(&x::<shape![2, 3]>(), (), (), Mean);
    x::<shape![2, 3]>().binary_cross_entropy_with_logits(&x::<shape![2, 3]>(), (), &x::<shape![2]>(), Mean);
    // instead: x::<shape![2, 3]>().binary_cross_entropy_with_logits(&x::<shape![2, 3]>(), (), &x::<shape![3]>(), Mean);
    x::<shape![2, 3]>().cross_entropy(&i::<shape![3]>(), (), -100, 0.0, Mean);
    // instead: x::<shape![2, 3]>().cross_entropy(&i::<shape![2]>(), (), -100, 0.0, Mean);
    x::<shape![2, 3]>().cross_entropy(&i::<shape![2]>(), &x::<shape![2]>(), -100, 0.0, Mean);
    // instead: x::<shape![2, 3]>().cross_entropy(&i::<shape![2]>(), &x::<shape![3]>(), -100, 0.0, Mean);
    x::<shape![2, 3, 4]>().nll_loss(&i::<shape![2, 3]>(), (), -100, Mean);
    // instead: x::<shape![2, 3, 4]>().nll_loss(&i::<shape![2, 4]>(), (), -100, Mean);
    x::<shape![]>().nll_loss(&i::<shape![]>(), (), -100, Mean); // rustc
    // instead: x::<shape![1]>().nll_loss(&i::<shape![]>(), (), -100, Mean);
    x::<shape![2, 3]>().cross_entropy_probabilities(&x::<shape![2]>(), (), 0.0, Mean);
    // instead: x::<shape![2, 3]>().cross_entropy_probabilities(&x::<shape![2, 3]>(), (), 0.0, Mean);
    x::<shape![5, 3]>().ctc_loss(&i::<shape![2, 2]>(), &[5, 5], &[1, 1], 1, false, Mean);
    // instead: x::<shape![5, 2, 3]>().ctc_loss(&i::<shape![2, 2]>(), &[5, 5], &[1, 1], 1, false, Mean);
    x::<shape![5, 2, 3]>().ctc_loss(&i::<shape![3, 2]>(), &[5, 5], &[1, 1], 1, false, Mean);
    // instead: x::<shape![5, 2, 3]>().ctc_loss(&i::<shape![2, 2]>(), &[5, 5], &[1, 1], 1, false, Mean);
    x::<shape![2, 3]>().pairwise_distance(&x::<shape![2, 4]>(), 2.0, 1e-6);
    // instead: x::<shape![2, 3]>().pairwise_distance(&x::<shape![2, 3]>(), 2.0, 1e-6);
    x::<shape![2, 3]>().cosine_similarity(&x::<shape![2, 4]>(), axis![1], 1e-8);
    // instead: x::<shape![2, 3]>().cosine_similarity(&x::<shape![2, 3]>(), axis![1], 1e-8);
    x::<shape![2, 3]>().margin_ranking_loss(&x::<shape![2]>(), &x::<shape![2, 3]>(), 0.0, Mean);
    // instead: x::<shape![2, 3]>().margin_ranking_loss(&x::<shape![2, 3]>(), &x::<shape![2, 3]>(), 0.0, Mean);
    x::<shape![2, 3]>().cosine_embedding_loss(&x::<shape![2, 3]>(), &x::<shape![3]>(), 0.0, Mean);
    // instead: x::<shape![2, 3]>().cosine_embedding_loss(&x::<shape![2, 3]>(), &x::<shape![2]>(), 0.0, Mean);
    x::<shape![2, 3]>().triplet_margin_loss(&x::<shape![2, 3]>(), &x::<shape![2, 4]>(), 1.0, 2.0, 1e-6, false, Mean);
    // instead: x::<shape![2, 3]>().triplet_margin_loss(&x::<shape![2, 3]>(), &x::<shape![2, 3]>(), 1.0, 2.0, 1e-6, false, Mean);
    x::<shape![2, 3, 4]>().pdist(2.0);
    // instead: x::<shape![2, 3]>().pdist(2.0);
    x::<shape![2, 3]>().multi_margin_loss(&i::<shape![3]>(), 1.0, 1.0, (), Mean);
    // instead: x::<shape![2, 3]>().multi_margin_loss(&i::<shape![2]>(), 1.0, 1.0, (), Mean);
    x::<shape![2, 3, 4]>().multi_margin_loss(&i::<shape![2, 4]>(), 1.0, 1.0, (), Mean);
    // instead: x::<shape![2, 3]>().multi_margin_loss(&i::<shape![2]>(), 1.0, 1.0, (), Mean);
    x::<shape![2, 3]>().multilabel_margin_loss(&i::<shape![2]>(), Mean);
    // instead: x::<shape![2, 3]>().multilabel_margin_loss(&i::<shape![2, 3]>(), Mean);
    x::<shape![2, 3]>().multilabel_soft_margin_loss(&x::<shape![2]>(), (), Mean);
    // instead: x::<shape![2, 3]>().multilabel_soft_margin_loss(&x::<shape![2, 3]>(), (), Mean);
}
