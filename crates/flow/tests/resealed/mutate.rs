//! Damages an RNTuple behind its checksums: a block is changed, and all checksums and links that lead to it are made anew, so that
//! the code behind them meets the damage. What the damage means is not known here.

use dataset::ntuple::element::Encoding;
use dataset::ntuple::model::{Link, Locator, Ntuple, Page, PageList};
use dataset::ntuple::page::{CHECKSUM, checksum};
use dataset::ntuple::{
    EnvelopeKind, envelope_checksum, is_ntuple, read_attribute_set, read_block, read_ntuple, read_page_list,
    seal_envelope, write_anchor,
};
use rootfile::codec::Decompressor;
use rootfile::{MemoryFile, RootFile, Source};

/// Offset of the header's end in a file header of less than 2 GB.
const END: std::ops::Range<usize> = 12..16;
/// Bytes before the payload of an envelope, and behind it.
const WORD: usize = 8;

/// One change of a block.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    /// What is done.
    pub how: u8,
    /// Where in the block, modulo its length.
    pub at: u32,
    /// With what.
    pub value: u64,
}

/// Bytes of an edit in a seed of a fuzzer.
pub const EDIT: usize = 13;

impl Edit {
    pub fn from_bytes(bytes: &[u8; EDIT]) -> Self {
        let [how, a, b, c, d, rest @ ..] = *bytes;
        Self { how, at: u32::from_le_bytes([a, b, c, d]), value: u64::from_le_bytes(rest) }
    }

    fn apply(self, block: &mut Vec<u8>) {
        const HOSTILE: [u64; 14] =
            [0, 1, 2, 3, 7, 8, 255, 1 << 16, 1 << 31, u32::MAX as u64, 1 << 40, 1 << 56, i64::MAX as u64, u64::MAX];
        let len = block.len().max(1);
        let (at, other) = (self.at as usize % len, self.value as usize % len);
        let hostile = HOSTILE[self.value as usize % HOSTILE.len()];
        let step = (self.value % 9).wrapping_sub(4);
        let read = |block: &[u8], at: usize, width: usize| {
            let mut word = [0; 8];
            word.iter_mut().zip(block.iter().skip(at).take(width)).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        };
        let mut write = |at: usize, width: usize, value: u64| {
            let slots = block.iter_mut().skip(at).take(width);
            slots.zip(value.to_le_bytes()).for_each(|(slot, byte)| *slot = byte);
        };
        match self.how % 10 {
            0 => write(at, 1, self.value),
            1 => write(at, 4, hostile),
            2 => write(at, 8, hostile),
            3 => write(at & !3, 4, hostile),
            4 => {
                let word = read(block, at, 4);
                block.splice(at..(at + 4).min(block.len()), word.wrapping_add(step).to_le_bytes()[..4].to_vec());
            }
            5 => {
                let word = read(block, at, 8);
                block.splice(at..(at + 8).min(block.len()), word.wrapping_add(step).to_le_bytes().to_vec());
            }
            6 => {
                let (one, two) = (read(block, at & !3, 4), read(block, other & !3, 4));
                let mut write = |at: usize, value: u64| {
                    block.iter_mut().skip(at).take(4).zip(value.to_le_bytes()).for_each(|(slot, byte)| *slot = byte);
                };
                write(at & !3, two);
                write(other & !3, one);
            }
            7 => {
                let taken: Vec<u8> = block.iter().skip(other).take(8).copied().collect();
                block.iter_mut().skip(at).zip(taken).for_each(|(slot, byte)| *slot = byte);
            }
            8 => block.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (self.value % 8)),
            _ if self.value.is_multiple_of(16) => block.truncate(at),
            _ => write(at, 1, (self.value % 3).wrapping_sub(1)),
        }
    }
}

/// A block that can be damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Header,
    Footer,
    List(usize),
    /// A page of a group's list, decompressed.
    Page(usize, usize),
    /// The same, as it is in the file.
    Packed(usize, usize),
}

/// An RNTuple with its envelopes.
struct Opened {
    ntuple: Ntuple,
    header: Vec<u8>,
    footer: Vec<u8>,
    lists: Vec<(Vec<u8>, PageList)>,
}

