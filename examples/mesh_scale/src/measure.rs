//! All-reduce and the exchange with neighbours, measured by the public operations that programs call.

use crate::Outcome;
use crate::model::{Fit, all_reduce_terms, ways};
use castiron::{Dyn, Tensor, axis, dims, shape};
use castiron_mesh::{At, Dist, Edge, Mesh, Pending, Sum, mesh};
use std::time::Instant;

mesh! { Ranks: Data }
dims! { Rows }

/// From 8 B to 16 MiB, by fours and a last half of one.
const BYTES: [usize; 12] =
    [8, 32, 128, 512, 2 << 10, 8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20, 16 << 20];

pub(crate) fn run(eager: usize) -> Outcome<()> {
    let mut mesh = Mesh::<Ranks>::join(&[0])?;
    let ranks = mesh.ranks();
    if ranks < 2 {
        return Err("measure needs two ranks at least: `--ranks 2`, or a launcher of MPI".into());
    }
    // What an all-reduce sums up: each rank's own part.
    let block = Dist::<f32, (At<Rows, Data>,)>::zeros(&mesh, [ranks])?;
    let (mut reduces, mut exchanges) = (Vec::new(), Vec::new());
    for bytes in BYTES {
        let prepare = || {
            let ones = Tensor::<f32, shape![_]>::try_ones_sized([bytes / 4])?;
            let own: Dist<f32, (Dyn,), Pending<Sum, Data>> = block.sum_of_blocks(ones);
            Ok(own)
        };
        let seconds = best(&mesh, bytes, prepare, |own| own.all_reduce(&mesh).map(drop).map_err(Into::into))?;
        reduces.push((bytes, seconds));
    }
    // (Faces are smaller than sums.)
    for bytes in BYTES.into_iter().filter(|&bytes| bytes <= 2 << 20) {
        let rows = Dist::<f32, (At<Rows, Data>, Dyn)>::full(&mesh, [2 * ranks, bytes / 4], 1.0)?;
        let mut rows = rows.halo(axis![0], [1, 1], Edge::Periodic, &mesh)?;
        let seconds = best(&mesh, bytes, || Ok(()), |()| Ok(rows.exchange(&mesh)?))?;
        exchanges.push((bytes, seconds));
    }
    let (engine, sent) = (mesh.engine(), mesh.sent());
    mesh.alone_on(0, || {
        println!("{ranks} ranks, {engine}; {} calls, {:.0} MB from each rank", sent.calls, sent.bytes as f64 / 1e6);
        let fit = report("all_reduce", &reduces, |bytes| all_reduce_terms(bytes as f64, ranks, eager));
        println!("reduce {:.3e},{:.3e}", fit.alpha, fit.beta);
        // Each rank sends to two neighbours, one after the other on its own line, and receives meanwhile.
        let fit = report("exchange", &exchanges, |bytes| [ways(bytes as f64, eager), 2.0 * bytes as f64]);
        println!("exchange {:.3e},{:.3e}", fit.alpha, fit.beta);
    });
    Ok(())
}

/// Seconds of a call in the best of several chains of calls. In a chain each call waits for what the other ranks give in it, so that nobody
/// runs ahead; the best, because other programs run on the machine.
fn best<T>(
    mesh: &Mesh<Ranks>,
    bytes: usize,
    mut prepare: impl FnMut() -> Outcome<T>,
    mut call: impl FnMut(T) -> Outcome<()>,
) -> Outcome<f64> {
    let times = (8 << 20 >> bytes.ilog2()).clamp(3, 100);
    let mut best = f64::MAX;
    // (The first chain is to warm up.)
    for chain in 0..12 {
        let given = (0..times).map(|_| prepare()).collect::<Outcome<Vec<_>>>()?;
        mesh.barrier()?;
        let start = Instant::now();
        for one in given {
            call(one)?;
        }
        if chain > 0 {
            best = best.min(start.elapsed().as_secs_f64() / times as f64);
        }
    }
    Ok(best)
}

/// Latency and the time of a byte by least squares of the logarithms, since times differ by a factor of thousands: each factor by which a time is
/// missed counts alike. `terms` says how often each of the two counts in a call.
fn fitted(times: &[(usize, f64)], terms: impl Fn(usize) -> [f64; 2]) -> Fit {
    let mut fit = Fit { alpha: 1e-6, beta: 1e-9 };
    for _ in 0..100 {
        // Gauss and Newton's step for the logarithms of both.
        let (mut aa, mut ab, mut bb, mut ar, mut br) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for &(bytes, seconds) in times {
            let [a, b] = terms(bytes);
            let (a, b) = (a * fit.alpha, b * fit.beta);
            let missed = (seconds / (a + b)).ln();
            let [a, b] = [a / (a + b), b / (a + b)];
            (aa, ab, bb, ar, br) = (aa + a * a, ab + a * b, bb + b * b, ar + a * missed, br + b * missed);
        }
        let all = aa * bb - ab * ab;
        // (By small steps, so that it does not jump over the best.)
        let step = |by: f64| (by / all).clamp(-1.0, 1.0).exp();
        fit = Fit { alpha: fit.alpha * step(ar * bb - br * ab), beta: fit.beta * step(br * aa - ar * ab) };
    }
    fit
}

fn report(name: &str, times: &[(usize, f64)], terms: impl Fn(usize) -> [f64; 2]) -> Fit {
    let fit = fitted(times, &terms);
    println!("\n{name}: alpha {:.2} µs, {:.2} GB/s (1 / beta)", fit.alpha * 1e6, 1e-9 / fit.beta);
    println!("{:>10} {:>12} {:>12} {:>6}", "bytes", "µs", "of the fit", "ratio");
    for &(bytes, seconds) in times {
        let [a, b] = terms(bytes);
        let modelled = a * fit.alpha + b * fit.beta;
        println!("{bytes:>10} {:>12.2} {:>12.2} {:>6.2}", seconds * 1e6, modelled * 1e6, modelled / seconds);
    }
    fit
}

#[cfg(test)]
mod tests {
    use super::{BYTES, all_reduce_terms, fitted};

    #[test]
    fn what_times_are_made_of_is_found_again() {
        for (ranks, alpha, beta) in [(2, 2e-6, 1e-10), (4, 1e-3, 2e-9), (8, 5e-5, 1e-9)] {
            let terms = |bytes: usize| all_reduce_terms(bytes as f64, ranks, 4096);
            let time = |bytes| {
                let [a, b] = terms(bytes);
                (bytes, a * alpha + b * beta)
            };
            let fit = fitted(&BYTES.map(time), terms);
            assert!((fit.alpha / alpha - 1.0).abs() < 1e-6 && (fit.beta / beta - 1.0).abs() < 1e-6, "{fit:?}");
        }
        // 16 KiB on four ranks: twice 8 KiB, which ask, and twice 4 KiB, which ask, too.
        assert_eq!(all_reduce_terms(16384.0, 4, 4096), [12.0, 1.5 * 16384.0]);
        assert_eq!(all_reduce_terms(64.0, 8, 4096), [3.0, 192.0]);
    }
}
