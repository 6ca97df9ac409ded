//! Tensors with the shape of another: `zeros_like` and so on, each with the layout of the other or in a given memory format.

use crate::device::Device;
use crate::dtype::{Castable, Element, Float, Real, Scalar};
use crate::error::Result;
use crate::layout::memory_format::{FormatFor, Preserve, copied_in};
use crate::layout::strides::row_major;
use crate::ops::kernel::Copying;
use crate::shape::{Matrices, Shape};
use crate::storage::{View, ViewMut};
use crate::tensor::Tensor;
use crate::tensor::create::constructors::fill_value;
use crate::tensor::create::random::Generator;
use castiron_macros::fallible;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// A tensor over new row-major or constant elements, with the strides of a copy of `self` in a format.
    fn like<M: FormatFor<S>>(&self, op: &'static str, storage: Result<D::Storage>) -> Result<Self> {
        let strides = copied_in::<S, M>(op, &self.shape(), &self.stride())?;
        Ok(Self::from_parts(storage?, 0, self.shape(), strides))
    }
}

/// Writes each function with the layout of `self`, and with a memory format. For `zeros_like` it writes `zeros_like()` and
/// `zeros_like_in(format)`.
macro_rules! likes {
    ($($(#[$doc:meta])* $name:ident $in:ident ($($arg:ident: $ty:ty),*)
       $torch:literal where [$($bound:tt)*] |$this:ident| $storage:expr;)*) => {
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {$(
            $(#[$doc])*
            ///
            /// # Panics
            /// If memory runs out, or an argument does not fit.
            #[fallible]
            pub fn $name(&self $(, $arg: $ty)*) -> Result<Self>
            where
                $($bound)*
            {
                let $this = self;
                self.like::<Preserve>(stringify!($name), $storage)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") in a memory format (`", $torch, "`).")]
            ///
            /// # Panics
            /// If memory runs out, or an argument does not fit.
            #[fallible]
            pub fn $in<M: FormatFor<S>>(&self, $($arg: $ty,)* format: M) -> Result<Self>
            where
                $($bound)*
            {
                let $this = self;
                self.like::<M>(stringify!($name), $storage)
            }
        )*}
    };
}
likes! {
    /// Zeros with the shape and layout of `self` (`torch.zeros_like`).
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.zeros_like().to_vec(), [0; 4]);
    /// assert_eq!(x.t().zeros_like().stride(), [1, 2]);
    /// ```
    zeros_like zeros_like_in ()
        "torch.zeros_like(x, memory_format=…)" where [] |x| D::zeroed::<E>(Some(x.elements().buffer), x.numel());

    /// Elements of no particular value with the shape and layout of `self` (`torch.empty_like`). They are zeros, since uninitialised memory
    /// must not be read.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[1, 2], [3, 4]].empty_like().shape(), [2, 2]);
    /// ```
    empty_like empty_like_in ()
        "torch.empty_like(x, memory_format=…)" where [] |x| D::zeroed::<E>(Some(x.elements().buffer), x.numel());

    /// Ones with the shape and layout of `self` (`torch.ones_like`).
    ///
    /// ```
    /// assert_eq!(castiron::tensor![3, 4].ones_like().to_vec(), [1, 1]);
    /// ```
    ones_like ones_like_in ()
        "torch.ones_like(x, memory_format=…)" where [E: Castable] |x| filled::<E, D>(x.elements().buffer, x.numel(), E::from_bool(true));

    /// Uniform in `[0, 1)`, with the shape and layout of `self` (`torch.rand_like`).
    ///
    /// ```
    /// use castiron::{tensor, Generator};
    /// assert_eq!(tensor![0.0, 0.0].rand_like(&mut Generator::seeded(0)).shape(), [2]);
    /// ```
    rand_like rand_like_in (generator: &mut Generator)
        "torch.rand_like(x, memory_format=…)" where [E: Float]
        |x| Self::try_rand_sized(x.shape(), generator).map(|drawn| drawn.parts.storage);

    /// Normal with mean 0 and standard deviation 1, with the shape and layout of `self` (`torch.randn_like`).
    ///
    /// ```
    /// use castiron::{tensor, Generator};
    /// assert_eq!(tensor![0.0, 0.0].randn_like(&mut Generator::seeded(0)).shape(), [2]);
    /// ```
    randn_like randn_like_in (generator: &mut Generator)
        "torch.randn_like(x, memory_format=…)" where [E: Float]
        |x| Self::try_randn_sized(x.shape(), generator).map(|drawn| drawn.parts.storage);

    /// Integers from `low` up to but not including `high`, with the shape and layout of `self` (`torch.randint_like`).
    ///
    /// ```
    /// use castiron::{tensor, Generator};
    /// let x = tensor![0, 0, 0].randint_like(1, 7, &mut Generator::seeded(0));
    /// assert!(x.iter().all(|x| (1..7).contains(x)));
    /// ```
    randint_like randint_like_in (low: i64, high: i64, generator: &mut Generator)
        "torch.randint_like(x, low, high, memory_format=…)" where [E: Real]
        |x| Self::try_randint_sized(x.shape(), low, high, generator).map(|drawn| drawn.parts.storage);
}

