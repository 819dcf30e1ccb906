//! The bottleneck of a reading: storage, decompression, decoding or the user's own job. The rules are those of
//! root-readspeed's documentation, applied to stages that are timed separately.

use std::path::Path;

use rootfile::public_path;
use serde::Serialize;

use super::network::Network;
use super::throttle::Throttle;
use crate::cost::clusters;
use crate::math::as_f64;
use crate::system::shell::{output, pasted, pasted_pattern, pasted_tree};

/// The bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// The user's own job takes much longer than reading.
    Application,
    /// Threads wait for bytes.
    Storage,
    /// Threads wait for the first bytes of replies from another machine.
    NetworkLatency,
    /// Threads wait while bytes come from another machine.
    NetworkBandwidth,
    /// There are fewer units of work than threads.
    TooFewClusters,
    /// Threads are busy decompressing.
    Decompression,
    /// Threads are busy turning bytes into columns.
    Decoding,
}

/// The measurements that decide the bottleneck. Seconds and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stages {
    pub real: f64,
    pub cpu: f64,
    pub fetch: f64,
    pub decompress: f64,
    pub decode: f64,
    pub threads: f64,
    /// Requested threads.
    pub requested: f64,
    /// Number of processors; 0 if it is not known.
    pub cores: f64,
    /// Clusters that hold some of the read entries.
    pub clusters: f64,
    /// Baskets: the units of work of threads.
    pub baskets: f64,
    pub application: Option<f64>,
    /// Share of the files that was not in the page cache, if the files were dropped from it.
    pub cold: Option<f64>,
    /// Simulated slow storage.
    pub throttle: Option<Throttle>,
    /// What went over the network, if something did.
    pub network: Option<Network>,
    pub compressed: f64,
    pub uncompressed: f64,
}

/// The column whose decoding takes longest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dearest<'a> {
    pub name: &'a str,
    /// Seconds.
    pub decode: f64,
    /// Whether it holds objects with members that could have branches of their own.
    pub can_be_split: bool,
}

/// An application is the bottleneck if it takes this many times the time of reading.
const MUCH_LONGER: f64 = 1.5;
/// Threads wait if they are busy for less than this share of the time.
const BUSY: f64 = 0.75;
/// Most columns that a command names.
const MOST_KEPT: usize = 8;

impl Stages {
    /// Threads that can run side by side.
    fn side_by_side(&self) -> f64 {
        if self.cores > 0.0 { self.threads.min(self.cores) } else { self.threads }
    }

    /// Share of the time that processors were at work.
    fn busy(&self) -> f64 {
        self.cpu / (self.real * self.side_by_side()).max(1e-9)
    }

    /// Share of the threads' time in which they had work. Stages are timed by the clock, so a thread that waits for a
    /// processor counts as occupied. This distinguishes a lack of work from a processor that other programs use.
    fn occupied(&self) -> f64 {
        (self.fetch + self.decompress + self.decode) / (self.real * self.threads).max(1e-9)
    }

    /// The gain of more threads on the available processors.
    fn more_threads(&self) -> String {
        let most = if self.cores > 0.0 { self.cores } else { 2.0 * self.threads };
        let more = (2.0 * self.threads).min(most);
        if more <= self.threads {
            return match self.cores {
                1.0 => "the one processor is in use: more threads will not help".to_owned(),
                cores => format!("all {cores:.0} processors are in use: more threads will not help"),
            };
        }
        let ideal = (self.fetch + self.decompress + self.decode) / more;
        format!("more threads help as well: -j {more:.0} could take {}", time(ideal))
    }

    /// A stage's share of all threads' time in stages.
    fn share(&self, stage: f64) -> f64 {
        stage / (self.fetch + self.decompress + self.decode).max(1e-9)
    }
}

