//! Fills an array with the entries of clusters.

use std::ops::Range;

use arrow_array::ArrayRef;
use rootfile::{Error, Result};

use super::append::{ClusterElements, ElementSource, Passed};
use super::field_plan::FieldPlan;
use super::node::Span;
use super::values::{Values, too_many};
use crate::ntuple::model::{Cluster, PageList};

/// Most values for which memory is reserved on a hint, over all columns.
const MOST_HINTED: usize = 1 << 25;

/// The values of a field, cluster by cluster.
#[derive(Debug)]
pub struct FieldBuilder {
    plan: FieldPlan,
    values: Values,
    /// For values that are decoded and not kept, with their number.
    passed: Option<(Passed, usize)>,
}

impl FieldPlan {
    /// An empty array with room for `entries` entries.
    ///
    /// # Errors
    ///
    /// If there is no memory for them.
    pub fn start(&self, entries: usize) -> Result<FieldBuilder> {
        let mut values = Values::new(self.node());
        values.reserve(entries.min(MOST_HINTED / self.columns().len().max(1)))?;
        Ok(FieldBuilder { plan: self.clone(), values, passed: None })
    }

    /// The same for values that are decoded and not kept: the array is empty. Only for plans that [are numbers](Self::is_numbers).
    pub fn start_passing(&self) -> FieldBuilder {
        FieldBuilder { plan: self.clone(), values: Values::new(self.node()), passed: Some((Passed::default(), 0)) }
    }
}

impl FieldBuilder {
    /// Appends the entries `range` of a cluster, counted from the cluster's first one. `list` is the page list with the
    /// cluster. The source is asked for the elements of the columns of [`FieldPlan::columns_in`], each time for those that the
    /// values need.
    ///
    /// # Errors
    ///
    /// If the source fails, or if numbers of elements, ends of collections or tags of variants contradict each other. The
    /// builder is then unusable.
    pub fn append(
        &mut self,
        list: &PageList,
        cluster: &Cluster,
        range: Range<u64>,
        source: &mut dyn ElementSource,
    ) -> Result<()> {
        let plan = self.plan.clone();
        self.append_by(&plan, list, cluster, range, source)
    }

    /// The same by the plan of the field in another file, with other IDs and encodings, which must give the same type.
    ///
    /// # Errors
    ///
    /// As for [`append`](Self::append), or if the plan gives another type.
    pub fn append_by(
        &mut self,
        plan: &FieldPlan,
        list: &PageList,
        cluster: &Cluster,
        range: Range<u64>,
        source: &mut dyn ElementSource,
    ) -> Result<()> {
        self.check_same(plan)?;
        if range.start > range.end || range.end > cluster.entries {
            return Err(Error::request("entries that the cluster does not have"));
        }
        if range.is_empty() {
            return Ok(());
        }
        plan.check_schema()?;
        let span = Span { range, count: Some(cluster.entries) };
        let Some((passed, count)) = &mut self.passed else {
            let mut elements = ClusterElements { list, cluster, source, passed: None };
            return elements.append(plan.node(), &span, &mut self.values).map_err(|e| self.of_field(e));
        };
        *count = usize::try_from(span.range.end - span.range.start)
            .ok()
            .and_then(|more| count.checked_add(more))
            .ok_or_else(too_many)?;
        let mut elements = ClusterElements { list, cluster, source, passed: Some(passed) };
        let passed = elements.append(plan.node(), &span, &mut self.values);
        // The ends of collections.
        self.values = Values::new(self.plan.node());
        passed.map_err(|e| self.of_field(e))
    }

    /// Checks that another plan gives the same type.
    fn check_same(&self, plan: &FieldPlan) -> Result<()> {
        if self.plan.is(plan) || self.plan.shape() == plan.shape() {
            return Ok(());
        }
        let (own, other) = (self.plan.field().data_type(), plan.field().data_type());
        Err(self.of_field(Error::request(format!("values of type {other} behind values of type {own}"))))
    }

    /// Appends the values of another builder behind its own. Its plan may be of another file, with other IDs and encodings, but
    /// must give the same type. A builder without values takes the other's buffers, unless its own have more room.
    ///
    /// # Errors
    ///
    /// If the values have another form, or if there is no memory for them. In the latter case the builder is then unusable.
    pub fn append_part(&mut self, part: Self) -> Result<()> {
        self.check_same(&part.plan)?;
        if let Some((_, count)) = &mut self.passed {
            *count = count.checked_add(part.len()).ok_or_else(too_many)?;
            return Ok(());
        }
        self.values.append(part.values).map_err(|e| self.of_field(e))
    }

    /// Makes room for more entries; for the items of their lists, as many as those so far have.
    ///
    /// # Errors
    ///
    /// If there is no memory for them.
    pub fn reserve(&mut self, entries: usize) -> Result<()> {
        match self.passed {
            Some(_) => Ok(()),
            None => self.values.reserve(entries.min(MOST_HINTED / self.plan.columns().len().max(1))),
        }
    }

    fn of_field(&self, e: Error) -> Error {
        e.object(format!("field {}", self.plan.field().name()))
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        self.passed.as_ref().map_or(self.values.len(), |(_, count)| *count)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Arrow array of all appended entries.
    ///
    /// # Errors
    ///
    /// If the values do not form an array of the field's type.
    pub fn finish(self) -> Result<ArrayRef> {
        let name = self.plan.field().name().clone();
        let column = self.values.into_column(self.plan.shape());
        column.and_then(|column| column.finish()).map_err(|e| e.object(format!("field {name}")))
    }
}
