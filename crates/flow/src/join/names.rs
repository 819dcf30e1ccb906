//! The names of columns of tables that are joined: columns of a key are there once, and names that collide get a suffix.

use std::collections::HashSet;

use dataset::glob::NameFilter;
use dataset::table::TableSchema;
use rootfile::{Error, Hint, Result};

use super::key::JoinKey;
use super::report::RenamedColumn;
use crate::arrow::read::Dataset;

/// The names of the columns of a table at the top.
pub(super) fn columns_of(dataset: &Dataset) -> Vec<String> {
    match dataset.schema() {
        TableSchema::Tree(tree) => tree.column_names().map(str::to_owned).collect(),
        TableSchema::Ntuple { schema, .. } => {
            schema.children(None).into_iter().filter_map(|id| Some(schema.fields.get(id)?.name.clone())).collect()
        }
        TableSchema::Plain { .. } => dataset.columns().iter().map(|column| column.field().name().clone()).collect(),
    }
}

/// The same of those that a filter keeps, wholly or in part, in a table of this path.
pub(super) fn kept_columns_of(dataset: &Dataset, path: &str, filter: &NameFilter) -> Vec<String> {
    let all = columns_of(dataset);
    if filter.keeps_all() {
        return all;
    }
    let lineages: Vec<Vec<&str>> = match dataset.schema() {
        TableSchema::Tree(tree) => (0..tree.branches.len()).map(|branch| tree.lineage(branch)).collect(),
        TableSchema::Ntuple { schema, .. } => schema.lineages().collect(),
        TableSchema::Plain { .. } => all.iter().map(|name| vec![name.as_str()]).collect(),
    };
    let filter = filter.of_table(path, lineages.iter().cloned());
    let kept = lineages.iter().filter(|lineage| filter.keeps(path, lineage));
    let tops: HashSet<&str> = kept.filter_map(|lineage| Some(lineage.last()?.trim_end_matches('.'))).collect();
    all.iter().filter(|name| tops.contains(name.as_str())).cloned().collect()
}

/// A name without the backquotes that it may have in an expression.
fn unquoted(name: &str) -> &str {
    name.strip_prefix('`').and_then(|name| name.strip_suffix('`')).unwrap_or(name)
}

/// The columns that a table gives.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GivenColumns {
    /// Those of the key, and those that are not asked for: it does not give them.
    pub left_out: Vec<String>,
    /// The names of the others in the output.
    pub names: Vec<String>,
    /// Those that have other names in the table.
    pub renamed: Vec<RenamedColumn>,
}

impl GivenColumns {
    /// The name in the output of a column of the table.
    fn name_of(&self, column: &str) -> Option<&str> {
        let renamed = self.renamed.iter().find(|renamed| renamed.column == column);
        let own = || self.names.iter().find(|name| *name == column);
        renamed.map(|renamed| &renamed.name).or_else(own).map(String::as_str)
    }
}

/// The columns of an output, table by table.
pub(super) struct OutputNames<'a> {
    taken: HashSet<String>,
    key: &'a JoinKey,
    /// All columns of the left table.
    left: HashSet<String>,
}

impl<'a> OutputNames<'a> {
    /// Beside these columns, of a left table with `left` ones.
    pub fn new(taken: Vec<String>, left: &[String], key: &'a JoinKey) -> Self {
        Self { taken: taken.into_iter().collect(), key, left: left.iter().cloned().collect() }
    }

    /// The columns of a table on the right with values that a column of the left one has.
    fn repeated(&self, table: usize) -> HashSet<&'a str> {
        let pairs = self.key.pairs(table).filter(|(name, other)| name == other || self.left.contains(unquoted(name)));
        pairs.map(|(_, other)| unquoted(other)).collect()
    }

    /// Adds the columns of a table on the right, with a suffix for those whose names others have.
    ///
    /// # Errors
    ///
    /// A name is taken, and there is no suffix, or with the suffix it is taken as well; or the table has nothing but its key.
    pub fn add(&mut self, table: usize, columns: &[String], suffix: Option<&str>) -> Result<GivenColumns> {
        let repeated = self.repeated(table);
        let mut given = GivenColumns::default();
        let mut collide = Vec::new();
        for column in columns {
            if repeated.contains(column.as_str()) {
                given.left_out.push(column.clone());
                continue;
            }
            if self.taken.insert(column.clone()) {
                given.names.push(column.clone());
                continue;
            }
            let Some(suffix) = suffix else {
                collide.push(column.as_str());
                continue;
            };
            let name = format!("{column}{suffix}");
            if !self.taken.insert(name.clone()) {
                let hint = Hint::named("suffix");
                let message =
                    format!("{column} and {name} are both columns of the output already; give another {hint}");
                return Err(Error::request(message).hint(hint));
            }
            given.names.push(name.clone());
            given.renamed.push(RenamedColumn { column: column.clone(), name });
        }
        if let [_, ..] = collide.as_slice() {
            let hint = Hint::text("suffix", "_right");
            let count = collide.len();
            let some = collide.iter().take(5).copied().collect::<Vec<_>>().join(", ");
            let more = if count > 5 { format!(" and {} more", count - 5) } else { String::new() };
            let message =
                format!("columns of several tables have the same names: {some}{more}; {hint} tells them apart");
            return Err(Error::request(message).hint(hint));
        }
        match given.names.is_empty() {
            true => {
                let (keep, drop) = (Hint::named("keep"), Hint::named("drop"));
                let message = format!(
                    "has no column to join beside those of the key {}; name another table as FILE:TREE, or let {keep} and {drop} leave some",
                    self.key.text(table)
                );
                Err(Error::request(message).hint(keep).hint(drop))
            }
            false => Ok(given),
        }
    }
}

