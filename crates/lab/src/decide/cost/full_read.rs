//! Calibrates the samples' times with a full read of some entries of all columns.
//!
//! A basket that is decoded repeatedly stays in the processor's caches; one among hundreds does not. Some entries are
//! therefore read by [`flow::read`], as a reader reads them, and the times of samples are corrected by the result.

use std::collections::BTreeMap;
use std::time::Duration;

use dataset::EntrySet;
use dataset::decode::ColumnPlan;
use flow::Budget;
use flow::inputs::Input;
use flow::read::{Dataset, ReadCost, Request, drain};
use rootfile::{Result, ScratchFolder};

use super::calibrate::Access;
use super::column::{Column, TreeStats};
use super::line::Line;
use super::measured::ColumnCost;
use super::nominal;
use super::statistics::FileStats;
use crate::math::as_f64;
use crate::synthetic::sample;
use crate::system::clock::thread_seconds;

/// Bytes before compression that are read.
const BYTES: f64 = 24e6;
/// One reading takes at most this many nominal nanoseconds, and at most this share of the budget.
const NOMINAL: f64 = 6e7;
const OF_BUDGET: f64 = 0.15;
/// Most readings. Two are enough once they have taken this many times the nominal time of one.
const READINGS: usize = 8;
const ENOUGH: f64 = 1.5;
/// The correction of decoding times is at least this factor, if there were samples.
const LEAST: f64 = 0.3;
/// The correction of decompression times lies between these factors.
const UNPACKING: (f64, f64) = (0.8, 1.5);
/// The corrections of decompressing pages, and of decoding their elements: a sample reads each page once, without the caches that it
/// fills. What decoding takes beyond that is no part of the elements.
const PAGES: (f64, f64) = (0.5, 1.5);
const ELEMENTS: (f64, f64) = (0.5, 1.0);
/// A basket of lists takes up to so many times as long as one of next to nothing.
const MOST_FOR_A_BASKET: f64 = 2.0;
/// Whole clusters are read if they have no more than this many times the entries.
const FAR: u64 = 4;
/// The same for RNTuples: of a page's decompression and of a field's other costs a part of the entries would not say much. Fewer
/// fields are read instead.
const FAR_PAGES: u64 = 64;
/// Trees besides the largest that are read with no entries selected, and repeats of that.
const WIDEST: usize = 7;
const EMPTY: usize = 5;
/// Entries of the file of small baskets.
const SMALL: u64 = 20_000;

/// Times of reading some entries of all columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct FullRead {
    columns: Vec<Option<Seen>>,
    per_column: f64,
    /// Seconds that a basket of next to nothing takes.
    per_basket: f64,
}

/// Times of a column.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Share of its bytes that was decompressed.
    share: f64,
    /// Share of them that was decoded: of a page or basket at the ends, only some entries.
    decoded: f64,
    /// Seconds to decompress their baskets, and the decompressed bytes.
    unpack: (f64, f64),
    /// Seconds to find and to decode them.
    decode: f64,
}

