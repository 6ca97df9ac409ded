//! A launch of a kernel that `cuda_kernel!` declares: its arguments are checked, and become the parameters of its text.

#![cfg_attr(not(feature = "cuda"), allow(dead_code))]

use super::Launch;
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::device::{Backend, Cuda};
use crate::dtype::{DType, Element};
use crate::error::{Result, invalid};
use crate::shape::{Shape, numel};
use crate::tensor::{Tensor, TensorViewMut};
use core::marker::PhantomData;

mod sealed {
    use super::{Cuda, Element, Shape, Tensor};
    pub trait Written<E: Element, S: Shape, const N: usize> {
        fn tensor(&mut self) -> &mut Tensor<E, S, Cuda<N>>;
    }
}

/// What a kernel of [`cuda_kernel!`](crate::cuda_kernel!) writes: `&mut Tensor`, or a [`TensorViewMut`], such as a part of a tensor.
#[diagnostic::on_unimplemented(
    message = "a kernel that writes a tensor of `{E}` with shape `{S}` on `Cuda<{N}>` can't write `{Self}`",
    label = "expected `&mut Tensor<{E}, {S}, Cuda<{N}>>`, or a `TensorViewMut` of the same",
    note = "all tensors of a kernel are on one GPU, and have the dtypes and shapes that it declares: `.to_device::<Cuda<0>>()?`, `.to::<f32>()`, `.with_shape()`"
)]
pub trait Written<E: Element, S: Shape, const N: usize>: sealed::Written<E, S, N> {}

impl<E: Element, S: Shape, const N: usize> sealed::Written<E, S, N> for &mut Tensor<E, S, Cuda<N>> {
    fn tensor(&mut self) -> &mut Tensor<E, S, Cuda<N>> {
        self
    }
}
impl<E: Element, S: Shape, const N: usize> Written<E, S, N> for &mut Tensor<E, S, Cuda<N>> {}
impl<E: Element, S: Shape, const N: usize> sealed::Written<E, S, N> for TensorViewMut<'_, E, S, Cuda<N>> {
    fn tensor(&mut self) -> &mut Tensor<E, S, Cuda<N>> {
        self.target()
    }
}
impl<E: Element, S: Shape, const N: usize> Written<E, S, N> for TensorViewMut<'_, E, S, Cuda<N>> {}
impl<E: Element, S: Shape, const N: usize> sealed::Written<E, S, N> for &mut TensorViewMut<'_, E, S, Cuda<N>> {
    fn tensor(&mut self) -> &mut Tensor<E, S, Cuda<N>> {
        self.target()
    }
}
impl<E: Element, S: Shape, const N: usize> Written<E, S, N> for &mut TensorViewMut<'_, E, S, Cuda<N>> {}

/// The names that a kernel's text has for sizes of a tensor.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub enum Names {
    /// One for the number of elements.
    Whole(&'static str),
    /// One for each axis, empty for an axis without a name.
    Axes(&'static [&'static str]),
}

/// How a parameter is used.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    Scalar,
    Read,
    Written,
}

pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) dtype: DType,
    pub(super) role: Role,
    /// The number, or the address.
    pub(super) bytes: [u8; 16],
    /// Sizes, for profiles.
    sizes: Vec<usize>,
}

/// A size that the text has a name for.
pub(super) struct Size {
    pub(super) name: &'static str,
    /// One axis, or all of a shape.
    sizes: Vec<usize>,
    /// Whether its type knows it: then it is a constant of the text.
    pub(super) is_known: bool,
    /// The tensor that it was read from.
    of: &'static str,
}
impl Size {
    pub(super) fn value(&self) -> usize {
        // (The tensor exists, so that its elements can be counted.)
        numel(&self.sizes).unwrap_or(usize::MAX)
    }
    fn text(&self) -> String {
        match &self.sizes[..] {
            [size] => size.to_string(),
            sizes => format!("{sizes:?}"),
        }
    }
}

