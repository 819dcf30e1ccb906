//! Joined tables as expressions see them: names are those of the joined columns, and values those that a reader of the table gets, filled
//! in where a file lacks a column. What files state of values holds where these are as they are stored.

use std::sync::Arc;

use arrow_schema::FieldRef;
use expr::Extent;
use rayon::ThreadPool;
use rootfile::{Error, Result};

use super::batches::BatchSize;
use super::dataset::Dataset;
use super::extents::of_defaults;
use super::joined::JoinedTable;
use super::joined_part::Part;
use super::named_table::NamedTable;
use super::request::Request;
use super::run::Read;
use crate::plan::tree::attached::Alias;

/// Values of a joined column that are as a data set has them: of a column there, in a cluster.
struct Stored<'a> {
    dataset: &'a Dataset,
    column: usize,
    cluster: usize,
}

impl JoinedTable {
    /// The part that a cluster is of.
    fn part_of(&self, cluster: usize) -> Option<&Part> {
        let first = self.clusters().get(cluster)?;
        self.parts().get(self.parts().partition_point(|part| part.end() <= *first))
    }

    /// Where the values of a column in a cluster are stored. None if they are filled in, or come to another type.
    fn stored(&self, column: usize, cluster: usize) -> Option<Stored<'_>> {
        let part = self.part_of(cluster)?;
        let (dataset, own) = (&*part.dataset, part.within(&self.cluster(cluster)?));
        let here = part.column(column)?;
        let number = dataset.clusters().partition_point(|bound| *bound <= own.start).checked_sub(1)?;
        let is_whole = dataset.cluster(number).is_some_and(|whole| whole == own);
        let is_same = dataset.column(here)?.field().data_type() == self.field(column)?.data_type();
        (is_whole && is_same).then_some(Stored { dataset, column: here, cluster: number })
    }

    /// What is known of values that are filled in.
    fn filled(&self, column: usize, cluster: usize) -> Option<Extent> {
        self.part_of(cluster).filter(|part| part.is_default(column))?;
        of_defaults(self.field(column)?, None)
    }

    /// What each of its data sets may remember, of a budget of so many bytes.
    fn share(&self, memory: u64) -> u64 {
        memory / self.parts().len().max(1) as u64
    }
}

impl NamedTable for JoinedTable {
    fn path(&self) -> &str {
        self.first().map_or("", Dataset::path)
    }

    fn entries(&self) -> u64 {
        self.entries()
    }

    fn clusters(&self) -> &[u64] {
        self.clusters()
    }

    fn lineages(&self) -> Vec<(Vec<&str>, usize)> {
        match self.alike() {
            Some(dataset) => dataset.lineages(),
            None => self.joined_lineages(),
        }
    }

    fn field(&self, column: usize) -> Option<&FieldRef> {
        self.field(column)
    }

    fn opaque(&self, column: usize) -> Option<&str> {
        self.opaque(column)
    }

    fn conflict(&self, column: usize) -> Option<Error> {
        self.schema_of(&[column]).err()
    }

    fn is_complete(&self, column: usize) -> bool {
        let is_complete = |part: &Part| part.column(column).is_none_or(|here| part.dataset.is_complete(here));
        self.parts().iter().all(is_complete)
    }

    fn bytes_of(&self, columns: &[usize]) -> u64 {
        columns.iter().map(|column| self.bytes(*column)).fold(0, u64::saturating_add)
    }

    fn aliases(&self) -> Vec<Alias> {
        self.aliases()
    }

    fn alias_conflict(&self, name: &str) -> Option<&str> {
        self.alias_conflict(name)
    }

    fn dataset(&self) -> Option<&Dataset> {
        self.alike()
    }

    fn extent(&self, column: usize, cluster: usize) -> Option<Extent> {
        let stored = self.stored(column, cluster).and_then(|at| at.dataset.extent(at.column, at.cluster));
        stored.or_else(|| self.filled(column, cluster)).or_else(|| Extent::of_type(self.field(column)?.data_type()))
    }

    fn remembers(&self, column: usize, cluster: usize) -> bool {
        self.stored(column, cluster).is_none_or(|at| at.dataset.remembers(at.column, at.cluster))
    }

    fn remember(&self, column: usize, cluster: usize, extent: Extent, memory: u64) {
        if let Some(at) = self.stored(column, cluster) {
            at.dataset.remember(at.column, at.cluster, extent, self.share(memory));
        }
    }

    fn forget_changed(&self, memory: u64) {
        self.datasets().for_each(|dataset| dataset.forget_changed(self.share(memory)));
    }

    fn batches<'a>(
        &'a self,
        request: Request<'a>,
        size: BatchSize,
        team: Option<Arc<ThreadPool>>,
    ) -> Box<dyn Iterator<Item = Result<Read>> + 'a> {
        match self.as_one() {
            Some(dataset) => dataset.batches(request, size, team),
            None => Box::new(self.batches_by_part(request, size, team)),
        }
    }
}
