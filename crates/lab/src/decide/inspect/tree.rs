//! The report on one tree, from its metadata and what a [`Probe`] of its baskets found.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use dataset::decode;
use dataset::table::catalog::TableEntry;
use dataset::tree::basket::{BasketHeader, Entries};
use dataset::tree::clusters::{cluster_starts, common_boundaries, declared_up_to};
use dataset::tree::model::BasketRef;
use dataset::tree::{Branch, ClusterSource, Leaf, Tree};
use rootfile::bytes::Cursor;
use rootfile::object::ObjectId;
use rootfile::{RootFile, public_path};

use super::decoding::{can_be_split, decoded};
use super::options::Options;
use super::probe::{Probe, probe};
use super::report::{
    BasketReport, BasketSummary, BranchReport, ClustersKnown, Decoded, EmbeddedReport, LeafReport, Memory, Pair,
    Probed, ReadTime, Sizes, Spread, TreeReport,
};
use super::sample::{compressible_to, record_compressible_to};
use super::types::{branch_type, leaf_type};

/// Most cluster starts that are listed.
const MOST_CLUSTERS: usize = 1 << 20;

/// Baskets with fewer bytes before compression are not opened to see how large their entries are, nor are larger ones.
const UNEVEN: u64 = 1_000_000;
const LARGEST_OPENED: u64 = 256_000_000;

/// The context of the parts of a report.
struct Context<'a> {
    file: &'a RootFile,
    tree: &'a Tree,
    options: &'a Options,
    /// Other files with baskets of branches that should be in the own folder, and are not.
    absent: HashSet<&'a str>,
    /// Cluster starts that baskets should keep to; empty where none are declared.
    starts: &'a [u64],
    leaves: HashMap<ObjectId, usize>,
    /// For leaves that count others: the least number of elements that the longest entry must have.
    counted: HashMap<ObjectId, u64>,
}

/// The report on a tree.
pub fn report(file: &RootFile, table: &TableEntry, tree: &Tree, options: &Options) -> TreeReport {
    let key = &table.key;
    let clusters = declared_up_to(tree, MOST_CLUSTERS);
    let (probes, all) = probe(&**file.source(), tree, options.probe_all);
    let declared = clusters.source == ClusterSource::Declared;
    let context = Context {
        file,
        tree,
        options,
        absent: absent(file, tree),
        starts: if declared { &clusters.starts } else { &[] },
        leaves: tree.leaves.iter().enumerate().map(|(i, leaf)| (leaf.id, i)).collect(),
        counted: counted(tree),
    };
    let mut codecs = BTreeMap::new();
    let mut branches = Vec::with_capacity(tree.branches.len());
    let mut kinds: Vec<Option<(Decoded, bool)>> = vec![None; tree.branches.len()];
    for plan in decode::columns(tree, file.infos()) {
        if let Some(slot) = kinds.get_mut(plan.branch()) {
            *slot = Some((decoded(&plan), can_be_split(&plan)));
        }
    }
    for (((branch, probe), id), kind) in tree.branches.iter().zip(&probes).zip(ids(tree)).zip(kinds) {
        for (codec, n) in &probe.codecs {
            *codecs.entry(codec.clone()).or_default() += n;
        }
        let decoded = kind.map(|(kind, _)| kind);
        // Branches below the first level are split already.
        let can_split = kind.is_some_and(|(_, can)| can) && !id.contains('.');
        branches.push(BranchReport { decoded, can_split, ..context.branch(branch, probe, id) });
    }
    let largest_cluster = largest_cluster(tree, &clusters.starts);
    TreeReport {
        path: table.path.clone(),
        cycle: key.cycle,
        newest: table.newest,
        class: tree.class.clone(),
        name: tree.name().to_owned(),
        title: tree.named.title.clone(),
        entries: tree.entries,
        held: tree.check_entries().is_err().then(|| tree.branches.iter().map(Branch::end).max().unwrap_or(0)),
        tot_bytes: tree.tot_bytes,
        zip_bytes: tree.zip_bytes,
        key_bytes: branches.iter().map(|branch| branch.key_bytes).fold(0, u64::saturating_add),
        auto_flush: tree.auto_flush,
        metadata: Sizes { bytes: u64::from(key.nbytes), raw_bytes: u64::from(key.objlen) },
        clusters_known: if declared { ClustersKnown::Declared } else { ClustersKnown::Estimated },
        clusters_cut: clusters.starts.len() >= MOST_CLUSTERS,
        largest_cluster,
        cluster_count: cluster_starts(tree).len() as u64,
        common_boundaries: common_boundaries(tree).starts.len() as u64,
        baskets: branches.iter().map(|b| b.basket_summary.count).sum(),
        crossing: branches.iter().map(|b| b.basket_summary.crossing).sum(),
        probed: if all { Probed::All } else { Probed::Some },
        codecs,
        compressible_to: compressible_to(file, tree),
        record_compressible_to: record_compressible_to(file, key),
        trials: Vec::new(),
        mixed: None,
        is_another: false,
        first_basket: tree.branches.iter().flat_map(on_disk).map(|basket| basket.seek).next(),
        memory: memory(tree, &probes, largest_cluster),
        read_time: ReadTime::default(),
        friends: pairs(tree, tree.friends, |title, _| shown(title)),
        aliases: pairs(tree, tree.aliases, |title, _| title.to_owned()),
        index: tree.index_words(),
        user_info: pairs(tree, tree.user_info, |_, class| class.to_owned()),
        branches,
        clusters: clusters.starts,
    }
}

