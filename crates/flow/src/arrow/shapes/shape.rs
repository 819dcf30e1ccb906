//! The columns of arrays in a tree, or in an RNTuple made as one: types that trees lack are replaced, records become one column for
//! each member, and columns become branches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, LargeListArray, new_empty_array};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use dataset::assemble::logical_columns;
use dataset::decode;
use dataset::tree::make::{NewColumn, columns_for, make_tree};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Hint, Result};

use super::plain_values::to_plain;

/// Deepest nesting of lists and records.
const DEEPEST: usize = 32;

/// A column of arrays, and its form in the tree.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// Its name in the source.
    pub name: String,
    /// Its name in the tree.
    renamed: String,
    /// The type that its arrays are converted to.
    plain: DataType,
    /// Whether it stays one column, even if it has members.
    whole: bool,
    /// The fields of the columns that are filled with it.
    pub fields: Vec<FieldRef>,
}

/// The columns, and the branches that they become.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    pub columns: Vec<Shape>,
    pub branches: Vec<NewColumn>,
    pub notes: Vec<String>,
}

/// The form of these columns in a tree.
pub(crate) fn shapes(fields: &[FieldRef]) -> Result<Shapes> {
    let mut shapes = Shapes::default();
    for field in fields {
        let name = field.name();
        let plain = plain(field.data_type(), 0, DEEPEST).map_err(|e| e.object(format!("column {name}")))?;
        shapes.notes.extend(note(field.data_type()).map(|what| format!("{name}: {what}")));
        let renamed = branch_name(name);
        if renamed != *name {
            shapes.notes.push(format!("{name}: is called {renamed} in the tree"));
        }
        let typed = typed(&renamed, field, &plain, fields);
        let whole = typed.is_some();
        let empty = new_empty_array(&plain);
        let mut shape = Shape { name: name.clone(), renamed, plain, whole, fields: Vec::new() };
        match typed {
            Some(typed) => shape.fields.push(Arc::new(typed)),
            None => {
                for Flat { name, array, counter } in shape.flat(&empty)? {
                    let counter = counter.map(|counter| ("counter".to_owned(), counter));
                    let field = Field::new(name, array.data_type().clone(), false);
                    let field = field.with_metadata(HashMap::from_iter(counter));
                    shape.fields.push(Arc::new(field));
                }
            }
        }
        shapes.columns.push(shape);
    }
    let fields: Vec<FieldRef> = shapes.columns.iter().flat_map(|shape| shape.fields.iter().cloned()).collect();
    shapes.branches = columns_for(&Schema::new(fields))?;
    Ok(shapes)
}

/// A column's name as a branch name: a slash would mean a branch below, and brackets dimensions.
fn branch_name(name: &str) -> String {
    name.replace('/', ".").replace('[', "_").replace(']', "")
}

/// A column to fill: its name, its entries, and the name of its counter, if it has a shared one.
#[derive(Debug)]
pub(crate) struct Flat {
    pub name: String,
    pub array: ArrayRef,
    counter: Option<String>,
}

impl Shape {
    /// The values of an array of the source in the columns that are filled with it. Missing numbers become `fill`, and missing texts and
    /// lists become empty; without `fill` they are an error.
    pub fn values(&self, array: &ArrayRef, fill: Option<f64>) -> Result<Vec<Flat>> {
        self.flat(&to_plain(array, &self.plain, fill)?)
    }

    /// An array of the plain type as columns without records: one column `name_part` for each member of a record.
    fn flat(&self, array: &ArrayRef) -> Result<Vec<Flat>> {
        let mut out = Vec::new();
        let name = self.renamed.clone();
        if self.whole {
            out.push(Flat { name, array: Arc::clone(array), counter: None });
        } else {
            flatten(name, array, None, &mut out)?;
        }
        Ok(out)
    }
}

