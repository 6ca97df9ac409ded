//! Gradients and optimisers together: frozen fields, tied ones, and losses in half precision.

use castiron::grad::{self, Grad};
use castiron::optim::{Adam, AdamW, Lbfgs, LossScale, Sgd};
use castiron::{Checkpoint, Cpu, Device, Module, Tensor, axis, bf16, f16, shape, tensor};

/// (`derive(Clone)` of a generic struct takes no macros in types.)
type One = shape![1];
type Two = shape![2];
type Any = shape![_];

/// Saves a module and opens the file.
fn saved(module: &impl Module, name: &str) -> Checkpoint {
    let path = std::env::temp_dir().join(format!("castiron-trained-{}-{name}.safetensors", std::process::id()));
    module.save(&path).unwrap();
    let file = Checkpoint::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file
}

#[derive(Module, Clone)]
struct Line<D: Device = Cpu> {
    weight: Tensor<f32, Two, D>,
    bias: Tensor<f32, (), D>,
}
impl<D: Device> Line<D> {
    fn at(&self, x: &Tensor<f32, shape![2], D>) -> Tensor<f32, (), D> {
        (&self.weight * x).sum() + &self.bias
    }
}
fn line(by: f32) -> Line {
    Line { weight: tensor![1.0, 2.0] * by, bias: Tensor::scalar(by) }
}

/// A model that learns `head` and `scale`.
#[derive(Module, Clone)]
struct Model<D: Device = Cpu> {
    #[module(frozen)]
    backbone: Vec<Line<D>>,
    #[module(frozen, rename = "running_mean")]
    mean: Tensor<f32, Any, D>,
    head: Line<D>,
    #[module(frozen)]
    maybe: Option<Tensor<f32, One, D>>,
    scale: Tensor<f32, (), D>,
}
fn model() -> Model {
    Model {
        backbone: vec![line(0.5), line(-1.0)],
        mean: Tensor::from_vec_sized(vec![0.25, -0.5], [2]),
        head: line(1.0),
        maybe: None,
        scale: Tensor::scalar(3.0),
    }
}
impl<D: Device> Model<D> {
    fn features(&self, x: &Tensor<f32, shape![2], D>) -> Tensor<f32, shape![2], D> {
        castiron::stack((self.backbone[0].at(x), self.backbone[1].at(x)), axis![0])
    }
    fn loss(&self, x: &Tensor<f32, shape![2], D>) -> Tensor<f32, (), D> {
        self.head.at(&(self.features(x) - self.mean.with_shape::<shape![2]>())).square() * &self.scale
    }
}
fn bits(model: &Model) -> (Vec<u32>, Vec<u32>) {
    let (mut frozen, mut learned) = (Vec::new(), Vec::new());
    for parameter in model.named_parameters() {
        let to = if parameter.is_frozen { &mut frozen } else { &mut learned };
        parameter
            .tensor
            .with_bytes(&mut |bytes| {
                to.extend(bytes.chunks(4).map(|four| u32::from_ne_bytes(four.try_into().unwrap())));
                Ok(())
            })
            .unwrap();
    }
    (frozen, learned)
}

