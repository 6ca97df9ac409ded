//! Optimisers, schedules and the arithmetic of modules, compared with PyTorch (`tests/oracle/optim.json`), and their own promises.

use crate::common::json;
use castiron::io::{Checkpoint, CheckpointWriter};
use castiron::optim::{
    Adadelta, Adagrad, Adam, AdamW, Adamax, Lbfgs, NAdam, OneCycle, Optimizer, Plateau, RAdam, RmsProp, Rule, Schedule,
    Sgd,
};
use castiron::{Complex, DType, Dtype, Dyn, Element, Meta, Module, Tensor, bf16, shape, tensor};
use serde_json::Value as Json;

/// The parameters of the tables.
#[derive(Module)]
struct Three<E: Element> {
    matrix: Tensor<E, shape![2, 3]>,
    list: Tensor<E, shape![5]>,
    number: Tensor<E, shape![]>,
}

impl<E: Element> Clone for Three<E> {
    fn clone(&self) -> Self {
        Three { matrix: self.matrix.clone(), list: self.list.clone(), number: self.number.clone() }
    }
}

/// The element of a parameter at the start, or of its gradient in a step.
fn number(parameter: usize, at: usize, step: usize) -> f64 {
    (((at * 37 + step * 11 + parameter * 53 + 17) % 61) as f64 - 30.0) / 16.0
}

/// The dtypes of the tables.
trait Learned: Dtype {
    /// Relative to the largest element: a few roundings in each of seven steps, where PyTorch rounds after each operation and castiron
    /// once (`bf16`), or multiplies and adds in one (`f32`, `f64`).
    const TOLERANCE: f64;
    fn made(x: f64, step: usize) -> Self;
    fn parts(self) -> Vec<f64>;
}
macro_rules! learned {
    ($($ty:ty: $tolerance:literal $real:ty;)*) => {$(
        impl Learned for $ty {
            const TOLERANCE: f64 = $tolerance;
            fn made(x: f64, _: usize) -> Self {
                x as $ty
            }
            fn parts(self) -> Vec<f64> {
                vec![f64::from(self)]
            }
        }
        impl Learned for Complex<$real> {
            const TOLERANCE: f64 = $tolerance;
            fn made(x: f64, step: usize) -> Self {
                Complex::new(x as $real, (x * (1 + step) as f64) as $real)
            }
            fn parts(self) -> Vec<f64> {
                vec![self.re.into(), self.im.into()]
            }
        }
    )*};
}
learned! { f32: 1e-6 f32; f64: 1e-12 f64; }
impl Learned for bf16 {
    const TOLERANCE: f64 = 2e-2;
    fn made(x: f64, _: usize) -> Self {
        bf16::from_f64(x)
    }
    fn parts(self) -> Vec<f64> {
        vec![self.to_f64()]
    }
}

impl<E: Learned> Three<E> {
    fn of(step: usize) -> Self {
        let list =
            |parameter: usize, len: usize| (0..len).map(|at| E::made(number(parameter, at, step), step)).collect();
        Three {
            matrix: Tensor::from_vec(list(0, 6)),
            list: Tensor::from_vec(list(1, 5)),
            number: Tensor::scalar(E::made(number(2, 0, step), step)),
        }
    }
    fn elements(&self) -> Vec<f64> {
        let all = [self.matrix.to_vec(), self.list.to_vec(), self.number.to_vec()].concat();
        all.into_iter().flat_map(E::parts).collect()
    }
}

fn flat(lists: &Json) -> Vec<f64> {
    lists.as_array().unwrap().iter().flat_map(|list| list.as_array().unwrap()).map(|x| x.as_f64().unwrap()).collect()
}

#[track_caller]
fn expect_close(found: &[f64], expected: &[f64], tolerance: f64, about: &str) {
    assert_eq!(found.len(), expected.len(), "{about}");
    let size = expected.iter().fold(1e-3_f64, |size, x| size.max(x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * size, "{about}: {found} and not {expected}");
    }
}

