//! Runs the workloads `s` (steps of learning) of castiron's `cargo bench` on burn: JSON lines, from the same harness. Each is measured on both
//! of burn's backends in Rust alone, `burn-flex` and `burn-ndarray`.
//!
//! ```text
//! cd benches/peers/burn && OUT=FILE THREADS=1 RAYON_NUM_THREADS=1 MATMUL_NUM_THREADS=1 PEER=burn cargo run --release -- s
//! ```
//!
//! burn has no `channels_last`. Weights are random: only time is compared.

#[allow(dead_code, reason = "the table of the ceilings is castiron's")]
#[path = "../../../workloads/ceilings.rs"]
mod ceilings;
#[allow(dead_code, reason = "bounds are castiron's")]
#[path = "../../../workloads/harness.rs"]
mod harness;
#[path = "../../learning.rs"]
mod learning;
#[allow(dead_code, reason = "the table of the ceilings is castiron's")]
#[path = "../../../workloads/report.rs"]
mod report;

use burn::module::{Module, ModuleMapper, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig};
use burn::nn::{BatchNorm, BatchNormConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig, PaddingConfig2d};
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::activation::{gelu, relu, softmax};
use burn::tensor::{Bool, DType, Device, Distribution, Int, Tensor};
use harness::{Bench, Settings};
use learning::{RATE, measured};

fn floats<const RANK: usize>(sizes: [usize; RANK], device: &Device) -> Tensor<RANK> {
    Tensor::random(sizes, Distribution::Uniform(0.1, 1.1), device)
}

fn labels(count: usize, device: &Device) -> Tensor<1, Int> {
    Tensor::arange(0..count as i64, device).mul_scalar(7).remainder_scalar(10)
}

/// Measures steps of gradient descent of a network.
fn descend<M: Module>(bench: &mut Bench, backend: &str, name: &str, network: M, loss: impl Fn(&M) -> Tensor<1>) {
    let mut sgd = SgdConfig::new().init();
    let mut network = Some(network);
    measured(bench, backend, name, || {
        let before = network.take().expect("it was put back");
        let loss = loss(&before);
        let gradients = GradientsParams::from_grads(loss.backward(), &before);
        network = Some(sgd.step(RATE, before, gradients));
        loss.into_scalar()
    });
}

/// Linear layers with `relu` between them.
#[derive(Module, Debug)]
struct Layers {
    first: Linear,
    others: Vec<Linear>,
}

impl Layers {
    fn new(sizes: &[usize], device: &Device) -> Self {
        let layer = |pair: &[usize]| LinearConfig::new(pair[0], pair[1]).init(device);
        Layers { first: layer(sizes), others: sizes[1..].windows(2).map(layer).collect() }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.others.iter().fold(self.first.forward(x), |x, layer| layer.forward(relu(x)))
    }
}

/// A block of GPT-2 small.
#[derive(Module, Debug)]
struct Block {
    norm: LayerNorm,
    q: Linear,
    k: Linear,
    v: Linear,
    output: Linear,
    inner_norm: LayerNorm,
    widen: Linear,
    narrow: Linear,
}

impl Block {
    fn new(device: &Device) -> Self {
        let plain = || LinearConfig::new(768, 768).with_bias(false).init(device);
        let norm = || LayerNormConfig::new(768).init(device);
        Block {
            norm: norm(),
            q: plain(),
            k: plain(),
            v: plain(),
            output: plain(),
            inner_norm: norm(),
            widen: LinearConfig::new(768, 3072).init(device),
            narrow: LinearConfig::new(3072, 768).init(device),
        }
    }

    /// Scores that `later` is true for are left out.
    fn forward(&self, x: Tensor<2>, later: Tensor<3, Bool>) -> Tensor<2> {
        let normed = self.norm.forward(x.clone());
        let head = |head: &Linear| head.forward(normed.clone()).reshape([512, 12, 64]).swap_dims(0, 1);
        let (q, k, v) = (head(&self.q) * 0.125, head(&self.k), head(&self.v));
        let scores = q.matmul(k.transpose()).mask_fill(later, f32::NEG_INFINITY);
        let seen: Tensor<3> = softmax(scores, 2).matmul(v);
        let x = x + self.output.forward(seen.swap_dims(0, 1).reshape([512, 768]));
        let normed = self.inner_norm.forward(x.clone());
        x + self.narrow.forward(gelu(self.widen.forward(normed)))
    }
}

/// Weights of another dtype.
struct To(DType);
impl ModuleMapper for To {
    fn map_float<const RANK: usize>(&mut self, weight: Param<Tensor<RANK>>) -> Param<Tensor<RANK>> {
        weight.map(|weight| weight.cast(self.0).detach().require_grad())
    }
}

