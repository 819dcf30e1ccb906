"""The structures of `basketry_report_types.hpp`, made from the types in Rust that the reports of verbs are. `python
tools/report_structs.py` writes the header; a test compares what is checked in. They are the types that `report_classes`
makes data classes of."""

from __future__ import annotations

import re
import textwrap

from report_types import REPO, Printed, without_links
from report_walk import TAG, Class, Walk

HEADER = REPO / "crates/capi/include/basketry_report_types.hpp"
#: The types of the reports, by the verb or what it is told.
ROOTS = {
    "rewrite, merge": "flow/src/rewrite/summary:Summary",
    "rewrite, merge with dry-run": "flow/src/rewrite/summary:Outlook",
    "verify": "flow/src/verify/verdict:Verdict",
    "recover": "flow/src/rewrite/recover/report:Recovery",
    "inspect": "lab/src/decide/inspect/report:Report",
    "tune": "lab/src/decide/tune/report:Report",
    "check": "flow/src/survey/check/report:Checked",
    "index": "flow/src/events/make_index:Indexed",
    "pick": "flow/src/events/pick:Picked",
    "join": "flow/src/join/report:Joined",
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
    "Extreme": "double",
}
#: What a member has before its value is read, where that is not what its type makes.
ZEROES = {"bool": "false", "double": "0", "std::uint64_t": "0", "std::int64_t": "0"}
#: Words of C++ that are names of fields.
WORDS = {
    "class",
    "default",
    "new",
    "delete",
    "operator",
    "register",
    "export",
    "friend",
    "private",
    "public",
    "union",
    "template",
}
WIDTH = 150
BEGIN = """// What reports of verbs say, for C++17 and newer: basketry_reports.hpp reads them.
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
"""
END = """
} // namespace reports
} // namespace basketry

#endif // BASKETRY_REPORT_TYPES_HPP
"""


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
