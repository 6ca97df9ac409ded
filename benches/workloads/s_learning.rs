//! `s`: a step of learning: the network of the example `digits` with gradients written by hand and with those of the tape, a network of three
//! layers, ResNet-18, a block of a transformer, what recording costs, and single operations forward and backward (`s_backward`).
//! `benches/peers/letters.py s` is the same in PyTorch; `benches/peers/candle`, `burn` and `dfdx` take the same steps.

use super::harness::{Bench, Work};
use castiron::grad::Grad;
use castiron::nn::Causal;
use castiron::optim::Sgd;
use castiron::reduction::Mean;
use castiron::{
    ChannelsLast, Cpu, Device, Dim, Dtype, Float, Generator, Module, Tensor, axis, bf16, dim, einsum, where_,
};

#[path = "../../examples/train_resnet/src/model.rs"]
#[allow(dead_code)]
mod resnet;

type Pixels = dim!(64);
type Hidden = dim!(96);
type Classes = dim!(10);
type Pictures<N, D> = Tensor<f32, (N, Pixels), D>;
type Labels<N, D> = Tensor<i64, (N,), D>;

const RATE: f32 = 0.05;

#[derive(Module, Clone)]
struct Network<D: Device = Cpu> {
    hidden_weight: Tensor<f32, (Pixels, Hidden), D>,
    hidden_bias: Tensor<f32, (Hidden,), D>,
    output_weight: Tensor<f32, (Hidden, Classes), D>,
    output_bias: Tensor<f32, (Classes,), D>,
}

impl<D: Device> Network<D> {
    fn new(generator: &mut Generator) -> Self {
        Network {
            hidden_weight: Tensor::normal(0.0, (2.0_f64 / 64.0).sqrt(), generator),
            hidden_bias: Tensor::zeros(),
            output_weight: Tensor::normal(0.0, (2.0_f64 / 96.0).sqrt(), generator),
            output_bias: Tensor::zeros(),
        }
    }

    /// The activations of the hidden layer, and the logits of each class.
    fn forward<N: Dim>(&self, images: &Pictures<N, D>) -> (Tensor<f32, (N, Hidden), D>, Tensor<f32, (N, Classes), D>) {
        let hidden = (images.matmul(&self.hidden_weight) + &self.hidden_bias).relu();
        let logits = hidden.matmul(&self.output_weight) + &self.output_bias;
        (hidden, logits)
    }

    /// A step of gradient descent whose gradients are written out, layer by layer from the output; returns the loss before it.
    fn step_by_hand<N: Dim>(&mut self, images: &Pictures<N, D>, labels: &Labels<N, D>) -> f32 {
        let (hidden, logits) = self.forward(images);
        let classes = Tensor::<i64, (Classes,), D>::arange(0, 10, 1);
        let truth: Tensor<bool, (N, Classes), D> = labels.unsqueeze(axis![1]).eq(classes);
        let count = labels.numel() as f32;
        let loss = -where_(&truth, logits.log_softmax(axis![1]), 0).sum() / count;

        let d_logits = (logits.softmax(axis![1]) - truth.to::<f32>()) / count;
        let d_output_weight = hidden.t().matmul(&d_logits);
        let d_output_bias = d_logits.sum_axis(axis![0]);
        let d_hidden = d_logits.matmul(self.output_weight.t()) * hidden.gt(0);
        let d_hidden_weight = images.t().matmul(&d_hidden);
        let d_hidden_bias = d_hidden.sum_axis(axis![0]);

        self.hidden_weight -= d_hidden_weight * RATE;
        self.hidden_bias -= d_hidden_bias * RATE;
        self.output_weight -= d_output_weight * RATE;
        self.output_bias -= d_output_bias * RATE;
        loss.item()
    }

    /// The same with gradients of the tape.
    fn step<N: Dim>(&mut self, sgd: &mut Sgd<Self>, images: &Pictures<N, D>, labels: &Labels<N, D>) -> f32 {
        let (loss, gradients) = self.value_and_grad((images, labels), |network, (images, labels)| {
            network.forward(images).1.cross_entropy(labels, (), -100, 0.0, Mean)
        });
        sgd.step(self, &gradients);
        loss.item()
    }
}

