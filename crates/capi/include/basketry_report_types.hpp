// What reports of verbs say, for C++17 and newer: basketry_reports.hpp reads them.
// Made by tools/report_structs.py of the types in Rust: change these, not this.
#ifndef BASKETRY_REPORT_TYPES_HPP
#define BASKETRY_REPORT_TYPES_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "basketry_json.hpp"

namespace basketry {
namespace reports {

/// What an update in place added to a file.
struct appended {
    /// Its size before.
    std::uint64_t bytes_before = 0;
    /// Bytes that were written: new records, and what readers begin with.
    std::uint64_t bytes_new = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("bytes_before", bytes_before);
        see("bytes_new", bytes_new);
    }
};

/// Number of clusters of a column by depth.
struct depths {
    /// Copied.
    std::uint64_t copy = 0;
    /// Recompressed.
    std::uint64_t recompress = 0;
    /// Regrouped.
    std::uint64_t regroup = 0;
    /// Recoded.
    std::uint64_t recode = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("copy", copy);
        see("recompress", recompress);
        see("regroup", regroup);
        see("recode", recode);
    }
};

/// A column that takes fewer bits, and keeps every value.
struct narrow_column {
    /// Its field.
    std::string field;
    /// Its type in the file.
    std::string column_type;
    /// Bits of a number.
    std::uint64_t bits = 0;
    /// Bits of a number without this.
    std::uint64_t before = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("field", field);
        see("column_type", column_type);
        see("bits", bits);
        see("before", before);
    }
};

/// The columns for which the fewest bits were asked that keep every value.
struct exact_columns {
    /// Those that take fewer bits.
    std::vector<narrow_column> narrowed;
    /// The fields of those that need all of their bits, or have no values.
    std::vector<std::string> full;

    template <typename See>
    void each_field(See &&see)
    {
        see("narrowed", narrowed);
        see("full", full);
    }
};

/// How the entries of a table got into another order than that of the inputs.
struct order_summary {
    /// Whether its inputs, each of which is in this order, were merged in one pass: each is read once, from its first entry to its last, and no entry
    /// waits on disk.
    bool one_pass = false;
    /// The memory with which they would have been merged in one pass, if that is what was missing, in bytes.
    std::optional<std::uint64_t> one_pass_memory;

    template <typename See>
    void each_field(See &&see)
    {
        see("one_pass", one_pass);
        see("one_pass_memory", one_pass_memory);
    }
};

/// The report on one tree or RNTuple.
struct table_summary {
    /// Its path.
    std::string path;
    /// Whether it is a tree or an RNTuple.
    std::string container;
    /// Entries of the inputs.
    std::uint64_t input_entries = 0;
    /// Entries of the output.
    std::uint64_t entries = 0;
    /// Clusters.
    std::uint64_t clusters = 0;
    /// Baskets; of an RNTuple its pages.
    std::uint64_t baskets = 0;
    /// Bytes before compression; of a tree with the keys of its baskets, as ROOT counts (fTotBytes). Pages that share bytes count once.
    std::uint64_t tot_bytes = 0;
    /// Bytes on disk; of a tree with the keys of its baskets (fZipBytes), of an RNTuple without the checksums of its pages.
    std::uint64_t zip_bytes = 0;
    /// Bytes of these keys: `tot_bytes` without them are the contents of baskets.
    std::uint64_t key_bytes = 0;
    /// Bytes of the checksums of an RNTuple's pages, which are on disk besides.
    std::uint64_t checksum_bytes = 0;
    /// Clusters of columns by depth.
    reports::depths depths;
    /// The columns for which `encoding = "exact"` is asked.
    std::optional<exact_columns> exact;
    /// How its entries got into another order than that of the inputs, if they did.
    std::optional<order_summary> order;
    /// Clusters of a table that is encoded anew that ended early, since the memory budget had no room for more: with more memory the output has other
    /// clusters.
    std::uint64_t clusters_cut = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("container", container);
        see("input_entries", input_entries);
        see("entries", entries);
        see("clusters", clusters);
        see("baskets", baskets);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("key_bytes", key_bytes);
        see("checksum_bytes", checksum_bytes);
        see("depths", depths);
        see("exact", exact);
        see("order", order);
        see("clusters_cut", clusters_cut);
    }
};

/// What one cut leaves.
struct cut_step {
    /// The expression.
    std::string cut;
    /// Entries before the cut.
    std::uint64_t before = 0;
    /// Entries after it.
    std::uint64_t after = 0;
    /// The sum of the weights of the entries before it, if a weight is given.
    std::optional<double> weight_before;
    /// The sum of the weights of the entries after it.
    std::optional<double> weight_after;
    /// Clusters of which nothing was read, since what is known of their values decides the cut: of the one that none of their entries passes, or else
    /// of the last one.
    std::uint64_t clusters_skipped = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("cut", cut);
        see("before", before);
        see("after", after);
        see("weight_before", weight_before);
        see("weight_after", weight_after);
        see("clusters_skipped", clusters_skipped);
    }
};

/// The cuts of one table.
struct cut_flow {
    /// The path of the table.
    std::string path;
    /// The cuts in their order.
    std::vector<cut_step> cuts;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("cuts", cuts);
    }
};

/// An entry of a file.
struct entry_of_key {
    /// The file.
    std::string file;
    /// The number of the entry in the table of the file.
    std::uint64_t entry = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("file", file);
        see("entry", entry);
    }
};

/// An entry that has the key of an earlier one.
struct duplicate {
    /// The values of the key.
    std::vector<std::string> key;
    /// The entry.
    entry_of_key entry;
    /// The first entry with the key, in the order of the files.
    entry_of_key first;

    template <typename See>
    void each_field(See &&see)
    {
        see("key", key);
        see("entry", entry);
        see("first", first);
    }
};

/// The entries of some tables that have the key of another.
struct duplicate_keys {
    /// The path of the table.
    std::string path;
    /// The columns of the key.
    std::vector<std::string> key;
    /// Entries that were looked at.
    std::uint64_t entries = 0;
    /// Those that have the key of an earlier entry.
    std::uint64_t duplicates = 0;
    /// Keys that several entries have.
    std::uint64_t repeated = 0;
    /// The duplicates in the order of their keys, the first 1000 of them.
    std::vector<duplicate> listed;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("key", key);
        see("entries", entries);
        see("duplicates", duplicates);
        see("repeated", repeated);
        see("listed", listed);
    }
};

/// An input whose entries are not in the order of their keys.
struct unsorted_input {
    /// Path of the table.
    std::string path;
    /// The file.
    std::string file;
    /// The first entry that is before an earlier one.
    std::uint64_t entry = 0;
    /// The values of its key.
    std::vector<std::string> key;
    /// Those of the entry before it.
    std::vector<std::string> before;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("file", file);
        see("entry", entry);
        see("key", key);
        see("before", before);
    }
};

/// An input that was left out.
struct skipped {
    /// The file.
    std::string path;
    /// The reason.
    std::string reason;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("reason", reason);
    }
};

/// An older cycle of a tree of the inputs.
struct older_cycle {
    /// Path of the tree.
    std::string path;
    /// The input.
    std::string file;
    /// The cycle's number.
    std::int64_t cycle = 0;
    /// Number of its entries. none if its record cannot be read.
    std::optional<std::uint64_t> entries;
    /// Its kind. "earlier-save": A part of the newest cycle, which has all of its branches and entries in the same baskets. "other-tree": another
    /// tree under the same name. "unreadable": its record cannot be read, or its baskets cannot be compared with those of the newest.
    std::string kind;
    /// Whether it is in the output.
    bool kept = false;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("file", file);
        see("cycle", cycle);
        see("entries", entries);
        see("kind", kind);
        see("kept", kept);
    }
};

/// A damaged object that is left out, or an object that lies in a damaged part of the file.
struct damaged {
    /// The file.
    std::string path;
    /// The object with its cycle, a directory, or another damaged part of the file.
    std::string object;
    /// The damage.
    std::string reason;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("object", object);
        see("reason", reason);
    }
};

/// The report of a rewrite.
struct summary {
    /// Bytes of all inputs.
    std::uint64_t bytes_read = 0;
    /// Bytes of the output.
    std::uint64_t bytes_written = 0;
    /// What was added to the output, if that was there and was updated in place.
    std::optional<reports::appended> appended;
    /// Trees and RNTuples of the output.
    std::vector<table_summary> tables;
    /// What the cuts left of the entries of each table.
    std::vector<cut_flow> cut_flows;
    /// The entries of each table that have the key of another, which are left out, where keys are to be unique.
    std::vector<duplicate_keys> duplicates;
    /// The inputs that are not sorted by the key by which entries are written, each by its first entry that is before an earlier one.
    std::vector<unsorted_input> unsorted;
    /// Notes for the user.
    std::vector<std::string> notes;
    /// The notes about objects that were not merged, not carried over, or carried over with a loss.
    std::vector<std::string> unmerged;
    /// Inputs that were left out because they cannot be read.
    std::vector<reports::skipped> skipped;
    /// Older cycles of the inputs' trees.
    std::vector<older_cycle> older_cycles;
    /// Damaged objects and directories of the other inputs, which are missing from the output.
    std::vector<reports::damaged> damaged;

    template <typename See>
    void each_field(See &&see)
    {
        see("bytes_read", bytes_read);
        see("bytes_written", bytes_written);
        see("appended", appended);
        see("tables", tables);
        see("cut_flows", cut_flows);
        see("duplicates", duplicates);
        see("unsorted", unsorted);
        see("notes", notes);
        see("unmerged", unmerged);
        see("skipped", skipped);
        see("older_cycles", older_cycles);
        see("damaged", damaged);
    }
};

/// The forecast of a column.
struct column_forecast {
    /// Branch names from the top down, with `/` between, or the path of a field.
    std::string name;
    /// Clusters by depth.
    reports::depths depths;
    /// Bytes on disk now, with keys or checksums.
    std::uint64_t bytes_before = 0;
    /// Expected bytes on disk, the same way. Of a table that changes its container only the sum is known: each column has the same share as now.
    std::uint64_t bytes_after = 0;
    /// Expected number of baskets or pages.
    std::uint64_t baskets = 0;
    /// Bytes on disk that were tried; of a table that changes its container they are known for all columns together.
    std::uint64_t sampled = 0;
    /// Compression of the output.
    std::string compression;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("depths", depths);
        see("bytes_before", bytes_before);
        see("bytes_after", bytes_after);
        see("baskets", baskets);
        see("sampled", sampled);
        see("compression", compression);
    }
};

/// The form of a column of objects: how it is spread over branches and streamed.
struct form {
    /// Split level of its branch.
    std::uint64_t split_level = 0;
    /// Streaming of its collections that are not split, if there are any and their streaming is known.
    std::optional<std::string> streaming;
    /// Branches with entries.
    std::uint64_t branches = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("split_level", split_level);
        see("streaming", streaming);
        see("branches", branches);
    }
};

