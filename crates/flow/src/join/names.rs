//! The names of columns of tables that are joined: columns of a key are there once, and names that collide get a suffix.

use std::collections::HashSet;

use dataset::table::TableSchema;
use rootfile::{Error, Hint, Result};

use super::report::RenamedColumn;
use crate::arrow::read::Dataset;
use crate::keys::KeyNames;

/// The names of the columns of a table at the top.
pub(super) fn columns_of(dataset: &Dataset) -> Vec<String> {
    let names: Vec<String> = match dataset.schema() {
        TableSchema::Tree(tree) => tree.column_names().map(str::to_owned).collect(),
        TableSchema::Ntuple { schema, .. } => {
            schema.children(None).into_iter().filter_map(|id| Some(schema.fields.get(id)?.name.clone())).collect()
        }
        TableSchema::Plain { .. } => dataset.columns().iter().map(|column| column.field().name().clone()).collect(),
    };
    names
}

/// The columns that a table gives.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GivenColumns {
    /// Those of the key, which it does not give.
    pub of_key: Vec<String>,
    /// The names of the others in the output.
    pub names: Vec<String>,
    /// Those that have other names in the table.
    pub renamed: Vec<RenamedColumn>,
}

/// The columns of an output, table by table.
pub(super) struct OutputNames<'a> {
    taken: HashSet<String>,
    key: &'a KeyNames,
}

impl<'a> OutputNames<'a> {
    /// Beside these columns.
    pub fn new(taken: impl IntoIterator<Item = String>, key: &'a KeyNames) -> Self {
        Self { taken: taken.into_iter().collect(), key }
    }

    /// Adds the columns of a table, with a suffix for those whose names others have.
    ///
    /// # Errors
    ///
    /// A name is taken, and there is no suffix, or with the suffix it is taken as well; or the table has nothing but its key.
    pub fn add(&mut self, columns: &[String], suffix: Option<&str>) -> Result<GivenColumns> {
        let mut given = GivenColumns::default();
        let mut collide = Vec::new();
        for column in columns {
            if self.key.texts().contains(column) {
                given.of_key.push(column.clone());
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
                let message = format!("{column} and {name} are both columns of the output already; give another {hint}");
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
            let message = format!("columns of several tables have the same names: {some}{more}; {hint} tells them apart");
            return Err(Error::request(message).hint(hint));
        }
        match given.names.is_empty() {
            true => Err(Error::request(format!("there is no column beside those of the key {}", self.key))),
            false => Ok(given),
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
        let key: KeyNames = "run,event".parse().unwrap();
        let mut names = OutputNames::new(texts(&["run", "event", "x", "y"]), &key);
        let given = names.add(&texts(&["run", "event", "x", "z"]), Some("_b")).unwrap();
        assert_eq!(given.of_key, ["run", "event"]);
        assert_eq!(given.names, ["x_b", "z"]);
        assert_eq!(given.renamed, [RenamedColumn { column: "x".to_owned(), name: "x_b".to_owned() }]);
        let why = names.add(&texts(&["x"]), Some("_b")).unwrap_err().to_string();
        assert!(why.contains("x and x_b are both"), "{why}");
        let why = names.add(&texts(&["run", "z", "y", "w"]), None).unwrap_err().to_string();
        assert!(why.contains("z, y") && why.contains("--suffix _right"), "{why}");
        assert!(names.add(&texts(&["event"]), None).is_err());
    }
}