type Seen = dim!(784);
type Middle = dim!(512);
type Width = dim!(768);
type Heads = dim!(12);
type Features = dim!(64);
type Inner = dim!(3072);

/// Three layers: 784, 512, 512, 10.
#[derive(Module, Clone)]
struct Mlp<D: Device = Cpu> {
    first: Tensor<f32, (Middle, Seen), D>,
    first_bias: Tensor<f32, (Middle,), D>,
    second: Tensor<f32, (Middle, Middle), D>,
    second_bias: Tensor<f32, (Middle,), D>,
    third: Tensor<f32, (Classes, Middle), D>,
    third_bias: Tensor<f32, (Classes,), D>,
}
impl<D: Device> Mlp<D> {
    fn new(generator: &mut Generator) -> Self {
        Mlp {
            first: Tensor::normal(0.0, 0.05, generator),
            first_bias: Tensor::zeros(),
            second: Tensor::normal(0.0, 0.05, generator),
            second_bias: Tensor::zeros(),
            third: Tensor::normal(0.0, 0.05, generator),
            third_bias: Tensor::zeros(),
        }
    }
    fn forward<N: Dim>(&self, x: &Tensor<f32, (N, Seen), D>) -> Tensor<f32, (N, Classes), D> {
        let x = x.linear(&self.first, Some(&self.first_bias)).relu();
        x.linear(&self.second, Some(&self.second_bias)).relu().linear(&self.third, Some(&self.third_bias))
    }
}

/// A block of GPT-2 small.
#[derive(Module, Clone)]
struct Block<E: Dtype, D: Device = Cpu> {
    scales: [Tensor<E, (Width,), D>; 4],
    heads: [Tensor<E, (Heads, Features, Width), D>; 3],
    output: Tensor<E, (Width, Heads, Features), D>,
    widen: Tensor<E, (Inner, Width), D>,
    widen_bias: Tensor<E, (Inner,), D>,
    narrow: Tensor<E, (Width, Inner), D>,
    narrow_bias: Tensor<E, (Width,), D>,
}
impl<E: Float, D: Device> Block<E, D> {
    fn new(generator: &mut Generator) -> Self {
        Block {
            scales: [Tensor::ones(), Tensor::zeros(), Tensor::ones(), Tensor::zeros()],
            heads: core::array::from_fn(|_| Tensor::normal(0.0, 0.02, generator)),
            output: Tensor::normal(0.0, 0.02, generator),
            widen: Tensor::normal(0.0, 0.02, generator),
            widen_bias: Tensor::zeros(),
            narrow: Tensor::normal(0.0, 0.02, generator),
            narrow_bias: Tensor::zeros(),
        }
    }
    fn forward<T: Dim>(&self, x: &Tensor<E, (T, Width), D>) -> Tensor<E, (T, Width), D> {
        let [scale, shift, inner_scale, inner_shift] = &self.scales;
        let normed = x.layer_norm(Some(scale), Some(shift), 1e-5);
        let [q, k, v] = self.heads.each_ref().map(|head| {
            let all: Tensor<E, (Heads, T, Features), D> = einsum!("tw,hfw->htf", &normed, head);
            all
        });
        let seen = q.scaled_dot_product_attention(&k, &v, Causal, None);
        let x = x + einsum!("htf,whf->tw", &seen, &self.output);
        let normed = x.layer_norm(Some(inner_scale), Some(inner_shift), 1e-5);
        let inner = normed.linear(&self.widen, Some(&self.widen_bias)).gelu();
        &x + inner.linear(&self.narrow, Some(&self.narrow_bias))
    }
}

/// A thousand additions of eight elements: what recording costs, with letting go of what was recorded.
fn chain<D: Device>(x: &Tensor<f32, (dim!(8),), D>) -> Tensor<f32, (dim!(8),), D> {
    (1..1000).fold(x + x, |y, _| y + x)
}

