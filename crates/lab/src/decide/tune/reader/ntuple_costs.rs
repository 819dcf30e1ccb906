//! What reading RNTuples costs another program: the part of a profile that is for them. Profiles of earlier versions
//! have none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::costs::{Decompress, Fit, MOST, MOST_PER_BYTE, PerValue, number};
use crate::cost::Kind;

/// Kinds of values in the fields of RNTuples: numbers, lists of numbers and texts, and all else.
pub(crate) const KINDS: [Kind; 3] = [Kind::Number, Kind::Array, Kind::Object];

/// The costs of reading RNTuples. Times are CPU seconds of one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NtupleCosts {
    /// Seconds that decompressing takes, by codec.
    pub decompress: Decompress,
    /// Seconds beside decompression and values.
    pub read: NtupleRead,
    /// Seconds for values, by kind: `number`, `array` and `object`.
    pub values: BTreeMap<Kind, PerValue>,
    /// How well the numbers explain the measurements.
    pub fit: Fit,
}

/// Seconds beside decompression and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NtupleRead {
    /// For each RNTuple that is opened.
    pub table: f64,
    /// For each column of it that is read.
    pub column: f64,
    /// For each page.
    pub page: f64,
    /// For each byte on disk.
    pub stored_byte: f64,
    /// For each byte of elements whose bytes are split.
    pub split_byte: f64,
    /// For each byte of other elements.
    pub plain_byte: f64,
}

#[cfg(test)]
impl NtupleCosts {
    /// Numbers of about the right size.
    pub(crate) fn example() -> Self {
        Self {
            decompress: Decompress::example(),
            read: NtupleRead {
                table: 1e-3,
                column: 2e-5,
                page: 3e-6,
                stored_byte: 2e-10,
                split_byte: 1e-9,
                plain_byte: 1e-10,
            },
            values: KINDS.into_iter().map(|kind| (kind, PerValue { entry: 4e-8, value: 2e-9 })).collect(),
            fit: Fit { files: 30, median_error: 0.03, worst_error: 0.2 },
        }
    }
}

impl NtupleCosts {
    /// The cost of values of a kind.
    pub fn values(&self, kind: Kind) -> PerValue {
        self.values.get(&kind).copied().unwrap_or_default()
    }

    /// Refuses impossible numbers.
    pub(super) fn check(&self) -> Result<(), String> {
        self.decompress.check("ntuple.decompress")?;
        let NtupleRead { table, column, page, stored_byte, split_byte, plain_byte } = self.read;
        for (key, value) in [("table", table), ("column", column), ("page", page)] {
            number(&format!("ntuple.read.{key}"), value, MOST)?;
        }
        for (key, value) in [("stored-byte", stored_byte), ("split-byte", split_byte), ("plain-byte", plain_byte)] {
            number(&format!("ntuple.read.{key}"), value, MOST_PER_BYTE)?;
        }
        for kind in KINDS {
            let Some(PerValue { entry, value }) = self.values.get(&kind) else {
                return Err(format!("ntuple.values.{} is missing", kind.name()));
            };
            number(&format!("ntuple.values.{}.entry", kind.name()), *entry, MOST)?;
            number(&format!("ntuple.values.{}.value", kind.name()), *value, MOST)?;
        }
        number("ntuple.fit.median-error", self.fit.median_error, f64::MAX)?;
        number("ntuple.fit.worst-error", self.fit.worst_error, f64::MAX)
    }
}
