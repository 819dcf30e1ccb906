//! The events that are looked for, as ranges of keys: of each key it is known at once whether it is one of them, and in the end which were
//! not found.

use std::collections::BTreeMap;

use rootfile::Result;

use super::event_list::ListedEvents;
use crate::keys::key_type::KeyType;

/// The keys that an event of the lists means.
struct AskedEvent {
    first: u128,
    last: u128,
    text: String,
}

/// Keys next to each other that are looked for.
struct AskedRange {
    first: u128,
    last: u128,
    /// The number of the first event in the lists that means them.
    place: usize,
}

/// All keys that are looked for.
pub(super) struct AskedKeys {
    /// The events of the lists, each once, by their keys.
    events: Vec<AskedEvent>,
    /// Their keys in ranges that do not overlap, in their order. The keys of a range have the same first event.
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
        let (mut events, mut placed, mut impossible) = (Vec::new(), Vec::new(), Vec::new());
        for (place, event) in listed.iter().enumerate() {
            let least: Vec<&str> = event.least.iter().map(String::as_str).collect();
            let most: Vec<&str> = event.most.iter().map(String::as_str).collect();
            match of.range_of(&least, &most)? {
                Some((first, last)) => {
                    events.push(AskedEvent { first, last, text: event.text() });
                    placed.push(AskedRange { first, last, place });
                }
                None => impossible.push(event.text()),
            }
        }
        events.sort_by_key(|event| (event.first, std::cmp::Reverse(event.last)));
        placed.sort_by_key(|range| (range.first, std::cmp::Reverse(range.last)));
        let mut reached = None;
        let overlaps = |range: &AskedRange| {
            let overlaps = reached.is_some_and(|last| range.first <= last);
            reached = reached.max(Some(range.last));
            u64::from(overlaps)
        };
        let repeated = placed.iter().map(overlaps).sum();
        events.dedup_by(|next, before| (next.first, next.last) == (before.first, before.last));
        Ok(Self { events, ranges: apart(&placed), impossible, repeated })
    }

    /// Events that other ones in the lists are, or are among.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// The place in the lists of the first event that means a key: their order.
    pub fn place(&self, key: u128) -> usize {
        self.find(key).map_or(usize::MAX, |range| range.place)
    }

    /// Whether a key is looked for.
    pub fn has(&self, key: u128) -> bool {
        self.find(key).is_some()
    }

    fn find(&self, key: u128) -> Option<&AskedRange> {
        let before = self.ranges.partition_point(|range| range.first <= key).checked_sub(1)?;
        self.ranges.get(before).filter(|range| key <= range.last)
    }

    /// Whether a key between two, or one of them, is looked for.
    pub fn any_between(&self, first: u128, last: u128) -> bool {
        let at = self.ranges.partition_point(|range| range.last < first);
        self.ranges.get(at).is_some_and(|range| range.first <= last)
    }

    /// The texts of those without any of these keys.
    pub fn missing(&self, found: impl Iterator<Item = u128>) -> Vec<String> {
        let mut found: Vec<u128> = found.collect();
        found.sort_unstable();
        let is_missing = |event: &&AskedEvent| {
            let at = found.partition_point(|key| *key < event.first);
            found.get(at).is_none_or(|key| *key > event.last)
        };
        let missing = self.events.iter().filter(is_missing).map(|event| event.text.clone());
        missing.chain(self.impossible.iter().cloned()).collect()
    }
}

/// Ranges without overlaps, of ranges in the order of their first keys: a key that is in several has the least of their places.
fn apart(placed: &[AskedRange]) -> Vec<AskedRange> {
    let mut found: Vec<AskedRange> = Vec::with_capacity(placed.len());
    let mut add = |first: u128, last: u128, place: usize| match found.last_mut() {
        Some(before) if before.place == place && before.last.checked_add(1) == Some(first) => before.last = last,
        _ => found.push(AskedRange { first, last, place }),
    };
    // Those that have the key that is next, by their places, each with its last key.
    let mut open: BTreeMap<usize, u128> = BTreeMap::new();
    let (mut next, mut waiting) = (0, placed.iter().peekable());
    loop {
        while open.first_key_value().is_some_and(|(_, last)| *last < next) {
            open.pop_first();
        }
        if open.is_empty() {
            let Some(range) = waiting.peek() else { return found };
            next = range.first;
        }
        while let Some(range) = waiting.next_if(|range| range.first <= next) {
            open.insert(range.place, range.last);
        }
        let Some((&place, &last)) = open.first_key_value() else { continue };
        // It goes on until it ends, or until another one begins.
        let until = waiting.peek().map_or(last, |range| last.min(range.first - 1));
        add(next, until, place);
        match until.checked_add(1) {
            Some(behind) => next = behind,
            None => return found,
        }
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
            assert_eq!(asked.has(key(run, event)), is, "{run}:{event}");
        }
        assert!(asked.any_between(key(1, 13), key(1, 20)) && !asked.any_between(key(1, 13), key(1, 19)));
        let places = [(1, 6), (1, 20), (2, 1), (3, 5)].map(|(run, event)| asked.place(key(run, event)));
        assert_eq!((places, asked.repeated()), ([0, 4, 3, 5], 2));
        assert_eq!(asked.missing([key(1, 7), key(3, 5)].into_iter()), ["1:6", "1:20", "2:1"]);
        assert!(AskedKeys::of(&read_list("1:2:3").unwrap(), &of).is_err());
    }

    #[test]
    fn a_key_has_the_place_of_the_first_event_that_means_it() {
        let parts = ["run", "lumi", "event"].map(|name| KeyPart::new(name, &DataType::UInt32).unwrap());
        let of = KeyType::of_types(&parts).unwrap();
        let key = |[run, lumi, event]: [u128; 3]| run << 64 | lumi << 32 | event;
        let values = || (1..4).flat_map(|run| (1..4).flat_map(move |lumi| (1..4).map(move |event| [run, lumi, event])));
        let texts: Vec<String> =
            ["1:2", "1:2:3", "1", "2:1:1", "2:1:2", "2:1", "2:1:1", "3:3", "3:2:1", "3", "{\"2\": [[1, 3], [2, 2]]}\n"]
                .map(str::to_owned)
                .to_vec();

        for turn in 0..texts.len() {
            let mut order = texts.clone();
            order.rotate_left(turn);
            let lists: Vec<_> = order.iter().flat_map(|text| read_list(text).unwrap()).collect();
            let asked = AskedKeys::of(&lists, &of).unwrap();
            for value in values() {
                let means = |listed: &ListedEvents| {
                    let within = |(at, least): (usize, &String)| {
                        (least.parse::<u128>().unwrap()..=listed.most[at].parse().unwrap()).contains(&value[at])
                    };
                    listed.least.iter().enumerate().all(within)
                };
                let first = lists.iter().position(means).unwrap_or(usize::MAX);
                assert_eq!(asked.place(key(value)), first, "{value:?} of {order:?}");
            }
            assert!(asked.missing(values().map(key)).is_empty());
            let all: Vec<String> = asked.missing(std::iter::empty());
            assert_eq!(all.len(), lists.len() - 1, "2:1:1 is there twice: {all:?}");
            assert!(asked.missing([key([1, 2, 1])].into_iter()).contains(&"1:2:3".to_owned()));
        }
    }
}
