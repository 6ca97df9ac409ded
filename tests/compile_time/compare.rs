//! Compares the compiler's answers with PyTorch's tables, row by row.

use crate::common::{self, Csv, code};
use castiron::DType;
use std::collections::BTreeMap;

/// How rows fared.
#[derive(Default)]
pub struct Tally {
    pub agree: usize,
    pub shell: usize,
    pub beyond: usize,
    pub departures: BTreeMap<String, usize>,
    pub disagree: Vec<String>,
}

impl Tally {
    pub fn finish(self, what: &str) {
        println!(
            "{what}: {} rows agree; {} with a shell dtype are refused although PyTorch has a kernel; {} admit a half-precision \
             dtype for which PyTorch lacks a kernel that its wider dtypes have; {:?}",
            self.agree, self.shell, self.beyond, self.departures
        );
        assert!(self.disagree.is_empty(), "{} rows disagree:\n{}", self.disagree.len(), self.disagree.join("\n"));
        assert!(self.agree > 0, "{what}: no rows");
    }
}

pub fn is_shell(code: &str) -> bool {
    common::dtype(code).is_some_and(DType::is_shell)
}

/// The dtype with full kernel coverage in the same category: what decides whether an operation has a meaning.
pub fn wider(code: &str) -> &str {
    match code {
        "f16" | "bf16" => "f32",
        "c32" => "c64",
        other => other,
    }
}

/// Compares one table row with the compiler's answer.
pub fn compare(
    tally: &mut Tally,
    what: &str,
    ours: Option<Option<DType>>,
    theirs: Result<&str, String>,
    left: &str,
    right: &str,
    wider_admits: impl Fn() -> bool,
) {
    let Some(ours) = ours else { return };
    let agrees = match (&theirs, ours) {
        (Ok(result), Some(dtype)) => *result == code(dtype) || *result == "ok",
        (Err(_), None) => true,
        _ => false,
    };
    if agrees {
        tally.agree += 1;
    } else if ours.is_none() && (is_shell(left) || is_shell(right)) {
        tally.shell += 1;
    } else if theirs.as_ref().is_err_and(|category| category == "NOTIMPL")
        && (wider(left) != left || wider(right) != right || ours.is_some_and(|dtype| wider(code(dtype)) != code(dtype)))
        && wider_admits()
    {
        tally.beyond += 1;
    } else {
        tally.disagree.push(format!("{what} {left} {right}: the compiler says {ours:?}, PyTorch {theirs:?}"));
    }
}

pub fn theirs<'a>(table: &'a Csv, result: &'a str) -> Result<&'a str, String> {
    match table.errors.get(result) {
        Some(refusal) => Err(refusal.category.clone()),
        None => Ok(result),
    }
}

/// The kinds whose rows the tables leave out where they equal these.
pub fn zero_dim_twin(kinds: &str) -> Option<&'static str> {
    match kinds {
        "TT" => Some("ZZ"),
        "TS" => Some("ZS"),
        _ => None,
    }
}
