"""The data classes of `basketry.reports`, made from the types in Rust that the reports are. `python
tools/report_classes.py` writes them; a test compares what is checked in. `report_types` reads the sources, and
`report_walk` follows them."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from report_types import REPO, Printed, quoted, without_links
from report_walk import TAG, Class, Walk

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = REPO / "python/basketry/reports"
#: The modules with their purpose, and the types that each begins with. A type is in the first module that needs it.
MODULES = {
    "values": (
        "Parts of the report of `inspect` that trees and RNTuples have in common.",
        [
            f"lab/src/decide/inspect/values:{name}"
            for name in ("Sizes", "Memory", "Spread", "ReadTime", "Trial", "Mixed")
        ],
    ),
    "ntuples": (
        "RNTuples in the report of `inspect`; see docs/inspect-schema.md.",
        ["lab/src/decide/inspect/ntuple/report:NtupleReport"],
    ),
    "inspecting": ("Report of `inspect`; see docs/inspect-schema.md.", ["lab/src/decide/inspect/report:Report"]),
    "looking": (
        "Reports of `ls`, `show`, `count`, `schema`, `stats` and `draw`.",
        [
            "lab/src/look/listing:Listing",
            "lab/src/look/count:Counts",
            "lab/src/look/schema:TableColumns",
            "lab/src/look/rows:Rows",
            "lab/src/look/statistics:TableStatistics",
            "lab/src/look/draw/report:Drawing",
        ],
    ),
    "making": (
        "Reports of `rewrite`, `merge` and `convert`.",
        [
            "flow/src/rewrite/summary:Summary",
            "flow/src/rewrite/summary:Outlook",
            "flow/src/rewrite/parquet/report:Converted",
        ],
    ),
    "proving": (
        "Reports of `verify` and `recover`: what files have in common, and what is left of a broken one.",
        ["flow/src/verify/verdict:Verdict", "flow/src/rewrite/recover/report:Recovery"],
    ),
    "editing": (
        "Reports of `cp`, `mv`, `rm`, `mkdir` and `split`.",
        ["flow/src/edit/report:Edited", "flow/src/split/report:SplitReport"],
    ),
    "monitoring": (
        "Report of `Monitor` and of `basketry monitor --json`. Times are in seconds, memory and sizes in bytes.",
        ["lab/src/measure/monitor/summary:Summary"],
    ),
    "reading": ("Report of `readspeed`; see docs/readspeed-schema.md.", ["lab/src/measure/readspeed/report:Report"]),
    "reducing": ("Report of `precision`; see docs/precision-schema.md.", ["lab/src/decide/precision/report:Report"]),
    "surveying": (
        "Reports of `check` and `fileset`.",
        ["flow/src/survey/check/report:Checked", "flow/src/survey/fileset:FilesetReport"],
    ),
    "finding": (
        "Reports of `index`, `pick` and `join`; see docs/index-schema.md.",
        ["flow/src/events/make_index:Indexed", "flow/src/events/pick:Picked", "flow/src/join/report:Joined"],
    ),
    "sweeping": (
        "Report of `sweep`; see docs/sweep-schema.md.",
        ["lab/src/measure/sweep/findings:Findings", "lab/src/measure/sweep/plan:Estimate"],
    ),
    "tasks": (
        "Reports of `plan`, `run_task` and `collect`.",
        ["lab/src/jobs/model:Jobs", "lab/src/jobs/state:State", "lab/src/jobs/collect:Collected"],
    ),
    "tuning": ("Report of `tune`; see docs/tune-schema.md.", ["lab/src/decide/tune/report:Report"]),
    "generating": ("Reports of `generate`.", ["lab/src/synthetic/generate:Ran"]),
}
#: Types that serialise themselves, or whose fields are not told.
TOLD = {
    "Container": 'Literal["rntuple", "ttree"]',
    "Fileset": "dict[str, Any]",
    "Settings": "dict[str, Any]",
    "HostInfo": "dict[str, Any]",
    "Layout": "dict[str, Any]",
    "Value": "Any",
    "Cell": "Any",
    "String": "str",
    "str": "str",
    "bool": "bool",
    "PathBuf": "Path",
    "Path": "Path",
    "f32": "float",
    "f64": "float",
    "Extreme": "int | float",
}
WIDTH = 120
NUMBERS = '''    numbers: dict[str, int | float | str | list[str]]
    """The numbers of the fault; docs/inspect-schema.md lists them by fault."""
'''


class Maker(Walk):
    """Makes the modules."""

    def modules(self) -> dict[Path, str]:
        """The text of each file."""
        for module, (_, roots) in MODULES.items():
            self.walk(module, roots)
        return {FOLDER / f"{module}.py": self._text(module) for module in MODULES}

    def lines(self, made: Class, fields: list[Printed]) -> list[str]:
        """A data class."""
        lines = ["", "", "@dataclass(frozen=True, slots=True, kw_only=True, repr=False)", f"class {made.name}(Shown):"]
        lines += [_docstring(made.type.docs), ""]
        for field_ in fields:
            name = f"{field_.name}_" if field_.name in ("class", "from") else field_.name
            kind = self.kind(field_, made.module)
            lines.append(_annotated(f"    {name}: {kind}{_default(kind) if field_.left_out else ''}"))
            lines.append(_docstring(TAG if field_.is_tag else field_.docs))
        if any(field_.is_tag for field_ in fields):
            lines.append(NUMBERS.rstrip("\n"))
        return lines

    def tuple_of(self, kinds: list[str]) -> str:
        """Values that lie one behind the other."""
        return f"tuple[{', '.join(kinds)}]"

    def list_of(self, kind: str) -> str:
        """Any number of values."""
        return f"tuple[{kind}, ...]"

    def optional(self, kind: str) -> str:
        """A value, or none."""
        return kind if kind == "Any" else f"{kind} | None"

    def map_of(self, kind: str) -> str:
        """Values by their names."""
        return f"dict[str, {kind}]"

    def whole(self, *, signed: bool) -> str:  # noqa: ARG002
        """A number without a fraction."""
        return "int"

    def told(self, name: str) -> str | None:
        """A type that is not looked into."""
        return TOLD.get(name)

    def texts(self, values: list[str]) -> str:
        """One of some texts."""
        return f"Literal[{', '.join(map(quoted, values))}]"

    def named(self, made: Class) -> str:
        """A class."""
        return made.name

    def _text(self, module: str) -> str:
        own = [one for one in self._made.values() if one.module == module]
        body = "\n".join(line for one in own for line in one.lines)
        lines = [f'"""{MODULES[module][0]}"""', ""]
        others = [one for one in self._made.values() if one.module != module]
        used: dict[str, set[str]] = {"shown": {"Shown"}}
        for one in others:
            if self._names(own, one):
                used.setdefault(one.module, set()).add(one.name)
        tools = "dataclass, field" if " = field(" in body else "dataclass"
        standard = [f"from dataclasses import {tools}"]
        if re.search(r"^    \w+: .*\bPath\b", body, re.MULTILINE):
            standard.append("from pathlib import Path")
        typing = [name for name in ("Any", "Literal") if re.search(rf"^    \w+: .*\b{name}\b", body, re.MULTILINE)]
        if typing:
            standard.append(f"from typing import {', '.join(typing)}")
        lines += standard
        if used:
            lines.append("")
            lines += [f"from .{name} import {', '.join(sorted(used[name]))}" for name in sorted(used)]
        return "\n".join(lines) + "\n" + body + "\n"

    def _names(self, own: list[Class], other: Class) -> bool:
        """Whether a field of these classes has the type of another module's class, and not one of its own name."""
        if any(one.name == other.name for one in own):
            return False
        return any(re.match(rf"    \w+: .*\b{other.name}\b", line) for one in own for line in one.lines)


