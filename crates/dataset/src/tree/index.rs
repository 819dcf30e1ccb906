//! `TTreeIndex`: the table that finds entries by the values of two expressions, such as run and event.
//!
//! Its streamer is hand-written (`TTreeIndex::Streamer`): the base, the two expressions, a count, and three arrays
//! without counts of their own. It contains entry numbers, so it must be rebuilt when entries move.

use std::sync::Arc;

use rootfile::bytes::{Cursor, Writer};
use rootfile::object::{Content, Object};
use rootfile::tags::{Frame, begin_frame, end_frame};
use rootfile::{Error, Result};

use super::model::Tree;

const CLASS: &str = "TTreeIndex";
/// The version that ROOT writes since 5.34: minor values are in an array of their own.
const VERSION: i16 = 2;
/// The bit at which the major value begins in the combined number of version 1.
const MAJOR_SHIFT: u32 = 31;
/// The versions of `TVirtualIndex`, `TNamed` and `TObject`.
const BASE_VERSION: i16 = 1;
/// `TObject` bits of a new object on the heap.
const NEW_OBJECT: u32 = 0x0300_0000;
/// Bytes of a line in the record.
const LINE: u64 = 24;
/// Most lines of an index: ROOT reads records of a tree up to 1 GB, and the rest of the tree needs room as well.
pub const MOST_INDEX_LINES: u64 = 1_000_000_000 / LINE;

/// One line of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexLine {
    /// Value of the first expression.
    pub major: i64,
    /// Value of the second.
    pub minor: i64,
    /// The entry with these values.
    pub entry: i64,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeIndex {
    /// The base `TVirtualIndex`, as in the record.
    base: Vec<u8>,
    /// The two expressions.
    names: [String; 2],
    /// Sorted by the values; entries of equal values in their order.
    pub lines: Vec<IndexLine>,
}

impl TreeIndex {
    /// An index of two expressions without lines.
    pub fn new(names: [String; 2]) -> Self {
        let mut w = Writer::new();
        let (base, named) = (begin_frame(&mut w, BASE_VERSION), begin_frame(&mut w, BASE_VERSION));
        w.i16(BASE_VERSION);
        w.u32(0);
        w.u32(NEW_OBJECT);
        w.string("");
        w.string("");
        end_frame(&mut w, named);
        end_frame(&mut w, base);
        Self { base: w.bytes, names, lines: Vec::new() }
    }

    /// Memory of an index with so many lines, here and in the record, in bytes.
    pub fn memory(lines: u64) -> u64 {
        lines.saturating_mul(2 * LINE)
    }

    /// The index of a tree; `None` if the tree has no index, or an index of an unsupported class.
    ///
    /// # Errors
    ///
    /// If the index is damaged.
    pub fn of(tree: &Tree) -> Result<Option<Self>> {
        let object = tree.tree_index.and_then(|id| tree.graph.get(id));
        match object.map(|object| (&*object.class, object.version, &object.content)) {
            Some((CLASS, version, Content::Opaque(bytes))) => {
                Self::parse(bytes, version).map(Some).map_err(|e| e.object("index of the tree"))
            }
            _ => Ok(None),
        }
    }

    fn parse(bytes: &[u8], version: i16) -> Result<Self> {
        let mut c = Cursor::new(bytes);
        let end = Frame::read(&mut c)?.end.ok_or_else(|| Error::corrupt("a TVirtualIndex without a byte count"))?;
        let base = bytes.get(..end).ok_or_else(|| Error::corrupt("a TVirtualIndex without an end"))?.to_vec();
        c.seek(end);
        let names = [c.string()?, c.string()?];
        let count = c.i64()?;
        let n = c.checked_count(count, if version > 1 { 24 } else { 16 })?;
        let numbers = |c: &mut Cursor<'_>| (0..n).map(|_| c.i64()).collect::<Result<Vec<i64>>>();
        let values = numbers(&mut c)?;
        let minors = if version > 1 { numbers(&mut c)? } else { Vec::new() };
        let entries = numbers(&mut c)?;
        let line = |(i, (&value, &entry)): (usize, (&i64, &i64))| match minors.get(i) {
            Some(&minor) => IndexLine { major: value, minor, entry },
            None => {
                let minor = value & ((1 << MAJOR_SHIFT) - 1);
                IndexLine { major: value >> MAJOR_SHIFT, minor, entry }
            }
        };
        Ok(Self { base, names, lines: values.iter().zip(&entries).enumerate().map(line).collect() })
    }

    /// The two expressions, of the major and of the minor value.
    pub fn expressions(&self) -> &[String; 2] {
        &self.names
    }

    /// An index of the same expressions without lines.
    #[must_use]
    pub fn without_lines(&self) -> Self {
        Self { base: self.base.clone(), names: self.names.clone(), lines: Vec::new() }
    }

