//! A `TEntryListBlock`: which of 64,000 entries are selected, as bits, as their numbers, or as the numbers of the others.

use rootfile::object::{Array, Members, Value};
use rootfile::streamer::code;

use crate::merge::members::{int, set_int};

/// Entries of a block (`TEntryList::kBlockSize`).
pub(super) const BLOCK: usize = 64_000;
/// Sixteen-bit words of a block of bits; as many numbers take the same room (`TEntryListBlock::kBlockSize`).
const WORDS: usize = 4_000;
/// `fType` of bits, and of numbers. An empty block may have neither.
const BITS: i64 = 0;
const NUMBERS: i64 = 1;

/// The selected entries, by words of sixteen bits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block(Vec<u16>);

impl Block {
    /// Reads the members of a block.
    pub fn decode(m: &Members) -> Result<Self, String> {
        let indices = m.get("fIndices").and_then(Value::as_array).filter(|array| array.code == code::USHORT);
        let indices = indices.ok_or("a block of entries cannot be read")?;
        let words = indices.raw.as_chunks::<2>().0.iter().map(|word| u16::from_be_bytes(*word));
        let passing = int(m, "fPassing") != 0;
        let (kind, passed) = (int(m, "fType"), int(m, "fNPassed"));
        if kind == BITS && words.len() == WORDS {
            return Ok(Self(words.collect()));
        }
        if kind == BITS || !(words.len() == 0 && passed == 0 || kind == NUMBERS) {
            return Err(format!("a block of type {kind} has {} words", words.len()));
        }
        let count = usize::try_from(passed).ok().filter(|n| *n <= words.len());
        let count = count.ok_or_else(|| format!("a block of {} numbers says it has {passed}", words.len()))?;
        let mut block = Self(vec![if passing { 0 } else { u16::MAX }; WORDS]);
        for number in words.take(count).map(usize::from) {
            let word = block.0.get_mut(number / 16).ok_or_else(|| format!("a block has an entry {number}"))?;
            let bit = 1 << (number % 16);
            *word = if passing { *word | bit } else { *word & !bit };
        }
        Ok(block)
    }

    /// Writes the members: few entries as numbers, others as bits. ROOT has a third form for nearly all entries;
    /// `TEntryListBlock::Merge` crashes on it if all entries are selected.
    pub fn encode(&self, m: &mut Members) {
        let count = self.count();
        let few = count < WORDS;
        let words: Vec<u16> = if few { self.numbers().collect() } else { self.0.clone() };
        set_int(m, "fNPassed", i64::try_from(count).unwrap_or(i64::MAX));
        set_int(m, "fN", i64::try_from(words.len()).unwrap_or(i64::MAX));
        set_int(m, "fType", if few { NUMBERS } else { BITS });
        set_int(m, "fPassing", 1);
        let raw = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        if let Some(value) = m.get_mut("fIndices") {
            *value = Value::Array(Box::new(Array { code: code::USHORT, raw }));
        }
    }

    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub fn contains(&self, entry: usize) -> bool {
        self.0.get(entry / 16).is_some_and(|word| word >> (entry % 16) & 1 != 0)
    }

    pub fn numbers(&self) -> impl Iterator<Item = u16> {
        (0..u16::MAX).filter(|entry| self.contains(usize::from(*entry)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rootfile::object::{Plan, Step};

    use super::*;

    fn members(kind: i64, passing: i64, passed: i64, words: &[u16]) -> Members {
        let number = |name: &str| (name.to_owned(), Step::Basic(code::INT));
        let indices = ("fIndices".to_owned(), Step::CountedArray(code::USHORT, "fN".to_owned()));
        let steps = vec![number("fNPassed"), number("fN"), indices, number("fType"), number("fPassing")];
        let plan = Plan { class: "TEntryListBlock".to_owned(), version: 1, checksum: 0, steps };
        let raw = words.iter().flat_map(|w| w.to_be_bytes()).collect();
        let array = Value::Array(Box::new(Array { code: code::USHORT, raw }));
        let [kind, passing, passed] = [kind, passing, passed].map(Value::Int);
        Members { plan: Arc::new(plan), values: vec![passed, Value::Int(0), array, kind, passing] }
    }

    #[test]
    fn all_forms_of_a_block_are_equal() {
        let numbers = Block::decode(&members(NUMBERS, 1, 3, &[1, 20, 63_999])).unwrap();
        assert_eq!((numbers.count(), numbers.contains(20), numbers.contains(21)), (3, true, false));
        let mut words = vec![0; WORDS];
        (words[0], words[1], words[3999]) = (2, 16, 0x8000);
        assert_eq!(Block::decode(&members(BITS, 1, 3, &words)).unwrap(), numbers);
        let missing = Block::decode(&members(NUMBERS, 0, 2, &[0, 5])).unwrap();
        assert_eq!((missing.count(), missing.contains(5)), (63_998, false));
        let mut sum = numbers.clone();
        sum.add(&missing);
        assert_eq!(sum.count(), 63_998);
        for block in [numbers, missing, Block::decode(&members(-1, 1, 0, &[])).unwrap()] {
            let mut m = members(0, 0, 0, &[]);
            block.encode(&mut m);
            assert_eq!(Block::decode(&m).unwrap(), block);
        }
    }

    #[test]
    fn blocks_that_contradict_themselves_are_refused() {
        for wrong in [
            members(BITS, 1, 3, &[1]),
            members(NUMBERS, 1, 3, &[1]),
            members(NUMBERS, 1, 1, &[64_000]),
            members(7, 1, 1, &[1]),
            members(NUMBERS, 1, -1, &[1]),
        ] {
            assert!(Block::decode(&wrong).is_err());
        }
    }
}
