//! Every tree of the corpus as whole columns: the arrays of branches put together and taken apart again are the same,
//! and trees that hold the same, split and unsplit, have the same whole columns. Prints how many top-level branches
//! are whole, and why the others are not.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, FieldRef};
use dataset::decode::ColumnPlan;
use dataset::tree::model::{BranchKind, Tree};
use dataset::whole::WholeColumn;
use rootfile::RootFile;

mod corpus;

use corpus::files;
use corpus::wholes::{arrays, trees, whole};

/// Entries that are decoded of each branch.
const ENTRIES: u64 = 300;

/// Why columns of several branches are not put together.
const UNDESCRIBED: &str = "is not described in the file";

#[derive(Default)]
struct Table {
    /// Columns of one branch, of which those that are bytes.
    single: usize,
    bytes: usize,
    /// Columns of several branches.
    split: usize,
    /// Those that were put together and taken apart.
    equal: usize,
    opaque: BTreeMap<String, Vec<String>>,
    /// Those whose type is that of the unsplit branch, and those where it is but for arrays of which only entries say
    /// what they hold.
    as_unsplit: usize,
    learned: usize,
    otherwise: Vec<String>,
    unread: Vec<String>,
    different: Vec<String>,
}

/// The type that the branch would have if it were not split.
fn unsplit(file: &RootFile, tree: &mut Tree, top: usize) -> Option<DataType> {
    let BranchKind::Element(element) = &mut tree.branches[top].kind else { return None };
    let before = (element.element_type, element.element_id);
    (element.element_type, element.element_id) = (0, -1);
    let plan = ColumnPlan::new(tree, top, file.infos());
    let BranchKind::Element(element) = &mut tree.branches[top].kind else { return None };
    (element.element_type, element.element_id) = before;
    (before.1 < 0).then(|| plan.field().data_type().clone())
}

/// Whether types agree, but for arrays of which nothing is known.
fn agree(known: &DataType, unknown: &DataType) -> bool {
    match (known, unknown) {
        (_, DataType::LargeBinary) => true,
        (DataType::LargeList(a), DataType::LargeList(b)) => agree(a.data_type(), b.data_type()),
        (DataType::FixedSizeList(a, n), DataType::FixedSizeList(b, m)) => n == m && agree(a.data_type(), b.data_type()),
        (DataType::Struct(a), DataType::Struct(b)) => {
            let same = |(a, b): (&FieldRef, &FieldRef)| {
                let nullable = a.is_nullable() == b.is_nullable() || *b.data_type() == DataType::LargeBinary;
                a.name() == b.name() && nullable && agree(a.data_type(), b.data_type())
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (a, b) => a == b,
    }
}

impl Table {
    fn column(&mut self, at: &str, file: &RootFile, tree: &Tree, column: &WholeColumn, plans: &[ColumnPlan]) {
        let at = format!("{at} {}", column.field().name());
        if column.branches() == [column.top()] {
            self.single += 1;
            self.bytes += usize::from(column.opaque().is_some());
        } else if let Some(why) = column.opaque() {
            self.opaque.entry(why.to_owned()).or_default().push(at.clone());
        } else {
            self.split += 1;
        }
        let Some(arrays) = arrays(file, tree, column, plans, ENTRIES) else { return };
        let arrays = match arrays {
            Ok(arrays) => arrays,
            Err(why) => return self.unread.push(format!("{at}: {why}")),
        };
        let parts = match column.assemble(&arrays) {
            Ok(array) => {
                assert_eq!(array.data_type(), column.field().data_type(), "{at}");
                column.project(&array)
            }
            Err(e) => Err(e),
        };
        match parts {
            Err(e) => self.different.push(format!("{at}: {e}")),
            Ok(parts) => {
                let mut same = true;
                for ((branch, a), b) in column.branches().iter().zip(&arrays).zip(&parts) {
                    let name = tree.branches[*branch].name();
                    let tobject = name.ends_with("fUniqueID") || name.ends_with("fBits") || name.ends_with("TObject");
                    assert_eq!(a.data_type(), b.data_type(), "{at} {name}");
                    assert_eq!(a.len(), b.len(), "{at} {name}");
                    // Bitsets in a TClonesArray: ROOT writes nothing of them.
                    let unwritten = name.ends_with(".hltMatchBits") && a.as_list::<i64>().values().is_empty();
                    if a != b && !tobject && !unwritten {
                        same = false;
                        self.different.push(format!("{at}: {name}"));
                    }
                }
                self.equal += usize::from(same);
            }
        }
    }
}

fn file(table: &mut Table, path: &Path) {
    let Ok(file) = RootFile::open(path) else { return };
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    for (at, mut tree) in trees(&file) {
        let (columns, plans) = whole(&file, &tree);
        let found: usize = columns.iter().map(|column| column.branches().len()).sum();
        let outside = plans.len() - found;
        assert!(outside == 0, "{name} {at}: {outside} columns are part of no whole");
        for column in columns.iter().filter(|column| column.branches() != [column.top()]) {
            if column.opaque().is_some_and(|why| why.ends_with(UNDESCRIBED)) {
                continue;
            }
            let Some(unsplit) = unsplit(&file, &mut tree, column.top()) else { continue };
            let whole = column.field().data_type();
            if *whole == unsplit {
                table.as_unsplit += 1;
            } else if agree(whole, &unsplit) {
                table.learned += 1;
            } else {
                table.otherwise.push(format!("{name} {at} {}: {whole} not {unsplit}", column.field().name()));
            }
        }
        for column in &columns {
            table.column(&format!("{name} {at}"), &file, &tree, column, &plans);
        }
    }
}

#[test]
fn branches_are_put_together_and_taken_apart() {
    let Some(files) = files() else { return };
    let mut table = Table::default();
    for (path, _) in files {
        file(&mut table, &path);
    }
    let opaque: usize = table.opaque.values().map(Vec::len).sum();
    println!(
        "{} of one branch ({} bytes), {} of several, {opaque} to be kept as they are; {} the same again, {} different, {} unread",
        table.single,
        table.bytes,
        table.split,
        table.equal,
        table.different.len(),
        table.unread.len()
    );
    println!(
        "{} of the unsplit type, {} but for arrays, {} otherwise",
        table.as_unsplit,
        table.learned,
        table.otherwise.len()
    );
    for at in &table.otherwise {
        println!("OTHERWISE {at}");
    }
    for (why, at) in &table.opaque {
        println!("OPAQUE {:4} {why}   ({})", at.len(), at[0]);
    }
    for at in &table.unread {
        println!("UNREAD {at}");
    }
    for at in &table.different {
        println!("DIFFERENT {at}");
    }
    assert!(table.different.is_empty(), "{:#?}", table.different);
    assert!(table.otherwise.is_empty(), "{:#?}", table.otherwise);
    if std::env::var_os("BASKETRY_ONLY").is_some() {
        return;
    }
    // Bytes are kept only as they are: of what is not described in its file, and behind pointers to any class.
    let known = |why: &String| why.ends_with(UNDESCRIBED) || why.ends_with("holds objects that are only bytes");
    assert!(table.opaque.keys().all(known), "{:#?}", table.opaque.keys());
    let counts = [table.single, table.bytes, table.split, opaque, table.as_unsplit, table.learned, table.equal];
    assert_eq!(counts, [12_840, 24, 1072, 56, 1020, 20, 13_949]);
    // As tests/decode_corpus.rs has it: classes with streamers of their own, which their infos do not show.
    assert_eq!(table.unread.len(), 18, "{:#?}", table.unread);
}
