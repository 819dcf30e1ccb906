//! Facts about classes that others use as a base or member: version, checksum, whether the class is a `TObject`, and
//! its size in memory.
//!
//! Sizes follow the C++ ABI of x86-64: members at multiples of their alignment, the pointer to the table of virtual
//! functions first, and members of a derived class in the padding at the end of its base.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::super::{ElementKind, StreamerInfo, StreamerInfos, builtin};
use super::cpp_type::{Argument, Core, CppType};
use super::{ClassDescription, Member, checksum::Sum, container};
use crate::{Error, Result};

/// Deepest nesting of classes.
const MAX_DEPTH: usize = 64;

/// Sizes of ROOT's own classes. Most of their members are not written, so infos do not give the sizes.
const SIZES: &str = include_str!("sizes.txt");

/// Size and alignment of a type in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub size: usize,
    pub align: usize,
    /// Bytes that members of a derived class cannot reuse.
    data: usize,
    /// Whether it begins with a pointer to virtual functions.
    table: bool,
    /// Whether it is plain data as in C: derived classes do not reuse its padding.
    plain: bool,
    empty: bool,
}

impl Layout {
    fn number(size: usize) -> Self {
        Self { size, align: size, data: size, table: false, plain: true, empty: false }
    }

    fn opaque(size: usize, align: usize) -> Self {
        Self { size, align, data: size, table: false, plain: false, empty: false }
    }
}

/// The facts of a class.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// The version, or -1 where none is declared.
    pub version: i32,
    pub checksum: u32,
    /// The comment of its ClassDef.
    pub title: String,
    pub is_tobject: bool,
    pub layout: Layout,
}

/// The classes that are described together, and the known ones.
pub(super) struct Classes<'a> {
    described: HashMap<String, &'a ClassDescription>,
    known: &'a StreamerInfos,
    facts: RefCell<HashMap<String, Facts>>,
}

impl<'a> Classes<'a> {
    pub fn new(classes: &'a [ClassDescription], known: &'a StreamerInfos) -> Result<Self> {
        let mut described = HashMap::new();
        for class in classes {
            if described.insert(spelled(&class.name)?, class).is_some() {
                return Err(Error::request("described twice").object(&class.name));
            }
        }
        Ok(Self { described, known, facts: RefCell::default() })
    }

