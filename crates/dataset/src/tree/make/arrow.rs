//! Default columns for Arrow data, by the conventions of uproot's `mktree`: a file reads the same whether uproot or
//! basketry wrote it.

use std::collections::{HashMap, HashSet};

use arrow_schema::{DataType, Field, Fields, Schema};
use rootfile::{Error, Result};

use super::{NewColumn, NewKind, NewLeaf};

/// The metadata key for the C++ type of a field.
const TYPE_NAME: &str = "typename";
/// The metadata key for the counter of a field of lists.
const COUNTER: &str = "counter";

/// The columns that the fields of a schema are written as, each after its counter:
///
/// - Numbers and booleans: a leaf. Lists of fixed size of them: a leaf with dimensions. Strings: a `TLeafC`.
/// - Lists of these numbers: `name[nname]`, with the counter `nname` as a column of its own in front. If the schema has an
///   integer of that name, that integer is the counter.
/// - A struct of such values: a column `name_field` for each field, as in uproot. One branch of several leaves would put all
///   fields into one basket, so readers of one field would read all.
/// - A list of structs of numbers: `name_field[nname]` for each field, as in NanoAOD.
/// - Lists of lists or of strings: `vector<vector<...> >`.
/// - A field whose metadata has a `typename`: a column of that C++ type.
/// - A list whose metadata has a `counter`: counted by the column of that name, which may count other lists too.
///
/// # Errors
///
/// If a type has no place in a tree, or if a counter is missing or not an integer.
pub fn columns_for(schema: &Schema) -> Result<Vec<NewColumn>> {
    let mut columns = Columns::default();
    for field in schema.fields() {
        let in_field = |e: Error| e.object(format!("field {}", field.name()));
        columns.field(field.name(), field, schema.fields()).map_err(in_field)?;
    }
    columns.make_counters();
    Ok(columns.made)
}

#[derive(Default)]
struct Columns {
    made: Vec<NewColumn>,
    names: HashSet<String>,
    /// Counters that the schema has, and the indices of their columns once made.
    counters: HashMap<String, Option<usize>>,
}

/// The letter of a number in leaf lists.
fn letter(of: &DataType) -> Option<char> {
    Some(match of {
        DataType::Boolean => 'O',
        DataType::Int8 => 'B',
        DataType::UInt8 => 'b',
        DataType::Int16 => 'S',
        DataType::UInt16 => 's',
        DataType::Int32 => 'I',
        DataType::UInt32 => 'i',
        DataType::Int64 => 'L',
        DataType::UInt64 => 'l',
        DataType::Float32 => 'F',
        DataType::Float64 => 'D',
        _ => return None,
    })
}

/// The C++ type of a number.
fn number(of: &DataType) -> Option<&'static str> {
    Some(match of {
        DataType::Boolean => "bool",
        DataType::Int8 => "char",
        DataType::UInt8 => "unsigned char",
        DataType::Int16 => "short",
        DataType::UInt16 => "unsigned short",
        DataType::Int32 => "int",
        DataType::UInt32 => "unsigned int",
        DataType::Int64 => "Long64_t",
        DataType::UInt64 => "ULong64_t",
        DataType::Float32 => "float",
        DataType::Float64 => "double",
        _ => return None,
    })
}

