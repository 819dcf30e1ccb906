//! Selects the columns of a table for a Parquet file, names them, and reports columns that cannot be converted.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};
use dataset::glob::NameFilter;
use dataset::table::Node;
use parquet::arrow::ArrowSchemaConverter;
use rootfile::{Error, Result};

use super::report::LeftOut;
use crate::arrow::read::Dataset;

/// A column to write.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    /// Its index in the data set.
    pub column: usize,
    /// Its index among the columns that are read.
    pub place: usize,
    /// Its field in the Parquet file.
    pub field: FieldRef,
}

/// The columns that a filter keeps.
pub(super) fn choose(dataset: &Dataset, filter: &NameFilter, left_out: &mut Vec<LeftOut>) -> Result<Vec<Chosen>> {
    let schema = dataset.schema();
    let nodes = schema.nodes();
    let filter = filter.of_table(dataset.path(), (0..nodes.len()).map(|node| schema.lineage(node)));
    let kept = |number: usize| {
        let plan = dataset.columns().get(number)?;
        // The members of a split STL collection have its size as well.
        let groups = nodes.get(plan.node())?.groups;
        let asked = filter.keeps(dataset.path(), &schema.lineage(plan.node()));
        (asked && !groups).then(|| (number, plan.node(), Arc::clone(plan.field())))
    };
    let kept: Vec<_> = dataset.default_columns().into_iter().filter_map(kept).collect();
    let keeps = |lineage: &[&str]| filter.keeps(dataset.path(), lineage);
    let in_part = schema.kept_in_part(&keeps);
    for plan in dataset.default_columns().into_iter().filter_map(|column| dataset.columns().get(column)) {
        if in_part.get(plan.node()) == Some(&true) && !keeps(&schema.lineage(plan.node())) {
            let why =
                "only members of it are kept, and it is taken whole or not at all: keep it, or rewrite the file first";
            left_out.push(LeftOut { name: plan.field().name().clone(), why: why.to_owned() });
        }
    }
    let mut named: HashMap<&str, usize> = HashMap::new();
    for &(_, node, _) in &kept {
        *named.entry(name_of(&nodes, node)).or_default() += 1;
    }
    let mut chosen: Vec<Chosen> = Vec::with_capacity(kept.len());
    for (column, node, field) in &kept {
        // A column has the name of its branch, unless another branch has the same name.
        let own = name_of(&nodes, *node);
        let name = if named.get(own) == Some(&1) { own } else { field.name().as_str() };
        let twice = || "another column has the same name and path".to_owned();
        let known = chosen.iter().any(|other| other.field.name() == name);
        let absent = || dataset.absent(*column);
        match if known { Some(twice()) } else { unfit(field).or_else(absent) } {
            Some(why) => left_out.push(LeftOut { name: name.to_owned(), why }),
            None => {
                let mut metadata = field.metadata().clone();
                let counter = schema.counter(*node).filter(|c| kept.iter().any(|(_, kept, _)| kept == c));
                metadata.extend(counter.map(|counter| ("counter".to_owned(), name_of(&nodes, counter).to_owned())));
                let field = Field::clone(field).with_name(name).with_metadata(metadata);
                chosen.push(Chosen { column: *column, place: chosen.len(), field: Arc::new(field) });
            }
        }
    }
    if chosen.is_empty() {
        let why = left_out.first().map(|column| format!(": {} is left out, {}", column.name, column.why));
        return Err(Error::request(format!("no column to convert{}", why.unwrap_or_default())).object(dataset.path()));
    }
    Ok(chosen)
}

/// The name of a node without dimensions, which end the names of members: `fTracks.fVertex[3]`.
fn name_of(nodes: &[Node], node: usize) -> &str {
    let name = nodes.get(node).map_or("", |node| node.name.as_str());
    name.split('[').next().filter(|plain| !plain.is_empty()).unwrap_or(name)
}

/// The reason why a column cannot be in a Parquet file, if there is one.
pub(super) fn unfit(field: &Field) -> Option<String> {
    if let Some(why) = field.metadata().get("opaque") {
        return Some(format!("its bytes cannot be decoded: {why}"));
    }
    // Opaque bytes may refer to other bytes of their entry, so they have no meaning elsewhere.
    if holds(field.data_type(), &|of| *of == DataType::LargeBinary) {
        return Some("it holds objects that cannot be decoded".to_owned());
    }
    if holds(field.data_type(), &|of| matches!(of, DataType::Union(..))) {
        return Some("it holds variants, and Parquet has no unions".to_owned());
    }
    // A record without members, for example.
    let schema = Schema::new(vec![field.clone()]);
    ArrowSchemaConverter::new().convert(&schema).err().map(|e| e.to_string())
}

/// Whether a type, or one inside, is one of those.
fn holds(of: &DataType, is_one: &dyn Fn(&DataType) -> bool) -> bool {
    is_one(of)
        || match of {
            DataType::LargeList(item) | DataType::FixedSizeList(item, _) => holds(item.data_type(), is_one),
            DataType::Struct(parts) => parts.iter().any(|part| holds(part.data_type(), is_one)),
            DataType::Union(parts, _) => parts.iter().any(|(_, part)| holds(part.data_type(), is_one)),
            _ => false,
        }
}
