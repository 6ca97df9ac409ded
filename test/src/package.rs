//! A package of programs that see what the tests of a package see: the package itself, and what it depends on.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::Message;

/// The package whose tests run, as `cargo metadata` describes it.
pub(crate) struct Package {
    /// Its folder.
    pub(crate) root: PathBuf,
    described: Value,
    target: PathBuf,
    workspace: PathBuf,
}

/// What became of a program.
pub(crate) enum Fate {
    Compiles,
    /// The errors, in order.
    Refused(Vec<Message>),
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

fn failed(what: &str, error: impl std::fmt::Display) -> String {
    format!("{what}: {error}")
}

/// A list of objects.
fn list<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    of[key].as_array().into_iter().flatten()
}

impl Package {
    /// The package whose tests run.
    pub(crate) fn of_the_test() -> Result<Self, String> {
        let root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let root = root.ok_or("`CARGO_MANIFEST_DIR` is not set: run the test with `cargo test`")?;
        let mut metadata = cargo();
        metadata.args(["metadata", "--no-deps", "--format-version=1", "--offline"]).current_dir(&root);
        let output = metadata.output().map_err(|error| failed("cargo metadata", error))?;
        let found: Value =
            serde_json::from_slice(&output.stdout).map_err(|_| failed("cargo metadata", said(&output)))?;
        let manifest = root.join("Cargo.toml");
        let is_it =
            |package: &&Value| package["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest);
        let described = list(&found, "packages").find(is_it).cloned();
        let folder = |key: &str| PathBuf::from(found[key].as_str().unwrap_or_default());
        Ok(Package {
            described: described.ok_or_else(|| failed("no package", manifest.display()))?,
            target: folder("target_directory"),
            workspace: folder("workspace_root"),
            root,
        })
    }

    /// The folder for what is written, one for each test program of the package.
    pub(crate) fn folder(&self) -> PathBuf {
        let test = std::env::current_exe().ok().and_then(|path| Some(path.file_stem()?.to_str()?.to_owned()));
        let test = test.unwrap_or_default();
        // `forbidden-0f3a…`
        let test = test.rsplit_once('-').map_or(&*test, |(name, _)| name);
        self.target.join("castiron-test").join(self.described["name"].as_str().unwrap_or_default()).join(test)
    }

    /// The dependencies that programs see, by the table of the manifest that they stand in.
    fn dependencies(&self, features: &[String]) -> BTreeMap<String, BTreeMap<String, Value>> {
        let mut tables: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
        let is_library = |target: &Value| list(target, "kind").any(|kind| kind == "lib" || kind == "rlib");
        if list(&self.described, "targets").any(is_library) {
            let own = json!({ "path": self.root, "features": features });
            let name = self.described["name"].as_str().unwrap_or_default().to_owned();
            tables.entry("dependencies".to_owned()).or_default().insert(name, own);
        }
        for of in list(&self.described, "dependencies") {
            // Programs see what is there in every build, but this crate.
            if of["optional"] == true || of["kind"] == "build" || of["name"] == env!("CARGO_PKG_NAME") {
                continue;
            }
            let table = match of["target"].as_str() {
                Some(target) => format!("target.{}.dependencies", json!(target)),
                None => "dependencies".to_owned(),
            };
            let name = of["rename"].as_str().or(of["name"].as_str()).unwrap_or_default().to_owned();
            let entry = tables.entry(table).or_default().entry(name).or_insert_with(|| json!({}));
            let Some(entry) = entry.as_object_mut() else { continue };
            fill(entry, of);
        }
        tables
    }

    /// The `[patch]` tables of the workspace, with absolute paths.
    fn patches(&self) -> String {
        let text = fs::read_to_string(self.workspace.join("Cargo.toml")).unwrap_or_default();
        let mut is_patch = false;
        let mut patches = String::new();
        for line in text.lines() {
            if line.starts_with('[') {
                is_patch = line.starts_with("[patch.");
            }
            if is_patch {
                let absolute = format!("path = \"{}/", self.workspace.display());
                patches += &line.replace("path = \"", &absolute);
                patches += "\n";
            }
        }
        patches
    }

    /// What becomes of programs, each of a name and the file it is in.
    pub(crate) fn check(
        &self,
        features: &[String],
        programs: &[(String, PathBuf)],
    ) -> Result<BTreeMap<String, Fate>, String> {
        let folder = self.folder();
        let mut manifest = format!(
            "[package]\nname = \"castiron-test-programs\"\nversion = \"0.0.0\"\nedition = {}\npublish = false\n\n[workspace]\n",
            self.described["edition"]
        );
        for (table, dependencies) in self.dependencies(features) {
            manifest += &format!("\n[{table}]\n");
            for (name, of) in dependencies {
                manifest += &format!("{} = {}\n", json!(name), inline(&of));
            }
        }
        for (name, path) in programs {
            manifest += &format!("\n[[bin]]\nname = {}\npath = {}\n", json!(name), json!(path));
        }
        manifest += &format!("\n{}", self.patches());
        let write = |path: PathBuf, text: &str| {
            fs::write(&path, text).map_err(|error| failed(&path.display().to_string(), error))
        };
        fs::create_dir_all(&folder).map_err(|error| failed(&folder.display().to_string(), error))?;
        write(folder.join("Cargo.toml"), &manifest)?;
        // The versions that the tests were built with.
        if let Ok(lock) = fs::read_to_string(self.workspace.join("Cargo.lock")) {
            write(folder.join("Cargo.lock"), &lock)?;
        }

        let mut check = cargo();
        check.args(["check", "--bins", "--keep-going", "--offline", "--message-format=json", "--manifest-path"]);
        check.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&self.target);
        // (Where the package's own configuration and toolchain are found.)
        let output = check.current_dir(&self.root).output().map_err(|error| failed("cargo check", error))?;
        fates(&output, programs)
    }
}

