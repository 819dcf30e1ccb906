//! Looks at the headers of baskets: how large each is before compression, and in which codec.
//!
//! Each basket takes one small read; baskets that lie close together share one, and of a remote file all are asked for together. Unless all headers are requested, only some
//! baskets of a large branch are read: some at even distances, and the largest on disk. Nothing is decompressed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use dataset::tree::Tree;
use rootfile::bytes::Cursor;
use rootfile::codec::{BlockHeader, is_stored};
use rootfile::{Key, Source};

/// Maximum number of headers to read, unless all are requested.
const ENOUGH: usize = 4000;
/// The same for a remote file.
const ENOUGH_FROM_AFAR: usize = 400;
/// An upper limit on the bytes of a basket's key without its names, of its header and of the header of its first block.
const HEADER: usize = 96;
/// Headers that are at most this far apart are read at once: copying the bytes between them costs less than another call.
const NEAR: u64 = 4 << 10;
/// Most bytes that are read at once.
const AT_ONCE: u64 = 256 << 10;

/// The findings in the headers of a branch's baskets.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    /// Bytes before compression, in no order.
    pub raw: Vec<u32>,
    /// Bytes of their keys together.
    pub keys: u64,
    /// Baskets by codec, `a+b` where the blocks of one basket differ.
    pub codecs: BTreeMap<String, u64>,
    /// Bytes of the largest basket in memory, and the same one's on disk.
    pub largest: (u64, u64),
    /// Where it is.
    pub largest_seek: u64,
    /// Headers that could not be read.
    pub unreadable: u64,
}

/// Reads headers of a tree's baskets. Returns a [`Probe`] for each branch, and whether all headers were read.
pub fn probe(source: &dyn Source, tree: &Tree, all: bool) -> (Vec<Probe>, bool) {
    let total: usize = tree.branches.iter().map(|branch| branch.baskets.len()).sum();
    let enough = if source.is_remote() { ENOUGH_FROM_AFAR } else { ENOUGH };
    let all = all || total <= enough;
    let each = if all { usize::MAX } else { (enough / tree.branches.len().max(1)).max(1) };
    let mut places = Vec::with_capacity(if all { total } else { enough });
    for (b, branch) in tree.branches.iter().enumerate() {
        // Baskets of a branch with a file name are in that file.
        if !branch.file_name.is_empty() {
            continue;
        }
        let step = branch.baskets.len().div_ceil(each).max(1);
        let largest = branch.baskets.iter().enumerate().max_by_key(|(_, basket)| basket.nbytes).map(|(i, _)| i);
        for (i, basket) in branch.baskets.iter().enumerate() {
            if basket.seek > 0 && (i % step == 0 || Some(i) == largest) {
                places.push((basket.seek, b, i));
            }
        }
    }
    // Disks read fastest in the order of the file.
    places.sort_unstable();
    let mut probes = vec![Probe::default(); tree.branches.len()];
    let guess = |b: usize| HEADER + tree.branches.get(b).map_or(0, |branch| branch.name().len()) + tree.name().len();
    let mut window = Window { source, start: 0, bytes: Vec::new(), fetched: BTreeMap::new() };
    if source.is_remote() {
        window.fetch(places.iter().map(|&(seek, b, _)| (seek, guess(b))));
    }
    for (k, &(seek, b, _)) in places.iter().enumerate() {
        let Some(probe) = probes.get_mut(b) else { continue };
        let ahead = places.get(k..).unwrap_or_default().iter().map(|(seek, ..)| *seek);
        match look(&mut window, ahead, seek, guess(b)) {
            Some(found) => probe.add(&found, seek),
            None => probe.unreadable += 1,
        }
    }
    (probes, all)
}

/// The contents of one header.
struct Found {
    keylen: u32,
    raw: u32,
    disk: u32,
    codec: Cow<'static, str>,
}

/// Bytes of a file that were read last.
struct Window<'a> {
    source: &'a dyn Source,
    start: u64,
    bytes: Vec<u8>,
    /// Headers that were asked for together, by their offsets.
    fetched: BTreeMap<u64, Vec<u8>>,
}

