//! Classes by streamer info: the record that a class makes, and how each of its versions is read into it.
//!
//! Bases are not parts of their own: their members come first in the record, as uproot has them. `TObject` as a
//! base leaves no trace. Members are matched by name; those that a version lacks are zero, those that the
//! record lacks are passed over.

use std::sync::Arc;

use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos, builtin, code};

use super::arrays::{Contents, Place};
use super::name::TypeName;
use super::op::{Into, Op, Reader, Step, Version};
use super::schema::{Why, basic};
use super::types::{Number, Shape};

/// Classes may nest this deep.
const MAX_DEPTH: usize = 40;
/// Parts that a record may have, those of its parts counted.
const MAX_PARTS: usize = 500_000;

/// Makes the readers of one plan.
pub(super) struct Classes<'a> {
    pub infos: &'a StreamerInfos,
    /// Readers made so far.
    pub readers: Vec<Reader>,
    /// What each reads into, in the same order.
    targets: Vec<Vec<(String, Shape)>>,
    /// Counting members that steps set: class and name.
    counters: Vec<(String, String)>,
    /// Classes that are being made, to tell those that hold themselves.
    within: Vec<String>,
    parts: usize,
    /// Whether there are pointers.
    pub pointers: bool,
    /// What arrays hold that do not say it in their type.
    pub contents: &'a Contents,
    /// Where such arrays are.
    pub places: Vec<Place>,
    /// The member that is being planned.
    pub place: Place,
}

/// A member's value and how it is read.
pub(super) type Typed = (Shape, Op);

impl<'a> Classes<'a> {
    pub(super) fn new(infos: &'a StreamerInfos, contents: &'a Contents) -> Self {
        let (readers, targets, counters, within) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (places, place) = (Vec::new(), Place::default());
        Self { infos, readers, targets, counters, within, parts: 0, pointers: false, contents, places, place }
    }

    /// Number of counters that the readers set.
    pub(super) fn slots(&self) -> usize {
        self.counters.len()
    }

    /// The counter that is a member of a class.
    pub(super) fn counter(&mut self, class: &str, name: &str) -> usize {
        let same = |(c, n): &(String, String)| c == class && n == name;
        self.counters.iter().position(same).unwrap_or_else(|| {
            self.counters.push((class.to_owned(), name.to_owned()));
            self.counters.len() - 1
        })
    }

    /// The infos of all versions of a class, those of the file first.
    fn versions(&self, class: &str) -> Vec<Arc<StreamerInfo>> {
        let mut versions: Vec<Arc<StreamerInfo>> = self.infos.versions(class).cloned().collect();
        for info in builtin::infos().iter().filter(|info| info.name == class) {
            if !versions.iter().any(|known| known.version == info.version) {
                versions.push(Arc::clone(info));
            }
        }
        if versions.is_empty() {
            // Names of template classes are spelled with more or fewer spaces.
            let squeezed = |name: &str| name.replace("std::", "").replace(' ', "");
            let wanted = squeezed(class);
            versions.extend(self.infos.iter().filter(|info| squeezed(&info.name) == wanted).cloned());
        }
        versions
    }

    /// Whether other classes derive from this one.
    pub(super) fn has_heirs(&self, class: &str) -> bool {
        self.infos.iter().any(|info| info.elements.iter().any(|e| e.type_code == code::BASE && e.name == class))
    }

    /// The info that decides what a class's record has: that of a version, or the newest.
    pub(super) fn info(&self, class: &str, layout: Option<(i32, u32)>) -> Option<Arc<StreamerInfo>> {
        let versions = self.versions(class);
        let of_layout = layout.and_then(|(version, checksum)| {
            let exact = versions.iter().find(|v| v.version == version && v.checksum == checksum);
            let checksum = versions.iter().find(|v| checksum != 0 && v.checksum == checksum);
            exact.or(checksum).or_else(|| versions.iter().find(|v| v.version == version)).cloned()
        });
        of_layout.or_else(|| {
            let newest = self.infos.latest(class);
            newest.or_else(|| versions.iter().max_by_key(|v| v.version).cloned())
        })
    }

    /// A class as a value: its record, and the step that reads it with its frame.
    pub(super) fn object(&mut self, class: &str, layout: Option<(i32, u32)>) -> Result<Typed, Why> {
        let info = self.info(class, layout).ok_or_else(|| format!("{class} is not described in the file"))?;
        let parts = self.record(&info)?;
        let reader = self.reader(class, &parts)?;
        Ok((Shape::Record(parts), Op::Object(reader)))
    }