impl OutputNames<'_> {
    /// The columns that a table has in another container, with their names in the output: those that it gives, and those that only this
    /// container has, such as counters of lists. Returns each with its name.
    ///
    /// # Errors
    ///
    /// A name is taken, and so is that with the suffix.
    pub fn made(
        &mut self,
        given: &GivenColumns,
        columns: &[String],
        suffix: Option<&str>,
    ) -> Result<Vec<(String, String)>> {
        let mut found = Vec::with_capacity(columns.len());
        for column in columns {
            let known = given.name_of(column).map(str::to_owned);
            let name = match known {
                Some(name) => name,
                None => self.free(column, suffix)?,
            };
            found.push((column.clone(), name));
        }
        Ok(found)
    }

    /// The name for a column that only a container has.
    fn free(&mut self, column: &str, suffix: Option<&str>) -> Result<String> {
        if self.taken.insert(column.to_owned()) {
            return Ok(column.to_owned());
        }
        // Nobody reads what is behind projected fields by its name.
        let is_hidden = column.starts_with("_collection");
        let mut name = match suffix {
            Some(suffix) => format!("{column}{suffix}"),
            None if is_hidden => format!("{column}_"),
            None => {
                let hint = Hint::text("suffix", "_right");
                let message = format!("two tables have a column {column}, which counts lists; {hint} tells them apart");
                return Err(Error::request(message).hint(hint));
            }
        };
        while is_hidden && self.taken.contains(&name) {
            name.push('_');
        }
        match self.taken.insert(name.clone()) {
            true => Ok(name),
            false => {
                let hint = Hint::named("suffix");
                Err(Error::request(format!(
                    "{column} and {name} are both columns of the output already; give another {hint}"
                ))
                .hint(hint))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn keys_are_there_once_and_others_get_a_suffix() {
        let (key, left) = (JoinKey::of(["run,event"]).unwrap(), texts(&["run", "event", "x", "y"]));
        let mut names = OutputNames::new(left.clone(), &left, &key);
        let given = names.add(0, &texts(&["run", "event", "x", "z"]), Some("_b")).unwrap();
        assert_eq!(given.left_out, ["run", "event"]);
        assert_eq!(given.names, ["x_b", "z"]);
        assert_eq!(given.renamed, [RenamedColumn { column: "x".to_owned(), name: "x_b".to_owned() }]);
        let why = names.add(0, &texts(&["x"]), Some("_b")).unwrap_err().to_string();
        assert!(why.contains("x and x_b are both"), "{why}");
        let why = names.add(0, &texts(&["run", "z", "y", "w"]), None).unwrap_err().to_string();
        assert!(why.contains("z, y") && why.contains("--suffix _right"), "{why}");
        assert!(names.add(0, &texts(&["event"]), None).is_err());
    }

    #[test]
    fn keys_of_other_names_are_left_out_where_the_left_has_their_values() {
        let (key, left) =
            (JoinKey::of(["run=Run,`a,b`=`c,d`,event % 3=rest"]).unwrap(), texts(&["run", "event", "a,b"]));
        let mut names = OutputNames::new(left.clone(), &left, &key);
        let given = names.add(0, &texts(&["Run", "c,d", "rest", "x"]), None).unwrap();
        assert_eq!(given.left_out, ["Run", "c,d"]);
        assert_eq!(given.names, ["rest", "x"]);

        let key = JoinKey::of(["run=Run=run,event=event=number"]).unwrap();
        let mut names = OutputNames::new(left.clone(), &left, &key);
        let columns = texts(&["Run", "run", "event", "number", "x"]);
        assert_eq!(names.add(0, &columns, Some("_b")).unwrap().left_out, ["Run", "event"]);
        assert_eq!(names.add(1, &columns, Some("_c")).unwrap().left_out, ["run", "number"]);
    }

    #[test]
    fn columns_of_a_container_alone_get_names_too() {
        let (key, left) = (JoinKey::of(["k"]).unwrap(), texts(&["k", "x", "npt", "_collection0"]));
        let mut names = OutputNames::new(left.clone(), &left, &key);
        let given = names.add(0, &texts(&["k", "x", "pt"]), Some("_b")).unwrap();
        let made = names.made(&given, &texts(&["x", "npt", "pt", "_collection0"]), Some("_b")).unwrap();
        let expected = [("x", "x_b"), ("npt", "npt_b"), ("pt", "pt"), ("_collection0", "_collection0_b")];
        assert_eq!(made, expected.map(|(own, name)| (own.to_owned(), name.to_owned())));
        assert_eq!(names.free("_collection0", None).unwrap(), "_collection0_");
        assert!(names.free("npt", None).unwrap_err().to_string().contains("--suffix"));
    }
}
