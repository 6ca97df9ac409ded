//! Prints recorded formulas as C++ functions, for CUDA and other compilers.

use super::graph::{Family, Function, Id, Kind, Node, Step, Tree};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

/// The start of every text.
#[cfg(test)]
pub(crate) const PRELUDE: &str =
    concat!(include_str!("prelude.h"), include_str!("float8.h"), include_str!("incomplete.h"));

/// A complete text: the prelude, `float8.h` and `incomplete.h` if needed, and the text itself.
#[cfg(feature = "cuda")]
pub(crate) fn with_prelude(text: &str) -> String {
    let floats = match ["ci_e4m3", "ci_e5m2", "ci_e8m0"].iter().any(|name| text.contains(name)) {
        true => include_str!("float8.h"),
        false => "",
    };
    let gammas = if text.contains("ci_special_igamma") { include_str!("incomplete.h") } else { "" };
    [include_str!("prelude.h"), floats, gammas, text].concat()
}

impl Kind {
    /// The type in C++.
    pub(super) fn c_type(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::U8 => "ci_u8",
            Kind::I8 => "ci_i8",
            Kind::I16 => "ci_i16",
            Kind::I32 => "ci_i32",
            Kind::I64 => "ci_i64",
            Kind::F32 => "float",
            Kind::F64 => "double",
        }
    }
    fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }
}

/// A constant.
pub(super) fn literal(bits: u64, kind: Kind) -> String {
    let integer = |value: i64| {
        if i32::try_from(value).is_ok_and(|value| value != i32::MIN) {
            format!("({}){value}", kind.c_type())
        } else {
            format!("({}){bits:#x}ull", kind.c_type())
        }
    };
    match kind {
        Kind::Bool => (bits != 0).to_string(),
        Kind::F32 if f32::from_bits(bits as u32).is_finite() => format!("{:?}f", f32::from_bits(bits as u32)),
        Kind::F32 => format!("ci_f32({bits:#x}u)"),
        Kind::F64 if f64::from_bits(bits).is_finite() => format!("{:?}", f64::from_bits(bits)),
        Kind::F64 => format!("ci_f64({bits:#x}ull)"),
        Kind::U8 => integer(bits as i64),
        Kind::I8 => integer((bits as i8).into()),
        Kind::I16 => integer((bits as i16).into()),
        Kind::I32 => integer((bits as i32).into()),
        Kind::I64 => integer(bits as i64),
    }
}

/// One number, or a struct of two for a complex number.
fn result_type(results: &[Kind]) -> String {
    match results {
        [kind] => kind.c_type().into(),
        [kind, ..] => format!("ci_c<{}>", kind.c_type()),
        [] => "void".into(),
    }
}

fn value(function: &Function, id: Id) -> String {
    match *function.node(id) {
        Node::Constant(bits, kind) => literal(bits, kind),
        Node::Argument(at, _) => format!("a{at}"),
        _ => format!("v{}", id.0),
    }
}

fn applied(function: &Function, step: Step, operands: &[Id]) -> String {
    let kind = function.node(operands[0]).kind();
    let values: Vec<String> = operands.iter().map(|&id| value(function, id)).collect();
    let prefix = match step.family {
        Family::Operator => {
            let wraps = match step.name {
                _ if kind.is_float() || kind == Kind::Bool => None,
                "+" => Some("ci_add"),
                "-" if values.len() == 1 => Some("ci_neg"),
                "-" => Some("ci_sub"),
                "*" => Some("ci_mul"),
                "/" => Some("ci_quotient"),
                _ => None,
            };
            return match (wraps, values.as_slice()) {
                (Some(name), values) => format!("{name}({})", values.join(", ")),
                (None, [x]) => format!("{}({x})", step.name),
                (None, values) => values.join(&format!(" {} ", step.name)),
            };
        }
        Family::Basic | Family::Elementary => "ci_",
        Family::Platform => "ci_platform_",
        Family::Special => "ci_special_",
    };
    format!("{prefix}{}({})", step.name, values.join(", "))
}

fn define(function: &Function, id: Id, computed: &mut HashSet<Id>, indent: &str, out: &mut String) {
    for id in function.needed(id, computed) {
        let (ty, text) = match function.node(id) {
            Node::Step(step, operands, kind) => (kind.c_type().to_string(), applied(function, *step, operands)),
            Node::Part(name, operands, results, kind) => {
                let values: Vec<String> = operands.iter().map(|&id| value(function, id)).collect();
                (result_type(&vec![*kind; *results]), format!("{name}({})", values.join(", ")))
            }
            Node::Result(part, at, kind) => {
                let alone = matches!(function.node(*part), Node::Part(_, _, 1, _));
                let field = if alone { "" } else { [".re", ".im"][*at] };
                (kind.c_type().to_string(), format!("v{}{field}", part.0))
            }
            Node::Argument(..) | Node::Constant(..) => continue,
        };
        let _ = writeln!(out, "{indent}const {ty} v{} = {text};", id.0);
    }
}

fn statements(function: &Function, tree: &Tree, computed: &HashSet<Id>, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let mut computed = computed.clone();
    match tree {
        Tree::Leaf(results) => {
            for &id in results {
                define(function, id, &mut computed, &indent, out);
            }
            let values: Vec<String> = results.iter().map(|&id| value(function, id)).collect();
            let _ = match values.as_slice() {
                [value] if function.returns.is_none() => writeln!(out, "{indent}return {value};"),
                values => writeln!(out, "{indent}return {}{{{}}};", function.returned(), values.join(", ")),
            };
        }
        Tree::Branch(condition, yes, no) => {
            define(function, *condition, &mut computed, &indent, out);
            let _ = writeln!(out, "{indent}if ({}) {{", value(function, *condition));
            statements(function, yes, &computed, depth + 1, out);
            let _ = writeln!(out, "{indent}}}");
            statements(function, no, &computed, depth, out);
        }
    }
}

impl Function {
    fn returned(&self) -> String {
        self.returns.clone().unwrap_or_else(|| result_type(&self.results))
    }
    fn head(&self, qualifier: &str) -> String {
        let arguments: Vec<String> =
            self.arguments.iter().enumerate().map(|(at, kind)| format!("{} a{at}", kind.c_type())).collect();
        format!("{qualifier} {} {}({})", self.returned(), self.name, arguments.join(", "))
    }
    fn written(&self, qualifier: &str) -> String {
        let mut text = self.head(qualifier) + " {\n";
        statements(self, &self.tree, &HashSet::new(), 1, &mut text);
        text + "}\n"
    }
    /// The function alone; its parts must precede it.
    pub(crate) fn text(&self) -> String {
        self.written("CI_FN")
    }
    /// Its parts by name, as declarations and definitions.
    pub(crate) fn part_texts(&self) -> BTreeMap<String, [String; 2]> {
        let texts = |part: &Function| [part.head("CI_PART") + ";\n", part.written("CI_PART")];
        self.parts.iter().map(|(name, part)| (name.clone(), texts(part))).collect()
    }
}

/// The text of functions with the parts they need, each once, without the prelude.
pub(crate) fn library<'a>(functions: impl IntoIterator<Item = &'a Function>) -> String {
    let (mut parts, mut text) = (BTreeMap::new(), String::new());
    for function in functions {
        parts.append(&mut function.part_texts());
        text.push_str(&function.text());
    }
    let declared: String = parts.values().map(|[declaration, _]| declaration.as_str()).collect();
    let defined: String = parts.values().map(|[_, definition]| definition.as_str()).collect();
    declared + &defined + &text
}
