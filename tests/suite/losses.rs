//! Losses, normalisation of channels, distances: PyTorch's values, and laws of every reduction.

use castiron::reduction::{BatchMean, Mean, Sum, Unreduced};
use castiron::{Cpu, Dim, Float, Meta, Shape, Tensor, bf16, dim, dims, f16, shape, tensor};

dims! { Batch }

fn close(found: impl IntoIterator<Item = f32>, expected: &[f32]) {
    let found: Vec<f32> = found.into_iter().collect();
    let fits = |a: f32, b: f32| (a - b).abs() <= 1e-5 + 1.3e-5 * b.abs();
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(|(&a, &b)| fits(a, b)),
        "{found:?}, expected {expected:?}"
    );
}

fn scores() -> Tensor<f32, shape![2, 3]> {
    tensor![[0.5, -1.0, 2.0], [1.5, 0.0, -0.5]]
}

#[test]
fn cross_entropy_has_pytorchs_values() {
    let (x, y, w) = (scores(), tensor![2, 0], tensor![1.0, 2.0, 3.0]);
    let p = tensor![[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]];
    close([x.cross_entropy(&y, (), -100, 0.0, Mean).item()], &[0.273_833_57]);
    close([x.cross_entropy(&y, &w, -100, 0.0, Mean).item()], &[0.257_572_44]);
    close([x.cross_entropy(&y, &w, -100, 0.2, Mean).item()], &[0.535_824_7]);
    close([x.cross_entropy(&tensor![2, 1], (), 1, 0.2, Mean).item()], &[0.541_311_4]);
    close([x.cross_entropy_probabilities(&p, &w, 0.1, Mean).item()], &[2.703_886]);
    close(x.cross_entropy_probabilities(&p, (), 0.0, Unreduced).to_vec(), &[1.441_311_4, 1.056_355_8]);
    let images: Tensor<f32, shape![1, 3, 2, 2, 2]> = Tensor::from_vec((0..24).map(|x| (x as f32).sin()).collect());
    let labels: Tensor<i64, shape![1, 2, 2, 2]> = Tensor::from_vec((0..8).map(|x| x % 3).collect());
    close([images.cross_entropy(&labels, (), -100, 0.0, Mean).item()], &[1.293_954_1]);
    let one = x.select(castiron::axis![0], 0);
    close(
        [one.cross_entropy(&Tensor::scalar(2_i64), (), -100, 0.0, Sum).item()],
        &[x.cross_entropy(&y, (), -100, 0.0, Unreduced).to_vec()[0]],
    );
}

#[test]
fn labels_out_of_range_are_an_error_and_ignored_ones_are_not() {
    let error = scores().try_cross_entropy(&tensor![2, 3], (), -100, 0.0, Mean).unwrap_err();
    assert_eq!(error.to_string(), "cross_entropy: index 3 is out of range for axis 1 of size 3");
    close([scores().cross_entropy(&tensor![2, 3], (), 3, 0.0, Sum).item()], &[0.241_311_33]);
    assert!(scores().nll_loss(&tensor![7, 7], (), 7, Mean).item().is_nan());
    assert!(scores().try_nll_loss(&tensor![-1, 0], (), -100, Mean).is_err());
}

#[test]
fn the_mean_is_the_sum_divided_by_the_number() {
    let (x, y) = (scores(), scores().neg() + 0.25);
    macro_rules! all {
        ($($loss:ident($($value:expr),*);)*) => {$(
            let each = x.$loss(&y, $($value,)* Unreduced);
            close([x.$loss(&y, $($value,)* Sum).item()], &[each.sum().item()]);
            close([x.$loss(&y, $($value,)* Mean).item()], &[each.mean().item()]);
            let turned = x.t().$loss(&y.t(), $($value,)* Unreduced);
            assert_eq!(turned.t().to_vec(), each.to_vec(), stringify!($loss));
        )*};
    }
    all! { mse_loss(); l1_loss(); smooth_l1_loss(1.0); huber_loss(0.5); soft_margin_loss(); hinge_embedding_loss(1.0); poisson_nll_loss(true, true, 1e-8); }
    let total = x.kl_div(&y.abs(), false, Sum).item();
    close([x.kl_div(&y.abs(), false, BatchMean).item()], &[total / 2.0]);
}

#[test]
fn halves_are_computed_in_f32_and_summed_in_f64() {
    fn check<E: Float>() {
        // 70,000 in `f16` is infinite: the mean is not.
        let x: Tensor<E, shape![_]> = Tensor::ones_sized([100_000]);
        let y: Tensor<E, shape![_]> = Tensor::zeros_sized([100_000]);
        assert_eq!(x.mse_loss(&y, Mean).item().to_scalar_f64(), 1.0);
    }
    trait Number {
        fn to_scalar_f64(self) -> f64;
    }
    impl<E: castiron::Scalar> Number for E {
        fn to_scalar_f64(self) -> f64 {
            match self.value() {
                castiron::ScalarValue::Float(x) => x,
                _ => f64::NAN,
            }
        }
    }
    check::<f16>();
    check::<bf16>();
    check::<f64>();
}

