//! What `encoding = "exact"` did, for reports: the columns that take fewer bits, and those that need all of theirs.

use serde::Serialize;

use crate::table::text_list::listed;

/// The columns for which the fewest bits were asked that keep every value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExactColumns {
    /// Those that take fewer bits.
    pub narrowed: Vec<NarrowColumn>,
    /// The fields of those that need all of their bits, or have no values.
    pub full: Vec<String>,
}

/// A column that takes fewer bits, and keeps every value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NarrowColumn {
    /// Its field.
    pub field: String,
    /// Its type in the file.
    pub column_type: String,
    /// Bits of a number.
    pub bits: u16,
    /// Bits of a number without this.
    pub before: u16,
}

impl ExactColumns {
    /// The same, as a sentence.
    pub fn sentence(&self) -> String {
        let Self { narrowed, full } = self;
        let all = narrowed.len() + full.len();
        let bits = narrowed.iter().map(|column| column.bits);
        let range = match (bits.clone().min(), bits.max()) {
            (Some(least), Some(most)) if least < most => format!(" ({least} to {most} bits)"),
            (Some(bits), _) => format!(" ({bits} bits)"),
            _ => String::new(),
        };
        let full = if full.is_empty() { String::new() } else { format!("; with all bits: {}", listed(full)) };
        let columns = if all == 1 { "column keeps its" } else { "columns keep their" };
        format!("exact: {} of {all} {columns} values in fewer bits{range}{full}", narrowed.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_narrowed_is_told() {
        let narrow = |bits| NarrowColumn { bits, ..NarrowColumn::default() };
        let both = ExactColumns { narrowed: vec![narrow(12), narrow(20)], full: vec!["x".into()] };
        assert_eq!(
            both.sentence(),
            "exact: 2 of 3 columns keep their values in fewer bits (12 to 20 bits); with all bits: x"
        );
        let one = ExactColumns { narrowed: vec![narrow(12)], full: Vec::new() };
        assert_eq!(one.sentence(), "exact: 1 of 1 column keeps its values in fewer bits (12 bits)");
        let none = ExactColumns { full: vec!["a".into(), "b".into()], ..ExactColumns::default() };
        assert_eq!(none.sentence(), "exact: 0 of 2 columns keep their values in fewer bits; with all bits: a, b");
    }
}
