//! Tables of a writer: their columns by C++ type, by class, or by a schema of Arrow's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use arrow_schema::{DataType, Field, Schema};
use dataset::layout::Container;
use dataset::ntuple::make::{NewField, fields_for};
use dataset::tree::make::{NewColumn, columns_for};
use flow::write::{NtupleSpec, ParallelWriter, TableId, TreeColumn, TreeSpec};
use rootfile::streamer::StreamerInfos;
use rootfile::streamer::describe::{ClassDescription, Member as ClassMember, describe};
use rootfile::{Error, Result};

use crate::foreign::Text;
use crate::lock::lock;
use crate::options::{Versioned, versioned_items};
use crate::shape::{Known, Member, Record, Shape, without_brackets};

/// A column of a table, or a member of a structure. Set `size` to its sizeof, and what is not needed to zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Column {
    /// The sizeof of this structure.
    pub size: usize,
    /// Its name.
    pub name: Text,
    /// Its C++ type: any that ROOT writes, such as `float`, `std::int32_t`, `float[3]`, `std::string`, `std::vector<std::vector<float>>`,
    /// `std::map<int,std::string>`, or a class that the writer's `classes` describe. `float[nMuon]` is an array of as many items as the
    /// column `nMuon` says, a leaf list of its own in a tree (NanoAOD's form). Maps, sets, optional values and the like are filled by
    /// Arrow only.
    pub r#type: Text,
    /// Bytes from the address of an entry, or of the structure, to the value: `offsetof`.
    pub offset: usize,
    /// If the type is a structure, or a container of structures: the members that are written, in order, and their number. They describe
    /// the class where the writer's `classes` do not.
    pub members: *const Column,
    /// The number of members.
    pub member_count: usize,
    /// The sizeof of the structure that the members are of.
    pub stride: usize,
    /// The sizeof of a `std::string`, if it is not that of GNU's library. The object begins with a pointer to the bytes, and their number.
    pub string_size: usize,
}

// SAFETY: the layout is C's, the size is first, and zeroes are numbers and null pointers.
unsafe impl Versioned for Column {
    const NAME: &'static str = "columns";
}

/// A column as it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub name: String,
    pub cpp: String,
    pub offset: usize,
    /// How it lies in memory, if it can be gathered.
    pub shape: Option<Shape>,
}

/// A table of a writer.
pub(crate) struct Table {
    pub id: TableId,
    /// Its columns in order, if they were given by C++ types.
    columns: Mutex<Vec<Asked>>,
    /// The number of columns that it began with.
    pub early: usize,
    /// Whether it is written by a tree's columns. In an RNTuple these are as ROOT's importer makes them.
    pub as_tree: bool,
}

impl Table {
    /// Its columns so far.
    pub fn columns(&self) -> Vec<Asked> {
        lock(&self.columns).clone()
    }

    /// Adds columns while it is filled. Returns the number of the first.
    pub fn add_columns(
        &self,
        writer: &ParallelWriter,
        content: &Content<'_>,
        classes: &StreamerInfos,
    ) -> Result<usize> {
        match self.as_tree {
            true => writer.add_columns(self.id, &content.tree_columns()?, classes)?,
            false => writer.add_fields(self.id, &content.fields()?, classes)?,
        }
        let mut columns = lock(&self.columns);
        columns.extend(content.asked());
        Ok(columns.len() - content.asked().len())
    }
}

/// The columns that a caller gives, with the classes that their structures are.
pub(crate) struct Columns {
    pub asked: Vec<Asked>,
    pub classes: Vec<ClassDescription>,
}

/// Most levels of structures in structures.
const DEEPEST: usize = 32;

impl Columns {
    /// Reads columns.
    ///
    /// # Safety
    ///
    /// There are `count` columns from `first` on, with their texts and members.
    pub unsafe fn read(first: *const Column, count: usize) -> Result<Self> {
        // SAFETY: the caller's promise.
        let given = unsafe { versioned_items(first, count) }?;
        let (mut asked, mut classes) = (Vec::with_capacity(given.len()), Vec::new());
        for column in &given {
            let name = column.name.text("the name of a column")?.to_owned();
            // SAFETY: the caller's promise.
            let read = unsafe { one(column, &mut classes, 0) };
            let (cpp, shape) = read.map_err(|e| e.object(format!("column {name}")))?;
            asked.push(Asked { name, cpp, offset: column.offset, shape });
        }
        Ok(Self { asked, classes })
    }