#[test]
fn frozen_fields_have_no_gradient_and_stay_bit_for_bit() {
    let x = tensor![0.5, -1.0];
    let mut net = model();
    let mut taken = None;
    let (loss, grads) = net.value_and_grad(&x, |net, x| {
        taken = Some((net.features(x), net.scale.clone()));
        net.loss(x)
    });
    // What was computed of them alone was not recorded: it can be used when the tape is finished.
    let (features, scale) = taken.unwrap();
    assert_eq!(features.try_neg().unwrap().detach().to_vec(), [0.25, -0.5]);
    assert!(scale.try_neg().is_err());
    assert!(loss.item() > 0.0);
    assert_eq!((grads.backbone.len(), grads.maybe.is_none()), (2, true));
    for (zeros, name) in [(&grads.backbone[0].weight, "weight"), (&grads.backbone[1].weight, "of the second")] {
        assert_eq!((zeros.to_vec(), zeros.stride()), (vec![0.0; 2], [0]), "{name}");
    }
    assert_eq!((grads.mean.to_vec(), grads.mean.stride(), grads.mean.shape()), (vec![0.0; 2], [0], [2]));
    assert_ne!(grads.head.weight.to_vec(), [0.0; 2]);
    // The gradient of what is learned is that of a model in which nothing is frozen.
    let features = net.features(&x) - &net.mean.with_shape::<shape![2]>();
    let (_, (head, scale)) = (net.head.clone(), net.scale.clone())
        .value_and_grad(&features, |(head, scale), features| head.at(features).square() * scale);
    assert_eq!((grads.head.weight.to_vec(), grads.scale.item()), (head.weight.to_vec(), scale.item()));
    // So it is by `vjp`, and through a checkpoint.
    let (_, back) = net.vjp(&x, |net, x| net.loss(x));
    let by_vjp = back.pull(&Tensor::scalar(1.0));
    assert_eq!((by_vjp.head.weight.to_vec(), by_vjp.mean.stride()), (head.weight.to_vec(), [0]));
    let (_, again) = net.value_and_grad(&x, |net, x| grad::checkpoint(net, x, |(net, x)| net.loss(x)));
    assert_eq!((again.head.weight.to_vec(), again.mean.stride()), (head.weight.to_vec(), [0]));

    let (frozen, learned) = bits(&net);
    assert_eq!((frozen.len(), learned.len()), (8, 4));
    // Decay and momentum would change them.
    let mut sgd = Sgd::new(&net).rate(0.1).momentum(0.9).decay(0.5);
    let mut adam =
        AdamW::new(&net).rate(0.1).decay(0.5).group(|name| name.ends_with("weight"), |group| group.rate = 0.2);
    for _ in 0..3 {
        sgd.step(&mut net, &grads);
        adam.step(&mut net, &grads);
    }
    let (frozen_after, learned_after) = bits(&net);
    assert_eq!(frozen_after, frozen);
    assert!(learned_after.iter().zip(&learned).all(|(after, before)| after != before));
    // They have no state: one zero each in memory, nothing in a checkpoint.
    assert_eq!(adam.state("exp_avg").unwrap().mean.stride(), [0]);
    let file = saved(&adam, "adam");
    let of_state: Vec<&str> = file.names().filter(|name| name.starts_with("exp_avg.")).collect();
    assert_eq!(of_state, ["exp_avg.head.bias", "exp_avg.head.weight", "exp_avg.scale"]);
    let mut loaded: AdamW<Model> = AdamW::load(&file).unwrap();
    let mut other = net.clone();
    loaded.step(&mut other, &grads);
    adam.step(&mut net, &grads);
    assert_eq!(bits(&other), bits(&net));
    // (Also from a loaded optimiser that was saved again.)
    let mut twice: AdamW<Model> = AdamW::load(&saved(&loaded, "again")).unwrap();
    twice.step(&mut other, &grads);
    adam.step(&mut net, &grads);
    assert_eq!(bits(&other), bits(&net));

    // A checkpoint of the model has them.
    let file = saved(&net, "frozen");
    assert!(file.names().any(|name| name == "running_mean") && file.names().any(|name| name == "backbone.1.bias"));
    assert_eq!(bits(&Model::load(&file).unwrap()), bits(&net));
    // Norms, sums and products of the module pass them by.
    let mut sum = net.clone();
    sum += &net;
    sum *= 0.5;
    assert_eq!(bits(&sum), bits(&net));
    sum *= 0.0;
    assert_eq!((bits(&sum).0, sum.total_norm()), (bits(&net).0, 0.0));
    let mut lbfgs = Lbfgs::new(&net);
    lbfgs.step(&mut net, |net| net.value_and_grad(&x, |net, x| net.loss(x)));
    assert_eq!(bits(&net).0, frozen);
}

