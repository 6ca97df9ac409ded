//! Gradients of formulas as recorded functions, which are differentiated again by reading their steps on dual numbers.
//!
//! Devices without compiled loops of a derivative run these, and gradients of gradients are made of them, of any order.

use super::floats::SELECT;
use super::graph::{Function, Id, Kind, Node, Tree, Unreadable};
use super::number::{Operand, Recorded};
use super::paths::{self, decide, part, place, record, stop};
use crate::dtype::numbers::MachineElement;
use crate::dtype::{Complex, MachineFloat, Several};
use crate::error::{Error, Result};
use crate::ops::dual::Dual;
use crate::ops::slope::Derivable;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A recorded number and its tangent.
pub(super) type RecordedDual = Dual<Recorded<f64>>;

/// The numbers, the same for all elements, that follow the operands.
pub(crate) const GIVEN: usize = 3;

/// The most operands: a bit each.
const MOST_OPERANDS: usize = 32;

/// The gradient of a formula by one of its operands, or the gradient of such a gradient: a function of operands and of [`GIVEN`] numbers. The
/// last operand is the gradient of the result. It is recorded over `f64`, or over complex numbers of such.
pub struct Derivative {
    /// Different for each.
    pub(crate) number: u64,
    pub(crate) function: Function,
    pub(crate) operands: usize,
    pub(crate) is_complex: bool,
    /// The operands that it depends on, as a mask.
    pub(crate) reads: u32,
    /// Its gradients by operands that were asked for.
    by: Mutex<Vec<Option<Arc<Derivative>>>>,
}
impl core::fmt::Debug for Derivative {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "derivative {}", self.number)
    }
}

/// Records the gradient of `F` by one of its operands, complex or not. The operands are those of the formula, its result and the gradient.
pub(crate) fn first<F: Derivable>(by: usize, is_complex: bool) -> core::result::Result<Function, Unreadable> {
    /// The next arguments, as the three operands, the result, the numbers and the gradient.
    fn arguments<N: Operand + Copy>(operands: usize, zero: N) -> ([N; 3], N, [N; 3], N) {
        let width = N::KINDS.len();
        let at = |at: usize| N::arguments(at * width);
        let x = [0, 1, 2].map(|place| if place < operands { at(place) } else { zero });
        let given = [2, 3, 4].map(|place| at(operands + place));
        (x, at(operands), given, at(operands + 1))
    }
    let count = F::OPERANDS + 2 + GIVEN;
    if is_complex {
        recorded(2 * count, 2, &|| {
            let (x, y, given, g) = arguments(F::OPERANDS, Complex::<Recorded<f64>>::default());
            F::complex_gradient(by, x, y, given, g).ids()
        })
    } else {
        recorded(count, 1, &|| {
            let (x, y, given, g) = arguments(F::OPERANDS, Recorded::<f64>::default());
            (g * F::derivative(by, x, y, given)).ids()
        })
    }
}
/// The same of a formula of several real operands.
pub(crate) fn first_of_several<F: Several>(operands: usize, by: usize) -> core::result::Result<Function, Unreadable> {
    recorded(operands + 2 + GIVEN, 1, &|| {
        let zero = Recorded::<f64>::constant(0.0);
        let x = core::array::from_fn(|at| if at < operands { Recorded::argument(at) } else { zero });
        vec![(Recorded::<f64>::argument(operands + 1) * F::derivative(by, x)).id]
    })
}
fn recorded(arguments: usize, results: usize, run: &dyn Fn() -> Vec<Id>) -> core::result::Result<Function, Unreadable> {
    record("ci_derivative", &vec![Kind::F64; arguments], &vec![Kind::F64; results], run)
}

