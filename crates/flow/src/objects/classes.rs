//! Which classes are merged, and by whose rules; all else is carried over as it is.
//!
//! What ROOT merges are the classes with a `Merge` method that its dictionaries know; they were listed by asking
//! ROOT 6.40 for `TClass::GetMerge` of each class.

use super::hist::Shape;

/// How objects of a class that have equal names come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Histogram,
    Graph,
    Parameter,
    List,
    Stack,
    Efficiency,
    /// ROOT merges these, basketry does not.
    OnlyByRoot,
    /// Nobody merges these: all are kept.
    Plain,
}

impl Kind {
    pub fn of(class: &str) -> Self {
        match class {
            "TGraph" | "TGraphErrors" | "TGraphAsymmErrors" | "TGraphBentErrors" | "TCutG" => Self::Graph,
            "TList" | "THashList" | "TObjArray" => Self::List,
            "THStack" => Self::Stack,
            "TEfficiency" => Self::Efficiency,
            _ if Shape::of(class).is_some() => Self::Histogram,
            _ if class.starts_with("TParameter<") => Self::Parameter,
            _ if is_merged_by_root(class) => Self::OnlyByRoot,
            _ => Self::Plain,
        }
    }

    /// Whether equal-named objects become one.
    pub fn merges(self) -> bool {
        !matches!(self, Self::OnlyByRoot | Self::Plain)
    }
}

fn is_merged_by_root(class: &str) -> bool {
    const PREFIXES: [&str; 4] = ["THnSparseT<", "THnT<", "TGraph", "TListOf"];
    const NAMES: [&str; 25] = [
        "RooCurve",
        "RooEllipse",
        "RooHist",
        "RooRefArray",
        "TBtree",
        "TChain",
        "TClonesArray",
        "TCurlyArc",
        "TCurlyLine",
        "TEntryList",
        "TEntryListArray",
        "TEntryListFromFile",
        "TEventList",
        "TFileCollection",
        "TH2Poly",
        "THelix",
        "TOrdCollection",
        "TPolyLine",
        "TPolyLine3D",
        "TPolyMarker",
        "TPolyMarker3D",
        "TProfile2Poly",
        "TRefArray",
        "TSortedList",
        "TStatistic",
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
        assert_eq!(Kind::of("TH2Poly"), Kind::OnlyByRoot);
        assert_eq!(Kind::of("TGraphErrors"), Kind::Graph);
        assert_eq!(Kind::of("TGraphMultiErrors"), Kind::OnlyByRoot);
        assert_eq!(Kind::of("TGraph2D"), Kind::Plain);
        assert_eq!(Kind::of("TParameter<double>"), Kind::Parameter);
        for plain in ["TObjString", "TNamed", "TMap", "TF1", "vector<string>"] {
            assert_eq!(Kind::of(plain), Kind::Plain, "{plain}");
        }
    }
}
