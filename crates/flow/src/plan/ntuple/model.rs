//! The plan of an RNTuple. Nothing is computed here.

use std::path::PathBuf;

use dataset::ntuple::model::Ntuple;
use rootfile::{Error, Result};

use crate::execute::engine::ntuple::job::PageJob;

/// The plan of an RNTuple.
pub(crate) struct NtuplePlan {
    /// The metadata of the output. Groups and positions are those of no file.
    pub ntuple: Ntuple,
    /// Its pages.
    pub job: PageJob,
    /// Its attribute sets, in order.
    pub attributes: Vec<AttributePlan>,
    /// The title of its key.
    pub title: String,
    /// Entries of all inputs.
    pub input_entries: u64,
    /// What the inputs have.
    pub totals: Totals,
    /// Notes.
    pub notes: Vec<String>,
    /// Notes on what is not carried over.
    pub lost: Vec<String>,
    /// Requested keys of the layout that are for trees only.
    pub ignored: Vec<&'static str>,
    /// The input with elements that are not stored and that only decoding can count: the job cannot run, a conversion can.
    pub uncounted: Option<PathBuf>,
    /// Memory of metadata while the job runs, in bytes.
    pub metadata: u64,
    /// Largest buffers that one thread needs, in bytes.
    pub scratch: u64,
}

impl NtuplePlan {
    /// Refuses a job that cannot run, where nothing can be converted.
    pub fn check_counted(&self, path: &str) -> Result<()> {
        let Some(file) = &self.uncounted else { return Ok(()) };
        let what = format!(
            "RNTuple {path}: has fields that were added below collections (format feature 0); it can only be copied whole"
        );
        Err(Error::unsupported(what).file(file))
    }
}

/// The plan of an attribute set.
pub(crate) struct AttributePlan {
    /// Its name.
    pub name: String,
    /// The version of its schema: major, minor.
    pub schema_version: (u16, u16),
    /// Its content.
    pub plan: NtuplePlan,
}

/// What page lists add up to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Clusters.
    pub clusters: u64,
    /// Bytes of pages on disk.
    pub zip_bytes: u64,
    /// Bytes of the largest page on disk.
    pub largest: u64,
    /// Bytes of the largest page before compression.
    pub largest_raw: u64,
    /// Most bytes of memory for the proof of a cluster.
    pub largest_proved: u64,
    /// Bytes of the largest page list.
    pub largest_list: u64,
    /// Bytes of all page lists.
    pub lists: u64,
    /// Bytes of memory for a cluster of which some entries are kept, besides its pages.
    pub sliced: u64,
    /// The largest number of pages in a cluster.
    pub pages: u64,
}
