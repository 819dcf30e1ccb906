//! What a page about a file is made of: its columns with their groups, their baskets or pages, its clusters, and facts of its tables.

use std::collections::{BTreeMap, HashMap, HashSet};

use rootfile::text::plural;

use crate::inspect::report::{FileReport, Report};
use crate::math::as_f64;
use crate::sweep::metric::{Unit, amount};

/// A column that has bytes of its own.
pub(super) struct Column {
    pub table: String,
    pub name: String,
    /// What it is a part of, if that has several.
    pub group: Option<String>,
    pub kind: String,
    pub codecs: String,
    pub pieces: u64,
    pub memory: u64,
    pub disk: u64,
}

/// A basket or a page.
pub(super) struct Piece {
    /// The number of its column.
    pub column: usize,
    pub first_entry: u64,
    pub seek: u64,
    pub bytes: u64,
}

/// A table with the first entries of its clusters.
pub(super) struct Clusters {
    pub table: String,
    pub starts: Vec<u64>,
}

/// What the page is made of.
#[derive(Default)]
pub(super) struct Contents {
    pub columns: Vec<Column>,
    pub pieces: Vec<Piece>,
    pub clusters: Vec<Clusters>,
    pub facts: Vec<(String, String)>,
}

/// The contents of a report.
pub(super) fn gathered(report: &Report) -> Contents {
    let mut contents = Contents::default();
    contents.facts.push(("file".to_owned(), about(&report.file)));
    trees(report, &mut contents);
    ntuples(report, &mut contents);
    parquet(report, &mut contents);
    group(&mut contents.columns);
    contents
}

pub(super) fn size(bytes: u64) -> String {
    amount(Unit::Bytes, as_f64(bytes))
}

/// What is known of the file as a whole.
fn about(file: &FileReport) -> String {
    let mut parts = vec![size(file.bytes)];
    if !file.root_version.is_empty() {
        parts.push(format!("ROOT {}", file.root_version));
    }
    if file.free_bytes > 0 {
        parts.push(format!("{} in gaps", size(file.free_bytes)));
    }
    if file.recovered {
        parts.push("not closed".to_owned());
    }
    parts.join(", ")
}

/// What is known of a table.
fn table_fact(what: &str, entries: u64, disk: u64) -> String {
    format!("{what}, {}, {} on disk", plural(entries, "entry", "entries"), size(disk))
}

fn codecs(all: &BTreeMap<String, u64>) -> String {
    all.keys().cloned().collect::<Vec<_>>().join(", ")
}

fn trees(report: &Report, contents: &mut Contents) {
    for tree in report.newest() {
        contents.facts.push((tree.path.clone(), table_fact("tree", tree.entries, tree.zip_bytes)));
        contents.clusters.push(Clusters { table: tree.path.clone(), starts: tree.clusters.clone() });
        let mut top: Option<&str> = None;
        let parted: HashSet<&str> =
            tree.branches.iter().filter_map(|branch| branch.id.split_once('.')).map(|(top, _)| top).collect();
        for branch in &tree.branches {
            if !branch.id.contains('.') {
                top = parted.contains(branch.id.as_str()).then_some(branch.name.as_str());
            }
            if branch.zip_bytes == 0 && branch.basket_summary.count == 0 {
                continue;
            }
            let column = contents.columns.len();
            let leaves = || branch.leaves.iter().map(|leaf| leaf.type_name.clone()).collect::<Vec<_>>().join(", ");
            contents.columns.push(Column {
                table: tree.path.clone(),
                name: branch.name.clone(),
                group: top.map(str::to_owned),
                kind: if branch.type_name.is_empty() { leaves() } else { branch.type_name.clone() },
                codecs: codecs(&branch.codecs),
                pieces: branch.basket_summary.count,
                memory: branch.tot_bytes,
                disk: branch.zip_bytes,
            });
            let pieces = branch.baskets.iter().flatten();
            contents.pieces.extend(pieces.map(|basket| Piece {
                column,
                first_entry: basket.first_entry,
                seek: basket.seek,
                bytes: u64::from(basket.bytes),
            }));
        }
    }
}

