//! The open output while parts move into it: a growing table for each tree and RNTuple, and the sums of all other objects.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use dataset::layout::defaults;
use dataset::meaning::ClassConflicts;
use objects::process_ids::{self, ProcessId};
use objects::{ObjectCompression, ObjectPlan, RunningObjects, plan_objects};
use rootfile::codec::Compression;
use rootfile::streamer::StreamerInfos;
use rootfile::{DirId, Error, FileWriter, Result, RootFile, SavedObject, StagedFile};

use super::growing::GrowingTable;
use super::ntuple::GrowingNtuple;
use super::told::Told;
use super::tree::GrowingTree;
use super::{ntuple, tree};
use crate::arrow::write::AutoSave;
use crate::commit::date::date;
use crate::execute::progress::unwatched;
use crate::rewrite::options::Options;
use crate::rewrite::output_table::{OutputPlace, OutputTable, TableOutput, Writing};
use crate::rewrite::prepared::{Prepared, default_setting};
use crate::rewrite::summary::Summary;

/// The open output.
pub(super) struct Streaming {
    writer: FileWriter,
    /// The compression of metadata.
    compression: Compression,
    tables: Vec<Grown>,
    /// The number of each table, by its path.
    numbers: HashMap<String, usize>,
    objects: RunningObjects,
    pids: Vec<ProcessId>,
    /// The descriptions of the classes of all parts, and those of the last part, which are those of most others.
    infos: StreamerInfos,
    last_infos: Option<Arc<StreamerInfos>>,
    told: Told,
    lost: Told,
    bytes_read: u64,
    check: bool,
    auto_save: Option<AutoSave>,
    /// Bytes or entries of the file when it was last saved.
    saved_at: u64,
}

/// A table of the output.
struct Grown {
    place: OutputPlace,
    directory: DirId,
    table: Box<dyn GrowingTable>,
}

/// Whether a table can be the first of several.
fn can_grow(table: &dyn OutputTable) -> bool {
    table.tree().is_some_and(tree::can_grow) || table.ntuple().is_some_and(ntuple::can_grow)
}

/// Begins a table.
fn begin(
    table: Box<dyn OutputTable>,
    output: &mut TableOutput<'_>,
    how: &Writing<'_>,
) -> Result<Box<dyn GrowingTable>> {
    if table.tree().is_some() {
        let plan = table.into_tree().ok_or_else(|| Error::request("a table without a plan"))?;
        return Ok(Box::new(GrowingTree::begin(*plan, output, how)?));
    }
    let plan = table.into_ntuple().ok_or_else(|| Error::request("a table that is converted"))?;
    Ok(Box::new(GrowingNtuple::begin(*plan, output, how)?))
}

impl Streaming {
    /// Begins an output with the header, date and title of the first parts. Nothing of them is added.
    pub fn begin(path: &Path, prepared: &Prepared, options: &Options, auto_save: Option<AutoSave>) -> Result<Self> {
        let first = prepared.files.first();
        let requested = options.compression.metadata.or(prepared.layout.common.compression);
        let own =
            || first.map_or(defaults::COMPRESSION.to_root_setting(), |file| default_setting(file, &prepared.plans));
        let setting = requested.map_or_else(own, Compression::to_root_setting);
        let same = |n: &i32| Compression::from_root_setting(*n) == Compression::from_root_setting(setting);
        let setting = options.compression.header.filter(same).unwrap_or(setting);
        let (title, date) = (first.map_or("", |file| &file.top().title), date(Some(prepared.objects.newest)));
        let compression = requested.map_or(ObjectCompression::Keep, ObjectCompression::As);
        Ok(Self {
            writer: FileWriter::create(path, options.may_replace(), setting, date, title)?,
            compression: Compression::from_root_setting(setting).unwrap_or(Compression::NONE),
            tables: Vec::new(),
            numbers: HashMap::new(),
            objects: RunningObjects::new(compression, options.check),
            pids: Vec::new(),
            infos: StreamerInfos::new(),
            last_infos: None,
            told: Told::default(),
            lost: Told::default(),
            bytes_read: 0,
            check: options.check,
            auto_save,
            saved_at: 0,
        })
    }

    /// Whether nothing of these parts needs to know the others: then they can begin an output, or follow in one.
    pub fn can_take(open: Option<&Self>, prepared: &Prepared) -> bool {
        let mut paths: Vec<&str> = prepared.plans.iter().map(|(place, _)| place.path.as_str()).collect();
        paths.sort_unstable();
        let once = paths.windows(2).all(|pair| pair[0] != pair[1]);
        let fits = |(place, plan): &(OutputPlace, _)| {
            let plan: &crate::rewrite::prepared::PlannedTable = plan;
            let known = open.and_then(|open| open.tables.get(*open.numbers.get(&place.path)?));
            plan.kept.is_none() && can_grow(&*plan.table) && known.is_none_or(|known| known.table.fits(&*plan.table))
        };
        once && prepared.version.is_none()
            && prepared.objects.infos.is_none()
            && prepared.older_cycles.iter().all(|cycle| !cycle.kept)
            && prepared.plans.iter().all(fits)
            && open.is_none_or(|open| open.describes_as(&prepared.files))
    }

    /// Whether files describe no class otherwise than those before.
    fn describes_as(&self, files: &[Arc<RootFile>]) -> bool {
        let same = |file: &RootFile| {
            self.last_infos.as_ref().is_some_and(|last| Arc::ptr_eq(last, file.shared_infos()))
                || ClassConflicts::between(&self.infos, file.infos()).is_empty()
        };
        files.iter().all(|file| same(file))
    }

