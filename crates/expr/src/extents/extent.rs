//! What is known of values of some entries without a look at each: the bounds of those that are there, whether some are absent, and how
//! long their lists are.

use arrow_schema::DataType;

use crate::types::{Kind, item};

/// Most items of the lists of an entry, where nothing is known of them: more than memory has room for.
const MOST_ITEMS: u64 = 1 << 47;

/// What is known of the values of a column in some entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Extent {
    pub(super) span: Span,
    /// Whether values may be absent.
    pub(super) absent: bool,
    /// The lists that they lie in.
    pub(super) lists: Option<Lists>,
}

/// The bounds of values that are there. Without a value the lower one is above the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// Whole numbers. Truth values are 0 and 1.
    Whole {
        /// None is below.
        least: i128,
        /// None is above.
        most: i128,
    },
    /// Other numbers.
    Number {
        /// None is below.
        least: f64,
        /// None is above.
        most: f64,
        /// Whether NaN may be among them, which has no place in an order.
        nan: bool,
    },
    /// Texts, of which nothing is known.
    Text,
}

/// The lists of some entries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lists {
    /// Lengths of the outermost lists.
    pub lengths: Count,
    /// Values of an entry, of all levels.
    pub items: Count,
    /// Lists of the same form have the same lengths, entry by entry.
    pub form: Option<Form>,
}

/// How many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub least: u64,
    pub most: u64,
}

/// The lengths of the lists of some entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Those of a column, by its place among those of the expression.
    Column(usize),
    /// Those with this sum of hashes.
    Lengths(u64),
}

impl Extent {
    /// Values within these bounds.
    pub(super) fn new(span: Span, absent: bool) -> Self {
        Self { span, absent, lists: None }
    }

    /// The same with bounds of the values, which are none where no value is there, and whether some are absent.
    #[must_use]
    pub fn bounded(self, span: Option<Span>, absent: bool) -> Self {
        let span = span.unwrap_or(self.span.emptied());
        let is_like = std::mem::discriminant(&span) == std::mem::discriminant(&self.span);
        if is_like { Self { span, absent, ..self } } else { self }
    }

    /// That of any values of a type; none if expressions do not take them, or take members of them.
    pub fn of_type(data_type: &DataType) -> Option<Self> {
        if let Some(item) = item(data_type) {
            return Self::of_type(item.data_type()).map(|items| Self { lists: Some(Lists::ANY), ..items });
        }
        let whole = |least: i128, most: i128| Span::Whole { least, most };
        let span = match data_type {
            DataType::Boolean => Span::any(Kind::Bool),
            DataType::Int8 => whole(i8::MIN.into(), i8::MAX.into()),
            DataType::Int16 => whole(i16::MIN.into(), i16::MAX.into()),
            DataType::Int32 => whole(i32::MIN.into(), i32::MAX.into()),
            DataType::Int64 => Span::any(Kind::Whole),
            DataType::UInt8 => whole(0, u8::MAX.into()),
            DataType::UInt16 => whole(0, u16::MAX.into()),
            DataType::UInt32 => whole(0, u32::MAX.into()),
            DataType::UInt64 => Span::any(Kind::Unsigned),
            of if of.is_floating() => Span::any(Kind::Number),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Span::Text,
            _ => return None,
        };
        Some(Self::new(span, true))
    }

    /// That of any values of a kind, in so many lists.
    pub(super) fn any(kind: Kind, depth: usize) -> Self {
        Self { span: Span::any(kind), absent: true, lists: (depth > 0).then_some(Lists::ANY) }
    }

    /// That of these values, and of those of entries behind them.
    #[must_use]
    pub fn merge(self, next: &Self) -> Self {
        let lists = match (self.lists, &next.lists) {
            (Some(own), Some(next)) => Some(own.merge(next)),
            (own, next) => own.or_else(|| next.clone()),
        };
        Self { span: self.span.hull(next.span), absent: self.absent || next.absent, lists }
    }

    /// Whether it fits values of a kind in so many lists.
    pub(super) fn fits(&self, kind: Kind, depth: usize) -> bool {
        let fits = match self.span {
            Span::Whole { .. } => matches!(kind, Kind::Bool | Kind::Whole | Kind::Unsigned),
            Span::Number { .. } => kind == Kind::Number,
            Span::Text => kind == Kind::Text,
        };
        fits && self.lists.is_some() == (depth > 0)
    }
}

impl Span {
    /// That of any values of a kind.
    pub(super) fn any(kind: Kind) -> Self {
        match kind {
            Kind::Bool => Self::Whole { least: 0, most: 1 },
            Kind::Whole => Self::Whole { least: i64::MIN.into(), most: i64::MAX.into() },
            Kind::Unsigned => Self::Whole { least: 0, most: u64::MAX.into() },
            Kind::Number => Self::Number { least: f64::NEG_INFINITY, most: f64::INFINITY, nan: true },
            Kind::Text => Self::Text,
        }
    }

    /// That of no values of a kind.
    pub(super) fn none(kind: Kind) -> Self {
        Self::any(kind).emptied()
    }

    /// That of no values of its kind.
    pub(super) fn emptied(self) -> Self {
        match self {
            Self::Whole { .. } => Self::Whole { least: i128::MAX, most: i128::MIN },
            Self::Number { .. } => Self::Number { least: f64::INFINITY, most: f64::NEG_INFINITY, nan: false },
            Self::Text => Self::Text,
        }
    }

    /// That of values of both.
    pub(super) fn hull(self, other: Self) -> Self {
        match (self, other) {
            (Self::Whole { least: a, most: b }, Self::Whole { least: c, most: d }) => {
                Self::Whole { least: a.min(c), most: b.max(d) }
            }
            (Self::Number { least: a, most: b, nan: x }, Self::Number { least: c, most: d, nan: y }) => {
                Self::Number { least: a.min(c), most: b.max(d), nan: x || y }
            }
            _ => Self::Text,
        }
    }

    /// Whether no value but NaN is there.
    pub(super) fn is_empty(self) -> bool {
        match self {
            Self::Whole { least, most } => least > most,
            Self::Number { least, most, .. } => least > most,
            Self::Text => false,
        }
    }
}

impl Lists {
    pub const ANY: Self = Self { lengths: Count::ANY, items: Count::ANY, form: None };

    fn merge(self, next: &Self) -> Self {
        let form = match (self.form, next.form) {
            (Some(Form::Lengths(own)), Some(Form::Lengths(next))) => Some(Form::Lengths(own.wrapping_add(next))),
            _ => None,
        };
        Self { lengths: self.lengths.hull(next.lengths), items: self.items.hull(next.items), form }
    }
}

impl Count {
    pub const ANY: Self = Self { least: 0, most: MOST_ITEMS };

    pub fn hull(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// Any part of them.
    pub fn some(self) -> Self {
        Self { least: 0, ..self }
    }

    /// As the bounds of whole numbers.
    pub fn span(self) -> Span {
        Span::Whole { least: self.least.into(), most: self.most.into() }
    }
}
