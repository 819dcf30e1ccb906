//! Compares the rules in `dataset::layout` with what ROOT did: `root/layout_figures.json`, which
//! `root/layout_figures.py` writes.

#![allow(clippy::unwrap_used, clippy::panic)]

use dataset::layout::{BasketBuffer, BasketCutter, BranchFigures, EntryOffsetLen, defaults, optimize_baskets};
use serde_json::Value;

fn figures(section: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../root/layout_figures.json")).unwrap();
    let cases = all[section].as_array().unwrap().clone();
    assert!(!cases.is_empty());
    cases
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a count"))
}

fn small(value: &Value) -> u32 {
    number(value).try_into().unwrap()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(number).collect()
}

#[test]
fn optimize_baskets_decides_as_root_does() {
    for case in figures("optimize") {
        let before = case["before"].as_array().unwrap();
        let branches: Vec<BranchFigures> = before
            .iter()
            .map(|b| BranchFigures {
                name_len: b["name"].as_str().unwrap().len().try_into().unwrap(),
                entries: number(&b["entries"]),
                total_bytes: number(&b["total_bytes"]),
                zip_bytes: number(&b["zip_bytes"]),
                basket_size: small(&b["basket_size"]),
                entry_offset_len: small(&b["entry_offset_len"]),
                leaves: small(&b["leaves"]),
                has_branches: b["has_branches"].as_bool().unwrap(),
            })
            .collect();
        let plans = optimize_baskets(
            &branches,
            number(&case["tree_bytes"]),
            case["auto_flush"].as_u64().filter(|entries| *entries > 0),
            number(&case["memory"]),
            case["min_factor"].as_f64().unwrap() as f32,
        );
        for ((plan, after), before) in plans.iter().zip(case["after"].as_array().unwrap()).zip(before) {
            let place = format!("{} of memory {} factor {}", before["name"], case["memory"], case["min_factor"]);
            assert_eq!(plan.basket_size, small(&after["basket_size"]), "{place}");
            let compression = if plan.uncompressed { 0 } else { number(&before["compression"]) };
            assert_eq!(compression, number(&after["compression"]), "compression of {place}");
        }
    }
}

/// One branch alone in a tree, written as `TTree::Fill` does, by the rules under test.
struct Writer {
    cutter: BasketCutter,
    offsets: EntryOffsetLen,
    buffer: BasketBuffer,
    basket_size: u32,
    key_len: u32,
    ratio: f64,
    in_basket: u32,
    used: u32,
    total: u64,
    made: Made,
}

#[derive(Default, Debug, PartialEq)]
struct Made {
    first_entries: Vec<u64>,
    nev_buf_size: Vec<u32>,
    basket_size_while_filling: Vec<u32>,
    buffer_after: Vec<u32>,
}

impl Writer {
    /// Fills an entry that is written in these pieces; true if it closed the basket.
    fn fill(&mut self, entry: u64, pieces: &[u32]) -> bool {
        if self.in_basket == 0 {
            self.made.first_entries.push(entry);
        }
        for piece in pieces {
            self.buffer.fill(self.used, *piece);
            self.used += piece;
        }
        self.in_basket += 1;
        let closed = self.cutter.push(pieces.iter().sum());
        if closed {
            self.write_basket();
        }
        closed
    }

    fn flush(&mut self) {
        if self.cutter.close() {
            self.write_basket();
        }
    }

    fn write_basket(&mut self) {
        if self.offsets.get() > 0 {
            for piece in [4, 4 * (self.in_basket + 1)] {
                self.buffer.fill(self.used, piece);
                self.used += piece;
            }
        }
        let baskets = self.made.nev_buf_size.len() as u64 + 1;
        self.made.nev_buf_size.push(self.offsets.basket(self.in_basket));
        self.made.basket_size_while_filling.push(self.basket_size);
        self.buffer.after_flush(self.used, self.basket_size, self.total / baskets, self.ratio);
        self.made.buffer_after.push(self.buffer.size());
        self.total += u64::from(self.used);
        (self.in_basket, self.used) = (0, self.key_len);
    }