pub(super) fn verdict(s: &Stages) -> Bottleneck {
    if s.application.is_some_and(|seconds| seconds > s.real * MUCH_LONGER) {
        return Bottleneck::Application;
    }
    let waits = s.busy() < BUSY;
    // Time in fetching is waiting, except for the kernel's copy.
    if (waits && s.fetch > s.decompress.max(s.decode)) || s.fetch > s.decompress + s.decode {
        return match s.network {
            Some(network) if network.latency > network.transfer => Bottleneck::NetworkLatency,
            Some(_) => Bottleneck::NetworkBandwidth,
            None => Bottleneck::Storage,
        };
    }
    let few = s.clusters < s.threads || s.baskets < 2.0 * s.threads;
    if waits && few && s.threads > 1.0 && s.occupied() < BUSY {
        return Bottleneck::TooFewClusters;
    }
    if s.decompress >= s.decode { Bottleneck::Decompression } else { Bottleneck::Decoding }
}

impl Bottleneck {
    /// Its meaning, and what to do, with figures.
    pub(super) fn advice(self, s: &Stages, dearest: Option<Dearest<'_>>) -> String {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let rate = |bytes: f64, seconds: f64| format!("{:.0} MB/s", bytes / 1e6 / seconds.max(1e-9));
        let more = s.more_threads();
        match self {
            Self::Application => {
                let job = s.application.unwrap_or(0.0);
                format!(
                    "the application is the bottleneck: it takes {}, reading {} ({}); make its logic faster or run it on \
                     more threads: no layout of the file can save more than that",
                    time(job),
                    time(s.real),
                    percent(s.real / job.max(1e-9)),
                )
            }
            Self::Storage => format!(
                "raw I/O is the bottleneck: threads spent {} of their time fetching, {} came in; bring the columns and \
                 entries that are needed near, or compress harder, now {:.2} to 1; more threads will not help{}",
                percent(s.share(s.fetch)),
                rate(s.compressed, s.real),
                s.uncompressed / s.compressed.max(1.0),
                if s.threads > 1.0 { ", and fewer may be faster on spinning disks" } else { "" },
            ),
            Self::NetworkLatency | Self::NetworkBandwidth => {
                let network = s.network.unwrap_or_default();
                let (what, way_out) = match self {
                    Self::NetworkLatency => (
                        "latency",
                        "larger clusters, fewer columns and entries, or a cache near by need fewer of them; more memory \
                         lets more of them wait side by side",
                    ),
                    _ => ("bandwidth", "read fewer columns and entries, compress harder, or bring the files near"),
                };
                format!(
                    "the network's {what} is the bottleneck: {} requests for {} MB waited {} for their first bytes and {} \
                     for the others, added up; {way_out}",
                    network.requests,
                    // Rounded up, so that few bytes are not none.
                    network.bytes.div_ceil(1_000_000),
                    time(network.latency),
                    time(network.transfer),
                )
            }
            Self::TooFewClusters => format!(
                "there are too few clusters for the threads: {} for {:.0}, which were busy {} of the time; rewrite with \
                 smaller ones, or use no more threads than there are clusters",
                s.clusters,
                s.threads,
                percent(s.busy()),
            ),
            Self::Decompression => format!(
                "decompression is the bottleneck: {} of threads' time, {} for each thread; a faster codec will help \
                 (--layouts says what each would give); {more}",
                percent(s.share(s.decompress)),
                rate(s.uncompressed, s.decompress),
            ),
            Self::Decoding => {
                let column = dearest.map_or_else(String::new, |column| {
                    format!(", {} of that in {}", percent(column.decode / s.decode.max(1e-9)), column.name)
                });
                let split = match dearest {
                    Some(column) if column.can_be_split => {
                        format!("; {} is not split: branches of its members decode faster", column.name)
                    }
                    _ => String::new(),
                };
                format!(
                    "decoding is the bottleneck: {} of threads' time, {} for each thread{column}{split}; read fewer \
                     columns or entries; {more}",
                    percent(s.share(s.decode)),
                    rate(s.uncompressed, s.decode),
                )
            }
        }
    }
}

