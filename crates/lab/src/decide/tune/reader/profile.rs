//! A reader's profile: the reading costs of another program, as measured numbers in a small TOML file. This module reads, checks
//! and writes profiles; `expect` applies them.

use std::collections::BTreeMap;
use std::path::Path;

use rootfile::codec::Algorithm;
use rootfile::{Error, Result};
use serde::{Deserialize, Serialize};

pub use super::costs::{Decompress, Fit, PerValue, Speed, Stored};
use super::costs::{MOST, MOST_PER_BYTE, number};
use super::ntuple_costs::NtupleCosts;
use crate::cost::Kind;

/// Version of the format. It grows when a field goes or changes its meaning.
pub const FORMAT: u32 = 1;

/// The reading costs of another program. Times are CPU seconds of one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// [`FORMAT`].
    pub format: u32,
    /// The program: `root`, `uproot`, or another name.
    pub reader: String,
    /// Its version.
    pub version: String,
    /// Day of the measurement, `2026-11-23`.
    pub date: String,
    /// Model of the processor.
    pub processor: String,
    /// The command that made the profile.
    pub command: String,
    /// Seconds that decompressing takes, by codec.
    pub decompress: Decompress,
    /// Seconds beside decompression and values.
    pub read: Read,
    /// Seconds for values, by kind of branch.
    pub values: BTreeMap<Kind, PerValue>,
    /// How well the numbers explain the measurements.
    pub fit: Fit,
    /// The same for RNTuples; none: they were not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ntuple: Option<NtupleCosts>,
}

/// Seconds beside decompression and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Read {
    /// For each tree that is opened.
    pub tree: f64,
    /// For each branch of it that is read.
    pub branch: f64,
    /// For each basket.
    pub basket: f64,
    /// For each byte on disk.
    pub stored_byte: f64,
    /// For each object of a collection that is split into branches.
    pub item: f64,
    /// Additional seconds for each entry of each branch, in trees so wide that a processor's caches do not hold the state of
    /// their branches.
    #[serde(default)]
    pub wide_entry: f64,
}

impl Profile {
    /// Reads and checks the text of a profile; errors name `place`.
    ///
    /// # Errors
    ///
    /// The text is no TOML of this form, or has numbers that cannot be.
    pub fn parse(text: &str, place: &Path) -> Result<Self> {
        let wrong = |e: toml::de::Error| {
            let why = e.to_string();
            Error::request(format!("is not a valid reader profile: {}", why.trim_end())).file(place)
        };
        let profile: Self = toml::from_str(text).map_err(wrong)?;
        profile.check().map_err(|why| Error::request(format!("is not a valid reader profile: {why}")).file(place))?;
        Ok(profile)
    }

    /// The file's text.
    ///
    /// # Errors
    ///
    /// A number has no form in TOML.
    pub fn to_toml(&self) -> Result<String> {
        let text = toml::to_string(self).map_err(|e| Error::request(format!("cannot be written as TOML: {e}")))?;
        let Self { reader, version, date, processor, command, .. } = self;
        Ok(format!(
            "# What reading costs {reader} {version}, in CPU seconds of one thread (docs/readers.md).\n# Made by `{command}` on {date}, on {processor}.\n{text}"
        ))
    }

    /// Refuses impossible numbers.
    fn check(&self) -> std::result::Result<(), String> {
        if self.format != FORMAT {
            return Err(format!("its format is {}, and this version reads {FORMAT}", self.format));
        }
        if self.reader.is_empty() {
            return Err("reader is empty".to_owned());
        }
        self.decompress.check("decompress")?;
        self.ntuple.as_ref().map_or(Ok(()), NtupleCosts::check)?;
        let Read { tree, branch, basket, stored_byte, item, wide_entry } = self.read;
        number("read.item", item, MOST)?;
        number("read.wide-entry", wide_entry, MOST)?;
        number("read.tree", tree, MOST)?;
        number("read.branch", branch, MOST)?;
        number("read.basket", basket, MOST)?;
        number("read.stored-byte", stored_byte, MOST_PER_BYTE)?;
        for kind in Kind::ALL {
            let Some(PerValue { entry, value }) = self.values.get(&kind) else {
                if kind.of_earlier() != kind {
                    continue;
                }
                return Err(format!("values.{} is missing", kind.name()));
            };
            number(&format!("values.{}.entry", kind.name()), *entry, MOST)?;
            number(&format!("values.{}.value", kind.name()), *value, MOST)?;
        }
        if self.values.values().all(|value| value.entry + value.value <= 0.0) {
            return Err("values: all of them are 0".to_owned());
        }
        number("fit.median-error", self.fit.median_error, f64::MAX)?;
        number("fit.worst-error", self.fit.worst_error, f64::MAX)
    }

    /// The cost of a codec.
    pub fn speed(&self, algorithm: Algorithm) -> Speed {
        self.decompress.speed(algorithm)
    }

    /// The cost of values of a kind.
    pub fn values(&self, kind: Kind) -> PerValue {
        self.values.get(&kind).or_else(|| self.values.get(&kind.of_earlier())).copied().unwrap_or_default()
    }
}

/// The width of a tree by its branches: 0 up to 250 branches, 1 from 500 on. Each branch has a
/// kilobyte or two for itself, and a core's own cache holds half a megabyte.
pub(crate) fn wide(branches: f64) -> f64 {
    (branches / 250.0 - 1.0).clamp(0.0, 1.0)
}

