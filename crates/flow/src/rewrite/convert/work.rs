//! Moves the entries of a plan: they are read in steps, and what was read goes into the output step by step. While one step is encoded
//! and appended, the threads that have nothing to do there read the next.

use std::collections::{BTreeSet, HashSet};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, ArrayRef, LargeListArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use dataset::EntrySet;
use rayon::ThreadPool;
use rootfile::object::TObject;
use rootfile::{Error, FileWriter, Hint, Result};

use super::model::{BatchColumn, ConvertPlan, ConvertWindows, DefinedColumns};
use super::ntuple::beside::BesideColumns;
use crate::arrow::read::{BatchSize, Batches, Dataset, Request, batches};
use crate::arrow::shapes::{Flat, Shape};
use crate::arrow::write::{TablePass, TableWriter};
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};
use crate::execute::workers::guarded;
use crate::reorder::merge::{MergeSteps, SourceValues, SourceWindow};
use crate::select::{DefinedReading, DefinedValues};
use crate::table::memory;

/// The entries of a plan on their way.
pub(super) struct ConvertWork<'a> {
    pub plan: &'a ConvertPlan,
    /// The bounds of the steps in which entries are read: those of the plan, or of some entries only.
    pub steps: &'a [u64],
    /// For reading.
    pub budget: Budget,
    pub team: Option<&'a Arc<ThreadPool>>,
    /// Whether there is memory for the arrays of two steps.
    pub overlaps: bool,
}

