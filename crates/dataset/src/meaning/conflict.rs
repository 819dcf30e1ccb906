//! Classes that two sets of streamer infos describe differently under one version. A file holds one description of a version:
//! bytes under the other would be read wrongly.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rootfile::streamer::{StreamerInfo, StreamerInfos};

use super::element::{ElementForm, elements};
use super::reach::Reach;

/// Classes that ROOT writes by hand: their descriptions say nothing about bytes, and differ between writers.
pub(super) const BY_HAND: [&str; 6] = ["TObject", "TString", "TCollection", "TSeqCollection", "TList", "TObjArray"];

/// The classes that two sets of streamer infos describe differently, by name.
#[derive(Debug, Default, PartialEq)]
pub struct ClassConflicts(BTreeMap<String, ClassConflict>);

/// A class that is described differently under one version.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassConflict {
    class: String,
    version: i32,
    /// The first elements that differ.
    elements: [String; 2],
    /// The names of all members and bases that differ.
    changed: Vec<String>,
    kind: Kind,
}

/// How two descriptions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// In the versions of bases, which only member-wise streams take from the description.
    BaseVersions,
    /// The same elements in another order.
    Order,
    /// In their elements.
    Elements,
}

impl ClassConflicts {
    /// The classes that two sets of infos describe differently under one version. Versions that only one of them has are
    /// no conflict.
    pub fn between(first: &StreamerInfos, second: &StreamerInfos) -> Self {
        let mut found = Self::default();
        // Objects of version 0 are not written.
        for theirs in second.iter().filter(|info| info.version != 0 && !BY_HAND.contains(&info.name.as_str())) {
            let mut same_version =
                first.versions(&theirs.name).filter(|ours| ours.version == theirs.version).peekable();
            let Some(&any) = same_version.peek() else { continue };
            let conflicts: Vec<ClassConflict> = same_version.filter_map(|ours| differ(ours, theirs).err()).collect();
            let all = first.versions(&theirs.name).filter(|ours| ours.version == any.version).count();
            // A class without a version of its own may be described several times: one of them fits.
            if conflicts.len() == all
                && let Some(conflict) = conflicts.into_iter().max_by_key(|conflict| conflict.kind)
            {
                let known = found.0.entry(theirs.name.clone()).or_insert_with(|| conflict.clone());
                if known.kind < conflict.kind {
                    *known = conflict;
                }
            }
        }
        found
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The conflict of a class.
    pub fn of(&self, class: &str) -> Option<&ClassConflict> {
        self.0.get(class)
    }

    /// The conflicts among the classes of `reach`.
    pub fn among(&self, reach: &Reach) -> Vec<&ClassConflict> {
        let counts = |conflict: &&ClassConflict| match conflict.kind {
            Kind::BaseVersions => reach.has_memberwise(&conflict.class),
            Kind::Order | Kind::Elements => reach.has(&conflict.class),
        };
        self.0.values().filter(counts).collect()
    }

    /// All conflicts.
    pub fn iter(&self) -> impl Iterator<Item = &ClassConflict> {
        self.0.values()
    }
}

impl ClassConflict {
    /// The class.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// The version that both describe.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Whether a member is described differently, wherever it stands.
    pub fn changes(&self, member: &str) -> bool {
        self.changed.iter().any(|name| name == member)
    }

    /// Whether both descriptions have the same members and bases, in another order.
    pub fn is_order_only(&self) -> bool {
        self.kind == Kind::Order
    }
}

impl fmt::Display for ClassConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [ours, theirs] = &self.elements;
        write!(f, "class {}, version {}, has {theirs} instead of {ours}", self.class, self.version)
    }
}

