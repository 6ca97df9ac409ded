//! Programs that must not compile, and the compiler's messages for them: `ui-tests/<chapter>/<program>.rs`, each next to its `.stderr`.
//!
//! A program begins with its rule and with what to write instead, and lists what the message must contain:
//!
//! ```text
//! //! A mean is floating-point or complex.
//! //!
//! //! Instead: cast first.
//! //!
//! //! names: mean                    the first line contains this: it names the rule
//! //! says: .to::<f32>() | cast      the message contains one of these: it says what to write
//! //! rustc: E0308                   only if the error is rustc's and not castiron's (`rustc: no code` for errors without one)
//! ```
//!
//! Several lines of `names` or `says` must all hold. A comment `// instead: code` in the program replaces the line before it, several such
//! comments replace it by several lines, and one without code deletes it: this gives the right program. Comments `// instead of all: code`
//! are the whole right program. `tests/instead.rs` compiles and runs all right programs.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test --all-features --test ui`, and read the difference. It writes the `.stderr`
//! files, `docs/forbidden.md` and `ui-tests/instead.rs`.

mod book;
mod misfits;

use book::{book, right_programs};
use std::fs;
use std::path::{Path, PathBuf};

/// Whether files are written instead of compared.
fn overwrites() -> bool {
    std::env::var_os("TRYBUILD").is_some_and(|mode| mode == "overwrite")
}

/// What trybuild compiles programs with. It adds the width for the programs alone, which is why it checks all dependencies twice; this
/// variable takes precedence over what it says, and is the same for both.
const FLAGS: (&str, &str) =
    ("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1ftrybuild\x1f--verbose\x1f-A\x1fdead_code\x1f--diagnostic-width=140");

#[test]
fn forbidden_programs_do_not_compile() {
    let (name, flags) = FLAGS;
    if std::env::var(name).is_ok_and(|found| found == flags) {
        return compile_forbidden_programs();
    }
    // In a process of its own, which has these variables.
    let mut own = std::process::Command::new(std::env::current_exe().unwrap());
    own.args(["--exact", "forbidden_programs_do_not_compile", "--nocapture"]).env(name, flags);
    // (`cargo test --test ui -- forbidden trybuild=NAME` compiles only the programs with this in their name.)
    own.args(std::env::args().filter(|argument| argument.starts_with("trybuild=")));
    assert!(own.status().unwrap().success(), "the programs' messages are above");
}

fn compile_forbidden_programs() {
    let cases = trybuild::TestCases::new();
    for folder in folders() {
        cases.compile_fail(folder.strip_prefix(root()).unwrap().join("*.rs"));
    }
    // They run when they are dropped, and what is made of the messages comes after them.
    drop(cases);
    if overwrites() {
        fs::write(root().join("docs/forbidden.md"), book()).unwrap();
        fs::write(root().join("ui-tests/instead.rs"), right_programs()).unwrap();
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path.as_ref()).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

/// All files below a directory whose names have this ending.
fn files(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_str().unwrap().ends_with(ending) {
            found.push(path);
        }
    }
    found
}

/// A program that must not compile.
#[derive(Default)]
struct Program {
    /// `axes/out_of_range`
    name: String,
    rule: String,
    /// What to write instead, in words.
    instead: String,
    names: Vec<String>,
    says: Vec<String>,
    /// The code of the error, if rustc words it.
    rustc: Option<String>,
    /// The program as it must not be written, and as it is written instead.
    code: castiron_test::Program,
    stderr: String,
}

/// The folders of programs, each with its message beside it. (`misfits` are many calls in one program.)
fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("ui-tests")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir() && !path.ends_with("misfits")).collect()
}

