//! A cache of plans for one record. Plans are found without hashing, since nearly all objects of a record are of a few
//! classes.

use std::collections::HashMap;
use std::sync::Arc;

use super::handwritten;
use super::plan::Plan;
use crate::streamer::StreamerInfos;

/// Plans that are searched one by one.
const AT_HAND: usize = 16;

/// The version or checksum of an object's class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Layout {
    /// Its version.
    Version(i32),
    /// Its checksum, of classes without a version.
    Checksum(u32),
}

/// Plans by class and layout.
pub(super) struct Plans<'a> {
    infos: &'a StreamerInfos,
    at_hand: Vec<(Layout, Arc<Plan>)>,
    others: HashMap<(String, Layout), Arc<Plan>>,
}

impl<'a> Plans<'a> {
    pub fn new(infos: &'a StreamerInfos) -> Self {
        Self { infos, at_hand: Vec::new(), others: HashMap::new() }
    }

    /// The plan for a class, if an info describes it.
    pub fn get(&mut self, class: &str, layout: Layout) -> Option<Arc<Plan>> {
        if let Some((_, plan)) = self.at_hand.iter().find(|(l, plan)| *l == layout && plan.class == class) {
            return Some(Arc::clone(plan));
        }
        let is_room = self.at_hand.len() < AT_HAND;
        if !is_room && let Some(plan) = self.others.get(&(class.to_owned(), layout)) {
            return Some(Arc::clone(plan));
        }
        let plan = match layout {
            Layout::Version(version) => handwritten::plan(class, version)
                .or_else(|| self.infos.get(class, version).map(|info| Plan::new(&info))),
            Layout::Checksum(checksum) => self.infos.by_checksum(class, checksum).map(|info| Plan::new(&info)),
        };
        let plan = Arc::new(plan?);
        if is_room {
            self.at_hand.push((layout, Arc::clone(&plan)));
        } else {
            self.others.insert((class.to_owned(), layout), Arc::clone(&plan));
        }
        Some(plan)
    }
}
