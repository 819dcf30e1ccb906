// Slots of a framework: tasks are filled by any number of threads, each from its own event by addresses, into two files that share one budget;
// a column comes late. With order=tasks the bytes do not depend on the threads.
// Usage: slots FOLDER CONTAINER THREADS TASKS WAYS, where WAYS is "wait" or "hand-back".
#include <basketry.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#if defined(BASKETRY_WITH_TBB)
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace {

struct hit {
    float x;
    int id;
};

struct event {
    int number = 0;
    double weight = 0;
    std::string tag;
    std::vector<float> pt;
    std::vector<std::vector<int>> links;
    std::vector<hit> hits;
    float grid[3] = {0, 0, 0};
    std::vector<std::string> names;
};

constexpr int each = 500;

void make(event &one, int number)
{
    one.number = number;
    one.weight = number * 0.25;
    one.tag = "event " + std::to_string(number);
    one.pt.assign(static_cast<std::size_t>(number % 6), static_cast<float>(number));
    one.links.resize(static_cast<std::size_t>(number % 3));
    for (std::size_t i = 0; i < one.links.size(); ++i) {
        one.links[i].assign(i + 1, number + static_cast<int>(i));
    }
    one.hits.clear();
    for (int i = 0; i < number % 4; ++i) {
        one.hits.push_back({static_cast<float>(number) + 0.5F * static_cast<float>(i), i});
    }
    one.grid[2] = static_cast<float>(number % 11);
    one.names.assign(static_cast<std::size_t>(number % 2), "n" + std::to_string(number));
}

std::vector<basketry::column> columns()
{
    using basketry::column;
    return {
        column::of<int>("number", offsetof(event, number)),
        column::of<double>("weight", offsetof(event, weight)),
        column::of<std::string>("tag", offsetof(event, tag)),
        column::of<std::vector<float>>("pt", offsetof(event, pt)),
        column::of<std::vector<std::vector<int>>>("links", offsetof(event, links)),
        column("hits", "std::vector<Hit>", offsetof(event, hits),
               {column::of<float>("x", offsetof(hit, x)), column::of<int>("id", offsetof(hit, id))}, sizeof(hit)),
        column::of<float[3]>("grid", offsetof(event, grid)),
        column::of<std::vector<std::string>>("names", offsetof(event, names)),
    };
}

struct job {
    basketry::writer &all;
    basketry::writer &small;
    basketry::writer::table events;
    basketry::writer::table numbers;
    std::size_t late;
    bool hands_back;
    std::atomic<int> refused{0};

    void fill(int task)
    {
        auto whole = all.fill_task(events, static_cast<std::uint64_t>(task));
        auto part = small.fill_task(numbers, static_cast<std::uint64_t>(task));
        event one;
        int trigger = 0;
        part.bind(0, &one.number);
        for (int i = 0; i < each; ++i) {
            make(one, task * each + i);
            // The late column begins in the second half of each task.
            if (i == each / 2) {
                whole.bind(late, &trigger);
            }
            trigger = i;
            if (hands_back) {
                while (!whole.try_fill(one)) {
                    ++refused;
                    std::this_thread::yield();
                }
            } else {
                whole.fill(one);
            }
            if (one.number % 10 == 0) {
                part.fill();
            }
        }
        whole.finish();
        part.finish();
    }
};

int run(int argc, char **argv)
{
    if (argc != 6) {
        return 2;
    }
    const std::string folder = argv[1];
    const std::string settings = "container=" + std::string(argv[2]) + ", overwrite=true, order=tasks, compression=lz4:1, cluster=2000";
    const int threads = std::atoi(argv[3]);
    const int tasks = std::atoi(argv[4]);
    const basketry::pool pool(64U << 20U);
    basketry::writer all(folder + "/all.root", settings + ", date=0", &pool);
    basketry::writer small(folder + "/small.root", settings + ", date=0", &pool);
    const auto events = all.add_table("Events", columns(), "", "events of a test");
    const auto numbers = small.add_table("dir/Numbers", {basketry::column::of<int>("number")});
    const std::size_t late = all.add_columns(events, {basketry::column::of<int>("trigger")});
    job work{all, small, events, numbers, late, std::string(argv[5]) == "hand-back"};
#if defined(BASKETRY_WITH_TBB)
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] { oneapi::tbb::parallel_for(0, tasks, [&](int task) { work.fill(task); }); });
#else
    std::atomic<int> next{0};
    std::vector<std::thread> team;
    std::string failed;
    std::mutex lock;
    for (int i = 0; i < threads; ++i) {
        team.emplace_back([&] {
            try {
                for (int task = next++; task < tasks; task = next++) {
                    work.fill(task);
                }
            } catch (const std::exception &e) {
                const std::lock_guard<std::mutex> held(lock);
                failed = e.what();
            }
        });
    }
    for (std::thread &one : team) {
        one.join();
    }
    if (!failed.empty()) {
        std::fprintf(stderr, "%s\n", failed.c_str());
        return 1;
    }
#endif
    const auto bytes = all.finish() + small.finish();
    std::printf("%lu bytes, %d times refused\n", static_cast<unsigned long>(bytes), work.refused.load());
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
