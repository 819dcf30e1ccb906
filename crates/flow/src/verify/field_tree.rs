//! The fields of RNTuples by their paths, joined over several inputs, and how those of two sides correspond. Values are not
//! touched.

use std::collections::HashMap;

use dataset::ntuple::model::{Field, Role, Schema};
use rootfile::{Error, Hint, Result};

use crate::table::text_list::listed;
use dataset::table::Join as Mode;

/// Fields in the order of the first RNTuple, each after the one above it.
#[derive(Debug, Default)]
pub(super) struct FieldTree {
    fields: Vec<PathField>,
    places: HashMap<String, usize>,
}

/// A field and its place.
#[derive(Debug)]
struct PathField {
    path: String,
    parent: Option<usize>,
    children: Vec<usize>,
    field: Field,
    /// The path of the field that a projected field shows.
    source: Option<String>,
    /// Whether a merge leaves it out.
    is_left_out: bool,
    /// Whether it is a projected field that only some inputs have. In a merge it shows the values of all.
    is_partial: bool,
}

/// How the fields of two sides correspond.
#[derive(Debug, Default)]
pub(super) struct FieldMatch {
    /// Paths of the fields to compare, in order. Records are compared member by member, other fields as a whole where both
    /// sides have the same fields below.
    pub compared: Vec<String>,
    /// Paths of the fields that only one side has, without those below them.
    pub only: [Vec<String>; 2],
    /// Fields with another meaning: path, meaning on each side.
    pub changed: Vec<(String, [String; 2])>,
    /// The number of fields that both sides have.
    pub common: u64,
}

impl FieldTree {
    /// The fields of an RNTuple, as far as `keep` is true for their IDs.
    pub fn of(schema: &Schema, keep: &[bool]) -> Self {
        let mut tree = Self::default();
        for (id, field) in schema.fields.iter().enumerate() {
            // Parents come first, and there is one field of each path.
            let source = field.source.map(|source| schema.path(source));
            tree.push(schema.path(id), field.parent, field.clone(), source);
        }
        for (field, keep) in tree.fields.iter_mut().zip(keep) {
            field.is_left_out = !keep;
        }
        tree
    }

    fn push(&mut self, path: String, parent: Option<usize>, field: Field, source: Option<String>) {
        let place = self.fields.len();
        if let Some(above) = parent.and_then(|parent| self.fields.get_mut(parent)) {
            above.children.push(place);
        }
        self.places.insert(path.clone(), place);
        self.fields.push(PathField {
            path,
            parent,
            children: Vec::new(),
            field,
            source,
            is_left_out: false,
            is_partial: false,
        });
    }

    fn get(&self, path: &str) -> Option<&PathField> {
        self.fields.get(*self.places.get(path)?).filter(|field| !field.is_left_out)
    }

    /// Adds the fields of another input, as a merge does.
    pub fn join(&mut self, other: Self, mode: Mode) -> Result<()> {
        let mut differences = Vec::new();
        let mut leave_out = Vec::new();
        for (place, known) in self.fields.iter().enumerate().filter(|(_, known)| !known.is_left_out) {
            match other.get(&known.path) {
                Some(theirs) if known.is_like(theirs) => {}
                None if mode == Mode::Fill => {}
                _ => {
                    differences.push(known.path.clone());
                    leave_out.push(place);
                }
            }
        }
        let added = || other.fields.iter().filter(|field| !self.places.contains_key(&field.path));
        match mode {
            Mode::Common => {
                for place in leave_out {
                    self.leave_out(place);
                }
                return Ok(());
            }
            Mode::Strict => differences.extend(added().map(|field| field.path.clone())),
            Mode::Fill => {}
        }
        if !differences.is_empty() {
            let what = format!("its fields differ from those of the inputs before: {}", listed(&differences));
            let way = "; compare with --common or --fill as the merge was made";
            return Err(Error::differs(what + way).hint(Hint::switch("common")).hint(Hint::switch("fill")));
        }
        for known in self.fields.iter_mut().filter(|known| other.get(&known.path).is_none()) {
            known.is_partial |= known.source.is_some();
        }
        let added: Vec<String> = added().map(|field| field.path.clone()).collect();
        for path in added {
            let Some(field) = other.get(&path) else { continue };
            let above = field.parent.and_then(|parent| other.fields.get(parent));
            let parent = above.and_then(|above| self.places.get(&above.path).copied());
            self.push(path, parent, field.field.clone(), field.source.clone());
            if let Some(new) = self.fields.last_mut() {
                new.is_partial = new.source.is_some();
            }
        }
        Ok(())
    }

