//! Which columns are to be decoded and encoded anew: those whose split level or streaming is asked to be another than
//! it is. They are replaced in the plan's tree by the branches that ROOT's writer would have made; the others are left
//! as they are, and where that is not what was asked, a note says why.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::AtomicU64;

use dataset::decode::{self, ColumnPlan};
use dataset::layout::{ByteSize, ColumnLayout, Streaming, TreeRules, defaults};
use dataset::tree::make::{NewColumn, NewKind, make_tree};
use dataset::tree::{Branch, BranchKind, Tree};
use dataset::whole::{WholeColumn, whole_columns};
use rootfile::streamer::StreamerInfos;

use super::optimise::optimise_recoded;
use super::streaming;
use super::table::{TablePlan, TableRequest};
use crate::column::{Column, Shape};
use crate::engine::{Form, Recode, RecodeOutput, RecodeSource};
use crate::read::learn::learn;
use crate::words::listed;
use crate::write::plan::branch_plan;

/// Why a column keeps its layout, or cannot be decoded.
pub(crate) type Why = String;

/// What the plan is looked at with.
pub(crate) struct View<'a> {
    pub plan: &'a TablePlan,
    pub infos: &'a StreamerInfos,
    /// Of each branch that holds entries; of what is below the branches asked about, with what the first baskets say.
    pub plans: Vec<ColumnPlan>,
}

/// A branch of the first level that is made anew.
struct Change {
    top: usize,
    made: Tree,
    from: WholeColumn,
    to: WholeColumn,
    plans: Vec<ColumnPlan>,
    streaming: Streaming,
    forms: [Form; 2],
}

/// What is to be done, before it is done.
#[derive(Default)]
struct Found {
    changes: Vec<Change>,
    /// Branches that keep their place, with another streaming; and the one that they have.
    streamed: Vec<(usize, Streaming, Option<Streaming>)>,
    /// Why branches keep their layout.
    kept: BTreeMap<Why, Vec<String>>,
}

/// Finds what is to be recoded, and lets the plan do so.
pub(super) fn apply(plan: &mut TablePlan, request: &TableRequest<'_>) {
    let rules = request.layout.rules(request.path);
    let asked = asked(plan, &rules);
    if asked.is_empty() {
        return;
    }
    let mut infos = StreamerInfos::new();
    request.inputs.iter().for_each(|(_, file, _)| infos.extend(file.infos()));
    let view = View::new(plan, &infos, asked.iter().map(|(top, _)| *top));
    let wholes = view.wholes();
    let mut found = Found::default();
    for (top, own) in asked {
        let Some(whole) = wholes.iter().find(|whole| whole.top() == top) else { continue };
        if let Err(why) = view.look(whole, &own, &mut found) {
            found.kept.entry(why).or_default().push(whole.field().name().clone());
        }
    }
    let plans = view.plans;
    note(plan, request.path, &found);
    restream(plan, &plans, found.streamed, &rules);
    change(plan, &plans, found.changes, &rules);
    optimise_recoded(plan, &rules.tree);
}

/// The branches of the first level that a split level or streaming is asked of, with what is.
fn asked(plan: &TablePlan, rules: &TreeRules<'_>) -> Vec<(usize, ColumnLayout)> {
    let own = |&top: &usize| {
        let branch = plan.tree.branches.get(top)?;
        let own = rules.column(&[branch.name()]);
        let asks = own.split_level.is_some() || own.streaming.is_some();
        (asks && !matches!(branch.kind, BranchKind::Plain | BranchKind::Ref { .. })).then_some((top, own))
    };
    plan.tree.top.iter().filter_map(own).collect()
}