impl Opened {
    fn new(source: &dyn Source, ntuple: Ntuple) -> Self {
        let payload = |link: &Link| {
            let block = read_block(source, link, ntuple.anchor.max_key_size).unwrap();
            block[WORD..block.len() - WORD].to_vec()
        };
        let list =
            |group: usize| (payload(&ntuple.groups[group].page_list), read_page_list(source, &ntuple, group).unwrap());
        let lists = (0..ntuple.groups.len()).map(list).collect();
        Self { header: payload(&ntuple.anchor.header), footer: payload(&ntuple.anchor.footer), lists, ntuple }
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        for (group, (_, list)) in self.lists.iter().enumerate() {
            // Pages are many, and so are metadata in the set of blocks.
            blocks.extend([Block::Header, Block::Footer, Block::List(group), Block::List(group)]);
            blocks.extend((0..list.pages.len()).flat_map(|page| [Block::Page(group, page), Block::Page(group, page)]));
            blocks.extend((0..list.pages.len()).step_by(4).map(|page| Block::Packed(group, page)));
        }
        blocks
    }

    fn encoding_of(&self, group: usize, page: usize) -> Option<Encoding> {
        let clusters = self.lists[group].1.clusters.iter();
        let mut columns = clusters.flat_map(|cluster| cluster.columns.iter().enumerate());
        let (column, _) = columns.find(|(_, range)| range.pages.contains(&page))?;
        self.ntuple.schema.encoding(column).ok()
    }
}

/// A file with an RNTuple, and what leads to its blocks.
pub struct Seed {
    pub name: String,
    bytes: Vec<u8>,
    /// The RNTuple, and its attribute sets.
    all: Vec<Opened>,
    blocks: Vec<(usize, Block)>,
}

fn append(bytes: &mut Vec<u8>, block: &[u8]) -> u64 {
    let offset = bytes.len() as u64;
    bytes.extend_from_slice(block);
    offset
}

/// Replaces the first occurrence of some bytes. They may be gone, if they were damaged.
fn replace(block: &mut [u8], old: &[u8], new: &[u8]) {
    if let Some(at) = block.windows(old.len()).position(|window| window == old) {
        block[at..at + new.len()].copy_from_slice(new);
    }
}

fn file_place(locator: &Locator) -> (u64, u64) {
    match *locator {
        Locator::File { offset, size } => (offset, size),
        Locator::Unknown { .. } => (0, 0),
    }
}

/// A link as a page list or a footer has it.
fn link_bytes(link: &Link) -> Vec<u8> {
    let (offset, size) = file_place(&link.locator);
    [&link.len.to_le_bytes()[..], &(size as u32).to_le_bytes(), &offset.to_le_bytes()].concat()
}

fn page_bytes(page: &Page) -> Vec<u8> {
    let (offset, size) = file_place(&page.locator);
    let elements = page.elements as i32;
    let elements = if page.has_checksum { -elements } else { elements };
    [&elements.to_le_bytes()[..], &(size as u32).to_le_bytes(), &offset.to_le_bytes()].concat()
}

fn sealed(kind: EnvelopeKind, payload: &[u8]) -> Vec<u8> {
    seal_envelope(kind, |w| {
        w.bytes.extend_from_slice(payload);
        Ok(())
    })
    .unwrap()
}

fn stored(offset: u64, block: &[u8]) -> Link {
    let len = block.len() as u64;
    Link { len, locator: Locator::File { offset, size: len } }
}

impl Seed {
    pub fn new(name: &str, bytes: Vec<u8>) -> Self {
        let source = MemoryFile(bytes.clone());
        let file = RootFile::from_source(std::sync::Arc::new(MemoryFile(bytes.clone()))).unwrap();
        let walk = file.walk();
        let key = walk.directories.iter().flat_map(|d| &d.keys).find(|key| is_ntuple(&key.class)).unwrap();
        let main = read_ntuple(&file, key).unwrap();
        let sets: Vec<Ntuple> =
            main.attribute_sets.iter().map(|set| read_attribute_set(&source, &main, set).unwrap()).collect();
        let all: Vec<Opened> = std::iter::once(main).chain(sets).map(|n| Opened::new(&source, n)).collect();
        let of = |(number, opened): (usize, &Opened)| opened.blocks().into_iter().map(move |block| (number, block));
        let blocks = all.iter().enumerate().flat_map(of).collect();
        Self { name: name.to_owned(), bytes, all, blocks }
    }

