//! The transformer of `gpt` over a mesh: texts are cut along `Data`; the heads of attention, and the features between the two layers behind
//! it, along `Model` ("Megatron-LM", 2019). Two sums in each block are put together; that they are is checked by their types.

use castiron::nn::Causal;
use castiron::{Cpu, Device, Dyn, Generator, Module, Tensor, axis, dim, dims};
use castiron_mesh::{At, Dist, Mesh, Result, Settled, mesh};

mesh! {
    /// Texts along one axis, parts of the network along the other.
    pub Grid: Data, Model
}
dims! {
    /// The letters that the text is made of.
    pub Vocab,
    /// Texts that are read together.
    pub Texts,
}

/// Letters that are seen.
pub type Context = dim!(64);
/// Features of each letter.
pub type Width = dim!(128);
type Heads = dim!(4);
type Features = dim!(32);
/// Heads times features.
type Attended = dim!(128);
type Inner = dim!(512);
const BLOCKS: usize = 4;

/// The texts that this rank has.
pub type Mine = At<Texts, Data>;
/// Features of each letter of texts.
type Hidden<D> = Dist<f32, (Mine, Context, Width), Settled, D>;
/// Weights that every rank has.
type Whole<S, D> = Dist<f32, S, Settled, D>;

#[derive(Module)]
struct Norm<D: Device = Cpu> {
    weight: Whole<(Width,), D>,
    bias: Whole<(Width,), D>,
}
impl Norm {
    fn new(mesh: &Mesh<Grid>) -> Result<Self> {
        Ok(Norm { weight: Dist::full(mesh, [128], 1.0)?, bias: Dist::zeros(mesh, [128])? })
    }
}
impl<D: Device> Norm<D> {
    fn forward(&self, x: &Hidden<D>) -> Hidden<D> {
        x.layer_norm(Some(&self.weight), Some(&self.bias), 1e-5)
    }
}

/// Attention to the letters before. Each rank along `Model` has some of the heads.
#[derive(Module)]
struct Attention<D: Device = Cpu> {
    query: Whole<(Width, At<Attended, Model>), D>,
    key: Whole<(Width, At<Attended, Model>), D>,
    value: Whole<(Width, At<Attended, Model>), D>,
    output: Whole<(At<Attended, Model>, Width), D>,
}
impl Attention {
    fn new(mesh: &Mesh<Grid>, g: &mut Generator) -> Result<Self> {
        Ok(Attention {
            query: Dist::normal(mesh, [128; 2], 0.0, deviation(128), g)?,
            key: Dist::normal(mesh, [128; 2], 0.0, deviation(128), g)?,
            value: Dist::normal(mesh, [128; 2], 0.0, deviation(128), g)?,
            output: Dist::normal(mesh, [128; 2], 0.0, deviation(128) / residuals(), g)?,
        })
    }
}
impl<D: Device> Attention<D> {
    fn forward(&self, x: &Hidden<D>, mesh: &Mesh<Grid>) -> Result<Hidden<D>> {
        type Cut<D> = Dist<f32, (Mine, Context, At<Attended, Model>), Settled, D>;
        type Heads4<D> = Dist<f32, (Mine, At<Heads, Model>, Context, Features), Settled, D>;
        // The features of whole heads, beside each other: a head has 32 of them.
        let [texts, letters, features] = x.shape();
        let heads = |cut: Cut<D>| -> Result<Heads4<D>> {
            let sizes = [texts, letters, features / 32, 32];
            let split: Dist<f32, (Mine, Context, At<Heads, Model>, Features), Settled, D> =
                cut.map_block_sized(sizes, mesh, |block| {
                    let [texts, letters, own] = block.shape();
                    block.reshape_sized::<(Dyn, Context, Dyn, Features)>([texts, letters, own / 32, 32])
                })?;
            Ok(split.transpose(axis![1], axis![2]))
        };
        let (q, k, v) = (heads(x.matmul(&self.query))?, heads(x.matmul(&self.key))?, heads(x.matmul(&self.value))?);
        let seen: Heads4<D> = q.scaled_dot_product_attention(&k, &v, Causal, None);
        let sizes = [texts, letters, features];
        let joined: Cut<D> = seen.transpose(axis![1], axis![2]).map_block_sized(sizes, mesh, |block| {
            let [texts, letters, heads, features] = block.shape();
            block.reshape_sized::<(Dyn, Context, Dyn)>([texts, letters, heads * features])
        })?;
        // The sum over the features of all heads, of which each rank has some.
        joined.matmul(&self.output).all_reduce(mesh)
    }
}

