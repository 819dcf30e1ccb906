//! Whole sweeps on a runner with planted costs and noise.

use std::path::Path;

use super::findings::Findings;
use super::grid::Grid;
use super::input::SweepInput;
use super::journal::Head;
use super::mock::Mock;
use super::plan::Kind;
use super::point::Point;
use super::question::{Goal, Question};
use super::run::{Event, findings};
use super::session::Sweep;
use super::settings::Settings;
use super::show;
use crate::math::statistics::Slope;

const ENTRIES: u64 = 1000;

pub(super) fn points(axes: &[&str]) -> Vec<Point> {
    let mut grid = Grid::default();
    axes.iter().for_each(|axis| grid.add(axis).unwrap());
    grid.points().unwrap()
}

pub(super) fn subject(folder: &Path) -> SweepInput {
    let input = folder.join("in.root");
    std::fs::write(&input, "data").unwrap();
    SweepInput {
        input,
        tree: "Events".to_owned(),
        others: true,
        bytes: 4,
        entries: ENTRIES,
        all_entries: ENTRIES,
        columns: 2,
    }
}

fn head(folder: &Path, axes: &[&str], settings: Settings, runner: &Mock) -> Head {
    Head::new(subject(folder), points(axes), settings, runner).unwrap()
}

/// What a sweep over these axes finds, on planted costs.
pub(crate) fn sweep(axes: &[&str], settings: Settings, noise: f64) -> (Findings, Mock) {
    let folder = tempfile::tempdir().unwrap();
    let mut mock = Mock { noise, ..Mock::default() };
    let head = head(folder.path(), axes, settings, &mock);
    let found = Sweep::new(&folder.path().join("out"), head, &mut mock).unwrap().run(false, &mut |_| ()).unwrap();
    (found, mock)
}

fn settings(goal: Goal) -> Settings {
    Settings { question: Question { goal, ..Question::default() }, ..Settings::default() }
}

fn chosen(found: &Findings) -> String {
    found.head.points[found.decision.chosen.unwrap()].to_string()
}

fn figure(found: &Findings, point: &str, name: &str) -> f64 {
    let line = found.lines.iter().find(|line| line.point.to_string() == point).unwrap();
    line.figures[name].median
}

fn near(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-9
}

const AXES: [&str; 2] = ["split-level=0,99", "compression=none,zlib:1,zlib:5"];

#[test]
fn the_planted_optimum_is_found() {
    for (goal, best) in [
        (Goal::Full, "split-level=99 compression=zlib:5"),
        (Goal::Sparse, "split-level=99 compression=zlib:5"),
        (Goal::Copy, "split-level=0 compression=none"),
        // Both splits are as large; this one is read in half the time.
        (Goal::Size, "split-level=99 compression=zlib:5"),
    ] {
        let (found, _) = sweep(&AXES, settings(goal), 0.02);
        assert_eq!(chosen(&found), best, "{goal:?}");
        assert!(found.decision.layout.as_deref().is_some_and(|text| text.contains("split-level")));
    }
}

#[test]
fn figures_are_the_planted_ones_and_so_is_the_noise() {
    let (found, _) = sweep(&AXES, settings(Goal::Full), 0.02);
    assert_eq!(found.lines.len(), 6);
    let none = "split-level=0 compression=none";
    for (name, planted) in [
        ("copy_wall", 1.5),
        ("copy_cpu", 1.5),
        ("copy_event", 1.5),
        ("copy_rss", 119e6),
        ("copy_vsize_record", 419e6),
        ("size", 1e6),
        ("baskets", 100.0),
        ("full_cpu", 4.0),
        ("full_event", 4.0),
        ("sparse_event", 0.4),
        ("sparse_first", 250.0),
    ] {
        assert!(near(figure(&found, none, name), planted), "{name}: {}", figure(&found, none, name));
    }
    for (name, noise) in [("copy_cpu", 0.02), ("full_wall", 0.02), ("size", 0.0), ("copy_rss", 0.0)] {
        let found = found.noise[name];
        // The median of absolute deviations is the planted noise; as a standard deviation it is 1.4826 times that.
        assert!((found - 1.482_602_218_505_602 * noise).abs() < 1e-9, "{name}: {found}");
    }
    let line = &found.lines[0];
    assert_eq!(line.columns.len(), 2);
    assert!(near(line.columns[1].1, 3.0), "{:?}", line.columns);
}