    /// A class as a part of something else, unless it holds itself.
    fn enter<T>(&mut self, class: &str, make: impl FnOnce(&mut Self) -> Result<T, Why>) -> Result<T, Why> {
        if self.within.iter().any(|known| known == class) {
            return Err(format!("{class} holds itself"));
        }
        if self.within.len() >= MAX_DEPTH || self.parts > MAX_PARTS {
            return Err("classes nest too deep".to_owned());
        }
        self.within.push(class.to_owned());
        let made = make(self);
        self.within.pop();
        made
    }

    /// The parts of a class's record.
    fn record(&mut self, info: &StreamerInfo) -> Result<Vec<(String, Shape)>, Why> {
        self.enter(&info.name, |classes| {
            let mut parts: Vec<(String, Shape)> = Vec::new();
            for e in info.elements.iter().filter(|e| is_stored(e)) {
                let own = if is_base(e) {
                    classes.base_parts(e)?
                } else {
                    vec![(e.name.clone(), classes.member_or_bytes(info, e).0)]
                };
                for (name, shape) in own {
                    classes.parts += 1;
                    let twice = parts.iter().any(|(known, _)| *known == name);
                    parts.push((if twice { qualified(info, &name) } else { name }, shape));
                }
            }
            Ok(parts)
        })
    }

    fn base_parts(&mut self, e: &StreamerElement) -> Result<Vec<(String, Shape)>, Why> {
        if e.name == "TObject" {
            return Ok(Vec::new());
        }
        if let Some((shape, _)) = self.special(&e.name) {
            return Ok(vec![(e.name.clone(), shape)]);
        }
        let info = self.base_info(e).ok_or_else(|| format!("{} is not described in the file", e.name))?;
        self.record(&info)
    }

    fn base_info(&self, e: &StreamerElement) -> Option<Arc<StreamerInfo>> {
        let layout = match e.kind {
            // The second dimension of a base is its checksum (see docs/format).
            ElementKind::Base { version } => Some((version, e.max_index[1].cast_unsigned())),
            _ => None,
        };
        self.info(&e.name, layout)
    }

    /// A member; what cannot be decoded but can be passed over is bytes.
    fn member_or_bytes(&mut self, info: &StreamerInfo, e: &StreamerElement) -> Typed {
        self.member(info, e).unwrap_or((Shape::Bytes, Op::Opaque))
    }

    /// The reader of a class's versions into a record of these parts.
    fn reader(&mut self, class: &str, parts: &[(String, Shape)]) -> Result<usize, Why> {
        let known = self.readers.iter().zip(&self.targets).position(|(r, target)| r.class == class && target == parts);
        if let Some(known) = known {
            return Ok(known);
        }
        let infos = self.versions(class);
        self.enter(class, |classes| {
            let versions = infos
                .iter()
                .map(|info| {
                    let mut filled = vec![false; parts.len()];
                    let steps = classes.steps(info, parts, &mut filled);
                    let missing = filled.iter().enumerate().filter(|(_, filled)| !**filled).map(|(i, _)| i).collect();
                    Version { version: info.version, checksum: info.checksum, steps, missing }
                })
                .collect();
            Ok(classes.add(Reader { class: class.to_owned(), versions, any_version: false }, parts))
        })
    }

    fn add(&mut self, reader: Reader, parts: &[(String, Shape)]) -> usize {
        self.readers.push(reader);
        self.targets.push(parts.to_vec());
        self.readers.len() - 1
    }

    /// A symmetric matrix, which has a streamer of its own (`TMatrixTSym<Element>::Streamer`): no frame but its
    /// base's, and half of the elements.
    pub(super) fn triangle(&mut self, class: &str, element: &str) -> Result<Typed, Why> {
        let number = TypeName::parse(element).number().ok_or("a matrix of no numbers")?;
        let base = class.replacen("TMatrixTSym", "TMatrixTBase", 1);
        let info = self.info(&base, None).ok_or_else(|| format!("{base} is not described in the file"))?;
        let mut parts = self.record(&info)?;
        let rows = parts.iter().position(|(name, _)| name == "fNrows").ok_or("a matrix without rows")?;
        let base = self.reader(&info.name, &parts)?;
        parts.push(("fElements".to_owned(), Shape::Number(number).list()));
        Ok((Shape::Record(parts), Op::Triangle { base, rows, number }))
    }

