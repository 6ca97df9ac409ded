//! `lp_pool1d` to `lp_pool3d`: norms of windows.

use super::laid;
use super::pool::Kernel;
use super::pooling::Pooling;
use crate::composite::nn::Laid;
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Compute, Float};
use crate::error::{Result, filled, invalid};
use crate::layout::strides;
use crate::ops;
use crate::ops::kernel::{Applying, Combining};
use crate::ops::window::Window;
use crate::shape::{EachAxis, Moves, Pool, Pooled, Shape};
use crate::storage::View;
use crate::tensor::Tensor;
use castiron_macros::composites;

/// The `p`-norm of each window, with `p` = `norm`. (PyTorch multiplies the mean by the size of the window: windows that extend beyond the
/// axis weigh more.)
fn norms<E: Float, D: Device>(pooling: Pooling<'_>, x: View<'_, D::Storage, E>, norm: f64) -> Result<Laid<D::Storage>> {
    if norm == 0.0 || norm.is_nan() {
        return invalid(pooling.op, format!("a norm of order {norm}: expected another number"));
    }
    let own = strides::row_major(x.sizes);
    let zeros = filled(0, x.sizes.len())?;
    let negative = |(storage, sizes, steps): Laid<D::Storage>| {
        let storage = D::map1::<E, E>(Applying::<ops::neg>::new(), View::new(&storage, 0, &sizes, &steps), &steps)?;
        Ok((storage, sizes, steps))
    };
    if norm.is_infinite() {
        let storage = D::map1::<E, E>(Applying::<ops::abs>::new(), x, &own)?;
        let sizes = x.sizes.to_owned();
        if norm > 0.0 {
            return pooling.largest::<E, D>(View::new(&storage, 0, &sizes, &own));
        }
        let (storage, sizes, own) = negative((storage, sizes, own))?;
        return negative(pooling.largest::<E, D>(View::new(&storage, 0, &sizes, &own))?);
    }
    let number = |value: f64| D::fill::<E>(Some(x.buffer), E::from_compute(E::Compute::number(value)), 1);
    let power = |x: View<'_, D::Storage, E>, exponent: f64, own: &[usize]| {
        let exponent = number(exponent)?;
        let exponent = View::<_, E>::new(&exponent, 0, x.sizes, &zeros);
        D::map2::<E, E, E>(Combining::<ops::pow, E>::new(), x, exponent, own)
    };
    let powers = power(x, norm, &own)?;
    let (mean, sizes, steps) = pooling.mean::<E, D>(View::new(&powers, 0, x.sizes, &own), true, None)?;
    let view = |storage| View::<_, E>::new(storage, 0, &sizes, &steps);
    // PyTorch's formula is `sign(mean) * relu(abs(mean))`.
    let sign = D::map1::<E, E>(Applying::<ops::sign>::new(), view(&mean), &steps)?;
    let size = D::map1::<E, E>(Applying::<ops::abs>::new(), view(&mean), &steps)?;
    let size = D::map1::<E, E>(Applying::<ops::relu>::new(), view(&size), &steps)?;
    let mean = D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), view(&sign), view(&size), &steps)?;
    let area = number(pooling.windows.iter().map(|window| window.kernel as f64).product())?;
    let sum =
        D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), view(&mean), View::new(&area, 0, &sizes, &zeros), &steps)?;
    let storage = power(view(&sum), 1.0 / norm, &steps)?;
    Ok((storage, sizes, steps))
}

#[composites]
impl<E: Float, D: Device> Erased<'_, E, D> {
    /// The norm of what a window sees at each of its places along the last axes, RANK of them: `(sum of x ** norm) ** (1 / norm)`; the
    /// largest absolute value where `norm` is infinite. No padding.
    ///
    /// `(N, C, …)` or `(C, …)`; the compiler knows the further sizes of a `Tensor` if it knows those of the operand.
    ///
    /// # Errors
    /// If a window does not fit, an axis other than the batch is empty, or `norm` is 0.
    #[each(
        RANK = 1 2 3,
        OPERAND = [[3.0, 4.0, 0.0, 2.0]] [[[3.0, 4.0], [0.0, 0.0]]] [[[[3.0, 4.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]],
        RESULT = [[5.0, 2.0]] [[[5.0]]] [[[[5.0]]]]
    )]
    #[op(nn.functional.lp_poolRANKd, dtypes = float)]
    #[any(
        windows(options: &crate::any::PoolOptions) = &options.windows("lp_poolRANKd", RANK)?,
        rounds_up = options.rounds_up()
    )]
    #[typed(<K: EachAxis + Kernel, M: EachAxis, T: Shape>(&self, norm: f64, pool: Pool<K, M>) -> Tensor<E, T, D>
        where
            E: Float,
            S: Pooled<Pool<K, M>, RANK, Output = T>,
            (M, crate::dim!(0), crate::dim!(1)): Moves;
        windows = &{ let _ = pool; <(M, crate::dim!(0), crate::dim!(1))>::windows(&K::sizes(RANK)) }, rounds_up = false)]
    #[example(let x = tensor!OPERAND; x.lp_poolRANKd(2.0, Pool::<dim!(2)>::new()), x.lp_poolRANKd(2.0, &PoolOptions::new(&[2])), ~ tensor!RESULT)]
    pub(crate) fn lp_poolRANKd(&self, norm: f64, windows: &[Window], rounds_up: bool) -> Result<Owned<E, D>> {
        norms::<E, D>(Pooling { op: "lp_poolRANKd", windows, rounds_up }, self.view(), norm).map(laid)
    }
}
