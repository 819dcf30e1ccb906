//! Buffers of a writer that are far larger than what went through them.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::baskets::MEMORY;
use crate::inspect::diagnose::format::size;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// Buffers far larger than their contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OversizedBuffers {
    /// Entries of the tree.
    pub entries: u64,
    /// Buffers of all branches together.
    pub buffers: u64,
    /// Sum of the largest baskets of all branches.
    pub used: u64,
}

impl Rule for OversizedBuffers {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        let (buffers, used) = (tree.memory.write, tree.memory.read_baskets);
        let memory = buffers.saturating_sub(2 * used);
        let fault = Self { entries: tree.entries, buffers, used };
        (memory > MEMORY).then(|| Detected::new(fault, Cost { memory, ..Cost::default() }).of_writer())
    }

    fn sentence(&self, _: Words) -> String {
        let (buffers, used) = (size(self.buffers), size(self.used));
        let few = match self.entries {
            0 => "no entries",
            1 => "1 entry",
            _ => {
                return format!(
                    "Writers of this tree hold {buffers} of buffers; the largest basket of each branch took {used} in all."
                );
            }
        };
        format!(
            "A tree of {few} whose writer held {buffers} of buffers for {used} of data; merging many such files holds them all."
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::tree("buffers", "memory-ratio", "1.1"))
    }
}

#[cfg(test)]
mod tests {
    use crate::inspect::Pays;
    use crate::inspect::diagnose::fixtures::{branch, only, tree};
    use crate::inspect::values::Memory;

    #[test]
    fn a_tree_of_one_entry_with_large_buffers() {
        let mut tree = tree(vec![branch("a", 1)]);
        tree.entries = 1;
        tree.memory = Memory { write: 64_000_000, read_baskets: 20_000, ..Memory::default() };
        let finding = only(tree.clone());
        assert!(finding.text.starts_with("A tree of 1 entry whose writer held 64 MB"), "{}", finding.text);
        assert!(finding.command.is_some_and(|command| command.ends_with("--memory-ratio 1.1")));
        assert_eq!(finding.pays, Pays::Writer);
        tree.entries = 2;
        assert!(only(tree).text.starts_with("Writers of this tree hold 64 MB of buffers"));
    }
}
