//! Norms, variances and sums of products that overflow their dtype: of elements in `f64`, where those of smaller dtypes fit, or of elements
//! scaled by a power of two for each row.

use crate::device::Device;
use crate::dtype::{Castable, Complex, Compute, DType, Dtype, Element, Tuned};
use crate::dtype::{MachineFloat, Parameters};
use crate::error::{Result, filled, listed};
use crate::layout::strides;
use crate::ops;
use crate::ops::arguments::Sought;
use crate::ops::kernel::{Constants, Slope};
use crate::ops::kernel::{Map2, Map3};
use crate::ops::losses::{Losing, Product, RowPower};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::rows::TimesPower;
use crate::ops::reduce::{Reducer, VectorNorm};
use crate::ops::slope::{Derived, OfBinary, OfThree};
use crate::storage::View;

/// Whether there may be an infinity among these norms or variances. The host looks; other devices are not waited for.
pub(crate) fn may_have_overflowed<E: Dtype, D: Device>(found: View<'_, D::Storage, E>) -> Result<bool> {
    Ok(!is_seen::<E, D>(found) || (!found.sizes.contains(&0) && D::has(found, Sought::Infinity)?))
}
/// Whether the host can read elements without a transfer, if there are any.
pub(crate) fn is_seen<E: Element, D: Device>(x: View<'_, D::Storage, E>) -> bool {
    x.sizes.contains(&0) || (D::has_data(x.buffer) && D::is_on_host(Some(x.buffer)))
}

/// An element of another dtype times a power of two, or times another element.
#[derive(Clone, Copy)]
pub(crate) struct ByPower;
impl<A: Castable, B: Castable, O: Dtype> Map2<A, B, O> for ByPower {
    const SLOPE: Slope = Derived::<OfBinary<ops::mul>, O>::SLOPE;
    #[inline(always)]
    fn call(self, x: A, power: B) -> O {
        let (x, power): (O, O) = (x.cast(), power.cast());
        O::from_compute(x.to_compute().binary::<TimesPower>(power.to_compute()))
    }
    fn text(&self, kernel: &mut Kernel, x: Value, power: Value) -> Value {
        let (x, power) = (kernel.cast(x, O::DTYPE), kernel.cast(power, O::DTYPE));
        kernel.rounded("times_power", O::DTYPE, &[x, power])
    }
}

/// A power of two for each row, the elements along the axes of `mask`: 1 for all if sums of their squares fit `f64`.
pub(crate) struct Powers<S> {
    powers: S,
    strides: Vec<usize>,
    is_one: bool,
}
impl<S> Powers<S> {
    pub(crate) fn of<E: Dtype, D: Device<Storage = S>>(x: View<'_, S, E>, mask: u32) -> Result<Self> {
        Self::by::<RowPower, E, D>(x, mask)
    }
    /// The powers for the largest elements by a formula.
    pub(crate) fn by<F: Tuned, E: Dtype, D: Device<Storage = S>>(x: View<'_, S, E>, mask: u32) -> Result<Self> {
        if const { !is_widest(E::DTYPE) } {
            return Ok(Powers {
                powers: D::fill(Some(x.buffer), 1.0_f64, 1)?,
                strides: filled(0, x.sizes.len())?,
                is_one: true,
            });
        }
        let largest = D::reduce::<E, _>(VectorNorm::new(f64::INFINITY), x, mask)?;
        let (kept, strides) = kept(x.sizes, mask)?;
        let largest = View::<_, E::RealDtype>::new(&largest, 0, &kept, &strides);
        let powers = D::map2::<_, _, f64>(Losing::<F>::new([0.0; 2]), largest, largest, &strides)?;
        Ok(Powers { powers, strides: spread(&kept, &strides)?, is_one: false })
    }
    /// The power of each element.
    pub(crate) fn over<'a>(&'a self, sizes: &'a [usize]) -> View<'a, S, f64> {
        View::new(&self.powers, 0, sizes, &self.strides)
    }
    /// The power of each row; `None` if all are 1.
    pub(crate) fn into_list(self) -> Option<S> {
        (!self.is_one).then_some(self.powers)
    }
    /// Elements times their powers, reduced in `f64` or complex numbers of it.
    pub(crate) fn reduce<E: Dtype, W: Dtype, D: Device<Storage = S>>(
        &self,
        reducer: impl Reducer<W>,
        x: View<'_, S, E>,
        mask: u32,
    ) -> Result<S> {
        D::reduce_pairs::<E, f64, W>(reducer, ByPower, x, self.over(x.sizes), mask)
    }
}

const fn is_widest(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::C128)
}
/// The sizes with 1 for those of `mask`, and their strides.
fn kept(sizes: &[usize], mask: u32) -> Result<(Vec<usize>, Vec<usize>)> {
    let one = |(axis, &size): (usize, &usize)| if mask >> axis & 1 == 1 { 1 } else { size };
    let kept = listed(sizes.iter().enumerate().map(one))?;
    let strides = strides::row_major(&kept);
    Ok((kept, strides))
}
/// Strides that are 0 along axes of size 1.
fn spread(kept: &[usize], strides: &[usize]) -> Result<Vec<usize>> {
    listed(kept.iter().zip(strides).map(|(&size, &stride)| if size == 1 { 0 } else { stride }))
}

