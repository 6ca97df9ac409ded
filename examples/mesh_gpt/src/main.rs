//! A transformer that learns a text letter by letter on a mesh of ranks: texts are cut along one axis of the mesh, the network along the
//! other.
//!
//! `cargo run --release -p mesh-gpt -- [--ranks 4] [--model 2] [--steps 60] [--texts 32]`: `--model` is how many ranks share a network.

mod model;

use castiron::optim::AdamW;
use castiron::{Generator, Module, Tensor, shape};
use castiron_mesh::{Dist, Mesh};
use lexopt::prelude::*;
use model::{Context, Gpt, Grid, Mine};
use std::error::Error;
use std::time::{Duration, Instant};

const TEXT: &str = include_str!("../../../docs/forbidden.md");

fn main() -> Result<(), Box<dyn Error>> {
    castiron_mesh::launch()?;
    let (mut along_model, mut steps, mut texts) = (1_usize, 60_usize, 32_usize);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("model") => along_model = arguments.value()?.parse()?,
            Long("steps") => steps = arguments.value()?.parse()?,
            Long("texts") => texts = arguments.value()?.parse()?,
            Long("ranks") => drop(arguments.value()?),
            other => return Err(other.unexpected().into()),
        }
    }
    if ![1, 2, 4].contains(&along_model) || steps == 0 || texts == 0 {
        return Err("--model is 1, 2 or 4, since there are four heads; --steps and --texts are at least 1".into());
    }
    let mut mesh = Mesh::<Grid>::join(&[0, along_model])?;

    // Letters as numbers, the same on all ranks.
    let letters: Vec<char> = TEXT.chars().take(200_000).collect();
    let mut alphabet = letters.clone();
    alphabet.sort_unstable();
    alphabet.dedup();
    let numbers: Vec<i64> =
        letters.iter().map(|letter| alphabet.binary_search(letter).map_or(0, |at| at as i64)).collect();

    let generator = &mut Generator::seeded(11);
    let mut gpt = Gpt::new(&mesh, alphabet.len(), generator)?;
    let mut adam = AdamW::new(&gpt).rate(1e-3);
    let (start, mut waiting, mut first, mut last) = (Instant::now(), Duration::ZERO, 0.0, 0.0);
    for step in 0..steps {
        // Where the windows start: drawn by all ranks alike, of which each cuts its own.
        let starts = Tensor::<i64, shape![_]>::try_randint_sized([texts], 0, (numbers.len() - 65) as i64, generator)?;
        let windows = |next: usize| {
            Dist::<i64, (Mine, Context)>::build(&mesh, [texts, 64], |at| {
                Tensor::<i64, shape![_, 64]>::try_from_fn_sized([at[0].len(), 64], |[row, column]| {
                    numbers[starts[at[0].start + row] as usize + column + next]
                })
            })
        };
        let (text, next) = (windows(0)?, windows(1)?);
        let (loss, parts) =
            mesh.try_value_and_grad(&gpt, (&text, &next), |gpt, (text, next)| gpt.loss(text, next, &mesh))?;
        let before = Instant::now();
        let gradients = parts.all_reduce(&mesh)?;
        last = loss.all_reduce(&mesh)?.item();
        waiting += before.elapsed();
        adam.step(&mut gpt, &gradients);
        if step == 0 {
            first = last;
        }
    }
    let seconds = start.elapsed().as_secs_f64();

    let (ranks, engine, sent) = (mesh.ranks(), mesh.engine(), mesh.sent());
    let parameters: usize =
        gpt.named_parameters().iter().map(|parameter| parameter.tensor.sizes().iter().product::<usize>()).sum();
    let letters = (texts * 64 * steps) as f64;
    mesh.alone_on(0, || {
        println!("{ranks} ranks as {} x {along_model}, {engine}", ranks / along_model);
        println!("loss {first:.5} at first, {last:.5} after {steps} steps; {parameters} parameters on this rank");
        println!(
            "{seconds:.2} s, {:.0} letters a second; {:.0} % of the time with gradients; {} calls, {:.1} MB from each rank",
            letters / seconds,
            100.0 * waiting.as_secs_f64() / seconds,
            sent.calls,
            sent.bytes as f64 / 1e6,
        );
    });
    Ok(())
}
