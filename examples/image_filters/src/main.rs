//! Applies filters to a photograph, and shows the uses of typed tensors on the way: layouts that change without a copy, statistics that
//! broadcast back, formulas that run in one pass, sizes that are checked where tensors are combined.
//!
//! `cargo run --release -p image_filters -- [picture.jpg] [directory]`, and on a GPU
//! `cargo run --release -p image_filters --features cuda -- --device cuda:0`
//!
//! The filters are in `filters.rs`, written as in a library; `jpeg.rs` reads photographs, `../pictures` writes pictures.

mod arguments;
mod filters;
mod jpeg;
#[path = "../../pictures/mod.rs"]
mod png;

use arguments::Arguments;
use castiron::{Cpu, Cuda, Device, Dim, Result, Tensor, axis, cat, dims, fused, shape, tensor};
use filters::{blur, edges, from_bytes, grey, mix, normalize, posterize, resize, statistics, to_bytes};
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

dims! {
    /// The rows of the photograph.
    Height,
    /// Its columns.
    Width,
    /// The rows of the resized photograph.
    NewHeight,
    /// Its columns.
    NewWidth,
}

fn main() -> ExitCode {
    // The device is a type as well: everything below is generic over it.
    let run = |arguments: Arguments| match &*arguments.device {
        "cpu" => run::<Cpu>(&arguments),
        "cuda" | "cuda:0" => run::<Cuda<0>>(&arguments),
        other => Err(format!("--device is cpu or cuda:0, not {other}").into()),
    };
    match Arguments::parse().and_then(|arguments| arguments.map_or(Ok(()), run)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("image_filters: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run<D: Device>(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments { picture: path, directory, scale, sigma, frames, .. } = arguments;
    // 1. Bytes, as a decoder gives them: row by row, the three channels of a pixel next to each other. The numbers of rows and
    // columns are known at run time, so these sizes have names; there are always three channels, so that is a number in the type.
    let image: Tensor<u8, shape![Height, Width, 3], D> = jpeg::read(path)?.to_device()?;
    // The filters want channels first. That is another order of axes over the same bytes: PyTorch's channels_last layout.
    let planes: Tensor<u8, shape![3, Height, Width], D> = image.permute(axis![2, 0, 1]);
    let [height, width, _] = image.shape();
    println!("{}: {width} x {height} pixels", path.display());
    println!("as decoded      {:?}, strides {:?}", image.shape(), image.stride());
    let copied = if planes.shares_storage(&image) { "a view" } else { "a copy" };
    println!("channels first  {:?}, strides {:?}: {copied}\n", planes.shape(), planes.stride());
    std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;

    // 2. Filters. Height and width stay in the types: pictures of another size could not be joined with these below.
    let steps = Steps::new(height * width);
    let photo: Tensor<f32, shape![3, Height, Width], D> =
        steps.run::<D, _>("bytes to 0..1", || Ok(from_bytes(&planes)))?;
    let normal = steps.run::<D, _>("normalize", || Ok(normalize(&photo)))?;
    let luma: Tensor<f32, shape![1, Height, Width], D> = steps.run::<D, _>("grey", || Ok(grey(&photo)))?;
    let blurred = steps.run::<D, _>(&format!("blur, sigma {sigma}"), || blur(&photo, *sigma))?;
    let outlines = steps.run::<D, _>("edges of grey", || edges(&luma))?;
    let matrix = tensor![[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]].to_device::<D>()?;
    let sepia = steps.run::<D, _>("sepia", || Ok(mix(&photo, &matrix)))?;
    let poster = steps.run::<D, _>("posterize", || Ok(posterize(&photo, 4)))?;
    let size = [height, width].map(|size| ((size as f64 * scale).round() as usize).max(1));
    let resized: Tensor<f32, shape![3, NewHeight, NewWidth], D> =
        steps.run::<D, _>(&format!("resize to {} x {}", size[1], size[0]), || resize(&photo, size, true))?;

    // 3. The effect on each channel.
    println!("\n                  mean of red, green, blue    standard deviation");
    describe("photograph", &photo)?;
    describe("normalized", &normal)?;
    describe("blurred", &blurred)?;
    describe("sepia", &sepia)?;
    describe("posterized", &poster)?;
    describe("resized", &resized)?;
    describe("grey", &luma)?;
    describe("edges", &outlines)?;

    // 4. Pictures to look at. The three in a row have the same height, and the compiler adds up their widths; both rows
    // have the same sum. (The resized picture would not compile in a row: `NewHeight` is not `Height`.) A picture with one channel
    // is expanded to three, which copies nothing.
    let shown = fused!(normal * 0.2 + 0.5);
    let strong = fused!(outlines / { outlines.amax().clamp_min(1e-6) });
    let top = cat((&photo, &shown, &blurred), axis![2]);
    let bottom = cat((strong.expand_as(&photo), &sepia, &poster), axis![2]);
    let sheet = cat((top, bottom), axis![1]);
    let mut pictures = vec![
        ("normalized.png", png(&shown)?),
        ("blurred.png", png(&blurred)?),
        ("grey.png", png(&luma)?),
        ("edges.png", png(&strong)?),
        ("sepia.png", png(&sepia)?),
        ("posterized.png", png(&poster)?),
        ("resized.png", png(&resized)?),
        ("side_by_side.png", png(&sheet)?),
    ];
    if *frames > 0 {
        pictures.push(("focus.png", animation(&photo, *frames)?));
    }
    println!();
    for (name, bytes) in pictures {
        let path = directory.join(name);
        png::write(&path, &bytes)?;
        println!("{} ({} KB)", path.display(), bytes.len() / 1000);
    }
    Ok(())
}

/// Prints the mean and the standard deviation of each channel on one line.
fn describe<C: Dim, H: Dim, W: Dim, D: Device>(name: &str, picture: &Tensor<f32, (C, H, W), D>) -> Result<()> {
    let numbers = |of: Vec<f32>| of.iter().map(|number| format!("{number:8.4}")).collect::<String>();
    let (mean, deviation) = statistics(picture);
    println!("{name:<16}{:<28}{}", numbers(mean.cpu()?.to_vec()), numbers(deviation.cpu()?.to_vec()));
    Ok(())
}

/// A picture of numbers from 0 to 1 as a PNG.
fn png<C: Dim, H: Dim, W: Dim, D: Device>(picture: &Tensor<f32, (C, H, W), D>) -> Result<Vec<u8>, Box<dyn Error>> {
    png::still(&to_bytes(picture).cpu()?)
}

/// The photograph coming into focus, as an animated PNG.
fn animation<H: Dim, W: Dim, D: Device>(
    photo: &Tensor<f32, shape![3, H, W], D>,
    frames: u32,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let [_, height, width] = photo.shape();
    let bar = progress(u64::from(frames), "focus.png");
    let images = (1..=frames).rev().map(|left| {
        bar.inc(1);
        to_bytes(&blur(photo, 0.3 * f64::from(left))?).cpu()
    });
    let animation = png::animated([height, width], frames, images);
    bar.finish_and_clear();
    animation
}

/// A progress bar, drawn only on terminals.
fn progress(steps: u64, what: &'static str) -> ProgressBar {
    // The template is a constant and valid.
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {eta}").expect("a template");
    ProgressBar::new(steps).with_style(style.progress_chars("#>.")).with_prefix(what)
}

/// Waits until the device has finished all work.
fn wait<D: Device>() -> Result<()> {
    #[cfg(feature = "cuda")]
    if D::name().starts_with("cuda") {
        castiron::device::synchronize(D::name())?;
    }
    Ok(())
}

/// Runs the steps and prints how long they take.
struct Steps {
    pixels: usize,
}

impl Steps {
    /// The fastest of this many runs counts.
    const RUNS: usize = 5;

    fn new(pixels: usize) -> Self {
        println!("step                           ms   Mpixel/s   (fastest of up to {})", Self::RUNS);
        Steps { pixels }
    }

    fn run<D: Device, T>(&self, name: &str, step: impl Fn() -> Result<T>) -> Result<T> {
        let mut fastest = Duration::MAX;
        let mut timed = || {
            let start = Instant::now();
            let result = step();
            wait::<D>()?;
            fastest = fastest.min(start.elapsed());
            result
        };
        let start = Instant::now();
        let mut result = timed()?;
        for _ in 1..Self::RUNS {
            // One run of a large picture takes long enough.
            if start.elapsed() > Duration::from_secs(1) {
                break;
            }
            result = timed()?;
        }
        let seconds = fastest.as_secs_f64().max(1e-9);
        println!("{name:<24}{:>9.2}{:>11.0}", 1e3 * seconds, self.pixels as f64 / seconds / 1e6);
        Ok(result)
    }
}
