//! Older cycles of a tree: each is an earlier save of the newest cycle (AutoSave, or a write in the middle of a job) or
//! another tree under the same name. Entries are compared only where they lie in the record of the older cycle itself.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use dataset::glob::NameFilter;
use dataset::layout::{Container, Layout};
use dataset::ntuple::read_ntuple;
use dataset::table::piece::{Piece, Stored};
use objects::{Action, ObjectPlan};
use rootfile::{Key, Result, RootFile, public_path};

use super::tree::column_bytes::{Pair, equal_within};
use crate::plan::options::{Absent, PlanOptions};
use crate::plan::request::TableRequest;
use crate::plan::tree::{Gaps, TablePlan, plan_table, schema};
use crate::table::text_list::listed;

/// The kind of an older cycle of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CycleKind {
    /// A part of the newest cycle, which has all of its branches and entries in the same baskets.
    EarlierSave,
    /// Another tree under the same name.
    OtherTree,
    /// Its record cannot be read, or its baskets cannot be compared with those of the newest.
    Unreadable,
}

/// An older cycle of a tree of the inputs.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct OlderCycle {
    /// Path of the tree.
    pub path: String,
    /// The input.
    pub file: PathBuf,
    /// The cycle's number.
    pub cycle: i16,
    /// Number of its entries. `None` if its record cannot be read.
    pub entries: Option<u64>,
    /// Its kind.
    pub kind: CycleKind,
    /// Whether it is in the output.
    pub kept: bool,
}

/// Compares an older cycle with the newest of the same file. RNTuples are not saved while they are filled: an older cycle is another one.
pub(crate) fn judge(container: Container, path: &str, file: &Arc<RootFile>, [newest, older]: [&Key; 2]) -> OlderCycle {
    let known = |entries, kind| OlderCycle {
        path: path.to_owned(),
        file: public_path(file.name()).into_owned(),
        cycle: older.cycle,
        entries,
        kind,
        kept: false,
    };
    if container == Container::Rntuple {
        return match read_ntuple(file, older) {
            Ok(ntuple) => known(Some(ntuple.entries()), CycleKind::OtherTree),
            Err(_) => known(None, CycleKind::Unreadable),
        };
    }
    let Ok(old) = plan(path, file, older) else { return known(None, CycleKind::Unreadable) };
    let entries = old.input_entries.iter().sum();
    let kind = match plan(path, file, newest).and_then(|new| is_part_of(&old, &new)) {
        Ok(true) => CycleKind::EarlierSave,
        Ok(false) => CycleKind::OtherTree,
        Err(_) => CycleKind::Unreadable,
    };
    known(Some(entries), kind)
}

fn plan(path: &str, file: &Arc<RootFile>, key: &Key) -> Result<TablePlan> {
    let (inputs, layout) = (&[(0, Arc::clone(file), key.clone())], &Layout::default());
    let (filter, entries) = (&NameFilter::default(), None);
    let options = PlanOptions { absent: Absent::Fail, ..PlanOptions::default() };
    plan_table(
        &TableRequest { inputs, path, layout, filter, entries, options, added: None, order: None },
        Gaps::Compare,
    )
}

