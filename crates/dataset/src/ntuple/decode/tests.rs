//! Fields of made schemas over made pages: what no file shows, and what no file should have.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::*;
use crate::ntuple::element::ColumnType::{self, *};
use crate::ntuple::element::{Elements, Encoding};
use crate::ntuple::model::*;
use rootfile::{Error, Result};

/// A schema, and the pages of clusters.
#[derive(Default)]
struct Made {
    fields: Vec<Field>,
    columns: Vec<Column>,
    aliases: Vec<AliasColumn>,
    list: PageList,
    /// For each cluster and column the bytes of its only page.
    bytes: Vec<Vec<Vec<u8>>>,
}

/// What a cluster has of a column.
enum Stored {
    Suppressed,
    Page(usize, Vec<u8>),
}

fn ends(ends: &[u64]) -> Stored {
    Stored::Page(ends.len(), ends.iter().flat_map(|end| end.to_le_bytes()).collect())
}

fn ints(values: &[i32]) -> Stored {
    Stored::Page(values.len(), values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn text(value: &str) -> Stored {
    Stored::Page(value.len(), value.as_bytes().to_vec())
}

fn switches(values: &[(u64, u32)]) -> Stored {
    let bytes = values.iter().flat_map(|(index, tag)| index.to_le_bytes().into_iter().chain(tag.to_le_bytes()));
    Stored::Page(values.len(), bytes.collect())
}

impl Made {
    fn field(&mut self, parent: Option<usize>, role: Role, name: &str, type_name: &str) -> usize {
        self.fields.push(Field::new(parent, role, name, type_name));
        self.fields.len() - 1
    }

    fn column(&mut self, field: usize, column_type: ColumnType) -> usize {
        let bits = *column_type.valid_bits().map_or(1..=1, |bits| bits).start();
        self.columns.push(Column {
            column_type,
            bits,
            field,
            representation: 0,
            first_element: None,
            range: None,
            in_extension: false,
            mantissa: None,
        });
        self.columns.len() - 1
    }

    /// A leaf with one column.
    fn leaf(&mut self, parent: Option<usize>, name: &str, type_name: &str, column: ColumnType) -> usize {
        let id = self.field(parent, Role::Leaf, name, type_name);
        self.column(id, column);
        id
    }

    fn collection(&mut self, parent: Option<usize>, name: &str, type_name: &str) -> usize {
        let id = self.field(parent, Role::Collection, name, type_name);
        self.column(id, Index64);
        id
    }

    fn cluster(&mut self, entries: u64, columns: Vec<Stored>) {
        let first_entry = self.list.clusters.iter().map(|cluster| cluster.entries).sum();
        let (mut ranges, mut all) = (Vec::new(), Vec::new());
        for stored in columns {
            let start = self.list.pages.len();
            let (compression, bytes) = match stored {
                Stored::Suppressed => (None, Vec::new()),
                Stored::Page(elements, bytes) => {
                    let locator = Locator::File { offset: 0, size: bytes.len() as u64 };
                    let elements = u32::try_from(elements).unwrap();
                    self.list.pages.push(Page { elements, has_checksum: false, locator });
                    (Some(0), bytes)
                }
            };
            ranges.push(ColumnRange { first_element: 0, compression, pages: start..self.list.pages.len() });
            all.push(bytes);
        }
        self.list.clusters.push(Cluster { first_entry, entries, columns: ranges });
        self.bytes.push(all);
    }

    fn schema(&self) -> Schema {
        Schema::new(self.fields.clone(), self.columns.clone(), self.aliases.clone(), Vec::new())
    }

    /// The entries of a field in these ranges of clusters.
    fn read(&self, field: usize, ranges: &[(usize, std::ops::Range<u64>)]) -> Result<ArrayRef> {
        self.builder(field, ranges)?.finish()
    }

    fn builder(&self, field: usize, ranges: &[(usize, std::ops::Range<u64>)]) -> Result<FieldBuilder> {
        let plan = FieldPlan::new(&self.schema(), field);
        let mut builder = plan.start(0)?;
        for (cluster, range) in ranges {
            let mut source = Source { made: self, cluster: *cluster };
            builder.append(&self.list, &self.list.clusters[*cluster], range.clone(), &mut source)?;
        }
        Ok(builder)
    }

    /// All entries; and those of each cluster in halves, in one builder and in one for each half, which must be the same.
    fn all(&self, field: usize) -> Result<ArrayRef> {
        let ranges: Vec<_> =
            self.list.clusters.iter().enumerate().map(|(i, cluster)| (i, 0..cluster.entries)).collect();
        let array = self.read(field, &ranges)?;
        let halves: Vec<_> =
            ranges.iter().flat_map(|(i, all)| [(*i, 0..all.end / 2), (*i, all.end / 2..all.end)]).collect();
        assert_eq!(&self.read(field, &halves)?, &array);
        let plan = FieldPlan::new(&self.schema(), field);
        for room in [0, 3, 1000] {
            let mut joined = plan.start(room)?;
            for half in &halves {
                joined.append_part(self.builder(field, std::slice::from_ref(half))?)?;
                joined.append_part(plan.start(0)?)?;
            }
            assert_eq!(&joined.finish()?, &array, "{room}");
        }
        assert_eq!(array.data_type(), plan.field().data_type());
        array.to_data().validate_full().unwrap();
        Ok(array)
    }

    fn error(&self, field: usize) -> String {
        let ranges: Vec<_> =
            self.list.clusters.iter().enumerate().map(|(i, cluster)| (i, 0..cluster.entries)).collect();
        self.read(field, &ranges).unwrap_err().to_string()
    }

    fn reason(&self, field: usize) -> String {
        FieldPlan::new(&self.schema(), field).opaque().unwrap().to_owned()
    }
}

struct Source<'a> {
    made: &'a Made,
    cluster: usize,
}

impl ElementSource for Source<'_> {
    fn decode(&mut self, column: usize, range: std::ops::Range<u64>, out: &mut Elements) -> Result<()> {
        let described = &self.made.columns[column];
        let encoding = Encoding::new(described.column_type, described.bits, described.range)?;
        let cluster = &self.made.list.clusters[self.cluster];
        let page = cluster.pages(&self.made.list, column).and_then(<[Page]>::first);
        let elements = page.ok_or_else(|| Error::request("no page"))?.elements as usize;
        let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        out.decode(&encoding, &self.made.bytes[self.cluster][column], elements, range)
    }
}

