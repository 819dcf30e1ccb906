//! Faults of RNTuples. Rules that trees have as well see columns as branches and pages as baskets ([`facts`]).

use rootfile::codec::Algorithm;

use super::detected::Detected;
use super::speeds::{self, Overhead};
use super::sums::BYTES;
use super::{baskets, codecs};
use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::finding::{Cost, Fault};
use crate::inspect::ntuple::report::{Checksums, ColumnReport, FieldReport, NtupleReport};
use crate::inspect::report::{BasketSummary, BranchReport, ReadTime, TreeReport};
use crate::inspect::values::Decoded;
use crate::math::as_f64;

/// Fewer cluster groups are not reported.
const GROUPS: u64 = 20;
/// Groups with more bytes on disk are not tiny.
const TINY_GROUP: u64 = 1_000_000;
/// Bytes on disk of a group that are no page list: two keys, the frame of the envelope, and a record in the footer.
const GROUP_BYTES: u64 = 130;
/// Page lists with fewer bytes before compression are not reported.
const LARGE_LISTS: u64 = 1_000_000;
/// They are reported if they have more than this part of the bytes of the pages.
const LISTS_SHARE: u64 = 20;

/// An RNTuple as the rules of trees see it, with its estimated reading time.
pub(crate) fn facts(ntuple: &NtupleReport) -> TreeReport {
    let mut branches = Vec::new();
    let mut decoded = None;
    for field in &ntuple.fields {
        // Fields below come behind the field at the top, which knows how they are decoded.
        decoded = field.decoded.or(decoded);
        branches.extend(field.columns.iter().map(|column| branch(field, column, decoded)));
    }
    let mut facts = TreeReport {
        path: ntuple.path.clone(),
        newest: ntuple.newest,
        entries: ntuple.entries,
        tot_bytes: ntuple.tot_bytes,
        zip_bytes: ntuple.zip_bytes,
        clusters: ntuple.clusters.clone(),
        largest_cluster: ntuple.largest_cluster,
        baskets: ntuple.pages - ntuple.shared_pages,
        metadata: ntuple.metadata,
        trials: ntuple.trials.clone(),
        mixed: ntuple.mixed,
        memory: ntuple.memory,
        branches,
        ..TreeReport::default()
    };
    facts.read_time = ReadTime { open: open(ntuple), ..codecs::read_time(&facts, 0) };
    facts
}

fn branch(field: &FieldReport, column: &ColumnReport, decoded: Option<Decoded>) -> BranchReport {
    let setting = column.compression.iter().max_by_key(|(_, pages)| **pages).map_or(0, |(setting, _)| *setting);
    BranchReport {
        name: field.path.clone(),
        compression: i32::try_from(setting).unwrap_or(0),
        entries: column.elements,
        tot_bytes: column.tot_bytes,
        zip_bytes: column.zip_bytes,
        basket_summary: BasketSummary {
            count: column.pages - column.shared_pages,
            disk: column.disk,
            raw: column.raw,
            ..BasketSummary::default()
        },
        codecs: column.codecs.clone(),
        decoded,
        ..BranchReport::default()
    }
}

/// Seconds to open an RNTuple and to read all of its page lists.
fn open(ntuple: &NtupleReport) -> f64 {
    let unpack = |part: crate::inspect::values::Sizes, blocks: u64| {
        let codec = (part.bytes < part.raw_bytes).then_some(Algorithm::Zstd);
        let unpack = CodecSpeeds::of(codec).reading.seconds(part.raw_bytes, part.bytes, blocks);
        unpack + as_f64(part.raw_bytes) * speeds::METADATA_BYTE
    };
    unpack(ntuple.header, 1)
        + unpack(ntuple.footer, 1)
        + unpack(ntuple.page_lists, ntuple.cluster_groups)
        + as_f64(ntuple.fields.len() as u64) * speeds::FIELD
        + as_f64(ntuple.cluster_groups) * speeds::GROUP
}

/// What a page costs beside its content.
fn overhead(ntuple: &NtupleReport) -> Overhead {
    let pages = ntuple.pages.max(1);
    Overhead { bytes: (ntuple.page_lists.bytes + 8 * ntuple.checked_pages) / pages, seconds: speeds::PAGE }
}

/// Faults of one RNTuple.
pub(super) fn ntuple(ntuple: &NtupleReport) -> Vec<Detected> {
    let facts = facts(ntuple);
    let found = [
        baskets::tiny(&facts, overhead(ntuple)).map(as_pages),
        baskets::clusters(&facts, 0, overhead(ntuple)),
        codecs::heavy(&facts, 0),
        codecs::uncompressed(&facts, 0),
        groups(ntuple),
        page_lists(ntuple),
        metadata(ntuple, facts.read_time.open),
        checksums(ntuple),
    ];
    found.into_iter().flatten().collect()
}

fn as_pages(found: Detected) -> Detected {
    let fault = match found.fault {
        Fault::TinyBaskets { branches, baskets, enough, mean_bytes } => {
            Fault::TinyPages { columns: branches, pages: baskets, enough, mean_bytes }
        }
        other => other,
    };
    Detected { fault, ..found }
}

fn groups(ntuple: &NtupleReport) -> Option<Detected> {
    let (groups, clusters) = (ntuple.cluster_groups, ntuple.cluster_count);
    let start = CodecSpeeds::of(Some(Algorithm::Zstd)).reading.seconds(0, 0, 1);
    let mean_bytes = ntuple.zip_bytes / groups.max(1);
    let cost =
        Cost { bytes: groups * GROUP_BYTES, open_seconds: as_f64(groups) * (speeds::GROUP + start), ..Cost::default() };
    (groups >= GROUPS && clusters < 2 * groups && mean_bytes < TINY_GROUP)
        .then(|| Detected::new(Fault::TinyClusterGroups { groups, clusters, mean_bytes }, cost))
}

fn page_lists(ntuple: &NtupleReport) -> Option<Detected> {
    let lists = ntuple.page_lists;
    let fault = Fault::LargePageLists {
        bytes: lists.bytes,
        raw_bytes: lists.raw_bytes,
        data: ntuple.zip_bytes,
        pages: ntuple.pages,
    };
    let open_seconds = as_f64(lists.raw_bytes) * speeds::METADATA_BYTE
        + CodecSpeeds::of(Some(Algorithm::Zstd)).reading.seconds(lists.raw_bytes, lists.bytes, ntuple.cluster_groups);
    (lists.raw_bytes > LARGE_LISTS && lists.bytes > ntuple.zip_bytes / LISTS_SHARE)
        .then(|| Detected::new(fault, Cost { open_seconds, ..Cost::default() }))
}

fn metadata(ntuple: &NtupleReport, open: f64) -> Option<Detected> {
    let (metadata, data) = (ntuple.metadata.raw_bytes, ntuple.zip_bytes);
    let fault = Fault::MetadataLargerThanData { metadata, data, branches: ntuple.columns };
    (metadata > BYTES && metadata > data).then(|| Detected::new(fault, Cost { read_seconds: open, ..Cost::default() }))
}

fn checksums(ntuple: &NtupleReport) -> Option<Detected> {
    let fault = Fault::NoChecksums { pages: ntuple.pages, without: ntuple.pages - ntuple.checked_pages };
    (ntuple.checksums != Checksums::All).then(|| Detected::new(fault, Cost::default()))
}
