//! The branches below a branch, as candidates for the members of a class, by name.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::tree::Tree;

/// The bases of a class are among this many first branches.
const MOST_BASES: usize = 64;

/// Branches by the last part of their name.
pub(super) struct Candidates {
    named: HashMap<String, VecDeque<usize>>,
    /// The first branches, of any name.
    first: Vec<usize>,
    taken: HashSet<usize>,
}

impl Candidates {
    pub(super) fn new(tree: &Tree, branches: &[usize]) -> Self {
        let mut named: HashMap<String, VecDeque<usize>> = HashMap::new();
        for &index in branches {
            if let Some(branch) = tree.branches.get(index) {
                named.entry(last(branch.name()).to_owned()).or_default().push_back(index);
            }
        }
        Self { named, first: branches.iter().take(MOST_BASES).copied().collect(), taken: HashSet::new() }
    }

    /// Takes the first branch of this name that matches.
    pub(super) fn take(&mut self, name: &str, is_match: impl Fn(usize) -> bool) -> Option<usize> {
        let named = self.named.get_mut(last(name))?;
        let at = named.iter().position(|branch| !self.taken.contains(branch) && is_match(*branch))?;
        let branch = named.remove(at)?;
        self.taken.insert(branch);
        Some(branch)
    }

    /// Takes the first branch of any name that matches.
    pub(super) fn take_other(&mut self, is_match: impl Fn(usize) -> bool) -> Option<usize> {
        let branch = *self.first.iter().find(|branch| !self.taken.contains(branch) && is_match(**branch))?;
        self.taken.insert(branch);
        Some(branch)
    }
}

/// A branch's name without dimensions and trailing dots.
pub(super) fn trimmed(name: &str) -> &str {
    let name = name.trim_end_matches('.');
    let dimensions = outside(name).find(|(_, b)| *b == b'[').map(|(at, _)| at);
    name.get(..dimensions.unwrap_or(name.len())).unwrap_or(name)
}

/// The last part of a branch's name.
fn last(name: &str) -> &str {
    let name = trimmed(name);
    let dot = outside(name).filter(|(_, b)| *b == b'.').last();
    dot.and_then(|(at, _)| name.get(at + 1..)).unwrap_or(name)
}

/// The bytes of a name outside of template arguments: a base, and so its branch, may be named `vector<Hit>`.
fn outside(name: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut depth = 0usize;
    name.bytes().enumerate().filter(move |(_, b)| {
        match b {
            b'<' => depth += 1,
            b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_dimensions_inside_of_templates_belong_to_the_name() {
        assert_eq!(last("event.fTracks.fX[3][2]"), "fX");
        assert_eq!(last("event."), "event");
        assert_eq!(last("vector<Pair<1.5,a[2]> >.m_momentum.m_e"), "m_e");
        assert_eq!(last("m_list.vector<Token[2]>"), "vector<Token[2]>");
        assert_eq!(trimmed("a.vector<Token>[2]."), "a.vector<Token>");
    }
}