/// Names of the other files with baskets of branches that are not in the own folder. What is named elsewhere is not looked for.
fn absent<'a>(file: &RootFile, tree: &'a Tree) -> HashSet<&'a str> {
    let named = tree.branches.iter().map(|branch| branch.file_name.as_str()).filter(|name| !name.is_empty());
    let names: HashSet<&str> = named.collect();
    let holder = file.holder();
    names.into_iter().filter(|name| holder.is_missing(name) == Some(true)).collect()
}

/// Positions of all branches, as [`Tree::position`] says them one by one.
fn ids(tree: &Tree) -> Vec<String> {
    let mut ids = vec![String::new(); tree.branches.len()];
    for (i, &top) in tree.top.iter().enumerate() {
        if let Some(id) = ids.get_mut(top) {
            *id = i.to_string();
        }
    }
    // Parents stand before their children.
    for (b, branch) in tree.branches.iter().enumerate() {
        let own = ids.get(b).cloned().unwrap_or_default();
        for (i, &child) in branch.children.iter().enumerate() {
            if let Some(id) = ids.get_mut(child) {
                *id = format!("{own}.{i}");
            }
        }
    }
    for (b, id) in ids.iter_mut().enumerate() {
        if id.is_empty() {
            *id = tree.position(b);
        }
    }
    ids
}

/// An address inside the file, without secrets.
fn shown(address: &str) -> String {
    public_path(Path::new(address)).to_string_lossy().into_owned()
}

fn on_disk(branch: &Branch) -> impl Iterator<Item = &BasketRef> {
    branch.baskets.iter().filter(|basket| basket.seek > 0)
}

