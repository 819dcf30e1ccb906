//! What must hold between the elements of columns, whoever reads them: how many each column has, and where the values of collections
//! and variants lie. The decoder and the [proof](crate::ntuple::soundness) of a cluster share these rules, so that what is
//! proved is read. How elements are found is not known here.

use std::ops::Range;

use rootfile::{Error, Result};

use super::node::ColumnRef;
use crate::ntuple::model::Cluster;

/// How many of the `count` values of a cluster come before the first of its `available` stored elements: they are zero.
pub(in crate::ntuple) fn lacking(column: &ColumnRef, cluster: &Cluster, available: u64, count: u64) -> Result<u64> {
    match count.checked_sub(available) {
        Some(0) => Ok(0),
        Some(lacking) if column.may_lack(cluster) => Ok(lacking),
        _ => Err(Error::corrupt(format!("{available} elements are stored for {count} values"))),
    }
}

/// Whether there is an optional value, by the number of values in its collection.
pub(in crate::ntuple) fn at_most_one(values: i64) -> Result<bool> {
    match values {
        0 => Ok(false),
        1 => Ok(true),
        n => Err(Error::corrupt(format!("{n} values where there is at most one"))),
    }
}

/// Follows the values of variants: those of each alternative lie one behind the other.
pub(in crate::ntuple) struct AlternativeOrder {
    /// For each alternative the element of its first value and the one behind its last. None before the first value.
    seen: Vec<Option<Range<u64>>>,
    /// Whether the first value of an alternative may be any of its elements.
    anywhere: bool,
}

impl AlternativeOrder {
    /// For a variant of `parts` alternatives. With `anywhere` the values begin within a cluster.
    pub fn new(parts: usize, anywhere: bool) -> Self {
        Self { seen: vec![None; parts], anywhere }
    }

    /// Follows one value: the element of its alternative, and the alternative's number from 1. 0 is no value.
    pub fn follow(&mut self, (index, tag): (u64, u32)) -> Result<()> {
        let Some(part) = usize::try_from(tag).unwrap_or(usize::MAX).checked_sub(1) else { return Ok(()) };
        let parts = self.seen.len();
        let Some(seen) = self.seen.get_mut(part) else {
            return Err(Error::corrupt(format!("a variant with value {tag} of {parts} alternatives")));
        };
        let fits = match seen {
            Some(seen) => seen.end == index,
            None => self.anywhere || index == 0,
        };
        match index.checked_add(1).filter(|_| fits) {
            Some(end) => *seen = Some(seen.as_ref().map_or(index, |seen| seen.start)..end),
            None => return Err(Error::corrupt(format!("the values of alternative {tag} are not in order"))),
        }
        Ok(())
    }

    /// The elements of the values so far, for each alternative.
    pub fn spans(&self) -> Vec<Range<u64>> {
        self.seen.iter().map(|seen| seen.clone().unwrap_or(0..0)).collect()
    }

    /// How many elements each alternative must have, if the cluster has no more values.
    pub fn ends(&self) -> Vec<u64> {
        self.seen.iter().map(|seen| seen.as_ref().map_or(0, |seen| seen.end)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_alternatives_lie_one_behind_the_other() {
        let follow = |anywhere, values: &[(u64, u32)]| {
            let mut order = AlternativeOrder::new(2, anywhere);
            values.iter().try_for_each(|value| order.follow(*value)).map(|()| order.spans()).map_err(|e| e.to_string())
        };
        assert_eq!(follow(false, &[(0, 1), (0, 2), (7, 0), (1, 2)]).unwrap(), [0..1, 0..2]);
        assert_eq!(follow(true, &[(4, 1), (5, 1)]).unwrap(), [4..6, 0..0]);
        assert!(follow(false, &[(0, 3)]).unwrap_err().contains("value 3 of 2 alternatives"));
        for (anywhere, values) in [
            (false, [(1, 1), (2, 1)]),
            (false, [(0, 1), (0, 1)]),
            (true, [(3, 2), (5, 2)]),
            (true, [(u64::MAX, 1), (0, 1)]),
        ] {
            assert!(follow(anywhere, &values).unwrap_err().contains("not in order"), "{values:?}");
        }
    }

    #[test]
    fn there_is_one_optional_value_or_none() {
        assert_eq!([at_most_one(0).unwrap(), at_most_one(1).unwrap()], [false, true]);
        assert!(at_most_one(2).is_err() && at_most_one(-1).is_err());
    }
}
