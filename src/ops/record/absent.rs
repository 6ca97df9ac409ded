//! Records in a build without a device that prints them: these are the names that kernels, reducers and lanes describe themselves with.
//! There is no kernel under way and nothing is recorded, so that descriptions are checked by the compiler and never run.

#![cfg_attr(not(feature = "any"), allow(dead_code))]
#![allow(clippy::extra_unused_type_parameters, reason = "these are the signatures of what records")]

// Derivatives are recorded in builds without such a device, too.
#[cfg(feature = "grad")]
#[path = "derivative.rs"]
pub(crate) mod derivative;
#[cfg(feature = "grad")]
#[path = "floats.rs"]
mod floats;
#[cfg(feature = "grad")]
#[path = "graph.rs"]
pub(crate) mod graph;
#[cfg(feature = "grad")]
#[path = "number.rs"]
mod number;
#[cfg(feature = "grad")]
#[path = "paths.rs"]
mod paths;
#[cfg(feature = "grad")]
pub use graph::Unreadable;
#[cfg(feature = "grad")]
pub(crate) use paths::refuse;

/// Called where an operation is not defined for a dtype.
#[cfg(not(feature = "grad"))]
#[inline(always)]
pub(crate) fn refuse() {}

/// Why nothing is recorded.
#[cfg(not(feature = "grad"))]
#[derive(Clone, Copy, Debug)]
pub enum Unreadable {
    /// A kernel cannot be described, for the named reason.
    Kernel(&'static str),
}

/// There is none.
#[derive(Clone, Copy)]
enum Nothing {}

pub(crate) mod kernel {
    use super::Nothing;
    use crate::dtype::{Binary, DType, Element, Several, Tuned, Unary};

    /// Elements that a kernel reads.
    #[derive(Clone, Copy)]
    #[allow(dead_code)]
    pub struct Operand {
        /// The address.
        pub address: u64,
        /// The stride of each axis, in elements.
        pub strides: [usize; 8],
    }

    /// A kernel being described: there is none.
    pub struct Kernel(Nothing);

    /// A value of a kernel: there is none.
    #[derive(Clone, Copy)]
    pub struct Value(Nothing);
    impl Value {
        pub(crate) fn dtype(self) -> DType {
            match self.0 {}
        }
    }

