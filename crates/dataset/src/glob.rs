//! Name patterns for trees and columns: shell globs in which a literal full name always matches, and regular
//! expressions between slashes (`/Muon_(pt|eta)$/i`), as uproot has them.
//!
//! The rules of [`crate::layout::Layout`] and `--keep`/`--drop` ([`NameFilter`]) use these patterns. This module does
//! not know files; callers pass names.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use rootfile::{Error, Result};

use crate::column_names::column_names;

/// A glob with more alternatives is matched as a glob, not as a list of names.
const MOST_NAMES: usize = 10_000;

/// The special characters of globs.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// A glob over one name: `*`, `?`, `[...]`, `{a,b}`; `*` also crosses `.` and `/`.
///
/// Branch names may end in array dimensions (`fTracks.fX[3]`), which a glob would read as a character class. So a name
/// that equals the pattern's text always matches, and a name with dimensions is also tried without them, as in ROOT's
/// own look-up of branches.
///
/// A text between slashes, followed by flags (`i`, `m`, `s`, `u`, `x`), is a regular expression, which must match at
/// the beginning of a name.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    /// `None` if the text has no special character: then only equality counts.
    matcher: Option<Matcher>,
}

#[derive(Clone, Debug)]
enum Matcher {
    /// A sorted list of names.
    Names(Vec<String>),
    Glob(GlobMatcher),
    Regex(Regex),
}