/// An option as the tables name it.
trait Settable: Rule {
    fn set(&mut self, name: &str, value: &Json);
}
trait SetByJson {
    fn set_by(&mut self, value: &Json);
}
impl SetByJson for f64 {
    fn set_by(&mut self, value: &Json) {
        *self = value.as_f64().unwrap();
    }
}
impl SetByJson for bool {
    fn set_by(&mut self, value: &Json) {
        *self = value.as_bool().unwrap();
    }
}
macro_rules! settable {
    ($($options:ident: $($field:ident)*;)*) => {$(
        impl Settable for castiron::optim::$options {
            fn set(&mut self, name: &str, value: &Json) {
                match name {
                    $(stringify!($field) => self.$field.set_by(value),)*
                    _ => panic!("there is no option {name}"),
                }
            }
        }
    )*};
}
settable! {
    SgdOptions: rate momentum dampening decay nesterov maximize;
    AdamOptions: rate beta1 beta2 eps decay amsgrad decoupled maximize;
    AdamWOptions: rate beta1 beta2 eps decay amsgrad maximize;
    RmsPropOptions: rate alpha eps decay momentum centered maximize;
    AdagradOptions: rate rate_decay decay initial eps maximize;
    AdadeltaOptions: rate rho eps decay maximize;
    AdamaxOptions: rate beta1 beta2 eps decay maximize;
    NAdamOptions: rate beta1 beta2 eps decay momentum_decay decoupled maximize;
    RAdamOptions: rate beta1 beta2 eps decay decoupled maximize;
}

fn set_all(options: &mut impl Settable, given: &Json) {
    given.as_object().unwrap().iter().for_each(|(name, value)| options.set(name, value));
}

/// Runs the steps of a row, and compares each with PyTorch's; saved and loaded in the middle.
fn follow<R: Settable, E: Learned>(row: &Json, options: &Json, group: Option<&Json>, steps: &Json) {
    let mut net = Three::<E>::of(0);
    let mut optimizer = Optimizer::<R, Three<E>>::new(&net);
    set_all(optimizer.options_mut(), options);
    if let Some(group) = group {
        optimizer = optimizer.group(|name| name == "list", |options| set_all(options, group));
    }
    for (at, expected) in steps.as_array().unwrap().iter().enumerate() {
        // (safetensors has no complex64 of doubles.)
        if at == 3 && E::DTYPE != DType::C128 {
            optimizer = Optimizer::load(&saved(&optimizer)).unwrap();
        }
        optimizer.step(&mut net, &Three::of(at + 1));
        let about = format!("{} {} {} step {at}", row[0], row[1], E::DTYPE);
        expect_close(&net.elements(), &flat(expected), E::TOLERANCE, &about);
    }
    assert_eq!(optimizer.steps(), 7);
}

/// What is saved, in memory.
fn saved(module: &impl Module) -> Checkpoint {
    let mut writer = CheckpointWriter::new();
    for parameter in module.named_parameters() {
        writer = writer.tensor(parameter.name, parameter.tensor);
    }
    Checkpoint::from_bytes(writer.to_bytes().unwrap()).unwrap()
}

fn follow_named(name: &str, dtype: &str, row: &Json, options: &Json, group: Option<&Json>, steps: &Json) {
    macro_rules! by_name {
        ($($alias:ident $rule:ident),*) => {
            match (name, dtype) {
                $(
                    (stringify!($alias), "f32") => follow::<castiron::optim::$rule, f32>(row, options, group, steps),
                    (stringify!($alias), "f64") => follow::<castiron::optim::$rule, f64>(row, options, group, steps),
                    (stringify!($alias), "bf16") => follow::<castiron::optim::$rule, bf16>(row, options, group, steps),
                    (stringify!($alias), "c64") => follow::<castiron::optim::$rule, Complex<f32>>(row, options, group, steps),
                    (stringify!($alias), "c128") => follow::<castiron::optim::$rule, Complex<f64>>(row, options, group, steps),
                )*
                _ => panic!("there is no {name} of {dtype}"),
            }
        };
    }
    by_name!(
        Sgd SgdOptions, Adam AdamOptions, AdamW AdamWOptions, RmsProp RmsPropOptions, Adagrad AdagradOptions,
        Adadelta AdadeltaOptions, Adamax AdamaxOptions, NAdam NAdamOptions, RAdam RAdamOptions
    );
}

