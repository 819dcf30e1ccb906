//! A container that the readers do not know: batches of Arrow arrays, some columns of which are numbers in a file. Behind the trait
//! of containers it is read like a tree or an RNTuple: whole, selected, in steps, and without its arrays; it is rewritten as both,
//! and compared with them.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, new_empty_array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::{concat, concat_batches};
use arrow_select::take::take;
use dataset::EntrySet;
use dataset::codecs::Codecs;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::table::piece::{Piece, Record, Stored};
use dataset::table::{ColumnPieces, FileRange, Loaded, Node, Runs, StoredTable, TableColumn, TableSchema};
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, Request, batches, drain, read};
use flow::{Budget, ContentOptions, Options, VerifyOptions, rewrite_table, unwatched, verify_tables};
use rootfile::{Error, MemoryFile, RangeBytes, Result, Source};

/// Batches, each a cluster. The numbers of the first column are in a file.
struct BatchTable {
    batches: Vec<RecordBatch>,
    bounds: Vec<u64>,
    schema: TableSchema,
    columns: Vec<TableColumn>,
    /// The entries that were opened of the second column.
    opened: Arc<Mutex<Vec<Range<u64>>>>,
}

impl BatchTable {
    fn new(batches: Vec<RecordBatch>) -> (Self, MemoryFile) {
        let fields = batches[0].schema().fields().clone();
        let node = |field: &Arc<Field>| Node {
            name: field.name().clone(),
            title: String::new(),
            parent: None,
            type_name: String::new(),
            groups: false,
        };
        let nodes = fields.iter().map(node).collect();
        let columns = fields.iter().enumerate();
        let columns = columns.map(|(node, field)| TableColumn::Array { field: Arc::clone(field), node }).collect();
        let mut bounds = vec![0];
        bounds.extend(batches.iter().scan(0, |end, batch| {
            *end += batch.num_rows() as u64;
            Some(*end)
        }));
        let numbers = batches.iter().flat_map(|batch| numbers(batch.column(0)).values().to_vec());
        let file = MemoryFile(numbers.flat_map(i64::to_le_bytes).collect());
        let schema = TableSchema::Plain { name: "batches".to_owned(), title: "of Arrow".to_owned(), nodes };
        (Self { batches, bounds, schema, columns, opened: Arc::default() }, file)
    }
}

impl StoredTable for BatchTable {
    fn schema(&self) -> &TableSchema {
        &self.schema
    }

    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn clusters(&self) -> Vec<u64> {
        self.bounds.clone()
    }

    fn memory(&self) -> u64 {
        1 << 10
    }

    fn pieces(&self, column: usize) -> ColumnPieces {
        let mut found = ColumnPieces::default();
        for (number, bound) in self.bounds.windows(2).enumerate() {
            let (first_entry, entries) = (bound[0], bound[1] - bound[0]);
            let len = if column == 0 { entries * 8 } else { 0 };
            let stored = match column {
                0 => Stored::Record(Record { file: 0, offset: first_entry * 8, len: u32::try_from(len).unwrap() }),
                _ => Stored::Embedded { file: 0, number: u32::try_from(number).unwrap() },
            };
            found.pieces.push(Piece { first_entry, entries, stored });
            found.packed_len += len;
            found.raw_len += len;
        }
        found
    }

    fn ranges(&self, _: usize, piece: &Piece, entries: &mut Runs<'_>) -> Result<Vec<FileRange>> {
        let ranges = entries.map(|run| (0, run.start * 8..run.end * 8));
        Ok(if piece.record().is_some() { ranges.collect() } else { Vec::new() })
    }

    fn open(
        &self,
        column: usize,
        piece: &Piece,
        entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        _: &mut Codecs,
    ) -> Result<Loaded> {
        let mut parts: Vec<ArrayRef> = Vec::new();
        for run in entries {
            parts.push(match piece.stored {
                Stored::Record(_) => {
                    let bytes = bytes.get(0, run.start * 8..run.end * 8, &mut std::iter::empty())?;
                    let numbers = bytes.chunks_exact(8).map(|number| i64::from_le_bytes(number.try_into().unwrap()));
                    Arc::new(Int64Array::from_iter_values(numbers))
                }
                Stored::Embedded { number, .. } => {
                    self.opened.lock().unwrap().push(run.clone());
                    let local = |entry: u64| usize::try_from(entry - piece.first_entry).unwrap();
                    let array = self.batches[number as usize].column(column);
                    array.slice(local(run.start), local(run.end) - local(run.start))
                }
                _ => return Err(Error::request("no such piece")),
            });
        }
        let parts: Vec<&dyn Array> = parts.iter().map(|part| &**part).collect();
        Ok(Loaded::Array(match parts.as_slice() {
            [] => new_empty_array(self.columns[column].field().data_type()),
            parts => concat(parts).unwrap(),
        }))
    }
}