/// Two layers, for each letter alone. Each rank along `Model` has some of the features between them.
#[derive(Module)]
struct Mlp<D: Device = Cpu> {
    widen: Whole<(Width, At<Inner, Model>), D>,
    widen_bias: Whole<(At<Inner, Model>,), D>,
    narrow: Whole<(At<Inner, Model>, Width), D>,
    narrow_bias: Whole<(Width,), D>,
}
impl Mlp {
    fn new(mesh: &Mesh<Grid>, g: &mut Generator) -> Result<Self> {
        Ok(Mlp {
            widen: Dist::normal(mesh, [128, 512], 0.0, deviation(128), g)?,
            widen_bias: Dist::zeros(mesh, [512])?,
            narrow: Dist::normal(mesh, [512, 128], 0.0, deviation(512) / residuals(), g)?,
            narrow_bias: Dist::zeros(mesh, [128])?,
        })
    }
}
impl<D: Device> Mlp<D> {
    fn forward(&self, x: &Hidden<D>, mesh: &Mesh<Grid>) -> Result<Hidden<D>> {
        let inner = (x.matmul(&self.widen) + &self.widen_bias).gelu();
        // The bias is added once, to the sum: added before, each rank would add it, and that does not compile.
        Ok(inner.matmul(&self.narrow).all_reduce(mesh)? + &self.narrow_bias)
    }
}

#[derive(Module)]
struct Block<D: Device = Cpu> {
    attention_norm: Norm<D>,
    attention: Attention<D>,
    mlp_norm: Norm<D>,
    mlp: Mlp<D>,
}
impl<D: Device> Block<D> {
    fn forward(&self, x: &Hidden<D>, mesh: &Mesh<Grid>) -> Result<Hidden<D>> {
        let x = x + self.attention.forward(&self.attention_norm.forward(x), mesh)?;
        Ok(&x + self.mlp.forward(&self.mlp_norm.forward(&x), mesh)?)
    }
}

/// The network.
#[derive(Module)]
pub struct Gpt<D: Device = Cpu> {
    letters: Whole<(Vocab, Width), D>,
    positions: Whole<(Context, Width), D>,
    blocks: Vec<Block<D>>,
    norm: Norm<D>,
}
impl Gpt {
    /// A network that has learned nothing: the same numbers on any mesh.
    pub fn new(mesh: &Mesh<Grid>, vocabulary: usize, g: &mut Generator) -> Result<Self> {
        let block = |g: &mut Generator| {
            let (attention_norm, attention) = (Norm::new(mesh)?, Attention::new(mesh, g)?);
            Ok(Block { attention_norm, attention, mlp_norm: Norm::new(mesh)?, mlp: Mlp::new(mesh, g)? })
        };
        Ok(Gpt {
            letters: Dist::normal(mesh, [vocabulary, 128], 0.0, 0.02, g)?,
            positions: Dist::normal(mesh, [64, 128], 0.0, 0.02, g)?,
            blocks: (0..BLOCKS).map(|_| block(g)).collect::<Result<_>>()?,
            norm: Norm::new(mesh)?,
        })
    }
}
impl<D: Device> Gpt<D> {
    /// This rank's part of how badly the next letters are foretold: the mean of minus the logarithms of their probabilities.
    pub fn loss(
        &self,
        text: &Dist<i64, (Mine, Context), Settled, D>,
        next: &Dist<i64, (Mine, Context), Settled, D>,
        mesh: &Mesh<Grid>,
    ) -> Result<Dist<f32, (), castiron_mesh::Pending<castiron_mesh::Sum, Data>, D>> {
        let mut x: Hidden<D> = self.letters.embedding(text);
        x += &self.positions;
        for block in &self.blocks {
            x = block.forward(&x, mesh)?;
        }
        let scores = self.norm.forward(&x).matmul(&self.letters.t());
        let flat: Tensor<f32, (Dyn, Vocab), D> = scores.block().flatten_axes(axis![0], axis![1]).with_shape();
        let next: Tensor<i64, (Dyn,), D> = next.block().flatten_axes(axis![0], axis![1]).with_shape();
        Ok(text.mean_of_blocks(flat.cross_entropy(&next, (), -100, 0.0, castiron::reduction::Mean)))
    }
}

/// The standard deviation of random weights for this number of input features, so that the outputs keep their size.
fn deviation(features: usize) -> f64 {
    1.0 / (features as f64).sqrt()
}

/// By what weights are divided whose results are added up over all blocks.
fn residuals() -> f64 {
    (2.0 * BLOCKS as f64).sqrt()
}
