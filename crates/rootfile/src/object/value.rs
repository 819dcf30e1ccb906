//! The value model: objects in memory.

use std::sync::Arc;

use super::plan::Plan;
use crate::streamer::code;
use crate::tobject::TObject;

/// Identity of an object that pointers in the same record refer to.
pub type ObjectId = usize;

/// The objects of a record that pointers refer to. The caller holds the record's own object.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Objects by [`ObjectId`]; `None` while an object is being read, and after it was taken out.
    pub objects: Vec<Option<Object>>,
}

impl Graph {
    /// An object, unless it was taken out.
    pub fn get(&self, id: ObjectId) -> Option<&Object> {
        self.objects.get(id).and_then(Option::as_ref)
    }

    /// Takes an object out.
    pub fn take(&mut self, id: ObjectId) -> Option<Object> {
        self.objects.get_mut(id).and_then(Option::take)
    }

    /// Adds an object.
    pub fn add(&mut self, object: Object) -> ObjectId {
        self.objects.push(Some(object));
        self.objects.len() - 1
    }
}

/// An object of some class.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Class name.
    pub class: Arc<str>,
    /// Class version as written; 0 or less for classes identified by checksum.
    pub version: i16,
    /// The content.
    pub content: Content,
}

/// The content of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Bases and members as a streamer info lists them.
    Members(Members),
    /// `TObject` alone.
    TObject(TObject),
    /// `TList`, `THashList`, `TObjArray`, `TMap` and similar classes.
    Collection(Box<Collection>),
    /// `TArrayD` and similar classes: a length and numbers.
    Array(Array),
    /// All bytes after the version, not decoded.
    Opaque(Vec<u8>),
    /// Held by the custom streamer that read it, under this number.
    Held(usize),
}

/// Values in the order of a plan's steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    /// Names and types.
    pub plan: Arc<Plan>,
    /// One value a step.
    pub values: Vec<Value>,
}

/// `TNamed`: a `TObject` with a name and a title.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Its `TObject`.
    pub object: TObject,
    /// fName.
    pub name: String,
    /// fTitle.
    pub title: String,
}

/// A list or array of objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collection {
    /// Its `TObject`.
    pub object: TObject,
    /// fName.
    pub name: String,
    /// Index of the first item (`TObjArray` only).
    pub lower_bound: i32,
    /// The objects; in a `TMap` keys and values alternate.
    pub items: Vec<Option<ObjectId>>,
    /// The options of a `TList`, one for each item; empty if there are none.
    pub options: Vec<String>,
}

/// Numbers as on disk: big-endian, of the basic type `code`.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Basic type code.
    pub code: i32,
    /// The bytes.
    pub raw: Vec<u8>,
}

/// A member's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Any signed number, and Bool_t.
    Int(i64),
    /// Any unsigned number.
    UInt(u64),
    /// `Float_t`.
    F32(f32),
    /// `Double_t`.
    F64(f64),
    /// `Double32_t` and `Float16_t` as on disk.
    Raw(Box<[u8]>),
    /// `TString`, `char*`.
    Str(String),
    /// Fixed or counted array of a basic type.
    Array(Box<Array>),
    /// `TObject` as base or member.
    TObject(TObject),
    /// `TNamed` as base or member.
    Named(Box<Named>),
    /// Base, or member by value.
    Object(Box<Object>),
    /// Pointer.
    Pointer(Option<ObjectId>),
    /// Fixed array of objects or pointers.
    List(Vec<Value>),
    /// A member that is not decoded, frame included.
    Opaque(Box<[u8]>),
}

impl Array {
    /// Bytes of one number.
    pub fn item_size(&self) -> usize {
        basic_size(self.code).unwrap_or(1)
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.raw.len() / self.item_size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// The numbers, if they are integers.
    pub fn to_i64(&self) -> Vec<i64> {
        numbers(self.code, &self.raw).collect()
    }

    /// The numbers as doubles.
    #[expect(clippy::cast_precision_loss, reason = "asked for as doubles")]
    pub fn to_f64(&self) -> Vec<f64> {
        match self.code {
            code::FLOAT => self.raw.as_chunks::<4>().0.iter().map(|c| f64::from(f32::from_be_bytes(*c))).collect(),
            code::DOUBLE => self.raw.as_chunks::<8>().0.iter().map(|c| f64::from_be_bytes(*c)).collect(),
            _ => self.to_i64().into_iter().map(|v| v as f64).collect(),
        }
    }
}

/// Numbers of a basic type as on disk, if they are integers.
pub(super) fn numbers(code: i32, raw: &[u8]) -> impl ExactSizeIterator<Item = i64> + use<'_> {
    let is_signed = is_signed(code);
    let extend = move |chunk: &[u8]| {
        let negative = chunk.first().is_some_and(|b| b & 0x80 != 0) && is_signed;
        chunk.iter().fold(if negative { -1i64 } else { 0 }, |acc, &b| acc << 8 | i64::from(b))
    };
    raw.chunks_exact(basic_size(code).unwrap_or(1)).map(move |chunk| match *chunk {
        [a, b, c, d, e, f, g, h] => i64::from_be_bytes([a, b, c, d, e, f, g, h]),
        [a, b, c, d] if is_signed => i64::from(i32::from_be_bytes([a, b, c, d])),
        _ => extend(chunk),
    })
}

