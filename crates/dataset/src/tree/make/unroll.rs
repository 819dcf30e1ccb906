//! Members as branches: `TBranchElement::Init` for one member, `TBranchElement::Unroll` for all of a class.

use std::sync::Arc;

use rootfile::streamer::{StreamerElement, StreamerInfo, code};
use rootfile::{Error, Result};

use super::classes::{Classes, container, count_name, full_name, is_base, is_pointer, is_stored, type_code};
use super::maker::{IS_OBJECT, IS_TOBJECT, LeafType, Maker, NO_POINTERS, leaf_extra};
use crate::layout::defaults::ENTRY_OFFSET_LEN;
use crate::tree::model::{Branch, BranchKind, Element};

/// Most branches of a tree.
const MAX_BRANCHES: usize = 100_000;

/// The settings of the branches below another.
#[derive(Clone, Copy)]
pub(super) struct Below {
    /// Split level.
    pub level: i32,
    /// fBasketSize.
    pub basket_size: u32,
    /// 31 or 41 within a split `TClonesArray` or container, else 0.
    pub of: i32,
}

impl Below {
    fn at(self, level: i32) -> Self {
        Self { level: level.max(0), ..self }
    }

    fn in_items(self) -> bool {
        self.of != 0
    }
}

/// Whether the class could be unrolled. If not, its object becomes one branch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unrolled {
    Yes,
    No,
}

/// Facts of members' branches.
pub(super) struct Elements;

impl Elements {
    /// A basket must have room for the offsets of its entries and some bytes more.
    pub(super) fn basket_size(wanted: u32, offsets: i32) -> u32 {
        wanted.max(100u32.saturating_add(u32::try_from(offsets).unwrap_or(0)))
    }

    /// fEntryOffsetLen of a member by fStreamerType: 0 for plain numbers.
    fn offsets(st: i32, of: i32) -> i32 {
        let varies = of != 0 || st <= code::BASE || matches!(st, code::CHAR_STAR | code::BITS) || st > code::FLOAT16;
        if varies { ENTRY_OFFSET_LEN } else { 0 }
    }
}

pub(super) fn checksum_and_version(info: &StreamerInfo) -> (u32, i16) {
    (info.checksum, i16::try_from(info.version.unsigned_abs()).unwrap_or(0))
}

/// The type of a `TLeafElement` by type code.
fn leaf_type(st: i32) -> LeafType {
    let bare = match st {
        _ if st >= code::OBJECT => return LeafType { class: "TLeafElement", ..LeafType::default() },
        _ if st > code::OFFSET_P => st - code::OFFSET_P,
        _ if st > code::OFFSET_L => st - code::OFFSET_L,
        _ => st,
    };
    let len_type = match bare {
        code::CHAR | code::UCHAR | code::LEGACY_CHAR | code::BOOL => 1,
        code::SHORT | code::USHORT | code::FLOAT16 => 2,
        code::FLOAT | code::DOUBLE32 | code::INT | code::UINT => 4,
        code::LONG | code::ULONG | code::LONG64 | code::ULONG64 | code::DOUBLE => 8,
        _ => 0,
    };
    let is_unsigned = matches!(bare, code::UCHAR | code::USHORT | code::UINT | code::ULONG | code::ULONG64);
    LeafType { class: "TLeafElement", len_type, is_unsigned }
}

/// A name below another.
fn below_name(name: &str, member: &str) -> String {
    let dot = if name.is_empty() || name.ends_with('.') { "" } else { "." };
    format!("{name}{dot}{member}")
}

/// The class in the title of a `TClonesArray` member: "comment (Track)".
fn noted_class(title: &str) -> Option<&str> {
    let (_, class) = title.strip_suffix(')')?.rsplit_once('(')?;
    Some(class)
}

