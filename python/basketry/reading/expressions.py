"""Expressions over branches, in Python's syntax and with uproot's functions: finds their names and evaluates them.

Only the functions listed here can be called, so an expression from an untrusted source can only compute.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import threading
from typing import TYPE_CHECKING, Any

from .._shared.names import missing
from .bounds import MIRRORED, compared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

#: Comparisons that have an order.
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}
# Names of numpy's functions; after a colon, numpy's name where it differs.
NUMPY = """
abs:absolute absolute acos:arccos arccos acosh:arccosh arccosh asin:arcsin arcsin asinh:arcsinh arcsinh atan:arctan
arctan atan2:arctan2 arctan2 atanh:arctanh arctanh cbrt ceil conj:conjugate conjugate copysign cos cosh exp exp2 expm1
fabs floor fmax fmin hypot imag isfinite isinf isnan log log10 log1p log2 logical_and logical_or neg:negative nextafter
real rint round signbit sin sinh sqrt tan tanh trunc where
""".split()
# Functions of Python's `math`, value by value.
MATH: dict[str, Callable[[float], float]] = {
    "erf": math.erf,
    "erfc": math.erfc,
    "factorial": lambda value: math.gamma(round(value) + 1),
    "gamma": math.gamma,
    "lgamma": math.lgamma,
    "tgamma": math.gamma,
}
FUNCTIONS = {name: number or name for name, _, number in (word.partition(":") for word in NUMPY)}
#: `get("a name")` takes any text as a name.
GETTER = "get"


#: Python 3.11 may fail to parse in several threads at once (SystemError: recursion depth mismatch).
PARSING = threading.Lock()


def _parsed(text: str) -> ast.expr:
    with PARSING:
        return ast.parse(text.strip(), mode="eval").body


class Expression:
    """An expression. `known` tells whether a text is a name: a branch or an alias."""

    def __init__(self, text: str, known: Callable[[str], bool]) -> None:
        self.text = text
        self._known = known
        try:
            self._root: ast.expr | None = None if known(text) else _parsed(text)
        except SyntaxError as error:
            hint = "; write & for &&" if "&&" in text else "; write | for ||" if "||" in text else ""
            raise SyntaxError(f"{text!r} is not an expression: {error.msg}{hint}") from None

    def names(self) -> list[str]:
        """Its names. A construct that is not allowed is a `ValueError`, an unknown function a `KeyError`."""
        if self._root is None:
            return [self.text]
        return list(dict.fromkeys(self._names(self._root)))

    def value(self, get: Callable[[str], Any]) -> Any:
        """Its value, from the values of its names."""
        return get(self.text) if self._root is None else self._value(self._root, get)

    def implied(self, column: Callable[[str], int | None]) -> str:
        """What is true of columns, by their numbers, wherever this expression is, in the engine's language: comparisons
        with numbers that `&` or `and` joins. Empty if there are none. `column` gives the number of a column of
        numbers."""
        return " and ".join(filter(None, self._implied(self._root, column)))

    def _implied(self, node: ast.AST | None, column: Callable[[str], int | None]) -> Iterator[str | None]:
        match node:
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                yield from self._implied(left, column)
                yield from self._implied(right, column)
            case ast.BoolOp(op=ast.And(), values=parts):
                for part in parts:
                    yield from self._implied(part, column)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SIGNS:
                sign = SIGNS[type(op)]
                for operand, bound, own in ((left, right, sign), (right, left, MIRRORED[sign])):
                    number, value = self._column(operand, column), _number(bound)
                    if number is not None and value is not None:
                        yield compared(number, own, value)
            case _:
                number = self._column(node, column)
                if number is not None:
                    yield f"c{number} != 0"

    def _column(self, node: ast.AST | None, column: Callable[[str], int | None]) -> int | None:
        name = self.text if node is None else self._name(node)
        return None if name is None else column(name)

    def _names(self, node: ast.AST | None) -> Iterator[str]:
        name = self._name(node)
        if name is not None:
            yield name
        else:
            for part in self._parts(node):
                yield from self._names(part)

    def _name(self, node: ast.AST | None) -> str | None:
        """The name that a node stands for; with dots, if there is such a branch."""
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute():
                dotted = _dotted(node)
                return dotted if dotted is not None and self._known(dotted) else None
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(text))], keywords=[]) if name == GETTER:
                return text
        return None

    def _parts(self, node: ast.AST | None) -> list[ast.expr]:
        """The operands of a node."""
        match node:
            case ast.Constant(value=bool() | int() | float() | complex()) | None:
                return []
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return [left, right]
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return [operand]
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
                return [left, right]
            case ast.Compare():
                raise ValueError(f"{self.text!r} chains comparisons: write (a < b) & (b < c)")
            case ast.BoolOp() | ast.UnaryOp():
                raise ValueError(f"{self.text!r} uses and, or, not: write &, |, ~, with (...) around comparisons")
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                if name not in FUNCTIONS and name not in MATH:
                    raise missing("function", name, functions(), repr(self.text))
                return arguments
            case ast.Attribute(value=value):
                return [value]
            case ast.Subscript(value=value, slice=where):
                return [value, where]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return [part for part in (lower, upper, step) if part is not None]
            case ast.Tuple(elts=elements):
                return elements
        raise ValueError(f"{self.text!r} uses {type(node).__name__}, which is not allowed in an expression")

    def _value(self, node: ast.AST | None, get: Callable[[str], Any]) -> Any:
        name = self._name(node)
        if name is not None:
            return get(name)
        parts = [self._value(part, get) for part in self._parts(node)]
        match node:
            case ast.Constant(value=value):
                return value
            case ast.BinOp(op=op) | ast.UnaryOp(op=op) | ast.Compare(ops=[op]):
                return OPERATORS[type(op)](*parts)
            case ast.Call(func=ast.Name(id=name)):
                return function(name)(*parts)
            case ast.Attribute(attr=member):
                return self._member(parts[0], member)
            case ast.Subscript():
                return parts[0][parts[1]]
            case ast.Slice(lower=lower, upper=upper, step=step):
                given = iter(parts)
                return slice(*(None if part is None else next(given) for part in (lower, upper, step)))
        return tuple(parts)

    def _member(self, array: Any, member: str) -> Any:
        """A member of objects; other attributes of an array are not accessible."""
        if member in getattr(array, "fields", ()):
            return array[member]
        raise missing("member", member, getattr(array, "fields", ()), repr(self.text))


def functions() -> list[str]:
    """The names of all functions."""
    return sorted(FUNCTIONS | MATH)


@functools.cache
def function(name: str) -> Callable[..., Any]:
    """The function of that name, for arrays."""
    import numpy as np

    if name in FUNCTIONS:
        numpy: Callable[..., Any] = getattr(np, FUNCTIONS[name])
        return numpy

    def one(value: float) -> float:
        try:
            return MATH[name](value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    def each(array: Any) -> Any:
        import awkward as ak

        def leaves(layout: Any, **_: object) -> Any:
            if layout.is_numpy:
                values = np.asarray(layout.data)
                found = np.array([one(value) for value in values.ravel().tolist()], np.result_type(values, np.float32))
                return ak.contents.NumpyArray(found.reshape(values.shape))
            return None

        return ak.transform(leaves, array) if isinstance(array, ak.Array) else one(array)

    return each


def _number(node: ast.AST) -> float | None:
    """A number that stands in the text."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _number(operand)
            return None if value is None else -value
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
    return None


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        above = _dotted(node.value)
        return None if above is None else f"{above}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None