fn i32s(array: &dyn Array) -> Vec<i32> {
    array.as_primitive::<Int32Type>().values().to_vec()
}

#[test]
fn offsets_continue_over_clusters() {
    let mut made = Made::default();
    let lists = made.collection(None, "v", "std::vector<std::string>");
    let item = made.leaf(Some(lists), "_0", "std::string", Index64);
    made.column(item, Char);
    made.cluster(2, vec![ends(&[1, 3]), ends(&[1, 1, 3]), text("abc")]);
    made.cluster(0, vec![ends(&[]), ends(&[]), text("")]);
    made.cluster(3, vec![ends(&[0, 1, 2]), ends(&[1, 2]), text("xy")]);
    let array = made.all(lists).unwrap();
    let list = array.as_list::<i64>();
    assert_eq!(list.offsets().as_ref(), &[0, 1, 3, 3, 4, 5]);
    let strings: Vec<_> = list.values().as_string::<i64>().iter().flatten().collect();
    assert_eq!(strings, ["a", "", "bc", "x", "y"]);
    // The middle of a cluster.
    let array = made.read(lists, &[(2, 2..3), (0, 1..2)]).unwrap();
    assert_eq!(array.as_list::<i64>().offsets().as_ref(), &[0, 1, 3]);
    assert_eq!(
        array.as_list::<i64>().values().as_string::<i64>().iter().flatten().collect::<Vec<_>>(),
        ["y", "", "bc"]
    );
}

#[test]
fn counts_that_contradict_each_other_are_errors() {
    let mut made = Made::default();
    let lists = made.collection(None, "v", "std::vector<int>");
    made.leaf(Some(lists), "_0", "std::int32_t", Int32);
    let bad = |stored: Vec<Stored>| {
        let mut made = Made { fields: made.fields.clone(), columns: made.columns.clone(), ..Made::default() };
        made.cluster(2, stored);
        made.error(lists)
    };
    let error = bad(vec![ends(&[1, 3]), ints(&[1, 2])]);
    assert_eq!(error, "field v._0, column 1, cluster at entry 0: 2 elements are stored for 3 values");
    assert!(bad(vec![ends(&[1, 1]), ints(&[1, 2])]).contains("2 elements are stored for 1 values"));
    assert!(bad(vec![ends(&[2, 1]), ints(&[1, 2])]).contains("decrease"));
    assert!(bad(vec![ends(&[1]), ints(&[1])]).contains("field v, column 0"));
    assert!(bad(vec![ends(&[0, u64::MAX]), ints(&[1])]).contains("column 0"));
    assert!(bad(vec![ends(&[0, 1 << 62]), ints(&[1])]).contains("elements are stored"));
    assert!(bad(vec![Stored::Suppressed, ints(&[1])]).contains("all columns of the field are suppressed"));
}

