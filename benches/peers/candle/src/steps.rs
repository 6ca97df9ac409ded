//! The workloads `s`: steps of learning.

use crate::floats;
use crate::harness::Bench;
use crate::learning::{RATE, measured};
use candle_core::{DType, Device, Result, Tensor, Var};
use candle_nn::ops::{layer_norm_slow, softmax};
use candle_nn::{
    BatchNorm, BatchNormConfig, Conv2d, Conv2dConfig, Init, Linear, Module, Optimizer, SGD, VarBuilder, VarMap,
    batch_norm, conv2d_no_bias, linear, linear_no_bias, loss,
};

pub fn run(bench: &mut Bench) -> Result<()> {
    layers(bench, "s.digits_step_32", 32, &[64, 96, 10])?;
    layers(bench, "s.digits_step_1024", 1024, &[64, 96, 10])?;
    layers(bench, "s.mlp_step_64", 64, &[784, 512, 512, 10])?;
    block_step(bench, "s.block_step_512", DType::F32)?;
    block_step(bench, "s.block_step_512_bf16", DType::BF16)?;
    for batch in [1, 8, 32] {
        let weights = VarMap::new();
        let net = ResNet::new(VarBuilder::from_varmap(&weights, DType::F32, &Device::Cpu))?;
        let (pictures, labels) = (floats(&[batch, 3, 32, 32])?, labels(batch)?);
        descend(bench, &format!("s.resnet18_step_{batch}"), weights.all_vars(), || {
            loss::cross_entropy(&net.forward(&pictures)?, &labels)
        })?;
    }
    Ok(())
}

fn labels(count: usize) -> Result<Tensor> {
    Tensor::from_vec((0..count as u32).map(|at| at * 7 % 10).collect(), count, &Device::Cpu)
}

/// Measures steps of gradient descent.
fn descend(bench: &mut Bench, name: &str, weights: Vec<Var>, loss: impl Fn() -> Result<Tensor>) -> Result<()> {
    let mut sgd = SGD::new(weights, RATE)?;
    let mut step = || {
        let loss = loss()?;
        sgd.backward_step(&loss)?;
        loss.to_scalar()
    };
    measured(bench, "", name, || step().expect("it fits"));
    Ok(())
}

/// Linear layers of these sizes, with `relu` between them.
fn layers(bench: &mut Bench, name: &str, batch: usize, sizes: &[usize]) -> Result<()> {
    let weights = VarMap::new();
    let builder = VarBuilder::from_varmap(&weights, DType::F32, &Device::Cpu);
    let layer = |(at, pair): (usize, &[usize])| linear(pair[0], pair[1], builder.pp(at));
    let layers = sizes.windows(2).enumerate().map(layer).collect::<Result<Vec<_>>>()?;
    let (x, labels) = (floats(&[batch, sizes[0]])?, labels(batch)?);
    descend(bench, name, weights.all_vars(), || {
        let mut y = layers[0].forward(&x)?;
        for layer in &layers[1..] {
            y = layer.forward(&y.relu()?)?;
        }
        loss::cross_entropy(&y, &labels)
    })
}

/// A block of GPT-2 small. (`candle_nn::LayerNorm` and `softmax_last_dim` have no gradients.)
struct Block {
    norms: [(Tensor, Tensor); 2],
    heads: [Linear; 3],
    output: Linear,
    widen: Linear,
    narrow: Linear,
    /// What is added to scores: minus infinity for words that come later.
    mask: Tensor,
}

