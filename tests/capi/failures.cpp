// What goes wrong: errors as objects, outputs that are given up, sinks, contexts that hand back to each other, small budgets.
// Usage: failures FOLDER
#include <basketry.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

// The allocator is the host's: the library calls neither of these.
static int tuned = 0;

extern "C" int mallopt(int, int)
{
    ++tuned;
    return 1;
}

extern "C" int malloc_trim(std::size_t)
{
    ++tuned;
    return 0;
}

namespace {

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": not so: " #condition); \
        } \
    } while (0)

template <typename Work>
basketry::error failing(Work &&work)
{
    try {
        work();
    } catch (const basketry::error &e) {
        std::printf("%d %s\n", e.kind(), e.what());
        return e;
    }
    throw std::runtime_error("did not fail");
}

std::vector<basketry::column> one_column() { return {basketry::column::of<double>("x")}; }

void errors(const std::string &folder)
{
    const std::string path = folder + "/errors.root";
    using basketry::writer;
    HOLDS(failing([&] { writer(folder + "/no/such/folder.root"); }).os() == 0);
    HOLDS(failing([&] { writer(path, "compresion=zstd:5"); }).kind() == BASKETRY_ERROR_REQUEST);
    HOLDS(failing([&] { writer(path, "memory=1kB"); }).hints().at(0).first == "memory");
    writer out(path, "compression=none");
    HOLDS(failing([&] { out.add_table("t", {{"x", "no::such<class>"}}); }).kind() != 0);
    HOLDS(failing([&] { out.add_table("t", {{"x", "std::vector<bool>"}}); }).object().find("x") != std::string::npos);
    HOLDS(failing([&] { out.fill_context(3); }).kind() == BASKETRY_ERROR_REQUEST);
    const auto table = out.add_table("t", one_column());
    auto context = out.fill_context(table);
    // An address is missing: nothing was added, but a part of an entry might be, so the output is given up.
    HOLDS(failing([&] { context.fill(); }).object() == "column x");
    HOLDS(failing([&] { out.finish(); }).kind() == BASKETRY_ERROR_REQUEST);
    HOLDS(!fs::exists(path));
    // Null pointers are errors, too.
    basketry_error *failed = nullptr;
    HOLDS(basketry_writer_new(nullptr, nullptr, nullptr, &failed) == nullptr && basketry_error_kind(failed) == BASKETRY_ERROR_REQUEST);
    basketry_error_free(failed);
    HOLDS(basketry_context_fill(nullptr, nullptr, nullptr) == BASKETRY_FAILED);
    basketry_writer_free(nullptr);
    basketry_pool_free(nullptr);
    basketry_error_free(nullptr);
    basketry_writer_options unset{};
    HOLDS(basketry_writer_new(path.c_str(), &unset, nullptr, &failed) == nullptr);
    HOLDS(std::string(basketry_error_message(failed)).find("sizeof") != std::string::npos);
    basketry_error_free(failed);
}

void given_up(const std::string &folder)
{
    const std::string path = folder + "/given-up.root";
    {
        basketry::writer out(path);
        auto context = out.fill_context(out.add_table("t", one_column()));
        double x = 1;
        context.bind(0, &x);
        context.fill();
        out.abandon("the job was stopped");
        HOLDS(std::string(failing([&] { context.finish(); }).what()).find("the job was stopped") != std::string::npos);
    }
    {
        // A context outlives its writer.
        auto out = std::make_unique<basketry::writer>(path);
        auto context = out->fill_context(out->add_table("t", one_column()));
        out.reset();
        double x = 1;
        context.bind(0, &x);
        context.fill();
        failing([&] { context.finish(); });
    }
    {
        // A context that is not finished.
        basketry::writer out(path);
        out.fill_context(out.add_table("t", one_column()));
        failing([&] { out.finish(); });
    }
    HOLDS(fs::is_empty(folder));
}

class memory : public basketry::sink {
public:
    std::vector<char> bytes;
    bool whole = false;
    bool abandoned = false;
    std::size_t most = static_cast<std::size_t>(-1);

    void write(std::uint64_t position, const void *from, std::size_t length) override
    {
        if (position + length > most) {
            throw std::runtime_error("full");
        }
        if (bytes.size() < position + length) {
            bytes.resize(position + length);
        }
        std::memcpy(bytes.data() + position, from, length);
    }
    void finish(std::uint64_t length) override { whole = length == bytes.size(); }
    void abandon() noexcept override { abandoned = true; }
};

void fill(basketry::writer &out, int entries)
{
    auto context = out.fill_context(out.add_table("t", one_column()));
    double x = 0;
    context.bind(0, &x);
    for (int i = 0; i < entries; ++i) {
        x = i;
        context.fill();
    }
    context.finish();
}

void sinks(const std::string &folder)
{
    memory kept;
    basketry::writer::options options;
    options.settings = "date=0";
    options.sink = &kept;
    {
        basketry::writer out("sink.root", options);
        fill(out, 10000);
        out.finish();
    }
    HOLDS(kept.whole && !kept.abandoned);
    basketry::writer out(folder + "/sink.root", "date=0");
    fill(out, 10000);
    HOLDS(out.finish() == kept.bytes.size());
    std::vector<char> written(kept.bytes.size());
    std::FILE *file = std::fopen((folder + "/sink.root").c_str(), "rb");
    HOLDS(file != nullptr && std::fread(written.data(), 1, written.size(), file) == written.size());
    std::fclose(file);
    HOLDS(written == kept.bytes);
    fs::remove(folder + "/sink.root");
    memory small;
    small.most = 2000;
    options.settings = "compression=none";
    options.sink = &small;
    {
        basketry::writer full("sink.root", options);
        HOLDS(failing([&] {
                  fill(full, 1000000);
                  full.finish();
              }).kind() == BASKETRY_ERROR_IO);
    }
    HOLDS(small.abandoned && !small.whole);
}

