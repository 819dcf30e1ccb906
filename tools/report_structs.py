"""The structures of `basketry_reports.hpp`, made from the types in Rust that the reports of verbs are. `python
tools/report_structs.py` writes the header; a test compares what is checked in. They are the types that `report_classes`
makes data classes of."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from report_types import REPO, Printed, without_links
from report_walk import TAG, Class, Walk

if TYPE_CHECKING:
    from pathlib import Path

HEADER = REPO / "crates/capi/include/basketry_reports.hpp"
#: The types of the reports, by the verb or what it is told.
ROOTS = {
    "rewrite, merge": "flow/src/rewrite/summary:Summary",
    "rewrite, merge with dry-run": "flow/src/rewrite/summary:Outlook",
    "verify": "flow/src/verify/verdict:Verdict",
    "recover": "flow/src/rewrite/recover/report:Recovery",
    "inspect": "lab/src/decide/inspect/report:Report",
    "tune": "lab/src/decide/tune/report:Report",
    "check": "flow/src/survey/check/report:Checked",
}
#: Types that serialise themselves, or whose fields are not told.
TOLD = {
    "Container": "std::string",
    "Settings": "json::value",
    "HostInfo": "json::value",
    "Layout": "json::value",
    "Value": "json::value",
    "String": "std::string",
    "str": "std::string",
    "bool": "bool",
    "PathBuf": "std::string",
    "Path": "std::string",
    "f32": "double",
    "f64": "double",
}
#: What a member has before its value is read, where that is not what its type makes.
ZEROES = {"bool": "false", "double": "0", "std::uint64_t": "0", "std::int64_t": "0"}
#: Words of C++ that are names of fields.
WORDS = {"class", "default", "new", "delete", "operator", "register", "export", "private", "public", "union", "template"}
WIDTH = 150
BEGIN = '''// Reports of verbs as structures, for C++17 and newer. Made by tools/report_structs.py of the types in Rust: change these, not this.
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
'''
END = '''
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

/// Whether files are whole and can be read.
inline checked check(const std::vector<std::string> &inputs, const std::string &options = {}, const progress &told = {})
{
    return parsed<checked>(run("check", options, inputs, told));
}

} // namespace reports
} // namespace basketry

#endif // BASKETRY_REPORTS_HPP
'''


class Maker(Walk):
    """Makes the header."""

    def header(self) -> str:
        """Its text."""
        self.walk("reports", ROOTS.values())
        names = [self.named(made) for made in self._made.values()]
        if len(names) != len(set(names)):
            raise ValueError(f"two structures have one name: {sorted(names)}")
        return BEGIN + "".join(f"{line}\n" for made in self._made.values() for line in made.lines) + END

    def lines(self, made: Class, fields: list[Printed]) -> list[str]:
        """A structure, with what tells its members by their names."""
        lines, told = ["", *_comment(made.type.docs, ""), f"struct {self.named(made)} {{"], []
        is_tagged = any(one.is_tag for one in fields)
        names = "|".join(one.name for one in fields)
        for one in fields:
            # A structure that a member is named after needs its namespace.
            kind = re.sub(rf"(?<![:\w])({names})\b(?!:)", r"reports::\1", self.kind(one, made.module))
            name = f"{one.name}_" if one.name in WORDS else one.name
            zero = f" = {ZEROES[kind]}" if kind in ZEROES else ""
            lines += _comment(TAG if one.is_tag else one.docs, "    ")
            lines.append(f"    {kind} {name}{zero};")
            told.append(f'        see{".sometimes" if one.left_out else ""}("{one.name}", {name});')
        if is_tagged:
            lines += _comment("The numbers of the fault; docs/inspect-schema.md lists them by fault.", "    ")
            lines.append("    std::map<std::string, json::value> numbers;")
            told.append("        see.others(numbers);")
        lines += ["", "    template <typename See>", "    void each_field(See &&see)", "    {", *told, "    }", "};"]
        return lines

    def tuple_of(self, kinds: list[str]) -> str:
        """Values that lie one behind the other."""
        return f"std::tuple<{', '.join(kinds)}>"

    def list_of(self, kind: str) -> str:
        """Any number of values."""
        return f"std::vector<{kind}>"

    def optional(self, kind: str) -> str:
        """A value, or none. What is not looked into may be null."""
        return kind if kind == "json::value" else f"std::optional<{kind}>"

    def map_of(self, kind: str) -> str:
        """Values by their names."""
        return f"std::map<std::string, {kind}>"

    def whole(self, *, signed: bool) -> str:
        """A number without a fraction."""
        return "std::int64_t" if signed else "std::uint64_t"

    def told(self, name: str) -> str | None:
        """A type that is not looked into."""
        return TOLD.get(name)

    def texts(self, values: list[str]) -> str:  # noqa: ARG002
        """One of some texts, which the documentation of the field lists: a newer library may have more."""
        return "std::string"

    def named(self, made: Class) -> str:
        """A structure, spelled as the header's other classes are."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", made.name).lower()


def _comment(docs: str, indent: str) -> list[str]:
    """Documentation, without the links of Rust."""
    text = without_links(docs).replace("`None`", "none").replace("`Some`", "a value")
    wrapped = textwrap.wrap(text, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
    return [f"{indent}/// {line}" for line in wrapped]


def main() -> None:
    """Writes the header."""
    HEADER.write_text(Maker().header())


if __name__ == "__main__":
    main()
