//! Finds the columns to recode: those with another split level or streaming than requested. In the plan's tree they are
//! replaced by the branches that ROOT's writer would make. A column that keeps its layout against the request gets a note
//! with the reason.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::AtomicU64;

use dataset::assemble::{LogicalColumn, logical_columns};
use dataset::decode::{self, ColumnPlan};
use dataset::layout::{ByteSize, ColumnLayout, Streaming, TreeRules, defaults};
use dataset::tree::make::{NewColumn, NewKind, make_tree};
use dataset::tree::{Branch, BranchKind, Tree};

use super::model::TablePlan;
use super::streaming;
use super::view::{Reason, View};
use crate::execute::encode::tree::branch_plan::branch_plan;
use crate::execute::engine::tree::recode_job::{Form, Recode, RecodeOutput};
use crate::execute::fetch::tree::column_stream::DecodeSource;
use crate::plan::request::TableRequest;
use crate::table::memory;
use crate::table::target::Shape;
use crate::table::text_list::listed;
use crate::table::tree::column::Column;

/// A branch of the first level that gets another split level.
struct SplitChange {
    top: usize,
    made: Tree,
    from: LogicalColumn,
    to: LogicalColumn,
    plans: Vec<ColumnPlan>,
    streaming: Streaming,
    forms: [Form; 2],
}

/// The columns to recode, and those that keep their layout.
#[derive(Default)]
struct Findings {
    changes: Vec<SplitChange>,
    /// Branches that get another streaming only: the new one, and the present one.
    streamed: Vec<(usize, Streaming, Option<Streaming>)>,
    /// Branches that keep their layout, by reason.
    kept: BTreeMap<Reason, Vec<String>>,
}

/// Finds the columns to recode, and changes the plan.
pub(crate) fn apply(plan: &mut TablePlan, request: &TableRequest<'_>) {
    let rules = request.layout.rules(request.path);
    let requested = requested_changes(plan, &rules);
    if requested.is_empty() {
        return;
    }
    let infos = plan.infos.clone();
    let view = View::new(plan, &infos, requested.iter().map(|(top, _)| *top));
    let wholes = view.wholes();
    let mut found = Findings::default();
    for (top, own) in requested {
        let Some(whole) = wholes.iter().find(|whole| whole.top() == top) else { continue };
        if let Err(why) = view.examine(whole, &own, &mut found) {
            found.kept.entry(why).or_default().push(whole.field().name().clone());
        }
    }
    let plans = view.plans;
    add_notes(plan, request.path, &found);
    restream(plan, &plans, found.streamed, &rules);
    replace_branches(plan, &plans, found.changes, &rules);
}

/// The branches of the first level with a requested split level or streaming, and their requested layouts.
fn requested_changes(plan: &TablePlan, rules: &TreeRules<'_>) -> Vec<(usize, ColumnLayout)> {
    let own = |&top: &usize| {
        let branch = plan.tree.branches.get(top)?;
        let own = rules.column(&[branch.name()]);
        let asks = own.split_level.is_some() || own.streaming.is_some();
        (asks && !matches!(branch.kind, BranchKind::Plain | BranchKind::Ref { .. })).then_some((top, own))
    };
    plan.tree.top.iter().filter_map(own).collect()
}

/// Adds notes about branches that keep their layout, and about losses.
fn add_notes(plan: &mut TablePlan, path: &str, found: &Findings) {
    for (why, names) in &found.kept {
        let keep = if names.len() == 1 { "keeps its layout" } else { "keep their layout" };
        plan.messages.notes.push(format!("tree {path}: {} {keep}: {why}", listed(names)));
    }
    let plain: Vec<String> =
        found.changes.iter().filter(|c| c.drops_bits()).map(|c| c.from.field().name().clone()).collect();
    if !plain.is_empty() {
        plan.messages
            .lost
            .push(format!("tree {path}: fUniqueID and fBits of the objects in {} are reset", listed(&plain)));
    }
    let drops_names = |change: &&SplitChange| change.plans.iter().any(ColumnPlan::omits_collection_names);
    let named: Vec<String> =
        found.changes.iter().filter(drops_names).map(|change| change.from.field().name().clone()).collect();
    if !named.is_empty() {
        let names = listed(&named);
        plan.messages
            .lost
            .push(format!("tree {path}: names and options of the TObjArray and TList in {names} are dropped"));
    }
}