impl FullRead {
    /// Reads entries from the middle of the largest tree.
    pub fn measure(stats: &FileStats, budget: Budget) -> Result<Self> {
        let raw = |tree: usize| -> f64 { stats.columns.iter().filter(|c| c.tree == tree).map(|c| c.raw).sum() };
        let largest = (0..stats.trees.len()).max_by(|&a, &b| raw(a).total_cmp(&raw(b)));
        let Some((number, tree)) = largest.and_then(|t| Some((t, stats.trees.get(t)?))) else {
            return Ok(Self::default());
        };
        let open = |tree: &TreeStats| Dataset::of_file(&stats.file, &tree.address);
        let dataset = open(tree)?;
        let columns = dataset.column_of_each_node();
        let of = |c: &Column| {
            let node = match &c.pages {
                Some(pages) => Some(pages.top),
                None => c.plan.as_ref().map(ColumnPlan::branch),
            };
            columns.get(node.filter(|_| c.tree == number)?).copied().flatten()
        };
        // Columns of one field are read together.
        let mut fields: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, place) in stats.columns.iter().enumerate().filter_map(|(i, c)| Some((i, of(c)?))) {
            fields.entry(place).or_default().push(i);
        }
        let nominal: f64 = stats.columns.iter().map(|c| c.raw * (nominal::decompression(c.compression) + 1.0)).sum();
        let all: f64 = stats.columns.iter().map(|c| c.raw).sum();
        let time = NOMINAL.min(OF_BUDGET * nominal::budget(stats));
        let bytes = BYTES.min(time * all / nominal.max(1.0));
        let far = if tree.has_pages { FAR_PAGES } else { FAR };
        let entries = middle(dataset.entries(), dataset.clusters(), (bytes / raw(number).max(1.0)).min(1.0), far);
        let share = as_f64(entries.end - entries.start) / as_f64(dataset.entries().max(1));
        let budget = Budget { threads: 1, ..budget };
        let columns = fields.keys().copied().collect();
        let range = entries.clone();
        let request = Request { columns, entries, selection: None, budget, progress: &flow::unwatched };
        let mut nothing = Nothing::default();
        nothing.read(&dataset, budget)?;
        for tree in widest(stats, number) {
            nothing.read(&open(tree)?, budget)?;
        }
        let per_column = nothing.per_column();
        // If there is not enough time for all columns of whole clusters, some large and some small columns are read.
        let step = share * raw(number) / bytes.max(1.0);
        let raw_of =
            |members: &[usize]| members.iter().filter_map(|&i| stats.columns.get(i)).map(|c| c.raw).sum::<f64>();
        let fields = every_nth_by_size(fields.into_iter().collect(), step, |members| raw_of(members));
        let request = Request { columns: fields.iter().map(|(column, _)| *column).collect(), ..request };
        // The reading with the least real time counts: other work disturbed it least.
        let mut best: Option<(Duration, f64, Vec<ReadCost>)> = None;
        let mut all = 0.0;
        for reading in 0..READINGS {
            let start = thread_seconds();
            let (_, spent) = drain(&dataset, &request, &|_| ())?;
            let cpu = thread_seconds() - start;
            all += cpu;
            let stages: Duration = spent.iter().map(|s| s.fetch + s.decompress + s.decode).sum();
            if best.as_ref().is_none_or(|best| stages < best.0) {
                best = Some((stages, cpu, spent));
            }
            if reading > 0 && all > ENOUGH * time / 1e9 {
                break;
            }
        }
        let Some((stages, cpu, spent)) = best else { return Ok(Self::default()) };
        let (stages, decode) = (stages.as_secs_f64(), spent.iter().map(|s| s.decode.as_secs_f64()).sum::<f64>());
        let cpu = cpu - per_column * as_f64(fields.len() as u64);
        // CPU time outside of the stages counts as decoding: handing on baskets, which each takes alike, and then such as freeing
        // memory. Stages that took longer than the CPU time waited for a processor.
        let baskets = as_f64(spent.iter().map(|s| s.baskets).sum());
        let per_basket = a_basket(budget)?;
        let handing = (cpu - stages).clamp(0.0, per_basket * baskets) / baskets.max(1.0);
        let factor = match cpu - stages - handing * baskets {
            rest if rest > 0.0 && decode > 0.0 => 1.0 + rest / decode,
            rest if rest >= 0.0 => 1.0,
            _ => cpu / stages.max(f64::MIN_POSITIVE),
        };
        let mut columns = vec![None; stats.columns.len()];
        let slower = factor.min(1.0);
        for ((_, members), spent) in fields.iter().zip(&spent) {
            // The arrays of offsets were decompressed too, but are not counted.
            let own = || members.iter().filter_map(|&i| Some((i, stats.columns.get(i)?)));
            let (all, data) = own().fold((0.0, 0.0), |sum, (_, c)| (sum.0 + c.raw, sum.1 + c.raw_without_offsets()));
            // Entries differ in size between clusters.
            let share = match as_f64(spent.uncompressed) / data {
                of_bytes if of_bytes > 0.0 && of_bytes <= 1.0 => of_bytes,
                _ => share,
            };
            for (i, column) in own() {
                let part = column.raw / all;
                let unpack = (part * slower * spent.decompress.as_secs_f64(), share * column.raw);
                let decode = part * (factor * spent.decode.as_secs_f64() + handing * as_f64(spent.baskets));
                let decoded = share * inside(column, &range);
                columns.get_mut(i).into_iter().for_each(|slot| *slot = Some(Seen { share, decoded, unpack, decode }));
            }
        }
        Ok(Self { columns, per_column, per_basket })
    }

    /// Extends the list to `columns` columns; the new ones have no times.
    pub fn cover(&mut self, columns: usize) {
        self.columns.resize(columns, None);
    }

    /// Adds a column of a sample file that holds one entry of `parts`.
    pub fn add(&mut self, other: &Self, column: usize, parts: f64) {
        let seen = other.columns.get(column).copied().flatten();
        let part = |seen: Seen| Seen { share: seen.share / parts, decoded: seen.decoded / parts, ..seen };
        self.columns.push(seen.map(part));
    }

    /// Seconds for each column, once in a reading.
    pub fn per_column(&self) -> f64 {
        self.per_column
    }

    /// Corrects the costs by the times of this reading: decoding by column where it was read, the other columns
    /// by the factor of all together; decompression by one factor for all codecs.
    pub fn correct(&self, stats: &FileStats, access: &Access, costs: &mut [ColumnCost]) {
        self.correct_unpacking(stats, costs);
        self.correct_decoding(stats, access, costs);
        self.correct_pages(stats, costs);
    }

    fn correct_unpacking(&self, stats: &FileStats, costs: &mut [ColumnCost]) {
        let (mut seen, mut thought) = (0.0, 0.0);
        let has_baskets = |column: &Column| column.pages.is_none();
        let columns = || stats.columns.iter().map(has_baskets);
        let sampled =
            costs.iter().zip(&self.columns).zip(columns()).filter(|((cost, _), own)| *own && cost.sampled > 0.0);
        for ((cost, place), _) in sampled {
            let Some(Seen { unpack: (seconds, raw), .. }) = place else { continue };
            seen += seconds;
            // The baskets are the file's own, so there is no cost for each basket.
            thought += cost.today.of(0.0, *raw);
        }
        if seen <= 0.0 || thought <= 0.0 {
            return;
        }
        let factor = (seen / thought).clamp(UNPACKING.0, UNPACKING.1);
        costs.iter_mut().zip(columns()).filter(|(_, own)| *own).for_each(|(cost, _)| scale_unpacking(cost, factor));
    }

    /// What a field takes beside decompressing its pages and decoding their elements, such as building its arrays, is the rest of the
    /// time that it was seen to take.
    fn correct_pages(&self, stats: &FileStats, costs: &mut [ColumnCost]) {
        let total = |seen: &Seen| seen.decode / seen.decoded.max(f64::MIN_POSITIVE);
        let unpacked = |seen: &Seen| seen.unpack.0 / seen.share.max(f64::MIN_POSITIVE);
        let (mut seen, mut thought, mut raw) = ((0.0, 0.0), (0.0, 0.0), 0.0);
        for ((column, cost), place) in stats.columns.iter().zip(costs.iter()).zip(&self.columns) {
            if let (Some(_), Some(place)) = (&column.pages, place) {
                seen = (seen.0 + unpacked(place), seen.1 + total(place));
                thought = (thought.0 + cost.today.of(0.0, column.raw), thought.1 + cost.elements.of(0.0, column.raw));
                raw += column.raw;
            }
        }
        if raw <= 0.0 {
            return;
        }
        let factor = |seen: f64, thought: f64, (least, most): (f64, f64)| match thought > 0.0 {
            true => (seen / thought).clamp(least, most),
            false => 1.0,
        };
        let (unpacking, decoding) = (factor(seen.0, thought.0, PAGES), factor(seen.1, thought.1, ELEMENTS));
        let besides = (seen.1 - decoding * thought.1).max(0.0);
        let mut found = Vec::with_capacity(costs.len());
        for ((column, cost), place) in stats.columns.iter().zip(costs.iter_mut()).zip(&self.columns) {
            if column.pages.is_some() {
                scale_unpacking(cost, unpacking);
                cost.elements = cost.elements.scaled(decoding);
                cost.codecs.iter_mut().flatten().for_each(|codec| codec.decode = codec.decode.scaled(decoding));
            }
            let place = place.as_ref().filter(|_| column.pages.is_some());
            found.push(place.map(|seen| (total(seen) - cost.elements.of(0.0, column.raw)).max(0.0)));
        }
        // Times scatter: together the columns take no more than what is left.
        let all: f64 = found.iter().flatten().sum();
        let part = if all > 0.0 { (besides / all).min(1.0) } else { 0.0 };
        for ((column, cost), rest) in stats.columns.iter().zip(costs).zip(found) {
            if column.pages.is_some() {
                let per_byte = rest.map_or(besides / raw, |rest| part * rest / column.raw);
                cost.decode.line = Line { fixed: 0.0, per_byte };
            }
        }
    }

    fn correct_decoding(&self, stats: &FileStats, access: &Access, costs: &mut [ColumnCost]) {
        let expected = |column: &Column, cost: &ColumnCost| {
            let offsets = if column.has_offsets { column.entries * access.per_offset } else { 0.0 };
            (offsets, cost.decode.line.of(column.count(), column.raw))
        };
        let (mut seen, mut thought) = (0.0, 0.0);
        let has_baskets = |column: &Column| column.pages.is_none();
        for ((column, cost), place) in stats.columns.iter().zip(costs.iter()).zip(&self.columns) {
            let Some(Seen { decoded, decode: seconds, .. }) = place.filter(|_| has_baskets(column)) else { continue };
            let (offsets, decode) = expected(column, cost);
            seen += seconds - offsets * decoded;
            thought += decode * decoded;
        }
        let factor = if thought > 0.0 { (seen / thought).max(LEAST) } else { 1.0 };
        let columns = stats.columns.iter().zip(costs.iter_mut()).zip(&self.columns);
        for ((column, cost), place) in columns.filter(|((column, _), _)| has_baskets(column)) {
            let (offsets, decode) = expected(column, cost);
            let seen =
                place.map_or(factor * decode, |seen| seen.decode / seen.decoded.max(f64::MIN_POSITIVE) - offsets);
            if seen > decode {
                cost.decode.besides = seen - decode;
            } else if decode > 0.0 {
                // The expectation for a column without samples came from other columns.
                let least = if cost.sampled > 0.0 { LEAST } else { 0.0 };
                cost.decode.line = cost.decode.line.scaled((seen / decode).max(least));
            }
        }
        self.divide_besides(stats, costs);
    }

    /// Divides the times that samples do not explain between baskets and columns. What is not for the bytes, even if it takes as
    /// long again to bring them into the caches, is for the baskets, up to what a basket takes. All baskets get the same: times
    /// of single columns scatter.
    fn divide_besides(&self, stats: &FileStats, costs: &mut [ColumnCost]) {
        let (mut baskets, mut besides, mut not_of_bytes) = (0.0, 0.0, 0.0);
        let own = |column: &Column| column.pages.is_none();
        for (column, cost) in stats.columns.iter().zip(costs.iter()).filter(|(column, _)| own(column)) {
            baskets += column.count();
            besides += cost.decode.besides;
            not_of_bytes += (cost.decode.besides - cost.decode.line.of(0.0, column.raw)).max(0.0);
        }
        if besides <= 0.0 {
            return;
        }
        let of_baskets = not_of_bytes.min(MOST_FOR_A_BASKET * self.per_basket * baskets);
        for (_, cost) in stats.columns.iter().zip(costs).filter(|(column, _)| own(column)) {
            cost.decode.line.fixed += of_baskets / baskets;
            cost.decode.besides *= 1.0 - of_baskets / besides;
        }
    }
}

