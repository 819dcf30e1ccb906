//! The labels of an axis, as the list of `TObjString`s that the axis points to.

use std::collections::HashMap;
use std::sync::Arc;

use rootfile::object::{Collection, Content, Graph, Members, Object, Plan, Step, TObject, Value};
use rootfile::streamer::StreamerInfos;

/// `TObject` bits that a new object on the heap is written with.
const NEW_OBJECT: u32 = 0x0300_0000;

/// The labels of an axis, in the order of the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Labels {
    pub list: Vec<(String, usize)>,
    pub bins: HashMap<String, usize>,
    names: HashMap<usize, usize>,
    /// How many of them came from the file.
    pub stored: usize,
}

impl Labels {
    pub fn push(&mut self, label: String, bin: usize) {
        self.bins.entry(label.clone()).or_insert(bin);
        self.names.entry(bin).or_insert(self.list.len());
        self.list.push((label, bin));
    }

    /// The label of a bin, `""` for none.
    pub fn of_bin(&self, bin: usize) -> &str {
        self.names.get(&bin).and_then(|i| self.list.get(*i)).map_or("", |(label, _)| label)
    }
}

/// Reads the `TObjString`s of a label list; their bins are kept in `fUniqueID`.
pub(super) fn decode(list: &Object, graph: &Graph) -> Result<Labels, String> {
    let Content::Collection(list) = &list.content else { return Err("its labels cannot be read".to_owned()) };
    let mut labels = Labels::default();
    for id in list.items.iter().flatten() {
        let label = graph.get(*id).and_then(Object::members).ok_or("a label cannot be read")?;
        let text = label.get("fString").and_then(Value::as_str).ok_or("a label has no text")?;
        let bin = match label.get("TObject") {
            Some(Value::TObject(object)) => object.unique_id as usize,
            _ => return Err("a label has no bin".to_owned()),
        };
        labels.push(text.to_owned(), bin);
    }
    labels.stored = labels.list.len();
    Ok(labels)
}

/// Adds the new labels to the list in the file's form.
pub(super) fn store(
    labels: &Labels,
    axis: &mut Members,
    graph: &mut Graph,
    infos: &StreamerInfos,
) -> Result<(), String> {
    let plan = infos.latest("TObjString").ok_or("no streamer info for TObjString")?;
    let plan = Arc::new(Plan::new(&plan));
    let version = i16::try_from(plan.version).unwrap_or(1);
    let mut added = Vec::new();
    for (text, bin) in labels.list.iter().skip(labels.stored) {
        let unique_id = u32::try_from(*bin).unwrap_or(u32::MAX);
        let values = plan.steps.iter().map(|(_, step)| match step {
            Step::TObject => Value::TObject(TObject { unique_id, bits: NEW_OBJECT, pid: None }),
            _ => Value::Str(text.clone()),
        });
        let members = Members { plan: Arc::clone(&plan), values: values.collect() };
        let label = Object { class: Arc::from("TObjString"), version, content: Content::Members(members) };
        added.push(Some(graph.add(label)));
    }
    let list = axis.get("fLabels").and_then(Value::as_pointer);
    if let Some(list) = list.and_then(|id| graph.objects.get_mut(id)).and_then(Option::as_mut) {
        if let Content::Collection(list) = &mut list.content {
            if !list.options.is_empty() {
                list.options.resize(list.items.len() + added.len(), String::new());
            }
            list.items.extend(added);
        }
        return Ok(());
    }
    let object = TObject { unique_id: 0, bits: NEW_OBJECT, pid: None };
    let list = Collection { object, items: added, ..Collection::default() };
    let list = Object { class: Arc::from("THashList"), version: 5, content: Content::Collection(Box::new(list)) };
    let id = graph.add(list);
    *axis.get_mut("fLabels").ok_or("an axis of a version that has no labels")? = Value::Pointer(Some(id));
    Ok(())
}
