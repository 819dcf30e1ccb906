//! RNTuples of a file that was not closed. ROOT writes an RNTuple's lists of pages, its footer and its anchor when it closes the
//! RNTuple, the anchor last. So an RNTuple with an anchor is whole, and without one nothing says what its pages hold.

use std::collections::HashSet;

use dataset::ntuple::decode::fields;
use dataset::ntuple::model::{Locator, Ntuple};
use dataset::ntuple::soundness::prove_ntuple;
use dataset::ntuple::{name_of_header, read_attribute_set, read_ntuple, read_page_list};
use rootfile::{Key, Result, RootFile};

use super::report::{LostNtuple, RecoveredNtuple, Unreadable};
use super::scan_result::ScanResult;

/// The class of keys with the blocks of RNTuples.
pub(super) const BLOB: &str = "RBlob";
/// Longer blocks are no headers: a header of 10,000 fields has 1 MB.
const LONGEST_HEADER: u64 = 64 << 20;

impl ScanResult {
    /// Keeps the RNTuples with an anchor among `anchors`, the newest cycle of a name first, as in a list of keys. The other ones
    /// are recognised by their headers among `blobs`.
    pub(super) fn take_ntuples(&mut self, mut anchors: Vec<(usize, Key)>, blobs: &[Key]) {
        anchors.sort_by_key(|(directory, key)| (*directory, key.name.clone(), std::cmp::Reverse(key.cycle)));
        // Where blocks of RNTuples with an anchor begin: headers and pages.
        let mut known = HashSet::new();
        for (directory, key) in anchors {
            let place = self.directories.get_mut(directory);
            match (check(&self.file, &key, &mut known), place) {
                (Ok(entries), Some(directory)) => {
                    let path = directory.path_of(&key.name);
                    self.ntuples.push(RecoveredNtuple { path, cycle: key.cycle, entries });
                    directory.keys.push(key);
                }
                (Ok(_), None) => {}
                (Err(e), _) => self.unreadable.push(Unreadable::new(&key, &e)),
            }
        }
        for (i, key) in blobs.iter().enumerate() {
            let offset = key.seek_key + u64::from(key.keylen);
            let len = u64::from(key.nbytes).saturating_sub(u64::from(key.keylen));
            if known.contains(&offset) || len > LONGEST_HEADER {
                continue;
            }
            let block = usize::try_from(len).ok().and_then(|len| self.file.source().read(offset, len).ok());
            if let Some(name) = block.and_then(|block| name_of_header(&block)) {
                let bytes = blobs.get(i..).unwrap_or_default().iter().map(|key| u64::from(key.nbytes)).sum();
                self.lost_ntuples.push(LostNtuple { name, offset: key.seek_key, bytes_at_most: bytes });
            }
        }
    }
}

/// Checks that the metadata of an RNTuple can be read, that its pages are in the file, and that its fields have values of all
/// entries: it is left out rather than that the recovery ends with it. Returns its entries, and adds the
/// positions of its pages and of its header, and those of its attribute sets.
fn check(file: &RootFile, key: &Key, known: &mut HashSet<u64>) -> Result<u64> {
    let ntuple = read_ntuple(file, key)?;
    add_header(&ntuple, known);
    check_pages(file, &ntuple, known)?;
    for set in &ntuple.attribute_sets {
        let attributes = read_attribute_set(&**file.source(), &ntuple, set)?;
        add_header(&attributes, known);
        check_pages(file, &attributes, known)?;
    }
    Ok(ntuple.entries())
}

fn add_header(ntuple: &Ntuple, known: &mut HashSet<u64>) {
    if let Locator::File { offset, .. } = ntuple.anchor.header.locator {
        known.insert(offset);
    }
}

fn check_pages(file: &RootFile, ntuple: &Ntuple, known: &mut HashSet<u64>) -> Result<()> {
    let size = file.source().size();
    for group in 0..ntuple.groups.len() {
        for page in &read_page_list(&**file.source(), ntuple, group)?.pages {
            let (offset, _) = page.extent_in(size)?;
            known.insert(offset);
        }
    }
    prove_ntuple(&**file.source(), ntuple, &fields(&ntuple.schema))
}
