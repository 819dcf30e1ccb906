//! Types of arrays as short texts, which people and `python/basketry` read. No array is looked at.

use arrow_schema::{DataType, Field};

/// A type as short text, in awkward's notation.
pub fn type_text(field: &Field) -> String {
    let words = match field.data_type() {
        DataType::LargeList(item) => format!("var * {}", type_text(item)),
        DataType::FixedSizeList(item, size) => format!("{size} * {}", type_text(item)),
        DataType::LargeUtf8 => "string".to_owned(),
        DataType::LargeBinary => "bytes".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Struct(fields) => {
            let parts: Vec<_> = fields.iter().map(|part| format!("{}: {}", part.name(), type_text(part))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        DataType::Union(parts, _) => {
            let parts: Vec<_> = parts.iter().filter(|(id, _)| *id > 0).map(|(_, part)| type_text(part)).collect();
            format!("union[{}]", parts.join(", "))
        }
        other => format!("{other:?}").to_lowercase(),
    };
    if field.is_nullable() { format!("?{words}") } else { words }
}
