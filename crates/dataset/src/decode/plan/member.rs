//! Plans members: from an element of a streamer info, or from the name of a type, to the shape of the values and the
//! operation that reads them.

use rootfile::streamer::{ElementKind, Packed, StreamerElement, StreamerInfo, code};

use super::class::Classes;
use crate::decode::program::model::Typed;
use crate::decode::program::op::{ArrayKind, Container, Holds, Members, Op};
use crate::decode::program::types::{MAP_PARTS, Number, Reason, Shape};
use crate::type_name::{ContainerKind, TypeName};

impl Classes<'_> {
    /// A member of a class.
    pub(super) fn member(&mut self, info: &StreamerInfo, e: &StreamerElement) -> Result<Typed, Reason> {
        let outer = std::mem::replace(&mut self.member, (info.name.clone(), e.name.clone()));
        let typed = self.member_here(info, e);
        self.member = outer;
        typed
    }

    fn member_here(&mut self, info: &StreamerInfo, e: &StreamerElement) -> Result<Typed, Reason> {
        let t = e.type_code;
        let name = TypeName::parse(&e.type_name);
        if matches!(e.kind, ElementKind::Stl { .. }) || t == code::STL || t == code::STL_STRING {
            return self.stl(e, &name);
        }
        if let Some(value) = packed_or_basic(t, e) {
            return Ok(value);
        }
        let dims = dimensions(e);
        if let Some((shape, op)) = packed_or_basic(t - code::OFFSET_L, e) {
            return Ok((shape.fixed(&dims), op.fixed(&dims)));
        }
        if let Some((shape, op)) = packed_or_basic(t - code::OFFSET_P, e) {
            let counter = self.counter_of(info, e)?;
            return Ok((shape.list(), Op::Counted { counter, flag: true, item: Box::new(op) }));
        }
        let array = |(shape, op): Typed| (shape.fixed(&dims), op.fixed(&dims));
        match t {
            code::CHAR_STAR => Ok((Shape::Text, Op::CharStar)),
            code::TSTRING => Ok((Shape::Text, Op::TString)),
            code::TOBJECT => Ok(tobject()),
            code::TNAMED => self.object("TNamed", None),
            code::BASE => self.class(&e.name),
            code::OBJECT | code::ANY | code::OBJECT_P_INLINE | code::ANY_P_INLINE => self.by_value(name.text),
            code::OBJECT_P | code::ANY_P | code::ANY_P_NO_VT => Ok(self.pointer(name.text)),
            code::STREAM_LOOP => {
                let counter = self.counter_of(info, e)?;
                let (shape, op) = self.looped(e)?;
                let op = Op::Counted { counter, flag: false, item: Box::new(op) };
                Ok((shape.list(), Op::Framed(Box::new(op))))
            }
            t => match t - code::OFFSET_L {
                code::TSTRING => Ok(framed(array((Shape::Text, Op::TString)))),
                code::TOBJECT => Ok(framed(array(tobject()))),
                code::TNAMED => Ok(framed(array(self.object("TNamed", None)?))),
                code::OBJECT | code::ANY | code::OBJECT_P_INLINE | code::ANY_P_INLINE => {
                    self.by_value(name.text).map(array)
                }
                code::OBJECT_P | code::ANY_P | code::ANY_P_NO_VT => Ok(array(self.pointer(name.text))),
                code::STREAM_LOOP => {
                    let counter = Some(self.counter_of(info, e)?);
                    self.counted_arrays(e, counter)
                }
                _ => Err(format!("{} of type {t}", e.type_name)),
            },
        }
    }

    /// An item of an array of objects that another member counts: objects, or pointers to them.
    pub(super) fn looped(&mut self, e: &StreamerElement) -> Result<Typed, Reason> {
        let pointers = e.type_name.matches('*').count();
        let class = TypeName::parse(&e.type_name).text;
        if pointers > 1 { Ok(self.pointer(class)) } else { self.class(class) }
    }

    /// A fixed array of counted arrays of objects: see [`Op::CountedArrays`].
    pub(super) fn counted_arrays(&mut self, e: &StreamerElement, counter: Option<usize>) -> Result<Typed, Reason> {
        let dims = dimensions(e);
        let arrays = dims.iter().product();
        let (shape, item) = self.looped(e)?;
        let op = Op::Framed(Box::new(Op::CountedArrays { arrays, counter, item: Box::new(item) }));
        Ok((shape.list().fixed(&dims), op))
    }

    /// The counter of a counted array.
    fn counter_of(&mut self, info: &StreamerInfo, e: &StreamerElement) -> Result<usize, Reason> {
        match &e.kind {
            ElementKind::Counted { name, class, .. } => Ok(self.counter(class, name)),
            _ => {
                let name = e.title.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
                let name = name.map(|(name, _)| name).ok_or("an array that does not name its counter")?;
                Ok(self.counter(&info.name, name))
            }
        }
    }

    /// A container or string as a member: with a frame around it, or around all of those read together.
    fn stl(&mut self, e: &StreamerElement, name: &TypeName<'_>) -> Result<Typed, Reason> {
        let dims = dimensions(e);
        let dims = if e.array_length > 1 { dims.as_slice() } else { &[] };
        let content = match e.kind {
            ElementKind::Stl { content_type, .. } => Number::of_type_code(content_type),
            _ => None,
        };
        let (shape, op) = self.frameless(name, content)?;
        Ok((shape.fixed(dims), Op::Framed(Box::new(op.fixed(dims)))))
    }

    /// A container or string without a frame.
    fn frameless(&mut self, name: &TypeName<'_>, content: Option<Number>) -> Result<Typed, Reason> {
        let arg = |i: usize| name.args.get(i).copied().unwrap_or_default();
        let holds = Holds::of(name.template);
        let container =
            |shape: Shape, item, members| (shape.list(), Op::Container(Box::new(Container { item, members, holds })));
        match name.container() {
            Some(ContainerKind::List) => {
                let (shape, item) = match (self.item(arg(0)), content) {
                    (Ok(typed), _) => typed,
                    // An enumeration: no streamer info describes it.
                    (Err(_), Some(number)) => (Shape::Number(number), Op::Number(number)),
                    (Err(why), None) => return Err(why),
                };
                let members = match item {
                    Op::Object(reader) => Some(Members::Class(reader)),
                    _ => None,
                };
                Ok(container(shape, item, members))
            }
            Some(ContainerKind::Map) => {
                let (key, value) = (self.item(arg(0))?, self.item(arg(1))?);
                let parts = [self.as_member(arg(0), &key.1), self.as_member(arg(1), &value.1)];
                let members = Members::Pair { parts, checksum: self.pair_checksum(arg(0), arg(1)) };
                let shape = Shape::Record(Shape::parts(MAP_PARTS, [key.0, value.0]));
                Ok(container(shape, Op::Record(vec![key.1, value.1]), Some(members)))
            }
            Some(ContainerKind::Bitset) => {
                let n =
                    arg(0).trim_end_matches(['u', 'U', 'l', 'L']).parse().map_err(|_| "a bitset of unknown length")?;
                Ok((Shape::Number(Number::Bool).fixed(&[n]), Op::Bitset(n)))
            }
            None if is_string(name) => Ok((Shape::Text, Op::TString)),
            None => Err(format!("the container {} is not supported", name.text)),
        }
    }

    /// The checksum of a pair's class, which is written in place of a version; 0 if no info has it.
    fn pair_checksum(&self, key: &str, value: &str) -> u32 {
        // Keys of maps are const, which not all writers say.
        let squeezed = |name: &str| name.replace("std::", "").replace("const ", "").replace(' ', "");
        let wanted = squeezed(&format!("pair<{key},{value}>"));
        let found = self.infos.iter().find(|info| info.name.starts_with("pair<") && squeezed(&info.name) == wanted);
        found.map_or(0, |info| info.checksum)
    }

    /// The operation of a pair's part where the pair is member-wise: containers and strings have frames there.
    fn as_member(&self, type_name: &str, op: &Op) -> Op {
        let name = TypeName::parse(type_name);
        if name.container().is_some() || (is_string(&name) && !name.pointer) {
            Op::Framed(Box::new(op.clone()))
        } else {
            op.clone()
        }
    }

    /// An item of a container, by its type.
    fn item(&mut self, type_name: &str) -> Result<Typed, Reason> {
        let name = TypeName::parse(type_name);
        if let Some(number) = name.number() {
            return Ok((Shape::Number(number), Op::Number(number)));
        }
        match name.text {
            // Container items have no comment that could give a range.
            "Double32_t" => return Ok((Shape::Number(Number::F64), Op::Packed(Packed::Float))),
            "Float16_t" => return Ok((Shape::Number(Number::F32), Op::Packed(Packed::Bits(12)))),
            _ => {}
        }
        if name.pointer {
            return Ok(self.pointer(name.text));
        }
        if name.container().is_some() || is_string(&name) {
            return self.frameless(&name, None);
        }
        if name.template == "pair" && name.args.len() == 2 {
            let part = |classes: &mut Self, i: usize| {
                let arg = name.args.get(i).copied().unwrap_or_default();
                let (shape, op) = classes.item(arg)?;
                let op = classes.as_member(arg, &op);
                Ok::<_, Reason>((shape, op))
            };
            let (first, second) = (part(self, 0)?, part(self, 1)?);
            let checksum = match name.args.as_slice() {
                [first, second] => self.pair_checksum(first, second),
                _ => 0,
            };
            let (shape, reader) = self.pair(first, second, checksum);
            return Ok((shape, Op::Object(reader)));
        }
        self.class(name.text)
    }

    /// A member of a class: a container's streamer writes no frame.
    pub(super) fn by_value(&mut self, class: &str) -> Result<Typed, Reason> {
        let name = TypeName::parse(class);
        if name.container().is_some() || is_string(&name) { self.frameless(&name, None) } else { self.class(class) }
    }

    /// Whether a class is read by its info.
    pub(super) fn is_plain(&self, class: &str) -> bool {
        TypeName::parse(class).container().is_none()
            && self.special(class).is_none()
            && self.container_item(class).is_none()
            && self.info(class, None).is_some()
            && !class.starts_with("TMatrixTSym<")
            && ArrayKind::of(class).is_none()
            && class != "TMap"
    }

    /// The item type of a class that is a container itself, such as one that derives from a vector.
    fn container_item(&self, class: &str) -> Option<String> {
        let info = self.info(class, None)?;
        match info.elements.as_slice() {
            [e] if e.name == "This" && matches!(e.kind, ElementKind::Stl { .. }) => {
                Some(TypeName::parse(&e.type_name).args.first()?.to_string())
            }
            _ => None,
        }
    }

    /// An object by value, as its class's streamer writes it.
    pub(super) fn class(&mut self, class: &str) -> Result<Typed, Reason> {
        if let Some(special) = self.special(class) {
            return Ok(special);
        }
        let name = TypeName::parse(class);
        if name.container().is_some() || is_string(&name) {
            let (shape, op) = self.frameless(&name, None)?;
            return Ok((shape, Op::Framed(Box::new(op))));
        }
        if let Some(item) = self.container_item(class) {
            return self.frameless(&TypeName::parse(&format!("vector<{item}>")), None).map(framed);
        }
        if class.starts_with("TMatrixTSym<") {
            return self.symmetric_matrix(class, name.args.first().copied().unwrap_or_default());
        }
        if let Some(kind) = ArrayKind::of(class) {
            return Ok(self.object_array(kind));
        }
        if class == "TMap" {
            return Err(format!("{class} holds objects of any class"));
        }
        self.object(class, None)
    }

    /// Classes with hand-written streamers.
    pub(super) fn special(&self, class: &str) -> Option<Typed> {
        let array = |number| Some((Shape::Number(number).list(), Op::TArray(number)));
        match class {
            "TString" => Some((Shape::Text, Op::TString)),
            "TObject" => Some(tobject()),
            "TDatime" => {
                let number = Op::Record(vec![Op::Number(Number::U32)]);
                Some((Shape::Record(vec![("fDatime".to_owned(), Shape::Number(Number::U32))]), number))
            }
            // The names are uproot's.
            "TRef" => Some((Shape::Record(vec![("ref".to_owned(), Shape::Number(Number::U32))]), Op::TRef)),
            "TRefArray" => {
                let refs = Shape::Number(Number::I32).list();
                let parts = [("fName", Shape::Text), ("fSize", Shape::Number(Number::I32)), ("refs", refs)];
                Some((Shape::Record(parts.map(|(name, shape)| (name.to_owned(), shape)).to_vec()), Op::TRefArray))
            }
            "TArrayC" => array(Number::I8),
            "TArrayS" => array(Number::I16),
            "TArrayI" => array(Number::I32),
            "TArrayL" | "TArrayL64" => array(Number::I64),
            "TArrayF" => array(Number::F32),
            "TArrayD" => array(Number::F64),
            _ => None,
        }
    }

    /// A pointer. If no class derives from the pointed class, the object has that class; otherwise it is opaque.
    fn pointer(&mut self, class: &str) -> Typed {
        self.pointers = true;
        let any = (Shape::Bytes, Op::OpaquePointer);
        // Array classes derive from each other, but a pointer to one refers to that one.
        if (self.has_derived(class) && ArrayKind::of(class).is_none()) || class == "TObject" {
            return any;
        }
        match self.class(class) {
            Ok((shape, target)) => {
                let pointer = Op::Pointer { class: class.to_owned(), target: Box::new(target) };
                (Shape::Optional(Box::new(shape)), pointer)
            }
            Err(_) => any,
        }
    }
}

