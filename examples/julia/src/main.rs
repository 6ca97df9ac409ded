//! A zoom into Julia sets: one formula of four operands, which runs as vector loops on the host and as a kernel on a GPU.
//!
//! `cargo run --release -p julia -- [--size 640] [--frames 24] [picture.png]`, and on a GPU
//! `cargo run --release -p julia --features cuda -- --device cuda:0`
//!
//! A point `z` of the plane is moved to `z * z + c` again and again. It leaves the circle of radius 2 sooner or later, or never: that is what
//! the picture shows.

#[path = "../../pictures/mod.rs"]
mod png;

use castiron::{Cpu, Cuda, Device, Tensor, axis, dims, formula, fused, shape, stack};
use lexopt::prelude::*;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

dims! {
    /// Rows of the picture.
    Height,
    /// Its columns.
    Width,
}

/// After how many steps the point `x + iy` is far away, for `c = re + i im`: at most 160, and with a fraction, so that colours have no steps.
#[formula]
fn steps<F: Float>(x: F, y: F, re: F, im: F) -> F {
    const RADIUS: f64 = 16.0;
    let (mut a, mut b, mut count) = (x, y, 0.0 * x);
    for _ in 0..160 {
        let stays = (a * a + b * b).lt(RADIUS * RADIUS);
        let (next_a, next_b) = (a * a - b * b + re, 2.0 * a * b + im);
        // Both sides are computed: no element waits for another.
        (a, b) = (select(stays, next_a, a), select(stays, next_b, b));
        count += select(stays, 1.0, 0.0);
    }
    let distance = (a * a + b * b).sqrt();
    let far = (distance.log2() / 4.0).log2();
    select(distance.lt(RADIUS), 160.0, count - far)
}

/// A colour between dark and light that comes back every 32 steps, shifted for each channel; black inside of the set.
#[formula(method)]
fn shade<F: Float>(steps: F, shift: F) -> F {
    let wave = 0.5 - 0.5 * (steps * 0.196 + shift).cos();
    select(steps.ge(160.0), 0.0, 255.0 * wave.sqrt())
}

/// A picture of the part of the plane around a point.
fn picture<D: Device>(
    [height, width]: [usize; 2],
    scale: f64,
    c: [f64; 2],
) -> castiron::Result<Tensor<u8, shape![3, Height, Width], D>> {
    let line = |count: usize| {
        let middle = (count as f64 - 1.0) / 2.0;
        move |place: usize| ((place as f64 - middle) * scale / middle) as f32
    };
    let (across, down) = (line(width), line(height));
    let x = Tensor::<f32, shape![1, Width]>::from_fn_sized([1, width], |[_, at]| across(at)).to_device::<D>()?;
    let y = Tensor::<f32, shape![Height, 1]>::from_fn_sized([height, 1], |[at, _]| down(at)).to_device::<D>()?;
    let steps: Tensor<f32, shape![Height, Width], D> = x.apply(steps, (&y, c[0], c[1]));
    let channel = |shift: f64| fused!(steps.shade(shift).to::<u8>());
    Ok(stack((channel(0.3), channel(0.9), channel(1.8)), axis![0]))
}

fn film<D: Device>(size: usize, frames: u32, path: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let pictures = (0..frames).map(|frame| {
        let at = f64::from(frame) / f64::from(frames);
        // The point `c` goes around a circle, and the picture comes closer.
        let angle = 1.9 + 0.6 * at;
        let c = [0.7885 * angle.cos(), 0.7885 * angle.sin()];
        picture::<D>([size, size * 3 / 2], 1.4 * 0.5_f64.powf(at), c)?.to_device::<Cpu>()
    });
    let bytes = png::animated([size, size * 3 / 2], frames, pictures)?;
    png::write(path, &bytes)?;
    let pixels = size * size * 3 / 2 * frames as usize;
    let per_second = pixels as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!(
        "{} ({} frames, {} KB, {per_second:.1} million pixels a second)",
        path.display(),
        frames,
        bytes.len() / 1000
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut size, mut frames, mut device) = (640_usize, 24_u32, "cpu".to_owned());
    let mut path: PathBuf = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/julia.png").into();
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("size") => size = arguments.value()?.parse::<usize>()?.clamp(2, 8192),
            Long("frames") => frames = arguments.value()?.parse::<u32>()?.clamp(1, 10_000),
            Long("device") => device = arguments.value()?.string()?,
            Value(to) => path = to.into(),
            other => return Err(other.unexpected().into()),
        }
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match &*device {
        "cpu" => film::<Cpu>(size, frames, &path),
        "cuda" | "cuda:0" => film::<Cuda<0>>(size, frames, &path),
        other => Err(format!("--device is cpu or cuda:0, not {other}").into()),
    }
}