    /// The members of a class as columns. Their values have no addresses.
    pub fn of_class(class: &str, classes: &[ClassDescription]) -> Result<Self> {
        let mut asked = Vec::new();
        add_members(class, classes, &mut asked, 0)?;
        Ok(Self { asked, classes: Vec::new() })
    }
}

fn add_members(class: &str, classes: &[ClassDescription], asked: &mut Vec<Asked>, depth: usize) -> Result<()> {
    let none = || Error::request(format!("the writer's classes have no {class}"));
    let class = classes.iter().find(|one| one.name == class).filter(|_| depth < DEEPEST).ok_or_else(none)?;
    for base in &class.bases {
        add_members(base, classes, asked, depth + 1)?;
    }
    for member in class.members.iter().filter(|member| !member.is_transient()) {
        let shape = Shape::of(&member.cpp_type, &Known::default())?;
        asked.push(Asked { name: member.name.clone(), cpp: member.cpp_type.clone(), offset: 0, shape });
    }
    Ok(())
}

/// The type and the shape of a column.
///
/// # Safety
///
/// As for [`Columns::read`].
unsafe fn one(column: &Column, classes: &mut Vec<ClassDescription>, depth: usize) -> Result<(String, Option<Shape>)> {
    let cpp = column.r#type.text("the type of a column")?.to_owned();
    let mut known = Known { records: HashMap::new(), string: column.string_size };
    if column.member_count > 0 {
        if depth > DEEPEST {
            return Err(Error::request("structures nest too deep"));
        }
        // SAFETY: the caller's promise.
        let members = unsafe { versioned_items(column.members, column.member_count) }?;
        let class = innermost(&cpp);
        let mut record = Record { class: class.clone(), size: column.stride, members: Vec::new() };
        for member in &members {
            let name = member.name.text("the name of a member")?.to_owned();
            // SAFETY: the caller's promise.
            let read = unsafe { one(member, classes, depth + 1) };
            let (cpp, shape) = read.map_err(|e| e.object(format!("member {name}")))?;
            let none = || Error::unsupported(format!("member {name} is a {cpp}, which is not gathered from memory"));
            let shape = shape.ok_or_else(none)?;
            if member.offset.checked_add(shape.size()).is_none_or(|end| end > record.size) {
                let why = format!("member {name} ends behind the structure: `stride` is the sizeof of {class}");
                return Err(Error::request(why));
            }
            record.members.push(Member { name, cpp, offset: member.offset, shape });
        }
        if !classes.iter().any(|one| one.name == class) {
            classes.push(described(&record));
        }
        known.records.insert(class, record);
    }
    let shape = Shape::of(&cpp, &known)?;
    Ok((cpp, shape))
}

/// The class that a type is of, or that the containers of the type hold.
fn innermost(cpp: &str) -> String {
    let inner = cpp.rsplit('<').next().unwrap_or_default();
    inner.split(['>', ',', '[']).next().unwrap_or_default().trim().trim_start_matches("const ").to_owned()
}

fn described(record: &Record) -> ClassDescription {
    let member = |member: &Member| ClassMember {
        name: member.name.clone(),
        cpp_type: member.cpp.clone(),
        comment: String::new(),
    };
    let members = record.members.iter().map(member).collect();
    ClassDescription { name: record.class.clone(), members, ..ClassDescription::default() }
}

/// The classes of a writer, and those that were described by members.
pub(crate) fn with_described(classes: &StreamerInfos, more: &[ClassDescription]) -> Result<StreamerInfos> {
    let mut all = classes.clone();
    let new: Vec<ClassDescription> = more.iter().filter(|one| all.latest(&one.name).is_none()).cloned().collect();
    if !new.is_empty() {
        for info in describe(&new, &all)? {
            all.add(Arc::new(info));
        }
    }
    Ok(all)
}

