//! Which classes are merged, and by which rule. Objects of all other classes are carried over unchanged.
//!
//! Fact: ROOT merges the classes whose dictionary has a `Merge` method. The list comes from `TClass::GetMerge` of each
//! class in ROOT 6.40.

use super::{hist, nd};

/// How equal-named objects of a class are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MergeRule {
    Histogram,
    /// `THn` and `THnSparse`.
    ManyDimensions,
    /// `TH2Poly` and `TProfile2Poly`.
    Polygons,
    Graph,
    /// `TEntryList` and `TEntryListArray`.
    EntryList,
    /// `TEventList`.
    EventList,
    Statistic,
    Parameter,
    List,
    Stack,
    Efficiency,
    /// ROOT keeps the first alone: its `Merge` makes a call that the class does not allow. Here the others stay as older
    /// cycles.
    FirstOnly,
    /// ROOT merges these classes, basketry does not.
    OnlyByRoot,
    /// Neither ROOT nor basketry merges these classes: all objects are kept.
    None,
}

impl MergeRule {
    pub fn of(class: &str) -> Self {
        match class {
            "TGraph" | "TGraphErrors" | "TGraphAsymmErrors" | "TGraphBentErrors" | "TGraphPolar" | "TGraphQQ"
            | "TCutG" => Self::Graph,
            "TList" | "THashList" | "TSortedList" | "TOrdCollection" | "TObjArray" => Self::List,
            "TClonesArray" => Self::FirstOnly,
            "TEntryList" | "TEntryListArray" => Self::EntryList,
            "TEventList" => Self::EventList,
            "TH2Poly" | "TProfile2Poly" => Self::Polygons,
            "TStatistic" => Self::Statistic,
            "THStack" => Self::Stack,
            "TEfficiency" => Self::Efficiency,
            _ if hist::is_histogram(class) => Self::Histogram,
            _ if nd::is_nd(class) => Self::ManyDimensions,
            _ if class.starts_with("TParameter<") => Self::Parameter,
            _ if is_merged_by_root(class) => Self::OnlyByRoot,
            _ => Self::None,
        }
    }

    /// Whether equal-named objects become one.
    pub fn merges(self) -> bool {
        !matches!(self, Self::FirstOnly | Self::OnlyByRoot | Self::None)
    }
}

fn is_merged_by_root(class: &str) -> bool {
    const PREFIXES: [&str; 2] = ["TGraph", "TListOf"];
    const NAMES: [&str; 24] = [
        "RooCurve",
        "RooEllipse",
        "RooHist",
        "RooRefArray",
        "TBtree",
        "TChain",
        "TCurlyArc",
        "TCurlyLine",
        "TEntryListFromFile",
        "TFileCollection",
        "THelix",
        "TLinearFitter",
        "TParallelCoordSelect",
        "TPointSet3D",
        "TPolyLine",
        "TPolyLine3D",
        "TPolyMarker",
        "TPolyMarker3D",
        "TQCommand",
        "TQConnection",
        "TQUndoManager",
        "TRefArray",
        "TSelectorList",
        "TSelectorScalar",
    ];
    let graphs_without_merge =
        ["TGraph2D", "TGraph2DErrors", "TGraph2DAsymmErrors", "TGraphTime", "TGraphEdge", "TGraphNode"];
    (PREFIXES.iter().any(|p| class.starts_with(p)) && !graphs_without_merge.contains(&class)) || NAMES.contains(&class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_rules() {
        assert_eq!(MergeRule::of("TH3L"), MergeRule::Histogram);
        assert_eq!(MergeRule::of("TProfile2D"), MergeRule::Histogram);
        assert_eq!(MergeRule::of("TH2Poly"), MergeRule::Polygons);
        assert_eq!(MergeRule::of("TRefArray"), MergeRule::OnlyByRoot);
        assert_eq!(MergeRule::of("TGraphErrors"), MergeRule::Graph);
        assert_eq!(MergeRule::of("TGraphMultiErrors"), MergeRule::OnlyByRoot);
        assert_eq!(MergeRule::of("TGraph2D"), MergeRule::None);
        assert_eq!(MergeRule::of("TParameter<double>"), MergeRule::Parameter);
        for plain in ["TObjString", "TNamed", "TMap", "TF1", "vector<string>"] {
            assert_eq!(MergeRule::of(plain), MergeRule::None, "{plain}");
        }
    }
}