impl SplitChange {
    /// Whether it holds `TObject`s, whose fUniqueID and fBits are not carried over.
    fn drops_bits(&self) -> bool {
        self.plans.iter().any(ColumnPlan::omits_tobjects)
            || self.made.branches.iter().any(|b| b.name().ends_with("fUniqueID"))
    }
}

impl View<'_> {
    /// Decides what happens to one branch of the first level.
    fn examine(&self, whole: &LogicalColumn, own: &ColumnLayout, found: &mut Findings) -> Result<(), Reason> {
        let plans: Vec<&ColumnPlan> = self.plans.iter().filter(|p| whole.branches().contains(&p.branch())).collect();
        if let Some(level) = own.split_level
            && let Some(change) = self.split(whole, &plans, level, own)?
        {
            found.changes.push(change);
            return Ok(());
        }
        let Some(streaming) = own.streaming else { return Ok(()) };
        for plan in plans.into_iter().filter(|plan| plan.streams_collections()) {
            if let Some(why) = plan.opaque() {
                return Err(why.to_owned());
            }
            let current = streaming::current_streaming(self, plan, streaming);
            if current == Some(streaming) {
                continue;
            }
            self.check_entries(plan)?;
            plan.encoder(streaming).map_err(|e| e.to_string())?;
            found.streamed.push((plan.branch(), streaming, current));
        }
        Ok(())
    }

    /// The branches that a branch becomes at another split level, if it does not have that level already.
    fn split(
        &self,
        whole: &LogicalColumn,
        plans: &[&ColumnPlan],
        level: u32,
        own: &ColumnLayout,
    ) -> Result<Option<SplitChange>, Reason> {
        let tree = &self.plan.tree;
        let branch = tree.branches.get(whole.top()).ok_or("no such branch")?;
        let known = plans.first().and_then(|plan| plan.array_class());
        let Some(column) = new_column(branch, known, level, own) else { return Ok(None) };
        let split = whole.branches().len() > 1 || is_collection(branch) || !branch.children.is_empty();
        if !split && level == 0 {
            return Ok(None);
        }
        let made = make_tree(tree.named.name.as_str(), "", &[column], self.infos).map_err(|e| e.to_string())?;
        let clones = made.top.first().and_then(|&top| made.branches.get(top)).and_then(|b| match &b.kind {
            BranchKind::Object { class_name } if class_name == "TClonesArray" => clones_of(branch).or(known),
            _ => None,
        });
        let mut new: Vec<ColumnPlan> = decode::columns(&made, self.infos);
        for plan in new.iter_mut().filter(|plan| plan.needs_learning()) {
            *plan = ColumnPlan::with_learned(&made, plan.branch(), self.infos, plans, clones);
        }
        let to = logical_columns(&made, self.infos, &new).pop().ok_or("no branch would be left of it")?;
        if same_shape((tree, whole), (&made, &to)) {
            return Ok(None);
        }
        if let Some(why) = whole.opaque().or(to.opaque()) {
            return Err(why.to_owned());
        }
        if whole.field().data_type() != to.field().data_type() {
            return Err("it would have another type at that split level".to_owned());
        }
        self.check_references(whole.top())?;
        plans.iter().try_for_each(|plan| self.check_entries(plan))?;
        // ROOT's default (`TVirtualStreamerInfo::fgStreamMemberWise`).
        let now = || self.streaming_of(plans).unwrap_or(Streaming::MemberWise);
        let streaming = own.streaming.unwrap_or_else(now);
        for plan in &new {
            plan.encoder(streaming).map_err(|e| e.to_string())?;
        }
        let form = |level: i32, streaming, branches: usize| Form {
            split_level: u32::try_from(level).unwrap_or(0),
            streaming,
            branches: branches as u64,
        };
        let streams = new.iter().any(ColumnPlan::streams_collections);
        let level = i32::try_from(level).unwrap_or(i32::MAX);
        let forms = [
            form(branch.split_level, self.streaming_of(plans), plans.len()),
            form(level, streams.then_some(streaming), new.len()),
        ];
        Ok(Some(SplitChange { top: whole.top(), made, from: whole.clone(), to, plans: new, streaming, forms }))
    }

    /// The present streaming, if there are streamed collections.
    pub(super) fn streaming_of(&self, plans: &[&ColumnPlan]) -> Option<Streaming> {
        let mut streamed = plans.iter().filter(|plan| plan.streams_collections());
        streamed.find_map(|plan| streaming::current_streaming(self, plan, Streaming::MemberWise))
    }

    /// Checks that no other branch refers to a branch or to those below it.
    fn check_references(&self, top: usize) -> Result<(), Reason> {
        let tree = &self.plan.tree;
        if tree.branch_ref.is_some() {
            return Err(
                "the tree has a table of references (TBranchRef), which refers to branches by number".to_owned()
            );
        }
        let own: HashSet<usize> = tree.below(top).into_iter().collect();
        let places = tree.places();
        let refers = |i: &usize| places.counters(tree, *i).iter().any(|counter| own.contains(counter));
        match (0..tree.branches.len()).filter(|i| !own.contains(i)).find(refers).and_then(|i| tree.branches.get(i)) {
            Some(other) => Err(format!("{} is counted by it", other.name())),
            None => Ok(()),
        }
    }
}