#[test]
fn state_of_a_field_that_is_frozen_later_is_not_read() {
    #[derive(Module, Clone)]
    struct Before {
        a: Line,
        b: Line,
    }
    #[derive(Module, Clone)]
    struct After {
        #[module(frozen)]
        a: Line,
        b: Line,
    }
    let mut before = Before { a: line(1.0), b: line(2.0) };
    let mut adam = Adam::new(&before);
    adam.step(&mut before.clone(), &before.clone());
    let mut loaded: Adam<After> = Adam::load(&saved(&adam, "later")).unwrap();
    let mut after = After { a: before.a.clone(), b: before.b.clone() };
    adam.step(&mut before, &Before { a: line(1.0), b: line(1.0) });
    loaded.step(&mut after, &After { a: line(1.0), b: line(1.0) });
    assert_eq!((after.b.weight.to_vec(), after.a.weight.to_vec()), (before.b.weight.to_vec(), vec![1.0, 2.0]));
}

/// Running statistics that each call moves.
#[derive(Module, Clone)]
struct Normed<D: Device = Cpu> {
    factor: Tensor<f32, Two, D>,
    shift: Tensor<f32, Two, D>,
    #[module(frozen)]
    mean: Tensor<f32, Two, D>,
    #[module(frozen)]
    variance: Tensor<f32, Two, D>,
}

#[test]
fn running_statistics_are_moved_by_the_forward_pass_alone() {
    let x = tensor![[1.0, 5.0], [2.0, -1.0], [6.0, 2.0]];
    let mut net =
        Normed { factor: Tensor::ones(), shift: Tensor::zeros(), mean: Tensor::zeros(), variance: Tensor::ones() };
    let mut adam = AdamW::new(&net).rate(0.1).decay(0.1);
    for step in 1..4 {
        let (_, seen, grads) = net.value_and_grad_with(&x, |net, x| {
            let mut net = net.clone();
            let running = (&mut net.mean, &mut net.variance);
            let y = x.batch_norm_training(running, &net.factor, &net.shift, 0.1, 1e-5);
            (y.sigmoid().square().sum(), net)
        });
        assert_eq!((grads.mean.stride(), grads.variance.to_vec()), ([0], vec![0.0; 2]));
        net = seen;
        adam.step(&mut net, &grads);
        // By hand: the mean of the columns is 3 and 2, the variance 7 and 9.
        let kept = 0.9_f32.powi(step);
        let expected = [3.0, 2.0].map(|mean| mean * (1.0 - kept));
        assert!(net.mean.iter().zip(expected).all(|(mean, expected)| (mean - expected).abs() < 1e-5), "{:?}", net.mean);
        assert!((net.variance[0] - (7.0 + (1.0 - 7.0) * kept)).abs() < 1e-4, "{:?}", net.variance);
    }
    assert!(net.factor.iter().all(|factor| *factor != 1.0));
}

#[cfg(feature = "any")]
#[test]
fn frozen_tensors_of_run_time_dtype_stay_too() {
    use castiron::AnyTensor;
    #[derive(Module, Clone)]
    struct Any {
        #[module(frozen)]
        table: AnyTensor,
        weight: AnyTensor,
    }
    let of = |x: Tensor<f32, Two>| AnyTensor::from(x);
    let mut net = Any { table: of(tensor![1.0, 2.0]), weight: of(tensor![3.0, 4.0]) };
    let grads = Any { table: of(tensor![1.0, 1.0]), weight: of(tensor![1.0, -1.0]) };
    let mut sgd = Sgd::new(&net).rate(1.0).momentum(1.0).decay(1.0);
    sgd.step(&mut net, &grads);
    let buffer = |sgd: &Sgd<Any>| sgd.state("momentum_buffer").unwrap().table.to_string();
    assert_eq!((buffer(&sgd).as_str(), net.table.to_string().as_str()), ("tensor([0., 0.])", "tensor([1., 2.])"));
    assert_eq!(net.weight.to_string(), "tensor([-1.,  1.])");
    let file = saved(&sgd, "any");
    assert!(!file.names().any(|name| name.ends_with("table")));
    let mut loaded: Sgd<Any> = Sgd::load(&file).unwrap();
    let mut other = net.clone();
    loaded.step(&mut other, &grads);
    sgd.step(&mut net, &grads);
    assert_eq!(other.weight.to_string(), net.weight.to_string());
    assert_eq!(other.table.to_string(), "tensor([1., 2.])");
}

type Words = shape![4, 3];

