//! The cost model: what a layout costs for one column, from the measured costs.

use dataset::layout::BasketCutter;
use dataset::tree::BasketRef;

use super::calibrate::Access;
use super::column::{Column, METADATA_PER_BASKET};
use super::decoding::Decode;
use super::measured::{CodecCost, ColumnCost};
use crate::math::as_f64;

/// The cost of a column, or a file, in a layout. Times are CPU seconds of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cost {
    /// Seconds to read for the workload: fetch, decompress and decode.
    pub read: f64,
    /// Of these, to fetch baskets and take their headers apart.
    pub fetch: f64,
    /// To decompress them.
    pub decompress: f64,
    /// To find entries in them, and to decode the selected ones.
    pub decode: f64,
    /// Bytes on disk.
    pub size: f64,
    /// Bytes on disk that the workload reads.
    pub read_bytes: f64,
    /// Seconds to compress.
    pub write: f64,
    /// Bytes that a reader of all columns holds: each one's largest basket, on disk and unpacked, and a cluster.
    pub read_memory: f64,
    /// Bytes of the buffers that a writer of all columns fills.
    pub write_memory: f64,
    /// Number of baskets.
    pub baskets: f64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.fetch += other.fetch;
        self.decompress += other.decompress;
        self.decode += other.decode;
        self.size += other.size;
        self.read_bytes += other.read_bytes;
        self.write += other.write;
        self.read_memory += other.read_memory;
        self.write_memory += other.write_memory;
        self.baskets += other.baskets;
    }
}

/// How a tree is cut into clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clusters {
    /// How many.
    pub count: f64,
    /// Entries of one, on average.
    pub entries: f64,
    /// Entries of the cluster around an entry, on average over entries.
    pub around: f64,
    /// Share of the tree that the largest holds.
    pub largest: f64,
    /// Entries of each but the last, where a rewrite makes them so: those of RNTuples, counted in the whole table.
    pub each: Option<f64>,
}

impl Clusters {
    /// Pieces of so many entries: the last one of a cluster is as small as it comes. Clusters are equal but for the last one where the
    /// largest leaves room for that, else as large as on average.
    fn pieces(&self, entries: f64) -> f64 {
        let (all, full) = (self.count * self.entries, self.count - 1.0);
        let (each, last) = (self.largest * all, (1.0 - self.largest * full) * all);
        // Shares of the tree are rounded.
        let of = |cluster: f64| (cluster / entries - 1e-9).ceil().max(1.0);
        match full >= 1.0 && last > 0.0 && last <= each {
            true => full * of(each) + of(last),
            false => self.count * of(self.entries),
        }
    }
}

/// The column in its present layout.
pub(crate) fn today(column: &Column, cost: &ColumnCost, access: &Access, clusters: &Clusters) -> Cost {
    let count = column.count().max(1.0);
    let largest = column.baskets.iter().map(|b| f64::from(b.nbytes)).fold(0.0, f64::max);
    let largest_raw = (largest * column.raw / column.zip).max(largest);
    let touched = match column.demand.sparse.is_empty() {
        true => column.demand.touched(1.0),
        false => {
            // By bytes: where entries differ, the baskets with few of them are as large as the others.
            let of = |b: &BasketRef| f64::from(b.nbytes) * column.demand.touched(as_f64(b.entries));
            column.baskets.iter().map(of).sum::<f64>() / column.on_disk()
        }
    };
    Cost {
        size: column.on_disk() + METADATA_PER_BASKET * count,
        // Records are copied as they are.
        write: column.on_disk() * access.per_byte,
        read_memory: largest + largest_raw + clusters.largest * column.on_disk(),
        write_memory: if column.pages.is_some() { largest_raw } else { f64::from(column.basket_size).max(largest_raw) },
        baskets: count,
        ..reading(column, count, column.on_disk(), touched, cost.unpacking(column), cost.decode, access)
    }
}

