//! The best the machine can do: bandwidth by kind of pass and size, and multiply-adds. Plain loops over the widest vectors that the
//! processor has.

use std::sync::Barrier;
use std::time::Instant;

/// What a pass does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// `sum(a)`
    Read,
    /// `out = a`
    Copy,
    /// `out = a + b`
    Add,
    /// `out = a + q * b`
    Triad,
    /// `out *= q`
    Update,
}

impl Pass {
    const ALL: [Pass; 5] = [Pass::Read, Pass::Copy, Pass::Add, Pass::Triad, Pass::Update];

    /// Bytes moved per element of `f32`.
    pub const fn bytes(self) -> usize {
        match self {
            Pass::Read => 4,
            Pass::Copy | Pass::Update => 8,
            Pass::Add | Pass::Triad => 12,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Pass::Read => "read",
            Pass::Copy => "copy",
            Pass::Add => "add",
            Pass::Triad => "triad",
            Pass::Update => "update",
        }
    }
}

/// The rates at one size, in GB/s, in the order of `Ceilings::passes`.
pub struct Size {
    pub name: &'static str,
    pub elements: usize,
    pub rates: [f64; 5],
}

/// The measured rates.
pub struct Ceilings {
    pub threads: usize,
    /// The vector instructions used.
    pub instructions: &'static str,
    pub sizes: [Size; 3],
    /// GFLOP/s of multiply-adds, each two operations.
    pub flops32: f64,
    pub flops64: f64,
}

impl Ceilings {
    pub fn measure(threads: usize) -> Self {
        let kernels = kernels();
        let mut buffers = [1.0, 2.0, 3.0].map(|value| vec![Line([value; 16]); (1 << 24) / 16]);
        let sizes = [("64k", 1 << 16), ("1M", 1 << 20), ("16M", 1 << 24)].map(|(name, elements)| {
            let rates = Pass::ALL.map(|pass| {
                let bytes = (pass.bytes() * elements) as f64;
                // Stores that bypass the cache are faster where the result does not fit into it.
                let seconds = kernels.passes(pass).iter().map(|&pass| time_pass(pass, &mut buffers, elements, threads));
                bytes / seconds.fold(f64::INFINITY, f64::min) * 1e-9
            });
            Size { name, elements, rates }
        });
        let (flops32, flops64) =
            (time_flops(kernels.fma32, 2 * kernels.lanes, threads), time_flops(kernels.fma64, kernels.lanes, threads));
        Ceilings { threads, instructions: kernels.name, sizes, flops32, flops64 }
    }

    pub fn passes(&self) -> impl Iterator<Item = Pass> {
        Pass::ALL.into_iter()
    }

    /// GB/s of a pass that moves this many bytes: the rate at the nearest size measured.
    pub fn bandwidth(&self, pass: Pass, bytes: usize) -> f64 {
        let distance = |size: &Size| (bytes as f64 / (size.elements * pass.bytes()) as f64).ln().abs();
        let nearest = self.sizes.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let index = Pass::ALL.iter().position(|&other| other == pass);
        nearest.zip(index).map_or(f64::INFINITY, |(size, index)| size.rates[index])
    }
}

/// One line of the cache: buffers of these are aligned for every load and store.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([f32; 16]);

/// `(out, a, b)`, slices of one length.
type OnePass = unsafe fn(&mut [Line], &[Line], &[Line]);
/// Runs this many rounds of `CHAINS` multiply-adds of one vector each.
type Rounds = unsafe fn(usize);

/// Independent sums: enough to hide the latency of a multiply-add, few enough for the registers.
const CHAINS: usize = 12;

/// Functions that need only the processor features in `name`.
struct Kernels {
    name: &'static str,
    /// The number of `f32` in a vector.
    lanes: usize,
    read: OnePass,
    update: OnePass,
    /// With ordinary stores, and with stores that bypass the cache.
    copy: [OnePass; 2],
    add: [OnePass; 2],
    triad: [OnePass; 2],
    fma32: Rounds,
    fma64: Rounds,
}

impl Kernels {
    fn passes(&self, pass: Pass) -> &[OnePass] {
        match pass {
            Pass::Read => std::slice::from_ref(&self.read),
            Pass::Update => std::slice::from_ref(&self.update),
            Pass::Copy => &self.copy,
            Pass::Add => &self.add,
            Pass::Triad => &self.triad,
        }
    }
}

/// The kernels for this processor.
fn kernels() -> Kernels {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return avx512::KERNELS;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return avx2::KERNELS;
        }
    }
    portable::KERNELS
}

