// Waits that could be for each other: threads that hold memory with one context and want more with another one. None of them hangs, whatever
// is held by whom. Usage: cycles FOLDER
#include <basketry.hpp>

#include <array>
#include <cstdio>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": not so: " #condition); \
        } \
    } while (0)

/// Of each context: two clusters.
constexpr int ENTRIES = 12000;
using entry = std::array<double, 64>;

/// Several outputs, each with a table of half a kilobyte for an entry, and memory for about a cluster of each.
struct outputs {
    basketry::pool pool;
    std::vector<basketry::writer> writers;
    std::vector<basketry::writer::table> tables;
    std::vector<std::string> paths;

    outputs(const std::string &folder, std::size_t count, const std::string &settings) : pool((3 * count + 2) << 20U)
    {
        for (std::size_t i = 0; i < count; ++i) {
            paths.push_back(folder + "/cycle" + std::to_string(i) + ".root");
            writers.emplace_back(paths.back(), "compression=none, overwrite=true, cluster=3MB, " + settings, &pool);
            tables.push_back(writers.back().add_table("t", {basketry::column::of<double[64]>("x")}));
        }
    }

    /// Ends them: each has as many entries, and all kept near the budget.
    void finish(std::uint64_t entries)
    {
        const std::uint64_t most = writers.front().metrics().peak_held_bytes;
        std::printf("%lu bytes at most\n", static_cast<unsigned long>(most));
        for (std::size_t i = 0; i < writers.size(); ++i) {
            writers[i].finish();
            HOLDS(basketry::dataset({paths[i]}, "tree=t").entries() == entries);
            std::remove(paths[i].c_str());
        }
    }
};

/// Runs work on threads, and passes on what one of them throws.
template <typename Work>
void on_threads(std::size_t count, Work &&work)
{
    std::vector<std::thread> all;
    std::vector<std::exception_ptr> failed(count);
    for (std::size_t number = 0; number < count; ++number) {
        all.emplace_back([&, number] {
            try {
                work(number);
            } catch (...) {
                failed[number] = std::current_exception();
            }
        });
    }
    for (std::thread &one : all) {
        one.join();
    }
    for (const std::exception_ptr &one : failed) {
        if (one) {
            std::rethrow_exception(one);
        }
    }
}

/// One thread has a context of each of many outputs, whose clusters do not fit together.
void many_contexts_of_a_thread(const std::string &folder, const std::string &settings)
{
    outputs out(folder, 6, settings);
    std::vector<basketry::context> contexts;
    const entry x{1.5};
    for (std::size_t i = 0; i < out.writers.size(); ++i) {
        contexts.push_back(out.writers[i].fill_context(out.tables[i]));
        contexts.back().bind(0, &x);
    }
    for (int i = 0; i < ENTRIES; ++i) {
        for (auto &context : contexts) {
            context.fill();
        }
    }
    for (auto &context : contexts) {
        context.finish();
    }
    out.finish(ENTRIES);
}

/// Each thread fills the outputs in another order, and goes to the next one while it holds memory of the one before.
void orders_that_cross(const std::string &folder, const std::string &settings)
{
    const std::size_t count = 3;
    outputs out(folder, count, settings);
    on_threads(count, [&](std::size_t thread) {
        const entry x{2.5};
        std::vector<basketry::context> held;
        for (std::size_t step = 0; step < count; ++step) {
            const std::size_t to = (thread + step) % count;
            held.push_back(out.writers[to].fill_context(out.tables[to]));
            held.back().bind(0, &x);
            for (int i = 0; i < ENTRIES; ++i) {
                held.back().fill();
            }
        }
        for (auto &context : held) {
            context.finish();
        }
    });
    out.finish(count * ENTRIES);
}

/// Contexts go from thread to thread, each time with memory that the thread before has taken; a thread that waits holds its neighbour's.
void contexts_that_wander(const std::string &folder, const std::string &settings)
{
    const std::size_t count = 4;
    outputs out(folder, 1, settings);
    std::vector<basketry::context> contexts;
    std::vector<entry> values(count, entry{3.5});
    for (std::size_t i = 0; i < count; ++i) {
        contexts.push_back(out.writers[0].fill_context(out.tables[0]));
        contexts.back().bind(0, &values[i]);
    }
    std::mutex mutex;
    std::condition_variable all_here;
    std::size_t arrived = 0;
    on_threads(count, [&](std::size_t thread) {
        for (std::size_t round = 0; round < count; ++round) {
            auto &context = contexts[(thread + round) % count];
            for (int i = 0; i < ENTRIES / static_cast<int>(count); ++i) {
                context.fill();
            }
            std::unique_lock<std::mutex> lock(mutex);
            ++arrived;
            all_here.notify_all();
            all_here.wait(lock, [&] { return arrived >= count * (round + 1); });
        }
    });
    for (auto &context : contexts) {
        context.finish();
    }
    out.finish(count * ENTRIES);
}

/// All tasks but the first have filled the memory, and the thread of the first one waits for a thread of these.
void a_first_task_that_waits_for_others(const std::string &folder)
{
    outputs out(folder, 1, "order=tasks");
    std::mutex mutex;
    std::condition_variable ended;
    std::size_t done = 0;
    const std::size_t count = 4;
    on_threads(count, [&](std::size_t task) {
        const entry x{4.5};
        auto context = out.writers[0].fill_task(out.tables[0], task);
        context.bind(0, &x);
        if (task == 0) {
            std::unique_lock<std::mutex> lock(mutex);
            ended.wait(lock, [&] { return done == count - 1; });
        }
        for (int i = 0; i < ENTRIES; ++i) {
            context.fill();
        }
        context.finish();
        const std::lock_guard<std::mutex> lock(mutex);
        ++done;
        ended.notify_all();
    });
    out.finish(count * ENTRIES);
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const std::string folder = argc > 1 ? argv[1] : ".";
        for (const std::string settings : {"container=ttree", "container=rntuple"}) {
            many_contexts_of_a_thread(folder, settings);
            orders_that_cross(folder, settings);
            contexts_that_wander(folder, settings);
        }
        a_first_task_that_waits_for_others(folder);
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
