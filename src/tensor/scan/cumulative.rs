//! Running results along one axis: `cumprod`, `cummax`, `cummin`, `logcumsumexp`; and differences of neighbours: `diff`.
//! Uses `elementwise::apply`, `ops::kernel`, `ops::admit`, `ops::reduce`; used by `scan::trapezoid`, `linalg::distance`, `scan::softmax`, `reduce::statistics`.

use crate::device::Device;
use crate::dtype::{Binary, Castable, Complex, Compute, DType, Dtype, Element, MachineFloat, MachineInt};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::admit::{InexactFor, OrderedFor};
use crate::ops::kernel::LaneKernel;
use crate::ops::kernel::Map2;
use crate::ops::reduce::Accumulating;
use crate::shape::{AxisArg, Dyn, HasAxis, Shape};
use crate::tensor::Tensor;
use crate::tensor::elementwise::apply::map2;
use castiron_macros::fallible;

/// Runs on in the number `C`: `combine(before, element)`.
#[inline(always)]
fn run_on<C: Compute + Castable, F: Binary, E: Dtype, O: Dtype>(from: &[E], to: &mut [O], start: f64) {
    let mut running = C::from_f64(start);
    for (to, x) in to.iter_mut().zip(from) {
        running = running.binary::<F>(x.cast::<O>().to_compute().cast());
        *to = running.cast();
    }
}

#[derive(Clone, Copy)]
struct RunningProduct;
impl<E: Dtype> LaneKernel<E, E::Sum> for RunningProduct {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [E::Sum], (): &mut ()) {
        // PyTorch's `acc_type`: single precision runs in double.
        match E::DTYPE {
            DType::F32 => run_on::<f64, ops::mul, _, _>(from, to, 1.0),
            DType::C64 => run_on::<Complex<f64>, ops::mul, _, _>(from, to, 1.0),
            _ => run_on::<<E::Sum as Dtype>::Compute, ops::mul, _, _>(from, to, 1.0),
        }
    }
}

/// Whether an element takes the place of the extreme one so far: it is NaN, or beats or equals a number.
#[inline(always)]
fn succeeds<E: Dtype, const MAX: bool>(element: E, extreme: E) -> bool {
    let (x, extreme) = (element.to_compute(), extreme.to_compute());
    let nan = |x: E::Compute| x.predicate::<ops::isnan>();
    let beats = if MAX { x.compare::<ops::ge>(extreme) } else { x.compare::<ops::le>(extreme) };
    nan(x) || (beats && !nan(extreme))
}

/// The largest (`MAX`) or smallest element so far, and where it is: of equals the last.
#[derive(Clone, Copy)]
struct RunningExtreme<const MAX: bool>;
impl<E: Dtype, const MAX: bool> LaneKernel<E, (E, i64)> for RunningExtreme<MAX> {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [(E, i64)], (): &mut ()) {
        let Some(&first) = from.first() else { return };
        let mut extreme = (first, 0);
        for (at, (to, &x)) in (0..).zip(to.iter_mut().zip(from)) {
            if succeeds::<E, MAX>(x, extreme.0) {
                extreme = (x, at);
            }
            *to = extreme;
        }
    }
}

/// `log(exp(a) + exp(b))`
struct AddingExponentials;
impl Binary for AddingExponentials {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        let nan = a.is_nan() || b.is_nan();
        let (low, high) = if a > b { (b, a) } else { (a, b) };
        if nan {
            a + b
        } else if low == high && low.is_infinite() {
            b
        } else {
            (low - high).exp().ln_1p() + high
        }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        // PyTorch's order: where all are -inf the sum so far stays.
        ops::logaddexp::complex(b, a)
    }
}

#[derive(Clone, Copy)]
struct RunningLogSumExp;
impl<E: Dtype> LaneKernel<E, E> for RunningLogSumExp {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [E], (): &mut ()) {
        // PyTorch's `acc_type`: single precision runs in double.
        match E::DTYPE {
            DType::F32 => run_on::<f64, AddingExponentials, _, _>(from, to, f64::NEG_INFINITY),
            DType::C64 => run_on::<Complex<f64>, AddingExponentials, _, _>(from, to, f64::NEG_INFINITY),
            _ => run_on::<E::Compute, AddingExponentials, _, _>(from, to, f64::NEG_INFINITY),
        }
    }
}

