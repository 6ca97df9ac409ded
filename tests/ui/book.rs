//! What is made of the programs: the book of forbidden programs (`docs/forbidden.md`), and the right programs.

use super::*;
use std::collections::BTreeMap;

/// A chapter's name for a folder: `in_place` is `In place`.
fn title(folder: &str) -> String {
    let words = folder.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The programs of each chapter.
fn chapters(programs: &[Program]) -> BTreeMap<&str, Vec<&Program>> {
    let mut chapters: BTreeMap<&str, Vec<&Program>> = BTreeMap::new();
    for program in programs {
        chapters.entry(program.chapter()).or_default().push(program);
    }
    chapters
}

/// The program, what the compiler says of it, and what to write instead.
fn entry(program: &Program, sentences: &[Vec<String>]) -> String {
    let shown = program.message().shown(program.rustc.is_some(), sentences);
    let mut text =
        format!("```text\n{}\n```\n\n```text\n{shown}\n```\n\nInstead: {}\n", program.code.wrong(), program.instead);
    let replacements = program.code.replacements();
    if !replacements.is_empty() {
        text += &format!("\n```text\n{}\n```\n", replacements.join("\n"));
    }
    text
}

/// A table of how many messages do what.
fn table(programs: &[Program], sentences: &[Vec<String>]) -> String {
    let row = |name: &str, count: &Count| {
        format!("| {name} | {} | {} | {} | {} |\n", count.programs, count.castirons, count.names, count.says)
    };
    let mut text = String::from(
        "| chapter | programs | first line castiron's | names the rule | says what to write |\n|---|---|---|---|---|\n",
    );
    for (chapter, programs) in chapters(programs) {
        text += &row(&title(chapter), &Count::of(programs, sentences));
    }
    let all = Count::of(programs, sentences);
    text += &row("**all**", &all);
    let percent = |part: usize| part as f64 * 100.0 / all.programs as f64;
    text += &format!(
        "| | | {:.1} % | {:.1} % | {:.1} % |\n",
        percent(all.castirons),
        percent(all.names),
        percent(all.says)
    );
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for program in programs {
        if let Some(code) = program.rustc.as_deref() {
            *codes.entry(code).or_default() += 1;
        }
    }
    let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{code} ({count})")).collect();
    text += &format!("\nThe other first lines are rustc's: {}.\n", codes.join(", "));
    text
}

/// The chapter of rustc's messages; `{{chapter/program}}` stands for that program and what is said of it.
fn what_rustc_says(programs: &[Program], sentences: &[Vec<String>]) -> String {
    let mut text = String::new();
    for line in read(root().join("ui-tests/what_rustc_says.md")).lines() {
        match line.strip_prefix("{{").and_then(|line| line.strip_suffix("}}")) {
            None => text += line,
            Some(name) => {
                let program = programs.iter().find(|program| program.name == name);
                let program =
                    program.unwrap_or_else(|| panic!("ui-tests/what_rustc_says.md: there is no ui-tests/{name}.rs"));
                text += entry(program, sentences).trim_end();
            }
        }
        text += "\n";
    }
    text
}

/// Each code that rustc speaks of a program is explained.
#[test]
fn the_chapter_of_rustcs_messages_explains_every_code() {
    let chapter = read(root().join("ui-tests/what_rustc_says.md"));
    for program in programs() {
        if let Some(code) = program.rustc.filter(|code| code != "no code") {
            assert!(
                chapter.contains(&code),
                "ui-tests/what_rustc_says.md lacks {code} of ui-tests/{}.rs",
                program.name
            );
        }
    }
}

/// The headings of a text below a level, with the ids that they have on a page: as rustdoc, mdBook and GitHub form them.
fn headings(text: &str) -> Vec<(&str, String)> {
    let mut is_code = false;
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if is_code || !line.starts_with('#') {
            continue;
        }
        let kept = |letter: char| letter.is_alphanumeric() || " -_".contains(letter);
        let id: String = line.trim_start_matches('#').trim().chars().filter(|&letter| kept(letter)).collect();
        let id = id.to_ascii_lowercase().replace(' ', "-");
        let count = taken.entry(id.clone()).or_default();
        found.push((line, if *count == 0 { id } else { format!("{id}-{count}") }));
        *count += 1;
    }
    found
}

