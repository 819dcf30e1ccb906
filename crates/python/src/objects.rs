//! Objects that are no tables, as Python's own values: any class that streamer infos describe is read into tuples, and written from
//! a dictionary of its members. The classes that users see are Python: `python/basketry/objects`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use dataset::decode::single;
use objects::moved;
use pyo3::types::{PyAny, PyAnyMethods, PyBytes, PyDict, PyDictMethods, PyList};
use pyo3::{Bound, IntoPyObject, PyResult, Python, pyfunction};
use rootfile::object::{Array, Collection, Content, Graph, Members, Named, Object, ObjectId, ObjectReader};
use rootfile::object::{ObjectWriter, PackedNumber, Plan, Step, TObject, Value, array_class};
use rootfile::streamer::{StreamerInfo, StreamerInfos, code};
use rootfile::tags::{BYTE_COUNT_MASK, may_hold_tags};
use rootfile::{Error, Key, Result, RootFile};

use crate::batch::node_of;
use crate::errors::exception;
use crate::interrupt::listening;

type Any<'py> = Bound<'py, PyAny>;

/// Status bits of a new object, as ROOT writes them: `kIsOnHeap` and `kNotDeleted`.
const NEW: u32 = 0x0300_0000;

/// The object whose key lies at an offset, and the objects that pointers refer to, by number.
#[pyfunction]
pub fn object(py: Python<'_>, path: PathBuf, offset: u64) -> PyResult<(Any<'_>, Vec<Option<Any<'_>>>)> {
    let (object, graph, infos) = listening(py, move |_| {
        let file = RootFile::open(&path)?;
        let key = file.key_at(offset)?;
        let payload = file.payload(&key)?;
        // Containers and strings of the standard library have no streamer info.
        if key.class.starts_with(char::is_lowercase) && file.infos().latest(&key.class).is_none() {
            let content = Content::Opaque(payload);
            return Ok((
                Object { class: key.class.into(), version: 0, content },
                Graph::default(),
                file.infos().clone(),
            ));
        }
        let reader = ObjectReader::new(&payload, usize::from(key.keylen), file.infos());
        let (mut object, graph) = reader.read_root(&key.class).map_err(|e| e.object(&key.name).file(&path))?;
        if let Content::Opaque(bytes) = &mut object.content {
            // Streamers of their own may write more behind their frame (`TMatrixTSym`).
            *bytes = payload;
        }
        Ok((object, graph, file.infos().clone()))
    })?;
    let infos = &infos;
    let pointed = graph.objects.iter().map(|one| one.as_ref().map(|one| node(py, one, infos)).transpose());
    Ok((node(py, &object, infos)?, pointed.collect::<PyResult<_>>()?))
}

/// Class, version, kind of the content, content.
fn node<'py>(py: Python<'py>, object: &Object, infos: &StreamerInfos) -> PyResult<Any<'py>> {
    let (kind, content) = match &object.content {
        Content::Members(members) => ("members", self::members(py, members, infos)?),
        Content::TObject(t) => ("tobject", (t.unique_id, t.bits).into_pyobject(py)?.into_any()),
        Content::Collection(list) => {
            ("list", (&list.name, list.items.clone(), list.options.clone()).into_pyobject(py)?.into_any())
        }
        Content::Array(array) => ("array", numbers(py, array)?),
        Content::Opaque(bytes) => {
            if (object.class.starts_with(char::is_lowercase) || object.class.starts_with("TMatrixTSym<"))
                && let Ok(decoded) = single::object(infos, &object.class, bytes)
            {
                ("column", column(py, decoded)?)
            } else {
                ("bytes", PyBytes::new(py, bytes).into_any())
            }
        }
        Content::Held(_) => ("bytes", PyBytes::new(py, &[]).into_any()),
    };
    // What has no frame has no version.
    let version = if object.version == i16::MIN { 0 } else { object.version };
    Ok((&*object.class, version, kind, content).into_pyobject(py)?.into_any())
}

