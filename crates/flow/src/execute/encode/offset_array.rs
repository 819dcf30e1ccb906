//! The array of entry offsets behind a basket's entries.

/// Appends an offset array as `TBuffer::WriteArray` does: `count` numbers, one more than there are entries. The last is 0.
pub(crate) fn append_offset_array(data: &mut Vec<u8>, numbers: &[u32], count: i32) {
    data.reserve(8 + numbers.len() * 4);
    data.extend_from_slice(&count.to_be_bytes());
    data.extend(numbers.iter().flat_map(|n| n.to_be_bytes()));
    data.extend_from_slice(&[0; 4]);
}
