//! Classes by streamer info: the record that a class makes, and how each of its versions is read into it.
//!
//! The members of bases are parts of the record and come first, as in uproot. The `TObject` base has a part on request only.
//! Members are matched by name: a part that a version lacks is zero, a member that the record lacks is skipped.

use std::sync::Arc;

use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos, builtin, code};

use super::conversion::fitted;
use crate::decode::program::class_reader::{ClassReader, ClassVersion, Destination, MemberStep};
use crate::decode::program::learned::{LearnedClasses, MemberId};
use crate::decode::program::model::Typed;
use crate::decode::program::op::Op;
use crate::decode::program::types::{Number, PAIR_PARTS, Reason, Shape};
use crate::type_name::TypeName;

/// Classes may nest this deep.
const MAX_DEPTH: usize = 40;
/// Parts that a record may have, those of its parts counted.
const MAX_PARTS: usize = 500_000;

/// Makes the readers of one plan.
pub(super) struct Classes<'a> {
    pub infos: &'a StreamerInfos,
    /// Readers made so far.
    pub readers: Vec<ClassReader>,
    /// The record that each reader fills, in the same order.
    targets: Vec<Vec<(String, Shape)>>,
    /// Counting members that steps set: class and name.
    counters: Vec<(String, String)>,
    /// Classes in progress, to detect classes that contain themselves.
    within: Vec<String>,
    parts: usize,
    /// Whether there are pointers.
    pub pointers: bool,
    /// Item classes of arrays whose type does not name them.
    pub learned: &'a LearnedClasses,
    /// Such arrays.
    pub arrays: Vec<MemberId>,
    /// The member that is being planned.
    pub member: MemberId,
    /// Whether `TObject` bases have a part.
    pub keeps_tobjects: bool,
}

impl<'a> Classes<'a> {
    pub(super) fn new(infos: &'a StreamerInfos, learned: &'a LearnedClasses) -> Self {
        let (readers, targets, counters, within) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (arrays, member) = (Vec::new(), MemberId::default());
        let (parts, pointers, keeps_tobjects) = (0, false, false);
        Self { infos, readers, targets, counters, within, parts, pointers, learned, arrays, member, keeps_tobjects }
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
    pub(super) fn has_derived(&self, class: &str) -> bool {
        self.infos.iter().any(|info| info.elements.iter().any(|e| e.type_code == code::BASE && e.name == class))
    }

    /// The info that defines the record of a class: that of a version, or the newest.
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
    pub(super) fn object(&mut self, class: &str, layout: Option<(i32, u32)>) -> Result<Typed, Reason> {
        let info = self.info(class, layout).ok_or_else(|| format!("{class} is not described in the file"))?;
        let parts = self.record(&info)?;
        let reader = self.reader(class, &parts)?;
        Ok((Shape::Record(parts), Op::Object(reader)))
    }

    /// Plans a class inside another, unless the class contains itself.
    fn enter<T>(&mut self, class: &str, make: impl FnOnce(&mut Self) -> Result<T, Reason>) -> Result<T, Reason> {
        if self.within.iter().any(|known| known == class) {
            return Err(format!("{class} contains itself"));
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
    fn record(&mut self, info: &StreamerInfo) -> Result<Vec<(String, Shape)>, Reason> {
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

    fn base_parts(&mut self, e: &StreamerElement) -> Result<Vec<(String, Shape)>, Reason> {
        if e.name == "TObject" {
            let kept = self.keeps_tobjects.then(|| (e.name.clone(), kept_tobject()));
            return Ok(kept.into_iter().collect());
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

    /// A member. One that cannot be decoded is bytes.
    fn member_or_bytes(&mut self, info: &StreamerInfo, e: &StreamerElement) -> Typed {
        self.member(info, e).unwrap_or((Shape::Bytes, Op::Opaque))
    }

    /// The reader of a class's versions into a record of these parts.
    fn reader(&mut self, class: &str, parts: &[(String, Shape)]) -> Result<usize, Reason> {
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
                    ClassVersion { version: info.version, checksum: info.checksum, steps, missing }
                })
                .collect();
            Ok(classes.add(ClassReader { class: class.to_owned(), versions, any_version: false }, parts))
        })
    }

    fn add(&mut self, reader: ClassReader, parts: &[(String, Shape)]) -> usize {
        self.readers.push(reader);
        self.targets.push(parts.to_vec());
        self.readers.len() - 1
    }

    /// A symmetric matrix, which has a streamer of its own (`TMatrixTSym<Element>::Streamer`): no frame but its
    /// base's, and half of the elements.
    pub(super) fn symmetric_matrix(&mut self, class: &str, element: &str) -> Result<Typed, Reason> {
        let number = TypeName::parse(element).number().ok_or("a matrix whose elements are not numbers")?;
        let base = class.replacen("TMatrixTSym", "TMatrixTBase", 1);
        let info = self.info(&base, None).ok_or_else(|| format!("{base} is not described in the file"))?;
        let mut parts = self.record(&info)?;
        let rows = parts.iter().position(|(name, _)| name == "fNrows").ok_or("a matrix without rows")?;
        let base = self.reader(&info.name, &parts)?;
        parts.push(("fElements".to_owned(), Shape::Number(number).list()));
        Ok((Shape::Record(parts), Op::SymmetricMatrix { base, rows, number }))
    }

    /// A pair. Files have no streamer info of the pairs in maps, and none is needed.
    pub(super) fn pair(&mut self, key: Typed, value: Typed, checksum: u32) -> (Shape, usize) {
        let parts = Shape::parts(PAIR_PARTS, [key.0, value.0]);
        let step = |(i, op)| MemberStep { op, destination: Destination::Part(i), counts: None };
        let steps = Ok([key.1, value.1].into_iter().enumerate().map(step).collect());
        let version = ClassVersion { version: 0, checksum, steps, missing: Vec::new() };
        let reader = ClassReader { class: "pair".to_owned(), versions: vec![version], any_version: true };
        let reader = self.add(reader, &parts);
        (Shape::Record(parts), reader)
    }

    /// The steps of one version.
    fn steps(
        &mut self,
        info: &StreamerInfo,
        parts: &[(String, Shape)],
        filled: &mut [bool],
    ) -> Result<Vec<MemberStep>, Reason> {
        let mut steps = Vec::new();
        for e in info.elements.iter().filter(|e| is_stored(e)) {
            let counts = Number::of_type_code(e.type_code)
                .filter(|_| counts(info, e))
                .map(|n| (self.counter(&info.name, &e.name), n));
            if is_base(e) && (e.name == "TObject" || self.special(&e.name).is_none()) {
                steps.push(self.base_step(info, e, parts, filled)?);
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
                        MemberStep { op, destination: Destination::Part(i), counts }
                    } else if let (Shape::Record(_), Shape::Record(inner), Op::Object(reader)) = (&shape, wanted, &op) {
                        // Another version of a class by value.
                        let class = self.readers.get(*reader).map(|r| r.class.clone()).unwrap_or_default();
                        let op = Op::Object(self.reader(&class, inner)?);
                        if let Some(filled) = filled.get_mut(i) {
                            *filled = true;
                        }
                        MemberStep { op, destination: Destination::Part(i), counts }
                    } else {
                        MemberStep { op, destination: Destination::Discarded(shape), counts }
                    }
                }
                None => MemberStep { op, destination: Destination::Discarded(shape), counts },
            };
            steps.push(step);
        }
        Ok(steps)
    }

