//! A sentence encoder of MiniLM's size: a BERT of 6 layers, 384 features and 12 heads, and the mean of its last features.
//!
//! Every weight has its shape in its type. `#[derive(Module)]` maps the structs onto the names of a checkpoint, and what does not fit is
//! reported before anything is computed.

use castiron::io::{CheckpointWriter, LoadOptions, StoredTensor};
use castiron::nn::Where;
use castiron::{Checkpoint, Module, Result, Tensor, axis, dim, dims, ops, shape};

dims! {
    /// Sentences.
    pub Batch,
    /// Words of a sentence, the shorter ones filled up.
    pub Seq,
}
type Hidden = dim!(384);
type Inner = dim!(1536);
/// Features of every word.
pub type Features = Tensor<f32, (Batch, Seq, Hidden)>;

/// A vocabulary of 30,522 words, 512 positions, two kinds of sentences.
#[derive(Module)]
struct Embeddings {
    #[module(rename = "word_embeddings.weight")]
    words: Tensor<f32, shape![30522, 384]>,
    #[module(rename = "position_embeddings.weight")]
    positions: Tensor<f32, shape![512, 384]>,
    #[module(rename = "token_type_embeddings.weight")]
    kinds: Tensor<f32, shape![2, 384]>,
    #[module(rename = "LayerNorm")]
    norm: Norm,
}

#[derive(Module)]
struct Norm {
    weight: Tensor<f32, (Hidden,)>,
    bias: Tensor<f32, (Hidden,)>,
}
impl Norm {
    fn run(&self, x: &Features) -> Features {
        x.layer_norm(Some(&self.weight), Some(&self.bias), 1e-12)
    }
}

#[derive(Module)]
struct Linear {
    weight: Tensor<f32, (Hidden, Hidden)>,
    bias: Tensor<f32, (Hidden,)>,
}
impl Linear {
    fn run(&self, x: &Features) -> Features {
        x.linear(&self.weight, Some(&self.bias))
    }

    /// The features divided among twelve heads: (batch, heads, words, 32).
    fn heads(&self, x: &Features) -> Tensor<f32, (Batch, dim!(12), Seq, dim!(32))> {
        self.run(x).unflatten::<shape![12, 32], _>(axis![2]).transpose(axis![1], axis![2])
    }
}

#[derive(Module)]
struct Layer {
    #[module(rename = "attention.self.query")]
    query: Linear,
    #[module(rename = "attention.self.key")]
    key: Linear,
    #[module(rename = "attention.self.value")]
    value: Linear,
    #[module(rename = "attention.output.dense")]
    attended: Linear,
    #[module(rename = "attention.output.LayerNorm")]
    attended_norm: Norm,
    #[module(rename = "intermediate.dense")]
    widen: Widen,
    #[module(rename = "output.dense")]
    narrow: Narrow,
    #[module(rename = "output.LayerNorm")]
    norm: Norm,
}
#[derive(Module)]
struct Widen {
    weight: Tensor<f32, (Inner, Hidden)>,
    bias: Tensor<f32, (Inner,)>,
}
#[derive(Module)]
struct Narrow {
    weight: Tensor<f32, (Hidden, Inner)>,
    bias: Tensor<f32, (Hidden,)>,
}

impl Layer {
    fn run(&self, x: &Features, mask: &Tensor<bool, (Batch, dim!(1), dim!(1), Seq)>) -> Features {
        let (q, k, v) = (self.query.heads(x), self.key.heads(x), self.value.heads(x));
        let attended = q.scaled_dot_product_attention(&k, &v, Where(mask), None);
        let attended: Features = attended.transpose(axis![1], axis![2]).flatten_axes(axis![2], axis![3]);
        let x = self.attended_norm.run(&(self.attended.run(&attended) + x));
        let inner = x.linear_with(&self.widen.weight, Some(&self.widen.bias), ops::gelu {});
        self.norm.run(&(inner.linear(&self.narrow.weight, Some(&self.narrow.bias)) + &x))
    }
}

#[derive(Module)]
struct Encoder {
    layer: Vec<Layer>,
}

