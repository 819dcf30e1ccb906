//! Compares objects that were read as values: member by member, following pointers. Numbers are equal if their bits are.
//! Numbers that depend on the record (identities, byte counts) are ignored.

use std::collections::HashSet;

use rootfile::object::{Content, Graph, Members, Object, ObjectId, TObject, Value};

/// Bits of objects in memory (on heap, not deleted), noise in a file.
const MEMORY_BITS: u32 = 0x0300_0000;

/// A comparison of objects of two records.
pub(crate) struct Comparison<'a> {
    first: &'a Graph,
    second: &'a Graph,
    seen: HashSet<(ObjectId, ObjectId)>,
    waiting: Vec<(ObjectId, ObjectId)>,
}

impl<'a> Comparison<'a> {
    /// Over the objects of these records.
    pub fn new(first: &'a Graph, second: &'a Graph) -> Self {
        Self { first, second, seen: HashSet::new(), waiting: Vec::new() }
    }

    /// Whether two objects, and all that they point to, are equal.
    pub fn objects_equal(&mut self, a: &Object, b: &Object) -> bool {
        self.object(a, b) && self.compare_waiting()
    }

    /// Whether two pointers lead to equal objects.
    pub fn pointers_equal(&mut self, a: Option<ObjectId>, b: Option<ObjectId>) -> bool {
        self.pointer(a, b) && self.compare_waiting()
    }

    /// Compares the objects behind pointers, one after the other: chains of them may be long.
    fn compare_waiting(&mut self) -> bool {
        while let Some((a, b)) = self.waiting.pop() {
            let equal = match (self.first.get(a), self.second.get(b)) {
                (Some(a), Some(b)) => self.object(a, b),
                (None, None) => true,
                _ => false,
            };
            if !equal {
                return false;
            }
        }
        true
    }

    fn pointer(&mut self, a: Option<ObjectId>, b: Option<ObjectId>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => {
                if self.seen.insert((a, b)) {
                    self.waiting.push((a, b));
                }
                true
            }
            (None, None) => true,
            _ => false,
        }
    }

    fn object(&mut self, a: &Object, b: &Object) -> bool {
        a.class == b.class
            && match (&a.content, &b.content) {
                (Content::Members(a), Content::Members(b)) => self.members(a, b),
                (Content::TObject(a), Content::TObject(b)) => tobjects(*a, *b),
                (Content::Collection(a), Content::Collection(b)) => {
                    tobjects(a.object, b.object)
                        && a.name == b.name
                        && a.lower_bound == b.lower_bound
                        && a.options == b.options
                        && a.items.len() == b.items.len()
                        && a.items.iter().zip(&b.items).all(|(a, b)| self.pointer(*a, *b))
                }
                (Content::Array(a), Content::Array(b)) => a == b,
                (Content::Opaque(a), Content::Opaque(b)) => a == b,
                _ => false,
            }
    }

    fn members(&mut self, a: &Members, b: &Members) -> bool {
        let names = |m: &Members| m.plan.steps.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        a.values.len() == b.values.len()
            && (std::sync::Arc::ptr_eq(&a.plan, &b.plan) || names(a) == names(b))
            && a.values.iter().zip(&b.values).all(|(a, b)| self.value(a, b))
    }

    fn value(&mut self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::F32(a), Value::F32(b)) => a.to_bits() == b.to_bits(),
            (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits(),
            (Value::TObject(a), Value::TObject(b)) => tobjects(*a, *b),
            (Value::Named(a), Value::Named(b)) => {
                tobjects(a.object, b.object) && a.name == b.name && a.title == b.title
            }
            (Value::Object(a), Value::Object(b)) => self.object(a, b),
            (Value::Pointer(a), Value::Pointer(b)) => self.pointer(*a, *b),
            (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.value(a, b)),
            (a, b) => a == b,
        }
    }
}

fn tobjects(a: TObject, b: TObject) -> bool {
    a.unique_id == b.unique_id && (a.bits ^ b.bits) & !MEMORY_BITS == 0 && a.pid == b.pid
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootfile::object::Collection;

    fn list(items: Vec<Option<ObjectId>>) -> Object {
        let content = Content::Collection(Box::new(Collection { items, ..Collection::default() }));
        Object { class: "TList".into(), version: 5, content }
    }

    fn leaf(bits: u32) -> Object {
        let content = Content::TObject(TObject { bits, ..TObject::default() });
        Object { class: "TObject".into(), version: 1, content }
    }

    #[test]
    fn identities_are_ignored_and_their_objects_compared() {
        let (mut first, mut second) = (Graph::default(), Graph::default());
        let a = first.add(leaf(1));
        second.add(leaf(2));
        let b = second.add(leaf(1 | MEMORY_BITS));
        let mut compare = Comparison::new(&first, &second);
        assert!(compare.objects_equal(&list(vec![Some(a), None]), &list(vec![Some(b), None])));
        assert!(!compare.objects_equal(&list(vec![Some(a)]), &list(vec![Some(a)])));
        assert!(!compare.objects_equal(&list(vec![Some(a)]), &list(vec![None])));
    }

    #[test]
    fn rings_end() {
        let mut graph = Graph::default();
        graph.add(list(vec![Some(1)]));
        graph.add(list(vec![Some(0)]));
        assert!(Comparison::new(&graph, &graph).pointers_equal(Some(0), Some(1)));
    }
}
