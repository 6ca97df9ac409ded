//! ResNet-18, as described by He et al. ("Deep Residual Learning for Image Recognition", 2015), with torchvision's names of weights.
//!
//! Channels and sizes are numbers in the types: a block that does not fit the one before it does not compile.

use castiron::io::{CheckpointWriter, LoadOptions, StoredTensor};
use castiron::nn::{Conv, Half, PackedConv, Pool, Same};
use castiron::{Checkpoint, Dim, Known, Module, Result, Tensor, axis, dim, dims, fused, ops, shape};
use std::time::{Duration, Instant};

dims! {
    /// Pictures.
    pub Batch,
}
/// Pictures of red, green and blue.
pub type Pictures = Tensor<f32, (Batch, dim!(3), dim!(224), dim!(224))>;
/// A score for each of a thousand classes.
pub type Scores = Tensor<f32, (Batch, dim!(1000))>;

/// The file's tensors of a batch norm after a convolution.
#[derive(Module)]
struct Norm<C: Dim> {
    weight: Tensor<f32, (C,)>,
    bias: Tensor<f32, (C,)>,
    running_mean: Tensor<f32, (C,)>,
    running_var: Tensor<f32, (C,)>,
    num_batches_tracked: Option<Tensor<i64, ()>>,
}
#[derive(Module)]
struct Weight<O: Dim, C: Dim, K: Dim> {
    weight: Tensor<f32, (O, C, K, K)>,
}
#[derive(Module)]
struct BlockFile<O: Dim, C: Dim> {
    conv1: Weight<O, C, dim!(3)>,
    bn1: Norm<O>,
    conv2: Weight<O, O, dim!(3)>,
    bn2: Norm<O>,
}
#[derive(Module)]
struct DownFile<O: Dim, C: Dim> {
    conv1: Weight<O, C, dim!(3)>,
    bn1: Norm<O>,
    conv2: Weight<O, O, dim!(3)>,
    bn2: Norm<O>,
    #[module(rename = "downsample.0")]
    shortcut: Weight<O, C, dim!(1)>,
    #[module(rename = "downsample.1")]
    shortcut_norm: Norm<O>,
}
#[derive(Module)]
struct StageFile<O: Dim, C: Dim> {
    #[module(rename = "0")]
    first: DownFile<O, C>,
    #[module(rename = "1")]
    second: BlockFile<O, O>,
}
#[derive(Module)]
struct File {
    conv1: Weight<dim!(64), dim!(3), dim!(7)>,
    bn1: Norm<dim!(64)>,
    layer1: Vec<BlockFile<dim!(64), dim!(64)>>,
    layer2: StageFile<dim!(128), dim!(64)>,
    layer3: StageFile<dim!(256), dim!(128)>,
    layer4: StageFile<dim!(512), dim!(256)>,
    fc: Linear,
}
#[derive(Module)]
struct Linear {
    weight: Tensor<f32, shape![1000, 512]>,
    bias: Tensor<f32, shape![1000]>,
}

/// The options of convolutions that keep the size, and of those that halve it.
type Keeping = Conv<dim!(1), Same>;
type Halving = Conv<dim!(2), Half>;

/// A convolution with the batch norm after it folded in, `norm(conv(x)) == conv'(x) + bias'`, its weight packed once.
type Folded<O, C, K, Moving> = PackedConv<f32, (O, C, K, K), Moving>;

fn folded<O: Dim, C: Dim, K: Dim, S, P>(
    conv: &Weight<O, C, K>,
    norm: &Norm<O>,
    moving: Conv<S, P>,
) -> Folded<O, C, K, Conv<S, P>> {
    let _ = &norm.num_batches_tracked;
    let factor = &norm.weight / (&norm.running_var + 1e-5).sqrt();
    let bias = &norm.bias - &norm.running_mean * &factor;
    let factor = factor.unsqueeze(axis![-1]).unsqueeze(axis![-1]).unsqueeze(axis![-1]);
    let weight: Tensor<f32, (O, C, K, K)> = &conv.weight * factor;
    weight.pack_conv2d(Some(&bias), moving)
}

/// Two convolutions that keep the size; the input is added to the result.
struct Block<C: Dim> {
    first: Folded<C, C, dim!(3), Keeping>,
    second: Folded<C, C, dim!(3), Keeping>,
}
impl<C: Known> Block<C> {
    fn new(file: &BlockFile<C, C>) -> Self {
        let keeping = Conv::new().padding::<Same>();
        Block { first: folded(&file.conv1, &file.bn1, keeping), second: folded(&file.conv2, &file.bn2, keeping) }
    }

    fn run<H: Dim, W: Dim>(&self, x: &Tensor<f32, (Batch, C, H, W)>) -> Tensor<f32, (Batch, C, H, W)> {
        let y = self.second.forward(&self.first.forward_with(x, ops::relu {}));
        fused!((y + x).relu())
    }
}

/// A stage: a block that halves the size and has `O` channels, then a plain block.
struct Stage<O: Dim, C: Dim> {
    first: Folded<O, C, dim!(3), Halving>,
    second: Folded<O, O, dim!(3), Keeping>,
    shortcut: Folded<O, C, dim!(1), Halving>,
    block: Block<O>,
}
impl<O: Known, C: Known> Stage<O, C> {
    fn new(file: &StageFile<O, C>) -> Self {
        let StageFile { first, second } = file;
        let (keeping, halving) = (Conv::new().padding::<Same>(), Conv::new().stride::<dim!(2)>().padding::<Half>());
        Stage {
            first: folded(&first.conv1, &first.bn1, halving),
            second: folded(&first.conv2, &first.bn2, keeping),
            shortcut: folded(&first.shortcut, &first.shortcut_norm, halving),
            block: Block::new(second),
        }
    }

