//! What the command prints: exit codes, error messages, tables, numbers and progress bars.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flow::{CutStep, Skipped};
use indicatif::{ProgressBar, ProgressStyle};
pub use rootfile::text::{count, plural};
use rootfile::text::{is_printable, printable, printable_lines};
use rootfile::{Error, ErrorKind, OutputFile, Result, public_path, public_text};

use crate::json_numbers::AllNumbers;
use crate::lines::Folding;
pub use crate::lines::{folded, hanging, known_width};
pub use crate::table::{Table, table};
use crate::terminal_text::Printable;
use crate::unclosed;

/// The answer of a verb that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, or yes.
    Yes,
    /// No: a difference was found, a limit cannot be met.
    No,
}

/// Writes a text as a file, which appears whole or not at all.
pub fn text_file(path: &Path, text: &str, force: bool) -> Result<()> {
    bytes_file(path, text.as_bytes(), force)
}

/// The same for any bytes.
pub fn bytes_file(path: &Path, bytes: &[u8], force: bool) -> Result<()> {
    let mut file = OutputFile::create(path, force)?;
    file.write_all(bytes).map_err(|e| Error::from(e).file(path))?;
    file.finish().map(drop)
}

/// Whether errors are printed as JSON.
static JSON_ERRORS: AtomicBool = AtomicBool::new(false);

/// Errors are printed as JSON from now on, or as sentences.
pub fn errors_as_json(as_json: bool) {
    JSON_ERRORS.store(as_json, Ordering::Relaxed);
}

/// An error on standard error with --json: `{"error": {...}}`.
#[derive(serde::Serialize)]
struct ErrorReport<'a> {
    /// The whole sentence, as it is printed without --json.
    message: String,
    /// `request`: the arguments are wrong; `corrupt`: the file; `unsupported`: basketry cannot do that; `differs`, `io`, `memory`,
    /// `interrupted`.
    kind: &'a str,
    /// The file, if known.
    file: Option<String>,
    /// The object in the file, if known.
    object: Option<&'a str>,
    /// The byte in the file, if known.
    offset: Option<u64>,
    /// The options that the message names, without dashes.
    options: Vec<&'a str>,
}

/// The answer of a verb whose report is printed. It stays what it is where the reader of a pipe wants to read no more.
pub fn answered(printed: Result<()>, answer: Answer) -> Result<Answer> {
    match printed {
        Err(e) if !is_closed_pipe(&e) => Err(e),
        _ => Ok(answer),
    }
}

/// Whether the reader of a pipe has closed it.
fn is_closed_pipe(e: &Error) -> bool {
    matches!(e.kind(), ErrorKind::Io(io) if io.kind() == io::ErrorKind::BrokenPipe)
}

/// The exit code of a verb's result; prints an error.
pub fn exit_code(result: Result<Answer>) -> u8 {
    match result {
        Ok(Answer::Yes) => 0,
        Ok(Answer::No) => 1,
        // What was asked for is values, and its reader has enough.
        Err(e) if is_closed_pipe(&e) => 0,
        Err(e) if JSON_ERRORS.load(Ordering::Relaxed) => {
            let kind = match e.kind() {
                ErrorKind::Io(_) => "io",
                ErrorKind::Corrupt(_) => "corrupt",
                ErrorKind::Unsupported(_) => "unsupported",
                ErrorKind::Differs(_) => "differs",
                ErrorKind::Memory(_) => "memory",
                ErrorKind::Interrupted => "interrupted",
                _ => "request",
            };
            let message = line(&public_text(&e.to_string()));
            fail_as_json(&ErrorReport {
                message,
                kind,
                file: e.path().map(|path| public_path(path).display().to_string()),
                object: e.subject(),
                offset: e.offset(),
                options: e.hints().iter().map(rootfile::Hint::option).collect(),
            })
        }
        Err(e) => fail(&e.to_string()),
    }
}

fn fail_as_json(report: &ErrorReport<'_>) -> u8 {
    let text = json_text(&BTreeMap::from([("error", report)])).unwrap_or_default();
    let _ = writeln!(io::stderr().lock(), "{text}");
    2
}

/// Prints clap's output: help as it is, an error as this sentence.
pub fn usage(error: &clap::Error, sentence: &str) -> u8 {
    if !error.use_stderr() || error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // If this fails there is no place to report it.
        let _ = error.print();
        return if error.use_stderr() { 2 } else { 0 };
    }
    fail(sentence)
}

/// clap's error about the arguments, in one line.
pub fn usage_text(error: &clap::Error) -> String {
    let text = error.to_string();
    let said =
        text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let said: Vec<&str> = said.filter(|line| !line.is_empty()).collect();
    let said = said.join(" ").replace(" tip: ", "; ");
    // clap repeats arguments, which may be URLs.
    public_text(said.strip_prefix("error: ").unwrap_or(&said)).into_owned()
}