fn block_step(bench: &mut Bench, backend: &str, name: &str, dtype: DType, device: &Device) {
    let block = Block::new(device).map(&mut To(dtype));
    let tokens = floats([512, 768], device).cast(dtype);
    let later = Tensor::<2, Bool>::tril_mask([512, 512], 0, device).unsqueeze::<3>().expand([12, 512, 512]);
    measured(bench, backend, name, || {
        let loss = block.forward(tokens.clone(), later.clone()).cast(DType::F32).square().mean();
        let gradients = GradientsParams::from_grads(loss.backward(), &block);
        assert_eq!(gradients.len(), 12, "each weight has a gradient");
        loss.into_scalar()
    });
}

/// A convolution without biases, and a batch norm, which is training.
#[derive(Module, Debug)]
struct Conv {
    conv: Conv2d,
    norm: BatchNorm,
}

impl Conv {
    fn new(inputs: usize, outputs: usize, size: usize, stride: usize, device: &Device) -> Self {
        let edge = size / 2;
        let conv = Conv2dConfig::new([inputs, outputs], [size, size])
            .with_stride([stride, stride])
            .with_padding(PaddingConfig2d::Explicit(edge, edge, edge, edge))
            .with_bias(false);
        Conv { conv: conv.init(device), norm: BatchNormConfig::new(outputs).init(device) }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        self.norm.forward(self.conv.forward(x))
    }
}

#[derive(Module, Debug)]
struct Basic {
    first: Conv,
    second: Conv,
    beside: Option<Conv>,
}

impl Basic {
    fn new(inputs: usize, outputs: usize, device: &Device) -> Self {
        let stride = if inputs == outputs { 1 } else { 2 };
        Basic {
            first: Conv::new(inputs, outputs, 3, stride, device),
            second: Conv::new(outputs, outputs, 3, 1, device),
            beside: (stride == 2).then(|| Conv::new(inputs, outputs, 1, stride, device)),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let y = self.second.forward(relu(self.first.forward(x.clone())));
        let beside = match &self.beside {
            Some(beside) => beside.forward(x),
            None => x,
        };
        relu(y + beside)
    }
}

/// ResNet-18 for pictures of 32 by 32 pixels, as in `examples/train_resnet`.
#[derive(Module, Debug)]
struct ResNet {
    stem: Conv,
    blocks: Vec<Basic>,
    head: Linear,
}

impl ResNet {
    fn new(device: &Device) -> Self {
        let sizes = [64, 64, 64, 128, 128, 256, 256, 512, 512];
        ResNet {
            stem: Conv::new(3, 64, 3, 1, device),
            blocks: sizes.windows(2).map(|pair| Basic::new(pair[0], pair[1], device)).collect(),
            head: LinearConfig::new(512, 10).init(device),
        }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<2> {
        let x = self.blocks.iter().fold(relu(self.stem.forward(x)), |x, block| block.forward(x));
        self.head.forward(x.mean_dims(&[2, 3]).reshape([-1, 512]))
    }
}

fn steps(bench: &mut Bench, backend: &str, device: &Device) {
    let entropy: CrossEntropyLoss = CrossEntropyLossConfig::new().init(device);
    for (name, batch, sizes) in [
        ("s.digits_step_32", 32, &[64, 96, 10][..]),
        ("s.digits_step_1024", 1024, &[64, 96, 10]),
        ("s.mlp_step_64", 64, &[784, 512, 512, 10]),
    ] {
        let (x, labels) = (floats([batch, sizes[0]], device), labels(batch, device));
        descend(bench, backend, name, Layers::new(sizes, device), |layers| {
            entropy.forward(layers.forward(x.clone()), labels.clone())
        });
    }
    block_step(bench, backend, "s.block_step_512", DType::F32, device);
    if device.supports_dtype(DType::BF16) {
        block_step(bench, backend, "s.block_step_512_bf16", DType::BF16, device);
    }
    // Not on `burn-ndarray`, where a step of one picture takes more than ten times as long as on `burn-flex`.
    let batches: &[usize] = if backend == "flex" { &[1, 8, 32] } else { &[] };
    for &batch in batches {
        let (pictures, labels) = (floats([batch, 3, 32, 32], device), labels(batch, device));
        let name = format!("s.resnet18_step_{batch}");
        descend(bench, backend, &name, ResNet::new(device), |net| {
            entropy.forward(net.forward(pictures.clone()), labels.clone())
        });
    }
}

fn main() {
    let settings = Settings::read();
    let letters = settings.letters.clone();
    let mut bench = Bench::new(settings, None);
    if letters.contains(&'s') {
        steps(&mut bench, "flex", &Device::flex().autodiff());
        #[allow(deprecated, reason = "it may be the faster one")]
        let ndarray = Device::ndarray();
        steps(&mut bench, "ndarray", &ndarray.autodiff());
    }
}
