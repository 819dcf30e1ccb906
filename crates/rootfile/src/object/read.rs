//! Reads objects by their plans.

use std::sync::Arc;

use super::plan::{PackedNumber, Plan, Step};
use super::plans::{Layout, Plans};
use super::value::{Array, Collection, Content, Graph, Members, Named, Object, ObjectId, Value, basic_size};
use crate::bytes::Cursor;
use crate::streamer::{StreamerInfos, code};
use crate::tags::{Frame, ReadTags, Tag};
use crate::tobject::{IS_REFERENCED, read_tobject};
use crate::{Error, Result};

/// The tag of pointers to the record's own object.
const ROOT_SLOT: u32 = 1;
/// Deepest nesting of objects that are read or written. ROOT's own trees nest less than twenty deep.
pub(super) const MAX_DEPTH: usize = 100;
/// Values that the objects of any record may have, besides one for each byte.
const MOST_VALUES: usize = 100_000;

/// Version of opaque objects whose bytes include their frame, if they have one.
pub const UNFRAMED: i16 = i16::MIN;

/// Reads classes whose bytes no streamer info describes: those with hand-written streamers.
pub trait CustomStreamer {
    /// Reads the content of an object of `class`, whose frame has been read. Returns `None` to leave the object to the streamer
    /// infos. The reader skips the bytes that are left up to the frame's end.
    ///
    /// # Errors
    ///
    /// If the content cannot be read.
    fn read(&self, class: &str, frame: Frame, reader: &mut ObjectReader<'_>) -> Result<Option<Content>>;
}

/// Reads one record's objects.
pub struct ObjectReader<'a> {
    /// The reader's position.
    pub cursor: Cursor<'a>,
    tags: ReadTags,
    plans: Plans<'a>,
    custom: Option<&'a dyn CustomStreamer>,
    graph: Graph,
    depth: usize,
    values: usize,
}

impl<'a> ObjectReader<'a> {
    /// A reader over a record's payload. `keylen` is the length of the key in front, from which tags count.
    pub fn new(payload: &'a [u8], keylen: usize, infos: &'a StreamerInfos) -> Self {
        Self {
            cursor: Cursor::new(payload),
            tags: ReadTags::new(keylen),
            plans: Plans::new(infos),
            custom: None,
            graph: Graph::default(),
            depth: 0,
            values: 0,
        }
    }

    /// Adds hand-written streamers.
    #[must_use]
    pub fn with_custom(mut self, custom: &'a dyn CustomStreamer) -> Self {
        self.custom = Some(custom);
        self
    }

    /// Reads the object of the record, and the objects that its pointers refer to.
    ///
    /// # Errors
    ///
    /// If the bytes do not fit the class, or if the class is not described.
    pub fn read_root(mut self, class: &str) -> Result<(Object, Graph)> {
        // Pointers refer to the object of the key itself as 1 (`TKey::ReadObj`, `TBufferFile::MapObject`).
        let id = self.graph.objects.len();
        self.graph.objects.push(None);
        self.tags.register(ROOT_SLOT, id);
        let object = self.object(class)?;
        Ok((object, self.graph))
    }

    /// Reads an object by value.
    ///
    /// # Errors
    ///
    /// If the bytes do not fit the class, or if the class is not described.
    pub fn object(&mut self, class: &str) -> Result<Object> {
        self.object_of(&Arc::from(class))
    }