/// The programs, by name.
fn programs() -> Vec<Program> {
    let directory = root().join("ui-tests");
    let mut found: Vec<Program> = folders()
        .iter()
        .flat_map(|folder| files(folder, ".rs"))
        .map(|path| {
            let name = path.strip_prefix(&directory).unwrap().with_extension("");
            let name = name.to_str().unwrap().replace('\\', "/");
            let stderr = fs::read_to_string(path.with_extension("stderr")).unwrap_or_default();
            program(&name, &read(&path), stderr).unwrap_or_else(|what| panic!("ui-tests/{name}.rs: {what}"))
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Reads the header of a program.
fn program(name: &str, text: &str, stderr: String) -> Result<Program, String> {
    let code = castiron_test::Program::read(name, text)?;
    let [rule, instead] = &code.words[..] else {
        return Err(format!(
            "a header is a rule, `Instead: …` and what is checked, not {} paragraphs",
            code.words.len() + 1
        ));
    };
    let (rule, instead) = (rule.clone(), instead.strip_prefix("Instead: ").ok_or("no `Instead: …`")?.to_owned());
    if !rule.ends_with('.') || !instead.ends_with('.') {
        return Err("rule and remedy are sentences".to_owned());
    }
    if let Some((key, _)) = code.checks.iter().find(|(key, _)| !["names", "says", "rustc"].contains(&&**key)) {
        return Err(format!("`{key}: …` is no `names: …`, `says: …` or `rustc: …`"));
    }
    let listed = |key: &str| code.check(key).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let (names, says, mut rustc) = (listed("names"), listed("says"), listed("rustc"));
    if names.is_empty() || says.is_empty() {
        return Err("what does the message name, what does it say?".to_owned());
    }
    if rustc.len() > 1 {
        return Err("rustc has one code for an error".to_owned());
    }
    Ok(Program { name: name.to_owned(), rule, instead, names, says, rustc: rustc.pop(), code, stderr })
}

impl Program {
    fn chapter(&self) -> &str {
        self.name.split_once('/').map_or("", |(chapter, _)| chapter)
    }

    fn message(&self) -> Message<'_> {
        Message::first_of(&self.stderr)
    }

    fn names_the_rule(&self) -> bool {
        self.names.iter().all(|words| one_of_them_in(words, self.message().first()))
    }

    fn says_what_to_write(&self, sentences: &[Vec<String>]) -> bool {
        let said = self.message().said(self.rustc.is_some(), sentences);
        self.says.iter().all(|words| one_of_them_in(words, &said))
    }
}

fn one_of_them_in(words: &str, text: &str) -> bool {
    words.split(" | ").any(|word| text.contains(word))
}

/// The first error of a program: its first line, the place with its labels, and the notes.
struct Message<'a> {
    place: Vec<&'a str>,
    /// Each with the lines that belong to it.
    notes: Vec<Vec<&'a str>>,
}

impl<'a> Message<'a> {
    fn first_of(stderr: &'a str) -> Self {
        let mut message = Message { place: Vec::new(), notes: Vec::new() };
        // Warnings stand before and after errors.
        for line in stderr.lines().skip_while(|line| !line.starts_with("error")) {
            if (line.starts_with("error") || line.starts_with("warning")) && !message.place.is_empty() {
                break;
            }
            if line.is_empty() {
                continue;
            }
            let inner = line.trim_start();
            let begins = inner.starts_with("= note: ")
                || inner.starts_with("= help: ")
                || line.starts_with("note: ")
                || line.starts_with("help: ");
            if begins {
                message.notes.push(vec![line]);
            } else if let Some(note) = message.notes.last_mut() {
                note.push(line);
            } else {
                message.place.push(line);
            }
        }
        message
    }

    /// `error[E0277]`
    fn kind(&self) -> &'a str {
        self.place.first().and_then(|line| line.split_once(": ")).map_or("", |(kind, _)| kind)
    }

    /// The first line without the code of the error.
    fn first(&self) -> &'a str {
        self.place.first().and_then(|line| line.split_once(": ")).map_or("", |(_, text)| text)
    }

    /// The notes worth reading: castiron's, and rustc's where it speaks of the user's program and not of castiron's insides.
    fn notes(&self, of_rustc: bool, sentences: &[Vec<String>]) -> Vec<&[&'a str]> {
        let worth = |note: &&Vec<&str>| {
            let text = note[0].trim_start().trim_start_matches("= ");
            let text = text.split_once(": ").map_or("", |(_, text)| text);
            if sentences.iter().any(|sentence| is_filled_in(text, sentence)) {
                return true;
            }
            // `castiron::ops::admit::…`: nothing that a user would name.
            let inside = note.iter().any(|line| is_inside(line));
            let suggests_a_bound = text.starts_with("consider") && text.contains("restricting type parameter");
            let elsewhere = note[0].starts_with("note: ") && !note.iter().any(|line| line.contains("--> ui-tests/"));
            let of_traits = ["the trait ", "the following ", "required ", "this error originates", "cannot satisfy "];
            let of_traits =
                of_traits.iter().any(|start| text.starts_with(start)) || text.contains("full name for the type");
            !inside && !elsewhere && !of_traits && (of_rustc || suggests_a_bound)
        };
        self.notes.iter().filter(worth).map(Vec::as_slice).collect()
    }

    /// What is said in words: the first line, the labels, and the notes worth reading, without the lines of the program.
    fn said(&self, of_rustc: bool, sentences: &[Vec<String>]) -> String {
        let is_source = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("-->")
                || line.split_once('|').is_some_and(|(number, _)| number.trim().parse::<u32>().is_ok())
        };
        let mut said: Vec<&str> = self.place.iter().copied().filter(|line| !is_source(line)).collect();
        said.extend(self.notes(of_rustc, sentences).concat());
        said.join("\n")
    }

    /// The message as the book shows it.
    fn shown(&self, of_rustc: bool, sentences: &[Vec<String>]) -> String {
        let mut shown = self.place.clone();
        shown.extend(self.notes(of_rustc, sentences).concat());
        shown.retain(|line| !line.contains("// instead:") && !line.contains("// instead of all:"));
        shown.join("\n")
    }
}

