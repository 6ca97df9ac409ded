//! Operations by name, with PyTorch's names and argument names: what scripts, conformance and documentation read.

mod arguments;
pub(crate) mod outputs;
mod value;

pub use self::arguments::Args;
pub(crate) use self::arguments::{Argument, Bound, Item};
pub(crate) use self::value::expect_shallow;
pub use self::value::{Value, ValueList};
#[cfg(feature = "linalg")]
use crate::any::decompose;
use crate::any::elementwise::op_table::{BINARY, UNARY, torch_names};
#[cfg(feature = "fft")]
use crate::any::fourier;
use crate::any::{base, create, elementwise, index, join, linalg, loss, nn, rearrange, reduce, scan, sort, view};
use crate::device::{AnyDevice, DeviceType};
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::sync::OnceLock;

/// An operation that can be called by name.
#[derive(Clone, Copy)]
pub struct NamedOp {
    /// PyTorch's name, without `torch.`: `linalg.vector_norm`, `nn.functional.pad`, `__getitem__`.
    pub name: &'static str,
    /// The names of its arguments, in order. One that begins with `*` takes all that are left; those after it are given by name.
    pub arguments: &'static [&'static str],
    /// The dtypes that the first operand may have.
    pub dtypes: &'static str,
    pub(crate) run: Run,
    pub(crate) forms: Forms,
}

impl NamedOp {
    /// Whether it runs on a device. On `cpu` and, with the feature of that name, `cuda` each does; on `meta` those whose result follows from dtypes and sizes. (Some do so or
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
            DeviceType::CUDA => cfg!(feature = "cuda"),
            DeviceType::META => !self.forms.needs_elements,
            _ => false,
        }
    }
}

/// What else is known of an operation: columns of its row.
#[derive(Clone, Copy)]
pub(crate) struct Forms {
    /// Its other names.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) in_place: InPlace,
    /// Which dtype an existing output must have; `None` where that follows from the rule of the result.
    pub(crate) output: Option<Output>,
    /// Whether nothing is known of the result without elements.
    pub(crate) needs_elements: bool,
}

impl Forms {
    /// No aliases, no form in place.
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

/// The form of an operation whose name ends in `_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InPlace {
    /// There is none.
    Absent,
    /// The result is written over the operand's elements.
    Elements,
    /// The view takes the operand's place.
    View,
}

/// Which dtype an existing output must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// That of the result.
    Exact,
    /// One that the result can be cast to.
    Castable,
    /// The same; of bounds that are scalars, and so no operands, that of the result.
    CastableBetweenTensors,
    /// Such a one that is complex only if the operand is.
    AsReal,
    /// Any that it can be computed in.
    Computes,
    /// The same, of an operand that is floating or complex.
    ComputesInexact,
    /// `bool` or `uint8`.
    Truth,
}

