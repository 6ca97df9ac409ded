//! What prints records. A [`Dialect`] says how a language writes types, constants, steps and statements; the walks over formulas and
//! kernels are here, once for all languages. CUDA C++ is the first dialect (`cuda`).

use super::graph::{Function, Id, Kind, Node, Step, Tree};
use super::kernel::{Instruction, Kernel, Name, Value};
use crate::dtype::DType;
use std::collections::{BTreeMap, HashSet};

/// What a function is in a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A formula.
    Formula,
    /// A part of formulas, which may be large: called by several of them.
    Part,
    /// The result of a kernel for an element of each operand.
    Element,
}

/// A language that records are printed in.
pub(crate) trait Dialect {
    /// The type of a machine number.
    fn number(&self, kind: Kind) -> &'static str;
    /// The type of two numbers of this kind, which are a complex number.
    fn pair(&self, kind: Kind) -> String;
    /// The type of elements of a dtype.
    fn element(&self, dtype: DType) -> &'static str;
    /// A constant with these bits.
    fn constant(&self, bits: u64, kind: Kind) -> String;
    /// A step on numbers of this kind.
    fn step(&self, step: Step, of: Kind, operands: &[String]) -> String;
    /// A part of a pair: the real one (0), or the imaginary one (1).
    fn part(&self, pair: &str, at: usize) -> String;
    /// An element, or a number, converted to the type of elements of a dtype.
    fn cast(&self, value: &str, to: DType) -> String;
    /// One of two values by a condition.
    fn choose(&self, condition: &str, yes: &str, no: &str) -> String;
    /// Whether elements that are bytes, two numbers in each, are the same.
    fn is_same_byte(&self, a: &str, b: &str) -> String;
    /// The name of a function that precedes all texts.
    fn library(&self, name: &str) -> String;
    /// The start of a function, of arguments with their types, up to where its statements follow.
    fn head(&self, role: Role, name: &str, arguments: &[(&str, String)], result: &str) -> String;
    /// The declaration of the function with this head, if functions are declared before they are called.
    fn declared(&self, head: &str) -> String;
    /// The statement that names a value.
    fn bind(&self, ty: &str, name: &str, value: &str) -> String;
    /// The statement that returns a value, or several as a struct of type `of`.
    fn give(&self, of: Option<&str>, values: &[String]) -> String;
    /// The start of a block of statements for where a condition holds. It returns.
    fn branch(&self, condition: &str) -> String;
    /// The end of a block or function.
    fn end(&self) -> &'static str {
        "}"
    }
}

/// The type of a function's results: one number, a pair, or the struct that the function names.
fn result_type(dialect: &dyn Dialect, results: &[Kind]) -> String {
    match results {
        [] => "void".into(),
        [kind] => dialect.number(*kind).into(),
        [kind, ..] => dialect.pair(*kind),
    }
}

fn value(dialect: &dyn Dialect, function: &Function, id: Id) -> String {
    match *function.node(id) {
        Node::Constant(bits, kind) => dialect.constant(bits, kind),
        Node::Argument(at, _) => format!("a{at}"),
        _ => format!("v{}", id.0),
    }
}
fn values(dialect: &dyn Dialect, function: &Function, ids: &[Id]) -> Vec<String> {
    ids.iter().map(|&id| value(dialect, function, id)).collect()
}

/// The statements of the values that this one needs and that are not computed yet.
fn define(
    dialect: &dyn Dialect,
    function: &Function,
    id: Id,
    computed: &mut HashSet<Id>,
    indent: &str,
    out: &mut String,
) {
    for id in function.needed(id, computed) {
        let (ty, text) = match function.node(id) {
            Node::Step(step, operands, kind) => {
                let of = function.node(operands[0]).kind();
                let text = dialect.step(*step, of, &values(dialect, function, operands));
                (dialect.number(*kind).to_string(), text)
            }
            Node::Part(name, operands, results, kind) => {
                let operands = values(dialect, function, operands).join(", ");
                (result_type(dialect, &vec![*kind; *results]), format!("{name}({operands})"))
            }
            Node::Result(part, at, kind) => {
                let whole = format!("v{}", part.0);
                let is_alone = matches!(function.node(*part), Node::Part(_, _, 1, _));
                let text = if is_alone { whole } else { dialect.part(&whole, *at) };
                (dialect.number(*kind).to_string(), text)
            }
            Node::Argument(..) | Node::Constant(..) => continue,
        };
        *out += &format!("{indent}{}\n", dialect.bind(&ty, &format!("v{}", id.0), &text));
    }
}

