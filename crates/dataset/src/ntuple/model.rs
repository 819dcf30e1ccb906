//! The metadata of an RNTuple, as its anchor and envelopes describe them. Data only: the modules that read envelopes fill
//! it, and the modules that decode pages use it.

use std::sync::Arc;

use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use super::class_infos;
use super::element::{ColumnType, Encoding};
use super::type_name::is_same_type;

/// The version of the format that a writer gives in the anchor. For reports: only feature flags decide whether a reader
/// can read an RNTuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormatVersion {
    /// 0 for files from before the first release of the format.
    pub epoch: u16,
    /// Rises with changes that older readers cannot read.
    pub major: u16,
    /// Rises with optional features.
    pub minor: u16,
    /// Rises with clarifications.
    pub patch: u16,
}

/// The position of a block of bytes: an envelope or a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Locator {
    /// Bytes in the file.
    File {
        /// Offset from the start of the file.
        offset: u64,
        /// Bytes in the file: the compressed size. For a page without its checksum.
        size: u64,
    },
    /// A kind of storage that is not a file, such as an object store. Only the block itself cannot be read.
    Unknown {
        /// The locator type: the specification defines 0x01, and ROOT writes 0x02 for DAOS.
        kind: u8,
    },
}

/// A block and its size when decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Bytes when decompressed.
    pub len: u64,
    /// Where it is.
    pub locator: Locator,
}

/// The anchor: the object in the file that leads to header and footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The format's version.
    pub version: FormatVersion,
    /// The header envelope.
    pub header: Link,
    /// The footer envelope.
    pub footer: Link,
    /// Most bytes of one key. Larger blocks are split over several keys.
    pub max_key_size: u64,
}

/// What a field is for its subfields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A value of its own, or a wrapper around its only subfield (enums, `std::atomic`, fixed-size arrays).
    Leaf,
    /// Any number of values of its subfield; its column has the end of each collection.
    Collection,
    /// One value of each subfield.
    Record,
    /// One value of one of its subfields; its column says which.
    Variant,
    /// An object as ROOT's streamer writes it; its columns have ends and bytes.
    Streamer,
    /// A role that the specification does not define. The field and those below it cannot be read.
    Unknown(u16),
}

/// A field. Its index in [`Schema::fields`] is its ID.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The version of the field, for schema evolution.
    pub field_version: u32,
    /// The version of the C++ type. `u32::MAX` for a class without a version.
    pub type_version: u32,
    /// The ID of the field above; none at the top.
    pub parent: Option<usize>,
    /// The structural role.
    pub role: Role,
    /// The name.
    pub name: String,
    /// The C++ type as the file spells it. Empty for untyped records and collections.
    pub type_name: String,
    /// The name that the type has in the source code, if it is another one (`Double32_t`).
    pub type_alias: String,
    /// A description by the writer.
    pub description: String,
    /// The length of a fixed-size array or a `std::bitset`.
    pub array_size: Option<u64>,
    /// The ID of the field that a projected field shows.
    pub source: Option<usize>,
    /// The checksum of the class, as `TClass` has it.
    pub type_checksum: Option<u32>,
    /// Whether the class is a struct of arrays (flag 0x08).
    pub is_soa: bool,
    /// Whether the schema extension in the footer describes the field, not the header.
    pub in_extension: bool,
}

/// A column. Its index in [`Schema::columns`] is its physical ID.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// How its elements are encoded.
    pub column_type: ColumnType,
    /// Bits of an element in a page.
    pub bits: u16,
    /// The ID of its field.
    pub field: usize,
    /// Which of the field's alternative representations it belongs to, from 0.
    pub representation: u16,
    /// For a deferred column: the index of the first stored element. Elements before it are zero.
    pub first_element: Option<Deferred>,
    /// The smallest and the largest value of a quantised column.
    pub range: Option<(f64, f64)>,
    /// Whether the schema extension in the footer describes the column, not the header.
    pub in_extension: bool,
    /// Bits of mantissa to which a writer rounds the numbers before they are stored, if it does. No file says so.
    pub mantissa: Option<u16>,
}