impl Maker<'_> {
    /// The branch of one member or base, with all branches below. `parent_class` is fParentName.
    pub(super) fn element(
        &mut self,
        above: usize,
        name: &str,
        (info, id): (&StreamerInfo, usize),
        below: Below,
        parent_class: &str,
    ) -> Result<usize> {
        if self.branches.len() > MAX_BRANCHES {
            return Err(Error::request(format!("more than {MAX_BRANCHES} branches")));
        }
        let element = info.elements.get(id).ok_or_else(|| Error::request("a member that does not exist"))?;
        let st = type_code(element);
        let (checksum, class_version) = checksum_and_version(info);
        let own = Element {
            class_name: info.name.clone(),
            parent_name: parent_class.to_owned(),
            checksum,
            class_version,
            element_id: i32::try_from(id).unwrap_or(i32::MAX),
            streamer_type: st,
            ..Element::default()
        };
        let offsets = Elements::offsets(st, below.of);
        let basket_size = Elements::basket_size(below.basket_size, offsets);
        let at = self.branch(name, BranchKind::Element(Box::new(own)), Some(above), basket_size);
        let branch = self.made(at)?;
        branch.entry_offset_len = offsets;
        branch.split_level = below.level;
        let inside = Below { basket_size, ..below };
        self.member_bits(at, info, st)?;
        let counter = match count_name(element) {
            Some(counter) => {
                self.made(at)?.named.title = format!("{name}[{counter}]");
                let prefix = name.rfind('.').map_or("", |dot| name.get(..=dot).unwrap_or_default());
                self.find_branch(&format!("{prefix}{counter}"))
            }
            None => None,
        };
        if below.level > 0 && self.split(at, name, (info, element), inside)? {
            return Ok(at);
        }
        let title = self.made(at)?.named.title.clone();
        self.member_leaf(at, &title)?;
        if let Some(counter) = counter {
            self.counted_by(at, counter)?;
        }
        self.pointer_bits(at, element, st)?;
        Ok(at)
    }

    /// Adds the leaf of a member.
    fn member_leaf(&mut self, at: usize, title: &str) -> Result<usize> {
        let element = self.branches.get(at).and_then(Branch::element);
        let (id, st) = element.map_or((-1, -1), |e| (e.element_id, e.streamer_type));
        let extra = leaf_extra("TLeafElement", &[i64::from(id), i64::from(st)]);
        self.leaf(at, title, leaf_type(st), extra)
    }

    /// Splits a member if possible. Returns false if one branch must hold the member.
    fn split(
        &mut self,
        at: usize,
        name: &str,
        (info, element): (&StreamerInfo, &StreamerElement),
        below: Below,
    ) -> Result<bool> {
        let st = type_code(element);
        let class = self.classes.of_element(element).unwrap_or_default();
        if self.classes.cannot_split(element) {
            self.made(at)?.split_level = 0;
            return Ok(false);
        }
        let below = Below { of: 0, ..below };
        if is_base(element) {
            self.set(at, |e| e.element_type = 1)?;
            if name == class {
                // The branches below omit its name, and are members of the derived class.
                self.unroll(at, "", &info.name, &class, below)?;
                return Ok(true);
            }
            self.unroll(at, name, &class, &class, below)?;
            if !name.contains('.') && self.made(at)?.children.is_empty() {
                self.rename(at, &below_name(name, &class))?;
            }
            return Ok(true);
        }
        if class == "TClonesArray" {
            let noted = noted_class(&element.title).filter(|class| self.classes.info(class).is_some());
            self.member_leaf(at, name)?;
            // Otherwise the branch has whole arrays.
            if let Some(items) = noted {
                self.made(at)?.entry_offset_len = 0;
                self.master(at, name, 3, items, true)?;
                self.items(at, name, items, Below { of: 31, ..below })?;
            }
            return Ok(true);
        }
        if let Some(container) = container(&class) {
            let value = container.value.filter(|_| self.classes.can_split(&class));
            let Some(value) = value else { return Ok(false) };
            self.member_leaf(at, name)?;
            self.master(at, name, 4, &value, true)?;
            self.items(at, name, &value, Below { of: 41, ..below })?;
            return Ok(true);
        }
        if !element.type_name.contains('*') && matches!(st, code::OBJECT | code::ANY) {
            self.set(at, |e| e.element_type = 2)?;
            return Ok(self.unroll(at, name, &class, &class, below)? == Unrolled::Yes);
        }
        Ok(false)
    }

    /// Turns a branch and its leaf into those of the count of a split collection.
    pub(super) fn master(&mut self, at: usize, name: &str, kind: i32, items: &str, counts: bool) -> Result<()> {
        let title = format!("{}_", name.strip_suffix('.').unwrap_or(name));
        self.set(at, |e| {
            e.element_type = kind;
            items.clone_into(&mut e.clones_name);
        })?;
        let branch = self.made(at)?;
        branch.named.title.clone_from(&title);
        let leaf = branch.leaves.first().copied().ok_or_else(|| Error::request("a collection without a leaf"))?;
        self.rename_leaf(leaf, &title, counts)
    }

    /// The branches of the items of a split collection, with titles such as `fX[tracks_]`.
    pub(super) fn items(&mut self, at: usize, name: &str, class: &str, below: Below) -> Result<()> {
        self.unroll(at, name, class, class, below)?;
        let index = format!("{}_", name.strip_suffix('.').unwrap_or(name));
        for child in self.made(at)?.children.clone() {
            self.set(child, |e| e.element_type = below.of)?;
            let Some(dot) = self.made(child)?.named.title.rfind('.') else { continue };
            self.counted_by(child, at)?;
            let branch = self.made(child)?;
            let member = branch.named.title.get(dot + 1..).unwrap_or_default();
            let title = format!("{}[{index}]", member.split('[').next().unwrap_or_default());
            branch.named.title.clone_from(&title);
            let (leaf, name) = (branch.leaves.first().copied(), branch.named.name.clone());
            if let Some(leaf) = leaf {
                self.made_leaf(leaf)?.named.title = title;
            }
            self.second_counter(at, child, &name)?;
        }
        Ok(())
    }

    /// The second counter of a counted array in a collection is the counting member.
    fn second_counter(&mut self, master: usize, at: usize, name: &str) -> Result<()> {
        let Some((class, id, st)) = self
            .branches
            .get(at)
            .and_then(Branch::element)
            .map(|e| (e.class_name.clone(), usize::try_from(e.element_id).unwrap_or(usize::MAX), e.streamer_type))
        else {
            return Ok(());
        };
        if !(code::OFFSET_P + 1..code::OBJECT).contains(&st) {
            return Ok(());
        }
        let info = self.classes.info(&class);
        let counter = info.as_ref().and_then(|info| info.elements.get(id)).and_then(count_name);
        let prefix = name.rfind('.').and_then(|dot| name.get(..=dot));
        let (Some(counter), Some(prefix)) = (counter, prefix) else { return Ok(()) };
        let wanted = format!("{prefix}{counter}");
        let siblings = self.made(master)?.children.clone();
        let found = siblings.iter().filter_map(|&i| self.branches.get(i)).find(|b| b.named.name == wanted);
        let found = found.map(|branch| branch.id);
        self.set(at, |e| e.branch_count2 = found)
    }

    /// fBranchCount, and fLeafCount of the leaf.
    fn counted_by(&mut self, at: usize, counter: usize) -> Result<()> {
        let counting = self.made(counter)?;
        let (id, leaf) = (counting.id, counting.leaves.first().copied());
        let leaf = leaf.map(|leaf| self.made_leaf(leaf).map(|leaf| leaf.id)).transpose()?;
        self.set(at, |e| e.branch_count = Some(id))?;
        if let (Some(&own), Some(leaf)) = (self.made(at)?.leaves.first(), leaf) {
            self.made_leaf(own)?.leaf_count = Some(leaf);
        }
        Ok(())
    }

    /// The branches of all members of a class that `TBranchElement::Unroll` makes.
    fn unroll(&mut self, at: usize, name: &str, parent_class: &str, class: &str, below: Below) -> Result<Unrolled> {
        if class == "TObject" && self.classes.ignores_tobject(parent_class) {
            return Ok(Unrolled::Yes);
        }
        let Some(info) = self.classes.info(class) else { return Ok(Unrolled::Yes) };
        let info: Arc<StreamerInfo> = info;
        if let ([only], Some(_)) = (info.elements.as_slice(), container(class))
            && only.name == "This"
        {
            return Ok(Unrolled::Yes);
        }
        for (id, element) in info.elements.iter().enumerate().filter(|(_, e)| is_stored(e)) {
            let member = (&*info, id);
            let full = below_name(name, &full_name(element));
            let unrolled = if is_base(element) {
                self.unroll_base(at, name, &full, member, parent_class, below)?
            } else {
                self.unroll_member(at, &full, member, parent_class, below)?
            };
            if unrolled == Unrolled::No {
                return Ok(Unrolled::No);
            }
        }
        Ok(Unrolled::Yes)
    }

    fn unroll_base(
        &mut self,
        at: usize,
        name: &str,
        full: &str,
        (info, id): (&StreamerInfo, usize),
        parent_class: &str,
        below: Below,
    ) -> Result<Unrolled> {
        let Some(element) = info.elements.get(id) else { return Ok(Unrolled::Yes) };
        let base = element.name.as_str();
        if below.in_items() {
            // Inside collections, bases get no branches of their own.
            let mut unrolled = if self.classes.is_empty(base) { Unrolled::Yes } else { Unrolled::No };
            if unrolled == Unrolled::No && (!self.classes.cannot_split(element) || base == "TObject") {
                unrolled = self.unroll(at, name, parent_class, base, below)?;
            }
            if unrolled == Unrolled::No {
                self.element(at, full, (info, id), below.at(0), parent_class)?;
            }
        } else if !self.classes.is_empty(base) {
            if name.is_empty() {
                self.element(at, full, (info, id), below, parent_class)?;
            } else {
                // The branches below are named as if there were no base.
                let branch = self.element(at, name, (info, id), below, parent_class)?;
                self.rename(branch, full)?;
            }
        }
        Ok(Unrolled::Yes)
    }

    fn unroll_member(
        &mut self,
        at: usize,
        full: &str,
        (info, id): (&StreamerInfo, usize),
        parent_class: &str,
        below: Below,
    ) -> Result<Unrolled> {
        let Some(element) = info.elements.get(id) else { return Ok(Unrolled::Yes) };
        let member = (info, id);
        let level = below.level;
        let class = self.classes.of_element(element);
        if level > 1 && matches!(element.class.as_str(), "TStreamerObject" | "TStreamerObjectAny") {
            let Some(class) = class else { return Ok(Unrolled::No) };
            if self.classes.cannot_split(element) {
                self.element(at, full, member, below.at(0), parent_class)?;
            } else if self.classes.is_clones_array(&class) {
                // The items of a collection are split only once.
                let level = if below.in_items() { 0 } else { level - 1 };
                self.element(at, full, member, below.at(level), parent_class)?;
            } else if self.unroll(at, full, parent_class, &class, below.at(level - 1))? == Unrolled::No {
                self.element(at, full, member, below.at(0), parent_class)?;
            }
            return Ok(Unrolled::Yes);
        }
        let clones = class.as_deref() == Some("TClonesArray");
        if element.class == "TStreamerSTL" && !is_pointer(element) {
            let level = if below.in_items() || self.classes.cannot_split(element) { 0 } else { level - 1 };
            self.element(at, full, member, below.at(level), parent_class)?;
        } else if !below.in_items()
            && (clones || element.class == "TStreamerSTL" && !self.classes.cannot_split(element))
        {
            self.element(at, full, member, below.at(level - 1), parent_class)?;
        } else {
            let branch = self.element(at, full, member, below.at(0), parent_class)?;
            self.set(branch, |e| e.element_type = below.of)?;
        }
        Ok(Unrolled::Yes)
    }

    /// Bits of a member that is an object: whether the class of the member derives from `TObject`.
    fn member_bits(&mut self, at: usize, info: &StreamerInfo, st: i32) -> Result<()> {
        let objects = [code::OBJECT, code::BASE, code::TNAMED, code::TOBJECT, code::OBJECT_P_INLINE, code::OBJECT_P];
        if objects.contains(&st) && self.classes.is_tobject(&info.name) {
            self.made(at)?.named.object.bits |= IS_TOBJECT;
        }
        Ok(())
    }

    /// Bits of an unsplit member that may hold objects that pointers refer to.
    fn pointer_bits(&mut self, at: usize, element: &StreamerElement, st: i32) -> Result<()> {
        let of_numbers = matches!(element.class.as_str(), "TStreamerBasicType" | "TStreamerBasicPointer");
        if !of_numbers && Classes::may_refer(if is_base(element) { &element.name } else { &element.type_name }) {
            let bits = &mut self.made(at)?.named.object.bits;
            *bits &= !NO_POINTERS;
            if st != code::OBJECT && st != code::BASE {
                *bits |= IS_OBJECT;
            }
        }
        Ok(())
    }
}
