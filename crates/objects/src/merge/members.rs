//! Gets and sets members of objects by name, whatever number type this version of the class has.

use rootfile::object::{Array, Content, Members, Named, Value};
use rootfile::streamer::code;

/// A member as a number; 0 if the class has none of that name.
pub(super) fn number(m: &Members, name: &str) -> f64 {
    m.get(name).and_then(Value::as_f64).unwrap_or(0.0)
}

/// A member as a whole number; 0 if the class has none of that name.
pub(super) fn int(m: &Members, name: &str) -> i64 {
    m.get(name).and_then(Value::as_i64).unwrap_or(0)
}

/// The numbers of an array member, counted or of a `TArray` class; none if there is no such member.
pub(super) fn array_of(m: &Members, name: &str) -> Vec<f64> {
    m.get(name).and_then(Value::as_array).map(Array::to_f64).unwrap_or_default()
}

/// The title of an object.
pub(super) fn title_of(value: &Value) -> Option<String> {
    match value {
        Value::Object(object) => Some(object.members()?.named()?.title.clone()),
        _ => None,
    }
}

/// Sets a number, in the type that the member has.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the member's own type is kept")]
pub(super) fn set_number(m: &mut Members, name: &str, number: f64) {
    match m.get_mut(name) {
        Some(Value::F64(v)) => *v = number,
        Some(Value::F32(v)) => *v = number as f32,
        Some(Value::Int(v)) => *v = number as i64,
        Some(Value::UInt(v)) => *v = number as u64,
        _ => {}
    }
}

/// Sets a whole number, in the type that the member has.
#[expect(clippy::cast_precision_loss, reason = "the member's own type is kept")]
pub(super) fn set_int(m: &mut Members, name: &str, number: i64) {
    match m.get_mut(name) {
        Some(Value::Int(v)) => *v = number,
        Some(Value::UInt(v)) => *v = u64::try_from(number).unwrap_or_default(),
        Some(Value::F64(v)) => *v = number as f64,
        Some(Value::F32(v)) => *v = number as f32,
        _ => {}
    }
}

/// The `TNamed` among the bases, at any depth.
pub(super) fn named_mut(m: &mut Members) -> Option<&mut Named> {
    m.values.iter_mut().find_map(|value| match value {
        Value::Named(named) => Some(&mut **named),
        Value::Object(object) => object.members_mut().and_then(named_mut),
        _ => None,
    })
}

/// The array behind a member.
pub(super) fn array_mut<'a>(m: &'a mut Members, name: &str) -> Option<&'a mut Array> {
    match m.get_mut(name)? {
        Value::Array(array) => Some(array),
        Value::Object(object) => match &mut object.content {
            Content::Array(array) => Some(array),
            _ => None,
        },
        _ => None,
    }
}

/// Sets the numbers of an array of floating-point numbers. Others are left as they are.
#[expect(clippy::cast_possible_truncation, reason = "the array's own type is kept")]
pub(super) fn set_array(m: &mut Members, name: &str, numbers: &[f64]) {
    let Some(array) = array_mut(m, name) else { return };
    match array.code {
        code::DOUBLE => array.raw = numbers.iter().flat_map(|v| v.to_be_bytes()).collect(),
        code::FLOAT => array.raw = numbers.iter().flat_map(|v| (*v as f32).to_be_bytes()).collect(),
        _ => {}
    }
}