/// The start of a column that was added while the RNTuple was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// The index of the first stored element.
    pub first_element: u64,
    /// Whether the column's representation is not the primary one up to the cluster of the first element.
    pub suppressed: bool,
}

/// A column of a projected field: the elements of another column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliasColumn {
    /// The physical ID of the column with the elements.
    pub column: usize,
    /// The ID of the projected field.
    pub field: usize,
}

/// Information about a type beside the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraTypeInfo {
    /// 0 for streamer infos.
    pub content_id: u32,
    /// The version of the type.
    pub type_version: u32,
    /// The type; empty for streamer infos.
    pub type_name: String,
    /// For streamer infos: a streamed `TList` of `TStreamerInfo`.
    pub content: Vec<u8>,
    /// Whether the schema extension in the footer has it, as ROOT writes it, not the header.
    pub in_extension: bool,
}

/// Fields and columns, from the header and the extension in the footer. The lists are not changed after [`Schema::new`]: the
/// index of fields to subfields and columns is made there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// All fields, by ID.
    pub fields: Vec<Field>,
    /// All columns, by physical ID.
    pub columns: Vec<Column>,
    /// The columns of projected fields.
    pub aliases: Vec<AliasColumn>,
    /// Streamer infos and information of later versions.
    pub extra: Vec<ExtraTypeInfo>,
    /// Subfields by the ID of their parent plus one; those of 0 are at the top.
    subfields: Lists,
    /// Columns by the ID of their field.
    field_columns: Lists,
    /// Alias columns by the ID of their field.
    field_aliases: Lists,
    infos: Infos,
}

/// Streamer infos, made from the extra type information.
#[derive(Clone, Debug, Default)]
struct Infos(Arc<StreamerInfos>);

impl PartialEq for Infos {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || class_infos::are_equal(&self.0, &other.0)
    }
}

/// Numbers in lists: those of list `k` are in `numbers` from `starts[k]` to `starts[k + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Lists {
    starts: Vec<usize>,
    numbers: Vec<usize>,
}

impl Lists {
    /// Puts the numbers 0, 1, ... into the lists that `list_of` names for them, where there is such a list.
    fn new(lists: usize, list_of: impl Iterator<Item = usize> + Clone) -> Self {
        let mut starts = vec![0; lists + 1];
        for list in list_of.clone().filter(|list| *list < lists) {
            if let Some(count) = starts.get_mut(list + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let (mut next, mut numbers) = (starts.clone(), vec![0; sum]);
        for (number, list) in list_of.enumerate().filter(|(_, list)| *list < lists) {
            if let Some(at) = next.get_mut(list) {
                if let Some(slot) = numbers.get_mut(*at) {
                    *slot = number;
                }
                *at += 1;
            }
        }
        Self { starts, numbers }
    }

    fn list(&self, list: usize) -> &[usize] {
        match self.starts.get(list..) {
            Some(&[start, end, ..]) => self.numbers.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// A range of clusters whose pages one envelope lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterGroup {
    /// The first entry.
    pub first_entry: u64,
    /// How many entries.
    pub entries: u64,
    /// How many clusters.
    pub clusters: u32,
    /// The envelope with their pages.
    pub page_list: Link,
}

/// Another RNTuple with data about ranges of entries of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSet {
    /// The name.
    pub name: String,
    /// The version of the set's schema: major, minor.
    pub schema_version: (u16, u16),
    /// The anchor of the other RNTuple: the bytes of the object, not its key.
    pub anchor: Link,
}

/// A page: consecutive elements of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many elements.
    pub elements: u32,
    /// Whether an XXH3 checksum (8 bytes) follows the page.
    pub has_checksum: bool,
    /// Where the page is. Several pages may have the same bytes.
    pub locator: Locator,
}

/// The elements of one column in one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnRange {
    /// The index of the first element in the whole column. For a suppressed column: that of the representation with the
    /// data.
    pub first_element: u64,
    /// The compression setting (algorithm * 100 + level). None for a suppressed column: another representation of the field
    /// has the data of this cluster.
    pub compression: Option<u32>,
    /// The pages, as a range of [`PageList::pages`].
    pub pages: std::ops::Range<usize>,
}

/// A range of entries and its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The first entry.
    pub first_entry: u64,
    /// How many entries.
    pub entries: u64,
    /// The columns that the page list has, by physical ID. Columns that were added later may be absent.
    pub columns: Vec<ColumnRange>,
}