fn ntuples(report: &Report, contents: &mut Contents) {
    for ntuple in report.newest_ntuples() {
        contents.facts.push((ntuple.path.clone(), table_fact("RNTuple", ntuple.entries, ntuple.zip_bytes)));
        contents.clusters.push(Clusters { table: ntuple.path.clone(), starts: ntuple.clusters.clone() });
        let top = |path: &str| path.split_once('.').map(|(top, _)| top.to_owned());
        let parted: HashSet<String> = ntuple.fields.iter().filter_map(|field| top(&field.path)).collect();
        for field in ntuple.fields.iter().filter(|field| field.pages > 0) {
            let group = top(&field.path).or_else(|| parted.get(&field.path).cloned());
            let column = contents.columns.len();
            let mut words: BTreeMap<String, u64> = BTreeMap::new();
            field
                .columns
                .iter()
                .flat_map(|column| &column.codecs)
                .for_each(|(codec, n)| *words.entry(codec.clone()).or_default() += n);
            contents.columns.push(Column {
                table: ntuple.path.clone(),
                name: field.path.clone(),
                group,
                kind: field.type_name.clone(),
                codecs: codecs(&words),
                pieces: field.pages,
                memory: field.tot_bytes,
                disk: field.zip_bytes,
            });
            for page in field.columns.iter().flat_map(|column| column.page_list.iter().flatten()) {
                let start = usize::try_from(page.cluster).ok().and_then(|number| ntuple.clusters.get(number));
                if let (Some(seek), Some(&first_entry)) = (page.seek, start) {
                    contents.pieces.push(Piece { column, first_entry, seek, bytes: page.bytes });
                }
            }
        }
    }
}

fn parquet(report: &Report, contents: &mut Contents) {
    let Some(table) = &report.parquet else { return };
    contents.facts.push((table.path.clone(), table_fact("Parquet", table.entries, table.zip_bytes)));
    let starts = table.row_groups.iter().map(|group| group.first_entry).collect();
    contents.clusters.push(Clusters { table: table.path.clone(), starts });
    for column in &table.columns {
        let words: BTreeMap<String, u64> =
            column.leaves.iter().flat_map(|leaf| &leaf.codecs).map(|(codec, n)| (codec.to_lowercase(), *n)).collect();
        contents.columns.push(Column {
            table: table.path.clone(),
            name: column.name.clone(),
            group: None,
            kind: column.arrow_type.clone(),
            codecs: codecs(&words),
            pieces: table.row_groups.len() as u64,
            memory: column.tot_bytes,
            disk: column.zip_bytes,
        });
    }
}

/// Columns without a group belong to their prefix, as `Muon_pt` and `Muon_eta` do, if another one has it.
fn group(columns: &mut [Column]) {
    let prefix = |column: &Column| {
        let (prefix, rest) = column.name.split_once('_').or_else(|| column.name.split_once('.'))?;
        (!prefix.is_empty() && !rest.is_empty()).then(|| (column.table.clone(), prefix.to_owned()))
    };
    let mut many: HashMap<(String, String), usize> = HashMap::new();
    for key in columns.iter().filter(|column| column.group.is_none()).filter_map(prefix) {
        *many.entry(key).or_default() += 1;
    }
    for column in columns.iter_mut().filter(|column| column.group.is_none()) {
        let shared = prefix(column).filter(|key| many.get(key).is_some_and(|n| *n > 1));
        column.group = shared.map(|(_, prefix)| prefix);
    }
}

/// How much smaller a column is on disk.
pub(super) fn ratio(memory: u64, disk: u64) -> Option<f64> {
    (disk > 0).then(|| as_f64(memory) / as_f64(disk))
}

impl Contents {
    pub fn has_several_tables(&self) -> bool {
        self.columns.iter().any(|column| self.columns.first().is_some_and(|first| first.table != column.table))
    }

    /// The name of a column, with its table if there are several.
    pub fn full_name(&self, column: &Column) -> String {
        if self.has_several_tables() { format!("{}: {}", column.table, column.name) } else { column.name.clone() }
    }

    /// The numbers of the columns, the largest first.
    pub fn by_size(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(self.columns.get(number).map_or(0, |column| column.disk)));
        order
    }
}
