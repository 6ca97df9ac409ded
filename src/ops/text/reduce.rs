//! Reducers as text: the accumulator as a struct, its steps as functions. A device's reduction kernel is written once over such a struct.

use super::graph::{Function, Id, Kind, Unreadable};
use super::kernel::c_type;
use super::number::{Operand, Recorded};
use super::numbers::{Fields, Position, over_numbers};
use super::paths::record;
use super::rows::{computes_in, suffix};
use super::write::library;
use crate::dtype::{Complex, Compute, DType, Element};
use crate::ops::reduce::{
    AnyAll, Both, CountNonzero, CountNumbers, ExtremeOfTwo, LogSumExp, Mean, NanMean, NanSum, Positioned, Prod, Spread,
    Steps, StepsOfTwo, Sum, VectorNorm,
};
use std::fmt::Write as _;

/// A text, or why there is none.
pub type Written<T> = Result<T, Unreadable>;

/// A reducer as text: a C++ struct with
/// - the types `element`, `out`, `partial` (the accumulator), `given` (the run-time values), and `second_out` if it has two results;
/// - the functions `start(g)`, `accumulate(p, x, index, g)`, `merge(p, q, g)`, `finish(p, count, g)`, and `second(p, count, g)`.
///
/// Positions and counts are `ci_i64`. `accumulate` and `merge` do not depend on the order of elements, up to rounding. The prelude must
/// precede it.
#[derive(Clone, Debug)]
pub struct ReducerText {
    /// The name of the struct, made of the reduction, its form and the dtype.
    pub name: String,
    /// The dtype of the elements.
    pub element: DType,
    /// The dtype of the result.
    pub out: DType,
    /// The dtype of the second result.
    pub second: Option<DType>,
    /// The numbers of the accumulator.
    pub partial: Vec<Kind>,
    /// The kinds of the run-time values `Reducer::given`, in order.
    pub given: Vec<Kind>,
    /// Whether the accumulator is the count, the mean and the squared deviations of real numbers, as `f64`.
    pub has_moments: bool,
    /// The struct and what it calls.
    pub library: String,
    /// The recorded functions.
    pub(super) functions: Vec<Function>,
}

