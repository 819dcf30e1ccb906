//! The C++ classes of the values of a column: names that shapes do not have. Readers that know classes (Python's) show records
//! under them.

use super::class_reader::{ClassReader, Destination};
use super::model::{EntryLayout, Program};
use super::op::{Holds, Op};
use super::types::Shape;

/// The name of an item of a map.
const MAP_ITEM: &str = "std::map";
/// The name of a list that is a set.
const SET: &str = "std::set";
/// The only member of a `TDatime`, which has no streamer info.
const DATIME: &str = "fDatime";
/// Between a class and those that it derives from; no name has it.
const BASE: char = '\t';
/// Classes may nest this deep.
const MAX_DEPTH: usize = 60;

/// The class of a value, and of its parts as Arrow nests them. An optional value is no level of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClassNames {
    /// The class of a record and, each behind a tab, those that it derives from; `std::map` of the items of a map, `std::set` of
    /// a list that is one; else empty.
    pub name: String,
    pub below: Vec<ClassNames>,
}

impl ClassNames {
    /// A list or an array of these.
    pub(crate) fn list(self, holds: Holds) -> Self {
        let item = match holds {
            Holds::Pairs => Self { name: MAP_ITEM.to_owned(), ..self },
            Holds::Items | Holds::Set => self,
        };
        let name = if holds == Holds::Set { SET } else { "" };
        Self { name: name.to_owned(), below: vec![item] }
    }

    /// A line for each level, from the outermost, parts in order; none if no level has a name.
    pub(crate) fn lines(&self) -> Option<String> {
        let mut lines = Vec::new();
        self.collect(&mut lines);
        lines.iter().any(|line| !line.is_empty()).then(|| lines.join("\n"))
    }

    fn collect<'a>(&'a self, lines: &mut Vec<&'a str>) {
        lines.push(&self.name);
        self.below.iter().for_each(|part| part.collect(lines));
    }
}

/// The classes of what a program reads.
pub(crate) fn of_program(program: &Program) -> ClassNames {
    let walk = Walk { readers: &program.readers };
    match (&program.shape, program.layout) {
        (Shape::List(item), EntryLayout::Items) => walk.value(item, &program.op, 0).list(Holds::Items),
        (shape, _) => walk.value(shape, &program.op, 0),
    }
}

struct Walk<'a> {
    readers: &'a [ClassReader],
}

impl Walk<'_> {
    fn value(&self, shape: &Shape, op: &Op, depth: usize) -> ClassNames {
        if depth > MAX_DEPTH {
            return unnamed(shape);
        }
        let value = |shape, op| self.value(shape, op, depth + 1);
        match (shape, op) {
            (shape, Op::Framed(inner)) => value(shape, inner),
            (shape, Op::NamedObject { object, .. }) => value(shape, object),
            (Shape::Optional(inner), Op::Pointer { target, .. }) => value(inner, target),
            (Shape::Optional(inner), op) => value(inner, op),
            (Shape::List(item), Op::Container(container)) => value(item, &container.item).list(container.holds),
            (Shape::List(item), Op::Counted { item: op, .. } | Op::ToEnd { item: op, .. }) => {
                value(item, op).list(Holds::Items)
            }
            (Shape::List(item), Op::CountedPerObject { item: op, .. }) => value(item, op).list(Holds::Items),
            (Shape::List(item), Op::ObjectArray(array)) => value(item, &array.item).list(Holds::Items),
            (Shape::Fixed(_, item), Op::Fixed(_, op)) => value(item, op).list(Holds::Items),
            (Shape::Fixed(_, item), op @ Op::CountedArrays { .. }) => value(item, op).list(Holds::Items),
            (Shape::List(item), Op::CountedArrays { item: op, .. }) => value(item, op).list(Holds::Items),
            (Shape::Record(parts), Op::Object(reader) | Op::UnsplitObject { reader, .. }) => {
                self.record(parts, *reader, depth)
            }
            (Shape::Record(parts), Op::Record(ops)) => {
                let below = parts.iter().zip(ops).map(|((_, part), op)| value(part, op)).collect();
                let name = if parts.iter().map(|(name, _)| name.as_str()).eq([DATIME]) { "TDatime" } else { "" };
                ClassNames { name: name.to_owned(), below }
            }
            (Shape::Record(_), Op::TRef) => ClassNames { name: "TRef".to_owned(), ..unnamed(shape) },
            (Shape::Record(_), Op::TRefArray) => ClassNames { name: "TRefArray".to_owned(), ..unnamed(shape) },
            _ => unnamed(shape),
        }
    }

    fn record(&self, parts: &[(String, Shape)], reader: usize, depth: usize) -> ClassNames {
        let mut below: Vec<_> = parts.iter().map(|(_, part)| unnamed(part)).collect();
        self.fill(&mut below, parts, reader, depth);
        let class = self.readers.get(reader).map_or("", |reader| &reader.class);
        let mut name = if class == "pair" { "std::pair" } else { class }.to_owned();
        self.bases(&mut name, reader, depth);
        ClassNames { name, below }
    }

    /// Adds the classes that a class derives from, each before its own bases.
    fn bases(&self, name: &mut String, reader: usize, depth: usize) {
        let newest = self.readers.get(reader).and_then(ClassReader::newest);
        for step in newest.iter().filter_map(|version| version.steps.as_ref().ok()).flatten() {
            if let Destination::Base { reader, .. } = &step.destination
                && let Some(base) = self.readers.get(*reader)
                && depth < MAX_DEPTH
            {
                name.push(BASE);
                name.push_str(&base.class);
                self.bases(name, *reader, depth + 1);
            }
        }
    }

    /// The classes of the parts that a class fills, those of its bases included.
    fn fill(&self, below: &mut [ClassNames], parts: &[(String, Shape)], reader: usize, depth: usize) {
        let newest = self.readers.get(reader).and_then(ClassReader::newest);
        for step in newest.iter().filter_map(|version| version.steps.as_ref().ok()).flatten() {
            match &step.destination {
                Destination::Part(i) => {
                    if let (Some(into), Some((_, part))) = (below.get_mut(*i), parts.get(*i)) {
                        *into = self.value(part, &step.op, depth + 1);
                    }
                }
                Destination::Base { reader, .. } if depth < MAX_DEPTH => self.fill(below, parts, *reader, depth + 1),
                Destination::Base { .. } | Destination::Discarded(_) | Destination::TObject => {}
            }
        }
    }
}

fn unnamed(shape: &Shape) -> ClassNames {
    let below = match shape {
        Shape::Number(_) | Shape::Text | Shape::Bytes => Vec::new(),
        Shape::Optional(inner) => return unnamed(inner),
        Shape::Fixed(_, inner) | Shape::List(inner) => vec![unnamed(inner)],
        Shape::Record(parts) | Shape::Variant(parts) => parts.iter().map(|(_, part)| unnamed(part)).collect(),
    };
    ClassNames { name: String::new(), below }
}
