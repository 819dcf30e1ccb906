//! Forms of columns: with codecs and clocks of known cost, the search finds the best form, as an exhaustive search does; with
//! real ones, the decision is proven.

use std::path::{Path, PathBuf};

use dataset::glob::NameFilter;
use dataset::layout::{ByteSize, Layout};
use flow::write::WriteOptions;
use flow::{Budget, unwatched};

use super::*;

use super::candidates::Pick;
use crate::cost::Packing;
use crate::cost::tests::{ACCESS, Fake};
use crate::synthetic::generate::{Job, generate};
use crate::synthetic::models::{Model, ModelOptions};

const COLUMNS: [&str; 3] = ["muon_candidates", "ecal_hits", "pixel_clusters"];

/// Three products of events like CMS's, in clusters of few entries.
fn file(folder: &Path, layout: &str) -> PathBuf {
    let model = Model::named("aod", &ModelOptions { size: 6_000_000, ..ModelOptions::default() }).unwrap();
    let (all, some) = (folder.join("all.root"), folder.join("some.root"));
    let options = WriteOptions { layout: layout.parse().unwrap(), ..WriteOptions::default() };
    let budget = Budget::new(100_000_000, 1);
    generate(
        &Job { model: &model, outputs: vec![all.clone()], options, budget, fill: true, rate: None, timeline: false },
        &unwatched,
    )
    .unwrap();
    let filter = NameFilter::new(&COLUMNS.map(str::to_owned), &[]).unwrap();
    let content = flow::ContentOptions { filter, ..flow::ContentOptions::default() };
    let options = flow::Options { content, ..flow::Options::default() };
    flow::rewrite(&[all], &some, &options, &unwatched).unwrap();
    some
}

fn search(path: &Path, workload: &str, memory: u64) -> (FileStats, Search) {
    let options = Options {
        workload: workload.parse().unwrap(),
        memory,
        recode: true,
        goal: Goal::Reading,
        ..Options::default()
    };
    let mut stats = FileStats::read(path, None, &options.workload).unwrap();
    stats.recast(&options.workload, Budget::new(100_000_000, 1), &mut FullRead::default()).unwrap();
    let own = main_packing(&stats);
    let seen = FullRead::default();
    let found = Search::new(
        &stats,
        &options,
        (ACCESS, &seen),
        (&packings_for(&stats, own), own),
        &Allowance::unlimited(),
        &mut Fake::default(),
    )
    .unwrap();
    (stats, found)
}

/// The best of all combinations of forms, each tried.
fn exhaustive(search: &Search) -> f64 {
    let counts = search.space.tops.counts();
    let mut best = f64::INFINITY;
    for mut number in 0..counts.iter().product::<usize>() {
        let digit = |count: &usize| {
            let digit = number % count;
            number /= count;
            digit
        };
        let forms = counts.iter().map(digit).collect();
        let all = 0..search.space.options.len();
        if let Ok(chosen) = search.space.decide_among(all, &forms, &search.limits) {
            best = best.min(chosen.objective);
        }
    }
    best
}

#[test]
fn the_form_follows_the_workload() {
    let folder = tempfile::tempdir().unwrap();
    // The codec of known cost opens only what is stored.
    const SPLIT: &str = "split-level = 99\ncluster = 3\ncompression = \"none\"";
    const WHOLE: &str = "split-level = 0\nstreaming = \"member-wise\"\ncluster = 3\ncompression = \"none\"";
    const MEMBER: &str = "columns:muon_candidates.pt";
    // Each basket costs something, and there are few bytes in one: whole columns win where all is read, and split ones
    // where one member is.
    for (layout, workload, changes) in
        [(SPLIT, "full", true), (SPLIT, MEMBER, false), (WHOLE, MEMBER, true), (WHOLE, "full", false)]
    {
        let path = file(folder.path(), layout);
        let (stats, found) = search(&path, workload, 1 << 30);
        assert_eq!(found.space.tops.counts(), [2; 3], "{layout}, {workload}");
        let chosen = found.decision.as_ref().unwrap();
        let recast: Vec<&str> =
            found.space.tops.chosen(&chosen.forms).map(|recast| stats.recasts[recast].name.as_str()).collect();
        assert_eq!(recast.contains(&"muon_candidates"), changes, "{layout}, {workload}: {recast:?}");
        if workload == "full" {
            assert_eq!(recast.len(), if changes { 3 } else { 0 }, "{layout}: {recast:?}");
        }
        let best = exhaustive(&found);
        // What gains less than is worth another form is left as it is.
        let more = if workload == "full" { 1e-9 } else { forms::WORTH };
        let off = chosen.objective / best - 1.0;
        assert!((-1e-9..more).contains(&off), "{layout}, {workload}: {} {best}", chosen.objective);
        std::fs::remove_file(path).unwrap();
        std::fs::remove_file(folder.path().join("all.root")).unwrap();
    }
}

#[test]
fn a_file_without_objects_has_no_forms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.root");
    crate::synthetic::sample::make(&path, 4000, 7).unwrap();
    let (stats, found) = search(&path, "full", 1 << 30);
    assert!(stats.recasts.is_empty() && found.space.tops.counts().is_empty());
    assert!(stats.trees.iter().all(|tree| tree.objects.is_empty()));
}