impl ConvertWork<'_> {
    /// Moves all entries. Returns the columns with objects that have unique numbers or status bits, which are not moved.
    pub fn run(&self, output: (&mut FileWriter, &mut TableWriter), progress: Progress<'_>) -> Result<BTreeSet<String>> {
        guarded(|| "the conversion".to_owned(), || self.run_steps(output, progress))
    }

    /// Looks at all entries of some columns, before any is moved.
    pub fn look(&self, pass: &mut dyn TablePass, progress: Progress<'_>) -> Result<()> {
        guarded(|| "the look at all values".to_owned(), || self.look_step_by_step(pass, progress))
    }

    fn look_step_by_step(&self, pass: &mut dyn TablePass, progress: Progress<'_>) -> Result<()> {
        let (mut steps, team) = (self.reader(&progress, Chosen::named(self.plan, &pass.columns())), self.team);
        while let Some(step) = steps.next()? {
            if let Some(batch) = &step.batch {
                pass.look(batch, team.map(|team| &**team))?;
            }
            // These bytes are read again.
            tell(progress, 0)?;
        }
        Ok(())
    }

    fn run_steps(
        &self,
        (file, writer): (&mut FileWriter, &mut TableWriter),
        progress: Progress<'_>,
    ) -> Result<BTreeSet<String>> {
        let failed = AtomicBool::new(false);
        let ended = |_| match failed.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => progress(0),
        };
        let mut steps = self.reader(&ended, Chosen::all(self.plan));
        let mut fill = |step: Step| {
            let filled = match &step.batch {
                Some(batch) => self.fill(file, writer, (batch, &step.entries)),
                None if self.ends_within(&step.entries).next().is_some() => writer.end_cluster(file),
                None => Ok(()),
            };
            filled.inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            tell(progress, step.bytes)
        };
        let mut next = steps.next()?;
        while let Some(step) = next {
            next = match self.team.filter(|_| self.overlaps) {
                Some(team) => {
                    let (filled, read) = team.install(|| rayon::join(|| fill(step), || steps.next()));
                    // If filling failed, reading was interrupted.
                    filled.and(read)?
                }
                None => {
                    fill(step)?;
                    steps.next()?
                }
            };
        }
        Ok(steps.numbered)
    }

    /// Fills a step in, and ends clusters where the source does, if the output has the same.
    fn fill(
        &self,
        file: &mut FileWriter,
        writer: &mut TableWriter,
        (batch, entries): (&RecordBatch, &Range<u64>),
    ) -> Result<()> {
        let selection = &self.plan.selection;
        let mut at = 0;
        for end in self.ends_within(entries) {
            let here = entries.start..end;
            let rows = selection.as_ref().map_or(end - entries.start, |selection| selection.count(&here));
            let rows = usize::try_from(rows).unwrap_or(usize::MAX).min(batch.num_rows());
            writer.fill(file, &batch.slice(at, rows - at))?;
            writer.end_cluster(file)?;
            at = rows;
        }
        writer.fill(file, &batch.slice(at, batch.num_rows() - at))
    }

    /// Where clusters end that the output has as well, among these entries.
    fn ends_within(&self, entries: &Range<u64>) -> impl Iterator<Item = u64> {
        let own = self.plan.merge.as_ref().map(|merge| merge.bounds.as_slice());
        let (bounds, last) = (own.unwrap_or(self.plan.dataset.clusters()), entries.end);
        let ends = bounds.get(bounds.partition_point(|bound| *bound <= entries.start)..).unwrap_or_default();
        ends.iter().copied().take_while(move |end| self.plan.keeps_clusters && *end <= last)
    }

    fn reader<'s>(&'s self, progress: Progress<'s>, chosen: Chosen<'s>) -> StepReader<'s> {
        let ConvertPlan { dataset, selection, kept, .. } = self.plan;
        let read = &chosen.read;
        let (first, last) = (self.steps.first().copied().unwrap_or(0), self.steps.last().copied().unwrap_or(0));
        // Streamed objects that were planned to be bytes.
        let is_opaque =
            |column: &usize| dataset.column(*column).is_some_and(|plan| plan.field().metadata().contains_key("opaque"));
        let as_bytes: Arc<[usize]> = (0..read.len()).filter(|place| read.get(*place).is_some_and(is_opaque)).collect();
        let needs_defined = chosen.columns.iter().any(|column| matches!(column, BatchColumn::Defined { .. }));
        let defined = self.plan.defined.as_ref().filter(|_| needs_defined);
        let values = |budget: Budget, steps: &'s [u64], kept: u64, selection: &'s Option<EntrySet>| {
            let entries = steps.first().copied().unwrap_or(0)..steps.last().copied().unwrap_or(0);
            let request = Request { columns: read.clone(), entries, selection: selection.clone(), budget, progress };
            let own = batches(dataset, request, BatchSize::Cluster).keeping(steps.to_vec(), kept);
            let own = TableValues { batches: own.with_team(self.team.cloned()), as_bytes: Arc::clone(&as_bytes) };
            let defined = defined.map(|DefinedColumns { dataset, defined }| {
                let (selection, team) = (selection.as_ref(), self.team.cloned());
                DefinedValues::new(defined, DefinedReading { dataset, selection, steps, budget, team, progress })
            });
            (own, defined)
        };
        let source = match &self.plan.merge {
            None => Values::InOrder(Box::new(values(self.budget, self.steps, *kept, selection))),
            Some(merge) => {
                let reading = (self.plan.scratch - memory::CODECS).saturating_mul(self.budget.threads as u64);
                let least = dataset.metadata().saturating_add(reading);
                let ConvertWindows { windows, kept } = &merge.windows;
                let more = self.budget.memory.saturating_sub(least) / kept.len().max(1) as u64;
                let ordered = self.plan.ordered.as_ref();
                let (mut own, mut of_defined) = (Vec::new(), Vec::new());
                for (bounds, kept) in windows.iter().zip(kept) {
                    let memory = least.saturating_add(more).saturating_add(*kept);
                    let of_source = values(Budget { memory, ..self.budget }, bounds, *kept, &self.plan.ordered);
                    own.push(SourceWindow::new(of_source.0, bounds, ordered));
                    of_defined.extend(of_source.1.map(|values| SourceWindow::new(values, bounds, ordered)));
                }
                Values::Merged(&merge.steps, own, of_defined)
            }
        };
        let needs_beside = chosen.columns.iter().any(|column| matches!(column, BatchColumn::Beside { .. }));
        let beside = self.plan.beside.iter().filter(|_| needs_beside).map(|BesideColumns { dataset, read, .. }| {
            let (columns, entries) = (read.clone(), first..last);
            let request = Request { columns, entries, selection: selection.clone(), budget: self.budget, progress };
            let batches = batches(dataset, request, BatchSize::Cluster).keeping(self.steps.to_vec(), *kept);
            batches.with_team(self.team.cloned())
        });
        StepReader {
            plan: self.plan,
            team: self.team.map(|team| &**team),
            steps: self.steps,
            chosen,
            source,
            beside: beside.collect(),
            at: 0,
            numbered: BTreeSet::new(),
        }
    }
}