impl Matcher {
    fn is_match(&self, name: &str) -> bool {
        match self {
            Self::Names(names) => names.binary_search_by(|one| one.as_str().cmp(name)).is_ok(),
            Self::Glob(glob) => glob.is_match(name),
            Self::Regex(regex) => regex.is_match(name),
        }
    }
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// If the pattern is invalid; the message has its text and the reason.
    pub fn new(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::request("an empty name pattern matches nothing"));
        }
        let matcher = if let Some((body, flags)) = expression(text) {
            Some(regex(&format!("^(?:{body})"), flags, text)?)
        } else if !text.contains(SPECIAL) {
            None
        } else if let Some(names) = names(text) {
            Some(Matcher::Names(names))
        } else {
            Some(compile(text)?)
        };
        Ok(Self { text: text.to_owned(), matcher })
    }

    /// A regular expression that must match whole names.
    ///
    /// # Errors
    ///
    /// If the expression is invalid.
    pub fn expression(text: &str) -> Result<Self> {
        Ok(Self { text: text.to_owned(), matcher: Some(regex(&format!("^(?:{text})$"), "", text)?) })
    }

    /// The same pattern for names in upper and lower case.
    pub(crate) fn ignoring_case(text: &str) -> Result<Self> {
        let matcher = match expression(text) {
            Some((body, flags)) => regex(&format!("^(?:{body})"), &format!("{flags}i"), text)?,
            None if !text.contains(SPECIAL) => regex(&format!("^{}$", regex::escape(text)), "i", text)?,
            None => {
                Matcher::Glob(glob(text).case_insensitive(true).build().map_err(|e| bad(text, &e))?.compile_matcher())
            }
        };
        Ok(Self { text: text.to_owned(), matcher: Some(matcher) })
    }

    /// The pattern that matches exactly this name, special characters included.
    pub fn exact(name: &str) -> Self {
        // globset leaves the backslash, by which patterns escape.
        let mut text = globset::escape(name).replace('\\', "\\\\");
        if text.starts_with('/') {
            text.replace_range(..1, "[/]");
        }
        Self { matcher: Some(Matcher::Names(vec![name.to_owned()])), text }
    }

    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// All names that the pattern matches, if they can be listed; without dimensions, with which they match too.
    fn names(&self) -> Option<impl Iterator<Item = &str>> {
        let names = match &self.matcher {
            None => &[],
            Some(Matcher::Names(names)) => names.as_slice(),
            Some(_) => return None,
        };
        Some(names.iter().map(String::as_str).chain([self.text.as_str()]))
    }

    /// Whether the pattern matches `name`.
    pub fn matches(&self, name: &str) -> bool {
        let base = without_dimensions(name);
        self.text == name
            || self.text == base
            || self.matcher.as_ref().is_some_and(|m| m.is_match(name) || (base.len() < name.len() && m.is_match(base)))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An expression between slashes, and its flags.
fn expression(text: &str) -> Option<(&str, &str)> {
    let (body, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    flags.chars().all(|flag| "imsux".contains(flag)).then_some((body, flags))
}

fn regex(expression: &str, flags: &str, text: &str) -> Result<Matcher> {
    let has = |flag| flags.contains(flag);
    RegexBuilder::new(expression)
        .case_insensitive(has('i'))
        .multi_line(has('m'))
        .dot_matches_new_line(has('s'))
        .ignore_whitespace(has('x'))
        .build()
        .map(Matcher::Regex)
        .map_err(|e| {
            // The last line is the message; the lines above draw the position in the expression.
            let e = e.to_string();
            let message = e.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Error::request(format!("{text}: not a regular expression: {message}"))
        })
}

fn glob(text: &str) -> GlobBuilder<'_> {
    let mut glob = GlobBuilder::new(text);
    glob.literal_separator(false).backslash_escape(true);
    glob
}

fn bad(text: &str, why: &globset::Error) -> Error {
    Error::request(format!("name pattern {text:?}: {}", why.kind()))
}

fn compile(text: &str) -> Result<Matcher> {
    glob(text).build().map(|glob| Matcher::Glob(glob.compile_matcher())).map_err(|e| bad(text, &e))
}

/// All names that a glob matches, sorted, if its special characters other than braces are escaped (`[[]` for `[`, or
/// `\\[`) and there are not too many.
fn names(glob: &str) -> Option<Vec<String>> {
    let (mut names, mut rest) = (vec![String::new()], glob.chars());
    // The alternatives of the open braces.
    let mut group: Option<Vec<String>> = None;
    while let Some(c) = rest.next() {
        let literal = match (c, &mut group) {
            ('\\', _) => rest.next()?,
            ('[', _) => {
                let only = rest.next().filter(|only| !matches!(only, '!' | '^' | ']'))?;
                (rest.next()? == ']').then_some(only)?
            }
            ('{', None) => {
                group = Some(vec![String::new()]);
                continue;
            }
            (',', Some(group)) => {
                group.push(String::new());
                continue;
            }
            ('}', _) => {
                let group = group.take().filter(|group| group.iter().all(|one| !one.is_empty()))?;
                if names.len().saturating_mul(group.len()) > MOST_NAMES {
                    return None;
                }
                names = names.iter().flat_map(|name| group.iter().map(move |one| format!("{name}{one}"))).collect();
                continue;
            }
            (c, _) if SPECIAL.contains(&c) => return None,
            (c, _) => c,
        };
        match &mut group {
            Some(group) => group.last_mut()?.push(literal),
            None => names.iter_mut().for_each(|name| name.push(literal)),
        }
    }
    names.sort_unstable();
    group.is_none().then_some(names)
}

/// `fX[3][4]` without its dimensions: `fX`. A name that is all dimensions stays as it is.
pub(crate) fn without_dimensions(name: &str) -> &str {
    match name.find('[') {
        Some(at) if at > 0 && name.ends_with(']') => name.get(..at).unwrap_or(name),
        _ => name,
    }
}

/// A pattern over trees, which are named by their path in the file (`dir/Events`).
///
/// A pattern without `/` is compared with the last part of the path, a pattern with `/` with the whole path, a regular
/// expression with both.
///
/// ```
/// use dataset::glob::TreePattern;
///
/// assert!(TreePattern::new("Meta*")?.matches("dir/MetaData"));
/// assert!(!TreePattern::new("other/Meta*")?.matches("dir/MetaData"));
/// # Ok::<(), rootfile::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TreePattern(Pattern);

impl TreePattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// If the pattern is invalid; the message has its text and the reason.
    pub fn new(text: &str) -> Result<Self> {
        Pattern::new(text).map(Self)
    }

    /// The pattern that matches exactly this path, special characters included.
    pub fn exact(path: &str) -> Self {
        Self(Pattern::exact(path))
    }

    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether the pattern matches the tree with this path.
    pub fn matches(&self, path: &str) -> bool {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let of_name = !self.as_str().contains('/') || expression(self.as_str()).is_some();
        self.0.matches(path) || (of_name && self.0.matches(name))
    }
}

