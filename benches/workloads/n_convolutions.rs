//! `n`: convolutions of `f32`, with the channels first and last.

use super::data::floats;
use super::harness::{Bench, Work};
use castiron::nn::Conv;
use castiron::{ChannelsLast, Tensor, dim, shape};

/// Measures a convolution in both layouts. Arguments: the name; `batch, channels, size`; `channels, window` of the weight; stride and
/// padding.
macro_rules! convolution {
    ($bench:ident, $name:literal, [$n:tt, $c:tt, $h:tt], [$o:tt, $k:tt], $stride:tt, $padding:tt) => {{
        let (x, w) = (floats::<shape![$n, $c, $h, $h]>(1), floats::<shape![$o, $c, $k, $k]>(2));
        let conv = Conv::new().stride::<dim!($stride)>().padding::<dim!($padding)>();
        let out = ($h + 2 * $padding - $k) / $stride + 1;
        let work = Work::Flops32(2 * $n * $c * $k * $k * $o * out * out);
        $bench.run(concat!("n.", $name, "_nchw"), work, || x.conv2d(&w, None, conv));
        let last: Tensor<f32, shape![$n, $c, $h, $h]> = x.to_memory_format(ChannelsLast);
        $bench.run(concat!("n.", $name, "_nhwc"), work, || last.conv2d(&w, None, conv));
    }};
}

pub fn run(bench: &mut Bench) {
    convolution!(bench, "3x3_64_64_56", [1, 64, 56], [64, 3], 1, 1);
    convolution!(bench, "3x3_128_128_28", [1, 128, 28], [128, 3], 1, 1);
    convolution!(bench, "3x3_256_256_14", [1, 256, 14], [256, 3], 1, 1);
    convolution!(bench, "3x3_512_512_7", [1, 512, 7], [512, 3], 1, 1);
    convolution!(bench, "1x1_256_64_56", [1, 256, 56], [64, 1], 1, 0);
    convolution!(bench, "7x7s2_3_64_224", [1, 3, 224], [64, 7], 2, 3);
    convolution!(bench, "3x3_64_64_56_b8", [8, 64, 56], [64, 3], 1, 1);
    convolution!(bench, "3x3s2_64_128_56", [1, 64, 56], [128, 3], 2, 1);
    convolution!(bench, "1x1s2_64_128_56", [1, 64, 56], [128, 1], 2, 0);
}
