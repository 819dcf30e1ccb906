//! Questions about texts.

use std::sync::Arc;

use arrow_array::BooleanArray;
use arrow_array::cast::AsArray;
use arrow_array::{Array, LargeStringArray};
use arrow_buffer::BooleanBuffer;

use super::align::align;
use super::at::At;
use super::numbers::valid;
use crate::error::Result;
use crate::typed::TextTest;
use crate::values::Values;

pub(super) fn test(test: TextTest, [text, part]: &[Values; 2], at: &At<'_>) -> Result<Values> {
    let aligned = align([text, part], at)?;
    let [texts, parts] = aligned.leaves.each_ref().map(|leaf| leaf.as_string::<i64>());
    let bits = BooleanBuffer::collect_bool(aligned.len, |place| {
        let (text, part) = (text_at(texts, place), text_at(parts, place));
        match test {
            TextTest::StartsWith => text.starts_with(part),
            TextTest::EndsWith => text.ends_with(part),
            TextTest::Contains => text.contains(part),
        }
    });
    let leaf = Arc::new(BooleanArray::new(bits, valid(&aligned)));
    Ok(aligned.values(leaf))
}

/// A text by its place; a constant has one for all places.
pub(super) fn text_at(texts: &LargeStringArray, place: usize) -> &str {
    match texts.len() {
        0 => "",
        len => texts.value(place.min(len - 1)),
    }
}
