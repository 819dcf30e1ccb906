//! Finds the branches whose numbers a layout wants in fewer bits (its key `encoding`): they are decoded, and encoded with rounded
//! mantissas, or into leaves of packed numbers. A branch that cannot get what is asked for keeps its numbers, with a note.

use std::collections::{BTreeMap, HashSet};

use arrow_schema::DataType;
use dataset::decode;
use dataset::layout::{ColumnEncoding, ColumnLayout, Streaming};
use dataset::precision::{mantissa, packing};
use dataset::tree::{BranchKind, Tree};

use super::model::TablePlan;
use super::recode::reencode;
use super::view::{Reason, View};
use crate::execute::encode::tree::reduced::Reduced;
use crate::plan::request::TableRequest;
use crate::table::text_list::listed;

/// What becomes of a branch.
enum Change {
    /// Its numbers are rounded where they are.
    InPlace,
    /// Its only leaf gets another type, with this range.
    Packed(String),
}

/// A branch to be encoded again.
struct Wanted {
    branch: usize,
    own: ColumnLayout,
    change: Change,
    streaming: Option<Streaming>,
}

/// Finds them, and changes the plan. Columns that are recoded for another reason are rounded on that way.
pub(crate) fn apply(plan: &mut TablePlan, request: &TableRequest<'_>) {
    let rules = request.layout.rules(request.path);
    let asked: Vec<(usize, ColumnLayout, ColumnEncoding)> = (0..plan.tree.branches.len())
        .filter_map(|branch| {
            let own = rules.column(&plan.tree.lineage(branch));
            let encoding = own.encoding.filter(|encoding| is_of_trees(*encoding))?;
            plan.recodes
                .iter()
                .all(|recode| recode.outputs.iter().all(|output| output.column != branch))
                .then_some(())?;
            Some((branch, own, encoding))
        })
        .collect();
    if asked.is_empty() {
        return;
    }
    let infos = plan.infos.clone();
    let tops: HashSet<usize> = asked.iter().map(|(branch, ..)| top_of(&plan.tree, *branch)).collect();
    let view = View::new(plan, &infos, tops.into_iter());
    let (mut wanted, mut kept) = (Vec::new(), BTreeMap::<Reason, Vec<String>>::new());
    for (branch, own, encoding) in asked {
        match view.examine_numbers(branch, encoding) {
            Ok(Some((change, streaming))) => wanted.push(Wanted { branch, own, change, streaming }),
            Ok(None) => {}
            Err(why) => {
                let name = plan.tree.branches.get(branch).map_or("", |branch| branch.name());
                kept.entry(why).or_default().push(name.to_owned());
            }
        }
    }
    let plans = view.plans;
    for (why, names) in kept {
        let keep = if names.len() == 1 { "keeps its numbers" } else { "keep their numbers" };
        plan.messages.notes.push(format!("tree {}: {} {keep}: {why}", request.path, listed(&names)));
    }
    for Wanted { branch, own, change, streaming } in wanted {
        let before = plans.iter().find(|plan| plan.branch() == branch);
        let after = match change {
            Change::InPlace => before.cloned(),
            Change::Packed(packing) => {
                plan.tree.pack_leaf(branch, &packing);
                decode::columns(&plan.tree, &infos).into_iter().find(|plan| plan.branch() == branch)
            }
        };
        let (Some(before), Some(after)) = (before, after) else { continue };
        reencode(plan, before, &plans, &after, own, streaming, &rules);
    }
}

/// The branch of the first level that a branch is below, or that it is.
pub(crate) fn top_of(tree: &Tree, branch: usize) -> usize {
    let above = |branch: &usize| tree.branches.get(*branch)?.parent;
    std::iter::successors(Some(branch), above).take(tree.branches.len()).last().unwrap_or(branch)
}

/// Whether an encoding is one that trees have a form of.
pub(crate) fn is_of_trees(encoding: ColumnEncoding) -> bool {
    mantissa(encoding).is_some() || packing(encoding, true).is_some()
}

impl View<'_> {
    /// What becomes of a branch. None if it has no floating-point numbers, or has the encoding already.
    fn examine_numbers(
        &self,
        branch: usize,
        encoding: ColumnEncoding,
    ) -> Result<Option<(Change, Option<Streaming>)>, Reason> {
        let Some(plan) = self.plans.iter().find(|plan| plan.branch() == branch) else { return Ok(None) };
        if !holds_floats(plan.field().data_type()) {
            return Ok(None);
        }
        if let Some(why) = plan.opaque() {
            return Err(why.to_owned());
        }
        let change = match mantissa(encoding) {
            Some(_) => Change::InPlace,
            None => match packed(&self.plan.tree, branch, encoding)? {
                Some(packing) => Change::Packed(packing),
                None => return Ok(None),
            },
        };
        self.check_entries(plan)?;
        let streaming = self.streaming_of(&[plan]);
        plan.encoder(streaming.unwrap_or(Streaming::MemberWise)).map_err(|e| e.to_string())?;
        Ok(Some((change, streaming)))
    }
}

/// The range of the packed leaf that a branch of one plain leaf gets.
fn packed(tree: &Tree, branch: usize, encoding: ColumnEncoding) -> Result<Option<String>, Reason> {
    let of = tree.branches.get(branch).ok_or("no such branch")?;
    let leaf = of.leaves.first().and_then(|leaf| tree.leaves.get(*leaf)).ok_or("no leaf")?;
    let class = leaf.class.as_str();
    // Those that are packed so already are written as they are.
    if let Some(Reduced::Checked(has)) = Reduced::of(encoding, tree, of) {
        let asked = packing(encoding, class == "TLeafD32").map(|title| match class {
            "TLeafD32" => rootfile::streamer::Packed::double32(&title),
            _ => rootfile::streamer::Packed::float16(&title),
        });
        return if asked == Some(has) { Ok(None) } else { Err("its numbers are packed already".to_owned()) };
    }
    let double = class == "TLeafD";
    if !matches!(of.kind, BranchKind::Plain) || of.leaves.len() != 1 || !(double || class == "TLeafF") {
        return Err(format!(
            "only a branch of one leaf of floats or doubles can be {encoding}; mantissa:BITS is for all"
        ));
    }
    Ok(packing(encoding, double))
}

fn holds_floats(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float32 | DataType::Float64 => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => holds_floats(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| holds_floats(field.data_type())),
        _ => false,
    }
}
