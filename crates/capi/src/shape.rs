//! C++ types as they lie in memory, for columns that are gathered from addresses: numbers, arrays, `std::string`, `std::vector` and
//! structures of these.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field};
use rootfile::{Error, Result};

/// Bytes of a `std::vector`: three pointers in each of the standard libraries.
pub(crate) const VECTOR: usize = 3 * size_of::<usize>();
/// Bytes of a `std::string` of GNU's library.
const STRING: usize = 4 * size_of::<usize>();

/// A number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Bool,
    Int(usize),
    Unsigned(usize),
    Float(usize),
}

/// How a value lies in memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Number(Number),
    /// A pointer to bytes and their number, in an object of so many bytes.
    Text(usize),
    /// So many items.
    Fixed(usize, Box<Shape>),
    /// Pointers to the first item and behind the last.
    List(Box<Shape>),
    /// An array, of which as many items count as another column says.
    Counted(String, Box<Shape>),
    Record(Record),
}

/// A structure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// The name of its class.
    pub class: String,
    /// Bytes from one to the next in an array.
    pub size: usize,
    pub members: Vec<Member>,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    pub name: String,
    /// Its type, as the class is declared with it.
    pub cpp: String,
    pub offset: usize,
    pub shape: Shape,
}

/// What a type in a text may refer to.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Structures by the names of their classes.
    pub records: HashMap<String, Record>,
    /// Bytes of a `std::string`, if not those of GNU's library.
    pub string: usize,
}

impl Number {
    fn of(cpp: &str) -> Option<Self> {
        Some(match cpp {
            "bool" | "Bool_t" => Self::Bool,
            "char" | "signed char" | "int8_t" | "Char_t" => Self::Int(1),
            "unsigned char" | "uint8_t" | "UChar_t" | "byte" => Self::Unsigned(1),
            "short" | "int16_t" | "Short_t" => Self::Int(2),
            "unsigned short" | "uint16_t" | "UShort_t" => Self::Unsigned(2),
            "int" | "int32_t" | "Int_t" => Self::Int(4),
            "unsigned" | "unsigned int" | "uint32_t" | "UInt_t" => Self::Unsigned(4),
            "long" | "long long" | "int64_t" | "Long64_t" | "ptrdiff_t" => Self::Int(8),
            "unsigned long" | "unsigned long long" | "uint64_t" | "ULong64_t" | "size_t" => Self::Unsigned(8),
            "float" | "Float_t" => Self::Float(4),
            "double" | "Double_t" => Self::Float(8),
            _ => return None,
        })
    }

    /// Its bytes.
    pub fn size(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int(size) | Self::Unsigned(size) | Self::Float(size) => size,
        }
    }

    /// Its type in Arrow.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int(1) => DataType::Int8,
            Self::Int(2) => DataType::Int16,
            Self::Int(4) => DataType::Int32,
            Self::Int(_) => DataType::Int64,
            Self::Unsigned(1) => DataType::UInt8,
            Self::Unsigned(2) => DataType::UInt16,
            Self::Unsigned(4) => DataType::UInt32,
            Self::Unsigned(_) => DataType::UInt64,
            Self::Float(4) => DataType::Float32,
            Self::Float(_) => DataType::Float64,
        }
    }
}

impl Shape {
    /// The shape of a type. None if values of the type cannot be gathered.
    pub fn of(cpp: &str, known: &Known) -> Result<Option<Self>> {
        let plain = plain(cpp);
        let (name, dimensions) = plain.split_once('[').map_or((plain.as_str(), ""), |(name, rest)| (name, rest));
        let Some(mut shape) = Self::named(name.trim(), known)? else { return Ok(None) };
        let mut sizes: Vec<&str> = dimensions.split('[').map(|one| one.trim().trim_end_matches(']').trim()).collect();
        sizes.retain(|size| !size.is_empty());
        for (place, size) in sizes.iter().enumerate().rev() {
            shape = match size.parse() {
                Ok(size) => Self::Fixed(size, Box::new(shape)),
                Err(_) if place == 0 => Self::Counted((*size).to_owned(), Box::new(shape)),
                Err(_) => return Err(Error::request(format!("{cpp}: only the first dimension may be a column"))),
            };
        }
        Ok(Some(shape))
    }