#[test]
fn recast_columns_are_rewritten_and_proven() {
    let folder = tempfile::tempdir().unwrap();
    let input = file(folder.path(), "split-level = 99\ncluster = 2");
    let output = folder.path().join("tuned.root");
    let options = Options {
        memory: 100_000_000,
        recode: true,
        goal: Goal::Reading,
        max_size: Some(Limit::Times(1.2)),
        ..Options::default()
    };
    let mut tuned = tune(&input, &options, &|_| ()).unwrap();
    assert!(!tuned.report.recasts.is_empty(), "{:?}", tuned.report.why);
    let text = tuned.report.layout.clone().unwrap();
    assert!(text.contains("split-level") && text.contains("member-wise"), "{text}");
    let said = tuned.report.why.iter().any(|why| why.contains("unsplit member-wise instead of split 99"));
    assert!(said, "{:?}", tuned.report.why);
    prove(&mut tuned, &input, &output, &options, Budget::new(100_000_000, 1), false, &unwatched).unwrap();
    let proof = tuned.report.proof.as_ref().unwrap();
    assert!(proof.equal, "{:?}", proof.differences);
    // How many clusters there will be is not known exactly.
    assert!(proof.baskets.error().abs() < 0.15, "{:?}", proof.baskets);
    assert!(proof.size.error().abs() < 0.1, "{:?}", proof.size);
    // The layout says it all: a rewrite with it gives the same.
    let again = folder.path().join("again.root");
    let layout = Layout::from_toml(&text).unwrap();
    flow::rewrite(
        std::slice::from_ref(&input),
        &again,
        &flow::Options { layout, ..flow::Options::default() },
        &unwatched,
    )
    .unwrap();
    let size = |path: &Path| path.metadata().unwrap().len();
    assert_eq!(size(&output), size(&again));
    // Without --recode no column changes its form, but the report says that one could.
    let tuned = tune(&input, &Options { recode: false, ..options }, &|_| ()).unwrap();
    assert!(tuned.report.recasts.is_empty());
    assert!(tuned.report.why.iter().any(|why| why.contains("3 columns of objects") && why.contains("--recode")));
}

#[test]
fn rules_of_parents_do_not_change_unchanged_branches() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "split-level = 99\ncompression = \"none\"");
    let (stats, found) = search(&path, "full", 1 << 30);
    let (parent, child) = ("muon_candidates", "muon_candidates.pt");
    let pick = |(_, name): &(usize, String)| match name.as_str() {
        name if name == parent => Some(Pick { codec: Some(0), basket: Some(4000) }),
        name if name == child => Some(Pick { codec: None, basket: Some(8000) }),
        _ => Some(Pick { codec: Some(0), basket: None }),
    };
    let picks: Vec<Option<Pick>> = stats.units.iter().map(pick).collect();
    let option = found.space.options.first().unwrap();
    let codecs = [Packing::of_baskets("lz4:1".parse().unwrap())];
    let layout = layout::layout(&stats, &codecs, option, &picks, &mut std::iter::empty()).unwrap();
    let rules = layout.rules(&stats.trees[0].path);
    let of = |lineage: &[&str]| rules.column(lineage);
    assert!(stats.units.iter().any(|(_, name)| name == child), "{:?}", stats.units);
    assert_eq!((of(&[parent, child]).compression, of(&[parent, child]).basket), (None, Some(ByteSize(8000))));
    assert_eq!(of(&[parent, "muon_candidates.eta"]).basket, None);
    assert_eq!(of(&[parent]).compression, None);
    assert_eq!(of(&["ecal_hits"]).compression, Some(codecs[0].compression));
}

#[test]
fn a_decision_is_made_without_time_for_a_second_look() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "split-level = 99\ncompression = \"none\"");
    let options = Options { memory: 1 << 30, goal: Goal::Reading, ..Options::default() };
    let stats = FileStats::read(&path, None, &options.workload).unwrap();
    let own = main_packing(&stats);
    let over = Allowance::new(process_seconds() - 10.0, 1.0, 2.0);
    let sampled = |allowance: &Allowance| {
        let codecs = packings_for(&stats, own);
        let seen = FullRead::default();
        let found = Search::new(&stats, &options, (ACCESS, &seen), (&codecs, own), allowance, &mut Fake::default());
        let found = found.unwrap();
        assert!(found.decision.is_ok());
        (found.measured.columns.iter().filter(|column| column.sampled > 0.0).count(), found.confirmed.sampled)
    };
    let (columns, again) = sampled(&over);
    // The largest alone, and those on which codecs are chosen.
    assert!(columns >= 4 && again == 0.0, "{columns} {again}");
    let (all, _) = sampled(&Allowance::unlimited());
    assert!(all >= columns, "{all} {columns}");
}

#[test]
fn a_part_of_the_entries_teaches_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "split-level = 99\ncluster = 2\ncompression = \"none\"");
    let (stats, mut found) = search(&path, "full", 1 << 30);
    let chosen = found.decision.clone().unwrap();
    assert!(!found.space.is_today(&chosen));
    // What a choice takes in all is known afterwards, and other choices change with it.
    let slower = 1.5 * chosen.total.read;
    found.space.learn_times(&chosen, slower, 1.0);
    let again = found.space.again(&chosen).total.read;
    assert!((again / slower - 1.0).abs() < 1e-9, "{again} {slower}");
    // With time for all of it, half of the entries are enough; without, none are tried.
    let options = Options { memory: 1 << 30, goal: Goal::Reading, ..Options::default() };
    let share = found.try_parts(&stats, &options, ACCESS, &Allowance::unlimited()).unwrap();
    assert!(share.is_some_and(|share| (0.4..0.7).contains(&share)), "{share:?}");
    let over = Allowance::new(process_seconds() - 10.0, 1.0, 2.0);
    assert_eq!(found.try_parts(&stats, &options, ACCESS, &over).unwrap(), None);
}
