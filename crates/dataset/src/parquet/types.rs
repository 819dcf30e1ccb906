//! The Arrow types in which columns of Parquet files are read, and how large their values are. Arrays of all files have the same
//! types, whatever the program that wrote them notes on its own arrays.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};

/// The schema with texts, lists and dictionaries in one form each: large texts and bytes, large lists, and values.
pub(super) fn read_schema(schema: &Schema) -> Schema {
    let fields: Vec<Field> = schema.fields().iter().map(|field| read_field(field)).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn read_field(field: &Field) -> Field {
    let plain = Field::new(field.name(), read_type(field.data_type()), field.is_nullable());
    plain.with_metadata(field.metadata().clone())
}

fn read_type(of: &DataType) -> DataType {
    let item = |field: &Field| Arc::new(read_field(field));
    match of {
        DataType::Utf8 | DataType::Utf8View => DataType::LargeUtf8,
        DataType::Binary | DataType::BinaryView => DataType::LargeBinary,
        DataType::Dictionary(_, values) => read_type(values),
        DataType::List(field) | DataType::LargeList(field) => DataType::LargeList(item(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(item(field), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| item(field)).collect()),
        other => other.clone(),
    }
}

/// Least bytes of a value of a type.
pub(super) fn width(of: &DataType) -> u64 {
    match of {
        DataType::FixedSizeList(item, size) => {
            width(item.data_type()).saturating_mul(u64::try_from(*size).unwrap_or(0))
        }
        DataType::FixedSizeBinary(size) => u64::try_from(*size).unwrap_or(0),
        DataType::Struct(fields) => fields.iter().map(|field| width(field.data_type())).fold(0, u64::saturating_add),
        other => other.primitive_width().unwrap_or(8) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_has_one_form_of_each_type() {
        let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        let record = DataType::Struct(vec![Field::new("name", dictionary.clone(), true)].into());
        let schema = Schema::new(vec![
            Field::new("names", DataType::List(Arc::new(Field::new("element", record, false))), true),
            Field::new("name", dictionary, false),
            Field::new("n", DataType::Int16, true),
        ]);
        let texts = DataType::Struct(vec![Field::new("name", DataType::LargeUtf8, true)].into());
        let expected = Schema::new(vec![
            Field::new("names", DataType::LargeList(Arc::new(Field::new("element", texts, false))), true),
            Field::new("name", DataType::LargeUtf8, false),
            Field::new("n", DataType::Int16, true),
        ]);
        assert_eq!(read_schema(&schema), expected);
    }
}
