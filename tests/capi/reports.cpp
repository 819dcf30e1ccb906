// Reports of verbs as structures: each is written back as JSON, and has to be what the verb said. Usage: reports FOLDER INPUT DAMAGED
#include <basketry_reports.hpp>

#include <cstdio>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": not so: " #condition); \
        } \
    } while (0)

namespace {

namespace json = basketry::json;
namespace reports = basketry::reports;

json::value back(bool from) { return from; }
json::value back(std::uint64_t from) { return from; }
json::value back(std::int64_t from) { return from; }
json::value back(double from) { return std::isnan(from) ? json::value() : json::value(from); }
json::value back(const std::string &from) { return from; }
struct members;
template <typename T>
auto back(T &from) -> decltype(from.each_field(std::declval<members &>()), json::value());
template <typename T>
json::value back(std::optional<T> &from);
template <typename T>
json::value back(std::vector<T> &from);
template <typename T>
json::value back(std::map<std::string, T> &from);
template <typename... T>
json::value back(std::tuple<T...> &from);

/// Writes the members of a structure.
struct members {
    json::value::object made;

    template <typename T>
    void operator()(const char *name, T &from)
    {
        made.push_back({name, back(from)});
    }
    template <typename T>
    void sometimes(const char *name, T &from)
    {
        T none{};
        if (back(none) != back(from)) {
            (*this)(name, from);
        }
    }
    void others(std::map<std::string, json::value> &from)
    {
        for (auto &one : from) {
            made.push_back({one.first, one.second});
        }
    }
};

template <typename T>
auto back(T &from) -> decltype(from.each_field(std::declval<members &>()), json::value())
{
    members told;
    from.each_field(told);
    return std::move(told.made);
}
template <typename T>
json::value back(std::optional<T> &from)
{
    return from ? back(*from) : json::value();
}
template <typename T>
json::value back(std::vector<T> &from)
{
    json::value::array made;
    for (T &one : from) {
        made.push_back(back(one));
    }
    return made;
}
template <typename T>
json::value back(std::map<std::string, T> &from)
{
    json::value::object made;
    for (auto &one : from) {
        made.push_back({one.first, back(one.second)});
    }
    return made;
}
template <typename... T>
json::value back(std::tuple<T...> &from)
{
    json::value::array made;
    std::apply([&](auto &...parts) { (made.push_back(back(parts)), ...); }, from);
    return made;
}

/// Whether two values are equal, numbers by their values.
bool like(const json::value &one, const json::value &other)
{
    if (one.is_array() && other.is_array()) {
        bool same = one.as_array().size() == other.as_array().size();
        for (std::size_t i = 0; same && i < one.as_array().size(); ++i) {
            same = like(one.as_array()[i], other.as_array()[i]);
        }
        return same;
    }
    if (one.is_object() && other.is_object()) {
        bool same = one.as_object().size() == other.as_object().size();
        for (const json::member &member : one.as_object()) {
            const json::value *found = other.find(member.name);
            same = same && found != nullptr && like(member.content, *found);
        }
        return same;
    }
    return one.is_number() && other.is_number() ? one.as_double() == other.as_double() : one == other;
}

/// The structure of a report, which says as much as the report.
template <typename T>
T same(const std::string &text)
{
    T made = reports::parsed<T>(text);
    T again = reports::parsed<T>(back(made).text());
    const json::value one = back(made);
    if (one != back(again) || !like(json::parse(text), one)) {
        throw std::runtime_error("the structure says\n" + one.text() + "\nand the report\n" + text);
    }
    return made;
}

} // namespace

