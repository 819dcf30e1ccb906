//! Lists of selected entries: `TEventList`, `TEntryList` and `TEntryListArray`. The sum has every entry that one of them
//! has, tree by tree.

use rootfile::object::{Members, Object, Value};
use rootfile::streamer::code;

use crate::merge::members::{array_mut, named_mut, set_int};

/// Adds the events of a `TEventList` (`TEventList::Add`). The title is the selection, so that of the sum is "one or the
/// other".
pub(in crate::merge) fn merge_events(first: &mut Object, other: &Object) -> Result<(), String> {
    let unreadable = || "its events cannot be read".to_owned();
    let (Some(m), Some(o)) = (first.members_mut(), other.members()) else { return Err(unreadable()) };
    let (code, mine) = events(m)?;
    let (_, theirs) = events(o)?;
    if theirs.is_empty() {
        return Ok(());
    }
    let size = mine.len().saturating_add(theirs.len());
    if !mine.is_empty() {
        let title = o.named().map(|named| named.title.clone()).unwrap_or_default();
        if let Some(named) = named_mut(m) {
            named.title = either(&named.title, &title);
        }
    }
    let sum = union(&mine, &theirs);
    let count = i32::try_from(size).map_err(|_| "more events than a list can have")?;
    set_int(m, "fN", i64::try_from(sum.len()).unwrap_or(i64::MAX));
    set_int(m, "fSize", i64::from(count));
    if let Some(array) = array_mut(m, "fList") {
        array.raw = match code {
            #[expect(clippy::cast_possible_truncation, reason = "the values were read from this width")]
            code::INT => sum.iter().flat_map(|v| (*v as i32).to_be_bytes()).collect(),
            _ => sum.iter().flat_map(|v| v.to_be_bytes()).collect(),
        };
    }
    Ok(())
}

/// The events of a list, and the code of their type.
pub(super) fn events(m: &Members) -> Result<(i32, Vec<i64>), String> {
    match m.get("fList").and_then(Value::as_array) {
        Some(array) if array.code == code::LONG64 || array.code == code::INT || array.code == code::LONG => {
            Ok((array.code, array.to_i64()))
        }
        _ => Err("its events cannot be read".to_owned()),
    }
}

/// Both of two ascending lists in one.
fn union(mine: &[i64], theirs: &[i64]) -> Vec<i64> {
    let mut sum = Vec::with_capacity(mine.len().saturating_add(theirs.len()));
    let mut rest = theirs.iter().copied().peekable();
    for &event in mine {
        while let Some(other) = rest.next_if(|other| *other < event) {
            sum.push(other);
        }
        rest.next_if_eq(&event);
        sum.push(event);
    }
    sum.extend(rest);
    sum
}

/// One selection or another, as `TCut` writes it.
fn either(one: &str, other: &str) -> String {
    match (one, other) {
        ("", only) | (only, "") => only.to_owned(),
        _ => format!("({one})||({other})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_in_the_sum_once() {
        assert_eq!(union(&[1, 5, 9], &[0, 5, 7, 12]), [0, 1, 5, 7, 9, 12]);
        assert_eq!(union(&[], &[3]), [3]);
        assert_eq!(either("a", "b"), "(a)||(b)");
        assert_eq!(either("", "b"), "b");
    }
}
