//! The harness fails where a program compiles, where the compiler says something else, and where what is right does not compile.

use castiron_test::Forbidden;

const RULE: &str = "//! A bool is no number.\n//!\n";
const WRONG: &str = "fn main() {\n    let _: bool = 1;\n";

fn report(program: &str) -> String {
    Forbidden::new().program("a program", program).try_check().unwrap_err()
}

#[test]
fn programs_that_are_refused_as_they_say_pass() {
    let text = |checks: &str| format!("{RULE}{checks}\n{WRONG}    // instead: let _: bool = true;\n}}\n");
    Forbidden::new()
        .program("by its sentence", &text("//! error: mismatched types"))
        .program("with words left out", &text("//! error: mismatched …"))
        .program("by its code", &text("//! code: E0308"))
        .program("with labels", &text("//! error: mismatched types\n//! says: never this | expected `bool`"))
        .check();
}

#[test]
fn a_program_that_compiles_is_reported() {
    let report = report(&format!("{RULE}//! error: mismatched types\nfn main() {{}}\n"));
    assert!(report.contains("a program: it compiles, and must not"), "{report}");
}

#[test]
fn another_sentence_is_reported_with_the_message() {
    let report = report(&format!("{RULE}//! error: a bool is no number\n{WRONG}}}\n"));
    let says = "the compiler says\n    mismatched types\nand should say\n    a bool is no number\n";
    assert!(report.contains(says), "{report}");
    // The message itself, with the line of the program.
    assert!(report.contains("let _: bool = 1;") && report.contains("expected `bool`"), "{report}");
}

#[test]
fn another_code_and_missing_words_are_reported() {
    let report = |checks: &str| report(&format!("{RULE}{checks}\n{WRONG}}}\n"));
    let other = report("//! code: E0277");
    assert!(other.contains("the error's code is E0308, and should be E0277"), "{other}");
    let other = report("//! code: E0308\n//! says: one | other");
    assert!(other.contains("the message lacks\n    one | other\n"), "{other}");
}

#[test]
fn a_header_without_a_sentence_is_told_which() {
    for checks in ["//! says: bool", "//! Words."] {
        let report = report(&format!("{RULE}{checks}\n{WRONG}}}\n"));
        assert!(report.contains("lacks a line `//! error: mismatched types`"), "{report}");
    }
}

#[test]
fn a_remedy_that_does_not_compile_is_reported() {
    let report = report(&format!("{RULE}//! code: E0308\n{WRONG}    // instead: let _: bool = \"yes\";\n}}\n"));
    assert!(report.contains("a program: with what is written `instead` it should compile"), "{report}");
    assert!(report.contains("\"yes\""), "{report}");
}

/// Each is reported, the others not.
#[test]
fn programs_are_told_apart() {
    let right = format!("{RULE}//! code: E0308\n{WRONG}}}\n");
    let report = Forbidden::new()
        .program("first", &right)
        .program("second", "//! code: E0308\nfn main() {}\n")
        .program("third", &right)
        .try_check()
        .unwrap_err();
    assert!(report.starts_with("of 3 programs") && report.contains("second: "), "{report}");
    assert!(!report.contains("first: ") && !report.contains("third: "), "{report}");
}

#[test]
fn a_test_without_programs_fails() {
    assert!(Forbidden::new().try_check().unwrap_err().starts_with("no program"));
    assert!(Forbidden::new().folder("tests/nowhere").try_check().unwrap_err().contains("tests/nowhere"));
}

/// Programs see the package and what its tests depend on: here `serde_json`, and nothing else.
#[test]
fn programs_see_what_tests_see() {
    let text = |of: &str| format!("//! code: E0308\nuse {of} as seen;\nfn main() {{\n    let _: bool = 1;\n}}\n");
    Forbidden::new().program("a", &text("castiron_test::Program")).program("b", &text("serde_json::Value")).check();
    let other = Forbidden::new().program("c", &text("trybuild::TestCases")).try_check().unwrap_err();
    assert!(other.contains("trybuild"), "{other}");
}