#[test]
fn only_differences_beyond_the_noise_are_marked() {
    let (found, _) = sweep(&["compression=none,zlib:1", "basket=as-is,1kB"], settings(Goal::Full), 0.01);
    let against = |point: usize, name: &str| found.lines[point].against[name];
    // Another buffer does not make copying slower, another codec does.
    assert_eq!(found.head.points[1].to_string(), "compression=none basket=1kB");
    assert!(!against(1, "copy_cpu").differs && against(1, "copy_rss").differs);
    assert!(against(2, "copy_cpu").differs && against(2, "copy_cpu").chance < 0.01);
    assert!(near(against(2, "full_cpu").times, 1.9 / 2.0));
    // Under noise that is larger than the difference, it is not.
    let (noisy, _) = sweep(&["compression=none,zlib:1"], settings(Goal::Full), 0.2);
    assert!(!noisy.lines[1].against["full_cpu"].differs);
    assert_eq!((noisy.decision.chosen, &noisy.decision.equals[..]), (Some(0), &[1][..]), "today's stays");
    assert!(noisy.decision.reasons[0].contains("better than compression=none beyond the noise"));
}

#[test]
fn one_run_shows_no_differences() {
    let (found, _) = sweep(&AXES, Settings { repeat: 1, ..settings(Goal::Full) }, 0.02);
    assert_eq!(chosen(&found), "split-level=99 compression=zlib:5");
    assert!(found.noise.is_empty() && found.decision.equals.is_empty());
    assert!(found.lines.iter().all(|line| line.against.values().all(|against| !against.differs)));
    assert!(found.decision.reasons[0].contains("--repeat"), "{:?}", found.decision.reasons);
}

#[test]
fn the_statistical_test_is_named() {
    let said = |repeat: usize, axes: &[&str]| {
        let (found, _) = sweep(axes, Settings { repeat, ..settings(Goal::Full) }, 0.01);
        let tests: std::collections::BTreeSet<String> =
            found.lines.iter().flat_map(|line| line.against.values()).map(|a| format!("{:?}", a.test)).collect();
        let differs = found.lines.iter().any(|line| line.against.values().any(|against| against.differs));
        (show::markdown(&found), tests.into_iter().collect::<Vec<_>>(), differs)
    };
    let (five, tests, differs) = said(5, &AXES);
    assert!(five.contains("rank test of Mann, Whitney and Wilcoxon, two-sided, p < 0.05") && differs, "{five}");
    assert_eq!(tests, ["MannWhitneyWilcoxon"]);
    // Of two and two values, the most extreme order comes in two of six ways.
    let (two, tests, differs) = said(2, &AXES);
    assert!(two.contains("No rank test was used") && two.contains("least p is 0.33") && differs, "{two}");
    assert_eq!(tests, ["Noise"]);
    // Two points with two runs say too little of the noise.
    let (few, tests, differs) = said(2, &["compression=none,zlib:1"]);
    assert!(few.contains("n.s.") && few.contains("--repeat 4") && !differs, "{few}");
    assert_eq!(tests, ["None"]);
}

#[test]
fn readings_stand_once_whatever_the_streams() {
    let axes = ["split-level=0,99", "basket=2kB,32kB", "streams=1,2,5"];
    let (found, _) = sweep(&axes, settings(Goal::Full), 0.0);
    let titles: Vec<String> = show::tables(&found).into_iter().map(|table| table.title).collect();
    assert_eq!(titles.iter().filter(|title| title.starts_with("copying")).count(), 3, "{titles:?}");
    assert_eq!(titles.iter().filter(|title| title.starts_with("reading")).collect::<Vec<_>>(), ["reading"]);
    let events =
        show::tables(&found).into_iter().find(|table| table.title.starts_with("time for an entry, all")).unwrap();
    assert_eq!(events.rows.len(), 4);
    assert!(events.rows.iter().all(|row| !row[0].text.contains("streams")), "{events:?}");
}

#[test]
fn one_more_stream_costs_what_was_planted() {
    let (found, _) = sweep(&["basket=as-is,2kB", "streams=1,2,5,10"], settings(Goal::Copy), 0.0);
    let cost = |basket: &str, metric: &str| -> Slope {
        let is = |c: &&super::findings::StreamCost| c.settings[0].value == basket && c.metric == metric;
        found.streams.iter().find(is).unwrap().slope
    };
    for basket in ["as-is", "2kB"] {
        assert!(near(cost(basket, "copy_rss").slope, 19e6), "{:?}", cost(basket, "copy_rss"));
        assert!(near(cost(basket, "copy_vsize").slope, 19e6));
        assert!(near(cost(basket, "copy_cpu").slope, 2.0 * 1e-3 * 1000.0));
        assert!(cost(basket, "copy_rss").error.unwrap() < 1.0);
    }
    assert!(near(cost("2kB", "copy_rss").start, 102e6));
    // The choice is between layouts, not between numbers of streams.
    assert!(
        found.decision.equals.iter().chain(&found.decision.chosen).all(|&point| found.head.points[point].streams == 1)
    );
}

