//! What users name in their inputs: columns, tables and entries, by names, patterns and ranges. What means nothing in any of the
//! inputs is most likely a slip, so it is refused with the names that there are, before any work. A rule of a file that several data
//! sets share, such as a layout, is only worth a word.

use std::collections::{BTreeMap, BTreeSet};

use dataset::glob::{ColumnPattern, NameFilter, TreePattern};
use dataset::layout::Layout;
use dataset::near::{no_match, no_such_entries, none_left};
use dataset::{Entries, EntryFilter};
use rootfile::{Error, Result, url};

use super::tables::{InputTable, Tables, tables_of};
use crate::plan::inputs::Input;

/// What one value of an option means.
enum Meaning {
    /// Columns.
    Columns(ColumnPattern),
    /// Columns by the names that the output gives them, too: those of an RNTuple have no dots.
    ColumnsOfOutput(ColumnPattern),
    /// Trees and RNTuples.
    Tables(TreePattern),
    /// Entries, of all tables or of those that match.
    Entries(Option<TreePattern>, Entries),
}

/// A value of an option, and whether it means something.
struct Asked {
    option: &'static str,
    text: String,
    meaning: Meaning,
    /// Whether it must mean something.
    must: bool,
    found: bool,
}

/// What a user has named, by the options that name it.
#[derive(Default)]
pub struct Wanted {
    asked: Vec<Asked>,
    /// Of all columns some must be left.
    filter: NameFilter,
}

/// A table of the inputs: its path, its entries in all inputs that were looked at, and the names of its columns.
#[derive(Default)]
struct Found {
    entries: BTreeMap<String, u64>,
    names: BTreeSet<(String, String)>,
    /// Further paths of columns, which are understood and not shown.
    other_paths: BTreeSet<(String, String)>,
}

/// What is looked for in inputs, one after the other.
pub(super) struct Search {
    asked: Vec<Asked>,
    filter: NameFilter,
    found: Found,
    /// How many of them could be read.
    readable: usize,
}

impl Wanted {
    fn add(&mut self, option: &'static str, text: &str, meaning: Meaning) {
        self.asked.push(Asked { option, text: text.to_owned(), meaning, must: true, found: false });
    }

    /// Columns by patterns.
    ///
    /// # Errors
    ///
    /// One of the texts is no pattern.
    pub fn columns(mut self, option: &'static str, texts: &[impl AsRef<str>]) -> Result<Self> {
        for text in texts.iter().map(AsRef::as_ref) {
            self.add(option, text, Meaning::Columns(ColumnPattern::new(text)?));
        }
        Ok(self)
    }

    /// Columns that are kept and dropped. What is dropped must leave some.
    ///
    /// # Errors
    ///
    /// One of the texts is no pattern.
    pub fn kept(mut self, keep: &[String], drop: &[String]) -> Result<Self> {
        self.filter = NameFilter::new(keep, drop)?;
        self.columns("keep", keep)?.columns("drop", drop)
    }

    /// There are new columns as well: of the others none need be left.
    #[must_use]
    pub fn beside_new_columns(self) -> Self {
        Self { filter: NameFilter::default(), ..self }
    }

    /// The columns before the `=` of texts such as `COLUMN=LIMIT`.
    ///
    /// # Errors
    ///
    /// One of them is no pattern.
    pub fn columns_before_sign(self, option: &'static str, texts: &[String]) -> Result<Self> {
        let named: Vec<&str> = texts.iter().filter_map(|text| Some(text.rsplit_once('=')?.0)).collect();
        self.columns(option, &named)
    }