pub fn run(bench: &mut Bench) {
    let generator = &mut Generator::seeded(1);
    let x: Tensor<f32, (dim!(8),)> = Tensor::rand(generator);
    bench.run_as("plain", "s.chain_1000", Work::Calls, || chain(&x));
    bench.run_as("taped", "s.chain_1000", Work::Calls, || x.vjp((), |x, ()| chain(x)).0);
    let start = Network::<Cpu>::new(generator);
    for batch in [32, 1024] {
        let images: Pictures<castiron::data::Batch, Cpu> = Tensor::rand_sized([batch, 64], generator);
        let labels: Labels<castiron::data::Batch, Cpu> = Tensor::randint_sized([batch], 0, 10, generator);
        let name = format!("s.digits_step_{batch}");
        let mut network = start.clone();
        bench.run_as("by-hand", &name, Work::Calls, || network.step_by_hand(&images, &labels));
        let mut network = start.clone();
        let mut sgd = Sgd::new(&network).rate(f64::from(RATE));
        bench.run_as("taped", &name, Work::Calls, || network.step(&mut sgd, &images, &labels));
    }
    let images: Tensor<f32, (castiron::data::Batch, Seen)> = Tensor::rand_sized([64, 784], generator);
    let labels: Labels<castiron::data::Batch, Cpu> = Tensor::randint_sized([64], 0, 10, generator);
    let mut mlp = Mlp::<Cpu>::new(generator);
    let mut sgd = Sgd::new(&mlp).rate(f64::from(RATE));
    bench.run("s.mlp_step_64", Work::Calls, || {
        let (loss, gradients) = mlp.value_and_grad((&images, &labels), |mlp, (images, labels)| {
            mlp.forward(images).cross_entropy(labels, (), -100, 0.0, Mean)
        });
        sgd.step(&mut mlp, &gradients);
        loss.item()
    });
    let tokens: Tensor<f32, (Middle, Width)> = Tensor::rand(generator);
    block_step("s.block_step_512", bench, &Block::<f32>::new(generator), &tokens);
    block_step("s.block_step_512_bf16", bench, &Block::<bf16>::new(generator), &tokens.to::<bf16>());
    for batch in [1, 8, 32] {
        resnet_step(bench, batch);
    }
    super::s_backward::run(bench);
}

fn block_step<E: Float>(name: &str, bench: &mut Bench, block: &Block<E>, tokens: &Tensor<E, (Middle, Width)>) {
    bench.run(name, Work::Calls, || {
        block.value_and_grad((tokens,), |block, (tokens,)| block.forward(tokens).to::<f32>().square().mean())
    });
}

/// A step of the network of the example `train_resnet`, with pictures of 32 by 32 pixels.
fn resnet_step(bench: &mut Bench, batch: usize) {
    let generator = &mut Generator::seeded(1);
    let mut net = resnet::Wide::<Cpu>::new(generator).expect("there is memory");
    let mut sgd = Sgd::new(&net).rate(0.05);
    let pictures: resnet::Pictures<f32, castiron::data::Batch> = Tensor::rand_sized([batch, 3, 32, 32], generator);
    // Each batch in the layout that is fastest for it, as for the peer.
    let pictures = if batch == 1 { pictures } else { pictures.to_memory_format(ChannelsLast) };
    let labels: Labels<castiron::data::Batch, Cpu> = Tensor::randint_sized([batch], 0, 10, generator);
    bench.run(&format!("s.resnet18_step_{batch}"), Work::Calls, || {
        let (loss, seen, gradients) = net.value_and_grad_with((&pictures, &labels), |net, (pictures, labels)| {
            let mut net = net.clone();
            let loss = net.forward(pictures, resnet::Mode::Training).cross_entropy(labels, (), -100, 0.0, Mean);
            (loss, net)
        });
        net = seen;
        sgd.step(&mut net, &gradients);
        loss.item()
    });
}
