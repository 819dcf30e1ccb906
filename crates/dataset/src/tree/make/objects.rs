//! Columns of classes and containers at the first level, as `TTree::Bronch` and the constructors of
//! `TBranchElement` make them.

use rootfile::streamer::StreamerInfo;
use rootfile::{Error, Result};

use super::NewColumn;
use super::classes::{Classes, container, container_checksum, full_name, is_base, is_custom, is_stored};
use super::maker::{IS_OBJECT, IS_TOBJECT, LeafType, Maker, NO_POINTERS, leaf_extra};
use super::unroll::{Below, Elements, checksum_and_version};
use crate::layout::defaults::ENTRY_OFFSET_LEN;
use crate::tree::model::{BranchKind, Element};

/// fID of a branch that is not a member: for an unsplit and for a split object.
const WHOLE: i32 = -1;
const SPLIT: i32 = -2;
/// fType of a class with a custom streamer.
const CUSTOM: i32 = -1;
/// fStreamerType of a branch that is not a member.
const NO_MEMBER: i32 = -1;
/// Class versions of containers, and of `std::string` with its checksum.
const CONTAINER_VERSION: i16 = 6;
const STRING: (u32, i16) = (0x6e6f_1604, 2);

impl Maker<'_> {
    /// The branch of a column of objects.
    pub(super) fn class(&mut self, column: &NewColumn, type_name: &str, clones: Option<&str>) -> Result<usize> {
        let level = column.split_level;
        if !(0..=99).contains(&level) {
            return Err(Error::request(format!("split level {level} is not between 0 and 99")));
        }
        if type_name == "TClonesArray" {
            return match clones {
                _ if level == 0 => self.object(column, type_name),
                Some(clones) => self.clones(column, clones),
                None => Err(Error::request("a split TClonesArray needs the class of its objects")),
            };
        }
        if let Some(container) = container(type_name) {
            return self.container(column, type_name, container.value.as_deref());
        }
        if type_name == "string" {
            let element = Element { class_name: type_name.to_owned(), ..Element::default() };
            let at = self.unsplit(column, element, STRING)?;
            self.made(at)?.split_level = 0;
            self.set(at, |element| element.element_type = CUSTOM)?;
            return Ok(at);
        }
        let info = self.described(type_name)?;
        let custom = is_custom(type_name);
        if level == 0 && custom && self.classes.is_tobject(type_name) {
            return self.object(column, type_name);
        }
        let level = if self.classes.can_split(type_name) { level } else { 0 };
        let element = Element { class_name: info.name.clone(), ..Element::default() };
        let at = self.unsplit(column, element, checksum_and_version(&info))?;
        let branch = self.made(at)?;
        branch.split_level = level;
        branch.basket_size = Elements::basket_size(column.basket_size, ENTRY_OFFSET_LEN);
        self.set(at, |element| {
            element.element_type = if custom { CUSTOM } else { 0 };
            element.element_id = if level > 0 { SPLIT } else { WHOLE };
        })?;
        self.leaf_ids(at)?;
        if level > 0 {
            self.members(at, column, &info, level)?;
        }
        if Classes::may_refer(type_name) {
            let branch =
                self.branches.get_mut(at).ok_or_else(|| Error::request("internal error: an unknown branch"))?;
            branch.named.object.bits |= if self.classes.is_tobject(type_name) { IS_TOBJECT } else { IS_OBJECT };
            if branch.children.is_empty() {
                branch.named.object.bits &= !NO_POINTERS;
            }
        }
        Ok(at)
    }

    fn described(&self, class: &str) -> Result<std::sync::Arc<StreamerInfo>> {
        let info = self.classes.info(class);
        info.ok_or_else(|| Error::request(format!("class {class} is not described by any streamer info")))
    }

    /// An unsplit branch of an object, and its leaf.
    fn unsplit(&mut self, column: &NewColumn, element: Element, (checksum, version): (u32, i16)) -> Result<usize> {
        let element =
            Element { checksum, class_version: version, element_id: WHOLE, streamer_type: NO_MEMBER, ..element };
        // The name of a container's branch does not end with a dot.
        let name = match container(&element.class_name) {
            Some(_) => column.name.strip_suffix('.').unwrap_or(&column.name),
            None => &column.name,
        };
        let at = self.branch(name, BranchKind::Element(Box::new(element)), None, column.basket_size);
        let branch = self.made(at)?;
        branch.split_level = column.split_level;
        branch.entry_offset_len = ENTRY_OFFSET_LEN;
        let title = branch.named.title.clone();
        let extra = leaf_extra("TLeafElement", &[i64::from(WHOLE), i64::from(NO_MEMBER)]);
        self.leaf(at, &title, LeafType { class: "TLeafElement", ..LeafType::default() }, extra)?;
        Ok(at)
    }

    /// Sets the number of a branch's leaf.
    fn leaf_ids(&mut self, at: usize) -> Result<()> {
        let branch = self.made(at)?;
        let id = branch.element().map_or(0, |element| i64::from(element.element_id));
        if let Some(&leaf) = branch.leaves.first() {
            self.made_leaf(leaf)?.extra = leaf_extra("TLeafElement", &[id, i64::from(NO_MEMBER)]);
        }
        Ok(())
    }

    pub(super) fn set(&mut self, at: usize, change: impl FnOnce(&mut Element)) -> Result<()> {
        if let BranchKind::Element(element) = &mut self.made(at)?.kind {
            change(element);
        }
        Ok(())
    }

    /// A `TBranchObject`: an object with the name of its class.
    fn object(&mut self, column: &NewColumn, class: &str) -> Result<usize> {
        let kind = BranchKind::Object { class_name: class.to_owned() };
        let at = self.branch(&column.name, kind, None, column.basket_size);
        self.made(at)?.entry_offset_len = ENTRY_OFFSET_LEN;
        let of = LeafType { class: "TLeafObject", len_type: 4, ..LeafType::default() };
        // fVirtual: the object may be of a derived class.
        let leaf = self.leaf(at, &column.name, of, leaf_extra("TLeafObject", &[1]))?;
        class.clone_into(&mut self.made_leaf(leaf)?.named.title);
        Ok(at)
    }

    /// A `TClonesArray`, split.
    fn clones(&mut self, column: &NewColumn, class: &str) -> Result<usize> {
        let array = self.described("TClonesArray")?;
        self.described(class)?;
        let element = Element { class_name: "TClonesArray".to_owned(), ..Element::default() };
        let at = self.unsplit(column, element, checksum_and_version(&array))?;
        self.set(at, |element| element.element_id = 0)?;
        self.leaf_ids(at)?;
        self.master(at, &column.name, 3, class, false)?;
        self.items(
            at,
            &column.name,
            class,
            Below { level: column.split_level, basket_size: column.basket_size, of: 31 },
        )?;
        Ok(at)
    }

    /// A container, split if possible.
    fn container(&mut self, column: &NewColumn, type_name: &str, value: Option<&str>) -> Result<usize> {
        let element = Element { class_name: type_name.to_owned(), ..Element::default() };
        let at = self.unsplit(column, element, (container_checksum(type_name), CONTAINER_VERSION))?;
        let splits = column.split_level > 0 && self.classes.can_split(type_name);
        if Classes::may_refer(type_name) {
            let bits = &mut self.made(at)?.named.object.bits;
            *bits |= IS_OBJECT;
            if !splits {
                *bits &= !NO_POINTERS;
            }
        }
        if let Some(value) = value.filter(|_| splits) {
            let name = self.made(at)?.named.name.clone();
            self.master(at, &name, 4, value, false)?;
            self.items(at, &name, value, Below { level: column.split_level, basket_size: column.basket_size, of: 41 })?;
        }
        Ok(at)
    }

    /// The members of an object at the first level: each gets a branch of its own.
    fn members(&mut self, at: usize, column: &NewColumn, info: &StreamerInfo, level: i32) -> Result<()> {
        let name = &column.name;
        let below = Below { level: level - 1, basket_size: column.basket_size, of: 0 };
        for (id, element) in info.elements.iter().enumerate().filter(|(_, e)| is_stored(e)) {
            if is_base(element) {
                let ignored = element.name == "TObject" && self.classes.ignores_tobject(&info.name);
                if ignored || self.classes.is_empty(&element.name) {
                    continue;
                }
            }
            let full = full_name(element);
            let member = if name.ends_with('.') {
                format!("{name}{full}")
            } else if !name.contains('.') {
                full
            } else if is_base(element) {
                // A name with dots inside is that of a folder.
                name.clone()
            } else {
                format!("{name}.{full}")
            };
            self.element(at, &member, (info, id), below, &info.name)?;
        }
        Ok(())
    }
}
