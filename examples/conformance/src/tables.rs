//! The known tables, and the reader of each.

use crate::report::Table;
use crate::{attributes, dtypes, gradients, layouts, samples, sparse, values, views};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Counts the rows of a table's text.
pub type Reader = fn(&str, &mut Table) -> Result<(), String>;

/// The tables, by file name.
pub const TABLES: &[(&str, Reader)] = &[
    ("dtypes.json", attributes::dtypes),
    ("promotion.json", dtypes::promotion),
    ("binary_ops.csv", dtypes::binary),
    ("unary_ops.csv", dtypes::unary),
    ("inplace.csv", dtypes::inplace),
    ("values.json", values::all),
    ("views.json", views::all),
    ("memory_format.json", layouts::memory_format),
    ("device.json", layouts::device),
    ("sparse.json", sparse::all),
    ("opinfo_samples.json", samples::all),
    ("grad_samples.json", gradients::all),
];

/// The texts of the known files in a folder, by name without `.gz`.
pub fn texts(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let in_folder = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut texts = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(in_folder)? {
        let path = entry.map_err(in_folder)?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let name = file.strip_suffix(".gz").unwrap_or(file);
        if !TABLES.iter().any(|(table, _)| *table == name) {
            continue;
        }
        let in_file = |error: std::io::Error| format!("{}: {error}", path.display());
        let bytes = std::fs::read(&path).map_err(in_file)?;
        let mut text = String::new();
        if name == file {
            text = String::from_utf8(bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        } else {
            flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).map_err(in_file)?;
        }
        texts.insert(name.to_owned(), text);
    }
    Ok(texts)
}
