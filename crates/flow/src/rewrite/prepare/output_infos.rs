//! The descriptions of classes that the output gets. A file holds one description of a class's version, so that of every object
//! and entry must be the same: two that differ, and are both used, are refused before anything is written.

use std::collections::HashMap;
use std::sync::Arc;

use dataset::meaning::{ClassConflicts, Meanings, Reach};
use objects::{Action, NamedObject, ObjectLocation, ObjectPlan};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result, RootFile, public_path};

use crate::plan::tree::TablePlan;
use crate::rewrite::output_table::OutputPlace;
use crate::rewrite::prepared::PlannedTable;

/// The descriptions of the output's classes; none if the inputs agree on all.
pub(super) fn output_infos(
    files: &[Arc<RootFile>],
    objects: &ObjectPlan,
    plans: &[(OutputPlace, PlannedTable)],
) -> Result<Option<StreamerInfos>> {
    let mut all = StreamerInfos::new();
    let agree = files.iter().all(|file| {
        let agrees = ClassConflicts::between(&all, file.infos()).is_empty();
        all.extend(file.infos());
        agrees
    });
    if agree {
        return Ok(None);
    }
    let mut output = OutputInfos { infos: StreamerInfos::new(), users: HashMap::new() };
    if let Some(first) = files.first().filter(|_| objects.stays_in_part()) {
        output.add_all(first);
    }
    for (place, plan) in plans.iter().filter_map(|(place, plan)| Some((place, plan.table.tree()?))) {
        output.add_tree(&place.path, plan)?;
    }
    for directory in &objects.directories {
        for entry in &directory.entries {
            output.add_object(&directory.path_of(&entry.name), entry, files)?;
        }
    }
    // Descriptions that nothing uses.
    for info in files.iter().flat_map(|file| file.infos().iter()) {
        if output.infos.versions(&info.name).all(|known| known.version != info.version) {
            output.infos.add(Arc::clone(info));
        }
    }
    Ok(Some(output.infos))
}

struct OutputInfos {
    infos: StreamerInfos,
    /// What uses the description of each class: an object or a tree, and its file.
    users: HashMap<String, String>,
}

impl OutputInfos {
    /// Adds all descriptions of a file that stays where it is.
    fn add_all(&mut self, file: &RootFile) {
        let user = public_path(file.name()).display().to_string();
        self.users.extend(file.infos().iter().map(|info| (info.name.clone(), user.clone())));
        self.infos.extend(file.infos());
    }

    /// Adds the descriptions that a tree uses.
    fn add_tree(&mut self, path: &str, plan: &TablePlan) -> Result<()> {
        let meanings = Meanings::new(&plan.tree, &plan.infos);
        let mut reach = Reach::default();
        plan.tree.branches.iter().for_each(|branch| meanings.reach_with_own_class(branch, &mut reach));
        let file = plan.files.first().map(|file| public_path(file.name()).display().to_string());
        let user = format!("tree {path} of {}", file.unwrap_or_default());
        self.add(&plan.infos, &reach, &user)
    }

    /// Adds the descriptions that an object uses. A merged object is written as the first input describes it.
    fn add_object(&mut self, path: &str, entry: &NamedObject, files: &[Arc<RootFile>]) -> Result<()> {
        let parts: Vec<ObjectLocation> = match &entry.action {
            Action::Copy(part) => vec![*part],
            Action::KeepAll(parts) => parts.clone(),
            Action::Merge(parts) => parts.iter().take(1).copied().collect(),
            Action::Stay(_) | Action::Tree(_) | Action::Ntuple(_) | Action::Directory(_) => return Ok(()),
        };
        for part in parts {
            let file = usize::try_from(part.file).ok().and_then(|i| files.get(i));
            let file = file.ok_or_else(|| Error::request("no such file among the inputs"))?;
            let read = file.key_at(part.seek).and_then(|key| Ok((file.payload(&key)?, key)));
            // An object that cannot be read is refused or reported where it is copied.
            let Ok((payload, key)) = read else { continue };
            let reach = Reach::of_object(&key.class, &payload, file.infos());
            let user = format!("{path} of {}", public_path(file.name()).display());
            self.add(file.infos(), &reach, &user)?;
        }
        Ok(())
    }

    /// Adds the descriptions of some classes. Checksums before objects of version 1 do not help: ROOT keeps one of two descriptions of
    /// a version in a file (seen with 6.40).
    fn add(&mut self, infos: &StreamerInfos, reach: &Reach, user: &str) -> Result<()> {
        let conflicts = ClassConflicts::between(&self.infos, infos);
        if let Some(conflict) = conflicts.among(reach).first() {
            let other = self.users.get(conflict.class()).map_or("another object", String::as_str);
            return Err(Error::request(format!(
                "{conflict}, unlike for {other}: a file can describe a version of a class in one way only. Write them into two \
                 files, or leave one of them out"
            ))
            .object(user));
        }
        for info in infos.iter().filter(|info| reach.has(&info.name)) {
            self.users.entry(info.name.clone()).or_insert_with(|| user.to_owned());
            self.infos.add(Arc::clone(info));
        }
        Ok(())
    }
}