/// Seconds per call when all threads work at once: the best sample, each of `times` calls.
fn time(jobs: Vec<impl FnMut() + Send>, times: usize) -> f64 {
    const SAMPLES: usize = 11;
    let barrier = Barrier::new(jobs.len());
    let samples = std::thread::scope(|scope| {
        let threads: Vec<_> = jobs
            .into_iter()
            .map(|mut job| {
                let barrier = &barrier;
                scope.spawn(move || {
                    job();
                    [(); SAMPLES].map(|()| {
                        barrier.wait();
                        let start = Instant::now();
                        (0..times).for_each(|_| job());
                        barrier.wait();
                        start.elapsed().as_secs_f64() / times as f64
                    })
                })
            })
            .collect();
        let samples = threads.into_iter().map(|thread| thread.join().expect("a kernel does not panic"));
        samples.last().expect("there is a thread")
    });
    samples.into_iter().fold(f64::INFINITY, f64::min)
}

fn time_pass(pass: OnePass, buffers: &mut [Vec<Line>; 3], elements: usize, threads: usize) -> f64 {
    let lines = elements / 16;
    let share = lines.div_ceil(threads);
    let [out, a, b] = buffers;
    let jobs = out[..lines].chunks_mut(share).zip(a[..lines].chunks(share)).zip(b[..lines].chunks(share));
    let jobs = jobs.map(|((out, a), b)| {
        move || {
            // SAFETY: `kernels` has checked that the processor has these features.
            unsafe { pass(out, a, b) }
        }
    });
    time(jobs.collect(), ((1 << 22) / elements).max(1))
}

/// GFLOP/s of all threads; a multiply-add of vectors is `flops` operations.
fn time_flops(rounds: Rounds, flops: usize, threads: usize) -> f64 {
    const ROUNDS: usize = 1 << 18;
    let job = || {
        // SAFETY: `kernels` has checked that the processor has these features.
        unsafe { rounds(ROUNDS) }
    };
    let seconds = time(vec![job; threads], 1);
    (threads * flops * CHAINS * ROUNDS) as f64 / seconds * 1e-9
}