impl Context<'_> {
    fn branch(&self, branch: &Branch, probe: &Probe, id: String) -> BranchReport {
        let mut sizes: Vec<u32> = on_disk(branch).map(|basket| basket.nbytes).collect();
        let count = sizes.len() as u64;
        let buffers = count.saturating_mul(u64::from(branch.basket_size));
        let key_bytes = self.key_bytes(branch, probe, count);
        let contents = branch.tot_bytes.saturating_sub(key_bytes);
        let raw = Spread::of(&mut probe.raw.clone());
        let raw = match probe.raw.len() as u64 == count {
            true => raw,
            false => raw.map(|raw| raw.with_mean(contents / count.max(1))),
        };
        BranchReport {
            id,
            name: branch.name().to_owned(),
            title: branch.named.title.clone(),
            class: branch.class().to_owned(),
            type_name: branch_type(branch).to_owned(),
            leaves: branch.leaves.iter().filter_map(|&leaf| self.leaf(branch, leaf)).collect(),
            compression: branch.compress,
            basket_size: u64::from(branch.basket_size),
            split_level: branch.split_level,
            file_name: shown(&branch.file_name),
            entries: branch.entries,
            held: branch.is_filled().then(|| branch.held(self.tree.entries)).filter(|held| *held < self.tree.entries),
            beyond: if branch.is_filled() { branch.end().saturating_sub(self.tree.entries) } else { 0 },
            tot_bytes: branch.tot_bytes,
            zip_bytes: branch.zip_bytes,
            key_bytes,
            share: ratio(branch.zip_bytes, self.tree.zip_bytes),
            basket_summary: BasketSummary {
                count,
                fill: (buffers > 0).then(|| ratio(branch.tot_bytes, buffers)),
                disk: Spread::of(&mut sizes),
                raw,
                crossing: on_disk(branch).filter(|basket| self.crosses(basket)).count() as u64,
            },
            largest_entry: largest_entry(self.file, branch, probe),
            codecs: probe.codecs.clone(),
            decoded: None,
            can_split: false,
            absent: self.absent.contains(branch.file_name.as_str()),
            embedded: branch.embedded.iter().map(|(i, found)| embedded(branch, *i, &found.bytes)).collect(),
            baskets: self.options.list_baskets.then(|| on_disk(branch).map(basket).collect()),
        }
    }

    /// Bytes of the keys of a branch's baskets: those that were looked at stand for all.
    fn key_bytes(&self, branch: &Branch, probe: &Probe, baskets: u64) -> u64 {
        match probe.raw.len() as u64 {
            0 => baskets * BasketHeader::new(branch.name(), self.tree.name(), 0, 0).keylen() as u64,
            seen if seen == baskets => probe.keys,
            seen => {
                let keys = u128::from(probe.keys) * u128::from(baskets) / u128::from(seen);
                u64::try_from(keys).unwrap_or(u64::MAX)
            }
        }
    }

    fn crosses(&self, basket: &BasketRef) -> bool {
        let next = self.starts.partition_point(|&start| start <= basket.first_entry);
        self.starts.get(next).is_some_and(|&start| start < basket.first_entry.saturating_add(basket.entries))
    }

    fn leaf(&self, branch: &Branch, index: usize) -> Option<LeafReport> {
        let leaf = self.tree.leaves.get(index)?;
        let count = leaf.leaf_count.and_then(|id| self.tree.leaves.get(*self.leaves.get(&id)?));
        Some(LeafReport {
            class: leaf.class.clone(),
            name: leaf.named.name.clone(),
            title: leaf.named.title.clone(),
            type_name: leaf_type(leaf, branch, self.file.infos()),
            len: leaf.len,
            count: count.map(|leaf| leaf.named.name.clone()),
            maximum: if leaf.is_range { maximum(leaf) } else { None },
            counted_at_least: self.counted.get(&leaf.id).copied(),
        })
    }
}

/// Bytes of the largest entry in the largest basket of a branch, where that is far larger than the others.
fn largest_entry(file: &RootFile, branch: &Branch, probe: &Probe) -> Option<u64> {
    let raw = Spread::of(&mut probe.raw.clone())?;
    if raw.max < UNEVEN.max(10 * raw.median) || raw.max > LARGEST_OPENED {
        return None;
    }
    let at = branch.baskets.iter().find(|basket| basket.seek == probe.largest_seek)?;
    if at.entries <= 1 {
        return Some(raw.max);
    }
    let record = file.source().read(at.seek, usize::try_from(at.nbytes).ok()?).ok()?;
    let header = BasketHeader::parse(&mut Cursor::new(&record)).ok()?;
    let data = header.open(file.payload(&file.key_at(at.seek).ok()?).ok()?).ok()?;
    match data.entries {
        Entries::Offsets(offsets) => offsets.windows(2).map(|pair| u64::from(pair[1].saturating_sub(pair[0]))).max(),
        Entries::Fixed(size) => Some(u64::from(size)),
        Entries::Generated => None,
    }
}