/// The share of the entries of a column's pieces that lies in a range, of the pieces that have some of them.
fn inside(column: &Column, range: &std::ops::Range<u64>) -> f64 {
    let (mut opened, mut decoded) = (0.0, 0.0);
    for piece in &column.baskets {
        let end = piece.first_entry.saturating_add(piece.entries);
        let here = end.min(range.end).saturating_sub(piece.first_entry.max(range.start));
        if here > 0 {
            opened += f64::from(piece.nbytes);
            decoded += f64::from(piece.nbytes) * as_f64(here) / as_f64(piece.entries.max(1));
        }
    }
    if decoded > 0.0 { decoded / opened } else { 1.0 }
}

fn scale_unpacking(cost: &mut ColumnCost, factor: f64) {
    cost.today = cost.today.scaled(factor);
    cost.codecs.iter_mut().flatten().for_each(|codec| codec.unpack = codec.unpack.scaled(factor));
}

/// Seconds that a reader takes for a basket of next to nothing, by reading a file of such.
fn a_basket(budget: Budget) -> Result<f64> {
    let folder = ScratchFolder::new()?;
    let path = folder.path().join("small.root");
    sample::make(&path, SMALL, 1)?;
    let dataset = Dataset::open(&[Input { path, tree: None }])?;
    let columns = dataset.stored_columns();
    let request =
        Request { columns, entries: 0..dataset.entries(), selection: None, budget, progress: &flow::unwatched };
    let (mut best, mut baskets) = (f64::INFINITY, 1);
    for _ in 0..EMPTY {
        let start = thread_seconds();
        let (_, spent) = drain(&dataset, &request, &|_| ())?;
        best = best.min(thread_seconds() - start);
        baskets = spent.iter().map(|s| s.baskets).sum();
    }
    Ok(best / as_f64(baskets.max(1)))
}