impl Derivative {
    /// With the function that was recorded.
    pub(crate) fn new(
        function: core::result::Result<Function, Unreadable>,
        operands: usize,
        is_complex: bool,
    ) -> Result<Arc<Derivative>> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let function = function.map_err(|why| no_derivative(&why))?;
        let width = if is_complex { 2 } else { 1 };
        if operands > MOST_OPERANDS {
            return Err(no_derivative(&Unreadable::Kernel("it is of too high an order")));
        }
        let mut reads = 0;
        for node in function.reached() {
            if let Node::Argument(at, _) = node
                && at / width < operands
            {
                reads |= 1 << (at / width);
            }
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let by = Mutex::new(vec![None; operands]);
        Ok(Arc::new(Derivative { number, function, operands, is_complex, reads, by }))
    }

    /// Its gradient by one of its operands, with the gradient of its result as another operand, behind its own.
    pub(crate) fn by(&self, operand: usize) -> Result<Arc<Derivative>> {
        let known = || self.by.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(derivative) = &known()[operand] {
            return Ok(derivative.clone());
        }
        let derivative = Self::new(self.read(operand), self.operands + 1, self.is_complex)?;
        Ok(known()[operand].get_or_insert(derivative).clone())
    }

    fn read(&self, operand: usize) -> core::result::Result<Function, Unreadable> {
        let count = self.operands + 1 + GIVEN;
        if self.is_complex {
            return recorded(2 * count, 2, &|| {
                let at = |at: usize| Complex::<Recorded<f64>>::arguments(2 * at);
                let g = at(self.operands);
                // A real number is moved, then an imaginary one.
                let [re, im] = [0, 1].map(|part| {
                    let moved = self.moved(2 * operand + part, 2 * self.operands);
                    g.re * moved[0].tangent + g.im * moved[1].tangent
                });
                vec![re.id, im.id]
            });
        }
        recorded(count, 1, &|| {
            let moved = self.moved(operand, self.operands);
            vec![(Recorded::<f64>::argument(self.operands) * moved[0].tangent).id]
        })
    }

    /// Its results where an argument has the tangent 1. The arguments from `between` on, which is the number of those of the operands, are
    /// behind the new operand.
    fn moved(&self, argument: usize, between: usize) -> Vec<RecordedDual> {
        let width = if self.is_complex { 2 } else { 1 };
        let arguments = (0..self.function.arguments.len()).map(|at| {
            let number = Recorded::argument(if at < between { at } else { at + width });
            let tangent = if at == argument { 1.0 } else { 0.0 };
            Dual { value: number, tangent: Recorded::constant(tangent) }
        });
        on_duals(&self.function, &arguments.collect::<Vec<_>>())
    }
}

#[cold]
fn no_derivative(why: &Unreadable) -> Error {
    Error::InvalidArgument { op: "backward", reason: format!("its derivative can't be recorded: {why}") }
}

/// What a node is on dual numbers.
#[derive(Clone)]
enum Slot {
    Number(RecordedDual),
    /// A bool, or an integer: it has no tangent.
    Plain(Id),
    Part(Vec<RecordedDual>),
}