    pub fn described(&self, name: &str) -> Option<&'a ClassDescription> {
        self.described.get(name).copied()
    }

    /// The info of a class that is known and not described.
    pub fn info(&self, name: &str) -> Option<Arc<StreamerInfo>> {
        self.known.latest(name)
    }

    /// A type as a member of `class` uses it: names are looked up in the scopes of the class, the innermost first.
    pub fn resolved(&self, text: &str, class: &str) -> Result<CppType> {
        let mut ty = CppType::parse(text)?;
        ty.resolve(&|name| {
            let mut scope = Some(class);
            while let Some(outer) = scope {
                let full = format!("{outer}::{name}");
                if self.described.contains_key(&full) || self.known.latest(&full).is_some() {
                    return CppType::parse(&full).ok().map(|ty| ty.core);
                }
                scope = outer.rsplit_once("::").map(|(scope, _)| scope);
            }
            None
        });
        Ok(ty)
    }

    /// The facts of a class.
    pub fn facts(&self, name: &str) -> Result<Facts> {
        self.facts_within(name, 0)
    }

    fn facts_within(&self, name: &str, depth: usize) -> Result<Facts> {
        if depth > MAX_DEPTH {
            return Err(Error::request("the class has itself as a base or member").object(name));
        }
        if let Some(facts) = self.facts.borrow().get(name) {
            return Ok(facts.clone());
        }
        let facts = if let Some(class) = self.described(name) {
            self.of_description(class, depth)?
        } else if let Some(info) = self.known.latest(name) {
            self.of_info(&info, depth)?
        } else if let Some(class) = super::implied::class(&CppType::parse(name)?.core) {
            self.of_description(&class, depth)?
        } else {
            return Err(Error::request(format!("the class {name} is unknown: describe it or name a file that has it")));
        };
        self.facts.borrow_mut().insert(name.to_owned(), facts.clone());
        Ok(facts)
    }

    fn of_description(&self, class: &ClassDescription, depth: usize) -> Result<Facts> {
        let name = spelled(&class.name)?;
        let mut sum = Sum::of_class(&name);
        let mut room = Room::new(class.version.is_some());
        let mut is_tobject = name == "TObject";
        for base in &class.bases {
            let base = self.resolved(base, &name)?;
            let base_name = base.name();
            if container::Container::of(&base.core).is_some() || container::is_string(&base.core) {
                sum.base(&base_name, None);
                room.base(self.layout_of_core(&base.core, depth + 1)?);
            } else {
                let facts = self.facts_within(&base_name, depth + 1)?;
                is_tobject |= facts.is_tobject;
                sum.base(&base_name, Some(facts.checksum));
                room.base(facts.layout);
            }
        }
        for member in &class.members {
            let ty = self.resolved(&member.cpp_type, &name).map_err(|e| e.object(member_name(&name, member)))?;
            let layout = self.layout_within(&ty, depth + 1).map_err(|e| e.object(member_name(&name, member)))?;
            room.member(layout, &ty);
            if !member.is_transient() {
                let is_enum = ty.stars == 0 && matches!(ty.core, Core::Enum(..));
                sum.member(&member.name, &in_sum(&ty).name(), is_enum, &ty.dimensions, &member.comment);
            }
        }
        Ok(Facts {
            version: class.version.map_or(-1, i32::from),
            checksum: sum.finish(),
            title: class.title.clone(),
            is_tobject,
            layout: room.finish(),
        })
    }

    fn of_info(&self, info: &StreamerInfo, depth: usize) -> Result<Facts> {
        let mut is_tobject = info.name == "TObject";
        let unversioned = info.version == 1 && self.elements().any(|e| says_unversioned(&e.kind, &e.name, &info.name));
        let mut room = Room::new(info.version > 1);
        for e in &info.elements {
            if matches!(e.kind, ElementKind::Base { .. }) {
                if let Ok(facts) = self.facts_within(&e.name, depth + 1) {
                    is_tobject |= facts.is_tobject;
                    room.base(facts.layout);
                }
            } else {
                let size = usize::try_from(e.size).unwrap_or(0);
                let align = match CppType::parse(&e.type_name) {
                    Ok(ty) => self.layout_within(&CppType { dimensions: Vec::new(), ..ty }, depth + 1).map(|l| l.align),
                    Err(e) => Err(e),
                };
                room.add(size, align.unwrap_or(8).max(1));
            }
        }
        let title = self
            .elements()
            .find(|e| matches!(e.kind, ElementKind::Base { .. }) && e.name == info.name && !e.title.is_empty());
        let layout = root_size(&info.name).unwrap_or_else(|| room.finish());
        Ok(Facts {
            version: if unversioned { -1 } else { info.version },
            checksum: info.checksum,
            title: title.map(|e| e.title.clone()).unwrap_or_default(),
            is_tobject,
            layout,
        })
    }

    fn elements(&self) -> impl Iterator<Item = &super::super::StreamerElement> {
        self.known.iter().chain(builtin::infos()).flat_map(|info| &info.elements)
    }

    /// The size of a type, without its dimensions.
    pub fn layout(&self, ty: &CppType) -> Result<Layout> {
        self.layout_within(ty, 0)
    }

    fn layout_within(&self, ty: &CppType, depth: usize) -> Result<Layout> {
        if ty.stars > 0 { Ok(Layout::number(8)) } else { self.layout_of_core(&ty.core, depth) }
    }

    fn layout_of_core(&self, core: &Core, depth: usize) -> Result<Layout> {
        if depth > MAX_DEPTH {
            return Err(Error::request("the class has itself as a base or member").object(core.name()));
        }
        if let Some(container) = container::Container::of(core) {
            let item = container.value().and_then(|ty| self.layout_within(ty, depth + 1).ok()).map_or(0, |l| l.size);
            return Ok(Layout::opaque(container.size(item), 8));
        }
        if let Some([Argument::Type(ty), Argument::Number(n)]) = container::arguments_of(core, "array") {
            let one = self.layout_within(ty, depth + 1)?;
            let size = usize::try_from(*n).ok().and_then(|n| one.size.checked_mul(n));
            let size = size.ok_or_else(|| Error::request("the array is too long"))?;
            return Ok(Layout { size, data: size, empty: false, ..one });
        }
        match core {
            Core::Basic(basic) => Ok(Layout::number(basic.size)),
            Core::Enum(_, of) => Ok(Layout::number(of.map_or(4, |of| of.size))),
            core if container::is_string(core) => Ok(Layout::opaque(32, 8)),
            core if container::arguments_of(core, "unique_ptr").is_some() => Ok(Layout::opaque(8, 8)),
            core if core.name() == "TString" => Ok(Layout::opaque(24, 8)),
            core => Ok(self.facts_within(&core.name(), depth + 1)?.layout),
        }
    }
}

