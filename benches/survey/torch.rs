//! PyTorch in a separate process: it is asked for the time of a call, and answers with a line of JSON.

use crate::arguments::Given;
use crate::back::Way;
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The program run there: `benches/peers/survey.py`.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/survey.py");

pub struct Torch {
    python: String,
    threads: usize,
    process: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
}

/// PyTorch's answer.
pub enum Answer {
    /// Seconds of the fastest call, and the result: its dtype and its sizes.
    Took(f64, String),
    /// Why it was not measured.
    Refused(String),
}

impl Torch {
    /// The process is started by the first call.
    pub fn new(python: String, threads: usize) -> Self {
        Torch { python, threads, process: None }
    }

    fn start(&mut self) -> std::io::Result<()> {
        // glibc keeps freed memory in the process: the survey compares operations, not the kernel's zeroing of pages.
        let tunables = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=17179869184";
        let mut child = Command::new(&self.python)
            .arg(PROGRAM)
            .env("GLIBC_TUNABLES", tunables)
            .env("THREADS", self.threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(into), Some(out)) = (child.stdin.take(), child.stdout.take()) else { return Ok(()) };
        self.process = Some((child, into, BufReader::new(out)));
        Ok(())
    }

    fn ask(&mut self, question: &Json) -> std::io::Result<Json> {
        if self.process.is_none() {
            self.start()?;
        }
        let Some((_, into, out)) = &mut self.process else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
        writeln!(into, "{question}")?;
        into.flush()?;
        let mut line = String::new();
        if out.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// The time of a call, measured for `budget` seconds.
    pub fn time(&mut self, way: Way, op: &str, order: &[&str], given: &[(&'static str, Given)], budget: f64) -> Answer {
        let given: Vec<Json> = given.iter().map(|(name, given)| json!([name, given.json()])).collect();
        let question = json!({ "op": op, "order": order, "given": given, "budget": budget, "back": way == Way::Back });
        match self.ask(&question) {
            Ok(answer) => match (answer["seconds"].as_f64(), answer["error"].as_str()) {
                (Some(seconds), _) => Answer::Took(seconds, answer["result"].as_str().unwrap_or_default().to_owned()),
                (None, error) => Answer::Refused(error.unwrap_or_default().to_owned()),
            },
            Err(error) => {
                self.stop();
                Answer::Refused(format!("the process ended: {error}"))
            }
        }
    }

    /// Drops the tensors made so far.
    pub fn clear(&mut self) {
        if self.process.is_some() && self.ask(&json!({ "clear": true })).is_err() {
            self.stop();
        }
    }

    fn stop(&mut self) {
        if let Some((mut child, into, _)) = self.process.take() {
            drop(into);
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        self.stop();
    }
}
