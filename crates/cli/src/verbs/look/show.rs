//! `basketry show`: prints the first entries of a table, or a histogram.

use std::collections::HashSet;
use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};

use flow::inputs::Input;
use flow::survey::decided::decided_by_columns;
use flow::{Choice, Entries, Progress};
use lab::look::Histogram;
use lab::look::cell::Cell;
use lab::look::extract::extract;
use lab::look::rows::{Row, RowOptions, Rows, Shown, Subject, Table, Unreadable, no_entries, open};
use rootfile::text::{padded, printable, shortened, to_the_right, width};
use rootfile::{Error, Hint, OutputFile, Result, check_output};

use super::bins;
use super::picture::picture;
use crate::container_words::words;
use crate::layout_args::{CutArgs, DefineArgs};
use crate::options::{Following, Matching, Resources, Verbosity};
use crate::output::{self, Answer};
use crate::verb_command::{Commands, VerbCommand, Watch, fields};

/// Most columns of a terminal for a value in a table; longer lists and texts are cut.
const WIDEST: usize = 28;
/// Fewest columns of a terminal for a column with the space beside it.
const NARROWEST: usize = 4;
/// Most characters of a value with --long.
const LONGEST: usize = 2000;

/// Show the first entries of a tree, an RNTuple or a Parquet file as a table, or a histogram as a picture.
///
/// The table fits the terminal: lists and texts are shortened, and columns that find no room are counted. --long shows each entry with all
/// of its values. Only the baskets or pages of these entries are read. A value that cannot be read says why in its cell.
/// An entry that a column does not hold has no value there, and a note says so.
///
/// With -o the values are written to a file. --csv and --jsonl print values for programs, as they are read: lists as JSON, numbers with all their digits. What cannot be read there is an
/// error, and no file is made. The number of the entry is `entry`, or `entry_number` beside a column of that name. --json is one object with the
/// columns and their types; it and the table hold as many entries as --memory has room for.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry show events.root:Events
  basketry show events.root:Events 'Muon_*' MET_pt --entries 100:105
  basketry show events.root:Events --long --entries 7:8
  basketry show events.root:Events run event -n 1000 -o events.csv
  basketry show events.root:Events 'Muon_*' --cut 'nMuon > 1' --entries : -o muons.parquet
  basketry show hists.root:dir/pt")]
pub struct Args {
    /// FILE, if it has one table, FILE:TREE, or FILE:HISTOGRAM; a path on this machine or a URL.
    #[arg(value_name = "FILE[:TREE]")]
    input: Input,
    /// Columns: names, globs or /regex/. Those of a friend are friend.branch. Default: all.
    #[arg(value_name = "COLUMN")]
    columns: Vec<String>,
    /// Most entries to show. Default: 10, with --long 1, with --entries all of these.
    #[arg(short, long, value_name = "N")]
    number: Option<u64>,
    /// Show these entries: ranges as in Python (100:110, or :5,-5:), a random share (1%), or entries listed in a file.
    #[arg(long, value_name = "1%|A:B,...|FILE", allow_hyphen_values = true)]
    entries: Option<Entries>,
    #[command(flatten)]
    cuts: CutArgs,
    #[command(flatten)]
    defines: DefineArgs,
    /// Show each entry with all of its values, a line each.
    #[arg(short, long, conflicts_with_all = ["csv", "jsonl", "json"])]
    long: bool,
    /// Print comma-separated values; of a histogram its bins, with their edges and errors.
    #[arg(long, conflicts_with_all = ["jsonl", "json"])]
    csv: bool,
    /// Print a JSON object for each entry or bin, one a line.
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,
    /// Write a Parquet file to the standard output, for a program or another file.
    #[arg(long, conflicts_with_all = ["long", "csv", "jsonl", "json", "output"])]
    parquet: bool,
    /// Write the values to this file, in the form that its name ends in: .csv, .jsonl, .json or .parquet.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["long", "csv", "jsonl", "json"])]
    output: Option<PathBuf>,
    /// Replace an existing output.
    #[arg(short, long, requires = "output")]
    force: bool,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Shown;

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<Shown> {
        self.open(usize::MAX, watch.progress)?.shown(watch.progress)
    }

