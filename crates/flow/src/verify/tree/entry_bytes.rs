//! Compares runs of entries of two baskets, wherever the runs begin: boundaries first, then all bytes at once. The entry of a
//! difference, and whether class tags explain it, are looked up only if bytes differ.

use dataset::tree::basket::{BasketData, Entries};
use rootfile::tags::{CLASS_MASK, MAP_OFFSET};
use rootfile::{Error, Result};

/// The first difference of two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// Number of the entry in the run.
    pub entry: usize,
    /// How it differs.
    pub kind: ByteDifference,
}

/// How two entries differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ByteDifference {
    /// They have different lengths.
    Lengths(usize, usize),
    /// A byte of them, and its values.
    Byte(usize, u8, u8),
}

/// Entries of a basket from `first` on.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub data: &'a BasketData,
    pub first: usize,
}

impl<'a> Run<'a> {
    /// Start of entry `i` of the run in the basket's data, which is the end of the entry before.
    fn start(&self, i: usize) -> Result<usize> {
        let i = self.first + i;
        match &self.data.entries {
            Entries::Fixed(len) => i.checked_mul(*len as usize).ok_or_else(outside),
            Entries::Offsets(offsets) => offsets.get(i).map(|o| *o as usize).ok_or_else(outside),
            Entries::Generated => Err(outside()),
        }
    }

    /// The bytes of entries `0..n` of the run.
    fn bytes(&self, n: usize) -> Result<&'a [u8]> {
        self.data.data.get(self.start(0)?..self.start(n)?).ok_or_else(outside)
    }

    fn entry(&self, i: usize) -> Result<&'a [u8]> {
        self.data.data.get(self.start(i)?..self.start(i + 1)?).ok_or_else(outside)
    }
}

#[cold]
fn outside() -> Error {
    Error::corrupt("entry boundaries that lie outside their basket")
}

/// Compares the first `n` entries of two runs. Returns the bytes compared and the first difference.
pub(super) fn compare(a: Run<'_>, b: Run<'_>, n: usize, tags: bool) -> Result<(usize, Option<Mismatch>)> {
    let equal = equal_lengths(a, b, n)?;
    let (left, right) = (a.bytes(equal)?, b.bytes(equal)?);
    if left != right {
        let found = if tags { by_entry(a, b, equal)? } else { Some(by_byte(a, left, right)?) };
        if found.is_some() {
            return Ok((left.len(), found));
        }
    }
    if equal < n {
        let kind = ByteDifference::Lengths(a.entry(equal)?.len(), b.entry(equal)?.len());
        return Ok((left.len(), Some(Mismatch { entry: equal, kind })));
    }
    Ok((left.len(), None))
}

/// Number of entries at the start of two runs that have equal lengths.
fn equal_lengths(a: Run<'_>, b: Run<'_>, n: usize) -> Result<usize> {
    match (&a.data.entries, &b.data.entries) {
        (Entries::Fixed(x), Entries::Fixed(y)) => Ok(if x == y { n } else { 0 }),
        (Entries::Offsets(x), Entries::Offsets(y)) => {
            let x = x.get(a.first..=a.first + n).ok_or_else(outside)?;
            let y = y.get(b.first..=b.first + n).ok_or_else(outside)?;
            if x == y {
                return Ok(n);
            }
            let (x0, y0) = (x.first().copied().unwrap_or(0), y.first().copied().unwrap_or(0));
            let same = |(x, y): (&u32, &u32)| x.wrapping_sub(x0) == y.wrapping_sub(y0);
            Ok(x.iter().zip(y).skip(1).position(|pair| !same(pair)).unwrap_or(n))
        }
        _ => {
            let (x0, y0) = (a.start(0)?, b.start(0)?);
            for i in 1..=n {
                if a.start(i)?.wrapping_sub(x0) != b.start(i)?.wrapping_sub(y0) {
                    return Ok(i - 1);
                }
            }
            Ok(n)
        }
    }
}

/// Finds the first byte that differs, and its entry.
fn by_byte(a: Run<'_>, left: &[u8], right: &[u8]) -> Result<Mismatch> {
    let at = left.iter().zip(right).position(|(x, y)| x != y).unwrap_or(0);
    let base = a.start(0)?;
    let entry = match &a.data.entries {
        Entries::Fixed(len) => at.checked_div(*len as usize).unwrap_or(0),
        Entries::Offsets(offsets) => {
            let offsets = offsets.get(a.first..).unwrap_or_default();
            // The last entry that begins at or before the byte. Empty entries before it begin there too.
            offsets.partition_point(|o| (*o as usize).saturating_sub(base) <= at).saturating_sub(1)
        }
        Entries::Generated => 0,
    };
    let value = |bytes: &[u8]| bytes.get(at).copied().unwrap_or(0);
    let byte = at.saturating_sub(a.start(entry)?.saturating_sub(base));
    Ok(Mismatch { entry, kind: ByteDifference::Byte(byte, value(left), value(right)) })
}

/// Finds the first entry that differs by more than its class tags.
fn by_entry(a: Run<'_>, b: Run<'_>, n: usize) -> Result<Option<Mismatch>> {
    for i in 0..n {
        let (left, right) = (a.entry(i)?, b.entry(i)?);
        if left == right {
            continue;
        }
        let origins = (a.data.origin(a.first + i), b.data.origin(b.first + i));
        if let Some(at) = first_unexplained(left, right, origins) {
            let value = |bytes: &[u8]| bytes.get(at).copied().unwrap_or(0);
            return Ok(Some(Mismatch { entry: i, kind: ByteDifference::Byte(at, value(left), value(right)) }));
        }
    }
    Ok(None)
}

