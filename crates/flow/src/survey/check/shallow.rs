//! The shallow check of a file: header, lists of keys, streamer infos, all tree records and the metadata of RNTuples, the places of
//! baskets and pages, and headers of baskets. Nothing of the data is decompressed.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use dataset::layout::Container;
use dataset::ntuple::decode::{FieldPlan, fields};
use dataset::ntuple::model::{Locator, Ntuple, Schema};
use dataset::ntuple::page::check_within;
use dataset::ntuple::soundness::{Contradiction, ListCheck};
use dataset::ntuple::{read_attribute_set, read_ntuple, read_page_list};
use dataset::table::catalog::{is_object, tables_in};
use dataset::tree::basket::{BasketHeader, Listed};
use dataset::tree::{Tree, read_tree};
use rootfile::{Error, ErrorKind, Key, Result, RootFile, public_path};

use super::opened::{BasketPlace, Parts, report_of, with_cycle};
use super::report::{CheckedFile, CheckedTable, Problem};

/// Most headers of baskets that are read of a tree; evenly over its baskets if it has more.
const MOST_HEADERS: usize = 4000;
/// Most branches of a tree with a note on their entries.
const MOST_NOTED: usize = 10;
/// Headers that are asked for at once.
const AT_ONCE: usize = 256;
/// An upper limit on the bytes of a basket's header without its names.
const HEADER: u64 = 96;
/// Most bytes of a basket's header.
const LONGEST_HEADER: u64 = 4096;

/// Checks an open file.
pub(super) fn check(path: &Path, file: &RootFile) -> (CheckedFile, Parts) {
    let mut shallow = Shallow { file, report: report_of(path, file), parts: Parts::default(), seen: HashSet::new() };
    shallow.whole_file();
    shallow.objects();
    shallow.parts.baskets.sort_unstable_by_key(|basket| basket.seek);
    (shallow.report, shallow.parts)
}

struct Shallow<'a> {
    file: &'a RootFile,
    report: CheckedFile,
    parts: Parts,
    /// Offset, size and entries of the baskets so far: cycles of a tree share baskets.
    seen: HashSet<(u64, u32, u64)>,
}

