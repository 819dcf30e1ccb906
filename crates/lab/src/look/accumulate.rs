//! The numbers of a column as they pass: counts, extremes, moments, and a sample for quantiles. Up to a limit the sample has all values, and
//! what is made of it is exact.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp};
use arrow_schema::DataType;

use super::distinct::{self, Distinct};

/// Numbers of a column that are kept for quantiles.
const MOST_KEPT: usize = 1 << 16;
/// Numbers above this are no origin.
const LARGEST_ORIGIN: f64 = 1e150;

/// Bytes of what is kept of a column, at most; and of a value, while there are few.
const MOST_BYTES: u64 = (MOST_KEPT * size_of::<f64>()) as u64 + distinct::MOST_BYTES;
const BYTES_OF_VALUE: u64 = 64;

/// Bytes of what is kept of a column with at most so many values.
pub(super) fn kept_bytes(values: u64) -> u64 {
    values.saturating_mul(BYTES_OF_VALUE).min(MOST_BYTES)
}

/// What has passed of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Accumulator {
    /// Numbers, texts or truth values.
    pub values: u64,
    /// Entries or items without a value.
    pub nulls: u64,
    /// Entries that the column does not hold.
    pub missing: u64,
    /// Numbers that are not a number.
    pub nans: u64,
    /// Numbers that are infinite.
    pub infinite: u64,
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// The least and the largest of whole numbers, with all their digits.
    pub whole: Option<[i128; 2]>,
    /// The first finite number: means and deviations are those of differences from it, which lose no digits where numbers are large and
    /// lie close together, as times do.
    origin: Option<f64>,
    /// Mean of the differences.
    mean: f64,
    /// Sum of squares of deviations from the mean.
    squares: f64,
    finite: u64,
    /// A sample of the finite numbers: all of them while there is room.
    pub sample: Vec<f64>,
    /// State of the random numbers that choose the sample.
    random: u64,
    /// Different values; none where there is a value that is no number and no text.
    different: Option<Distinct>,
    /// Lengths of lists and texts.
    pub lengths: Lengths,
}

/// Lengths of the lists of a column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lengths {
    pub lists: u64,
    pub items: u64,
    pub shortest: Option<u64>,
    pub longest: Option<u64>,
}

impl Lengths {
    fn add(&mut self, length: u64) {
        self.lists += 1;
        self.items = self.items.saturating_add(length);
        self.shortest = Some(self.shortest.map_or(length, |least| least.min(length)));
        self.longest = Some(self.longest.map_or(length, |most| most.max(length)));
    }
}

impl Accumulator {
    pub fn new() -> Self {
        Self { different: Some(Distinct::default()), random: 0x9e37_79b9_7f4a_7c15, ..Self::default() }
    }

    /// The different values.
    pub fn different(&self) -> Option<&Distinct> {
        self.different.as_ref()
    }

    /// Mean of the finite numbers.
    pub fn mean(&self) -> f64 {
        self.origin.unwrap_or(0.0) + self.mean
    }

    /// Standard deviation of the finite numbers.
    pub fn deviation(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let count = self.finite as f64;
        (self.finite > 0).then(|| (self.squares / count).sqrt())
    }

    /// Finite numbers.
    pub fn finite(&self) -> u64 {
        self.finite
    }

    /// Whether the sample has all finite numbers.
    pub fn is_exact(&self) -> bool {
        self.finite <= self.sample.len() as u64
    }

    /// Adds the values of an array, and those in its lists. Lengths are those of the outermost lists.
    pub fn add(&mut self, array: &ArrayRef) {
        self.add_at(array, 0);
    }

