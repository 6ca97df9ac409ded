//! What a tensor is and what is in it, for debugging.

use crate::device::Device;
use crate::dtype::{Complex, DType, Element, ScalarValue};
use crate::error::Result;
use crate::layout::strides;
use crate::shape::Shape;
use crate::storage::View;
use crate::tensor::{Tensor, TensorView, TensorViewMut};
use core::fmt;

/// Elements that are looked at together: so many are copied to the host at a time.
const TOGETHER: usize = 1 << 16;

/// What [`describe`] says of a tensor. Printed, it is a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// The dtype.
    pub dtype: DType,
    /// The sizes.
    pub shape: Vec<usize>,
    /// The strides, in elements.
    pub stride: Vec<usize>,
    /// Where in the storage the first element is.
    pub storage_offset: usize,
    /// The device as PyTorch prints it.
    pub device: String,
    /// What the elements are; `None` if there are none to be looked at: the device has no data, or could not copy them, or an element of the
    /// dtype holds two numbers.
    pub statistics: Option<Statistics>,
}

/// What the elements of a tensor are, those that are no numbers (NaN) counted apart.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// The smallest; `None` of complex numbers, and where there are none but NaNs.
    pub min: Option<ScalarValue>,
    /// The largest; `None` as of `min`.
    pub max: Option<ScalarValue>,
    /// The mean, of bools the share of those that are true; `None` where there are none but NaNs.
    pub mean: Option<ScalarValue>,
    /// How many are NaN, in either part if they are complex.
    pub nans: usize,
    /// How many are infinite, in either part if they are complex.
    pub infinities: usize,
}

/// Says what a tensor is and what is in it: dtype, shape, strides, device, the smallest and largest element, the mean, how many are NaN.
/// Takes a tensor, a view, or an `AnyTensor`.
///
/// It is for debugging: elements of other devices are copied to the host, 65,536 at a time, and summed in `f64` there. `Meta` has none.
/// Of a sparse tensor `x.values()` or `x.to_dense()` is described.
///
/// ```
/// use castiron::{axis, describe, tensor, ScalarValue};
/// let x = tensor![[1.0, f32::NAN, -2.0], [0.5, 4.0, 1.5]];
/// let about = describe(&x.select(axis![0], 0));
/// assert_eq!(about.to_string(), "\
/// dtype     float32
/// shape     [3]
/// strides   [1]
/// device    cpu
/// min       -2
/// max       1
/// mean      -0.5
/// NaN       1 of 3
/// infinite  0 of 3");
/// assert_eq!(about.statistics.unwrap().max, Some(ScalarValue::Float(1.0)));
/// ```
pub fn describe(x: &impl Describe) -> Description {
    Description { statistics: x.statistics(), ..x.about() }
}

/// What can be described.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not described: it is no strided tensor",
    label = "expected a tensor, a view, or an `AnyTensor`",
    note = "of a sparse tensor `.to_dense()` is described"
)]
pub trait Describe {
    /// What it is, without statistics.
    fn about(&self) -> Description;
    /// What its elements are.
    fn statistics(&self) -> Option<Statistics>;
    /// The elements in row-major order, if they are bytes.
    #[cfg(feature = "evcxr")]
    fn bytes(&self) -> Option<Vec<u8>>;
}

impl<E: Element, S: Shape, D: Device> Describe for Tensor<E, S, D> {
    fn about(&self) -> Description {
        Description {
            dtype: E::DTYPE,
            shape: self.shape().as_ref().to_vec(),
            stride: self.stride().as_ref().to_vec(),
            storage_offset: self.storage_offset(),
            device: D::name(),
            statistics: None,
        }
    }
    fn statistics(&self) -> Option<Statistics> {
        let view = self.elements();
        let look_at_all = |seen: &mut Seen| look(view, &mut |part| D::download::<E>(part), seen);
        if D::has_data(view.buffer) { looked_at(E::DTYPE, look_at_all) } else { None }
    }
    #[cfg(feature = "evcxr")]
    fn bytes(&self) -> Option<Vec<u8>> {
        let View { buffer, offset, sizes, strides, .. } = self.elements();
        if E::DTYPE == DType::U8 { D::download(View::<_, u8>::new(buffer, offset, sizes, strides)).ok() } else { None }
    }
}
/// Hands on to the tensor.
macro_rules! handed_on {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Describe for $type {
            fn about(&self) -> Description {
                (**self).about()
            }
            fn statistics(&self) -> Option<Statistics> {
                (**self).statistics()
            }
            #[cfg(feature = "evcxr")]
            fn bytes(&self) -> Option<Vec<u8>> {
                (**self).bytes()
            }
        }
    )*};
}
handed_on! {
    [E: Element, S: Shape, D: Device] TensorView<'_, E, S, D>;
    [E: Element, S: Shape, D: Device] TensorViewMut<'_, E, S, D>;
    [T: Describe] &T;
}

