//! Writes objects by the plans they were read by.

use super::plan::Step;
use super::read::{MAX_DEPTH, UNFRAMED};
use super::value::{Array, Collection, Content, Graph, Members, Named, Object, ObjectId, Value};
use crate::bytes::Writer;
use crate::streamer::code;
use crate::tags::{WriteTags, begin_frame, end_frame};
use crate::tobject::write_tnamed;
use crate::{Error, Result};

/// Writes one record's objects.
pub struct ObjectWriter<'a> {
    /// The bytes so far.
    pub out: Writer,
    /// Classes and objects written so far.
    pub tags: WriteTags,
    graph: &'a Graph,
    depth: usize,
}

impl<'a> ObjectWriter<'a> {
    /// A writer for the payload of a key of `keylen` bytes. `graph` has the objects behind pointers.
    pub fn new(keylen: usize, graph: &'a Graph) -> Self {
        Self { out: Writer::new(), tags: WriteTags::new(keylen), graph, depth: 0 }
    }

    /// Writes the object of the record, as [`ObjectReader::read_root`](super::ObjectReader::read_root) reads it. Pointers to
    /// this object have the first identity.
    ///
    /// # Errors
    ///
    /// If a value does not fit its type, or if objects nest too deep.
    pub fn root(&mut self, object: &Object) -> Result<()> {
        self.tags.register(&self.out, 0);
        self.object(object)
    }