    /// After the first flush ROOT optimises for the bytes written so far.
    fn optimize(&mut self, entries: u64, auto_flush: i64) {
        let branch = BranchFigures {
            name_len: 1,
            entries,
            total_bytes: self.total,
            zip_bytes: self.total,
            basket_size: self.basket_size,
            entry_offset_len: self.offsets.get(),
            leaves: 1,
            has_branches: false,
        };
        let plans = optimize_baskets(&[branch], self.total, u64::try_from(auto_flush).ok(), self.total, 1.0);
        self.basket_size = plans[0].basket_size;
        self.cutter.set_basket_size(self.basket_size);
        self.buffer.set_basket_size(self.basket_size);
        // The script notes the buffer after the whole of TTree::Fill.
        *self.made.buffer_after.last_mut().unwrap() = self.buffer.size();
    }
}

/// The pieces in which ROOT writes entry `entry`; the length of jagged ones is the script's formula.
fn pieces(case: &Value, entry: u64) -> Vec<u32> {
    if case["kind"] == "float" {
        return vec![4];
    }
    let burst = number(&case["burst"]);
    let times = if burst > 0 && entry / 200 % 4 == 1 { burst } else { 1 };
    let length = u32::try_from(entry * 7919 % 97 * times).unwrap();
    // Byte count, version, number of elements, elements.
    vec![4, 2, 4, 4 * length]
}

#[test]
fn baskets_are_cut_and_buffers_move_as_in_root() {
    for case in figures("baskets") {
        let (basket_size, key_len) = (small(&case["basket_size"]), small(&case["key_len"]));
        let jagged = case["kind"] == "vector";
        let only_at_cluster = case["one_basket_per_cluster"].as_bool().unwrap();
        let mut auto_flush = case["auto_flush"].as_i64().unwrap();
        let first_cutter = BasketCutter::new(basket_size, key_len, jagged, only_at_cluster && auto_flush >= 0);
        let mut writer = Writer {
            cutter: first_cutter,
            offsets: EntryOffsetLen::new(if jagged { defaults::ENTRY_OFFSET_LEN.unsigned_abs() } else { 0 }),
            buffer: BasketBuffer::new(basket_size),
            basket_size,
            key_len,
            ratio: case["ratio"].as_f64().unwrap(),
            in_basket: 0,
            used: key_len,
            total: 0,
            made: Made::default(),
        };
        let mut flushed = false;
        let mut bytes = 0;
        for entry in 0..number(&case["entries"]) {
            let pieces = pieces(&case, entry);
            bytes += pieces.iter().map(|p| u64::from(*p)).sum::<u64>();
            writer.fill(entry, &pieces);
            let entries = entry + 1;
            // Nothing is compressed in these files: TTree::GetZipBytes is GetTotBytes.
            let due = match auto_flush {
                0 => false,
                1.. => entries.is_multiple_of(auto_flush.unsigned_abs()),
                _ => writer.total > auto_flush.unsigned_abs(),
            };
            if !due {
                continue;
            }
            writer.flush();
            if !flushed {
                flushed = true;
                if !only_at_cluster {
                    writer.optimize(entries, auto_flush);
                }
                auto_flush = entries.try_into().unwrap();
                writer.cutter = BasketCutter::new(writer.basket_size, key_len, jagged, only_at_cluster);
            }
        }
        writer.flush();
        let place = format!("{case:.200}");
        assert_eq!(bytes, number(&case["entry_bytes"]), "{place}");
        assert_eq!(auto_flush, case["auto_flush_after"].as_i64().unwrap(), "{place}");
        let made = writer.made;
        assert_eq!(made.first_entries, numbers(&case["first_entries"]), "{place}");
        // The script could watch all but the last basket, which is written with the tree.
        let sizes = numbers(&case["basket_size_while_filling"]);
        assert!(made.first_entries.len() - sizes.len() <= 1, "{place}");
        let compare = |ours: &[u32], root: &[u64], what: &str| {
            let ours: Vec<u64> = ours.iter().take(root.len()).map(|n| u64::from(*n)).collect();
            assert_eq!(ours, root, "{what} in {place}");
        };
        compare(&made.basket_size_while_filling, &sizes, "basket sizes");
        compare(&made.buffer_after, &numbers(&case["buffer_after"]), "buffers");
        if jagged {
            compare(&made.nev_buf_size, &numbers(&case["nev_buf_size"]), "fNevBufSize");
            assert_eq!(writer.offsets.get(), small(&case["entry_offset_len"]), "{place}");
        }
    }
}
