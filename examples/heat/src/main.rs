//! Heat that spreads in a volume, which is cut into slices over ranks: each step a rank sends the two faces of its slice to its neighbours,
//! and computes the rest alone.
//!
//! `cargo run --release -p heat -- [--ranks 4] [--size 192] [--steps 200]`

use castiron::{Tensor, axis, dims, formula, fused, s};
use castiron_mesh::{At, Dist, Edge, Mesh, mesh};
use lexopt::prelude::*;
use std::error::Error;
use std::time::{Duration, Instant};

mesh! { Ranks: Space }
dims! { Depth, Height, Width }
/// A slice of the volume.
type Volume = (At<Depth, Space>, Height, Width);

/// A point after a step: what flows in from its six neighbours.
#[formula]
fn spread<F: Float>(here: F, around: F) -> F {
    here + 0.125 * (around - 6.0 * here)
}

fn main() -> Result<(), Box<dyn Error>> {
    castiron_mesh::launch()?;
    let (mut size, mut steps) = (192_usize, 200_usize);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("size") => size = arguments.value()?.parse()?,
            Long("steps") => steps = arguments.value()?.parse()?,
            Long("ranks") => drop(arguments.value()?),
            other => return Err(other.unexpected().into()),
        }
    }
    if size < 8 {
        return Err("--size is at least 8".into());
    }
    let mut mesh = Mesh::<Ranks>::join(&[0])?;

    // A hot ball; the faces of the volume are kept at 0.
    let middle = size / 2;
    let start = Dist::<f32, Volume>::from_fn(&mesh, [size; 3], |at| {
        let far: usize = at.iter().map(|&place| place.abs_diff(middle).pow(2)).sum();
        if far < (size / 8).pow(2) { 1.0 } else { 0.0 }
    })?;
    let heat_before = start.to::<f64>().sum().all_reduce(&mesh)?.item();

    let mut now = start.halo(axis![0], [1, 1], Edge::Zeros, &mesh)?;
    let mut next = now.clone();
    let (begin, mut waiting) = (Instant::now(), Duration::ZERO);
    for _ in 0..steps {
        let before = Instant::now();
        now.exchange(&mesh)?;
        waiting += before.elapsed();
        // One pass over the slice: views of the neighbours, no copy of any.
        let u = now.wide();
        let mut inner = next.inner_mut();
        fused! {
            inner.slice_mut(s![.., 1..-1, 1..-1]) = spread(
                u.slice(s![1..-1, 1..-1, 1..-1]),
                u.slice(s![..-2, 1..-1, 1..-1]) + u.slice(s![2.., 1..-1, 1..-1])
                    + u.slice(s![1..-1, ..-2, 1..-1]) + u.slice(s![1..-1, 2.., 1..-1])
                    + u.slice(s![1..-1, 1..-1, ..-2]) + u.slice(s![1..-1, 1..-1, 2..])
            )
        }
        std::mem::swap(&mut now, &mut next);
    }
    let seconds = begin.elapsed().as_secs_f64();

    let end = now.to_dist()?;
    let heat = end.to::<f64>().sum().all_reduce(&mesh)?.item();
    let hottest = end.amax().all_reduce(&mesh)?.item();
    let ceiling = copied_per_second(&mesh)?;
    let (ranks, engine, sent) = (mesh.ranks(), mesh.engine(), mesh.sent());
    // A step reads the volume and writes it.
    let rate = 2.0 * 4.0 * (size as f64).powi(3) * steps as f64 / seconds;
    mesh.alone_on(0, || {
        println!("{ranks} ranks, {engine}");
        println!(
            "{size} x {size} x {size} points, {steps} steps: heat {heat:.3} of {heat_before:.3}, hottest {hottest:.6}"
        );
        println!(
            "{seconds:.2} s, {:.0} % of them waiting for neighbours; {:.1} MB sent by each rank in {} calls",
            100.0 * waiting.as_secs_f64() / seconds,
            sent.bytes as f64 / 1e6,
            sent.calls,
        );
        println!(
            "{:.1} GB/s read and written, {:.2} of what copies of as many bytes reach ({:.1} GB/s)",
            rate / 1e9,
            rate / ceiling,
            ceiling / 1e9
        );
    });
    Ok(())
}

/// What all ranks together read and write in a second when they copy a slice each.
fn copied_per_second(mesh: &Mesh<Ranks>) -> Result<f64, Box<dyn Error>> {
    let from = Tensor::<f32, castiron::shape![_]>::try_ones_sized([1 << 24])?;
    let mut to = from.try_contiguous()?;
    let mut best = f64::MAX;
    for _ in 0..5 {
        mesh.barrier()?;
        let before = Instant::now();
        to.copy_from(&from);
        best = best.min(before.elapsed().as_secs_f64());
    }
    Ok(2.0 * 4.0 * (1 << 24) as f64 * mesh.ranks() as f64 / best)
}