#[test]
fn classes_without_members_keep_their_number() {
    let mut made = Made::default();
    let lists = made.collection(None, "v", "std::vector<Empty>");
    made.field(Some(lists), Role::Record, "_0", "Empty");
    let alone = made.field(None, Role::Record, "e", "Empty");
    made.cluster(2, vec![ends(&[3, 5])]);
    made.cluster(1, vec![ends(&[1])]);
    let array = made.all(lists).unwrap();
    assert_eq!(array.as_list::<i64>().offsets().as_ref(), &[0, 3, 5, 6]);
    assert_eq!(array.as_list::<i64>().values().len(), 6);
    assert_eq!(made.all(alone).unwrap().len(), 3);
}

#[test]
fn values_before_a_deferred_column_are_zero() {
    let mut made = Made::default();
    let id = made.leaf(None, "i", "std::int32_t", Int32);
    let array = made.field(None, Role::Leaf, "a", "std::array<int,2>");
    made.fields[array].array_size = Some(2);
    made.leaf(Some(array), "_0", "std::int32_t", Int32);
    let lists = made.collection(None, "v", "std::vector<int>");
    made.leaf(Some(lists), "_0", "std::int32_t", Int32);
    for (column, first) in [(1, 6), (2, 3)] {
        made.columns[column].first_element = Some(Deferred { first_element: first, suppressed: false });
    }
    made.columns.iter_mut().skip(1).for_each(|column| column.in_extension = true);
    // The first page list is from before the extension.
    made.cluster(2, vec![ints(&[1, 2])]);
    made.cluster(3, vec![ints(&[3, 4, 5]), ints(&[10, 11, 12, 13]), ends(&[2, 2]), ints(&[20, 21])]);
    assert_eq!(i32s(&made.all(id).unwrap()), [1, 2, 3, 4, 5]);
    let arrays = made.all(array).unwrap();
    assert_eq!(i32s(arrays.as_fixed_size_list().values()), [0, 0, 0, 0, 0, 0, 10, 11, 12, 13]);
    let values = made.all(lists).unwrap();
    assert_eq!(values.as_list::<i64>().offsets().as_ref(), &[0, 0, 0, 0, 2, 2]);
    assert_eq!(i32s(values.as_list::<i64>().values()), [20, 21]);
    // Without the flag it is an error.
    made.columns[1].first_element = None;
    assert!(made.error(array).contains("4 elements are stored for 6 values"));
}

#[test]
fn items_of_a_nested_deferred_column_are_zero() {
    let mut made = Made::default();
    let lists = made.collection(None, "v", "std::vector<P>");
    let record = made.field(Some(lists), Role::Record, "_0", "P");
    made.leaf(Some(record), "old", "std::int32_t", Int32);
    let new = made.leaf(Some(record), "new", "std::int32_t", Int32);
    made.columns[2].first_element = Some(Deferred { first_element: 3, suppressed: false });
    made.cluster(3, vec![ends(&[1, 3, 5]), ints(&[1, 2, 3, 4, 5]), ints(&[40, 50])]);
    let array = made.all(new).unwrap();
    assert_eq!(array.as_list::<i64>().offsets().as_ref(), &[0, 1, 3, 5]);
    assert_eq!(i32s(array.as_list::<i64>().values()), [0, 0, 0, 40, 50]);
    let whole = made.all(lists).unwrap();
    let parts = whole.as_list::<i64>().values().as_struct();
    assert_eq!(i32s(parts.column(0)), [1, 2, 3, 4, 5]);
    assert_eq!(i32s(parts.column(1)), [0, 0, 0, 40, 50]);
}