/// The columns of a plan that are read.
struct Chosen<'a> {
    /// The columns of a batch.
    columns: Vec<&'a BatchColumn>,
    /// The columns of the dataset that these are made of.
    read: Vec<usize>,
    /// The place of each among those, by its place among all columns that the plan reads.
    slots: Vec<Option<usize>>,
}

impl<'a> Chosen<'a> {
    fn all(plan: &'a ConvertPlan) -> Self {
        Self {
            columns: plan.columns.iter().collect(),
            read: plan.read.clone(),
            slots: (0..plan.read.len()).map(Some).collect(),
        }
    }

    /// Their fields in the dataset.
    fn fields(&self, dataset: &Dataset) -> Vec<FieldRef> {
        self.read.iter().filter_map(|column| Some(Arc::clone(dataset.column(*column)?.field()))).collect()
    }

    /// Those that the writer knows by these names.
    fn named(plan: &'a ConvertPlan, names: &HashSet<String>) -> Self {
        let columns: Vec<&BatchColumn> = plan.columns.iter().filter(|column| column.is_one_of(names)).collect();
        let mut all = Self { columns, read: Vec::new(), slots: vec![None; plan.read.len()] };
        for place in all.columns.iter().flat_map(|column| column.places()) {
            if let (Some(slot @ None), Some(column)) = (all.slots.get_mut(*place), plan.read.get(*place)) {
                *slot = Some(all.read.len());
                all.read.push(*column);
            }
        }
        all
    }
}

/// Entries that were read together.
struct Step {
    /// The batch for the writer, unless none of the entries is selected.
    batch: Option<RecordBatch>,
    entries: Range<u64>,
    /// Stored bytes of the entries.
    bytes: u64,
}

/// What a step has beside the columns of its table: values that are defined, and the batches of tables beside it.
struct Further<'a> {
    defined: &'a [ArrayRef],
    beside: &'a [RecordBatch],
}

/// The values of the columns of a table, of all its files or of one of several sources.
struct TableValues<'a> {
    batches: Batches<'a>,
    /// The columns, by their places among those that are read, that were planned to be bytes.
    as_bytes: Arc<[usize]>,
}

impl TableValues<'_> {
    /// The values of the next entries, up to this one. None behind the last.
    fn next(&mut self, end: u64) -> Result<Option<RecordBatch>> {
        let Some(read) = self.batches.next_until(end) else { return Ok(None) };
        let batch = read?.batch;
        for (place, field) in batch.schema_ref().fields().iter().enumerate() {
            // Its bytes contradict its plan.
            if let Some(why) = field.metadata().get("opaque").filter(|_| !self.as_bytes.contains(&place)) {
                let drop = Hint::named("drop").that("leaves it out");
                let what = format!("cannot be decoded: {why}; {}", drop.clause());
                return Err(Error::unsupported(what).hint(drop).object(field.name().clone()));
            }
        }
        Ok(Some(batch))
    }
}

impl SourceValues for TableValues<'_> {
    fn until(&mut self, entry: u64) -> Result<Vec<ArrayRef>> {
        Ok(self.next(entry)?.map_or_else(Vec::new, |batch| batch.columns().to_vec()))
    }
}

