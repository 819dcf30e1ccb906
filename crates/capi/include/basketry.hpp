// basketry for C++17 and newer: basketry.h with owning handles and exceptions. Header only: it needs basketry.h and the library.
//
// Each class owns a handle and frees it; all can be moved and none copied. A function that fails throws basketry::error. What a call costs, and
// which threads may call it, is said at the function of basketry.h that it calls. Nothing here is kept by thread, and nothing is global.
#ifndef BASKETRY_HPP
#define BASKETRY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

#include "basketry.h"

namespace basketry {

/// What went wrong: the message of a basketry_error, and its parts.
class error : public std::runtime_error {
public:
    /// Takes an error object, and frees it.
    explicit error(basketry_error *from)
        : std::runtime_error(text(basketry_error_message(from), "failed without a message")),
          kind_(basketry_error_kind(from)), os_(basketry_error_os(from)), file_(text(basketry_error_file(from))),
          object_(text(basketry_error_object(from)))
    {
        std::uint64_t at = 0;
        if (basketry_error_offset(from, &at) != 0) {
            offset_ = at;
        }
        const char *name = nullptr;
        const char *value = nullptr;
        for (std::size_t i = 0; basketry_error_hint(from, i, &name, &value) != 0; ++i) {
            hints_.emplace_back(name, value);
        }
        basketry_error_free(from);
    }

    /// One of the BASKETRY_ERROR_ numbers.
    int kind() const noexcept { return kind_; }
    /// The system's number (errno), or 0.
    int os() const noexcept { return os_; }
    /// The file; empty if unknown.
    const std::string &file() const noexcept { return file_; }
    /// The object or argument; empty if unknown.
    const std::string &object() const noexcept { return object_; }
    /// The byte in the file, if known.
    const std::optional<std::uint64_t> &offset() const noexcept { return offset_; }
    /// Settings that the message names as ways out, with their values.
    const std::vector<std::pair<std::string, std::string>> &hints() const noexcept { return hints_; }

private:
    static std::string text(const char *from, const char *none = "") { return from != nullptr ? from : none; }

    int kind_;
    int os_;
    std::string file_;
    std::string object_;
    std::optional<std::uint64_t> offset_;
    std::vector<std::pair<std::string, std::string>> hints_;
};

namespace detail {

/// Throws if it is not done. The error is looked at only after the call that writes it, which may be an argument as well.
inline void check(bool done, basketry_error *const &failed)
{
    if (!done) {
        throw error(failed);
    }
}

template <typename T, void (*Free)(T *)>
struct deleter {
    void operator()(T *handle) const noexcept { Free(handle); }
};

template <typename T, void (*Free)(T *)>
using owned = std::unique_ptr<T, deleter<T, Free>>;

template <typename T>
T zeroed()
{
    T made{};
    made.size = sizeof(T);
    return made;
}

inline const char *given(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

/// Whether a std::string begins with a pointer to its bytes and their number, as that of GNU's library does.
inline bool string_is_plain()
{
    const std::string probe = "a text that is too long to be in the object itself, whatever the library is";
    struct {
        const char *first;
        std::size_t length;
    } begins{};
    static_assert(sizeof(std::string) >= sizeof begins);
    std::memcpy(&begins, static_cast<const void *>(&probe), sizeof begins);
    const std::string small = "s";
    const char *first = nullptr;
    std::memcpy(&first, static_cast<const void *>(&small), sizeof first);
    return begins.first == probe.data() && begins.length == probe.size() && first == small.data();
}

template <typename T, typename = void>
struct type_name;

#define BASKETRY_NUMBER(type, name) \
    template <> \
    struct type_name<type> { \
        static std::string get() { return name; } \
    }
BASKETRY_NUMBER(bool, "bool");
BASKETRY_NUMBER(char, "char");
BASKETRY_NUMBER(signed char, "std::int8_t");
BASKETRY_NUMBER(unsigned char, "std::uint8_t");
BASKETRY_NUMBER(float, "float");
BASKETRY_NUMBER(double, "double");
BASKETRY_NUMBER(std::string, "std::string");
#undef BASKETRY_NUMBER

/// Integers by their size: `long` and `long long` are one on disk.
template <typename T>
struct type_name<T, std::enable_if_t<std::is_integral_v<T> && (sizeof(T) > 1)>> {
    static std::string get() { return (std::is_signed_v<T> ? "std::int" : "std::uint") + std::to_string(8 * sizeof(T)) + "_t"; }
};

/// Enumerations are their integers.
template <typename T>
struct type_name<T, std::enable_if_t<std::is_enum_v<T>>> : type_name<std::underlying_type_t<T>> {};

template <typename T, typename A>
struct type_name<std::vector<T, A>> {
    static_assert(!std::is_same_v<T, bool>, "a std::vector<bool> has no addresses of its items: use std::vector<unsigned char>");
    static std::string get() { return "std::vector<" + type_name<T>::get() + ">"; }
};

template <typename T, std::size_t N>
struct type_name<std::array<T, N>> {
    static std::string get() { return "std::array<" + type_name<T>::get() + "," + std::to_string(N) + ">"; }
};

template <typename T, std::size_t N>
struct type_name<T[N]> {
    static std::string get() { return type_name<std::array<T, N>>::get(); }
};

} // namespace detail

/// The C++ type of a column, as it is written: numbers, std::string, std::vector, std::array and arrays of them.
template <typename T>
std::string type_of()
{
    return detail::type_name<std::remove_cv_t<T>>::get();
}

/// A column of a table, or a member of a structure.
class column {
public:
    /// A column of a type by its name.
    column(std::string name, std::string type, std::size_t offset = 0)
        : name_(std::move(name)), type_(std::move(type)), offset_(offset)
    {
    }

