//! The statistics of a Parquet column in a row group, as bounds of its values. Those of texts may be cut short and are not used, and
//! neither are those of the form that preceded `min_value` and `max_value`, whose order is not defined.

use parquet::basic::SortOrder;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;

use super::file::positive;
use crate::table::{Bounds, Stated};

/// What the statistics of a column in a row group say of its values.
pub(super) fn stated(chunk: &ColumnChunkMetaData) -> Option<Stated> {
    let statistics = chunk.statistics()?;
    let missing = statistics.null_count_opt();
    if missing == Some(positive(chunk.num_values())) {
        return Some(Stated { bounds: Bounds::Nothing, may_miss: true });
    }
    if statistics.is_min_max_deprecated() {
        return None;
    }
    let order = chunk.column_descr().sort_order();
    let bounds = match (statistics, order) {
        (Statistics::Boolean(found), _) => whole(found.min_opt()?, found.max_opt()?),
        (Statistics::Int32(found), SortOrder::SIGNED) => whole(found.min_opt()?, found.max_opt()?),
        (Statistics::Int64(found), SortOrder::SIGNED) => whole(found.min_opt()?, found.max_opt()?),
        (Statistics::Int32(found), SortOrder::UNSIGNED) => {
            whole(&found.min_opt()?.cast_unsigned(), &found.max_opt()?.cast_unsigned())
        }
        (Statistics::Int64(found), SortOrder::UNSIGNED) => {
            whole(&found.min_opt()?.cast_unsigned(), &found.max_opt()?.cast_unsigned())
        }
        (Statistics::Float(found), _) => number(f64::from(*found.min_opt()?), f64::from(*found.max_opt()?))?,
        (Statistics::Double(found), _) => number(*found.min_opt()?, *found.max_opt()?)?,
        _ => return None,
    };
    Some(Stated { bounds, may_miss: missing != Some(0) })
}

fn whole<T: Copy + Into<i128>>(least: &T, most: &T) -> Bounds {
    Bounds::Whole { least: (*least).into(), most: (*most).into() }
}

/// Some writers gave NaN as a bound, which says nothing.
fn number(least: f64, most: f64) -> Option<Bounds> {
    (least <= most).then_some(Bounds::Number { least, most })
}
