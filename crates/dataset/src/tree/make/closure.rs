//! The classes that a file must describe for the columns of a tree.

use std::collections::HashSet;
use std::sync::Arc;

use rootfile::streamer::{StreamerInfo, StreamerInfos};
use rootfile::{Error, Result};

use super::classes::{Classes, bare, container, is_base};
use super::{NewColumn, NewKind};

/// Classes may nest this deep.
const MAX_DEPTH: usize = 200;

/// The streamer infos that a file with these columns needs: those of their classes and of all classes inside, as far as
/// `infos` has them, each after the infos that it depends on.
///
/// # Errors
///
/// If classes nest too deep.
pub fn classes_of(columns: &[NewColumn], infos: &StreamerInfos) -> Result<Vec<Arc<StreamerInfo>>> {
    let mut closure = Closure { classes: Classes::new(infos), seen: HashSet::new(), found: Vec::new() };
    for column in columns {
        let NewKind::Class { type_name, clones } = &column.kind else { continue };
        closure.class(type_name, 0)?;
        if let Some(clones) = clones {
            closure.class(clones, 0)?;
        }
    }
    Ok(closure.found)
}

struct Closure<'a> {
    classes: Classes<'a>,
    seen: HashSet<String>,
    found: Vec<Arc<StreamerInfo>>,
}

impl Closure<'_> {
    fn class(&mut self, type_name: &str, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::request("classes nest too deep"));
        }
        let name = bare(type_name);
        if !self.seen.insert(name.to_owned()) {
            return Ok(());
        }
        if let Some(container) = container(name) {
            // Pairs of maps have infos where ROOT writes them.
            return container.value.map_or(Ok(()), |value| self.class(&value, depth + 1));
        }
        let Some(info) = self.classes.info(name) else { return Ok(()) };
        for element in &info.elements {
            self.class(if is_base(element) { &element.name } else { &element.type_name }, depth + 1)?;
        }
        self.found.push(info);
        Ok(())
    }
}
