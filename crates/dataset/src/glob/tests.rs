//! Patterns of names, and filters made of them.

use super::*;

fn matches(pattern: &str, name: &str) -> bool {
    Pattern::new(pattern).unwrap().matches(name)
}

#[test]
fn globs_cross_dots_and_slashes() {
    assert!(matches("Muon_*", "Muon_pt"));
    assert!(!matches("Muon_*", "nMuon_pt"));
    assert!(matches("*.fX", "event.tracks.fX"));
    assert!(matches("a*z", "a/b.c/z"));
    assert!(matches("Muon_p?", "Muon_pt"));
    assert!(matches("[EM]*_pt", "Electron_pt"));
    assert!(matches("{Muon,Jet}_pt", "Jet_pt"));
    assert!(!matches("Muon", "Muon_pt"));
}

#[test]
fn a_literal_name_with_dimensions_matches_itself() {
    assert!(matches("fTracks.fX[3]", "fTracks.fX[3]"));
    assert!(matches("fTracks.fM[fN_][2]", "fTracks.fM[fN_][2]"));
    assert!(matches("fTracks.fX", "fTracks.fX[3]"));
    assert!(matches("*.fX", "fTracks.fX[3]"));
    assert!(!matches("fTracks.fX", "fTracks.fXY[3]"));
    for name in ["fX[3]", "a*b", "what?", "a{b", "x]", "back\\slash", "plain"] {
        let exact = Pattern::exact(name);
        assert!(exact.matches(name), "{name}");
        assert!(Pattern::new(exact.as_str()).unwrap().matches(name), "{name} written and read again");
    }
    assert!(!Pattern::exact("a*b").matches("axb"));
    assert!(!Pattern::exact("fX[3]").matches("fX3"));
}

#[test]
fn a_glob_that_escapes_all_but_braces_is_names() {
    let of = |glob| names(glob).map(|names| names.join(" "));
    for (glob, all) in [
        ("a[*]b", "a*b"),
        ("x[[]3]", "x[3]"),
        ("a\\?", "a?"),
        ("plain", "plain"),
        ("T/{b,a}", "T/a T/b"),
        ("{a,b}_{x,[,]}", "a_, a_x b_, b_x"),
    ] {
        assert_eq!(of(glob).as_deref(), Some(all), "{glob}");
    }
    for glob in ["a*", "[ab]", "[!a]", "[^a]", "[]]", "x[a", "a\\", "{a*,b}", "a?", "{a", "a}", "{a,{b,c}}", "{a,}"] {
        assert_eq!(of(glob), None, "{glob}");
    }
    assert!(matches("{Muon,Jet}_pt", "Muon_pt[3]") && !matches("{Muon,Jet}_pt", "Muon"));
    assert!(matches("a[*]b", "a*b") && !matches("a[*]b", "axb"));
}

#[test]
fn a_broken_pattern_is_named() {
    let message = Pattern::new("Muon_[").unwrap_err().to_string();
    assert!(message.contains("\"Muon_[\""), "{message}");
    assert!(Pattern::new("").is_err());
}

#[test]
fn tree_patterns_see_name_or_path() {
    let matches = |p: &str, path: &str| TreePattern::new(p).unwrap().matches(path);
    assert!(matches("MetaData*", "MetaDataTree"));
    assert!(matches("Events", "dir/Events"));
    assert!(matches("dir/Events", "dir/Events"));
    assert!(matches("dir/*", "dir/Events"));
    assert!(!matches("dir", "dir/Events"));
    assert!(!matches("other/Events", "dir/Events"));
}

#[test]
fn column_patterns_may_name_the_tree() {
    let matches = |p: &str, tree: &str, column: &str| ColumnPattern::new(p).unwrap().matches(tree, column);
    assert!(matches("Muon_*", "Events", "Muon_pt"));
    assert!(matches("Events/Muon_*", "Events", "Muon_pt"));
    assert!(matches("Events/Muon_*", "dir/Events", "Muon_pt"));
    assert!(!matches("Events/Muon_*", "Runs", "Muon_pt"));
    assert!(!matches("Muon_*", "Muon_tree", "Jet_pt"));
    assert!(matches("odd/name", "Events", "odd/name"));
    let exact = ColumnPattern::exact("dir/T[1]", "x*");
    assert!(exact.matches("dir/T[1]", "x*"));
    assert!(!exact.matches("dir/T[1]", "xy"));
    assert!(ColumnPattern::new(exact.as_str()).unwrap().matches("dir/T[1]", "x*"));
}