/// A language model of one word: the table of words is used twice.
#[derive(Module, Clone)]
struct Tied<D: Device = Cpu> {
    #[module(tied = "embed")]
    head: Tensor<f64, Words, D>,
    embed: Tensor<f64, Words, D>,
}
/// The same without a tie.
#[derive(Module, Clone)]
struct Apart<D: Device = Cpu> {
    head: Tensor<f64, Words, D>,
    embed: Tensor<f64, Words, D>,
}
fn language<D: Device>(
    head: &Tensor<f64, Words, D>,
    embed: &Tensor<f64, Words, D>,
    words: &Tensor<i64, Two, D>,
    next: &Tensor<i64, Two, D>,
) -> Tensor<f64, (), D> {
    embed.embedding(words).matmul(head.t()).cross_entropy(next, (), -100, 0.0, castiron::reduction::Mean)
}
fn words() -> (Tensor<i64, Two>, Tensor<i64, Two>) {
    (tensor![0, 2], tensor![2, 3])
}
fn table() -> Tensor<f64, Words> {
    Tensor::from_vec((0..12).map(|at| (f64::from(at) * 1.7).sin()).collect())
}
fn close<S: castiron::Shape>(one: &Tensor<f64, S>, other: &Tensor<f64, S>) -> bool {
    one.iter().zip(other.iter()).all(|(one, other)| (one - other).abs() < 1e-12)
}

#[test]
fn tied_fields_are_one_parameter_with_the_sum_of_their_gradients() {
    let (words, next) = words();
    let apart = Apart { head: table(), embed: table() };
    let by_hand = |apart: &Apart| {
        let (loss, parts) =
            apart.value_and_grad((&words, &next), |net, (words, next)| language(&net.head, &net.embed, words, next));
        (loss.item(), &parts.head + &parts.embed)
    };
    let (mut tied, mut hand) = (Tied { head: table(), embed: table() }, apart);
    tied.head = tied.embed.clone();
    let mut sgd = Sgd::new(&tied).rate(0.3);
    for _ in 0..3 {
        let (loss, grads) =
            tied.value_and_grad((&words, &next), |net, (words, next)| language(&net.head, &net.embed, words, next));
        let (loss_by_hand, sum) = by_hand(&hand);
        assert_eq!(loss.item(), loss_by_hand);
        assert!(close(&grads.head, &sum) && close(&grads.embed, &sum));
        // Both show the same elements: norms and steps have them once.
        assert!(grads.head.shares_storage(&grads.embed));
        assert!((grads.total_norm() - sum.total_norm()).abs() < 1e-12);
        let moved = &hand.embed - sum * 0.3;
        hand = Apart { head: moved.clone(), embed: moved };
        sgd.step(&mut tied, &grads);
        assert!(close(&tied.embed, &hand.embed) && tied.head.shares_storage(&tied.embed));
        // (After the first step the storage is the model's alone: nothing of a gradient is left.)
        drop(grads);
    }
    // By `vjp`; through a checkpoint, where each use has a part of its own; and in a tuple with another model of the same names.
    let sum = by_hand(&hand).1;
    let (_, back) = tied.vjp((&words, &next), |net, (words, next)| language(&net.head, &net.embed, words, next));
    assert!(close(&back.pull(&Tensor::scalar(1.0)).head, &sum));
    let (_, again) = tied.value_and_grad((&words, &next), |net, (words, next)| {
        let next = next.clone();
        grad::checkpoint(net, words, move |(net, words)| language(&net.head, &net.embed, words, &next))
    });
    assert!(close(&again.embed, &sum) && close(&again.head, &sum));
    let (_, (first, second)) =
        (tied.clone(), hand.clone()).value_and_grad((&words, &next), |(net, other), (words, next)| {
            language(&net.head, &net.embed, words, next) + language(&other.head, &other.embed, words, next) * 2.0
        });
    assert!(close(&first.head, &sum) && !close(&second.head, &second.embed));
}