/// Bytes on disk of a basic type without special packing.
pub fn basic_size(type_code: i32) -> Option<usize> {
    Some(match type_code {
        code::CHAR | code::UCHAR | code::BOOL | code::LEGACY_CHAR => 1,
        code::SHORT | code::USHORT => 2,
        code::INT | code::UINT | code::FLOAT | code::COUNTER | code::BITS => 4,
        code::LONG | code::ULONG | code::LONG64 | code::ULONG64 | code::DOUBLE => 8,
        _ => return None,
    })
}

fn is_signed(type_code: i32) -> bool {
    matches!(
        type_code,
        code::CHAR | code::SHORT | code::INT | code::LONG | code::COUNTER | code::LONG64 | code::LEGACY_CHAR
    )
}

impl Members {
    /// A member by name, own ones first, then those of bases.
    pub fn get(&self, name: &str) -> Option<&Value> {
        if let Some(i) = self.plan.position(name) {
            return self.values.get(i);
        }
        self.bases().find_map(|base| base.get(name))
    }

    /// A mutable member by name, own ones first, then those of bases.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        if let Some(i) = self.plan.position(name) {
            return self.values.get_mut(i);
        }
        self.values.iter_mut().find_map(|value| match value {
            Value::Object(object) => match &mut object.content {
                Content::Members(base) => base.get_mut(name),
                _ => None,
            },
            _ => None,
        })
    }

    /// Takes a member's value and leaves 0.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.get_mut(name).map(|value| std::mem::replace(value, Value::Int(0)))
    }

    fn bases(&self) -> impl Iterator<Item = &Self> {
        self.plan.steps.iter().zip(&self.values).filter_map(|((_, step), value)| match (step, value) {
            (super::Step::Base { .. }, Value::Object(object)) => object.members(),
            _ => None,
        })
    }

    /// The `TNamed` among the direct and indirect bases.
    pub fn named(&self) -> Option<&Named> {
        self.values.iter().find_map(|value| match value {
            Value::Named(named) => Some(&**named),
            Value::Object(object) => object.members().and_then(Self::named),
            _ => None,
        })
    }
}

impl Object {
    /// The members, if the object was read by streamer info.
    pub fn members(&self) -> Option<&Members> {
        match &self.content {
            Content::Members(members) => Some(members),
            _ => None,
        }
    }

    /// The members, mutable.
    pub fn members_mut(&mut self) -> Option<&mut Members> {
        match &mut self.content {
            Content::Members(members) => Some(members),
            _ => None,
        }
    }

    /// Whether the object is of this class or of a class derived from it.
    pub fn is_a(&self, class: &str) -> bool {
        &*self.class == class
            || self.members().is_some_and(|m| {
                m.values.iter().any(|value| match value {
                    Value::Object(base) => base.is_a(class),
                    Value::Named(_) => class == "TNamed" || class == "TObject",
                    _ => false,
                })
            })
    }
}

impl Value {
    /// The value as an integer.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(v) => Some(*v),
            Self::UInt(v) => i64::try_from(*v).ok(),
            // Some counters are doubles: TTree::fEntries in ROOT 3 to 5.
            #[expect(clippy::cast_possible_truncation, reason = "saturates, and counts have no fraction")]
            Self::F64(v) => Some(*v as i64),
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            Self::F32(v) => Some(*v as i64),
            _ => None,
        }
    }

    /// The value as a double.
    #[expect(clippy::cast_precision_loss, reason = "asked for as a double")]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(v) => Some(*v as f64),
            Self::UInt(v) => Some(*v as f64),
            Self::F32(v) => Some(f64::from(*v)),
            Self::F64(v) => Some(*v),
            _ => None,
        }
    }

    /// Text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(s) => Some(s),
            _ => None,
        }
    }

    /// An array.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Self::Array(a) => Some(a),
            Self::Object(object) => match &object.content {
                Content::Array(a) => Some(a),
                _ => None,
            },
            _ => None,
        }
    }

    /// A pointer that is not null.
    pub fn as_pointer(&self) -> Option<ObjectId> {
        match self {
            Self::Pointer(id) => *id,
            _ => None,
        }
    }
}