    /// Leaves out a field and those below it.
    fn leave_out(&mut self, place: usize) {
        let Some(field) = self.fields.get_mut(place) else { return };
        field.is_left_out = true;
        for child in field.children.clone() {
            self.leave_out(child);
        }
    }

    /// The paths of the fields at the top.
    pub fn top(&self) -> impl Iterator<Item = &str> {
        let at_top = self.fields.iter().filter(|field| field.parent.is_none() && !field.is_left_out);
        at_top.map(|field| field.path.as_str())
    }

    /// Whether projected fields show a field, or all that is below it.
    pub fn is_shown(&self, path: &str, compared: &dyn Fn(&str) -> bool) -> bool {
        let shows = |field: &PathField| field.source.as_deref() == Some(path) && compared(&field.path);
        if self.fields.iter().any(shows) {
            return true;
        }
        let Some(field) = self.get(path) else { return false };
        !field.children.is_empty()
            && field
                .children
                .iter()
                .filter_map(|child| self.fields.get(*child))
                .all(|c| self.is_shown(&c.path, compared))
    }

    /// The paths of projected fields that only some inputs have.
    pub fn partial(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(|field| field.is_partial && !field.is_left_out).map(|field| field.path.as_str())
    }

    /// Matches the fields with those of another side. Projected fields that only some inputs have are left to the fields that
    /// they show.
    pub fn matched(&self, other: &Self) -> FieldMatch {
        let mut found = FieldMatch::default();
        let mut differ = vec![false; self.fields.len()];
        for (place, field) in self.fields.iter().enumerate().rev() {
            let theirs = other.get(&field.path);
            let same = theirs.is_some_and(|theirs| field.is_like(theirs) && self.kept(field) == other.kept(theirs));
            let mut kept = field.children.iter().filter(|child| !self.is_out(**child));
            let below = kept.any(|child| differ.get(*child).copied().unwrap_or(true));
            if let Some(slot) = differ.get_mut(place) {
                *slot = !same || below;
            }
        }
        let mut left: Vec<usize> = self.roots();
        left.reverse();
        while let Some(place) = left.pop() {
            let Some(field) = self.fields.get(place).filter(|field| !field.is_partial) else { continue };
            let Some(theirs) = other.get(&field.path) else {
                found.only[0].push(field.path.clone());
                continue;
            };
            if !field.is_like(theirs) {
                found.changed.push((field.path.clone(), [field.meaning(), theirs.meaning()]));
                continue;
            }
            let is_record = field.field.role == Role::Record && field.field.array_size.is_none();
            let is_whole = !differ.get(place).copied().unwrap_or(true) && !is_record;
            if is_whole || field.children.is_empty() {
                found.common += 1;
                found.compared.push(field.path.clone());
                continue;
            }
            left.extend(field.children.iter().rev().filter(|child| !self.is_out(**child)));
            let added = theirs.children.iter().filter_map(|child| other.fields.get(*child));
            let added = added.filter(|child| !child.is_left_out && self.get(&child.path).is_none());
            found.only[1].extend(added.map(|child| child.path.clone()));
        }
        for place in other.roots() {
            let Some(field) = other.fields.get(place) else { continue };
            if self.get(&field.path).is_none() {
                found.only[1].push(field.path.clone());
            }
        }
        found
    }

    fn roots(&self) -> Vec<usize> {
        let is_root = |(_, field): &(usize, &PathField)| field.parent.is_none() && !field.is_left_out;
        self.fields.iter().enumerate().filter(is_root).map(|(place, _)| place).collect()
    }

    fn is_out(&self, place: usize) -> bool {
        self.fields.get(place).is_none_or(|field| field.is_left_out)
    }

    /// How many fields below a field are kept.
    fn kept(&self, field: &PathField) -> usize {
        field.children.iter().filter(|child| !self.is_out(**child)).count()
    }
}

impl PathField {
    /// Whether two fields have the same meaning. What is below them may differ.
    fn is_like(&self, other: &Self) -> bool {
        self.field.is_like(&other.field) && self.source == other.source
    }

    fn meaning(&self) -> String {
        let field = &self.field;
        let mut text = match (field.type_name.as_str(), field.role) {
            ("", Role::Record) => "untyped record".to_owned(),
            ("", _) => "untyped collection".to_owned(),
            (name, _) => name.to_owned(),
        };
        if let Some(size) = field.array_size {
            text.push_str(&format!("[{size}]"));
        }
        if field.role == Role::Streamer {
            text.push_str(" (streamed)");
        }
        if field.is_soa {
            text.push_str(" (struct of arrays)");
        }
        if let Some(source) = &self.source {
            text.push_str(&format!(" (showing {source})"));
        }
        text
    }
}
