"""The options of the verbs as the command tells them (`basketry options`), in the forms that Python and the pages need:
`python/basketry/verbs/options.py` with a type for the keywords of each verb, the lists of options in docstrings, and
the table of keys in docs/layouts.md. `python tools/option_types.py` writes them; a test compares what is checked in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
VERBS = REPO / "python/basketry/verbs"
WIDTH = 120
#: Python's types by the name of the value; others are texts.
KINDS = {
    "SIZE": "Size",
    "N": "int",
    "N|1..N": "int | str",
    "ENTRY": "int",
    "LEVEL": "int",
    "RATIO": "float",
    "NUMBER": "float",
    "SECONDS": "float",
    "TIME": "float | str",
    "SHARE": "float | str",
    "LIMIT": "Limit",
    "CODEC": "int | str",
    "FILE": "Place",
    "OTHER": "Place",
    "READER": "str | os.PathLike[str]",
    "FILE.toml": "bool | Place | Mapping[str, object]",
    "NAME|N": "int | str",
    "NAME=EXPR": "Defines",
    "REPORT.json": "Place | Tuning",
    "20MB/s,30ms": "Size",
    "true|false": "bool",
    "1%|A:B|FILE": "str | os.PathLike[str]",
    "1%|A:B,...|FILE": "str | os.PathLike[str]",
    "[TREE=]A:B,...|1%|FILE": "Names | os.PathLike[str]",
    "[COLUMN=]LIMIT": "float | Names",
    "[COLUMN=]SHARE": "float | Names",
    "EVENT|FILE": "Events",
    "KEY|LEFT=RIGHT": "Names | Mapping[str, Names]",
}
#: Options for terminals, and those that functions take in another form.
NOT_IN_PYTHON = {
    "": {"quiet", "json", "output", "dry_run"},
    "ls": {"long", "paths"},
    "show": {"long", "csv", "jsonl", "parquet", "force"},
    "inspect": {"top", "all", "codecs", "writer", "layout"},
    "readspeed": {"files", "all_branches", "test"},
    "run": {"task"},
    "sweep": {"grid"},
    "tune": {"calibrate"},
    "precision": {"all"},
    "mv": {"interactive"},
    "rm": {"interactive"},
    "join": {"with"},
}
#: Options whose values have another form in Python.
TEXTS = {
    "baskets": "List every basket, and every page of RNTuples.",
    "layout": "A TOML file, its text, or a value of `layout()`. Other options override it.",
    "tree_set": 'Settings for matching trees, such as `{"Meta*": {"basket": "1kB"}}`.',
    "column_set": 'Settings for matching branches, such as `{"Mu*": {"compression": "lz4:4"}}`. The last match wins.',
}
#: The verbs that `plan` and `distributed.map` hand options on to.
HANDED_ON = ("inspect", "rewrite", "merge", "recover", "convert", "verify", "check", "readspeed", "tune")
#: The types: their verb, names that are left out, and what they are. A type derives from those before it that it has.
LIMITS = {"threads", "memory"}
TYPES = {
    "Limits": ("rewrite", set[str](), "Limits of the work."),
    "Shape": ("rewrite", {"layout", "compression"}, "The keys of a layout, all but the compression."),
    "Selection": ("rewrite", set[str](), "Branches and entries to keep."),
    "Copying": ("rewrite", LIMITS, "Options of `rewrite`, without the limits of the work."),
    "Making": ("rewrite", set[str](), "Options of `rewrite`; `merge` has them, too."),
    "Joining": ("merge", LIMITS, "Options of `merge`, without the limits of the work."),
    "Merging": ("merge", set[str](), "Options of `merge`."),
    "Sorting": ("sort", set[str](), "Options of `sort`."),
    "Verifying": ("verify", set[str](), "Options of `verify`."),
    "Recovering": ("recover", set[str](), "Options of `recover`."),
    "Converting": ("convert", set[str](), "Options of `convert`."),
    "Generating": ("generate", set[str](), "Options of `generate`."),
    "Deciding": ("tune", LIMITS, "Options of `tune`, without the output and the limits of the work."),
    "Tuned": ("tune", set[str](), "Options of `tune`, without the output."),
    "Reducing": ("precision", set[str](), "Options of `precision`."),
    "Measuring": ("readspeed", set[str](), "Options of `readspeed`."),
    "Checking": ("check", set[str](), "Options of `check`."),
    "Surveying": ("fileset", set[str](), "Options of `fileset`, without the output."),
    "Indexing": ("index", set[str](), "Options of `index`, without the output."),
    "Picking": ("pick", set[str](), "Options of `pick`, without the output."),
    "Pairing": ("join", set[str](), "Options of `join`, without the output and the files on the right."),
    "Planning": ("plan", {"force", "skip_bad"}, "Options of `plan` itself, beside `force` and `skip_bad`."),
    "Trying": ("sweep", LIMITS, "Options of `sweep`, without the grid and the limits of the work."),
    "Sweeping": ("sweep", set[str](), "Options of `sweep`, without the grid."),
}
#: Types of which only a group of the verb's options is wanted, by its heading in the help, or by names.
GROUPS = {"Limits": "", "Shape": "Layout", "Selection": "Selection"}
#: Functions whose docstring ends with a list of their options, by module.
FUNCTIONS = {
    "files": ("rewrite", "merge", "verify", "recover", "convert", "generate", "tune", "precision", "readspeed"),
    "many_files": ("check", "fileset"),
    "events": ("index", "pick", "join", "sort"),
    "sweeping": ("sweep",),
}
HEAD = '''"""The options of verbs as types, for all functions that hand them on: of the verbs, of `plan` and of
`basketry.distributed`. Made of the command's own options by tools/option_types.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import SupportsInt, TypeAlias

    from ..reports.tuning import Tuning

    #: FILE, FILE:TREE or @list.txt; a path on this machine or a URL.
    Place: TypeAlias = str | os.PathLike[str]
    Places: TypeAlias = Place | Iterable[Place]
    #: Bytes, or a text such as "30MB"; of a cluster also a number of entries.
    Size: TypeAlias = int | str
    #: Bytes or seconds, or a multiple of the input's, such as "1.05x".
    Limit: TypeAlias = float | str
    #: A TOML file, its text, or a value of `layout()`.
    Layout: TypeAlias = Place | Mapping[str, object]
    #: Keys of a layout by pattern.
    Rules: TypeAlias = Mapping[str, Mapping[str, object]]
    Names: TypeAlias = str | Iterable[str]
    #: Columns that are defined, as texts such as "ht=sum(Jet_pt)", or their expressions by their names.
    Defines: TypeAlias = Names | Mapping[str, str]
    #: An event, as its values or as "1:24:30017", or a file of events; several.
    Events: TypeAlias = Place | Iterable[Place | Sequence[object] | SupportsInt]
    Values: TypeAlias = object | Iterable[object]