/// The forecast of a column that gets another split level or streaming.
struct recode_forecast {
    /// The branch of the first level, or the path of a branch whose streaming alone changes.
    std::string name;
    /// Its form now.
    form before;
    /// Its form in the output.
    form after;
    /// Bytes on disk now, with keys.
    std::uint64_t bytes_before = 0;
    /// Expected bytes on disk, with keys.
    std::uint64_t bytes_after = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("before", before);
        see("after", after);
        see("bytes_before", bytes_before);
        see("bytes_after", bytes_after);
    }
};

/// The forecast of a table.
struct forecast {
    /// Its path.
    std::string path;
    /// Whether the output is a tree or an RNTuple.
    std::string container;
    /// Entries of the inputs.
    std::uint64_t input_entries = 0;
    /// Entries of the output.
    std::uint64_t entries = 0;
    /// Clusters of the output, if they are known before.
    std::optional<std::uint64_t> clusters;
    /// Branches, or fields, with entries; without columns that are recoded.
    std::vector<column_forecast> columns;
    /// Columns that get another split level or streaming.
    std::vector<recode_forecast> recodes;
    /// Bytes of its baskets, with keys, or of its pages, with checksums, now.
    std::uint64_t bytes_before = 0;
    /// Expected bytes of its baskets, with keys, or of its pages, with checksums.
    std::uint64_t bytes_after = 0;
    /// Expected number of baskets or pages.
    std::uint64_t baskets = 0;
    /// Expected bytes of its metadata on disk: the tree's record, or anchor, header, footer and page lists; 0 if nothing was sampled.
    std::uint64_t metadata = 0;
    /// The expected bytes are wrong by more than this in one case of twenty, as far as the samples tell.
    std::uint64_t uncertainty = 0;
    /// Bytes on disk that were tried.
    std::uint64_t sampled = 0;
    /// Notes for the user.
    std::vector<std::string> notes;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("container", container);
        see("input_entries", input_entries);
        see("entries", entries);
        see("clusters", clusters);
        see("columns", columns);
        see("recodes", recodes);
        see("bytes_before", bytes_before);
        see("bytes_after", bytes_after);
        see("baskets", baskets);
        see("metadata", metadata);
        see("uncertainty", uncertainty);
        see("sampled", sampled);
        see("notes", notes);
    }
};

/// The forecast of a rewrite.
struct outlook {
    /// Trees and RNTuples of the output.
    std::vector<forecast> tables;
    /// What the cuts leave of the entries of each table.
    std::vector<cut_flow> cut_flows;
    /// The entries of each table that have the key of another, where keys are to be unique.
    std::vector<duplicate_keys> duplicates;
    /// Bytes of their baskets, with keys, and of their pages, with checksums, now.
    std::uint64_t bytes_before = 0;
    /// Expected bytes of their baskets, with keys, and of their pages, with checksums.
    std::uint64_t bytes_after = 0;
    /// Bytes of all inputs.
    std::uint64_t bytes_read = 0;
    /// Expected bytes of the output, with all metadata and objects.
    std::uint64_t bytes_written = 0;
    /// In one case of twenty the expected bytes are wrong by more than this, as far as the samples tell; 0 where all was tried.
    std::uint64_t uncertainty = 0;
    /// Bytes on disk that were tried, of those that are not copied.
    std::uint64_t sampled = 0;
    /// The smallest memory budget possible.
    std::uint64_t least_memory = 0;
    /// Largest memory that will be used, within the budget.
    std::uint64_t memory = 0;
    /// Number of threads that fit into the budget.
    std::uint64_t threads = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("tables", tables);
        see("cut_flows", cut_flows);
        see("duplicates", duplicates);
        see("bytes_before", bytes_before);
        see("bytes_after", bytes_after);
        see("bytes_read", bytes_read);
        see("bytes_written", bytes_written);
        see("uncertainty", uncertainty);
        see("sampled", sampled);
        see("least_memory", least_memory);
        see("memory", memory);
        see("threads", threads);
    }
};

/// A column whose numbers differ within the tolerance.
struct column_error {
    /// The column.
    std::string column;
    /// The largest absolute difference.
    double largest = 0;
    /// The largest difference as a share of the larger number.
    double relative = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("column", column);
        see("largest", largest);
        see("relative", relative);
    }
};

/// The comparison of one tree.
struct tree_verdict {
    /// Path of the tree on the first side.
    std::string path;
    /// Selected entries of the first side.
    std::uint64_t entries = 0;
    /// Branches that both sides have.
    std::uint64_t branches = 0;
    /// Branches among them that hold entries. All are compared.
    std::uint64_t columns = 0;
    /// Columns that the two sides split or stream differently, and that were compared by value.
    std::uint64_t by_value = 0;
    /// Bytes of the entries compared, of one side.
    std::uint64_t bytes = 0;
    /// Largest errors of columns that differ within their tolerance, by name.
    std::vector<column_error> errors;
    /// Whether no difference was found.
    bool equal = false;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("entries", entries);
        see("branches", branches);
        see("columns", columns);
        see("by_value", by_value);
        see("bytes", bytes);
        see("errors", errors);
        see("equal", equal);
    }
};

/// One difference. Of the bytes of a branch, only the first difference is listed.
struct difference {
    /// Path of the tree, if it is about one.
    std::optional<std::string> tree;
    /// Path of the object or directory, if it is about one.
    std::optional<std::string> object;
    /// Branch, with those above it.
    std::optional<std::string> branch;
    /// Entry, as the first side counts.
    std::optional<std::uint64_t> entry;
    /// The values of its key, where tables are compared by keys.
    std::optional<std::vector<std::string>> key;
    /// Member of the entry's value, where values were compared.
    std::optional<std::string> member;
    /// Byte of the entry.
    std::optional<std::uint64_t> byte;
    /// What differs.
    std::string what;

    template <typename See>
    void each_field(See &&see)
    {
        see.sometimes("tree", tree);
        see.sometimes("object", object);
        see.sometimes("branch", branch);
        see.sometimes("entry", entry);
        see.sometimes("key", key);
        see.sometimes("member", member);
        see.sometimes("byte", byte);
        see("what", what);
    }
};

/// An entry that has no partner.
struct lone_key {
    /// The values of its key.
    std::vector<std::string> key;
    /// Its number in the table of all files.
    std::uint64_t entry = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("key", key);
        see("entry", entry);
    }
};

/// Entries that have no partner.
struct lone_keys {
    /// Their number.
    std::uint64_t entries = 0;
    /// The first 1000 of them, in the order of their keys.
    std::vector<lone_key> listed;

    template <typename See>
    void each_field(See &&see)
    {
        see("entries", entries);
        see("listed", listed);
    }
};

/// What was found of the keys of two tables.
struct matched_keys {
    /// The path of the table.
    std::string path;
    /// The columns of the key.
    std::vector<std::string> key;
    /// Pairs of entries with the same key.
    std::uint64_t matched = 0;
    /// Entries of the first side whose keys the second does not have, or not so often.
    lone_keys only_first;
    /// Entries of the second side whose keys the first does not have, or not so often.
    lone_keys only_second;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("key", key);
        see("matched", matched);
        see("only_first", only_first);
        see("only_second", only_second);
    }
};

/// The result of a comparison. Serialised, it is the `--json` of `basketry verify`.
struct verdict {
    /// Version of this structure.
    std::uint64_t schema = 0;
    /// Whether no difference was found.
    bool equal = false;
    /// The trees that both sides have.
    std::vector<tree_verdict> trees;
    /// Number of compared objects that are not trees.
    std::uint64_t objects = 0;
    /// Older cycles of trees, on the side that has more of them.
    std::uint64_t older_cycles = 0;
    /// All differences: those of directories and trees in the order of the first side, then those of objects.
    std::vector<difference> differences;
    /// What was found of the keys of tables that are compared by them.
    std::vector<matched_keys> keys;
    /// Notes for the user.
    std::vector<std::string> notes;

    template <typename See>
    void each_field(See &&see)
    {
        see("schema", schema);
        see("equal", equal);
        see("trees", trees);
        see("objects", objects);
        see("older_cycles", older_cycles);
        see("differences", differences);
        see("keys", keys);
        see("notes", notes);
    }
};

/// The losses of one branch.
struct branch_loss {
    /// Branch names from the top down, with / between.
    std::string name;
    /// Readable entries that are left out because other branches lack them.
    std::uint64_t entries_lost = 0;
    /// Entries that cannot be read.
    std::uint64_t entries_unreadable = 0;
    /// Baskets that cannot be read.
    std::uint64_t baskets_unreadable = 0;
    /// Bytes of these on disk.
    std::uint64_t bytes_unreadable = 0;
    /// Ranges of entries that cannot be read: first entry, and the entry after the last.
    std::vector<std::tuple<std::uint64_t, std::uint64_t>> ranges_unreadable;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("entries_lost", entries_lost);
        see("entries_unreadable", entries_unreadable);
        see("baskets_unreadable", baskets_unreadable);
        see("bytes_unreadable", bytes_unreadable);
        see("ranges_unreadable", ranges_unreadable);
    }
};

/// A recovered tree.
struct recovered_tree {
    /// Path of the tree.
    std::string path;
    /// Cycle of its key in the input, which tells trees of one name apart.
    std::int64_t cycle = 0;
    /// Entries of the output: the entries that all branches have.
    std::uint64_t entries = 0;
    /// Entries by the record of the last AutoSave; none without a record.
    std::optional<std::uint64_t> saved_entries;
    /// Entries that the record or a branch has and that are not recovered. Entries that were never written are not counted.
    std::uint64_t entries_lost = 0;
    /// Baskets that no record lists.
    std::uint64_t baskets_found = 0;
    /// Ranges of entries that the output leaves out of the middle or the end, as the input counts: first entry, and the entry after the last.
    std::vector<std::tuple<std::uint64_t, std::uint64_t>> ranges_lost;
    /// Branches that had more entries than could be kept, or baskets that cannot be read.
    std::vector<branch_loss> branches;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("cycle", cycle);
        see("entries", entries);
        see("saved_entries", saved_entries);
        see("entries_lost", entries_lost);
        see("baskets_found", baskets_found);
        see("ranges_lost", ranges_lost);
        see("branches", branches);
    }
};

/// A recovered RNTuple.
struct recovered_ntuple {
    /// Path of the RNTuple.
    std::string path;
    /// Cycle of its key.
    std::int64_t cycle = 0;
    /// Entries.
    std::uint64_t entries = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("cycle", cycle);
        see("entries", entries);
    }
};

/// An RNTuple without an anchor.
struct lost_ntuple {
    /// Its name.
    std::string name;
    /// Offset of the record with its header.
    std::uint64_t offset = 0;
    /// Bytes from there on in records of RNTuples.
    std::uint64_t bytes_at_most = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("offset", offset);
        see("bytes_at_most", bytes_at_most);
    }
};

