//! `nonzero`: the indices of elements that are not zero.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{DType, Dtype};
use crate::error::{Error, Result, room};
use crate::layout::dims::Dims;
use crate::layout::strides;
use crate::ops::choosing::IsTrue;
use crate::ops::kernel::{Map1, Map2, VectorWidth};
use crate::ops::record::kernel::{Kernel, Value};
use crate::shape::Dyn;
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::composites;

/// The quotient of a row-major position and a stride.
#[derive(Clone, Copy)]
struct Quotient(i64);
impl Map1<i64, i64> for Quotient {
    /// There are no vector instructions for integer division.
    const VECTORS: VectorWidth = VectorWidth::None;
    #[inline(always)]
    fn call(self, place: i64) -> i64 {
        place / self.0
    }
    fn text(&self, kernel: &mut Kernel, place: Value) -> Value {
        let count = kernel.parameter(self.0);
        kernel.prelude("quotient", &[place, count], DType::I64)
    }
}

/// The remainder of a row-major position and a stride.
#[derive(Clone, Copy)]
struct Rest(i64);
impl Map2<i64, i64, i64> for Rest {
    #[inline(always)]
    fn call(self, place: i64, quotient: i64) -> i64 {
        place - quotient * self.0
    }
    fn text(&self, kernel: &mut Kernel, place: Value, quotient: Value) -> Value {
        let count = kernel.parameter(self.0);
        let whole = kernel.prelude("mul", &[quotient, count], DType::I64);
        kernel.prelude("sub", &[place, whole], DType::I64)
    }
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The indices of the elements that are not zero, in row-major order: a row for each element, a column for each axis.
    ///
    /// Shape: their number, known at run time, by the number of axes.
    ///
    /// # Errors
    /// If there are no data.
    #[doc(alias = "argwhere")]
    #[op(nonzero, dtypes = any)]
    #[any(by_hand)]
    #[typed((&self) -> Tensor<i64, (Dyn, S::Rank), D>
        where
            E: Dtype)]
    #[example(let x = tensor![[5, 0], [0, 7]]; x.nonzero().with_shape::<shape![2, 2]>(), x.nonzero(), tensor![[0, 0], [1, 1]])]
    pub(crate) fn nonzero(&self) -> Result<Owned<i64, D>> {
        if !D::has_data(self.storage()) {
            return Err(Error::NoData { op: "nonzero" });
        }
        self.map1::<bool>("nonzero", IsTrue)?.indices("nonzero")
    }
}

impl<D: Device> Erased<'_, bool, D> {
    /// The indices where a mask is true, in row-major order: a row for each.
    pub(crate) fn indices(&self, op: &'static str) -> Result<Owned<i64, D>> {
        let rank = self.rank();
        if rank > 0
            && let Some((rows, count)) = D::index_rows(self.view())?
        {
            return Ok(Erased::dense(rows, Dims::known(&[count, rank])));
        }
        let (places, count) = true_positions::<D>(self.view())?;
        checked_numel::<i64>(op, &[count, rank])?;
        let all = Dims::known(&[count, rank]);
        if rank == 0 || count == 0 {
            return Ok(Erased::dense(D::zeroed::<i64>(Some(self.storage()), 0)?, all));
        }
        let (mut columns, mut rest) = (room(rank)?, Owned::<i64, D>::list(places, count));
        for axis in 1..rank {
            // The number of elements fits `i64`; it is 0 only if there are no positions.
            let inner = self.sizes()[axis..].iter().product::<usize>().max(1) as i64;
            let quotient = rest.map1_dense::<i64>(op, Quotient(inner))?;
            rest = rest.map2_dense::<i64, i64>(op, Rest(inner), &quotient)?;
            columns.push(quotient);
        }
        if columns.is_empty() {
            return Ok(Erased::dense(rest.into_parts().0, all));
        }
        columns.push(rest);
        let (mut pieces, column) = (room(rank)?, [count, 1]);
        pieces.extend(columns.iter().map(|of| View::<_, i64>::new(of.storage(), 0, &column, &[1, 1])));
        Ok(Erased::dense(D::join(&pieces, 1, &all, &all.row_major())?, all))
    }
}

/// The row-major positions where a mask is true, and their number.
pub(crate) fn true_positions<D: Device>(mask: View<'_, D::Storage, bool>) -> Result<(D::Storage, usize)> {
    let numel: usize = mask.sizes.iter().product();
    if strides::is_contiguous(mask.sizes, mask.strides)
        && let Some(found) = D::index_rows(mask.restrided(&[numel], &[1]))?
    {
        return Ok(found);
    }
    let all = D::iota(Some(mask.buffer), numel)?;
    let strides = Dims::known(mask.sizes).row_major();
    D::compress(View::<_, i64>::new(&all, 0, mask.sizes, &strides), mask)
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, i64, i64>("quotient", Quotient(7)).ordinary();
    suite.two::<_, i64, i64, i64>("rest", Rest(7)).ordinary();
}
