//! Runs a formula on recorded numbers, once for each outcome of its branches, and joins the paths into a tree.
//!
//! The recording in progress is thread-local: numbers must be `Copy` and hold only their index in it.

use super::graph::{Family, Function, Id, Kind, Node, Step, Tree, Unreadable};
use super::number::PartOfDuals;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Maximum branches per path, paths, and steps of a formula.
const DECISIONS: usize = 64;
const PATHS: usize = 4096;
const STEPS: usize = 20_000;

/// The tested conditions with their outcomes, and the results at the end.
type Path = (Vec<(Id, bool)>, Vec<Id>);

#[derive(Default)]
struct Recording {
    nodes: Vec<Node>,
    places: HashMap<Node, Id>,
    /// The outcomes of the next branches; later ones are true.
    script: Vec<bool>,
    path: Vec<(Id, bool)>,
    /// The value that the formula asked for, which is unknown while recording.
    asked: Option<&'static str>,
    parts: BTreeMap<String, Arc<Function>>,
    /// The rows that do not branch.
    plain: BTreeSet<String>,
}
thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
}

/// Leaves the formula, which may be in an endless loop, by unwinding without a message: the payload becomes the result of [`record`].
pub(super) fn stop(why: Unreadable) -> ! {
    resume_unwind(Box::new(why))
}

fn with<T>(f: impl FnOnce(&mut Recording) -> T) -> T {
    RECORDING
        .with_borrow_mut(|recording| f(recording.as_mut().expect("recorded numbers live while a formula is recorded")))
}

/// Called where an operation is not defined for a dtype: stops the recording, if there is one.
pub(crate) fn refuse() {
    if RECORDING.with_borrow(Option::is_some) {
        stop(Unreadable::NotAdmitted)
    }
}

/// Notes that a formula needs a value that is unknown while recording.
pub(super) fn ask(what: &'static str) {
    with(|recording| {
        recording.asked.get_or_insert(what);
    });
}

impl Recording {
    fn place(&mut self, node: Node) -> Option<Id> {
        if let Some(&id) = self.places.get(&node) {
            return Some(id);
        }
        if self.nodes.len() == STEPS {
            return None;
        }
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.places.insert(node, id);
        Some(id)
    }
    fn add(&mut self, name: &str, function: Function) {
        self.parts.extend(function.parts.clone());
        self.parts.insert(name.into(), Arc::new(function));
    }
    fn constant(&self, id: Id) -> Option<u64> {
        match self.nodes[id.0 as usize] {
            Node::Constant(bits, _) => Some(bits),
            _ => None,
        }
    }
}

/// Adds a node, or finds an equal one.
pub(super) fn place(node: Node) -> Id {
    with(|recording| recording.place(node)).unwrap_or_else(|| stop(Unreadable::Steps(STEPS)))
}

/// A step; evaluated at once if all operands are constants.
pub(super) fn step(step: Step, operands: &[Id], kind: Kind) -> Id {
    let constants: Option<Vec<u64>> = operands.iter().map(|&id| constant(id)).collect();
    place(match constants {
        Some(constants) => Node::Constant((step.run)(&constants), kind),
        None => Node::Step(step, operands.to_vec(), kind),
    })
}

/// The bits of a constant.
pub(super) fn constant(id: Id) -> Option<u64> {
    with(|recording| recording.constant(id))
}

/// The outcome of a condition: known on this path, else from the script.
pub(super) fn decide(condition: Id) -> bool {
    let answer = with(|recording| {
        if let Some(bits) = recording.constant(condition) {
            return Some(bits != 0);
        }
        if let Some(&(_, answer)) = recording.path.iter().find(|(asked, _)| *asked == condition) {
            return Some(answer);
        }
        let at = recording.path.len();
        if at == DECISIONS {
            return None;
        }
        let answer = recording.script.get(at).copied().unwrap_or(true);
        recording.path.push((condition, answer));
        Some(answer)
    });
    answer.unwrap_or_else(|| stop(Unreadable::Decisions(DECISIONS)))
}