    /// Whether another index has the same expressions.
    pub fn is_like(&self, other: &Self) -> bool {
        self.names == other.names
    }

    /// Adds lines of an index whose entry 0 is entry `base` here. [`TreeIndex::object`] sorts them.
    pub fn append(&mut self, lines: &[IndexLine], base: u64) {
        let base = i64::try_from(base).unwrap_or(i64::MAX);
        self.lines.extend(lines.iter().map(|line| IndexLine { entry: line.entry.saturating_add(base), ..*line }));
    }

    /// Renumbers the entries of the lines, and drops the lines of entries without a new number.
    pub fn keep(&mut self, number: impl Fn(u64) -> Option<u64>) {
        self.lines.retain_mut(|line| {
            let kept = u64::try_from(line.entry).ok().and_then(&number).and_then(|entry| i64::try_from(entry).ok());
            line.entry = kept.unwrap_or(line.entry);
            kept.is_some()
        });
    }

    /// The number of lines with the values of another, in sorted lines.
    pub fn repeated(&self) -> u64 {
        let is_same = |pair: &&[IndexLine]| matches!(pair, [a, b] if (a.major, a.minor) == (b.major, b.minor));
        self.lines.windows(2).filter(is_same).count() as u64
    }

    /// The index as an object.
    pub fn object(mut self) -> Object {
        self.lines.sort_unstable();
        let mut w = Writer::new();
        w.raw(&self.base);
        self.names.iter().for_each(|name| w.string(name));
        w.i64(i64::try_from(self.lines.len()).unwrap_or(i64::MAX));
        let columns: [fn(&IndexLine) -> i64; 3] = [|line| line.major, |line| line.minor, |line| line.entry];
        for number in columns {
            self.lines.iter().for_each(|line| w.i64(number(line)));
        }
        Object { class: Arc::from(CLASS), version: VERSION, content: Content::Opaque(w.bytes) }
    }
}

impl Tree {
    /// Its index in words: the expressions (`run, event`); of a class that is not read, the class.
    pub fn index_words(&self) -> Option<String> {
        let object = self.tree_index.and_then(|id| self.graph.get(id))?;
        let words = match TreeIndex::of(self) {
            Ok(Some(TreeIndex { names: [major, minor], .. })) if minor == "0" => major,
            Ok(Some(TreeIndex { names: [major, minor], .. })) => format!("{major}, {minor}"),
            _ => object.class.to_string(),
        };
        Some(words)
    }

    /// Gives the tree an index, in place of the one that it has.
    pub fn set_index(&mut self, index: TreeIndex) {
        match self.tree_index.and_then(|id| self.graph.objects.get_mut(id)) {
            Some(slot) => *slot = Some(index.object()),
            None => self.tree_index = Some(self.graph.add(index.object())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(lines: &[(i64, i64, i64)]) -> TreeIndex {
        let mut w = Writer::new();
        let frame = begin_frame(&mut w, 1);
        w.raw(b"base");
        end_frame(&mut w, frame);
        let lines = lines.iter().map(|&(major, minor, entry)| IndexLine { major, minor, entry }).collect();
        TreeIndex { base: w.bytes, names: ["run".to_owned(), "event".to_owned()], lines }
    }

    #[test]
    fn written_and_read_again() {
        let made = index(&[(2, 1, 0), (1, 7, 1), (1, -3, 2)]);
        let Content::Opaque(bytes) = made.object().content else { panic!() };
        assert_eq!(TreeIndex::parse(&bytes, 2).unwrap(), index(&[(1, -3, 2), (1, 7, 1), (2, 1, 0)]));
        assert!(TreeIndex::parse(&bytes[..bytes.len() - 1], 2).is_err());
    }

    #[test]
    fn version_1_has_both_values_in_one() {
        let mut w = Writer::new();
        w.raw(&index(&[]).base);
        w.string("run");
        w.string("event");
        [1, (5 << 31) | 9, 0].into_iter().for_each(|n| w.i64(n));
        assert_eq!(TreeIndex::parse(&w.bytes, 1).unwrap(), index(&[(5, 9, 0)]));
    }

    #[test]
    fn appended_and_cut() {
        let mut joined = index(&[(1, 1, 0), (1, 2, 1)]);
        joined.append(&index(&[(1, 0, 0), (0, 0, 1)]).lines, 2);
        joined.keep(|entry| entry.checked_sub(1));
        let Content::Opaque(bytes) = joined.object().content else { panic!() };
        assert_eq!(TreeIndex::parse(&bytes, 2).unwrap(), index(&[(0, 0, 2), (1, 0, 1), (1, 2, 0)]));
    }
}
