//! ResNet-18 for pictures of 32 by 32 pixels, after He et al. ("Deep Residual Learning for Image Recognition", 2015): the first convolution is
//! 3 x 3 and keeps the size, then there are four stages of two blocks.
//!
//! Channels and sizes are numbers in the types: a block that does not fit the one before it does not compile. Networks are generic over the
//! device, the number of pictures, and the dtype that is computed in; weights are `f32`.

use castiron::nn::{self, Half, Same};
use castiron::{Cpu, Device, Dim, Dyn, Float, Generator, Known, Module, Result, Tensor, axis, dim};

// (Names, since `#[derive(Clone)]` takes no macros in types.)
type Colours = dim!(3);
type Classes = dim!(10);
/// Rows and columns of the windows of convolutions.
type Three = dim!(3);
type One = dim!(1);

/// Pictures of red, green and blue.
pub type Pictures<E, N, D = Cpu> = Tensor<E, (N, Colours, dim!(32), dim!(32)), D>;
/// Pictures of half the size.
type Halved<E, N, C, H, W, D> = Tensor<E, (N, C, <H as Dim>::CeilDiv<dim!(2)>, <W as Dim>::CeilDiv<dim!(2)>), D>;

/// What a network is used for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Batches are normalised by their own means and variances, which the running ones follow.
    Training,
    /// Pictures are normalised by the running means and variances, each for itself.
    Reading,
}

/// A convolution of `C` channels to `O` channels.
#[derive(Module, Clone)]
struct Conv<O: Dim, C: Dim, K: Dim, D: Device = Cpu> {
    weight: Tensor<f32, (O, C, K, K), D>,
}
impl<O: Known, C: Known, K: Known, D: Device> Conv<O, C, K, D> {
    fn new(generator: &mut Generator) -> Result<Self> {
        let deviation = (2.0 / (C::VALUE * K::VALUE * K::VALUE) as f64).sqrt();
        Ok(Conv { weight: Tensor::try_normal(0.0, deviation, generator)? })
    }

    fn forward<E: Float, N: Dim, H: Dim, W: Dim>(&self, x: &Tensor<E, (N, C, H, W), D>) -> Tensor<E, (N, O, H, W), D> {
        x.conv2d(&self.weight.to::<E>(), None, nn::Conv::new().padding::<Same>())
    }
}
/// A batch norm. Its running statistics are saved with it, and frozen: they have no gradient, and optimisers leave them as they are.
#[derive(Module, Clone)]
struct Norm<C: Dim, D: Device = Cpu> {
    weight: Tensor<f32, (C,), D>,
    bias: Tensor<f32, (C,), D>,
    #[module(frozen)]
    running_mean: Tensor<f32, (C,), D>,
    #[module(frozen)]
    running_var: Tensor<f32, (C,), D>,
}
impl<C: Known, D: Device> Norm<C, D> {
    fn new() -> Result<Self> {
        Ok(Norm {
            weight: Tensor::try_ones()?,
            bias: Tensor::try_zeros()?,
            running_mean: Tensor::try_zeros()?,
            running_var: Tensor::try_ones()?,
        })
    }

    fn forward<E: Float, N: Dim, H: Dim, W: Dim>(
        &mut self,
        x: &Tensor<E, (N, C, H, W), D>,
        mode: Mode,
    ) -> Tensor<E, (N, C, H, W), D> {
        // Whatever the pictures' dtype is, statistics are of `f32`. A variance takes several elements, which a generic size does not promise:
        // it is looked at while running.
        let x: Tensor<f32, (Dyn, C, Dyn, Dyn), D> = x.to::<f32>().with_shape();
        let y = match mode {
            Mode::Training => {
                let running = (&mut self.running_mean, &mut self.running_var);
                x.batch_norm_training(running, &self.weight, &self.bias, 0.1, 1e-5)
            }
            Mode::Reading => x.batch_norm(&self.running_mean, &self.running_var, &self.weight, &self.bias, 1e-5),
        };
        y.to::<E>().with_shape()
    }
}

/// Two convolutions that keep the size; the input is added to the result.
#[derive(Module, Clone)]
struct Block<C: Dim, D: Device = Cpu> {
    conv1: Conv<C, C, Three, D>,
    bn1: Norm<C, D>,
    conv2: Conv<C, C, Three, D>,
    bn2: Norm<C, D>,
}
impl<C: Known, D: Device> Block<C, D> {
    fn new(generator: &mut Generator) -> Result<Self> {
        let (conv1, conv2) = (Conv::new(generator)?, Conv::new(generator)?);
        Ok(Block { conv1, bn1: Norm::new()?, conv2, bn2: Norm::new()? })
    }