impl Kind {
    /// The size of a number in memory.
    pub(crate) fn size(self) -> usize {
        match self {
            Kind::Bool | Kind::U8 | Kind::I8 => 1,
            Kind::I16 => 2,
            Kind::I32 | Kind::F32 => 4,
            Kind::I64 | Kind::F64 => 8,
        }
    }
}
/// The bytes of a struct of these numbers.
pub(crate) fn struct_size(fields: &[Kind]) -> usize {
    let alignment = fields.iter().map(|kind| kind.size()).max().unwrap_or(1);
    let end = fields.iter().fold(0, |at: usize, kind| at.next_multiple_of(kind.size()) + kind.size());
    end.next_multiple_of(alignment).max(1)
}
impl ReducerText {
    /// The bytes of an accumulator.
    pub(crate) fn partial_size(&self) -> usize {
        struct_size(&self.partial)
    }
}
/// Values as a struct of numbers of these kinds, which are floats.
pub(crate) fn given_bytes(kinds: &[Kind], values: &[f64]) -> Vec<u8> {
    let bytes = |(kind, &value): (&Kind, &f64)| match kind {
        Kind::F32 => (value as f32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    };
    kinds.iter().zip(values).flat_map(bytes).collect()
}

/// The description of a reducer besides its steps.
#[derive(Clone)]
pub(crate) struct Reduction {
    name: String,
    element: DType,
    computes: DType,
    out: DType,
    second: Option<DType>,
    given: usize,
}
impl Reduction {
    /// A reduction of elements `E`, which computes in `E` and returns one.
    pub(crate) fn of<E: Element>(name: &str) -> Reduction {
        let name = format!("ci_r_{name}_{}", suffix(E::DTYPE));
        Reduction { name, element: E::DTYPE, computes: E::DTYPE, out: E::DTYPE, second: None, given: 0 }
    }
    /// Elements are converted to `T` first.
    pub(crate) fn computes<T: Element>(self) -> Reduction {
        Reduction { computes: T::DTYPE, ..self }
    }
    /// The result is a `T`.
    pub(crate) fn gives<T: Element>(self) -> Reduction {
        Reduction { out: T::DTYPE, ..self }
    }
    /// The second result is a `T`.
    pub(crate) fn and<T: Element>(self) -> Reduction {
        Reduction { second: Some(T::DTYPE), ..self }
    }
    /// It has this many run-time values.
    pub(crate) fn given(self, given: usize) -> Reduction {
        Reduction { given, ..self }
    }
    /// The text of these steps.
    pub(crate) fn read<S: Readable>(self, steps: S) -> Written<ReducerText> {
        steps.text(&self)
    }
    /// The text of these steps, with the second result.
    pub(crate) fn read_two<S: ReadableTwo>(self, steps: S) -> Written<ReducerText> {
        let second = steps.second_step(&self)?;
        let text = steps.text(&self)?;
        Ok(with_second(text, second))
    }
}

/// Steps that support every number type.
pub(crate) trait Readable: Steps {
    fn text(self, reduction: &Reduction) -> Written<ReducerText>;
}
/// The same with a second result.
pub(crate) trait ReadableTwo: Readable {
    fn second_step(self, reduction: &Reduction) -> Written<Function>;
}
macro_rules! readable {
    (@one $($steps:ty $([$($generics:tt)*])?),*) => {$(
        impl $(<$($generics)*>)? Readable for $steps {
            fn text(self, reduction: &Reduction) -> Written<ReducerText> {
                over_numbers!(reduction.computes, text_of::<Self, _>(self, reduction))
            }
        }
    )*};
    ($($steps:ty $([$($generics:tt)*])?),*; two $($two:ty $([$($generics_of_two:tt)*])?),*) => {
        readable! { @one $($steps $([$($generics)*])?),* }
        readable! { @one $($two $([$($generics_of_two)*])?),* }
        $(impl $(<$($generics_of_two)*>)? ReadableTwo for $two {
            fn second_step(self, reduction: &Reduction) -> Written<Function> {
                over_numbers!(reduction.computes, second_of::<Self, _>(self, reduction))
            }
        })*
    };
}
readable! {
    Sum, Prod, Mean, AnyAll, NanSum, NanMean, CountNonzero, CountNumbers, VectorNorm, LogSumExp, ExtremeOfTwo<MAX> [const MAX: bool];
    two Positioned<MAX> [const MAX: bool], Both, Spread<N> [const N: usize]
}

/// Records a step with arguments of these kinds; its results are fields of the struct `returns`, if given.
pub(super) fn step<O: Fields>(
    name: String,
    kinds: &[Vec<Kind>],
    returns: Option<&str>,
    run: impl Fn(&mut usize) -> O,
) -> Written<Function> {
    recorded(&name, (kinds, &O::kinds()), returns, &|ids| run(&mut 0).put(ids))
}
/// [`step`] with the types of its results erased, so that it is compiled once.
fn recorded(
    name: &str,
    (kinds, results): (&[Vec<Kind>], &[Kind]),
    returns: Option<&str>,
    put: &dyn Fn(&mut Vec<Id>),
) -> Written<Function> {
    let run = || {
        let mut ids = Vec::new();
        put(&mut ids);
        ids
    };
    let mut function = record(name, &kinds.concat(), results, &run)?;
    function.returns = returns.map(Into::into);
    Ok(function)
}

/// The run-time values of a reducer, `count` of them.
fn given<R: Operand + Default>(count: usize, at: &mut usize) -> [R; 2] {
    core::array::from_fn(|place| if place < count { R::next(at) } else { R::default() })
}

/// `struct name { float f0; … };`
pub(super) fn structure(name: &str, prefix: char, fields: &[Kind]) -> String {
    let fields: String =
        fields.iter().enumerate().map(|(at, kind)| format!(" {} {prefix}{at};", kind.c_type())).collect();
    format!("struct {name} {{{fields} }};\n")
}
/// The fields of a struct, or the parts of a number, as arguments.
pub(super) fn fields(of: &str, prefix: char, kinds: &[Kind]) -> Vec<String> {
    (0..kinds.len()).map(|at| format!("{of}.{prefix}{at}")).collect()
}
/// A number of this dtype as arguments.
pub(super) fn parts(of: &str, dtype: DType) -> Vec<String> {
    if dtype.is_complex() { vec![format!("{of}.re"), format!("{of}.im")] } else { vec![of.into()] }
}
/// An element as the number that a dtype computes in.
pub(super) fn number(element: &str, from: DType, computes: DType) -> String {
    let cast = |to: DType, text: String| format!("ci_cast<{}>({text})", c_type(to));
    let wide = computes_in(computes);
    let same = if from == computes { element.into() } else { cast(computes, element.into()) };
    if wide == computes { same } else { cast(wide, same) }
}

fn text_of<S: Steps, C: Compute + Operand>(steps: S, reduction: &Reduction) -> Written<ReducerText>
where
    S::Partial<C, Position>: Fields,
    S::Out<C, Position>: Fields,
    C::Real: Operand,
{
    let name = &reduction.name;
    let partial = format!("{name}_partial");
    let partial_kinds = <S::Partial<C, Position>>::kinds();
    let (numbers, position) = (C::KINDS.to_vec(), Position::kinds());
    let given_kinds = C::Real::KINDS.repeat(reduction.given);
    let count = reduction.given;
    type P<S, C> = <S as Steps>::Partial<C, Position>;

    let start = step(format!("{name}_start"), &[], Some(&partial), |_| steps.start::<C, Position>())?;
    let kinds = [partial_kinds.clone(), numbers.clone(), position.clone(), given_kinds.clone()];
    let accumulate = step(format!("{name}_accumulate"), &kinds, Some(&partial), |at| {
        let (p, x, index) = (P::<S, C>::next(at), C::next(at), Position::next(at));
        steps.accumulate::<C, Position>(p, x, index, given(count, at))
    })?;
    let kinds = [partial_kinds.clone(), partial_kinds.clone()];
    let merge = step(format!("{name}_merge"), &kinds, Some(&partial), |at| {
        let (p, q) = (P::<S, C>::next(at), P::<S, C>::next(at));
        steps.merge::<C, Position>(p, q)
    })?;
    let kinds = [partial_kinds.clone(), position];
    let counted = step(format!("{name}_counted"), &kinds, None, |at| {
        let (p, n) = (P::<S, C>::next(at), Position::next(at));
        steps.counted::<C, Position>(p, n)
    })?;
    let kinds = [partial_kinds.clone(), numbers, given_kinds.clone()];
    let finish = step(format!("{name}_finish"), &kinds, None, |at| {
        let (p, n) = (P::<S, C>::next(at), C::next(at));
        steps.finish::<C, Position>(p, n, given(count, at))
    })?;

    let functions = vec![start, accumulate, merge, counted, finish];
    let mut text = structure(&partial, 'f', &partial_kinds) + &library(&functions);
    let _ = writeln!(text, "struct {name} {{");
    let (element, out) = (c_type(reduction.element), c_type(reduction.out));
    let _ = writeln!(text, "  typedef {element} element; typedef {out} out; typedef {partial} partial;");
    text += &format!("  {}", structure("given", 'g', &given_kinds));
    let (p, g) = (fields("p", 'f', &partial_kinds), fields("g", 'g', &given_kinds));
    let wide = c_type(computes_in(reduction.computes));
    let mut function = |head: &str, body: String| {
        let _ = writeln!(text, "  static CI_IN {head} {{ {body} }}");
    };
    function("partial start(const given g)", format!("return {name}_start();"));
    let arguments = [p.clone(), parts("v", reduction.computes), vec!["i".into()], g.clone()].concat().join(", ");
    let v = number("x", reduction.element, reduction.computes);
    function(
        "partial accumulate(const partial p, const element x, const ci_i64 i, const given g)",
        format!("const {wide} v = {v}; return {name}_accumulate({arguments});"),
    );
    let arguments = [p.clone(), fields("q", 'f', &partial_kinds)].concat().join(", ");
    function(
        "partial merge(const partial p, const partial q, const given g)",
        format!("return {name}_merge({arguments});"),
    );
    let counted = [p.clone(), vec!["n".into()]].concat().join(", ");
    let arguments = [p, parts("v", reduction.computes), g].concat().join(", ");
    function(
        "out finish(const partial p, const ci_i64 n, const given g)",
        format!(
            "const {wide} v = ci_cast<{wide}>((double){name}_counted({counted})); \
             return ci_cast<out>({name}_finish({arguments}));"
        ),
    );
    text += "};\n";
    Ok(ReducerText {
        name: name.clone(),
        element: reduction.element,
        out: reduction.out,
        second: reduction.second,
        partial: partial_kinds,
        given: given_kinds,
        has_moments: false,
        library: text,
        functions,
    })
}

fn second_of<S: StepsOfTwo, C: Compute + Operand>(steps: S, reduction: &Reduction) -> Written<Function>
where
    S::Partial<C, Position>: Fields,
    S::Second<C, Position>: Fields,
{
    step(format!("{}_second", reduction.name), &[<S::Partial<C, Position>>::kinds()], None, |at| {
        steps.second::<C, Position>(Fields::next(at))
    })
}
/// Adds the second result to the struct before its closing line.
fn with_second(mut text: ReducerText, second: Function) -> ReducerText {
    let partial = structure(&format!("{}_partial", text.name), 'f', &text.partial);
    let own = text.library.split_once(&partial).map_or("", |(_, own)| own);
    let own = own.strip_suffix("};\n").unwrap_or(own);
    let out = text.second.map_or("void", c_type);
    let arguments = fields("p", 'f', &text.partial).join(", ");
    text.library = format!(
        "{partial}{}{own}  typedef {out} second_out;\n  static CI_IN second_out second(const partial p, const ci_i64 n, \
         const given g) {{ return ci_cast<second_out>({}({arguments})); }}\n}};\n",
        library([&second]),
        second.name
    );
    text.functions.push(second);
    text
}