#[test]
fn ties_are_followed_through_fields_layouts_and_missing_targets() {
    #[derive(Module, Clone)]
    struct Layer<D: Device = Cpu> {
        weight: Tensor<f64, Two, D>,
        #[module(tied = "weight")]
        again: Tensor<f64, Two, D>,
    }
    #[derive(Module, Clone)]
    #[module(tied("layers.1" = "layers.0", "c" = "missing", "b" = "layers.1.weight"))]
    struct Net<D: Device = Cpu> {
        #[module(rename = "missing")]
        target: Option<Tensor<f64, Two, D>>,
        b: Tensor<f64, Two, D>,
        c: Tensor<f64, Two, D>,
        layers: Vec<Layer<D>>,
        alone: Layer<D>,
    }
    let weight = Tensor::<f64, Two>::from_vec(vec![1.0, 2.0]);
    // (A view of every other element, and one that has the same elements elsewhere: a step makes them one again.)
    let apart = Tensor::<f64, shape![2, 2]>::from_vec(vec![1.0, 7.0, 2.0, 7.0]).select(axis![1], 0);
    let layer = |again: &Tensor<f64, Two>| Layer { weight: weight.clone(), again: again.clone() };
    let mut net = Net {
        target: None,
        b: weight.clone(),
        c: weight.clone(),
        layers: vec![layer(&apart), layer(&weight)],
        alone: layer(&weight),
    };
    let (_, grads) = net.value_and_grad((), |net, ()| {
        let layers = &net.layers;
        let sums = [(&net.b, 1.0), (&net.c, 2.0), (&layers[0].weight, 4.0), (&layers[0].again, 8.0)];
        let more = [(&layers[1].weight, 16.0), (&layers[1].again, 32.0), (&net.alone.again, 64.0)];
        let all = sums.into_iter().chain(more).map(|(x, by)| x.sum() * by);
        all.reduce(|sum, more| sum + more).unwrap()
    });
    let of = |x: &Tensor<f64, Two>| x.to_vec()[0];
    let [first, second] = [0, 1].map(|at| &grads.layers[at]);
    assert_eq!([&grads.b, &first.weight, &first.again, &second.weight, &second.again].map(of), [61.0; 5]);
    // A tie to what is not there is none, for gradients as for optimisers.
    assert_eq!((of(&grads.c), of(&grads.alone.weight), of(&grads.alone.again)), (2.0, 64.0, 64.0));
    Sgd::new(&net).rate(1.0).step(&mut net, &grads);
    let [first, second] = [0, 1].map(|at| &net.layers[at]);
    assert_eq!([&net.b, &first.weight, &first.again, &second.weight, &second.again].map(of), [-60.0; 5]);
    assert_eq!((of(&net.c), of(&net.alone.weight), of(&net.alone.again)), (-1.0, -63.0, -63.0));

    // What is tied to a frozen field is frozen.
    #[derive(Module, Clone)]
    struct Frozen<D: Device = Cpu> {
        #[module(tied = "target")]
        own: Tensor<f64, Two, D>,
        #[module(frozen)]
        target: Tensor<f64, Two, D>,
        #[module(frozen, tied = "learned")]
        other: Tensor<f64, Two, D>,
        learned: Tensor<f64, Two, D>,
    }
    let mut net =
        Frozen { own: weight.clone(), target: weight.clone(), other: weight.clone(), learned: weight.clone() };
    let (_, grads) =
        net.value_and_grad((), |net, ()| (&net.own + &net.target + &net.other * 2.0 + &net.learned * 3.0).sum());
    assert_eq!([&grads.own, &grads.target, &grads.other, &grads.learned].map(of), [0.0, 0.0, 3.0, 3.0]);
    Sgd::new(&net).rate(1.0).decay(0.5).step(&mut net, &grads);
    assert_eq!([&net.own, &net.target, &net.other, &net.learned].map(of), [1.0, 1.0, -2.5, -2.5]);

    // Ties of another size are errors.
    #[derive(Module)]
    struct Wrong<D: Device = Cpu> {
        #[module(tied = "b")]
        a: Tensor<f64, Any, D>,
        b: Tensor<f64, Any, D>,
    }
    let wrong: Wrong = Wrong { a: Tensor::ones_sized([2]), b: Tensor::ones_sized([3]) };
    let error = wrong.try_value_and_grad((), |net, ()| net.a.try_sum()).err().unwrap().to_string();
    assert_eq!(error, "value_and_grad: tensor `a` is tied to `b`, which has another dtype or other sizes");
}