/// How an operation is run.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Unary(&'static crate::any::elementwise::op_table::UnaryRow),
    Binary(&'static crate::any::elementwise::op_table::BinaryRow),
    Bound(fn(&Bound<'_>) -> Result<Value>),
}

/// The rows that `castiron_macros::operations` writes beside the methods of `AnyTensor`, by file.
const NAMED: &[&[NamedOp]] = &[
    base::conjugate_bit::OPERATIONS,
    base::convert::CONVERSIONS,
    base::convert::OPERATIONS,
    base::copies::OPERATIONS,
    base::fill::OPERATIONS,
    create::by_name::EMPTY,
    create::by_name::ONES,
    create::by_name::OPERATIONS,
    create::by_name::ZEROS,
    create::drawn::DROPOUTS,
    create::drawn::OPERATIONS,
    elementwise::isclose::OPERATIONS,
    elementwise::lerp::OPERATIONS,
    elementwise::operators::OPERATIONS,
    elementwise::parametric::ACTIVATIONS,
    elementwise::parametric::OPERATIONS,
    elementwise::polynomials::OPERATIONS,
    elementwise::scaled::OPERATIONS,
    elementwise::where_::OPERATIONS,
    index::advanced::OPERATIONS,
    index::embedding_bag::OPERATIONS,
    index::gather::OPERATIONS,
    index::masked::OPERATIONS,
    index::masked_functions::OPERATIONS,
    index::scatter::OPERATIONS,
    index::view_scatter::OPERATIONS,
    join::cat_stack::OPERATIONS,
    join::meshgrid::OPERATIONS,
    linalg::distance::OPERATIONS,
    linalg::einsum::OPERATIONS,
    linalg::linear::OPERATIONS,
    linalg::matmul::OPERATIONS,
    linalg::matrix_power::OPERATIONS,
    linalg::tensordot::OPERATIONS,
    loss::ctc::OPERATIONS,
    loss::distances::OPERATIONS,
    nn::attention::OPERATIONS,
    nn::conv::OPERATIONS,
    nn::grid::OPERATIONS,
    nn::interpolate::OPERATIONS,
    nn::patches::OPERATIONS,
    nn::fractional_pool::OPERATIONS,
    nn::multi_head::OPERATIONS,
    nn::pool::OPERATIONS,
    nn::unpool::OPERATIONS,
    #[cfg(feature = "linalg")]
    decompose::eigen::OPERATIONS,
    #[cfg(feature = "linalg")]
    decompose::factors::OPERATIONS,
    #[cfg(feature = "linalg")]
    decompose::inverses::OPERATIONS,
    #[cfg(feature = "linalg")]
    decompose::lowrank::OPERATIONS,
    #[cfg(feature = "linalg")]
    decompose::solve::OPERATIONS,
    #[cfg(feature = "fft")]
    fourier::frames::OPERATIONS,
    #[cfg(feature = "fft")]
    fourier::transforms::OPERATIONS,
    #[cfg(feature = "fft")]
    fourier::windows::OPERATIONS,
    rearrange::flip_roll::OPERATIONS,
    rearrange::pad::OPERATIONS,
    rearrange::repeat::OPERATIONS,
    reduce::channels::OPERATIONS,
    reduce::histogram::OPERATIONS,
    reduce::median::OPERATIONS,
    reduce::normalize::OPERATIONS,
    reduce::norms::OPERATIONS,
    reduce::quantile::OPERATIONS,
    reduce::reductions::OPERATIONS,
    reduce::reductions::REDUCTIONS,
    reduce::statistics::OPERATIONS,
    scan::cumulative::OPERATIONS,
    scan::cumulative::SCANS,
    scan::trapezoid::OPERATIONS,
    sort::search::OPERATIONS,
    sort::sort_topk::OPERATIONS,
    sort::unique::OPERATIONS,
    view::diagonal::OPERATIONS,
    view::reinterpret::OPERATIONS,
    view::split::OPERATIONS,
    view::reshape::OPERATIONS,
    view::view_copies::COPIES,
    view::view_copies::OPERATIONS,
    view::views::OPERATIONS,
];

/// The rows that are written beside methods.
fn named() -> impl Iterator<Item = &'static NamedOp> {
    NAMED.iter().chain(crate::composite::OPERATIONS.iter().copied().flatten()).flat_map(|ops| ops.iter())
}

/// Every operation that can be called by name, with its arguments and the dtypes it admits.
///
/// Each runs where its tensors are, on `cpu` and on `cuda`; of those on `meta` it gives dtype, shape and strides, or an error where these
/// depend on elements ([`NamedOp::runs_on`]).
///
/// ```
/// let add = castiron::any::ops().find(|op| op.name == "add").unwrap();
/// assert_eq!(add.arguments, ["input", "other", "alpha"]);
/// ```
pub fn ops() -> impl Iterator<Item = NamedOp> {
    let unary = UNARY.iter().map(|row| NamedOp {
        name: row.called(),
        arguments: &["input"],
        dtypes: row.admits.words(),
        run: Run::Unary(row),
        forms: Forms::NEW.in_place(InPlace::Elements),
    });
    let binary = BINARY.iter().map(|row| NamedOp {
        name: row.called(),
        arguments: &["input", "other"],
        dtypes: row.admits.words(),
        run: Run::Binary(row),
        forms: Forms::NEW.in_place(InPlace::Elements),
    });
    // Rows of `ops` come first: they may take more arguments than those of the tables.
    let mut seen = std::collections::HashSet::new();
    named().copied().chain(unary).chain(binary).filter(move |op| seen.insert(op.name))
}

/// Every operation by each of its names.
fn operations() -> &'static HashMap<&'static str, NamedOp> {
    static OPERATIONS: OnceLock<HashMap<&'static str, NamedOp>> = OnceLock::new();
    OPERATIONS.get_or_init(|| {
        let mut known: HashMap<&'static str, NamedOp> = ops().map(|op| (op.name, op)).collect();
        let aliases = named().flat_map(|op| op.forms.aliases.iter().map(|&alias| (alias, op.name)));
        let unary = UNARY.iter().flat_map(|row| torch_names(row.torch).map(|name| (name, row.called())));
        let binary = BINARY.iter().flat_map(|row| torch_names(row.torch).map(|name| (name, row.called())));
        let aliases: Vec<_> = aliases.chain(unary).chain(binary).collect();
        for (alias, of) in aliases {
            let op = known[of];
            known.entry(alias).or_insert(op);
        }
        known
    })
}

/// The operation that another name of PyTorch's stands for.
pub fn alias(name: &str) -> Option<&'static str> {
    operations().get(name).map(|op| op.name).filter(|&of| of != name)
}

/// The operation of a name or an alias.
pub(crate) fn operation(name: &str) -> Result<&'static NamedOp> {
    let name = name.strip_prefix("torch.").unwrap_or(name);
    operations().get(name).ok_or_else(|| {
        let reason = format!("there is no operation `{name}`");
        Error::InvalidArgument { op: "call", reason }
    })
}

/// Calls an operation by PyTorch's name, with PyTorch's arguments.
///
/// # Errors
/// If there is no such operation, an argument is not what it takes, or the operation fails.
///
/// ```
/// use castiron::any::{Args, call};
/// use castiron::{AnyTensor, tensor};
/// let x = AnyTensor::from(tensor![3.0, -4.0]);
/// assert_eq!(call("abs", &Args::new().arg(&x))?.tensor()?.to_string(), "tensor([3., 4.])");
/// assert_eq!(
///     call("abs", &Args::new()).unwrap_err().to_string(),
///     "abs: argument `input` is missing"
/// );
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn call(name: &str, args: &Args) -> Result<Value> {
    let op = operation(name)?;
    let bound = Bound::new(op.name, op.arguments, args)?;
    match op.run {
        Run::Unary(row) => bound.tensor("input")?.apply(row).map(Value::Array),
        Run::Binary(row) => {
            if !row.operands.begin_with_scalars {
                bound.tensor("input")?;
            }
            crate::any::elementwise::binary::combine(row, &bound.read("input")?, &bound.read("other")?)
                .map(Value::Array)
        }
        Run::Bound(run) => run(&bound),
    }
}
