//! The footer: what was added to the schema after the header was written, the cluster groups, and the attribute sets.
//!
//! Facts: `RNTupleSerialize.cxx`, `DeserializeFooter` and `DeserializeClusterGroup`. Format 1.0.1.0 appended the attribute sets.

use rootfile::{Error, Result};

use super::envelope::{EnvelopeKind, open_envelope, seal_envelope};
use super::frame::Reader;
use super::header::{read_features, write_features};
use super::locator::{LEAST_LOCATOR, read_link, read_locator, write_link, write_locator};
use super::model::{AttributeSet, ClusterGroup, FormatVersion, Link, Ntuple};
use super::schema::{PartialSchema, write_schema};

/// Fewest bytes of a cluster group: the frame's size, three numbers, and a link.
const LEAST_GROUP: usize = 8 + 20 + 8 + LEAST_LOCATOR;
/// Fewest bytes of an attribute set: the frame's size, three numbers, a locator, the length of a string.
const LEAST_SET: usize = 8 + 8 + LEAST_LOCATOR + 4;
/// The first version with a list of attribute sets.
const ATTRIBUTE_SETS: FormatVersion = FormatVersion { epoch: 1, major: 0, minor: 1, patch: 0 };

/// What the footer has, beside the schema extension.
#[derive(Debug)]
pub struct Footer {
    /// Its own feature flags.
    pub features: Vec<u64>,
    /// The cluster groups, in the order of their entries.
    pub groups: Vec<ClusterGroup>,
    /// The attribute sets.
    pub attribute_sets: Vec<AttributeSet>,
}

/// Reads a footer, and adds its extension to the schema of the header with this checksum.
///
/// # Errors
///
/// If it is damaged, belongs to another header, or has a feature that is unknown.
pub fn parse_footer(envelope: &[u8], header_checksum: u64, schema: &mut PartialSchema) -> Result<Footer> {
    let (mut r, _) = open_envelope(EnvelopeKind::Footer, envelope)?;
    let features = read_features(&mut r)?;
    check_header(&mut r, header_checksum)?;
    let mut extension = r.record()?;
    if extension.remaining() > 0 {
        schema.read(&mut extension, true)?;
    }
    let groups = read_groups(&mut r)?;
    let mut attribute_sets = Vec::new();
    if r.remaining() > 0 {
        let (n, mut list) = r.list(LEAST_SET)?;
        attribute_sets.reserve_exact(n);
        for _ in 0..n {
            let mut record = list.record()?;
            let (schema_version, len) = ((record.u16()?, record.u16()?), record.u32()?);
            let locator = read_locator(&mut record)?;
            let anchor = Link { len: len.into(), locator };
            attribute_sets.push(AttributeSet { name: record.string()?, schema_version, anchor });
        }
    }
    Ok(Footer { features, groups, attribute_sets })
}

/// Checks the next word, which repeats the header's checksum.
///
/// # Errors
///
/// If it is another one.
pub fn check_header(r: &mut Reader<'_>, checksum: u64) -> Result<()> {
    match r.u64()? {
        repeated if repeated == checksum => Ok(()),
        _ => Err(r.corrupt("has the checksum of another header")),
    }
}

/// Reads the cluster groups. Together they have all entries from 0 on.
fn read_groups(r: &mut Reader<'_>) -> Result<Vec<ClusterGroup>> {
    let (n, mut list) = r.list(LEAST_GROUP)?;
    let mut groups = Vec::with_capacity(n);
    for _ in 0..n {
        let mut record = list.record()?;
        let (first_entry, entries, clusters) = (record.u64()?, record.u64()?, record.u32()?);
        groups.push(ClusterGroup { first_entry, entries, clusters, page_list: read_link(&mut record)? });
    }
    groups.sort_by_key(|group| (group.first_entry, group.entries));
    let mut next = 0u64;
    for group in &groups {
        let ClusterGroup { first_entry, entries, .. } = *group;
        match first_entry.checked_add(entries) {
            Some(end) if first_entry == next => next = end,
            _ => {
                return Err(r.corrupt(format_args!(
                    "a cluster group with {entries} entries from {first_entry} on, where {next} is next"
                )));
            }
        }
    }
    Ok(groups)
}

/// The envelope of a footer, for a header with the checksum in `ntuple`. The header has all feature flags, as in ROOT.
///
/// # Errors
///
/// If something in it is too large for the format, or if a locator is not into a file.
pub fn write_footer(ntuple: &Ntuple) -> Result<Vec<u8>> {
    let has_list = ntuple.anchor.version >= ATTRIBUTE_SETS;
    if !has_list && !ntuple.attribute_sets.is_empty() {
        return Err(Error::request("attribute sets need format 1.0.1.0"));
    }
    seal_envelope(EnvelopeKind::Footer, |w| {
        write_features(w, &[]);
        w.u64(ntuple.header_checksum);
        w.record(|w| write_schema(w, &ntuple.schema, true))?;
        w.list(&ntuple.groups, |w, group| {
            w.record(|w| {
                w.u64(group.first_entry);
                w.u64(group.entries);
                w.u32(group.clusters);
                write_link(w, &group.page_list)
            })
        })?;
        if has_list {
            w.list(&ntuple.attribute_sets, |w, set| {
                w.record(|w| {
                    w.u16(set.schema_version.0);
                    w.u16(set.schema_version.1);
                    w.u32(u32::try_from(set.anchor.len).unwrap_or(u32::MAX));
                    write_locator(w, &set.anchor.locator)?;
                    w.string(&set.name)
                })
            })?;
        }
        Ok(())
    })
}