    fn object_of(&mut self, class: &Arc<str>) -> Result<Object> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::corrupt(format!("objects nest more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let object = self.dispatch(class).map_err(|e| e.object(format!("a {class}")));
        self.depth -= 1;
        object
    }

    fn dispatch(&mut self, class: &Arc<str>) -> Result<Object> {
        let unversioned = |content| Ok(Object { class: Arc::clone(class), version: 0, content });
        if let Some(array_code) = array_class(class) {
            return unversioned(Content::Array(self.counted_array(array_code)?));
        }
        if &**class == "TObject" {
            let object = read_tobject(&mut self.cursor)?;
            return Ok(Object { class: Arc::clone(class), version: 1, content: Content::TObject(object) });
        }
        if &**class == "TDatime" {
            // Four bytes without a frame (`TDatime::Streamer`).
            let bytes = self.cursor.bytes(4)?.to_vec();
            return Ok(Object { class: Arc::clone(class), version: UNFRAMED, content: Content::Opaque(bytes) });
        }
        if let Some(width) = symmetric_matrix(class) {
            return self.symmetric_matrix(class, width);
        }
        let frame = Frame::read(&mut self.cursor)?;
        let content = self.framed(class, frame).or_else(|e| {
            // A class that cannot be read is opaque if its end is known.
            match frame.end {
                Some(end) if self.is_optional(class) => {
                    let start = frame.start + 6;
                    let bytes = self.cursor.data().get(start..end).unwrap_or_default();
                    self.cursor.seek(end);
                    Ok(Content::Opaque(bytes.to_vec()))
                }
                _ => Err(e),
            }
        })?;
        frame.skip_to_end(&mut self.cursor)?;
        Ok(Object { class: Arc::clone(class), version: frame.version, content })
    }

    /// A symmetric matrix, whose streamer writes no frame but its base's, and elements behind it (`TMatrixTSym::Streamer`): the
    /// upper triangle, each number of `width` bytes. It stays bytes.
    fn symmetric_matrix(&mut self, class: &Arc<str>, width: usize) -> Result<Object> {
        let start = self.cursor.pos();
        let base = class.replacen("TMatrixTSym", "TMatrixTBase", 1);
        let base = self.object(&base)?;
        let rows = base.members().and_then(|base| base.get("fNrows")).and_then(Value::as_i64).unwrap_or(-1);
        let rows = self.cursor.checked_count(rows, 1)?;
        let elements = rows.checked_mul(rows.saturating_add(1)).map(|twice| twice / 2);
        let bytes = elements.and_then(|elements| elements.checked_mul(width));
        self.cursor.bytes(bytes.ok_or_else(|| Error::corrupt("a matrix too large"))?)?;
        let bytes = self.cursor.data().get(start..self.cursor.pos()).unwrap_or_default();
        Ok(Object { class: Arc::clone(class), version: UNFRAMED, content: Content::Opaque(bytes.to_vec()) })
    }

    /// Whether an object of this class may become opaque. Not the parts of a tree, nor lists, whose items become opaque
    /// one by one.
    fn is_optional(&self, class: &str) -> bool {
        !(matches!(class, "TTree" | "TBasket" | "TList" | "THashList" | "TObjArray")
            || class.starts_with("TBranch")
            || class.starts_with("TLeaf"))
    }

    fn framed(&mut self, class: &Arc<str>, frame: Frame) -> Result<Content> {
        if let Some(custom) = self.custom
            && let Some(content) = custom.read(class, frame, self)?
        {
            return Ok(content);
        }
        match &**class {
            "TList" | "THashList" | "TObjArray" | "TSortedList" | "TOrdCollection" | "TMap" => {
                return self.collection(class, frame).map(|c| Content::Collection(Box::new(c)));
            }
            // These classes have streamers of their own, which this module does not know.
            "TClonesArray" | "TRefArray" => {
                return Err(Error::unsupported("has a streamer of its own"));
            }
            _ => {}
        }
        let plan = self.plan(class, frame)?;
        let members = self.members(plan)?;
        frame.finish(&mut self.cursor, class)?;
        Ok(Content::Members(members))
    }

    /// The plan of an object of `class` whose frame has been read: its members and their types.
    ///
    /// # Errors
    ///
    /// If this version of the class is not described.
    pub fn plan(&mut self, class: &str, frame: Frame) -> Result<Arc<Plan>> {
        let version = i32::from(frame.version);
        if version <= 0 {
            // A checksum follows for classes without a version (`TBufferFile::ReadVersion`), but not for classes of
            // version 0, such as TH1L.
            let mut peek = self.cursor.clone();
            if let Ok(checksum) = peek.u32()
                && let Some(plan) = self.plans.get(class, Layout::Checksum(checksum))
            {
                self.cursor = peek;
                return Ok(plan);
            }
        }
        self.plans
            .get(class, Layout::Version(version))
            .ok_or_else(|| Error::unsupported(format!("no streamer info for class {class} version {version}")))
    }

    /// Counts the members of a plan that is about to be read.
    pub(super) fn begin_members(&mut self, plan: &Plan) -> Result<()> {
        // Members without bytes could turn a small record into many values.
        self.values = self.values.saturating_add(plan.steps.len());
        if self.values > MOST_VALUES.max(self.cursor.data().len()) {
            return Err(Error::corrupt("objects with more members than the record has bytes"));
        }
        Ok(())
    }

    /// Reads the values of a plan.
    ///
    /// # Errors
    ///
    /// If the bytes do not fit the plan.
    pub fn members(&mut self, plan: Arc<Plan>) -> Result<Members> {
        self.begin_members(&plan)?;
        let mut members = Members { values: Vec::with_capacity(plan.steps.len()), plan: Arc::clone(&plan) };
        for (name, step) in &plan.steps {
            let value = self.step(step, &members).map_err(|e| e.object(format!("{}::{name}", plan.class)))?;
            members.values.push(value);
        }
        Ok(members)
    }

    /// Skips a member that is not a counter.
    pub(super) fn pass(&mut self, step: &Step) -> Result<()> {
        let nothing = Plan { class: String::new(), version: 0, checksum: 0, steps: Vec::new() };
        self.step(step, &Members { plan: Arc::new(nothing), values: Vec::new() }).map(|_| ())
    }

    fn step(&mut self, step: &Step, so_far: &Members) -> Result<Value> {
        Ok(match step {
            Step::Basic(t) => self.basic(*t)?,
            Step::Packed(number) => self.raw(*number, 1)?,
            Step::PackedArray(number, n) => self.raw(*number, *n)?,
            Step::CharStar => {
                let n = self.cursor.count(1)?;
                Value::Str(crate::text::decode(self.cursor.bytes(n)?))
            }
            Step::FixedArray(t, n) => self.array(*t, *n)?,
            Step::CountedArray(t, counter) => {
                let n = self.counted(so_far, counter)?;
                self.array(*t, n)?
            }
            Step::CountedPacked(number, counter) => {
                let n = self.counted(so_far, counter)?;
                self.raw(*number, n)?
            }
            Step::Base { class } => Value::Object(Box::new(self.object_of(class)?)),
            Step::Inline(class) if &**class == "TString" => Value::Str(self.cursor.string()?),
            Step::Inline(class) => Value::Object(Box::new(self.object_of(class)?)),
            Step::Pointer => Value::Pointer(self.pointer()?),
            Step::TString => Value::Str(self.cursor.string()?),
            Step::TObject => Value::TObject(read_tobject(&mut self.cursor)?),
            Step::TNamed => Value::Named(Box::new(self.named()?)),
            Step::Several(inner, n) => {
                let n = self.cursor.checked_count(i64::try_from(*n).unwrap_or(i64::MAX), 1)?;
                Value::List((0..n).map(|_| self.step(inner, so_far)).collect::<Result<_>>()?)
            }
            Step::Counted(class, counter) => {
                let start = self.cursor.clone();
                match self.counted_objects(class, so_far, counter) {
                    Ok(objects) => Value::List(objects),
                    Err(_) => {
                        self.cursor = start;
                        Value::Opaque(self.opaque()?.into())
                    }
                }
            }
            Step::Opaque => Value::Opaque(self.opaque()?.into()),
        })
    }

    pub(super) fn basic(&mut self, t: i32) -> Result<Value> {
        let c = &mut self.cursor;
        Ok(match t {
            code::CHAR | code::LEGACY_CHAR => Value::Int(i64::from(c.i8()?)),
            code::BOOL => Value::Int(i64::from(c.u8()?)),
            code::SHORT => Value::Int(i64::from(c.i16()?)),
            code::INT | code::COUNTER => Value::Int(i64::from(c.i32()?)),
            code::LONG | code::LONG64 => Value::Int(c.i64()?),
            code::UCHAR => Value::UInt(u64::from(c.u8()?)),
            code::USHORT => Value::UInt(u64::from(c.u16()?)),
            code::UINT => Value::UInt(u64::from(c.u32()?)),
            code::ULONG | code::ULONG64 => Value::UInt(c.u64()?),
            code::FLOAT => Value::F32(c.f32()?),
            code::DOUBLE => Value::F64(c.f64()?),
            code::BITS => {
                let bits = c.u32()?;
                if bits & IS_REFERENCED == 0 {
                    Value::UInt(u64::from(bits))
                } else {
                    Value::List(vec![Value::UInt(u64::from(bits)), Value::UInt(u64::from(c.u16()?))])
                }
            }
            t => return Err(Error::unsupported(format!("a basic type with code {t}"))),
        })
    }

    fn array(&mut self, t: i32, n: usize) -> Result<Value> {
        Ok(Value::Array(Box::new(Array { code: t, raw: self.raw_array(t, n)?.to_vec() })))
    }

    /// Packed numbers, as they are.
    fn raw(&mut self, number: PackedNumber, n: usize) -> Result<Value> {
        let bytes = n.checked_mul(number.packed.size()).ok_or_else(|| Error::corrupt("an array too large"))?;
        Ok(Value::Raw(self.cursor.bytes(bytes)?.into()))
    }

    pub(super) fn raw_array(&mut self, t: i32, n: usize) -> Result<&'a [u8]> {
        let size = basic_size(t).ok_or_else(|| Error::unsupported(format!("an array of type code {t}")))?;
        let bytes = n.checked_mul(size).ok_or_else(|| Error::corrupt("an array too large"))?;
        self.cursor.bytes(bytes)
    }

