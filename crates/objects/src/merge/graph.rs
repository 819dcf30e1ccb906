//! Graphs: the points of one follow those of the other (`TGraph::Merge` and those of its subclasses).

use rootfile::object::{Content, Members, Object, Step, Value};

use super::members::int;

/// `TGraph` bit: ROOT computes the limits of the frame anew.
const RESET_HISTOGRAM: u32 = 1 << 17;

/// Appends a graph's points to the first.
pub(super) fn merge(first: &mut Object, other: &Object) -> Result<(), String> {
    let unreadable = || "its points cannot be read".to_owned();
    let (Some(m), Some(o)) = (first.members_mut(), other.members()) else { return Err(unreadable()) };
    let points = (int(m, "fNpoints"), int(o, "fNpoints"));
    let total = points.0.checked_add(points.1).filter(|n| i32::try_from(*n).is_ok()).ok_or("too many points")?;
    if points.1 <= 0 {
        return Ok(());
    }
    let mut sum = m.clone();
    append(&mut sum, o).ok_or_else(unreadable)?;
    let count = sum.get_mut("fNpoints").ok_or_else(unreadable)?;
    *count = Value::Int(total);
    if sum.get("fHistogram").and_then(Value::as_pointer).is_some() {
        set_reset(&mut sum);
    }
    *m = sum;
    Ok(())
}

/// Appends every array that the number of points counts, in the class and its bases.
fn append(first: &mut Members, other: &Members) -> Option<()> {
    let plan = first.plan.clone();
    for ((name, step), value) in plan.steps.iter().zip(&mut first.values) {
        match (step, value) {
            (Step::CountedArray(_, counter), Value::Array(mine)) if counter == "fNpoints" => {
                match other.plan.position(name).and_then(|i| other.values.get(i)) {
                    Some(Value::Array(theirs)) if theirs.code == mine.code => mine.raw.extend_from_slice(&theirs.raw),
                    _ => return None,
                }
            }
            (Step::Base { .. }, Value::Object(mine)) => {
                let theirs = other.plan.position(name).and_then(|i| other.values.get(i));
                if let (Content::Members(mine), Some(Value::Object(theirs))) = (&mut mine.content, theirs) {
                    append(mine, theirs.members()?)?;
                }
            }
            _ => {}
        }
    }
    Some(())
}

fn set_reset(m: &mut Members) {
    for value in &mut m.values {
        match value {
            Value::Named(named) => named.object.bits |= RESET_HISTOGRAM,
            Value::Object(base) => {
                if let Content::Members(base) = &mut base.content {
                    set_reset(base);
                }
            }
            _ => {}
        }
    }
}
