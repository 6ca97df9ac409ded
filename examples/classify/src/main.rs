//! Says what a photograph shows: ResNet-18, with every shape in its type.
//!
//! `cargo run --release -p classify -- WEIGHTS [PICTURE] [LABELS]`, where WEIGHTS is a file with torchvision's names, such as
//! `timm/resnet18.tv_in1k` has, and LABELS a text with a line for each class; or `-- --synthetic [PICTURE]`: weights from a formula
//! (`examples/synthetic`), which show how fast the network is but recognise nothing. `benches/peers/networks.py` computes the same in
//! PyTorch.

#[path = "../../image_filters/src/jpeg.rs"]
mod jpeg;
mod model;
#[path = "../../synthetic/mod.rs"]
mod synthetic;

use castiron::{ChannelsLast, Tensor, axis, dim, dims, shape, tensor};
use model::{Model, Pictures, Scores};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

dims! {
    /// Rows of the photograph.
    Height,
    /// Its columns.
    Width,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (model, rest) = match arguments.split_first() {
        Some((first, rest)) if first == "--synthetic" => (Model::synthetic(synthetic::elements)?, rest),
        Some((first, rest)) if !first.starts_with("--") => (Model::open(first)?, rest),
        _ => return Err("usage: classify WEIGHTS | --synthetic [PICTURE] [LABELS]".into()),
    };
    let own = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/flower.jpg"));
    let path = rest.first().map_or(own, PathBuf::from);
    let labels = rest.get(1).map(std::fs::read_to_string).transpose()?;
    let label = |class: usize| {
        let line = labels.as_deref().and_then(|labels| labels.lines().nth(class));
        line.map_or_else(|| format!("class {class}"), str::to_owned)
    };

    let picture = prepared(&path)?;
    // `count` copies of the picture: an axis that repeats, then a copy with the channels last.
    let pictures = |count: usize| -> Pictures {
        let repeated = picture.expand_sized::<shape![_, 3, 224, 224]>([count, 3, 224, 224]);
        repeated.to_memory_format(ChannelsLast).with_shape()
    };
    let (scores, _) = model.run(&pictures(1));
    let shares: Scores = scores.softmax(axis![1]);
    let (values, classes) = shares.topk::<dim!(5), _>(axis![1], true);
    println!("{}:", path.display());
    for place in 0..5 {
        println!("{:5.1} %  {}", 100.0 * values[(0, place)], label(classes[(0, place)] as usize));
    }

    for batch in [1, 8] {
        let pictures = pictures(batch);
        model.run(&pictures);
        let (mut runs, start) = (vec![], Instant::now());
        while runs.is_empty() || start.elapsed() < Duration::from_secs(2) {
            runs.push(model.run(&pictures).1);
        }
        let total = start.elapsed() / runs.len() as u32;
        println!(
            "\n{batch} at once: {:.1} ms, {:.0} per second",
            total.as_secs_f64() * 1e3,
            batch as f64 / total.as_secs_f64()
        );
        for part in 0..runs[0].len() {
            let spent = runs.iter().map(|run| run[part].1).sum::<Duration>() / runs.len() as u32;
            let share = spent.as_secs_f64() / total.as_secs_f64();
            let bar = "#".repeat((share * 50.0).round() as usize);
            println!("{:>26} {:7.2} ms  {bar}", runs[0][part].0, spent.as_secs_f64() * 1e3);
        }
    }
    Ok(())
}

/// The middle of a photograph, scaled to 224 by 224 pixels and normalised as in training: each channel by its mean and deviation.
fn prepared(path: &Path) -> Result<Tensor<f32, shape![3, 224, 224]>, Box<dyn Error>> {
    let photo: Tensor<u8, shape![Height, Width, 3]> = jpeg::read(path)?;
    let [height, width, _] = photo.shape();
    let side = height.min(width);
    let square: Tensor<u8, shape![_, _, 3]> =
        photo.narrow(axis![0], (height - side) / 2, side).narrow(axis![1], (width - side) / 2, side);
    let square: Tensor<f32, shape![3, _, _]> = (square.permute(axis![2, 0, 1]).to::<f32>() / 255.0).with_shape();
    // Each pixel is the mean of the pixels it covers.
    let small: Tensor<f32, shape![3, 224, 224]> = square.adaptive_avg_pool2d::<shape![224, 224]>();
    let mean: Tensor<f32, shape![3, 1, 1]> = tensor![[[0.485]], [[0.456]], [[0.406]]];
    let deviation: Tensor<f32, shape![3, 1, 1]> = tensor![[[0.229]], [[0.224]], [[0.225]]];
    Ok((small - mean) / deviation)
}