/// The values of the columns of a table, and of those that are defined.
enum Values<'a> {
    /// Of all entries in their order.
    InOrder(Box<(TableValues<'a>, Option<DefinedValues<'a>>)>),
    /// Of sources that are merged.
    Merged(&'a MergeSteps, Vec<SourceWindow<'a, TableValues<'a>>>, Vec<SourceWindow<'a, DefinedValues<'a>>>),
}

impl Values<'_> {
    /// Those of the next rows. The columns of the table are these. None behind the last row.
    fn next(
        &mut self,
        rows: &Range<u64>,
        fields: Vec<FieldRef>,
        team: Option<&ThreadPool>,
    ) -> Result<Option<(RecordBatch, Vec<ArrayRef>)>> {
        match self {
            Self::InOrder(values) => {
                let (own, defined) = &mut **values;
                let Some(batch) = own.next(rows.end)? else { return Ok(None) };
                let defined = defined.as_mut().map(|values| values.next(rows.end)).transpose()?;
                Ok(Some((batch, defined.unwrap_or_default())))
            }
            Self::Merged(steps, own, defined) => {
                let step = steps.step(rows.start)?;
                let (arrays, defined) = (
                    step.values(own, team)?,
                    match defined.is_empty() {
                        true => Vec::new(),
                        false => step.values(defined, team)?,
                    },
                );
                let options = RecordBatchOptions::new().with_row_count(Some(step.rows()));
                let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
                let batch = batch.map_err(|e| Error::unsupported(format!("internal error: {e}")))?;
                Ok(Some((batch, defined)))
            }
        }
    }
}

/// Reads step by step.
struct StepReader<'a> {
    plan: &'a ConvertPlan,
    team: Option<&'a ThreadPool>,
    steps: &'a [u64],
    chosen: Chosen<'a>,
    source: Values<'a>,
    /// The tables beside.
    beside: Vec<Batches<'a>>,
    /// The number of the next step.
    at: usize,
    /// Columns whose objects have unique numbers or status bits.
    numbered: BTreeSet<String>,
}