/// An optimisation with a scaled loss.
#[derive(Clone)]
struct Scaled {
    weight: Tensor<f32, Two>,
    sgd: Sgd<Tensor<f32, Two>>,
    scale: LossScale,
}
impl Scaled {
    fn new(scale: LossScale) -> Self {
        let weight = tensor![1.0, 2.0];
        Scaled { sgd: Sgd::new(&weight).rate(0.25).momentum(0.5), weight, scale }
    }
    fn step(&mut self, x: [f32; 2]) -> ([f64; 2], f64) {
        let x = Tensor::<f32, Two>::from_vec(x.to_vec());
        let (_, grads) = self.weight.value_and_grad(&x, |weight, x| self.scale.scale(&(weight * x).sum()));
        self.scale.step(&mut self.sgd, &mut self.weight, grads);
        ([0, 1].map(|at| self.weight[at].into()), self.scale.factor())
    }
}

/// The numbers are those of `torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=3)` with `SGD(lr=0.25, momentum=0.5)`.
#[test]
fn losses_are_scaled_as_by_pytorch_and_an_optimisation_is_resumed() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let steps = [
        ([1.0, -1.0], [0.75, 2.25], 8.0),
        ([0.5, 2.0], [0.5, 1.875], 8.0),
        ([inf, 1.0], [0.5, 1.875], 4.0),
        ([1.0, 1.0], [0.125, 1.4375], 4.0),
        ([-1.0, 0.5], [0.1875, 1.09375], 4.0),
        ([nan, 0.0], [0.1875, 1.09375], 2.0),
        ([2.0, 1.0], [-0.28125, 0.671875], 2.0),
        ([1.0, 1.0], [-0.765625, 0.2109375], 2.0),
        ([1.0, 1.0], [-1.2578125, -0.26953125], 4.0),
        ([0.5, 0.5], [-1.62890625, -0.634765625], 4.0),
        ([1.0, 2.0], [-2.064453125, -1.3173828125], 4.0),
        ([1.0, 1.0], [-2.5322265625, -1.90869140625], 8.0),
    ];
    let mut one = Scaled::new(LossScale::new().initial(8.0).interval(3));
    for (at, (x, weight, factor)) in steps.into_iter().enumerate() {
        // At each place it goes on from a file as if nothing had happened.
        let resumed = LossScale::load(&saved(&one.scale, &format!("scale{at}"))).unwrap();
        assert_eq!(resumed, one.scale);
        one.scale = resumed;
        assert_eq!(one.step(x), (weight, factor), "step {at}");
    }
    assert_eq!(one.sgd.steps(), 10);
    let file = saved(&one.scale, "scale");
    let names: Vec<&str> = file.names().collect();
    assert_eq!(names, ["backoff_factor", "growth_factor", "growth_interval", "growth_tracker", "scale"]);

    // The factor is a number of `f32`, and grows no further than these do.
    let mut scale = LossScale::new().initial(10.0).growth(1.3).backoff(0.3).interval(1);
    let factors = [true, true, true, false, false].map(|is_finite| {
        scale.update(is_finite);
        scale.factor()
    });
    let expected = [13.0, 16.899999618530273, 21.969999313354492, 6.590999603271484, 1.9772999286651611];
    assert_eq!(factors, expected);
    let mut scale = LossScale::new().initial(1e38).growth(1.7).interval(1);
    let factors = [true; 3].map(|is_finite| {
        scale.update(is_finite);
        scale.factor()
    });
    assert_eq!(factors, [1.6999999760721821e38, 2.8899999796051192e38, 2.8899999796051192e38]);
    for wrong in [
        LossScale::new().initial(0.0),
        LossScale::new().initial(f64::NAN),
        LossScale::new().growth(1.0),
        LossScale::new().backoff(1.0),
        LossScale::new().interval(0),
    ] {
        assert!(wrong.try_unscale(&mut tensor![1.0]).is_err(), "{wrong:?}");
    }
}

