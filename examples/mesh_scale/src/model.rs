//! How long a step of each program takes on any number of ranks: what it computes, measured on one rank with one thread, and what it sends, by
//! the formulas of Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH", International Journal of
//! High Performance Computing Applications 19(1), 2005.

/// A message of `n` bytes takes `alpha + n * beta`: seconds, and seconds per byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
}

pub(crate) struct Network {
    pub(crate) name: &'static str,
    pub(crate) reduce: Fit,
    pub(crate) exchange: Fit,
}

/// The same work for all ranks together, or for each.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scaling {
    Strong,
    Weak,
}

/// A program's step on one rank.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Seconds that each rank computes whatever it has: calls, optimisers, what every rank does for itself.
    fixed: f64,
    /// Seconds of what is divided, where one rank has all of it.
    divided: f64,
    /// How many things are divided: a rank has a whole number of them.
    things: usize,
    /// Seconds that each chunk of a file costs a rank, whatever it has of it, and how many things all ranks together have in one.
    chunk: f64,
    chunk_things: usize,
    /// Bytes of each all-reduce of a step.
    reduces: &'static [usize],
    /// Bytes of a face that goes to each neighbour; 0 without neighbours.
    face: usize,
}

/// Measured: `docs/scale.md` says by which commands, and what follows from what.
pub(crate) const PROGRAMS: &[Program] = &[];

pub(crate) fn networks() -> [Network; 2] {
    let assumed = Fit { alpha: 2e-6, beta: 1.0 / 12e9 };
    [
        Network {
            name: "shared memory of one machine (measured)",
            reduce: Fit { alpha: 1e-6, beta: 1e-9 },
            exchange: Fit { alpha: 1e-6, beta: 1e-9 },
        },
        Network { name: "2 µs and 12 GB/s (assumed)", reduce: assumed, exchange: assumed },
    ]
}

/// How often latency and a byte's time count in an all-reduce of `n` bytes: by recursive doubling, where each rank sends everything in each of
/// log2 p rounds, or by Rabenseifner's reduce-scatter and all-gather, which sends less in twice as many: whichever is faster. The time of
/// the sums themselves is in `beta`.
pub(crate) fn all_reduce_terms(fit: &Fit, n: f64, ranks: usize) -> [f64; 2] {
    if ranks == 1 {
        return [0.0; 2];
    }
    let rounds = f64::from(ranks.next_power_of_two().ilog2());
    let doubling = [rounds, rounds * n];
    let halves = [2.0 * rounds, 2.0 * n * (ranks - 1) as f64 / ranks as f64];
    let seconds = |[a, b]: [f64; 2]| a * fit.alpha + b * fit.beta;
    if seconds(doubling) <= seconds(halves) { doubling } else { halves }
}

impl Network {
    fn all_reduce(&self, bytes: usize, ranks: usize) -> f64 {
        let [a, b] = all_reduce_terms(&self.reduce, bytes as f64, ranks);
        a * self.reduce.alpha + b * self.reduce.beta
    }
    /// Faces of this size to each neighbour, of which the ranks at the ends have one.
    fn exchange(&self, bytes: usize, ranks: usize) -> f64 {
        match ranks {
            1 => 0.0,
            2 => self.exchange.alpha + bytes as f64 * self.exchange.beta,
            _ => self.exchange.alpha + 2.0 * bytes as f64 * self.exchange.beta,
        }
    }
}

impl Program {
    /// What the rank with the most computes in a step.
    fn computed(&self, ranks: usize, scaling: Scaling) -> f64 {
        let (all, own) = match scaling {
            Scaling::Strong => (self.things, self.things.div_ceil(ranks)),
            Scaling::Weak => (self.things * ranks, self.things),
        };
        let chunks = if self.chunk_things == 0 { 0 } else { all.div_ceil(self.chunk_things) };
        self.fixed + self.chunk * chunks as f64 + self.divided * own as f64 / self.things as f64
    }
    fn told(&self, network: &Network, ranks: usize) -> f64 {
        let reduced: f64 = self.reduces.iter().map(|&bytes| network.all_reduce(bytes, ranks)).sum();
        reduced + if self.face == 0 { 0.0 } else { network.exchange(self.face, ranks) }
    }
    pub(crate) fn seconds(&self, network: &Network, ranks: usize, scaling: Scaling) -> f64 {
        self.computed(ranks, scaling) + self.told(network, ranks)
    }
    /// How much more work is done in a second than by one rank.
    pub(crate) fn speedup(&self, network: &Network, ranks: usize, scaling: Scaling) -> f64 {
        let more = if scaling == Scaling::Weak { ranks as f64 } else { 1.0 };
        more * self.seconds(network, 1, scaling) / self.seconds(network, ranks, scaling)
    }
    /// A step of the program's own size where ranks share cores: each computes when it is its turn.
    pub(crate) fn shared(&self, network: &Network, ranks: usize, cores: usize) -> f64 {
        let turns = (ranks as f64 / cores as f64).max(1.0);
        turns * self.computed(ranks, Scaling::Strong) + self.told(network, ranks)
    }
}
