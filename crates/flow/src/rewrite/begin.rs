//! Begins an output: the file, its directories, and the objects that are no tables. After it come the tables, each at its place.

use dataset::layout::defaults;
use rootfile::codec::Compression;
use rootfile::{FileWriter, Result};

use super::options::Options;
use super::output_table::{OutputPlace, TableOutput};
use super::prepared::{Prepared, default_setting};
use crate::commit::date::date;
use objects::{ObjectCompression, WrittenObjects, process_ids};

/// An output with everything but its tables.
pub(super) struct Output {
    pub writer: FileWriter,
    pub objects: WrittenObjects,
    /// The setting in its header, and the compression of metadata.
    pub setting: i32,
    pub compression: Compression,
}

/// Begins an output. `create` makes its file, given the compression setting, date and title.
pub(super) fn begin_output(
    prepared: &Prepared,
    options: &Options,
    create: impl FnOnce(i32, u32, &str) -> Result<FileWriter>,
) -> Result<Output> {
    let first = prepared.files.first();
    let requested = options.compression.metadata.or(prepared.layout.common.compression);
    let own = || first.map_or(defaults::COMPRESSION.to_root_setting(), |first| default_setting(first, &prepared.plans));
    let setting = requested.map_or_else(own, Compression::to_root_setting);
    let same = |n: &i32| Compression::from_root_setting(*n) == Compression::from_root_setting(setting);
    let setting = options.compression.header.filter(same).unwrap_or(setting);
    let title = first.map_or("", |first| &first.top().title);
    let mut writer = create(setting, date(Some(prepared.objects.newest)), title)?;
    if let Some(version) = prepared.version {
        writer.set_version(version);
    }
    // Objects come first: positions are small here, and their keys have no room for large ones.
    let compression = requested.map_or(ObjectCompression::Keep, ObjectCompression::As);
    let objects = prepared.objects.write_objects(&mut writer, &prepared.files, compression, &prepared.pid_offsets)?;
    process_ids::write(&mut writer, &prepared.pids)?;
    let compression = Compression::from_root_setting(setting).unwrap_or(Compression::NONE);
    Ok(Output { writer, objects, setting, compression })
}

impl Output {
    /// The file at the place of the next table, which gets the next cycle of its name.
    pub fn at<'a>(&'a mut self, place: &'a OutputPlace) -> TableOutput<'a> {
        let writer = &mut self.writer;
        let directory = self.objects.directories.get(place.directory).copied().unwrap_or(writer.top());
        if let Some(cycles) = self.objects.tree_cycles.get_mut(&(place.directory, place.name.clone()))
            && !cycles.is_empty()
        {
            writer.set_cycle(directory, &place.name, cycles.remove(0).saturating_sub(1));
        }
        if let Some(cycle) = place.cycle {
            writer.set_cycle(directory, &place.name, cycle.saturating_sub(1));
        }
        TableOutput { writer, directory, place }
    }
}
