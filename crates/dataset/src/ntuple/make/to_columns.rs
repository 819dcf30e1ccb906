//! The columns of a tree for the fields of an RNTuple, in the shapes that users of trees expect: numbers and arrays of them are
//! leaves, lists with a common number of items have a counter, classes are classes.

use std::collections::HashMap;

use rootfile::streamer::StreamerInfos;
use rootfile::streamer::describe::{ClassDescription, Member, describe};
use rootfile::{Error, Hint, Result};

use crate::ntuple::model::{Field, Role, Schema};
use crate::tree::make::{NewKind, NewLeaf, spelled};
use crate::type_name::TypeName;

/// Deepest nesting of types.
const DEEPEST: usize = 64;

/// The columns of a tree, and the classes that they need.
#[derive(Clone, Debug, Default)]
pub struct TreeColumns {
    /// The columns, each after its counter.
    pub columns: Vec<ColumnSource>,
    /// The classes of the columns.
    pub classes: StreamerInfos,
    /// Fields that trees cannot hold, and why.
    pub refused: Vec<(String, String)>,
}

/// A column of a tree, and the field that fills it.
#[derive(Clone, Debug)]
pub struct ColumnSource {
    /// Its name.
    pub name: String,
    /// Its content.
    pub kind: NewKind,
    /// The ID of the top-level field with its values.
    pub field: usize,
    /// The member of the records in the field's lists that it takes, if it does not take all.
    pub member: Option<String>,
    /// The title of its branch, if the field has a description.
    pub title: Option<String>,
}

/// The columns for the top-level fields for which `keeps` says so:
///
/// - A number, and an array of numbers: a leaf. A record without a type of such: a branch of several leaves.
/// - A projected number of items: a counter, and the lists with that number the leaves that it counts, as in a NanoAOD. The
///   collection behind them is no column.
/// - A list of records without a type: a leaf `field_member[nfield]` for each member that is a number.
/// - Any other type that ROOT can put into a tree: a column of that C++ type. The members of classes are those of the fields.
pub fn columns_of_fields(schema: &Schema, keeps: &dyn Fn(&str) -> bool) -> TreeColumns {
    let mut made = TreeColumns::default();
    let tops: Vec<usize> = schema.children(None).into_iter().filter(|id| keeps(&schema.path(*id))).collect();
    let shown = shown_collections(schema, &tops);
    let mut descriptions: Vec<ClassDescription> = Vec::new();
    // Counters first: a counter precedes what it counts.
    let is_counter = |id: &&usize| {
        let field = schema.fields.get(**id);
        field.is_some_and(|f| f.source.is_some_and(|source| shown.contains_key(&source)) && f.role == Role::Leaf)
    };
    for &top in tops.iter().filter(is_counter) {
        let name = schema.path(top);
        let (letter, title) = told(schema, top, 'I');
        let kind = NewKind::Leaves(vec![leaf(&name, letter, Vec::new(), None)]);
        made.columns.push(ColumnSource { name, kind, field: top, member: None, title });
    }
    for &top in tops.iter().filter(|id| !is_counter(id)) {
        let Some(field) = schema.fields.get(top) else { continue };
        if shown.contains_key(&top) {
            continue;
        }
        if let Err(why) = column(schema, (top, field), &shown, &mut made, &mut descriptions) {
            made.refused.push((schema.path(top), why));
        }
    }
    match describe(&descriptions, &schema.streamer_infos().clone()) {
        Ok(infos) => infos.into_iter().for_each(|info| made.classes.add(std::sync::Arc::new(info))),
        Err(e) => made.refused.push(("classes".to_owned(), e.to_string())),
    }
    made.classes.extend(schema.streamer_infos());
    made
}

