//! Branches with leaves of basic types, as `TBranch`'s constructor makes them from a leaf list.

use rootfile::{Error, Result};

use super::maker::{LeafType, Maker, leaf_extra};
use super::{NewColumn, NewLeaf};
use crate::layout::defaults::ENTRY_OFFSET_LEN;
use crate::tree::model::BranchKind;

impl NewLeaf {
    /// Name with dimensions, such as `x[n][3]`.
    fn full_name(&self) -> String {
        let dims = self.counter.iter().cloned().chain(self.dims.iter().map(ToString::to_string));
        std::iter::once(self.name.clone()).chain(dims.map(|dim| format!("[{dim}]"))).collect()
    }

    /// Its entry in a leaf list.
    fn listed(&self) -> String {
        format!("{}/{}{}", self.full_name(), self.letter, self.packing)
    }
}

/// Class, bytes of a value in memory and signedness by the letter of the leaf list.
fn leaf_type(letter: char) -> Option<LeafType> {
    let (class, len_type) = match letter {
        'O' => ("TLeafO", 1),
        'B' | 'b' => ("TLeafB", 1),
        'C' => ("TLeafC", 1),
        'S' | 's' => ("TLeafS", 2),
        'I' | 'i' => ("TLeafI", 4),
        'L' | 'l' => ("TLeafL", 8),
        'G' | 'g' => ("TLeafG", 8),
        'F' => ("TLeafF", 4),
        'f' => ("TLeafF16", 4),
        'D' => ("TLeafD", 8),
        'd' => ("TLeafD32", 8),
        _ => return None,
    };
    Some(LeafType { class, len_type, is_unsigned: "bsilg".contains(letter) })
}

impl Maker<'_> {
    /// The branch of a column of leaves.
    pub(super) fn plain(&mut self, column: &NewColumn, leaves: &[NewLeaf]) -> Result<usize> {
        if leaves.is_empty() {
            return Err(Error::request("a column without leaves"));
        }
        let at = self.branch(&column.name, BranchKind::Plain, None, column.basket_size);
        let listed: Vec<String> = leaves.iter().map(NewLeaf::listed).collect();
        self.made(at)?.named.title = listed.join(":");
        let mut offset = 0i32;
        for leaf in leaves {
            let in_leaf = |e: Error| e.object(format!("leaf {}", leaf.name));
            let of = leaf_type(leaf.letter)
                .ok_or_else(|| in_leaf(Error::request(format!("'{}' is not a type of leaf", leaf.letter))))?;
            if let Some(counter) = leaf.counter.as_deref().filter(|counter| !self.has_leaf(counter)) {
                return Err(in_leaf(Error::request(format!("there is no earlier leaf {counter} to count it"))));
            }
            let varies = leaf.counter.is_some() || leaf.letter == 'C';
            let extra = leaf_extra(of.class, &[]);
            let len_type = of.len_type;
            let index = self.leaf(at, &leaf.full_name(), of, extra).map_err(in_leaf)?;
            let made = self.made_leaf(index)?;
            made.offset = offset;
            if !leaf.packing.is_empty() {
                // TLeafD32 and TLeafF16 keep the range in their title.
                made.named.title = leaf.listed();
            }
            // A counted array has the length of its counter: 0 so far.
            let len = if made.leaf_count.is_some() { 0 } else { made.len };
            let size = len.checked_mul(len_type).and_then(|size| offset.checked_add(size));
            offset = size.ok_or_else(|| in_leaf(Error::request("leaves of more than 2 GB")))?;
            if varies {
                self.made(at)?.entry_offset_len = ENTRY_OFFSET_LEN;
            }
        }
        Ok(at)
    }
}
