//! The plan of an RNTuple to write: its schema and how its pages are made. All fill contexts of the RNTuple share it.
//!
//! Facts: `RNTupleWriteOptions.hxx` of ROOT 6.40: clusters of 128 MiB after compression and of
//! 1280 MiB before it, pages of at most 1 MiB before it, zstd at
//! level 5, checksums of pages, and equal pages of a cluster stored once.

use std::sync::Arc;

use dataset::layout::{ClusterSize, ColumnEncoding, ColumnLayout, Compression, Layout, TreeRules, defaults};
use dataset::ntuple::element::{ColumnType, Encoding};
use dataset::ntuple::encode::TableEncoder;
use dataset::ntuple::make::{FieldEncoding, Input, MadeSchema, NewField, fields_of_columns, make_schema};
use dataset::ntuple::model::{Anchor, FormatVersion, Link, Locator, Ntuple, Role, Schema};
use dataset::ntuple::{MAX_KEY_SIZE, zero_page};
use rootfile::streamer::StreamerInfos;
use rootfile::streamer::describe::describe_contained;
use rootfile::{Error, Result};

use crate::arrow::write::tree::plan::TreeSpec;
use crate::commit::ntuple::page_sink::GroupRule;
use crate::execute::encode::ntuple::PageRules;

/// The version of the format that is written.
const VERSION: FormatVersion = FormatVersion { epoch: 1, major: 0, minor: 2, patch: 0 };

/// The page list of a group takes at most this share of the memory.
const LIST_SHARE: u64 = 16;

/// An RNTuple to write.
#[derive(Clone, Debug, Default)]
pub struct NtupleSpec {
    /// Its path: directories, if any, and the name, separated by slashes.
    pub path: String,
    /// Its description.
    pub description: String,
    /// Its top-level fields, in order.
    pub fields: Vec<NewField>,
    /// The classes of the fields, and the classes inside these.
    pub classes: StreamerInfos,
}

impl NtupleSpec {
    /// The RNTuple with the content of a tree, by the rules of ROOT's importer.
    ///
    /// # Errors
    ///
    /// If a leaf has an unknown type.
    pub fn of_tree(spec: &TreeSpec) -> Result<Self> {
        let columns = spec.columns.iter().map(|column| (column.name.as_str(), &column.kind));
        Ok(Self {
            path: spec.path.clone(),
            description: spec.title.clone(),
            fields: fields_of_columns(columns)?,
            classes: spec.classes.clone(),
        })
    }
}

/// The plan of an RNTuple to write.
#[derive(Debug)]
pub(crate) struct NtuplePlan {
    /// The columns that contexts fill.
    pub inputs: Vec<Input>,
    pub encoder: TableEncoder,
    /// Fields and columns, without the places where late ones begin.
    pub schema: Arc<Schema>,
    /// How the pages of each column are made, by physical ID.
    pub rules: Vec<PageRules>,
    pub cluster: ClusterSize,
    /// Most bytes of a cluster before compression.
    pub unzipped_cluster: u64,
    /// Whether equal pages of a cluster are stored once.
    pub share_pages: bool,
    /// Where cluster groups end.
    pub groups: GroupRule,
    /// Compression of metadata.
    pub compression: Compression,
    /// The columns whose bits the values tell.
    pub exact: Vec<ExactColumn>,
}

/// A column that takes the fewest bits that keep every value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactColumn {
    /// Its physical ID.
    pub id: usize,
    /// How it is encoded in full.
    pub own: Encoding,
    /// The least bits that are asked for.
    pub least: Option<u16>,
}

impl NtuplePlan {
    /// The plan, and the metadata without clusters. Page lists are divided into groups as the memory of the whole operation allows.
    pub fn new(spec: &NtupleSpec, layout: &Layout, memory: u64) -> Result<(Self, Ntuple)> {
        let named = |e: Error| e.object(format!("RNTuple {}", spec.path));
        Self::planned(spec, layout, memory).map_err(named)
    }

    fn planned(spec: &NtupleSpec, layout: &Layout, memory: u64) -> Result<(Self, Ntuple)> {
        let made = make_schema(&spec.fields, &with_pairs(spec), &encodings(&layout.rules(&spec.path)))?;
        Self::of_schema(made, (&spec.path, &spec.description), layout, memory)
    }