fn numbers(array: &ArrayRef) -> &Int64Array {
    array.as_any().downcast_ref().unwrap()
}

/// Batches of several lengths, and all of them in one.
fn table() -> (Vec<RecordBatch>, RecordBatch) {
    let fields = vec![Field::new("n", DataType::Int64, false), Field::new("text", DataType::Utf8, true)];
    let schema = Arc::new(Schema::new(fields));
    let batch = |range: Range<i64>| {
        let text = range.clone().map(|n| (n % 3 != 0).then(|| "x".repeat(usize::try_from(n % 5).unwrap())));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(range.clone().map(|n| n * n))),
            Arc::new(text.collect::<StringArray>()),
        ];
        RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
    };
    let batches: Vec<RecordBatch> = [0..100, 100..1000, 1000..1001, 1001..5000].map(batch).into();
    let all = concat_batches(&schema, &batches).unwrap();
    (batches, all)
}

fn dataset() -> (Dataset, RecordBatch, Arc<Mutex<Vec<Range<u64>>>>) {
    let (batches, all) = table();
    let (table, file) = BatchTable::new(batches);
    let opened = Arc::clone(&table.opened);
    (Dataset::of_table(Box::new(table), vec![Arc::new(file) as Arc<dyn Source>]), all, opened)
}

fn request(columns: Vec<usize>, entries: Range<u64>, threads: usize) -> Request<'static> {
    Request { columns, entries, selection: None, budget: Budget::new(64 << 20, threads), progress: &unwatched }
}

#[test]
fn it_is_read_whole_and_in_part() {
    let (dataset, all, _) = dataset();
    assert_eq!((dataset.names(), dataset.entries()), (("batches", "of Arrow"), 5000));
    assert_eq!(dataset.clusters(), [0, 100, 1000, 1001, 5000]);
    assert_eq!(dataset.default_columns(), [0, 1]);
    for threads in [1, 3] {
        for entries in [0..5000, 50..1500, 1000..1001, 7..7] {
            let found = read(&dataset, &request(vec![0, 1], entries.clone(), threads)).unwrap().batch;
            let (start, end) = (usize::try_from(entries.start).unwrap(), usize::try_from(entries.end).unwrap());
            assert_eq!(found.columns(), all.slice(start, end - start).columns(), "{entries:?}");
        }
    }
    let found = read(&dataset, &request(vec![1], 0..100, 1)).unwrap().batch;
    assert_eq!(found.column(0), &all.column(1).slice(0, 100));
}

#[test]
fn only_selected_entries_are_opened() {
    let (dataset, all, opened) = dataset();
    let entries = [3, 4, 5, 998, 4000];
    let selection = Some(EntrySet::sorted(entries).unwrap());
    let found = read(&dataset, &Request { selection, ..request(vec![0, 1], 0..5000, 2) }).unwrap().batch;
    let indices = arrow_array::UInt64Array::from_iter_values(entries);
    for (found, all) in found.columns().iter().zip(all.columns()) {
        assert_eq!(found, &take(all, &indices, None).unwrap());
    }
    let mut opened = opened.lock().unwrap().clone();
    opened.sort_by_key(|run| run.start);
    assert_eq!(opened, [3..6, 998..999, 4000..4001]);
}

#[test]
fn it_is_read_in_steps_and_drained() {
    let (dataset, all, _) = dataset();
    let mut at = 0;
    for batch in batches(&dataset, request(vec![0, 1], 0..5000, 2), BatchSize::Entries(700)) {
        let batch = batch.unwrap().batch;
        assert_eq!(batch.columns(), all.slice(at, batch.num_rows()).columns());
        at += batch.num_rows();
    }
    assert_eq!(at, 5000);
    let (entries, spent) = drain(&dataset, &request(vec![0, 1], 0..5000, 2), &|_| ()).unwrap();
    assert_eq!((entries, spent.len()), (5000, 2));
}