#[test]
fn generic_code_states_no_more_than_shapes() {
    fn loss<E: Float, S: Shape>(x: &Tensor<E, S>, y: &Tensor<E, S>) -> Tensor<E, ()> {
        x.mse_loss(y, Mean)
    }
    fn classify<E: Float, N: Dim, C: Dim>(x: &Tensor<E, (N, C)>, y: &Tensor<i64, (N,)>) -> Tensor<E, (N,)> {
        x.cross_entropy(y, (), -100, 0.0, Unreduced)
    }
    assert_eq!(loss(&scores(), &scores()).item(), 0.0);
    let named: Tensor<f32, shape![Batch, 3]> = Tensor::ones_sized([2, 3]);
    let labels: Tensor<i64, shape![Batch]> = Tensor::ones_sized([2]);
    close(classify(&named, &labels).to_vec(), &[3.0_f32.ln(), 3.0_f32.ln()]);
}

#[test]
fn tensors_without_data_have_losses_of_the_right_shape() {
    let (x, y): (Tensor<f32, shape![2, 3], Meta>, Tensor<i64, shape![2], Meta>) = (Tensor::ones(), Tensor::ones());
    assert_eq!(x.cross_entropy(&y, (), -100, 0.1, Unreduced).shape(), [2]);
    assert_eq!(x.mse_loss(&x, Unreduced).shape(), [2, 3]);
    assert_eq!(x.huber_loss(&x, 1.0, Sum).shape(), [0; 0]);
    assert_eq!(x.group_norm::<dim!(3), _, _>((), (), 1e-5).shape(), [2, 3]);
}

#[test]
fn targets_with_sizes_known_at_run_time_have_those_of_the_predictions() {
    let (x, y): (Tensor<f32, shape![_, _]>, Tensor<f32, shape![_, _]>) =
        (Tensor::ones_sized([2, 3]), Tensor::ones_sized([1, 3]));
    macro_rules! all {
        ($($loss:ident($($value:expr),*);)*) => {$(
            let error = x.$loss(&y, $($value),*).unwrap_err().to_string();
            assert!(error.contains("[2, 3], as the predictions have"), "{}: {error}", stringify!($loss));
        )*};
    }
    all! { try_mse_loss(Mean); try_kl_div(false, BatchMean); try_gaussian_nll_loss(&x, false, 1e-6, Sum); }
    all! { try_binary_cross_entropy((), Mean); try_binary_cross_entropy_with_logits((), (), Unreduced); }
    all! { try_margin_ranking_loss(&x, 0.0, Mean); try_triplet_margin_loss(&x, 1.0, 2.0, 1e-6, true, Sum); }
    all! { try_multilabel_soft_margin_loss((), Mean); try_cross_entropy_probabilities((), 0.0, Unreduced); }
    let (logs, labels): (Tensor<f32, shape![5, _, 4]>, Tensor<i64, shape![_, 2]>) =
        (Tensor::zeros_sized([5, 2, 4]), Tensor::ones_sized([3, 2]));
    assert!(logs.try_ctc_loss(&labels, &[5, 5], &[2, 2], 0, false, Mean).is_err());
}

#[test]
fn empty_predictions_have_no_mean() {
    let (x, y): (Tensor<f32, shape![0, 3]>, Tensor<i64, shape![0]>) = (Tensor::zeros(), Tensor::zeros());
    assert!(x.mse_loss(&x, Mean).item().is_nan() && x.cross_entropy(&y, (), -100, 0.0, Mean).item().is_nan());
    assert_eq!((x.mse_loss(&x, Sum).item(), x.cross_entropy(&y, (), -100, 0.0, Sum).item()), (0.0, 0.0));
}