#[test]
fn steps_are_pytorchs() {
    let table = json("optim.json");
    let rows = table["rows"].as_array().unwrap();
    assert!(rows.len() > 70);
    for row in rows {
        follow_named(row[0].as_str().unwrap(), row[2].as_str().unwrap(), row, &row[1], None, &row[3]);
    }
    for row in table["grouped"].as_array().unwrap() {
        follow_named(row[0].as_str().unwrap(), row[3].as_str().unwrap(), row, &row[1], Some(&row[2]), &row[4]);
    }
}

type Point = Tensor<f64, shape![4]>;

/// Rosenbrock's function in four variables, and its gradient.
fn rosenbrock(x: &Point) -> (f64, Point) {
    let x = x.to_vec();
    let (mut sum, mut gradient) = (0.0, vec![0.0; 4]);
    for at in 0..3 {
        let (away, left) = (x[at + 1] - x[at] * x[at], 1.0 - x[at]);
        sum += 100.0 * away * away + left * left;
        gradient[at + 1] += 200.0 * away;
        gradient[at] -= 400.0 * away * x[at] + 2.0 * left;
    }
    (sum, Tensor::from_vec(gradient))
}

#[test]
fn lbfgs_is_pytorchs() {
    for row in json("optim.json")["lbfgs"].as_array().unwrap() {
        let (mut x, options) = (tensor![-1.2, 1.0, 0.5, -0.25; f64], &row[0]);
        let mut lbfgs = Lbfgs::new(&x).rate(options["rate"].as_f64().unwrap_or(1.0));
        let whole = |name: &str| options[name].as_u64().map(|count| count as u32);
        if options["strong_wolfe"] == true {
            lbfgs = lbfgs.strong_wolfe();
        }
        if let Some(size) = whole("history_size") {
            lbfgs = lbfgs.history_size(size);
        }
        lbfgs = lbfgs
            .max_iter(whole("max_iter").unwrap())
            .tolerance_grad(options["tolerance_grad"].as_f64().unwrap_or(1e-7));
        for (at, expected) in row[2].as_array().unwrap().iter().enumerate() {
            if at == 2 {
                lbfgs = Lbfgs::load(&saved(&lbfgs)).unwrap();
            }
            let loss = lbfgs.step(&mut x, rosenbrock);
            let about = format!("{options} step {at}");
            // Each iteration multiplies the differences of roundings: dozens of evaluations follow each other.
            expect_close(&[loss], &[expected[0].as_f64().unwrap()], 1e-10, &about);
            expect_close(&x.to_vec(), &flat(&Json::Array(vec![expected[1].clone()])), 1e-10, &about);
        }
    }
}

fn schedule(name: &str, given: &Json) -> Schedule {
    let (rate, number) = (0.5, |name: &str| given[name].as_f64().unwrap());
    let count = |name: &str| given[name].as_u64().unwrap();
    match name {
        "step" => Schedule::step(rate, count("every"), number("factor")),
        "multi_step" => Schedule::multi_step(
            rate,
            given["at"].as_array().unwrap().iter().filter_map(Json::as_u64),
            number("factor"),
        ),
        "exponential" => Schedule::exponential(rate, number("factor")),
        "cosine" => Schedule::cosine(rate, count("steps")).least(number("least")),
        "linear" => Schedule::linear(rate, number("from"), number("to"), count("steps")),
        "constant" => Schedule::constant(rate * number("factor")).then(count("steps"), Schedule::constant(rate)),
        "polynomial" => Schedule::polynomial(rate, count("steps"), number("power")),
        "restarts" => Schedule::cosine_restarts(rate, count("first"), count("times")).least(number("least")),
        "one_cycle" => {
            let mut cycle = OneCycle::new(rate, count("steps"));
            if given["linear"] == true {
                cycle = cycle.linear();
            }
            if given["three_phase"] == true {
                cycle = cycle.three_phases();
            }
            if given["warm"].is_number() {
                cycle = cycle.warm(number("warm")).start_by(number("start_by")).end_by(number("end_by"));
            }
            cycle.into()
        }
        "warm_cosine" => {
            let warm = Schedule::linear(rate, number("from"), 1.0, count("warm"));
            warm.then(count("warm"), Schedule::cosine(rate, count("steps")))
        }
        _ => panic!("there is no schedule {name}"),
    }
}