fn statements(
    dialect: &dyn Dialect,
    function: &Function,
    tree: &Tree,
    computed: &HashSet<Id>,
    depth: usize,
    out: &mut String,
) {
    let indent = "  ".repeat(depth);
    let mut computed = computed.clone();
    match tree {
        Tree::Leaf(results) => {
            for &id in results {
                define(dialect, function, id, &mut computed, &indent, out);
            }
            let results = values(dialect, function, results);
            let of = returned(dialect, function);
            let is_number = results.len() == 1 && function.returns.is_none();
            *out += &format!("{indent}{}\n", dialect.give((!is_number).then_some(of.as_str()), &results));
        }
        Tree::Branch(condition, yes, no) => {
            define(dialect, function, *condition, &mut computed, &indent, out);
            *out += &format!("{indent}{}\n", dialect.branch(&value(dialect, function, *condition)));
            statements(dialect, function, yes, &computed, depth + 1, out);
            *out += &format!("{indent}{}\n", dialect.end());
            statements(dialect, function, no, &computed, depth, out);
        }
    }
}

fn returned(dialect: &dyn Dialect, function: &Function) -> String {
    function.returns.clone().unwrap_or_else(|| result_type(dialect, &function.results))
}
fn head(dialect: &dyn Dialect, function: &Function, role: Role) -> String {
    let kinds = function.arguments.iter().enumerate();
    let arguments: Vec<_> = kinds.map(|(at, &kind)| (dialect.number(kind), format!("a{at}"))).collect();
    dialect.head(role, &function.name, &arguments, &returned(dialect, function))
}
fn written(dialect: &dyn Dialect, function: &Function, role: Role) -> String {
    let mut text = head(dialect, function, role) + " {\n";
    statements(dialect, function, &function.tree, &HashSet::new(), 1, &mut text);
    text + dialect.end() + "\n"
}

/// A function alone; its parts must precede it.
pub(crate) fn function(dialect: &dyn Dialect, function: &Function) -> String {
    written(dialect, function, Role::Formula)
}
/// The parts of a function by name, as declarations and definitions.
pub(crate) fn parts(dialect: &dyn Dialect, function: &Function) -> BTreeMap<String, [String; 2]> {
    let texts = |part: &Function| {
        let declaration = dialect.declared(&head(dialect, part, Role::Part));
        [declaration, written(dialect, part, Role::Part)]
    };
    function.parts.iter().map(|(name, part)| (name.clone(), texts(part))).collect()
}
/// The text of functions with the parts that they need, each once.
pub(crate) fn functions<'a>(dialect: &dyn Dialect, all: impl IntoIterator<Item = &'a Function>) -> String {
    let (mut shared, mut text) = (BTreeMap::new(), String::new());
    for one in all {
        shared.append(&mut parts(dialect, one));
        text += &function(dialect, one);
    }
    let declared: String = shared.values().map(|[declaration, _]| declaration.as_str()).collect();
    let defined: String = shared.values().map(|[_, definition]| definition.as_str()).collect();
    declared + &defined + &text
}

/// The name of a value of a kernel.
fn named(value: Value) -> String {
    match value.name {
        Name::Element(at) => format!("a{at}"),
        Name::Parameter(at) => format!("s{at}"),
        Name::Index => "i".into(),
        Name::Local(at) => format!("x{at}"),
    }
}

/// The expression of a kernel's instruction, whose result is of this dtype.
fn expression(dialect: &dyn Dialect, instruction: &Instruction, dtype: DType) -> String {
    match instruction {
        Instruction::Constant(value) => dialect.cast(&dialect.constant(value.to_bits(), Kind::F64), dtype),
        Instruction::Cast(x) => dialect.cast(&named(*x), dtype),
        Instruction::Choose(condition, yes, no) => dialect.choose(&named(*condition), &named(*yes), &named(*no)),
        Instruction::Infix(a, sign, b) => format!("{} {sign} {}", named(*a), named(*b)),
        Instruction::Not(a) => format!("!{}", named(*a)),
        Instruction::IsSameByte(a, b) => dialect.is_same_byte(&named(*a), &named(*b)),
        Instruction::Library(name, operands) => {
            let operands: Vec<String> = operands.iter().map(|&x| named(x)).collect();
            format!("{}({})", dialect.library(name), operands.join(", "))
        }
        Instruction::Call(function, operands) => {
            let parts = |&x: &Value| match x.dtype.is_complex() {
                true => vec![dialect.part(&named(x), 0), dialect.part(&named(x), 1)],
                false => vec![named(x)],
            };
            let operands: Vec<String> = operands.iter().flat_map(parts).collect();
            format!("{function}({})", operands.join(", "))
        }
    }
}

