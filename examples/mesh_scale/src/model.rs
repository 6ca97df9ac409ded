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
    /// Bytes from which a message asks before it comes, and is three; shorter ones are sent at once.
    pub(crate) eager: usize,
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
    /// What is called one here.
    pub(crate) step: &'static str,
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

/// Measured by one thread of one rank, as `docs/scale.md` says.
pub(crate) const PROGRAMS: &[Program] = &[
    // A step of 32 texts: 148.5 ms, one of a single text 6.25 ms. Gradients of what may be cut along `Model`, the others, the loss.
    Program {
        name: "mesh-gpt",
        step: "a step of 32 texts",
        fixed: 1.66e-3,
        divided: 146.8e-3,
        things: 32,
        reduces: &[3_153_920, 91_648, 4],
        ..NOTHING
    },
    // A step of 32 pictures: 34.1 µs, one of 4 (with another `BATCH`) 18.7 µs. Gradients, the loss.
    Program {
        name: "mesh-digits",
        step: "a step of 32 pictures",
        fixed: 16.5e-6,
        divided: 17.6e-6,
        things: 32,
        reduces: &[28_840, 4],
        ..NOTHING
    },
    // Four passes over 2,000,000 points: 271 ms; what a chunk costs follows from `--chunk 1024` and `--chunk 256`.
    Program {
        name: "mesh-pca",
        step: "4 passes over 2,000,000 points",
        divided: 271e-3,
        things: 2_000_000,
        chunk: 4.0 * 1.49e-6,
        chunk_things: 1 << 18,
        reduces: &[512, 32, 512, 32, 512, 32, 128, 2048],
        ..NOTHING
    },
    // A step of 192^3 points: 6.9 ms, one of 8^3 4.6 µs.
    Program {
        name: "heat",
        step: "a step of 192^3 points",
        fixed: 4.6e-6,
        divided: 6.9e-3,
        things: 192,
        face: 4 * 192 * 192,
        ..NOTHING
    },
];
const NOTHING: Program = Program {
    name: "",
    step: "",
    fixed: 0.0,
    divided: 0.0,
    things: 1,
    chunk: 0.0,
    chunk_things: 0,
    reduces: &[],
    face: 0,
};

pub(crate) fn networks() -> [Network; 2] {
    let assumed = Fit { alpha: 2e-6, beta: 1.0 / 12e9 };
    [
        Network {
            name: "shared memory (measured)",
            reduce: Fit { alpha: 5.386e-7, beta: 1.630e-10 },
            exchange: Fit { alpha: 1.039e-6, beta: 4.169e-10 },
            eager: 4 << 10,
        },
        Network { name: "2 µs and 12 GB/s (assumed)", reduce: assumed, exchange: assumed, eager: 8 << 10 },
    ]
}

/// How often latency counts in a message.
pub(crate) fn ways(bytes: f64, eager: usize) -> f64 {
    if bytes >= eager as f64 { 3.0 } else { 1.0 }
}

/// Bytes from which an all-reduce goes by halves: MPI does not know latency and bandwidth, and chooses by size.
const BY_HALVES: f64 = 8192.0;

/// How often latency and a byte's time count in an all-reduce of `n` bytes: by recursive doubling, where each rank sends everything in each of
/// log2 p rounds, or by Rabenseifner's reduce-scatter and all-gather, whose rounds are twice as many and send a half, a quarter and so on.
/// The time of the sums themselves is in `beta`.
pub(crate) fn all_reduce_terms(n: f64, ranks: usize, eager: usize) -> [f64; 2] {
    if ranks == 1 {
        return [0.0; 2];
    }
    let rounds = ranks.next_power_of_two().ilog2();
    if n < BY_HALVES {
        return [f64::from(rounds) * ways(n, eager), f64::from(rounds) * n];
    }
    let halves = (1..=rounds).map(|round| ways(n / f64::from(1 << round), eager)).sum::<f64>();
    [2.0 * halves, 2.0 * n * (ranks - 1) as f64 / ranks as f64]
}

impl Network {
    fn all_reduce(&self, bytes: usize, ranks: usize) -> f64 {
        let [a, b] = all_reduce_terms(bytes as f64, ranks, self.eager);
        a * self.reduce.alpha + b * self.reduce.beta
    }
    /// Faces of this size to each neighbour, of which the ranks at the ends have one.
    fn exchange(&self, bytes: usize, ranks: usize) -> f64 {
        let messages = ranks.min(3) - 1;
        if messages == 0 {
            return 0.0;
        }
        let bytes = bytes as f64;
        self.exchange.alpha * ways(bytes, self.eager) + messages as f64 * bytes * self.exchange.beta
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
    /// Whether there is something to do for each rank.
    pub(crate) fn feeds(&self, ranks: usize, scaling: Scaling) -> bool {
        scaling == Scaling::Weak || ranks <= self.things
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
