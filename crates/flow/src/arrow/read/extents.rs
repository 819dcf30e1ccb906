//! What is known of the values of columns in the clusters of an open table, so that conditions need not look at them: what the file
//! says of them, what is filled in where a file lacks them, and what is remembered of values that were read. What is remembered holds as
//! long as the files are as they were.

use arrow_schema::{DataType, FieldRef};
use dataset::default_array;
use dataset::table::{Bounds, Stated};
use expr::{Extent, Span};

use super::dataset::Dataset;
use super::named_table::NamedTable;
use super::remembered::{KEPT, SHARE};

impl Dataset {
    /// What is known of the values of a column in a cluster.
    pub(crate) fn extent(&self, column: usize, cluster: usize) -> Option<Extent> {
        let remembered = self.remembered.all().get(&(column, cluster)).cloned();
        remembered
            .or_else(|| self.stated(column, cluster))
            .or_else(|| Extent::of_type(self.column(column)?.field().data_type()))
    }

    /// Whether the values of a column in a cluster have been seen.
    pub(crate) fn remembers(&self, column: usize, cluster: usize) -> bool {
        self.remembered.all().contains_key(&(column, cluster))
    }

    /// Keeps what is known of the values of a column in a cluster, if a budget of so many bytes has room for it.
    pub(crate) fn remember(&self, column: usize, cluster: usize, extent: Extent, memory: u64) {
        if self.remembered.memory() + KEPT <= memory / SHARE {
            self.remembered.all().insert((column, cluster), extent);
        }
    }

    /// Forgets what is remembered of files that have changed, and what takes too much of a budget of so many bytes.
    pub(crate) fn forget_changed(&self, memory: u64) {
        let (held, is_large) = (self.remembered.memory(), self.remembered.memory() > memory / SHARE);
        if is_large || (held > 0 && !self.files().iter().all(|file| file.is_unchanged())) {
            self.remembered.all().clear();
        }
    }

    /// What the files say of the values of a column in a cluster.
    fn stated(&self, column: usize, cluster: usize) -> Option<Extent> {
        let plan = self.column(column)?;
        let (any, read) = (Extent::of_type(plan.field().data_type())?, self.read_column(plan.node())?);
        let pieces = read.column.source.pieces_with(&self.cluster(cluster)?);
        let stated = pieces.iter().map(|piece| match piece.is_default() {
            true => of_defaults(plan.field(), read.column.source.fill.as_deref()),
            false => Some(within(any.clone(), &read.table.stated(read.number, piece)?)),
        });
        stated.reduce(|all, next| Some(all?.merge(&next?))).flatten()
    }
}

/// What is known of defaults, of which an entry may have these bytes. Zero bytes are zero where numbers have as many as their type: packed
/// ones have fewer.
pub(super) fn of_defaults(field: &FieldRef, entry: Option<&[u8]>) -> Option<Extent> {
    let width = match field.data_type() {
        DataType::Boolean => 1,
        number => number.primitive_width()?,
    };
    let is_zero = entry.is_none_or(|entry| entry.len() == width && entry.iter().all(|byte| *byte == 0));
    Extent::of(&default_array(field, 1).ok().filter(|_| is_zero)?, 0)
}

/// Values of a type, within what is stated of them. Here both meet: files know nothing of expressions, and say neither whether NaN is among
/// their numbers nor anything of texts; expressions know nothing of files.
fn within(any: Extent, stated: &Stated) -> Extent {
    let span = match stated.bounds {
        Bounds::Nothing => None,
        Bounds::Whole { least, most } => Some(Span::Whole { least, most }),
        Bounds::Number { least, most } => Some(Span::Number { least, most, nan: true }),
    };
    any.bounded(span, stated.may_miss)
}