/// Baskets of one branch of a tree whose record was not found.
struct unplaced {
    /// Name of the tree.
    std::string tree;
    /// Name of the branch.
    std::string branch;
    /// Baskets.
    std::uint64_t baskets = 0;
    /// Entries in them.
    std::uint64_t entries = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("tree", tree);
        see("branch", branch);
        see("baskets", baskets);
        see("entries", entries);
    }
};

/// A record that cannot be read.
struct unreadable {
    /// Name of the object.
    std::string name;
    /// Its cycle.
    std::int64_t cycle = 0;
    /// Its class.
    std::string class_;
    /// Offset of the record.
    std::uint64_t offset = 0;
    /// Bytes of the record.
    std::uint64_t bytes = 0;
    /// The reason why it cannot be read.
    std::string reason;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("cycle", cycle);
        see("class", class_);
        see("offset", offset);
        see("bytes", bytes);
        see("reason", reason);
    }
};

/// The result of a recovery.
struct recovery {
    /// Version of this structure.
    std::uint64_t schema = 0;
    /// Bytes of the input.
    std::uint64_t bytes_read = 0;
    /// Bytes of the output.
    std::uint64_t bytes_written = 0;
    /// Recovered trees.
    std::vector<recovered_tree> trees;
    /// Recovered RNTuples. Each is whole.
    std::vector<recovered_ntuple> ntuples;
    /// RNTuples that were not closed, and cannot be recovered.
    std::vector<lost_ntuple> lost_ntuples;
    /// Number of other recovered objects.
    std::uint64_t objects = 0;
    /// Baskets of trees whose record was not found.
    std::vector<reports::unplaced> unplaced;
    /// Records of objects and trees that cannot be read.
    std::vector<reports::unreadable> unreadable;
    /// Whether all known content is recovered, except entries at the end of a tree that only some branches have.
    bool whole = false;
    /// Notes for the user.
    std::vector<std::string> notes;

    template <typename See>
    void each_field(See &&see)
    {
        see("schema", schema);
        see("bytes_read", bytes_read);
        see("bytes_written", bytes_written);
        see("trees", trees);
        see("ntuples", ntuples);
        see("lost_ntuples", lost_ntuples);
        see("objects", objects);
        see("unplaced", unplaced);
        see("unreadable", unreadable);
        see("whole", whole);
        see("notes", notes);
    }
};

/// A size on disk and before compression.
struct sizes {
    /// Bytes on disk.
    std::uint64_t bytes = 0;
    /// Bytes before compression.
    std::uint64_t raw_bytes = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("bytes", bytes);
        see("raw_bytes", raw_bytes);
    }
};

/// A file.
struct file_report {
    /// Name, as given.
    std::string path;
    /// Bytes.
    std::uint64_t bytes = 0;
    /// Version of ROOT that wrote it, as ROOT shows it: `6.28/04`.
    std::string root_version;
    /// ROOT's compression setting of the file, 100 times algorithm + level.
    std::int64_t compression = 0;
    /// Whether the header has 64-bit positions.
    bool big = false;
    /// Whether the list of keys had to be made from a scan, since the file was not closed or is cut short.
    bool recovered = false;
    /// Directories, the top one left out.
    std::uint64_t directories = 0;
    /// Streamer infos.
    std::uint64_t streamer_infos = 0;
    /// Bytes that belong to no record.
    std::uint64_t free_bytes = 0;
    /// Number of these gaps.
    std::uint64_t free_segments = 0;
    /// Trees, the newest cycle of each.
    std::uint64_t trees = 0;
    /// RNTuples, the newest cycle of each.
    std::uint64_t ntuples = 0;
    /// The record of the streamer infos.
    sizes infos;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("bytes", bytes);
        see("root_version", root_version);
        see("compression", compression);
        see("big", big);
        see("recovered", recovered);
        see("directories", directories);
        see("streamer_infos", streamer_infos);
        see("free_bytes", free_bytes);
        see("free_segments", free_segments);
        see("trees", trees);
        see("ntuples", ntuples);
        see("infos", infos);
    }
};

/// A codec that was tried on a sample of a tree's baskets, or of an RNTuple's pages.
struct trial {
    /// The codec and its level.
    std::string compression;
    /// Bytes of the sample in this codec over its bytes on disk.
    double size = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("compression", compression);
        see("size", size);
    }
};

/// A sample of baskets or pages, each in the codec that is quickest so that all together are no larger than today.
struct mixed {
    /// Seconds to decompress them over today's, estimated with fixed speeds.
    double time = 0;
    /// Bytes over those on disk.
    double size = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("time", time);
        see("size", size);
    }
};

/// Memory that jobs need for a tree's baskets or an RNTuple's pages, in bytes.
struct memory {
    /// A reader of all branches or columns: the largest basket or page of each, unpacked.
    std::uint64_t read_baskets = 0;
    /// The same baskets or pages on disk.
    std::uint64_t read_compressed = 0;
    /// A read cache that holds the largest cluster.
    std::uint64_t read_cache = 0;
    /// The three together.
    std::uint64_t read = 0;
    /// A writer of all branches: the buffer of each. Of an RNTuple: the largest page of each column, and the largest cluster, which ROOT's writer
    /// keeps until it is complete.
    std::uint64_t write = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("read_baskets", read_baskets);
        see("read_compressed", read_compressed);
        see("read_cache", read_cache);
        see("read", read);
        see("write", write);
    }
};

/// Seconds of one core that a reader of all branches or fields needs, without storage: estimates from fixed speeds.
struct read_time {
    /// To read the tree's own record, or header, footer and page lists of an RNTuple.
    double open = 0;
    /// To decompress.
    double decompress = 0;
    /// To decode.
    double decode = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("open", open);
        see("decompress", decompress);
        see("decode", decode);
    }
};

/// Two strings that belong together.
struct pair {
    /// Name.
    std::string name;
    /// Its value: a formula, a file, a class.
    std::string value;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("value", value);
    }
};

/// A leaf.
struct leaf_report {
    /// ROOT's class of the leaf.
    std::string class_;
    /// Name.
    std::string name;
    /// Title.
    std::string title;
    /// Type, as `TLeaf::GetTypeName` says it.
    std::string type;
    /// Elements of the fixed array.
    std::int64_t len = 0;
    /// The leaf that counts its elements.
    std::optional<std::string> count;
    /// The largest value that the leaf claims to hold, where it counts others.
    std::optional<std::int64_t> maximum;
    /// The least possible number of elements in the longest entry that it counts, from sizes alone.
    std::optional<std::uint64_t> counted_at_least;

    template <typename See>
    void each_field(See &&see)
    {
        see("class", class_);
        see("name", name);
        see("title", title);
        see("type", type);
        see("len", len);
        see.sometimes("count", count);
        see.sometimes("maximum", maximum);
        see.sometimes("counted_at_least", counted_at_least);
    }
};

/// Least, mean, median and greatest of some sizes.
struct spread {
    /// Least.
    std::uint64_t min = 0;
    /// Mean, rounded down.
    std::uint64_t mean = 0;
    /// Median.
    std::uint64_t median = 0;
    /// Greatest.
    std::uint64_t max = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("min", min);
        see("mean", mean);
        see("median", median);
        see("max", max);
    }
};

/// The baskets of a branch, summed up.
struct basket_summary {
    /// Baskets on disk.
    std::uint64_t count = 0;
    /// Mean size before compression, with the key, over the size of the writer's buffer, which holds both; may exceed 1, because buffers grow.
    std::optional<double> fill;
    /// Least, mean, median and greatest size on disk, keys included.
    std::optional<spread> disk;
    /// The same before compression, without keys: the mean of all, the others of the baskets looked at.
    std::optional<spread> raw;
    /// Baskets that cross the start of a cluster.
    std::uint64_t crossing = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("count", count);
        see("fill", fill);
        see("disk", disk);
        see("raw", raw);
        see("crossing", crossing);
    }
};

/// A basket in the tree's own record.
struct embedded_report {
    /// Its place among the branch's baskets.
    std::uint64_t index = 0;
    /// Entries in it.
    std::uint64_t entries = 0;
    /// Bytes of it.
    std::uint64_t bytes = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("index", index);
        see("entries", entries);
        see("bytes", bytes);
    }
};

/// A basket on disk.
struct basket_report {
    /// First entry in it.
    std::uint64_t first_entry = 0;
    /// Entries in it.
    std::uint64_t entries = 0;
    /// Bytes of its record.
    std::uint64_t bytes = 0;
    /// Offset of its record.
    std::uint64_t seek = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("first_entry", first_entry);
        see("entries", entries);
        see("bytes", bytes);
        see("seek", seek);
    }
};

/// A branch.
struct branch_report {
    /// Its position in the tree: `2.0.1` is the second branch of the first branch of the third.
    std::string id;
    /// Name.
    std::string name;
    /// Title.
    std::string title;
    /// ROOT's class of the branch.
    std::string class_;
    /// Its class, or empty where the leaves define it.
    std::string type;
    /// Its leaves.
    std::vector<leaf_report> leaves;
    /// ROOT's compression setting.
    std::int64_t compression = 0;
    /// Bytes of the buffer that a writer fills.
    std::uint64_t basket_size = 0;
    /// Split level.
    std::int64_t split_level = 0;
    /// The file with the baskets, if it is another one.
    std::string file_name;
    /// Entries.
    std::uint64_t entries = 0;
    /// The entries of the tree that its baskets hold, where these are not all.
    std::optional<std::uint64_t> held;
    /// The entries that its baskets hold behind the tree's last one.
    std::uint64_t beyond = 0;
    /// Bytes before compression, with the keys of baskets.
    std::uint64_t tot_bytes = 0;
    /// Bytes on disk, with the keys of baskets.
    std::uint64_t zip_bytes = 0;
    /// Bytes of these keys.
    std::uint64_t key_bytes = 0;
    /// Its share of the tree's bytes on disk, 0 to 1.
    double share = 0;
    /// How its baskets are.
    reports::basket_summary basket_summary;
    /// Bytes of the largest entry of the largest basket, before compression. Known only where some basket is far larger than the others: no size of
    /// baskets makes it smaller.
    std::optional<std::uint64_t> largest_entry;
    /// Codecs of the baskets whose headers were read, with the number of baskets; `none` for a basket that is not compressed.
    std::map<std::string, std::uint64_t> codecs;
    /// Its values after decoding, if it has entries of its own. "numbers": numbers, a fixed count in each entry. "lists": lists of numbers, or texts.
    /// "objects": objects, or lists of anything else: each is decoded by itself. "bytes": bytes: it cannot be decoded.
    std::optional<std::string> decoded;
    /// Whether it holds objects whose members could have branches of their own.
    bool can_split = false;
    /// Whether its baskets are in another file, which is missing: of the own folder. Files elsewhere are not looked for.
    bool absent = false;
    /// Baskets in the tree's own record.
    std::vector<embedded_report> embedded;
    /// Every basket on disk, if requested.
    std::optional<std::vector<basket_report>> baskets;

