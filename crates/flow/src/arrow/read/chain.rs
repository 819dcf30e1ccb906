//! The RNTuples of one or more files as one table. All
//! files must have the same fields; their IDs and the encodings of their columns may differ.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::codecs::Codecs;
use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::model::Schema;
use dataset::ntuple::table::NtupleTable;
use dataset::table::piece::{Piece, Stored};
use dataset::table::{ColumnPieces, FileRange, Loaded, Runs, StoredTable, TableColumn, TableSchema};
use rootfile::{Error, Hint, RangeBytes, Result};

use crate::table::memory;
use crate::table::text_list::listed;

/// RNTuples of several files, one behind the other.
pub(crate) struct NtupleChain {
    files: Vec<FileTable>,
    /// The schema and the fields of the first file.
    schema: TableSchema,
    columns: Vec<TableColumn>,
}

struct FileTable {
    table: NtupleTable,
    /// The plans of the first file's fields, by their ID there, for this file.
    plans: Arc<Vec<FieldPlan>>,
    /// The first entry, counted over all files.
    first_entry: u64,
}

impl NtupleChain {
    /// Joins the RNTuples of some files. `paths` are for errors.
    pub fn new(tables: Vec<NtupleTable>, paths: &[PathBuf]) -> Result<Self> {
        let mut files: Vec<FileTable> = Vec::with_capacity(tables.len());
        let mut first_entry = 0u64;
        for (number, mut table) in tables.into_iter().enumerate() {
            // Files of one data set usually have the same schema: it is kept once.
            let twin = files.iter().find(|file| *file.table.schema == *table.schema);
            let plans = match (twin, files.first()) {
                (Some(twin), _) => {
                    table.schema = Arc::clone(&twin.table.schema);
                    Arc::clone(&twin.plans)
                }
                (None, None) => {
                    let fields = 0..table.schema.fields.len();
                    Arc::new(fields.map(|field| FieldPlan::new(&table.schema, field)).collect())
                }
                (None, Some(first)) => {
                    let here = paths.get(number).map_or(Path::new(""), PathBuf::as_path);
                    Arc::new(matched(first, &table.schema).map_err(|e| e.object(table.name.clone()).file(here))?)
                }
            };
            let entries = table.entries();
            files.push(FileTable { table, plans, first_entry });
            first_entry = first_entry.checked_add(entries).ok_or_else(|| Error::request("more than 2^64 entries"))?;
        }
        let first = files.first().ok_or_else(|| Error::request("no input"))?;
        let schema = TableSchema::Ntuple {
            name: first.table.name.clone(),
            title: first.table.description.clone(),
            schema: Arc::clone(&first.table.schema),
        };
        let columns = first.plans.iter().cloned().map(TableColumn::Field).collect();
        Ok(Self { files, schema, columns })
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
        let plan = file.plans.get(column).ok_or_else(|| Error::request("no such field"))?;
        Ok((number, file, plan, cluster as usize))
    }
}

impl StoredTable for NtupleChain {
    fn schema(&self) -> &TableSchema {
        &self.schema
    }

    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn clusters(&self) -> Vec<u64> {
        let mut bounds = Vec::new();
        for file in &self.files {
            let clusters = file.table.clusters().filter(|(_, cluster)| cluster.entries > 0);
            bounds.extend(clusters.map(|(_, cluster)| file.first_entry + cluster.first_entry));
        }
        bounds.push(self.entries().into_iter().sum());
        bounds
    }

    fn memory(&self) -> u64 {
        let fields = self.columns.len() as u64;
        self.files.iter().map(|file| file.table.memory()).sum::<u64>() + fields * memory::READ_FIELD + memory::TABLE
    }

    fn pieces(&self, column: usize) -> ColumnPieces {
        let mut found = ColumnPieces::default();
        for (number, file) in (0u32..).zip(&self.files) {
            let Some(plan) = file.plans.get(column) else { continue };
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
        let mut builder = plan.start(0)?;
        at.append(plan, &mut runs, (bytes, codecs), &mut builder).map_err(named)?;
        Ok(Loaded::Values(builder))
    }
}
/// The plans of a file's fields in the order of the first file's. Fails with the list of fields that differ.
fn matched(first: &FileTable, schema: &Schema) -> Result<Vec<FieldPlan>> {
    let ids: HashMap<String, usize> = (0..schema.fields.len()).map(|field| (schema.path(field), field)).collect();
    let mut plans = Vec::with_capacity(first.plans.len());
    let mut differences = Vec::new();
    for wanted in first.plans.iter() {
        let name = wanted.field().name();
        match ids.get(name).map(|id| FieldPlan::new(schema, *id)) {
            None => differences.push(format!("{name} is missing")),
            Some(plan) if plan.field().data_type() != wanted.field().data_type() => {
                let typename = |plan: &FieldPlan| plan.field().metadata().get("typename").cloned().unwrap_or_default();
                differences.push(format!("{name} is {}, not {}", typename(&plan), typename(wanted)));
                plans.push(plan);
            }
            Some(plan) => plans.push(plan),
        }
    }
    let known: HashSet<&str> = first.plans.iter().map(|plan| plan.field().name().as_str()).collect();
    let paths = schema.children(None).into_iter().map(|field| schema.path(field));
    let added = paths.filter(|path| !known.contains(path.as_str()));
    differences.extend(added.map(|path| format!("{path} is new")));
    match differences.is_empty() {
        true => Ok(plans),
        false => {
            let what = format!("its fields differ from those of the first file: {}", listed(&differences));
            let way = " (--common reads the fields of all files, --fill fills in missing ones)";
            Err(Error::differs(what + way).hint(Hint::switch("common")).hint(Hint::switch("fill")))
        }
    }
}
