//! The data of a recorded formula: nodes, each a step applied to earlier ones, and the tree of branches with their results.
//!
//! Built by `paths`, printed by `write`, evaluated by tests.

#[cfg(feature = "grad")]
use super::derivative::RecordedDual;
use crate::dtype::DType;
use std::collections::BTreeMap;
#[cfg(any(test, feature = "cuda"))]
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// A kind of machine number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Bool,
    U8,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

/// A machine number type of constants and arguments: its kind, and its bits.
pub(crate) trait Machine: Copy + fmt::Debug + Send + Sync + 'static {
    const KIND: Kind;
    /// The bits, the upper ones zero.
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Self;
}
macro_rules! machines {
    ($($ty:ty: $kind:ident |$x:ident| $bits:expr, |$b:ident| $of_bits:expr;)*) => {$(
        impl Machine for $ty {
            const KIND: Kind = Kind::$kind;
            fn bits(self) -> u64 {
                let $x = self;
                $bits
            }
            fn of_bits($b: u64) -> $ty {
                $of_bits
            }
        }
    )*};
}
machines! {
    bool: Bool |x| x.into(), |b| b != 0;
    u8: U8 |x| x.into(), |b| b as u8;
    i8: I8 |x| (x as u8).into(), |b| b as i8;
    i16: I16 |x| (x as u16).into(), |b| b as i16;
    i32: I32 |x| (x as u32).into(), |b| b as i32;
    i64: I64 |x| x as u64, |b| b as i64;
    f32: F32 |x| x.to_bits().into(), |b| f32::from_bits(b as u32);
    f64: F64 |x| x.to_bits(), |b| f64::from_bits(b);
}

/// The index of a node in its function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Id(pub(crate) u32);

/// Where the function of a step comes from; part of its name in the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Family {
    /// An operator of the language.
    Operator,
    /// Correctly rounded on every platform.
    Basic,
    /// A function of `dtype::math`.
    Elementary,
    /// A function that Rust calls in the platform's math library.
    Platform,
    /// A function of `dtype::special` that is not a formula, or contains a loop.
    Special,
}

/// A step: its name, and how the host computes it.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) family: Family,
    pub(crate) name: &'static str,
    pub(crate) run: fn(&[u64]) -> u64,
    /// The same on dual numbers, if it is differentiable and its numbers are `f64`.
    #[cfg(feature = "grad")]
    pub(super) dual: Option<OfDuals>,
}
/// A step on dual numbers.
#[cfg(feature = "grad")]
pub(super) type OfDuals = fn(&[RecordedDual]) -> RecordedDual;
/// A part on dual numbers.
#[cfg(feature = "grad")]
pub(super) type PartOfDuals = fn(&[RecordedDual]) -> Vec<RecordedDual>;
impl Step {
    pub(super) fn new(family: Family, name: &'static str, run: fn(&[u64]) -> u64) -> Self {
        Step {
            family,
            name,
            run,
            #[cfg(feature = "grad")]
            dual: None,
        }
    }
}
impl PartialEq for Step {
    fn eq(&self, other: &Step) -> bool {
        (self.family, self.name) == (other.family, other.name)
    }
}
impl Eq for Step {}
impl std::hash::Hash for Step {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.family, self.name).hash(state);
    }
}
impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.family, self.name)
    }
}

/// A value of a recorded formula.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    /// The argument with this index.
    Argument(usize, Kind),
    /// A constant, as bits.
    Constant(u64, Kind),
    /// The result of a step on other values.
    Step(Step, Vec<Id>, Kind),
    /// A part of the formula that is a separate function, and its number of results.
    Part(String, Vec<Id>, usize, Kind),
    /// One of the results of a part.
    Result(Id, usize, Kind),
}
impl Node {
    pub(crate) fn kind(&self) -> Kind {
        match *self {
            Node::Argument(_, kind)
            | Node::Constant(_, kind)
            | Node::Step(_, _, kind)
            | Node::Part(_, _, _, kind)
            | Node::Result(_, _, kind) => kind,
        }
    }
    /// The nodes that it is computed from.
    pub(crate) fn operands(&self) -> &[Id] {
        match self {
            Node::Argument(..) | Node::Constant(..) => &[],
            Node::Step(_, operands, _) | Node::Part(_, operands, _, _) => operands,
            Node::Result(part, ..) => std::slice::from_ref(part),
        }
    }
}

/// The results, or a branch: one of two trees by a condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Tree {
    Leaf(Vec<Id>),
    Branch(Id, Box<Tree>, Box<Tree>),
}
impl Tree {
    /// Number of branches.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn decisions(&self) -> usize {
        match self {
            Tree::Leaf(_) => 0,
            Tree::Branch(_, yes, no) => 1 + yes.decisions() + no.decisions(),
        }
    }
}

/// A recorded formula: its arguments and results.
#[cfg_attr(not(any(test, feature = "cuda")), allow(dead_code, reason = "nothing is printed"))]
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Kind>,
    pub(crate) results: Vec<Kind>,
    /// The struct that holds the results, if they are not a single number.
    pub(super) returns: Option<String>,
    pub(crate) tree: Tree,
    pub(crate) nodes: Vec<Node>,
    /// All parts that it calls, directly or indirectly, by name.
    pub(crate) parts: BTreeMap<String, Arc<Function>>,
    /// The same on dual numbers, if its derivative is stated.
    #[cfg(feature = "grad")]
    pub(super) dual: Option<PartOfDuals>,
}
impl Function {
    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }
    /// The nodes that this value needs and that are not computed yet, in order; marks them as computed.
    #[cfg(any(test, feature = "cuda"))]
    pub(super) fn needed(&self, id: Id, computed: &mut HashSet<Id>) -> Vec<Id> {
        fn visit(function: &Function, id: Id, computed: &mut HashSet<Id>, order: &mut Vec<Id>) {
            let node = function.node(id);
            if matches!(node, Node::Argument(..) | Node::Constant(..)) || !computed.insert(id) {
                return;
            }
            for &operand in node.operands() {
                visit(function, operand, computed, order);
            }
            order.push(id);
        }
        let mut order = Vec::new();
        visit(self, id, computed, &mut order);
        order
    }
}

/// Why a formula cannot be recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// It needs the value of an argument, or of a number computed from one, for the named purpose.
    AsksForValue(&'static str),
    /// It branches more often than this on one path: most likely a loop whose end depends on an argument.
    Decisions(usize),
    /// It has more paths than this.
    Paths(usize),
    /// It has more steps than this.
    Steps(usize),
    /// It is not defined for this dtype.
    NotAdmitted,
    /// Elements of the first dtype cannot be converted to the second in text.
    NoConversion(DType, DType),
    /// A kernel cannot be described, for the named reason.
    Kernel(&'static str),
}
impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::AsksForValue(what) => write!(f, "the formula asks for the value of a recorded number: {what}"),
            Unreadable::Decisions(most) => write!(
                f,
                "the formula decides more than {most} times on one path; a loop that ends by an argument must be a function of its own"
            ),
            Unreadable::Paths(most) => {
                write!(f, "the formula has more than {most} paths; a part with decisions may be outlined")
            }
            Unreadable::Steps(most) => write!(f, "the formula has more than {most} steps"),
            Unreadable::NotAdmitted => write!(f, "the operation does not admit this dtype"),
            Unreadable::NoConversion(from, to) => {
                write!(f, "{from} is not converted to {to}: float4 holds two numbers in a byte")
            }
            Unreadable::Kernel(why) => write!(f, "{why}"),
        }
    }
}