    template <typename See>
    void each_field(See &&see)
    {
        see("id", id);
        see("name", name);
        see("title", title);
        see("class", class_);
        see("type", type);
        see("leaves", leaves);
        see("compression", compression);
        see("basket_size", basket_size);
        see("split_level", split_level);
        see.sometimes("file_name", file_name);
        see("entries", entries);
        see.sometimes("held", held);
        see.sometimes("beyond", beyond);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("key_bytes", key_bytes);
        see("share", share);
        see("basket_summary", basket_summary);
        see.sometimes("largest_entry", largest_entry);
        see("codecs", codecs);
        see.sometimes("decoded", decoded);
        see.sometimes("can_split", can_split);
        see.sometimes("absent", absent);
        see("embedded", embedded);
        see.sometimes("baskets", baskets);
    }
};

/// A tree.
struct tree_report {
    /// Path of its key in the file.
    std::string path;
    /// Cycle of its key.
    std::int64_t cycle = 0;
    /// Whether no key of this path has a higher cycle.
    bool newest = false;
    /// Class.
    std::string class_;
    /// Name, which may differ from the key's.
    std::string name;
    /// Title.
    std::string title;
    /// Entries.
    std::uint64_t entries = 0;
    /// The entries that its branches hold, where the tree counts more than any of them has.
    std::optional<std::uint64_t> held;
    /// fTotBytes: all baskets before compression, with their keys.
    std::uint64_t tot_bytes = 0;
    /// fZipBytes: all baskets on disk, with their keys.
    std::uint64_t zip_bytes = 0;
    /// Bytes of these keys: `tot_bytes` without them are the contents of baskets.
    std::uint64_t key_bytes = 0;
    /// fAutoFlush: negative compressed bytes, or positive entries.
    std::int64_t auto_flush = 0;
    /// The tree's own record.
    sizes metadata;
    /// Clusters, as all verbs count them: those that are declared, or else the ranges between entries at which all branches begin a basket.
    std::uint64_t cluster_count = 0;
    /// First entry of each cluster of ROOT's own iterator, which takes clusters of 30 MB where none are declared.
    std::vector<std::uint64_t> clusters;
    /// How they are known. "declared": the tree records them. "estimated": the tree does not record them; ROOT uses ranges that fit its read cache.
    std::string clusters_known;
    /// Whether `clusters` ends before the tree does, because there are too many clusters.
    bool clusters_cut = false;
    /// Compressed bytes of the largest of ROOT's clusters.
    std::uint64_t largest_cluster = 0;
    /// Entries at which all branches begin a basket.
    std::uint64_t common_boundaries = 0;
    /// Baskets on disk.
    std::uint64_t baskets = 0;
    /// Baskets that begin before a cluster does and end behind its start; none where clusters are estimated.
    std::uint64_t crossing = 0;
    /// Whether every basket's header was read, or only some of each branch. "all": all. "some": some of each branch, the largest among them.
    std::string probed;
    /// Codecs of the baskets looked at, all branches together.
    std::map<std::string, std::uint64_t> codecs;
    /// Size of uncompressed baskets with zlib:1 over their present size; absent where not tried.
    std::optional<double> compressible_to;
    /// Other codecs on a sample of the baskets; absent where not tried.
    std::vector<trial> trials;
    /// The best of these codecs for each basket of the sample, in no more bytes; absent where not tried.
    std::optional<reports::mixed> mixed;
    /// Bytes of the tree's uncompressed record with the file's codec over its present bytes; absent where not tried.
    std::optional<double> record_compressible_to;
    /// For an older cycle: whether it has baskets that the newest cycle lacks, so that it is a tree of its own.
    bool is_another = false;
    /// Memory that readers and writers need.
    reports::memory memory;
    /// Time that a reader of everything needs, about.
    reports::read_time read_time;
    /// Friends: the alias or tree name, and the file if it is another one.
    std::vector<pair> friends;
    /// Aliases: name and formula.
    std::vector<pair> aliases;
    /// The expressions of its index (`TTreeIndex`), or the class of another index, if it has one.
    std::optional<std::string> index;
    /// Objects in the user info.
    std::vector<pair> user_info;
    /// Branches, depth first.
    std::vector<branch_report> branches;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("cycle", cycle);
        see("newest", newest);
        see("class", class_);
        see("name", name);
        see("title", title);
        see("entries", entries);
        see.sometimes("held", held);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("key_bytes", key_bytes);
        see("auto_flush", auto_flush);
        see("metadata", metadata);
        see("cluster_count", cluster_count);
        see("clusters", clusters);
        see("clusters_known", clusters_known);
        see.sometimes("clusters_cut", clusters_cut);
        see("largest_cluster", largest_cluster);
        see("common_boundaries", common_boundaries);
        see("baskets", baskets);
        see("crossing", crossing);
        see("probed", probed);
        see("codecs", codecs);
        see.sometimes("compressible_to", compressible_to);
        see.sometimes("trials", trials);
        see.sometimes("mixed", mixed);
        see.sometimes("record_compressible_to", record_compressible_to);
        see.sometimes("is_another", is_another);
        see("memory", memory);
        see("read_time", read_time);
        see("friends", friends);
        see("aliases", aliases);
        see("index", index);
        see("user_info", user_info);
        see("branches", branches);
    }
};

/// A linked attribute set: an RNTuple with data about ranges of entries.
struct attribute_set_report {
    /// Its name.
    std::string name;
    /// The version of its schema: `1.0`.
    std::string schema_version;
    /// Its entries; absent where it could not be read.
    std::optional<std::uint64_t> entries;
    /// Its fields at the top; absent where it could not be read.
    std::optional<std::uint64_t> top_fields;
    /// Why it could not be read.
    std::string reason;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("schema_version", schema_version);
        see.sometimes("entries", entries);
        see.sometimes("top_fields", top_fields);
        see.sometimes("reason", reason);
    }
};

/// A page.
struct page_report {
    /// The number of its cluster.
    std::uint64_t cluster = 0;
    /// Elements in it.
    std::uint64_t elements = 0;
    /// Bytes on disk without the checksum.
    std::uint64_t bytes = 0;
    /// Offset in the file; absent for a page in other storage.
    std::optional<std::uint64_t> seek;
    /// Whether a checksum follows it.
    bool checksum = false;

    template <typename See>
    void each_field(See &&see)
    {
        see("cluster", cluster);
        see("elements", elements);
        see("bytes", bytes);
        see.sometimes("seek", seek);
        see("checksum", checksum);
    }
};

/// A column.
struct column_report {
    /// Its physical ID.
    std::uint64_t id = 0;
    /// Its type in the specification: `SplitReal32`.
    std::string type;
    /// Bits of an element in a page.
    std::uint64_t bits = 0;
    /// The least and the greatest value of a quantised column.
    std::optional<std::tuple<double, double>> range;
    /// Which of its field's representations it belongs to, from 0.
    std::uint64_t representation = 0;
    /// Whether it was added while the RNTuple was written.
    bool in_extension = false;
    /// For a deferred column: the index of its first stored element. Elements before it are zero.
    std::optional<std::uint64_t> first_element;
    /// Clusters in which another representation of the field has the data.
    std::uint64_t suppressed_clusters = 0;
    /// Clusters from before the column was added.
    std::uint64_t absent_clusters = 0;
    /// ROOT's compression settings, with the number of pages that were written under each.
    std::map<std::string, std::uint64_t> compression;
    /// Stored elements.
    std::uint64_t elements = 0;
    /// Pages.
    std::uint64_t pages = 0;
    /// Pages that have the same bytes in the file as a page before them.
    std::uint64_t shared_pages = 0;
    /// Pages that a checksum follows.
    std::uint64_t checked_pages = 0;
    /// Bytes before compression, each range of bytes once.
    std::uint64_t tot_bytes = 0;
    /// Bytes on disk without checksums, each range of bytes once.
    std::uint64_t zip_bytes = 0;
    /// Least, mean, median and greatest page on disk.
    std::optional<spread> disk;
    /// The same before compression.
    std::optional<spread> raw;
    /// Pages by codec; `none` for a page that is not compressed.
    std::map<std::string, std::uint64_t> codecs;
    /// Every page, if requested.
    std::optional<std::vector<page_report>> page_list;

    template <typename See>
    void each_field(See &&see)
    {
        see("id", id);
        see("type", type);
        see("bits", bits);
        see.sometimes("range", range);
        see("representation", representation);
        see.sometimes("in_extension", in_extension);
        see.sometimes("first_element", first_element);
        see.sometimes("suppressed_clusters", suppressed_clusters);
        see.sometimes("absent_clusters", absent_clusters);
        see("compression", compression);
        see("elements", elements);
        see("pages", pages);
        see.sometimes("shared_pages", shared_pages);
        see("checked_pages", checked_pages);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("disk", disk);
        see("raw", raw);
        see("codecs", codecs);
        see.sometimes("page_list", page_list);
    }
};

/// A field.
struct field_report {
    /// Its ID.
    std::uint64_t id = 0;
    /// Names from the top, joined by dots.
    std::string path;
    /// C++ type; empty for untyped records and collections.
    std::string type;
    /// The name of the type in the source code, if it is another one.
    std::string type_alias;
    /// Description.
    std::string description;
    /// Structural role. "leaf": A value of its own, or a wrapper around its only subfield. "collection": any number of values of its subfield.
    /// "record": one value of each subfield. "variant": one value of one of its subfields. "streamer": an object as ROOT's streamer writes it.
    /// "unknown": A role that the specification does not define.
    std::string role;
    /// Length of a fixed-size array or a bitset.
    std::optional<std::uint64_t> array_size;
    /// For a projected field: the path of the field that it shows.
    std::optional<std::string> source;
    /// Whether the class is a struct of arrays.
    bool soa = false;
    /// Whether it was added while the RNTuple was written.
    bool in_extension = false;
    /// For a field at the top: its values after decoding. "numbers": numbers, a fixed count in each entry. "lists": lists of numbers, or texts.
    /// "objects": objects, or lists of anything else: each is decoded by itself. "bytes": bytes: it cannot be decoded.
    std::optional<std::string> decoded;
    /// For a field at the top: why it cannot be decoded.
    std::optional<std::string> opaque;
    /// Bytes of its own columns before compression.
    std::uint64_t tot_bytes = 0;
    /// Bytes of its own columns on disk.
    std::uint64_t zip_bytes = 0;
    /// The share of its own columns of the RNTuple's bytes on disk, 0 to 1.
    double share = 0;
    /// Bytes of its columns and of those below it.
    sizes with_subfields;
    /// Elements of its first column, over all representations: for a field outside of collections, one for each entry.
    std::uint64_t elements = 0;
    /// Pages of its own columns.
    std::uint64_t pages = 0;
    /// Its columns: of all representations, those of representation 0 first.
    std::vector<column_report> columns;