    fn add_at(&mut self, array: &ArrayRef, depth: usize) {
        match array.data_type() {
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                lists.iter().for_each(|list| self.add_list(list, depth));
            }
            DataType::LargeList(_) => {
                let lists = array.as_list::<i64>();
                let offsets = lists.value_offsets();
                if depth == 0 {
                    let valid = offsets.windows(2).enumerate().filter(|(row, _)| lists.is_valid(*row));
                    let length = |ends: &[i64]| ends.last()?.checked_sub(*ends.first()?)?.try_into().ok();
                    valid.filter_map(|(_, ends)| length(ends)).for_each(|length: u64| self.lengths.add(length));
                }
                self.nulls += lists.null_count() as u64;
                if let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) {
                    let (first, last) = (usize::try_from(first).unwrap_or(0), usize::try_from(last).unwrap_or(0));
                    self.add_at(&lists.values().slice(first, last.saturating_sub(first)), depth + 1);
                }
            }
            DataType::FixedSizeList(_, size) => {
                let lists = array.as_fixed_size_list();
                let length = u64::try_from(*size).unwrap_or(0);
                (0..lists.len()).filter(|_| depth == 0).for_each(|_| self.lengths.add(length));
                self.add_at(lists.values(), depth + 1);
            }
            DataType::Int8 => self.whole_numbers::<Int8Type>(array, f64::from, |v| v as u64),
            DataType::Int16 => self.whole_numbers::<Int16Type>(array, f64::from, |v| v as u64),
            DataType::Int32 => self.whole_numbers::<Int32Type>(array, f64::from, |v| v as u64),
            #[expect(clippy::cast_precision_loss, reason = "moments are doubles")]
            DataType::Int64 => self.whole_numbers::<Int64Type>(array, |v| v as f64, |v| v as u64),
            DataType::UInt8 => self.whole_numbers::<UInt8Type>(array, f64::from, u64::from),
            DataType::UInt16 => self.whole_numbers::<UInt16Type>(array, f64::from, u64::from),
            DataType::UInt32 => self.whole_numbers::<UInt32Type>(array, f64::from, u64::from),
            #[expect(clippy::cast_precision_loss, reason = "moments are doubles")]
            DataType::UInt64 => self.whole_numbers::<UInt64Type>(array, |v| v as f64, |v| v),
            DataType::Float16 => self.numbers::<Float16Type>(array, f64::from, |v| f64::from(v).to_bits()),
            DataType::Float32 => self.numbers::<Float32Type>(array, f64::from, |v| u64::from(v.to_bits())),
            DataType::Float64 => self.numbers::<Float64Type>(array, |v| v, f64::to_bits),
            DataType::Boolean => array.as_boolean().iter().for_each(|value| match value {
                Some(value) => self.number(f64::from(u8::from(value)), u64::from(value)),
                None => self.nulls += 1,
            }),
            DataType::Utf8 => self.texts(array.as_string::<i32>().iter(), depth),
            DataType::LargeUtf8 => self.texts(array.as_string::<i64>().iter(), depth),
            // Records and bytes are counted, and no more.
            _ => {
                self.nulls += array.null_count() as u64;
                self.values += (array.len() - array.null_count()) as u64;
                self.different = None;
            }
        }
    }

    fn add_list(&mut self, list: Option<ArrayRef>, depth: usize) {
        match list {
            Some(list) => {
                if depth == 0 {
                    self.lengths.add(list.len() as u64);
                }
                self.add_at(&list, depth + 1);
            }
            None => self.nulls += 1,
        }
    }

    fn whole_numbers<T: ArrowPrimitiveType<Native: Into<i128>>>(
        &mut self,
        array: &ArrayRef,
        number: impl Fn(T::Native) -> f64,
        bits: impl Fn(T::Native) -> u64,
    ) {
        let smaller = |a: T::Native, b: T::Native| if b.is_lt(a) { b } else { a };
        let larger = |a: T::Native, b: T::Native| if b.is_gt(a) { b } else { a };
        let values = || array.as_primitive::<T>().iter().flatten();
        if let (Some(least), Some(most)) = (values().reduce(smaller), values().reduce(larger)) {
            let (least, most): (i128, i128) = (least.into(), most.into());
            self.whole = Some(self.whole.map_or([least, most], |[low, high]| [low.min(least), high.max(most)]));
        }
        self.numbers::<T>(array, number, bits);
    }

    fn numbers<T: ArrowPrimitiveType>(
        &mut self,
        array: &ArrayRef,
        number: impl Fn(T::Native) -> f64,
        bits: impl Fn(T::Native) -> u64,
    ) {
        let array = array.as_primitive::<T>();
        if array.null_count() == 0 {
            return array.values().iter().for_each(|value| self.number(number(*value), bits(*value)));
        }
        for value in array {
            match value {
                Some(value) => self.number(number(value), bits(value)),
                None => self.nulls += 1,
            }
        }
    }

    fn number(&mut self, value: f64, bits: u64) {
        self.values += 1;
        self.count_different(bits);
        if !value.is_finite() {
            if value.is_nan() {
                self.nans += 1
            } else {
                self.infinite += 1
            }
            if value.is_nan() {
                return;
            }
        }
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.most = Some(self.most.map_or(value, |most| most.max(value)));
        if value.is_infinite() {
            return;
        }
        self.finite += 1;
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let count = self.finite as f64;
        // Differences from numbers near the largest could be infinite.
        let origin = *self.origin.get_or_insert(if value.abs() < LARGEST_ORIGIN { value } else { 0.0 });
        let difference = value - origin;
        // Welford's way.
        let before = difference - self.mean;
        self.mean += before / count;
        self.squares += before * (difference - self.mean);
        if self.sample.len() < MOST_KEPT {
            self.sample.push(value);
        } else {
            // Each number is in the sample with the same probability (Vitter's algorithm R).
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            let place = self.random % self.finite;
            if let Some(kept) = usize::try_from(place).ok().and_then(|place| self.sample.get_mut(place)) {
                *kept = value;
            }
        }
    }

    fn texts<'a>(&mut self, texts: impl Iterator<Item = Option<&'a str>>, depth: usize) {
        for text in texts {
            let Some(text) = text else {
                self.nulls += 1;
                continue;
            };
            self.values += 1;
            if depth == 0 {
                self.lengths.add(text.chars().count() as u64);
            }
            // FNV-1a: different texts have different hashes, but for a chance of one in 2^33 among those that are kept.
            let hash = text
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            self.count_different(hash);
        }
    }

    fn count_different(&mut self, bits: u64) {
        self.different.iter_mut().for_each(|all| all.add(bits));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Float64Array, Int32Array, Int64Array, StringArray};

    use super::*;

    #[test]
    fn numbers_are_counted() {
        let mut all = Accumulator::new();
        all.add(&(Arc::new(Float64Array::from(vec![Some(1.0), None, Some(f64::NAN), Some(3.0)])) as ArrayRef));
        all.add(&(Arc::new(Float64Array::from(vec![f64::INFINITY, 5.0])) as ArrayRef));
        assert_eq!((all.values, all.nulls, all.nans, all.infinite), (5, 1, 1, 1));
        assert_eq!((all.least, all.most, all.mean()), (Some(1.0), Some(f64::INFINITY), 3.0));
        assert!((all.deviation().unwrap() - (8.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(all.different().map(Distinct::count), Some(5));
    }

    #[test]
    fn large_numbers_that_lie_close_together_keep_their_digits() {
        let mut all = Accumulator::new();
        let first = 1_700_000_000_000_000_000i64;
        all.add(&(Arc::new(Int64Array::from_iter_values((0..200_000).map(|n| first + 1024 * n))) as ArrayRef));
        // Of n numbers at even distances: sqrt((n^2 - 1) / 12) distances.
        let wanted = 1024.0 * ((200_000f64.powi(2) - 1.0) / 12.0).sqrt();
        assert!((all.deviation().unwrap() / wanted - 1.0).abs() < 1e-9, "{:?}", all.deviation());
        assert!((all.mean() - (first as f64 + 1024.0 * 99_999.5)).abs() <= 256.0, "{}", all.mean());
    }

    #[test]
    fn more_than_fit_are_sampled() {
        let mut all = Accumulator::new();
        let count = i32::try_from(4 * MOST_KEPT).unwrap();
        all.add(&(Arc::new(Int32Array::from_iter_values(0..count)) as ArrayRef));
        assert!(!all.is_exact());
        assert_eq!(all.sample.len(), MOST_KEPT);
        assert!(all.different().is_some_and(|different| !different.is_exact()));
        let mean = all.sample.iter().sum::<f64>() / all.sample.len() as f64;
        assert!((mean / f64::from(count) - 0.5).abs() < 0.01, "{mean}");
    }

    #[test]
    fn texts_have_lengths() {
        let mut all = Accumulator::new();
        all.add(&(Arc::new(StringArray::from(vec!["a", "größe", "a"])) as ArrayRef));
        assert_eq!((all.lengths.shortest, all.lengths.longest), (Some(1), Some(5)));
        assert_eq!(all.different().map(Distinct::count), Some(2));
    }
}