/// The index: the first lines of castiron's messages as they stand in its sources, with `…` for what is filled in, and the programs of
/// each. `chapters_text` holds a heading for each program, in the order of the chapters.
fn first_lines(programs: &[Program], sentences: &[Vec<String>], chapters_text: &str) -> String {
    let in_order: Vec<&Program> = chapters(programs).into_values().flatten().collect();
    let mut ids: Vec<String> =
        headings(chapters_text).into_iter().filter(|(line, _)| line.starts_with("### ")).map(|(_, id)| id).collect();
    // (Those of rustc's messages come first.)
    let ids = ids.split_off(ids.len() - in_order.len());
    let mut index: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for (program, id) in in_order.into_iter().zip(ids) {
        let first = program.message().first();
        let fixed = |sentence: &&Vec<String>| sentence.iter().map(String::len).sum::<usize>();
        let Some(sentence) = sentences.iter().filter(|sentence| is_filled_in(first, sentence)).max_by_key(fixed) else {
            continue;
        };
        let line = sentence.join("…").replace('|', "\\|");
        let key = line.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase();
        let rule = program.rule.trim_end_matches('.').replace('|', "\\|");
        index.entry(key).or_insert_with(|| (line, Vec::new())).1.push(format!("[{rule}](#{id})"));
    }
    let mut text = String::from(
        "## First lines\n\nThe sentences that messages begin with, in alphabetical order (`…` stands for what differs), and the programs that they are \
         about. What rustc words is explained in the chapter after this one.\n\n| first line | program |\n|---|---|\n",
    );
    for (line, programs) in index.into_values() {
        text += &format!("| {line} | {} |\n", programs.join("; "));
    }
    text
}

/// The book of forbidden programs: for each its rule, the program, what the compiler says, and what to write instead.
pub(super) fn book() -> String {
    let (programs, sentences) = (programs(), sentences());
    let mut text = String::from(
        "# Forbidden programs\n\nEach rule of castiron that the compiler enforces, by a program that breaks it: the rule, the program, what the compiler says, \
         and what to write instead. Every program is a test, and so are what the compiler says of it and the code that is right. \
         Of a message's notes castiron's are shown, and rustc's where they speak of the program.\n\n\
         ## What the messages say, counted\n\nA first line names the rule if it contains the words that the program asks of it; a message says what to write if these \
         words stand in it or in its notes. The messages of rustc count, too.\n\n",
    );
    text += &table(&programs, &sentences);
    let mut rest = format!("\n{}", what_rustc_says(&programs, &sentences));
    for (chapter, programs) in chapters(&programs) {
        rest += &format!("\n## {}\n", title(chapter));
        for program in programs {
            rest += &format!("\n### {}\n\n{}", program.rule.trim_end_matches('.'), entry(program, &sentences));
        }
    }
    text + "\n" + &first_lines(&programs, &sentences, &rest) + &rest
}

/// Every castiron's first line is in the index, and each of its links leads to a heading.
#[test]
fn the_index_of_first_lines_leads_to_programs() {
    let book = book();
    let ids: Vec<String> = headings(&book).into_iter().map(|(_, id)| id).collect();
    let mut links = 0;
    for line in book.lines().filter(|line| line.starts_with("| ") && line.contains("](#")) {
        for link in line.split("](#").skip(1) {
            let id = link.split(')').next().unwrap_or_default();
            assert!(ids.iter().any(|found| found == id), "no heading has the id {id}");
            links += 1;
        }
    }
    let castirons = programs().iter().filter(|program| program.rustc.is_none()).count();
    assert!(links >= castirons, "{links} links, {castirons} programs");
}

/// The right programs, each a module with a test that runs it.
pub(super) fn right_programs() -> String {
    let mut text = String::from("// Written by tests/ui from the programs of this folder.\n");
    for program in programs() {
        let right = program.code.right().replace("fn main()", "pub fn main()");
        // There is no GPU to run on.
        let runs = if right.contains("Cuda") { "" } else { "#[test]\nfn runs() {\n    super::done(main());\n}\n" };
        text += &format!("\nmod {} {{\n{right}\n\n{runs}}}\n", program.name.replace('/', "_"));
    }
    for (subject, program) in misfits::subjects() {
        let right = misfits::right(&program).replace("fn main()", "pub fn main()");
        text += &format!(
            "\nmod misfits_{subject} {{\n{right}\n\n#[test]\nfn runs() {{\n    super::done(main());\n}}\n}}\n"
        );
    }
    text
}

/// Whether a file that is made of the programs is up to date.
fn is_up_to_date(place: &str, text: impl FnOnce() -> String) {
    let written = fs::read_to_string(root().join(place)).unwrap_or_default();
    assert!(overwrites() || written == text(), "{place} is not that of the programs: run `ui` with TRYBUILD=overwrite");
}

#[test]
fn the_book_of_forbidden_programs_is_theirs() {
    is_up_to_date("docs/forbidden.md", book);
}

#[test]
fn the_right_programs_are_theirs() {
    is_up_to_date("ui-tests/instead.rs", right_programs);
}