/// Entries of a basket that a writer closes at `size` bytes, within a cluster.
pub(crate) fn entries_per_basket(column: &Column, size: u32, clusters: &Clusters) -> f64 {
    if let Some(pages) = &column.pages {
        let entry = pages.in_memory() * column.entry_bytes();
        return (f64::from(size) / entry.max(1e-3)).clamp(1.0, clusters.entries.max(1.0));
    }
    let mut cutter = BasketCutter::new(size, column.keylen, column.has_offsets, false);
    // Lengths are whole numbers only on average: a thousand entries say it better than one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of an entry")]
    let entry = column.entry_bytes().ceil() as u32;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let whole = cutter.fixed(entry) as f64;
    cutter.close();
    let offset = if column.has_offsets { 8.0 } else { 0.0 };
    let rounding = (f64::from(entry) + offset) / (column.entry_bytes() + offset).max(1e-3);
    (whole * rounding).clamp(1.0, clusters.entries.max(1.0))
}

/// How a column is cut into baskets or pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    /// Entries of one.
    pub entries: f64,
    /// The size that the writer is told, in bytes.
    pub size: u32,
    /// How many there are, where that is known.
    pub count: Option<f64>,
}

/// The column with another codec, and other baskets.
pub(crate) fn planned(
    column: &Column,
    codec: &CodecCost,
    decode: Decode,
    Pieces { entries, size, count }: Pieces,
    access: &Access,
    clusters: &Clusters,
) -> Cost {
    let count = count.unwrap_or_else(|| clusters.pieces(entries).max(1.0).min(column.entries.max(1.0)));
    let raw = column.raw_in(count);
    let packed = codec.size.of(count, raw).min(raw);
    let on_disk = packed + f64::from(column.keylen) * count;
    let basket = raw / column.entries.max(1.0) * entries;
    // The last basket of a cluster is smaller than the others; where one holds it all, large clusters have most entries.
    let rest = clusters.entries % entries;
    let around = match entries < clusters.entries {
        true => ((clusters.entries - rest) * entries + rest * rest) / clusters.entries.max(1.0),
        false => clusters.around.max(entries),
    };
    let touched = column.demand.touched(around);
    Cost {
        size: on_disk + METADATA_PER_BASKET * count,
        write: codec.pack.of(count, raw),
        read_memory: basket * (1.0 + packed / raw.max(1.0)) + clusters.largest * on_disk,
        write_memory: if column.pages.is_some() { basket } else { f64::from(size).max(basket) },
        baskets: count,
        ..reading(column, count, on_disk, touched, codec.unpacking(count, raw), decode, access)
    }
}