    template <typename See>
    void each_field(See &&see)
    {
        see("id", id);
        see("path", path);
        see("type", type);
        see.sometimes("type_alias", type_alias);
        see.sometimes("description", description);
        see("role", role);
        see.sometimes("array_size", array_size);
        see.sometimes("source", source);
        see.sometimes("soa", soa);
        see.sometimes("in_extension", in_extension);
        see.sometimes("decoded", decoded);
        see.sometimes("opaque", opaque);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("share", share);
        see("with_subfields", with_subfields);
        see("elements", elements);
        see("pages", pages);
        see("columns", columns);
    }
};

/// An RNTuple.
struct ntuple_report {
    /// Path of its key in the file.
    std::string path;
    /// Cycle of its key.
    std::int64_t cycle = 0;
    /// Whether no key of this path has a higher cycle.
    bool newest = false;
    /// Name, which may differ from the key's.
    std::string name;
    /// Description.
    std::string description;
    /// The program that wrote it.
    std::string writer;
    /// The format's version in the anchor: `1.0.1.0`.
    std::string format;
    /// The numbers of the feature flags that are set.
    std::vector<std::uint64_t> features;
    /// Entries.
    std::uint64_t entries = 0;
    /// Fields at the top.
    std::uint64_t top_fields = 0;
    /// Columns in the file.
    std::uint64_t columns = 0;
    /// Fields that show the columns of others.
    std::uint64_t projected_fields = 0;
    /// Fields with objects as ROOT's streamer writes them.
    std::uint64_t streamer_fields = 0;
    /// Fields with several representations.
    std::uint64_t alternative_fields = 0;
    /// Fields that were added while the RNTuple was written.
    std::uint64_t extension_fields = 0;
    /// Columns that were added while the RNTuple was written.
    std::uint64_t extension_columns = 0;
    /// Bytes of all pages before compression, each range of bytes once.
    std::uint64_t tot_bytes = 0;
    /// Bytes of all pages on disk without their checksums, each range of bytes once.
    std::uint64_t zip_bytes = 0;
    /// Pages in the page lists.
    std::uint64_t pages = 0;
    /// Pages that have the same bytes in the file as a page before them.
    std::uint64_t shared_pages = 0;
    /// Pages in storage other than the file, which are not in the sizes.
    std::uint64_t pages_elsewhere = 0;
    /// Pages that a checksum follows.
    std::uint64_t checked_pages = 0;
    /// Whether pages have checksums. "all": all pages. "some": some pages. "none": no page.
    std::string checksums;
    /// Pages by codec; `none` for a page that is not compressed.
    std::map<std::string, std::uint64_t> codecs;
    /// The metadata: anchor, header, footer and page lists.
    sizes metadata;
    /// The header.
    sizes header;
    /// The footer.
    sizes footer;
    /// All page lists.
    sizes page_lists;
    /// Groups of clusters: each has a page list of its own.
    std::uint64_t cluster_groups = 0;
    /// Clusters.
    std::uint64_t cluster_count = 0;
    /// First entry of each cluster.
    std::vector<std::uint64_t> clusters;
    /// Whether `clusters` ends before the RNTuple does, because there are too many clusters.
    bool clusters_cut = false;
    /// Compressed bytes of the largest cluster.
    std::uint64_t largest_cluster = 0;
    /// Other codecs on a sample of the pages; absent where not tried.
    std::vector<trial> trials;
    /// The best of these codecs for each page of the sample, in no more bytes; absent where not tried.
    std::optional<reports::mixed> mixed;
    /// Memory that readers and writers need.
    reports::memory memory;
    /// Time that a reader of everything needs, about.
    reports::read_time read_time;
    /// Linked attribute sets.
    std::vector<attribute_set_report> attribute_sets;
    /// Fields, depth first.
    std::vector<field_report> fields;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("cycle", cycle);
        see("newest", newest);
        see("name", name);
        see("description", description);
        see("writer", writer);
        see("format", format);
        see("features", features);
        see("entries", entries);
        see("top_fields", top_fields);
        see("columns", columns);
        see("projected_fields", projected_fields);
        see("streamer_fields", streamer_fields);
        see("alternative_fields", alternative_fields);
        see("extension_fields", extension_fields);
        see("extension_columns", extension_columns);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("pages", pages);
        see("shared_pages", shared_pages);
        see.sometimes("pages_elsewhere", pages_elsewhere);
        see("checked_pages", checked_pages);
        see("checksums", checksums);
        see("codecs", codecs);
        see("metadata", metadata);
        see("header", header);
        see("footer", footer);
        see("page_lists", page_lists);
        see("cluster_groups", cluster_groups);
        see("cluster_count", cluster_count);
        see("clusters", clusters);
        see.sometimes("clusters_cut", clusters_cut);
        see("largest_cluster", largest_cluster);
        see.sometimes("trials", trials);
        see.sometimes("mixed", mixed);
        see("memory", memory);
        see("read_time", read_time);
        see("attribute_sets", attribute_sets);
        see("fields", fields);
    }
};

/// A row group.
struct row_group_facts {
    /// Its first entry.
    std::uint64_t first_entry = 0;
    /// Its entries.
    std::uint64_t entries = 0;
    /// Bytes before compression, encoded.
    std::uint64_t tot_bytes = 0;
    /// Bytes in the file.
    std::uint64_t zip_bytes = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("first_entry", first_entry);
        see("entries", entries);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
    }
};

/// A stored column, which Parquet calls a leaf.
struct parquet_leaf_facts {
    /// Its path in the schema, with dots.
    std::string path;
    /// The type in which it is stored, as Parquet calls it: `DOUBLE`.
    std::string physical_type;
    /// Stored values and missing ones, in all row groups.
    std::uint64_t values = 0;
    /// Bytes before compression, encoded.
    std::uint64_t tot_bytes = 0;
    /// Bytes in the file.
    std::uint64_t zip_bytes = 0;
    /// Row groups by codec, as Parquet calls it: `SNAPPY`.
    std::map<std::string, std::uint64_t> codecs;
    /// Its encodings, as Parquet calls them, in any row group.
    std::vector<std::string> encodings;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("physical_type", physical_type);
        see("values", values);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("codecs", codecs);
        see("encodings", encodings);
    }
};

/// A column at the top of the schema.
struct parquet_column_facts {
    /// Name.
    std::string name;
    /// The Arrow type in which it is read.
    std::string arrow_type;
    /// Whether values may be missing: the schema allows it, and the statistics do not say that none is.
    bool nullable = false;
    /// Bytes before compression, encoded.
    std::uint64_t tot_bytes = 0;
    /// Bytes in the file.
    std::uint64_t zip_bytes = 0;
    /// What is stored for it: itself, or the innermost members of its lists and records.
    std::vector<parquet_leaf_facts> leaves;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("arrow_type", arrow_type);
        see("nullable", nullable);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("leaves", leaves);
    }
};

/// The table of a Parquet file.
struct parquet_facts {
    /// Path of the tree of which it was made, else `Events`: that of the tree or RNTuple that a rewrite makes of it.
    std::string path;
    /// The program that wrote it, if it says so.
    std::optional<std::string> created_by;
    /// Version of the format.
    std::int64_t format_version = 0;
    /// Entries.
    std::uint64_t entries = 0;
    /// Bytes of all columns before compression, encoded: repeated values may be stored once.
    std::uint64_t tot_bytes = 0;
    /// Bytes of all columns in the file.
    std::uint64_t zip_bytes = 0;
    /// Bytes of the metadata at the end of the file.
    std::uint64_t metadata_bytes = 0;
    /// Its row groups.
    std::vector<row_group_facts> row_groups;
    /// Its columns, as they are selected and read.
    std::vector<parquet_column_facts> columns;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("created_by", created_by);
        see("format_version", format_version);
        see("entries", entries);
        see("tot_bytes", tot_bytes);
        see("zip_bytes", zip_bytes);
        see("metadata_bytes", metadata_bytes);
        see("row_groups", row_groups);
        see("columns", columns);
    }
};

/// An object that is neither a tree nor an RNTuple.
struct object_report {
    /// Path in the file.
    std::string path;
    /// Cycle.
    std::int64_t cycle = 0;
    /// Class.
    std::string class_;
    /// Bytes of its record.
    std::uint64_t bytes = 0;
    /// Bytes before compression.
    std::uint64_t raw_bytes = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("cycle", cycle);
        see("class", class_);
        see("bytes", bytes);
        see("raw_bytes", raw_bytes);
    }
};

/// Something that could not be read.
struct unread {
    /// Path in the file.
    std::string object;
    /// Cycle, where it has one.
    std::optional<std::int64_t> cycle;
    /// Class, where it is known.
    std::string class_;
    /// The reasons.
    std::string reason;
    /// Whether it is in a format that this version does not read, and not damaged.
    bool unsupported = false;

    template <typename See>
    void each_field(See &&see)
    {
        see("object", object);
        see.sometimes("cycle", cycle);
        see.sometimes("class", class_);
        see("reason", reason);
        see.sometimes("unsupported", unsupported);
    }
};

/// The cost of a fault; unknown parts are 0.
struct fault_cost {
    /// Superfluous bytes on disk.
    std::uint64_t bytes = 0;
    /// Seconds of one core at each full read.
    double read_seconds = 0;
    /// Seconds of one core whenever the tree is opened, which a reader of everything does not save.
    double open_seconds = 0;
    /// Seconds of one core for each entry that is picked at random.
    double entry_seconds = 0;
    /// Seconds of one core at each full read by jobs or threads that share the tree by clusters.
    double shared_seconds = 0;
    /// Seconds of one core when it was written.
    double write_seconds = 0;
    /// Superfluous bytes of memory, of a reader or a writer.
    std::uint64_t memory = 0;
    /// Whether results may be wrong or lost. Such faults come first.
    bool danger = false;

    template <typename See>
    void each_field(See &&see)
    {
        see("bytes", bytes);
        see("read_seconds", read_seconds);
        see("open_seconds", open_seconds);
        see("entry_seconds", entry_seconds);
        see("shared_seconds", shared_seconds);
        see("write_seconds", write_seconds);
        see("memory", memory);
        see("danger", danger);
    }
};

/// The price of fixing a fault: the other side of a `Cost`.
struct price {
    /// Bytes by which the file grows.
    std::uint64_t bytes = 0;
    /// Seconds of one core more at each full read.
    double read_seconds = 0;
    /// Bytes of memory more that a reader of all branches needs.
    std::uint64_t memory = 0;
    /// Other changes, as a sentence; may be empty.
    std::string note;

    template <typename See>
    void each_field(See &&see)
    {
        see("bytes", bytes);
        see("read_seconds", read_seconds);
        see("memory", memory);
        see("note", note);
    }
};