impl StepReader<'_> {
    /// Reads the next step. None after the last.
    fn next(&mut self) -> Result<Option<Step>> {
        let ConvertPlan { dataset, selection, .. } = self.plan;
        let Some((&start, &end)) = self.steps.get(self.at).zip(self.steps.get(self.at + 1)) else { return Ok(None) };
        self.at += 1;
        let Some((batch, defined)) = self.source.next(&(start..end), self.chosen.fields(dataset), self.team)? else {
            return Ok(None);
        };
        let beside = self.beside.iter_mut().filter_map(|table| table.next_until(end));
        let beside = beside.map(|read| Ok(read?.batch)).collect::<Result<Vec<_>>>()?;
        let further = Further { defined: &defined, beside: &beside };
        let bytes = self.chosen.read.iter().map(|column| dataset.stored(*column, &(start..end)).0).sum();
        let has_some = selection.as_ref().is_none_or(|selection| selection.count(&(start..end)) > 0);
        let batch = has_some.then(|| self.for_writer(&batch, &further, &(start..end))).transpose()?;
        Ok(Some(Step { batch, entries: start..end, bytes }))
    }

    /// A batch of these entries with the names that the writer knows.
    fn for_writer(&mut self, read: &RecordBatch, further: &Further<'_>, entries: &Range<u64>) -> Result<RecordBatch> {
        let columns = self.chosen.columns.clone();
        let (mut fields, mut arrays) = (Vec::with_capacity(columns.len()), Vec::with_capacity(columns.len()));
        for column in columns {
            let (name, values) = match column {
                BatchColumn::Whole { name, parts, numbers, whole } => {
                    let parts = parts.iter().map(|part| self.array(read, *part)).collect::<Result<Vec<_>>>()?;
                    if numbers.iter().filter_map(|place| parts.get(*place)).any(has_object_bits) {
                        self.numbered.insert(name.clone());
                    }
                    (name, whole.assemble(&parts).map_err(|e| e.object(name.clone()))?)
                }
                BatchColumn::Field { name, place, member: None } => (name, self.array(read, *place)?),
                BatchColumn::Field { name, place, member: Some(member) } => {
                    (name, member_of(&self.array(read, *place)?, member)?)
                }
                BatchColumn::Beside { name, table, place } => {
                    let missing = || Error::unsupported("internal error: a column beside was not read");
                    let array = further.beside.get(*table).and_then(|table| table.columns().get(*place));
                    (name, Arc::clone(array.ok_or_else(missing)?))
                }
                BatchColumn::Shaped { place, shape, fill } => {
                    for Flat { name, array, .. } in self.shaped((*place, shape, *fill), read, entries)? {
                        fields.push(Field::new(name, array.data_type().clone(), true));
                        arrays.push(array);
                    }
                    continue;
                }
                BatchColumn::Defined { place, shape } => {
                    let missing = || Error::unsupported("internal error: a column was not computed");
                    for Flat { name, array, .. } in
                        shape.values(further.defined.get(*place).ok_or_else(missing)?, None)?
                    {
                        fields.push(Field::new(name, array.data_type().clone(), true));
                        arrays.push(array);
                    }
                    continue;
                }
            };
            fields.push(Field::new(name, values.data_type().clone(), true));
            arrays.push(values);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(read.num_rows()));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
        batch.map_err(|e| Error::unsupported(format!("internal error: {e}")))
    }

    /// The columns that a column of arrays becomes. An error names the file with the values that are refused.
    fn shaped(
        &self,
        (place, shape, fill): (usize, &Shape, Option<f64>),
        read: &RecordBatch,
        entries: &Range<u64>,
    ) -> Result<Vec<Flat>> {
        let array = self.array(read, place)?;
        let in_file = |whole: Error| {
            let ConvertPlan { dataset, selection, .. } = self.plan;
            if self.plan.merge.is_some() {
                return whole;
            }
            let (mut first, mut at) = (0, 0);
            for (len, path) in dataset.entries_by_file().iter().zip(dataset.paths()) {
                let here = entries.start.max(first)..entries.end.min(first + len);
                first += len;
                let rows = match selection {
                    Some(selection) => selection.count(&here),
                    None => here.end.saturating_sub(here.start),
                };
                let rows = usize::try_from(rows).unwrap_or(usize::MAX).min(array.len() - at);
                if let Err(why) = shape.values(&array.slice(at, rows), fill) {
                    return why.file(path);
                }
                at += rows;
            }
            whole
        };
        shape.values(&array, fill).map_err(|e| in_file(e).object(format!("column {}", shape.name)))
    }

    /// The array of a column, by its place among those that are read.
    fn array(&self, read: &RecordBatch, place: usize) -> Result<ArrayRef> {
        let missing = || Error::unsupported("internal error: a column was not read");
        let place = self.chosen.slots.get(place).copied().flatten().ok_or_else(missing)?;
        read.columns().get(place).cloned().ok_or_else(missing)
    }
}

/// Whether unique numbers are not 0, or whether status bits are set that are content.
fn has_object_bits(array: &ArrayRef) -> bool {
    match array.data_type() {
        DataType::UInt32 => {
            array.as_primitive::<UInt32Type>().values().iter().any(|bits| bits & !TObject::MEMORY_BITS != 0)
        }
        DataType::LargeList(_) => has_object_bits(array.as_list::<i64>().values()),
        _ => false,
    }
}

/// Lists of one member of the records in lists.
fn member_of(array: &ArrayRef, member: &str) -> Result<ArrayRef> {
    let refused = || Error::unsupported(format!("internal error: no lists of records with {member}"));
    let list = array.as_list_opt::<i64>().ok_or_else(refused)?;
    let items = list.values().as_struct_opt().and_then(|record| record.column_by_name(member)).ok_or_else(refused)?;
    let item = Arc::new(Field::new("item", DataType::clone(items.data_type()), false));
    Ok(Arc::new(LargeListArray::new(item, list.offsets().clone(), Arc::clone(items), None)))
}