/// Prints an error in one line, and says with which code to exit. The place in an expression is drawn below it.
pub fn fail(message: &str) -> u8 {
    if JSON_ERRORS.load(Ordering::Relaxed) {
        let message = line(&public_text(message));
        return fail_as_json(&ErrorReport {
            message,
            kind: "request",
            file: None,
            object: None,
            offset: None,
            options: Vec::new(),
        });
    }
    let message = public_text(message);
    let (said, drawn) = drawing(&message);
    let _ = writeln!(io::stderr().lock(), "basketry: {}{}", line(said), printable_lines(drawn));
    2
}

/// A message, and the lines at its end that draw the place in an expression: the expression, and a mark under it.
fn drawing(message: &str) -> (&str, &str) {
    let is_mark = |line: &str| !line.trim().is_empty() && line.trim().chars().all(|c| c == '^');
    let found = message.rsplit_once('\n').filter(|(_, mark)| is_mark(mark)).and_then(|(above, _)| above.rfind('\n'));
    found.map_or((message, ""), |at| message.split_at(at))
}

/// Prints a warning in one line: the work is done, and something beside it is missing.
pub fn warn(message: &str) {
    let _ = writeln!(io::stderr().lock(), "basketry: warning: {}", line(&public_text(message)));
}

/// Says which server is waited for, on a terminal: it is no result, and of no use later.
pub fn waiting(sentence: &str) {
    let mut out = io::stderr().lock();
    if out.is_terminal() {
        // In the place of a progress bar, which draws itself again. If this fails, waiting goes on.
        let _ = writeln!(out, "\r\x1b[Kbasketry: {}", line(sentence));
    }
}

/// A message without line breaks. Pictures of the place in a text, as the TOML reader draws them, are left out.
pub fn one_line(message: &str) -> Cow<'_, str> {
    if !message.contains('\n') {
        return Cow::Borrowed(message);
    }
    let is_picture = |line: &str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|l| !l.is_empty() && !is_picture(l)).collect();
    Cow::Owned(lines.join(": "))
}

/// A message in one line, as [`one_line`] gives it, with unprintable characters as codes.
pub fn line(message: &str) -> String {
    printable(&one_line(message)).into_owned()
}

/// Prints the inputs that were left out.
pub fn skipped(out: &mut impl Write, skipped: &[Skipped]) -> Result<()> {
    for one in skipped {
        writeln!(out, "skipped: {}", line(&one.reason))?;
    }
    Ok(())
}

/// Prints notes, a line each.
pub fn notes(out: &mut impl Write, notes: &[String]) -> io::Result<()> {
    notes.iter().try_for_each(|note| {
        unclosed::is_told(note);
        writeln!(out, "note: {}", line(note))
    })
}

/// What the cuts left of a table, if there are some.
pub fn cut_flow(out: &mut impl Write, path: &str, cuts: &[CutStep]) -> Result<()> {
    if cuts.is_empty() {
        return Ok(());
    }
    let is_weighted = cuts.iter().any(|cut| cut.weight_before.is_some());
    let mut heads = vec!["cut", "entries before", "entries after", "kept"];
    heads.extend(is_weighted.then_some(["weight before", "weight after"]).into_iter().flatten());
    let has_skipped = cuts.iter().any(|cut| cut.clusters_skipped > 0);
    heads.extend(has_skipped.then_some("clusters skipped"));
    let mut table = table(&heads);
    for cut in cuts {
        let mut row = vec![line(&cut.cut), count(cut.before), count(cut.after), percent(cut.after, cut.before)];
        let sum = |sum: Option<f64>| sum.map_or_else(|| "-".to_owned(), |sum| sum.to_string());
        row.extend(is_weighted.then(|| [sum(cut.weight_before), sum(cut.weight_after)]).into_iter().flatten());
        row.extend(has_skipped.then(|| count(cut.clusters_skipped)));
        table.add_row(row);
    }
    writeln!(out, "cut flow of {}:\n{table}", line(path))?;
    Ok(())
}

/// A name or title from a file in one line, with unprintable characters as codes.
pub fn name(text: &str) -> Cow<'_, str> {
    printable(text)
}

/// Standard output for people, buffered: no line is wider than the terminal. Flush it at the end; a closed pipe ends the command with success.
pub fn stdout() -> io::BufWriter<Printable<Folding<io::StdoutLock<'static>>>> {
    buffered(known_width())
}

