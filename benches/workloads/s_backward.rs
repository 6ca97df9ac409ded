//! `s`, second part: single operations forward and backward, by `vjp` with a gradient of ones.

use super::data::{floats, integers};
use super::harness::{Bench, Work};
use castiron::grad::Grad;
use castiron::nn::{Causal, Conv, Half, Pool};
use castiron::reduction::Mean;
use castiron::{ChannelsLast, Tensor, axis, cat, dim, shape};

type Channels = dim!(64);
/// A convolution of 64 channels for each channel alone.
const OPTIONS: Conv = Conv::new();

/// `name [parameters] [constants] computation;` each: what is computed once to know the result's shape, then forward and backward on the tape.
macro_rules! backward {
    ($bench:ident: $($name:literal [$($x:ident),*] [$($c:ident),*] $y:expr;)*) => {$({
        let parameters = ($($x.clone(),)*);
        let ones = {
            let ($($x,)*) = &parameters;
            $(let $c = &$c;)*
            $y.ones_like()
        };
        $bench.run(concat!("s.back.", $name), Work::Calls, || {
            let (y, back) = parameters.vjp(($(&$c,)*), |($($x,)*), ($($c,)*)| $y);
            (y, back.pull(&ones))
        });
    })*};
}

pub fn run(bench: &mut Bench) {
    convolutions(bench);
    layers(bench);
    others(bench);
}

fn convolutions(bench: &mut Bench) {
    let same = OPTIONS.padding::<dim!(1)>();
    let (w, w1, w2) =
        (floats::<shape![64, 64, 3, 3]>(1), floats::<shape![64, 64, 1, 1]>(2), floats::<shape![128, 64, 3, 3]>(3));
    let halving = same.stride::<dim!(2)>();
    let (d, each) = (floats::<shape![64, 1, 3, 3]>(4), same.groups::<Channels>());
    let (x, x8) = (floats::<shape![1, 64, 56, 56]>(5), floats::<shape![8, 64, 56, 56]>(6));
    let (last, last8): (Tensor<f32, shape![1, 64, 56, 56]>, Tensor<f32, shape![8, 64, 56, 56]>) =
        (x.to_memory_format(ChannelsLast), x8.to_memory_format(ChannelsLast));
    let pool = Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<Half>();
    let (weight, bias) = (floats::<shape![64]>(7), floats::<shape![64]>(8));
    backward! { bench:
        "conv_3x3_b1_nchw" [x, w] [] x.conv2d(w, None, same);
        "conv_3x3_b1_nhwc" [last, w] [] last.conv2d(w, None, same);
        "conv_3x3_b8_nchw" [x8, w] [] x8.conv2d(w, None, same);
        "conv_3x3_b8_nhwc" [last8, w] [] last8.conv2d(w, None, same);
        "conv_1x1_nchw" [x, w1] [] x.conv2d(w1, None, OPTIONS);
        "conv_1x1_nhwc" [last, w1] [] last.conv2d(w1, None, OPTIONS);
        "conv_3x3s2_nchw" [x, w2] [] x.conv2d(w2, None, halving);
        "conv_3x3s2_nhwc" [last, w2] [] last.conv2d(w2, None, halving);
        "conv_depthwise_nchw" [x, d] [] x.conv2d(d, None, each);
        "conv_depthwise_nhwc" [last, d] [] last.conv2d(d, None, each);
        "batch_norm" [x8, weight, bias] [] x8.batch_norm_training((), weight, bias, 0.1, 1e-5);
        "batch_norm_nhwc" [last8, weight, bias] [] last8.batch_norm_training((), weight, bias, 0.1, 1e-5);
        "group_norm" [x8, weight, bias] [] x8.group_norm::<dim!(8), _, _>(weight, bias, 1e-5);
        "max_pool_3s2" [x8] [] x8.max_pool2d(pool);
        "max_pool_3s2_nhwc" [last8] [] last8.max_pool2d(pool);
        "avg_pool_2" [x8] [] x8.avg_pool2d(Pool::<dim!(2)>::new());
    }
}

fn layers(bench: &mut Bench) {
    let (x, weight, bias) = (floats::<shape![512, 768]>(1), floats::<shape![768]>(2), floats::<shape![768]>(3));
    let [q, k, v] = [4, 5, 6].map(floats::<shape![12, 512, 64]>);
    let s = floats::<shape![512, 512]>(7);
    let (logits, labels) = (floats::<shape![256, 50257]>(8), integers::<shape![256]>(9, 50257));
    let (table, words) = (floats::<shape![30522, 384]>(10), integers::<shape![8, 128]>(11, 30522));
    let (a, b) = (floats::<shape![512, 512]>(12), floats::<shape![512, 512]>(13));
    backward! { bench:
        "layer_norm_512x768" [x, weight, bias] [] x.layer_norm(Some(weight), Some(bias), 1e-5);
        "rms_norm_512x768" [x, weight] [] x.rms_norm(Some(weight), Some(1e-5));
        "attention_causal_512" [q, k, v] [] q.scaled_dot_product_attention(k, v, Causal, None);
        "softmax_512" [s] [] s.softmax(axis![1]);
        "log_softmax_512" [s] [] s.log_softmax(axis![1]);
        "cross_entropy_256x50257" [logits] [labels] logits.cross_entropy(labels, (), -100, 0.0, Mean);
        "embedding_8x128x384" [table] [words] table.embedding(words);
        "matmul_512" [a, b] [] a.matmul(b);
        "gelu_512x768" [x] [] x.gelu();
        "silu_512x768" [x] [] x.silu();
        "tanh_512x768" [x] [] x.tanh();
    }
}

fn others(bench: &mut Bench) {
    let (x, row) = (floats::<shape![1000, 1000]>(1), floats::<shape![1000]>(2));
    let (index, places) = (integers::<shape![1000]>(3, 1000), integers::<shape![1000, 1000]>(4, 1000));
    backward! { bench:
        "sum_rows" [x] [] x.sum_axis(axis![1]);
        "sum_columns" [x] [] x.sum_axis(axis![0]);
        "mean_rows" [x] [] x.mean_axis(axis![1]);
        "mean_columns" [x] [] x.mean_axis(axis![0]);
        "var_rows" [x] [] x.var_axis(axis![1], 1);
        "var_columns" [x] [] x.var_axis(axis![0], 1);
        "logsumexp_rows" [x] [] x.logsumexp(axis![1]);
        "logsumexp_columns" [x] [] x.logsumexp(axis![0]);
        "amax_rows" [x] [] x.amax_axis(axis![1]);
        "amax_columns" [x] [] x.amax_axis(axis![0]);
        "cumsum_rows" [x] [] x.cumsum(axis![1]);
        "cumsum_columns" [x] [] x.cumsum(axis![0]);
        "index_select_rows" [x] [index] x.index_select(axis![0], index);
        "index_select_columns" [x] [index] x.index_select(axis![1], index);
        "gather_rows" [x] [places] x.gather(axis![1], places);
        "gather_columns" [x] [places] x.gather(axis![0], places);
        "cat_rows" [x] [] cat((x, x), axis![0]);
        "cat_columns" [x] [] cat((x, x), axis![1]);
        "mul_row" [x, row] [] x * row;
        "add_transposed" [x] [] x + x.t();
    }
}