/// The class of a branch of the first level, if it has one.
pub(crate) fn class_of(branch: &Branch) -> Option<&str> {
    match &branch.kind {
        BranchKind::Element(element) => Some(&element.class_name),
        BranchKind::Object { class_name } => Some(class_name),
        BranchKind::Clones(_) => Some("TClonesArray"),
        BranchKind::Plain | BranchKind::Ref { .. } => None,
    }
}

fn is_collection(branch: &Branch) -> bool {
    branch.element().is_some_and(|element| matches!(element.element_type, 3 | 4))
}

/// The class of a split `TClonesArray`'s objects.
fn clones_of(branch: &Branch) -> Option<&str> {
    match &branch.kind {
        BranchKind::Element(element) if !element.clones_name.is_empty() => Some(&element.clones_name),
        BranchKind::Clones(clones) => Some(&clones.class_name),
        _ => None,
    }
}

/// The column to make for a branch. `known` is the class of an array's objects, if it was learned from entries.
fn new_column(branch: &Branch, known: Option<&str>, level: u32, own: &ColumnLayout) -> Option<NewColumn> {
    let class = class_of(branch)?;
    let clones = clones_of(branch).or(known).filter(|_| class == "TClonesArray").map(str::to_owned);
    let requested = own.basket.map(|ByteSize(size)| u32::try_from(size).unwrap_or(u32::MAX >> 1));
    Some(NewColumn {
        split_level: i32::try_from(level % 100).unwrap_or(0),
        basket_size: requested.unwrap_or(branch.basket_size.max(defaults::BASKET_SIZE)),
        ..NewColumn::new(branch.name(), NewKind::Class { type_name: class.to_owned(), clones })
    })
}

