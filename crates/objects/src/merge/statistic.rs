//! `TStatistic`: the sums and moments of a variable, added as `TStatistic::Merge` adds them.

use rootfile::object::Object;

use super::members::{int, number, set_int, set_number};

/// Adds a variable to the first.
pub(super) fn merge(first: &mut Object, other: &Object) -> Result<(), String> {
    let unreadable = || "its sums cannot be read".to_owned();
    let (Some(m), Some(o)) = (first.members_mut(), other.members()) else { return Err(unreadable()) };
    let names = ["fW", "fW2", "fM", "fM2", "fMin", "fMax"];
    if ["fN"].iter().chain(&names).any(|name| m.get(name).is_none() || o.get(name).is_none()) {
        // Versions before 3 had no smallest and largest value.
        return Err("a variable of a version that is not known".to_owned());
    }
    let (mine, theirs) = (int(m, "fN"), int(o, "fN"));
    if theirs == 0 {
        return Ok(());
    }
    let [w, w2, sum, moment, min, max] = names.map(|name| number(m, name));
    let [their_w, their_w2, their_sum, their_moment, their_min, their_max] = names.map(|name| number(o, name));
    let merged = if mine == 0 {
        [their_w, their_w2, their_sum, their_moment, their_min, their_max]
    } else {
        let distance = their_w / w * sum - their_sum;
        [
            w + their_w,
            w2 + their_w2,
            sum + their_sum,
            moment + (their_moment + w / (their_w * (their_w + w)) * distance * distance),
            if their_min < min { their_min } else { min },
            if their_max > max { their_max } else { max },
        ]
    };
    set_int(m, "fN", mine.saturating_add(theirs));
    names.iter().zip(merged).for_each(|(name, value)| set_number(m, name, value));
    Ok(())
}
