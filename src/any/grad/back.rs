//! The way back from run-time tensors.

use super::record::operand;
use super::{scoped_no_grad, scoped_recording};
use crate::any::{AnyTensor, shared};
use crate::device::{Backend, Dynamic, DynamicBuffer};
use crate::dtype::DType;
use crate::error::{Error, Result, collected, invalid};
use crate::grad::any::{Gradients, Graph, Past, RESULTS, Step, back, by_exact, locked};
use crate::ops;
use crate::ops::kernel::Combining;
use crate::storage::{Counted, View, ViewMut};
use castiron_macros::operations;

/// What [`grad`] is told besides outputs and inputs; `..GradOptions::default()` is the rest.
#[derive(Clone, Default)]
pub struct GradOptions<'a> {
    /// The gradients of the outputs (`grad_outputs`); without them outputs are single numbers with gradient 1.
    pub seeds: Option<&'a [&'a AnyTensor]>,
    /// Whether the graph is kept for another way back (`retain_graph`).
    pub retain_graph: bool,
    /// Whether the gradients have gradients themselves (`create_graph`); the graph is kept then.
    pub create_graph: bool,
    /// Whether an input that has no influence on the outputs gives `None`, and is no error (`allow_unused`).
    pub allow_unused: bool,
}

/// The gradients of outputs by inputs (`torch.autograd.grad`), which need not be leaves; nothing is added to [`AnyTensor::grad`].
///
/// A gradient belongs to the elements in a storage: that of a view is what came to these elements, by the view or otherwise.
///
/// # Errors
/// If no output requires a gradient, an output without a seed is not a single number, a seed has another shape, an input requires no
/// gradient or has no influence, a graph was used before and not kept, or memory runs out.
///
/// ```
/// use castiron::any::{self, GradOptions};
/// use castiron::{AnyTensor, tensor};
/// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
/// x.requires_grad_(true)?;
/// let y = x.square()?;
/// let grads = any::grad(&[&y.sum(None, false, None)?], &[&x, &y], &GradOptions::default())?;
/// assert_eq!(grads[0].as_ref().unwrap().to_string(), "tensor([2., 4.])");
/// assert_eq!(grads[1].as_ref().unwrap().to_string(), "tensor([1., 1.])");
/// assert!(x.grad().is_none());
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn grad(
    outputs: &[&AnyTensor],
    inputs: &[&AnyTensor],
    options: &GradOptions<'_>,
) -> Result<Vec<Option<AnyTensor>>> {
    let op = "grad";
    let nodes = collected(inputs.iter().map(|input| match input.node() {
        Some(node) => Ok(node),
        None => invalid(op, "one of the inputs does not require grad".to_owned()),
    }))?;
    let mut gradients: Vec<Option<AnyTensor>> = collected(inputs.iter().map(|_| Ok(None)))?;
    let graph = match (options.create_graph, options.retain_graph) {
        (true, _) => Graph::Recorded,
        (_, true) => Graph::Kept,
        _ => Graph::Freed,
    };
    let _guard = if options.create_graph { scoped_recording() } else { scoped_no_grad() };
    let seeded = |to: &mut Gradients<DynamicBuffer>| seed(op, outputs, options.seeds, options.create_graph, to);
    back_by_hooks(seeded, graph, |step, given| {
        for ((node, input), gradient) in nodes.iter().zip(inputs).zip(&mut gradients) {
            if node.step.is_same(step)
                && let Some(of) = &given[node.result]
            {
                *gradient = input.gradient_in(shared(of), node.extent());
            }
        }
        Ok(())
    })?;
    if !options.allow_unused && gradients.iter().any(Option::is_none) {
        let reason = "one of the inputs was not used to compute the outputs: say `allow_unused` if that is meant";
        return invalid(op, reason.to_owned());
    }
    Ok(gradients)
}

/// The way back through steps whose hooks see the gradients first.
fn back_by_hooks(
    seed: impl FnOnce(&mut Gradients<DynamicBuffer>) -> Result<()>,
    graph: Graph,
    mut arrive: impl FnMut(&Counted<Step<DynamicBuffer>>, &mut [Option<DynamicBuffer>; RESULTS]) -> Result<()>,
) -> Result<()> {
    back::<Dynamic>(seed, graph, |step, given| {
        let given = given.whole()?;
        step.call_hooks(given)?;
        arrive(step, given)
    })
}