/// The numbers are PyTorch's, with the factor 65536.
#[test]
fn gradients_in_half_precision_are_scaled_until_they_are_finite() {
    let scale = LossScale::new();
    assert_eq!(scale.scale(&Tensor::<f16, ()>::scalar(f16::from_f32(2.0))).item(), 131_072.0_f32);
    assert_eq!(scale.scale(&Tensor::<bf16, ()>::scalar(bf16::from_f32(2.0))).item(), 131_072.0_f32);
    assert_eq!(scale.scale(&Tensor::<f64, ()>::scalar(2.0)).item(), 131_072.0_f64);
    // The gradient of a loss in `f16` is the factor itself, which has no place there.
    let half: Tensor<f16, ()> = Tensor::scalar(f16::from_f32(2.0));
    let (_, grads) = half.value_and_grad((), |half, ()| scale.scale(half));
    assert_eq!(grads.item(), f16::INFINITY);

    let mut weight = tensor![1e-4, 2.0];
    let factors = Tensor::<f16, Two>::from_vec([1e-3, 1.0].map(f16::from_f32).to_vec());
    let loss = |weight: &Tensor<f32, Two, grad::Taped<Cpu>>, factors: &Tensor<f16, Two, grad::Taped<Cpu>>| {
        let half = weight.to::<f16>();
        (&half * &half * factors).sum().to::<f32>()
    };
    // Without a factor the first gradient is rounded to a few digits.
    let (_, rough) = weight.value_and_grad(&factors, |weight, factors| loss(weight, factors));
    assert_ne!(rough[0], 2.001_179_4e-7);
    let (mut sgd, mut scale) = (Sgd::new(&weight).rate(0.5), scale);
    let mut seen = Vec::new();
    for _ in 0..4 {
        let (_, mut grads) = weight.value_and_grad(&factors, |weight, factors| scale.scale(&loss(weight, factors)));
        let is_finite = scale.unscale(&mut grads);
        if is_finite {
            sgd.step(&mut weight, &grads);
        }
        scale.update(is_finite);
        seen.push((grads[0], grads[1], scale.factor()));
    }
    let (inf, first) = (f32::INFINITY, 2.001_179_4e-7);
    assert_eq!(seen, [(inf, inf, 32768.0), (first, inf, 16384.0), (first, inf, 8192.0), (first, 4.0, 8192.0)]);
    assert_eq!((weight.to_vec(), sgd.steps()), (vec![9.989_994e-5, 0.0], 1));
}

/// Operands have smaller numbers than results, whichever threads they come from: else a step would be gone through before all of its gradient
/// had arrived.
#[test]
fn several_threads_record_on_a_tape() {
    let x = tensor![0.5, -2.0; f64];
    let (_, gradient) = x.value_and_grad((), |x, ()| {
        std::thread::scope(|scope| {
            let (give, given) = std::sync::mpsc::channel();
            let (answer, answers) = std::sync::mpsc::channel();
            scope.spawn(move || given.into_iter().for_each(|y| answer.send(y * 3.0).unwrap()));
            let triple = |y| {
                give.send(y).unwrap();
                answers.recv().unwrap()
            };
            let early = triple(x * 1.0);
            // Steps of this thread, more than it takes numbers for at once, before the other thread goes on.
            let late = (0..100).fold(x + early, |y, _| y + x);
            let tripled = triple(late.clone());
            drop(give);
            (tripled * late).sum()
        })
    });
    // 3 (104 x)²
    assert_eq!(gradient.to_vec(), [0.5, -2.0].map(|x| 6.0 * 104.0 * 104.0 * x));
}

/// On every device, and of every order: `x` times a constant that is `x` has the derivative `x`, and no second one.
#[test]
fn code_that_is_generic_over_devices_stops_gradients() {
    fn square<D: Device>(x: &Tensor<f64, Two, D>) -> Tensor<f64, (), D> {
        (x * x.stop()).sum()
    }
    let x = tensor![3.0_f64, -2.0; f64];
    assert_eq!(square(&x).item(), 13.0);
    assert!(square(&x.to_device::<castiron::Meta>().unwrap()).shape().is_empty());
    assert_eq!(x.value_and_grad((), |x, ()| square(x)).1.to_vec(), [3.0, -2.0]);
    assert_eq!(x.hvp(&x, (), |x, ()| square(x)).2.to_vec(), [0.0, 0.0]);
    assert_eq!(x.hvp(&x, (), |x, ()| (x * x).sum()).2.to_vec(), [6.0, -4.0]);
}
