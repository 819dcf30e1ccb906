//! The RNTuples of one or more files as one table, with the fields that all of them have for readers, or those of a merge. The IDs of
//! fields and the encodings of their columns may differ.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, cast::AsArray};
use dataset::codecs::Codecs;
use dataset::default_array;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::ntuple::decode::{FieldBuilder, FieldPlan, MOST_PARTS};
use dataset::ntuple::model::{Cluster, Schema};
use dataset::ntuple::table::NtupleTable;
use dataset::recast::{joined_type, reordered};
use dataset::table::piece::{Piece, Stored};
use dataset::table::{
    ColumnPieces, FileRange, Join, JoinInput, Loaded, Runs, StoredTable, TableColumn, TableSchema, ValueBuilder,
};
use rootfile::{Error, RangeBytes, Result, Source, public_path};

use super::planned_columns::PlannedColumns;
use crate::plan::ntuple::RANGE_START;
use crate::plan::ntuple::parts::{JoinedFields, JoinedParts, Part, join_parts};
use crate::plan::options::PlanOptions;
use crate::table::memory;

/// RNTuples of several files, one behind the other.
pub(crate) struct NtupleChain {
    files: Vec<FileTable>,
    schema: TableSchema,
    columns: PlannedColumns,
    /// The parts of each column.
    parts: Vec<OnceLock<Vec<TableColumn>>>,
    /// The plans of the columns in the files of each schema.
    plans: Vec<Plans>,
    /// Whether entry numbers of attribute sets are moved.
    counts_entries: bool,
}

struct FileTable {
    table: NtupleTable,
    /// The number of its schema.
    schema: usize,
    /// The first entry, counted over all files.
    first_entry: u64,
    /// What is added to the entry numbers of an attribute set.
    entries_before: u64,
}

/// The plans of the columns for all files with one schema, each made when it is asked for.
struct Plans {
    /// The schema, if a file has it.
    schema: Option<Arc<Schema>>,
    /// The IDs there of the joined schema's fields.
    ids: Vec<Option<usize>>,
    /// Whether the joined schema has a field of the schema, by its ID there.
    is_joined: Vec<bool>,
    made: Vec<OnceLock<FieldPlan>>,
    /// Those of their parts.
    parts: Vec<OnceLock<Vec<FieldPlan>>>,
    have_entries: bool,
}

/// What a number of a column stands for.
enum Numbered {
    Column(usize),
    /// A part of a column: their numbers follow those of all columns.
    Part {
        column: usize,
        part: usize,
    },
}

impl Numbered {
    fn of(number: usize, columns: usize) -> Self {
        match number.checked_sub(columns) {
            None => Self::Column(number),
            Some(behind) => Self::Part { column: behind / MOST_PARTS, part: behind % MOST_PARTS },
        }
    }
}

impl Plans {
    fn of(ids: &[Option<usize>]) -> Self {
        let made = ids.iter().map(|_| OnceLock::new()).collect();
        let parts = ids.iter().map(|_| OnceLock::new()).collect();
        let mut is_joined = vec![false; ids.iter().flatten().max().map_or(0, |last| last + 1)];
        for id in ids.iter().flatten() {
            is_joined.get_mut(*id).into_iter().for_each(|slot| *slot = true);
        }
        Self { schema: None, ids: ids.to_vec(), is_joined, made, parts, have_entries: false }
    }

    /// Whether the files have a column.
    fn has(&self, column: usize) -> bool {
        self.schema.is_some() && self.ids.get(column).is_some_and(Option::is_some)
    }

    /// The plan of a column or of a part of one, if the files have it.
    fn get(&self, number: usize) -> Option<&FieldPlan> {
        let column = match Numbered::of(number, self.ids.len()) {
            Numbered::Column(column) => column,
            Numbered::Part { column, part } => {
                let whole = self.get(column)?;
                return self.parts.get(column)?.get_or_init(|| whole.parts()).get(part);
            }
        };
        let (schema, id) = (self.schema.as_ref()?, (*self.ids.get(column)?)?);
        // A filter, or other inputs, may have left the joined schema fewer members than the file has.
        let has_member = |id: usize| self.is_joined.get(id).copied().unwrap_or(false);
        Some(self.made.get(column)?.get_or_init(|| FieldPlan::of_members(schema, id, &has_member)))
    }
}

