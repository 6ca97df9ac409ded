//! Type-erased kernels with conversions of their operands and results: `AnyTensor`'s rows.

use super::describe::{Described, Mapped};
use super::kernel::{Kernel, Operand, Value};
use crate::dtype::{DType, Element};
use crate::ops::kernel::{Map1, Map2};
use core::any::TypeId;

/// A type-erased kernel; `N` counts the result and the operands.
#[derive(Clone, Copy)]
pub(crate) struct ErasedKernel<const N: usize> {
    key: fn() -> TypeId,
    dtypes: [DType; N],
    text: unsafe fn(*const (), &mut Kernel, &[Value]) -> Value,
}

/// Reads the kernel from its place.
///
/// # Safety
/// There is one, unless it is zero-sized.
unsafe fn read<K: Copy>(kernel: *const ()) -> K {
    let place = if size_of::<K>() == 0 { core::ptr::dangling() } else { kernel.cast::<K>() };
    // SAFETY: the caller's promise; a zero-sized value is read from any aligned place.
    unsafe { place.read() }
}

impl ErasedKernel<2> {
    /// A unary kernel.
    pub(crate) const fn one<K: Map1<A, O>, A: Element, O: Element>() -> Self {
        unsafe fn text<K: Map1<A, O>, A: Element, O: Element>(
            kernel: *const (),
            to: &mut Kernel,
            of: &[Value],
        ) -> Value {
            // SAFETY: the caller's promise.
            unsafe { read::<K>(kernel) }.text(to, of[0])
        }
        let key = TypeId::of::<(Mapped, K, A, O)>;
        ErasedKernel { key, dtypes: [O::DTYPE, A::DTYPE], text: text::<K, A, O> }
    }
}
impl ErasedKernel<3> {
    /// A binary kernel.
    pub(crate) const fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Self {
        unsafe fn text<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
            kernel: *const (),
            to: &mut Kernel,
            of: &[Value],
        ) -> Value {
            // SAFETY: the caller's promise.
            unsafe { read::<K>(kernel) }.text(to, of[0], of[1])
        }
        let key = TypeId::of::<(Mapped, K, A, B, O)>;
        ErasedKernel { key, dtypes: [O::DTYPE, A::DTYPE, B::DTYPE], text: text::<K, A, B, O> }
    }
}

/// The dtypes that an element is converted through, including the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    dtypes: [Option<DType>; 3],
}

impl Chain {
    /// From one dtype to another.
    pub(crate) const fn between(from: DType, to: DType) -> Chain {
        Chain { dtypes: [Some(from), Some(to), None] }
    }
    /// This one, followed by another that begins where it ends.
    pub(crate) fn then(mut self, other: Chain) -> Chain {
        self.dtypes[2] = other.last();
        self
    }
    fn first(self) -> Option<DType> {
        self.dtypes[0]
    }
    /// The last dtype.
    pub(crate) fn last(self) -> Option<DType> {
        self.dtypes.into_iter().flatten().last()
    }
    /// 15-bit cache key of the conversion chain.
    fn code(self) -> u64 {
        const { assert!(DType::ALL.len() < 32) }
        self.dtypes.into_iter().fold(0, |code, dtype| code << 5 | dtype.map_or(0, |dtype| dtype as u64 + 1))
    }
    fn applied(self, to: &mut Kernel, value: Value) -> Value {
        self.dtypes.into_iter().flatten().skip(1).fold(value, |value, dtype| to.cast(value, dtype))
    }
}

/// The kind of an operand.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    /// Elements on the device.
    Elements(Operand),
    /// One element, as its bytes.
    One([u8; 16]),
}

/// An operand, and its conversion to the kernel's operand dtype.
#[derive(Clone, Copy)]
pub(crate) struct Converted {
    pub(crate) given: Given,
    pub(crate) chain: Option<Chain>,
}

/// A conversion without a kernel.
pub(crate) fn converted(mut to: Kernel, chain: Chain, from: Operand) -> Described {
    struct Conversion;
    let value = to.load(chain.first().unwrap_or(DType::U8), from);
    let result = chain.applied(&mut to, value);
    Described::erased(to, result, TypeId::of::<Conversion>(), chain.code())
}

impl<const N: usize> ErasedKernel<N> {
    /// The dtype of the kernel's result.
    pub(crate) fn gives(&self) -> DType {
        self.dtypes[0]
    }

    /// `kernel(operands…)`, with operands and result converted.
    ///
    /// # Safety
    /// The kernel is the one for which the text was made.
    pub(crate) unsafe fn described(
        &self,
        mut to: Kernel,
        kernel: *const (),
        operands: &[Converted],
        result: Option<Chain>,
    ) -> Described {
        let mut around = result.map_or(0, Chain::code);
        let mut values = Vec::with_capacity(operands.len());
        for (&Converted { given, chain }, &takes) in operands.iter().zip(&self.dtypes[1..]) {
            let dtype = chain.and_then(Chain::first).unwrap_or(takes);
            let (value, is_one) = match given {
                Given::Elements(operand) => (to.load(dtype, operand), 0),
                Given::One(bytes) => (to.parameter_of(dtype, &bytes[..dtype.itemsize()]), 1),
            };
            around = around << 16 | chain.map_or(0, Chain::code) << 1 | is_one;
            values.push(chain.map_or(value, |chain| chain.applied(&mut to, value)));
        }
        // SAFETY: the caller's promise.
        let value = unsafe { (self.text)(kernel, &mut to, &values) };
        let value = result.map_or(value, |chain| chain.applied(&mut to, value));
        Described::erased(to, value, (self.key)(), around)
    }
}