/// A storage of `numel` elements of one value.
fn filled<E: Element, D: Device>(beside: &D::Storage, numel: usize, value: E) -> Result<D::Storage> {
    D::fill(Some(beside), value, numel)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Ones on the diagonal, zeros elsewhere, with the type and sizes of `self`, a matrix or a batch of matrices: to be added to or
    /// subtracted from it.
    ///
    /// PyTorch: `torch.eye(m, n, dtype=x.dtype).expand_as(x)`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, shape, tensor};
    /// let p = tensor![[2.0, 1.0], [1.0, 2.0]];
    /// let damped: Tensor<f32, shape![2, 2]> = &p + p.eye_like() * 0.5;
    /// assert_eq!(damped.to_vec(), [2.5, 1.0, 1.0, 2.5]);
    /// ```
    #[fallible]
    pub fn eye_like(&self) -> Result<Self>
    where
        E: Castable,
        S: Matrices,
    {
        let buffer = self.elements().buffer;
        let mut storage = D::zeroed::<E>(Some(buffer), self.numel())?;
        let one = D::fill(Some(buffer), E::from_bool(true), 1)?;
        let (mut sizes, mut strides) = (self.shape(), row_major(self.shape().as_ref()));
        if let ([.., rows, columns], [.., step, _]) = (sizes.as_mut(), &mut strides[..]) {
            // The diagonal as rows of one column.
            *rows = (*rows).min(*columns);
            *columns = 1;
            *step = step.saturating_add(1);
        }
        let (sizes, nothing) = (sizes.as_ref(), vec![0; S::RANK]);
        let ones = View::new(&one, 0, sizes, &nothing);
        D::map1_into::<E, E>(Copying, ones, ViewMut::new(&mut storage, 0, sizes, &strides))?;
        Ok(Self::dense(storage, self.shape()))
    }

    /// All elements set to one value, with the shape and layout of `self` (`torch.full_like`).
    ///
    /// # Panics
    /// If the value does not fit the dtype or memory runs out.
    ///
    /// ```
    /// let x = castiron::tensor![1.0, 2.0];
    /// assert_eq!(x.full_like(7).to_vec(), [7.0, 7.0]);
    /// ```
    #[fallible]
    pub fn full_like(&self, value: impl Scalar) -> Result<Self>
    where
        E: Castable,
    {
        self.try_full_like_in(value, Preserve)
    }

    /// [`full_like`](Self::full_like) in a memory format (`torch.full_like(x, value, memory_format=…)`).
    ///
    /// # Panics
    /// If the value does not fit the dtype or memory runs out.
    #[fallible]
    pub fn full_like_in<M: FormatFor<S>>(&self, value: impl Scalar, format: M) -> Result<Self>
    where
        E: Castable,
    {
        let value = fill_value::<E>("full_like", value.value())?;
        self.like::<M>("full_like", filled::<E, D>(self.elements().buffer, self.numel(), value))
    }
}
