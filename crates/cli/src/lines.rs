//! Lines that fit a terminal: a writer that breaks those that are wider, sentences between words and commands as a shell reads them.
//! Tables and pictures are made to fit before they come here, and what programs read does not come here.

use std::io::{self, Write};

use rootfile::text::{split_at_width, width};

/// What stands before the further lines of a sentence or a command.
const FURTHER: &str = "    ";

/// Columns of a line, where they are known: those of the terminal, or of the variable COLUMNS.
pub fn known_width() -> Option<usize> {
    let terminal = comfy_table::Table::new().width().map(usize::from);
    let named = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(named).filter(|width| *width > 0)
}

/// A writer of lines of so many columns at most; without a width they stay as they are.
pub struct Folding<W> {
    inner: W,
    width: Option<usize>,
    /// The beginning of a line whose end comes with the next call.
    started: Vec<u8>,
}

impl<W: Write> Folding<W> {
    /// Around another writer.
    pub fn new(inner: W, width: Option<usize>) -> Self {
        Self { inner, width, started: Vec::new() }
    }
}

impl<W: Write> Write for Folding<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(width) = self.width else { return self.inner.write(bytes) };
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.started.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.started);
                self.inner.write_all(folded(&String::from_utf8_lossy(&line), width).as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    /// A line without an end, such as a question, is passed on as it is.
    fn flush(&mut self) -> io::Result<()> {
        self.inner.write_all(&std::mem::take(&mut self.started))?;
        self.inner.flush()
    }
}

/// Text whose lines are broken into those of so many columns at most; further lines are indented. Commands, which are there to be copied,
/// are broken as a shell reads them.
pub fn folded(text: &str, columns: usize) -> String {
    let mut all = String::with_capacity(text.len());
    for line in text.lines() {
        let words = line.trim_start();
        if width(line) <= columns {
            all += line;
        } else if words.starts_with("basketry ") {
            command(&mut all, line, columns);
        } else {
            let indent = line.len() - words.len();
            all += line.get(..indent).unwrap_or_default();
            all += &hanging(words, indent, FURTHER.len(), columns);
        }
        all.push('\n');
    }
    all
}

/// Text in lines of so many columns, broken between words. So many are used of the first one, and the others begin with so many blanks.
pub fn hanging(text: &str, used: usize, indent: usize, columns: usize) -> String {
    // However narrow a terminal is, there is room for a few letters.
    let columns = columns.max(indent + 8);
    let next = format!("\n{:indent$}", "");
    let (mut all, mut at) = (String::with_capacity(text.len()), used);
    for (place, word) in words(text).into_iter().enumerate() {
        let mut word = word;
        if place > 0 && at + 1 + width(word) <= columns {
            all.push(' ');
            at += 1;
        } else if place > 0 || (at > indent && at + width(word) > columns) {
            all.truncate(all.trim_end_matches(' ').len());
            all += &next;
            at = indent;
        }
        // What is longer than a line goes on in the next one.
        while at + width(word) > columns {
            let (begin, rest) = split_at_width(word, columns - at);
            all += begin;
            all += &next;
            (word, at) = (rest, indent);
        }
        all += word;
        at += width(word);
    }
    all
}

/// The words of a sentence; a number and its unit are one.
fn words(text: &str) -> Vec<&str> {
    const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ms", "s"];
    let is_apart = |(at, _): &(usize, &str)| {
        let (before, behind) = (text.get(..*at).unwrap_or_default(), text.get(at + 1..).unwrap_or_default());
        let next = behind.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        !(before.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&next))
    };
    let mut begin = 0;
    let ends = text.match_indices(' ').filter(is_apart).map(|(at, _)| at).chain([text.len()]);
    ends.map(|end| text.get(std::mem::replace(&mut begin, end + 1)..end).unwrap_or_default()).collect()
}

/// Adds a command in lines of so many columns, of which all but the last end with a backslash. Words stay whole.
fn command(all: &mut String, line: &str, columns: usize) {
    let (mut at, mut first) = (0, true);
    let indent = line.len() - line.trim_start().len();
    *all += line.get(..indent).unwrap_or_default();
    at += indent;
    for word in shell_words(line.trim_start()) {
        // Behind it there is room for a blank and a backslash.
        if !first && at + 1 + width(word) + 2 > columns {
            *all += &format!(" \\\n{:indent$}{FURTHER}", "");
            at = indent + FURTHER.len();
        } else if !first {
            all.push(' ');
            at += 1;
        }
        *all += word;
        at += width(word);
        first = false;
    }
}

/// The words of a command with their quotes: what stands between blanks that are in no quotes.
fn shell_words(command: &str) -> Vec<&str> {
    let (mut quote, mut is_escaped) = (None, false);
    let between = |c: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match (c, quote) {
            _ if was_escaped => {}
            ('\\', None | Some('"')) => is_escaped = true,
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => return true,
            _ => {}
        }
        false
    };
    command.split(between).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_broken_between_words() {
        assert_eq!(folded("one two three\n  four five six", 12), "one two\n    three\n  four five\n    six\n");
        assert_eq!(folded("short", 12), "short\n");
        assert_eq!(folded("it takes 20.5 kB, 3 ms", 13), "it takes\n    20.5 kB,\n    3 ms\n");
        // What is longer than a line is broken within, and letters stay whole.
        assert_eq!(folded("a /long/path/name.root", 12), "a\n    /long/pa\n    th/name.\n    root\n");
        assert_eq!(folded("横運動量の誤差の分布", 12), "横運動量の誤\n    差の分布\n");
        assert_eq!(hanging("[1, 2, 3, 4]", 6, 6, 14), "[1, 2,\n      3, 4]");
        for columns in 12..60 {
            let text =
                "  sentences of some words, 横運動量 too, and_a_word_that_is_longer_than_a_line_can_be_here, in lines";
            let all = folded(text, columns);
            assert!(all.lines().all(|line| width(line) <= columns), "{all}");
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            assert_eq!(letters(&all), letters(text));
        }
    }

    #[test]
    fn broken_commands_are_the_same_commands() {
        let text = r#"   basketry rewrite 'a file.root' -o "b \" c.root" --keep 'Muon_*' --compression zstd:5 d\ e"#;
        for columns in 24..100 {
            let all = folded(text, columns);
            assert!(all.lines().all(|line| width(line) <= columns), "{all}");
            assert_eq!(shlex::split(&all.replace("\\\n", "")), shlex::split(text), "{all}");
        }
        assert_eq!(folded("basketry a bcdef", 14), "basketry a \\\n    bcdef\n");
    }

    #[test]
    fn lines_come_in_pieces() {
        let text = "some words in a line\nand more of them\nno end";
        for size in 1..text.len() {
            let mut out = Folding::new(Vec::new(), Some(10));
            text.as_bytes().chunks(size).for_each(|piece| out.write_all(piece).unwrap());
            out.flush().unwrap();
            assert_eq!(String::from_utf8(out.inner).unwrap(), folded(text, 10).trim_end());
        }
        let mut out = Folding::new(Vec::new(), None);
        out.write_all(text.as_bytes()).unwrap();
        assert_eq!(out.inner, text.as_bytes());
    }
}
