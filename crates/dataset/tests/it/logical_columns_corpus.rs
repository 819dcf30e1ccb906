//! Every tree of the corpus as logical columns: assembling the arrays of branches and projecting the result gives the same
//! arrays, and a split branch has the type of the unsplit one. Prints how many top-level branches can be assembled, and
//! why the others cannot.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, FieldRef};
use dataset::assemble::LogicalColumn;
use dataset::decode::ColumnPlan;
use dataset::tree::model::{BranchKind, Tree};
use rootfile::RootFile;

use crate::corpus::files;
use crate::corpus::logical::{arrays, logical, trees};

/// Entries that are decoded of each branch.
const ENTRIES: u64 = 300;

/// Why columns of several branches are not assembled.
const UNDESCRIBED: &str = "is not described in the file";

#[derive(Default)]
struct Table {
    /// Columns of one branch, and how many of them are bytes.
    single: usize,
    bytes: usize,
    /// Columns of several branches.
    split: usize,
    /// Columns that were assembled and projected without a difference.
    equal: usize,
    opaque: BTreeMap<String, Vec<String>>,
    /// Columns of the unsplit branch's type, and those that differ only in arrays whose class entries name.
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
    fn column(&mut self, at: &str, file: &RootFile, tree: &Tree, column: &LogicalColumn, plans: &[ColumnPlan]) {
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
        let (columns, plans) = logical(&file, &tree);
        let found: usize = columns.iter().map(|column| column.branches().len()).sum();
        let outside = plans.len() - found;
        assert!(outside == 0, "{name} {at}: {outside} columns belong to no logical column");
        for column in columns.iter().filter(|column| column.branches() != [column.top()]) {
            if column.opaque().is_some_and(|why| why.ends_with(UNDESCRIBED)) {
                continue;
            }
            let Some(unsplit) = unsplit(&file, &mut tree, column.top()) else { continue };
            let assembled = column.field().data_type();
            if *assembled == unsplit {
                table.as_unsplit += 1;
            } else if agree(assembled, &unsplit) {
                table.learned += 1;
            } else {
                table.otherwise.push(format!("{name} {at} {}: {assembled} not {unsplit}", column.field().name()));
            }
        }
        for column in &columns {
            table.column(&format!("{name} {at}"), &file, &tree, column, &plans);
        }
    }
}

#[test]
fn assembling_and_projecting_gives_the_same_arrays() {
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
    let known = |why: &String| why.ends_with(UNDESCRIBED) || why.ends_with("holds objects that are not decoded");
    assert!(table.opaque.keys().all(known), "{:#?}", table.opaque.keys());
    let counts = [table.single, table.bytes, table.split, opaque, table.as_unsplit, table.learned, table.equal];
    assert_eq!(counts, [12_840, 24, 1072, 56, 1020, 20, 13_949]);
    // As `decode_corpus` has it: classes with streamers of their own, which their infos do not show.
    assert_eq!(table.unread.len(), 18, "{:#?}", table.unread);
}