/// Says which branches keep their layout.
fn note(plan: &mut TablePlan, path: &str, found: &Found) {
    for (why, names) in &found.kept {
        let keep = if names.len() == 1 { "keeps its layout" } else { "keep their layout" };
        plan.notes.push(format!("tree {path}: {} {keep}: {why}", listed(names)));
    }
    let plain: Vec<String> =
        found.changes.iter().filter(|c| c.drops_bits()).map(|c| c.from.field().name().clone()).collect();
    if !plain.is_empty() {
        plan.notes.push(format!("tree {path}: fUniqueID and fBits of the objects in {} are set anew", listed(&plain)));
    }
    let drops_names = |change: &&Change| change.plans.iter().any(ColumnPlan::passes_over_names);
    let named: Vec<String> =
        found.changes.iter().filter(drops_names).map(|change| change.from.field().name().clone()).collect();
    if !named.is_empty() {
        let names = listed(&named);
        plan.notes.push(format!("tree {path}: names and options of the TObjArray and TList in {names} are dropped"));
    }
}

impl Change {
    /// Whether there are `TObject`s in it, of which only the objects' own members are taken along.
    fn drops_bits(&self) -> bool {
        self.plans.iter().any(ColumnPlan::passes_over_tobjects)
            || self.made.branches.iter().any(|b| b.name().ends_with("fUniqueID"))
    }
}

impl<'a> View<'a> {
    /// Looks at branches of the first level, and what is below them.
    pub fn new(plan: &'a TablePlan, infos: &'a StreamerInfos, tops: impl Iterator<Item = usize>) -> Self {
        let wanted: HashSet<usize> = tops.flat_map(|top| plan.tree.below(top)).collect();
        let mut plans = decode::columns(&plan.tree, infos);
        for column in plans.iter_mut().filter(|column| wanted.contains(&column.branch())) {
            let source = plan.columns.get(column.branch());
            *column = learn(column.clone(), &plan.tree, infos, &plan.files, source);
        }
        Self { plan, infos, plans }
    }

    /// What the branches mean together.
    pub fn wholes(&self) -> Vec<WholeColumn> {
        whole_columns(&self.plan.tree, self.infos, &self.plans)
    }

    /// A column as it is decoded.
    pub fn source(&self, branch: usize) -> Option<RecodeSource> {
        let plan = self.plans.iter().find(|plan| plan.branch() == branch)?;
        RecodeSource::of(plan, &self.plans, &self.plan.columns)
    }