/// A frame around all values that are read together.
fn framed((shape, op): Typed) -> Typed {
    (shape, Op::Framed(Box::new(op)))
}

fn is_string(name: &TypeName<'_>) -> bool {
    name.text == "string" || name.text.starts_with("basic_string<char")
}

fn tobject() -> Typed {
    let number = || Shape::Number(Number::U32);
    (Shape::Record(vec![("fUniqueID".to_owned(), number()), ("fBits".to_owned(), number())]), Op::TObject)
}

/// A number, if the type code is that of one.
pub(super) fn packed_or_basic(t: i32, e: &StreamerElement) -> Option<Typed> {
    if let Some(packed) = Packed::of_element(t, e) {
        let number = if t == code::FLOAT16 { Number::F32 } else { Number::F64 };
        return Some((Shape::Number(number), Op::Packed(packed)));
    }
    Some(match t {
        code::BITS => (Shape::Number(Number::U32), Op::TObjectBits),
        // Before it had a code of its own (see docs/format).
        code::UCHAR if matches!(e.type_name.as_str(), "Bool_t" | "bool") => {
            (Shape::Number(Number::Bool), Op::Number(Number::Bool))
        }
        t => {
            let number = Number::of_type_code(t)?;
            (Shape::Number(number), Op::Number(number))
        }
    })
}

/// The fixed dimensions of a member.
pub(crate) fn dimensions(e: &StreamerElement) -> Vec<usize> {
    let length = usize::try_from(e.array_length.max(1)).unwrap_or(1);
    let n = usize::try_from(e.array_dim).unwrap_or(0).min(5);
    let dims: Vec<usize> = e.max_index.iter().take(n).map(|&d| usize::try_from(d).unwrap_or(0)).collect();
    if dims.iter().try_fold(1usize, |product, d| product.checked_mul(*d)) == Some(length) { dims } else { vec![length] }
}
