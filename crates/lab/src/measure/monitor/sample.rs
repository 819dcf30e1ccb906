//! A sample: the resources of a tree of processes at one moment.

use serde::Serialize;

/// The state of a job at one moment: bytes, seconds, and counts since the beginning.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the beginning.
    pub time: f64,
    /// `start`, `stop`, `finalize`, `end` or the job's own name for it; empty for a periodic sample.
    pub mark: String,
    /// Events that are done.
    pub events: u64,
    /// Processes that live.
    pub processes: u64,
    /// Their threads.
    pub threads: u64,
    /// Address space.
    pub vsize: u64,
    /// Resident memory; shared pages count for each process.
    pub rss: u64,
    /// Proportional memory: shared pages are divided among their processes. 0 unless requested.
    pub pss: u64,
    /// The maximum resident memory of any one process until now.
    pub peak_rss: u64,
    /// CPU in user mode.
    pub user: f64,
    /// CPU in the kernel.
    pub system: f64,
    /// Bytes read by system calls, from files, pipes and sockets.
    pub read: u64,
    /// Bytes written by system calls.
    pub written: u64,
    /// Bytes read from disk.
    pub disk_read: u64,
    /// Bytes written to disk.
    pub disk_written: u64,
    /// Page faults that needed no disk.
    pub minor_faults: u64,
    /// Those that did.
    pub major_faults: u64,
    /// Bytes of the outputs, all together.
    pub output: u64,
    /// How many outputs there are.
    pub outputs: u64,
    /// Bytes of each, in the order in which they were named and found.
    pub output_bytes: Vec<u64>,
}

impl Sample {
    /// Its fields as columns, in their order, with the letters of their leaves; none for text.
    pub(super) const COLUMNS: [(&str, Option<char>); 20] = [
        ("time", Some('D')),
        ("mark", None),
        ("events", Some('L')),
        ("processes", Some('L')),
        ("threads", Some('L')),
        ("vsize", Some('L')),
        ("rss", Some('L')),
        ("pss", Some('L')),
        ("peak_rss", Some('L')),
        ("user", Some('D')),
        ("system", Some('D')),
        ("read", Some('L')),
        ("written", Some('L')),
        ("disk_read", Some('L')),
        ("disk_written", Some('L')),
        ("minor_faults", Some('L')),
        ("major_faults", Some('L')),
        ("output", Some('L')),
        // The counter of the next column.
        ("outputs", Some('I')),
        ("output_bytes", Some('L')),
    ];
}