/// What is found by looking at all elements, if they can be looked at.
pub(crate) fn looked_at(dtype: DType, look: impl FnOnce(&mut Seen) -> Result<()>) -> Option<Statistics> {
    let mut seen = Seen::default();
    // (An element holds two numbers there.)
    let is_packed = dtype == DType::F4E2M1FNX2;
    (!is_packed && look(&mut seen).is_ok()).then(|| seen.statistics(dtype))
}

/// Looks at all elements of a view, a part of it after the other.
pub(crate) fn look<E: Element, B>(
    view: View<'_, B, E>,
    download: &mut dyn FnMut(View<'_, B, E>) -> Result<Vec<E>>,
    seen: &mut Seen,
) -> Result<()> {
    let numel: usize = view.sizes.iter().product();
    let Some(axis) = view.sizes.iter().position(|&size| size > 1).filter(|_| numel > TOGETHER) else {
        if numel > 0 {
            seen.add(&mut download(view)?.into_iter().map(Element::to_scalar));
        }
        return Ok(());
    };
    // Halves of the first axis that can be divided.
    let (mut sizes, half) = (view.sizes.to_vec(), view.sizes[axis] / 2);
    for (first, size) in [(0, half), (half, view.sizes[axis] - half)] {
        sizes[axis] = size;
        let offset = view.offset + first * view.strides[axis];
        look(View::new(view.buffer, offset, &sizes, view.strides), download, seen)?;
    }
    Ok(())
}

/// What was seen so far.
#[derive(Default)]
pub(crate) struct Seen {
    min: Option<ScalarValue>,
    max: Option<ScalarValue>,
    /// Elements that are numbers.
    count: usize,
    nans: usize,
    infinities: usize,
    sum: Complex<f64>,
    /// Of integers and bools, exactly.
    whole: i128,
}

impl Seen {
    /// Adds elements, which are summed among themselves first: sums of sums lose less.
    fn add(&mut self, elements: &mut dyn Iterator<Item = ScalarValue>) {
        let mut sum = Complex::new(0.0, 0.0);
        for value in elements {
            let (re, im) = match value {
                ScalarValue::Bool(of) => {
                    self.whole += i128::from(of);
                    (0.0, 0.0)
                }
                ScalarValue::Int(of) => {
                    self.whole += of;
                    (0.0, 0.0)
                }
                ScalarValue::Float(of) => (of, 0.0),
                ScalarValue::Complex(of) => (of.re, of.im),
            };
            if re.is_nan() || im.is_nan() {
                self.nans += 1;
                continue;
            }
            self.infinities += usize::from(re.is_infinite() || im.is_infinite());
            self.count += 1;
            sum += Complex::new(re, im);
            if self.min.is_none_or(|min| is_less(value, min)) {
                self.min = Some(value);
            }
            if self.max.is_none_or(|max| is_less(max, value)) {
                self.max = Some(value);
            }
        }
        self.sum += sum;
    }

    fn statistics(self, dtype: DType) -> Statistics {
        let has_order = !dtype.is_complex();
        let count = self.count as f64;
        let mean = if dtype.is_complex() {
            ScalarValue::Complex(self.sum / count)
        } else if dtype.is_floating_point() {
            ScalarValue::Float(self.sum.re / count)
        } else {
            ScalarValue::Float(self.whole as f64 / count)
        };
        Statistics {
            min: self.min.filter(|_| has_order),
            max: self.max.filter(|_| has_order),
            mean: (self.count > 0).then_some(mean),
            nans: self.nans,
            infinities: self.infinities,
        }
    }
}

/// Whether a number is less than another of the same kind. (Complex ones have no order.)
fn is_less(a: ScalarValue, b: ScalarValue) -> bool {
    match (a, b) {
        (ScalarValue::Bool(a), ScalarValue::Bool(b)) => !a & b,
        (ScalarValue::Int(a), ScalarValue::Int(b)) => a < b,
        (ScalarValue::Float(a), ScalarValue::Float(b)) => a < b,
        _ => false,
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Description { dtype, shape, stride, storage_offset, device, statistics } = self;
        let numel: usize = shape.iter().product();
        write!(f, "dtype     {dtype}\nshape     {shape:?}\nstrides   {stride:?}")?;
        if !strides::is_contiguous(shape, stride) {
            f.write_str(", not row-major")?;
        }
        if *storage_offset > 0 {
            write!(f, ", from element {storage_offset} on")?;
        }
        write!(f, "\ndevice    {device}")?;
        let Some(Statistics { min, max, mean, nans, infinities }) = statistics else { return Ok(()) };
        for (name, value) in [("min", min), ("max", max), ("mean", mean)] {
            if let Some(value) = value {
                write!(f, "\n{name:<10}{value}")?;
            }
        }
        if dtype.is_floating_point() || dtype.is_complex() {
            write!(f, "\nNaN       {nans} of {numel}\ninfinite  {infinities} of {numel}")?;
        }
        Ok(())
    }
}
