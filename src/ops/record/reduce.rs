//! Recorded reducers: the numbers of the accumulator, and the steps as functions. A device's reduction kernel is written once over them.

use super::graph::{Function, Id, Kind, Unreadable};
use super::number::{Operand, Recorded};
use super::numbers::{Fields, Position, over_numbers};
use super::paths::record;
use super::rows::suffix;
use crate::dtype::{Complex, Compute, DType, Element};
use crate::ops::reduce::extreme::{Both, Positioned};
use crate::ops::reduce::own::{OfOne, OfTwo, Reducer};
use crate::ops::reduce::variance::Spread;
use crate::ops::reduce::{
    AnyAll, CountNonzero, CountNumbers, ExtremeOfTwo, LogSumExp, Mean, NanMean, NanSum, Prod, Steps, StepsOfTwo, Sum,
    VectorNorm,
};

/// What was recorded, or why it cannot be.
pub type Record<T> = Result<T, Unreadable>;

/// A recorded reducer. Its functions are the name followed by
/// - `_start()`, which gives an accumulator; `_accumulate(accumulator, number, position, given)`; `_merge(accumulator, accumulator)`;
/// - `_counted(accumulator, count)`, the count to finish with; `_finish(accumulator, count as a number, given)`; and `_second(accumulator)`
///   if it has two results.
///
/// Positions and counts are `i64`. `accumulate` and `merge` do not depend on the order of elements, up to rounding.
#[derive(Clone, Debug)]
pub struct RecordedReducer {
    /// The name, made of the reduction, its form and the dtype.
    pub name: String,
    /// The dtype of the elements.
    pub element: DType,
    /// The dtype that they are converted to first.
    pub computes: DType,
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
impl RecordedReducer {
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
    /// Records these steps.
    pub(crate) fn read<S: Readable>(self, steps: S) -> Record<RecordedReducer> {
        steps.record(&self)
    }
    /// Records these steps, with the second result.
    pub(crate) fn read_two<S: ReadableTwo>(self, steps: S) -> Record<RecordedReducer> {
        let second = steps.second_step(&self)?;
        let mut recorded = steps.record(&self)?;
        recorded.functions.push(second);
        Ok(recorded)
    }
}

/// Steps that support every number type.
pub(crate) trait Readable: Steps {
    fn record(self, reduction: &Reduction) -> Record<RecordedReducer>;
}
/// The same with a second result.
pub(crate) trait ReadableTwo: Readable {
    fn second_step(self, reduction: &Reduction) -> Record<Function>;
}
macro_rules! readable {
    (@one $($steps:ty $([$($generics:tt)*])?),*) => {$(
        impl $(<$($generics)*>)? Readable for $steps {
            fn record(self, reduction: &Reduction) -> Record<RecordedReducer> {
                over_numbers!(reduction.computes, record_of::<Self, _>(self, reduction))
            }
        }
    )*};
    ($($steps:ty $([$($generics:tt)*])?),*; two $($two:ty $([$($generics_of_two:tt)*])?),*) => {
        readable! { @one $($steps $([$($generics)*])?),* }
        readable! { @one $($two $([$($generics_of_two)*])?),* }
        $(impl $(<$($generics_of_two)*>)? ReadableTwo for $two {
            fn second_step(self, reduction: &Reduction) -> Record<Function> {
                over_numbers!(reduction.computes, second_of::<Self, _>(self, reduction))
            }
        })*
    };
}
readable! {
    OfOne<R, N, AT> [R: Reducer<N>, const N: usize, const AT: usize],
    OfTwo<R, E, N, AT> [R: Reducer<N>, E: 'static, const N: usize, const AT: usize],
    Sum, Prod, Mean, AnyAll, NanSum, NanMean, CountNonzero, CountNumbers, VectorNorm, LogSumExp, ExtremeOfTwo<MAX> [const MAX: bool];
    two Positioned<MAX> [const MAX: bool], Both, Spread<N> [const N: usize]
}

/// Records a step with arguments of these kinds; its results are fields of the struct `returns`, if given.
pub(super) fn step<O: Fields>(
    name: String,
    kinds: &[Vec<Kind>],
    returns: Option<&str>,
    run: impl Fn(&mut usize) -> O,
) -> Record<Function> {
    recorded(&name, (kinds, &O::kinds()), returns, &|ids| run(&mut 0).put(ids))
}
/// [`step`] with the types of its results erased, so that it is compiled once.
fn recorded(
    name: &str,
    (kinds, results): (&[Vec<Kind>], &[Kind]),
    returns: Option<&str>,
    put: &dyn Fn(&mut Vec<Id>),
) -> Record<Function> {
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

fn record_of<S: Steps, C: Compute + Operand>(steps: S, reduction: &Reduction) -> Record<RecordedReducer>
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

    Ok(RecordedReducer {
        name: name.clone(),
        element: reduction.element,
        computes: reduction.computes,
        out: reduction.out,
        second: reduction.second,
        partial: partial_kinds,
        given: given_kinds,
        has_moments: false,
        functions: vec![start, accumulate, merge, counted, finish],
    })
}

fn second_of<S: StepsOfTwo, C: Compute + Operand>(steps: S, reduction: &Reduction) -> Record<Function>
where
    S::Partial<C, Position>: Fields,
    S::Second<C, Position>: Fields,
{
    step(format!("{}_second", reduction.name), &[<S::Partial<C, Position>>::kinds()], None, |at| {
        steps.second::<C, Position>(Fields::next(at))
    })
}
