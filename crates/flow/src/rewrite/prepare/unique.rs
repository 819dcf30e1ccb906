//! Entries that have the key of an earlier one, in each table of a rewrite that has the columns of the key: they are left out, or refuse the
//! rewrite. Other selections come first.

use dataset::glob::NameFilter;
use dataset::table::Join;
use rootfile::{Error, Hint, Result};

use crate::execute::budget::Budget;
use crate::keys::{DuplicateKeys, RepeatedEntries, columns::KeyColumns, repeated_entries};
use crate::rewrite::options::{ContentOptions, Unique};
use crate::select::{Define, OpenColumns, SourceTree, TreeSelection, refused};

/// The keys of the tables of a rewrite.
pub(super) struct UniqueKeys<'a> {
    asked: Option<&'a Unique>,
    /// Columns that the key may name.
    defines: &'a [Define],
    budget: Budget,
    found: Vec<DuplicateKeys>,
    /// Whether a table is left out, which may have had the columns.
    has_left_out: bool,
    /// Why a table does not have the columns.
    lacking: Option<Error>,
}

impl<'a> UniqueKeys<'a> {
    pub fn new(content: &'a ContentOptions, budget: Budget) -> Self {
        let (asked, defines) = (content.unique.as_ref(), content.defines.as_slice());
        Self { asked, defines, budget, found: Vec::new(), has_left_out: false, lacking: None }
    }

    /// Refuses a tree that has the columns of the key in some inputs only: where inputs are joined though they differ, the entries of the
    /// others would get keys that they do not have, or the tree none.
    pub fn refuse_gaps(&self, tree: &SourceTree<'_>) -> Result<()> {
        let (Some(asked), false) = (self.asked, tree.joining.schema == Join::Strict) else { return Ok(()) };
        let (mut has_any, mut without) = (false, None);
        for input in tree.inputs {
            let SourceTree { path, joining, budget, .. } = *tree;
            let alone = SourceTree { inputs: std::slice::from_ref(input), path, joining, budget };
            match KeyColumns::open(path, &|filter| alone.open(filter), &asked.key, self.defines)? {
                Ok(_) => has_any = true,
                Err(_) if alone.open(&NameFilter::default())?.entries() == 0 => {}
                Err(_) => without = without.or(Some(input.1.name())),
            }
        }
        let Some(file) = without.filter(|_| has_any) else { return Ok(()) };
        let (hint, key) = (Hint::named(asked.key.option()), &asked.key);
        let message = format!("{hint} {key}: the tree lacks a column of the key here, and has it in other inputs");
        Err(Error::request(format!("{message}; leave this file out, or choose another key"))
            .hint(hint)
            .file(file)
            .object(tree.path))
    }

    /// The selection in a table without entries that repeat a key.
    pub fn for_table(&mut self, path: &str, open: OpenColumns<'_>, selected: TreeSelection) -> Result<TreeSelection> {
        let Some(asked) = self.asked else { return Ok(selected) };
        let columns = match KeyColumns::open(path, open, &asked.key, self.defines).map_err(|e| e.object(path))? {
            Ok(columns) => columns,
            Err(lacking) => {
                self.lacking.get_or_insert_with(|| refused(&lacking, asked.key.option()).object(path));
                return Ok(selected);
            }
        };
        let entries = selected.entries(columns.dataset().entries())?;
        let RepeatedEntries { unique, mut found } =
            repeated_entries(&columns, &entries, self.budget, asked.beside.as_deref()).map_err(|e| e.object(path))?;
        path.clone_into(&mut found.path);
        if let (true, Some(first)) = (asked.refuse, found.first()) {
            let drop = Hint::text("on-duplicate", "drop");
            let (count, all) = (found.duplicates, found.entries);
            let message = format!("{count} of {all} entries have the key of another: {first}; {drop} leaves them out");
            return Err(Error::request(message).hint(drop).object(path));
        }
        let is_all = found.duplicates == 0;
        self.found.push(found);
        Ok(if is_all { selected } else { selected.only(unique) })
    }

    /// Refuses a tree and an RNTuple of this path that no input has both: they are parts of one table, and the keys of each are looked at
    /// alone. Returns a note where an input has both.
    pub fn of_namesakes(&self, path: &str, both_in_one: bool) -> Result<Option<String>> {
        let Some(asked) = self.asked.filter(|_| self.found.iter().filter(|found| found.path == path).count() > 1)
        else {
            return Ok(None);
        };
        let (hint, key) = (Hint::named(asked.key.option()), &asked.key);
        if both_in_one {
            return Ok(Some(format!(
                "{path} is a tree and an RNTuple: keys ({key}) are compared in each of them alone"
            )));
        }
        let container = Hint::named("container");
        let message = format!(
            "{hint} {key}: is a tree in some inputs and an RNTuple in others, whose keys are not compared: rewrite some of them with \
             {container} first"
        );
        Err(Error::request(message).hint(hint).hint(container).object(path))
    }

    /// How many tables it has something about.
    pub fn told(&self) -> usize {
        self.found.len()
    }

    /// Forgets all but so many: a table does not get to the output after all.
    pub fn leave_out(&mut self, told: usize) {
        self.found.truncate(told);
        self.has_left_out = true;
    }

    /// What was found in each table. Fails if none has the columns.
    pub fn finish(self) -> Result<Vec<DuplicateKeys>> {
        match (self.asked.filter(|_| !self.has_left_out), self.lacking) {
            (Some(_), Some(lacking)) if self.found.is_empty() => Err(lacking),
            (Some(asked), None) if self.found.is_empty() => {
                let hint = Hint::named(asked.key.option());
                Err(Error::request(format!("{hint} {}: there is no tree", asked.key)).hint(hint))
            }
            _ => Ok(self.found),
        }
    }
}