/// The data read, as commands name them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    /// The first file.
    pub file: &'a Path,
    /// Path of the tree.
    pub tree: &'a str,
    /// The columns, where not all were read.
    pub columns: &'a [String],
}

impl Bottleneck {
    /// The commands that follow the advice.
    pub(super) fn commands(self, s: &Stages, subject: &Subject<'_>, dearest: Option<Dearest<'_>>) -> Vec<String> {
        let file = public_path(subject.file);
        let file = file.to_string_lossy();
        let of_tree = pasted_tree(&file, subject.tree);
        let rewrite = |word: &str, options: String| {
            format!("basketry rewrite {} -o {}{options}", pasted(&file), pasted(&output(&file, word)))
        };
        let of = |key: &str, value: String| format!(" --tree-set {} {key}={value}", pasted_pattern(subject.tree));
        match self {
            Self::Application => Vec::new(),
            // What is read is brought near.
            Self::Storage | Self::NetworkLatency | Self::NetworkBandwidth
                if (1..=MOST_KEPT).contains(&subject.columns.len()) =>
            {
                let keep = subject.columns.iter().map(|column| format!(" --keep {}", pasted_pattern(column))).collect();
                vec![rewrite("kept", keep), format!("basketry tune {of_tree}")]
            }
            Self::NetworkLatency | Self::NetworkBandwidth => Vec::new(),
            Self::Storage => vec![format!("basketry tune {of_tree}")],
            Self::TooFewClusters => {
                let megabytes = clusters::for_threads(s.compressed, s.threads) / 1e6;
                vec![rewrite("clusters", of("cluster", format!("{megabytes:.0}MB")))]
            }
            Self::Decompression => {
                let layouts = "--layouts";
                vec![format!("basketry readspeed {of_tree} {layouts}"), format!("basketry tune {of_tree}")]
            }
            Self::Decoding => match dearest {
                Some(column) if column.can_be_split => vec![rewrite("split", of("split-level", "99".to_owned()))],
                _ => Vec::new(),
            },
        }
    }
}

/// Notes beside the bottleneck.
pub(super) fn notes(s: &Stages, bottleneck: Bottleneck) -> Vec<String> {
    let mut notes = Vec::new();
    if s.threads > 1.0 && s.clusters < s.threads && bottleneck != Bottleneck::TooFewClusters {
        notes.push(format!(
            "too few clusters for the threads: {} for {:.0}; programs that deal out clusters, as ROOT does, keep no more \
             than {} threads busy",
            s.clusters, s.threads, s.clusters
        ));
    }
    if s.requested > s.threads {
        notes.push(format!(
            "{:.0} threads were requested; {:.0} were used, because there are no more processors",
            s.requested, s.threads
        ));
    }
    let waited = s.real * s.side_by_side() - s.cpu;
    let unexplained = s.busy() < BUSY && waited > s.fetch;
    if unexplained && !matches!(bottleneck, Bottleneck::Storage | Bottleneck::TooFewClusters) {
        notes.push(format!(
            "threads had a processor for {:.0} % of the time, and did not wait for bytes: other programs ran",
            100.0 * s.busy()
        ));
    }
    if let Some(rate) = s.throttle.and_then(|throttle| throttle.bytes_a_second) {
        notes.push(format!("the rate was limited to {:.1} MB/s (--throttle)", as_f64(rate.get()) / 1e6));
    }
    if let Some(latency) = s.throttle.map(|throttle| throttle.latency).filter(|latency| !latency.is_zero()) {
        notes.push(format!("each request waited {} for its first byte (--throttle)", time(latency.as_secs_f64())));
    }
    match s.cold {
        // With a throttle the page cache makes no difference.
        None if s.throttle.is_some() || s.network.is_some() => {}
        None => notes.push("files may have come from the page cache: --cold measures the storage as well".to_owned()),
        Some(cold) if cold < 0.9 => notes.push(format!(
            "only {:.0} % of the files' bytes could be dropped from the page cache: storage may be slower than this",
            100.0 * cold
        )),
        Some(_) => {}
    }
    notes
}

