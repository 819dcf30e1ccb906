//! A bounded sample of a long sequence of records: some of them, spread evenly over their bytes.

/// Most items that are kept.
const MOST: usize = 512;

/// Items of a sequence. Each of them stands for about the same number of bytes.
pub struct Thinned<T> {
    items: Vec<T>,
    /// Bytes so far.
    at: u64,
    /// The next item that ends behind this byte is kept.
    next: u64,
    step: u64,
}

impl<T> Default for Thinned<T> {
    fn default() -> Self {
        Self { items: Vec::new(), at: 0, next: 0, step: 1 }
    }
}

impl<T> Thinned<T> {
    /// The next item of the sequence, with its bytes.
    pub fn push(&mut self, bytes: u64, item: T) {
        self.at = self.at.saturating_add(bytes);
        if self.at <= self.next {
            return;
        }
        self.items.push(item);
        if self.items.len() > MOST {
            let mut number = 0;
            self.items.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.step = self.step.saturating_mul(2);
        }
        // An item that spans several steps is kept once.
        self.next = (self.at / self.step).saturating_mul(self.step).saturating_add(self.step - 1);
    }

    /// The items that are kept.
    pub fn into_items(self) -> Vec<T> {
        self.items
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
