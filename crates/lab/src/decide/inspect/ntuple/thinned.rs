//! A bounded sample of a long sequence of records: some of them, spread evenly over their bytes.

/// Most items that are kept.
const MOST: usize = 512;

/// Items of a sequence: the first one that ends in each step of so many bytes.
pub struct Thinned<T> {
    /// The items, each with the byte where it ends.
    items: Vec<(u64, T)>,
    /// Bytes so far.
    at: u64,
    step: u64,
}

impl<T> Default for Thinned<T> {
    fn default() -> Self {
        Self { items: Vec::new(), at: 0, step: 1 }
    }
}

impl<T> Thinned<T> {
    /// The next item of the sequence, with its bytes.
    pub fn push(&mut self, bytes: u64, item: T) {
        self.at = self.at.saturating_add(bytes);
        let step_of = |end: u64| end.saturating_sub(1) / self.step;
        let is_next = self.items.last().is_none_or(|(last, _)| step_of(self.at) > step_of(*last));
        if self.at == 0 || !is_next {
            return;
        }
        self.items.push((self.at, item));
        if self.items.len() > MOST {
            self.thin();
        }
    }

    /// Makes steps longer until half of the items suffice.
    fn thin(&mut self) {
        while self.items.len() > MOST / 2 {
            self.step = self.step.saturating_mul(2);
            let (step, mut last) = (self.step, None);
            self.items.retain(|(end, _)| {
                let at = Some(end.saturating_sub(1) / step);
                std::mem::replace(&mut last, at) != at
            });
        }
    }

    /// The items that are kept.
    pub fn into_items(self) -> Vec<T> {
        self.items.into_iter().map(|(_, item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_items_stay_and_many_are_spread_evenly() {
        let kept = |n: u64, bytes: u64| {
            let mut thinned = Thinned::default();
            (0..n).for_each(|i| thinned.push(bytes, i));
            thinned.into_items()
        };
        assert_eq!(kept(100, 10), (0..100).collect::<Vec<_>>());
        for (n, bytes) in [(10_000, 1), (100_000, 700), (513, 40)] {
            let items = kept(n, bytes);
            assert!((MOST / 4..=MOST).contains(&items.len()), "{}", items.len());
            let gaps: Vec<u64> = items.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(*gaps.iter().max().unwrap() <= 3 * n / items.len() as u64 + 2, "{gaps:?}");
        }
    }

    #[test]
    fn items_without_bytes_are_no_sample() {
        let mut thinned = Thinned::default();
        [0, 5, 0, 5].into_iter().for_each(|bytes| thinned.push(bytes, bytes));
        assert_eq!(thinned.into_items(), [5, 5]);
    }
}