/// What a table is to have.
pub(crate) enum Content<'a> {
    /// Columns by C++ types.
    Columns(&'a [Asked]),
    /// Columns by Arrow's types; those that may lack values become `std::optional` where `optional`.
    Schema { schema: &'a Schema, optional: bool },
}

impl Content<'_> {
    /// Whether it needs a tree's columns.
    fn is_counted(&self) -> bool {
        let counted = |column: &Asked| column.shape.as_ref().is_some_and(|shape| shape.counter().is_some());
        matches!(self, Self::Columns(columns) if columns.iter().any(counted))
    }

    /// The columns of a tree.
    pub fn tree_columns(&self) -> Result<Vec<TreeColumn>> {
        let made: Vec<NewColumn> = match self {
            Self::Columns(columns) => columns_for(&Schema::new(columns.iter().map(field_of).collect::<Vec<_>>()))?,
            Self::Schema { schema, .. } => columns_for(schema)?,
        };
        Ok(made.into_iter().map(|column| TreeColumn { name: column.name, kind: column.kind }).collect())
    }

    /// The fields of an RNTuple.
    pub fn fields(&self) -> Result<Vec<NewField>> {
        match self {
            Self::Columns(columns) => {
                Ok(columns.iter().map(|column| NewField::typed(&column.name, &without_brackets(&column.cpp))).collect())
            }
            Self::Schema { schema, optional: true } => fields_for(schema),
            Self::Schema { schema, optional: false } => {
                let fields = schema.fields().iter().map(|field| never_null(field)).collect::<Vec<_>>();
                fields_for(&Schema::new(fields))
            }
        }
    }

    /// The columns that it has by C++ types.
    pub fn asked(&self) -> Vec<Asked> {
        match self {
            Self::Columns(columns) => columns.to_vec(),
            Self::Schema { .. } => Vec::new(),
        }
    }
}

/// The field of a column, by which its branch is made. Numbers need no C++ type.
fn field_of(column: &Asked) -> Field {
    let metadata = |key: &str, value: &str| HashMap::from([(key.to_owned(), value.to_owned())]);
    match &column.shape {
        Some(shape) if shape.is_leaf() => {
            let field = Field::new(&column.name, shape.data_type(), false);
            shape.counter().map_or(field.clone(), |counter| field.with_metadata(metadata("counter", counter)))
        }
        _ => Field::new(&column.name, DataType::Null, false).with_metadata(metadata("typename", &column.cpp)),
    }
}

/// The same without marks that values may be missing: most producers set them everywhere.
fn never_null(field: &Field) -> Field {
    let item = |item: &Arc<Field>| Arc::new(never_null(item));
    let data_type = match field.data_type() {
        DataType::List(of) => DataType::List(item(of)),
        DataType::LargeList(of) => DataType::LargeList(item(of)),
        DataType::FixedSizeList(of, n) => DataType::FixedSizeList(item(of), *n),
        DataType::Struct(of) => DataType::Struct(of.iter().map(item).collect()),
        other => other.clone(),
    };
    Field::new(field.name(), data_type, false).with_metadata(field.metadata().clone())
}

/// Adds a table to a writer.
pub(crate) fn add(
    writer: &mut ParallelWriter,
    path: &str,
    title: &str,
    content: &Content<'_>,
    classes: StreamerInfos,
) -> Result<Table> {
    let (path, title) = (path.to_owned(), title.to_owned());
    let as_tree = writer.container(&path) == Container::Ttree || content.is_counted();
    let named = |e: Error| e.object(format!("table {path}"));
    let id = if as_tree {
        let columns = content.tree_columns().map_err(named)?;
        writer.tree(&TreeSpec { path: path.clone(), title, columns, classes })?
    } else {
        let fields = content.fields().map_err(named)?;
        writer.ntuple(&NtupleSpec { path: path.clone(), description: title, fields, classes })?
    };
    let columns = content.asked();
    Ok(Table { id, early: columns.len(), columns: Mutex::new(columns), as_tree })
}
