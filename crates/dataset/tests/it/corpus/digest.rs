//! Arrays as flat buffers with digests, as the docstring of the corpus' `make_oracle.py` says.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::text;

/// One flat buffer: what it is, of which type, how many, and its digest.
pub type Flat = (String, String, u64, String);

fn flat(kind: &str, dtype: &str, n: usize, bytes: &[u8]) -> Flat {
    let digest = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
    (kind.to_owned(), dtype.to_owned(), n as u64, digest)
}

/// Offsets from lengths.
pub fn offsets(lengths: impl Iterator<Item = i64>, out: &mut Vec<Flat>) {
    let mut bytes = 0i64.to_le_bytes().to_vec();
    let (mut sum, mut n) = (0, 1);
    for length in lengths {
        sum += length;
        n += 1;
        bytes.extend_from_slice(&sum.to_le_bytes());
    }
    out.push(flat("offsets", "int64", n, &bytes));
}

/// Arrow's own rule: which items of a column are there.
fn there(array: &ArrayRef) -> ArrayRef {
    let parts: Vec<ArrayRef> = (0..array.len()).filter(|i| array.is_valid(*i)).map(|i| array.slice(i, 1)).collect();
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    if parts.is_empty() { array.slice(0, 0) } else { arrow_select::concat::concat(&parts).unwrap() }
}

/// Where uproot's arrays have another form than ours, with the same content.
#[derive(Clone, Copy)]
pub struct Form {
    /// It has some arrays of fixed length as lists.
    pub as_lists: bool,
    /// Its strings are bytes; ours are text, and what is no UTF-8 was taken for Latin-1.
    pub latin: bool,
    /// It leaves out what is behind pointers.
    pub no_pointers: bool,
}

/// The forms that occur.
pub const FORMS: [Form; 6] = {
    const fn form(bits: u8) -> Form {
        Form { as_lists: bits & 1 != 0, latin: bits & 2 != 0, no_pointers: bits & 4 != 0 }
    }
    [form(0), form(1), form(2), form(4), form(5), form(6)]
};

/// The flat buffers of a column.
pub fn flatten(array: &ArrayRef, nullable: bool, form: Form, out: &mut Vec<Flat>) {
    // Unions have nulls of their own.
    if nullable && !matches!(array.data_type(), DataType::Union(..)) {
        let mask: Vec<u8> = (0..array.len()).map(|i| u8::from(array.is_valid(i))).collect();
        out.push(flat("mask", "uint8", mask.len(), &mask));
        return flatten(&there(array), false, form, out);
    }
    macro_rules! number {
        ($type:ty, $name:literal) => {{
            let values = array.as_primitive::<$type>().values();
            let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            out.push(flat("data", $name, values.len(), &bytes));
        }};
    }
    match array.data_type() {
        DataType::Boolean => {
            let bytes: Vec<u8> = array.as_boolean().values().iter().map(u8::from).collect();
            out.push(flat("data", "uint8", bytes.len(), &bytes));
        }
        DataType::Int8 => number!(Int8Type, "int8"),
        DataType::UInt8 => number!(UInt8Type, "uint8"),
        DataType::Int16 => number!(Int16Type, "int16"),
        DataType::UInt16 => number!(UInt16Type, "uint16"),
        DataType::Int32 => number!(Int32Type, "int32"),
        DataType::UInt32 => number!(UInt32Type, "uint32"),
        DataType::Int64 => number!(Int64Type, "int64"),
        DataType::UInt64 => number!(UInt64Type, "uint64"),
        DataType::Float16 => number!(Float16Type, "float16"),
        DataType::Float32 => number!(Float32Type, "float32"),
        DataType::Float64 => number!(Float64Type, "float64"),
        DataType::LargeUtf8 => {
            let strings = array.as_string::<i64>();
            if form.latin {
                let bytes: Vec<Vec<u8>> = strings
                    .iter()
                    .map(|s| s.unwrap().chars().map(|c| u8::try_from(c as u32).unwrap_or(b'?')).collect())
                    .collect();
                offsets(bytes.iter().map(|b| i64::try_from(b.len()).unwrap()), out);
                let bytes = bytes.concat();
                return out.push(flat("data", "uint8", bytes.len(), &bytes));
            }
            offsets(strings.offsets().windows(2).map(|w| w[1] - w[0]), out);
            let ends = (strings.offsets()[0] as usize, strings.offsets()[strings.len()] as usize);
            out.push(flat("data", "uint8", ends.1 - ends.0, &strings.values()[ends.0..ends.1]));
        }
        DataType::LargeList(field) => {
            let list = array.as_list::<i64>();
            offsets(list.offsets().windows(2).map(|w| w[1] - w[0]), out);
            let (start, end) = (list.offsets()[0] as usize, list.offsets()[list.len()] as usize);
            flatten(&list.values().slice(start, end - start), field.is_nullable(), form, out);
        }
        DataType::FixedSizeList(field, size) => {
            if form.as_lists {
                offsets((0..array.len()).map(|_| i64::from(*size)), out);
            }
            flatten(array.as_fixed_size_list().values(), field.is_nullable(), form, out)
        }
        DataType::Struct(fields) => {
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                let pointer = field.is_nullable() || *field.data_type() == DataType::LargeBinary;
                if form.no_pointers && pointer {
                    continue;
                }
                flatten(column, field.is_nullable(), form, out);
            }
        }
        DataType::Union(..) => {
            let union = array.as_union();
            let tags: Vec<u8> = union.type_ids().iter().map(|tag| tag.cast_unsigned()).collect();
            out.push(flat("tags", "int8", tags.len(), &tags));
            for (tag, _) in union.fields().iter() {
                // uproot has no values as a part of unknown type, and takes all parts for optional.
                flatten(union.child(tag), true, form, out);
            }
        }
        DataType::Null => out.push(flat("data", "unknown", 0, &[])),
        other => out.push(flat("opaque", &other.to_string(), array.len(), &[])),
    }
}

/// The digests of an oracle.
pub fn theirs(digest: &Value) -> Vec<Flat> {
    let of = |x: &Value| {
        let dtype = text(x, "dtype").replace("bool", "uint8");
        (text(x, "k").to_owned(), dtype, x["n"].as_u64().unwrap(), text(x, "sha256").to_owned())
    };
    digest.as_array().into_iter().flatten().map(of).collect()
}

/// The buffers in few words.
pub fn brief(flat: &[Flat]) -> String {
    flat.iter().map(|(k, t, n, _)| format!("{k} {t} {n}")).collect::<Vec<_>>().join(", ")
}
