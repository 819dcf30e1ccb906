//! The classes that values use: by their members, bases, containers and pointers, with the classes that may stand behind a
//! pointer. A superset where only entries name the class.

use std::collections::{BTreeMap, HashMap, HashSet};

use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos};

use super::element::bare;
use crate::decode::plan::parts::{is_base, is_stored};
use crate::type_name::{ContainerKind, TypeName};

/// Classes whose objects hold objects of any class that derives from `TObject`.
const HOLD_ANY: [&str; 12] = [
    "TClonesArray",
    "TObjArray",
    "TList",
    "THashList",
    "TSortedList",
    "TOrdCollection",
    "TMap",
    "TExMap",
    "THashTable",
    "TRefTable",
    "TCollection",
    "TSeqCollection",
];

/// The classes that some values use.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// By name in one spelling: whether some of its objects may be written member-wise.
    classes: BTreeMap<String, bool>,
}

impl Reach {
    /// The classes that an object of a file uses, by its class and its bytes: where a pointer may lead to objects of any class,
    /// the bytes name the class.
    pub fn of_object(class: &str, payload: &[u8], infos: &StreamerInfos) -> Self {
        let mut reach = Self::default();
        let occurs = |name: &str| {
            let (tag, text) = (tag_of(name), text_of(name));
            [tag, text].iter().any(|wanted| payload.windows(wanted.len()).any(|bytes| bytes == wanted))
        };
        reach.add(class, false, infos, &occurs);
        // Trees inside of such an object have branches of any class.
        if HOLD_ANY.iter().any(|any| reach.has(any)) {
            let named = infos.iter().filter(|info| !reach.has(&info.name) && occurs(&info.name));
            let named: Vec<String> = named.map(|info| info.name.clone()).collect();
            named.iter().for_each(|name| reach.add(name, false, infos, &occurs));
        }
        reach
    }

    /// Adds the classes that values of a type use. `memberwise`: whether they may be written member-wise. `occurs`: whether
    /// objects of a class may stand behind pointers to its bases.
    pub fn add(&mut self, type_name: &str, memberwise: bool, infos: &StreamerInfos, occurs: &dyn Fn(&str) -> bool) {
        let todo = vec![(type_name.to_owned(), memberwise)];
        let mut walk = Walk { infos, occurs, named: None, derived: None, todo };
        // A list and no recursion: the depth of names comes from the file.
        while let Some((name, memberwise)) = walk.todo.pop() {
            walk.step(&name, memberwise, &mut self.classes);
        }
    }

    /// Adds the classes of other values.
    pub fn extend(&mut self, other: &Self) {
        for (class, memberwise) in &other.classes {
            *self.classes.entry(class.clone()).or_default() |= memberwise;
        }
    }

    /// Whether objects of a class may occur.
    pub fn has(&self, class: &str) -> bool {
        self.classes.contains_key(&bare(class))
    }

    /// Whether objects of a class may occur that are written member-wise.
    pub fn has_memberwise(&self, class: &str) -> bool {
        self.classes.get(&bare(class)).is_some_and(|memberwise| *memberwise)
    }
}

struct Walk<'a> {
    infos: &'a StreamerInfos,
    occurs: &'a dyn Fn(&str) -> bool,
    /// The infos by the one spelling of their names.
    named: Option<HashMap<String, Vec<&'a StreamerInfo>>>,
    /// The classes that derive from a class directly.
    derived: Option<HashMap<String, HashSet<&'a str>>>,
    todo: Vec<(String, bool)>,
}

impl<'a> Walk<'a> {
    fn step(&mut self, type_name: &str, memberwise: bool, classes: &mut BTreeMap<String, bool>) {
        let name = TypeName::parse(type_name);
        if name.number().is_some() || TypeName::parse(name.text).number().is_some() {
            return;
        }
        let items = match name.container() {
            Some(ContainerKind::Map) => 2,
            Some(ContainerKind::List) => 1,
            Some(ContainerKind::Bitset) => return,
            None => 0,
        };
        let in_container = name.args.iter().take(items).map(|arg| ((*arg).to_owned(), true));
        self.todo.extend(in_container);
        if items > 0 {
            return;
        }
        if matches!(name.template, "pair" | "tuple") {
            self.todo.extend(name.args.iter().map(|arg| ((*arg).to_owned(), memberwise)));
        }
        let class = bare(name.text);
        if name.pointer {
            self.add_derived(&class, memberwise);
        }
        match classes.get_mut(&class) {
            Some(known) if *known || !memberwise => return,
            Some(known) => *known = true,
            None => {
                classes.insert(class.clone(), memberwise);
            }
        }
        if HOLD_ANY.contains(&class.as_str()) {
            self.add_derived("TObject", false);
        }
        for info in self.infos_of(&class) {
            for e in info.elements.iter().filter(|e| is_stored(e)) {
                self.todo.push((type_of(e), memberwise));
            }
        }
    }

    fn infos_of(&mut self, class: &str) -> Vec<&'a StreamerInfo> {
        let infos = self.infos;
        let named = self.named.get_or_insert_with(|| {
            let mut named: HashMap<String, Vec<&StreamerInfo>> = HashMap::new();
            infos.iter().for_each(|info| named.entry(bare(&info.name)).or_default().push(info));
            named
        });
        named.get(class).cloned().unwrap_or_default()
    }

    /// Adds the classes that derive from a class, each with those that derive from it.
    fn add_derived(&mut self, class: &str, memberwise: bool) {
        let infos = self.infos;
        let derived = self.derived.get_or_insert_with(|| {
            let mut derived: HashMap<String, HashSet<&str>> = HashMap::new();
            for info in infos.iter() {
                for base in info.elements.iter().filter(|e| is_base(e)) {
                    derived.entry(bare(&base.name)).or_default().insert(&info.name);
                }
            }
            derived
        });
        let (mut found, mut todo) = (HashSet::new(), vec![class.to_owned()]);
        while let Some(base) = todo.pop() {
            for class in derived.get(&base).into_iter().flatten().filter(|class| found.insert(**class)) {
                todo.push(bare(class));
            }
        }
        let found = found.into_iter().filter(|class| (self.occurs)(class));
        self.todo.extend(found.map(|class| (class.to_owned(), memberwise)));
    }
}

/// A class's name as the tag of an object has it.
fn tag_of(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

/// A class's name as a text has it, such as the class of a branch.
fn text_of(name: &str) -> Vec<u8> {
    let len = u8::try_from(name.len()).unwrap_or(u8::MAX);
    [&[len], name.as_bytes()].concat()
}

/// The type of a member, or the class of a base.
fn type_of(e: &StreamerElement) -> String {
    if is_base(e) && !matches!(e.kind, ElementKind::Stl { .. }) { e.name.clone() } else { e.type_name.clone() }
}