    fn base_step(
        &mut self,
        info: &StreamerInfo,
        e: &StreamerElement,
        parts: &[(String, Shape)],
        filled: &mut [bool],
    ) -> Result<MemberStep, Reason> {
        if e.name == "TObject" {
            let names = [qualified(info, &e.name), e.name.clone()];
            let kept = names.iter().find_map(|wanted| parts.iter().position(|(name, _)| name == wanted));
            let destination = kept.filter(|_| self.keeps_tobjects).map_or(Destination::TObject, Destination::Part);
            if let Some(filled) = kept.and_then(|i| filled.get_mut(i)) {
                *filled = true;
            }
            return Ok(MemberStep { op: Op::TObject, destination, counts: None });
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
        Ok(MemberStep {
            op: Op::Object(reader),
            destination: Destination::Base { reader, version, checksum, framed: e.type_code == code::TNAMED },
            counts: None,
        })
    }

    /// The reader of a base into the record of the derived class.
    fn base_reader(&mut self, e: &StreamerElement, parts: &[(String, Shape)]) -> Result<usize, Reason> {
        let info = self.base_info(e).ok_or_else(|| format!("{} is not described in the file", e.name))?;
        let reader = self.reader(&info.name, parts)?;
        // The derived class or another base fills the other parts: a base fills only parts that its info names.
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
    fn fills(&self, version: &ClassVersion, filled: &mut [bool]) {
        let mut mark = |i: usize| {
            if let Some(filled) = filled.get_mut(i) {
                *filled = true;
            }
        };
        version.missing.iter().for_each(|i| mark(*i));
        for step in version.steps.iter().flatten() {
            match step.destination {
                Destination::Part(i) => {
                    if let Some(filled) = filled.get_mut(i) {
                        *filled = true;
                    }
                }
                Destination::Base { reader, .. } => {
                    if let Some(version) = self.readers.get(reader).and_then(|r| r.versions.first()) {
                        self.fills(version, filled);
                    }
                }
                Destination::Discarded(_) | Destination::TObject => {}
            }
        }
    }
}

/// All that a `TObject` has, also of which process the references to it are.
fn kept_tobject() -> Shape {
    let parts = [("fUniqueID", Number::U32), ("fBits", Number::U32), ("process", Number::U16)];
    Shape::Record(parts.map(|(name, number)| (name.to_owned(), Shape::Number(number))).to_vec())
}

/// The part name of a member whose name a base has too.
fn qualified(info: &StreamerInfo, name: &str) -> String {
    format!("{}::{name}", info.name)
}

/// Whether a member is in the file. Artificial and cached members are not.
pub(crate) fn is_stored(e: &StreamerElement) -> bool {
    e.type_code >= 0 && e.type_code < 600 && e.class != "TStreamerArtificial"
}

/// Whether an element is a base and not a container. `TObject` and `TNamed` have type codes of their own.
pub(crate) fn is_base(e: &StreamerElement) -> bool {
    (e.type_code == code::BASE || e.class == "TStreamerBase") && !matches!(e.kind, ElementKind::Stl { .. })
}

/// Whether a member counts other members of its class or of derived classes.
fn counts(info: &StreamerInfo, e: &StreamerElement) -> bool {
    e.type_code == code::COUNTER
        || info.elements.iter().any(|other| matches!(&other.kind, ElementKind::Counted { name, .. } if *name == e.name))
}