/// An RNTuple that is joined with others.
pub(crate) struct ChainPart {
    pub table: NtupleTable,
    /// The number of its schema.
    pub schema: usize,
    /// What is added to the entry numbers of an attribute set.
    pub entries_before: u64,
}

/// RNTuples that are joined, and their files.
type OpenParts = (Vec<ChainPart>, Vec<Arc<dyn Source>>);

impl ChainPart {
    /// The parts of a join with all of their page lists, and the files of these.
    pub fn of(joined: JoinedParts<'_>) -> Result<OpenParts> {
        let opened = joined.parts.into_iter().zip(joined.schema_of).map(|(part, schema)| {
            let Part { source, ntuple, entries_before } = part;
            Ok((Self { table: NtupleTable::of(ntuple, &*source)?, schema, entries_before }, source))
        });
        opened.collect()
    }
}

impl NtupleChain {
    /// RNTuples with the same columns for readers. An empty one cannot conflict, unless missing columns are filled in. `paths` are for
    /// errors.
    pub fn new(tables: Vec<NtupleTable>, paths: &[PathBuf], join: Join) -> Result<Self> {
        let mut parts: Vec<ChainPart> = Vec::with_capacity(tables.len());
        let mut inputs: Vec<(Arc<Schema>, &Path, bool)> = Vec::new();
        for (number, mut table) in tables.into_iter().enumerate() {
            let is_empty = table.entries() == 0 && join != Join::Fill;
            // Files of one data set usually have the same schema: it is kept once.
            let schema = inputs.iter().position(|(known, ..)| **known == *table.schema).unwrap_or(inputs.len());
            match inputs.get_mut(schema) {
                Some((known, _, is_all_empty)) => {
                    table.schema = Arc::clone(known);
                    *is_all_empty &= is_empty;
                }
                None => {
                    let path = paths.get(number).map_or(Path::new(""), PathBuf::as_path);
                    inputs.push((Arc::clone(&table.schema), path, is_empty));
                }
            }
            parts.push(ChainPart { table, schema, entries_before: 0 });
        }
        let first = parts.first().ok_or_else(|| Error::request("no input"))?;
        let names = [first.table.name.clone(), first.table.description.clone()];
        let own = inputs.iter().position(|(.., is_empty)| !is_empty).unwrap_or(0);
        let of_schema = |schema: &Arc<Schema>| {
            let [name, title] = names.clone();
            TableSchema::Ntuple { name, title, schema: Arc::clone(schema) }
        };
        let (schema, ..) = inputs.get(own).ok_or_else(|| Error::request("no input"))?;
        let mut ids = vec![(0..schema.fields.len()).map(Some).collect::<Vec<_>>()];
        if inputs.len() > 1 {
            let input = |(schema, path, is_empty): &(Arc<Schema>, &Path, bool)| {
                let columns = (0..schema.fields.len()).map(|id| TableColumn::Field(FieldPlan::new(schema, id)));
                let columns: Vec<TableColumn> = columns.collect();
                JoinInput::new(public_path(path).display().to_string(), &of_schema(schema), &columns, *is_empty)
            };
            let joined = Join::Strict.tables(&inputs.iter().map(input).collect::<Vec<_>>(), false);
            let joined = joined.map_err(|e| {
                let way = "open them one by one, or merge them first";
                Error::differs(format!("{} ({way})", e.message(ToString::to_string))).object(names[0].clone())
            })?;
            ids = vec![vec![None; schema.fields.len()]; inputs.len()];
            for node in &joined.nodes {
                let Some(id) = node.places.get(own).copied().flatten() else { continue };
                for (ids, place) in ids.iter_mut().zip(&node.places) {
                    if let Some(slot) = ids.get_mut(id) {
                        *slot = *place;
                    }
                }
            }
        }
        Self::of(parts, of_schema(schema), &ids)
    }

