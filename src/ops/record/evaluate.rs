//! Evaluates recorded formulas on the host with machine numbers, in the order of the text's steps.

use super::graph::{Family, Function, Id, Node, Tree};
use std::collections::HashSet;

/// A call of a library function, whose last bits may differ: its arguments and its result.
pub(super) type Call = (Vec<u64>, u64);

/// The results for these arguments; library calls are appended to `calls`.
pub(super) fn evaluate(function: &Function, arguments: &[u64], calls: &mut Vec<Call>) -> Vec<u64> {
    assert_eq!(arguments.len(), function.arguments.len(), "{}", function.name);
    let mut run = Run { function, arguments, values: vec![Vec::new(); function.nodes.len()], calls };
    let mut computed = HashSet::new();
    let mut tree = &function.tree;
    loop {
        match tree {
            Tree::Branch(condition, yes, no) => {
                run.compute(*condition, &mut computed);
                tree = if run.value(*condition) != 0 { yes } else { no };
            }
            Tree::Leaf(results) => {
                for &id in results {
                    run.compute(id, &mut computed);
                }
                return results.iter().map(|&id| run.value(id)).collect();
            }
        }
    }
}

struct Run<'a> {
    function: &'a Function,
    arguments: &'a [u64],
    /// The computed values: one value per node, or the results of a part.
    values: Vec<Vec<u64>>,
    calls: &'a mut Vec<Call>,
}
impl Run<'_> {
    fn value(&self, id: Id) -> u64 {
        match *self.function.node(id) {
            Node::Argument(at, _) => self.arguments[at],
            Node::Constant(bits, _) => bits,
            _ => self.values[id.0 as usize][0],
        }
    }
    fn compute(&mut self, id: Id, computed: &mut HashSet<Id>) {
        for id in self.function.needed(id, computed) {
            let values = match self.function.node(id) {
                Node::Step(step, operands, _) => {
                    let operands: Vec<u64> = operands.iter().map(|&id| self.value(id)).collect();
                    let value = (step.run)(&operands);
                    if !matches!(step.family, Family::Operator | Family::Basic) {
                        self.calls.push((operands, value));
                    }
                    vec![value]
                }
                Node::Part(name, operands, ..) => {
                    let operands: Vec<u64> = operands.iter().map(|&id| self.value(id)).collect();
                    evaluate_part(self.function, name, &operands, self.calls)
                }
                Node::Result(part, at, _) => vec![self.values[part.0 as usize][*at]],
                Node::Argument(..) | Node::Constant(..) => continue,
            };
            self.values[id.0 as usize] = values;
        }
    }
}

fn evaluate_part(function: &Function, name: &str, arguments: &[u64], calls: &mut Vec<Call>) -> Vec<u64> {
    let part = &function.parts[name];
    evaluate(part, arguments, calls)
}
