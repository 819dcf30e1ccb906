//! The file version that an output must carry. Readers decode one thing by the version of the file and not of a class: if bytes of
//! an input that have it are copied, the output must carry the input's version. Entries that are encoded anew are in today's form.
//!
//! Fact (`TStreamerInfo::ReadBuffer`, kStreamLoop): in files up to 5.15/08 an array of pointers to objects that another
//! member counts (`B **fTable; //[fN]`) is stored as an array of objects.

use std::sync::Arc;

use dataset::meaning::{Meanings, Reach};
use objects::{Action, NamedObject, ObjectLocation, ObjectPlan};
use rootfile::streamer::{StreamerInfo, code};
use rootfile::{Error, Result, RootFile};

use super::output_table::OutputPlace;
use super::prepared::PlannedTable;
use crate::plan::tree::TablePlan;

/// The last version that stores such arrays as arrays of objects.
const LAST_OLD_LOOP: i32 = 51508;

/// Whether files of a version store such arrays as arrays of objects.
pub(super) fn is_old(version: i32) -> bool {
    version <= LAST_OLD_LOOP
}

/// The version that an output of these inputs must carry, if it is not that of this writer. `refuse` gets the error of each
/// input that does not go with the first.
pub(crate) fn required_version(
    files: &[Arc<RootFile>],
    objects: &ObjectPlan,
    plans: &[(OutputPlace, PlannedTable)],
    mut refuse: impl FnMut(Error) -> Result<()>,
) -> Result<Option<i32>> {
    // To find out what is copied takes decoding.
    if !files.iter().any(|file| is_old(file.header().version) && !with_loops(file).is_empty()) {
        return Ok(None);
    }
    let copies = |(number, file): (usize, &Arc<RootFile>)| {
        let loops = with_loops(file);
        let from_here =
            || plans.iter().filter_map(|(_, plan)| plan.table.tree()).filter(|plan| plan.file_inputs.contains(&number));
        let in_objects = || objects.directories.iter().flat_map(|directory| &directory.entries);
        !loops.is_empty()
            && (from_here().any(|plan| tree_has(plan, &loops))
                || in_objects().any(|entry| object_has(entry, (number, file), &loops)))
    };
    let mut numbered = files.iter().enumerate();
    let Some((_, file)) = numbered.find(|one| copies(*one)) else { return Ok(None) };
    let first = file.header().version;
    let differs = |file: &RootFile| is_old(file.header().version) != is_old(first);
    for (_, file) in numbered.filter(|one| differs(one.1) && copies(*one)) {
        let other = file.header().version;
        let message = format!(
            "its counted arrays of pointers use a different on-disk layout than the first input (ROOT versions {first} \
             and {other}); such files cannot be merged"
        );
        refuse(Error::unsupported(message).file(file.name()))?;
    }
    Ok(is_old(first).then_some(first))
}

/// The classes of a file that have such arrays.
fn with_loops(file: &RootFile) -> Vec<&StreamerInfo> {
    file.infos().iter().map(|info| &**info).filter(|info| has_loops(info)).collect()
}

/// Whether a class has such arrays.
fn has_loops(info: &StreamerInfo) -> bool {
    let is_loop = |code| code == code::STREAM_LOOP || code == code::STREAM_LOOP + code::OFFSET_L;
    info.elements.iter().any(|e| is_loop(e.type_code) && e.type_name.trim_end().ends_with("**"))
}

/// Whether entries of a tree may hold objects of one of these classes.
fn tree_has(plan: &TablePlan, classes: &[&StreamerInfo]) -> bool {
    let meanings = Meanings::new(&plan.tree, &plan.infos);
    let mut reach = Reach::default();
    plan.tree.branches.iter().for_each(|branch| meanings.reach_with_own_class(branch, &mut reach));
    classes.iter().any(|info| reach.has(&info.name))
}

/// Whether an object that is copied from a file may hold objects of one of these classes. One that cannot be read is refused or
/// reported where it is copied.
fn object_has(entry: &NamedObject, (number, file): (usize, &RootFile), classes: &[&StreamerInfo]) -> bool {
    let parts: &[ObjectLocation] = match &entry.action {
        Action::Copy(part) => std::slice::from_ref(part),
        Action::KeepAll(parts) | Action::Merge(parts) | Action::Stay(parts) => parts,
        Action::Tree(_) | Action::Ntuple(_) | Action::Directory(_) => return false,
    };
    parts.iter().filter(|part| usize::try_from(part.file) == Ok(number)).any(|part| {
        let read = file.key_at(part.seek).and_then(|key| Ok((file.payload(&key)?, key)));
        read.is_ok_and(|(payload, key)| {
            let reach = Reach::of_object(&key.class, &payload, file.infos());
            classes.iter().any(|info| reach.has(&info.name))
        })
    })
}