/// The first byte of two entries of equal length that differs and is in no class tag. Tags count from the position of the
/// entry when it was written, so they are equal after that position is subtracted. They refer to places in their own entry.
fn first_unexplained(a: &[u8], b: &[u8], origins: (u32, u32)) -> Option<usize> {
    // Tags may lie anywhere, so all divisions of the entry into bytes and tags are followed at once.
    // Bit k is set if the byte k + 1 before `i` can be reached by equal bytes and whole tags.
    let mut reached = 1u8;
    let mut furthest = 0;
    for i in 1..=a.len() {
        let equal = reached & 1 != 0 && a.get(i - 1) == b.get(i - 1);
        let tag = reached & 8 != 0 && is_tag(a.get(i - 4..i), b.get(i - 4..i), origins, a.len());
        if equal || tag {
            furthest = i;
        }
        reached = (reached << 1 | u8::from(equal || tag)) & 0xF;
        if reached == 0 {
            break;
        }
    }
    (furthest < a.len()).then_some(furthest)
}

fn is_tag(a: Option<&[u8]>, b: Option<&[u8]>, (origin_a, origin_b): (u32, u32), len: usize) -> bool {
    let word = |bytes: Option<&[u8]>| bytes.and_then(|b| b.first_chunk::<4>()).map(|b| u32::from_be_bytes(*b));
    let (Some(a), Some(b)) = (word(a), word(b)) else { return false };
    if (a ^ b) & CLASS_MASK != 0 {
        return false;
    }
    let place = |tag: u32, origin: u32| (tag & !CLASS_MASK).wrapping_sub(origin);
    let at = place(a, origin_a);
    at == place(b, origin_b) && at >= MAP_OFFSET && ((at - MAP_OFFSET) as usize) < len
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basket(entries: &[&[u8]], before: u32) -> BasketData {
        let mut offsets = vec![0];
        let mut data = Vec::new();
        for entry in entries {
            data.extend_from_slice(entry);
            offsets.push(u32::try_from(data.len()).unwrap());
        }
        let count = u32::try_from(entries.len()).unwrap();
        BasketData {
            count,
            keylen: before,
            pid_offset: 0,
            data: data.into(),
            entries: Entries::Offsets(offsets),
            displacement: None,
        }
    }

    fn first(a: &BasketData, b: &BasketData, skip: (usize, usize), n: usize, tags: bool) -> Option<Mismatch> {
        compare(Run { data: a, first: skip.0 }, Run { data: b, first: skip.1 }, n, tags).unwrap().1
    }

    #[test]
    fn the_entry_and_its_byte_are_found() {
        let a = basket(&[b"abc", b"", b"", b"defg", b"hi"], 0);
        let b = basket(&[b"", b"", b"deXg", b"hi"], 0);
        assert_eq!(first(&a, &a, (1, 1), 4, false), None);
        let kind = ByteDifference::Byte(2, b'f', b'X');
        for tags in [false, true] {
            assert_eq!(first(&a, &b, (1, 0), 4, tags), Some(Mismatch { entry: 2, kind: kind.clone() }));
        }
        assert_eq!(first(&a, &b, (4, 3), 1, false), None);
    }

    #[test]
    fn lengths_differ_before_bytes_do() {
        let a = basket(&[b"ab", b"cd", b"e"], 0);
        let b = basket(&[b"ab", b"c", b"de"], 0);
        assert_eq!(first(&a, &b, (0, 0), 3, false), Some(Mismatch { entry: 1, kind: ByteDifference::Lengths(2, 1) }));
        let fixed = BasketData { entries: Entries::Fixed(2), data: b"abcd".to_vec().into(), ..basket(&[], 0) };
        assert_eq!(first(&a, &fixed, (0, 0), 2, false), None);
        assert_eq!(
            first(&fixed, &b, (0, 0), 2, false),
            Some(Mismatch { entry: 1, kind: ByteDifference::Lengths(2, 1) })
        );
    }

    #[test]
    fn tags_count_from_where_the_entry_lay() {
        let entry = |origin: u32, item: u8| {
            let class = (CLASS_MASK | (origin + 6)).to_be_bytes();
            let object = (origin + MAP_OFFSET).to_be_bytes();
            [&[7][..], &class, &[item], &object, &[9]].concat()
        };
        let one = |origin: u32, item: u8| basket(&[&entry(origin, item)], origin);
        // 0x1ff and 0x200 differ in two bytes, but by one.
        for (x, y) in [(0x50, 0x1234), (0x1ff - 6, 0x200 - 6), (0x1ff - 2, 0x200 - 2)] {
            assert_eq!(first(&one(x, 1), &one(y, 1), (0, 0), 1, true), None, "{x:#x} {y:#x}");
            assert!(first(&one(x, 1), &one(y, 1), (0, 0), 1, false).is_some());
            let changed = first(&one(x, 1), &one(y, 2), (0, 0), 1, true);
            assert_eq!(changed, Some(Mismatch { entry: 0, kind: ByteDifference::Byte(5, 1, 2) }));
        }
        // The same words, but the entries lay elsewhere.
        let moved = BasketData { displacement: Some(vec![0x60]), ..one(0x50, 1) };
        assert!(first(&one(0x40, 1), &moved, (0, 0), 1, true).is_some());
        let honest = BasketData { displacement: Some(vec![0x50]), keylen: 9, ..one(0x50, 1) };
        assert_eq!(first(&one(0x40, 1), &honest, (0, 0), 1, true), None);
    }
}