/// The layout of a class while members are added.
struct Room {
    data: usize,
    align: usize,
    table: bool,
    plain: bool,
    empty: bool,
    versioned: bool,
    has_base: bool,
}

impl Room {
    /// The layout of an empty class. A ClassDef adds virtual functions.
    fn new(versioned: bool) -> Self {
        Self { data: 0, align: 1, table: false, plain: !versioned, empty: true, versioned, has_base: false }
    }

    /// The pointer to virtual functions is in the first base, or else in front of all members.
    fn base(&mut self, layout: Layout) {
        if !self.has_base && layout.table {
            self.table = true;
        } else if !self.has_base && self.versioned && !self.table {
            self.add(8, 8);
            self.table = true;
        }
        self.has_base = true;
        self.plain = false;
        if layout.empty {
            return;
        }
        let room = if layout.plain { layout.size } else { layout.data };
        self.add(room, layout.align);
        self.table |= layout.table;
    }

    fn member(&mut self, layout: Layout, ty: &CppType) {
        let number = ty.dimensions.iter().map(|n| usize::try_from(*n).unwrap_or(0)).fold(1, usize::saturating_mul);
        self.plain &= layout.plain;
        self.add(layout.size.saturating_mul(number), layout.align);
    }

    fn add(&mut self, size: usize, align: usize) {
        if self.versioned && !self.table && !self.has_base && self.empty {
            self.table = true;
            self.empty = false;
            (self.data, self.align) = (8, 8);
        }
        self.empty = false;
        self.data = self.data.checked_next_multiple_of(align).unwrap_or(usize::MAX).saturating_add(size);
        self.align = self.align.max(align);
    }

    fn finish(mut self) -> Layout {
        if self.versioned && !self.table {
            self.table = true;
            if self.empty {
                (self.data, self.align, self.empty) = (8, 8, false);
            }
        }
        let size = self.data.max(1).checked_next_multiple_of(self.align).unwrap_or(usize::MAX);
        let Self { data, align, table, plain, empty, .. } = self;
        Layout { size, align, data, table, plain, empty }
    }
}

/// Name and size of ROOT's own classes.
fn root_size(class: &str) -> Option<Layout> {
    let line = SIZES.lines().find(|line| line.split('\t').next() == Some(class))?;
    let [_, size, data, align, table] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
    let (size, data, align) = (size.parse().ok()?, data.parse().ok()?, align.parse().ok()?);
    Some(Layout { size, align, data, table: table == "1", plain: false, empty: false })
}

/// Whether an element says that its class has no version.
fn says_unversioned(kind: &ElementKind, name: &str, of: &str) -> bool {
    match kind {
        ElementKind::Base { version } => *version == -1 && name == of,
        ElementKind::Counted { version, class, .. } => *version == -1 && class == of,
        _ => false,
    }
}

/// A member's type for the checksum: with the default argument of `std::unique_ptr`.
fn in_sum(ty: &CppType) -> CppType {
    let mut ty = ty.clone();
    let Core::Named { name, arguments } = &mut ty.core else { return ty };
    for argument in arguments.iter_mut() {
        if let Argument::Type(ty) = argument {
            *ty = in_sum(ty);
        }
    }
    if let ("unique_ptr", [of]) = (name.as_str(), arguments.as_slice()) {
        let deleter = Core::Named { name: "default_delete".to_owned(), arguments: vec![of.clone()] };
        arguments.push(Argument::Type(CppType { qualifier: None, core: deleter, stars: 0, dimensions: Vec::new() }));
    }
    ty
}

/// A class's name as ROOT spells it.
pub(super) fn spelled(name: &str) -> Result<String> {
    CppType::parse(name).map(|ty| ty.name()).map_err(|e| e.object(name))
}

fn member_name(class: &str, member: &Member) -> String {
    format!("{class}::{}", member.name)
}