/// Whether a line names something below castiron's root: `castiron::ops::admit::InexactFor`.
fn is_inside(line: &str) -> bool {
    line.split("castiron::").skip(1).any(|path| {
        let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(path.len());
        path[end..].starts_with("::") && path[end + 2..].starts_with(|letter: char| letter.is_alphabetic())
    })
}

/// The sentences written in castiron's sources, cut where something is filled in: `axis {I} is out of range` is
/// `["axis ", " is out of range"]`.
fn sentences() -> Vec<Vec<String>> {
    let mut sources = files(&root().join("src"), ".rs");
    sources.extend(files(&root().join("macros/src"), ".rs"));
    sources.extend(files(&root().join("mesh/src"), ".rs"));
    let mut found = Vec::new();
    for source in sources {
        for line in read(source).lines().filter(|line| !line.trim_start().starts_with("//")) {
            for literal in line.split('"').skip(1).step_by(2) {
                let pieces: Vec<String> = literal
                    .split('{')
                    .map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest).to_owned())
                    .collect();
                let fixed: usize = pieces.iter().map(String::len).sum();
                if fixed >= 12 && literal.contains(' ') {
                    found.push(pieces);
                }
            }
        }
    }
    found
}

/// Whether a text is a sentence with its gaps filled in.
fn is_filled_in(text: &str, sentence: &[String]) -> bool {
    let Some((last, pieces)) = sentence.split_last() else { return false };
    let mut rest = text;
    for (at, piece) in pieces.iter().enumerate() {
        let Some(found) = rest.find(piece.as_str()) else { return false };
        if at == 0 && found != 0 {
            return false;
        }
        rest = &rest[found + piece.len()..];
    }
    if pieces.is_empty() { rest == last } else { rest.ends_with(last.as_str()) }
}

/// What is wrong with who speaks first: castiron, or rustc where the program says so.
fn wrong_speaker(program: &Program, sentences: &[Vec<String>]) -> Option<String> {
    let (kind, first) = (program.message().kind(), program.message().first());
    let castirons = sentences.iter().any(|sentence| is_filled_in(first, sentence));
    match program.rustc.as_deref() {
        None => (!castirons).then(|| format!("not a sentence of castiron: {kind}: {first}")),
        Some(_) if castirons => Some(format!("castiron says `{first}`: the line `//! rustc: …` is no longer due")),
        Some("no code") => (kind != "error").then(|| format!("not `error: …`: {kind}: {first}")),
        Some(code) => (kind != format!("error[{code}]")).then(|| format!("not {code}: {kind}: {first}")),
    }
}

