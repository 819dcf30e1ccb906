//! Records with known figures, in each form.

use std::path::Path;

use super::*;
use crate::monitor::{Job, OutputFile, Sample};

/// Ten seconds: 100 MB and one busy core, then 300 MB and half a core from the mark `stop` on.
fn samples(more: u64) -> Vec<Sample> {
    let at = |tenth: u32| {
        let time = f64::from(tenth) / 10.0;
        let late = (time - 5.0).max(0.0);
        let wave = u64::from(tenth % 4) * 1000;
        Sample {
            time,
            mark: match tenth {
                50 => "stop".to_owned(),
                100 => "end".to_owned(),
                _ => String::new(),
            },
            seen: if tenth == 20 { "open /x/out.root".to_owned() } else { String::new() },
            processes: u64::from(tenth < 100),
            threads: 2,
            rss: if tenth > 50 { 300_000_000 + more } else { 100_000_000 } + wave,
            vsize: 1_000_000_000,
            user: time - late / 2.0,
            written: u64::from(tenth) * 1000,
            output: u64::from(tenth.saturating_sub(20)) * 10,
            outputs: 1,
            output_bytes: vec![u64::from(tenth.saturating_sub(20)) * 10],
            ..Sample::default()
        }
    };
    (0..=100).map(at).collect()
}

fn write(path: &Path, samples: &[Sample]) {
    let mut to = Rewriter::create(path, false, &[]).unwrap();
    samples.iter().for_each(|sample| to.add(sample).unwrap());
    let job = Job { command: "a job".to_owned(), exit_code: 3, every: 0.1, ..Job::default() };
    let file = OutputFile { path: "/x/out.root".to_owned(), bytes: 800, opened: Some(2.0), ..OutputFile::default() };
    to.finish(&job, &[file]).unwrap();
}

#[test]
fn each_form_has_the_same_figures() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["a.root", "a.csv", "a.jsonl", "a.parquet"] {
        write(&path(name), &samples(0));
        let shown = show(&path(name)).unwrap();
        assert!(shown.finished && shown.notes.is_empty(), "{name}: {:?}", shown.notes);
        assert_eq!((shown.samples, shown.job.is_some()), (101, name == "a.root"), "{name}");
        assert!((shown.whole.wall - 10.0).abs() < 1e-9 && (shown.whole.user - 7.5).abs() < 1e-9, "{:?}", shown.whole);
        let [early, late] = shown.phases.as_slice() else { panic!("{name}: {:?}", shown.phases) };
        assert_eq!((early.name.as_str(), late.name.as_str()), ("begin .. stop", "stop .. end"));
        assert!((early.rss.mean - 100_001_500.0).abs() < 1000.0, "{early:?}");
        assert!((early.cores.mean - 1.0).abs() < 1e-6 && (late.cores.mean - 0.5).abs() < 1e-6);
        assert_eq!((late.rss_peak, late.written, late.output), (300_003_000, 50_000, 500));
        let moments: Vec<_> = shown.moments.iter().map(|m| (m.mark.as_str(), m.seen.as_str())).collect();
        assert_eq!(moments, [("", "open /x/out.root"), ("stop", ""), ("end", "")]);
    }
    let shown = show(&path("a.root")).unwrap();
    assert_eq!((shown.job.unwrap().exit_code, shown.files[0].opened, shown.files[0].closed), (3, Some(2.0), None));
}

#[test]
fn the_record_of_a_killed_monitor_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let all = samples(0);
    // What was saved under the name, and the journal with more, of which the last line is half there.
    write(&path("a.root"), &all[..50]);
    write(&path("whole.csv"), &all[..80]);
    let mut text = std::fs::read_to_string(path("whole.csv")).unwrap();
    text.push_str("8.0,,0,1,2,3");
    std::fs::write(path("a.root.partial.csv"), &text).unwrap();
    let shown = show(&path("a.root")).unwrap();
    assert_eq!((shown.samples, shown.finished), (80, false));
    assert!(shown.job.is_some() && shown.notes.iter().any(|note| note.contains("killed")), "{:?}", shown.notes);
    assert_eq!(save(&path("a.root"), &path("b.root"), false).unwrap(), 80);
    assert_eq!(show(&path("b.root")).unwrap().samples, 80);
    // A whole record is its own, whatever lies beside it.
    for name in ["c.root", "c.parquet"] {
        write(&path(name), &all);
        std::fs::copy(path("a.root.partial.csv"), path(&format!("{name}.partial.csv"))).unwrap();
        let shown = show(&path(name)).unwrap();
        assert_eq!((shown.samples, shown.finished), (101, true), "{name}");
    }
    // An input is no output, nor is its journal.
    assert!(save(&path("a.root"), &path("a.root"), true).is_err());
    assert!(save(&path("a.root"), &path("a.root.partial.csv"), true).is_err());
    // The journal alone will do.
    std::fs::remove_file(path("a.root")).unwrap();
    assert_eq!(show(&path("a.root")).unwrap().samples, 80);
    assert_eq!(show(&path("a.root.partial.csv")).unwrap().samples, 80);
    assert!(show(&path("none.root")).is_err());
    std::fs::write(path("other.json"), "{}").unwrap();
    assert!(show(&path("other.json")).unwrap_err().to_string().contains("no record"));
}

#[test]
fn differences_are_told_from_noise() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, more) in [("a.csv", 0), ("b.csv", 50_000_000), ("c.csv", 0), ("d.csv", 51_000_000)] {
        write(&path(name), &samples(more));
    }
    let found = |report: &Report, phase: &str, figure: &str| {
        report.comparison.iter().find(|d| d.phase == phase && d.figure == figure).unwrap().verdict
    };
    let two = report(&[path("a.csv")], &[path("b.csv")]).unwrap();
    assert_eq!(found(&two, "stop .. end", "mean RSS"), Verdict::More);
    assert_eq!(found(&two, "begin .. stop", "mean RSS"), Verdict::Same);
    assert_eq!(found(&two, "all", "wall"), Verdict::Same, "equal");
    assert_eq!(found(&two, "all", "peak RSS"), Verdict::Unknown, "one record of each side");
    let four = report(&[path("a.csv"), path("c.csv")], &[path("b.csv"), path("d.csv")]).unwrap();
    assert_eq!(found(&four, "all", "peak RSS"), Verdict::More);
    let back = report(&[path("b.csv"), path("d.csv")], &[path("a.csv"), path("c.csv")]).unwrap();
    assert_eq!(found(&back, "all", "peak RSS"), Verdict::Less);
    let drawn = page(&two).unwrap();
    assert!(drawn.contains("markLine") && drawn.contains("open out.root") && drawn.contains("b.csv"));
}

#[test]
fn a_long_record_keeps_a_short_curve_and_exact_figures() {
    let mut digest = Digest::default();
    for number in 0..50_000_u32 {
        let rss = if number == 33_333 { 9_000_000 } else { 1_000_000 };
        digest.add(&Sample { time: f64::from(number), processes: 1, rss, ..Sample::default() });
    }
    let shown = Shown::new(Path::new("x"), Head::default(), digest.end());
    assert_eq!((shown.samples, shown.whole.rss_peak, shown.whole.wall), (50_000, 9_000_000, 49_999.0));
    assert!((shown.whole.rss.mean - 1_000_160.0).abs() < 1.0, "{:?}", shown.whole.rss);
    assert!(shown.curve.points.len() <= 4001 && shown.curve.points.iter().any(|s| s.rss == 9_000_000));
}