#[test]
fn schedules_are_pytorchs() {
    let table = json("optim.json");
    for row in table["schedules"].as_array().unwrap() {
        let schedule = schedule(row[0].as_str().unwrap(), &row[1]);
        for (step, expected) in row[2].as_array().unwrap().iter().enumerate() {
            // PyTorch takes each rate from the one before, so that roundings add up.
            let (found, expected) = (schedule.at(step as u64), expected.as_f64().unwrap());
            assert!((found - expected).abs() < 1e-13, "{} {} step {step}: {found} and not {expected}", row[0], row[1]);
        }
    }
    for row in table["plateau"].as_array().unwrap() {
        let given = &row[0];
        let whole = |name: &str, or: u32| given[name].as_u64().map_or(or, |count| count as u32);
        let mut plateau = Plateau::new(0.5).patience(whole("patience", 10)).cooldown(whole("cooldown", 0));
        plateau = plateau.factor(given["factor"].as_f64().unwrap_or(0.1)).least(given["least"].as_f64().unwrap_or(0.0));
        plateau = plateau.threshold(given["threshold"].as_f64().unwrap_or(1e-4));
        if given["rising"] == true {
            plateau = plateau.rising();
        }
        if given["absolute"] == true {
            plateau = plateau.absolute();
        }
        for (at, step) in row[1].as_array().unwrap().iter().enumerate() {
            if at == 9 {
                plateau = Plateau::load(&saved(&plateau)).unwrap();
            }
            let (measure, expected) = (step[0].as_f64().unwrap(), step[1].as_f64().unwrap());
            let found = plateau.next(measure);
            assert!((found - expected).abs() < 1e-15, "{given} at {at}: {found} and not {expected}");
        }
    }
}

#[test]
fn gradients_are_clipped_as_pytorch_does() {
    for row in json("optim.json")["clipped"].as_array().unwrap() {
        let mut gradients = Three::<f64>::of(1);
        let norm = gradients.clip_norm(row[0].as_f64().unwrap());
        expect_close(&[norm], &[row[1].as_f64().unwrap()], 1e-14, "norm");
        expect_close(&gradients.elements(), &flat(&row[2]), 1e-14, "clipped");
    }
    let mut gradients = Three::<f32>::of(1);
    gradients.clip_value(0.5);
    assert!(gradients.elements().iter().all(|x| x.abs() <= 0.5) && gradients.total_norm() > 0.5);
}

/// Tensors of every kind that a module may have.
#[derive(Module, Clone)]
struct Mixed {
    transposed: Tensor<f32, shape![3, 2]>,
    #[module(tied = "transposed")]
    again: Tensor<f32, shape![3, 2]>,
    lists: Vec<Tensor<f64, (Dyn,)>>,
    maybe: Option<Tensor<bf16, shape![2]>>,
    none: Option<Tensor<f32, shape![2]>>,
    steps: Tensor<i64, shape![2]>,
    mask: Tensor<bool, shape![2]>,
    repeated: Tensor<f32, shape![4]>,
    inner: std::collections::HashMap<String, Box<Three<f32>>>,
    #[module(skip)]
    kept: usize,
}

