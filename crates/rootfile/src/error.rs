//! The error type of all crates: what is wrong, in which file and object, at which byte.
//!
//! A parser gives the message; each caller adds the context it knows ([`Error::at`], [`Error::object`],
//! [`Error::file`]). Context that is already there is kept, since the innermost is the most exact. Options that a message
//! names are added as [`Hint`]s. No text of an error shows what a URL has of secrets.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::hint::{FORCE, Hint, Taken, shown, without};
use crate::redact::{public_path, public_text};
use crate::text::printable;

/// The cause of an error.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused to read or write.
    Io(std::io::Error),
    /// The bytes of the file violate the format.
    Corrupt(String),
    /// The bytes are valid, but basketry does not support them.
    Unsupported(String),
    /// The caller's request is impossible: no such tree, too small a budget.
    Request(String),
    /// Tables of several files are joined, and their schemas differ in another way than the caller allows.
    Differs(String),
    /// The system gives no memory for this many bytes.
    Memory(u64),
    /// The caller or a signal ended the work.
    Interrupted,
}

/// An error with its file, object and offset. One pointer wide.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    file: Option<PathBuf>,
    object: Option<String>,
    offset: Option<u64>,
    hints: Vec<Hint>,
}

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without context.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, file: None, object: None, offset: None, hints: Vec::new() }))
    }

    /// The bytes of the file are wrong.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt(message.into()))
    }

    /// The file needs something that basketry does not support.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported(message.into()))
    }

    /// The request is impossible.
    pub fn request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Request(message.into()))
    }

    /// Schemas differ in another way than the caller allows.
    pub fn differs(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Differs(message.into()))
    }

    /// The system gives no memory for this many bytes.
    #[cold]
    pub fn memory(bytes: u64) -> Self {
        Self::new(ErrorKind::Memory(bytes))
    }

    /// The caller or a signal ended the work.
    #[cold]
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted)
    }

    /// Adds the file, unless one is known.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.file.get_or_insert_with(|| path.as_ref().to_path_buf());
        self
    }

    /// Adds the object (a key, a branch, a class), unless one is known.
    #[must_use]
    pub fn object(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        if !name.is_empty() {
            self.0.object.get_or_insert(name);
        }
        self
    }

    /// Adds the byte offset in the file, unless one is known.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Adds an option that the message names.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        self.0.hints.push(hint);
        self
    }

    /// Adds the hints of an error whose text this message contains.
    #[must_use]
    pub fn hints_of(mut self, inner: &Self) -> Self {
        self.0.hints.extend(inner.hints().iter().cloned());
        self
    }

    /// The same for who has only some of the options: without the ways out by others.
    #[must_use]
    pub fn for_options(mut self, has: impl Fn(&str) -> bool) -> Self {
        let (kept, others) = self.0.hints.drain(..).partition(|hint| hint.clause().is_empty() || has(hint.option()));
        self.0.hints = kept;
        if let ErrorKind::Corrupt(m) | ErrorKind::Unsupported(m) | ErrorKind::Request(m) | ErrorKind::Differs(m) =
            &mut self.0.kind
        {
            let others: Vec<Hint> = others;
            *m = others.iter().fold(std::mem::take(m), |message, hint| without(&message, &hint.clause()));
        }
        self
    }

    /// The options that the message names.
    pub fn hints(&self) -> &[Hint] {
        &self.0.hints
    }

    /// What is wrong, without file, object and offset, and with options as `show` gives them.
    pub fn message(&self, show: impl Fn(&Hint) -> String) -> String {
        let message = shown(self.0.kind.to_string(), &self.0.hints, show);
        public_text(&message).into_owned()
    }

    /// The whole text of the error, with options as `show` gives them.
    pub fn text(&self, show: impl Fn(&Hint) -> String) -> String {
        format!("{}{}", Context(&self.0), self.message(show))
    }

    /// The file, if known.
    pub fn path(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The object, if known.
    pub fn subject(&self) -> Option<&str> {
        self.0.object.as_deref()
    }

    /// The byte offset in the file, if known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The cause.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }
}

/// Most characters of an object's name in a message.
const MOST_OF_A_NAME: usize = 200;