    /// A column of a structure, or of a container of structures, whose members are these.
    column(std::string name, std::string type, std::size_t offset, std::vector<column> members, std::size_t stride)
        : name_(std::move(name)), type_(std::move(type)), offset_(offset), members_(std::move(members)), stride_(stride)
    {
    }

    /// A column of a C++ type: `column::of<float>("pt", offsetof(event, pt))`.
    template <typename T>
    static column of(std::string name, std::size_t offset = 0)
    {
        return column(std::move(name), type_of<T>(), offset);
    }

    const std::string &name() const noexcept { return name_; }

private:
    friend class writer;

    /// The columns for C, which point into these and into `kept`.
    static std::vector<basketry_column> raw(const std::vector<column> &columns,
                                            std::vector<std::unique_ptr<std::vector<basketry_column>>> &kept)
    {
        std::vector<basketry_column> all;
        for (const column &one : columns) {
            auto made = detail::zeroed<basketry_column>();
            made.name = one.name_.c_str();
            made.type = one.type_.c_str();
            made.offset = one.offset_;
            made.stride = one.stride_;
            made.string_size = sizeof(std::string);
            if (!one.members_.empty()) {
                kept.push_back(std::make_unique<std::vector<basketry_column>>(raw(one.members_, kept)));
                made.members = kept.back()->data();
                made.member_count = kept.back()->size();
            }
            all.push_back(made);
        }
        return all;
    }

    std::string name_;
    std::string type_;
    std::size_t offset_;
    std::vector<column> members_;
    std::size_t stride_ = 0;
};

/// Memory and threads that writers share.
class pool {
public:
    /// So many bytes, and threads of its own; 0: the defaults of basketry_pool_options.
    explicit pool(std::uint64_t memory = 0, unsigned threads = 0)
    {
        auto options = detail::zeroed<basketry_pool_options>();
        options.memory = memory;
        options.threads = threads;
        basketry_error *failed = nullptr;
        handle_.reset(basketry_pool_new(&options, &failed));
        detail::check(handle_ != nullptr, failed);
    }

    /// With all options: threads of the host's.
    explicit pool(const basketry_pool_options &options)
    {
        basketry_error *failed = nullptr;
        handle_.reset(basketry_pool_new(&options, &failed));
        detail::check(handle_ != nullptr, failed);
    }

