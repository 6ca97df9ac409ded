//! A row describes an operation that can be called by name.

use super::{Bound, Value};
use crate::any::elementwise::op_table::{BinaryRow, UnaryRow};
use crate::device::{AnyDevice, Backend, DeviceType, Dynamic};
use crate::error::Result;

/// An operation that can be called by name.
#[derive(Clone, Copy)]
pub struct NamedOp {
    /// PyTorch's name, without `torch.`: `linalg.vector_norm`, `nn.functional.pad`, `__getitem__`.
    pub name: &'static str,
    /// The names of its arguments, in order. One that begins with `*` takes all remaining arguments; those after it are given by name.
    pub arguments: &'static [&'static str],
    /// The dtypes that the first operand may have.
    pub dtypes: &'static str,
    pub(crate) run: Run,
    pub(crate) forms: Forms,
}

impl NamedOp {
    /// Whether it runs on a device. All do on `cpu` and, with that feature, on `cuda`; on `meta` those do whose result follows from dtypes
    /// and sizes. (For some it depends on their arguments: `narrow` from an index that is a tensor, `index_put` where a mask is true.)
    /// `docs/devices.md` lists them all.
    /// not by their arguments: `narrow` from an index that is a tensor, `index_put` where a mask is true.) `docs/devices.md` has them all.
    ///
    /// ```
    /// use castiron::any;
    /// let op = |name| any::ops().find(|op| op.name == name).unwrap();
    /// let meta: castiron::AnyDevice = "meta".parse()?;
    /// assert!(op("add").runs_on(meta) && !op("nonzero").runs_on(meta));
    /// assert!(op("nonzero").runs_on("cpu".parse()?));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn runs_on(&self, device: AnyDevice) -> bool {
        match device.kind() {
            DeviceType::CPU => true,
            DeviceType::CUDA => <Dynamic as Backend>::IS_ELSEWHERE,
            DeviceType::META => !self.forms.needs_elements,
            _ => false,
        }
    }
}

/// Further columns of the row of an operation.
#[derive(Clone, Copy)]
pub(crate) struct Forms {
    /// Its aliases.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) in_place: InPlace,
    /// Which dtypes an existing output may have; `None` if that follows from the rule of the result.
    pub(crate) output: Option<Output>,
    /// Whether dtype and shape of the result depend on elements.
    pub(crate) needs_elements: bool,
}

impl Forms {
    /// No aliases, no in-place form.
    pub(crate) const NEW: Forms =
        Forms { aliases: &[], in_place: InPlace::Absent, output: None, needs_elements: false };

    pub(crate) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Forms { aliases, ..self }
    }
    pub(crate) const fn in_place(self, in_place: InPlace) -> Self {
        Forms { in_place, ..self }
    }
    pub(crate) const fn output(self, output: Output) -> Self {
        Forms { output: Some(output), ..self }
    }
    pub(crate) const fn needs_elements(self) -> Self {
        Forms { needs_elements: true, ..self }
    }
}

/// The in-place form of an operation, whose name ends in `_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InPlace {
    /// There is none.
    Absent,
    /// The result overwrites the operand's elements.
    Elements,
    /// The operand becomes the view.
    View,
}

/// Which dtypes an existing output may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// The dtype of the result.
    Exact,
    /// A dtype that the result can be cast to.
    Castable,
    /// As `Castable`; if the bounds are scalars, so that there is one operand, as `Exact`.
    CastableBetweenTensors,
    /// As `Castable`, but complex only if the operand is.
    AsReal,
    /// Any dtype that the result can be computed in.
    Computes,
    /// As `Computes`, if the operand is floating or complex.
    ComputesInexact,
    /// `bool` or `uint8`.
    Truth,
}

/// How an operation is run.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Unary(&'static UnaryRow),
    Binary(&'static BinaryRow),
    Bound(fn(&Bound<'_>) -> Result<Value>),
}