    /// Adds parts that [`can_take`](Self::can_take).
    pub fn add(&mut self, prepared: Prepared) -> Result<()> {
        let Prepared { files, objects, plans, share, pid_counts, notes, bytes, .. } = prepared;
        self.bytes_read += bytes;
        self.told.add(notes.into_iter().chain(objects.notes.iter().map(ToString::to_string)));
        for file in &files {
            if self.last_infos.as_ref().is_none_or(|last| !Arc::ptr_eq(last, file.shared_infos())) {
                self.writer.infos_mut().extend(file.infos());
                self.infos.extend(file.infos());
                self.last_infos = Some(Arc::clone(file.shared_infos()));
            }
        }
        let pid_offsets = self.join_pids(&files)?;
        let directories = self.objects.make_directories(&mut self.writer, &objects)?;
        self.add_objects(&files, &objects, &pid_offsets)?;
        let how = Writing {
            stays: None,
            compression: self.compression,
            share,
            check: self.check,
            progress: &unwatched,
            pid_offsets: &pid_offsets,
            pid_counts: &pid_counts,
        };
        for (place, plan) in plans {
            self.told.add(plan.notes);
            self.lost.add(plan.lost);
            let named = |e: Error| e.object(place.path.clone());
            let number = self.numbers.get(&place.path).copied();
            match number.and_then(|number| self.tables.get_mut(number)) {
                Some(Grown { place, directory, table }) => {
                    let mut output = TableOutput { writer: &mut self.writer, directory: *directory, place };
                    table.append(plan.table, &mut output, &how).map_err(|e| e.object(place.path.clone()))?;
                }
                None => {
                    let directory = directories.get(place.directory).copied().unwrap_or(self.writer.top());
                    let mut output = TableOutput { writer: &mut self.writer, directory, place: &place };
                    let table = begin(plan.table, &mut output, &how).map_err(named)?;
                    self.numbers.insert(place.path.clone(), self.tables.len());
                    self.tables.push(Grown { place, directory, table });
                }
            }
        }
        self.save_if_due()
    }

    /// Joins the process identifiers of parts to those so far. Returns what is added to the numbers of each part.
    fn join_pids(&mut self, files: &[Arc<RootFile>]) -> Result<Vec<u16>> {
        let known = self.pids.len();
        let tables: Vec<_> = std::iter::once(std::mem::take(&mut self.pids))
            .chain(files.iter().map(|file| process_ids::read(file)))
            .collect();
        let (joined, mut offsets) = process_ids::join(&tables)?;
        process_ids::write_from(&mut self.writer, &joined, known)?;
        self.pids = joined;
        offsets.remove(0);
        Ok(offsets)
    }

    fn add_objects(&mut self, files: &[Arc<RootFile>], objects: &ObjectPlan, pid_offsets: &[u16]) -> Result<()> {
        for (file, offset) in files.iter().zip(pid_offsets) {
            match files {
                [_] => self.objects.add(&mut self.writer, file, objects, *offset)?,
                _ => {
                    let own = plan_objects(std::slice::from_ref(file))?;
                    self.objects.add(&mut self.writer, file, &own, *offset)?;
                }
            }
        }
        Ok(())
    }

    /// What AutoSave counts.
    fn reached(&self) -> u64 {
        match self.auto_save {
            Some(AutoSave::Entries(_)) => self.tables.iter().map(|grown| grown.table.entries()).sum(),
            _ => self.writer.position(),
        }
    }

    fn save_if_due(&mut self) -> Result<()> {
        let Some(AutoSave::Bytes(step) | AutoSave::Entries(step)) = self.auto_save else { return Ok(()) };
        if self.reached() >= self.saved_at.saturating_add(step) {
            self.save()?;
            self.saved_at = self.reached();
        }
        Ok(())
    }

    /// Makes the unfinished file whole.
    fn save(&mut self) -> Result<()> {
        let writer = &mut self.writer;
        let labels = self.tables.iter_mut().map(|grown| grown.table.update(writer)).collect::<Result<Vec<_>>>()?;
        let (tables, sums) = (&self.tables, self.objects.sums());
        let of_tables: Vec<_> = tables.iter().map(|grown| |keylen| grown.table.record(keylen)).collect();
        let of_sums: Vec<_> = sums.iter().map(|sum| |keylen| sum.payload(keylen)).collect();
        let mut saved: Vec<SavedObject<'_>> = Vec::with_capacity(tables.len() + sums.len());
        for ((grown, labels), make) in tables.iter().zip(&labels).zip(&of_tables) {
            saved.push(SavedObject {
                directory: grown.directory,
                class: &labels.class,
                name: &grown.place.name,
                title: &labels.title,
                compression: if labels.is_compressed { self.compression } else { Compression::NONE },
                make,
            });
        }
        for (sum, make) in sums.iter().zip(&of_sums) {
            let [class, name, title] = &sum.labels;
            let (directory, compression) = (sum.directory, sum.compression);
            saved.push(SavedObject { directory, class, name, title, compression, make });
        }
        self.writer.auto_save(&saved)
    }

    /// Ends the file, which keeps its temporary name.
    pub fn finish(mut self) -> Result<(Summary, StagedFile)> {
        let mut summary = Summary { bytes_read: self.bytes_read, ..Summary::default() };
        for Grown { place, directory, table } in self.tables {
            let mut output = TableOutput { writer: &mut self.writer, directory, place: &place };
            let (table, lost) =
                table.finish(&mut output, self.compression).map_err(|e| e.object(place.path.clone()))?;
            summary.tables.push(table);
            self.lost.add(lost);
        }
        let problems = self.objects.finish(&mut self.writer)?;
        self.lost.add(problems.iter().map(ToString::to_string));
        summary.notes = self.told.notes;
        summary.add_lost(self.lost.notes);
        let staged = self.writer.stage()?;
        summary.bytes_written = staged.len();
        Ok((summary, staged))
    }
}