    basketry_pool *get() const noexcept { return handle_.get(); }

private:
    detail::owned<basketry_pool, basketry_pool_free> handle_;
};

/// Where the bytes of an output go, if not into a file: derive from it. Functions may throw.
class sink {
public:
    virtual ~sink() = default;
    /// Keeps bytes from a position on.
    virtual void write(std::uint64_t position, const void *bytes, std::size_t length) = 0;
    /// Returns when all bytes so far would survive a power cut.
    virtual void sync() {}
    /// The output is whole.
    virtual void finish(std::uint64_t) {}
    /// The output was given up.
    virtual void abandon() noexcept {}

    /// The functions for C. The sink must live as long as the writer and its contexts.
    basketry_sink raw() noexcept
    {
        auto made = detail::zeroed<basketry_sink>();
        made.user = this;
        made.write = [](void *user, std::uint64_t at, const void *bytes, std::size_t length) -> std::int32_t {
            return tried([&] { static_cast<sink *>(user)->write(at, bytes, length); });
        };
        made.sync = [](void *user) -> std::int32_t { return tried([&] { static_cast<sink *>(user)->sync(); }); };
        made.finish = [](void *user, std::uint64_t length) -> std::int32_t {
            return tried([&] { static_cast<sink *>(user)->finish(length); });
        };
        made.abandon = [](void *user) { static_cast<sink *>(user)->abandon(); };
        return made;
    }

private:
    /// No exception goes through the library: 5 is EIO.
    template <typename Work>
    static std::int32_t tried(Work &&work) noexcept
    {
        try {
            work();
            return 0;
        } catch (...) {
            return 5;
        }
    }
};

/// What one thread or task fills. One thread at a time may use it.
class context {
public:
    context() = default;
    explicit context(basketry_context *handle) : handle_(handle) {}

    /// Adds the rows of a batch of Arrow's, which is taken.
    void fill_arrow(ArrowArray *array, const ArrowSchema *schema)
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_context_fill_arrow(get(), array, schema, &failed) == 0, failed);
    }

    /// Adds the rows of a stream of Arrow's, which is taken.
    void fill_stream(ArrowArrayStream *stream)
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_context_fill_stream(get(), stream, &failed) == 0, failed);
    }

    /// Adds rows from one on without waiting: true when all are added, false to be called again later with the same batch and row.
    bool try_fill_arrow(const ArrowArray *array, const ArrowSchema *schema, std::size_t &row)
    {
        basketry_error *failed = nullptr;
        return waited(basketry_context_try_fill_arrow(get(), array, schema, &row, &failed), failed);
    }

    /// Sets where a column is in each entry, until it is set again.
    void bind(std::size_t number, const void *address)
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_context_bind(get(), number, address, &failed) == 0, failed);
    }

    /// Adds an entry of the values at the bound addresses.
    void fill()
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_context_fill(get(), nullptr, &failed) == 0, failed);
    }

    /// Adds an entry: a structure by whose offsets the columns were declared.
    template <typename T>
    void fill(const T &entry)
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_context_fill(get(), static_cast<const void *>(&entry), &failed) == 0, failed);
    }

    /// Adds entries that lie one behind the other.
    template <typename T>
    void fill(const T *entries, std::size_t count)
    {
        basketry_error *failed = nullptr;
        const int done = basketry_context_fill_rows(get(), static_cast<const void *>(entries), count, sizeof(T), &failed);
        detail::check(done == 0, failed);
    }

#if defined(__cpp_lib_span)
    /// Adds entries that lie one behind the other.
    template <typename T, std::size_t N>
    void fill(std::span<T, N> entries)
    {
        fill(entries.data(), entries.size());
    }
#endif

    /// The same as fill() without waiting: true when the entry is added, false to be called again later.
    bool try_fill()
    {
        basketry_error *failed = nullptr;
        return waited(basketry_context_try_fill(get(), nullptr, &failed), failed);
    }

    template <typename T>
    bool try_fill(const T &entry)
    {
        basketry_error *failed = nullptr;
        return waited(basketry_context_try_fill(get(), static_cast<const void *>(&entry), &failed), failed);
    }

    /// Ends the cluster here.
    void flush()
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_context_flush(get(), &failed) == 0, failed);
    }

    /// Ends the context. One that is destroyed before gives the output up.
    void finish()
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_context_finish(get(), &failed) == 0, failed);
    }

    basketry_context *get() const noexcept { return handle_.get(); }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

