//! A sentence encoder of MiniLM's size: a BERT with 6 layers, 384 features and 12 heads, and the mean of its last features.
//!
//! Every weight has its shape in its type. `#[derive(Module)]` maps the structs to the names of a checkpoint, and mismatches are reported
//! before anything is computed.

use castiron::io::{CheckpointWriter, LoadOptions, StoredTensor};
use castiron::nn::{PackedLinear, Where};
use castiron::{Checkpoint, Dim, Module, Result, Tensor, axis, dim, dims, ops, shape};

dims! {
    /// Sentences.
    pub Batch,
    /// Words of a sentence; shorter sentences are padded.
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

/// The file's tensors of a linear layer.
#[derive(Module)]
struct LinearFile<N: Dim, K: Dim> {
    weight: Tensor<f32, (N, K)>,
    bias: Tensor<f32, (N,)>,
}
impl<N: Dim, K: Dim> LinearFile<N, K> {
    /// The layer, with its weight packed once for multiplication.
    fn packed(&self) -> PackedLinear<f32, N, K> {
        self.weight.pack_linear(Some(&self.bias))
    }
}

#[derive(Module)]
struct LayerFile {
    #[module(rename = "attention.self.query")]
    query: LinearFile<Hidden, Hidden>,
    #[module(rename = "attention.self.key")]
    key: LinearFile<Hidden, Hidden>,
    #[module(rename = "attention.self.value")]
    value: LinearFile<Hidden, Hidden>,
    #[module(rename = "attention.output.dense")]
    attended: LinearFile<Hidden, Hidden>,
    #[module(rename = "attention.output.LayerNorm")]
    attended_norm: Norm,
    #[module(rename = "intermediate.dense")]
    widen: LinearFile<Inner, Hidden>,
    #[module(rename = "output.dense")]
    narrow: LinearFile<Hidden, Inner>,
    #[module(rename = "output.LayerNorm")]
    norm: Norm,
}
#[derive(Module)]
struct EncoderFile {
    layer: Vec<LayerFile>,
}
#[derive(Module)]
struct File {
    embeddings: Embeddings,
    encoder: EncoderFile,
}

/// Attention over all words of the sentence, then two linear layers; the input is added to the result of each part.
struct Layer {
    query: PackedLinear<f32, Hidden, Hidden>,
    key: PackedLinear<f32, Hidden, Hidden>,
    value: PackedLinear<f32, Hidden, Hidden>,
    attended: PackedLinear<f32, Hidden, Hidden>,
    attended_norm: Norm,
    widen: PackedLinear<f32, Inner, Hidden>,
    narrow: PackedLinear<f32, Hidden, Inner>,
    norm: Norm,
}
impl Layer {
    fn new(file: LayerFile) -> Self {
        Layer {
            query: file.query.packed(),
            key: file.key.packed(),
            value: file.value.packed(),
            attended: file.attended.packed(),
            attended_norm: file.attended_norm,
            widen: file.widen.packed(),
            narrow: file.narrow.packed(),
            norm: file.norm,
        }
    }

    fn run(&self, x: &Features, mask: &Tensor<bool, (Batch, dim!(1), dim!(1), Seq)>) -> Features {
        let [q, k, v] = [&self.query, &self.key, &self.value].map(|layer| heads(&layer.forward(x)));
        let attended = q.scaled_dot_product_attention(&k, &v, Where(mask), None);
        let attended: Features = attended.transpose(axis![1], axis![2]).flatten_axes(axis![2], axis![3]);
        let x = self.attended_norm.run(&(self.attended.forward(&attended) + x));
        let inner = self.widen.forward_with(&x, ops::gelu {});
        self.norm.run(&(self.narrow.forward(&inner) + &x))
    }
}

/// The features split among twelve heads: (batch, heads, words, 32).
fn heads(x: &Features) -> Tensor<f32, (Batch, dim!(12), Seq, dim!(32))> {
    x.unflatten::<shape![12, 32], _>(axis![2]).transpose(axis![1], axis![2])
}

/// The encoder.
pub struct Model {
    embeddings: Embeddings,
    layers: Vec<Layer>,
}

impl Model {
    /// Reads the weights from a folder's `model.safetensors`, which may contain others.
    ///
    /// # Errors
    /// If there is no such file, or weights are missing or of another shape or dtype.
    pub fn open(folder: &str) -> Result<Self> {
        let file = Checkpoint::open(format!("{folder}/model.safetensors"))?;
        Ok(Self::new(LoadOptions::new().allow_unexpected().load(&file)?))
    }

    fn new(File { embeddings, encoder }: File) -> Self {
        Model { embeddings, layers: encoder.layer.into_iter().map(Layer::new).collect() }
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
        Ok(Self::new(Module::load(&Checkpoint::from_bytes(writer.to_bytes()?)?)?))
    }

    /// A vector of length 1 for each sentence. The words are given as indices in the vocabulary; `mask` tells words from padding.
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
        for layer in &self.layers {
            x = layer.run(&x, &seen);
        }
        // The mean over the words, without the padding.
        let weights = mask.to::<f32>();
        let sums: Tensor<f32, (Batch, Hidden)> = (x * weights.unsqueeze(axis![-1])).sum_axis(axis![1]);
        let mean = sums / weights.sum_axis(axis![1].keepdim());
        mean.normalize(axis![1], 2.0, 1e-12)
    }
}

/// Elements as a tensor that can be written to a file.
fn made(list: Vec<f32>, sizes: &[usize]) -> Result<Box<dyn StoredTensor>> {
    Ok(match *sizes {
        [rows, columns] => Box::new(Tensor::<f32, shape![_, _]>::try_from_vec_sized(list, [rows, columns])?),
        _ => Box::new(Tensor::<f32, shape![_]>::try_from_vec_sized(list, [sizes.iter().product()])?),
    })
}