    /// The length of a counted array: its counter, or 0 if the byte in front says that the array is null.
    fn counted(&mut self, so_far: &Members, counter: &str) -> Result<usize> {
        let n = so_far
            .get(counter)
            .and_then(Value::as_i64)
            .ok_or_else(|| Error::unsupported(format!("the array's counter {counter:?} is unknown")))?;
        if self.cursor.u8()? == 0 { Ok(0) } else { self.cursor.checked_count(n, 1) }
    }

    /// Objects in one frame, after one version.
    fn counted_objects(&mut self, class: &Arc<str>, so_far: &Members, counter: &str) -> Result<Vec<Value>> {
        let frame = Frame::read(&mut self.cursor)?;
        let n = so_far.get(counter).and_then(Value::as_i64).unwrap_or(-1);
        let n = self.cursor.checked_count(n, 1)?;
        let mut values = vec![Value::Int(i64::from(frame.version))];
        for _ in 0..n {
            values.push(Value::Object(Box::new(self.object_of(class)?)));
        }
        frame.finish(&mut self.cursor, class)?;
        Ok(values)
    }

    fn counted_array(&mut self, t: i32) -> Result<Array> {
        let size = basic_size(t).unwrap_or(1);
        let n = self.cursor.count(size)?;
        Ok(Array { code: t, raw: self.cursor.bytes(n * size)?.to_vec() })
    }