/// Whether all branches and entries of a tree are in another one, in the same places of the file. Entries that lie in
/// the older record itself are compared by their bytes.
fn is_part_of(old: &TablePlan, new: &TablePlan) -> Result<bool> {
    let entries = |plan: &TablePlan| plan.input_entries.iter().sum::<u64>();
    let found = schema::compare(old.described(), new.described());
    if !found.missing.is_empty() || !found.changed.is_empty() || entries(old) > entries(new) {
        return Ok(false);
    }
    let files = [&old.files[..], &new.files[..]];
    for (i, theirs) in found.map.iter().enumerate() {
        let (Some(ours), Some(theirs)) = (old.columns.get(i), theirs.and_then(|t| new.columns.get(t))) else {
            continue;
        };
        let pair = Pair { columns: [ours, theirs] };
        for (k, piece) in ours.source.pieces.iter().enumerate() {
            let same = match piece.stored {
                Stored::Embedded { .. } => equal_within(&pair, files, piece.first_entry..piece.end())?,
                _ => theirs.source.pieces.get(k).is_some_and(|other| is_same_record(piece, other)),
            };
            if !same {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether two pieces are the same record of one file, with the same entries.
fn is_same_record(ours: &Piece, theirs: &Piece) -> bool {
    let place = |piece: &Piece| piece.record().map(|record| (piece.first_entry, piece.entries, record.range()));
    place(ours).is_some() && place(ours) == place(theirs)
}

/// Notes on older cycles of tables that are left out.
pub(crate) fn notes(container: Container, cycles: &[OlderCycle], inputs: usize) -> Vec<String> {
    let mut groups: BTreeMap<(&str, CycleKind), Vec<&OlderCycle>> = BTreeMap::new();
    for cycle in cycles.iter().filter(|cycle| !cycle.kept) {
        groups.entry((&cycle.path, cycle.kind)).or_default().push(cycle);
    }
    let note = |((path, kind), cycles): ((&str, CycleKind), Vec<&OlderCycle>)| {
        let names: Vec<String> = cycles.iter().map(|cycle| cycle.name(inputs > 1)).collect();
        let (is, one) = if cycles.len() == 1 { ("is", true) } else { ("are", false) };
        let (names, table) = (listed(&names), container.noun());
        match kind {
            CycleKind::EarlierSave => {
                let what = if one { "an earlier save" } else { "earlier saves" };
                format!("{table} {path}: {names} {is} left out: {what} of the same tree, all of whose entries are kept")
            }
            CycleKind::OtherTree => {
                let what = if one { format!("another {table}") } else { format!("other {table}s") };
                let it = if one { "it" } else { "them" };
                format!(
                    "{table} {path}: {names} {is} left out: {what} under the same name; rewrite and merge keep {it} with \
                     --all-cycles"
                )
            }
            CycleKind::Unreadable => format!(
                "{table} {path}: {names} {is} left out: older cycles that cannot be compared with the newest one; rewrite \
                 and merge keep what can be read with --all-cycles"
            ),
        }
    };
    groups.into_iter().map(note).collect()
}

/// The note on older cycles of merged objects. Like `hadd`, a merge takes the newest cycles only.
pub(crate) fn note_on_objects(objects: &ObjectPlan) -> Option<String> {
    let entries = objects.directories.iter().flat_map(|d| d.entries.iter().map(move |entry| (d, entry)));
    let merged =
        entries.filter(|(_, e)| !matches!(e.action, Action::Tree(_) | Action::Ntuple(_)) && !e.older.is_empty());
    let paths: Vec<String> = merged.map(|(d, entry)| d.path_of(&entry.name)).collect();
    let (is_reported, number) = (!objects.all_cycles && !paths.is_empty(), paths.len());
    is_reported.then(|| {
        let what = if number == 1 { "an object" } else { "objects" };
        format!(
            "older cycles of {what} whose newest cycles are merged are left out, as hadd does: {}; merge keeps them with \
             --all-cycles",
            listed(&paths)
        )
    })
}

impl OlderCycle {
    /// Its name in notes: `t;1 (10 entries)`, with the file where there are several.
    pub(crate) fn name(&self, with_file: bool) -> String {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let entries = match self.entries {
            Some(1) => " (1 entry)".to_owned(),
            Some(n) => format!(" ({n} entries)"),
            None => String::new(),
        };
        let file = if with_file { format!(" of {}", self.file.display()) } else { String::new() };
        format!("{name};{}{entries}{file}", self.cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_say_which_cycles_and_what_they_are() {
        let cycle = |cycle, kind, kept| OlderCycle {
            path: "d/t".into(),
            file: "a.root".into(),
            cycle,
            entries: Some(u64::from(cycle.unsigned_abs())),
            kind,
            kept,
        };
        use CycleKind::{EarlierSave, OtherTree};
        let cycles = [cycle(1, OtherTree, false), cycle(2, EarlierSave, false), cycle(3, EarlierSave, true)];
        let found = notes(Container::Ttree, &cycles, 1);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("tree d/t: t;2 (2 entries) is left out: an earlier save"), "{found:?}");
        assert!(found[1].starts_with("tree d/t: t;1 (1 entry) is left out: another tree"), "{found:?}");
        assert!(notes(Container::Ttree, &cycles[..1], 2)[0].contains("t;1 (1 entry) of a.root"));
    }
}
