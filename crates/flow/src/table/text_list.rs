//! Lists of names in notes and messages.

use std::borrow::Borrow;

/// Largest number of names in one note.
const NAMED: usize = 8;

/// The first names of a list, and the number of the others.
pub(crate) fn listed<S: Borrow<str>>(names: &[S]) -> String {
    let named = names.get(..NAMED).unwrap_or(names).join(", ");
    match names.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{named} and {more} more"),
        _ => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_named() {
        assert_eq!(listed(&["a", "b"]), "a, b");
        let many: Vec<String> = (0..9).map(|n| n.to_string()).collect();
        assert_eq!(listed(&many), "0, 1, 2, 3, 4, 5, 6, 7 and 1 more");
        assert_eq!(listed(&many[..8]), "0, 1, 2, 3, 4, 5, 6, 7");
    }
}
