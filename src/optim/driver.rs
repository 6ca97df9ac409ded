//! Runs updates over the tensors of modules: lists of parameters, gradients and states, of any types, in one pass.

use super::learned::{At, LearnedTensor, misfit};
use super::rules::Plan;
use crate::cpu::stepping::{self, Places, Stepped, Stepper, Total, is_learned};
use crate::error::{Result, invalid};
use crate::io::{Listing, ListingMut, Parameter, ParameterMut, StoredTensor};
use crate::ops::update::{Number, Numbers, Update};

/// Why a module that was written by hand can't be optimised.
pub(crate) fn not_listed(name: &str) -> String {
    format!(
        "{name} does not list its tensors for writing: derive `Module`, or write `list_mut` and `sharing` in its `impl Module`"
    )
}

/// An update of parameters.
pub(crate) struct Step<'a> {
    pub(crate) op: &'static str,
    /// What each group computes.
    pub(crate) plans: &'a [Plan],
    /// The group of each parameter; all are in the first if there are none.
    pub(crate) assigned: Option<&'a [i64]>,
}

impl Step<'_> {
    /// The plan of a parameter, by its position.
    fn group(&self, at: usize) -> usize {
        self.assigned.and_then(|groups| usize::try_from(*groups.get(at)?).ok()).unwrap_or(0)
    }

    /// Updates parameters by gradients (by themselves, if there are none) and states. If it fails because the tensors do not fit, or memory
    /// runs out before the first element is written, the parameters are as before.
    pub(crate) fn run(
        &self,
        parameters: ListingMut<'_>,
        gradients: Option<Listing<'_>>,
        states: Vec<Option<ListingMut<'_>>>,
    ) -> Result<()> {
        let (mut own, tied) = parameters.split(self.op)?;
        let gradients = gradients.map(Listing::unfrozen);
        let (mut all_states, mut all_tied) = (Vec::new(), vec![tied]);
        for state in states {
            let (state, tied) = state.map_or(Ok(Default::default()), |state| state.split(self.op))?;
            all_states.push(state);
            all_tied.push(tied);
        }
        self.check(&own, gradients.as_deref(), &all_states)?;
        // Nothing is changed yet.
        let kind = |tensor: &dyn StoredTensor| tensor.as_any().type_id();
        for (tied, at) in all_tied.iter().flatten() {
            if own.get(*at).is_none_or(|target| kind(&*tied.tensor) != kind(&*target.tensor)) {
                return Err(misfit());
            }
        }
        // A tied tensor is a handle to its target; it is put aside, so that the target is written in place.
        if let Some(gradients) = &gradients {
            for (tied, at) in all_tied.iter_mut().flatten() {
                if !tied.tensor.share(gradients[*at].tensor.as_any()) {
                    return Err(misfit());
                }
            }
        }
        let result = self.run_all(&mut own, gradients.as_deref(), &mut all_states);
        let targets = core::iter::once(&own).chain(&all_states);
        for (targets, tied) in targets.zip(all_tied) {
            for (tied, at) in tied {
                let target: &dyn StoredTensor = &*targets[at].tensor;
                if !tied.tensor.share(target.as_any()) {
                    return Err(misfit());
                }
            }
        }
        result
    }

    /// Checks that the lists have the same tensors.
    fn check(
        &self,
        own: &[ParameterMut<'_>],
        gradients: Option<&[Parameter<'_>]>,
        states: &[Vec<ParameterMut<'_>>],
    ) -> Result<()> {
        let op = self.op;
        if self.assigned.is_some_and(|groups| groups.len() != own.len()) {
            let before = self.assigned.map_or(0, <[i64]>::len);
            return invalid(op, format!("there are {} parameters, and groups were made of {before}", own.len()));
        }
        let fits = |what: &str, at: usize, other: Option<(&str, &dyn StoredTensor)>| {
            let parameter = &own[at];
            let Some((name, other)) = other else {
                return invalid(op, format!("{what} has no `{}`", parameter.name));
            };
            let tensor: &dyn StoredTensor = &*parameter.tensor;
            if name != parameter.name || (tensor.dtype(), tensor.sizes()) != (other.dtype(), other.sizes()) {
                let about = |name: &str, x: &dyn StoredTensor| format!("`{name}`, {} {:?}", x.dtype(), x.sizes());
                let (own, other) = (about(&parameter.name, tensor), about(name, other));
                return invalid(op, format!("the parameter is {own}, and {what} has {other}"));
            }
            Ok(())
        };
        let is_longer = gradients.is_some_and(|list| list.len() > own.len());
        if is_longer || states.iter().any(|list| list.len() > own.len()) {
            return invalid(op, "there are more gradients or states than parameters".to_owned());
        }
        for at in 0..own.len() {
            if let Some(gradients) = gradients {
                fits("the gradient", at, gradients.get(at).map(|other| (&*other.name, other.tensor)))?;
            }
            for state in states.iter().filter(|list| !list.is_empty()) {
                fits("the state", at, state.get(at).map(|other| (&*other.name, &*other.tensor as &dyn StoredTensor)))?;
            }
        }
        Ok(())
    }

    fn run_all(
        &self,
        own: &mut [ParameterMut<'_>],
        gradients: Option<&[Parameter<'_>]>,
        states: &mut [Vec<ParameterMut<'_>>],
    ) -> Result<()> {
        let mut tensors: Vec<Stepped> = crate::error::room(own.len())?;
        let (mut kept, mut elsewhere) = (Vec::new(), Vec::new());
        for (at, parameter) in own.iter_mut().enumerate() {
            let tensor: &mut dyn LearnedTensor = &mut *parameter.tensor;
            let (dtype, group) = (tensor.dtype(), self.group(at));
            let Some(plan) = self.plans.get(group) else {
                return invalid(self.op, format!("`{}` is in group {group}, which is not there", parameter.name));
            };
            if !is_learned(dtype) {
                continue;
            }
            let lent = tensor.lend_mut(None)?;
            let place = match lent.at {
                At::Host(place) => place,
                At::Elsewhere => {
                    elsewhere.push(at);
                    continue;
                }
                At::Nowhere => continue,
            };
            let mut places: Places = [core::ptr::null_mut(); _];
            (places[0], places[1]) = (place, place);
            if let Some(gradients) = gradients {
                let gradient = gradients[at].tensor.lend(Some(&lent.strides))?;
                let At::Host(place) = gradient.at else { return Err(misfit()) };
                places[1] = place.cast_mut();
                kept.extend(gradient.kept);
            }
            for (next, &state) in plan.states.iter().enumerate() {
                let Some(state) = states[state].get_mut(at) else { return Err(misfit()) };
                let At::Host(place) = state.tensor.lend_mut(Some(&lent.strides))?.at else { return Err(misfit()) };
                places[2 + next] = place;
            }
            let len = tensor.sizes().iter().product();
            tensors.push(Stepped { dtype, len, places, group });
        }
        let groups: Vec<(Stepper, Numbers)> = self.plans.iter().map(|plan| (plan.stepper, plan.numbers)).collect();
        // SAFETY: each place was lent for as many elements of the dtype as the parameter has: gradient and states are checked to have its
        // sizes, and are in the order of one list of dense strides. Parameters and states are borrowed exclusively, their storages are not
        // shared, and each state of the plan was lent. Copies of gradients are kept until the end.
        unsafe { stepping::run(&tensors, &groups) }
        drop(kept);
        for at in elsewhere {
            let plan = &self.plans[self.group(at)];
            let program = (plan.stepper.program)(&plan.numbers);
            let mut beside: Vec<&mut dyn LearnedTensor> = Vec::new();
            for (state, list) in states.iter_mut().enumerate() {
                if plan.states.contains(&state) {
                    let Some(state) = list.get_mut(at) else { return Err(misfit()) };
                    beside.push(&mut *state.tensor);
                }
            }
            let gradient = gradients.map(|gradients| gradients[at].tensor);
            own[at].tensor.run(gradient, &mut beside, &program)?;
        }
        Ok(())
    }
}

/// `parameter + number * gradient`
struct Adding;
impl Update<0> for Adding {
    #[inline(always)]
    fn update<N: Number>(parameter: N, gradient: N, []: [N; 0], numbers: &Numbers) -> (N, [N; 0]) {
        let by = numbers[0];
        (parameter + if by == 1.0 { gradient } else { gradient * by }, [])
    }
}
/// `parameter * number`
struct Scaling;
impl Update<0> for Scaling {
    #[inline(always)]
    fn update<N: Number>(parameter: N, _: N, []: [N; 0], numbers: &Numbers) -> (N, [N; 0]) {
        (parameter * numbers[0], [])
    }
}
/// `parameter + number`
struct Shifting;
impl Update<0> for Shifting {
    #[inline(always)]
    fn update<N: Number>(parameter: N, _: N, []: [N; 0], numbers: &Numbers) -> (N, [N; 0]) {
        (parameter + numbers[0], [])
    }
}
/// `parameter` between two numbers
struct Clamping;
impl Update<0> for Clamping {
    #[inline(always)]
    fn update<N: Number>(parameter: N, _: N, []: [N; 0], numbers: &Numbers) -> (N, [N; 0]) {
        (parameter.clamped(numbers[0], numbers[1]), [])
    }
}

/// Runs an update without state, in place.
fn run_simple<U: Update<0>>(
    op: &'static str,
    to: ListingMut<'_>,
    by: Option<Listing<'_>>,
    [first, second]: [f64; 2],
) -> Result<()> {
    let mut numbers = Numbers::default();
    (numbers[0], numbers[1]) = (first, second);
    let plans = [Plan { stepper: Stepper::of::<U, 0>(), numbers, states: &[] }];
    Step { op, plans: &plans, assigned: None }.run(to, by, Vec::new())
}

/// `to += by * number`
#[cfg_attr(not(feature = "precompiled"), inline)]
pub(crate) fn add(op: &'static str, to: ListingMut<'_>, by: Listing<'_>, number: f64) -> Result<()> {
    run_simple::<Adding>(op, to, Some(by), [number, 0.0])
}
/// `to *= number`
#[cfg_attr(not(feature = "precompiled"), inline)]
pub(crate) fn scale(op: &'static str, to: ListingMut<'_>, number: f64) -> Result<()> {
    run_simple::<Scaling>(op, to, None, [number, 0.0])
}
/// `to` between `-number` and `number`
#[cfg_attr(not(feature = "precompiled"), inline)]
pub(crate) fn clamp(op: &'static str, to: ListingMut<'_>, number: f64) -> Result<()> {
    run_simple::<Clamping>(op, to, None, [-number, number])
}
/// Makes the tensors of a module handles to those of another of the same type, tied ones, too.
pub(crate) fn assign(op: &'static str, to: ListingMut<'_>, from: Listing<'_>) -> Result<()> {
    let (own, tied) = to.split(op)?;
    let from = from.unfrozen();
    if own.len() != from.len() {
        return Err(misfit());
    }
    let pairs = own.into_iter().zip(&from);
    for (to, from) in pairs.chain(tied.into_iter().map(|(tied, at)| (tied, &from[at]))) {
        if !to.tensor.share(from.tensor.as_any()) {
            return Err(misfit());
        }
    }
    Ok(())
}

/// `to += number`
#[cfg_attr(not(feature = "precompiled"), inline)]
pub(crate) fn add_number(to: &mut dyn LearnedTensor, number: f64) -> Result<()> {
    run_simple::<Shifting>("step", ListingMut::of(to), None, [number, 0.0])
}

/// A total over all floating-point elements of one list, or of two.
#[cfg_attr(not(feature = "precompiled"), inline)]
pub(crate) fn total(op: &'static str, total: Total, one: Listing<'_>, other: Option<Listing<'_>>) -> Result<f64> {
    let one = one.unfrozen();
    let other = other.map(Listing::unfrozen);
    if other.as_ref().is_some_and(|other| other.len() != one.len()) {
        return Err(misfit());
    }
    let mut sum = 0.0;
    for (at, Parameter { name, tensor, .. }) in one.iter().enumerate() {
        let beside = other.as_ref().map_or(*tensor, |other| other[at].tensor);
        if (tensor.dtype(), tensor.sizes()) != (beside.dtype(), beside.sizes()) {
            return invalid(op, format!("the two have tensors of different dtypes or sizes at `{name}`"));
        }
        if !is_learned(tensor.dtype()) {
            continue;
        }
        // (Strides are given, so that elements that are repeated or apart are copied.)
        let row_major = crate::layout::dims::Dims::new(op, tensor.sizes())?.row_major();
        let places = [tensor.lend(Some(&row_major))?, beside.lend(Some(&row_major))?];
        let part = match [places[0].at, places[1].at] {
            [At::Host(one), At::Host(other)] => {
                let len = tensor.sizes().iter().product();
                // SAFETY: both were lent for that many elements of the dtype, and are kept until the end.
                unsafe { stepping::total(total, tensor.dtype(), len, [one, other]) }
            }
            [At::Elsewhere, At::Elsewhere] => tensor.total_elsewhere(total, beside)?,
            [At::Nowhere, At::Nowhere] => continue,
            _ => return Err(misfit()),
        };
        sum = total.joined(sum, part);
    }
    Ok(sum)
}