/// Seconds for people.
fn time(seconds: f64) -> String {
    if seconds < 0.9995 { format!("{:.0} ms", 1e3 * seconds) } else { format!("{seconds:.2} s") }
}

/// Measurements with their known bottleneck, for `readspeed --test`.
pub(super) fn planted() -> [(&'static str, Stages, Bottleneck); 13] {
    let busy = Stages {
        real: 1.0,
        cpu: 2.0,
        fetch: 0.1,
        decompress: 1.5,
        decode: 0.4,
        threads: 2.0,
        requested: 2.0,
        cores: 8.0,
        clusters: 99.0,
        baskets: 999.0,
        application: None,
        cold: Some(1.0),
        throttle: None,
        network: None,
        compressed: 1e8,
        uncompressed: 2e8,
    };
    let network = |latency, transfer| Some(Network { requests: 9, bytes: 100_000_000, latency, transfer });
    let idle = Stages { cpu: 1.0, decompress: 0.6, decode: 0.3, ..busy };
    [
        ("busy decompressing", busy, Bottleneck::Decompression),
        ("busy decoding", Stages { decode: 1.6, ..busy }, Bottleneck::Decoding),
        ("a job that takes little longer", Stages { application: Some(1.4), ..busy }, Bottleneck::Decompression),
        ("a job that takes much longer", Stages { application: Some(9.0), ..busy }, Bottleneck::Application),
        ("waiting for bytes", Stages { fetch: 1.8, decompress: 0.2, ..idle }, Bottleneck::Storage),
        (
            "waiting for replies",
            Stages { fetch: 1.8, decompress: 0.2, network: network(1.5, 0.3), ..idle },
            Bottleneck::NetworkLatency,
        ),
        (
            "waiting for a slow line",
            Stages { fetch: 1.8, decompress: 0.2, network: network(0.1, 1.7), ..idle },
            Bottleneck::NetworkBandwidth,
        ),
        ("copying bytes", Stages { fetch: 1.2, decompress: 0.2, ..busy }, Bottleneck::Storage),
        ("idle, with few clusters", Stages { clusters: 1.0, ..idle }, Bottleneck::TooFewClusters),
        ("idle, with few baskets", Stages { baskets: 3.0, ..idle }, Bottleneck::TooFewClusters),
        (
            "few clusters, beside other programs",
            Stages { clusters: 1.0, decompress: 1.3, decode: 0.5, ..idle },
            Bottleneck::Decompression,
        ),
        (
            "one thread, one cluster",
            Stages { threads: 1.0, clusters: 1.0, cpu: 0.5, ..busy },
            Bottleneck::Decompression,
        ),
        ("more threads than processors", Stages { requested: 9.0, cores: 2.0, ..busy }, Bottleneck::Decompression),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        for (what, stages, expected) in planted() {
            assert_eq!(verdict(&stages), expected, "{what}: {stages:?}");
        }
    }

    #[test]
    fn advice_has_figures() {
        let said = |what: &str| {
            let (_, stages, bottleneck) = planted().into_iter().find(|(name, ..)| *name == what).unwrap();
            let dearest = Dearest { name: "x", decode: 0.8, can_be_split: false };
            (bottleneck.advice(&stages, Some(dearest)), notes(&stages, bottleneck))
        };
        let (advice, notes) = said("busy decompressing");
        assert!(
            advice.contains("75 % of threads' time, 133 MB/s") && advice.contains("-j 4 could take 500 ms"),
            "{advice}"
        );
        assert_eq!(notes, [""; 0]);
        assert!(said("busy decoding").0.contains("50 % of that in x"), "{}", said("busy decoding").0);
        assert!(said("a job that takes much longer").0.contains("it takes 9.00 s, reading 1.00 s (11 %)"));
        assert!(said("waiting for bytes").0.contains("100 MB/s came in"), "{}", said("waiting for bytes").0);
        let (advice, notes) = said("idle, with few clusters");
        assert!(advice.contains("1 for 2, which were busy 50 %"), "{advice}");
        assert_eq!(notes, [""; 0]);
        let (advice, notes) = said("more threads than processors");
        assert_eq!(notes, ["9 threads were requested; 2 were used, because there are no more processors"]);
        assert!(advice.contains("all 2 processors are in use") && !advice.contains("-j"), "{advice}");
    }

    #[test]
    fn commands_name_what_was_read() {
        let columns = ["Muon_pt".to_owned(), "x[3]".to_owned()];
        let subject = Subject { file: Path::new("a dir/f.root"), tree: "d/T", columns: &columns };
        let said = |what: &str| {
            let (_, stages, bottleneck) = planted().into_iter().find(|(name, ..)| *name == what).unwrap();
            bottleneck.commands(&stages, &subject, Some(Dearest { name: "x", decode: 0.8, can_be_split: true }))
        };
        let rewrite = "basketry rewrite 'a dir/f.root' -o f";
        assert_eq!(
            said("waiting for bytes"),
            [
                format!("{rewrite}.kept.root --keep Muon_pt --keep 'x[3]'"),
                "basketry tune 'a dir/f.root:d/T'".to_owned()
            ]
        );
        assert_eq!(said("idle, with few clusters"), [format!("{rewrite}.clusters.root --tree-set d/T cluster=12MB")]);
        assert_eq!(said("busy decoding"), [format!("{rewrite}.split.root --tree-set d/T split-level=99")]);
        assert_eq!(said("busy decompressing")[0], "basketry readspeed 'a dir/f.root:d/T' --layouts");
        assert_eq!(said("a job that takes much longer"), [""; 0]);
    }

    #[test]
    fn threads_are_advised_up_to_the_processors_that_there_are() {
        let (_, busy, bottleneck) = planted()[0];
        let advice = |threads: f64, cores: f64| bottleneck.advice(&Stages { threads, cores, ..busy }, None);
        assert!(advice(2.0, 3.0).contains("-j 3 "), "{}", advice(2.0, 3.0));
        assert!(advice(1.0, 1.0).contains("the one processor"), "{}", advice(1.0, 1.0));
        assert!(!advice(2.0, 2.0).contains("-j"), "{}", advice(2.0, 2.0));
    }

    #[test]
    fn only_what_can_be_split_is_said_to_be_not_split() {
        let (_, stages, bottleneck) = planted()[1];
        let advice = |can_be_split| bottleneck.advice(&stages, Some(Dearest { name: "x", decode: 0.8, can_be_split }));
        assert!(advice(true).contains("x is not split"));
        assert!(!advice(false).contains("split"), "{}", advice(false));
    }

    #[test]
    fn few_clusters_are_named_whatever_the_bottleneck_is() {
        let (_, busy, bottleneck) = planted()[0];
        let stages = Stages { clusters: 1.0, cold: None, ..busy };
        let notes = notes(&stages, bottleneck);
        assert!(notes[0].starts_with("too few clusters for the threads: 1 for 2"), "{notes:?}");
        assert!(notes[1].contains("--cold"), "{notes:?}");
    }

    #[test]
    fn storage_that_was_made_slow_is_not_taken_for_the_machines() {
        let (_, busy, bottleneck) = planted()[0];
        let stages = Stages { cold: None, throttle: Some("25MB/s".parse().unwrap()), ..busy };
        assert_eq!(notes(&stages, bottleneck), ["the rate was limited to 25.0 MB/s (--throttle)"]);
    }
}
