//! Parses the inputs that users name: paths, `FILE:TREE`, patterns, and lists of these.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rootfile::{Error, Result, list_url, public_path, url};

/// Special characters of patterns for files.
const SPECIAL: [char; 3] = ['*', '?', '['];

/// A file, and the tree in it, if one was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The file.
    pub path: PathBuf,
    /// Path of the tree in the file, or a pattern.
    pub tree: Option<String>,
}

impl FromStr for Input {
    type Err = std::convert::Infallible;

    /// `FILE` or `FILE:TREE`. The name of an existing file is never split. In a URL the tree follows `.root:`, since hosts have colons
    /// too, and the URL's parameters may follow the tree: `https://host/a.root:TREE?authz=...`.
    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let whole = || Self { path: text.into(), tree: None };
        if url(Path::new(text)).is_some() {
            return Ok(match text.rsplit_once(".root:").filter(|(_, tree)| !tree.is_empty()) {
                Some((file, tree)) => {
                    // A `?` without `=` is of a pattern for trees.
                    let at = tree.find('?').filter(|at| tree.get(*at..).is_some_and(|rest| rest.contains('=')));
                    let (tree, parameters) = tree.split_at(at.unwrap_or(tree.len()));
                    let tree = tree.trim_matches('/').to_owned();
                    Self { path: format!("{file}.root{parameters}").into(), tree: Some(tree) }
                }
                None => whole(),
            });
        }
        // Names of trees may have colons (`Event::Track`): the first file that exists counts.
        let splits = text.match_indices(':').filter_map(|(at, _)| Some((text.get(..at)?, text.get(at + 1..)?)));
        let known = splits.filter(|(file, _)| !file.is_empty()).find(|(file, _)| Path::new(file).is_file());
        Ok(match known.or_else(|| text.rsplit_once(':')) {
            Some((file, tree)) if !file.is_empty() && !tree.is_empty() && !Path::new(text).exists() => {
                Self { path: file.into(), tree: Some(tree.trim_matches('/').to_owned()) }
            }
            _ => whole(),
        })
    }
}

impl From<OsString> for Input {
    /// As of a text. A name that is no text is that of a file: trees and patterns are texts.
    fn from(argument: OsString) -> Self {
        argument
            .to_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(|| Self { path: argument.into(), tree: None })
    }
}

/// Parses arguments. `@list.txt` is a file with one input a line; blank lines and lines that start with `#` are ignored.
///
/// # Errors
///
/// A list cannot be read, a pattern matches no file, or no input is left.
pub fn inputs(arguments: &[impl AsRef<OsStr>]) -> Result<Vec<Input>> {
    let mut found = Vec::new();
    for argument in arguments {
        let Some(text) = argument.as_ref().to_str() else {
            found.push(argument.as_ref().to_owned().into());
            continue;
        };
        let Some(list) = text.strip_prefix('@') else {
            found.extend(expand(text)?);
            continue;
        };
        let text = std::fs::read_to_string(list).map_err(|e| Error::from(e).file(list))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            found.extend(expand(line)?);
        }
    }
    match found.is_empty() {
        true => Err(Error::request("no input: the lists name no file")),
        false => Ok(found),
    }
}

/// The list files among the arguments.
pub fn lists(arguments: &[impl AsRef<OsStr>]) -> impl Iterator<Item = &Path> {
    arguments.iter().filter_map(|argument| argument.as_ref().to_str()?.strip_prefix('@')).map(Path::new)
}

/// The tree that all inputs name, if they name one.
///
/// # Errors
///
/// The inputs name different trees.
pub fn one_tree(inputs: &[Input]) -> Result<Option<String>> {
    let Some(first) = inputs.first() else { return Ok(None) };
    if let Some(other) = inputs.iter().find(|input| input.tree != first.tree) {
        let named = |input: &Input| input.tree.clone().map_or("no tree".to_owned(), |tree| format!("tree {tree}"));
        let (here, there, file) = (named(other), named(first), public_path(&first.path));
        let message =
            format!("{here} is named here, and {there} in {}; name the same tree in all inputs", file.display());
        return Err(Error::request(message).file(&other.path));
    }
    Ok(first.tree.clone())
}