/// The seconds to read a column for the workload. Baskets that hold any selected entry are fetched and decompressed
/// whole, and their entries found; selected entries are decoded, in one call for a whole basket. `touched` is the
/// share of the bytes in such baskets; `unpack` and `elements` are the seconds to decompress all and to decode all elements of pages. Their share of the baskets is smaller, since large baskets are hit more often.
fn reading(
    column: &Column,
    baskets: f64,
    on_disk: f64,
    touched: f64,
    (unpack, elements): (f64, f64),
    decode: Decode,
    access: &Access,
) -> Cost {
    let hit = column.demand.touched(column.entries / baskets);
    let offsets = if column.has_offsets { column.entries * access.per_offset } else { 0.0 };
    let (runs, entries) = column.demand.decoded(baskets, column.entries);
    let fetch = hit * baskets * access.per_basket + touched * on_disk * access.per_byte;
    let decompress = touched * unpack;
    let raw = column.raw_in(baskets) * entries / column.entries.max(1.0);
    let columns = column.demand.readings() * access.per_column;
    let elements = elements * entries / column.entries.max(1.0);
    let decode = touched * (offsets + decode.besides) + decode.line.of(runs, raw) + elements + columns;
    let read_bytes = touched * on_disk;
    Cost { read: fetch + decompress + decode, fetch, decompress, decode, read_bytes, ..Cost::default() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::curve::Curve;
    use super::super::kind::Kind;
    use super::super::line::Line;
    use super::super::workload::Workload;
    use super::*;
    use dataset::layout::Compression;

    /// 100,000 entries of 8 bytes in 100 baskets, compressed to a half.
    pub(crate) fn column(workload: &str) -> Column {
        let baskets = (0..100)
            .map(|i| BasketRef { first_entry: i * 1000, entries: 1000, seek: 100 + i * 4100, nbytes: 4100 })
            .collect();
        let lineage = vec!["x".to_owned()];
        Column {
            tree: 0,
            unit: 0,
            demand: workload.parse::<Workload>().unwrap().demand("t", &lineage),
            lineage,
            entries: 1e5,
            raw: 8e5,
            zip: 4e5,
            keylen: 100,
            has_offsets: false,
            compression: Compression::from_root_setting(101).unwrap(),
            basket_size: 8100,
            baskets,
            can_sample: true,
            plan: None,
            kind: Kind::Number,
            value_bytes: 8.0,
            counts: false,
            recast: None,
            pages: None,
        }
    }

    pub(crate) const ACCESS: Access = Access {
        per_basket: 1e-6,
        per_byte: 1e-10,
        per_offset: 1e-9,
        per_column: 3e-6,
        per_written: 1e-9,
        per_copied: 0.0,
    };
    const CODEC: CodecCost = CodecCost {
        size: Curve { line: Line { fixed: 20.0, per_byte: 0.25 }, beyond: None },
        pack: Line { fixed: 1e-6, per_byte: 1e-8 },
        unpack: Line { fixed: 2e-6, per_byte: 1e-9 },
        decode: Line { fixed: 0.0, per_byte: 0.0 },
        encode: Line { fixed: 0.0, per_byte: 0.0 },
    };
    const DECODE: Decode = Decode { line: Line { fixed: 1e-7, per_byte: 5e-10 }, besides: 0.0 };
    const CLUSTERS: Clusters = Clusters { count: 10.0, entries: 1e4, around: 1e4, largest: 0.1, each: None };

    fn pieces(entries: f64, size: u32) -> Pieces {
        Pieces { entries, size, count: None }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9 * b.abs().max(1.0)
    }

    #[test]
    fn a_small_last_cluster_has_few_pieces() {
        let clusters = |count, largest| Clusters { count, entries: 100.0, around: 100.0, largest, each: None };
        // 100 entries each; then 160 and 40; then what no equal clusters explain.
        assert_eq!(clusters(2.0, 0.5).pieces(60.0), 4.0);
        assert_eq!(clusters(2.0, 0.8).pieces(60.0), 4.0);
        assert_eq!(clusters(2.0, 0.8).pieces(100.0), 3.0);
        assert_eq!(clusters(3.0, 0.8).pieces(100.0), 3.0);
        assert_eq!(clusters(1.0, 1.0).pieces(30.0), 4.0);
    }

    #[test]
    fn every_part_of_a_layout_is_counted() {
        let cost = planned(&column("full"), &CODEC, DECODE, pieces(5000.0, 40_000), &ACCESS, &CLUSTERS);
        // 20 baskets of 5000 entries; 200,000 + 400 bytes compressed, 2000 of keys, 240 of metadata.
        assert_eq!(cost.baskets, 20.0);
        assert!(close(cost.size, 202_640.0), "{cost:?}");
        assert!(close(cost.write, 20e-6 + 8e-3), "{cost:?}");
        assert!(close(cost.fetch, 20e-6 + 202_400.0 * 1e-10), "{cost:?}");
        assert!(close(cost.decompress, 40e-6 + 8e-4), "{cost:?}");
        assert!(close(cost.decode, 20.0 * 1e-7 + 8e5 * 5e-10 + 3e-6), "{cost:?}");
        assert!(close(cost.read, cost.fetch + cost.decompress + cost.decode), "{cost:?}");
        assert!(close(cost.read_memory, 40_000.0 * (1.0 + 200_400.0 / 8e5) + 20_240.0), "{cost:?}");
        assert!(close(cost.write_memory, 40_000.0), "{cost:?}");
    }

    #[test]
    fn a_sparse_reader_pays_for_whole_baskets() {
        let column = column("sparse:1%");
        let planned = |column, entries| planned(column, &CODEC, DECODE, pieces(entries, 0), &ACCESS, &CLUSTERS);
        let cost = |entries| planned(&column, entries);
        let all = super::tests::column("full");
        let full = |entries| planned(&all, entries);
        assert!(close(cost(10.0).fetch / full(10.0).fetch, 1.0 - 0.99f64.powi(10)));
        assert!(cost(10_000.0).decompress / full(10_000.0).decompress > 0.999);
        // But for the picked entries only: a hundredth of 100,000, most of them without a neighbour.
        assert!(close(cost(10_000.0).decode, 990.0 * 1e-7 + 8e3 * 5e-10 + 3e-6), "{:?}", cost(10_000.0));
    }

    #[test]
    fn large_baskets_are_hit_more_often() {
        let measured =
            ColumnCost { today: Line { fixed: 0.0, per_byte: 1e-9 }, decode: DECODE, ..ColumnCost::default() };
        let even = column("sparse:0.1%");
        let mut uneven = column("sparse:0.1%");
        // The same entries, all but 99 of them in one basket.
        for (i, basket) in (0u64..).zip(&mut uneven.baskets) {
            basket.first_entry = if i == 0 { 0 } else { 99_901 + i - 1 };
            basket.entries = if i == 0 { 99_901 } else { 1 };
        }
        // Entries that differ, so that all baskets are as large; and those that do not.
        let variable = uneven.clone();
        for (i, basket) in uneven.baskets.iter_mut().enumerate() {
            basket.nbytes = if i == 0 { 410_000 - 99 * 4 } else { 4 };
        }
        let decompress = |column| today(column, &measured, &ACCESS, &CLUSTERS).decompress;
        assert!(close(decompress(&even), 8e-4 * (1.0 - 0.999f64.powi(1000))));
        assert!(decompress(&uneven) > 0.99 * 8e-4, "{}", decompress(&uneven));
        assert!(close(decompress(&variable), 8e-4 * (1.0 + 99.0 * 0.001) / 100.0), "{}", decompress(&variable));
        // Of clusters that differ most entries lie in large ones.
        let planned =
            |clusters: &Clusters| planned(&even, &CODEC, DECODE, pieces(1000.0, 8000), &ACCESS, clusters).decompress;
        let clusters = Clusters { count: 100.0, entries: 1e3, around: 1e3, largest: 0.01, each: None };
        assert!(planned(&Clusters { around: 5e3, ..clusters }) > 1.5 * planned(&clusters));
    }

    #[test]
    fn baskets_end_with_their_clusters() {
        let column = column("full");
        assert_eq!(entries_per_basket(&column, 1_000_000_000, &CLUSTERS), 1e4);
        // The key, 990 entries of 8 bytes, and no room for another.
        let entries = entries_per_basket(&column, 8028, &CLUSTERS);
        assert_eq!(entries, 990.0);
    }

    #[test]
    fn today_is_what_lies_there() {
        let unpack = Line { fixed: 1e-6, per_byte: 2e-9 };
        let measured = ColumnCost { today: unpack, decode: DECODE, ..ColumnCost::default() };
        let cost = today(&column("full"), &measured, &ACCESS, &CLUSTERS);
        assert!(close(cost.size, 400_000.0 + 100.0 * 112.0), "{cost:?}");
        let decode = 100.0 * 1e-7 + 8e5 * 5e-10 + 3e-6;
        assert!(close(cost.read, 100e-6 + 410_000.0 * 1e-10 + 100e-6 + 1.6e-3 + decode), "{cost:?}");
    }
}
