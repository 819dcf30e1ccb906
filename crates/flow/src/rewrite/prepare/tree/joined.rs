//! What tables that come beside a tree give it: branches whose baskets are in their files, and the descriptions of their classes.

use std::sync::Arc;

use dataset::meaning::{ClassConflicts, Meanings, Reach};
use dataset::tree::{is_tree_class, read_tree};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Hint, LocalFile, Result, RootFile};

use crate::rewrite::prepare::joined::{AlignedTable, JoinedTables};
use crate::table::tree::added::{AddedBranches, AddedFile, AddedTree};

/// The branches of tables that come beside a tree. Their files come behind so many others.
pub(crate) fn branches(joined: &JoinedTables<'_>, before: usize) -> Result<AddedBranches> {
    let mut added = AddedBranches::default();
    for (AlignedTable { file: path, tree, columns }, number) in joined.tables.iter().zip(before..) {
        let file = RootFile::open(path)?;
        let key =
            file.walk().directories.first().and_then(|top| top.keys.iter().find(|key| key.name == *tree).cloned());
        let key = key.ok_or_else(|| Error::request("internal error: there is no aligned tree"))?;
        let ranges = joined.firsts.iter().zip(joined.firsts.iter().skip(1)).enumerate();
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

/// Lets the files of the inputs describe the classes of tables that come beside as well. Refuses a class that both describe, and differently.
pub(crate) fn described(joined: &JoinedTables<'_>, files: Vec<RootFile>) -> Result<Vec<RootFile>> {
    let others = joined.tables.iter().map(Described::open).collect::<Result<Vec<_>>>()?;
    let with_classes = |file: RootFile| {
        let mut infos = file.infos().clone();
        for other in &others {
            if let Some(conflict) = ClassConflicts::between(&infos, &other.infos).among(&other.reach).first() {
                let drop = Hint::named("drop").that("leaves its columns out");
                let message = format!(
                    "{conflict}, unlike in a table that is joined: a file can describe a version of a class in one way only; {}",
                    drop.clause()
                );
                return Err(Error::request(message).hint(drop).file(file.name()));
            }
            infos.extend(&other.infos);
        }
        Ok(file.with_infos(Arc::new(infos)))
    };
    files.into_iter().map(with_classes).collect()
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