impl Shallow<'_> {
    /// Adds an error about an object. What is not supported is not damage.
    fn add(&mut self, object: &str, offset: Option<u64>, error: &Error) {
        self.took(Problem::of(object, offset, error), error);
    }

    /// Adds the problem of an error.
    fn took(&mut self, problem: Problem, error: &Error) {
        match error.kind() {
            ErrorKind::Unsupported(_) => self.report.notes.push(format!("not checked: {problem}")),
            _ => self.report.problems.push(problem),
        }
    }

    /// What the file says about itself.
    fn whole_file(&mut self) {
        let (size, end) = (self.file.source().size(), self.file.header().end);
        if size > end && !self.file.recovered() {
            self.report.notes.push(format!("{} bytes follow the end that the header gives", size - end));
        }
        if let Err(e) = self.file.check_closed() {
            self.add("(file)", None, &e);
        } else if self.file.header().seek_free > 0
            && let Err(e) = self.file.free_segments()
        {
            self.add("(free list)", Some(self.file.header().seek_free), &e);
        }
    }

    /// Directories, keys, and the metadata of all tables.
    fn objects(&mut self) {
        let walk = self.file.walk();
        for error in &walk.problems {
            self.add("(directory)", None, error);
        }
        for mismatch in self.file.audit(&walk) {
            let is_whole = mismatch.key.is_none();
            let object = if is_whole { format!("({})", mismatch.object) } else { mismatch.object };
            let (offset, reason) = (Some(mismatch.offset), mismatch.contradiction);
            let problem = Problem { object, offset, reason, ..Problem::default() };
            match mismatch.harmless {
                true => self.report.notes.push(problem.to_string()),
                false => self.report.problems.push(problem),
            }
        }
        for table in tables_in(self.file, &walk.directories) {
            let looked = match table.container {
                Container::Ttree => self.tree(&table.path, &table.key),
                Container::Rntuple => self.ntuple(&table.path, &table.key),
            };
            match looked {
                Ok(entries) if table.newest => self.report.entries = self.report.entries.saturating_add(entries),
                Ok(_) => {}
                Err(e) => self.add(&with_cycle(&table.path, &table.key), Some(table.key.seek_key), &e),
            }
        }
        for directory in &walk.directories {
            for key in directory.keys.iter().filter(|key| is_object(self.file, key)) {
                self.report.objects += 1;
                self.parts.objects.push((with_cycle(&directory.path_of(&key.name), key), key.clone()));
            }
        }
    }

    /// Checks a tree. Returns its entries.
    fn tree(&mut self, path: &str, key: &Key) -> Result<u64> {
        let tree = read_tree(self.file, key)?;
        let name = with_cycle(path, key);
        self.entries(&name, &tree);
        let mut places = Vec::new();
        let mut elsewhere: Vec<&str> = Vec::new();
        let (mut pieces, mut bytes) = (0, 0u64);
        for (b, branch) in tree.branches.iter().enumerate() {
            if !branch.file_name.is_empty() {
                if !branch.baskets.is_empty() && !elsewhere.contains(&branch.file_name.as_str()) {
                    elsewhere.push(&branch.file_name);
                }
                continue;
            }
            pieces += branch.baskets.len() as u64;
            for (number, basket) in branch.baskets.iter().enumerate().filter(|(_, b)| b.seek > 0 && b.entries > 0) {
                bytes = bytes.saturating_add(basket.nbytes.into());
                let (seek, nbytes, entries) = (basket.seek, basket.nbytes, basket.entries);
                if self.seen.insert((seek, nbytes, entries)) {
                    let tree = self.parts.trees.len();
                    let has_offsets = branch.entry_offset_len != 0;
                    places.push(BasketPlace { tree, branch: b, number, seek, nbytes, entries, has_offsets });
                }
            }
        }
        for file in elsewhere {
            let file = public_path(Path::new(file)).display().to_string();
            self.report.notes.push(format!("{name}: baskets in another file are not checked: {file}"));
        }
        let (path, cycle, entries) = (path.to_owned(), key.cycle, tree.entries);
        self.report.tables.push(CheckedTable { path, cycle, container: Container::Ttree, entries, pieces, bytes });
        self.baskets(name, tree, places);
        Ok(entries)
    }

    /// Compares the number of entries of a tree with those that its branches hold.
    fn entries(&mut self, name: &str, tree: &Tree) {
        if let Err(e) = tree.check_entries() {
            let reason = e.message(ToString::to_string);
            self.report.problems.push(Problem { object: name.to_owned(), reason, ..Problem::default() });
            return;
        }
        let unequal = tree.unequal_branches();
        for one in unequal.iter().take(MOST_NOTED) {
            let branch = tree.branches.get(one.branch).map_or("", |branch| branch.name());
            self.report.notes.push(format!("{name}: branch {branch} has {}", one.words(tree.entries)));
        }
        if let more @ 1.. = unequal.len().saturating_sub(MOST_NOTED) {
            let note = format!("{name}: {more} more branches have fewer or more entries than the tree");
            self.report.notes.push(note);
        }
    }

    /// Checks that baskets lie in the file, and headers of baskets.
    fn baskets(&mut self, name: String, tree: Tree, mut places: Vec<BasketPlace>) {
        let (begin, size) = (self.file.header().begin, self.file.source().size());
        let longest = tree.branches.iter().map(|branch| branch.name().len()).max().unwrap_or(0) + tree.name().len();
        let head = (HEADER + longest as u64).min(LONGEST_HEADER);
        self.parts.trees.push((name, tree));
        places.sort_unstable_by_key(|basket| basket.seek);
        let is_inside = |basket: &BasketPlace| {
            basket.seek >= begin && basket.seek.checked_add(basket.nbytes.into()).is_some_and(|end| end <= size)
        };
        let (inside, outside): (Vec<_>, Vec<_>) = places.into_iter().partition(is_inside);
        for basket in outside {
            let reason = format!("its {} bytes lie outside of the file, which has {size}", basket.nbytes);
            self.report.problems.push(self.parts.basket_problem(&basket, &Error::corrupt(reason)));
        }
        let step = inside.len().div_ceil(MOST_HEADERS).max(1);
        let last = inside.len().saturating_sub(1);
        let looked_at: Vec<&BasketPlace> =
            inside.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last).map(|(_, basket)| basket).collect();
        let mut bad = HashSet::new();
        for some in looked_at.chunks(AT_ONCE) {
            let range = |basket: &&BasketPlace| basket.seek..basket.seek + head.min(basket.nbytes.into());
            let ranges: Vec<Range<u64>> = some.iter().map(range).collect();
            // If they cannot be read together, each is read by itself, to find the bad ones.
            let heads = self.file.source().read_ranges(&ranges).unwrap_or_default();
            for (i, basket) in some.iter().enumerate() {
                if let Err(e) = self.header(basket, heads.get(i).map_or(&[][..], Vec::as_slice)) {
                    bad.insert(basket.seek);
                    self.report.problems.push(self.parts.basket_problem(basket, &e));
                }
            }
        }
        self.parts.baskets.extend(inside.iter().filter(|basket| !bad.contains(&basket.seek)));
    }

    /// Checks the header of a basket, of which the first bytes are read.
    fn header(&self, basket: &BasketPlace, head: &[u8]) -> Result<()> {
        let listed = Listed { seek: basket.seek, nbytes: basket.nbytes, entries: basket.entries };
        if let Ok(peek) = BasketHeader::peek(head) {
            return peek.check(&listed).map(|_| ());
        }
        // Branch or tree had a longer name when the basket was written.
        let len = usize::try_from(LONGEST_HEADER.min(basket.nbytes.into())).unwrap_or(0);
        let longer = self.file.source().read(basket.seek, len)?;
        BasketHeader::peek(&longer)?.check(&listed).map(|_| ())
    }

    /// Checks the metadata of an RNTuple. Returns its entries.
    fn ntuple(&mut self, path: &str, key: &Key) -> Result<u64> {
        let name = with_cycle(path, key);
        let ntuple = read_ntuple(self.file, key)?;
        for set in &ntuple.attribute_sets {
            let named = format!("{name}, attributes {}", set.name);
            match read_attribute_set(&**self.file.source(), &ntuple, set) {
                Ok(attributes) => {
                    self.page_lists(named, attributes);
                }
                Err(e) => self.add(&named, None, &e),
            }
        }
        let entries = ntuple.entries();
        let (pieces, bytes) = self.page_lists(name, ntuple);
        let (path, cycle) = (path.to_owned(), key.cycle);
        self.report.tables.push(CheckedTable { path, cycle, container: Container::Rntuple, entries, pieces, bytes });
        Ok(entries)
    }

    /// Reads the page lists of an RNTuple. Returns the number of pages and their bytes.
    fn page_lists(&mut self, name: String, ntuple: Ntuple) -> (u64, u64) {
        let (mut pieces, mut bytes) = (0, 0u64);
        let (mut cluster, mut next_entry) = (0, 0u64);
        let mut plans = fields(&ntuple.schema);
        self.unknown_fields(&name, &plans);
        let mut fields = ListCheck::new(&ntuple.schema, plans.clone());
        for group in 0..ntuple.groups.len() {
            let first = cluster;
            // Entries and clusters of a group that cannot be read are those that the footer gives.
            if let Some(listed) = ntuple.groups.get(group) {
                cluster += listed.clusters as usize;
            }
            let list = match read_page_list(&**self.file.source(), &ntuple, group) {
                Ok(list) => list,
                Err(e) => {
                    self.add(&name, None, &e);
                    next_entry = ntuple.groups.get(group).map_or(0, |g| g.first_entry.saturating_add(g.entries));
                    continue;
                }
            };
            for (number, found) in list.clusters.iter().enumerate() {
                if found.first_entry != next_entry {
                    let reason = format!("it begins with entry {}, not {next_entry}", found.first_entry);
                    let cluster = Some((first + number) as u64);
                    self.report.problems.push(Problem { object: name.clone(), cluster, reason, ..Problem::default() });
                }
                next_entry = found.first_entry.saturating_add(found.entries);
            }
            for Contradiction { field, cluster, error } in fields.list(&ntuple.schema, &list) {
                let is_of = |plan: &FieldPlan| plan.id() == field || is_below(&ntuple.schema, field, plan.id());
                plans.retain(|plan| !is_of(plan));
                let problem = field_problem((&name, &ntuple), field, first + cluster, &error);
                self.took(problem, &error);
            }
            let at = Pages { name: &name, ntuple: &ntuple, first };
            let (more, more_bytes) = at.check(&list, self.file.source().size(), &mut self.report.problems);
            pieces += more;
            bytes = bytes.saturating_add(more_bytes);
            self.parts.lists.push((self.parts.ntuples.len(), first, list));
        }
        self.parts.ntuples.push((name, ntuple, plans));
        (pieces, bytes)
    }

    /// Notes the fields that this version cannot read, which is no damage.
    fn unknown_fields(&mut self, name: &str, plans: &[FieldPlan]) {
        for plan in plans.iter().filter(|plan| plan.columns().is_empty() && plan.check_schema().is_ok()) {
            if let Some(why) = plan.opaque() {
                self.report.notes.push(format!("not checked: {name}: {why}"));
            }
        }
    }
}

