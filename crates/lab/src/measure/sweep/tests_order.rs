//! Decisions do not depend on the order of a grid, ties go to what is cheaper in other figures, and sweeps that exist are extended.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;

use super::analyse::analyse;
use super::findings::Findings;
use super::journal::{Entry, Head};
use super::mock::Mock;
use super::plan::{Job, Kind};
use super::point::Point;
use super::question::{Goal, Question};
use super::run::findings;
use super::session::Sweep;
use super::settings::Settings;
use super::tests::{points, subject};

const AXES: [(&str, &[&str]); 3] =
    [("split-level", &["0", "99"]), ("compression", &["none", "zlib:1", "zlib:5"]), ("basket", &["1kB", "32kB"])];

fn settings(goals: &[Goal]) -> Settings {
    let question = Question { goal: goals[0], further: goals[1..].to_vec(), ..Question::default() };
    Settings { question, ..Settings::default() }
}

/// Runs a sweep in a folder; today's layout is added if `beside`.
fn run(out: &Path, axes: &[String], settings: Settings, mock: &mut Mock, beside: bool) -> Findings {
    let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
    let head = Head::new(subject(out.parent().unwrap()), points(&axes), settings, mock).unwrap();
    let sweep = Sweep::new(out, head, mock).unwrap();
    let sweep = if beside { sweep.beside_today() } else { sweep };
    sweep.run(false, &mut |_| ()).unwrap()
}

fn fresh(axes: &[String], goals: &[Goal], mut mock: Mock, beside: bool) -> Findings {
    let folder = tempfile::tempdir().unwrap();
    run(&folder.path().join("out"), axes, settings(goals), &mut mock, beside)
}

/// The same for all goals, without a journal.
fn unsaved(axes: &[String], mut mock: Mock, beside: bool) -> Findings {
    let folder = tempfile::tempdir().unwrap();
    let axes: Vec<&str> = axes.iter().map(String::as_str).collect();
    let head = Head::new(subject(folder.path()), points(&axes), settings(&GOALS), &mock).unwrap();
    let sweep = Sweep::new(&folder.path().join("out"), head, &mut mock).unwrap();
    let mut sweep = if beside { sweep.beside_today() } else { sweep };
    let jobs: Vec<Job> = (0..5).flat_map(|round| sweep.round(round, &sweep.request.points)).collect();
    let mut measured = |job: Job| {
        let task = sweep.task(job).unwrap();
        Entry { job, measured: sweep.runner().run(&task).unwrap() }
    };
    let entries: Vec<Entry> = jobs.into_iter().map(&mut measured).collect();
    analyse(&sweep.head, &entries)
}

fn axes(of: &[(&str, &[&str])]) -> Vec<String> {
    of.iter().map(|(key, values)| format!("{key}={}", values.join(","))).collect()
}

/// A point without the order of its keys.
fn plain(point: &Point) -> String {
    let mut settings: Vec<String> = point.settings.iter().map(|s| format!("{}={}", s.key, s.value)).collect();
    settings.sort();
    point.name.clone().unwrap_or_else(|| settings.join(" "))
}

type Decided = Vec<(Option<String>, BTreeSet<String>)>;

/// What was decided, and the fronts.
fn decided(found: &Findings) -> (Decided, Vec<BTreeSet<String>>) {
    let name = |point: &usize| plain(&found.head.points[*point]);
    let decided = found.decisions().map(|d| (d.chosen.as_ref().map(name), d.equals.iter().map(name).collect()));
    (decided.collect(), found.fronts.iter().map(|front| front.points.iter().map(name).collect()).collect())
}

fn chosen(found: &Findings) -> String {
    plain(&found.head.points[found.decision.chosen.unwrap()])
}

/// The axes in some order, each with its values in some order.
fn in_some_order() -> impl Strategy<Value = Vec<String>> {
    let values = AXES.map(|(key, values)| {
        Just(values.to_vec()).prop_shuffle().prop_map(move |values| format!("{key}={}", values.join(",")))
    });
    Vec::from(values).prop_flat_map(|axes| Just(axes).prop_shuffle())
}

const GOALS: [Goal; 6] = [Goal::Full, Goal::Copy, Goal::Memory, Goal::Size, Goal::Sparse, Goal::Columns];

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_a_grid_decides_nothing(axes_there in in_some_order(), noise in 0.0..0.1, reads_alike: bool, beside: bool) {
        let mock = || Mock { noise, reads_alike, ..Mock::default() };
        let first = unsaved(&axes(&AXES), mock(), beside);
        let other = unsaved(&axes_there, mock(), beside);
        prop_assert_eq!(decided(&first), decided(&other));
    }
}

