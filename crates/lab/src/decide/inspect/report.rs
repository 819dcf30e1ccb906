//! The report of `inspect` as plain values: the JSON schema, version 1. `docs/inspect-schema.md` describes it. Within a
//! version fields may be added; no field changes its meaning or disappears.

pub use dataset::parquet::{ParquetColumnFacts, ParquetFacts};
use serde::{Deserialize, Serialize};

pub use super::contents::{
    BasketReport, BasketSummary, BranchReport, ClustersKnown, EmbeddedReport, FileReport, LeafReport, ObjectReport,
    Pair, Probed, Skipped, TreeReport,
};
use super::diagnose::faults::Fault;
use super::fault_cost::{Cost, Pays, Price};
use super::ntuple::report::NtupleReport;
pub use super::values::{Decoded, Memory, Mixed, ReadTime, Sizes, Spread, Trial};

/// Version of the schema.
pub const SCHEMA: u32 = 1;

/// The report on a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Version of this structure.
    pub schema: u32,
    /// The file itself.
    pub file: FileReport,
    /// Its trees, every cycle of them.
    pub trees: Vec<TreeReport>,
    /// Its RNTuples, every cycle of them.
    #[serde(default)]
    pub ntuples: Vec<NtupleReport>,
    /// The table of a Parquet file. Of such a file only this, `path` and `bytes` are told, and no faults are looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parquet: Option<ParquetFacts>,
    /// Everything else that has a key, directories left out.
    pub objects: Vec<ObjectReport>,
    /// Unreadable parts.
    pub skipped: Vec<Skipped>,
    /// The findings, worst first.
    pub findings: Vec<Finding>,
    /// What each tree would take as an RNTuple and each RNTuple as a tree, the newest cycles; empty where it was not tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Moved>,
}

/// A fault that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The fault, with its numbers.
    #[serde(flatten)]
    pub fault: Fault,
    /// Path of the tree or RNTuple, unless the file as a whole is meant.
    pub tree: Option<String>,
    /// Paths of other tables that have the same fault: where these are many they are told as one, with cost, command and price of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Its cost.
    pub cost: Cost,
    /// Its description, in a sentence or two.
    pub text: String,
    /// The command that fixes it, if there is one: only one that a trial showed to mend it, where remedies were tried.
    pub command: Option<String>,
    /// Expected bytes of the file after the command, by a trial; absent where it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_bytes: Option<u64>,
    /// The program that pays for it.
    #[serde(default)]
    pub pays: Pays,
    /// The estimated price of the command, if there is one.
    #[serde(default)]
    pub price: Option<Price>,
}

/// The other container of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherContainer {
    /// An RNTuple, for a tree.
    #[default]
    Rntuple,
    /// A tree, for an RNTuple.
    Ttree,
}

/// What a table would take in the other container, by a trial of all of it or of samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    /// Path of the tree or RNTuple.
    pub path: String,
    /// The other container.
    pub container: OtherContainer,
    /// Bytes on disk now, with its metadata.
    pub bytes_now: u64,
    /// Expected bytes on disk, with its metadata.
    pub bytes: u64,
    /// The expected bytes are wrong by more than this in one case of twenty, as far as the samples tell.
    pub uncertainty: u64,
    /// Why it cannot be moved; empty where it can.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub refused: String,
}

impl Report {
    /// The newest cycle of each tree.
    pub fn newest(&self) -> impl Iterator<Item = &TreeReport> {
        self.trees.iter().filter(|tree| tree.newest)
    }

    /// Leaves out the list of every basket and page.
    pub fn forget_pieces(&mut self) {
        self.trees.iter_mut().flat_map(|tree| &mut tree.branches).for_each(|branch| branch.baskets = None);
        let fields = self.ntuples.iter_mut().flat_map(|ntuple| &mut ntuple.fields);
        fields.flat_map(|field| &mut field.columns).for_each(|column| column.page_list = None);
    }

    /// The newest cycle of each RNTuple.
    pub fn newest_ntuples(&self) -> impl Iterator<Item = &NtupleReport> {
        self.ntuples.iter().filter(|ntuple| ntuple.newest)
    }
}
