//! How a job is watched.

use std::path::PathBuf;
use std::time::Duration;

/// How a job is watched.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file that samples go to: a ROOT file, Parquet, CSV or lines of JSON, by its extension.
    pub output: Option<PathBuf>,
    /// Whether a file of that name is replaced.
    pub overwrite: bool,
    /// Time between two samples.
    pub every: Duration,
    /// Whether proportional memory is sampled. The kernel visits all pages for it, so it is read less often.
    pub pss: bool,
    /// Files whose size is sampled.
    pub files: Vec<PathBuf>,
    /// Whether files that are open for writing are sampled, too.
    pub discover: bool,
}

impl Default for Options {
    fn default() -> Self {
        let every = Duration::from_millis(100);
        Self { output: None, overwrite: false, every, pss: false, files: Vec::new(), discover: true }
    }
}
