//! Prints the table of a Parquet file.

use std::collections::BTreeSet;
use std::io::{Result, Write};

use lab::inspect::report::{FileReport, ParquetColumnFacts, ParquetFacts};

use super::format::ratio;
use super::rows::Top;
use crate::output::{self, bytes, count, no_room_for, percent, plural, table};

/// Columns of tables that are left out where lines would be too long, the first ones first.
const SPARE_OF_TABLE: [&str; 2] = ["metadata", "ratio"];
const SPARE_OF_COLUMNS: [&str; 6] = ["encodings", "missing", "ratio", "codec", "in memory", "of table"];

/// Prints a Parquet file with tables of so many columns of a terminal; `remark` adds that no faults are looked for.
pub fn print(
    out: &mut impl Write,
    file: &FileReport,
    of: &ParquetFacts,
    top: &Top,
    remark: bool,
    width: usize,
) -> Result<()> {
    let by = of.created_by.as_ref().map(|by| format!(", written by {}", output::name(by))).unwrap_or_default();
    writeln!(out, "{}: {}, Parquet version {}{by}\n", output::name(&file.path), bytes(file.bytes), of.format_version)?;
    overview(out, file, of, width)?;
    writeln!(out)?;
    columns(out, of, top, width)?;
    row_groups(out, of)?;
    match remark {
        true => writeln!(out, "\nThe layout of Parquet files is not searched for faults."),
        false => Ok(()),
    }
}

fn overview(out: &mut impl Write, file: &FileReport, of: &ParquetFacts, width: usize) -> Result<()> {
    let columns =
        ["table", ">entries", ">columns", ">in memory", ">on disk", ">ratio", ">of file", ">row groups", ">metadata"];
    let mut table = table(&columns);
    table.add_row([
        of.path.clone(),
        count(of.entries),
        count(of.columns.len() as u64),
        bytes(of.tot_bytes),
        bytes(of.zip_bytes),
        ratio(of.tot_bytes, of.zip_bytes),
        percent(of.zip_bytes, file.bytes),
        count(of.row_groups.len() as u64),
        bytes(of.metadata_bytes),
    ]);
    table.fit(Some(width), &SPARE_OF_TABLE);
    writeln!(out, "{table}")
}

fn columns(out: &mut impl Write, of: &ParquetFacts, top: &Top, width: usize) -> Result<()> {
    let mut shown: Vec<&ParquetColumnFacts> = of.columns.iter().collect();
    if let Top::Largest(n) = top {
        shown.sort_by_key(|column| std::cmp::Reverse(column.zip_bytes));
        shown.truncate(*n);
    }
    let columns =
        ["column", "type", "missing", ">in memory", ">on disk", ">ratio", ">of table", "=codec", "=encodings"];
    let mut table = table(&columns);
    for column in &shown {
        let leaves = &column.leaves;
        table.add_row([
            column.name.clone(),
            column.arrow_type.clone(),
            if column.nullable { "maybe" } else { "none" }.to_owned(),
            bytes(column.tot_bytes),
            bytes(column.zip_bytes),
            ratio(column.tot_bytes, column.zip_bytes),
            percent(column.zip_bytes, of.zip_bytes),
            words(leaves.iter().flat_map(|leaf| leaf.codecs.keys())),
            words(leaves.iter().flat_map(|leaf| &leaf.encodings)),
        ]);
    }
    let which = match shown.len() < of.columns.len() {
        true => format!(", the largest {} of {} columns", shown.len(), of.columns.len()),
        false => String::new(),
    };
    let hidden = no_room_for(&table.fit(Some(width), &SPARE_OF_COLUMNS));
    writeln!(out, "{}{which}{hidden}\n{}", output::name(&of.path), table)
}

/// Parquet's words, each once, in small letters.
fn words<'a>(all: impl Iterator<Item = &'a String>) -> String {
    all.map(|word| word.to_lowercase()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

fn row_groups(out: &mut impl Write, of: &ParquetFacts) -> Result<()> {
    let n = of.row_groups.len() as u64;
    let sizes = || of.row_groups.iter().map(|group| group.zip_bytes);
    let mut line = format!("\nrow groups: {}", count(n));
    if let (Some(least), Some(most)) = (sizes().min(), sizes().max()) {
        line += &format!(
            ", {} and {} on average, {} to {}",
            plural(of.entries / n.max(1), "entry", "entries"),
            bytes(of.zip_bytes / n.max(1)),
            bytes(least),
            bytes(most)
        );
    }
    writeln!(out, "{line}")
}
