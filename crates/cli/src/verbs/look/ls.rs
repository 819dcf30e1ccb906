//! `basketry ls`: lists the objects of files.

use std::ffi::OsString;
use std::io::Write;
use std::time::Instant;

use flow::inputs::inputs;
use lab::look::listing::{ListOptions, ListedFile, ListedObject, Listing, list};
use rootfile::Result;

use crate::options::{Matching, Verbosity};
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// The column that is left out where lines would be too long.
const SPARE: [&str; 1] = ["before compression"];

/// List the objects of files: names, classes and titles; with -l cycles, sizes and dates.
///
/// FILE:PATH is a directory, an object, or a pattern in quotes such as 'f.root:hists/*'; a pattern without a slash is compared with
/// names in all directories. Directories end with a slash. Only lists of keys are read, so the size of a tree is that of its own
/// record, without its baskets: `inspect` has those.
///
/// Exit code 0: done; 1: a directory, or one of several files, could not be read, and the rest is listed; 2: no file can be read, or none
/// that is asked for an object has it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry ls events.root
  basketry ls -l -r 'run*.root'
  basketry ls -t events.root:Events
  basketry ls -1 'https://host/hists.root:hlt/*'")]
pub struct Args {
    /// FILE or FILE:PATH, @list.txt, or a pattern in quotes such as 'run*.root'; paths on this machine or URLs.
    #[arg(required = true, value_name = "FILE[:PATH]")]
    inputs: Vec<OsString>,
    /// Also cycle, bytes on disk and before compression, and the date of each object.
    #[arg(short, long)]
    long: bool,
    /// Also entries and columns of trees, RNTuples and Parquet files.
    #[arg(short, long)]
    tables: bool,
    /// Directories with all that is below them.
    #[arg(short, long)]
    recursive: bool,
    /// Only paths, one a line.
    #[arg(short = '1', long = "paths", conflicts_with_all = ["long", "tables"])]
    paths: bool,
    /// Older cycles, too.
    #[arg(short, long)]
    all_cycles: bool,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Listing;

    fields!(verbosity);

    fn work(&self, _: &Watch<'_>) -> Result<Listing> {
        let options = ListOptions {
            recursive: self.recursive,
            tables: self.tables,
            all_cycles: self.all_cycles,
            allow_no_match: self.matching.allow_no_match,
        };
        list(&inputs(&self.inputs)?, &options)
    }

    fn answer(listing: &Listing) -> Answer {
        if listing.files.iter().all(|file| file.problems.is_empty()) { Answer::Yes } else { Answer::No }
    }

    fn print(&self, listing: &Listing, _: Instant) -> Result<()> {
        let mut out = if self.paths { output::whole_lines() } else { output::stdout() };
        for (place, file) in listing.files.iter().enumerate() {
            if listing.files.len() > 1 && !self.paths {
                let line = if place > 0 { "\n" } else { "" };
                writeln!(out, "{line}{}:", output::name(&file.path))?;
            }
            if self.paths {
                file.objects.iter().try_for_each(|object| writeln!(out, "{}", output::name(&self.path(object))))?;
            } else {
                self.print_file(&mut out, file)?;
            }
        }
        out.flush()?;
        for problem in listing.files.iter().flat_map(|file| &file.problems) {
            output::warn(problem);
        }
        Ok(())
    }
}

impl Args {
    /// Its path, with the cycle where several cycles are listed.
    fn path(&self, object: &ListedObject) -> String {
        let slash = if object.directory { "/" } else { "" };
        let cycle = if self.all_cycles { format!(";{}", object.cycle) } else { String::new() };
        format!("{}{slash}{cycle}", object.path)
    }

    fn print_file(&self, out: &mut impl Write, file: &ListedFile) -> Result<()> {
        let mut heads = vec!["name", "class"];
        if self.long {
            heads.extend([">cycle", ">on disk", ">before compression", "=date"]);
        }
        if self.tables {
            heads.push(">entries");
        }
        heads.push("title");
        let mut table = output::table(&heads);
        for object in &file.objects {
            let indent = "  ".repeat(usize::try_from(object.depth).unwrap_or(0).min(output::width() / 10));
            let slash = if object.directory { "/" } else { "" };
            // What a pattern names may be anywhere.
            let name = if file.by_pattern && object.depth == 0 { &object.path } else { &object.name };
            let older = if object.newest || self.long { String::new() } else { format!(";{}", object.cycle) };
            let mut cells = vec![format!("{indent}{name}{slash}{older}"), object.class.clone()];
            if self.long {
                let sizes = [object.bytes, object.raw_bytes].map(output::bytes);
                cells.push(object.cycle.to_string());
                cells.extend(sizes);
                cells.push(object.date.clone());
            }
            if self.tables {
                cells.push(object.table.as_ref().map_or_else(String::new, |table| output::count(table.entries)));
            }
            cells.push(object.title.clone());
            table.add_row(cells);
            if let Some(index) = object.table.as_ref().and_then(|table| table.index.as_ref()) {
                let mut cells = vec![format!("{indent}  (index)"), output::name(index).into_owned()];
                cells.resize(heads.len(), String::new());
                table.add_row(cells);
            }
            for column in object.table.iter().flat_map(|table| &table.columns) {
                let kind = if column.type_name.is_empty() { &column.arrow } else { &column.type_name };
                let mut cells = vec![format!("{indent}  {}", column.name), kind.clone()];
                cells.resize(heads.len() - 1, String::new());
                cells.push(column.title.clone());
                table.add_row(cells);
            }
        }
        if !file.objects.is_empty() {
            let hidden = table.fit(None, &SPARE);
            writeln!(out, "{table}")?;
            if !hidden.is_empty() && !self.verbosity.quiet {
                writeln!(out, "{}", output::no_room_for(&hidden).trim_start())?;
            }
        }
        Ok(())
    }
}