/// Name, whether it is a base, and value of each member.
fn members<'py>(py: Python<'py>, members: &Members, infos: &StreamerInfos) -> PyResult<Any<'py>> {
    let plan = &members.plan;
    let info = infos.get(&plan.class, plan.version);
    let lines = plan.steps.iter().zip(&members.values).map(|((name, step), value)| {
        let is_base = matches!(step, Step::Base { .. })
            || (matches!(step, Step::TObject) && name == "TObject")
            || (matches!(step, Step::TNamed) && name == "TNamed");
        let element = || info.as_ref().and_then(|info| info.elements.iter().find(|one| one.name == *name));
        let made = match (step, value) {
            (Step::Basic(code::UINT), Value::UInt(v)) if element().is_some_and(|one| one.type_name == "TDatime") => {
                let own = PyList::new(py, [("fDatime", false, *v)])?;
                ("object", ("TDatime", 1, "members", own)).into_pyobject(py)?.into_any()
            }
            (Step::Basic(code::BOOL), Value::Int(v)) => (*v != 0).into_pyobject(py)?.to_owned().into_any(),
            (Step::Packed(number), Value::Raw(raw)) => {
                number.numbers(raw).next().unwrap_or_default().into_pyobject(py)?.into_any()
            }
            (Step::PackedArray(number, _) | Step::CountedPacked(number, _), Value::Raw(raw)) => {
                numbers(py, &unpacked(*number, raw))?
            }
            (Step::Opaque, Value::Opaque(bytes)) => {
                let described = info.as_ref().zip(element());
                let decoded = described.and_then(|(info, one)| single::member(infos, info, one, bytes).ok());
                match decoded {
                    Some(decoded) => ("column", column(py, decoded)?).into_pyobject(py)?.into_any(),
                    None => self::value(py, value, infos)?,
                }
            }
            _ => self::value(py, value, infos)?,
        };
        (name, is_base, made).into_pyobject(py)
    });
    let lines = lines.collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, lines)?.into_any())
}

/// A column of one value, as a tree of buffers.
fn column<'py>(py: Python<'py>, (field, array): (FieldRef, ArrayRef)) -> PyResult<Any<'py>> {
    let node = node_of(&field, &array)?;
    // The memory is Python's own.
    drop(array);
    Ok(node.into_pyobject(py)?.into_any())
}

/// Packed numbers as those that they are in memory.
fn unpacked(number: PackedNumber, packed: &[u8]) -> Array {
    let mut raw = Vec::new();
    for value in number.numbers(packed) {
        match number.code {
            #[expect(clippy::cast_possible_truncation, reason = "a Float16_t is a float in memory")]
            code::FLOAT => raw.extend_from_slice(&(value as f32).to_be_bytes()),
            _ => raw.extend_from_slice(&value.to_be_bytes()),
        }
    }
    Array { code: number.code, raw }
}

/// Numbers as they are in memory, packed.
fn packed(number: PackedNumber, raw: Vec<u8>) -> Vec<u8> {
    let pack = |value: f64| {
        let (bytes, size) = number.packed.bytes(value);
        bytes.into_iter().take(size)
    };
    Array { code: number.code, raw }.to_f64().into_iter().flat_map(pack).collect()
}

fn numbers<'py>(py: Python<'py>, array: &Array) -> PyResult<Any<'py>> {
    Ok(("array", array.code, PyBytes::new(py, &array.raw)).into_pyobject(py)?.into_any())
}