impl Window<'_> {
    /// Asks for headers together. Those that do not come are read one by one, and fail one by one.
    fn fetch(&mut self, places: impl Iterator<Item = (u64, usize)>) {
        let size = self.source.size();
        let range = |(seek, len): (u64, usize)| (seek < size).then(|| seek..seek.saturating_add(len as u64).min(size));
        let ranges: Vec<Range<u64>> = places.filter_map(range).collect();
        let fetched = self.source.read_ranges(&ranges).unwrap_or_default();
        self.fetched = ranges.iter().map(|range| range.start).zip(fetched).collect();
    }

    /// At least `len` bytes at `seek`, unless the file ends before. `ahead` has the positions of the next reads.
    fn at(&mut self, seek: u64, len: usize, ahead: impl Iterator<Item = u64>) -> Option<&[u8]> {
        let end = seek.checked_add(len as u64)?;
        if let Some(fetched) = self.fetched.remove(&seek) {
            (self.start, self.bytes) = (seek, fetched);
        } else if seek < self.start || end > self.start + self.bytes.len() as u64 {
            let mut last = seek;
            for next in ahead.take_while(|next| next - seek <= AT_ONCE) {
                if next - last > NEAR {
                    break;
                }
                last = next;
            }
            let len = usize::try_from(last - seek).ok()? + len;
            // After a failed read the window is empty.
            let read = read(self.source, seek, len, &mut self.bytes);
            self.start = seek;
            if read.is_none() {
                self.bytes.clear();
                return None;
            }
        }
        self.bytes.get(usize::try_from(seek - self.start).ok()?..)
    }
}

fn look(window: &mut Window<'_>, ahead: impl Iterator<Item = u64>, seek: u64, guess: usize) -> Option<Found> {
    let source = window.source;
    let mut head = Cow::Borrowed(window.at(seek, guess, ahead)?);
    let key = match Key::parse(&mut Cursor::new(&head)) {
        Ok(key) => key,
        Err(_) => {
            // The names in the key may be longer: branch or tree may have been renamed since.
            let mut longer = Vec::new();
            read(source, seek, 4096, &mut longer)?;
            head = Cow::Owned(longer);
            Key::parse(&mut Cursor::new(&head)).ok()?
        }
    };
    if !key.class.is_empty() && !key.class.starts_with("TBasket") {
        return None;
    }
    let codec = codec(source, seek, &key, &head)?;
    Some(Found { keylen: u32::from(key.keylen), raw: key.objlen, disk: key.nbytes, codec })
}

fn read(source: &dyn Source, at: u64, len: usize, buffer: &mut Vec<u8>) -> Option<()> {
    let left = source.size().checked_sub(at)?;
    buffer.resize(len.min(usize::try_from(left).unwrap_or(len)), 0);
    source.read_exact_at(at, buffer).ok()
}

/// Names of the codecs of a record's blocks.
fn codec(source: &dyn Source, seek: u64, key: &Key, head: &[u8]) -> Option<Cow<'static, str>> {
    let end = u64::from(key.payload_len());
    if is_stored(key.payload_len() as usize, key.objlen as usize) {
        return Some(Cow::Borrowed("none"));
    }
    let mut names: Vec<&'static str> = Vec::new();
    let mut at = 0;
    let mut left = key.objlen as usize;
    let mut buffer = Vec::new();
    while left > 0 {
        let in_head = usize::try_from(at).ok()?.checked_add(usize::from(key.keylen))?;
        let header = match head.get(in_head..in_head + BlockHeader::SIZE) {
            Some(bytes) => BlockHeader::parse(bytes).ok()?,
            None => {
                read(source, seek + u64::from(key.keylen) + at, BlockHeader::SIZE, &mut buffer)?;
                BlockHeader::parse(&buffer).ok()?
            }
        };
        if !names.contains(&header.algorithm.name()) {
            names.push(header.algorithm.name());
        }
        at += (BlockHeader::SIZE + header.compressed) as u64;
        left = left.checked_sub(header.uncompressed)?;
        if at > end {
            return None;
        }
    }
    names.sort_unstable();
    Some(match names[..] {
        [name] => Cow::Borrowed(name),
        _ => Cow::Owned(names.join("+")),
    })
}

impl Probe {
    fn add(&mut self, found: &Found, seek: u64) {
        self.raw.push(found.raw);
        self.keys += u64::from(found.keylen);
        match self.codecs.get_mut(&*found.codec) {
            Some(n) => *n += 1,
            None => {
                self.codecs.insert(found.codec.to_string(), 1);
            }
        }
        let memory = u64::from(found.keylen) + u64::from(found.raw);
        if memory > self.largest.0 {
            self.largest = (memory, u64::from(found.disk));
            self.largest_seek = seek;
        }
    }
}
