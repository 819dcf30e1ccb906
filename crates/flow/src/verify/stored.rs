//! Compares two tables of which at least one is in no ROOT file, by the values of the columns that readers see. The columns of such a
//! table are taken in the form that they have in a tree, unless both tables are of that kind. Nothing here knows another container.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::table::{TableColumn, TableSchema};
use rootfile::{Error, ErrorKind, Result};

use super::common_type::{common_type, converted};
use super::defined::{DefinedSide, OtherSide};
use super::first_difference;
use super::options::VerifyOptions;
use super::tasks::{ColumnDifference, DifferenceKind};
use super::tolerance::{LargestError, settled};
use super::tree::trees::describe;
use super::verdict::{ColumnError, Difference, TableKind, TreeVerdict, Verdict};
use crate::arrow::read::{BatchSize, Dataset, Request, batches, least_memory};
use crate::arrow::shapes::{Shape, Shapes, shapes};
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell, unwatched};
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::select::{DefinesFound, EntrySelection, OpenColumns};

/// Of a budget, the part that the arrays of one side may take at a time.
const STEP_SHARE: u64 = 16;
/// The arrays of a step are in memory so many times, of both sides: as read, and in their common type.
const STEP_COPIES: u64 = 4;

/// Whether one of the sides is of Parquet files.
pub(super) fn has_parquet(inputs: &[PathBuf], output: &Path) -> Result<bool> {
    Ok(Format::are_parquet(inputs.iter().map(PathBuf::as_path))? || Format::is_parquet(output))
}

/// Opens a table of the first side, or of the second, of files of which some may be Parquet files.
pub(super) fn open_side(paths: &[PathBuf], is_first: bool, options: &VerifyOptions) -> Result<Dataset> {
    let [first, second] = [options.tree.as_ref(), options.second_tree.as_ref()];
    let [own, other] = if is_first { [first, second] } else { [second, first] };
    let is_parquet = Format::are_parquet(paths.iter().map(PathBuf::as_path))?;
    // The table of a Parquet file may have another name than the one that it is compared with.
    let tree = own.or(other.filter(|_| !is_parquet)).cloned();
    let inputs: Vec<Input> = paths.iter().map(|path| Input { path: path.clone(), tree: tree.clone() }).collect();
    match is_parquet {
        true => Dataset::of_whole_parquet(&inputs, options.budget.memory),
        false => Dataset::open_following(&inputs, options.follow),
    }
}

/// Compares files, some of which are Parquet files.
pub(super) fn verify_files(
    inputs: &[PathBuf],
    output: &Path,
    options: &VerifyOptions,
    progress: Progress<'_>,
) -> Result<Verdict> {
    let first = open_side(inputs, true, options)?;
    let second = open_side(&[output.to_path_buf()], false, options)?;
    compare([&first, &second], (options, &|_| open_side(inputs, true, options)), progress)
}

/// Compares the tables of any containers, which reach their content through [`StoredTable`](dataset::table::StoredTable) alone.
/// Conditions on entries are not possible here.
///
/// # Errors
///
/// A table cannot be read, or the budget is too small.
pub fn verify_tables(tables: [&Dataset; 2], options: &VerifyOptions, progress: Progress<'_>) -> Result<Verdict> {
    compare(tables, (options, &|_| Err(Error::request("conditions on entries are not possible here"))), progress)
}

/// A column that is compared.
struct SideColumn {
    name: String,
    data_type: DataType,
    /// Its number in the data set.
    number: usize,
    /// Where it is one of the columns that an array becomes, the form of the array, and its number among them.
    part: Option<(Arc<Shape>, usize)>,
    /// Why its values cannot be compared.
    opaque: Option<String>,
    /// Whether it says nothing that other columns do not say: it counts their items, or shows their values.
    follows: bool,
}

