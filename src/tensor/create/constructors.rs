//! Constructors of tensors: filled, by index, from elements.
//!
//! If the compiler knows every size a constructor takes none (`zeros()`); otherwise the `_sized` form takes all of them (`zeros_sized([n,
//! 384])`) and checks those that the type knows. Both have a `try_` form.

use crate::device::{Backend as _, Cpu, Device};
use crate::dtype::{Castable, Element, Scalar, ScalarValue};
use crate::error::{Error, Result, room};
use crate::ops::kernel::{Copying, Map1};
use crate::shape::{Dim, Dyn, KnownShape, Shape, SizeArray};
use crate::storage::{View, ViewMut};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// The fill value as an element, or an error if the scalar does not fit.
pub(crate) fn fill_value<E: Castable>(op: &'static str, value: ScalarValue) -> Result<E> {
    value.to_element().ok_or(Error::ScalarOutOfRange { op, value, dtype: E::DTYPE })
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Checks sizes and counts elements.
    fn plan(op: &'static str, sizes: &S::Sizes) -> Result<usize> {
        expect_fit::<S>(op, sizes.as_ref())?;
        checked_numel::<E>(op, sizes.as_ref())
    }

    /// A row-major tensor of a function of the position; `kernel` makes the function for the number of elements.
    pub(crate) fn tabulated<K: Map1<i64, E>>(
        op: &'static str,
        sizes: S::Sizes,
        kernel: impl FnOnce(usize) -> K,
    ) -> Result<Self> {
        let numel = Self::plan(op, &sizes)?;
        Ok(Self::dense(D::tabulate(kernel(numel), None, numel)?, sizes))
    }

    /// A row-major tensor of elements computed on the host.
    pub(in crate::tensor) fn build(
        op: &'static str,
        sizes: S::Sizes,
        make: impl FnOnce(usize, &mut Vec<E>) -> Result<()>,
    ) -> Result<Self> {
        let numel = Self::plan(op, &sizes)?;
        let storage = D::build(None, || {
            let mut elements = room(numel)?;
            make(numel, &mut elements)?;
            debug_assert_eq!(elements.len(), numel);
            Ok(elements)
        })?;
        Ok(Self::dense(storage, sizes))
    }

    fn filled(op: &'static str, sizes: S::Sizes, value: E) -> Result<Self> {
        let numel = Self::plan(op, &sizes)?;
        Ok(Self::dense(D::fill(None, value, numel)?, sizes))
    }

    fn zeroed(op: &'static str, sizes: S::Sizes) -> Result<Self> {
        let numel = Self::plan(op, &sizes)?;
        Ok(Self::dense(D::zeroed::<E>(None, numel)?, sizes))
    }
}

/// Writes the forms of a constructor. For `zeros` it writes `zeros()` and `zeros_sized(sizes)`, which run the body with the sizes.
macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident $sized:ident<$e:ident: $bound:path $(, $v:ident: $vbound:path)?> ($($arg:ident: $argty:ty),*) |$sizes:ident| $body:expr;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ") where sizes are known to the compiler, and where they are not.")]
        impl<$e: $bound, S: Shape, D: Device> Tensor<$e, S, D> {
            $(#[$doc])*
            ///
            /// # Panics
            /// If memory runs out, the device is not there, or an argument does not fit.
            #[fallible]
            pub fn $name$(<$v: $vbound>)?($($arg: $argty),*) -> Result<Self>
            where
                S: KnownShape,
            {
                // Fails to compile if the shape has more elements than `usize` counts.
                let _ = S::NUMEL;
                let $sizes = S::SIZES;
                $body
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") where sizes are known at run time only: takes them all, and checks those the type knows.")]
            ///
            /// # Panics
            /// If a size is not that of the type, memory runs out, the device is not there, or an argument does not fit.
            #[fallible]
            pub fn $sized$(<$v: $vbound>)?($sizes: S::Sizes $(, $arg: $argty)*) -> Result<Self> {
                $body
            }
        }
    )*};
}

constructors! {
    /// Zeros (`torch.zeros`).
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<f32, shape![2, 2]>::zeros().to_vec(), [0.0; 4]);
    /// let n = 3;
    /// assert_eq!(Tensor::<bool, shape![_, 2]>::zeros_sized([n, 2]).shape(), [3, 2]);
    /// ```
    zeros zeros_sized<E: Element>() |sizes| Self::zeroed("zeros", sizes);

    /// Elements of no particular value (`torch.empty`). They are zeros, since uninitialised memory must not be read.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<f32, shape![2, 2]>::empty().shape(), [2, 2]);
    /// ```
    empty empty_sized<E: Element>() |sizes| Self::zeroed("empty", sizes);

    /// Ones (`torch.ones`).
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<i64, shape![3]>::ones().to_vec(), [1, 1, 1]);
    /// ```
    ones ones_sized<E: Castable>() |sizes| Self::filled("ones", sizes, E::from_bool(true));

    /// All elements set to one value, converted to the dtype (`torch.full`). A value out of the dtype's range is an error.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<f32, shape![2]>::full(2.5).to_vec(), [2.5, 2.5]);
    /// assert!(Tensor::<u8, shape![2]>::try_full(300).is_err());
    /// ```
    full full_sized<E: Castable, V: Scalar>(value: V) |sizes| {
        Self::filled("full", sizes, fill_value("full", value.value())?)
    };
}

