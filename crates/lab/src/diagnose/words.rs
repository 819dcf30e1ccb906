//! Says a fault in a sentence or two, and writes the command that mends it.

use std::borrow::Cow;
use std::fmt::Write;

use dataset::layout::ByteSize;

use super::cost::Cost;
use super::rules::{GOOD_BASKET, GOOD_CLUSTER};
use super::{Fault, Finding};
use crate::inspect::report::{Report, TreeReport};

/// What mends a fault.
enum Mend {
    /// Nothing that basketry does.
    Nothing,
    /// Any rewrite.
    Rewrite,
    /// A rewrite with this setting for the tree.
    Tree(&'static str, String),
    /// A rewrite with this setting for some branches.
    Columns(Vec<String>, &'static str, String),
}

/// Puts a finding together.
pub fn finding(report: &Report, tree: Option<&TreeReport>, fault: Fault, cost: Cost) -> Finding {
    let text = text(&fault);
    let command = command(report, tree, mend(&fault));
    Finding { fault, tree: tree.map(|tree| tree.path.clone()), cost, text, command }
}

fn mend(fault: &Fault) -> Mend {
    match fault {
        Fault::NotClosed
        | Fault::FreeGaps { .. }
        | Fault::OldCycles { .. }
        | Fault::EmbeddedBaskets { .. }
        | Fault::CounterOutOfRange { .. } => Mend::Rewrite,
        Fault::Unreadable { .. } | Fault::MetadataLargerThanData { .. } | Fault::SlowDecoding { .. } => Mend::Nothing,
        Fault::TinyBaskets { .. } | Fault::UnevenBaskets { .. } => {
            Mend::Tree("basket", ByteSize(GOOD_BASKET).to_string())
        }
        Fault::SmallClusters { .. }
        | Fault::HugeClusters { .. }
        | Fault::ClustersNotRecorded { .. }
        | Fault::MisalignedClusters { .. } => Mend::Tree("cluster", ByteSize(GOOD_CLUSTER).to_string()),
        Fault::OversizedBuffers { .. } => Mend::Tree("memory-ratio", "1.1".to_owned()),
        Fault::Incompressible { largest, .. } => Mend::Columns(largest.clone(), "compression", "none".to_owned()),
        Fault::HeavyCodec { .. } => Mend::Tree("compression", "zstd:5".to_owned()),
        Fault::Uncompressed { .. } => Mend::Tree("compression", "zstd:1".to_owned()),
    }
}

fn command(report: &Report, tree: Option<&TreeReport>, mend: Mend) -> Option<String> {
    let options = match (mend, tree) {
        (Mend::Nothing, _) => return None,
        (Mend::Rewrite, _) => String::new(),
        // One tree needs no name.
        (Mend::Tree(key, value), Some(tree)) if report.newest().count() > 1 => {
            format!(" --tree-set {} {key}={value}", quoted(&tree.path))
        }
        (Mend::Tree(key, value), _) => format!(" --{key} {value}"),
        (Mend::Columns(branches, key, value), _) => {
            branches.iter().map(|branch| format!(" --column-set {} {key}={value}", quoted(branch))).collect()
        }
    };
    Some(format!("basketry rewrite {} -o OUT.root{options}", quoted(&report.file.path)))
}

/// A word as a shell reads it as one.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    // Only a NUL cannot be quoted, which no path has.
    shlex::Quoter::new().allow_nul(true).quote(word).unwrap_or(Cow::Borrowed(word))
}

fn text(fault: &Fault) -> String {
    match fault {
        Fault::NotClosed => "The file was never closed, or is cut short: what is listed was found by scanning, and the \
                             newest entries are missing."
            .to_owned(),
        Fault::Unreadable { objects } => {
            format!("{} could not be read; see what was skipped.", many(*objects, "object"))
        }
        Fault::TinyBaskets { branches, baskets, enough, mean_bytes } => format!(
            "{} of {} hold {} on average before compression, where {enough} would do. Each costs its key, its entry in \
             the tree's record and a start of the codec.",
            many(*baskets, "basket"),
            many(*branches, "branch"),
            size(*mean_bytes)
        ),
        Fault::SmallClusters { clusters, mean_bytes } => format!(
            "{} of {} each: every branch needs a basket in each, so baskets are small, and so are the pieces that are \
             read and shared out among threads.",
            many(*clusters, "cluster"),
            size(*mean_bytes)
        ),
        Fault::HugeClusters { largest_bytes, read_memory } => format!(
            "The largest cluster has {}: a job that reads it as a whole needs {} of memory.",
            size(*largest_bytes),
            size(*read_memory)
        ),
        Fault::MisalignedClusters { crossing, baskets } => format!(
            "{crossing} of {} cross the start of a cluster: jobs and threads that share the tree by clusters fetch and \
             unpack them twice.",
            many(*baskets, "basket")
        ),
        Fault::ClustersNotRecorded { .. } => "The tree does not say where clusters begin, and its branches do not begin \
                                              baskets together: it cannot be shared out without unpacking baskets twice."
            .to_owned(),
        Fault::OversizedBuffers { entries: entries @ 0..=1, buffers, used } => format!(
            "A tree of {} whose writer held {} of buffers for {} of data; merging many such files holds them all.",
            if *entries == 1 { "1 entry" } else { "no entries" },
            size(*buffers),
            size(*used)
        ),
        Fault::OversizedBuffers { buffers, used, .. } => format!(
            "Writers of this tree hold {} of buffers; the largest basket of each branch took {} in all.",
            size(*buffers),
            size(*used)
        ),
        Fault::UnevenBaskets { branches, worst, median, max } => format!(
            "{} with some basket more than ten times the usual: {worst} has {} where {} is usual. Readers and writers \
             hold memory for the largest.",
            many(*branches, "branch"),
            size(*max),
            size(*median)
        ),
        Fault::Incompressible { branches, largest, tot_bytes, zip_bytes } => {
            let rest = branches - largest.len() as u64;
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!(
                "{}{more} {} compressed but not smaller for it ({} to {}): the time to compress and to unpack is lost.",
                largest.join(", "),
                if *branches == 1 { "is" } else { "are" },
                size(*tot_bytes),
                size(*zip_bytes)
            )
        }
        Fault::HeavyCodec { codec, branches, tot_bytes, share } => format!(
            "{} with {} before compression ({:.0}% of the tree on disk) in {codec}, which unpacks many times slower \
             than zstd.",
            many(*branches, "branch"),
            size(*tot_bytes),
            100.0 * share
        ),
        Fault::SlowDecoding { branches, largest, tot_bytes, share } => {
            let rest = branches - largest.len() as u64;
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!(
                "{}{more} {} objects that are not split, {} before compression: decoding them one by one is about {:.0}% \
                 of the time to read the tree. Split branches, of which the members that are needed are read alone, decode \
                 several times faster; that is for the program that writes them.",
                largest.join(", "),
                if *branches == 1 { "holds" } else { "hold" },
                size(*tot_bytes),
                100.0 * share
            )
        }
        Fault::Uncompressed { zip_bytes, compressible_to } => format!(
            "{} are not compressed; a sample shrank to {:.0}% with zlib:1.",
            size(*zip_bytes),
            100.0 * compressible_to
        ),
        Fault::MetadataLargerThanData { metadata, data, branches } => format!(
            "The tree's own record has {} for {}, its data only {}: opening it costs more than reading it. Merge such \
             files, or drop branches.",
            size(*metadata),
            many(*branches, "branch"),
            size(*data)
        ),
        Fault::CounterOutOfRange { leaf, maximum, at_least } => format!(
            "Leaf {leaf} says that it counts {maximum} at most, but some entry has at least {at_least}: programs that \
             make their arrays that long write beyond them."
        ),
        Fault::EmbeddedBaskets { baskets, bytes } => format!(
            "{} with {} lie in the tree's own record and are read whenever it is opened.",
            many(*baskets, "basket"),
            size(*bytes)
        ),
        Fault::OldCycles { cycles, bytes } => format!(
            "{} of trees take {}: left by AutoSave or by a crash, and read by nobody.",
            many(*cycles, "older cycle"),
            size(*bytes)
        ),
        Fault::FreeGaps { gaps, bytes } => {
            format!("{} in {} belong to no record.", size(*bytes), many(*gaps, "gap"))
        }
    }
}

fn many(n: u64, what: &str) -> String {
    let mut text = format!("{n} {what}");
    if n != 1 {
        // `branch` is the only one that takes more.
        let _ = write!(text, "{}", if what.ends_with("ch") { "es" } else { "s" });
    }
    text
}

fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (super::cost::as_f64(bytes), "B");
    for next in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ if value < 9.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_numbers() {
        assert_eq!(many(1, "branch"), "1 branch");
        assert_eq!(many(2, "branch"), "2 branches");
        assert_eq!(many(0, "basket"), "0 baskets");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1500), "1.5 kB");
        assert_eq!(size(999_600), "1.0 MB");
    }

    #[test]
    fn shells_leave_words_alone() {
        assert_eq!(quoted("a/b-c.root"), "a/b-c.root");
        assert_eq!(quoted("fX[3]"), "'fX[3]'");
        assert_eq!(quoted("it's"), "\"it's\"");
    }
}
