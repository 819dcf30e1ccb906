//! The size of a branch's buffer while ROOT writes: it grows by doubling and shrinks after a flush.
//!
//! Facts from `TBuffer::AutoExpand`, `TBasket::AdjustSize` and `TBasket::WriteReset` of ROOT 6.40. Predicts the memory
//! of a writer under a layout; holds no data.

/// The smallest initial size of a `TBuffer` (`TBuffer::kMinimalSize`).
const MINIMAL: u32 = 128;

/// ROOT does not shrink a buffer to save less than two pages of memory.
const WORTH_SHRINKING: i64 = 8 * 1024;

/// The largest buffer that doubling leads to (`kMaxBufferSize`).
const LARGEST: u32 = 0x7fff_fffe;

/// Size of the buffer of the basket a branch is filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasketBuffer {
    size: u32,
    /// The sizes of the last three baskets, and the index of the one that is replaced next.
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

    /// Writes `more` bytes at once behind the `used` ones. A full buffer is doubled, or grows by `more` if that is
    /// larger.
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

    /// Prepares the buffer for the next basket, after one was written. Returns the new size if the buffer shrinks.
    ///
    /// `used` is the size of the basket (key, entries, offsets), `basket_size` is `fBasketSize`, `average` is the bytes
    /// written before divided by the number of baskets including this one, `ratio` is `fTargetMemoryRatio`.
    pub fn after_flush(&mut self, used: u32, basket_size: u32, average: u64, ratio: f64) -> Option<u32> {
        let new = self.shrunk_as_outlier(used, basket_size, average).or_else(|| self.shrunk_to_ratio(ratio));
        if let Some(last) = self.last.get_mut(self.next) {
            *last = used;
        }
        self.next = (self.next + 1) % self.last.len();
        self.size = new.unwrap_or(self.size);
        new
    }

    /// A buffer larger than twice the used size, the basket size and the average shrinks to the largest of these.
    fn shrunk_as_outlier(&self, used: u32, basket_size: u32, average: u64) -> Option<u32> {
        let average = u32::try_from(average).unwrap_or(u32::MAX);
        let largest = used.max(basket_size).max(average);
        (u64::from(self.size) > 2 * u64::from(largest)).then(|| to_next_512(largest))
    }

    /// Otherwise it shrinks to `ratio` times the largest of the last three baskets, if known and if that saves enough.
    fn shrunk_to_ratio(&self, ratio: f64) -> Option<u32> {
        // ROOT multiplies in single precision.
        let ratio = ratio as f32;
        let largest = self.last.into_iter().max().filter(|largest| *largest > 0)?;
        // A product beyond the type's range is clamped and causes no shrinking.
        let target = (ratio * largest as f32) as u32;
        if self.size <= target {
            return None;
        }
        let new = to_next_512(target);
        let saves = i64::from(new) <= i64::from(self.size) - WORTH_SHRINKING;
        (saves && self.size as f32 / new as f32 >= ratio).then_some(new)
    }
}

/// A multiple of 512 is rounded up too.
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
    fn buffers_do_not_shrink_to_save_little() {
        let mut buffer = BasketBuffer::new(10_000);
        buffer.after_flush(4000, 10_000, 4000, 1.1);
        assert_eq!(buffer.after_flush(4000, 10_000, 4000, 1.1), None, "would save 5 kB");
    }
}
