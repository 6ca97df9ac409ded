//! A transformer in the style of GPT-2 ("Language Models are Unsupervised Multitask Learners", 2019), with every shape in its type.

use castiron::nn::Causal;
use castiron::{Cpu, Device, Dim, Generator, Known, Module, Result, Tensor, axis, dims, einsum};

dims! {
    /// The letters that the text is made of.
    pub Vocab,
}

/// The sizes of a network.
pub trait Size: Clone + 'static {
    /// How many letters it sees.
    type Context: Known;
    /// Features of each letter.
    type Width: Known;
    /// Heads of attention.
    type Heads: Known;
    /// Features of each head.
    type Features: Known;
    /// Features between the two layers behind the attention.
    type Inner: Known;
    /// Blocks.
    const BLOCKS: usize;
}

/// Features of each letter of some texts.
pub type Hidden<Z, N, T, D> = Tensor<f32, (N, T, <Z as Size>::Width), D>;

#[derive(Module, Clone)]
struct Norm<Z: Size, D: Device = Cpu> {
    weight: Tensor<f32, (Z::Width,), D>,
    bias: Tensor<f32, (Z::Width,), D>,
}
impl<Z: Size, D: Device> Norm<Z, D> {
    fn new() -> Result<Self> {
        Ok(Norm { weight: Tensor::try_ones()?, bias: Tensor::try_zeros()? })
    }

    fn forward<N: Dim, T: Dim>(&self, x: &Hidden<Z, N, T, D>) -> Hidden<Z, N, T, D> {
        x.layer_norm(Some(&self.weight), Some(&self.bias), 1e-5)
    }
}

/// Attention to the letters before. The weights have an axis of heads, so that nothing is split and joined.
#[derive(Module, Clone)]
struct Attention<Z: Size, D: Device = Cpu> {
    query: Tensor<f32, (Z::Heads, Z::Features, Z::Width), D>,
    key: Tensor<f32, (Z::Heads, Z::Features, Z::Width), D>,
    value: Tensor<f32, (Z::Heads, Z::Features, Z::Width), D>,
    output: Tensor<f32, (Z::Width, Z::Heads, Z::Features), D>,
}
impl<Z: Size, D: Device> Attention<Z, D> {
    fn new(generator: &mut Generator) -> Result<Self> {
        Ok(Attention {
            query: Tensor::try_normal(0.0, deviation::<Z::Width>(), generator)?,
            key: Tensor::try_normal(0.0, deviation::<Z::Width>(), generator)?,
            value: Tensor::try_normal(0.0, deviation::<Z::Width>(), generator)?,
            output: Tensor::try_normal(0.0, deviation::<Z::Width>() / residuals::<Z>(), generator)?,
        })
    }

    fn forward<N: Dim, T: Dim>(&self, x: &Hidden<Z, N, T, D>) -> Hidden<Z, N, T, D> {
        let q: Tensor<f32, (N, Z::Heads, T, Z::Features), D> = einsum!("ntw,hfw->nhtf", x, &self.query);
        let k: Tensor<f32, (N, Z::Heads, T, Z::Features), D> = einsum!("ntw,hfw->nhtf", x, &self.key);
        let v: Tensor<f32, (N, Z::Heads, T, Z::Features), D> = einsum!("ntw,hfw->nhtf", x, &self.value);
        let seen = q.scaled_dot_product_attention(&k, &v, Causal, None);
        einsum!("nhtf,whf->ntw", &seen, &self.output)
    }
}

/// Two layers, for each letter alone.
#[derive(Module, Clone)]
struct Mlp<Z: Size, D: Device = Cpu> {
    widen: Tensor<f32, (Z::Inner, Z::Width), D>,
    widen_bias: Tensor<f32, (Z::Inner,), D>,
    narrow: Tensor<f32, (Z::Width, Z::Inner), D>,
    narrow_bias: Tensor<f32, (Z::Width,), D>,
}
impl<Z: Size, D: Device> Mlp<Z, D> {
    fn new(generator: &mut Generator) -> Result<Self> {
        Ok(Mlp {
            widen: Tensor::try_normal(0.0, deviation::<Z::Width>(), generator)?,
            widen_bias: Tensor::try_zeros()?,
            narrow: Tensor::try_normal(0.0, deviation::<Z::Inner>() / residuals::<Z>(), generator)?,
            narrow_bias: Tensor::try_zeros()?,
        })
    }