/// `a - b`; for bools whether they differ.
struct Difference;
impl Binary for Difference {
    #[inline(always)]
    fn boolean(a: bool, b: bool) -> bool {
        a != b
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_sub(&b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a - b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        ops::sub::complex(a, b)
    }
}
#[derive(Clone, Copy)]
pub(crate) struct Differing;
impl<E: Dtype> Map2<E, E, E> for Differing {
    #[inline(always)]
    fn call(self, a: E, b: E) -> E {
        E::from_compute(a.to_compute().binary::<Difference>(b.to_compute()))
    }
}

/// Writes `cummax` and `cummin`.
macro_rules! running_extremes {
    ($($max:literal $what:literal $name:ident, $example:literal;)*) => {$(
        #[doc = concat!("The ", $what, " element so far, and where it is.")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = concat!("The ", $what, " element so far along an axis, and where it is: values and `i64` indices. Of equals the last counts; once there is a NaN, the last NaN.")]
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`.")]
            ///
            /// # Panics
            /// If memory runs out.
            ///
            /// ```
            /// use castiron::{axis, tensor};
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<const I: isize>(&self, axis: impl AxisArg<I>) -> Result<(Tensor<E, S, D>, Tensor<i64, S, D>)>
            where
                E: OrderedFor<ops::reduce::$name>,
                S: HasAxis<I>,
            {
                let [values, indices] = D::lanes_both(RunningExtreme::<$max>, self.elements(), <S as HasAxis<I>>::INDEX)?;
                Ok((Tensor::dense(values, self.shape()), Tensor::dense(indices, self.shape())))
            }
        }
    )*};
}
running_extremes! {
    true "largest" cummax,
        "let (values, indices) = tensor![1, 3, 2, 3].cummax(axis![0]);\nassert_eq!((values.to_vec(), indices.to_vec()), (vec![1, 3, 3, 3], vec![0, 1, 1, 3]));";
    false "smallest" cummin,
        "let (values, indices) = tensor![3, 1, 2, 1].cummin(axis![0]);\nassert_eq!((values.to_vec(), indices.to_vec()), (vec![3, 1, 1, 1], vec![0, 1, 1, 3]));";
}

/// `kernel(x[i + 1], x[i])` along an axis, whose size the shape does not know.
pub(crate) fn neighbours<E: Dtype, O: Dtype, T: Shape, D: Device>(
    kernel: impl Map2<E, E, O>,
    x: &Tensor<E, T, D>,
    axis: usize,
) -> Result<Tensor<O, T, D>> {
    let (mut sizes, strides) = (x.shape(), x.stride());
    let len = sizes.as_ref()[axis];
    sizes.as_mut()[axis] = len.saturating_sub(1);
    // An empty axis has no neighbours to compare.
    let step = if len > 1 { strides.as_ref()[axis] } else { 0 };
    let former = x.restrided::<T>(0, sizes, strides);
    let latter = x.restrided::<T>(step, sizes, strides);
    map2::<E, E, T, D, O>(kernel, latter.elements(), former.elements(), sizes, [E::DTYPE; 2])
}

/// Runs a lane kernel along an axis.
pub(crate) fn along<const I: isize, O: Element, E: Element, S: Shape + HasAxis<I>, D: Device>(
    kernel: impl LaneKernel<E, O>,
    x: &Tensor<E, S, D>,
) -> Result<Tensor<O, S, D>> {
    Ok(Tensor::dense(D::lanes(kernel, x.elements(), <S as HasAxis<I>>::INDEX)?, x.shape()))
}

