//! A plan lists the members of one class version and how to read each: a streamer info with its type codes resolved to
//! steps. It is made once and used for every object of the class.

use std::sync::Arc;

use crate::streamer::{ElementKind, StreamerElement, StreamerInfo, code};

/// The steps of a class version.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Class name.
    pub class: String,
    /// Class version.
    pub version: i32,
    /// Checksum of the class's layout.
    pub checksum: u32,
    /// Member or base name, and how it is read.
    pub steps: Vec<(String, Step)>,
}

/// How one member is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A basic type.
    Basic(i32),
    /// `Double32_t` or `Float16_t` of this many bytes on disk.
    Packed(usize),
    /// `char*`.
    CharStar,
    /// Fixed array of a basic type.
    FixedArray(i32, usize),
    /// Fixed array of packed numbers, and total bytes.
    PackedArray(usize),
    /// Array counted by another member: basic type and counter.
    CountedArray(i32, String),
    /// Array of packed numbers, counted by another member: bytes each.
    CountedPacked(usize, String),
    /// Base class and its version.
    Base {
        /// Class of the base.
        class: Arc<str>,
    },
    /// Object by value, or behind a pointer that is never null.
    Inline(Arc<str>),
    /// Pointer.
    Pointer,
    /// `TString`.
    TString,
    /// `TObject`.
    TObject,
    /// `TNamed`.
    TNamed,
    /// Fixed array of objects, strings or pointers.
    Several(Box<Step>, usize),
    /// Objects by value, counted by another member: their class and the counter.
    Counted(Arc<str>, String),
    /// Opaque bytes with a byte count: STL, custom streamers.
    Opaque,
}

impl Plan {
    /// Resolves a streamer info.
    pub fn new(info: &StreamerInfo) -> Self {
        Self {
            class: info.name.clone(),
            version: info.version,
            checksum: info.checksum,
            steps: info.elements.iter().filter(|e| e.type_code >= 0).map(|e| (e.name.clone(), step(e))).collect(),
        }
    }

    /// Index of a member by name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.steps.iter().position(|(n, _)| n == name)
    }
}

/// Bytes on disk of `Double32_t` and `Float16_t` (`TBufferFile::WriteDouble32`, `WriteFloat16`): with a range
/// four bytes; with a number of bits below 15 only (or by default for `Float16_t`) one byte of exponent and
/// two of mantissa; else `Double32_t` is a float.
fn packed_size(type_code: i32, title: &str) -> usize {
    let range = title.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(inside, _)| inside);
    let parts: Vec<&str> = range.map(|r| r.split(',').map(str::trim).collect()).unwrap_or_default();
    let bits = parts.get(2).and_then(|s| s.parse::<i32>().ok()).unwrap_or(32);
    let zero = |s: Option<&&str>| s.and_then(|s| s.parse::<f64>().ok()).is_some_and(|v| v == 0.0);
    match parts.len() {
        2 | 3 if !(zero(parts.first()) && zero(parts.get(1))) => 4,
        3 if (2..15).contains(&bits) => 3,
        _ if type_code == code::FLOAT16 => 3,
        _ => 4,
    }
}

fn step(e: &StreamerElement) -> Step {
    let t = e.type_code;
    let n = usize::try_from(e.array_length).unwrap_or(0);
    let basic = |t: i32| (code::CHAR..code::OFFSET_L).contains(&t);
    let packed = |t: i32| t == code::DOUBLE32 || t == code::FLOAT16;
    let counter = || match &e.kind {
        ElementKind::Counted { name, .. } => name.clone(),
        // Old files may name the counter only in the comment: "[fN]".
        _ => {
            e.title.split_once('[').and_then(|(_, r)| r.split_once(']')).map(|(n, _)| n.to_owned()).unwrap_or_default()
        }
    };
    match t {
        code::BASE => match e.name.as_str() {
            "TObject" => Step::TObject,
            "TNamed" => Step::TNamed,
            _ => Step::Base { class: e.name.as_str().into() },
        },
        code::CHAR_STAR => Step::CharStar,
        t if packed(t) => Step::Packed(packed_size(t, &e.title)),
        t if basic(t) => Step::Basic(t),
        t if packed(t - code::OFFSET_L) => {
            Step::PackedArray(packed_size(t - code::OFFSET_L, &e.title).saturating_mul(n))
        }
        t if basic(t - code::OFFSET_L) => Step::FixedArray(t - code::OFFSET_L, n),
        t if packed(t - code::OFFSET_P) => Step::CountedPacked(packed_size(t - code::OFFSET_P, &e.title), counter()),
        t if basic(t - code::OFFSET_P) => Step::CountedArray(t - code::OFFSET_P, counter()),
        code::TOBJECT => Step::TObject,
        code::TNAMED => Step::TNamed,
        code::TSTRING => Step::TString,
        // Without a frame (`TDatime::Streamer`).
        code::ANY if e.type_name == "TDatime" => Step::Basic(code::UINT),
        code::OBJECT | code::ANY | code::OBJECT_P_INLINE | code::ANY_P_INLINE => Step::Inline(class_name(e)),
        code::OBJECT_P | code::ANY_P | code::ANY_P_NO_VT => Step::Pointer,
        // One pointer to all objects; an array of pointers is opaque.
        code::STREAM_LOOP if e.type_name.matches('*').count() == 1 => Step::Counted(class_name(e), counter()),
        t if t == code::TSTRING + code::OFFSET_L => Step::Several(Box::new(Step::TString), n),
        t if t == code::TOBJECT + code::OFFSET_L => Step::Several(Box::new(Step::TObject), n),
        t if t == code::TNAMED + code::OFFSET_L => Step::Several(Box::new(Step::TNamed), n),
        t if [code::OBJECT, code::ANY, code::OBJECT_P_INLINE, code::ANY_P_INLINE].contains(&(t - code::OFFSET_L)) => {
            Step::Several(Box::new(Step::Inline(class_name(e))), n)
        }
        t if [code::OBJECT_P, code::ANY_P, code::ANY_P_NO_VT].contains(&(t - code::OFFSET_L)) => {
            Step::Several(Box::new(Step::Pointer), n)
        }
        _ => Step::Opaque,
    }
}

fn class_name(e: &StreamerElement) -> Arc<str> {
    e.type_name.trim_start_matches("const ").trim_end_matches(['*', ' ', '&']).into()
}
