//! Split objects of which an input has another version of the class. A member that both versions describe alike has the same bytes;
//! where members are filled in (`--fill`), the output has the version with all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use dataset::meaning::{Growth, Meanings, Reach};
use dataset::table::Join;
use dataset::tree::{BranchKind, Tree};
use rootfile::streamer::{StreamerInfo, StreamerInfos};

use super::builder::PlanBuilder;
use super::schema::{Comparison, Described, conflicts};

/// Descriptions of classes that replace those of the output so far, by class, version and checksum of these.
pub(super) type Replacements = BTreeMap<(String, i16, u32), (Arc<StreamerInfo>, i16)>;

impl PlanBuilder<'_> {
    /// Whether the entries of a branch mean the same in an input with another version of its class. A description that must replace
    /// the output's is added to `wanted`. The reason why the versions cannot be joined is added to the differences.
    pub fn joins_version(
        &self,
        i: usize,
        (theirs, other): (usize, Described<'_>),
        found: &mut Comparison,
        wanted: &mut Replacements,
    ) -> bool {
        let meanings = (Meanings::new(&self.tree, &self.infos), Meanings::new(other.tree, other.infos));
        let (Some(branch), Some(their)) = (self.tree.branches.get(i), other.tree.branches.get(theirs)) else {
            return false;
        };
        if !meanings.0.is_same_member(branch, (&meanings.1, their)) {
            return false;
        }
        let is_member = branch.element().is_some_and(|element| element.element_id >= 0);
        if is_member && !conflicts((&meanings.0, branch), (&meanings.1, their), &found.classes).is_empty() {
            return false;
        }
        if self.request.options.schema != Join::Fill {
            return true;
        }
        let (Some(ours), Some(info)) = (meanings.0.description(branch), meanings.1.description(their)) else {
            // Without descriptions nothing depends on the version.
            return !is_member;
        };
        match Growth::between(ours, info) {
            Growth::First => true,
            Growth::Second => {
                let same_version = ours.version == info.version;
                if same_version && self.has_whole_objects(&info.name) {
                    return false;
                }
                if let (Some(own), Some(their)) = (branch.element(), their.element()) {
                    let known = (own.class_name.clone(), own.class_version, own.checksum);
                    wanted.insert(known, (Arc::clone(info), their.class_version));
                }
                true
            }
            Growth::Neither([own, other]) => {
                let (class, ours, theirs) = (&info.name, ours.version, info.version);
                let what = format!(
                    "class {class} has {other} (version {theirs}) where the first has {own} (version {ours}): no version has the \
                     members of both"
                );
                found.named.insert(i, what);
                false
            }
        }
    }

    /// Whether entries have objects of a class that are not split.
    fn has_whole_objects(&self, class: &str) -> bool {
        let meanings = Meanings::new(&self.tree, &self.infos);
        let mut reach = Reach::default();
        let is_label = |kind: &BranchKind, children: &[usize]| match kind {
            BranchKind::Element(element) => element.element_id < 0 && !children.is_empty(),
            _ => false,
        };
        let holding = self.tree.branches.iter().filter(|branch| !is_label(&branch.kind, &branch.children));
        holding.for_each(|branch| meanings.reach(branch, &mut reach));
        reach.has(class)
    }

    /// Replaces descriptions of classes: the branches of their members are those of the new ones.
    pub fn replace_versions(&mut self, wanted: &Replacements) {
        if wanted.is_empty() {
            return;
        }
        let mut infos = StreamerInfos::new();
        let is_replaced = |info: &StreamerInfo| {
            wanted.iter().any(|((class, _, checksum), (new, _))| {
                (class, *checksum, new.version) == (&info.name, info.checksum, info.version)
            })
        };
        self.infos.iter().filter(|info| !is_replaced(info)).for_each(|info| infos.add(Arc::clone(info)));
        wanted.values().for_each(|(info, _)| infos.add(Arc::clone(info)));
        let before = std::mem::replace(&mut self.infos, infos);
        set_versions(&mut self.tree, &before, wanted);
    }
}

/// Gives the branches of a tree the new descriptions of their classes. `infos` has the old ones.
fn set_versions(tree: &mut Tree, infos: &StreamerInfos, wanted: &Replacements) {
    for branch in &mut tree.branches {
        let BranchKind::Element(element) = &mut branch.kind else { continue };
        let known = (element.class_name.clone(), element.class_version, element.checksum);
        let Some((info, version)) = wanted.get(&known) else { continue };
        let old = infos.layout(&known.0, known.1.into(), known.2);
        if let Ok(id) = usize::try_from(element.element_id) {
            let name = old.and_then(|old| old.elements.get(id)).map(|member| member.name.as_str());
            let place = info.elements.iter().position(|member| Some(member.name.as_str()) == name);
            // The new description has all members of the old one.
            let Some(place) = place.and_then(|place| i32::try_from(place).ok()) else { continue };
            element.element_id = place;
        }
        (element.class_version, element.checksum) = (*version, info.checksum);
    }
}