/// The results of a recorded function on dual numbers, in the recording that is under way.
fn on_duals(function: &Function, arguments: &[RecordedDual]) -> Vec<RecordedDual> {
    let mut run = OnDuals { function, arguments, slots: vec![None; function.nodes.len()] };
    let mut tree = &function.tree;
    loop {
        match tree {
            Tree::Branch(condition, yes, no) => tree = if decide(run.plain(*condition)) { yes } else { no },
            Tree::Leaf(results) => return results.iter().map(|&id| run.number(id)).collect(),
        }
    }
}
struct OnDuals<'a> {
    function: &'a Function,
    arguments: &'a [RecordedDual],
    slots: Vec<Option<Slot>>,
}
impl OnDuals<'_> {
    fn number(&mut self, id: Id) -> RecordedDual {
        match self.slot(id) {
            Slot::Number(number) => number,
            _ => stop(Unreadable::Kernel("a number is no float")),
        }
    }
    /// The node of a value alone.
    fn plain(&mut self, id: Id) -> Id {
        match self.slot(id) {
            Slot::Number(number) => number.value.id,
            Slot::Plain(id) => id,
            Slot::Part(_) => stop(Unreadable::Kernel("a part is no number")),
        }
    }
    fn slot(&mut self, id: Id) -> Slot {
        // (In order, not by recursion: a formula may have thousands of steps.)
        for id in self.function.needed_slots(id, &self.slots) {
            let slot = self.made(id);
            self.slots[id.0 as usize] = Some(slot);
        }
        match &self.slots[id.0 as usize] {
            Some(slot) => slot.clone(),
            None => stop(Unreadable::Kernel("a step comes before its operands")),
        }
    }
    fn made(&mut self, id: Id) -> Slot {
        let function = self.function;
        match function.node(id) {
            Node::Argument(at, _) => Slot::Number(self.arguments[*at]),
            Node::Constant(bits, Kind::F64) => Slot::Number(Dual::constant(Recorded::constant(f64::from_bits(*bits)))),
            Node::Constant(bits, kind) => Slot::Plain(place(Node::Constant(*bits, *kind))),
            Node::Step(step, operands, Kind::F64) if step.name == SELECT => {
                let (truth, sides) = (self.plain(operands[0]), [self.number(operands[1]), self.number(operands[2])]);
                Slot::Number(MachineElement::select(Recorded::at(truth), sides[0], sides[1]))
            }
            Node::Step(step, operands, kind) => {
                let plain: Vec<Id> = operands.iter().map(|&operand| self.plain(operand)).collect();
                let value = paths::step(*step, &plain, *kind);
                if *kind != Kind::F64 {
                    return Slot::Plain(value);
                }
                let numbers: Option<Vec<RecordedDual>> = (operands.iter())
                    .map(|&operand| match self.slot(operand) {
                        Slot::Number(number) => Some(number),
                        _ => None,
                    })
                    .collect();
                let moves = numbers.filter(|all| !all.iter().all(|number| number.tangent.is_known_zero()));
                Slot::Number(match (moves, step.dual) {
                    (None, _) => Dual::constant(Recorded::at(value)),
                    (Some(numbers), Some(run)) => run(&numbers),
                    (Some(_), None) => stop(Unreadable::Kernel(step.name)),
                })
            }
            Node::Part(name, operands, results, kind) => {
                let duals: Vec<RecordedDual> = operands.iter().map(|&operand| self.number(operand)).collect();
                let values: Vec<Id> = duals.iter().map(|dual| dual.value.id).collect();
                let body = &function.parts[name];
                paths::known_part(name, body);
                let call = place(Node::Part(name.clone(), values.clone(), *results, *kind));
                let values_of = (0..*results).map(|at| place(Node::Result(call, at, *kind)));
                let values_of: Vec<Recorded<f64>> = values_of.map(Recorded::at).collect();
                if duals.iter().all(|dual| dual.tangent.is_known_zero()) {
                    return Slot::Part(values_of.into_iter().map(Dual::constant).collect());
                }
                if let Some(run) = body.dual {
                    return Slot::Part(run(&duals));
                }
                // The tangents are another part, of the arguments and their tangents.
                let both: Vec<Id> = values.iter().copied().chain(duals.iter().map(|dual| dual.tangent.id)).collect();
                let count = values.len();
                let tangents = part(&format!("{name}_tangent"), *kind, &both, *results, None, &|ids: &[Id]| {
                    let dual =
                        |at: usize| Dual { value: Recorded::at(ids[at]), tangent: Recorded::at(ids[count + at]) };
                    let arguments: Vec<RecordedDual> = (0..count).map(dual).collect();
                    on_duals(body, &arguments).into_iter().map(|moved| moved.tangent.id).collect()
                });
                let dual = |(value, tangent)| Dual { value, tangent: Recorded::at(tangent) };
                Slot::Part(values_of.into_iter().zip(tangents).map(dual).collect())
            }
            Node::Result(of, at, _) => match self.slot(*of) {
                Slot::Part(results) => Slot::Number(results[*at]),
                _ => stop(Unreadable::Kernel("a result is of no part")),
            },
        }
    }
}
impl Function {
    /// The nodes that this one is computed from and that have no slot yet, in order, and itself.
    fn needed_slots(&self, id: Id, slots: &[Option<Slot>]) -> Vec<Id> {
        let (mut order, mut stack) = (Vec::new(), vec![(id, false)]);
        let mut seen = std::collections::HashSet::new();
        while let Some((id, is_done)) = stack.pop() {
            if is_done {
                order.push(id);
            } else if slots[id.0 as usize].is_none() && seen.insert(id) {
                stack.push((id, true));
                stack.extend(self.node(id).operands().iter().map(|&operand| (operand, false)));
            }
        }
        order
    }
    /// The nodes that results or branches depend on.
    fn reached(&self) -> Vec<&Node> {
        fn roots(tree: &Tree, to: &mut Vec<Id>) {
            match tree {
                Tree::Leaf(results) => to.extend(results),
                Tree::Branch(condition, yes, no) => {
                    to.push(*condition);
                    roots(yes, to);
                    roots(no, to);
                }
            }
        }
        let mut stack = Vec::new();
        roots(&self.tree, &mut stack);
        let (mut seen, mut nodes) = (vec![false; self.nodes.len()], Vec::new());
        while let Some(id) = stack.pop() {
            if !core::mem::replace(&mut seen[id.0 as usize], true) {
                let node = self.node(id);
                stack.extend(node.operands());
                nodes.push(node);
            }
        }
        nodes
    }
    /// The same function over `f32`. Parts stay over `f64`: they are special functions, and most need its digits.
    #[cfg(feature = "cuda")]
    pub(crate) fn narrowed(&self) -> Function {
        let (mut nodes, mut places): (Vec<Node>, Vec<Id>) = (Vec::new(), Vec::new());
        for node in &self.nodes {
            let mut put = |node: Node| {
                nodes.push(node);
                Id(nodes.len() as u32 - 1)
            };
            let of = |id: &Id| places[id.0 as usize];
            let made = match node {
                Node::Argument(at, Kind::F64) => put(Node::Argument(*at, Kind::F32)),
                Node::Constant(bits, Kind::F64) => {
                    put(Node::Constant(u64::from((f64::from_bits(*bits) as f32).to_bits()), Kind::F32))
                }
                Node::Argument(..) | Node::Constant(..) => put(node.clone()),
                Node::Step(step, operands, kind) => {
                    let kind = if *kind == Kind::F64 { Kind::F32 } else { *kind };
                    put(Node::Step(*step, operands.iter().map(of).collect(), kind))
                }
                Node::Part(name, operands, results, kind) => {
                    let wide = operands.iter().map(|id| put(converted("to_f64", of(id), Kind::F64))).collect();
                    put(Node::Part(name.clone(), wide, *results, *kind))
                }
                Node::Result(part, at, kind) => {
                    let wide = put(Node::Result(of(part), *at, *kind));
                    put(converted("to_f32", wide, Kind::F32))
                }
            };
            places.push(made);
        }
        fn moved(tree: &Tree, places: &[Id]) -> Tree {
            let of = |id: &Id| places[id.0 as usize];
            match tree {
                Tree::Leaf(results) => Tree::Leaf(results.iter().map(of).collect()),
                Tree::Branch(condition, yes, no) => {
                    Tree::Branch(of(condition), Box::new(moved(yes, places)), Box::new(moved(no, places)))
                }
            }
        }
        Function {
            arguments: vec![Kind::F32; self.arguments.len()],
            results: vec![Kind::F32; self.results.len()],
            tree: moved(&self.tree, &places),
            nodes,
            ..self.clone()
        }
    }
}
/// A conversion, which is only printed.
#[cfg(feature = "cuda")]
fn converted(name: &'static str, of: Id, to: Kind) -> Node {
    let step = super::graph::Step::new(super::graph::Family::Basic, name, |bits| bits[0]);
    Node::Step(step, vec![of], to)
}