/// A pattern over columns, `COLUMN` or `TREE/COLUMN`, `/REGEX/` or `TREE//REGEX/`.
///
/// A glob with a `/` is also split at each of them, and its parts are compared with tree and column, so that `Events/Muon_*`
/// does not match columns of other trees.
#[derive(Clone, Debug)]
pub struct ColumnPattern {
    full: Pattern,
    /// The halves, a tree and a column.
    parts: Vec<(TreePattern, Pattern)>,
}

impl PartialEq for ColumnPattern {
    fn eq(&self, other: &Self) -> bool {
        self.full == other.full
    }
}

impl ColumnPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// If the pattern is invalid; the message has its text and the reason.
    pub fn new(text: &str) -> Result<Self> {
        let full = Pattern::new(text)?;
        if expression(text).is_some() {
            return Ok(Self { full, parts: Vec::new() });
        }
        let mut halves = text.match_indices("//").filter_map(|(at, _)| Some((text.get(..at)?, text.get(at + 1..)?)));
        if let Some((tree, regex)) = halves.find(|(_, rest)| expression(rest).is_some()) {
            return Ok(Self { full, parts: vec![(TreePattern::new(tree)?, Pattern::new(regex)?)] });
        }
        // If a half does not compile by itself (`a[/]b`), the glob is not a tree and a column.
        let half = |(at, _)| Some((TreePattern::new(text.get(..at)?).ok()?, Pattern::new(text.get(at + 1..)?).ok()?));
        let parts = text.match_indices('/').filter_map(half).collect();
        Ok(Self { full, parts })
    }

    /// The pattern for exactly this column of exactly this tree.
    pub fn exact(tree: &str, column: &str) -> Self {
        let literal = format!("{tree}/{column}");
        let (tree, column) = (Pattern::exact(tree), Pattern::exact(column));
        let full = Pattern { text: format!("{tree}/{column}"), matcher: Some(Matcher::Names(vec![literal])) };
        Self { full, parts: vec![(TreePattern(tree), column)] }
    }

    /// The text of the pattern.
    pub fn as_str(&self) -> &str {
        self.full.as_str()
    }

    /// Whether the pattern matches this column of the tree with this path.
    pub fn matches(&self, tree: &str, column: &str) -> bool {
        self.full.matches(column) || self.parts.iter().any(|(t, c)| c.matches(column) && t.matches(tree))
    }

    /// The names of the columns of this tree that the pattern matches, if they can be listed:
    /// [`ColumnPattern::matches`] is true for exactly these, with or without dimensions.
    pub(crate) fn names(&self, tree: &str) -> Option<Vec<&str>> {
        let mut names: Vec<&str> = self.full.names()?.collect();
        for (_, column) in self.parts.iter().filter(|(t, _)| t.matches(tree)) {
            names.extend(column.names()?);
        }
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    /// Whether the pattern can match columns of this tree.
    pub fn applies_to(&self, tree: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|(t, _)| t.matches(tree))
    }
}

