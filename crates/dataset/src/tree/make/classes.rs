//! The facts about classes by which ROOT decides on splitting, from streamer infos and names: bases, containers, and
//! classes that are never split (`TClass::CanSplit`, `TStreamerElement::CannotSplit`).

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos, code};

use crate::type_name::arguments;

/// Classes may derive and nest this deep.
const MAX_DEPTH: usize = 40;

/// Classes of ROOT 6.40 with a custom streamer (`TClass::HasCustomStreamerMember`) whose objects may be in a file. No
/// streamer info has this fact.
const CUSTOM: &str = include_str!("custom_streamers.txt");

/// Whether the class has a custom streamer.
pub(crate) fn is_custom(class: &str) -> bool {
    CUSTOM.lines().any(|line| line == class)
}

/// `TStreamerInfo` bit: the class does not write its `TObject` base.
const IGNORES_TOBJECT: u32 = 1 << 13;
/// `TStreamerElement` bits of members that schema-evolution rules added: cached, repeated, and to be written after all.
const CACHE: u32 = 1 << 9;
const REPEAT: u32 = 1 << 10;
const WRITE: u32 = 1 << 12;

/// A container of the standard library, or ROOT's vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Container {
    /// The type of one item in ROOT's spelling, without the `*` of pointers; a pair for maps; `None` for a bitset.
    pub value: Option<String>,
    /// Whether it holds pointers.
    pub of_pointers: bool,
}

/// The questions about a class and its bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Question {
    Splits,
    LetsSplit,
    IsEmpty,
    IsTObject,
    IsClonesArray,
}

pub(super) struct Classes<'a> {
    infos: &'a StreamerInfos,
    /// A cache of answers: several paths may lead to the same base.
    answers: RefCell<HashMap<(Question, String), bool>>,
}

/// A type name without `const`, `std::` in front and pointers behind.
pub(super) fn bare(type_name: &str) -> &str {
    let name = type_name.trim().trim_end_matches(['*', '&', ' ']);
    let name = name.strip_prefix("const ").unwrap_or(name);
    name.strip_prefix("std::").unwrap_or(name).trim()
}

/// Whether a type is a number, also one that is packed in files.
fn is_basic(name: &str) -> bool {
    let words = ["unsigned", "signed", "char", "short", "int", "long", "float", "double", "bool", "void"];
    name.split_whitespace().all(|word| words.contains(&word))
        || name.ends_with("_t") && !name.contains([':', '<'])
        || name == "size_t"
}

/// Parses the name of a container.
pub(super) fn container(type_name: &str) -> Option<Container> {
    let name = bare(type_name);
    let (template, rest) = name.split_once('<')?;
    let args = arguments(rest.trim_end().strip_suffix('>')?);
    let first = *args.first()?;
    let of = |value: &str| {
        let of_pointers = value.ends_with('*');
        Some(Container { value: Some(bare(value).to_owned()), of_pointers })
    };
    match template.trim() {
        "vector" | "list" | "forward_list" | "deque" | "set" | "multiset" | "unordered_set" | "unordered_multiset"
        | "ROOT::VecOps::RVec" | "ROOT::RVec" | "RVec" => of(first),
        "map" | "multimap" | "unordered_map" | "unordered_multimap" => {
            let second = *args.get(1)?;
            let space = if second.ends_with('>') { " " } else { "" };
            let key = first.strip_prefix("const ").unwrap_or(first);
            let value = format!("pair<{key},{second}{space}>");
            // As in ROOT, only the key of a map counts.
            Some(Container { value: Some(value), of_pointers: first.ends_with('*') })
        }
        "bitset" => Some(Container { value: None, of_pointers: false }),
        _ => None,
    }
}

/// Whether an element of a streamer info is stored at all.
pub(super) fn is_stored(element: &StreamerElement) -> bool {
    element.class != "TStreamerArtificial"
        && element.bits & REPEAT == 0
        && (element.bits & CACHE == 0 || element.bits & WRITE != 0)
}