    /// Writes an object by value.
    ///
    /// # Errors
    ///
    /// If a value does not fit its type, or if objects nest deeper than [`ObjectReader`](super::ObjectReader) reads.
    pub fn object(&mut self, object: &Object) -> Result<()> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::unsupported(format!("objects nest more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let written = self.content(object);
        self.depth -= 1;
        written
    }

    fn content(&mut self, object: &Object) -> Result<()> {
        match &object.content {
            Content::Array(array) => {
                self.out.i32(i32::try_from(array.len()).map_err(|_| Error::request("an array too large"))?);
                self.out.raw(&array.raw);
            }
            Content::TObject(t) => t.write(&mut self.out),
            Content::Opaque(bytes) if object.version == UNFRAMED => self.out.raw(bytes),
            Content::Opaque(bytes) => {
                let frame = begin_frame(&mut self.out, object.version);
                self.out.raw(bytes);
                end_frame(&mut self.out, frame);
            }
            Content::Members(members) => {
                let frame = begin_frame(&mut self.out, object.version);
                // A class with a version in its info but not in its frame has no ClassDef.
                if object.version <= 0 && members.plan.version > 0 {
                    self.out.u32(members.plan.checksum);
                }
                self.members(members)?;
                end_frame(&mut self.out, frame);
            }
            Content::Held(_) => {
                return Err(Error::unsupported(format!("a {} where it cannot be written", object.class)));
            }
            Content::Collection(collection) => self.collection(&object.class, collection)?,
        }
        Ok(())
    }

    /// Writes an object without its base, which [`Value::Int`] stands for. `base` writes the base in that place.
    ///
    /// # Errors
    ///
    /// If a value does not fit its type, or if `base` fails.
    pub fn object_around(&mut self, object: &Object, base: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let Content::Members(members) = &object.content else {
            return Err(Error::request(format!("a {} without members", object.class)));
        };
        let frame = begin_frame(&mut self.out, object.version);
        for ((_, step), value) in members.plan.steps.iter().zip(&members.values) {
            match (step, value) {
                (Step::Base { .. }, Value::Int(_)) => base(self)?,
                (Step::Base { .. }, Value::Object(inner)) if has_gap(inner) => self.object_around(inner, base)?,
                _ => self.step(step, value, members)?,
            }
        }
        end_frame(&mut self.out, frame);
        Ok(())
    }

    fn members(&mut self, members: &Members) -> Result<()> {
        for ((name, step), value) in members.plan.steps.iter().zip(&members.values) {
            self.step(step, value, members).map_err(|e| e.object(format!("{}::{name}", members.plan.class)))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, value: &Value, members: &Members) -> Result<()> {
        match (step, value) {
            (Step::Basic(t), value) => self.basic(*t, value)?,
            (Step::Packed(_) | Step::PackedArray(..), Value::Raw(raw)) => self.out.raw(raw),
            (Step::CharStar, Value::Str(s)) => {
                let bytes = crate::text::encode(s);
                self.out.i32(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
                self.out.raw(&bytes);
            }
            (Step::FixedArray(..), Value::Array(array)) => self.out.raw(&array.raw),
            (Step::CountedArray(_, counter), Value::Array(array)) => {
                self.check_count(members, counter, array)?;
                self.out.u8(u8::from(!array.is_empty()));
                self.out.raw(&array.raw);
            }
            (Step::CountedPacked(..), Value::Raw(raw)) => {
                self.out.u8(u8::from(!raw.is_empty()));
                self.out.raw(raw);
            }
            (Step::Base { .. } | Step::Inline(_), Value::Object(object)) => self.object(object)?,
            (Step::Inline(_) | Step::TString, Value::Str(s)) => self.out.string(s),
            (Step::Pointer, Value::Pointer(id)) => self.pointer(*id)?,
            (Step::TObject, Value::TObject(t)) => t.write(&mut self.out),
            (Step::TNamed, Value::Named(named)) => self.named(named),
            (Step::Several(inner, _), Value::List(values)) => {
                for value in values {
                    self.step(inner, value, members)?;
                }
            }
            (Step::Counted(..), Value::List(values)) => self.counted_objects(values)?,
            (Step::Opaque | Step::Counted(..), Value::Opaque(bytes)) => self.out.raw(bytes),
            (step, _) => return Err(Error::request(format!("a value that does not fit its type ({step:?})"))),
        }
        Ok(())
    }

    /// Objects in one frame, after one version.
    fn counted_objects(&mut self, values: &[Value]) -> Result<()> {
        let version = values.first().and_then(Value::as_i64).and_then(|v| i16::try_from(v).ok()).unwrap_or(0);
        let frame = begin_frame(&mut self.out, version);
        for value in values.iter().skip(1) {
            if let Value::Object(object) = value {
                self.object(object)?;
            }
        }
        end_frame(&mut self.out, frame);
        Ok(())
    }

    /// A counted array must have as many items as its counter says, or readers read wrong bytes afterwards.
    fn check_count(&self, members: &Members, counter: &str, array: &Array) -> Result<()> {
        let n = members.get(counter).and_then(Value::as_i64);
        if array.is_empty() || n == i64::try_from(array.len()).ok() {
            Ok(())
        } else {
            Err(Error::request(format!("an array of {} items whose counter {counter} says {n:?}", array.len())))
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the values were read from these widths")]
    fn basic(&mut self, t: i32, value: &Value) -> Result<()> {
        let out = &mut self.out;
        match (t, value) {
            (code::CHAR | code::LEGACY_CHAR | code::BOOL, Value::Int(v)) => out.i8(*v as i8),
            (code::SHORT, Value::Int(v)) => out.i16(*v as i16),
            (code::INT | code::COUNTER, Value::Int(v)) => out.i32(*v as i32),
            (code::LONG | code::LONG64, Value::Int(v)) => out.i64(*v),
            (code::UCHAR, Value::UInt(v)) => out.u8(*v as u8),
            (code::USHORT, Value::UInt(v)) => out.u16(*v as u16),
            (code::UINT | code::BITS, Value::UInt(v)) => out.u32(*v as u32),
            (code::ULONG | code::ULONG64, Value::UInt(v)) => out.u64(*v),
            (code::FLOAT, Value::F32(v)) => out.f32(*v),
            (code::DOUBLE, Value::F64(v)) => out.f64(*v),
            (code::BITS, Value::List(parts)) => {
                for (part, wide) in parts.iter().zip([true, false]) {
                    match part {
                        Value::UInt(v) if wide => out.u32(*v as u32),
                        Value::UInt(v) => out.u16(*v as u16),
                        _ => {}
                    }
                }
            }
            (t, v) => return Err(Error::request(format!("a value that does not fit type code {t}: {v:?}"))),
        }
        Ok(())
    }

    /// Writes a `TNamed` with its frame.
    pub fn named(&mut self, named: &Named) {
        write_tnamed(&mut self.out, &named.object, &named.name, &named.title);
    }

    /// Writes a pointer, and the object if it has not been written yet.
    ///
    /// # Errors
    ///
    /// If the object cannot be written.
    pub fn pointer(&mut self, id: Option<ObjectId>) -> Result<()> {
        if id.is_some_and(|id| self.tags.reference(&mut self.out, id)) {
            return Ok(());
        }
        let Some((id, object)) = id.and_then(|id| self.graph.get(id).map(|object| (id, object))) else {
            WriteTags::null(&mut self.out);
            return Ok(());
        };
        let at = self.tags.begin_shared(&mut self.out, &object.class, id);
        self.object(object)?;
        end_frame(&mut self.out, at);
        Ok(())
    }

    fn collection(&mut self, class: &str, collection: &Collection) -> Result<()> {
        let (is_array, is_map) = (class == "TObjArray", class == "TMap");
        let has_options = !is_array && !is_map && class != "TOrdCollection";
        let frame = begin_frame(&mut self.out, if has_options { 5 } else { 3 });
        collection.object.write(&mut self.out);
        self.out.string(&collection.name);
        let n = if is_map { collection.items.len() / 2 } else { collection.items.len() };
        self.out.i32(i32::try_from(n).map_err(|_| Error::request("a list too long"))?);
        if is_array {
            self.out.i32(collection.lower_bound);
        }
        for (i, item) in collection.items.iter().enumerate() {
            self.pointer(*item)?;
            if has_options {
                self.out.string(collection.options.get(i).map_or("", String::as_str));
            }
        }
        end_frame(&mut self.out, frame);
        Ok(())
    }
}

/// Whether the base was taken out of this object.
fn has_gap(object: &Object) -> bool {
    object.members().is_some_and(|m| {
        m.plan.steps.iter().zip(&m.values).any(|((_, step), value)| match (step, value) {
            (Step::Base { .. }, Value::Int(_)) => true,
            (Step::Base { .. }, Value::Object(inner)) => has_gap(inner),
            _ => false,
        })
    })
}
