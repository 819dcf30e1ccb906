//! Tables that come beside one of the inputs: their entries align with those of all inputs, one behind the other. A tree gets branches whose
//! baskets are in the files of these tables, an RNTuple gets fields that are read there.

use std::path::PathBuf;
use std::sync::Arc;

use dataset::meaning::{ClassConflicts, Meanings, Reach};
use dataset::tree::{is_tree_class, read_tree};
use objects::process_ids::{self, ProcessId};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Hint, LocalFile, Result, RootFile};

use super::tables::{TableCycle, TablesPlanner};
use crate::plan::inputs::Input;
use crate::rewrite::convert::BesideColumns;
use crate::table::tree::added::{AddedBranches, AddedFile, AddedTree};

/// Tables that come beside one of the inputs.
#[derive(Clone, Copy)]
pub(crate) struct JoinedTables<'a> {
    /// The path of the table of the inputs.
    pub path: &'a str,
    pub tables: &'a [AlignedTable],
    /// The first entry of each input in these tables, and behind them the number of all.
    pub firsts: &'a [u64],
}

/// A table with the entries of all inputs, of the container of their table.
#[derive(Clone, Debug)]
pub(crate) struct AlignedTable {
    pub file: PathBuf,
    pub tree: String,
    /// Its columns, each with its name in it and that in the output.
    pub columns: Vec<(String, String)>,
}

impl AlignedTable {
    /// The name of a column in the output.
    fn name_of(&self, column: &str) -> String {
        let known = self.columns.iter().find(|(own, _)| own == column);
        known.map_or(column, |(_, name)| name.as_str()).to_owned()
    }
}

/// The error for columns beside those of an RNTuple that is to become a tree.
pub(crate) fn no_tree_of(path: &str) -> Error {
    let hint = Hint::named("container");
    let message = "columns come beside those of an RNTuple only if it stays one; `basketry rewrite --container ttree` makes a \
                   tree of the output";
    Error::unsupported(message).hint(hint).object(path)
}

impl JoinedTables<'_> {
    /// Their branches. Their files come behind so many others.
    fn branches(&self, before: usize) -> Result<AddedBranches> {
        let mut added = AddedBranches::default();
        for (AlignedTable { file: path, tree, columns }, number) in self.tables.iter().zip(before..) {
            let file = RootFile::open(path)?;
            let key =
                file.walk().directories.first().and_then(|top| top.keys.iter().find(|key| key.name == *tree).cloned());
            let key = key.ok_or_else(|| Error::request("internal error: there is no aligned tree"))?;
            let ranges = self.firsts.iter().zip(self.firsts.iter().skip(1)).enumerate();
            let of_input = |(number, (start, end)): (usize, (&u64, &u64))| {
                (number, AddedTree { key: key.clone(), entries: Some(*start..*end) })
            };
            let trees = ranges.map(of_input).collect();
            let renamed = columns.iter().filter(|(own, name)| own != name).cloned().collect();
            let source = Arc::new(LocalFile::open(path)?);
            added.files.push(AddedFile { file, trees, source, number: Some(number), renamed });
            added.names.extend(columns.iter().map(|(_, name)| name.clone()));
        }
        Ok(added)
    }

    /// The process identifiers of their files.
    pub fn process_ids(&self) -> Result<Vec<Vec<ProcessId>>> {
        self.tables.iter().map(|table| Ok(process_ids::read(&RootFile::open(&table.file)?))).collect()
    }

    /// Lets the files of the inputs describe the classes of these tables as well. Refuses a class that both describe, and differently.
    pub fn described(&self, files: Vec<RootFile>) -> Result<Vec<RootFile>> {
        let others = self.tables.iter().map(Described::open).collect::<Result<Vec<_>>>()?;
        let with_classes = |file: RootFile| {
            let mut infos = file.infos().clone();
            for other in &others {
                if let Some(conflict) = ClassConflicts::between(&infos, &other.infos).among(&other.reach).first() {
                    let message = format!(
                        "{conflict}, unlike in a table that is joined: a file can describe a version of a class in one way only; leave \
                         the column out"
                    );
                    return Err(Error::request(message).file(file.name()));
                }
                infos.extend(&other.infos);
            }
            Ok(file.with_infos(Arc::new(infos)))
        };
        files.into_iter().map(with_classes).collect()
    }
}

/// The classes that a table uses, and their descriptions.
struct Described {
    infos: StreamerInfos,
    reach: Reach,
}

impl Described {
    fn open(table: &AlignedTable) -> Result<Self> {
        let file = RootFile::open(&table.file)?;
        let mut reach = Reach::default();
        let keys = file.walk().directories.into_iter().flat_map(|directory| directory.keys);
        for key in keys.filter(|key| key.name == table.tree && is_tree_class(&file, &key.class)) {
            let tree = read_tree(&file, &key)?;
            let meanings = Meanings::new(&tree, file.infos());
            tree.branches.iter().for_each(|branch| meanings.reach_with_own_class(branch, &mut reach));
        }
        Ok(Self { infos: file.infos().clone(), reach })
    }
}

impl TablesPlanner<'_> {
    /// The branches that come beside those of a tree, if there are some.
    pub fn joined_branches(&self, cycle: &TableCycle<'_>) -> Result<Option<AddedBranches>> {
        let joined = self.planning.joined.filter(|joined| joined.path == cycle.path());
        joined.map(|joined| joined.branches(self.planning.files.len())).transpose()
    }

    /// The fields that come beside those of an RNTuple.
    pub fn joined_fields(&self, cycle: &TableCycle<'_>) -> Result<Vec<BesideColumns>> {
        let joined = self.planning.joined.filter(|joined| joined.path == cycle.path());
        let tables = joined.map_or(&[][..], |joined| joined.tables);
        let open = |table: &AlignedTable| {
            let input = Input { path: table.file.clone(), tree: Some(table.tree.clone()) };
            BesideColumns::open(input, &|column| table.name_of(column))
        };
        tables.iter().map(open).collect()
    }
}
