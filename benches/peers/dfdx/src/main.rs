//! Runs the workloads `s` (steps of learning) of castiron's `cargo bench` on dfdx: JSON lines, from the same harness.
//!
//! ```text
//! cd benches/peers/dfdx && OUT=FILE THREADS=1 RAYON_NUM_THREADS=1 PEER=dfdx cargo run --release -- s
//! ```
//!
//! dfdx has no bfloat16, and convolutions with a nightly compiler alone. Weights are random: only time is compared.

mod block;
#[allow(dead_code, reason = "the table of the ceilings is castiron's")]
#[path = "../../../workloads/ceilings.rs"]
mod ceilings;
#[allow(dead_code, reason = "bounds are castiron's")]
#[path = "../../../workloads/harness.rs"]
mod harness;
#[path = "../../learning.rs"]
mod learning;
#[allow(dead_code, reason = "the table of the ceilings is castiron's")]
#[path = "../../../workloads/report.rs"]
mod report;

use dfdx::optim::{Sgd, SgdConfig};
use dfdx::prelude::*;
use harness::{Bench, Settings};
use learning::{RATE, measured};

type Digits = (Linear<64, 96>, ReLU, Linear<96, 10>);
type Mlp = (Linear<784, 512>, ReLU, Linear<512, 512>, ReLU, Linear<512, 10>);

fn labels<const N: usize>(device: &Cpu) -> Tensor<Rank2<N, 10>, f32, Cpu> {
    let truth = |at: usize| if at % 10 == at / 10 * 7 % 10 { 1.0 } else { 0.0 };
    device.tensor_from_vec((0..N * 10).map(truth).collect(), (Const, Const))
}

/// Measures steps of gradient descent of a network of `I` inputs.
macro_rules! descend {
    ($bench:ident, $name:literal, $device:ident, $network:ty, [$n:literal, $i:literal]) => {{
        let mut network = $device.build_module::<$network, f32>();
        let mut gradients = Some(network.alloc_grads());
        let mut sgd = Sgd::new(&network, SgdConfig { lr: RATE, momentum: None, weight_decay: None });
        let x: Tensor<Rank2<$n, $i>, f32, Cpu> = $device.sample_uniform() + 0.1;
        let labels = labels::<$n>(&$device);
        measured($bench, "", $name, || {
            let traced = x.trace(gradients.take().expect("they were put back"));
            let loss = cross_entropy_with_logits_loss(network.forward_mut(traced), labels.clone());
            let before = loss.array();
            let mut found = loss.backward();
            sgd.update(&mut network, &found).expect("each weight has a gradient");
            network.zero_grads(&mut found);
            gradients = Some(found);
            before
        });
    }};
}

fn main() {
    // As its documentation advises.
    dfdx::flush_denormals_to_zero();
    let settings = Settings::read();
    let letters = settings.letters.clone();
    let bench = &mut Bench::new(settings, None);
    let device = Cpu::seed_from_u64(1);
    if letters.contains(&'s') {
        descend!(bench, "s.digits_step_32", device, Digits, [32, 64]);
        descend!(bench, "s.digits_step_1024", device, Digits, [1024, 64]);
        descend!(bench, "s.mlp_step_64", device, Mlp, [64, 784]);
        block::step(bench, &device);
    }
}