    /// `cast(Value, DType);` writes the method `cast`.
    macro_rules! methods {
        ($($name:ident $(<$($generic:ident: $bound:ident)?>)? ($($ty:ty),*);)*) => {$(
            pub(crate) fn $name $(<$($generic: $bound)?>)? (&mut self, $(_: $ty),*) -> Value {
                match self.0 {}
            }
        )*};
    }
    impl Kernel {
        methods! {
            load(DType, Operand);
            refuse(super::Unreadable, DType);
            constant(f64, DType);
            cast(Value, DType);
            widen(Value);
            operand(Value, DType);
            choose(Value, Value, Value);
            infix(Value, &'static str, Value, DType);
            not(Value);
            prelude(&'static str, &[Value], DType);
            rounded(&'static str, DType, &[Value]);
            least(Value, Value);
            equal(Value, Value);
            row(&'static str, DType, &[Value]);
            apply(&'static str, Value);
            combine(&'static str, DType, DType, [Value; 2], bool);
            tune(&'static str, DType, Value, [Value; 3]);
        }
        pub(crate) fn parameter<E: Element>(&mut self, _: E) -> Value {
            match self.0 {}
        }
        pub(crate) fn unary<F: Unary>(&mut self, _: Value) -> Value {
            match self.0 {}
        }
        pub(crate) fn binary<F: Binary>(&mut self, _: Value, _: Value) -> Value {
            match self.0 {}
        }
        pub(crate) fn folded<F: Binary>(&mut self, _: Value, _: Value) -> Value {
            match self.0 {}
        }
        pub(crate) fn tuned<F: Tuned>(&mut self, _: Value, _: [Value; 3]) -> Value {
            match self.0 {}
        }
        pub(crate) fn several<F: Several>(&mut self, _: [Value; 6]) -> Value {
            match self.0 {}
        }
    }
}

pub(crate) mod reduce {
    use super::Unreadable;
    use crate::dtype::Element;

    /// What was recorded, or why it cannot be.
    pub type Record<T> = Result<T, Unreadable>;

    /// Nothing is.
    pub(super) fn none<T>() -> Record<T> {
        Err(Unreadable::Kernel("this build has no device that prints records"))
    }

    /// A recorded reducer.
    pub struct RecordedReducer {
        /// Whether the accumulator is the count, the mean and the squared deviations of real numbers, as `f64`.
        pub has_moments: bool,
    }

    /// The description of a reducer besides its steps.
    pub(crate) struct Reduction;
    impl Reduction {
        pub(crate) fn of<E: Element>(_: &str) -> Self {
            Reduction
        }
        pub(crate) fn computes<T: Element>(self) -> Self {
            self
        }
        pub(crate) fn gives<T: Element>(self) -> Self {
            self
        }
        pub(crate) fn and<T: Element>(self) -> Self {
            self
        }
        pub(crate) fn given(self, _: usize) -> Self {
            self
        }
        pub(crate) fn read<S>(self, _: S) -> Record<RecordedReducer> {
            none()
        }
        pub(crate) fn read_two<S>(self, _: S) -> Record<RecordedReducer> {
            none()
        }
    }
}

pub(crate) mod row {
    use super::reduce::{Record, none};
    use crate::dtype::Element;

    /// A recorded row function.
    pub struct RecordedRow(());
    impl RecordedRow {
        pub(crate) fn of<E: Element, S>(_: &str, _: S) -> Record<RecordedRow> {
            none()
        }
    }
}

pub(crate) mod lane {
    use super::reduce::{Record, none};
    use super::row::RecordedRow;
    use crate::dtype::{DType, Element};

    /// A recorded scan.
    pub struct RecordedScan(());

    /// A recorded function of a lane.
    pub enum RecordedLane {
        /// A scan.
        Scan(RecordedScan),
        /// A row function: the lane is the row.
        Row(RecordedRow),
    }

    /// The description of a scan besides its steps.
    pub(crate) struct Scan;
    impl Scan {
        pub(crate) fn of<E: Element, O: Element>(_: &str, _: DType) -> Self {
            Scan
        }
        pub(crate) fn with_positions(self) -> Self {
            self
        }
        pub(crate) fn read<S>(self, _: S) -> Record<RecordedScan> {
            none()
        }
    }
}

pub(crate) mod erased {
    use super::kernel::Operand;
    use crate::dtype::{DType, Element};
    use crate::ops::kernel::{Map1, Map2};

    /// A type-erased kernel.
    #[derive(Clone, Copy)]
    pub(crate) struct ErasedKernel<const N: usize>(());
    impl ErasedKernel<2> {
        pub(crate) const fn one<K: Map1<A, O>, A: Element, O: Element>() -> Self {
            ErasedKernel(())
        }
    }
    impl ErasedKernel<3> {
        pub(crate) const fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Self {
            ErasedKernel(())
        }
    }

    /// The dtypes that an element is converted through.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Chain(());
    impl Chain {
        pub(crate) const fn between(_: DType, _: DType) -> Chain {
            Chain(())
        }
        pub(crate) fn then(self, _: Chain) -> Chain {
            self
        }
        pub(crate) fn last(self) -> Option<DType> {
            None
        }
    }

    /// The kind of an operand.
    #[derive(Clone, Copy)]
    #[allow(dead_code)]
    pub(crate) enum Given {
        /// Elements on the device.
        Elements(Operand),
        /// One element, as its bytes.
        One([u8; 16]),
    }

    /// An operand, and its conversion to the kernel's operand dtype.
    #[derive(Clone, Copy)]
    #[allow(dead_code)]
    pub(crate) struct Converted {
        pub(crate) given: Given,
        pub(crate) chain: Option<Chain>,
    }
}