    /// Reads a `TNamed` with its frame.
    ///
    /// # Errors
    ///
    /// If the bytes end too early, or not where the frame ends.
    pub fn named(&mut self) -> Result<Named> {
        let frame = Frame::read(&mut self.cursor)?;
        let object = read_tobject(&mut self.cursor)?;
        let named = Named { object, name: self.cursor.string()?, title: self.cursor.string()? };
        frame.finish(&mut self.cursor, "TNamed")?;
        Ok(named)
    }

    /// Reads a pointer, and the object if it follows. Returns its identity, or `None` for a null pointer.
    ///
    /// # Errors
    ///
    /// If the tag or the object cannot be read.
    pub fn pointer(&mut self) -> Result<Option<ObjectId>> {
        match self.tags.read(&mut self.cursor)? {
            Tag::Null => Ok(None),
            Tag::Object(id) => Ok(Some(id)),
            Tag::New { class, end, slot } => {
                let id = self.graph.objects.len();
                self.graph.objects.push(None);
                self.tags.register(slot, id);
                let start = self.cursor.pos();
                let object = if &*class == "TBasket" { self.basket(&class, end) } else { self.object_of(&class) };
                let object = object.or_else(|e| match end {
                    // A pointer has a byte count, so the end is known even for objects without a frame.
                    Some(end) if self.is_optional(&class) => {
                        let bytes = self.cursor.data().get(start..end).unwrap_or_default().to_vec();
                        Ok(Object { class: Arc::clone(&class), version: UNFRAMED, content: Content::Opaque(bytes) })
                    }
                    _ => Err(e),
                })?;
                if let Some(end) = end {
                    if self.cursor.pos() > end {
                        return Err(Error::corrupt(format!("a {class} reads past its byte count")));
                    }
                    self.cursor.seek(end);
                }
                if let Some(slot) = self.graph.objects.get_mut(id) {
                    *slot = Some(object);
                }
                Ok(Some(id))
            }
        }
    }