#[derive(Clone, Copy)]
pub(crate) struct RunningSum;
impl<E: Dtype> LaneKernel<E, E::Sum> for RunningSum {
    type Scratch = ();
    #[inline(always)]
    fn lane(self, from: &[E], to: &mut [E::Sum], (): &mut ()) {
        // PyTorch's `acc_type`: single precision runs in double.
        if matches!(E::DTYPE, DType::F32 | DType::C64) {
            let mut sum = Complex::<f64>::default();
            for (to, from) in to.iter_mut().zip(from) {
                sum += from.cast::<Complex<f64>>();
                *to = sum.cast();
            }
        } else {
            let mut sum = <E::Sum as Dtype>::Compute::default();
            for (to, from) in to.iter_mut().zip(from) {
                sum = sum.binary::<Accumulating>(from.cast::<E::Sum>().to_compute());
                *to = Dtype::from_compute(sum);
            }
        }
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Running products along an axis (`torch.cumprod`). Bools and integers are multiplied in `i64`, which wraps.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![[1, 2, 3], [4, 5, 6]].cumprod(axis![1]).to_vec(), [1, 2, 6, 4, 20, 120]);
    /// ```
    #[fallible]
    pub fn cumprod<const I: isize, O: Dtype>(&self, axis: impl AxisArg<I>) -> Result<Tensor<O, S, D>>
    where
        E: Dtype<Sum = O>,
        S: HasAxis<I>,
    {
        along::<I, _, E, S, D>(RunningProduct, self)
    }

    /// The logarithm of the running sums of exponentials along an axis (`torch.logcumsumexp`), for floats and complex numbers.
    /// Computed without overflow.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![1000.0, 0.0, 2000.0].logcumsumexp(axis![0]).to_vec(), [1000.0, 1000.0, 2000.0]);
    /// ```
    #[fallible]
    pub fn logcumsumexp<const I: isize>(&self, axis: impl AxisArg<I>) -> Result<Tensor<E, S, D>>
    where
        E: InexactFor<ops::reduce::logcumsumexp>,
        S: HasAxis<I>,
    {
        along::<I, _, E, S, D>(RunningLogSumExp, self)
    }

    /// The differences of neighbours along an axis, taken `n` times (`torch.diff`): each time the axis is one shorter, until it
    /// is empty. Of bools: whether neighbours differ. Integers wrap.
    ///
    /// The new size is known at run time; state it with [`with_shape`](Self::with_shape) where the compiler should know it.
    /// PyTorch's `prepend` and `append` are a [`cat`](crate::cat) before.
    ///
    /// # Panics
    /// If the tensor is zero-dim or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[1, 4, 9], [2, 2, 3]];
    /// assert_eq!(x.diff(axis![1], 1).to_vec(), [3, 5, 0, 1]);
    /// assert_eq!(x.diff(axis![-1], 2).to_vec(), [2, 1]);
    /// ```
    #[fallible]
    pub fn diff<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        n: usize,
    ) -> Result<Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>>
    where
        E: Dtype,
        S: HasAxis<I>,
    {
        if S::RANK == 0 {
            let reason = "a zero-dim tensor has no neighbours".to_owned();
            return Err(Error::InvalidArgument { op: "diff", reason });
        }
        let axis = <S as HasAxis<I>>::INDEX;
        let mut differences = self.clone().retyped::<<S as HasAxis<I>>::Replace<Dyn>>();
        let times = n.min(self.shape().as_ref()[axis]);
        for at in 0..times {
            if differences.is_empty() {
                // A tensor without elements can have an axis of any size, too many steps to loop over.
                let (mut sizes, strides) = (differences.shape(), differences.stride());
                sizes.as_mut()[axis] -= times - at;
                return Ok(differences.restrided(0, sizes, strides));
            }
            differences = neighbours(Differing, &differences, axis)?;
        }
        Ok(differences)
    }

    /// Running sums along an axis (`torch.cumsum`). Bools and integers are summed in `i64`, which wraps.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![[1, 2, 3], [4, 5, 6]].cumsum(axis![1]).to_vec(), [1, 3, 6, 4, 9, 15]);
    /// ```
    #[fallible]
    pub fn cumsum<const I: isize, O: Dtype>(&self, axis: impl AxisArg<I>) -> Result<Tensor<O, S, D>>
    where
        E: Dtype<Sum = O>,
        S: HasAxis<I>,
    {
        along::<I, _, E, S, D>(RunningSum, self)
    }
}
