//! Distinct slices on a GPU. Each column, with the elements at one position of all slices, is replaced by the ranks of its elements; then
//! two columns become one by the ranks of their pairs, until one is left, whose ranks are those of the slices.

use super::runs::{Runs, runs};
use crate::device::Device;
use crate::dtype::{Category, DType, Dtype};
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::ops::arguments::{Indexing, Order};
use crate::ops::choosing::Equal;
use crate::ops::kernel::{Copying, Map1, Map2};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::AnyAll;
use crate::ops::scan::RunningSum;
use crate::storage::{View, ViewMut};
use crate::tensor::{checked_numel, selected};

const OP: &str = "unique";

/// Whether two elements differ in sorting order, where all NaN are equal.
#[derive(Clone, Copy)]
struct Apart;
impl<E: Dtype> Map2<E, E, bool> for Apart {
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn call(self, a: E, b: E) -> bool {
        a != b && (a == a || b == b)
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let [same, left, right] = [(a, b), (a, a), (b, b)].map(|(a, b)| kernel.equal(a, b));
        let (differ, number) = (kernel.not(same), kernel.infix(left, "||", right, DType::Bool));
        kernel.infix(differ, "&&", number, DType::Bool)
    }
}

/// Whether an element is not equal to itself.
#[derive(Clone, Copy)]
struct IsNan;
impl<E: Dtype> Map1<E, bool> for IsNan {
    #[inline(always)]
    fn call(self, a: E) -> bool {
        a.to_compute() != a.to_compute()
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let same = kernel.equal(a, a);
        kernel.not(same)
    }
}

/// The first, unless the second: `a && !b`.
#[derive(Clone, Copy)]
struct Unless;
impl Map2<bool, bool, bool> for Unless {
    #[inline(always)]
    fn call(self, a: bool, b: bool) -> bool {
        a && !b
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let no = kernel.not(b);
        kernel.infix(a, "&&", no, DType::Bool)
    }
}

/// A pair of two ranks below a number, as one number.
#[derive(Clone, Copy)]
struct Paired(i64);
impl Map2<i64, i64, i64> for Paired {
    #[inline(always)]
    fn call(self, a: i64, b: i64) -> i64 {
        a.wrapping_mul(self.0).wrapping_add(b)
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let ranks = kernel.parameter(self.0);
        let high = kernel.prelude("mul", &[a, ranks], DType::I64);
        kernel.prelude("add", &[high, b], DType::I64)
    }
}

/// For each element of a row its rank in the row, the same for equal ones: `(rows, len)`.
fn ranks<E: Dtype, D: Device>(elements: View<'_, D::Storage, E>) -> Result<D::Storage> {
    let (beside, sizes) = (Some(elements.buffer), elements.sizes);
    let [rows, len] = *sizes else { return invalid(OP, "ranks are those of rows".to_owned()) };
    let [sorted, places] = D::order(Order::Sort { descending: false }, elements, 1)?;
    let (steps, between) = ([len, 1], [rows, len - 1]);
    let mut starts = D::zeroed::<bool>(beside, rows * len)?;
    let [earlier, later] = [0, 1].map(|at| View::<_, E>::new(&sorted, at, &between, &steps));
    D::map2_into::<E, E, bool>(Apart, earlier, later, ViewMut::new(&mut starts, 1, &between, &steps))?;
    let of_sorted = D::lanes::<bool, i64>(RunningSum, View::new(&starts, 0, sizes, &steps), 1)?;
    let mut ranks = D::zeroed::<i64>(beside, rows * len)?;
    let indexing = Indexing { op: OP, axis: 1, wraps: false };
    let [of_sorted, places] = [&of_sorted, &places].map(|of| View::<_, i64>::new(of, 0, sizes, &steps));
    D::scatter(indexing, places, of_sorted, ViewMut::new(&mut ranks, 0, sizes, &steps))?;
    Ok(ranks)
}

/// The results of `unique` along an axis: the slices, the inverse indices, the counts, and the number of distinct slices.
pub(super) struct Distinct<B> {
    pub(super) values: B,
    pub(super) inverse: B,
    pub(super) counts: B,
    pub(super) count: usize,
}

