//! The message of each fault, in a sentence or two.

use super::format::{plural, size};
use super::subject::Words;
use super::sums::NAMED;
use crate::inspect::finding::Fault;

/// The description of a fault, and the reason for its cost.
pub(super) fn message(fault: &Fault, words: Words) -> String {
    let Words { table, column, piece, metadata: record } = words;
    match fault {
        Fault::NotClosed => {
            "The file was never closed, or is cut short: the listing comes from a scan, and the newest \
             entries are missing."
                .to_owned()
        }
        Fault::Unreadable { objects } => {
            let these = plural(*objects, "place");
            format!(
                "{these} of the file cannot be read, or contradict the rest of the file: see `skipped`. `basketry \
             recover` scans the records."
            )
        }
        Fault::TinyBaskets { branches, baskets, enough, mean_bytes } => format!(
            "{} of {} hold {} on average before compression, where {enough} would be enough. Each costs its key, \
             its entry in the tree's record and a start of the codec.",
            plural(*baskets, "basket"),
            plural(*branches, "branch"),
            size(*mean_bytes)
        ),
        Fault::TinyPages { columns, pages, enough, mean_bytes } => format!(
            "{} of {} hold {} on average before compression, where {enough} would be enough. Each costs its entry in a \
             page list, a checksum and a start of the codec.",
            plural(*pages, "page"),
            plural(*columns, "column"),
            size(*mean_bytes)
        ),
        Fault::TinyClusterGroups { groups, clusters, mean_bytes } => format!(
            "{} for {}, of {} each: a reader fetches a page list for each group. Programs that extend an RNTuple in \
             small steps write such files.",
            plural(*groups, "cluster group"),
            plural(*clusters, "cluster"),
            size(*mean_bytes)
        ),
        Fault::LargePageLists { bytes, raw_bytes, data, pages } => format!(
            "The page lists have {} ({} before compression) for {} with {} of data. Every reader of any field reads them.",
            size(*bytes),
            size(*raw_bytes),
            plural(*pages, "page"),
            size(*data)
        ),
        Fault::NoChecksums { pages, without } => format!(
            "{without} of {} have no checksum: damage on disk or in transfer may go unnoticed.",
            plural(*pages, "page")
        ),
        Fault::SmallClusters { clusters, mean_bytes } => format!(
            "{} of {} each: every {column} has a {piece} in each cluster, so {piece}s are small, and so are the units \
             of work of threads.",
            plural(*clusters, "cluster"),
            size(*mean_bytes)
        ),
        Fault::HugeClusters { largest_bytes, read_memory } => format!(
            "The largest cluster has {}: a job that reads it whole needs {} of memory.",
            size(*largest_bytes),
            size(*read_memory)
        ),
        Fault::MisalignedClusters { crossing, baskets } => format!(
            "{crossing} of {} cross the start of a cluster: jobs and threads that share the tree by clusters \
             fetch and decompress them twice.",
            plural(*baskets, "basket")
        ),
        Fault::ClustersNotRecorded { .. } => {
            "The tree does not record its clusters, and its branches do not begin baskets at the same entries: \
             parallel readers decompress baskets twice."
                .to_owned()
        }
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
            "{} with some basket more than ten times the median: {worst} has {}, and its median is {}. Readers \
             and writers hold memory for the largest.",
            plural(*branches, "branch"),
            size(*max),
            size(*median)
        ),
        Fault::Incompressible { branches, largest, tot_bytes, zip_bytes } => {
            let named: Vec<&str> = largest.iter().take(NAMED).map(String::as_str).collect();
            let rest = branches - named.len() as u64;
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!(
                "{}{more} {} compressed without becoming smaller ({} to {}): compression and decompression cost time for nothing.",
                named.join(", "),
                if *branches == 1 { "is" } else { "are" },
                size(*tot_bytes),
                size(*zip_bytes)
            )
        }
        Fault::HeavyCodec { codec, branches, tot_bytes, share, better, size: becomes } => format!(
            "Reading is mostly decompression: {} with {} before compression ({:.0}% of the {table} on disk) in {codec}. \
             {better} decompresses several times faster; a sample became {becomes:.2} times as large.",
            plural(*branches, column),
            size(*tot_bytes),
            100.0 * share
        ),
        Fault::CodecsByBranch { decompress, better } => format!(
            "Reading is mostly decompression, about {:.0} ms of it. With a codec for each branch it would be \
             about {:.0} ms, by a sample, and the file no larger.",
            1000.0 * decompress,
            1000.0 * better
        ),
        Fault::SlowDecoding { branches, largest, tot_bytes, share } => {
            let rest = branches - largest.len() as u64;
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!(
                "{}{more} {} objects that are not split, {} before compression: decoding them one by one is about {:.0}% \
                 of the time to read the tree. Branches of their members decode faster, and can be read alone.",
                largest.join(", "),
                if *branches == 1 { "holds" } else { "hold" },
                size(*tot_bytes),
                100.0 * share
            )
        }
        Fault::Uncompressed { zip_bytes, compressible_to, better } => format!(
            "{} are not compressed; a sample shrank to {:.0}% with {better}.",
            size(*zip_bytes),
            100.0 * compressible_to
        ),
        Fault::UncompressedRecord { bytes, compressible_to } => format!(
            "The tree's own record has {} that are not compressed; a sample shrank to {:.0}%. It is read whenever the \
             tree is opened.",
            size(*bytes),
            100.0 * compressible_to
        ),
        Fault::HugeBaskets { branches, median } => format!(
            "{} with baskets of up to {} before compression, where 256 kB would be enough: a reader of a few \
             entries decompresses many others.",
            plural(*branches, "branch"),
            size(*median)
        ),
        Fault::MissingFile { branches, missing } => format!(
            "The baskets of {} are in another file, {missing}, which is missing: put it beside this file.",
            branches.join(", ")
        ),
        Fault::EntriesMissing { entries, held } => format!(
            "The tree counts {entries} entries, its branches hold {held}: the count is damaged, or baskets are lost. \
             `basketry recover` takes what is there."
        ),
        Fault::ShortBranches { entries, branches, examples } => format!(
            "{} fewer than the tree's {entries} entries ({}): ROOT repeats old values for the others. A merge fills \
             them in with zeros and empty values.",
            have(*branches),
            examples.join(", ")
        ),
        Fault::LongBranches { entries, branches, examples } => format!(
            "{} more than the tree's {entries} entries ({}): no reader of the tree sees them.",
            have(*branches),
            examples.join(", ")
        ),
        Fault::MetadataLargerThanData { metadata, data, branches } => format!(
            "{record} {} for {}, its data only {}: opening it costs more than reading it. Merge \
             similar files, or drop what is not used.",
            size(*metadata),
            plural(*branches, column),
            size(*data)
        ),
        Fault::CounterOutOfRange { leaf, maximum, at_least } => format!(
            "Leaf {leaf} has a maximum count of {maximum}, but some entry has at least {at_least}: programs that \
             allocate arrays by the maximum write beyond them."
        ),
        Fault::EmbeddedBaskets { baskets, bytes } => format!(
            "{} with {} are in the tree's own record and are read each time the tree is opened.",
            plural(*baskets, "basket"),
            size(*bytes)
        ),
        Fault::OldCycles { cycles, bytes } => format!(
            "{} of trees take {}: they are left by AutoSave or by a crash, and nothing reads them.",
            plural(*cycles, "older cycle"),
            size(*bytes)
        ),
        Fault::FreeGaps { gaps, bytes } => {
            format!("{} in {} belong to no record.", size(*bytes), plural(*gaps, "gap"))
        }
    }
}

/// A number of branches that have something.
fn have(branches: u64) -> String {
    format!("{} {}", plural(branches, "branch"), if branches == 1 { "has" } else { "have" })
}