fn flatten(name: String, array: &ArrayRef, counter: Option<String>, out: &mut Vec<Flat>) -> Result<()> {
    let Some(parts) = members(array)? else {
        out.push(Flat { name, array: Arc::clone(array), counter });
        return Ok(());
    };
    // All members of the records of a list share one counter.
    let lists = matches!(array.data_type(), DataType::LargeList(_));
    let counter = counter.or_else(|| lists.then(|| format!("n{name}")));
    parts.into_iter().try_for_each(|(part, array)| flatten(format!("{name}_{part}"), &array, counter.clone(), out))
}

/// The members of records, or of lists of records, as arrays. `None` for all other types.
fn members(array: &ArrayRef) -> Result<Option<Vec<(String, ArrayRef)>>> {
    let item = |part: &ArrayRef| Arc::new(Field::new("item", part.data_type().clone(), false));
    let refused = |e: arrow_schema::ArrowError| Error::corrupt(e.to_string());
    match array.data_type() {
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            Ok(Some(fields.iter().map(|field| field.name().clone()).zip(columns.iter().cloned()).collect()))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let Some(parts) = members(list.values())? else { return Ok(None) };
            let within = |(name, part): (String, ArrayRef)| {
                let made = LargeListArray::try_new(item(&part), list.offsets().clone(), part, None);
                Ok((name, Arc::new(made.map_err(refused)?) as ArrayRef))
            };
            parts.into_iter().map(within).collect::<Result<_>>().map(Some)
        }
        DataType::FixedSizeList(_, size) => {
            let Some(parts) = members(array.as_fixed_size_list().values())? else { return Ok(None) };
            let within = |(name, part): (String, ArrayRef)| {
                let made = FixedSizeListArray::try_new(item(&part), *size, part, None);
                Ok((name, Arc::new(made.map_err(refused)?) as ArrayRef))
            };
            parts.into_iter().map(within).collect::<Result<_>>().map(Some)
        }
        _ => Ok(None),
    }
}

/// The type that arrays of a type are converted to: numbers, texts, lists and records without missing values. `lists` is the
/// number of lists around it.
fn plain(of: &DataType, lists: usize, deepest: usize) -> Result<DataType> {
    let deeper = deepest.checked_sub(1).ok_or_else(|| Error::unsupported("lists and records nested too deeply"))?;
    let item = |field: &Field, lists: usize| {
        Ok::<_, Error>(Arc::new(Field::new("item", plain(field.data_type(), lists, deeper)?, false)))
    };
    let part = |field: &Field| Ok(Arc::new(Field::new(field.name(), plain(field.data_type(), lists, deeper)?, false)));
    let bytes = || Arc::new(Field::new("item", DataType::UInt8, false));
    Ok(match of {
        of if of.is_integer() || matches!(of, DataType::Boolean | DataType::Float32 | DataType::Float64) => of.clone(),
        DataType::Float16 => DataType::Float32,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::LargeUtf8,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => DataType::LargeList(bytes()),
        DataType::FixedSizeBinary(size) if lists <= 1 && *size > 0 => DataType::FixedSizeList(bytes(), *size),
        DataType::Timestamp(..) | DataType::Date64 | DataType::Time64(_) | DataType::Duration(_) => DataType::Int64,
        DataType::Date32 | DataType::Time32(_) => DataType::Int32,
        DataType::Dictionary(_, values) => plain(values, lists, deeper)?,
        DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => {
            DataType::LargeList(item(field, lists + 1)?)
        }
        DataType::FixedSizeList(_, size) if *size <= 0 => {
            return Err(refused(&format!("lists of {size} items")));
        }
        DataType::FixedSizeList(field, size) => {
            // Fact: the first dimension of a leaf may vary. A vector has no fixed dimensions.
            let fixed = item(field, lists)?;
            match lists <= 1 && is_fixed(fixed.data_type()) {
                true => DataType::FixedSizeList(fixed, *size),
                false => DataType::LargeList(item(field, lists + 1)?),
            }
        }
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|field| part(field)).collect::<Result<Vec<_>>>()?.into())
        }
        other => {
            return Err(refused(&format!("is {other}, which a tree cannot hold")));
        }
    })
}

