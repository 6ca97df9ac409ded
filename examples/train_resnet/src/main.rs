//! Trains a ResNet-18 on pictures of 32 by 32 pixels, and says how many of those that were held out it recognises.
//!
//! `cargo run --release -p train_resnet` takes the digits of the example `digits`, four times as large, and an eighth of the paper's channels.
//!
//! | option | means |
//! |---|---|
//! | `--epochs N` | passes over the pictures |
//! | `--wide` | all of the paper's channels |
//! | `--bf16` | computes in `bf16`: convolutions and activations; weights, statistics and the loss stay `f32` |
//! | `--flips` | half of the pictures are seen in a mirror, which is good for photographs and bad for digits |
//! | `--folder FOLDER` | where checkpoints and the loss curve are written, `target/train_resnet` if not given |
//! | `--resume` | goes on with the last epoch that was saved |

#[path = "../../chart/mod.rs"]
mod chart;
mod model;
#[path = "../../digits/src/read.rs"]
mod read;

use castiron::data::{Batch, Batches, prefetched};
use castiron::grad::Grad;
use castiron::nn::Bilinear;
use castiron::optim::{OneCycle, Schedule, Sgd};
use castiron::pad::Constant;
use castiron::reduction::Mean;
use castiron::{
    Checkpoint, Cpu, Device, Dim, Float, Generator, Known, Module, Tensor, axis, bf16, dim, dims, shape, stack,
};
use chart::Series;
use model::{Mode, Narrow, Pictures, ResNet, Wide};
use std::error::Error;

dims! {
    /// Pictures that are held out.
    Test,
}
type Labels<N, D = Cpu> = Tensor<i64, (N,), D>;

const BATCH: usize = 32;
const RATE: f64 = 0.05;

#[derive(Clone)]
struct Options {
    epochs: usize,
    flips: bool,
    folder: String,
    resumes: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = "target/train_resnet".to_owned();
    let mut options = Options { epochs: 6, flips: false, folder, resumes: false };
    let (mut is_wide, mut is_bf16) = (false, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--epochs" => options.epochs = value()?.parse()?,
            "--folder" => options.folder = value()?,
            "--flips" => options.flips = true,
            "--resume" => options.resumes = true,
            "--wide" => is_wide = true,
            "--bf16" => is_bf16 = true,
            _ => {
                return Err(
                    "usage: train_resnet [--epochs N] [--wide] [--bf16] [--flips] [--folder FOLDER] [--resume]".into(),
                );
            }
        }
    }
    // Size and dtype are types: the compiler makes a program for each.
    let generator = &mut Generator::seeded(3);
    match (is_wide, is_bf16) {
        (false, false) => run::<f32, _, _, _, _>(Narrow::new(generator)?, &options),
        (false, true) => run::<bf16, _, _, _, _>(Narrow::new(generator)?, &options),
        (true, false) => run::<f32, _, _, _, _>(Wide::new(generator)?, &options),
        (true, true) => run::<bf16, _, _, _, _>(Wide::new(generator)?, &options),
    }
}

/// What is learned, and all that is needed to go on, in one file.
#[derive(Module)]
struct Training<M: Module> {
    net: M,
    sgd: Sgd<M>,
    /// The loss of each step.
    losses: Tensor<f32, shape![_]>,
}

impl<A: Known, B: Known, F: Known, G: Known> Training<ResNet<A, B, F, G>> {
    fn new(net: ResNet<A, B, F, G>) -> Self {
        // Biases, and what batch norms multiply by, are not decayed.
        // (`weight` is that of the last layer.)
        let is_of_norm = |name: &str| !name.contains("conv") && !name.contains("shortcut.weight") && name != "weight";
        let sgd = Sgd::new(&net).momentum(0.9).nesterov().decay(5e-4).group(is_of_norm, |group| group.decay = 0.0);
        Training { net, sgd, losses: Tensor::zeros_sized([0]) }
    }

    /// A step by a batch; returns the loss before it.
    fn step<E: Float, N: Dim>(&mut self, pictures: &Pictures<f32, N>, labels: &Labels<N>, rate: f64) -> f32 {
        let (loss, seen, gradients) = self.net.value_and_grad_with((pictures, labels), |net, (pictures, labels)| {
            // A clone shares its tensors, and copies those that it writes. What it writes are the running statistics: it is returned
            // beside the loss, and takes the place of the network.
            let mut net = net.clone();
            let loss = net.forward(&pictures.to::<E>(), Mode::Training).cross_entropy(labels, (), -100, 0.1, Mean);
            (loss, net)
        });
        self.net = seen;
        self.sgd.set_rate(rate);
        self.sgd.step(&mut self.net, &gradients);
        loss.item()
    }
}