/// Whether two logical columns are split in the same way.
fn same_shape(old: (&Tree, &LogicalColumn), new: (&Tree, &LogicalColumn)) -> bool {
    let single = |(tree, whole): (&Tree, &LogicalColumn)| {
        let top = tree.branches.get(whole.top());
        whole.branches().len() == 1 && top.is_some_and(|top| top.children.is_empty() && !is_collection(top))
    };
    let shape = |(tree, whole): (&Tree, &LogicalColumn)| -> Vec<(String, i32, i32)> {
        let element_of = |branch: &usize| {
            let element = tree.branches.get(*branch)?.element()?;
            Some((element.class_name.clone(), element.element_id, element.element_type))
        };
        whole.branches().iter().map(|branch| element_of(branch).unwrap_or_default()).collect()
    };
    single(old) && single(new) || shape(old) == shape(new)
}

/// Gives branches another streaming. They keep their places in the tree.
fn restream(
    plan: &mut TablePlan,
    plans: &[ColumnPlan],
    streamed: Vec<(usize, Streaming, Option<Streaming>)>,
    rules: &TreeRules<'_>,
) {
    for (branch, streaming, now) in streamed {
        let Some(column) = plans.iter().find(|plan| plan.branch() == branch) else { continue };
        let own = rules.column(&plan.tree.lineage(branch));
        reencode(plan, column, plans, column, ColumnLayout { streaming: Some(streaming), ..own }, now, rules);
    }
}

/// Decodes a branch by one plan, and encodes it by another one. It keeps its place in the tree. `own` is its layout, and `now` its
/// present streaming, which stays if no other one is asked for.
pub(super) fn reencode(
    plan: &mut TablePlan,
    column: &ColumnPlan,
    plans: &[ColumnPlan],
    to: &ColumnPlan,
    own: ColumnLayout,
    now: Option<Streaming>,
    rules: &TreeRules<'_>,
) {
    let branch = column.branch();
    let Some(source) = DecodeSource::of(column, plans, &plan.columns) else { return };
    let level = plan.tree.branches.get(branch).map_or(0, |branch| branch.split_level);
    let split_level = u32::try_from(level).unwrap_or(0);
    if let Some(branch) = plan.tree.branches.get_mut(branch) {
        // The writer writes plain offsets.
        branch.io_bits = 0;
    }
    let compression = own.compression.or_else(|| Some(plan.columns.get(branch)?.target.compression));
    // ROOT's default (`TVirtualStreamerInfo::fgStreamMemberWise`).
    let streaming = own.streaming.or(now).unwrap_or(Streaming::MemberWise);
    let own = ColumnLayout { streaming: Some(streaming), compression, ..own };
    let name = plan.tree.named.name.clone();
    let one_per_cluster = rules.tree.one_basket_per_cluster == Some(true);
    let Ok(mut output) = branch_plan((&plan.tree, &name), branch, (0, 0), to, &own, one_per_cluster) else { return };
    output.basket_size = basket_size(&own, output.basket_size);
    if let Some(column) = plan.columns.get_mut(branch) {
        column.source.clear();
        column.form.io_bits = 0;
        column.form.counted = None;
    }
    let streams = column.streams_collections();
    plan.recodes.push(Recode {
        name: source.column.name.clone(),
        portion: DecodeSource::portion(std::slice::from_ref(&source)),
        sources: vec![source],
        wholes: None,
        outputs: vec![RecodeOutput { column: branch, plan: output, maximum: AtomicU64::new(0) }],
        forms: [now, streams.then_some(streaming)].map(|streaming| Form { split_level, streaming, branches: 1 }),
    });
}

/// The requested basket size of a branch, or else the present one.
fn basket_size(own: &ColumnLayout, has: u32) -> u32 {
    own.basket.map_or(has, |ByteSize(size)| u32::try_from(size).unwrap_or(u32::MAX >> 1))
}