/// Readings of no entries.
#[derive(Default)]
struct Nothing {
    seconds: f64,
    columns: u64,
}

impl Nothing {
    /// Reads nothing of a tree's columns.
    fn read(&mut self, dataset: &Dataset, budget: Budget) -> Result<()> {
        let columns = dataset.stored_columns();
        self.columns += columns.len() as u64;
        let selection = Some(EntrySet::sorted([])?);
        let request = Request { columns, entries: 0..dataset.entries(), selection, budget, progress: &flow::unwatched };
        let mut best = f64::INFINITY;
        for _ in 0..EMPTY {
            let start = thread_seconds();
            drain(dataset, &request, &|_| ())?;
            best = best.min(thread_seconds() - start);
        }
        self.seconds += best;
        Ok(())
    }

    /// Seconds for each column.
    fn per_column(&self) -> f64 {
        self.seconds / as_f64(self.columns.max(1))
    }
}

/// The trees with most columns, but for one.
fn widest(stats: &FileStats, but: usize) -> Vec<&TreeStats> {
    let mut columns = vec![0; stats.trees.len()];
    for column in &stats.columns {
        if let Some(count) = columns.get_mut(column.tree) {
            *count += 1;
        }
    }
    let mut trees: Vec<(usize, usize)> = columns.into_iter().enumerate().filter(|(tree, _)| *tree != but).collect();
    trees.sort_by_key(|(_, columns)| std::cmp::Reverse(*columns));
    trees.into_iter().take(WIDEST).filter_map(|(tree, _)| stats.trees.get(tree)).collect()
}

