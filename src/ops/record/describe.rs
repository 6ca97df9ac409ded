//! Describes what a device launches: kernels of one, two or three operands, of the position alone, trees of kernels, and updates in place.
//! Each has a key, which together with the launch form identifies its text.
//!
//! A device describes a call with `Kernel::launched`, looks up the text by key and form, and only if there is none describes it again with
//! `Kernel::written`. Run-time values are never in the text.

use super::arguments::Arguments;
use super::graph::Unreadable;
use super::kernel::{Kernel, Operand, Value};
use super::plan::{Plan, alignment, pack, size_of};
use crate::dtype::{DType, Element};
use crate::ops::expression::Expression;
use crate::ops::kernel::{Map1, Map2, Map3};
use core::any::TypeId;

/// A described kernel, and the value that it stores.
pub(crate) struct Described {
    pub(super) kernel: Kernel,
    pub(super) result: Value,
    key: TypeId,
    around: u64,
}
impl Described {
    pub(crate) fn erased(kernel: Kernel, result: Value, key: TypeId, around: u64) -> Described {
        Described { kernel, result, key, around }
    }
    fn new<Key: 'static>(mut kernel: Kernel, describe: impl FnOnce(&mut Kernel) -> Value) -> Described {
        let result = describe(&mut kernel);
        Described { kernel, result, key: TypeId::of::<Key>(), around: 0 }
    }
    /// The key of the text, besides the form.
    pub(crate) fn key(&self) -> TypeId {
        self.key
    }
    /// The rest of the key, in less than 48 bits: conversions around a type-erased kernel.
    pub(crate) fn around(&self) -> u64 {
        self.around
    }
    /// How to run it over elements of these sizes, with up to eight axes, to a result of this dtype, the kernel's result type. `in_place`
    /// says that each result element overwrites its operand.
    pub(crate) fn plan(&self, dtype: DType, out: Operand, sizes: &[usize], in_place: bool) -> Plan {
        self.kernel.plan(dtype, out, sizes, in_place)
    }
    /// The arguments of a launch, in the order of the parameters.
    pub(crate) fn arguments(&self, plan: &Plan) -> Result<Arguments, Unreadable> {
        self.kernel.arguments(plan)
    }
    /// The plan refined to a form that suits its strides.
    pub(crate) fn refined(&self, dtype: DType, plan: Plan) -> Plan {
        plan.refined(&self.kernel, dtype)
    }
    /// Whether it uses the position of the element.
    pub(crate) fn counts(&self) -> bool {
        self.kernel.counts
    }
    /// The values, in the order of the parameters.
    pub(crate) fn values(&self) -> &Arguments {
        &self.kernel.values
    }
    /// The addresses of the operands and the values, as the fields of one struct.
    pub(crate) fn fields(&self) -> Arguments {
        let mut fields = Arguments::new();
        self.kernel.operands.iter().for_each(|(_, operand)| fields.push(operand.address));
        fields.append(&self.kernel.values);
        fields
    }

    /// Whether every operand has these strides along all axes longer than 1, so that one position works for all.
    pub(crate) fn has_strides(&self, sizes: &[usize], strides: &[usize]) -> bool {
        let same = |(axis, &size): (usize, &usize)| {
            size == 1 || self.kernel.operands.iter().all(|(_, operand)| operand.strides[axis] == strides[axis])
        };
        sizes.iter().enumerate().all(same)
    }

    /// Maximum pack size, and whether all operands are aligned to it.
    pub(crate) fn pack(&self) -> (usize, bool) {
        let dtypes = || self.kernel.operands.iter().map(|&(dtype, _)| dtype);
        let most = pack(dtypes().map(size_of));
        let is_aligned =
            self.kernel.operands.iter().all(|&(dtype, at)| at.address.is_multiple_of(alignment(dtype, most) as u64));
        (most, is_aligned)
    }
}

/// Marker types that distinguish the keys of different descriptions.
pub(super) struct Mapped;
struct Tabulated;
struct Updated;

/// `kernel(a)`
pub(crate) fn map1<K: Map1<A, O>, A: Element, O: Element>(to: Kernel, kernel: &K, a: Operand) -> Described {
    Described::new::<(Mapped, K, A, O)>(to, |to| {
        let a = to.load(A::DTYPE, a);
        kernel.text(to, a)
    })
}
/// `kernel(a, b)`
pub(crate) fn map2<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
    to: Kernel,
    kernel: &K,
    [a, b]: [Operand; 2],
) -> Described {
    Described::new::<(Mapped, K, A, B, O)>(to, |to| {
        let (a, b) = (to.load(A::DTYPE, a), to.load(B::DTYPE, b));
        kernel.text(to, a, b)
    })
}
/// `kernel(a, b, c)`
pub(crate) fn map3<K: Map3<A, B, C, O>, A: Element, B: Element, C: Element, O: Element>(
    to: Kernel,
    kernel: &K,
    [a, b, c]: [Operand; 3],
) -> Described {
    Described::new::<(Mapped, K, A, B, C, O)>(to, |to| {
        let (a, b, c) = (to.load(A::DTYPE, a), to.load(B::DTYPE, b), to.load(C::DTYPE, c));
        kernel.text(to, a, b, c)
    })
}
/// `kernel(0)`, `kernel(1)`, …
pub(crate) fn tabulate<K: Map1<i64, O>, O: Element>(to: Kernel, kernel: &K) -> Described {
    Described::new::<(Tabulated, K, O)>(to, |to| {
        let index = to.index();
        kernel.text(to, index)
    })
}
/// A tree of kernels over leaves.
pub(crate) fn tree<X: Expression>(to: Kernel, x: &X) -> Described {
    Described::new::<X>(to, |to| x.text(to))
}
/// `kernel(out, x)`: the first operand is the current value of `out`, which the result overwrites.
pub(crate) fn update<K: Map2<O, X::Elem, O>, X: Expression, O: Element>(
    to: Kernel,
    kernel: &K,
    x: &X,
    out: Operand,
) -> Described {
    Described::new::<(Updated, K, X, O)>(to, |to| {
        let out = to.load(O::DTYPE, out);
        let x = x.text(to);
        kernel.text(to, out, x)
    })
}