    /// Columns by compiled patterns.
    #[must_use]
    pub fn patterns<'a>(mut self, option: &'static str, all: impl IntoIterator<Item = &'a ColumnPattern>) -> Self {
        for pattern in all {
            self.add(option, pattern.as_str(), Meaning::Columns(pattern.clone()));
        }
        self
    }

    /// Entries that are kept, of all tables or of those that match.
    #[must_use]
    pub fn entries(mut self, filter: &EntryFilter) -> Self {
        for (tree, entries) in &filter.entries {
            let text = tree.as_ref().map_or_else(|| entries.to_string(), |tree| format!("{}={entries}", tree.as_str()));
            self.add("entries", &text, Meaning::Entries(tree.clone(), entries.clone()));
        }
        self
    }

    /// The first entry that is kept.
    #[must_use]
    pub fn first_entry(mut self, first: u64) -> Self {
        self.add("first", &first.to_string(), Meaning::Entries(None, (first..u64::MAX).into()));
        self
    }

    /// The rules of a layout for some trees and columns.
    #[must_use]
    pub fn layout(self, layout: &Layout) -> Self {
        self.rules(layout, ["tree-set", "column-set"], true)
    }

    /// The same, as values of another option.
    #[must_use]
    pub fn layout_of(self, option: &'static str, layout: &Layout) -> Self {
        self.rules(layout, [option; 2], true)
    }

    /// The rules of a layout that several data sets may share: those that match nothing are only worth a word.
    #[must_use]
    pub fn shared_layout(self, layout: &Layout) -> Self {
        self.rules(layout, ["layout"; 2], false)
    }

    fn rules(mut self, layout: &Layout, [tree, column]: [&'static str; 2], must: bool) -> Self {
        let before = self.asked.len();
        layout.trees().iter().for_each(|(p, _)| self.add(tree, p.as_str(), Meaning::Tables(p.clone())));
        layout.columns().iter().for_each(|(p, _)| self.add(column, p.as_str(), Meaning::ColumnsOfOutput(p.clone())));
        self.asked.iter_mut().skip(before).for_each(|asked| asked.must = must);
        self
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Looks for all of it in the inputs, one after the other, until all is found. Returns a sentence for each rule of a shared file
    /// that the first input does not have.
    ///
    /// # Errors
    ///
    /// Something that must be there is in none of the inputs. Inputs that cannot be read are left to those who read them.
    pub fn check(self, inputs: &[Input]) -> Result<Vec<String>> {
        let mut search = self.search();
        for input in inputs {
            if search.is_done() {
                break;
            }
            match tables_of(input, Tables::All, false) {
                Ok(found) => search.look_at(&found.tables),
                // A server is not asked again for what it refuses.
                Err(e) if inputs.len() == 1 && url(&input.path).is_some() => return Err(e),
                Err(_) => {}
            }
        }
        search.finish(inputs)
    }

    /// Begins to look for all of it.
    pub(super) fn search(self) -> Search {
        Search { asked: self.asked, filter: self.filter, found: Found::default(), readable: 0 }
    }

    /// The same for columns of a table that is not in a file.
    ///
    /// # Errors
    ///
    /// Something that must be there is none of them.
    pub fn check_columns(mut self, table: &str, columns: impl IntoIterator<Item = String>) -> Result<()> {
        let mut found = Found::default();
        found.entries.insert(table.to_owned(), 1);
        found.names.extend(columns.into_iter().map(|name| (table.to_owned(), name)));
        self.asked.iter_mut().for_each(|asked| asked.found = found.has(asked));
        match self.asked.iter().find(|asked| asked.must && !asked.found) {
            Some(asked) => Err(found.lacks(asked)),
            None => Ok(()),
        }
    }
}

impl Search {
    /// Whether what must be there is.
    pub fn is_done(&self) -> bool {
        self.readable > 0
            && !self.asked.iter().any(|asked| asked.must && !asked.found)
            && self.found.leaves(&self.filter)
    }

    /// Looks at the tables of an input.
    pub fn look_at(&mut self, tables: &[InputTable]) {
        for InputTable { path, outline, .. } in tables {
            self.found.add(path, outline.entries, outline.names.iter().cloned());
            let other = outline.other_paths.iter().map(|other| (path.clone(), other.clone()));
            self.found.other_paths.extend(other);
        }
        self.readable += 1;
        let found = &self.found;
        self.asked.iter_mut().filter(|asked| !asked.found).for_each(|asked| asked.found = found.has(asked));
    }

    /// A sentence for each rule of a shared file that the first input does not have.
    ///
    /// # Errors
    ///
    /// Something that must be there was in none of them.
    pub fn finish(self, inputs: &[Input]) -> Result<Vec<String>> {
        let Self { asked, filter, found, readable } = self;
        // A file without entries has none that could be meant.
        let is_empty = found.entries.values().all(|entries| *entries == 0);
        let missing = |asked: &&Asked| !(asked.found || is_empty && matches!(asked.meaning, Meaning::Entries(..)));
        // Those who read the inputs say what is wrong with them.
        if readable == 0 || found.entries.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(asked) = asked.iter().filter(missing).find(|asked| asked.must) {
            return Err(found.lacks(asked));
        }
        if !found.leaves(&filter) {
            return Err(none_left());
        }
        let first = inputs.first().map(|input| input.path.display().to_string()).unwrap_or_default();
        let words = asked.iter().filter(missing).map(|asked| {
            let (what, section) = match asked.meaning {
                Meaning::Tables(_) => ("tree or RNTuple", "tree"),
                _ => ("column", "column"),
            };
            format!("layout: [{section}.{:?}] matches no {what} of {first}", asked.text)
        });
        Ok(words.collect())
    }
}

impl Found {
    fn add(&mut self, path: &str, entries: u64, names: impl Iterator<Item = String>) {
        let all = self.entries.entry(path.to_owned()).or_default();
        *all = all.saturating_add(entries);
        self.names.extend(names.map(|name| (path.to_owned(), name)));
    }

    fn has(&self, asked: &Asked) -> bool {
        match &asked.meaning {
            Meaning::Columns(pattern) => self.has_column(pattern, false),
            Meaning::ColumnsOfOutput(pattern) => self.has_column(pattern, true),
            Meaning::Tables(pattern) => self.entries.keys().any(|path| pattern.matches(path)),
            Meaning::Entries(tree, entries) => self
                .entries
                .iter()
                .filter(|(path, _)| tree.as_ref().is_none_or(|tree| tree.matches(path)))
                .any(|(_, all)| *all > 0 && entries.should_select(*all)),
        }
    }

    /// Whether a filter keeps a column of any table, if there is any.
    fn leaves(&self, filter: &NameFilter) -> bool {
        let keeps = |(table, name): &(String, String)| filter.keeps(table, &name.rsplit('/').collect::<Vec<_>>());
        filter.keeps_all() || self.names.is_empty() || self.names.iter().chain(&self.other_paths).any(keeps)
    }

    /// Whether a pattern matches a column, by its name or by the one that the output gives it.
    fn has_column(&self, pattern: &ColumnPattern, in_output: bool) -> bool {
        // Who names a column and all below it need not know whether there is anything below it.
        let above = pattern.as_str().strip_suffix("/**").and_then(|above| ColumnPattern::new(above).ok());
        let is_meant = |table: &str, name: &str| {
            pattern.matches(table, name) || above.as_ref().is_some_and(|above| above.matches(table, name))
        };
        self.names.iter().chain(&self.other_paths).any(|(table, name)| {
            is_meant(table, name) || in_output && is_meant(table, &name.replace(|c: char| !c.is_alphanumeric(), "_"))
        })
    }

    /// The error for what is not there.
    fn lacks(&self, asked: &Asked) -> Error {
        let paths = || self.entries.keys().map(String::as_str);
        let listed = || paths().collect::<Vec<_>>().join(", ");
        match &asked.meaning {
            Meaning::Columns(_) | Meaning::ColumnsOfOutput(_) => {
                let what = match self.entries.len() {
                    0 | 1 => format!("column of {}", listed()),
                    _ => "column of any table".to_owned(),
                };
                no_match(asked.option, &asked.text, what, self.names.iter().map(|(_, name)| name.as_str()))
            }
            Meaning::Tables(_) => no_match(asked.option, &asked.text, "tree or RNTuple", paths()),
            Meaning::Entries(Some(tree), _) if !paths().any(|path| tree.matches(path)) => {
                no_match(asked.option, &asked.text, "tree or RNTuple", paths())
            }
            Meaning::Entries(..) => {
                let tables = self.entries.iter().map(|(path, all)| (path.as_str(), *all));
                no_such_entries(asked.option, &asked.text, tables)
            }
        }
    }
}