private:
    static bool waited(int done, basketry_error *const &failed)
    {
        detail::check(done >= 0, failed);
        return done == BASKETRY_OK;
    }

    detail::owned<basketry_context, basketry_context_free> handle_;
};

/// A file in work. Any thread may use it.
class writer {
public:
    /// What a writer is asked for: see basketry_writer_options.
    struct options {
        std::string settings;
        std::string layout;
        std::string title;
        std::string classes;
        basketry::sink *sink = nullptr;
    };

    /// The number of a table.
    using table = std::int64_t;

    /// Begins a file, with all options.
    writer(const std::string &path, const options &asked, const pool *shared = nullptr)
    {
        auto made = detail::zeroed<basketry_writer_options>();
        made.settings = detail::given(asked.settings);
        made.layout = detail::given(asked.layout);
        made.title = detail::given(asked.title);
        made.classes = detail::given(asked.classes);
        auto functions = detail::zeroed<basketry_sink>();
        if (asked.sink != nullptr) {
            functions = asked.sink->raw();
            made.sink = &functions;
        }
        basketry_error *failed = nullptr;
        handle_.reset(basketry_writer_new(path.c_str(), &made, shared != nullptr ? shared->get() : nullptr, &failed));
        detail::check(handle_ != nullptr, failed);
    }

    /// Begins a file: `writer("out.root", "compression=zstd:5, container=rntuple")`.
    explicit writer(const std::string &path, const std::string &settings = {}, const pool *shared = nullptr)
        : writer(path, with(settings), shared)
    {
    }

    /// Adds a table with columns of C++ types.
    table add_table(const std::string &path, const std::vector<column> &columns, const std::string &settings = {},
                    const std::string &title = {})
    {
        if (!detail::string_is_plain()) {
            for (const column &one : columns) {
                if (one.type_.find("string") != std::string::npos) {
                    throw std::logic_error("column " + one.name_ + ": this library's std::string does not begin with a pointer and a length; "
                                           "bind a basketry_items, or fill by Arrow");
                }
            }
        }
        std::vector<std::unique_ptr<std::vector<basketry_column>>> kept;
        const std::vector<basketry_column> raw = column::raw(columns, kept);
        const auto made = of_table(settings, title);
        basketry_error *failed = nullptr;
        return added(basketry_writer_table(get(), path.c_str(), raw.data(), raw.size(), &made, &failed), failed);
    }

    /// Adds a table with the columns of an Arrow schema.
    table add_table(const std::string &path, const ArrowSchema *schema, const std::string &settings = {},
                    const std::string &title = {})
    {
        const auto made = of_table(settings, title);
        basketry_error *failed = nullptr;
        return added(basketry_writer_table_arrow(get(), path.c_str(), schema, &made, &failed), failed);
    }

    /// Adds a table with a column for each member of a class of the options' `classes`.
    table add_table_of_class(const std::string &path, const std::string &class_name, const std::string &settings = {},
                             const std::string &title = {})
    {
        const auto made = of_table(settings, title);
        basketry_error *failed = nullptr;
        return added(basketry_writer_table_class(get(), path.c_str(), class_name.c_str(), &made, &failed), failed);
    }

    /// Adds columns to a table that is being filled. Returns the number of the first one, for context::bind.
    std::size_t add_columns(table number, const std::vector<column> &columns)
    {
        std::vector<std::unique_ptr<std::vector<basketry_column>>> kept;
        const std::vector<basketry_column> raw = column::raw(columns, kept);
        basketry_error *failed = nullptr;
        const std::int64_t first = basketry_writer_add_columns(get(), number, raw.data(), raw.size(), &failed);
        return static_cast<std::size_t>(added(first, failed));
    }

