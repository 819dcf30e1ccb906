//! A line for each object: class, date, name with its cycle, title.

use dataset::layout::Container;
use dataset::table::catalog::container_of;
use rootfile::date_of_datime;

use super::nodes::{Node, Nodes};
use super::options::{DEEPEST, RootListOptions};
use super::tables::{ntuple, tree};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Where columns begin: the indent, and the least widths of classes and names.
#[derive(Clone, Copy, Default)]
pub(super) struct Widths {
    pub indent: usize,
    classes: usize,
    names: usize,
}

impl Widths {
    pub fn at(indent: usize) -> Self {
        Self { indent, ..Self::default() }
    }
}

/// Prints lines; directories with what is in them, if that is asked for.
pub(super) fn lines(text: &mut String, nodes: &Nodes<'_>, listed: &[Node], options: &RootListOptions, least: Widths) {
    let longest = |of: fn(&Node) -> &str| listed.iter().map(|node| of(node).chars().count()).max().unwrap_or(0) + 2;
    let (indent, class_width) = (least.indent, longest(class).max(least.classes));
    let name_width = longest(|node| &node.key.name).max(least.names);
    for (place, node) in listed.iter().enumerate() {
        let key = &node.key;
        let is_alike = |other: Option<&Node>| other.is_some_and(|other| other.key.name == key.name);
        let before = place.checked_sub(1).and_then(|place| listed.get(place));
        let cycle = match (is_alike(before), is_alike(listed.get(place + 1))) {
            (true, _) => "[backup cycle]",
            (false, true) => "[current cycle]",
            (false, false) => "",
        };
        let (class, date, title) = (class(node), date(key.datime), &key.title);
        let name = format!("{};{}", key.name, key.cycle);
        *text += &" ".repeat(indent);
        *text += &format!("{class:<class_width$}{date} {name:<name_width$} \"{title}\" {cycle}\n");
        match container_of(nodes.file, &key.class) {
            Some(Container::Ttree) if options.trees => tree(text, nodes.file, key, indent + 2),
            Some(Container::Rntuple) if options.ntuples => ntuple(text, nodes.file, key, indent + 2),
            _ => {}
        }
        if let (true, Some(path)) = (options.recursive && indent < DEEPEST, &node.directory) {
            let below = Widths { indent: indent + 2, classes: class_width - 2, names: name_width - 2 };
            lines(text, nodes, &nodes.children(path), options, below);
        }
    }
}

/// The class of an object as ROOT calls it: keys of directories have the name of a base.
fn class(node: &Node) -> &str {
    if node.directory.is_some() { "TDirectoryFile" } else { &node.key.class }
}

/// A date as ROOT's tool prints it, `Jun 30 23:59 2018`: days and hours have two digits, minutes below ten have one (`Jun 30 23:5 2018`).
fn date(datime: u32) -> String {
    // As `2018-06-30 23:59:00`.
    let text = date_of_datime(datime);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let month = part(5, 7).parse::<usize>().ok().and_then(|month| MONTHS.get(month.checked_sub(1)?)).unwrap_or(&"???");
    let minute = part(14, 16);
    let minute = minute.strip_prefix('0').unwrap_or(minute);
    format!("{month} {} {}:{minute} {}", part(8, 10), part(11, 13), part(0, 4))
}
