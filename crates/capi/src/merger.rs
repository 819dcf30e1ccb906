//! Growing mergers: an output to which whole ROOT files in memory are added. `basketry_root.hpp` puts the interface of ROOT's
//! `TBufferMerger` on top; any other program that has ROOT files in memory may use it.

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;

use flow::gather::{GatherOptions, GatherPool, GrowingMerge, PartBuffer};
use flow::{Join, PlanOptions};
use rootfile::{Error as Failure, Owned, Result};

use crate::answer::{answer, handle, quietly, status};
use crate::error::Error;
use crate::foreign::{self, Text, give, items};
use crate::options::{Versioned, versioned, write_versioned};
use crate::settings::Settings;
use crate::version::{BASKETRY_FAILED, BASKETRY_OK, BASKETRY_WOULD_WAIT};

/// Memory of parts where none is asked for: 256 MB.
const MEMORY: u64 = 256_000_000;

/// The options of a merger. Set `size` to its sizeof, and all else to zero for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MergerOptions {
    /// The sizeof of this structure.
    pub size: usize,
    /// Settings by name, divided by commas or line ends. The keys of a layout (`compression`, `cluster`, `basket` and the others of
    /// docs/layouts.md) hold for all tables; what is not set stays as the parts have it, and their records move unchanged. Of the merger are
    /// `order` (arrival or tasks), `overwrite` (false or true), `auto-save` (bytes such as 100MB, or a number of entries), `join`
    /// (strict, common or fill: what becomes of parts whose columns differ), `threads` (those that compress or regroup; 1), and, where
    /// no pool is given, `memory` (that of the parts; 256MB).
    pub settings: Text,
    /// A layout in TOML, with rules for tables and columns. The settings go over it.
    pub layout: Text,
}

// SAFETY: the layout is C's, the size is first, and zeroes are a number and null pointers.
unsafe impl Versioned for MergerOptions {
    const NAME: &'static str = "options of the merger";
}

/// The memory that the parts of a pool's mergers take. Set `size` to its sizeof before the call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MergerUse {
    /// The sizeof of this structure.
    pub size: usize,
    /// Bytes that parts may take.
    pub limit: u64,
    /// Bytes of parts that are not in their outputs yet.
    pub parts: u64,
    /// Bytes of parts that are still being filled.
    pub outside: u64,
    /// The most bytes of both at any time.
    pub peak: u64,
    /// How often a thread had to wait.
    pub waits: u64,
}

// SAFETY: the layout is C's, the size is first, and zeroes are numbers.
unsafe impl Versioned for MergerUse {
    const NAME: &'static str = "use of the merger";
}

/// The memory of parts that several mergers share. Any thread may use it.
pub struct MergerPool(Arc<GatherPool>);

/// An output to which ROOT files in memory are added. It appears under its name when ::basketry_merger_finish has put all of it on disk, and
/// not at all if anything goes wrong before. Any thread may use it, several at once.
pub struct Merger(Owned<GrowingMerge>);

/// A ROOT file in memory, the library's: its owner writes and reads it like a file on disk, and adds it to a merger without a copy. Its memory
/// counts with that of parts. One thread uses it at a time.
pub struct Part(PartBuffer);

impl Merger {
    fn open(&self) -> Result<&GrowingMerge> {
        self.0.owner().check("the merger", "write a file of its own in each process, and merge them")?;
        self.0.get().ok_or_else(|| Failure::request("the merger is freed"))
    }

