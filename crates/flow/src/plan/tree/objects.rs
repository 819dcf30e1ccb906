//! Objects that are not split, of which an input has other versions of the class, or of a class inside of it. Where the newest version
//! has members that others lack, all entries are written in that version (`--fill`): ROOT would leave the members of earlier entries
//! in memory. Bytes of classes that cannot be decoded are copied. Readers take each version by itself, and ask for none of this.

use std::sync::Arc;

use dataset::decode::ColumnPlan;
use dataset::meaning::OutgrownClass;
use dataset::recast::Recast;
use dataset::table::Join;
use dataset::tree::{BranchKind, Element, Tree};
use rootfile::streamer::{StreamerInfo, StreamerInfos};

use super::builder::PlanBuilder;
use super::schema::{Comparison, Described};

impl PlanBuilder<'_> {
    /// Finds the branches whose objects have other versions of a class in an input, and brings their entries to one version. Those
    /// for which that is impossible, or not asked for, are added to the differences.
    pub fn join_objects(&mut self, other: Described<'_>, found: &mut Comparison) {
        if self.request.options.is_read {
            return;
        }
        // The same for every branch that was not brought to a version before.
        let outgrown = OutgrownClass::between(&self.infos, other.infos);
        for (i, theirs) in found.map.clone().into_iter().enumerate() {
            let Some(theirs) = theirs.filter(|_| !self.left_out.contains(&i)) else { continue };
            let newest = self.newest_of_whole(i, theirs, other);
            let is_changed = found.changed.contains(&i);
            if is_changed && (newest.is_none() || found.conflicts.contains_key(&i)) {
                continue;
            }
            match self.bring(i, newest.as_ref(), theirs, other, &outgrown) {
                Ok(()) if is_changed => found.changed.retain(|changed| *changed != i),
                Ok(()) => {}
                Err(why) => {
                    found.named.insert(i, why);
                    if !is_changed {
                        found.changed.push(i);
                    }
                }
            }
        }
    }

    /// The newest description of the class of a branch that holds whole objects, if an input has another version of it.
    fn newest_of_whole(&self, i: usize, theirs: usize, other: Described<'_>) -> Option<Newest> {
        let Described { tree, infos } = other;
        let (ours, their) = (whole(&self.tree, i)?, whole(tree, theirs)?);
        let alike = |element: &Element| (element.class_name.clone(), element.element_type, element.streamer_type);
        // Two classes of one version, as those without a version of their own have, have no order.
        if alike(ours) != alike(their) || ours.class_version == their.class_version {
            return None;
        }
        let described = |element: &Element, infos: &StreamerInfos| {
            let info = infos.layout(&element.class_name, element.class_version.into(), element.checksum)?;
            Some((Arc::clone(info), element.class_version))
        };
        let both = [described(ours, &self.infos)?, described(their, infos)?];
        both.into_iter().max_by_key(|(info, _)| info.version)
    }

    /// Brings the entries of a branch so far and those of an input to the newest versions of their classes, if they have others.
    /// `outgrown` are those of the tree so far and the input.
    fn bring(
        &mut self,
        i: usize,
        own_class: Option<&Newest>,
        theirs: usize,
        other: Described<'_>,
        outgrown: &[OutgrownClass],
    ) -> Result<(), String> {
        let Described { tree, infos } = other;
        let (before, mut outgrown) = match self.brought.get(&i) {
            Some(before) => (before, OutgrownClass::between(before, infos)),
            None => (&self.infos, outgrown.to_vec()),
        };
        if outgrown.is_empty() && own_class.is_none() {
            return Ok(());
        }
        let own = ColumnPlan::with_tobjects(&self.tree, i, before);
        let from = ColumnPlan::with_tobjects(tree, theirs, infos);
        outgrown.retain(|class| [&own, &from].iter().any(|plan| plan.reads(&class.newest.name)));
        if let Some(class) =
            outgrown.iter().find(|class| self.request.options.schema != Join::Fill || !class.holds_all())
        {
            return Err(class.to_string());
        }
        let why = [&own, &from].iter().find_map(|plan| plan.opaque());
        match (own_class, why) {
            (None, _) if outgrown.is_empty() => return Ok(()),
            (None, Some(_)) => return Ok(()),
            (Some(_), Some(why)) => return Err(format!("objects of two versions of a class: {why}")),
            (_, None) => {}
        }
        let newest: Vec<&Arc<StreamerInfo>> =
            outgrown.iter().map(|class| &class.newest).chain(own_class.map(|(info, _)| info)).collect();
        let is_older =
            |info: &StreamerInfo| newest.iter().any(|new| new.name == info.name && new.version != info.version);
        let has_older = |infos: &StreamerInfos| infos.iter().any(|info| is_older(info));
        let mut kept = StreamerInfos::new();
        before.iter().chain(infos.iter()).filter(|info| !is_older(info)).for_each(|info| kept.add(Arc::clone(info)));
        let recasts = [has_older(before), has_older(infos)];
        if let (Some((info, version)), Some(BranchKind::Element(element))) =
            (own_class, self.tree.branches.get_mut(i).map(|branch| &mut branch.kind))
        {
            (element.class_version, element.checksum) = (*version, info.checksum);
        }
        let to = ColumnPlan::with_tobjects(&self.tree, i, &kept);
        let named = |why: String| {
            let classes: Vec<String> = outgrown.iter().map(ToString::to_string).collect();
            format!("{}: its objects cannot be written in one version: {why}", classes.join(", "))
        };
        let growth =
            |from: &ColumnPlan| Recast::new(from.clone(), to.clone()).map(|recast| recast.growth()).map_err(named);
        if recasts[0] {
            let larger = growth(&own)?;
            if !self.recast_earlier(i, (own, &to), larger) {
                return Err(named("its entries so far".to_owned()));
            }
        }
        if recasts[1] {
            let recast = Recast::new(from, to.clone()).map_err(named)?;
            self.recasts.insert(i, Arc::new(recast));
        }
        self.brought.insert(i, kept);
        Ok(())
    }
}

/// A description of a class, and the version that branches of it have.
type Newest = (Arc<StreamerInfo>, i16);

/// What a branch of whole objects says of their class.
fn whole(tree: &Tree, i: usize) -> Option<&Element> {
    let branch = tree.branches.get(i)?;
    branch.element().filter(|element| element.element_id < 0 && branch.children.is_empty())
}
