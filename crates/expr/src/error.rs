//! Errors of expressions: what is wrong, at which place of the text, and which names are near.

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthStr;

/// Most characters of a text that a message draws around the place.
const MOST_DRAWN: usize = 100;
/// Most names that a message offers.
const MOST_NAMES: usize = 3;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is no expression.
    Syntax,
    /// A name is neither a column nor an alias.
    UnknownName,
    /// Operands have types that the operation does not take.
    Type,
    /// The text is longer or deeper than is allowed.
    TooLarge,
    /// Values of some entry have no result: lists of different lengths, or a whole number that is too large.
    Values,
}

/// An error, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    text: String,
    place: Range<usize>,
}

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>, place: Range<usize>) -> Self {
        Self { kind, message: message.into(), text: String::new(), place }
    }

    pub(crate) fn syntax(message: impl Into<String>, place: Range<usize>) -> Self {
        Self::new(ErrorKind::Syntax, message, place)
    }

    pub(crate) fn types(message: impl Into<String>, place: Range<usize>) -> Self {
        Self::new(ErrorKind::Type, message, place)
    }

    pub(crate) fn values(message: impl Into<String>, place: Range<usize>) -> Self {
        Self::new(ErrorKind::Values, message, place)
    }

    /// Adds the text, unless one is known: that of an alias is.
    pub(crate) fn of(mut self, text: &str) -> Self {
        if self.text.is_empty() {
            text.clone_into(&mut self.text);
        }
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn advised(mut self, advice: &str) -> Self {
        let end = if self.message.ends_with('?') { "" } else { ";" };
        self.message = format!("{}{end} {advice}", self.message);
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What is wrong, in one line without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The text of the expression, or of the alias with the error.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it is about: this part of the text, a name without its backquotes.
    pub fn subject(&self) -> &str {
        self.text.get(self.place()).unwrap_or_default().trim_matches('`')
    }

    /// The bytes of the text that it is about.
    pub fn place(&self) -> Range<usize> {
        self.place.clone()
    }
}

impl fmt::Display for Error {
    /// The message, the text, and a line that marks the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let at = |byte: usize| self.text.char_indices().take_while(|(place, _)| *place < byte).count();
        let (start, end) = (at(self.place.start), at(self.place.end));
        // What cannot be printed takes one column, so that the mark stands right.
        let shown: Vec<char> = self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let from = start.saturating_sub(MOST_DRAWN / 2);
        let to = shown.len().min(from + MOST_DRAWN);
        let drawn: String = shown.get(from..to).unwrap_or_default().iter().collect();
        let (before, after) = (if from > 0 { "..." } else { "" }, if to < shown.len() { "..." } else { "" });
        let width = |from: usize, to: usize| shown.get(from..to).unwrap_or_default().iter().collect::<String>().width();
        let room = " ".repeat(before.len() + width(from, start));
        let marks = "^".repeat(width(start, end.min(to)).max(1));
        write!(f, "\n  {before}{drawn}{after}\n  {room}{marks}")
    }
}

impl std::error::Error for Error {}

/// The names that are most like one, the nearest first; of those that differ in case alone, that with its case. Of several names for
/// the same, by what they mean, the nearest is told.
pub(crate) fn near<'a, M: PartialEq>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    meaning: impl Fn(&'a str) -> M,
) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let last = wanted.rsplit(['/', '.']).next().unwrap_or(&wanted).to_owned();
    let distance = |one: &str| {
        let one = one.to_lowercase();
        let short = one.rsplit(['/', '.']).next().unwrap_or(&one);
        strsim::damerau_levenshtein(&wanted, &one).min(strsim::damerau_levenshtein(&last, short))
    };
    let (most, letters) = (1 + wanted.chars().count() / 4, last.chars().count());
    let far = known.into_iter().map(|one| (distance(one), strsim::damerau_levenshtein(name, one), one));
    let mut found: Vec<_> = far.filter(|(far, ..)| *far <= most && *far < letters).collect();
    found.sort_unstable();
    let mut told: Vec<(M, &str)> = Vec::new();
    for (.., one) in found {
        let means = meaning(one);
        if told.len() < MOST_NAMES && told.iter().all(|(other, _)| *other != means) {
            told.push((means, one));
        }
    }
    told.into_iter().map(|(_, one)| one).collect()
}

/// Some of the names that there are, where none is like the one that was meant.
pub(crate) fn listing(names: &[&str]) -> String {
    let some = names.get(..MOST_NAMES).unwrap_or(names).join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        _ if names.is_empty() => String::new(),
        0 => format!("; there are {some}"),
        _ => format!("; there are {some} and others"),
    }
}

/// An offer of names at the end of a message.
pub(crate) fn offer(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => format!("; did you mean {one}?"),
        [others @ .., last] => format!("; did you mean {} or {last}?", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_marked() {
        let error = Error::syntax("no", 4..6).of("é + ab");
        assert_eq!(error.to_string(), "no\n  é + ab\n     ^^");
        // Letters that take two columns have two marks.
        assert_eq!(Error::syntax("no", 9..13).of("運動 + 量b").to_string(), "no\n  運動 + 量b\n         ^^^");
        let long = Error::syntax("no", 300..301).of(&"a".repeat(400)).to_string();
        let lines: Vec<&str> = long.lines().collect();
        assert_eq!((lines[1].len(), lines[2].len()), (2 + 3 + MOST_DRAWN + 3, 2 + 3 + MOST_DRAWN / 2 + 1));
    }

    #[test]
    fn near_names_are_few_and_like_it() {
        let near = |name, known: &[&'static str]| near(name, known.iter().copied(), |one| one);
        let known = &["Muon_pt", "Muon_eta", "MET_pt", "run"];
        assert_eq!(near("muon_ptt", known), ["Muon_pt", "Muon_eta"]);
        assert_eq!(near("Muon_pt", known).first(), Some(&"Muon_pt"));
        assert_eq!(near("muon_ptt", &["MUON_PT", "Muon_pt", "muon_pt", "Muon_pt"]), ["muon_pt", "Muon_pt", "MUON_PT"]);
        assert!(near("luminosity", known).is_empty());
        // No letter is like another one, and the last part of a path is a name too.
        assert_eq!(near("a", &["L", "b", "lf.a"]), ["lf.a"]);
        assert_eq!(offer(&["a", "b", "c"]), "; did you mean a, b or c?");
    }
}
