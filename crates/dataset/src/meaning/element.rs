//! A member or base of a class, by what it says about bytes: two elements with equal forms are written alike. ROOT spells
//! types and numbers type codes in several ways that are the same in a file.

use std::fmt;

use rootfile::streamer::{ElementKind, Packed, StreamerElement, StreamerInfo, code};

use crate::decode::plan::parts::{element_dimensions, is_base, is_stored};
use crate::decode::program::types::Number;
use crate::type_name::TypeName;

/// What an element says about bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ElementForm {
    pub name: String,
    pub form: Form,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// A base. Its version counts where objects do not say it: in member-wise streams.
    Base { version: i32 },
    /// A member.
    Member {
        /// One code for all codes that are the same in a file.
        code: i32,
        /// The type, where the code does not say it.
        type_name: String,
        packed: Option<Packed>,
        dims: Vec<usize>,
        /// Class and name of the member that counts it.
        counter: Option<(String, String)>,
    },
}

impl ElementForm {
    pub(super) fn of(info: &StreamerInfo, e: &StreamerElement) -> Self {
        let name = if is_base(e) { bare(&e.name) } else { e.name.clone() };
        if is_base(e) {
            let version = match e.kind {
                ElementKind::Base { version } => version,
                _ => 0,
            };
            return Self { name, form: Form::Base { version } };
        }
        let (code, item) = canonical(e);
        let packed = Packed::of_element(item, e);
        // A Double32_t without a range is a float in a file.
        let (code, packed) = match packed {
            Some(Packed::Float) => (code - item + code::FLOAT, None),
            packed => (code, packed),
        };
        let counter = match &e.kind {
            ElementKind::Counted { name, class, .. } => Some((bare(class), name.clone())),
            _ => None,
        };
        let counter =
            counter.map(|(class, name)| if class.is_empty() { (bare(&info.name), name) } else { (class, name) });
        // Numbers are what their codes say. An enumeration is spelled by its own name.
        let type_name = if (1..code::OBJECT).contains(&item) { String::new() } else { bare(&e.type_name) };
        Self { name, form: Form::Member { code, type_name, packed, dims: element_dimensions(e), counter } }
    }

    /// Whether two elements differ in no more than the version of a base.
    pub(super) fn is_same_but_version(&self, other: &Self) -> bool {
        match (&self.form, &other.form) {
            (Form::Base { .. }, Form::Base { .. }) => self.name == other.name,
            _ => self == other,
        }
    }
}

/// The forms of the elements of a class, in order.
pub(super) fn elements(info: &StreamerInfo) -> Vec<ElementForm> {
    info.elements.iter().filter(|e| is_stored(e)).map(|e| ElementForm::of(info, e)).collect()
}

/// One code for those that are the same in a file; and the code of an item, if it is that of a number.
fn canonical(e: &StreamerElement) -> (i32, i32) {
    if matches!(e.kind, ElementKind::Stl { .. }) || matches!(e.type_code, code::STL | code::STL_STRING) {
        return (code::STL, code::STL);
    }
    let offset = match e.type_code {
        t if (code::OFFSET_P..code::OFFSET_P + code::OFFSET_L).contains(&t) => code::OFFSET_P,
        t if (code::OFFSET_L..code::OFFSET_P).contains(&t) => code::OFFSET_L,
        t if (code::OBJECT + code::OFFSET_L..=code::STL_P + code::OFFSET_L).contains(&t) => code::OFFSET_L,
        t if t == code::STREAM_LOOP + code::OFFSET_L => code::OFFSET_L,
        _ => 0,
    };
    let item = match e.type_code - offset {
        code::COUNTER => code::INT,
        code::LONG => code::LONG64,
        code::ULONG => code::ULONG64,
        code::LEGACY_CHAR => code::UCHAR,
        code::BITS => code::UINT,
        code::UCHAR if matches!(e.type_name.as_str(), "Bool_t" | "bool") => code::BOOL,
        code::OBJECT => code::ANY,
        code::OBJECT_P_INLINE => code::ANY_P_INLINE,
        code::OBJECT_P | code::ANY_P_NO_VT => code::ANY_P,
        other => other,
    };
    (item + offset, item)
}

/// A type name in one spelling: without `std::`, spaces, allocators, and ROOT's names of numbers.
pub(super) fn bare(name: &str) -> String {
    let spelled = TypeName::parse(name).spelled();
    // A pointer to a pointer keeps both stars.
    let stars = name.matches('*').count().saturating_sub(spelled.matches('*').count());
    spelled.replace("std::", "").replace(' ', "") + &"*".repeat(stars)
}

impl fmt::Display for ElementForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.form {
            Form::Base { version } => write!(f, "base {} (version {version})", self.name),
            Form::Member { code, type_name, packed, dims, counter } => {
                write!(f, "member {}", self.name)?;
                dims.iter().try_for_each(|dim| write!(f, "[{dim}]"))?;
                match (packed, type_name.is_empty()) {
                    (Some(packed), _) => write!(f, " {packed}")?,
                    (None, true) => match Number::of_type_code(code % code::OFFSET_L) {
                        Some(number) => write!(f, " of type {}", number.cpp())?,
                        None => write!(f, " of type code {code}")?,
                    },
                    (None, false) => write!(f, " of type {type_name}")?,
                }
                match counter {
                    Some((_, counter)) => write!(f, ", counted by {counter}"),
                    None => Ok(()),
                }
            }
        }
    }
}