impl Block {
    fn new(builder: VarBuilder) -> Result<Self> {
        let norm = |name: &str| {
            let builder = builder.pp(name);
            let scale = builder.get_with_hints(768, "weight", Init::Const(1.0))?;
            Ok::<_, candle_core::Error>((scale, builder.get_with_hints(768, "bias", Init::Const(0.0))?))
        };
        let head = |name: &str| linear_no_bias(768, 768, builder.pp(name));
        let later = |at: usize| if at % 512 > at / 512 { f32::NEG_INFINITY } else { 0.0 };
        let mask = Tensor::from_vec((0..512 * 512).map(later).collect(), (512, 512), builder.device())?;
        Ok(Block {
            norms: [norm("norm")?, norm("inner_norm")?],
            heads: [head("q")?, head("k")?, head("v")?],
            output: head("output")?,
            widen: linear(768, 3072, builder.pp("widen"))?,
            narrow: linear(3072, 768, builder.pp("narrow"))?,
            mask: mask.to_dtype(builder.dtype())?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let [norm, inner_norm] = &self.norms;
        let normed = layer_norm_slow(x, &norm.0, &norm.1, 1e-5)?;
        let head = |head: &Linear| head.forward(&normed)?.reshape(((), 12, 64))?.transpose(0, 1);
        let [q, k, v] = &self.heads;
        let (q, k, v) = ((head(q)? * 0.125)?, head(k)?, head(v)?);
        let scores = q.matmul(&k.t()?)?.broadcast_add(&self.mask)?;
        let seen = softmax(&scores, 2)?.matmul(&v)?;
        let x = (x + self.output.forward(&seen.transpose(0, 1)?.reshape(((), 768))?)?)?;
        let normed = layer_norm_slow(&x, &inner_norm.0, &inner_norm.1, 1e-5)?;
        let inner = self.widen.forward(&normed)?.gelu_erf()?;
        x + self.narrow.forward(&inner)?
    }
}

fn block_step(bench: &mut Bench, name: &str, dtype: DType) -> Result<()> {
    let weights = VarMap::new();
    let block = Block::new(VarBuilder::from_varmap(&weights, dtype, &Device::Cpu))?;
    let tokens = floats(&[512, 768])?.to_dtype(dtype)?;
    let weights = weights.all_vars();
    let step = || {
        let loss = block.forward(&tokens)?.to_dtype(DType::F32)?.sqr()?.mean_all()?;
        let gradients = loss.backward()?;
        assert!(weights.iter().all(|weight| gradients.get(weight).is_some()), "each weight has a gradient");
        loss.to_scalar()
    };
    measured(bench, "", name, || step().expect("it fits"));
    Ok(())
}

/// A convolution without biases, and a batch norm, which is training.
struct Conv {
    conv: Conv2d,
    norm: BatchNorm,
}

impl Conv {
    fn new(inputs: usize, outputs: usize, size: usize, stride: usize, builder: VarBuilder) -> Result<Self> {
        let config = Conv2dConfig { padding: size / 2, stride, ..Default::default() };
        Ok(Conv {
            conv: conv2d_no_bias(inputs, outputs, size, config, builder.pp("conv"))?,
            norm: batch_norm(outputs, BatchNormConfig::default(), builder.pp("norm"))?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.norm.forward_train(&self.conv.forward(x)?)
    }
}

struct Basic {
    first: Conv,
    second: Conv,
    beside: Option<Conv>,
}

impl Basic {
    fn new(inputs: usize, outputs: usize, builder: VarBuilder) -> Result<Self> {
        let stride = if inputs == outputs { 1 } else { 2 };
        let beside = || Conv::new(inputs, outputs, 1, stride, builder.pp("beside"));
        Ok(Basic {
            first: Conv::new(inputs, outputs, 3, stride, builder.pp("first"))?,
            second: Conv::new(outputs, outputs, 3, 1, builder.pp("second"))?,
            beside: (stride == 2).then(beside).transpose()?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.second.forward(&self.first.forward(x)?.relu()?)?;
        match &self.beside {
            Some(beside) => (y + beside.forward(x)?)?.relu(),
            None => (y + x)?.relu(),
        }
    }
}

/// ResNet-18 for pictures of 32 by 32 pixels, as in `examples/train_resnet`.
struct ResNet {
    stem: Conv,
    blocks: Vec<Basic>,
    head: Linear,
}

impl ResNet {
    fn new(builder: VarBuilder) -> Result<Self> {
        let sizes = [64, 64, 64, 128, 128, 256, 256, 512, 512];
        let block = |(at, pair): (usize, &[usize])| Basic::new(pair[0], pair[1], builder.pp(at));
        Ok(ResNet {
            stem: Conv::new(3, 64, 3, 1, builder.pp("stem"))?,
            blocks: sizes.windows(2).enumerate().map(block).collect::<Result<_>>()?,
            head: linear(512, 10, builder.pp("head"))?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = self.stem.forward(x)?.relu()?;
        for block in &self.blocks {
            x = block.forward(&x)?;
        }
        self.head.forward(&x.mean((2, 3))?)
    }
}
