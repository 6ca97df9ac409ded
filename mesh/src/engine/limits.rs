//! What environment variables say.

use core::time::Duration;

/// How long ranks wait for each other, and whether they compare what they do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// `CASTIRON_MESH_SECONDS`, 300 by default.
    pub wait: Duration,
    /// `CASTIRON_MESH_COMPARE`.
    pub compare: bool,
    /// How many bytes one call of a library takes: `CASTIRON_MESH_PIECE`, for tests of more; 1 GiB.
    pub piece: usize,
}

impl Limits {
    pub(crate) fn read() -> Self {
        let seconds = std::env::var("CASTIRON_MESH_SECONDS").ok().and_then(|text| text.trim().parse::<f64>().ok());
        let wait = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let compare = std::env::var("CASTIRON_MESH_COMPARE").is_ok_and(|text| !matches!(&*text, "" | "0"));
        let piece =
            std::env::var("CASTIRON_MESH_PIECE").ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1 << 30);
        Limits { wait: wait.unwrap_or(Duration::from_secs(300)), compare, piece }
    }
}