fn compare(
    tables: [&Dataset; 2],
    (options, open): (&VerifyOptions, OpenColumns<'_>),
    progress: Progress<'_>,
) -> Result<Verdict> {
    let [first, second] = tables;
    let path = first.path();
    let mut verdict = Verdict::default();
    let mut selection = EntrySelection::new(&options.entries).with_defines(&options.defines).with_kept(&options.filter);
    let mut defines = DefinesFound::new(&options.defines);
    let defined = DefinedSide::open(path, open, &mut defines)?.map(|(defined, _)| defined);
    defines.finish()?;
    let other_options = defined.as_ref().map(|defined| defined.other_options(path, options));
    let other_options = other_options.as_ref().unwrap_or(options);
    let selected = selection.for_table(path, open, None, options.budget)?;
    selection.finish()?;
    verdict.notes.extend(selected.notes.iter().cloned());
    let selected = (!selected.is_all()).then(|| selected.entries(first.entries())).transpose()?;
    let sides = Sides { tables, rows: None, selected: selected.as_ref() };
    sides.compare([options, other_options], progress, &mut verdict)?;
    if let Some(defined) = defined {
        let (selected, tolerances) = (selected.as_ref(), &options.tolerances);
        let other = OtherSide { dataset: second, kind: TableKind::Table, selected, tolerances };
        defined.compare(path, &other, options.budget, progress, &mut verdict)?;
    }
    verdict.equal = verdict.differences.is_empty();
    verdict.trees.iter_mut().for_each(|table| table.equal = verdict.equal);
    Ok(verdict)
}

/// Two tables, and which of their entries are compared.
pub(super) struct Sides<'a> {
    pub tables: [&'a Dataset; 2],
    /// Their [default columns](Dataset::default_columns) with the entries to compare, if these are in another order.
    pub rows: Option<[&'a Dataset; 2]>,
    /// The entries of the first table that are compared, if not all.
    pub selected: Option<&'a EntrySet>,
}

impl Sides<'_> {
    /// Compares the columns of both sides that their options choose, and adds the result to the verdict.
    pub fn compare(&self, options: [&VerifyOptions; 2], progress: Progress<'_>, verdict: &mut Verdict) -> Result<()> {
        let ([first, second], [options, other_options]) = (self.tables, options);
        let path = first.path();
        let read = self.rows.unwrap_or(self.tables);
        let entries = self.selected.map_or(read[0].entries(), EntrySet::len);
        if entries != read[1].entries() {
            let what = format!("has {entries} entries and {}", read[1].entries());
            verdict.differences.push(Difference::of_table(path, TableKind::Table, what));
        }
        let is_plain = self.tables.map(|table| matches!(table.schema(), TableSchema::Plain { .. }));
        let shaped = is_plain[0] != is_plain[1];
        let columns = |table: &Dataset, options: &VerifyOptions| {
            let mut columns = side_columns(table, (path, &options.filter), shaped)?;
            if self.rows.is_some() {
                let all = table.default_columns();
                columns.iter_mut().for_each(|column| column.number = all.partition_point(|one| *one < column.number));
            }
            Ok::<_, Error>(columns)
        };
        let (ours, theirs) = (columns(first, options)?, columns(second, other_options)?);
        let mut only = |column: &SideColumn, side: &str| {
            if !options.common && !column.follows {
                let what = format!("only the {side} side has it");
                verdict.differences.push(Difference::of_column(path, TableKind::Table, &column.name, what));
            }
        };
        let (pairs, alone) = pair(&ours, &theirs);
        alone.into_iter().for_each(|(column, side)| only(column, side));
        let mut of_table = TreeVerdict { path: path.to_owned(), entries, ..TreeVerdict::default() };
        for (column, other) in pairs {
            of_table.branches += 1;
            let mut differs = |what: String| {
                verdict.differences.push(Difference::of_column(path, TableKind::Table, &column.name, what));
            };
            if let Some(why) = column.opaque.as_ref().or(other.opaque.as_ref()) {
                differs(format!("cannot be compared: {why}"));
                continue;
            }
            let Some(common_type) = common_type(&column.data_type, &other.data_type) else {
                differs(format!("is {} in Arrow, and {}", column.data_type, other.data_type));
                continue;
            };
            of_table.columns += 1;
            of_table.by_value += 1;
            let pair = Pair { tables: read, columns: [column, other], common_type, selected: self.selected };
            let largest = LargestError::default();
            let tolerance = options.tolerances.of(path, &column.name).map(|tolerance| (tolerance, &largest));
            if let Some(found) = pair.compare(options.budget, tolerance, (&mut of_table.bytes, progress))? {
                let of_column = Difference::of_column(path, TableKind::Table, &column.name, "");
                verdict.differences.push(describe(found, self.selected, of_column));
            }
            if largest.absolute() > 0.0 {
                of_table.errors.push(ColumnError {
                    column: column.name.clone(),
                    largest: largest.absolute(),
                    relative: largest.relative(),
                });
            }
        }
        verdict.trees.push(of_table);
        Ok(())
    }
}

/// Columns of both sides, and columns that only one side has, with the name of the side.
type Paired<'a> = (Vec<(&'a SideColumn, &'a SideColumn)>, Vec<(&'a SideColumn, &'static str)>);

/// Pairs the columns of a name, the first with the first, the second with the second.
fn pair<'a>(ours: &'a [SideColumn], theirs: &'a [SideColumn]) -> Paired<'a> {
    let numbered = |columns: &'a [SideColumn]| {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let number = move |column: &'a SideColumn| {
            let next = seen.entry(&column.name).or_default();
            *next += 1;
            ((column.name.as_str(), *next), column)
        };
        columns.iter().map(number)
    };
    let others: HashMap<_, _> = numbered(theirs).collect();
    let own: HashSet<_> = numbered(ours).map(|(key, _)| key).collect();
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for (key, column) in numbered(ours) {
        match others.get(&key) {
            Some(other) => pairs.push((column, *other)),
            None => alone.push((column, "first")),
        }
    }
    alone.extend(numbered(theirs).filter(|(key, _)| !own.contains(key)).map(|(_, column)| (column, "second")));
    (pairs, alone)
}