    /// Adds the columns of an Arrow schema to a table that is being filled.
    void add_columns(table number, const ArrowSchema *schema)
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_writer_add_columns_arrow(get(), number, schema, &failed) == 0, failed);
    }

    /// Makes a directory and its parents.
    void mkdir(const std::string &path)
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_writer_mkdir(get(), path.c_str(), &failed) == 0, failed);
    }

    /// What one thread fills; with order=tasks the next task.
    context fill_context(table number)
    {
        basketry_error *failed = nullptr;
        basketry_context *made = basketry_context_new(get(), number, &failed);
        detail::check(made != nullptr, failed);
        return context(made);
    }

    /// What the task of a number fills.
    context fill_task(table number, std::uint64_t task)
    {
        basketry_error *failed = nullptr;
        basketry_context *made = basketry_context_task(get(), number, task, &failed);
        detail::check(made != nullptr, failed);
        return context(made);
    }

    /// Saves the metadata of all tables now.
    void save()
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_writer_save(get(), &failed) == 0, failed);
    }

    basketry_metrics metrics() const
    {
        auto made = detail::zeroed<basketry_metrics>();
        basketry_error *failed = nullptr;
        detail::check(basketry_writer_metrics(get(), &made, &failed) == 0, failed);
        return made;
    }

    /// Ends the file, and returns its size. A writer that is destroyed before gives it up.
    std::uint64_t finish()
    {
        std::uint64_t bytes = 0;
        basketry_error *failed = nullptr;
        detail::check(basketry_writer_finish(get(), &bytes, &failed) == 0, failed);
        return bytes;
    }

    /// Gives the file up.
    void abandon(const std::string &why) noexcept { basketry_writer_abandon(get(), why.c_str()); }

    basketry_writer *get() const noexcept { return handle_.get(); }

private:
    static options with(const std::string &settings)
    {
        options made;
        made.settings = settings;
        return made;
    }

    static basketry_table_options of_table(const std::string &settings, const std::string &title)
    {
        auto made = detail::zeroed<basketry_table_options>();
        made.settings = detail::given(settings);
        made.title = detail::given(title);
        return made;
    }

    static table added(std::int64_t number, basketry_error *const &failed)
    {
        detail::check(number >= 0, failed);
        return number;
    }

    detail::owned<basketry_writer, basketry_writer_free> handle_;
};

/// What is read of a data set: see basketry_scan_options.
struct scan_options {
    /// Names or patterns, divided by commas; empty: all.
    std::string columns;
    /// The first entry.
    std::uint64_t first = 0;
    /// The entry behind the last one; 0: the end.
    std::uint64_t end = 0;
    /// Entries of a batch; 0: those of a cluster.
    std::uint64_t batch_entries = 0;
    /// Bytes of a batch; 0: those of a cluster.
    std::uint64_t batch_bytes = 0;
    /// Bytes beside the batches; 0: 1 GiB.
    std::uint64_t memory = 0;
    /// Threads; 0: one.
    unsigned threads = 0;
    /// A condition on entries, or several, one a line: `nMuon > 1`; empty: all entries.
    std::string cut;

    basketry_scan_options raw() const
    {
        auto made = detail::zeroed<basketry_scan_options>();
        made.columns = detail::given(columns);
        made.first = first;
        made.end = end;
        made.batch_entries = batch_entries;
        made.batch_bytes = batch_bytes;
        made.memory = memory;
        made.threads = threads;
        made.cut = detail::given(cut);
        return made;
    }
};

/// Items of a list that an event loop has read. They stay until the next entry is read.
template <typename T>
class view {
public:
    const T *data() const noexcept { return static_cast<const T *>(items_.first); }
    std::size_t size() const noexcept { return items_.count; }
    bool empty() const noexcept { return items_.count == 0; }
    const T *begin() const noexcept { return data(); }
    const T *end() const noexcept { return data() + items_.count; }
    const T &operator[](std::size_t number) const noexcept { return data()[number]; }
#if defined(__cpp_lib_span)
    operator std::span<const T>() const noexcept { return {data(), size()}; }
#endif

private:
    /// Nothing else, so that arrays of views are arrays of these.
    basketry_items items_{nullptr, 0};
};

/// A text that an event loop has read.
class text : public view<char> {
public:
    operator std::string_view() const noexcept { return {data(), size()}; }
    std::string str() const { return {data(), size()}; }
};

