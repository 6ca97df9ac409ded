//! What ranks that work together may get wrong while running.

use core::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of what ranks do together.
pub type Result<T> = core::result::Result<T, Error>;

/// An error of ranks that work together. Texts name the rank, the operation, its sizes and its line.
///
/// ```
/// use castiron_mesh::{Error, mesh, simulate};
/// mesh! { Ranks: Data }
/// let all = simulate::<Ranks, _>(2, &[2], |mesh| {
///     let text = mesh.alone_on(1, || "many").unwrap_or("12");
///     mesh.agree(text.parse::<u8>())
/// });
/// let error = Error::Rank { rank: 1, text: "invalid digit found in string".to_owned() };
/// assert_eq!(all, [Err(error.clone()), Err(error)]);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// An error of a tensor of this rank.
    Tensor(castiron::Error),
    /// The sizes of a mesh do not fit the number of ranks, or there is a mesh already.
    Mesh(String),
    /// Lengths, counts or dtypes that no operation can have; found before anything was sent.
    Arguments(String),
    /// MPI was not found, or reports an error.
    Mpi(String),
    /// The ranks are about to do different things.
    Mismatch(String),
    /// Other ranks did not come in time.
    Late(String),
    /// A rank can't read or write a file: the same error on all ranks.
    Io {
        /// The rank.
        rank: usize,
        /// The file.
        path: PathBuf,
        /// What its operating system says.
        source: IoError,
    },
    /// A rank has failed: its number among all, and what it says.
    Rank {
        /// The rank.
        rank: usize,
        /// Its error.
        text: String,
    },
}

/// An error of files: [`std::io::Error`], to be cloned and compared. Those of the same kind and text are equal.
///
/// ```
/// use castiron_mesh::IoError;
/// let error = IoError::from(std::io::Error::from(std::io::ErrorKind::NotFound));
/// assert_eq!((error.kind(), error.clone()), (std::io::ErrorKind::NotFound, error));
/// ```
#[derive(Clone, Debug)]
pub struct IoError(Arc<io::Error>);

impl From<io::Error> for IoError {
    fn from(error: io::Error) -> Self {
        IoError(Arc::new(error))
    }
}
impl core::ops::Deref for IoError {
    type Target = io::Error;
    fn deref(&self) -> &io::Error {
        &self.0
    }
}
impl PartialEq for IoError {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.to_string() == other.to_string()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Tensor(error) => error.fmt(f),
            Error::Rank { rank, text } => write!(f, "rank {rank}: {text}"),
            Error::Io { rank, path, source } => write!(f, "rank {rank}: {}: {}", path.display(), source.0),
            Error::Mesh(text)
            | Error::Arguments(text)
            | Error::Mpi(text)
            | Error::Mismatch(text)
            | Error::Late(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Tensor(error) => Some(error),
            Error::Io { source, .. } => Some(&*source.0),
            _ => None,
        }
    }
}

impl From<castiron::Error> for Error {
    fn from(error: castiron::Error) -> Self {
        Error::Tensor(error)
    }
}