/// The distinct slices of contiguous elements along the middle one of three axes; there are at least two slices, and none is empty.
pub(super) fn distinct<E: Dtype, D: Device>(
    elements: View<'_, D::Storage, E>,
    [outer, len, inner]: [usize; 3],
) -> Result<Distinct<D::Storage>> {
    let (buffer, offset) = (elements.buffer, elements.offset);
    let mut rows = outer * inner;
    checked_numel::<i64>(OP, &[rows, len])?;
    // A row for each position in a slice.
    let turned = [outer, inner, len];
    let from = [len * inner, 1, inner];
    let columns = View::<_, E>::new(buffer, offset, &turned, &from);
    let columns = D::map1::<E, E>(Copying, columns, &strides::row_major(&turned))?;
    let steps = [len, 1];
    let mut sizes = [rows, len];
    let mut keys = ranks::<E, D>(View::new(&columns, 0, &sizes, &steps))?;
    while rows > 1 {
        let (pairs, left) = ([rows / 2, len], [rows % 2, len]);
        let mut paired = D::zeroed::<i64>(Some(buffer), (pairs[0] + left[0]) * len)?;
        let every_other = [2 * len, 1];
        let [high, low] = [0, len].map(|at| View::<_, i64>::new(&keys, at, &pairs, &every_other));
        D::map2_into(Paired(len as i64), high, low, ViewMut::new(&mut paired, 0, &pairs, &steps))?;
        if left[0] > 0 {
            let last = View::<_, i64>::new(&keys, (rows - 1) * len, &left, &steps);
            D::map1_into::<i64, i64>(Copying, last, ViewMut::new(&mut paired, pairs[0] * len, &left, &steps))?;
        }
        rows = pairs[0] + left[0];
        sizes = [rows, len];
        keys = ranks::<i64, D>(View::new(&paired, 0, &sizes, &steps))?;
    }
    let (line, between) = ([len], [len - 1]);
    let [sorted, places] = D::order(Order::Sort { descending: false }, View::<_, i64>::new(&keys, 0, &line, &[1]), 0)?;
    let [earlier, later] = [0, 1].map(|at| View::<_, i64>::new(&sorted, at, &between, &[1]));
    let mut equal = D::map2::<i64, i64, bool>(Equal, earlier, later, &[1])?;
    if E::DTYPE.category() >= Category::Floating {
        // No NaN equals another, so a slice with one is distinct.
        let all = [outer * inner, len];
        let nan = D::map1::<E, bool>(IsNan, View::new(&columns, 0, &all, &steps), &steps)?;
        let nan = D::reduce::<bool, _>(AnyAll::ANY, View::new(&nan, 0, &all, &steps), 1)?;
        let nan = View::<_, bool>::new(&nan, 0, &line, &[1]);
        let nan = selected::<bool, D>(OP, nan, 0, &places, &line)?;
        let nan = View::<_, bool>::new(&nan, 0, &between, &[1]);
        D::update2::<bool, bool>(Unless, nan, ViewMut::new(&mut equal, 0, &between, &[1]))?;
    }
    let places = View::<_, i64>::new(&places, 0, &line, &[1]);
    let own = places.restrided(&line, &[1]);
    let Runs { starts, inverse, counts, count } =
        runs::<D>(View::new(&equal, 0, &between, &[1]), Some(own), [true; 2])?;
    let (chosen, _) = D::compress(places, View::new(&starts, 0, &line, &[1]))?;
    let (cube, from) = ([outer, len, inner], [len * inner, inner, 1]);
    let all = View::<_, E>::new(buffer, offset, &cube, &from);
    let values = selected::<E, D>(OP, all, 1, &chosen, &[outer, count, inner])?;
    Ok(Distinct { values, inverse, counts, count })
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.two::<_, f32, f32, bool>("apart", Apart);
    suite.two::<_, i8, i8, bool>("apart", Apart);
    suite.one::<_, f64, bool>("is_nan", IsNan);
    suite.two::<_, bool, bool, bool>("unless", Unless);
    suite.two::<_, i64, i64, i64>("paired", Paired(1000));
}