/// The function `name_element` of a kernel, which computes this value from an element of each operand, the values and the position;
/// without the functions that it calls.
pub(crate) fn element(dialect: &dyn Dialect, kernel: &Kernel, name: &str, result: Value) -> String {
    let operands =
        kernel.operands.iter().enumerate().map(|(at, &(dtype, _))| (dialect.element(dtype), format!("a{at}")));
    let values = kernel.parameters.iter().enumerate().map(|(at, &dtype)| (dialect.element(dtype), format!("s{at}")));
    let index = (dialect.element(DType::I64), "i".to_owned());
    let arguments: Vec<_> = operands.chain(values).chain([index]).collect();
    let head = dialect.head(Role::Element, &format!("{name}_element"), &arguments, dialect.element(result.dtype));
    let mut text = head + " {\n";
    for (at, (instruction, dtype)) in kernel.instructions.iter().enumerate() {
        let value = expression(dialect, instruction, *dtype);
        text += &format!("  {}\n", dialect.bind(dialect.element(*dtype), &format!("x{at}"), &value));
    }
    text + &format!("  {}\n{}\n", dialect.give(None, &[named(result)]), dialect.end())
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use crate::ops::record::graph::Family;
    use crate::ops::record::kernel::Operand;
    use crate::ops::record::rows;

    /// WGSL, as far as this test goes: unlike C++ in where types stand, in how values are named, converted and chosen.
    struct Wgsl;
    impl Dialect for Wgsl {
        fn number(&self, kind: Kind) -> &'static str {
            match kind {
                Kind::Bool => "bool",
                Kind::F32 => "f32",
                _ => "i32",
            }
        }
        fn pair(&self, kind: Kind) -> String {
            format!("vec2<{}>", self.number(kind))
        }
        fn element(&self, dtype: DType) -> &'static str {
            match dtype {
                DType::Bool => "bool",
                DType::F32 => "f32",
                DType::C64 => "vec2<f32>",
                _ => "i32",
            }
        }
        fn constant(&self, bits: u64, kind: Kind) -> String {
            match kind {
                Kind::Bool => (bits != 0).to_string(),
                Kind::F32 => format!("{:?}", f32::from_bits(bits as u32)),
                Kind::F64 => format!("{:?}", f64::from_bits(bits)),
                _ => (bits as i64).to_string(),
            }
        }
        fn step(&self, step: Step, _: Kind, operands: &[String]) -> String {
            match (step.family, operands) {
                (Family::Operator, [x]) => format!("{}{x}", step.name),
                (Family::Operator, _) => operands.join(&format!(" {} ", step.name)),
                _ => format!("{}({})", step.name, operands.join(", ")),
            }
        }
        fn part(&self, pair: &str, at: usize) -> String {
            format!("{pair}.{}", ["x", "y"][at])
        }
        fn cast(&self, value: &str, to: DType) -> String {
            format!("{}({value})", self.element(to))
        }
        fn choose(&self, condition: &str, yes: &str, no: &str) -> String {
            format!("select({no}, {yes}, {condition})")
        }
        fn is_same_byte(&self, a: &str, b: &str) -> String {
            format!("{a} == {b}")
        }
        fn library(&self, name: &str) -> String {
            name.to_owned()
        }
        fn head(&self, _: Role, name: &str, arguments: &[(&str, String)], result: &str) -> String {
            let arguments: Vec<String> = arguments.iter().map(|(ty, name)| format!("{name}: {ty}")).collect();
            format!("fn {name}({}) -> {result}", arguments.join(", "))
        }
        fn declared(&self, _: &str) -> String {
            String::new()
        }
        fn bind(&self, ty: &str, name: &str, value: &str) -> String {
            format!("let {name}: {ty} = {value};")
        }
        fn give(&self, of: Option<&str>, values: &[String]) -> String {
            let values = values.join(", ");
            of.map_or_else(|| format!("return {values};"), |of| format!("return {of}({values});"))
        }
        fn branch(&self, condition: &str) -> String {
            format!("if ({condition}) {{")
        }
    }

    #[test]
    fn records_are_printed_in_other_languages() {
        let relu = rows::unary::<crate::ops::relu>("relu", DType::F32).unwrap();
        assert_eq!(
            functions(&Wgsl, [&relu]),
            "fn relu(a0: f32) -> f32 {\n  let v2: bool = a0 < 0.0;\n  if (v2) {\n    return 0.0;\n  }\n  return a0;\n}\n"
        );
        // A complex result, and a part that is not declared first.
        let sigmoid = functions(&Wgsl, [&rows::unary::<crate::ops::sigmoid>("sigmoid", DType::C64).unwrap()]);
        assert!(sigmoid.contains("fn sigmoid(a0: f32, a1: f32) -> vec2<f32> {\n"), "{sigmoid}");
        assert_eq!(sigmoid.matches("fn complex_exp_f32(").count(), 1, "{sigmoid}");
        // where(mask, x * s, 0.5) as an integer
        let mut kernel = Kernel::written();
        let [mask, x] = [DType::Bool, DType::F32].map(|dtype| kernel.load(dtype, Operand::default()));
        let s = kernel.parameter(2.0_f32);
        let product = kernel.row("mul", DType::F32, &[x, s]);
        let half = kernel.constant(0.5, DType::F32);
        let chosen = kernel.choose(mask, product, half);
        let result = kernel.cast(chosen, DType::I32);
        assert_eq!(
            element(&Wgsl, &kernel, "k", result),
            "fn k_element(a0: bool, a1: f32, s0: f32, i: i32) -> i32 {\n  let x0: f32 = ci_f_mul_f32(a1, s0);\n  \
             let x1: f32 = f32(0.5);\n  let x2: f32 = select(x1, x0, a0);\n  let x3: i32 = i32(x2);\n  return x3;\n}\n"
        );
        assert!(functions(&Wgsl, kernel.functions.values()).contains("let v2: f32 = a0 * a1;"));
    }
}
