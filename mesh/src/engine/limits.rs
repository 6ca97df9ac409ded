//! What environment variables say.

use crate::error::{Error, Result};
use core::str::FromStr;
use core::time::Duration;

/// How long ranks wait for each other, and whether they compare what they do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// `CASTIRON_MESH_SECONDS`, 300 by default.
    pub wait: Duration,
    /// `CASTIRON_MESH_COMPARE`.
    pub compare: bool,
    /// How many bytes one call of a library takes: `CASTIRON_MESH_PIECE`, for tests of more; 1 GiB by default.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub piece: usize,
}

impl Limits {
    pub(crate) fn read() -> Result<Self> {
        let seconds = number("CASTIRON_MESH_SECONDS", 300.0)?;
        let wait = Duration::try_from_secs_f64(seconds).ok().filter(|wait| !wait.is_zero());
        let wait =
            wait.ok_or_else(|| Error::Mesh(format!("CASTIRON_MESH_SECONDS is {seconds}: nobody can wait so long")))?;
        let compare = std::env::var("CASTIRON_MESH_COMPARE").is_ok_and(|text| !matches!(&*text, "" | "0"));
        Ok(Limits { wait, compare, piece: number("CASTIRON_MESH_PIECE", 1 << 30)? })
    }
}

/// A variable's number.
fn number<T: FromStr>(name: &str, otherwise: T) -> Result<T> {
    match std::env::var(name) {
        Ok(text) => text.trim().parse().map_err(|_| Error::Mesh(format!("{name} is `{text}`, which is no number"))),
        Err(_) => Ok(otherwise),
    }
}
