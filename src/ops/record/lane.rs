//! Recorded functions of a lane: scans and row functions.

use super::graph::{Function, Kind, Unreadable};
use super::number::{Operand, Recorded};
use super::numbers::{Fields, Position, over_numbers};
use super::reduce::{Record, step, struct_size};
use super::row::RecordedRow;
use super::rows::suffix;
use crate::dtype::{Complex, Compute, DType, Element};
use crate::ops::reduce::own::{OfOne, OfTwo, Reducer};
use crate::ops::scan::steps::LaneSteps;
use crate::ops::scan::{RunningExtreme, RunningLogSumExp, RunningProduct, RunningSum};
use std::cell::Cell;

/// A recorded function of a lane.
#[derive(Clone, Debug)]
pub enum RecordedLane {
    /// A scan.
    Scan(RecordedScan),
    /// A row function: the lane is the row.
    Row(RecordedRow),
}

/// A recorded scan. Its functions are the name followed by
/// - `_start()`, the initial value if it has one; `_of(number, position)`, a segment of one element; `_merge(segment, segment)`, a segment
///   and the one after it. The first number of a segment that begins with the lane (and with the initial value) is the result at its end;
///   the last is the second result, if that is a position.
///
/// `merge` is associative up to rounding. Positions are `i64`.
#[derive(Clone, Debug)]
pub struct RecordedScan {
    /// The name, made of the scan and the dtype.
    pub name: String,
    /// The dtype of the elements; a second result is a position.
    pub element: DType,
    /// The dtype of the result.
    pub out: DType,
    /// The dtype that results are computed in.
    pub computes: DType,
    /// Whether there is a second result, a position in `i64`.
    pub has_positions: bool,
    /// Whether there is an initial value.
    pub has_start: bool,
    /// Whether `_finish(segment)` is the result, and not the first number of the segment.
    pub finishes: bool,
    /// The numbers of a segment.
    pub partial: Vec<Kind>,
    /// The recorded functions.
    pub(super) functions: Vec<Function>,
}
impl RecordedScan {
    /// The bytes of a segment.
    pub(crate) fn partial_size(&self) -> usize {
        struct_size(&self.partial)
    }
}

/// The description of a scan besides its steps.
pub(crate) struct Scan {
    name: String,
    element: DType,
    out: DType,
    computes: DType,
    has_positions: bool,
}
impl Scan {
    /// A scan of elements `E`, converted to `O` and then to the compute dtype, with results `O`.
    pub(crate) fn of<E: Element, O: Element>(name: &str, computes: DType) -> Scan {
        let name = format!("ci_scan_{name}_{}", suffix(E::DTYPE));
        Scan { name, element: E::DTYPE, out: O::DTYPE, computes, has_positions: false }
    }
    /// The second number is a position, and a result.
    pub(crate) fn with_positions(self) -> Scan {
        Scan { has_positions: true, ..self }
    }
    /// Records these steps.
    pub(crate) fn read<S: Readable>(self, steps: S) -> Record<RecordedScan> {
        steps.record(&self)
    }
}

/// Steps that support every number type.
pub(crate) trait Readable: LaneSteps {
    fn record(self, scan: &Scan) -> Record<RecordedScan>;
}
macro_rules! readable {
    ($($steps:ty $([$($generics:tt)*])?),*) => {$(
        impl $(<$($generics)*>)? Readable for $steps {
            fn record(self, scan: &Scan) -> Record<RecordedScan> {
                over_numbers!(scan.computes, record_of::<Self, _>(self, scan))
            }
        }
    )*};
}
readable! {
    RunningSum, RunningProduct, RunningLogSumExp, RunningExtreme<MAX> [const MAX: bool],
    OfOne<R, N, AT> [R: Reducer<N>, const N: usize, const AT: usize],
    OfTwo<R, E, N, AT> [R: Reducer<N>, E: 'static, const N: usize, const AT: usize]
}

fn record_of<S: LaneSteps, C: Compute + Operand>(steps: S, scan: &Scan) -> Record<RecordedScan>
where
    S::Partial<C, Position>: Fields,
    C::Real: Operand,
{
    let Scan { name, element, out, computes, has_positions } = scan;
    let (partial, kinds) = (format!("{name}_partial"), <S::Partial<C, Position>>::kinds());
    type P<S, C> = <S as LaneSteps>::Partial<C, Position>;
    let mut functions = Vec::new();
    let has_start = Cell::new(false);
    let start = step(format!("{name}_start"), &[], Some(&partial), |_| {
        let start = steps.start::<C, Position>();
        has_start.set(start.is_some());
        start.unwrap_or_else(|| steps.of(C::default(), Position::from(false)))
    })?;
    let has_start = has_start.get();
    if has_start {
        functions.push(start);
    }
    functions.push(step(format!("{name}_of"), &[C::KINDS.to_vec(), Position::kinds()], Some(&partial), |at| {
        steps.of::<C, Position>(C::next(at), Position::next(at))
    })?);
    functions.push(step(format!("{name}_merge"), &[kinds.clone(), kinds.clone()], Some(&partial), |at| {
        let (earlier, later) = (P::<S, C>::next(at), P::<S, C>::next(at));
        steps.merge::<C, Position>(earlier, later)
    })?);
    if S::FINISHES {
        functions.push(step(format!("{name}_finish"), std::slice::from_ref(&kinds), None, |at| {
            steps.finish::<C, Position>(P::<S, C>::next(at))
        })?);
    }
    Ok(RecordedScan {
        name: name.clone(),
        element: *element,
        out: *out,
        computes: *computes,
        has_positions: *has_positions,
        has_start,
        finishes: S::FINISHES,
        partial: kinds,
        functions,
    })
}
