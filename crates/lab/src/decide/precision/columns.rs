//! Which columns of a table hold floating-point numbers, and how they are stored: from metadata alone.

use std::collections::HashMap;

use dataset::column_names::{column_names, is_item_name};
use dataset::layout::{Compression, Container};
use dataset::ntuple::element::{ColumnType, Encoding, Kind};
use dataset::table::{TableColumn, TableSchema};
use dataset::tree::BranchKind;
use flow::read::Dataset;

use super::candidates::Subject;
use super::sample::Stored;
use super::values::kinds;
use crate::cost::Demand;
use crate::cost::column::Column;
use crate::cost::statistics::FileStats;
use crate::math::as_f64;
use rootfile::Result;

/// The least bytes that a basket has for a `Double32_t` or `Float16_t`.
const LEAST_PACKED: f64 = 3.0;

/// A column of floating-point numbers.
#[derive(Clone, Debug)]
pub(super) struct FloatColumn {
    /// Its number in the data set.
    pub number: usize,
    /// Its name, as rules of a layout have it.
    pub name: String,
    /// Names by which limits and patterns find it: its own and those above it.
    pub names: Vec<String>,
    pub typename: String,
    pub subject: Subject,
    pub stored: Stored,
    /// Bytes on disk.
    pub bytes: f64,
    /// Bytes of a basket or page before compression, on average.
    pub piece: f64,
    /// How many times these bytes its numbers take in arrays, at most.
    pub growth: f64,
    /// How it is reduced already.
    pub reduced: Option<String>,
    /// Why no encoding is tried for it.
    pub stays: Option<&'static str>,
}

/// What the files store of a column.
#[derive(Clone, Debug)]
struct OnDisk {
    compression: Compression,
    encoding: Option<Encoding>,
    bytes: f64,
    raw: f64,
    pieces: f64,
}

/// The columns of a table, and the bytes of all columns of it.
pub(super) fn columns(dataset: &Dataset) -> Result<(Vec<FloatColumn>, f64)> {
    let mut on_disk: HashMap<(Vec<String>, bool), OnDisk> = HashMap::new();
    let (mut all, mut names) = (0.0, HashMap::<String, usize>::new());
    for (number, path) in dataset.paths().iter().enumerate() {
        let stats = FileStats::read_columns(path, Some(dataset.path()), &|_| Some(Demand::default()))?;
        for column in &stats.columns {
            all += bytes(column);
            if number == 0 {
                *names.entry(column.name().to_owned()).or_default() += usize::from(is_number(column));
            }
            add(&mut on_disk, column);
        }
    }
    let found: Vec<usize> = match dataset.schema() {
        TableSchema::Ntuple { schema, .. } => {
            let is_leaf = |column: &usize| {
                let Some(plan) = dataset.columns().get(*column) else { return false };
                let field = schema.fields.get(plan.node());
                schema.children(Some(plan.node())).is_empty() && field.is_some_and(|field| field.source.is_none())
            };
            (0..dataset.columns().len()).filter(is_leaf).collect()
        }
        _ => dataset.default_columns(),
    };
    let column = |number: usize| {
        let plan = dataset.columns().get(number)?;
        let [floats, doubles] = kinds(plan.field().data_type());
        if !(floats || doubles) || plan.opaque().is_some() || dataset.absent(number).is_some() {
            return None;
        }
        let lineage = lineage(dataset.schema(), plan.node());
        let found = on_disk.get(&(lineage.clone(), true)).or_else(|| on_disk.get(&(lineage.clone(), false)))?;
        let container = dataset.container().unwrap_or_default();
        let own = lineage.last().cloned().unwrap_or_default();
        let is_only = container == Container::Ttree || names.get(&own).is_none_or(|known| *known < 2);
        let typename = plan.field().metadata().get("typename").cloned().unwrap_or_default();
        let reduced = reduced(dataset.schema(), plan, found, &typename);
        let (double, may_change_type) = (doubles, container == Container::Rntuple || has_plain_leaf(dataset, plan));
        Some(FloatColumn {
            number,
            name: if is_only { own } else { lineage.join(".") },
            names: column_names(&lineage.iter().rev().map(String::as_str).collect::<Vec<_>>()),
            typename,
            subject: Subject { container, double, may_change_type },
            stored: Stored { container, double, compression: found.compression, encoding: found.encoding },
            bytes: found.bytes,
            piece: found.raw / found.pieces.max(1.0),
            growth: growth(found.encoding.as_ref(), reduced.is_some(), doubles),
            reduced,
            stays: (floats && doubles).then_some("it holds floats and doubles together"),
        })
    };
    Ok((found.into_iter().filter_map(column).collect(), all))
}

