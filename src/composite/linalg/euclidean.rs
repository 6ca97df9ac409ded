//! Euclidean distances of many rows by one matrix product: `|x - y|² = |x|² + |y|² - 2 x·y`.

use crate::device::Device;
use crate::dtype::{Compute, Dtype};
use crate::dtype::{MachineFloat, Unary};
use crate::error::Result;
use crate::layout::strides;
use crate::ops;
use crate::ops::kernel::{Constants, Slope};
use crate::ops::kernel::{Copying, Map1};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Sum;
use crate::ops::slope::{Derived, OfBinary, OfUnary};
use crate::storage::{View, ViewMut};

/// Rows beyond which PyTorch computes distances by a product.
pub(crate) const FEW: usize = 25;

#[derive(Clone, Copy)]
struct Squaring;
impl<E: Dtype> Map1<E, E> for Squaring {
    const SLOPE: Slope = Derived::<OfUnary<ops::square>, E>::SLOPE;
    #[inline(always)]
    fn call(self, a: E) -> E {
        let a = a.to_compute();
        E::from_compute(a.binary::<ops::mul>(a))
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        kernel.rounded("mul", E::DTYPE, &[a, a])
    }
}

/// `-2 * a`
#[derive(Clone, Copy)]
struct MinusTwice;
impl<E: Dtype> Map1<E, E> for MinusTwice {
    const SLOPE: Slope = Derived::<OfBinary<crate::ops::mul>, E>::BESIDE_RIGHT;
    fn constants(self) -> Constants {
        [(-2.0).into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, a: E) -> E {
        E::from_compute(E::from_i32(-2).to_compute().binary::<ops::mul>(a.to_compute()))
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let factor = kernel.constant(-2.0, E::DTYPE);
        kernel.rounded("mul", E::DTYPE, &[factor, a])
    }
}

#[derive(Clone, Copy)]
struct One;
impl<E: Dtype> Map1<E, E> for One {
    const SLOPE: Slope = Slope::Flat;
    #[inline(always)]
    fn call(self, _: E) -> E {
        E::from_i32(1)
    }
    fn text(&self, kernel: &mut Kernel, _: Value) -> Value {
        kernel.constant(1.0, E::DTYPE)
    }
}

/// The root of a square, clamped at 0 since rounding may have made it negative. NaN stays.
#[derive(Clone, Copy)]
struct ClampedRoot;
/// The formula, with PyTorch's derivative of a distance of 0, which is 0.
struct ClampedRootFormula;
impl Unary for ClampedRootFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        if x < T::zero() { T::zero() } else { x.sqrt() }
    }
    const DERIVATIVE_READS: [u32; 3] = [8; 3];
    #[inline(always)]
    fn derivative<T: MachineFloat>(_: T, y: T) -> T {
        if y == T::zero() { T::zero() } else { (y + y).recip() }
    }
}
impl<E: Dtype> Map1<E, E> for ClampedRoot {
    const SLOPE: Slope = Derived::<OfUnary<ClampedRootFormula>, E>::SLOPE;
    #[inline(always)]
    fn call(self, a: E) -> E {
        let clamped = a.to_compute().binary::<ops::maximum>(E::Compute::default());
        E::from_compute(clamped.unary::<ops::sqrt>())
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let zero = kernel.constant(0.0, E::DTYPE);
        let (a, zero) = (kernel.widen(a), kernel.widen(zero));
        let clamped = kernel.row("maximum", E::DTYPE, &[a, zero]);
        let root = kernel.row("sqrt", E::DTYPE, &[clamped]);
        kernel.cast(root, E::DTYPE)
    }
}

/// Rows extended by two columns, their squared norms and ones: `(-2 x, |x|², 1)` or `(y, 1, |y|²)`. Row-major.
fn extended<E: Dtype, D: Device>(x: View<'_, D::Storage, E>, left: bool) -> Result<D::Storage> {
    let (last, columns) = (x.sizes.len() - 1, x.sizes[x.sizes.len() - 1]);
    let (rows, dense) = (x.sizes[..last].iter().product::<usize>(), strides::row_major(x.sizes));
    let squares = D::map1::<E, E>(Squaring, x, &dense)?;
    let pairs = [rows, columns];
    // Sums of floats have their dtype.
    let lengths = D::reduce::<E, _>(Sum, View::<_, E>::new(&squares, 0, &pairs, &[columns, 1]), 0b10)?;
    let lengths = View::<_, E>::new(&lengths, 0, &pairs[..1], &[1]);
    let wide = columns + 2;
    let mut storage = D::zeroed::<E>(Some(x.buffer), rows * wide)?;
    let mut longer = x.sizes.to_owned();
    longer[last] = wide;
    let to = strides::row_major(&longer);
    let own = ViewMut::<_, E>::new(&mut storage, 0, x.sizes, &to);
    if left {
        D::map1_into::<E, E>(MinusTwice, x, own)?;
    } else {
        D::map1_into::<E, E>(Copying, x, own)?;
    }
    let [length_at, one_at] = if left { [columns, columns + 1] } else { [columns + 1, columns] };
    D::map1_into::<E, E>(Copying, lengths, ViewMut::new(&mut storage, length_at, &pairs[..1], &[wide]))?;
    D::map1_into::<E, E>(One, lengths, ViewMut::new(&mut storage, one_at, &pairs[..1], &[wide]))?;
    Ok(storage)
}

/// The distances of every row of `(…, m, k)` to every one of `(…, n, k)`, the leading sizes being broadcast to `batch`. Row-major.
pub(crate) fn distances<E: Dtype, D: Device>(
    a: View<'_, D::Storage, E>,
    b: View<'_, D::Storage, E>,
    batch: &[usize],
) -> Result<D::Storage> {
    let (left, right) = (extended::<E, D>(a, true)?, extended::<E, D>(b, false)?);
    let [(a_sizes, a_strides), (b_sizes, b_strides)] = [a.sizes, b.sizes].map(|sizes| {
        let lead = sizes.len() - 2;
        let mut longer = sizes.to_owned();
        longer[lead + 1] += 2;
        let dense = strides::row_major(&longer);
        let spread = strides::broadcast_list(&sizes[..lead], &dense[..lead], batch);
        ([batch, &longer[lead..]].concat(), [&spread, &dense[lead..]].concat())
    });
    // The right factor is transposed.
    let turned = |of: &[usize]| {
        let mut of = of.to_owned();
        let len = of.len();
        of.swap(len - 2, len - 1);
        of
    };
    let (b_sizes, b_strides) = (turned(&b_sizes), turned(&b_strides));
    D::matmul_then::<E>(
        ClampedRoot,
        View::new(&left, 0, &a_sizes, &a_strides),
        View::new(&right, 0, &b_sizes, &b_strides),
        None,
    )
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::f16;
    suite.one::<_, f16, f16>("squaring", Squaring);
    suite.one::<_, f16, f16>("minus_twice", MinusTwice);
    suite.one::<_, f16, f16>("one", One);
    suite.one::<_, f32, f32>("clamped_root", ClampedRoot);
}
