//! A decision for another container than the input's: its figures are those of a converted part, and become those of the whole.

use dataset::layout::Container;

use super::acceptance::Expected;
use super::explain;
use super::report::{Figures, Report};
use crate::cost::model::Cost;

/// The container that a decision is for, if it is not the input's.
#[derive(Clone, Debug)]
pub(super) struct Conversion {
    pub container: Container,
    /// The share of the input's entries that was converted and measured.
    pub share: f64,
    /// The cost of the input.
    pub today: Figures,
    /// Seconds to fetch and decompress the whole input once.
    pub read_all: f64,
    /// CPU seconds that converting the part took.
    pub seconds: f64,
}

impl Conversion {
    /// Costs of the whole input, from those of the part that was converted.
    pub fn whole(&self, figures: Figures) -> Figures {
        Figures { cost: self.whole_cost(figures.cost), clusters: figures.clusters / self.share, ..figures }
    }

    /// The same for a cost.
    pub fn whole_cost(&self, cost: Cost) -> Cost {
        scaled(cost, 1.0 / self.share)
    }
}

impl Conversion {
    /// What acceptance compares with the output.
    pub fn expected(&self, part: Expected) -> Expected {
        let whole = |value: f64| value / self.share;
        Expected {
            size: whole(part.size),
            size_kept: whole(part.size_kept),
            read: whole(part.read),
            read_kept: whole(part.read_kept),
            read_today: self.today.cost.read,
        }
    }

    /// Completes the report of a choice: figures of the whole input, beside those of its own container.
    pub fn complete(&self, report: &mut Report) {
        if let Some(chosen) = report.chosen {
            // The conversion of the part was the same rewrite, but for its codecs.
            let others = (self.seconds - report.today.cost.write).max(0.0);
            report.rewrite = (others + chosen.cost.write) / self.share;
        }
        report.today = self.today;
        report.read_all = self.read_all;
        report.chosen = report.chosen.map(|figures| self.whole(figures));
        for group in &mut report.groups {
            (group.today, group.chosen) = (self.whole_cost(group.today), self.whole_cost(group.chosen));
        }
        for point in &mut report.front {
            point.size /= self.share;
            point.read /= self.share;
            point.write /= self.share;
        }
        for gain in &mut report.sensitivity {
            gain.size /= self.share;
            gain.read /= self.share;
        }
        for limit in &mut report.limits {
            if matches!(limit.name, "--max-size" | "--max-write-time" | "--max-read-time") {
                limit.value /= self.share;
                if let Some(value) = limit.nearest.as_mut().and_then(|nearest| nearest.value.as_mut()) {
                    *value /= self.share;
                }
            }
        }
        report.unchanged = false;
        if let Some(chosen) = report.chosen {
            report.why.insert(0, explain::container_sentence(self.container, &self.today.cost, &chosen.cost));
        }
    }
}

/// The cost of the input as a limit on a part of it.
pub(super) fn part(cost: Cost, share: f64) -> Cost {
    scaled(cost, share)
}

/// The cost of `share` times the entries. Memory does not grow with them.
fn scaled(cost: Cost, share: f64) -> Cost {
    Cost {
        read: cost.read * share,
        fetch: cost.fetch * share,
        decompress: cost.decompress * share,
        decode: cost.decode * share,
        size: cost.size * share,
        read_bytes: cost.read_bytes * share,
        write: cost.write * share,
        baskets: cost.baskets * share,
        ..cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_scales_back() {
        let cost = Cost { read: 2.0, size: 10.0, read_memory: 7.0, ..Cost::default() };
        let small = part(cost, 0.25);
        assert_eq!((small.read, small.size, small.read_memory), (0.5, 2.5, 7.0));
        let conversion = Conversion {
            container: Container::Rntuple,
            share: 0.25,
            today: Figures::default(),
            read_all: 0.0,
            seconds: 0.0,
        };
        assert_eq!(conversion.whole_cost(small), cost);
    }
}
