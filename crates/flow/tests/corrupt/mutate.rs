//! Damages of a file: truncations and changed bytes, from a seed, so that a case can be repeated.

use super::chance::Chance;

/// One damage.
#[derive(Clone, Debug)]
pub enum Damage {
    /// The file is truncated to this size.
    Cut(usize),
    /// The bytes at this offset are replaced.
    Change(usize, Vec<u8>),
}

impl Damage {
    /// The damaged file.
    pub fn apply(&self, data: &[u8]) -> Vec<u8> {
        let mut bytes = data.to_vec();
        match self {
            Self::Cut(len) => bytes.truncate(*len),
            Self::Change(at, new) => {
                for (slot, byte) in bytes.iter_mut().skip(*at).zip(new) {
                    *slot = *byte;
                }
            }
        }
        bytes
    }
}

/// `cuts` truncations and `flips` changed bytes of a file of `len` bytes.
///
/// Metadata are at both ends (header and first keys; trees, streamer infos and lists of keys written last), so two thirds of
/// the changes go there. With `words` some changes replace a whole integer by a hostile one.
pub fn damages(name: &str, len: usize, cuts: usize, flips: usize, words: bool) -> Vec<Damage> {
    let mut chance = Chance::new(name);
    let mut damages: Vec<Damage> = (0..cuts).map(|k| Damage::Cut(len * (2 * k + 1) / (2 * cuts))).collect();
    for _ in 0..flips {
        let at = match chance.below(3) {
            0 => chance.below(len.min(400)),
            1 => len - 1 - chance.below(len.min(10_000)),
            _ => chance.below(len),
        };
        let new = match chance.below(if words { 8 } else { 4 }) {
            0..=2 => vec![chance.of(&[0, 1, 0x7f, 0x80, 0xff, 0x40])],
            3 => vec![u8::try_from(chance.below(256)).unwrap()],
            4 | 5 => chance
                .of(&[0u32, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x4000_0000, 0x4000_ffff, 1 << 24])
                .to_be_bytes()
                .to_vec(),
            _ => chance
                .of(&[0u64, 1, 1 << 60, 1 << 40, i64::MAX.unsigned_abs(), 1 << 63, u64::MAX, 1 << 31])
                .to_be_bytes()
                .to_vec(),
        };
        damages.push(Damage::Change(at, new));
    }
    damages
}
