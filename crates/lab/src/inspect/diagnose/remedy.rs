//! The command that mends a fault: `basketry rewrite` with a setting, or `basketry tune`. The output is named after the input
//! and the fault, and is never the input.

use dataset::layout::ByteSize;
use dataset::ntuple::is_ntuple;

use super::baskets::{GOOD_BASKET, SMALLER_BASKET, good_cluster, has_small_buffers};
use super::codecs::MOST_SET;
use super::subject::Subject;
use super::sums::{absent, sizes};
use crate::inspect::finding::Fault;
use crate::inspect::report::{Report, TreeReport};
use crate::system::shell::{output, pasted, pasted_pattern};

/// The remedy of a fault.
enum Remedy {
    /// No command of basketry.
    Nothing,
    /// A rewrite without settings.
    Rewrite,
    /// A rewrite with these settings for the tree.
    Tree(Vec<(&'static str, String)>),
    /// The layout that `tune` chooses.
    Tune,
    /// A rewrite with this setting for some branches.
    Columns(Vec<String>, &'static str, String),
}

/// The remedy, and a word for it in the output's name.
fn remedy(fault: &Fault, tree: Option<&TreeReport>) -> (Remedy, &'static str) {
    match fault {
        Fault::NotClosed => (Remedy::Rewrite, "closed"),
        Fault::FreeGaps { .. }
        | Fault::OldCycles { .. }
        | Fault::EmbeddedBaskets { .. }
        | Fault::UncompressedRecord { .. }
        | Fault::CounterOutOfRange { .. } => (Remedy::Rewrite, "rewritten"),
        Fault::Unreadable { .. }
        | Fault::MissingFile { .. }
        | Fault::EntriesMissing { .. }
        | Fault::ShortBranches { .. }
        | Fault::LongBranches { .. }
        | Fault::MetadataLargerThanData { .. }
        | Fault::TinyPages { .. }
        | Fault::TinyClusterGroups { .. }
        | Fault::LargePageLists { .. }
        | Fault::NoChecksums { .. } => (Remedy::Nothing, ""),
        Fault::TinyBaskets { .. } | Fault::UnevenBaskets { .. } => {
            (Remedy::Tree(vec![("basket", ByteSize(GOOD_BASKET).to_string())]), "baskets")
        }
        Fault::HugeBaskets { .. } => (Remedy::Tree(vec![("basket", ByteSize(SMALLER_BASKET).to_string())]), "baskets"),
        Fault::SmallClusters { .. }
        | Fault::HugeClusters { .. }
        | Fault::ClustersNotRecorded { .. }
        | Fault::MisalignedClusters { .. } => {
            let mut settings = vec![("cluster", ByteSize(good_cluster(tree.map_or((0, 0), sizes))).to_string())];
            // Writers shrink buffers to the contents of small clusters.
            if matches!(fault, Fault::SmallClusters { .. }) && tree.is_some_and(has_small_buffers) {
                settings.push(("basket", ByteSize(GOOD_BASKET).to_string()));
            }
            (Remedy::Tree(settings), "clusters")
        }
        Fault::OversizedBuffers { .. } => (Remedy::Tree(vec![("memory-ratio", "1.1".to_owned())]), "buffers"),
        Fault::Incompressible { branches, .. } if *branches > MOST_SET as u64 => (Remedy::Nothing, ""),
        Fault::Incompressible { largest, .. } => {
            (Remedy::Columns(largest.clone(), "compression", "none".to_owned()), "stored")
        }
        Fault::SlowDecoding { .. } => (Remedy::Tree(vec![("split-level", "99".to_owned())]), "split"),
        Fault::CodecsByBranch { .. } => (Remedy::Tune, "tuned"),
        Fault::HeavyCodec { better, .. } | Fault::Uncompressed { better, .. } => {
            (Remedy::Tree(vec![("compression", better.clone())]), "compressed")
        }
    }
}

/// The command that fixes a fault, if there is one.
pub(super) fn command(report: &Report, subject: Subject<'_>, fault: &Fault) -> Option<String> {
    // A rewrite refuses files with RNTuples that cannot be read.
    if report.skipped.iter().any(|line| is_ntuple(&line.class)) {
        return None;
    }
    let (remedy, word) = match subject {
        Subject::File => remedy(fault, None),
        Subject::Tree(tree) => remedy(fault, Some(tree)),
        // Only the codec of pages can be changed: clusters and pages keep their entries.
        Subject::Ntuple(_) if !matches!(fault, Fault::HeavyCodec { .. } | Fault::Uncompressed { .. }) => return None,
        Subject::Ntuple(_) => remedy(fault, None),
    };
    let verb = if matches!(remedy, Remedy::Tune) { "tune" } else { "rewrite" };
    // One tree needs no name.
    let named = subject.path().filter(|_| report.file.trees + report.file.ntuples > 1);
    let mut options: String = match (remedy, named) {
        (Remedy::Nothing, _) => return None,
        // Of FILE:TREE only that tree would be kept.
        (Remedy::Rewrite | Remedy::Tune, _) => String::new(),
        (Remedy::Tree(settings), Some(path)) => {
            let set = |(key, value): &(_, String)| format!(" --tree-set {} {key}={value}", pasted_pattern(path));
            settings.iter().map(set).collect()
        }
        (Remedy::Tree(settings), None) => settings.iter().map(|(key, value)| format!(" --{key} {value}")).collect(),
        (Remedy::Columns(branches, key, value), _) => {
            branches.iter().map(|branch| format!(" --column-set {} {key}={value}", pasted_pattern(branch))).collect()
        }
    };
    // A rewrite refuses branches whose file is not there.
    let mut without: Vec<&str> = report.newest().flat_map(absent).map(|branch| branch.name.as_str()).collect();
    without.dedup();
    options.extend(without.into_iter().map(|branch| format!(" --drop {}", pasted_pattern(branch))));
    let input = &report.file.path;
    Some(format!("basketry {verb} {} -o {}{options}", pasted(input), pasted(&output(input, word))))
}