    fn begin(path: &Path, options: &MergerOptions, pool: Option<&MergerPool>) -> Result<Self> {
        let mut plan = PlanOptions::default();
        let settings = Settings::parse_with(options.settings, options.layout, &mut |key, value| {
            plan.schema = match (key, value) {
                ("join", "strict") => Join::Strict,
                ("join", "common") => Join::Common,
                ("join", "fill") => Join::Fill,
                _ => return false,
            };
            true
        })?;
        let pool = match pool {
            Some(_) if settings.memory.is_some() => {
                return Err(Failure::request("memory is the pool's: set it there, or give no pool"));
            }
            Some(pool) => Arc::clone(&pool.0),
            None => Arc::new(GatherPool::new(settings.memory.unwrap_or(MEMORY))),
        };
        let options = GatherOptions {
            layout: settings.layout,
            plan,
            order: settings.order,
            auto_save: settings.auto_save,
            overwrite: settings.overwrite,
            threads: settings.threads.unwrap_or(1),
            ..GatherOptions::default()
        };
        Ok(Self(Owned::new(GrowingMerge::begin(path, &options, pool)?)))
    }
}

/// Makes a pool of memory for the parts of several mergers. The caller frees it by ::basketry_merger_pool_free, at any time: mergers hold what
/// they need of it.
///
/// @param memory  Bytes that the parts of all its mergers may take; 0: 256 MB. A single part may be larger.
/// @return The pool, or null after an error. Allocates little.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_pool_new(
    memory: u64,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> Option<Box<MergerPool>> {
    handle(error, || Ok(MergerPool(Arc::new(GatherPool::new(if memory == 0 { MEMORY } else { memory })))))
}

/// Frees a pool. A null pointer is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_pool_free(pool: Option<Box<MergerPool>>) {
    quietly(|| drop(pool));
}

/// Begins an output. Its file, hidden beside the path, is made with the first part.
///
/// @param path     Its path.
/// @param options  May be null.
/// @param pool     The memory of parts that it shares with other mergers; null for its own, by the setting `memory`.
/// @param error    See ::basketry_error.
/// @return The merger, or null after an error. The caller frees it by ::basketry_merger_free.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_new(
    path: Text,
    options: *const MergerOptions,
    pool: Option<&MergerPool>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> Option<Box<Merger>> {
    handle(error, || {
        // SAFETY: the interface asks for null or a structure of the size that it says.
        let options = unsafe { versioned(options) }?;
        Merger::begin(&path.path("the path")?, &options, pool)
    })
}

/// Begins a part: an empty file in memory.
///
/// @return The part, or null after an error. The caller gives it to ::basketry_merger_add or frees it by ::basketry_part_free, also after
///         the merger is freed. Allocates little.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_part_new(
    merger: Option<&Merger>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> Option<Box<Part>> {
    handle(error, || Ok(Part(foreign::handle(merger, "the merger")?.open()?.buffer())))
}

/// Writes bytes at a position of a part, over what is there. Bytes between its end and the position become zeroes. Never waits: a part takes
/// what memory it needs, in steps of 1 MiB.
///
/// @return 0, or -1 for a null pointer, or where there is no memory.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_part_write(
    part: Option<&mut Part>,
    position: usize,
    bytes: *const c_void,
    count: usize,
) -> i32 {
    status(None, || {
        // SAFETY: the interface asks for so many bytes.
        let bytes = unsafe { items(bytes.cast::<u8>(), count, "the bytes") }?;
        part.ok_or_else(|| Failure::request("the part is a null pointer"))?.0.write_at(position, bytes);
        Ok(())
    })
}

/// Reads bytes from a position of a part on, as many as there are.
///
/// @return Their number.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_part_read(part: Option<&Part>, position: usize, into: *mut c_void, count: usize) -> usize {
    if into.is_null() || count == 0 {
        return 0;
    }
    // SAFETY: the interface asks for room for so many bytes.
    let into = unsafe { std::slice::from_raw_parts_mut(into.cast::<u8>(), count) };
    part.map_or(0, |part| part.0.read_at(position, into))
}

/// The size of a part in bytes; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_part_size(part: Option<&Part>) -> usize {
    part.map_or(0, |part| part.0.len())
}

/// Ends a part at a size, where it is longer.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_part_truncate(part: Option<&mut Part>, bytes: usize) {
    quietly(|| {
        if let Some(part) = part {
            part.0.truncate(bytes);
        }
    });
}

/// Frees a part that is not added. A null pointer is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_part_free(part: Option<Box<Part>>) {
    quietly(|| drop(part));
}