    /// Looks at one branch of the first level.
    fn look(&self, whole: &WholeColumn, own: &ColumnLayout, found: &mut Found) -> Result<(), Why> {
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
            let found_now = streaming::found(self, plan, streaming);
            if found_now == Some(streaming) {
                continue;
            }
            self.whole_entries(plan)?;
            plan.encoder(streaming).map_err(|e| e.to_string())?;
            found.streamed.push((plan.branch(), streaming, found_now));
        }
        Ok(())
    }

    /// The branches that a branch becomes at another split level, if it is not at that already.
    fn split(
        &self,
        whole: &WholeColumn,
        plans: &[&ColumnPlan],
        level: u32,
        own: &ColumnLayout,
    ) -> Result<Option<Change>, Why> {
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
        for plan in new.iter_mut().filter(|plan| plan.lacks()) {
            *plan = ColumnPlan::knowing(&made, plan.branch(), self.infos, plans, clones);
        }
        let to = whole_columns(&made, self.infos, &new).pop().ok_or("nothing of it would be left")?;
        if same_shape((tree, whole), (&made, &to)) {
            return Ok(None);
        }
        if let Some(why) = whole.opaque().or(to.opaque()) {
            return Err(why.to_owned());
        }
        if whole.field().data_type() != to.field().data_type() {
            return Err("split otherwise, it would be of another type".to_owned());
        }
        self.is_free(whole.top())?;
        plans.iter().try_for_each(|plan| self.whole_entries(plan))?;
        // As ROOT does unless it is told otherwise (`TVirtualStreamerInfo::fgStreamMemberWise`).
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
        Ok(Some(Change { top: whole.top(), made, from: whole.clone(), to, plans: new, streaming, forms }))
    }

    /// The streaming that is there, if there is any.
    fn streaming_of(&self, plans: &[&ColumnPlan]) -> Option<Streaming> {
        let mut streamed = plans.iter().filter(|plan| plan.streams_collections());
        streamed.find_map(|plan| streaming::found(self, plan, Streaming::MemberWise))
    }

    /// Whether others refer to a branch or what is below it.
    fn is_free(&self, top: usize) -> Result<(), Why> {
        let tree = &self.plan.tree;
        if tree.branch_ref.is_some() {
            return Err(
                "the tree has a table of references (TBranchRef), which knows branches by their places".to_owned()
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

    /// Whether a column has all entries of the tree, and they are what its plan says as far as the first ones tell.
    pub fn whole_entries(&self, plan: &ColumnPlan) -> Result<(), Why> {
        let column = self.plan.columns.get(plan.branch()).ok_or("no such branch")?;
        let bound = |bound: Option<&u64>| bound.copied().unwrap_or(0);
        if !column.covers(&(bound(self.plan.bounds.first())..bound(self.plan.bounds.last()))) {
            return Err("it has fewer entries than its tree".to_owned());
        }
        streaming::probe(self, plan).map_err(|e| e.to_string())
    }
}

/// The class that a branch of the first level was made with, if it was made with one.
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

/// A branch as it is asked for. `known` is the class of an array's objects, where entries said it.
fn new_column(branch: &Branch, known: Option<&str>, level: u32, own: &ColumnLayout) -> Option<NewColumn> {
    let class = class_of(branch)?;
    let clones = clones_of(branch).or(known).filter(|_| class == "TClonesArray").map(str::to_owned);
    let asked = own.basket.map(|ByteSize(size)| u32::try_from(size).unwrap_or(u32::MAX >> 1));
    Some(NewColumn {
        split_level: i32::try_from(level % 100).unwrap_or(0),
        basket_size: asked.unwrap_or(branch.basket_size.max(defaults::BASKET_SIZE)),
        ..NewColumn::new(branch.name(), NewKind::Class { type_name: class.to_owned(), clones })
    })
}

/// Whether branches are split alike.
fn same_shape(old: (&Tree, &WholeColumn), new: (&Tree, &WholeColumn)) -> bool {
    let single = |(tree, whole): (&Tree, &WholeColumn)| {
        let top = tree.branches.get(whole.top());
        whole.branches().len() == 1 && top.is_some_and(|top| top.children.is_empty() && !is_collection(top))
    };
    let shape = |(tree, whole): (&Tree, &WholeColumn)| -> Vec<(String, i32, i32)> {
        let of = |branch: &usize| {
            let element = tree.branches.get(*branch)?.element()?;
            Some((element.class_name.clone(), element.element_id, element.element_type))
        };
        whole.branches().iter().map(|branch| of(branch).unwrap_or_default()).collect()
    };
    single(old) && single(new) || shape(old) == shape(new)
}

/// Branches that keep their place, with another streaming: each by itself.
fn restream(
    plan: &mut TablePlan,
    plans: &[ColumnPlan],
    streamed: Vec<(usize, Streaming, Option<Streaming>)>,
    rules: &TreeRules<'_>,
) {
    for (branch, streaming, now) in streamed {
        let Some(column) = plans.iter().find(|plan| plan.branch() == branch) else { continue };
        let Some(source) = RecodeSource::of(column, plans, &plan.columns) else { continue };
        let level = plan.tree.branches.get(branch).map_or(0, |branch| branch.split_level);
        let split_level = u32::try_from(level).unwrap_or(0);
        if let Some(branch) = plan.tree.branches.get_mut(branch) {
            // Offsets are written as they always were.
            branch.io_bits = 0;
        }
        let Some(own) = own_layout(plan, branch, streaming, rules) else { continue };
        let name = plan.tree.named.name.clone();
        let one_per_cluster = rules.tree.one_basket_per_cluster == Some(true);
        let Ok(mut output) = branch_plan((&plan.tree, &name), branch, (0, 0), column, &own, one_per_cluster) else {
            continue;
        };
        output.basket_size = basket_size(&own, output.basket_size);
        if let Some(column) = plan.columns.get_mut(branch) {
            column.pieces = Vec::new();
            column.embedded.clear();
            column.io_bits = 0;
            column.generated = None;
        }
        plan.recodes.push(Recode {
            name: source.column.names.0.clone(),
            portion: RecodeSource::portion(std::slice::from_ref(&source)),
            sources: vec![source],
            wholes: None,
            outputs: vec![RecodeOutput { column: branch, plan: output, maximum: AtomicU64::new(0) }],
            forms: [now, Some(streaming)].map(|streaming| Form { split_level, streaming, branches: 1 }),
        });
    }
}

/// The size of a branch's baskets that is asked for, or else the one it has.
fn basket_size(own: &ColumnLayout, has: u32) -> u32 {
    own.basket.map_or(has, |ByteSize(size)| u32::try_from(size).unwrap_or(u32::MAX >> 1))
}

/// What a branch's baskets are to be like: what is asked for, or what there is.
fn own_layout(plan: &TablePlan, branch: usize, streaming: Streaming, rules: &TreeRules<'_>) -> Option<ColumnLayout> {
    let own = rules.column(&plan.tree.lineage(branch));
    let compression = own.compression.or_else(|| Some(plan.columns.get(branch)?.compression));
    Some(ColumnLayout { streaming: Some(streaming), compression, ..own })
}

/// Branches that become others.
fn change(plan: &mut TablePlan, plans: &[ColumnPlan], changes: Vec<Change>, rules: &TreeRules<'_>) {
    if changes.is_empty() {
        return;
    }
    let mut recodes = Vec::new();
    let mut made = Vec::new();
    for change in changes {
        let of_change = |branch: &usize| plans.iter().find(|plan| plan.branch() == *branch);
        let sources = change.from.branches().iter().filter_map(of_change);
        let sources: Vec<RecodeSource> = sources.filter_map(|p| RecodeSource::of(p, plans, &plan.columns)).collect();
        let recode = Recode {
            name: change.from.field().name().clone(),
            portion: RecodeSource::portion(&sources),
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
    // A stream of an earlier step may have moved.
    for output in plan.recodes.iter_mut().flat_map(|recode| &mut recode.outputs) {
        output.column = replaced.stayed.get(output.column).copied().flatten().unwrap_or(output.column);
    }
    for ((mut recode, plans, streaming), places) in recodes.into_iter().zip(&replaced.made) {
        outputs(plan, &mut recode, (&plans, streaming), places, (&mut columns, rules));
        plan.recodes.push(recode);
    }
    plan.columns = columns.into_iter().flatten().collect();
}

/// The columns that come of one change.
fn outputs(
    plan: &mut TablePlan,
    recode: &mut Recode,
    (plans, streaming): (&[ColumnPlan], Streaming),
    places: &[usize],
    (columns, rules): (&mut [Option<Column>], &TreeRules<'_>),
) {
    let name = plan.tree.named.name.clone();
    let one_per_cluster = rules.tree.one_basket_per_cluster == Some(true);
    let Some(first) = recode.sources.first().map(|source| source.column.compression) else { return };
    let bytes: u64 = recode.sources.iter().map(|source| source.column.tot_bytes).sum();
    let clusters = plan.bounds.len() as u64;
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
        let column = Column { memory_ratio: own.memory_ratio, ..Column::new(place, names, compression, shape) };
        if let Some(slot) = columns.get_mut(place) {
            *slot = Some(column);
        }
        plan.metadata += 3000;
        let part = recode.wholes.as_ref().and_then(|(_, to)| to.branches().iter().position(|b| *b == number));
        let column = plans.iter().find(|plan| plan.branch() == number);
        if let (Some(part), Some(column)) = (part, column)
            && let Ok(mut output) = branch_plan((&plan.tree, &name), place, (0, part), column, &own, one_per_cluster)
        {
            output.basket_size = basket_size(&own, output.basket_size);
            plan.metadata += (clusters + bytes / u64::from(size.max(1))) * 112;
            recode.outputs.push(RecodeOutput { column: place, plan: output, maximum: AtomicU64::new(0) });
        }
    }
    // In the order of the arrays that a whole is taken apart into.
    recode.outputs.sort_by_key(|output| output.plan.whole.1);
}