#[test]
fn limits_are_kept_and_what_looser_ones_buy_is_said() {
    let question = |size: &str| Question { goal: Goal::Copy, max_size: Some(size.to_owned()), ..Question::default() };
    let limited = |size: &str| sweep(&AXES, Settings { question: question(size), ..Settings::default() }, 0.0).0;
    let found = limited("0.96x");
    assert_eq!(chosen(&found), "split-level=0 compression=zlib:1");
    let said = &found.decision.sensitivity;
    assert!(said[0].starts_with("--max-size 1.00 MB would allow split-level=0 compression=none: "), "{said:?}");
    assert_eq!(
        said[1],
        "--max-size 750 kB would take split-level=0 compression=zlib:5: \
                            2.6 x dearer to copy, 21.1 % less read CPU, 21.1 % smaller"
    );
    assert_eq!(said.len(), 2, "no point copies faster within the limit, and all need the same memory: {said:?}");
    let reasons = &found.decision.reasons;
    assert_eq!(
        reasons[0],
        "split-level=0 compression=zlib:1 instead of split-level=0 compression=none: \
                            66.7 % dearer to copy, 5.0 % less read CPU, 5.0 % smaller"
    );
    let found = limited("0.5x");
    assert_eq!((found.decision.chosen, found.decision.impossible.len()), (None, 1));
    assert!(found.decision.impossible[0].contains("750 kB is the least of all points"), "{:?}", found.decision);
}

#[test]
fn reasons_are_points_that_differ_in_one_key() {
    let (found, _) = sweep(&["split-level=as-is,0,99", "compression=as-is,zlib:5"], settings(Goal::Copy), 0.0);
    assert_eq!(chosen(&found), "split-level=0 compression=as-is");
    assert_eq!(found.reference, 0);
    assert_eq!(
        found.decision.reasons,
        ["split-level=0 compression=as-is instead of \
        split-level=as-is compression=as-is: 40.0 % cheaper to copy, 2.0 x more read CPU"]
    );
    let (found, _) = sweep(&["split-level=as-is,0,99", "compression=as-is,zlib:5"], settings(Goal::Size), 0.0);
    // Equal to that of as-is in all figures; it is today's whole layout that stays, not a part of it.
    assert!(chosen(&found).ends_with(" compression=zlib:5") && !chosen(&found).starts_with("split-level=0"));
}

#[test]
fn a_killed_sweep_continues_to_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { drop: true, ..settings(Goal::Full) };
    let run = |name: &str, killed_after: Option<usize>| {
        let out = folder.path().join(name);
        let mut mock = Mock { noise: 0.02, killed_after, ..Mock::default() };
        let head = head(folder.path(), &AXES, settings.clone(), &mock);
        let done = Sweep::new(&out, head, &mut mock).unwrap().run(false, &mut |_| ());
        (out, done, mock.jobs)
    };
    let (whole, done, jobs) = run("whole", None);
    assert!(done.is_ok());
    let (cut, killed, _) = run("cut", Some(jobs / 2));
    assert!(killed.unwrap_err().to_string().contains("killed"));
    // What was being written when the power went.
    let journal = cut.join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let known = text.lines().count() - 1;
    std::fs::write(&journal, &text[..text.len() - 20]).unwrap();
    let (cut, done, again) = run("cut", None);
    assert!(done.is_ok());
    let result = |folder: &Path, name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in ["result.json", "tables.md", "layout.toml", "sweep.json"] {
        assert_eq!(result(&cut, name), result(&whole, name), "{name}");
    }
    let lines = |folder: &Path| {
        let mut lines: Vec<String> = result(folder, "journal.jsonl").lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&cut), lines(&whole));
    assert!(known > 5 && again < jobs, "what was known is not measured again: {known}, {again} of {jobs}");
    let left: Vec<String> =
        std::fs::read_dir(&cut).unwrap().map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(left.iter().all(|name| !name.ends_with(".root")), "{left:?}");
    // Nothing is left to do.
    assert_eq!(run("cut", None).2, 0);
    let looked_at = serde_json::to_string_pretty(&findings(&cut).unwrap()).unwrap();
    assert_eq!(looked_at + "\n", result(&cut, "result.json"));
}

