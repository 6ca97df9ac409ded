//! Programs that must not compile, and what the compiler says of them: `ui-tests/<rule>/<program>.rs` beside its `.stderr`.
//!
//! After a change of wording: `TRYBUILD=overwrite cargo test --features any --test ui`, and read the difference.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn forbidden_programs_do_not_compile() {
    trybuild::TestCases::new().compile_fail("ui-tests/*/*.rs");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory whose name ends so.
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

/// The sentences written in castiron's sources, cut where something is filled in: `axis {I} is out of range` is
/// `["axis ", " is out of range"]`.
fn sentences() -> Vec<Vec<String>> {
    let mut sources = files(&root().join("src"), ".rs");
    sources.extend(files(&root().join("macros/src"), ".rs"));
    let mut found = Vec::new();
    for source in sources {
        for line in fs::read_to_string(source).unwrap().lines() {
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

/// What the borrow checker says is said by rustc, of places and lifetimes.
const BORROWING: [&str; 3] = ["error[E0499]", "error[E0502]", "error[E0597]"];

#[test]
fn every_first_line_is_a_sentence_of_castiron() {
    let sentences = sentences();
    let programs = files(&root().join("ui-tests"), ".rs");
    assert!(programs.len() >= 30, "{} programs", programs.len());
    for program in programs {
        let stderr = fs::read_to_string(program.with_extension("stderr")).unwrap();
        let first = stderr.lines().next().unwrap_or_default();
        let (kind, text) = first.split_once(": ").unwrap();
        assert!(
            BORROWING.contains(&kind) || sentences.iter().any(|sentence| is_filled_in(text, sentence)),
            "{}: not a sentence of castiron: {first}",
            program.display()
        );
        assert!(!stderr.contains("UInt<"), "{}: shows how numbers are made", program.display());
    }
}

/// Each program says which rule it breaks and what to write instead.
#[test]
fn every_program_names_its_rule_and_the_remedy() {
    for program in files(&root().join("ui-tests"), ".rs") {
        let text = fs::read_to_string(&program).unwrap();
        let comments: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let [rule, "//!", instead] = comments[..] else { panic!("{}", program.display()) };
        assert!(rule.ends_with('.') && instead.starts_with("//! Instead: "), "{}", program.display());
    }
}

/// The check above can fail: rustc's own sentences are not taken for castiron's.
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

/// What the README shows is what the compiler says.
#[test]
fn messages_in_the_readme_are_the_compilers() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let stderrs: Vec<String> =
        files(&root().join("ui-tests"), ".stderr").iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let shown: Vec<&str> =
        readme.split("```text\n").skip(1).map(|block| block.split_once("```").unwrap().0.trim_end()).collect();
    assert!(!shown.is_empty());
    for message in shown {
        let told = stderrs.iter().any(|stderr| message.lines().all(|line| stderr.lines().any(|other| other == line)));
        assert!(told, "not in any .stderr:\n{message}");
    }
}

/// A chapter's name for a folder: `in_place` is `In place`.
fn title(folder: &str) -> String {
    let words = folder.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The book of forbidden programs: for each its rule, the program, what the compiler says first, and what to write instead.
fn book() -> String {
    let mut programs = files(&root().join("ui-tests"), ".rs");
    programs.sort();
    let mut text = String::from(
        "# Forbidden programs\n\nEach rule of castiron that the compiler enforces, by a program that breaks it: the rule, the program, what the compiler says, \
         and what to write instead. Every program is a test, and so is what the compiler says of it.\n",
    );
    let mut chapter = String::new();
    for path in programs {
        let folder = path.parent().and_then(Path::file_name).unwrap().to_str().unwrap().to_owned();
        if folder != chapter {
            text += &format!("\n## {}\n", title(&folder));
            chapter = folder;
        }
        let source = fs::read_to_string(&path).unwrap();
        let comment: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let (rule, rest): (Vec<&str>, Vec<&str>) = (
            comment.iter().copied().take_while(|line| !line.is_empty()).collect(),
            comment.iter().copied().skip_while(|line| !line.is_empty()).filter(|line| !line.is_empty()).collect(),
        );
        let program: Vec<&str> = source.lines().skip_while(|line| line.starts_with("//!")).collect();
        let said = fs::read_to_string(path.with_extension("stderr")).unwrap();
        // Up to the notes of the first error: what a reader sees first.
        let first: Vec<&str> = said
            .lines()
            .take_while(|line| {
                !line.trim_start().starts_with("= help: the ") && !line.starts_with("note: ") && !line.is_empty()
            })
            .collect();
        text += &format!("\n### {}\n\n", rule.join(" ").trim_end_matches('.'));
        text += &format!("```text\n{}\n```\n\n```text\n{}\n```\n", program.join("\n").trim(), first.join("\n"));
        if !rest.is_empty() {
            text += &format!("\n{}\n", rest.join(" "));
        }
    }
    text
}

/// `docs/forbidden.md` is written from the programs: `TRYBUILD=overwrite` writes it.
#[test]
fn the_book_of_forbidden_programs_is_theirs() {
    let (place, book) = (root().join("docs/forbidden.md"), book());
    if std::env::var_os("TRYBUILD").is_some_and(|mode| mode == "overwrite") {
        fs::write(&place, &book).unwrap();
    }
    let written = fs::read_to_string(&place).unwrap_or_default();
    assert!(written == book, "docs/forbidden.md is not that of the programs: run this test with TRYBUILD=overwrite");
}
