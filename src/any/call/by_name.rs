//! Operations found by name and called.

use super::{Args, Bound, Forms, InPlace, NamedOp, Run, Value};
#[cfg(feature = "linalg")]
use crate::any::decompose;
use crate::any::elementwise::op_table::{BINARY, UNARY, torch_names};
#[cfg(feature = "fft")]
use crate::any::fourier;
use crate::any::{base, create, elementwise, index, join, linalg, loss, nn, rearrange, reduce, scan, sort, view};
use crate::composite;
use crate::error::{Error, Result};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The rows of methods that can be called by name, by folder and file.
const NAMED: &[crate::rows::Folder] = &[
    base::ROWS,
    create::ROWS,
    elementwise::ROWS,
    index::ROWS,
    join::ROWS,
    linalg::ROWS,
    loss::ROWS,
    nn::ROWS,
    #[cfg(feature = "linalg")]
    decompose::ROWS,
    #[cfg(feature = "fft")]
    fourier::ROWS,
    rearrange::ROWS,
    reduce::ROWS,
    scan::ROWS,
    sort::ROWS,
    view::ROWS,
];

/// The rows that stand at the methods themselves.
fn named() -> impl Iterator<Item = &'static NamedOp> {
    let folders = NAMED.iter().chain(composite::ROWS);
    folders.flat_map(|folder| folder.iter()).flat_map(|file| file.iter()).flat_map(|rows| rows.iter())
}

/// Every operation that can be called by name, with its arguments and the dtypes it admits; those that were
/// [registered](crate::any::register) come last.
///
/// Each runs on the device of its tensors, `cpu` or `cuda`; on `meta` it gives dtype, shape and strides, or an error where these depend on
/// elements ([`NamedOp::runs_on`]).
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
    // Rows of `#[op]` come first: they may take more arguments than those of the tables.
    let mut seen = std::collections::HashSet::new();
    let own = elementwise::formula::registered();
    named().copied().chain(unary).chain(binary).chain(own).filter(move |op| seen.insert(op.name))
}

/// Every operation by each of its names.
fn operations() -> &'static HashMap<&'static str, NamedOp> {
    static OPERATIONS: OnceLock<HashMap<&'static str, NamedOp>> = OnceLock::new();
    OPERATIONS.get_or_init(|| {
        let mut known: HashMap<&'static str, NamedOp> =
            ops().filter(|op| !op.name.contains("::")).map(|op| (op.name, op)).collect();
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

/// The operation that an alias of PyTorch's stands for.
pub fn alias(name: &str) -> Option<&'static str> {
    operations().get(name).map(|op| op.name).filter(|&of| of != name)
}

/// The operation with this name or alias.
pub(crate) fn operation(name: &str) -> Result<&'static NamedOp> {
    let name = name.strip_prefix("torch.").unwrap_or(name);
    let own = if name.contains("::") { elementwise::formula::registered_as(name) } else { None };
    own.or_else(|| operations().get(name)).ok_or_else(|| {
        let reason = format!("there is no operation `{name}`");
        Error::InvalidArgument { op: "call", reason }
    })
}

/// Calls an operation by PyTorch's name, with PyTorch's arguments.
///
/// # Errors
/// If there is no such operation, an argument has a wrong type, or the operation fails.
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
        Run::Unary(row) => bound.tensor("input")?.run_unary(row).map(Value::Array),
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