#[test]
fn points_that_cannot_win_are_dropped() {
    let axes = ["compression=none,zlib:1,zlib:2,zlib:3,zlib:4,zlib:5,zlib:6,zlib:9"];
    let (all, whole) = sweep(&axes, settings(Goal::Full), 0.001);
    let (found, dropped) = sweep(&axes, Settings { drop: true, ..settings(Goal::Full) }, 0.001);
    assert_eq!(chosen(&found), chosen(&all));
    let rounds: Vec<Option<usize>> = found.lines.iter().map(|line| line.dropped).collect();
    // The first is today's and stays; of eight, four are left, then two, then one.
    let n = Some;
    assert_eq!(rounds, [None, n(2), n(2), n(2), n(3), n(3), n(4), None]);
    assert!(dropped.jobs < whole.jobs * 3 / 4, "{} of {}", dropped.jobs, whole.jobs);
}

#[test]
fn another_machine_or_grid_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut mock = Mock::default();
    let first = head(folder.path(), &AXES, settings(Goal::Copy), &mock);
    Sweep::new(&out, first.clone(), &mut mock).unwrap().run(false, &mut |_| ()).unwrap();
    let mut other = first.clone();
    other.machine.host = "elsewhere".to_owned();
    let mut refused = |head: Head| Sweep::new(&out, head, &mut mock).err().map(|e| e.to_string()).unwrap();
    let message = refused(other);
    assert!(message.contains("another machine; results of different machines are never combined"), "{message}");
    let build = Head { versions: [("mock".to_owned(), "2".to_owned())].into(), ..first.clone() };
    assert!(refused(build).contains("another build"));
    // A folder with other files is left alone.
    let message = Sweep::new(folder.path(), first, &mut mock).err().map(|e| e.to_string()).unwrap();
    assert!(message.contains("has other files in it"), "{message}");
}

#[test]
fn how_long_it_takes_is_said_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let mut mock = Mock::default();
    let settings = Settings { kinds: vec![Kind::Copy, Kind::Full], repeat: 3, ..Settings::default() };
    let head = head(folder.path(), &["split-level=0,99", "streams=1,2"], settings, &mock);
    let mut words = Vec::new();
    let mut expected = None;
    let sweep = Sweep::new(&folder.path().join("out"), head, &mut mock).unwrap();
    sweep
        .run(false, &mut |word| match word {
            Event::Expected(estimate) => expected = Some(estimate.clone()),
            Event::Done { done, all, left, .. } => words.push((done, all, left)),
            Event::Dropped(_) => unreachable!(),
        })
        .unwrap();
    let expected = expected.unwrap();
    assert_eq!((expected.points, expected.jobs), (4, 18));
    // Copies of 1.5, 2.5, 2.5 and 4.5 s, readings of 4 and 2 s, and the start of each process.
    assert!(near(expected.seconds, 3.0 * (11.0 + 6.0 + 6.0 * 0.02)), "{}", expected.seconds);
    assert_eq!(expected.disk, 4_000_000);
    assert_eq!((words.len(), words[17].0, words[17].1), (18, 18, 18));
    assert!(words[17].2 == 0.0 && words[0].2 > words[9].2);
}

#[test]
fn tables_are_those_of_the_studies() {
    let axes = ["split-level=0,99", "basket=2kB,32kB", "basket-memory=2MB,20MB,40MB", "streams=1,2"];
    let (found, _) = sweep(&axes, settings(Goal::Memory), 0.0);
    let tables = show::tables(&found);
    let titles: Vec<&str> = tables.iter().map(|table| table.title.as_str()).collect();
    assert_eq!(titles[1..3], ["copying, streams=1", "copying, streams=2"]);
    let one = &tables[1];
    assert_eq!(one.head[..3], ["basket-memory", "figure", "split-level=0 basket=2kB"]);
    assert_eq!((one.head.len(), one.rows.len()), (6, 24));
    // vsize of the first point: 119 MB, 300 besides, and 2 kB for each of a thousand branches.
    assert_eq!((one.rows[0][0].text.as_str(), one.rows[0][1].text.as_str()), ("2MB", "vsize"));
    assert_eq!((one.rows[0][2].value, one.rows[1][2].value), (Some(421e6), Some(422e6)));
    let markdown = show::markdown(&found);
    assert!(markdown.contains("| 2MB | vsize | 421 MB |"), "{markdown}");
    assert!(markdown.contains("## cost of one more stream") && markdown.contains("19.0 MB ± 0 B"), "{markdown}");
    let csv = show::csv(&found);
    let line = csv.lines().find(|line| line.contains(",copy_rss,")).unwrap();
    assert!(line.starts_with("split-level=0 basket=2kB basket-memory=2MB streams=1,0,2kB,2MB,1,copy_rss,121000000,0,"));
    assert_eq!(csv.lines().count(), 1 + 24 * found.lines[0].figures.len());
}