    /// The file as it is.
    #[allow(dead_code, reason = "the fuzz target damages every file")]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The file with a block damaged, and the block.
    pub fn damaged(&self, block: usize, edits: &[Edit]) -> (Vec<u8>, Block) {
        let (number, block) = self.blocks[block % self.blocks.len()];
        let opened = &self.all[number];
        let mut bytes = self.bytes.clone();
        let (mut header, mut footer) = (opened.header.clone(), opened.footer.clone());
        let mut lists: Vec<Vec<u8>> = opened.lists.iter().map(|(list, _)| list.clone()).collect();
        let edit = |block: &mut Vec<u8>| edits.iter().for_each(|edit| edit.apply(block));
        match block {
            Block::Header => edit(&mut header),
            Block::Footer => edit(&mut footer),
            Block::List(group) => edit(&mut lists[group]),
            Block::Page(group, page) | Block::Packed(group, page) => {
                let old = opened.lists[group].1.pages[page];
                let (file, max_key_size) = (MemoryFile(self.bytes.clone()), opened.ntuple.anchor.max_key_size);
                let mut record = old.read(&file, max_key_size).unwrap();
                if old.has_checksum {
                    record.truncate(record.len() - CHECKSUM as usize);
                }
                let encoding = opened.encoding_of(group, page).filter(|_| matches!(block, Block::Page(..)));
                let raw_len = encoding.and_then(|encoding| encoding.page_len(old.elements as usize));
                if let Some(raw_len) = raw_len.filter(|len| *len != record.len()) {
                    let mut raw = Vec::new();
                    Decompressor::new().decompress(&record, raw_len, &mut raw).unwrap();
                    record = raw;
                }
                let len = record.len();
                edit(&mut record);
                record.resize(len, 0);
                let offset = append(&mut bytes, &record);
                append(&mut bytes, &checksum(&record).to_le_bytes());
                let new = Page { has_checksum: true, locator: Locator::File { offset, size: len as u64 }, ..old };
                replace(&mut lists[group], &page_bytes(&old), &page_bytes(&new));
            }
        }
        let mut anchor = opened.ntuple.anchor;
        if block == Block::Header {
            let header = sealed(EnvelopeKind::Header, &header);
            anchor.header = stored(append(&mut bytes, &header), &header);
            // Behind the feature flags of the footer, and first in page lists.
            let checksum = envelope_checksum(&header).to_le_bytes();
            let old = opened.ntuple.header_checksum.to_le_bytes();
            replace(&mut footer, &old, &checksum);
            lists.iter_mut().for_each(|list| replace(list, &old, &checksum));
        }
        for (group, list) in lists.iter().enumerate().filter(|(group, list)| **list != opened.lists[*group].0) {
            let list = sealed(EnvelopeKind::PageList, list);
            let link = stored(append(&mut bytes, &list), &list);
            replace(&mut footer, &link_bytes(&opened.ntuple.groups[group].page_list), &link_bytes(&link));
        }
        let footer = sealed(EnvelopeKind::Footer, &footer);
        anchor.footer = stored(append(&mut bytes, &footer), &footer);
        if number > 0 {
            let set = write_anchor(&anchor).unwrap();
            let link = stored(append(&mut bytes, &set), &set);
            let main = &self.all[0];
            anchor = main.ntuple.anchor;
            // In a set's record the length has four bytes.
            let of_set = |link: &Link| [&(link.len as u32).to_le_bytes()[..], &link_bytes(link)[8..]].concat();
            let mut footer = main.footer.clone();
            replace(&mut footer, &of_set(&main.ntuple.attribute_sets[number - 1].anchor), &of_set(&link));
            let footer = sealed(EnvelopeKind::Footer, &footer);
            anchor.footer = stored(append(&mut bytes, &footer), &footer);
        }
        let old = write_anchor(&self.all[0].ntuple.anchor).unwrap();
        replace(&mut bytes, &old, &write_anchor(&anchor).unwrap());
        let end = u32::try_from(bytes.len()).unwrap().to_be_bytes();
        bytes[END].copy_from_slice(&end);
        (bytes, block)
    }
}
