//! A sample: the resources of a tree of processes at one moment.

use serde::{Deserialize, Serialize};

use crate::math::as_f64;

/// The state of a job at one moment: bytes, seconds, and counts since the beginning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
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
    /// What the monitor itself saw since the sample before, separated by `; `: `open FILE`, `close FILE`, `rename FILE > NEW`,
    /// `remove FILE` of outputs; `SIGTERM` and other signals to the job; `stopped`, `continued`; `exit CODE`. Mostly empty.
    pub seen: String,
}

impl Sample {
    /// Its fields as columns, in their order, with the letters of their leaves; none for text.
    pub(super) const COLUMNS: [(&str, Option<char>); 21] = [
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
        ("seen", None),
    ];

    /// Whether it has a mark of the job or of the monitor.
    pub fn is_marked(&self) -> bool {
        !self.mark.is_empty() || !self.seen.is_empty()
    }

    /// Sets a number by the name of its column. Records of other versions may have columns that there are not, or lack some.
    pub(crate) fn set_number(&mut self, column: &str, value: f64) {
        if let Some(field) = self.whole(column) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, at least zero")]
            let count = value.max(0.0) as u64;
            *field = count;
        } else if let Some(field) = self.real(column) {
            *field = value;
        }
    }

    /// The same of a whole number.
    pub(crate) fn set_whole(&mut self, column: &str, value: u64) {
        match self.whole(column) {
            Some(field) => *field = value,
            None => self.set_number(column, as_f64(value)),
        }
    }

    /// Sets a text by the name of its column: of a number what it says. False if it says no number.
    pub(crate) fn set_text(&mut self, column: &str, text: &str) -> bool {
        match column {
            "mark" => text.clone_into(&mut self.mark),
            "seen" => text.clone_into(&mut self.seen),
            "output_bytes" => {
                let sizes = text.split_whitespace().map(|size| size.parse().ok()).collect::<Option<_>>();
                let Some(sizes) = sizes else { return false };
                self.output_bytes = sizes;
            }
            _ => {
                if let Some(field) = self.whole(column) {
                    let Ok(count) = text.parse() else { return false };
                    *field = count;
                } else if let Some(field) = self.real(column) {
                    let Ok(number) = text.parse() else { return false };
                    *field = number;
                }
            }
        }
        true
    }

    fn whole(&mut self, column: &str) -> Option<&mut u64> {
        Some(match column {
            "events" => &mut self.events,
            "processes" => &mut self.processes,
            "threads" => &mut self.threads,
            "vsize" => &mut self.vsize,
            "rss" => &mut self.rss,
            "pss" => &mut self.pss,
            "peak_rss" => &mut self.peak_rss,
            "read" => &mut self.read,
            "written" => &mut self.written,
            "disk_read" => &mut self.disk_read,
            "disk_written" => &mut self.disk_written,
            "minor_faults" => &mut self.minor_faults,
            "major_faults" => &mut self.major_faults,
            "output" => &mut self.output,
            "outputs" => &mut self.outputs,
            _ => return None,
        })
    }

    fn real(&mut self, column: &str) -> Option<&mut f64> {
        Some(match column {
            "time" => &mut self.time,
            "user" => &mut self.user,
            "system" => &mut self.system,
            _ => return None,
        })
    }
}
