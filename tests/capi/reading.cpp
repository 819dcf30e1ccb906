// An event loop over the file of slots.cpp, and the verbs. Usage: reading FOLDER ENTRIES
#include <basketry.hpp>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": not so: " #condition); \
        } \
    } while (0)

namespace {

void loop(const std::string &file, std::uint64_t entries, const std::string &columns)
{
    const basketry::dataset data({file}, "tree=Events");
    HOLDS(data.entries() == entries);
    basketry::scan_options options;
    options.columns = columns;
    options.batch_entries = 333;
    options.first = 10;
    auto events = data.loop(options);
    int number = 0;
    double weight = 0;
    std::array<float, 3> grid{};
    basketry::view<float> pt;
    basketry::view<basketry::view<int>> links;
    basketry::text tag;
    basketry::view<basketry::text> names;
    events.bind("number", number);
    events.bind("weight", weight);
    events.bind("tag", tag);
    events.bind("pt", pt);
    events.bind("links", links);
    events.bind("grid", grid);
    events.bind("names", names);
    std::uint64_t seen = 10;
    while (events.next()) {
        HOLDS(events.entry() == seen && number == static_cast<int>(seen) && weight == 0.25 * number);
        HOLDS(tag.str() == "event " + std::to_string(number) && grid[2] == static_cast<float>(number % 11));
        HOLDS(pt.size() == static_cast<std::size_t>(number % 6) && (pt.empty() || pt[0] == static_cast<float>(number)));
        HOLDS(links.size() == static_cast<std::size_t>(number % 3));
        for (std::size_t i = 0; i < links.size(); ++i) {
            HOLDS(links[i].size() == i + 1 && links[i][i] == number + static_cast<int>(i));
        }
        HOLDS(names.size() == static_cast<std::size_t>(number % 2));
        HOLDS(names.empty() || names[0].str() == "n" + std::to_string(number));
#if defined(__cpp_lib_span)
        const std::span<const float> items = pt;
        HOLDS(items.size() == pt.size());
#endif
        ++seen;
    }
    HOLDS(seen == entries);
    auto wrong = data.loop(options);
    float other = 0;
    try {
        wrong.bind("number", other);
        HOLDS(false);
    } catch (const basketry::error &e) {
        std::printf("%s\n", e.what());
    }
}

/// Entries of some files, of which a part passes a condition. The condition's columns need not be read.
std::vector<std::uint64_t> passing(const basketry::dataset &data, const basketry::scan_options &options, std::uint64_t each)
{
    auto events = data.loop(options);
    int number = -1;
    basketry::view<float> pt;
    events.bind("number", number);
    events.bind("pt", pt);
    std::vector<std::uint64_t> found;
    while (events.next()) {
        HOLDS(static_cast<std::uint64_t>(number) == events.entry() % each && pt.size() == static_cast<std::size_t>(number % 6));
        found.push_back(events.entry());
    }
    return found;
}

void conditions(const std::string &folder, std::uint64_t each)
{
    // The second file has other columns.
    const std::string all = folder + "/all.root";
    const std::string less = folder + "/less.root";
    basketry::rewrite(all, less, "drop=weight, force=true");
    for (const auto &data : {std::pair<std::vector<std::string>, std::string>{{all, all}, "tree=Events"}, {{all, less}, "tree=Events, join=common"}}) {
        const basketry::dataset both(data.first, data.second);
        HOLDS(both.entries() == 2 * each);
        for (const std::string cut : {"number % 7 == 3 && len(pt) > 1", "number % 7 == 3\n len(pt) > 1 ", "number < 0", "number >= 0"}) {
            for (const std::uint64_t batch : {0, 13}) {
                basketry::scan_options options;
                options.columns = "number,pt";
                options.cut = cut;
                options.first = 11;
                options.end = 2 * each - 5;
                options.threads = 2;
                options.batch_entries = batch;
                std::vector<std::uint64_t> expected;
                for (std::uint64_t entry = options.first; entry < options.end; ++entry) {
                    const std::uint64_t number = entry % each;
                    const bool passes = cut == "number < 0" ? false : cut == "number >= 0" ? true : number % 7 == 3 && number % 6 > 1;
                    if (passes) {
                        expected.push_back(entry);
                    }
                }
                HOLDS(passing(both, options, each) == expected);
            }
        }
        // A mistake is an error of the call, with the names that are near.
        for (const auto &[cut, why] : std::vector<std::pair<std::string, std::string>>{{"numbr > 1", "number"}, {"number >", "cut"}, {"pt", "cut"}}) {
            basketry::scan_options options;
            options.columns = "number";
            options.cut = cut;
            try {
                both.loop(options);
                HOLDS(false);
            } catch (const basketry::error &e) {
                HOLDS(e.kind() == BASKETRY_ERROR_REQUEST && std::string(e.what()).find(why) != std::string::npos);
                std::printf("%s\n", e.what());
            }
        }
    }
    // A column that one of the files lacks is filled in with zeroes.
    const basketry::dataset filled(std::vector<std::string>{all, less}, "tree=Events, join=fill");
    basketry::scan_options options;
    options.columns = "number,pt";
    options.cut = "weight == 0 || weight > 3";
    HOLDS(passing(filled, options, each).size() == 2 * each - 12);
    options.cut = "weight > 3";
    const auto found = passing(filled, options, each);
    HOLDS(found.size() == each - 13 && found.front() == 13 && found.back() == each - 1);
    // Of a range without that file it is there.
    options.columns = "number";
    options.end = each;
    auto events = filled.loop(options);
    int number = 0;
    events.bind("number", number);
    HOLDS(events.next() && number == 13 && events.entry() == 13);
}

void verbs(const std::string &folder)
{
    const std::string all = folder + "/all.root";
    std::uint64_t told = 0;
    const auto tell = [&](std::uint64_t more) {
        told += more;
        return true;
    };
    HOLDS(!basketry::merge({all, all}, folder + "/merged.root", "compression=zstd:3, force=true", tell).empty());
    HOLDS(told > 0);
    HOLDS(!basketry::rewrite(all, folder + "/again.root", "compression=lz4:4, force=true").empty());
    const std::string verdict = basketry::verify(all, folder + "/again.root");
    HOLDS(verdict.find("true") != std::string::npos);
    std::printf("%s\n", verdict.substr(0, 200).c_str());
    HOLDS(basketry::inspect(all).find("Events") != std::string::npos);
    try {
        basketry::merge({all, all}, folder + "/stopped.root", "compression=zstd:9", [](std::uint64_t) { return false; });
        HOLDS(false);
    } catch (const basketry::error &e) {
        HOLDS(e.kind() == BASKETRY_ERROR_INTERRUPTED);
    }
    try {
        basketry::run("inspect", "no-such-option=1", {all});
        HOLDS(false);
    } catch (const basketry::error &e) {
        HOLDS(e.kind() == BASKETRY_ERROR_REQUEST);
    }
}

} // namespace

int main(int argc, char **argv)
{
    try {
        HOLDS(argc == 3);
        const std::string folder = argv[1];
        loop(folder + "/all.root", static_cast<std::uint64_t>(std::atoll(argv[2])), "number,weight,tag,pt,links,grid,names");
        conditions(folder, static_cast<std::uint64_t>(std::atoll(argv[2])));
        verbs(folder);
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