#[cfg(test)]
impl Profile {
    /// A profile with numbers of about the right size.
    pub(crate) fn example() -> Self {
        Self {
            format: FORMAT,
            reader: "root".to_owned(),
            version: "6.40.00".to_owned(),
            date: "2026-01-31".to_owned(),
            processor: "a processor".to_owned(),
            command: "basketry tune --calibrate root".to_owned(),
            decompress: Decompress::example(),
            read: Read { tree: 1e-3, branch: 3e-5, basket: 3e-6, stored_byte: 2e-10, item: 2e-7, wide_entry: 1e-8 },
            values: Kind::ALL.into_iter().map(|kind| (kind, PerValue { entry: 3e-8, value: 1e-9 })).collect(),
            fit: Fit { files: 30, median_error: 0.03, worst_error: 0.2 },
            ntuple: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut toml::Table)) -> String {
        let mut table: toml::Table = Profile::example().to_toml().unwrap().parse().unwrap();
        change(&mut table);
        Profile::parse(&table.to_string(), Path::new("p.toml")).unwrap_err().to_string()
    }

    fn inside<'a>(table: &'a mut toml::Table, path: &[&str]) -> &'a mut toml::Table {
        path.iter().fold(table, |table, key| table[*key].as_table_mut().unwrap())
    }

    #[test]
    fn a_written_profile_is_read_back() {
        let text = Profile::example().to_toml().unwrap();
        assert_eq!(Profile::parse(&text, Path::new("p.toml")).unwrap(), Profile::example(), "{text}");
        assert!(text.starts_with("# What reading costs root 6.40.00"), "{text}");
    }

    #[test]
    fn costs_of_rntuples_are_a_part_that_may_be_missing() {
        let profile = Profile { ntuple: Some(NtupleCosts::example()), ..Profile::example() };
        let text = profile.to_toml().unwrap();
        assert_eq!(Profile::parse(&text, Path::new("p.toml")).unwrap(), profile, "{text}");
        assert!(!Profile::example().to_toml().unwrap().contains("ntuple"));
        let refused = |from: &str, to: &str| {
            let changed = text.replace(from, to);
            assert_ne!(changed, text);
            Profile::parse(&changed, Path::new("p.toml")).unwrap_err().to_string()
        };
        assert!(refused("page = 0.000003", "page = 2.0").contains("ntuple.read.page is 2"));
        assert!(refused("split-byte = 0.000000001", "split-byte = -1.0").contains("ntuple.read.split-byte is -1"));
        assert!(refused("[ntuple.values.array]", "[ntuple.values.member]").contains("ntuple.values.array is missing"));
        assert!(refused("[ntuple.fit]", "[ntuple.fits]").contains("unknown field"));
    }

    #[test]
    fn numbers_that_cannot_be_are_refused_by_name() {
        let set = |path: &'static [&'static str], key: &'static str, value: toml::Value| {
            refusal(|table| {
                inside(table, path).insert(key.to_owned(), value);
            })
        };
        let cases = [
            (set(&["read"], "basket", (-1e-6).into()), "read.basket is -0.000001; times must not be negative"),
            (set(&["read"], "branch", 1e9.into()), "read.branch is 1000000000"),
            (set(&["read"], "tree", f64::NAN.into()), "read.tree is NaN"),
            (set(&["values", "object"], "value", f64::INFINITY.into()), "values.object.value is inf"),
            (set(&["decompress", "zlib"], "seconds-per-byte", 0.0.into()), "decompress.zlib.seconds-per-byte is 0"),
            (set(&["decompress", "lz4"], "seconds-per-byte", 1e-5.into()), "decompress.lz4: more than 1000 times"),
            (set(&["decompress", "lz4"], "seconds-per-byte", 1.0.into()), "decompress.lz4.seconds-per-byte is 1"),
            (set(&[], "format", 2.into()), "its format is 2"),
            (set(&["read"], "teh", 2.into()), "unknown field"),
            (set(&["read"], "basket", "fast".into()), "expected f64"),
        ];
        for (message, part) in cases {
            assert!(message.contains(part) && message.contains("p.toml"), "{message}: {part}");
        }
    }

    #[test]
    fn missing_keys_are_named() {
        let without = |path: &'static [&'static str], key: &'static str| {
            refusal(|table| {
                inside(table, path).remove(key);
            })
        };
        assert!(without(&["decompress"], "lzma").contains("missing field `lzma`"));
        assert!(without(&["read"], "basket").contains("missing field `basket`"));
        let mut earlier = Profile::example();
        earlier.values.remove(&Kind::Nested);
        earlier.values.insert(Kind::Object, PerValue { entry: 1e-6, value: 0.0 });
        let earlier = Profile::parse(&earlier.to_toml().unwrap(), Path::new("p.toml")).unwrap();
        assert_eq!(earlier.values(Kind::Nested), earlier.values(Kind::Object));
        assert!(without(&["values"], "member").contains("values.member is missing"));
        assert!(without(&[], "processor").contains("missing field `processor`"));
        assert!(Profile::parse("", Path::new("p.toml")).is_err());
        assert!(Profile::parse("\u{0}[[[", Path::new("p.toml")).is_err());
    }
}