/// The inputs of one argument: the matching files of a pattern, unless a file of exactly this name exists.
fn expand(text: &str) -> Result<Vec<Input>> {
    let Ok(input) = text.parse::<Input>();
    let pattern = input.path.to_string_lossy().into_owned();
    if let Some(url) = url(&input.path) {
        return expand_url(url, &input);
    }
    if !pattern.contains(SPECIAL) || input.path.exists() {
        return Ok(vec![input]);
    }
    let bad = |e: &dyn std::fmt::Display| Error::request(format!("{pattern}: not a pattern for files: {e}"));
    // In the order of their names, like TChain.
    let files = glob::glob(&pattern).map_err(|e| bad(&e))?.collect::<std::result::Result<Vec<_>, _>>();
    let files = files.map_err(|e| bad(&e))?;
    if files.is_empty() {
        return Err(Error::request(format!("no file matches {pattern}")));
    }
    Ok(files.into_iter().map(|path| Input { path, tree: input.tree.clone() }).collect())
}

/// Refuses a pattern for files where one file is read.
///
/// # Errors
///
/// The path is a pattern, and no file is called so.
pub fn refuse_pattern(input: &Input) -> Result<()> {
    let is_pattern = url(&input.path).is_none() && input.path.to_string_lossy().contains(SPECIAL);
    if !is_pattern || input.path.exists() {
        return Ok(());
    }
    let why =
        "is a pattern, and one file is read here: name it; `basketry ls`, `count`, `stats` and `draw` take patterns";
    Err(Error::request(why).file(&input.path))
}

/// The files of a pattern on a server. Only the last part may be one, and `?` begins the parameters of a URL.
fn expand_url(url: &str, input: &Input) -> Result<Vec<Input>> {
    let (address, parameters) = url.split_at(url.find('?').unwrap_or(url.len()));
    let host_end = address.find("://").map_or(0, |at| at + 3);
    let Some((folder, name)) =
        address.rsplit_once('/').filter(|(folder, name)| folder.len() >= host_end && name.contains(['*', '[']))
    else {
        return Ok(vec![input.clone()]);
    };
    let pattern = glob::Pattern::new(name).map_err(|e| Error::request(format!("not a pattern: {e}")).file(address))?;
    let mut names = list_url(&format!("{folder}{parameters}")).map_err(|e| e.file(address))?;
    names.retain(|name| pattern.matches(name));
    names.sort_unstable();
    if names.is_empty() {
        return Err(Error::request(format!("no file matches {name}")).file(folder));
    }
    let file = |name: &String| Input { path: format!("{folder}/{name}{parameters}").into(), tree: input.tree.clone() };
    Ok(names.iter().map(file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_trees() {
        let input = |path: &str, tree: Option<&str>| Input { path: path.into(), tree: tree.map(str::to_owned) };
        for (text, expected) in [
            ("a.root", input("a.root", None)),
            ("a.root:Events", input("a.root", Some("Events"))),
            ("a.root:dir/Events", input("a.root", Some("dir/Events"))),
            ("d/a.root:/Events", input("d/a.root", Some("Events"))),
            ("a.root:", input("a.root:", None)),
            (":x", input(":x", None)),
            ("root://host:1094//a.root", input("root://host:1094//a.root", None)),
            ("root://host:1094//a.root:d/T", input("root://host:1094//a.root", Some("d/T"))),
            ("http://h:80/a.root?authz=x", input("http://h:80/a.root?authz=x", None)),
            ("http://h:80/a.root:T?authz=x", input("http://h:80/a.root?authz=x", Some("T"))),
            ("http://h:80/a.root:T?", input("http://h:80/a.root", Some("T?"))),
        ] {
            assert_eq!(text.parse::<Input>().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_file_with_a_colon_in_its_name_is_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a:b.root");
        std::fs::write(&path, "").unwrap();
        let text = path.to_str().unwrap();
        assert_eq!(text.parse::<Input>().unwrap().path, path);
        assert_eq!(format!("{text}:T").parse::<Input>().unwrap(), Input { path: path.clone(), tree: Some("T".into()) });
        let named = format!("{text}:a::T").parse::<Input>().unwrap();
        assert_eq!(named, Input { path, tree: Some("a::T".into()) });
    }

    #[test]
    fn patterns_are_files_in_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b2.root", "b10.root", "a.root"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let found = inputs(&[format!("{}/b*.root:T", dir.path().display())]).unwrap();
        let names: Vec<_> = found.iter().map(|i| i.path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["b10.root", "b2.root"]);
        assert_eq!(found[0].tree.as_deref(), Some("T"));
        assert!(inputs(&[format!("{}/c*.root", dir.path().display())]).is_err());
    }

    #[test]
    fn lists_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("list.txt");
        std::fs::write(&list, "# mine\n\na.root\n  b.root:T \n").unwrap();
        let found = inputs(&[format!("@{}", list.display()), "c.root".into()]).unwrap();
        let paths: Vec<_> = found.iter().map(|input| input.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["a.root", "b.root", "c.root"]);
        assert!(inputs(&["@/no/such/list"]).is_err());
    }
}
