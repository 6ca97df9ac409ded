//! The workloads on which tensor libraries are compared. `cargo bench` measures all of them, compares them with the best the machine can
//! do, and prints a table; `cargo bench -- a e` measures the workloads of two letters.
//!
//! | | |
//! |---|---|
//! | `--json FILE`, or `OUT` | measurements are appended to this file as well, one JSON object per line |
//! | `BENCH_MS` | milliseconds per workload, 200 by default |
//! | `THREADS` | number of threads to compute with, 1 by default |
//! | `FILTER` | only workloads whose names contain this |
//! | `PEER` | the name of this program in the JSON lines, `castiron` by default |
//! | `CHART` | the SVG file that letter `l` writes |
//!
//! The program itself, run with letters and without cargo's `--bench`, writes the JSON lines and no table.

mod workloads {
    pub mod a_add;
    pub mod b_mixed;
    pub mod c_pointwise;
    pub mod ceilings;
    pub mod d_reductions;
    pub mod data;
    pub mod e_matmul;
    pub mod f_layout;
    pub mod g_casts;
    pub mod h_indexing;
    pub mod harness;
    pub mod i_small;
    pub mod j_in_place;
    pub mod l_growth;
    #[cfg(feature = "mmap")]
    pub mod m_mapped;
    pub mod n_convolutions;
    pub mod o_attention;
    pub mod p_layers;
    #[cfg(feature = "safetensors")]
    pub mod q_models;
    #[cfg(feature = "grad")]
    pub mod r_optimizers;
    pub mod report;
    #[cfg(feature = "grad")]
    pub mod s_backward;
    #[cfg(feature = "grad")]
    pub mod s_learning;
    pub mod t_closures;
    pub mod u_formulas;
}

use std::process::ExitCode;
use workloads::ceilings::Ceilings;
use workloads::harness::{Bench, Settings};
use workloads::{
    a_add, b_mixed, c_pointwise, d_reductions, e_matmul, f_layout, g_casts, h_indexing, i_small, j_in_place, l_growth,
    n_convolutions, o_attention, p_layers, t_closures, u_formulas,
};

/// Each letter and the function that measures its workloads.
const LETTERS: [(char, fn(&mut Bench)); 16] = [
    ('a', a_add::run),
    ('b', b_mixed::run),
    ('c', c_pointwise::run),
    ('d', d_reductions::run),
    ('e', e_matmul::run),
    ('f', f_layout::run),
    ('g', g_casts::run),
    ('h', h_indexing::run),
    ('i', i_small::run),
    ('j', j_in_place::run),
    ('l', l_growth::run),
    ('n', n_convolutions::run),
    ('o', o_attention::run),
    ('p', p_layers::run),
    ('t', t_closures::run),
    ('u', u_formulas::run),
];

/// The number of threads the library computes with: those of the rayon pool.
fn set_threads(threads: usize) {
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        eprintln!("the number of threads stays as it is: {error}");
    }
}

fn main() -> ExitCode {
    let settings = Settings::read();
    let unknown =
        |letter: &char| !['k', 'm', 'q', 'r', 's'].contains(letter) && LETTERS.iter().all(|(known, _)| known != letter);
    if let Some(letter) = settings.letters.iter().find(|letter| unknown(letter)) {
        eprintln!(
            "no workload has the letter `{letter}`: there are a to j, k for the machine's ceilings, l for how time grows with size, m for mapped files, n for convolutions, o for attention, p for layers, q for networks, r for optimisers, s for learning, and t for closures"
        );
        return ExitCode::from(2);
    }
    if !settings.table && settings.letters.is_empty() {
        eprintln!("`cargo bench` measures everything; called directly, the program takes letters");
        return ExitCode::SUCCESS;
    }
    set_threads(settings.threads);
    let all = settings.letters.is_empty();
    let chosen = settings.letters.clone();
    let ceilings = (settings.table || chosen.contains(&'k')).then(|| Ceilings::measure(settings.threads));
    let mut bench = Bench::new(settings, ceilings);
    for (letter, run) in LETTERS {
        if all || chosen.contains(&letter) {
            run(&mut bench);
        }
    }
    if chosen.contains(&'m') {
        #[cfg(feature = "mmap")]
        workloads::m_mapped::run(&mut bench);
        #[cfg(not(feature = "mmap"))]
        eprintln!("letter `m` measures with the feature `mmap`");
    }
    if chosen.contains(&'q') {
        #[cfg(feature = "safetensors")]
        workloads::q_models::run(&mut bench);
        #[cfg(not(feature = "safetensors"))]
        eprintln!("letter `q` measures with the feature `safetensors`");
    }
    if chosen.contains(&'r') {
        #[cfg(feature = "grad")]
        workloads::r_optimizers::run(&mut bench);
        #[cfg(not(feature = "grad"))]
        eprintln!("letter `r` measures with the feature `grad`");
    }
    if chosen.contains(&'s') {
        #[cfg(feature = "grad")]
        workloads::s_learning::run(&mut bench);
        #[cfg(not(feature = "grad"))]
        eprintln!("letter `s` measures with the feature `grad`");
    }
    ExitCode::SUCCESS
}
