//! A small table for tests: its columns, and the values of expressions over them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array,
    LargeListArray, LargeStringArray, StructArray, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use expr::{Entries, Expression, NamedColumn, Names};

/// Columns by name, and aliases.
pub struct Table {
    pub columns: Vec<(String, ArrayRef)>,
    pub aliases: Vec<(&'static str, &'static str)>,
}

impl Names for Table {
    fn column(&self, name: &str) -> Option<NamedColumn> {
        let number = self.columns.iter().position(|(own, _)| own == name)?;
        Some(NamedColumn { number, data_type: self.columns[number].1.data_type().clone() })
    }

    fn alias(&self, name: &str) -> Option<String> {
        self.aliases.iter().find(|(own, _)| *own == name).map(|(_, text)| (*text).to_owned())
    }

    fn known(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }
}

pub fn lists(items: ArrayRef, lengths: impl IntoIterator<Item = usize>) -> ArrayRef {
    let field = Arc::new(Field::new("item", items.data_type().clone(), true));
    Arc::new(LargeListArray::new(field, OffsetBuffer::from_lengths(lengths), items, None))
}

impl Table {
    /// Four entries.
    pub fn new() -> Self {
        let lengths = [2, 0, 3, 1];
        let pt: ArrayRef = Arc::new(Float32Array::from(vec![10.5, 30.0, 5.0, 25.0, 40.0, 7.0]));
        let eta: ArrayRef = Arc::new(Float64Array::from(vec![0.5, -2.0, 1.0, -1.0, 0.0, 3.0]));
        let id: ArrayRef = Arc::new(Int32Array::from(vec![11, -13, 13, 11, -11, 22]));
        let tight: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, false, true, true, false]));
        let deep = lists(lists(Arc::new(Int64Array::from(vec![1, 2, 3, 4, 5])), [1, 2, 0, 2]), [2, 0, 1, 1]);
        let names: ArrayRef = Arc::new(LargeStringArray::from(vec!["mu", "e", "mu", "tau", "e", "mu"]));
        let fixed = FixedSizeListArray::new(
            Arc::new(Field::new("item", DataType::Int32, true)),
            2,
            Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5, 6, 7, 8])),
            None,
        );
        let object = StructArray::from(vec![
            (
                Arc::new(Field::new("x", DataType::Float64, true)),
                Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0])) as ArrayRef,
            ),
            (Arc::new(Field::new("n", DataType::Int8, true)), Arc::new(Int8Array::from(vec![1, -1, 0, 5])) as ArrayRef),
        ]);
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("x", Arc::new(Float64Array::from(vec![0.5, f64::NAN, -1.0, 2.0]))),
            ("n", Arc::new(Int32Array::from(vec![2, 0, 3, 1]))),
            ("big", Arc::new(Int64Array::from(vec![i64::MAX, 1, 2, 3]))),
            ("event", Arc::new(UInt64Array::from(vec![u64::MAX, 1, 2, 1 << 60]))),
            ("flag", Arc::new(BooleanArray::from(vec![true, false, true, false]))),
            ("maybe", Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0), None]))),
            ("name", Arc::new(LargeStringArray::from(vec!["data", "mc", "", "data18"]))),
            ("pt", lists(pt, lengths)),
            ("eta", lists(eta, lengths)),
            ("id", lists(id, lengths)),
            ("tight", lists(tight, lengths)),
            ("kind", lists(names, lengths)),
            ("jets", lists(Arc::new(Float64Array::from(vec![50.0, 20.0, 60.0])), [1, 1, 0, 1])),
            ("deep", deep),
            ("fixed", Arc::new(fixed)),
            ("pos", Arc::new(object)),
            ("a.b", Arc::new(Int32Array::from(vec![1, 2, 3, 4]))),
            ("evt/run", Arc::new(Int32Array::from(vec![7, 7, 8, 8]))),
            ("odd name", Arc::new(Int32Array::from(vec![1, 0, 1, 0]))),
        ];
        let columns = columns.into_iter().map(|(name, array)| (name.to_owned(), array)).collect();
        let aliases = vec![
            ("r", "sqrt(x*x + 1)"),
            ("high", "r > 1.2 && n > 0"),
            ("loop_a", "loop_b + 1"),
            ("loop_b", "loop_a"),
            ("wrong", "x +"),
        ];
        Self { columns, aliases }
    }

    pub fn arrays(&self, columns: &[usize]) -> Vec<ArrayRef> {
        columns.iter().map(|column| self.columns[*column].1.clone()).collect()
    }

    fn rows(&self) -> usize {
        self.columns[0].1.len()
    }

    pub fn array(&self, text: &str) -> Result<ArrayRef, expr::Error> {
        let program = Expression::parse(text)?.bind(self)?;
        program.array(&self.arrays(program.columns()), self.rows(), Entries::from(100))
    }

    /// The values as a text: `-` for none.
    pub fn values(&self, text: &str) -> String {
        let array = self.array(text).unwrap_or_else(|e| panic!("{e}"));
        let one: Vec<String> = (0..array.len()).map(|row| shown(&array, row)).collect();
        one.join(" ")
    }

    /// The entries that pass.
    pub fn passed(&self, text: &str) -> Result<Vec<usize>, expr::Error> {
        let condition = Expression::parse(text)?.bind(self)?.condition()?;
        let passed = condition.passed_of(&self.arrays(condition.columns()), self.rows(), Entries::from(100))?;
        Ok(passed.set_indices().collect())
    }

    pub fn refused(&self, text: &str) -> String {
        match self.passed(text) {
            Ok(passed) => panic!("{text} gives {passed:?}"),
            Err(e) => e.to_string(),
        }
    }
}

fn shown(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "-".to_owned();
    }
    match array.data_type() {
        DataType::Boolean => u8::from(array.as_boolean().value(row)).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => format!("{}u", array.as_primitive::<UInt64Type>().value(row)),
        DataType::Float64 => format!("{:?}", array.as_primitive::<Float64Type>().value(row)),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).to_owned(),
        _ => {
            let items = array.as_list::<i64>().value(row);
            format!("[{}]", (0..items.len()).map(|item| shown(&items, item)).collect::<Vec<_>>().join(","))
        }
    }
}