#[test]
fn every_first_line_is_castirons_or_declared_to_be_rustcs() {
    let sentences = sentences();
    let wrong: Vec<String> = programs()
        .iter()
        .filter_map(|program| Some(format!("ui-tests/{}.rs: {}", program.name, wrong_speaker(program, &sentences)?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_message_shows_how_numbers_are_made() {
    for program in programs() {
        assert!(!program.stderr.contains("UInt<"), "ui-tests/{}.rs", program.name);
    }
}

/// A program for checks of the checks.
fn made_up(checks: &str, stderr: &str) -> Program {
    let text = format!("//! A rule.\n//!\n//! Instead: a remedy.\n//!\n{checks}\n\nfn main() {{}}\n");
    program("chapter/name", &text, stderr.to_owned()).unwrap()
}

/// The check of first lines can fail in both directions.
#[test]
fn speakers_are_told_apart() {
    let sentences = sentences();
    let (castirons, rustcs) = ("error[E0277]: a shape has at most eight axes", "error[E0308]: mismatched types");
    let undeclared = "//! names: x\n//! says: y";
    let declared = "//! names: x\n//! says: y\n//! rustc: E0308";
    for (checks, stderr, is_right) in [
        (undeclared, castirons, true),
        (undeclared, rustcs, false),
        (declared, rustcs, true),
        (declared, castirons, false),
        (declared, "error[E0599]: no method named `cuda` found", false),
        ("//! names: x\n//! says: y\n//! rustc: no code", "error: no rules expected `,`", true),
        ("//! names: x\n//! says: y\n//! rustc: no code", rustcs, false),
    ] {
        let program = made_up(checks, stderr);
        assert_eq!(wrong_speaker(&program, &sentences).is_none(), is_right, "{checks}\n{stderr}");
    }
}

/// rustc's own sentences are not taken for castiron's.
#[test]
fn rustcs_sentences_are_told_apart() {
    let sentences = sentences();
    for foreign in [
        "mismatched types",
        "cannot subtract `&Tensor<bool, (D2,)>` from `&Tensor<bool, (D2,)>`",
        "the trait bound `(): Matrix` is not satisfied",
        "no method named `exp` found for struct `Tensor<E, S, D>` in the current scope",
        "the method `exp` exists for struct `Tensor<u16, ()>`, but its trait bounds were not satisfied",
        "type annotations needed",
        "expected `f32`, found `i64`",
    ] {
        assert!(!sentences.iter().any(|sentence| is_filled_in(foreign, sentence)), "{foreign}");
    }
}

/// A message with notes of all kinds.
const NOTES: &str = "\
error[E0277]: `mean` is not defined for dtype `E`
 --> ui-tests/generic/mean.rs:8:13
  |
8 |     let _ = x.sum_of_squares();
  |             ^ `mean` does not admit `E`
  |
  = help: the trait `InexactFor<mean>` is not implemented for `E`
  = note: in generic code, bound the dtype by `Inexact`
  = help: the following other types implement trait `InexactFor<Op>`:
            bf16
            f16
note: required by a bound in `castiron::tensor::reduce::reductions::mean`
 --> src/tensor/reduce/reductions.rs
  |
  |     Inside: mean
help: consider further restricting type parameter `E` with trait `InexactFor`
  |
7 | fn center<E: Dtype + castiron::ops::admit::InexactFor>(x: &E) {
  |                    +++++++++++++++++++++++++++++++++++
help: consider restricting type parameter `N` with trait `Dim`
  |
7 | fn center<N: castiron::Dim>(x: &N) {
  |            +++++++++++++++

error[E0277]: another error";

/// Of the notes the book keeps castiron's and what rustc says of the user's program; the lines of the program say nothing.
#[test]
fn notes_worth_reading_are_kept() {
    let sentences = sentences();
    let said = Message::first_of(NOTES).said(false, &sentences);
    for kept in ["is not defined for dtype", "does not admit", "bound the dtype by `Inexact`", "castiron::Dim"] {
        assert!(said.contains(kept), "{kept}\n{said}");
    }
    for dropped in ["sum_of_squares", "is not implemented", "bf16", "Inside", "admit::InexactFor", "another error"] {
        assert!(!said.contains(dropped), "{dropped}\n{said}");
    }
    assert!(Message::first_of(NOTES).shown(false, &sentences).contains("sum_of_squares"));
}

/// Words that do not stand in a message are counted as missing.
#[test]
fn what_a_message_lacks_is_noticed() {
    let sentences = sentences();
    for (checks, names, says) in [
        ("//! names: mean\n//! names: `E`\n//! says: Inexact | Float", true, true),
        ("//! names: mean\n//! names: i64\n//! says: Float", false, false),
        ("//! names: does not admit\n//! says: InexactFor", false, false),
        ("//! names: median | mean\n//! says: Inexact\n//! says: sum_of_squares", true, false),
    ] {
        let program = made_up(checks, NOTES);
        assert_eq!((program.names_the_rule(), program.says_what_to_write(&sentences)), (names, says), "{checks}");
    }
}

/// Comments with the right code replace the line before them.
#[test]
fn right_code_replaces_wrong_code() {
    let lines = ["a", "  wrong", "  // instead: one", "  // instead: two", "gone", "// instead:", "z"];
    let mut program = castiron_test::Program { lines: lines.map(str::to_owned).into(), ..Default::default() };
    assert_eq!(program.wrong(), "a\n  wrong\ngone\nz");
    assert_eq!(program.right(), "a\n  one\n  two\nz");
    assert_eq!(program.replacements(), ["one", "two"]);
    program.lines.extend(["// instead of all: fn main() {", "// instead of all: }"].map(str::to_owned));
    assert_eq!(program.wrong(), "a\n  wrong\ngone\nz");
    assert_eq!(program.right(), "fn main() {\n}");
}

/// How many programs there are, and what their messages do.
#[derive(Default)]
struct Count {
    programs: usize,
    castirons: usize,
    names: usize,
    says: usize,
}

impl Count {
    fn of<'a>(programs: impl IntoIterator<Item = &'a Program>, sentences: &[Vec<String>]) -> Self {
        let mut count = Count::default();
        for program in programs {
            count.programs += 1;
            count.castirons += usize::from(program.rustc.is_none());
            count.names += usize::from(program.names_the_rule());
            count.says += usize::from(program.says_what_to_write(sentences));
        }
        count
    }
}

/// Of what users type nearly all messages name the rule and say what to write, those of rustc included.
#[test]
fn messages_name_the_rule_and_say_what_to_write() {
    let (programs, sentences) = (programs(), sentences());
    assert!(programs.len() >= 150, "{} programs", programs.len());
    for code in ["E0308", "E0599", "E0600", "E0382"] {
        assert!(programs.iter().any(|program| program.rustc.as_deref() == Some(code)), "no program of {code}");
    }
    let mut missing = String::new();
    for program in &programs {
        if !program.names_the_rule() {
            missing +=
                &format!("{}: the first line lacks {:?}: {}\n", program.name, program.names, program.message().first());
        }
        if !program.says_what_to_write(&sentences) {
            missing +=
                &format!("{}: the message lacks {:?}: {}\n", program.name, program.says, program.message().first());
        }
    }
    let count = Count::of(&programs, &sentences);
    // What is missing is nearly all rustc's own: of unary operators, borrows, mistyped results and names that it does not know it says no remedy.
    let enough = |part: usize, percent: usize| part * 100 >= count.programs * percent;
    assert!(
        enough(count.names, 95) && enough(count.says, 89),
        "of {} programs {} name the rule and {} say what to write:\n{missing}",
        count.programs,
        count.names,
        count.says
    );
}

/// A line of a message without the number of the program's line.
fn without_number(line: &str) -> &str {
    line.trim_start_matches(|letter: char| letter == ' ' || letter.is_ascii_digit())
}

/// What the README shows is what the compiler says.
#[test]
fn messages_in_the_readme_are_the_compilers() {
    let readme = read(root().join("README.md"));
    let programs = programs();
    let shown: Vec<&str> =
        readme.split("```text\n").skip(1).map(|block| block.split_once("```").unwrap().0.trim_end()).collect();
    assert!(!shown.is_empty());
    for message in shown {
        let told = programs.iter().any(|program| {
            let said: Vec<&str> = program.stderr.lines().map(without_number).collect();
            message.lines().all(|line| said.contains(&without_number(line)))
        });
        assert!(told, "not in any .stderr:\n{message}");
    }
}
