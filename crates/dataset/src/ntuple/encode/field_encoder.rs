//! Encoders of the stored top-level fields of a schema.

use std::ops::Range;

use arrow_array::ArrayRef;
use rootfile::{Error, Result};

use super::append::{append, push_ends};
use super::node::{Node, Planner};
use super::pending::PendingColumn;
use crate::decode::program::types::Shape;
use crate::encode::view::{View, shape_mismatch};
use crate::ntuple::element::{Encoding, Kind};
use crate::ntuple::make::{InputUse, MadeSchema};
use crate::ntuple::model::Schema;
use crate::type_name::TypeName;

/// Encodes entries of an RNTuple.
#[derive(Debug)]
pub struct TableEncoder {
    fields: Vec<FieldEncoder>,
}

/// Encodes the entries of one stored top-level field.
#[derive(Debug)]
pub struct FieldEncoder {
    name: String,
    /// The physical IDs of its columns.
    columns: Range<usize>,
    content: Content,
    empty: Vec<EmptyColumn>,
}

/// What a pending column is made of.
#[derive(Clone, Copy, Debug)]
struct EmptyColumn {
    encoding: Encoding,
    double: bool,
    counts: usize,
    keeps_bits: bool,
    mantissa: Option<u16>,
}

#[derive(Debug)]
enum Content {
    /// One column of entries.
    Whole(Member),
    /// Lists of the same lengths.
    Collection { members: Vec<Member> },
}

#[derive(Debug)]
struct Member {
    input: usize,
    shape: Shape,
    node: Node,
}

impl TableEncoder {
    /// The encoders of a schema.
    ///
    /// # Errors
    ///
    /// If values of a field cannot be written.
    pub fn new(made: &MadeSchema) -> Result<Self> {
        let schema = &made.schema;
        let mut fields = Vec::new();
        let stored =
            schema.children(None).into_iter().filter(|id| schema.fields.get(*id).is_some_and(|f| f.source.is_none()));
        let stored: Vec<usize> = stored.collect();
        for (number, &id) in stored.iter().enumerate() {
            let name = schema.path(id);
            let end =
                stored.get(number + 1).and_then(|next| first_column(schema, *next)).unwrap_or(schema.columns.len());
            let first = first_column(schema, id).unwrap_or(end);
            let planner = Planner { schema, first };
            let failed =
                |why: String| Error::unsupported(format!("cannot be written: {why}")).object(format!("field {name}"));
            let used = made.inputs.iter().enumerate();
            let member = |input: usize, source: usize| {
                let shape = made.inputs.get(input).map(|input| input.plan.shape().clone());
                let node = planner.node(source).map_err(failed)?;
                Ok(Member { input, shape: shape.ok_or_else(shape_mismatch)?, node })
            };
            let whole = used.clone().find(|(_, input)| input.id == id && input.used == InputUse::Field);
            let content = match whole {
                Some((input, _)) => Content::Whole(member(input, id)?),
                None => {
                    let members = used.filter_map(|(number, input)| match input.used {
                        InputUse::Member { of, field } if of == id => Some(member(number, field)),
                        _ => None,
                    });
                    Content::Collection { members: members.collect::<Result<_>>()? }
                }
            };
            let empty = (first..end).map(|column| empty_column(schema, column)).collect::<Result<_>>()?;
            fields.push(FieldEncoder { name, columns: first..end, content, empty });
        }
        Ok(Self { fields })
    }

    /// Refuses values that would change in a column, given by its physical ID.
    pub fn keep_bits(&mut self, column: usize) {
        let of = self.fields.iter_mut().find(|field| field.columns.contains(&column));
        let empty = of.and_then(|field| field.empty.get_mut(column - field.columns.start));
        if let Some(empty) = empty {
            empty.keeps_bits = true;
        }
    }

    /// The stored top-level fields, in the order of their columns.
    pub fn fields(&self) -> &[FieldEncoder] {
        &self.fields
    }
}

/// The first column of a field or of those below it. Columns are in the order of fields.
fn first_column(schema: &Schema, id: usize) -> Option<usize> {
    let own = schema.columns_of(id).first().copied();
    own.or_else(|| schema.children(Some(id)).into_iter().find_map(|child| first_column(schema, child)))
}

