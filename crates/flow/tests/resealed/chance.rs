//! Random numbers from a seed, so that a case can be repeated.

/// Random numbers (xorshift).
pub struct Chance(u64);

impl Chance {
    /// Starts from a text.
    pub fn new(seed: &str) -> Self {
        // FNV-1a.
        let hash =
            seed.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Self(hash | 1)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) as usize) % n.max(1)
    }

    /// One of some items.
    #[allow(dead_code, reason = "not every test uses all of it")]
    pub fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}
