//! The outcome of each row of a table.

use std::collections::BTreeMap;

/// The number of disagreements shown.
const SHOWN: usize = 12;

pub enum Outcome {
    Agrees,
    /// PyTorch lacks a kernel for this dtype; castiron has it.
    Beyond,
    /// castiron differs on purpose, by this rule.
    Aside(&'static str),
    /// castiron does not have this.
    Unsupported(String),
    Differs(String),
}

pub struct Table {
    name: String,
    rows: usize,
    /// One row in this many is run.
    every: usize,
    seen: usize,
    agrees: usize,
    beyond: usize,
    aside: BTreeMap<&'static str, usize>,
    unsupported: BTreeMap<String, usize>,
    differs: Vec<String>,
    /// Disagreements by what they are about.
    subjects: BTreeMap<String, usize>,
    notes: Vec<String>,
}

impl Table {
    pub fn new(name: &str) -> Self {
        Table {
            name: name.to_owned(),
            rows: 0,
            every: 1,
            seen: 0,
            agrees: 0,
            beyond: 0,
            aside: BTreeMap::new(),
            unsupported: BTreeMap::new(),
            differs: Vec::new(),
            subjects: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    /// Runs one row in this many.
    pub fn every(mut self, every: usize) -> Self {
        self.every = every.max(1);
        self
    }

    /// Counts a row on this subject; `row` identifies it in messages. A panic counts as a disagreement.
    pub fn row(&mut self, subject: &str, row: impl Fn() -> String, run: impl FnOnce() -> Outcome) {
        self.seen += 1;
        if !(self.seen - 1).is_multiple_of(self.every) {
            return;
        }
        self.rows += 1;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        let outcome = outcome.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Outcome::Differs(format!("panicked: {}", text.unwrap_or_default()))
        });
        match outcome {
            Outcome::Agrees => self.agrees += 1,
            Outcome::Beyond => self.beyond += 1,
            Outcome::Aside(rule) => *self.aside.entry(rule).or_default() += 1,
            Outcome::Unsupported(what) => *self.unsupported.entry(what).or_default() += 1,
            Outcome::Differs(why) => {
                *self.subjects.entry(subject.to_owned()).or_default() += 1;
                if std::env::var("SUBJECT").map_or(self.differs.len() < SHOWN, |of| of == subject) {
                    self.differs.push(format!("{}: {why}", row()));
                }
            }
        }
    }

    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub fn agrees(&self) -> bool {
        self.subjects.is_empty()
    }

    pub fn print(&self) {
        let differ: usize = self.subjects.values().sum();
        let (aside, unsupported) = (self.aside.values().sum::<usize>(), self.unsupported.values().sum::<usize>());
        println!(
            "{}: {} of {} rows agree, {} beyond PyTorch, {aside} set aside, {unsupported} not supported yet, {differ} disagree",
            self.name, self.agrees, self.rows, self.beyond
        );
        for note in &self.notes {
            println!("  {note}");
        }
        for (rule, count) in &self.aside {
            println!("  set aside ({count}): {rule}");
        }
        if unsupported > 0 {
            let mut most: Vec<_> = self.unsupported.iter().collect();
            most.sort_by_key(|(_, count)| core::cmp::Reverse(**count));
            let limit = if std::env::var("SUBJECT").is_ok() { usize::MAX } else { 40 };
            let named: Vec<String> = most.iter().take(limit).map(|(what, count)| format!("{what} {count}")).collect();
            let more = if most.len() > limit { format!(", and {} more", most.len() - limit) } else { String::new() };
            println!("  not supported yet: {}{more}", named.join(", "));
        }
        if differ > 0 {
            let subjects: Vec<String> = self.subjects.iter().map(|(of, count)| format!("{of} {count}")).collect();
            println!("  disagree: {}", subjects.join(", "));
        }
        for row in &self.differs {
            println!("    {row}");
        }
    }
}
