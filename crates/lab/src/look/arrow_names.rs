//! Names of Arrow types as people write them: `list<float>`, `struct<x: double>`.

use arrow_schema::DataType;

/// The name of a type.
pub(super) fn arrow_name(kind: &DataType) -> String {
    match kind {
        DataType::Null => "null".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Float16 => "halffloat".to_owned(),
        DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "string".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "binary".to_owned(),
        DataType::FixedSizeBinary(size) => format!("binary[{size}]"),
        DataType::List(item) | DataType::LargeList(item) => format!("list<{}>", arrow_name(item.data_type())),
        DataType::FixedSizeList(item, size) => format!("list<{}>[{size}]", arrow_name(item.data_type())),
        DataType::Struct(fields) => {
            let members = fields.iter().map(|field| format!("{}: {}", field.name(), arrow_name(field.data_type())));
            format!("struct<{}>", members.collect::<Vec<_>>().join(", "))
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) => {
                let parts = pair.iter().map(|part| arrow_name(part.data_type()));
                format!("map<{}>", parts.collect::<Vec<_>>().join(", "))
            }
            other => format!("map<{}>", arrow_name(other)),
        },
        DataType::Union(members, _) => {
            let members = members.iter().map(|(_, field)| arrow_name(field.data_type()));
            format!("union<{}>", members.collect::<Vec<_>>().join(", "))
        }
        DataType::Dictionary(_, values) => arrow_name(values),
        // Int8, UInt64 and the like.
        other => other.to_string().to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::Field;

    use super::*;

    #[test]
    fn types_have_short_names() {
        let list = |kind| DataType::LargeList(Arc::new(Field::new("item", kind, false)));
        let pair = vec![Field::new("x", DataType::Float32, false), Field::new("n", DataType::UInt8, false)];
        for (kind, name) in [
            (DataType::Int64, "int64"),
            (DataType::Boolean, "bool"),
            (list(list(DataType::Float64)), "list<list<double>>"),
            (list(DataType::Struct(pair.into())), "list<struct<x: float, n: uint8>>"),
            (DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Int16, false)), 3), "list<int16>[3]"),
        ] {
            assert_eq!(arrow_name(&kind), name);
        }
    }
}
