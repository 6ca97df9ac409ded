//! Recorded functions of numbers (`ops::record`), evaluated step by step over short tiles of elements.
//!
//! Each step is a loop over a tile, so that what is recorded needs no code of its own: derivatives that no compiled loop has run here.

use super::threads;
use crate::error::{Result, room};
use crate::ops::record::graph::{Family, Function, Id, Kind, Node, Step, Tree};
use std::collections::BTreeMap;

/// Elements of a tile.
const TILE: usize = 256;
/// Nanoseconds of a step on an element, roughly.
const COST: usize = 2;

/// A number of each element, or one for all.
#[derive(Clone, Copy)]
pub(crate) enum Argument<'a, E> {
    /// A part (0, or 1 for the imaginary one) of elements.
    Part(&'a [E], usize),
    Number(f64),
}

/// How elements are made of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Numbers<E> {
    pub(crate) part: fn(&E, usize) -> f64,
    pub(crate) make: fn(f64, f64) -> E,
}

/// The results of a function of one or two numbers, for `len` elements.
pub(crate) fn evaluate<E: Copy + Send + Sync>(
    function: &Function,
    arguments: &[Argument<'_, E>],
    len: usize,
    numbers: Numbers<E>,
) -> Result<Vec<E>> {
    let mut out: Vec<E> = room(len)?;
    out.resize(len, (numbers.make)(0.0, 0.0));
    let pieces = threads::pieces(len.saturating_mul(COST * function.nodes.len()));
    let share = len.div_ceil(pieces.max(1)).next_multiple_of(TILE);
    let parts: Vec<(usize, &mut [E])> = out.chunks_mut(share).enumerate().collect();
    threads::try_for_each_part(parts, &|(at, out)| {
        let mut frame = Frame::new(function);
        for (tile, out) in out.chunks_mut(TILE).enumerate() {
            let start = at * share + tile * TILE;
            frame.start(out.len(), &mut |argument, to| match arguments[argument] {
                Argument::Number(number) => to.fill(number),
                Argument::Part(elements, part) => {
                    for (to, element) in to.iter_mut().zip(&elements[start..]) {
                        *to = (numbers.part)(element, part);
                    }
                }
            });
            let results = frame.results(&function.tree);
            for (at, out) in out.iter_mut().enumerate() {
                *out = (numbers.make)(results[0][at], results.get(1).map_or(0.0, |of| of[at]));
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// The values of a function's nodes for a tile; bools are 0 and 1.
struct Frame<'a> {
    function: &'a Function,
    values: Vec<Vec<f64>>,
    is_known: Vec<bool>,
    parts: BTreeMap<&'a str, Frame<'a>>,
    len: usize,
}
impl<'a> Frame<'a> {
    fn new(function: &'a Function) -> Self {
        let count = function.nodes.len();
        let parts = BTreeMap::new();
        Frame { function, values: vec![Vec::new(); count], is_known: vec![false; count], parts, len: 0 }
    }

    /// Begins with another tile: `load` writes the values of an argument.
    fn start(&mut self, len: usize, load: &mut dyn FnMut(usize, &mut [f64])) {
        self.len = len;
        for (at, node) in self.function.nodes.iter().enumerate() {
            self.values[at].resize(len, 0.0);
            self.is_known[at] = match node {
                Node::Argument(argument, _) => {
                    load(*argument, &mut self.values[at]);
                    true
                }
                Node::Constant(bits, kind) => {
                    self.values[at].fill(of_bits(*bits, *kind));
                    true
                }
                _ => false,
            };
        }
    }

    /// The results of a tree. Where a condition differs within the tile, both sides are computed.
    fn results(&mut self, tree: &'a Tree) -> Vec<Vec<f64>> {
        match tree {
            Tree::Leaf(results) => {
                let one = |id: &Id| {
                    self.compute(*id);
                    self.values[id.0 as usize].clone()
                };
                results.iter().map(one).collect()
            }
            Tree::Branch(condition, yes, no) => {
                self.compute(*condition);
                let holds = &self.values[condition.0 as usize];
                if holds.iter().all(|&holds| holds != 0.0) {
                    return self.results(yes);
                }
                if holds.iter().all(|&holds| holds == 0.0) {
                    return self.results(no);
                }
                let holds = holds.clone();
                let (mut yes, no) = (self.results(yes), self.results(no));
                for (yes, no) in yes.iter_mut().zip(no) {
                    for ((yes, no), holds) in yes.iter_mut().zip(no).zip(&holds) {
                        *yes = if *holds != 0.0 { *yes } else { no };
                    }
                }
                yes
            }
        }
    }

    /// Computes a node and what it needs.
    fn compute(&mut self, id: Id) {
        let mut stack = vec![(id, false)];
        while let Some((id, is_ready)) = stack.pop() {
            let at = id.0 as usize;
            if self.is_known[at] {
                continue;
            }
            if is_ready {
                self.step(id);
                self.is_known[at] = true;
            } else {
                stack.push((id, true));
                stack.extend(self.function.node(id).operands().iter().map(|&operand| (operand, false)));
            }
        }
    }
    fn step(&mut self, id: Id) {
        let function = self.function;
        let mut out = core::mem::take(&mut self.values[id.0 as usize]);
        let of = |id: &Id| self.values[id.0 as usize].as_slice();
        match function.node(id) {
            Node::Step(step, operands, kind) => {
                let inputs: Vec<&[f64]> = operands.iter().map(of).collect();
                let kinds: Vec<Kind> = operands.iter().map(|&operand| function.node(operand).kind()).collect();
                run(step, &inputs, &kinds, *kind, &mut out);
            }
            Node::Part(name, operands, results, _) => {
                let mut part = self.parts.remove(name.as_str()).unwrap_or_else(|| Frame::new(&function.parts[name]));
                part.start(self.len, &mut |argument, to| to.copy_from_slice(of(&operands[argument])));
                let found = part.results(&part.function.tree);
                out.clear();
                found.iter().take(*results).for_each(|values| out.extend_from_slice(values));
                self.parts.insert(name, part);
            }
            Node::Result(part, at, _) => out.copy_from_slice(&of(part)[at * self.len..(at + 1) * self.len]),
            Node::Argument(..) | Node::Constant(..) => {}
        }
        self.values[id.0 as usize] = out;
    }
}

fn of_bits(bits: u64, kind: Kind) -> f64 {
    match kind {
        Kind::F64 => f64::from_bits(bits),
        _ => bits as f64,
    }
}
fn to_bits(value: f64, kind: Kind) -> u64 {
    match kind {
        Kind::F64 => value.to_bits(),
        _ => value as u64,
    }
}

/// One step over a tile.
fn run(step: &Step, inputs: &[&[f64]], kinds: &[Kind], kind: Kind, out: &mut [f64]) {
    fn one(x: &[f64], out: &mut [f64], run: impl Fn(f64) -> f64) {
        out.iter_mut().zip(x).for_each(|(out, &x)| *out = run(x));
    }
    fn two(a: &[f64], b: &[f64], out: &mut [f64], run: impl Fn(f64, f64) -> f64) {
        out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = run(a, b));
    }
    let truth = |holds: bool| f64::from(u8::from(holds));
    let are_floats = kinds.iter().all(|&kind| kind == Kind::F64);
    match (step.family, step.name, inputs) {
        (Family::Operator, "+", [a, b]) if are_floats => two(a, b, out, |a, b| a + b),
        (Family::Operator, "-", [a, b]) if are_floats => two(a, b, out, |a, b| a - b),
        (Family::Operator, "*", [a, b]) if are_floats => two(a, b, out, |a, b| a * b),
        (Family::Operator, "/", [a, b]) if are_floats => two(a, b, out, |a, b| a / b),
        (Family::Operator, "-", [x]) if are_floats => one(x, out, |x| -x),
        (Family::Operator, "<", [a, b]) if are_floats => two(a, b, out, |a, b| truth(a < b)),
        (Family::Operator, "==", [a, b]) if are_floats => two(a, b, out, |a, b| truth(a == b)),
        (Family::Basic, "abs", [x]) if are_floats => one(x, out, f64::abs),
        (Family::Basic, "sqrt", [x]) if are_floats => one(x, out, f64::sqrt),
        (Family::Basic, "select", [truth, a, b]) => {
            for (((out, &truth), &a), &b) in out.iter_mut().zip(*truth).zip(*a).zip(*b) {
                *out = if truth != 0.0 { a } else { b };
            }
        }
        _ => {
            let mut bits = [0; 4];
            for (at, out) in out.iter_mut().enumerate() {
                for ((bits, input), &kind) in bits.iter_mut().zip(inputs).zip(kinds) {
                    *bits = to_bits(input[at], kind);
                }
                *out = of_bits((step.run)(&bits[..inputs.len()]), kind);
            }
        }
    }
}