/// The clusters and pages of one cluster group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageList {
    /// The clusters, in the order of their entries.
    pub clusters: Vec<Cluster>,
    /// The pages of all clusters.
    pub pages: Vec<Page>,
}

/// The metadata of an RNTuple, except for its page lists: those are read group by group.
#[derive(Clone, Debug, PartialEq)]
pub struct Ntuple {
    /// The name.
    pub name: String,
    /// A description by the user.
    pub description: String,
    /// The program that wrote it.
    pub writer: String,
    /// The anchor.
    pub anchor: Anchor,
    /// The feature flags of header and footer together: feature `n` is bit `n % 64` of word `n / 64`. The highest bit of a
    /// word is no feature: it says in a file that a word follows.
    pub features: Vec<u64>,
    /// The checksum of the header, which footer and page lists repeat.
    pub header_checksum: u64,
    /// Fields and columns. RNTuples with the same schema may share it.
    pub schema: Arc<Schema>,
    /// Groups of clusters.
    pub groups: Vec<ClusterGroup>,
    /// Linked attribute sets.
    pub attribute_sets: Vec<AttributeSet>,
}

impl Cluster {
    /// The pages of a column, by its physical ID. None if the page list does not have the column.
    pub fn pages<'a>(&self, list: &'a PageList, column: usize) -> Option<&'a [Page]> {
        list.pages.get(self.columns.get(column)?.pages.clone())
    }

    /// How many elements of a column are stored, by its physical ID.
    pub fn elements(&self, list: &PageList, column: usize) -> u64 {
        self.pages(list, column).unwrap_or_default().iter().map(|page| u64::from(page.elements)).sum()
    }
}

impl Ntuple {
    /// The number of entries.
    pub fn entries(&self) -> u64 {
        self.groups.iter().map(|group| group.first_entry.saturating_add(group.entries)).max().unwrap_or(0)
    }
}

/// The list of [`Schema::subfields`] for a parent.
fn under(parent: Option<usize>) -> usize {
    parent.map_or(0, |parent| parent.saturating_add(1))
}

impl Schema {
    /// A schema with its index.
    pub fn new(fields: Vec<Field>, columns: Vec<Column>, aliases: Vec<AliasColumn>, extra: Vec<ExtraTypeInfo>) -> Self {
        let contents = extra.iter().filter(|extra| extra.content_id == class_infos::STREAMER_INFOS);
        let infos = class_infos::streamer_infos(contents.map(|extra| extra.content.as_slice()));
        Self {
            subfields: Lists::new(fields.len() + 1, fields.iter().map(|field| under(field.parent))),
            field_columns: Lists::new(fields.len(), columns.iter().map(|column| column.field)),
            field_aliases: Lists::new(fields.len(), aliases.iter().map(|alias| alias.field)),
            fields,
            columns,
            aliases,
            infos: Infos(Arc::new(infos)),
            extra,
        }
    }

    /// Adds the streamer infos of the file, which describe the classes that the RNTuple's own do not. Only for an RNTuple with
    /// fields of objects that ROOT's streamer wrote.
    pub fn add_streamer_infos(&mut self, infos: &StreamerInfos) {
        if self.fields.iter().any(|field| field.role == Role::Streamer) {
            Arc::make_mut(&mut self.infos.0).extend(infos);
        }
    }

    /// The streamer infos of the classes in streamer fields.
    pub fn streamer_infos(&self) -> &StreamerInfos {
        &self.infos.0
    }

