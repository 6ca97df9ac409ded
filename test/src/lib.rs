//! Tests that programs do **not** compile, and that the compiler says why in the sentence that it should.
//!
//! Rules that stand in types have no other tests: that `counts += 0.5` is refused is a promise like any other, and so is what the
//! compiler says of it, if a trait words it by `#[diagnostic::on_unimplemented]`. A `compile_fail` example in documentation
//! passes for any error, a forgotten `use` among them.
//!
//! # A program
//!
//! is a file with a header:
//!
//! ```text
//! //! A count stays a count.
//! //!
//! //! error: result type `f32` can't be cast to the desired output type `i64`
//! //! says: .to::<f32>()
//! fn main() {
//!     let mut counts = castiron::tensor![1, 2, 3];
//!     counts += 0.5;
//!     // instead: let halves = counts + 0.5;
//! }
//! ```
//!
//! | line of the header's last paragraph | |
//! |---|---|
//! | `error: …` | the first line of the first error, without its code; `…` in it stands for any words |
//! | `code: E0308` | the code of that error. Of errors that rustc words it is enough, since their words change with rustc's version |
//! | `says: one \| other` | the message contains one of these, be it in a label or a note. Several such lines must all hold |
//!
//! A comment `// instead: code` replaces the line before it, several such comments replace it by several lines, one without code deletes it,
//! and comments `// instead of all: code` are a whole program. What comes of it must compile: so a program is refused for what it is about,
//! and not for something that it lacks.
//!
//! # A test
//!
//! ```no_run
//! #[test]
//! # fn unused() {}
//! fn forbidden_programs_do_not_compile() {
//!     castiron_test::forbidden("tests/forbidden");
//! }
//! ```
//!
//! Programs see the package and its dependencies, those of its tests among them. All programs of a test are checked by one run of `cargo
//! check`. `CASTIRON_TEST=overwrite cargo test` writes the first lines that the compiler says into the programs, and the file of
//! [`Forbidden::documented_in`]; read the difference.
//!
//! Limits: optional dependencies are seen through the package alone; features of the package are named by
//! [`Forbidden::features`]; `[patch]` tables of the workspace are copied line by line, with paths written `path = "…"`.

mod message;
mod package;
mod program;

pub use message::Message;
pub use program::Program;

use package::{Fate, Package};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Checks that no program of a folder compiles, and that the first lines are those that the programs say: see
/// [`Forbidden`] for more than one folder.
///
/// # Panics
/// If one is not refused as it should be. The text names each, and says what was expected and what came.
#[track_caller]
pub fn forbidden(folder: impl AsRef<Path>) {
    Forbidden::new().folder(folder).check();
}

/// A test of programs that must not compile.
///
/// ```no_run
/// castiron_test::Forbidden::new()
///     .folder("tests/forbidden")
///     .program("a product", "//! code: E0277\nfn main() { let _ = true * false; }")
///     .documented_in("FORBIDDEN.md")
///     .check();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Forbidden {
    folders: Vec<PathBuf>,
    texts: Vec<(String, String)>,
    features: Vec<String>,
    document: Option<PathBuf>,
}

/// A program, and the file that it stands in.
struct Written {
    program: Program,
    file: Option<PathBuf>,
}

