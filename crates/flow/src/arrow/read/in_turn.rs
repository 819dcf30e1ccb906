//! The tables of files one after the other: each is opened by itself when its turn comes. `joined` opens all before any is read, since
//! it joins their columns; here a caller compares each with another one.

use std::sync::Arc;

use rootfile::{FilePool, Follow, OPEN_FILES, Result};

use super::dataset::Dataset;
use super::joined::{JoinedTable, are_parquet, have_same_columns, of_file, of_parquet};
use crate::plan::inputs::Input;

impl JoinedTable {
    /// The table of each input, with the columns that its own file has. Each is opened when it is asked for. All files must be of one
    /// format, as for [`JoinedTable::open`].
    pub fn in_turn(inputs: Vec<Input>, follow: Follow) -> impl Iterator<Item = Result<Self>> + Send {
        let pool = FilePool::following(OPEN_FILES, follow);
        let first = inputs.first().cloned();
        inputs.into_iter().map(move |input| open(&input, first.as_ref(), &pool))
    }

    /// Whether another table has the same columns under the same names, and the same aliases.
    pub fn is_like(&self, other: &Self) -> bool {
        let aliases = |table: &Self| {
            let mut aliases = table.aliases();
            aliases.sort_unstable();
            aliases
        };
        let alike = |(ours, theirs)| have_same_columns(ours, theirs) && aliases(self) == aliases(other);
        self.alike().zip(other.alike()).is_some_and(alike)
    }

    /// Closes its files, and those of its friends. What is read next opens them again.
    pub fn release(&self) {
        self.datasets().flat_map(Dataset::files).for_each(|file| file.release());
    }
}

/// Opens the table of an input, of the format of the first one.
fn open(input: &Input, first: Option<&Input>, pool: &Arc<FilePool>) -> Result<JoinedTable> {
    let dataset = match are_parquet(first.into_iter().chain([input]))? {
        true => of_parquet(input)?,
        false => of_file(input, &Arc::new(pool.open(&input.path)?))?,
    };
    Ok(JoinedTable::from(dataset))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rootfile::ErrorKind;

    use super::*;

    #[test]
    fn a_file_is_opened_when_it_is_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let input = |name: &str| Input { path: dir.path().join(name), tree: None };
        let mut tables = JoinedTable::in_turn(vec![input("a.root"), input("b.root")], Follow::default());
        // The second is there only when its turn comes.
        let why = tables.next().unwrap().err().unwrap();
        assert_eq!(why.path().map(PathBuf::from), Some(dir.path().join("a.root")));
        std::fs::write(dir.path().join("b.root"), "root").unwrap();
        let why = tables.next().unwrap().err().unwrap();
        assert_eq!(why.path().map(PathBuf::from), Some(dir.path().join("b.root")));
        assert!(!matches!(why.kind(), ErrorKind::Io(_)), "{why}");
        assert!(tables.next().is_none());
    }
}