    fn run(&self, _: Commands) -> Result<Answer> {
        if self.parquet {
            return self.parquet_to_stdout().map(|()| Answer::Yes);
        }
        if let Some(path) = &self.output {
            return self.write(path).map(|()| Answer::Yes);
        }
        if self.verbosity.json {
            let shown = self.open(usize::MAX, &flow::unwatched)?.shown(&flow::unwatched)?;
            return output::json(&shown).map(|()| Answer::Yes);
        }
        let form = match (self.csv, self.jsonl, self.long) {
            (true, ..) => Some(Form::Csv),
            (_, true, _) => Some(Form::Jsonl),
            (.., true) => Some(Form::Long),
            _ => None,
        };
        // A terminal gets no character that controls it, a program gets all.
        match form.is_some_and(Form::is_for_programs) {
            true if stdout().is_terminal() => self.print(&mut output::whole_lines(), form)?,
            true => self.print(&mut output::raw_stdout(), form)?,
            false => self.print(&mut output::stdout(), form)?,
        }
        Ok(Answer::Yes)
    }
}

impl Args {
    /// The input. Where no table is named, the columns may tell which one is meant.
    fn meant(&self) -> Result<Input> {
        let decided = decided_by_columns(vec![self.input.clone()], &self.columns)?;
        Ok(decided.into_iter().next().unwrap_or_else(|| self.input.clone()))
    }

    /// Prints the values in a form, or as a table or a picture.
    fn print(&self, out: &mut impl Write, form: Option<Form>) -> Result<()> {
        let width = output::width();
        let most_columns = if form.is_none() { width / NARROWEST } else { usize::MAX };
        match (self.open(most_columns, &flow::unwatched)?, form) {
            (Subject::Histogram(shown), Some(form)) if form.is_for_programs() => {
                form.print_bins(out, &shown.histogram)?
            }
            (Subject::Histogram(shown), _) => picture(out, &shown, width)?,
            (Subject::Table(table), None) => self.print_table(out, &table.rows(&flow::unwatched)?, width)?,
            (Subject::Table(table), Some(form)) => form.print(out, &table)?,
        }
        Ok(out.flush()?)
    }

    /// Writes the values to a file, in the form that its name ends in.
    fn write(&self, path: &Path) -> Result<()> {
        let form = Form::of(path)?;
        check_output(path, self.force, [&self.input.path])?;
        if form == Form::Parquet {
            return extract(&self.meant()?, &self.options(usize::MAX)?, path, self.force, &flow::unwatched).map(drop);
        }
        let subject = self.open(usize::MAX, &flow::unwatched)?;
        let mut file = std::io::BufWriter::new(OutputFile::create(path, self.force)?);
        match subject {
            Subject::Table(table) if form != Form::Json => form.print(&mut file, &table)?,
            Subject::Histogram(shown) if form != Form::Json => form.print_bins(&mut file, &shown.histogram)?,
            subject => writeln!(file, "{}", output::json_text(&subject.shown(&flow::unwatched)?)?)?,
        }
        let file = file.into_inner().map_err(|e| Error::from(e.into_error()).file(path))?;
        file.finish().map(drop)
    }

    /// Writes a Parquet file to the standard output: it is whole before its first byte is there.
    fn parquet_to_stdout(&self) -> Result<()> {
        if stdout().is_terminal() {
            let (output, parquet) = (Hint::named("output"), Hint::switch("parquet"));
            let why = format!(
                "{parquet} is no text for a terminal: redirect it, or give {output} a name that ends in .parquet"
            );
            return Err(Error::request(why).hint(output).hint(parquet));
        }
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("rows.parquet");
        extract(&self.meant()?, &self.options(usize::MAX)?, &path, false, &flow::unwatched)?;
        let mut out = stdout().lock();
        std::io::copy(&mut std::fs::File::open(&path)?, &mut out)?;
        Ok(out.flush()?)
    }

    fn open(&self, most_columns: usize, progress: Progress<'_>) -> Result<Subject> {
        let subject = open(&self.meant()?, &self.options(most_columns)?, progress)?;
        match (&subject, self.number) {
            (Subject::Histogram(shown), Some(_)) => Err(no_entries(&shown.path, "number").file(&self.input.path)),
            _ => Ok(subject),
        }
    }

    fn options(&self, most_columns: usize) -> Result<RowOptions> {
        let default = match (&self.entries, self.long) {
            (Some(_), _) => None,
            (None, true) => Some(1),
            (None, false) => Some(10),
        };
        Ok(RowOptions {
            columns: self.columns.clone(),
            entries: Choice {
                most: self.number.or(default),
                defines: self.defines.defines()?,
                ..self.cuts.choice(self.entries.as_ref(), 1)
            },
            most_columns,
            allow_no_match: self.matching.allow_no_match,
            follow: self.following.follow(),
            budget: self.resources.budget(),
        })
    }

