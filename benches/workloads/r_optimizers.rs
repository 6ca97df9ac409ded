//! `r`: steps of optimisers over 25 million parameters (100 MB of `f32`): each list read once, what changes written once.

use super::ceilings::Pass;
use super::data::floats;
use super::harness::{Bench, Work};
use castiron::optim::{Adadelta, Adagrad, Adam, AdamW, Adamax, NAdam, RAdam, RmsProp, Sgd};
use castiron::{Module, Tensor, shape};

type Many = shape![25000000];

pub fn run(bench: &mut Bench) {
    const LEN: usize = 25_000_000;
    let (mut x, gradient) = (floats::<Many>(1), floats::<Many>(2));
    macro_rules! step {
        ($name:literal, $lists:literal, $optimizer:expr) => {
            let mut optimizer = $optimizer.rate(1e-6);
            bench.run(concat!("r.", $name, "_25M"), Work::Bytes(Pass::Triad, 4 * $lists * LEN), || {
                optimizer.step(&mut x, &gradient)
            });
        };
    }
    step!("sgd", 3, Sgd::new(&x));
    step!("sgd_momentum", 5, Sgd::new(&x).momentum(0.9));
    step!("sgd_nesterov_decay", 5, Sgd::new(&x).momentum(0.9).nesterov().decay(0.01));
    step!("adam", 7, Adam::new(&x));
    step!("adamw_amsgrad", 9, AdamW::new(&x).amsgrad());
    step!("rmsprop", 5, RmsProp::new(&x));
    step!("rmsprop_centered_momentum", 9, RmsProp::new(&x).centered().momentum(0.9));
    step!("adagrad", 5, Adagrad::new(&x));
    step!("adadelta", 7, Adadelta::new(&x));
    step!("adamax", 7, Adamax::new(&x));
    step!("nadam", 7, NAdam::new(&x));
    step!("radam", 7, RAdam::new(&x));
    bench.run("r.norm_25M", Work::Bytes(Pass::Read, 4 * LEN), || gradient.total_norm());
    let mut few = floats::<shape![64]>(1);
    let few_gradient: Tensor<f32, shape![64]> = floats(2);
    let mut adam = Adam::new(&few).rate(1e-6);
    bench.run("r.adam_64", Work::Calls, || adam.step(&mut few, &few_gradient));
}
