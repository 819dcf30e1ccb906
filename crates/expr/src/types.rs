//! The types of values: what one value is, and how many lists it lies in. Columns of Arrow get theirs here.

use std::fmt;

use arrow_schema::{DataType, FieldRef};

/// What one value is. All whole numbers are computed with 64 bits, all others as doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A truth value.
    Bool,
    /// A whole number of 64 bits with a sign; so are all shorter ones.
    Whole,
    /// A whole number of 64 bits without a sign.
    Unsigned,
    /// A double.
    Number,
    /// A text.
    Text,
}

/// The type of a value of each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// What one value is.
    pub kind: Kind,
    /// The number of lists around it: 0 for one value for each entry.
    pub depth: usize,
}

impl Kind {
    /// Whether it can be computed with.
    pub fn is_numeric(self) -> bool {
        self != Self::Text
    }

    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Bool => "truth values",
            Self::Whole => "whole numbers",
            Self::Unsigned => "unsigned whole numbers",
            Self::Number => "numbers",
            Self::Text => "texts",
        }
    }

    /// The Arrow type of its values.
    pub fn arrow(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Whole => DataType::Int64,
            Self::Unsigned => DataType::UInt64,
            Self::Number => DataType::Float64,
            Self::Text => DataType::LargeUtf8,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = match self.kind {
            Kind::Bool => "a truth value",
            Kind::Whole => "a whole number",
            Kind::Unsigned => "an unsigned whole number",
            Kind::Number => "a number",
            Kind::Text => "a text",
        };
        match self.depth {
            0 => f.write_str(one),
            1 => write!(f, "a list of {}", self.kind.plural()),
            depth => write!(f, "{depth} levels of lists of {}", self.kind.plural()),
        }
    }
}

/// The type of a member of a column. The error says what is wrong with it.
pub(crate) fn of_arrow(data_type: &DataType, members: &[String]) -> Result<Type, String> {
    let (mut at, mut depth, mut members) = (data_type, 0, members.iter());
    loop {
        if let Some(item) = item(at) {
            (at, depth) = (item.data_type(), depth + 1);
            continue;
        }
        let DataType::Struct(fields) = at else { break };
        let names = || fields.iter().map(|field| field.name().as_str()).collect::<Vec<_>>();
        let Some(member) = members.next() else {
            let some: Vec<_> = names().into_iter().take(5).collect();
            return Err(format!("has objects; name a member of them: {}", some.join(", ")));
        };
        let Some(field) = fields.iter().find(|field| field.name() == member) else {
            let near = crate::error::near(member, names(), |one| one);
            return Err(format!("has no member {member}{}", crate::error::offer(&near)));
        };
        at = field.data_type();
    }
    if let Some(member) = members.next() {
        return Err(format!("has no member {member}: its values are no objects"));
    }
    let kind = match at {
        DataType::Boolean => Kind::Bool,
        DataType::UInt64 => Kind::Unsigned,
        of if of.is_integer() => Kind::Whole,
        of if of.is_floating() => Kind::Number,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Dictionary(_, of) => return of_arrow(of, &[]).map(|found| Type { depth, ..found }),
        DataType::Null => return Err("has no values".to_owned()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            return Err("has bytes, which expressions do not take".to_owned());
        }
        other => return Err(format!("has values of Arrow's type {other}, which expressions do not take")),
    };
    Ok(Type { kind, depth })
}

/// The items of a type of lists.
pub(crate) fn item(data_type: &DataType) -> Option<&FieldRef> {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item),
        _ => None,
    }
}