    fn forward<N: Dim, T: Dim>(&self, x: &Hidden<Z, N, T, D>) -> Hidden<Z, N, T, D> {
        x.linear(&self.widen, Some(&self.widen_bias)).gelu().linear(&self.narrow, Some(&self.narrow_bias))
    }
}

/// Attention, then two layers; the input is added to the result of each part.
#[derive(Module, Clone)]
struct Block<Z: Size, D: Device = Cpu> {
    attention_norm: Norm<Z, D>,
    attention: Attention<Z, D>,
    mlp_norm: Norm<Z, D>,
    mlp: Mlp<Z, D>,
}
impl<Z: Size, D: Device> Block<Z, D> {
    fn new(generator: &mut Generator) -> Result<Self> {
        let (attention_norm, attention) = (Norm::new()?, Attention::new(generator)?);
        Ok(Block { attention_norm, attention, mlp_norm: Norm::new()?, mlp: Mlp::new(generator)? })
    }

    fn forward<N: Dim, T: Dim>(&self, x: &Hidden<Z, N, T, D>) -> Hidden<Z, N, T, D> {
        let x = x + self.attention.forward(&self.attention_norm.forward(x));
        &x + self.mlp.forward(&self.mlp_norm.forward(&x))
    }
}

/// The network. `#[derive(Module)]` makes its fields the parameters that are learned; integers among them stay as they are.
#[derive(Module, Clone)]
pub struct Gpt<Z: Size, D: Device = Cpu> {
    /// The letters themselves, as code points: a saved network knows its alphabet.
    pub alphabet: Tensor<i64, (Vocab,), D>,
    letters: Tensor<f32, (Vocab, Z::Width), D>,
    positions: Tensor<f32, (Z::Context, Z::Width), D>,
    blocks: Vec<Block<Z, D>>,
    norm: Norm<Z, D>,
}

impl<Z: Size, D: Device> Gpt<Z, D> {
    /// A network that has learned nothing.
    pub fn new(alphabet: Tensor<i64, (Vocab,), D>, generator: &mut Generator) -> Result<Self> {
        let count = alphabet.numel();
        Ok(Gpt {
            alphabet,
            letters: Tensor::try_normal_sized([count, Z::Width::VALUE], 0.0, 0.02, generator)?,
            positions: Tensor::try_normal(0.0, 0.02, generator)?,
            blocks: (0..Z::BLOCKS).map(|_| Block::new(generator)).collect::<Result<_>>()?,
            norm: Norm::new()?,
        })
    }

    /// The score of each letter to be the next, at each place of some texts. Generic over the number of texts and their length.
    pub fn forward<N: Dim, T: Dim>(&self, text: &Tensor<i64, (N, T), D>) -> Tensor<f32, (N, T, Vocab), D> {
        let [_, len] = text.shape();
        let positions: Tensor<f32, (T, Z::Width), D> = self.positions.narrow(axis![0], 0, len).with_shape();
        let mut x: Hidden<Z, N, T, D> = self.letters.embedding(text) + positions;
        for block in &self.blocks {
            x = block.forward(&x);
        }
        // The weight of the last layer is that of the first: its gradient is the sum of both.
        self.norm.forward(&x).linear(&self.letters, None)
    }
}

/// The standard deviation of random weights for this number of input features, so that the outputs keep their size.
fn deviation<N: Known>() -> f64 {
    1.0 / (N::VALUE as f64).sqrt()
}

/// By what weights are divided whose results are added up over all blocks.
fn residuals<Z: Size>() -> f64 {
    (2.0 * Z::BLOCKS as f64).sqrt()
}