/// The pages of a page list.
struct Pages<'a> {
    name: &'a str,
    ntuple: &'a Ntuple,
    /// The number of its first cluster.
    first: usize,
}

impl Pages<'_> {
    /// Checks that the pages lie in a file of `size` bytes. Returns their number and their bytes.
    fn check(&self, list: &dataset::ntuple::model::PageList, size: u64, problems: &mut Vec<Problem>) -> (u64, u64) {
        let (mut pieces, mut bytes) = (0, 0u64);
        let key_size = self.ntuple.anchor.max_key_size;
        for (number, cluster) in list.clusters.iter().enumerate() {
            for column in 0..cluster.columns.len() {
                for (n, page) in cluster.pages(list, column).unwrap_or_default().iter().enumerate() {
                    pieces += 1;
                    let Locator::File { offset, size: stored } = page.locator else { continue };
                    bytes = bytes.saturating_add(stored);
                    // Of a page in several keys the first has a key's size.
                    let len = page.stored_len().unwrap_or(u64::MAX);
                    let len = if key_size > 0 && stored > key_size { key_size } else { len };
                    if let Err(e) = check_within((offset, len), size) {
                        problems.push(page_problem((self.name, self.ntuple), column, self.first + number, n, &e));
                    }
                }
            }
        }
        (pieces, bytes)
    }
}