/// The columns of a table that a filter keeps. Arrays are taken as the columns that they become in a tree, if `shaped`.
fn side_columns(table: &Dataset, (path, filter): (&str, &NameFilter), shaped: bool) -> Result<Vec<SideColumn>> {
    let (schema, nodes) = (table.schema(), table.schema().nodes());
    let filter = filter.of_table(path, (0..nodes.len()).map(|node| schema.lineage(node)));
    let kept = schema.kept_in_part(&|lineage| filter.keeps(path, lineage));
    let counters: Vec<usize> = (0..nodes.len()).filter_map(|node| schema.counter(node)).collect();
    let mut found = Vec::new();
    for number in table.default_columns() {
        let Some(column) = table.column(number) else { continue };
        let node = column.node();
        let is_left_out = nodes.get(node).is_none_or(|node| node.groups) || kept.get(node) != Some(&true);
        if is_left_out {
            continue;
        }
        if let (TableColumn::Array { field, .. }, true) = (column, shaped) {
            match shapes(std::slice::from_ref(field)) {
                Ok(Shapes { columns, .. }) => {
                    for shape in columns.into_iter().map(Arc::new) {
                        found.extend(shape.fields.iter().enumerate().map(|(part, field)| SideColumn {
                            name: field.name().clone(),
                            data_type: field.data_type().clone(),
                            number,
                            part: Some((Arc::clone(&shape), part)),
                            opaque: None,
                            follows: false,
                        }));
                    }
                    continue;
                }
                Err(why) => found.push(SideColumn { opaque: Some(why.to_string()), ..as_read(column, number) }),
            }
            continue;
        }
        let counts = nodes.get(node).is_some_and(|node| node.type_name.starts_with("ROOT::RNTupleCardinality"));
        let follows = counts || counters.contains(&node) || schema.is_shown(node, &|_| true);
        found.push(SideColumn { follows, ..as_read(column, number) });
    }
    Ok(found)
}

/// A column with the values that readers get.
fn as_read(column: &TableColumn, number: usize) -> SideColumn {
    let field = column.field();
    // Dimensions end the names of members.
    let name = field.name().split('[').next().filter(|name| !name.is_empty()).unwrap_or(field.name());
    SideColumn {
        name: name.to_owned(),
        data_type: field.data_type().clone(),
        number,
        part: None,
        opaque: column.opaque().map(str::to_owned),
        follows: false,
    }
}