    /// RNTuples with the fields that a merge of them has, as far as a filter keeps them, and their files.
    pub fn merged(
        parts: Vec<Part>,
        path: &str,
        filter: &NameFilter,
        joining: PlanOptions,
    ) -> Result<(Self, Vec<Arc<dyn Source>>)> {
        let names = parts.first().map(|part| [part.ntuple.name.clone(), part.ntuple.description.clone()]);
        let joined = join_parts(parts, (path, filter), joining)?;
        let fields = joined.fields_with_columns(&Layout::default().rules(path))?;
        let (parts, files) = ChainPart::of(joined)?;
        Ok((Self::joined(parts, names.unwrap_or_default(), fields)?, files))
    }

    /// RNTuples with the fields that a merge of them has.
    pub fn joined(parts: Vec<ChainPart>, [name, title]: [String; 2], fields: JoinedFields) -> Result<Self> {
        Self::of(parts, TableSchema::Ntuple { name, title, schema: fields.schema }, &fields.ids)
    }

    /// `ids` has for each schema of the parts the IDs there of the joined schema's fields.
    fn of(parts: Vec<ChainPart>, schema: TableSchema, ids: &[Vec<Option<usize>>]) -> Result<Self> {
        let counts_entries = parts.iter().any(|part| part.entries_before > 0);
        let mut plans: Vec<Plans> = ids.iter().map(|ids| Plans::of(ids)).collect();
        let mut files: Vec<FileTable> = Vec::with_capacity(parts.len());
        let mut first_entry = 0u64;
        for ChainPart { table, schema, entries_before } in parts {
            let known = plans.get_mut(schema).ok_or_else(|| Error::request("an unknown schema"))?;
            if known.schema.is_none() {
                known.schema = Some(Arc::clone(&table.schema));
            }
            let entries = table.entries();
            known.have_entries |= entries > 0;
            files.push(FileTable { table, schema, first_entry, entries_before });
            first_entry = first_entry.checked_add(entries).ok_or_else(|| Error::request("more than 2^64 entries"))?;
        }
        let nodes: Vec<usize> = (0..schema.len()).collect();
        if !nodes.iter().all(|node| plans.iter().any(|plans| plans.has(*node))) {
            return Err(Error::request("a field of no file"));
        }
        let parts = nodes.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { files, schema, columns: PlannedColumns::of(nodes), parts, plans, counts_entries })
    }

    /// The column of a node.
    fn plan(&self, node: usize) -> Option<TableColumn> {
        let is_counter = self.counts_entries && self.schema.lineage(node) == [RANGE_START];
        joined_column(node, &self.plans, is_counter)
    }

    /// The parts of a column, which all files that have it have alike.
    fn parts_of(&self, column: usize) -> &[TableColumn] {
        let (Some(parts), Some(TableColumn::Field(plan))) = (self.parts.get(column), self.column(column)) else {
            return &[];
        };
        parts.get_or_init(|| {
            let of_all = || self.plans.iter().filter_map(|plans| plans.get(column));
            let made = plan.parts();
            let are_alike = of_all().all(|plan| plan.parts().len() == made.len());
            if are_alike { made.into_iter().map(TableColumn::Field).collect() } else { Vec::new() }
        })
    }

    /// The plan of a column in a file, if the file has it.
    fn plan_in(&self, file: &FileTable, column: usize) -> Option<&FieldPlan> {
        self.plans.get(file.schema)?.get(column)
    }

    /// Entries of each file.
    pub fn entries(&self) -> Vec<u64> {
        self.files.iter().map(|file| file.table.entries()).collect()
    }

    /// The number and the table of a piece's file, its plan of a field, and the number of the cluster there.
    fn place(&self, column: usize, piece: &Piece) -> Result<(u32, &FileTable, &FieldPlan, usize)> {
        let unknown = || Error::request("a piece of an unknown file");
        let Stored::Pages { file: number, cluster, .. } = piece.stored else { return Err(unknown()) };
        let file = self.files.get(number as usize).ok_or_else(unknown)?;
        let plan = self.plan_in(file, column).ok_or_else(|| Error::request("no such field"))?;
        Ok((number, file, plan, cluster as usize))
    }

    /// Appends some entries of a piece to the values of its field.
    fn append_field(
        &self,
        column: usize,
        piece: &Piece,
        entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        codecs: &mut Codecs,
        builder: &mut FieldBuilder,
    ) -> Result<()> {
        let (number, file, plan, cluster) = self.place(column, piece)?;
        let named = |e: Error| e.object(file.table.name.clone());
        // A cluster that contradicts itself is a piece of no bytes.
        if piece.packed_len() == 0
            && let Err(why) = file.table.check(plan, cluster)
        {
            return Err(named(Error::corrupt(why.to_string())).file(bytes.name(number)));
        }
        let at = file.table.cluster_source(cluster, number).ok_or_else(|| Error::request("no such cluster"))?;
        let start = file.first_entry + at.cluster.first_entry;
        let mut runs = entries.map(|run| run.start.saturating_sub(start)..run.end.saturating_sub(start));
        at.append(plan, &mut runs, (bytes, codecs), builder).map_err(named)
    }
}