fn basket(basket: &BasketRef) -> BasketReport {
    BasketReport { first_entry: basket.first_entry, entries: basket.entries, bytes: basket.nbytes, seek: basket.seek }
}

fn embedded(branch: &Branch, index: usize, bytes: &[u8]) -> EmbeddedReport {
    let entries = branch.baskets.get(index).map_or(0, |basket| basket.entries);
    EmbeddedReport { index: index as u64, entries, bytes: bytes.len() as u64 }
}

/// fMaximum of a leaf of whole numbers.
fn maximum(leaf: &Leaf) -> Option<i64> {
    leaf.extra.as_ref()?.members()?.get("fMaximum")?.as_i64()
}

/// For each leaf that counts others, the least number of elements that the longest entry must have: the mean, with the
/// longest possible keys and offsets of the counted baskets.
fn counted(tree: &Tree) -> HashMap<ObjectId, u64> {
    let mut found: HashMap<ObjectId, u64> = HashMap::new();
    for leaf in &tree.leaves {
        let (Some(counter), Some(branch)) = (leaf.leaf_count, tree.branches.get(leaf.branch)) else { continue };
        let element = u64::try_from(i64::from(leaf.len) * i64::from(leaf.len_type)).unwrap_or(0);
        // A branch with several leaves, or elements of a class, has more in an entry than this leaf.
        if element == 0 || branch.leaves.len() != 1 || branch.element().is_some() {
            continue;
        }
        let key = 128 + branch.name().len() + tree.name().len();
        let offsets = 4 * branch.entries + (key as u64 + 8) * branch.baskets.len() as u64;
        let data = branch.tot_bytes.saturating_sub(offsets);
        let least = data.div_ceil(element.saturating_mul(branch.entries).max(1));
        let known = found.entry(counter).or_default();
        *known = (*known).max(least);
    }
    found
}

/// Bytes on disk of the largest cluster. A basket counts for each cluster that it has entries of.
fn largest_cluster(tree: &Tree, starts: &[u64]) -> u64 {
    let mut changes = vec![0i64; starts.len() + 1];
    for basket in tree.branches.iter().flat_map(on_disk).filter(|basket| basket.entries > 0) {
        let cluster_of = |entry: u64| starts.partition_point(|&start| start <= entry).saturating_sub(1);
        let last = cluster_of(basket.first_entry.saturating_add(basket.entries - 1));
        let bytes = i64::from(basket.nbytes);
        if let Some(change) = changes.get_mut(cluster_of(basket.first_entry)) {
            *change += bytes;
        }
        if let Some(change) = changes.get_mut(last + 1) {
            *change -= bytes;
        }
    }
    let mut sum = 0;
    let mut largest = 0;
    for change in changes {
        sum += change;
        largest = largest.max(sum);
    }
    u64::try_from(largest).unwrap_or(0)
}

fn memory(tree: &Tree, probes: &[Probe], largest_cluster: u64) -> Memory {
    let mut memory = Memory { read_cache: largest_cluster, ..Memory::default() };
    for (branch, probe) in tree.branches.iter().zip(probes) {
        if branch.baskets.is_empty() {
            continue;
        }
        memory.read_baskets += probe.largest.0;
        memory.read_compressed += probe.largest.1;
        // A buffer grows where an entry does not fit; its final size is not recorded.
        memory.write += u64::from(branch.basket_size).max(probe.largest.0);
    }
    memory.read = memory.read_baskets + memory.read_compressed + memory.read_cache;
    memory
}

/// Names of the objects in a list, each with `value` of its title and class.
fn pairs(tree: &Tree, list: Option<ObjectId>, value: impl Fn(&str, &str) -> String) -> Vec<Pair> {
    tree.listed(list).map(|one| Pair { name: one.name.to_owned(), value: value(one.title, one.class) }).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
