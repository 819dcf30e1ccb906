//! The settings that the pages of an RNTuple show: an RNTuple that is written anew keeps those that no layout gives. What its
//! writer was told is not in the file.

use std::collections::HashSet;

use dataset::layout::{ByteSize, TreeLayout, defaults};
use dataset::ntuple::model::{Locator, Ntuple, Page, PageList};
use dataset::ntuple::{read_ntuple, read_page_list};
use rootfile::codec::Compression;

use crate::plan::request::TableInput;

/// The settings of an RNTuple, as the clusters of its first group show them. None if it has no cluster, or if it cannot be read.
pub(super) fn shown((_, file, key): &TableInput) -> Option<TreeLayout> {
    let ntuple = read_ntuple(file, key).ok().filter(|ntuple| !ntuple.groups.is_empty())?;
    let list = read_page_list(&**file.source(), &ntuple, 0).ok()?;
    Some(TreeLayout {
        compression: compression(&list),
        page_checksums: most_have_checksums(&list),
        share_pages: shares(&list),
        basket: page_size(&ntuple, &list),
        ..TreeLayout::default()
    })
}

/// The compression of most columns in the first cluster.
fn compression(list: &PageList) -> Option<Compression> {
    let mut counts: Vec<(u32, usize)> = Vec::new();
    for setting in list.clusters.first()?.columns.iter().filter_map(|column| column.compression) {
        match counts.iter_mut().find(|(known, _)| *known == setting) {
            Some((_, count)) => *count += 1,
            None => counts.push((setting, 1)),
        }
    }
    let (setting, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Compression::from_root_setting(i32::try_from(setting).ok()?)
}

/// Whether checksums follow most pages. None without pages.
fn most_have_checksums(list: &PageList) -> Option<bool> {
    let with = list.pages.iter().filter(|page| page.has_checksum).count();
    (!list.pages.is_empty()).then_some(2 * with >= list.pages.len())
}

/// Whether pages of a cluster are stored once. Where none are, pages of one size say that they were not looked for, since some of them
/// would be equal; without such pages nothing is known.
fn shares(list: &PageList) -> Option<bool> {
    let mut may_be_equal = false;
    for cluster in &list.clusters {
        let (mut places, mut sizes) = (HashSet::new(), HashSet::new());
        for column in &cluster.columns {
            for Page { elements, locator, .. } in list.pages.get(column.pages.clone()).unwrap_or_default() {
                let Locator::File { offset, size: size @ 1.. } = *locator else { continue };
                if !places.insert(offset) {
                    return Some(true);
                }
                may_be_equal |= !sizes.insert((*elements, size));
            }
        }
    }
    may_be_equal.then_some(false)
}

/// The size of the largest page of the columns with several pages in a cluster: other pages end with their cluster. If there is no
/// such column, pages may be at least as large as they are.
fn page_size(ntuple: &Ntuple, list: &PageList) -> Option<ByteSize> {
    let (mut full, mut largest) = (None, 0);
    for cluster in &list.clusters {
        for (id, column) in cluster.columns.iter().enumerate() {
            let pages = list.pages.get(column.pages.clone()).unwrap_or_default();
            let Ok(encoding) = ntuple.schema.encoding(id) else { continue };
            let elements = pages.iter().map(|page| page.elements).max().unwrap_or(0);
            let bytes = u64::from(elements) * encoding.kind().memory_size() as u64;
            largest = largest.max(bytes);
            if pages.len() > 1 {
                full = full.max(Some(bytes));
            }
        }
    }
    let size = full.or((largest > defaults::NTUPLE_PAGE).then_some(largest))?;
    (size > 0).then_some(ByteSize(size))
}
