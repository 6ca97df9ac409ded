//! The network of `digits` on any number of ranks, each of which has its part of every batch.
//!
//! `cargo run --release -p mesh-digits -- --ranks 4`, or `mpirun -np 4 target/release/mesh-digits`; with neither there is one rank, and no
//! MPI is needed.
//!
//! The network is a struct of plain tensors, which every rank has. A batch is cut over the ranks; the loss of a batch is a sum of which each
//! rank has a part, and so are its gradients, in their types: a step with gradients that have not been put together does not compile.

#[path = "../../digits/src/read.rs"]
mod read;

use castiron::optim::Sgd;
use castiron::reduction::Mean;
use castiron::{Cpu, Device, Dim, Generator, Module, Tensor, axis, dim, dims, shape};
use castiron_mesh::{At, Dist, Mesh, mesh};
use std::error::Error;
use std::time::{Duration, Instant};

mesh! { Ranks: Data }
dims! { Batch, Held }
type Pixels = dim!(64);
type Hidden = dim!(96);
type Classes = dim!(10);
/// The rows of a batch that this rank has.
type Mine = At<Batch, Data>;

const EPOCHS: usize = 40;
const BATCH: usize = 32;
const RATE: f64 = 0.2;

/// Two layers, the same on every rank.
#[derive(Module)]
struct Network<D: Device = Cpu> {
    hidden_weight: Tensor<f32, (Pixels, Hidden), D>,
    hidden_bias: Tensor<f32, (Hidden,), D>,
    output_weight: Tensor<f32, (Hidden, Classes), D>,
    output_bias: Tensor<f32, (Classes,), D>,
}

impl<D: Device> Network<D> {
    fn forward<N: Dim>(&self, images: &Tensor<f32, (N, Pixels), D>) -> Tensor<f32, (N, Classes), D> {
        let hidden = (images.matmul(&self.hidden_weight) + &self.hidden_bias).relu();
        hidden.matmul(&self.output_weight) + &self.output_bias
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    castiron_mesh::launch()?;
    let mut mesh = Mesh::<Ranks>::join(&[0])?;
    let start = Instant::now();
    // What one rank fails at, as reading the file, all fail at.
    let (images, labels) = mesh.agree(read_shuffled().map_err(|error| error.to_string()))?;
    let kept = labels.numel() * 4 / 5;

    let generator = &mut Generator::seeded(7);
    let mut network: Network = Network {
        hidden_weight: Tensor::try_normal(0.0, (2.0_f64 / 64.0).sqrt(), generator)?,
        hidden_bias: Tensor::try_zeros()?,
        output_weight: Tensor::try_normal(0.0, (2.0_f64 / 96.0).sqrt(), generator)?,
        output_bias: Tensor::try_zeros()?,
    };
    let mut sgd = Sgd::new(&network).rate(RATE);
    let (mut loss, mut waiting) = (0.0, Duration::ZERO);
    for _ in 0..EPOCHS {
        loss = 0.0;
        for first in (0..kept).step_by(BATCH) {
            let size = BATCH.min(kept - first);
            let x = rows::<Batch, _>(&mesh, &images, first, size)?;
            let y = Dist::<i64, (Mine,)>::build(&mesh, [size], |at| {
                labels.try_narrow(axis![0], first + at[0].start, at[0].len())
            })?;
            let (part, gradients) = mesh.value_and_grad(&network, (&x, &y), |network, (x, y)| {
                // The mean over this rank's rows, weighted by how many these are: a part of the mean over the batch.
                x.mean_of_blocks(network.forward(x.block()).cross_entropy(y.block(), (), -100, 0.0, Mean))
            })?;
            let before = Instant::now();
            let gradients = gradients.all_reduce(&mesh)?;
            let part = part.all_reduce(&mesh)?;
            waiting += before.elapsed();
            sgd.step(&mut network, &gradients);
            loss += f64::from(part.item()) * size as f64;
        }
    }
    let trained = start.elapsed();

    // Judged by all ranks together, too: each counts its own.
    let held = labels.numel() - kept;
    let x = rows::<Held, _>(&mesh, &images, kept, held)?;
    let truth = Dist::<i64, (At<Held, Data>,)>::build(&mesh, [held], |at| {
        labels.try_narrow(axis![0], kept + at[0].start, at[0].len())
    })?;
    let guesses = Dist::<i64, (At<Held, Data>,)>::build(&mesh, [held], |_| {
        Ok::<_, castiron::Error>(network.forward(x.block()).argmax_axis(axis![1]))
    })?;
    let right = guesses.eq(&truth).to::<i64>().sum().all_reduce(&mesh)?.item();

    let accuracy = right as f32 / held as f32;
    let digest: f64 = network.hidden_weight.iter().map(|&weight| f64::from(weight)).sum();
    let (ranks, engine, sent) = (mesh.ranks(), mesh.engine(), mesh.sent());
    let mean = loss / kept as f64;
    mesh.alone_on(0, || {
        println!("{ranks} ranks, {engine}");
        println!("loss {mean:.6}, accuracy {accuracy:.4} ({right} of {held}), sum of weights {digest:.5}");
        println!(
            "{:.4} s in all, {:.1} % of them together with others: {} calls, {:.1} MB from each rank",
            trained.as_secs_f64(),
            100.0 * waiting.as_secs_f64() / trained.as_secs_f64(),
            sent.calls,
            sent.bytes as f64 / 1e6,
        );
    });
    if accuracy < 0.96 {
        return Err(format!("the network reads too little: accuracy {accuracy:.4}, expected 0.96").into());
    }
    Ok(())
}

/// Some of the pictures, of which each rank has a block.
fn rows<N: Dim, D: Dim>(
    mesh: &Mesh<Ranks>,
    images: &Tensor<f32, (D, Pixels)>,
    first: usize,
    count: usize,
) -> castiron_mesh::Result<Dist<f32, (At<N, Data>, Pixels)>> {
    Dist::build(mesh, [count, 64], |at| images.try_narrow(axis![0], first + at[0].start, at[0].len()))
}

/// The pictures and what they are, in another order, the same for all ranks.
#[allow(clippy::type_complexity)]
fn read_shuffled() -> Result<(Tensor<f32, shape![_, 64]>, Tensor<i64, shape![_]>), Box<dyn Error>> {
    let (images, labels) = read::read_digits()?;
    let order = Tensor::<i64, shape![_]>::randperm(labels.numel(), &mut Generator::seeded(7));
    let images = Tensor::from_fn_sized(images.shape(), |[row, column]: [usize; 2]| {
        f32::from(images[(order[row] as usize, column)]) / 16.0
    });
    Ok((images, order.iter().map(|&at| labels[at as usize]).collect()))
}
