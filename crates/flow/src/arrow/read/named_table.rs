//! A table as expressions see it: columns with names, what is known of their values cluster by cluster, and their values batch by batch. It
//! is one [`Dataset`], or several that differ and are joined (`joined_named`). What expressions are is not known here.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::FieldRef;
use expr::Extent;
use rayon::ThreadPool;
use rootfile::{Error, Result};

use super::aliases::aliases_of;
use super::batches::{BatchSize, batches};
use super::dataset::Dataset;
use super::request::Request;
use super::run::Read;
use crate::plan::tree::attached::Alias;

/// A table whose columns expressions name.
pub trait NamedTable: Sync {
    /// Its path in the first file.
    fn path(&self) -> &str;

    /// Entries of all files.
    fn entries(&self) -> u64;

    /// First entry of each cluster, and at the end the number of entries.
    fn clusters(&self) -> &[u64];

    /// The entries of a cluster. Those behind the last cluster belong to it.
    fn cluster(&self, number: usize) -> Option<Range<u64>> {
        let bounds = self.clusters();
        let (start, end) = (*bounds.get(number)?, *bounds.get(number + 1)?);
        Some(start..if number + 2 == bounds.len() { end.max(self.entries()) } else { end })
    }

    /// For each column its names, from its own to that of the node at the top above it, and its number.
    fn lineages(&self) -> Vec<(Vec<&str>, usize)>;

    /// The Arrow field of a column.
    fn field(&self, column: usize) -> Option<&FieldRef>;

    /// Why a column is not decoded; none if it is decoded.
    fn opaque(&self, column: usize) -> Option<&str>;

    /// The error for a column whose values in the files are of different types.
    fn conflict(&self, column: usize) -> Option<Error>;

    /// Whether a column has a value for each entry.
    fn is_complete(&self, column: usize) -> bool;

    /// Bytes of some columns before compression, by the metadata: a file may claim any number.
    fn bytes_of(&self, columns: &[usize]) -> u64;

    /// Names and formulas of the aliases that all files have alike.
    fn aliases(&self) -> Vec<Alias>;

    /// What an alias is in the files, if it is not the same in all.
    fn alias_conflict(&self, name: &str) -> Option<&str>;

    /// The data set that has its columns, if there is one: it may have friends.
    fn dataset(&self) -> Option<&Dataset>;

    /// What is known of the values of a column in a cluster.
    fn extent(&self, column: usize, cluster: usize) -> Option<Extent>;

    /// Whether nothing new can be remembered of the values of a column in a cluster.
    fn remembers(&self, column: usize, cluster: usize) -> bool;

    /// Keeps what is known of the values of a column in a cluster, if a budget of so many bytes has room for it.
    fn remember(&self, column: usize, cluster: usize, extent: Extent, memory: u64);

    /// Forgets what is remembered of files that have changed, and what takes too much of a budget of so many bytes.
    fn forget_changed(&self, memory: u64);

    /// Reads a request batch by batch, with the threads of a team.
    fn batches<'a>(
        &'a self,
        request: Request<'a>,
        size: BatchSize,
        team: Option<Arc<ThreadPool>>,
    ) -> Box<dyn Iterator<Item = Result<Read>> + 'a>;
}

impl NamedTable for Dataset {
    fn path(&self) -> &str {
        self.path()
    }

    fn entries(&self) -> u64 {
        self.entries()
    }

    fn clusters(&self) -> &[u64] {
        self.clusters()
    }

    fn lineages(&self) -> Vec<(Vec<&str>, usize)> {
        let columns = self.column_of_each_node().into_iter().enumerate();
        columns.filter_map(|(node, column)| Some((self.schema().lineage(node), column?))).collect()
    }

    fn field(&self, column: usize) -> Option<&FieldRef> {
        Some(self.column(column)?.field())
    }

    fn opaque(&self, column: usize) -> Option<&str> {
        self.column(column)?.opaque()
    }

    fn conflict(&self, _: usize) -> Option<Error> {
        None
    }

    fn is_complete(&self, column: usize) -> bool {
        self.is_complete(column)
    }

    fn bytes_of(&self, columns: &[usize]) -> u64 {
        self.bytes_of(columns)
    }

    fn aliases(&self) -> Vec<Alias> {
        let mut aliases = aliases_of(self);
        aliases.retain(|(name, _)| self.alias_conflict(name).is_none());
        aliases
    }

    fn alias_conflict(&self, name: &str) -> Option<&str> {
        self.alias_conflict(name)
    }

    fn dataset(&self) -> Option<&Dataset> {
        Some(self)
    }

    fn extent(&self, column: usize, cluster: usize) -> Option<Extent> {
        self.extent(column, cluster)
    }

    fn remembers(&self, column: usize, cluster: usize) -> bool {
        self.remembers(column, cluster)
    }

    fn remember(&self, column: usize, cluster: usize, extent: Extent, memory: u64) {
        self.remember(column, cluster, extent, memory);
    }

    fn forget_changed(&self, memory: u64) {
        self.forget_changed(memory);
    }

    fn batches<'a>(
        &'a self,
        request: Request<'a>,
        size: BatchSize,
        team: Option<Arc<ThreadPool>>,
    ) -> Box<dyn Iterator<Item = Result<Read>> + 'a> {
        Box::new(batches(self, request, size).with_team(team))
    }
}
