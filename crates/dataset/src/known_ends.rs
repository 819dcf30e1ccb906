//! What is known of the ends of collections in a page that has differences: who reads on in the page need not add all of them up again. It
//! knows no page.

/// Ends before some elements of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KnownEnds(Vec<(usize, u64)>);

/// Elements between two known ends, at least: fewer are soon added up.
const APART: usize = 256;

impl KnownEnds {
    /// The last element up to `element` before which the end is known, and that end.
    pub(crate) fn before(&self, element: usize) -> (usize, u64) {
        let behind = self.0.partition_point(|(known, _)| *known <= element);
        behind.checked_sub(1).and_then(|place| self.0.get(place)).copied().unwrap_or((0, 0))
    }

    /// Notes the end before an element, if none is known nearby.
    pub(crate) fn add(&mut self, element: usize, end: u64) {
        if self.0.last().map_or(0, |(known, _)| *known) + APART <= element {
            self.0.push((element, end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_known_end_counts() {
        let mut known = KnownEnds::default();
        assert_eq!(known.before(1000), (0, 0));
        for (element, end) in [(255, 1), (300, 7), (400, 8), (600, 9), (500, 10), (1000, 11)] {
            known.add(element, end);
        }
        assert_eq!(known, KnownEnds(vec![(300, 7), (600, 9), (1000, 11)]));
        assert_eq!((known.before(299), known.before(300), known.before(599)), ((0, 0), (300, 7), (300, 7)));
        assert_eq!(known.before(usize::MAX), (1000, 11));
    }
}
