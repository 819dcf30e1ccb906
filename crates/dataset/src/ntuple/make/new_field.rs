//! The fields of a new RNTuple, as a caller asks for them.

/// A field to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewField {
    /// Its name.
    pub name: String,
    /// Its content.
    pub kind: FieldKind,
}

/// The content of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// A C++ type, in any spelling.
    Type(String),
    /// A record without a type.
    Record(Vec<NewField>),
    /// Any number of items.
    Collection(Box<FieldKind>),
    /// A fixed number of items.
    Fixed(u64, Box<FieldKind>),
    /// An item or none.
    Optional(Box<FieldKind>),
    /// One of several items, or none.
    Variant(Vec<FieldKind>),
    /// Columns whose lists have the same lengths. At the top only.
    Counted(Counted),
}

/// Columns whose lists have the same lengths: stored as one collection of records, and shown as lists of their own, with a
/// number of items if there is a counter.
///
/// Facts: `RNTupleImporter.cxx`, `PrepareSchema`: the collection is `_collection0`, its projections are a
/// `ROOT::RNTupleCardinality<std::uint32_t>` and for each member a `ROOT::VecOps::RVec`.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The name of the number of items.
    pub counter: Option<String>,
    /// The items' parts: names of the lists, and C++ types of the numbers in them.
    pub members: Vec<(String, String)>,
}

impl NewField {
    /// A field of a C++ type.
    pub fn typed(name: &str, type_name: &str) -> Self {
        Self { name: name.to_owned(), kind: FieldKind::Type(type_name.to_owned()) }
    }
}

impl FieldKind {
    /// The C++ type, if there is one.
    pub fn type_name(&self) -> Option<String> {
        let inner = |item: &Self| item.type_name();
        Some(match self {
            Self::Type(name) => name.clone(),
            Self::Record(_) | Self::Counted(_) => return None,
            Self::Collection(item) => format!("std::vector<{}>", inner(item)?),
            Self::Fixed(size, item) => format!("std::array<{},{size}>", inner(item)?),
            Self::Optional(item) => format!("std::optional<{}>", inner(item)?),
            Self::Variant(items) => {
                let names: Option<Vec<String>> = items.iter().map(Self::type_name).collect();
                format!("std::variant<{}>", names?.join(","))
            }
        })
    }
}
