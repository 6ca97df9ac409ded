//! `Optimizer`: options, groups of parameters and state, and the step.

use super::driver::Step;
use super::rules::{At, Plan, Rule, Whole};
use crate::Module;
use crate::error::Result;
use crate::io::{Listing, ListingMut, Place, StoredNumber, list_number};
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// An optimiser of the parameters of a module `P`: [`Adam<P>`](super::Adam), [`Sgd<P>`](super::Sgd) and so on, which name its formula.
///
/// It is made for a module, its options are set by methods, and each step takes gradients, which are a value of the module's own type:
///
/// ```
/// use castiron::{Module, Tensor, optim::Adam, shape, tensor};
/// #[derive(Module, Clone)]
/// struct Net { weight: Tensor<f32, shape![2, 2]>, bias: Tensor<f32, shape![2]> }
///
/// let mut net = Net { weight: Tensor::ones(), bias: Tensor::zeros() };
/// let mut adam = Adam::new(&net).rate(1e-2).group(|name| name.ends_with("bias"), |group| group.decay = 0.0);
/// let grads = Net { weight: tensor![[1.0, 0.0], [0.0, 1.0]], bias: tensor![0.5, 0.0] };
/// adam.step(&mut net, &grads);
/// assert!(net.weight.isclose(tensor![[0.99, 1.0], [1.0, 0.99]], 1e-5, 1e-8, false).all().item());
/// adam.set_rate(1e-3);
///
/// // Options, groups and state are saved and loaded: an optimisation goes on with the same bits.
/// let path = std::env::temp_dir().join(format!("castiron-adam-{}.safetensors", std::process::id()));
/// adam.save(&path)?;
/// let loaded: Adam<Net> = Adam::load(&castiron::Checkpoint::open(&path)?)?;
/// assert_eq!((loaded.steps(), loaded.options().rate), (1, 1e-3));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Gradients of another module do not compile:
///
/// ```compile_fail,E0308
/// use castiron::{Tensor, optim::Sgd, shape};
/// let mut net: Tensor<f32, shape![2]> = Tensor::ones();
/// let other: Tensor<f32, shape![3]> = Tensor::ones();
/// Sgd::new(&net).step(&mut net, &other);
/// ```
///
/// | what | how |
/// |---|---|
/// | dtypes | `f16`, `bf16` (computed in `f32`), `f32`, `f64`; complex numbers as their two parts; other tensors of the module stay as they are |
/// | state | of the parameters' types: `adam.state("exp_avg")` is an `Option<&Net>`; made by the first step |
/// | tied tensors | `#[module(tied = …)]`: one step, by the gradient of the tensor that they are tied to |
/// | frozen fields | `#[module(frozen)]`: stay as they are, and have no state |
/// | clones of the module | stay as they are: a step copies what is shared with them first |
/// | in-place steps | on the host one pass over parameters, gradients and state of all tensors together |
///
/// Saved are the options of each group, the number of steps and the state, under the names of PyTorch's `state_dict`
/// (`exp_avg.layers.0.weight`).
#[derive(Clone, Debug)]
pub struct Optimizer<R: Rule, P> {
    /// The first has the parameters that are in no other group.
    groups: Vec<Group<R>>,
    /// The group of each parameter; `None` if there is one group.
    assigned: Option<Whole>,
    /// The names of the parameters, if they are known.
    names: Vec<String>,
    /// A state for each name of `R::STATES`, if there is one yet.
    states: Vec<Option<P>>,
    steps: i64,
}

/// Parameters with options of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<R> {
    /// The options.
    pub options: R,
    /// The rate in relation to that of the first group, which [`Optimizer::set_rate`] keeps.
    share: f64,
}

impl<R: Rule, P: Module> Optimizer<R, P> {
    /// An optimiser of the parameters of a module, with the default options of PyTorch.
    pub fn new(parameters: &P) -> Self {
        Optimizer {
            groups: vec![Group { options: R::default(), share: 1.0 }],
            assigned: None,
            names: names(parameters),
            states: R::STATES.iter().map(|_| None).collect(),
            steps: 0,
        }
    }

    /// The learning rate (`lr`), also of groups that are there, as [`set_rate`](Self::set_rate) sets it.
    pub fn rate(mut self, rate: f64) -> Self {
        self.set_rate(rate);
        self
    }

    /// Sets the learning rate of the first group, and that of each other group so that it is as many times as large as when the
    /// group was made, whatever was set in it since. See [`Schedule`](super::Schedule) for rates that change.
    ///
    /// ```
    /// use castiron::{Tensor, optim::Sgd, shape};
    /// let net: Tensor<f32, shape![2]> = Tensor::ones();
    /// let mut sgd = Sgd::new(&net).rate(0.5).group(|_| true, |group| group.rate = 0.05);
    /// sgd.set_rate(1.0);
    /// assert_eq!([0, 1].map(|at| sgd.groups()[at].options.rate), [1.0, 0.1]);
    /// ```
    pub fn set_rate(&mut self, rate: f64) {
        for (at, group) in self.groups.iter_mut().enumerate() {
            *group.options.rate_mut() = if at == 0 { rate } else { rate * group.share };
        }
    }