    fn forward<E: Float, N: Dim, H: Dim, W: Dim>(
        &mut self,
        x: &Tensor<E, (N, C, H, W), D>,
        mode: Mode,
    ) -> Tensor<E, (N, C, H, W), D> {
        let y = self.bn1.forward(&self.conv1.forward(x), mode).relu();
        let y = self.bn2.forward(&self.conv2.forward(&y), mode);
        (y + x).relu()
    }
}

/// A stage: a block that halves the size and has `O` channels, then a plain one.
#[derive(Module, Clone)]
struct Stage<O: Dim, C: Dim, D: Device = Cpu> {
    conv1: Conv<O, C, Three, D>,
    bn1: Norm<O, D>,
    conv2: Conv<O, O, Three, D>,
    bn2: Norm<O, D>,
    shortcut: Conv<O, C, One, D>,
    shortcut_norm: Norm<O, D>,
    block: Block<O, D>,
}
impl<O: Known, C: Known, D: Device> Stage<O, C, D> {
    fn new(generator: &mut Generator) -> Result<Self> {
        Ok(Stage {
            conv1: Conv::new(generator)?,
            bn1: Norm::new()?,
            conv2: Conv::new(generator)?,
            bn2: Norm::new()?,
            shortcut: Conv::new(generator)?,
            shortcut_norm: Norm::new()?,
            block: Block::new(generator)?,
        })
    }

    fn forward<E: Float, N: Dim, H: Dim, W: Dim>(
        &mut self,
        x: &Tensor<E, (N, C, H, W), D>,
        mode: Mode,
    ) -> Halved<E, N, O, H, W, D> {
        let halving = nn::Conv::new().stride::<dim!(2)>().padding::<Half>();
        let shortcut = x.conv2d(&self.shortcut.weight.to::<E>(), None, halving);
        let shortcut = self.shortcut_norm.forward(&shortcut, mode);
        let y: Halved<E, N, O, H, W, D> = x.conv2d(&self.conv1.weight.to::<E>(), None, halving);
        let y = self.bn1.forward(&y, mode).relu();
        let y = self.bn2.forward(&self.conv2.forward(&y), mode);
        self.block.forward(&(y + shortcut).relu(), mode)
    }
}

/// The network, with `A` channels in its first stage, then `B`, `F` and `G`.
#[derive(Module, Clone)]
pub struct ResNet<A: Dim, B: Dim, F: Dim, G: Dim, D: Device = Cpu> {
    conv1: Conv<A, Colours, Three, D>,
    bn1: Norm<A, D>,
    layer1: [Block<A, D>; 2],
    layer2: Stage<B, A, D>,
    layer3: Stage<F, B, D>,
    layer4: Stage<G, F, D>,
    weight: Tensor<f32, (Classes, G), D>,
    bias: Tensor<f32, (Classes,), D>,
}
/// An eighth of the paper's channels: 0.2 million parameters, which read digits.
pub type Narrow<D = Cpu> = ResNet<dim!(8), dim!(16), dim!(32), dim!(64), D>;
/// The paper's channels: 11 million parameters.
pub type Wide<D = Cpu> = ResNet<dim!(64), dim!(128), dim!(256), dim!(512), D>;

impl<A: Known, B: Known, F: Known, G: Known, D: Device> ResNet<A, B, F, G, D> {
    /// A network that has learned nothing.
    pub fn new(generator: &mut Generator) -> Result<Self> {
        Ok(ResNet {
            conv1: Conv::new(generator)?,
            bn1: Norm::new()?,
            layer1: [Block::new(generator)?, Block::new(generator)?],
            layer2: Stage::new(generator)?,
            layer3: Stage::new(generator)?,
            layer4: Stage::new(generator)?,
            weight: Tensor::try_normal(0.0, 1.0 / (G::VALUE as f64).sqrt(), generator)?,
            bias: Tensor::try_zeros()?,
        })
    }

    /// A score for each class of each picture. In training the running statistics of `self` change.
    pub fn forward<E: Float, N: Dim>(&mut self, x: &Pictures<E, N, D>, mode: Mode) -> Tensor<f32, (N, Classes), D> {
        let mut x: Tensor<E, (N, A, dim!(32), dim!(32)), D> = self.bn1.forward(&self.conv1.forward(x), mode).relu();
        for block in &mut self.layer1 {
            x = block.forward(&x, mode);
        }
        let x: Tensor<E, (N, B, dim!(16), dim!(16)), D> = self.layer2.forward(&x, mode);
        let x: Tensor<E, (N, F, dim!(8), dim!(8)), D> = self.layer3.forward(&x, mode);
        let x: Tensor<E, (N, G, dim!(4), dim!(4)), D> = self.layer4.forward(&x, mode);
        x.to::<f32>().mean_axis(axis![2, 3]).linear(&self.weight, Some(&self.bias))
    }
}
