//! How large the buffer behind a branch is while ROOT writes: it grows by doubling and shrinks after a flush.
//!
//! Facts from `TBuffer::AutoExpand`, `TBasket::AdjustSize` and `TBasket::WriteReset` of ROOT 6.40. It predicts
//! the memory a writer takes under a layout; it holds no data.

/// A `TBuffer` is never made smaller than this at first (`TBuffer::kMinimalSize`).
const MINIMAL: u32 = 128;

/// A buffer is not shrunk to save less than two pages of memory.
const WORTH_SHRINKING: i64 = 8 * 1024;

/// The largest buffer that doubling leads to (`kMaxBufferSize`).
const LARGEST: u32 = 0x7fff_fffe;

/// Size of the buffer of the basket a branch is filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasketBuffer {
    size: u32,
    /// What the last three baskets held, and which of them is replaced next.
    last: [u32; 3],
    next: usize,
}

impl BasketBuffer {
    /// The buffer of a new basket: `fBasketSize` bytes.
    pub fn new(basket_size: u32) -> Self {
        Self { size: basket_size.max(MINIMAL), last: [0; 3], next: 0 }
    }

    /// Bytes allocated.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Writes `more` bytes behind the `used` ones, in one piece. A full buffer is doubled, or grows by `more` if
    /// that is more.
    pub fn fill(&mut self, used: u32, more: u32) {
        if used.saturating_add(more) > self.size {
            let doubled = self.size.saturating_mul(2).min(LARGEST);
            self.size = doubled.max(self.size.saturating_add(more));
        }
    }

    /// `TBranch::SetBasketSize` while the basket is open: the buffer takes the new size at once.
    pub fn set_basket_size(&mut self, basket_size: u32) {
        self.size = basket_size;
        self.last = [basket_size, 0, 0];
        self.next = 1;
    }

    /// The basket was written and the buffer is made ready for the next. Returns the new size if it was shrunk.
    ///
    /// `used` is what it held (key, entries, offsets), `basket_size` is `fBasketSize`, `average` the bytes written
    /// before divided by the number of baskets, this one included. `ratio` is `fTargetMemoryRatio`.
    pub fn after_flush(&mut self, used: u32, basket_size: u32, average: u64, ratio: f64) -> Option<u32> {
        let new = self.shrunk_as_outlier(used, basket_size, average).or_else(|| self.shrunk_to_ratio(ratio));
        if let Some(last) = self.last.get_mut(self.next) {
            *last = used;
        }
        self.next = (self.next + 1) % self.last.len();
        self.size = new.unwrap_or(self.size);
        new
    }

    /// A buffer over twice of all of what it held, the basket size and the average goes back to the largest of them.
    fn shrunk_as_outlier(&self, used: u32, basket_size: u32, average: u64) -> Option<u32> {
        let average = u32::try_from(average).unwrap_or(u32::MAX);
        let largest = used.max(basket_size).max(average);
        (u64::from(self.size) > 2 * u64::from(largest)).then(|| to_next_512(largest))
    }

    /// Otherwise to `ratio` times the largest of the three baskets before, if that is known and worth it.
    fn shrunk_to_ratio(&self, ratio: f64) -> Option<u32> {
        // ROOT keeps the ratio, and multiplies, in single precision.
        let ratio = ratio as f32;
        let held = self.last.into_iter().max().filter(|held| *held > 0)?;
        // A product beyond the type stops at its end, and is then no reason to shrink.
        let target = (ratio * held as f32) as u32;
        if self.size <= target {
            return None;
        }
        let new = to_next_512(target);
        let saves = i64::from(new) <= i64::from(self.size) - WORTH_SHRINKING;
        (saves && self.size as f32 / new as f32 >= ratio).then_some(new)
    }
}

/// Always some room: a multiple of 512 goes up too.
fn to_next_512(size: u32) -> u32 {
    size.saturating_add(512 - size % 512)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_by_doubling_or_by_what_comes() {
        let mut buffer = BasketBuffer::new(1000);
        buffer.fill(900, 100);
        assert_eq!(buffer.size(), 1000);
        buffer.fill(900, 101);
        assert_eq!(buffer.size(), 2000);
        buffer.fill(0, 5000);
        assert_eq!(buffer.size(), 7000);
        buffer.fill(u32::MAX, u32::MAX);
        assert_eq!(buffer.size(), u32::MAX);
        assert_eq!(BasketBuffer::new(1).size(), MINIMAL);
    }

    #[test]
    fn shrinks_to_the_ratio_from_the_second_flush_on() {
        let mut buffer = BasketBuffer::new(64_000);
        assert_eq!(buffer.after_flush(40_000, 64_000, 40_000, 1.1), None, "nothing known yet");
        // 1.1 * 40000 = 44000, up to the next 512.
        assert_eq!(buffer.after_flush(40_000, 64_000, 40_000, 1.1), Some(44_032));
        assert_eq!(buffer.after_flush(40_000, 64_000, 40_000, 1.1), None);
    }

    #[test]
    fn an_outlier_is_taken_back_at_once() {
        let mut buffer = BasketBuffer::new(32_000);
        buffer.fill(0, 1_000_000);
        assert_eq!(buffer.after_flush(31_000, 32_000, 31_000, 1.1), Some(32_256));
    }

    #[test]
    fn small_savings_are_left() {
        let mut buffer = BasketBuffer::new(10_000);
        buffer.after_flush(4000, 10_000, 4000, 1.1);
        assert_eq!(buffer.after_flush(4000, 10_000, 4000, 1.1), None, "would save 5 kB");
    }
}
