//! What rustc says, in its JSON form.

use serde_json::Value;

/// A message of rustc.
#[derive(Clone, Debug)]
pub struct Message {
    /// The first line, without the code: `mismatched types`.
    pub first: String,
    /// `E0308`, if it has one.
    pub code: Option<String>,
    /// As a terminal shows it, without colours.
    pub rendered: String,
    /// First line, labels and notes, without the program's own lines.
    pub said: String,
    spans: Value,
}

impl Message {
    /// The message of an object in rustc's JSON form, if it is an error of the program.
    ///
    /// (`aborting due to 2 previous errors` is none.)
    pub fn error_of(object: &Value) -> Option<Self> {
        let text = |of: &Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
        let first = text(object, "message").lines().next().unwrap_or_default().to_owned();
        if object["level"] != "error" || first.starts_with("aborting due to ") {
            return None;
        }
        let mut said = Vec::new();
        let children = object["children"].as_array().into_iter().flatten();
        for part in [object].into_iter().chain(children) {
            said.push(text(part, "message"));
            for span in part["spans"].as_array().into_iter().flatten() {
                said.push(text(span, "label"));
                // What a suggestion writes.
                said.push(text(span, "suggested_replacement"));
            }
        }
        said.retain(|line| !line.is_empty());
        Some(Message {
            first,
            code: object["code"]["code"].as_str().map(str::to_owned),
            rendered: text(object, "rendered"),
            said: said.join("\n"),
            spans: object["spans"].clone(),
        })
    }

    /// The line of this file that the message is about, counted from 1. What a macro made is about the line that calls the macro.
    pub fn line_in(&self, file: &str) -> Option<u64> {
        let mut span = self.spans.as_array()?.iter().find(|span| span["is_primary"] == true)?;
        while span["file_name"] != file && span["expansion"].is_object() {
            span = &span["expansion"]["span"];
        }
        span["line_start"].as_u64()
    }
}