/// A selection of columns: those that a `keep` pattern matches (all, if no `keep` pattern is about the tree), without
/// those that a `drop` pattern matches.
///
/// ```
/// use dataset::glob::NameFilter;
///
/// let filter = NameFilter::new(&["Muon_*"], &["Muon_jetIdx"])?;
/// assert!(filter.keeps("Events", &["Muon_pt"]));
/// assert!(!filter.keeps("Events", &["Muon_jetIdx"]) && !filter.keeps("Events", &["MET_pt"]));
/// # Ok::<(), rootfile::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameFilter {
    keep: Vec<ColumnPattern>,
    drop: Vec<ColumnPattern>,
    /// Columns of the first level that are dropped, by their names: what is called so below others stays.
    left_out: Vec<String>,
}

impl NameFilter {
    /// Compiles both lists.
    ///
    /// # Errors
    ///
    /// If a pattern is invalid.
    pub fn new<S: AsRef<str>>(keep: &[S], drop: &[S]) -> Result<Self> {
        let compile = |list: &[S]| list.iter().map(|text| ColumnPattern::new(text.as_ref())).collect::<Result<_>>();
        Ok(Self { keep: compile(keep)?, drop: compile(drop)?, left_out: Vec::new() })
    }

    /// Keeps what one of these patterns matches.
    pub fn only(keep: impl Iterator<Item = ColumnPattern>) -> Self {
        Self { keep: keep.collect(), ..Self::default() }
    }

    /// The same without what one of these patterns matches.
    #[must_use]
    pub fn without(mut self, drop: impl Iterator<Item = ColumnPattern>) -> Self {
        self.drop.extend(drop);
        self
    }

    /// The same without the columns of the first level that have these names.
    #[must_use]
    pub fn without_columns(mut self, names: impl Iterator<Item = String>) -> Self {
        self.left_out.extend(names);
        self
    }

    /// Whether the filter keeps everything.
    pub fn keeps_all(&self) -> bool {
        self.keep.is_empty() && self.drop.is_empty() && self.left_out.is_empty()
    }

    /// The filter of a table whose columns have these lineages. What could be a column of another table is a path of columns here,
    /// if there is one: `muons/pt` means the branch `pt` below `muons`.
    #[must_use]
    pub fn of_table<'n>(&self, tree: &str, lineages: impl Iterator<Item = Vec<&'n str>>) -> Self {
        let mut filter = self.clone();
        let mut open: Vec<&mut ColumnPattern> = filter.keep.iter_mut().filter(|p| !p.applies_to(tree)).collect();
        if open.is_empty() {
            return filter;
        }
        for names in lineages.map(|lineage| column_names(&lineage)) {
            open.iter_mut().filter(|p| names.iter().any(|name| p.full.matches(name))).for_each(|p| p.parts.clear());
        }
        filter
    }

    /// Whether a column is kept. `lineage` is its own name and then those of its parents, up to the top: a pattern that matches
    /// one of its [names](column_names) applies to it.
    ///
    /// The caller must also keep the parents of a kept column.
    pub fn keeps(&self, tree: &str, lineage: &[&str]) -> bool {
        let names = column_names(lineage);
        let named = |p: &ColumnPattern| names.iter().any(|name| p.matches(tree, name));
        let mut applying = self.keep.iter().filter(|p| p.applies_to(tree)).peekable();
        (applying.peek().is_none() || applying.any(named)) && !self.drops_named(tree, lineage, &names)
    }

    /// Whether a column is dropped by its name, and not merely kept by none.
    pub fn drops(&self, tree: &str, lineage: &[&str]) -> bool {
        self.drops_named(tree, lineage, &column_names(lineage))
    }

    fn drops_named(&self, tree: &str, lineage: &[&str], names: &[String]) -> bool {
        let top = lineage.last().map_or("", |top| top.trim_end_matches('.'));
        let is_named = |p: &ColumnPattern| names.iter().any(|name| p.matches(tree, name));
        self.drop.iter().any(is_named) || self.left_out.iter().any(|name| name == top)
    }
}

#[cfg(test)]
mod tests;
