//! Clusters (k-means) and principal components of an array in a file, which may be larger than memory: each rank streams its blocks of each
//! chunk from the mapped file. What a chunk adds to the sums is pending and stays so over all chunks, which the types allow: ranks put
//! their parts together once in a pass.
//!
//! `cargo run --release -p mesh-pca -- [--ranks 4] [--points 2000000] [--chunk 262144] [FILE.npy]`
//!
//! Without a file, one is written to the folder for temporary files: points around eight centres.

use castiron::{Tensor, Uplo, axis, dim, dims, shape};
use castiron_mesh::{At, Dist, Mesh, Pending, Sum, mesh};
use lexopt::prelude::*;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mesh! { Ranks: Data }
dims! { Points }
type Features = dim!(16);
type Clusters = dim!(8);
type Mine = At<Points, Data>;

/// Points that all ranks together look at before the next, unless `--chunk` says how many.
const CHUNK: usize = 1 << 18;
const PASSES: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    castiron_mesh::launch()?;
    let (mut count, mut chunk, mut path) = (2_000_000_usize, CHUNK, None);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("points") => count = arguments.value()?.parse()?,
            Long("chunk") => chunk = arguments.value()?.parse()?,
            Long("ranks") => drop(arguments.value()?),
            Value(file) if path.is_none() => path = Some(PathBuf::from(file)),
            other => return Err(other.unexpected().into()),
        }
    }
    if count < 8 || chunk == 0 {
        return Err("--points is at least 8, --chunk at least 1".into());
    }
    let mut mesh = Mesh::<Ranks>::join(&[0])?;
    let path = match path {
        Some(path) => path,
        None => {
            let path = std::env::temp_dir().join(format!("castiron-points-{count}.npy"));
            let written = mesh.alone_on(0, || if path.exists() { Ok(()) } else { write_points(&path, count) });
            mesh.agree(written.unwrap_or(Ok(())))?;
            path
        }
    };
    // SAFETY: nobody writes to the file while it is mapped.
    let mapped = unsafe { Tensor::<f32, shape![_, 16]>::map_npy(&path) };
    let points = mesh.agree(mapped)?;
    let count = points.shape()[0];
    if count < 8 {
        return Err("there are fewer points than clusters".into());
    }
    let chunks = |mesh: &Mesh<Ranks>| {
        let block = |first: usize| {
            Dist::<f32, (Mine, Features)>::build(mesh, [chunk.min(count - first), 16], |at| {
                points.try_narrow(axis![0], first + at[0].start, at[0].len())
            })
        };
        (0..count).step_by(chunk).map(block).collect::<Vec<_>>()
    };

    let (start, mut waiting) = (Instant::now(), Duration::ZERO);
    // Eight points of the first rows are the first centres.
    let first = points.narrow(axis![0], 0, 8).try_with_shape::<(Clusters, Features)>()?;
    let mut centres: Dist<f32, (Clusters, Features)> = Dist::same(&mesh, first.try_contiguous()?)?;
    let mut moved = 0.0;
    for _ in 1..PASSES {
        let mut sums: Option<Dist<f32, (Clusters, Features), Pending<Sum, Data>>> = None;
        let mut counts: Option<Dist<f32, (Clusters,), Pending<Sum, Data>>> = None;
        let lengths = centres.square().sum_axis(axis![1]);
        for chunk in chunks(&mesh) {
            let x = chunk?;
            // |x - c|^2 without |x|^2, which is the same for all centres.
            let far = x.matmul(&centres.t()) * -2.0 + &lengths;
            let nearest = far.argmin_axis(axis![1]).unsqueeze(axis![1]);
            let clusters = Dist::same(&mesh, Tensor::<i64, (Clusters,)>::try_arange(0, 8, 1)?)?;
            let is_in: Dist<f32, (Mine, Clusters)> = nearest.eq(&clusters).to();
            let (sum, number) = (is_in.t().matmul(&x), is_in.sum_axis(axis![0]));
            // Parts of the same sums are added: nothing is sent here.
            sums = Some(match sums {
                Some(before) => before + sum,
                None => sum,
            });
            counts = Some(match counts {
                Some(before) => before + number,
                None => number,
            });
        }
        let before = Instant::now();
        let (Some(sums), Some(counts)) = (sums, counts) else { return Err("there are no points".into()) };
        let (sums, counts) = (sums.all_reduce(&mesh)?, counts.all_reduce(&mesh)?);
        waiting += before.elapsed();
        // A centre that nothing is near stays where it is.
        let next = &sums / &counts.clamp_min(1.0).unsqueeze(axis![1]);
        moved = (&next - &centres).abs().amax().item();
        centres = next;
    }

    // The covariance, whose eigenvectors every rank computes for itself.
    let (mut sums, mut products): (Option<Dist<f64, (Features,), _>>, Option<Dist<f64, (Features, Features), _>>) =
        (None, None);
    for chunk in chunks(&mesh) {
        let x = chunk?;
        let (sum, product) = (x.sum_axis(axis![0]), x.t().matmul(&x));
        // (Parts are added in `f64`: a chunk's in `f32`.)
        let (sum, product) = (sum.to_wider::<f64>(), product.to_wider::<f64>());
        sums = Some(match sums {
            Some(before) => before + sum,
            None => sum,
        });
        products = Some(match products {
            Some(before) => before + product,
            None => product,
        });
    }
    let before = Instant::now();
    let (Some(sums), Some(products)) = (sums, products) else { return Err("there are no points".into()) };
    let (mean, second) = (sums.all_reduce(&mesh)? / count as f64, products.all_reduce(&mesh)? / count as f64);
    waiting += before.elapsed();
    let covariance = &second - mean.unsqueeze(axis![1]) * mean.unsqueeze(axis![0]);
    let (variances, _) = covariance.whole().eigh(Uplo::Lower);
    let seconds = start.elapsed().as_secs_f64();

    let (ranks, engine, sent) = (mesh.ranks(), mesh.engine(), mesh.sent());
    let explained: f64 = (variances[15] + variances[14]) / covariance.whole().trace().item();
    let read = (PASSES * count * 64) as f64;
    let own = memory();
    mesh.alone_on(0, || {
        println!("{ranks} ranks, {engine}");
        println!(
            "{count} points, {:.0} MB: centres moved {moved:.5} at last, one at {:.4}, {:.4}",
            count as f64 * 64.0 / 1e6,
            centres.whole()[(3, 2)],
            centres.whole()[(7, 15)],
        );
        println!("largest variance {:.4}, the first two components explain {explained:.4}", variances[15]);
        println!(
            "{seconds:.2} s for {PASSES} passes, {:.2} GB/s; {:.0} % of them together with others: {} calls, {:.1} KB from each rank; \
             {own} of memory beside the mapped file",
            read / seconds / 1e9,
            100.0 * waiting.as_secs_f64() / seconds,
            sent.calls,
            sent.bytes as f64 / 1e3,
        );
    });
    Ok(())
}

/// What this rank has of memory of its own.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes: Option<f64> = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.map_or_else(|| "an unknown amount".to_owned(), |kilobytes| format!("{:.0} MB", kilobytes / 1e3))
}

/// Writes a file of points around eight centres, a piece at a time.
fn write_points(path: &Path, count: usize) -> Result<(), String> {
    let write = || -> std::io::Result<()> {
        let unfinished = path.with_extension("unfinished");
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&unfinished)?);
        // A header of NumPy's format: a dictionary, padded so that the elements begin at a multiple of 64 bytes.
        let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({count}, 16), }}");
        let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&(padded as u16).to_le_bytes())?;
        file.write_all(format!("{text:<width$}\n", width = padded - 1).as_bytes())?;
        for row in 0..count {
            let mut state = (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            for column in 0..16 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let centre = ((row % 8) * (column + 3) % 11) as f32;
                let noise = (state >> 40) as f32 / (1 << 24) as f32 - 0.5;
                file.write_all(&(centre + noise).to_le_bytes())?;
            }
        }
        file.into_inner()?.sync_all()?;
        std::fs::rename(unfinished, path)
    };
    write().map_err(|error| format!("{}: {error}", path.display()))
}