/// Replaces branches by those of their new split levels.
fn replace_branches(plan: &mut TablePlan, plans: &[ColumnPlan], changes: Vec<SplitChange>, rules: &TreeRules<'_>) {
    if changes.is_empty() {
        return;
    }
    let mut recodes = Vec::new();
    let mut made = Vec::new();
    for change in changes {
        let of_change = |branch: &usize| plans.iter().find(|plan| plan.branch() == *branch);
        let sources = change.from.branches().iter().filter_map(of_change);
        let sources: Vec<DecodeSource> = sources.filter_map(|p| DecodeSource::of(p, plans, &plan.columns)).collect();
        let recode = Recode {
            name: change.from.field().name().clone(),
            portion: DecodeSource::portion(&sources),
            sources,
            wholes: Some((change.from, change.to)),
            outputs: Vec::new(),
            forms: change.forms,
        };
        recodes.push((recode, change.plans, change.streaming));
        made.push((change.top, change.made));
    }
    let replaced = plan.tree.replace(made);
    let mut columns: Vec<Option<Column>> = plan.tree.branches.iter().map(|_| None).collect();
    for (mut column, place) in std::mem::take(&mut plan.columns).into_iter().zip(&replaced.stayed) {
        if let Some(slot) = place.and_then(|place| columns.get_mut(place)) {
            column.branch = place.unwrap_or_default();
            *slot = Some(column);
        }
    }
    // Outputs of an earlier step may have moved.
    for output in plan.recodes.iter_mut().flat_map(|recode| &mut recode.outputs) {
        output.column = replaced.stayed.get(output.column).copied().flatten().unwrap_or(output.column);
    }
    for ((mut recode, plans, streaming), places) in recodes.into_iter().zip(&replaced.made) {
        add_outputs(plan, &mut recode, (&plans, streaming), places, (&mut columns, rules));
        plan.recodes.push(recode);
    }
    plan.columns = columns.into_iter().flatten().collect();
}

/// Adds the columns of the output for one change.
fn add_outputs(
    plan: &mut TablePlan,
    recode: &mut Recode,
    (plans, streaming): (&[ColumnPlan], Streaming),
    places: &[usize],
    (columns, rules): (&mut [Option<Column>], &TreeRules<'_>),
) {
    let name = plan.tree.named.name.clone();
    let one_per_cluster = rules.tree.one_basket_per_cluster == Some(true);
    let Some(first) = recode.sources.first().map(|source| source.column.target.compression) else { return };
    let bytes: u64 = recode.sources.iter().map(|source| source.column.source.tot_bytes).sum();
    let clusters = plan.clusters.bounds.len() as u64;
    for (number, &place) in places.iter().enumerate() {
        let own = rules.column(&plan.tree.lineage(place));
        let compression = own.compression.unwrap_or(first);
        let own = ColumnLayout { streaming: Some(streaming), compression: Some(compression), ..own };
        let Some(branch) = plan.tree.branches.get_mut(place) else { continue };
        branch.compress = compression.to_root_setting();
        let size = branch.basket_size;
        let shape = match own.basket {
            _ if one_per_cluster => Shape::PerCluster,
            Some(ByteSize(size)) => Shape::Size(u32::try_from(size).unwrap_or(u32::MAX)),
            None => Shape::Keep(size),
        };
        let names = (branch.name().to_owned(), name.clone());
        let mut column = Column::new(place, names, compression, shape);
        column.target.memory_ratio = own.memory_ratio;
        if let Some(slot) = columns.get_mut(place) {
            *slot = Some(column);
        }
        plan.metadata += memory::STREAM;
        let part = recode.wholes.as_ref().and_then(|(_, to)| to.branches().iter().position(|b| *b == number));
        let column = plans.iter().find(|plan| plan.branch() == number);
        if let (Some(part), Some(column)) = (part, column)
            && let Ok(mut output) = branch_plan((&plan.tree, &name), place, (0, part), column, &own, one_per_cluster)
        {
            output.basket_size = basket_size(&own, output.basket_size);
            plan.metadata += (clusters + bytes / u64::from(size.max(1))) * memory::WRITTEN_BASKET;
            recode.outputs.push(RecodeOutput { column: place, plan: output, maximum: AtomicU64::new(0) });
        }
    }
    // The order of the arrays that a logical column is projected onto.
    recode.outputs.sort_by_key(|output| output.plan.whole.1);
}