fn bytes(column: &Column) -> f64 {
    column.zip + f64::from(column.keylen) * as_f64(column.baskets.len() as u64)
}

fn is_number(column: &Column) -> bool {
    column.pages.as_ref().is_none_or(|pages| matches!(pages.encoding.kind(), Kind::F32 | Kind::F64))
}

fn add(on_disk: &mut HashMap<(Vec<String>, bool), OnDisk>, column: &Column) {
    let encoding = column.pages.as_ref().map(|pages| pages.encoding);
    let new = OnDisk {
        compression: column.compression,
        encoding,
        bytes: bytes(column),
        raw: column.raw,
        pieces: as_f64(column.baskets.len() as u64),
    };
    let known = on_disk.entry((column.lineage.clone(), is_number(column)));
    known
        .and_modify(|known| {
            known.bytes += new.bytes;
            known.raw += new.raw;
            known.pieces += new.pieces;
        })
        .or_insert(new);
}

/// How many times the bytes of pages or baskets their numbers take in arrays, at most.
fn growth(encoding: Option<&Encoding>, is_reduced: bool, doubles: bool) -> f64 {
    let in_memory = if doubles { 8.0 } else { 4.0 };
    match encoding {
        Some(encoding) => (8.0 * in_memory / f64::from(encoding.bits().max(1))).max(1.0),
        None if is_reduced => in_memory / LEAST_PACKED,
        None => 1.0,
    }
}

/// The names above a node and its own, outermost first, without those that RNTuples generate for items.
fn lineage(schema: &TableSchema, node: usize) -> Vec<String> {
    let is_own = |name: &&str| match schema {
        TableSchema::Ntuple { .. } => !is_item_name(name),
        _ => true,
    };
    schema.lineage(node).into_iter().rev().filter(is_own).map(str::to_owned).collect()
}

/// Whether numbers of a branch lie in leaves of a leaf list, which may get another type.
fn has_plain_leaf(dataset: &Dataset, plan: &TableColumn) -> bool {
    let branch = dataset.tree().and_then(|tree| tree.branches.get(plan.node()).map(|branch| (tree, branch)));
    branch.is_some_and(|(tree, branch)| {
        let leaf = branch.leaves.first().and_then(|leaf| tree.leaves.get(*leaf));
        matches!(branch.kind, BranchKind::Plain)
            && branch.leaves.len() == 1
            && leaf.is_some_and(|leaf| matches!(leaf.class.as_str(), "TLeafF" | "TLeafD"))
    })
}

/// How the numbers of a column are reduced already.
fn reduced(schema: &TableSchema, plan: &TableColumn, found: &OnDisk, typename: &str) -> Option<String> {
    if let Some(encoding) = found.encoding {
        let (least, most) = encoding.range();
        return match encoding.column_type() {
            ColumnType::Real16 | ColumnType::SplitReal16 => Some("half".to_owned()),
            ColumnType::Real32Trunc => Some(format!("truncated:{}", encoding.bits())),
            ColumnType::Real32Quant => Some(format!("quantized:{}:{least}:{most}", encoding.bits())),
            _ => None,
        };
    }
    let by_name = ["Double32_t", "Float16_t"].into_iter().find(|name| typename.contains(name));
    let tree = schema.tree()?;
    let branch = tree.branches.get(plan.node())?;
    let leaf = branch.leaves.iter().filter_map(|leaf| tree.leaves.get(*leaf)).find_map(|leaf| {
        let name = match leaf.class.as_str() {
            "TLeafD32" => "Double32_t",
            "TLeafF16" => "Float16_t",
            _ => return None,
        };
        let range = leaf.named.title.rfind('[').and_then(|at| leaf.named.title.get(at..));
        let range = range.filter(|range| range.contains(',')).unwrap_or_default();
        Some(format!("{name}{range}"))
    });
    leaf.or_else(|| by_name.map(str::to_owned))
}