/// Whether an element is a base and not a container.
pub(super) fn is_base(element: &StreamerElement) -> bool {
    element.class == "TStreamerBase"
}

/// Whether an element is a pointer.
pub(super) fn is_pointer(element: &StreamerElement) -> bool {
    match element.class.as_str() {
        "TStreamerObjectPointer" | "TStreamerObjectAnyPointer" | "TStreamerBasicPointer" | "TStreamerLoop" => true,
        "TStreamerSTL" | "TStreamerSTLstring" => element.type_name.trim_end().ends_with('*'),
        _ => false,
    }
}

/// fType of an element in memory. In files, containers have `kStreamer`, for old readers.
pub(super) fn type_code(element: &StreamerElement) -> i32 {
    if !element.class.starts_with("TStreamerSTL") {
        return element.type_code;
    }
    let one = if is_pointer(element) { code::STL_P } else { code::STL };
    if element.array_length > 0 { one + code::OFFSET_L } else { one }
}

/// Name with dimensions, such as `fMat[4][4]` (`TStreamerElement::GetFullName`).
pub(super) fn full_name(element: &StreamerElement) -> String {
    let dims = usize::try_from(element.array_dim).unwrap_or(0);
    let dims = element.max_index.iter().take(dims).map(|n| format!("[{n}]"));
    std::iter::once(element.name.clone()).chain(dims).collect()
}

/// Name of the member that counts a counted array.
pub(super) fn count_name(element: &StreamerElement) -> Option<&str> {
    match (&element.kind, element.class.as_str()) {
        (ElementKind::Counted { name, .. }, "TStreamerBasicPointer" | "TStreamerLoop") => Some(name),
        _ => None,
    }
}

impl<'a> Classes<'a> {
    pub(super) fn new(infos: &'a StreamerInfos) -> Self {
        Self { infos, answers: RefCell::default() }
    }

    /// The newest info of a class.
    pub(super) fn info(&self, class: &str) -> Option<Arc<StreamerInfo>> {
        self.infos.latest(class).or_else(|| {
            let squeezed = |name: &str| name.replace("std::", "").replace(' ', "");
            let wanted = squeezed(class);
            let same = |info: &&Arc<StreamerInfo>| info.name.len() >= wanted.len() && squeezed(&info.name) == wanted;
            self.infos.iter().find(same).cloned()
        })
    }

    /// The class of an element, if ROOT has a `TClass` for it.
    pub(super) fn of_element(&self, element: &StreamerElement) -> Option<String> {
        if is_base(element) {
            return Some(element.name.clone());
        }
        if count_name(element).is_some() && element.class == "TStreamerBasicPointer" {
            return None;
        }
        let name = bare(&element.type_name);
        self.is_class(name).then(|| name.to_owned())
    }

    /// Whether the class is known.
    pub(super) fn is_class(&self, name: &str) -> bool {
        !is_basic(name)
            && (container(name).is_some() || matches!(name, "string" | "TString") || self.info(name).is_some())
    }

    /// Looks up an answer, or computes it.
    fn answer(&self, question: Question, class: &str, compute: impl FnOnce() -> bool) -> bool {
        let key = (question, class.to_owned());
        if let Some(&known) = self.answers.borrow().get(&key) {
            return known;
        }
        let answer = compute();
        self.answers.borrow_mut().insert(key, answer);
        answer
    }

    fn derives(&self, question: Question, class: &str, base: &str, depth: usize) -> bool {
        class == base
            || self.answer(question, class, || {
                depth < MAX_DEPTH
                    && self.info(class).is_some_and(|info| {
                        info.elements.iter().any(|e| is_base(e) && self.derives(question, &e.name, base, depth + 1))
                    })
            })
    }

    /// Whether the class derives from `TObject`.
    pub(super) fn is_tobject(&self, class: &str) -> bool {
        self.derives(Question::IsTObject, class, "TObject", 0)
    }

