//! Learns to read handwritten digits, from bytes to a confusion matrix. This is castiron's tutorial: read it from top to bottom.
//!
//! `cargo run --release -p digits`, and on a GPU `cargo run --release -p digits --features cuda -- --device cuda:0`
//!
//! A network of two layers and plain gradient descent. Every shape and every dtype is in a type: change a size, forget a transpose or use
//! the gradients of another network, and it does not compile.

mod read;

use castiron::data::Batches;
use castiron::grad::Grad;
use castiron::optim::Sgd;
use castiron::reduction::Mean;
use castiron::{Cpu, Cuda, Device, Dim, Generator, Module, Tensor, axis, dim, dims, formula, shape};
use std::error::Error;
use std::time::Instant;

// Sizes that the compiler knows are numbers. Sizes that come with the data get a name: the compiler does not know how many examples there
// are, but it knows that there are as many images as labels, and does not let the two sets be mixed up.
dims! {
    /// The digits to train on.
    Train,
    /// The digits held out for testing.
    Test,
}
type Pixels = dim!(64);
type Hidden = dim!(96);
type Classes = dim!(10);

/// The activation of the hidden layer. There is a `leaky_relu`; this one shows how an operation of one's own is written: a formula, which
/// castiron reads as a loop of vectors, as a kernel of a GPU, and on the tape as its own derivative.
#[formula(method)]
fn leaky<F: Float>(x: F) -> F {
    select(x.gt(0), x, 0.01 * x)
}

const EPOCHS: usize = 40;
const BATCH: usize = 32;
const LEARNING_RATE: f64 = 0.2;

fn main() -> Result<(), Box<dyn Error>> {
    // The device is a type as well. The functions below are generic over it; which one they run on is chosen here.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] | ["--device", "cpu"] => run::<Cpu>(),
        ["--device", "cuda" | "cuda:0"] => run::<Cuda<0>>(),
        _ => Err("usage: digits [--device cpu|cuda:0]".into()),
    }
}

fn run<D: Device>() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let generator = &mut Generator::seeded(7);

    // 1. Read a file into tensors whose number of rows is only known at run time: `_` in `shape!`.
    let (images, labels): (Tensor<u8, shape![_, 64]>, Tensor<i64, shape![_]>) = read::read_digits()?;
    println!(
        "{} digits of {} pixels; the first one as a tensor of `{}`:",
        images.shape()[0],
        images.shape()[1],
        images.dtype()
    );
    println!("{}\n", images.select(axis![0], 0).reshape::<shape![8, 8]>());

    // 2. Shuffle, and hold out a fifth. `with_shape` gives the sizes their names; `try_with_shape` returns an error if the sizes do not
    // match.
    let order = Tensor::<i64, shape![_]>::randperm(labels.numel(), generator);
    let (images, labels) = (rows(&images, &order), labels_of(&labels, &order));
    let held_out = labels.numel() / 5;
    let kept = labels.numel() - held_out;
    let train: Digits<Train, D> = Digits::new(images.narrow(axis![0], 0, kept), labels.narrow(axis![0], 0, kept))?;
    let test: Digits<Test, D> =
        Digits::new(images.narrow(axis![0], kept, held_out), labels.narrow(axis![0], kept, held_out))?;
    println!("{kept} digits to learn from, {held_out} held out\n");

    // 3. Train.
    let mut network = Network::<D>::new(generator)?;
    let mut sgd = Sgd::new(&network).rate(LEARNING_RATE);
    for epoch in 1..=EPOCHS {
        let loss = network.learn(&mut sgd, &train);
        if epoch == 1 || epoch % 4 == 0 {
            let done = 20 * epoch / EPOCHS;
            println!(
                "epoch {epoch:>2}/{EPOCHS} [{}{}] loss {loss:.4}, held-out accuracy {:.4}",
                "#".repeat(done),
                ".".repeat(20 - done),
                accuracy(&network.read(&test.images), &test.labels),
            );
        }
    }

    // 4. Test on the digits held out.
    let guesses = network.read(&test.images);
    let accuracy = accuracy(&guesses, &test.labels);
    println!("\naccuracy on the {held_out} held-out digits: {accuracy:.4}\n");
    println!("confusion matrix (rows: what it is, columns: what was read):");
    print_confusion(&confusion(&test.labels, &guesses).cpu()?);
    draw(&test.pixels, &test.labels.cpu()?, &guesses.cpu()?);
    println!("{:.2} s in all", start.elapsed().as_secs_f32());

    if accuracy < 0.96 {
        return Err(format!("the network reads too little: accuracy {accuracy:.4}, expected 0.96").into());
    }
    Ok(())
}

