//! Maxima and means of windows: `max_pool1d` to `avg_pool3d`.
//!
//! Source: `torch.nn.functional.max_pool2d`, `avg_pool2d` and so on.

use super::laid;
use super::pooling::Pooling;
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops;
use crate::ops::admit::{FloatFor, RealFor};
use crate::ops::window::Window;
use crate::shape::{EachAxis, Moves, Pool, Pooled, Shape};
use crate::tensor::Tensor;
use castiron_macros::composites;

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The largest element that a window sees at each of its places along the last axes, RANK of them; NaN if it sees one.
    ///
    /// `(N, C, …)` or `(C, …)`; the compiler knows the further sizes of a `Tensor` if it knows those of the operand. Padding is lower than
    /// every number.
    ///
    /// # Errors
    /// If a window does not fit, the padding is more than half of it, or an axis other than the batch is empty.
    #[each(
        RANK = 1 2 3,
        ADMITTED = float real real,
        ADMITS = FloatFor RealFor RealFor,
        OPERAND = [[1.0, 5.0, 2.0, 3.0]] [[[1.0, 5.0], [2.0, 3.0]]] [[[[1.0, 5.0], [2.0, 3.0]], [[0.0, 4.0], [7.0, 6.0]]]],
        RESULT = [[5.0, 3.0]] [[[5.0]]] [[[[7.0]]]]
    )]
    #[op(nn.functional.max_poolRANKd, dtypes = ADMITTED, over = real, typed = ADMITTED)]
    #[any(
        let () = self.expect_pooled("max_poolRANKd", RANK)?,
        windows(options: &crate::any::PoolOptions) = &options.windows("max_poolRANKd", RANK)?,
        rounds_up = options.rounds_up()
    )]
    #[typed(<K: EachAxis + Kernel, M: EachAxis, P: EachAxis, L: EachAxis, T: Shape>(&self, pool: Pool<K, M, P, L>) -> Tensor<E, T, D>
        where
            E: ADMITS<ops::reduce::pooling>,
            S: Pooled<Pool<K, M, P, L>, RANK, Output = T>,
            (M, P, L): Moves;
        windows = &{ let _ = pool; <(M, P, L)>::windows(&K::sizes(RANK)) }, rounds_up = false)]
    #[example(let x = tensor!OPERAND; x.max_poolRANKd(Pool::<dim!(2)>::new()), x.max_poolRANKd(&PoolOptions::new(&[2])), tensor!RESULT)]
    pub(crate) fn max_poolRANKd(&self, windows: &[Window], rounds_up: bool) -> Result<Owned<E, D>> {
        let pooling = Pooling { op: "max_poolRANKd", windows, rounds_up };
        pooling.largest::<E, D>(self.view()).map(laid)
    }

    /// [`max_poolRANKd`](Self::max_poolRANKd) and where each element is: its position among those of the last axes, counted row by row
    /// (`return_indices=True`).
    ///
    /// # Errors
    /// As there.
    #[each(
        RANK = 1 2 3,
        ADMITTED = float real real,
        ADMITS = FloatFor RealFor RealFor,
        OPERAND = [[1.0, 5.0, 2.0, 3.0]] [[[1.0, 5.0], [2.0, 3.0]]] [[[[1.0, 5.0], [2.0, 3.0]], [[0.0, 4.0], [7.0, 6.0]]]],
        RESULT = [[5.0, 3.0]] [[[5.0]]] [[[[7.0]]]],
        INDEX = [[1, 3]] [[[1]]] [[[[6]]]]
    )]
    #[op(nn.functional.max_poolRANKd, dtypes = ADMITTED, over = real, typed = ADMITTED)]
    #[any(
        let () = self.expect_pooled("max_poolRANKd", RANK)?,
        windows(options: &crate::any::PoolOptions) = &options.windows("max_poolRANKd", RANK)?,
        rounds_up = options.rounds_up()
    )]
    #[typed(<K: EachAxis + Kernel, M: EachAxis, P: EachAxis, L: EachAxis, T: Shape>(&self, pool: Pool<K, M, P, L>) -> (Tensor<E, T, D>, Tensor<i64, T, D>)
        where
            E: ADMITS<ops::reduce::pooling>,
            S: Pooled<Pool<K, M, P, L>, RANK, Output = T>,
            (M, P, L): Moves;
        windows = &{ let _ = pool; <(M, P, L)>::windows(&K::sizes(RANK)) }, rounds_up = false)]
    #[example(let x = tensor!OPERAND; x.max_poolRANKd_with_indices(Pool::<dim!(2)>::new()), x.max_poolRANKd_with_indices(&PoolOptions::new(&[2])), (tensor!RESULT, tensor!INDEX))]
    pub(crate) fn max_poolRANKd_with_indices(
        &self,
        windows: &[Window],
        rounds_up: bool,
    ) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        let pooling = Pooling { op: "max_poolRANKd", windows, rounds_up };
        let [values, index] = pooling.largest_with_index::<E, D>(self.view())?;
        Ok((laid(values), laid(index)))
    }

    /// The mean of what a window sees at each of its places along the last axes, RANK of them. Padding counts as zeros.
    ///
    /// `(N, C, …)` or `(C, …)`; the compiler knows the further sizes of a `Tensor` if it knows those of the operand.
    ///
    /// # Errors
    /// If a window does not fit, the padding is more than half of it, or an axis other than the batch is empty.
    #[each(
        RANK = 1 2 3,
        OPERAND = [[1.0, 5.0, 2.0, 3.0]] [[[1.0, 5.0], [2.0, 3.0]]] [[[[1.0, 5.0], [2.0, 3.0]], [[0.0, 4.0], [7.0, 6.0]]]],
        RESULT = [[3.0, 2.5]] [[[2.75]]] [[[[3.5]]]]
    )]
    #[op(nn.functional.avg_poolRANKd, dtypes = "floating-point and int64", over = real, typed = float)]
    #[any(
        let () = self.expect_averaged("avg_poolRANKd", options)?,
        windows(options: &crate::any::PoolOptions) = &options.windows("avg_poolRANKd", RANK)?,
        rounds_up = options.rounds_up(),
        counts_padding = options.counts_padding(),
        divisor = options.divisor()
    )]
    #[typed(<K: EachAxis + Kernel, M: EachAxis, P: EachAxis, T: Shape>(&self, pool: Pool<K, M, P>) -> Tensor<E, T, D>
        where
            E: FloatFor<ops::reduce::pooling>,
            S: Pooled<Pool<K, M, P>, RANK, Output = T>,
            (M, P, crate::dim!(1)): Moves;
        windows = &{ let _ = pool; <(M, P, crate::dim!(1))>::windows(&K::sizes(RANK)) }, rounds_up = false, counts_padding = true, divisor = None)]
    #[example(let x = tensor!OPERAND; x.avg_poolRANKd(Pool::<dim!(2)>::new()), x.avg_poolRANKd(&PoolOptions::new(&[2])), tensor!RESULT)]
    pub(crate) fn avg_poolRANKd(
        &self,
        windows: &[Window],
        rounds_up: bool,
        counts_padding: bool,
        divisor: Option<i64>,
    ) -> Result<Owned<E, D>> {
        let pooling = Pooling { op: "avg_poolRANKd", windows, rounds_up };
        pooling.mean::<E, D>(self.view(), counts_padding, divisor).map(laid)
    }
}

/// The sizes of a window, at run time.
#[doc(hidden)]
pub trait Kernel {
    fn sizes(axes: usize) -> Vec<usize>;
}
impl<K: EachAxis<First: crate::Known, Second: crate::Known, Third: crate::Known>> Kernel for K {
    fn sizes(axes: usize) -> Vec<usize> {
        let each =
            [<K::First as crate::Known>::VALUE, <K::Second as crate::Known>::VALUE, <K::Third as crate::Known>::VALUE];
        each[..axes].to_owned()
    }
}