    /// Puts the parameters whose names fit into a group with options of its own, which start as those of the others are now. Names are
    /// those of [`Module::named_parameters`]. A parameter is in the last group that it was put into.
    ///
    /// PyTorch: a further element of `param_groups`.
    ///
    /// # Panics
    /// If the optimiser was loaded before it had any state, so that it does not know the names.
    ///
    /// ```
    /// use castiron::{Module, Tensor, optim::Sgd, shape, tensor};
    /// #[derive(Module, Clone)]
    /// struct Net { weight: Tensor<f32, shape![]>, bias: Tensor<f32, shape![]> }
    ///
    /// let mut net = Net { weight: Tensor::scalar(1.0), bias: Tensor::scalar(1.0) };
    /// let grads = net.clone();
    /// let mut sgd = Sgd::new(&net).rate(0.5).group(|name| name == "bias", |group| group.rate = 0.25);
    /// sgd.step(&mut net, &grads);
    /// assert_eq!((net.weight.item(), net.bias.item()), (0.5, 0.75));
    /// ```
    #[track_caller]
    pub fn group(mut self, which: impl Fn(&str) -> bool, set: impl FnOnce(&mut R)) -> Self {
        assert!(!self.names.is_empty(), "a loaded optimiser without state does not know the names");
        let first = &self.groups[0].options;
        let mut options = first.clone();
        set(&mut options);
        let (own, other) = (*options.rate_mut(), *first.clone().rate_mut());
        let share = if other > 0.0 { own / other } else { 1.0 };
        let number = self.groups.len() as i64;
        let before = self.assigned.as_ref().map(|groups| groups.to_vec());
        let groups = self.names.iter().enumerate().map(|(at, name)| {
            let before = before.as_ref().and_then(|groups| groups.get(at).copied()).unwrap_or(0);
            if which(name) { number } else { before }
        });
        let groups: Vec<i64> = groups.collect();
        let len = groups.len();
        self.assigned = Some(Tensor::from_vec_sized(groups, [len]));
        self.groups.push(Group { options, share });
        self
    }

    /// The options of the parameters that are in no group.
    pub fn options(&self) -> &R {
        &self.groups[0].options
    }

    /// The options of the parameters that are in no group, to change them.
    pub fn options_mut(&mut self) -> &mut R {
        &mut self.groups[0].options
    }

    /// The groups: the first has the parameters that are in no other (`param_groups`).
    pub fn groups(&self) -> &[Group<R>] {
        &self.groups
    }

    /// The groups, to change their options.
    pub fn groups_mut(&mut self) -> &mut [Group<R>] {
        &mut self.groups
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps.unsigned_abs()
    }

    /// The state of a name, as PyTorch's `state_dict` has it; `None` if there is none of it (yet).
    ///
    /// ```
    /// use castiron::{optim::Adam, tensor};
    /// let mut weight = tensor![1.0, 2.0];
    /// let mut adam = Adam::new(&weight).beta1(0.5);
    /// assert!(adam.state("exp_avg").is_none());
    /// adam.step(&mut weight, &tensor![1.0, -4.0]);
    /// assert_eq!(adam.state("exp_avg").map(|mean| mean.to_vec()), Some(vec![0.5, -2.0]));
    /// ```
    pub fn state(&self, name: &str) -> Option<&P> {
        let at = R::STATES.iter().position(|state| *state == name)?;
        self.states.get(at)?.as_ref()
    }

