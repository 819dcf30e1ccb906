//! Rebases the class tags inside an entry that is moved. Tags are found by their shape, since any branch may have them. If a
//! number may or may not be a tag, nothing is changed and the caller is told.
//!
//! Facts (`TBufferFile::WriteClass`, `ReadObjectAny`): tags count from the start of the basket's key, and refer to offsets
//! in their own entry, since the map of objects is emptied at each entry (`TBranch::FillImpl`). A basket can record the
//! original offsets of its entries (displacement), but ROOT adds the displacement to null pointers and to tag 1, the
//! branch's own object, as well, and then reads from a wild address. So entries are not displaced here.

use std::ops::Range;

use memchr::memmem;
use rootfile::tags::{BYTE_COUNT_MASK, CLASS_MASK, MAP_OFFSET, NEW_CLASS_TAG};

/// The tags of one entry. The buffers are reused for other entries.
#[derive(Debug, Default)]
pub(crate) struct ClassTags {
    /// Offsets in the entry where a class is named for the first time.
    classes: Vec<u32>,
    /// Offsets in the entry of objects that a tag may refer to.
    objects: Vec<u32>,
    /// Offsets in the entry of tags that count from the entry's origin.
    places: Vec<usize>,
}

impl ClassTags {
    /// Finds the tags in an entry that was written at `origin`. Returns false if some number may or may not be a tag.
    pub fn find(&mut self, entry: &[u8], origin: u32) -> bool {
        self.classes.clear();
        self.objects.clear();
        self.places.clear();
        // All other tags refer to a class named in the same entry, or to its object.
        let Some(first) = memmem::find(entry, &NEW_CLASS_TAG.to_be_bytes()) else { return true };
        for at in first.saturating_sub(4)..entry.len().saturating_sub(3) {
            let Some(word) = word_at(entry, at) else { break };
            if word == NEW_CLASS_TAG {
                if is_counted(entry, at) && names_class(entry, at + 4) {
                    self.classes.push(position(at));
                    self.objects.push(position(at - 4));
                }
                continue;
            }
            let Some(target) = (word & !CLASS_MASK).checked_sub(origin.wrapping_add(MAP_OFFSET)) else { continue };
            if target as usize >= at {
                continue;
            }
            if word & CLASS_MASK != 0 {
                if self.classes.binary_search(&target).is_err() {
                    continue;
                }
                if !is_counted(entry, at) {
                    return false;
                }
                self.objects.push(position(at - 4));
                self.places.push(at);
            } else if self.objects.binary_search(&target).is_ok() {
                // A reference to an object has no other mark: the word may be a number of the same value.
                return false;
            }
        }
        true
    }

    /// Rebases the tags found last to a new origin. `entry` is the range of the entry in `data`.
    pub fn shift(&self, data: &mut [u8], entry: Range<usize>, old: u32, new: u32) {
        for at in &self.places {
            let tag = data.get_mut(entry.clone()).and_then(|entry| entry.get_mut(*at..)?.first_chunk_mut::<4>());
            if let Some(tag) = tag {
                let target = (u32::from_be_bytes(*tag) & !CLASS_MASK).wrapping_sub(old);
                *tag = (target.wrapping_add(new) | CLASS_MASK).to_be_bytes();
            }
        }
    }
}

fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn word_at(entry: &[u8], at: usize) -> Option<u32> {
    entry.get(at..)?.first_chunk::<4>().map(|b| u32::from_be_bytes(*b))
}

/// Whether the word before is the byte count of an object that ends inside the entry.
fn is_counted(entry: &[u8], at: usize) -> bool {
    let Some(count) = at.checked_sub(4).and_then(|start| word_at(entry, start)) else { return false };
    let len = (count & !BYTE_COUNT_MASK) as usize;
    count & BYTE_COUNT_MASK != 0 && count & CLASS_MASK == 0 && len >= 4 && len <= entry.len() - at
}

/// Whether printable text and a zero byte follow.
fn names_class(entry: &[u8], at: usize) -> bool {
    let rest = entry.get(at..).unwrap_or_default();
    let end = rest.iter().position(|b| !(0x20..0x7F).contains(b)).unwrap_or(0);
    end > 0 && rest.get(end) == Some(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pointer: byte count, tag, content.
    fn pointer(tag: &[u8], content: &[u8]) -> Vec<u8> {
        let count = u32::try_from(tag.len() + content.len()).unwrap() | BYTE_COUNT_MASK;
        [&count.to_be_bytes()[..], tag, content].concat()
    }

    fn entry(origin: u32) -> Vec<u8> {
        let named = [&NEW_CLASS_TAG.to_be_bytes()[..], b"Track\0"].concat();
        let inner = pointer(&(CLASS_MASK | (origin + MAP_OFFSET + 6)).to_be_bytes(), b"content");
        let outer = pointer(&named, &inner);
        [b"ab", &outer[..], &[0; 4], &[0, 0, 0, 1]].concat()
    }

    #[test]
    fn class_tags_count_from_the_offset_of_the_entry() {
        let mut tags = ClassTags::default();
        let before = entry(80);
        assert!(tags.find(&before, 80));
        assert_eq!(tags.places, [20]);
        let mut data = [b"...", &before[..]].concat();
        let end = data.len();
        tags.shift(&mut data, 3..end, 80, 70_000);
        assert_eq!(&data[3..], entry(70_000), "null and tag 1 stay");
    }

    #[test]
    fn a_possible_reference_keeps_the_entry_in_place() {
        let mut tags = ClassTags::default();
        for object in [80 + 2 + 2, 80 + 2 + 16] {
            let doubtful = [entry(80), u32::to_be_bytes(object).to_vec()].concat();
            assert!(!tags.find(&doubtful, 80), "{object} is where an object begins");
        }
        let plain = [entry(80), u32::to_be_bytes(80 + 2 + 3).to_vec()].concat();
        assert!(tags.find(&plain, 80), "no object begins there");
        let uncounted = [entry(80), (CLASS_MASK | (80 + MAP_OFFSET + 6)).to_be_bytes().to_vec()].concat();
        assert!(!tags.find(&uncounted, 80));
    }

    #[test]
    fn entries_that_name_no_class_have_no_tags() {
        let mut tags = ClassTags::default();
        for bytes in [&[0xFF; 40][..], b"", b"abc", &[0x40, 0, 0, 8, 0xFF, 0xFF, 0xFF, 0xFF, b'A', 7, 0, 0]] {
            assert!(tags.find(bytes, 0));
            assert!(tags.places.is_empty() && tags.classes.is_empty());
        }
    }
}