int main(int argc, char **argv)
try {
    HOLDS(argc == 4);
    const std::string folder = argv[1];
    const std::string input = argv[2];
    const std::string damaged = argv[3];
    const std::string merged = folder + "/merged.root";
    const std::string other = folder + "/other.root";

    const auto foreseen = same<reports::outlook>(basketry::merge({input, input}, merged, "dry-run=true"));
    HOLDS(foreseen.bytes_after > 0 && !foreseen.tables.empty());
    const auto summary = reports::merge({input, input}, merged, "compression=lz4:4");
    const auto inspection = same<reports::inspection>(basketry::inspect(merged));
    HOLDS(!summary.tables.empty() && summary.tables.size() == inspection.trees.size() + inspection.ntuples.size());
    HOLDS(summary.tables[0].entries == 2 * summary.tables[0].input_entries || summary.tables[0].entries == summary.tables[0].input_entries);
    HOLDS(summary.bytes_written > 0);
    same<reports::summary>(basketry::rewrite(merged, other, "compression=zstd:5, cut=number > 3"));
    const auto cut = reports::rewrite(merged, other, "compression=zstd:5, cut=number > 3, force=true");
    HOLDS(cut.cut_flows.size() == 2 && cut.cut_flows[0].cuts[0].before > cut.cut_flows[0].cuts[0].after);
    const auto differ = same<reports::verdict>(basketry::verify(merged, other));
    HOLDS(!differ.equal && !reports::verify(input, merged).equal && reports::verify(input, input).equal);
    const auto tuning = same<reports::tuning>(basketry::tune(input + ":Events"));
    HOLDS(!tuning.why.empty() && tuning.files == 1);
    same<reports::recovery>(basketry::recover(damaged, folder + "/recovered.root", "like=" + input));
    const auto recovery = reports::recover(damaged, folder + "/recovered.root", "force=true, like=" + input);
    HOLDS(recovery.bytes_written > 0);
    const auto sound = same<reports::checked>(basketry::run("check", "deep=true", {input, damaged}));
    HOLDS(sound.deep && sound.files.size() == 2 && !sound.whole && sound.ok == 1);
    HOLDS(reports::check({input}).whole);
    const std::string index = folder + "/events.parquet";
    same<reports::indexed>(basketry::index({input + ":Events"}, index, "key=number, key=weight"));
    const auto indexed = reports::index({merged + ":Events"}, index, "extend=true");
    HOLDS(indexed.files == 2 && indexed.files_read == 1 && indexed.entries > 0 && indexed.duplicates > 0 && indexed.skipped.empty());
    const auto picked = reports::pick({}, folder + "/picked.root", "events=7, index=" + index);
    HOLDS(picked.files_picked == 2 && picked.picked == 3 && picked.missing.empty() && picked.output->bytes_written > 0);
    HOLDS(same<reports::picked>(basketry::pick({input + ":Events"}, folder + "/two.root", "events=7, key=number")).picked == 1);

    // Names of outputs may have what divides settings; options may be JSON with settings behind it.
    const std::string events = input + ":Events";
    const std::string sorted = folder + "/by \"number\", down.root";
    same<reports::summary>(basketry::sort({events}, sorted, "by=-number"));
    HOLDS(reports::sort({events}, sorted, "by=-number, force=true").tables[0].entries == 3000);
    HOLDS(reports::merge({sorted, sorted}, folder + "/both.root", "by=-number").tables[0].entries == 6000);
    HOLDS(reports::merge({events, events}, folder + "/once.root", "unique=number").duplicates[0].duplicates == 3000);
    HOLDS(same<reports::checked>(basketry::check({events, events}, "keys=number, keys=weight")).keys->duplicates == 3000);
    const auto written = [&](const std::string &name, const std::string &options) {
        reports::rewrite(sorted, folder + "/" + name, options);
        return folder + "/" + name;
    };
    const std::string twice = R"({"keep": ["weight"], "define": ["id=number", "twice=number * 2"]} entries=)";
    const std::vector<std::string> parts = {written("part, 1.root", twice + "0:1000"), written("part, 2.root", twice + "1000:2500")};
    const std::string halves = written("halves.root", R"({"keep": ["list"], "define": ["id=number * 1.0", "half=number / 2"]})");
    const std::string by_id = R"({"on": {"number": "id"}} suffix=_b, force=true)";
    const std::string joined = folder + "/joined.root";
    const auto told = same<reports::joined>(basketry::join({events}, {parts, {halves}}, joined, by_id));
    HOLDS(told.entries == 3000 && told.right.size() == 2 && told.right[0].files == 2 && told.right[0].matched == 2500);
    HOLDS(told.key[0] == "number" && told.right[1].key[0] == "id" && told.right[1].missing == 0 && told.how == "left");
    const std::string by_each = R"({"on": {"number": "id=id"}} suffix=_b)";
    HOLDS(reports::join({events}, {parts, {halves}}, folder + "/each.root", by_each).right[1].matched == 3000);
    HOLDS(told.right[0].renamed[0].name == "weight_b" && told.right[0].missing_entries.size() == 500);
    HOLDS(reports::join({events}, {parts}, folder + "/inner.root", by_id + ", how=inner").written == 2500);

    // Fields that a newer library adds are ignored; one that is missing is named, with where it is.
    HOLDS(reports::parsed<reports::depths>(R"({"copy": 1, "recompress": 2, "regroup": 3, "recode": 4, "new": [1]})").recode == 4);
    for (const auto &[text, why] : std::vector<std::pair<std::string, std::string>>{
             {R"({"copy": 1, "recompress": 2, "regroup": 3})", "the report has no recode"}, {R"({"copy": "1"})", "copy: a value is not"}}) {
        try {
            reports::parsed<reports::depths>(text);
            HOLDS(false);
        } catch (const json::error &error) {
            HOLDS(std::string(error.what()).find(why) != std::string::npos);
        }
    }
    try {
        reports::merge({folder + "/absent.root"}, other);
        HOLDS(false);
    } catch (const basketry::error &error) {
        HOLDS(error.kind() == BASKETRY_ERROR_IO || error.kind() == BASKETRY_ERROR_REQUEST);
    }
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
