//! From words to the bytes of a page: the inverse of [`unpack`](super::unpack).

use arrow_buffer::{ArrowNativeType, ToByteSlice};

use super::word::{BLOCK, Word};

/// The new end of a page, of `len` bytes.
fn grow(page: &mut Vec<u8>, len: usize) -> &mut [u8] {
    let start = page.len();
    page.resize(start + len, 0);
    page.get_mut(start..).unwrap_or_default()
}

/// Words one after the other.
pub(super) fn plain<W: Word, T: Copy>(page: &mut Vec<u8>, values: &[T], word: impl Fn(T) -> W) {
    let to = grow(page, values.len() * W::BYTES);
    to.chunks_exact_mut(W::BYTES).zip(values).for_each(|(to, value)| word(*value).to_le(to));
}

/// Words whose bytes are those of the values.
pub(crate) fn native<W: Word, T: ArrowNativeType>(page: &mut Vec<u8>, values: &[T], word: impl Fn(T) -> W) {
    if cfg!(target_endian = "little") {
        page.extend_from_slice(values.to_byte_slice());
    } else {
        plain(page, values, word);
    }
}

/// All first bytes, then all second bytes, and so on.
pub(super) fn split<W: Word, T: Copy>(page: &mut Vec<u8>, values: &[T], mut word: impl FnMut(T) -> W) {
    let to = grow(page, values.len() * W::BYTES);
    let (mut block, mut planes) = ([W::default(); BLOCK], [[0; BLOCK]; 8]);
    for (i, part) in values.chunks(BLOCK).enumerate() {
        block.iter_mut().zip(part).for_each(|(to, value)| *to = word(*value));
        W::split(&block, &mut planes);
        for (plane, bytes) in to.chunks_exact_mut(values.len()).zip(&planes) {
            let to = plane.get_mut(i * BLOCK..).unwrap_or_default();
            match to.first_chunk_mut::<BLOCK>() {
                Some(to) => *to = *bytes,
                None => to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte),
            }
        }
    }
}

/// Differences to the word before, split.
pub(super) fn delta_split<W: Word, T: Copy>(page: &mut Vec<u8>, values: &[T], word: impl Fn(T) -> W) {
    let mut before = W::default();
    split(page, values, |value| {
        let now = word(value);
        let difference = now.wrapping_sub(before);
        before = now;
        difference
    });
}

/// The low `bits` bits of words without gaps, from the least significant bit of each byte on.
pub(super) fn pack<T: Copy>(page: &mut Vec<u8>, values: &[T], bits: u16, word: impl Fn(T) -> u32) {
    let bits = u32::from(bits).clamp(1, 32);
    let mask = u32::MAX >> (32 - bits);
    page.reserve(values.len() * 4);
    let (mut waiting, mut count) = (0_u64, 0);
    for value in values {
        waiting |= u64::from(word(*value) & mask) << count;
        count += bits;
        if count >= 32 {
            page.extend_from_slice(&(waiting as u32).to_le_bytes());
            waiting >>= 32;
            count -= 32;
        }
    }
    page.extend(waiting.to_le_bytes().into_iter().take(count.div_ceil(8) as usize));
}