    /// The IDs of the fields directly below a field, in their order; of the top-level fields for `None`.
    pub fn children(&self, parent: Option<usize>) -> Vec<usize> {
        self.subfields.list(under(parent)).to_vec()
    }

    /// The physical IDs of a field's columns: of all representations, those of representation 0 first.
    pub fn columns_of(&self, field: usize) -> &[usize] {
        self.field_columns.list(field)
    }

    /// The alias columns of a projected field, in their order.
    pub fn aliases_of(&self, field: usize) -> impl Iterator<Item = &AliasColumn> {
        self.field_aliases.list(field).iter().filter_map(|&alias| self.aliases.get(alias))
    }

    /// The names of a field and of those above it, from below to the top.
    pub fn lineage(&self, field: usize) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = self.fields.get(field);
        // A parent precedes its children, so a walk up ends.
        while let Some(field) = at {
            names.push(field.name.as_str());
            at = field.parent.and_then(|parent| self.fields.get(parent));
        }
        names
    }

    /// Those of all fields.
    pub fn lineages(&self) -> impl Iterator<Item = Vec<&str>> {
        (0..self.fields.len()).map(|field| self.lineage(field))
    }

    /// The path of a field: the names from the top, joined by dots (names have no dots).
    pub fn path(&self, field: usize) -> String {
        self.lineage(field).into_iter().rev().collect::<Vec<_>>().join(".")
    }

    /// How the elements of a column are encoded, by its physical ID.
    ///
    /// # Errors
    ///
    /// If there is no such column, or if its type cannot be decoded.
    pub fn encoding(&self, column: usize) -> Result<Encoding> {
        let described = self.columns.get(column);
        let described = described.ok_or_else(|| Error::request(format!("the schema has no column {column}")))?;
        described.encoding()
    }

    /// How many values of a field an entry has. None below collections and variants, where their number varies, and if it does not
    /// fit 64 bits.
    pub fn values_per_entry(&self, field: usize) -> Option<u64> {
        let mut at = self.fields.get(field)?;
        let mut values = at.array_size.unwrap_or(1);
        // A parent precedes its children, so the walk ends.
        while let Some(parent) = at.parent {
            at = self.fields.get(parent)?;
            if !matches!(at.role, Role::Leaf | Role::Record) {
                return None;
            }
            values = values.checked_mul(at.array_size.unwrap_or(1))?;
        }
        Some(values)
    }

    /// How many elements of a column an entry has, by its physical ID. None where their number varies: see
    /// [`Schema::values_per_entry`]. Only the first column of a representation counts values; the second one of text and of streamed
    /// objects has their bytes (`RFieldBase.cxx`, `ConnectPageSink`: only the first can be deferred).
    pub fn elements_per_entry(&self, column: usize) -> Option<u64> {
        let own = self.columns.get(column)?;
        let of_representation =
            |id: &&usize| self.columns.get(**id).map(|c| c.representation) == Some(own.representation);
        let first = self.columns_of(own.field).iter().find(of_representation);
        if first == Some(&column) { self.values_per_entry(own.field) } else { None }
    }
}

impl Field {
    /// A field with these properties and no others.
    pub fn new(parent: Option<usize>, role: Role, name: &str, type_name: &str) -> Self {
        Self {
            field_version: 0,
            type_version: 0,
            parent,
            role,
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            type_alias: String::new(),
            description: String::new(),
            array_size: None,
            source: None,
            type_checksum: None,
            is_soa: false,
            in_extension: false,
        }
    }

    /// Whether two fields have the same role, size and type. Which field they show and what is below them may differ.
    pub fn is_like(&self, other: &Self) -> bool {
        self.role == other.role
            && self.array_size == other.array_size
            && self.is_soa == other.is_soa
            && is_same_type(&self.type_name, &other.type_name)
    }
}

impl Column {
    /// How its elements are encoded.
    ///
    /// # Errors
    ///
    /// See [`Encoding::new`].
    pub fn encoding(&self) -> Result<Encoding> {
        Encoding::new(self.column_type, self.bits, self.range)
    }
}
