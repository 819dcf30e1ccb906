//! The buffer of a histogram (`fBuffer`): entries that are not filled into cells yet (`TH1::BufferFill`).

use super::shape::Shape;

/// Entries that were not yet filled in: for each, a weight, its place and, in a profile, its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Buffer {
    pub waiting: Vec<f64>,
    /// Capacity of the buffer in numbers, including the count. 0 without a buffer.
    pub room: usize,
    /// The file has a buffer, used or not.
    stored: bool,
    pub changed: bool,
}

impl Buffer {
    /// Numbers of one entry: its weight, its coordinates and, in a profile, its value.
    pub fn stride(shape: Shape) -> usize {
        1 + shape.dimensions + usize::from(shape.profile)
    }

    /// Reads `fBuffer`: the count of entries, then the entries. A negative count means that they are already filled.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, and bounded by the array")]
    pub fn decode(raw: &[f64], shape: Shape) -> Self {
        let count = raw.first().copied().unwrap_or(0.0).max(0.0) as usize;
        let end = count.saturating_mul(Self::stride(shape)).saturating_add(1).min(raw.len());
        let waiting = raw.get(1..end).unwrap_or_default().to_vec();
        Self { waiting, room: raw.len(), stored: !raw.is_empty(), changed: false }
    }

    /// Number of entries that wait.
    pub fn waiting(&self, shape: Shape) -> u64 {
        (self.waiting.len() / Self::stride(shape)) as u64
    }

    /// The numbers to write, at the former capacity, so that the next merge can fill it. Empty if no entry waits.
    #[expect(clippy::cast_precision_loss, reason = "counts are kept as doubles")]
    pub fn encode(self, shape: Shape) -> Vec<f64> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let count = self.waiting.len() / Self::stride(shape);
        let mut raw: Vec<f64> = std::iter::once(count as f64).chain(self.waiting).collect();
        raw.resize(raw.len().max(self.room), 0.0);
        raw
    }

    /// Whether the buffer in the file must be overwritten.
    pub fn is_to_be_stored(&self) -> bool {
        self.changed || self.stored && self.waiting.is_empty()
    }

    /// An empty buffer without capacity.
    pub fn without_room(&self) -> Self {
        Self { stored: self.stored, ..Self::default() }
    }
}