/// Channels of few elements and of many, in groups and each by itself, with and without weights.
#[test]
fn groups_are_standardised_then_each_channel_is_scaled_and_moved() {
    for (n, places) in [(1, 3), (3, 16), (2, 19), (5, 150)] {
        let x: Tensor<f64, shape![_, 6, _]> = Tensor::from_fn_sized([n, 6, places], |[n, c, at]: [usize; 3]| {
            ((n * 77 + c * 31 + at * at * 13) % 101) as f64
        });
        let (w, b) = (tensor![1.0, 2.0, -3.0, 4.0, 0.5, 6.0_f64], tensor![0.0, 1.0, 0.5, -1.0, 7.0, 2.0_f64]);
        let expected = |groups: usize, has_weight: bool, has_bias: bool| -> Vec<f64> {
            let len = 6 / groups * places;
            let elements = x.to_vec();
            let standardised = elements.chunks(len).flat_map(|row| {
                let mean = row.iter().sum::<f64>() / len as f64;
                let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / len as f64;
                row.iter().map(move |x| (x - mean) / (variance + 0.1).sqrt())
            });
            let channel = |at: usize| at / places % 6;
            let scaled = standardised.enumerate().map(|(at, x)| {
                let weight = if has_weight { w[channel(at)] } else { 1.0 };
                x * weight + if has_bias { b[channel(at)] } else { 0.0 }
            });
            scaled.collect()
        };
        let check = |found: Tensor<f64, shape![_, 6, _]>, expected: Vec<f64>| {
            let found = found.to_vec();
            assert_eq!(found.len(), expected.len());
            assert!(
                found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12),
                "{places}: {found:?}, {expected:?}"
            );
        };
        check(x.group_norm::<dim!(2), _, _>(&w, &b, 0.1), expected(2, true, true));
        check(x.group_norm::<dim!(3), _, _>(&w, (), 0.1), expected(3, true, false));
        check(x.group_norm::<dim!(1), _, _>((), &b, 0.1), expected(1, false, true));
        check(x.instance_norm(&w, &b, 0.1), expected(6, true, true));
        check(x.instance_norm((), (), 0.1), expected(6, false, false));
        // Lists that have a step.
        let pairs = tensor![[1.0, 0.0], [2.0, 1.0], [-3.0, 0.5], [4.0, -1.0], [0.5, 7.0], [6.0, 2.0_f64]];
        let (w, b) = (pairs.select(castiron::axis![1], 0), pairs.select(castiron::axis![1], 1));
        check(x.group_norm::<dim!(2), _, _>(&w, &b, 0.1), expected(2, true, true));
    }
}

#[test]
fn other_losses_have_pytorchs_values() {
    let (x, w) = (scores(), tensor![1.0, 2.0, 3.0]);
    close([x.multi_margin_loss(&tensor![2, 0], 2.0, 0.5, &w, Mean).item()], &[0.0]);
    close([x.multilabel_margin_loss(&tensor![[0, 2, -1], [1, -1, 0]], Mean).item()], &[0.5]);
    let p = tensor![[0.2, 0.3, 0.5], [0.6, 0.1, 0.3]];
    close([x.binary_cross_entropy_with_logits(&p, (), &w, Mean).item()], &[0.984_595_24]);
    let flipped = x.flip(castiron::axis![0]);
    close([x.triplet_margin_loss(&flipped, &(&x * 0.5), 1.0, 2.0, 1e-6, true, Mean).item()], &[2.904_173_9]);
    let error = x.try_binary_cross_entropy(&p, (), Mean).unwrap_err();
    assert_eq!(
        error.to_string(),
        "binary_cross_entropy: a prediction is not between 0 and 1: of logits take the loss with_logits"
    );
    let logs: Tensor<f32, shape![4, 2, 3]> = Tensor::from_vec((0..24).map(|x| (x as f32).sin()).collect());
    let logs = logs.log_softmax(castiron::axis![-1]);
    let labels = tensor![[1, 2], [1, 1]];
    close(logs.ctc_loss(&labels, &[4, 3], &[2, 2], 0, false, Unreduced).to_vec(), &[1.378_001_3, 3.341_8]);
    close([logs.ctc_loss(&labels, &[4, 3], &[2, 2], 0, false, Mean).item()], &[1.179_950_4]);
    assert!(logs.try_ctc_loss(&labels, &[4, 5], &[2, 2], 0, false, Mean).is_err());
    // Without data labels take no memory, however long a row of them is.
    let (plan, rows) =
        (Tensor::<f32, shape![4, 2, 3], Meta>::zeros(), Tensor::<i64, shape![2, _], Meta>::zeros_sized([2, 1 << 58]));
    assert!(plan.try_ctc_loss(&rows, &[4, 3], &[2, 1 << 40], 0, false, Mean).is_ok());
    assert!(plan.try_ctc_loss(&rows, &[4, 3], &[2, 1 << 59], 0, false, Mean).is_err());
    assert_eq!(logs.ctc_loss(&labels, &[1, 1], &[2, 2], 0, false, Sum).item(), f32::INFINITY);
    assert_eq!(logs.ctc_loss(&labels, &[1, 1], &[2, 2], 0, true, Sum).item(), 0.0);
}

