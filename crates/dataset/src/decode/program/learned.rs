//! What entries have said about the classes in arrays that hold objects of any class (`TClonesArray`, `TObjArray`, `TList`).
//! The interpreter records such arrays; the planner uses the classes.

use std::collections::BTreeMap;

/// The class and the name of the member that an array is; both empty where the array is a branch of its own.
pub(crate) type MemberId = (String, String);

/// The item classes of arrays, by the member that the array is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LearnedClasses(BTreeMap<MemberId, ItemClass>);

/// The class of an array's items.
#[derive(Clone, Debug, PartialEq)]
struct ItemClass {
    /// None where entries hold items of several classes.
    class: Option<String>,
    /// Whether an item may be null.
    nullable: bool,
}

/// An array that the interpreter read: its number among the program's arrays, its item class, and whether items may be null.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeenArray {
    pub array: usize,
    pub class: String,
    pub nullable: bool,
}

impl LearnedClasses {
    /// The item class of an array, and whether items may be null.
    pub(crate) fn get(&self, array: &MemberId) -> Option<(Option<&str>, bool)> {
        self.0.get(array).map(|items| (items.class.as_deref(), items.nullable))
    }

    /// Adds what the interpreter saw. Returns whether any of it is new.
    pub(crate) fn learn(&mut self, arrays: &[MemberId], seen: &[SeenArray]) -> bool {
        let mut is_new = false;
        for array_seen in seen {
            let Some(array) = arrays.get(array_seen.array) else { continue };
            let found = ItemClass { class: Some(array_seen.class.clone()), nullable: array_seen.nullable };
            let items = self.0.entry(array.clone()).or_insert_with(|| {
                is_new = true;
                found.clone()
            });
            if items.class.is_some() && items.class != found.class {
                items.class = None;
                is_new = true;
            }
            if array_seen.nullable && !items.nullable {
                items.nullable = true;
                is_new = true;
            }
        }
        is_new
    }

    /// The item class of a branch that is an array itself.
    pub(crate) fn of_branch(class: &str) -> Self {
        Self(BTreeMap::from([(MemberId::default(), ItemClass { class: Some(class.to_owned()), nullable: false })]))
    }

    /// The item class of the branch, if the branch is an array itself.
    pub(crate) fn class_of_branch(&self) -> Option<&str> {
        self.0.get(&MemberId::default())?.class.as_deref()
    }

    /// Adds the classes that only `other` knows.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (array, items) in &other.0 {
            self.0.entry(array.clone()).or_insert_with(|| items.clone());
        }
    }

    /// Whether the item class of one of these arrays is unknown.
    pub(crate) fn lack(&self, arrays: &[MemberId]) -> bool {
        arrays.iter().any(|array| !self.0.contains_key(array))
    }
}