impl<A: Known, B: Known, F: Known, G: Known, D: Device> ResNet<A, B, F, G, D> {
    /// The share of pictures that are recognised.
    fn accuracy<E: Float, N: Dim>(&self, pictures: &Pictures<f32, N, D>, labels: &Labels<N, D>) -> f32 {
        let mut net = self.clone();
        let (mut right, mut all) = (0.0, 0.0);
        for (pictures, labels) in Batches::new((pictures, labels), 100) {
            let guesses = net.forward(&pictures.to::<E>(), Mode::Reading).argmax_axis(axis![1]);
            right += guesses.eq(&labels).to::<f32>().sum().item();
            all += labels.numel() as f32;
        }
        right / all
    }
}

fn run<E: Float, A: Known, B: Known, F: Known, G: Known>(
    net: ResNet<A, B, F, G>,
    options: &Options,
) -> Result<(), Box<dyn Error>> {
    // 1. The pictures: digits of 8 by 8, four times as large, in grey, which is the same red, green and blue.
    let (pixels, labels) = read::read_digits()?;
    let (pictures, labels) = (enlarged(&pixels), labels);
    let order = Tensor::<i64, shape![_]>::randperm(labels.numel(), &mut Generator::seeded(7));
    let (pictures, labels) = (pictures.index_select(axis![0], &order), labels.index_select(axis![0], &order));
    let held_out = labels.numel() / 5;
    let test: Pictures<f32, Test> = pictures.narrow(axis![0], 0, held_out).try_with_shape()?;
    let test_labels: Labels<Test> = labels.narrow(axis![0], 0, held_out).try_with_shape()?;
    let count = labels.numel() - held_out;
    let pictures = pictures.narrow(axis![0], held_out, count);
    let labels = labels.narrow(axis![0], held_out, count);

    // 2. The network, new or as it was saved.
    let path = format!("{}/net.safetensors", options.folder);
    let mut training = if options.resumes { Training::load(&Checkpoint::open(&path)?)? } else { Training::new(net) };
    let epoch_len = count / BATCH;
    let schedule: Schedule = OneCycle::new(RATE, (options.epochs * epoch_len) as u64).into();
    println!("{count} pictures to learn from, {held_out} held out; computed in {}\n", E::DTYPE);

    // 3. Learn. A thread shuffles, shifts and mirrors the next batches meanwhile.
    std::fs::create_dir_all(&options.folder)?;
    let mut losses = training.losses.to_vec();
    for epoch in losses.len() / epoch_len..options.epochs {
        let mut generator = Generator::seeded(epoch as u64);
        let batches = Batches::new((&pictures, &labels), BATCH).shuffled(&mut generator).drop_last();
        let flips = options.flips;
        let batches = batches.map(move |(pictures, labels)| (augmented(&pictures, flips, &mut generator), labels));
        for (pictures, labels) in prefetched(batches, 2) {
            losses.push(training.step::<E, _>(&pictures, &labels, schedule.at(losses.len() as u64)));
        }
        training.losses = losses.iter().copied().collect();
        training.save(&path)?;
        let mean = losses[epoch * epoch_len..].iter().sum::<f32>() / epoch_len as f32;
        let accuracy = training.net.accuracy::<E, _>(&test, &test_labels);
        println!(
            "epoch {:>2}/{} {} loss {mean:.4}, held-out accuracy {accuracy:.4}",
            epoch + 1,
            options.epochs,
            chart::bar(epoch + 1, options.epochs)
        );
    }

    // 4. What it looks like, and whether it learned something.
    let curve = |each| [Series::counted("loss", '*', chart::smoothed(&losses, each))];
    println!("\n{}", chart::text(&curve(losses.len().div_ceil(72))));
    std::fs::write(format!("{}/loss.svg", options.folder), chart::svg("loss of each step", &curve(1)))?;
    println!("{path}\n{}/loss.svg\n", options.folder);
    let accuracy = training.net.accuracy::<E, _>(&test, &test_labels);
    println!("accuracy on the {held_out} held-out pictures: {accuracy:.4}");
    if accuracy < 0.95 {
        return Err(format!("the network recognises too little: accuracy {accuracy:.4}, expected 0.95").into());
    }
    Ok(())
}