    /// A pair: it has no info of its own where it is part of a map, and needs none.
    pub(super) fn pair(&mut self, key: Typed, value: Typed, checksum: u32) -> (Shape, usize) {
        let parts = vec![("first".to_owned(), key.0), ("second".to_owned(), value.0)];
        let step = |(i, op)| Step { op, into: Into::Part(i), counts: None };
        let steps = Ok([key.1, value.1].into_iter().enumerate().map(step).collect());
        let version = Version { version: 0, checksum, steps, missing: Vec::new() };
        let reader = Reader { class: "pair".to_owned(), versions: vec![version], any_version: true };
        let reader = self.add(reader, &parts);
        (Shape::Record(parts), reader)
    }

    /// The steps of one version.
    fn steps(&mut self, info: &StreamerInfo, parts: &[(String, Shape)], filled: &mut [bool]) -> Result<Vec<Step>, Why> {
        let mut steps = Vec::new();
        for e in info.elements.iter().filter(|e| is_stored(e)) {
            let counts = basic(e.type_code).filter(|_| counts(info, e)).map(|n| (self.counter(&info.name, &e.name), n));
            if is_base(e) && (e.name == "TObject" || self.special(&e.name).is_none()) {
                steps.push(self.base_step(e, parts, filled)?);
                continue;
            }
            let (shape, op) = self.member_or_bytes(info, e);
            let named = |wanted: &str| parts.iter().position(|(name, _)| name == wanted);
            let target = named(&qualified(info, &e.name)).or_else(|| named(&e.name));
            let step = match target.and_then(|i| Some((i, parts.get(i)?))) {
                Some((i, (_, wanted))) => {
                    if filled.get(i).copied().unwrap_or(false) {
                        return Err(format!("{} has two members {}", info.name, e.name));
                    }
                    if let Some(op) = fitted(&shape, op.clone(), wanted) {
                        if let Some(filled) = filled.get_mut(i) {
                            *filled = true;
                        }
                        Step { op, into: Into::Part(i), counts }
                    } else if let (Shape::Record(_), Shape::Record(inner), Op::Object(reader)) = (&shape, wanted, &op) {
                        // Another version of a class by value.
                        let class = self.readers.get(*reader).map(|r| r.class.clone()).unwrap_or_default();
                        let op = Op::Object(self.reader(&class, inner)?);
                        if let Some(filled) = filled.get_mut(i) {
                            *filled = true;
                        }
                        Step { op, into: Into::Part(i), counts }
                    } else {
                        Step { op, into: Into::Nowhere(shape), counts }
                    }
                }
                None => Step { op, into: Into::Nowhere(shape), counts },
            };
            steps.push(step);
        }
        Ok(steps)
    }

    fn base_step(&mut self, e: &StreamerElement, parts: &[(String, Shape)], filled: &mut [bool]) -> Result<Step, Why> {
        if e.name == "TObject" {
            return Ok(Step { op: Op::TObject, into: Into::TObject, counts: None });
        }
        let reader = self.base_reader(e, parts)?;
        let base = self.base_info(e);
        let (version, checksum) = base.map_or((0, 0), |info| (info.version, info.checksum));
        let missing = self.base_missing(reader, e);
        for (i, filled) in filled.iter_mut().enumerate() {
            if !missing.contains(&i) {
                *filled = true;
            }
        }
        Ok(Step { op: Op::Object(reader), into: Into::Base { reader, version, checksum }, counts: None })
    }

    /// The reader of a base into its heir's record.
    fn base_reader(&mut self, e: &StreamerElement, parts: &[(String, Shape)]) -> Result<usize, Why> {
        let info = self.base_info(e).ok_or_else(|| format!("{} is not described in the file", e.name))?;
        let reader = self.reader(&info.name, parts)?;
        // What a base lacks, its heir or another base has: only what its own info names is its to fill.
        let names: Vec<String> = self.record(&info)?.into_iter().map(|(name, _)| name).collect();
        if let Some(reader) = self.readers.get_mut(reader) {
            for version in &mut reader.versions {
                version.missing.retain(|i| parts.get(*i).is_some_and(|(name, _)| names.contains(name)));
            }
        }
        Ok(reader)
    }

    /// Parts that reading the base does not fill.
    fn base_missing(&self, reader: usize, e: &StreamerElement) -> Vec<usize> {
        let n = self.targets.get(reader).map_or(0, Vec::len);
        let mut filled = vec![false; n];
        if let Some(version) = self.base_info(e).and_then(|info| {
            let reader = self.readers.get(reader)?;
            reader.versions.iter().find(|v| v.version == info.version && v.checksum == info.checksum)
        }) {
            self.fills(version, &mut filled);
        }
        (0..n).filter(|i| !filled.get(*i).copied().unwrap_or(false)).collect()
    }