/// Collections of records of numbers that are shown completely by projections with a number of items, and the name of that number.
fn shown_collections(schema: &Schema, tops: &[usize]) -> HashMap<usize, String> {
    let mut shown = HashMap::new();
    for &top in tops {
        let Some(field) = schema.fields.get(top).filter(|f| f.role == Role::Collection && f.source.is_none()) else {
            continue;
        };
        let projections: Vec<usize> =
            tops.iter().copied().filter(|id| schema.fields.get(*id).is_some_and(|f| f.source == Some(top))).collect();
        let counter = projections.iter().find(|id| schema.fields.get(**id).is_some_and(|f| f.role == Role::Leaf));
        let record = schema.children(Some(top)).first().copied();
        let members = schema.children(record);
        let is_shown = |member: &usize| {
            projections.iter().any(|list| {
                schema
                    .children(Some(*list))
                    .iter()
                    .any(|item| schema.fields.get(*item).is_some_and(|f| f.source == Some(*member)))
            })
        };
        if let (Some(counter), true) = (counter, field.type_name.is_empty() && members.iter().all(is_shown)) {
            shown.insert(top, schema.path(*counter));
        }
    }
    shown
}

fn leaf(name: &str, letter: char, dims: Vec<u32>, counter: Option<String>) -> NewLeaf {
    NewLeaf { name: name.to_owned(), letter, dims, counter, packing: String::new() }
}

/// Adds the column of a top-level field.
fn column(
    schema: &Schema,
    (id, field): (usize, &Field),
    shown: &HashMap<usize, String>,
    made: &mut TreeColumns,
    classes: &mut Vec<ClassDescription>,
) -> std::result::Result<(), String> {
    let name = schema.path(id);
    let (_, title) = told(schema, id, ' ');
    let mut add = |name: String, kind: NewKind, member: Option<String>| {
        made.columns.push(ColumnSource { name, kind, field: id, member, title: title.clone() });
    };
    // A list with a counter.
    if let (Some(counter), [item]) = (field.source.and_then(|id| shown.get(&id)), schema.children(Some(id)).as_slice())
        && let Some((letter, dims)) = number(schema, *item)
    {
        let (letter, _) = told(schema, id, letter);
        add(name.clone(), NewKind::Leaves(vec![leaf(&name, letter, dims, Some(counter.clone()))]), None);
        return Ok(());
    }
    if let Some((letter, dims)) = number(schema, id) {
        let (letter, _) = told(schema, id, letter);
        add(name.clone(), NewKind::Leaves(vec![leaf(&name, letter, dims, None)]), None);
        return Ok(());
    }
    let children = schema.children(Some(id));
    let leaves = |parts: &[usize]| -> Option<Vec<NewLeaf>> {
        let part = |part: &usize| {
            let (letter, dims) = number(schema, *part)?;
            Some(leaf(&schema.fields.get(*part)?.name, letter, dims, None))
        };
        parts.iter().map(part).collect()
    };
    if field.role == Role::Record && field.type_name.is_empty() {
        let all = leaves(&children).filter(|all| !all.is_empty());
        add(name, NewKind::Leaves(all.ok_or("a record without a type, with more than numbers in it")?), None);
        return Ok(());
    }
    if field.role == Role::Collection && field.type_name.is_empty() {
        let item = children.first().copied();
        let parts = leaves(&schema.children(item)).filter(|all| !all.is_empty());
        let parts = parts.ok_or("a collection without a type, with more than numbers in it")?;
        let counter = format!("n{name}");
        if let Some(first) = parts.first() {
            // The number of items is that of any member.
            let count = NewKind::Leaves(vec![leaf(&counter, 'I', Vec::new(), None)]);
            add(counter.clone(), count, Some(first.name.clone()));
        }
        for part in parts {
            let full = format!("{name}_{}", part.name);
            let kind = NewKind::Leaves(vec![leaf(&full, part.letter, part.dims, Some(counter.clone()))]);
            add(full, kind, Some(part.name));
        }
        return Ok(());
    }
    // Lists of arrays of numbers have a counter: that of their tree, if the description names it.
    if let (Role::Collection, [item]) = (field.role, children.as_slice())
        && matches!(TypeName::parse(&field.type_name).template, "vector" | "ROOT::VecOps::RVec")
        && let Some((letter, dims)) = number(schema, *item).filter(|(_, dims)| !dims.is_empty())
    {
        let known = field.description.split(['[', ']']).nth(1).filter(|name| {
            schema.children(None).iter().any(|top| schema.path(*top) == *name && number(schema, *top).is_some())
        });
        let counter = known.map_or_else(|| format!("n{name}"), str::to_owned);
        if known.is_none() {
            let count = NewKind::Leaves(vec![leaf(&counter, 'I', Vec::new(), None)]);
            add(counter.clone(), count, None);
        }
        let (letter, _) = told(schema, id, letter);
        add(name.clone(), NewKind::Leaves(vec![leaf(&name, letter, dims, Some(counter))]), None);
        return Ok(());
    }
    if field.type_name == "std::string" && told(schema, id, 's').0 == 'C' {
        add(name.clone(), NewKind::Leaves(vec![leaf(&name, 'C', Vec::new(), None)]), None);
        return Ok(());
    }
    let type_name = cpp(schema, id, classes, 0)?;
    let type_name = if field.role == Role::Streamer { field.type_name.clone() } else { type_name };
    add(name, NewKind::Class { type_name: spelled(&type_name.replace("std::", "")), clones: None }, None);
    Ok(())
}