/// Writes a module of kernels for one kind of vector. For `avx2 = "avx2,fma"` of 8 lanes it begins with
/// `mod avx2 { pub const KERNELS: Kernels = …; #[target_feature(enable = "avx2,fma")] fn load(line: &Line, at: usize) -> __m256 …`
#[cfg(target_arch = "x86_64")]
macro_rules! vectors {
    ($module:ident = $features:literal, $name:literal, $lanes:literal of $v32:ident $v64:ident:
     $load:ident $store:ident $stream:ident $set32:ident $add32:ident $mul32:ident $fma32:ident $set64:ident $fma64:ident) => {
        mod $module {
            use super::{CHAINS, Kernels, Line};
            use std::arch::x86_64::*;
            use std::hint::black_box;

            pub const KERNELS: Kernels = Kernels {
                name: $name,
                lanes: LANES,
                read,
                update,
                copy: [copy::<false>, copy::<true>],
                add: [add::<false>, add::<true>],
                triad: [triad::<false>, triad::<true>],
                fma32,
                fma64,
            };
            const LANES: usize = $lanes;
            const PER_LINE: usize = 16 / LANES;

            #[inline]
            #[target_feature(enable = $features)]
            fn load(line: &Line, part: usize) -> $v32 {
                let lanes: &[f32; LANES] = &line.0.as_chunks().0[part];
                // SAFETY: there are as many floats here as the vector has lanes.
                unsafe { $load(lanes.as_ptr()) }
            }
            #[inline]
            #[target_feature(enable = $features)]
            fn store<const STREAM: bool>(line: &mut Line, part: usize, value: $v32) {
                let lanes: &mut [f32; LANES] = &mut line.0.as_chunks_mut().0[part];
                // SAFETY: there are as many floats here as the vector has lanes, aligned to the vector: lines are aligned, and parts are
                // whole vectors. Every pass that streams ends with a fence.
                unsafe { if STREAM { $stream(lanes.as_mut_ptr(), value) } else { $store(lanes.as_mut_ptr(), value) } }
            }
            #[target_feature(enable = $features)]
            fn fence<const STREAM: bool>() {
                if STREAM {
                    _mm_sfence();
                }
            }

            #[target_feature(enable = $features)]
            fn read(_: &mut [Line], a: &[Line], _: &[Line]) {
                let mut sums = [[$set32(0.0); PER_LINE]; 8 / PER_LINE];
                for lines in a.as_chunks::<{ 8 / PER_LINE }>().0 {
                    for (sums, line) in sums.iter_mut().zip(lines) {
                        for (part, sum) in sums.iter_mut().enumerate() {
                            *sum = $add32(*sum, load(line, part));
                        }
                    }
                }
                black_box(sums);
            }
            #[target_feature(enable = $features)]
            fn update(out: &mut [Line], _: &[Line], _: &[Line]) {
                let one = $set32(black_box(1.0));
                for out in out {
                    for part in 0..PER_LINE {
                        store::<false>(out, part, $mul32(load(out, part), one));
                    }
                }
            }
            #[target_feature(enable = $features)]
            fn copy<const STREAM: bool>(out: &mut [Line], a: &[Line], _: &[Line]) {
                for (out, a) in out.iter_mut().zip(a) {
                    for part in 0..PER_LINE {
                        store::<STREAM>(out, part, load(a, part));
                    }
                }
                fence::<STREAM>();
            }
            #[target_feature(enable = $features)]
            fn add<const STREAM: bool>(out: &mut [Line], a: &[Line], b: &[Line]) {
                for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                    for part in 0..PER_LINE {
                        store::<STREAM>(out, part, $add32(load(a, part), load(b, part)));
                    }
                }
                fence::<STREAM>();
            }
            #[target_feature(enable = $features)]
            fn triad<const STREAM: bool>(out: &mut [Line], a: &[Line], b: &[Line]) {
                let q = $set32(black_box(1.5));
                for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                    for part in 0..PER_LINE {
                        store::<STREAM>(out, part, $fma32(load(b, part), q, load(a, part)));
                    }
                }
                fence::<STREAM>();
            }

            #[target_feature(enable = $features)]
            fn fma32(rounds: usize) {
                let (a, b) = ($set32(black_box(0.999)), $set32(black_box(0.001)));
                let mut sums = [$set32(0.0); CHAINS];
                for (index, sum) in sums.iter_mut().enumerate() {
                    *sum = $set32(index as f32);
                }
                for _ in 0..rounds {
                    for sum in &mut sums {
                        *sum = $fma32(*sum, a, b);
                    }
                }
                black_box(sums);
            }
            #[target_feature(enable = $features)]
            fn fma64(rounds: usize) {
                let (a, b) = ($set64(black_box(0.999)), $set64(black_box(0.001)));
                let mut sums = [$set64(0.0); CHAINS];
                for (index, sum) in sums.iter_mut().enumerate() {
                    *sum = $set64(index as f64);
                }
                for _ in 0..rounds {
                    for sum in &mut sums {
                        *sum = $fma64(*sum, a, b);
                    }
                }
                black_box(sums);
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
vectors!(avx2 = "avx2,fma", "AVX2", 8 of __m256 __m256d:
    _mm256_loadu_ps _mm256_store_ps _mm256_stream_ps _mm256_set1_ps _mm256_add_ps _mm256_mul_ps _mm256_fmadd_ps
    _mm256_set1_pd _mm256_fmadd_pd);
#[cfg(target_arch = "x86_64")]
vectors!(avx512 = "avx512f", "AVX-512", 16 of __m512 __m512d:
    _mm512_loadu_ps _mm512_store_ps _mm512_stream_ps _mm512_set1_ps _mm512_add_ps _mm512_mul_ps _mm512_fmadd_ps
    _mm512_set1_pd _mm512_fmadd_pd);

/// For processors without wide vectors: plain loops, left to the compiler.
mod portable {
    use super::{CHAINS, Kernels, Line};
    use std::hint::black_box;

    pub const KERNELS: Kernels = Kernels {
        name: "plain loops",
        lanes: LANES,
        read: |_, a, _| {
            let mut sums = [[0.0; 16]; 2];
            for lines in a.as_chunks::<2>().0 {
                for (sum, a) in sums.iter_mut().zip(lines) {
                    sum.iter_mut().zip(&a.0).for_each(|(sum, a)| *sum += a);
                }
            }
            black_box(sums);
        },
        update: |out, _, _| {
            let one = black_box(1.0);
            out.iter_mut().for_each(|out| out.0.iter_mut().for_each(|out| *out *= one));
        },
        copy: [|out, a, _| out.copy_from_slice(a); 2],
        add: [|out, a, b| each(out, a, b, |a, b| a + b); 2],
        triad: [|out, a, b| {
            let q = black_box(1.5);
            each(out, a, b, |a, b| a + q * b);
        }; 2],
        fma32: |rounds| {
            let (a, b, mut sums) = (black_box(0.999_f32), black_box(0.001), [1.0; CHAINS * LANES]);
            (0..rounds).for_each(|_| sums.iter_mut().for_each(|sum| *sum = *sum * a + b));
            black_box(sums);
        },
        fma64: |rounds| {
            let (a, b, mut sums) = (black_box(0.999_f64), black_box(0.001), [1.0; CHAINS * LANES / 2]);
            (0..rounds).for_each(|_| sums.iter_mut().for_each(|sum| *sum = *sum * a + b));
            black_box(sums);
        },
    };
    const LANES: usize = 4;

    fn each(out: &mut [Line], a: &[Line], b: &[Line], f: impl Fn(f32, f32) -> f32) {
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            for ((out, a), b) in out.0.iter_mut().zip(&a.0).zip(&b.0) {
                *out = f(*a, *b);
            }
        }
    }
}