/// Adds what `cargo metadata` says of a dependency to its entry in a manifest.
fn fill(entry: &mut Map<String, Value>, of: &Value) {
    let text = |key: &str| of[key].as_str().map(str::to_owned);
    if of["rename"].is_string() {
        entry.insert("package".to_owned(), of["name"].clone());
    }
    if let Some(path) = text("path") {
        entry.insert("path".to_owned(), json!(path));
    } else if let Some(git) = text("source").and_then(|source| source.strip_prefix("git+").map(str::to_owned)) {
        let (address, query) = git.split_once('?').unwrap_or((&git, ""));
        entry.insert("git".to_owned(), json!(address));
        if let Some((key @ ("branch" | "tag" | "rev"), value)) = query.split_once('=') {
            entry.insert(key.to_owned(), json!(value));
        }
    } else {
        entry.insert("version".to_owned(), of["req"].clone());
        if let Some(registry) = text("registry") {
            entry.insert("registry-index".to_owned(), json!(registry));
        }
    }
    // A dependency of the package and of its tests has the features of both.
    let with_default = of["uses_default_features"] == true || entry.get("default-features") == Some(&json!(true));
    entry.insert("default-features".to_owned(), json!(with_default));
    let features = entry.entry("features").or_insert_with(|| json!([]));
    if let Some(features) = features.as_array_mut() {
        features.extend(list(of, "features").cloned());
    }
}

/// An object as an inline table of TOML, whose strings and lists of strings are written as those of JSON.
fn inline(of: &Value) -> String {
    let entries = of.as_object().into_iter().flatten().map(|(key, value)| format!("{key} = {value}"));
    format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
}

/// What cargo says of each program.
fn fates(output: &Output, programs: &[(String, PathBuf)]) -> Result<BTreeMap<String, Fate>, String> {
    let mut fates: BTreeMap<String, Fate> = BTreeMap::new();
    let mut others = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(object) = serde_json::from_str::<Value>(line) else { continue };
        let name = object["target"]["name"].as_str().unwrap_or_default();
        let is_ours = programs.iter().any(|program| program.0 == name);
        match object["reason"].as_str() {
            Some("compiler-artifact") if is_ours => {
                fates.insert(name.to_owned(), Fate::Compiles);
            }
            Some("compiler-message") => match Message::error_of(&object["message"]) {
                Some(message) if is_ours => {
                    let fate = fates.entry(name.to_owned()).or_insert(Fate::Refused(Vec::new()));
                    if let Fate::Refused(messages) = fate {
                        messages.push(message);
                    }
                }
                Some(message) => others += &format!("{}\n", message.rendered),
                None => {}
            },
            _ => {}
        }
    }
    // If a dependency doesn't compile, no program was looked at.
    if programs.iter().any(|(name, _)| !fates.contains_key(name)) {
        return Err(format!("cargo check did not get as far as the programs:\n{others}{}", said(output)));
    }
    Ok(fates)
}