fn value<'py>(py: Python<'py>, value: &Value, infos: &StreamerInfos) -> PyResult<Any<'py>> {
    Ok(match value {
        Value::Int(v) => v.into_pyobject(py)?.into_any(),
        Value::UInt(v) => v.into_pyobject(py)?.into_any(),
        Value::F32(v) => v.into_pyobject(py)?.into_any(),
        Value::F64(v) => v.into_pyobject(py)?.into_any(),
        Value::Str(v) => v.into_pyobject(py)?.into_any(),
        Value::Raw(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Array(array) => numbers(py, array)?,
        Value::TObject(t) => ("tobject", t.unique_id, t.bits).into_pyobject(py)?.into_any(),
        Value::Named(named) => {
            let t = named.object;
            ("named", t.unique_id, t.bits, &named.name, &named.title).into_pyobject(py)?.into_any()
        }
        Value::Object(object) => ("object", node(py, object, infos)?).into_pyobject(py)?.into_any(),
        Value::Pointer(id) => ("pointer", *id).into_pyobject(py)?.into_any(),
        Value::List(values) => {
            let made = values.iter().map(|one| self::value(py, one, infos)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, made)?.into_any()
        }
        Value::Opaque(bytes) => PyBytes::new(py, bytes).into_any(),
    })
}

/// An object made of a dictionary, ready for a record.
pub struct Made {
    object: Object,
    graph: Graph,
    pub infos: Vec<Arc<StreamerInfo>>,
}

impl Made {
    /// The record for a key of this length.
    pub fn payload(&self, keylen: usize) -> Result<Vec<u8>> {
        written(&self.object, &self.graph, keylen)
    }
}

/// Makes an object from its class and its members by name, those of bases included; numbers of arrays are bytes as on disk.
/// Members that are absent are zero.
pub fn made(class: &str, members: &Any<'_>, known: &StreamerInfos) -> PyResult<Made> {
    let mut maker = Maker { known, infos: Vec::new(), graph: Graph::default() };
    // The first number is the record's own object's.
    maker.graph.objects.push(None);
    let object = maker.object(class, members)?;
    Ok(Made { object, graph: maker.graph, infos: maker.infos })
}

struct Maker<'a> {
    known: &'a StreamerInfos,
    infos: Vec<Arc<StreamerInfo>>,
    graph: Graph,
}