    fn run<H: Dim, W: Dim>(
        &self,
        x: &Tensor<f32, (Batch, C, H, W)>,
    ) -> Tensor<f32, (Batch, O, H::CeilDiv<dim!(2)>, W::CeilDiv<dim!(2)>)> {
        let shortcut = self.shortcut.forward(x);
        let y = self.second.forward(&self.first.forward_with(x, ops::relu {}));
        self.block.run(&fused!((y + shortcut).relu()))
    }
}

/// The network.
pub struct Model {
    stem: Folded<dim!(64), dim!(3), dim!(7), Halving>,
    blocks: Vec<Block<dim!(64)>>,
    stage2: Stage<dim!(128), dim!(64)>,
    stage3: Stage<dim!(256), dim!(128)>,
    stage4: Stage<dim!(512), dim!(256)>,
    head: Linear,
}

impl Model {
    /// Reads the weights from a file.
    ///
    /// # Errors
    /// If there is no such file, or weights are missing or of another shape or dtype.
    pub fn open(path: &str) -> Result<Self> {
        Ok(Self::new(LoadOptions::new().load(&Checkpoint::open(path)?)?))
    }

    fn new(file: File) -> Self {
        Model {
            stem: folded(&file.conv1, &file.bn1, Conv::new().stride::<dim!(2)>().padding::<Half>()),
            blocks: file.layer1.iter().map(Block::new).collect(),
            stage2: Stage::new(&file.layer2),
            stage3: Stage::new(&file.layer3),
            stage4: Stage::new(&file.layer4),
            head: file.fc,
        }
    }

    /// Weights from a formula.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn synthetic(make: impl Fn(&str, &[usize]) -> Vec<f32>) -> Result<Self> {
        let mut tensors: Vec<(String, Box<dyn StoredTensor>)> = vec![];
        let vector = |name: String, size: usize, tensors: &mut Vec<(String, Box<dyn StoredTensor>)>| -> Result<()> {
            let tensor = Tensor::<f32, shape![_]>::try_from_vec_sized(make(&name, &[size]), [size])?;
            tensors.push((name, Box::new(tensor)));
            Ok(())
        };
        let mut conv = |name: String, norm: String, sizes: [usize; 4]| -> Result<()> {
            let weight = format!("{name}.weight");
            let tensor = Tensor::<f32, shape![_, _, _, _]>::try_from_vec_sized(make(&weight, &sizes), sizes)?;
            tensors.push((weight, Box::new(tensor)));
            for part in ["weight", "bias", "running_mean", "running_var"] {
                vector(format!("{norm}.{part}"), sizes[0], &mut tensors)?;
            }
            Ok(())
        };
        conv("conv1".to_owned(), "bn1".to_owned(), [64, 3, 7, 7])?;
        let mut channels = 64;
        for (stage, out) in [(1, 64), (2, 128), (3, 256), (4, 512)] {
            for block in 0..2 {
                let name = format!("layer{stage}.{block}");
                conv(format!("{name}.conv1"), format!("{name}.bn1"), [out, channels, 3, 3])?;
                conv(format!("{name}.conv2"), format!("{name}.bn2"), [out, out, 3, 3])?;
                if channels != out {
                    conv(format!("{name}.downsample.0"), format!("{name}.downsample.1"), [out, channels, 1, 1])?;
                }
                channels = out;
            }
        }
        let head = make("fc.weight", &[1000, 512]);
        tensors.push((
            "fc.weight".to_owned(),
            Box::new(Tensor::<f32, shape![_, _]>::try_from_vec_sized(head, [1000, 512])?),
        ));
        let bias = Tensor::<f32, shape![_]>::try_from_vec_sized(make("fc.bias", &[1000]), [1000])?;
        tensors.push(("fc.bias".to_owned(), Box::new(bias)));
        let mut writer = CheckpointWriter::new();
        for (name, tensor) in &tensors {
            writer = writer.tensor(name.clone(), &**tensor);
        }
        Ok(Self::new(Module::load(&Checkpoint::from_bytes(writer.to_bytes()?)?)?))
    }

    /// The scores of pictures, and the time each part took. Pictures with the channels last in memory are fastest.
    pub fn run(&self, x: &Pictures) -> (Scores, Vec<(&'static str, Duration)>) {
        let mut times = vec![];
        let mut start = Instant::now();
        let mut lap = |what| {
            times.push((what, start.elapsed()));
            start = Instant::now();
        };
        let x: Tensor<f32, (Batch, dim!(64), dim!(112), dim!(112))> = self.stem.forward_with(x, ops::relu {});
        lap("stem: 7 x 7, 64 channels");
        let mut x: Tensor<f32, (Batch, dim!(64), dim!(56), dim!(56))> =
            x.max_pool2d(Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<Half>());
        lap("the largest of 3 x 3");
        for block in &self.blocks {
            x = block.run(&x);
        }
        lap("64 channels, 56 x 56");
        let x: Tensor<f32, (Batch, dim!(128), dim!(28), dim!(28))> = self.stage2.run(&x);
        lap("128 channels, 28 x 28");
        let x: Tensor<f32, (Batch, dim!(256), dim!(14), dim!(14))> = self.stage3.run(&x);
        lap("256 channels, 14 x 14");
        let x: Tensor<f32, (Batch, dim!(512), dim!(7), dim!(7))> = self.stage4.run(&x);
        lap("512 channels, 7 x 7");
        let scores = x.mean_axis(axis![2, 3]).linear(&self.head.weight, Some(&self.head.bias));
        lap("mean and classes");
        (scores, times)
    }
}
