//! Plans arrays whose item class only their bytes name: `TClonesArray`, `TObjArray` and `TList`. While the class is unknown,
//! a `TClonesArray` is opaque bytes, and each item of the other arrays is.

use super::class::Classes;
use crate::decode::program::model::Typed;
use crate::decode::program::op::{ArrayKind, ObjectArray, Op};
use crate::decode::program::types::Shape;

impl Classes<'_> {
    /// The number of the current member among the arrays.
    fn current_array(&mut self) -> usize {
        self.arrays.iter().position(|array| *array == self.member).unwrap_or_else(|| {
            self.arrays.push(self.member.clone());
            self.arrays.len() - 1
        })
    }

    /// An array that is the current member.
    pub(super) fn object_array(&mut self, kind: ArrayKind) -> Typed {
        self.pointers = true;
        let array = self.current_array();
        let (class, nullable) = self.learned.get(&self.member).unwrap_or((None, false));
        let class = class.map(str::to_owned);
        let array = |item, reader| Op::ObjectArray(Box::new(ObjectArray { kind, array, item, reader }));
        let unknown = || match kind {
            ArrayKind::Clones => (Shape::Bytes, array(Op::Opaque, None)),
            _ => (Shape::Bytes.list(), array(Op::OpaquePointer, None)),
        };
        let Some(class) = class else { return unknown() };
        match (kind, self.class(&class)) {
            (ArrayKind::Clones, Ok((shape, Op::Object(reader)))) => {
                let shape = if nullable { Shape::Optional(Box::new(shape)) } else { shape };
                (shape.list(), array(Op::Object(reader), Some(reader)))
            }
            (ArrayKind::Clones, _) | (_, Err(_)) => unknown(),
            (_, Ok((shape, target))) => {
                let pointer = Op::Pointer { class, target: Box::new(target) };
                (Shape::Optional(Box::new(shape)).list(), array(pointer, None))
            }
        }
    }
}