    /// Moves the parameters along their gradients (`torch.optim.Optimizer.step`).
    ///
    /// # Panics
    /// If an option is out of its range, the gradients or the state have tensors of other sizes known at run time, or other names in
    /// lists and maps, than the parameters, or memory runs out; the parameters are as before then, unless they are on a GPU.
    ///
    /// ```
    /// use castiron::{optim::Sgd, tensor};
    /// let mut weight = tensor![1.0, 2.0];
    /// Sgd::new(&weight).rate(0.5).step(&mut weight, &tensor![1.0, -4.0]);
    /// assert_eq!(weight.to_vec(), [0.5, 4.0]);
    /// ```
    #[fallible]
    pub fn step(&mut self, parameters: &mut P, gradients: &P) -> Result<()> {
        #[cfg(feature = "cuda")]
        crate::cuda::recording::expect_off("step", "steps are counted on the host: take it after the replay")?;
        let at = |is_first| At { step: self.steps as f64 + 1.0, is_first };
        let mut groups = self.groups.clone();
        let mut needed = vec![false; R::STATES.len()];
        for group in &self.groups {
            group.options.check()?;
            group.options.check_together()?;
            let plan = group.options.clone().plan(&at(true));
            plan.states.iter().for_each(|&state| needed[state] = true);
        }
        let assigned = self.assigned.as_ref().map(|groups| groups.to_vec());
        let mut is_first = false;
        let mut states = Vec::new();
        for (own, needed) in self.states.iter_mut().zip(&needed) {
            let is_new = *needed && own.is_none();
            if is_new {
                let start = |at| {
                    let group = assigned.as_ref().and_then(|groups| usize::try_from(*groups.get(at)?).ok());
                    groups.get(group.unwrap_or(0)).map_or(0.0, |group| group.options.start())
                };
                *own = Some(zeros(parameters, start)?);
                is_first = true;
            }
            states.push(is_new);
        }
        let plans: Vec<Plan> = groups.iter_mut().map(|group| group.options.plan(&at(is_first))).collect();
        let lists = self.states.iter_mut().zip(&needed);
        let lists =
            lists.map(|(state, needed)| state.as_mut().filter(|_| *needed).map(ListingMut::of_module)).collect();
        let step = Step { op: "step", plans: &plans, assigned: assigned.as_deref() };
        let result = step.run(ListingMut::of_module(parameters), Some(Listing::of(gradients)), lists);
        match result {
            Ok(()) => {
                self.groups = groups;
                self.steps += 1;
            }
            // What the step began with is not kept, so that the next one begins with it, too.
            Err(_) => {
                self.states.iter_mut().zip(states).filter(|(_, is_new)| *is_new).for_each(|(state, _)| *state = None);
            }
        }
        result
    }
}

/// A module of the same tensors, with a number for the floating-point elements of each.
fn zeros<P: Module>(parameters: &P, start: impl Fn(usize) -> f64) -> Result<P> {
    let mut zeros = super::sharing("step", parameters)?;
    for (at, parameter) in ListingMut::of_module(&mut zeros).split("step")?.0.into_iter().enumerate() {
        if crate::cpu::stepping::is_learned(parameter.tensor.dtype()) {
            parameter.tensor.refill(start(at))?;
        }
    }
    for parameter in ListingMut::of_module(&mut zeros).frozen() {
        parameter.tensor.clear()?;
    }
    Ok(zeros)
}

/// The names of a module's parameters that are not frozen.
fn names(parameters: &impl Module) -> Vec<String> {
    Listing::of(parameters).unfrozen().into_iter().map(|parameter| parameter.name).collect()
}

impl<R: Rule, P: Module> Module for Optimizer<R, P> {
    fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
        let (groups, assigned, names_before, states, steps) = match initial {
            Some(it) => (it.groups, it.assigned, it.names, it.states, Some(it.steps)),
            None => (Vec::new(), None, Vec::new(), Vec::new(), None),
        };
        let mut before = states.into_iter();
        // All is read before a failure is returned, to collect all differences.
        let states: Vec<Option<Option<P>>> = R::STATES
            .iter()
            .map(|name| <Option<P> as Module>::read(&place.field(name).state(), before.next()))
            .collect();
        let steps = StoredNumber::read(&place.field("steps"), steps);
        let assigned = <Option<Whole> as Module>::read(&place.field("assigned"), Some(assigned));
        let (mut groups_before, mut all) = (groups.into_iter(), Some(Vec::new()));
        for at in 0_usize.. {
            let (place, before) = (place.field("groups").field(&at.to_string()), groups_before.next());
            if at > 0 && before.is_none() && !place.is_there() {
                break;
            }
            let share = StoredNumber::read(&place.field("share"), before.as_ref().map(|group| group.share));
            let options = R::read(&place, before.map(|group| group.options));
            let group = share.zip(options).map(|(share, options)| Group { options, share });
            all = all.zip(group).map(|(mut all, group)| {
                all.push(group);
                all
            });
        }
        let (states, groups) = (states.into_iter().collect::<Option<Vec<_>>>()?, all?);
        let (steps, assigned): (i64, _) = (steps?, assigned?);
        let names = match states.iter().flatten().next() {
            Some(state) if names_before.is_empty() => names(state),
            _ => names_before,
        };
        let fits = |group: i64| usize::try_from(group).is_ok_and(|group| group < groups.len());
        if steps < 0 || assigned.as_ref().is_some_and(|assigned| !assigned.iter().all(|&group| fits(group))) {
            place.differs("it counts steps below 0, or has parameters in groups that are not there");
            return None;
        }
        Some(Optimizer { groups, assigned, names, states, steps })
    }

    fn list<'a>(&'a self, listing: &mut Listing<'a>) {
        for (name, state) in R::STATES.iter().zip(&self.states) {
            listing.field_unfrozen(name, state);
        }
        list_number(listing, "steps", &self.steps);
        listing.field("assigned", &self.assigned);
        let outer = listing.enter("groups");
        for (at, group) in self.groups.iter().enumerate() {
            let outer = listing.enter(&at.to_string());
            list_number(listing, "share", &group.share);
            group.options.list(listing);
            listing.leave(outer);
        }
        listing.leave(outer);
    }
}