#[test]
fn ties_go_to_what_is_cheaper_in_the_other_figures() {
    // Reading is alike within the noise; splitting doubles the CPU of copying.
    for order in ["split-level=0,99", "split-level=99,0"] {
        let mock = Mock { noise: 0.01, reads_alike: true, ..Mock::default() };
        let found = fresh(&[order.to_owned()], &[Goal::Full], mock, false);
        assert_eq!(chosen(&found), "split-level=0", "{order}");
        let said = found.decision.reasons.join("; ");
        assert!(said.contains("less copy CPU") || said.contains("no measured point is better"), "{said}");
    }
    let mock = Mock { noise: 0.01, reads_alike: true, ..Mock::default() };
    let found = fresh(&["split-level=99,0,1".to_owned()], &[Goal::Full], mock, false);
    let said = found.decision.reasons.join("; ");
    assert_eq!(chosen(&found), "split-level=0");
    assert!(said.contains("tie in read CPU, but: 40.0 % less copy CPU"), "{said}");
    assert_eq!(found.decision.equals.len(), 2, "both are as good in reading");
}

#[test]
fn few_runs_that_are_far_apart_are_no_tie() {
    for (order, repeat) in [("split-level=0,99", 2), ("split-level=99,0", 2), ("split-level=99,0", 3)] {
        let folder = tempfile::tempdir().unwrap();
        let mut mock = Mock { noise: 0.01, ..Mock::default() };
        let settings = Settings { repeat, ..settings(&[Goal::Full]) };
        let found = run(&folder.path().join("out"), &[order.to_owned()], settings, &mut mock, false);
        assert_eq!((chosen(&found).as_str(), found.decision.equals.len()), ("split-level=99", 0), "{order}");
    }
    // The size has no noise at all.
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { repeat: 2, ..settings(&[Goal::Size]) };
    let axes = ["compression=zlib:1".to_owned()];
    let found = run(&folder.path().join("out"), &axes, settings, &mut Mock { noise: 0.1, ..Mock::default() }, true);
    assert_eq!(chosen(&found), "compression=zlib:1");
}

#[test]
fn only_todays_layout_stays_on_a_tie() {
    // Buffers cost memory, and nothing else: today's has the least.
    let mock = || Mock { noise: 0.01, reads_alike: true, ..Mock::default() };
    let found = fresh(&["basket=1kB,32kB".to_owned()], &[Goal::Full], mock(), true);
    assert_eq!(found.head.points.len(), 3);
    assert!(found.head.points[2].baseline && found.reference == 2);
    assert_eq!((chosen(&found).as_str(), found.decision.equals.len()), ("today", 2));
    // A point that is better by another figure takes the place of today's.
    let found = fresh(&["split-level=0,99".to_owned()], &[Goal::Full], mock(), true);
    assert_eq!(chosen(&found), "split-level=0", "as fast to read, and cheaper to copy");
    // A copy of today's layout moves its bytes: it does not win where copying is the goal.
    let found = fresh(&["split-level=0,99".to_owned()], &[Goal::Copy], mock(), true);
    assert_eq!(chosen(&found), "split-level=0");
    assert!(found.decision.reasons[0].starts_with("split-level=0 instead of split-level=99"), "{:?}", found.decision);
    // No second point is added where the grid has it, in whatever order its streams are.
    let found = fresh(&["split-level=0,as-is".to_owned(), "streams=2,1".to_owned()], &[Goal::Full], mock(), true);
    let today = plain(&found.head.points[found.reference]);
    assert_eq!((found.head.points.len(), today.as_str()), (4, "split-level=as-is streams=1"));
}