/// The letter of a leaf, and the title of its branch, as far as the description of its field tells them: a leaf list such as `x/C`
/// tells a letter for the same numbers as `natural`, any other text is a title.
fn told(schema: &Schema, id: usize, natural: char) -> (char, Option<String>) {
    let text = schema.fields.get(id).map_or("", |field| field.description.as_str());
    let letter = text.rsplit_once('/').and_then(|(_, letter)| {
        let mut letters = letter.chars();
        letters.next().filter(|_| letters.next().is_none())
    });
    let groups = ["sC", "IiSsBb", "LG", "lg", "Ff", "Dd"];
    let same =
        |letter: &char| natural == ' ' || groups.iter().any(|group| group.contains(natural) && group.contains(*letter));
    match letter.filter(same) {
        Some(letter) => (letter, None),
        None if text.is_empty() => (natural, None),
        None => (natural, Some(text.to_owned())),
    }
}

/// Letter and dimensions of a field that is a number, or an array of numbers.
fn number(schema: &Schema, id: usize) -> Option<(char, Vec<u32>)> {
    let field = schema.fields.get(id).filter(|field| field.role == Role::Leaf)?;
    let name = TypeName::parse(&field.type_name);
    if name.template == "bitset" {
        return None;
    }
    let (letter, mut dims) = match schema.children(Some(id)).as_slice() {
        [] if field.type_name.starts_with("ROOT::RNTupleCardinality") => ('I', Vec::new()),
        [] => (letter(field, &name)?, Vec::new()),
        [item] => number(schema, *item)?,
        _ => return None,
    };
    if let Some(size) = field.array_size {
        dims.insert(0, u32::try_from(size).ok()?);
    }
    Some((letter, dims))
}

fn letter(field: &Field, name: &TypeName<'_>) -> Option<char> {
    if field.type_alias == "Double32_t" {
        return Some('d');
    }
    use crate::decode::program::types::Number;
    if name.text == "byte" {
        return Some('b');
    }
    Some(match name.number()? {
        Number::Bool => 'O',
        Number::I8 => 'B',
        Number::U8 => 'b',
        Number::I16 => 'S',
        Number::U16 => 's',
        Number::I32 => 'I',
        Number::U32 => 'i',
        Number::I64 => 'L',
        Number::U64 => 'l',
        Number::F32 => 'F',
        Number::F64 => 'D',
    })
}

