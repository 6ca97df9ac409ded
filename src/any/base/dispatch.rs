//! From a dtype as a value to code over its type: [`visit!`](crate::visit), and the macro that the crate's own operations use. (The sets of
//! dtypes are in `dtype::sets`.)

use crate::any::{AnyTensor, AnyViewMut};
use crate::dtype::DType;
use crate::error::Error;

/// Runs typed code on whatever is in an [`AnyTensor`](crate::AnyTensor): `visit!(x, E: Float => …)` is the code after the arrow with
/// `E` as the type of the elements of `x`, which is one of the dtypes that are [`Float`](crate::Float).
///
/// The set is called as in the bounds of generic code, so that a function over `E: Float` takes it, and it is compiled for the dtypes
/// of the set alone. A list of dtypes is a set, too.
///
/// | set | dtypes |
/// |---|---|
/// | [`Element`](crate::Element) | all, shells included |
/// | [`Dtype`](crate::Dtype) | the 13 that compute |
/// | [`Numeric`](crate::Numeric) | those but `bool` |
/// | [`Ordered`](crate::Ordered) | `bool`, integers and floats |
/// | [`Real`](crate::Real) | integers and floats |
/// | [`Bits`](crate::Bits) | `bool` and integers |
/// | [`Integer`](crate::Integer) | `u8`, `i8`, `i16`, `i32`, `i64` |
/// | [`Inexact`](crate::Inexact) | floats and complex |
/// | [`Float`](crate::Float) | `f16`, `bf16`, `f32`, `f64` |
/// | [`ComplexFloat`](crate::ComplexFloat) | `Complex<f16>`, `Complex<f32>`, `Complex<f64>` |
/// | `[f32, f64]` | these |
///
/// The first argument is an `AnyTensor`, a mutable view of one, or a [`DType`](crate::DType). The code after the arrow has one type for all
/// dtypes, and the macro gives a `Result` of that; `?` and `return` in it are those of the function around it.
///
/// # Errors
/// [`Error::NotAdmitted`](crate::Error::NotAdmitted) if the dtype is not in the set. Its text begins with a name if one is given first:
/// `visit!("rms", x, E: Float => …)`.
///
/// ```
/// use castiron::{AnyTensor, Cpu, Dyn, Float, Result, Tensor, shape, tensor, visit};
/// fn rms<E: Float>(x: &Tensor<E, shape![_, _]>) -> Tensor<E, shape![]> {
///     x.square().mean().sqrt()
/// }
/// fn any_rms(x: &AnyTensor) -> Result<AnyTensor> {
///     visit!("rms", x, E: Float => rms::<E>(&x.typed::<E, shape![_, _], Cpu>()?).into())
/// }
/// let x = AnyTensor::from(tensor![[1.0, -7.0], [5.0, 5.0]]);
/// assert_eq!(any_rms(&x)?.to_string(), "tensor(5.)");
/// let error = any_rms(&AnyTensor::from(tensor![[1, 2]])).unwrap_err();
/// assert_eq!(error.to_string(), "rms is not defined for dtype int64: it is defined for float16, bfloat16, float32 and float64; \
///     cast first, for example to float32");
///
/// let bytes = |x: &AnyTensor| visit!(x, E: [u8, i32] => size_of::<E>());
/// assert_eq!(bytes(&AnyTensor::from(tensor![1, 2; i32])), Ok(4));
/// assert!(bytes(&x).is_err());
/// # Ok::<(), castiron::Error>(())
/// ```
///
/// A second tensor is converted, or must have the same dtype: `y.typed::<E, …>()?` is an error that says what differs.
#[macro_export]
macro_rules! visit {
    ($op:literal, $x:expr, $E:ident: $set:tt => $body:expr $(,)?) => {
        $crate::__dtypes!($set {$crate::__among}
            ($op, $crate::any::Visited::visited(&$x), $E => ::core::result::Result::Ok::<_, $crate::Error>($body)))
    };
    ($x:expr, $E:ident: $set:tt => $body:expr $(,)?) => {
        $crate::visit!("visit", $x, $E: $set => $body)
    };
    ($($other:tt)*) => {
        ::core::compile_error!("visit! takes a tensor, a type with its set of dtypes, and code: `visit!(x, E: Float => code)`")
    };
}

/// Runs the code with the listed type that the dtype names, else gives an error: `__among!((op, dtype, E => code) f32, f64)`.
#[doc(hidden)]
#[macro_export]
macro_rules! __among {
    (($op:expr, $dtype:expr, $E:ident => $body:expr) $($ty:ty),+) => {
        match $dtype {
            $(dtype if dtype == <$ty as $crate::Element>::DTYPE => {
                #[allow(dead_code)]
                type $E = $ty;
                $body
            })+
            dtype => ::core::result::Result::Err($crate::any::not_among($op, dtype, &[$(<$ty as $crate::Element>::DTYPE),+])),
        }
    };
}

/// [`visit!`](crate::visit) of a dtype, where the code gives a `Result`: `dispatch_dtype!(op, dtype, E: Float => code)`.
macro_rules! dispatch_dtype {
    ($op:expr, $dtype:expr, $E:ident: $set:tt => $body:expr) => {
        $crate::__dtypes!($set {$crate::__among} ($op, $dtype, $E => $body))
    };
}
pub(crate) use dispatch_dtype;

/// The types that [`visit!`](crate::visit) takes.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`visit!` takes an `AnyTensor`, a mutable view of one or a `DType`, got `{Self}`",
    label = "its dtype is no value"
)]
pub trait Visited {
    fn visited(&self) -> DType;
}
impl Visited for AnyTensor {
    fn visited(&self) -> DType {
        self.dtype
    }
}
impl Visited for AnyViewMut<'_> {
    fn visited(&self) -> DType {
        self.dtype()
    }
}
impl Visited for DType {
    fn visited(&self) -> DType {
        *self
    }
}
impl<T: Visited + ?Sized> Visited for &T {
    fn visited(&self) -> DType {
        T::visited(self)
    }
}
impl<T: Visited + ?Sized> Visited for &mut T {
    fn visited(&self) -> DType {
        T::visited(self)
    }
}

/// The error for a dtype that is not among those admitted.
#[doc(hidden)]
#[cold]
pub fn not_among(op: &'static str, dtype: DType, admitted: &[DType]) -> Error {
    if dtype.is_shell() && !admitted.iter().any(|dtype| dtype.is_shell()) {
        return refused(op, dtype);
    }
    let mut names = String::new();
    for (at, dtype) in admitted.iter().enumerate() {
        names += match at {
            0 => "",
            _ if at + 1 == admitted.len() => " and ",
            _ => ", ",
        };
        names += dtype.name();
    }
    let example = admitted.iter().find(|&&dtype| dtype == DType::F32).or(admitted.first());
    let example = example.map_or(String::new(), |dtype| format!("; cast first, for example to {dtype}"));
    Error::NotAdmitted { op, dtype, reason: format!("it is defined for {names}{example}") }
}

/// The error for a dtype that an operation does not admit.
#[cold]
pub(crate) fn refused(op: &'static str, dtype: DType) -> Error {
    let reason = if dtype.is_shell() {
        "promotion is not defined for it: shell dtypes can be stored, moved, compared and cast; cast first, for example to float32"
    } else {
        "the operation does not admit it"
    };
    Error::NotAdmitted { op, dtype, reason: reason.to_owned() }
}

/// Whether a dtype is an integer that computes; `bool` is not.
pub(crate) fn is_integer(dtype: DType) -> bool {
    dtype.category() == crate::dtype::Category::Integral && !dtype.is_shell()
}
