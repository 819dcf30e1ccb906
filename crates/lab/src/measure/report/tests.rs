//! The report of sweeps with planted costs: the page shows these numbers.

use serde_json::Value;

use super::chart::{Chart, Drawing, Series, Style};
use super::{Extras, Report, page, report};
use crate::sweep::Settings;
use crate::sweep::findings::Findings;
use crate::sweep::question::{Goal, Question};
use crate::sweep::tests::sweep;

const AXES: [&str; 2] = ["split-level=0,99", "compression=none,zlib:1,zlib:5"];

fn settings(goal: Goal) -> Settings {
    Settings { question: Question { goal, ..Question::default() }, ..Settings::default() }
}

fn of(findings: &Findings) -> Report {
    report(findings, &Extras::default())
}

fn chart<'a>(report: &'a Report, name: &str) -> &'a Chart {
    report.charts.iter().find(|chart| chart.name == name).unwrap()
}

fn series<'a>(report: &'a Report, name: &str, style: Style) -> &'a Series {
    let Drawing::Plane { series, .. } = &chart(report, name).drawing else { panic!("{name} has no points") };
    series.iter().find(|series| series.style == style).unwrap()
}

fn xy(series: &Series) -> Vec<(f64, f64)> {
    let round = |value: f64| (1e9 * value).round() / 1e9;
    series.points.iter().map(|spot| (round(spot.x), round(spot.y))).collect()
}