'''


@dataclass(frozen=True)
class Option:
    """An option of a verb, as Python's keyword."""

    name: str
    kind: str
    text: str
    #: The default as Python's text.
    default: str
    heading: str


def told() -> dict[str, list[dict[str, object]]]:
    """What the command tells of its verbs."""
    binary = os.environ.get("BASKETRY_BIN", str(REPO / "target/tested/basketry"))
    return json.loads(subprocess.run([binary, "options"], capture_output=True, check=True).stdout)  # type: ignore[no-any-return]


def in_python(text: str) -> str:
    """A help text with options as keywords."""
    text = re.sub(r"`([\w-]+) --([\w-]+)`", lambda at: f"`{keyword(at[2])}` of `{at[1]}`", text)
    text = re.sub(r"\b(rewrite) --([\w-]+)", lambda at: f"`{keyword(at[2])}` of `{at[1]}`", text)
    text = re.sub(r"--([\w-]+)", lambda at: f"`{keyword(at[1])}`", text)
    text = re.sub(r",? and the exit code is 1", "", " ".join(text.split()))
    return text if text.endswith(".") else f"{text}."


def keyword(name: str) -> str:
    """The keyword of an option."""
    return name.replace("-", "_")


def option(facts: dict[str, object]) -> Option:
    """An option as the command tells it."""
    name, values, default = keyword(str(facts["name"])), facts["values"], facts.get("default")
    assert isinstance(values, list)
    value = values[0] if values else ""
    kind = KINDS.get(value, "str")
    if not values:
        kind = "bool"
    elif len(values) > 1:
        kind = "Rules"
    elif name == "layout":
        kind = "Layout"
    elif value not in KINDS and facts["several"]:
        kind = "Values" if value.endswith(",...") else "Names"
    shown = f'"{default}"' if default is not None else "None"
    if kind in ("int", "float") and default is not None:
        shown = str(default)
    elif kind == "bool" and default is not None:
        shown = str(default).capitalize()
    if not values:
        shown = "False"
    elif default is None or kind == "Size":
        kind = kind if kind in ("Rules", "Names", "Values") else f"{kind} | None"
    text = TEXTS.get(name, in_python(str(facts["help"])))
    return Option(name, kind, text, shown, str(facts.get("heading", "")))


class Maker:
    """Makes the files."""

    def __init__(self) -> None:
        self._told = told()
        self._types: dict[str, dict[str, Option]] = {}

    def verbs(self) -> list[str]:
        """The names of all verbs."""
        return list(self._told)

    def options(self, verb: str) -> dict[str, Option]:
        """The options of a verb that Python has."""
        without = NOT_IN_PYTHON[""] | NOT_IN_PYTHON.get(verb, set())
        found = [option(facts) for facts in self._told[verb]]
        return {one.name: one for one in found if one.name not in without}

    def files(self) -> dict[Path, str]:
        """The text of each file."""
        made = {VERBS / "options.py": self._module()}
        for module, verbs in FUNCTIONS.items():
            path = VERBS / f"{module}.py"
            made[path] = path.read_text()
            for verb in verbs:
                made[path] = self._documented(made[path], verb)
        page = REPO / "docs/layouts.md"
        made[page] = re.sub(r"(?<=<!-- keys -->\n).*?(?=<!-- end -->)", self._keys, page.read_text(), flags=re.DOTALL)
        return made

    def _module(self) -> str:
        parts = [HEAD]
        for name, (verb, without, docs) in TYPES.items():
            options = {key: one for key, one in self.options(verb).items() if key not in without}
            if name in GROUPS:
                wanted = GROUPS[name]
                options = {key: one for key, one in options.items() if _is_in(one, wanted)}
            parts.append(self._type(name, options, docs))
        every = [self.options(verb) for verb in HANDED_ON]
        union = {name: _joined([of[name] for of in every if name in of]) for of in every for name in of}
        union = {name: one for name, one in union.items() if name not in LIMITS}
        docs = "Options of the verbs that `plan` and `distributed.map` hand on, without the limits of the work."
        parts.append(self._type("AnyVerb", union, f"{docs} A verb refuses those that it has not."))
        rows = ["", "", "#: What options are that are not given, where that is neither None nor False."]
        rows.append("DEFAULTS: dict[str, dict[str, object]] = {")
        for verb in sorted({verb for verb, _, _ in TYPES.values()}):
            told = [one for one in self.options(verb).values() if one.default not in ("None", "False")]
            rows += [f'    "{verb}": {{', *(f'        "{one.name}": {one.default},' for one in told), "    },"]
        return "".join(parts) + "\n".join([*rows, "}", ""])

    def _type(self, name: str, options: dict[str, Option], docs: str) -> str:
        self._types[name] = options
        left = dict(options)
        bases = []
        for base, has in sorted(self._types.items(), key=lambda one: -len(one[1])):
            if base != name and has and all(_same(left.get(key), one) for key, one in has.items()):
                bases.append(base)
                left = {key: one for key, one in left.items() if key not in has}
        lines = ["", "", f"class {name}({', '.join([*bases, *([] if bases else ['TypedDict'])])}, total=False):"]
        lines += [*_wrapped(f'"""{docs}"""', "    "), *([""] if left else [])]
        for one in left.values():
            lines += [
                f"    {one.name}: {one.kind}",
                *_wrapped(f'"""{one.text}{" " * one.text.endswith(chr(34))}"""', "    "),
            ]
        return "\n".join([*lines, ""])

    def _documented(self, source: str, verb: str) -> str:
        options, main = self.options(verb), self.options("rewrite")
        shared = {name for name, one in options.items() if verb != "rewrite" and _same(main.get(name), one)}
        rows = []
        for one in options.values():
            if one.name not in shared:
                told_already = "efault" in one.text or one.default in ("None", "False")
                default = "" if told_already else f" Default: {one.default}."
                rows += _wrapped(f"- `{one.name}`: {one.text}{default}", "    ", "      ")
        shape = {name for name, one in main.items() if _is_in(one, "Layout")} - {"layout", "compression"}
        if shared == main.keys():
            names = ["the others"]
        else:
            names = [f"`{name}`" for name in options if name in shared - (shape if shape <= shared else set())]
            names += ["the keys of a layout"] * (shape <= shared)
        if names and shared:
            said = ", ".join(names)
            rows += _wrapped(f"- {said[0].upper()}{said[1:]}: those of `rewrite`.", "    ", "      ")
        block = "\n".join(["    Options:", "", *rows, '    """'])
        pattern = rf'(\ndef {verb}\((?:(?!\ndef ).)*?\n)    Options:\n.*?"""'
        made, count = re.subn(pattern, lambda at: at[1] + block, source, count=1, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"the docstring of {verb} has no list of options")
        return made

    def _keys(self, _: re.Match[str]) -> str:
        rows = ["| key | value | what |", "|---|---|---|"]
        for facts in self._told["rewrite"]:
            values = facts["values"]
            assert isinstance(values, list)
            if facts.get("heading") == "Layout" and facts["name"] != "layout" and len(values) == 1:
                words = [str(one).replace("|", "\\|") for one in (values[0], " ".join(str(facts["help"]).split()))]
                rows.append(f"| `{facts['name']}` | {words[0]} | {words[1]} |")
        return "\n".join([*rows, ""])


def _is_in(one: Option, group: str) -> bool:
    return one.heading == group if group else one.name in LIMITS


def _same(one: Option | None, other: Option) -> bool:
    return one is not None and (one.kind, one.text, one.default) == (other.kind, other.text, other.default)


def _joined(several: list[Option]) -> Option:
    """One option that has the types of several."""
    kinds = dict.fromkeys(kind for one in several for kind in one.kind.split(" | "))
    if {"Names", "Size"} & kinds.keys():
        kinds.pop("str", None)
    if "None" in kinds:
        kinds["None"] = kinds.pop("None")
    texts = {one.text for one in several}
    text = several[0].text if len(texts) == 1 else "That of the verb."
    return Option(several[0].name, " | ".join(kinds), text, "None", several[0].heading)


def _wrapped(text: str, indent: str, further: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=further or indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def main() -> None:
    """Writes the files."""
    for path, text in Maker().files().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