impl Maker<'_> {
    fn object(&mut self, class: &str, given: &Any<'_>) -> PyResult<Object> {
        let info = self.known.latest(class);
        if let Some(info) = &info
            && !self.infos.iter().any(|one| one.name == class)
        {
            self.infos.push(Arc::clone(info));
        }
        let unversioned = |content| Object { class: class.into(), version: 0, content };
        if is_list(class) {
            let items: Vec<Option<(String, Any<'_>)>> = given.extract()?;
            let items = items.into_iter().map(|item| self.pointed(item)).collect::<PyResult<Vec<_>>>()?;
            let object = TObject { bits: NEW, ..TObject::default() };
            return Ok(unversioned(Content::Collection(Box::new(Collection {
                object,
                items,
                ..Collection::default()
            }))));
        }
        if let Some(code) = array_class(class) {
            return Ok(unversioned(Content::Array(Array { code, raw: bytes(given)? })));
        }
        let info = info.ok_or_else(|| exception(Error::request(format!("no streamer info for class {class}"))))?;
        let plan = Arc::new(Plan::new(&info));
        let given = given.cast::<PyDict>()?;
        let values = plan.steps.iter().map(|(name, step)| self.value(name, step, given));
        let values = values.collect::<PyResult<Vec<_>>>()?;
        let version = i16::try_from(plan.version).unwrap_or_default();
        Ok(Object { class: class.into(), version, content: Content::Members(Members { plan, values }) })
    }

    fn pointed(&mut self, given: Option<(String, Any<'_>)>) -> PyResult<Option<ObjectId>> {
        let Some((class, members)) = given else { return Ok(None) };
        let object = self.object(&class, &members)?;
        Ok(Some(self.graph.add(object)))
    }

    fn value(&mut self, name: &str, step: &Step, given: &Bound<'_, PyDict>) -> PyResult<Value> {
        let found = given.get_item(name)?.filter(|value| !value.is_none());
        let text = |name: &str| given.get_item(name)?.map_or_else(|| Ok(String::new()), |one| one.extract());
        Ok(match step {
            Step::Basic(t) => basic(*t, found.as_ref())?,
            Step::Packed(number) => {
                let value: f64 = found.map_or(Ok(0.0), |one| one.extract())?;
                let (bytes, size) = number.packed.bytes(value);
                Value::Raw(bytes.into_iter().take(size).collect())
            }
            Step::PackedArray(number, n) => {
                let mut raw = found.map_or_else(|| Ok(Vec::new()), |one| bytes(&one))?;
                raw.resize(Array { code: number.code, raw: Vec::new() }.item_size() * n, 0);
                Value::Raw(packed(*number, raw).into())
            }
            Step::CountedPacked(number, _) => {
                let raw = found.map_or_else(|| Ok(Vec::new()), |one| bytes(&one))?;
                Value::Raw(packed(*number, raw).into())
            }
            Step::CharStar | Step::TString => Value::Str(text(name)?),
            Step::Inline(class) if &**class == "TString" => Value::Str(text(name)?),
            Step::FixedArray(t, n) => {
                let size = Array { code: *t, raw: Vec::new() }.item_size() * n;
                let mut raw = found.map_or_else(|| Ok(Vec::new()), |one| bytes(&one))?;
                raw.resize(size, 0);
                Value::Array(Box::new(Array { code: *t, raw }))
            }
            Step::CountedArray(t, _) => {
                let raw = found.map_or_else(|| Ok(Vec::new()), |one| bytes(&one))?;
                Value::Array(Box::new(Array { code: *t, raw }))
            }
            Step::Base { class } if array_class(class).is_some() => {
                let numbers = given.get_item("fArray")?.unwrap_or_else(|| PyBytes::new(given.py(), &[]).into_any());
                Value::Object(Box::new(self.object(class, &numbers)?))
            }
            Step::Base { class } => Value::Object(Box::new(self.object(class, given.as_any())?)),
            Step::Inline(class) => {
                let empty = || match array_class(class) {
                    Some(_) => PyBytes::new(given.py(), &[]).into_any(),
                    None if is_list(class) => PyList::empty(given.py()).into_any(),
                    None => PyDict::new(given.py()).into_any(),
                };
                let found = found.unwrap_or_else(empty);
                // The class of a member by value is known; an object in memory names it all the same.
                let found = found.extract::<(String, Any<'_>)>().map_or(found, |(_, members)| members);
                Value::Object(Box::new(self.object(class, &found)?))
            }
            Step::Pointer => Value::Pointer(self.pointed(found.map(|one| one.extract()).transpose()?)?),
            Step::TObject => Value::TObject(new(given)?),
            Step::TNamed => {
                let (object, name, title) = (new(given)?, text("fName")?, text("fTitle")?);
                Value::Named(Box::new(Named { object, name, title }))
            }
            Step::Several(inner, n) => {
                let none = PyDict::new(given.py());
                Value::List((0..*n).map(|_| self.value(name, inner, &none)).collect::<PyResult<_>>()?)
            }
            Step::Counted(..) => Value::List(vec![Value::Int(0)]),
            Step::Opaque => {
                let raw = found.map_or_else(|| Ok(Vec::new()), |one| bytes(&one))?;
                if !raw.is_empty() && !is_framed(&raw) {
                    let why = format!("member {name} is a container, which cannot be written from Python");
                    return Err(exception(Error::request(why)));
                }
                Value::Opaque(raw.into())
            }
        })
    }
}

/// Whether bytes are those of a member that was not decoded: with the byte count of all that follow.
fn is_framed(raw: &[u8]) -> bool {
    let count = raw.first_chunk::<4>().map(|first| (u32::from_be_bytes(*first) ^ BYTE_COUNT_MASK) as usize);
    count.and_then(|count| count.checked_add(4)) == Some(raw.len())
}

fn is_list(class: &str) -> bool {
    matches!(class, "TList" | "THashList" | "TObjArray")
}

fn new(given: &Bound<'_, PyDict>) -> PyResult<TObject> {
    let bits = given.get_item("@fBits")?.map_or(Ok(NEW), |one| one.extract())?;
    Ok(TObject { bits, ..TObject::default() })
}

fn bytes(given: &Any<'_>) -> PyResult<Vec<u8>> {
    Ok(given.cast::<PyBytes>()?.extract::<&[u8]>()?.to_vec())
}

fn basic(t: i32, given: Option<&Any<'_>>) -> PyResult<Value> {
    fn of<'py, T>(given: Option<&Any<'py>>) -> PyResult<T>
    where
        T: Default + for<'a> pyo3::FromPyObject<'a, 'py, Error = pyo3::PyErr>,
    {
        given.map_or_else(|| Ok(T::default()), |one| one.extract::<T>())
    }
    Ok(match t {
        code::UCHAR | code::USHORT | code::UINT | code::ULONG | code::ULONG64 | code::BITS => Value::UInt(of(given)?),
        code::FLOAT => Value::F32(of(given)?),
        code::DOUBLE => Value::F64(of(given)?),
        code::BOOL => Value::Int(i64::from(of::<bool>(given)?)),
        _ => Value::Int(of(given)?),
    })
}

/// A record of another file.
pub struct Record {
    pub class: String,
    pub title: String,
    pub infos: Vec<Arc<StreamerInfo>>,
    /// The payload, with its tags counted for a key of this length.
    pub payload: Box<dyn Fn(usize) -> Result<Vec<u8>> + Send>,
}

/// The record whose key lies at an offset of another file. An object that has a name gets this one.
pub fn record(path: &Path, offset: u64, name: &str) -> Result<Record> {
    let file = RootFile::open(path)?;
    let key = file.key_at(offset)?;
    let payload = file.payload(&key)?;
    let infos = file.infos().clone();
    let listed = infos.iter().cloned().collect();
    let (class, title) = (key.class.clone(), key.title.clone());
    if let Some(renamed) = renamed(&key, &payload, &infos, name) {
        let payload = move |keylen: usize| written(&renamed.0, &renamed.1, keylen);
        return Ok(Record { class, title, infos: listed, payload: Box::new(payload) });
    }
    let moved = move |keylen: usize| {
        let keylen = u16::try_from(keylen).unwrap_or(u16::MAX);
        moved(&key, &payload, &infos, keylen)
            .ok_or_else(|| Error::unsupported(format!("a {} that cannot be moved", key.class)).object(&key.name))
    };
    Ok(Record { class, title, infos: listed, payload: Box::new(moved) })
}

/// The object under another name. `None` if it has no name or the same, and where a copy of the objects would differ from the
/// record.
fn renamed(key: &Key, payload: &[u8], infos: &StreamerInfos, name: &str) -> Option<(Object, Graph)> {
    let keylen = usize::from(key.keylen);
    let (mut object, graph) = ObjectReader::new(payload, keylen, infos).read_root(&key.class).ok()?;
    let has_tags_within = graph.objects.iter().flatten().chain([&object]).any(|one| match &one.content {
        Content::Opaque(bytes) => may_hold_tags(bytes),
        _ => false,
    });
    if has_tags_within || written(&object, &graph, keylen).ok()? != payload {
        return None;
    }
    let named = name_of(object.members_mut()?)?;
    if named.name == name {
        return None;
    }
    name.clone_into(&mut named.name);
    Some((object, graph))
}

/// The `TNamed` among the bases.
fn name_of(members: &mut Members) -> Option<&mut Named> {
    members.values.iter_mut().find_map(|value| match value {
        Value::Named(named) => Some(&mut **named),
        Value::Object(object) => object.members_mut().and_then(name_of),
        _ => None,
    })
}

fn written(object: &Object, graph: &Graph, keylen: usize) -> Result<Vec<u8>> {
    let mut writer = ObjectWriter::new(keylen, graph);
    writer.root(object)?;
    Ok(writer.out.bytes)
}