    /// A `TBasket` has no frame. Its bytes stay opaque here.
    fn basket(&mut self, class: &Arc<str>, end: Option<usize>) -> Result<Object> {
        let start = self.cursor.pos();
        let end = end.ok_or_else(|| Error::unsupported("a TBasket without a byte count"))?;
        let bytes = self.cursor.bytes(end.saturating_sub(start))?.to_vec();
        Ok(Object { class: Arc::clone(class), version: UNFRAMED, content: Content::Opaque(bytes) })
    }

    /// The object of a pointer.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The objects read so far, mutable.
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// Reads a `TList`, `TObjArray` or similar collection by value.
    ///
    /// # Errors
    ///
    /// If the bytes do not fit the class.
    pub fn list(&mut self, class: &str) -> Result<Collection> {
        let frame = Frame::read(&mut self.cursor)?;
        let list = self.collection(class, frame).map_err(|e| e.object(format!("a {class}")))?;
        frame.skip_to_end(&mut self.cursor)?;
        Ok(list)
    }

    fn collection(&mut self, class: &str, frame: Frame) -> Result<Collection> {
        let mut out = Collection::default();
        let version = frame.version;
        let (is_array, is_map) = (class == "TObjArray", class == "TMap");
        let has_options = !is_array && !is_map && class != "TOrdCollection";
        if version > 2 {
            out.object = read_tobject(&mut self.cursor)?;
        }
        if version > 1 {
            out.name = self.cursor.string()?;
        }
        let n = if is_map { self.cursor.count(8)? * 2 } else { self.cursor.count(4)? };
        if is_array {
            out.lower_bound = self.cursor.i32()?;
        }
        out.items.reserve(n);
        for i in 0..n {
            out.items.push(self.pointer()?);
            if has_options && version > 3 {
                // In version 4 the option's length has no long form.
                let option = if version > 4 { self.cursor.string()? } else { self.short_string()? };
                if !option.is_empty() {
                    out.options.resize(i, String::new());
                    out.options.push(option);
                }
            }
        }
        if !out.options.is_empty() {
            out.options.resize(n, String::new());
        }
        Ok(out)
    }

    fn short_string(&mut self) -> Result<String> {
        let n = usize::from(self.cursor.u8()?);
        self.cursor.bytes(n).map(crate::text::decode)
    }

    fn opaque(&mut self) -> Result<&'a [u8]> {
        let start = self.cursor.pos();
        let frame = Frame::read(&mut self.cursor)?;
        let end = frame.end.ok_or_else(|| Error::unsupported("a member that is not described has no byte count"))?;
        self.cursor.seek(end);
        Ok(self.cursor.data().get(start..end).unwrap_or_default())
    }
}

/// Bytes of an element, if the class is a symmetric matrix.
fn symmetric_matrix(class: &str) -> Option<usize> {
    match class {
        "TMatrixTSym<double>" => Some(8),
        "TMatrixTSym<float>" => Some(4),
        _ => None,
    }
}

/// Type code of the numbers of a `TArray` class.
pub fn array_class(class: &str) -> Option<i32> {
    Some(match class {
        "TArrayC" => code::CHAR,
        "TArrayS" => code::SHORT,
        "TArrayI" => code::INT,
        "TArrayL" => code::LONG,
        "TArrayL64" => code::LONG64,
        "TArrayF" => code::FLOAT,
        "TArrayD" => code::DOUBLE,
        _ => return None,
    })
}