#[test]
fn each_cluster_has_one_representation() {
    let mut made = Made::default();
    let id = made.leaf(None, "i", "std::int32_t", Int32);
    let other = made.column(id, Int16);
    made.columns[other].representation = 1;
    let short = |values: &[i16]| Stored::Page(values.len(), values.iter().flat_map(|v| v.to_le_bytes()).collect());
    made.cluster(1, vec![ints(&[70_000]), Stored::Suppressed]);
    made.cluster(2, vec![Stored::Suppressed, short(&[-3, 4])]);
    assert_eq!(i32s(&made.all(id).unwrap()), [70_000, -3, 4]);
    let plan = FieldPlan::new(&made.schema(), id);
    assert_eq!(plan.columns(), [0, 1]);
    assert_eq!(plan.columns_in(&made.list.clusters[1]).unwrap(), [1]);
    // The second one came later, and the first page list does not have it.
    made.columns[other].in_extension = true;
    made.columns[other].first_element = Some(Deferred { first_element: 1, suppressed: true });
    made.list.clusters[0].columns.truncate(1);
    assert_eq!(i32s(&made.all(id).unwrap()), [70_000, -3, 4]);
    made.list.clusters[0].columns[0].compression = None;
    assert!(made.error(id).contains("suppressed in the cluster at entry 0"));
}

#[test]
fn integers_must_fit() {
    let mut made = Made::default();
    let id = made.leaf(None, "i", "std::int8_t", Int32);
    made.cluster(2, vec![ints(&[-128, 127])]);
    let array = made.all(id).unwrap();
    assert_eq!(array.as_primitive::<Int8Type>().values(), &[-128, 127]);
    made.cluster(1, vec![ints(&[128])]);
    assert_eq!(
        made.error(id),
        "field i, column 0, cluster at entry 2: 128 does not fit into a signed integer of 8 bits"
    );
    let float = made.leaf(None, "f", "float", Int32);
    assert!(made.reason(float).contains("a value of type float in a column of type Int32"));
    let plan = FieldPlan::new(&made.schema(), float);
    assert_eq!(plan.field().data_type(), &DataType::LargeBinary);
    assert!(plan.columns().is_empty());
    made.list.clusters.truncate(1);
    // Not nulls: the schema contradicts itself.
    assert!(made.error(float).contains("a value of type float in a column of type Int32"));
    let id = made.leaf(None, "b", "std::int32_t", Int32);
    made.columns.last_mut().unwrap().bits = 33;
    assert!(made.error(id).contains("field b: a column of type Int32 has elements of 33 bits, not 32"));
}

#[test]
fn variants_are_unions() {
    let mut made = Made::default();
    let id = made.field(None, Role::Variant, "x", "std::variant<int,std::string>");
    made.column(id, Switch);
    let number = made.leaf(Some(id), "_0", "std::int32_t", Int32);
    let string = made.leaf(Some(id), "_1", "std::string", Index64);
    made.column(string, Char);
    made.cluster(4, vec![switches(&[(0, 1), (0, 2), (0, 0), (1, 1)]), ints(&[7, 8]), ends(&[2]), text("ab")]);
    made.cluster(2, vec![switches(&[(0, 0), (0, 1)]), ints(&[9]), ends(&[]), text("")]);
    let array = made.all(id).unwrap();
    let union = array.as_union();
    assert_eq!(union.type_ids().as_ref(), &[1, 2, 0, 1, 0, 1]);
    assert_eq!(union.offsets().unwrap().as_ref(), &[0, 0, 0, 1, 1, 2]);
    assert_eq!(i32s(union.child(1)), [7, 8, 9]);
    assert_eq!(
        union.logical_nulls().unwrap().iter().map(|v| !v).collect::<Vec<_>>(),
        [false, false, true, false, true, false]
    );
    // One alternative alone: null where there is another one.
    let numbers = made.all(number).unwrap();
    let values: Vec<_> = numbers.as_primitive::<Int32Type>().iter().collect();
    assert_eq!(values, [Some(7), None, None, Some(8), None, Some(9)]);

    let bad = |switch: &[(u64, u32)]| {
        let mut made = Made { fields: made.fields.clone(), columns: made.columns.clone(), ..Made::default() };
        made.cluster(2, vec![switches(switch), ints(&[7]), ends(&[2]), text("ab")]);
        made.error(id)
    };
    assert!(bad(&[(0, 1), (0, 3)]).contains("a variant with value 3 of 2 alternatives"));
    assert!(bad(&[(0, 1), (1, 1)]).contains("1 elements are stored for 2 values"));
    assert!(bad(&[(0, 1), (2, 1)]).contains("not in order"));
    assert!(bad(&[(1, 1), (0, 1)]).contains("not in order"));
    assert!(bad(&[(u64::MAX, 1), (0, 2)]).contains("not in order"));

    // A value of a part that no variant has.
    let mut made = Made { fields: made.fields.clone(), columns: made.columns.clone(), ..Made::default() };
    made.cluster(2, vec![switches(&[(0, 1), (2, 1)]), ints(&[7, 8, 9]), ends(&[]), text("")]);
    assert!(made.error(id).contains("the values of alternative 1 are not in order"));
    assert!(made.error(number).contains("the values of alternative 1 are not in order"));
}