impl<E: Castable, A: Dim, B: Dim, D: Device> Tensor<E, (A, B), D> {
    /// Ones on the diagonal.
    fn diagonal_ones(op: &'static str, sizes @ [rows, columns]: [usize; 2]) -> Result<Self> {
        let mut storage = D::zeroed::<E>(None, Self::plan(op, &sizes)?)?;
        let one = D::fill(Some(&storage), E::from_bool(true), 1)?;
        // A matrix without elements may have any number of rows or columns.
        let (len, step) = ([rows.min(columns)], [columns.saturating_add(1)]);
        D::map1_into::<E, E>(Copying, View::new(&one, 0, &len, &[0]), ViewMut::new(&mut storage, 0, &len, &step))?;
        Ok(Self::dense(storage, sizes))
    }

    /// Ones on and below the diagonal.
    fn lower_ones(op: &'static str, sizes: [usize; 2]) -> Result<Self> {
        let ones = Self::filled(op, sizes, E::from_bool(true))?;
        Ok(Self::dense(D::band(ones.elements(), isize::MIN, 0)?, sizes))
    }
}

/// Writes the forms of a constructor of rank-2 tensors of zeros and ones.
macro_rules! matrices {
    ($($(#[$doc:meta])* $name:ident $sized:ident $made:ident;)*) => {$(
        impl<E: Castable, A: Dim, B: Dim, D: Device> Tensor<E, (A, B), D> {
            $(#[$doc])*
            ///
            /// # Panics
            /// If memory runs out or the device is not there.
            #[fallible]
            pub fn $name() -> Result<Self>
            where
                (A, B): KnownShape<Sizes = [usize; 2]>,
            {
                Self::$made(stringify!($name), <(A, B) as KnownShape>::SIZES)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") where sizes are known at run time only: takes them all, and checks those the type knows.")]
            ///
            /// # Panics
            /// If a size is not that of the type, memory runs out or the device is not there.
            #[fallible]
            pub fn $sized(sizes: [usize; 2]) -> Result<Self> {
                Self::$made(stringify!($name), sizes)
            }
        }
    )*};
}
matrices! {
    /// Ones on the diagonal, zeros elsewhere (`torch.eye`). The type has the size; where type inference cannot find it,
    /// [`eye_like`](Tensor::eye_like) takes type and sizes from another matrix.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<f32, shape![2, 3]>::eye().to_vec(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    /// ```
    eye eye_sized diagonal_ones;

    /// Ones on and below the diagonal, zeros above (`torch.ones(n, m).tril()`, numpy's `tri`): for example a causal mask.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<bool, shape![2, 2]>::tri().to_vec(), [true, false, true, true]);
    /// ```
    tri tri_sized lower_ones;
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// A tensor that takes over a vector of elements in row-major order, without a copy (`torch.from_numpy`). The shape is in the type; for
    /// sizes known at run time see [`from_vec_sized`](Self::from_vec_sized).
    ///
    /// # Panics
    /// If the number of elements is not that of the shape.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let x = Tensor::<i32, shape![2, 2]>::from_vec(vec![1, 2, 3, 4]);
    /// assert_eq!(x[(1, 0)], 3);
    /// ```
    #[doc(alias = "array")]
    #[doc(alias = "asarray")]
    #[doc(alias = "as_tensor")]
    #[fallible]
    pub fn from_vec(elements: Vec<E>) -> Result<Self>
    where
        S: KnownShape,
    {
        Self::try_from_vec_sized(elements, S::SIZES)
    }

    /// [`from_vec`](Self::from_vec) with sizes known at run time: takes all of them, and checks those that the type knows.
    ///
    /// # Panics
    /// If a size is not that of the type, or the number of elements is not that of the sizes.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let x = Tensor::<i32, shape![_, 2]>::from_vec_sized(vec![1, 2, 3, 4], [2, 2]);
    /// assert_eq!(x.shape(), [2, 2]);
    /// ```
    #[fallible]
    pub fn from_vec_sized(elements: Vec<E>, sizes: S::Sizes) -> Result<Self> {
        let expected = Self::plan("from_vec", &sizes)?;
        if expected != elements.len() {
            let found = elements.len();
            return Err(Error::Length { op: "from_vec", sizes: sizes.as_ref().into(), expected, found });
        }
        Ok(Self::dense(Cpu::build(None, || Ok(elements))?, sizes))
    }

    /// The elements are a function of the indices; the compiler knows the sizes.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let table = Tensor::<i64, shape![2, 3]>::from_fn(|[row, column]| (10 * row + column) as i64);
    /// assert_eq!(table.to_vec(), [0, 1, 2, 10, 11, 12]);
    /// ```
    #[track_caller]
    pub fn from_fn(f: impl FnMut(S::Sizes) -> E) -> Self
    where
        S: KnownShape,
    {
        Self::from_fn_sized(S::SIZES, f)
    }

    /// [`from_fn`](Self::from_fn) with sizes known at run time.
    ///
    /// # Panics
    /// If a size is not that of the type, or memory runs out.
    #[fallible]
    pub fn from_fn_sized(sizes: S::Sizes, mut f: impl FnMut(S::Sizes) -> E) -> Result<Self> {
        Self::build("from_fn", sizes, |numel, elements| {
            let mut index = S::Sizes::filled(0);
            for _ in 0..numel {
                elements.push(f(index));
                for axis in (0..S::RANK).rev() {
                    index.as_mut()[axis] += 1;
                    if index.as_ref()[axis] < sizes.as_ref()[axis] {
                        break;
                    }
                    index.as_mut()[axis] = 0;
                }
            }
            Ok(())
        })
    }

    /// The constructor behind `tensor!`: as many elements as the shape has.
    #[doc(hidden)]
    #[track_caller]
    pub fn __from_literal<const N: usize>(elements: [E; N]) -> Self
    where
        S: KnownShape,
    {
        const { assert!(N == S::NUMEL, "tensor! counted the elements") }
        Self::from_vec(elements.into())
    }
}

impl<E: Element, D: Device> Tensor<E, (), D> {
    /// A zero-dim tensor (`torch.tensor(value)`).
    ///
    /// # Panics
    /// If memory runs out or the device is not there.
    ///
    /// ```
    /// use castiron::Tensor;
    /// let half: Tensor<f32, ()> = Tensor::scalar(0.5);
    /// assert_eq!(half.item(), 0.5);
    /// ```
    #[fallible]
    pub fn scalar(value: E) -> Result<Self> {
        Self::filled("scalar", [], value)
    }
}

impl<E: Element> From<E> for Tensor<E, ()> {
    fn from(value: E) -> Self {
        Tensor::scalar(value)
    }
}

impl<E: Element> From<Vec<E>> for Tensor<E, (Dyn,)> {
    fn from(elements: Vec<E>) -> Self {
        let len = elements.len();
        Tensor::from_vec_sized(elements, [len])
    }
}

impl<E: Element> From<&[E]> for Tensor<E, (Dyn,)> {
    fn from(elements: &[E]) -> Self {
        elements.to_vec().into()
    }
}

impl<E: Element> FromIterator<E> for Tensor<E, (Dyn,)> {
    fn from_iter<I: IntoIterator<Item = E>>(elements: I) -> Self {
        elements.into_iter().collect::<Vec<E>>().into()
    }
}

/// Whether an array's length is that of a known dimension.
const fn length_fits(known: Option<usize>, len: usize) -> bool {
    match known {
        Some(known) => known == len,
        None => true,
    }
}

/// For rank 2 it writes `impl From<[[E; M]; N]> for Tensor<E, (A, B)>`. An array whose length is not that of the type fails to compile
/// (when the program is built, not in `cargo check`).
macro_rules! from_arrays {
    ($([$($dim:ident $len:ident)+] $array:ty, |$elements:ident| $flat:expr;)*) => {$(
        impl<E: Element, $($dim: Dim, const $len: usize),+> From<$array> for Tensor<E, ($($dim,)+)> {
            fn from($elements: $array) -> Self {
                $(const { assert!(length_fits($dim::SIZE, $len), "an array's length is not the size in the tensor's type") })+
                Tensor::from_vec_sized($flat, [$($len),+])
            }
        }
    )*};
}
from_arrays! {
    [A N] [E; N], |elements| elements.to_vec();
    [A N B M] [[E; M]; N], |elements| elements.as_flattened().to_vec();
    [A N B M C K] [[[E; K]; M]; N], |elements| elements.as_flattened().as_flattened().to_vec();
    [A N B M C K F L] [[[[E; L]; K]; M]; N], |elements| elements.as_flattened().as_flattened().as_flattened().to_vec();
}
