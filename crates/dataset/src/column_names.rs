//! The names by which a column is meant: its own, those of the columns above it, and their paths. Options, layouts and workloads
//! that name columns are matched with all of them. This module does not know patterns.

/// Whether a field has the name that writers generate for the items of a collection or a record without names: `_0`.
pub fn is_item_name(name: &str) -> bool {
    name.strip_prefix('_').is_some_and(|rest| rest.parse::<u32>().is_ok())
}

/// The names of a column. `lineage` has its own name and then those of the columns above it, up to the top: what is said of a
/// column above is said of all below it. The paths from the top are joined by slashes, as those of branches are printed, and by
/// dots, as those of fields are, with and without the names that are generated for items.
///
/// ```
/// use dataset::column_names::column_names;
///
/// assert_eq!(column_names(&["pt", "muons"]), ["pt", "muons", "muons/pt", "muons.pt"]);
/// assert!(column_names(&["pt", "_0", "muons"]).contains(&"muons._0.pt".to_owned()));
/// ```
pub fn column_names(lineage: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = lineage.iter().map(|&name| name.to_owned()).collect();
    let (mut whole, mut path) = (Vec::with_capacity(lineage.len()), Vec::with_capacity(lineage.len()));
    for &name in lineage.iter().rev() {
        whole.push(name);
        if !is_item_name(name) {
            path.push(name);
            names.extend((path.len() > 1).then(|| [path.join("/"), path.join(".")]).into_iter().flatten());
        }
        names.extend((whole.len() > path.len()).then(|| whole.join(".")));
    }
    names
}
