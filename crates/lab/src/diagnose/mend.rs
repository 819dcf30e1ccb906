//! The command that mends a fault: `basketry rewrite` with the setting that does, its words quoted for a shell. Its output
//! is named after the input and what is mended, and is never the input.

use std::borrow::Cow;
use std::path::Path;

use dataset::layout::ByteSize;
use dataset::ntuple::is_ntuple;

use super::Fault;
use super::baskets::{GOOD_BASKET, SMALLER_BASKET, good_cluster, has_small_buffers};
use super::codecs::MOST_SET;
use super::rules::{absent, sizes};
use crate::inspect::report::{Report, TreeReport};

/// What mends a fault.
enum Mend {
    /// Nothing that basketry does.
    Nothing,
    /// Any rewrite.
    Rewrite,
    /// A rewrite with these settings for the tree.
    Tree(Vec<(&'static str, String)>),
    /// What `tune` chooses.
    Tune,
    /// A rewrite with this setting for some branches.
    Columns(Vec<String>, &'static str, String),
}

/// What mends it, and a word for that in the output's name.
fn mend(fault: &Fault, tree: Option<&TreeReport>) -> (Mend, &'static str) {
    match fault {
        Fault::NotClosed => (Mend::Rewrite, "closed"),
        Fault::FreeGaps { .. }
        | Fault::OldCycles { .. }
        | Fault::EmbeddedBaskets { .. }
        | Fault::UncompressedRecord { .. }
        | Fault::CounterOutOfRange { .. } => (Mend::Rewrite, "rewritten"),
        Fault::Unreadable { .. } | Fault::MissingFile { .. } | Fault::MetadataLargerThanData { .. } => {
            (Mend::Nothing, "")
        }
        Fault::TinyBaskets { .. } | Fault::UnevenBaskets { .. } => {
            (Mend::Tree(vec![("basket", ByteSize(GOOD_BASKET).to_string())]), "baskets")
        }
        Fault::HugeBaskets { .. } => (Mend::Tree(vec![("basket", ByteSize(SMALLER_BASKET).to_string())]), "baskets"),
        Fault::SmallClusters { .. }
        | Fault::HugeClusters { .. }
        | Fault::ClustersNotRecorded { .. }
        | Fault::MisalignedClusters { .. } => {
            let mut settings = vec![("cluster", ByteSize(good_cluster(tree.map_or((0, 0), sizes))).to_string())];
            // Writers shrink buffers to what they held in small clusters.
            if matches!(fault, Fault::SmallClusters { .. }) && tree.is_some_and(has_small_buffers) {
                settings.push(("basket", ByteSize(GOOD_BASKET).to_string()));
            }
            (Mend::Tree(settings), "clusters")
        }
        Fault::OversizedBuffers { .. } => (Mend::Tree(vec![("memory-ratio", "1.1".to_owned())]), "buffers"),
        Fault::Incompressible { branches, .. } if *branches > MOST_SET as u64 => (Mend::Nothing, ""),
        Fault::Incompressible { largest, .. } => {
            (Mend::Columns(largest.clone(), "compression", "none".to_owned()), "stored")
        }
        Fault::SlowDecoding { .. } => (Mend::Tree(vec![("split-level", "99".to_owned())]), "split"),
        Fault::CodecsByBranch { .. } => (Mend::Tune, "tuned"),
        Fault::HeavyCodec { better, .. } | Fault::Uncompressed { better, .. } => {
            (Mend::Tree(vec![("compression", better.clone())]), "compressed")
        }
    }
}

/// The command that mends a fault, if one does.
pub(super) fn command(report: &Report, tree: Option<&TreeReport>, fault: &Fault) -> Option<String> {
    // A rewrite refuses files with RNTuples.
    if report.objects.iter().any(|object| is_ntuple(&object.class)) {
        return None;
    }
    let (mend, word) = mend(fault, tree);
    let verb = if matches!(mend, Mend::Tune) { "tune" } else { "rewrite" };
    // One tree needs no name.
    let named = tree.filter(|_| report.file.trees > 1).map(|tree| &tree.path);
    let mut options: String = match (mend, named) {
        (Mend::Nothing, _) => return None,
        // Of FILE:TREE only that tree would be kept.
        (Mend::Rewrite | Mend::Tune, _) => String::new(),
        (Mend::Tree(settings), Some(path)) => {
            let set = |(key, value): &(_, String)| format!(" --tree-set {} {key}={value}", quoted(path));
            settings.iter().map(set).collect()
        }
        (Mend::Tree(settings), None) => settings.iter().map(|(key, value)| format!(" --{key} {value}")).collect(),
        (Mend::Columns(branches, key, value), _) => {
            branches.iter().map(|branch| format!(" --column-set {} {key}={value}", quoted(branch))).collect()
        }
    };
    // A rewrite refuses branches whose file is not there.
    let mut without: Vec<&str> = report.newest().flat_map(absent).map(|branch| branch.name.as_str()).collect();
    without.dedup();
    options.extend(without.into_iter().map(|branch| format!(" --drop {}", quoted(branch))));
    let input = &report.file.path;
    Some(format!("basketry {verb} {} -o {}{options}", argument(input), argument(&output(input, word))))
}

/// The file that the command writes, in the folder where it runs: `f.root` becomes `f.baskets.root`.
pub(crate) fn output(input: &str, word: &str) -> String {
    let stem = Path::new(input).file_stem().map_or(Cow::Borrowed("out"), |stem| stem.to_string_lossy());
    format!("{stem}.{word}.root")
}

/// A path as an argument: no option, and no list of files.
pub(crate) fn argument(path: &str) -> Cow<'_, str> {
    match path.starts_with(['-', '@']) {
        true => Cow::Owned(quoted(&format!("./{path}")).into_owned()),
        false => quoted(path),
    }
}

/// A word as a shell reads it as one.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    // Only a NUL cannot be quoted, which no path has.
    shlex::Quoter::new().allow_nul(true).quote(word).unwrap_or(Cow::Borrowed(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_leave_words_alone() {
        assert_eq!(quoted("a/b-c.root"), "a/b-c.root");
        assert_eq!(quoted("fX[3]"), "'fX[3]'");
        assert_eq!(quoted("it's"), "\"it's\"");
    }

    #[test]
    fn outputs_are_named_after_inputs_and_are_none() {
        assert_eq!(output("dir/my file.root", "baskets"), "my file.baskets.root");
        assert_eq!(output("f.baskets.root", "baskets"), "f.baskets.baskets.root");
        assert_eq!(argument("-x.root"), "./-x.root");
        assert_eq!(argument("@x y.root"), "'./@x y.root'");
    }
}
