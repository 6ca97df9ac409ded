//! Comparing whole tensors: `==`, `allclose`. Host tensors only; elementwise comparison is `eq`, `lt` and so on.

use super::{Tensor, TensorView, TensorViewMut};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, unwrap};
use crate::shape::{ConvertTo, Shape};
use num_complex::Complex;

impl<E: Element, S: Shape + ConvertTo<T>, T: Shape> PartialEq<Tensor<E, T>> for Tensor<E, S> {
    /// Whether shape and all elements are equal (`torch.equal`); NaN is not equal to itself.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert!(tensor![1, 2] == tensor![1, 2]);
    /// assert!(tensor![f32::NAN] != tensor![f32::NAN]);
    /// ```
    fn eq(&self, other: &Tensor<E, T>) -> bool {
        self.shape().as_ref() == other.shape().as_ref() && self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}

/// For `TensorView == Tensor` it writes `impl PartialEq<Tensor> for TensorView`.
macro_rules! views {
    ($($left:ty = $right:ty;)*) => {$(
        impl<E: Element, S: Shape + ConvertTo<T>, T: Shape> PartialEq<$right> for $left {
            fn eq(&self, other: &$right) -> bool {
                let (a, b): (&Tensor<E, S>, &Tensor<E, T>) = (self, other);
                a == b
            }
        }
    )*};
}
views! {
    TensorView<'_, E, S> = Tensor<E, T>;
    TensorView<'_, E, S> = TensorView<'_, E, T>;
    Tensor<E, S> = TensorView<'_, E, T>;
    TensorViewMut<'_, E, S> = Tensor<E, T>;
    Tensor<E, S> = TensorViewMut<'_, E, T>;
}

impl<E: Dtype, S: Shape> Tensor<E, S> {
    /// Whether all elements are close: `|a - b| <= 1e-8 + 1e-5 * |b|` (`torch.allclose`). Equal infinities are close, NaN
    /// is close to nothing.
    ///
    /// # Panics
    /// If sizes known at run time differ; [`try_allclose`](Self::try_allclose) returns the error.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert!(tensor![0.1, 0.2].allclose(&(tensor![1.0, 2.0] / 10.0)));
    /// ```
    #[track_caller]
    pub fn allclose<T: Shape>(&self, other: &Tensor<E, T>) -> bool
    where
        S: ConvertTo<T>,
    {
        unwrap(self.try_allclose(other, 1e-5, 1e-8))
    }

    /// [`allclose`](Self::allclose) with another relative and absolute tolerance: `|a - b| <= atol + rtol * |b|`.
    ///
    /// # Panics
    /// If sizes known at run time differ; [`try_allclose`](Self::try_allclose) returns the error.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert!(tensor![100.0, 200.0].allclose_with(&tensor![101.0, 199.0], 0.0, 1.0));
    /// ```
    #[track_caller]
    pub fn allclose_with<T: Shape>(&self, other: &Tensor<E, T>, rtol: f64, atol: f64) -> bool
    where
        S: ConvertTo<T>,
    {
        unwrap(self.try_allclose(other, rtol, atol))
    }

    /// [`allclose_with`](Self::allclose_with), returning the error.
    pub fn try_allclose<T: Shape>(&self, other: &Tensor<E, T>, rtol: f64, atol: f64) -> Result<bool>
    where
        S: ConvertTo<T>,
    {
        if self.shape().as_ref() != other.shape().as_ref() {
            return Err(Error::Output {
                op: "allclose",
                result: self.shape().as_ref().into(),
                output: other.shape().as_ref().into(),
            });
        }
        let wide = |x: &E| -> Complex<f64> { x.cast() };
        Ok(self.iter().zip(other.iter()).all(|(a, b)| {
            let (a, b) = (wide(a), wide(b));
            a == b || (a - b).norm() <= atol + rtol * b.norm() && b.re.is_finite() && b.im.is_finite()
        }))
    }
}