    /// The plan for a schema that is made already.
    pub fn of_schema(
        made: MadeSchema,
        (path, description): (&str, &str),
        layout: &Layout,
        memory: u64,
    ) -> Result<(Self, Ntuple)> {
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(Error::request("an RNTuple needs a name"));
        }
        let rules = layout.rules(path);
        let encoder = TableEncoder::new(&made)?;
        let MadeSchema { schema, inputs } = made;
        let has_checksum = rules.tree.page_checksums != Some(false);
        let page_rules = page_rules(&schema, &rules, has_checksum);
        let exact = exact_columns(&schema, &rules)?;
        let schema = Arc::new(schema);
        let table = rules.tree.columns();
        let plan = Self {
            inputs,
            encoder,
            schema: Arc::clone(&schema),
            rules: page_rules,
            cluster: rules.tree.cluster.unwrap_or(ClusterSize::Bytes(defaults::NTUPLE_CLUSTER)),
            unzipped_cluster: rules
                .tree
                .unzipped_cluster
                .map_or(defaults::NTUPLE_UNZIPPED_CLUSTER, |size| size.bytes()),
            share_pages: rules.tree.share_pages != Some(false),
            groups: GroupRule::of(rules.tree.cluster_group).within(memory / LIST_SHARE),
            compression: compression(&table),
            exact,
        };
        let nowhere = Link { len: 0, locator: Locator::File { offset: 0, size: 0 } };
        let anchor = Anchor { version: VERSION, header: nowhere, footer: nowhere, max_key_size: MAX_KEY_SIZE };
        let ntuple = Ntuple {
            name,
            description: description.to_owned(),
            writer: concat!("basketry ", env!("CARGO_PKG_VERSION")).to_owned(),
            anchor,
            features: vec![0],
            header_checksum: 0,
            schema,
            groups: Vec::new(),
            attribute_sets: Vec::new(),
        };
        Ok((plan, ntuple))
    }

    /// The plan for a writer that is filled, so that nobody has seen the values: columns whose bits they tell take the bits that are
    /// asked for, and refuse a value that needs more.
    pub fn filled(self, mut ntuple: Ntuple) -> Result<(Self, Ntuple)> {
        if self.exact.is_empty() {
            return Ok((self, ntuple));
        }
        let asked = |column: &ExactColumn| match column.least {
            Some(bits) => Ok(column.own.with_bits(bits).map(|narrow| (column.id, narrow))),
            None => Err(Error::request(
                "the encoding \"exact\" needs a look at all values before the first is written; write exact:BITS, which refuses values \
                 that need more bits, or rewrite the file with it",
            )),
        };
        let narrow: Vec<_> = self.exact.iter().filter_map(|column| asked(column).transpose()).collect::<Result<_>>()?;
        narrow_columns(&mut ntuple.schema, &narrow);
        Ok((self.narrowed(&narrow)?, ntuple))
    }

    /// The same with narrower columns, by physical ID, which refuse values that would change.
    pub fn narrowed(&self, columns: &[(usize, (ColumnType, u16))]) -> Result<Self> {
        let mut schema = Arc::clone(&self.schema);
        narrow_columns(&mut schema, columns);
        let made = MadeSchema { schema: Schema::clone(&schema), inputs: self.inputs.clone() };
        let mut encoder = TableEncoder::new(&made)?;
        columns.iter().for_each(|(id, _)| encoder.keep_bits(*id));
        Ok(Self { schema, inputs: made.inputs, encoder, rules: self.rules.clone(), exact: Vec::new(), ..*self })
    }

    /// Checks that columns from one on can hold zeroes: a quantised one need not, and ROOT reads the object of a streamer field
    /// where there are no bytes of one (`RStreamerField::ReadGlobalImpl`).
    pub fn check_zeros(&self, from: usize) -> Result<()> {
        for (id, column) in self.schema.columns.iter().enumerate().skip(from) {
            let field = self.schema.fields.get(column.field);
            if self.schema.elements_per_entry(id).is_some() {
                if let Some(field) = field.filter(|field| field.role == Role::Streamer) {
                    let why =
                        format!("objects of {} are streamed, and earlier entries would have none", field.type_name);
                    return Err(Error::unsupported(why).object(format!("field {}", field.name)));
                }
                let named =
                    |e: Error| e.object(format!("field {}, which is zero before", self.schema.path(column.field)));
                column.encoding().and_then(|encoding| zero_page(&encoding, 1)).map_err(named)?;
            }
        }
        Ok(())
    }
}

/// The encodings that a layout gives to fields, by their names from the top.
pub(crate) fn encodings(rules: &TreeRules<'_>) -> impl Fn(&[&str]) -> FieldEncoding {
    |path: &[&str]| {
        let lineage: Vec<&str> = path.iter().rev().copied().collect();
        let own = rules.column(&lineage);
        FieldEncoding { column: own.encoding, compressed: !compression(&own).is_none() }
    }
}

fn compression(own: &ColumnLayout) -> Compression {
    own.compression.unwrap_or(defaults::NTUPLE_COMPRESSION)
}

/// Gives columns fewer bits, by physical ID.
pub(super) fn narrow_columns(schema: &mut Arc<Schema>, columns: &[(usize, (ColumnType, u16))]) {
    let schema = Arc::make_mut(schema);
    for (id, (column_type, bits)) in columns {
        if let Some(column) = schema.columns.get_mut(*id) {
            (column.column_type, column.bits) = (*column_type, *bits);
        }
    }
}

/// The columns for which a layout asks the fewest bits that keep every value: floating-point numbers, unless they are quantised.
fn exact_columns(schema: &Schema, rules: &TreeRules<'_>) -> Result<Vec<ExactColumn>> {
    let mut found = Vec::new();
    for (id, column) in schema.columns.iter().enumerate() {
        if let Some(ColumnEncoding::Exact(least)) = rules.column(&schema.lineage(column.field)).encoding {
            let own = schema.encoding(id)?;
            if own.can_be_narrower() {
                found.push(ExactColumn { id, own, least });
            }
        }
    }
    Ok(found)
}

/// The rules of the columns, which are those of their fields.
fn page_rules(schema: &Schema, rules: &TreeRules<'_>, has_checksum: bool) -> Vec<PageRules> {
    let of_column = |field: usize| {
        let own = rules.column(&schema.lineage(field));
        let page_size = own.basket.map_or(defaults::NTUPLE_PAGE, |size| size.bytes());
        PageRules { page_size, compression: compression(&own), has_checksum }
    };
    schema.columns.iter().map(|column| of_column(column.field)).collect()
}

/// The classes, with the pairs of maps, as in trees.
fn with_pairs(spec: &NtupleSpec) -> StreamerInfos {
    let mut all = spec.classes.clone();
    for type_name in spec.fields.iter().filter_map(|field| field.kind.type_name()) {
        for info in describe_contained(&type_name, &all).unwrap_or_default() {
            all.add(Arc::new(info));
        }
    }
    all
}
