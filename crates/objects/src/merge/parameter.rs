//! `TParameter`: one number with a name, whose bits say how it is merged (`TParameter::SetMergeMode`).

use rootfile::object::{Members, Object, TObject, Value};

const MULTIPLY: u32 = 1 << 16;
const MAX: u32 = 1 << 17;
const MIN: u32 = 1 << 18;
const FIRST: u32 = 1 << 19;
const LAST: u32 = 1 << 20;
/// All values so far were equal.
const IS_CONST: u32 = 1 << 21;

/// Merges a parameter into the first.
pub(super) fn merge(first: &mut Object, other: &Object) -> Result<(), String> {
    let is_bool = &*first.class == "TParameter<bool>";
    let unreadable = || "its value cannot be read".to_owned();
    let theirs = other.members().and_then(|m| m.get("fVal")).cloned().ok_or_else(unreadable)?;
    let m = first.members_mut().ok_or_else(unreadable)?;
    let bits = object_mut(m).ok_or_else(unreadable)?.bits;
    let mine = m.get_mut("fVal").ok_or_else(unreadable)?;
    let merged = if is_bool { merge_bool(bits, mine, &theirs) } else { merge_number(bits, mine, &theirs) };
    let merged = merged.ok_or_else(unreadable)?;
    let differ = *mine != theirs;
    *mine = merged;
    if let Some(object) = object_mut(m).filter(|_| differ) {
        object.bits &= !IS_CONST;
    }
    Ok(())
}

fn object_mut(m: &mut Members) -> Option<&mut TObject> {
    match m.get_mut("TObject") {
        Some(Value::TObject(object)) => Some(object),
        _ => None,
    }
}

fn merge_number(bits: u32, mine: &Value, theirs: &Value) -> Option<Value> {
    macro_rules! by_mode {
        ($variant:ident, $a:ident, $b:ident, $times:expr, $plus:expr) => {
            Some(Value::$variant(if bits & MULTIPLY != 0 {
                $times
            } else if bits & MAX != 0 {
                if $b > $a { *$b } else { *$a }
            } else if bits & MIN != 0 {
                if $b < $a { *$b } else { *$a }
            } else if bits & LAST != 0 {
                *$b
            } else if bits & FIRST != 0 {
                *$a
            } else {
                $plus
            }))
        };
    }
    match (mine, theirs) {
        // Whole numbers wrap round as in C++; they are cut to their width when written.
        (Value::Int(a), Value::Int(b)) => by_mode!(Int, a, b, a.wrapping_mul(*b), a.wrapping_add(*b)),
        (Value::UInt(a), Value::UInt(b)) => by_mode!(UInt, a, b, a.wrapping_mul(*b), a.wrapping_add(*b)),
        (Value::F32(a), Value::F32(b)) => by_mode!(F32, a, b, a * b, a + b),
        (Value::F64(a), Value::F64(b)) => by_mode!(F64, a, b, a * b, a + b),
        _ => None,
    }
}

fn merge_bool(bits: u32, mine: &Value, theirs: &Value) -> Option<Value> {
    let (a, b) = (mine.as_i64()? != 0, theirs.as_i64()? != 0);
    let merged = if bits & (MULTIPLY | MIN) != 0 {
        a && b
    } else if bits & LAST != 0 {
        b
    } else if bits & FIRST == 0 || bits & MAX != 0 {
        a || b
    } else {
        a
    };
    Some(Value::Int(i64::from(merged)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_select_the_merge_mode() {
        let merged = |bits| merge_number(bits, &Value::Int(3), &Value::Int(5)).and_then(|v| v.as_i64());
        let modes = [0, MULTIPLY, MAX, MIN, FIRST, LAST].map(|bits| merged(bits).unwrap());
        assert_eq!(modes, [8, 15, 5, 3, 3, 5]);
        let merged = |bits| merge_bool(bits, &Value::Int(1), &Value::Int(0)).and_then(|v| v.as_i64());
        let modes = [0, MULTIPLY, MAX, MIN, FIRST, LAST].map(|bits| merged(bits).unwrap());
        assert_eq!(modes, [1, 0, 1, 0, 1, 0]);
        assert_eq!(merge_number(0, &Value::Int(3), &Value::F64(5.0)), None);
    }
}