/// The norms of rows scaled by powers of two, and these powers, of `f64`; both row-major. Norms are in the dtype of `x`, or the real one of
/// its parts, and small enough not to overflow it.
fn norms<E: Dtype, D: Device>(x: View<'_, D::Storage, E>, mask: u32, p: f64) -> Result<[D::Storage; 2]> {
    let powers = Powers::of::<E, D>(x, mask)?;
    let norms = if const { E::DTYPE.is_complex() } {
        powers.reduce::<E, Complex<f64>, D>(VectorNorm::new(p), x, mask)?
    } else {
        powers.reduce::<E, f64, D>(VectorNorm::new(p), x, mask)?
    };
    if const { is_widest(E::DTYPE) } {
        return Ok([norms, powers.powers]);
    }
    let (kept, strides) = kept(x.sizes, mask)?;
    let norms = View::<_, f64>::new(&norms, 0, &kept, &strides);
    let powers = D::map2::<f64, f64, f64>(Losing::<RowPower>::new([0.0; 2]), norms, norms, &strides)?;
    let scaled = View::<_, f64>::new(&powers, 0, &kept, &strides);
    let norms = D::map2::<f64, f64, E::RealDtype>(Losing::<Product>::new([0.0; 2]), norms, scaled, &strides)?;
    Ok([norms, powers])
}

/// `x / max(norm, eps)`, for a norm scaled by a power; the division is in the dtype of `x`.
#[derive(Clone, Copy)]
struct DividingByScaledNorm {
    eps: f64,
}
/// The formula, for its derivative.
struct DividedScaledFormula;
impl Tuned for DividedScaledFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [norm, power, eps]: Parameters<T>) -> T {
        let least = eps * power;
        x * power / if norm < least { least } else { norm }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(x: Complex<T>, [norm, power, eps]: Parameters<Complex<T>>) -> Complex<T> {
        let least = eps.re * power.re;
        x * (power.re / if norm.re < least { least } else { norm.re })
    }
}
impl<E: Dtype> Map3<E, E::RealDtype, f64, E> for DividingByScaledNorm {
    const SLOPE: Slope = Derived::<OfThree<DividedScaledFormula>, E>::SLOPE;
    fn constants(self) -> Constants {
        [self.eps.into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, x: E, norm: E::RealDtype, power: f64) -> E {
        let (norm, least) = (norm.to_compute(), <E::RealDtype as Castable>::from_f64(self.eps).to_compute());
        let norm = norm.binary::<ops::maximum>(least.binary::<TimesPower>(power.cast()));
        E::from_compute(x.to_compute().binary::<TimesPower>(power.cast()).binary::<ops::div>(norm.cast()))
    }
    fn text(&self, kernel: &mut Kernel, x: Value, norm: Value, power: Value) -> Value {
        let real = <E::RealDtype as Element>::DTYPE;
        let least = kernel.parameter(<E::RealDtype as Castable>::from_f64(self.eps));
        let (norm, least) = (kernel.widen(norm), kernel.widen(least));
        let of_norm = kernel.cast(power, norm.dtype());
        let least = kernel.row("times_power", real, &[least, of_norm]);
        let norm = kernel.row("maximum", real, &[norm, least]);
        let x = kernel.widen(x);
        let (power, norm) = (kernel.cast(power, x.dtype()), kernel.cast(norm, x.dtype()));
        let x = kernel.row("times_power", E::DTYPE, &[x, power]);
        kernel.rounded("div", E::DTYPE, &[x, norm])
    }
}

/// Elements divided by norms over the axes of `mask`, or by the second number if that is larger, whatever the magnitude of these norms;
/// with the given strides.
pub(crate) fn over_scaled_norms<E: Dtype, D: Device>(
    x: View<'_, D::Storage, E>,
    mask: u32,
    [p, eps]: [f64; 2],
    strides: &[usize],
) -> Result<D::Storage> {
    let [norms, powers] = norms::<E, D>(x, mask, p)?;
    let (kept, steps) = kept(x.sizes, mask)?;
    let steps = spread(&kept, &steps)?;
    let (norms, powers) = (View::new(&norms, 0, x.sizes, &steps), View::new(&powers, 0, x.sizes, &steps));
    D::map3::<E, E::RealDtype, f64, E>(DividingByScaledNorm { eps }, x, norms, powers, strides)
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::bf16;
    suite.two::<_, f32, f64, f64>("by_power", ByPower);
    suite.two::<_, Complex<f32>, f64, Complex<f64>>("by_power", ByPower).ordinary();
    suite.three::<_, bf16, bf16, f64, bf16>("dividing_by_scaled_norm", DividingByScaledNorm { eps: 0.5 }).ordinary();
    suite
        .three::<_, Complex<f32>, f32, f64, Complex<f32>>("dividing_by_scaled_norm", DividingByScaledNorm { eps: 0.5 })
        .ordinary();
}