/// Adds a part, a whole ROOT file, which is the library's from here on, also after an error. Waits while parts that are not written yet fill the
/// memory. In the order of tasks the part of a later task that would wait in vain goes to a file beside the output, so that nobody waits
/// for ever.
///
/// @param task  The number of its task; 0 in the order of arrival. Parts of a task keep their order.
/// @return 0, or -1 after an error: then the output is given up. The error may be that of another part, which it names.
///
/// If nobody writes, the calling thread does: its part, and those that come meanwhile. Others return at once.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_add(
    merger: Option<&Merger>,
    task: u64,
    part: Option<Box<Part>>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let part = part.ok_or_else(|| Failure::request("the part is a null pointer"))?;
        foreign::handle(merger, "the merger")?.open()?.add(task, part.0)
    })
}

/// The same without waiting for memory.
///
/// @param part  The place with the part, which becomes a null pointer when it is added, and after an error.
/// @return 0; ::BASKETRY_WOULD_WAIT if there is no room now: the part stays the caller's; -1 after an error.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_try_add(
    merger: Option<&Merger>,
    task: u64,
    part: Option<&mut Option<Box<Part>>>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    let added = answer(error, || {
        let place = part.ok_or_else(|| Failure::request("the place of the part is a null pointer"))?;
        let part = place.take().ok_or_else(|| Failure::request("the part is a null pointer"))?;
        let back = foreign::handle(merger, "the merger")?.open()?.try_add(task, part.0)?;
        let added = back.is_none();
        *place = back.map(|part| Box::new(Part(part)));
        Ok(added)
    });
    match added {
        None => BASKETRY_FAILED,
        Some(false) => BASKETRY_WOULD_WAIT,
        Some(true) => BASKETRY_OK,
    }
}

/// Ends a task, all of whose parts were added. Says nothing in the order of arrival.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_end_task(
    merger: Option<&Merger>,
    task: u64,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || foreign::handle(merger, "the merger")?.open()?.end_task(task))
}

/// Writes how the memory of the merger's pool is used.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_memory(
    merger: Option<&Merger>,
    place: *mut MergerUse,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let pool = foreign::handle(merger, "the merger")?.open()?.pool();
        let used = pool.in_use();
        let (limit, parts, outside) = (pool.limit(), used.parts, used.outside);
        let made = MergerUse { size: 0, limit, parts, outside, peak: used.peak, waits: used.waits };
        // SAFETY: the interface asks for a structure of the size that it says.
        unsafe { write_versioned(place, &made) }
    })
}

/// Ends the output: writes what waits, the sums of histograms and the metadata. Waits until it is on disk. Tasks that were not ended give what
/// they have. Parts that could not move into the output as they came (other columns, indices, clusters of a number of entries, another
/// container) are merged here, from the file beside the output where they wait.
///
/// @param report  Gets the report as JSON, as that of `basketry merge`, which the caller frees by ::basketry_text_free; may be null.
/// @return 0, or -1 after an error: then there is no output.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_finish(
    merger: Option<&Merger>,
    report: Option<&mut MaybeUninit<*mut c_char>>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let summary = foreign::handle(merger, "the merger")?.open()?.close()?;
        if let Some(report) = report {
            report.write(give(&serde_json::to_string(&summary).unwrap_or_default()));
        }
        Ok(())
    })
}

/// Gives the output up: it will not appear, and nothing is left of it. Threads that wait end with an error.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_abandon(merger: Option<&Merger>) {
    quietly(|| {
        if let Some(Ok(merger)) = merger.map(Merger::open) {
            merger.abort();
        }
    });
}

/// Frees a merger. One that is not finished is given up. A null pointer is ignored. In a process that was forked after the merger was made
/// nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_merger_free(merger: Option<Box<Merger>>) {
    quietly(|| {
        if let Some(Ok(open)) = merger.as_ref().map(|merger| merger.open()) {
            open.abort();
        }
        drop(merger);
    });
}
