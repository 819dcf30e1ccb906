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
        verbs(folder);
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