def _default(kind: str) -> str:
    """What a field has that is left out of the JSON."""
    if kind.endswith("| None"):
        return " = None"
    if kind.startswith("dict["):
        return " = field(default_factory=dict)"
    return {"str": ' = ""', "int": " = 0", "float": " = 0.0", "bool": " = False"}.get(kind, " = ()")


def _annotated(line: str) -> str:
    """A field, as ruff formats it where it is long."""
    if len(line) <= WIDTH:
        return line
    before, _, rest = line.partition("[")
    inside, _, behind = rest.rpartition("]")
    lines = [f"        {inside}"]
    if len(lines[0]) > WIDTH:
        lines = [f"        {one}," for one in inside.split(", ")]
    return "\n".join([f"{before}[", *lines, f"    ]{behind}"])


def _docstring(docs: str) -> str:
    """A docstring, without the links of Rust."""
    text = (
        without_links(docs)
        .replace("`None`", "None")
        .replace("`Some`", "a value")
        .replace("`true`", "True")
        .replace("`false`", "False")
    )
    text = f" {text}" if text.startswith('"') else text
    text = f"{text} " if text.endswith('"') else text
    wrapped = textwrap.wrap(f'"""{text}"""', WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"    {line}" for line in wrapped)


def main() -> None:
    """Writes the modules."""
    for path, text in Maker().modules().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