impl StoredTable for NtupleChain {
    fn schema(&self) -> &TableSchema {
        &self.schema
    }

    fn columns(&self) -> &[TableColumn] {
        self.columns.all(|node| self.plan(node))
    }

    fn column(&self, column: usize) -> Option<&TableColumn> {
        match Numbered::of(column, self.number_of_columns()) {
            Numbered::Column(column) => self.columns.get(column, |node| self.plan(node)),
            Numbered::Part { column, part } => self.parts_of(column).get(part),
        }
    }

    fn parts(&self, column: usize) -> Range<usize> {
        let first = self.number_of_columns() + column * MOST_PARTS;
        first..first + self.parts_of(column).len()
    }

    fn number_of_columns(&self) -> usize {
        self.columns.nodes().len()
    }

    fn number_planned(&self) -> usize {
        self.columns.number_planned()
    }

    fn node_of(&self, column: usize) -> Option<usize> {
        self.columns.nodes().get(column).copied()
    }

    fn column_of(&self, node: usize) -> Option<usize> {
        self.columns.nodes().binary_search(&node).ok()
    }

    fn clusters(&self) -> Vec<u64> {
        let mut bounds = Vec::new();
        for file in &self.files {
            bounds.extend(file.clusters().map(|cluster| file.first_entry + cluster.first_entry));
        }
        bounds.push(self.entries().into_iter().sum());
        bounds
    }

    fn memory(&self) -> u64 {
        let fields = self.columns.nodes().len() as u64;
        self.files.iter().map(|file| file.table.memory()).sum::<u64>() + fields * memory::READ_FIELD + memory::TABLE
    }

    fn pieces(&self, column: usize) -> ColumnPieces {
        let mut found = ColumnPieces::default();
        for (number, file) in (0u32..).zip(&self.files) {
            let Some(plan) = self.plan_in(file, column) else {
                let piece = |cluster: &Cluster| Piece {
                    first_entry: file.first_entry + cluster.first_entry,
                    entries: cluster.entries,
                    stored: Stored::Default,
                };
                found.pieces.extend(file.clusters().map(piece));
                continue;
            };
            found.pieces.reserve(file.table.number_of_clusters());
            for piece in file.table.pieces(plan) {
                found.packed_len = found.packed_len.saturating_add(piece.compressed);
                found.raw_len = found.raw_len.saturating_add(piece.uncompressed);
                found.pieces.push(Piece {
                    first_entry: file.first_entry + piece.entries.start,
                    entries: piece.entries.end - piece.entries.start,
                    stored: Stored::Pages {
                        file: number,
                        cluster: u32::try_from(piece.cluster).unwrap_or(u32::MAX),
                        len: u32::try_from(piece.compressed).unwrap_or(u32::MAX),
                    },
                });
            }
        }
        found
    }