// Two tasks that only hand back: the first waits for memory that the second one holds, and the second is never asked to go on.
void handing_back(const std::string &folder)
{
    const basketry::pool pool(8U << 20U);
    basketry::writer out(folder + "/back.root", "order=tasks, compression=none, overwrite=true, cluster=3MB", &pool);
    const auto table = out.add_table("t", {basketry::column::of<double[64]>("x")});
    std::vector<double> entry(64, 1.5);
    std::vector<basketry::context> tasks;
    for (std::uint64_t task = 0; task < 6; ++task) {
        tasks.push_back(out.fill_task(table, task));
        tasks.back().bind(0, entry.data());
    }
    // The last tasks first: they fill up the memory, while those before them wait to begin.
    std::vector<int> filled(tasks.size(), 0);
    const int wanted = 8000;
    int refused = 0;
    for (bool all = false; !all;) {
        all = true;
        for (std::size_t i = tasks.size(); i-- > 0;) {
            while (filled[i] < wanted && tasks[i].try_fill()) {
                ++filled[i];
            }
            if (filled[i] < wanted) {
                ++refused;
                all = false;
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
    }
    for (auto &task : tasks) {
        task.finish();
    }
    const auto metrics = out.metrics();
    out.finish();
    std::printf("handed back %d times, %lu bytes of memory\n", refused, static_cast<unsigned long>(metrics.peak_held_bytes));
    // More than the budget of 8 MB: see the limits in docs/frameworks.md.
    HOLDS(metrics.peak_held_bytes < (14U << 20U));
    fs::remove(folder + "/back.root");
}

// A mutex of the framework's is held around each call, also while the call waits for memory that only others can release: it does not hang.
void framework_mutex(const std::string &folder)
{
    const basketry::pool pool(8U << 20U);
    basketry::writer out(folder + "/mutex.root", "order=tasks, compression=none, overwrite=true, cluster=3MB", &pool);
    const auto table = out.add_table("t", {basketry::column::of<double[64]>("x")});
    std::mutex framework;
    std::vector<std::thread> slots;
    std::string failed;
    for (std::uint64_t slot = 0; slot < 3; ++slot) {
        slots.emplace_back([&, slot] {
            try {
                // The slot with the first task comes last.
                std::this_thread::sleep_for(std::chrono::milliseconds(slot == 0 ? 50 : 0));
                const std::vector<double> entry(64, 2.5);
                for (std::uint64_t task = slot; task < 6; task += 3) {
                    auto context = out.fill_task(table, task);
                    context.bind(0, entry.data());
                    for (int i = 0; i < 8000; ++i) {
                        const std::lock_guard<std::mutex> held(framework);
                        context.fill();
                    }
                    const std::lock_guard<std::mutex> held(framework);
                    context.finish();
                }
            } catch (const std::exception &e) {
                const std::lock_guard<std::mutex> held(framework);
                failed = e.what();
            }
        });
    }
    for (std::thread &one : slots) {
        one.join();
    }
    if (!failed.empty()) {
        throw std::runtime_error(failed);
    }
    const auto metrics = out.metrics();
    out.finish();
    // More than the budget of 8 MB: see the limits in docs/frameworks.md.
    HOLDS(metrics.peak_held_bytes < (24U << 20U));
    fs::remove(folder + "/mutex.root");
}

// Threads of the host's in place of the library's.
void lent_threads(const std::string &folder)
{
    std::vector<std::thread> team;
    auto options = basketry_pool_options{};
    options.size = sizeof options;
    options.threads = 2;
    options.user = &team;
    options.submit = [](void *user, void (*work)(void *), void *argument) -> std::int32_t {
        static_cast<std::vector<std::thread> *>(user)->emplace_back(work, argument);
        return 0;
    };
    {
        const basketry::pool pool(options);
        HOLDS(team.size() == 2);
        basketry::writer out(folder + "/lent.root", "overwrite=true", &pool);
        fill(out, 200000);
        out.finish();
    }
    for (std::thread &one : team) {
        one.join();
    }
    fs::remove(folder + "/lent.root");
    options.submit = [](void *, void (*)(void *), void *) -> std::int32_t { return 1; };
    failing([&] { basketry::pool no(options); });
}

std::vector<void (*)(int)> handlers()
{
    std::vector<void (*)(int)> all;
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGSEGV, SIGXFSZ, SIGXCPU}) {
        struct sigaction now {};
        sigaction(number, nullptr, &now);
        all.push_back(now.sa_handler);
    }
    return all;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const std::string folder = argc > 1 ? argv[1] : ".";
        const auto before = handlers();
        errors(folder);
        given_up(folder);
        sinks(folder);
        handing_back(folder);
        framework_mutex(folder);
        lent_threads(folder);
        HOLDS(fs::is_empty(folder));
        HOLDS(tuned == 0 && handlers() == before);
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