    /// Marks the parts that a version fills.
    fn fills(&self, version: &Version, filled: &mut [bool]) {
        let mut mark = |i: usize| {
            if let Some(filled) = filled.get_mut(i) {
                *filled = true;
            }
        };
        version.missing.iter().for_each(|i| mark(*i));
        for step in version.steps.iter().flatten() {
            match step.into {
                Into::Part(i) => {
                    if let Some(filled) = filled.get_mut(i) {
                        *filled = true;
                    }
                }
                Into::Base { reader, .. } => {
                    if let Some(version) = self.readers.get(reader).and_then(|r| r.versions.first()) {
                        self.fills(version, filled);
                    }
                }
                Into::Nowhere(_) | Into::TObject => {}
            }
        }
    }
}

/// The name of a member that a base has, too.
fn qualified(info: &StreamerInfo, name: &str) -> String {
    format!("{}::{name}", info.name)
}

/// Whether a member is in the file: artificial and cached ones are not.
pub(super) fn is_stored(e: &StreamerElement) -> bool {
    e.type_code >= 0 && e.type_code < 600 && e.class != "TStreamerArtificial"
}

/// Whether it is a base, and no container: `TObject` and `TNamed` have type codes of their own.
pub(super) fn is_base(e: &StreamerElement) -> bool {
    (e.type_code == code::BASE || e.class == "TStreamerBase") && !matches!(e.kind, ElementKind::Stl { .. })
}

/// Whether a member counts others of its class or of its heirs.
fn counts(info: &StreamerInfo, e: &StreamerElement) -> bool {
    e.type_code == code::COUNTER
        || info.elements.iter().any(|other| matches!(&other.kind, ElementKind::Counted { name, .. } if *name == e.name))
}

/// A member's step where its column has another shape: numbers are converted, alone or in arrays and lists.
fn fitted(shape: &Shape, op: Op, wanted: &Shape) -> Option<Op> {
    if shape == wanted {
        return Some(op);
    }
    match (shape, wanted, op) {
        (Shape::Number(from), Shape::Number(_), op) => Some(converted(*from, op)),
        (Shape::Fixed(n, inner), Shape::Fixed(m, target), Op::Fixed(size, item)) if n == m => {
            Some(Op::Fixed(size, Box::new(fitted(inner, *item, target)?)))
        }
        (Shape::List(inner), Shape::List(target), Op::Counted { counter, flag, item }) => {
            Some(Op::Counted { counter, flag, item: Box::new(fitted(inner, *item, target)?) })
        }
        (shape @ Shape::List(_), wanted @ Shape::List(_), Op::Framed(inner)) => {
            Some(Op::Framed(Box::new(fitted(shape, *inner, wanted)?)))
        }
        (Shape::List(inner), Shape::List(target), Op::Container(mut container)) if container.members.is_none() => {
            container.item = fitted(inner, container.item, target)?;
            Some(Op::Container(container))
        }
        _ => None,
    }
}