/// The data of the page's script.
fn embedded(page: &str) -> Value {
    let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn points_are_where_they_were_planted() {
    let (found, _) = sweep(&AXES, settings(Goal::Full), 0.02);
    let report = of(&found);
    // 119 MB for all; 0.5 s, and 1 to 12 ms for each of a thousand entries.
    assert_eq!(xy(series(&report, "memory", Style::Today)), [(119.0, 1.5)]);
    assert_eq!(xy(series(&report, "memory", Style::Chosen)), [(119.0, 12.5)]);
    assert_eq!(xy(series(&report, "memory", Style::Points)), [(119.0, 2.5), (119.0, 6.5), (119.0, 2.5), (119.0, 4.5)]);
    assert_eq!(xy(series(&report, "memory", Style::Front)), [(119.0, 1.5)]);
    // 1000 bytes an entry, and 50 less for each level; 4 to 1.5 ms.
    assert_eq!(xy(series(&report, "size", Style::Today)), [(1.0, 4.0)]);
    assert_eq!(xy(series(&report, "size", Style::Chosen)), [(0.75, 1.5)]);
    assert_eq!(xy(series(&report, "size", Style::Front)), [(0.75, 1.5)]);
    assert_eq!(
        series(&report, "memory", Style::Chosen).points[0].text[..2],
        ["#6 split-level=99 compression=zlib:5", "RSS: 119 MB ± 0.0 % (5 runs)"]
    );
    let names: Vec<&str> =
        series(&report, "size", Style::Points).points.iter().map(|spot| spot.name.as_str()).collect();
    assert_eq!(names, ["split 0, zlib:1", "split 0, zlib:5", "split 99, none", "split 99, zlib:1"]);
    assert_eq!(report.chosen.as_deref(), Some("#6 split-level=99 compression=zlib:5"));
    let titles: Vec<&str> = report.said.iter().map(|said| said.title.as_str()).collect();
    let fronts = ["RSS and copy CPU", "file size and read CPU", "read /event and picked /event"];
    let fronts = fronts.map(|figures| format!("Not beaten in both {figures}"));
    assert_eq!(titles, ["Why", "Gains and costs of other limits", &fronts[0], &fronts[1], &fronts[2]]);
    assert!(report.said[0].lines.iter().any(|line| line.starts_with("split-level=99 instead of 0: ")), "{report:?}");
}

#[test]
fn the_page_has_the_numbers_and_needs_nothing_else() {
    let (found, _) = sweep(&AXES, settings(Goal::Full), 0.0);
    let report = of(&found);
    let page = page::html(&report).unwrap();
    let data = embedded(&page);
    let names: Vec<&str> = data.as_array().unwrap().iter().map(|chart| chart["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["memory", "size", "sparse", "columns"]);
    let chosen = data[1]["option"]["series"].as_array().unwrap().iter().find(|series| series["name"] == "chosen");
    assert_eq!(chosen.unwrap()["data"][0]["value"], serde_json::json!([0.75, 1.5]));
    let layout = found.decision.layout.as_deref().unwrap();
    assert!(layout.contains("split-level = 99"), "{layout}");
    assert!(page.contains("href=\"data:application/toml;charset=utf-8,") && page.contains("split-level%20%3D%2099"));
    // Sorting needs numbers: 4 s of reading.
    assert!(page.contains("<td data-value=\"4\">4.00\u{a0}s</td>"), "a cell of the overview");
    // All that is left out is named, and nothing is drawn empty.
    assert!(report.left_out.iter().any(|what| what.starts_with("speed-up")));
    assert!(!page.contains("chart-speedup"));
    let own = page.replace(page::ECHARTS, "");
    assert!(!own.contains("http:") && !own.contains("https:") && !own.contains(" src="), "it needs no network");
    assert!(page.len() < 1_200_000, "{}", page.len());
}

#[test]
fn names_cannot_end_what_they_stand_in() {
    let (mut found, _) = sweep(&AXES, settings(Goal::Full), 0.0);
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{@[0]}\u{2028}";
    found.lines.iter_mut().for_each(|line| line.columns = vec![(hostile.to_owned(), 1.0), ("b".to_owned(), 2.0)]);
    found.head.subject.tree = hostile.to_owned();
    let page = page::html(&of(&found)).unwrap();
    let own = page.replace(page::ECHARTS, "");
    assert!(!own.contains("alert(1)</script>") && !own.contains("<img"));
    assert_eq!(own.matches("</script>").count(), 3);
    let tile = &embedded(&page)[3]["option"]["series"][0]["data"][0];
    assert!(tile["name"].as_str().unwrap().starts_with(hostile));
    assert!(!tile["label"]["formatter"].as_str().unwrap().contains('{'));
}

#[test]
fn streams_have_the_line_through_them() {
    let (found, _) = sweep(&["basket=as-is,2kB", "streams=1,2,5,10"], settings(Goal::Copy), 0.0);
    let report = of(&found);
    let points = series(&report, "streams-memory", Style::Points);
    assert_eq!(
        (points.name.as_str(), xy(points)),
        ("basket as-is: 19.0 MB for one more", vec![(1.0, 119.0), (2.0, 138.0), (5.0, 195.0), (10.0, 290.0)])
    );
    let line = series(&report, "streams-memory", Style::Ideal);
    assert_eq!(xy(line), [(1.0, 119.0), (10.0, 290.0)]);
    assert_eq!(line.name, points.name);
    assert_eq!(line.points[0].text, ["basket as-is", "19.0 MB for one more ± 0 B"]);
    // Points with other streams are not what the choice is between.
    assert_eq!(series(&report, "memory", Style::Others).points.len(), 6);
}

#[test]
fn threads_are_held_against_the_fewest() {
    let (mut found, _) = sweep(&["compression=none,zlib:1", "threads=2,1,4"], settings(Goal::Copy), 0.0);
    for line in &mut found.lines {
        let wall = line.figures.get_mut("copy_wall").unwrap();
        wall.median = [8.0, 5.0, 4.0][[1, 2, 4].iter().position(|n| *n == line.point.threads).unwrap()];
        line.figures.get_mut("copy_cpu").unwrap().median = 8.0;
    }
    let report = of(&found);
    let copy = series(&report, "speedup", Style::Line);
    assert_eq!((copy.name.as_str(), xy(copy)), ("copy, none", vec![(1.0, 1.0), (2.0, 1.6), (4.0, 2.0)]));
    assert_eq!(xy(series(&report, "speedup", Style::Ideal)), [(1.0, 1.0), (4.0, 4.0)]);
    let Drawing::Bars { bars, parts, .. } = &chart(&report, "threads").drawing else { panic!("no bars") };
    let names: Vec<&str> = bars.iter().map(|bar| bar.name.as_str()).collect();
    assert_eq!(names[..3], ["none, 1 thread", "none, 2 threads", "none, 4 threads"]);
    assert_eq!(bars[1].text, ["#1 compression=none threads=2", "busy: 8.00 s", "waiting or idle: 2.00 s"]);
    assert_eq!(parts[0].values[..3], [8.0, 8.0, 8.0]);
    assert_eq!(parts[1].values[..3], [0.0, 2.0, 8.0]);
}

#[test]
fn of_many_points_those_that_no_other_beats_are_named() {
    let axes = ["split-level=0,99", "compression=none,zlib:1,zlib:5", "basket=2kB,4kB,8kB"];
    let (found, _) = sweep(&axes, settings(Goal::Full), 0.0);
    let report = of(&found);
    let named = |style: Style| -> Vec<String> {
        let names = series(&report, "size", style).points.iter().map(|spot| spot.name.clone());
        names.filter(|name| !name.is_empty()).collect()
    };
    let front = found.fronts.iter().find(|front| front.metrics == ["size", "full_cpu"]).unwrap();
    assert_eq!(series(&report, "size", Style::Points).points.len(), 16);
    assert!(named(Style::Points).len() < front.points.len() && named(Style::Points).len() < 12);
    assert_eq!((named(Style::Today).len(), named(Style::Chosen).len()), (1, 1));
    assert!(chart(&report, "size").note.ends_with("tooltips name all."));
    // A label that says nothing would push others away.
    let option = super::echarts::option(chart(&report, "size"));
    let labels = option["series"][0]["data"].as_array().unwrap().iter().map(|spot| &spot["label"]);
    let hidden = labels.filter(|label| label["show"] == serde_json::json!(false)).count();
    assert_eq!(hidden, 16 - named(Style::Points).len());
    // Each tooltip has its point in full.
    assert!(series(&report, "size", Style::Points).points.iter().all(|spot| spot.text[0].starts_with('#')));
}

#[test]
fn colours_of_columns_say_nothing_that_was_not_measured() {
    let (mut found, _) = sweep(&AXES, settings(Goal::Full), 0.0);
    found.lines.iter_mut().for_each(|line| line.columns.clear());
    let sizes = [("a".to_owned(), 5), ("b".to_owned(), 7)].into();
    let drawn = super::columns::tiles(&found, &sizes).unwrap();
    assert!(!drawn.note.contains("redder"), "{}", drawn.note);
    let Drawing::Tiles { tiles, .. } = &drawn.drawing else { panic!("no tiles") };
    assert!(tiles.iter().all(|tile| tile.colour.is_none()));
    let option = super::echarts::option(&drawn);
    assert!(option.get("visualMap").is_none());
    let data = option["series"][0]["data"].as_array().unwrap();
    assert!(data.iter().all(|tile| tile["itemStyle"]["color"].is_string()), "one colour for all");
}

#[test]
fn columns_are_as_large_as_their_time_where_bytes_are_not_known() {
    let (found, _) = sweep(&AXES, settings(Goal::Full), 0.0);
    let report = of(&found);
    let Drawing::Tiles { size, tiles, .. } = &chart(&report, "columns").drawing else { panic!("no tiles") };
    assert_eq!(size.title, "time for an entry [ms]");
    let found: Vec<(&str, f64, Option<f64>)> = tiles.iter().map(|t| (t.name.as_str(), t.size, t.colour)).collect();
    assert_eq!(found, [("a", 1.0, Some(1.0)), ("b", 3.0, Some(3.0))]);
    assert_eq!(tiles[0].text[2], "read alone in the chosen layout: 0.375 ms an entry");
}

#[test]
fn additional_measurements_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut besides = Extras::default();
    let mut add = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        besides.add(&path)
    };
    let bench = |no_write: bool, outputs: u32| {
        let line = |threads: u32, wall: f64, speed: f64| {
            serde_json::json!({
                "writer": "basketry", "branches": 10, "events": 10, "compression": "none", "threads": threads,
                "medium": "/m", "wall": wall, "cpu": 2.0, "sync": 0.0, "peak_rss": 5_000_000, "vsize": 0, "bytes": 1,
                "mb_per_s": speed, "speed_up": null, "runs": [{ "waiting": 0.5 }, { "waiting": 0.25 }, { "waiting": 1 }],
            })
        };
        let lines = match outputs {
            2 => vec![line(2, 1.5, 250.0)],
            _ => vec![line(2, 1.5, 300.0), line(1, 2.0, 200.0)],
        };
        serde_json::json!({ "kind": "multi", "size": 1, "outputs": outputs, "no_write": no_write, "no_fill": false, "lines": lines })
    };
    add("runs.json", bench(false, 5).to_string()).unwrap();
    add("limit.json", bench(true, 5).to_string()).unwrap();
    add("two.json", bench(false, 2).to_string()).unwrap();
    let sample = |time: f64, user: f64| {
        format!(
            "{{\"time\":{time},\"mark\":\"\",\"threads\":3,\"rss\":2000000,\"user\":{user},\"system\":0,\"events\":0}}\n"
        )
    };
    add("perf.jsonl", [sample(0.0, 0.0), sample(0.05, 0.1), sample(0.5, 1.0), sample(1.5, 1.25)].concat()).unwrap();
    let refused = add("other.json", "{}".to_owned()).unwrap_err().to_string();
    assert!(refused.contains("other.json") && refused.contains("write-bench --json"), "{refused}");
    let (found, _) = sweep(&AXES, settings(Goal::Full), 0.0);
    let report = report(&found, &besides);
    let runs = series(&report, "writing", Style::Line);
    assert_eq!((runs.name.as_str(), xy(runs)), ("5 outputs", vec![(1.0, 200.0), (2.0, 300.0)]));
    assert_eq!(series(&report, "writing", Style::Ideal).name, "nothing written, 5 outputs");
    assert_eq!(
        series(&report, "writing", Style::Ideal).points[0].text[0],
        "writer=basketry compression=none entry=10x10 medium=/m limit=nothing written outputs=5 threads=1"
    );
    let outputs = series(&report, "writing-outputs", Style::Line);
    assert_eq!((outputs.name.as_str(), xy(outputs)), ("2 threads", vec![(2.0, 250.0), (5.0, 300.0)]));
    let Drawing::Bars { parts, .. } = &chart(&report, "writing-threads").drawing else { panic!("no bars") };
    // On two threads: 3 s of which 2 were busy and a half waited.
    let parts: Vec<(&str, f64)> = parts.iter().map(|part| (part.name.as_str(), part.values[0])).collect();
    assert_eq!(parts, [("busy", 2.0), ("waiting for memory", 0.5), ("idle", 0.5)]);
    assert_eq!(xy(series(&report, "timeline", Style::Whole)), [(0.0, 3.0), (0.05, 3.0), (0.5, 3.0), (1.5, 3.0)]);
    assert_eq!(xy(series(&report, "timeline", Style::Area)), [(0.5, 2.0), (1.5, 0.25)]);
    assert_eq!(xy(series(&report, "memory-over-time", Style::Area))[0], (0.0, 2.0));
}

#[test]
fn the_most_important_of_many_layouts_are_shown() {
    let axes = ["split-level=0,99", "compression=none,zlib:1,zlib:5", "streams=1,2", "threads=1,2"];
    let (found, _) = sweep(&axes, settings(Goal::Copy), 0.0);
    let report = of(&found);
    let Drawing::Plane { series, .. } = &chart(&report, "streams-memory").drawing else { panic!("no points") };
    let shown: Vec<&str> = series.iter().filter(|s| !s.hidden).map(|s| s.name.as_str()).collect();
    assert_eq!((series.len(), shown.len()), (24, 2), "{shown:?}");
    assert!(chart(&report, "streams-memory").note.ends_with("a click in the legend shows others."));
    let option = &embedded(&page::html(&report).unwrap())[5]["option"];
    assert_eq!(option["legend"]["data"].as_array().unwrap().len(), 12, "points and their line are one entry");
    assert_eq!(option["legend"]["selected"].as_object().unwrap().len(), 11);
    let Drawing::Bars { bars, .. } = &chart(&report, "threads").drawing else { panic!("no bars") };
    assert_eq!(bars.iter().map(|bar| bar.name.as_str()).collect::<Vec<_>>(), ["1 thread", "2 threads"]);
}

#[test]
fn a_shell_gets_the_path_in_one_piece() {
    let (mut found, _) = sweep(&AXES, settings(Goal::Full), 0.0);
    found.head.subject.input = "/my data/it's.root".into();
    let command = of(&found).command.unwrap();
    let words = shlex::split(&command).unwrap();
    assert_eq!(
        words,
        ["basketry", "rewrite", "/my data/it's.root", "-o", "it's.chosen.root", "--layout", "layout.toml"]
    );
}
