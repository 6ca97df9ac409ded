//! Tests that hold on every device: functions over `D: Device`, written once. `tests/suite` runs them on the host (and, except those that
//! only look at elements, on `Meta`), `tests/cuda` on a GPU: each has a macro `each_device!` that makes a test of each name.  Only castiron
//! itself is used: elements are made on the host and moved (`on`), and compared there (`gives`).

pub mod drawn_formulas;
pub mod formulas;
pub mod functions;
pub mod generic;
pub mod generic_laws;
pub mod laws;
pub mod layouts;
pub mod lazy;
#[cfg(feature = "grad")]
pub mod learning;
pub mod moving;
pub mod odd;
pub mod products;
pub mod reducers;
pub mod reduction_layouts;
pub mod sets;
#[cfg(feature = "grad")]
pub mod tapes;
pub mod views;

use castiron::{Cpu, Device, Element, Shape, Tensor};
use core::fmt::Debug;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Whether tensors of a device have elements.
pub fn has_data<D: Device>() -> bool {
    D::name() != "meta"
}

/// Whether a device is the host, whose loops are fast.
pub fn is_host<D: Device>() -> bool {
    D::name() == "cpu"
}

/// Tensors from the host to any device.
pub trait On<E: Element, S: Shape> {
    /// The tensor on a device.
    fn on<D: Device>(&self) -> Tensor<E, S, D>;
}

impl<E: Element, S: Shape> On<E, S> for Tensor<E, S, Cpu> {
    #[track_caller]
    fn on<D: Device>(&self) -> Tensor<E, S, D> {
        self.to_device::<D>().unwrap()
    }
}

/// Tensors of any device, compared on the host.
pub trait Gives<E: Element, S: Shape> {
    /// The tensor on the host.
    fn here(&self) -> Tensor<E, S, Cpu>;
    /// The elements in row-major order.
    fn elements(&self) -> Vec<E>;
    /// Checks the elements; on a device without any, only their number.
    fn gives(&self, expected: impl AsRef<[E]>);
    /// That every element is as it should be, if there are any.
    fn all_are(&self, is: impl Fn(E) -> bool);
}

impl<E: Element + PartialEq + Debug, S: Shape, D: Device> Gives<E, S> for Tensor<E, S, D> {
    #[track_caller]
    fn here(&self) -> Tensor<E, S, Cpu> {
        self.to_device::<Cpu>().unwrap()
    }

    #[track_caller]
    fn elements(&self) -> Vec<E> {
        self.here().to_vec()
    }

    #[track_caller]
    fn gives(&self, expected: impl AsRef<[E]>) {
        match has_data::<D>() {
            true => assert_eq!(self.elements(), expected.as_ref()),
            false => assert_eq!(self.numel(), expected.as_ref().len()),
        }
    }

    #[track_caller]
    fn all_are(&self, is: impl Fn(E) -> bool) {
        if has_data::<D>() {
            let elements = self.elements();
            assert!(elements.iter().all(|&x| is(x)), "{elements:?}");
        }
    }
}

/// How many cases a law is tried with on a GPU, where most of them compile kernels: `CASTIRON_CASES`, which are other ones in every run;
/// by default a few, the same ones.
const CASES: u32 = 4;

/// Tries a law with random values: this many on the host.
#[track_caller]
pub fn law<D: Device, V: proptest::strategy::Strategy>(cases: u32, values: V, holds: impl Fn(V::Value)) {
    let chosen = std::env::var("CASTIRON_CASES").ok().and_then(|text| text.parse().ok());
    let mut config = Config { source_file: Some(file!()), ..Config::default() };
    config.cases = if is_host::<D>() { cases } else { chosen.unwrap_or(CASES) };
    let mut runner = match is_host::<D>() || chosen.is_some() {
        true => TestRunner::new(config),
        false => {
            config.failure_persistence = None;
            TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
        }
    };
    let tried = runner.run(&values, |value| {
        holds(value);
        Ok(())
    });
    tried.unwrap_or_else(|failure| panic!("{failure}"));
}
