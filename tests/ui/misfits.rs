//! Calls whose sizes the compiler knows and that do not fit: none of them compiles.
//!
//! `ui-tests/misfits/SUBJECT.rs` lists them, a line each, and below each the one that fits, `// instead: …`, which `tests/instead.rs` runs. A refusal
//! in rustc's words is declared by `// rustc` at the end of the line; castiron words all others.
//!
//! rustc checks them against the library that this test was built with, so that they take no build.

use super::{files, is_filled_in, read, root, sentences};
use castiron_test::{Message, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each call is a function of its own, so that a mistake in one hides no other.
const CALLS: &str =
    "macro_rules! calls { ($($call:expr;)*) => { fn main() { $({ fn call() { let _ = $call; } call(); })* } } }";

/// Methods with a rule of shapes that every shape fulfils.
const FIT_ALWAYS: [&str; 5] = ["kron", "msort", "squeeze", "tile", "tile_sized"];

/// A subject: its name, and the text of its program. (The macro stands in the first line, a comment, so that lines keep their numbers.)
pub(super) fn subjects() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = files(&root().join("ui-tests/misfits"), ".rs")
        .iter()
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), format!("{CALLS} {}", read(path))))
        .collect();
    found.sort();
    found
}

/// The same with the calls that fit.
pub(super) fn right(text: &str) -> String {
    Program { lines: text.lines().map(str::to_owned).collect(), ..Program::default() }.right()
}

/// The calls by the numbers of their lines.
fn calls(text: &str) -> BTreeMap<u64, &str> {
    let lines: Vec<&str> = text.lines().collect();
    let calls = lines.windows(2).zip(1..).filter(|(pair, _)| pair[1].trim_start().starts_with("// instead: "));
    calls.map(|(pair, number)| (number, pair[0].trim())).collect()
}

/// The library that this test was built with, which is the newest of those of its folder that have all features.
fn library(folder: &Path) -> PathBuf {
    let libraries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of_castiron = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("libcastiron-") && name.ends_with(".rlib")
    };
    let mut found: Vec<PathBuf> = libraries.filter(of_castiron).collect();
    found.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    let probe = "use castiron::{AnyTensor, Checkpoint, Field, fft}; fn main() {}";
    let newest = found.into_iter().rev().find(|library| errors(library, "probe", probe).is_empty());
    newest.unwrap_or_else(|| panic!("{} holds no castiron with the features of this test", folder.display()))
}

/// The errors of a program, by the lines that they are about: the first lines of the messages.
fn errors(library: &Path, name: &str, text: &str) -> BTreeMap<u64, Vec<String>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, output) = (folder.join(format!("misfits_{name}.rs")), folder.join(format!("misfits_{name}.rmeta")));
    fs::write(&source, text).unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition=2024", "--emit=metadata", "--error-format=json", "-Awarnings", "-o"]).arg(output);
    rustc.arg("--extern").arg(format!("castiron={}", library.display()));
    rustc.arg(format!("-Ldependency={}", library.parent().unwrap().display()));
    let done = rustc.arg(&source).output().unwrap();
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8(done.stderr).unwrap().lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        let Some(message) = Message::error_of(&object) else { continue };
        if let Some(line) = message.line_in(source.to_str().unwrap()) {
            found.entry(line).or_default().push(message.first);
        }
    }
    assert!(done.status.success() || !found.is_empty(), "rustc failed on {name} without an error of a line");
    found
}

#[test]
fn calls_whose_sizes_do_not_fit_do_not_compile() {
    let library = library(std::env::current_exe().unwrap().parent().unwrap());
    let sentences = sentences();
    let (mut count, mut wrong) = (0, Vec::new());
    for (subject, text) in subjects() {
        let (calls, mut errors) = (calls(&text), errors(&library, &subject, &text));
        for (number, call) in &calls {
            let Some(words) = errors.remove(number) else {
                wrong.push(format!("{subject}:{number} compiles: {call}"));
                continue;
            };
            let is_castirons = words.iter().any(|words| sentences.iter().any(|sentence| is_filled_in(words, sentence)));
            if is_castirons == call.ends_with("// rustc") {
                wrong.push(format!("{subject}:{number} is not refused by whom it says: {call}: {words:?}"));
            }
        }
        wrong.extend(errors.iter().map(|(number, words)| format!("{subject}:{number}: {words:?}")));
        count += calls.len();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 360, "{count} calls");
}

/// The rules of shapes: the traits of `src/shape` with a sentence, but for those that say what a shape, a size and an axis are.
fn rules() -> BTreeSet<String> {
    let what_they_are = ["Shape", "KnownShape", "Dim", "Known", "AxisArg", "EachAxis", "Stride"];
    let mut found = BTreeSet::new();
    for file in files(&root().join("src/shape"), ".rs") {
        let text = read(file);
        let with_sentence = text.split("on_unimplemented(").skip(1).filter_map(|after| after.split_once("\n)]"));
        let names = with_sentence.filter_map(|(_, after)| after.trim_start().strip_prefix("pub trait "));
        found.extend(names.map(|after| identifiers(after).next().unwrap().to_owned()));
    }
    found.retain(|name| !what_they_are.contains(&name.as_str()));
    found
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

/// Each method that asks something of shapes is called wrongly. (Of methods that macros write names are not seen here.)
#[test]
fn every_method_with_a_rule_of_shapes_is_called_wrongly() {
    let (rules, subjects) = (rules(), subjects());
    let called: BTreeSet<&str> =
        subjects.iter().flat_map(|(_, text)| calls(text).into_values()).flat_map(identifiers).collect();
    let mut missing = Vec::new();
    for file in files(&root().join("src/tensor"), ".rs") {
        for method in read(&file).split("pub fn ").skip(1) {
            let signature = method.split('{').next().unwrap();
            let name = signature.split(['<', '(']).next().unwrap();
            let is_listed = called.contains(name) || FIT_ALWAYS.contains(&name);
            let asks = identifiers(signature).any(|word| rules.contains(word));
            if asks && !is_listed && !name.starts_with(['$', '_']) && !name.starts_with("try_") {
                missing.push(format!("{name} ({})", file.display()));
            }
        }
    }
    for file in files(&root().join("src/composite"), ".rs") {
        // The typed signature stands in an attribute of the function.
        for method in read(&file).split("#[typed(").skip(1) {
            let (signature, rest) = method.split_once(")]").unwrap();
            let function = rest.split_once("pub(crate) fn ").unwrap().1;
            let name = identifiers(function).next().unwrap();
            // Of a method for one, two and three axes one call is asked for.
            let is_called = ["1", "2", "3"].iter().any(|rank| called.contains(&*name.replace("RANK", rank)));
            let is_listed = is_called || FIT_ALWAYS.contains(&name) || function.starts_with('$');
            if identifiers(signature).any(|word| rules.contains(word)) && !is_listed {
                missing.push(format!("{name} ({})", file.display()));
            }
        }
    }
    assert!(rules.len() > 100, "{} rules", rules.len());
    assert!(missing.is_empty(), "ui-tests/misfits has no wrong call of {}", missing.join(", "));
}
