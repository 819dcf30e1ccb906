//! The RNTuples of one or more files as one table: columns with their pieces over all files, and loading of a piece. All
//! files must have the same fields; their IDs and the encodings of their columns may differ.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dataset::ntuple::cluster_reader::PageReader;
use dataset::ntuple::decode::{FieldBuilder, FieldPlan};
use dataset::ntuple::model::Schema;
use dataset::ntuple::table::{FieldPieces, NtupleTable};
use rootfile::codec::Compression;
use rootfile::{Error, Result, Source};

use super::request::RequestedEntries;
use crate::execute::fetch::read_ahead::FileRange;
use crate::table::column::Column;
use crate::table::piece::Piece;
use crate::table::target::Shape;
use crate::table::text_list::listed;

/// RNTuples of several files, one behind the other.
pub(crate) struct NtupleChain {
    files: Vec<FileTable>,
}

struct FileTable {
    table: NtupleTable,
    /// The plans of the first file's fields, by their ID there, for this file.
    plans: Arc<Vec<FieldPlan>>,
    /// The first entry, counted over all files.
    first_entry: u64,
    /// Why fields cannot be read in a cluster, by their ID in the first file and the number of the cluster.
    unreadable: Mutex<HashMap<(usize, usize), String>>,
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
            files.push(FileTable { table, plans, first_entry, unreadable: Mutex::default() });
            first_entry = first_entry.checked_add(entries).ok_or_else(|| Error::request("more than 2^64 entries"))?;
        }
        Ok(Self { files })
    }

    /// The plans of the first file's fields, by their ID.
    pub fn plans(&self) -> &[FieldPlan] {
        self.files.first().map_or(&[], |file| file.plans.as_slice())
    }

    /// First entry of each cluster, and at the end the number of entries.
    pub fn bounds(&self) -> Vec<u64> {
        let mut bounds = Vec::new();
        for file in &self.files {
            let clusters = file.table.clusters().filter(|(_, cluster)| cluster.entries > 0);
            bounds.extend(clusters.map(|(_, cluster)| file.first_entry + cluster.first_entry));
        }
        bounds.push(self.entries().into_iter().sum());
        bounds
    }

    /// Entries of each file.
    pub fn entries(&self) -> Vec<u64> {
        self.files.iter().map(|file| file.table.entries()).collect()
    }

    /// Bytes of metadata.
    pub fn memory(&self) -> u64 {
        // An estimate: 1 kB for each field with its plan.
        let fields = self.files.first().map_or(0, |file| file.plans.len() as u64);
        self.files.iter().map(|file| file.table.memory()).sum::<u64>() + fields * 1000 + (1 << 20)
    }

    /// The column of a field, with its pieces in all files. Where page lists are damaged, pieces fail when they are loaded.
    pub fn column(&self, field: usize, names: (String, String)) -> Column {
        let mut column = Column::new(field, names, Compression::NONE, Shape::PerCluster);
        let (mut compressed, mut uncompressed) = (0u64, 0u64);
        for (number, file) in self.files.iter().enumerate() {
            let Some(plan) = file.plans.get(field) else { continue };
            let FieldPieces { pieces, damaged } = file.table.pieces(plan);
            let mut unreadable = file.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
            unreadable.extend(damaged.into_iter().map(|(cluster, error)| ((field, cluster), error.to_string())));
            for piece in pieces {
                compressed = compressed.saturating_add(piece.compressed);
                uncompressed = uncompressed.saturating_add(piece.uncompressed);
                column.source.pieces.push(Piece {
                    first_entry: file.first_entry + piece.entries.start,
                    entries: piece.entries.end - piece.entries.start,
                    seek: piece.cluster as u64 + 1,
                    nbytes: u32::try_from(piece.compressed).unwrap_or(u32::MAX),
                    file: u32::try_from(number).unwrap_or(u32::MAX),
                });
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let expansion = uncompressed as f64 / compressed.max(1) as f64;
        column.source.expansion = expansion.max(1.0);
        column.source.tot_bytes = uncompressed;
        column
    }

    /// Where the pages of a piece of a field are that hold requested entries.
    pub fn places(&self, (field, piece): (usize, &Piece), requested: &RequestedEntries<'_>) -> Result<Vec<FileRange>> {
        let unknown = || Error::request("a piece of an unknown file");
        let file = self.files.get(piece.file as usize).ok_or_else(unknown)?;
        let number = cluster_of(piece).ok_or_else(unknown)?;
        let (_, cluster) = file.table.cluster(number).ok_or_else(unknown)?;
        let plan = file.plans.get(field).ok_or_else(|| Error::request("no such field"))?;
        let start = file.first_entry + cluster.first_entry;
        let mut runs = requested.runs(&(piece.first_entry..piece.end()));
        let Some(first) = runs.next() else { return Ok(Vec::new()) };
        let entries = first.start.saturating_sub(start)..runs.last().unwrap_or(first).end.saturating_sub(start);
        let ranges = file.table.page_ranges(plan, number, &entries)?;
        Ok(ranges.into_iter().map(|range| (piece.file, range)).collect())
    }

    /// Reads the requested entries of a piece of a field.
    pub fn load(
        &self,
        (field, piece): (usize, &Piece),
        requested: &RequestedEntries<'_>,
        source: &dyn Source,
        reader: &mut PageReader,
    ) -> Result<FieldBuilder> {
        let unknown = || Error::request("a piece of an unknown file");
        let file = self.files.get(piece.file as usize).ok_or_else(unknown)?;
        let cluster = cluster_of(piece).ok_or_else(unknown)?;
        let at = file.table.cluster_source(cluster, source).ok_or_else(unknown)?;
        let plan = file.plans.get(field).ok_or_else(|| Error::request("no such field"))?;
        if let Some(why) = file.unreadable.lock().unwrap_or_else(PoisonError::into_inner).get(&(field, cluster)) {
            return Err(Error::corrupt(why.clone()).object(file.table.name.clone()).file(source.name()));
        }
        let start = file.first_entry + at.cluster.first_entry;
        let mut runs = requested
            .runs(&(piece.first_entry..piece.end()))
            .map(|run| run.start.saturating_sub(start)..run.end.saturating_sub(start));
        let mut builder = plan.start(0)?;
        let read = reader.append(at, plan, &mut runs, &mut builder);
        read.map(|()| builder).map_err(|e| e.object(file.table.name.clone()))
    }
}

/// The number of the cluster that a piece is in.
fn cluster_of(piece: &Piece) -> Option<usize> {
    piece.seek.checked_sub(1).and_then(|cluster| usize::try_from(cluster).ok())
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
            Err(Error::request(format!("its fields differ from those of the first file: {}", listed(&differences))))
        }
    }
}