/// Every `step`-th by falling size, returned in the original order.
fn every_nth_by_size<T>(mut all: Vec<(usize, T)>, step: f64, size: impl Fn(&T) -> f64) -> Vec<(usize, T)> {
    all.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)));
    let mut next = 0.0;
    let mut kept: Vec<_> = (0u64..)
        .zip(all)
        .filter_map(|(rank, one)| {
            let take = as_f64(rank) >= next;
            next += if take { step.max(1.0) } else { 0.0 };
            take.then_some(one)
        })
        .collect();
    kept.sort_by_key(|(i, _)| *i);
    kept
}

/// A range of about this share of the entries, from a cluster in the middle on. It ends at the end of a cluster unless
/// that is far away.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the entries")]
fn middle(entries: u64, clusters: &[u64], share: f64, far: u64) -> std::ops::Range<u64> {
    let count = ((as_f64(entries) * share).ceil() as u64).clamp(1, entries.max(1)).min(entries);
    let latest = entries - count;
    let half = latest / 2;
    let start = clusters.iter().copied().filter(|&s| s <= latest).min_by_key(|&s| s.abs_diff(half)).unwrap_or(half);
    let whole = clusters.iter().copied().find(|&end| end >= start + count);
    start..whole.filter(|&end| end - start <= far.saturating_mul(count)).unwrap_or(start + count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_whole_clusters_if_they_are_small() {
        assert_eq!(middle(1000, &[0, 400, 800, 1000], 0.1, FAR), 400..800);
        assert_eq!(middle(1000, &[0, 400, 800, 1000], 0.01, FAR), 400..410);
        assert_eq!(middle(1000, &[0, 250, 500, 750, 1000], 0.4, FAR), 250..750);
        assert_eq!(middle(1000, &[0, 900, 1000], 0.5, FAR), 0..900);
        assert_eq!(middle(10, &[0, 10], 1.0, FAR), 0..10);
        assert_eq!(middle(1000, &[0, 1000], 0.02, FAR_PAGES), 0..1000);
        assert_eq!(middle(0, &[0], 1.0, FAR), 0..0);
    }

    #[test]
    fn baskets_of_next_to_nothing_take_the_time_that_they_take() {
        let (folder, line) = (tempfile::tempdir().unwrap(), Line { fixed: 0.0, per_byte: 1e-9 });
        let path = folder.path().join("small.root");
        sample::make(&path, 6400, 1).unwrap();
        let stats = FileStats::read(&path, None, &crate::cost::Workload::default()).unwrap();
        let baskets: f64 = stats.columns.iter().map(Column::count).sum();
        // Of one column the clock saw much more than of the others.
        let costs = |besides: [f64; 3]| -> Vec<ColumnCost> {
            let decode = besides.map(|besides| super::super::decoding::Decode { line, besides });
            decode.map(|decode| ColumnCost { decode, ..ColumnCost::default() }).to_vec()
        };
        let sum = |costs: &[ColumnCost]| -> f64 {
            let of =
                |(column, cost): (&Column, &ColumnCost)| cost.decode.line.fixed * column.count() + cost.decode.besides;
            stats.columns.iter().zip(costs).map(of).sum()
        };
        let read = FullRead { per_basket: 3e-6, ..FullRead::default() };
        let mut found = costs([1e-6 * baskets, 0.0, 1e-7 * baskets]);
        read.divide_besides(&stats, &mut found);
        let each = found[0].decode.line.fixed;
        assert!(each > 0.5e-6 && found.iter().all(|cost| cost.decode.line.fixed == each), "{found:?}");
        assert!((sum(&found) - 1.1e-6 * baskets).abs() < 1e-9, "{found:?}");
        // No basket takes so long: the rest is the column's.
        let mut found = costs([100e-6 * baskets, 0.0, 0.0]);
        read.divide_besides(&stats, &mut found);
        assert!((found[0].decode.line.fixed - 6e-6).abs() < 1e-12 && found[0].decode.besides > 0.9 * 94e-6 * baskets);
        assert!((sum(&found) - 100e-6 * baskets).abs() < 1e-9, "{found:?}");
        assert!(a_basket(Budget::new(100_000_000, 1)).unwrap() > 0.0);
    }

    #[test]
    fn every_other_column_by_size() {
        let sizes = [5.0, 1.0, 4.0, 2.0, 3.0];
        let all = || sizes.into_iter().enumerate().collect();
        let of = |step| every_nth_by_size(all(), step, |size| *size).len();
        assert_eq!((of(0.5), of(1.0), of(2.5)), (5, 5, 2));
        let kept = every_nth_by_size(all(), 2.0, |size| *size);
        assert_eq!(kept, [(0, 5.0), (1, 1.0), (4, 3.0)]);
    }
}
