//! What ROOT's `rootls` prints of files, in its form: names in columns, or lines with classes, dates and titles, with the branches of trees
//! and the fields of RNTuples.

mod columns;
mod lines;
mod nodes;
mod options;
mod tables;

use std::path::PathBuf;

use flow::inputs::Input;
use rootfile::{Result, RootFile, public_path};

use columns::columns;
use lines::{Widths, lines};
use nodes::{Node, Nodes};
pub use options::RootListOptions;

/// What is printed, and which paths match nothing.
#[derive(Clone, Debug, Default)]
pub struct RootList {
    /// Lines, each with its end.
    pub text: String,
    /// The paths that match nothing.
    pub unmatched: Vec<String>,
}

/// The objects of files, or those that paths and patterns in them mean, in the form of `rootls`.
///
/// # Errors
///
/// A file cannot be read, or a pattern is invalid.
pub fn root_list(inputs: &[Input], options: &RootListOptions) -> Result<RootList> {
    let mut sources: Vec<(PathBuf, &Input)> = inputs.iter().map(|input| (input.path.clone(), input)).collect();
    sources.sort_by(|a, b| a.0.cmp(&b.0));
    let mut list = RootList::default();
    let outer = if sources.len() > 1 { 2 } else { 0 };
    for (path, input) in sources {
        let file = RootFile::open(&path)?;
        let nodes = Nodes::of(&file, input.tree.as_deref().unwrap_or_default())?;
        let name = public_path(&path).display().to_string();
        if nodes.objects.is_empty() && nodes.directories.is_empty() {
            list.unmatched.push(format!("{name}:{}", input.tree.as_deref().unwrap_or_default()));
        }
        if outer > 0 {
            list.text += &format!("{name} :\n");
        }
        print(&mut list.text, &nodes, &nodes.objects, options, outer);
        let several = nodes.objects.len() + nodes.directories.len() > 1;
        for directory in &nodes.directories {
            if several {
                list.text += &format!("{}{directory} :\n", " ".repeat(outer));
            }
            let indent = outer + if several { 2 } else { 0 };
            let children = nodes.children(directory);
            print(&mut list.text, &nodes, &children, options, indent);
        }
    }
    Ok(list)
}

/// Prints some nodes.
fn print(text: &mut String, nodes: &Nodes<'_>, listed: &[Node], options: &RootListOptions, indent: usize) {
    match options.is_long() {
        true => lines(text, nodes, listed, options, Widths::at(indent)),
        false => columns(text, nodes, listed, options, indent),
    }
}
