//! A plan lists the members of one class version and how to read each: a streamer info with its type codes resolved to
//! steps. It is made once and used for every object of the class.

use std::sync::Arc;

use crate::bytes::Cursor;
use crate::streamer::{ElementKind, Packed, StreamerElement, StreamerInfo, code};

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
    /// `Double32_t` or `Float16_t`.
    Packed(PackedNumber),
    /// `char*`.
    CharStar,
    /// Fixed array of a basic type.
    FixedArray(i32, usize),
    /// Fixed array of packed numbers.
    PackedArray(PackedNumber, usize),
    /// Array counted by another member: basic type and counter.
    CountedArray(i32, String),
    /// Array of packed numbers, counted by another member.
    CountedPacked(PackedNumber, String),
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

/// How the numbers of a packed member lie in bytes, and their type in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PackedNumber {
    /// How each lies in bytes.
    pub packed: Packed,
    /// The type code of the number in memory: `Double32_t` is a double, `Float16_t` a float.
    pub code: i32,
}

impl PackedNumber {
    fn of(type_code: i32, element: &StreamerElement) -> Option<Self> {
        let code = if type_code == code::FLOAT16 { code::FLOAT } else { code::DOUBLE };
        Packed::of_element(type_code, element).map(|packed| Self { packed, code })
    }

    /// The numbers in bytes as on disk; a rest is left out.
    pub fn numbers(self, raw: &[u8]) -> impl Iterator<Item = f64> + use<'_> {
        raw.chunks_exact(self.packed.size()).map_while(move |one| self.packed.read(&mut Cursor::new(one)).ok())
    }
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

fn step(e: &StreamerElement) -> Step {
    let t = e.type_code;
    let n = usize::try_from(e.array_length).unwrap_or(0);
    let basic = |t: i32| (code::CHAR..code::OFFSET_L).contains(&t);
    let packed = |t: i32| PackedNumber::of(t, e);
    let counter = || match &e.kind {
        ElementKind::Counted { name, .. } => name.clone(),
        // Old files may name the counter only in the comment: "[fN]".
        _ => {
            e.title.split_once('[').and_then(|(_, r)| r.split_once(']')).map(|(n, _)| n.to_owned()).unwrap_or_default()
        }
    };
    if let Some(number) = packed(t) {
        return Step::Packed(number);
    }
    if let Some(number) = packed(t - code::OFFSET_L) {
        return Step::PackedArray(number, n);
    }
    if let Some(number) = packed(t - code::OFFSET_P) {
        return Step::CountedPacked(number, counter());
    }
    match t {
        code::BASE => match e.name.as_str() {
            "TObject" => Step::TObject,
            "TNamed" => Step::TNamed,
            _ => Step::Base { class: e.name.as_str().into() },
        },
        code::CHAR_STAR => Step::CharStar,
        t if basic(t) => Step::Basic(t),
        t if basic(t - code::OFFSET_L) => Step::FixedArray(t - code::OFFSET_L, n),
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