/// A fault that was found.
struct finding {
    /// Kind of the fault, such as "tiny_baskets".
    std::string fault;
    /// Path of the tree or RNTuple, unless the file as a whole is meant.
    std::optional<std::string> tree;
    /// Paths of other tables that have the same fault: where these are many they are told as one, with cost, command and price of all.
    std::vector<std::string> also;
    /// Its cost.
    fault_cost cost;
    /// Its description, in a sentence or two.
    std::string text;
    /// The command that fixes it, if there is one: only one that a trial showed to mend it, where remedies were tried.
    std::optional<std::string> command;
    /// Expected bytes of the file after the command, by a trial; absent where it was not tried.
    std::optional<std::uint64_t> expected_bytes;
    /// The program that pays for it. "reader": every reader of the file. "writer": only the program that wrote the file, or writes similar ones.
    std::string pays;
    /// The estimated price of the command, if there is one.
    std::optional<reports::price> price;
    /// The numbers of the fault; docs/inspect-schema.md lists them by fault.
    std::map<std::string, json::value> numbers;

    template <typename See>
    void each_field(See &&see)
    {
        see("fault", fault);
        see("tree", tree);
        see.sometimes("also", also);
        see("cost", cost);
        see("text", text);
        see("command", command);
        see.sometimes("expected_bytes", expected_bytes);
        see("pays", pays);
        see("price", price);
        see.others(numbers);
    }
};

/// What a table would take in the other container, by a trial of all of it or of samples.
struct moved {
    /// Path of the tree or RNTuple.
    std::string path;
    /// The other container. "rntuple": an RNTuple, for a tree. "ttree": A tree, for an RNTuple.
    std::string container;
    /// Bytes on disk now, with its metadata.
    std::uint64_t bytes_now = 0;
    /// Expected bytes on disk, with its metadata.
    std::uint64_t bytes = 0;
    /// The expected bytes are wrong by more than this in one case of twenty, as far as the samples tell.
    std::uint64_t uncertainty = 0;
    /// Why it cannot be moved; empty where it can.
    std::string refused;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("container", container);
        see("bytes_now", bytes_now);
        see("bytes", bytes);
        see("uncertainty", uncertainty);
        see.sometimes("refused", refused);
    }
};

/// The report on a file.
struct inspection {
    /// Version of this structure.
    std::uint64_t schema = 0;
    /// The file itself.
    file_report file;
    /// Its trees, every cycle of them.
    std::vector<tree_report> trees;
    /// Its RNTuples, every cycle of them.
    std::vector<ntuple_report> ntuples;
    /// The table of a Parquet file. Of such a file only this, `path` and `bytes` are told, and no faults are looked for.
    std::optional<parquet_facts> parquet;
    /// Everything else that has a key, directories left out.
    std::vector<object_report> objects;
    /// Unreadable parts.
    std::vector<unread> skipped;
    /// The findings, worst first.
    std::vector<finding> findings;
    /// What each tree would take as an RNTuple and each RNTuple as a tree, the newest cycles; empty where it was not tried.
    std::vector<reports::moved> moved;

    template <typename See>
    void each_field(See &&see)
    {
        see("schema", schema);
        see("file", file);
        see("trees", trees);
        see("ntuples", ntuples);
        see.sometimes("parquet", parquet);
        see("objects", objects);
        see("skipped", skipped);
        see("findings", findings);
        see.sometimes("moved", moved);
    }
};

/// Whose reading is expected and measured.
struct reader_report {
    /// `basketry`, `root`, `uproot`, or the name in a profile.
    std::string name;
    /// Its version.
    std::string version;
    /// File of the profile, or `shipped`; none for basketry, whose costs are measured on the file itself.
    std::optional<std::string> profile;
    /// Day on which the profile was measured.
    std::optional<std::string> date;
    /// Model of the processor that it was measured on.
    std::optional<std::string> processor;
    /// The program that reads input and output in the proof; none without an output.
    std::optional<std::string> proven_by;
    /// Why that is not the reader itself.
    std::optional<std::string> instead;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("version", version);
        see("profile", profile);
        see("date", date);
        see("processor", processor);
        see("proven_by", proven_by);
        see("instead", instead);
    }
};

/// Costs of reading beside decompression and decoding. Bytes are fetched from a file in the page cache: storage is not measured, its time is no
/// property of the layout alone.
struct access {
    /// Seconds to fetch a basket and take its header apart.
    double per_basket = 0;
    /// Seconds for each byte fetched.
    double per_byte = 0;
    /// Seconds for each entry whose place is in an offset array.
    double per_offset = 0;
    /// Seconds for each column, once in a reading, however little of it is read.
    double per_column = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("per_basket", per_basket);
        see("per_byte", per_byte);
        see("per_offset", per_offset);
        see("per_column", per_column);
    }
};

/// How the costs were measured.
struct measuring {
    /// Seed of the samples.
    std::uint64_t seed = 0;
    /// CPU seconds that measuring and deciding may take, announced beforehand: three, or a quarter of a rewrite's.
    double allowed = 0;
    /// CPU seconds that measuring and deciding took.
    double cpu_seconds = 0;
    /// Trials: how often the file was written and read to correct a choice.
    std::uint64_t trials = 0;
    /// CPU seconds that reading the metadata took.
    double metadata = 0;
    /// Bytes before compression that were sampled.
    double sampled_bytes = 0;
    /// Share of all bytes before compression.
    double sampled_share = 0;
    /// Columns with baskets.
    std::uint64_t columns = 0;
    /// Columns of which baskets were sampled.
    std::uint64_t sampled_columns = 0;
    /// Codecs between which the choice was made.
    std::vector<std::string> codecs;
    /// Codecs that were tried and are worse than another for nearly all bytes.
    std::vector<std::string> dropped;
    /// Costs of reading beside decompression and decoding.
    reports::access access;
    /// The share by which sizes of the first choice were too small, by a second look at other baskets.
    double optimism = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("seed", seed);
        see("allowed", allowed);
        see("cpu_seconds", cpu_seconds);
        see("trials", trials);
        see("metadata", metadata);
        see("sampled_bytes", sampled_bytes);
        see("sampled_share", sampled_share);
        see("columns", columns);
        see("sampled_columns", sampled_columns);
        see("codecs", codecs);
        see("dropped", dropped);
        see("access", access);
        see("optimism", optimism);
    }
};

/// The nearest limit that could be met.
struct nearest {
    /// Bytes or seconds; none if loosening this one limit does not help.
    std::optional<double> value;

    template <typename See>
    void each_field(See &&see)
    {
        see("value", value);
    }
};

/// A limit.
struct limit_report {
    /// The option.
    std::string name;
    /// Bytes or seconds.
    double value = 0;
    /// Whether it was not asked for, but is the default.
    bool is_default = false;
    /// Whether this limit determines the choice.
    bool binding = false;
    /// If the limits cannot be met together and this limit is a cause: the nearest value that could be met.
    std::optional<reports::nearest> nearest;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("value", value);
        see("is_default", is_default);
        see("binding", binding);
        see("nearest", nearest);
    }
};

/// What a file costs over its life.
struct bill {
    /// The currency.
    std::string currency;
    /// All of it.
    double total = 0;
    /// Of this, bytes on disk, in all copies and years.
    double disk = 0;
    /// Bytes on tape.
    double tape = 0;
    /// CPU time of all readings.
    double reading = 0;
    /// Bytes over the wide-area network.
    double network = 0;
    /// CPU time of writing.
    double writing = 0;
    /// Energy; 0 if the other prices contain it.
    double energy = 0;
    /// Hours of a core with the price of the book, to read and to write.
    double cpu_hours = 0;
    /// TB times years on disk and tape, in all copies.
    double tb_years = 0;
    /// Energy in kWh of computers and storage, with that of the building.
    double kwh = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("currency", currency);
        see("total", total);
        see("disk", disk);
        see("tape", tape);
        see("reading", reading);
        see("network", network);
        see("writing", writing);
        see("energy", energy);
        see("cpu_hours", cpu_hours);
        see("tb_years", tb_years);
        see("kwh", kwh);
    }
};

/// A choice that `--choose` takes.
struct choice {
    /// Its number.
    std::uint64_t number = 0;
    /// Its names; none if it lies between others. "smallest": the fewest bytes, however long reading takes. "balanced": the lowest price over the
    /// file's life, among those that read as fast as today's layout, within the noise of measuring. "fastest": the shortest reading time of the
    /// workload within the limits. "today": the layout of the input. "best-tree": the best tree. "best-rntuple": the best RNTuple. "goal": the best
    /// by the goal, where that is not the price.
    std::vector<std::string> names;
    /// `ttree` or `rntuple`.
    std::string container;
    /// Seconds to read for the workload: fetch, decompress and decode.
    double read = 0;
    /// Of these, to fetch baskets and take their headers apart.
    double fetch = 0;
    /// To decompress them.
    double decompress = 0;
    /// To find entries in them, and to decode the selected ones.
    double decode = 0;
    /// Bytes on disk.
    double size = 0;
    /// Bytes on disk that the workload reads.
    double read_bytes = 0;
    /// Seconds to compress.
    double write = 0;
    /// Bytes that a reader of all columns holds: each one's largest basket, on disk and unpacked, and a cluster.
    double read_memory = 0;
    /// Bytes of the buffers that a writer of all columns fills.
    double write_memory = 0;
    /// Number of baskets.
    double baskets = 0;
    /// Clusters of all trees.
    double clusters = 0;
    /// Chosen size of a cluster, in bytes on disk; none where clusters stay.
    std::optional<std::uint64_t> cluster_bytes;
    /// Seconds to read everything; none if the reader cannot.
    std::optional<double> read_all;
    /// Seconds to read 1 % of the entries, scattered; none if the reader cannot.
    std::optional<double> read_sparse;
    /// CPU seconds that a rewrite into it is expected to take.
    double rewrite = 0;
    /// What it costs over the file's life.
    reports::bill bill;
    /// Its layout as TOML; none if it is the input's.
    std::optional<std::string> layout;
    /// Whether it is the choice of this report.
    bool chosen = false;

    template <typename See>
    void each_field(See &&see)
    {
        see("number", number);
        see("names", names);
        see("container", container);
        see("read", read);
        see("fetch", fetch);
        see("decompress", decompress);
        see("decode", decode);
        see("size", size);
        see("read_bytes", read_bytes);
        see("write", write);
        see("read_memory", read_memory);
        see("write_memory", write_memory);
        see("baskets", baskets);
        see("clusters", clusters);
        see("cluster_bytes", cluster_bytes);
        see("read_all", read_all);
        see("read_sparse", read_sparse);
        see("rewrite", rewrite);
        see("bill", bill);
        see("layout", layout);
        see("chosen", chosen);
    }
};