/// A launch to come: `cuda_kernel!` writes a function that makes one, gives it each argument in the order of the parameters, and launches.
#[doc(hidden)]
pub struct Call<'a> {
    pub(super) name: &'static str,
    launch: Launch,
    device: Option<&'static CudaDevice>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) sizes: Vec<Size>,
    /// Names of dtypes, of functions that are generic.
    pub(super) types: Vec<(&'static str, DType)>,
    /// Row-major copies of operands, which live until the launch.
    copies: Vec<CudaBuffer>,
    borrowed: PhantomData<&'a mut ()>,
}

impl<'a> Call<'a> {
    pub fn new(name: &'static str, launch: Launch) -> Self {
        let (parameters, sizes, types, copies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Call { name, launch, device: None, parameters, sizes, types, copies, borrowed: PhantomData }
    }

    /// A dtype that has a name in the text.
    pub fn dtype<E: Element>(&mut self, name: &'static str) {
        self.types.push((name, E::DTYPE));
    }

    pub fn scalar<E: Element>(&mut self, name: &'static str, value: E) {
        let mut bytes = [0; 16];
        const { assert!(size_of::<E>() <= 16) }
        // SAFETY: an element has that many bytes and no padding, and the array has room for them.
        unsafe { core::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), bytes.as_mut_ptr(), size_of::<E>()) };
        self.parameters.push(Parameter { name, dtype: E::DTYPE, role: Role::Scalar, bytes, sizes: Vec::new() });
    }

    /// A tensor that is read; the launch reads a copy if its elements are not in row-major order.
    ///
    /// # Errors
    /// If sizes differ, or there is no memory for a copy.
    pub fn read<E: Element, S: Shape, const N: usize>(
        &mut self,
        name: &'static str,
        x: &'a Tensor<E, S, Cuda<N>>,
        names: Names,
    ) -> Result<()> {
        let (sizes, of) = (x.shape(), (E::DTYPE, S::KNOWN));
        if x.is_contiguous() {
            let place = (Cuda::<N>::address(x.elements()).addr(), x.storage().device());
            return self.tensor(name, Role::Read, of, sizes.as_ref(), place, names);
        }
        let copy = x.try_contiguous()?;
        let place = (Cuda::<N>::address(copy.elements()).addr(), copy.storage().device());
        self.copies.push(copy.parts.storage);
        self.tensor(name, Role::Read, of, sizes.as_ref(), place, names)
    }

    /// A tensor that is written, and may be read. Its storage is unique from here on, as long as it is borrowed.
    ///
    /// # Errors
    /// If its elements are not in row-major order, sizes differ, or there is no memory for a copy of a shared storage.
    pub fn write<E: Element, S: Shape, const N: usize>(
        &mut self,
        name: &'static str,
        y: &'a mut impl Written<E, S, N>,
        names: Names,
    ) -> Result<()> {
        let y = y.tensor();
        y.elements_mut()?;
        let (sizes, strides) = (y.shape(), y.stride());
        if !y.is_contiguous() {
            let reason = format!(
                "`{name}` is written, and its elements are not in row-major order (sizes {sizes:?}, strides {strides:?}): let the kernel \
                 write a contiguous tensor, and `assign` that"
            );
            return invalid(self.name, reason);
        }
        let place = (Cuda::<N>::address(y.elements()).addr(), y.storage().device());
        self.tensor(name, Role::Written, (E::DTYPE, S::KNOWN), sizes.as_ref(), place, names)
    }

    fn tensor(
        &mut self,
        name: &'static str,
        role: Role,
        (dtype, known): (DType, &[Option<usize>]),
        sizes: &[usize],
        (address, device): (usize, &'static CudaDevice),
        names: Names,
    ) -> Result<()> {
        self.device = Some(device);
        match names {
            Names::Whole(size) => self.size(size, sizes, known.iter().all(Option::is_some), name)?,
            Names::Axes(names) => {
                for ((size, known), axis) in
                    names.iter().zip(known).zip(sizes).filter(|((name, _), _)| !name.is_empty())
                {
                    self.size(size, core::slice::from_ref(axis), known.is_some(), name)?;
                }
            }
        }
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&(address as u64).to_ne_bytes());
        self.parameters.push(Parameter { name, dtype, role, bytes, sizes: sizes.to_vec() });
        Ok(())
    }

    fn size(&mut self, name: &'static str, sizes: &[usize], is_known: bool, of: &'static str) -> Result<()> {
        let size = Size { name, sizes: sizes.to_vec(), is_known, of };
        match self.sizes.iter().find(|other| other.name == name) {
            Some(other) if other.sizes != size.sizes => {
                let (first, second) = (other.text(), size.text());
                invalid(self.name, format!("`{name}` is {first} in `{}` and {second} in `{of}`", other.of))
            }
            Some(_) => Ok(()),
            None => {
                self.sizes.push(size);
                Ok(())
            }
        }
    }

    /// Compiles the kernel, unless that was done for these types, and launches it.
    ///
    /// `K` stands for the text and all types that its parameters depend on. `text` is what stands before the kernel, and its body.
    ///
    /// # Errors
    /// If the grid is too large, NVRTC is missing or does not take the text, or the driver refuses the launch.
    ///
    /// # Safety
    /// On this grid, the text reads and writes elements of its tensors alone, writes those alone that are `&mut`, and leaves valid elements.
    pub unsafe fn launch<K: 'static>(self, text: [&'static str; 2]) -> Result<()> {
        if let Some(mistake) = self.launch.mistake() {
            return invalid(self.name, mistake);
        }
        let Some(device) = self.device else {
            return invalid(self.name, "the kernel has no tensor, and so no device".to_owned());
        };
        // SAFETY: the caller's promise.
        let run = || unsafe { self.launched(core::any::TypeId::of::<K>(), device, text) };
        #[cfg(feature = "profile")]
        return crate::profile::span(self.name, || self.about(device), run, |_| 0);
        #[cfg(not(feature = "profile"))]
        run()
    }

    #[cfg(feature = "cuda")]
    unsafe fn launched(
        &self,
        key: core::any::TypeId,
        device: &'static CudaDevice,
        text: [&'static str; 2],
    ) -> Result<()> {
        use crate::cuda::compile::KernelKey;
        use crate::cuda::launch::{Arguments, Grid};
        let Launch { grid, block, shared } = self.launch;
        // (They were compared with the limits, which are numbers of 32 bits.)
        let number = |of: [usize; 3]| of.map(|of| of as u32);
        let grid = Grid { blocks: number(grid), threads: number(block), shared: shared as u32 };
        let kernel = device.kernel(KernelKey::Type(key, 0), &|| Ok(super::text::source(self, text)))?;
        let mut arguments = Arguments::new();
        for parameter in &self.parameters {
            let bytes = if parameter.role == Role::Scalar { parameter.dtype.itemsize() } else { 8 };
            arguments.push_bytes(&parameter.bytes[..bytes]);
        }
        for size in self.sizes.iter().filter(|size| !size.is_known) {
            arguments.push(size.value() as u64);
        }
        // SAFETY: these are the parameters that `source` writes. Operands are borrowed or copied until this returns, those that are
        // written exclusively and without another handle; the rest is the caller's promise.
        unsafe { kernel.launch(self.name, grid, &arguments) }
    }
    #[cfg(not(feature = "cuda"))]
    unsafe fn launched(&self, _: core::any::TypeId, device: &'static CudaDevice, _: [&'static str; 2]) -> Result<()> {
        match *device {}
    }

    #[cfg(feature = "profile")]
    fn about(&self, device: &'static CudaDevice) -> (crate::profile::Clock, String, crate::profile::About) {
        let mut about = crate::profile::About::default();
        for parameter in self.parameters.iter().filter(|parameter| parameter.role != Role::Scalar) {
            // (Contiguous, so that no stride is zero where there are elements.)
            let strides = vec![1; parameter.sizes.len()];
            about.operand(parameter.dtype, &parameter.sizes, &strides, parameter.role == Role::Written);
        }
        (crate::profile::Clock::gpu(device), device.name(), about)
    }
}
