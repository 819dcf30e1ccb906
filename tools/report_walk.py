"""Follows the types in Rust that a report is made of, what a type is made of first. A language says how it spells them:
`report_classes` makes data classes for Python, `report_structs` structures for C++."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from report_types import Printed, Type, arguments, outer_and_inner, place, printed, resolve, spelled, type_at, types

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    "flow/src/split/report:SplitReport": "Split",
}
WHOLE = re.compile(r"([ui])(8|16|32|64|128|size)")
#: What is said of the field that says which fault it is.
TAG = 'Kind of the fault, such as "tiny_baskets".'


@dataclass
class Class:
    """A class of a language."""

    name: str
    module: str
    type: Type
    lines: list[str] = field(default_factory=list)


class Walk(ABC):
    """All classes that some reports need, in the order in which they may be declared."""

    def __init__(self) -> None:
        self._types = types()
        self._made: dict[int, Class] = {}

    def walk(self, module: str, roots: Iterable[str]) -> None:
        """Makes the classes of some types and their parts. A type is in the first module that needs it."""
        for where in roots:
            self._class(type_at(self._types, where), module)

    def _class(self, one: Type, module: str) -> Class:
        if id(one) not in self._made:
            made = Class(NAMES.get(place(one), one.name), module, one)
            # What it is made of comes first.
            made.lines = self.lines(made, list(printed(self._types, one)))
            self._made[id(one)] = made
        return self._made[id(one)]

    def kind(self, one: Printed, module: str) -> str:
        """The type of a field."""
        return self._kind(one.type, one.near, module)

    def _kind(self, text: str, near: Type, module: str) -> str:
        text = text.strip().removeprefix("&").strip()
        text = re.sub(r"^'\w+ ", "", text)
        if text.startswith("("):
            return self.tuple_of([self._kind(one, near, module) for one in arguments(text)])
        if text.startswith("["):
            return self.list_of(self._kind(text[1:].rpartition(";")[0] or text[1:-1], near, module))
        outer, inner = outer_and_inner(text)
        if outer == "Option":
            return self.optional(self._kind(inner[0], near, module))
        if outer in ("Vec", "BTreeSet", "HashSet"):
            return self.list_of(self._kind(inner[0], near, module))
        if outer in ("BTreeMap", "HashMap", "IndexMap"):
            return self.map_of(self._kind(inner[1], near, module))
        if outer in ("Box", "Arc", "Rc", "Cow"):
            return self._kind(inner[0], near, module)
        if number := WHOLE.fullmatch(outer):
            return self.whole(signed=number[1] == "i")
        return self.told(outer) or self._own(outer, near, module)

    def _own(self, name: str, near: Type, module: str) -> str:
        one = resolve(self._types, name, near.file)
        if one is None:
            raise ValueError(f"{near.name}: {name} is not known")
        if one.what == "enum":
            if any(part.type for part in one.parts):
                raise ValueError(f"{near.name}: {name} has variants with content")
            return self.texts([spelled(part, one) for part in one.parts])
        if one.parts and not one.parts[0].name:
            return self._kind(one.parts[0].type, one, module)
        return self.named(self._class(one, module))

    @abstractmethod
    def lines(self, made: Class, fields: list[Printed]) -> list[str]:
        """The text of a class with these fields."""

    @abstractmethod
    def tuple_of(self, kinds: list[str]) -> str:
        """Values that lie one behind the other."""

    @abstractmethod
    def list_of(self, kind: str) -> str:
        """Any number of values."""

    @abstractmethod
    def optional(self, kind: str) -> str:
        """A value, or none."""

    @abstractmethod
    def map_of(self, kind: str) -> str:
        """Values by their names."""

    @abstractmethod
    def whole(self, *, signed: bool) -> str:
        """A number without a fraction."""

    @abstractmethod
    def told(self, name: str) -> str | None:
        """A type that is not looked into, if it is one."""

    @abstractmethod
    def texts(self, values: list[str]) -> str:
        """One of some texts."""

    @abstractmethod
    def named(self, made: Class) -> str:
        """A class."""
