//! The content of sampled pages, to try other codecs on it.

use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::{Locator, Ntuple};
use rootfile::RootFile;
use rootfile::codec::Decompressor;

use super::fields::codec;
use super::pages::{Sampled, raw_len};
use super::report::NtupleReport;
use crate::inspect::sample::{Record, evenly, try_codecs};
use crate::inspect::values::{Mixed, Trial};

/// The effect of codecs on some of the sampled pages.
pub fn trials(
    file: &RootFile,
    ntuple: &Ntuple,
    report: &NtupleReport,
    sample: &[Sampled],
) -> (Vec<Trial>, Option<Mixed>) {
    let raw = report.tot_bytes / report.pages.max(1);
    // Each page of the sample stands for the same number of bytes.
    let pages = evenly(sample.iter().map(|page| (page, 1)), raw);
    try_codecs(pages.into_iter().filter_map(|page| record(file, ntuple, page)))
}

fn record<'a>(file: &'a RootFile, ntuple: &'a Ntuple, sampled: &'a Sampled) -> Option<Record<'a>> {
    let column = ntuple.schema.columns.get(sampled.column)?;
    let Locator::File { size: stored, .. } = sampled.page.locator else { return None };
    let encoding = Encoding::new(column.column_type, column.bits, column.range).ok()?;
    let raw = raw_len(column, &sampled.page);
    let max_key_size = ntuple.anchor.max_key_size;
    let content = move || {
        let record = sampled.page.read(&**file.source(), max_key_size).ok()?;
        let mut scratch = Vec::new();
        let opened = sampled.page.open(&encoding, &record, &mut Decompressor::new(), &mut scratch);
        opened.ok().map(<[u8]>::to_vec)
    };
    let codec = codec(sampled.setting).filter(|_| stored < raw);
    Some(Record { codec, raw, stored, key: 0, content: Box::new(content) })
}
