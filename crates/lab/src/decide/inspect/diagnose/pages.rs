//! RNTuples as the rules of trees see them: columns as branches and pages as baskets.

use rootfile::codec::Algorithm;

use super::codecs;
use super::speeds::{self, Overhead};
use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::contents::{BasketSummary, BranchReport, TreeReport};
use crate::inspect::ntuple::report::{ColumnReport, FieldReport, NtupleReport};
use crate::inspect::values::{Decoded, ReadTime, Sizes};
use crate::math::as_f64;

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
        cluster_count: ntuple.cluster_count,
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
    let unpack = |part: Sizes, blocks: u64| {
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
pub(super) fn overhead(ntuple: &NtupleReport) -> Overhead {
    let pages = ntuple.pages.max(1);
    Overhead { bytes: (ntuple.page_lists.bytes + 8 * ntuple.checked_pages) / pages, seconds: speeds::PAGE }
}