    /// Whether the class is `TClonesArray` or derives from it.
    pub(super) fn is_clones_array(&self, class: &str) -> bool {
        self.derives(Question::IsClonesArray, class, "TClonesArray", 0)
    }

    /// Whether the class omits its `TObject` base in files.
    pub(super) fn ignores_tobject(&self, class: &str) -> bool {
        self.info(class).is_some_and(|info| info.bits & IGNORES_TOBJECT != 0)
    }

    /// Whether the class and its bases have no members. A base without a description has none: ROOT describes all
    /// classes with members.
    pub(super) fn is_empty(&self, class: &str) -> bool {
        self.has_no_data(class, 0)
    }

    fn has_no_data(&self, class: &str, depth: usize) -> bool {
        self.answer(Question::IsEmpty, class, || {
            depth >= MAX_DEPTH
                || self
                    .info(class)
                    .is_none_or(|info| info.elements.iter().all(|e| is_base(e) && self.has_no_data(&e.name, depth + 1)))
        })
    }

    /// Whether values of a type may refer to objects: all but numbers, strings, and containers of these.
    pub(super) fn may_refer(type_name: &str) -> bool {
        let name = bare(type_name);
        match container(name) {
            Some(container) => container.value.is_some_and(|value| Self::may_refer(&value)),
            None => !is_basic(name) && !matches!(name, "string" | "TString"),
        }
    }

    /// Whether the class may be split.
    pub(super) fn can_split(&self, class: &str) -> bool {
        self.answer(Question::Splits, class, || self.splits_at(class, 0))
    }

    fn splits_at(&self, class: &str, depth: usize) -> bool {
        match class {
            "TObject" | "TClonesArray" => return true,
            "string" => return false,
            _ if depth >= MAX_DEPTH || class.starts_with("TVectorT<") || class.starts_with("TMatrixT<") => {
                return false;
            }
            _ => {}
        }
        if let Some(container) = container(class) {
            let Some(value) = container.value.filter(|_| !container.of_pointers) else { return false };
            return value != "TString"
                && self.is_class(&value)
                && super::classes::container(&value).is_none()
                && self.splits_at(&value, depth + 1);
        }
        // A class without members and bases cannot be split, unless it has virtual functions, which infos do not show.
        let has_elements = self.info(class).is_none_or(|info| !info.elements.is_empty());
        has_elements && !is_custom(class) && self.lets_split(class, depth)
    }

    /// Whether classes that derive from this one may be split (`TClass::CanSplitBaseAllow`).
    fn lets_split(&self, class: &str, depth: usize) -> bool {
        match class {
            "TRef" | "TRefArray" | "TArray" | "TCollection" | "TTree" => false,
            "TClonesArray" => true,
            _ if container(class).is_some() => true,
            _ if depth >= MAX_DEPTH => false,
            _ => self.answer(Question::LetsSplit, class, || {
                self.info(class).is_none_or(|info| {
                    let mut bases = info.elements.iter().filter(|e| is_base(e));
                    bases.all(|e| self.lets_split(&e.name, depth + 1))
                })
            }),
        }
    }

    /// Whether a member or base cannot be split.
    pub(super) fn cannot_split(&self, element: &StreamerElement) -> bool {
        if element.title.starts_with("||") {
            return true;
        }
        let Some(class) = self.of_element(element) else { return false };
        if is_pointer(element) && class != "TClonesArray" {
            return true;
        }
        let array = [code::ANY, code::OBJECT, code::TOBJECT, code::TSTRING, code::TNAMED, code::STL, code::STL_P];
        array.contains(&(type_code(element) - code::OFFSET_L)) || !self.can_split(&class)
    }
}

/// fCheckSum of a container: ROOT adds up the letters of its name. The library's members count only if the writing
/// program has looked at them.
pub(super) fn container_checksum(name: &str) -> u32 {
    name.bytes().fold(0u32, |sum, letter| sum.wrapping_mul(3).wrapping_add(u32::from(letter)))
}
