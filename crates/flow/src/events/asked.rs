//! The events that are looked for, as ranges of keys: of each key it is known at once whether it is one of them, and in the end which were
//! not found.

use rootfile::Result;

use super::event_list::ListedEvents;
use crate::keys::key_type::KeyType;

/// Some keys that are looked for.
struct AskedRange {
    first: u128,
    last: u128,
    text: String,
    /// The number of the first event in the lists that is among them.
    place: usize,
}

/// All keys that are looked for, in ranges that do not overlap, in their order.
pub(super) struct AskedKeys {
    ranges: Vec<AskedRange>,
    /// Events that no entry can be: a column has no such values.
    impossible: Vec<String>,
    /// Events that other ones in the lists are, or are among.
    repeated: u64,
}

impl AskedKeys {
    /// The keys of events.
    ///
    /// # Errors
    ///
    /// An event has more values than the key, or one that its column cannot have.
    pub fn of(listed: &[ListedEvents], of: &KeyType) -> Result<Self> {
        let (mut ranges, mut impossible) = (Vec::new(), Vec::new());
        for (place, events) in listed.iter().enumerate() {
            let least: Vec<&str> = events.least.iter().map(String::as_str).collect();
            let most: Vec<&str> = events.most.iter().map(String::as_str).collect();
            match of.range_of(&least, &most)? {
                Some((first, last)) => ranges.push(AskedRange { first, last, text: events.text(), place }),
                None => impossible.push(events.text()),
            }
        }
        let all = ranges.len();
        ranges.sort_by_key(|range| (range.first, std::cmp::Reverse(range.last)));
        // Of ranges that overlap one remains: an event of either is one of both.
        ranges.dedup_by(|next, before| {
            let overlaps = next.first <= before.last;
            if overlaps {
                before.last = before.last.max(next.last);
                before.place = before.place.min(next.place);
            }
            overlaps
        });
        let repeated = (all - ranges.len()) as u64;
        Ok(Self { ranges, impossible, repeated })
    }

    /// Events that other ones in the lists are, or are among.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// The place in the lists of the events that a key is of: their order.
    pub fn place(&self, key: u128) -> usize {
        let range = self.find(key).and_then(|range| self.ranges.get(range));
        range.map_or(usize::MAX, |range| range.place)
    }

    /// The number of the range that has a key.
    pub fn find(&self, key: u128) -> Option<usize> {
        let before = self.ranges.partition_point(|range| range.first <= key).checked_sub(1)?;
        self.ranges.get(before).filter(|range| key <= range.last).map(|_| before)
    }

    /// Whether a key between two, or one of them, is looked for.
    pub fn any_between(&self, first: u128, last: u128) -> bool {
        let at = self.ranges.partition_point(|range| range.last < first);
        self.ranges.get(at).is_some_and(|range| range.first <= last)
    }

    /// The texts of those without any of these keys.
    pub fn missing(&self, found: impl Iterator<Item = u128>) -> Vec<String> {
        let mut is_found = vec![false; self.ranges.len()];
        for place in found.filter_map(|key| self.find(key)) {
            is_found.get_mut(place).into_iter().for_each(|found| *found = true);
        }
        let ranges = self.ranges.iter().zip(is_found).filter(|(_, found)| !found).map(|(range, _)| range.text.clone());
        ranges.chain(self.impossible.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;
    use crate::events::event_list::read_list;
    use crate::keys::key_type::KeyPart;

    #[test]
    fn ranges_that_overlap_are_one() {
        let parts = ["run", "event"].map(|name| KeyPart::new(name, &DataType::UInt32).unwrap());
        let of = KeyType::of_types(&parts).unwrap();
        let listed = ["{\"1\": [[5, 9], [7, 12]]}\n", "1:6", "2:1", "1:20", "3"];
        let listed: Vec<_> = listed.iter().flat_map(|text| read_list(text).unwrap()).collect();
        let asked = AskedKeys::of(&listed, &of).unwrap();
        let key = |run: u128, event: u128| run << 32 | event;

        for (run, event, is) in
            [(1, 4, false), (1, 5, true), (1, 12, true), (1, 13, false), (2, 1, true), (3, 99, true)]
        {
            assert_eq!(asked.find(key(run, event)).is_some(), is, "{run}:{event}");
        }
        assert!(asked.any_between(key(1, 13), key(1, 20)) && !asked.any_between(key(1, 13), key(1, 19)));
        let places = [(1, 6), (1, 20), (2, 1), (3, 5)].map(|(run, event)| asked.place(key(run, event)));
        assert_eq!((places, asked.repeated()), ([0, 4, 3, 5], 2));
        assert_eq!(asked.missing([key(1, 7), key(3, 5)].into_iter()), ["1:20", "2:1"]);
        assert!(AskedKeys::of(&read_list("1:2:3").unwrap(), &of).is_err());
    }
}