/// The cost of a file. Times are CPU seconds of one thread.
struct figures {
    /// Seconds to read for the workload: fetch, decompress and decode.
    double read = 0;
    /// Of these, to fetch baskets and take their headers apart.
    double fetch = 0;
    /// To decompress them.
    double decompress = 0;
    /// To find entries in them, and to decode the selected ones.
    double decode = 0;
    /// Bytes on disk.
    double size = 0;
    /// Bytes on disk that the workload reads.
    double read_bytes = 0;
    /// Seconds to compress.
    double write = 0;
    /// Bytes that a reader of all columns holds: each one's largest basket, on disk and unpacked, and a cluster.
    double read_memory = 0;
    /// Bytes of the buffers that a writer of all columns fills.
    double write_memory = 0;
    /// Number of baskets.
    double baskets = 0;
    /// Clusters of all trees.
    double clusters = 0;
    /// Chosen size of a cluster, in bytes on disk; none where clusters stay.
    std::optional<std::uint64_t> cluster_bytes;

    template <typename See>
    void each_field(See &&see)
    {
        see("read", read);
        see("fetch", fetch);
        see("decompress", decompress);
        see("decode", decode);
        see("size", size);
        see("read_bytes", read_bytes);
        see("write", write);
        see("read_memory", read_memory);
        see("write_memory", write_memory);
        see("baskets", baskets);
        see("clusters", clusters);
        see("cluster_bytes", cluster_bytes);
    }
};

/// The cost of a column, or a file, in a layout. Times are CPU seconds of one thread.
struct cost {
    /// Seconds to read for the workload: fetch, decompress and decode.
    double read = 0;
    /// Of these, to fetch baskets and take their headers apart.
    double fetch = 0;
    /// To decompress them.
    double decompress = 0;
    /// To find entries in them, and to decode the selected ones.
    double decode = 0;
    /// Bytes on disk.
    double size = 0;
    /// Bytes on disk that the workload reads.
    double read_bytes = 0;
    /// Seconds to compress.
    double write = 0;
    /// Bytes that a reader of all columns holds: each one's largest basket, on disk and unpacked, and a cluster.
    double read_memory = 0;
    /// Bytes of the buffers that a writer of all columns fills.
    double write_memory = 0;
    /// Number of baskets.
    double baskets = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("read", read);
        see("fetch", fetch);
        see("decompress", decompress);
        see("decode", decode);
        see("size", size);
        see("read_bytes", read_bytes);
        see("write", write);
        see("read_memory", read_memory);
        see("write_memory", write_memory);
        see("baskets", baskets);
    }
};

/// Columns that change from one codec to another.
struct group {
    /// Codec today.
    std::string from;
    /// Codec chosen.
    std::string to;
    /// How many columns.
    std::uint64_t columns = 0;
    /// Their costs today.
    cost today;
    /// Their costs in the chosen layout.
    cost chosen;

    template <typename See>
    void each_field(See &&see)
    {
        see("from", from);
        see("to", to);
        see("columns", columns);
        see("today", today);
        see("chosen", chosen);
    }
};

/// A column of objects that is to be split or streamed otherwise.
struct recasting {
    /// Path of its tree.
    std::string tree;
    /// The branch of the first level.
    std::string column;
    /// Its present form.
    form before;
    /// How it is to.
    form after;
    /// Its costs today.
    cost today;
    /// Its costs in the chosen layout.
    cost chosen;

    template <typename See>
    void each_field(See &&see)
    {
        see("tree", tree);
        see("column", column);
        see("before", before);
        see("after", after);
        see("today", today);
        see("chosen", chosen);
    }
};

/// The best choice in a container.
struct best_in_container {
    /// `ttree` or `rntuple`.
    std::string container;
    /// Its expected cost; none if the limits cannot be met.
    std::optional<figures> chosen;
    /// Its layout as TOML.
    std::optional<std::string> layout;
    /// Why the content cannot be in the container.
    std::optional<std::string> refused;

    template <typename See>
    void each_field(See &&see)
    {
        see("container", container);
        see("chosen", chosen);
        see("layout", layout);
        see("refused", refused);
    }
};

/// A point of the Pareto front.
struct front_point {
    /// Bytes of the file.
    double size = 0;
    /// Seconds to read.
    double read = 0;
    /// Seconds to compress.
    double write = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("size", size);
        see("read", read);
        see("write", write);
    }
};

/// The gain of a looser limit.
struct loosened {
    /// The option.
    std::string name;
    /// Its value then; none for no limit.
    std::optional<double> value;
    /// Size of the file then.
    double size = 0;
    /// Seconds to read then.
    double read = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("name", name);
        see("value", value);
        see("size", size);
        see("read", read);
    }
};

/// Reading times of two files, side by side.
struct comparison {
    /// Seconds to read the first file: the median of the repeats.
    double before = 0;
    /// Seconds to read the second file.
    double after = 0;
    /// Time of the second file over time of the first: the geometric mean of the repeats.
    double ratio = 0;
    /// The interval around `ratio`: 95 % on each side.
    std::vector<double> interval;
    /// Number of repeats.
    std::uint64_t repeats = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("before", before);
        see("after", after);
        see("ratio", ratio);
        see("interval", interval);
        see("repeats", repeats);
    }
};

/// A rewrite into a chosen layout, measured before the file got its name.
struct attempt {
    /// Bytes that were expected.
    double expected_size = 0;
    /// Bytes of the file.
    double bytes = 0;
    /// Number of baskets.
    double baskets = 0;
    /// CPU seconds of the rewrite.
    double rewrite = 0;
    /// How input and output compare, if the size was within the limit.
    std::optional<comparison> reading;
    /// Differences between the contents, if any.
    std::vector<std::string> differences;
    /// Why the rewrite was not delivered; none if it was. "too-large": the file is larger than the limit. "slower": reading takes longer than today,
    /// by more than the noise. "different": the content differs from the input's. "no-gain": it is neither smaller nor quicker to read, by more than
    /// the noise.
    std::optional<std::string> rejected;

    template <typename See>
    void each_field(See &&see)
    {
        see("expected_size", expected_size);
        see("bytes", bytes);
        see("baskets", baskets);
        see("rewrite", rewrite);
        see("reading", reading);
        see("differences", differences);
        see("rejected", rejected);
    }
};

/// A prediction with its measurement.
struct compared {
    /// The expected value.
    double expected = 0;
    /// The measured value.
    double measured = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("expected", expected);
        see("measured", measured);
    }
};

/// The measurements of the delivered output.
struct proof {
    /// The file that was written.
    std::string output;
    /// Bytes that were expected, and that it has.
    compared size;
    /// Seconds to read the input, expected and measured.
    compared read_today;
    /// Seconds to read the output, expected and measured.
    compared read_chosen;
    /// How many times cheaper to read, expected and measured.
    compared speedup;
    /// Measured reading time of the output over that of the input, with the interval of 95 % on each side.
    comparison reading;
    /// Baskets, expected and written.
    compared baskets;
    /// CPU seconds of the whole rewrite: as expected, and measured.
    compared rewrite;
    /// Measuring took this share of the CPU time of the rewrite.
    double measuring_share = 0;
    /// Whether the content was found equal.
    bool equal = false;
    /// The differences.
    std::vector<std::string> differences;
    /// Whether the size limit holds.
    bool within_size = false;

    template <typename See>
    void each_field(See &&see)
    {
        see("output", output);
        see("size", size);
        see("read_today", read_today);
        see("read_chosen", read_chosen);
        see("speedup", speedup);
        see("reading", reading);
        see("baskets", baskets);
        see("rewrite", rewrite);
        see("measuring_share", measuring_share);
        see("equal", equal);
        see("differences", differences);
        see("within_size", within_size);
    }
};

/// The report of `tune`.
struct tuning {
    /// Version of this structure.
    std::uint64_t schema = 0;
    /// The file; of several the first, and how many more.
    std::string input;
    /// The tree that was named, if one was.
    std::optional<std::string> tree;
    /// Number of inputs.
    std::uint64_t files = 0;
    /// Number of inputs that were measured: they stand for all.
    std::uint64_t measured_files = 0;
    /// The workload.
    std::string workload;
    /// What was minimised. "balanced": the price of the file's life. "reading": the reading time of the workload. "size": bytes on disk.
    std::string goal;
    /// Whose reading is expected, and measured in the proof.
    reader_report reader;
    /// How the costs were measured.
    reports::measuring measuring;
    /// The limits.
    std::vector<limit_report> limits;
    /// The prices of the file's life as TOML, for `--price`.
    std::string prices;
    /// The choice that was asked for, by its name or number; none: the best by the goal.
    std::optional<std::string> asked;
    /// The choices that `--choose` takes, the smallest first.
    std::vector<choice> choices;
    /// The cost of the present file.
    figures today;
    /// Seconds to fetch and decompress all of it once, whatever the workload.
    double read_all = 0;
    /// CPU seconds that a rewrite into the chosen layout is expected to take.
    double rewrite = 0;
    /// The expected cost of the chosen layout; none if the limits cannot be met.
    std::optional<figures> chosen;
    /// The largest possible gain of another choice, as a share, by the measured costs.
    double gap = 0;
    /// The changes, by codec, most bytes first.
    std::vector<group> groups;
    /// Columns of objects that change their split level or streaming, slowest to read first.
    std::vector<recasting> recasts;
    /// The same in words.
    std::vector<std::string> why;
    /// The best choice in each container, if they were compared.
    std::vector<best_in_container> containers;
    /// What was tried: a choice is the best of this alone.
    std::vector<std::string> tried;
    /// What was not, with the option that would try it, where there is one.
    std::vector<std::string> not_tried;
    /// Best reading times by size of the file, smallest first.
    std::vector<front_point> front;
    /// The gains of looser limits.
    std::vector<loosened> sensitivity;
    /// The chosen layout as TOML.
    std::optional<std::string> layout;
    /// Whether the chosen layout is the file's own: nothing that was tried is better by more than the noise.
    bool unchanged = false;
    /// Rewrites that were made and measured, in order.
    std::vector<attempt> attempts;
    /// Whether the output was delivered under its name; none without an output.
    std::optional<bool> delivered;
    /// The result, as a sentence.
    std::string verdict;
    /// The measurements of the delivered output, if there is one.
    std::optional<reports::proof> proof;

    template <typename See>
    void each_field(See &&see)
    {
        see("schema", schema);
        see("input", input);
        see("tree", tree);
        see("files", files);
        see("measured_files", measured_files);
        see("workload", workload);
        see("goal", goal);
        see("reader", reader);
        see("measuring", measuring);
        see("limits", limits);
        see("prices", prices);
        see("asked", asked);
        see("choices", choices);
        see("today", today);
        see("read_all", read_all);
        see("rewrite", rewrite);
        see("chosen", chosen);
        see("gap", gap);
        see("groups", groups);
        see("recasts", recasts);
        see("why", why);
        see("containers", containers);
        see("tried", tried);
        see("not_tried", not_tried);
        see("front", front);
        see("sensitivity", sensitivity);
        see("layout", layout);
        see("unchanged", unchanged);
        see("attempts", attempts);
        see("delivered", delivered);
        see("verdict", verdict);
        see("proof", proof);
    }
};