#[test]
fn an_array_of_another_type_is_refused() {
    let (batches, _) = table();
    let (mut table, file) = BatchTable::new(batches);
    let field = Arc::new(Field::new("text", DataType::Int64, true));
    table.columns[1] = TableColumn::Array { field, node: 1 };
    let dataset = Dataset::of_table(Box::new(table), vec![Arc::new(file)]);
    let error = read(&dataset, &request(vec![1], 0..10, 1)).unwrap_err().to_string();
    assert!(error.contains("column text: values of type Utf8 for a column of type Int64"), "{error}");
}

#[test]
fn it_becomes_a_tree_and_an_rntuple() {
    let folder = tempfile::tempdir().unwrap();
    for container in ["ttree", "rntuple"] {
        let output = folder.path().join(format!("{container}.root"));
        for (threads, entries) in [(1, 0..5000u64), (2, 0..5000), (2, 98..1002)] {
            let (dataset, all, _) = dataset();
            let options = Options {
                layout: Layout::from_toml(&format!("container = \"{container}\"")).unwrap(),
                content: ContentOptions { entries: entries.clone().into(), ..ContentOptions::default() },
                budget: Budget::new(64 << 20, threads),
                overwrite: true,
                ..Options::default()
            };
            // A text is missing where the number can be divided by three.
            let why = rewrite_table(dataset, "dir/batches", &output, &options, &unwatched).unwrap_err().to_string();
            assert!(why.contains("column text: has missing values"), "{why}");
            let options = Options {
                content: ContentOptions { filter: NameFilter::new(&[], &["text"]).unwrap(), ..options.content },
                ..options
            };
            let (dataset, ..) = self::dataset();
            let done = rewrite_table(dataset, "dir/batches", &output, &options, &unwatched).unwrap();
            assert_eq!((done.tables[0].input_entries, done.tables[0].entries), (5000, entries.end - entries.start));
            let written =
                Dataset::open(&["dir/batches"].map(|tree| Input { path: output.clone(), tree: Some(tree.to_owned()) }))
                    .unwrap();
            assert_eq!(written.container(), Some(container.parse().unwrap()));
            let found = read(&written, &request(vec![0], 0..5000, 1)).unwrap().batch;
            let (start, end) = (usize::try_from(entries.start).unwrap(), usize::try_from(entries.end).unwrap());
            assert_eq!(found.column(0), &all.column(0).slice(start, end - start));
            // Its clusters are those of the batches.
            let bounds =
                [0, 100, 1000, 1001, 5000u64].map(|bound| bound.clamp(entries.start, entries.end) - entries.start);
            let mut bounds = bounds.to_vec();
            bounds.dedup();
            assert_eq!(written.clusters(), bounds);
        }
    }
}

#[test]
fn it_is_compared_with_what_is_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    for container in ["ttree", "rntuple"] {
        let output = folder.path().join(format!("{container}.root"));
        let options = Options {
            layout: Layout::from_toml(&format!("container = \"{container}\"")).unwrap(),
            content: ContentOptions { filter: NameFilter::new(&[], &["text"]).unwrap(), ..ContentOptions::default() },
            ..Options::default()
        };
        rewrite_table(dataset().0, "batches", &output, &options, &unwatched).unwrap();
        let written = Dataset::open(&[Input { path: output, tree: None }]).unwrap();
        let verified =
            |table: &Dataset, options: &VerifyOptions| verify_tables([table, &written], options, &unwatched).unwrap();
        let without_text =
            VerifyOptions { filter: NameFilter::new(&[], &["text"]).unwrap(), ..VerifyOptions::default() };
        let verdict = verified(&dataset().0, &without_text);
        assert!(verdict.equal, "{:?}", verdict.differences);
        assert_eq!((verdict.trees[0].entries, verdict.trees[0].by_value), (5000, 1));
        // The text is only in the batches.
        let differences = verified(&dataset().0, &VerifyOptions::default()).differences;
        assert_eq!(differences[0].to_string(), "table batches, column text: only the first side has it");
        assert!(verified(&dataset().0, &VerifyOptions { common: true, ..VerifyOptions::default() }).equal);
        // One number is another one.
        let (batches, _) = table();
        let (changed, mut file) = BatchTable::new(batches);
        file.0[8 * 777] ^= 1;
        let changed = Dataset::of_table(Box::new(changed), vec![Arc::new(file)]);
        let differences = verified(&changed, &without_text).differences;
        assert_eq!(differences.len(), 1);
        assert_eq!((differences[0].branch.as_deref(), differences[0].entry), (Some("n"), Some(777)));
        let some = VerifyOptions { entries: (0..777).into(), ..without_text };
        assert_eq!(verified(&changed, &some).differences[0].to_string(), "table batches: has 777 entries and 5000");
    }
}