/// Whether all values of a type have the same size.
fn is_fixed(of: &DataType) -> bool {
    match of {
        DataType::LargeUtf8 | DataType::LargeList(_) => false,
        DataType::FixedSizeList(item, _) => is_fixed(item.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| is_fixed(field.data_type())),
        _ => true,
    }
}

/// The note on a type that is written as another.
fn note(of: &DataType) -> Option<String> {
    match of {
        DataType::Timestamp(unit, zone) => {
            let zone = zone.as_ref().map(|zone| format!(" UTC (shown in {zone})")).unwrap_or_default();
            Some(format!("times, written as whole numbers: {unit:?}s since 1970{zone}"))
        }
        DataType::Date32 => Some("dates, written as whole numbers: days since 1970".to_owned()),
        DataType::Date64 => Some("dates, written as whole numbers: milliseconds since 1970".to_owned()),
        DataType::Time32(unit) | DataType::Time64(unit) | DataType::Duration(unit) => {
            Some(format!("times, written as whole numbers of {unit:?}s"))
        }
        DataType::Dictionary(_, values) => note(values),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::Map(field, _)
        | DataType::FixedSizeList(field, _) => note(field.data_type()),
        DataType::Struct(fields) => fields.iter().find_map(|field| note(field.data_type())),
        _ => None,
    }
}

/// The field with the C++ type in its metadata, if a file can have this type without classes of its own and the values are
/// of this type.
fn typed(name: &str, field: &Field, plain: &DataType, all: &[FieldRef]) -> Option<Field> {
    let named = field.metadata().get("typename")?;
    let whole = |other: &&FieldRef| other.data_type().is_integer();
    let counter = field.metadata().get("counter");
    let counter = counter.filter(|counter| all.iter().filter(whole).any(|other| other.name() == *counter));
    // Members of split objects are lists without a counter.
    let named = match named.strip_suffix("[]").filter(|_| counter.is_none()) {
        Some(item) => format!("vector<{item}>"),
        None => named.clone(),
    };
    let mut metadata = HashMap::from([("typename".to_owned(), named)]);
    metadata.extend(counter.map(|counter| ("counter".to_owned(), counter.clone())));
    let field = Field::new(name, plain.clone(), false).with_metadata(metadata);
    let infos = StreamerInfos::new();
    let columns = columns_for(&Schema::new(vec![field.clone()])).ok()?;
    let tree = make_tree("tree", "", &columns, &infos).ok()?;
    let wholes = logical_columns(&tree, &infos, &decode::columns(&tree, &infos));
    let made = wholes.last().filter(|made| made.opaque().is_none() && made.field().name() == name)?;
    same(made.field().data_type(), plain).then_some(field)
}

/// Whether types differ at most in the names of their items.
fn same(one: &DataType, other: &DataType) -> bool {
    match (one, other) {
        (DataType::LargeList(one), DataType::LargeList(other)) => same(one.data_type(), other.data_type()),
        (DataType::FixedSizeList(one, n), DataType::FixedSizeList(other, m)) => {
            n == m && same(one.data_type(), other.data_type())
        }
        (DataType::Struct(one), DataType::Struct(other)) => {
            let pairs = one.iter().zip(other);
            one.len() == other.len() && { pairs }
                .all(|(a, b)| a.name() == b.name() && same(a.data_type(), b.data_type()))
        }
        (one, other) => one == other,
    }
}

/// The error for values that a tree cannot hold.
fn refused(what: &str) -> Error {
    let drop = Hint::named("drop").that("leaves the column out");
    Error::unsupported(format!("{what}; convert it first; {}", drop.clause())).hint(drop)
}