#[test]
fn expressions_between_slashes() {
    assert!(matches("/Muon_(pt|eta)/", "Muon_pt"));
    assert!(matches("/Muon_(pt|eta)/", "Muon_ptErr"), "from the beginning");
    assert!(!matches("/Muon_(pt|eta)$/", "Muon_ptErr"));
    assert!(!matches("/uon/", "Muon_pt"));
    assert!(matches("/^muon_PT$/i", "Muon_pt"));
    assert!(matches("/fX$/", "fX[3]"), "without its dimensions, too");
    assert!(matches("/a/b$/", "a/b"));
    assert!(!matches("/usr/lib", "usr"), "not between slashes");
    let message = Pattern::new("/Muon_(/").unwrap_err().to_string();
    assert_eq!(message, "/Muon_(/: not a regular expression: unclosed group");
    assert!(Pattern::expression("a|bc").unwrap().matches("bc") && !Pattern::expression("a|b").unwrap().matches("bc"));
    let exact = Pattern::exact("/odd/");
    assert!(exact.matches("/odd/") && !exact.matches("odd"));
    assert!(Pattern::new(exact.as_str()).unwrap().matches("/odd/"));
    assert!(TreePattern::new("/Meta|Runs$/").unwrap().matches("dir/MetaData"));
}

#[test]
fn expressions_of_columns_may_name_the_tree() {
    let matches = |p: &str, tree: &str, column: &str| ColumnPattern::new(p).unwrap().matches(tree, column);
    assert!(matches("/Muon_.*/", "Events", "Muon_pt"));
    assert!(matches("Events//Muon_.*/", "dir/Events", "Muon_pt"));
    assert!(!matches("Events//Muon_.*/", "Runs", "Muon_pt"));
    assert!(matches("Ev*//muon/i", "Events", "Muon_pt"));
    let filter = NameFilter::new(&["/Muon_(pt|eta)$/"], &["Events//.*eta/"]).unwrap();
    assert!(filter.keeps("Events", &["Muon_pt"]) && !filter.keeps("Events", &["Muon_eta"]));
    assert!(!filter.keeps("Events", &["Muon_ptErr"]));
}

#[test]
fn keep_and_drop() {
    let filter = NameFilter::new(&["muons", "Jet_*"], &["*_mass"]).unwrap();
    assert!(filter.keeps("Events", &["muons.pt", "muons"]), "a parent's name keeps its children");
    assert!(filter.keeps("Events", &["Jet_pt"]));
    assert!(!filter.keeps("Events", &["Jet_mass"]));
    assert!(!filter.keeps("Events", &["MET_pt"]));
    assert!(NameFilter::default().keeps("Events", &["anything"]));
    let dropping = NameFilter::new(&[], &["muons"]).unwrap();
    assert!(!dropping.keeps("Events", &["muons.pt", "muons"]));
    assert!(dropping.keeps("Events", &["jets"]));
}

#[test]
fn a_path_of_columns_is_no_column_of_another_table() {
    let columns = [vec!["muons"], vec!["muons.pt[3]", "muons"], vec!["pt", "_0", "jets"], vec!["run"]];
    let kept = |keep: &[&str], drop: &[&str], tree: &str| -> Vec<bool> {
        let filter = NameFilter::new(keep, drop).unwrap().of_table(tree, columns.iter().cloned());
        columns.iter().map(|lineage| filter.keeps(tree, lineage)).collect()
    };
    assert_eq!(kept(&["muons/muons.pt[3]"], &[], "Events"), [false, true, false, false]);
    assert_eq!(kept(&["jets/p*"], &[], "Events"), [false, false, true, false]);
    assert_eq!(kept(&["jets.pt"], &[], "Events"), [false, false, true, false]);
    assert_eq!(kept(&["jets._0.pt"], &[], "Events"), [false, false, true, false]);
    assert_eq!(kept(&["Events/jets/pt", "muons/*"], &[], "Events"), [false, true, true, false]);
    assert_eq!(kept(&["Runs/run"], &[], "Events"), [true; 4], "of another table");
    assert_eq!(kept(&[], &["muons/muons.pt[3]", "jets.pt"], "Events"), [true, false, false, true]);
}

#[test]
fn a_tree_without_a_keep_pattern_keeps_all_columns() {
    let filter = NameFilter::new(&["Events/Muon_*"], &[]).unwrap();
    assert!(filter.keeps("Runs", &["run"]));
    assert!(!filter.keeps("Events", &["run"]));
}

#[test]
fn columns_of_the_first_level_are_left_out_by_their_names() {
    let filter = NameFilter::default().without_columns(["run".to_owned(), "muons".to_owned()].into_iter());
    assert!(!filter.keeps_all());
    for (lineage, is_kept) in
        [(vec!["run"], false), (vec!["run", "info"], true), (vec!["pt", "muons."], false), (vec!["runs"], true)]
    {
        assert_eq!(filter.keeps("Events", &lineage), is_kept, "{lineage:?}");
    }
}