/// Digits of 8 by 8 pixels from 0 to 16, as pictures of 32 by 32.
fn enlarged<N: Dim>(pixels: &Tensor<u8, (N, dim!(64))>) -> Pictures<f32, N> {
    let grey: Tensor<f32, (N, dim!(1), dim!(8), dim!(8))> =
        (pixels / 8.0 - 1.0).unflatten::<shape![1, 8, 8], _>(axis![1]);
    let large: Tensor<f32, (N, dim!(1), dim!(32), dim!(32))> = grey.interpolate::<shape![32, 32]>(Bilinear::new());
    let [count, ..] = large.shape();
    large.expand_sized::<(N, dim!(3), dim!(32), dim!(32))>([count, 3, 32, 32])
}

/// Each picture moved by up to four pixels, and some of them mirrored.
fn augmented(pictures: &Pictures<f32, Batch>, flips: bool, generator: &mut Generator) -> Pictures<f32, Batch> {
    let [count, ..] = pictures.shape();
    let padded: Tensor<f32, shape![Batch, 3, 40, 40]> = pictures.pad::<shape![4, 4, 4, 4], _>(Constant(-1.0));
    let shifts: Tensor<i64, shape![_, 2]> = Tensor::randint_sized([count, 2], 0, 9, generator);
    let mirrored: Tensor<bool, shape![_]> = Tensor::<f32, shape![_]>::rand_sized([count], generator).lt(0.5);
    let one = |at: usize| -> Tensor<f32, shape![3, 32, 32]> {
        let [down, right] = [shifts[(at, 0)] as usize, shifts[(at, 1)] as usize];
        let picture = padded.select(axis![0], at).narrow(axis![1], down, 32).narrow(axis![2], right, 32).with_shape();
        if flips && mirrored[at] { picture.flip(axis![2]) } else { picture }
    };
    stack((0..count).map(one).collect::<Vec<_>>(), axis![0]).with_shape()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Networks as small as can be: debug builds compute slowly.
    type Least = ResNet<dim!(2), dim!(2), dim!(2), dim!(4)>;

    fn pictures() -> (Pictures<f32, dim!(4)>, Labels<dim!(4)>) {
        (Tensor::normal(0.0, 1.0, &mut Generator::seeded(1)), Tensor::from_vec(vec![1, 2, 1, 2]))
    }

    #[test]
    fn learns_and_keeps_running_statistics() -> Result<(), Box<dyn Error>> {
        let (pictures, labels) = pictures();
        let mut training = Training::new(Least::new(&mut Generator::seeded(0))?);
        let saved = training.net.clone();
        let losses: Vec<f32> = (0..6).map(|_| training.step::<f32, _>(&pictures, &labels, 0.1)).collect();
        assert!(losses[5] < losses[0], "{losses:?}");
        let running = |net: &Least| -> Vec<Vec<f32>> {
            let is_running = |parameter: &castiron::io::Parameter<'_>| parameter.name.contains("running_mean");
            let parameters = net.named_parameters().into_iter().filter(is_running);
            parameters
                .filter_map(|one| Some(one.tensor.as_any().downcast_ref::<Tensor<f32, shape![2]>>()?.to_vec()))
                .collect()
        };
        // Those of the clone stayed, those of the network moved.
        assert!(running(&saved).iter().flatten().all(|&mean| mean == 0.0));
        assert!(running(&saved).len() > 10 && running(&training.net).iter().flatten().all(|&mean| mean != 0.0));
        Ok(())
    }

    #[test]
    fn the_loss_of_bf16_is_about_that_of_f32() -> Result<(), Box<dyn Error>> {
        let (pictures, labels) = pictures();
        let mut net = Training::new(Least::new(&mut Generator::seeded(0))?);
        let mut other = Training::new(net.net.clone());
        let (loss, of_bf16) =
            (net.step::<f32, _>(&pictures, &labels, 0.1), other.step::<bf16, _>(&pictures, &labels, 0.1));
        assert!((loss - of_bf16).abs() < 0.1 * loss, "{loss} {of_bf16}");
        Ok(())
    }

    #[test]
    fn pictures_are_shifted() {
        let (pictures, _) = pictures();
        let pictures: Pictures<f32, Batch> = pictures.with_shape();
        let moved = augmented(&pictures, true, &mut Generator::seeded(0));
        assert!(moved.shape() == pictures.shape() && moved.to_vec() != pictures.to_vec());
        assert!(moved.to_vec().iter().all(|x| *x == -1.0 || pictures.iter().any(|y| x == y)));
    }
}