#[test]
fn another_goal_points_jobs_and_repeats_extend_a_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let whole = folder.path().join("whole");
    let mut mock = Mock { noise: 0.02, ..Mock::default() };
    let kinds =
        |kinds: &[Kind], repeat: usize, goal: Goal| Settings { kinds: kinds.to_vec(), repeat, ..settings(&[goal]) };
    let words = |axes: &[&str]| axes.iter().map(|axis| (*axis).to_owned()).collect::<Vec<_>>();
    let mut step = |axes: &[&str], settings: Settings| {
        let before = mock.jobs;
        let tried = mock.probes;
        let found = run(&out, &words(axes), settings, &mut mock, true);
        (found, mock.jobs - before - (mock.probes - tried))
    };
    let (copy, both) = ([Kind::Copy], [Kind::Copy, Kind::Full]);
    let (first, jobs) = step(&["compression=none,zlib:1"], kinds(&copy, 2, Goal::Copy));
    assert_eq!((jobs, first.head.points.len()), (6, 3));
    // Nothing is measured for another goal, or for the same grid in another order.
    let (found, jobs) = step(&["compression=zlib:1,none"], kinds(&copy, 2, Goal::Size));
    assert_eq!((jobs, found.decision.goal.as_str()), (0, "size"));
    // More repeats, points, streams and jobs: what is missing, and no more.
    assert_eq!(step(&["compression=none,zlib:1"], kinds(&copy, 5, Goal::Copy)).1, 9);
    assert_eq!(step(&["compression=none,zlib:1,zlib:5"], kinds(&copy, 5, Goal::Copy)).1, 5);
    assert_eq!(step(&["compression=none,zlib:1,zlib:5", "streams=1,2"], kinds(&copy, 5, Goal::Copy)).1, 15);
    // The four files that are read were removed: each is written again, which is no measurement.
    let (found, jobs) = step(&["streams=1,2", "compression=zlib:5,none,zlib:1"], kinds(&both, 5, Goal::Full));
    assert_eq!(jobs, 5 * 4 + 4);
    // The figures and the decision are those of one sweep that had all from the beginning.
    let axes = words(&["compression=none,zlib:1,zlib:5", "streams=1,2"]);
    let at_once = run(&whole, &axes, kinds(&both, 5, Goal::Full), &mut mock, true);
    assert_eq!(decided(&found), decided(&at_once));
    for line in &found.lines {
        let other =
            at_once.lines.iter().find(|other| plain(&other.point) == plain(&line.point) || other.point == line.point);
        let other = other.or_else(|| at_once.lines.iter().find(|other| other.point.is_same(&line.point))).unwrap();
        assert_eq!(line.figures, other.figures, "{}", line.point);
    }
    assert_eq!(findings(&out).unwrap(), found, "sweep show sees the whole journal");
    let names: Vec<_> = std::fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.iter().filter(|name| name.to_string_lossy().ends_with(".jsonl")).count(), 1);
}

#[test]
fn what_makes_measurements_incomparable_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut mock = Mock::default();
    let axes = ["compression=none,zlib:1".to_owned()];
    let own = settings(&[Goal::Full]);
    run(&out, &axes, own.clone(), &mut mock, true);
    let head = Head::new(subject(folder.path()), points(&["basket=1kB"]), own.clone(), &mock).unwrap();
    let of = |settings: Settings| Head { settings, ..head.clone() };
    let mut part = head.clone();
    part.subject.entries -= 1;
    let mut input = head.clone();
    input.subject.bytes += 1;
    for (head, expected) in [
        (of(Settings { seed: 2, ..own.clone() }), "another seed"),
        (of(Settings { cold: true, ..own.clone() }), "cold or warm"),
        (of(Settings { pin: false, ..own.clone() }), "other processors"),
        (of(Settings { memory: 1, ..own.clone() }), "another memory"),
        (of(Settings { share: 0.5, ..own.clone() }), "another share of picked entries"),
        (part, "another part of the input"),
        (input, "another input"),
        (Head { versions: [("mock".to_owned(), "2".to_owned())].into(), ..head.clone() }, "other versions (mock)"),
    ] {
        let message = Sweep::new(&out, head, &mut mock).err().map(|e| e.to_string()).unwrap();
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let goal = Settings { kinds: vec![Kind::Copy], ..settings(&[Goal::Sparse]) };
    let message = Sweep::new(&folder.path().join("new"), of(goal), &mut mock).err().map(|e| e.to_string()).unwrap();
    assert!(message.contains("goal sparse is measured by the job sparse"), "{message}");
}

#[test]
fn several_goals_have_a_decision_and_a_layout_each() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut mock = Mock::default();
    let found = run(&out, &axes(&AXES), settings(&[Goal::Full, Goal::Size, Goal::Copy]), &mut mock, true);
    let goals: Vec<&str> = found.decisions().map(|decision| decision.goal.as_str()).collect();
    assert_eq!(goals, ["full_cpu", "size", "copy_cpu"]);
    let text = |name: &str| std::fs::read_to_string(out.join(name)).ok();
    assert_eq!(text("layout.toml"), text("layout-full.toml"));
    assert!(text("layout-size.toml").is_some_and(|layout| layout.contains("zlib:5")));
    assert!(text("layout-copy.toml").is_some_and(|layout| layout.contains("none")));
    let tables = text("tables.md").unwrap();
    assert!(tables.contains("best in read CPU: ") && tables.contains("best in file size: "), "{tables}");
    // What was decided for another goal does not stay.
    run(&out, &axes(&AXES), settings(&[Goal::Size]), &mut mock, true);
    assert!(text("layout-full.toml").is_none() && text("layout.toml").is_some_and(|layout| layout.contains("zlib:5")));
}