/// Puts gradients at outputs.
fn seed(
    op: &'static str,
    outputs: &[&AnyTensor],
    seeds: Option<&[&AnyTensor]>,
    is_recorded: bool,
    to: &mut Gradients<DynamicBuffer>,
) -> Result<()> {
    if let Some(seeds) = seeds
        && seeds.len() != outputs.len()
    {
        return invalid(op, format!("{} seeds are given for {} outputs", seeds.len(), outputs.len()));
    }
    for (at, output) in outputs.iter().enumerate() {
        if !output.requires_grad() {
            let reason =
                format!("element {at} of tensors does not require grad and was not computed from any that does");
            return invalid(op, reason);
        }
        let seed = match seeds {
            Some(seeds) if is_recorded => seeds[at].to(output.dtype)?,
            Some(seeds) => seeds[at].off_tape().to(output.dtype)?,
            None if output.numel() != 1 => {
                let reason = format!(
                    "grad can be implicitly created only for scalar outputs, this one has shape {:?}: reduce it, or give a seed",
                    output.shape()
                );
                return invalid(op, reason);
            }
            None if output.dtype.is_complex() => {
                let reason = format!(
                    "grad can be implicitly created only for real scalar outputs, this one is {}",
                    output.dtype
                );
                return invalid(op, reason);
            }
            None => output.off_tape().fill(1)?,
        };
        if *seed.sizes != *output.sizes {
            let (result, output) = ((&*seed.sizes).into(), (&*output.sizes).into());
            return Err(Error::Output { op, result, output });
        }
        let place = operand(output, &output.sizes, false)?;
        by_exact!(output.dtype, E => to.add::<E, Dynamic>(&place, seed.as_erased::<E>()?))?;
    }
    Ok(())
}

/// Adds to the gradient of a leaf.
fn accumulate(step: &Step<DynamicBuffer>, dtype: DType, gradient: DynamicBuffer) -> Result<()> {
    let mut past = locked(&step.past);
    let Past::Leaf(sum) = &mut *past else { return Ok(()) };
    let Some(sum) = sum else {
        *sum = Some(gradient);
        return Ok(());
    };
    let len = [Dynamic::room::<u8>(&gradient).unwrap_or(0) / dtype.itemsize()];
    by_exact!(dtype, E => {
        let more = View::<_, E>::new(&gradient, 0, &len, &[1]);
        let kernel = Combining::<ops::add, E>::new();
        if Dynamic::is_unique(sum) {
            Dynamic::update2::<E, E>(kernel, more, ViewMut::new(sum, 0, &len, &[1]))
        } else {
            // Somebody has the sum so far.
            let before = View::<_, E>::new(&*sum, 0, &len, &[1]);
            *sum = Dynamic::map2::<E, E, E>(kernel, before, more, &[1])?;
            Ok(())
        }
    })
}

#[operations]
impl AnyTensor {
    /// The way back from this number to the leaves that it was computed from: each one's gradient is added to its
    /// [`grad`](Self::grad) (`torch.Tensor.backward`). What the steps had kept is freed.
    ///
    /// # Errors
    /// If the tensor requires no gradient, is not a single real number, what the steps had kept was freed before, or memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// let loss = x.exp()?.sum(None, false, None)?;
    /// loss.backward()?;
    /// assert_eq!(x.grad().unwrap().to_string(), "tensor([2.7183, 7.3891])");
    /// assert!(loss.backward().is_err()); // a second time
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn backward(&self) -> Result<()> {
        self.backward_by(None, false)
    }

    /// [`backward`](Self::backward) from a gradient of this tensor, which may have any shape (`torch.Tensor.backward(gradient)`).
    ///
    /// # Errors
    /// As [`backward`](Self::backward), and if the gradient has another shape.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// x.square()?.backward_with(&AnyTensor::from(tensor![1.0, 10.0]))?;
    /// assert_eq!(x.grad().unwrap().to_string(), "tensor([ 2., 40.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn backward_with(&self, seed: &AnyTensor) -> Result<()> {
        self.backward_by(Some(seed), false)
    }

    /// [`backward`](Self::backward), with a seed if one is given, after which the graph can be used again
    /// (`torch.Tensor.backward(retain_graph=True)`).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let mut x = AnyTensor::from(tensor![1.0, 2.0]);
    /// x.requires_grad_(true)?;
    /// let loss = x.square()?.sum(None, false, None)?;
    /// loss.backward_retaining(None)?;
    /// loss.backward()?;
    /// assert_eq!(x.grad().unwrap().to_string(), "tensor([4., 8.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn backward_retaining(&self, seed: Option<&AnyTensor>) -> Result<()> {
        self.backward_by(seed, true)
    }

    fn backward_by(&self, given: Option<&AnyTensor>, keeps: bool) -> Result<()> {
        let _guard = scoped_no_grad();
        let seeds = given.map(|seed| [seed]);
        let seeded = |to: &mut Gradients<DynamicBuffer>| {
            seed("backward", &[self], seeds.as_ref().map(|seeds| &seeds[..]), false, to)
        };
        let mut leaves = Vec::new();
        let graph = if keeps { Graph::Kept } else { Graph::Freed };
        back_by_hooks(seeded, graph, |step, given| {
            if step.is_leaf()
                && let Some(gradient) = given[0].take()
            {
                leaves.push((step.clone(), gradient));
            }
            Ok(())
        })?;
        for (step, gradient) in leaves {
            let dtype = step.dtype();
            accumulate(&step, dtype, gradient)?;
        }
        Ok(())
    }
}