    fn ranges(&self, column: usize, piece: &Piece, entries: &mut Runs<'_>) -> Result<Vec<FileRange>> {
        if piece.is_default() {
            return Ok(Vec::new());
        }
        let (number, file, plan, cluster) = self.place(column, piece)?;
        let first = file.table.cluster(cluster).map_or(0, |(_, cluster)| cluster.first_entry);
        let start = file.first_entry.saturating_add(first);
        let Some(run) = entries.next() else { return Ok(Vec::new()) };
        let end = entries.last().unwrap_or_else(|| run.clone()).end;
        let wanted = run.start.saturating_sub(start)..end.saturating_sub(start);
        let ranges = file.table.page_ranges(plan, cluster, &wanted)?;
        Ok(ranges.into_iter().map(|range| (number, range)).collect())
    }

    fn open(
        &self,
        column: usize,
        piece: &Piece,
        entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        codecs: &mut Codecs,
    ) -> Result<Loaded> {
        let kind = self.column(column).ok_or_else(|| Error::request("no such field"))?;
        if piece.is_default() {
            let rows = entries.map(|run| run.end - run.start).sum::<u64>();
            let rows = usize::try_from(rows).map_err(|_| Error::request("too many entries for an array"))?;
            return Ok(Loaded::Array(default_array(kind.field(), rows)?));
        }
        let (_, file, plan, _) = self.place(column, piece)?;
        let named = |e: Error| e.object(file.table.name.clone());
        let mut builder = plan.start(0)?;
        self.append_field(column, piece, entries, bytes, codecs, &mut builder)?;
        let TableColumn::Array { field, .. } = kind else { return Ok(Loaded::Values(builder)) };
        let values = builder.finish().and_then(|values| reordered(&values, field.data_type())).map_err(named)?;
        Ok(Loaded::Array(file.moved(values, field.name())))
    }

    fn append(
        &self,
        column: usize,
        piece: &Piece,
        entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        codecs: &mut Codecs,
        values: &mut ValueBuilder,
    ) -> Result<()> {
        match (self.column(column), values) {
            (Some(TableColumn::Field(_)), ValueBuilder::Field(builder)) if !piece.is_default() => {
                self.append_field(column, piece, entries, bytes, codecs, builder)
            }
            (_, values) => values.append(self.open(column, piece, entries, bytes, codecs)?),
        }
    }
}

impl FileTable {
    /// The clusters with entries.
    fn clusters(&self) -> impl Iterator<Item = &Cluster> {
        self.table.clusters().map(|(_, cluster)| cluster).filter(|cluster| cluster.entries > 0)
    }

    /// The values of a field, of which entry numbers of an attribute set are moved by the entries before.
    fn moved(&self, values: ArrayRef, field: &str) -> ArrayRef {
        match values.as_primitive_opt::<UInt64Type>() {
            Some(numbers) if field == RANGE_START && self.entries_before > 0 => {
                Arc::new(numbers.unary::<_, UInt64Type>(|number| number.wrapping_add(self.entries_before)))
            }
            _ => values,
        }
    }
}

/// The column of a node: of arrays, unless all files with entries have it alike. It says why it is not decoded if one of the plans
/// does. Entry numbers of attribute sets are arrays, since those of later files are moved.
fn joined_column(node: usize, all: &[Plans], is_counter: bool) -> Option<TableColumn> {
    let plan = |plans: &'_ Plans| -> Option<FieldPlan> { plans.get(node).cloned() };
    let with_entries: Vec<Option<FieldPlan>> = all.iter().filter(|plans| plans.have_entries).map(plan).collect();
    let mut plans: Vec<FieldPlan> = with_entries.iter().flatten().cloned().collect();
    if plans.is_empty() {
        plans = all.iter().filter_map(plan).collect();
    }
    let first = plans.first()?;
    let is_same = |plan: &FieldPlan| plan.field().data_type() == first.field().data_type();
    let is_whole = with_entries.iter().all(Option::is_some);
    if first.id() == node && !is_counter && is_whole && plans.iter().all(is_same) {
        return Some(TableColumn::Field(first.clone()));
    }
    let described = plans.iter().find(|plan| plan.opaque().is_some()).unwrap_or(first);
    let types = plans.iter().map(|plan| plan.field().data_type().clone());
    let joined = types.reduce(|ours, theirs| joined_type(&ours, &theirs))?;
    let field = Arc::new(described.field().as_ref().clone().with_data_type(joined));
    Some(TableColumn::Array { field, node })
}
