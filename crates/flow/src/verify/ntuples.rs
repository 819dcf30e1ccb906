//! Compares two tables of which at least one is an RNTuple: fields first, then all values. Two RNTuples are compared field by
//! field, an RNTuple and a tree by the columns at the top, which a user reads by the same names.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef};
use dataset::EntrySet;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result, Source};

use super::column_values::{self, PairSide, ValuePair};
use super::common_type::{common_type, is_alike};
use super::field_match::Fields;
use super::ntuple_side::NtupleSide;
use super::options::VerifyOptions;
use super::tree::reshaped::branches_of;
use super::tree::trees::describe;
use super::verdict::{Difference, TableKind, TreeVerdict, Verdict};
use crate::execute::progress::Progress;
use crate::plan::tree::{TablePlan, View};
use crate::table::text_list::listed;

/// A table of one side.
pub(super) enum SideTable {
    Tree(Box<TablePlan>, StreamerInfos),
    Ntuple(Box<NtupleSide>),
}

impl SideTable {
    fn entries(&self) -> u64 {
        match self {
            Self::Tree(plan, _) => plan.entries(),
            Self::Ntuple(side) => side.entries(),
        }
    }

    /// Whether some of its entries are left out, or all are in another order.
    pub fn is_other(&self) -> bool {
        match self {
            Self::Tree(plan, _) => plan.selected.is_some() || plan.order.is_some(),
            Self::Ntuple(side) => side.is_other(),
        }
    }

    pub fn selected(&self) -> Option<&EntrySet> {
        match self {
            Self::Tree(plan, _) => plan.selected.as_deref(),
            Self::Ntuple(side) => side.selected.as_deref(),
        }
    }

    fn tree_metadata(&self) -> u64 {
        match self {
            Self::Tree(plan, _) => plan.metadata,
            Self::Ntuple(_) => 0,
        }
    }

    fn files(&self) -> Vec<Arc<dyn Source>> {
        match self {
            Self::Tree(plan, _) => plan.files.clone(),
            Self::Ntuple(side) => side.rows().files().to_vec(),
        }
    }
}

/// What a comparison found before values are read.
#[derive(Default)]
struct Columns {
    pairs: Vec<ValuePair>,
    /// Fields or branches that both sides have.
    common: u64,
}

/// Compares two tables, and adds the result to the verdict. `names` are those of fields and their branches, where they differ.
pub(super) fn compare(
    (path, names): (&str, &[(String, String)]),
    [first, second]: [SideTable; 2],
    options: &VerifyOptions,
    progress: Progress<'_>,
    verdict: &mut Verdict,
) -> Result<()> {
    let before = verdict.differences.len();
    let [ours, theirs] = [first.entries(), second.entries()];
    let tree_metadata = first.tree_metadata() + second.tree_metadata();
    let selected = first.selected().cloned();
    let kind = match (&first, &second) {
        (SideTable::Ntuple(_), SideTable::Ntuple(_)) => TableKind::Ntuple,
        _ => TableKind::Mixed,
    };
    let mut found = Found { path, kind, options, verdict };
    if ours != theirs {
        found.of_table(format!("has {ours} entries and {theirs}"));
    }
    let (files_a, files_b) = (first.files(), second.files());
    let mut sets = None;
    let mut columns = match (first, second) {
        (SideTable::Ntuple(first), SideTable::Ntuple(second)) => {
            // A merge of some entries has no attribute sets: their ranges count all entries.
            if first.selected.is_none() {
                sets = Some((first.attribute_sets(options.schema)?, second.attribute_sets(options.schema)?));
            }
            two_ntuples(*first, *second, &mut found)
        }
        (SideTable::Tree(plan, infos), SideTable::Ntuple(side)) => {
            mixed((tops(&plan, &infos), names), *side, false, &mut found)
        }
        (SideTable::Ntuple(side), SideTable::Tree(plan, infos)) => {
            mixed((tops(&plan, &infos), names), *side, true, &mut found)
        }
        (SideTable::Tree(..), SideTable::Tree(..)) => return Err(Error::request("two trees are compared by bytes")),
    };
    for pair in &mut columns.pairs {
        pair.tolerance = options.tolerances.of(path, &pair.name);
    }
    let scratch = column_values::scratch(&columns.pairs);
    let metadata = tree_metadata.saturating_add(column_values::ntuple_metadata(&columns.pairs));
    let share = options.budget.share(metadata, scratch)?;
    let files = [files_a.as_slice(), files_b.as_slice()];
    let outcome = column_values::compare(&columns.pairs, ours.min(theirs), files, share, progress)?;
    let mut all: Vec<_> = outcome.found.into_iter().collect();
    all.sort_by_key(|(pair, found)| (found.entry, *pair));
    for (pair, difference) in all {
        let name = columns.pairs.get(pair).map_or("", |pair| pair.name.as_str());
        let of_column = Difference::of_column(path, kind, name, "");
        found.verdict.differences.push(describe(difference, selected.as_ref(), of_column));
    }
    let compared = columns.pairs.len() as u64;
    let verdict = found.verdict;
    verdict.trees.push(TreeVerdict {
        path: path.to_owned(),
        entries: ours,
        branches: columns.common,
        columns: compared,
        by_value: compared,
        bytes: outcome.bytes,
        errors: column_values::errors(&columns.pairs),
        equal: verdict.differences.len() == before,
    });
    if let Some((first, second)) = sets {
        attribute_sets(path, first, second, (options, progress), verdict)?;
        let equal = verdict.differences.len() == before;
        if let Some(table) = verdict.trees.iter_mut().find(|table| table.path == path) {
            table.equal = equal;
        }
    }
    Ok(())
}

