//! Optimisers and the arithmetic of modules: every device gives what the host does, up to roundings.

use super::{On, has_data};
use castiron::optim::{
    AdadeltaOptions, AdagradOptions, AdamOptions, AdamWOptions, AdamaxOptions, Lbfgs, NAdamOptions, Optimizer,
    RAdamOptions, RmsPropOptions, Rule, SgdOptions,
};
use castiron::{Complex, Cpu, Device, Module, Tensor, bf16, shape, tensor};

/// A module with tensors of several dtypes.
#[derive(Module)]
pub struct Net<D: Device = Cpu> {
    weight: Tensor<f32, shape![2, 3], D>,
    halves: Tensor<bf16, shape![3], D>,
    waves: Tensor<Complex<f32>, shape![2], D>,
    wide: Tensor<f64, shape![], D>,
    #[module(tied = "wide")]
    again: Tensor<f64, shape![], D>,
    count: Tensor<i64, shape![2], D>,
}

impl<D: Device> Net<D> {
    fn of(step: usize) -> Self {
        let number = |at: usize| ((at * 37 + step * 11 + 17) % 61) as f32 / 16.0 - 2.0;
        let wide = Tensor::scalar(f64::from(number(20))).on();
        Net {
            weight: Tensor::<f32, shape![2, 3]>::from_vec((0..6).map(number).collect()).on(),
            halves: Tensor::<bf16, shape![3]>::from_vec((6..9).map(|at| bf16::from_f32(number(at))).collect()).on(),
            waves: Tensor::<_, shape![2]>::from_vec([9, 10].map(|at| Complex::new(number(at), number(at + 2))).into())
                .on(),
            again: wide.clone(),
            wide,
            count: tensor![1, 2].on(),
        }
    }

    #[track_caller]
    fn is_near(&self, host: &Net) {
        if !has_data::<D>() {
            return;
        }
        let here = [self.weight.cpu().unwrap().to_vec(), self.halves.cpu().unwrap().to::<f32>().to_vec()].concat();
        let there = [host.weight.to_vec(), host.halves.to::<f32>().to_vec()].concat();
        let near = |a: f32, b: f32, by: f32| (a - b).abs() <= by * b.abs().max(1.0);
        // (A rounding of `bf16` may go the other way.)
        let tolerance = |at: usize| if at < 6 { 1e-5 } else { 1e-2 };
        assert!(
            here.iter().zip(&there).enumerate().all(|(at, (a, b))| near(*a, *b, tolerance(at))),
            "{here:?} {there:?}"
        );
        let (here, there) = (self.waves.cpu().unwrap().to_vec(), host.waves.to_vec());
        assert!(here.iter().zip(&there).all(|(a, b)| near(a.re, b.re, 1e-5) && near(a.im, b.im, 1e-5)));
        let (here, there) = (self.wide.cpu().unwrap().item(), host.wide.item());
        assert!((here - there).abs() <= 1e-12 * there.abs().max(1.0) && self.again.cpu().unwrap().item() == here);
        assert_eq!(self.count.cpu().unwrap().to_vec(), [1, 2]);
    }
}

fn same_steps<R: Rule, D: Device>(set: impl Fn(&mut R)) {
    let (mut net, mut host) = (Net::<D>::of(0), Net::<Cpu>::of(0));
    let (mut one, mut other) = (Optimizer::<R, _>::new(&net), Optimizer::<R, _>::new(&host));
    set(one.options_mut());
    set(other.options_mut());
    for step in 1..3 {
        one.step(&mut net, &Net::of(step));
        other.step(&mut host, &Net::of(step));
    }
    net.is_near(&host);
}

pub fn sgd_steps_as_on_the_host<D: Device>() {
    same_steps::<SgdOptions, D>(|sgd| (sgd.rate, sgd.decay) = (0.1, 0.1));
    same_steps::<SgdOptions, D>(|sgd| (sgd.rate, sgd.momentum, sgd.nesterov) = (0.1, 0.9, true));
}

pub fn adam_steps_as_on_the_host<D: Device>() {
    same_steps::<AdamOptions, D>(|adam| (adam.rate, adam.amsgrad, adam.beta2) = (0.1, true, 0.5));
    same_steps::<AdamWOptions, D>(|adam| adam.rate = 0.1);
    same_steps::<NAdamOptions, D>(|adam| adam.rate = 0.1);
    same_steps::<RAdamOptions, D>(|adam| (adam.rate, adam.beta2) = (0.1, 0.9));
}

pub fn others_step_as_on_the_host<D: Device>() {
    same_steps::<RmsPropOptions, D>(|it| {
        (it.rate, it.centered, it.momentum, it.eps, it.alpha) = (0.1, true, 0.5, 0.1, 0.5);
    });
    same_steps::<AdagradOptions, D>(|it| (it.rate, it.initial) = (0.1, 0.5));
    same_steps::<AdadeltaOptions, D>(|it| it.eps = 1e-2);
    same_steps::<AdamaxOptions, D>(|it| (it.rate, it.maximize) = (0.1, true));
}

pub fn gradients_are_summed_and_clipped<D: Device>() {
    let (mut net, mut host) = (Net::<D>::of(1), Net::<Cpu>::of(1));
    net += &Net::of(2);
    host += &Net::of(2);
    net /= 4.0;
    host /= 4.0;
    net.is_near(&host);
    net.clip_value(0.25);
    host.clip_value(0.25);
    net.is_near(&host);
    let (norm, host_norm) = (net.clip_norm(0.5), host.clip_norm(0.5));
    assert!(!has_data::<D>() || (norm - host_norm).abs() < 1e-2, "{norm} {host_norm}");
    net.is_near(&host);
}

pub fn lbfgs_finds_a_minimum<D: Device>() {
    let mut point: Tensor<f64, shape![3], D> = tensor![0.0, 1.0, 2.0; f64].on();
    let centre: Tensor<f64, shape![3], D> = tensor![3.0, -1.0, 0.5; f64].on();
    let mut lbfgs = Lbfgs::new(&point).max_iter(4).strong_wolfe();
    lbfgs.step(&mut point, |point| {
        let away = point - &centre;
        let loss = if has_data::<D>() { (&away * &away).sum().item() } else { 0.0 };
        (loss, away * 2.0)
    });
    if has_data::<D>() {
        assert!((point - centre).total_norm() < 1e-6);
    }
}

each_device! {
    also_without_data: sgd_steps_as_on_the_host, adam_steps_as_on_the_host, others_step_as_on_the_host,
        gradients_are_summed_and_clipped, lbfgs_finds_a_minimum;
    with_data: ;
}
