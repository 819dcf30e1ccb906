//! Names in columns, as many as fit a line.

use super::nodes::{Node, Nodes};
use super::options::{DEEPEST, RootListOptions};

/// Spaces between columns.
const BETWEEN: usize = 2;

/// Prints names in columns; directories with what is in them, if that is asked for.
pub(super) fn columns(text: &mut String, nodes: &Nodes<'_>, listed: &[Node], options: &RootListOptions, indent: usize) {
    let mut shown: Vec<(&Node, String)> = Vec::new();
    for node in listed {
        let key = &node.key;
        match shown.last() {
            Some((last, _)) if !options.all_cycles && last.key.name == key.name => {}
            _ if options.all_cycles => shown.push((node, format!("{};{}", key.name, key.cycle))),
            _ => shown.push((node, key.name.clone())),
        }
    }
    let widths: Vec<usize> = shown.iter().map(|(_, name)| name.chars().count() + BETWEEN).collect();
    let widths = if options.one_column { vec![1] } else { fitting(&widths, options.width.saturating_sub(indent)) };
    let has_children =
        |node: &Node| options.recursive && node.directory.as_ref().is_some_and(|path| !nodes.children(path).is_empty());
    let mut column = 0;
    for (place, (node, name)) in shown.iter().enumerate() {
        if column == 0 {
            *text += &" ".repeat(indent);
        }
        let next_is_open = shown.get(place + 1).is_some_and(|(next, _)| has_children(next));
        let is_open = has_children(node);
        let is_last = column + 1 >= widths.len() || place + 1 == shown.len() || is_open || next_is_open;
        *text += name;
        if is_last {
            text.push('\n');
            column = 0;
        } else {
            let width = widths.get(column).copied().unwrap_or(0);
            *text += &" ".repeat(width.saturating_sub(name.chars().count()));
            column += 1;
        }
        if let (true, Some(path)) = (is_open && indent < DEEPEST, &node.directory) {
            columns(text, nodes, &nodes.children(path), options, indent + 2);
        }
    }
}

/// The widths of the most columns that fit a line, filled line by line.
fn fitting(names: &[usize], line: usize) -> Vec<usize> {
    let widths = |count: usize| -> Vec<usize> {
        (0..count).map(|column| names.iter().skip(column).step_by(count).copied().max().unwrap_or(0)).collect()
    };
    let fits = |widths: &Vec<usize>| widths.iter().sum::<usize>() <= line;
    (1..=names.len().min(line / BETWEEN)).rev().map(widths).find(fits).unwrap_or_else(|| vec![1])
}