/// The encoder.
#[derive(Module)]
pub struct Model {
    embeddings: Embeddings,
    encoder: Encoder,
}

impl Model {
    /// The weights of a folder's `model.safetensors`, which may hold more.
    ///
    /// # Errors
    /// If there is no such file, or weights are missing or of another shape or dtype.
    pub fn open(folder: &str) -> Result<Self> {
        let file = Checkpoint::open(format!("{folder}/model.safetensors"))?;
        LoadOptions::new().allow_unexpected().load(&file)
    }

    /// Weights from a formula.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn synthetic(make: impl Fn(&str, &[usize]) -> Vec<f32>) -> Result<Self> {
        let mut names: Vec<(String, Vec<usize>)> = vec![
            ("embeddings.word_embeddings.weight".to_owned(), vec![30522, 384]),
            ("embeddings.position_embeddings.weight".to_owned(), vec![512, 384]),
            ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 384]),
            ("embeddings.LayerNorm.weight".to_owned(), vec![384]),
            ("embeddings.LayerNorm.bias".to_owned(), vec![384]),
        ];
        for layer in 0..6 {
            let square = [384, 384];
            let matrices = [
                ("attention.self.query", square),
                ("attention.self.key", square),
                ("attention.self.value", square),
                ("attention.output.dense", square),
                ("intermediate.dense", [1536, 384]),
                ("output.dense", [384, 1536]),
            ];
            for (name, [rows, columns]) in matrices {
                names.push((format!("encoder.layer.{layer}.{name}.weight"), vec![rows, columns]));
                names.push((format!("encoder.layer.{layer}.{name}.bias"), vec![rows]));
            }
            for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
                names.push((format!("encoder.layer.{layer}.{name}.weight"), vec![384]));
                names.push((format!("encoder.layer.{layer}.{name}.bias"), vec![384]));
            }
        }
        let tensors = names
            .iter()
            .map(|(name, sizes)| Ok((name, made(make(name, sizes), sizes)?)))
            .collect::<Result<Vec<_>>>()?;
        let mut writer = CheckpointWriter::new();
        for (name, tensor) in &tensors {
            writer = writer.tensor(*name, &**tensor);
        }
        Model::load(&Checkpoint::from_bytes(writer.to_bytes()?)?)
    }

    /// A vector of length 1 for each sentence, whose words are given by their places in the vocabulary; `mask` says which are words and
    /// which fill up.
    pub fn run(
        &self,
        words: &Tensor<i64, (Batch, Seq)>,
        mask: &Tensor<bool, (Batch, Seq)>,
    ) -> Tensor<f32, (Batch, Hidden)> {
        let [_, len] = words.shape();
        let positions: Tensor<f32, (Seq, Hidden)> = self.embeddings.positions.narrow(axis![0], 0, len).with_shape();
        let kind = self.embeddings.kinds.select(axis![0], 0);
        let x: Features = self.embeddings.words.embedding(words);
        let mut x = self.embeddings.norm.run(&(x + kind + positions));
        let seen = mask.unsqueeze(axis![1]).unsqueeze(axis![1]);
        for layer in &self.encoder.layer {
            x = layer.run(&x, &seen);
        }
        // The mean over the words that are there.
        let weights = mask.to::<f32>();
        let sums: Tensor<f32, (Batch, Hidden)> = (x * weights.unsqueeze(axis![-1])).sum_axis(axis![1]);
        let mean = sums / weights.sum_axis(axis![1].keepdim());
        mean.normalize(axis![1], 2.0, 1e-12)
    }
}

/// Elements as a tensor that is written to a file.
fn made(list: Vec<f32>, sizes: &[usize]) -> Result<Box<dyn StoredTensor>> {
    Ok(match *sizes {
        [rows, columns] => Box::new(Tensor::<f32, shape![_, _]>::try_from_vec_sized(list, [rows, columns])?),
        _ => Box::new(Tensor::<f32, shape![_]>::try_from_vec_sized(list, [sizes.iter().product()])?),
    })
}
