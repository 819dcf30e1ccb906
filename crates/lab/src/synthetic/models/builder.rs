//! Builds a data set from its columns: values, vectors, and arrays of leaves with a counter.

use std::sync::Arc;

use arrow_schema::{DataType, Schema};

use super::count::{CountGenerator, CountSpec};
use super::generators::{Number, Spec, field};
use super::model::{Group, Model, ModelColumn};
use super::random::{Distribution, Streams};

/// A counter of leaves has its value from the list, never from random numbers.
const COUNTER: Spec = Spec::Number(Number::I32, Distribution::Serial);

fn column(name: &str, of: &Spec, data_type: DataType) -> ModelColumn {
    let field = field(name, data_type);
    ModelColumn { name: name.to_owned(), type_name: of.cpp(), counter: None, split_level: None, field }
}

/// Collects the columns of a data set.
pub(super) struct ModelBuilder {
    streams: Streams,
    groups: Vec<Group>,
    columns: Vec<ModelColumn>,
    known: Vec<&'static str>,
    classes: String,
}

impl ModelBuilder {
    pub(super) fn new(seed: u64) -> Self {
        let streams = Streams::new(seed);
        Self { streams, groups: Vec::new(), columns: Vec::new(), known: Vec::new(), classes: String::new() }
    }

    /// One value for each entry.
    pub(super) fn value(&mut self, name: &str, of: Spec) {
        of.describe(&mut self.known, &mut self.classes);
        let item = of.item(&mut self.streams);
        self.columns.push(column(name, &of, item.data_type()));
        self.groups.push(Group::Values(item));
    }

    /// Vectors of as many items as each other.
    pub(super) fn vectors(&mut self, many: CountSpec, parts: &[(String, Spec)], split_level: Option<i32>) {
        self.lists(many, parts, false, |column, of| {
            column.type_name = format!("vector<{}>", of.cpp());
            column.split_level = split_level;
        });
    }

    /// Arrays of leaves with their counter.
    pub(super) fn leaves(&mut self, counter: &str, many: CountSpec, parts: &[(String, Spec)]) {
        self.columns.push(column(counter, &COUNTER, DataType::Int32));
        self.lists(many, parts, true, |column, _| column.counter = Some(counter.to_owned()));
    }

    fn lists(
        &mut self,
        many: CountSpec,
        parts: &[(String, Spec)],
        counted: bool,
        finish: impl Fn(&mut ModelColumn, &Spec),
    ) {
        let stream = self.streams.next();
        let mut lists = Vec::with_capacity(parts.len());
        for (name, of) in parts {
            of.describe(&mut self.known, &mut self.classes);
            let list = of.item(&mut self.streams).of_a_list();
            let mut column = column(name, of, DataType::LargeList(list.field.clone()));
            finish(&mut column, of);
            self.columns.push(column);
            lists.push(list);
        }
        self.groups.push(Group::Lists { count: CountGenerator::new(many), stream, counted, lists });
    }

    pub(super) fn sized(self, size: u64) -> Model {
        let Self { groups, columns, classes, .. } = self;
        let schema = Arc::new(Schema::new(columns.iter().map(|c| c.field.clone()).collect::<Vec<_>>()));
        let mut model = Model { groups, columns, classes, schema, entries: 0, payload: 0 };
        model.set_size(size);
        model
    }
}