/// What is found out about two tables.
struct Found<'a, 'v> {
    path: &'a str,
    kind: TableKind,
    options: &'a VerifyOptions,
    verdict: &'v mut Verdict,
}

impl Found<'_, '_> {
    fn of_table(&mut self, what: String) {
        self.verdict.differences.push(Difference::of_table(self.path, self.kind, what));
    }

    fn of_column(&mut self, name: &str, what: impl Into<String>) {
        self.verdict.differences.push(Difference::of_column(self.path, self.kind, name, what));
    }

    /// A column that one side lacks.
    fn only(&mut self, name: &str, is_first: bool) {
        if !self.options.common {
            let side = if is_first { "first" } else { "second" };
            self.of_column(name, format!("only the {side} side has it"));
        }
    }

    fn note(&mut self, what: &str) {
        self.verdict.notes.push(format!("{} {}: {what}", self.kind.word(), self.path));
    }
}

/// Compares the fields of two RNTuples, and pairs them.
fn two_ntuples(first: NtupleSide, second: NtupleSide, found: &mut Found<'_, '_>) -> Columns {
    let [(_, ours), (_, theirs)] = [&first, &second].map(|side| side.table.names());
    if ours != theirs {
        found.of_table(format!("the description is {ours:?} and {theirs:?}"));
    }
    let matched = first.fields().matched(second.fields());
    for (paths, is_first) in matched.only.iter().zip([true, false]) {
        paths.iter().for_each(|path| found.only(path, is_first));
    }
    for (path, [ours, theirs]) in &matched.changed {
        found.of_column(path, format!("is a {ours}, and a {theirs}"));
    }
    let Fields { schema, partial } = first.fields();
    if !partial.is_empty() {
        let what = "projected fields that only some inputs have are not compared, as what they show is";
        let partial: Vec<String> = partial.iter().map(|id| schema.path(*id)).collect();
        found.note(&format!("{what}: {}", listed(&partial)));
    }
    let sides = [Arc::new(first), Arc::new(second)];
    let mut columns = Columns { common: matched.compared.len() as u64, ..Columns::default() };
    let mut opaque = Vec::new();
    for (path, fields) in matched.compared {
        let columns_of = [0, 1].map(|side: usize| sides[side].column(fields[side]));
        let [Some((a, why_a)), Some((b, why_b))] = columns_of else { continue };
        let types = [a.data_type(), b.data_type()];
        let is_bytes = types.map(|data_type| *data_type == DataType::LargeBinary);
        if let Some(why) = why_a.or(why_b)
            && is_bytes != [true, true]
        {
            found.of_column(&path, format!("cannot be compared: {why}"));
            continue;
        } else if is_bytes[0] {
            opaque.push(path.clone());
        }
        let Some(common_type) = common_type(types[0], types[1]) else {
            found.of_column(&path, format!("is {} in Arrow, and {}", types[0], types[1]));
            continue;
        };
        let pair = [0, 1].map(|side: usize| PairSide::Field { table: Arc::clone(&sides[side]), field: fields[side] });
        columns.pairs.push(ValuePair::new(path, pair, Some(common_type)));
    }
    if !opaque.is_empty() {
        found.note(&format!("objects are compared by their bytes: {}", listed(&opaque)));
    }
    columns
}

/// A column of a tree at its top, or why it cannot be decoded.
struct TreeColumn {
    name: String,
    field: FieldRef,
    side: std::result::Result<PairSide, String>,
}

fn tops(plan: &TablePlan, infos: &StreamerInfos) -> Vec<TreeColumn> {
    let view = View::new(plan, infos, plan.tree.top.iter().copied());
    let column = |whole: &dataset::assemble::LogicalColumn| TreeColumn {
        name: whole.field().name().clone(),
        field: Arc::clone(whole.field()),
        side: match whole.opaque() {
            Some(why) => Err(why.to_owned()),
            None => branches_of(&view, whole),
        },
    };
    view.wholes().iter().map(column).collect()
}