/// Whether a field is another one or below it.
fn is_below(schema: &Schema, field: usize, above: usize) -> bool {
    let mut at = Some(field);
    // A parent precedes its children, so the walk ends.
    while let Some(id) = at.filter(|id| *id != above) {
        at = schema.fields.get(id).and_then(|field| field.parent);
    }
    at.is_some()
}

/// The problem of a field in a cluster.
pub(super) fn field_problem((name, ntuple): (&str, &Ntuple), field: usize, cluster: usize, error: &Error) -> Problem {
    Problem {
        object: name.to_owned(),
        field: Some(ntuple.schema.path(field)),
        cluster: Some(cluster as u64),
        offset: error.offset(),
        reason: error.message(ToString::to_string),
        ..Problem::default()
    }
}

/// The problem of a page, of a column of an RNTuple with its name.
pub(super) fn page_problem(
    (name, ntuple): (&str, &Ntuple),
    column: usize,
    cluster: usize,
    page: usize,
    error: &Error,
) -> Problem {
    let field = ntuple.schema.columns.get(column).map(|column| ntuple.schema.path(column.field));
    Problem {
        object: name.to_owned(),
        field,
        cluster: Some(cluster as u64),
        page: Some(page as u64),
        offset: error.offset(),
        reason: error.message(ToString::to_string),
        ..Problem::default()
    }
}