#[test]
fn optional_values_are_null_or_there() {
    let mut made = Made::default();
    let id = made.collection(None, "o", "std::optional<std::vector<int>>");
    let inner = made.collection(Some(id), "_0", "std::vector<int>");
    made.leaf(Some(inner), "_0", "std::int32_t", Int32);
    made.cluster(3, vec![ends(&[0, 1, 1]), ends(&[2]), ints(&[1, 2])]);
    made.cluster(2, vec![ends(&[1, 2]), ends(&[0, 1]), ints(&[3])]);
    let array = made.all(id).unwrap();
    let lists = array.as_list::<i64>();
    assert_eq!((0..5).map(|i| lists.is_valid(i)).collect::<Vec<_>>(), [false, true, false, true, true]);
    assert_eq!(lists.offsets().as_ref(), &[0, 0, 2, 2, 2, 3]);
    assert_eq!(i32s(lists.values()), [1, 2, 3]);
    made.cluster(1, vec![ends(&[2]), ends(&[0, 0]), ints(&[])]);
    assert!(made.error(id).contains("2 values where there is at most one"));
}

#[test]
fn optional_values_of_optional_values_lose_nothing() {
    let mut made = Made::default();
    let id = made.collection(None, "o", "std::unique_ptr<std::optional<int>>");
    let inner = made.collection(Some(id), "_0", "std::optional<int>");
    let number = made.leaf(Some(inner), "_0", "std::int32_t", Int32);
    made.cluster(3, vec![ends(&[0, 1, 2]), ends(&[0, 1]), ints(&[5])]);
    let array = made.all(id).unwrap();
    let records = array.as_struct();
    assert_eq!((0..3).map(|i| records.is_valid(i)).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!((1..3).map(|i| records.column(0).is_valid(i)).collect::<Vec<_>>(), [false, true]);
    assert_eq!(made.all(number).unwrap().len(), 3);
}

#[test]
fn bases_and_pairs_are_as_in_trees() {
    let mut made = Made::default();
    let id = made.field(None, Role::Record, "p", "Derived");
    let object = made.field(Some(id), Role::Record, ":_0", "TObject");
    made.leaf(Some(object), "fBits", "std::int32_t", Int32);
    let base = made.field(Some(id), Role::Record, ":_1", "Base");
    made.leaf(Some(base), "x", "std::int32_t", Int32);
    made.leaf(Some(id), "x", "std::int32_t", Int32);
    let pair = made.field(Some(id), Role::Record, "q", "std::pair<int,int>");
    made.leaf(Some(pair), "_0", "std::int32_t", Int32);
    made.leaf(Some(pair), "_1", "std::int32_t", Int32);
    made.cluster(1, (0..5).map(|i| ints(&[i])).collect());
    let array = made.all(id).unwrap();
    assert_eq!(array.as_struct().column_names(), ["x", "Derived::x", "q"]);
    assert_eq!(array.as_struct().column(2).as_struct().column_names(), ["first", "second"]);
    assert_eq!(i32s(array.as_struct().column(1)), [2]);

    let map = made.collection(None, "m", "std::map<int,int>");
    let item = made.field(Some(map), Role::Record, "_0", "std::pair<int,int>");
    made.leaf(Some(item), "_0", "std::int32_t", Int32);
    made.leaf(Some(item), "_1", "std::int32_t", Int32);
    let plan = FieldPlan::new(&made.schema(), map);
    let DataType::LargeList(pairs) = plan.field().data_type() else { panic!("a map is a list") };
    let DataType::Struct(parts) = pairs.data_type() else { panic!("of pairs") };
    assert_eq!(parts.iter().map(|part| part.name().as_str()).collect::<Vec<_>>(), ["key", "value"]);
}

#[test]
fn projected_fields_have_the_elements_of_others() {
    let mut made = Made::default();
    let lists = made.collection(None, "v", "std::vector<int>");
    let number = made.leaf(Some(lists), "_0", "std::int32_t", Int32);
    let lengths = made.field(None, Role::Leaf, "n", "ROOT::RNTupleCardinality<std::uint32_t>");
    let copy = made.field(None, Role::Collection, "w", "std::vector<int>");
    let item = made.field(Some(copy), Role::Leaf, "_0", "std::int32_t");
    for (field, column, source) in [(lengths, 0, lists), (copy, 0, lists), (item, 1, number)] {
        made.aliases.push(AliasColumn { column, field });
        made.fields[field].source = Some(source);
    }
    made.cluster(3, vec![ends(&[1, 1, 3]), ints(&[1, 2, 3])]);
    made.cluster(1, vec![ends(&[2]), ints(&[4, 5])]);
    assert_eq!(&made.all(copy).unwrap(), &made.all(lists).unwrap());
    let array = made.all(lengths).unwrap();
    assert_eq!(array.as_primitive::<UInt32Type>().values(), &[1, 0, 2, 2]);
    assert_eq!(FieldPlan::new(&made.schema(), copy).columns(), [0, 1]);
    // Of columns of the field that it names only.
    made.fields[item].source = Some(lists);
    assert!(made.error(copy).contains("field w._0: it shows column 1, which is of another field"));
}

#[test]
fn parts_of_other_files_have_other_ids_and_encodings() {
    let mut made = Made::default();
    let bits = made.leaf(None, "b", "bool", Bit);
    made.cluster(3, vec![Stored::Page(3, vec![0b101])]);
    let mut other = Made::default();
    other.leaf(None, "i", "std::int32_t", Int32);
    let wide = other.leaf(None, "b", "bool", UInt8);
    other.cluster(2, vec![ints(&[1, 2]), Stored::Page(2, vec![1, 0])]);
    let mut joined = made.builder(bits, &[(0, 0..3)]).unwrap();
    for _ in 0..2 {
        joined.append_part(other.builder(wide, &[(0, 0..2)]).unwrap()).unwrap();
    }
    let error = joined.append_part(other.builder(0, &[(0, 0..2)]).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "field b: values of type Int32 behind values of type Boolean");
    assert_eq!(joined.len(), 7);
    // Behind parts as behind clusters.
    let mut source = Source { made: &made, cluster: 0 };
    joined.append(&made.list, &made.list.clusters[0], 2..3, &mut source).unwrap();
    let values: Vec<bool> = joined.finish().unwrap().as_boolean().values().iter().collect();
    assert_eq!(values, [true, false, true, true, false, true, false, true]);
}

#[test]
fn what_is_unknown_spoils_only_its_top_level_field() {
    let mut made = Made::default();
    let record = made.field(None, Role::Record, "r", "R");
    made.leaf(Some(record), "a", "std::int32_t", ColumnType::Unknown(0x55));
    let sound = made.leaf(Some(record), "b", "std::int32_t", Int32);
    let future = made.leaf(None, "c", "std::int32_t", Int32);
    made.fields[future].field_version = 1;
    let role = made.field(None, Role::Unknown(9), "d", "D");
    let endless = (0..200).fold(None, |parent, _| Some(made.field(parent, Role::Record, "x", "X"))).unwrap();
    assert!(made.reason(record).contains("unknown column type 0x55 of field r.a"));
    assert!(made.reason(future).contains("version 1"));
    assert!(made.reason(role).contains("structural role 0x9"));
    assert!(made.reason(endless).contains("too deep"));
    assert_eq!(fields(&made.schema()).iter().filter(|plan| plan.opaque().is_none()).count(), 0);
    made.cluster(1, vec![Stored::Page(0, Vec::new()), ints(&[4]), ints(&[5])]);
    assert_eq!(i32s(&made.all(sound).unwrap()), [4]);
    assert_eq!(made.all(record).unwrap().null_count(), 1);
    made.list.clusters[0].entries = 1 << 50;
    assert!(made.read(record, &[(0, 0..1 << 50)]).is_err());
}