/// The same for lines that stay whole: names, and forms that others have made.
pub fn whole_lines() -> io::BufWriter<Printable<Folding<io::StdoutLock<'static>>>> {
    buffered(None)
}

fn buffered(width: Option<usize>) -> io::BufWriter<Printable<Folding<io::StdoutLock<'static>>>> {
    io::BufWriter::with_capacity(1 << 16, Printable::new(Folding::new(io::stdout().lock(), width)))
}

/// Standard output for programs, buffered and without changes to the text.
pub fn raw_stdout() -> io::BufWriter<io::StdoutLock<'static>> {
    io::BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Prints a value as JSON.
pub fn json(value: &impl serde::Serialize) -> Result<()> {
    let mut out = raw_stdout();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, PlainJson);
    serde::Serialize::serialize(&AllNumbers(value), &mut serializer).map_err(io::Error::from)?;
    writeln!(out)?;
    unclosed::is_told_as_json(|| json_text(value));
    Ok(out.flush()?)
}

/// JSON whose strings have no character that controls a terminal, or turns text around: JSON itself escapes only those
/// below 0x20.
struct PlainJson;

impl serde_json::ser::Formatter for PlainJson {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let odd = |c: char| !is_printable(c);
        for part in text.split_inclusive(odd) {
            let plain = part.trim_end_matches(odd);
            out.write_all(plain.as_bytes())?;
            let mut units = [0; 2];
            for c in part.get(plain.len()..).unwrap_or_default().chars() {
                c.encode_utf16(&mut units).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
            }
        }
        Ok(())
    }
}

/// A value as JSON.
pub fn json_text(value: &impl serde::Serialize) -> Result<String> {
    Ok(serde_json::to_string(&AllNumbers(value)).map_err(io::Error::from)?)
}

/// Columns of a line for what is made for a width: the known one, or 100.
pub fn width() -> usize {
    known_width().unwrap_or(100)
}

/// What is said of columns of a table that are left out.
pub fn no_room_for(hidden: &[&str]) -> String {
    if hidden.is_empty() { String::new() } else { format!(" (no room for {})", hidden.join(", ")) }
}

/// A number of bytes for people: three digits and a unit.
pub fn bytes(n: u64) -> String {
    scaled(n, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

fn scaled(n: u64, units: &[&str]) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = n as f64;
    let mut unit = 0;
    // 999.5 would be shown as 1000.
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or("");
    match value {
        _ if unit == 0 => format!("{n} {name}"),
        v if v < 9.995 => format!("{v:.2} {name}"),
        v if v < 99.95 => format!("{v:.1} {name}"),
        v => format!("{v:.0} {name}"),
    }
}

/// A share of a whole in per cent, as `12.3%`; nothing of nothing is left blank.
pub fn percent(part: u64, whole: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    match whole {
        0 => String::new(),
        _ => format!("{:.1}%", 100.0 * part as f64 / whole as f64),
    }
}

/// The bytes of these files, as far as they are local.
pub fn bytes_of<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> u64 {
    paths.into_iter().filter_map(|path| std::fs::metadata(path).ok()).map(|m| m.len()).sum()
}

/// A bar on standard error that counts bytes; hidden unless that is a terminal, and when `quiet`.
pub fn progress(total: u64, what: &'static str, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    // Indicatif hides itself where standard error is no terminal.
    let bar = ProgressBar::new(total).with_message(what);
    if let Ok(style) = ProgressStyle::with_template(
        "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
    ) {
        bar.set_style(style);
    }
    // A hidden bar needs no ticker, which is a thread.
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}

/// Moves a bar on, and lets the work go on.
pub fn advance(bar: &ProgressBar, bytes: u64) -> ControlFlow<()> {
    bar.inc(bytes);
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        for (n, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (12_345, "12.3 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(n), text);
        }
        assert_eq!(percent(1, 8), "12.5%");
        assert_eq!(percent(1, 0), "");
    }

    #[test]
    fn json_has_no_character_that_does_not_print() {
        let mut out = Vec::new();
        let text = "a\u{1b}\u{9b}\u{202e}\u{e0001}ö\"";
        serde::Serialize::serialize(text, &mut serde_json::Serializer::with_formatter(&mut out, PlainJson)).unwrap();
        assert_eq!(String::from_utf8(out.clone()).unwrap(), r#""a\u001b\u009b\u202e\udb40\udc01ö\"""#);
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    }

    #[test]
    fn errors_take_one_line() {
        let toml = "layout: TOML parse error at line 1, column 1\n  |\n1 | clutser = 1\n  | ^^^^^^^\nunknown key";
        assert_eq!(one_line(toml), "layout: TOML parse error at line 1, column 1: unknown key");
        assert_eq!(one_line("plain"), "plain");
    }
}
