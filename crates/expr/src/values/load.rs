//! Arrow arrays as values: lists of all kinds become levels of offsets, members of objects are taken out, numbers get 64 bits.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;

use super::{Values, gather, offsets, place};
use crate::types::Type;

/// The values of a member of an array's objects, or of the array. The error says what is wrong.
pub(crate) fn load(array: &ArrayRef, members: &[String], of: Type) -> Result<Values, String> {
    let (levels, at) = unnested(array, members)?;
    if levels.len() != of.depth {
        return Err("its values have another form than its type".to_owned());
    }
    let leaf = cast(&at, &of.kind.arrow());
    let leaf = leaf.map_err(|e| e.to_string())?;
    Ok(Values { levels, leaf, is_constant: false })
}

/// The levels of lists around such values, and the values as the array has them.
pub(crate) fn unnested(array: &ArrayRef, members: &[String]) -> Result<(Vec<OffsetBuffer<i64>>, ArrayRef), String> {
    let (mut levels, mut at, mut members) = (Vec::new(), array.clone(), members.iter());
    loop {
        if let Some((level, items)) = lists(&at) {
            let (level, items) = without_absent(level, items, at.nulls());
            levels.push(level);
            at = items;
            continue;
        }
        let Some(object) = at.as_struct_opt() else { return Ok((levels, at)) };
        let member = members.next().and_then(|member| object.column_by_name(member));
        let member = member.ok_or("an object without the member")?;
        at = with_nulls(member, object.nulls())?;
    }
}

/// The offsets of an array of lists, from zero on, and its items.
fn lists(array: &ArrayRef) -> Option<(OffsetBuffer<i64>, ArrayRef)> {
    if let Some(lists) = array.as_list_opt::<i64>() {
        let (own, first, last) = (lists.offsets(), lists.offsets().first(), lists.offsets().last());
        let items = lists.values().slice(place(first), place(last - first));
        let level = if first == 0 { own.clone() } else { offsets(own.lengths()) };
        return Some((level, items));
    }
    if let Some(lists) = array.as_list_opt::<i32>() {
        let (own, first, last) = (lists.offsets(), lists.offsets().first(), lists.offsets().last());
        let items = lists.values().slice(place(first.into()), place((last - first).into()));
        return Some((offsets(own.lengths()), items));
    }
    let lists = array.as_fixed_size_list_opt()?;
    let size = usize::try_from(lists.value_length()).ok()?;
    Some((offsets(std::iter::repeat_n(size, lists.len())), lists.values().clone()))
}

/// Lists that are absent are empty.
fn without_absent(
    level: OffsetBuffer<i64>,
    items: ArrayRef,
    nulls: Option<&NullBuffer>,
) -> (OffsetBuffer<i64>, ArrayRef) {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return (level, items) };
    if level.lengths().zip(nulls).all(|(length, is_there)| is_there || length == 0) {
        return (level, items);
    }
    let places: Vec<_> = nulls.iter().zip(0..).map(|(is_there, at)| is_there.then_some(at)).collect();
    // Lists of any items: these are taken as they are.
    let mut found = gather(std::slice::from_ref(&level), &items, &places);
    (found.levels.swap_remove(0), found.leaf)
}

/// An array whose values are absent where those of the object are.
fn with_nulls(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayRef, String> {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return Ok(array.clone()) };
    let both = NullBuffer::union(array.nulls(), Some(nulls));
    let made = array.to_data().into_builder().nulls(both).build().map_err(|e| e.to_string())?;
    Ok(make_array(made))
}