/// A part of the formula being recorded as a separate function; it is recorded at its first call. `dual` is the part on dual numbers, if its
/// derivative is stated.
pub(super) fn part(
    name: &str,
    kind: Kind,
    operands: &[Id],
    results: usize,
    dual: Option<PartOfDuals>,
    run: &dyn Fn(&[Id]) -> Vec<Id>,
) -> Vec<Id> {
    if with(|recording| !recording.parts.contains_key(name)) {
        #[cfg(not(feature = "grad"))]
        let (None, function) = (dual, recorded_part(name, kind, operands.len(), results, run));
        #[cfg(feature = "grad")]
        let function = Function { dual, ..recorded_part(name, kind, operands.len(), results, run) };
        with(|recording| recording.add(name, function));
    }
    called(name, kind, operands, results)
}
/// A row that a formula of a program calls: a part if it branches, so that the paths of a formula do not multiply, else its steps.
pub(super) fn row(name: &str, kind: Kind, operands: &[Id], results: usize, run: &dyn Fn(&[Id]) -> Vec<Id>) -> Vec<Id> {
    let is_known = with(|recording| recording.parts.contains_key(name));
    let is_plain = with(|recording| recording.plain.contains(name));
    if is_plain || operands.iter().all(|&id| constant(id).is_some()) {
        return run(operands);
    }
    if !is_known {
        let function = recorded_part(name, kind, operands.len(), results, run);
        if let Tree::Leaf(_) = function.tree {
            with(|recording| recording.plain.insert(name.into()));
            return run(operands);
        }
        with(|recording| recording.add(name, function));
    }
    called(name, kind, operands, results)
}
/// A part, recorded beside the formula that it belongs to.
fn recorded_part(name: &str, kind: Kind, operands: usize, results: usize, run: &dyn Fn(&[Id]) -> Vec<Id>) -> Function {
    let outer = RECORDING.take();
    let known = outer.as_ref().map(|recording| recording.parts.clone()).unwrap_or_default();
    let function = record_with(known, name, &vec![kind; operands], &vec![kind; results], &|| {
        let arguments: Vec<Id> = (0..operands).map(|at| place(Node::Argument(at, kind))).collect();
        run(&arguments)
    });
    RECORDING.set(outer);
    function.unwrap_or_else(|why| stop(why))
}
fn called(name: &str, kind: Kind, operands: &[Id], results: usize) -> Vec<Id> {
    let call = place(Node::Part(name.into(), operands.to_vec(), results, kind));
    (0..results).map(|at| place(Node::Result(call, at, kind))).collect()
}

/// Makes a part that is recorded known to the formula being recorded.
#[cfg(feature = "grad")]
pub(super) fn known_part(name: &str, function: &Arc<Function>) {
    with(|recording| {
        recording.parts.extend(function.parts.clone());
        recording.parts.entry(name.into()).or_insert_with(|| function.clone());
    });
}

/// Records a formula: `run` makes its arguments and returns its results.
pub(super) fn record(
    name: &str,
    arguments: &[Kind],
    results: &[Kind],
    run: &dyn Fn() -> Vec<Id>,
) -> Result<Function, Unreadable> {
    let outer = RECORDING.take();
    let recorded = record_with(BTreeMap::new(), name, arguments, results, run);
    RECORDING.set(outer);
    recorded
}