/// `N` pictures, as bytes to show and as floats on a device to compute with, and their labels.
struct Digits<N: Dim, D: Device> {
    pixels: Tensor<u8, (N, Pixels)>,
    images: Tensor<f32, (N, Pixels), D>,
    labels: Tensor<i64, (N,), D>,
}

impl<N: Dim, D: Device> Digits<N, D> {
    fn new(pixels: Tensor<u8, shape![_, 64]>, labels: Tensor<i64, shape![_]>) -> Result<Self, castiron::Error> {
        let pixels: Tensor<u8, (N, Pixels)> = pixels.try_with_shape()?;
        // Promotion works as in PyTorch: a byte tensor divided by a float gives an `f32` tensor. With `16` it would be the same, because
        // `/` is true division; `pixels /= 16.0` would not compile, because bytes cannot hold the result.
        let images: Tensor<f32, (N, Pixels), D> = &pixels.to_device::<D>()? / 16.0;
        Ok(Digits { pixels, images, labels: labels.try_with_shape()?.to_device()? })
    }
}

/// Two layers: 64 pixels to 96 features to 10 classes. A struct with `#[derive(Module)]` is a set of parameters: it can be saved, loaded, moved
/// to another device and differentiated.
#[derive(Module)]
struct Network<D: Device> {
    hidden_weight: Tensor<f32, (Pixels, Hidden), D>,
    hidden_bias: Tensor<f32, (Hidden,), D>,
    output_weight: Tensor<f32, (Hidden, Classes), D>,
    output_bias: Tensor<f32, (Classes,), D>,
}

impl<D: Device> Network<D> {
    fn new(generator: &mut Generator) -> Result<Self, castiron::Error> {
        // All sizes are known, so constructors take none. Weights are normally distributed, scaled so that activations keep their size.
        Ok(Network {
            hidden_weight: Tensor::try_normal(0.0, (2.0_f64 / 64.0).sqrt(), generator)?,
            hidden_bias: Tensor::try_zeros()?,
            output_weight: Tensor::try_normal(0.0, (2.0_f64 / 96.0).sqrt(), generator)?,
            output_bias: Tensor::try_zeros()?,
        })
    }

    /// The logits of each class. Generic over the number of examples: `N: Dim` is all that is needed, and the type of the result says that
    /// it has the same rows.
    fn forward<N: Dim>(&self, images: &Tensor<f32, (N, Pixels), D>) -> Tensor<f32, (N, Classes), D> {
        // `(N, 64) @ (64, 96)` is `(N, 96)`; the bias, `(96)`, is broadcast over the rows. The types say all of this.
        let hidden: Tensor<f32, (N, Hidden), D> = (images.matmul(&self.hidden_weight) + &self.hidden_bias).leaky();
        hidden.matmul(&self.output_weight) + &self.output_bias
    }

    /// The class of each picture: the one with the largest logit.
    fn read<N: Dim>(&self, images: &Tensor<f32, (N, Pixels), D>) -> Tensor<i64, (N,), D> {
        self.forward(images).argmax_axis(axis![1])
    }

    /// One pass over the examples in batches; returns the mean loss.
    fn learn(&mut self, sgd: &mut Sgd<Self>, train: &Digits<Train, D>) -> f32 {
        let mut total = 0.0;
        // Batches are views of some rows: nothing is copied. There are fewer rows than `Train`, so their first axis is called `Batch`.
        for (images, labels) in Batches::new((&train.images, &train.labels), BATCH) {
            total += self.step(sgd, &images, &labels) * labels.numel() as f32;
        }
        total / train.labels.numel() as f32
    }

