//! Opens the RNTuple of a key: anchor, header, footer; and the page lists, one by one.

use std::sync::Arc;

use rootfile::{Error, Key, Result, RootFile, Source};

use super::anchor::{parse_anchor, pre_release};
use super::blob::read_block;
use super::envelope::EnvelopeKind;
use super::footer::parse_footer;
use super::header::parse_header;
use super::model::{Anchor, AttributeSet, Link, Locator, Ntuple, PageList};
use super::page_list::parse_page_list;
use super::recognise::is_ntuple;

/// Reads the metadata of a key's RNTuple, without page lists.
///
/// # Errors
///
/// If the key is not of an RNTuple, if the RNTuple is of a pre-release format, needs features that are unknown, or is damaged.
pub fn read_ntuple(file: &RootFile, key: &Key) -> Result<Ntuple> {
    let with_context = |e: Error| e.object(key.name.clone()).at(key.seek_key).file(file.name());
    if !is_ntuple(&key.class) {
        return Err(with_context(Error::request(format!("is a {}, not an RNTuple", key.class))));
    }
    if key.class != "ROOT::RNTuple" {
        return Err(with_context(pre_release()));
    }
    let anchor = file.payload(key).and_then(|payload| parse_anchor(&payload)).map_err(with_context)?;
    let mut ntuple = read_envelopes(&**file.source(), anchor, &key.name).map_err(with_context)?;
    Arc::make_mut(&mut ntuple.schema).add_streamer_infos(file.infos());
    Ok(ntuple)
}

/// Reads the metadata of an attribute set, an RNTuple without a key, of `ntuple`.
///
/// # Errors
///
/// As for [`read_ntuple`].
pub fn read_attribute_set(source: &dyn Source, ntuple: &Ntuple, set: &AttributeSet) -> Result<Ntuple> {
    let name = format!("{}, attributes {}", ntuple.name, set.name);
    let with_context = |e: Error| located(e, &set.anchor).object(name.clone()).file(source.name());
    let payload = read_block(source, &set.anchor, ntuple.anchor.max_key_size).map_err(with_context)?;
    let anchor = parse_anchor(&payload).map_err(with_context)?;
    read_envelopes(source, anchor, &name).map_err(with_context)
}

/// Reads the page list of a cluster group.
///
/// # Errors
///
/// If it cannot be read, is damaged, or has sharded clusters.
pub fn read_page_list(source: &dyn Source, ntuple: &Ntuple, group: usize) -> Result<PageList> {
    let with_context = |e: Error| e.object(ntuple.name.clone()).file(source.name());
    let Some(link) = ntuple.groups.get(group).map(|group| group.page_list) else {
        return Err(with_context(Error::request(format!("there is no cluster group {group}"))));
    };
    let list = read_envelope(source, &ntuple.anchor, EnvelopeKind::PageList, &link, &ntuple.name)
        .and_then(|bytes| parse_page_list(&bytes, ntuple, group));
    list.map_err(|e| with_context(located(e, &link)))
}

/// Reads header and footer. `name` is for errors.
fn read_envelopes(source: &dyn Source, anchor: Anchor, name: &str) -> Result<Ntuple> {
    let header = read_envelope(source, &anchor, EnvelopeKind::Header, &anchor.header, name)?;
    let footer = read_envelope(source, &anchor, EnvelopeKind::Footer, &anchor.footer, name)?;
    parse_ntuple(anchor, &header, &footer)
}

fn read_envelope(source: &dyn Source, anchor: &Anchor, kind: EnvelopeKind, link: &Link, name: &str) -> Result<Vec<u8>> {
    let bytes = read_block(source, link, anchor.max_key_size);
    bytes.map_err(|e| located(e, link).object(format!("{name}, {}", kind.name())))
}

/// An error with the position of a block.
fn located(e: Error, link: &Link) -> Error {
    match link.locator {
        Locator::File { offset, .. } => e.at(offset),
        Locator::Unknown { .. } => e,
    }
}

/// The metadata in an anchor and the envelopes that it names, decompressed.
///
/// # Errors
///
/// If they are damaged, do not belong together, or have a feature that is unknown.
pub fn parse_ntuple(anchor: Anchor, header: &[u8], footer: &[u8]) -> Result<Ntuple> {
    let mut head = parse_header(header).map_err(|e| located(e, &anchor.header))?;
    let in_footer = |e| located(e, &anchor.footer);
    let foot = parse_footer(footer, head.checksum, &mut head.schema).map_err(in_footer)?;
    let mut features = head.features;
    features.resize(features.len().max(foot.features.len()), 0);
    for (word, more) in features.iter_mut().zip(&foot.features) {
        *word |= more;
    }
    Ok(Ntuple {
        name: head.name,
        description: head.description,
        writer: head.writer,
        anchor,
        features,
        header_checksum: head.checksum,
        schema: Arc::new(head.schema.finish().map_err(|e| located(e, &anchor.header))?),
        groups: foot.groups,
        attribute_sets: foot.attribute_sets,
    })
}