/// A name from a file for one line of a terminal: unprintable characters are escaped, long names are cut.
fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    for (i, c) in name.chars().enumerate() {
        if i == MOST_OF_A_NAME {
            return f.write_str("...");
        }
        f.write_str(&printable(c.encode_utf8(&mut [0; 4])))?;
    }
    Ok(())
}

/// What stands before a message: file, object and offset.
struct Context<'a>(&'a Inner);

impl fmt::Display for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.0;
        if let Some(file) = &inner.file {
            write!(f, "{}: ", printable(&public_path(file).to_string_lossy()))?;
        }
        if let Some(object) = &inner.object {
            write_name(f, &public_text(object))?;
            f.write_str(": ")?;
        }
        if let Some(offset) = inner.offset {
            write!(f, "at byte {offset}: ")?;
        }
        Ok(())
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => write!(f, "{e}"),
            Self::Corrupt(m) | Self::Unsupported(m) | Self::Request(m) | Self::Differs(m) => write!(f, "{m}"),
            Self::Memory(bytes) => write!(f, "no memory for {bytes} bytes"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Context(&self.0), public_text(&self.0.kind.to_string()))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(e) => Some(e),
            _ => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        let is_taken = e.get_ref().is_some_and(|own| own.is::<Taken>());
        let error = Self::new(ErrorKind::Io(e));
        if is_taken { error.hint(Hint::switch(FORCE)) } else { error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_a_file_stay_on_their_line() {
        let error = Error::corrupt("short").object("a\u{85}b\u{1c}\n\u{2028}é").at(7);
        assert_eq!(error.to_string(), r"a\u{85}b\u{1c}\n\u{2028}é: at byte 7: short");
        let long = Error::corrupt("short").object("x".repeat(1000)).to_string();
        assert_eq!(long, format!("{}...: short", "x".repeat(MOST_OF_A_NAME)));
    }

    #[test]
    fn no_part_of_an_error_shows_secrets() {
        let cause = std::io::Error::other("GET https://me:secret@h/a?sig=secret failed");
        let error = Error::from(cause).file("https://h/a.root?authz=secret").object("Nope?authz=secret");
        let text = "https://h/a.root: Nope?authz=...: GET https://h/a failed";
        assert_eq!((error.to_string(), error.text(|_| String::new())), (text.to_owned(), text.to_owned()));
    }

    #[test]
    fn ways_out_are_those_that_the_caller_has() {
        let ways = [
            Hint::switch("widen").that("joins numbers"),
            Hint::switch("common").that("keeps the branches that all have"),
            Hint::switch("fill").that("fills in missing ones"),
        ];
        let [widen, common, fill] = ways.each_ref().map(Hint::clause);
        for (message, options, left) in [
            (format!("a differs; {widen}; {common}, {fill}"), &[][..], "a differs"),
            (format!("a differs; {widen}; {common}, {fill}"), &["fill"], "a differs; --fill fills in missing ones"),
            (format!("a differs ({common}, {fill})"), &[], "a differs"),
            (format!("a differs ({widen}; {common}, {fill})"), &["widen"], "a differs (--widen joins numbers)"),
            (format!("{common}; a differs"), &["fill"], "a differs"),
            (
                format!("a differs ({common}, {fill})"),
                &["common", "fill"],
                "a differs (--common keeps the branches that all have, --fill fills in missing ones)",
            ),
        ] {
            let error = ways.iter().cloned().fold(Error::request(message), Error::hint).hint(Hint::named("memory"));
            let inner = error.for_options(|option| options.contains(&option));
            assert_eq!(inner.to_string(), left);
            assert_eq!(inner.hints().len(), options.len() + 1, "what a message only names stays");
        }
    }

    #[test]
    fn hints_are_shown_in_the_notation_of_the_caller() {
        let memory = Hint::text("memory", "13MB");
        let message = format!("give {memory}, --tree or --tree-set");
        let error = Error::request(message).hint(memory).hint(Hint::named("tree")).hint(Hint::named("tree-set"));
        let error = Error::request(format!("no: {error}")).hints_of(&error).file("a --tree.root");
        assert_eq!(error.to_string(), "a --tree.root: no: give --memory 13MB, --tree or --tree-set");
        let shown = error.text(|hint| format!("[{}]", hint.option()));
        assert_eq!(shown, "a --tree.root: no: give [memory], [tree] or [tree-set]");
    }
}