    /// Prints rows as a table that fits into so many columns of a terminal.
    fn print_table(&self, out: &mut impl Write, rows: &Rows, room: usize) -> Result<()> {
        let numbers: Vec<String> = rows.rows.iter().map(|row| row.entry.to_string()).collect();
        let mut columns = vec![Column::of("entry", "", numbers, true)];
        let widest = (WIDEST + 12).min(room.saturating_sub(columns.iter().map(|column| column.width + 2).sum()));
        let mut used = columns.iter().map(|column| column.width).sum::<usize>();
        let mut more = rows.more_columns;
        for (place, column) in rows.columns.iter().enumerate() {
            let values = rows.rows.iter().filter_map(|row| row.values.get(place));
            let is_number = values.clone().all(|cell| {
                matches!(cell, Cell::Int(_) | Cell::UInt(_) | Cell::Float(_) | Cell::Double(_) | Cell::Null)
            });
            let cells = values.map(|cell| shortened(&printable(&cell.short(WIDEST)), widest).into_owned());
            let kind = if column.type_name.is_empty() { &column.arrow } else { &column.type_name };
            let column = Column::of(&column.name, kind, cells.collect(), is_number);
            if used + 2 + column.width > room && columns.len() > 1 || more > rows.more_columns {
                more += 1;
                continue;
            }
            used += 2 + column.width;
            columns.push(column);
        }
        for line in 0..rows.rows.len() + 2 {
            let cells: Vec<String> = columns.iter().map(|column| column.line(line)).collect();
            writeln!(out, "{}", cells.join("  ").trim_end())?;
        }
        if !self.verbosity.quiet {
            let what = rows.container.map_or("table", |container| words(container).table);
            let shown = output::count(rows.rows.len() as u64);
            let all = output::plural(rows.entries, "entry", "entries");
            write!(out, "{shown} of {all} of {what} {}", output::name(&rows.table))?;
            if let (Some(first), Some(last)) = (rows.cuts.first(), rows.cuts.last()) {
                let tested = output::plural(first.before, "entry", "entries");
                let passed = output::count(last.after);
                write!(out, "; {passed} of the {tested} that were tested pass")?;
            }
            match more {
                0 => writeln!(out)?,
                1 => writeln!(out, "; 1 more column has no room: name columns, or --long")?,
                more => writeln!(out, "; {} more columns have no room: name columns, or --long", output::count(more))?,
            }
            output::notes(out, &rows.notes)?;
        }
        Ok(())
    }
}

/// The form of values that are printed as they are read, or written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Long,
    Csv,
    Jsonl,
    Json,
    Parquet,
}