    /// One step of gradient descent; returns the loss before it.
    fn step<N: Dim>(
        &mut self,
        sgd: &mut Sgd<Self>,
        images: &Tensor<f32, (N, Pixels), D>,
        labels: &Tensor<i64, (N,), D>,
    ) -> f32 {
        // The closure computes the loss: cross-entropy is minus the logarithm of the probability of the right class, on average. Inside of
        // it the network is on a tape, the device `Taped<D>`, which records what is computed. The images and labels are passed beside it,
        // since tensors of two devices do not meet.
        let (loss, gradients) = self.value_and_grad((images, labels), |network, (images, labels)| {
            network.forward(images).cross_entropy(labels, (), -100, 0.0, Mean)
        });
        // The gradients are a `Network`, too: each has the shape and the dtype of its tensor. Those of another struct would not compile here.
        sgd.step(self, &gradients);
        loss.item()
    }
}

/// A mask with one `true` per row, in the column of the label: `(N, 1)` against `(10)` broadcasts to `(N, 10)`.
fn one_hot<N: Dim, D: Device>(labels: &Tensor<i64, (N,), D>) -> Tensor<bool, (N, Classes), D> {
    let classes = Tensor::<i64, (Classes,), D>::arange(0, 10, 1);
    labels.unsqueeze(axis![1]).eq(classes)
}

/// The share of correct guesses. `N` occurs twice: guesses for one set cannot be compared with the labels of the other.
fn accuracy<N: Dim, D: Device>(guesses: &Tensor<i64, (N,), D>, labels: &Tensor<i64, (N,), D>) -> f32 {
    // The mean of bools is not defined, nor is it in PyTorch: convert them first.
    guesses.eq(labels).to::<f32>().mean().item()
}

/// How often each digit was read as each other: the product of two one-hot tables, counted in integers.
fn confusion<N: Dim, D: Device>(
    labels: &Tensor<i64, (N,), D>,
    guesses: &Tensor<i64, (N,), D>,
) -> Tensor<i64, (Classes, Classes), D> {
    one_hot(labels).to::<i64>().t().matmul(one_hot(guesses).to::<i64>())
}

fn print_confusion(counts: &Tensor<i64, (Classes, Classes)>) {
    println!("      {}", (0..10).map(|digit| format!("{digit:>4}")).collect::<String>());
    for truth in 0..10 {
        let row: String = (0..10)
            .map(|guess| match counts[(truth, guess)] {
                0 => "   .".to_owned(),
                count => format!("{count:>4}"),
            })
            .collect();
        println!("    {truth} {row}");
    }
    println!();
}

/// Shows some digits with the guesses and labels, mistakes first.
fn draw(pictures: &Tensor<u8, (Test, Pixels)>, labels: &Tensor<i64, (Test,)>, guesses: &Tensor<i64, (Test,)>) {
    const SHADES: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '#', '@'];
    let wrong: Vec<usize> = (0..guesses.numel()).filter(|&at| guesses[at] != labels[at]).collect();
    let right = (0..guesses.numel()).filter(|at| !wrong.contains(at));
    let shown: Vec<usize> = wrong.iter().copied().take(4).chain(right.take(4)).collect();

    for line in 0..8 {
        let pixels = |at: usize| -> String {
            (0..8).flat_map(|column| [SHADES[usize::from(pictures[(at, 8 * line + column)]) / 2]; 2]).collect()
        };
        println!("{}", shown.iter().map(|&at| pixels(at)).collect::<Vec<_>>().join("  "));
    }
    let captions = shown.iter().map(|&at| {
        let (guess, label) = (guesses[at], labels[at]);
        format!("{:<16}", if guess == label { format!("read {guess}") } else { format!("read {guess}, is {label}") })
    });
    println!("{}\n", captions.collect::<Vec<_>>().join("  "));
}

/// The rows of a tensor in another order.
fn rows(images: &Tensor<u8, shape![_, 64]>, order: &Tensor<i64, shape![_]>) -> Tensor<u8, shape![_, 64]> {
    Tensor::<u8, shape![_, 64]>::from_fn_sized(images.shape(), |[row, column]| images[(order[row] as usize, column)])
}

/// The labels in another order.
fn labels_of(labels: &Tensor<i64, shape![_]>, order: &Tensor<i64, shape![_]>) -> Tensor<i64, shape![_]> {
    order.iter().map(|&at| labels[at as usize]).collect()
}
