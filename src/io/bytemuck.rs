//! Slices of plain types as tensors, with the crate `bytemuck`; the float8 and float4 types as plain ones.

use crate::dtype::Element;
use crate::dtype::shell::*;
use crate::dtype::table::types_of;
use crate::error::Result;
use crate::shape::Shape;
use crate::storage::bytes_of;
use crate::tensor::{Tensor, TensorView};
use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};

macro_rules! plain {
    ($($name:ty),*) => {$(
        // SAFETY: a transparent byte for which every value is valid, including zero.
        unsafe impl Zeroable for $name {}
        // SAFETY: as above; there is no padding.
        unsafe impl Pod for $name {}
    )*};
}
types_of!(shell_bytes plain);

impl<'a, E: Element, S: Shape> TensorView<'a, E, S> {
    /// The memory of plain values as row-major elements, without a copy: for example, a slice of three-byte pixels as a tensor of bytes
    /// with three channels. (Feature `bytemuck`.)
    ///
    /// # Errors
    /// If the number of bytes does not match the sizes, they are not aligned for the elements, or a `bool` byte is neither 0 nor 1.
    ///
    /// ```
    /// use castiron::{TensorView, shape};
    /// let pixels = [[255_u8, 0, 0], [0, 255, 0]]; // or of a struct that is `bytemuck::Pod`
    /// let x: TensorView<u8, shape![_, 3]> = TensorView::from_pod(&pixels, [2, 3])?;
    /// assert_eq!(x.to_vec(), [255, 0, 0, 0, 255, 0]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_pod<T: NoUninit>(values: &'a [T], sizes: S::Sizes) -> Result<Self> {
        Self::from_bytes(bytemuck::cast_slice(values), sizes)
    }
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// The elements as plain values of another type, without a copy; `None` if they are not row-major, not aligned for it, or not a whole
    /// number of its values. (Feature `bytemuck`.)
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[255, 0, 0], [0, 255, 0]; u8];
    /// assert_eq!(x.as_pod::<[u8; 3]>(), Some(&[[255, 0, 0], [0, 255, 0]][..]));
    /// assert_eq!(x.t().as_pod::<[u8; 2]>(), None);
    /// assert_eq!(x.as_pod::<[u8; 4]>(), None);
    /// ```
    pub fn as_pod<T: AnyBitPattern>(&self) -> Option<&[T]> {
        bytemuck::try_cast_slice(bytes_of(self.as_slice()?)).ok()
    }
}