fn empty_column(schema: &Schema, id: usize) -> Result<EmptyColumn> {
    let encoding = schema.encoding(id)?;
    let field = schema.columns.get(id).and_then(|column| schema.fields.get(column.field));
    let name = field.map_or("", |field| field.type_name.as_str());
    let parts = schema.columns.get(id).map_or(0, |column| schema.children(Some(column.field)).len());
    let double = encoding.kind() == Kind::F64 || TypeName::parse(name).text == "double";
    let counts = PendingColumn::counters(encoding.column_type(), parts);
    let mantissa = schema.columns.get(id).and_then(|column| column.mantissa);
    Ok(EmptyColumn { encoding, double, counts, keeps_bits: false, mantissa })
}

impl FieldEncoder {
    /// The name of the field.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The physical IDs of its columns.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Its columns without elements. `is_stored` says of each column, counted from the field's first one, whether its pages are not
    /// compressed.
    pub fn start(&self, is_stored: impl Fn(usize) -> bool) -> Vec<PendingColumn> {
        let empty = self.empty.iter().enumerate();
        let column = |(at, of): (usize, &EmptyColumn)| {
            let empty = PendingColumn::new(of.encoding, of.double, of.counts, is_stored(at));
            empty.keep_bits(of.keeps_bits).rounding(of.mantissa)
        };
        empty.map(column).collect()
    }

    /// Appends the entries `rows` of a batch. `arrays` are the columns of the batch in the order of [`MadeSchema::inputs`], each of
    /// the type of its input; offsets may have 32 or 64 bits.
    ///
    /// # Errors
    ///
    /// If an array has another type, or nulls where the type has none. The cluster is then unusable.
    pub fn append(&self, arrays: &[Option<ArrayRef>], rows: Range<usize>, columns: &mut [PendingColumn]) -> Result<()> {
        let at = (rows.start, rows.len());
        let array = |input: usize| {
            let missing = || Error::request("is missing from the batch");
            arrays.get(input).and_then(Option::as_ref).ok_or_else(missing)
        };
        let appended = match &self.content {
            Content::Whole(Member { input, shape, node }) => {
                array(*input).and_then(|array| append(node, &View::new(shape, array.as_ref())?, at, columns))
            }
            Content::Collection { members } => self.collection(members, array, at, columns),
        };
        appended.map_err(|e| e.object(format!("field {}", self.name)))
    }

    /// Appends the numbers of the entries whose arrays are given, and not how they lie in collections of columns: to look at them
    /// before they are written.
    ///
    /// # Errors
    ///
    /// If an array has another type, or nulls where the type has none.
    pub fn append_given(&self, arrays: &[Option<ArrayRef>], rows: usize, columns: &mut [PendingColumn]) -> Result<()> {
        let given = |member: &Member| arrays.get(member.input).and_then(Option::as_ref);
        let appended = match &self.content {
            Content::Whole(whole) => given(whole).map_or(Ok(()), |array| {
                append(&whole.node, &View::new(&whole.shape, array.as_ref())?, (0, rows), columns)
            }),
            Content::Collection { members } => members.iter().try_for_each(|member| {
                let Some(array) = given(member) else { return Ok(()) };
                let view = View::new(&member.shape, array.as_ref())?;
                let View::List { ends, items } = &view else { return Err(shape_mismatch()) };
                let start = ends.bound(0);
                append(&member.node, items, (start, ends.bound(rows).saturating_sub(start)), columns)
            }),
        };
        appended.map_err(|e| e.object(format!("field {}", self.name)))
    }

    /// Appends lists of the same lengths: the ends once, and the items of each.
    fn collection<'a>(
        &self,
        members: &[Member],
        array: impl Fn(usize) -> Result<&'a ArrayRef>,
        at: (usize, usize),
        columns: &mut [PendingColumn],
    ) -> Result<()> {
        for (number, member) in members.iter().enumerate() {
            let view = View::new(&member.shape, array(member.input)?.as_ref())?;
            let View::List { ends, items } = &view else { return Err(shape_mismatch()) };
            if number == 0 {
                push_ends(columns.first_mut().ok_or_else(shape_mismatch)?, *ends, at)?;
            }
            let start = ends.bound(at.0);
            append(&member.node, items, (start, ends.bound(at.0 + at.1).saturating_sub(start)), columns)?;
        }
        Ok(())
    }
}