/// A tree or an RNTuple of a file.
struct checked_table {
    /// Its path.
    std::string path;
    /// Its cycle.
    std::int64_t cycle = 0;
    /// Whether it is a tree or an RNTuple.
    std::string container;
    /// Its entries.
    std::uint64_t entries = 0;
    /// Its baskets or pages.
    std::uint64_t pieces = 0;
    /// Bytes of the baskets or pages on disk.
    std::uint64_t bytes = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("cycle", cycle);
        see("container", container);
        see("entries", entries);
        see("pieces", pieces);
        see("bytes", bytes);
    }
};

/// Something that is wrong in a file.
struct problem {
    /// The object with its cycle; a directory or another part of the file in parentheses.
    std::string object;
    /// The branch, with the branches above it.
    std::optional<std::string> branch;
    /// The number of the basket in its branch.
    std::optional<std::uint64_t> basket;
    /// The field of an RNTuple.
    std::optional<std::string> field;
    /// The number of the cluster.
    std::optional<std::uint64_t> cluster;
    /// The number of the page among those of a column of the field in the cluster.
    std::optional<std::uint64_t> page;
    /// The offset in the file.
    std::optional<std::uint64_t> offset;
    /// What is wrong.
    std::string reason;

    template <typename See>
    void each_field(See &&see)
    {
        see("object", object);
        see("branch", branch);
        see("basket", basket);
        see("field", field);
        see("cluster", cluster);
        see("page", page);
        see("offset", offset);
        see("reason", reason);
    }
};

/// The report on a file.
struct checked_file {
    /// The file.
    std::string path;
    /// Its condition. "ok": nothing is wrong, as far as was looked. "damaged": parts are damaged. "unreadable": the file cannot be opened, or is not
    /// a ROOT file.
    std::string condition;
    /// Its size in bytes.
    std::uint64_t bytes = 0;
    /// Its UUID.
    std::optional<std::string> uuid;
    /// Entries of the newest cycles of its trees and RNTuples.
    std::uint64_t entries = 0;
    /// Its trees and RNTuples, older cycles too.
    std::vector<checked_table> tables;
    /// Objects that are neither.
    std::uint64_t objects = 0;
    /// Bytes of baskets, pages and objects that were decompressed, as they are on disk.
    std::uint64_t bytes_decompressed = 0;
    /// Number of problems.
    std::uint64_t problem_count = 0;
    /// The problems, the first 1000 of them.
    std::vector<problem> problems;
    /// What could not be checked, and harmless oddities.
    std::vector<std::string> notes;

    template <typename See>
    void each_field(See &&see)
    {
        see("path", path);
        see("condition", condition);
        see("bytes", bytes);
        see("uuid", uuid);
        see("entries", entries);
        see("tables", tables);
        see("objects", objects);
        see("bytes_decompressed", bytes_decompressed);
        see("problem_count", problem_count);
        see("problems", problems);
        see("notes", notes);
    }
};

/// The report on all files.
struct checked {
    /// Version of the report.
    std::uint64_t schema = 0;
    /// Whether everything was decompressed.
    bool deep = false;
    /// Whether all files are whole.
    bool whole = false;
    /// Files that are whole.
    std::uint64_t ok = 0;
    /// Files with damage.
    std::uint64_t damaged = 0;
    /// Files that cannot be opened, or are not ROOT files.
    std::uint64_t unreadable = 0;
    /// Bytes of all files.
    std::uint64_t bytes = 0;
    /// The files, in the order in which they were named.
    std::vector<checked_file> files;
    /// The entries of the whole files that have the key of another, where keys were asked for.
    std::optional<duplicate_keys> keys;
    /// Whole files that were left out of the look at keys, because they lack the table or the columns.
    std::vector<reports::skipped> skipped;

    template <typename See>
    void each_field(See &&see)
    {
        see("schema", schema);
        see("deep", deep);
        see("whole", whole);
        see("ok", ok);
        see("damaged", damaged);
        see("unreadable", unreadable);
        see("bytes", bytes);
        see("files", files);
        see("keys", keys);
        see("skipped", skipped);
    }
};

/// The report on an index.
struct indexed {
    /// Version of the report.
    std::uint64_t schema = 0;
    /// The columns of the key.
    std::vector<std::string> key;
    /// Files in the index.
    std::uint64_t files = 0;
    /// Entries in the index.
    std::uint64_t entries = 0;
    /// Entries with the key of another.
    std::uint64_t duplicates = 0;
    /// Files whose keys were read now.
    std::uint64_t files_read = 0;
    /// Files that were in the index before, and are the same.
    std::uint64_t files_known = 0;
    /// Files that were in the index before and have changed, whose keys were read anew: the first 1000.
    std::vector<std::string> files_changed;
    /// Files that were in the index before under a path where there is none now, by their new paths: the first 1000. Their keys stay.
    std::vector<std::string> files_moved;
    /// Files that were taken out of the index.
    std::uint64_t files_removed = 0;
    /// Files that were left out because they cannot be read, or lack the table or the columns.
    std::vector<reports::skipped> skipped;
    /// Bytes of the index.
    std::uint64_t bytes_written = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("schema", schema);
        see("key", key);
        see("files", files);
        see("entries", entries);
        see("duplicates", duplicates);
        see("files_read", files_read);
        see("files_known", files_known);
        see("files_changed", files_changed);
        see("files_moved", files_moved);
        see("files_removed", files_removed);
        see("skipped", skipped);
        see("bytes_written", bytes_written);
    }
};

/// A picked entry.
struct picked_event {
    /// The values of its key; none where only cuts pick.
    std::vector<std::string> key;
    /// Its file.
    std::string file;
    /// The path of the table.
    std::string tree;
    /// Its number in the table.
    std::uint64_t entry = 0;
    /// Bytes of the baskets, pages or chunks that have it, which it shares with its neighbours.
    std::uint64_t bytes = 0;
    /// Their number.
    std::uint64_t pieces = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("key", key);
        see("file", file);
        see("tree", tree);
        see("entry", entry);
        see("bytes", bytes);
        see("pieces", pieces);
    }
};

/// The report on picked events.
struct picked {
    /// Version of the report.
    std::uint64_t schema = 0;
    /// The columns of the key.
    std::vector<std::string> key;
    /// Files that were looked at, or that the index has.
    std::uint64_t files = 0;
    /// Files with picked events: the others were not opened, if there is an index, or their keys alone were read.
    std::uint64_t files_picked = 0;
    /// Entries that were picked.
    std::uint64_t picked = 0;
    /// Entries of the events that do not pass the cuts, and are left out.
    std::uint64_t cut = 0;
    /// Entries with the key of another picked one.
    std::uint64_t repeated = 0;
    /// Bytes of the baskets, pages or chunks that have them, each once.
    std::uint64_t bytes = 0;
    /// The picked entries in the order of the output, the first 1000 of them.
    std::vector<picked_event> events;
    /// Events, or ranges of events, of which no entry was found.
    std::uint64_t missing_count = 0;
    /// The first 1000 of them.
    std::vector<std::string> missing;
    /// Files that were left out because they cannot be read, or lack the table or the columns.
    std::vector<reports::skipped> skipped;
    /// Notes on how files were found.
    std::vector<std::string> notes;
    /// The output. None if nothing was picked: then there is none.
    std::optional<summary> output;

    template <typename See>
    void each_field(See &&see)
    {
        see("schema", schema);
        see("key", key);
        see("files", files);
        see("files_picked", files_picked);
        see("picked", picked);
        see("cut", cut);
        see("repeated", repeated);
        see("bytes", bytes);
        see("events", events);
        see("missing_count", missing_count);
        see("missing", missing);
        see("skipped", skipped);
        see("notes", notes);
        see("output", output);
    }
};

/// A column that has another name in the output.
struct renamed_column {
    /// Its name in its own table.
    std::string column;
    /// Its name in the output.
    std::string name;

    template <typename See>
    void each_field(See &&see)
    {
        see("column", column);
        see("name", name);
    }
};

/// An entry, and its key.
struct keyed_entry {
    /// The values of the key.
    std::vector<std::string> key;
    /// The entry.
    entry_of_key entry;

    template <typename See>
    void each_field(See &&see)
    {
        see("key", key);
        see("entry", entry);
    }
};

/// A table on the right of a join.
struct joined_table {
    /// The path of the table.
    std::string tree;
    /// The columns of the key, by their names here.
    std::vector<std::string> key;
    /// Its files.
    std::uint64_t files = 0;
    /// Its entries; of a range of keys those with one.
    std::uint64_t entries = 0;
    /// The columns that it gives, by their names in the output.
    std::vector<std::string> columns;
    /// Those of them that have other names in their own table.
    std::vector<renamed_column> renamed;
    /// Entries of the left table with a partner here.
    std::uint64_t matched = 0;
    /// Entries of the left table whose keys are not here. In a left join they get zeros, empty lists and empty texts.
    std::uint64_t missing = 0;
    /// The first 1000 of them, in the order of their keys.
    std::vector<keyed_entry> missing_entries;
    /// Entries here whose keys the left table does not have: they are not in the output.
    std::uint64_t unused = 0;
    /// The first of each key among them, in the order of their keys, and 1000 at most.
    std::vector<keyed_entry> unused_entries;
    /// Entries here with the key of an earlier one, which is the one that is taken.
    std::uint64_t repeated = 0;

    template <typename See>
    void each_field(See &&see)
    {
        see("tree", tree);
        see("key", key);
        see("files", files);
        see("entries", entries);
        see("columns", columns);
        see("renamed", renamed);
        see("matched", matched);
        see("missing", missing);
        see("missing_entries", missing_entries);
        see("unused", unused);
        see("unused_entries", unused_entries);
        see("repeated", repeated);
    }
};

/// The report on a join.
struct joined {
    /// Version of the report.
    std::uint64_t schema = 0;
    /// The columns of the key, by their names in the left table.
    std::vector<std::string> key;
    /// Which entries of the left table are written. "left": all of them. "inner": those with a partner in each table on the right.
    std::string how;
    /// The path of the left table.
    std::string tree;
    /// Its entries; of a range of keys those with one.
    std::uint64_t entries = 0;
    /// The entries that are written.
    std::uint64_t written = 0;
    /// The tables on the right, in the order in which they are named.
    std::vector<joined_table> right;
    /// The name of the table in the output, where that has the columns of the tables on the right alone, as a friend of the left one.
    std::optional<std::string> friend_;
    /// The output.
    summary output;

    template <typename See>
    void each_field(See &&see)
    {
        see("schema", schema);
        see("key", key);
        see("how", how);
        see("tree", tree);
        see("entries", entries);
        see("written", written);
        see("right", right);
        see("friend", friend_);
        see("output", output);
    }
};

} // namespace reports
} // namespace basketry

#endif // BASKETRY_REPORT_TYPES_HPP
