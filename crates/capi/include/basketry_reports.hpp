// Reports of verbs as structures, for C++17 and newer: basketry_report_types.hpp declares them.
//
// `basketry::reports::merge(...)` and its like run a verb as `basketry::merge(...)` does, and return its report as a structure. `parsed<T>` makes
// a structure of a JSON that is there already. A member is a std::optional where the report says null or nothing; a number that is no number is a
// NaN. Members that a newer library adds are ignored, one that the report lacks is a json::error. `each_field(see)` tells each member of a
// structure to `see`, with its name in the report.
#ifndef BASKETRY_REPORTS_HPP
#define BASKETRY_REPORTS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "basketry.hpp"
#include "basketry_json.hpp"
#include "basketry_report_types.hpp"

namespace basketry {
namespace reports {

namespace detail {

inline void read(const json::value &from, bool &into) { into = from.as_bool(); }
inline void read(const json::value &from, std::uint64_t &into) { into = from.as_unsigned(); }
inline void read(const json::value &from, std::int64_t &into) { into = from.as_signed(); }
inline void read(const json::value &from, double &into) { into = from.is_null() ? std::nan("") : from.as_double(); }
inline void read(const json::value &from, std::string &into) { into = from.as_text(); }
inline void read(const json::value &from, json::value &into) { into = from; }
class fields;
template <typename T>
auto read(const json::value &from, T &into) -> decltype(into.each_field(std::declval<fields &>()));
template <typename T>
void read(const json::value &from, std::optional<T> &into);
template <typename T>
void read(const json::value &from, std::vector<T> &into);
template <typename T>
void read(const json::value &from, std::map<std::string, T> &into);
template <typename... T>
void read(const json::value &from, std::tuple<T...> &into);

/// Reads the members of a structure, as its each_field tells them.
class fields {
public:
    explicit fields(const json::value &from) : from_(from) {}

    template <typename T>
    void operator()(const char *name, T &into)
    {
        const json::value *found = from_.find(name);
        if (found == nullptr) {
            throw json::error(std::string("the report has no ") + name);
        }
        set(name, *found, into);
    }

    /// A member that is left out where it does not apply.
    template <typename T>
    void sometimes(const char *name, T &into)
    {
        if (const json::value *found = from_.find(name)) {
            set(name, *found, into);
        } else {
            known_.emplace_back(name);
        }
    }

    /// All members that were not named.
    void others(std::map<std::string, json::value> &into)
    {
        for (const json::member &one : from_.as_object()) {
            bool is_known = false;
            for (const std::string &name : known_) {
                is_known = is_known || name == one.name;
            }
            if (!is_known) {
                into[one.name] = one.content;
            }
        }
    }

private:
    template <typename T>
    void set(const char *name, const json::value &found, T &into)
    {
        known_.emplace_back(name);
        try {
            read(found, into);
        } catch (const json::error &why) {
            throw json::error(std::string(name) + ": " + why.what());
        }
    }

    const json::value &from_;
    std::vector<std::string> known_;
};

template <typename T>
auto read(const json::value &from, T &into) -> decltype(into.each_field(std::declval<fields &>()))
{
    fields told(from);
    into.each_field(told);
}

template <typename T>
void read(const json::value &from, std::optional<T> &into)
{
    into.reset();
    if (!from.is_null()) {
        read(from, into.emplace());
    }
}

template <typename T>
void read(const json::value &from, std::vector<T> &into)
{
    into.clear();
    for (const json::value &one : from.as_array()) {
        T made{};
        read(one, made);
        into.push_back(std::move(made));
    }
}

template <typename T>
void read(const json::value &from, std::map<std::string, T> &into)
{
    into.clear();
    for (const json::member &one : from.as_object()) {
        read(one.content, into[one.name]);
    }
}

template <typename... T>
void read(const json::value &from, std::tuple<T...> &into)
{
    const auto &all = from.as_array();
    if (all.size() != sizeof...(T)) {
        throw json::error("an array has another number of items");
    }
    std::size_t at = 0;
    std::apply([&](auto &...parts) { (read(all[at++], parts), ...); }, into);
}

} // namespace detail

/// The structure of a report's JSON: `parsed<outlook>(basketry::merge(inputs, "", "dry-run=true"))`.
template <typename T>
T parsed(const std::string &text)
{
    T made;
    detail::read(json::parse(text), made);
    return made;
}

/// Makes one file of several: see basketry::merge.
inline summary merge(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = {},
                     const progress &told = {})
{
    return parsed<summary>(basketry::merge(inputs, output, options, told));
}

/// Writes a file anew in another layout: see basketry::rewrite.
inline summary rewrite(const std::string &input, const std::string &output, const std::string &options = {}, const progress &told = {})
{
    return parsed<summary>(basketry::rewrite(input, output, options, told));
}

/// Compares files value by value: see basketry::verify.
inline verdict verify(const std::string &one, const std::string &other, const std::string &options = {}, const progress &told = {})
{
    return parsed<verdict>(basketry::verify(one, other, options, told));
}

/// What is in a file, and how it is stored: see basketry::inspect.
inline inspection inspect(const std::string &input, const std::string &options = {})
{
    return parsed<inspection>(basketry::inspect(input, options));
}

/// Chooses a layout: see basketry::tune.
inline tuning tune(const std::string &input, const std::string &options = {}, const progress &told = {})
{
    return parsed<tuning>(basketry::tune(input, options, told));
}

/// Makes a file readable whose writer died: see basketry::recover.
inline recovery recover(const std::string &input, const std::string &output, const std::string &options = {}, const progress &told = {})
{
    return parsed<recovery>(basketry::recover(input, output, options, told));
}

/// Makes an index of the keys of files, or extends one: see basketry::index.
inline indexed index(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = {},
                     const progress &told = {})
{
    return parsed<indexed>(basketry::index(inputs, output, options, told));
}

/// Picks events of files into one: see basketry::pick.
inline picked pick(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = {},
                   const progress &told = {})
{
    return parsed<picked>(basketry::pick(inputs, output, options, told));
}

/// Sorts the entries of files by keys, into one: see basketry::sort.
inline summary sort(const std::vector<std::string> &inputs, const std::string &output, const std::string &options = {},
                    const progress &told = {})
{
    return parsed<summary>(basketry::sort(inputs, output, options, told));
}

/// Joins files by keys: see basketry::join.
inline joined join(const std::vector<std::string> &inputs, const std::vector<std::vector<std::string>> &others,
                   const std::string &output, const std::string &options = {}, const progress &told = {})
{
    return parsed<joined>(basketry::join(inputs, others, output, options, told));
}

/// Whether files are whole and can be read: see basketry::check.
inline checked check(const std::vector<std::string> &inputs, const std::string &options = {}, const progress &told = {})
{
    return parsed<checked>(basketry::check(inputs, options, told));
}

} // namespace reports
} // namespace basketry

#endif // BASKETRY_REPORTS_HPP