/// A column that both tables have.
struct Pair<'a> {
    tables: [&'a Dataset; 2],
    columns: [&'a SideColumn; 2],
    common_type: DataType,
    /// The entries of the first table that are compared, if not all.
    selected: Option<&'a EntrySet>,
}

impl Pair<'_> {
    /// The first difference. Adds the bytes that are compared.
    fn compare(
        &self,
        budget: Budget,
        tolerance: Option<(super::tolerance::Tolerance, &LargestError)>,
        (bytes, progress): (&mut u64, Progress<'_>),
    ) -> Result<Option<ColumnDifference>> {
        let [ours, theirs] = self.tables;
        let each = [0, 1].map(|side: usize| self.bytes_per_entry(side)).into_iter().max().unwrap_or(1);
        let step = (budget.memory / STEP_SHARE / each).max(1);
        let [a, b] = self.columns;
        let steps = |table: &Dataset| {
            (0..table.entries())
                .step_by(usize::try_from(step).unwrap_or(usize::MAX))
                .chain([table.entries()])
                .collect::<Vec<_>>()
        };
        let (steps_a, steps_b) = (steps(ours), steps(theirs));
        let (least_a, _) = least_memory(ours, &[a.number], &steps_a);
        let (least_b, _) = least_memory(theirs, &[b.number], &steps_b);
        let arrays = step.min(ours.entries().max(theirs.entries())).saturating_mul(each).saturating_mul(STEP_COPIES);
        let least = least_a.saturating_add(least_b).saturating_add(arrays);
        let Some(free) = budget.memory.checked_sub(least) else { return Err(budget.too_small(least, "")) };
        let request = |column: &SideColumn, table: &Dataset, least: u64, selection: Option<&EntrySet>| Request {
            columns: vec![column.number],
            entries: 0..table.entries(),
            selection: selection.cloned(),
            budget: Budget { memory: least + free / 2, ..budget },
            progress: &unwatched,
        };
        let mut first = batches(ours, request(a, ours, least_a, self.selected), BatchSize::Cluster);
        let mut second = batches(theirs, request(b, theirs, least_b, None), BatchSize::Cluster);
        let mut at = 0u64;
        for end in steps_a.iter().skip(1) {
            let Some(read) = first.next_until(*end) else { break };
            let compared = || {
                let read = read?;
                let rows = read.batch.num_rows().min(usize::try_from(theirs.entries() - at).unwrap_or(usize::MAX));
                if rows == 0 {
                    return Ok(None);
                }
                let mut spent: u64 = read.spent.iter().map(|spent| spent.compressed).sum();
                let other =
                    second.next_until(at + rows as u64).ok_or_else(|| Error::corrupt("has fewer entries"))??;
                spent += other.spent.iter().map(|spent| spent.compressed).sum::<u64>();
                tell(progress, spent)?;
                let x = self.values(0, &read.batch.column(0).slice(0, rows))?;
                let mut y = self.values(1, other.batch.column(0))?;
                *bytes += x.to_data().get_slice_memory_size().unwrap_or(0) as u64;
                if let Some((tolerance, largest)) = tolerance {
                    y = settled(&x, &y, tolerance, largest);
                }
                let Some(row) = first_difference::first_row(&x, &y) else {
                    at += rows as u64;
                    return Ok(None);
                };
                let (member, what) = first_difference::describe(&x, &y, row);
                let kind = DifferenceKind::Member(member, what);
                Ok::<_, Error>(Some(ColumnDifference { entry: at + row as u64, kind }))
            };
            match compared() {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                // A column that cannot be decoded counts as different, and the others are still compared.
                Err(e) if !matches!(e.kind(), ErrorKind::Io(_) | ErrorKind::Memory(_) | ErrorKind::Interrupted) => {
                    return Ok(Some(ColumnDifference { entry: at, kind: DifferenceKind::Undecodable(e) }));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(None)
    }

    /// Average bytes of an entry on one side, at least 1.
    fn bytes_per_entry(&self, side: usize) -> u64 {
        self.tables
            .get(side)
            .zip(self.columns.get(side))
            .map_or(1, |(table, column)| table.bytes_per_entry(column.number))
    }

    /// The values of one side in the common type.
    fn values(&self, side: usize, read: &ArrayRef) -> Result<ArrayRef> {
        let part = self.columns.get(side).and_then(|column| column.part.as_ref());
        let array = match part {
            None => Arc::clone(read),
            Some((shape, part)) => {
                let flat = shape.values(read, None)?.into_iter().nth(*part);
                flat.ok_or_else(|| Error::unsupported("internal error: no such part"))?.array
            }
        };
        converted(array, Some(&self.common_type))
    }
}