fn list_item(of: &DataType) -> Option<&Field> {
    match of {
        DataType::List(item) | DataType::LargeList(item) => Some(item),
        _ => None,
    }
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Letter and dimensions of a number or an array of fixed size.
fn fixed(of: &DataType) -> Option<(char, Vec<u32>)> {
    match of {
        DataType::FixedSizeList(item, size) => {
            let (letter, mut dims) = fixed(item.data_type())?;
            dims.insert(0, u32::try_from(*size).ok()?);
            Some((letter, dims))
        }
        of => Some((letter(of)?, Vec::new())),
    }
}

/// The C++ container of nested lists.
fn container(of: &DataType) -> Option<String> {
    if is_text(of) {
        return Some("string".to_owned());
    }
    match list_item(of) {
        Some(item) => {
            let item = container(item.data_type())?;
            let space = if item.ends_with('>') { " " } else { "" };
            Some(format!("vector<{item}{space}>"))
        }
        None => number(of).map(str::to_owned),
    }
}

impl Columns {
    fn field(&mut self, name: &str, field: &Field, all: &Fields) -> Result<()> {
        let of = field.data_type();
        if let Some(type_name) = field.metadata().get(TYPE_NAME) {
            return self.typed(name, type_name, field, all);
        }
        if is_text(of) {
            return self.add(NewColumn::leaf(name, 'C'));
        }
        if let DataType::Struct(parts) = of {
            return parts.iter().try_for_each(|part| {
                let refused = || Error::unsupported(format!("a struct with {} in it", part.data_type()));
                let (letter, dims) = fixed(part.data_type()).ok_or_else(refused)?;
                self.leaf(&format!("{name}_{}", part.name()), letter, dims, None)
            });
        }
        if let Some(item) = list_item(of) {
            return self.list(name, field, item, all);
        }
        let (letter, dims) =
            fixed(of).ok_or_else(|| Error::unsupported(format!("{of} in a tree without a typename")))?;
        self.leaf(name, letter, dims, None)
    }

    fn list(&mut self, name: &str, field: &Field, item: &Field, all: &Fields) -> Result<()> {
        let of = item.data_type();
        if let Some((letter, dims)) = fixed(of) {
            let counter = self.counter(name, field, all)?;
            return self.leaf(name, letter, dims, Some(counter));
        }
        if let DataType::Struct(parts) = of {
            let counter = self.counter(name, field, all)?;
            return parts.iter().try_for_each(|part| {
                let refused = || Error::unsupported(format!("a list of structs with {} in it", part.data_type()));
                let (letter, dims) = fixed(part.data_type()).ok_or_else(refused)?;
                self.leaf(&format!("{name}_{}", part.name()), letter, dims, Some(counter.clone()))
            });
        }
        let item = container(of).ok_or_else(|| Error::unsupported(format!("a list of {of} without a typename")))?;
        let space = if item.ends_with('>') { " " } else { "" };
        self.add(NewColumn::class(name, &format!("vector<{item}{space}>")))
    }

    /// The counter of a list: a new column, or the integer of that name in the schema.
    fn counter(&mut self, name: &str, of: &Field, all: &Fields) -> Result<String> {
        let counter = of.metadata().get(COUNTER).cloned().unwrap_or_else(|| format!("n{name}"));
        if let Some(field) = all.iter().find(|field| *field.name() == counter) {
            let is_integer = letter(field.data_type()).is_some_and(|letter| !"OFD".contains(letter));
            if !is_integer {
                return Err(Error::request(format!("{counter} cannot be the counter of {name}: it is not an integer")));
            }
            // The counter must precede its list, and counters have 32 bits.
            if self.counters.insert(counter.clone(), None).is_none() && !self.names.contains(&counter) {
                self.add(NewColumn::leaf(&counter, 'I'))?;
            }
        } else if self.names.insert(counter.clone()) {
            self.made.push(NewColumn::leaf(&counter, 'I'));
        }
        Ok(counter)
    }

    /// Columns that turn out to be counters get 32 bits too.
    fn make_counters(&mut self) {
        for column in &mut self.made {
            if self.counters.contains_key(&column.name) {
                *column = NewColumn::leaf(&column.name, 'I');
            }
        }
    }

    fn leaf(&mut self, name: &str, letter: char, dims: Vec<u32>, counter: Option<String>) -> Result<()> {
        if self.counters.contains_key(name) && self.names.contains(name) {
            return Ok(());
        }
        let leaf = NewLeaf { name: name.to_owned(), letter, dims, counter, packing: String::new() };
        self.add(NewColumn { split_level: 0, ..NewColumn::new(name, NewKind::Leaves(vec![leaf])) })
    }

    fn add(&mut self, column: NewColumn) -> Result<()> {
        if !self.names.insert(column.name.clone()) {
            return Err(Error::request(format!("two columns of the name {}", column.name)));
        }
        self.made.push(column);
        Ok(())
    }

    /// A column with a given C++ type. Numbers, and arrays of them in brackets, are leaves.
    fn typed(&mut self, name: &str, type_name: &str, field: &Field, all: &Fields) -> Result<()> {
        let of = field.data_type();
        let plain = type_name.replace("std::", "");
        if plain == "char*" {
            return self.add(NewColumn::leaf(name, 'C'));
        }
        let element = plain.split('[').next().unwrap_or_default();
        if let Some(letter) = letter_of(element) {
            let varies = plain.contains("[]");
            let item = if varies { list_item(of).map(Field::data_type) } else { Some(of) };
            let fixed = item.and_then(fixed).filter(|(found, _)| *found == letter);
            let mismatch = || Error::request(format!("{of} does not go into a {type_name}"));
            let (_, dims) = fixed.ok_or_else(mismatch)?;
            let counter = if varies { Some(self.counter(name, field, all)?) } else { None };
            return self.leaf(name, letter, dims, counter);
        }
        self.add(NewColumn::class(name, &spelled(&plain)))
    }
}

/// The letter of a number by its C++ name.
fn letter_of(cpp: &str) -> Option<char> {
    Some(match cpp.trim() {
        "bool" => 'O',
        "int8_t" | "char" => 'B',
        "uint8_t" | "unsigned char" => 'b',
        "int16_t" | "short" => 'S',
        "uint16_t" | "unsigned short" => 's',
        "int32_t" | "int" => 'I',
        "uint32_t" | "unsigned int" => 'i',
        "int64_t" | "Long64_t" => 'L',
        "uint64_t" | "ULong64_t" => 'l',
        "float" => 'F',
        "double" => 'D',
        _ => return None,
    })
}

/// ROOT's spelling of a type: no space after commas, a space between closing brackets, and C++'s names of numbers.
pub(crate) fn spelled(type_name: &str) -> String {
    let numbers = [
        ("uint8_t", "unsigned char"),
        ("uint16_t", "unsigned short"),
        ("uint32_t", "unsigned int"),
        ("uint64_t", "ULong64_t"),
        ("int8_t", "char"),
        ("int16_t", "short"),
        ("int32_t", "int"),
        ("int64_t", "Long64_t"),
    ];
    let name = type_name.replace(", ", ",").replace("> >", ">>").replace(">>", "> >").replace(">>", "> >");
    let mut out = String::new();
    let mut word = String::new();
    for c in name.chars().chain(['\0']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        out.push_str(numbers.iter().find(|(name, _)| *name == word).map_or(&word, |(_, cpp)| cpp));
        word.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn field(name: &str, of: DataType) -> Field {
        Field::new(name, of, false)
    }

    fn list(of: DataType) -> DataType {
        DataType::LargeList(Arc::new(field("item", of)))
    }

    fn titles(fields: Vec<Field>) -> Vec<String> {
        let columns = columns_for(&Schema::new(fields)).unwrap();
        let tree = super::super::make_tree("t", "", &columns, &rootfile::streamer::StreamerInfos::new()).unwrap();
        let title = |&top: &usize| match tree.branches[top].element() {
            Some(element) => format!("{} {}", tree.branches[top].name(), element.class_name),
            None => tree.branches[top].named.title.clone(),
        };
        tree.top.iter().map(title).collect()
    }

    #[test]
    fn fields_become_what_uproot_makes_of_them() {
        let pair = DataType::Struct(vec![field("pt", DataType::Float32), field("q", DataType::Int8)].into());
        let fixed = DataType::FixedSizeList(Arc::new(field("item", DataType::Int16)), 3);
        let fields = vec![
            field("x", DataType::Float64),
            field("ok", DataType::Boolean),
            field("s", DataType::Utf8),
            field("m", DataType::FixedSizeList(Arc::new(field("item", fixed.clone())), 2)),
            field("v", list(DataType::UInt64)),
            field("w", list(fixed)),
            field("one", pair.clone()),
            field("mu", list(pair)),
            field("vv", list(list(list(DataType::Float32)))),
            field("vs", list(DataType::LargeUtf8)),
        ];
        let expected = [
            "x/D",
            "ok/O",
            "s/C",
            "m[2][3]/S",
            "nv/I",
            "v[nv]/l",
            "nw/I",
            "w[nw][3]/S",
            "one_pt/F",
            "one_q/B",
            "nmu/I",
            "mu_pt[nmu]/F",
            "mu_q[nmu]/B",
            "vv vector<vector<vector<float> > >",
            "vs vector<string>",
        ];
        assert_eq!(titles(fields), expected);
    }

    #[test]
    fn an_integer_of_the_schema_is_a_counter() {
        let before = vec![field("nv", DataType::UInt64), field("v", list(DataType::Int32))];
        assert_eq!(titles(before), ["nv/I", "v[nv]/I"]);
        let after = vec![field("v", list(DataType::Int32)), field("nv", DataType::Int16)];
        assert_eq!(titles(after), ["nv/I", "v[nv]/I"]);
        let schema = Schema::new(vec![field("nv", DataType::Float32), field("v", list(DataType::Int32))]);
        assert!(columns_for(&schema).unwrap_err().to_string().contains("not an integer"));
    }

    #[test]
    fn a_typename_in_the_metadata_defines_the_type() {
        let typed = |name: &str, of: DataType, type_name: &str| {
            field(name, of).with_metadata(HashMap::from([(TYPE_NAME.to_owned(), type_name.to_owned())]))
        };
        let fields = vec![
            typed("a", list(DataType::Float32), "std::vector<float>"),
            typed("b", list(DataType::Float32), "float[]"),
            typed("c", list(list(DataType::UInt32)), "std::vector<std::set<uint32_t>>"),
            typed("d", DataType::Utf8, "std::string"),
            typed("e", DataType::Int32, "int32_t"),
        ];
        let expected = ["a vector<float>", "nb/I", "b[nb]/F", "c vector<set<unsigned int> >", "d string", "e/I"];
        assert_eq!(titles(fields), expected);
        let wrong = Schema::new(vec![typed("a", DataType::Float32, "int32_t")]);
        assert!(columns_for(&wrong).is_err());
    }
}
