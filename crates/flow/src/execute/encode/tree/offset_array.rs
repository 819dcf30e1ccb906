//! The array of entry offsets behind a basket's entries.

/// Appends an offset array as `TBuffer::WriteArray` does: `count` numbers, one more than there are entries. The last is 0.
pub(crate) fn append_offset_array(data: &mut Vec<u8>, numbers: &[u32], count: i32) {
    data.reserve(8 + numbers.len() * 4);
    data.extend_from_slice(&count.to_be_bytes());
    let start = data.len();
    data.resize(start + numbers.len() * 4 + 4, 0);
    // Word by word: bytes that come one by one are not joined to words by the compiler.
    let words = data.get_mut(start..).unwrap_or_default().as_chunks_mut::<4>().0;
    words.iter_mut().zip(numbers).for_each(|(word, number)| *word = number.to_be_bytes());
}