fn mixed(step: usize) -> Mixed {
    let transposed = Tensor::<f32, shape![2, 3]>::from_vec((0..6).map(|at| number(0, at, step) as f32).collect()).t();
    Mixed {
        again: transposed.clone(),
        transposed,
        lists: [0, 3]
            .map(|len| Tensor::from_vec_sized((0..len).map(|at| number(1, at, step)).collect(), [len]))
            .to_vec(),
        maybe: Some(Tensor::from_vec(vec![bf16::from_f32(1.0); 2])),
        none: None,
        steps: tensor![1, 2],
        mask: tensor![true, false],
        repeated: Tensor::<f32, shape![1]>::from_vec(vec![number(2, 0, step) as f32]).expand::<shape![4]>(),
        inner: [("b".to_owned(), Box::new(Three::of(step))), ("a".to_owned(), Box::new(Three::of(step)))].into(),
        kept: 7,
    }
}

#[test]
fn all_tensors_of_a_module_are_stepped_once_and_no_others() {
    let mut net = mixed(0);
    let before = net.clone();
    let grads = mixed(1);
    let mut adam = Adam::new(&net).rate(0.1).amsgrad();
    let mut plain = Adam::new(&before.transposed).rate(0.1).amsgrad();
    let mut alone = before.transposed.clone();
    for _ in 0..3 {
        adam.step(&mut net, &grads);
        plain.step(&mut alone, &grads.transposed);
    }
    assert_eq!(net.transposed.to_vec(), alone.to_vec());
    assert_eq!(net.transposed.stride(), [1, 3]);
    assert!(net.again.shares_storage(&net.transposed) && net.kept == 7);
    assert_eq!((net.steps.to_vec(), net.mask.to_vec()), (vec![1, 2], vec![true, false]));
    assert_eq!(net.repeated.to_vec(), vec![net.repeated[0]; 4]);
    assert_eq!(net.inner["a"].elements(), net.inner["b"].elements());
    // The clone has its own elements.
    assert_eq!(before.transposed.to_vec(), mixed(0).transposed.to_vec());
    assert_eq!(before.again.to_vec(), mixed(0).again.to_vec());
    assert_ne!(net.lists[1].to_vec(), before.lists[1].to_vec());
    // In the state, too, tied tensors are the same, and nothing of it is the parameters'.
    let mean = adam.state("exp_avg").unwrap();
    assert!(mean.again.shares_storage(&mean.transposed) && !mean.again.shares_storage(&before.transposed));
    let path = std::env::temp_dir().join(format!("castiron-optim-{}.safetensors", std::process::id()));
    adam.save(&path).unwrap();
    let mut loaded: Adam<Mixed> = Adam::load(&Checkpoint::open(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let mut other = net.clone();
    loaded.step(&mut other, &grads);
    adam.step(&mut net, &grads);
    assert_eq!(other.transposed.to_vec(), net.transposed.to_vec());
    // A second step is in place: the storage is the optimised module's alone.
    let storage = net.transposed.as_slice().map(<[f32]>::as_ptr);
    adam.step(&mut net, &grads);
    assert_eq!(net.transposed.as_slice().map(<[f32]>::as_ptr), storage);
}

#[test]
fn gradients_in_any_layout_give_the_same_step() {
    let (mut one, mut other) = (Three::<f32>::of(0), Three::<f32>::of(0));
    let grads = Three::<f32>::of(1);
    let transposed = Three { matrix: grads.matrix.t().contiguous().t(), ..grads.clone() };
    other.matrix = other.matrix.t().contiguous().t();
    let (mut adam, mut other_adam) = (Adam::new(&one), Adam::new(&other));
    for _ in 0..2 {
        adam.step(&mut one, &transposed);
        other_adam.step(&mut other, &grads);
        assert_eq!(one.elements(), other.elements());
    }
    // State that was loaded is row-major.
    let mut loaded: Adam<Three<f32>> = Adam::load(&saved(&other_adam)).unwrap();
    assert!(loaded.state("exp_avg").unwrap().matrix.is_contiguous());
    loaded.step(&mut other, &grads);
    adam.step(&mut one, &grads);
    assert_eq!(one.elements(), other.elements());
    // Parameters as their own gradients.
    let shared = one.clone();
    Sgd::new(&one).rate(1.0).step(&mut one, &shared);
    assert!(one.elements().iter().all(|x| *x == 0.0) && shared.elements().iter().any(|x| *x != 0.0));
}

#[test]
fn many_elements_are_stepped_as_few_are() {
    type Many = Tensor<f32, shape![100_003]>;
    let elements = |step: usize| (0..100_003).map(|at| number(0, at, step) as f32).collect::<Vec<f32>>();
    let (mut many, gradient) = (Many::from_vec(elements(0)), Many::from_vec(elements(1)));
    let mut few = Tensor::<f32, shape![61]>::from_vec(elements(0)[..61].to_vec());
    let few_gradient = Tensor::from_vec(elements(1)[..61].to_vec());
    let (mut adam, mut few_adam) = (AdamW::new(&many), AdamW::new(&few));
    for _ in 0..3 {
        adam.step(&mut many, &gradient);
        few_adam.step(&mut few, &few_gradient);
    }
    // The numbers repeat themselves after 61.
    let few = few.to_vec();
    assert!(many.iter().enumerate().all(|(at, x)| x.to_bits() == few[at % 61].to_bits()));
    let norm = gradient.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    assert!((gradient.total_norm() - norm).abs() < 1e-9);
}

#[test]
fn sums_of_gradients() {
    let mut sum = mixed(1);
    sum += &mixed(2);
    sum /= 2.0;
    sum *= 3.0;
    sum.add_scaled(&mixed(3), -1.0);
    let wanted = |p: usize, at: usize| (number(p, at, 1) + number(p, at, 2)) * 1.5 - number(p, at, 3);
    assert_eq!(sum.lists[1].to_vec(), (0..3).map(|at| wanted(1, at)).collect::<Vec<_>>());
    assert_eq!(sum.repeated.to_vec(), vec![wanted(2, 0) as f32; 4]);
    assert_eq!((sum.again.to_vec(), sum.steps.to_vec()), (sum.transposed.to_vec(), vec![1, 2]));
}

#[test]
fn errors_leave_the_parameters_as_they_are() {
    let mut net = mixed(0);
    let text = |result: castiron::Result<()>| result.unwrap_err().to_string();
    let mut adam = Adam::new(&net).beta1(1.5);
    assert_eq!(text(adam.try_step(&mut net, &mixed(1))), "Adam: beta1 is 1.5, which is not in 0.0..1.0");
    let mut sgd = Sgd::new(&net).nesterov();
    assert_eq!(
        text(sgd.try_step(&mut net, &mixed(1))),
        "Sgd: Nesterov's momentum needs a momentum above 0 and no dampening"
    );
    let mut adam = Adam::new(&net).rate(f64::NAN);
    assert!(text(adam.try_step(&mut net, &mixed(1))).contains("rate is NaN"));
    let mut shorter = mixed(1);
    shorter.lists.pop();
    let mut sgd = Sgd::new(&net).momentum(0.5);
    assert_eq!(
        text(sgd.try_step(&mut net, &shorter)),
        "step: the parameter is `lists.1`, float64 [3], and the gradient has `maybe`, bfloat16 [2]"
    );
    assert!(sgd.state("momentum_buffer").is_none() && sgd.steps() == 0);
    let mut longer = mixed(1);
    longer.lists[1] = Tensor::zeros_sized([4]);
    assert_eq!(
        text(sgd.try_step(&mut net, &longer)),
        "step: the parameter is `lists.1`, float64 [3], and the gradient has `lists.1`, float64 [4]"
    );
    assert_eq!(net.lists[1].to_vec(), mixed(0).lists[1].to_vec());
    assert!(net.again.shares_storage(&net.transposed));
}

/// A module that is written by hand, as before there were optimisers.
#[derive(Clone)]
struct ByHand(Tensor<f32, shape![2]>);
impl Module for ByHand {
    fn read(place: &castiron::io::Place<'_>, initial: Option<Self>) -> Option<Self> {
        Tensor::read(place, initial.map(|it| it.0)).map(ByHand)
    }
    fn list<'a>(&'a self, listing: &mut castiron::io::Listing<'a>) {
        self.0.list(listing);
    }
}

#[test]
fn modules_that_do_not_list_for_writing_are_refused() {
    let mut net = ByHand(tensor![1.0, 2.0]);
    let grads = net.clone();
    let error = Sgd::new(&net).try_step(&mut net, &grads).unwrap_err().to_string();
    assert!(error.ends_with("`list_mut` and `sharing` in its `impl Module`"), "{error}");
}

#[test]
fn what_is_saved_has_pytorchs_names_and_is_checked() {
    let mut net = Three::<f32>::of(0);
    let mut adam = Adam::new(&net).decay(0.5).group(|name| name == "list", |group| group.rate = 0.0);
    adam.step(&mut net, &Three::of(1));
    let names: Vec<String> = adam.named_parameters().into_iter().map(|parameter| parameter.name).collect();
    assert_eq!(
        names[..6].join(" "),
        "exp_avg.matrix exp_avg.list exp_avg.number exp_avg_sq.matrix exp_avg_sq.list exp_avg_sq.number"
    );
    assert_eq!(names[6..10].join(" "), "steps assigned groups.0.share groups.0.rate");
    assert!(names.iter().any(|name| name == "groups.1.decay"));
    let loaded: Adam<Three<f32>> = Adam::load(&saved(&adam)).unwrap();
    assert_eq!(loaded.groups(), adam.groups());
    assert_eq!(loaded.group(|_| true, |_| ()).groups().len(), 3);
    // A group that is not there.
    let mut writer = CheckpointWriter::new();
    for parameter in adam.named_parameters().into_iter().filter(|parameter| !parameter.name.starts_with("groups.1")) {
        writer = writer.tensor(parameter.name, parameter.tensor);
    }
    let file = Checkpoint::from_bytes(writer.to_bytes().unwrap()).unwrap();
    let error = Adam::<Three<f32>>::load(&file).err().unwrap().to_string();
    assert!(error.contains("has parameters in groups that are not there"), "{error}");
}

/// What holds for any optimiser: it steps without data, and whole numbers stay.
#[test]
fn tensors_without_data_are_stepped() {
    let mut net: Tensor<f32, shape![3], Meta> = Tensor::zeros();
    let grads = net.clone();
    let mut adam = Adam::new(&net);
    adam.step(&mut net, &grads);
    assert_eq!((adam.steps(), net.clip_norm(1.0)), (1, 0.0));
    let mut counts = tensor![1, 2];
    Adam::new(&counts).step(&mut counts.clone(), &counts.clone());
    counts.scale(2.0);
    assert_eq!(counts.to_vec(), [1, 2]);
}

#[test]
fn every_optimiser_finds_a_minimum() {
    fn distance<R: Rule>(mut optimizer: Optimizer<R, Tensor<f64, shape![2]>>) -> f64 {
        let (mut x, centre) = (tensor![0.0, 0.0; f64], tensor![1.0, -0.5; f64]);
        for _ in 0..2000 {
            let gradient = (&x - &centre) * tensor![1.0, 4.0; f64];
            optimizer.step(&mut x, &gradient);
        }
        (x - centre).total_norm()
    }
    let x = tensor![0.0, 0.0; f64];
    let found = [
        distance(Sgd::new(&x).rate(0.1)),
        distance(Adam::new(&x).rate(0.01)),
        distance(AdamW::new(&x).rate(0.01).decay(0.0)),
        distance(RmsProp::new(&x).rate(1e-3)),
        distance(Adagrad::new(&x).rate(0.5)),
        distance(Adadelta::new(&x).rate(10.0)),
        distance(Adamax::new(&x).rate(0.02)),
        distance(NAdam::new(&x).rate(0.01)),
        distance(RAdam::new(&x).rate(0.01)),
    ];
    assert!(found.iter().all(|away| *away < 0.02), "{found:?}");
}

/// Numbers are tensors of no axes, in files.
#[test]
fn numbers_are_saved() {
    let bytes = CheckpointWriter::new().tensor("rate", &0.5).tensor("steps", &3_i64).to_bytes().unwrap();
    let file = Checkpoint::from_bytes(bytes).unwrap();
    let rate: Tensor<f64, shape![]> = Tensor::load(&file, "rate").unwrap();
    assert_eq!(rate.item(), 0.5);
}

/// A module whose dtypes and shapes are known at run time only.
#[cfg(feature = "any")]
#[derive(Module, Clone)]
struct Loose {
    weight: castiron::AnyTensor,
    count: castiron::AnyTensor,
}

#[cfg(feature = "any")]
#[test]
fn tensors_of_any_dtype_are_stepped() {
    use castiron::AnyTensor;
    let loose = |step: usize| {
        let three = Three::<f32>::of(step);
        Loose { weight: AnyTensor::from(three.matrix.t()), count: AnyTensor::from(tensor![1, 2]) }
    };
    let (mut net, mut typed) = (loose(0), Three::<f32>::of(0).matrix.t());
    let before = net.clone();
    let (mut adam, mut typed_adam) = (Adam::new(&net).rate(0.1), Adam::new(&typed).rate(0.1));
    for step in 1..4 {
        adam.step(&mut net, &loose(step));
        typed_adam.step(&mut typed, &Three::<f32>::of(step).matrix.t());
    }
    let elements = |x: &AnyTensor| x.typed::<f32, shape![_, _], castiron::Cpu>().unwrap().to_vec();
    assert_eq!(elements(&net.weight), typed.to_vec());
    assert_eq!(elements(&before.weight), elements(&loose(0).weight));
    assert_eq!(net.count.to_string(), "tensor([1, 2])");
    let mut grads = loose(1);
    grads += &loose(2);
    assert!(
        (grads.clip_norm(1.0) - {
            let sum = Three::<f32>::of(1).matrix + Three::<f32>::of(2).matrix;
            sum.total_norm()
        })
        .abs()
            < 1e-12
    );
    // Other dtypes than those of the parameters.
    let other = Loose { weight: net.weight.to(DType::F64).unwrap(), ..net.clone() };
    let error = adam.try_step(&mut net, &other).unwrap_err().to_string();
    assert_eq!(error, "step: the parameter is `weight`, float32 [3, 2], and the gradient has `weight`, float64 [3, 2]");
    let meta = |x: &AnyTensor| x.to_device("meta").unwrap();
    let (mut net, grads) = (Loose { weight: meta(&net.weight), count: meta(&net.count) }, net);
    let grads = Loose { weight: meta(&grads.weight), count: meta(&grads.count) };
    Sgd::new(&net).step(&mut net, &grads);
}

#[test]
fn groups_begin_with_states_of_their_own_and_ties_go_through_others() {
    #[derive(Module, Clone)]
    struct Two {
        weight: Tensor<f32, shape![1]>,
        bias: Tensor<f32, shape![1]>,
    }
    let mut two = Two { weight: tensor![0.0], bias: tensor![0.0] };
    let gradient = Two { weight: tensor![1.0], bias: tensor![1.0] };
    let mut adagrad = Adagrad::new(&two).rate(1.0).group(|name| name == "bias", |group| group.initial = 3.0);
    adagrad.step(&mut two, &gradient);
    assert!((two.weight[0] + 1.0).abs() < 1e-4 && (two.bias[0] + 0.5).abs() < 1e-4);

    #[derive(Module)]
    #[module(tied("c" = "b", "b" = "a"))]
    struct Chain {
        a: Tensor<f32, shape![1]>,
        b: Tensor<f32, shape![1]>,
        c: Tensor<f32, shape![1]>,
    }
    let one = tensor![1.0];
    let mut chain = Chain { a: one.clone(), b: one.clone(), c: one };
    let gradient = Chain { a: tensor![1.0], b: tensor![0.0], c: tensor![0.0] };
    Sgd::new(&chain).rate(0.5).step(&mut chain, &gradient);
    assert_eq!([&chain.a, &chain.b, &chain.c].map(|x| x[0]), [0.5; 3]);

    assert_eq!(OneCycle::new(0.5, 10).warm(0.1).at(0), 0.5);
}