    fn named(name: &str, known: &Known) -> Result<Option<Self>> {
        if let Some(number) = Number::of(name) {
            return Ok(Some(Self::Number(number)));
        }
        if name == "string" {
            return Ok(Some(Self::Text(if known.string == 0 { STRING } else { known.string })));
        }
        if let Some(record) = known.records.get(name) {
            return Ok(Some(Self::Record(record.clone())));
        }
        if let Some(item) = arguments(name, "vector") {
            let shape = Self::of(item, known)?;
            return match shape {
                Some(Self::Number(Number::Bool)) => Err(Error::unsupported(
                    "a std::vector<bool> has no addresses of its items; fill a std::vector<unsigned char>, or use Arrow",
                )),
                shape => Ok(shape.map(|item| Self::List(Box::new(item)))),
            };
        }
        if let Some((item, size)) = arguments(name, "array").and_then(|both| both.rsplit_once(',')) {
            let size = size.trim().parse().map_err(|_| Error::request(format!("{name} has no number of items")))?;
            return Ok(Self::of(item, known)?.map(|item| Self::Fixed(size, Box::new(item))));
        }
        Ok(None)
    }

    /// Bytes from one value to the next.
    pub fn size(&self) -> usize {
        match self {
            Self::Number(number) => number.size(),
            Self::Text(size) => *size,
            Self::Fixed(count, item) => count * item.size(),
            Self::List(_) => VECTOR,
            Self::Counted(_, item) => item.size(),
            Self::Record(record) => record.size,
        }
    }

    /// Its type in Arrow.
    pub fn data_type(&self) -> DataType {
        let item = |item: &Self| Arc::new(Field::new("item", item.data_type(), false));
        match self {
            Self::Number(number) => number.data_type(),
            Self::Text(_) => DataType::LargeUtf8,
            Self::Fixed(count, of) => DataType::FixedSizeList(item(of), i32::try_from(*count).unwrap_or(i32::MAX)),
            Self::List(of) | Self::Counted(_, of) => DataType::LargeList(item(of)),
            Self::Record(record) => {
                let field = |member: &Member| Field::new(&member.name, member.shape.data_type(), false);
                DataType::Struct(record.members.iter().map(field).collect())
            }
        }
    }

    /// Whether it is numbers only: a leaf of a tree, where no class is needed.
    pub fn is_leaf(&self) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Fixed(_, item) | Self::Counted(_, item) => item.is_leaf(),
            Self::Text(_) | Self::List(_) | Self::Record(_) => false,
        }
    }

    /// The counter of the type, if it has one.
    pub fn counter(&self) -> Option<&str> {
        match self {
            Self::Counted(counter, _) => Some(counter),
            _ => None,
        }
    }
}

/// A type without `std::`, `const` and needless spaces.
fn plain(cpp: &str) -> String {
    let text = cpp.replace("std::", "").replace("::std", "");
    let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "const").collect();
    words.join(" ")
}

/// What stands between the brackets of a template of this name.
fn arguments<'a>(name: &'a str, template: &str) -> Option<&'a str> {
    let rest = name.strip_prefix(template)?.trim_start();
    Some(rest.strip_prefix('<')?.strip_suffix('>')?.trim())
}

/// The type with its brackets as `std::array`, as RNTuples have it.
pub(crate) fn without_brackets(cpp: &str) -> String {
    let Some((name, dimensions)) = cpp.split_once('[') else { return cpp.to_owned() };
    let sizes = dimensions.split('[').map(|one| one.trim().trim_end_matches(']').trim());
    sizes.rev().fold(name.trim().to_owned(), |item, size| format!("std::array<{item},{size}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_shapes_of_memory() {
        let record = Record {
            class: "Hit".to_owned(),
            size: 8,
            members: vec![Member {
                name: "x".to_owned(),
                cpp: "float".to_owned(),
                offset: 4,
                shape: Shape::Number(Number::Float(4)),
            }],
        };
        let known = Known { records: HashMap::from([("Hit".to_owned(), record)]), string: 0 };
        let of = |cpp: &str| Shape::of(cpp, &known).unwrap();
        let size = |cpp: &str| of(cpp).unwrap().size();
        assert_eq!((size("float[2][3]"), size("std::array<std::array<double, 2>,3>"), size("const bool")), (24, 48, 1));
        assert_eq!((size("std::vector< std::vector<int> >"), size("std::string"), size("Hit[4]")), (24, 32, 32));
        assert_eq!(of("float[nMuon]").unwrap().counter(), Some("nMuon"));
        let hits = of("std::vector<Hit>").unwrap().data_type();
        assert_eq!(hits.to_string(), DataType::to_string(&of("vector<Hit>").unwrap().data_type()));
        assert!(of("std::map<int,float>").is_none() && of("TH1D").is_none());
        assert!(Shape::of("std::vector<bool>", &known).is_err());
        assert_eq!(without_brackets("float[2][3]"), "std::array<std::array<float,3>,2>");
    }
}