fn converted(from: Number, op: Op) -> Op {
    match op {
        Op::Number(_) => Op::Convert(from),
        // Packed numbers go into columns of either width; bits are as wide as they are.
        Op::Bits => Op::Convert(Number::U32),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use rootfile::streamer::parse_record;
    use rootfile::streamer::write_record;

    use super::*;
    use crate::decode::column::Column;
    use crate::decode::machine::Machine;

    fn member(class: &str, name: &str, type_name: &str, type_code: i32) -> StreamerElement {
        StreamerElement {
            class: class.to_owned(),
            name: name.to_owned(),
            title: String::new(),
            type_code,
            size: 0,
            array_length: 0,
            array_dim: 0,
            max_index: [0; 5],
            type_name: type_name.to_owned(),
            kind: if class == "TStreamerBase" { ElementKind::Base { version: 1 } } else { ElementKind::Plain },
            bits: 0,
        }
    }

    fn version(class: &str, version: i32, elements: Vec<StreamerElement>) -> Arc<StreamerInfo> {
        let checksum = 0xABC0_0000 + version.cast_unsigned();
        let (name, title) = (class.to_owned(), String::new());
        Arc::new(StreamerInfo { name, title, version, checksum, bits: 0, form: 9, elements })
    }

    /// Version 1 has an int and a float, version 2 a base, the number as a double, and a string.
    fn infos() -> StreamerInfos {
        let basic = "TStreamerBasicType";
        let old = vec![member(basic, "x", "int", 3), member(basic, "gone", "float", 5)];
        let new = vec![
            member("TStreamerBase", "Base", "BASE", 0),
            member(basic, "x", "double", 8),
            member("TStreamerString", "s", "TString", 65),
        ];
        let mut infos = StreamerInfos::new();
        infos.add(version("Base", 1, vec![member(basic, "b", "short", 2)]));
        infos.add(version("A", 1, old));
        infos.add(version("A", 2, new));
        infos
    }

    #[test]
    fn versions_are_read_into_one_record() {
        let (infos, contents) = (infos(), Contents::default());
        let mut classes = Classes::new(&infos, &contents);
        let (shape, op) = classes.object("A", Some((2, 0))).unwrap();
        let mut column = Column::new(&shape, 2);
        let old = [0x40, 0, 0, 10, 0, 1, 0, 0, 0, 7, 0x3F, 0x80, 0, 0];
        let new = [&[0x40, 0, 0, 20, 0, 2, 0x40, 0, 0, 4, 0, 1, 0, 9][..], &2.5f64.to_be_bytes()[..], &[1, b'!'][..]]
            .concat();
        for bytes in [&old[..], &new[..]] {
            Machine::new(bytes, &classes.readers, classes.slots()).read(&op, 1, &mut column).unwrap();
        }
        let text = format!("{:?}", column.finish().unwrap()).replace([' ', '\n'], "");
        assert!(text.contains(r#""b"(Int16)PrimitiveArray<Int16>[0,9,]"#), "{text}");
        assert!(text.contains(r#""x"(Float64)PrimitiveArray<Float64>[7.0,2.5,]"#), "{text}");
        assert!(text.contains(r#""s"(LargeUtf8)LargeStringArray["","!",]"#), "{text}");
        assert!(!text.contains("gone"), "{text}");
    }

    #[test]
    fn objects_that_do_not_end_where_they_say_are_errors() {
        let (infos, contents) = (infos(), Contents::default());
        let mut classes = Classes::new(&infos, &contents);
        let (shape, op) = classes.object("A", Some((2, 0))).unwrap();
        let short = [0x40, 0, 0, 9, 0, 1, 0, 0, 0, 7, 0x3F, 0x80, 0, 0];
        let error = Machine::new(&short, &classes.readers, 0).read(&op, 1, &mut Column::new(&shape, 0)).unwrap_err();
        assert!(error.to_string().contains("ends at 13"), "{error}");
        let unknown = [0x40, 0, 0, 2, 0, 9];
        let error = Machine::new(&unknown, &classes.readers, 0).read(&op, 1, &mut Column::new(&shape, 0)).unwrap_err();
        assert!(error.to_string().contains("version 9"), "{error}");
    }

    #[test]
    fn member_wise_containers_of_root_4_say_no_version_of_their_class() {
        let infos = infos();
        let contents = Contents::default();
        let mut classes = Classes::new(&infos, &contents);
        let e = StreamerElement {
            kind: ElementKind::Stl { stl_type: 1, content_type: 61 },
            ..member("TStreamerSTL", "v", "vector<A>", 500)
        };
        let holder = version("Holder", 1, vec![e.clone()]);
        let (shape, op) = classes.member(&holder, &e).unwrap();
        let body =
            [&[0, 0, 0, 2, 0, 3, 0, 4][..], &1.5f64.to_be_bytes(), &2.5f64.to_be_bytes(), &[1, b'a', 0]].concat();
        for header in [&[0x40, 7][..], &[0x40, 9, 0, 2]] {
            let count = u32::try_from(header.len() + body.len()).unwrap() | 0x4000_0000;
            let bytes = [&count.to_be_bytes()[..], header, &body].concat();
            let mut column = Column::new(&shape, 1);
            Machine::new(&bytes, &classes.readers, classes.slots()).read(&op, 1, &mut column).unwrap();
            let text = format!("{:?}", column.finish().unwrap()).replace([' ', '\n'], "");
            assert!(text.contains(r#""b"(Int16)PrimitiveArray<Int16>[3,4,]"#), "{text}");
            assert!(text.contains(r#""x"(Float64)PrimitiveArray<Float64>[1.5,2.5,]"#), "{text}");
        }
    }

    #[test]
    fn a_class_that_holds_itself_is_bytes_inside() {
        let info = version("Node", 1, vec![member("TStreamerObjectAny", "child", "Node", 62)]);
        let infos = parse_record(&write_record(&[info], 64), 64).unwrap();
        let (mut known, contents) = (StreamerInfos::new(), Contents::default());
        infos.into_iter().for_each(|info| known.add(Arc::new(info)));
        let (shape, _) = Classes::new(&known, &contents).object("Node", None).unwrap();
        assert_eq!(shape, Shape::Record(vec![("child".to_owned(), Shape::Bytes)]));
    }
}