/// The C++ type of a field, as a tree can hold it. Adds descriptions of the classes in it.
fn cpp(
    schema: &Schema,
    id: usize,
    classes: &mut Vec<ClassDescription>,
    depth: usize,
) -> std::result::Result<String, String> {
    let field = schema.fields.get(id).filter(|_| depth < DEEPEST).ok_or("types nest too deep")?;
    let children = schema.children(Some(id));
    let path = || schema.path(id);
    let name = if field.type_alias.is_empty() { field.type_name.as_str() } else { field.type_alias.as_str() };
    let mut inner = |child: usize| cpp(schema, child, classes, depth + 1);
    let parsed = TypeName::parse(name);
    match (field.role, parsed.template) {
        (_, "optional" | "unique_ptr") => Err(format!("{}: trees have no {name}", path())),
        (Role::Variant, _) | (_, "tuple") => Err(format!("{}: trees have no {name}", path())),
        (Role::Streamer, _) if depth == 0 => Ok(name.to_owned()),
        (Role::Streamer | Role::Unknown(_), _) => Err(format!("{}: a streamed object inside another type", path())),
        (_, "") => Err(format!("{}: a record or collection without a type", path())),
        (Role::Leaf, "atomic") => inner(*children.first().ok_or("no item")?),
        (Role::Leaf, "array") if !is_member(schema, field) => Err(format!("{}: trees have no {name}", path())),
        (Role::Leaf, "array") => {
            let item = inner(*children.first().ok_or("no item")?)?;
            Ok(format!("std::array<{item},{}>", field.array_size.unwrap_or(0)))
        }
        // An enumeration.
        (Role::Leaf, _) if !children.is_empty() => inner(*children.first().ok_or("no item")?),
        (Role::Leaf, "byte") => Ok("unsigned char".to_owned()),
        (Role::Leaf, _) => Ok(name.to_owned()),
        (Role::Collection, "map" | "multimap" | "unordered_map" | "unordered_multimap") => {
            let pair = schema.children(children.first().copied());
            match pair.as_slice() {
                [key, value] => Ok(format!("{}<{},{}>", parsed.template, inner(*key)?, inner(*value)?)),
                _ => Err(format!("{}: a map without pairs", path())),
            }
        }
        (Role::Collection, template) => {
            let item = inner(*children.first().ok_or("no item")?)?;
            let template = if template.contains("RVec") { "vector" } else { template };
            Ok(format!("{template}<{item}>"))
        }
        (Role::Record, "pair") => match children.as_slice() {
            [first, second] => Ok(format!("pair<{},{}>", inner(*first)?, inner(*second)?)),
            _ => Err(format!("{}: a pair without two values", path())),
        },
        (Role::Record, _) => {
            class(schema, field, &children, classes, depth)?;
            Ok(field.type_name.clone())
        }
    }
}

/// Whether a field is a member of a class, or an array in an array that is one: there trees have C arrays.
fn is_member(schema: &Schema, field: &Field) -> bool {
    let Some(above) = field.parent.and_then(|parent| schema.fields.get(parent)) else { return false };
    match above.role {
        Role::Record => TypeName::parse(&above.type_name).template != "pair",
        Role::Leaf => is_member(schema, above),
        _ => false,
    }
}

/// Describes a class by its fields.
fn class(
    schema: &Schema,
    field: &Field,
    children: &[usize],
    classes: &mut Vec<ClassDescription>,
    depth: usize,
) -> std::result::Result<(), String> {
    if field.type_name == "TObject" || classes.iter().any(|known| known.name == field.type_name) {
        return Ok(());
    }
    let version = if field.type_version == u32::MAX { None } else { i16::try_from(field.type_version).ok() };
    let (mut bases, mut members) = (Vec::new(), Vec::new());
    for &child in children {
        let cpp_type = cpp(schema, child, classes, depth + 1)?;
        let name = schema.fields.get(child).map_or("", |field| field.name.as_str());
        if name.starts_with(":_") {
            bases.push(cpp_type);
            continue;
        }
        // Arrays of numbers are C arrays in trees; `std::array` is no type of theirs.
        let (mut item, mut dims) = (cpp_type.as_str(), String::new());
        while let Some((inner, size)) = item
            .strip_prefix("std::array<")
            .and_then(|rest| rest.strip_suffix('>'))
            .and_then(|rest| rest.rsplit_once(','))
        {
            dims = format!("{dims}[{size}]");
            item = inner;
        }
        members.push(Member {
            name: name.to_owned(),
            cpp_type: format!("{}{dims}", spelled(&item.replace("std::", ""))),
            comment: String::new(),
        });
    }
    classes.push(ClassDescription { name: field.type_name.clone(), version, title: String::new(), bases, members });
    Ok(())
}

impl TreeColumns {
    /// Fails if there are fields that trees cannot hold.
    ///
    /// # Errors
    ///
    /// With all of them.
    pub fn check(&self) -> Result<()> {
        if self.refused.is_empty() {
            return Ok(());
        }
        let all: Vec<String> = self.refused.iter().map(|(field, why)| format!("{field} ({why})")).collect();
        let drop = Hint::named("drop").that("leaves them out");
        let why = format!("a tree cannot hold these fields: {}; {}", all.join("; "), drop.clause());
        Err(Error::unsupported(why).hint(drop))
    }
}