/// Whether files are written instead of compared.
fn overwrites() -> bool {
    std::env::var_os("CASTIRON_TEST").is_some_and(|mode| mode == "overwrite")
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// One check at a time: programs of one package are written to one place.
static CHECKS: Mutex<()> = Mutex::new(());

impl Forbidden {
    /// A test without programs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the `.rs` files of a folder, which is one of the package: `tests/forbidden`.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.folders.push(folder.as_ref().to_owned());
        self
    }

    /// Adds a program as text, which begins with its header.
    #[must_use]
    pub fn program(mut self, name: &str, text: &str) -> Self {
        self.texts.push((name.to_owned(), text.to_owned()));
        self
    }

    /// The features of the package that programs see it with, beside its default ones.
    #[must_use]
    pub fn features(mut self, features: &[&str]) -> Self {
        self.features = features.iter().map(|&feature| feature.to_owned()).collect();
        self
    }

    /// Compares a Markdown file of the package with the rules, programs, first lines and remedies: what the package forbids, for readers.
    #[must_use]
    pub fn documented_in(mut self, file: impl AsRef<Path>) -> Self {
        self.document = Some(file.as_ref().to_owned());
        self
    }

    /// Checks all programs.
    ///
    /// # Panics
    /// If one is not refused as it should be. The text names each, and says what was expected and what came.
    #[track_caller]
    pub fn check(&self) {
        if let Err(report) = self.try_check() {
            panic!("{report}");
        }
    }

    /// Checks all programs.
    ///
    /// # Errors
    /// The text of [`check`](Self::check).
    pub fn try_check(&self) -> Result<(), String> {
        let _alone = CHECKS.lock().unwrap_or_else(PoisonError::into_inner);
        let package = Package::of_the_test()?;
        let programs = self.programs(&package.root)?;
        if programs.is_empty() {
            return Err(format!("no program: `.rs` files are looked for in {:?}", self.folders));
        }

        let folder = package.folder();
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut files = Vec::new();
        for (at, Written { program, file }) in programs.iter().enumerate() {
            let stored = folder.join(format!("wrong{at}.rs"));
            if file.is_none() {
                write(&stored, &program.wrong())?;
            }
            files.push((format!("wrong{at}"), file.clone().unwrap_or(stored)));
            if program.has_right() {
                let stored = folder.join(format!("right{at}.rs"));
                write(&stored, &program.right())?;
                files.push((format!("right{at}"), stored));
            }
        }
        let fates = package.check(&self.features, &files)?;

        let (mut wrong, mut document) = (Vec::new(), String::from(HEAD));
        for (at, Written { program, file }) in programs.iter().enumerate() {
            let mut fault = fault(program, fates.get(&format!("wrong{at}")));
            let said = first_error(fates.get(&format!("wrong{at}")));
            if let (Some(file), Some(message), true) = (file, said, fault.is_some() && overwrites()) {
                write(file, &with_first_line(&read(file)?, &message.first))?;
                fault = None;
            }
            wrong.extend(fault.map(|fault| format!("{}: {fault}", program.name)));
            if let Some(message) = first_error(fates.get(&format!("right{at}"))) {
                let text = message.rendered.trim_end();
                wrong.push(format!(
                    "{}: with what is written `instead` it should compile, and does not:\n{text}",
                    program.name
                ));
            }
            document += &entry(program, said);
        }
        if let Some(place) = &self.document {
            let path = package.root.join(place);
            if overwrites() {
                write(&path, &document)?;
            } else if fs::read_to_string(&path).unwrap_or_default() != document {
                let place = place.display();
                wrong.push(format!(
                    "{place} is not what the programs say: CASTIRON_TEST=overwrite cargo test writes it"
                ));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(format!("of {} programs that must not compile:\n\n{}\n", programs.len(), wrong.join("\n\n")))
    }

    /// The programs of folders, by name, then those that are texts.
    fn programs(&self, root: &Path) -> Result<Vec<Written>, String> {
        let mut found = Vec::new();
        for folder in &self.folders {
            let path = root.join(folder);
            let entries = fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
            files.sort();
            for file in files {
                let name = folder.join(file.file_name().unwrap_or_default()).display().to_string();
                found.push((name, read(&file)?, Some(file)));
            }
        }
        found.extend(self.texts.iter().map(|(name, text)| (name.clone(), text.clone(), None)));
        let written = |(name, text, file): (String, String, Option<PathBuf>)| match Program::read(&name, &text) {
            Ok(program) => expect_known(&program).map(|()| Written { program, file }),
            Err(what) => Err(format!("{name}: {what}")),
        };
        found.into_iter().map(written).collect()
    }
}

/// Refuses keys that mean nothing: a misspelt one would check nothing.
fn expect_known(program: &Program) -> Result<(), String> {
    match program.checks.iter().find(|check| !["error", "code", "says"].contains(&&*check.0)) {
        Some((key, _)) => Err(format!("{}: `{key}: …` is no `error: …`, `code: …` or `says: …`", program.name)),
        None => Ok(()),
    }
}

fn first_error(fate: Option<&Fate>) -> Option<&Message> {
    match fate {
        Some(Fate::Refused(messages)) => messages.first(),
        _ => None,
    }
}

/// Whether a line is the sentence, in which `…` stands for any words.
fn is_sentence(line: &str, sentence: &str) -> bool {
    let mut pieces = sentence.split('…');
    let Some(mut rest) = pieces.next().and_then(|start| line.strip_prefix(start)) else { return false };
    let mut end = "";
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        // The last piece is wherever the line ends.
        (rest, end) = (&rest[at + piece.len()..], piece);
    }
    rest.is_empty() || (sentence.contains('…') && (end.is_empty() || rest.ends_with(end)))
}

/// What is wrong with how a program is refused.
fn fault(program: &Program, fate: Option<&Fate>) -> Option<String> {
    let Some(message) = first_error(fate) else { return Some("it compiles, and must not".to_owned()) };
    let (first, rendered) = (&message.first, message.rendered.trim_end());
    let (errors, codes) = (program.check("error"), program.check("code"));
    if errors.len() + codes.len() == 0 {
        return Some(format!("its header lacks a line `//! error: {first}`; the compiler says\n{rendered}"));
    }
    if let Some(expected) = errors.iter().find(|expected| !is_sentence(first, expected)) {
        return Some(format!(
            "the compiler says\n    {first}\nand should say\n    {expected}\nThe message is\n{rendered}"
        ));
    }
    let code = message.code.as_deref().unwrap_or("none");
    if let Some(expected) = codes.iter().find(|&&expected| expected != code) {
        return Some(format!("the error's code is {code}, and should be {expected}; the message is\n{rendered}"));
    }
    let is_said = |words: &&str| words.split(" | ").any(|word| message.said.contains(word));
    let missing = program.check("says").into_iter().find(|words| !is_said(words));
    missing.map(|words| format!("the message lacks\n    {words}\nIt is\n{rendered}"))
}

/// A program's text with this first line of the error.
fn with_first_line(text: &str, first: &str) -> String {
    let is_error = |line: &str| line.strip_prefix("//!").is_some_and(|line| line.trim().starts_with("error: "));
    let (mut lines, own): (Vec<String>, _) = (text.lines().map(str::to_owned).collect(), format!("//! error: {first}"));
    let header = lines.iter().take_while(|line| line.starts_with("//!")).count();
    let has_checks = Program::read("", text).is_ok_and(|program| !program.checks.is_empty());
    match lines.iter().position(|line| is_error(line)) {
        Some(at) => lines[at] = own,
        None if has_checks => {
            let checks = lines[..header].iter().rposition(|line| line.trim() == "//!").map_or(0, |blank| blank + 1);
            lines.insert(checks, own);
        }
        None => {
            lines.splice(header..header, ["//!".to_owned(), own]);
        }
    }
    lines.join("\n") + "\n"
}

/// The first lines of a document of programs.
const HEAD: &str = "# What does not compile\n\n<!-- Written by CASTIRON_TEST=overwrite cargo test. -->\n";

/// A program in a document.
fn entry(program: &Program, said: Option<&Message>) -> String {
    let (rule, more) = program.words.split_first().map_or((&program.name, &[][..]), |(rule, more)| (rule, more));
    let mut text = format!("\n## {}\n", rule.trim_end_matches('.'));
    for words in more {
        text += &format!("\n{words}\n");
    }
    let first = said.map_or("", |message| &message.first);
    text += &format!("\n```rust,compile_fail\n{}\n```\n\n```text\n{first}\n```\n", program.wrong());
    if program.has_right() {
        text += &format!("\nInstead:\n\n```rust,ignore\n{}\n```\n", program.replacements().join("\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_stand_for_any_words() {
        for (line, sentence, is) in [
            ("`f32` is no `i64`", "`f32` is no `i64`", true),
            ("`f32` is no `i64`", "`f32` is no `i32`", false),
            ("`f32` is no `i64`", "`f32` is no", false),
            ("`f32` is no `i64`", "is no `i64`", false),
            ("`f32` is no `i64`", "`f32` is no …", true),
            ("`f32` is no `i64`", "… is no `i64`", true),
            ("`f32` is no `i64`", "`…` is no `…`", true),
            ("`f32` is no `i64`", "`…` is a `…`", false),
            ("`a` is no `b`, `c`", "`…`", true),
            ("`a` is no `b`, `c`.", "`…`", false),
        ] {
            assert_eq!(is_sentence(line, sentence), is, "{line} | {sentence}");
        }
    }

    #[test]
    fn a_first_line_is_written_where_it_belongs() {
        assert_eq!(with_first_line("//! error: a\nfn main() {}\n", "b"), "//! error: b\nfn main() {}\n");
        let text = "//! A rule.\n//!\n//! says: x\nfn main() {}\n";
        let written = with_first_line(text, "b");
        assert_eq!(written, "//! A rule.\n//!\n//! error: b\n//! says: x\nfn main() {}\n");
        assert_eq!(Program::read("name", &written).unwrap().check("error"), ["b"]);
        let written = with_first_line("//! A rule.\nfn main() {}\n", "b");
        assert_eq!(written, "//! A rule.\n//!\n//! error: b\nfn main() {}\n");
    }

    #[test]
    fn headers_that_check_nothing_are_refused() {
        assert!(Program::read("name", "fn main() {}\n").unwrap_err().contains("no header"));
        let program = |text: &str| Program::read("name", text).map(|program| expect_known(&program));
        let half = program("//! error: x\n//! Just words.\nfn main() {}\n").unwrap_err();
        assert!(half.contains("`Just words.` is no `key: value`"), "{half}");
        // (Without any check the message of the test says which line is wanted.)
        assert!(program("//! Just words.\nfn main() {}\n").unwrap().is_ok());
        assert!(program("//! eror: x\nfn main() {}\n").unwrap().unwrap_err().contains("`eror: …` is no `error: …`"));
    }
}