#[test]
fn channels_are_normalised_as_pytorch_does() {
    let x: Tensor<f32, shape![1, 4, 2], Cpu> = Tensor::from_vec((0..8).map(|x| (x as f32).sin()).collect());
    let (w, b) = (tensor![1.0, 2.0, 3.0, 4.0], tensor![0.0, 1.0, 0.0, 1.0]);
    let expected =
        [-1.164_341_9, 0.907_154_26, 3.148_253, -0.633_877_7, -2.032_162, -3.004_881_9, 1.353_712, 7.362_346_6];
    close(x.group_norm::<dim!(2), _, _>(&w, &b, 1e-5).to_vec(), &expected);
    let lrn: Tensor<f32, shape![1, 4, 2]> = Tensor::from_vec((0..8).map(|x| x as f32).collect());
    let expected = [0.0, 0.479_207_34, 0.665_906_85, 0.709_817_65, 0.694_032_3, 0.661_516_9, 1.094_444_4, 1.003_215];
    close(lrn.local_response_norm(3, 0.5, 0.75, 1.0).to_vec(), &expected);
    let x: Tensor<f32, shape![2, 2, 2]> = Tensor::from_vec((0..8).map(|x| (x as f32).sin()).collect());
    let (mut mean, mut variance) = (tensor![0.0, 1.0], tensor![1.0, 2.0]);
    let y = x.batch_norm_training((&mut mean, &mut variance), &tensor![1.0, 2.0], &tensor![0.0, 1.0], 0.1, 1e-5);
    let expected =
        [0.308_378_55, 1.495_635_6, 3.400_889_6, 0.061_566_323, -0.759_417_2, -1.044_597, -1.766_532_2, 2.304_076_2];
    close(y.to_vec(), &expected);
    close(mean.to_vec(), &[-0.021_856_396, 0.935_699_7]);
    close(variance.to_vec(), &[0.966_975_9, 1.828_221_7]);
    let pdist: Tensor<f32, shape![4, 2]> = Tensor::from_vec((0..8).map(|x| (x as f32).sin()).collect());
    close(pdist.pdist(2.0).to_vec(), &[1.147_742_6, 1.952_990_9, 0.334_824_6, 1.996_493_5, 1.295_822_7, 1.684_952_9]);
}

#[test]
fn shuffled_pixels_go_back() {
    let x: Tensor<i64, shape![2, 8, 3, 1]> = Tensor::from_vec((0..48).collect());
    let y: Tensor<i64, shape![2, 2, 6, 2]> = x.pixel_shuffle::<dim!(2), _>();
    let back: Tensor<i64, shape![2, 8, 3, 1]> = y.pixel_unshuffle::<dim!(2), _>();
    assert_eq!(back.to_vec(), x.to_vec());
    let dealt = x.channel_shuffle::<dim!(2)>().channel_shuffle::<dim!(4)>();
    assert_eq!(dealt.to_vec(), x.to_vec());
}

#[cfg(feature = "any")]
mod at_run_time {
    use super::*;
    use castiron::AnyTensor;
    use castiron::any::{Args, call};
    use castiron::reduction::LossReduction;

    #[test]
    fn run_time_losses_are_those_of_types() {
        let (x, y) = (AnyTensor::from(scores()), AnyTensor::from(tensor![2, 0]));
        let typed = scores().cross_entropy(&tensor![2, 0], (), -100, 0.3, Mean);
        let any = x.cross_entropy(&y, None, -100, LossReduction::Mean, 0.3).unwrap();
        assert_eq!(any.to_string(), AnyTensor::from(typed).to_string());
        let named = Args::new().arg(&x).arg(&y).named("label_smoothing", 0.3);
        assert_eq!(call("nn.functional.cross_entropy", &named).unwrap().tensor().unwrap().to_string(), any.to_string());
        let wrong = Args::new().arg(&x).arg(&x).named("reduction", "median");
        let error = call("nn.functional.mse_loss", &wrong).unwrap_err();
        assert_eq!(error.to_string(), "nn.functional.mse_loss: reduction is none, mean or sum, got \"median\"");
    }

    #[test]
    fn the_lengths_of_ctc_may_be_tensors_and_its_labels_one_list() {
        let logs: Tensor<f32, shape![4, 2, 3]> = Tensor::from_vec((0..24).map(|x| (x as f32).sin()).collect());
        let logs = AnyTensor::from(logs.log_softmax(castiron::axis![-1]));
        let args = Args::new()
            .arg(&logs)
            .arg(AnyTensor::from(tensor![1, 2, 1, 1]))
            .arg(AnyTensor::from(tensor![4, 3]))
            .arg(AnyTensor::from(tensor![2, 2]));
        let loss = call("nn.functional.ctc_loss", &args).unwrap().tensor().unwrap();
        close([loss.typed::<f32, shape![], Cpu>().unwrap().item()], &[1.179_950_4]);
    }
}
