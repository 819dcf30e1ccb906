//! The known faults. Each is a file: its numbers, how it is detected, its cost, its sentence, its remedy, and its test. A new one is a
//! file more and a name in the list below; [`super::rule`] says what it has to have.

mod clusters_not_recorded;
mod codecs_by_branch;
mod counter_out_of_range;
mod embedded_baskets;
mod entries_missing;
mod free_gaps;
mod heavy_codec;
mod huge_baskets;
mod huge_clusters;
mod incompressible;
mod large_page_lists;
mod long_branches;
mod metadata_larger_than_data;
mod misaligned_clusters;
mod missing_file;
mod no_checksums;
mod not_closed;
mod old_cycles;
mod oversized_buffers;
mod short_branches;
mod slow_decoding;
mod small_clusters;
mod tiny_baskets;
mod tiny_cluster_groups;
mod tiny_pages;
mod uncompressed;
mod uncompressed_record;
mod uneven_baskets;
mod unreadable;

use serde::{Deserialize, Serialize};

use super::remedy::Remedy;
use super::rule::{Detected, Rule};
use super::subject::{Diagnosed, Words};
pub use clusters_not_recorded::ClustersNotRecorded;
pub use codecs_by_branch::CodecsByBranch;
pub use counter_out_of_range::CounterOutOfRange;
pub use embedded_baskets::EmbeddedBaskets;
pub use entries_missing::EntriesMissing;
pub use free_gaps::FreeGaps;
pub use heavy_codec::HeavyCodec;
pub use huge_baskets::HugeBaskets;
pub use huge_clusters::HugeClusters;
pub use incompressible::Incompressible;
pub use large_page_lists::LargePageLists;
pub use long_branches::LongBranches;
pub use metadata_larger_than_data::MetadataLargerThanData;
pub use misaligned_clusters::MisalignedClusters;
pub use missing_file::MissingFile;
pub use no_checksums::NoChecksums;
pub use not_closed::NotClosed;
pub use old_cycles::OldCycles;
pub use oversized_buffers::OversizedBuffers;
pub use short_branches::ShortBranches;
pub use slow_decoding::SlowDecoding;
pub use small_clusters::SmallClusters;
pub use tiny_baskets::TinyBaskets;
pub use tiny_cluster_groups::TinyClusterGroups;
pub use tiny_pages::TinyPages;
pub use uncompressed::Uncompressed;
pub use uncompressed_record::UncompressedRecord;
pub use uneven_baskets::UnevenBaskets;
pub use unreadable::Unreadable;

/// Makes of the kinds of faults the enum of all of them, and what they have in common.
macro_rules! faults {
    ($($name:ident),* $(,)?) => {
        /// The known faults.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "fault", rename_all = "snake_case")]
        pub enum Fault {
            $(#[doc = concat!("`", stringify!($name), "`, in a file of its own.")] $name($name),)*
        }

        $(impl From<$name> for Fault {
            fn from(fault: $name) -> Self {
                Self::$name(fault)
            }
        })*

        /// The faults of what is looked at.
        pub(super) fn detect(at: &Diagnosed<'_>) -> Vec<Detected<Fault>> {
            let mut found = Vec::new();
            $(found.extend($name::find_all(at).into_iter().map(Detected::into_any));)*
            found
        }

        impl Fault {
            /// Its description, and the reason for its cost.
            pub(super) fn sentence(&self, words: Words) -> String {
                match self { $(Self::$name(fault) => fault.sentence(words),)* }
            }

            /// What should mend it, the best first.
            pub(super) fn remedies(&self, at: &Diagnosed<'_>) -> Vec<Remedy> {
                match self {
                    $(Self::$name(fault) => fault.remedy(at).into_iter().chain(fault.others(at)).collect(),)*
                }
            }
        }
    };
}

// In this order they are detected; findings of equal weight stay in it.
faults! {
    NotClosed,
    Unreadable,
    FreeGaps,
    OldCycles,
    TinyBaskets,
    TinyPages,
    HugeBaskets,
    ClustersNotRecorded,
    HugeClusters,
    SmallClusters,
    MisalignedClusters,
    OversizedBuffers,
    UnevenBaskets,
    Incompressible,
    HeavyCodec,
    CodecsByBranch,
    SlowDecoding,
    Uncompressed,
    TinyClusterGroups,
    LargePageLists,
    UncompressedRecord,
    MetadataLargerThanData,
    NoChecksums,
    EmbeddedBaskets,
    CounterOutOfRange,
    MissingFile,
    EntriesMissing,
    ShortBranches,
    LongBranches,
}