/// Compares two descriptions of one version of a class.
fn differ(first: &Arc<StreamerInfo>, second: &Arc<StreamerInfo>) -> Result<(), ClassConflict> {
    if Arc::ptr_eq(first, second) || first.elements == second.elements {
        return Ok(());
    }
    let (ours, theirs) = (elements(first), elements(second));
    if ours == theirs {
        return Ok(());
    }
    let same_but_versions =
        ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| a.is_same_but_version(b));
    let kind = if same_but_versions {
        Kind::BaseVersions
    } else if ours.len() == theirs.len() && ours.iter().all(|e| theirs.contains(e)) {
        Kind::Order
    } else {
        Kind::Elements
    };
    let at = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    let text = |elements: &[ElementForm]| elements.get(at).map_or_else(|| "nothing".to_owned(), ToString::to_string);
    Err(ClassConflict {
        class: first.name.clone(),
        version: first.version,
        elements: [text(&ours), text(&theirs)],
        changed: only(&ours, &theirs).chain(only(&theirs, &ours)).map(|e| e.name.clone()).collect(),
        kind,
    })
}

/// The elements that only the first has.
fn only<'a>(first: &'a [ElementForm], second: &'a [ElementForm]) -> impl Iterator<Item = &'a ElementForm> {
    first.iter().filter(|element| !second.contains(element))
}

#[cfg(test)]
mod tests {
    use rootfile::streamer::{StreamerElement, code};

    use super::*;

    fn info(version: i32, members: &[(&str, &str, i32, &str)]) -> StreamerInfos {
        let element = |(name, type_name, code, title): &(&str, &str, i32, &str)| {
            let mut element = StreamerElement::new("TStreamerBasicType", name, type_name, *code);
            element.title = (*title).to_owned();
            element.bits = if title.is_empty() { 0 } else { rootfile::streamer::HAS_RANGE };
            element
        };
        let elements: Vec<StreamerElement> = members.iter().map(element).collect();
        let checksum = u32::try_from(format!("{members:?}").len()).unwrap();
        let mut infos = StreamerInfos::new();
        infos.add(Arc::new(StreamerInfo {
            name: "P".to_owned(),
            title: String::new(),
            version,
            checksum,
            bits: 0,
            form: 9,
            elements,
        }));
        infos
    }

    fn kind(first: &StreamerInfos, second: &StreamerInfos) -> Option<Kind> {
        ClassConflicts::between(first, second).iter().next().map(|conflict| conflict.kind)
    }

    #[test]
    fn descriptions_differ_in_what_bytes_depend_on() {
        let first = info(1, &[("x", "Float_t", code::FLOAT, ""), ("n", "Int_t", code::INT, "")]);

        // Spellings and codes that are the same in a file.
        let spelled = info(1, &[("x", "float", code::FLOAT, ""), ("n", "int", code::COUNTER, "")]);
        assert_eq!(kind(&first, &spelled), None);
        // Another version is told apart by its number.
        assert_eq!(kind(&first, &info(2, &[("y", "Float_t", code::FLOAT, "")])), None);

        let swapped = info(1, &[("n", "Int_t", code::INT, ""), ("x", "Float_t", code::FLOAT, "")]);
        assert_eq!(kind(&first, &swapped), Some(Kind::Order));
        let wider = info(1, &[("x", "Double_t", code::DOUBLE, ""), ("n", "Int_t", code::INT, "")]);
        assert_eq!(kind(&first, &wider), Some(Kind::Elements));
        let short = info(1, &[("x", "Float_t", code::FLOAT, "")]);
        assert_eq!(kind(&first, &short), Some(Kind::Elements));
        assert_eq!(kind(&short, &first), Some(Kind::Elements));
    }

    #[test]
    fn ranges_are_part_of_a_description() {
        let packed = |range: &str| info(1, &[("x", "Double32_t", code::DOUBLE32, range)]);

        assert_eq!(kind(&packed("[0,100,10]"), &packed("[0, 100, 10] energy")), None);
        assert_eq!(kind(&packed("[0,100,10]"), &packed("[0,200,10]")), Some(Kind::Elements));
        assert_eq!(kind(&packed("[0,0,10]"), &packed("[0,0,12]")), Some(Kind::Elements));
        let conflicts = ClassConflicts::between(&packed("[0,100,10]"), &packed("[0,200,10]"));
        let text = conflicts.iter().next().unwrap().to_string();
        assert_eq!(
            text,
            "class P, version 1, has member x from 0 to 200 in 1024 steps instead of member x from 0 to 100 in 1024 steps"
        );
    }
}