impl Form {
    /// That of a file, by the end of its name.
    fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::Jsonl),
            Some("json") => Ok(Self::Json),
            Some("parquet") => Ok(Self::Parquet),
            _ => {
                let hint = Hint::named("output");
                let why = format!("{hint}: the name ends in the form of the file: .csv, .jsonl, .json or .parquet");
                Err(Error::request(why).hint(hint).file(path))
            }
        }
    }

    /// Whether programs read it: one record a line.
    fn is_for_programs(self) -> bool {
        matches!(self, Self::Csv | Self::Jsonl)
    }

    /// Prints all rows.
    fn print(self, out: &mut impl Write, table: &Table) -> Result<()> {
        let columns = table.columns().into_iter().map(|column| column.name);
        let unreadable = if self.is_for_programs() { Unreadable::Fails } else { Unreadable::IsTold };
        table.notes(unreadable).iter().for_each(|note| output::warn(note));
        if !self.is_for_programs() {
            let names: Vec<String> = columns.collect();
            return table.each_row(unreadable, &flow::unwatched, &mut |row| print_long(out, &names, &row));
        }
        let names = keys(columns.collect());
        self.print_head(out, &names)?;
        table.each_row(unreadable, &flow::unwatched, &mut |row| {
            self.print_record(out, &names, std::iter::once(Cell::UInt(row.entry)).chain(row.values).collect())
        })
    }

    /// Prints all bins of a histogram, with those that hold what lies outside.
    fn print_bins(self, out: &mut impl Write, histogram: &Histogram) -> Result<()> {
        let names = bins::names(histogram);
        self.print_head(out, &names)?;
        bins::each(histogram, &mut |cells| self.print_record(out, &names, cells))
    }

    fn print_head(self, out: &mut impl Write, names: &[String]) -> Result<()> {
        if self == Self::Csv {
            writeln!(out, "{}", names.iter().map(|name| field(name)).collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }

    /// Prints a line for a program.
    fn print_record(self, out: &mut impl Write, names: &[String], cells: Vec<Cell>) -> Result<()> {
        if self == Self::Csv {
            let fields = cells.iter().map(|cell| csv_text(cell).map(|text| field(&text)));
            writeln!(out, "{}", fields.collect::<Result<Vec<_>>>()?.join(","))?;
        } else {
            let record = names.iter().cloned().zip(cells).collect();
            writeln!(out, "{}", output::json_text(&Cell::Record(record))?)?;
        }
        Ok(())
    }
}

/// The keys of a record: that of the entry's number, and one for each of these columns. No two are alike: columns keep their names, a later
/// one of the same name gets a number.
fn keys(columns: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = columns.iter().cloned().collect();
    let mut free = |name: &str| {
        let mut candidates = (2_u64..).map(|number| format!("{name}_{number}"));
        candidates.find(|candidate| taken.insert(candidate.clone())).unwrap_or_default()
    };
    let mut seen = HashSet::new();
    let named = columns.iter().map(|name| if seen.insert(name) { name.clone() } else { free(name) });
    let named: Vec<String> = named.collect();
    let number = ["entry", "entry_number"].into_iter().find(|name| !columns.iter().any(|column| column == name));
    let number = number.map_or_else(|| free("entry_number"), str::to_owned);
    std::iter::once(number).chain(named).collect()
}

/// Prints an entry with all of its values, a line each.
fn print_long(out: &mut impl Write, names: &[String], row: &Row) -> Result<()> {
    writeln!(out, "entry {}", row.entry)?;
    let room = output::known_width();
    let most = room.map_or(40, |room| (room / 3).min(40));
    let widest = names.iter().map(|name| width(&printable(name))).max().unwrap_or(0).min(most);
    for (name, cell) in names.iter().zip(&row.values) {
        let (label, value) = (format!("  {}  ", padded(&printable(name), widest)), cell.short(LONGEST));
        let value = match room {
            // Further lines of a value begin below it.
            Some(room) => output::hanging(&printable(&value), width(&label), widest + 4, room),
            None => printable(&value).into_owned(),
        };
        let text = format!("{label}{value}");
        text.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    }
    Ok(())
}

/// A column of the table: its lines, all of one width.
struct Column {
    lines: Vec<String>,
    width: usize,
    to_the_right: bool,
}

impl Column {
    fn of(name: &str, kind: &str, values: Vec<String>, to_the_right: bool) -> Self {
        let head = |text: &str| shortened(&printable(text), WIDEST).into_owned();
        let lines: Vec<String> = [head(name), head(kind)].into_iter().chain(values).collect();
        let width = lines.iter().map(|line| width(line)).max().unwrap_or(0);
        Self { lines, width, to_the_right }
    }

    fn line(&self, line: usize) -> String {
        let text = self.lines.get(line).map_or("", String::as_str);
        if self.to_the_right { to_the_right(text, self.width) } else { padded(text, self.width) }
    }
}

/// A value as CSV has it: texts as they are, lists and records as JSON, nothing where there is no value.
fn csv_text(cell: &Cell) -> Result<String> {
    match cell {
        Cell::Null => Ok(String::new()),
        Cell::List(_) | Cell::Record(_) => output::json_text(cell),
        other => Ok(other.to_string()),
    }
}

/// A field of CSV, in quotes where it has special characters (RFC 4180).
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_keys_are_alike() {
        let of = |columns: &[&str]| keys(columns.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(of(&["x", "y"]), ["entry", "x", "y"]);
        assert_eq!(of(&["entry", "x", "x", "x_2", "x"]), ["entry_number", "entry", "x", "x_3", "x_2", "x_4"]);
        assert_eq!(of(&["entry", "entry_number", "entry"]), ["entry_number_2", "entry", "entry_number", "entry_2"]);
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (text, quoted) in [("a", "a"), ("", ""), ("a,b", "\"a,b\""), ("say \"x\"", "\"say \"\"x\"\"\"")] {
            assert_eq!(field(text), quoted);
        }
        assert_eq!(csv_text(&Cell::List(vec![Cell::Int(1), Cell::Null])).unwrap(), "[1,null]");
    }
}