fn record_with(
    parts: BTreeMap<String, Arc<Function>>,
    name: &str,
    arguments: &[Kind],
    results: &[Kind],
    run: &dyn Fn() -> Vec<Id>,
) -> Result<Function, Unreadable> {
    RECORDING.set(Some(Recording { parts, ..Recording::default() }));
    let tree = paths(run).map(|paths| with(|recording| join(recording, &paths, 0)));
    let Recording { nodes, mut parts, .. } = RECORDING.take().unwrap_or_default();
    let (tree, function) = (tree?, name.into());
    let mut function = Function {
        name: function,
        arguments: arguments.to_vec(),
        results: results.to_vec(),
        returns: None,
        tree,
        nodes,
        parts: BTreeMap::new(),
        #[cfg(feature = "grad")]
        dual: None,
    };
    // The parts of the enclosing formula need not be this one's.
    let mut called: Vec<String> = calls(&function);
    while let Some(name) = called.pop() {
        if let Some(part) = parts.remove(&name) {
            called.extend(calls(&part));
            function.parts.insert(name, part);
        }
    }
    Ok(function)
}

fn calls(function: &Function) -> Vec<String> {
    let name = |node: &Node| if let Node::Part(name, ..) = node { Some(name.clone()) } else { None };
    function.nodes.iter().filter_map(name).collect()
}

/// All paths, with outcome true before false.
fn paths(run: &dyn Fn() -> Vec<Id>) -> Result<Vec<Path>, Unreadable> {
    let mut paths = Vec::new();
    loop {
        let results =
            catch_unwind(AssertUnwindSafe(run)).map_err(|payload| match payload.downcast::<Unreadable>() {
                Ok(why) => *why,
                Err(panic) => resume_unwind(panic),
            })?;
        let (path, asked) = with(|recording| (std::mem::take(&mut recording.path), recording.asked));
        if let Some(what) = asked {
            return Err(Unreadable::AsksForValue(what));
        }
        let mut script: Vec<bool> = path.iter().map(|&(_, answer)| answer).collect();
        paths.push((path, results));
        if paths.len() > PATHS {
            return Err(Unreadable::Paths(PATHS));
        }
        // Backtracks: the last branch that went one way goes the other way next.
        while script.last() == Some(&false) {
            script.pop();
        }
        match script.last_mut() {
            None => return Ok(paths),
            Some(last) => *last = false,
        }
        with(|recording| recording.script = script);
    }
}

/// The tree of paths that agree in the first `depth` branches.
fn join(recording: &mut Recording, paths: &[Path], depth: usize) -> Tree {
    let (decisions, results) = &paths[0];
    let Some(&(condition, _)) = decisions.get(depth) else { return Tree::Leaf(results.clone()) };
    let split = paths.iter().position(|(path, _)| !path[depth].1).unwrap_or(paths.len());
    let yes = join(recording, &paths[..split], depth + 1);
    let no = join(recording, &paths[split..], depth + 1);
    if yes == no {
        return yes;
    }
    if let (Tree::Leaf(yes), Tree::Leaf(no)) = (&yes, &no)
        && let ([yes], [no]) = (yes.as_slice(), no.as_slice())
        && let Some(joined) = logical(recording, condition, *yes, *no)
    {
        return Tree::Leaf(vec![joined]);
    }
    Tree::Branch(condition, Box::new(yes), Box::new(no))
}

/// A branch between two bools as one logical value.
fn logical(recording: &mut Recording, condition: Id, yes: Id, no: Id) -> Option<Id> {
    if recording.nodes[yes.0 as usize].kind() != Kind::Bool {
        return None;
    }
    let truth = |recording: &Recording, id| recording.constant(id).map(|bits| bits != 0);
    let (name, run, operands): (_, fn(&[u64]) -> u64, _) = match (truth(recording, yes), truth(recording, no)) {
        (Some(true), Some(false)) => return Some(condition),
        (Some(false), Some(true)) => ("!", |v| u64::from(v[0] == 0), vec![condition]),
        (Some(true), None) => ("|", |v| v[0] | v[1], vec![condition, no]),
        (None, Some(false)) => ("&", |v| v[0] & v[1], vec![condition, yes]),
        _ => return None,
    };
    recording.place(Node::Step(Step::new(Family::Operator, name, run), operands, Kind::Bool))
}
