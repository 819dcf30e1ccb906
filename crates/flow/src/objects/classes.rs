//! Which classes are merged, and by whose rules; all else is carried over as it is.
//!
//! What ROOT merges are the classes with a `Merge` method that its dictionaries know; they were listed by asking
//! ROOT 6.40 for `TClass::GetMerge` of each class.

use super::hist::Shape;
use super::nd;

/// How objects of a class that have equal names come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Histogram,
    /// `THn` and `THnSparse`.
    ManyDimensions,
    /// `TH2Poly` and `TProfile2Poly`.
    Polygons,
    Graph,
    /// `TEntryList` and `TEntryListArray`.
    Entries,
    /// `TEventList`.
    Events,
    Statistic,
    Parameter,
    List,
    Stack,
    Efficiency,
    /// ROOT keeps the first alone: its `Merge` calls what the class does not allow. Here the others stay as older cycles.
    First,
    /// ROOT merges these, basketry does not.
    OnlyByRoot,
    /// Nobody merges these: all are kept.
    Plain,
}

impl Kind {
    pub fn of(class: &str) -> Self {
        match class {
            "TGraph" | "TGraphErrors" | "TGraphAsymmErrors" | "TGraphBentErrors" | "TGraphPolar" | "TGraphQQ"
            | "TCutG" => Self::Graph,
            "TList" | "THashList" | "TSortedList" | "TOrdCollection" | "TObjArray" => Self::List,
            "TClonesArray" => Self::First,
            "TEntryList" | "TEntryListArray" => Self::Entries,
            "TEventList" => Self::Events,
            "TH2Poly" | "TProfile2Poly" => Self::Polygons,
            "TStatistic" => Self::Statistic,
            "THStack" => Self::Stack,
            "TEfficiency" => Self::Efficiency,
            _ if Shape::of(class).is_some() => Self::Histogram,
            _ if nd::is_nd(class) => Self::ManyDimensions,
            _ if class.starts_with("TParameter<") => Self::Parameter,
            _ if is_merged_by_root(class) => Self::OnlyByRoot,
            _ => Self::Plain,
        }
    }

    /// Whether equal-named objects become one.
    pub fn merges(self) -> bool {
        !matches!(self, Self::First | Self::OnlyByRoot | Self::Plain)
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
    let graphs_without =
        ["TGraph2D", "TGraph2DErrors", "TGraph2DAsymmErrors", "TGraphTime", "TGraphEdge", "TGraphNode"];
    (PREFIXES.iter().any(|p| class.starts_with(p)) && !graphs_without.contains(&class)) || NAMES.contains(&class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_classes() {
        assert_eq!(Kind::of("TH3L"), Kind::Histogram);
        assert_eq!(Kind::of("TProfile2D"), Kind::Histogram);
        assert_eq!(Kind::of("TH2Poly"), Kind::Polygons);
        assert_eq!(Kind::of("TRefArray"), Kind::OnlyByRoot);
        assert_eq!(Kind::of("TGraphErrors"), Kind::Graph);
        assert_eq!(Kind::of("TGraphMultiErrors"), Kind::OnlyByRoot);
        assert_eq!(Kind::of("TGraph2D"), Kind::Plain);
        assert_eq!(Kind::of("TParameter<double>"), Kind::Parameter);
        for plain in ["TObjString", "TNamed", "TMap", "TF1", "vector<string>"] {
            assert_eq!(Kind::of(plain), Kind::Plain, "{plain}");
        }
    }
}
