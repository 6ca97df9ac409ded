//! A program that must not compile: its header, and the program that is right.

/// A program that must not compile, as text: a header of `//!` comments, then the code.
///
/// ```
/// let text = "\
/// //! Booleans are no numbers.
/// //!
/// //! error: cannot add `i32` to `bool`
///
/// fn main() {
///     let _ = true + 1;
///     // instead: let _ = i32::from(true) + 1;
/// }
/// ";
/// let program = castiron_test::Program::read("bools", text)?;
/// assert_eq!(program.words, ["Booleans are no numbers."]);
/// assert_eq!(program.check("error"), ["cannot add `i32` to `bool`"]);
/// assert_eq!(program.right(), "fn main() {\n    let _ = i32::from(true) + 1;\n}");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// How tests call it.
    pub name: String,
    /// The paragraphs of the header, but for the checks.
    pub words: Vec<String>,
    /// The last paragraph, if it is lines `key: value`.
    pub checks: Vec<(String, String)>,
    /// The lines after the header.
    pub lines: Vec<String>,
}

impl Program {
    /// Reads the header and the lines.
    ///
    /// # Errors
    /// A sentence, if there is no header, or only some lines of its last paragraph are `key: value`.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let header: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let lines = text.lines().skip(header.len()).map(str::to_owned).collect();
        let mut paragraphs: Vec<&[&str]> = header.split(|line| line.is_empty()).filter(|of| !of.is_empty()).collect();
        let last = paragraphs.pop().ok_or("there is no header of `//!` comments")?;
        let is_key = |key: &&str| key.chars().all(|letter| letter.is_ascii_lowercase());
        let check = |line: &&str| {
            let (key, value) = line.split_once(": ").filter(|(key, _)| is_key(key))?;
            Some((key.to_owned(), value.trim().to_owned()))
        };
        let checks: Vec<(String, String)> = last.iter().filter_map(check).collect();
        match last.iter().find(|line| check(line).is_none()) {
            Some(_) if checks.is_empty() => paragraphs.push(last),
            Some(line) => return Err(format!("`{line}` is no `key: value`, as other lines of its paragraph are")),
            None => {}
        }
        let words = paragraphs.iter().map(|lines| lines.join(" ")).collect();
        Ok(Program { name: name.to_owned(), words, checks, lines })
    }

    /// The values of a key, in order.
    pub fn check(&self, key: &str) -> Vec<&str> {
        self.checks.iter().filter(|check| check.0 == key).map(|check| check.1.as_str()).collect()
    }

    /// The program as it must not be written, without the comments that say what is right.
    pub fn wrong(&self) -> String {
        let is_code = |line: &&String| replacement(line).is_none() && whole_line(line).is_none();
        self.lines.iter().filter(is_code).map(String::as_str).collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    /// The program as it is written instead.
    ///
    /// A comment `// instead: code` replaces the line before it, several of them replace it by several lines, and one without code deletes
    /// it. Comments `// instead of all: code` are the whole right program.
    pub fn right(&self) -> String {
        let whole: Vec<&str> = self.lines.iter().filter_map(|line| whole_line(line)).collect();
        if !whole.is_empty() {
            return whole.join("\n").trim().to_owned();
        }
        let mut lines: Vec<String> = Vec::new();
        let mut replacing = false;
        for line in &self.lines {
            match replacement(line) {
                None => lines.push(line.clone()),
                Some(code) => {
                    if !replacing {
                        lines.pop();
                    }
                    if !code.is_empty() {
                        lines.push(code);
                    }
                }
            }
            replacing = replacement(line).is_some();
        }
        lines.join("\n").trim().to_owned()
    }

    /// Whether comments say what is right.
    pub fn has_right(&self) -> bool {
        self.lines.iter().any(|line| replacement(line).is_some() || whole_line(line).is_some())
    }

    /// The lines that replace others, without indentation.
    pub fn replacements(&self) -> Vec<String> {
        let whole = self.lines.iter().filter_map(|line| whole_line(line).map(str::to_owned));
        let lines = self.lines.iter().filter_map(|line| replacement(line)).chain(whole);
        lines.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    }
}

/// The code of a comment `// instead of all: code`.
fn whole_line(line: &str) -> Option<&str> {
    line.strip_prefix("// instead of all:").map(|code| code.strip_prefix(' ').unwrap_or(code))
}

/// The code of a comment `// instead: code`, with the comment's indentation.
fn replacement(line: &str) -> Option<String> {
    let (space, code) = line.split_once("// instead:").filter(|(space, _)| space.trim().is_empty())?;
    Some(format!("{space}{}", code.trim()).trim_end().to_owned())
}