namespace detail {

template <typename T>
struct type_name<view<T>> {
    static std::string get() { return "std::vector<" + type_name<T>::get() + ">"; }
};

template <>
struct type_name<text> {
    static std::string get() { return "std::string"; }
};

} // namespace detail

/// A loop over entries, with the values in the program's variables: `while (events.next()) ...`.
class events {
public:
    events(const basketry_dataset *of, const scan_options &asked)
    {
        const auto options = asked.raw();
        basketry_error *failed = nullptr;
        handle_.reset(basketry_events_new(of, &options, &failed));
        detail::check(handle_ != nullptr, failed);
    }

    /// Sets where the values of a column go: a number, a std::array of numbers, a view of numbers or of views, a text.
    template <typename T>
    void bind(const std::string &name, T &place)
    {
        const std::string type = type_of<T>();
        basketry_error *failed = nullptr;
        const int done = basketry_events_bind(get(), name.c_str(), type.c_str(), static_cast<void *>(&place), &failed);
        detail::check(done == 0, failed);
    }

    /// Reads the next entry. False after the last.
    bool next()
    {
        basketry_error *failed = nullptr;
        const int done = basketry_events_next(get(), &failed);
        detail::check(done >= 0, failed);
        return done == BASKETRY_OK;
    }

    /// The number of the entry.
    std::uint64_t entry() const noexcept { return basketry_events_entry(get()); }

    basketry_events *get() const noexcept { return handle_.get(); }

private:
    detail::owned<basketry_events, basketry_events_free> handle_;
};

/// A tree, an RNTuple or a Parquet file, or many files as one table. Any thread may use it.
class dataset {
public:
    /// Opens files, URLs and patterns as one table: see basketry_dataset_open.
    explicit dataset(const std::vector<std::string> &inputs, const std::string &settings = {})
    {
        std::vector<const char *> names;
        for (const std::string &input : inputs) {
            names.push_back(input.c_str());
        }
        basketry_error *failed = nullptr;
        handle_.reset(basketry_dataset_open(names.data(), names.size(), detail::given(settings), &failed));
        detail::check(handle_ != nullptr, failed);
    }

    /// Opens a file: `dataset("run*.root:Events")`.
    explicit dataset(const std::string &input) : dataset(std::vector<std::string>{input}) {}

    /// Entries of all files.
    std::uint64_t entries() const noexcept { return basketry_dataset_entries(get()); }

    /// Writes the schema of columns, which the caller releases.
    void schema(ArrowSchema *place, const std::string &columns = {}) const
    {
        basketry_error *failed = nullptr;
        detail::check(basketry_dataset_schema(get(), detail::given(columns), place, &failed) == 0, failed);
    }

    /// Reads entries as a stream, which the caller releases.
    void scan(ArrowArrayStream *place, const scan_options &asked = {}) const
    {
        const auto options = asked.raw();
        basketry_error *failed = nullptr;
        detail::check(basketry_dataset_scan(get(), &options, place, &failed) == 0, failed);
    }

    /// A loop over entries.
    events loop(const scan_options &asked = {}) const { return events(get(), asked); }

    basketry_dataset *get() const noexcept { return handle_.get(); }

private:
    detail::owned<basketry_dataset, basketry_dataset_free> handle_;
};

/// Called with how much more is done; false ends the work.
using progress = std::function<bool(std::uint64_t more)>;

/// Runs a verb of the command, and returns its report as JSON: `run("merge", "output=all.root", {"a.root", "b.root"})`.
inline std::string run(const std::string &verb, const std::string &options, const std::vector<std::string> &inputs,
                       const progress &told = {})
{
    std::vector<const char *> names;
    for (const std::string &input : inputs) {
        names.push_back(input.c_str());
    }
    const auto tell = [](void *user, std::uint64_t more) -> std::int32_t {
        try {
            return (*static_cast<const progress *>(user))(more) ? 0 : 1;
        } catch (...) {
            return 1;
        }
    };
    basketry_error *failed = nullptr;
    const std::unique_ptr<char, void (*)(char *)> report(
        basketry_verb(verb.c_str(), detail::given(options), names.data(), names.size(),
                      told ? static_cast<std::int32_t (*)(void *, std::uint64_t)>(tell) : nullptr,
                      const_cast<void *>(static_cast<const void *>(&told)), &failed),
        basketry_text_free);
    detail::check(report != nullptr, failed);
    return report.get();
}

