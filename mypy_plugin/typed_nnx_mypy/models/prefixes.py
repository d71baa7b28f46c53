"""Axes held against the structure of what they are for: whether they surely do not fit."""

from __future__ import annotations

from dataclasses import dataclass

from mypy.nodes import Context
from mypy.types import Instance

from typed_nnx_mypy.checker import Checker
from typed_nnx_mypy.models.filter_syntax import read_filter
from typed_nnx_mypy.models.filters import any_of
from typed_nnx_mypy.models.kinds import Kind, kind_of, short_name
from typed_nnx_mypy.models.leaves import leaves_of
from typed_nnx_mypy.models.structures import (
    Leaf,
    Node,
    Nothing,
    Row,
    Structure,
    Table,
    Text,
    text_of,
)
from typed_nnx_mypy.syntax.axes import AxesByFilter, AxesRow, Axis, Number


@dataclass(frozen=True)
class Misfit:
    """An axis that does not fit.

    Attributes:
        at: Where it is written.
        found: What is wrong.
        fix: What to write.
    """

    at: Context
    found: str
    fix: str


@dataclass(frozen=True)
class Prefixes:
    """Finds axes that do not fit.

    Attributes:
        checker: The type checker of the file.
        only_modules: Whether StateAxes for an array is an error.
    """

    checker: Checker
    only_modules: bool = True

    def misfit(self, axis: Axis, of: Structure) -> Misfit | None:
        """Return what surely does not fit between an axis and the value that it is for."""
        match axis, of:
            case AxesRow(), Row():
                return self._in_row(axis, of)
            case AxesRow(), Leaf() | Nothing() | Text() | Table():
                return _wrong_form(axis, of)
            case AxesRow(), Node(type=found) if kind_of(found) in (Kind.PYTREE, Kind.VARIABLE):
                return _wrong_form(axis, of)
            case AxesByFilter(), Leaf() | Nothing() | Text() if self.only_modules:
                said = f"StateAxes is for Modules and Variables, but this is {text_of(of)}"
                return Misfit(axis.at, said, "give an axis or None")
            case AxesByFilter(), Node(type=found) if kind_of(found) is Kind.PYTREE:
                return self._uncovered(axis, found)
            case Number(), Text():
                return Misfit(axis.at, "a str has no axis to map over", "give None")
            case _:
                return None

    def _in_row(self, axis: AxesRow, of: Row) -> Misfit | None:
        if axis.kind != of.kind:
            return _wrong_form(axis, of)
        if of.items is None:
            return None
        if len(axis.items) != len(of.items):
            return _wrong_form(axis, of)
        if of.name:
            return None
        found = (self.misfit(one, other) for one, other in zip(axis.items, of.items, strict=True))
        return next((each for each in found if each is not None), None)

    def _uncovered(self, axis: AxesByFilter, model: Instance) -> Misfit | None:
        """Return what is wrong where no filter takes a leaf that each object of a class has."""
        if axis.pairs is None:
            return None
        checker = self.checker
        filters = any_of(read_filter(key, checker.type_of(key), checker) for key, _ in axis.pairs)
        for leaf in leaves_of(model, filters, checker).items:
            if leaf.passes is False and leaf.is_sure:
                path = "".join(
                    f".{key}" if isinstance(key, str) else f"[{key}]" for key in leaf.path
                )
                return Misfit(
                    axis.at,
                    f"StateAxes has no axis for `{model.type.name}{path}` "
                    f"({short_name(leaf.type)})",
                    "add a filter for it, or `...: None` as the last one",
                )
        return None


def _wrong_form(axis: AxesRow, of: Structure) -> Misfit:
    axes = f"a {axis.kind} of {len(axis.items)} axes"
    return Misfit(axis.at, f"{axes} for {text_of(of)}", "give axes of its form, or one for all")
