"""The data classes of `basketry.reports`, made from the types in Rust that the reports are. `python
tools/report_classes.py` writes them; a test compares what is checked in. `report_types` reads the sources."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from report_types import (
    REPO,
    Type,
    arguments,
    outer_and_inner,
    place,
    printed,
    quoted,
    resolve,
    spelled,
    type_at,
    types,
    without_links,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        "Reports of `rewrite`, `merge`, `recover`, `convert` and `verify`.",
        [
            "flow/src/rewrite/summary:Summary",
            "flow/src/rewrite/summary:Outlook",
            "flow/src/verify/verdict:Verdict",
            "flow/src/rewrite/recover/report:Recovery",
            "flow/src/rewrite/parquet/report:Converted",
        ],
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
        "Reports of `index` and `pick`; see docs/index-schema.md.",
        ["flow/src/events/make_index:Indexed", "flow/src/events/pick:Picked"],
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
#: Classes that have another name than their type.
NAMES = {
    "lab/src/decide/inspect/report:Report": "Inspection",
    "lab/src/decide/inspect/contents:Skipped": "Unread",
    "lab/src/decide/inspect/fault_cost:Cost": "FaultCost",
    "lab/src/measure/monitor/summary:Summary": "Watched",
    "lab/src/measure/monitor/summary:Maxima": "Most",
    "lab/src/measure/readspeed/report:Report": "Readspeed",
    "lab/src/decide/precision/report:Report": "Precision",
    "lab/src/decide/precision/report:TableReport": "TablePrecision",
    "lab/src/decide/precision/report:ColumnReport": "ColumnPrecision",
    "lab/src/decide/precision/report:ChoiceReport": "PrecisionChoice",
    "lab/src/decide/precision/limits:Limit": "PrecisionLimit",
    "lab/src/decide/tune/report:Report": "Tuning",
    "lab/src/decide/tune/report:ContainerReport": "BestInContainer",
    "lab/src/synthetic/generate:Ran": "Generated",
    "flow/src/arrow/write/metrics:Metrics": "WriteMetrics",
    "lab/src/measure/sweep/findings:Findings": "Sweep",
    "lab/src/measure/sweep/input:SweepInput": "Subject",
    "lab/src/jobs/state:State": "TaskState",
    "lab/src/jobs/state:Output": "TaskOutput",
    "flow/src/survey/fileset:FilesetReport": "Fileset",
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
}
WIDTH = 120
WHOLE = re.compile(r"[ui](8|16|32|64|128|size)")
NUMBERS = '''    numbers: dict[str, int | float | str | list[str]]
    """The numbers of the fault; docs/inspect-schema.md lists them by fault."""
'''


@dataclass
class Class:
    """A data class."""

    name: str
    module: str
    type: Type
    lines: list[str] = field(default_factory=list)


class Maker:
    """Makes the modules."""

    def __init__(self) -> None:
        self._types = types()
        self._made: dict[int, Class] = {}

    def modules(self) -> dict[Path, str]:
        """The text of each file."""
        for module, (_, roots) in MODULES.items():
            for where in roots:
                self._class(type_at(self._types, where), module)
        return {FOLDER / f"{module}.py": self._text(module) for module in MODULES}

    def _class(self, one: Type, module: str) -> Class:
        if id(one) not in self._made:
            made = Class(NAMES.get(place(one), one.name), module, one)
            # What it is made of comes first.
            lines = list(self._fields(one, module))
            made.lines = ["", "", "@dataclass(frozen=True, slots=True, kw_only=True, repr=False)"]
            made.lines.append(f"class {made.name}(Shown):")
            made.lines += [_docstring(one.docs), "", *lines]
            self._made[id(one)] = made
        return self._made[id(one)]

    def _fields(self, one: Type, module: str) -> Iterator[str]:
        fields = list(printed(self._types, one))
        for field_ in fields:
            name = f"{field_.name}_" if field_.name in ("class", "from") else field_.name
            kind = self._kind(field_.type, field_.near, module)
            yield _annotated(f"    {name}: {kind}{_default(kind) if field_.left_out else ''}")
            yield _docstring('Kind of the fault, such as "tiny_baskets".' if field_.is_tag else field_.docs)
        if any(field_.is_tag for field_ in fields):
            yield NUMBERS.rstrip("\n")

    def _kind(self, text: str, near: Type, module: str) -> str:
        text = text.strip().removeprefix("&").strip()
        text = re.sub(r"^'\w+ ", "", text)
        if text.startswith("("):
            return f"tuple[{', '.join(self._kind(one, near, module) for one in arguments(text))}]"
        if text.startswith("["):
            return f"tuple[{self._kind(text[1:].rpartition(';')[0] or text[1:-1], near, module)}, ...]"
        outer, inner = outer_and_inner(text)
        if outer == "Option":
            kind = self._kind(inner[0], near, module)
            return kind if kind == "Any" else f"{kind} | None"
        if outer in ("Vec", "BTreeSet", "HashSet"):
            return f"tuple[{self._kind(inner[0], near, module)}, ...]"
        if outer in ("BTreeMap", "HashMap", "IndexMap"):
            return f"dict[str, {self._kind(inner[1], near, module)}]"
        if outer in ("Box", "Arc", "Rc", "Cow"):
            return self._kind(inner[0], near, module)
        if WHOLE.fullmatch(outer):
            return "int"
        if outer in TOLD:
            return TOLD[outer]
        one = resolve(self._types, outer, near.file)
        if one is None:
            raise ValueError(f"{near.name}: {outer} is not known")
        if one.what == "enum":
            if any(part.type for part in one.parts):
                raise ValueError(f"{near.name}: {outer} has variants with content")
            return f"Literal[{', '.join(quoted(spelled(part, one)) for part in one.parts)}]"
        if one.parts and not one.parts[0].name:
            return self._kind(one.parts[0].type, one, module)
        return self._class(one, module).name

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
