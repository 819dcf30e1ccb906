//! The fields for Arrow data: C++ types where there is one, else records and collections without a type.

use arrow_schema::{DataType, Field, Schema};
use rootfile::{Error, Result};

use super::new_field::{FieldKind, NewField};

/// The metadata key for the C++ type of a field.
const TYPE_NAME: &str = "typename";
/// Deepest nesting of lists and records.
const DEEPEST: usize = 32;

/// The fields that the fields of a schema are written as:
///
/// - Numbers, booleans and text: their C++ types. Lists: `std::vector`, and of a fixed size `std::array`.
/// - Structs: records without a type, alone and in lists; `std::tuple` where their parts are named `_0`, `_1` and so on.
/// - Values that may be missing: `std::optional`, in unions, too.
/// - Unions: `std::variant`.
/// - A field whose metadata has a `typename`: that C++ type.
///
/// # Errors
///
/// If a type has no place in an RNTuple.
pub fn fields_for(schema: &Schema) -> Result<Vec<NewField>> {
    schema.fields().iter().map(|field| new_field(field, 0)).collect()
}

fn new_field(field: &Field, depth: usize) -> Result<NewField> {
    let kind = kind(field, depth).map_err(|e| e.object(format!("field {}", field.name())))?;
    Ok(NewField { name: field.name().clone(), kind })
}

fn kind(field: &Field, depth: usize) -> Result<FieldKind> {
    if let Some(type_name) = field.metadata().get(TYPE_NAME) {
        return Ok(FieldKind::Type(type_name.clone()));
    }
    let plain = of_type(field.data_type(), depth)?;
    let is_union = matches!(plain, FieldKind::Variant(_));
    Ok(if field.is_nullable() && !is_union { FieldKind::Optional(Box::new(plain)) } else { plain })
}

fn of_type(data_type: &DataType, depth: usize) -> Result<FieldKind> {
    if depth > DEEPEST {
        return Err(Error::unsupported("types nest too deep"));
    }
    let item = |field: &Field| kind(field, depth + 1).map(Box::new);
    Ok(match data_type {
        DataType::List(of) | DataType::LargeList(of) => FieldKind::Collection(item(of)?),
        DataType::FixedSizeList(of, size) => FieldKind::Fixed(u64::try_from(*size).unwrap_or(0), item(of)?),
        DataType::Struct(parts) => {
            let made: Vec<NewField> = parts.iter().map(|part| new_field(part, depth + 1)).collect::<Result<_>>()?;
            tuple(&made).map_or(FieldKind::Record(made), FieldKind::Type)
        }
        DataType::Union(parts, _) => {
            // The type of values of no part.
            let parts = parts.iter().filter(|(_, part)| *part.data_type() != DataType::Null);
            FieldKind::Variant(parts.map(|(_, part)| kind(part, depth + 1)).collect::<Result<_>>()?)
        }
        other => FieldKind::Type(cpp(other)?.to_owned()),
    })
}

/// The type of a tuple of these parts, if their names are those of one's and all have types.
fn tuple(parts: &[NewField]) -> Option<String> {
    let is_named = |(number, part): (usize, &NewField)| part.name == format!("_{number}");
    let named = !parts.is_empty() && parts.iter().enumerate().all(is_named);
    let types: Option<Vec<String>> = parts.iter().map(|part| part.kind.type_name()).collect();
    types.filter(|_| named).map(|types| format!("std::tuple<{}>", types.join(",")))
}

fn cpp(data_type: &DataType) -> Result<&'static str> {
    Ok(match data_type {
        DataType::Boolean => "bool",
        DataType::Int8 => "std::int8_t",
        DataType::UInt8 => "std::uint8_t",
        DataType::Int16 => "std::int16_t",
        DataType::UInt16 => "std::uint16_t",
        DataType::Int32 => "std::int32_t",
        DataType::UInt32 => "std::uint32_t",
        DataType::Int64 => "std::int64_t",
        DataType::UInt64 => "std::uint64_t",
        DataType::Float32 => "float",
        DataType::Float64 => "double",
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "std::string",
        other => return Err(Error::unsupported(format!("{other} in an RNTuple without a typename"))),
    })
}
