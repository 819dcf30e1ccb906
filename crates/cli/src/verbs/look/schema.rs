//! `basketry schema`: shows the columns of a table and their types.

use std::io::Write;
use std::time::Instant;

use flow::inputs::Input;
use lab::look::schema::{TableColumns, schema};
use rootfile::Result;

use crate::container_words::words;
use crate::options::{Following, Verbosity};
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// Show the columns of a tree, an RNTuple or a Parquet file: names, types in C++ and in Arrow, titles.
///
/// With --diff the columns are compared with those of another table: its name, or a type, differs. Columns that cannot be read say why.
///
/// Exit code 0: done, and with --diff the columns are the same; 1: they differ; 2: a file cannot be read.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry schema events.root:Events
  basketry schema old.root:Events --diff new.root
  basketry schema --json events.root:Events | jq -r '.columns[].name'")]
pub struct Args {
    /// FILE, if it has one table, or FILE:TREE; a path on this machine or a URL.
    #[arg(value_name = "FILE[:TREE]")]
    input: Input,
    /// Show how the columns of this table differ. Without TREE it is the table of the same path, or the only one.
    #[arg(long, value_name = "FILE[:TREE]")]
    diff: Option<Input>,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = TableColumns;

    fields!(verbosity);

    fn work(&self, _: &Watch<'_>) -> Result<TableColumns> {
        schema(&self.input, self.diff.as_ref(), self.following.follow())
    }

    fn answer(found: &TableColumns) -> Answer {
        if found.differences.as_ref().is_none_or(Vec::is_empty) { Answer::Yes } else { Answer::No }
    }

    fn print(&self, found: &TableColumns, _: Instant) -> Result<()> {
        let mut out = output::stdout();
        let TableColumns { file, table, container, entries, index, columns, differences, .. } = found;
        if let Some(differences) = differences {
            let mut table = output::table(&["column", "first", "second"]);
            for one in differences {
                let side = |types: &Option<String>| types.clone().unwrap_or_else(|| "(not there)".to_owned());
                table.add_row([one.name.clone(), side(&one.first), side(&one.second)]);
            }
            match differences.is_empty() {
                true if self.verbosity.quiet => {}
                true => writeln!(out, "the same columns: {}", columns.len())?,
                false => writeln!(out, "{table}")?,
            }
            return Ok(out.flush()?);
        }
        if !self.verbosity.quiet {
            let what = container.map_or("table", |container| words(container).table);
            let (entries, count) = (
                output::plural(*entries, "entry", "entries"),
                output::plural(columns.len() as u64, "column", "columns"),
            );
            let index = index.as_ref().map_or_else(String::new, |index| format!(", index of {}", output::name(index)));
            let (table, file) = (output::name(table), output::name(file));
            writeln!(out, "{what} {table} of {file}: {entries}, {count}{index}")?;
        }
        let mut table = output::table(&["column", "type", "Arrow type", "title"]);
        for column in columns {
            let arrow = if column.unreadable.is_some() { "(cannot be read)" } else { column.arrow.as_str() };
            table.add_row([&column.name, &column.type_name, arrow, &column.title]);
        }
        if !columns.is_empty() {
            writeln!(out, "{table}")?;
        }
        for (column, why) in columns.iter().filter_map(|column| Some((column, column.unreadable.as_ref()?))) {
            writeln!(out, "{} cannot be read: {}", output::name(&column.name), output::line(why))?;
        }
        Ok(out.flush()?)
    }
}