namespace detail {

/// A text as JSON.
inline std::string quoted(const std::string &text)
{
    std::string made = "\"";
    for (const char letter : text) {
        if (static_cast<unsigned char>(letter) < 0x20) {
            const char *digits = "0123456789abcdef";
            made += std::string("\\u00") + digits[letter >> 4] + digits[letter & 15];
        } else {
            made += letter == '"' || letter == '\\' ? std::string("\\") + letter : std::string(1, letter);
        }
    }
    return made + '"';
}

/// The options of a verb with an output: its name may have commas, and settings may not.
inline std::string with_output(const std::string &output, const std::string &options)
{
    return "{\"output\": " + quoted(output) + "} " + options;
}

} // namespace detail

/// Makes one file of several. `options` are further options of the verb, as settings or JSON: see basketry_verb. With `unique=event` each
/// key is kept once; with `by=event` sorted inputs are merged into one that is sorted.
inline std::string merge(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = {},
                         const progress &told = {})
{
    return run("merge", detail::with_output(output, options), inputs, told);
}

/// Makes an index of the keys of files, or extends one: `options` have its key (`key=run, key=event`).
inline std::string index(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = {},
                         const progress &told = {})
{
    return run("index", detail::with_output(output, options), inputs, told);
}

/// Picks events of files into one: `options` have them, or an index (`events=picked.txt, index=events.parquet`).
inline std::string pick(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = {},
                        const progress &told = {})
{
    return run("pick", detail::with_output(output, options), inputs, told);
}

/// Sorts the entries of files by keys, into one: `options` have them (`by=run, by=event`).
inline std::string sort(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = {},
                        const progress &told = {})
{
    return run("sort", detail::with_output(output, options), inputs, told);
}

/// Joins files by keys: to each entry of `inputs` the columns of the entry with the same key in `others`, the files of each table on the
/// right. `options` have the key (`on=run, on=event=number` where the right calls it otherwise, `on=event=number=id` with a name for each
/// table).
inline std::string join(const std::vector<std::string> &inputs, const std::vector<std::vector<std::string>> &others,
                        const std::string &output, const std::string &options = {}, const progress &told = {})
{
    std::string with;
    for (const std::vector<std::string> &files : others) {
        std::string lines;
        for (const std::string &file : files) {
            lines += file + '\n';
        }
        with += (with.empty() ? "" : ", ") + detail::quoted(lines);
    }
    return run("join", "{\"with\": [" + with + "]} " + detail::with_output(output, options), inputs, told);
}

/// Whether files are whole and can be read. With `keys=event` entries with the key of another are found as well.
inline std::string check(const std::vector<std::string> &inputs, const std::string &options = {}, const progress &told = {})
{
    return run("check", options, inputs, told);
}

/// Writes a file anew in another layout.
inline std::string rewrite(const std::string &input, const std::string &output, const std::string &options = {},
                           const progress &told = {})
{
    return run("rewrite", detail::with_output(output, options), {input}, told);
}

/// Compares files value by value. The report says whether they are equal.
inline std::string verify(const std::string &one, const std::string &other, const std::string &options = {},
                          const progress &told = {})
{
    return run("verify", options, {one, other}, told);
}

/// What is in a file, and how it is stored.
inline std::string inspect(const std::string &input, const std::string &options = {}) { return run("inspect", options, {input}); }

/// Chooses a layout.
inline std::string tune(const std::string &input, const std::string &options = {}, const progress &told = {})
{
    return run("tune", options, {input}, told);
}

/// Makes a file readable whose writer died.
inline std::string recover(const std::string &input, const std::string &output, const std::string &options = {},
                           const progress &told = {})
{
    return run("recover", detail::with_output(output, options), {input}, told);
}

} // namespace basketry

#endif // BASKETRY_HPP