/// Compares a tree with an RNTuple, and pairs their columns. `is_first` says whether the RNTuple is the first side.
fn mixed(
    (tree, names): (Vec<TreeColumn>, &[(String, String)]),
    side: NtupleSide,
    is_first: bool,
    found: &mut Found<'_, '_>,
) -> Columns {
    let mut earlier: HashMap<String, usize> = HashMap::new();
    let schema = side.fields().schema;
    let tops: Vec<(usize, String)> = schema.children(None).into_iter().map(|id| (id, schema.path(id))).collect();
    let mut partners: Vec<(TreeColumn, usize)> = Vec::new();
    for column in tree {
        let number = earlier.entry(column.name.clone()).or_default();
        let told = names.iter().filter(|(_, branch)| *branch == column.name).nth(*number).map(|(field, _)| field);
        *number += 1;
        let is_it = |(_, field): &&(usize, String)| {
            told.map_or_else(|| is_same_name(&column.name, field), |told| told == field)
        };
        match tops.iter().find(is_it) {
            None => found.only(&column.name, !is_first),
            Some((field, _)) => partners.push((column, *field)),
        }
    }
    let compared: HashSet<usize> = partners.iter().map(|(_, field)| *field).collect();
    for (field, name) in tops.iter().filter(|(field, _)| !compared.contains(field)) {
        // ROOT's importer stores arrays of one length as one collection, and shows each by a projected field.
        if !side.table.schema().is_shown(*field, &|field| compared.contains(&field)) {
            found.only(name, is_first);
        }
    }
    let mut columns = Columns { common: partners.len() as u64, ..Columns::default() };
    let side = Arc::new(side);
    partners.retain(|(_, field)| {
        let why = side.column(*field).and_then(|(of_field, why)| Some((of_field.name(), why?)));
        why.inspect(|(name, why)| found.of_column(name, format!("cannot be compared: {why}"))).is_none()
    });
    let mut converted = Vec::new();
    for (column, field) in partners {
        let Some((of_field, _)) = side.column(field) else { continue };
        let (of_tree, of_field) = (column.field.data_type(), of_field.data_type());
        let Some(common_type) = common_type(of_tree, of_field) else {
            let types = if is_first { [of_field, of_tree] } else { [of_tree, of_field] };
            found.of_column(&column.name, format!("is {} in Arrow, and {}", types[0], types[1]));
            continue;
        };
        if !is_alike(of_tree, of_field) {
            converted.push(column.name.clone());
        }
        match column.side {
            Err(why) => found.of_column(&column.name, format!("cannot be compared: {why}")),
            Ok(branches) => {
                let field = PairSide::Field { table: Arc::clone(&side), field };
                let sides = if is_first { [field, branches] } else { [branches, field] };
                columns.pairs.push(ValuePair::new(column.name, sides, Some(common_type)));
            }
        }
    }
    if !converted.is_empty() {
        found.note(&format!("numbers of other types are compared by value: {}", listed(&converted)));
    }
    columns
}

/// Whether a field is that of a branch. ROOT's importer leaves out the dot at the end of a name, and writes others as underscores,
/// since names of fields have none.
fn is_same_name(branch: &str, field: &str) -> bool {
    let branch = branch.strip_suffix('.').unwrap_or(branch);
    branch == field || (branch.contains('.') && branch.replace('.', "_") == field)
}

/// Compares the attribute sets of two RNTuples.
fn attribute_sets(
    path: &str,
    first: Vec<(String, NtupleSide)>,
    mut second: Vec<(String, NtupleSide)>,
    (options, progress): (&VerifyOptions, Progress<'_>),
    verdict: &mut Verdict,
) -> Result<()> {
    for (name, ours) in first {
        match second.iter().position(|(other, _)| *other == name) {
            Some(at) => {
                let (_, theirs) = second.swap_remove(at);
                let sides = [ours, theirs].map(|side| SideTable::Ntuple(Box::new(side)));
                compare((&format!("{path}, attributes {name}"), &[]), sides, options, progress, verdict)?;
            }
            None if options.common => {}
            None => verdict.differences.push(only_set(path, &name, "first")),
        }
    }
    if !options.common {
        verdict.differences.extend(second.iter().map(|(name, _)| only_set(path, name, "second")));
    }
    Ok(())
}

fn only_set(path: &str, name: &str, side: &str) -> Difference {
    Difference::of_table(path, TableKind::Ntuple, format!("only the {side} side has the attribute set {name}"))
}
