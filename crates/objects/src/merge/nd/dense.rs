//! `THn`: an array of all bins. It is empty until the first bin is filled.

use rootfile::object::{Object, Value};
use rootfile::streamer::code;
use rootfile::tags::BYTE_COUNT_MASK;

use super::kind::{Errors, content_type};
use super::numbers::Numbers;

/// Bytes before the numbers of a `std::vector`: its byte count, its version and its length.
const VECTOR_HEADER: usize = 10;

/// Calls `visit` with the number of the bin on each axis, and the content, of all bins.
pub(super) fn each_bin(object: &Object, bins: &[usize], mut visit: impl FnMut(&[usize], f64)) -> Result<(), String> {
    let contents = contents(object, count_of(bins)?)?;
    let mut at = vec![0; bins.len()];
    for bin in 0..contents.len() {
        visit(&at, contents.get(bin));
        // The last axis counts fastest (`TNDArray::GetBin`).
        for (at, bins) in at.iter_mut().zip(bins).rev() {
            *at += 1;
            if *at < bins.saturating_add(2) {
                break;
            }
            *at = 0;
        }
    }
    Ok(())
}

/// Bins with underflows and overflows.
fn count_of(bins: &[usize]) -> Result<usize, String> {
    let count = bins.iter().try_fold(1usize, |n, bins| n.checked_mul(bins.checked_add(2)?));
    count.ok_or_else(|| "too many bins".to_owned())
}

fn contents(object: &Object, count: usize) -> Result<Numbers, String> {
    let code = content_type(&object.class).and_then(code_of).ok_or("contents of a type that is not known")?;
    array(object, "fArray", code, count)
}

/// Adds all bins. Returns the number of bins that overflowed their number type.
pub(super) fn merge(first: &mut Object, other: &Object, bins: &[usize], errors: Errors) -> Result<usize, String> {
    let count = count_of(bins)?;
    let mut contents = contents(first, count)?;
    let theirs = self::contents(other, count)?;
    let mut sumw2 = array(first, "fSumw2", code::DOUBLE, count)?;
    let their_sumw2 = array(other, "fSumw2", code::DOUBLE, count)?;
    if errors.any() && !errors.mine && contents.len() > 0 {
        sumw2.resize(count);
        (0..count).for_each(|bin| {
            sumw2.add(bin, contents.get(bin));
        });
    }
    let mut overflows = 0;
    if theirs.len() > 0 {
        contents.resize(count);
        for bin in 0..count {
            overflows += usize::from(!contents.add(bin, theirs.get(bin)));
        }
    }
    if errors.any() {
        let added = if errors.theirs { &their_sumw2 } else { &theirs };
        if added.len() > 0 {
            sumw2.resize(count);
            for bin in 0..count {
                sumw2.add(bin, added.get(bin));
            }
        }
    }
    store(first, "fArray", contents)?;
    store(first, "fSumw2", sumw2)?;
    Ok(overflows)
}

fn code_of(name: &str) -> Option<i32> {
    Some(match name {
        "char" | "Char_t" => code::CHAR,
        "short" | "Short_t" => code::SHORT,
        "unsigned short" | "UShort_t" => code::USHORT,
        "int" | "Int_t" => code::INT,
        "unsigned int" | "UInt_t" => code::UINT,
        "long" | "Long_t" => code::LONG,
        "unsigned long" | "ULong_t" => code::ULONG,
        "Long64_t" | "long long" => code::LONG64,
        "ULong64_t" | "unsigned long long" => code::ULONG64,
        "float" | "Float_t" => code::FLOAT,
        "double" | "Double_t" => code::DOUBLE,
        _ => return None,
    })
}

/// The numbers of a `TNDArrayT`: none, or one for each bin.
fn array(object: &Object, name: &str, code: i32, count: usize) -> Result<Numbers, String> {
    let unreadable = || format!("its {name} cannot be read");
    let Some(Value::Object(array)) = object.members().and_then(|m| m.get(name)) else { return Err(unreadable()) };
    let raw = match array.members().and_then(|m| m.get("fData")) {
        Some(Value::Opaque(vector)) => {
            let (header, raw) = vector.split_at_checked(VECTOR_HEADER).ok_or_else(unreadable)?;
            let length = header.last_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes) as usize);
            let length =
                length.filter(|n| super::numbers::width(code).and_then(|w| n.checked_mul(w)) == Some(raw.len()));
            length.ok_or_else(unreadable)?;
            raw.to_vec()
        }
        // Version 1 had an array that another member counts.
        Some(Value::Array(data)) if data.code == code => data.raw.clone(),
        _ => return Err(unreadable()),
    };
    let numbers = Numbers::new(code, raw).ok_or_else(unreadable)?;
    if numbers.len() == 0 || numbers.len() == count {
        Ok(numbers)
    } else {
        Err(format!("its axes have {count} bins, its {name} {}", numbers.len()))
    }
}

fn store(object: &mut Object, name: &str, numbers: Numbers) -> Result<(), String> {
    let too_long = "more bins than an array can have";
    let length = i32::try_from(numbers.len()).map_err(|_| too_long)?;
    let member = object.members_mut().and_then(|m| m.get_mut(name));
    let Some(Value::Object(array)) = member else { return Ok(()) };
    let Some(m) = array.members_mut() else { return Ok(()) };
    match m.get_mut("fData") {
        Some(Value::Opaque(vector)) => {
            let mut bytes = vector.get(..VECTOR_HEADER).unwrap_or_default().to_vec();
            bytes.extend_from_slice(&numbers.raw);
            let size = u32::try_from(bytes.len() - 4).ok().filter(|n| *n < BYTE_COUNT_MASK).ok_or(too_long)?;
            if let Some(count) = bytes.first_chunk_mut::<4>() {
                *count = (size | BYTE_COUNT_MASK).to_be_bytes();
            }
            if let Some(count) = bytes.get_mut(..VECTOR_HEADER).and_then(|header| header.last_chunk_mut::<4>()) {
                *count = length.to_be_bytes();
            }
            *vector = bytes.into();
        }
        Some(Value::Array(data)) => data.raw = numbers.raw,
        _ => {}
    }
    Ok(())
}
